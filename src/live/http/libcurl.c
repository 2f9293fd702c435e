/* libcurl.c: libcurl's functions, when they are first needed. */
#include "live/http/libcurl.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libcurl functions;
static const char *const names[] = {
#define X(name) "curl_" #name,
    LIBCURL_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_CURL, "requests are made by libcurl", names, functions);

int libcurl_take(struct err *err)
{
    if (library_load(&library, err) < 0)
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
