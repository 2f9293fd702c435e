/* fn_lists.c: functions of lists: membership (appendix A.2), sums and bounds of numbers, joining and splitting. They evaluate elements one by one. */
#include "lang/ad/fn.h"
#include "lang/ad/ops.h"

static bool is_aggregate(const struct value *v)
{
    return v->type == VALUE_LIST || v->type == VALUE_AD;
}

void fn_member(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0], *list = &call->arguments[1];

    if (call_undefined_first(call, ret))
        return;
    if (list->type != VALUE_LIST || is_aggregate(v)) {
        *ret = value_error();
        return;
    }
    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        struct value element, same;

        eval_element(call->eval, list, i, &element);
        eval_charge_pair(call->eval, &element, v);
        op_binary(call->dialect, OP_EQUAL, &element, v, &same);
        if (value_is_true(&same)) {
            *ret = same;
            return;
        }
    }
    *ret = value_boolean(false);
}

/* Not strict in the first argument; `aggregate` is the value when that argument is an aggregate. */
static void is_member(struct call *call, struct value aggregate, struct value *ret)
{
    const struct value *v = &call->arguments[0], *list = &call->arguments[1];
    bool found = false;

    if (list->type != VALUE_LIST) {
        *ret = list->type == VALUE_UNDEFINED ? *list : value_error();
        return;
    }
    if (is_aggregate(v)) {
        *ret = aggregate;
        return;
    }
    for (uint32_t i = 0; i < list->len && !found && !call->eval->exhausted; i++) {
        struct value element;

        eval_element(call->eval, list, i, &element);
        eval_charge_pair(call->eval, &element, v);
        found = op_is(call->dialect, &element, v);
    }
    *ret = value_boolean(found);
}

void fn_is_member(struct call *call, struct value *ret)
{
    is_member(call, value_boolean(false), ret);
}

void fn_identical_member(struct call *call, struct value *ret)
{
    is_member(call, value_error(), ret);
}

void fn_postfix(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0], *list = &call->arguments[1];
    bool found = false;

    if (v->type != VALUE_STRING || list->type != VALUE_LIST) {
        *ret = value_error();
        return;
    }
    for (uint32_t i = 0; i < list->len && !found && !call->eval->exhausted; i++) {
        struct value end;

        eval_element(call->eval, list, i, &end);
        found = end.type == VALUE_STRING && end.len <= v->len && eval_steps(call->eval, end.len / 64) &&
                op_compare_strings(v->u.string + (v->len - end.len), end.len, end.u.string, end.len) == 0;
    }
    *ret = value_boolean(found);
}

void fn_size(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];

    if (v->type == VALUE_STRING || v->type == VALUE_LIST)
        *ret = value_integer(v->len);
    else if (v->type == VALUE_AD)
        *ret = value_integer(v->u.aggregate->u.run.count);
    else
        *ret = value_error();
}

bool tally_add(struct fn_tally *tally, const struct value *v)
{
    struct value less, greater;

    if (!value_is_number(v) && !(v->type == VALUE_BOOLEAN && tally->dialect->booleans_count))
        return false;
    tally->real = tally->real || v->type == VALUE_REAL;
    tally->total += v->type == VALUE_BOOLEAN ? v->boolean : number_of(v);
    if (tally->count++ == 0) {
        tally->sum = tally->least = tally->greatest = *v;
        return true;
    }
    op_binary(tally->dialect, OP_ADD, &tally->sum, v, &tally->sum);
    op_binary(tally->dialect, OP_LESS, v, &tally->least, &less);
    op_binary(tally->dialect, OP_GREATER, v, &tally->greatest, &greater);
    if (value_is_true(&less))
        tally->least = *v;
    if (value_is_true(&greater))
        tally->greatest = *v;
    return true;
}

struct value tally_bound(const struct fn_tally *tally, const struct value *bound)
{
    struct value v = *bound;

    if (tally->count == 0)
        return value_undefined();
    if (v.type == VALUE_BOOLEAN && tally->count > 1)
        v = value_integer(v.boolean);
    if (tally->real && v.type == VALUE_INTEGER)
        v = value_real((double)v.u.integer);
    return v;
}

/* Tallies the numbers of the list that is the argument; leaves out undefined elements. False, and error, when it is not a list of numbers. */
static bool tally_list(struct call *call, struct fn_tally *tally, struct value *ret)
{
    const struct value *list = &call->arguments[0];

    *tally = (struct fn_tally){.dialect = call->dialect, .sum = value_integer(0)};
    *ret = value_error();
    if (list->type != VALUE_LIST)
        return false;
    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        struct value element;

        eval_element(call->eval, list, i, &element);
        if (element.type != VALUE_UNDEFINED && !tally_add(tally, &element))
            return false;
    }
    return true;
}

void fn_sum(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_list(call, &tally, ret))
        *ret = tally.sum;
}

void fn_avg(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (!tally_list(call, &tally, ret))
        return;
    *ret = tally.sum;
    if (tally.count) {
        struct value total = value_real(tally.total), count = value_real(tally.count);

        op_binary(call->dialect, OP_DIVIDE, &total, &count, ret);
    }
}

void fn_min(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_list(call, &tally, ret))
        *ret = tally_bound(&tally, &tally.least);
}

void fn_max(struct call *call, struct value *ret)
{
    struct fn_tally tally;

    if (tally_list(call, &tally, ret))
        *ret = tally_bound(&tally, &tally.greatest);
}

/* The operator that a string names: a comparison, in its first spelling. */
static enum op comparison_of(const struct value *v)
{
    enum op op = op_find(v->u.string, v->len);

    return op >= OP_EQUAL && op <= OP_GREATER_EQUAL && strlen(op_table[op].text) == v->len ? op : OP_NONE;
}

/* Does the comparison hold for one element, or for all? The first element that decides ends the search. */
static void compare_each(struct call *call, bool all, struct value *ret)
{
    const struct value *name = &call->arguments[0], *list = &call->arguments[1], *v = &call->arguments[2];
    enum op op = name->type == VALUE_STRING ? comparison_of(name) : OP_NONE;

    if (op == OP_NONE || list->type != VALUE_LIST) {
        bool undefined = name->type == VALUE_UNDEFINED || (op != OP_NONE && list->type == VALUE_UNDEFINED);

        *ret = undefined ? value_undefined() : value_error();
        return;
    }
    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        struct value element;

        eval_element(call->eval, list, i, &element);
        eval_charge_pair(call->eval, &element, v);
        op_binary(call->dialect, op, &element, v, ret);
        if (ret->type == VALUE_ERROR)
            return;
        if (value_is_true(ret) != all) {
            *ret = value_boolean(!all);
            return;
        }
    }
    *ret = value_boolean(all);
}

void fn_any_compare(struct call *call, struct value *ret)
{
    compare_each(call, false, ret);
}

void fn_all_compare(struct call *call, struct value *ret)
{
    compare_each(call, true, ret);
}

/* A string that is being joined. */
struct joint {
    struct buf out, separator;
    bool some, undefined; /* there was an item; something was undefined */
};

static bool joint_add(struct call *call, struct joint *joint, const struct value *item)
{
    if (item->type == VALUE_ERROR)
        return false;
    if (item->type == VALUE_UNDEFINED) {
        joint->undefined = true;
        return true;
    }
    joint->some = true;
    if (joint->out.len)
        buf_add(&joint->out, joint->separator.text, joint->separator.len);
    return call_add_text(call, &joint->out, item);
}

static bool joint_separate(struct call *call, struct joint *joint, const struct value *separator)
{
    joint->undefined = separator->type == VALUE_UNDEFINED;
    if (joint->undefined)
        return true;
    return separator->type != VALUE_ERROR && call_add_text(call, &joint->separator, separator);
}

/* Joins the items: the elements of a list that comes last, otherwise the arguments behind the separator. */
static bool joint_gather(struct call *call, struct joint *joint)
{
    const struct value *last = call->count ? &call->arguments[call->count - 1] : NULL;
    bool of_list = last && call->count <= 2 && last->type == VALUE_LIST;

    if (!last)
        return true;
    if ((call->count > 1 || !of_list) && !joint_separate(call, joint, &call->arguments[0]))
        return false;
    if (!of_list) {
        for (uint32_t i = 1; i < call->count; i++)
            if (!joint_add(call, joint, &call->arguments[i]))
                return false;
        return true;
    }
    for (uint32_t i = 0; i < last->len && !call->eval->exhausted; i++) {
        struct value element;

        eval_element(call->eval, last, i, &element);
        if (!joint_add(call, joint, &element))
            return false;
    }
    return true;
}

void fn_join(struct call *call, struct value *ret)
{
    struct joint joint = {.some = false};

    buf_init(&joint.out);
    buf_init(&joint.separator);
    if (!joint_gather(call, &joint)) {
        *ret = value_error();
        buf_done(&joint.out);
    } else if (joint.undefined && !joint.some) {
        *ret = value_undefined();
        buf_done(&joint.out);
    } else {
        call_return_buf(call, &joint.out, ret);
    }
    buf_done(&joint.separator);
}

/* Cuts the text at the separators. An empty piece counts only when the separator behind it is the same as the last
 * separator before it that is not a blank. */
static uint32_t split_pieces(struct fn_text text, struct fn_text separators, struct value *pieces)
{
    uint32_t count = 0;
    size_t start = 0;
    char last = ' ';

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if (!memchr(separators.at, c, separators.len))
            continue;
        if (i > start || (c == last && !ascii_blank(c)))
            pieces[count++] = value_string(text.at + start, i - start);
        if (!ascii_blank(c))
            last = c;
        start = i + 1;
    }
    if (text.len > start)
        pieces[count++] = value_string(text.at + start, text.len - start);
    return count;
}

void fn_split(struct call *call, struct value *ret)
{
    struct fn_text text[2] = {{NULL, 0}, {", \t", 3}};
    struct value *pieces;
    size_t room = 1;

    *ret = value_error();
    if (!call_get_texts(call, 0, text) || text[1].len > 256 || !eval_steps(call->eval, text[0].len / 8))
        return;
    for (size_t i = 0; i < text[0].len; i++)
        room += memchr(text[1].at, text[0].at[i], text[1].len) != NULL;
    pieces = (struct value *)eval_bytes(call->eval, room * sizeof *pieces);
    if (pieces)
        eval_make_list(call->eval, call->dialect, pieces, split_pieces(text[0], text[1], pieces), ret);
}
