/* failures.c: tests first what failed most often (8.1). */
#include "match/grdl/profile.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SORTED_MAX 64 /* requirements that are put in order; those behind them keep theirs */

void grdl_failures_init(struct grdl_failures *failures)
{
    *failures = (struct grdl_failures){0};
}

void grdl_failures_done(struct grdl_failures *failures)
{
    if (!failures)
        return;
    free(failures->counts);
    *failures = (struct grdl_failures){0};
}

uint64_t grdl_failures_of(const struct grdl_failures *failures, uint32_t dimension)
{
    return dimension < failures->room ? failures->counts[dimension] : 0;
}

void grdl_failures_note(struct grdl_failures *failures, uint32_t dimension)
{
    if (dimension >= failures->room) {
        uint32_t room = dimension < 32 ? 64 : dimension * 2;

        failures->counts = mem_grow(failures->counts, room * sizeof *failures->counts);
        memset(failures->counts + failures->room, 0, (room - failures->room) * sizeof *failures->counts);
        failures->room = room;
    }
    failures->counts[dimension]++;
}

bool grdl_matches_learning(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_failures *failures,
                           struct grdl_counts *counts)
{
    uint32_t order[SORTED_MAX], sorted = b->req_count < SORTED_MAX ? b->req_count : SORTED_MAX;

    if (counts)
        counts->pairs++;
    for (uint32_t i = 0; i < sorted; i++) {
        uint64_t count = grdl_failures_of(failures, b->reqs[i].dimension);
        uint32_t at = i;

        for (; at && grdl_failures_of(failures, b->reqs[order[at - 1]].dimension) < count; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < b->req_count; i++) {
        const struct grdl_point *requirement = &b->reqs[i < sorted ? order[i] : i];

        if (grdl_req_met_by(requirement, a, counts))
            continue;
        grdl_failures_note(failures, requirement->dimension);
        return false;
    }
    return true;
}
