/* explained.c: what an explanation says beyond the two sides: what else the pool knows of the ad, and how many of the others are taken. */
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/waits.h"

#include "lang/base/json.h"

#include <inttypes.h>
#include <string.h>

/* Removes the closing brace, so that more members can be added. */
static void object_open(struct buf *out)
{
    while (out->len && (out->text[out->len - 1] == '\n' || out->text[out->len - 1] == '}')) {
        bool brace = out->text[--out->len] == '}';

        if (brace)
            return;
    }
}

void explanation_end(const struct request *request, const char *id, uint64_t taken, const struct waits *waits,
                     struct buf *out)
{
    if (request->form == FORM_JSON) {
        object_open(out);
        buf_addf(out, ", \"taken\": %" PRIu64 ", \"hold\": ", taken);
        if (!id || !shares_explain_json(request_matchmakerd(request), id, out))
            buf_adds(out, "null");
        if (waits)
            waits_print_json(out, waits);
        buf_adds(out, "}\n");
        return;
    }
    if (id && !(waits && waits_tell_hold(waits)))
        shares_explain(request_matchmakerd(request), id, out);
    if (taken && !waits)
        buf_addf(out, "%" PRIu64 " of them %s taken at the moment.\n", taken, taken == 1 ? "is" : "are");
}

void explanation_add_reasons(struct buf *out, enum wait_reason first, const struct buf *text, const struct buf *more)
{
    object_open(out);
    buf_addf(out, ", \"first\": \"%s\", \"reasons\": [", wait_word(first));
    if (text->len) {
        buf_addf(out, "{\"code\": \"%s\", \"text\": ", wait_word(first));
        json_quote(out, text->text, text->len);
        buf_adds(out, ", \"machines\": 0, \"data\": {}, \"do\": ");
        json_quote(out, wait_can(first), strlen(wait_can(first)));
        buf_addc(out, '}');
    }
    buf_add(out, more->text, more->len);
    buf_addf(out, "], \"start\": {\"kind\": \"unknown\", \"why\": \"%s\"}}\n", wait_says(first));
}
