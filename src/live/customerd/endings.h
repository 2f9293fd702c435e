/* endings.h: jobs that have ended and are not in the history yet; the one that has waited longest is first.
 *
 *     ended -> endings_add -> [ 17 18 25 ... ] -> endings_take -> to the history, or back to the end of the row */
#ifndef BERTH_LIVE_CUSTOMERD_ENDINGS_H
#define BERTH_LIVE_CUSTOMERD_ENDINGS_H

#include "lang/base/map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct endings {
    struct map has;       /* the jobs in the row, each once */
    uint64_t *row;        /* a ring */
    uint32_t first, room; /* room: 0 or a power of two */
};

void endings_init(struct endings *endings);
void endings_done(struct endings *endings);

void endings_add(struct endings *endings, uint64_t job); /* a job that is there stays where it is */
bool endings_has(const struct endings *endings, uint64_t job);
uint64_t endings_take(struct endings *endings); /* removes and returns the first; 0 when there is none */

static inline uint32_t endings_count(const struct endings *endings)
{
    return map_count(&endings->has);
}

#ifdef __cplusplus
}
#endif
#endif
