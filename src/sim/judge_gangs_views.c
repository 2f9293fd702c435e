/* judge_gangs_views.c: questions that the judge of gangs answers. */
#include "sim/judge_gangs_parts.h"

/* The gang of that number; NULL: there is none. */
static const struct gang_fact *gang_named(const struct judged_gangs *gangs, uint64_t id)
{
    uint64_t found = map_find(&gangs->gang_map, id);

    return found == MAP_NONE ? NULL : slab_at(&gangs->gangs, (uint32_t)found);
}

uint64_t judged_gangs_gang(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;

    return gang_member_find(gangs, claim, &gang) ? gang->id : 0;
}

uint64_t judged_gangs_above(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);

    return member ? member->superior : 0;
}

bool judged_gangs_stranger(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);

    return member && member->host >= gangs->users;
}

bool judged_gangs_strange(const struct judged_gangs *gangs, uint64_t id)
{
    const struct gang_fact *gang = gang_named(gangs, id);

    for (uint32_t i = 0; gang && i < gang->count; i++)
        if (gang->members[i].host >= gangs->users && gang_member_on_line(gang, &gang->members[i]))
            return true;
    return false;
}

bool judged_gangs_run_by_stranger(const struct judged_gangs *gangs, uint64_t id)
{
    const struct gang_fact *gang = gang_named(gangs, id);

    for (uint32_t i = 0; gang && i < gang->count; i++)
        if (gang->members[i].host >= gangs->users && gang_member_executes(gang, &gang->members[i]))
            return true;
    return false;
}

bool judged_gangs_idle(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);

    return member && !gang_member_executes(gang, member);
}

bool judged_gangs_goes_on(const struct judged_gangs *gangs, uint64_t id)
{
    const struct gang_fact *gang = gang_named(gangs, id);

    return gang && gang_began(gang) && !gang->lost;
}

bool judged_gangs_spares(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);

    return member && member->rule == RULE_ALWAYS && !gang_member_leads(gang, (uint32_t)(member - gang->members));
}

void gang_counts_add(struct gang_counts *counts, const struct gang_counts *more)
{
    for (uint32_t i = 0; i <= JUDGED_MEMBERS_MAX; i++)
        counts->claimed[i] += more->claimed[i];
    counts->nested += more->nested;
    counts->lost += more->lost;
    counts->reduced += more->reduced;
    counts->reduced_done += more->reduced_done;
    counts->again += more->again;
    counts->helped += more->helped;
    counts->worst = more->worst > counts->worst ? more->worst : counts->worst;
}
