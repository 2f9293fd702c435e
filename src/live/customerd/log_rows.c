/* log_rows.c: what the log of each job has been told, over restarts. */
#include "live/customerd/log_rows.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/user_logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void key_of(uint64_t job, unsigned char ret[8])
{
    for (int i = 0; i < 8; i++)
        ret[i] = (unsigned char)(job >> (56 - 8 * i));
}

void log_rows_init(struct log_rows *rows, struct shelf *shelf)
{
    *rows = (struct log_rows){.shelf = shelf};
    map_init(&rows->places, 0);
}

void log_rows_done(struct log_rows *rows)
{
    map_done(&rows->places);
    for (uint32_t i = 0; i < rows->count; i++)
        free(rows->rows[i].ahead);
    free(rows->rows);
}

struct log_row *log_rows_find(const struct log_rows *rows, uint64_t job)
{
    uint64_t place = map_find(&rows->places, job);

    return place == MAP_NONE ? NULL : &rows->rows[place];
}

struct log_row *log_rows_make(struct log_rows *rows, uint64_t job)
{
    struct log_row *row = log_rows_find(rows, job);

    if (row)
        return row;
    ARRAY_ROOM(rows->rows, rows->count, rows->room, 64);
    rows->rows[rows->count] = (struct log_row){.job = job};
    map_set(&rows->places, job, rows->count);
    return &rows->rows[rows->count++];
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    unsigned long long cluster, serial, failed;
    long long at, size;
    int suspended = 0; /* rows of earlier versions end before it */
    unsigned phase;
    char text[160] = "";
    uint64_t job = 0;
    struct log_row *row;

    if (key_len != 8)
        return true;
    for (int i = 0; i < 8; i++)
        job = job << 8 | ((const unsigned char *)key)[i];
    memcpy(text, value, len < sizeof text - 1 ? len : sizeof text - 1);
    if (sscanf(text, "%u %llu %llu %llu %lld %lld %d", &phase, &cluster, &serial, &failed, &at, &size, &suspended) <
            6 ||
        phase >= LOG_PHASES || !cluster || cluster > job)
        return true;
    row = log_rows_make(user, job);
    row->told = (struct log_told){(enum log_phase)phase, cluster, serial, failed, at, size, suspended == 1};
    row->unsure = true;
    return true;
}

int log_rows_load(struct log_rows *rows, struct err *err)
{
    return rows->shelf->kind->each(rows->shelf, USER_LOG_SPACE, row_load, rows, err);
}

int log_rows_store(struct log_rows *rows, const struct log_row *row, struct err *err)
{
    const struct log_told *told = &row->told;
    unsigned char key[8];
    char text[160];
    int len = snprintf(text, sizeof text, "%u %llu %llu %llu %lld %lld %d", (unsigned)told->phase,
                       (unsigned long long)told->cluster, (unsigned long long)told->serial,
                       (unsigned long long)told->failed, (long long)told->at, (long long)told->size, told->suspended);

    key_of(row->job, key);
    return rows->shelf->kind->put(rows->shelf, USER_LOG_SPACE, key, sizeof key, text, (size_t)len, err);
}

void log_rows_forget(struct log_rows *rows, uint64_t job)
{
    uint64_t place = map_find(&rows->places, job);
    unsigned char key[8];
    struct err err;

    if (place == MAP_NONE)
        return;
    key_of(job, key);
    rows->shelf->kind->remove(rows->shelf, USER_LOG_SPACE, key, sizeof key, &err);
    free(rows->rows[place].ahead);
    map_remove(&rows->places, job);
    if (place != --rows->count) { /* the last takes its place */
        rows->rows[place] = rows->rows[rows->count];
        map_set(&rows->places, rows->rows[place].job, place);
    }
}

void log_row_add(struct log_row *row, const char *events, size_t len, const struct log_told *told)
{
    row->ahead = mem_grow(row->ahead, row->ahead_len + len);
    memcpy(row->ahead + row->ahead_len, events, len);
    row->ahead_len += len;
    row->ahead_told = *told;
}

void log_row_drop(struct log_row *row)
{
    free(row->ahead);
    row->ahead = NULL;
    row->ahead_len = 0;
}
