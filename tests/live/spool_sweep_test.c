/* spool_sweep_test.c: files of the spool go that no job reads: a few at a time leaves the same as all at once, and what is used meanwhile stays. */
#include "common/folder.h"
#include "common/rounds.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "live/customerd/spool.h"

#include <sodium.h>
#include <time.h>

#define USERS 4
#define FILES 30
#define LATER ((int64_t)time(NULL) + SPOOL_KEPT + 10)

static const char *const users[USERS] = {"alice", "bob", "carol", "dora"};

static void file_hash(uint32_t number, char ret[HASH_DIGITS + 1], char bytes[16], size_t *ret_len)
{
    *ret_len = (size_t)snprintf(bytes, 16, "file %u", number);
    hash_bytes(bytes, *ret_len, ret);
}

/* The account sends that file, or all but its last byte. */
static void file_send(struct spool *spool, const char *who, uint32_t number, bool whole)
{
    char hash[HASH_DIGITS + 1], bytes[16];
    struct err err = {0};
    uint64_t have;
    size_t len;

    file_hash(number, hash, bytes, &len);
    spool_put(spool, who, hash, &(struct piece){.bytes = bytes, .len = whole ? len : len - 1, .size = (int64_t)len},
              &have, &err);
}

static bool file_is_held(struct spool *spool, const char *who, uint32_t number)
{
    char hash[HASH_DIGITS + 1], bytes[16];
    size_t len;
    bool whole;

    file_hash(number, hash, bytes, &len);
    spool_have(spool, who, hash, &whole);
    return whole;
}

/* Jobs name every third file. */
static bool named_third(void *user, const char *hash)
{
    for (uint32_t i = 0; i < FILES; i += 3) {
        char other[HASH_DIGITS + 1], bytes[16];
        size_t len;

        file_hash(i, other, bytes, &len);
        if (!strcmp(hash, other))
            return true;
    }
    (void)user;
    return false;
}

static bool named_none(void *user, const char *hash)
{
    (void)user;
    (void)hash;
    return false;
}

/* Returns how many steps it took; `*ret_most`: how many files went in one of them at the most. */
static uint32_t sweep_in(struct spool *spool, uint32_t most, spool_named_fn *named, uint32_t *ret_most)
{
    struct spool_sweep *sweep = spool_sweep_new(spool);
    uint32_t steps = 1, gone = 0;

    for (*ret_most = 0; spool_sweep_step(sweep, LATER, most, named, NULL); steps++) {
        uint32_t now = spool_sweep_gone(sweep);

        *ret_most = now - gone > *ret_most ? now - gone : *ret_most;
        gone = now;
    }
    spool_sweep_free(sweep);
    return steps;
}

static struct spool *spool_open_in(const struct folder *folder, const char *name)
{
    struct err err = {0};
    struct spool *spool = spool_new(folder_path(folder, name), 1 << 20, &err);

    if (!spool) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    spool_set_own(spool, "owner");
    return spool;
}

/* The two have the same: also after a restart, which counts anew. */
static bool spools_agree(struct spool *a, struct spool *b)
{
    for (uint32_t file = 0; file < FILES; file++)
        for (int who = 0; who < USERS; who++)
            if (file_is_held(a, users[who], file) != file_is_held(b, users[who], file))
                return false;
    return spool_bytes(a) == spool_bytes(b);
}

static void check_slices(const struct folder *folder)
{
    uint64_t rounds = lang_rounds(20), seed = lang_setting("BERTH_SEED", 1);
    bool same = true, few = true, lasting = true;

    for (uint64_t round = 0; round < rounds && same && few && lasting; round++, seed++) {
        struct spool *spools[2];
        uint32_t most, slice, steps;
        char names[2][32];
        struct rng rng;

        rng_init(&rng, seed);
        for (int i = 0; i < 2; i++) {
            snprintf(names[i], sizeof names[i], "%c%llu", 'a' + i, (unsigned long long)round);
            spools[i] = spool_open_in(folder, names[i]);
        }
        for (int i = 0; i < 2 * FILES; i++) {
            const char *who = users[rng_below(&rng, USERS)];
            uint32_t file = (uint32_t)rng_below(&rng, FILES);
            bool whole = rng_below(&rng, 5) != 0;

            file_send(spools[0], who, file, whole);
            file_send(spools[1], who, file, whole);
        }
        slice = 1 + (uint32_t)rng_below(&rng, 4);
        sweep_in(spools[0], UINT32_MAX, named_third, &most);
        steps = sweep_in(spools[1], slice, named_third, &most);
        few = most <= slice && steps >= FILES / 3 / slice;
        same = spools_agree(spools[0], spools[1]);
        for (int i = 0; i < 2; i++) {
            uint64_t bytes = spool_bytes(spools[i]);

            spool_free(spools[i]);
            spools[i] = spool_open_in(folder, names[i]);
            lasting = lasting && spool_bytes(spools[i]) == bytes;
        }
        lasting = lasting && spools_agree(spools[0], spools[1]);
        for (int i = 0; i < 2; i++)
            spool_free(spools[i]);
        if (!same || !few || !lasting)
            tap_diag("BERTH_SEED=%llu", (unsigned long long)seed);
    }
    tap_ok(few, "a step looks at so many files and no more");
    tap_ok(same, "a few at a time leaves the same as all at once");
    tap_ok(lasting, "and what is counted is what is there");
}

/* Steps one by one until the whole files have gone, and their holders are still to be looked for. */
static struct spool_sweep *sweep_half(struct spool *spool, uint32_t files)
{
    struct spool_sweep *sweep = spool_sweep_new(spool);

    while (spool_sweep_gone(sweep) < files && spool_sweep_step(sweep, LATER, 1, named_none, NULL))
        ;
    return sweep;
}

static void sweep_finish(struct spool_sweep *sweep)
{
    while (spool_sweep_step(sweep, LATER, 1, named_none, NULL))
        ;
    spool_sweep_free(sweep);
}

/* Of that account all that it may have is taken: how many files of one byte does it get in beside? */
static uint32_t files_fit(struct spool *spool, const char *who)
{
    uint32_t count = 0;

    for (uint32_t i = 100; i < 110; i++) {
        file_send(spool, who, i, true);
        count += file_is_held(spool, who, i);
    }
    return count;
}

static void check_again(const struct folder *folder)
{
    struct spool *spool = spool_open_in(folder, "again");
    struct spool_sweep *sweep;

    spool_set_files(spool, 5);
    file_send(spool, "alice", 1, true);
    file_send(spool, "bob", 1, true);
    file_send(spool, "bob", 2, true);
    sweep = sweep_half(spool, 2);
    tap_ok(!file_is_held(spool, "alice", 1) && !spool_bytes(spool), "a file goes before it is known who has sent it");
    file_send(spool, "alice", 1, true);
    sweep_finish(sweep);
    tap_ok(file_is_held(spool, "alice", 1) && spool_bytes(spool) == 6, "who sends it again meanwhile has it again");
    tap_ok(files_fit(spool, "alice") == 4 && !file_is_held(spool, "bob", 2), "and it counts for him once");
    spool_free(spool);
    spool = spool_open_in(folder, "again");
    spool_set_files(spool, 5);
    tap_ok(file_is_held(spool, "alice", 1) && files_fit(spool, "alice") == 4, "so it is after a restart");
    spool_free(spool);
}

/* A file that was sent two days ago. */
static void file_age(const struct folder *folder, uint32_t number)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - 2 * SPOOL_KEPT}, {.tv_sec = time(NULL) - 2 * SPOOL_KEPT}};
    char hash[HASH_DIGITS + 1], bytes[16], name[HASH_DIGITS + 16];
    size_t len;

    file_hash(number, hash, bytes, &len);
    snprintf(name, sizeof name, "used/%s", hash);
    utimensat(AT_FDCWD, folder_path(folder, name), times, 0);
}

static void check_used(const struct folder *folder)
{
    struct spool *spool = spool_open_in(folder, "used");
    struct spool_sweep *sweep = spool_sweep_new(spool);
    char hash[HASH_DIGITS + 1], bytes[16];
    size_t len;
    bool whole;

    for (uint32_t i = 1; i <= 2; i++) {
        file_send(spool, "alice", i, true);
        file_age(folder, i);
    }
    file_hash(1, hash, bytes, &len);
    tap_ok(spool_take(spool, "alice", hash, &whole) == len && whole, "a job is submitted that reads an old file");
    while (spool_sweep_step(sweep, time(NULL), 1, named_none, NULL))
        ;
    tap_ok(spool_sweep_gone(sweep) == 1 && file_is_held(spool, "alice", 1) && !file_is_held(spool, "alice", 2),
           "it stays, though the job came after the queue was gone through");
    spool_sweep_free(sweep);
    tap_ok(!spool_take(spool, "bob", hash, &whole) && !whole, "of others it is not taken");
    spool_free(spool);
}

int main(void)
{
    struct folder folder;

    if (sodium_init() < 0)
        return 1;
    folder_init(&folder);
    check_slices(&folder);
    check_again(&folder);
    check_used(&folder);
    folder_done(&folder);
    return tap_done();
}
