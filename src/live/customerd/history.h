/* history.h: jobs that have ended and that the role has forgotten: what became of each, the newest first.
 *
 *     "history"  a job's number -> its ad        "ended"  its end and number, both inverted, so that the newest comes first -> its last state
 *
 * Only "ended" is read at the start and kept in memory. */
#ifndef BERTH_LIVE_CUSTOMERD_HISTORY_H
#define BERTH_LIVE_CUSTOMERD_HISTORY_H

#include "lang/base/symbols.h"
#include "live/customerd/job_ad.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HISTORY_MAX 1000000 /* jobs; beyond that the oldest are removed */
#define HISTORY_SPACE "history"
#define ENDED_SPACE "ended"

struct history;

struct history_row {
    uint64_t job;
    int64_t ended; /* when it came into the history: seconds */
    enum job_standing standing;
};

struct history *history_new(struct symbols *symbols, struct shelf *shelf, struct err *err);
void history_free(struct history *history);

/* Records a job; durable with the next commit. The ad of a job that was done gets State="Cleared". */
int history_add(struct history *history, const struct history_row *row, const struct tree *ad, struct err *err);

bool history_find(const struct history *history, uint64_t job, struct history_row *ret);
struct tree *history_ad(const struct history *history, uint64_t job); /* the caller unrefs it; NULL: there is none */

/* The newest is at place 0. */
uint32_t history_count(const struct history *history);
bool history_at(const struct history *history, uint32_t place, struct history_row *ret);

/* Removes the oldest beyond HISTORY_MAX, some at a time; `gone` is told of each. Returns how many. */
uint32_t history_trim(struct history *history, void (*gone)(void *user, uint64_t job), void *user, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
