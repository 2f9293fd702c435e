/* reads.h: the names of the other side's ads that some ads and a policy read; not installed.
 *
 * Ads that are alike in all of them need not be told apart (classes.h). */
#ifndef BERTH_MATCH_INDEX_READS_H
#define BERTH_MATCH_INDEX_READS_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define READS_MAX 128   /* names; with more, any name may be read */
#define READS_SLOTS 512 /* a power of two */

struct reads {
    struct symbols *symbols;
    symbol *items; /* held, each once */
    uint32_t count, room;
    bool all;                         /* it cannot be told: any name could be read */
    unsigned char slots[READS_SLOTS]; /* a hash table of the names: their places plus one, or 0 */
};

void reads_init(struct reads *reads, struct symbols *symbols);
void reads_done(struct reads *reads);

void reads_add(struct reads *reads, symbol name);

/* Adds what any attribute of an ad reads of its counterpart. */
void reads_add_ad(struct reads *reads, const struct tree *ad);

/* Adds what a policy (NULL: the default) reads of either side: its expressions stand in a root, so any name there may be either side's. */
void reads_add_policy(struct reads *reads, const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
