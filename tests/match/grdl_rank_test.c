/* Preferences of GRDL: the listings and table 7.1 of chapter 7. */
#include "grdl_world.h"
#include "match/grdl/batch.h"
#include "match/grdl/rank.h"

#define MANY 12

/* The names of the candidates in order of preference; those that are tied stand in braces. */
static void ranking_print(const struct grdl_reading *who, const struct grdl_reading *const *candidates, uint32_t count,
                          uint32_t top, char *out)
{
    struct grdl_ranked ranked[MANY];
    uint32_t found = grdl_rank(who, candidates, count, top, ranked);

    *out = '\0';
    for (uint32_t i = 0; i < found; i++) {
        bool tied_before = i && ranked[i - 1].position == ranked[i].position;
        bool tied_behind = i + 1 < found && ranked[i + 1].position == ranked[i].position;

        if (i)
            strcat(out, " ");
        if (!tied_before && tied_behind)
            strcat(out, "{");
        strcat(out, candidates[ranked[i].candidate]->resource->name);
        if (tied_before && !tied_behind)
            strcat(out, "}");
    }
}

static void prefjob(void)
{
    struct grdl_world w;
    const struct grdl_reading *job, *cheap, *executors[5];
    char order[200];

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    job = say(&w, "task", "prefjob", NULL, NULL, "mhz > @2; cost < @1");
    cheap = say(&w, "task", "cheapjob", NULL, NULL, "cost <");
    executors[0] = say(&w, "executor", "A", "cost 15; mhz 3800", NULL, NULL);
    executors[1] = say(&w, "executor", "B", "cost 10; mhz 2400", NULL, NULL);
    executors[2] = say(&w, "executor", "C", "cost 10; mhz 3000", NULL, NULL);
    executors[3] = say(&w, "executor", "D", "si2k 2.0", NULL, NULL);
    executors[4] = say(&w, "executor", "E", "cost 12", NULL, NULL);
    ranking_print(cheap, executors, 5, 0, order);
    tap_ok(!strcmp(order, "{B C} E A D"), "listing 7.1, by cost alone: %s", order);
    ranking_print(job, executors, 5, 0, order);
    tap_ok(!strcmp(order, "C B E A D"), "listing 7.1: %s", order);
    ranking_print(job, executors, 5, 2, order);
    tap_ok(!strcmp(order, "C B"), "the first two are the first two of all: %s", order);
    ranking_print(say(&w, "task", "any", NULL, NULL, NULL), executors, 5, 0, order);
    tap_ok(!strcmp(order, "{A B C D E}"), "without preferences all are tied, in the order given: %s", order);
    world_end(&w);
}

static void operators_of_table_7_1(void)
{
    static const struct {
        const char *pref, *order;
    } rows[] = {
        /* a: 1, b: 3, c: 5, d: 5, e: 7, f: without a value, g: without the dimension, h: text, i: 2 and 9 */
        {"x <", "a i b {c d} e {f h} g"},      {"x <=", "a i b {c d} e {f h} g"},
        {"x >", "i e {c d} b a {f h} g"},      {"x >=", "i e {c d} b a {f h} g"},
        {"x =", "{a b c d e f h i} g"},        {"x !=", "g {a b c d e f h i}"},
        {"x < 5", "b i a {c d e} {f h} g"},    {"x <= 5", "{c d} b i a e {f h} g"},
        {"x > 5", "e i {a b c d} {f h} g"},    {"x >= 5", "{c d} e i {a b} {f h} g"},
        {"x = 5", "{c d} {a b e f h i} g"},    {"x != 5", "{a b e i} {c d f h} g"},
        {"x >< 4", "{b c d} i {a e} {f h} g"}, {"x <> 4", "i {a e} {b c d} {f h} g"},
        {"x = blue", "h {a b c d e f i} g"},   {"x:MB <", "{a b c d e f h i} g"},
        {"y <", "{a b c d e f g h i}"},
    };
    struct grdl_world w;
    const struct grdl_reading *all[9];
    char order[200];

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    all[0] = say(&w, "e", "a", "x 1", NULL, NULL);
    all[1] = say(&w, "e", "b", "x 3", NULL, NULL);
    all[2] = say(&w, "e", "c", "x 5", NULL, NULL);
    all[3] = say(&w, "e", "d", "x 5.0", NULL, NULL);
    all[4] = say(&w, "e", "e", "x 7", NULL, NULL);
    all[5] = say(&w, "e", "f", "x", NULL, NULL);
    all[6] = say(&w, "e", "g", "z 1", NULL, NULL);
    all[7] = say(&w, "e", "h", "x blue", NULL, NULL);
    all[8] = say(&w, "e", "i", "x 2; x 9", NULL, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ranking_print(say(&w, "t", "t", NULL, NULL, rows[i].pref), all, 9, 0, order);
        if (!tap_ok(!strcmp(order, rows[i].order), "table 7.1: %s orders %s", rows[i].pref, rows[i].order))
            tap_diag("%s", order);
    }
    world_end(&w);
}

static void other_kinds_are_ranked(void)
{
    struct grdl_world w;
    const struct grdl_reading *all[4];
    char order[200];

    world_begin(&w, GRDL_DIMENSION_TRANSFORMING);
    all[0] = say(&w, "e", "a", "openssl 0.9.8a; eta 2008-09-30T10:00; mhz 3000", NULL, NULL);
    all[1] = say(&w, "e", "b", "openssl 0.9.7d; eta 2008-09-30T13:00; ghz 3.4", NULL, NULL);
    all[2] = say(&w, "e", "c", "openssl 1.0.1; eta 2008-10-02; mhz:GHz 2", NULL, NULL);
    all[3] = say(&w, "e", "d", "openssl 0.9.7f; eta 2008-09-30T12:00Z", NULL, NULL);
    ranking_print(say(&w, "t", "t", NULL, NULL, "openssl >"), all, 4, 0, order);
    tap_ok(!strcmp(order, "c a d b"), "the newest version first: %s", order);
    ranking_print(say(&w, "t", "t", NULL, NULL, "openssl >= 0.9.7f"), all, 4, 0, order);
    tap_ok(!strcmp(order, "d a c b"), "the version that is just new enough first: %s", order);
    ranking_print(say(&w, "t", "t", NULL, NULL, "eta >< 2008-09-30T12:00"), all, 4, 0, order);
    tap_ok(!strcmp(order, "d b a c"), "the nearest time first: %s", order);
    ranking_print(say(&w, "t", "t", NULL, NULL, "mhz >"), all, 4, 0, order);
    tap_ok(!strcmp(order, "b a c d"), "the fastest first, in whatever unit and dimension: %s", order);
    world_end(&w);
}

static void listing_7_3(void)
{
    static const struct {
        const char *a, *b;
        bool same, dimension;
        const char *words;
    } rows[] = {
        {"mhz = 3400 @1", "mhz >= 3400 @1", false, false, "p1 and p2 differ in their operator"},
        {"mhz >= 3400 @1", "mhz >= 3400 @2", true, true, "p2 and p3 are the same where each is the first"},
        {"mhz = 3400 @1", "ghz = 3.4 @1", false, true, "p1 and p4 are the same to who can tell mhz from ghz"},
        {"mhz = 3400 @1", "mhz:GHz = 3.4 @1", true, true, "or in another unit"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int transforms = 0; transforms < 2; transforms++) {
            struct grdl_world w;
            const struct grdl_reading *a, *b;

            world_begin(&w, transforms ? GRDL_DIMENSION_TRANSFORMING : GRDL_TYPE_TRANSFORMING);
            a = say(&w, "a", "a", NULL, NULL, rows[i].a);
            b = say(&w, "b", "b", NULL, NULL, rows[i].b);
            tap_ok((grdl_prefs_consistent(a, b) && grdl_prefs_consistent(b, a)) ==
                       (transforms ? rows[i].dimension : rows[i].same),
                   "listing 7.3: %s", rows[i].words);
            world_end(&w);
        }
}

static void consistency_7_4(void)
{
    static const struct {
        const char *a, *b;
        bool consistent;
        const char *words;
    } rows[] = {
        {"x < @1; y > @2", "x < @1", true, "further preferences of lower rank order more, not otherwise"},
        {"x < @1", "x < @1; y > @2", false, "fewer order less"},
        {"y > @1; x < @2", "x < @1", false, "a further one of higher rank orders otherwise"},
        {"x < @3; y > @7", "x < @1; y > @2", true, "ranks count by their order"},
        {"y > @1; x < @2", "x < @1; y > @2", false, "the same in another order"},
        {"x < @1; y > @1", "x < @1; y > @2", true, "equal ranks go in document order"},
        {"x < @1", NULL, true, "whatever orders, orders as nothing does"},
        {NULL, NULL, true, "nothing orders as nothing does"},
        {"x < 5", "x < 6", false, "another value orders otherwise"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        tap_ok(grdl_prefs_consistent(say(&w, "a", "a", NULL, NULL, rows[i].a),
                                     say(&w, "b", "b", NULL, NULL, rows[i].b)) == rows[i].consistent,
               "%s", rows[i].words);
        world_end(&w);
    }
}

static void preferring_says_by_what(void)
{
    struct grdl_world w;
    const struct grdl_reading *job, *b, *c, *same;
    uint32_t by = 99;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    job = say(&w, "task", "prefjob", NULL, NULL, "mhz > @2; cost < @1");
    b = say(&w, "executor", "B", "cost 10; mhz 2400", NULL, NULL);
    c = say(&w, "executor", "C", "cost 10; mhz 3000", NULL, NULL);
    same = say(&w, "executor", "S", "cost 10; mhz 3000; os linux", NULL, NULL);
    tap_ok(grdl_prefer(job, c, b, &by) < 0 && by == 1, "C is preferred to B, by the second preference");
    tap_ok(grdl_prefer(job, b, c, NULL) > 0, "and B is not to C");
    tap_ok(grdl_prefer(job, c, same, NULL) == 0, "what no preference names does not count");
    world_end(&w);
}

/* ---- both sides have preferences ---- */

/* The pairs with their positions, or those chosen by a policy (-1: all). */
static void batch_print(const struct grdl_batch *batch, const struct grdl_reading *const *left,
                        const struct grdl_reading *const *right, int policy, char *out)
{
    uint32_t chosen[32], count = batch->count;

    for (uint32_t i = 0; i < count; i++)
        chosen[i] = i;
    if (policy >= 0)
        count = grdl_batch_choose(batch, (enum grdl_batch_policy)policy, chosen);
    *out = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const struct grdl_batch_pair *pair = &batch->pairs[chosen[i]];

        if (policy < 0)
            out += sprintf(out, "%s%s-%s %u %u", i ? ", " : "", left[pair->left]->resource->name,
                           right[pair->right]->resource->name, pair->left_position, pair->right_position);
        else
            out += sprintf(out, "%s%s-%s", i ? ", " : "", left[pair->left]->resource->name,
                           right[pair->right]->resource->name);
    }
}

static void batch_says(const struct grdl_batch *batch, const struct grdl_reading *const *left,
                       const struct grdl_reading *const *right, int policy, const char *expected, const char *words)
{
    char text[400];

    batch_print(batch, left, right, policy, text);
    if (!tap_ok(!strcmp(text, expected), "%s: %s", words, expected))
        tap_diag("%s", text);
}

/* Listings 7.4 and 7.5. Their drawing is not in our copy: the pairs follow from the definitions. */
static void batch_of_tasks_and_executors(void)
{
    static const char *const one_way[4] = {"x1: t1 t3", "x2: t4", "x3: t2", "x4: t1 t2 t3 t4 t5"};
    struct grdl_world w;
    const struct grdl_reading *tasks[5], *executors[4];
    struct grdl_batch batch;
    char text[100];

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    tasks[0] =
        say(&w, "task", "t1", "norm_cpu 240; xfer_in 2000; xfer_out 100; image 300; exec reco",
            "vo physics; eta < 12; cost < 30; mhz > 3000", "cost < @1; mhz > @2; dataset == 2008/03/22/00234.raw @3");
    tasks[1] = say(&w, "task", "t2", "norm_cpu 960; exec reco; image 800; threads 6; xfer_in 5000; xfer_out 1000", NULL,
                   "cost < @1; mhz > @2");
    tasks[2] = say(&w, "task", "t3", "vo genegrid; norm_cpu 60; xfer_in 1000; xfer_out 400; image 2048", NULL,
                   "storage > @1; eta >< 2008-09-30T12:00 @2");
    tasks[3] = say(&w, "task", "t4", "norm_cpu 10; temp 300; exec openssl; xfer_in 6000",
                   "openssl >= 0.9.7d; ram >= 1024", "cost <; ram >");
    tasks[4] = say(&w, "task", "t5", "exec rootkit", "openssl", NULL);
    executors[0] = say(&w, "executor", "x1",
                       "cost 15; mhz 3800; temp 10000; storage 500; mem 1024; eta 2; host grid.ox.ac.uk; vo physics",
                       "xfer_in < 4000; xfer_out < 1000", "vo physics @1");
    executors[1] = say(&w, "executor", "x2", "cost 10; mhz 3800; ram 2048; openssl 0.9.8a; vo physics; eta 10",
                       "exec openssl", NULL);
    executors[2] = say(&w, "executor", "x3", "cost 5; cpus 8; mhz 3200", "threads >= 4", NULL);
    executors[3] =
        say(&w, "executor", "x4", "cost 5; mhz 1800; ram 1024; openssl 0.9.7f", NULL, "xfer_in > @1; xfer_out > @2");
    for (int x = 0; x < 4; x++) {
        char *out = text + sprintf(text, "%s:", executors[x]->resource->name);

        for (int t = 0; t < 5; t++)
            if (grdl_matches(tasks[t], executors[x], NULL))
                out += sprintf(out, " %s", tasks[t]->resource->name);
        tap_ok(!strcmp(text, one_way[x]), "listings 7.4, 7.5: the tasks that satisfy an executor are %s", text);
    }
    grdl_batch_make(tasks, 5, executors, 4, NULL, &batch);
    batch_says(&batch, tasks, executors, -1,
               "t1-x1 1 2, t2-x3 1 1, t2-x4 2 2, t3-x1 1 1, t3-x4 2 3, t4-x2 2 1, t4-x4 1 1, t5-x4 1 4",
               "pairs with their positions");
    batch_says(&batch, tasks, executors, GRDL_MINSUM, "t2-x3, t3-x1, t4-x4", "MINSUM leaves t1 and t5 without a match");
    batch_says(&batch, tasks, executors, GRDL_SINGLES, "t1-x1, t2-x3, t4-x2, t5-x4",
               "SINGLES leaves only t3, which has x4 in common with t5");
    grdl_batch_done(&batch);
    world_end(&w);
}

/* Figures 7.3 and 7.4: t1 can have x1 and x2, t2 only x2. */
static void figure_7_4(void)
{
    static const struct {
        const char *t1, *x2, *pairs;
    } rows[] = {
        {"speed <", "size <", "t1-x1, t2-x2"},
        {"speed <", "size >", "t1-x1, t2-x2"},
        {"speed >", "size >", "t2-x2, t1-x1"},
        {"speed >", "size <", "t1-x2"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;
        const struct grdl_reading *tasks[2], *executors[2];
        struct grdl_batch batch;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        tasks[0] = say(&w, "task", "t1", "size 1", NULL, rows[i].t1);
        tasks[1] = say(&w, "task", "t2", "size 2", "speed > 1", NULL);
        executors[0] = say(&w, "executor", "x1", "speed 1", NULL, NULL);
        executors[1] = say(&w, "executor", "x2", "speed 2", NULL, rows[i].x2);
        grdl_batch_make(tasks, 2, executors, 2, NULL, &batch);
        batch_says(&batch, tasks, executors, GRDL_MINSUM, rows[i].pairs, "figure 7.4, MINSUM");
        batch_says(&batch, tasks, executors, GRDL_SINGLES, "t1-x1, t2-x2", "figure 7.4, SINGLES");
        grdl_batch_done(&batch);
        world_end(&w);
    }
}

int main(void)
{
    batch_of_tasks_and_executors();
    figure_7_4();
    prefjob();
    operators_of_table_7_1();
    other_kinds_are_ranked();
    listing_7_3();
    consistency_7_4();
    preferring_says_by_what();
    return tap_done();
}
