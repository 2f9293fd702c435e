/* api_reservations.c: what is reserved: a list, and each reservation at an address of its own.
 *
 *     GET /v1/reservations           [Reservation = "5f0c9d2e11aa00e1"; State = "booked"; From; Until; Users; Count; Machines = {"crane", "heron"}; Agents = {...}; ...], ...
 *     GET /v1/reservations/5f0c..    the same of one: ETag, Last-Modified, Link: </v1/machines/ID>; rel="item", </v1/agents/A/commands>; rel="command", ...
 *
 * Both are made of what machines tell at that moment (reservations_told.h). Where the machines of a number do not tell the same, the list has a row for each
 * story, and the one has that of most machines, with Agreed = false and the others in Others. It is changed and given back by commands to its machines. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/reservations_told.h"
#include "live/matchmakerd/scans.h"

#include "lang/base/mem.h"
#include "live/http/weak_tag.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_STEPS 40  /* steps of evaluation that a booking counts for, in a slice */
#define LINKS_MAX 64      /* machines of a reservation that have a link */
#define OTHERS_SHOWN 1000 /* of a reservation of which machines tell other things */

static int64_t wall_now(void)
{
    return runner_wall() / SECOND;
}

/* Adds what the next machine tells. False: there is none. */
static bool machine_take(struct scan *scan, struct reservations_told *list, uint64_t only)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct machine_view view;
    uint64_t steps;

    if (!matchmaker_next_machine(matchmakerd->matchmaker, scan->from, &view, &scan->from))
        return false;
    steps = MACHINE_STEPS * (uint64_t)reservations_told_add(list, &view, matchmakerd->symbols, only);
    scan->steps -= scan->steps < steps ? scan->steps : steps;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- the list */

struct reservation_list {
    struct collection collection;
    struct reservations_told told;
    bool complete; /* all machines were looked at; from then on rows are made */
};

static bool list_step(struct scan *scan)
{
    struct reservation_list *list = (struct reservation_list *)scan;

    if (!list->complete) {
        list->complete = !machine_take(scan, &list->told, 0);
        if (!list->complete)
            return true;
        reservations_told_sort(&list->told);
        scan->from = 0;
    }
    if (scan->from >= list->told.count)
        return false;
    scan->from++;
    return collection_passes(&list->collection) ||
           collection_add(&list->collection,
                          reservation_told_ad(&list->told.items[scan->from - 1],
                                              request_matchmakerd(scan->request)->symbols, wall_now()));
}

static void list_free(struct collection *collection)
{
    reservations_told_done(&((struct reservation_list *)collection)->told);
}

void api_reservations_list(struct request *request)
{
    struct reservation_list *list = mem_alloc(sizeof *list);
    struct reservations_told told;

    *list = (struct reservation_list){.complete = false};
    reservations_told_init(&told, secrets_word(&secrets_live));
    list->told = told;
    collection_tour_more(&list->collection, request, list_step, list_free);
}

/* ------------------------------------------------------------------------------------------------------------------ one */

struct reservation_search {
    struct scan scan;
    struct reservations_told told;
    uint64_t id;
};

static bool search_step(struct scan *scan)
{
    struct reservation_search *search = (struct reservation_search *)scan;

    return machine_take(scan, &search->told, search->id);
}

/* The story that most machines tell; of several the first in the list. */
static uint32_t place_of_most(const struct reservations_told *told)
{
    uint32_t most = 0;

    for (uint32_t i = 1; i < told->count; i++)
        if (told->items[i].count > told->items[most].count)
            most = i;
    return most;
}

static struct tree *whole_ad(const struct reservations_told *told, uint32_t most, struct symbols *symbols)
{
    struct tree *row = reservation_told_ad(&told->items[most], symbols, wall_now()), *others[OTHERS_SHOWN];
    struct maker maker;
    uint32_t count = 0;

    maker_init(&maker, symbols);
    maker_parts(&maker, row, NULL);
    maker_flag(&maker, "Agreed", told->count == 1);
    for (uint32_t i = 0; i < told->count && count < OTHERS_SHOWN; i++)
        if (i != most)
            others[count++] = reservation_told_ad(&told->items[i], symbols, wall_now());
    if (count)
        maker_list(&maker, "Others", others, count);
    while (count)
        tree_unref(others[--count]);
    tree_unref(row);
    return maker_seal(&maker);
}

/* May the caller command that machine, to change what is reserved there or to give it back? */
static bool may_command(const struct request *request, agent machine)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t place = agents_find(&matchmakerd->agents, machine);

    return request->caller.scope & SCOPE_AD_WRITE && place != TEXTMAP_NONE &&
           (request_administers(request) ||
            identity_owns(request_identity(request),
                          caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[place].identity)));
}

static void links_print(struct buf *out, const struct request *request, const struct reservation_told *one)
{
    buf_addf(out, "</v1/reservations/%016" PRIx64 ">; rel=\"self\", </v1/reservations>; rel=\"collection\"", one->id);
    for (uint32_t i = 0; i < one->count && i < LINKS_MAX; i++)
        buf_addf(out, ", </v1/machines/%016" PRIx64 ">; rel=\"item\"", one->machines[i].id);
    for (uint32_t i = 0; i < one->count && i < LINKS_MAX; i++)
        if (may_command(request, one->machines[i].agent))
            buf_addf(out, ", </v1/agents/%016" PRIx64 "/commands>; rel=\"command\"; method=\"POST\"",
                     one->machines[i].agent);
}

static void search_finish(struct scan *scan)
{
    struct reservation_search *search = (struct reservation_search *)scan;
    static const char *const nothing[] = {NULL};
    char etag[WEAK_TAG_MAX], date[HTTP_DATE_MAX];
    struct http_field fields[3];
    struct tree *ad;
    struct buf links;
    uint32_t most;

    if (!search->told.count) {
        request_problem(scan->request, 404, "no machine tells of a reservation of that number");
        return;
    }
    reservations_told_sort(&search->told);
    most = place_of_most(&search->told);
    ad = whole_ad(&search->told, most, request_matchmakerd(scan->request)->symbols);
    weak_tag(ad, nothing, etag);
    if (!answered_unchanged(scan->request, etag)) {
        http_date((runner_wall() - (runner_now() - search->told.items[most].said)) / SECOND, date);
        buf_init(&links);
        links_print(&links, scan->request, &search->told.items[most]);
        fields[0] = (struct http_field){"ETag", etag};
        fields[1] = (struct http_field){"Link", buf_string(&links)};
        fields[2] = (struct http_field){"Last-Modified", date};
        request_ad(scan->request, 200, ad, fields, 3);
        buf_done(&links);
    }
    tree_unref(ad);
}

static void search_done(struct scan *scan)
{
    reservations_told_done(&((struct reservation_search *)scan)->told);
}

void api_reservation_get(struct request *request)
{
    const char *text = request_variable(request, 0);
    struct reservation_search *search;
    uint64_t id = strspn(text, "0123456789abcdef") == 16 && strlen(text) == 16 ? strtoull(text, NULL, 16) : 0;

    if (!id) {
        request_problem(request, 404, "the number of a reservation has 16 hexadecimal digits");
        return;
    }
    search = mem_alloc(sizeof *search);
    *search = (struct reservation_search){.scan = {.step = search_step, .finish = search_finish, .done = search_done},
                                          .id = id};
    reservations_told_init(&search->told, secrets_word(&secrets_live));
    scan_start(&search->scan, request);
}
