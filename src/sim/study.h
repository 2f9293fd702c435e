/* study.h: compares policies: the same jobs under each of them, with and without timeouts and extra clusters, over several runs.
 *
 *     for each run: its jobs -> for each variant: a run of the batch system -> for each hour in `hours`: its figures
 *
 * A variant is a policy, a timeout, and whether the extra clusters are there. Run r of every variant has the same jobs, so
 * differences between variants are differences of pairs, which are far more certain than differences of means. The same seed gives
 * the same study, except for what a clock measures. */
#ifndef BERTH_SIM_STUDY_H
#define BERTH_SIM_STUDY_H

#include "sim/figures.h"
#include "sim/plan.h"
#include "sim/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STUDY_HOURS_MAX 16
#define STUDY_PARTS 240 /* parts of a series over time */
#define STUDY_CONFIDENCE 0.95

/* A variant at one time. */
struct study_row {
    double hours;
    struct sample figures[FIGURE_COUNT];
    struct sample
        gain; /* of jobs done, in percent of all jobs, over the first policy with the same timeout and clusters */
};

struct study_variant {
    enum batch_policy policy;
    struct batch_window window;
    double timeout; /* seconds; 0: none */
    bool extra;
    struct study_row rows[STUDY_HOURS_MAX]; /* in the order of `hours` */
    struct batch_totals totals;             /* sums over all runs; maxima of any run */
    struct spread *waits;                   /* of all runs, at the longest time: milliseconds */
    double queue[STUDY_PARTS];              /* mean over the runs: jobs that wait ... */
    double busy[STUDY_PARTS];               /* ... and processors that are busy */
};

struct study {
    struct study_variant *variants; /* by clusters, then timeout, then policy */
    uint32_t variant_count;
    double hours[STUDY_HOURS_MAX];
    uint32_t hour_count;
    uint64_t runs, seed;
    double processors[2];       /* without the extra clusters, and with them */
    uint64_t jobs;              /* of all runs */
    struct batch_work work;     /* the jobs of the first run, if `keep` ... */
    struct batch_outcome *last; /* ... and their outcomes under the first variant */
};

struct study_settings {
    const struct plan *plan;
    struct batch_work *trace; /* run these jobs once; NULL: the plan's jobs */
    const double *hours;      /* ascending; none: the plan's Duration; for a trace, until everything is over */
    uint32_t hour_count;
    uint64_t runs, seed;
    bool extra; /* compare with the extra clusters too */
    bool keep;  /* keep the first run's jobs and outcomes */
    double (*clock)(void *user);
    /* Called before each run of a variant, and during it; or NULL. */
    void (*progress)(void *user, uint64_t run, const struct study_variant *variant, int64_t now);
    void *user;
};

/* -1 and the reason when a policy fails. Call study_done in either case. */
int study_run(const struct study_settings *settings, struct study *ret, struct err *err);
void study_done(struct study *study);

#ifdef __cplusplus
}
#endif
#endif
