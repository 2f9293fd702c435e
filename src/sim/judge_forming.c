/* judge_forming.c: 6: when a gang does not form, every member that is verified or pinned is told so at once.
 *
 *     bound, of each superior: members that have answered that they are verified or pinned, until they hear an abort, say that they
 *            are gone, or the superior has decided
 *
 * A superior that crashes forgets these members; then their leases run out. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"

static void bound_drop(struct judged_bound *bound, uint64_t claim)
{
    for (uint32_t i = 0; i < bound->count; i++)
        if (bound->items[i].claim == claim)
            bound->items[i--] = bound->items[--bound->count];
}

static void bound_add(struct judged_bound *bound, uint64_t claim, uint64_t above)
{
    bound_drop(bound, claim);
    if (bound->count < BOUND_SEEN)
        bound->items[bound->count++] = (struct bound_claim){claim, above};
}

void judge_unbound(struct judge *judge, const struct host *host)
{
    judge->bound[host->place].count = 0;
}

struct above_search {
    uint64_t above;
    bool found;
};

static void above_root(void *user, const struct root_view *root)
{
    struct above_search *search = user;

    search->found = search->found || root->gang == search->above;
}

/* Is the gang, or the tenant that has subordinates, still there? */
static bool above_is_there(struct judge *judge, const struct host *host, uint64_t above)
{
    struct above_search search = {.above = above};

    if (host->place >= judge->parties.providers)
        return judged_tenant(judge, host, above) != NULL;
    customer_each_root(host->role, above_root, &search);
    return search.found;
}

/* Who is above a claim: the root, by its gang; or the superior's own claim. */
static uint64_t above_of(struct judge *judge, const struct host *host, uint64_t claim)
{
    return host->place < judge->parties.providers ? judged_gangs_gang(judge->gangs, claim)
                                                  : judged_gangs_above(judge->gangs, claim);
}

static void answer_heard(struct judge *judge, const struct host *host, const struct message *message)
{
    struct judged_bound *bound = &judge->bound[host->place];

    if (message->kind == MESSAGE_VERIFIED && message->u.verified.reason == REASON_OK) {
        uint64_t above = above_of(judge, host, message->u.verified.claim);

        if (above && above_is_there(judge, host, above) &&
            !judged_gangs_decided(judge->gangs, message->u.verified.claim))
            bound_add(bound, message->u.verified.claim, above);
    } else if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason != REASON_OK &&
               message->u.claimed.reason != REASON_WAIT) {
        bound_drop(bound, message->u.claimed.claim);
    }
}

void judge_forming(struct judge *judge, const struct host *host, const struct event *event)
{
    struct judged_bound *bound = &judge->bound[host->place];

    if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT && !is_strangers(judge, event))
        answer_heard(judge, host, event->message);
    else if (event->kind == EVENT_MESSAGE && !is_strangers(judge, event) && event->message->kind == MESSAGE_LEFT)
        bound_drop(bound, event->message->u.left.claim);
    for (uint32_t i = 0; i < host->effects.count && bound->count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_ABORT)
            bound_drop(bound, effect->message.u.abort.claim);
        if (effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_RELEASE)
            bound_drop(bound, effect->message.u.release.claim);
        if (effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_ACTIVATE) /* the superior has decided */
            bound_drop(bound, effect->message.u.activate.claim);
        if (effect->kind == EFFECT_PERSIST && effect->record.kind == RECORD_BRANCH && !effect->record.removed &&
            host->place < judge->parties.providers)
            bound_drop(bound, effect->record.key);
    }
    for (uint32_t i = 0; i < bound->count; i++)
        if (!above_is_there(judge, host, bound->items[i].above)) {
            judge_finds(judge, 6, host, "a gang is given up, and its member of claim %llx, which is bound, is not told",
                        (unsigned long long)bound->items[i].claim);
            bound->count = 0;
        }
}
