/* history.h: jobs that have ended and that the role has forgotten: what became of each, the newest first.
 *
 *     "history"  a job's number -> its ad
 *     "ended"    its end and number, both inverted, so that the newest comes first -> its last state, the bytes that it counts, its account
 *
 * Jobs that are alike and were removed before they ran have one row in each, under the number of the first: they take no more room than one.
 *
 * Only "ended" is read at the start and kept in memory. Earlier versions wrote the state alone: the rest is read from the ads, job by job.
 *
 * When all of it counts more than its bound, the oldest job of the account that has most there goes: so nobody loses one who has no more than
 * an equal share. */
#ifndef BERTH_LIVE_CUSTOMERD_HISTORY_H
#define BERTH_LIVE_CUSTOMERD_HISTORY_H

#include "lang/base/symbols.h"
#include "live/customerd/job_ad.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HISTORY_MAX 1000000 /* jobs that one request may name */
#define HISTORY_JOB 4096    /* bytes that a job counts at least: it has rows, a log and a folder as well */
#define HISTORY_ALIKE \
    1024 /* the same for one of many that are alike: it has none of these, but a row in memory, which takes about a tenth of that */
#define HISTORY_SPACE "history"
#define ENDED_SPACE "ended"

struct history;

struct history_row {
    uint64_t job;
    int64_t ended; /* when it came into the history: seconds */
    enum job_standing standing;
    bool alike; /* read alone: it has neither files nor a log */
};

struct history *history_new(struct symbols *symbols, struct shelf *shelf, struct err *err);
void history_free(struct history *history);

/* Records a job; durable with the next commit. The ad of a job that was done gets State="Cleared". */
int history_add(struct history *history, const struct history_row *row, const struct tree *ad, struct err *err);
/* The same for jobs that are alike, of which this is the first, up to the number `last`. */
int history_add_alike(struct history *history, const struct history_row *row, uint64_t last, const struct tree *ad,
                      struct err *err);

bool history_find(const struct history *history, uint64_t job, struct history_row *ret);
struct tree *history_ad(const struct history *history, uint64_t job); /* the caller unrefs it; NULL: there is none */
/* The same, for whoever has to know: -1 and `err` when it cannot be read now. */
int history_read(const struct history *history, uint64_t job, struct tree **ret, struct err *err);

uint32_t history_count(const struct history *history);
uint64_t history_bytes(const struct history *history); /* as they count, of the jobs whose accounts are known */

/* Each job has a place, a number that grows from the oldest to the newest, and keeps it until the customer ends. */
uint64_t history_newest(const struct history *history); /* the last place that was given; 0: none was */
/* The last job up to that place, and the first behind it: returns its place; 0: there is none. */
uint64_t history_before(const struct history *history, uint64_t place, struct history_row *ret);
uint64_t history_after(const struct history *history, uint64_t place, struct history_row *ret);
/* The last up to that place that may be the owner's: jobs that are known to be of other accounts are passed over, some at a time. If only such were looked at, `ret->job`
 * is 0, and the place is that of the last of them. */
uint64_t history_before_of(const struct history *history, uint64_t place, const char *owner, struct history_row *ret);

void history_set_most(struct history *history, uint64_t bytes); /* no bound without this */
/* One step towards the bound: reads whose a job is that an earlier version kept, or else removes a job: `*ret_gone` is its number, else 0. False: all is
 * done, or `err` is filled. What has changed is durable with the next commit. */
bool history_step(struct history *history, uint64_t *ret_gone, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
