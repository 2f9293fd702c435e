/* shelf.h: where a world keeps the data that must outlive it: rows of bytes by space and key. An interface: store/ implements it, live/ uses it.
 *
 *     put, remove, put ... commit          all since the last commit is durable together, or not at all
 *
 * When commit has returned 0, the rows are on disk. When a put or a commit fails, the shelf is *broken*: it refuses everything from then
 * on, and whether the rows since the last commit are there is not known. The shelf does not try again: a second fsync may claim what the
 * first one lost. Its user stops, and starts anew from the rows that are there. One that is elsewhere, and cannot be reached for a while, is not
 * broken: its commits take until it is there again. */
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

/* The space with one row where the others are of a backup, or were saved from a store that was damaged: what has happened since, they do not
 * know. Key: "1". Value: the second at which they were whole, on the wall clock (0: not known); and " alone" where nobody is to be asked what
 * happened. Whoever has dealt with that removes the row. */
#define SHELF_RESTORED_SPACE "restored"

struct shelf;

/* Key and value are lent for the call. Returns false to stop. */
typedef bool shelf_row_fn(void *user, const void *key, size_t key_len, const void *value, size_t len);

struct shelf_kind {
    const char *name;
    /* All return 0, or -1 with `err` filled. */
    int (*put)(struct shelf *shelf, const char *space, const void *key, size_t key_len, const void *value, size_t len,
               struct err *err); /* replaces the row that was there */
    int (*remove)(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err);
    int (*commit)(struct shelf *shelf, struct err *err); /* costs nothing when nothing has changed */
    /* All rows of a space, in the order of their keys' bytes, including those not committed yet. */
    int (*each)(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err);
    /* One row; `fn` is called at most once. */
    int (*get)(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn, void *user,
               struct err *err);
    bool (*broken)(const struct shelf *shelf);
    void (*close)(struct shelf *shelf); /* rows not committed are dropped; takes NULL */
    /* As `each`, of the rows behind that key: whoever looks at some of many rows goes on there. */
    int (*each_after)(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                      void *user, struct err *err);

    /* The rest is for shelves elsewhere, which take their time; NULL where commits are done at once and nobody else can have the rows. */

    /* As commit, without waiting for it. 1: all was durable already; 0: commit_look will tell. Not while one is under way; what is put
     * meanwhile belongs to the next. */
    int (*commit_start)(struct shelf *shelf, struct err *err);
    int (*commit_look)(struct shelf *shelf, struct err *err); /* 1: it is durable; 0: not yet; -1: broken */
    /* A descriptor that can be read (8 bytes) when commit_look or may_act has something new to say. */
    int (*news)(const struct shelf *shelf);
    /* May what others see leave this process now? False: perhaps another has the rows, or will have. Asked before each thing that leaves. */
    bool (*may_act)(const struct shelf *shelf);
    /* Since when (clock of microseconds that does not jump) has it not answered, and why? 0: all is well. */
    int64_t (*away)(const struct shelf *shelf, char *ret_why, size_t room);
    /* Could a row not be read since this was asked last, as it does not answer? What is put before it is asked breaks the shelf, for it may follow from what
     * was only missing: so whoever has read, and puts nothing of that, asks. NULL: all rows can always be read. */
    bool (*misread)(struct shelf *shelf);
};

struct shelf {
    const struct shelf_kind *kind; /* the implementation's own fields follow */
};

#ifdef __cplusplus
}
#endif
#endif
