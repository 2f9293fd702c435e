/* secret_bundle.h: the secrets of a job, as they go from hand to hand in memory, and never lie on a disk in the clear.
 *
 *     for each: length of the name (1 byte) | name | length of the bytes (4, lowest first) | bytes
 *
 * A name is that of a file: letters, digits, '.', '_' and '-', not first a '.'. No name is there twice. */
#ifndef BERTH_SYS_SECRET_BUNDLE_H
#define BERTH_SYS_SECRET_BUNDLE_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SECRETS_MAX 16                          /* of a job */
#define SECRET_NAME_MAX 64                      /* bytes of a name */
#define SECRET_BYTES_MAX (64u << 10)            /* of one secret */
#define SECRETS_BYTES_MAX (256u << 10)          /* of all secrets of a job, with their names */
#define SECRET_ATTRIBUTE "Secrets"              /* of a job: the names of those that it reads */
#define SECRET_ID_ATTRIBUTE "SecretsId"         /* of a job: where its customer has them; set by the customer alone */
#define SECRET_MACHINE_ATTRIBUTE "TakesSecrets" /* of a machine: it hands a job its secrets */

struct secret {
    const char *name; /* not ended by a NUL */
    size_t name_len;
    const void *bytes;
    size_t len;
};

bool secret_name_is_good(const char *name, size_t len);

/* Appends a secret. -1, and nothing appended, when the name is bad or there already, or it is too large, or there are too many. */
int secret_bundle_add(struct buf *bundle, const char *name, size_t name_len, const void *bytes, size_t len,
                      struct err *err);

/* The secret at `*at`, which begins with 0 and is moved on; what is given is lent by the bundle. 1: there is one; 0: that was the last; -1: it is no
 * bundle. */
int secret_bundle_next(const void *bundle, size_t len, size_t *at, struct secret *ret);

/* Is it one, from its beginning to its end? */
bool secret_bundle_is_good(const void *bundle, size_t len);
bool secret_bundle_find(const void *bundle, size_t len, const char *name, size_t name_len, struct secret *ret);

/* Puts bytes into a file in memory, which has no name, and returns its descriptor; -1 and the error. */
int secret_memory_file(const void *bytes, size_t len, struct err *err);

/* Overwrites what is in the buffer, and frees it. Bytes that were moved when it grew are not reached: reserve room for SECRETS_BYTES_MAX first. */
void secret_wipe(struct buf *buf);

#ifdef __cplusplus
}
#endif
#endif
