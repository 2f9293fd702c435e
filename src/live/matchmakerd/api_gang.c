/* api_gang.c: which gang a request with ports would get from the ads as they are, or why none. Nothing is consumed. */
#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/gang_waits.h"
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
    char *const *ids = user;

    buf_adds(out, ids[place]);
}

/* What is known of a gang that is explained. */
struct gang_known {
    struct gang_why now, idle; /* by what may be had now; and if nothing were in use */
    bool has_idle;
    struct waits place; /* its turn, and the claims of it that are expected */
    enum wait_reason first;
    const struct port_said *unfilled; /* the port that nobody can fill; NULL: there is none */
};

/* Why a gang waits: would it form if nothing were in use? If not, is there a port that nobody can fill, whoever docks at the others? */
static void gang_first(const struct gang_question *question, const struct policy *policy, struct gang_known *known)
{
    known->first = WAIT_FORMS;
    if (known->place.claiming > 0 && !known->place.left) {
        known->first = WAIT_CLAIMING;
    } else if (known->now.outcome == GANG_FORMED) {
        known->first = known->place.window ? WAIT_WINDOW : known->place.ahead ? WAIT_SHARE : WAIT_SOON;
    } else if (known->now.outcome == GANG_GAVE_UP) {
        known->first = WAIT_GAVEUP;
    } else {
        known->has_idle = gang_why_explain(&known->idle, &question->env, question->scratch, policy, question->ad,
                                           question->wholes, question->whole_count,
                                           &(struct gang_why_terms){GANG_ASK_NODES, GANG_ASK_STEPS,
                                                                    question->whole_hidden, ad_masked, false},
                                           NULL) == 0;
        known->unfilled = gang_waits_unfilled(question->waits, &known->first);
        if (known->has_idle && known->idle.outcome == GANG_FORMED)
            known->first = gang_waits_idle(question->waits);
    }
}

static void gang_print(struct buf *out, const struct gang_question *question, const struct gang_known *known)
{
    struct why_names names = {.request = question->name, .offer = offer_name, .user = question->ids};
    struct why_names wholes = {.request = question->name, .offer = offer_name, .user = question->whole_ids};

    switch (known->first) {
    case WAIT_BUSY:
    case WAIT_PULL:
        buf_addf(out, "%s: %s.\n", question->name,
                 known->first == WAIT_BUSY ? GANG_WAITS_BUSY : "waits for machines that ask for jobs by themselves");
        gang_waits_print(out, question->waits, NULL);
        break;
    case WAIT_PORT:
    case WAIT_FORMS:
        if (!known->unfilled) {
            gang_why_print(out, known->has_idle ? &known->idle : &known->now, known->has_idle ? &wholes : &names);
            break;
        }
        buf_addf(out, "%s: ", question->name);
        port_said_print(out, known->unfilled, "its port");
        buf_adds(out, ".\n");
        gang_waits_print(out, question->waits, known->unfilled);
        if (known->first == WAIT_FORMS && known->has_idle)
            gang_why_print_ports(out, &known->idle, &wholes);
        break;
    case WAIT_CLAIMING:
        buf_addf(out, "%s: ", question->name);
        waits_print_reason(out, &known->place, known->first);
        buf_adds(out, ".\n");
        break;
    default:
        gang_why_print(out, &known->now, &names);
        waits_print_more(out, &known->place);
    }
}

/* Where it does not form even if nothing were in use, the machines are told of as if nothing were. */
static void gang_print_json(struct buf *out, const struct gang_question *question, const struct gang_known *known)
{
    bool idle = known->has_idle && known->idle.outcome != GANG_FORMED;
    struct why_names names = {
        .request = question->name, .offer = offer_name, .user = idle ? question->whole_ids : question->ids};

    gang_why_print_json(out, idle ? &known->idle : &known->now, &names);
}

/* The reasons, the first one first: that of the gang as a whole, and then those of its ports. */
static void gang_reasons_json(struct buf *out, const struct gang_question *question, const struct gang_known *known)
{
    struct buf text, more;

    buf_init(&text);
    buf_init(&more);
    if (known->first == WAIT_BUSY)
        buf_adds(&text, GANG_WAITS_BUSY);
    else if (known->first == WAIT_FORMS && known->unfilled)
        port_said_print(&text, known->unfilled, "its port");
    else if (known->first == WAIT_FORMS || known->first == WAIT_SOON || known->first == WAIT_GAVEUP)
        buf_addf(&text, "waits: %s", wait_says(known->first));
    else if (known->first != WAIT_PORT)
        waits_print_reason(&text, &known->place, known->first);
    if (known->now.outcome != GANG_FORMED)
        gang_waits_print_json(&more, question->waits, known->first != WAIT_PORT);
    explanation_add_reasons(out, known->first, &text, &more);
    buf_done(&text);
    buf_done(&more);
}

static void gang_explain(struct request *request, struct gang_question *question, const struct policy *policy)
{
    bool json = request->form == FORM_JSON;
    struct gang_known *known = arena_alloc(question->scratch, sizeof *known);
    struct err err = {0};
    struct buf out;

    *known = (struct gang_known){.has_idle = false};
    if (gang_why_explain(
            &known->now, &question->env, question->scratch, policy, question->ad, question->offers, question->count,
            &(struct gang_why_terms){GANG_ASK_NODES, GANG_ASK_STEPS, question->hidden, ad_masked, false}, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return;
    }
    waits_place(&known->place, request_matchmakerd(request), question->who, question->id);
    buf_init(&out);
    gang_first(question, policy, known);
    known->place.first = known->first;
    if (json)
        gang_print_json(&out, question, known);
    else
        gang_print(&out, question, known);
    explanation_end(request, question->who ? question->name : NULL, known->has_idle && !json ? 0 : question->taken,
                    NULL, &out);
    if (json)
        gang_reasons_json(&out, question, known);
    request_answer(request, 200, json ? TYPE_JSON : "text/plain; charset=utf-8", out.text, out.len, NULL, 0);
    gang_why_done(&known->now);
    if (known->has_idle)
        gang_why_done(&known->idle);
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
