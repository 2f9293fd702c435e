/* libxml.c: loads libxml2 when it is first needed. */
#include "lang/form/libxml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libxml2.so.2"

static struct libxml functions;

static void *find(void *library, const char *name, struct err *err)
{
    void *found = dlsym(library, name);

    if (!found)
        err_set(err, "XML is read by libxml2, and %s lacks %s", LIBRARY, name);
    return found;
}

int libxml_load(struct err *err)
{
    struct libxml made = {0};
    void *library, *found;

    if (functions.Free)
        return 0;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, "XML is read by libxml2, which cannot be loaded: %s", dlerror());
#define X(name)                                     \
    if (!(found = find(library, "xml" #name, err))) \
        return -1;                                  \
    memcpy(&made.name, &found, sizeof found);
    LIBXML_FUNCTIONS(X)
#undef X
    if (!(found = find(library, "xmlFree", err)))
        return -1;
    made.Free = found;
    functions = made;
    return 0;
}

const struct libxml *libxml(void)
{
    if (libxml_load(NULL) < 0)
        abort();
    return &functions;
}
