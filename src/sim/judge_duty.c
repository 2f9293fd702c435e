/* judge_duty.c: what a gang passes down from its root is what the root has said, and goes to the right members only. */
#include "sim/judge_gangs_parts.h"

#include "pool/claim/duty.h"
#include "pool/protocol/ticket.h"

#include <stdio.h>
#include <string.h>

static void wrong(struct judged_gangs *gangs, int number, const struct host *host, const struct gang_fact *gang,
                  const char *words)
{
    char text[200];

    snprintf(text, sizeof text, "gang %llx: %s", (unsigned long long)gang->id, words);
    gangs->wrong(gangs->user, number, host, text);
}

/* Notes the owner: the root claims in the name of its job's owner. */
static void verify_sent(const struct judged_gangs *gangs, const struct host *host, const struct verify *verify)
{
    struct gang_fact *gang = NULL;
    symbol name = verify->ad ? symbols_find(verify->ad->symbols, "Owner", 5) : SYMBOL_NONE;
    const struct expr *owner = name != SYMBOL_NONE ? tree_find(verify->ad, tree_root(verify->ad), name) : NULL;

    if (!gang_member_find(gangs, verify->claim, &gang) || host->place >= gangs->providers || !owner ||
        owner->kind != EXPR_STRING)
        return;
    text_set(&gang->owner, tree_string(verify->ad, owner), owner->u.run.count);
}

static void report_sent(struct judged_gangs *gangs, const struct host *host, const struct report *report)
{
    struct gang_fact *gang = NULL;

    if (gang_member_find(gangs, report->claim, &gang) && gang->owner.bytes[0] &&
        strcmp(gang->owner.bytes, report->owner.bytes) != 0)
        wrong(gangs, 10, host, gang, "a member is charged to another than the owner of the root's job");
}

static bool ad_says(const struct tree *ad, const char *name)
{
    symbol found = ad ? symbols_find(ad->symbols, name, strlen(name)) : SYMBOL_NONE;

    return found != SYMBOL_NONE && tree_is_ad(ad) && tree_find(ad, tree_root(ad), found);
}

/* Only jobs have an Iwd, which says where their outputs go: so it shows whether a member gets the job's ad. */
void judged_duty_told(struct judged_gangs *gangs, const struct host *host, uint64_t claim, const struct tree *ad)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);

    if (member && ad_says(ad, "Iwd") && !gang_member_runs(gang, (uint32_t)(member - gang->members)))
        wrong(gangs, 5, host, gang, "a member that runs nothing is told what the job runs");
}

/* Checks that a pass is for one agent, and comes from the customer alone. */
static void pass_sent(struct judged_gangs *gangs, const struct host *host, uint64_t claim, const struct key *pass)
{
    static const struct key none;
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, claim, &gang);
    bool line = member && gang_member_on_line(gang, member);
    struct key leads, helps;

    if (!member || key_equal(pass, &none))
        return;
    if (!gang_member_runs(gang, (uint32_t)(member - gang->members)))
        wrong(gangs, 5, host, gang, "a pass to the job's files goes to a member that runs nothing");
    if (host->place >= gangs->providers)
        wrong(gangs, 5, host, gang, "a pass to the job's files goes through a member");
    duty_pass_for(&host->secrets, &gang->pass, member->host + 1, false, &leads);
    duty_pass_for(&host->secrets, &gang->pass, member->host + 1, true, &helps);
    if (!key_equal(pass, line ? &leads : &helps))
        wrong(gangs, 5, host, gang,
              line ? "the leader gets another pass to the job's files than its own"
                   : "the leader's pass to the job's files goes to another as well");
}

static void start_sent(struct judged_gangs *gangs, const struct host *host, const struct start *start)
{
    struct gang_fact *gang = NULL;

    pass_sent(gangs, host, start->claim, &start->pass);
    judged_duty_told(gangs, host, start->claim, start->ad);
    if (gang_member_find(gangs, start->claim, &gang) && ad_says(start->task, "Iwd"))
        wrong(gangs, 5, host, gang, "what the job runs goes through a member");
}

static void tasked_sent(struct judged_gangs *gangs, const struct host *host, const struct task_told *tasked)
{
    struct gang_fact *gang = NULL;
    struct judged_member *member = gang_member_find(gangs, tasked->claim, &gang);

    if (!member || tasked->reason != REASON_OK)
        return;
    pass_sent(gangs, host, tasked->claim, &tasked->pass);
    judged_duty_told(gangs, host, tasked->claim, tasked->ad);
    if (host->place + 1 == gang->root)
        member->tasked = gang->taken;
}

void judged_duty_sent(struct judged_gangs *gangs, const struct host *host, const struct message *message)
{
    if (host->place < gangs->customers || host->place >= gangs->users)
        return;
    if (message->kind == MESSAGE_VERIFY)
        verify_sent(gangs, host, &message->u.verify);
    else if (message->kind == MESSAGE_REPORT)
        report_sent(gangs, host, &message->u.report);
    else if (message->kind == MESSAGE_START)
        start_sent(gangs, host, &message->u.start);
    else if (message->kind == MESSAGE_TASKED)
        tasked_sent(gangs, host, &message->u.task_told);
    else if (message->kind == MESSAGE_ACTIVATE)
        judged_duty_told(gangs, host, message->u.activate.claim, message->u.activate.ad);
}

/* Checks a launched job, whoever has passed it on. */
void judged_duty_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, process->claim, &gang);

    if (member && process->told_job != process->job)
        wrong(gangs, 3, host, gang, "what is started is not the ad of the root's job");
    if (member && member->superior && member->tasked != process->number)
        wrong(gangs, 3, host, gang, "what is started below another member the customer has not told");
}
