/* image_layer.h: lays the files of an image into a folder, one layer over another.
 *
 *     layer_tree_open -> layer_whiteouts, layer_apply for each layer, from the lowest -> layer_tree_finish -> layer_tree_done
 *
 * A layer is a tar file that strangers made. Names in it are resolved beneath the folder by the kernel, links as well (openat2 with RESOLVE_IN_ROOT):
 * nothing outside of it is ever touched. Files get the mode 0644 or 0755 and belong to whoever unpacks; setuid, devices, pipes and attributes are
 * left out. Bytes and files are counted over all layers. */
#ifndef BERTH_EXEC_IMAGE_LAYER_H
#define BERTH_EXEC_IMAGE_LAYER_H

#include "exec/image_tar.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAYER_DEPTH_MAX 100  /* folders inside one another */
#define LAYER_FILE_BYTES 512 /* what a file counts at least */

struct layer_tree {
    int root;
    int64_t bytes, files;         /* so far */
    int64_t bytes_max, files_max; /* more are an error */
    int parent;                   /* the folder of the last entry, for the next; -1 */
    char parent_name[TAR_NAME_MAX + 1];
};

int layer_tree_open(struct layer_tree *tree, int root, int64_t bytes_max, int64_t files_max);
void layer_tree_done(struct layer_tree *tree);

/* Takes away what the layer says is gone from those below it: `.wh.NAME`, and `.wh..wh..opq` for all of a folder. */
int layer_whiteouts(struct layer_tree *tree, struct tar *tar, struct err *err);
/* Lays the files of the layer over those that are there. */
int layer_apply(struct layer_tree *tree, struct tar *tar, struct err *err);

/* Counts what was laid there by somebody else, and gives it the modes that ours have; what is no file, folder or link goes. */
int layer_tree_tidy(struct layer_tree *tree, struct err *err);
/* Makes the files in /etc that a sandbox puts its own over, and the folder where the image wants to begin ("": none). */
int layer_tree_finish(struct layer_tree *tree, const char *begin, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
