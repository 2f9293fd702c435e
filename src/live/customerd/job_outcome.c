/* job_outcome.c: how a job that is over has ended. */
#include "live/customerd/job_outcome.h"

#include "lang/ad/get.h"

#include <inttypes.h>
#include <string.h>

#define REACHED 0.95 /* of a limit: what was measured last may be a little less than what the job was ended for */

static const struct {
    const char *word, *words;
    enum outcome_tone tone;
} outcomes[] = {
#define X(id, word, words, tone, when) {word, words, TONE_##tone},
    JOB_OUTCOMES(X)
#undef X
};

const char *job_outcome_word(enum job_outcome outcome)
{
    return outcomes[outcome].word;
}

enum outcome_tone job_outcome_tone(enum job_outcome outcome)
{
    return outcomes[outcome].tone;
}

static bool text_is(const struct tree *job, const char *name, const char *text)
{
    const char *found;
    size_t len;

    return ad_string(job, name, &found, &len) && len == strlen(text) && !memcmp(found, text, len);
}

/* A limit comes first: the status of a job that was ended at one is that of the signal it was ended with. */
enum job_outcome job_outcome_done(enum reason reason, int64_t status)
{
    switch (reason) {
    case REASON_MEMORY:
        return OUTCOME_OUT_OF_MEMORY;
    case REASON_TIME:
        return OUTCOME_OUT_OF_TIME;
    case REASON_DISK:
        return OUTCOME_OUT_OF_DISK;
    default:
        return status < 0 ? OUTCOME_KILLED : status > 0 || reason != REASON_EXITED ? OUTCOME_FAILED : OUTCOME_SUCCEEDED;
    }
}

enum reason job_outcome_reason(enum job_outcome outcome)
{
    switch (outcome) {
    case OUTCOME_OUT_OF_MEMORY:
        return REASON_MEMORY;
    case OUTCOME_OUT_OF_TIME:
        return REASON_TIME;
    case OUTCOME_OUT_OF_DISK:
        return REASON_DISK;
    case OUTCOME_REMOVED:
        return REASON_RELEASED;
    case OUTCOME_EXPIRED:
        return REASON_QUEUE;
    default:
        return REASON_EXITED;
    }
}

/* The reason whose words the ad has; OK: none. */
static enum reason reason_of(const struct tree *job)
{
    for (int reason = 0; reason < REASON_COUNT; reason++)
        if (text_is(job, "Reason", reason_words((enum reason)reason)))
            return (enum reason)reason;
    return REASON_OK;
}

bool job_outcome(const struct tree *job, enum job_outcome *ret)
{
    enum reason reason;
    int64_t status = 0;

    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (text_is(job, "Outcome", outcomes[i].word)) {
            *ret = (enum job_outcome)i;
            return true;
        }
    if (text_is(job, "State", "Cancelled") || text_is(job, "State", "Aborted")) {
        *ret = text_is(job, "State", "Aborted") ? OUTCOME_EXPIRED : OUTCOME_REMOVED;
        return true;
    }
    if (!text_is(job, "State", "Done") && !text_is(job, "State", "Cleared"))
        return false;
    reason = reason_of(job);
    if (!ad_integer(job, "Status", &status) && reason == REASON_OK)
        return false;
    *ret = job_outcome_done(reason == REASON_OK ? REASON_EXITED : reason, status);
    return true;
}

void job_outcome_add(struct maker *maker, enum job_outcome outcome, int64_t status)
{
    maker_text(maker, "Outcome", outcomes[outcome].word);
    if (outcome == OUTCOME_SUCCEEDED || (outcome == OUTCOME_FAILED && status))
        maker_integer(maker, "ExitCode", status);
    else if (outcome == OUTCOME_KILLED)
        maker_integer(maker, "Signal", status_signal(status));
}

static void amount_print(struct buf *out, double amount)
{
    buf_addf(out, amount < 10 && amount != (double)(int64_t)amount ? "%.1f" : "%.0f", amount);
}

/* Appends "(used 104 of 100 MiB)", both in the unit of the limit; only the limit where less than that was measured, nothing where it is not known. */
static void limit_print(struct buf *out, const struct tree *job, const char *used_name, const char *given_name,
                        const char *asked_name)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double used = 0, limit;
    size_t unit = 0;

    if ((!ad_number(job, given_name, &limit) && !ad_number(job, asked_name, &limit)) || !(limit > 0))
        return;
    ad_number(job, used_name, &used);
    for (; limit >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) {
        limit /= 1024;
        used /= 1024;
    }
    buf_adds(out, used >= limit * REACHED ? " (used " : " (limit ");
    if (used >= limit * REACHED) {
        amount_print(out, used);
        buf_adds(out, " of ");
    }
    amount_print(out, limit);
    buf_addf(out, " %s)", units[unit]);
}

void job_outcome_print(struct buf *out, enum job_outcome outcome, const struct tree *job)
{
    int64_t status = 0;

    ad_integer(job, "Status", &status);
    buf_adds(out, outcomes[outcome].words);
    if (outcome == OUTCOME_FAILED && status)
        buf_addf(out, " (exit %" PRId64 ")", status);
    else if (outcome == OUTCOME_KILLED && status)
        buf_addf(out, " (signal %" PRId64 ")", status_signal(status));
    else if (outcome == OUTCOME_OUT_OF_MEMORY)
        limit_print(out, job, "MemoryUsed", "MemoryGiven", "RequestMemory");
    else if (outcome == OUTCOME_OUT_OF_DISK)
        limit_print(out, job, "DiskUsed", "DiskGiven", "RequestDisk");
}
