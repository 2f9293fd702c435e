/* newcomers.h: jobs that have just come and say something that the daemon has to know: a log (user_logs.h), what shall become of them (job_policy.h).
 *
 *     submitted, and durable -> [ 17-3016 | 3017-3019 | ... ] -> a few at a time: the logs, the policies
 *
 * Their numbers follow each other in one submission alone: others may get theirs in between, and come before. */
#ifndef BERTH_LIVE_CUSTOMERD_NEWCOMERS_H
#define BERTH_LIVE_CUSTOMERD_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct customerd;
struct tree;

struct newcomers {
    struct newcomers_range {
        uint64_t first, last;
    } * ranges; /* a queue: those before `begin` are done */
    uint32_t begin, count, room;
};

void newcomers_done(struct newcomers *newcomers);
bool newcomers_are_said(const struct tree *ad); /* does such an ad say anything of that kind? */
void newcomers_add(struct newcomers *newcomers, uint64_t first, uint64_t last);
bool newcomers_has(const struct newcomers *newcomers, uint64_t job); /* is the job still to be looked at? */
bool newcomers_tidy(struct customerd *customerd,
                    int64_t ends); /* looks at some, until then on the clock; true: there are more */

#ifdef __cplusplus
}
#endif
#endif
