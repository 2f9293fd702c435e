/* Chapter 8 of GRDL: profiles and contracts, templates and queues, shapes, consumables, blocks of time. */
#include "grdl_world.h"
#include "match/grdl/consume.h"
#include "match/grdl/profile.h"
#include "match/grdl/shapes.h"

static const char pentium_chars[] =
    "cpu_type pentium; mhz 2800; os linux; software openssl; software python; ram:MB 512";
static const char job_chars[] = "norm_cpu:hr 2; mem:MB 180; disk:MB 500";
static const char job_reqs[] = "os linux; software python; mhz >= 2500";

static struct grdl_world the;

static const struct grdl_reading *job(void)
{
    return say(&the, "task", "testjob1", job_chars, job_reqs, "cost <");
}

static const struct grdl_reading *pentium(const char *reqs)
{
    return say(&the, "executor", "pentium", pentium_chars, reqs, NULL);
}

/* Is part `which` of the profile that resource? */
static void part_is(const struct grdl_profile *profile, uint32_t which, const char *class_name, const char *name,
                    const char *chars, const char *reqs, const char *words)
{
    struct grdl_resource *expected = resource_said(class_name, name, chars, reqs, NULL);

    tap_ok(grdl_resource_same(profile->parts.items[which], expected), "%s", words);
    grdl_resource_free(expected);
}

/* ---- profiles ---- */

static void profiles_of_a_composition(void)
{
    const struct grdl_reading *pair[2];
    struct grdl_profile profile;
    struct err err = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    pair[0] = pentium("norm_cpu:min <= 480; norm_cpu:min >= 5; mem:MB <= 256; gpu !=");
    pair[1] = job();
    tap_ok(!grdl_profile_make(GRDL_PROFILE_MINIMAL, GRDL_PEER, pair, 2, &profile, &err), "there is a minimal profile");
    part_is(&profile, 0, "executor", "pentium", "mhz 2800; os linux; software python", NULL,
            "with what the job required of pentium, as pentium said it");
    part_is(&profile, 1, "task", "testjob1", "norm_cpu:hr 2; mem:MB 180", NULL, "and what pentium required of the job");
    grdl_profile_done(&profile);
    grdl_profile_make(GRDL_PROFILE_FULL, GRDL_PEER, pair, 2, &profile, &err);
    part_is(&profile, 0, "executor", "pentium", pentium_chars,
            "norm_cpu:min <= 480; norm_cpu:min >= 5; mem:MB <= 256; gpu !=", "the full profile has all of pentium");
    part_is(&profile, 1, "task", "testjob1", job_chars, job_reqs, "and all of the job but its preferences");
    grdl_profile_done(&profile);
    tap_ok(grdl_profile_make(GRDL_PROFILE_FAILURE, GRDL_PEER, pair, 2, &profile, &err) == -1,
           "there is no failure profile: %s", err.text);
    pair[0] = pentium("norm_cpu:min <= 60; norm_cpu:min >= 5; mem:MB <= 256");
    tap_ok(grdl_profile_make(GRDL_PROFILE_MINIMAL, GRDL_PEER, pair, 2, &profile, &err) == -1,
           "and where they do not match, no minimal one: %s", err.text);
    tap_ok(!grdl_profile_make(GRDL_PROFILE_FAILURE, GRDL_PEER, pair, 2, &profile, &err), "but one of the failure");
    part_is(&profile, 0, "executor", "pentium", NULL, "norm_cpu:min <= 60", "with what the job does not satisfy");
    part_is(&profile, 1, "task", "testjob1", NULL, NULL, "and nothing that pentium does not");
    grdl_profile_done(&profile);
    tap_ok(!grdl_profile_make(GRDL_PROFILE_MINIMAL, GRDL_ONE_WAY, pair, 2, &profile, &err), "one way they match");
    part_is(&profile, 1, "task", "testjob1", NULL, NULL, "and pentium's requirements do not count");
    grdl_profile_done(&profile);
    pair[0] = say(&the, "executor", "e", "ram:GB 2; disk 5; cpu 1", NULL, NULL);
    pair[1] = say(&the, "task", "t", NULL, "ram:GB set_ne 1; disk:s !=; gpu 1", NULL);
    tap_ok(!grdl_profile_make(GRDL_PROFILE_MINIMAL, GRDL_PARTIAL, pair, 2, &profile, &err),
           "in part they match though there is no gpu");
    part_is(
        &profile, 0, "executor", "e", "ram:GB 2", NULL,
        "a value that is not the one ruled out was agreed upon; that something is absent leaves nothing to agree upon");
    grdl_profile_done(&profile);
    pair[1] = say(&the, "task", "t", NULL, "ram:GB set_ne 2; gpu 1", NULL);
    grdl_profile_make(GRDL_PROFILE_FAILURE, GRDL_PARTIAL, pair, 2, &profile, &err);
    part_is(&profile, 1, "task", "t", NULL, "ram:GB set_ne 2", "in part, what fails is what is there");
    grdl_profile_done(&profile);
    grdl_profile_make(GRDL_PROFILE_FAILURE, GRDL_ONE_WAY, pair, 2, &profile, &err);
    part_is(&profile, 1, "task", "t", NULL, "ram:GB set_ne 2; gpu 1", "in full, also what is not");
    grdl_profile_done(&profile);
    world_end(&the);
}

static void contracts_are_checked_later(void)
{
    const struct grdl_reading *pair[2];
    const struct grdl_resource *now[2] = {NULL, NULL};
    struct grdl_profile minimal, full;
    struct grdl_breaches breaches;

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    pair[0] = pentium("norm_cpu:min <= 480; mem:MB <= 256");
    pair[1] = job();
    grdl_profile_make(GRDL_PROFILE_MINIMAL, GRDL_PEER, pair, 2, &minimal, NULL);
    grdl_profile_make(GRDL_PROFILE_FULL, GRDL_PEER, pair, 2, &full, NULL);
    tap_ok(grdl_contract_holds(the.consumer, &minimal, GRDL_PEER, now, NULL) &&
               grdl_contract_holds(the.consumer, &full, GRDL_PEER, NULL, NULL),
           "a contract holds when nothing has changed");
    now[0] = say(&the, "executor", "pentium", "mhz:GHz 2.8; os linux; software python; ram:MB 1", NULL, NULL)->resource;
    tap_ok(grdl_contract_holds(the.consumer, &minimal, GRDL_PEER, now, NULL) &&
               grdl_contract_holds(the.consumer, &full, GRDL_PEER, now, NULL),
           "and when only what was not agreed upon has, or how it is written");
    now[0] = say(&the, "executor", "pentium", "mhz 2600; os linux; software python", NULL, NULL)->resource;
    tap_ok(!grdl_contract_holds(the.consumer, &minimal, GRDL_PEER, now, &breaches) && breaches.count == 1 &&
               breaches.items[0].kind == GRDL_BREACH_MISSING && breaches.items[0].by == 0 &&
               !strcmp(breaches.items[0].what->dimension, "mhz"),
           "what was agreed upon to the value is missing in a slower machine");
    grdl_breaches_done(&breaches);
    tap_ok(grdl_contract_holds(the.consumer, &full, GRDL_PEER, now, NULL),
           "while its composition is still valid: 2600 is at least 2500");
    now[0] = say(&the, "executor", "pentium", "mhz 2400; os linux; software perl", "disk:MB < 400", NULL)->resource;
    tap_ok(!grdl_contract_holds(the.consumer, &full, GRDL_PEER, now, &breaches) && breaches.count == 3,
           "one that is too slow, lacks python and wants smaller jobs breaks it in three ways: %u", breaches.count);
    tap_ok(breaches.count == 3 && breaches.items[0].of == 0 && breaches.items[0].by == 1 &&
               !strcmp(breaches.items[0].what->text, "400") && breaches.items[1].by == 0,
           "each with whose requirement it is, and who does not meet it");
    grdl_breaches_done(&breaches);
    now[0] = say(&the, "executor", "pentium", "mhz 3000; os linux; software python", "disk:MB < 400", NULL)->resource;
    tap_ok(!grdl_contract_holds(the.consumer, &full, GRDL_PEER, now, NULL) &&
               grdl_contract_holds(the.consumer, &full, GRDL_ONE_WAY, now, NULL),
           "one way, what pentium requires does not count");
    now[0] = say(&the, "executor", "pentium", "mhz 3000; os linux", NULL, NULL)->resource;
    tap_ok(!grdl_contract_holds(the.consumer, &full, GRDL_ONE_WAY, now, NULL) &&
               grdl_contract_holds(the.consumer, &full, GRDL_PARTIAL, now, NULL),
           "in part, what is not there does not");
    now[0] = say(&the, "executor", "pentium", "mhz 2000; os linux", "disk:MB < 400", NULL)->resource;
    tap_ok(!grdl_contract_holds(the.consumer, &full, GRDL_PARTIAL, now, &breaches) && breaches.count == 1,
           "but what is there does");
    grdl_breaches_done(&breaches);
    tap_ok(!grdl_contract_holds(the.consumer, &full, GRDL_PARTIAL_PEER, now, &breaches) && breaches.count == 2,
           "of both, as peers");
    grdl_breaches_done(&breaches);
    grdl_profile_done(&minimal);
    grdl_profile_done(&full);
    world_end(&the);
}

static void failures_order_later_tests(void)
{
    const struct grdl_reading *task, *bad;
    struct grdl_failures failures;
    struct grdl_counts first = {0}, second = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    task = say(&the, "task", "t", NULL, "a 1; b 1; c 1; d 1", NULL);
    bad = say(&the, "executor", "e", "a 1; b 1; c 1; d 2", NULL, NULL);
    grdl_failures_init(&failures);
    grdl_matches_learning(bad, task, &failures, &first);
    tap_ok(first.comparisons == 4 && grdl_failures_of(&failures, grdl_consumer_find(the.consumer, "d")) == 1,
           "the first time the last of four requirements fails");
    tap_ok(!grdl_matches_learning(bad, task, &failures, &second) && second.comparisons == 1,
           "the next time it is tested first");
    grdl_failures_done(&failures);
    world_end(&the);
}

/* ---- templates ---- */

static void template_relation(void)
{
    static const struct {
        const char *a_chars, *a_reqs, *b_chars, *b_reqs;
        bool is;
        const char *words;
    } rows[] = {
        {"x 1", "y < 5", "x 1; x 2; z 3", "y <= 5", true,
         "figure 8.2: fewer characteristics, a more restrictive requirement space"},
        {"x 1; x 2", "y < 5", "x 1", "y < 5", false, "a characteristic that the resource has not"},
        {"x 1", "y < 6", "x 1", "y < 5", false, "a requirement that asks for less"},
        {"x 1", NULL, "x 1", "y < 5", false, "or for nothing"},
        {"x 1", "y < 5; z 1", "x 1", "y < 5", true, "and one that asks for more"},
        {NULL, NULL, "x 1", NULL, true, "nothing is a template of whatever requires nothing"},
        {"x 1", "y set_lt 5", "x 1", "y set_lt 5", false, "a set-wise requirement has no place in a template"},
        {"x 1", "y !=", "x 1", "y !=", false, "nor has != without a value"},
        {"x 1", "y != 3", "x 1", "y != 3", true, "but != with one has"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world_begin(&the, GRDL_TYPE_TRANSFORMING);
        tap_ok(grdl_is_template(say(&the, "a", "a", rows[i].a_chars, rows[i].a_reqs, NULL),
                                say(&the, "b", "b", rows[i].b_chars, rows[i].b_reqs, NULL)) == rows[i].is,
               "%s", rows[i].words);
        world_end(&the);
    }
}

static void templates_refuse_with_the_reason(void)
{
    struct grdl_queue queue;
    struct err err = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    tap_ok(grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, false,
                           say(&the, "t", "t", NULL, "ram set_ge 2", NULL), &err) == -1 &&
               strstr(err.text, "ram: 'set_ge' looks at all characteristics"),
           "a queue refuses a set-wise requirement in its template: %s", err.text);
    tap_ok(grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, false,
                           say(&the, "t", "t", NULL, "ram !=", NULL), &err) == -1 &&
               strstr(err.text, "'!=' without a value"),
           "and != without a value: %s", err.text);
    world_end(&the);
}

static void shared_composition_queue(void)
{
    const struct grdl_reading *head, *members[3], *candidate;
    struct grdl_queue queue;
    struct grdl_counts counts = {0};
    struct err err = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    head = say(&the, "task", "template", "exec reco; vo physics", "mhz >= 2000; os linux", NULL);
    members[0] = say(&the, "task", "m1", "exec reco; vo physics; run 1", "mhz >= 1500; os linux", NULL);
    members[1] = say(&the, "task", "m2", "exec reco; vo physics; run 2", "mhz > 1000", NULL);
    members[2] = say(&the, "task", "m3", "exec reco; vo physics; run 3", "mhz >= 3000", NULL);
    tap_ok(!grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, false, head, &err) &&
               !grdl_queue_add(&queue, members[0], &err) && !grdl_queue_add(&queue, members[1], &err),
           "tasks that are like the template join its queue");
    tap_ok(grdl_queue_add(&queue, members[2], &err) == -1, "one that asks for more than it does not: %s", err.text);
    candidate = say(&the, "executor", "x", "mhz 2400; os linux", "vo physics", NULL);
    tap_ok(grdl_queue_offer(&queue, candidate, NULL, NULL, &counts) == 0 && counts.pairs == 2,
           "a peer of the template gets the first task, and only the template was looked at");
    tap_ok(grdl_pair(GRDL_PEER, candidate, members[0], NULL) && grdl_pair(GRDL_PEER, candidate, members[1], NULL),
           "which is right for both of them");
    candidate = say(&the, "executor", "x", "mhz 2400; os linux", "vo physics", "run >");
    tap_ok(grdl_queue_offer(&queue, candidate, NULL, NULL, NULL) == 1, "where it prefers a task it gets that one");
    candidate = say(&the, "executor", "x", "mhz 2400; os linux", "run 2", NULL);
    tap_ok(grdl_queue_offer(&queue, candidate, NULL, NULL, NULL) == UINT32_MAX,
           "one that asks for what the template does not say gets nothing");
    candidate = say(&the, "executor", "x", "mhz 2400; os linux", "run set_ne 1", NULL);
    tap_ok(grdl_queue_offer(&queue, candidate, NULL, NULL, NULL) == 1,
           "one that looks at all characteristics is tested with each member, and gets the second");
    grdl_queue_done(&queue);
    world_end(&the);
}

static void match_equivalent_queue(void)
{
    const struct grdl_reading *head, *good, *slow;
    struct grdl_queue queue;
    struct err err = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    head = say(&the, "executor", "queue", "mhz 2000; os linux", "norm_cpu:hr <= 8", NULL);
    grdl_queue_init(&queue, GRDL_MATCH_EQUIVALENT, GRDL_PREFS_OF_MEMBERS, false, head, NULL);
    tap_ok(!grdl_queue_add(&queue, say(&the, "task", "t1", "norm_cpu:min 30", "mhz > 1000", NULL), &err) &&
               !grdl_queue_add(&queue, say(&the, "task", "t2", "norm_cpu:hr 8", "os linux", NULL), &err),
           "tasks that match the template join a match-equivalent queue");
    tap_ok(grdl_queue_add(&queue, say(&the, "task", "t3", "norm_cpu:hr 9", "os linux", NULL), &err) == -1,
           "one that does not, does not: %s", err.text);
    good = say(&the, "executor", "x", "mhz 2000; os linux; ram 9", "norm_cpu:hr <= 12", NULL);
    slow = say(&the, "executor", "x", "mhz 1900; os linux; ram 9", "norm_cpu:hr <= 12", NULL);
    tap_ok(grdl_queue_offer(&queue, good, NULL, NULL, NULL) == 0,
           "an executor that the template is one of gets a task");
    tap_ok(grdl_queue_offer(&queue, slow, NULL, NULL, NULL) == UINT32_MAX,
           "one that is not, does not, though it would have matched the first");
    grdl_queue_done(&queue);
    world_end(&the);
}

static const struct grdl_reading *current_of(void *user, const struct grdl_reading *member)
{
    const struct grdl_reading *const *now = user;

    for (; now[0]; now += 2)
        if (now[0] == member)
            return now[1];
    return member;
}

static void two_stages(void)
{
    const struct grdl_reading *head, *members[3], *candidate, *now[7] = {0};
    struct grdl_queue queue;
    struct grdl_counts counts = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    head = say(&the, "executor", "static", "os linux; arch x86", "vo physics", NULL);
    grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, true, head, NULL);
    for (int i = 0; i < 3; i++) {
        members[i] = say(&the, "executor", "e", "os linux; arch x86", "vo physics", NULL);
        grdl_queue_add(&queue, members[i], NULL);
        now[2 * i] = members[i];
    }
    now[1] = say(&the, "executor", "e", "os linux; arch x86; load 0.9", "vo physics", NULL);
    now[3] = NULL;
    now[5] = say(&the, "executor", "e", "os linux; arch x86; load 0.1", "vo physics", NULL);
    candidate = say(&the, "task", "t", "vo physics", "os linux; load < 0.5", NULL);
    tap_ok(
        grdl_queue_offer(&queue, candidate, current_of, now, &counts) == 2,
        "the static part is matched by the template; of the members as they are now one is busy, one is gone, one is taken");
    tap_ok(counts.pairs == 2 + 2 + 2, "the template and each that is there are looked at once, both ways: %d",
           (int)counts.pairs);
    counts = (struct grdl_counts){0};
    candidate = say(&the, "task", "t", "vo physics", "os vms; load < 0.5", NULL);
    tap_ok(grdl_queue_offer(&queue, candidate, current_of, now, &counts) == UINT32_MAX && counts.pairs == 1,
           "where the static part does not match, nobody's current description is asked for");
    grdl_queue_done(&queue);
    world_end(&the);
}

static void queues_of_parts(void)
{
    static const struct {
        const char *head_chars, *head_reqs, *chars, *reqs;
        bool joins;
        const char *words;
    } rows[] = {
        {"os linux; arch x86", "vo physics", "os linux", "vo physics", true, "a member that does not tell its arch"},
        {"os linux; arch x86", "vo physics", "os vms", "vo physics", false, "one that tells another system"},
        {"os linux", "mem < 5", "os linux", "mem < 6", true, "one that asks for less of what the template asks for"},
        {"os linux", "mem < 5", "os linux", "mem < 4", false, "one that asks for more of it"},
        {"os linux", "mem < 5", "os linux", "disk < 4", true, "one that asks for what the template does not speak of"},
        {"os linux", "mem < 5; mem > 1", "os linux", "mem > 0", true, "one whose requirement the second implies"},
        {"os linux", "disk < 5; mem > 1", "os linux", "mem > 0", true, "one of several dimensions"},
        {"os linux", "disk > 5; mem > 1", "os linux", "mem > 2", false, "another dimension implies nothing"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_queue queue;

        world_begin(&the, GRDL_TYPE_TRANSFORMING);
        grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, true,
                        say(&the, "e", "head", rows[i].head_chars, rows[i].head_reqs, NULL), NULL);
        tap_ok((grdl_queue_add(&queue, say(&the, "e", "m", rows[i].chars, rows[i].reqs, NULL), NULL) == 0) ==
                   rows[i].joins,
               "described in part, %s %s the queue", rows[i].words, rows[i].joins ? "joins" : "does not join");
        grdl_queue_done(&queue);
        world_end(&the);
    }
}

static void preferences_of_templates(void)
{
    const struct grdl_reading *plain, *wanting, *member, *wanting_more, *wanting_other;
    struct grdl_queue queue;
    struct err err = {0};

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    plain = say(&the, "task", "template", "exec reco", NULL, NULL);
    wanting = say(&the, "task", "template", "exec reco", NULL, "cost <");
    member = say(&the, "task", "m", "exec reco", NULL, NULL);
    wanting_more = say(&the, "task", "m", "exec reco", NULL, "cost < @1; mhz > @2");
    wanting_other = say(&the, "task", "m", "exec reco", NULL, "mhz >");
    tap_ok(grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, false, wanting, &err) == -1,
           "8.2.4, first way: a template has no preferences: %s", err.text);
    grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_MEMBERS, false, plain, NULL);
    tap_ok(!grdl_queue_add(&queue, wanting_other, &err), "and its members have any");
    grdl_queue_done(&queue);
    grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_OF_TEMPLATE, false, wanting, NULL);
    tap_ok(!grdl_queue_add(&queue, member, &err) && grdl_queue_add(&queue, wanting_more, &err) == -1,
           "second way: only the template has: %s", err.text);
    grdl_queue_done(&queue);
    grdl_queue_init(&queue, GRDL_SHARED_COMPOSITION, GRDL_PREFS_EQUIVALENT, false, wanting, NULL);
    tap_ok(!grdl_queue_add(&queue, wanting_more, &err) && grdl_queue_add(&queue, member, &err) == -1 &&
               grdl_queue_add(&queue, wanting_other, &err) == -1,
           "third way: members order as the template does, and may order more");
    grdl_queue_done(&queue);
    grdl_queue_init(&queue, GRDL_MATCH_EQUIVALENT, GRDL_PREFS_EQUIVALENT, false, wanting, NULL);
    tap_ok(grdl_queue_takes(&queue, wanting_more, NULL) && !grdl_queue_takes(&queue, wanting_other, NULL),
           "or, of a match-equivalent queue, candidates do");
    grdl_queue_done(&queue);
    world_end(&the);
}

static void shapes_gather_what_looks_alike(void)
{
    const struct grdl_reading *tasks[5], *executors[4];
    struct grdl_dimensions by_tasks, by_executors;
    struct grdl_shapes left, right;
    struct grdl_shape_pairs pairs;

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    tasks[0] = say(&the, "task", "a", "run 1; vo physics", "mhz > 2000; os linux", NULL);
    tasks[1] = say(&the, "task", "b", "vo physics; run 2", "os linux; mhz > 2000", NULL);
    tasks[2] = say(&the, "task", "c", "run 3; vo genes", "mhz > 2000; os linux", NULL);
    tasks[3] = say(&the, "task", "d", "run 4; vo physics", "mhz:GHz > 2; os linux", NULL);
    tasks[4] = say(&the, "task", "e", "run 5; vo physics", "mhz set_gt 2000; os linux", NULL);
    executors[0] = say(&the, "executor", "x", "host a; mhz 2800; os linux", "vo physics", NULL);
    executors[1] = say(&the, "executor", "y", "host b; mhz:GHz 2.8; os linux; os linux", "vo physics", NULL);
    executors[2] = say(&the, "executor", "z", "host c; mhz 2800; mhz 1000; os linux", "vo physics", NULL);
    executors[3] = say(&the, "executor", "w", "host d; mhz 900; os linux", "vo physics", NULL);
    grdl_dimensions_init(&by_tasks);
    grdl_dimensions_init(&by_executors);
    for (int i = 0; i < 5; i++)
        grdl_dimensions_name(&by_tasks, tasks[i]);
    for (int i = 0; i < 4; i++)
        grdl_dimensions_name(&by_executors, executors[i]);
    grdl_shapes_make(tasks, 5, &by_executors, &left);
    grdl_shapes_make(executors, 4, &by_tasks, &right);
    tap_ok(left.count == 3 && left.shape_of[0] == left.shape_of[1] && left.shape_of[0] == left.shape_of[3],
           "tasks that differ in what no executor asks for, or in how they are written, have one shape");
    tap_ok(left.items[left.shape_of[4]].lone && left.items[left.shape_of[4]].count == 1,
           "one with a set-wise requirement is alone");
    tap_ok(right.count == 3 && right.shape_of[0] == right.shape_of[1], "likewise executors");
    grdl_shapes_match(&left, tasks, &right, executors, &pairs);
    tap_ok(pairs.all_pairs == 20 && pairs.count == 3 && pairs.resource_pairs == 3 * 2 + 3 * 1 + 1 * 2,
           "shapes stand for all their members: %d pairs", (int)pairs.resource_pairs);
    grdl_shape_pairs_done(&pairs);
    grdl_shapes_done(&left);
    grdl_shapes_done(&right);
    grdl_dimensions_done(&by_tasks);
    grdl_dimensions_done(&by_executors);
    world_end(&the);
}

/* ---- consumables and blocks ---- */

static void consumables(void)
{
    static const struct grdl_consumable rows[] = {{"ram", "mem"}, {"scratch", "disk"}, {"cpus", "threads"}};
    static const struct {
        const char *provider, *by, *left, *words;
    } cases[] = {
        {"ram:GB 2; scratch:MB 600; os linux", "mem:MB 512; disk:MB 500", "ram:GB 1.5; scratch:MB 100; os linux",
         "what is taken is gone, in the unit of the provider"},
        {"ram:GB 2; os linux", "disk:MB 500", "ram:GB 2; os linux", "what the provider does not say is not consumed"},
        {"cpus 4", "threads 4", "cpus 0", "all may be taken"},
        {"cpus 4", "threads 5", NULL, "but not more"},
        {"ram:GB 2", "mem:s 5", NULL, "nor seconds of memory"},
        {"ram:GB 2", "mem a little", NULL, "nor no number"},
        {"ram:GB 2; ram:GB 4", "mem:MB 5", NULL, "nor from one of two"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grdl_resource *left, *expected = resource_said("executor", "e", cases[i].left, "vo physics", NULL);
        struct err err = {0};

        world_begin(&the, GRDL_TYPE_TRANSFORMING);
        left = grdl_consume(say(&the, "executor", "e", cases[i].provider, "vo physics", NULL),
                            say(&the, "task", "t", cases[i].by, NULL, NULL), rows, 3, &err);
        tap_ok(cases[i].left ? left && grdl_resource_same(left, expected) : !left && *err.text, "%s %s", cases[i].words,
               err.text);
        grdl_resource_free(left);
        grdl_resource_free(expected);
        world_end(&the);
    }
}

static void consumed_until_nothing_fits(void)
{
    static const struct grdl_consumable rows[] = {{"ram", "mem"}};
    const struct grdl_reading *executor, *task;
    int taken = 0;

    world_begin(&the, GRDL_TYPE_TRANSFORMING);
    task = say(&the, "task", "t", "mem:MB 300", "ram:MB >= 300", NULL);
    executor = say(&the, "executor", "e", "ram:GB 1", NULL, NULL);
    while (grdl_pair(GRDL_PEER, executor, task, NULL) && taken < 10) {
        executor = say_resource(&the, grdl_consume(executor, task, rows, 1, NULL));
        taken++;
    }
    tap_ok(taken == 3, "three tasks of 300 MB fit into 1 GB: %d", taken);
    world_end(&the);
}

static void blocks_of_time(void)
{
    static const struct grdl_block block = {"start", "end"};
    static const struct {
        const char *start, *end; /* of the task */
        double shortest;
        int left;                  /* how many, -1: it cannot be reserved */
        const char *first, *other; /* the requirements of what is left */
        const char *words;
    } rows[] = {
        {"2008-09-30T10:00", "2008-09-30T12:00", 0, 2, "start >= 2008-09-30T08:00; end:date <= 2008-09-30T10:00",
         "start:date >= 2008-09-30T12:00; end <= 2008-09-30T18:00",
         "a block in the middle leaves one before and one behind"},
        {"2008-09-30T08:00", "2008-09-30T12:00", 0, 1, "start:date >= 2008-09-30T12:00; end <= 2008-09-30T18:00", NULL,
         "a block at the beginning leaves one behind"},
        {"2008-09-30T09:00", "2008-09-30T18:00", 7200, 0, NULL, NULL, "what is too short is not published"},
        {"2008-09-30T07:00", "2008-09-30T12:00", 0, -1, NULL, NULL, "a block that begins too early is refused"},
        {"2008-09-30T10:00", "2008-09-30T19:00", 0, -1, NULL, NULL, "so is one that ends too late"},
        {"2008-09-30T12:00", "2008-09-30T10:00", 0, -1, NULL, NULL, "and one that ends before it starts"},
        {"2008-09-30T12:00", "", 0, -1, NULL, NULL, "and one that does not say when it ends"},
        {"2008-09-30T08:00", "2008-09-30T18:00", 0, 0, NULL, NULL, "the whole window leaves nothing"},
        {"2008-09-30T09:00", "2008-09-30T17:00", 3600, 2, "start >= 2008-09-30T08:00; end:date <= 2008-09-30T09:00",
         "start:date >= 2008-09-30T17:00; end <= 2008-09-30T18:00", "what is just long enough is published"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char chars[200];
        struct grdl_resources left;
        struct err err = {0};
        int failed;

        world_begin(&the, GRDL_TYPE_TRANSFORMING);
        snprintf(chars, sizeof chars, "start %s; end %s", rows[i].start, rows[i].end);
        failed = grdl_reserve(
            say(&the, "executor", "e", "os linux", "start >= 2008-09-30T08:00; end <= 2008-09-30T18:00", NULL),
            say(&the, "task", "t", chars, NULL, NULL), &block, rows[i].shortest, &left, &err);
        tap_ok(rows[i].left < 0 ? failed == -1 : failed == 0 && left.count == (uint32_t)rows[i].left, "%s %s",
               rows[i].words, err.text);
        for (int j = 0; !failed && j < (int)left.count; j++) {
            struct grdl_resource *expected =
                resource_said("executor", "e", "os linux", j ? rows[i].other : rows[i].first, NULL);

            tap_ok(grdl_resource_same(left.items[j], expected), "and is %s", j ? rows[i].other : rows[i].first);
            grdl_resource_free(expected);
        }
        if (!failed)
            grdl_resources_done(&left);
        world_end(&the);
    }
}

static void windows_must_be_told(void)
{
    static const struct grdl_block block = {"start", "end"};
    static const struct {
        const char *reqs;
        int left; /* -1: it cannot be reserved */
        const char *words;
    } rows[] = {
        {"start >= 8; end <= 18", 2, "times may be plain numbers"},
        {"start > 8; end < 18; os = linux", 2,
         "bounds may be left out themselves, and there may be other requirements"},
        {"start >= 8", -1, "a window without an end is none"},
        {"end <= 18", -1, "nor is one without a start"},
        {"start >= 8; start >= 9; end <= 18", -1, "nor one with two starts"},
        {"start <= 12; end >= 9", -1, "nor one that is told the other way round"},
        {"start >= early; end <= 18", -1, "nor one whose time is a word"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_resources left;
        struct err err = {0};
        int failed;

        world_begin(&the, GRDL_TYPE_TRANSFORMING);
        failed = grdl_reserve(say(&the, "executor", "e", NULL, rows[i].reqs, NULL),
                              say(&the, "task", "t", "start 10; end 12; os linux", NULL, NULL), &block, 0, &left, &err);
        tap_ok(rows[i].left < 0 ? failed == -1 : failed == 0 && left.count == (uint32_t)rows[i].left, "%s %s",
               rows[i].words, err.text);
        if (!failed)
            grdl_resources_done(&left);
        world_end(&the);
    }
}

int main(void)
{
    profiles_of_a_composition();
    contracts_are_checked_later();
    failures_order_later_tests();
    template_relation();
    templates_refuse_with_the_reason();
    shared_composition_queue();
    match_equivalent_queue();
    two_stages();
    queues_of_parts();
    preferences_of_templates();
    shapes_gather_what_looks_alike();
    consumables();
    consumed_until_nothing_fits();
    blocks_of_time();
    windows_must_be_told();
    return tap_done();
}
