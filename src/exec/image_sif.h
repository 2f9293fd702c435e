/* image_sif.h: where the image of a .sif file lies in it: the squashfs of its primary partition.
 *
 *     "#!/usr/bin/env ..." (32 bytes)  "SIF_MAGIC"  ...  how many descriptors, where they lie       all numbers little-endian
 *     descriptor (585 bytes): sort, used, ..., where its data lie, how long, ..., name, and of a partition: file system, which partition
 *
 * Read from strangers: every number is held against the length of the file. */
#ifndef BERTH_EXEC_IMAGE_SIF_H
#define BERTH_EXEC_IMAGE_SIF_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIF_HEAD 128
#define SIF_DESCRIPTOR 585
#define SIF_DESCRIPTORS_MAX 256
#define SIF_SQUASHFS_HEAD 96 /* bytes at the beginning of a squashfs */

/* Gives up to `len` bytes of the file from `at` on; fewer only at its end. */
typedef size_t sif_read_fn(void *user, int64_t at, void *bytes, size_t len);

/* Finds the squashfs in a file that is a .sif, or is one itself. -1: it is neither, and why. */
int sif_find(sif_read_fn *read, void *user, int64_t size, int64_t *ret_at, int64_t *ret_len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
