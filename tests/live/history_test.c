/* The history: who keeps how much of it, who loses jobs when it is full, and what becomes of the rows of earlier versions. */
#include "common/tap.h"

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "live/customerd/history.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB 1024
#define ROW_BYTES 100 /* of memory, with its places in tables */

struct bench {
    char folder[64], path[96];
    struct symbols *symbols;
    struct shelf *shelf;
    struct history *history;
    int64_t now;
};

static bool bench_open(struct bench *bench)
{
    struct err err = {0};

    bench->shelf = store_open(bench->path, &err);
    bench->history = bench->shelf ? history_new(bench->symbols, bench->shelf, &err) : NULL;
    if (!bench->history)
        printf("# %s\n", err.text);
    return bench->history != NULL;
}

static void bench_close(struct bench *bench)
{
    struct err err;

    history_free(bench->history);
    bench->shelf->kind->commit(bench->shelf, &err);
    bench->shelf->kind->close(bench->shelf);
}

static bool bench_again(struct bench *bench)
{
    bench_close(bench);
    return bench_open(bench);
}

/* A job of that owner, whose ad has so many bytes and some more. */
static bool add(struct bench *bench, uint64_t job, const char *owner, int bytes)
{
    struct history_row row = {.job = job, .ended = bench->now++, .standing = STANDING_DONE};
    char *text = malloc((size_t)bytes + 200);
    int len = sprintf(text, "[ Cmd = \"x\"; State = \"Done\"; Owner = \"%s\"; Args = \"%0*d\" ]", owner, bytes, 0);
    struct err err = {0};
    struct tree *ad = form_parse(bench->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, (size_t)len, &err);
    bool added = ad && history_add(bench->history, &row, ad, &err) == 0;

    tree_unref(ad);
    free(text);
    return added;
}

static bool there(const struct bench *bench, uint64_t job)
{
    struct history_row row;
    struct tree *ad = history_ad(bench->history, job);
    bool found = history_find(bench->history, job, &row);

    tree_unref(ad);
    return found && ad;
}

/* How many of the jobs from `first` to `last` are there. */
static uint32_t left(const struct bench *bench, uint64_t first, uint64_t last)
{
    uint32_t count = 0;

    for (uint64_t job = first; job <= last; job++)
        count += there(bench, job);
    return count;
}

/* Takes all steps; returns how many jobs went. */
static uint32_t shorten(struct bench *bench, uint64_t most)
{
    struct err err = {0};
    uint32_t count = 0;
    uint64_t gone;

    history_set_most(bench->history, most);
    while (history_step(bench->history, &gone, &err))
        count += gone != 0;
    return *err.text ? UINT32_MAX : count;
}

/* The jobs in the order of the list, the newest first. */
static bool listed(const struct bench *bench, const uint64_t *jobs, uint32_t count)
{
    uint64_t place = history_newest(bench->history);
    struct history_row row;
    uint32_t i = 0;

    for (; (place = history_before(bench->history, place, &row)); place--, i++)
        if (i >= count || row.job != jobs[i])
            return false;
    place = 0;
    for (uint32_t j = count; j; j--)
        if (!(place = history_after(bench->history, place, &row)) || row.job != jobs[j - 1])
            return false;
    return i == count && !history_after(bench->history, place, &row) && history_count(bench->history) == count;
}

/* The jobs of that owner as they are found when others are passed over. */
static bool listed_of(struct bench *bench, const char *owner, const uint64_t *jobs, uint32_t count, uint32_t *ret_looks)
{
    uint64_t place = history_newest(bench->history);
    struct history_row row;
    uint32_t i = 0;

    for (*ret_looks = 0; (place = history_before_of(bench->history, place, owner, &row)); place--, ++*ret_looks)
        if (row.job && (i >= count || row.job != jobs[i++]))
            return false;
    return i == count;
}

static void share_tests(struct bench *bench)
{
    bool added = true;

    for (uint64_t job = 1; job <= 4; job++)
        added = added && add(bench, job, "alice", 10);
    for (uint64_t job = 101; job <= 200; job++)
        added = added && add(bench, job, job % 2 ? "bob" : "bob/laptop", 10);
    tap_ok(added && history_bytes(bench->history) == 104 * 4 * KIB, "a small job counts four kibibytes");
    tap_ok(shorten(bench, 104 * 4 * KIB) == 0, "up to the bound nothing goes");
    tap_ok(
        shorten(bench, 54 * 4 * KIB) == 50 && left(bench, 1, 4) == 4 && left(bench, 101, 150) == 0 &&
            left(bench, 151, 200) == 50,
        "beyond it the oldest jobs of who has most there go, by whichever name, and not those of others, which are older");
    tap_ok(bench_again(bench) && left(bench, 1, 200) == 54 && history_bytes(bench->history) == 54 * 4 * KIB &&
               shorten(bench, 50 * 4 * KIB) == 4 && left(bench, 151, 154) == 0 && left(bench, 1, 4) == 4,
           "after a restart as well");
    for (uint64_t job = 5; job <= 14; job++)
        added = added && add(bench, job, "alice", 100 * KIB);
    tap_ok(added && shorten(bench, 900 * KIB) == 7 && left(bench, 1, 7) == 0 && left(bench, 8, 14) == 7 &&
               left(bench, 155, 200) == 46,
           "a large ad counts as much as it has: now the other one has most");
    tap_ok(shorten(bench, 100 * KIB) && left(bench, 1, 14) == 0 && left(bench, 155, 200) == 25,
           "both are shortened, down to equal shares");
    tap_ok(shorten(bench, 0) == 25 && history_count(bench->history) == 0 && history_bytes(bench->history) == 0 &&
               listed(bench, NULL, 0) && shorten(bench, 0) == 0,
           "and nothing is left without room");
}

static void order_tests(struct bench *bench)
{
    uint32_t looks;
    uint64_t jobs[130], place;
    struct history_row row;
    bool added = true;

    bench_again(bench);
    added = added && add(bench, 1, "alice", 10);
    for (uint64_t job = 2; job <= 1000; job++)
        added = added && add(bench, job, job == 500 ? "carol" : "bob", 10);
    tap_ok(added && listed_of(bench, "alice", (const uint64_t[]){1}, 1, &looks) && looks <= 2 &&
               listed_of(bench, "carol", (const uint64_t[]){500}, 1, &looks) && looks <= 2,
           "who has one job among a thousand of others finds it, and reads none of theirs");
    tap_ok(listed_of(bench, "alic", NULL, 0, &looks) && looks <= 2, "who has none finds none");
    history_before(bench->history, 990, &row);
    place = history_before(bench->history, 989, &row);
    added = added && row.job == 989;
    shorten(bench, 130 * 4 * KIB);
    for (uint32_t i = 0; i < 128; i++)
        jobs[i] = 1000 - i;
    jobs[128] = 500;
    jobs[129] = 1;
    tap_ok(added && listed(bench, jobs, 130), "what is left amid what has gone is listed in order");
    tap_ok(history_before(bench->history, place, &row) == place && row.job == 989,
           "and who lists it goes on where it stopped, though others have gone");
    added = true;
    for (uint64_t job = 1001; job <= 1100; job++)
        added = added && add(bench, job, "bob", 10) && shorten(bench, 130 * 4 * KIB) == 1;
    for (uint32_t i = 0; i < 128; i++)
        jobs[i] += 100;
    tap_ok(added && listed(bench, jobs, 130) && bench_again(bench) && listed(bench, jobs, 130),
           "each job that comes takes the place of another");
    shorten(bench, 0);
}

/* Rows of ended jobs as earlier versions wrote them: the state alone. */
static void rows_age(struct bench *bench, uint64_t first, uint64_t last)
{
    struct history_row row;
    struct err err;

    for (uint64_t job = first; job <= last; job++) {
        unsigned char key[16];

        history_find(bench->history, job, &row);
        for (int i = 0; i < 8; i++) {
            key[i] = (unsigned char)(~(uint64_t)row.ended >> (56 - 8 * i));
            key[8 + i] = (unsigned char)(~job >> (56 - 8 * i));
        }
        bench->shelf->kind->put(bench->shelf, ENDED_SPACE, key, sizeof key, "i", 1, &err);
    }
}

static void old_tests(struct bench *bench)
{
    struct err err = {0};
    bool added = true;
    uint64_t gone;

    bench_again(bench);
    for (uint64_t job = 1; job <= 20; job++)
        added = added && add(bench, job, job <= 5 ? "alice" : "bob", job == 6 ? 100 * KIB : 10);
    rows_age(bench, 1, 20);
    tap_ok(added && bench_again(bench) && left(bench, 1, 20) == 20 && history_bytes(bench->history) == 0,
           "the rows of an earlier version are read");
    history_set_most(bench->history, 40 * KIB);
    for (uint64_t job = 21; job <= 24; job++)
        added = added && add(bench, job, "bob", 10);
    for (int i = 0; i < 10; i++)
        added = added && history_step(bench->history, &gone, &err) && !gone;
    tap_ok(added && history_bytes(bench->history) == 14 * 4 * KIB && bench_again(bench) &&
               history_bytes(bench->history) == 14 * 4 * KIB,
           "whose they are is found out step by step, and is kept; until all is known nothing goes");
    tap_ok(shorten(bench, 23 * 4 * KIB) == 1 && !there(bench, 6) && left(bench, 1, 24) == 23 &&
               shorten(bench, 10 * 4 * KIB) == 13 && left(bench, 1, 5) == 5 && left(bench, 20, 24) == 5,
           "then they go like others, the oldest first");
    bench->shelf->kind->remove(bench->shelf, HISTORY_SPACE, "\0\0\0\0\0\0\0\3", 8, &err);
    rows_age(bench, 1, 3);
    tap_ok(bench_again(bench) && shorten(bench, 1000 * KIB) == 0 && history_bytes(bench->history) == 10 * 4 * KIB &&
               shorten(bench, 0) == 10,
           "also one whose ad is missing");
}

/* Jobs from `first` to `last` that were removed before they ran. */
static bool add_alike(struct bench *bench, uint64_t first, uint64_t last)
{
    static const char text[] = "[ Cmd = \"x\"; State = \"Cancelled\"; Owner = \"carol\"; Job = 1001; Index = 7 ]";
    struct history_row row = {.job = first, .ended = bench->now++, .standing = STANDING_CANCELLED};
    struct err err = {0};
    struct tree *ad = form_parse(bench->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);
    bool added = ad && history_add_alike(bench->history, &row, last, ad, &err) == 0;

    tree_unref(ad);
    return added;
}

static bool row_counts(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    ++*(uint32_t *)user;
    return true;
}

static uint32_t rows_in(const struct bench *bench)
{
    uint32_t count = 0;
    struct err err;

    bench->shelf->kind->each(bench->shelf, HISTORY_SPACE, row_counts, &count, &err);
    bench->shelf->kind->each(bench->shelf, ENDED_SPACE, row_counts, &count, &err);
    return count;
}

static bool says(const struct bench *bench, uint64_t job, int64_t index)
{
    struct tree *ad = history_ad(bench->history, job);
    struct history_row row;
    int64_t number = 0, place = 0;
    bool good = ad && ad_integer(ad, "Job", &number) && ad_integer(ad, "Index", &place) && number == (int64_t)job &&
                place == index && history_find(bench->history, job, &row) && row.standing == STANDING_CANCELLED;

    tree_unref(ad);
    return good;
}

static void alike_tests(struct bench *bench)
{
    static const uint64_t order[] = {4000, 1003, 1002, 1001};
    struct history_row row;

    tap_ok(shorten(bench, 0) != UINT32_MAX && add_alike(bench, 1001, 100000) && rows_in(bench) == 2,
           "jobs that are alike have one row");
    tap_ok(history_bytes(bench->history) >= 99000 * 8 * ROW_BYTES,
           "each counts for far more than the memory that its row takes: a bound in bytes bounds that");
    tap_ok(history_find(bench->history, 1001, &row) && row.alike && history_find(bench->history, 1002, &row) &&
               row.alike,
           "they have no files");
    tap_ok(says(bench, 1001, 7) && says(bench, 1002, 8) && says(bench, 100000, 99006) && !there(bench, 1000) &&
               !there(bench, 100001),
           "each is told with its own number and index");
    tap_ok(bench_again(bench) && history_count(bench->history) == 99000 && says(bench, 1001, 7) &&
               says(bench, 50000, 49006) && says(bench, 100000, 99006),
           "after a restart as well");
    tap_ok(shorten(bench, HISTORY_ALIKE * 3) == 98997 && rows_in(bench) == 2 && !there(bench, 99997) &&
               says(bench, 99998, 99004),
           "they go one by one where there is no room, the first of them first; the others are told as before");
    tap_ok(shorten(bench, 0) == 3 && rows_in(bench) == 0, "and the row with the last of them");
    tap_ok(add_alike(bench, 1001, 1003) && add(bench, 4000, "carol", 10) && listed(bench, order, 4) &&
               bench_again(bench) && listed(bench, order, 4),
           "in a list they stand as others do");
    tap_ok(history_find(bench->history, 4000, &row) && !row.alike, "another has files");
    tap_ok(shorten(bench, 0) == 4 && rows_in(bench) == 0, "and they go so");
}

int main(void)
{
    struct bench bench = {.folder = "/tmp/history_test.XXXXXX", .now = 1000};

    if (!mkdtemp(bench.folder))
        return 1;
    snprintf(bench.path, sizeof bench.path, "%s/db", bench.folder);
    bench.symbols = names_new(1);
    if (tap_ok(bench_open(&bench), "the history is read")) {
        share_tests(&bench);
        order_tests(&bench);
        old_tests(&bench);
        alike_tests(&bench);
        bench_close(&bench);
    }
    symbols_free(bench.symbols);
    snprintf(bench.path, sizeof bench.path, "rm -rf %s", bench.folder);
    return system(bench.path) ? 1 : tap_done();
}
