/* fn_stringlists.c: strings that hold lists, HTCondor's way: "a, b,c". Items are cut at any of the delimiters; empty items do not count, and blanks
 * around an item do not belong to it. */
#include "lang/ad/fn.h"
#include "lang/ad/ops.h"

#include <stdlib.h>

static struct byteset byteset_of(struct fn_text text)
{
    struct byteset set = {{0}};

    for (size_t i = 0; i < text.len; i++)
        set.bits[(unsigned char)text.at[i] >> 6] |= (uint64_t)1 << (text.at[i] & 63);
    return set;
}

static bool byteset_has(const struct byteset *set, char c)
{
    return set->bits[(unsigned char)c >> 6] >> (c & 63) & 1;
}

bool text_items_next(struct text_items *items, struct fn_text *ret)
{
    while (items->rest.len) {
        struct fn_text item = {items->rest.at, 0};

        while (item.len < items->rest.len && !byteset_has(&items->delimiters, item.at[item.len]))
            item.len++;
        items->rest.at += item.len + (item.len < items->rest.len);
        items->rest.len -= item.len + (item.len < items->rest.len);
        *ret = items->trim ? text_trim(item) : item;
        if (ret->len)
            return true;
    }
    return false;
}

bool text_items_init(struct call *call, struct fn_text text, struct fn_text delimiters, struct text_items *ret)
{
    *ret = (struct text_items){text, byteset_of(delimiters), true};
    return eval_steps(call->eval, 1 + (text.len + delimiters.len) / 8);
}

/* The items of the first argument, cut at the delimiters of the second; false when an argument is not a string. */
static bool items_of_call(struct call *call, struct text_items *ret)
{
    struct fn_text text[2] = {{NULL, 0}, {", ", 2}};

    return call_get_texts(call, 0, text) && text_items_init(call, text[0], text[1], ret);
}

void fn_string_list_size(struct call *call, struct value *ret)
{
    struct text_items items;
    struct fn_text item;
    int64_t count = 0;

    if (!items_of_call(call, &items)) {
        *ret = value_error();
        return;
    }
    while (text_items_next(&items, &item))
        count++;
    *ret = value_integer(count);
}

/* An item as a number: an integer when it is written as one, else as much of it as makes a real. */
static bool item_number(struct fn_text item, struct value *ret)
{
    int64_t integer;
    double real;
    bool digits = true;

    if (!text_to_real(item, &real))
        return false;
    for (size_t i = 0; i < item.len; i++)
        digits = digits && (ascii_digit(item.at[i]) || item.at[i] == '-' || item.at[i] == '+');
    *ret = digits && real_to_integer(real, &integer) ? value_integer(integer) : value_real(real);
    return true;
}

static bool tally_items(struct call *call, struct fn_tally *tally, struct value *ret)
{
    struct text_items items;
    struct fn_text item;
    struct value v;

    *tally = (struct fn_tally){.dialect = call->dialect, .sum = value_real(0)};
    *ret = value_error();
    if (!items_of_call(call, &items))
        return false;
    while (text_items_next(&items, &item))
        if (!item_number(item, &v) || !tally_add(tally, &v))
            return false;
    return true;
}

void fn_string_list_sum(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_items(call, &tally, ret))
        *ret = tally.sum;
}

void fn_string_list_avg(struct call *call, struct value *ret)
{
    struct fn_tally tally;
    struct value count;

    if (!tally_items(call, &tally, ret))
        return;
    count = value_integer(tally.count);
    if (tally.count)
        op_binary(call->dialect, OP_DIVIDE, &tally.sum, &count, &tally.sum);
    *ret = tally.sum;
}

void fn_string_list_min(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_items(call, &tally, ret))
        *ret = tally_bound(&tally, &tally.least);
}

void fn_string_list_max(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_items(call, &tally, ret))
        *ret = tally_bound(&tally, &tally.greatest);
}

static int order_bytes(const void *a, const void *b)
{
    const struct fn_text *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->at, y->at, len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int order_folded(const void *a, const void *b)
{
    const struct fn_text *x = a, *y = b;

    return op_compare_strings(x->at, x->len, y->at, y->len);
}

typedef int order_fn(const void *, const void *);

/* The items in order, to be searched. */
struct sorted {
    struct fn_text *items;
    size_t count;
    order_fn *order;
};

static bool sorted_make(struct call *call, struct text_items items, order_fn *order, struct sorted *ret)
{
    struct text_items again = items;
    struct fn_text item;
    size_t count = 0;

    while (text_items_next(&items, &item))
        count++;
    *ret = (struct sorted){(struct fn_text *)eval_bytes(call->eval, (count + 1) * sizeof item), 0, order};
    if (!ret->items || !eval_steps(call->eval, count))
        return false;
    while (text_items_next(&again, &item))
        ret->items[ret->count++] = item;
    qsort(ret->items, count, sizeof item, order);
    return true;
}

static bool sorted_has(const struct sorted *sorted, const struct fn_text *item)
{
    return bsearch(item, sorted->items, sorted->count, sizeof *item, sorted->order) != NULL;
}

/* Reads a text and a list, and maybe delimiters. Here HTCondor takes undefined for the empty string, unless both are undefined. */
static bool text_and_items(struct call *call, struct fn_text *ret_text, struct fn_text *ret_delimiters,
                           struct text_items *ret_items, struct value *ret)
{
    const struct value *v = call->arguments;
    struct fn_text text[3] = {{"", 0}, {"", 0}, {", \t\r\n", 5}};

    *ret = value_error();
    for (uint32_t i = 0; i < call->count; i++)
        if (v[i].type != VALUE_UNDEFINED && !value_get_text(&v[i], &text[i]))
            return false;
    if (v[0].type == VALUE_UNDEFINED && v[1].type == VALUE_UNDEFINED) {
        *ret = value_undefined();
        return false;
    }
    *ret_text = text[0];
    *ret_delimiters = text[2];
    return text_items_init(call, text[1], text[2], ret_items);
}

static void item_member(struct call *call, order_fn *order, struct value *ret)
{
    struct text_items items;
    struct fn_text wanted, delimiters, item;
    bool found = false;

    if (!text_and_items(call, &wanted, &delimiters, &items, ret))
        return;
    while (!found && text_items_next(&items, &item))
        found = order(&wanted, &item) == 0;
    *ret = value_boolean(found);
}

void fn_string_list_member(struct call *call, struct value *ret)
{
    item_member(call, order_bytes, ret);
}

void fn_string_list_imember(struct call *call, struct value *ret)
{
    item_member(call, order_folded, ret);
}

/* Is each item of one list in the other? The empty string is a subset of every list; a text of delimiters alone is not. */
static void subset_match(struct call *call, order_fn *order, struct value *ret)
{
    struct text_items part, whole;
    struct fn_text text, delimiters, item;
    struct sorted sorted;
    bool has = false;

    if (!text_and_items(call, &text, &delimiters, &whole, ret))
        return;
    if (!sorted_make(call, whole, order, &sorted) || !text_items_init(call, text, delimiters, &part)) {
        *ret = value_error();
        return;
    }
    while (text_items_next(&part, &item))
        if (!(has = sorted_has(&sorted, &item)))
            break;
    *ret = value_boolean(text.len == 0 || has);
}

void fn_string_list_subset_match(struct call *call, struct value *ret)
{
    subset_match(call, order_bytes, ret);
}

void fn_string_list_isubset_match(struct call *call, struct value *ret)
{
    subset_match(call, order_folded, ret);
}

/* Here blanks belong to the items, except blanks that are delimiters. */
void fn_string_lists_intersect(struct call *call, struct value *ret)
{
    struct fn_text text[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}}, item;
    struct text_items one, other;
    struct sorted sorted;
    bool common = false;

    *ret = value_error();
    if (!call_get_texts(call, 0, text))
        return;
    if (text[2].len == 0)
        text[2] = (struct fn_text){", ", 2};
    if (!text_items_init(call, text[0], text[2], &one) || !text_items_init(call, text[1], text[2], &other))
        return;
    one.trim = other.trim = false;
    if (!sorted_make(call, other, order_bytes, &sorted))
        return;
    while (!common && text_items_next(&one, &item))
        common = sorted_has(&sorted, &item);
    *ret = value_boolean(common);
}
