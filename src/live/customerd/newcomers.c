/* newcomers.c: jobs that have just come and say something that the daemon has to know. */
#include "live/customerd/newcomers.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/user_logs.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED 8 /* jobs between two looks at the time */

void newcomers_done(struct newcomers *newcomers)
{
    free(newcomers->ranges);
    *newcomers = (struct newcomers){.ranges = NULL};
}

bool newcomers_are_said(const struct tree *ad)
{
    return ad_find(ad, USER_LOG_ATTRIBUTE) || job_policy_is_said(ad);
}

/* Those that are done leave the row when they are half of it. */
static void ranges_close(struct newcomers *newcomers)
{
    uint32_t left = newcomers->count - newcomers->begin;

    if (newcomers->begin <= left)
        return;
    memmove(newcomers->ranges, newcomers->ranges + newcomers->begin, left * sizeof *newcomers->ranges);
    newcomers->begin = 0;
    newcomers->count = left;
}

void newcomers_add(struct newcomers *newcomers, uint64_t first, uint64_t last)
{
    ranges_close(newcomers);
    if (newcomers->begin < newcomers->count && newcomers->ranges[newcomers->count - 1].last + 1 == first) {
        newcomers->ranges[newcomers->count - 1].last = last;
        return;
    }
    ARRAY_ROOM(newcomers->ranges, newcomers->count, newcomers->room, 16);
    newcomers->ranges[newcomers->count++] = (struct newcomers_range){first, last};
}

bool newcomers_has(const struct newcomers *newcomers, uint64_t job)
{
    for (uint32_t i = newcomers->begin; i < newcomers->count; i++)
        if (job >= newcomers->ranges[i].first && job <= newcomers->ranges[i].last)
            return true;
    return false;
}

/* The next of the first range; false: there is none. */
static bool newcomer_look(struct customerd *customerd)
{
    struct newcomers *newcomers = &customerd->newcomers;
    struct newcomers_range *range;
    struct job_view view;
    uint64_t alike;

    if (newcomers->begin == newcomers->count)
        return false;
    range = &newcomers->ranges[newcomers->begin];
    if (!customer_next(customerd->customer, range->first - 1, &view) || view.id > range->last) {
        newcomers->begin++;
        return true;
    }
    alike = newcomers_are_said(view.ad) ? 0 : customer_alike(customerd->customer, view.id, range->last);
    range->first = view.id + (alike ? alike : 1);
    if (range->first > range->last)
        newcomers->begin++;
    if (alike)
        return true;
    user_logs_note(customerd->logs, &view);
    job_policies_note(customerd->policies, &view);
    return true;
}

bool newcomers_tidy(struct customerd *customerd, int64_t ends)
{
    do
        for (int i = 0; i < LOOKED; i++)
            if (!newcomer_look(customerd))
                return false;
    while (runner_now() < ends);
    return true;
}
