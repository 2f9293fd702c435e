/* api_policy_try.c: tries a policy on the ads as they are: which requests would get which offers; or, compared with the present policy,
 * what would change.
 *
 *     the ads as they are --+--> an engine with the tried policy --------> pairs --+
 *                           `--> one with the present policy (compare) --> pairs --+--> requests that would get something else
 *
 * Nothing is consumed: the engines live as long as the request. With `idle` the offers are all machines that can run jobs, with nothing in use: so a policy
 * can be tried where all are taken. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/machine_facts.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "match/pair/order.h"
#include "pool/engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCHES_MAX 100000 /* matches of a policy that are looked at */
#define POLICY_UNITS 4000  /* units of the engine's work in a slice */
#define MACHINES_SLICE 200 /* machines that are added in a slice */
#define OFFERS_TOLD 8      /* offers that are listed for a request that would get others */

enum { THEN, NOW, SIDES }; /* the tried policy, and the present one */

struct pair {
    uint32_t root, offer;
};

struct trial_side {
    struct trial *trial;
    struct engine *engine;
    struct pair *pairs; /* only when policies are compared */
    uint32_t pair_count, pair_room;
    uint64_t matches;
    bool begun, over;
};

struct trial {
    struct scan scan;
    struct trial_side sides[SIDES];
    bool compares;
    bool idle;             /* machines take the place of what is offered now ... */
    uint32_t machine_from; /* ... and were added up to there */
    bool machines_over;
    char **ids; /* by the ads' numbers in the engines; "": the caller may not see the ad */
    uint32_t count, room;
    uint64_t limit;
    struct arena scratch;
    struct env env;
    struct listing listing;
    struct buf out;
};

static void trial_add(struct trial *trial, const char *id, struct tree *ad, const struct engine_terms *terms)
{
    ARRAY_ROOM(trial->ids, trial->count, trial->room, 64);
    trial->ids[trial->count] = mem_dup(id, strlen(id));
    for (int i = 0; i < SIDES; i++)
        if (trial->sides[i].engine)
            engine_put(trial->sides[i].engine, trial->count, ad, terms);
    trial->count++;
}

static bool trial_visit(struct scan *scan, uint32_t place, const struct entry_view *view)
{
    struct trial *trial = (struct trial *)scan;
    struct engine_terms terms = {.request = view->request, .units = view->free, .order = place};
    bool sees = request_sees(scan->request, view);

    if (trial->idle && !view->request)
        return true;
    /* Ads that the caller may not see must not influence the result either. */
    if (view->free < 1 || (!(scan->request->caller.scope & SCOPE_CONFIG) && !sees))
        return true;
    trial_add(trial, sees ? entry_id(request_matchmakerd(scan->request), view) : "",
              (struct tree *)(view->left ? view->left : view->ad), &terms);
    return true;
}

/* Adds some machines that can run jobs, as they are with nothing given away; true while there may be more. */
static bool trial_machines(struct trial *trial)
{
    const struct matchmaker *matchmaker = request_matchmakerd(trial->scan.request)->matchmaker;
    struct machine_view view;

    for (int i = 0; i < MACHINES_SLICE; i++) {
        struct engine_terms terms = {.units = 1, .order = trial->machine_from};
        struct machine_facts facts;

        if (!matchmaker_next_machine(matchmaker, trial->machine_from, &view, &trial->machine_from))
            return false;
        if (view.brief || view.state == MACHINE_AWAY || view.state == MACHINE_SICK || view.state == MACHINE_DRAINED)
            continue;
        machine_facts(&view, runner_now(), &facts);
        trial_add(trial, facts.name, (struct tree *)view.whole, &terms);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ matches */

static void pair_keep(struct trial_side *side, uint32_t root, uint32_t offer)
{
    ARRAY_ROOM(side->pairs, side->pair_count, side->pair_room, 256);
    side->pairs[side->pair_count++] = (struct pair){root, offer};
}

static void trial_match(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct trial_side *side = user;
    struct trial *trial = side->trial;
    struct maker maker;
    struct tree *ad;

    (void)left;
    side->matches++;
    if (trial->compares) {
        pair_keep(side, root, offer);
        return;
    }
    if (trial->listing.count >= trial->limit)
        return;
    maker_init(&maker, request_matchmakerd(trial->scan.request)->symbols);
    maker_text(&maker, "Request", trial->ids[root]);
    maker_text(&maker, "Offer", trial->ids[offer]);
    maker_real(&maker, "Rank", rank ? order_number(rank) : 0);
    ad = maker_seal(&maker);
    listing_add(&trial->listing, ad);
    tree_unref(ad);
}

/* Tells of a gang: a row for each member. */
static void trial_gang(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        trial_match(user, root, members[i].offer, NULL, NULL);
}

/* Does a slice of one side; true while there is more to do. */
static bool side_step(struct trial_side *side)
{
    struct trial *trial = side->trial;

    if (!side->engine || side->over)
        return false;
    if (!side->begun)
        engine_begin(side->engine, &trial->env);
    side->begun = true;
    side->over =
        !engine_step(side->engine, &trial->scratch, POLICY_UNITS, trial_match, side) || side->matches >= MATCHES_MAX;
    return !side->over;
}

static bool trial_more(struct scan *scan)
{
    struct trial *trial = (struct trial *)scan;
    bool more;

    if (trial->idle && !trial->machines_over) {
        trial->machines_over = !trial_machines(trial);
        return true;
    }
    more = side_step(&trial->sides[THEN]);

    return side_step(&trial->sides[NOW]) || more;
}

/* ----------------------------------------------------------------------------------------------------------- comparing */

static int pair_compare(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    if (left->root != right->root)
        return left->root < right->root ? -1 : 1;
    return (left->offer > right->offer) - (left->offer < right->offer);
}

/* How many pairs from `at` on belong to that root. */
static uint32_t pairs_of(const struct trial_side *side, uint32_t at, uint32_t root)
{
    uint32_t end = at;

    while (end < side->pair_count && side->pairs[end].root == root)
        end++;
    return end - at;
}

static void offers_tell(const struct trial *trial, struct maker *maker, const struct trial_side *side, uint32_t at,
                        uint32_t count, const char *list, const char *number)
{
    const char *texts[OFFERS_TOLD];
    size_t told = 0;

    for (uint32_t i = 0; i < count && told < OFFERS_TOLD; i++)
        texts[told++] = trial->ids[side->pairs[at + i].offer];
    maker_texts(maker, list, texts, told);
    maker_integer(maker, number, count);
}

/* Lists the requests that would get something else, if the caller may see them; returns how many there are in all. */
static uint64_t trial_compare(struct trial *trial)
{
    struct trial_side *then = &trial->sides[THEN], *now = &trial->sides[NOW];
    uint64_t changed = 0;

    for (int i = 0; i < SIDES; i++)
        if (trial->sides[i].pair_count)
            qsort(trial->sides[i].pairs, trial->sides[i].pair_count, sizeof(struct pair), pair_compare);
    for (uint32_t t = 0, n = 0; t < then->pair_count || n < now->pair_count;) {
        uint32_t first = t < then->pair_count ? then->pairs[t].root : UINT32_MAX;
        uint32_t root = n < now->pair_count && now->pairs[n].root < first ? now->pairs[n].root : first;
        uint32_t ours = pairs_of(then, t, root), theirs = pairs_of(now, n, root);
        bool same = ours == theirs;

        for (uint32_t i = 0; same && i < ours; i++)
            same = then->pairs[t + i].offer == now->pairs[n + i].offer;
        changed += !same;
        if (!same && *trial->ids[root] && trial->listing.count < trial->limit) {
            struct maker maker;
            struct tree *ad;

            maker_init(&maker, request_matchmakerd(trial->scan.request)->symbols);
            maker_text(&maker, "Request", trial->ids[root]);
            offers_tell(trial, &maker, now, n, theirs, "Now", "NowCount");
            offers_tell(trial, &maker, then, t, ours, "Then", "ThenCount");
            ad = maker_seal(&maker);
            listing_add(&trial->listing, ad);
            tree_unref(ad);
        }
        t += ours;
        n += theirs;
    }
    return changed;
}

static void trial_finish(struct scan *scan)
{
    struct trial *trial = (struct trial *)scan;
    const struct trial_side *then = &trial->sides[THEN], *now = &trial->sides[NOW];
    char matches[24], before[24], changed[24];
    const struct http_field fields[] = {
        {"Berth-Matches", matches},
        {"Berth-Whole", then->matches < MATCHES_MAX && now->matches < MATCHES_MAX ? "true" : "false"},
        {"Berth-Matches-Now", before},
        {"Berth-Changed", changed},
    };

    if (trial->compares)
        snprintf(changed, sizeof changed, "%" PRIu64, trial_compare(trial));
    listing_end(&trial->listing);
    snprintf(matches, sizeof matches, "%" PRIu64, then->matches);
    snprintf(before, sizeof before, "%" PRIu64, now->matches);
    request_answer(scan->request, 200, media_type(scan->request->form, &dialect_classic), trial->out.text,
                   trial->out.len, fields, trial->compares ? 4 : 2);
}

static void trial_done(struct scan *scan)
{
    struct trial *trial = (struct trial *)scan;

    for (int i = 0; i < SIDES; i++) {
        engine_free(trial->sides[i].engine);
        free(trial->sides[i].pairs);
    }
    for (uint32_t i = 0; i < trial->count; i++)
        free(trial->ids[i]);
    free(trial->ids);
    arena_done(&trial->scratch);
    buf_done(&trial->out);
}

/* ------------------------------------------------------------------------------------------------------------- asking */

/* Makes the engine of a side. A policy of NULL stands for a pool without one. */
static void side_open(struct trial *trial, int which, struct symbols *symbols, struct tree *policy)
{
    struct trial_side *side = &trial->sides[which];

    side->engine = engine_new(symbols);
    engine_on_gang(side->engine, trial_gang);
    if (policy)
        engine_set_policy(side->engine, policy, NULL, NULL);
}

void api_policy_try(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct trial *trial;
    struct tree *ad;
    uint64_t limit;

    if (!request_number(request, "limit", 1, MATCHES_MAX, LIMIT_DEFAULT, &limit) || !(ad = policy_body(request)))
        return;
    trial = mem_alloc(sizeof *trial);
    *trial =
        (struct trial){.scan = {.visit = trial_visit, .finish = trial_finish, .done = trial_done, .more = trial_more},
                       .compares = request_flag(request, "compare"),
                       .idle = request_flag(request, "idle"),
                       .limit = limit,
                       .env = request_env(request)};
    for (int i = 0; i < SIDES; i++)
        trial->sides[i].trial = trial;
    side_open(trial, THEN, matchmakerd->symbols, ad);
    if (trial->compares)
        side_open(trial, NOW, matchmakerd->symbols, matchmakerd->policy);
    tree_unref(ad);
    arena_init(&trial->scratch);
    buf_init(&trial->out);
    listing_begin(&trial->listing, &trial->out, request->form);
    scan_start(&trial->scan, request);
}
