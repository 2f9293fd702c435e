/* libmicrohttpd.c: the functions of libmicrohttpd, when they are first needed. */
#include "live/http/libmicrohttpd.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libmicrohttpd functions;
static const char *const names[] = {
#define X(name) "MHD_" #name,
    LIBMICROHTTPD_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_MICROHTTPD, "HTTP is served by libmicrohttpd", names, functions);

const struct libmicrohttpd *libmicrohttpd(void)
{
    return library_need(&library);
}
