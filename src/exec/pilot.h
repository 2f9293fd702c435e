/* pilot.h: what a pilot finds out before it offers the machine that a batch system has lent it: is there enough of everything, and how fast is it?
 *
 *     disk, memory, time, token  ->  enough?  ->  benchmark  ->  fast enough?  ->  it offers what is left
 *
 * A pilot that finds too little leaves at once and says what was too little, and how much was wanted (section 3.7.4). */
#ifndef BERTH_EXEC_PILOT_H
#define BERTH_EXEC_PILOT_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PILOT_UNKNOWN INT64_C(-1)

/* What there is, and what is wanted at least; 0: any is enough. */
struct pilot_facts {
    int64_t disk, memory; /* bytes that are free */
    int64_t time, token;  /* seconds that the batch job lasts, and that the token is good; PILOT_UNKNOWN: nobody says */
    double benchmark;     /* 0: not known yet */
};

/* Is there enough of everything that is known? If not, a line for people tells of the first that there is too little of: "12 MiB of disk are free; at
 * least 1 GiB is wanted". The token must be good for as long as `wanted->time`, or `wanted->token`. */
bool pilot_enough(const struct pilot_facts *facts, const struct pilot_facts *wanted, struct buf *out);

/* How many of the seconds that a pilot has it keeps for files on their way home. */
int64_t pilot_margin(int64_t seconds);

/* How much memory of a machine is the part of so many of its processors. */
int64_t pilot_part(int64_t memory, int64_t cpus, int64_t all_cpus);

/* How fast one processor is: rounds of a fixed piece of work (whole numbers, reals, memory of 1 MiB) in a second of processor time, divided by 1000. Takes
 * `span` seconds of processor time; the best of its slices counts, so that neighbours change it little. */
double pilot_benchmark(double span);

/* Bytes that are free on the disk of a folder; 0 when it cannot be told. */
int64_t pilot_disk(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
