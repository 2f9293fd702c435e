/* job_secrets.c: what a job's ad says of its secrets. */
#include "live/customerd/job_secrets.h"

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool job_secrets_are_good(const struct tree *ad, const struct expr *e)
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(ad, e) : NULL;

    if (!parts || e->u.run.count > SECRETS_MAX)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        if (parts[i].kind != EXPR_STRING || !secret_name_is_good(tree_string(ad, &parts[i]), parts[i].u.run.count))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (parts[k].u.run.count == parts[i].u.run.count &&
                !memcmp(tree_string(ad, &parts[k]), tree_string(ad, &parts[i]), parts[i].u.run.count))
                return false;
    }
    return true;
}

bool job_has_secrets(const struct tree *ad)
{
    const struct expr *list = ad_find(ad, SECRET_ATTRIBUTE);

    return list && list->kind == EXPR_LIST && list->u.run.count;
}

uint64_t job_secrets_id(const struct tree *ad)
{
    uint64_t id = 0;

    return ad_word(ad, SECRET_ID_ATTRIBUTE, &id) ? id : 0;
}

/* Does the constraint ask for such a machine by a clause of its own, the last one, as `berth submit` writes it? */
static bool asks_already(const struct tree *ad, const struct expr *constraint)
{
    const struct expr *parts = constraint->kind == EXPR_CHAIN ? tree_parts(ad, constraint) : NULL;
    struct buf last;
    bool is = parts != NULL;

    for (uint32_t i = 1; is && i < constraint->u.run.count; i++)
        is = parts[i].label == OP_AND;
    buf_init(&last);
    if (is)
        print_expr(&last, ad, &parts[constraint->u.run.count - 1], PRINT_PLAIN);
    is = is && !strcmp(buf_string(&last), "other." SECRET_MACHINE_ATTRIBUTE);
    buf_done(&last);
    return is;
}

struct tree *job_secrets_set(const struct tree *ad, uint64_t id, struct err *err)
{
    const struct expr *before = ad_find(ad, "Constraint");
    const char *name = before || !ad_find(ad, "Requirements") ? "Constraint" : "Requirements";
    struct tree *layer, *whole = NULL;
    struct buf text;

    before = before ? before : ad_find(ad, "Requirements");
    buf_init(&text);
    buf_addf(&text, "[ " SECRET_ID_ATTRIBUTE " = \"%016" PRIx64 "\"; %s = ", id, name);
    if (before && asks_already(ad, before)) {
        print_expr(&text, ad, before, PRINT_PLAIN);
    } else {
        if (before) {
            buf_addc(&text, '(');
            print_expr(&text, ad, before, PRINT_PLAIN);
            buf_adds(&text, ") && ");
        }
        buf_adds(&text, "other." SECRET_MACHINE_ATTRIBUTE);
    }
    buf_adds(&text, " ]");
    layer = form_parse(ad->symbols, ad->dialect, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    if (layer)
        whole = ad_over(ad, layer, err);
    tree_unref(layer);
    buf_done(&text);
    return whole;
}

/* The name at that place in the list; false: there are no more. What job_secrets_are_good lets in has no others. */
static bool name_at(const struct tree *ad, uint32_t place, const char **ret, size_t *ret_len)
{
    const struct expr *list = ad_find(ad, SECRET_ATTRIBUTE), *part;

    if (!list || list->kind != EXPR_LIST || place >= list->u.run.count)
        return false;
    part = &tree_parts(ad, list)[place];
    *ret = part->kind == EXPR_STRING ? tree_string(ad, part) : "";
    *ret_len = part->kind == EXPR_STRING ? part->u.run.count : 0;
    return true;
}

bool job_secrets_missing(const struct tree *ad, const struct buf *bundle, char ret[SECRET_NAME_MAX + 1])
{
    struct secret secret;
    const char *name;
    size_t len;

    for (uint32_t i = 0; name_at(ad, i, &name, &len); i++)
        if (!secret_bundle_find(bundle->text, bundle->len, name, len, &secret)) {
            snprintf(ret, SECRET_NAME_MAX + 1, "%.*s", (int)(len < SECRET_NAME_MAX ? len : SECRET_NAME_MAX), name);
            return true;
        }
    return false;
}

int job_secrets_choose(const struct tree *ad, const struct buf *bundle, struct buf *ret, struct err *err)
{
    char missing[SECRET_NAME_MAX + 1];
    struct secret secret;
    const char *name;
    size_t len;

    if (job_secrets_missing(ad, bundle, missing))
        return err_set(err, "its secret '%s' is not kept here", missing);
    for (uint32_t i = 0; name_at(ad, i, &name, &len); i++)
        if (!secret_bundle_find(bundle->text, bundle->len, name, len, &secret) ||
            secret_bundle_add(ret, secret.name, secret.name_len, secret.bytes, secret.len, err) < 0)
            return -1;
    return 0;
}
