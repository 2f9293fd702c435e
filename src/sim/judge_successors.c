/* judge_successors.c: 2, 4, 10: which claims are preempted for others, and whether the owner allows that. */
#include "lang/ad/names.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "sim/judge_parts.h"

#include <stdio.h>
#include <string.h>

/* Checks a preempted claim: nothing is evicted for a gang that has not been decided. */
void judge_preemption(struct judge *judge, const struct host *host, uint64_t claim)
{
    struct claim_fact *fact = judged_claim(judge, claim);
    uint64_t successor = fact->successor;

    judge->preempted += !fact->preempted;
    fact->preempted = true;
    if (!successor || !judged_gangs_decided(judge->gangs, successor))
        judge_finds(judge, 2, host, "a claim is preempted for one that its root has not decided");
}

/* An attribute of the offer, evaluated with a tenant's superior, by the offer's own ad as it is now. */
static struct value offer_says(struct judge *judge, const struct env *env, const struct tree *offer,
                               const struct tenant_view *tenant, symbol name)
{
    struct docked superior = {tenant->link, tenant->ad, tenant->port};
    struct pair pair;
    struct value says;
    struct eval eval;

    if (dock_has_ports(offer) || dock_has_ports(tenant->ad))
        return dock_says(env, &judge->world->scratch, &(struct dock){(struct tree *)offer, &superior, 1}, 0, name);
    pair_init(&pair, offer, tenant->ad);
    eval_init(&eval, env, &judge->world->scratch);
    eval_attribute(&eval, &pair.left, name, &says);
    return says;
}

/* Without a policy the matchmaker preempts a claim only for one that the owner likes better; where a policy looks at priorities,
 * also for one that the owner likes as well. */
static bool is_strict(const struct judge *judge)
{
    const struct matchmaker_settings *settings = judge->world->hosts[judge->parties.matchmaker].settings;

    return judge->world->hosts[judge->parties.matchmaker].kind == &matchmaker_role && !settings->policy;
}

void judge_successor(struct judge *judge, const struct host *host, const struct role_env *env,
                     const struct tenant_view *tenant, uint64_t behind)
{
    const struct tenant_view *front = judged_tenant(judge, host, behind);
    const struct provider_settings *settings = host->settings;
    const struct tree *offer = NULL;
    struct env now = {.now = wall_seconds(env->wall), .zone = env->zone};
    struct value mine, its, goes;

    for (uint32_t place = 0; place < settings->count; place++)
        if (settings->ids[place] == tenant->offer)
            offer = provider_offer(host->role, place);
    if (!offer || !front || !front->ad || !tenant->ad)
        return;
    mine = offer_says(judge, &now, offer, tenant, NAME_RANK);
    its = offer_says(judge, &now, offer, front, NAME_RANK);
    mine = order_rank(&mine);
    its = order_rank(&its);
    if (order_compare(&mine, &its) < 0)
        judge_finds(judge, 4, host, "a claim is pinned behind one that the owner likes better");
    if (order_compare(&mine, &its) == 0 && is_strict(judge))
        judge_finds(judge, 10, host, "a claim is pinned behind one that the owner likes as well");
    goes = offer_says(judge, &now, offer, front, judge->preemption);
    if (!value_is_true(&goes))
        judge_finds(judge, 4, host, "a claim is pinned behind one that the owner does not let go");
}

static bool is_behind(const struct tenant_view *tenant, uint64_t claim)
{
    for (uint32_t i = 0; i < tenant->behind.count; i++)
        if (tenant->behind.claims[i] == claim)
            return true;
    return false;
}

/* In these worlds what a machine that is divided lacks is processors. A claim in front is needed if there are not enough of them while it stays and the
 * others in front go. The tenants are those before the step: that is when it was chosen who goes. */
void judge_needed(struct judge *judge, const struct host *host, const struct tenant_view *tenant)
{
    const struct provider_settings *settings = host->settings;
    int64_t used = judged_integer(tenant->ad, judge->request_cpus, 1), has;
    const struct tree *offer = NULL;

    for (uint32_t place = 0; place < settings->count; place++)
        if (settings->ids[place] == tenant->offer)
            offer = provider_offer(host->role, place);
    if (!offer || !judged_has(offer, judge->residual) || dock_has_ports(offer) || dock_has_ports(tenant->ad))
        return;
    has = judged_integer(offer, judge->cpus, 1);
    for (uint32_t i = 0; i < judge->tenant_counts[host->place]; i++) {
        const struct tenant_view *other = &judge->tenants[host->place][i];

        if (dock_has_ports(other->ad))
            return;
        if (other->offer == tenant->offer && other->claim != tenant->claim && other->state >= TENANT_VERIFIED &&
            !other->behind.count && !is_behind(tenant, other->claim))
            used += judged_integer(other->ad, judge->request_cpus, 1);
    }
    judge->several += tenant->behind.count > 1;
    for (uint32_t i = 0; i < tenant->behind.count; i++) {
        const struct tenant_view *front = judged_tenant(judge, host, tenant->behind.claims[i]);

        if (front && front->state == TENANT_CLAIMED && used + judged_integer(front->ad, judge->request_cpus, 1) <= has)
            judge_finds(judge, 2, host, "a claim has to go although there is room without that");
    }
}

/* ------------------------------------------------------------------------------------------------- figure 9: priorities */

/* The priority of a user when the cycle began: without the claims that it got in this step. */
static double priority_began(const struct judge *judge, const struct host *host, int64_t wall, const char *name)
{
    struct user_view user;
    struct claim_view claim;
    size_t len = strcspn(name, "/"); /* the part that names the account */
    double got = 0;

    if (!matchmaker_find_user(host->role, wall, name, &user))
        return 0;
    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;)
        got += !claim.reported && claim.since == judge->now && claim.user && strlen(claim.user) == len &&
               !strncmp(claim.user, name, len);
    return user.priority - user.factor * got;
}

static const char *claim_user(const struct host *host, uint64_t which)
{
    struct claim_view claim;

    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;)
        if (claim.claim == which)
            return claim.user;
    return NULL;
}

static void check_priority(struct judge *judge, const struct host *host, const struct env *env,
                           const struct effect *effect)
{
    const struct match_told *told = &effect->message.u.match_told;
    const struct tenant_view tenant = {.ad = told->superior_ad};
    const char *user = claim_user(host, told->claim);
    struct value mine, its, remote;
    struct entry_view second;
    struct scope scope;
    struct eval eval;
    char name[WORD_SEEN];

    if (!user || !tenant.ad || !matchmaker_find(host->role, effect->to, told->id, &second) ||
        !judged_has(second.ad, judge->preempts) || dock_has_ports(second.ad) || dock_has_ports(tenant.ad))
        return;
    mine = offer_says(judge, env, second.ad, &tenant, NAME_RANK);
    its = offer_says(judge, env, second.ad, &tenant, NAME_CURRENTRANK);
    mine = order_rank(&mine);
    its = order_rank(&its);
    scope_init(&scope, second.ad, NULL);
    eval_init(&eval, env, &judge->world->scratch);
    eval_attribute(&eval, &scope, judge->remote_user, &remote);
    if (order_compare(&mine, &its) > 0 || remote.type != VALUE_STRING)
        return;
    snprintf(name, sizeof name, "%.*s", (int)remote.len, remote.u.string);
    if (priority_began(judge, host, env->now, name) <= priority_began(judge, host, env->now, user))
        judge_finds(judge, 10, host, "the claim of %s has to go for %s, whose priority is no better", name, user);
}

/* These worlds use the policy of figure 9: of two users that the owner likes equally, the one with the better priority comes first. */
void judge_priorities(struct judge *judge, const struct host *host, const struct role_env *env)
{
    struct env now = {.now = wall_seconds(env->wall), .zone = env->zone};

    for (uint32_t i = 0; i < host->effects.count && !is_strict(judge); i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_MATCH &&
            effect->message.u.match_told.claim && effect->message.u.match_told.age == 0)
            check_priority(judge, host, &now, effect);
    }
}
