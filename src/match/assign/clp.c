/* clp.c: loads CLP when it is first needed. */
#include "match/assign/clp.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libClp.so.1"

static void *function_find(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;

    if (found)
        return found;
    fprintf(stderr, "berth: %s cannot be used, and linear programmes cannot be solved without it: %s\n", LIBRARY,
            dlerror());
    exit(2);
}

const struct clp *clp(void)
{
    static struct clp functions;
    void *library, *found;

    if (functions.status)
        return &functions;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#define X(name)                                   \
    found = function_find(library, "Clp_" #name); \
    memcpy(&functions.name, &found, sizeof found);
    CLP_FUNCTIONS(X)
#undef X
    return &functions;
}
