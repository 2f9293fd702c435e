/* A party of a gang among those docked at its ports: whom it accepts, whose loss matters, and what it shows. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/buf.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/gang/dock.h"
#include "match/gang/runs.h"
#include "match/pair/match.h"
#include "match/pair/residual.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY 8

struct world {
    struct symbols *symbols;
    struct build build;
    struct arena scratch;
    struct env env;
    struct tree *own, *others[MANY];
    struct docked at[MANY];
    struct dock dock;
};

static struct tree *world_ad(struct world *w, const char *text)
{
    struct err err = {0};
    struct tree *ad = parse_ad(&w->build, NULL, text, strlen(text), &err);

    if (!ad)
        tap_ok(false, "the ad is read: %s", text);
    return ad;
}

static void world_begin(struct world *w, const char *own)
{
    *w = (struct world){.symbols = names_new(1), .env = {.now = 1000}};
    build_init(&w->build, w->symbols, &dialect_classic);
    arena_init(&w->scratch);
    w->own = world_ad(w, own);
    w->dock = (struct dock){w->own, w->at, 0};
}

static void world_dock(struct world *w, uint64_t port, const char *ad, uint64_t link)
{
    uint32_t n = w->dock.count++;

    w->others[n] = world_ad(w, ad);
    w->at[n] = (struct docked){port, w->others[n], link};
}

static void says(const char *got, const char *expected, const char *words)
{
    if (!tap_ok(!strcmp(got, expected), "%s", words))
        tap_diag("%s\ninstead of\n%s", got, expected);
}

static void world_end(struct world *w)
{
    tree_unref(w->own);
    for (uint32_t i = 0; i < w->dock.count; i++)
        tree_unref(w->others[i]);
    arena_done(&w->scratch);
    build_done(&w->build);
    symbols_free(w->symbols);
}

static enum dock_answer accepts(struct world *w, uint32_t which)
{
    return dock_accepts(&w->env, &w->scratch, &w->dock, which);
}

static bool all(struct world *w)
{
    return dock_accepts_all(&w->env, &w->scratch, &w->dock, w->dock.count);
}

static const char *shown(struct world *w, uint64_t port)
{
    static char text[600];
    struct tree *ad = dock_shows(&w->env, &w->scratch, &w->dock, port);
    struct buf out;

    buf_init(&out);
    print_expr(&out, ad, tree_root(ad), PRINT_PLAIN);
    snprintf(text, sizeof text, "%s", buf_string(&out));
    buf_done(&out);
    tree_unref(ad);
    return text;
}

#define JOB                                                                                              \
    "[ Name = \"job1\"; Ports = { [ Label = cpu; Size = 10; Constraint = cpu.Memory > Size ],"           \
    " [ Label = lic; HostId = cpu.Key; Spare = cpu.Memory - lic.Need; Constraint = lic.App == \"a\" && " \
    "lic.Site == cpu.Site ] } ]"
#define LEO "[ Key = 90; Memory = 64; Site = 1; Ports = { [ Label = job; Constraint = job.Size < Memory ] } ]"
#define LICENCE \
    "[ App = \"a\"; Site = 1; Need = 4; Ports = { [ Label = job; Constraint = job.HostId > 50 && job.Spare == 60 ] } ]"

static void test_ports(void)
{
    struct world w;
    struct tree *told;

    world_begin(&w, JOB);
    world_dock(&w, 0, LEO, 0);
    world_dock(&w, 1, LICENCE, 0);
    tap_ok(accepts(&w, 0) == DOCK_YES && accepts(&w, 1) == DOCK_YES && all(&w),
           "a port accepts by its own constraint, with the labels of the ports before it");
    told = dock_shows(&w.env, &w.scratch, &w.dock, 1);
    tap_ok(dock_accepts(&w.env, &w.scratch, &(struct dock){w.others[1], (struct docked[]){{0, told, 1}}, 1}, 0) ==
               DOCK_YES,
           "whoever is docked there reads what hangs on a sibling, though it never sees the sibling");
    tap_ok(dock_accepts(&w.env, &w.scratch, &(struct dock){w.others[1], (struct docked[]){{0, w.own, 1}}, 1}, 0) ==
               DOCK_OPEN,
           "without that it does not know");
    tree_unref(told);
    says(shown(&w, 1),
         "[ Name = \"job1\"; Ports = { [ Label = cpu; Size = 10; Constraint = cpu.Memory > Size ], [ Label = lic; "
         "HostId = 90; Spare = 64 - lic.Need; Constraint = lic.App == \"a\" && lic.Site == cpu.Site ] } ]",
         "what mentions others is shown by its value; what asks of whoever docks stays a question");
    world_end(&w);

    world_begin(&w, JOB);
    world_dock(&w, 0, LEO, 0);
    world_dock(&w, 1, "[ App = \"a\"; Site = 2 ]", 0);
    tap_ok(accepts(&w, 0) == DOCK_YES && accepts(&w, 1) == DOCK_NO && !all(&w),
           "a port refuses whom its constraint does not like beside that sibling");
    w.dock.count = 1;
    w.at[0].port = 1;
    tap_ok(accepts(&w, 0) == DOCK_NO, "the label of a port that stays empty is undefined");
    w.at[0] = (struct docked){2, w.others[0], 0};
    tap_ok(accepts(&w, 0) == DOCK_NO, "a port that there is not accepts nobody");
    w.at[0] = (struct docked){0, w.others[0], 1};
    tap_ok(accepts(&w, 0) == DOCK_NO, "nor does one accept a link that there is not");
    w.at[0] = (struct docked){UINT64_MAX, w.others[0], UINT64_MAX};
    tap_ok(accepts(&w, 0) == DOCK_NO && !strcmp(shown(&w, UINT64_MAX), shown(&w, 77)), "nor numbers beyond all ports");
    w.dock.count = 2;
    world_end(&w);
}

/* Its link is the last port: what it has is known when the others are there. */
static void test_inner(void)
{
    struct world w;

    world_begin(
        &w, "[ Memory = one.Memory + two.Memory; Ports = { [ Label = one ], [ Label = two; Constraint = two.Host == "
            "one.Host ], [ Label = up; Twice = 2 * one.Memory; Constraint = up.Need <= Memory ] } ]");
    world_dock(&w, 2, "[ Need = 6 ]", 0);
    world_dock(&w, 0, "[ Host = \"h\"; Memory = 2 ]", 0);
    world_dock(&w, 1, "[ Host = \"h\"; Memory = 4 ]", 0);
    tap_ok(all(&w), "an inner member accepts its superior by what its own subordinates have");
    says(shown(&w, 2),
         "[ Memory = 6; Ports = { [ Label = one ], [ Label = two; Constraint = two.Host == one.Host ], [ Label = up; "
         "Twice = 4; Constraint = up.Need <= Memory ] } ]",
         "and shows that to its superior");
    w.at[2].port = 2;
    w.at[2].ad = w.others[0];
    tap_ok(!all(&w), "with one of them missing it does not");
    world_end(&w);
}

static void test_sets(void)
{
    struct world w;

    world_begin(
        &w, "[ Ports = { [ Label = node; Count = { 1, 3 }; Essential = MembersLeft < 2; Constraint = node.Cpus > 1 && "
            "sum(node.Cpus) >= 8 ], [ Label = disk; Constraint = disk.Size >= sum(node.Cpus) ] } ]");
    world_dock(&w, 0, "[ Cpus = 4 ]", 0);
    world_dock(&w, 0, "[ Cpus = 2 ]", 0);
    world_dock(&w, 0, "[ Cpus = 3 ]", 0);
    world_dock(&w, 1, "[ Size = 9 ]", 0);
    tap_ok(accepts(&w, 0) == DOCK_YES && accepts(&w, 2) == DOCK_YES && all(&w),
           "each of a set is accepted alone, and all of them together");
    tap_ok(!dock_essential(&w.env, &w.scratch, &w.dock, 1, 0), "of three one may go, by MembersLeft");
    w.dock.count = 2;
    tap_ok(accepts(&w, 1) == DOCK_YES && !all(&w), "of a set that is too small each is accepted, but not the whole");
    tap_ok(dock_essential(&w.env, &w.scratch, &w.dock, 1, 0), "of two none may go");
    w.dock.count = 4;
    w.at[3].port = 0;
    tap_ok(!all(&w), "more than a set holds are refused");
    world_end(&w);
}

static const struct {
    const char *essential;
    int64_t run;
    bool matters;
    const char *words;
} losses[] = {
    {"", 5, true, "a port that does not say is essential"},
    {"Essential = false;", 5, false, "one that says false is not"},
    {"Essential = true;", 5, true, "one that says true is"},
    {"Essential = \"no\";", 5, true, "what is neither is essential"},
    {"Essential = nowhere.To.Be;", 5, true, "undefined is essential"},
    {"Essential = 1 / 0;", 5, true, "an error is essential"},
    {"Essential = JobRunTime < 60;", 59, true, "it may be essential in the first minute"},
    {"Essential = JobRunTime < 60;", 60, false, "and not after that"},
    {"Essential = JobRunTime < 60;", -1, true, "before the start JobRunTime is undefined"},
    {"Essential = b.Main;", 5, false, "it may ask who is lost"},
    {"Essential = a.Main;", 5, true, "or who is there"},
    {"Essential = time() < 1000;", 5, false, "or what the time is"},
    {"Essential = MembersLeft > 0;", 5, false, "nobody else is docked at this port"},
};

static void test_essential(void)
{
    struct world w;

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        char text[200];

        snprintf(text, sizeof text, "[ Ports = { [ Label = a ], [ Label = b; %s Constraint = b.X == 1 ] } ]",
                 losses[i].essential);
        world_begin(&w, text);
        world_dock(&w, 0, "[ Main = true ]", 0);
        world_dock(&w, 1, "[ X = 1; Main = false ]", 0);
        tap_ok(dock_essential(&w.env, &w.scratch, &w.dock, 1, losses[i].run) == losses[i].matters, "%s",
               losses[i].words);
        world_end(&w);
    }
    world_begin(
        &w, "[ Essential = true; Ports = { [ Essential = X == 2; X = 2; Choose = 1; Ports = { [ Label = a; X = 3 ], "
            "[ Label = b; Essential = false ] } ] } ]");
    world_dock(&w, 0, "[ ]", 0);
    tap_ok(dock_essential(&w.env, &w.scratch, &w.dock, 0, 0), "a port in a group is as essential as the group says");
    w.at[0].port = 1;
    tap_ok(!dock_essential(&w.env, &w.scratch, &w.dock, 0, 0), "unless it says something itself");
    world_end(&w);
    world_begin(&w, "[ Essential = false ]");
    world_dock(&w, 0, "[ ]", 0);
    tap_ok(!dock_essential(&w.env, &w.scratch, &w.dock, 0, 0), "an ad without ports is its own port");
    world_end(&w);
}

static const struct {
    const char *ports, *at; /* which of them are docked: 0, 1, ... */
    bool whole;
} wholes[] = {
    {"[ Label = a ], [ Label = b ]", "01", true},
    {"[ Label = a ], [ Label = b ]", "0", false},
    {"[ Label = a ], [ Label = b ]", "011", false},
    {"[ Label = a ], [ Label = b ]", "01234", false},
    {"[ Label = a ], [ Label = b; Essential = false ]", "0", true},
    {"[ Label = a ], [ Label = b; Essential = 1 > 2 ]", "0", false},
    {"[ Label = a; Count = { 2, 3 } ]", "00", true},
    {"[ Label = a; Count = { 2, 3 } ]", "0", false},
    {"[ Label = a; Count = { 2, 3 } ]", "0000", false},
    {"[ Label = a; Count = { 2, 3 }; Essential = false ]", "", true},
    {"[ Label = a; Count = { 2, 3 }; Essential = false ]", "0", false},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Label = b ] } ]", "1", true},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Label = b ] } ]", "", false},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Label = b ] } ]", "01", false},
    {"[ Choose = 1; Essential = false; Ports = { [ Label = a ], [ Label = b ] } ]", "", true},
    {"[ Choose = { 0, 2 }; Ports = { [ Label = a ], [ Label = b ] } ]", "", true},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] } ]", "12", true},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] } ]", "1", false},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] } ]", "0", true},
    {"[ Choose = 1; Ports = { [ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] } ]", "012",
     false},
    /* the ad itself chooses, behind its list */
    {"[ Label = a ], [ Label = b ], [ Label = c ] }; Choose = { 1, 2 }; X = { 1", "1", true},
    {"[ Label = a ], [ Label = b ], [ Label = c ] }; Choose = { 1, 2 }; X = { 1", "02", true},
    {"[ Label = a ], [ Label = b ], [ Label = c ] }; Choose = { 1, 2 }; X = { 1", "", false},
    {"[ Label = a ], [ Label = b ], [ Label = c ] }; Choose = { 1, 2 }; X = { 1", "012", false},
    {"[ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] }; Choose = 1; X = { 1", "12", true},
    {"[ Label = a ], [ Choose = 2; Ports = { [ Label = b ], [ Label = c ] } ] }; Choose = 1; X = { 1", "01", false},
};

static void test_whole(void)
{
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        struct world w;
        char text[300];

        snprintf(text, sizeof text, "[ Ports = { %s } ]", wholes[i].ports);
        world_begin(&w, text);
        for (const char *at = wholes[i].at; *at; at++)
            world_dock(&w, (uint64_t)(*at - '0'), "[ ]", 0);
        tap_ok(dock_whole(&w.dock) == wholes[i].whole, "%s: with \"%s\" docked it is %s", wholes[i].ports, wholes[i].at,
               wholes[i].whole ? "whole" : "not whole");
        world_end(&w);
    }
}

static void test_residual(void)
{
    struct world w;
    struct tree *left;
    struct buf out;

    world_begin(
        &w, "[ Mbps = 100; Ports = { [ Label = user; Constraint = user.Need <= Mbps ] }; Residual = [ Mbps = Mbps - "
            "other.Need ] ]");
    world_dock(&w, 0, "[ Need = 1; Ports = { [ Label = x ], [ Label = link; Need = 30 ] } ]", 1);
    left = dock_residual(&w.env, &w.scratch, &w.dock, 0);
    buf_init(&out);
    print_tree(&out, left, PRINT_PLAIN);
    tap_ok(!strncmp(buf_string(&out), "[ Mbps = 70;", 12), "of an offer the part is taken that the port asks for: %s",
           buf_string(&out));
    buf_done(&out);
    tree_unref(left);
    world_end(&w);
}

/* Ads without ports: the same as a pair. */
static void test_says(void)
{
    struct world w;
    struct value rank;

    world_begin(&w, "[ Memory = 64; Rank = other.Size ]");
    world_dock(&w, 0, "[ Size = 1; Ports = { [ Label = a ], [ Label = cpu; Size = 7; Constraint = cpu.Memory > 0 ] } ]",
               1);
    rank = dock_says(&w.env, &w.scratch, &w.dock, 0, NAME_RANK);
    tap_ok(rank.type == VALUE_INTEGER && rank.u.integer == 7,
           "an owner ranks the port that it docks at, not the ad around it");
    rank = dock_says(&w.env, &w.scratch, &w.dock, 0, NAME_CURRENTRANK);
    tap_ok(rank.type == VALUE_UNDEFINED, "what it does not say is undefined");
    world_end(&w);
}

static void test_pairs(void)
{
    static const char *const clauses[] = {"other.A < B",     "B == other.B",  "A > 2",           "other.C",   "A < X",
                                          "other.C || true", "Y =?= other.A", "other.B - A > 0", "undefined", "B >= A"};
    struct rng rng;
    uint32_t same = 0, yes = 0, rounds = 3000;

    rng_init(&rng, 7);
    for (uint32_t i = 0; i < rounds; i++) {
        char text[2][300];
        struct world w;
        bool pair;

        for (uint32_t k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k],
                     "[ A = %d; B = %d; %s Constraint = %s && %s; Residual = [ A = A - other.B; N = other.A ] ]",
                     (int)rng_below(&rng, 5), (int)rng_below(&rng, 5), rng_below(&rng, 2) ? "X = A + 2;" : "C = B > 1;",
                     clauses[rng_below(&rng, 10)], clauses[rng_below(&rng, 10)]);
        world_begin(&w, text[0]);
        world_dock(&w, 0, text[1], 0);
        pair = match_accepts(&w.env, &w.scratch, w.own, w.others[0]);
        if (pair == (accepts(&w, 0) == DOCK_YES) && pair == all(&w)) {
            struct tree *one = residual_make(&w.env, &w.scratch, w.own, w.others[0]);
            struct tree *two = dock_residual(&w.env, &w.scratch, &w.dock, 0);

            same += tree_equal(one, tree_root(one), two, tree_root(two));
            tree_unref(one);
            tree_unref(two);
        }
        yes += pair;
        world_end(&w);
    }
    tap_ok(same == rounds && yes > rounds / 20 && yes < rounds * 19 / 20,
           "ads without ports are docked as pairs are matched: %u of %u alike, %u of them accepted", same, rounds, yes);
}

/* Which ports those dock at who run the job: 1 for each that does. */
static const struct {
    const char *ad, *runs;
    uint64_t link;
    const char *words;
} runners[] = {
    {"[ Cmd = 1 ]", "1", RUNS_NO_LINK, "who docks at an ad without ports runs the job"},
    {"[ Ports = { [ Label = a; Constraint = a.App == 1 ], [ Label = cpu; Constraint = cpu.Memory > 1 && cpu.Type == "
     "\"machine\" ] } ]",
     "01", RUNS_NO_LINK, "where nothing is said, who docks where a machine is asked for"},
    {"[ Ports = { [ Label = a ], [ Label = cpu; Constraint = \"Machine\" is cpu.Type ], [ Label = b; Requirements = "
     "b.Type == \"Machine\" ] } ]",
     "011", RUNS_NO_LINK, "wherever one is"},
    {"[ Ports = { [ Label = a; Constraint = cpu.Type == \"Machine\" ], [ Label = cpu; Constraint = cpu.Type == "
     "\"Machine\" || true ], [ Label = b; Constraint = !(b.Type == \"Machine\") ] } ]",
     "100", RUNS_NO_LINK, "where none is, in truth, the first"},
    {"[ Ports = { [ Label = up ], [ Label = a ], [ Label = b ] } ]", "010", 0, "but for the link"},
    {"[ Ports = { [ Label = up; Constraint = up.Type == \"Machine\" ], [ Label = a ], [ Label = b ] } ]", "010", 0,
     "whatever that asks for"},
    {"[ Ports = { [ Label = a; Executes = true ], [ Label = cpu; Constraint = cpu.Type == \"Machine\" ] } ]", "10",
     RUNS_NO_LINK, "what is said counts, and nothing beside it"},
    {"[ Ports = { [ Label = a; Executes = false ], [ Label = b; Executes = 1 ], [ Label = c; Executes = b.X ] } ]",
     "000", RUNS_NO_LINK, "only true is true"},
    {"[ Executes = true; Ports = { [ Choose = 1; Ports = { [ Label = a ], [ Label = b; Executes = true ] } ] } ]", "01",
     RUNS_NO_LINK, "also in groups; what stands outside of ports says nothing"},
};

static void test_runs(void)
{
    static const char *const names[] = {"Cmd", "Env", "Iwd"};
    struct world w;
    struct tree *less;
    struct buf out;

    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++) {
        char runs[8] = "";

        world_begin(&w, runners[i].ad);
        for (size_t port = 0; port < strlen(runners[i].runs); port++)
            runs[port] = port_runs(w.own, port, runners[i].link) ? '1' : '0';
        says(runs, runners[i].runs, runners[i].words);
        tap_ok(!port_runs(w.own, strlen(runners[i].runs), runners[i].link) || !dock_has_ports(w.own),
               "nobody runs it at a port that there is not");
        world_end(&w);
    }
    world_begin(
        &w,
        "[ Cmd = \"sh\"; ENV = [ A = 1 ]; Iwd = \"/x\"; Own = Cmd; Ports = { [ Label = cpu; Secret = 1; Constraint = "
        "cpu.Type == \"Machine\" ], [ Choose = 1; Ports = { [ Label = lic; Where = Iwd ], [ Label = b; Count = 2; "
        "X = 1 ] } ] } ]");
    less = port_withholds(w.own, 1, RUNS_NO_LINK, names, 3);
    buf_init(&out);
    print_expr(&out, less, tree_root(less), PRINT_PLAIN);
    says(
        buf_string(&out),
        "[ Iwd = \"/x\"; Own = Cmd; Ports = { [ Label = cpu; Executes = true ], [ Choose = 1; Ports = { [ Label = lic; Where = Iwd; "
        "Executes = false ], [ Label = b; Count = 2; Executes = false ] } ] } ]",
        "who runs nothing is told what its port reads, and of the other ports their places");
    buf_done(&out);
    tree_unref(less);
    world_end(&w);
}

int main(void)
{
    test_runs();
    test_ports();
    test_inner();
    test_sets();
    test_essential();
    test_whole();
    test_residual();
    test_says();
    test_pairs();
    return tap_done();
}
