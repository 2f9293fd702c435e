/* shelf_cases.h: what holds for every kind of shelf: how rows go in and out, and what is refused. */
#ifndef BERTH_TESTS_SHELF_CASES_H
#define BERTH_TESTS_SHELF_CASES_H

#include "common/store.h"

static bool row_collect(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct buf *out = user;

    row_print(out, key, key_len);
    buf_addc(out, '=');
    row_print(out, value, len);
    buf_addc(out, ' ');
    return true;
}

static bool row_collect_one(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    row_collect(user, key, key_len, value, len);
    return false;
}

/* All rows of a space: "a=1 b=2 ". */
static bool rows_are(struct shelf *shelf, const char *space, const char *want)
{
    struct err err = {0};
    struct buf got;
    bool same;

    buf_init(&got);
    same = shelf->kind->each(shelf, space, row_collect, &got, &err) == 0 && !strcmp(buf_string(&got), want);
    if (!same)
        tap_diag("got  %s %s\nwant %s", buf_string(&got), err.text, want);
    buf_done(&got);
    return same;
}

/* ---------------------------------------------------------------------------------------------------------------- rows */

static void test_rows(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf = open_shelf(bench);
    const struct shelf_kind *kind = shelf->kind;
    struct buf got;

    put_text(shelf, "a", "b", "2", &err);
    put_text(shelf, "a", "\xff", "last", &err);
    put_text(shelf, "a", "B", "1", &err);
    put_text(shelf, "a", "ba", "", &err);
    put_text(shelf, "other", "b", "x", &err);
    tap_ok(rows_are(shelf, "a", "B=1 b=2 ba= \\xff=last "),
           "rows come in the order of their keys' bytes, before they are committed");
    tap_ok(kind->commit(shelf, &err) == 0, "a group is committed");
    put_text(shelf, "a", "b", "new", &err);
    kind->remove(shelf, "a", "B", 1, &err);
    tap_ok(kind->remove(shelf, "a", "nothing", 7, &err) == 0, "removing what is not there is no failure");
    tap_ok(rows_are(shelf, "a", "b=new ba= \\xff=last "), "a row is replaced, another removed");
    kind->commit(shelf, &err);
    put_text(shelf, "a", "b", "dropped", &err);
    kind->close(shelf);

    shelf = open_shelf(bench);
    tap_ok(rows_are(shelf, "a", "b=new ba= \\xff=last ") && rows_are(shelf, "other", "b=x ") &&
               rows_are(shelf, "none", ""),
           "another process finds what was committed, and nothing else");
    buf_init(&got);
    kind->each(shelf, "a", row_collect_one, &got, &err);
    tap_ok(!strcmp(buf_string(&got), "b=new "), "reading stops when it is told to");
    buf_reset(&got);
    tap_ok(kind->get(shelf, "a", "ba", 2, row_collect, &got, &err) == 0 && !strcmp(buf_string(&got), "ba= "),
           "one row is got by its key");
    buf_reset(&got);
    tap_ok(kind->get(shelf, "a", "no", 2, row_collect, &got, &err) == 0 && got.len == 0,
           "a key without a row gives none");
    tap_ok(kind->each_after(shelf, "a", "b", 1, row_collect, &got, &err) == 0 &&
               !strcmp(buf_string(&got), "ba= \\xff=last "),
           "who goes on behind a row gets those behind it");
    buf_reset(&got);
    tap_ok(kind->each_after(shelf, "a", "b0", 2, row_collect_one, &got, &err) == 0 &&
               !strcmp(buf_string(&got), "ba= ") &&
               kind->each_after(shelf, "a", "\xff", 1, row_collect_one, &got, &err) == 0 &&
               !strcmp(buf_string(&got), "ba= "),
           "also where that row has gone, and none behind the last");
    buf_done(&got);
    kind->close(shelf);
    kind->close(NULL);
    bench_wipe(bench);
}

static bool size_seen(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    const unsigned char *bytes = value;
    size_t *size = user;

    (void)key, (void)key_len;
    *size = len && bytes[0] == 7 && bytes[len - 1] == 9 && bytes[len / 2] == 8 ? len : 1;
    return true;
}

static void test_bounds(const struct bench *bench)
{
    static const struct {
        const char *sentence, *space;
        size_t key_len, len;
        bool taken;
    } cases[] = {
        {"a space without a name is refused", "", 1, 1, false},
        {"the longest name of a space is taken", "1234567890123456789012345678901", 1, 1, true},
        {"a longer one is refused", "12345678901234567890123456789012", 1, 1, false},
        {"a name with a blank is refused", "a b", 1, 1, false},
        {"a name that is not ASCII is refused", "\xc3\xa9", 1, 1, false},
        {"an empty key is refused", "s", 0, 1, false},
        {"the longest key is taken", "s", SHELF_KEY_MAX, 1, true},
        {"a longer key is refused", "s", SHELF_KEY_MAX + 1, 1, false},
        {"the largest value is taken", "s", 1, SHELF_VALUE_MAX, true},
        {"a larger value is refused", "s", 1, (size_t)SHELF_VALUE_MAX + 1, false},
    };
    struct shelf *shelf = open_shelf(bench);
    unsigned char *bytes = mem_alloc((size_t)SHELF_VALUE_MAX + 1);
    struct err err = {0};
    size_t size = 0;

    memset(bytes, 8, (size_t)SHELF_VALUE_MAX + 1);
    bytes[0] = 7;
    bytes[SHELF_VALUE_MAX - 1] = 9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result = shelf->kind->put(shelf, cases[i].space, bytes, cases[i].key_len, bytes, cases[i].len, &err);

        tap_ok(result == (cases[i].taken ? 0 : -1) && !shelf->kind->broken(shelf), "%s%s", cases[i].sentence,
               cases[i].taken ? "" : ", and the shelf goes on");
    }
    tap_ok(shelf->kind->commit(shelf, &err) == 0, "what was taken can be committed");
    shelf->kind->close(shelf);
    shelf = open_shelf(bench);
    shelf->kind->get(shelf, "s", bytes, 1, size_seen, &size, &err);
    tap_ok(size == SHELF_VALUE_MAX, "a value of 32 MiB comes back");
    shelf->kind->close(shelf);
    free(bytes);
    bench_wipe(bench);
}

struct nested {
    struct shelf *shelf;
    struct buf rows;
    int changed;
};

static bool row_nested(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct nested *nested = user;
    struct err err;

    (void)key, (void)key_len, (void)value, (void)len;
    nested->shelf->kind->each(nested->shelf, "s", row_collect, &nested->rows, &err);
    nested->changed += put_text(nested->shelf, "s", "c", "3", &err) == 0;
    nested->changed += nested->shelf->kind->commit(nested->shelf, &err) == 0;
    return true;
}

static void test_nested(const struct bench *bench)
{
    struct nested nested = {.shelf = open_shelf(bench)};
    struct err err = {0};

    buf_init(&nested.rows);
    put_text(nested.shelf, "s", "a", "1", &err);
    put_text(nested.shelf, "s", "b", "2", &err);
    nested.shelf->kind->each(nested.shelf, "s", row_nested, &nested, &err);
    tap_ok(!strcmp(buf_string(&nested.rows), "a=1 b=2 a=1 b=2 "), "who is handed a row may read the shelf meanwhile");
    tap_ok(nested.changed == 0 && !nested.shelf->kind->broken(nested.shelf), "but not change it");
    tap_ok(put_text(nested.shelf, "s", "c", "3", &err) == 0 && nested.shelf->kind->commit(nested.shelf, &err) == 0,
           "afterwards the shelf is as it was");
    nested.shelf->kind->close(nested.shelf);
    buf_done(&nested.rows);
    bench_wipe(bench);
}

#endif
