/* log_rows.h: what the log of each job has been told (user_logs.h), over restarts; and the events that are on their way to it.
 *
 *     "userlog": job -> PHASE CLUSTER SERIAL FAILED AT SIZE (struct log_told of event_log.h) */
#ifndef BERTH_LIVE_CUSTOMERD_LOG_ROWS_H
#define BERTH_LIVE_CUSTOMERD_LOG_ROWS_H

#include "lang/base/err.h"
#include "lang/base/map.h"
#include "live/customerd/event_log.h"
#include "pool/protocol/shelf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct log_row {
    uint64_t job;
    struct log_told told;
    bool unsure; /* what comes next may have been written already */
    bool blamed; /* that it cannot be written has been told */
    /* Events that wait for the next batch: a job that is held and released before that has been held all the same. Owned; NULL: none ... */
    char *ahead;
    size_t ahead_len;
    struct log_told ahead_told; /* ... and what its log has been told with them */
};

struct log_rows {
    struct shelf *shelf;
    struct map places; /* job -> its place in the rows */
    struct log_row *rows;
    uint32_t count, room;
};

void log_rows_init(struct log_rows *rows, struct shelf *shelf);
void log_rows_done(struct log_rows *rows);
int log_rows_load(struct log_rows *rows, struct err *err); /* what the time before has left is unsure */

/* A row is good until the next one is made or forgotten. */
struct log_row *log_rows_find(const struct log_rows *rows, uint64_t job); /* NULL: its log has been told nothing */
struct log_row *log_rows_make(struct log_rows *rows, uint64_t job);
int log_rows_store(struct log_rows *rows, const struct log_row *row, struct err *err); /* for the next commit */
void log_rows_forget(struct log_rows *rows, uint64_t job);

void log_row_add(struct log_row *row, const char *events, size_t len, const struct log_told *told);
void log_row_drop(struct log_row *row); /* those that wait */

#ifdef __cplusplus
}
#endif
#endif
