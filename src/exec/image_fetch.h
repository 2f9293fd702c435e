/* image_fetch.h: brings an image from a registry into an OCI layout, by skopeo, as an unprivileged user in a sandbox with the network.
 *
 * Of the machine the sandbox has its programs, its certificates and what says how names and registries are found; nobody's home and nobody's keys.
 * What skopeo writes is watched while it does: bytes and files are bounded. The layout is nobody's word for anything: image_oci.h reads it as that of
 * any stranger. */
#ifndef BERTH_EXEC_IMAGE_FETCH_H
#define BERTH_EXEC_IMAGE_FETCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SKOPEO "/usr/bin/skopeo"
#define IMAGE_LAYOUT "layout" /* in the folder that is given */

enum image_fetched {
    IMAGE_FETCHED,
    IMAGE_FETCH_REFUSED, /* there is no such image, it is not given, or it is not good: so it would be on another machine */
    IMAGE_FETCH_FAILED, /* the registry cannot be reached from here, or not now */
};

struct image_fetch {
    const char *name;   /* docker://HOST/PATH@sha256:DIGITS */
    const char *folder; /* that the layout is made in; it is there, empty, and the user's */
    uint32_t uid;       /* the user; 0: as we are */
    int64_t bytes_max;
    int accounts; /* a file with accounts for registries, as skopeo reads them; -1: nobody's. What is said then has no word of the registry in it */
};

/* `ret_words`: why not, in one line. */
enum image_fetched image_fetch(const struct image_fetch *fetch, char *ret_words, size_t size);

#ifdef __cplusplus
}
#endif
#endif
