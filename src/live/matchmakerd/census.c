/* census.c: counts the ads and machines of the pool in slices, and keeps samples of the counts. */
#include "live/matchmakerd/census.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE 2000          /* ads in one slice: a fifth of a millisecond */
#define MACHINES_SLICE 1000 /* machines: as long */
#define USERS_SLICE 1000    /* users: as long */
#define AMOUNT_MAX 1e18     /* no machine has more of anything; whoever says so is not counted */

const char *const census_span_words[CENSUS_SPANS] = {"hour", "day", "month"};

/* For each span: the seconds between two samples, and how many are kept. */
static const struct {
    int64_t pause;
    uint32_t count;
} spans[CENSUS_SPANS] = {{10, 360}, {120, 720}, {3600, 744}};

void census_init(struct census *census, struct symbols *symbols)
{
    memset(census, 0, sizeof *census);
    census->symbols = symbols;
    map_init(&census->waiting, 0);
    map_init(&census->waiting_counting, 0);
    for (int i = 0; i < CENSUS_SPANS; i++)
        census->rings[i].items = mem_alloc(spans[i].count * sizeof(struct census_sample));
}

static void users_drop(struct census *census, struct census_sample *sample)
{
    while (sample->user_count)
        symbols_drop(census->symbols, sample->users[--sample->user_count].name);
}

/* Another sample has the same users. */
static void users_hold(struct census *census, const struct census_sample *sample)
{
    for (uint32_t i = 0; i < sample->user_count; i++)
        symbols_hold(census->symbols, sample->users[i].name);
}

void census_done(struct census *census)
{
    for (int i = 0; i < CENSUS_SPANS; i++) {
        struct census_ring *ring = &census->rings[i];

        for (uint32_t k = 0; k < ring->count; k++) /* while it is not full they lie from the first on */
            users_drop(census, &ring->items[k]);
        free(ring->items);
    }
    users_drop(census, &census->users);
    users_drop(census, &census->users_counting);
    map_done(&census->waiting);
    map_done(&census->waiting_counting);
}

/* ------------------------------------------------------------------------------------------------------------ counting */

/* The kind that an ad's Type names, added if new; the last kind when there are too many. */
static struct census_kind *kind_of(struct census_counts *counts, const struct tree *ad)
{
    struct census_kind *kind;
    const char *text = "";
    size_t len = 0;
    char name[CENSUS_KIND_MAX + 1];

    ad_string(ad, "Type", &text, &len);
    snprintf(name, sizeof name, "%.*s", (int)(len < CENSUS_KIND_MAX ? len : CENSUS_KIND_MAX), text);
    for (uint32_t i = 0; i < counts->kind_count; i++)
        if (!strcmp(counts->kinds[i].name, name))
            return &counts->kinds[i];
    if (counts->kind_count == CENSUS_KINDS)
        return &counts->kinds[CENSUS_KINDS - 1];
    kind = &counts->kinds[counts->kind_count++];
    snprintf(kind->name, sizeof kind->name, "%s", counts->kind_count == CENSUS_KINDS ? "others" : name);
    return kind;
}

static void entry_count(struct census *census, const struct entry_view *view)
{
    struct census_counts *counts = &census->counting;

    if (view->request) {
        uint64_t waiting = map_find(&census->waiting_counting, view->user);

        if (view->free > 0)
            map_set(&census->waiting_counting, view->user, (waiting == MAP_NONE ? 0 : waiting) + (uint64_t)view->free);
        counts->requests++;
        counts->units += view->free > 0 ? (uint64_t)view->free : 0;
        counts->outcomes[view->outcome]++;
        counts->outcome_units[view->outcome] += view->free > 0 ? (uint64_t)view->free : 0;
    } else {
        struct census_kind *kind = kind_of(counts, view->ad);
        bool open = view->free > 0;

        counts->offers += open;
        kind->offers += open;
        kind->parted += open && view->left && view->left != view->ad;
        kind->taken += !open;
    }
}

static void machine_count(struct census_machines *counts, const struct machine_view *view)
{
    struct machine_facts facts;

    machine_sizes(view, &facts);
    if (!facts.is_machine)
        return;
    counts->states[view->state]++;
    for (int i = 0; i < AMOUNTS && view->state != MACHINE_AWAY; i++) {
        double all = facts.amounts[i].all, used = facts.amounts[i].used;

        if (!facts.amounts[i].known || !(all > 0 && all < AMOUNT_MAX))
            continue;
        counts->amounts[i].all += all;
        counts->amounts[i].used += used > 0 ? used < all ? used : all : 0;
    }
}

static void machines_step(struct census *census, const struct matchmaker *matchmaker)
{
    struct machine_view view;

    for (int i = 0; i < MACHINES_SLICE; i++) {
        if (!matchmaker_next_machine(matchmaker, census->machine_from, &view, &census->machine_from)) {
            census->machines = census->counting_machines;
            census->machine_from = 0;
            memset(&census->counting_machines, 0, sizeof census->counting_machines);
            break;
        }
        machine_count(&census->counting_machines, &view);
    }
}

/* Adds a user to those who have most, if it is one of them. */
static void user_rank(struct census *census, const struct user_view *view)
{
    struct census_sample *most = &census->users_counting;
    uint64_t waiting = map_find(&census->waiting, view->number), sum;
    uint32_t place = most->user_count;

    waiting = waiting == MAP_NONE ? 0 : waiting;
    sum = view->claims + waiting;
    while (place && most->users[place - 1].running + most->users[place - 1].waiting < sum)
        place--;
    if (!sum || place == CENSUS_USERS)
        return;
    if (most->user_count == CENSUS_USERS)
        symbols_drop(census->symbols, most->users[--most->user_count].name);
    memmove(&most->users[place + 1], &most->users[place], (most->user_count - place) * sizeof *most->users);
    most->users[place] =
        (struct census_user){symbols_take(census->symbols, view->name, strlen(view->name)), view->claims, waiting};
    most->user_count++;
}

static void users_step(struct census *census, const struct matchmaker *matchmaker, int64_t wall)
{
    struct user_view view;

    for (int i = 0; i < USERS_SLICE; i++) {
        if (!matchmaker_next_user(matchmaker, wall, census->user_from, &view, &census->user_from)) {
            users_drop(census, &census->users);
            census->users = census->users_counting;
            census->users_counting.user_count = 0;
            census->user_from = 0;
            break;
        }
        user_rank(census, &view);
    }
}

/* ------------------------------------------------------------------------------------------------------------- samples */

static void ring_add(struct census *census, enum census_span span, const struct census_sample *sample)
{
    struct census_ring *ring = &census->rings[span];
    uint32_t room = spans[span].count;

    if (ring->count == room)
        users_drop(census, &ring->items[ring->next]);
    users_hold(census, sample);
    ring->items[ring->next] = *sample;
    ring->next = (ring->next + 1) % room;
    ring->count += ring->count < room;
}

uint32_t census_samples(const struct census *census, enum census_span span)
{
    return census->rings[span].count;
}

const struct census_sample *census_sample(const struct census *census, enum census_span span, uint32_t place)
{
    const struct census_ring *ring = &census->rings[span];
    uint32_t room = spans[span].count;

    return &ring->items[(ring->next + room - ring->count + place) % room];
}

static void samples_take(struct census *census, const struct matchmaker *matchmaker, int64_t wall)
{
    struct matchmaker_counts counts = matchmaker_counts(matchmaker);
    struct census_sample sample = {.at = wall,
                                   .offers = census->last.offers,
                                   .claims = counts.claims,
                                   .waiting = census->last.units,
                                   .matches = counts.matches,
                                   .user_count = census->users.user_count};

    memcpy(sample.users, census->users.users, sizeof sample.users);
    for (int i = 0; i < CENSUS_SPANS; i++) {
        const struct census_ring *ring = &census->rings[i];

        /* also when the clock was set back */
        if (!ring->count || llabs(wall - census_sample(census, i, ring->count - 1)->at) >= spans[i].pause)
            ring_add(census, i, &sample);
    }
}

void census_step(struct census *census, const struct matchmaker *matchmaker, int64_t wall)
{
    struct entry_view view;

    machines_step(census, matchmaker);
    users_step(census, matchmaker, wall);
    for (int i = 0; i < SLICE; i++) {
        if (!matchmaker_next(matchmaker, census->from, &view, &census->from)) {
            struct map empty = census->waiting;

            census->last = census->counting;
            census->waiting = census->waiting_counting;
            census->waiting_counting = empty;
            map_reset(&census->waiting_counting);
            census->counted = wall;
            census->from = 0;
            memset(&census->counting, 0, sizeof census->counting);
            break;
        }
        entry_count(census, &view);
    }
    if (census->counted)
        samples_take(census, matchmaker, wall);
}
