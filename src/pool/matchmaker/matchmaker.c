/* matchmaker.c: introduces ads that fit each other: one step of the role, and how its parts are wired.
 *
 *     an event      timers that are due -> the event itself -> when to wake
 *     EVENT_WAKE    as well: a slice of a cycle; each match goes to the ledgers, the registrar and the notifier
 *
 * Timers come first, in every step: anything past its time is gone before anything else is looked at. */
#include "pool/matchmaker/matchmaker_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "pool/protocol/ticket.h"

#include <stdlib.h>
#include <string.h>

/* A cycle in which no root was tried has only settled what offers say: it puts the next one off by this part of the interval. */
#define IDLE_PART 8
#define SLICE 4000 /* units of work: some ten milliseconds at the worst */

/* ------------------------------------------------------------------------------------------------------------- life */

static void *matchmaker_make(const void *settings)
{
    struct matchmaker *matchmaker = mem_alloc(sizeof *matchmaker);

    memset(matchmaker, 0, sizeof *matchmaker);
    matchmaker->settings = settings;
    matchmaker->wake = INT64_MAX;
    matchmaker->cycle_from = INT64_MIN;
    return matchmaker;
}

/* Sets a policy; an ad that is not one changes nothing. */
static void policy_take(struct step_ctx *step, struct tree *policy)
{
    struct matchmaker *matchmaker = step->matchmaker;

    if (engine_set_policy(matchmaker->engine, policy, NULL, NULL) < 0)
        effects_note(step->effects, REASON_INVALID, 0, "it is not a policy, and nothing was changed");
    else
        matchmaker->in_cycle = false;
}

/* Quotas may be parts of the pool, which is what is offered, what pulls, and what is claimed. */
static void pool_resize(struct step_ctx *step)
{
    struct matchmaker *matchmaker = step->matchmaker;

    registrar_resize(&matchmaker->registrar,
                     collector_weigh(&matchmaker->collector, step->env) +
                         puller_weight(&matchmaker->puller, step->env->now, matchmaker->settings->spans->lifetime));
}

/* The same as policy_take, for groups and limits. */
static void shares_take(struct step_ctx *step, struct tree *ad)
{
    struct matchmaker *matchmaker = step->matchmaker;
    struct shares shares;

    if (shares_read(ad, &shares, NULL) < 0) {
        effects_note(step->effects, REASON_INVALID, 0, "what was said of shares is wrong, and nothing was changed");
        return;
    }
    registrar_set_shares(&matchmaker->registrar, &shares);
    collector_regroup(&matchmaker->collector, step->env);
    pool_resize(step);
}

/* The gate that holds a root back: of a group that may have no more, or a limit that is used up. */
static uint32_t root_closed(void *user, uint32_t place)
{
    struct matchmaker *matchmaker = user;
    const struct entry *root = &matchmaker->collector.entries[place];
    uint32_t gate = registrar_closed(&matchmaker->registrar, root->user);
    struct limits_asked asked;

    if (gate != ENGINE_OPEN || !root->left ||
        !collector_asks(&matchmaker->collector, matchmaker->env, root->left, &asked))
        return gate;
    return limits_closed(&matchmaker->registrar.limits, &asked);
}

/* Makes the parts, at the first event, which brings what they need. */
static void matchmaker_begin(struct step_ctx *step)
{
    struct matchmaker *matchmaker = step->matchmaker;
    const struct matchmaker_settings *settings = matchmaker->settings;
    uint64_t seed = secrets_word(step->env->secrets);

    matchmaker->incarnation = secrets_word(step->env->secrets);
    matchmaker->engine = engine_new(step->env->symbols);
    engine_on_gang(matchmaker->engine, matchmaker_gang_made);
    engine_give_users(matchmaker->engine);
    matchmaker->accountant = accountant_new((double)settings->spans->half / (double)SECOND, seed);
    timers_init(&matchmaker->timers);
    collector_init(&matchmaker->collector, &(struct collector_settings){.spans = settings->spans,
                                                                        .symbols = step->env->symbols,
                                                                        .engine = matchmaker->engine,
                                                                        .timers = &matchmaker->timers,
                                                                        .timer_what = TIMER_ENTRY,
                                                                        .accountant = matchmaker->accountant,
                                                                        .ads_max = settings->ads_max,
                                                                        .incarnation = matchmaker->incarnation,
                                                                        .seed = seed});
    notifier_init(&matchmaker->notifier, settings->spans, &matchmaker->timers, TIMER_RECIPIENT, seed);
    registrar_init(&matchmaker->registrar, settings->spans, matchmaker->engine, matchmaker->accountant,
                   &matchmaker->timers, TIMER_CLAIM, TIMER_WRITE, TIMER_BOOK, seed);
    matchmaker->collector.groups = &matchmaker->registrar.groups;
    engine_set_gates(matchmaker->engine, root_closed, matchmaker);
    engine_tell_apart(matchmaker->engine, matchmaker->collector.names[COLLECTOR_LIMITS]);
    engine_set_work(matchmaker->engine, settings->work);
    engine_set_assignment(matchmaker->engine, settings->assignment - 1);
    registrar_begin(&matchmaker->registrar, step->env->now);
    puller_init(&matchmaker->puller, settings->ads_max, seed);
    machines_init(&matchmaker->machines, &matchmaker->collector, &matchmaker->timers, TIMER_MACHINE, settings->ads_max,
                  settings->machine_bytes_max, seed);
    planner_init(&matchmaker->planner, &matchmaker->collector, &matchmaker->machines,
                 settings->assignment ? 0 : settings->plans, seed);
    matchmaker->began = step->env->now;
    timers_set(&matchmaker->timers, registrar_knows(&matchmaker->registrar, step->env->now), TIMER_LEARNT, 0);
    if (settings->shares)
        shares_take(step, settings->shares);
    if (settings->policy)
        policy_take(step, settings->policy);
}

static void matchmaker_free(void *role)
{
    struct matchmaker *matchmaker = role;

    if (!matchmaker)
        return;
    if (matchmaker->incarnation) {
        collector_done(&matchmaker->collector);
        notifier_done(&matchmaker->notifier);
        registrar_done(&matchmaker->registrar);
        puller_done(&matchmaker->puller);
    }
    machines_done(&matchmaker->machines);
    planner_done(&matchmaker->planner);
    timers_done(&matchmaker->timers);
    engine_free(matchmaker->engine);
    accountant_free(matchmaker->accountant);
    free(matchmaker);
}

/* ---------------------------------------------------------------------------------------------------------- matches */

/* Tells the root of its member, with the ticket, and the member of its superior. */
static void match_tell(struct step_ctx *step, const struct match_told *match, const struct entry *root,
                       uint64_t root_number, const struct entry *offer, uint64_t offer_number, struct tree *root_ad,
                       struct tree *offer_ad)
{
    struct matchmaker *matchmaker = step->matchmaker;
    struct match_told to_root = *match, to_member = *match;
    struct edges *edges = edges_new(1);
    struct text owner;

    collector_owner(&matchmaker->collector, root_ad, &owner);
    edges->items[0] = (struct edge){.claim = match->claim,
                                    .agent = offer->agent,
                                    .offer = offer->id,
                                    .ad = tree_ref(offer_ad),
                                    .receipt = match->receipt ? tree_ref(match->receipt) : NULL};
    ticket_make(step->env->secrets, &offer->key, offer->id, match->claim, match->gang, owner.bytes,
                &edges->items[0].ticket);
    to_root.id = root->id;
    to_root.number = root_number;
    to_root.claim = 0;
    to_root.receipt = NULL;
    to_root.edges = edges;
    to_member.id = offer->id;
    to_member.number = offer_number;
    to_member.superior = root->agent;
    to_member.superior_ad = root_ad;
    notifier_add(&matchmaker->notifier, step->env, root->agent, &to_root, step->effects);
    notifier_add(&matchmaker->notifier, step->env, offer->agent, &to_member, step->effects);
    edges_unref(edges);
}

/* Tells the registrar who pays, what the claim counts for, and which limits it holds. The caller unrefs the receipt. */
static struct tree *match_expect(struct step_ctx *step, const struct match_told *match, const struct entry *offer,
                                 uint32_t user, const struct tree *root_ad, const struct tree *offer_ad)
{
    struct matchmaker *matchmaker = step->matchmaker;
    struct collector_match_ads ads = {
        .offer = offer_ad, .root = root_ad, .left = offer->left, .known = true, .whole = offer->ad};
    struct tally_unit unit;
    struct limits_asked asked;
    struct expected expected = {.claim = match->claim,
                                .gang = match->gang,
                                .from = offer->agent,
                                .offer = offer->id,
                                .user = user,
                                .asked = &asked,
                                .unit = &unit};

    collector_unit(&matchmaker->collector, step->env, &ads, &unit);
    collector_asks(&matchmaker->collector, step->env, root_ad, &asked);
    expected.weight = collector_weight(&matchmaker->collector, step->env, offer_ad, root_ad);
    return registrar_expect(&matchmaker->registrar, step->env, &expected);
}

/* The engine has taken a unit of each ad. Tells the ledgers, the registrar and both agents. */
static void match_made(void *user, uint32_t root_place, uint32_t offer_place, const struct value *rank,
                       struct tree *left)
{
    struct step_ctx *step = user;
    struct matchmaker *matchmaker = step->matchmaker;
    struct collector *collector = &matchmaker->collector;
    const struct secrets *secrets = step->env->secrets;
    int64_t now = step->env->now;
    struct match_told match = {.incarnation = matchmaker->incarnation, .window = matchmaker->settings->spans->window};
    const struct entry *root = &collector->entries[root_place], *offer = &collector->entries[offer_place];
    struct tree *root_ad, *offer_ad;
    uint64_t root_number, offer_number;

    (void)rank;
    (void)left;
    if (!collector_lives(collector, now, root_place) || !collector_lives(collector, now, offer_place)) {
        collector_restore(collector, root_place);
        collector_restore(collector, offer_place);
        return;
    }
    match.gang = secrets_word(secrets);
    match.claim = secrets_word(secrets);
    root_ad = tree_ref(root->left); /* the ads as they were matched */
    offer_ad = tree_ref(offer->left);
    root_number = collector_match(collector, step->env, root_place, NULL);
    offer_number = collector_match(collector, step->env, offer_place, root_ad);
    match.receipt = match_expect(step, &match, offer, root->user, root_ad, offer_ad);
    match_tell(step, &match, root, root_number, offer, offer_number, root_ad, offer_ad);
    matchmaker->matches++;
    tree_unref(match.receipt);
    tree_unref(root_ad);
    tree_unref(offer_ad);
}

static void plans_due(struct step_ctx *step, int64_t at)
{
    if (at != INT64_MAX)
        timers_set(&step->matchmaker->timers, at, TIMER_PLANS, 0);
}

/* Does a slice of the present cycle, or the first of a new one. */
static void cycle_go_on(struct step_ctx *step)
{
    struct matchmaker *matchmaker = step->matchmaker;
    const struct matchmaker_settings *settings = matchmaker->settings;
    int64_t seconds = wall_seconds(step->env->wall);

    if (!matchmaker->in_cycle) {
        struct env env = {.now = seconds, .zone = step->env->zone};

        if (step->env->now < matchmaker->cycle_from || !engine_wants(matchmaker->engine, seconds))
            return;
        if (settings->assignment && !matchmaker->gathers) { /* a window begins with the first root that comes */
            matchmaker->gathers = true;
            matchmaker->cycle_from = step->env->now + settings->spans->cycle;
            return;
        }
        matchmaker->gathers = false;
        env.seed = rng_next(step->env->chance);
        if (matchmaker->registrar.groups.count > 1)
            pool_resize(step);
        registrar_price(&matchmaker->registrar, step->env);
        engine_begin(matchmaker->engine, &env);
        matchmaker->cycle_from = step->env->now + (settings->assignment ? 0 : settings->spans->cycle);
        matchmaker->cycles++;
    }
    matchmaker->in_cycle = engine_step(matchmaker->engine, step->env->scratch,
                                       settings->slice ? settings->slice : SLICE, match_made, step);
    if (!matchmaker->in_cycle)
        plans_due(step, planner_cycle(&matchmaker->planner, step->env));
    if (!matchmaker->in_cycle && !engine_counts(matchmaker->engine).tried &&
        matchmaker->cycle_from > step->env->now + settings->spans->cycle / IDLE_PART)
        matchmaker->cycle_from = step->env->now + settings->spans->cycle / IDLE_PART;
}

/* --------------------------------------------------------------------------------------------------------- messages */

/* Replies with an answer of the right kind that only says why not. An answer itself gets none. */
static void message_refuse(struct step_ctx *step, const struct event *event, enum reason reason)
{
    struct message answer;
    const struct layout *layout;

    memset(&answer, 0, sizeof answer);
    answer.kind = message_answer(event->message->kind);
    if (answer.kind == MESSAGE_NONE)
        return;
    layout = message_layout(answer.kind);
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->fields[i].sort == FIELD_REASON)
            memcpy((char *)&answer.u + layout->fields[i].at, &reason, sizeof reason);
    effects_reply(step->effects, event->token, &answer, 0);
}

static void reply_got(struct step_ctx *step, uint64_t token, enum reason reason, uint64_t after)
{
    struct message answer = {.kind = MESSAGE_GOT};

    answer.u.got.reason = reason;
    effects_reply(step->effects, token, &answer, after);
}

/* Tells whoever has just renewed a request when and where it is planned. The name of a machine that is too long for that is not told. */
static void plan_tell(const struct step_ctx *step, agent who, const struct advertise *advertise, struct advertised *ret)
{
    const struct matchmaker *matchmaker = step->matchmaker;
    const struct machine_record *machine;
    struct plan_view plan;
    const char *name;
    size_t len;

    if (!matchmaker->planner.count || (ret->reason != REASON_OK && ret->reason != REASON_CONSUMED) ||
        !matchmaker_planned(matchmaker, who, advertise->id, &plan))
        return;
    ret->planned = plan.start > step->env->now ? plan.start - step->env->now : 1;
    machine = machines_find(&matchmaker->machines, plan.agent, plan.machine);
    if (machine && machine->whole && ad_string(machine->whole, "Name", &name, &len) && len <= TEXT_MAX)
        text_set(&ret->planned_on, name, len);
}

static void message_take(struct step_ctx *step, const struct event *event)
{
    struct matchmaker *matchmaker = step->matchmaker;
    const struct message *message = event->message;
    struct puller_pool puller_pool = {&matchmaker->collector, &matchmaker->registrar, &matchmaker->notifier};
    struct message answer;
    enum reason reason;
    uint64_t offer = 0, after = 0;

    if (!message)
        return;
    if (!event->peer || !event->peer->agent) {
        message_refuse(step, event, REASON_IDENTITY);
        return;
    }
    switch (message->kind) {
    case MESSAGE_ADVERTISE:
        answer.kind = MESSAGE_ADVERTISED;
        collector_advertise(&matchmaker->collector, step->env, event->peer, &message->u.advertise,
                            &answer.u.advertised);
        if (!message->u.advertise.request &&
            (answer.u.advertised.reason == REASON_OK || answer.u.advertised.reason == REASON_CONSUMED))
            machines_offered(&matchmaker->machines, step->env, event->peer, message->u.advertise.id);
        plan_tell(step, event->peer->agent, &message->u.advertise, &answer.u.advertised);
        effects_reply(step->effects, event->token, &answer, 0);
        break;
    case MESSAGE_WITHDRAW:
        reason = collector_withdraw(&matchmaker->collector, step->env, event->peer, &message->u.withdraw);
        if (reason == REASON_OK)
            machines_withdrawn(&matchmaker->machines, event->peer, message->u.withdraw.id);
        reply_got(step, event->token, reason, 0);
        break;
    case MESSAGE_STANDS:
        reply_got(step, event->token, machines_take(&matchmaker->machines, step->env, event->peer, &message->u.stands),
                  0);
        break;
    case MESSAGE_PULL:
        answer.kind = MESSAGE_PULLED;
        if (matchmaker->registrar.groups.count > 1)
            pool_resize(step);
        matchmaker->matches += puller_take(&matchmaker->puller, &puller_pool, step->env, event->peer, &message->u.pull,
                                           &answer.u.pulled, step->effects);
        effects_reply(step->effects, event->token, &answer, 0);
        break;
    case MESSAGE_REPORT:
        reason = registrar_report(&matchmaker->registrar, step->env, event->peer, &message->u.report, &offer, &after);
        if (offer)
            machines_heard(&matchmaker->machines, step->env, event->peer, offer);
        reply_got(step, event->token, reason, after);
        break;
    default:
        message_refuse(step, event, REASON_INVALID);
    }
}

static void answer_take(struct step_ctx *step, const struct event *event)
{
    bool heard = event->answer == ANSWER_GOT && event->message && event->message->kind == MESSAGE_GOT &&
                 event->message->u.got.reason == REASON_OK;

    if (event->tag == MESSAGE_MATCH)
        notifier_answer(&step->matchmaker->notifier, step->env, event->token, heard, step->effects);
}

/* ------------------------------------------------------------------------------------------------------------- step */

static void timers_run(struct step_ctx *step)
{
    struct matchmaker *matchmaker = step->matchmaker;
    struct timer timer;

    while (timers_pop(&matchmaker->timers, step->env->now, &timer)) {
        uint32_t which = (uint32_t)timer.which;

        switch ((enum timer_what)timer.what) {
        case TIMER_ENTRY:
            collector_due(&matchmaker->collector, step->env, which, timer.at);
            break;
        case TIMER_RECIPIENT:
            notifier_due(&matchmaker->notifier, step->env, which, step->effects);
            break;
        case TIMER_CLAIM:
            registrar_claim_due(&matchmaker->registrar, step->env, which, timer.at);
            break;
        case TIMER_WRITE:
            registrar_write_due(&matchmaker->registrar, step->env, step->effects);
            break;
        case TIMER_BOOK:
            registrar_book_due(&matchmaker->registrar, step->env, step->effects);
            break;
        case TIMER_LEARNT:
            limits_learnt(&matchmaker->registrar.limits);
            break;
        case TIMER_MACHINE:
            machines_due(&matchmaker->machines, step->env, which, timer.at);
            break;
        case TIMER_PLANS: /* within a cycle, what waits is not known */
            plans_due(step, matchmaker->in_cycle ? step->env->now + SECOND / 10
                                                 : planner_run(&matchmaker->planner, step->env));
            break;
        }
    }
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When the engine wants to go on: at once within a cycle; when the next cycle may begin; or, for ads that depend on the
 * time, with the next second. */
static int64_t cycle_next(const struct matchmaker *matchmaker, const struct role_env *env)
{
    int64_t seconds = wall_seconds(env->wall);

    if (matchmaker->in_cycle)
        return env->now;
    if (engine_wants(matchmaker->engine, seconds))
        return later(env->now, matchmaker->cycle_from);
    if (engine_wants(matchmaker->engine, seconds + 1))
        return later(env->now + (seconds + 1) * SECOND - env->wall, matchmaker->cycle_from);
    return INT64_MAX;
}

/* Asks the world for a wake-up only when its time has changed; and not again when it is due already, or agents that
 * send one message after the other would put it off. */
static void wake_set(struct step_ctx *step)
{
    struct matchmaker *matchmaker = step->matchmaker;
    int64_t at = timers_next(&matchmaker->timers), next = cycle_next(matchmaker, step->env);

    if (next < at)
        at = next;
    if (at == matchmaker->wake || (at <= step->env->now && matchmaker->wake <= step->env->now))
        return;
    matchmaker->wake = at;
    effects_wake(step->effects, at);
}

static void matchmaker_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct step_ctx step = {role, env, effects};

    step.matchmaker->env = env;
    if (!step.matchmaker->incarnation)
        matchmaker_begin(&step);
    registrar_clock(&step.matchmaker->registrar, env);
    if (event->kind == EVENT_LOADED) {
        if (event->record)
            registrar_load(&step.matchmaker->registrar, env, event->record);
        step.matchmaker->env = NULL;
        return;
    }
    timers_run(&step);
    switch (event->kind) {
    case EVENT_BOOTED:
        registrar_loaded(&step.matchmaker->registrar, env, effects);
        break;
    case EVENT_MESSAGE:
        message_take(&step, event);
        break;
    case EVENT_ANSWER:
        answer_take(&step, event);
        break;
    case EVENT_WAKE:
        step.matchmaker->wake = INT64_MAX;
        cycle_go_on(&step);
        break;
    case EVENT_POLICY:
        policy_take(&step, event->ad);
        break;
    case EVENT_FACTOR:
        registrar_set_factor(&step.matchmaker->registrar, env, event->user, event->factor, effects);
        break;
    case EVENT_SHARES:
        shares_take(&step, event->ad);
        break;
    case EVENT_WEIGH: /* without roots that wait there may be no cycle for long */
        if (step.matchmaker->registrar.groups.count > 1)
            pool_resize(&step);
        break;
    default:
        break;
    }
    wake_set(&step);
    step.matchmaker->env = NULL;
}

static bool matchmaker_valid(const void *role, const char **ret_why)
{
    const struct matchmaker *matchmaker = role;

    return !matchmaker->incarnation ||
           (collector_valid(&matchmaker->collector, ret_why) && notifier_valid(&matchmaker->notifier, ret_why) &&
            registrar_valid(&matchmaker->registrar, ret_why) && puller_valid(&matchmaker->puller, ret_why) &&
            machines_valid(&matchmaker->machines, ret_why) && planner_valid(&matchmaker->planner, ret_why) &&
            engine_valid(matchmaker->engine, ret_why));
}

const struct role_kind matchmaker_role = {
    .name = "matchmaker",
    .make = matchmaker_make,
    .free = matchmaker_free,
    .step = matchmaker_step,
    .valid = matchmaker_valid,
};
