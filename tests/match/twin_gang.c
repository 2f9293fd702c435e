/* twin_gang.c: the search for gangs, by every algorithm, against trying everything (gang_slow.h).
 *
 * Pools are small and random (gang_pool.h). The roots of each are served in turn, and each is judged by the offers that the gangs
 * before it have left:
 *
 *   exists    a gang is formed if and only if there is one
 *   gang      what is formed is a gang, by the verifier
 *   largest   with preferences it is the one that is defined
 *   slow      the verifier and the enumeration agree: each gang that is tried out passes, one that was changed passes only if it is
 *             another of them; judging an edge as soon as it can be judged finds the same gangs as judging complete ones
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input; BERTH_POOL is a file of the sources with a pool as it is printed
 * here, to be judged alone. */
#include "common/gang_pool.h"
#include "common/tap.h"
#include "gang_cases.h"
#include "gang_slow.h"

#define REQUESTS_MAX 3
#define ADS_MAX 12
#define CHECKS_MAX 1500  /* of edges for a root; larger ones are left out */
#define GANGS_MAX 3000   /* of a root, that are kept to compare with */
#define MEMOS_MAX 128    /* roots with what is left to them, of a pool */
#define LATE_CHECKS 3000 /* without early judgement */

enum law { LAW_EXISTS, LAW_GANG, LAW_LARGEST, LAW_SLOW, LAW_COUNT };

/* What there is for a root when these ads are taken. */
struct memo {
    size_t root;
    uint64_t taken;
    bool preferences;
    struct slow_found found;
};

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    const struct dialect *dialect;
    struct buf texts[ADS_MAX], policy_text, say;
    struct tree *ads[ADS_MAX], *policy_ad;
    size_t requests, offers;
    struct policy policy;
    struct slow slow;
    struct memo memos[MEMOS_MAX];
    size_t memo_count;

    uint64_t hashes[GANGS_MAX]; /* of all gangs of a root */
    struct gang_member some[SLOW_MEMBERS_MAX];
    uint32_t some_count;
    size_t gang_count;

    struct gang_settings settings; /* of the run */
    size_t next_root;
    bool large; /* too much was to be tried: the run counts for nothing */

    uint64_t pools, formed, none, left_out, members, deep, mutants, mutants_well, late;
    uint64_t wrong[LAW_COUNT];
};

static const struct env env = {.now = 1772366400};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

/* ------------------------------------------------------------------------------------------------------- the pool */

static const char *const policies[] = {
    "[ DockingVector = { label.Mem, self.Rank } ]",
    "[ DockingVector = { self.Rank, -label.Key } ]",
    "[ DockingVector = { label.Rank, self.Rank, label.Mem is undefined ? 0 : label.Mem } ]",
    "[ DockingVector = { self.Rank, other.Host } ]",
    "[ DockingVector = { Rate is undefined ? 1 : 2, label.Type } ]",
};

static void pool_make(struct twin *twin)
{
    struct gang_maker m = {.rng = &twin->rng};
    size_t services;

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round * 7919);
    m.style = gang_style(&twin->rng);
    m.dialect = twin->dialect = below(twin, 5) ? &dialect_classic : &dialect_condor;
    twin->requests = 1 + below(twin, REQUESTS_MAX);
    twin->offers = 2 + below(twin, 4) + below(twin, 4);
    services = below(twin, 5) < 3 ? 1 + below(twin, 3) : 0;
    m.services = services > 0;
    buf_reset(&twin->policy_text);
    if (below(twin, 5) == 0)
        buf_adds(&twin->policy_text, policies[below(twin, sizeof policies / sizeof *policies)]);
    for (size_t i = 0; i < twin->requests + twin->offers; i++) {
        struct buf *last = i && i != twin->requests ? &twin->texts[i - 1] : NULL;

        m.out = &twin->texts[i];
        buf_reset(m.out);
        if (last && below(twin, 5) == 0)
            buf_add(m.out, last->text, last->len);
        else if (i < twin->requests)
            gang_put_request(&m);
        else if (services && below(twin, 2) == 0 && services--)
            gang_put_service(&m);
        else
            gang_put_leaf(&m);
    }
}

static struct tree *text_read(struct twin *twin, struct buf *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&twin->lang, twin->dialect, buf_string(text), &err);

    if (!tree) {
        printf("Bail out! %u:%u: %s in %s\n", err.line, err.column, err.text, buf_string(text));
        exit(1);
    }
    return tree;
}

static void pool_open(struct twin *twin)
{
    struct err err = {0};
    symbol wrong;

    for (size_t i = 0; i < twin->requests + twin->offers; i++)
        twin->ads[i] = text_read(twin, &twin->texts[i]);
    twin->policy_ad = twin->policy_text.len ? text_read(twin, &twin->policy_text) : NULL;
    if (policy_init(&twin->policy, twin->policy_ad, &wrong, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    slow_init(&twin->slow, &twin->lang, &env, &twin->policy, twin->ads, twin->requests, twin->offers);
    twin->memo_count = 0;
}

static void pool_close(struct twin *twin)
{
    slow_done(&twin->slow);
    policy_done(&twin->policy);
    tree_unref(twin->policy_ad);
    for (size_t i = 0; i < twin->requests + twin->offers; i++)
        tree_unref(twin->ads[i]);
    arena_reset(&twin->lang.arena);
}

static void pool_show(struct twin *twin)
{
    printf("# %s\n", twin->dialect == &dialect_condor ? "condor" : "classic");
    if (twin->policy_text.len)
        printf("# policy %s\n", buf_string(&twin->policy_text));
    for (size_t i = 0; i < twin->requests + twin->offers; i++)
        printf("# %s %s\n", i < twin->requests ? "request" : "offer", buf_string(&twin->texts[i]));
}

/* A pool as it is shown, with or without the marks in front. The text is cut up. */
static void pool_load(struct twin *twin, char *text)
{
    char *rest = text, *line;

    twin->dialect = &dialect_classic;
    twin->requests = twin->offers = 0;
    buf_reset(&twin->policy_text);
    while ((line = lang_line(&rest))) {
        line += strspn(line, "# ");
        if (strncmp(line, "condor", 6) == 0) {
            twin->dialect = &dialect_condor;
        } else if (strncmp(line, "policy ", 7) == 0) {
            buf_adds(&twin->policy_text, line + 7);
        } else if (strncmp(line, "request ", 8) == 0 || strncmp(line, "offer ", 6) == 0) {
            bool request = *line == 'r';
            size_t at = twin->requests + twin->offers;

            if (at == ADS_MAX) {
                printf("Bail out! more than %d ads\n", ADS_MAX);
                exit(1);
            }
            buf_reset(&twin->texts[at]);
            buf_adds(&twin->texts[at], line + (request ? 8 : 6));
            twin->requests += request;
            twin->offers += !request;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- differences */

static void say_gang(struct twin *twin, const struct gang_member *members, uint32_t count)
{
    for (uint32_t m = 0; m < count; m++)
        buf_addf(&twin->say, m ? " %u:ad %zu at %u.%u by %u;" : " %u:ad %zu;", m, members[m].place, members[m].parent,
                 members[m].port, members[m].link);
}

static void tell(struct twin *twin, enum law law)
{
    if (twin->wrong[law]++ >= 5)
        return;
    printf("# seed %llu, round %llu: %s\n", (unsigned long long)twin->seed, (unsigned long long)twin->round,
           buf_string(&twin->say));
    pool_show(twin);
}

/* -------------------------------------------------------------------------------- the verifier and the enumeration */

static uint64_t gang_hash(const struct gang_member *members, uint32_t count)
{
    uint64_t hash = count;

    for (uint32_t m = 0; m < count; m++)
        hash = rng_mix(rng_mix(hash + members[m].place) + ((uint64_t)members[m].parent << 32) +
                       (members[m].port << 16) + members[m].link);
    return hash;
}

static void gang_note(void *user, const struct slow_member *members, uint32_t count)
{
    struct twin *twin = user;
    struct gang_member plain[SLOW_MEMBERS_MAX] = {0};

    for (uint32_t m = 0; m < count; m++)
        plain[m] = members[m].is;
    if (twin->gang_count < GANGS_MAX)
        twin->hashes[twin->gang_count] = gang_hash(plain, count);
    if (below(twin, ++twin->gang_count) == 0) { /* any of them */
        memcpy(twin->some, plain, sizeof plain);
        twin->some_count = count;
    }
}

static bool gang_is_noted(const struct twin *twin, const struct gang_member *members, uint32_t count)
{
    uint64_t hash = gang_hash(members, count);

    for (size_t i = 0; i < twin->gang_count; i++)
        if (twin->hashes[i] == hash)
            return true;
    return false;
}

/* A little change; it may still be a gang. */
static uint32_t gang_mutate(struct twin *twin, struct gang_member *members, uint32_t count)
{
    uint32_t m = 1 + (uint32_t)below(twin, count > 1 ? count - 1 : 1), k;
    struct gang_member swapped;

    switch (count > 1 ? below(twin, 6) : 5) {
    case 0:
        members[m].place = twin->requests + below(twin, twin->offers);
        break;
    case 1:
        members[m].link = (uint32_t)below(twin, 3);
        break;
    case 2:
        members[m].port = (uint32_t)below(twin, 4);
        break;
    case 3:
        k = 1 + (uint32_t)below(twin, count - 1);
        swapped = members[m];
        members[m].place = members[k].place;
        members[k].place = swapped.place;
        break;
    case 4: /* the last one goes: nobody is below it */
        return count - 1;
    default:
        members[count].place = twin->requests + below(twin, twin->offers);
        members[count].parent = (uint32_t)below(twin, count);
        members[count].port = (uint32_t)below(twin, 4);
        members[count].link = (uint32_t)below(twin, 2);
        return count + 1;
    }
    return count;
}

static void slow_judge_mutants(struct twin *twin)
{
    struct buf why;

    buf_init(&why);
    for (int i = 0; i < 12; i++) {
        struct gang_member members[SLOW_MEMBERS_MAX + 1];
        uint32_t count = twin->some_count;
        bool noted, passes;

        memcpy(members, twin->some, sizeof twin->some);
        for (uint64_t n = i ? 1 + below(twin, 2) : 0; n; n--)
            count = gang_mutate(twin, members, count);
        noted = gang_is_noted(twin, members, count);
        buf_reset(&why);
        passes = slow_verify(&twin->slow, members, count, false, &why);
        twin->mutants++;
        twin->mutants_well += noted;
        if (noted == passes && (i || noted))
            continue;
        buf_reset(&twin->say);
        buf_addf(&twin->say, "the verifier %s (%s), the enumeration %s:", passes ? "passes" : "refuses",
                 buf_string(&why), noted ? "has it" : "does not");
        say_gang(twin, members, count);
        tell(twin, LAW_SLOW);
    }
    buf_done(&why);
}

/* The first root, all of whose gangs are gathered. */
static void slow_judge(struct twin *twin)
{
    struct slow_options options = {.checks = CHECKS_MAX, .each = gang_note, .user = twin};
    struct slow_found found, late;

    twin->gang_count = 0;
    slow_search(&twin->slow, 0, &options, &found);
    if (found.gave_up || twin->gang_count > GANGS_MAX || !found.exists)
        return;
    slow_judge_mutants(twin);
    if (found.checks > 60 || twin->round % 2)
        return;
    options = (struct slow_options){.checks = LATE_CHECKS, .late = true, .preferences = true};
    slow_search(&twin->slow, 0, &options, &late);
    options.late = false;
    slow_search(&twin->slow, 0, &options, &found);
    if (late.gave_up)
        return;
    twin->late++;
    if (late.gangs != found.gangs || late.exists != found.exists ||
        (found.exists && (gang_hash(found.members, found.count) != gang_hash(late.members, late.count)))) {
        buf_reset(&twin->say);
        buf_addf(&twin->say,
                 "judging early: %llu gangs, judging late: %llu; the largest:", (unsigned long long)found.gangs,
                 (unsigned long long)late.gangs);
        say_gang(twin, found.members, found.count);
        say_gang(twin, late.members, late.count);
        tell(twin, LAW_SLOW);
    }
}

/* ------------------------------------------------------------------------------------------------------- the runs */

/* What there is for a root. */
static const struct slow_found *root_found(struct twin *twin, size_t root)
{
    struct slow_options options = {.preferences = twin->settings.preferences, .checks = CHECKS_MAX};
    uint64_t taken = 0;
    struct memo *memo;

    for (size_t i = 0; i < twin->slow.count; i++)
        taken |= (uint64_t)twin->slow.taken[i] << i;
    for (size_t i = 0; i < twin->memo_count; i++) {
        memo = &twin->memos[i];
        if (memo->root == root && memo->taken == taken && memo->preferences == options.preferences)
            return &memo->found;
    }
    memo = &twin->memos[twin->memo_count < MEMOS_MAX ? twin->memo_count++ : MEMOS_MAX - 1];
    *memo = (struct memo){.root = root, .taken = taken, .preferences = options.preferences};
    slow_search(&twin->slow, root, &options, &memo->found);
    return &memo->found;
}

static void root_tell(struct twin *twin, enum law law, const char *what, const struct gang_member *members,
                      uint32_t count, const struct slow_found *expected)
{
    buf_reset(&twin->say);
    buf_addf(&twin->say, "%s%s, root %zu: %s; it gives", gang_algorithm_names[twin->settings.algorithm],
             twin->settings.preferences ? " with preferences" : "", members[0].place, what);
    say_gang(twin, members, count);
    buf_adds(&twin->say, " expected");
    say_gang(twin, expected->members, expected->count);
    tell(twin, law);
}

static void root_judge(struct twin *twin, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    const struct slow_found *expected = root_found(twin, members[0].place);
    struct buf why;

    if (expected->gave_up) {
        twin->large = true;
        twin->left_out++;
        return;
    }
    if ((outcome == GANG_FORMED) != expected->exists || outcome == GANG_GAVE_UP) {
        root_tell(twin, LAW_EXISTS,
                  outcome == GANG_GAVE_UP ? "it gave up"
                  : expected->exists      ? "no gang, and there is one"
                                          : "a gang, and there is none",
                  members, count, expected);
        return;
    }
    twin->formed += expected->exists;
    twin->none += !expected->exists;
    if (outcome != GANG_FORMED)
        return;
    buf_init(&why);
    if (!slow_verify(&twin->slow, members, count, twin->settings.preferences, &why))
        root_tell(twin, LAW_GANG, buf_string(&why), members, count, expected);
    else if (twin->settings.preferences && gang_hash(members, count) != gang_hash(expected->members, expected->count))
        root_tell(twin, LAW_LARGEST, "not the largest gang", members, count, expected);
    buf_done(&why);
    for (uint32_t m = 1; m < count; m++)
        twin->deep += members[m].parent != 0;
    twin->members += count - 1;
}

static void root_served(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct twin *twin = user;

    if (count == 0 || members[0].place != twin->next_root) {
        buf_reset(&twin->say);
        buf_addf(&twin->say, "%s: not the root that is next, %zu:", gang_algorithm_names[twin->settings.algorithm],
                 twin->next_root);
        say_gang(twin, members, count);
        tell(twin, LAW_GANG);
        twin->large = true;
    }
    twin->next_root++;
    if (!twin->large)
        root_judge(twin, outcome, members, count);
    for (uint32_t m = 1; outcome == GANG_FORMED && m < count; m++)
        twin->slow.taken[members[m].place] = true;
}

static void pool_run(struct twin *twin, enum gang_algorithm algorithm, bool preferences)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);
    struct gang_stats stats = {0};

    twin->settings = (struct gang_settings){
        .algorithm = algorithm, .preferences = preferences, .seed = rng_mix(twin->round), .sets_greedy = false};
    twin->next_root = 0;
    twin->large = false;
    for (size_t i = 0; i < twin->slow.count; i++)
        twin->slow.taken[i] = false;
    gang_run(
        &env, &twin->lang.arena,
        &(struct gang_field){
            .policy = &twin->policy, .ads = twin->ads, .request_count = twin->requests, .offer_count = twin->offers},
        &twin->settings, root_served, twin, &stats);
    if (twin->next_root != twin->requests || stats.roots != twin->requests) {
        buf_reset(&twin->say);
        buf_addf(&twin->say, "%s: %zu roots of %zu were served", gang_algorithm_names[algorithm], twin->next_root,
                 twin->requests);
        tell(twin, LAW_GANG);
    }
    arena_rewind(&twin->lang.arena, mark);
}

static void pool_judge(struct twin *twin)
{
    pool_open(twin);
    twin->pools++;
    slow_judge(twin);
    pool_run(twin, GANG_AUTO, true);
    for (int algorithm = 0; algorithm < GANG_ALGORITHMS; algorithm++)
        pool_run(twin, (enum gang_algorithm)algorithm, false);
    pool_close(twin);
}

/* The gang of the first root as it was worked out, by the enumeration; the runs are judged by that. */
static void case_judge(struct twin *twin, const struct gang_case *given)
{
    struct slow_options options = {.preferences = true, .checks = CHECKS_MAX};
    char *text = mem_alloc(strlen(given->pool) + 1);
    struct slow_found found;
    struct buf gang;

    strcpy(text, given->pool);
    pool_load(twin, text);
    pool_open(twin);
    slow_search(&twin->slow, 0, &options, &found);
    pool_close(twin);
    buf_init(&gang);
    for (uint32_t m = 0; m < found.count; m++)
        buf_addf(&gang, m ? " %zu at %u.%u by %u;" : "%zu;", found.members[m].place, found.members[m].parent,
                 found.members[m].port, found.members[m].link);
    if (!tap_ok(strcmp(buf_string(&gang), given->gang) == 0, "%s", given->sentence))
        tap_diag("expected %s\ngot      %s", given->gang, buf_string(&gang));
    pool_judge(twin);
    buf_done(&gang);
    free(text);
}

static void report(const struct twin *twin)
{
    tap_ok(!twin->wrong[LAW_EXISTS], "a gang is formed if and only if there is one, by every algorithm");
    tap_ok(!twin->wrong[LAW_GANG], "what is formed is a gang, as the verifier sees it");
    tap_ok(!twin->wrong[LAW_LARGEST], "with preferences it is the gang that the order of choice defines");
    tap_ok(!twin->wrong[LAW_SLOW], "the verifier passes the gangs that the enumeration finds, and no other");
    tap_diag("%llu pools: %llu gangs of %llu members, %llu of them below others; %llu roots without, %llu too large",
             (unsigned long long)twin->pools, (unsigned long long)twin->formed, (unsigned long long)twin->members,
             (unsigned long long)twin->deep, (unsigned long long)twin->none, (unsigned long long)twin->left_out);
    tap_diag("%llu changed gangs, of which %llu were gangs; %llu roots judged late", (unsigned long long)twin->mutants,
             (unsigned long long)twin->mutants_well, (unsigned long long)twin->late);
}

int main(void)
{
    static struct twin twin;
    const char *path = getenv("BERTH_POOL");

    twin.seed = lang_setting("BERTH_SEED", 1);
    twin.rounds = lang_rounds(100);
    lang_init(&twin.lang);
    buf_init(&twin.say);
    buf_init(&twin.policy_text);
    for (size_t i = 0; i < ADS_MAX; i++)
        buf_init(&twin.texts[i]);
    if (path) {
        size_t len;
        char *text = lang_read(path, &len);

        pool_load(&twin, text);
        pool_judge(&twin);
        free(text);
    }
    for (size_t i = 0; !path && i < sizeof gang_cases / sizeof *gang_cases; i++)
        case_judge(&twin, &gang_cases[i]);
    for (; !path && twin.round < twin.rounds; twin.round++) {
        pool_make(&twin);
        pool_judge(&twin);
    }
    report(&twin);
    if (!path)
        tap_ok(twin.formed > twin.rounds && twin.none > twin.rounds && twin.deep > twin.rounds / 4 &&
                   twin.mutants_well * 4 < twin.mutants * 3,
               "there are gangs, and roots without, and members below members");
    buf_done(&twin.say);
    buf_done(&twin.policy_text);
    for (size_t i = 0; i < ADS_MAX; i++)
        buf_done(&twin.texts[i]);
    lang_done(&twin.lang);
    return tap_done();
}
