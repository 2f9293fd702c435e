/* grid.h: runs a scenario: a pool of up to some millions of hosts in one simulated world, with the roles that run a real one.
 *
 *     scenario -> a matchmaker | customers | a crowd of users | providers at sites -> world -> figures
 *
 * No message is lost on the way, but hosts come and go as the scenario says: then their jobs are lost, and the protocol itself queues them again. The
 * same scenario and seed give the same figures to the last bit, except those that a clock measures, which stand apart. */
#ifndef BERTH_SIM_GRID_H
#define BERTH_SIM_GRID_H

#include "sim/scenario.h"
#include "sim/spread.h"
#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Classes of submissions, by their number of jobs. */
#define GRID_CLASSES 4
extern const uint32_t grid_classes[GRID_CLASSES]; /* the smallest number of each class */

/* Messages of the hosts of one kind. */
struct grid_messages {
    uint64_t hosts, in, out;
    uint64_t most; /* the most of one host, in and out */
};

/* The work of all cycles; `most`: tests and evaluations of the cycle with most. */
struct engine_work {
    uint64_t probes, tests, evaluations, tried, most;
};

struct grid_report {
    uint32_t providers, sites, customers, users, shapes;
    int64_t time; /* simulated, microseconds */
    uint64_t events, hash;
    uint64_t submitted, refused, done, queued; /* jobs; what was submitted, and not refused, is done or queued */
    uint64_t running;                          /* of the queued ones */
    uint64_t matches, claims, launches, cycles;
    uint64_t starts, stops, lost; /* of providers; `lost`: processes that ended with them */
    uint64_t expired;             /* processes that ended with their lease */
    int64_t up, claimed, busy;    /* of all providers: microseconds */
    int64_t wasted;               /* part of `busy`: by processes that came to nothing */
    struct spread waits;          /* from a submission to the first start: milliseconds */
    struct spread class_waits[GRID_CLASSES];
    struct grid_messages matchmaker, customer, provider;
    uint64_t by_message[MESSAGE_COUNT]; /* messages sent, by kind */
    uint64_t undelivered;               /* messages to a host that was down */
    uint64_t machines, machine_bytes;   /* that the matchmaker knows at the end, and what that takes */
    struct engine_work work;
    struct spread cycle_times; /* measured: microseconds; empty without a clock */
    const char *broken;        /* the first thing that was wrong, or NULL */
};

struct grid_settings {
    const struct scenario *scenario; /* the world uses its symbols */
    uint64_t seed;
    double duration; /* seconds */
    bool check; /* now and then, check the states of roles and the wire forms; this is slow, and changes no figure */
    double (*clock)(void *user); /* seconds; or NULL */
    /* Called about once a simulated minute; false ends the run. Or NULL. */
    bool (*progress)(void *user, const struct grid_report *report);
    void *user;
};

/* -1 and `err` when the pool of the scenario cannot be made. */
int grid_run(const struct grid_settings *settings, struct grid_report *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
