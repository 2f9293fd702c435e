/* api_config.c: the configuration that the pool serves to its agents, by section and option. Changes are durable before they are answered. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "live/config/sources.h"
#include "live/http/represent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An entity tag made from the text, since the numbers of names are used again. */
static void tree_etag(const struct tree *tree, const struct expr *e, char out[24])
{
    struct buf text;

    buf_init(&text);
    print_expr(&text, tree, e, PRINT_COMPACT);
    snprintf(out, 24, "\"%016" PRIx64 "\"", text_hash(0, text.text, text.len));
    buf_done(&text);
}

struct section_read {
    struct matchmakerd *matchmakerd;
    struct tree *ad;
};

static bool section_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct section_read *read = user;
    struct err err;

    (void)key;
    (void)key_len;
    read->ad = form_parse(read->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    return false;
}

/* Reads the section in the path, as it is kept; NULL when there is none. The caller unrefs it. False after a problem was answered. */
static bool section_find(struct request *request, struct tree **ret)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *section = request_variable(request, 0);
    struct section_read read = {matchmakerd, NULL};
    struct err err;

    if (matchmakerd->shelf->kind->get(matchmakerd->shelf, CONFIG_SPACE, section, strlen(section), section_row, &read,
                                      &err) < 0) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        return false;
    }
    *ret = read.ad;
    return true;
}

static bool names_are_good(struct request *request, bool option)
{
    for (int i = 0; i < 1 + option; i++) {
        const char *name = request_variable(request, i);
        size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

        if (name[len] || len > SOURCES_NAME_MAX || (*name >= '0' && *name <= '9')) {
            request_problem(request, 400, "the names of sections and options have letters, digits and '_'");
            return false;
        }
    }
    return true;
}

void api_config_section(struct request *request)
{
    struct tree *ad;
    char etag[24];
    const struct http_field fields[] = {{"ETag", etag}};

    if (!section_find(request, &ad))
        return;
    if (!ad) {
        request_problem(request, 404, "there is no such section");
        return;
    }
    tree_etag(ad, tree_root(ad), etag);
    if (!answered_unchanged(request, etag))
        request_ad(request, 200, ad, fields, 1);
    tree_unref(ad);
}

/* Answers with the value as an expression; as JSON, with an ad that has just this option. */
void api_config_option(struct request *request)
{
    struct tree *ad, *part;
    const struct expr *e;
    struct buf *out = &request_matchmakerd(request)->out;
    char etag[24];
    const struct http_field fields[] = {{"ETag", etag}};

    if (!section_find(request, &ad))
        return;
    e = ad ? ad_find(ad, request_variable(request, 1)) : NULL;
    if (!e) {
        request_problem(request, 404, "there is no such option");
        tree_unref(ad);
        return;
    }
    tree_etag(ad, e, etag);
    if (answered_unchanged(request, etag)) {
        tree_unref(ad);
        return;
    }
    if (request->form == FORM_JSON) {
        part = ad_select(request_matchmakerd(request)->symbols, ad, request_variable(request, 1));
        request_ad(request, 200, part, fields, 1);
        tree_unref(part);
    } else {
        buf_reset(out);
        print_expr(out, ad, e, PRINT_PLAIN);
        buf_addc(out, '\n');
        request_answer(request, 200, TYPE_CLASSAD, out->text, out->len, fields, 1);
    }
    tree_unref(ad);
}

/* Stores the ad, which it takes, as the section; `option` is the one that was changed, NULL: it is the whole. */
static void section_write(struct request *request, struct tree *before, struct tree *ad, const char *option)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *section = request_variable(request, 0);
    struct tree *again;
    struct err err;
    struct buf text;
    char etag[24] = "";

    if (before)
        tree_etag(before, tree_root(before), etag);
    if (!conditions_met(request, before ? etag : NULL)) {
        tree_unref(ad);
        return;
    }
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    again = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    tree_unref(again);
    if (!again) {
        request_problem(request, 400, "the name of an option is a word of the language");
        tree_unref(ad);
    } else if (request_row_put(request, CONFIG_SPACE, section, strlen(section), text.text, text.len) &&
               request_audit(request, "config.put", section, option)) {
        LOG_AUDIT(&matchmakerd->log, "config", log_text("subject", request_identity(request)),
                  log_text("section", section));
        tree_etag(ad, tree_root(ad), request->answer_etag);
        request_answer_durable(request, before ? 200 : 201, ad);
    } else {
        tree_unref(ad);
    }
    buf_done(&text);
}

void api_config_put(struct request *request)
{
    struct tree *before, *ad;

    if (!names_are_good(request, false) || !(ad = request_body_ad(request)))
        return;
    if (ad->dialect != &dialect_classic) {
        request_problem(request, 400, "a section is written in the classic dialect");
        tree_unref(ad);
        return;
    }
    if (!section_find(request, &before)) {
        tree_unref(ad);
        return;
    }
    section_write(request, before, ad, NULL);
    tree_unref(before);
}

void api_config_put_option(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *option = request_variable(request, 1), *body;
    struct parse_options options = {.cells_max = (uint32_t)config_count(&matchmakerd->config, CONFIG_AD_NODES)};
    struct tree *before, *value;
    struct maker maker;
    struct build build;
    struct err err = {0};
    size_t len;

    if (!names_are_good(request, true))
        return;
    body = exchange_body(request->exchange, &len);
    build_init(&build, matchmakerd->symbols, &dialect_classic);
    value = utf8_check(body, len, &err) == 0 ? parse_expr(&build, &options, body, len, &err) : NULL;
    build_done(&build);
    if (!value) {
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
        return;
    }
    if (!section_find(request, &before)) {
        tree_unref(value);
        return;
    }
    maker_init(&maker, matchmakerd->symbols);
    if (before)
        maker_parts(&maker, before, option);
    maker_ad(&maker, option, value);
    tree_unref(value);
    section_write(request, before, maker_seal(&maker), option);
    tree_unref(before);
}

void api_config_delete(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *section = request_variable(request, 0);
    struct tree *before;
    char etag[24];
    struct err err;

    if (!section_find(request, &before))
        return;
    if (!before) {
        request_problem(request, 404, "there is no such section");
        return;
    }
    tree_etag(before, tree_root(before), etag);
    tree_unref(before);
    if (!conditions_met(request, etag))
        return;
    if (matchmakerd->shelf->kind->remove(matchmakerd->shelf, CONFIG_SPACE, section, strlen(section), &err) < 0) {
        request_store_failed(request, err.text);
        return;
    }
    LOG_AUDIT(&matchmakerd->log, "config", log_text("subject", request_identity(request)), log_text("section", section),
              log_flag("removed", true));
    if (request_audit(request, "config.delete", section, NULL))
        request_answer_durable(request, 204, NULL);
}
