/* job_order.c: the first of many jobs, in the order of an attribute: a heap of those that are kept, the last of them on top.
 *
 * A job costs the logarithm of those that are kept, and 88 bytes if it is one of them. Of a text the first bytes count. */
#include "live/customerd/job_order.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 64 /* of a text that are compared */

enum order_kind { ORDER_NUMBER, ORDER_TEXT, ORDER_NOTHING };

struct order_row {
    enum order_kind kind;
    double number;
    char text[TEXT_BYTES];
    uint64_t job;
};

struct job_order {
    char *name;
    bool down; /* the largest first */
    uint32_t most, count;
    uint64_t seen;
    struct order_row *rows;
};

struct job_order *job_order_new(const char *name, bool down, uint32_t most)
{
    struct job_order *order = mem_alloc(sizeof *order);

    *order = (struct job_order){.name = mem_dup(name, strlen(name)), .down = down, .most = most ? most : 1};
    order->rows = mem_alloc(order->most * sizeof *order->rows);
    return order;
}

void job_order_free(struct job_order *order)
{
    if (!order)
        return;
    free(order->name);
    free(order->rows);
    free(order);
}

static struct order_row row_make(const struct job_order *order, const struct tree *ad, uint64_t job)
{
    struct order_row row = {.kind = ORDER_NOTHING, .job = job};
    const char *text;
    size_t len;

    if (ad_number(ad, order->name, &row.number) && row.number == row.number) {
        row.kind = ORDER_NUMBER;
    } else if (ad_string(ad, order->name, &text, &len)) {
        row.kind = ORDER_TEXT;
        memcpy(row.text, text, len < TEXT_BYTES ? len : TEXT_BYTES);
    }
    return row;
}

/* Below 0: `a` comes first. */
static int rows_compare(const struct order_row *a, const struct order_row *b, bool down)
{
    int way = 0;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == ORDER_NUMBER)
        way = (a->number > b->number) - (a->number < b->number);
    else if (a->kind == ORDER_TEXT)
        way = memcmp(a->text, b->text, TEXT_BYTES);
    if (way)
        return down ? -way : way;
    return (a->job > b->job) - (a->job < b->job);
}

static void rows_swap(struct order_row *a, struct order_row *b)
{
    struct order_row kept = *a;

    *a = *b;
    *b = kept;
}

/* The row at a place goes up, or down, to where it belongs: above each row stands one that comes later. */
static void heap_up(struct job_order *order, uint32_t at)
{
    for (; at && rows_compare(&order->rows[at], &order->rows[(at - 1) / 2], order->down) > 0; at = (at - 1) / 2)
        rows_swap(&order->rows[at], &order->rows[(at - 1) / 2]);
}

static void heap_down(struct job_order *order, uint32_t count)
{
    uint32_t at = 0, below;

    while ((below = 2 * at + 1) < count) {
        if (below + 1 < count && rows_compare(&order->rows[below + 1], &order->rows[below], order->down) > 0)
            below++;
        if (rows_compare(&order->rows[below], &order->rows[at], order->down) <= 0)
            return;
        rows_swap(&order->rows[below], &order->rows[at]);
        at = below;
    }
}

void job_order_note(struct job_order *order, const struct tree *ad, uint64_t job)
{
    struct order_row row = row_make(order, ad, job);

    order->seen++;
    if (order->count < order->most) {
        order->rows[order->count++] = row;
        heap_up(order, order->count - 1);
    } else if (rows_compare(&row, &order->rows[0], order->down) < 0) {
        order->rows[0] = row;
        heap_down(order, order->count);
    }
}

/* The last of those that are left goes behind them. */
void job_order_sort(struct job_order *order)
{
    for (uint32_t left = order->count; left > 1; left--) {
        rows_swap(&order->rows[0], &order->rows[left - 1]);
        heap_down(order, left - 1);
    }
}

uint32_t job_order_count(const struct job_order *order)
{
    return order->count;
}

uint64_t job_order_seen(const struct job_order *order)
{
    return order->seen;
}

uint64_t job_order_id(const struct job_order *order, uint32_t place)
{
    return order->rows[place].job;
}
