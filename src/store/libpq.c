/* libpq.c: libpq's functions, when they are first needed. */
#include "store/libpq.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libpq functions;
static const char *const names[] = {
#define X(name) "PQ" #name,
    LIBPQ_FUNCTIONS(X)
#undef X
};
static struct library library =
    LIBRARY(SONAME_PQ, "stores in databases are reached by libpq (Debian: libpq5)", names, functions);

int libpq_load(struct err *err)
{
    return library_load(&library, err);
}

const struct libpq *libpq(void)
{
    return &functions;
}
