/* clp.c: loads CLP when it is first needed. */
#include "match/assign/clp.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libClp.so.1"

static struct clp functions;

int clp_load(struct err *err)
{
    struct clp found = {0};
    void *library, *function = NULL;

    if (functions.status)
        return 0;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, "linear programmes are solved by CLP, which cannot be loaded: %s", dlerror());
#define X(name)                                                                                          \
    function = dlsym(library, "Clp_" #name);                                                             \
    if (!function)                                                                                       \
        return err_set(err, "linear programmes are solved by CLP, and %s lacks Clp_%s", LIBRARY, #name); \
    memcpy(&found.name, &function, sizeof function);
    CLP_FUNCTIONS(X)
#undef X
    functions = found;
    return 0;
}

const struct clp *clp(void)
{
    if (clp_load(NULL) < 0)
        abort();
    return &functions;
}
