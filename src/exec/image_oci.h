/* image_oci.h: an image as an OCI layout or as Docker saves it, in a tar file or a folder: which layers it has, and how it wants to be run. */
#ifndef BERTH_EXEC_IMAGE_OCI_H
#define BERTH_EXEC_IMAGE_OCI_H

#include "exec/image_layer.h"
#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_LAYERS_MAX 256
#define IMAGE_BEGIN_MAX 1023 /* bytes of the folder that it begins in */

/* Lays all layers of the image in the archive into the tree. `says`: appended is how it wants to be run, as image_run.h has it; `begin`: where it
 * begins, "" where it does not say. */
int image_oci_unpack(int fd, struct layer_tree *tree, struct buf *says, char begin[IMAGE_BEGIN_MAX + 1],
                     struct err *err);

#ifdef __cplusplus
}
#endif
#endif
