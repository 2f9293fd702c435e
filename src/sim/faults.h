/* faults.h: the faults of a world, and when they happen: the seed alone decides the plan.
 *
 * A seed has its *weather*: how often messages are lost, doubled or late, how often hosts crash, how far clocks are
 * apart. Bursts make it worse for a while. One world of four is *rough*: all hosts lose power at once, wall clocks are far
 * off for a while and right again, and matchmakers and customers run out of descriptors and disk. In the quiet phase there are no more faults. */
#ifndef BERTH_SIM_FAULTS_H
#define BERTH_SIM_FAULTS_H

#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

struct faults {
    struct world *world;
    struct rng rng;
    struct rates calm;        /* the rates between bursts */
    int64_t pause;            /* the longest pause between two faults */
    uint32_t weights[16];     /* of the sorts of fault, in this seed */
    uint32_t first, provider; /* the first host that may crash; the first provider */
    uint32_t end;             /* the end of the hosts that may crash */
    bool quiet;
    struct rng rough;                       /* for the faults of rough worlds, one of four */
    int64_t jumped[HOSTS_MAX];              /* by how much a wall clock is off for a while */
    bool away[HOSTS_MAX];                   /* the owner of the provider is not at its keyboard */
    bool drained[HOSTS_MAX];                /* since its last start */
    bool ills;                              /* machines are unfit for a while, in this seed */
    struct rng ill;                         /* decides that, so that everything else stays the same */
    struct tree *here, *gone;               /* held: what a probe says, with the owner at the keyboard or not ... */
    struct tree *here_unwell, *gone_unwell; /* ... and the same for a machine that cannot run jobs */
};

/* Hosts `first` to `end` may crash, those from `provider` on have keyboards. */
void faults_init(struct faults *faults, struct world *world, uint64_t seed, bool on, uint32_t first, uint32_t provider,
                 uint32_t end);
void faults_done(struct faults *faults);

/* Called by the world's plan(): the planner's own entries are below FAULTS_PLANS. */
#define FAULTS_PLANS 0x10000u
void faults_plan(struct faults *faults, uint32_t which);

void faults_started(struct faults *faults, const struct host *host); /* a host has started: it will be probed */
void faults_stop(struct faults *faults);                             /* the quiet phase begins */
/* After that, until faults_stop again: owners come, machines are unwell, drained or down; but no message is lost or late. */
void faults_pose(struct faults *faults, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
