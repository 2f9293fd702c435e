/* shelf.h: where a world keeps what must outlive it: rows of bytes by space and key. An interface: store/ implements it, live/ uses it.
 *
 *     put, remove, put ... commit          all since the last commit is durable together, or not at all
 *
 * What commit has returned 0 for is on disk. Where a put or a commit fails, the shelf is *broken*: nothing more is taken, whatever is
 * asked, and whether the rows since the last commit are there is not known. It is not tried again: a second fsync may claim what the
 * first one lost. Whoever uses it stops, and starts anew from what is there. */
#ifndef BERTH_POOL_PROTOCOL_SHELF_H
#define BERTH_POOL_PROTOCOL_SHELF_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHELF_SPACE_MAX 31          /* bytes of a space's name */
#define SHELF_KEY_MAX 255           /* bytes of a key */
#define SHELF_VALUE_MAX (32u << 20) /* bytes of a value */

struct shelf;

/* Lent for the call. Returns false to stop. */
typedef bool shelf_row_fn(void *user, const void *key, size_t key_len, const void *value, size_t len);

struct shelf_kind {
    const char *name;
    /* All return 0, or -1 with `err` filled. */
    int (*put)(struct shelf *shelf, const char *space, const void *key, size_t key_len, const void *value, size_t len,
               struct err *err); /* in the place of what was there */
    int (*remove)(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err);
    int (*commit)(struct shelf *shelf, struct err *err); /* costs nothing when nothing was put */
    /* All rows of a space, in the order of their keys' bytes; those not committed yet as well. */
    int (*each)(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err);
    /* One row; `fn` is called at most once. */
    int (*get)(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn, void *user,
               struct err *err);
    bool (*broken)(const struct shelf *shelf);
    void (*close)(struct shelf *shelf); /* what was not committed is dropped; takes NULL */
};

struct shelf {
    const struct shelf_kind *kind; /* what it is made of follows */
};

#ifdef __cplusplus
}
#endif
#endif
