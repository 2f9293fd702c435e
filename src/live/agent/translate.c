/* translate.c: what an agent's role says and hears, as each of its pools knows it.
 *
 *     in     handles of agents, in matches and of those who speak: mixed with the pool's id, so that nobody of one pool is taken for
 *            somebody of another who is called the same
 *     out    Owner in ads: who we are there. What a user is called in one pool means nothing in another; and the customer that a service
 *            names to those below it, as the pool has it */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <sodium.h>
#include <string.h>

#define SALT_PURPOSE "berth pool"
#define HANDLE_PURPOSE "berth agent of a pool"

static uint64_t hash_word(const char *purpose, size_t purpose_len, const void *bytes, size_t len, uint64_t word)
{
    unsigned char hash[crypto_generichash_BYTES], tail[8];
    crypto_generichash_state state;
    uint64_t ret = 0;

    for (int i = 0; i < 8; i++)
        tail[i] = (unsigned char)(word >> (8 * i));
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)purpose, purpose_len); /* with its NUL */
    crypto_generichash_update(&state, bytes, len);
    crypto_generichash_update(&state, tail, sizeof tail);
    crypto_generichash_final(&state, hash, sizeof hash);
    for (int i = 0; i < 8; i++)
        ret = ret << 8 | hash[i];
    return ret ? ret : 1;
}

uint64_t pool_salt(const char *issuer)
{
    return hash_word(SALT_PURPOSE, sizeof SALT_PURPOSE, issuer, strlen(issuer), 0);
}

/* The handle by which the role knows an agent of that pool. There is no way back: whoever tells us of handles cannot choose one that becomes what it
 * likes. */
agent handle_enter(const struct membership *pool, agent there)
{
    if (!pool->salt || !there)
        return there;
    return hash_word(HANDLE_PURPOSE, sizeof HANDLE_PURPOSE, &pool->salt, sizeof pool->salt, there);
}

void message_enter(const struct membership *pool, struct message *message)
{
    if (message->kind == MESSAGE_PULLED) {
        message->u.pulled.superior = handle_enter(pool, message->u.pulled.superior);
    } else if (message->kind == MESSAGE_MATCH) {
        struct edges *edges = message->u.match_told.edges;

        message->u.match_told.superior = handle_enter(pool, message->u.match_told.superior);
        message->u.match_told.customer = handle_enter(pool, message->u.match_told.customer);
        for (uint32_t i = 0; edges && i < edges->count; i++)
            edges->items[i].agent = handle_enter(pool, edges->items[i].agent);
        edges = message->u.match_told.below;
        for (uint32_t i = 0; edges && i < edges->count; i++)
            edges->items[i].agent = handle_enter(pool, edges->items[i].agent);
    } else if (message->kind == MESSAGE_START) {
        message->u.start.customer = handle_enter(pool, message->u.start.customer);
    }
}

/* The handle as the pool itself has it: only for agents of which it has told us, since there is no way back. */
static agent handle_leave(struct membership *pool, agent here)
{
    const struct contact *contact = pool->salt && here ? contacts_find(&pool->contacts, here) : NULL;

    return contact ? contact->agent : here;
}

/* The ad with another owner, if it says whose it is; the caller unrefs it. */
static struct tree *ad_owned(struct tree *ad, const char *owner)
{
    struct maker maker = {.count = 0};
    const char *text;
    size_t len;

    if (!tree_is_ad(ad) || !ad_string(ad, "Owner", &text, &len) || (len == strlen(owner) && !memcmp(text, owner, len)))
        return tree_ref(ad);
    build_init(&maker.build, ad->symbols, ad->dialect);
    maker_text(&maker, "Owner", owner);
    maker_parts(&maker, ad, "Owner");
    return maker_seal(&maker);
}

/* The ads are of the identity that we have there; but the job that a service hands on is another's. */
static void ads_leave(const struct membership *pool, const struct layout *layout, struct message *copy)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        struct tree **ad = (struct tree **)(void *)((char *)&copy->u + layout->fields[i].at), *owned;

        if (layout->fields[i].sort != FIELD_AD || !*ad || (copy->kind == MESSAGE_START && ad == &copy->u.start.task))
            continue;
        owned = ad_owned(*ad, pool->is.identity);
        tree_unref(*ad);
        *ad = owned;
    }
}

/* Takes out of a report what its matchmaker would refuse. */
static void report_leave(const struct membership *pool, struct report *report)
{
    if (!pool->takes_trace)
        report->trace = (struct text){{0}};
    if (pool->takes_usage)
        return;
    report->life = 0;
    report->wall = report->cpu = report->memory = report->taken = report->brought = report->jobs = 0;
}

const struct message *message_leave(struct membership *pool, const struct message *message, struct message *copy)
{
    const struct layout *layout = message_layout(message->kind);
    bool has_ad = false, other = pool != pool->live->pools, names = message->kind == MESSAGE_START && pool->salt;
    bool older = message->kind == MESSAGE_REPORT && !(pool->takes_usage && pool->takes_trace);

    *copy = (struct message){.kind = MESSAGE_NONE};
    for (uint32_t i = 0; layout && i < layout->count; i++)
        has_ad = has_ad || layout->fields[i].sort == FIELD_AD;
    if (!(other && has_ad) && !names && !older)
        return message;
    message_copy(copy, message);
    if (other && has_ad)
        ads_leave(pool, layout, copy);
    if (older)
        report_leave(pool, &copy->u.report);
    if (names)
        copy->u.start.customer = handle_leave(pool, copy->u.start.customer);
    return copy;
}
