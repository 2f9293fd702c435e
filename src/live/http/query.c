/* query.c: parameters and body of a request. */
#include "live/http/query.h"

#include "lang/ad/make.h"
#include "lang/text/parse.h"
#include "live/http/guard.h"
#include "live/http/represent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- parameters */

int query_number(const struct exchange *exchange, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                 uint64_t *ret, struct err *err)
{
    const char *value = exchange_query(exchange, name);
    unsigned long long number;
    char *end;

    *ret = fallback;
    if (!value)
        return 0;
    errno = 0;
    number = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9' || number < low || number > high)
        return err_set(err, "%s: expected a number from %" PRIu64 " to %" PRIu64, name, low, high);
    *ret = number;
    return 0;
}

int query_parse(const char *name, const char *text, size_t len, struct symbols *symbols, const struct config *config,
                struct tree **ret, struct err *err)
{
    struct parse_options options = {.cells_max = (uint32_t)config_count(config, CONFIG_AD_NODES)};
    struct err why = {0};
    struct build build;

    *ret = NULL;
    if (utf8_check(text, len, &why) == 0) {
        build_init(&build, symbols, &dialect_classic);
        *ret = parse_expr(&build, &options, text, len, &why);
        build_done(&build);
    }
    return *ret ? 0 : err_set(err, "%s: %u:%u: %s", name, why.line, why.column, why.text);
}

int query_expr(const struct exchange *exchange, const char *name, struct symbols *symbols, const struct config *config,
               struct tree **ret, struct err *err)
{
    const char *text = exchange_query(exchange, name);

    *ret = NULL;
    return text ? query_parse(name, text, strlen(text), symbols, config, ret, err) : 0;
}

int query_select(const struct exchange *exchange, const char **ret, struct err *err)
{
    *ret = exchange_query(exchange, "select");
    if (!*ret || select_is_good(*ret))
        return 0;
    return err_set(err, "select: expected up to %d names with commas between", SELECT_MAX);
}

static void next_print(struct buf *out, const struct exchange *exchange, const char *path, const char *parameters,
                       uint64_t cursor)
{
    char name[32];
    size_t len;

    buf_addf(out, "<%s?cursor=%" PRIu64, path, cursor);
    for (const char *words = parameters; *words; words += len + (words[len] == ' ')) {
        const char *value;

        len = strcspn(words, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, words);
        value = strcmp(name, "cursor") != 0 ? exchange_query(exchange, name) : NULL;
        if (value) {
            buf_addf(out, "&%s=", name);
            url_value(out, value);
        }
    }
    buf_adds(out, ">; rel=\"next\"");
}

void query_rest_init(struct query_rest *rest, const struct exchange *exchange, const char *path, const char *parameters,
                     bool more, uint64_t cursor)
{
    rest->count = more ? 2 : 0;
    buf_init(&rest->link);
    if (!more)
        return;
    snprintf(rest->digits, sizeof rest->digits, "%" PRIu64, cursor);
    next_print(&rest->link, exchange, path, parameters, cursor);
    rest->fields[0] = (struct http_field){"Berth-Cursor", rest->digits};
    rest->fields[1] = (struct http_field){"Link", buf_string(&rest->link)};
}

void query_rest_done(struct query_rest *rest)
{
    buf_done(&rest->link);
}

/* --------------------------------------------------------------------------------------------------------------- bodies */

struct form_limits query_limits(const struct config *config)
{
    return (struct form_limits){.bytes = config_size(config, CONFIG_BODY_MAX),
                                .cells = (uint32_t)config_count(config, CONFIG_AD_NODES),
                                .attributes = (uint32_t)config_count(config, CONFIG_AD_ATTRIBUTES)};
}

struct tree *query_body(const struct exchange *exchange, struct symbols *symbols, const struct config *config,
                        unsigned *ret_status, struct err *err)
{
    struct form_limits limits = query_limits(config);
    struct err why = {0};
    struct media media;
    struct tree *ad;
    const char *body;
    size_t len;

    if (!media_read(exchange_field(exchange, "Content-Type"), &media)) {
        *ret_status = 415;
        err_set(err, "an ad is sent as %s or %s, with dialect=classic or dialect=condor", TYPE_CLASSAD, TYPE_JSON);
        return NULL;
    }
    body = exchange_body(exchange, &len);
    ad = represent_read(symbols, &media, &limits, body, len, &why);
    *ret_status = 400;
    if (!ad && why.line)
        err_set(err, "line %u, column %u: %s", why.line, why.column, why.text);
    else if (!ad)
        err_set(err, "%s", why.text);
    return ad;
}

bool query_body_is_long(const struct exchange *exchange, size_t most)
{
    const char *len = exchange_field(exchange, "Content-Length");

    return len && strtoull(len, NULL, 10) > most;
}
