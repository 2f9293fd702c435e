/* ends.c: which jobs have ended, and how, as text. */
#include "live/world/ends.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const how_words[END_COUNT] = {"", "done", "removed", "aborted", "again"};
static const char *const reason_ids[REASON_COUNT] = {
#define X(id, words) #id,
    REASONS(X)
#undef X
};

struct reading {
    const char *at, *end;
};

static bool number_read(struct reading *reading, uint64_t *ret)
{
    const char *from = reading->at;

    for (*ret = 0; reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9' && reading->at - from < 19;
         reading->at++)
        *ret = *ret * 10 + (uint64_t)(*reading->at - '0');
    return reading->at > from;
}

static bool mark_read(struct reading *reading, char mark)
{
    if (reading->at == reading->end || *reading->at != mark)
        return false;
    reading->at++;
    return true;
}

/* The place of the word that stands there among those; -1: it is none of them. */
static int word_read(struct reading *reading, const char *const *words, int count)
{
    size_t len = 0;

    while (reading->at + len < reading->end && reading->at[len] != ':' && reading->at[len] != ' ')
        len++;
    for (int i = 0; i < count; i++)
        if (len && strlen(words[i]) == len && !memcmp(words[i], reading->at, len)) {
            reading->at += len;
            return i;
        }
    return -1;
}

static bool run_read(struct reading *reading, struct ends_run *ret)
{
    uint64_t status;
    int how, reason;
    bool negative;

    if (!number_read(reading, &ret->first))
        return false;
    ret->last = ret->first;
    if (mark_read(reading, '-') && !number_read(reading, &ret->last))
        return false;
    if (!ret->first || ret->last < ret->first || ret->last > ENDS_NUMBER_MAX || !mark_read(reading, ':'))
        return false;
    how = word_read(reading, how_words, END_COUNT);
    if (how < 0 || !mark_read(reading, ':'))
        return false;
    reason = word_read(reading, reason_ids, REASON_COUNT);
    if (reason < 0 || !mark_read(reading, ':'))
        return false;
    negative = mark_read(reading, '-');
    if (!number_read(reading, &status) || status > INT64_MAX)
        return false;
    ret->how = (enum end_how)how;
    ret->reason = (enum reason)reason;
    ret->status = negative ? -(int64_t)status : (int64_t)status;
    return true;
}

bool ends_read(const char *text, size_t len, ends_fn *fn, void *user)
{
    struct reading reading = {text, text + len};
    uint64_t before = 0;
    struct ends_run run;

    while (reading.at < reading.end) {
        if (!run_read(&reading, &run) || run.first <= before ||
            (reading.at < reading.end && !mark_read(&reading, ' ')) || !fn(user, &run))
            return false;
        before = run.last;
    }
    return true;
}

void ends_print(struct buf *out, const struct ends_run *run)
{
    if (out->len)
        buf_addc(out, ' ');
    buf_addf(out, "%" PRIu64, run->first);
    if (run->last > run->first)
        buf_addf(out, "-%" PRIu64, run->last);
    buf_addf(out, ":%s:%s:%" PRId64, how_words[run->how], reason_ids[run->reason],
             run->status == INT64_MIN ? -INT64_MAX : run->status);
}

/* ---------------------------------------------------------------------------------------------------------------- blocks */

void ends_block_init(struct ends_block *block, uint64_t number)
{
    memset(block, 0, sizeof *block);
    block->number = number;
}

void ends_block_take(struct ends_block *block, const struct ends_run *run)
{
    uint64_t from = block->number * ENDS_BLOCK, first = run->first > from ? run->first : from;

    for (uint64_t job = first; job <= run->last && job < from + ENDS_BLOCK; job++)
        block->jobs[job - from] = *run;
}

static bool run_take(void *user, const struct ends_run *run)
{
    ends_block_take(user, run);
    return true;
}

bool ends_block_read(struct ends_block *block, const char *text, size_t len)
{
    return ends_read(text, len, run_take, block);
}

bool ends_alike(const struct ends_run *a, const struct ends_run *b)
{
    return a->how == b->how && a->reason == b->reason && a->status == b->status;
}

void ends_block_print(const struct ends_block *block, struct buf *out)
{
    for (uint32_t i = 0, next; i < ENDS_BLOCK; i = next) {
        struct ends_run run = block->jobs[i];

        for (next = i + 1; next < ENDS_BLOCK && ends_alike(&block->jobs[next], &run); next++)
            ;
        run.first = block->number * ENDS_BLOCK + i;
        run.last = block->number * ENDS_BLOCK + next - 1;
        if (run.how != END_UNKNOWN)
            ends_print(out, &run);
    }
}
