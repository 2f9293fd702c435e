/* claim_member.c: an edge of a gang downwards. */
#include "pool/claim/claim_member.h"

#include "pool/claim/crew.h"
#include "pool/protocol/advert.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

int64_t lease_clock(const struct role_env *env)
{
    return MUTANT(WALL_LEASE) ? env->wall : env->now;
}

/* The edges under that claim; NULL: there are none. */
static struct edges *edges_under(const struct edges *all, uint64_t claim)
{
    struct edges *edges = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; all && i < all->count; i++)
        count += all->items[i].under == claim;
    if (!count)
        return NULL;
    edges = edges_new(count);
    for (uint32_t i = 0, n = 0; i < all->count; i++)
        if (all->items[i].under == claim)
            edges->items[n++] =
                (struct edge){.claim = all->items[i].claim, .agent = all->items[i].agent, .under = claim};
    return edges;
}

void claim_member_init(struct claim_member *member, const struct edge *edge, const struct edges *below)
{
    *member =
        (struct claim_member){.claim = edge->claim,
                              .agent = edge->agent,
                              .offer = edge->offer,
                              .depth = edge->depth < CLAIM_MEMBER_DEPTH_MAX ? edge->depth : CLAIM_MEMBER_DEPTH_MAX,
                              .port = edge->port,
                              .link = edge->link,
                              .ticket = edge->ticket,
                              .ad = edge->ad ? tree_ref(edge->ad) : NULL,
                              .below = edges_under(below, edge->claim),
                              .receipt = edge->receipt ? tree_ref(edge->receipt) : NULL,
                              .state = CLAIM_MEMBER_VERIFYING,
                              .lease = INT64_MAX,
                              .alive = INT64_MAX};
}

void claim_member_done(struct claim_member *member)
{
    tree_unref(member->ad);
    member->ad = NULL;
    edges_unref(member->below);
    member->below = NULL;
    tree_unref(member->receipt);
    member->receipt = NULL;
}

void claim_member_go(struct claim_member *member, int64_t now, enum claim_member_state state)
{
    member->state = state;
    member->sequence++;
    member->flight = 0;
    member->due = now;
    member->pause = 0;
}

void claim_member_lives(struct claim_member *member, const struct role_env *env, const struct spans *spans)
{
    int64_t lease = spans->lease + (MUTANT(NO_MARGIN) ? 0 : spans_margin(spans));

    /* the member may be dead already while those below it live on, each level as long as it heard from the one above */
    member->lease = lease_clock(env) + lease * (int64_t)(1 + member->depth);
    member->alive = member->alive == INT64_MAX ? env->now + lease : member->alive;
}

/* ----------------------------------------------------------------------------------------------------------- saying */

static void say_verify(struct claim_member *member, const struct claim_member_errand *errand, struct message *message)
{
    message->kind = MESSAGE_VERIFY;
    message->u.verify = (struct verify){.gang = errand->gang,
                                        .claim = member->claim,
                                        .offer = member->offer,
                                        .port = member->port,
                                        .link = member->link,
                                        .leads = member->depth > 0,
                                        .proves = member->proves,
                                        .nonce = member->nonce,
                                        .proof = member->proof,
                                        .ad = errand->ad,
                                        .root_owner = errand->root_owner,
                                        .receipt = member->receipt};
}

static void claim_member_message(struct claim_member *member, const struct claim_member_errand *errand,
                                 struct message *message)
{
    switch (member->state) {
    case CLAIM_MEMBER_VERIFYING:
        say_verify(member, errand, message);
        break;
    case CLAIM_MEMBER_COMMITTING:
        message->kind = MESSAGE_COMMIT;
        message->u.commit = (struct commit){member->claim, member->epoch, member->sequence, errand->collect};
        break;
    case CLAIM_MEMBER_ACTIVATING:
        message->kind = MESSAGE_ACTIVATE;
        message->u.activate =
            (struct activate){member->claim, member->epoch, member->sequence, errand->again ? errand->ad : NULL};
        break;
    case CLAIM_MEMBER_STARTING:
        message->kind = MESSAGE_START;
        message->u.start = (struct start){.claim = member->claim,
                                          .epoch = member->epoch,
                                          .sequence = member->sequence,
                                          .job = errand->job,
                                          .number = errand->number,
                                          .ad = errand->ad,
                                          .task = errand->hand.ad,
                                          .customer = errand->hand.customer,
                                          .line = errand->hand.line,
                                          .pass = errand->hand.pass,
                                          .helps = errand->hand.helps,
                                          .idle = errand->hand.idle};
        break;
    case CLAIM_MEMBER_ATTACHING:
        message->kind = MESSAGE_ATTACH;
        message->u.attach = (struct attach){member->claim, member->epoch};
        break;
    case CLAIM_MEMBER_RELEASING:
        message->kind = MESSAGE_RELEASE;
        message->u.release = (struct release){member->claim, member->epoch, member->sequence};
        break;
    default:
        break;
    }
}

int64_t claim_member_run(struct claim_member *member, const struct claim_member_errand *errand)
{
    struct message message = {.kind = MESSAGE_NONE};

    if (!claim_member_speaks(member) || member->flight)
        return INT64_MAX;
    if (member->due > errand->env->now)
        return member->due;
    claim_member_message(member, errand, &message);
    member->flight = ++member->flights * CLAIM_MEMBER_TAGS + CLAIM_MEMBER_TAG;
    effects_send(errand->effects, member->agent, &message, member->claim, member->flight, errand->after);
    return INT64_MAX;
}

void claim_member_abort(const struct claim_member *member, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_ABORT};

    message.u.abort.claim = member->claim;
    effects_send(effects, member->agent, &message, member->claim, CLAIM_MEMBER_TAG, 0);
}

/* ---------------------------------------------------------------------------------------------------------- hearing */

static void claim_member_keep_ad(struct claim_member *member, struct tree *ad)
{
    tree_unref(member->ad);
    member->ad = tree_ref(ad);
}

/* The subordinate asks us to prove the ticket, on this channel. */
static void claim_member_challenged(struct claim_member *member, const struct claim_member_errand *errand,
                                    const struct event *event)
{
    const struct secrets *secrets = errand->env->secrets;

    member->proves = true;
    member->channel = event->peer ? event->peer->channel : 0;
    secrets->draw(secrets->user, &member->nonce, sizeof member->nonce);
    ticket_proof(secrets, &member->ticket, true, &event->message->u.verified.nonce, &member->nonce, member->channel,
                 &member->proof);
    member->due = errand->env->now;
}

static enum claim_member_news heard_verified(struct claim_member *member, const struct claim_member_errand *errand,
                                             const struct event *event)
{
    const struct verified *verified = &event->message->u.verified;
    struct key proof;

    if (verified->reason == REASON_CHALLENGE) {
        claim_member_challenged(member, errand, event);
        return CLAIM_MEMBER_SAME;
    }
    if (verified->reason == REASON_BUSY)
        return CLAIM_MEMBER_BUSY;
    if (verified->reason != REASON_OK || !member->proves || !verified->ad || !tree_is_ad(verified->ad))
        return CLAIM_MEMBER_REFUSED;
    ticket_proof(errand->env->secrets, &member->ticket, false, &verified->nonce, &member->nonce, member->channel,
                 &proof);
    if (!key_equal(&proof, &verified->proof))
        return CLAIM_MEMBER_REFUSED; /* it does not know the ticket: it is not the agent that advertised */
    if (member->ad && !ad_executes(member->ad) && ad_executes(verified->ad))
        return CLAIM_MEMBER_REFUSED; /* it was chosen as a member that runs nothing */
    claim_member_keep_ad(member, verified->ad);
    member->state = CLAIM_MEMBER_VERIFIED;
    return CLAIM_MEMBER_REACHED;
}

static enum claim_member_news heard_claimed(struct claim_member *member, const struct claim_member_errand *errand,
                                            enum reason reason)
{
    if (member->state == CLAIM_MEMBER_RELEASING) {
        if (reason != REASON_RELEASED && reason != REASON_UNKNOWN && reason != REASON_LOST) {
            member->due = errand->env->now + pause_next(&member->pause, errand->env, errand->spans);
            return CLAIM_MEMBER_SAME;
        }
        member->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    }
    if (reason == REASON_OK) {
        if (member->state == CLAIM_MEMBER_COMMITTING) {
            claim_member_lives(member, errand->env, errand->spans); /* this acknowledgement is the first heart beat */
            member->attached = true;
        }
        member->active = member->active || member->state == CLAIM_MEMBER_ACTIVATING;
        member->state++; /* to the state behind the -ING */
        return CLAIM_MEMBER_REACHED;
    }
    if (reason == REASON_WAIT || (reason == REASON_BUSY && member->state == CLAIM_MEMBER_ACTIVATING)) {
        member->due = errand->env->now + pause_next(&member->pause, errand->env, errand->spans);
        return CLAIM_MEMBER_SAME;
    }
    if (reason == REASON_UNKNOWN && member->state != CLAIM_MEMBER_COMMITTING) {
        member->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    }
    return CLAIM_MEMBER_REFUSED;
}

static enum claim_member_news heard_attached(struct claim_member *member, const struct claim_member_errand *errand,
                                             const struct attached *attached)
{
    switch (attached->reason) {
    case REASON_OK:
        if (attached->epoch != member->epoch)
            return CLAIM_MEMBER_REFUSED;
        member->attached = true;
        member->active = attached->active;
        member->number = attached->number;
        member->job = attached->job;
        member->state = attached->active ? CLAIM_MEMBER_ACTIVE : CLAIM_MEMBER_PINNED;
        return CLAIM_MEMBER_REACHED;
    case REASON_UNKNOWN:
    case REASON_LOST:
        member->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    case REASON_BUSY:
    case REASON_WAIT:
        member->due = errand->env->now + pause_next(&member->pause, errand->env, errand->spans);
        return CLAIM_MEMBER_SAME;
    default:
        return CLAIM_MEMBER_REFUSED;
    }
}

enum claim_member_news claim_member_answer(struct claim_member *member, const struct claim_member_errand *errand,
                                           const struct event *event)
{
    const struct message *message = event->message;
    bool claimed = member->state == CLAIM_MEMBER_COMMITTING || member->state == CLAIM_MEMBER_ACTIVATING ||
                   member->state == CLAIM_MEMBER_STARTING || member->state == CLAIM_MEMBER_RELEASING;

    if (!member->flight || event->tag != member->flight)
        return CLAIM_MEMBER_SAME;
    member->flight = 0;
    if (event->answer == ANSWER_GOT && message) {
        if (message->kind == MESSAGE_VERIFIED && member->state == CLAIM_MEMBER_VERIFYING)
            return heard_verified(member, errand, event);
        if (message->kind == MESSAGE_CLAIMED && claimed)
            return heard_claimed(member, errand, message->u.claimed.reason);
        if (message->kind == MESSAGE_ATTACHED && member->state == CLAIM_MEMBER_ATTACHING)
            return heard_attached(member, errand, &message->u.attached);
    }
    member->due = errand->env->now + pause_next(&member->pause, errand->env, errand->spans);
    return CLAIM_MEMBER_SAME;
}
