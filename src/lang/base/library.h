/* library.h: libraries of others, loaded when the first of their functions is called. Most commands need none of them, and with what stands behind them
 * they take longer to load than most commands run.
 *
 *     #define LIBFOO_FUNCTIONS(X) X(open) X(close)           the functions that are called, without what all their names begin with
 *     struct libfoo { pointers to them, in that order };     const struct libfoo *libfoo(void);     ->     libfoo()->open(...)
 *
 * A variable of the library is there as its address. By which name the loader knows it is in lang/base/sonames.h, which tools/sonames makes when a build
 * is set up. */
#ifndef BERTH_LANG_BASE_LIBRARY_H
#define BERTH_LANG_BASE_LIBRARY_H

#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct library {
    const char *file;         /* as the loader knows it: "libfoo.so.1" */
    const char *use;          /* what it is loaded for: "doors are opened by libfoo" */
    const char *const *names; /* of all its functions that are called */
    void *functions;          /* gets pointers to them, in the same order */
    size_t count;
    bool loaded;
};

/* A library whose functions go into the structure `place`. */
#define LIBRARY(soname, purpose, list, place)                                       \
    {                                                                               \
        .file = (soname), .use = (purpose), .names = (list), .functions = &(place), \
        .count = sizeof(list) / sizeof *(list)                                      \
    }

/* Loads it, unless it was loaded before; -1 when it is not installed, or lacks a function. Not by two threads at once. */
int library_load(struct library *library, struct err *err);

/* The same for one that berth cannot do without: where it is not installed the process says so and ends, as it would not have begun with a library that it is
 * linked with. Returns its functions. */
const void *library_need(struct library *library);

#ifdef __cplusplus
}
#endif
#endif
