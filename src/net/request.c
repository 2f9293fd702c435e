/* request.c: from the head of a request to its answer: which route, who calls, may they, are they too fast.
 *
 * Nothing of a body is read before all of that is settled. */
#include "net/service_parts.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "net/guard.h"
#include "pool/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LOCAL_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_JOB_SUBMIT | SCOPE_JOB_OWN | SCOPE_CLAIM | SCOPE_MATCH)
#define RESERVED_IDENTITY "matchmaker" /* ours: nobody else may be called so */

/* ------------------------------------------------------------------------------------------------------------ caller */

static bool token_is_revoked(void *user, const char *id)
{
    const struct service *service = user;

    return textmap_find(&service->revoked, id, strlen(id)) != TEXTMAP_NONE;
}

/* A user of this machine, as the kernel says. Whoever runs the service, and the superuser, may do everything. */
static bool caller_by_socket(struct service *service, const struct exchange *exchange, int64_t now, struct caller *ret)
{
    struct passwd row, *found = NULL;
    char text[2048], name[32];
    uint32_t uid;

    if (!exchange_peer_user(exchange, &uid))
        return false;
    snprintf(name, sizeof name, "uid.%u", uid);
    getpwuid_r(uid, &row, text, sizeof text, &found);
    if (found && (!subject_valid(found->pw_name, strlen(found->pw_name)) || !strcmp(found->pw_name, RESERVED_IDENTITY)))
        found = NULL;
    *ret = (struct caller){
        .identity =
            callers_add(&service->callers, found ? found->pw_name : name, strlen(found ? found->pw_name : name), now),
        .scope = uid == geteuid() || uid == 0 ? SCOPE_ALL : LOCAL_SCOPES,
    };
    ret->account = ret->identity;
    return true;
}

/* 0, or the status and why not. */
static unsigned caller_find(struct service *service, const struct exchange *exchange, int64_t now, struct caller *ret,
                            const char **ret_why)
{
    const char *field = exchange_field(exchange, "Authorization");
    enum token_fault fault;
    struct grant grant;

    ret->identity = CALLERS_NONE;
    if (!field)
        return caller_by_socket(service, exchange, now, ret) ? 0 : (*ret_why = "a token is needed", 401);
    if (strncasecmp(field, "Bearer ", 7) != 0)
        return *ret_why = "the token must be a bearer token", 401;
    field += 7;
    field += strspn(field, " ");
    fault = token_check(service->tokens, &service->token_keys, keyring_pool(service->keys), field, strlen(field),
                        runner_wall() / SECOND, token_is_revoked, service, &grant);
    if (fault != TOKEN_OK) {
        metrics_add(service->metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
        *ret_why = token_fault_words(fault);
        return 401;
    }
    if (!strcmp(grant.subject, RESERVED_IDENTITY))
        return *ret_why = "that identity is the matchmaker's own", 401;
    *ret = (struct caller){.identity = callers_add(&service->callers, grant.subject, strlen(grant.subject), now),
                           .scope = grant.scope,
                           .expires = grant.expires,
                           .links = grant.links};
    memcpy(ret->ids, grant.ids, sizeof ret->ids);
    ret->account = callers_add(&service->callers, grant.root, strlen(grant.root), now);
    return 0;
}

bool caller_is_revoked(const struct service *service, const struct caller *caller)
{
    for (uint32_t i = 0; i < caller->links; i++)
        if (textmap_find(&service->revoked, caller->ids[i], strlen(caller->ids[i])) != TEXTMAP_NONE)
            return true;
    return false;
}

const char *request_identity(const struct request *request)
{
    return request->caller.identity == CALLERS_NONE ? ""
                                                    : caller_text(&request->service->callers, request->caller.identity);
}

bool request_any(const struct request *request)
{
    return request->caller.scope & SCOPE_ADMIN;
}

/* One that is new counts for its account: names cost nothing, and rows do. */
uint32_t request_agent_named(struct request *request, const char *name)
{
    struct service *service = request->service;
    struct identity *account = &service->callers.items[request->caller.account];
    uint32_t place = agents_find(&service->agents, agent_handle(request_identity(request), name));

    if (place == TEXTMAP_NONE && account->agents >= config_count(&service->config, CONFIG_ADS_PER_IDENTITY)) {
        request_problem(request, 429, "AdsPerIdentity: so many agents are known of this identity");
        return TEXTMAP_NONE;
    }
    return agents_add(&service->agents, request->caller.identity, request->caller.account, name, runner_now());
}

uint32_t request_agent(struct request *request)
{
    const char *name = exchange_field(request->exchange, "Berth-Agent");

    if (name && !agent_name_is_good(name, strlen(name))) {
        request_problem(request, 400, "Berth-Agent: a name of up to %d letters, digits, '.', '_' and '-' is expected",
                        AGENT_NAME_MAX);
        return TEXTMAP_NONE;
    }
    return request_agent_named(request, name ? name : "");
}

uint64_t request_handle(struct request *request)
{
    const char *name = exchange_field(request->exchange, "Berth-Agent");

    if (!request->handle && (!name || agent_name_is_good(name, strlen(name))))
        request->handle = agent_handle(request_identity(request), name ? name : "");
    return request->handle;
}

void request_peer(struct request *request, uint32_t who, struct peer *ret)
{
    *ret = (struct peer){.agent = request->service->agents.items[who].handle,
                         .identity = request_identity(request),
                         .any = request_any(request)};
}

/* ----------------------------------------------------------------------------------------------------------- answers */

void request_answer(struct request *request, unsigned status, const char *type, const char *body, size_t len,
                    const struct http_field *fields, size_t field_count)
{
    request->status = status;
    exchange_answer(
        request->exchange,
        &(struct http_answer){
            .status = status, .type = type, .body = body, .len = len, .fields = fields, .field_count = field_count});
}

static const char *status_title(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } rows[] = {
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].title;
    return "Error";
}

static void problem_answer(struct request *request, unsigned status, const char *detail, const char *field,
                           const char *value)
{
    const struct http_field fields[] = {{field, value}};
    struct buf body;

    buf_init(&body);
    buf_addf(&body, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":", status_title(status),
             status);
    json_string(&body, detail, strlen(detail));
    buf_addf(&body, ",\"request\":\"%llx\"}\n", (unsigned long long)request->number);
    LOG(&request->service->log, LEVEL_INFO, "problem", log_word("request", request->number),
        log_text("route", request->route ? request->route->id : NULL), log_text("subject", request_identity(request)),
        log_number("status", status), log_text("detail", detail));
    request_answer(request, status, TYPE_PROBLEM, body.text, body.len, fields, field ? 1 : 0);
    buf_done(&body);
}

void request_problem(struct request *request, unsigned status, const char *format, ...)
{
    char detail[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    problem_answer(request, status, detail, status == 401 ? "WWW-Authenticate" : NULL, "Bearer");
}

#define FIELDS_MAX 4

/* Every representation has an entity tag and says what it is called; a handler that knows better gives its own. */
void request_ad(struct request *request, unsigned status, const struct tree *ad, const struct http_field *fields,
                size_t field_count)
{
    struct buf *out = &request->service->out;
    char etag[24], link[GUARD_PATH_MAX + 32];
    struct http_field all[FIELDS_MAX + 2];
    bool has_etag = false, has_link = false;
    size_t count = 0;

    for (; count < field_count && count < FIELDS_MAX; count++) {
        all[count] = fields[count];
        has_etag = has_etag || !strcmp(fields[count].name, "ETag");
        has_link = has_link || !strcmp(fields[count].name, "Link");
    }
    buf_reset(out);
    represent_ad(out, request->form, ad);
    buf_addc(out, '\n');
    if (!has_etag) {
        snprintf(etag, sizeof etag, "\"%016llx\"", (unsigned long long)text_hash(0, out->text, out->len));
        all[count++] = (struct http_field){"ETag", etag};
        if (answered_unchanged(request, etag))
            return;
    }
    if (!has_link) {
        snprintf(link, sizeof link, "<%s>; rel=\"self\"", exchange_raw_path(request->exchange));
        all[count++] = (struct http_field){"Link", link};
    }
    request_answer(request, status, media_type(request->form, ad->dialect), out->text, out->len, all, count);
}

void request_ad_take(struct request *request, unsigned status, struct tree *ad)
{
    request_ad(request, status, ad, NULL, 0);
    tree_unref(ad);
}

void request_message(struct request *request, unsigned status, const struct message *message,
                     const struct http_field *fields, size_t field_count)
{
    struct tree *ad = wire_message(request->service->symbols, message);

    request_ad(request, status, ad, fields, field_count);
    tree_unref(ad);
}

void request_done(struct request *request)
{
    request_answer(request, 204, NULL, NULL, 0, NULL, 0);
}

unsigned reason_status(enum reason reason)
{
    switch (reason) {
    case REASON_OK:
    case REASON_CONSUMED:
        return 200;
    case REASON_STALE:
    case REASON_CONFLICT:
        return 409;
    case REASON_BODY:
        return 412;
    case REASON_IDENTITY:
        return 403;
    case REASON_LIMIT:
        return 429;
    case REASON_UNKNOWN:
        return 404;
    default:
        return 400;
    }
}

/* --------------------------------------------------------------------------------------------------------- conditions */

bool etag_is_named(const char *field, const char *etag)
{
    size_t len = etag ? strlen(etag) : 0;

    while (*field) {
        size_t part;

        field += strspn(field, " ,");
        part = strcspn(field, ",");
        while (part && field[part - 1] == ' ')
            part--;
        if (part == 1 && *field == '*')
            return etag;
        if (part > 2 && !strncmp(field, "W/", 2)) {
            field += 2;
            part -= 2;
        }
        if (etag && part == len && !memcmp(field, etag, len))
            return true;
        field += part;
    }
    return false;
}

bool conditions_met(struct request *request, const char *etag)
{
    const char *match = exchange_field(request->exchange, "If-Match");
    const char *none = exchange_field(request->exchange, "If-None-Match");

    if (match && !etag_is_named(match, etag)) {
        request_problem(request, 412, etag ? "this is not what If-Match says" : "there is nothing for If-Match");
        return false;
    }
    if (none && etag_is_named(none, etag)) {
        request_problem(request, 412, "this is what If-None-Match says");
        return false;
    }
    return true;
}

bool answered_unchanged(struct request *request, const char *etag)
{
    const char *none = exchange_field(request->exchange, "If-None-Match");
    const struct http_field fields[] = {{"ETag", etag}};

    if (!none || request->route->method != HTTP_GET || !etag_is_named(none, etag))
        return false;
    request_answer(request, 304, NULL, NULL, 0, fields, 1);
    return true;
}

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
    const char *value = request_query(request, name);
    unsigned long long number;
    char *end;

    *ret = fallback;
    if (!value)
        return true;
    errno = 0;
    number = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9' || number < low || number > high) {
        request_problem(request, 400, "%s: a number from %llu to %llu is expected", name, (unsigned long long)low,
                        (unsigned long long)high);
        return false;
    }
    *ret = number;
    return true;
}

bool select_checked(struct request *request)
{
    const char *select = request_query(request, "select");

    if (!select || select_is_good(select))
        return true;
    request_problem(request, 400, "select: up to %d names with commas between are expected", SELECT_MAX);
    return false;
}

struct form_limits service_limits(const struct service *service)
{
    return (struct form_limits){.bytes = config_size(&service->config, CONFIG_BODY_MAX),
                                .cells = (uint32_t)config_count(&service->config, CONFIG_AD_NODES),
                                .attributes = (uint32_t)config_count(&service->config, CONFIG_AD_ATTRIBUTES)};
}

struct tree *request_body_ad(struct request *request)
{
    const struct service *service = request->service;
    struct form_limits limits = service_limits(service);
    struct err err = {0};
    struct media media;
    struct tree *ad;
    const char *body;
    size_t len;

    if (!media_read(exchange_field(request->exchange, "Content-Type"), &media)) {
        request_problem(request, 415, "an ad is sent as %s or %s, with dialect=classic or dialect=condor", TYPE_CLASSAD,
                        TYPE_JSON);
        return NULL;
    }
    body = exchange_body(request->exchange, &len);
    ad = represent_read(service->symbols, &media, &limits, body, len, &err);
    if (!ad && err.line)
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
    else if (!ad)
        request_problem(request, 400, "%s", err.text);
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

/* --------------------------------------------------------------------------------------------------------------- role */

bool request_ask(struct request *request, const struct peer *peer, const struct message *message)
{
    struct service *service = request->service;

    message_done(&service->reply);
    service->replied = false;
    runner_event(service->runner,
                 &(struct event){.kind = EVENT_MESSAGE, .token = request->number, .peer = peer, .message = message});
    if (!service->replied)
        request_problem(request, 503, "the store has failed, and nothing is taken any more");
    return service->replied;
}

struct pending_commit {
    struct service *service;
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
    runner_commit(request->service->runner, NULL, NULL); /* which fails too, and all comes to an end */
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

    *commit = (struct pending_commit){request->service, request, then};
    request->work = commit;
    request->forget = commit_forget;
    runner_commit(request->service->runner, commit_done, commit);
}

/* ------------------------------------------------------------------------------------------------------------- stages */

static void audit_refusal(const struct request *request, unsigned status, const char *why)
{
    char from[ADDRESS_TEXT_MAX];

    LOG_AUDIT(&request->service->log, "refused", log_word("request", request->number),
              log_text("route", request->route ? request->route->id : NULL), log_number("status", status),
              log_text("subject", request_identity(request)),
              log_text("from", address_print(exchange_from(request->exchange), from)), log_text("why", why));
}

/* A renewal without text has a pace of its own, so that heart beats get through when all else is too much. */
static enum caller_pace request_pace(const struct request *request)
{
    const char *len = exchange_field(request->exchange, "Content-Length");

    if (request->route->handle == api_ad_put && (!len || !strcmp(len, "0")))
        return PACE_BEAT;
    return request->caller.scope & (SCOPE_AD_WRITE | SCOPE_CLAIM) ? PACE_AGENT : PACE_PERSON;
}

static bool request_paced(struct request *request, int64_t now)
{
    struct service *service = request->service;
    enum caller_pace pace = request_pace(request);
    uint64_t rate = config_count(&service->config,
                                 pace == PACE_PERSON ? CONFIG_REQUESTS_PER_SECOND : CONFIG_AGENT_REQUESTS_PER_SECOND);
    char seconds[24];
    int64_t wait;

    if (caller_may(&service->callers, request->caller.account, pace, (double)rate, now, &wait))
        return true;
    snprintf(seconds, sizeof seconds, "%lld", (long long)(wait / SECOND + 1));
    problem_answer(request, 429,
                   pace == PACE_PERSON ? "RequestsPerSecond: too many requests a second"
                                       : "AgentRequestsPerSecond: too many requests a second",
                   "Retry-After", seconds);
    return false;
}

/* The Host that a browser is told by another site's page is not ours: on loopback only addresses, this machine's own name for itself and
 * that of PublicUrl are answered. */
static bool host_is_known(const struct request *request)
{
    const char *host = exchange_field(request->exchange, "Host");
    const char *public_url = config_text(&request->service->config, CONFIG_PUBLIC_URL);
    const struct sockaddr *from = exchange_from(request->exchange);
    unsigned char bytes[16];
    char name[ADDRESS_HOST_MAX + 1];
    struct url url;
    size_t len;

    if (from->sa_family == AF_UNIX || address_sort(from) != ADDRESS_LOOPBACK)
        return true;
    if (!host) /* HTTP/1.0; the guard wants it in 1.1 */
        return true;
    len = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");
    if (len > ADDRESS_HOST_MAX)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(*host == '[' ? len - 1 : len), *host == '[' ? host + 1 : host);
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1 ||
           !strcasecmp(name, "localhost") ||
           (url_read(public_url, strlen(public_url), &url, NULL) == 0 && !strcasecmp(name, url.host));
}

/* Open to all, or a caller with the scope, who is not too fast. False when it was answered. */
static bool request_admitted(struct request *request, int64_t now)
{
    struct service *service = request->service;
    const struct route *route = request->route;
    bool metrics_open = route->handle == api_metrics && config_flag(&service->config, CONFIG_METRICS) &&
                        address_sort(exchange_from(request->exchange)) == ADDRESS_LOOPBACK;
    const char *why = NULL;
    unsigned status = caller_find(service, request->exchange, now, &request->caller, &why);

    if (route->scope == SCOPE_NONE || metrics_open)
        return true;
    if (!status && !(request->caller.scope & route->scope)) {
        status = 403;
        why = "the token does not have the scope that this needs";
    }
    if (status) {
        struct buf words;

        audit_refusal(request, status, why);
        buf_init(&words);
        buf_adds(&words, why);
        if (status == 403) {
            buf_adds(&words, ": ");
            scopes_print(&words, route->scope);
        }
        request_problem(request, status, "%s", status == 401 ? "a good token is needed" : buf_string(&words));
        buf_done(&words);
        return false;
    }
    return request_paced(request, now);
}

/* A body that is declared too long is not read: the limit that it is past is named. False when it was answered. */
static bool body_fits(struct request *request, size_t most)
{
    const char *len = exchange_field(request->exchange, "Content-Length");

    if (!len || strtoull(len, NULL, 10) <= most)
        return true;
    request_problem(request, 413, "%s: a body of up to %zu bytes is read",
                    request->route->body == BODY_NONE ? "no body is expected"
                    : request->route->large           ? "SubmissionMax"
                                                      : "BodyMax",
                    most);
    return false;
}

#define BODIES_MAX (UINT64_C(512) << 20)        /* bytes of all requests under way ... */
#define BODIES_ACCOUNT_MAX (UINT64_C(64) << 20) /* ... and of those of one account */

/* What is under way is bounded, in all and for each account. False when it was answered. */
static bool request_counted(struct request *request)
{
    struct service *service = request->service;
    const char *len = exchange_field(request->exchange, "Content-Length");
    uint64_t bytes = len ? strtoull(len, NULL, 10) : 0;
    struct identity *account;

    if (request->caller.identity == CALLERS_NONE)
        return true;
    account = &service->callers.items[request->caller.account];
    if (service->bodies + bytes > BODIES_MAX) {
        request_problem(request, 503, "too much is under way; try again soon");
        return false;
    }
    if (account->bodies + bytes > BODIES_ACCOUNT_MAX ||
        account->requests >= config_count(&service->config, CONFIG_CONNECTIONS) / 2) {
        request_problem(request, 429, "too many requests of this identity are under way");
        return false;
    }
    request->counted = true;
    request->body = bytes;
    service->bodies += bytes;
    account->bodies += bytes;
    account->requests++;
    service->callers.items[request->caller.identity].holds++;
    return true;
}

static void request_uncount(struct request *request)
{
    struct service *service = request->service;
    struct identity *account;

    if (!request->counted)
        return;
    account = &service->callers.items[request->caller.account];
    service->bodies -= request->body;
    account->bodies -= request->body;
    account->requests--;
    service->callers.items[request->caller.identity].holds--;
}

static void request_begin(void *user, struct exchange *exchange)
{
    struct service *service = user;
    struct request *request = mem_alloc(sizeof *request);
    enum route_result found;
    size_t most;

    *request = (struct request){.service = service,
                                .exchange = exchange,
                                .number = ++service->requests,
                                .began = runner_now(),
                                .caller = {.identity = CALLERS_NONE}};
    exchange_set_data(exchange, request);
    found = route_find(exchange_method(exchange), exchange_raw_path(exchange), &request->match);
    request->route = found == ROUTE_FOUND ? request->match.route : NULL;
    if (found == ROUTE_NOT_THERE) {
        request_problem(request, 404, "there is nothing here; /openapi.json lists what there is");
    } else if (found == ROUTE_OTHER_METHOD) {
        problem_answer(request, 405, "this method is not for this path", "Allow", request->match.allow);
    } else if (!host_is_known(request)) {
        request_problem(request, 400, "Host: this service is not called so");
    } else if (!media_accept(exchange_field(exchange, "Accept"), request->route->types, &request->form)) {
        request_problem(request, 406, "this is given as %s",
                        *request->route->types ? request->route->types : "nothing");
    } else if (request_admitted(request, request->began)) {
        most = request->route->body == BODY_NONE
                   ? 0
                   : config_size(&service->config, request->route->large ? CONFIG_SUBMISSION_MAX : CONFIG_BODY_MAX);
        if (body_fits(request, most) && request_counted(request)) {
            exchange_accept(exchange, most, request->caller.identity != CALLERS_NONE);
            return;
        }
    }
}

static void request_run(void *user, struct exchange *exchange)
{
    struct request *request = exchange_data(exchange);
    const struct service *service = user;

    if (service->stopping || runner_is_broken(service->runner))
        request_problem(request, 503, service->stopping ? "the service is going down" : "the store has failed");
    else
        request->route->handle(request);
}

static void request_over(void *user, struct exchange *exchange)
{
    struct service *service = user;
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
    metrics_add(service->metrics, METRIC_HTTP_REQUESTS, route, request->status ? request->status / 100 - 1 : 4, 1);
    metrics_observe(service->metrics, METRIC_HTTP_SECONDS, route, took);
    LOG(&service->log, LEVEL_DEBUG, "request", log_word("request", request->number),
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
    struct service *service = user;
    char address[ADDRESS_TEXT_MAX];

    metrics_add(service->metrics, METRIC_GUARD_REFUSALS, guard_place(why), 0, 1);
    LOG(&service->log, LEVEL_INFO, "refused", log_text("why", why),
        log_text("from", from ? address_print(from, address) : NULL));
}

const struct server_handler service_handler = {
    .begin = request_begin,
    .handle = request_run,
    .over = request_over,
    .refused = request_refused,
};
