/* api_policy.c: the administrative policy: told, replaced, and tried on the ads as they are. */
#include "net/service_parts.h"

#include "base/mem.h"
#include "pool/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MATCHES_MAX 100000 /* that are told */
#define POLICY_UNITS 4000  /* of the engine's work in a slice */

static void policy_answer(struct request *request)
{
    request_kept(request, request->service->policy);
}

void api_policy_get(struct request *request)
{
    char etag[32];

    kept_etag(request->service->policy, etag);
    if (!answered_unchanged(request, etag))
        policy_answer(request);
}

/* The policy in the body; NULL, and a problem was answered. */
static struct tree *policy_read(struct request *request)
{
    struct tree *ad = request_body_ad(request);
    symbol wrong = SYMBOL_NONE;
    struct err err = {0};
    struct policy policy;
    size_t len;

    if (!ad)
        return NULL;
    if (policy_init(&policy, ad, &wrong, &err) < 0) {
        request_problem(request, 400, "%s: %s",
                        wrong == SYMBOL_NONE ? "policy" : symbols_text(request->service->symbols, wrong, &len),
                        err.text);
        tree_unref(ad);
        return NULL;
    }
    policy_done(&policy);
    return ad;
}

void api_policy_put(struct request *request)
{
    struct service *service = request->service;
    struct tree *ad = policy_read(request);
    struct buf text;
    struct err err;
    char etag[32];
    int failed;

    if (!ad)
        return;
    kept_etag(service->policy, etag);
    if (!conditions_met(request, etag)) {
        tree_unref(ad);
        return;
    }
    buf_init(&text);
    buf_adds(&text, ad->dialect == &dialect_condor ? "condor " : "classic ");
    represent_ad(&text, FORM_CLASSAD, ad);
    failed = service->shelf->kind->put(service->shelf, POLICY_SPACE, "policy", 6, text.text, text.len, &err);
    buf_done(&text);
    if (failed) {
        tree_unref(ad);
        request_store_failed(request, err.text);
        return;
    }
    tree_unref(service->policy);
    service->policy = ad;
    runner_event(service->runner, &(struct event){.kind = EVENT_POLICY, .ad = ad});
    LOG_AUDIT(&service->log, "policy", log_text("subject", request_identity(request)));
    request_commit(request, policy_answer);
}

/* A cycle of an engine of its own, with the ads as they are. */
struct trial {
    struct tour tour;
    struct engine *engine;
    char **ids; /* by the numbers that the engine knows */
    uint32_t count, room;
    uint64_t limit, matches;
    struct arena scratch;
    struct env env;
    struct listing listing;
    struct buf out;
    bool begun, over;
};

static bool trial_visit(struct tour *tour, uint32_t place, const struct entry_view *view)
{
    struct trial *trial = (struct trial *)tour;
    struct engine_terms terms = {.request = view->request, .units = view->free, .order = place};
    const char *id;

    /* What the asker may not see must not show in the outcome either. */
    if (view->free < 1 || (!(tour->request->caller.scope & SCOPE_CONFIG) && !request_sees(tour->request, view)))
        return true;
    if (trial->count == trial->room) {
        trial->room = trial->room ? trial->room * 2 : 64;
        trial->ids = mem_grow(trial->ids, trial->room * sizeof *trial->ids);
    }
    id = request_sees(tour->request, view) ? entry_id(tour->request->service, view) : "";
    trial->ids[trial->count] = mem_dup(id, strlen(id));
    engine_put(trial->engine, trial->count++, (struct tree *)(view->left ? view->left : view->ad), &terms);
    return true;
}

static void trial_match(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct trial *trial = user;
    struct maker maker;
    struct tree *ad;

    (void)left;
    trial->matches++;
    if (trial->listing.count >= trial->limit)
        return;
    maker_init(&maker, trial->tour.request->service->symbols);
    maker_text(&maker, "Request", trial->ids[root]);
    maker_text(&maker, "Offer", trial->ids[offer]);
    maker_real(&maker, "Rank", rank ? rank_number(rank) : 0);
    ad = maker_seal(&maker);
    listing_add(&trial->listing, ad);
    tree_unref(ad);
}

/* A gang: a line for each member. */
static void trial_gang(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        trial_match(user, root, members[i].offer, NULL, NULL);
}

static bool trial_more(struct tour *tour)
{
    struct trial *trial = (struct trial *)tour;

    if (trial->over)
        return false;
    if (!trial->begun)
        engine_begin(trial->engine, &trial->env);
    trial->begun = true;
    trial->over =
        !engine_step(trial->engine, &trial->scratch, POLICY_UNITS, trial_match, trial) || trial->matches >= MATCHES_MAX;
    return !trial->over;
}

static void trial_finish(struct tour *tour)
{
    struct trial *trial = (struct trial *)tour;
    char matches[24];
    const struct http_field fields[] = {{"Berth-Matches", matches}};

    listing_end(&trial->listing);
    snprintf(matches, sizeof matches, "%" PRIu64, trial->matches);
    request_answer(tour->request, 200, media_type(tour->request->form, &dialect_classic), trial->out.text,
                   trial->out.len, fields, 1);
}

static void trial_done(struct tour *tour)
{
    struct trial *trial = (struct trial *)tour;

    engine_free(trial->engine);
    for (uint32_t i = 0; i < trial->count; i++)
        free(trial->ids[i]);
    free(trial->ids);
    arena_done(&trial->scratch);
    buf_done(&trial->out);
}

void api_policy_try(struct request *request)
{
    struct service *service = request->service;
    struct trial *trial;
    struct tree *ad;
    uint64_t limit;

    if (!request_number(request, "limit", 1, MATCHES_MAX, LIMIT_DEFAULT, &limit) || !(ad = policy_read(request)))
        return;
    trial = mem_alloc(sizeof *trial);
    *trial =
        (struct trial){.tour = {.visit = trial_visit, .finish = trial_finish, .done = trial_done, .more = trial_more},
                       .engine = engine_new(service->symbols),
                       .limit = limit,
                       .env = request_env(request)};
    engine_on_gang(trial->engine, trial_gang);
    engine_set_policy(trial->engine, ad, NULL, NULL);
    tree_unref(ad);
    arena_init(&trial->scratch);
    buf_init(&trial->out);
    listing_begin(&trial->listing, &trial->out, request->form);
    tour_start(&trial->tour, request);
}
