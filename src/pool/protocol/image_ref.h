/* image_ref.h: the name of an image in a registry, as Docker and Podman have it, and which of them an owner lets machines fetch.
 *
 *     docker://registry.example.org:5000/physics/tools:2.1@sha256:DIGITS
 *              host                      path          tag digest
 *
 * The first part is a host if there is a '.' or ':' in it, or if it is "localhost", and another follows; else the host is docker.io, where a path
 * of one part stands for library/PATH. */
#ifndef BERTH_POOL_PROTOCOL_IMAGE_REF_H
#define BERTH_POOL_PROTOCOL_IMAGE_REF_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_REF_BEGIN "docker://"
#define IMAGE_REF_MAX 640       /* bytes of a whole one */
#define IMAGE_REF_HOST_MAX 255  /* bytes of a host, with its port */
#define IMAGE_REF_TAG_MAX 128   /* bytes of a tag */
#define IMAGE_REF_DIGEST_LEN 71 /* sha256: and 64 digits */

struct image_ref {
    char place[IMAGE_REF_MAX + 32]; /* docker://HOST/PATH, with all that may be left out; the host in lower case */
    size_t host_len;                /* of the host in it */
    char tag[IMAGE_REF_TAG_MAX + 1];
    char digest[IMAGE_REF_DIGEST_LEN + 1]; /* at least one of them is "" */
};

/* Is it the name of something that is not a file: does it begin as one of these do? */
bool image_ref_is(const char *text, size_t len);
/* Takes a name apart. A tag beside a digest is nothing, and one that says neither has the tag "latest". -1 and what is wrong with it. */
int image_ref_read(const char *text, size_t len, struct image_ref *ret, struct err *err);
/* Reads what an owner lists, docker://HOST/ or docker://HOST/PATH, into the form that `place` has; without a path it ends after the host. */
int image_source_read(const char *text, size_t len, struct image_ref *ret, struct err *err);
/* Does an image of that place come from the source: are its host and the first parts of its path the same? */
bool image_source_holds(const char *source, const struct image_ref *ref);
/* Is its host this machine itself? Nobody can listen in between, and nobody has a certificate for it. */
bool image_ref_is_loopback(const struct image_ref *ref);

#ifdef __cplusplus
}
#endif
#endif
