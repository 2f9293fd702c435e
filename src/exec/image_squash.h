/* image_squash.h: an image that is a squashfs, or a .sif file with one in it. It is unpacked by unsquashfs; the kernel never mounts it. */
#ifndef BERTH_EXEC_IMAGE_SQUASH_H
#define BERTH_EXEC_IMAGE_SQUASH_H

#include "exec/image_layer.h"
#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UNSQUASHFS "/usr/bin/unsquashfs"

/* Unpacks it into `root`, the name of the tree's folder in the current one. The descriptor must be one that can be opened again. */
int image_squash_unpack(int fd, struct layer_tree *tree, const char *root, struct buf *says, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
