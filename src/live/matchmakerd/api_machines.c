/* api_machines.c: the machines that are known, whether or not they have room.
 *
 *     [ Type = "Machine"; Name = "heron"; State = "Busy"; Cpus = 4; CpusUsed = 4; Jobs = 4; Ends = 720; ... ]
 *
 * Whoever may read ads sees how each machine stands, and which users have how much of it. Which jobs they are is seen by those whose jobs or machine
 * they are, and by administrators; so is whether somebody sits there. An owner who says ShowPolicy = false shows nobody else what decides whom the machine takes. */
#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/machine_facts.h"
#include "live/matchmakerd/machine_order.h"
#include "live/matchmakerd/machine_resource.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/reservations_told.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CLAIMS_SHOWN 256
#define PARTS_SHOWN 64

/* Is it the caller who has told of the machine? */
static bool machine_is_callers(const struct request *request, const struct machine_view *view)
{
    const char *owner;
    size_t len, mine = strlen(request_identity(request));

    return ad_string(view->whole, "Identity", &owner, &len) && len == mine &&
           !memcmp(owner, request_identity(request), len);
}

bool machine_is_own(const struct request *request, const struct machine_view *view)
{
    return request_any(request) || machine_is_callers(request, view);
}

bool machine_shows_policy(const struct request *request, const struct machine_view *view)
{
    return ad_shows_policy(view->whole) || machine_is_own(request, view);
}

bool machine_shows_words(const struct request *request, const struct machine_view *view,
                         const struct machine_facts *facts)
{
    return machine_is_own(request, view) || view->state != MACHINE_OWNER ||
           (ad_shows_policy(view->whole) && !words_tell_presence(facts->words, facts->words_len));
}

/* What is known of a claim that the machine names. It may name any as its own: only one that was made for its agent counts. */
static bool claim_user(const struct matchmakerd *matchmakerd, const struct machine_view *view, uint64_t claim,
                       struct claim_view *ret)
{
    return matchmaker_find_claim(matchmakerd->matchmaker, claim, ret) && ret->agent == view->agent;
}

static void amounts_show(struct maker *row, const struct machine_claim *told)
{
    for (int i = 0; i < AMOUNTS; i++)
        if (told->amounts[i] >= 0)
            machine_amount_add(row, machine_amounts[i], told->amounts[i]);
}

/* Who has which part of it: users and amounts, which everybody may know. */
static void parts_show(struct matchmakerd *matchmakerd, const struct machine_view *view, struct maker *maker)
{
    struct tree *rows[PARTS_SHOWN];
    uint32_t count = 0;
    struct machine_claim told;

    for (; count < PARTS_SHOWN && machine_claim(view, runner_now(), count, &told); count++) {
        struct claim_view known;
        struct maker row;

        maker_init(&row, matchmakerd->symbols);
        maker_text(&row, "User", claim_user(matchmakerd, view, told.claim, &known) ? known.user : NULL);
        amounts_show(&row, &told);
        rows[count] = maker_seal(&row);
    }
    if (count)
        maker_list(maker, "Parts", rows, count);
    while (count)
        tree_unref(rows[--count]);
}

/* The claims that the caller may know more of than that. */
static void claims_show(const struct request *request, const struct machine_view *view, struct maker *maker)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    bool own = machine_is_own(request, view);
    struct tree *rows[CLAIMS_SHOWN];
    uint32_t count = 0;
    struct machine_claim told;

    for (uint32_t i = 0; count < CLAIMS_SHOWN && machine_claim(view, runner_now(), i, &told); i++) {
        struct claim_view known;
        struct maker row;
        bool is_known = claim_user(matchmakerd, view, told.claim, &known);

        if (!own && !(is_known && known.user && user_is_caller(request, known.user)))
            continue;
        maker_init(&row, matchmakerd->symbols);
        maker_word(&row, "Claim", told.claim);
        maker_text(&row, "Owner", is_known ? known.user : NULL);
        if (told.job >= 0)
            maker_integer(&row, "Job", told.job);
        if (is_known)
            maker_seconds(&row, "Age", runner_now() - known.since);
        if (told.end >= 0)
            maker_integer(&row, "Ends", told.end);
        amounts_show(&row, &told);
        rows[count++] = maker_seal(&row);
    }
    maker_list(maker, "Claims", rows, count);
    while (count)
        tree_unref(rows[--count]);
}

/* For whom it is booked, and when: everybody may know, as others cannot have it then. */
static void bookings_show(struct matchmakerd *matchmakerd, const struct machine_view *view, struct maker *maker)
{
    struct tree *rows[BOOKINGS_SHOWN];
    uint32_t count = 0, at = 0;

    while (count < BOOKINGS_SHOWN && (rows[count] = booking_told(view, matchmakerd->symbols, &at)))
        count++;
    if (count)
        maker_list(maker, "Bookings", rows, count);
    while (count)
        tree_unref(rows[--count]);
}

static void state_show(struct maker *maker, const struct request *request, const struct machine_view *view,
                       const struct machine_facts *facts, int64_t now)
{
    maker_text(maker, "State", machine_state_word(view->state));
    maker_flag(maker, "Pulls", view->pulls);
    maker_seconds(maker, "Since", now - view->since);
    maker_seconds(maker, "Heard", now - view->heard);
    if (view->until != INT64_MAX && view->state == MACHINE_OWNER) {
        maker_seconds(maker, "Until", view->until > now ? view->until - now : 0);
        maker_flag(maker, "Sure", view->sure);
    } else if (view->until != INT64_MAX && view->state <= MACHINE_BUSY && view->until > now) {
        maker_seconds(maker, "Closes", view->until - now);
    }
    if (facts->words && machine_shows_words(request, view, facts))
        maker_bytes(maker, "Words", facts->words, facts->words_len);
}

/* How much of a machine is told: how it stands, its ad as well, and its claims as well. */
enum row_depth { ROW_STATE, ROW_AD, ROW_ALL };

/* A row, as far as the caller may know it. */
static struct tree *machine_row(const struct request *request, const struct machine_view *view, enum row_depth depth)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    int64_t now = runner_now();
    struct machine_facts facts;
    struct maker maker;
    struct tree *shown;
    const char *text;
    double load;
    size_t len;

    machine_facts(view, now, &facts);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Name", facts.name);
    if (ad_string(view->whole, "Type", &text, &len))
        maker_bytes(&maker, "Type", text, len);
    state_show(&maker, request, view, &facts, now);
    for (int i = 0; i < AMOUNTS; i++) {
        if (!facts.amounts[i].known)
            continue;
        machine_amount_add(&maker, machine_amounts[i], facts.amounts[i].all);
        machine_amount_add(&maker, machine_amounts_used[i], facts.amounts[i].used);
    }
    if (ad_number(view->whole, "LoadAvg", &load))
        maker_real(&maker, "LoadAvg", load);
    maker_integer(&maker, "Jobs", facts.claims);
    if (facts.elsewhere)
        maker_integer(&maker, "Elsewhere", facts.elsewhere);
    if (view->matched)
        maker_integer(&maker, "Matched", view->matched);
    if (facts.first_end >= 0)
        maker_integer(&maker, "Ends", facts.first_end);
    parts_show(matchmakerd, view, &maker);
    bookings_show(matchmakerd, view, &maker);
    if (ad_string(view->whole, "Owner", &text, &len))
        maker_bytes(&maker, "Owner", text, len);
    maker_word(&maker, "Id", view->id);
    maker_word(&maker, "Agent", view->agent);
    if (depth == ROW_ALL)
        claims_show(request, view, &maker);
    if (depth >= ROW_AD) {
        shown = machine_ad_shown(view->whole, machine_shows_policy(request, view), machine_is_own(request, view));
        maker_ad(&maker, "Ad", shown);
        tree_unref(shown);
    }
    return maker_seal(&maker);
}

static enum row_depth list_depth(const struct request *request)
{
    const char *whole = request_query(request, "whole");

    return whole && !strcmp(whole, "true") ? ROW_AD : ROW_STATE;
}

static bool machines_step(struct scan *scan)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct machine_view view;

    return matchmaker_next_machine(matchmakerd->matchmaker, scan->from, &view, &scan->from) &&
           (collection_passes((struct collection *)scan) ||
            collection_add((struct collection *)scan, machine_row(scan->request, &view, list_depth(scan->request))));
}

/* The same in the order of names. */
struct ordered_list {
    struct collection collection;
    struct machine_order order;
};

static bool ordered_step(struct scan *scan)
{
    const struct matchmaker *matchmaker = request_matchmakerd(scan->request)->matchmaker;
    struct ordered_list *list = (struct ordered_list *)scan;
    struct machine_view view;

    if (!list->order.made)
        machine_order_make(&list->order, matchmaker);
    return machine_order_next(&list->order, matchmaker, scan->from, &view, &scan->from) &&
           (collection_passes(&list->collection) ||
            collection_add(&list->collection, machine_row(scan->request, &view, list_depth(scan->request))));
}

static void ordered_free(struct collection *collection)
{
    machine_order_done(&((struct ordered_list *)collection)->order);
}

void api_machines_list(struct request *request)
{
    const char *order = request_query(request, "order");
    struct ordered_list *list;

    if (order && strcmp(order, "name") != 0) {
        request_problem(request, 400,
                        "order: expected name, or nothing: then they come as the pool has come to know them");
        return;
    }
    if (!order) {
        collection_tour(request, machines_step);
        return;
    }
    list = mem_alloc(sizeof *list);
    *list = (struct ordered_list){0};
    collection_tour_more(&list->collection, request, ordered_step, ordered_free);
}

/* May the caller let it be forgotten? To see what is everybody's is not enough. */
static bool machine_may_be_forgotten(const struct request *request, const struct machine_view *view)
{
    return request_administers(request) || machine_is_callers(request, view);
}

/* Is that the machine's name, or the id of its ad? */
static bool machine_is_called(const struct machine_view *view, const char *name)
{
    const char *text;
    size_t len;
    char id[17];

    snprintf(id, sizeof id, "%016" PRIx64, view->id);
    return !strcmp(id, name) ||
           (ad_string(view->whole, "Name", &text, &len) && len == strlen(name) && !memcmp(text, name, len));
}

/* The machine of a name, sought in slices. Of several, one that is there comes before one that is away. */
struct search {
    struct scan scan;
    agent agent;
    uint64_t id;
    bool found;
};

static bool search_step(struct scan *scan)
{
    struct search *search = (struct search *)scan;
    struct machine_view view;

    if (!matchmaker_next_machine(request_matchmakerd(scan->request)->matchmaker, scan->from, &view, &scan->from))
        return false;
    if (!machine_is_called(&view, request_variable(scan->request, 0)))
        return true;
    search->found = true;
    search->agent = view.agent;
    search->id = view.id;
    return view.state == MACHINE_AWAY;
}

static void search_finish(struct scan *scan)
{
    const struct search *search = (struct search *)scan;
    struct machine_view view;
    struct tree *row;

    if (!search->found ||
        !matchmaker_find_machine(request_matchmakerd(scan->request)->matchmaker, search->agent, search->id, &view)) {
        request_problem(scan->request, 404, "no machine of that name is known");
        return;
    }
    row = machine_row(scan->request, &view, ROW_ALL);
    machine_answer(scan->request, &view, row, machine_is_own(scan->request, &view),
                   view.state == MACHINE_AWAY && machine_may_be_forgotten(scan->request, &view));
    tree_unref(row);
}

static void search_begin(struct request *request, bool (*step)(struct scan *scan), void (*finish)(struct scan *scan))
{
    struct search *search = mem_alloc(sizeof *search);

    *search = (struct search){.scan = {.step = step, .finish = finish}};
    scan_start(&search->scan, request);
}

void api_machine_get(struct request *request)
{
    search_begin(request, search_step, search_finish);
}

/* The same for one that is to be forgotten. Of several of a name, as there are where a machine was installed anew, it is one that is away and that the
 * caller may let be forgotten; else one that he may; else any. */
static bool forget_step(struct scan *scan)
{
    struct search *search = (struct search *)scan;
    struct machine_view view;
    bool may;

    if (!matchmaker_next_machine(request_matchmakerd(scan->request)->matchmaker, scan->from, &view, &scan->from))
        return false;
    if (!machine_is_called(&view, request_variable(scan->request, 0)))
        return true;
    may = machine_may_be_forgotten(scan->request, &view);
    if (!search->found || may) {
        search->found = true;
        search->agent = view.agent;
        search->id = view.id;
    }
    return !may || view.state != MACHINE_AWAY;
}

/* Forgets one that is away, as if it had said that it is gone for good: when it is heard of again, it is back. */
static void machine_forget(struct request *request, const struct machine_view *view)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t who = agents_find(&matchmakerd->agents, view->agent);
    struct peer peer = {.agent = view->agent,
                        .identity = who == TEXTMAP_NONE ? ""
                                                        : caller_text(&matchmakerd->gate.callers,
                                                                      matchmakerd->agents.items[who].identity)};
    struct message message = {.kind = MESSAGE_STANDS,
                              .u.stands = {.id = view->id, .version = view->version, .gone = true}};
    char name[TOKEN_NAME_MAX + 1]; /* for the log: the caller may have said the id of its ad */
    enum reason reason;

    if (!ad_text(view->whole, "Name", name, sizeof name))
        snprintf(name, sizeof name, "%016" PRIx64, view->id);
    if (!request_ask(request, &peer, &message))
        return;
    reason = matchmakerd->reply.u.got.reason;
    if (reason != REASON_OK)
        request_problem(request, reason_status(reason), "%s", reason_words(reason));
    else if (request_audit(request, "machines.forget", name, peer.identity))
        request_answer_durable(request, 204, NULL);
}

static void forget_finish(struct scan *scan)
{
    const struct search *search = (struct search *)scan;
    struct request *request = scan->request;
    struct machine_view view;

    if (!search->found ||
        !matchmaker_find_machine(request_matchmakerd(request)->matchmaker, search->agent, search->id, &view))
        request_problem(request, 404, "no machine of that name is known");
    else if (!machine_may_be_forgotten(request, &view))
        request_problem(request, 403, "the machine is another's: its owner and administrators let it be forgotten");
    else if (view.state != MACHINE_AWAY)
        request_problem(request, 409, "it is there: only one that is away can be forgotten");
    else
        machine_forget(request, &view);
}

void api_machine_forget(struct request *request)
{
    search_begin(request, forget_step, forget_finish);
}
