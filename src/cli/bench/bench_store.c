/* bench_store.c: berth bench store: how many rows become durable in a store, in the commits that a customer's jobs need. There are no processes and no
 * sandboxes of jobs: the store alone.
 *
 * So many slots have each a job after another. A step of a job is 6 or 7 rows that have to be durable before the next step: 13 steps for 5 jobs, as `berth
 * bench jobs` counts them of customer and provider. All slots share a loop, as in a daemon: rows that are put while a commit is under way wait for the next. */
#include "cli/bench/bench.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "store/store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STORE_JOBS 5000
#define SLOTS 16
#define SLOTS_MOST 1024
#define ROW_BYTES 200
#define ROW_KEYS 5000 /* of a slot */

static const unsigned step_rows[] = {7, 6, 7, 6, 7, 6, 6, 6, 6, 6, 6, 6, 6};
#define CYCLE (sizeof step_rows / sizeof *step_rows)
#define CYCLE_JOBS 5

struct slot {
    char space[32];
    uint64_t steps; /* that are to be done */
    size_t at;
};

struct store_run {
    struct shelf *shelf;
    struct slot *slots;
    uint64_t slot_count, rows, commits;
    struct rng rng;
};

/* Puts the rows of its next step. */
static int slot_puts(struct store_run *run, struct slot *slot, struct err *err)
{
    static const char value[ROW_BYTES] = "[ Job = 1 ]";
    unsigned count = step_rows[slot->at];
    char key[16];

    slot->at = (slot->at + 1) % CYCLE;
    slot->steps--;
    run->rows += count;
    for (unsigned i = 0; i < count; i++) {
        int len = snprintf(key, sizeof key, "%08u", (unsigned)rng_below(&run->rng, ROW_KEYS));

        if (run->shelf->kind->put(run->shelf, slot->space, key, (size_t)len, value, sizeof value, err) < 0)
            return -1;
    }
    return 0;
}

/* Waits, where the commit is done elsewhere. */
static int commit_await(struct shelf *shelf, struct err *err)
{
    struct pollfd one = {.events = POLLIN};
    uint64_t count;
    int result;

    if (!shelf->kind->commit_start)
        return shelf->kind->commit(shelf, err);
    one.fd = shelf->kind->news(shelf);
    result = shelf->kind->commit_start(shelf, err);
    while (!result) {
        if (poll(&one, 1, -1) > 0 && read(one.fd, &count, sizeof count) < 0)
            continue;
        result = shelf->kind->commit_look(shelf, err);
    }
    return result < 0 ? -1 : 0;
}

/* A turn of the loop: every slot that waits for nothing puts rows, and they become durable. Returns how many did; 0: there is nothing left; -1: it failed. */
static int turn(struct store_run *run, struct err *err)
{
    int busy = 0;

    for (uint64_t i = 0; i < run->slot_count; i++) {
        struct slot *slot = &run->slots[i];

        if (!slot->steps)
            continue;
        busy++;
        if (slot_puts(run, slot, err) < 0)
            return -1;
    }
    if (!busy)
        return 0;
    run->commits++;
    return commit_await(run->shelf, err) < 0 ? -1 : busy;
}

static int store_measure(const struct bench_settings *settings, struct store_run *run, struct err *err)
{
    uint64_t jobs = settings->count ? settings->count : STORE_JOBS,
             steps = (jobs * CYCLE + CYCLE_JOBS - 1) / CYCLE_JOBS;
    struct bench bench;
    struct buf row;
    int busy;

    for (uint64_t i = 0; i < run->slot_count; i++) {
        run->slots[i] =
            (struct slot){.steps = steps / run->slot_count + (i < steps % run->slot_count), .at = i % CYCLE};
        snprintf(run->slots[i].space, sizeof run->slots[i].space, "slot%llu", (unsigned long long)i);
    }
    bench_init(&bench, jobs);
    bench_start(&bench);
    while ((busy = turn(run, err)) > 0)
        ;
    bench_stop(&bench);
    if (busy == 0) {
        buf_init(&row);
        bench_row_begin(&row, "store");
        bench_row_text(&row, "kind", run->shelf->kind->name);
        bench_row_integer(&row, "slots", run->slot_count);
        bench_row_integer(&row, "rows", run->rows);
        bench_row_integer(&row, "steps", steps);
        bench_row_integer(&row, "commits", run->commits);
        bench_row_real(&row, "rows_per_second", (double)run->rows / bench.seconds);
        bench_row_measured(&row, &bench);
        bench_row_finish(&row);
        buf_done(&row);
    }
    bench_done(&bench);
    return busy;
}

static int run_at(const struct bench_settings *settings, const char *path, uint64_t slots, struct err *err)
{
    const struct store_terms terms = {.tell = NULL}; /* as daemons open theirs */
    struct store_run run = {.shelf = store_open_as(path, &terms, err), .slot_count = slots};
    int failed;

    if (!run.shelf)
        return -1;
    rng_init(&run.rng, settings->seed);
    run.slots = mem_alloc(slots * sizeof *run.slots);
    failed = store_measure(settings, &run, err);
    free(run.slots);
    run.shelf->kind->close(run.shelf);
    return failed;
}

/* In a folder of its own, which is removed at the end. */
static int run_in_file(const struct bench_settings *settings, uint64_t slots, struct err *err)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    const char *parent = getenv("TMPDIR");
    char folder[4096], path[4200];
    int failed;

    snprintf(folder, sizeof folder, "%.4000s/berth-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return err_set(err, "a folder could not be made: %.200s", folder);
    snprintf(path, sizeof path, "%s/" STORE_FILE, folder);
    failed = run_at(settings, path, slots, err);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s/" STORE_FILE "%s", folder, suffixes[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}

int bench_store(const struct bench_settings *settings)
{
    char *end = NULL;
    uint64_t slots = settings->slots ? strtoull(settings->slots, &end, 10) : SLOTS;
    struct err err = {0};
    int failed;

    if (!slots || slots > SLOTS_MOST || (end && *end)) {
        report("--slots wants a number from 1 to %d here: '%.60s'", SLOTS_MOST, settings->slots);
        return STATUS_BAD;
    }
    failed = settings->store ? run_at(settings, settings->store, slots, &err) : run_in_file(settings, slots, &err);
    if (failed)
        report("%s", err.text);
    return failed ? STATUS_NO : STATUS_DONE;
}
