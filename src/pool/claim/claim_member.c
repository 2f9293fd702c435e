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

void claim_member_init(struct claim_member *branch, const struct edge *edge, const struct edges *below)
{
    *branch =
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

void claim_member_done(struct claim_member *branch)
{
    tree_unref(branch->ad);
    branch->ad = NULL;
    edges_unref(branch->below);
    branch->below = NULL;
    tree_unref(branch->receipt);
    branch->receipt = NULL;
}

void claim_member_go(struct claim_member *branch, int64_t now, enum claim_member_state state)
{
    branch->state = state;
    branch->sequence++;
    branch->flight = 0;
    branch->due = now;
    branch->pause = 0;
}

void claim_member_lives(struct claim_member *branch, const struct role_env *env, const struct spans *spans)
{
    int64_t lease = spans->lease + (MUTANT(NO_MARGIN) ? 0 : spans_margin(spans));

    /* the member may be dead already while those below it live on, each level as long as it heard from the one above */
    branch->lease = lease_clock(env) + lease * (int64_t)(1 + branch->depth);
    branch->alive = branch->alive == INT64_MAX ? env->now + lease : branch->alive;
}

/* ----------------------------------------------------------------------------------------------------------- saying */

static void say_verify(struct claim_member *branch, const struct claim_member_errand *errand, struct message *message)
{
    message->kind = MESSAGE_VERIFY;
    message->u.verify = (struct verify){.gang = errand->gang,
                                        .claim = branch->claim,
                                        .offer = branch->offer,
                                        .port = branch->port,
                                        .link = branch->link,
                                        .leads = branch->depth > 0,
                                        .proves = branch->proves,
                                        .nonce = branch->nonce,
                                        .proof = branch->proof,
                                        .ad = errand->ad,
                                        .root_owner = errand->root_owner,
                                        .receipt = branch->receipt};
}

static void claim_member_message(struct claim_member *branch, const struct claim_member_errand *errand,
                                 struct message *message)
{
    switch (branch->state) {
    case CLAIM_MEMBER_VERIFYING:
        say_verify(branch, errand, message);
        break;
    case CLAIM_MEMBER_COMMITTING:
        message->kind = MESSAGE_COMMIT;
        message->u.commit = (struct commit){branch->claim, branch->epoch, branch->sequence, errand->collect};
        break;
    case CLAIM_MEMBER_ACTIVATING:
        message->kind = MESSAGE_ACTIVATE;
        message->u.activate =
            (struct activate){branch->claim, branch->epoch, branch->sequence, errand->again ? errand->ad : NULL};
        break;
    case CLAIM_MEMBER_STARTING:
        message->kind = MESSAGE_START;
        message->u.start = (struct start){.claim = branch->claim,
                                          .epoch = branch->epoch,
                                          .sequence = branch->sequence,
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
        message->u.attach = (struct attach){branch->claim, branch->epoch};
        break;
    case CLAIM_MEMBER_RELEASING:
        message->kind = MESSAGE_RELEASE;
        message->u.release = (struct release){branch->claim, branch->epoch, branch->sequence};
        break;
    default:
        break;
    }
}

int64_t claim_member_run(struct claim_member *branch, const struct claim_member_errand *errand)
{
    struct message message = {.kind = MESSAGE_NONE};

    if (!claim_member_speaks(branch) || branch->flight)
        return INT64_MAX;
    if (branch->due > errand->env->now)
        return branch->due;
    claim_member_message(branch, errand, &message);
    branch->flight = ++branch->flights * CLAIM_MEMBER_TAGS + CLAIM_MEMBER_TAG;
    effects_send(errand->effects, branch->agent, &message, branch->claim, branch->flight, errand->after);
    return INT64_MAX;
}

void claim_member_abort(const struct claim_member *branch, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_ABORT};

    message.u.abort.claim = branch->claim;
    effects_send(effects, branch->agent, &message, branch->claim, CLAIM_MEMBER_TAG, 0);
}

/* ---------------------------------------------------------------------------------------------------------- hearing */

static void claim_member_keep_ad(struct claim_member *branch, struct tree *ad)
{
    tree_unref(branch->ad);
    branch->ad = tree_ref(ad);
}

/* The subordinate asks us to prove the ticket, on this channel. */
static void claim_member_challenged(struct claim_member *branch, const struct claim_member_errand *errand,
                                    const struct event *event)
{
    const struct secrets *secrets = errand->env->secrets;

    branch->proves = true;
    branch->channel = event->peer ? event->peer->channel : 0;
    secrets->draw(secrets->user, &branch->nonce, sizeof branch->nonce);
    ticket_proof(secrets, &branch->ticket, true, &event->message->u.verified.nonce, &branch->nonce, branch->channel,
                 &branch->proof);
    branch->due = errand->env->now;
}

static enum claim_member_news heard_verified(struct claim_member *branch, const struct claim_member_errand *errand,
                                             const struct event *event)
{
    const struct verified *verified = &event->message->u.verified;
    struct key proof;

    if (verified->reason == REASON_CHALLENGE) {
        claim_member_challenged(branch, errand, event);
        return CLAIM_MEMBER_SAME;
    }
    if (verified->reason == REASON_BUSY)
        return CLAIM_MEMBER_BUSY;
    if (verified->reason != REASON_OK || !branch->proves || !verified->ad || !tree_is_ad(verified->ad))
        return CLAIM_MEMBER_REFUSED;
    ticket_proof(errand->env->secrets, &branch->ticket, false, &verified->nonce, &branch->nonce, branch->channel,
                 &proof);
    if (!key_equal(&proof, &verified->proof))
        return CLAIM_MEMBER_REFUSED; /* it does not know the ticket: it is not the agent that advertised */
    if (branch->ad && !ad_executes(branch->ad) && ad_executes(verified->ad))
        return CLAIM_MEMBER_REFUSED; /* it was chosen as a member that runs nothing */
    claim_member_keep_ad(branch, verified->ad);
    branch->state = CLAIM_MEMBER_VERIFIED;
    return CLAIM_MEMBER_REACHED;
}

static enum claim_member_news heard_claimed(struct claim_member *branch, const struct claim_member_errand *errand,
                                            enum reason reason)
{
    if (branch->state == CLAIM_MEMBER_RELEASING) {
        if (reason != REASON_RELEASED && reason != REASON_UNKNOWN && reason != REASON_LOST) {
            branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
            return CLAIM_MEMBER_SAME;
        }
        branch->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    }
    if (reason == REASON_OK) {
        if (branch->state == CLAIM_MEMBER_COMMITTING) {
            claim_member_lives(branch, errand->env, errand->spans); /* this acknowledgement is the first heart beat */
            branch->attached = true;
        }
        branch->active = branch->active || branch->state == CLAIM_MEMBER_ACTIVATING;
        branch->state++; /* to the state behind the -ING */
        return CLAIM_MEMBER_REACHED;
    }
    if (reason == REASON_WAIT || (reason == REASON_BUSY && branch->state == CLAIM_MEMBER_ACTIVATING)) {
        branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
        return CLAIM_MEMBER_SAME;
    }
    if (reason == REASON_UNKNOWN && branch->state != CLAIM_MEMBER_COMMITTING) {
        branch->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    }
    return CLAIM_MEMBER_REFUSED;
}

static enum claim_member_news heard_attached(struct claim_member *branch, const struct claim_member_errand *errand,
                                             const struct attached *attached)
{
    switch (attached->reason) {
    case REASON_OK:
        if (attached->epoch != branch->epoch)
            return CLAIM_MEMBER_REFUSED;
        branch->attached = true;
        branch->active = attached->active;
        branch->number = attached->number;
        branch->job = attached->job;
        branch->state = attached->active ? CLAIM_MEMBER_ACTIVE : CLAIM_MEMBER_PINNED;
        return CLAIM_MEMBER_REACHED;
    case REASON_UNKNOWN:
    case REASON_LOST:
        branch->state = CLAIM_MEMBER_GONE;
        return CLAIM_MEMBER_LOST;
    case REASON_BUSY:
    case REASON_WAIT:
        branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
        return CLAIM_MEMBER_SAME;
    default:
        return CLAIM_MEMBER_REFUSED;
    }
}

enum claim_member_news claim_member_answer(struct claim_member *branch, const struct claim_member_errand *errand,
                                           const struct event *event)
{
    const struct message *message = event->message;
    bool claimed = branch->state == CLAIM_MEMBER_COMMITTING || branch->state == CLAIM_MEMBER_ACTIVATING ||
                   branch->state == CLAIM_MEMBER_STARTING || branch->state == CLAIM_MEMBER_RELEASING;

    if (!branch->flight || event->tag != branch->flight)
        return CLAIM_MEMBER_SAME;
    branch->flight = 0;
    if (event->answer == ANSWER_GOT && message) {
        if (message->kind == MESSAGE_VERIFIED && branch->state == CLAIM_MEMBER_VERIFYING)
            return heard_verified(branch, errand, event);
        if (message->kind == MESSAGE_CLAIMED && claimed)
            return heard_claimed(branch, errand, message->u.claimed.reason);
        if (message->kind == MESSAGE_ATTACHED && branch->state == CLAIM_MEMBER_ATTACHING)
            return heard_attached(branch, errand, &message->u.attached);
    }
    branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
    return CLAIM_MEMBER_SAME;
}
