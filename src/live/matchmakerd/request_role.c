/* request_role.c: asking the role for a request; and answers that wait until rows are durable. */
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/machine_resource.h"
#include "live/matchmakerd/matchmakerd_state.h"

#include "lang/base/mem.h"
#include "pool/protocol/wire.h"

#include <stdlib.h>

/* While the lease has run out nobody can be answered: neither is anything taken, for who hears nothing tells it again. */
static bool role_rests(struct request *request)
{
    if (runner_may_act(request_matchmakerd(request)->runner))
        return false;
    request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
    return true;
}

bool request_ask(struct request *request, const struct peer *peer, const struct message *message)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);

    if (role_rests(request))
        return false;
    message_done(&matchmakerd->reply);
    matchmakerd->replied = false;
    matchmakerd->asked = request->number;
    runner_event(matchmakerd->runner,
                 &(struct event){.kind = EVENT_MESSAGE, .token = request->number, .peer = peer, .message = message});
    matchmakerd->asked = 0;
    machine_message_mark(&matchmakerd->front, peer->agent, message);
    if (!matchmakerd->replied && !runner_is_broken(matchmakerd->runner)) { /* the answer stands behind a row */
        if (role_rests(request))
            return false;
        message_refusal(message->kind, REASON_WAIT, &matchmakerd->reply);
        matchmakerd->replied = true;
    }
    if (!matchmakerd->replied)
        request_problem(request, 503, "the store has failed, and nothing is taken any more");
    return matchmakerd->replied;
}

struct pending_commit {
    struct matchmakerd *matchmakerd;
    struct request *request; /* NULL: the request has gone */
    void (*then)(struct request *request);
};

static void commit_forget(struct request *request)
{
    ((struct pending_commit *)request->work)->request = NULL;
}

static void commit_done(void *user, bool durable)
{
    struct pending_commit *commit = user;
    struct request *request = commit->request;

    if (request) {
        request->work = NULL;
        request->forget = NULL;
        if (durable)
            commit->then(request);
    }
    free(commit);
}

void request_store_failed(struct request *request, const char *why)
{
    request_problem(request, 503, "%s", why);
    runner_commit(request_matchmakerd(request)->runner, NULL, NULL); /* which fails too, and ends the matchmaker */
}

bool request_row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len)
{
    struct shelf *shelf = request_matchmakerd(request)->shelf;
    struct err err;

    if (shelf->kind->put(shelf, space, key, key_len, value, len, &err) == 0)
        return true;
    request_store_failed(request, err.text);
    return false;
}

void request_answer_kept(struct request *request)
{
    struct tree *ad = request->answer;
    const struct http_field fields[] = {{"ETag", request->answer_etag}};

    request->answer = NULL;
    if (ad) {
        request_ad(request, request->answer_status, ad, fields, *request->answer_etag ? 1 : 0);
        tree_unref(ad);
    } else {
        request_done(request);
    }
}

void request_answer_durable(struct request *request, unsigned status, struct tree *ad)
{
    request->answer = ad;
    request->answer_status = status;
    request_commit(request, request_answer_kept);
}

void request_commit(struct request *request, void (*then)(struct request *request))
{
    struct pending_commit *commit = mem_alloc(sizeof *commit);

    *commit = (struct pending_commit){request_matchmakerd(request), request, then};
    request->work = commit;
    request->forget = commit_forget;
    runner_commit(request_matchmakerd(request)->runner, commit_done, commit);
}

void request_message(struct request *request, unsigned status, const struct message *message,
                     const struct http_field *fields, size_t field_count)
{
    struct tree *ad = wire_message(request_matchmakerd(request)->symbols, message);

    request_ad(request, status, ad, fields, field_count);
    tree_unref(ad);
}

unsigned reason_status(enum reason reason)
{
    switch (reason) {
    case REASON_OK:
    case REASON_CONSUMED:
        return 200;
    case REASON_STALE:
    case REASON_CONFLICT:
        return 409;
    case REASON_BODY:
        return 412;
    case REASON_IDENTITY:
        return 403;
    case REASON_LIMIT:
        return 429;
    case REASON_UNKNOWN:
        return 404;
    default:
        return 400;
    }
}
