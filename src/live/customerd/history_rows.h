/* history_rows.h: the jobs of the history as they are kept in memory, by their places.
 *
 *     chunks:  [places 64 to 127: which are there, rows] [128 to 191: ...] ...
 *
 * A place is a number above 0 that a job gets when it comes, and it grows from job to job. It stays when other jobs go, wherever they lie: whoever goes through
 * the history goes on at the place where it stopped. What has gone takes no memory, but for 16 bytes for each 64 places behind the oldest job. */
#ifndef BERTH_LIVE_CUSTOMERD_HISTORY_ROWS_H
#define BERTH_LIVE_CUSTOMERD_HISTORY_ROWS_H

#include "lang/base/map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kept_row {
    uint64_t job;
    int64_t ended;
    uint64_t next;  /* the place of the next one of its account; 0: it is the newest */
    uint32_t bytes; /* as they count; 0: its account is not known yet */
    uint32_t account : 28, standing : 4;
    uint32_t behind; /* its ad is that of the job so many numbers before it, but for the number */
};

struct history_chunk {
    uint64_t there; /* a bit for each place; the lowest is the first place */
    struct kept_row *rows;
};

struct history_rows {
    struct history_chunk *chunks;
    uint32_t from, count, room; /* those that are in use lie from `from` to `count` */
    uint64_t first;             /* the first place of the chunk at `from` */
    uint64_t newest;            /* the last place that was given; 0: none was */
    struct map places;          /* job -> its place */
};

void history_rows_init(struct history_rows *rows);
void history_rows_done(struct history_rows *rows);

uint64_t history_rows_add(struct history_rows *rows, const struct kept_row *row); /* returns its place */
struct kept_row *history_rows_at(const struct history_rows *rows,
                                 uint64_t place); /* until one is added or removed; NULL: it has gone */
void history_rows_remove(struct history_rows *rows, uint64_t place);

uint64_t history_rows_place(const struct history_rows *rows, uint64_t job); /* 0: it is not there */
/* The last place up to this one, and the first behind it, of which the job is there; 0: there is none. */
uint64_t history_rows_before(const struct history_rows *rows, uint64_t place);
uint64_t history_rows_after(const struct history_rows *rows, uint64_t place);

#ifdef __cplusplus
}
#endif
#endif
