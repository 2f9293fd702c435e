/* sliced_scan.c: work over all ads, or all of something else, in slices, so that others are served in between. */
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include <stdlib.h>

#define SCAN_SLICE 500              /* ads, or rows, that one scan looks at before the next scan's turn */
#define SCAN_SLICE_STEPS 20000      /* steps of evaluation, likewise: a millisecond or so */
#define SCAN_TURN (4 * MILLISECOND) /* the part of each turn of the loop for scans */
#define TOURS_MAX 8                 /* scans of one account at a time */

static void scan_free(struct scan *scan)
{
    struct scan **link = &request_matchmakerd(scan->request)->scans;

    while (*link && *link != scan)
        link = &(*link)->next;
    if (*link)
        *link = scan->next;
    scan->request->work = NULL;
    scan->request->forget = NULL;
    request_matchmakerd(scan->request)->gate.callers.items[scan->request->caller.account].scans--;
    if (scan->done)
        scan->done(scan);
    free(scan);
}

/* Looks at the next ad; false when there is none, or enough. */
static bool scan_visit(struct scan *scan)
{
    struct entry_view view;
    uint32_t next;

    if (!matchmaker_next(request_matchmakerd(scan->request)->matchmaker, scan->from, &view, &next) ||
        !scan->visit(scan, next - 1, &view))
        return false;
    scan->from = next;
    return true;
}

/* Does a slice. True while there is more to do. */
static bool scan_walk(struct scan *scan)
{
    uint64_t enough = scan->steps > SCAN_SLICE_STEPS ? scan->steps - SCAN_SLICE_STEPS : 0;

    for (int i = 0; i < SCAN_SLICE && !scan->walked; i++) {
        scan->walked = !(scan->step ? scan->step(scan) : scan_visit(scan));
        if (scan->steps <= enough)
            break;
    }
    return !scan->walked || (scan->more && scan->more(scan));
}

static void scan_step(struct scan *scan)
{
    if (scan_walk(scan))
        return;
    scan->finish(scan);
    scan_free(scan);
}

/* Moves the first scan to the end: all get their share. */
static void scans_rotate(struct matchmakerd *matchmakerd)
{
    struct scan *first = matchmakerd->scans, **link = &matchmakerd->scans;

    if (!first || !first->next)
        return;
    matchmakerd->scans = first->next;
    first->next = NULL;
    while (*link)
        link = &(*link)->next;
    *link = first;
}

static void scans_turn(uv_idle_t *idle)
{
    struct matchmakerd *matchmakerd = idle->data;
    int64_t ends = runner_now() + SCAN_TURN;

    do {
        struct scan *scan = matchmakerd->scans;

        if (scan) {
            scans_rotate(matchmakerd);
            scan_step(scan);
        }
    } while (matchmakerd->scans && runner_now() < ends);
    if (!matchmakerd->scans)
        uv_idle_stop(idle);
}

static void scan_forget(struct request *request)
{
    scan_free(request->work);
}

void scan_start(struct scan *scan, struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);

    scan->request = request;
    if (matchmakerd->gate.callers.items[request->caller.account].scans >= TOURS_MAX) {
        request_problem(request, 429, "up to %d questions over all ads are answered at a time", TOURS_MAX);
        if (scan->done)
            scan->done(scan);
        free(scan);
        return;
    }
    scan->steps = config_count(&matchmakerd->config, CONFIG_QUERY_STEPS);
    request->work = scan;
    request->forget = scan_forget;
    scan->next = matchmakerd->scans;
    matchmakerd->scans = scan;
    matchmakerd->gate.callers.items[request->caller.account].scans++;
    uv_idle_start(&matchmakerd->scan_turn, scans_turn);
    scan_step(scan);
}

void scans_done(struct matchmakerd *matchmakerd)
{
    while (matchmakerd->scans)
        scan_free(matchmakerd->scans);
}
