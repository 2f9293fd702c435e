/* sliced_scan.c: work over all ads, or all of something else, in slices, so that others are served in between. */
#include "live/matchmakerd/matchmakerd_parts.h"

#include <stdlib.h>

#define TOUR_SLICE 500              /* ads, or rows, that one looks at before the next one's turn */
#define TOUR_SLICE_STEPS 20000      /* of evaluation, likewise: a millisecond or so */
#define TOUR_TURN (4 * MILLISECOND) /* of each turn of the loop that goes to tours */
#define TOURS_MAX 8                 /* of one account at a time */

static void tour_free(struct tour *tour)
{
    struct tour **link = &tour->request->service->tours;

    while (*link && *link != tour)
        link = &(*link)->next;
    if (*link)
        *link = tour->next;
    tour->request->work = NULL;
    tour->request->forget = NULL;
    tour->request->service->callers.items[tour->request->caller.account].tours--;
    if (tour->done)
        tour->done(tour);
    free(tour);
}

/* The next ad; false when there is none, or enough. */
static bool tour_visit(struct tour *tour)
{
    struct entry_view view;
    uint32_t next;

    if (!matchmaker_next(tour->request->service->matchmaker, tour->from, &view, &next) ||
        !tour->visit(tour, next - 1, &view))
        return false;
    tour->from = next;
    return true;
}

/* A slice. True while there is more to do. */
static bool tour_walk(struct tour *tour)
{
    uint64_t enough = tour->steps > TOUR_SLICE_STEPS ? tour->steps - TOUR_SLICE_STEPS : 0;

    for (int i = 0; i < TOUR_SLICE && !tour->walked; i++) {
        tour->walked = !(tour->step ? tour->step(tour) : tour_visit(tour));
        if (tour->steps <= enough)
            break;
    }
    return !tour->walked || (tour->more && tour->more(tour));
}

static void tour_step(struct tour *tour)
{
    if (tour_walk(tour))
        return;
    tour->finish(tour);
    tour_free(tour);
}

/* The first becomes the last: all get their share. */
static void tours_rotate(struct service *service)
{
    struct tour *first = service->tours, **link = &service->tours;

    if (!first || !first->next)
        return;
    service->tours = first->next;
    first->next = NULL;
    while (*link)
        link = &(*link)->next;
    *link = first;
}

static void tours_turn(uv_idle_t *idle)
{
    struct service *service = idle->data;
    int64_t ends = runner_now() + TOUR_TURN;

    do {
        struct tour *tour = service->tours;

        if (tour) {
            tours_rotate(service);
            tour_step(tour);
        }
    } while (service->tours && runner_now() < ends);
    if (!service->tours)
        uv_idle_stop(idle);
}

static void tour_forget(struct request *request)
{
    tour_free(request->work);
}

void tour_start(struct tour *tour, struct request *request)
{
    struct service *service = request->service;

    tour->request = request;
    if (service->callers.items[request->caller.account].tours >= TOURS_MAX) {
        request_problem(request, 429, "up to %d questions over all ads are answered at a time", TOURS_MAX);
        if (tour->done)
            tour->done(tour);
        free(tour);
        return;
    }
    tour->steps = config_count(&service->config, CONFIG_QUERY_STEPS);
    request->work = tour;
    request->forget = tour_forget;
    tour->next = service->tours;
    service->tours = tour;
    service->callers.items[request->caller.account].tours++;
    uv_idle_start(&service->tour_turn, tours_turn);
    tour_step(tour);
}

void tours_done(struct service *service)
{
    while (service->tours)
        tour_free(service->tours);
}
