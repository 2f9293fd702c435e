/* gang_slow.h: what a gang is, told a second time and slowly: for tests of the search for gangs.
 *
 * A gang is judged by writing it down as an ad, as figure 32 of the dissertation draws it, and asking the ordinary evaluator:
 *
 *     [ _ctx_0_1_0 = [ _label_cpu = _ctx_1_0_0._ad; _label_lic = _ctx_2_0_0._ad.Ports[0]; ...; _ad = the root ];
 *       _ctx_1_0_0 = [ _label_other = _ctx_0_0_0._ad.Ports[0]; ...; _ad = the machine ];
 *       ... ]
 *
 * There is a context for every member, port and position in it (a set has several), since an expression of a port sees the labels
 * up to its own only. In a context a name of the ad that no ad around it defines is written as what it means: a label as _label_cpu,
 * `other` as _other, any other name as _across.name, the counterpart's.
 *
 *   slow_verify   is this a gang?
 *   slow_search   the largest gang of a root, by trying everything: for pools of a few offers */
#ifndef BERTH_TESTS_GANG_SLOW_H
#define BERTH_TESTS_GANG_SLOW_H

#include "common/lang.h"
#include "match/gang/gang.h"

#define SLOW_MEMBERS_MAX 32
#define SLOW_CHOICES_MAX 256
#define SLOW_COMPONENTS_MAX 8 /* of a docking vector */

struct slow_ad {
    const struct tree *tree;
    struct ports ports;
    struct buf *bodies; /* by port: the ad as it stands in that port's context */
    struct buf *paths;  /* by port: from the ad to it, ".Ports[0]" */
};

struct slow {
    struct lang *lang;
    const struct env *env;
    const struct policy *policy;
    struct slow_ad *ads; /* the requests, then the offers */
    size_t request_count, count;
    bool *taken; /* by place: not to be had; the caller's to set */
    struct buf text;
    struct tree *last; /* the last environment: the next one has nearly the same names, so they are held */
    struct arena kept; /* vectors of a search */
};

void slow_init(struct slow *slow, struct lang *lang, const struct env *env, const struct policy *policy,
               struct tree *const *ads, size_t request_count, size_t offer_count);
void slow_done(struct slow *slow);

/* A member, its place among those at the same port, and the docking vector of its edge. */
struct slow_member {
    struct gang_member is;
    uint32_t position;
    struct value vector[SLOW_COMPONENTS_MAX];
};

/* Are both constraints of the edge above members[m] true? Members that are not chosen yet count as absent. With `vector` that is
 * evaluated too, and kept in slow->kept; false also when the policy's discards it. */
bool slow_docks(struct slow *slow, struct slow_member *members, uint32_t count, uint32_t m, bool vector);

uint32_t slow_components(const struct slow *slow);

/* Do the ports of the ad that are filled, with so many members each, satisfy its list and its groups? */
bool slow_filled(const struct slow_ad *ad, const uint32_t *members);

/* Is it a gang, in the order of its choices? With preferences the policy's vector must not discard it. `why` gets the reason. */
bool slow_verify(struct slow *slow, const struct gang_member *members, uint32_t count, bool preferences,
                 struct buf *why);

struct slow_found {
    bool exists;
    bool gave_up; /* too many checks: neither is known */
    uint64_t checks, gangs;
    uint32_t count;
    struct gang_member members[SLOW_MEMBERS_MAX];
};

typedef void slow_gang_fn(void *user, const struct slow_member *members, uint32_t count);

struct slow_options {
    bool preferences;   /* the largest; else any, and vectors are not looked at */
    bool late;          /* edges are judged in complete gangs only; else as soon as all that they see is chosen */
    uint64_t checks;    /* of edges, at most */
    slow_gang_fn *each; /* told of every gang; or NULL */
    void *user;
};

void slow_search(struct slow *slow, size_t root, const struct slow_options *options, struct slow_found *ret);

#endif
