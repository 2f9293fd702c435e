/* ledger.c: commands that an agent has carried out, with its answers. */
#include "live/world/ledger.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/http/represent.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_DIGITS 16
#define SWEEP_ROWS 1000 /* that go at a time */

static void row_key(uint64_t key, char ret[KEY_DIGITS + 1])
{
    snprintf(ret, KEY_DIGITS + 1, "%016" PRIx64, key);
}

struct search {
    struct symbols *symbols;
    struct tree *answer;
};

static bool row_found(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct search *search = user;
    struct err err;
    struct tree *row = form_parse(search->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    const struct expr *answer = row ? ad_find(row, "Answer") : NULL;

    (void)key;
    (void)key_len;
    if (answer && answer->kind == EXPR_AD)
        search->answer = ad_part(row, answer);
    tree_unref(row);
    return false;
}

struct tree *ledger_find(struct shelf *shelf, struct symbols *symbols, uint64_t key)
{
    struct search search = {.symbols = symbols};
    char digits[KEY_DIGITS + 1];
    struct err err;

    row_key(key, digits);
    shelf->kind->get(shelf, LEDGER_SPACE, digits, KEY_DIGITS, row_found, &search, &err);
    return search.answer;
}

int ledger_write(struct shelf *shelf, uint64_t key, const struct tree *answer, int64_t ends, struct err *err)
{
    char digits[KEY_DIGITS + 1];
    struct maker maker;
    struct tree *row;
    struct buf text;
    int failed;

    maker_init(&maker, answer->symbols);
    maker_integer(&maker, "Ends", ends);
    maker_ad(&maker, "Answer", answer);
    row = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    row_key(key, digits);
    failed = shelf->kind->put(shelf, LEDGER_SPACE, digits, KEY_DIGITS, text.text, text.len, err);
    buf_done(&text);
    tree_unref(row);
    return failed;
}

struct sweep {
    struct symbols *symbols;
    struct buf keys; /* of rows that go: the shelf may not change while it is read */
    int64_t wall;
};

static bool row_swept(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct sweep *sweep = user;
    struct err err;
    struct tree *row = form_parse(sweep->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    int64_t ends;

    if (key_len == KEY_DIGITS && (!row || !ad_integer(row, "Ends", &ends) || ends < sweep->wall))
        buf_add(&sweep->keys, key, key_len);
    tree_unref(row);
    return sweep->keys.len < (size_t)SWEEP_ROWS * KEY_DIGITS;
}

bool ledger_sweep(struct shelf *shelf, struct symbols *symbols, int64_t wall)
{
    struct sweep sweep = {.symbols = symbols, .wall = wall};
    struct err err;
    bool changed;

    buf_init(&sweep.keys);
    if (shelf->kind->each(shelf, LEDGER_SPACE, row_swept, &sweep, &err) < 0)
        buf_reset(&sweep.keys); /* the next sweep looks again */
    for (size_t at = 0; at < sweep.keys.len; at += KEY_DIGITS)
        shelf->kind->remove(shelf, LEDGER_SPACE, sweep.keys.text + at, KEY_DIGITS, &err);
    changed = sweep.keys.len > 0;
    buf_done(&sweep.keys);
    return changed;
}
