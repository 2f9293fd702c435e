/* api_policy.c: the administrative policy: read and replaced. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "live/http/represent.h"
#include "pool/engine/engine.h"

static void policy_answer(struct request *request)
{
    request_kept(request, request_matchmakerd(request)->policy);
}

void api_policy_get(struct request *request)
{
    char etag[32];

    kept_etag(request_matchmakerd(request)->policy, etag);
    if (!answered_unchanged(request, etag))
        policy_answer(request);
}

struct tree *policy_body(struct request *request)
{
    struct tree *ad = request_body_ad(request);
    symbol wrong = SYMBOL_NONE;
    struct err err = {0};
    struct policy policy;
    size_t len;

    if (!ad)
        return NULL;
    if (policy_init(&policy, ad, &wrong, &err) < 0) {
        request_problem(request, 400, "%s: %s",
                        wrong == SYMBOL_NONE ? "policy"
                                             : symbols_text(request_matchmakerd(request)->symbols, wrong, &len),
                        err.text);
        tree_unref(ad);
        return NULL;
    }
    policy_done(&policy);
    return ad;
}

void api_policy_put(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct tree *ad = policy_body(request);
    struct buf text;
    struct err err;
    char etag[32];
    int failed;

    if (!ad)
        return;
    kept_etag(matchmakerd->policy, etag);
    if (!conditions_met(request, etag)) {
        tree_unref(ad);
        return;
    }
    buf_init(&text);
    buf_adds(&text, ad->dialect == &dialect_condor ? "condor " : "classic ");
    represent_ad(&text, FORM_CLASSAD, ad);
    failed = matchmakerd->shelf->kind->put(matchmakerd->shelf, POLICY_SPACE, "policy", 6, text.text, text.len, &err);
    buf_done(&text);
    if (failed) {
        tree_unref(ad);
        request_store_failed(request, err.text);
        return;
    }
    tree_unref(matchmakerd->policy);
    matchmakerd->policy = ad;
    runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_POLICY, .ad = ad});
    LOG_AUDIT(&matchmakerd->log, "policy", log_text("subject", request_identity(request)));
    if (request_audit(request, "policy.put", "policy", NULL))
        request_commit(request, policy_answer);
}
