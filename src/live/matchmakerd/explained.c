/* explained.c: what an explanation says beyond the two sides: what else the pool knows of the ad, and how many of the others are taken. */
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include <inttypes.h>

/* Removes the closing brace, so that more members can be added. */
static void object_open(struct buf *out)
{
    while (out->len && (out->text[out->len - 1] == '\n' || out->text[out->len - 1] == '}')) {
        bool brace = out->text[--out->len] == '}';

        if (brace)
            return;
    }
}

void explanation_end(const struct request *request, const char *id, uint64_t taken, struct buf *out)
{
    if (request->form == FORM_JSON) {
        object_open(out);
        buf_addf(out, ", \"taken\": %" PRIu64 ", \"hold\": ", taken);
        if (!id || !shares_explain_json(request_matchmakerd(request), id, out))
            buf_adds(out, "null");
        buf_adds(out, "}\n");
        return;
    }
    if (id)
        shares_explain(request_matchmakerd(request), id, out);
    if (taken)
        buf_addf(out, "%" PRIu64 " of them %s taken at the moment.\n", taken, taken == 1 ? "is" : "are");
}
