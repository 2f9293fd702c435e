/* seeker.h: gangs one at a time, over offers that come, change and go: for whoever keeps a pool; not installed.
 *
 *     the keeper   kinds of offers that are alike, each with its offers in order; an index of the kinds without Ports
 *     the seeker   the kinds with Ports, by their ports; the roots with Ports that wait, by theirs
 *
 * What a root gets is what gang.h says, with preferences. Of alike offers the first is taken. All numbers are the keeper's, small
 * ones. A kind without Ports costs nothing here until it is in a gang. */
#ifndef BERTH_MATCH_GANG_SEEKER_H
#define BERTH_MATCH_GANG_SEEKER_H

#include "match/gang/gang.h"
#include "match/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEEKER_OFFERS_MAX (1u << 26) /* numbers of offers; one that is larger is in no gang */
#define SEEKER_NONE UINT32_MAX

/* The budget of one search: a live pool goes on with the others soon. */
#define SEEKER_NODES_MAX 2000   /* candidates that are tried */
#define SEEKER_WORK_MAX 20000   /* probes, dockings, and candidates that are ranked; and so many more for each kind: */
#define SEEKER_WORK_KIND 4      /* so that in a large pool all can be ranked */
#define SEEKER_STEPS_MAX 400000 /* of evaluations; and so many more for each kind: */
#define SEEKER_STEPS_KIND 100

struct seeker;

/* Who is there, as the keeper has it; SEEKER_NONE where there is none. */
struct seeker_pool {
    const void *user;
    uint32_t (*first)(const void *user, uint32_t kind); /* its first offer */
    uint32_t (*next)(const void *user, uint32_t offer); /* the next of the same kind */
    uint32_t (*kind)(const void *user, uint32_t offer);
    uint64_t (*order)(const void *user, uint32_t offer);           /* the smaller comes first; then the number */
    struct tree *(*ad_of_kind)(const void *user, uint32_t kind);   /* that stands for all; borrowed */
    struct tree *(*ad_of_offer)(const void *user, uint32_t offer); /* its own */
    /* The environment of the policy's vector for an offer (SIZE_MAX: for a set), until it is asked again; NULL: that of the search. */
    struct env (*vector_env)(const void *user, const struct env *env, size_t offer);
};

/* All is borrowed, and must outlive it. */
struct seeker *seeker_new(const struct seeker_pool *pool, const struct policy *policy);
void seeker_free(struct seeker *seeker);

/* An ad, be it an offer or a root, is or was there: what it reads must not be overlooked. Every one must be told. */
void seeker_note(struct seeker *seeker, const struct tree *ad);

/* The names that an ad with Ports reads, but for its labels. False when it may read any. */
typedef void seeker_name_fn(void *user, symbol name);
bool seeker_names(struct tree *ad, seeker_name_fn *tell, void *user);

/* A kind with Ports is there, or another ad stands for it. Any kind is gone, or another ad stands for it. */
void seeker_kind_put(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind);
void seeker_kind_forget(struct seeker *seeker, uint32_t kind);

/* A root with Ports waits; it does so no longer. When there is nobody at all for one of its ports, it waits for that one alone. `index`
 * as below. `steady`: the ad means the same at any time and for everybody, so when it is put again little is left to do. */
void seeker_root_put(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                     uint32_t root, struct tree *ad, bool steady);
void seeker_root_remove(struct seeker *seeker, uint32_t root);

/* How many ports kinds have, in all. */
uint32_t seeker_ports(const struct seeker *seeker);

/* May a root without Ports dock at a port of some kind? */
bool seeker_meets(struct seeker *seeker, const struct env *env, struct arena *scratch, const struct tree *root);

/* The kind has come: the roots that wait and that it could help: who could dock with it, or with a kind that could dock with it,
 * and so on. Those with Ports, and those without in the index `plain` (NULL: not asked for). A root may be told more than once. */
struct seeker_heard {
    struct index *plain;
    void (*ported)(void *user, uint32_t root);
    void (*alone)(void *user, uint32_t root);
    void *user;
};
void seeker_hear(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind,
                 const struct seeker_heard *heard);

/* A member of a gang, its superior before it. */
struct seeker_member {
    uint32_t offer;
    uint32_t parent; /* its superior's number among the members; SEEKER_NONE: the root */
    uint32_t port, link;
    struct tree *left; /* what its Residual leaves of it; NULL when it has none */
    struct tree
        *counterpart; /* the port that it docks at as a plain ad, by which that can be made again; NULL then as well */
};

struct seeker_gang {
    const struct seeker_member *members; /* until the next gang is sought */
    uint32_t count;
    uint64_t work; /* that it took */
};

/* A gang for a root. `index` has the kinds without Ports (NULL: there are none). `offers` and `kinds`: all numbers are below. `steady` as above. Nothing
 * is consumed. A gang without members is none. */
enum gang_outcome seeker_find(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                              uint32_t offers, uint32_t kinds, struct tree *root, bool steady, struct seeker_gang *ret);

bool seeker_valid(const struct seeker *seeker, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
