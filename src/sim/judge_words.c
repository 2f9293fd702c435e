/* judge_words.c: what parties say to each other, and whether they may. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"

#include <string.h>

static bool key_is_zero(const struct key *key)
{
    static const struct key zero;

    return !memcmp(key, &zero, sizeof zero);
}

/* Checks what a customer says to a member. The time of an acknowledgement is known only for honest members. */
static void root_sent(struct judge *judge, const struct host *host, const struct message *message, agent to)
{
    const struct spans *spans = judge->world->spans;
    const struct record *row;
    struct claim_fact *fact;

    switch (message->kind) {
    case MESSAGE_COMMIT:
        fact = judged_claim(judge, message->u.commit.claim);
        if (fact->root_life != host->life + 1) /* a new life may have been told of the match again */
            fact->committed = fact->acknowledged = 0;
        if (!fact->committed)
            fact->committed = judge->now;
        fact->root_life = host->life + 1;
        break;
    case MESSAGE_ACTIVATE:
        fact = judged_claim(judge, message->u.activate.claim);
        if (!judged_gangs_decided(judge->gangs, message->u.activate.claim))
            judge_finds(judge, 2, host, "activate is sent before the decision is durable");
        if (!fact->activated && !is_stranger(judge, (uint32_t)to - 1) &&
            (!fact->acknowledged || fact->acknowledged - fact->committed > spans->pin / 4))
            judge_finds(judge, 2, host, "activate is sent although the acknowledgements came too late");
        fact->activated = true;
        break;
    case MESSAGE_START:
        row = disk_find(&host->disk, RECORD_JOB, message->u.start.job);
        /* It may have waited for its row while the claim was lost, and the job recorded elsewhere: both are on disk then, and the claim, which is
         * over at the provider, obeys nobody. */
        if ((!row || row->u.job_record.number < message->u.start.number ||
             (row->u.job_record.state == JOB_IDLE && row->u.job_record.gang == 0)) &&
            judged_claim(judge, message->u.start.claim)->given < message->u.start.number)
            judge_finds(judge, 3, host, "a start is sent before it is recorded");
        break;
    case MESSAGE_RELEASE:
        judged_claim(judge, message->u.release.claim)->releasing = host->life + 1;
        break;
    case MESSAGE_ATTACH:
        if (judged_claim(judge, message->u.attach.claim)->row_epoch < message->u.attach.epoch)
            judge_finds(judge, 3, host, "re-attachment names an epoch that is not recorded");
        break;
    default:
        break;
    }
}

static void root_replied(struct judge *judge, const struct host *host, const struct message *message)
{
    if (message->kind == MESSAGE_BEATEN && message->u.beaten.reason == REASON_OK) {
        struct claim_fact *fact = judged_claim(judge, message->u.beaten.claim);

        if (fact->releasing == host->life + 1)
            judge_finds(judge, 2, host, "a heart beat of a claim that is being released is acknowledged");
        if (fact->root_life != host->life + 1 && !judged_gangs_stranger(judge->gangs, message->u.beaten.claim))
            judge_finds(judge, 3, host, "a heart beat is acknowledged before re-attachment");
    } else if (message->kind == MESSAGE_SUBMITTED && message->u.submitted.reason == REASON_OK) {
        for (uint64_t n = 0; n < message->u.submitted.count; n++)
            if (!judged_job(judge, host->place, message->u.submitted.first + n)->known)
                judge_finds(judge, 3, host, "a submission is acknowledged before it is durable");
    }
}

static void member_sent(struct judge *judge, const struct host *host, const struct message *message, uint64_t token)
{
    if (message->kind == MESSAGE_LEFT && judged_process(judge, host, message->u.left.claim))
        judge_finds(judge, 2, host, "a claim is said to be left while its job runs");
    if (message->kind == MESSAGE_LEFT && message->u.left.reason == REASON_PREEMPTED)
        judge_preemption(judge, host, message->u.left.claim);
    if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_RELEASED &&
        judged_process(judge, host, message->u.claimed.claim))
        judge_finds(judge, 2, host, "released is said while the job runs");
    if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_OK) {
        enum message_kind asked = net_asked(judge->world, token);
        const struct record *row = disk_find(&host->disk, RECORD_TENANT, message->u.claimed.claim);
        bool over = judged_claim(judge, message->u.claimed.claim)->over;

        if (!row && !over && (asked == MESSAGE_COMMIT || asked == MESSAGE_ACTIVATE || asked == MESSAGE_START))
            judge_finds(judge, 1, host, "a commit is acknowledged before the pin is durable");
        if (asked == MESSAGE_ACTIVATE && judged_way(judge, host, message->u.claimed.claim))
            judge_finds(judge, 2, host, "activate is acknowledged while the job of a claim in front runs");
    }
}

/* Checks that tickets go only to the agent that advertised the root, and are proved, never sent. */
static void check_secrets(struct judge *judge, const struct host *host, const struct effect *effect)
{
    const struct message *message = &effect->message;

    if (message->kind == MESSAGE_MATCH) {
        const struct edges *edges = message->u.match_told.edges;

        if (edges && edges->count &&
            judged_ad(judge, host_agent(host), effect->to, message->u.match_told.id)->incarnation !=
                *incarnation_of(judge, host->place))
            judge_finds(judge, 5, host, "tickets are sent to one who did not advertise");
        for (uint32_t i = 0; edges && i < edges->count; i++)
            judged_claim(judge, edges->items[i].claim)->ticket = edges->items[i].ticket;
    } else if (message->kind == MESSAGE_VERIFY || message->kind == MESSAGE_VERIFIED) {
        bool asks = message->kind == MESSAGE_VERIFY;
        const struct claim_fact *fact = judged_claim(judge, asks ? message->u.verify.claim : message->u.verified.claim);
        const struct key *nonce = asks ? &message->u.verify.nonce : &message->u.verified.nonce;
        const struct key *proof = asks ? &message->u.verify.proof : &message->u.verified.proof;

        if (!key_is_zero(&fact->ticket) &&
            (!memcmp(nonce, &fact->ticket, sizeof *nonce) || !memcmp(proof, &fact->ticket, sizeof *proof)))
            judge_finds(judge, 5, host, "a ticket is said instead of proved");
    }
}

void judge_sent(void *user, const struct host *host, const struct effect *effect)
{
    struct judge *judge = user;
    const struct parties *parties = &judge->parties;
    const struct message *message = &effect->message;

    if (is_stranger(judge, host->place))
        return;
    judge->now = host_now(judge->world, host);
    judged_gangs_sent(judge->gangs, host, effect);
    if (message->kind == MESSAGE_ADVERTISE && host->place < parties->users) {
        if (!is_matchmaker(judge, (uint32_t)effect->to - 1) && !key_is_zero(&message->u.advertise.key))
            judge_finds(judge, 5, host, "the key of an offer is sent to somebody else");
        judge_seen(judge, host, effect->to, &message->u.advertise);
    }
    if (message->kind == MESSAGE_PULL && host->place < parties->users &&
        !is_matchmaker(judge, (uint32_t)effect->to - 1))
        judge_finds(judge, 5, host, "the key of an offer that pulls is sent to somebody else");
    if (message->kind == MESSAGE_STANDS && host->place >= parties->providers && host->place < parties->users)
        judge_stands(judge, host, &message->u.stands);
    check_secrets(judge, host, effect);
    if (message->kind == MESSAGE_MATCH && is_matchmaker(judge, host->place))
        judge_charges(judge, host, effect);
    if (host->place >= parties->customers && host->place < parties->providers) {
        if (effect->kind == EFFECT_SEND)
            root_sent(judge, host, message, effect->to);
        else
            root_replied(judge, host, message);
    } else if (host->place >= parties->providers && host->place < parties->users) {
        member_sent(judge, host, message, effect->token);
    }
}
