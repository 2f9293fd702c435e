/* libgnutls.c: the functions of GnuTLS, when they are first needed. */
#include "live/auth/libgnutls.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libgnutls functions;
static const char *const names[] = {
#define X(name) "gnutls_" #name,
    LIBGNUTLS_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_GNUTLS, "certificates are made and read by GnuTLS", names, functions);

const struct libgnutls *libgnutls(void)
{
    return library_need(&library);
}
