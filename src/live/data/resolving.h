/* resolving.h: the files that jobs read, looked up in the catalogues before the jobs are submitted.
 *
 *     ads -> the names in their InputData, each once -> asked, some at a time -> ads with
 *
 *         InputData     = {"run7/a.dat"}      the files of a dataset in its place
 *         Replicas      = {"se1", "se3"}      stores that have all of them
 *         ReplicaHosts  = {"se1.lab"}         hosts of those stores, by their URLs
 *         InputBytes    = 8192                how large they are together: of more than 1 MiB, about, and not less
 *         Rank          = ...                 if the ad has none: machines that say that one of those stores is near (CloseStorage) */
#ifndef BERTH_LIVE_DATA_RESOLVING_H
#define BERTH_LIVE_DATA_RESOLVING_H

#include "lang/text/tree.h"
#include "live/data/catalogue.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RESOLVING_NAMES_MAX 20000  /* of one submission, each counted once */
#define RESOLVING_READS_MAX 100000 /* of one submission with datasets: those of each job's ad */

struct resolving;

/* `status`: 0 when all files are there; else a status of HTTP, and the words. */
typedef void resolving_done_fn(void *user, unsigned status, const char *words);

/* Does any of the ads name such files? Their InputData is good. */
bool resolving_is_needed(struct tree *const *ads, uint32_t count);

/* Begins to look the files up. `done` is called once, and never before this returns. The ads are lent until resolving_free. NULL: there are too many
 * names. */
struct resolving *resolving_start(struct catalogues *catalogues, struct tree *const *ads, uint32_t count,
                                  resolving_done_fn *done, void *user);
/* Were there datasets among the names? */
bool resolving_has_datasets(const struct resolving *resolving);
/* One of the ads with what is known of its files, after all were found; the caller unrefs it. */
struct tree *resolving_ad(const struct resolving *resolving, const struct tree *ad);
void resolving_free(struct resolving *resolving); /* after `done`; takes NULL */

#ifdef __cplusplus
}
#endif
#endif
