/* ends_book.c: which jobs of customers have ended, as rows. */
#include "live/matchmakerd/ends_book.h"

#include "lang/base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_KEY_BYTES 24
#define QUEUE_KEY_BYTES 16 /* the beginning of the keys of a queue's rows */
#define BLOCK_OF_LAST UINT64_MAX
#define LAST_TEXT_MAX 47
#define HEARD_SPAN 3600 /* seconds: how exactly it is known when a customer was heard of */
#define THIN_PART 16    /* so many parts has what an account has: one of them goes where room is wanted */
#define THIN_ROWS 64    /* where all accounts together want room, so many rows go: all are looked at for that */

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

static void row_key(uint64_t account, uint64_t queue, uint64_t block, unsigned char ret[ROW_KEY_BYTES])
{
    word_put(ret, account);
    word_put(ret + 8, queue);
    word_put(ret + 16, block);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

void ends_book_init(struct ends_book *book, struct shelf *shelf, uint64_t seed)
{
    *book = (struct ends_book){.shelf = shelf, .most = ENDS_ROWS_ALL};
    map_init(&book->rows, seed);
}

void ends_book_done(struct ends_book *book)
{
    map_done(&book->rows);
}

static uint64_t rows_of(const struct ends_book *book, uint64_t account)
{
    uint64_t count = map_find(&book->rows, account);

    return count == MAP_NONE ? 0 : count;
}

/* An account has one row more, or less. */
static void rows_count(struct ends_book *book, uint64_t account, int change)
{
    uint64_t count = rows_of(book, account) + (uint64_t)change;

    book->count += (uint64_t)change;
    if (count)
        map_set(&book->rows, account, count);
    else
        map_remove(&book->rows, account);
}

static bool row_count(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct ends_book *book = user;

    (void)value, (void)len;
    if (key_len == ROW_KEY_BYTES)
        rows_count(book, word_get(key), 1);
    return true;
}

int ends_book_load(struct ends_book *book, struct err *err)
{
    return book->shelf->kind->each(book->shelf, ENDS_SPACE, row_count, book, err);
}

/* --------------------------------------------------------------------------------------------------------------- taking */

struct taking {
    struct ends_book *book;
    uint64_t account, queue;
    uint32_t blocks; /* that the text is about */
    uint64_t before; /* the last of them */
    struct ends_block block;
    bool open, there; /* a block is being changed; it had a row */
    struct buf text;
    struct err *err;
    enum ends_taken result;
};

/* Counts the blocks before anything is changed. */
static bool run_count(void *user, const struct ends_run *run)
{
    struct taking *taking = user;
    uint64_t first = ends_block_of(run->first), last = ends_block_of(run->last);

    if (last - first >= ENDS_BLOCKS_MAX)
        return false;
    taking->blocks += (uint32_t)(last - first) + (taking->blocks == 0 || first != taking->before);
    taking->before = last;
    return taking->blocks <= ENDS_BLOCKS_MAX;
}

static bool text_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len;
    buf_add(user, value, len);
    return false;
}

static int row_read(struct taking *taking, uint64_t block)
{
    struct shelf *shelf = taking->book->shelf;
    unsigned char key[ROW_KEY_BYTES];

    row_key(taking->account, taking->queue, block, key);
    buf_reset(&taking->text);
    return shelf->kind->get(shelf, ENDS_SPACE, key, sizeof key, text_copy, &taking->text, taking->err);
}

/* What is known of a queue besides its jobs. */
struct last_row {
    uint64_t last; /* the largest number of a job; 0: not known */
    int64_t heard; /* the second at which its customer was heard of; 0: not known */
};

/* What was written of a queue besides its jobs: NUMBER SECOND; earlier versions wrote the number alone. */
static struct last_row last_of(const char *text)
{
    struct last_row row;
    char *end;

    row.last = strtoull(text, &end, 10);
    row.heard = strtoll(end, NULL, 10);
    row.heard = row.heard > 0 ? row.heard : 0;
    return row;
}

static int last_read(struct taking *taking, uint64_t account, uint64_t queue, struct last_row *ret)
{
    struct shelf *shelf = taking->book->shelf;
    unsigned char key[ROW_KEY_BYTES];
    struct buf text;
    int failed;

    *ret = (struct last_row){0};
    row_key(account, queue, BLOCK_OF_LAST, key);
    buf_init(&text);
    failed = shelf->kind->get(shelf, ENDS_SPACE, key, sizeof key, text_copy, &text, taking->err);
    if (!failed && text.len)
        *ret = last_of(buf_string(&text));
    buf_done(&text);
    return failed;
}

/* ---------------------------------------------------------------------------------------------------------------- room */

static bool key_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)value, (void)len;
    if (key_len == ROW_KEY_BYTES)
        memcpy(user, key, ROW_KEY_BYTES);
    return false;
}

/* The first row behind that key whose key begins with the same bytes: 1 and its key; 0: there is none; or -1. */
static int row_after(struct taking *taking, const unsigned char *key, size_t key_len, size_t same,
                     unsigned char ret[ROW_KEY_BYTES])
{
    struct shelf *shelf = taking->book->shelf;
    unsigned char found[ROW_KEY_BYTES] = {0};

    if (shelf->kind->each_after(shelf, ENDS_SPACE, key, key_len, key_copy, found, taking->err) < 0)
        return -1;
    memcpy(ret, found, sizeof found);
    return memcmp(found, key, same) == 0 && word_get(found + 8) != 0;
}

static int row_remove(struct taking *taking, const unsigned char key[ROW_KEY_BYTES])
{
    struct shelf *shelf = taking->book->shelf;

    if (shelf->kind->remove(shelf, ENDS_SPACE, key, ROW_KEY_BYTES, taking->err) < 0)
        return -1;
    rows_count(taking->book, word_get(key), -1);
    return 0;
}

/* A queue, and when it was heard of. */
struct queue_heard {
    uint64_t queue;
    int64_t heard;
};

static int heard_order(const void *a, const void *b)
{
    const struct queue_heard *x = a, *y = b;

    return x->heard != y->heard ? (x->heard > y->heard) - (x->heard < y->heard)
                                : (x->queue > y->queue) - (x->queue < y->queue);
}

struct queue_list {
    uint64_t account;
    struct queue_heard *items;
    size_t count, room;
};

/* A row of the account: its queue is in the list, and when that was heard of. */
static bool queue_note(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct queue_list *list = user;
    const unsigned char *at = key;
    char text[LAST_TEXT_MAX + 1];

    if (key_len != ROW_KEY_BYTES || word_get(at) != list->account)
        return false;
    if (!list->count || list->items[list->count - 1].queue != word_get(at + 8)) {
        ARRAY_ROOM(list->items, list->count, list->room, 64);
        list->items[list->count++] = (struct queue_heard){.queue = word_get(at + 8)};
    }
    if (word_get(at + 16) == BLOCK_OF_LAST) {
        snprintf(text, sizeof text, "%.*s", len < LAST_TEXT_MAX ? (int)len : LAST_TEXT_MAX, (const char *)value);
        list->items[list->count - 1].heard = last_of(text).heard;
    }
    return true;
}

/* Finds the queues of an account, those of which nothing was heard for longest first; their number, or -1. All its rows are looked at once. */
static int queues_find(struct taking *taking, uint64_t account, struct queue_heard **ret)
{
    struct shelf *shelf = taking->book->shelf;
    struct queue_list list = {.account = account};
    unsigned char key[ROW_KEY_BYTES];
    int failed;

    row_key(account, 0, 0, key);
    failed = shelf->kind->each_after(shelf, ENDS_SPACE, key, 8, queue_note, &list, taking->err);
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, heard_order);
    *ret = list.items;
    return failed ? -1 : (int)list.count;
}

/* Removes rows of a queue, the lowest first, as many as that; counts down. What is known of the queue itself goes last, and stays where it tells. */
static int queue_thin(struct taking *taking, uint64_t account, uint64_t queue, uint64_t *count)
{
    unsigned char key[ROW_KEY_BYTES], found[ROW_KEY_BYTES];
    int is = 1;

    row_key(account, queue, 0, key);
    while (*count && (is = row_after(taking, key, QUEUE_KEY_BYTES, QUEUE_KEY_BYTES, found)) > 0) {
        if (word_get(found + 16) == BLOCK_OF_LAST && account == taking->account && queue == taking->queue)
            return 0;
        if (row_remove(taking, found) < 0)
            return -1;
        --*count;
    }
    return is < 0 ? -1 : 0;
}

/* Removes as many of an account's rows: of the queues of which nothing was heard for longest. */
static int account_thin(struct taking *taking, uint64_t account, uint64_t most)
{
    struct queue_heard *queues;
    int count = queues_find(taking, account, &queues), failed = count < 0;

    for (int i = 0; i < count && most && !failed; i++)
        if (account != taking->account || queues[i].queue != taking->queue)
            failed = queue_thin(taking, account, queues[i].queue, &most) < 0;
    if (!failed && most && account == taking->account)
        failed = queue_thin(taking, account, taking->queue, &most) < 0;
    free(queues);
    return failed ? -1 : 0;
}

/* An account, and how many rows it has. */
struct account_rows {
    uint64_t account, count;
};

static bool has_more(const struct account_rows *x, const struct account_rows *y)
{
    return x->count != y->count ? x->count > y->count : x->account < y->account;
}

/* Finds the accounts with most rows, the largest first; their number. */
static uint32_t accounts_largest(const struct ends_book *book, struct account_rows ret[THIN_ROWS])
{
    struct account_rows row = {0};
    uint32_t at = 0, count = 0, place;

    while (map_next(&book->rows, &at, &row.account, &row.count)) {
        if (count == THIN_ROWS && !has_more(&row, &ret[count - 1]))
            continue;
        place = count < THIN_ROWS ? count++ : count - 1;
        for (; place && has_more(&row, &ret[place - 1]); place--)
            ret[place] = ret[place - 1];
        ret[place] = row;
    }
    return count;
}

/* Removes THIN_ROWS rows, or fewer where there are not so many: of the largest account what it has more than the next, or at least a part, then of the
 * next. To look through a large one costs as much as it has, and one is enough; several are looked through only where all are small. */
static int all_thin(struct taking *taking)
{
    struct account_rows accounts[THIN_ROWS];
    uint32_t count = accounts_largest(taking->book, accounts);
    uint64_t left = THIN_ROWS;

    for (uint32_t i = 0; i < count && left; i++) {
        uint64_t part = accounts[i].count / THIN_PART + 1,
                 more = accounts[i].count - (i + 1 < count ? accounts[i + 1].count : 0),
                 goes = more > part ? more : part;

        goes = goes < left ? goes : left;
        if (account_thin(taking, accounts[i].account, goes) < 0)
            return -1;
        left -= goes;
    }
    return 0;
}

/* Makes room for a new row. Where the account has all that it may, the lowest of the queue goes, if it has any; else some of others. */
static int room_make(struct taking *taking)
{
    unsigned char key[ROW_KEY_BYTES], found[ROW_KEY_BYTES];
    uint64_t most = 1, rows;
    int has;

    if (taking->book->count >= taking->book->most && all_thin(taking) < 0)
        return -1;
    rows = rows_of(taking->book, taking->account);
    if (rows < ENDS_ROWS_MAX)
        return 0;
    row_key(taking->account, taking->queue, 0, key);
    has = row_after(taking, key, QUEUE_KEY_BYTES, QUEUE_KEY_BYTES, found);
    if (has < 0)
        return -1;
    return has && word_get(found + 16) != BLOCK_OF_LAST ? queue_thin(taking, taking->account, taking->queue, &most)
                                                        : account_thin(taking, taking->account, rows / THIN_PART + 1);
}

static enum ends_taken row_write(struct taking *taking, uint64_t block, bool there, const char *text, size_t len)
{
    struct shelf *shelf = taking->book->shelf;
    unsigned char key[ROW_KEY_BYTES];

    if (!there && room_make(taking) < 0)
        return ENDS_FAILED;
    row_key(taking->account, taking->queue, block, key);
    if (shelf->kind->put(shelf, ENDS_SPACE, key, sizeof key, text, len, taking->err) < 0)
        return ENDS_FAILED;
    if (!there)
        rows_count(taking->book, taking->account, 1);
    return ENDS_TAKEN;
}

static bool block_close(struct taking *taking)
{
    if (!taking->open)
        return true;
    taking->open = false;
    buf_reset(&taking->text);
    ends_block_print(&taking->block, &taking->text);
    taking->result =
        row_write(taking, taking->block.number, taking->there, buf_string(&taking->text), taking->text.len);
    return taking->result == ENDS_TAKEN;
}

static bool block_open(struct taking *taking, uint64_t number)
{
    if (taking->open && taking->block.number == number)
        return true;
    if (!block_close(taking))
        return false;
    if (row_read(taking, number) < 0) {
        taking->result = ENDS_FAILED;
        return false;
    }
    taking->there = taking->text.len > 0;
    ends_block_init(&taking->block, number);
    ends_block_read(&taking->block, buf_string(&taking->text), taking->text.len);
    taking->open = true;
    return true;
}

static bool run_take(void *user, const struct ends_run *run)
{
    struct taking *taking = user;

    for (uint64_t block = ends_block_of(run->first); block <= ends_block_of(run->last); block++) {
        if (!block_open(taking, block))
            return false;
        ends_block_take(&taking->block, run);
    }
    return true;
}

/* Keeps the largest number of a job, and that the customer was heard of. */
static enum ends_taken last_take(struct taking *taking, uint64_t last, int64_t now)
{
    struct last_row row;
    char text[LAST_TEXT_MAX + 1];
    int len;

    if (!last || last > ENDS_NUMBER_MAX)
        return ENDS_TAKEN;
    if (last_read(taking, taking->account, taking->queue, &row) < 0)
        return ENDS_FAILED;
    if (row.last >= last && now >= row.heard && now - row.heard < HEARD_SPAN)
        return ENDS_TAKEN;
    len = snprintf(text, sizeof text, "%" PRIu64 " %" PRId64, row.last > last ? row.last : last, now);
    return row_write(taking, BLOCK_OF_LAST, row.last != 0, text, (size_t)len);
}

enum ends_taken ends_book_take(struct ends_book *book, uint64_t account, uint64_t queue, const char *text, size_t len,
                               uint64_t last, int64_t now, struct err *err)
{
    struct taking taking = {.book = book, .account = account, .queue = queue, .err = err, .result = ENDS_TAKEN};

    if (!ends_read(text, len, run_count, &taking)) {
        err_set(err, "expected runs such as 57-63:done:EXITED:0, within %d blocks of %d numbers", ENDS_BLOCKS_MAX,
                ENDS_BLOCK);
        return ENDS_MALFORMED;
    }
    buf_init(&taking.text);
    taking.result = last_take(&taking, last, now);
    if (taking.result == ENDS_TAKEN && ends_read(text, len, run_take, &taking))
        block_close(&taking);
    buf_done(&taking.text);
    return taking.result;
}

/* -------------------------------------------------------------------------------------------------------------- looking */

struct looking {
    unsigned char queue[16];
    struct buf *text;
    uint32_t count;
    uint64_t next, last;
};

static bool row_tell(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct looking *looking = user;
    uint64_t block;

    if (key_len != ROW_KEY_BYTES || memcmp(key, looking->queue, 16) != 0)
        return false;
    block = word_get((const unsigned char *)key + 16);
    if (block == BLOCK_OF_LAST)
        return false;
    if (looking->count++ == ENDS_BLOCKS_MAX) {
        looking->next = block;
        return false;
    }
    if (looking->text->len)
        buf_addc(looking->text, ' ');
    buf_add(looking->text, value, len);
    return true;
}

int ends_book_look(struct ends_book *book, uint64_t account, uint64_t queue, uint64_t from, struct buf *ret,
                   uint64_t *ret_next, uint64_t *ret_last, struct err *err)
{
    struct taking last = {.book = book, .account = account, .queue = queue, .err = err};
    struct looking looking = {.text = ret};
    unsigned char key[ROW_KEY_BYTES];
    int failed;

    row_key(account, queue, from ? from - 1 : 0, key);
    memcpy(looking.queue, key, 16);
    failed =
        book->shelf->kind->each_after(book->shelf, ENDS_SPACE, key, from ? ROW_KEY_BYTES : 16, row_tell, &looking, err);
    buf_init(&last.text);
    if (!failed)
        failed = row_read(&last, BLOCK_OF_LAST);
    *ret_next = looking.next;
    *ret_last = last.text.len ? strtoull(buf_string(&last.text), NULL, 10) : 0;
    buf_done(&last.text);
    return failed;
}
