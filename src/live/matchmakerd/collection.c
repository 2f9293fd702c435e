/* collection.c: lists of ads that are made for an answer, with the same parameters as lists of stored ads. */
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ROW_STEPS 40 /* steps of evaluation that making a row counts for, in a slice */

struct env request_env(const struct request *request)
{
    const struct config *config = &request_matchmakerd(request)->config;
    struct env env = {.now = runner_wall() / SECOND,
                      .seed = request->number,
                      .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                      .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};

    return env;
}

void roll_begin(struct roll *roll, struct request *request)
{
    roll->request = request;
    buf_init(&roll->out);
    listing_begin(&roll->listing, &roll->out, request->form);
}

void roll_add(struct roll *roll, struct maker *maker)
{
    struct tree *ad = maker_seal(maker);

    listing_add(&roll->listing, ad);
    tree_unref(ad);
}

void roll_end(struct roll *roll)
{
    listing_end(&roll->listing);
    request_answer(roll->request, 200, media_type(roll->request->form, &dialect_classic), roll->out.text, roll->out.len,
                   NULL, 0);
    buf_done(&roll->out);
}

bool collection_begin(struct collection *collection, struct request *request)
{
    *collection = (struct collection){.request = request,
                                      .now = runner_now(),
                                      .select = request_query(request, "select"),
                                      .steps = config_count(&request_matchmakerd(request)->config, CONFIG_QUERY_STEPS),
                                      .env = request_env(request)};
    if (!request_number(request, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT, &collection->limit) ||
        !request_number(request, "cursor", 0, UINT32_MAX, 0, &collection->cursor) || !select_checked(request) ||
        !request_expr(request, "constraint", &collection->query))
        return false;
    arena_init(&collection->scratch);
    buf_init(&collection->out);
    listing_begin(&collection->listing, &collection->out, request->form);
    return true;
}

bool collection_passes(struct collection *collection)
{
    if (collection->at >= collection->cursor)
        return false;
    collection->at++;
    collection->scan.steps -= collection->scan.steps > 0;
    return true;
}

static bool collection_wants(struct collection *collection, const struct tree *ad)
{
    uint64_t steps = 1;
    bool wanted = !collection->query ||
                  match_query_counted(&collection->env, &collection->scratch, collection->query, ad, &steps);

    collection->spent = collection->spent || steps >= collection->steps;
    collection->steps -= collection->spent ? collection->steps : steps;
    collection->scan.steps -= collection->scan.steps < steps ? collection->scan.steps : steps;
    return wanted && !collection->spent;
}

bool collection_add(struct collection *collection, struct tree *ad)
{
    struct tree *part;
    bool enough = collection->more || collection->spent;

    collection->scan.steps -= collection->scan.steps < ROW_STEPS ? collection->scan.steps : ROW_STEPS;
    if (enough || collection->at++ < collection->cursor || !collection_wants(collection, ad)) {
        tree_unref(ad);
        return !enough && !collection->spent;
    }
    if (collection->listing.count == collection->limit || collection->out.len >= LIST_BYTES) {
        collection->more = true;
        collection->at--;
        tree_unref(ad);
        return false;
    }
    if (collection->select &&
        (part = ad_select(request_matchmakerd(collection->request)->symbols, ad, collection->select))) {
        tree_unref(ad);
        ad = part;
    }
    listing_add(&collection->listing, ad);
    tree_unref(ad);
    return true;
}

static void collection_answer(struct collection *collection)
{
    struct request *request = collection->request;

    listing_end(&collection->listing);
    if (collection->spent)
        request_problem(request, 429, "QuerySteps: the query takes too long; ask for less, or more simply");
    else
        request_list(request, &collection->out, collection->more, collection->at);
}

void collection_done(struct collection *collection)
{
    if (collection->free_more)
        collection->free_more(collection);
    tree_unref(collection->query);
    buf_done(&collection->out);
    arena_done(&collection->scratch);
}

void collection_end(struct collection *collection)
{
    collection_answer(collection);
    collection_done(collection);
}

static void scan_finish(struct scan *scan)
{
    collection_answer((struct collection *)scan);
}

static void scan_done(struct scan *scan)
{
    collection_done((struct collection *)scan);
}

void collection_tour_more(struct collection *collection, struct request *request, bool (*step)(struct scan *scan),
                          void (*free_more)(struct collection *collection))
{
    if (!collection_begin(collection, request)) {
        free(collection);
        return;
    }
    collection->free_more = free_more;
    collection->scan = (struct scan){.step = step, .finish = scan_finish, .done = scan_done};
    scan_start(&collection->scan, request);
}

void collection_tour(struct request *request, bool (*step)(struct scan *scan))
{
    collection_tour_more(mem_alloc(sizeof(struct collection)), request, step, NULL);
}
