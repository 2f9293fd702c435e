/* api_ends.c: which jobs of customers have ended, for customers whose stores are restored from a backup.
 *
 *     a customer  POST /v1/ends   [ Queue = "00c0..."; Last = 460; Ended = "57-63:done:EXITED:0 64:removed:RELEASED:0" ]   -> rows
 *     restored    GET /v1/ends?queue=00c0...                                                           <- the same
 *
 * A queue has a number that its customer has drawn: where one begins anew, with the numbers of jobs that there were before, it is another queue. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/ends_book.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include "sys/encoding.h"
#include "sys/names.h"

#include <string.h>

static uint64_t request_account(const struct request *request)
{
    return agent_handle(caller_text(&request_matchmakerd(request)->gate.callers, request->caller.account), "");
}

static void ends_post(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *text = "";
    struct err err = {0};
    uint64_t queue = 0;
    int64_t last = 0;
    size_t len = 0;

    if (!ad_word(ad, "Queue", &queue) || !queue || (ad_find(ad, "Ended") && !ad_string(ad, "Ended", &text, &len)) ||
        (ad_find(ad, "Last") && (!ad_integer(ad, "Last", &last) || last < 0))) {
        request_problem(request, 400, "expected a Queue of 16 hexadecimal digits, a text Ended and a number Last");
        return;
    }
    switch (ends_book_take(&matchmakerd->ends, request_account(request), queue, text, len, (uint64_t)last,
                           runner_wall() / SECOND, &err)) {
    case ENDS_TAKEN:
        request_commit(request, request_done);
        break;
    case ENDS_MALFORMED:
        request_problem(request, 400, "Ended: %s", err.text);
        break;
    case ENDS_FAILED:
        request_store_failed(request, err.text);
        break;
    }
}

void api_ends_post(struct request *request)
{
    struct tree *ad = request_body_of(request, "Queue Ended Last");

    if (ad && request_agent(request) != TEXTMAP_NONE)
        ends_post(request, ad);
    tree_unref(ad);
}

void api_ends_get(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *queue = request_query(request, "queue");
    uint64_t from, next, last;
    unsigned char bytes[8];
    struct maker maker;
    struct err err = {0};
    struct buf text;

    if (request_agent(request) == TEXTMAP_NONE || !request_number(request, "cursor", 0, ENDS_NUMBER_MAX, 0, &from))
        return;
    if (!queue || !hex_read(queue, strlen(queue), bytes, sizeof bytes)) {
        request_problem(request, 400, "queue: expected 16 hexadecimal digits");
        return;
    }
    buf_init(&text);
    if (ends_book_look(&matchmakerd->ends, request_account(request), id_number(queue, 16), from, &text, &next, &last,
                       &err) < 0) {
        request_store_failed(request, err.text);
    } else {
        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Ended", buf_string(&text));
        maker_integer(&maker, "Last", (int64_t)last);
        if (next)
            maker_integer(&maker, "Next", (int64_t)next);
        request_ad_take(request, 200, maker_seal(&maker));
    }
    buf_done(&text);
}
