/* plan.h: a batch system to be simulated, as one ad in a file says it: an ad with Clusters is one.
 *
 *     [ Name = "gridcam"; Duration = 24 * 3600; Policies = { "fcfs", "srfm" }; Window = 120; Windows = [ fcfs = 1 ]; Timeout = { 0, 3600 };
 *       Clusters = { [ Count = 2; Ad = [ ... ] ], ... };
 *       Arrival = [ Pause = ... ]; Jobs = { [ Weight = ...; Duration = ...; Ad = [ ... ] ], ... } ]
 *
 * Ads of clusters and jobs are templates, as in the scenario of a pool (scenario.h): what is a distribution is drawn. Where a job can run
 * is what both constraints say, of the cluster as it is when it is empty; what of it is free is counted besides, by Cpus, Memory and Disk. */
#ifndef BERTH_SIM_PLAN_H
#define BERTH_SIM_PLAN_H

#include "sim/batch.h"
#include "sim/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLAN_POLICIES_MAX ASSIGN_POLICY_COUNT
#define PLAN_TIMEOUTS_MAX 8
#define PLAN_RUNS_MAX 10000
#define PLAN_JOBS_MAX 10000000u /* in one run */
#define PLAN_PAUSE_LEAST 0.001  /* seconds between two jobs */

struct plan {
    struct scenario *scenario; /* its tree and arena; name, seed, duration, users, pauses, and the templates of jobs */
    enum assign_policy policies[PLAN_POLICIES_MAX];
    uint32_t policy_count;
    struct batch_window windows[ASSIGN_POLICY_COUNT]; /* by policy */
    double timeouts[PLAN_TIMEOUTS_MAX];               /* seconds; 0: none */
    uint32_t timeout_count;
    uint64_t runs;
    uint64_t effort; /* of optimal in a window, in units of work; 0: BATCH_EFFORT */
    double bound;    /* of the bounded slowdown: a shorter job counts as that long, in seconds */
    double starved;  /* who waits longer starves: seconds */
    struct batch_park park;
    struct tree **ads; /* by kind of the park; NULL: it takes any job */
    uint32_t ad_room;
};

/* Is that the text of such a scenario, and not of a pool's? What is no ad is not. */
bool plan_is_one(struct symbols *symbols, const char *text, size_t len);

/* NULL and `err` with line and column when it is none. `warn` (or NULL) hears of attributes that nobody reads. */
struct plan *plan_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn, void *user,
                       struct err *err);
void plan_free(struct plan *plan);

/* "+20 machines like [ Cpus = 8 ]", or "like NAME" of a cluster that is there: these are the extra ones. */
int plan_what_if(struct plan *plan, const char *text, struct err *err);

/* The jobs of a run: those that come up to `horizon` (microseconds). Each run of a seed has its own. */
int plan_generate(const struct plan *plan, uint64_t seed, uint64_t run, int64_t horizon, struct batch_work *work,
                  struct err *err);

#ifdef __cplusplus
}
#endif
#endif
