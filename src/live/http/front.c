/* front.c: from the head of a request to its handler: which route, which caller, whether it may, how long a body; and the metrics. */
#include "live/http/request.h"

#include "lang/base/mem.h"
#include "live/config/address.h"
#include "live/http/guard.h"
#include "live/http/query.h"
#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void front_init(struct front *front, const struct front_settings *settings)
{
    bool turns = false;

    *front = (struct front){.settings = *settings};
    for (size_t i = 0; i < settings->part_count; i++) {
        front->tables[i] = settings->parts[i].table;
        turns = turns || settings->parts[i].turns;
    }
    if (turns && settings->loop)
        front->queues = queues_new(settings->loop, front_serve);
    buf_init(&front->out);
}

void front_done(struct front *front)
{
    if (!front)
        return;
    queues_free(front->queues);
    front->queues = NULL;
    buf_done(&front->out);
}

const char *request_identity(const struct request *request)
{
    return gate_name(request->part->gate, &request->caller);
}

bool front_is_busy(const struct front *front)
{
    return front && !queues_are_empty(front->queues);
}

bool front_goes_on(const struct front *front)
{
    return front && queues_go_on(front->queues);
}

/* ---------------------------------------------------------------------------------------------------------- admission */

static void audit_refusal(const struct request *request, unsigned status, const char *why)
{
    char from[ADDRESS_TEXT_MAX];

    LOG_AUDIT(request->front->settings.log, "refused", log_word("request", request->number),
              log_text("route", request->route ? request->route->id : NULL), log_number("status", status),
              log_text("subject", request_identity(request)),
              log_text("from", address_print(exchange_from(request->exchange), from)), log_text("why", why));
}

/* A renewal without text has a pace of its own, so that heart beats get through when other requests are too many. */
static enum caller_pace request_pace(const struct request *request)
{
    const char *len = exchange_field(request->exchange, "Content-Length");

    if (request->route->flags & ROUTE_RENEWAL && (!len || !strcmp(len, "0")))
        return PACE_BEAT;
    return request->part->gate->settings.people_are_agents || request->caller.scope & (SCOPE_AD_WRITE | SCOPE_CLAIM)
               ? PACE_AGENT
               : PACE_PERSON;
}

static bool request_paced(struct request *request, int64_t now)
{
    enum caller_pace pace = request_pace(request);
    char seconds[24];
    int64_t wait;

    if (gate_may(request->part->gate, &request->caller, pace, now, &wait))
        return true;
    snprintf(seconds, sizeof seconds, "%lld", (long long)(wait / SECOND + 1));
    request_problem_with(request, 429,
                         pace == PACE_PERSON ? "RequestsPerSecond: too many requests a second"
                                             : "AgentRequestsPerSecond: too many requests a second",
                         "Retry-After", seconds);
    return false;
}

/* The log gets the reason; a caller with a bad token does not: it would tell a thief what to mend. */
static void request_refuse(struct request *request, unsigned status, const char *why)
{
    struct buf words;

    audit_refusal(request, status, why);
    buf_init(&words);
    buf_adds(&words, why);
    if (status == 403 && request->caller.identity != CALLERS_NONE && !(request->caller.scope & request->route->scope)) {
        buf_adds(&words, ": ");
        scopes_print(&words, request->route->scope);
    }
    if (status == 503)
        request_problem_with(request, status, buf_string(&words), "Retry-After", LOOKUPS_AGAIN);
    else
        request_problem(request, status, "%s",
                        status == 401 && strcmp(why, GATE_NO_INSTITUTE) != 0 ? "a good token is needed"
                                                                             : buf_string(&words));
    buf_done(&words);
}

static void request_decide(struct request *request, bool late);

/* Is the route open to all, or does the caller have the scope and keep its pace? False when it was answered, or has to wait: until it is known who
 * calls, unless it is `late` for that. */
static bool request_admitted(struct request *request, bool late)
{
    const struct route *route = request->route;
    const struct config *config = request->part->config;
    bool open =
        route->scope == SCOPE_NONE || (route->flags & ROUTE_NEAR && config && config_flag(config, CONFIG_METRICS) &&
                                       address_sort(exchange_from(request->exchange)) == ADDRESS_LOOPBACK);
    const char *why = NULL;
    int64_t now = clock_now();
    bool waits = !late && request->front->settings.loop;
    unsigned status = gate_caller(request->part->gate, request->exchange, now, !waits, &request->caller, &why);

    if (waits && (request->caller.proves || (request->caller.later && !open))) {
        lookups_add(&request->front->lookups, request->front->settings.loop, request_decide, request);
        return false;
    }
    if (open) {
        if (status)
            request->caller = (struct caller){.identity = CALLERS_NONE};
        return true;
    }
    if (!status && !(request->caller.scope & route->scope)) {
        status = 403;
        why = "the token does not have the scope that this needs";
    }
    if (status) {
        request_refuse(request, status, why);
        return false;
    }
    return request_paced(request, now);
}

/* Counts the request: what is under way is bounded, in all and for each account. False when it was answered. */
static bool request_counted(struct request *request)
{
    const char *len = exchange_field(request->exchange, "Content-Length"), *why;
    unsigned status;

    if (request->caller.identity == CALLERS_NONE)
        return true;
    request->body = len ? strtoull(len, NULL, 10) : 0;
    status = gate_enter(request->part->gate, &request->caller, request->body, &why);
    if (status)
        request_problem(request, status, "%s", why);
    request->counted = !status;
    return !status;
}

/* ------------------------------------------------------------------------------------------------------------- stages */

/* Never more than an account may have under way: it would be told to come again for ever. */
static size_t submission_most(const struct request *request)
{
    uint64_t most = config_size(request->part->config, CONFIG_SUBMISSION_MAX),
             under_way = request->part->gate->settings.bodies_account;

    return most < under_way ? most : under_way;
}

static size_t body_most(const struct request *request)
{
    const struct route *route = request->route;

    if (route->body == BODY_NONE)
        return 0;
    if (route->body_max == ROUTE_BODY)
        return config_size(request->part->config, CONFIG_BODY_MAX);
    if (route->body_max == ROUTE_SUBMISSION)
        return submission_most(request);
    return route->body_max;
}

/* A body that is declared too long is not read, and the answer names the limit. False when it was answered. */
static bool body_fits(struct request *request, size_t most)
{
    const struct route *route = request->route;

    if (!query_body_is_long(request->exchange, most))
        return true;
    request_problem(request, 413, "%s: a body of up to %zu bytes is read",
                    route->body == BODY_NONE              ? "no body is expected"
                    : route->body_max == ROUTE_BODY       ? "BodyMax"
                    : route->body_max == ROUTE_SUBMISSION ? "SubmissionMax"
                                                          : route->id,
                    most);
    return false;
}

/* Is there memory for what it brings? False when it was answered. */
static bool memory_suffices(struct request *request)
{
    struct memory_watch *memory = request->front->settings.memory;

    if (!(request->route->flags & ROUTE_GROWS) || !memory || !memory_refuses(memory, clock_now()))
        return true;
    request_problem_with(request, 503, MEMORY_WORDS, "Retry-After", MEMORY_AGAIN);
    return false;
}

/* May it be, and how long a body? */
static void request_decide(struct request *request, bool late)
{
    struct exchange *exchange = request->exchange;
    size_t most;

    if (exchange_is_answered(exchange) || !request_admitted(request, late))
        return;
    request->resource = resource_accept(exchange_field(exchange, "Accept"), request->route->types);
    most = body_most(request);
    if (body_fits(request, most) && memory_suffices(request) && request_counted(request))
        exchange_accept(exchange, most, request->caller.identity != CALLERS_NONE);
}

static void request_begin(void *user, struct exchange *exchange)
{
    struct front *front = user;
    struct request *request = mem_alloc(sizeof *request);
    enum route_result found;

    *request = (struct request){.front = front,
                                .part = front->settings.parts,
                                .exchange = exchange,
                                .number = ++front->requests,
                                .began = clock_now(),
                                .caller = {.identity = CALLERS_NONE}};
    exchange_set_data(exchange, request);
    found = route_find(front->tables, front->settings.part_count, exchange_method(exchange),
                       exchange_raw_path(exchange), &request->match);
    if (found == ROUTE_FOUND) {
        request->route = request->match.route;
        request->part = &front->settings.parts[request->match.table];
    }
    if (front->settings.parts->elsewhere && gate_host_is_known(request->part->gate, exchange) &&
        front->settings.parts->elsewhere(request))
        return;
    if (found == ROUTE_NOT_THERE) {
        request_problem(request, 404, "there is nothing here; /openapi.json lists what there is");
    } else if (found == ROUTE_OTHER_METHOD) {
        request_problem_with(request, 405, "this method is not for this path", "Allow", request->match.allow);
    } else if (!gate_host_is_known(request->part->gate, exchange)) {
        request_problem(request, 400, "Host: this service does not have that name");
    } else if (!gate_origin_is_ours(exchange)) {
        request_problem(request, 403, "Origin: pages of other sites are not served");
    } else if (!media_accept(exchange_field(exchange, "Accept"), request->route->types, &request->form)) {
        request_problem(request, 406, "this is given as %s",
                        *request->route->types ? request->route->types : "nothing");
    } else {
        request_decide(request, false);
    }
}

void front_step(struct request *request, void (*step)(struct request *request))
{
    const struct front_part *part = request->part;

    if (part->misread)
        part->misread(part->daemon); /* by somebody else, whom it does not matter to any more */
    step(request);
    if (part->misread && part->misread(part->daemon))
        request->misread = true;
}

void front_serve(struct request *request)
{
    const struct front_part *part = request->part;
    const char *why = part->unready ? part->unready(part->daemon) : NULL;
    unsigned status;

    if (why)
        request_problem(request, 503, "%s", why);
    else if (request->route->flags & ROUTE_AUDITED && part->unwritable && (why = part->unwritable(part->daemon)))
        request_problem_with(request, 503, why, "Retry-After", STORE_AWAY_AGAIN);
    else if ((status = gate_shuts_out(part->gate, &request->caller, &why))) /* while the body came */
        request_refuse(request, status, why);
    else
        front_step(request, request->route->handle);
}

static void request_run(void *user, struct exchange *exchange)
{
    struct request *request = exchange_data(exchange);

    (void)user;
    request_ready(request);
}

static void waiting_remove(struct request *request)
{
    struct request **link = &request->front->waiting;

    while (*link && *link != request)
        link = &(*link)->next;
    if (*link)
        *link = request->next;
}

/* Counts by the routes of all parts, one part's behind the other's; what found no route is counted with what has no place. */
static void request_measure(const struct request *request, int64_t took)
{
    const struct front *front = request->front;
    struct metrics *metrics = front->settings.metrics;
    size_t route = SIZE_MAX;

    if (request->route) {
        route = (size_t)(request->route - request->part->table->routes);
        for (const struct front_part *part = front->settings.parts; part < request->part; part++)
            route += part->table->count;
    }
    metrics_add(metrics, METRIC_HTTP_REQUESTS, route, request->status ? request->status / 100 - 1 : 4, 1);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, route, took);
}

static void request_over(void *user, struct exchange *exchange)
{
    struct request *request = exchange_data(exchange);
    const struct front *front;
    char trace[JOB_TRACE_ID_LEN + 1] = "";
    struct job_trace said;
    int64_t took;

    (void)user;
    if (!request)
        return;
    front = request->front; /* its server may be another front's by now */
    if (log_wants(front->settings.log, LEVEL_DEBUG) && request_trace(request, &said))
        job_trace_id_write(&said, trace);
    exchange_set_data(exchange, NULL);
    took = clock_now() - request->began;
    if (request->waits)
        waiting_remove(request);
    lookups_remove(request);
    queues_remove(front->queues, request);
    if (request->forget)
        request->forget(request);
    tree_unref(request->answer);
    request_measure(request, took);
    LOG(front->settings.log, LEVEL_DEBUG, "request", log_word("request", request->number),
        log_text("route", request->route ? request->route->id : NULL), log_text("subject", request_identity(request)),
        log_number("status", request->status), log_number("us", took), log_text("trace", *trace ? trace : NULL));
    if (request->counted)
        gate_leave(request->part->gate, &request->caller, request->body);
    free(request);
}

/* The place of a refusal's words among those of the guard; the place behind them is for others (limits, deadlines). */
static size_t guard_place(const char *why)
{
    size_t i = 0;

    while (i < GUARD_REASON_COUNT && strcmp(guard_words((enum guard_reason)i), why) != 0)
        i++;
    return i;
}

static void request_refused(void *user, const char *why, const struct sockaddr *from)
{
    const struct front *front = user;
    char address[ADDRESS_TEXT_MAX];

    metrics_add(front->settings.metrics, METRIC_GUARD_REFUSALS, guard_place(why), 0, 1);
    LOG(front->settings.log, LEVEL_INFO, "refused", log_text("why", why),
        log_text("from", from ? address_print(from, address) : NULL));
}

const struct server_handler front_handler = {
    .begin = request_begin,
    .handle = request_run,
    .over = request_over,
    .refused = request_refused,
};

/* ------------------------------------------------------------------------------------------- rows that many tables have */

void front_openapi(struct request *request)
{
    struct front *front = request->front;

    buf_reset(&front->out);
    openapi_print(&front->out, front->tables, front->settings.part_count,
                  front->settings.version ? front->settings.version : "");
    request_answer(request, 200, TYPE_JSON, front->out.text, front->out.len, NULL, 0);
}

void front_health(struct request *request)
{
    request_words(request, 200, "ok\n");
}
