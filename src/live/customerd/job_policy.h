/* job_policy.h: what a job itself says shall become of it while it waits, runs or is held; looked at now and then, by default each minute.
 *
 *     PeriodicHold = JobStatus == 2 && time() - JobCurrentStartDate > 3600     true: the job is held, with PeriodicHoldReason and PeriodicHoldSubCode
 *     PeriodicRelease = JobStatus == 5 && NumJobStarts < 3                     true: a held job waits again
 *     PeriodicRemove = time() - QDate > 86400                                  true: it is removed
 *     PeriodicVacate = ...                                                     true: a running job leaves its machine, and waits again
 *
 * Jobs without such expressions cost nothing. Of those with them each user has a row, the users take turns, and one look takes a bounded time: who has a
 * hundred thousand of them is looked at less often, and nobody else is. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_POLICY_H
#define BERTH_LIVE_CUSTOMERD_JOB_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct customerd;
struct job_view;
struct tree;
struct job_policies;

struct job_policies *job_policies_new(struct customerd *customerd);
void job_policies_free(struct job_policies *policies);
bool job_policy_is_said(const struct tree *ad); /* has it any of these expressions? */
void job_policies_note(struct job_policies *policies, const struct job_view *view); /* the job is new */
/* Looks at those that are due, until then on the clock; called often. True: there are more. */
bool job_policies_tick(struct job_policies *policies, int64_t ends);

/* The job is about to be as that ad says. */
void job_policies_edited(struct job_policies *policies, const struct job_view *view, const struct tree *ad);

/* The job has just been held since its OnExitHold was true: notes the reason that the job gives. */
void job_policy_held(struct customerd *customerd, const struct job_view *view);

#ifdef __cplusplus
}
#endif
#endif
