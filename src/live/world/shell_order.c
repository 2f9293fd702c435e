/* shell_order.c: what customer and provider say to each other about a command in the sandbox of a job. */
#include "live/world/shell_order.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "sys/encoding.h"

#include <stdlib.h>
#include <string.h>

static int words_read(const struct tree *ad, struct shell_order *order, struct err *err)
{
    const struct expr *list = ad_find(ad, "Arguments");

    if (!list || list->kind != EXPR_LIST || !list->u.run.count || list->u.run.count > SHELL_ORDER_WORDS)
        return err_set(err, "Arguments: expected a list of 1 to %d texts", SHELL_ORDER_WORDS);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *word = &tree_parts(ad, list)[i];
        const char *text = word->kind == EXPR_STRING ? tree_string(ad, word) : NULL;

        if (!text || memchr(text, '\0', word->u.run.count) || (!i && !word->u.run.count))
            return err_set(err, "Arguments: expected texts, the first not empty");
        buf_add(&order->words, text, word->u.run.count);
        buf_addc(&order->words, '\0');
        if (order->words.len > SHELL_ORDER_BYTES)
            return err_set(err, "Arguments: more than %u bytes", SHELL_ORDER_BYTES);
    }
    order->count = list->u.run.count;
    return 0;
}

bool shell_window_read(const struct tree *ad, uint16_t *ret_rows, uint16_t *ret_columns)
{
    int64_t rows, columns;

    if (!ad_integer(ad, "Rows", &rows) || !ad_integer(ad, "Columns", &columns) || rows < 0 || columns < 0 ||
        rows > SHELL_WINDOW_MAX || columns > SHELL_WINDOW_MAX)
        return false;
    *ret_rows = (uint16_t)rows;
    *ret_columns = (uint16_t)columns;
    return true;
}

int shell_order_read(const struct tree *ad, struct shell_order *ret, struct err *err)
{
    const char *term;
    size_t len;

    *ret = (struct shell_order){.rows = 24, .columns = 80};
    buf_init(&ret->words);
    if (words_read(ad, ret, err) < 0) {
        shell_order_done(ret);
        return -1;
    }
    if (ad_string(ad, "Term", &term, &len) && len) {
        if (len <= SHELL_TERM_MAX)
            memcpy(ret->term, term, len); /* with a NUL behind it: the ad's own text has none */
        if (len > SHELL_TERM_MAX ||
            strspn(ret->term, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+._") < len) {
            shell_order_done(ret);
            return err_set(err, "Term: expected the name of a kind of terminal");
        }
    }
    shell_window_read(ad, &ret->rows, &ret->columns);
    return 0;
}

void shell_order_done(struct shell_order *order)
{
    buf_done(&order->words);
}

struct tree *shell_order_make(struct symbols *symbols, const struct shell_order *order)
{
    const char **words = mem_alloc((order->count + 1) * sizeof *words), *at = order->words.text;
    struct maker maker;

    for (uint32_t i = 0; i < order->count; i++, at += strlen(at) + 1)
        words[i] = at;
    maker_init(&maker, symbols);
    maker_texts(&maker, "Arguments", words, order->count);
    if (*order->term) {
        maker_text(&maker, "Term", order->term);
        maker_integer(&maker, "Rows", order->rows);
        maker_integer(&maker, "Columns", order->columns);
    }
    free(words);
    return maker_seal(&maker);
}

bool shell_bytes_read(const struct tree *ad, const char *at_name, const char *name, int64_t *ret_at, struct buf *out)
{
    const char *text;
    size_t len;
    int64_t at;

    if (!ad_integer(ad, at_name, &at) || at < 0 || at > SHELL_PLACE_MAX)
        return false;
    *ret_at = at;
    return ad_string(ad, name, &text, &len) && base64url_read(out, text, len) && out->len <= SHELL_PIECE;
}

void shell_bytes_write(struct maker *maker, const char *at_name, const char *name, int64_t at, const char *bytes,
                       size_t len)
{
    struct buf data;

    if (!len)
        return;
    buf_init(&data);
    base64url_print(&data, bytes, len);
    maker_integer(maker, at_name, at);
    maker_bytes(maker, name, data.text, data.len);
    buf_done(&data);
}
