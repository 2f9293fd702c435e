/* faults.h: what goes wrong in a world, and when: a plan that the seed alone decides.
 *
 * A seed has its *weather*: how often messages are lost, doubled or late, how often hosts crash, how far clocks are
 * apart. Bursts make it worse for a while. One world of four is *rough*: all hosts lose power at once, wall clocks are far
 * off for a while and right again, and matchmakers and customers run out of descriptors and disk. In the quiet phase nothing goes wrong any more. */
#ifndef BERTH_SIM_FAULTS_H
#define BERTH_SIM_FAULTS_H

#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

struct faults {
    struct world *world;
    struct rng rng;
    struct rates calm;        /* between bursts */
    int64_t pause;            /* between two faults, at most */
    uint32_t weights[16];     /* of the sorts of fault, as this seed has them */
    uint32_t first, provider; /* of the hosts that may crash; of the providers */
    uint32_t end;             /* of the hosts that may crash */
    bool quiet;
    struct rng rough;                       /* of what befalls rough worlds alone: one of four */
    int64_t jumped[HOSTS_MAX];              /* that a wall clock is off for a while */
    bool away[HOSTS_MAX];                   /* the owner of the provider is not at its keyboard */
    bool drained[HOSTS_MAX];                /* since its last start */
    bool ills;                              /* machines are unfit for a while, in this seed */
    struct rng ill;                         /* decides that, so that all else is as it would be without */
    struct tree *here, *gone;               /* held: what a probe says ... */
    struct tree *here_unwell, *gone_unwell; /* ... of a machine that cannot run jobs */
};

/* Hosts `first` to `end` may crash, those from `provider` on have keyboards. */
void faults_init(struct faults *faults, struct world *world, uint64_t seed, bool on, uint32_t first, uint32_t provider,
                 uint32_t end);
void faults_done(struct faults *faults);

/* From plan(): the planner's own entries are below FAULTS_PLANS. */
#define FAULTS_PLANS 0x10000u
void faults_plan(struct faults *faults, uint32_t which);

void faults_started(struct faults *faults, const struct host *host); /* a host has begun: it will be probed */
void faults_stop(struct faults *faults);                             /* the quiet phase begins */

#ifdef __cplusplus
}
#endif
#endif
