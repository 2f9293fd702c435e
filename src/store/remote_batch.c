/* remote_batch.c: many rows in a statement: a column of them is an array, in the binary form that PostgreSQL has for those.
 *
 * To carry out a statement costs the database more than to write a row does. A batch takes what fits into a piece of memory, and one row at least. */
#include "store/remote_parts.h"

#define BATCH_BYTES ((size_t)256 << 10)
#define BATCH_ROWS 4000
#define COUNT_AT 12 /* where in an array the count of its items is */

static const uint32_t types[BATCH_COLUMNS] = {25, 17, 17,
                                              20}; /* text, bytea, bytea, bigint: their numbers never change */

static void word_write(char *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(word >> (24 - 8 * i));
}

static void word_add(struct buf *column, uint32_t word)
{
    word_write(buf_reserve(column, 4), word);
    column->len += 4;
}

/* One dimension, no item is missing, its type, how many there are, the first has the number 1. */
static void column_begin(struct buf *column, uint32_t type)
{
    buf_reset(column);
    word_add(column, 1);
    word_add(column, 0);
    word_add(column, type);
    word_add(column, 0);
    word_add(column, 1);
}

static void item_add(struct buf *column, const void *bytes, size_t len)
{
    word_add(column, (uint32_t)len);
    buf_add(column, bytes, len);
}

void row_batch_init(struct row_batch *batch)
{
    *batch = (struct row_batch){.count = 0};
    for (int i = 0; i < BATCH_COLUMNS; i++)
        buf_init(&batch->columns[i]);
    row_batch_begin(batch);
}

void row_batch_done(struct row_batch *batch)
{
    for (int i = 0; i < BATCH_COLUMNS; i++)
        buf_done(&batch->columns[i]);
}

void row_batch_begin(struct row_batch *batch)
{
    batch->count = 0;
    batch->bytes = 0;
    for (int i = 0; i < BATCH_COLUMNS; i++)
        column_begin(&batch->columns[i], types[i]);
}

bool row_batch_has_room(const struct row_batch *batch, const struct row_change *change)
{
    return !batch->count || (batch->count < BATCH_ROWS && batch->bytes + change->len + change->key_len < BATCH_BYTES);
}

void row_batch_add(struct row_batch *batch, const struct row_change *change)
{
    char sum[8];

    word_write(sum, (uint32_t)(change->sum >> 32));
    word_write(sum + 4, (uint32_t)change->sum);
    item_add(&batch->columns[0], change->bytes, change->space_len);
    item_add(&batch->columns[1], change_key(change), change->key_len);
    item_add(&batch->columns[2], change->value, change->len);
    item_add(&batch->columns[3], sum, sizeof sum);
    batch->count++;
    batch->bytes += change->space_len + change->key_len + change->len;
}

void row_batch_give(struct row_batch *batch, struct given ret[BATCH_COLUMNS])
{
    for (int i = 0; i < BATCH_COLUMNS; i++) {
        word_write(batch->columns[i].text + COUNT_AT, batch->count);
        ret[i] = given_bytes(batch->columns[i].text, batch->columns[i].len);
    }
}
