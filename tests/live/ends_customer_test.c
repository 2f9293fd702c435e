/* ends_customer_test.c: what a customer tells its pool of jobs that had ended before it was started, and what it believes of the pool's answers. */
#include "common/folder.h"
#include "common/tap.h"

#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "live/customerd/ends_catch_up.h"
#include "live/customerd/ends_heard.h"
#include "live/world/runner.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#define JOBS 12345 /* removed all at once while the pool was away */

struct bench {
    struct folder folder;
    struct symbols *symbols;
    struct shelf *shelf;
    struct history *history;
    struct ends_tell *tell;
    struct err err;
};

static struct tree *ad_of(struct bench *bench, const char *text)
{
    return form_parse(bench->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &bench->err);
}

static void bench_init(struct bench *bench)
{
    folder_init(&bench->folder);
    bench->err = (struct err){0};
    bench->symbols = names_new(0);
    bench->shelf = store_open(folder_path(&bench->folder, "berth.db"), &bench->err);
    bench->history = history_new(bench->symbols, bench->shelf, &bench->err);
    bench->tell = ends_tell_new(bench->symbols, bench->shelf, &bench->err);
    ends_tell_begin(bench->tell, &bench->err);
}

static void bench_done(struct bench *bench)
{
    ends_tell_free(bench->tell);
    history_free(bench->history);
    bench->shelf->kind->close(bench->shelf);
    symbols_free(bench->symbols);
    folder_done(&bench->folder);
}

static bool add(struct bench *bench, uint64_t first, uint64_t last, int64_t ended)
{
    struct tree *ad = ad_of(bench, "[ Cmd = \"x\"; State = \"Cancelled\"; Owner = \"carol\" ]");
    struct history_row row = {.job = first, .ended = ended, .standing = STANDING_CANCELLED};
    bool added = ad && history_add_alike(bench->history, &row, last, ad, &bench->err) == 0;

    tree_unref(ad);
    return added;
}

static void catching_up(void)
{
    struct ends_catch_up catch_up;
    struct bench bench;
    int64_t since;
    uint32_t ticks = 0, most = 0, before;
    bool added;

    bench_init(&bench);
    since = ends_tell_since(bench.tell);
    added = add(&bench, 1, 10, since - 1000) && add(&bench, 11, 10 + JOBS, since);
    ends_catch_up_begin(&catch_up, bench.history, bench.tell);
    do {
        before = ends_tell_waiting(bench.tell);
        ends_catch_up_tick(&catch_up);
        most = ends_tell_waiting(bench.tell) - before > most ? ends_tell_waiting(bench.tell) - before : most;
    } while (ends_tell_waiting(bench.tell) > before && ++ticks < JOBS);
    tap_ok(added && ends_tell_waiting(bench.tell) == JOBS,
           "all that has ended since the pool was told is told, and nothing of before");
    tap_ok(ticks > 1 && most <= ENDS_SLICE, "some at a time");
    tap_ok(add(&bench, 20000, 20000 + 2 * JOBS, since + 1), "more has ended before the next start");
    ends_catch_up_begin(&catch_up, bench.history, bench.tell);
    for (ticks = 0; ticks < 100; ticks++)
        ends_catch_up_tick(&catch_up);
    tap_ok(ends_tell_waiting(bench.tell) >= ENDS_WAITING && ends_tell_waiting(bench.tell) < ENDS_WAITING + ENDS_SLICE,
           "while the pool takes nothing, it waits on the disk");
    bench_done(&bench);
}

/* A shelf that cannot be read for a while, as one in a database that is away. */
static int get_fails(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                     void *user, struct err *err)
{
    (void)shelf, (void)space, (void)key, (void)key_len, (void)fn, (void)user;
    return err_set(err, "does not answer");
}

static void unread(void)
{
    const struct shelf_kind *good;
    struct ends_catch_up catch_up;
    struct shelf_kind away;
    struct bench bench;
    uint32_t meanwhile;
    struct tree *ad;

    bench_init(&bench);
    good = bench.shelf->kind;
    away = *good;
    away.get = get_fails;
    add(&bench, 1, 10, ends_tell_since(bench.tell));
    ends_catch_up_begin(&catch_up, bench.history, bench.tell);
    bench.shelf->kind = &away;
    for (int i = 0; i < 3; i++)
        ends_catch_up_tick(&catch_up);
    meanwhile = ends_tell_waiting(bench.tell);
    tap_ok(history_read(bench.history, 1, &ad, &bench.err) < 0, "a job that cannot be read is not one that is missing");
    bench.shelf->kind = good;
    for (int i = 0; i < 3; i++)
        ends_catch_up_tick(&catch_up);
    tap_ok(meanwhile == 0 && ends_tell_waiting(bench.tell) == 10, "and is told when it can be read again");
    bench_done(&bench);
}

static enum ends_page page(struct bench *bench, struct ends_heard *heard, const char *text)
{
    struct tree *ad = ad_of(bench, text);
    enum ends_page page = ends_heard_page(heard, ad);

    tree_unref(ad);
    return page;
}

static void hearing(void)
{
    static const char *const bad[] = {"[]",
                                      "[ Ended = 5 ]",
                                      "[ Ended = \"57\" ]",
                                      "[ Ended = \"9:done:EXITED:0\" ]",
                                      "[ Ended = \"12:done:EXITED:0\"; Next = 4 ]",
                                      "[ Ended = \"12:done:EXITED:0\"; Next = -4 ]"};
    struct ends_heard heard;
    struct bench bench;
    char text[64];
    uint32_t refused = 0, pages = 0;

    bench_init(&bench);
    ends_heard_init(&heard);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ends_heard_reset(&heard);
        refused += page(&bench, &heard, "[ Ended = \"1-9:done:EXITED:0\"; Last = 5; Next = 4 ]") == ENDS_PAGE_MORE &&
                   page(&bench, &heard, bad[i]) == ENDS_PAGE_BAD;
    }
    tap_ok(refused == sizeof bad / sizeof *bad && ends_heard_page(&heard, NULL) == ENDS_PAGE_BAD,
           "what makes no sense, or does not go on, is no answer");
    ends_heard_reset(&heard);
    tap_ok(page(&bench, &heard, "[ Ended = \"1-9:done:EXITED:0\"; Last = 5; Next = 4 ]") == ENDS_PAGE_MORE &&
               page(&bench, &heard, "[ Ended = \"\"; Last = 600; Next = 5 ]") == ENDS_PAGE_MORE &&
               page(&bench, &heard, "[ Ended = \"600:again:OK:0\"; Last = 601 ]") == ENDS_PAGE_LAST &&
               !strcmp(buf_string(&heard.text), "1-9:done:EXITED:0 600:again:OK:0") && heard.last == 601,
           "pages are put together");
    ends_heard_reset(&heard);
    do
        snprintf(text, sizeof text, "[ Ended = \"\"; Next = %u ]", ++pages);
    while (pages < 100000 && page(&bench, &heard, text) == ENDS_PAGE_MORE);
    tap_ok(pages == ENDS_PAGES_MAX + 1, "pages without an end are no answer");
    ends_heard_done(&heard);
    bench_done(&bench);
}

int main(void)
{
    catching_up();
    unread();
    hearing();
    return tap_done();
}
