/* answer.c: answers: an ad, a list or a problem; and the conditions (If-Match) of a request. */
#include "live/http/request.h"

#include "lang/ad/make.h"
#include "lang/base/json.h"
#include "live/http/guard.h"
#include "live/http/query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIELDS_MAX 4 /* a handler's own fields */

static bool field_is_there(const struct http_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name))
            return true;
    return false;
}

/* An answer to one caller is not for another, and is not valid for long. A reader that has its entity tag may keep it,
 * and asks whether it still holds; nothing else is kept anywhere, least of all a token that was made. */
size_t request_cache_fields(const struct request *request, bool tagged, struct http_field out[CACHE_FIELDS])
{
    const struct route *route = request->route;
    bool forms = route && strchr(route->types, ' '); /* given in more than one type */
    bool callers = !route || route->scope != SCOPE_NONE || route->flags & ROUTE_BY_CALLER;

    out[0] = (struct http_field){"Cache-Control",
                                 tagged && route && route->method == HTTP_GET ? "private, no-cache" : "no-store"};
    if (!forms && !callers)
        return 1;
    out[1] = (struct http_field){"Vary", forms && callers ? "Accept, Authorization"
                                         : forms          ? "Accept"
                                                          : "Authorization"};
    return 2;
}

/* Was a row not read that the answer tells of? Whoever changed something has looked himself. */
static bool answer_lacks(struct request *request)
{
    const struct front_part *part = request->part;

    if (part->misread && part->misread(part->daemon))
        request->misread = true;
    return request->misread && request->route && request->route->method == HTTP_GET;
}

void request_answer(struct request *request, unsigned status, const char *type, const char *body, size_t len,
                    const struct http_field *fields, size_t field_count)
{
    struct http_field all[FIELDS_MAX + 2 + CACHE_FIELDS];
    size_t count = 0;

    if (status < 500 && answer_lacks(request)) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        return;
    }
    request->status = status;
    for (; count < field_count && count < FIELDS_MAX + 2; count++)
        all[count] = fields[count];
    if (!field_is_there(all, count, "Cache-Control"))
        count += request_cache_fields(request, field_is_there(all, count, "ETag"), all + count);
    exchange_answer(request->exchange,
                    &(struct http_answer){
                        .status = status, .type = type, .body = body, .len = len, .fields = all, .field_count = count});
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

void request_problem_fields(struct request *request, unsigned status, const char *detail,
                            const struct http_field *fields, size_t field_count)
{
    char trace[JOB_TRACE_ID_LEN + 1];
    struct job_trace said;
    struct buf body;

    if ((status == 401 || status == 403) && request->route && request->route->flags & ROUTE_AUDITED &&
        request->part->refused)
        request->part->refused(request, status, detail);
    buf_init(&body);
    buf_addf(&body, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":", status_title(status),
             status);
    json_quote(&body, detail, strlen(detail));
    buf_addf(&body, ",\"request\":\"%llx\"}\n", (unsigned long long)request->number);
    request_trace(request, &said);
    job_trace_id_write(&said, trace);
    LOG(request->front->settings.log, LEVEL_INFO, "problem", log_word("request", request->number),
        log_text("route", request->route ? request->route->id : NULL), log_text("subject", request_identity(request)),
        log_number("status", status), log_text("detail", detail), log_text("trace", *trace ? trace : NULL));
    request_answer(request, status, TYPE_PROBLEM, body.text, body.len, fields, field_count);
    buf_done(&body);
}

void request_problem_with(struct request *request, unsigned status, const char *detail, const char *field,
                          const char *value)
{
    request_problem_fields(request, status, detail, &(struct http_field){field, value}, field ? 1 : 0);
}

void request_problem(struct request *request, unsigned status, const char *format, ...)
{
    char detail[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    request_problem_with(request, status, detail, status == 401 ? "WWW-Authenticate" : NULL, "Bearer");
}

/* Every ad in an answer has an entity tag and a link to itself; a handler that knows better gives its own. */
void request_ad(struct request *request, unsigned status, const struct tree *ad, const struct http_field *fields,
                size_t field_count)
{
    struct buf *out = &request->front->out;
    char etag[24], link[GUARD_PATH_MAX + 32];
    struct http_field all[FIELDS_MAX + 2];
    size_t count = 0;

    for (; count < field_count && count < FIELDS_MAX; count++)
        all[count] = fields[count];
    buf_reset(out);
    if (request->resource != GRDL_FORM_UNKNOWN && status < 300) {
        struct err err = {0};

        if (resource_write(out, request->resource, ad, &err) < 0) {
            request_problem(request, 406, "as a resource: %s", err.text);
            return;
        }
    } else {
        represent_ad(out, request->form, ad);
        buf_addc(out, '\n');
    }
    if (!field_is_there(fields, field_count, "ETag")) {
        snprintf(etag, sizeof etag, "\"%016llx\"", (unsigned long long)text_hash(0, out->text, out->len));
        all[count++] = (struct http_field){"ETag", etag};
        if (answered_unchanged(request, etag))
            return;
    }
    if (!field_is_there(fields, field_count, "Link")) {
        snprintf(link, sizeof link, "<%s>; rel=\"self\"", exchange_raw_path(request->exchange));
        all[count++] = (struct http_field){"Link", link};
    }
    request_answer(request, status,
                   request->resource != GRDL_FORM_UNKNOWN && status < 300 ? resource_type(request->resource)
                                                                          : media_type(request->form, ad->dialect),
                   out->text, out->len, all, count);
}

void request_ad_take(struct request *request, unsigned status, struct tree *ad)
{
    request_ad(request, status, ad, NULL, 0);
    tree_unref(ad);
}

void request_words(struct request *request, unsigned status, const char *words)
{
    request_answer(request, status, "text/plain; charset=utf-8", words, strlen(words), NULL, 0);
}

void request_list_with(struct request *request, const struct buf *out, bool more, uint64_t cursor,
                       const struct http_field *field)
{
    struct http_field fields[3];
    struct query_rest rest;
    size_t count = 0;

    query_rest_init(&rest, request->exchange, request->route->path, request->route->parameters, more, cursor);
    while (count < rest.count) {
        fields[count] = rest.fields[count];
        count++;
    }
    if (field)
        fields[count++] = *field;
    request_answer(request, 200, media_type(request->form, &dialect_classic), out->len ? out->text : "", out->len,
                   fields, count);
    query_rest_done(&rest);
}

void request_list(struct request *request, const struct buf *out, bool more, uint64_t cursor)
{
    request_list_with(request, out, more, cursor, NULL);
}

void request_done(struct request *request)
{
    request_answer(request, 204, NULL, NULL, 0, NULL, 0);
}

/* --------------------------------------------------------------------------------------------------------- conditions */

bool etag_is_named(const char *field, const char *etag)
{
    size_t len;

    if (etag && !strncmp(etag, "W/", 2))
        etag += 2;
    len = etag ? strlen(etag) : 0;
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

void kept_etag(const struct tree *ad, char out[KEPT_ETAG_MAX])
{
    struct buf text;

    buf_init(&text);
    if (ad)
        represent_ad(&text, FORM_CLASSAD, ad);
    snprintf(out, KEPT_ETAG_MAX, "\"%016" PRIx64 "\"", text_hash(0, text.len ? text.text : "", text.len));
    buf_done(&text);
}

void request_kept(struct request *request, struct tree *ad)
{
    char etag[KEPT_ETAG_MAX];
    const struct http_field fields[] = {{"ETag", etag}};
    struct tree *told = ad ? tree_ref(ad) : NULL;
    struct maker maker;

    kept_etag(ad, etag);
    if (!told) {
        maker_init(&maker, request->part->symbols);
        told = maker_seal(&maker);
    }
    request_ad(request, 200, told, fields, 1);
    tree_unref(told);
}
