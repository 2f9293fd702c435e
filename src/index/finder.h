/* finder.h: a matchmaking cycle that finds its candidates by the index (match/cycle.h). */
#ifndef BERTH_INDEX_FINDER_H
#define BERTH_INDEX_FINDER_H

#include "index/index.h"
#include "match/cycle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The finder of an index, which must be empty: the candidates are put in when the cycle starts. */
struct cycle_finder finder_of(struct index *index);

#ifdef __cplusplus
}
#endif
#endif
