/* secret_sets.h: the secrets that users have sent for their jobs, kept until the last of those jobs is over.
 *
 *     POST /v1/secrets -> a set: a row on the shelf, sealed to a key that lies beside the store, in a file -> jobs name the set (SecretsId)
 *     a provider that is to begin such a job asks -> the set is opened, and sealed for that provider alone
 *
 * So a copy of the store, or of its backups, tells nobody anything; what is in the file opens them. A set that no job has named is removed after an
 * hour. Whoever submits holds its set until its jobs are there. */
#ifndef BERTH_LIVE_CUSTOMERD_SECRET_SETS_H
#define BERTH_LIVE_CUSTOMERD_SECRET_SETS_H

#include "lang/base/buf.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SECRET_SETS_SPACE "secrets"            /* on the shelf */
#define SECRET_KEY_FILE "secrets.key"          /* in the customer's folder */
#define SECRET_SETS_KEPT INT64_C(3600)         /* seconds that one is kept which no job has named */
#define SECRET_SETS_PER_ACCOUNT 10000          /* sets of one account */
#define SECRET_SETS_BYTES (UINT64_C(64) << 20) /* ... and bytes of them, sealed */

struct secret_sets;

/* Loads what is there. NULL: the file of the key, or the shelf, cannot be read. */
struct secret_sets *secret_sets_new(struct shelf *shelf, const char *folder, struct err *err);
void secret_sets_free(struct secret_sets *sets); /* takes NULL */

/* Puts a set on the shelf; a commit follows. 0: its number is in *ret_id; 1: the account has too many; -1: it cannot be kept. `err` says why. */
int secret_sets_add(struct secret_sets *sets, const char *owner, const void *bundle, size_t len, int64_t now,
                    uint64_t *ret_id, struct err *err);

/* Holds a set for a submission of that owner; false: the owner has none of this number. */
bool secret_sets_hold(struct secret_sets *sets, uint64_t id, const char *owner);
void secret_sets_let(struct secret_sets *sets, uint64_t id); /* takes one that is gone */

/* Appends the bundle of a set, in the clear: the caller wipes it. */
int secret_sets_open(const struct secret_sets *sets, uint64_t id, struct buf *ret_bundle, struct err *err);

/* A job that names the set is over. */
void secret_sets_ended(struct secret_sets *sets, uint64_t id);

/* Removing: all jobs are gone through, and those that are not over name their sets; then the others go. */
bool secret_sets_are_due(const struct secret_sets *sets, int64_t now); /* is it worth looking? */
void secret_sets_mark_begin(struct secret_sets *sets);
void secret_sets_mark(struct secret_sets *sets, uint64_t id, bool over);
/* Returns how many were removed; a commit follows. */
uint32_t secret_sets_mark_end(struct secret_sets *sets, int64_t now);

uint32_t secret_sets_count(const struct secret_sets *sets);

#ifdef __cplusplus
}
#endif
#endif
