/* customer_request.c: from the head of a request to the customer to its answer: which route, who calls, may they; and those that wait.
 *
 * On the Unix socket the user who runs the customer, and the superuser, may do everything. By TCP a token for this agent decides. */
#include "live/customerd/customerd_parts.h"

#include "lang/base/mem.h"
#include "live/http/query.h"
#include "live/http/represent.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- answers */

void visit_problem(struct visit *visit, unsigned status, const char *format, ...)
{
    char detail[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    LOG(&visit->customerd->daemon.log, LEVEL_INFO, "problem", log_text("route", visit->route ? visit->route->id : NULL),
        log_text("subject", visit->identity), log_number("status", status), log_text("detail", detail));
    exchange_problem(visit->exchange, status, detail);
}

void visit_answer(struct visit *visit, unsigned status, const char *type, const char *body, size_t len,
                  const struct http_field *fields, size_t field_count)
{
    exchange_answer(
        visit->exchange,
        &(struct http_answer){
            .status = status, .type = type, .body = body, .len = len, .fields = fields, .field_count = field_count});
}

void visit_list(struct visit *visit, const struct buf *rows, bool more, uint64_t cursor)
{
    struct query_rest rest;

    query_rest_init(&rest, visit->exchange, visit->route->path, visit->route->parameters, more, cursor);
    visit_answer(visit, 200, media_type(visit->form, &dialect_classic), rows->len ? rows->text : "", rows->len,
                 rest.fields, rest.count);
    query_rest_done(&rest);
}

void visit_ad_take(struct visit *visit, unsigned status, struct tree *ad)
{
    struct buf *out = &visit->customerd->out;

    buf_reset(out);
    represent_ad(out, visit->form, ad);
    buf_addc(out, '\n');
    visit_answer(visit, status, media_type(visit->form, ad->dialect), out->text, out->len, NULL, 0);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------ parts of the request */

const char *visit_query(const struct visit *visit, const char *name)
{
    return exchange_query(visit->exchange, name);
}

bool visit_number(struct visit *visit, const char *name, uint64_t high, uint64_t fallback, uint64_t *ret)
{
    struct err err = {0};

    if (query_number(visit->exchange, name, 0, high, fallback, ret, &err) == 0)
        return true;
    visit_problem(visit, 400, "%s", err.text);
    return false;
}

uint64_t visit_job(const struct visit *visit)
{
    const char *text = visit->variables[0];
    size_t len = strlen(text);

    return len && len < 16 && strspn(text, "0123456789") == len ? strtoull(text, NULL, 10) : 0;
}

bool visit_sees(const struct visit *visit, const char *owner, size_t len)
{
    return visit->any || (strlen(visit->identity) == len && !memcmp(visit->identity, owner, len));
}

void visit_peer(const struct visit *visit, struct peer *ret)
{
    *ret = (struct peer){.agent = visit->customerd->role.self, .identity = visit->identity, .any = visit->any};
}

static bool number_read(const char **at, const char *end, uint64_t *ret)
{
    const char *from = *at;

    for (*ret = 0; *at < end && **at >= '0' && **at <= '9' && *at - from < 15; (*at)++)
        *ret = *ret * 10 + (uint64_t)(**at - '0');
    return *at > from;
}

static int range_order(const void *a, const void *b)
{
    const struct id_range *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

bool id_ranges_read(const char *text, size_t len, struct id_ranges *ret)
{
    const char *at = text, *end = text + len;

    ret->count = 0;
    while (at < end) {
        struct id_range *range = &ret->items[ret->count];

        if (ret->count == CUSTOMERD_RANGES_MAX || !number_read(&at, end, &range->first))
            return false;
        range->last = range->first;
        if (at < end && *at == '-') {
            at++;
            if (!number_read(&at, end, &range->last))
                return false;
        }
        if (range->last < range->first || !range->first)
            return false;
        ret->count++;
        if (at < end && (*at++ != ',' || at == end))
            return false;
    }
    qsort(ret->items, ret->count, sizeof *ret->items, range_order);
    return ret->count > 0;
}

uint64_t id_ranges_next(const struct id_ranges *ranges, uint64_t after)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct id_range *range = &ranges->items[i];

        if (range->first > after)
            return range->first;
        if (range->last > after)
            return after + 1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static void waiting_remove(struct visit *visit)
{
    struct visit **link = &visit->customerd->waiting;

    while (*link && *link != visit)
        link = &(*link)->next;
    if (*link)
        *link = visit->next;
    visit->waits = false;
}

bool visit_waits(struct visit *visit)
{
    struct customerd *customerd = visit->customerd;
    uint64_t seconds;

    if (!visit->deadline) {
        if (!visit_number(visit, "wait", UINT32_MAX, 0, &seconds))
            return true; /* and that was answered */
        visit->deadline =
            runner_now() + (int64_t)(seconds < CUSTOMERD_WAIT_MAX ? seconds : CUSTOMERD_WAIT_MAX) * SECOND;
    }
    if (customerd->stopping || runner_now() >= visit->deadline)
        return false;
    if (!visit->waits) {
        visit->next = customerd->waiting;
        customerd->waiting = visit;
    }
    visit->waits = true;
    return true;
}

void visits_wake(struct customerd *customerd, bool all)
{
    struct visit *visit = customerd->waiting, *next, *still = NULL;
    int64_t now = runner_now();

    customerd->waiting = NULL; /* those that wait on are put in anew */
    for (; visit; visit = next) {
        next = visit->next;
        if (!all && now < visit->deadline) {
            visit->next = still;
            still = visit;
            continue;
        }
        visit->waits = false;
        visit->route->handle(visit);
    }
    while ((visit = still)) {
        still = visit->next;
        visit->next = customerd->waiting;
        customerd->waiting = visit;
    }
}

void visits_end(struct customerd *customerd)
{
    struct visit *visit;

    while ((visit = customerd->waiting)) {
        customerd->waiting = visit->next;
        visit->waits = false;
        visit_problem(visit, 503, "the customer is going down");
    }
}

/* ------------------------------------------------------------------------------------------------------------- routing */

/* 0, or the status that there is none. */
static unsigned route_of(struct visit *visit)
{
    enum http_method method = exchange_method(visit->exchange);
    const char *path = exchange_raw_path(visit->exchange);
    const struct customerd_route *instead = NULL;
    bool other = false;

    for (size_t i = 0; i < customerd_route_count; i++) {
        if (!path_fits(customerd_routes[i].path, path, false, sizeof visit->variables[0], visit->variables[0]))
            continue;
        other = true;
        if (customerd_routes[i].method == method) {
            visit->route = &customerd_routes[i];
            return 0;
        }
        if (method == HTTP_HEAD && customerd_routes[i].method == HTTP_GET)
            instead = &customerd_routes[i];
    }
    visit->route = instead;
    return instead ? 0 : other ? 405 : 404;
}

/* ------------------------------------------------------------------------------------------------------------- stages */

/* Who is it? 0, or the status that it gets. */
static unsigned caller_find(struct visit *visit)
{
    struct customerd *customerd = visit->customerd;
    struct grant grant;
    uint32_t user;

    if (exchange_peer_user(visit->exchange, &user)) {
        if (user != geteuid() && user != 0)
            return 403;
        snprintf(visit->identity, sizeof visit->identity, "%s", customerd->daemon.identity);
        visit->any = visit->local = true;
        return 0;
    }
    if (!agent_caller(customerd->live, visit->exchange, &grant))
        return 401;
    snprintf(visit->identity, sizeof visit->identity, "%s", grant.subject);
    visit->any = grant.scope & SCOPE_JOB_ANY;
    if (!(grant.scope & visit->route->scope) && !(visit->any && visit->route->scope == SCOPE_JOB_OWN))
        return 403;
    return 0;
}

static size_t body_most(const struct visit *visit)
{
    switch (visit->route->body) {
    case VISIT_AD:
        return config_size(&visit->customerd->daemon.config, CONFIG_BODY_MAX);
    case VISIT_SUBMISSION:
        return config_size(&visit->customerd->daemon.config, CONFIG_SUBMISSION_MAX);
    case VISIT_PIECE:
        return SPOOL_PIECE_MAX;
    case VISIT_NONE:
        break;
    }
    return 0;
}

static const char *const body_limits[] = {"no body is expected", "BodyMax", "SubmissionMax", "a piece"};

static void visit_begin(void *user, struct exchange *exchange)
{
    struct visit *visit = mem_alloc(sizeof *visit);
    unsigned status;

    memset(visit, 0, sizeof *visit);
    visit->customerd = user;
    visit->exchange = exchange;
    exchange_set_data(exchange, visit);
    status = route_of(visit);
    if (status) {
        visit_problem(visit, status, status == 404 ? "there is nothing here" : "this method is not for this path");
        return;
    }
    status = caller_find(visit);
    if (status) {
        visit_problem(visit, status,
                      status == 401 ? "a good token for this agent is needed"
                                    : "this is for others: a scope is missing, or the user is another");
    } else if (!media_accept(exchange_field(exchange, "Accept"), visit->route->types, &visit->form)) {
        visit_problem(visit, 406, "this is given as %s", visit->route->types);
    } else if (query_body_is_long(exchange, body_most(visit))) {
        visit_problem(visit, 413, "%s: a body of up to %zu bytes is read", body_limits[visit->route->body],
                      body_most(visit));
    } else {
        exchange_accept(exchange, body_most(visit), true);
    }
}

static void visit_run(void *user, struct exchange *exchange)
{
    struct visit *visit = exchange_data(exchange);
    const struct customerd *customerd = user;

    if (customerd->stopping || runner_is_broken(customerd->runner))
        visit_problem(
            visit, 503,
            customerd->stopping ? "the customer is going down"
            : agent_is_superseded(customerd->live)
                ? "another customer with this name and a copy of this state began later: this one takes no more work"
                : "the store has failed");
    else
        visit->route->handle(visit);
}

static void visit_over(void *user, struct exchange *exchange)
{
    struct visit *visit = exchange_data(exchange);

    (void)user;
    if (!visit)
        return;
    exchange_set_data(exchange, NULL);
    if (visit->waits)
        waiting_remove(visit);
    if (visit->forget)
        visit->forget(visit);
    free(visit);
}

const struct server_handler visit_handler = {.begin = visit_begin, .handle = visit_run, .over = visit_over};
