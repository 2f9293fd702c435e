/* image_digest.h: which image in a registry a name means now. */
#ifndef BERTH_CLI_JOBS_IMAGE_DIGEST_H
#define BERTH_CLI_JOBS_IMAGE_DIGEST_H

#include "lang/base/err.h"
#include "sys/secret_bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name with the digest in place of the tag, docker://HOST/PATH@sha256:DIGITS; the caller frees it. NULL and why not. Where the name has no digest,
 * skopeo asks the registry for it, as this user, with that account (USER:PASSWORD), or with those that it finds for the user where it is NULL. */
char *image_digest_find(const char *name, const struct secret *account, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
