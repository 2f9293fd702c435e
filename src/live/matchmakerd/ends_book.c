/* ends_book.c: which jobs of customers have ended, as rows. */
#include "live/matchmakerd/ends_book.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_KEY_BYTES 24
#define BLOCK_OF_LAST UINT64_MAX

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
    book->shelf = shelf;
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

static bool row_count(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct ends_book *book = user;

    (void)value, (void)len;
    if (key_len == ROW_KEY_BYTES)
        map_set(&book->rows, word_get(key), rows_of(book, word_get(key)) + 1);
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

static bool key_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)value, (void)len;
    if (key_len == ROW_KEY_BYTES)
        memcpy(user, key, ROW_KEY_BYTES);
    return false;
}

/* Makes room for a new row: the lowest block of the queue goes. ENDS_FULL: it has none, others of the account have all. */
static enum ends_taken room_make(struct taking *taking)
{
    struct shelf *shelf = taking->book->shelf;
    unsigned char key[ROW_KEY_BYTES], found[ROW_KEY_BYTES] = {0};

    if (rows_of(taking->book, taking->account) < ENDS_ROWS_MAX)
        return ENDS_TAKEN;
    row_key(taking->account, taking->queue, 0, key);
    if (shelf->kind->each_after(shelf, ENDS_SPACE, key, 16, key_copy, found, taking->err) < 0)
        return ENDS_FAILED;
    if (memcmp(found, key, 16) != 0 || word_get(found + 16) == BLOCK_OF_LAST) {
        err_set(taking->err, "other customers of the account have all the room, %d rows", ENDS_ROWS_MAX);
        return ENDS_FULL;
    }
    if (shelf->kind->remove(shelf, ENDS_SPACE, found, sizeof found, taking->err) < 0)
        return ENDS_FAILED;
    map_set(&taking->book->rows, taking->account, rows_of(taking->book, taking->account) - 1);
    return ENDS_TAKEN;
}

static enum ends_taken row_write(struct taking *taking, uint64_t block, bool there, const char *text, size_t len)
{
    struct shelf *shelf = taking->book->shelf;
    enum ends_taken room = there ? ENDS_TAKEN : room_make(taking);
    unsigned char key[ROW_KEY_BYTES];

    if (room != ENDS_TAKEN)
        return room;
    row_key(taking->account, taking->queue, block, key);
    if (shelf->kind->put(shelf, ENDS_SPACE, key, sizeof key, text, len, taking->err) < 0)
        return ENDS_FAILED;
    if (!there)
        map_set(&taking->book->rows, taking->account, rows_of(taking->book, taking->account) + 1);
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

/* Keeps the largest number of a job, if this one is larger. */
static enum ends_taken last_take(struct taking *taking, uint64_t last)
{
    char digits[24];
    int len;

    if (!last || last > ENDS_NUMBER_MAX)
        return ENDS_TAKEN;
    if (row_read(taking, BLOCK_OF_LAST) < 0)
        return ENDS_FAILED;
    if (taking->text.len && strtoull(buf_string(&taking->text), NULL, 10) >= last)
        return ENDS_TAKEN;
    len = snprintf(digits, sizeof digits, "%" PRIu64, last);
    return row_write(taking, BLOCK_OF_LAST, taking->text.len > 0, digits, (size_t)len);
}

enum ends_taken ends_book_take(struct ends_book *book, uint64_t account, uint64_t queue, const char *text, size_t len,
                               uint64_t last, struct err *err)
{
    struct taking taking = {.book = book, .account = account, .queue = queue, .err = err, .result = ENDS_TAKEN};

    if (!ends_read(text, len, run_count, &taking)) {
        err_set(err, "expected runs such as 57-63:done:EXITED:0, within %d blocks of %d numbers", ENDS_BLOCKS_MAX,
                ENDS_BLOCK);
        return ENDS_MALFORMED;
    }
    buf_init(&taking.text);
    taking.result = last_take(&taking, last);
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
