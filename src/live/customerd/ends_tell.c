/* ends_tell.c: tells the customer's pool which of its jobs have ended. */
#include "live/customerd/ends_tell.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MAX 2000                    /* jobs in one message */
#define TELL_KEPT 200000                 /* that wait to be told; of more the history knows at the next start */
#define TELL_PAUSE (200 * MILLISECOND)   /* between two messages */
#define TELL_PAUSE_LAST (5 * SECOND)     /* before one that tells but a larger number */
#define TELL_PAUSE_REFUSED (10 * SECOND) /* after one that was not taken */
#define TELL_AGAIN \
    (24 * 60 * MINUTE) /* after which the number is told again: the pool forgets first who says nothing */
#define TOLD_SPAN 10   /* seconds between two rows that say until when all was told */

struct ends_tell {
    struct symbols *symbols;
    struct shelf *shelf;
    uint64_t queue;
    int64_t since, wrote; /* seconds: the row "told"; when it was written */
    struct ends_run *items;
    uint32_t count, room;
    bool missed;      /* there were too many: the row stays as it is until the next start */
    bool behind;      /* more of the history is to be told: the row stays as it is until then */
    unsigned refused; /* the status with which the pool refused; 0: it has not */
    bool refused_told;
    struct runner *runner;
    bool telling;        /* a message is under way ... */
    uint32_t told;       /* ... about the first of the items ... */
    int64_t began;       /* ... made at that second ... */
    uint64_t told_last;  /* ... with that number */
    uint64_t known_last; /* which the pool has */
    int64_t due;
};

static bool row_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    char text[40];

    (void)key, (void)key_len;
    snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1), (const char *)value);
    *(uint64_t *)user = strtoull(text, NULL, 10);
    return false;
}

static int row_write(struct ends_tell *tell, const char *key, uint64_t number, struct err *err)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, number);

    return tell->shelf->kind->put(tell->shelf, OWN_ENDS_SPACE, key, strlen(key), text, (size_t)len, err);
}

struct ends_tell *ends_tell_new(struct symbols *symbols, struct shelf *shelf, struct err *err)
{
    struct ends_tell *tell = mem_alloc(sizeof *tell);
    uint64_t since = 0;

    *tell = (struct ends_tell){.symbols = symbols, .shelf = shelf};
    if (shelf->kind->get(shelf, OWN_ENDS_SPACE, "queue", 5, row_read, &tell->queue, err) < 0 ||
        shelf->kind->get(shelf, OWN_ENDS_SPACE, "told", 4, row_read, &since, err) < 0) {
        free(tell);
        return NULL;
    }
    tell->since = since < INT64_MAX ? (int64_t)since : 0;
    return tell;
}

void ends_tell_free(struct ends_tell *tell)
{
    if (!tell)
        return;
    free(tell->items);
    free(tell);
}

uint64_t ends_tell_queue(const struct ends_tell *tell)
{
    return tell->queue;
}

int64_t ends_tell_since(const struct ends_tell *tell)
{
    return tell->since;
}

int ends_tell_begin(struct ends_tell *tell, struct err *err)
{
    if (tell->queue)
        return 0;
    while (!tell->queue)
        tell->queue = secrets_word(&secrets_live) >> 1;
    tell->since = wall_seconds(runner_wall()); /* what ended before nobody will ask for */
    return row_write(tell, "queue", tell->queue, err) < 0 ? -1 : row_write(tell, "told", (uint64_t)tell->since, err);
}

void ends_tell_behind(struct ends_tell *tell, bool behind)
{
    tell->behind = behind;
}

uint32_t ends_tell_waiting(const struct ends_tell *tell)
{
    return tell->count;
}

unsigned ends_tell_refused(struct ends_tell *tell)
{
    unsigned status = tell->refused_told ? 0 : tell->refused;

    tell->refused_told = tell->refused_told || tell->refused;
    return status;
}

void ends_tell_add(struct ends_tell *tell, uint64_t job, enum end_how how, enum reason reason, int64_t status)
{
    tell->missed = tell->missed || tell->count >= TELL_KEPT;
    if (tell->count >= TELL_KEPT)
        return;
    ARRAY_ROOM(tell->items, tell->count, tell->room, 64);
    tell->items[tell->count++] = (struct ends_run){job, job, how, reason, status};
}

/* All has been told that had ended by then: the next start need not tell it again. */
static void told_note(struct ends_tell *tell)
{
    struct err err;

    if (tell->count || tell->missed || tell->behind || tell->began < tell->wrote + TOLD_SPAN)
        return;
    tell->wrote = tell->began;
    if (tell->began > tell->since && row_write(tell, "told", (uint64_t)tell->began, &err) == 0) {
        tell->since = tell->began;
        runner_commit(tell->runner, NULL, NULL);
    }
}

static void tell_done(void *user, unsigned status, const char *body, size_t len)
{
    struct ends_tell *tell = user;

    (void)len;
    tell->telling = false;
    tell->due = runner_now() + (body ? TELL_PAUSE : TELL_PAUSE_REFUSED);
    if (!body) {
        tell->refused = status / 100 == 4 ? status : tell->refused;
        return;
    }
    tell->count -= tell->told;
    if (tell->count && tell->told)
        memmove(tell->items, tell->items + tell->told, tell->count * sizeof *tell->items);
    tell->known_last = tell->told_last;
    told_note(tell);
}

static int run_order(const void *a, const void *b)
{
    const struct ends_run *x = a, *y = b;

    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last > y->last) - (x->last < y->last);
}

/* Puts the first items in the order of their numbers, and drops those of which a later one tells anew; returns how many are left of them. */
static uint32_t items_sort(struct ends_tell *tell, uint32_t count)
{
    struct ends_run *items = tell->items;
    uint32_t left = 0;

    for (uint32_t i = 0; i < count; i++)
        items[i].last = i; /* of two about one job the later one counts */
    if (count)
        qsort(items, count, sizeof *items, run_order);
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count && items[i + 1].first == items[i].first)
            continue;
        items[left] = items[i];
        items[left].last = items[left].first;
        left++;
    }
    if (left < count && count < tell->count)
        memmove(items + left, items + count, (tell->count - count) * sizeof *items);
    tell->count -= count - left;
    return left;
}

/* The text about the first items, as many as one message may be about; returns how many. */
static uint32_t items_print(const struct ends_run *items, uint32_t count, struct buf *out)
{
    uint32_t blocks = 0, i = 0, next;

    for (; i < count; i = next) {
        struct ends_run run = items[i];

        if (i == 0 || ends_block_of(run.first) != ends_block_of(items[i - 1].first))
            blocks++;
        if (blocks > ENDS_BLOCKS_MAX)
            break;
        for (next = i + 1;
             next < count && items[next].first == run.last + 1 &&
             ends_block_of(items[next].first) == ends_block_of(run.first) && ends_alike(&items[next], &run);
             next++)
            run.last++;
        ends_print(out, &run);
    }
    return i;
}

void ends_tell_tick(struct ends_tell *tell, struct live_agent *live, agent matchmaker, uint64_t last)
{
    uint32_t count = tell->count < TELL_MAX ? tell->count : TELL_MAX;
    int64_t now = runner_now();
    struct buf text, body;
    struct maker maker;
    struct tree *ad;

    if (tell->telling || !tell->queue || now < tell->due ||
        (!count && last == tell->known_last && now < tell->due + TELL_AGAIN) ||
        (!count && now < tell->due + TELL_PAUSE_LAST) || !agent_pool_view(live, 0).connected)
        return;
    buf_init(&text);
    buf_init(&body);
    count = items_sort(tell, count);
    tell->told = items_print(tell->items, count, &text);
    tell->began = wall_seconds(runner_wall());
    tell->told_last = last;
    tell->runner = agent_runner(live);
    maker_init(&maker, tell->symbols);
    maker_word(&maker, "Queue", tell->queue);
    maker_integer(&maker, "Last", (int64_t)last);
    maker_text(&maker, "Ended", buf_string(&text));
    ad = maker_seal(&maker);
    represent_ad(&body, FORM_CLASSAD, ad);
    tree_unref(ad);
    tell->telling = agent_post(live, matchmaker, "/v1/ends", &body, tell_done, tell);
    if (!tell->telling)
        tell->due = now + TELL_PAUSE_REFUSED;
    buf_done(&text);
    buf_done(&body);
}
