/* ends_test.c: which jobs have ended, as text, and as rows of a matchmaker's store. */
#include "common/folder.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "live/matchmakerd/ends_book.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool run_count(void *user, const struct ends_run *run)
{
    (void)run;
    ++*(int *)user;
    return true;
}

static void texts(void)
{
    static const char *const bad[] = {"57",
                                      "57:done",
                                      "57:done:EXITED",
                                      "0:done:EXITED:0",
                                      "9-8:done:EXITED:0",
                                      "57:gone:EXITED:0",
                                      "57:done:NOSUCH:0",
                                      "57:done:EXITED:x",
                                      "57:done:EXITED:0x",
                                      " 57:done:EXITED:0",
                                      "1-99999999999999999999:done:EXITED:0",
                                      "57:done:EXITED:99999999999999999999",
                                      "57-63:done:EXITED:0 63:done:EXITED:0",
                                      "64:done:EXITED:0 57:done:EXITED:0"};
    static const char good[] = "57-63:done:EXITED:0 64:removed:RELEASED:0 65:done:EXITED:-9 70:again:OK:0";
    struct ends_block block;
    struct buf out;
    int count = 0, refused = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused += !ends_read(bad[i], strlen(bad[i]), run_count, &count);
    tap_ok(refused == sizeof bad / sizeof *bad, "what is no run of numbers is refused");
    buf_init(&out);
    ends_block_init(&block, 0);
    tap_ok(ends_block_read(&block, good, strlen(good)), "a text is read");
    ends_block_print(&block, &out);
    tap_ok(!strcmp(buf_string(&out), good), "and printed as it was");
    tap_ok(ends_block_read(&block, "60:again:OK:0", 13), "a job that waits again is told so");
    buf_reset(&out);
    ends_block_print(&block, &out);
    tap_ok(strstr(buf_string(&out), "57-59:done:EXITED:0 60:again:OK:0 61-63:done:EXITED:0"), "and stands by itself");
    buf_done(&out);
}

/* Texts of strangers: words and marks in any order. What is read is printed, and read again as the same. */
static void chance(void)
{
    static const char *const parts[] = {"1",
                                        "57",
                                        "511",
                                        "512",
                                        "1099511627776",
                                        "99999999999999999999",
                                        "-",
                                        ":",
                                        ":",
                                        " ",
                                        "done",
                                        "again",
                                        "EXITED",
                                        "OK",
                                        "x",
                                        "\0",
                                        "57-63:done:EXITED:0 ",
                                        "3:again:OK:-1 "};
    struct ends_block block, again;
    struct buf text, out;
    struct rng rng;
    int taken = 0, same = 0, count = 0;

    rng_init(&rng, 35);
    buf_init(&text);
    buf_init(&out);
    for (int round = 0; round < 6000; round++) {
        buf_reset(&text);
        buf_reset(&out);
        for (uint64_t i = rng_below(&rng, 8); i > 0; i--) {
            const char *part = parts[rng_below(&rng, sizeof parts / sizeof *parts)];

            buf_add(&text, part, *part ? strlen(part) : 1);
        }
        ends_block_init(&block, 0);
        ends_block_init(&again, 0);
        if (!ends_block_read(&block, buf_string(&text), text.len))
            continue;
        taken++;
        ends_block_print(&block, &out);
        count = 0;
        if (ends_block_read(&again, buf_string(&out), out.len))
            for (int i = 0; i < ENDS_BLOCK; i++)
                count += ends_alike(&block.jobs[i], &again.jobs[i]);
        same += count == ENDS_BLOCK;
    }
    tap_ok(taken > 200 && same == taken, "whatever is read is printed, and read again as the same");
    if (taken <= 200 || same != taken)
        tap_diag("%d were read, %d of them the same", taken, same);
    buf_done(&text);
    buf_done(&out);
}

struct bench {
    struct folder folder;
    struct shelf *shelf;
    struct ends_book book;
    struct err err;
    int64_t now;
};

static void bench_init(struct bench *bench)
{
    folder_init(&bench->folder);
    bench->err = (struct err){0};
    bench->now = 1793073600;
    bench->shelf = store_open(folder_path(&bench->folder, "berth.db"), &bench->err);
    ends_book_init(&bench->book, bench->shelf, 1);
}

static void bench_done(struct bench *bench)
{
    ends_book_done(&bench->book);
    bench->shelf->kind->close(bench->shelf);
    folder_done(&bench->folder);
}

static enum ends_taken take(struct bench *bench, uint64_t account, uint64_t queue, const char *text, uint64_t last)
{
    return ends_book_take(&bench->book, account, queue, text, strlen(text), last, bench->now, &bench->err);
}

/* All that is known of a queue, page by page. */
static uint64_t look(struct bench *bench, uint64_t account, uint64_t queue, struct buf *ret, int *ret_pages)
{
    uint64_t from = 0, last = 0;

    buf_reset(ret);
    *ret_pages = 0;
    do
        if (ends_book_look(&bench->book, account, queue, from, ret, &from, &last, &bench->err) < 0)
            exit(1);
    while (++*ret_pages < 1000 && from);
    return last;
}

/* The largest number of a job of a queue that is known; 0: nothing is known of it. */
static uint64_t knows(struct bench *bench, uint64_t account, uint64_t queue, struct buf *out)
{
    int pages;

    return look(bench, account, queue, out, &pages);
}

static bool key_counts(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    ++*(uint64_t *)user;
    return true;
}

/* Are there as many rows as the book counts? */
static bool rows_counted(struct bench *bench)
{
    uint64_t count = 0;

    bench->shelf->kind->each(bench->shelf, ENDS_SPACE, key_counts, &count, &bench->err);
    return count == bench->book.count;
}

static void rows(void)
{
    struct bench bench;
    struct buf out;
    char text[64];
    int pages, taken = 0, known = 0;
    uint64_t last;

    bench_init(&bench);
    buf_init(&out);
    tap_ok(take(&bench, 1, 7, "3:removed:RELEASED:0 500-520:done:EXITED:0", 600) == ENDS_TAKEN,
           "jobs of two rows are kept");
    tap_ok(take(&bench, 1, 7, "510:done:EXITED:1", 400) == ENDS_TAKEN, "a later word about one of them counts");
    last = look(&bench, 1, 7, &out, &pages);
    tap_ok(!strcmp(buf_string(&out), "3:removed:RELEASED:0 500-509:done:EXITED:0 510:done:EXITED:1 511:done:EXITED:0 "
                                     "512-520:done:EXITED:0"),
           "all of it is there");
    if (pages != 1)
        tap_diag("%s", buf_string(&out));
    tap_ok(last == 600, "and the largest number of a job");
    tap_ok(look(&bench, 1, 8, &out, &pages) == 0 && !out.len, "another queue has none of it");
    tap_ok(look(&bench, 2, 7, &out, &pages) == 0 && !out.len, "nor has another account");
    tap_ok(take(&bench, 1, 7, "1-40000:done:EXITED:0", 0) == ENDS_MALFORMED,
           "one message is about so many rows at most");
    for (uint64_t block = 0; block < ENDS_ROWS_MAX + 10; block++) {
        snprintf(text, sizeof text, "%" PRIu64 ":done:EXITED:0", block * ENDS_BLOCK + 1);
        taken += take(&bench, 3, 9, text, block * ENDS_BLOCK + 1) == ENDS_TAKEN;
    }
    tap_ok(taken == ENDS_ROWS_MAX + 10, "a queue may go on for ever");
    last = look(&bench, 3, 9, &out, &pages);
    ends_read(buf_string(&out), out.len, run_count, &known);
    tap_ok(known == ENDS_ROWS_MAX - 1 && pages > 60, "of which the last two million numbers are known, page by page");
    tap_ok(!strncmp(buf_string(&out), "5633:", 5) && last == (ENDS_ROWS_MAX + 9) * ENDS_BLOCK + 1,
           "the lowest have gone");
    bench.now += 7200;
    tap_ok(take(&bench, 3, 10, "1:done:EXITED:0", 1) == ENDS_TAKEN && knows(&bench, 3, 10, &out) == 1,
           "for another queue of that account it makes room");
    known = 0;
    last = look(&bench, 3, 9, &out, &pages);
    ends_read(buf_string(&out), out.len, run_count, &known);
    tap_ok(known < ENDS_ROWS_MAX - 1 && known > ENDS_ROWS_MAX * 9 / 10 && last == (ENDS_ROWS_MAX + 9) * ENDS_BLOCK + 1,
           "of its lowest numbers, and of a part of them");
    tap_ok(take(&bench, 4, 10, "1:done:EXITED:0", 1) == ENDS_TAKEN && rows_counted(&bench),
           "one of another account has room");
    buf_done(&out);
    bench_done(&bench);
}

/* Customers of one account that come and go, one after another, and one that stays. */
static void strangers(void)
{
    struct bench bench;
    struct buf out;
    int taken = 0, known = 0, early = 0;

    bench_init(&bench);
    buf_init(&out);
    for (uint64_t queue = 1; queue <= 6000; queue++, bench.now += 60) {
        taken += take(&bench, 1, 1000 + queue, "1-3:done:EXITED:0", 3) == ENDS_TAKEN;
        if (queue % 60 == 1)
            taken += take(&bench, 1, 77, queue == 1 ? "1-9:done:EXITED:0" : "", 9 + queue) == ENDS_TAKEN;
    }
    for (uint64_t queue = 1; queue <= 6000; queue++) {
        known += knows(&bench, 1, 1000 + queue, &out) == 3;
        early += queue > 5000 && knows(&bench, 1, 1000 + queue, &out) == 3;
    }
    tap_ok(taken == 6100 && bench.book.count <= ENDS_ROWS_MAX && rows_counted(&bench),
           "thousands of customers of one account come and go, and none is refused");
    tap_ok(knows(&bench, 1, 77, &out) == 5950, "one that stays keeps what it told");
    tap_ok(early == 1000 && known < 2048, "and so do the last that came");
    bench.shelf->kind->commit(bench.shelf, &bench.err);
    ends_book_done(&bench.book);
    ends_book_init(&bench.book, bench.shelf, 2);
    tap_ok(ends_book_load(&bench.book, &bench.err) == 0 && bench.book.count <= ENDS_ROWS_MAX && rows_counted(&bench) &&
               take(&bench, 1, 9999, "1:done:EXITED:0", 1) == ENDS_TAKEN && knows(&bench, 1, 77, &out) == 5950,
           "so it is after a restart");
    buf_done(&out);
    bench_done(&bench);
}

/* Many accounts: the bound of all of them is made small. */
static void accounts(void)
{
    struct bench bench;
    struct buf out;
    char text[64];
    int taken = 0, known = 0;

    bench_init(&bench);
    buf_init(&out);
    bench.book.most = 600;
    for (uint64_t block = 0; block < 500; block++) {
        snprintf(text, sizeof text, "%" PRIu64 ":done:EXITED:0", block * ENDS_BLOCK + 1);
        taken += take(&bench, 1, 7, text, block * ENDS_BLOCK + 1) == ENDS_TAKEN;
    }
    for (uint64_t account = 2; account <= 151; account++)
        taken += take(&bench, account, 7, "1:done:EXITED:0", 1) == ENDS_TAKEN;
    for (uint64_t account = 2; account <= 151; account++)
        known += knows(&bench, account, 7, &out) == 1;
    tap_ok(taken == 650 && known == 150 && bench.book.count <= 600 && rows_counted(&bench),
           "where all accounts have what there is room for, it is that with most which makes room for others");
    tap_ok(knows(&bench, 1, 7, &out) == 499 * ENDS_BLOCK + 1 && !strstr(buf_string(&out), " 513:"),
           "of its lowest numbers");
    for (uint64_t block = 500; block < 900; block++) {
        snprintf(text, sizeof text, "%" PRIu64 ":done:EXITED:0", block * ENDS_BLOCK + 1);
        taken += take(&bench, 1, 7, text, block * ENDS_BLOCK + 1) == ENDS_TAKEN;
    }
    tap_ok(taken == 1050 && bench.book.count <= 600 && rows_counted(&bench) && knows(&bench, 151, 7, &out) == 1,
           "and for itself");
    buf_done(&out);
    bench_done(&bench);
}

/* Many accounts of the same size: to find whose rows go is dear, so that some go at once. */
static void small_accounts(void)
{
    struct bench bench;
    struct buf out;
    int taken = 0, known = 0;

    bench_init(&bench);
    buf_init(&out);
    bench.book.most = 600;
    for (uint64_t account = 1; account <= 300; account++)
        taken += take(&bench, account, 7, "1:done:EXITED:0", 1) == ENDS_TAKEN;
    tap_ok(taken == 300 && bench.book.count == 600, "many small accounts have all there is room for");
    tap_ok(take(&bench, 301, 7, "1:done:EXITED:0", 1) == ENDS_TAKEN && bench.book.count == 600 - 64 + 2 &&
               rows_counted(&bench) && knows(&bench, 301, 7, &out) == 1,
           "for one more a part makes room that is good for some");
    for (uint64_t account = 1; account <= 300; account++)
        known += knows(&bench, account, 7, &out) == 1;
    tap_ok(known == 300, "no account loses more than others: each is known still");
    buf_done(&out);
    bench_done(&bench);
}

/* A shelf that counts how often it is asked. */
static const struct shelf_kind *counted;
static uint64_t asked;

static int get_counted(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                       void *user, struct err *err)
{
    asked++;
    return counted->get(shelf, space, key, key_len, fn, user, err);
}

static int each_after_counted(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                              void *user, struct err *err)
{
    asked++;
    return counted->each_after(shelf, space, key, key_len, fn, user, err);
}

/* Accounts of the same size with many queues each: a store elsewhere takes its time for each question. */
static void many_queues(void)
{
    struct bench bench;
    struct shelf_kind kind;
    int taken = 0;

    bench_init(&bench);
    bench.book.most = 600;
    for (uint64_t account = 1; account <= 20; account++)
        for (uint64_t queue = 1; queue <= 15; queue++)
            taken += take(&bench, account, queue, "1:done:EXITED:0", 1) == ENDS_TAKEN;
    counted = bench.shelf->kind;
    kind = *counted;
    kind.get = get_counted;
    kind.each_after = each_after_counted;
    bench.shelf->kind = &kind;
    taken += take(&bench, 21, 1, "1:done:EXITED:0", 1) == ENDS_TAKEN;
    bench.shelf->kind = counted;
    tap_ok(taken == 301 && asked < 150 && rows_counted(&bench),
           "room is made among many queues without a question for each of them");
    bench_done(&bench);
}

int main(void)
{
    texts();
    chance();
    rows();
    strangers();
    accounts();
    small_accounts();
    many_queues();
    return tap_done();
}
