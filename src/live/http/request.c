/* request.c: the parts of a request: its variables, its parameters, the ad in its body. */
#include "live/http/request.h"

#include "lang/ad/get.h"
#include "lang/base/nearest.h"
#include "live/http/query.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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

const char *request_from(const struct request *request, char out[ADDRESS_TEXT_MAX])
{
    const struct sockaddr *from = exchange_from(request->exchange);
    char *colon;

    if (from->sa_family == AF_UNIX) {
        snprintf(out, ADDRESS_TEXT_MAX, "unix");
        return out;
    }
    address_print(from, out);
    colon = strrchr(out, ':');
    if (colon)
        *colon = '\0';
    return out;
}

const char *request_via(const struct request *request, char out[REQUEST_VIA_MAX])
{
    const struct caller *caller = &request->caller;

    out[0] = '\0';
    if (caller->identity == CALLERS_NONE)
        return out;
    if (caller->local)
        snprintf(out, REQUEST_VIA_MAX, "uid %u", caller->uid);
    else if (caller->links && *caller->ids[0])
        snprintf(out, REQUEST_VIA_MAX, "token %s", caller->ids[0]);
    return out;
}

bool request_trace(const struct request *request, struct job_trace *ret)
{
    const char *field = exchange_field(request->exchange, TRACE_FIELD);

    return job_trace_read(field ? field : "", field ? strlen(field) : 0, ret);
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

bool request_expr(struct request *request, const char *name, struct tree **ret)
{
    struct err err = {0};

    if (query_expr(request->exchange, name, request->part->symbols, request->part->config, ret, &err) == 0)
        return true;
    request_problem(request, 400, "%s", err.text);
    return false;
}

static struct tree *body_resource(struct request *request, enum grdl_form form)
{
    struct form_limits limits = query_limits(request->part->config);
    struct err err = {0};
    size_t len;
    const char *body = exchange_body(request->exchange, &len);
    struct tree *ad = resource_read(request->part->symbols, form, &limits, body, len, &err);

    if (!ad && err.line)
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
    else if (!ad)
        request_problem(request, 400, "%s", err.text);
    return ad;
}

struct tree *request_body_ad(struct request *request)
{
    struct err err = {0};
    unsigned status;
    enum grdl_form form = request->route->body == BODY_RESOURCE
                              ? resource_media(exchange_field(request->exchange, "Content-Type"))
                              : GRDL_FORM_UNKNOWN;
    struct tree *ad;

    if (form != GRDL_FORM_UNKNOWN)
        return body_resource(request, form);
    ad = query_body(request->exchange, request->part->symbols, request->part->config, &status, &err);
    if (!ad)
        request_problem(request, status, "%s", err.text);
    return ad;
}

#define NEAREST_OF 32 /* names that are looked at for the nearest one */

/* Is the name among the words? If not, `ret_nearest` gets the nearest of them. */
static bool name_is_among(const char *names, const char *name, size_t len, char ret_nearest[64])
{
    static const size_t room = 64;
    struct nearest nearest;
    char words[NEAREST_OF][64];
    int count = 0;

    nearest_init(&nearest, name, len);
    while (*names) {
        size_t word = strcspn(names, " ");

        if (word == len && strncasecmp(names, name, len) == 0)
            return true;
        if (count < NEAREST_OF) {
            snprintf(words[count], room, "%.*s", (int)word, names);
            nearest_try(&nearest, words[count++]);
        }
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
        request_problem(request, 400, "%s: expected a text of up to %zu bytes", name, room - 1);
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
    request_problem(request, 400, "%s: expected %d hexadecimal digits", name, 2 * PUBLIC_KEY_BYTES);
    return false;
}
