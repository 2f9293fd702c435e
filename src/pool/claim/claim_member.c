/* claim_member.c: an edge of a gang downwards. */
#include "pool/claim/claim_member.h"

#include "pool/claim/crew.h"
#include "pool/protocol/advert.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

int64_t lease_clock(const struct role_env *env)
{
    return PLANTED(WALL_LEASE) ? env->wall : env->now;
}

/* Those of them who are under that claim; NULL: nobody is. */
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

void branch_init(struct branch *branch, const struct edge *edge, const struct edges *below)
{
    *branch = (struct branch){.claim = edge->claim,
                              .agent = edge->agent,
                              .offer = edge->offer,
                              .depth = edge->depth < BRANCH_DEPTH_MAX ? edge->depth : BRANCH_DEPTH_MAX,
                              .port = edge->port,
                              .link = edge->link,
                              .ticket = edge->ticket,
                              .ad = edge->ad ? tree_ref(edge->ad) : NULL,
                              .below = edges_under(below, edge->claim),
                              .receipt = edge->receipt ? tree_ref(edge->receipt) : NULL,
                              .state = BRANCH_VERIFYING,
                              .lease = INT64_MAX,
                              .alive = INT64_MAX};
}

void branch_done(struct branch *branch)
{
    tree_unref(branch->ad);
    branch->ad = NULL;
    edges_unref(branch->below);
    branch->below = NULL;
    tree_unref(branch->receipt);
    branch->receipt = NULL;
}

void branch_go(struct branch *branch, int64_t now, enum branch_state state)
{
    branch->state = state;
    branch->sequence++;
    branch->flight = 0;
    branch->due = now;
    branch->pause = 0;
}

void branch_lives(struct branch *branch, const struct role_env *env, const struct spans *spans)
{
    int64_t lease = spans->lease + (PLANTED(NO_MARGIN) ? 0 : spans_margin(spans));

    /* it may be dead already while those below it live on, each level as long as it heard from the one above */
    branch->lease = lease_clock(env) + lease * (int64_t)(1 + branch->depth);
    branch->alive = branch->alive == INT64_MAX ? env->now + lease : branch->alive;
}

/* ----------------------------------------------------------------------------------------------------------- saying */

static void say_verify(struct branch *branch, const struct branch_errand *errand, struct message *message)
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

static void branch_message(struct branch *branch, const struct branch_errand *errand, struct message *message)
{
    switch (branch->state) {
    case BRANCH_VERIFYING:
        say_verify(branch, errand, message);
        break;
    case BRANCH_COMMITTING:
        message->kind = MESSAGE_COMMIT;
        message->u.commit = (struct commit){branch->claim, branch->epoch, branch->sequence, errand->collect};
        break;
    case BRANCH_ACTIVATING:
        message->kind = MESSAGE_ACTIVATE;
        message->u.activate =
            (struct activate){branch->claim, branch->epoch, branch->sequence, errand->again ? errand->ad : NULL};
        break;
    case BRANCH_STARTING:
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
    case BRANCH_ATTACHING:
        message->kind = MESSAGE_ATTACH;
        message->u.attach = (struct attach){branch->claim, branch->epoch};
        break;
    case BRANCH_RELEASING:
        message->kind = MESSAGE_RELEASE;
        message->u.release = (struct release){branch->claim, branch->epoch, branch->sequence};
        break;
    default:
        break;
    }
}

int64_t branch_run(struct branch *branch, const struct branch_errand *errand)
{
    struct message message = {.kind = MESSAGE_NONE};

    if (!branch_speaks(branch) || branch->flight)
        return INT64_MAX;
    if (branch->due > errand->env->now)
        return branch->due;
    branch_message(branch, errand, &message);
    branch->flight = ++branch->flights * BRANCH_TAGS + BRANCH_TAG;
    effects_send(errand->effects, branch->agent, &message, branch->claim, branch->flight, errand->after);
    return INT64_MAX;
}

void branch_abort(const struct branch *branch, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_ABORT};

    message.u.abort.claim = branch->claim;
    effects_send(effects, branch->agent, &message, branch->claim, BRANCH_TAG, 0);
}

/* ---------------------------------------------------------------------------------------------------------- hearing */

static void branch_keep_ad(struct branch *branch, struct tree *ad)
{
    tree_unref(branch->ad);
    branch->ad = tree_ref(ad);
}

/* It asks for a proof of the ticket, on this channel. */
static void branch_challenged(struct branch *branch, const struct branch_errand *errand, const struct event *event)
{
    const struct secrets *secrets = errand->env->secrets;

    branch->proves = true;
    branch->channel = event->peer ? event->peer->channel : 0;
    secrets->draw(secrets->user, &branch->nonce, sizeof branch->nonce);
    ticket_proof(secrets, &branch->ticket, true, &event->message->u.verified.nonce, &branch->nonce, branch->channel,
                 &branch->proof);
    branch->due = errand->env->now;
}

static enum branch_news heard_verified(struct branch *branch, const struct branch_errand *errand,
                                       const struct event *event)
{
    const struct verified *verified = &event->message->u.verified;
    struct key proof;

    if (verified->reason == REASON_CHALLENGE) {
        branch_challenged(branch, errand, event);
        return BRANCH_SAME;
    }
    if (verified->reason == REASON_BUSY)
        return BRANCH_BUSY;
    if (verified->reason != REASON_OK || !branch->proves || !verified->ad || !tree_is_ad(verified->ad))
        return BRANCH_REFUSED;
    ticket_proof(errand->env->secrets, &branch->ticket, false, &verified->nonce, &branch->nonce, branch->channel,
                 &proof);
    if (!key_equal(&proof, &verified->proof))
        return BRANCH_REFUSED; /* it does not know the ticket: it is not who advertised */
    if (branch->ad && !ad_executes(branch->ad) && ad_executes(verified->ad))
        return BRANCH_REFUSED; /* it was chosen as one that runs nothing */
    branch_keep_ad(branch, verified->ad);
    branch->state = BRANCH_VERIFIED;
    return BRANCH_REACHED;
}

static enum branch_news heard_claimed(struct branch *branch, const struct branch_errand *errand, enum reason reason)
{
    if (branch->state == BRANCH_RELEASING) {
        if (reason != REASON_RELEASED && reason != REASON_UNKNOWN && reason != REASON_LOST) {
            branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
            return BRANCH_SAME;
        }
        branch->state = BRANCH_GONE;
        return BRANCH_LOST;
    }
    if (reason == REASON_OK) {
        if (branch->state == BRANCH_COMMITTING) {
            branch_lives(branch, errand->env, errand->spans); /* this acknowledgement is the first heart beat */
            branch->attached = true;
        }
        branch->active = branch->active || branch->state == BRANCH_ACTIVATING;
        branch->state++; /* the one behind the -ING */
        return BRANCH_REACHED;
    }
    if (reason == REASON_WAIT || (reason == REASON_BUSY && branch->state == BRANCH_ACTIVATING)) {
        branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
        return BRANCH_SAME;
    }
    if (reason == REASON_UNKNOWN && branch->state != BRANCH_COMMITTING) {
        branch->state = BRANCH_GONE;
        return BRANCH_LOST;
    }
    return BRANCH_REFUSED;
}

static enum branch_news heard_attached(struct branch *branch, const struct branch_errand *errand,
                                       const struct attached *attached)
{
    switch (attached->reason) {
    case REASON_OK:
        if (attached->epoch != branch->epoch)
            return BRANCH_REFUSED;
        branch->attached = true;
        branch->active = attached->active;
        branch->number = attached->number;
        branch->job = attached->job;
        branch->state = attached->active ? BRANCH_ACTIVE : BRANCH_PINNED;
        return BRANCH_REACHED;
    case REASON_UNKNOWN:
    case REASON_LOST:
        branch->state = BRANCH_GONE;
        return BRANCH_LOST;
    case REASON_BUSY:
    case REASON_WAIT:
        branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
        return BRANCH_SAME;
    default:
        return BRANCH_REFUSED;
    }
}

enum branch_news branch_answer(struct branch *branch, const struct branch_errand *errand, const struct event *event)
{
    const struct message *message = event->message;
    bool claimed = branch->state == BRANCH_COMMITTING || branch->state == BRANCH_ACTIVATING ||
                   branch->state == BRANCH_STARTING || branch->state == BRANCH_RELEASING;

    if (!branch->flight || event->tag != branch->flight)
        return BRANCH_SAME;
    branch->flight = 0;
    if (event->answer == ANSWER_GOT && message) {
        if (message->kind == MESSAGE_VERIFIED && branch->state == BRANCH_VERIFYING)
            return heard_verified(branch, errand, event);
        if (message->kind == MESSAGE_CLAIMED && claimed)
            return heard_claimed(branch, errand, message->u.claimed.reason);
        if (message->kind == MESSAGE_ATTACHED && branch->state == BRANCH_ATTACHING)
            return heard_attached(branch, errand, &message->u.attached);
    }
    branch->due = errand->env->now + pause_next(&branch->pause, errand->env, errand->spans);
    return BRANCH_SAME;
}
