/* libcurl.c: loads libcurl when it is first needed. */
#include "live/http/libcurl.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

static struct libcurl functions;

static int load(struct err *err)
{
    struct libcurl found = {0};
    void *library, *function;

    if (functions.global_init)
        return 0;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, "requests are made by libcurl, which cannot be loaded: %s", dlerror());
#define X(name)                                                                                    \
    function = dlsym(library, "curl_" #name);                                                      \
    if (!function)                                                                                 \
        return err_set(err, "requests are made by libcurl, and %s lacks curl_%s", LIBRARY, #name); \
    memcpy(&found.name, &function, sizeof function);
    LIBCURL_FUNCTIONS(X)
#undef X
    functions = found;
    return 0;
}

int libcurl_take(struct err *err)
{
    if (load(err) < 0)
        return -1;
    return functions.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : err_set(err, "libcurl cannot be used");
}

void libcurl_give(void)
{
    functions.global_cleanup();
}

const struct libcurl *libcurl(void)
{
    return &functions;
}
