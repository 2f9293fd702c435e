/* crew.c: the subordinates of a party in a gang, led through the protocol together. */
#include "pool/claim/crew.h"

#include "lang/base/mem.h"
#include "match/gang/dock.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <string.h>

void crew_done(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        claim_member_done(&crew->members[i]);
    free(crew->members);
    *crew = (struct crew){0};
}

struct claim_member *crew_add(struct crew *crew, const struct edge *edge, const struct edges *below)
{
    crew->members = mem_grow(crew->members, (crew->count + 1) * sizeof *crew->members);
    claim_member_init(&crew->members[crew->count], edge, below);
    crew->members[crew->count].place = crew->count;
    return &crew->members[crew->count++];
}

struct claim_member *crew_load(struct crew *crew, uint64_t claim, const struct branch_record *was)
{
    struct edge edge = {.claim = claim,
                        .agent = was->agent,
                        .offer = was->offer,
                        .depth = was->depth,
                        .port = was->port,
                        .link = was->link,
                        .ad = was->ad,
                        .receipt = was->receipt};
    struct claim_member loaded = *crew_add(crew, &edge, was->below);
    uint32_t at = crew->count - 1;

    loaded.epoch = was->epoch;
    loaded.place = was->place;
    loaded.dropped = was->dropped;
    loaded.pass = was->pass;
    for (; at > 0 && crew->members[at - 1].place > loaded.place; at--)
        crew->members[at] = crew->members[at - 1];
    crew->members[at] = loaded;
    return &crew->members[at];
}

struct claim_member *crew_find(const struct crew *crew, uint64_t claim)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].claim == claim)
            return &crew->members[i];
    return NULL;
}

void crew_go(struct crew *crew, int64_t now, enum claim_member_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].state != CLAIM_MEMBER_GONE && !crew->members[i].dropped)
            claim_member_go(&crew->members[i], now, state);
}

bool crew_all(const struct crew *crew, enum claim_member_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].state != state && (!crew->members[i].dropped || state == CLAIM_MEMBER_GONE))
            return false;
    return true;
}

bool crew_through(const struct crew *crew, enum claim_member_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (!crew->members[i].dropped &&
            (crew->members[i].state < state || crew->members[i].state > CLAIM_MEMBER_STARTED))
            return false;
    return true;
}

bool crew_whole(const struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].dropped)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------- what ports say */

uint32_t crew_docked(const struct crew *crew, struct docked *at, uint32_t room)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < crew->count && count < room; i++)
        if (!crew->members[i].dropped && crew->members[i].ad)
            at[count++] = (struct docked){crew->members[i].port, crew->members[i].ad, crew->members[i].link};
    return count;
}

/* Our ad, our subordinates, and behind them our superior. */
static struct dock crew_dock(const struct crew *crew, const struct claim_member_errand *errand, struct docked *at)
{
    uint32_t count = crew_docked(crew, at, DOCK_MAX - 1);

    if (errand->above)
        at[count++] = *errand->above;
    return (struct dock){errand->ad, at, count};
}

/* The member's place among those docked. */
static uint32_t crew_which(const struct crew *crew, const struct claim_member *member)
{
    uint32_t which = 0;

    for (const struct claim_member *other = crew->members; other != member; other++)
        which += !other->dropped && other->ad;
    return which;
}

static struct env errand_eval(const struct claim_member_errand *errand)
{
    return (struct env){.now = errand->env->wall / SECOND, .zone = errand->env->zone};
}

enum claim_member_news crew_answer(struct crew *crew, struct claim_member *member,
                                   const struct claim_member_errand *errand, const struct event *event)
{
    enum claim_member_news news = claim_member_answer(member, errand, event);
    struct env eval = errand_eval(errand);
    struct docked at[DOCK_MAX];
    struct dock dock;

    if (news != CLAIM_MEMBER_REACHED || member->state != CLAIM_MEMBER_VERIFIED || MUTANT(PORT_UNCHECKED))
        return news;
    dock = crew_dock(crew, errand, at);
    return dock_accepts(&eval, errand->env->scratch, &dock, crew_which(crew, member)) == DOCK_NO ? CLAIM_MEMBER_REFUSED
                                                                                                 : news;
}

bool crew_accepts(const struct crew *crew, const struct claim_member_errand *errand)
{
    struct env eval = errand_eval(errand);
    struct docked at[DOCK_MAX];
    struct dock dock = crew_dock(crew, errand, at);

    if (!dock_whole(&dock))
        return false;
    return MUTANT(PORT_UNCHECKED) ||
           dock_accepts_all(&eval, errand->env->scratch, &dock, dock.count - (errand->above != NULL));
}

bool crew_needs(const struct crew *crew, const struct claim_member_errand *errand, const struct claim_member *member,
                int64_t run)
{
    struct env eval = errand_eval(errand);
    struct docked at[DOCK_MAX];
    struct dock dock = crew_dock(crew, errand, at);

    if (MUTANT(ESSENTIAL_IGNORED))
        return false;
    return MUTANT(UNESSENTIAL_ENDS) ||
           dock_essential(&eval, errand->env->scratch, &dock, crew_which(crew, member), run);
}

int64_t run_time(const struct role_env *env, int64_t started)
{
    int64_t now = env->wall / SECOND;

    return started < 0 ? -1 : started < now ? now - started : 0;
}

uint64_t crew_drop(struct claim_member *member, int64_t now, uint64_t gang, uint64_t shape, struct effects *effects)
{
    member->dropped = true;
    if (member->state != CLAIM_MEMBER_GONE)
        claim_member_go(member, now, CLAIM_MEMBER_RELEASING);
    return claim_member_store(member, gang, shape, effects);
}

bool ad_executes(const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "Executes", 8);
    const struct expr *said = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return !said || said->kind != EXPR_BOOLEAN || said->small;
}

static bool chief_wants(const struct claim_member *member, const struct crew_chief *chief)
{
    return MUTANT(PORT_RUNS_ALL) || port_runs(chief->ad, member->port, chief->link);
}

bool claim_member_executes(const struct claim_member *member, const struct crew_chief *chief)
{
    return member->ad && ad_executes(member->ad) && chief_wants(member, chief);
}

bool claim_member_works(const struct claim_member *member, const struct crew_chief *chief)
{
    return claim_member_executes(member, chief) ||
           (member->below && member->below->count && chief_wants(member, chief));
}

struct claim_member *crew_leader(const struct crew *crew, const struct crew_chief *chief)
{
    struct claim_member *leader = NULL;

    for (uint32_t i = 0; i < crew->count; i++) {
        struct claim_member *member = &crew->members[i];

        if ((!leader || member->port < leader->port) && claim_member_works(member, chief))
            leader = member;
    }
    return leader;
}

uint32_t crew_number(const struct crew *crew, const struct crew_chief *chief, const struct claim_member *member,
                     uint32_t *ret_count)
{
    uint32_t before = 0, count = 0;

    for (uint32_t i = 0; i < crew->count; i++) {
        const struct claim_member *other = &crew->members[i];

        if (!claim_member_works(other, chief))
            continue;
        count++;
        before += other->port < member->port || (other->port == member->port && other < member);
    }
    *ret_count = count;
    return before;
}

struct claim_member *crew_below(const struct crew *crew, const struct crew_chief *chief, uint64_t claim, agent who)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        struct claim_member *member = &crew->members[i];

        for (uint32_t k = 0; member->below && k < member->below->count; k++)
            if (member->below->items[k].claim == claim && member->below->items[k].agent == who)
                return !member->dropped && chief_wants(member, chief) ? member : NULL;
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- what is said */

static struct crew_chief errand_chief(const struct claim_member_errand *errand)
{
    return (struct crew_chief){errand->ad, errand->above ? errand->above->port : RUNS_NO_LINK};
}

/* What a member is to run, and by what right. Further below, members see only the part of the job's ad that all may
 * know. */
static struct duty crew_hand(const struct crew *crew, const struct claim_member *member,
                             const struct claim_member_errand *errand)
{
    struct crew_chief chief = errand_chief(errand);
    bool says = (member->ad && ad_executes(member->ad)) || (member->below && member->below->count);
    struct duty_heir heir = {.claim = member->claim,
                             .who = member->agent,
                             .leads = !errand->executes && crew_leader(crew, &chief) == member,
                             .executes = claim_member_executes(member, &chief),
                             .idle = says && !claim_member_works(member, &chief)};
    struct duty hand = duty_hand(errand->env->secrets, &errand->duty, &heir);

    hand.ad = hand.ad ? duty_withhold(hand.ad, DUTY_NO_PORT, RUNS_NO_LINK) : NULL;
    return hand;
}

/* Says in the ad of a job that several members run which of them it is for; takes the ad. */
static struct tree *member_numbered(const struct crew *crew, const struct claim_member *member,
                                    const struct claim_member_errand *errand, struct tree *taken)
{
    struct symbols *symbols = taken->symbols;
    symbol many = symbols_find(symbols, AD_MEMBER_COUNT, strlen(AD_MEMBER_COUNT));
    struct crew_chief chief = errand_chief(errand);
    struct ad_setting number;
    struct tree *numbered;
    uint32_t count;

    if (many == SYMBOL_NONE || !tree_find(taken, tree_root(taken), many))
        return taken;
    number.name = symbols_take(symbols, AD_MEMBER, strlen(AD_MEMBER));
    number.value = value_integer(crew_number(crew, &chief, member, &count));
    numbered = ad_set(taken, &number, 1, NULL);
    symbols_drop(symbols, number.name);
    if (!numbered)
        return taken;
    tree_unref(taken);
    return numbered;
}

struct tree *crew_shows(const struct crew *crew, const struct claim_member *member,
                        const struct claim_member_errand *errand, bool runs)
{
    struct env eval = errand_eval(errand);
    struct docked at[DOCK_MAX];
    struct dock dock;
    struct tree *shown, *less;

    if (dock_has_ports(errand->ad)) {
        dock = crew_dock(crew, errand, at);
        shown = dock_shows(&eval, errand->env->scratch, &dock, member->port);
    } else {
        shown = tree_ref(errand->ad);
    }
    if (runs)
        return member_numbered(crew, member, errand, shown);
    less = duty_withhold(shown, member->port, errand_chief(errand).link);
    tree_unref(shown);
    return less;
}

/* Tells the member our ad, as it may see it. */
static int64_t crew_say(const struct crew *crew, struct claim_member *member, struct claim_member_errand *errand)
{
    struct crew_chief chief = errand_chief(errand);
    struct tree *ad = errand->ad;
    int64_t again;

    if ((member->state != CLAIM_MEMBER_VERIFYING && member->state != CLAIM_MEMBER_ACTIVATING &&
         member->state != CLAIM_MEMBER_STARTING) ||
        member->flight || member->due > errand->env->now)
        return claim_member_run(member, errand);
    if (member->state == CLAIM_MEMBER_STARTING)
        errand->hand = crew_hand(crew, member, errand);
    errand->ad = crew_shows(crew, member, errand, claim_member_executes(member, &chief));
    again = claim_member_run(member, errand);
    tree_unref(errand->ad);
    tree_unref(errand->hand.ad);
    errand->hand = (struct duty){0};
    errand->ad = ad;
    return again;
}

int64_t crew_run(struct crew *crew, struct claim_member_errand *errand, bool leased)
{
    uint64_t after = errand->after;
    int64_t next = INT64_MAX;

    for (uint32_t i = 0; i < crew->count; i++) {
        struct claim_member *member = &crew->members[i];
        int64_t again, left;

        errand->again = member->active;
        errand->after = MUTANT(START_UNRECORDED) && member->active ? 0 : after;
        again = crew_say(crew, member, errand);
        left = member->lease - lease_clock(errand->env);
        if (leased && member->state != CLAIM_MEMBER_GONE && errand->env->now + left < again)
            again = errand->env->now + left;
        if (leased && member->state != CLAIM_MEMBER_GONE && member->state != CLAIM_MEMBER_RELEASING &&
            member->alive < again)
            again = member->alive;
        next = again < next ? again : next;
    }
    return next;
}

void crew_expire(struct crew *crew, const struct role_env *env)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (lease_clock(env) >= crew->members[i].lease)
            crew->members[i].state = CLAIM_MEMBER_GONE;
}

bool claim_member_lost(const struct claim_member *member, const struct role_env *env)
{
    return member->state == CLAIM_MEMBER_GONE || env->now >= member->alive;
}

struct claim_member *crew_lost(const struct crew *crew, const struct role_env *env)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (!crew->members[i].dropped && claim_member_lost(&crew->members[i], env))
            return &crew->members[i];
    return NULL;
}

void crew_abort(const struct crew *crew, struct effects *effects)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].state != CLAIM_MEMBER_GONE && !(MUTANT(ABORT_SOME) && i))
            claim_member_abort(&crew->members[i], effects);
}

void crew_pause(struct crew *crew, int64_t now, int64_t pause, struct effects *effects)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        struct claim_member *member = &crew->members[i];

        if (member->state == CLAIM_MEMBER_VERIFIED)
            claim_member_abort(member, effects);
        claim_member_go(member, now + pause, CLAIM_MEMBER_VERIFYING);
        member->proves = false;
    }
}

enum reason crew_beat(struct claim_member *member, const struct role_env *env, const struct spans *spans,
                      const struct beat *beat, bool decided, bool ending)
{
    enum reason reason = REASON_OK;

    if (member->state == CLAIM_MEMBER_GONE || member->dropped || (ending && !MUTANT(BEAT_REVIVES)))
        return REASON_RELEASED;
    if (!decided || !member->attached)
        reason = MUTANT(ACK_UNATTACHED) ? REASON_OK : REASON_WAIT;
    else if (beat->epoch != member->epoch && !MUTANT(EPOCH))
        reason = REASON_STALE;
    if (reason == REASON_OK && member->attached) {
        int64_t alive = spans->lease + spans_margin(spans);

        claim_member_lives(member, env, spans);
        if (beat->heard >= 0 && beat->heard <= env->now && beat->heard + alive > member->alive)
            member->alive = beat->heard + alive;
    }
    return reason;
}

uint64_t claim_member_store(const struct claim_member *member, uint64_t gang, uint64_t shape, struct effects *effects)
{
    struct record record = {.kind = RECORD_BRANCH, .key = member->claim};

    record.u.branch_record = (struct branch_record){.gang = gang,
                                                    .shape = shape,
                                                    .agent = member->agent,
                                                    .offer = member->offer,
                                                    .depth = member->depth,
                                                    .port = member->port,
                                                    .link = member->link,
                                                    .epoch = member->epoch,
                                                    .place = member->place,
                                                    .dropped = member->dropped,
                                                    .ad = member->ad,
                                                    .pass = member->pass,
                                                    .below = member->below,
                                                    .receipt = member->receipt};
    return effects_persist(effects, &record);
}
