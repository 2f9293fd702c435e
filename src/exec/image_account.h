/* image_account.h: somebody's account at a registry, as skopeo reads it: a file in memory that has no name. */
#ifndef BERTH_EXEC_IMAGE_ACCOUNT_H
#define BERTH_EXEC_IMAGE_ACCOUNT_H

#include "lang/base/err.h"
#include "pool/protocol/image_ref.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_ACCOUNT_ATTRIBUTE \
    "ImageSecret" /* of a job: which of its secrets has the account that its image is fetched with */

/* Puts the account for the image's host into such a file, which nobody but its owner can read, and returns its descriptor; -1 and `err`. `secret`:
 * USER:PASSWORD, perhaps with the end of a line behind it. */
int image_account_file(const struct image_ref *ref, const void *secret, size_t len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
