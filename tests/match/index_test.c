/* index_test.c: what an index promises beyond finding what trying every pair finds (twin_index.c): that it need not evaluate, what
 * ads share, that it adapts, and what its plan says. */
#include "common/lang.h"
#include "common/tap.h"

#include "match/index/index.h"
#include "match/pair/match.h"

static const struct env noon = {.now = 1772366400}; /* 2026-03-01T12:00:00Z */

struct pool {
    struct lang *lang;
    struct index *index;
    struct buf found; /* the numbers that a probe found, in order */
};

static struct tree *read_ad(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(pool->lang, &dialect_classic, text, &err);

    if (!ad)
        tap_diag("%s: %u:%u: %s", text, err.line, err.column, err.text);
    return ad;
}

static void pool_init(struct pool *pool, struct lang *lang)
{
    *pool = (struct pool){.lang = lang, .index = index_new()};
    buf_init(&pool->found);
}

static void pool_done(struct pool *pool)
{
    index_free(pool->index);
    buf_done(&pool->found);
    arena_reset(&pool->lang->arena);
}

static void put(struct pool *pool, uint32_t id, const char *text)
{
    struct tree *ad = read_ad(pool, text);
    const char *why;

    index_put(pool->index, &noon, &pool->lang->arena, id, ad);
    if (!index_valid(pool->index, &why))
        tap_diag("after %s: %s", text, why);
    tree_unref(ad);
}

static void learn(struct pool *pool, const char *text)
{
    struct tree *ad = read_ad(pool, text);

    index_learn(pool->index, &noon, &pool->lang->arena, ad);
    tree_unref(ad);
}

static void note(void *user, uint32_t id)
{
    buf_addf(user, "%s%u", ((struct buf *)user)->len ? " " : "", id);
}

/* The numbers found, as text. */
static const char *probe_at(struct pool *pool, const struct env *env, const char *text)
{
    struct tree *ad = read_ad(pool, text);

    buf_reset(&pool->found);
    index_probe(pool->index, env, &pool->lang->arena, ad, note, &pool->found);
    tree_unref(ad);
    return buf_string(&pool->found);
}

static const char *probe(struct pool *pool, const char *text)
{
    return probe_at(pool, &noon, text);
}

/* Requests for which nothing is evaluated once the index knows what they ask. */
static const struct exact {
    const char *sentence, *offers[3], *request, *found;
} exacts[] = {
    {"bounds from both sides are told by the lines",
     {"[ a = 1; Constraint = other.b < 3 ]", "[ a = 2; Constraint = other.b > 3 ]", "[ a = 3 ]"},
     "[ b = 2; Constraint = other.a >= 1 && other.a < 3 ]",
     "0"},
    {"so are strings, whatever their case",
     {"[ s = \"X\" ]", "[ s = \"y\" ]", "[ s = 1 ]"},
     "[ Constraint = other.s == \"x\" ]",
     "0"},
    {"what is missing is not there",
     {"[ a = 1 ]", "[]", "[ a = undefined ]"},
     "[ Constraint = other.a is undefined ]",
     "1 2"},
    {"a membership is a choice between values",
     {"[ a = 1 ]", "[ a = 2 ]", "[ a = 3 ]"},
     "[ Constraint = member(other.a, { 1, 3, \"x\" }) ]",
     "0 2"},
    {"an error in one part of a disjunction spoils it, and the lines know",
     {"[ a = 1; b = \"x\" ]", "[ a = 1 ]", "[ b = 5 ]"},
     "[ Constraint = other.a == 1 || other.b > 4 ]",
     "1 2"},
    {"the same in what the offers ask",
     {"[ Constraint = other.a == 1 || other.b > 4 ]", "[ Constraint = other.a == 1 || other.c > 4 ]", "[]"},
     "[ a = 1; b = \"x\" ]",
     "1 2"},
    {"a pattern is told by what it said of the same value before",
     {"[ s = \"x86\" ]", "[ s = \"arm\" ]", "[ s = 1 ]"},
     "[ Constraint = regexp(\"^x\", other.s) || other.s == \"ARM\" ]",
     "0 1"},
    {"so is the order of strings",
     {"[ s = \"a\" ]", "[ s = \"M\" ]", "[ s = \"z\" ]"},
     "[ Constraint = other.s > \"b\" && other.s <= \"m\" ]",
     "1"},
    {"and what a list holds",
     {"[ l = { 1, 2 } ]", "[ l = { 2, 3, 4 } ]", "[ l = 2 ]"},
     "[ Constraint = member(2, other.l) && size(other.l) < 3 ]",
     "0"},
    {"a membership that an offer asks for",
     {"[ Constraint = member(other.a, { 1, 2 }) ]", "[ Constraint = other.a != 1 ]", "[]"},
     "[ a = 1 ]",
     "0 2"},
    {"what an ad says of itself is folded in first",
     {"[ m = 5; Constraint = other.a <= m * 2 ]", "[ m = 1; Constraint = other.a <= m ]", "[]"},
     "[ a = 7 ]",
     "0 2"},
    {"a path into an ad is an attribute like others",
     {"[ a = [ b = 1 ] ]", "[ a = [ c = 1 ]; b = 1 ]", "[ a = 1 ]"},
     "[ Constraint = other.a.b == 1 ]",
     "0 1"},
    {"from either side",
     {"[ Constraint = other.a.b > 1 ]", "[ Constraint = a.b > 2 ]", "[ Constraint = other.b.a > 1 ]"},
     "[ a = [ b = 2 ] ]",
     "0"},
    {"what is missing in it is undefined",
     {"[ a = [ b = 1 ] ]", "[ a = [] ]", "[]"},
     "[ Constraint = other.a.b is undefined ]",
     "1 2"},
    {"a negation is carried to the comparisons",
     {"[ a = 1 ]", "[ a = 2 ]", "[ a = 3 ]"},
     "[ Constraint = !(other.a < 2 || other.a > 2) ]",
     "1"},
};

static void check_exact(struct lang *lang, const struct exact *exact)
{
    struct pool pool;
    struct tree *ads[3];
    const char *found;

    pool_init(&pool, lang);
    learn(&pool, exact->request);
    for (uint32_t i = 0; i < 3; i++)
        ads[i] = read_ad(&pool, exact->offers[i]);
    index_build(pool.index, &noon, &lang->arena, ads, 3);
    for (uint32_t i = 0; i < 3; i++)
        tree_unref(ads[i]);
    found = probe(&pool, exact->request);
    tap_ok(!strcmp(found, exact->found) && index_probed(pool.index).evaluations == 0, "%s", exact->sentence);
    if (strcmp(found, exact->found) != 0 || index_probed(pool.index).evaluations)
        tap_diag("found %s, expected %s; %llu evaluations", found, exact->found,
                 (unsigned long long)index_probed(pool.index).evaluations);
    pool_done(&pool);
}

static void check_lists(struct lang *lang)
{
    struct pool pool;

    pool_init(&pool, lang);
    learn(&pool, "[ Constraint = member(\"fft\", other.Has) ]");
    for (uint32_t i = 0; i < 200; i++) {
        char text[80];

        snprintf(text, sizeof text, "[ Has = { \"lib%u\", %s } ]", i, i % 50 == 7 ? "\"FFT\"" : "1");
        put(&pool, i, text);
    }
    tap_ok(!strcmp(probe(&pool, "[ Constraint = member(\"fft\", other.Has) ]"), "7 57 107 157"),
           "an element of a list is found");
    tap_ok(index_probed(pool.index).evaluations < 30, "by evaluating those only that share its slab");
    pool_done(&pool);
}

static void check_adapts(struct lang *lang)
{
    struct pool pool;

    pool_init(&pool, lang);
    for (uint32_t i = 0; i < 100; i++)
        put(&pool, i, i % 10 ? "[ a = 1 ]" : "[ a = 2 ]");
    probe(&pool, "[ Constraint = other.a == 2 ]");
    tap_ok(index_probed(pool.index).evaluations == 100,
           "an attribute that one ad asks for has no dimension: all are evaluated");
    probe(&pool, "[ Constraint = other.a == 2 ]");
    tap_ok(index_probed(pool.index).evaluations == 0 && index_probed(pool.index).found == 10,
           "when a second one asks, it has");
    pool_done(&pool);
}

static void check_many_names(struct lang *lang)
{
    struct pool pool;
    char text[80];
    bool right = true;

    pool_init(&pool, lang);
    put(&pool, 0, "[ a299 = 1; a0 = 1 ]");
    put(&pool, 1, "[ a299 = 2 ]");
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "[ Constraint = other.a%d == 1 ]", i);
        probe(&pool, text);
        right = right && !strcmp(probe(&pool, text), i == 0 || i == 299 ? "0" : "");
    }
    tap_ok(right && index_probed(pool.index).evaluations == 0,
           "of very many names those that are asked for have dimensions");
    right = !strcmp(probe(&pool, "[ Constraint = other.a0 == 1 ]"), "0");
    tap_ok(right && index_probed(pool.index).evaluations == 2 && index_valid(pool.index, NULL),
           "the others have lost theirs");
    pool_done(&pool);
}

static void check_strings(struct lang *lang)
{
    struct pool pool;
    char text[100];
    size_t bytes;

    pool_init(&pool, lang);
    learn(&pool, "[ Constraint = other.s == \"x\" ]");
    put(&pool, 1, "[ s = \"stays\"; Constraint = other.t != \"no\" ]");
    put(&pool, 2, "[ s = \"stays\"; Constraint = other.t == \"yes\" ]");
    for (int i = 0; i < 6000; i++) {
        struct tree *ad;

        snprintf(text, sizeof text, "[ s = \"string number %d\"; Constraint = other.t == \"another %d\" ]", i, i);
        ad = read_ad(&pool, text);
        index_put(pool.index, &noon, &lang->arena, 0, ad);
        tree_unref(ad);
    }
    bytes = index_bytes(pool.index);
    for (int i = 6000; i < 60000; i++) {
        struct tree *ad;

        snprintf(text, sizeof text, "[ s = \"string number %d\"; Constraint = other.t == \"another %d\" ]", i, i);
        ad = read_ad(&pool, text);
        index_put(pool.index, &noon, &lang->arena, 0, ad);
        tree_unref(ad);
    }
    tap_ok(index_bytes(pool.index) < bytes * 2 && index_valid(pool.index, NULL),
           "strings that no ad has any more are forgotten");
    tap_ok(!strcmp(probe(&pool, "[ t = \"yes\"; Constraint = other.s == \"stays\" ]"), "1 2") &&
               !strcmp(probe(&pool, "[ t = \"another 59999\"; Constraint = other.s != \"stays\" ]"), "0"),
           "those that ads have are known");
    pool_done(&pool);
}

/* What negations make of a constraint is a conjunction within a conjunction. */
static void check_negations(struct lang *lang)
{
    const char *asks = "[ c = 2; Constraint = !(!(other.a < 2 && other.k != \"no\") || other.f) ]";
    struct pool pool;

    pool_init(&pool, lang);
    learn(&pool, asks);
    put(&pool, 0, "[ a = 1; k = \"yes\"; f = false ]");
    put(&pool, 1, "[ a = 3; k = \"yes\"; f = false ]");
    put(&pool, 2, "[ a = 1; k = \"no\"; f = false ]");
    put(&pool, 3, "[ a = 1; k = \"yes\"; f = true ]");
    put(&pool, 4,
        "[ a = 1; k = \"yes\"; f = false; Constraint = !(!(other.c < 2 && other.c > 0) || other.d is error) ]");
    tap_ok(!strcmp(probe(&pool, asks), "0"), "clauses that are negated twice are not forgotten");
    pool_done(&pool);
}

/* Computing clauses is work that strangers choose: it counts as evaluating them does, and so do the columns for it. */
static void check_meter(struct lang *lang)
{
    const char *asks = "[ Constraint = other.a + other.b > 150 ]";
    uint64_t meter = 0, first, again;
    struct env metered = noon;
    struct pool pool;
    size_t bytes;

    metered.meter = &meter;
    pool_init(&pool, lang);
    for (uint32_t id = 0; id < 100; id++) {
        char text[60];

        snprintf(text, sizeof text, "[ a = %u; b = 100 ]", (unsigned)id);
        put(&pool, id, text);
    }
    bytes = index_bytes(pool.index);
    probe_at(&pool, &metered, asks);
    first = meter;
    probe_at(&pool, &metered, asks);
    again = meter - first;
    tap_ok(index_probed(pool.index).found == 49 && index_probed(pool.index).evaluations == 0,
           "a sum of attributes is computed");
    tap_ok(again >= 100 * 5, "each step of it counts, for each ad");
    tap_ok(first >= again + 2 * 100, "and so does reading the attributes for the first time");
    tap_ok(index_bytes(pool.index) >= bytes + 2 * 100 * 9, "their memory counts");
    pool_done(&pool);
}

static uint64_t metered_probe(struct pool *pool, uint64_t *meter, uint64_t end, const char *asks)
{
    struct env metered = noon;
    uint64_t before = *meter;

    metered.meter = meter;
    metered.meter_end = end;
    probe_at(pool, &metered, asks);
    return *meter - before;
}

/* So are answers that are remembered, and what makes them; what takes long counts each time, and the memory for it all has an end. */
static void check_answers(struct lang *lang)
{
    const char *asks = "[ Constraint = regexp(\"^m[0-9]*7$\", other.s) ]",
               *dear = "[ Constraint = regexp(\"^(a|aa)+$\", other.t) ]";
    uint64_t meter = 0, first, again, changed;
    size_t bytes, most = 0;
    struct pool pool;
    char text[600];

    pool_init(&pool, lang);
    for (uint32_t id = 0; id < 100; id++) {
        snprintf(text, sizeof text, "[ s = \"m%u\"; t = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%u\" ]",
                 (unsigned)id, (unsigned)id);
        put(&pool, id, text);
    }
    bytes = index_bytes(pool.index);
    first = metered_probe(&pool, &meter, 0, asks);
    again = metered_probe(&pool, &meter, 0, asks);
    tap_ok(index_probed(pool.index).found == 10 && index_probed(pool.index).evaluations == 0 &&
               index_bytes(pool.index) >= bytes + 100 * 4,
           "a pattern is matched once for each value");
    tap_ok(first >= 100 * 20 && again >= 100 && again * 10 < first, "the first time counts as matching does");
    put(&pool, 50, "[ s = \"m997\" ]");
    changed = metered_probe(&pool, &meter, 0, asks);
    tap_ok(index_probed(pool.index).found == 11 && changed > again + 20, "a value that is new is matched, and counts");
    first = metered_probe(&pool, &meter, 0, dear);
    again = metered_probe(&pool, &meter, 0, dear);
    tap_ok(index_probed(pool.index).found == 0 && index_probed(pool.index).evaluations == 99 && again >= 99 * 10000 &&
               first >= again,
           "what takes long is not remembered, and counts each time");
    again = metered_probe(&pool, &meter, 1, dear);
    tap_ok(again <= 100 * 3 * EVAL_SPENT_STEPS, "who has spent the budget gets no more of it by being computed");
    for (uint32_t i = 0; i < 40000; i++) {
        struct tree *ad;

        snprintf(text, sizeof text, "[ s = \"%0490u\" ]", (unsigned)i);
        ad = read_ad(&pool, text);
        index_swap(pool.index, 1, ad);
        tree_unref(ad);
        probe(&pool, asks);
        most = index_bytes(pool.index) > most ? index_bytes(pool.index) : most;
    }
    tap_ok(most > 8 << 20 && most < 48 << 20, "values that nobody has any more are forgotten when they are many");
    if (most <= 8 << 20 || most >= 48 << 20)
        tap_diag("%zu bytes at most", most);
    pool_done(&pool);
}

static void check_time(struct lang *lang)
{
    struct env evening = noon;
    struct pool pool;

    evening.now += 10 * 3600;
    pool_init(&pool, lang);
    put(&pool, 0, "[ Constraint = DayTime() > '20:00' && other.a == 1 ]");
    put(&pool, 1, "[ Constraint = DayTime() < '20:00' && other.a == 1 ]");
    tap_ok(!strcmp(probe(&pool, "[ a = 1 ]"), "1"), "a constraint that reads the time holds for that time");
    index_refresh(pool.index, &evening, &lang->arena);
    tap_ok(!strcmp(probe_at(&pool, &evening, "[ a = 1 ]"), "0"), "and is read again when it has moved");
    pool_done(&pool);
}

/* Requests can be what is indexed as well. */
static void check_other_side(struct lang *lang)
{
    struct pool pool;

    pool_init(&pool, lang);
    learn(&pool, "[ Constraint = other.Size <= 8 && other.Owner != \"rival\" ]");
    put(&pool, 0, "[ Owner = \"ann\"; Size = 4; Constraint = other.Memory >= Size * 2 ]");
    put(&pool, 1, "[ Owner = \"ann\"; Size = 16; Constraint = other.Memory >= Size * 2 ]");
    put(&pool, 2, "[ Owner = \"rival\"; Size = 1; Constraint = other.Memory >= Size * 2 ]");
    tap_ok(!strcmp(probe(&pool, "[ Memory = 64; Constraint = other.Size <= 8 && other.Owner != \"rival\" ]"), "0") &&
               index_probed(pool.index).evaluations == 0,
           "an offer finds its requests as a request finds its offers");
    pool_done(&pool);
}

static void check_classes(struct lang *lang)
{
    symbol a = symbols_take(lang->symbols, "a", 1);
    struct pool pool;

    pool_init(&pool, lang);
    index_share(pool.index, lang->symbols, &a, 1, false);
    put(&pool, 3, "[ Name = \"x\"; a = 1; Constraint = other.b < m; m = 5 ]");
    put(&pool, 1, "[ Name = \"y\"; a = 1; Constraint = other.b < m; m = 5 ]");
    put(&pool, 7, "[ Name = \"z\"; a = 1; Constraint = other.b < m; m = 5 ]");
    put(&pool, 2, "[ Name = \"u\"; a = 1; Constraint = other.b < m; m = 6 ]");
    tap_ok(index_rows(pool.index) == 2, "ads that differ only in what nobody reads share a row");
    tap_ok(!strcmp(probe(&pool, "[ b = 4; Constraint = other.a == 1 ]"), "2 1 3 7") ||
               !strcmp(buf_string(&pool.found), "1 3 7 2"),
           "all of them are found");
    tap_ok(!strcmp(probe(&pool, "[ b = 5; Constraint = other.a == 1 ]"), "2"),
           "an attribute that the constraint reads tells them apart");
    put(&pool, 3, "[ Name = \"again\"; a = 1; Constraint = other.b < m; m = 5 ]");
    tap_ok(index_rows(pool.index) == 2 && !strcmp(probe(&pool, "[ b = 4; Constraint = other.m == 5 ]"), "1 3 7"),
           "one that is replaced by its like stays where it is");
    put(&pool, 3, "[ a = 3 ]");
    put(&pool, 3, "[ Name = \"back\"; a = 1; Constraint = other.b < m; m = 5 ]");
    tap_ok(index_rows(pool.index) == 2 && !strcmp(probe(&pool, "[ b = 4; Constraint = other.m == 5 ]"), "1 3 7"),
           "one that leaves the middle and comes back is in its place again");
    index_remove(pool.index, 1);
    tap_ok(!strcmp(probe(&pool, "[ b = 4; Constraint = other.m == 5 ]"), "3 7"),
           "when the first goes, the next stands for them");
    put(&pool, 3, "[ a = 2 ]");
    index_remove(pool.index, 7);
    tap_ok(index_rows(pool.index) == 2 && index_valid(pool.index, NULL) && !strcmp(probe(&pool, "[ b = 4 ]"), "2 3"),
           "a class goes with its last member");
    symbols_drop(lang->symbols, a);
    pool_done(&pool);
}

static void note_step(void *user, const struct index_step *step)
{
    buf_addf(user, "%d %s %llu%s\n", (int)step->kind, step->text, (unsigned long long)step->rows,
             step->exact ? " exact" : "");
}

static void check_plan(struct lang *lang)
{
    struct pool pool;
    struct tree *ad;

    pool_init(&pool, lang);
    learn(&pool, "[ Constraint = other.a >= 2 && regexp(\"x\", other.s) ]");
    put(&pool, 0, "[ a = 1; Constraint = other.b == \"x\" ]");
    put(&pool, 1, "[ a = 2; Constraint = other.b == \"x\" ]");
    put(&pool, 2, "[ a = 3; Constraint = other.c > 1 ]");
    ad = read_ad(&pool, "[ b = \"X\"; Constraint = other.a >= 2 && regexp(\"x\", other.s) ]");
    index_plan(pool.index, &noon, &lang->arena, ad, note_step, &pool.found);
    tap_ok(!strcmp(buf_string(&pool.found), "0 other.a >= 2 3\n"
                                            "1 b = \"x\" 3 exact\n"
                                            "1 c is missing 2 exact\n"
                                            "3 rows that are left 2\n"
                                            "4 its constraint 2\n"),
           "a plan tells each set with its size, what is left, and what is evaluated");
    tree_unref(ad);
    pool_done(&pool);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof exacts / sizeof *exacts; i++)
        check_exact(&lang, &exacts[i]);
    check_lists(&lang);
    check_adapts(&lang);
    check_many_names(&lang);
    check_strings(&lang);
    check_negations(&lang);
    check_meter(&lang);
    check_answers(&lang);
    check_time(&lang);
    check_other_side(&lang);
    check_classes(&lang);
    check_plan(&lang);
    lang_done(&lang);
    return tap_done();
}
