/* image_unpack.h: unpacks an image that strangers made, as an unprivileged user in a sandbox.
 *
 *     agent ---- berth unpack (our rights: opens the image, makes the folder) ---- bubblewrap ---- berth unpack --inside
 *
 * Inside there is no network, the filter of system calls that jobs have, and nothing that can be written but the image's folder, `root` and `says` in
 * which are made (image_run.h). What lies in a registry is fetched before that, in a sandbox of its own, which has the network (image_fetch.h). Whatever is wrong with the image is one line on standard error, and the status is not 0. */
#ifndef BERTH_EXEC_IMAGE_UNPACK_H
#define BERTH_EXEC_IMAGE_UNPACK_H

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_FILES_MAX 2000000 /* of one image */
#define IMAGE_CPU_MAX 3600      /* seconds of a processor's time */

/* Sorts of images, as a machine's ad calls those that it can run. */
#define IMAGE_OCI "oci"           /* an OCI layout, or what Docker saves, in a tar file or a folder */
#define IMAGE_SQUASHFS "squashfs" /* also in a .sif file */
#define IMAGE_SIF "sif"
#define IMAGE_DOCKER \
    "docker" /* in a registry: fetched first (image_fetch.h). A machine's ad has ImageSources in place of it */

#define IMAGE_GOT \
    ".got" /* behind the name of FOLDER: where what is fetched lies until it is unpacked; the caller removes it */
#define IMAGE_STATUS_UNREACHED \
    75 /* the exit status where the registry cannot be reached from here; whatever else is wrong is the image's fault */

/* What `berth unpack SORT FOLDER FILE BYTES UID` does: unpacks FILE, which may be a folder, into FOLDER, which is made, up
 * to BYTES, as user UID (0: as we are). Of the sort "docker" FILE is the name of an image, and standard input may be a file with accounts for registries.
 * Returns its exit status. */
int image_unpack_main(int count, char **words);

#ifdef __cplusplus
}
#endif
#endif
