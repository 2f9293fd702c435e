/* agent_command.c: commands to an agent, which come by the stream of events that it opened; it answers by a call of its own.
 *
 *     letter -> carried out, what that changes and the answer on the shelf -> durable -> POST /v1/commands/NUMBER -> the pool has it
 *
 * What did not arrive is sent again with the next sign of life of the matchmaker. After a restart the letter comes again, and whoever
 * carries commands out finds in its own rows that it has. One that lay in the stream until its time was over is not carried out. Only the agent's own pool commands it. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "live/world/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLIES_MAX 256 /* that wait; what is asked beyond comes again */

struct command_reply {
    struct command_reply *next;
    struct live_agent *live;
    struct membership *pool; /* that gave the command */
    uint64_t number, key;
    struct tree *answer; /* held */
    bool durable, flying;
};

static void reply_free(struct command_reply *reply)
{
    struct command_reply **link = &reply->live->replies;

    while (*link != reply)
        link = &(*link)->next;
    *link = reply->next;
    tree_unref(reply->answer);
    free(reply);
}

void command_replies_done(struct live_agent *live)
{
    while (live->replies)
        reply_free(live->replies);
}

/* -------------------------------------------------------------------------------------------------------------- answers */

static void reply_sent(void *user, const struct http_outcome *outcome)
{
    struct command_reply *reply = user;

    if (outcome->result == CALL_CANCELLED)
        return; /* the agent ends */
    reply->flying = false;
    agent_heard(reply->pool, outcome);
    if (outcome->result == CALL_ANSWERED && outcome->status < 500 && outcome->status != 429 && outcome->status != 401)
        reply_free(reply); /* taken, or nobody wants it any more */
}

static void reply_send(struct command_reply *reply)
{
    struct live_agent *live = reply->live;
    struct agent_call call = {.url = ""};
    struct maker maker;
    struct tree *ad;
    char path[48];

    snprintf(path, sizeof path, "/v1/commands/%" PRIu64, reply->number);
    if (!agent_call(reply->pool, &call, "POST", path))
        return;
    maker_init(&maker, live->symbols);
    maker_word(&maker, "Key", reply->key);
    maker_parts(&maker, reply->answer, "Key");
    ad = maker_seal(&maker);
    buf_reset(&live->text);
    represent_ad(&live->text, FORM_CLASSAD, ad);
    tree_unref(ad);
    call.call.body = live->text.text;
    call.call.len = live->text.len;
    reply->flying = true;
    client_send(reply->pool->client, &call.call, reply_sent, reply);
}

void command_replies_send(struct live_agent *live)
{
    struct command_reply *next;

    for (struct command_reply *reply = live->replies; reply && !live->closing; reply = next) {
        next = reply->next;
        if (reply->durable && !reply->flying)
            reply_send(reply);
    }
}

/* The rows of an answer are on disk: now it may be sent. */
static void reply_durable(void *user, bool durable)
{
    struct command_reply *reply = user;

    if (!durable)
        return; /* the agent ends, and takes it along */
    reply->durable = true;
    if (!reply->live->closing)
        reply_send(reply);
}

/* ------------------------------------------------------------------------------------------------------------- letters */

/* Is the answer to that command on its way already? */
static bool reply_waits(struct live_agent *live, uint64_t key)
{
    for (struct command_reply *reply = live->replies; reply; reply = reply->next)
        if (reply->key == key) {
            if (reply->durable && !reply->flying)
                reply_send(reply);
            return true;
        }
    return false;
}

static struct tree *order_carry_out(struct membership *pool, const struct agent_order *order)
{
    struct live_agent *live = pool->live;
    const struct agent_settings *settings = live->settings;
    struct tree *answer = NULL;

    if (pool != live->pools)
        return command_reason(live->symbols, "refused", "it belongs to several pools, and obeys its own alone");
    if (settings->commanded)
        answer = settings->commanded(settings->user, order);
    return answer ? answer : command_reason(live->symbols, "refused", "it takes no commands");
}

void letter_command(struct membership *pool, const struct tree *letter)
{
    struct live_agent *live = pool->live;
    const struct expr *what = ad_find(letter, "What");
    struct agent_order order = {.life = 0};
    char by[TOKEN_NAME_MAX + 1] = "";
    struct command_reply *reply;
    const char *text;
    struct tree *ad;
    int64_t number;
    uint32_t count = 0;
    size_t len;

    if (!what || what->kind != EXPR_AD || !ad_integer(letter, "Number", &number) ||
        !ad_word(letter, "Key", &order.key) || !ad_integer(letter, "Left", &order.life) || order.life <= 0 ||
        reply_waits(live, order.key))
        return;
    for (reply = live->replies; reply; reply = reply->next)
        count++;
    if (count >= REPLIES_MAX)
        return;
    if (ad_string(letter, "By", &text, &len) && len <= TOKEN_NAME_MAX)
        memcpy(by, text, len);
    order.number = (uint64_t)number;
    if (ad_integer(letter, "Ends", &number) && number > order.life)
        order.told = number - order.life;
    order.late = command_is_late(letter, runner_settled(live->runner) / SECOND);
    order.by = by;
    order.what = ad = ad_part(letter, what);
    reply = mem_alloc(sizeof *reply);
    *reply = (struct command_reply){.next = live->replies,
                                    .live = live,
                                    .pool = pool,
                                    .number = order.number,
                                    .key = order.key,
                                    .answer = order_carry_out(pool, &order)};
    live->replies = reply;
    tree_unref(ad);
    runner_commit(live->runner, reply_durable, reply);
}

void agent_set_draining(struct live_agent *live, bool draining)
{
    if (live->draining == draining)
        return;
    live->draining = draining;
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (live->pools[i].standing != UNKNOWN_THERE) /* else it is told with all the rest */
            agent_describe(&live->pools[i]);
}
