/* what_if.c: ads as they might be: sent behind a question, they stand in the places of the pool's ads for that question alone.
 *
 *     [ the ad that asks ]  [ AdId = "m1"; as m1 might be ]  [ one that nobody has put in yet ] */
#include "live/matchmakerd/matchmakerd_parts.h"

#include "lang/base/mem.h"
#include "live/http/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the ad. Its name is the AdId that it says; -1 when that is none, or another's. */
static int supposed_add(struct supposed *supposed, struct tree *ad, struct err *err)
{
    struct supposed_ad *one = &supposed->items[supposed->count];
    const char *id = "";
    size_t len = 0;

    if (supposed->count == SUPPOSED_MAX) {
        tree_unref(ad);
        return err_set(err, "up to %d ads are supposed", SUPPOSED_MAX);
    }
    *one = (struct supposed_ad){.ad = ad};
    supposed->count++;
    if (ad_find(ad, "AdId") && (!ad_string(ad, "AdId", &id, &len) || !len || len > ID_LEN_MAX || memchr(id, 0, len)))
        return err_set(err, "AdId: the id of an ad is expected");
    if (!len)
        snprintf(one->id, sizeof one->id, "supposed-%u", supposed->count);
    else
        snprintf(one->id, sizeof one->id, "%.*s", (int)len, id);
    for (uint32_t i = 0; i + 1 < supposed->count; i++)
        if (!strcmp(supposed->items[i].id, one->id))
            return err_set(err, "AdId: %.60s is supposed twice", one->id);
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
                    struct supposed *supposed, struct err *err)
{
    struct form_limits limits = query_limits(&request->service->config);
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
    form = form_reader_new(request->service->symbols, media->dialect, kind, &limits, form_text_read, &reader);
    while (!failed && (got = form_reader_next(form, &ad, err)) > 0) {
        if (!first)
            first = ad;
        else
            failed = supposed_add(supposed, ad, err);
    }
    form_reader_free(form);
    if (!failed && got == 0 && !first)
        failed = err_set(err, "an ad is expected");
    if (failed || got < 0) {
        tree_unref(first);
        return -1;
    }
    *ret_ad = first;
    return 0;
}

struct tree *supposed_read(struct request *request, struct supposed *ret)
{
    struct err err = {0};
    struct tree *ad = NULL;
    struct media media;

    if (resource_media(exchange_field(request->exchange, "Content-Type")) != GRDL_FORM_UNKNOWN)
        return request_body_ad(request); /* a resource stands alone */
    if (!media_read(exchange_field(request->exchange, "Content-Type"), &media))
        request_problem(request, 415, "an ad is sent as %s or %s, with dialect=classic or dialect=condor", TYPE_CLASSAD,
                        TYPE_JSON);
    else if (body_ads(request, &media, &ad, ret, &err) < 0 && err.line)
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
    else if (!ad)
        request_problem(request, 400, "%s", err.text);
    return ad;
}

struct supposed_ad *supposed_find(struct supposed *supposed, const char *id)
{
    for (uint32_t i = 0; i < supposed->count; i++)
        if (!strcmp(supposed->items[i].id, id))
            return &supposed->items[i];
    return NULL;
}

void supposed_done(struct supposed *supposed)
{
    while (supposed->count)
        tree_unref(supposed->items[--supposed->count].ad);
}
