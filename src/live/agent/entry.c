/* entry.c: the one way in for messages: who sent it is proved, what it says is translated, and only then it is taken. */
#include "live/agent/entry.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/agent/agent_parts.h"
#include "pool/protocol/wire.h"
#include "sys/names.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- prove */

bool membership_revokes(void *pool, const char *id)
{
    const struct membership *membership = pool;

    return textmap_find(&membership->revoked, id, strlen(id)) != TEXTMAP_NONE;
}

/* Who that is, as the role knows it, once what it has was found good: its subject and scopes stand in the grant. */
static bool sender_set(struct sender *ret, struct membership *pool, const char *name)
{
    ret->is_matchmaker = !strcmp(ret->grant.subject, "matchmaker");
    if (!(ret->grant.scope & (ret->is_matchmaker ? SCOPE_MATCH : SCOPE_CLAIM)))
        return false;
    ret->there = ret->is_matchmaker ? 0 : agent_handle(ret->grant.subject, name);
    ret->peer = (struct peer){.agent = ret->is_matchmaker ? pool->matchmaker : handle_enter(pool, ret->there),
                              .identity = ret->grant.subject,
                              .any = ret->grant.scope & (SCOPE_SERVE | SCOPE_ADMIN)};
    ret->pool = pool;
    return true;
}

bool sender_by_token(struct sender *ret, struct membership *pool, const char *token, size_t len, const char *name)
{
    struct proof proof = {.tokens = pool->tokens,
                          .keys = &pool->keys,
                          .audience = pool->audience,
                          .revoked = membership_revokes,
                          .user = pool};
    enum token_fault fault = TOKEN_UNKNOWN_KEY;
    struct live_agent *live = pool->live;

    *ret = (struct sender){.pool = NULL};
    if (pool->has_keys)
        fault = token_check(&proof, token, len, runner_wall() / SECOND, &ret->grant);
    if (fault == TOKEN_UNKNOWN_KEY)
        agent_ask_keys(pool);
    if (fault != TOKEN_OK || (*name && !agent_name_is_good(name, strlen(name)))) {
        live->counts.refused++;
        LOG(live->settings->log, LEVEL_WARNING, "audit.refused", log_text("why", token_fault_words(fault)));
        return false;
    }
    return sender_set(ret, pool, name);
}

bool sender_by_call(struct sender *ret, struct membership *pool, const char *subject, scopes scope, const char *name)
{
    *ret = (struct sender){.grant.scope = scope};
    snprintf(ret->grant.subject, sizeof ret->grant.subject, "%s", subject);
    if (!*name || agent_name_is_good(name, strlen(name)))
        return sender_set(ret, pool, name);
    pool->live->counts.refused++;
    return false;
}

void sender_by_stream(struct sender *ret, struct membership *pool)
{
    *ret = (struct sender){
        .pool = pool, .is_matchmaker = true, .peer = {.agent = pool->matchmaker, .identity = "matchmaker"}};
}

void sender_by_asking(struct sender *ret, struct membership *pool, agent whom, uint64_t channel)
{
    const struct contact *contact = whom == pool->matchmaker ? NULL : contacts_find(&pool->contacts, whom);

    *ret = (struct sender){.pool = pool,
                           .is_matchmaker = whom == pool->matchmaker,
                           .there = contact ? contact->agent : 0,
                           .peer = {.agent = whom,
                                    .identity = whom == pool->matchmaker ? "matchmaker"
                                                : contact                ? contact->identity
                                                                         : NULL,
                                    .channel = channel}};
}

/* ---------------------------------------------------------------------------------------------------------- translate */

/* What a matchmaker says beside a refusal, for people who read it, is no part of the message. */
static struct tree *refusal_open(const struct sender *sender, const struct tree *ad)
{
    if (sender->is_matchmaker && ad_find(ad, "Detail"))
        return ad_without(ad, "Detail");
    return tree_ref((struct tree *)(uintptr_t)ad);
}

/* A matchmaker alone tells how others are reached. */
struct tree *entry_open(const struct sender *sender, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Contacts");
    struct membership *pool = sender->pool;
    bool more = false;

    if (!sender->is_matchmaker || !list)
        return tree_ref((struct tree *)(uintptr_t)ad);
    for (uint32_t i = 0; list->kind == EXPR_LIST && i < list->u.run.count; i++)
        more = contacts_take(&pool->contacts, ad, &tree_parts(ad, list)[i]) || more;
    if (more)
        runner_commit(pool->live->runner, NULL, NULL);
    return ad_without(ad, "Contacts");
}

/* May an agent say it unasked? What users tell their customer comes by the customer's own interface, which asks for their rights and looks at
 * what the job reads and where it leaves its files; a provider could have it write anywhere. */
static enum entry_result kind_check(enum message_kind kind)
{
    if (message_answer(kind) == MESSAGE_NONE)
        return ENTRY_UNASKED;
    return kind == MESSAGE_SUBMIT || kind == MESSAGE_CONTROL ? ENTRY_NOT_AGENTS : ENTRY_TAKEN;
}

/* Would it begin a claim for a disabled user: the sender's, the owner of the ad if the sender serves others, or the owner at the root? What
 * belongs to a claim that is there may be said: it ends in order. */
static bool verify_is_disabled(const struct sender *sender, const struct message *message)
{
    const struct disabled *book = &sender->pool->disabled;
    const struct verify *verify = &message->u.verify;
    const char *owner;
    size_t len;

    if (message->kind != MESSAGE_VERIFY || !book->names.count || sender->is_matchmaker)
        return false;
    return disabled_find(book, sender->peer.identity, strlen(sender->peer.identity)) ||
           disabled_find(book, verify->root_owner.bytes, strlen(verify->root_owner.bytes)) ||
           (verify->ad && ad_string(verify->ad, "Owner", &owner, &len) && disabled_find(book, owner, len));
}

/* --------------------------------------------------------------------------------------------------------------- take */

enum entry_result entry_take(const struct road *road, void *user, const struct sender *sender, const struct tree *ad,
                             struct err *err)
{
    struct message message;
    struct tree *bare, *plain;
    enum entry_result entry;
    int failed;

    if (!sender->pool)
        return ENTRY_UNPROVED;
    if (road->question && !sender->is_matchmaker && ad_find(ad, "Ask")) {
        road->question(user, sender, ad);
        return ENTRY_TAKEN;
    }
    bare = entry_open(sender, ad);
    plain = refusal_open(sender, bare);
    failed = wire_read_message(plain, &message, err);
    tree_unref(plain);
    tree_unref(bare);
    if (failed)
        return ENTRY_UNREAD;
    entry = road->answers ? ENTRY_TAKEN : kind_check(message.kind);
    if (entry == ENTRY_TAKEN && verify_is_disabled(sender, &message)) {
        sender->pool->live->counts.refused++;
        LOG(sender->pool->live->settings->log, LEVEL_WARNING, "audit.refused", log_text("why", "disabled"),
            log_text("subject", sender->peer.identity));
        entry = ENTRY_DISABLED;
    }
    if (entry == ENTRY_TAKEN) {
        message_enter(sender->pool, &message);
        road->message(user, sender, &message);
    }
    message_done(&message);
    return entry;
}

enum entry_result entry_take_text(const struct road *road, void *user, const struct sender *sender, const char *text,
                                  size_t len, struct err *err)
{
    enum entry_result entry;
    struct tree *ad;

    if (!sender->pool) /* nothing is read from strangers */
        return ENTRY_UNPROVED;
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    if (wire_parse(sender->pool->live->symbols, text, len, &ad, err) < 0)
        return ENTRY_UNREAD;
    entry = entry_take(road, user, sender, ad, err);
    tree_unref(ad);
    return entry;
}
