/* api_match.c: questions over all ads: queries, what an ad would match, and why it matches nothing.
 *
 * Nothing is consumed. Ads that the caller may not see do not exist for its expressions. */
#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "match/gang/gang_why.h"
#include "match/pair/order.h"
#include "match/pair/why.h"
#include "pool/engine/engine.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCHES_MAX 100000  /* matches that are put in order */
#define EXPLAIN_STEPS 20000 /* steps of evaluation in a slice of an explanation */
#define HIDE_STEPS 40       /* what it counts for that the reader's copy of an ad is made without what is hidden */

/* ------------------------------------------------------------------------------------------------------------ listing */

struct list {
    struct scan scan;
    struct tree *query;
    const char *select;
    struct listing listing;
    struct buf out;
    struct env env;
    struct arena scratch;
    uint64_t limit;
    int kind;      /* 0: all, 1: offers, 2: requests */
    int outcome;   /* only requests with this outcome are wanted; 0: all */
    uint32_t next; /* where to go on */
    bool more, spent;
};

/* Takes an ad; returns it with that text as an attribute. */
static struct tree *ad_with(struct matchmakerd *matchmakerd, struct tree *ad, const char *name, const char *text)
{
    struct ad_setting setting = {symbols_take(matchmakerd->symbols, name, strlen(name)),
                                 value_string(text, strlen(text))};
    struct tree *with = ad_set(ad, &setting, 1, NULL);

    symbols_drop(matchmakerd->symbols, setting.name);
    if (!with)
        return ad;
    tree_unref(ad);
    return with;
}

static bool list_visit(struct scan *scan, uint32_t place, const struct entry_view *view)
{
    struct list *list = (struct list *)scan;
    struct request *request = scan->request;
    struct tree *ad, *part;
    uint64_t steps = 1;
    bool wanted;

    if ((list->kind && view->request != (list->kind == 2)) || !request_sees(request, view) ||
        (list->outcome && (!view->request || (int)view->outcome != list->outcome)))
        return true;
    if (list->listing.count == list->limit) {
        list->more = true;
        list->next = place;
        return false;
    }
    ad = ad_shown(request, view);
    if (ad != view->ad)
        steps += HIDE_STEPS;
    wanted = !list->query || match_query_counted(&list->env, &list->scratch, list->query, ad, &steps);
    if (wanted)
        ad = ad_with(request_matchmakerd(request), ad, "AdId", entry_id(request_matchmakerd(request), view));
    if (wanted && list->select && (part = ad_select(request_matchmakerd(request)->symbols, ad, list->select))) {
        tree_unref(ad);
        ad = part;
    }
    if (wanted)
        listing_add(&list->listing, ad);
    tree_unref(ad);
    list->spent = steps >= scan->steps;
    scan->steps -= list->spent ? scan->steps : steps;
    return !list->spent;
}

static void list_finish(struct scan *scan)
{
    struct list *list = (struct list *)scan;
    struct request *request = scan->request;

    if (list->spent) {
        request_problem(request, 429, "QuerySteps: the query takes too long; ask for less, or more simply");
        return;
    }
    listing_end(&list->listing);
    request_list(request, &list->out, list->more, list->next);
}

static void list_done(struct scan *scan)
{
    struct list *list = (struct list *)scan;

    tree_unref(list->query);
    buf_done(&list->out);
    arena_done(&list->scratch);
}

void api_ads_list(struct request *request)
{
    const char *kind = request_query(request, "kind");
    const char *outcome = request_query(request, "outcome");
    struct tree *query;
    struct list *list;
    uint64_t limit, cursor;

    if (!request_number(request, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT, &limit) ||
        !request_number(request, "cursor", 0, UINT32_MAX - 1, 0, &cursor) || !select_checked(request))
        return;
    if (kind && strcmp(kind, "offers") != 0 && strcmp(kind, "requests") != 0) {
        request_problem(request, 400, "kind: expected offers or requests");
        return;
    }
    if (outcome && !outcome_find(outcome)) {
        request_problem(request, 400, "outcome: expected waiting, matched, nobody, gave-up or held");
        return;
    }
    if (!request_expr(request, "constraint", &query))
        return;
    list = mem_alloc(sizeof *list);
    *list =
        (struct list){.scan = {.visit = list_visit, .finish = list_finish, .done = list_done, .from = (uint32_t)cursor},
                      .query = query,
                      .select = request_query(request, "select"),
                      .env = request_env(request),
                      .limit = limit,
                      .outcome = outcome ? outcome_find(outcome) : 0,
                      .kind = !kind          ? 0
                              : *kind == 'o' ? 1
                                             : 2};
    buf_init(&list->out);
    arena_init(&list->scratch);
    listing_begin(&list->listing, &list->out, request->form);
    scan_start(&list->scan, request);
}

/* -------------------------------------------------------------------------------------------------------------- match */

struct meeting {
    struct scan scan;
    struct tree *ad; /* the ad that asks */
    uint64_t self;   /* its own place plus one, if the ad is in the pool; 0: it is not */
    bool is_request; /* it is matched against offers; else against requests */
    bool explains;
    bool gang;                    /* the ad has ports */
    char name[ID_UNIQUE_MAX + 1]; /* its name in the explanation */
    uint64_t taken;               /* how many of the others have nothing left */
    uint64_t limit;
    struct env env;
    struct arena scratch;
    struct meeting_row {
        char *id;
        double rank;
        uint32_t order;
    } * rows; /* the ads that match */
    uint32_t row_count, row_room;
    struct tree **others; /* all ads that were looked at, held: for the explanation */
    char **other_ids;
    uint32_t other_count, other_room;
    bool spent;
    size_t ported; /* how many of the others have ports that do not matter: they are the last */
    bool asked;    /* all ads have been looked at, and whether the answer is a gang is known */
    bool about_gang;
    struct policy policy;
    struct why why;
    struct explaining *run; /* the explanation while it is made; or NULL */
    struct what_if what_if;
};

static void meeting_keep(struct meeting *meeting, const char *id, double rank)
{
    if (meeting->row_count == MATCHES_MAX)
        return;
    ARRAY_ROOM(meeting->rows, meeting->row_count, meeting->row_room, 64);
    meeting->rows[meeting->row_count] = (struct meeting_row){mem_dup(id, strlen(id)), rank, meeting->row_count};
    meeting->row_count++;
}

static void meeting_remember(struct meeting *meeting, struct tree *other, const char *id)
{
    if (meeting->other_count == meeting->other_room) {
        meeting->other_room = meeting->other_room ? meeting->other_room * 2 : 64;
        meeting->others = mem_grow(meeting->others, meeting->other_room * sizeof *meeting->others);
        meeting->other_ids = mem_grow(meeting->other_ids, meeting->other_room * sizeof *meeting->other_ids);
    }
    meeting->others[meeting->other_count] = tree_ref(other);
    meeting->other_ids[meeting->other_count++] = mem_dup(id, strlen(id));
}

/* Matches the ad against one of the other side. Offers with ports are not matched by themselves: api_gang.c handles
 * them. */
static uint64_t meeting_meet(struct meeting *meeting, struct tree *other, const char *id)
{
    uint64_t steps = 1;

    if (meeting->explains || meeting->is_request)
        meeting_remember(meeting, other, id);
    if (!meeting->gang && !(meeting->is_request && gang_why_ported(other)) &&
        match_accepts_counted(&meeting->env, &meeting->scratch, meeting->ad, other, &steps) &&
        match_accepts_counted(&meeting->env, &meeting->scratch, other, meeting->ad, &steps)) {
        struct arena_mark mark = arena_mark(&meeting->scratch);
        struct match match;

        match_ads(&meeting->env, &meeting->scratch, meeting->ad, other, &match);
        meeting_keep(meeting, id, order_number(&match.left_rank));
        arena_rewind(&meeting->scratch, mark);
    }
    return steps;
}

/* Are there steps left, after so many? */
static bool meeting_spend(struct meeting *meeting, uint64_t steps)
{
    struct scan *scan = &meeting->scan;

    meeting->spent = steps >= scan->steps;
    scan->steps -= meeting->spent ? scan->steps : steps;
    return !meeting->spent;
}

static bool meeting_visit(struct scan *scan, uint32_t place, const struct entry_view *view)
{
    struct meeting *meeting = (struct meeting *)scan;
    const char *id = entry_id(request_matchmakerd(scan->request), view);
    struct tree *other = (struct tree *)(view->left ? view->left : view->ad);
    struct what_if_ad *what_if;

    if (view->request == meeting->is_request || meeting->self == (uint64_t)place + 1 ||
        !request_sees(scan->request, view))
        return true;
    what_if = what_if_find(&meeting->what_if, id);
    if (what_if) {
        what_if->used = true;
        other = what_if->ad;
    } else if (view->free < 1 && !meeting->explains) {
        return true;
    }
    meeting->taken += !what_if && view->free < 1;
    return meeting_spend(meeting, meeting_meet(meeting, other, id));
}

/* Supposed ads that the pool does not have come last. */
static void meeting_add_supposed(struct meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->what_if.count && !meeting->spent; i++) {
        const struct what_if_ad *one = &meeting->what_if.items[i];

        if (!one->used)
            meeting_spend(meeting, meeting_meet(meeting, one->ad, one->id));
    }
}

static int row_compare(const void *a, const void *b)
{
    const struct meeting_row *left = a, *right = b;

    if (left->rank != right->rank)
        return left->rank > right->rank ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static void other_name(void *user, size_t place, struct buf *out)
{
    const struct meeting *meeting = user;

    buf_adds(out, meeting->other_ids[place]);
}

/* The explanation as words, or as the JSON of docs/why.md, in an answer of its own. */
static void meeting_explain(struct meeting *meeting, struct request *request)
{
    struct why_names names = {.request = meeting->name,
                              .offer = other_name,
                              .user = meeting,
                              .is_offer = !meeting->is_request,
                              .ported = meeting->ported};
    char taken[24];
    const struct http_field fields[] = {{"Berth-Taken", taken}};
    struct buf out;

    buf_init(&out);
    if (request->form == FORM_JSON)
        why_print_json(&out, &meeting->why, meeting->ad, &names);
    else
        why_print(&out, &meeting->why, meeting->ad, &names);
    snprintf(taken, sizeof taken, "%" PRIu64, meeting->taken);
    explanation_end(request, meeting->self ? meeting->name : NULL, meeting->taken, NULL, &out);
    request_answer(request, 200, request->form == FORM_JSON ? TYPE_JSON : "text/plain; charset=utf-8", out.text,
                   out.len, fields, 1);
    buf_done(&out);
}

static struct gang_question meeting_gang(struct meeting *meeting)
{
    return (struct gang_question){.ad = meeting->ad,
                                  .name = meeting->name,
                                  .why = meeting->explains,
                                  .env = meeting->env,
                                  .scratch = &meeting->scratch,
                                  .offers = meeting->others,
                                  .ids = meeting->other_ids,
                                  .count = meeting->other_count,
                                  .taken = meeting->taken,
                                  .ported = meeting->ported};
}

/* When all ads have been looked at: is the answer a gang? An explanation is made slice by slice. */
static bool meeting_more(struct scan *scan)
{
    struct meeting *meeting = (struct meeting *)scan;

    if (meeting->asked)
        return meeting->run && why_go_on(meeting->run, EXPLAIN_STEPS);
    meeting->asked = true;
    if (!meeting->spent)
        meeting_add_supposed(meeting);
    if (meeting->spent)
        return false;
    if (meeting->is_request && (meeting->explains || !meeting->row_count)) {
        struct gang_question question = meeting_gang(meeting);

        meeting->about_gang = gang_is_asked(scan->request, &question);
        meeting->ported = question.ported;
    }
    if (!meeting->explains || meeting->about_gang)
        return false;
    policy_init(&meeting->policy, request_matchmakerd(scan->request)->policy, NULL, NULL);
    meeting->run = why_begin(&meeting->why, &meeting->env, &meeting->scratch, &meeting->policy, meeting->ad,
                             meeting->others, meeting->other_count - meeting->ported);
    return true;
}

static void meeting_finish(struct scan *scan)
{
    struct meeting *meeting = (struct meeting *)scan;
    struct request *request = scan->request;
    struct roll roll;

    if (meeting->spent) {
        request_problem(request, 429, "QuerySteps: the match takes too long");
        return;
    }
    if (meeting->about_gang) {
        struct gang_question question = meeting_gang(meeting);

        gang_answer(request, &question);
        return;
    }
    if (meeting->explains) {
        why_end(meeting->run);
        meeting->run = NULL;
        meeting_explain(meeting, request);
        why_done(&meeting->why);
        policy_done(&meeting->policy);
        return;
    }
    if (meeting->row_count)
        qsort(meeting->rows, meeting->row_count, sizeof *meeting->rows, row_compare);
    roll_begin(&roll, request);
    for (uint32_t i = 0; i < meeting->row_count && i < meeting->limit; i++) {
        struct maker maker;

        maker_init(&maker, request_matchmakerd(request)->symbols);
        maker_text(&maker, "Id", meeting->rows[i].id);
        maker_real(&maker, "Rank", meeting->rows[i].rank);
        roll_add(&roll, &maker);
    }
    roll_end(&roll);
}

static void meeting_done(struct scan *scan)
{
    struct meeting *meeting = (struct meeting *)scan;

    for (uint32_t i = 0; i < meeting->row_count; i++)
        free(meeting->rows[i].id);
    for (uint32_t i = 0; i < meeting->other_count; i++) {
        tree_unref(meeting->others[i]);
        free(meeting->other_ids[i]);
    }
    free(meeting->rows);
    free(meeting->others);
    free(meeting->other_ids);
    tree_unref(meeting->ad);
    what_if_done(&meeting->what_if);
    if (meeting->run) {
        why_end(meeting->run);
        why_done(&meeting->why);
        policy_done(&meeting->policy);
    }
    arena_done(&meeting->scratch);
}

/* Makes a meeting; takes the ad. */
static struct meeting *meeting_new(struct request *request, struct tree *ad, const char *name, bool is_request)
{
    struct meeting *meeting = mem_alloc(sizeof *meeting);

    *meeting = (struct meeting){
        .scan = {.visit = meeting_visit, .more = meeting_more, .finish = meeting_finish, .done = meeting_done},
        .ad = ad,
        .is_request = is_request,
        .gang = is_request && gang_why_ported(ad),
        .limit = LIMIT_DEFAULT,
        .env = request_env(request)};
    snprintf(meeting->name, sizeof meeting->name, "%s", name);
    arena_init(&meeting->scratch);
    return meeting;
}

void api_match(struct request *request)
{
    const char *kind = request_query(request, "kind");
    struct what_if what_if = {.count = 0};
    struct meeting *meeting;
    struct tree *ad;
    uint64_t limit;

    if (!request_number(request, "limit", 1, MATCHES_MAX, LIMIT_DEFAULT, &limit))
        return;
    if (kind && strcmp(kind, "request") != 0 && strcmp(kind, "offer") != 0) {
        request_problem(request, 400, "kind: expected request or offer");
        return;
    }
    ad = what_if_read(request, &what_if);
    if (!ad) {
        what_if_done(&what_if);
        return;
    }
    if (*request_identity(request) && !ad_find(ad, "Owner")) /* as if advertised: offers may ask for its owner */
        ad = ad_with(request_matchmakerd(request), ad, "Owner", request_identity(request));
    if (request_flag(request, "why") && (!kind || *kind == 'r')) {
        request_explain(request, &(struct request_question){.ad = ad, .name = "ad", .what_if = what_if});
        return;
    }
    meeting = meeting_new(request, ad, "ad", !kind || *kind == 'r');
    meeting->explains = request_flag(request, "why");
    meeting->limit = limit;
    meeting->what_if = what_if;
    scan_start(&meeting->scan, request);
}

void api_ad_why(struct request *request)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *id = request_variable(request, 0);
    uint32_t from = 0, next;
    struct entry_view view, other;
    struct meeting *meeting;

    if (!entry_named(request, id, &view)) {
        request_problem(request, 404, "there is no such ad");
        return;
    }
    if (view.request) {
        request_explain(request, &(struct request_question){.ad = tree_ref((struct tree *)view.ad),
                                                            .name = entry_id(matchmakerd, &view),
                                                            .who = view.agent,
                                                            .id = view.id});
        return;
    }
    if (entry_hides_policy(request, &view)) {
        request_problem(request, 403, "its owner keeps its policy to himself, and an explanation would tell it");
        return;
    }
    while (matchmaker_next(matchmakerd->matchmaker, from, &other, &next) &&
           (other.agent != view.agent || other.id != view.id))
        from = next;
    meeting = meeting_new(request, tree_ref((struct tree *)view.ad), entry_id(matchmakerd, &view), view.request);
    meeting->self = next;
    meeting->explains = true;
    scan_start(&meeting->scan, request);
}
