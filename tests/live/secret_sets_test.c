/* secret_sets_test.c: secrets of jobs: bundles, boxes, and what a customer keeps of them, with a real store. */
#define _GNU_SOURCE /* memmem */
#include "common/store.h"

#include "lang/base/rng.h"
#include "live/auth/secret_box.h"
#include "live/customerd/secret_sets.h"
#include "sys/secret_bundle.h"

#include <fcntl.h>
#include <sys/stat.h>

#define NOW INT64_C(1000000)

/* --------------------------------------------------------------------------------------------------------------- bundles */

static int bundle_add(struct buf *bundle, const char *name, const char *bytes)
{
    struct err err;

    return secret_bundle_add(bundle, name, strlen(name), bytes, strlen(bytes), &err);
}

static void test_names(void)
{
    static const struct {
        const char *name;
        bool good;
    } rows[] = {{"token", true}, {"a.b_c-9", true}, {"..x", false}, {".", false},   {"", false},
                {"../x", false}, {"a/b", false},    {"a b", false}, {"a\n", false}, {"\xc3\xa4", false}};
    char name[SECRET_NAME_MAX + 2];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(secret_name_is_good(rows[i].name, strlen(rows[i].name)) == rows[i].good, "name %zu is %s", i,
               rows[i].good ? "good" : "refused");
    memset(name, 'a', sizeof name);
    tap_ok(secret_name_is_good(name, SECRET_NAME_MAX) && !secret_name_is_good(name, SECRET_NAME_MAX + 1),
           "a name has at most 64 bytes");
    tap_ok(!secret_name_is_good("a\0b", 3), "and no NUL");
}

static void test_bundle(void)
{
    static char large[SECRET_BYTES_MAX + 1];
    struct secret secret;
    struct err err = {0};
    struct buf bundle;
    char name[8];

    buf_init(&bundle);
    tap_ok(secret_bundle_is_good("", 0), "no secrets are a bundle");
    tap_ok(bundle_add(&bundle, "a", "one") == 0 && bundle_add(&bundle, "b", "") == 0, "secrets are added");
    tap_ok(bundle_add(&bundle, "a", "two") < 0 && bundle_add(&bundle, "../a", "two") < 0,
           "but none twice, and none of a bad name");
    tap_ok(secret_bundle_add(&bundle, "c", 1, large, sizeof large, &err) < 0 && strstr(err.text, "at most 65536"),
           "and none that is too large");
    tap_ok(secret_bundle_is_good(bundle.text, bundle.len), "what was added is a bundle");
    tap_ok(secret_bundle_find(bundle.text, bundle.len, "a", 1, &secret) && secret.len == 3 &&
               !memcmp(secret.bytes, "one", 3),
           "in which each is found");
    tap_ok(!secret_bundle_find(bundle.text, bundle.len, "c", 1, &secret), "and no other");
    for (int i = 0; i < SECRETS_MAX - 2; i++) {
        snprintf(name, sizeof name, "n%d", i);
        bundle_add(&bundle, name, "x");
    }
    tap_ok(secret_bundle_is_good(bundle.text, bundle.len) && bundle_add(&bundle, "more", "x") < 0,
           "there are at most 16");
    buf_reset(&bundle);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "n%d", i);
        tap_ok((secret_bundle_add(&bundle, name, 2, large, SECRET_BYTES_MAX, &err) == 0) == (i < 3),
               "%d large ones are %s", i + 1, i < 3 ? "taken" : "too many");
    }
    buf_reset(&bundle);
    buf_add(&bundle, "\1a\0\0\0\0\1a\0\0\0\0", 12);
    tap_ok(!secret_bundle_is_good(bundle.text, bundle.len), "a bundle with a name twice is none");
    secret_wipe(&bundle);
}

/* Whatever the bytes are: nothing outside of them is read, and what is given lies within. */
static void test_noise(void)
{
    struct rng rng;
    bool inside = true;

    rng_init(&rng, 7);
    for (int n = 0; n < 20000; n++) {
        size_t len = rng_below(&rng, 40), at = 0;
        char *bytes = mem_alloc(len + 1);
        struct secret secret;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(rng_below(&rng, 3) ? rng_below(&rng, 4) : 'a' + rng_below(&rng, 3));
        bytes = realloc(bytes, len ? len : 1); /* so that the sanitizer sees its end */
        while (secret_bundle_next(bytes, len, &at, &secret) > 0)
            inside =
                inside && secret.name > bytes && (const char *)secret.bytes + secret.len <= bytes + len && at <= len;
        secret_bundle_is_good(bytes, len);
        free(bytes);
    }
    tap_ok(inside, "of any bytes only what lies within is given");
}

/* ----------------------------------------------------------------------------------------------------------------- boxes */

static bool opens(const struct box_keys *keys, struct secret_place place, const struct buf *box, size_t len)
{
    struct err err = {0};
    struct buf out;
    bool good;

    buf_init(&out);
    good = secret_box_open(&out, keys, &place, box->text, len, &err) == 0;
    tap_ok(good ? out.len > 0 : !out.len && *err.text, "  what is given is whole, or nothing and the reason");
    secret_wipe(&out);
    return good;
}

static void test_box(void)
{
    struct secret_place place = {SECRET_SENT, {1, 2, 3}};
    struct box_keys mine, others;
    struct buf bundle, box;
    struct err err;

    box_keys_draw(&mine);
    box_keys_draw(&others);
    buf_init(&bundle);
    buf_init(&box);
    bundle_add(&bundle, "token", "hunter2");
    tap_ok(secret_box_seal(&box, &mine.open, &place, bundle.text, bundle.len, &err) == 0, "secrets are sealed");
    tap_ok(!memmem(box.text, box.len, "hunter2", 7) && !memmem(box.text, box.len, "token", 5), "nobody reads them");
    tap_ok(opens(&mine, place, &box, box.len), "but whom they are for");
    tap_ok(!opens(&others, place, &box, box.len), "another key opens nothing");
    tap_ok(!opens(&mine, (struct secret_place){SECRET_SENT, {1, 2, 4}}, &box, box.len),
           "those of another try are refused");
    tap_ok(!opens(&mine, (struct secret_place){SECRET_KEPT, {1, 2, 3}}, &box, box.len), "and those for another use");
    tap_ok(!opens(&mine, place, &box, box.len - 1) && !opens(&mine, place, &box, 0), "and what was cut");
    box.text[box.len - 1] ^= 1;
    tap_ok(!opens(&mine, place, &box, box.len), "and what was changed");
    buf_reset(&box);
    secret_box_seal(&box, &mine.open, &place, "no bundle", 9, &err);
    tap_ok(!opens(&mine, place, &box, box.len), "and what is no bundle");
    box_keys_done(&mine);
    buf_done(&box);
    secret_wipe(&bundle);
}

/* ------------------------------------------------------------------------------------------------------------------ sets */

static uint64_t set_add(struct secret_sets *sets, const char *owner, const char *bytes)
{
    struct err err = {0};
    struct buf bundle;
    uint64_t id = 0;

    buf_init(&bundle);
    bundle_add(&bundle, "token", bytes);
    if (secret_sets_add(sets, owner, bundle.text, bundle.len, NOW, &id, &err) != 0)
        tap_diag("%s", err.text);
    secret_wipe(&bundle);
    return id;
}

static bool set_has(const struct secret_sets *sets, uint64_t id, const char *bytes)
{
    struct secret secret = {0};
    struct err err;
    struct buf bundle;
    bool has;

    buf_init(&bundle);
    has = secret_sets_open(sets, id, &bundle, &err) == 0 &&
          secret_bundle_find(bundle.text, bundle.len, "token", 5, &secret) && secret.len == strlen(bytes) &&
          !memcmp(secret.bytes, bytes, secret.len);
    secret_wipe(&bundle);
    return has;
}

/* One look over the jobs, of which one that runs names `live` and one that is over `over`. */
static uint32_t look(struct secret_sets *sets, uint64_t live, uint64_t over, int64_t now)
{
    secret_sets_mark_begin(sets);
    secret_sets_mark(sets, live, false);
    secret_sets_mark(sets, over, true);
    return secret_sets_mark_end(sets, now);
}

static void test_sets(const struct bench *bench)
{
    struct shelf *shelf = open_shelf(bench);
    struct err err = {0};
    struct secret_sets *sets = secret_sets_new(shelf, bench->folder, &err);
    char key[160];
    uint64_t a, b, c;

    if (!sets) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    a = set_add(sets, "alice", "first");
    b = set_add(sets, "bob", "second");
    c = set_add(sets, "bob", "third");
    tap_ok(a && b && c && shelf->kind->commit(shelf, &err) == 0, "secrets are kept");
    tap_ok(set_has(sets, a, "first") && set_has(sets, b, "second"), "each of them as it came");
    tap_ok(!secret_sets_hold(sets, a, "bob") && !secret_sets_hold(sets, 77, "bob"), "nobody holds another's, or none");
    secret_sets_free(sets);
    shelf->kind->close(shelf);

    shelf = open_shelf(bench);
    sets = secret_sets_new(shelf, bench->folder, &err);
    tap_ok(sets && secret_sets_count(sets) == 3 && set_has(sets, a, "first"), "they are there after a restart");
    tap_ok(look(sets, a, b, NOW) == 1 && set_has(sets, a, "first") && !set_has(sets, b, "second"),
           "those of a job that is over are removed, and those of one that is not stay");
    tap_ok(set_has(sets, c, "third") && look(sets, a, 0, NOW + SECRET_SETS_KEPT - 1) == 0,
           "those that no job has named stay for an hour");
    tap_ok(secret_sets_hold(sets, c, "bob") && look(sets, a, 0, NOW + SECRET_SETS_KEPT) == 0,
           "and as long as somebody submits with them");
    secret_sets_let(sets, c);
    tap_ok(look(sets, a, 0, NOW + SECRET_SETS_KEPT) == 1 && secret_sets_count(sets) == 1, "then they go");
    secret_sets_ended(sets, a);
    tap_ok(secret_sets_are_due(sets, NOW) && look(sets, 0, 0, NOW) == 1 && !secret_sets_count(sets) &&
               !secret_sets_are_due(sets, NOW + 3600),
           "when a job ends it is looked at once, and when none are left never");
    shelf->kind->commit(shelf, &err);
    a = set_add(sets, "alice", "again");
    shelf->kind->commit(shelf, &err);
    secret_sets_free(sets);

    snprintf(key, sizeof key, "%s/" SECRET_KEY_FILE, bench->folder);
    chmod(key, 0644);
    tap_ok(!secret_sets_new(shelf, bench->folder, &err) && *err.text, "a key that others can read is refused: %s",
           err.text);
    unlink(key);
    sets = secret_sets_new(shelf, bench->folder, &err);
    tap_ok(sets && secret_sets_count(sets) == 1 && !set_has(sets, a, "again"),
           "without the key the store opens nothing");
    secret_sets_free(sets);
    shelf->kind->close(shelf);
    unlink(key);
}

int main(void)
{
    struct bench bench;

    test_names();
    test_bundle();
    test_noise();
    test_box();
    bench_init(&bench);
    test_sets(&bench);
    bench_done(&bench);
    return tap_done();
}
