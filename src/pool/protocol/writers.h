/* writers.h: an ad is made by a pipeline of writers, each of which adds to or rewrites the ad that passes through
 * (section 3.4.1).
 *
 *     [] -> probed state -> configuration -> owner's policy -> what is left -> the ad
 *
 * Most writers only lay their attributes over what comes: that is a layer. One that must compute (the time at which
 * a state was entered, a default that depends on what is there) is a function. Names are the same whatever their
 * case; an attribute stands where it first appeared, spelt as it was last written. */
#ifndef BERTH_POOL_PROTOCOL_WRITERS_H
#define BERTH_POOL_PROTOCOL_WRITERS_H

#include "lang/ad/value.h"
#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a writer makes of the ad: a new one, or tree_ref(ad) when it has nothing to add; the caller unrefs it. NULL
 * and `err` when it cannot. */
typedef struct tree *writer_fn(void *user, struct tree *ad, struct err *err);

struct writer {
    const char *name; /* for errors: "configuration" */
    writer_fn *write;
    void *user;
};

/* A writer that lays the attributes of that ad (borrowed; NULL adds nothing) over what comes. */
struct writer writer_layer(const char *name, struct tree *layer);

/* The ad that comes out at the end of the pipeline (the caller unrefs it), or NULL and "NAME: why". It begins as an
 * empty ad. All writers use this table of symbols and this dialect. */
struct tree *writers_run(const struct writer *writers, size_t count, struct symbols *symbols,
                         const struct dialect *dialect, struct err *err);

/* One ad laid over another of the same table of symbols: an attribute of `above` replaces that of `below`. A new ad;
 * NULL and `err` when either is not an ad, they differ in dialect, or the attributes are more than an ad can have. */
struct tree *ad_over(const struct tree *below, const struct tree *above, struct err *err);

struct ad_setting {
    symbol name; /* borrowed */
    struct value value;
};

/* A copy of an ad with some attributes set to values; of two settings of one name the later holds. NULL and `err`
 * when it is not an ad, or the attributes are more than an ad can have. */
struct tree *ad_set(const struct tree *ad, const struct ad_setting *settings, size_t count, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
