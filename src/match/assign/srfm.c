/* srfm.c: scarce resources first (section 4.4).
 *
 * The requests are looked at by priority. A request that has just one compatible offer with room takes it at once. The others wait, and their pairs
 * are tried by desire: how much of the offer the request would fill. What counts for that is what an offer had free when the request was looked at.
 * So requests that are alike, between which nobody was placed, are one source of pairs, and an offer that somebody got leaves its shelf. */
#include "match/assign/greedy.h"

#include <string.h>

struct view {
    struct greedy greedy;
    const struct shelves *shelves;
    uint32_t epoch;    /* how many requests were placed at once */
    uint32_t *touched; /* offers that some request got, each once */
    uint32_t touched_count;
    uint32_t *missing;   /* by shelf: how many of its offers have left it */
    uint32_t *source_of; /* by group: the source of the epoch in seen_at, or ASSIGN_NONE: nothing fits */
    uint32_t *seen_at;   /* by group: the epoch, or ASSIGN_NONE */
    uint32_t *marks;     /* by kind: the group that has an edge to it */
};

/* How many offers fit a group, and one of them. */
struct degree {
    uint32_t count, offer;
};

/* Counts a shelf of which some offers are untouched: their free amounts are those of the start. */
static void shelf_count(struct view *view, const struct request_group *group, uint32_t shelf, struct degree *degree)
{
    const struct settling *settling = view->greedy.settling;
    const struct assign_shelf *of = &view->shelves->items[shelf];

    if (of->count == view->missing[shelf] || !assign_fits(group->amounts, of->free, settling->quantity_count))
        return;
    degree->count += of->count - view->missing[shelf];
    for (uint32_t i = 0; i < of->count && degree->offer == ASSIGN_NONE; i++)
        if (!view->greedy.touched[view->shelves->members[of->first + i]])
            degree->offer = view->shelves->members[of->first + i];
}

static struct degree group_degree(struct view *view, uint32_t number)
{
    const struct settling *settling = view->greedy.settling;
    const struct request_group *group = &settling->groups[number];
    struct degree degree = {0, ASSIGN_NONE};

    for (uint32_t i = 0; i < group->edge_count; i++) {
        uint32_t kind = group->edges[i].kind;

        view->marks[kind] = number;
        for (uint32_t shelf = view->shelves->kind_first[kind]; shelf < view->shelves->kind_first[kind + 1]; shelf++)
            shelf_count(view, group, shelf, &degree);
    }
    for (uint32_t i = 0; i < view->touched_count; i++) {
        uint32_t offer = view->touched[i];

        if (view->marks[settling->problem->offer_kinds[offer]] != number || !offer_fits(settling, group, offer))
            continue;
        degree.count++;
        degree.offer = offer;
    }
    return degree;
}

/* Adds the pairs of a group that has several offers, as it sees them now. */
static uint32_t group_pairs(struct view *view, uint32_t number)
{
    const struct settling *settling = view->greedy.settling;
    const struct request_group *group = &settling->groups[number];
    uint32_t source = greedy_add_source(&view->greedy, number, view->epoch), count = settling->quantity_count;

    for (uint32_t i = 0; i < group->edge_count; i++) {
        uint32_t kind = group->edges[i].kind;

        for (uint32_t shelf = view->shelves->kind_first[kind]; shelf < view->shelves->kind_first[kind + 1]; shelf++) {
            const struct assign_shelf *of = &view->shelves->items[shelf];

            if (of->count > view->missing[shelf] && assign_fits(group->amounts, of->free, count))
                greedy_add(&view->greedy, desire_of(group->amounts, of->free, count), source, shelf, GREEDY_ALL);
        }
    }
    for (uint32_t i = 0; i < view->touched_count; i++) {
        uint32_t offer = view->touched[i];

        if (view->marks[settling->problem->offer_kinds[offer]] == number && offer_fits(settling, group, offer))
            greedy_add(&view->greedy, desire_of(group->amounts, offer_free(settling, offer), count), source,
                       offer | GREEDY_OFFER, GREEDY_ALL);
    }
    return source;
}

static void place_at_once(struct view *view, uint32_t request, uint32_t offer)
{
    settling_place(view->greedy.settling, request, offer);
    view->epoch++;
    if (view->greedy.touched[offer])
        return;
    view->greedy.touched[offer] = view->epoch;
    view->touched[view->touched_count++] = offer;
    view->missing[view->shelves->of[offer]]++;
}

/* Looks at a request: places it at once, or keeps its pairs. */
static void request_look(struct view *view, uint32_t turn)
{
    uint32_t request = view->greedy.order[turn], group = view->greedy.settling->group_of[request];

    if (view->seen_at[group] != view->epoch) {
        struct degree degree = group_degree(view, group);

        if (degree.count == 1) {
            place_at_once(view, request, degree.offer);
            return;
        }
        view->source_of[group] = degree.count ? group_pairs(view, group) : ASSIGN_NONE;
        view->seen_at[group] = view->epoch;
    }
    if (view->source_of[group] != ASSIGN_NONE)
        greedy_add_turn(&view->greedy, view->source_of[group], turn);
}

int policy_srfm(struct settling *settling, struct err *err)
{
    const struct assign_problem *problem = settling->problem;
    struct shelves shelves;
    struct view view = {.shelves = &shelves};

    (void)err;
    shelves_init(&shelves, settling);
    greedy_init(&view.greedy, settling, &shelves);
    view.touched = SCRATCH(settling, uint32_t, problem->offer_count);
    view.missing = SCRATCH(settling, uint32_t, shelves.count);
    view.source_of = SCRATCH(settling, uint32_t, settling->group_count);
    view.seen_at = SCRATCH(settling, uint32_t, settling->group_count);
    view.marks = SCRATCH(settling, uint32_t, problem->kind_count);
    memset(view.missing, 0, shelves.count * sizeof *view.missing);
    memset(view.seen_at, 0xff, settling->group_count * sizeof *view.seen_at);
    memset(view.marks, 0xff, problem->kind_count * sizeof *view.marks);
    for (uint32_t turn = 0; turn < problem->request_count; turn++)
        request_look(&view, turn);
    greedy_run(&view.greedy);
    greedy_done(&view.greedy);
    return 0;
}
