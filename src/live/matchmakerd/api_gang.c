/* api_gang.c: which gang a request with ports would get from the ads as they are, or why none. Nothing is consumed. */
#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/make.h"
#include "live/http/represent.h"
#include "match/gang/gang_why.h"
#include "pool/protocol/wait_reason.h"

#include <string.h>

#define GANG_ASK_NODES 20000   /* candidates that are tried for one question: the loop is blocked meanwhile */
#define GANG_ASK_STEPS 1000000 /* steps of evaluation, likewise */

/* Moves offers with ports to the end. */
static void offers_part(struct gang_question *question)
{
    uint32_t plain = 0;

    for (uint32_t i = 0; i < question->count; i++) {
        struct tree *offer = question->offers[i];
        char *id = question->ids[i];

        if (gang_why_ported(offer))
            continue;
        question->offers[i] = question->offers[plain];
        question->ids[i] = question->ids[plain];
        question->offers[plain] = offer;
        question->ids[plain++] = id;
    }
}

bool gang_is_asked(const struct request *request, struct gang_question *question)
{
    struct policy policy;
    bool plain;

    policy_init(&policy, request_matchmakerd(request)->policy, NULL, NULL);
    plain = gang_why_plain(&question->env, question->scratch, &policy, question->ad, question->offers, question->count,
                           &question->ported);
    policy_done(&policy);
    if (plain && question->ported && question->ids)
        offers_part(question);
    return !plain;
}

static void offer_name(void *user, size_t place, struct buf *out)
{
    const struct gang_question *question = user;

    buf_adds(out, question->ids[place]);
}

/* Why a gang waits: would it form if nothing were in use? */
static enum wait_reason gang_first(const struct gang_question *question, const struct policy *policy,
                                   const struct gang_why *now)
{
    enum wait_reason first = WAIT_FORMS;
    struct gang_why idle;

    if (now->outcome == GANG_FORMED)
        return WAIT_SOON;
    if (now->outcome == GANG_GAVE_UP)
        return WAIT_GAVEUP;
    if (question->wholes &&
        gang_why_explain(
            &idle, &question->env, question->scratch, policy, question->ad, question->wholes, question->whole_count,
            &(struct gang_why_terms){GANG_ASK_NODES, GANG_ASK_STEPS, question->whole_hidden, ad_masked}, NULL) == 0) {
        first = idle.outcome == GANG_FORMED ? WAIT_BUSY : WAIT_FORMS;
        gang_why_done(&idle);
    }
    return first;
}

static const char gang_busy[] = "waits for free machines: its gang would form if nothing of them were in use";

static void gang_print(struct buf *out, const struct gang_question *question, const struct gang_why *why,
                       enum wait_reason first, bool json)
{
    struct why_names names = {.request = question->name, .offer = offer_name, .user = (void *)(uintptr_t)question};

    if (json)
        gang_why_print_json(out, why, &names);
    else if (first == WAIT_BUSY)
        buf_addf(out, "%s: %s.\n", question->name, gang_busy);
    else
        gang_why_print(out, why, &names);
}

static void gang_explain(struct request *request, struct gang_question *question, const struct policy *policy)
{
    bool json = request->form == FORM_JSON;
    enum wait_reason first;
    struct gang_why why;
    struct err err = {0};
    struct buf out;

    if (gang_why_explain(
            &why, &question->env, question->scratch, policy, question->ad, question->offers, question->count,
            &(struct gang_why_terms){GANG_ASK_NODES, GANG_ASK_STEPS, question->hidden, ad_masked}, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return;
    }
    buf_init(&out);
    first = gang_first(question, policy, &why);
    gang_print(&out, question, &why, first, json);
    explanation_end(request, question->is_held ? question->name : NULL,
                    first == WAIT_BUSY && !json ? 0 : question->taken, NULL, &out);
    if (json)
        explanation_add_reason(&out, first, first == WAIT_BUSY ? gang_busy : NULL);
    request_answer(request, 200, json ? TYPE_JSON : "text/plain; charset=utf-8", out.text, out.len, NULL, 0);
    gang_why_done(&why);
    buf_done(&out);
}

/* The gang that is found: a row for each member. */
struct gang_listing {
    const struct gang_question *question;
    struct symbols *symbols;
    struct listing listing;
    bool gave_up; /* whether there is a gang is not known */
};

static struct tree *member_ad(const struct gang_listing *all, const struct gang_member *member)
{
    return member->place ? all->question->offers[member->place - 1] : all->question->ad;
}

static const char *member_id(const struct gang_listing *all, const struct gang_member *member)
{
    return member->place ? all->question->ids[member->place - 1] : all->question->name;
}

static void member_add(struct gang_listing *all, const struct gang_member *members, uint32_t place)
{
    const struct gang_member *member = &members[place], *parent = &members[member->parent];
    struct maker maker;
    struct ports ports;
    struct tree *row;
    size_t len;

    maker_init(&maker, all->symbols);
    maker_text(&maker, "Id", member_id(all, member));
    maker_text(&maker, "At", member_id(all, parent));
    if (ports_read(&ports, member_ad(all, parent), NULL) == 0) {
        const char *label = port_label(&ports, member->port, &len);

        maker_bytes(&maker, "Label", label, len);
        ports_done(&ports);
    }
    row = maker_seal(&maker);
    listing_add(&all->listing, row);
    tree_unref(row);
}

static void gang_found(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct gang_listing *all = user;

    all->gave_up = all->gave_up || (outcome == GANG_GAVE_UP && !all->listing.count);
    for (uint32_t i = 1; outcome == GANG_FORMED && i < count && !all->listing.count; i++)
        for (uint32_t k = i; k < count; k++)
            member_add(all, members, k);
}

/* Nobody can dock at an offer whose ports are malformed: moves those to the end, and does not count them. */
static uint32_t offers_sift(struct gang_question *question)
{
    uint32_t good = 0;

    for (uint32_t i = 0; i < question->count; i++) {
        struct tree *offer = question->offers[i];
        char *id = question->ids[i];
        struct ports ports;

        if (ports_read(&ports, offer, NULL) < 0)
            continue;
        ports_done(&ports);
        question->offers[i] = question->offers[good];
        question->ids[i] = question->ids[good];
        question->offers[good] = offer;
        question->ids[good++] = id;
    }
    return good;
}

static void gang_list(struct request *request, struct gang_question *question, const struct policy *policy)
{
    struct gang_settings settings = {
        .algorithm = GANG_AUTO, .preferences = true, .nodes = GANG_ASK_NODES, .steps = GANG_ASK_STEPS};
    struct env env = question->env;
    struct http_field whole = {"Berth-Whole", "true"};
    uint64_t meter = 0;
    struct gang_listing all = {.question = question, .symbols = request_matchmakerd(request)->symbols};
    uint32_t count = offers_sift(question);
    struct tree **ads = arena_alloc(question->scratch, (count + 1) * sizeof *ads);
    struct err err = {0};
    struct ports ports;
    struct buf out;

    if (ports_read(&ports, question->ad, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return;
    }
    ports_done(&ports);
    ads[0] = question->ad;
    for (uint32_t i = 0; i < count; i++)
        ads[i + 1] = question->offers[i];
    buf_init(&out);
    listing_begin(&all.listing, &out, request->form);
    env.meter = &meter;
    gang_run(&env, question->scratch,
             &(struct gang_field){.policy = policy, .ads = ads, .request_count = 1, .offer_count = count}, &settings,
             gang_found, &all, NULL);
    listing_end(&all.listing);
    whole.value = all.gave_up ? "false" : "true";
    request_answer(request, 200, media_type(request->form, &dialect_classic), out.text, out.len, &whole, 1);
    buf_done(&out);
}

void gang_answer(struct request *request, struct gang_question *question)
{
    struct policy policy;

    policy_init(&policy, request_matchmakerd(request)->policy, NULL, NULL);
    if (question->why)
        gang_explain(request, question, &policy);
    else
        gang_list(request, question, &policy);
    policy_done(&policy);
}
