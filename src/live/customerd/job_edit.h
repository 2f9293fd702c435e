/* job_edit.h: a job's ad with some of its attributes changed, and which of them may be. Private to the live customer. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_EDIT_H
#define BERTH_LIVE_CUSTOMERD_JOB_EDIT_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOB_EDIT_MAX 64             /* attributes in one edit */
#define JOB_PRIORITY_MAX 1000000000 /* and as far below 0 */

struct job_view;

/* What is to become of jobs. Zeroed: nothing. */
struct job_edit {
    struct tree *set; /* attributes and what they become; `undefined` takes one away. Owned, or NULL */
    bool prio;        /* the priority instead: ... */
    bool relative;    /* ... so much more than it is */
    int64_t priority;
    bool
        here; /* by a user of this machine, on the customer's socket: others do not say what a job does that came there */
};

/* Reads Set = [ ... ], or Priority = N or Change = N. -1: an attribute that is never changed, or none at all. */
int job_edit_read(const struct tree *ad, bool prio, struct job_edit *ret, struct err *err);
void job_edit_done(struct job_edit *edit);

/* The job's ad, edited; the caller unrefs it. NULL: this job cannot be so, or not while it runs. */
struct tree *job_edited(const struct job_edit *edit, const struct job_view *view, struct err *err);

/* Appends "Priority = 5, Rank = other.Mips", up to a length, for logs. */
void job_edit_words(const struct job_edit *edit, char *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
