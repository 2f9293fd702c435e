/* image_tar.h: reads a tar file that strangers made, entry by entry, from whatever gives its bytes.
 *
 * Known are the old form, ustar, the long names of GNU tar and pax headers (path, linkpath, size; others are passed over). A head whose sum is wrong,
 * a name that is too long, a sparse file: an error. Nothing is kept but one entry. */
#ifndef BERTH_EXEC_IMAGE_TAR_H
#define BERTH_EXEC_IMAGE_TAR_H

#include "lang/base/err.h"

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAR_NAME_MAX 4095
#define TAR_PAX_MAX (1 << 20) /* bytes of one pax header */

/* Gives up to `len` bytes; 0: there are no more. -1 and `err`. */
typedef ssize_t tar_read_fn(void *user, void *bytes, size_t len, struct err *err);

struct tar {
    tar_read_fn *read;
    void *user;
    int64_t at;            /* bytes that were read */
    int64_t left, padding; /* of the present entry: contents that were not read yet, and what fills its last block */
    int64_t size_pax;      /* for the next entry; -1: none */
    char name[TAR_NAME_MAX + 1]; /* the same, "": none; then those of the present entry */
    char link[TAR_NAME_MAX + 1];
};

struct tar_entry {
    char type; /* '0': a file, '1': another name of one, '2': a link, '3' '4' '6': devices and pipes, '5': a folder */
    const char *name, *link; /* as long as the next entry is not read */
    int64_t size;
    uint32_t mode;
};

void tar_init(struct tar *tar, tar_read_fn *read, void *user);
/* The next entry; what was not read of the one before is passed over. 1, 0: there are no more, or -1 and `err`. */
int tar_next(struct tar *tar, struct tar_entry *ret, struct err *err);
/* Reads of the entry's contents; 0: that was all. -1 and `err`. */
ssize_t tar_contents(struct tar *tar, void *bytes, size_t len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
