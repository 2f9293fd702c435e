/* job_outcome.h: how a job that is over has ended: a word for programs, the words that people read, and whether that is good.
 *
 *     State = "Done"; Status = 3; Reason = "the job ended"   ->  Outcome = "Failed"; ExitCode = 3    "Failed (exit 3)"
 *
 * The customer writes Outcome, ExitCode and Signal beside State, Status and Reason; the command line and the documentation use the same table. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_OUTCOME_H
#define BERTH_LIVE_CUSTOMERD_JOB_OUTCOME_H

#include "lang/ad/make.h"
#include "lang/base/buf.h"
#include "lang/text/tree.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

enum outcome_tone { TONE_PLAIN, TONE_GOOD, TONE_BAD };

/* Word, what people read, how good it is, and when it is so. */
#define JOB_OUTCOMES(X)                                                                                        \
    X(SUCCEEDED, "Succeeded", "Succeeded", GOOD, "its program ended with status 0")                            \
    X(FAILED, "Failed", "Failed", BAD, "its program ended with another status, `ExitCode`")                    \
    X(OUT_OF_MEMORY, "OutOfMemory", "Out of memory", BAD, "it used more than `RequestMemory`")                 \
    X(OUT_OF_TIME, "OutOfTime", "Out of time", BAD, "it ran for `TimeLimit`")                                  \
    X(OUT_OF_DISK, "OutOfDisk", "Out of disk", BAD, "it used more than `RequestDisk`, or made too many files") \
    X(KILLED, "Killed", "Killed", BAD, "a signal ended its program, `Signal`")                                 \
    X(REMOVED, "Removed", "Removed", PLAIN, "its user, or an administrator, removed it")                       \
    X(EXPIRED, "Expired", "Expired", BAD, "it waited for `QueueLimit`, or until `FinishBy`")

enum job_outcome {
#define X(id, word, words, tone, when) OUTCOME_##id,
    JOB_OUTCOMES(X)
#undef X
        OUTCOME_COUNT
};

const char *job_outcome_word(enum job_outcome outcome);
enum outcome_tone job_outcome_tone(enum job_outcome outcome);

/* The signal that ended a program, by its status, which is below 0. A machine may say any number: the smallest has no opposite. */
static inline int64_t status_signal(int64_t status)
{
    return status == INT64_MIN ? INT64_MAX : -status;
}

/* The outcome of a job that was done for that reason and with that status. */
enum job_outcome job_outcome_done(enum reason reason, int64_t status);

/* A reason of such an end: the other way round. */
enum reason job_outcome_reason(enum job_outcome outcome);

/* The outcome by the ad of a job: its Outcome, else what follows from State, Status and Reason, as in ads of earlier versions. False: the job is not
 * over, or its ad does not say how it ended. */
bool job_outcome(const struct tree *job, enum job_outcome *ret);

/* Adds Outcome and, where the program ended by itself, ExitCode or Signal. */
void job_outcome_add(struct maker *maker, enum job_outcome outcome, int64_t status);

/* Appends what people read, such as "Out of memory (used 104 of 100 MiB)". */
void job_outcome_print(struct buf *out, enum job_outcome outcome, const struct tree *job);

#ifdef __cplusplus
}
#endif
#endif
