/* seeker.h: gangs one at a time, over offers that come, change and go: for whoever keeps a pool; not installed.
 *
 *     the keeper   kinds of offers that are alike, each with its offers in order; an index of the kinds without Ports
 *     the seeker   the kinds with Ports, by their ports; the roots with Ports that wait, by theirs
 *
 * What a root gets is what gang.h says, with preferences. Of alike offers the first is taken. All numbers are the keeper's, and small. A kind
 * without Ports costs nothing here until it is in a gang. */
#ifndef BERTH_MATCH_GANG_SEEKER_H
#define BERTH_MATCH_GANG_SEEKER_H

#include "match/gang/gang.h"
#include "match/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEEKER_OFFERS_MAX (1u << 26) /* numbers of offers; an offer with a larger one is in no gang */
#define SEEKER_NONE UINT32_MAX

/* The budget of one search; it is small, so that a live pool soon goes on with the others. */
#define SEEKER_NODES_MAX 2000   /* candidates that are tried */
#define SEEKER_WORK_MAX 20000   /* probes, dockings, and candidates that are ranked; and so many more for each kind: */
#define SEEKER_WORK_KIND 4      /* so that in a large pool all can be ranked */
#define SEEKER_STEPS_MAX 400000 /* steps of evaluations; and so many more for each kind: */
#define SEEKER_STEPS_KIND 100

struct seeker;

/* The keeper's offers and kinds; SEEKER_NONE where there is none. */
struct seeker_pool {
    const void *user;
    uint32_t (*first)(const void *user, uint32_t kind); /* its first offer */
    uint32_t (*next)(const void *user, uint32_t offer); /* the next of the same kind */
    uint32_t (*kind)(const void *user, uint32_t offer);
    uint64_t (*order)(const void *user, uint32_t offer);           /* the smaller comes first; then the number */
    struct tree *(*ad_of_kind)(const void *user, uint32_t kind);   /* the ad that stands for all; borrowed */
    struct tree *(*ad_of_offer)(const void *user, uint32_t offer); /* its own */
    /* The environment of the policy's vector for an offer (SIZE_MAX: for a set), which lives until the next call; NULL: that of the search. */
    struct env (*vector_env)(const void *user, const struct env *env, size_t offer);
};

/* Makes a seeker. The policy, and what the pool refers to, are borrowed and must outlive it. */
struct seeker *seeker_new(const struct seeker_pool *pool, const struct policy *policy);
void seeker_free(struct seeker *seeker);

/* Notes an ad that is or was there, be it an offer or a root: what it reads must not be overlooked. Every ad must be noted. */
void seeker_note(struct seeker *seeker, const struct tree *ad);

/* Tells the names that an ad with Ports reads, except its labels. False when the ad may read any name. */
typedef void seeker_name_fn(void *user, symbol name);
bool seeker_names(struct tree *ad, seeker_name_fn *tell, void *user);

/* Tells that a kind with Ports is there, or that another ad stands for it. Tells that any kind is gone, or that another ad stands for it. */
void seeker_kind_put(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind);
void seeker_kind_forget(struct seeker *seeker, uint32_t kind);

/* Tells that a root with Ports waits; that it waits no longer. When there is nobody at all for one of its ports, it waits for that one alone.
 * `index` as below. `steady`: the ad means the same at any time and for everybody, so when it is put again little is left to do. */
void seeker_root_put(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                     uint32_t root, struct tree *ad, bool steady);
void seeker_root_remove(struct seeker *seeker, uint32_t root);

/* How many ports all kinds have together. */
uint32_t seeker_ports(const struct seeker *seeker);

/* May a root without Ports dock at a port of some kind? */
bool seeker_meets(struct seeker *seeker, const struct env *env, struct arena *scratch, const struct tree *root);

/* Finds the waiting roots that a new kind could help: those that could dock with it, or with a kind that could dock with it, and so on. `ported`
 * hears of the roots with Ports, `alone` of those without, which are in the index `plain` (NULL: not asked for). A root may be told more than
 * once. */
struct seeker_heard {
    struct index *plain;
    void (*ported)(void *user, uint32_t root);
    void (*alone)(void *user, uint32_t root);
    void *user;
};
void seeker_hear(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind,
                 const struct seeker_heard *heard);

/* A member of a gang; its superior comes before it. */
struct seeker_member {
    uint32_t offer;
    uint32_t parent; /* its superior's number among the members; SEEKER_NONE: the root */
    uint32_t port, link;
    struct tree *left; /* what its Residual leaves of it; NULL when it has none */
    struct tree
        *counterpart; /* the port that it docks at, as a plain ad, by which `left` can be made again; NULL likewise */
};

struct seeker_gang {
    const struct seeker_member *members; /* until the next gang is sought */
    uint32_t count;
    uint64_t work; /* that the search took */
};

/* Finds a gang for a root. `index` has the kinds without Ports (NULL: there are none). All numbers of offers and kinds are below `offers` and
 * `kinds`. `steady` as above. Nothing is consumed. A gang without members counts as none. */
enum gang_outcome seeker_find(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                              uint32_t offers, uint32_t kinds, struct tree *root, bool steady, struct seeker_gang *ret);

bool seeker_valid(const struct seeker *seeker, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
