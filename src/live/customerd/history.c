/* history.c: jobs that have ended, the newest first. */
#include "live/customerd/history.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/history_rows.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"
#include "pool/protocol/writers.h"
#include "sys/secrets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN 0 /* bytes of a row whose account is not known yet */
#define HISTORY_PASSED 1000

static_assert(STANDING_COUNT <= 16, "a state fits into its bits");
static_assert(HISTORY_ALIKE < HISTORY_JOB, "no other job counts as many bytes as one that is alike");

struct account {
    uint64_t bytes, oldest, newest; /* the places of its jobs; 0: it has none */
    uint32_t rank;                  /* its place in the heap */
};

struct history {
    struct symbols *symbols;
    struct shelf *shelf;
    struct history_rows rows;
    struct textmap names;     /* of accounts */
    struct account *accounts; /* by the places of their names */
    uint32_t *heap;           /* accounts; who has most comes first */
    uint32_t room, heap_room, ranks;
    uint64_t bytes, most;
    uint64_t unread; /* no place behind this one is of a job whose account is unknown */
    struct buf text, row;
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

static void ended_key(const struct kept_row *row, unsigned char ret[16])
{
    word_put(ret, ~(uint64_t)row->ended);
    word_put(ret + 8, ~row->job);
}

/* ----------------------------------------------------------------------------------------------------------- accounts */

static uint64_t rank_bytes(const struct history *history, uint32_t rank)
{
    return history->accounts[history->heap[rank]].bytes;
}

static void ranks_swap(struct history *history, uint32_t a, uint32_t b)
{
    uint32_t account = history->heap[a];

    history->heap[a] = history->heap[b];
    history->heap[b] = account;
    history->accounts[history->heap[a]].rank = a;
    history->accounts[history->heap[b]].rank = b;
}

/* The account has more or less than before: it gets its place among the others. */
static void account_rank(struct history *history, uint32_t account)
{
    uint32_t rank = history->accounts[account].rank, child;

    for (; rank && rank_bytes(history, (rank - 1) / 2) < rank_bytes(history, rank); rank = (rank - 1) / 2)
        ranks_swap(history, rank, (rank - 1) / 2);
    for (; (child = 2 * rank + 1) < history->ranks; rank = child) {
        child += child + 1 < history->ranks && rank_bytes(history, child + 1) > rank_bytes(history, child);
        if (rank_bytes(history, child) <= rank_bytes(history, rank))
            return;
        ranks_swap(history, rank, child);
    }
}

static uint32_t account_add(struct history *history, const char *owner, size_t len)
{
    uint32_t known = history->names.places;
    uint32_t account = textmap_add(&history->names, owner, account_len(owner, len));

    ARRAY_ROOM(history->accounts, account, history->room, 16);
    ARRAY_ROOM(history->heap, history->ranks, history->heap_room, 16);
    if (account >= known) {
        history->accounts[account] = (struct account){.rank = history->ranks};
        history->heap[history->ranks++] = account;
    }
    return account;
}

static void account_count(struct history *history, uint32_t account, int64_t bytes)
{
    history->accounts[account].bytes += (uint64_t)bytes;
    history->bytes += (uint64_t)bytes;
    account_rank(history, account);
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static uint32_t bytes_counted(size_t ad)
{
    return ad < HISTORY_JOB ? HISTORY_JOB : (uint32_t)ad;
}

static void row_add(struct history *history, const struct kept_row *row)
{
    uint64_t place = history_rows_add(&history->rows, row);
    struct account *account = &history->accounts[row->account];

    if (row->bytes == UNKNOWN) {
        history->unread = place;
        return;
    }
    if (account->newest)
        history_rows_at(&history->rows, account->newest)->next = place;
    else
        account->oldest = place;
    account->newest = place;
    account_count(history, row->account, row->bytes);
}

/* Rows as they come, the newest first. */
struct loading {
    struct history *history;
    struct kept_row *rows;
    uint32_t count, room;
};

static void loading_add(struct loading *loading, const struct kept_row *row)
{
    ARRAY_ROOM(loading->rows, loading->count, loading->room, 64);
    loading->rows[loading->count++] = *row;
}

/* A row of many jobs that are alike: "A" and so on for their state, how many are behind the first, their account. */
static void alike_load(struct loading *loading, struct kept_row row, const char *value, size_t len)
{
    uint64_t behind = word_get((const unsigned char *)value + 1);

    row.standing = (unsigned)(*value - 'A') & 15;
    row.bytes = HISTORY_ALIKE;
    row.account = account_add(loading->history, value + 9, len - 9);
    row.job += behind < HISTORY_MAX ? behind : 0; /* a number read from a disk may be anything */
    for (row.behind = behind < HISTORY_MAX ? (uint32_t)behind : 0;; row.behind--, row.job--) {
        loading_add(loading, &row);
        if (!row.behind)
            break;
    }
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct loading *loading = user;
    const char *state = value;
    struct kept_row row = {.bytes = UNKNOWN};

    if (key_len != 16 || len < 1)
        return true;
    row.ended = (int64_t)~word_get(key);
    row.job = ~word_get((const unsigned char *)key + 8);
    if ((unsigned)(*state - 'A') < STANDING_COUNT && len >= 9) {
        alike_load(loading, row, state, len);
        return true;
    }
    row.standing = (unsigned)(*state - 'a') < STANDING_COUNT ? (unsigned)(*state - 'a') & 15 : STANDING_FAILED;
    if (len >= 9) {
        uint64_t bytes = word_get((const unsigned char *)value + 1);

        row.bytes = bytes_counted(bytes < SHELF_VALUE_MAX ? bytes : SHELF_VALUE_MAX);
        row.account = account_add(loading->history, state + 9, len - 9);
    }
    loading_add(loading, &row);
    return true;
}

struct history *history_new(struct symbols *symbols, struct shelf *shelf, struct err *err)
{
    struct history *history = mem_alloc(sizeof *history);
    struct loading loading = {.history = history};

    *history = (struct history){.symbols = symbols, .shelf = shelf, .most = UINT64_MAX};
    history_rows_init(&history->rows);
    textmap_init(&history->names, secrets_word(&secrets_live));
    account_add(history, "", 0); /* of rows that are not known, and of ads without an owner */
    buf_init(&history->text);
    buf_init(&history->row);
    if (shelf->kind->each(shelf, ENDED_SPACE, row_load, &loading, err) < 0) {
        free(loading.rows);
        history_free(history);
        return NULL;
    }
    while (loading.count)
        row_add(history, &loading.rows[--loading.count]);
    free(loading.rows);
    return history;
}

void history_free(struct history *history)
{
    if (!history)
        return;
    history_rows_done(&history->rows);
    textmap_done(&history->names);
    free(history->accounts);
    free(history->heap);
    buf_done(&history->text);
    buf_done(&history->row);
    free(history);
}

/* `number`: the bytes that the job counts; with 'A', how many are behind it. */
static int row_write(struct history *history, const struct kept_row *row, char first, uint64_t number, struct err *err)
{
    const char *name = textmap_text(&history->names, row->account);
    unsigned char key[16], bytes[8];
    char standing = (char)(first + (char)row->standing);

    ended_key(row, key);
    word_put(bytes, number);
    buf_reset(&history->row);
    buf_add(&history->row, &standing, 1);
    buf_add(&history->row, (const char *)bytes, sizeof bytes);
    buf_add(&history->row, name, strlen(name));
    return history->shelf->kind->put(history->shelf, ENDED_SPACE, key, sizeof key, history->row.text, history->row.len,
                                     err);
}

static struct history_row row_told(const struct kept_row *row)
{
    return (struct history_row){.job = row->job,
                                .ended = row->ended,
                                .standing = (enum job_standing)row->standing,
                                .alike = row->bytes == HISTORY_ALIKE};
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

static uint32_t ad_account(struct history *history, const struct tree *ad)
{
    const char *owner = "";
    size_t len = 0;

    if (ad)
        ad_string(ad, "Owner", &owner, &len);
    return account_add(history, owner, len);
}

/* Puts the ad on the shelf; the bytes of its text, or -1. */
static int64_t ad_write(struct history *history, const struct history_row *row, const struct tree *ad, struct err *err)
{
    struct shelf *shelf = history->shelf;
    struct tree *cleared = ad_cleared(history, row, ad);
    unsigned char job[8];

    buf_reset(&history->text);
    represent_ad(&history->text, FORM_CLASSAD, cleared);
    tree_unref(cleared);
    word_put(job, row->job);
    return shelf->kind->put(shelf, HISTORY_SPACE, job, sizeof job, history->text.text, history->text.len, err) < 0
               ? -1
               : (int64_t)history->text.len;
}

int history_add(struct history *history, const struct history_row *row, const struct tree *ad, struct err *err)
{
    struct kept_row kept = {.job = row->job, .ended = row->ended, .standing = (unsigned)row->standing & 15};
    int64_t bytes;

    if (history_rows_place(&history->rows, row->job))
        return 0;
    bytes = ad_write(history, row, ad, err);
    if (bytes < 0)
        return -1;
    kept.bytes = bytes_counted((size_t)bytes);
    kept.account = ad_account(history, ad);
    if (row_write(history, &kept, 'a', kept.bytes, err) < 0)
        return -1;
    row_add(history, &kept);
    return 0;
}

int history_add_alike(struct history *history, const struct history_row *row, uint64_t last, const struct tree *ad,
                      struct err *err)
{
    struct kept_row kept = {.job = row->job,
                            .ended = row->ended,
                            .standing = (unsigned)row->standing & 15,
                            .bytes = HISTORY_ALIKE,
                            .account = ad_account(history, ad)};

    if (ad_write(history, row, ad, err) < 0 || row_write(history, &kept, 'A', last - row->job, err) < 0)
        return -1;
    for (; kept.job <= last; kept.job++, kept.behind++)
        row_add(history, &kept);
    return 0;
}

bool history_find(const struct history *history, uint64_t job, struct history_row *ret)
{
    const struct kept_row *row = history_rows_at(&history->rows, history_rows_place(&history->rows, job));

    if (row)
        *ret = row_told(row);
    return row;
}

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

/* `*ret` is NULL where there is none. `*ret_size`: the bytes of its text. */
static int ad_read(const struct history *history, uint64_t job, struct tree **ret, size_t *ret_size, struct err *err)
{
    struct shelf *shelf = history->shelf;
    unsigned char key[8];
    struct err ignored;
    struct buf text;
    int failed;

    word_put(key, job);
    buf_init(&text);
    *ret = NULL;
    failed = shelf->kind->get(shelf, HISTORY_SPACE, key, sizeof key, row_copy, &text, err);
    if (!failed && text.len)
        *ret =
            form_parse(history->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &ignored);
    *ret_size = text.len;
    buf_done(&text);
    return failed;
}

/* The ad of one of many that are alike, from that of the first. Takes the ad. */
static struct tree *ad_behind(struct tree *ad, uint64_t job, uint32_t behind)
{
    struct ad_setting settings[2] = {{symbols_take(ad->symbols, "Job", 3), value_integer((int64_t)job)},
                                     {symbols_take(ad->symbols, "Index", 5), value_integer(behind)}};
    struct tree *told;
    int64_t index;

    if (ad_integer(ad, "Index", &index) && index >= 0 && index <= INT64_MAX - behind)
        settings[1].value = value_integer(index + behind);
    told = ad_set(ad, settings, 2, NULL);
    symbols_drop(ad->symbols, settings[0].name);
    symbols_drop(ad->symbols, settings[1].name);
    tree_unref(ad);
    return told;
}

int history_read(const struct history *history, uint64_t job, struct tree **ret, struct err *err)
{
    const struct kept_row *row = history_rows_at(&history->rows, history_rows_place(&history->rows, job));
    uint32_t behind = row ? row->behind : 0;
    size_t size;

    if (ad_read(history, job - behind, ret, &size, err) < 0)
        return -1;
    if (*ret && behind)
        *ret = ad_behind(*ret, job, behind);
    return 0;
}

struct tree *history_ad(const struct history *history, uint64_t job)
{
    struct tree *ad;
    struct err ignored;

    return history_read(history, job, &ad, &ignored) == 0 ? ad : NULL;
}

uint32_t history_count(const struct history *history)
{
    return map_count(&history->rows.places);
}

uint64_t history_bytes(const struct history *history)
{
    return history->bytes;
}

uint64_t history_newest(const struct history *history)
{
    return history->rows.newest;
}

uint64_t history_before(const struct history *history, uint64_t place, struct history_row *ret)
{
    uint64_t found = history_rows_before(&history->rows, place);

    if (found)
        *ret = row_told(history_rows_at(&history->rows, found));
    return found;
}

uint64_t history_before_of(const struct history *history, uint64_t place, const char *owner, struct history_row *ret)
{
    uint32_t own = textmap_find(&history->names, owner, account_len(owner, strlen(owner)));
    uint64_t found = history_rows_before(&history->rows, place), last = 0;

    *ret = (struct history_row){.job = 0};
    for (uint32_t passed = 0; found && passed < HISTORY_PASSED; passed++) {
        const struct kept_row *row = history_rows_at(&history->rows, found);

        if (row->bytes == UNKNOWN || row->account == own) {
            *ret = row_told(row);
            return found;
        }
        last = found;
        found = history_rows_before(&history->rows, found - 1);
    }
    return found ? last : 0;
}

uint64_t history_after(const struct history *history, uint64_t place, struct history_row *ret)
{
    uint64_t found = history_rows_after(&history->rows, place);

    if (found)
        *ret = row_told(history_rows_at(&history->rows, found));
    return found;
}

/* -------------------------------------------------------------------------------------------------------------- bounds */

void history_set_most(struct history *history, uint64_t bytes)
{
    history->most = bytes;
}

/* Reads whose job this is, if it can be read now. From the newest on: so each is older than those of its account that are known. */
static bool row_learn(struct history *history, uint64_t place, struct err *err)
{
    struct kept_row row = *history_rows_at(&history->rows, place);
    struct account *account;
    struct err ignored;
    struct tree *ad;
    size_t size;

    if (ad_read(history, row.job, &ad, &size, &ignored) < 0)
        return false;
    row.bytes = bytes_counted(size);
    row.account = ad_account(history, ad);
    tree_unref(ad);
    if (row_write(history, &row, 'a', row.bytes, err) < 0)
        return false;
    account = &history->accounts[row.account];
    row.next = account->oldest;
    account->oldest = place;
    if (!account->newest)
        account->newest = place;
    *history_rows_at(&history->rows, place) = row;
    account_count(history, row.account, row.bytes);
    return true;
}

/* Is there another one behind it with the same rows? Those that are alike came one after the other. */
static bool row_is_shared(const struct history *history, const struct kept_row *row)
{
    const struct kept_row *next = history_rows_at(&history->rows, row->next);

    return next && next->behind && next->job - next->behind == row->job - row->behind;
}

static bool oldest_remove(struct history *history, uint32_t number, uint64_t *ret_gone, struct err *err)
{
    struct account *account = &history->accounts[number];
    const struct kept_row row = *history_rows_at(&history->rows, account->oldest);
    const struct kept_row first = {.job = row.job - row.behind, .ended = row.ended};
    struct shelf *shelf = history->shelf;
    unsigned char key[16], job[8];
    uint64_t place = account->oldest;

    ended_key(&first, key);
    word_put(job, first.job);
    if (!row_is_shared(history, &row) && (shelf->kind->remove(shelf, ENDED_SPACE, key, sizeof key, err) < 0 ||
                                          shelf->kind->remove(shelf, HISTORY_SPACE, job, sizeof job, err) < 0))
        return false;
    *ret_gone = row.job;
    account->oldest = row.next;
    if (!account->oldest)
        account->newest = 0;
    history_rows_remove(&history->rows, place);
    account_count(history, number, -(int64_t)row.bytes);
    return true;
}

bool history_step(struct history *history, uint64_t *ret_gone, struct err *err)
{
    uint64_t place;

    *ret_gone = 0;
    if (history->unread) {
        place = history_rows_before(&history->rows, history->unread);
        if (place && history_rows_at(&history->rows, place)->bytes == UNKNOWN && !row_learn(history, place, err))
            return false;
        history->unread = place ? place - 1 : 0;
        return true;
    }
    return history->bytes > history->most && oldest_remove(history, history->heap[0], ret_gone, err);
}
