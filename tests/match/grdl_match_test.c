/* GRDL resources as sets: the listings and figures of chapters 5 and 6, with the outcome that the text states. */
#include "grdl_world.h"
#include "match/grdl/aggregate.h"
#include "match/grdl/matcher.h"

static const char pentium_chars[] =
    "cpu_type pentium; mhz 2800; os linux; software openssl; software python; hyperthreading; "
    "bench:SI2K 0.9; ram:MB 512; vram:MB 1024; scratch:MB 100";
static const char amd_chars[] = "cpu_type AMD; mhz 2500; os linux; bench:SI2K 1.1; ram:GB 1; net_bw:Gbit/s 1";
static const char testjob_chars[] = "norm_cpu:hr 2; mem:MB 180; disk:MB 500";

/* ---- chapter 5 ---- */

static void listing_5_4(void)
{
    struct grdl_world w;
    const struct grdl_reading *r;
    bool apart = true;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    r = say(&w, "executor", "e", "bench:INT95 112; bench:INT2k 0.98; bench:FP95 49; bench:FP2k 20.1; bench:Alpha7 32",
            NULL, NULL);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 5; j++)
            apart &= (i == j) == grdl_comparable(&r->chars[i].value, &r->chars[j].value);
    tap_ok(apart, "listing 5.4: unknown units of one dimension are comparable only with themselves");
    world_end(&w);
}

static void sets_of_characteristics(void)
{
    static const struct {
        const char *a, *b;
        bool within, shared;
        const char *words;
    } rows[] = {
        {"x 1; y 1", "x 1; x 2; y 1; z 1", true, true, "figure 5.9: a set within another"},
        {"x 1; y 1; w 4", "x 1; x 2; y 1", false, true, "figure 5.10: over the shared dimensions x and y alone"},
        {"x 1; y 2", "x 1; y 1", false, false, "a value that the other has not"},
        {"x:GB 1", "x:MB 1024", true, true, "the same in another unit"},
        {"x 1", "x:MB 1", false, false, "the same number in no unit is another thing"},
        {"x", "x 1", false, false, "unspecified is none of the values"},
        {"x", "x", true, true, "but it is unspecified"},
        {"x 1", "x", false, false, "a value is not unspecified"},
        {NULL, "x 1", true, true, "nothing is within everything"},
        {"x 1", NULL, false, true, "something is within nothing only where nothing is shared"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;
        const struct grdl_reading *a, *b;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        a = say(&w, "a", "a", rows[i].a, NULL, NULL);
        b = say(&w, "b", "b", rows[i].b, NULL, NULL);
        tap_ok(grdl_chars_within(a, b) == rows[i].within && grdl_chars_within_shared(a, b) == rows[i].shared, "%s",
               rows[i].words);
        world_end(&w);
    }
}

/* ---- chapter 6: one requirement in another ---- */

static void requirements_in_requirements(void)
{
    static const struct {
        const char *inner, *outer;
        bool within;
    } rows[] = {
        {"x < 5", "x <= 5", true},
        {"x <= 5", "x < 5", false},
        {"x = 5", "x <= 5", true},
        {"x = 5", "x < 5", false},
        {"x < 5", "x != 5", true},
        {"x != 5", "x < 5", false},
        {"x != 5", "x != 5", true},
        {"x != 5", "x != 6", false},
        {"x > 5", "x >= 4", true},
        {"x >= 5", "x > 5", false},
        {"x >= 5", "x > 4.9", true},
        {"x >= 5", "x <= 9", false},
        {"x <= 5", "x >= 3", false},
        {"x:min <= 60", "x:hr <= 1", true},
        {"x:min <= 61", "x:hr <= 1", false},
        {"x <= 5", "x:MB <= 5", false},
        {"x = 5", "x", true},
        {"x < 5", "x", true},
        {"x", "x", true},
        {"x", "x < 5", false},
        {"x:MB", "x", true},
        {"x", "x:MB", false},
        {"x:GB = 5", "x:MB", true},
        {"x:s = 5", "x:MB", false},
        {"x = 0.9.8a", "x >= 0.9.7d", true},
        {"x > 0.9.8", "x > 0.9.7z", true},
        {"x = Linux", "x equivalent linux", true},
        {"x equivalent linux", "x = linux", false},
        {"x equivalent 5", "x = 5", true},
        {"x ordered 5", "x <= 5", true},
        {"x equivalent linux", "x >= LINUX", true},
        {"x equivalent linux", "x <= Linux", false},
        {"x equivalent linux", "x != linus", true},
        {"x equivalent linux", "x != LINUX", false},
        {"x equivalent a", "x ordered B", true},
        {"x < a", "x ordered B", false},
        {"x ordered b", "x != A", false},
        {"x ordered a", "x != B", true},
        {"x ordered b", "x ordered A", false},
        {"x ordered B", "x ordered b", true},
        {"x ordered a", "x <= b", false},
        {"x ordered a", "x equivalent a", false},
        {"x = -", "x equivalent -", true},
        {"x equivalent 2-", "x = 2-", true},
        {"x set_ge 5", "x >= 5", true},
        {"x set_ge 5", "x > 4", true},
        {"x >= 5", "x set_ge 5", false},
        {"x set_ge 5", "x set_gt 4", true},
        {"x set_gt 5", "x set_ne 5", true},
        {"x set_ge 5", "x set_ne 5", false},
        {"x set_ne 5", "x set_ne 5", true},
        {"x set_ne 5", "x != 5", false},
        {"x !=", "x set_ne 5", true},
        {"x !=", "x !=", true},
        {"x != 5", "x !=", false},
        {"x !=", "x", false},
        {"x:MB !=", "x !=", false},
        {"x !=", "x:MB !=", true},
        {"x set_eq 5", "x:MB !=", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;
        const struct grdl_reading *a, *b;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        char inner[64], outer[64]; /* "x:min <= 60": the type stands with the dimension */

        snprintf(inner, sizeof inner, "%s", rows[i].inner);
        snprintf(outer, sizeof outer, "%s", rows[i].outer);
        a = say(&w, "a", "a", NULL, inner, NULL);
        b = say(&w, "b", "b", NULL, outer, NULL);
        tap_ok(grdl_req_in_req(&a->reqs[0], &b->reqs[0]) == rows[i].within, "%s does %slie in %s", rows[i].inner,
               rows[i].within ? "" : "not ", rows[i].outer);
        world_end(&w);
    }
}

static void spaces_of_requirements(void)
{
    struct grdl_world w;
    const struct grdl_reading *a, *b, *c, *d;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    a = say(&w, "A", NULL, NULL, "mhz >= 2000; ram >= 512", NULL);
    b = say(&w, "B", NULL, NULL, "mhz >= 1500; ram >= 256; storage >= 500", NULL);
    c = say(&w, "C", NULL, "mhz 3200; ram 1024; storage 200", NULL, NULL);
    d = say(&w, "D", NULL, "mhz 1500; ram 256; storage 1000", NULL, NULL);
    tap_ok(grdl_reqs_within(a, b), "listing 6.1: the requirements of A are a subset of those of B");
    tap_ok(grdl_matches(c, a, NULL) && !grdl_matches(c, b, NULL), "but C satisfies A and not B");
    tap_ok(grdl_matches(d, b, NULL) && !grdl_matches(d, a, NULL), "and D satisfies B and not A");
    tap_ok(!grdl_space_within(a, b), "the requirement space of A is not in that of B: B asks for storage");
    a = say(&w, "A", NULL, NULL, "mhz >= 2000; ram >= 512; storage > 500; os = linux", NULL);
    tap_ok(grdl_space_within(a, b) && !grdl_space_within(b, a), "figure 6.3: once A asks for that and more, it is");
    a = say(&w, "r1", NULL, NULL, "mhz >= 3000", NULL);
    b = say(&w, "r2", NULL, NULL, "mhz >= 2000", NULL);
    tap_ok(grdl_space_within(a, b) && !grdl_space_within(b, a), "listing 7.2: r1 is more restrictive than r2");
    a = say(&w, "a", NULL, NULL, "x <= 5", NULL);
    b = say(&w, "b", NULL, NULL, "x <= 6; x >= 3", NULL);
    c = say(&w, "c", NULL, "x 1", NULL, NULL);
    tap_ok(!grdl_space_within(a, b) && grdl_matches(c, a, NULL) && !grdl_matches(c, b, NULL),
           "{x<=5} is not in {x<=6, x>=3}, whatever appendix C says: 1 satisfies only the first");
    world_end(&w);
}

/* Is the space of those requirements empty, where x has one value at most and y may have many? */
static bool is_empty(const char *reqs)
{
    struct grdl_world w;
    bool empty;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    grdl_consumer_single(w.consumer, "x");
    empty = grdl_space_empty(say(&w, "a", NULL, NULL, reqs, NULL), NULL, NULL);
    world_end(&w);
    return empty;
}

static void empty_spaces(void)
{
    static const struct {
        const char *reqs;
        bool empty;
    } rows[] = {
        {"y < 2; y > 4", false},
        {"x < 2; x > 4", true},
        {"x < 4; x > 2", false},
        {"x <= 3; x >= 3", false},
        {"x < 3; x >= 3", true},
        {"x <= 3; x >= 3; x != 3", true},
        {"x >= 3; x != 3; x <= 3", true},
        {"x > 3; x <= 4; x != 3", false},
        {"y <= 3; y >= 3; y != 3", false},
        {"x = 3; x != 3", true},
        {"x = 3; x = 4", true},
        {"y = 3; y = 4", false},
        {"x = 3; x = linux", true},
        {"x:MB = 1024; x:GB = 1", false},
        {"x:MB = 1024; x:GB > 1", true},
        {"x; x = 3", false},
        {"x:MB; x = 3", true},
        {"y !=; y = 3", true},
        {"y !=; y", true},
        {"y !=; z", false},
        {"y:MB !=; y = 3", false},
        {"y:MB !=; y:GB = 3", true},
        {"y set_lt 2; y set_gt 4", true},
        {"y set_lt 2; y > 4", true},
        {"y set_lt 2; y < 4; y > 1", false},
        {"y set_le 3; y set_ge 3; y set_ne 3", true},
        {"y set_le 3; y set_ge 3; y != 3", true},
        {"y set_le 3; y >= 3; y != 3", false},
        {"y set_ne 3; y = 3", true},
        {"y set_ne 3; y = 4", false},
        {"y set_ne 3; y = linux", false},
        {"x equivalent a; x equivalent A", false},
        {"x equivalent a; x equivalent b", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(is_empty(rows[i].reqs) == rows[i].empty, "where x is known to be single: {%s} %s", rows[i].reqs,
               rows[i].empty ? "can be met by nothing" : "can be met");
}

/* ---- chapter 6: matching ---- */

static void characteristics_meet_requirements(void)
{
    static const struct {
        const char *chars, *reqs;
        bool matches;
        const char *words;
    } rows[] = {
        {"x 1", "x < 2", true, "figure 6.1"},
        {"x 2; x 4", "x > 1; x < 3", true, "figure 6.4: one value meets both requirements"},
        {"x 4", "x > 1; x < 3", false, "figure 6.4: the other only one of them"},
        {"x 1; x 3; x 5", "x < 2; x > 4", true, "figure 6.5: each requirement has a value of its own"},
        {"x 1; x 5", "x < 2; x > 4", true, "two values are enough for that"},
        {"x 3", "x < 2; x > 4", false, "figure 6.5: the value between them meets neither"},
        {"x 2; x 4", "x > 1; x > 3", true, "figure 6.6"},
        {"x 2", "x > 1; x > 3", false, "figure 6.7"},
        {"x 1; x 2; x 4; y 1; y 3; y 4", "x < 3; y > 2", true, "figure 6.8"},
        {"x 1; x 2; y 1; z 1; z 2", "x 1; y 1; z 1", true, "listing 6.2 and figure 6.9"},
        {"x 1; x 2; y 1; z 1; z 2", "x 1; y 1; z 1; w 1", false, "figure 6.10: there is no w"},
        {"x 1; x 3; y 2; z 2; z 4", "x < 2; y 2; z > 1; z < 3", true, "listing 6.3 and figure 6.11"},
        {"os linux; mhz 3500; openssl", "openssl", true, "listing 6.6: standard-server, unspecified"},
        {"os linux; mhz 1500; cpus 8; openssl 0.9.8a", "openssl", true, "listing 6.6: crypto-engine, with a version"},
        {"os linux; mhz 3500", "openssl", false, "undefined is not unspecified"},
        {"openssl", "openssl 0.9.8a", false, "figure 6.14: an unspecified value may be outside the range"},
        {"openssl 0.9.8a", "openssl 0.9.8a", true, "6.4: crypto-engine has that version"},
        {"openssl", "openssl !=", false, "6.4: != without a value wants none"},
        {"openssl 0.9.8a", "openssl !=", false, "whatever its value"},
        {"os linux", "openssl !=", true, "and is satisfied when there is none"},
        {"ram:MB 5", "ram:s !=", true, "or none of the type"},
        {"ram", "ram:s !=", false, "which one without a type may be"},
        {"x:MB 5", "x:GB", true, "a requirement without a value accepts all values of its type"},
        {"x:s 5", "x:GB", false, "and no others"},
        {"x", "x:GB", false, "nor one that may be of another"},
        {"ram:MB 512; ram:GB 1; ram:GB 2", "ram:GB >= 2", true, "6.5: one of three memories is large enough"},
        {"ram:MB 512; ram:GB 1; ram:GB 2", "ram:GB set_ge 2", false, "6.5: but not all of them"},
        {"ram:GB 4; ram:GB 2", "ram:GB set_ge 2", true, "6.5: here all are"},
        {"os linux", "ram:GB set_ge 2", false, "a set-wise requirement wants at least one"},
        {"os linux", "ram:GB set_ne 2", true, "but for set_ne"},
        {"ram:GB 2; ram:GB 4", "ram:GB set_ne 2", false, "which wants none with that value"},
        {"ram; ram:GB 4", "ram:GB set_ne 2", false, "nor one that may have it"},
        {"x 5; x 5.0", "x set_eq 5", true, "set_eq: all are equal"},
        {"x 5; x linux", "x set_eq 5", false, "set_eq: one that cannot be compared is not"},
        {"x 5; x linux", "x set_ne 6", true, "set_ne: one that cannot be compared does not matter"},
        {"x 1; x 2", "x set_lt 3; x set_le 2; x set_gt 0; x set_ge 1", true, "the other set-wise relations"},
        {"x 1; x 2; x 3", "x set_lt 3", false, "set_lt with one that is not"},
        {NULL, NULL, true, "nothing is required of nothing"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;
        const struct grdl_reading *a, *b;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        a = say(&w, "a", "a", rows[i].chars, NULL, NULL);
        b = say(&w, "b", "b", NULL, rows[i].reqs, NULL);
        tap_ok(grdl_matches(a, b, NULL) == rows[i].matches, "%s", rows[i].words);
        world_end(&w);
    }
}

static void partial_matches(void)
{
    struct grdl_world w;
    const struct grdl_reading *job, *license, *executor, *poor;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    job = say(&w, "task", "licensejob1", "site ral", "mflops >= 4000; license matlab", NULL);
    license = say(&w, "license", "matlab-license", "license matlab", NULL, NULL);
    executor = say(&w, "executor", "pentium3ghz", "mflops 6000", NULL, NULL);
    poor = say(&w, "executor", "poor", "mflops 3000; license matlab", NULL, NULL);
    tap_ok(!grdl_matches(license, job, NULL) && grdl_matches_shared(license, job, NULL),
           "listing 6.12: the licence matches in part");
    tap_ok(!grdl_matches(executor, job, NULL) && grdl_matches_shared(executor, job, NULL), "and so does the executor");
    tap_ok(!grdl_matches_shared(poor, job, NULL), "one that shares a dimension and does not satisfy it does not");
    tap_ok(grdl_matches_shared(job, license, NULL),
           "requirements are hidden in dimensions that the characteristics have not, not the other way round");
    world_end(&w);
}

/* ---- chapter 6: matchers ---- */

static void pentium_and_testjob(void)
{
    struct grdl_world w;
    const struct grdl_reading *pentium, *generous, *job;
    struct grdl_counts counts = {0};

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    job = say(&w, "task", "testjob1", testjob_chars, "os linux; software python; mhz >= 2500", NULL);
    pentium =
        say(&w, "executor", "pentium", pentium_chars, "norm_cpu:min <= 60; norm_cpu:min >= 5; mem:MB <= 256", NULL);
    generous =
        say(&w, "executor", "pentium", pentium_chars, "norm_cpu:min <= 480; norm_cpu:min >= 5; mem:MB <= 256", NULL);
    tap_ok(grdl_pair(GRDL_ONE_WAY, pentium, job, &counts), "listings 6.4, 6.5: pentium satisfies testjob1");
    tap_ok(counts.pairs == 1 && counts.comparisons == 4, "in four comparisons, two of them with software: %d",
           (int)counts.comparisons);
    tap_ok(!grdl_pair(GRDL_ONE_WAY, job, pentium, NULL), "testjob1, of two hours, does not satisfy pentium");
    tap_ok(!grdl_pair(GRDL_PEER, pentium, job, NULL), "so they are no peers");
    tap_ok(grdl_pair(GRDL_PEER, generous, job, NULL), "with 480 minutes they are");
    tap_ok(grdl_first_unmet(job, pentium, NULL) && !strcmp(grdl_first_unmet(job, pentium, NULL)->from->text, "60"),
           "and what stood between them is said");
    world_end(&w);
    world_begin(&w, GRDL_BASIC);
    job = say(&w, "task", "testjob1", testjob_chars, NULL, NULL);
    generous = say(&w, "executor", "pentium", pentium_chars, "norm_cpu:min <= 480", NULL);
    tap_ok(!grdl_matches(job, generous, NULL), "a basic comparator knows no minutes from hours");
    world_end(&w);
}

static void cricketers(void)
{
    struct grdl_world w;
    const struct grdl_reading *team[4];
    struct grdl_compositions found, chosen;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    team[0] =
        say(&w, "person", "James", "name James; gender male; age 27; weight 85; height 175; sport cricket; pos batsman",
            "gender male; sport cricket; age <= 45", NULL);
    team[1] = say(&w, "person", "Stephen",
                  "name Stephen; gender male; age 22; weight 72; height 183; sport cricket; pos bowler",
                  "sport cricket; age <= 45", NULL);
    team[2] = say(&w, "person", "Harry",
                  "name Harry; gender male; age 31; weight 80; height 185; sport cricket; pos wicketkeeper",
                  "gender male; sport cricket; age <= 45", NULL);
    team[3] = say(&w, "person", "Susan",
                  "name Susan; gender female; age 19; weight 58; height 165; sport cricket; pos bowler",
                  "sport cricket; age <= 25", NULL);
    tap_ok(grdl_peers(team, 3, NULL), "listing 6.9: James, Stephen and Harry are a team");
    tap_ok(!grdl_peers(team, 4, NULL), "but not with Susan");
    tap_ok(grdl_pair(GRDL_PEER, team[3], team[1], NULL), "who could team up with Stephen");
    tap_ok(!grdl_pair(GRDL_PEER, team[3], team[0], NULL) && !grdl_pair(GRDL_PEER, team[3], team[2], NULL),
           "and not with James or Harry");
    grdl_compositions_init(&found, 3);
    tap_ok(grdl_find_peers(team, 4, 0, 1000, NULL, &found) && found.count == 1 && found.members[0] == 0 &&
               found.members[1] == 1 && found.members[2] == 2,
           "a matcher of three finds that team and no other");
    grdl_compositions_done(&found);
    grdl_compositions_init(&found, 2);
    tap_ok(grdl_find_peers(team, 4, 0, 1000, NULL, &found) && found.count == 4, "a matcher of two finds four pairs");
    grdl_exclude(&found, 4, 0, &chosen);
    tap_ok(chosen.count == 2 && chosen.members[0] == 1 && chosen.members[1] == 3 && chosen.members[2] == 0 &&
               chosen.members[3] == 2,
           "of which a multi matcher takes Stephen and Susan, who has no other, then James and Harry");
    grdl_compositions_done(&found);
    grdl_compositions_done(&chosen);
    grdl_compositions_init(&found, 2);
    tap_ok(!grdl_find_peers(team, 4, 0, 3, NULL, &found), "a search that was cut short says so");
    grdl_compositions_done(&found);
    tap_ok(grdl_hierarchy(team + 1, 2, team[0], NULL) && !grdl_hierarchy(team + 1, 3, team[0], NULL),
           "James is master of Stephen and Harry, not of Susan: the slaves' requirements do not count");
    tap_ok(grdl_hierarchy((const struct grdl_reading *const[]){team[0], team[2], team[3]}, 3, team[1], NULL),
           "Stephen is master of all, whatever they think of him");
    world_end(&w);
}

static void single_and_multi_matchers(void)
{
    static const uint32_t listing[][2] = {{1, 3}, {1, 4}, {3, 5}, {3, 8}, {7, 8}};
    static const uint32_t exclusive[][2] = {{1, 4}, {3, 5}, {7, 8}};
    struct grdl_compositions found, chosen;

    grdl_compositions_init(&found, 2);
    for (size_t i = 0; i < 5; i++)
        grdl_compositions_add(&found, listing[i]);
    grdl_exclude(&found, 9, 0, &chosen);
    tap_ok(chosen.count == 3 && !memcmp(chosen.members, exclusive, sizeof exclusive),
           "listings 6.7, 6.8: of five pairs that overlap, three that do not");
    grdl_compositions_done(&chosen);
    grdl_exclude(&found, 9, 2, &chosen);
    tap_ok(chosen.count == 2, "or fewer, when fewer are wanted");
    grdl_compositions_done(&chosen);
    grdl_compositions_done(&found);
}

static void pairs_by_class(void)
{
    struct grdl_world w;
    const struct grdl_reading *all[4];
    struct grdl_pairing pairing = {.mode = GRDL_PEER};
    struct grdl_compositions found;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    all[0] = say(&w, "executor", "e", "mhz 3000", NULL, NULL);
    all[1] = say(&w, "task", "t", NULL, "mhz > 2000", NULL);
    all[2] = say(&w, "executor", "f", "mhz 1000", NULL, NULL);
    all[3] = say(&w, "executor", "g", "mhz 2500", NULL, NULL);
    pairing.first_class = "task";
    pairing.second_class = "executor";
    grdl_find_pairs(all, 4, &pairing, NULL, &found);
    tap_ok(found.count == 2 && found.members[0] == 1 && found.members[1] == 0 && found.members[2] == 1 &&
               found.members[3] == 3,
           "tasks are paired with executors, wherever they stand");
    grdl_compositions_done(&found);
    pairing.limit = 1;
    grdl_find_pairs(all, 4, &pairing, NULL, &found);
    tap_ok(found.count == 1, "as many as are wanted");
    grdl_compositions_done(&found);
    pairing = (struct grdl_pairing){.mode = GRDL_PEER};
    grdl_find_pairs(all, 4, &pairing, NULL, &found);
    tap_ok(found.count == 5, "without classes each pair is found once: %u", found.count);
    grdl_compositions_done(&found);
    pairing.mode = GRDL_ONE_WAY;
    grdl_find_pairs(all, 4, &pairing, NULL, &found);
    tap_ok(found.count == 11, "one way, each pair is looked at both ways: %u", found.count);
    grdl_compositions_done(&found);
    world_end(&w);
}

/* ---- aggregates ---- */

static void aggregated_executor(void)
{
    static const struct grdl_merge_rule rules[] = {{"os", GRDL_MERGE_AGREE, NULL},
                                                   {"cpus", GRDL_MERGE_ADD, "1"},
                                                   {"bench", GRDL_MERGE_ADD, NULL},
                                                   {"ram", GRDL_MERGE_LEAST, NULL},
                                                   {NULL, GRDL_MERGE_DROP, NULL}};
    struct grdl_world w;
    const struct grdl_reading *parts[3], *job, *reading;
    struct grdl_resource *whole, *expected;
    uint32_t found[3];
    struct err err = {0};

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    parts[0] = say(&w, "executor", "pentium", pentium_chars, "mem:MB <= 256", NULL);
    parts[1] = say(&w, "executor", "amd", amd_chars, "mem:MB <= 256; disk:GB <= 1; disk:MB <= 1024", NULL);
    parts[2] = say(&w, "executor", "vax", "os vms; bench:SI2K 0.1; ram:MB 1", NULL, NULL);
    job = say(&w, "task", "testjob2", testjob_chars, "cpus 2; bench:SI2K >= 1.5", NULL);
    tap_ok(!grdl_matches(parts[0], job, NULL) && !grdl_matches(parts[1], job, NULL),
           "listing 6.10: neither pentium nor amd satisfies testjob2");
    whole = grdl_aggregate(w.consumer, rules, 5, parts, 2, "executor", "aggregated-executor", &err);
    expected = resource_said("executor", "aggregated-executor", "os linux; cpus 2; bench:SI2K 2; ram:MB 512",
                             "mem:MB <= 256; disk:GB <= 1", NULL);
    tap_ok(whole && grdl_resource_same(whole, expected),
           "listing 6.11: merged they are two processors, with both benchmarks added, and require what each does: %s",
           err.text);
    grdl_resource_free(expected);
    reading = say_resource(&w, whole);
    tap_ok(grdl_pair(GRDL_PEER, reading, job, NULL), "and are a peer of it");
    tap_ok(!grdl_aggregate(w.consumer, rules, 5, parts + 1, 2, "executor", "x", &err), "linux and vms: %s", err.text);
    tap_ok(grdl_aggregate_find(w.consumer, rules, 5, job, parts, 3, 3, 100, found) == 2 && found[0] == 0 &&
               found[1] == 1,
           "an aggregator finds the two by itself");
    tap_ok(grdl_aggregate_find(w.consumer, rules, 5, job,
                               (const struct grdl_reading *const[]){parts[2], parts[0], parts[1]}, 3, 3, 100,
                               found) == 2 &&
               found[0] == 1 && found[1] == 2,
           "wherever they stand, and whatever cannot be merged with them");
    tap_ok(grdl_aggregate_find(w.consumer, rules, 5, job, parts, 3, 3, 3, found) == 0, "unless it may not try as much");
    world_end(&w);
}

static void licence_problem(void)
{
    struct grdl_world w;
    const struct grdl_reading *job, *pool[3];
    uint32_t found[3];

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    job = say(&w, "task", "licensejob1", NULL, "mflops >= 4000; license matlab", NULL);
    pool[0] = say(&w, "executor", "proud", "mflops 9000", "vo physics", NULL);
    pool[1] = say(&w, "license", "matlab-license", "license matlab", NULL, NULL);
    pool[2] = say(&w, "executor", "pentium3ghz", "mflops 6000", NULL, NULL);
    tap_ok(grdl_aggregate_find(w.consumer, NULL, 0, job, pool, 3, 3, 100, found) == 2 && found[0] == 1 && found[1] == 2,
           "listing 6.12: licence and executor together satisfy the job; one that does not want it is left out");
    tap_ok(grdl_aggregate_find(w.consumer, NULL, 0, job, pool, 2, 3, 100, found) == 0,
           "without an executor nothing does");
    world_end(&w);
}

static void merges_say_why_not(void)
{
    static const struct {
        const char *a, *b;
        enum grdl_merge merge;
        const char *missing;
        const char *whole; /* NULL: they cannot be merged */
        const char *words;
    } rows[] = {
        {"x:GB 1", "x:MB 512", GRDL_MERGE_ADD, NULL, "x:GB 1.5", "sums are in the unit of the first"},
        {"x:hr 1", "x:min 30", GRDL_MERGE_MOST, NULL, "x:hr 1", "the most"},
        {"x:min 30", "x:hr 1", GRDL_MERGE_MOST, NULL, "x:min 60", "the most, of the second"},
        {"x -3", "x -2", GRDL_MERGE_MOST, NULL, "x -2", "the most below nothing"},
        {"x 3", "x 2", GRDL_MERGE_LEAST, NULL, "x 2", "the least"},
        {"x:GB 1", "x:s 5", GRDL_MERGE_ADD, NULL, NULL, "bytes and seconds do not add"},
        {"x 1", "y 2", GRDL_MERGE_ADD, NULL, NULL, "a part without a number does not add"},
        {"x:KB 1", "y 2", GRDL_MERGE_ADD, "2", "x:KB 3; y 2", "unless the rule says what it counts as"},
        {"x 1; x 2", "x 3", GRDL_MERGE_ADD, NULL, NULL, "nor does a part with two"},
        {"x linux", "x 3", GRDL_MERGE_LEAST, NULL, NULL, "nor one with none"},
        {"x 1; x 2", "x 2; x 3; x 3", GRDL_MERGE_UNITE, NULL, "x 1; x 2; x 3", "united, each value is there once"},
        {"x 1; x 2", "x 2.0; x 1", GRDL_MERGE_AGREE, NULL, "x 1; x 2", "the same values agree"},
        {"x 1", "x 1; x 2", GRDL_MERGE_AGREE, NULL, NULL, "others do not"},
        {"x 1", "y 2", GRDL_MERGE_AGREE, NULL, NULL, "nor does one of the class that says nothing"},
        {"x 1", "x 2; y 3", GRDL_MERGE_DROP, NULL, "y 3", "what is dropped is not there"},
        {"y 1", "y 1", GRDL_MERGE_ADD, NULL, "y 1", "what nobody has is not there"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_merge_rule rule = {"x", rows[i].merge, rows[i].missing};
        struct grdl_world w;
        const struct grdl_reading *parts[2];
        struct grdl_resource *whole, *expected = resource_said("whole", "w", rows[i].whole, NULL, NULL);
        struct err err = {0};

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        parts[0] = say(&w, "part", "one", rows[i].a, NULL, NULL);
        parts[1] = say(&w, "part", "two", rows[i].b, NULL, NULL);
        whole = grdl_aggregate(w.consumer, &rule, 1, parts, 2, "whole", "w", &err);
        tap_ok(rows[i].whole ? whole && grdl_resource_same(whole, expected) : !whole && *err.text, "%s %s",
               rows[i].words, err.text);
        grdl_resource_free(whole);
        grdl_resource_free(expected);
        world_end(&w);
    }
}

int main(void)
{
    listing_5_4();
    sets_of_characteristics();
    requirements_in_requirements();
    spaces_of_requirements();
    empty_spaces();
    characteristics_meet_requirements();
    partial_matches();
    pentium_and_testjob();
    cricketers();
    single_and_multi_matchers();
    pairs_by_class();
    aggregated_executor();
    licence_problem();
    merges_say_why_not();
    return tap_done();
}
