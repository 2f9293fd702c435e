/* fn_arguments.c: arguments and variables of jobs in one string, as HTCondor writes them.
 *
 *     version 2   a 'b c' don''t  ->  "a", "b c", "don't"       blanks between words; quotes hold blanks; in quotes two are one
 *     version 1   a b             ->  "a", "b"                  blanks between words, no quotes; of variables, semicolons between them
 *
 * Variables are words NAME=value. They are written in the order of their names. */
#include "lang/ad/fn.h"
#include "lang/base/array.h"

#include <stdlib.h>

#define VARIABLES_MAX 10000

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v';
}

/* Takes the next word off `rest` and appends it, without its quotes. 1: there was one; 0: there was none; -1: a quote is not closed. */
static int word_next(struct fn_text *rest, bool quotes, struct buf *word)
{
    bool inside = false;
    size_t i = 0;

    while (i < rest->len && is_space(rest->at[i]))
        i++;
    if (i == rest->len)
        return 0;
    for (; i < rest->len && (inside || !is_space(rest->at[i])); i++) {
        bool quote = quotes && rest->at[i] == '\'';

        if (quote && inside && i + 1 < rest->len && rest->at[i + 1] == '\'')
            buf_addc(word, rest->at[i++]);
        else if (quote)
            inside = !inside;
        else
            buf_addc(word, rest->at[i]);
    }
    *rest = (struct fn_text){rest->at + i, rest->len - i};
    return inside ? -1 : 1;
}

/* Appends a word as version 2 writes it: each run of blanks and quotes in quotes of its own. */
static void word_add(struct buf *out, struct fn_text word)
{
    bool inside = false;

    if (out->len)
        buf_addc(out, ' ');
    if (!word.len)
        buf_adds(out, "''");
    for (size_t i = 0; i < word.len; i++) {
        bool special = is_space(word.at[i]) || word.at[i] == '\'';

        if (special != inside)
            buf_addc(out, '\'');
        inside = special;
        if (word.at[i] == '\'')
            buf_addc(out, '\'');
        buf_addc(out, word.at[i]);
    }
    if (inside)
        buf_addc(out, '\'');
}

/* The version that the second argument says; 0: neither 1 nor 2. */
static int version_of(const struct call *call)
{
    const struct value *v = &call->arguments[1];

    if (call->count < 2)
        return 2;
    return v->type == VALUE_INTEGER && (v->u.integer == 1 || v->u.integer == 2) ? (int)v->u.integer : 0;
}

void fn_args_to_list(struct call *call, struct value *ret)
{
    int version = version_of(call), found;
    struct value *words;
    struct fn_text text;
    uint32_t count = 0;
    struct buf word;

    *ret = value_error();
    if (!version || !value_get_text(&call->arguments[0], &text) || !eval_charge_text(call->eval, text.len) ||
        !(words = (struct value *)eval_bytes(call->eval, (text.len / 2 + 1) * sizeof *words)))
        return;
    buf_init(&word);
    while ((found = word_next(&text, version == 2, &word)) > 0 && !call->eval->exhausted) {
        call_return_text(call, (struct fn_text){buf_string(&word), word.len}, &words[count++]);
        buf_reset(&word);
    }
    buf_done(&word);
    if (!found)
        eval_make_list(call->eval, call->dialect, words, count, ret);
}

void fn_list_to_args(struct call *call, struct value *ret)
{
    const struct value *list = &call->arguments[0];
    int version = version_of(call);
    bool good = version && list->type == VALUE_LIST;
    struct value element;
    struct fn_text word;
    struct buf out;

    *ret = value_error();
    buf_init(&out);
    for (uint32_t i = 0; good && i < list->len && !call->eval->exhausted; i++) {
        eval_element(call->eval, list, i, &element);
        good = value_get_text(&element, &word) && eval_charge_text(call->eval, word.len);
        for (size_t j = 0; good && version == 1 && j < word.len; j++)
            good = !is_space(word.at[j]);
        if (good && version == 1) {
            buf_adds(&out, i ? " " : "");
            buf_add(&out, word.at, word.len);
        } else if (good) {
            word_add(&out, word);
        }
    }
    if (good)
        call_return_buf(call, &out, ret);
    else
        buf_done(&out);
}

/* --------------------------------------------------------------------------------------------------------- variables */

/* The variables so far: words NAME=value, one behind the other in one buffer. */
struct variables {
    struct buf texts;
    struct variable {
        size_t at, len, name;
        const char *text; /* when all are there */
    } * list;
    uint32_t count, room;
};

static void variables_done(struct variables *all)
{
    buf_done(&all->texts);
    free(all->list);
}

/* Takes the word that lies in `texts` from `at` on. False: it is no variable, or there are too many. */
static bool variables_take(struct variables *all, size_t at)
{
    const char *word = buf_string(&all->texts) + at, *equals = memchr(word, '=', all->texts.len - at);

    if (!equals || equals == word || all->count == VARIABLES_MAX)
        return false;
    ARRAY_ROOM(all->list, all->count, all->room, 16);
    all->list[all->count++] = (struct variable){at, all->texts.len - at, (size_t)(equals - word), NULL};
    return true;
}

static bool variables_add_v2(struct variables *all, struct fn_text text)
{
    for (;;) {
        size_t at = all->texts.len;
        int found = word_next(&text, true, &all->texts);

        if (found <= 0)
            return !found;
        if (!variables_take(all, at))
            return false;
    }
}

/* The first character may say what stands between the variables. */
static bool variables_add_v1(struct variables *all, struct fn_text text)
{
    char between = ';';

    if (text.len && (text.at[0] == ';' || text.at[0] == '|')) {
        between = text.at[0];
        text = (struct fn_text){text.at + 1, text.len - 1};
    }
    while (text.len) {
        const char *end = memchr(text.at, between, text.len);
        struct fn_text word = text_trim((struct fn_text){text.at, end ? (size_t)(end - text.at) : text.len});
        size_t at = all->texts.len, step = end ? (size_t)(end - text.at) + 1 : text.len;

        buf_add(&all->texts, word.at, word.len);
        if (word.len && !variables_take(all, at))
            return false;
        text = (struct fn_text){text.at + step, text.len - step};
    }
    return true;
}

static int variables_order(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;
    int order = memcmp(a->text, b->text, a->name < b->name ? a->name : b->name);

    if (!order && a->name != b->name)
        order = a->name < b->name ? -1 : 1;
    return order ? order : a->at < b->at ? -1 : a->at > b->at; /* what was said later comes later */
}

static void variables_return(struct call *call, struct variables *all, struct value *ret)
{
    struct buf out;

    buf_init(&out);
    for (uint32_t i = 0; i < all->count; i++)
        all->list[i].text = buf_string(&all->texts) + all->list[i].at;
    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, variables_order);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct variable *one = &all->list[i], *next = i + 1 < all->count ? one + 1 : NULL;

        if (!next || next->name != one->name || memcmp(one->text, next->text, one->name) != 0)
            word_add(&out, (struct fn_text){one->text, one->len});
    }
    call_return_buf(call, &out, ret);
}

void fn_env_v1_to_v2(struct call *call, struct value *ret)
{
    struct variables all = {.list = NULL};
    struct fn_text text;

    *ret = call->arguments[0].type == VALUE_UNDEFINED ? value_undefined() : value_error();
    if (!value_get_text(&call->arguments[0], &text) || !eval_charge_text(call->eval, text.len))
        return;
    buf_init(&all.texts);
    if (variables_add_v1(&all, text))
        variables_return(call, &all, ret);
    variables_done(&all);
}

void fn_merge_environment(struct call *call, struct value *ret)
{
    struct variables all = {.list = NULL};
    struct fn_text text;
    bool good = true;

    *ret = value_error();
    buf_init(&all.texts);
    for (uint32_t i = 0; good && i < call->count; i++)
        good = call->arguments[i].type == VALUE_UNDEFINED ||
               (value_get_text(&call->arguments[i], &text) && eval_charge_text(call->eval, text.len) &&
                variables_add_v2(&all, text));
    if (good)
        variables_return(call, &all, ret);
    variables_done(&all);
}

/* ------------------------------------------------------------------------------------- what HTCondor asks its host for */

void fn_user_home(struct call *call, struct value *ret)
{
    bool otherwise = call->count == 2 && call->arguments[1].type == VALUE_STRING && call->arguments[1].len;
    const struct value *user = &call->arguments[0];

    if (otherwise)
        *ret = call->arguments[1];
    else
        *ret = user->type == VALUE_STRING || user->type == VALUE_UNDEFINED ? value_undefined() : value_error();
}

void fn_user_map(struct call *call, struct value *ret)
{
    if (call->arguments[0].type == VALUE_ERROR || call->arguments[1].type == VALUE_ERROR)
        *ret = value_error();
    else
        *ret = call->count == 4 ? call->arguments[3] : value_undefined();
}
