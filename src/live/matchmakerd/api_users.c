/* api_users.c: users are disabled and enabled. Who is disabled is durable before it is answered.
 *
 *     disabled: rows name -> [ By; At; Reason; Now ]      the book (live/auth/disabled.h) has them all in memory
 *
 * What becomes of a disabled user: tokens of its own and all that was delegated from them are refused at the gate, its streams end, its ads
 * and the requests that others have made for it are withdrawn, and agents are told, so that no provider begins another claim of its. What
 * runs may end by itself; with Now providers end it. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/shut_out.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- rows */

static bool disabled_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct matchmakerd *matchmakerd = user;
    struct disabled_entry entry = {.at = 0};
    const char *text;
    size_t text_len;
    struct err err;
    struct tree *ad = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    /* A row that cannot be read still says who: it shuts out, rather than lets in. */
    if (ad && ad_string(ad, "By", &text, &text_len) && text_len < sizeof entry.by)
        memcpy(entry.by, text, text_len);
    if (ad && ad_string(ad, "Reason", &text, &text_len) && text_len < sizeof entry.reason)
        memcpy(entry.reason, text, text_len);
    if (ad)
        ad_integer(ad, "At", &entry.at), ad_flag(ad, "Now", &entry.now);
    disabled_set(&matchmakerd->disabled, key, key_len, &entry);
    tree_unref(ad);
    return true;
}

int disabled_load(struct matchmakerd *matchmakerd, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;

    return shelf->kind->each(shelf, DISABLED_SPACE, disabled_row, matchmakerd, err);
}

static struct tree *disabled_ad(struct matchmakerd *matchmakerd, const struct disabled_entry *entry)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "By", entry->by);
    maker_integer(&maker, "At", entry->at);
    maker_text(&maker, "Reason", entry->reason);
    maker_flag(&maker, "Now", entry->now);
    return maker_seal(&maker);
}

/* ------------------------------------------------------------------------------------------------- disabling and enabling */

/* Is it the name of a user who can be disabled: an account, as tokens have it? False after a problem was answered. */
static bool user_is_good(struct request *request, const char *name)
{
    if (!subject_valid(name, strlen(name)) || strlen(name) > TEXT_MAX) {
        request_problem(request, 400, "that is not a user name");
        return false;
    }
    if (!strcmp(name, "machine")) {
        request_problem(request, 400, "that is no user, but the name in front of all machines: name machine/NAME");
        return false;
    }
    if (!strcmp(name, "matchmaker")) {
        request_problem(request, 403, "that identity is the matchmaker's own");
        return false;
    }
    if (account_len(name, strlen(name)) < strlen(name)) {
        request_problem(request, 400, "what was delegated counts for %.*s: disable that user, or revoke the token",
                        (int)account_len(name, strlen(name)), name);
        return false;
    }
    return true;
}

static bool entry_read(struct request *request, const struct tree *ad, struct disabled_entry *ret)
{
    if (!body_text(request, ad, "Reason", "", ret->reason, sizeof ret->reason))
        return false;
    for (const char *at = ret->reason; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            request_problem(request, 400, "Reason: control characters are not for a reason");
            return false;
        }
    if (ad_find(ad, "Now") && !ad_flag(ad, "Now", &ret->now)) {
        request_problem(request, 400, "Now: expected true or false");
        return false;
    }
    return true;
}

/* The answer: the user's name and entry. */
static struct tree *answer_ad(struct matchmakerd *matchmakerd, const char *name, const struct disabled_entry *entry)
{
    struct tree *row = entry ? disabled_ad(matchmakerd, entry) : NULL, *ad;
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "User");
    maker_text(&maker, "Name", name);
    maker_flag(&maker, "Disabled", entry);
    if (row)
        maker_parts(&maker, row, NULL);
    ad = maker_seal(&maker);
    tree_unref(row);
    return ad;
}

static void user_disable(struct request *request, const char *name, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct disabled_entry entry = {.at = runner_wall() / SECOND};
    const struct disabled_entry *kept;
    struct tree *row;
    struct buf text;
    bool put;

    if (!entry_read(request, ad, &entry))
        return;
    snprintf(entry.by, sizeof entry.by, "%s", request_identity(request));
    row = disabled_ad(matchmakerd, &entry);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    put = request_row_put(request, DISABLED_SPACE, name, strlen(name), text.text, text.len);
    buf_done(&text);
    tree_unref(row);
    if (!put)
        return;
    disabled_set(&matchmakerd->disabled, name, strlen(name), &entry);
    kept = disabled_named(&matchmakerd->disabled, name, strlen(name));
    waitings_disabled(matchmakerd, name, kept);
    if (!agents_disable(request, name) ||
        !request_audit(request, "users.disable", name, *entry.reason ? entry.reason : NULL))
        return;
    LOG_AUDIT(&matchmakerd->log, "disabled", log_text("subject", request_identity(request)), log_text("user", name),
              log_flag("now", entry.now), log_text("reason", entry.reason));
    request_answer_durable(request, 200, answer_ad(matchmakerd, name, kept));
}

void api_user_disable(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    struct tree *ad;

    if (!user_is_good(request, name))
        return;
    if (identity_is_of(request_identity(request), strlen(request_identity(request)), name)) {
        request_problem(request, 409, "nobody disables himself: another administrator may");
        return;
    }
    if (!disabled_named(&matchmakerd->disabled, name, strlen(name)) &&
        matchmakerd->disabled.names.count >= DISABLED_MAX) {
        request_problem(request, 429,
                        "up to %d users can be disabled at a time: enable those whose tokens have all expired",
                        DISABLED_MAX);
        return;
    }
    ad = request_body_of(request, "Reason Now");
    if (ad)
        user_disable(request, name, ad);
    tree_unref(ad);
}

void api_user_enable(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    struct shelf *shelf = matchmakerd->shelf;
    struct err err;

    if (!user_is_good(request, name))
        return;
    if (!disabled_named(&matchmakerd->disabled, name, strlen(name))) {
        request_problem(request, 404, "that user is not disabled");
        return;
    }
    if (shelf->kind->remove(shelf, DISABLED_SPACE, name, strlen(name), &err) < 0) {
        request_store_failed(request, err.text);
        return;
    }
    disabled_remove(&matchmakerd->disabled, name, strlen(name));
    waitings_disabled(matchmakerd, name, NULL);
    if (!request_audit(request, "users.enable", name, NULL))
        return;
    LOG_AUDIT(&matchmakerd->log, "enabled", log_text("subject", request_identity(request)), log_text("user", name));
    request_answer_durable(request, 200, answer_ad(matchmakerd, name, NULL));
}
