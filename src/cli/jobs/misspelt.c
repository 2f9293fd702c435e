/* misspelt.c: attributes of a job that are probably misspelt.
 *
 * Anybody may give an attribute any name, so nothing is refused; and a report that is wrong teaches people to read none. Hence the name must be very
 * near: one letter in four, but one that is as long and has fewer than five letters is another word (Note and Node). */
#include "cli/jobs/misspelt.h"

#include "cli/term/report.h"
#include "lang/base/nearest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What jobs can say; the table is in docs/jobs.md. */
static const char *const known[] = {
    "AccountingGroup",
    "After",
    "Args",
    "Checkpoint",
    "CheckpointExitCode",
    "CheckpointPeriod",
    "CheckpointSignal",
    "Cmd",
    "ConcurrencyLimits",
    "Constraint",
    "Count",
    "CronMissed",
    "CronOverlap",
    "CronSchedule",
    "Dag",
    "Env",
    "Err",
    "Executes",
    "FinishBy",
    "Image",
    "ImageSecret",
    "ImageSize",
    "In",
    "Index",
    "InputData",
    "InputUrls",
    "Inputs",
    "Iwd",
    "JobId",
    "JobIndex",
    "JobTry",
    "Lifetime",
    "MaxRetries",
    "Name",
    "Needs",
    "Network",
    "Node",
    "NodeInputs",
    "NormalisedTimeLimit",
    "NotBefore",
    "OnExitHoldReason",
    "OnExitHoldSubCode",
    "Out",
    "OutputCopies",
    "OutputData",
    "OutputElsewhere",
    "OutputSE",
    "OutputTo",
    "OutputUrls",
    "Outputs",
    "OutputsNeeded",
    "Owner",
    "PeriodicHold",
    "PeriodicHoldReason",
    "PeriodicHoldSubCode",
    "PeriodicRelease",
    "PeriodicRemove",
    "PeriodicVacate",
    "Pools",
    "Ports",
    "Post",
    "Pre",
    "Priority",
    "Processes",
    "ProcessesExec",
    "ProcessesOn",
    "QueueLimit",
    "Rank",
    "RequestCpus",
    "RequestDisk",
    "RequestGpus",
    "RequestMemory",
    "RequestProcesses",
    "Requirements",
    "RetryUnless",
    "RunAs",
    "Secrets",
    "SecretsFrom",
    "ShareFiles",
    "TimeLimit",
    "Type",
    "Umask",
    "UserLog",
    "WarnSignal",
};
#define COUNT (sizeof known / sizeof *known)
#define TOLD_MAX 200 /* bytes of names; who has misspelt more than that knows by then */

static bool is_known(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcasecmp(known[i], name))
            return true;
    return false;
}

/* Does something in the ad read that name? */
static bool is_read(const struct tree *ad, symbol name)
{
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];

        if (e->kind >= EXPR_NAME && e->kind <= EXPR_DOT &&
            (e->u.name.id == name || (e->kind == EXPR_DOT && EXPR_DOT_BASE(e) == name)))
            return true;
    }
    return false;
}

/* Has the name a word of its own in front of one that is known? */
static bool is_own(const char *name, size_t len, const char *nearest)
{
    size_t end = strlen(nearest);

    return memchr(name, '_', len) || memchr(name, ':', len) || (len > end && !strcasecmp(name + len - end, nearest));
}

/* The name that was probably meant; NULL for none. */
static const char *meant(const char *name, size_t len)
{
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; i < COUNT; i++)
        nearest_try(&nearest, known[i]);
    if (!nearest.name || nearest.distance > (len < 8 ? 1 : len / 4) || is_own(name, len, nearest.name) ||
        (len < 5 && strlen(nearest.name) <= len))
        return NULL;
    return nearest.name;
}

static bool was_told(struct buf *told, const char *name)
{
    char word[NEAREST_LEN_MAX + 3];

    snprintf(word, sizeof word, " %.*s ", NEAREST_LEN_MAX, name);
    if (told->len > TOLD_MAX || strstr(buf_string(told), word))
        return true;
    buf_adds(told, word);
    return false;
}

void misspelt_report(const struct tree *ad, const char *name, struct buf *told)
{
    const struct expr *root = tree_root(ad);

    for (uint32_t i = 0; root->kind == EXPR_AD && i < root->u.run.count; i++) {
        const struct expr *part = &tree_parts(ad, root)[i];
        size_t len;
        const char *text = symbols_text(ad->symbols, part->label, &len), *right;

        if (len > NEAREST_LEN_MAX || is_known(text) || !(right = meant(text, len)) || is_read(ad, part->label) ||
            was_told(told, text))
            continue;
        report("%s: nothing reads %s; did you mean %s?", name, text, right);
    }
}
