/* judge_duty.c: what comes down a gang from its root is what the root has said, and goes to those whom it is for. */
#include "sim/judge_gangs_parts.h"

#include "pool/ticket.h"

#include <stdio.h>
#include <string.h>

static void wrong(struct judged_gangs *gangs, int number, const struct host *host, const struct gang_fact *gang,
                  const char *words)
{
    char text[200];

    snprintf(text, sizeof text, "gang %llx: %s", (unsigned long long)gang->id, words);
    gangs->wrong(gangs->user, number, host, text);
}

/* The root claims in the name of its job's owner. */
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

static void start_sent(struct judged_gangs *gangs, const struct host *host, const struct start *start)
{
    static const struct key none;
    struct gang_fact *gang = NULL;
    const struct gang_member *member = gang_member_find(gangs, start->claim, &gang);
    bool line = member && gang_member_on_line(gang, member);

    if (!member || key_equal(&start->pass, &none))
        return;
    if (!gang_member_executes(gang, member))
        wrong(gangs, 5, host, gang, "a pass to the job's files goes to a member that runs nothing");
    if (line != key_equal(&start->pass, &gang->pass))
        wrong(gangs, 5, host, gang,
              line ? "the leader gets another pass to the job's files than its own"
                   : "the leader's pass to the job's files goes to another as well");
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
}

/* Whoever has handed it on. */
void judged_duty_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process)
{
    struct gang_fact *gang = NULL;

    if (gang_member_find(gangs, process->claim, &gang) && process->told_job != process->job)
        wrong(gangs, 3, host, gang, "what is started is not the ad of the root's job");
}
