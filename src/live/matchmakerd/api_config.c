/* api_config.c: the configuration that the pool serves to its agents, by section and option, and what it was. Changes are durable before they are answered.
 *
 *     GET /v1/config/Agent?wait=20        with If-None-Match: when it is another, or the time is up
 *     GET /v1/revisions/Agent             what it was, and who has changed it        POST /v1/revisions/Agent/3       it is again what it was then */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/config_past.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "live/config/sources.h"
#include "live/http/represent.h"
#include "live/matchmakerd/scans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Has the caller seen what is there (NULL: that nothing is), and does it wait for something else? */
static bool section_waits(struct request *request, const char *etag)
{
    const char *none = exchange_field(request->exchange, "If-None-Match");

    return request_query(request, "wait") && (etag ? none && etag_is_named(none, etag) : !none) &&
           request_waits(request);
}

void api_config_section(struct request *request)
{
    struct tree *ad;
    char etag[24];
    const struct http_field fields[] = {{"ETag", etag}};

    if (!section_find(request, &ad))
        return;
    if (ad)
        tree_etag(ad, tree_root(ad), etag);
    if (section_waits(request, ad ? etag : NULL)) {
        tree_unref(ad);
        return;
    }
    if (!ad) {
        request_problem(request, 404, "there is no such section");
        return;
    }
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

/* What was changed is durable: those who wait for it hear of it. */
static void section_changed(struct request *request)
{
    struct front *front = request->front;

    request_answer_kept(request);
    front_wake(front, true);
}

/* Keeps the revision, and the row of the audit log; `ad`: what the section is now, NULL: it was taken away. False after a problem was answered. */
static bool section_keep(struct request *request, const struct tree *before, const struct tree *ad, const char *detail)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *section = request_variable(request, 0);
    struct err err;

    if (config_past_add(matchmakerd->shelf, section, before, ad, matchmakerd->symbols, request_identity(request),
                        runner_wall() / SECOND, &err) < 0) {
        request_store_failed(request, err.text);
        return false;
    }
    return request_audit(request, ad ? "config.put" : "config.delete", section, detail);
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
    } else if (section_keep(request, before, ad, option) && /* what it was is read first: that may fail */
               request_row_put(request, CONFIG_SPACE, section, strlen(section), text.text, text.len)) {
        LOG_AUDIT(&matchmakerd->log, "config", log_text("subject", request_identity(request)),
                  log_text("section", section));
        tree_etag(ad, tree_root(ad), request->answer_etag);
        request->answer = ad;
        request->answer_status = before ? 200 : 201;
        request_commit(request, section_changed);
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

/* Takes the section away; `before` is what it is. */
static void section_remove(struct request *request, const struct tree *before, const char *detail)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *section = request_variable(request, 0);
    char etag[24];
    struct err err;

    tree_etag(before, tree_root(before), etag);
    if (!conditions_met(request, etag))
        return;
    if (!section_keep(request, before, NULL, detail)) /* what it was is read first: that may fail */
        return;
    if (matchmakerd->shelf->kind->remove(matchmakerd->shelf, CONFIG_SPACE, section, strlen(section), &err) < 0) {
        request_store_failed(request, err.text);
        return;
    }
    LOG_AUDIT(&matchmakerd->log, "config", log_text("subject", request_identity(request)), log_text("section", section),
              log_flag("removed", true));
    request_commit(request, section_changed);
}

void api_config_delete(struct request *request)
{
    struct tree *before;

    if (!section_find(request, &before))
        return;
    if (before)
        section_remove(request, before, NULL);
    else
        request_problem(request, 404, "there is no such section");
    tree_unref(before);
}

/* --------------------------------------------------------------------------------------------------- sections and revisions */

struct section_name {
    char name[SOURCES_NAME_MAX + 1];
    uint32_t options;
};

/* The names are read first: a row may ask the shelf again. */
struct sections {
    struct symbols *symbols;
    struct section_name *items;
    uint32_t count, room;
};

static bool section_note(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct sections *sections = user;
    struct section_name *one;
    struct err err;
    struct tree *ad = form_parse(sections->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    ARRAY_ROOM(sections->items, sections->count, sections->room, 16);
    one = &sections->items[sections->count++];
    snprintf(one->name, sizeof one->name, "%.*s", (int)key_len, (const char *)key);
    one->options = ad ? tree_root(ad)->u.run.count : 0;
    tree_unref(ad);
    return true;
}

/* A section in the list: how many options it has, and what its last revision says (NULL: it has none). */
static void section_add(struct roll *roll, const struct section_name *section, const struct tree *last)
{
    char by[TOKEN_NAME_MAX + 1];
    struct maker maker;
    int64_t number;

    maker_init(&maker, request_matchmakerd(roll->request)->symbols);
    maker_text(&maker, "Section", section->name);
    maker_integer(&maker, "Options", section->options);
    if (last && ad_integer(last, "Number", &number))
        maker_integer(&maker, "Revision", number);
    if (last && ad_integer(last, "Time", &number))
        maker_integer(&maker, "Time", number);
    if (last && ad_text(last, "By", by, sizeof by))
        maker_text(&maker, "By", by);
    roll_add(roll, &maker);
}

void api_config_list(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct sections sections = {.symbols = matchmakerd->symbols};
    struct shelf *shelf = matchmakerd->shelf;
    struct tree *last = NULL;
    struct roll roll;
    struct err err;
    int failed = shelf->kind->each(shelf, CONFIG_SPACE, section_note, &sections, &err);

    roll_begin(&roll, request);
    for (uint32_t i = 0; !failed && i < sections.count; i++) {
        failed = config_past_find(shelf, sections.items[i].name, 0, matchmakerd->symbols, &last, &err);
        if (!failed)
            section_add(&roll, &sections.items[i], last);
        tree_unref(last);
        last = NULL;
    }
    free(sections.items);
    if (failed) {
        buf_done(&roll.out);
        request_problem(request, 503, "%s", err.text);
    } else {
        roll_end(&roll);
    }
}

static void revision_list(void *user, const struct tree *revision)
{
    listing_add(&((struct roll *)user)->listing, revision);
}

void api_config_past(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct roll roll;
    struct err err;

    roll_begin(&roll, request);
    if (config_past_each(matchmakerd->shelf, request_variable(request, 0), matchmakerd->symbols, revision_list, &roll,
                         &err) < 0) {
        buf_done(&roll.out);
        request_problem(request, 503, "%s", err.text);
    } else if (!roll.listing.count) {
        buf_done(&roll.out);
        request_problem(request, 404, "there was no such section, or it was never changed");
    } else {
        roll_end(&roll);
    }
}

/* The revision in the path; NULL after a problem was answered. The caller unrefs it. */
static struct tree *revision_find(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *text = request_variable(request, 1);
    size_t len = strspn(text, "0123456789");
    struct tree *revision = NULL;
    struct err err;

    if (!text[len] && len && len < 16 && *text != '0' &&
        config_past_find(matchmakerd->shelf, request_variable(request, 0), strtoull(text, NULL, 10),
                         matchmakerd->symbols, &revision, &err) < 0) {
        request_problem(request, 503, "%s", err.text);
        return NULL;
    }
    if (!revision)
        request_problem(request, 404, "there is no such revision; the last %d are kept", CONFIG_PAST_MAX);
    return revision;
}

void api_config_revision(struct request *request)
{
    struct tree *revision = revision_find(request);

    if (revision)
        request_ad(request, 200, revision, NULL, 0);
    tree_unref(revision);
}

/* The section is again what it was at a revision: that is another change, with a revision of its own. */
void api_config_back(struct request *request)
{
    struct tree *revision = revision_find(request), *before;
    const struct expr *section = revision ? ad_find(revision, "Section") : NULL;
    char detail[40];

    if (!revision || !section_find(request, &before)) {
        tree_unref(revision);
        return;
    }
    snprintf(detail, sizeof detail, "back to %.20s", request_variable(request, 1));
    if (section)
        section_write(request, before, ad_part(revision, section), detail);
    else if (before)
        section_remove(request, before, detail);
    else
        request_problem(request, 409, "the section is not there, as it was not then");
    tree_unref(before);
    tree_unref(revision);
}
