/* api_customers.c: passes requests on to a person's customer, for those who cannot call it themselves, browsers above all.
 *
 *     the page  GET /v1/desk/AGENT/jobs  -->  the matchmaker  GET CONTACT/v1/jobs, by a token with the caller's name  -->  the customer
 *
 * The token is for that agent alone, has no right that the caller lacks, and lasts for a minute. With it goes the group that an institute has put the caller into. The customer gets the jobs and files that
 * a person sends to it: so nobody is led to a customer that is neither their own nor has the scope to serve others. Its answer comes from a
 * stranger: it gets one of a few types, and browsers are told not to guess another. */
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/desks.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CUSTOMERD_SPAN 60                     /* seconds that the token is good for */
#define CUSTOMERD_WAIT (40 * SECOND)          /* time for an answer: customers may wait half a minute for news */
#define CUSTOMERD_BYTES_MAX ((size_t)8 << 20) /* of an answer; longer files are asked for in parts */
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_BYTES "application/octet-stream"
#define CUSTOMERD_SCOPES (SCOPE_JOB_SUBMIT | SCOPE_OWN_JOBS | SCOPE_JOB_ANY)

/* Parameters that are passed on: those of customerd_routes. */
static const char *const handed_on[] = {"constraint", "select", "limit", "cursor", "ids", "offset", "size",
                                        "wait",       "key",    "force", "after",  "out", "err",    "order"};

static bool is_desk(const struct agent_row *row)
{
    return row->handle && row->role && !strcmp(row->role, "customer") && row->contact_state == CONTACT_GOOD;
}

bool desk_is_for(const struct request *request, const struct agent_row *row)
{
    return is_desk(row) &&
           (row->serves || identity_owns(caller_text(&request_matchmakerd(request)->gate.callers, row->identity),
                                         request_identity(request)));
}

static bool customers_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    const struct agent_row *row;
    struct maker maker;

    if (scan->from >= matchmakerd->agents.texts.places)
        return false;
    row = &matchmakerd->agents.items[scan->from++];
    if (!desk_is_for(scan->request, row))
        return true;
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Desk");
    maker_word(&maker, "Agent", row->handle);
    maker_text(&maker, "Identity", caller_text(&matchmakerd->gate.callers, row->identity));
    maker_text(&maker, "Name", row->name);
    return collection_add(collection, maker_seal(&maker));
}

void api_desks_list(struct request *request)
{
    collection_tour(request, customers_step);
}

/* ---------------------------------------------------------------------------------------------------------- handing on */

struct errand {
    struct request *request; /* NULL: the request has gone */
    uint64_t call;
};

static const char bytes_type[] = TYPE_BYTES;

/* The answer's type as we name it: no other type that a customer claims is believed. */
static const char *answer_type(const char *type)
{
    static const char *const types[] = {TYPE_CLASSAD, TYPE_JSON, TYPE_PROBLEM, TYPE_TEXT};

    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strncasecmp(type, types[i], strcspn(types[i], ";")) && strchr("; ", type[strcspn(types[i], ";")]))
            return types[i];
    return bytes_type;
}

static void errand_done(void *user, const struct http_outcome *outcome)
{
    struct errand *errand = user;
    struct request *request = errand->request;
    struct http_field fields[6] = {{"X-Content-Type-Options", "nosniff"},
                                   {"Content-Security-Policy", "default-src 'none'; sandbox"}};
    size_t count = 2;

    free(errand);
    request->work = NULL;
    request->forget = NULL;
    if (outcome->result != CALL_ANSWERED) {
        request_problem(request, outcome->result == CALL_UNKNOWN ? 504 : 503, "the customer did not answer: %.200s",
                        outcome->error ? outcome->error : call_result_name(outcome->result));
        return;
    }
    if (outcome->status == 401 || outcome->status / 100 == 3 || outcome->status > 599) {
        request_problem(request, 503,
                        "the customer answered with %u: it does not know us, or wants to send us elsewhere",
                        outcome->status);
        return;
    }
    if (outcome->cursor)
        fields[count++] = (struct http_field){"Berth-Cursor", outcome->cursor};
    if (outcome->size)
        fields[count++] = (struct http_field){"Berth-Size", outcome->size};
    if (outcome->whole)
        fields[count++] = (struct http_field){"Berth-Whole", outcome->whole};
    if (answer_type(outcome->type) == bytes_type) /* what a job has written is never shown as a page of ours */
        fields[count++] = (struct http_field){"Content-Disposition", "attachment"};
    request_answer(request, outcome->status, answer_type(outcome->type), outcome->body, outcome->len, fields, count);
}

static void errand_forget(struct request *request)
{
    struct errand *errand = request->work;

    client_cancel(request_matchmakerd(request)->client, errand->call);
    request->work = NULL;
    request->forget = NULL;
    free(errand);
}

/* Prints path and parameters as the customer reads them. */
static void target_print(const struct request *request, struct buf *out)
{
    const char *mark = "?", *path = strchr(exchange_raw_path(request->exchange) + strlen("/v1/desk/"), '/');

    buf_addf(out, "/v1%s", path ? path : "");
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++) {
        const char *value = exchange_query(request->exchange, handed_on[i]);

        if (!value)
            continue;
        buf_addf(out, "%s%s=", mark, handed_on[i]);
        url_value(out, value);
        mark = "&";
    }
}

bool desk_token_print(const struct request *request, const struct agent_row *row, struct buf *out)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char audience[TOKEN_NAME_MAX + 1];
    int64_t now = runner_wall() / SECOND;
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = request_identity(request),
                                .audience = audience,
                                .scope = request->caller.scope & CUSTOMERD_SCOPES,
                                .issued = now,
                                .expires = now + CUSTOMERD_SPAN};
    struct err err;

    token_agent_audience(keyring_pool(matchmakerd->keys), row->handle, audience);
    return token_sign(out, keyring_current(matchmakerd->keys), &terms, NULL, &err) == 0;
}

/* The group that an institute has put the caller into, as the customer is told it: a name that cannot be a group's is as good as none. False: nothing is said. */
static bool group_print(const struct request *request, char ret[TOKEN_GROUP_MAX + 1])
{
    int grouped = caller_group(request, ret);

    if (grouped < 0 || ret[strspn(ret, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")])
        *ret = '\0';
    return grouped != 0;
}

void api_desk(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    unsigned char bytes[8];
    uint32_t place = hex_read(name, strlen(name), bytes, sizeof bytes)
                         ? agents_find(&matchmakerd->agents, id_number(name, 16))
                         : TEXTMAP_NONE;
    char group[TOKEN_GROUP_MAX + 1] = "";
    const char *trace = exchange_field(request->exchange, TRACE_FIELD);
    struct http_field fields[2];
    size_t field_count = 0;
    struct errand *errand;
    struct buf target, token;

    if (place == TEXTMAP_NONE || !desk_is_for(request, &matchmakerd->agents.items[place])) {
        request_problem(request, 404,
                        "there is no such customer of yours, nor one that serves others, that can be called");
        return;
    }
    if (group_print(request, group))
        fields[field_count++] = (struct http_field){GROUP_FIELD, group};
    if (trace)
        fields[field_count++] = (struct http_field){TRACE_FIELD, trace};
    buf_init(&target);
    buf_init(&token);
    target_print(request, &target);
    if (!desk_token_print(request, &matchmakerd->agents.items[place], &token)) {
        request_problem(request, 500, "no token could be made");
    } else {
        struct http_call call = {.method = method_name(exchange_method(request->exchange)),
                                 .token = buf_string(&token),
                                 .type = exchange_field(request->exchange, "Content-Type"),
                                 .accept = exchange_field(request->exchange, "Accept"),
                                 .fields = fields,
                                 .field_count = field_count,
                                 .timeout = CUSTOMERD_WAIT,
                                 .bytes_max = CUSTOMERD_BYTES_MAX};

        call.body = exchange_method(request->exchange) != HTTP_GET ? exchange_body(request->exchange, &call.len) : NULL;
        errand = mem_alloc(sizeof *errand);
        *errand = (struct errand){.request = request};
        request->work = errand;
        request->forget = errand_forget;
        errand->call = contact_send(matchmakerd, &matchmakerd->agents.items[place], buf_string(&target), &call,
                                    errand_done, errand);
    }
    buf_wipe(&token);
    buf_done(&token);
    buf_done(&target);
}
