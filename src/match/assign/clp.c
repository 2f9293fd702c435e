/* clp.c: CLP's functions, when they are first needed. */
#include "match/assign/clp.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct clp functions;
static const char *const names[] = {
#define X(name) "Clp_" #name,
    CLP_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_CLP, "linear programmes are solved by CLP", names, functions);

int clp_load(struct err *err)
{
    return library_load(&library, err);
}

const struct clp *clp(void)
{
    return library_need(&library);
}
