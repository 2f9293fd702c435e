/* libxml.c: libxml2's functions, when they are first needed. */
#include "lang/form/libxml.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libxml functions;
static const char *const names[] = {
#define X(name) "xml" #name,
    LIBXML_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_XML2, "XML is read by libxml2", names, functions);

int libxml_load(struct err *err)
{
    return library_load(&library, err);
}

const struct libxml *libxml(void)
{
    return library_need(&library);
}
