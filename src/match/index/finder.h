/* finder.h: a matchmaking cycle that finds its candidates by the index (match/pair/cycle.h). */
#ifndef BERTH_MATCH_INDEX_FINDER_H
#define BERTH_MATCH_INDEX_FINDER_H

#include "match/index/index.h"
#include "match/pair/cycle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The finder of an index, which must be empty: the candidates are put in when the cycle starts. */
struct cycle_finder finder_of(struct index *index);

#ifdef __cplusplus
}
#endif
#endif
