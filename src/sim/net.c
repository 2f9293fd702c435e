/* net.c: messages between hosts: delayed, lost, delivered twice, overtaken by later ones, cut off in one direction.
 *
 *     send -> letter (perhaps two) -> owed -> reply -> the send is closed
 *
 * A send has one answer: the first that comes, or *unknown* when none has come by the deadline, on the sender's clock.
 *
 * A message for an earlier life of a role is dropped. One message in 64 goes through its wire form. */
#include "sim/world.h"

#include "pool/protocol/wire.h"
#include "sim/seats.h"

#include <string.h>

#define FORGET 4096 /* of 65536: the chance that another claim is remembered instead */
#define WIRE_ONE_IN 64
#define SWEEP_FROM 256
#define CHANNEL_SPAN (64 * SECOND) /* a connection between two lives of hosts lasts that long at most */

void net_init(struct world *world)
{
    world->letters.size = sizeof(struct sim_letter);
    world->sends.size = sizeof(struct send);
    world->owed.size = sizeof(struct owed);
    world->owed_sweep = SWEEP_FROM;
}

static uint64_t net_channel(const struct world *world, const struct host *from, const struct host *to)
{
    uint64_t word = (uint64_t)from->place << 40 | (uint64_t)to->place << 48 | from->life;

    return rng_mix(rng_mix(word ^ from->boot) ^ to->life ^ to->boot) ^ (uint64_t)(world->time / CHANNEL_SPAN);
}

/* Does the wire form of the message say the same? */
static bool net_wire(struct world *world, const struct message *message)
{
    struct err why = {0};

    return wire_same(world->symbols, message, &why);
}

/* How long a message takes, or -1 when it is lost. The second copy of a message comes at any time, often when everything is long over. */
static int64_t net_delay(struct world *world, uint32_t from, uint32_t to, bool second)
{
    const struct rates *rates = &world->rates;
    const struct spans *spans = world->spans;

    if (world->ways.delay)
        return world->ways.delay(world->ways.user, &world->hosts[from], &world->hosts[to]);
    if (from < HOSTS_MAX && to < HOSTS_MAX && world->cuts[from][to] > world->time) {
        world->faults[FAULT_CUT]++;
        return -1;
    }
    if (world_roll(world, rates->loss)) {
        world->faults[FAULT_LOSS]++;
        return -1;
    }
    if (second)
        return world_between(world, 0,
                             world_roll(world, 0x8000) ? spans->deadline / 2 : spans->window + spans->deadline);
    if (world_roll(world, rates->late)) {
        world->faults[FAULT_LATE]++;
        return world_between(world, spans->deadline,
                             world_roll(world, 0x4000) ? 3 * spans->lease : 3 * spans->deadline);
    }
    return world_between(world, rates->delay_least, rates->delay_most);
}

/* Posts a letter; its message moves with it. */
static void net_post(struct world *world, enum item item, struct sim_letter *letter, bool second)
{
    int64_t delay = net_delay(world, letter->from, letter->to, second);
    uint32_t index;

    if (delay < 0) {
        message_done(&letter->message);
        return;
    }
    if (rng_next(&world->rng) % WIRE_ONE_IN == 0 && !world->lean && !world->ways.tells &&
        !net_wire(world, &letter->message))
        world->broken = "the wire form of a message says something else";
    index = slab_take(&world->letters);
    *(struct sim_letter *)slab_at(&world->letters, index) = *letter;
    world_push(world, world->time + delay, item, index);
}

static void net_watch(struct world *world, const struct host *host, const struct effect *effect)
{
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].sent)
            world->watches[i].sent(world->watches[i].user, host, effect);
}

/* Sends a message that was said long ago and is still on its way; takes it. Nobody waits for its answer. */
static void net_stray(struct world *world, const struct host *host, const struct host *to, struct message *message)
{
    struct sim_letter letter = {.from = host->place, .to = to->place, .channel = net_channel(world, host, to)};
    struct send *send;

    letter.send = slab_take(&world->sends);
    letter.stamp = ++world->stamps;
    send = slab_at(&world->sends, letter.send);
    *send = (struct send){.stamp = letter.stamp, .open = 1, .host = host->place, .life = UINT32_MAX};
    send->order = world_push(world, world->time + 2 * world->spans->deadline, ITEM_TIMEOUT, letter.send);
    letter.message = *message;
    message->kind = MESSAGE_NONE;
    world->faults[FAULT_STRAY]++;
    net_post(world, ITEM_LETTER, &letter, true);
}

/* Remembers how one claim began. When that claim ends, its first messages come once more: a ticket must not be good twice. */
static void net_remember(struct world *world, const struct host *host, const struct host *to,
                         const struct message *message)
{
    uint64_t claim = world->old_verify.kind ? world->old_verify.u.verify.claim : 0;

    if (message->kind == MESSAGE_VERIFY && message->u.verify.proves &&
        (!world->old_commit.kind || world_roll(world, FORGET))) { /* not every claim ends with a release */
        message_done(&world->old_verify);
        message_done(&world->old_commit);
        message_copy(&world->old_verify, message);
    } else if (message->kind == MESSAGE_COMMIT && message->u.commit.claim == claim) {
        message_done(&world->old_commit);
        message_copy(&world->old_commit, message);
    } else if (world->old_commit.kind && ((message->kind == MESSAGE_RELEASE && message->u.release.claim == claim) ||
                                          (message->kind == MESSAGE_ABORT && message->u.abort.claim == claim))) {
        net_stray(world, host, to, &world->old_verify);
        net_stray(world, host, to, &world->old_commit);
    }
}

/* Lets `ways` change any message that leaves, or drop it (false); the judge has seen what the role wanted to say. */
static bool net_tells(const struct world *world, const struct host *host, struct message *message)
{
    return !world->ways.tells || world->ways.tells(world->ways.user, host, message);
}

void net_send(struct world *world, struct host *host, struct effect *effect)
{
    struct host *to = world_host(world, effect->to);
    struct sim_letter letter;
    struct send *send;

    net_watch(world, host, effect);
    letter.send = slab_take(&world->sends);
    send = slab_at(&world->sends, letter.send);
    *send = (struct send){
        .stamp = ++world->stamps,
        .open = 1,
        .host = host->place,
        .life = host->life,
        .tag = effect->tag,
        .token = effect->token,
    };
    send->order = world_push(world, host_true(world, host, host_now(world, host) + world->spans->deadline),
                             ITEM_TIMEOUT, letter.send);
    letter.stamp = send->stamp;
    letter.from = host->place;
    if (!to || !net_tells(world, host, &effect->message))
        return; /* the effect keeps the message, and its owner frees it */
    letter.to = to->place;
    letter.channel = net_channel(world, host, to);
    if (world_roll(world, world->rates.twice)) {
        world->faults[FAULT_TWICE]++;
        message_copy(&letter.message, &effect->message);
        net_post(world, ITEM_LETTER, &letter, true);
    }
    if (effect->message.kind == MESSAGE_ACTIVATE && world_roll(world, world->rates.stray)) {
        struct message abort = {.kind = MESSAGE_ABORT, .u.abort.claim = effect->message.u.activate.claim};

        net_stray(world, host, to, &abort);
    }
    if (world->rates.stray)
        net_remember(world, host, to, &effect->message);
    letter.message = effect->message;
    effect->message.kind = MESSAGE_NONE;
    net_post(world, ITEM_LETTER, &letter, false);
}

/* Drops entries whose sender no longer waits, or whose host has another life. */
static void owed_sweep(struct world *world)
{
    for (uint32_t i = 0; i < world->owed.count; i++) {
        struct owed *owed = slab_at(&world->owed, i);
        struct send *send = slab_at(&world->sends, owed->send);

        if (!owed->open ||
            (send->open && send->stamp == owed->send_stamp && world->hosts[owed->host].life == owed->life))
            continue;
        owed->open = 0;
        slab_give(&world->owed, i);
        world->owed_open--;
    }
    world->owed_sweep = world->owed_open * 2 > SWEEP_FROM ? world->owed_open * 2 : SWEEP_FROM;
}

static uint64_t owed_new(struct world *world, const struct sim_letter *letter)
{
    uint32_t index;

    if (world->owed_open >= world->owed_sweep)
        owed_sweep(world);
    index = slab_take(&world->owed);
    world->owed_open++;
    *(struct owed *)slab_at(&world->owed, index) = (struct owed){
        .stamp = ++world->stamps,
        .open = 1,
        .send = letter->send,
        .send_stamp = letter->stamp,
        .host = letter->to,
        .life = world->hosts[letter->to].life,
        .to = letter->from,
        .kind = letter->message.kind,
        .channel = letter->channel,
    };
    return (uint64_t)world->stamps << 32 | index;
}

/* Whom a letter reaches: while two processes believe to be the party, one of them. */
static struct host *letter_host(struct world *world, uint32_t place)
{
    struct host *host = &world->hosts[place], *ghost = host->candidate ? seats_ghost(world, host) : NULL;

    return ghost && world_roll(world, 0x8000) ? ghost : host;
}

void net_letter(struct world *world, uint32_t index)
{
    struct sim_letter letter = *(struct sim_letter *)slab_at(&world->letters, index);
    const struct host *from = &world->hosts[letter.from];
    struct host *to = letter_host(world, letter.to);

    if (seats_sleep(world, to)) {
        world_push(world, seats_sleep(world, to), ITEM_LETTER, index);
        return;
    }
    slab_give(&world->letters, index);
    if (to->role) {
        struct peer peer = {
            .agent = host_agent(from), .identity = from->identity, .any = from->any, .channel = letter.channel};

        host_event(
            world, to,
            &(struct event){
                .kind = EVENT_MESSAGE, .token = owed_new(world, &letter), .peer = &peer, .message = &letter.message});
    } else {
        world->faults[FAULT_DOWN]++;
    }
    message_done(&letter.message);
}

enum message_kind net_asked(const struct world *world, uint64_t token)
{
    const struct owed *owed = slab_at(&world->owed, (uint32_t)token);

    return (uint32_t)token < world->owed.count && owed->stamp == token >> 32 ? (enum message_kind)owed->kind
                                                                             : MESSAGE_NONE;
}

void net_reply(struct world *world, struct host *host, struct effect *effect)
{
    uint32_t index = (uint32_t)effect->token;
    struct owed *owed;
    struct sim_letter letter;

    if (index >= world->owed.count)
        return;
    owed = slab_at(&world->owed, index);
    if (!owed->open || owed->stamp != effect->token >> 32 || owed->host != host->place || owed->life != host->life)
        return;
    net_watch(world, host, effect);
    if (!net_tells(world, host, &effect->message))
        return;
    letter.send = owed->send;
    letter.stamp = owed->send_stamp;
    letter.from = host->place;
    letter.to = owed->to;
    letter.channel = owed->channel;
    letter.message = effect->message;
    effect->message.kind = MESSAGE_NONE;
    owed->open = 0;
    slab_give(&world->owed, index);
    world->owed_open--;
    net_post(world, ITEM_REPLY, &letter, false);
}

/* The host whose role waits for the answer, or NULL. */
static struct host *send_host(struct world *world, const struct send *send)
{
    struct host *host = &world->hosts[send->host];

    if (host->candidate && host->life != send->life)
        host = seats_ghost(world, host);
    return host && host->role && host->life == send->life ? host : NULL;
}

/* When that host hears of it: 0 when at once, as it is not asleep. */
static int64_t send_later(struct world *world, const struct send *send)
{
    const struct host *host = send_host(world, send);

    return host ? seats_sleep(world, host) : 0;
}

/* Closes the send; returns the host whose role waits for it, or NULL. */
static struct host *send_close(struct world *world, uint32_t index, struct send *ret)
{
    struct send *send = slab_at(&world->sends, index);

    *ret = *send;
    send->open = 0;
    slab_give(&world->sends, index);
    return send_host(world, ret);
}

void net_answer(struct world *world, uint32_t index)
{
    struct sim_letter letter = *(struct sim_letter *)slab_at(&world->letters, index);
    const struct send *open = slab_at(&world->sends, letter.send);
    const struct host *from = &world->hosts[letter.from];
    struct send send;
    struct host *host;

    if (open->open && open->stamp == letter.stamp && send_later(world, open)) {
        world_push(world, send_later(world, open), ITEM_REPLY, index);
        return;
    }
    slab_give(&world->letters, index);
    if (open->open && open->stamp == letter.stamp && (host = send_close(world, letter.send, &send))) {
        struct peer peer = {
            .agent = host_agent(from), .identity = from->identity, .any = from->any, .channel = letter.channel};

        host_event(world, host,
                   &(struct event){.kind = EVENT_ANSWER,
                                   .token = send.token,
                                   .tag = send.tag,
                                   .peer = &peer,
                                   .answer = ANSWER_GOT,
                                   .message = &letter.message});
    }
    message_done(&letter.message);
}

void net_timeout(struct world *world, uint32_t index, uint32_t order)
{
    struct send *open = slab_at(&world->sends, index), send;
    struct host *host;

    if (!open->open || open->order != order)
        return;
    if (send_later(world, open)) {
        open->order = world_push(world, send_later(world, open), ITEM_TIMEOUT, index);
        return;
    }
    host = send_close(world, index, &send);
    if (!host)
        return;
    host_event(world, host,
               &(struct event){.kind = EVENT_ANSWER, .token = send.token, .tag = send.tag, .answer = ANSWER_UNKNOWN});
}
