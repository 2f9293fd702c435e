/* grid_parts.h: the inside of a scenario that runs: grid.c makes the pool, grid_watch.c watches and counts. */
#ifndef BERTH_SIM_GRID_PARTS_H
#define BERTH_SIM_GRID_PARTS_H

#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/provider/provider.h"
#include "sim/crowd.h"
#include "sim/grid.h"

#define NAME_BYTES 24
#define MATCHMAKER 0u /* places of hosts: the matchmaker, the crowd, customers, providers */
#define CROWD 1u
#define CUSTOMERS 2u

struct site {
    char name[NAME_BYTES];
    int64_t delay;
    struct tree *ad; /* the attributes that its machines share; or NULL */
};

struct grid_unit {
    uint32_t site;
    uint32_t claims; /* active now */
    uint64_t in, out;
    int64_t up;      /* when it came up, or -1 */
    int64_t claimed; /* when it got its first claim, while it has claims */
    uint64_t id;
    struct tree *ad; /* held */
    struct provider_settings settings;
};

struct kind_of_job {
    struct tree *ad; /* held */
    const struct dist *duration;
    uint32_t user;
};

/* Jobs of a customer with consecutive numbers. */
struct batch {
    uint64_t first;
    uint32_t count;
    uint32_t submission;
};

struct grid_customer {
    struct customer_settings settings;
    struct batch *batches; /* sorted by their first job */
    uint32_t batch_count, batch_room;
    uint64_t *started; /* bits: jobs that have been started at least once */
    uint64_t started_words;
    uint64_t in, out;
};

struct ended {
    uint32_t customer; /* its place */
    uint64_t job;
};

struct grid {
    const struct grid_settings *settings;
    const struct scenario *scenario;
    struct world *world;
    struct grid_report *report;
    struct rng rng;   /* for the pool and the events in it */
    struct rng delay; /* for the delays of messages */
    struct build build;
    struct arena arena; /* of settled distributions */
    struct spans spans;
    struct matchmaker_settings matchmaker;
    uint64_t matchmaker_in, matchmaker_out;
    struct crowd_list crowd;
    char (*users)[NAME_BYTES];
    struct site *sites;
    struct grid_customer *customers;
    struct grid_unit *units;
    struct kind_of_job *shapes;
    uint32_t providers;  /* the place of the first provider */
    struct ended *ended; /* jobs to be forgotten */
    uint32_t ended_count, ended_room;
    /* the current cycle */
    uint64_t cycles;
    bool in_cycle;
    double began, took;
};

static inline struct grid_unit *grid_unit(const struct grid *grid, const struct host *host) /* or NULL */
{
    return host->place >= grid->providers ? &grid->units[host->place - grid->providers] : NULL;
}

static inline struct grid_customer *grid_desk(const struct grid *grid, const struct host *host) /* or NULL */
{
    return host->place >= CUSTOMERS && host->place < grid->providers ? &grid->customers[host->place - CUSTOMERS] : NULL;
}

/* grid_watch.c */
void grid_watch(struct grid *grid);  /* call it before anything happens */
void grid_close(struct grid *grid);  /* the time is up: counts what still runs up to now */
void grid_forget(struct grid *grid); /* tells the customers to forget jobs that have ended */

#endif
