/* request.c: from the head of a request to its answer: which route, may it be made, what was sent, and the role's word on it.
 *
 * Nothing of a body is read before route and caller are settled. */
#include "live/matchmakerd/matchmakerd_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "live/http/guard.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ----------------------------------------------------------------------------------------------- parts of the request */

const char *request_variable(const struct request *request, int place)
{
    return request->match.variables[place];
}

const char *request_query(const struct request *request, const char *name)
{
    return exchange_query(request->exchange, name);
}

bool request_flag(const struct request *request, const char *name)
{
    const char *value = request_query(request, name);

    return value && (!*value || !strcmp(value, "true") || !strcmp(value, "1"));
}

bool request_number(struct request *request, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                    uint64_t *ret)
{
    struct err err = {0};

    if (query_number(request->exchange, name, low, high, fallback, ret, &err) == 0)
        return true;
    request_problem(request, 400, "%s", err.text);
    return false;
}

bool select_checked(struct request *request)
{
    struct err err = {0};
    const char *select;

    if (query_select(request->exchange, &select, &err) == 0)
        return true;
    request_problem(request, 400, "%s", err.text);
    return false;
}

static struct tree *body_resource(struct request *request, enum grdl_form form)
{
    const struct matchmakerd *matchmakerd = request->matchmakerd;
    struct form_limits limits = query_limits(&matchmakerd->config);
    struct err err = {0};
    size_t len;
    const char *body = exchange_body(request->exchange, &len);
    struct tree *ad = resource_read(matchmakerd->symbols, form, &limits, body, len, &err);

    if (!ad && err.line)
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
    else if (!ad)
        request_problem(request, 400, "%s", err.text);
    return ad;
}

struct tree *request_body_ad(struct request *request)
{
    const struct matchmakerd *matchmakerd = request->matchmakerd;
    struct err err = {0};
    unsigned status;
    enum grdl_form form = request->route->body == BODY_RESOURCE
                              ? resource_media(exchange_field(request->exchange, "Content-Type"))
                              : GRDL_FORM_UNKNOWN;
    struct tree *ad;

    if (form != GRDL_FORM_UNKNOWN)
        return body_resource(request, form);
    ad = query_body(request->exchange, matchmakerd->symbols, &matchmakerd->config, &status, &err);
    if (!ad)
        request_problem(request, status, "%s", err.text);
    return ad;
}

/* Is the name among the words? If not, the nearest of them is found. */
static bool name_is_among(const char *names, const char *name, size_t len, char ret_nearest[64])
{
    static const size_t room = 64;
    struct nearest nearest;
    char words[16][64];
    int count = 0;

    nearest_init(&nearest, name, len);
    while (*names && count < 16) {
        size_t word = strcspn(names, " ");

        if (word == len && strncasecmp(names, name, len) == 0)
            return true;
        snprintf(words[count], room, "%.*s", (int)word, names);
        nearest_try(&nearest, words[count++]);
        names += word + (names[word] == ' ');
    }
    snprintf(ret_nearest, room, "%s", nearest.name ? nearest.name : "");
    return false;
}

struct tree *request_body_of(struct request *request, const char *names)
{
    struct tree *ad = request_body_ad(request);

    if (!ad)
        return NULL;
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++) {
        char nearest[64];
        size_t len;
        const char *name = symbols_text(ad->symbols, tree_parts(ad, tree_root(ad))[i].label, &len);

        if (name_is_among(names, name, len, nearest))
            continue;
        if (*nearest)
            request_problem(request, 400, "%.60s: there is no such attribute here; did you mean %s?", name, nearest);
        else
            request_problem(request, 400, "%.60s: there is no such attribute here; there are %s", name, names);
        tree_unref(ad);
        return NULL;
    }
    return ad;
}

bool body_text(struct request *request, const struct tree *ad, const char *name, const char *fallback, char *out,
               size_t room)
{
    const char *text = fallback;
    size_t len = fallback ? strlen(fallback) : 0;

    if (ad_find(ad, name) && !ad_string(ad, name, &text, &len))
        text = NULL;
    if (!text || len >= room || memchr(text, 0, len)) {
        request_problem(request, 400, "%s: a text of up to %zu bytes is expected", name, room - 1);
        return false;
    }
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

bool body_key(struct request *request, const struct tree *ad, const char *name, struct public_key *ret)
{
    const char *text;
    size_t len;

    if (ad_string(ad, name, &text, &len) && hex_read(text, len, ret->bytes, PUBLIC_KEY_BYTES))
        return true;
    request_problem(request, 400, "%s: %d hexadecimal digits are expected", name, 2 * PUBLIC_KEY_BYTES);
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- role */

bool request_ask(struct request *request, const struct peer *peer, const struct message *message)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;

    message_done(&matchmakerd->reply);
    matchmakerd->replied = false;
    runner_event(matchmakerd->runner,
                 &(struct event){.kind = EVENT_MESSAGE, .token = request->number, .peer = peer, .message = message});
    if (!matchmakerd->replied)
        request_problem(request, 503, "the store has failed, and nothing is taken any more");
    return matchmakerd->replied;
}

struct pending_commit {
    struct matchmakerd *matchmakerd;
    struct request *request; /* NULL: it has gone */
    void (*then)(struct request *request);
};

static void commit_forget(struct request *request)
{
    ((struct pending_commit *)request->work)->request = NULL;
}

static void commit_done(void *user, bool durable)
{
    struct pending_commit *commit = user;
    struct request *request = commit->request;

    if (request) {
        request->work = NULL;
        request->forget = NULL;
        if (durable)
            commit->then(request);
    }
    free(commit);
}

void request_store_failed(struct request *request, const char *why)
{
    request_problem(request, 503, "%s", why);
    runner_commit(request->matchmakerd->runner, NULL, NULL); /* which fails too, and all comes to an end */
}

bool request_row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len)
{
    struct shelf *shelf = request->matchmakerd->shelf;
    struct err err;

    if (shelf->kind->put(shelf, space, key, key_len, value, len, &err) == 0)
        return true;
    request_store_failed(request, err.text);
    return false;
}

static void answer_now(struct request *request)
{
    struct tree *ad = request->answer;
    const struct http_field fields[] = {{"ETag", request->answer_etag}};

    request->answer = NULL;
    if (ad) {
        request_ad(request, request->answer_status, ad, fields, *request->answer_etag ? 1 : 0);
        tree_unref(ad);
    } else {
        request_done(request);
    }
}

void request_answer_durable(struct request *request, unsigned status, struct tree *ad)
{
    request->answer = ad;
    request->answer_status = status;
    request_commit(request, answer_now);
}

void request_commit(struct request *request, void (*then)(struct request *request))
{
    struct pending_commit *commit = mem_alloc(sizeof *commit);

    *commit = (struct pending_commit){request->matchmakerd, request, then};
    request->work = commit;
    request->forget = commit_forget;
    runner_commit(request->matchmakerd->runner, commit_done, commit);
}

/* ------------------------------------------------------------------------------------------------------------- stages */

/* A body that is declared too long is not read: the limit that it is past is named. False when it was answered. */
static bool body_fits(struct request *request, size_t most)
{
    if (!query_body_is_long(request->exchange, most))
        return true;
    request_problem(request, 413, "%s: a body of up to %zu bytes is read",
                    request->route->body == BODY_NONE ? "no body is expected"
                    : request->route->large           ? "SubmissionMax"
                                                      : "BodyMax",
                    most);
    return false;
}

static void request_begin(void *user, struct exchange *exchange)
{
    struct matchmakerd *matchmakerd = user;
    struct request *request = mem_alloc(sizeof *request);
    enum route_result found;
    size_t most;

    *request = (struct request){.matchmakerd = matchmakerd,
                                .exchange = exchange,
                                .number = ++matchmakerd->requests,
                                .began = runner_now(),
                                .caller = {.identity = CALLERS_NONE}};
    exchange_set_data(exchange, request);
    found = route_find(exchange_method(exchange), exchange_raw_path(exchange), &request->match);
    request->route = found == ROUTE_FOUND ? request->match.route : NULL;
    if (found == ROUTE_NOT_THERE) {
        request_problem(request, 404, "there is nothing here; /openapi.json lists what there is");
    } else if (found == ROUTE_OTHER_METHOD) {
        request_problem_with(request, 405, "this method is not for this path", "Allow", request->match.allow);
    } else if (!host_is_known(request)) {
        request_problem(request, 400, "Host: this service is not called so");
    } else if (!origin_is_ours(request)) {
        request_problem(request, 403, "Origin: pages of other sites are not served");
    } else if (!media_accept(exchange_field(exchange, "Accept"), request->route->types, &request->form)) {
        request_problem(request, 406, "this is given as %s",
                        *request->route->types ? request->route->types : "nothing");
    } else if (request_admitted(request, request->began)) {
        request->resource = resource_accept(exchange_field(exchange, "Accept"), request->route->types);
        most = request->route->body == BODY_NONE
                   ? 0
                   : config_size(&matchmakerd->config, request->route->large ? CONFIG_SUBMISSION_MAX : CONFIG_BODY_MAX);
        if (body_fits(request, most) && request_counted(request)) {
            exchange_accept(exchange, most, request->caller.identity != CALLERS_NONE);
            return;
        }
    }
}

static void request_run(void *user, struct exchange *exchange)
{
    struct request *request = exchange_data(exchange);
    const struct matchmakerd *matchmakerd = user;

    if (matchmakerd->stopping || runner_is_broken(matchmakerd->runner))
        request_problem(request, 503, matchmakerd->stopping ? "the service is going down" : "the store has failed");
    else
        request->route->handle(request);
}

static void request_over(void *user, struct exchange *exchange)
{
    struct matchmakerd *matchmakerd = user;
    struct request *request = exchange_data(exchange);
    size_t route = request && request->route ? (size_t)(request->route - routes) : route_count;
    int64_t took;

    if (!request)
        return;
    exchange_set_data(exchange, NULL);
    took = runner_now() - request->began;
    if (request->forget)
        request->forget(request);
    tree_unref(request->answer);
    metrics_add(matchmakerd->metrics, METRIC_HTTP_REQUESTS, route, request->status ? request->status / 100 - 1 : 4, 1);
    metrics_observe(matchmakerd->metrics, METRIC_HTTP_SECONDS, route, took);
    LOG(&matchmakerd->log, LEVEL_DEBUG, "request", log_word("request", request->number),
        log_text("route", request->route ? request->route->id : NULL), log_text("subject", request_identity(request)),
        log_number("status", request->status), log_number("us", took));
    request_uncount(request);
    free(request);
}

/* The place of a refusal's words among those of the guard; behind them all for others (limits, deadlines). */
static size_t guard_place(const char *why)
{
    size_t i = 0;

    while (i < GUARD_REASON_COUNT && strcmp(guard_words((enum guard_reason)i), why) != 0)
        i++;
    return i;
}

static void request_refused(void *user, const char *why, const struct sockaddr *from)
{
    struct matchmakerd *matchmakerd = user;
    char address[ADDRESS_TEXT_MAX];

    metrics_add(matchmakerd->metrics, METRIC_GUARD_REFUSALS, guard_place(why), 0, 1);
    LOG(&matchmakerd->log, LEVEL_INFO, "refused", log_text("why", why),
        log_text("from", from ? address_print(from, address) : NULL));
}

const struct server_handler matchmakerd_handler = {
    .begin = request_begin,
    .handle = request_run,
    .over = request_over,
    .refused = request_refused,
};
