/* What jobs leave at a customer, account by account: who may have how much, and what is known of it after the customer was started again. */
#include "common/tap.h"

#include "lang/ad/names.h"
#include "live/customerd/output_shares.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

struct bench {
    char folder[64], path[96];
    struct symbols *symbols;
    struct shelf *shelf;
    struct output_shares *shares;
};

static bool bench_open(struct bench *bench)
{
    struct err err = {0};

    bench->shelf = store_open(bench->path, &err);
    bench->shares = bench->shelf ? output_shares_new(bench->shelf, bench->symbols, "site", &err) : NULL;
    return bench->shares != NULL;
}

static void bench_close(struct bench *bench)
{
    struct err err;

    output_shares_free(bench->shares);
    bench->shelf->kind->commit(bench->shelf, &err);
    bench->shelf->kind->close(bench->shelf);
}

static bool may(const struct bench *bench, const char *owner, uint64_t mib, uint64_t free_mib)
{
    struct output_room room = {free_mib * MIB, UINT64_MAX};
    struct err err = {0};
    bool may = output_shares_take(bench->shares, owner, mib * MIB, true, &room, &err);

    return may == !*err.text && may;
}

static void room_tests(struct bench *bench)
{
    struct output_shares *shares = bench->shares;
    struct output_room files = {UINT64_MAX, 4};
    struct err err = {0};

    tap_ok(may(bench, "alice", 500, 1000) && !may(bench, "alice", 501, 1000), "one alone has half of the room");
    output_shares_add(shares, 7, "alice", 500 * MIB, 3);
    tap_ok(!may(bench, "alice", 1, 500), "and no more when it is used up");
    tap_ok(!may(bench, "alice/laptop", 1, 500), "nor by another name that counts for it");
    tap_ok(may(bench, "bob", 250, 500) && !may(bench, "bob", 251, 500), "the next has half of what is left");
    tap_ok(may(bench, "site", 500, 500), "the customer's own account has all of it");
    tap_ok(!may(bench, "bob", UINT64_MAX / MIB, 500), "an amount without bound is too much");
    for (uint64_t job = 20; job < 24; job++)
        output_shares_add(shares, job, "carol", 1, 1);
    tap_ok(output_shares_take(shares, "carol", 0, true, &files, &err) == false && strstr(err.text, "carol"),
           "files are counted, too: a disk has only so many");
    output_shares_set_most(shares, 600 * MIB);
    tap_ok(may(bench, "alice", 100, 100000) && !may(bench, "alice", 101, 100000), "OutputsPerUser is a bound besides");
    output_shares_take(shares, "alice/laptop", 200 * MIB, true, &(struct output_room){UINT64_MAX, UINT64_MAX}, &err);
    tap_ok(strstr(err.text, "OutputsPerUser") && strstr(err.text, "those of alice have left 524288000"),
           "which the reason names, with whose it is, and how much that is");
    tap_ok(may(bench, "site", 1000, 100000), "and not for the customer's own account");
}

static void count_tests(struct bench *bench)
{
    uint64_t before = output_shares_bytes(bench->shares, "alice");

    output_shares_lose(bench->shares, 7, 100 * MIB, 1);
    output_shares_lose(bench->shares, 99, 100 * MIB, 1);
    tap_ok(output_shares_bytes(bench->shares, "alice") == before - 100 * MIB, "what has gone counts no more");
    output_shares_lose(bench->shares, 7, 9000 * MIB, 900);
    tap_ok(output_shares_bytes(bench->shares, "alice") == 0, "no account has less than nothing");
    output_shares_add(bench->shares, 7, "alice", 40 * MIB, 1);
    output_shares_add(bench->shares, 8, "alice/x", 2 * MIB, 1);
    output_shares_add(bench->shares, 8, "alice/x", 20 * MIB, 0);
    bench_close(bench);
    tap_ok(bench_open(bench) && output_shares_bytes(bench->shares, "alice") == 62 * MIB,
           "a customer that begins anew knows what is there");
    output_shares_forget(bench->shares, 7);
    output_shares_forget(bench->shares, 1234);
    tap_ok(output_shares_bytes(bench->shares, "alice/y") == 22 * MIB, "a job of which nothing is kept takes nothing");
    bench_close(bench);
    tap_ok(bench_open(bench) && output_shares_bytes(bench->shares, "alice") == 22 * MIB, "also after that");
}

int main(void)
{
    struct bench bench = {.folder = "/tmp/output_shares_test.XXXXXX"};

    if (!mkdtemp(bench.folder))
        return 1;
    snprintf(bench.path, sizeof bench.path, "%s/db", bench.folder);
    bench.symbols = names_new(1);
    if (tap_ok(bench_open(&bench), "the shares are read")) {
        room_tests(&bench);
        count_tests(&bench);
        bench_close(&bench);
    }
    symbols_free(bench.symbols);
    snprintf(bench.path, sizeof bench.path, "rm -rf %s", bench.folder);
    return system(bench.path) ? 1 : tap_done();
}
