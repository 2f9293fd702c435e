/* samples.h: what a job used over its life, as points of equal distance: every ten seconds at first. When there are too many, two become one, and from
 * then on each stands for twice the time: so a job of any length has at most SAMPLES_MAX of them, and at least half as many once it has run for long.
 *
 *     ten seconds each:  a b c d ... (360)   ->   twenty seconds each:  ab cd ... (180), then go on */
#ifndef BERTH_POOL_PROTOCOL_SAMPLES_H
#define BERTH_POOL_PROTOCOL_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMPLES_MAX 360
#define SAMPLES_SPAN 10                        /* seconds between two, at first */
#define SAMPLES_SPAN_MAX (SAMPLES_SPAN << 16)  /* of a job that runs for 2,700 days */
#define SAMPLES_AMOUNT_MAX (INT64_C(1) << 60)  /* bytes */
#define SAMPLES_PERCENT_MAX INT64_C(100000000) /* of a million processors */

/* Of the time that the point stands for: the most memory that was seen, and how busy processors were on average. */
struct job_sample {
    int64_t memory;     /* bytes */
    int64_t cpu;        /* percent of one processor: 150 is one and a half */
    int64_t gpu;        /* percent of the job's graphics processors: at most 100 */
    int64_t gpu_memory; /* bytes, of all of them */
};

struct samples {
    int64_t span; /* seconds that a point stands for */
    uint32_t count;
    bool gpus;      /* graphics processors were looked at, too */
    uint32_t begun; /* how many of ten seconds are in `next` so far */
    struct job_sample next;
    struct job_sample points[SAMPLES_MAX];
};

void samples_init(struct samples *samples);
/* Adds what was seen in the last ten seconds. */
void samples_add(struct samples *samples, const struct job_sample *seen);

#ifdef __cplusplus
}
#endif
#endif
