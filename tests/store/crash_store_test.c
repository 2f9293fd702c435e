/* crash_store_test.c: the power is cut at every operation of a store's life: what was acknowledged is there, and no group by half.
 *
 * A life is recorded once (crash_disk.h), with the number of disk operations at each acknowledgement beside it. Then, for every number of
 * operations and every way of losing what was not synced, a store is opened on what is left. Two power cuts that leave the same bytes and
 * ask for the same rows are tried once.
 *
 *     BERTH_CRASH_SEEDS=n    the ways that have chance in them, n times each
 *     BERTH_SEED=n           other chances */
#include "common/store.h"

#include "crash_disk.h"
#include "groups.h"

#include <inttypes.h>

#define GROUPS 60
#define GROUPS_A_PROCESS 20 /* then the store is closed, and opened again */
#define LOG_PAGES 24        /* so that the log is copied many times, and begun anew */
#define LARGE_EVERY 5       /* groups; a row of several pages */
#define LARGE_LEN 20000

/* Of the disks that differ every so many are tried, and all of them where the seeds are given, as in `./dev soak`. The proof is the plain build's; a
 * sanitizer looks at the code, and is slow. */
#ifdef TESTS_SANITIZED
#define TRIED_EVERY 5
#else
#define TRIED_EVERY 2
#endif

/* Of those every so many are also ... */
#define SECOND_EVERY 8 /* cut off a second time */
#define CLOSED_EVERY 8 /* checked once they are closed, not only while they are open */
#define FILES_EVERY 16 /* checked as files that nobody has opened since */

/* ----------------------------------------------------------------------------------------------------------------- lives */

struct life {
    struct crash_disk disk;
    size_t opened_at;            /* operations when the store was open for the first time */
    uint64_t first;              /* the group that was there when it began */
    uint64_t last;               /* the last one that was acknowledged */
    size_t told_at[GROUPS + 10]; /* operations when each was acknowledged */
};

/* A way to lose rows. */
struct plant {
    const char *sentence;
    unsigned lies; /* enum crash_lie */
    bool careless; /* SQLite is told not to sync */
};

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void large_value(unsigned char *value, uint64_t group)
{
    for (size_t i = 0; i < LARGE_LEN; i++)
        value[i] = (unsigned char)(rng_mix(group + i / 8) >> (i % 8 * 8));
}

static int life_commit(struct life *life, struct shelf *shelf, uint64_t group, struct err *err)
{
    unsigned char value[LARGE_LEN];

    if (group % LARGE_EVERY == 0) {
        large_value(value, group);
        if (shelf->kind->put(shelf, "large", "large", 5, value, sizeof value, err) < 0)
            return -1;
    }
    if (group_commit(shelf, group, err) < 0)
        return -1;
    life->last = group;
    life->told_at[group] = life->disk.op_count;
    return 0;
}

/* The last group acknowledged when the disk had done so many operations. */
static uint64_t life_told(const struct life *life, size_t at)
{
    uint64_t told = life->first;

    while (told < life->last && life->told_at[told + 1] <= at)
        told++;
    return told;
}

static struct shelf *life_open(const struct bench *bench, const struct plant *plant, struct err *err)
{
    struct shelf *shelf = store_open(bench->path, err);

    if (!shelf)
        return NULL;
    ((struct store *)shelf)->wal_pages_max = LOG_PAGES;
    if (plant && plant->careless)
        sqlite3_exec(((struct store *)shelf)->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    return shelf;
}

/* GROUPS groups by several processes. Ends where something fails. The shelf as it is then, which the caller closes, or NULL. */
static struct shelf *life_run(struct life *life, const struct bench *bench, const struct plant *plant, struct err *err)
{
    struct shelf *shelf = life_open(bench, plant, err);

    life->opened_at = life->disk.op_count;
    for (uint64_t group = 1; shelf && group <= GROUPS; group++) {
        if (life_commit(life, shelf, group, err) < 0 || shelf->kind->broken(shelf))
            break;
        if (group % GROUPS_A_PROCESS == 0 && group < GROUPS) {
            group_put(shelf, group + 1, err); /* what was not committed is dropped */
            shelf->kind->close(shelf);
            shelf = life->disk.failed ? NULL : life_open(bench, plant, err);
        }
    }
    return shelf;
}

static void life_init(struct life *life, const struct bench *bench, const struct crash_image *image, uint64_t seed)
{
    *life = (struct life){0};
    crash_disk_init(&life->disk, bench->path, image, seed);
}

/* ---------------------------------------------------------------------------------------------------- what is left of one */

struct expect {
    uint64_t least, most; /* the last group that is there */
    char wrong[1200];     /* "", or what was found instead */
};

__attribute__((format(printf, 2, 3))) static bool expect_fail(struct expect *expect, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(expect->wrong, sizeof expect->wrong, format, args);
    va_end(args);
    return false;
}

struct large {
    uint64_t group;
    unsigned rows;
    bool right;
};

static bool large_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct large *large = user;
    unsigned char want[LARGE_LEN];

    (void)key, (void)key_len;
    large_value(want, large->group);
    large->rows++;
    large->right = len == LARGE_LEN && memcmp(value, want, LARGE_LEN) == 0;
    return true;
}

/* All rows, for a group that is the last. */
static bool rows_right(struct shelf *shelf, struct expect *expect, uint64_t *ret_last)
{
    struct err err = {0};
    int64_t last = group_last(shelf, &err);
    struct large large = {0};

    if (last < 0)
        return expect_fail(expect, "%s", err.text);
    if ((uint64_t)last < expect->least || (uint64_t)last > expect->most)
        return expect_fail(expect, "group %" PRId64 " is the last", last);
    large.group = (uint64_t)last / LARGE_EVERY * LARGE_EVERY;
    if (shelf->kind->each(shelf, "large", large_row, &large, &err) < 0)
        return expect_fail(expect, "%s", err.text);
    if (large.rows != (large.group > 0) || (large.rows && !large.right))
        return expect_fail(expect, "group %" PRId64 " is the last, but the large row is not of it", last);
    *ret_last = (uint64_t)last;
    return true;
}

static bool check_right(const char *path, const char *when, struct expect *expect)
{
    struct err err = {0};
    struct buf complaints;
    bool right;

    buf_init(&complaints);
    right = store_check(path, &complaints, &err) == 0;
    if (!right)
        expect_fail(expect, "store_check %s: %s %s", when, err.text, buf_string(&complaints));
    buf_done(&complaints);
    return right;
}

/* The next process on what is left: looks at it, and goes on for a group. `closed`: it is checked afterwards as well. */
static bool next_works(struct life *next, const struct bench *bench, bool closed, struct expect *expect)
{
    struct err err = {0};
    struct shelf *shelf = life_open(bench, NULL, &err);
    bool right;

    if (!shelf)
        return expect_fail(expect, "%s", err.text);
    next->opened_at = next->disk.op_count;
    right = rows_right(shelf, expect, &next->first) && check_right(bench->path, "while it is open", expect);
    next->last = next->first;
    if (right && life_commit(next, shelf, next->first + 1, &err) < 0)
        right = expect_fail(expect, "%s", err.text);
    shelf->kind->close(shelf);
    return right && (!closed || check_right(bench->path, "once it is closed", expect));
}

/* As files, which nobody has opened since. */
static bool files_right(const struct bench *bench, const struct crash_image *image, struct expect *expect)
{
    char path[160];
    bool right;

    snprintf(path, sizeof path, "%s/files.db", bench->folder);
    right = crash_image_write(image, path) || expect_fail(expect, "%s cannot be written", path);
    right = right && check_right(path, "before it is opened", expect);
    crash_image_write(&(struct crash_image){0}, path);
    return right || (expect->least == 0 && strstr(expect->wrong, "holds no store yet"));
}

/* ----------------------------------------------------------------------------------------------------------------- sweeps */

struct sweep {
    const struct bench *bench;
    const struct life *life;
    uint64_t seed, seeds, tried_every;
    size_t from;                                                    /* operations before the first power cut */
    uint64_t cuts, images, tried, seconds, files, in_flight, wrong; /* counted */
    uint64_t *seen;                                                 /* a hash table of the images that were tried */
    size_t seen_mask;
    char first_wrong[1600];
};

/* False where it was seen before. */
static bool sweep_new(struct sweep *sweep, uint64_t hash)
{
    size_t place = hash & sweep->seen_mask;

    hash |= 1; /* 0 is an empty place */
    while (sweep->seen[place] && sweep->seen[place] != hash)
        place = (place + 1) & sweep->seen_mask;
    if (sweep->seen[place] == hash)
        return false;
    sweep->seen[place] = hash;
    return true;
}

static void sweep_wrong(struct sweep *sweep, size_t at, int keep, uint64_t seed, const struct expect *expect,
                        const char *when)
{
    if (sweep->wrong++ == 0)
        snprintf(sweep->first_wrong, sizeof sweep->first_wrong,
                 "%s after %zu operations, way %d, seed %" PRIu64 ": groups %" PRIu64 " to %" PRIu64 " wanted: %s",
                 when, at, keep, seed, expect->least, expect->most, expect->wrong);
}

/* The power is cut again while the next process is at work, at a moment and in a way of chance. What that one found when it was open must
 * still be there, also where it had not been acknowledged. */
static void sweep_second(struct sweep *sweep, const struct life *next, uint64_t least, size_t at, uint64_t seed)
{
    uint64_t chance = rng_mix(seed ^ rng_mix(at));
    size_t until = chance % (next->disk.op_count + 1);
    enum crash_keep keep = (enum crash_keep)((chance >> 40) % KEEP_COUNT);
    struct expect expect = {.least = until < next->opened_at ? least : life_told(next, until),
                            .most = next->first + (until > next->opened_at)};
    struct crash_replay replay;
    struct crash_image image;
    struct life third;

    crash_replay_init(&replay, &next->disk);
    crash_image_init(&image);
    while (replay.at < until)
        crash_replay_step(&replay);
    crash_replay_cut(&replay, keep, chance, &image);
    life_init(&third, sweep->bench, &image, chance);
    sweep->seconds++;
    if (!next_works(&third, sweep->bench, false, &expect))
        sweep_wrong(sweep, at, keep, seed, &expect, "second power cut");
    crash_disk_leave(&third.disk);
    crash_disk_done(&third.disk);
    crash_replay_done(&replay);
    crash_image_done(&image);
}

static void sweep_cut(struct sweep *sweep, const struct crash_replay *replay, enum crash_keep keep, uint64_t seed,
                      struct crash_image *image)
{
    uint64_t told = life_told(sweep->life, replay->at);
    struct expect expect = {.least = told, .most = told + 1};
    struct life next;
    uint64_t hash;
    bool right;

    sweep->cuts++;
    crash_replay_cut(replay, keep, seed, image);
    hash = rng_mix(crash_image_hash(image) + told);
    if (!sweep_new(sweep, hash))
        return;
    if (sweep->images++ % sweep->tried_every)
        return;
    sweep->tried++;
    life_init(&next, sweep->bench, image, hash);
    right = next_works(&next, sweep->bench, (hash >> 40) % CLOSED_EVERY == 0, &expect);
    crash_disk_leave(&next.disk);
    sweep->in_flight += right && next.first == told + 1;
    if (right && (hash >> 48) % SECOND_EVERY == 0)
        sweep_second(sweep, &next, told, replay->at, seed);
    if (right && (hash >> 56) % FILES_EVERY == 0) {
        sweep->files++;
        right = files_right(sweep->bench, image, &expect);
    }
    if (!right)
        sweep_wrong(sweep, replay->at, keep, seed, &expect, "power cut");
    crash_disk_done(&next.disk);
}

/* Every number of operations, every way. With `first_only` until something is wrong. */
static void sweep_run(struct sweep *sweep, bool first_only)
{
    struct crash_replay replay;
    struct crash_image image;
    size_t room = 1024;

    while (room < (sweep->life->disk.op_count + 1) * KEEP_COUNT * sweep->seeds * 2)
        room *= 2;
    sweep->seen_mask = room - 1;
    sweep->seen = mem_alloc(room * sizeof *sweep->seen);
    memset(sweep->seen, 0, room * sizeof *sweep->seen);
    crash_image_init(&image);
    crash_replay_init(&replay, &sweep->life->disk);
    do {
        for (uint64_t i = 0; i < sweep->seeds; i++)
            for (int keep = i ? KEEP_TORN : 0; keep < KEEP_COUNT && replay.at >= sweep->from; keep++)
                sweep_cut(sweep, &replay, (enum crash_keep)keep, sweep->seed + i, &image);
    } while (!(first_only && sweep->wrong) && crash_replay_step(&replay));
    crash_replay_done(&replay);
    crash_image_done(&image);
    free(sweep->seen);
}

static void sweep_init(struct sweep *sweep, const struct bench *bench, const struct life *life)
{
    *sweep = (struct sweep){
        .bench = bench, .life = life, .seed = number_of("BERTH_SEED", 1), .seeds = number_of("BERTH_CRASH_SEEDS", 0)};
    sweep->tried_every = sweep->seeds == 0 ? TRIED_EVERY : 1;
    sweep->seeds += sweep->seeds == 0;
}

/* ------------------------------------------------------------------------------------------------------------------ tests */

static void test_power(const struct bench *bench)
{
    unsigned counts[OP_LIE + 1] = {0}, copied = 0;
    struct err err = {0};
    struct sweep sweep;
    struct life life;
    struct shelf *shelf;

    life_init(&life, bench, NULL, number_of("BERTH_SEED", 1));
    shelf = life_run(&life, bench, NULL, &err);
    tap_ok(shelf && life.last == GROUPS && !shelf->kind->broken(shelf), "a life of %d groups is recorded", GROUPS);
    if (shelf)
        shelf->kind->close(shelf);
    crash_disk_leave(&life.disk);
    for (size_t i = 0; i < life.disk.op_count; i++) {
        counts[life.disk.ops[i].kind]++;
        copied += life.disk.ops[i].kind == OP_SYNC && life.disk.ops[i].name == NAME_MAIN;
    }
    tap_diag("%zu operations: %u writes, %u truncations, %u syncs, %u of the folder, %u files made, %u deleted",
             life.disk.op_count, counts[OP_WRITE], counts[OP_TRUNCATE], counts[OP_SYNC], counts[OP_FOLDER_SYNC],
             counts[OP_MAKE], counts[OP_DELETE]);
    tap_ok(copied > 5 && counts[OP_FOLDER_SYNC] >= GROUPS / GROUPS_A_PROCESS && counts[OP_DELETE] > 1,
           "in it the log is copied into the file many times, deleted, and made anew");
    sweep_init(&sweep, bench, &life);
    sweep_run(&sweep, false);
    tap_diag("%" PRIu64 " power cuts, seed %" PRIu64 ": %" PRIu64 " different disks; of %" PRIu64
             " that were tried, %" PRIu64 " had the group in flight, %" PRIu64
             " were cut off a second time, and %" PRIu64 " looked at as files",
             sweep.cuts, sweep.seed, sweep.images, sweep.tried, sweep.in_flight, sweep.seconds, sweep.files);
    if (!tap_ok(!sweep.wrong, "the power is cut after every operation, and what was not synced is lost, kept, torn, "
                              "out of order or junk: what was acknowledged is there, and no group by half"))
        tap_diag("%" PRIu64 " times; first: %s", sweep.wrong, sweep.first_wrong);
    tap_ok(sweep.cuts >= (life.disk.op_count + 1) * 6 && sweep.images > life.disk.op_count && sweep.in_flight > GROUPS,
           "the power cuts leave disks that differ, some with a group that was about to be acknowledged");
    crash_disk_done(&life.disk);
}

static void test_plant(const struct bench *bench, const struct plant *plant)
{
    struct err err = {0};
    struct sweep sweep;
    struct life life;
    struct shelf *shelf;

    life_init(&life, bench, NULL, number_of("BERTH_SEED", 1));
    life.disk.lies = plant->lies;
    shelf = life_run(&life, bench, plant, &err);
    if (shelf)
        shelf->kind->close(shelf);
    crash_disk_leave(&life.disk);
    sweep_init(&sweep, bench, &life);
    sweep.seeds = 1;
    sweep.from = life.told_at[1]; /* rows were promised */
    if (life.last == GROUPS)
        sweep_run(&sweep, true);
    tap_ok(sweep.wrong > 0, "%s", plant->sentence);
    tap_diag("after %" PRIu64 " power cuts: %s", sweep.cuts, sweep.wrong ? sweep.first_wrong : "nothing");
    crash_disk_done(&life.disk);
}

/* After the failure nothing is taken, and the disk is asked for nothing. */
static bool broken_for_good(struct life *life, struct shelf *shelf, struct expect *expect)
{
    size_t before = life->disk.op_count;
    struct err err = {0};
    bool taken = !shelf->kind->broken(shelf);

    for (int i = 0; i < 2; i++)
        taken = taken || put_text(shelf, "s", "k", "v", &err) == 0 || shelf->kind->commit(shelf, &err) == 0 ||
                shelf->kind->remove(shelf, "s", "k", 1, &err) == 0;
    shelf->kind->close(shelf);
    if (taken)
        return expect_fail(expect, "the shelf is not broken");
    return before == life->disk.op_count || expect_fail(expect, "the broken shelf goes on writing");
}

/* The power is cut now, in every way. */
static bool cuts_right(const struct crash_disk *disk, const struct bench *bench, struct expect *expect)
{
    struct crash_replay replay;
    struct crash_image image;
    bool right = true;

    crash_image_init(&image);
    crash_replay_init(&replay, disk);
    while (crash_replay_step(&replay))
        continue;
    for (int keep = 0; keep < KEEP_COUNT && right; keep++) {
        struct life next;

        crash_replay_cut(&replay, (enum crash_keep)keep, number_of("BERTH_SEED", 1), &image);
        life_init(&next, bench, &image, disk->op_count);
        right = next_works(&next, bench, true, expect);
        crash_disk_leave(&next.disk);
        crash_disk_done(&next.disk);
    }
    crash_replay_done(&replay);
    crash_image_done(&image);
    return right;
}

/* An fsync failed: the power is cut; or the next process starts on what the system still shows, goes on, and then the power is cut. */
static bool failed_right(struct life *life, const struct bench *bench, struct shelf *shelf, struct expect *expect)
{
    bool right = true;

    *expect = (struct expect){.least = life->last, .most = life->last + 1};
    if (life_told(life, life->disk.fail_after) + 1 < life->last)
        right = expect_fail(expect, "groups were acknowledged after it");
    if (shelf)
        right = broken_for_good(life, shelf, expect) && right;
    crash_disk_leave(&life->disk);
    right = right && cuts_right(&life->disk, bench, expect);
    crash_disk_join(&life->disk);
    life->disk.fail_at = 0;
    right = right && next_works(life, bench, true, expect);
    crash_disk_leave(&life->disk);
    expect->least = expect->most = life->last;
    return right && cuts_right(&life->disk, bench, expect);
}

static void test_sync_fails(const struct bench *bench)
{
    unsigned opening = 0, working = 0, closing = 0;
    bool right = true, hit = true;

    for (uint64_t at = 1; right && hit; at++) {
        struct expect expect = {0};
        struct err err = {0};
        struct shelf *shelf;
        struct life life;

        life_init(&life, bench, NULL, number_of("BERTH_SEED", 1));
        life.disk.fail_at = at;
        shelf = life_run(&life, bench, NULL, &err);
        hit = life.disk.failed;
        working += hit && shelf;
        closing += hit && !shelf && err.text[0] == 0;
        opening += hit && !shelf && err.text[0];
        if (hit)
            right = failed_right(&life, bench, shelf, &expect);
        else {
            right = shelf && life.last == GROUPS;
            shelf->kind->close(shelf);
            crash_disk_leave(&life.disk);
        }
        if (!right)
            tap_diag("fsync %" PRIu64 ", group %" PRIu64 ": %s %s", at, life.last, expect.wrong, err.text);
        crash_disk_done(&life.disk);
    }
    tap_diag("an fsync failed %u times while opening, %u while working, %u while closing", opening, working, closing);
    tap_ok(
        right && opening && working > GROUPS && closing,
        "an fsync fails, whichever it is: nothing is acknowledged after it, the shelf is broken, and nothing that was "
        "acknowledged is lost, by a power cut at once or one under the next process");
}

int main(void)
{
    static const struct plant plants[] = {
        {"a disk that lies about syncing is found out", LIE_ALL, false},
        {"one that lies about the log alone is found out", LIE_LOG, false},
        {"one that lies about the main file alone is found out", LIE_MAIN, false},
        {"one that lies about the folder alone is found out", LIE_FOLDER, false},
        {"a store that does not sync is found out", 0, true},
    };
    struct bench bench;
    FILE *file;

    bench_init(&bench);
    file = fopen(bench.path, "w"); /* for the locks; the rows are elsewhere */
    if (!file || fputs("locks", file) < 0 || fclose(file) != 0)
        return 1;
    test_power(&bench);
    test_sync_fails(&bench);
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        test_plant(&bench, &plants[i]);
    bench_done(&bench);
    return tap_done();
}
