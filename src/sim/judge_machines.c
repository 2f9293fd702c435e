/* judge_machines.c: 11: the matchmaker knows of each machine how it stands.
 *
 *     providers' records and ads  ->  by the judge's own account, how each machine stands: kept for as long as a word may be under way
 *     the matchmaker's record     ->  one of these; of a machine that has been down for a lifetime: Away
 *
 * It holds only when nothing is lost or late, and is looked at in a quiet phase. What a machine says of its claims is looked at when it says it: they
 * are its own, and end no later than their job's time is up. */
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "pool/protocol/writers.h"
#include "sim/judge_parts.h"

#include <string.h>

#define ANY_STATE UINT32_MAX
#define STANDS_PAUSE (5 * SECOND) /* the provider says nothing more of a machine before then */
#define ENDS_SLACK 3              /* seconds: clocks differ by some hundredths, and a start takes a while */

/* ------------------------------------------------------------------------------------------- how each machine stands */

static uint32_t bit(enum machine_state state)
{
    return UINT32_C(1) << state;
}

static bool is_open(struct judge *judge, struct tree *ad, int64_t seconds)
{
    struct env env = {.now = seconds};

    return dock_has_ports(ad) || match_is_open(&env, &judge->world->scratch, ad);
}

/* The ad with one number replaced; the caller unrefs it. */
static struct tree *ad_with(struct tree *ad, symbol name, int64_t number)
{
    struct tree *other = ad_set(ad, &(struct ad_setting){name, value_integer(number)}, 1, NULL);

    return other ? other : tree_ref(ad);
}

/* What is left of an offer with Residual is a part of its Cpus; of any other, nothing is. */
static uint32_t used_states(struct judge *judge, struct tree *whole, int64_t cpus, bool followed, int64_t seconds)
{
    struct tree *left;
    bool open;

    if (!judged_has(whole, judge->residual))
        return bit(MACHINE_BUSY);
    if (followed) /* something is kept for the claim behind */
        return bit(MACHINE_BUSY) | bit(MACHINE_PART);
    left = ad_with(whole, judge->cpus, judged_integer(whole, judge->cpus, 1) - cpus);
    open = is_open(judge, left, seconds);
    tree_unref(left);
    return bit(open ? MACHINE_PART : MACHINE_BUSY);
}

/* Reads the time: a clock that is set is noticed at some later look. */
static bool is_timed(const struct tree *ad)
{
    for (uint32_t i = 0; i < ad->cell_count; i++)
        if (ad->cells[i].kind == EXPR_CALL)
            return true;
    return false;
}

/* The states that are right for the first offer of a provider, as bits. */
static uint32_t states_now(struct judge *judge, const struct host *host, int64_t seconds)
{
    struct tree *whole = provider_offer(host->role, 0), *eased;
    uint32_t count = judge->tenant_counts[host->place], used = 0, states;
    bool followed = false, open;
    int64_t cpus = 0;

    if (judged_has(whole, judge->unwell))
        return bit(MACHINE_SICK);
    if (judge->drained[host->place])
        return bit(MACHINE_DRAINED);
    for (uint32_t i = 0; i < count; i++) {
        const struct tenant_view *tenant = &judge->tenants[host->place][i];

        followed = followed || tenant->behind.count;
        used += !tenant->behind.count;
        cpus += tenant->behind.count ? 0 : judged_integer(tenant->ad, judge->request_cpus, 1);
    }
    /* the load that its jobs make is not its owner's */
    eased = used && judged_has(whole, judge->load) ? ad_with(whole, judge->load, 0) : tree_ref(whole);
    open = is_open(judge, eased, seconds);
    states = !used ? bit(MACHINE_IDLE) : used_states(judge, eased, cpus, followed, seconds);
    if (!open || is_timed(whole))
        states = bit(MACHINE_OWNER) | (is_timed(whole) ? states : 0);
    tree_unref(eased);
    return states;
}

static void stood_add(struct judge *judge, uint32_t place, uint32_t states)
{
    struct judged_stood *stood = &judge->stood[place];

    if (stood->count && stood->items[(stood->count - 1) % STOOD_SEEN].states == states)
        return;
    stood->items[stood->count++ % STOOD_SEEN] = (struct stood){judge->world->time, states};
}

void judge_stood(struct judge *judge, const struct host *host, const struct role_env *env)
{
    if (judge->watched && judge->up[host->place])
        stood_add(judge, host->place, states_now(judge, host, wall_seconds(env->wall)));
}

void judge_fell(struct judge *judge, const struct host *host)
{
    judge->drained[host->place] = false;
    judge->fell[host->place] = judge->world->time;
    if (judge->watched)
        stood_add(judge, host->place, ANY_STATE);
}

void judge_machines_watch(struct judge *judge)
{
    judge->watched = judge->world->time;
    for (uint32_t i = judge->parties.providers; i < judge->parties.users; i++) {
        judge->walls[i] = judge->world->hosts[i].wall;
        judge->stood[i].count = 0;
        stood_add(judge, i, ANY_STATE);
    }
}

/* The states that were right at some time since then. */
static uint32_t stood_since(const struct judged_stood *stood, int64_t since)
{
    uint32_t states = 0;

    for (uint32_t i = stood->count; i-- > 0;) {
        if (stood->count - i > STOOD_SEEN)
            return ANY_STATE;
        states |= stood->items[i % STOOD_SEEN].states;
        if (stood->items[i % STOOD_SEEN].at <= since)
            break;
    }
    return states;
}

/* ------------------------------------------------------------------------------------------- what the matchmaker has */

/* A word may wait for the pause, and be repeated once. */
static int64_t word_span(const struct judge *judge)
{
    const struct spans *spans = judge->world->spans;

    return STANDS_PAUSE + 2 * spans->deadline + spans->retry + SECOND;
}

int64_t judge_machines_span(const struct judge *judge)
{
    return judge->world->spans->lifetime / 20 * 21 + word_span(judge) + 2 * SECOND; /* clocks may run 4 % apart */
}

static void check_machine(struct judge *judge, const struct host *host, agent matchmaker)
{
    const struct host *at = world_host(judge->world, matchmaker);
    const struct provider_settings *settings = host->settings;
    int64_t now = judge->world->time, since = now - word_span(judge);
    uint32_t allowed = stood_since(&judge->stood[host->place], since);
    struct machine_view view;
    bool known;

    if (!at || !at->role || judge->fell[at->place] > now - judge_machines_span(judge))
        return;
    known = matchmaker_find_machine(at->role, host_agent(host), settings->ids[0], &view);
    if (!host->role) {
        if (known && judge->fell[host->place] <= now - judge_machines_span(judge) &&
            judge->came[host->place] <= now - judge_machines_span(judge) && view.state != MACHINE_AWAY)
            judge_finds(judge, 11, host, "it has been down for a lifetime, and is told as %s",
                        machine_state_word(view.state));
        return;
    }
    if (!known && allowed != ANY_STATE)
        judge_finds(judge, 11, host, "the matchmaker does not know of the machine");
    if (!known)
        return;
    if (!(allowed & bit(view.state)))
        judge_finds(judge, 11, host, "it is told as %s, and in the last %lld s was only as %x", /* bits of the states */
                    machine_state_word(view.state), (long long)(word_span(judge) / SECOND), allowed);
    if (allowed != ANY_STATE && view.told &&
        judged_integer(view.whole, judge->cpus, 1) != judged_integer(settings->ads[0], judge->cpus, 1))
        judge_finds(judge, 11, host, "what is told to be the whole of the machine is a part of it");
}

void judge_machines(struct judge *judge)
{
    for (uint32_t i = judge->parties.providers; i < judge->parties.users; i++) {
        const struct host *host = &judge->world->hosts[i];
        const struct provider_settings *settings = host->settings;

        if (!settings->pool_count)
            check_machine(judge, host, settings->matchmaker);
        for (uint32_t k = 0; k < settings->pool_count; k++)
            check_machine(judge, host, settings->pools[k].matchmaker);
    }
}

/* --------------------------------------------------------------------------------------------- what is told of claims */

struct sought {
    uint64_t claim;
    bool found;
};

static void sought_tenant(void *user, const struct tenant_view *tenant)
{
    struct sought *sought = user;

    sought->found = sought->found || (tenant->claim == sought->claim && tenant->state >= TENANT_PINNED);
}

static void check_claim(struct judge *judge, const struct host *host, const struct tree *row)
{
    struct sought sought = {0};
    const struct process *process;
    int64_t ends, left;

    if (!ad_word(row, "Claim", &sought.claim)) {
        judge_finds(judge, 11, host, "a claim is told without its number");
        return;
    }
    provider_each(host->role, sought_tenant, &sought);
    /* a word may wait for what must be durable first, and the claim end meanwhile */
    if (!sought.found &&
        (map_find(&judge->claim_map, sought.claim) == MAP_NONE || !judged_claim(judge, sought.claim)->row_session))
        judge_finds(judge, 11, host, "a claim is told that was never there");
    process = judged_process(judge, host, sought.claim);
    if (!ad_integer(row, "Ends", &ends) || !judge->watched || !process || process->began < judge->watched ||
        host->wall != judge->walls[host->place])
        return;
    left = (process->limit - judge->world->time) / SECOND;
    if (ends < 0 || ends > left + ENDS_SLACK)
        judge_finds(judge, 11, host, "a claim is told to end in %lld s, and its job's time is up in %lld s",
                    (long long)ends, (long long)left);
}

void judge_stands(struct judge *judge, const struct host *host, const struct stands *stands)
{
    const struct expr *list = stands->told ? ad_find(stands->told, "Claims") : NULL;

    if (stands->told && !list)
        judge_finds(judge, 11, host, "a word of a machine that is not idle is without its claims");
    for (uint32_t i = 0; list && i < list->u.run.count; i++) {
        struct tree *row = ad_part(stands->told, &tree_parts(stands->told, list)[i]);

        check_claim(judge, host, row);
        tree_unref(row);
    }
}
