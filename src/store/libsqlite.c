/* libsqlite.c: SQLite's functions, when they are first needed. */
#include "store/libsqlite.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libsqlite functions;
static const char *const names[] = {
#define X(name) "sqlite3_" #name,
    LIBSQLITE_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_SQLITE3, "stores are kept by SQLite", names, functions);

const struct libsqlite *libsqlite(void)
{
    return library_need(&library);
}
