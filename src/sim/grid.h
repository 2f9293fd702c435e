/* grid.h: a scenario run: a pool of up to some millions of hosts in one simulated world, by the roles that run a real one.
 *
 *     scenario -> a matchmaker | customers | a crowd of users | providers at sites -> world -> figures
 *
 * Nothing is lost on the way, but hosts come and go as the scenario says: then their jobs are lost, and queued again by the protocol itself.
 * The same scenario and seed give the same figures to the last bit, but for those that a clock measures, which stand apart. */
#ifndef BERTH_SIM_GRID_H
#define BERTH_SIM_GRID_H

#include "sim/scenario.h"
#include "sim/spread.h"
#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Submissions by how many jobs they have. */
#define GRID_CLASSES 4
extern const uint32_t grid_classes[GRID_CLASSES]; /* the smallest of each */

/* Messages of the hosts of one sort. */
struct grid_messages {
    uint64_t hosts, in, out;
    uint64_t most; /* in and out, of one host */
};

/* Of all cycles; and lines and evaluations of the one with most. */
struct engine_work {
    uint64_t probes, tests, evaluations, tried, most;
};

struct grid_report {
    uint32_t providers, sites, customers, users, shapes;
    int64_t time; /* simulated, microseconds */
    uint64_t events, hash;
    uint64_t submitted, refused, done, queued; /* jobs; what was submitted, the refused apart, is done or queued */
    uint64_t running;                          /* of those that are queued */
    uint64_t matches, claims, launches, cycles;
    uint64_t starts, stops, lost; /* of providers; processes that went with them */
    uint64_t expired;             /* processes that ended with their lease */
    int64_t up, claimed, busy;    /* of all providers: microseconds */
    int64_t wasted;               /* of `busy`: of processes that came to nothing */
    struct spread waits;          /* from a submission to the first start: milliseconds */
    struct spread class_waits[GRID_CLASSES];
    struct grid_messages matchmaker, customer, provider;
    uint64_t by_message[MESSAGE_COUNT]; /* that left */
    uint64_t undelivered;               /* their host was down */
    struct engine_work work;
    struct spread cycle_times; /* measured: microseconds; empty without a clock */
    const char *broken;        /* what was found wrong, or NULL */
};

struct grid_settings {
    const struct scenario *scenario; /* its symbols are the world's */
    uint64_t seed;
    double duration; /* seconds */
    bool check; /* now and then, are the roles' states in order, do wire forms say the same? Slow; no figure differs */
    double (*clock)(void *user); /* seconds; or NULL */
    /* About once a simulated minute; false: enough. Or NULL. */
    bool (*progress)(void *user, const struct grid_report *report);
    void *user;
};

/* -1 and `err` when the scenario cannot be made. */
int grid_run(const struct grid_settings *settings, struct grid_report *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
