/* figures.h: the fates of the jobs in numbers: at any time of a run, from the jobs and their outcomes alone. */
#ifndef BERTH_SIM_FIGURES_H
#define BERTH_SIM_FIGURES_H

#include "sim/batch.h"
#include "sim/spread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The key in JSON, and its meaning. The figures of table 5.2 come first. */
#define FIGURES(X)                                                                                          \
    X(SUBMITTED, "submitted", "jobs that came")                                                             \
    X(COMPLETED, "completed", "of these, done: percent")                                                    \
    X(SCHEDULED, "scheduled", "still running: percent")                                                     \
    X(TIMED_OUT, "timed_out", "gone after waiting too long: percent")                                       \
    X(WAITING, "waiting", "still waiting: percent")                                                         \
    X(WAIT_MAX, "max_wait", "of jobs that started: seconds")                                                \
    X(WAIT_MEAN, "mean_wait", "of jobs that started: seconds")                                              \
    X(DONE, "done", "jobs that are done")                                                                   \
    X(UTILISATION, "utilisation", "of all processors, busy: percent")                                       \
    X(THROUGHPUT, "throughput", "jobs done an hour")                                                        \
    X(SLOWDOWN, "slowdown", "bounded, of jobs that are done: (wait + run) / run, a short run as the bound") \
    X(SLOWDOWN_MEDIAN, "median_slowdown", "of these, of every second one no more")                          \
    X(SLOWDOWN_99, "slowdown_99", "of 99 in 100 of them no more")                                           \
    X(FAIRNESS, "fairness", "Jain's index of the users' mean slowdowns, jobs that wait or went too")        \
    X(STARVED, "starved", "waited longer than the bound: percent")

enum figure {
#define X(name, key, about) FIGURE_##name,
    FIGURES(X)
#undef X
        FIGURE_COUNT
};

extern const char *const figure_keys[FIGURE_COUNT];

struct figures_settings {
    const struct batch_work *work;
    const struct batch_outcome *outcomes;
    double processors;
    int64_t timeout; /* 0: none */
    int64_t bound;   /* of the slowdown: microseconds */
    int64_t starved; /* a wait from which on a job counts as starved: microseconds */
};

/* The figures at that time of the run. */
void figures_at(const struct figures_settings *settings, int64_t time, double ret[FIGURE_COUNT]);

/* Adds the waits of the jobs that have started by then, in milliseconds. */
void figures_waits(const struct figures_settings *settings, int64_t time, struct spread *waits);

/* The queue and the busy processors over time: means over `count` equal parts of the time up to `end`, added to the numbers in `queue` and `busy`. */
void figures_series(const struct figures_settings *settings, int64_t end, uint32_t count, double *queue, double *busy);

#ifdef __cplusplus
}
#endif
#endif
