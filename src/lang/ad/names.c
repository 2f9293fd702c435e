/* names.c: the table of symbols that every evaluated tree shares: the names of the language, then the functions'. */
#include "lang/ad/names.h"

static const char *const known[] = {
#define X(id, text) text,
    NAMES(X)
#undef X
#define F(name, ...) #name,
#define ALSO(...)
#include "lang/ad/functions.def"
#undef ALSO
#undef F
};

struct symbols *names_new(uint64_t seed)
{
    return symbols_new(known, sizeof known / sizeof *known, seed);
}
