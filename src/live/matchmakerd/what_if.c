/* what_if.c: ads as they might be: sent after the ad that asks, they replace ads of the pool for that question alone.
 *
 *     [ the ad that asks ]  [ AdId = "m1"; as m1 might be ]  [ one that nobody has put in yet ] */
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/http/query.h"
#include "live/http/represent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds an ad, which it takes. Its name is its AdId; -1 when that is malformed, or another ad's. */
static int what_if_add(struct what_if *what_if, struct tree *ad, struct err *err)
{
    struct what_if_ad *one = &what_if->items[what_if->count];
    const char *id = "";
    size_t len = 0;

    if (what_if->count == SUPPOSED_MAX) {
        tree_unref(ad);
        return err_set(err, "at most %d ads can be supposed", SUPPOSED_MAX);
    }
    *one = (struct what_if_ad){.ad = ad};
    what_if->count++;
    if (ad_find(ad, "AdId") && (!ad_string(ad, "AdId", &id, &len) || !len || len > ID_LEN_MAX || memchr(id, 0, len)))
        return err_set(err, "AdId: expected the id of an ad");
    if (!len)
        snprintf(one->id, sizeof one->id, "supposed-%u", what_if->count);
    else
        snprintf(one->id, sizeof one->id, "%.*s", (int)len, id);
    for (uint32_t i = 0; i + 1 < what_if->count; i++)
        if (!strcmp(what_if->items[i].id, one->id))
            return err_set(err, "AdId: %.60s is given twice", one->id);
    return 0;
}

static bool body_is_json(const struct form_text *body)
{
    size_t at = 0;

    while (at < body->len && body->text[at] && strchr(" \t\r\n", body->text[at]))
        at++;
    return at < body->len && body->text[at] == '{';
}

static int body_ads(const struct request *request, const struct media *media, struct tree **ret_ad,
                    struct what_if *what_if, struct err *err)
{
    struct form_limits limits = query_limits(&request_matchmakerd(request)->config);
    struct tree *first = NULL, *ad;
    struct form_text reader;
    struct form_reader *form;
    enum form kind = media->form;
    int got, failed = 0;

    reader.text = exchange_body(request->exchange, &reader.len);
    if (utf8_check(reader.text, reader.len, err) < 0)
        return -1;
    if (kind == FORM_UNKNOWN)
        kind = body_is_json(&reader) ? FORM_JSON : FORM_CLASSAD;
    form =
        form_reader_new(request_matchmakerd(request)->symbols, media->dialect, kind, &limits, form_text_read, &reader);
    while (!failed && (got = form_reader_next(form, &ad, err)) > 0) {
        if (!first)
            first = ad;
        else
            failed = what_if_add(what_if, ad, err);
    }
    form_reader_free(form);
    if (!failed && got == 0 && !first)
        failed = err_set(err, "expected an ad");
    if (failed || got < 0) {
        tree_unref(first);
        return -1;
    }
    *ret_ad = first;
    return 0;
}

struct tree *what_if_read(struct request *request, struct what_if *ret)
{
    struct err err = {0};
    struct tree *ad = NULL;
    struct media media;

    if (resource_media(exchange_field(request->exchange, "Content-Type")) != GRDL_FORM_UNKNOWN)
        return request_body_ad(request); /* a resource comes alone */
    if (!media_read(exchange_field(request->exchange, "Content-Type"), &media))
        request_problem(request, 415, "an ad is sent as %s or %s, with dialect=classic or dialect=condor", TYPE_CLASSAD,
                        TYPE_JSON);
    else if (body_ads(request, &media, &ad, ret, &err) < 0 && err.line)
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
    else if (!ad)
        request_problem(request, 400, "%s", err.text);
    return ad;
}

struct what_if_ad *what_if_find(struct what_if *what_if, const char *id)
{
    for (uint32_t i = 0; i < what_if->count; i++)
        if (!strcmp(what_if->items[i].id, id))
            return &what_if->items[i];
    return NULL;
}

void what_if_done(struct what_if *what_if)
{
    while (what_if->count)
        tree_unref(what_if->items[--what_if->count].ad);
}
