/* plan.h: a batch system to be simulated, described by one ad in a file: an ad with Clusters.
 *
 *     [ Name = "gridcam"; Duration = 24 * 3600; Policies = { "fcfs", "srfm" }; Window = 120; Windows = [ fcfs = 1 ]; Timeout = { 0, 3600 };
 *       Clusters = { [ Count = 2; Ad = [ ... ] ], ... };
 *       Arrival = [ Pause = ... ]; Jobs = { [ Weight = ...; Duration = ...; Ad = [ ... ] ], ... } ]
 *
 * Ads of clusters and jobs are templates, as in the scenario of a pool (scenario.h): an attribute that is a distribution is
 * drawn. Both constraints decide where a job can run, with the cluster as it is when it is empty. What is free of a cluster is
 * counted separately, by Cpus, Memory and Disk. */
#ifndef BERTH_SIM_PLAN_H
#define BERTH_SIM_PLAN_H

#include "sim/batch.h"
#include "sim/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLAN_POLICIES_MAX BATCH_POLICY_COUNT
#define PLAN_TIMEOUTS_MAX 8
#define PLAN_RUNS_MAX 10000
#define PLAN_JOBS_MAX 10000000u /* in one run */
#define PLAN_PAUSE_LEAST 0.001  /* seconds between two jobs */

struct plan {
    struct scenario *scenario; /* its tree and arena; name, seed, duration, users, pauses, and the templates of jobs */
    enum batch_policy policies[PLAN_POLICIES_MAX];
    uint32_t policy_count;
    struct batch_window windows[BATCH_POLICY_COUNT]; /* by policy; those without windows have the default */
    double timeouts[PLAN_TIMEOUTS_MAX];              /* seconds; 0: none */
    uint32_t timeout_count;
    uint64_t runs;
    uint64_t effort; /* of optimal in a window, in units of work; 0: BATCH_EFFORT */
    double bound;    /* of the bounded slowdown: a shorter job counts as that long, in seconds */
    double starved;  /* a job that waits longer is starved: seconds */
    struct batch_park park;
    struct tree **ads; /* by kind of the park; NULL: it takes any job */
    uint32_t ad_room;
};

/* Is this the text of a batch system's scenario, and not of a pool's? False for a text that is not an ad. */
bool plan_is_one(struct symbols *symbols, const char *text, size_t len);

/* NULL and `err` with line and column when the text is wrong. `warn` (or NULL) is called for attributes that nothing reads. */
struct plan *plan_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn, void *user,
                       struct err *err);
void plan_free(struct plan *plan);

/* "+20 machines like [ Cpus = 8 ]", or "like NAME" of a cluster in the plan: adds extra clusters. */
int plan_what_if(struct plan *plan, const char *text, struct err *err);

/* Makes the jobs of a run: those that are submitted up to `horizon` (microseconds). Each run of a seed has its own jobs. */
int plan_generate(const struct plan *plan, uint64_t seed, uint64_t run, int64_t horizon, struct batch_work *work,
                  struct err *err);

#ifdef __cplusplus
}
#endif
#endif
