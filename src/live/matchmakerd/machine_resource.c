/* machine_resource.c: a machine as a resource.
 *
 *     GET /v1/machines/heron                                     ETag: W/"9f2c..."   Link: </v1/machines/heron>; rel="self", </v1/agents/85d2db533499bd17>; rel="agent", ...
 *     GET /v1/machines/heron   Accept: application/grdl+xml      its characteristics: what in its ad is a value
 *     GET /v1/machines/heron?wait=20   If-None-Match: W/"9f2c..."    when it is another, or after 20 seconds
 *
 * The tag is of what the machine is and does: the ages of things are not in it. What a machine wants of others is an expression of the owner's, which GRDL
 * cannot say: as a resource it has characteristics alone. */
#include "live/matchmakerd/machine_resource.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "live/http/weak_tag.h"
#include "live/world/runner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

/* What the clock alone changes: of a machine, and of its claims. */
static const char *const by_clock[] = {"Since", "Heard", "Until", "Closes", "Ends", "Claims"};
static const char *const claim_by_clock[] = {"Age", "Ends"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void claims_without_ages(struct maker *maker, const struct tree *row)
{
    const struct expr *list = ad_find(row, "Claims");
    uint32_t count = list && list->kind == EXPR_LIST ? list->u.run.count : 0;
    struct tree **claims = mem_alloc((count + 1) * sizeof *claims);

    for (uint32_t i = 0; i < count; i++) {
        struct tree *claim = ad_part(row, &tree_parts(row, list)[i]);

        claims[i] = ad_without_all(claim, claim_by_clock, COUNT(claim_by_clock));
        tree_unref(claim);
    }
    maker_list(maker, "Claims", claims, count);
    while (count)
        tree_unref(claims[--count]);
    free(claims);
}

static void machine_tag(const struct tree *row, char out[WEAK_TAG_MAX])
{
    static const char *const nothing[] = {NULL};
    struct tree *rest = ad_without_all(row, by_clock, COUNT(by_clock)), *whole;
    struct maker maker;

    maker_init(&maker, row->symbols);
    maker_parts(&maker, rest, NULL);
    claims_without_ages(&maker, row);
    whole = maker_seal(&maker);
    weak_tag(whole, nothing, out);
    tree_unref(whole);
    tree_unref(rest);
}

/* ------------------------------------------------------------------------------------------------------------------ GRDL */

static bool is_value(const struct expr *e)
{
    return e->kind == EXPR_BOOLEAN || e->kind == EXPR_INTEGER || e->kind == EXPR_REAL || e->kind == EXPR_STRING;
}

/* Is it a value, or a list of values with something in it? */
static bool is_characteristic(const struct tree *ad, const struct expr *e)
{
    if (e->kind != EXPR_LIST)
        return is_value(e);
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!is_value(&tree_parts(ad, e)[i]))
            return false;
    return e->u.run.count;
}

/* What in the machine's ad is a value, and how it stands. The caller unrefs it. */
static struct tree *machine_values(const struct tree *row)
{
    const struct expr *part = ad_find(row, "Ad");
    struct tree *ad = part ? ad_part(row, part) : NULL, *shown, *values;
    const struct expr *parts = ad ? tree_parts(ad, tree_root(ad)) : NULL;
    struct buf names;
    struct maker maker;
    const char *state;
    size_t len;

    buf_init(&names);
    for (uint32_t i = 0; ad && i < tree_root(ad)->u.run.count; i++) {
        const char *name = symbols_text(ad->symbols, parts[i].label, &len);

        if (is_characteristic(ad, &parts[i]) && strcasecmp(name, "Constraint") != 0 && strcasecmp(name, "Rank") != 0)
            buf_addf(&names, "%s%.*s", names.len ? "," : "", (int)len, name);
    }
    shown = ad ? ad_select(ad->symbols, ad, buf_string(&names)) : NULL;
    maker_init(&maker, row->symbols);
    maker_parts(&maker, shown, NULL);
    if (ad_string(row, "State", &state, &len))
        maker_bytes(&maker, "State", state, len);
    values = maker_seal(&maker);
    tree_unref(shown);
    tree_unref(ad);
    buf_done(&names);
    return values;
}

/* --------------------------------------------------------------------------------------------------------------- events */

uint64_t machine_mark(agent who, uint64_t id)
{
    uint64_t mark = rng_mix(rng_mix(who) + id);

    return mark ? mark : 1;
}

void machine_message_mark(struct front *front, agent who, const struct message *message)
{
    if (!front_waits(front))
        return;
    if (message->kind == MESSAGE_STANDS)
        front_mark(front, machine_mark(who, message->u.stands.id));
    else if (message->kind == MESSAGE_ADVERTISE && message->u.advertise.ad)
        front_mark(front, machine_mark(who, message->u.advertise.id));
    else if (message->kind == MESSAGE_WITHDRAW)
        front_mark(front, machine_mark(who, message->u.withdraw.id));
}

/* --------------------------------------------------------------------------------------------------------------- answers */

static void links_print(struct buf *out, const struct request *request, const struct machine_view *view, bool own,
                        bool forgettable)
{
    const char *self = exchange_raw_path(request->exchange);

    buf_addf(out, "<%s>; rel=\"self\", </v1/agents/%016" PRIx64 ">; rel=\"agent\"", self, view->agent);
    if (own && request->caller.scope & SCOPE_AD_WRITE)
        buf_addf(out, ", </v1/agents/%016" PRIx64 "/commands>; rel=\"command\"; method=\"POST\"", view->agent);
    if (forgettable && request->caller.scope & SCOPE_AD_WRITE)
        buf_addf(out, ", <%s>; rel=\"forget\"; method=\"DELETE\"", self);
}

void machine_answer(struct request *request, const struct machine_view *view, const struct tree *row, bool own,
                    bool forgettable)
{
    struct tree *values = request->resource == GRDL_FORM_UNKNOWN ? NULL : machine_values(row);
    char etag[WEAK_TAG_MAX], date[HTTP_DATE_MAX];
    struct http_field fields[3];
    struct buf links;

    machine_tag(row, etag);
    if (resource_waits(request, etag, machine_mark(view->agent, view->id))) {
        tree_unref(values);
        return;
    }
    if (!answered_unchanged(request, etag)) {
        http_date((runner_wall() - (runner_now() - view->heard)) / SECOND, date);
        buf_init(&links);
        links_print(&links, request, view, own, forgettable);
        fields[0] = (struct http_field){"ETag", etag};
        fields[1] = (struct http_field){"Link", buf_string(&links)};
        fields[2] = (struct http_field){"Last-Modified", date};
        request_ad(request, 200, values ? values : row, fields, 3);
        buf_done(&links);
    }
    tree_unref(values);
}
