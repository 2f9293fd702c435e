/* history.c: jobs that have ended, the newest first. */
#include "live/customerd/history.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"

#include <stdlib.h>
#include <string.h>

struct history {
    struct symbols *symbols;
    struct shelf *shelf;
    struct history_row *rows; /* the oldest first, from `from` on */
    uint32_t from, count, room;
    struct map jobs; /* id -> its place in rows */
    struct buf text;
};

static void word_put(unsigned char *to, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(word >> (56 - 8 * i));
}

static uint64_t word_get(const unsigned char *from)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++)
        word = word << 8 | from[i];
    return word;
}

static void ended_key(const struct history_row *row, unsigned char ret[16])
{
    word_put(ret, ~(uint64_t)row->ended);
    word_put(ret + 8, ~row->job);
}

static void row_add(struct history *history, const struct history_row *row)
{
    ARRAY_ROOM(history->rows, history->count, history->room, 64);
    map_set(&history->jobs, row->job, history->count);
    history->rows[history->count++] = *row;
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct history_row row;

    if (key_len != 16 || len < 1)
        return true;
    row.ended = (int64_t)~word_get(key);
    row.job = ~word_get((const unsigned char *)key + 8);
    row.standing = (enum job_standing)(*(const char *)value - 'a');
    if (row.standing >= STANDING_COUNT)
        row.standing = STANDING_FAILED;
    row_add(user, &row);
    return true;
}

/* The rows were loaded with the newest first: turns them round. */
static void rows_turn(struct history *history)
{
    for (uint32_t i = 0; i < history->count / 2; i++) {
        struct history_row row = history->rows[i];

        history->rows[i] = history->rows[history->count - 1 - i];
        history->rows[history->count - 1 - i] = row;
    }
    for (uint32_t i = 0; i < history->count; i++)
        map_set(&history->jobs, history->rows[i].job, i);
}

struct history *history_new(struct symbols *symbols, struct shelf *shelf, struct err *err)
{
    struct history *history = mem_alloc(sizeof *history);

    *history = (struct history){.symbols = symbols, .shelf = shelf};
    map_init(&history->jobs, 0);
    buf_init(&history->text);
    if (shelf->kind->each(shelf, ENDED_SPACE, row_load, history, err) < 0) {
        history_free(history);
        return NULL;
    }
    rows_turn(history);
    return history;
}

void history_free(struct history *history)
{
    if (!history)
        return;
    free(history->rows);
    map_done(&history->jobs);
    buf_done(&history->text);
    free(history);
}

/* The ad for the history: a job that was Done becomes Cleared, as nothing more will come of it. */
static struct tree *ad_cleared(struct history *history, const struct history_row *row, const struct tree *ad)
{
    bool done = row->standing == STANDING_DONE || row->standing == STANDING_FAILED;
    struct maker maker;

    maker_init(&maker, history->symbols);
    maker_parts(&maker, ad, "State");
    maker_text(&maker, "State", done ? "Cleared" : job_standing_word(row->standing));
    return maker_seal(&maker);
}

int history_add(struct history *history, const struct history_row *row, const struct tree *ad, struct err *err)
{
    struct shelf *shelf = history->shelf;
    unsigned char key[16], job[8];
    char standing = (char)('a' + (int)row->standing);
    struct tree *cleared;

    if (map_find(&history->jobs, row->job) != MAP_NONE)
        return 0;
    cleared = ad_cleared(history, row, ad);
    buf_reset(&history->text);
    represent_ad(&history->text, FORM_CLASSAD, cleared);
    tree_unref(cleared);
    word_put(job, row->job);
    ended_key(row, key);
    if (shelf->kind->put(shelf, HISTORY_SPACE, job, sizeof job, history->text.text, history->text.len, err) < 0 ||
        shelf->kind->put(shelf, ENDED_SPACE, key, sizeof key, &standing, 1, err) < 0)
        return -1;
    row_add(history, row);
    return 0;
}

bool history_find(const struct history *history, uint64_t job, struct history_row *ret)
{
    uint64_t place = map_find(&history->jobs, job);

    if (place == MAP_NONE)
        return false;
    *ret = history->rows[place];
    return true;
}

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

struct tree *history_ad(const struct history *history, uint64_t job)
{
    struct shelf *shelf = history->shelf;
    struct tree *ad = NULL;
    unsigned char key[8];
    struct buf text;
    struct err err;

    word_put(key, job);
    buf_init(&text);
    if (shelf->kind->get(shelf, HISTORY_SPACE, key, sizeof key, row_copy, &text, &err) == 0 && text.len)
        ad = form_parse(history->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    buf_done(&text);
    return ad;
}

uint32_t history_count(const struct history *history)
{
    return history->count - history->from;
}

bool history_at(const struct history *history, uint32_t place, struct history_row *ret)
{
    if (place >= history_count(history))
        return false;
    *ret = history->rows[history->count - 1 - place];
    return true;
}

uint32_t history_trim(struct history *history, void (*gone)(void *user, uint64_t job), void *user, struct err *err)
{
    struct shelf *shelf = history->shelf;
    uint32_t trimmed = 0;

    while (history_count(history) > HISTORY_MAX && trimmed < 1000) {
        const struct history_row *row = &history->rows[history->from];
        unsigned char key[16], job[8];

        ended_key(row, key);
        word_put(job, row->job);
        if (shelf->kind->remove(shelf, ENDED_SPACE, key, sizeof key, err) < 0 ||
            shelf->kind->remove(shelf, HISTORY_SPACE, job, sizeof job, err) < 0)
            return trimmed;
        gone(user, row->job);
        map_remove(&history->jobs, row->job);
        history->from++;
        trimmed++;
    }
    return trimmed;
}
