/* judge_quotas.c: 10: no group has more than its quota while another waits that is below its own.
 *
 * The judge looks when matches were made. It is a violation if a group that was at its quota before took an offer for which a request of a group
 * below its quota waits, and was waiting when that happened before. It judges only plain cases: requests without ports and limits, offers that are
 * not divided, in use or pulling. Requests and groups that are new in that state are let off: they are served from the next cycle on. */
#include "match/pair/match.h"
#include "sim/judge_parts.h"

#include <string.h>

#define CYCLES 10 /* after so many cycles nothing is new */

/* Is the account in that group? */
static bool account_is_in(const char *account, const char *group)
{
    const char *mark = strchr(account, '~');
    size_t len = mark ? (size_t)(mark - account) : 0;

    return mark ? strlen(group) == len && !strncmp(account, group, len) : !strcmp(group, "<none>");
}

/* Was the claim matched in this step? */
static bool claim_is_new(const struct judge *judge, const struct claim_view *claim)
{
    return !claim->reported && claim->since == judge->now && claim->user;
}

static double group_took(const struct judge *judge, const struct host *host, const char *group)
{
    struct claim_view claim;
    double took = 0;

    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;)
        took += claim_is_new(judge, &claim) && account_is_in(claim.user, group);
    return took;
}

static bool entry_is_plain(const struct judge *judge, const struct entry_view *entry)
{
    return entry->ad && !judged_has(entry->ad, judge->ports) && !judged_has(entry->ad, judge->limits) &&
           !judged_has(entry->ad, judge->residual) && !judged_has(entry->ad, judge->preempts) &&
           entry->expires > judge->now;
}

/* Was the offer given away in this step? The agent's other offers may have been given away long before. */
static bool offer_is_taken(struct judge *judge, const struct host *host, const struct entry_view *offer)
{
    return offer->numbered > judged_ad(judge, host_agent(host), offer->agent, offer->id)->numbered;
}

/* Could the request have had one of the offers that the group took? */
static bool request_fits(struct judge *judge, const struct host *host, const struct env *env, const char *group,
                         const struct entry_view *request)
{
    struct claim_view claim;
    struct entry_view offer;

    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;) {
        if (!claim_is_new(judge, &claim) || !account_is_in(claim.user, group))
            continue;
        for (uint32_t at = 0; matchmaker_next(host->role, at, &offer, &at);)
            if (offer.agent == claim.agent && !offer.request && offer_is_taken(judge, host, &offer) &&
                entry_is_plain(judge, &offer) && match_accepts(env, &judge->world->scratch, offer.ad, request->ad) &&
                match_accepts(env, &judge->world->scratch, request->ad, offer.ad))
                return true;
    }
    return false;
}

/* A waiting request is passed over: since when? */
static int64_t request_passed(struct judge *judge, const struct host *host, const struct entry_view *request)
{
    struct ad_fact *fact = judged_ad(judge, host_agent(host), request->agent, request->id);

    if (!fact->passed || fact->passed_version != request->version || fact->passed_numbered != request->numbered) {
        fact->passed = judge->now;
        fact->passed_version = request->version;
        fact->passed_numbered = request->numbered;
    }
    return fact->passed;
}

static void check_waiting(struct judge *judge, const struct host *host, const struct env *env, const char *taker,
                          const struct group_view *group, int64_t below)
{
    struct entry_view request;
    char account[ACCOUNT_SEEN];

    for (uint32_t from = 0; matchmaker_next(host->role, from, &request, &from);) {
        int64_t passed;

        if (!request.request || request.free <= 0 || !entry_is_plain(judge, &request))
            continue;
        judged_account(judge, host, request.ad, account);
        if (!account_is_in(account, group->name) || !request_fits(judge, host, env, taker, &request))
            continue;
        passed = request_passed(judge, host, &request);
        if (passed >= below && judge->now - passed > CYCLES * judge->world->spans->cycle)
            judge_finds(judge, 10, host,
                        "the group %s is at its quota and has more, while %s waits and is below its own", taker,
                        group->name);
    }
}

void judge_quotas(struct judge *judge, const struct host *host, const struct role_env *env)
{
    struct judged_shares *shares = &judge->shares[host->place - judge->parties.matchmaker];
    struct env now = {.now = wall_seconds(env->wall), .zone = env->zone};
    struct group_view taker, group;

    for (uint32_t from = 0; matchmaker_next_group(host->role, from, &taker, &from);) {
        double took = group_took(judge, host, taker.name);

        if (!took || taker.used - took < taker.quota)
            continue;
        for (uint32_t at = 0; matchmaker_next_group(host->role, at, &group, &at);) {
            int64_t below = judged_below(shares, group.name);

            if (group.used < group.quota && below + CYCLES * judge->world->spans->cycle < judge->now)
                check_waiting(judge, host, &now, taker.name, &group, below);
        }
    }
}
