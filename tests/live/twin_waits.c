/* twin_waits.c: why a request waits, against a slow twin that empties machines one by one.
 *
 * Small pools are made by chance: machines with room, without, drained, sick, away, closed by their owners, or asking by themselves. The twin asks of
 * each machine, by plain evaluation, what would be if that alone were different. What waits.h names as the first reason must be true by it:
 *
 *     soon      some machine takes the request as it stands now; and so do share, where others come first, and window, where all are settled together
 *     busy      one that is named would, with nothing in use, and does not now
 *     owner     one that is named would, if its owner were gone
 *     away, sick, drained    one that is named would, if it were not; and none that is there would
 *     refuses   the request takes some machine, and none takes it, whatever is in use
 *     nofit     the request takes no machine, whatever is in use
 *
 * A request with ports is told the same of each port as it would be of a plain request that asks for the same. */
#include "common/lang.h"
#include "common/tap.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "live/matchmakerd/gang_waits.h"
#include "match/pair/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(TESTS_SANITIZED)
#define POOLS 400
#else
#define POOLS 4000
#endif
#define MACHINES 6

struct made {
    struct tree *opened; /* held: the whole, as if its owner were gone */
};

struct twin {
    struct lang lang;
    struct rng rng;
    struct env env;
    struct arena scratch;
    struct policy policy;
    struct pool_machines machines;
    struct made made[MACHINES];
    struct tree *request;
    const char *group;
    int asks, least;   /* of it */
    uint32_t unfilled; /* gangs with a port that nobody can fill */
    uint64_t seen[WAIT_REASON_COUNT];
};

static struct tree *ad_of(struct twin *twin, const char *text)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *ad;

    build_init(&build, twin->lang.symbols, &dialect_classic);
    ad = parse_ad(&build, &options, text, strlen(text), NULL);
    build_done(&build);
    return ad;
}

static uint64_t below(struct twin *twin, uint64_t n)
{
    return rng_below(&twin->rng, n);
}

/* A machine: how much of it there is, what its owner asks of requests, and whether the owner is there. */
static void machine_make(struct twin *twin, uint32_t place)
{
    static const char *const rules[] = {"true", "other.Group == \"a\"", "other.RequestCpus <= 2", "other.Missing"};
    struct pool_machine *machine = &twin->machines.items[place];
    enum machine_state state = (enum machine_state)below(twin, MACHINE_STATE_COUNT);
    int cpus = 1 + (int)below(twin, 4), used = state == MACHINE_IDLE ? 0 : 1 + (int)below(twin, (uint64_t)cpus);
    const char *rule = rules[below(twin, sizeof rules / sizeof *rules)], *type = below(twin, 8) ? "Machine" : "Licence";
    static const char format[] =
        "[ Name = \"m%u\"; Type = \"%s\"; Cpus = %d; Away = %s; Rule = %s; "
        "Fits = self.Cpus > 0 && other.RequestCpus <= self.Cpus; Constraint = Away && Rule && Fits ]";
    char text[400];

    if (state == MACHINE_BUSY)
        used = cpus;
    *machine = (struct pool_machine){
        .id = mem_dup("m", 1), .state = state, .counts = true, .sure = true, .until = INT64_MAX, .first_end = -1};
    snprintf(text, sizeof text, format, place, type, cpus, state == MACHINE_OWNER ? "false" : "true", rule);
    machine->whole = ad_of(twin, text);
    snprintf(text, sizeof text, format, place, type, cpus, "true", rule);
    twin->made[place].opened = ad_of(twin, text);
    machine->pulls = state <= MACHINE_BUSY && !below(twin, 6);
    if (state <= MACHINE_PART && !machine->pulls) {
        snprintf(text, sizeof text, format, place, type, cpus - used, "true", rule);
        machine->left = ad_of(twin, text);
    }
    machine->first_end = below(twin, 3) ? (int64_t)below(twin, 1000) : -1;
    machine->all[AMOUNT_CPUS] = cpus;
    machine->used[AMOUNT_CPUS] = used;
}

static void pool_make(struct twin *twin)
{
    char text[200];

    twin->machines = (struct pool_machines){.count = (uint32_t)below(twin, MACHINES + 1), .room = MACHINES};
    twin->machines.items = mem_alloc(MACHINES * sizeof *twin->machines.items);
    for (uint32_t i = 0; i < twin->machines.count; i++)
        machine_make(twin, i);
    pool_machines_end(&twin->machines);
    twin->group = below(twin, 2) ? "a" : "b";
    twin->asks = 1 + (int)below(twin, 4);
    twin->least = (int)below(twin, 4);
    snprintf(
        text, sizeof text,
        "[ Type = \"Job\"; Group = \"%s\"; RequestCpus = %d; Constraint = other.Type == \"Machine\" && other.Cpus >= %d ]",
        twin->group, twin->asks, twin->least);
    twin->request = ad_of(twin, text);
}

static void pool_done(struct twin *twin)
{
    for (uint32_t i = 0; i < twin->machines.count; i++)
        tree_unref(twin->made[i].opened);
    pool_machines_done(&twin->machines);
    tree_unref(twin->request);
}

/* -------------------------------------------------------------------------------------------------------------- the twin */

static bool takes(struct twin *twin, const struct tree *ad, const struct tree *other)
{
    uint64_t steps = 0;

    return match_accepts_counted(&twin->env, &twin->scratch, ad, other, &steps);
}

static bool matches(struct twin *twin, const struct tree *machine)
{
    return machine && takes(twin, twin->request, machine) && takes(twin, machine, twin->request);
}

/* The ad of the machine as if its owner were gone: they were sorted, so it is found by its name. */
static const struct tree *opened(const struct twin *twin, const struct pool_machine *machine)
{
    struct buf name;
    unsigned place = 0;

    buf_init(&name);
    pool_machine_name(machine, &name);
    place = (unsigned)atoi(buf_string(&name) + 1);
    buf_done(&name);
    return twin->made[place].opened;
}

static bool is_there(const struct pool_machine *machine)
{
    return machine->state <= MACHINE_OWNER;
}

/* Is that reason true of that machine? */
static bool is_true(struct twin *twin, enum wait_reason reason, const struct pool_machine *machine)
{
    switch (reason) {
    case WAIT_SOON:
        return is_there(machine) && !machine->pulls && matches(twin, machine->left);
    case WAIT_PULL:
        return machine->pulls && machine->state == MACHINE_IDLE && matches(twin, machine->whole);
    case WAIT_BUSY:
        return machine->state != MACHINE_OWNER && is_there(machine) && matches(twin, machine->whole) &&
               !(machine->pulls && machine->state == MACHINE_IDLE) && !matches(twin, machine->left);
    case WAIT_OWNER:
        return machine->state == MACHINE_OWNER && !matches(twin, machine->whole) &&
               matches(twin, opened(twin, machine));
    case WAIT_AWAY:
    case WAIT_SICK:
    case WAIT_DRAINED:
        return matches(twin, machine->whole) && machine->state == (reason == WAIT_AWAY   ? MACHINE_AWAY
                                                                   : reason == WAIT_SICK ? MACHINE_SICK
                                                                                         : MACHINE_DRAINED);
    case WAIT_REFUSES:
        return takes(twin, twin->request, machine->whole) && !matches(twin, machine->whole) &&
               !(machine->state == MACHINE_OWNER && matches(twin, opened(twin, machine)));
    case WAIT_NOFIT:
        return !takes(twin, twin->request, machine->whole);
    default:
        return false;
    }
}

/* By the twin, how many of the machines that fit and are in use have a claim that must end no later than `in`. */
static uint32_t ends_within(struct twin *twin, int64_t in)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < twin->machines.count; i++) {
        const struct pool_machine *machine = &twin->machines.items[i];

        count += machine->first_end >= 0 && machine->first_end <= in && is_true(twin, WAIT_BUSY, machine);
    }
    return count;
}

static bool ends_check(struct twin *twin, const struct waits *waits)
{
    if (ends_within(twin, INT64_MAX) != waits->end_count) {
        tap_diag("%u claims must end, and by the twin %u", waits->end_count, ends_within(twin, INT64_MAX));
        return false;
    }
    for (uint32_t i = 0; i < waits->end_count; i++)
        if (ends_within(twin, waits->ends[i].in) < i + 1 ||
            twin->machines.items[waits->ends[i].place].first_end != waits->ends[i].in ||
            (i && waits->ends[i].in < waits->ends[i - 1].in)) {
            tap_diag("the ends of claims are not in order");
            return false;
        }
    return true;
}

/* Every machine counts once, at a reason that is true of it; and the first reason is the last of the order that some machine has come to. */
static bool pool_check(struct twin *twin, const struct waits *waits)
{
    static const enum wait_reason order[] = {WAIT_SOON, WAIT_PULL, WAIT_BUSY,    WAIT_OWNER, WAIT_DRAINED,
                                             WAIT_SICK, WAIT_AWAY, WAIT_REFUSES, WAIT_NOFIT};
    enum wait_reason first = WAIT_NOFIT;
    uint32_t counted = 0, wanted = waits->wanted ? waits->wanted : 1;

    for (size_t o = 0; o < sizeof order / sizeof *order; o++) {
        enum wait_reason reason = order[o];
        uint32_t count = 0;

        for (uint32_t i = 0; i < twin->machines.count; i++)
            count += is_true(twin, reason, &twin->machines.items[i]);
        if (count != waits->counts[reason]) {
            tap_diag("%s: %u machines, and by the twin %u", wait_word(reason), waits->counts[reason], count);
            return false;
        }
        for (uint32_t i = 0; i < count && i < WAITS_NAMED; i++)
            if (!is_true(twin, reason, &twin->machines.items[waits->named[reason][i]])) {
                tap_diag("%s names a machine of which it is not true", wait_word(reason));
                return false;
            }
        if (counted < wanted && counted + count >= wanted)
            first = reason;
        counted += count;
    }
    if (first == WAIT_SOON && (waits->window || waits->ahead))
        first = waits->window ? WAIT_WINDOW : WAIT_SHARE;
    if (waits->claiming && !waits->left)
        first = WAIT_CLAIMING;
    if (counted != twin->machines.count || first != waits->first) {
        tap_diag("first is %s, and by the twin %s; %u of %u machines are counted", wait_word(waits->first),
                 wait_word(first), counted, twin->machines.count);
        return false;
    }
    return true;
}

/* Are they the same but for how long something has been so? The clock goes on meanwhile. */
static bool is_same_said(const char *a, const char *b)
{
    static const char since[] = "\"since\": ";

    while (*a && *a == *b) {
        if (!strncmp(a, since, strlen(since)) && !strncmp(b, since, strlen(since))) {
            a += strlen(since);
            b += strlen(since);
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else {
            a++;
            b++;
        }
    }
    return *a == *b;
}

/* Two ports that ask for what the request asks for, and one that asks for nothing: each is told what a plain request is. */
static bool ports_check(struct twin *twin, const struct waits *plain)
{
    static const char format[] =
        "[ Type = \"Job\"; Group = \"%s\"; Ports = { [ Label = c; Essential = false ], [ Label = a; RequestCpus = %d; Constraint = a.Type == \"Machine\" && a.Cpus >= %d "
        "&& a.Cpus != c.Cpus * 9 ], [ Label = b; RequestCpus = %d; Constraint = b.Type == \"Machine\" && b.Cpus >= %d ] } ]";
    struct gang_waits gang;
    enum wait_reason first;
    struct buf reasons, words;
    struct tree *request;
    char text[600];
    bool good;

    snprintf(text, sizeof text, format, twin->group, twin->asks, twin->least, twin->asks, twin->least);
    request = ad_of(twin, text);
    buf_init(&reasons);
    buf_init(&words);
    waits_print_json_reasons(&reasons, plain);
    waits_print_reason(&words, plain, plain->first);
    good = request && gang_waits_begin(&gang, NULL, &twin->env, &twin->scratch, &twin->machines, request, NULL) == 0;
    while (good && gang_waits_go_on(&gang))
        ;
    for (uint32_t i = 1; good && i < 3; i++)
        good = gang.items[i].first == plain->first &&
               is_same_said(buf_string(&gang.items[i].reasons), buf_string(&reasons)) &&
               !strcmp(buf_string(&gang.items[i].words), buf_string(&words));
    if (!good)
        tap_diag("a plain request: %s %s, and a port: %s, %s", wait_word(plain->first), buf_string(&reasons),
                 buf_string(&gang.items[1].reasons), buf_string(&gang.items[2].reasons));
    twin->unfilled += good && gang_waits_unfilled(&gang, &first) != NULL;
    gang_waits_done(&gang);
    tree_unref(request);
    buf_done(&reasons);
    buf_done(&words);
    return good;
}

static bool pool_try(struct twin *twin)
{
    struct waits port;
    struct waits waits;
    struct why why;
    uint64_t steps = 0;
    bool good;
    struct buf out;

    pool_make(twin);
    why_explain(&why, &twin->env, &twin->scratch, &twin->policy, twin->request, twin->machines.wholes,
                twin->machines.present);
    waits_begin(&waits, &twin->env, &twin->scratch, &twin->machines, twin->request);
    port = waits;
    port.wanted = 1;
    while (waits_go_on(&port, &twin->env, &twin->scratch, &why, &steps))
        ;
    waits.wanted = (uint32_t)below(twin, 4);
    waits.claiming = below(twin, 8) ? 0 : 2;
    waits.left = (int64_t)below(twin, 2);
    waits.window = below(twin, 4) ? 0 : 120;
    waits.window_left = below(twin, 2) ? -1 : 7;
    waits.ahead = waits.ahead_users = (uint32_t)below(twin, 2);
    while (waits_go_on(&waits, &twin->env, &twin->scratch, &why, &steps))
        ;
    good = pool_check(twin, &waits) && ends_check(twin, &waits) && ports_check(twin, &port);
    twin->seen[waits.first]++;
    buf_init(&out);
    waits_print(&out, &waits, "job");
    waits_print_json(&out, &waits);
    good = good && out.len > 20;
    buf_done(&out);
    why_done(&why);
    pool_done(twin);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------ slices */

#define COSTLY 30
#define SLICE_MOST 300000 /* steps: a slice ends soon after what it may cost */

/* Machines whose owners ask for more than an evaluation may cost; the first `away` are away, and the others hide what they ask for. */
static void costly_make(struct twin *twin, uint32_t away)
{
    struct buf text;

    twin->machines = (struct pool_machines){.count = COSTLY, .room = COSTLY};
    twin->machines.items = mem_alloc(COSTLY * sizeof *twin->machines.items);
    buf_init(&text);
    buf_adds(&text, "[ Type = \"Machine\"; A0 = 1; ");
    for (int i = 1; i < 20; i++)
        buf_addf(&text, "A%d = A%d + A%d; ", i, i - 1, i - 1);
    buf_adds(&text, "Constraint = A19 > 0 ]");
    for (uint32_t i = 0; i < COSTLY; i++) {
        twin->machines.items[i] = (struct pool_machine){.id = mem_dup("m", 1),
                                                        .whole = ad_of(twin, buf_string(&text)),
                                                        .state = i < away ? MACHINE_AWAY : MACHINE_IDLE,
                                                        .hidden = i >= away,
                                                        .counts = true,
                                                        .until = INT64_MAX,
                                                        .first_end = -1};
    }
    pool_machines_end(&twin->machines);
    twin->request = ad_of(twin, "[ Type = \"Job\" ]");
    buf_done(&text);
}

static void costly_done(struct twin *twin)
{
    pool_machines_done(&twin->machines);
    tree_unref(twin->request);
}

static void check_slices(struct twin *twin)
{
    uint64_t steps = 0, before = 0, most = 0;
    struct waits waits;
    struct why why;
    bool more = true;

    costly_make(twin, COSTLY);
    why_explain(&why, &twin->env, &twin->scratch, &twin->policy, twin->request, twin->machines.wholes,
                twin->machines.present);
    waits_begin(&waits, &twin->env, &twin->scratch, &twin->machines, twin->request);
    for (; more; before = steps) {
        more = waits_go_on(&waits, &twin->env, &twin->scratch, &why, &steps);
        most = steps - before > most ? steps - before : most;
    }
    tap_ok(waits.counts[WAIT_REFUSES] == COSTLY && most < SLICE_MOST,
           "machines whose owners ask for much are looked at a few at a time: at most %llu of %llu steps",
           (unsigned long long)most, (unsigned long long)steps);
    why_done(&why);
    costly_done(twin);
}

static void check_mask_slices(struct twin *twin)
{
    uint64_t spent = 0, before = 0, most = 0;
    struct env env = twin->env;
    bool more = true, masked = true;

    env.meter = &spent;
    costly_make(twin, 0);
    for (; more; before = spent) {
        more = pool_machines_mask(&twin->machines, &env, &twin->scratch, twin->request);
        most = spent - before > most ? spent - before : most;
    }
    for (uint32_t i = 0; i < COSTLY; i++)
        masked = masked && twin->machines.items[i].masked == twin->machines.wholes[i];
    tap_ok(masked && most < SLICE_MOST,
           "what their owners hide is put aside a few at a time, too: at most %llu of %llu steps",
           (unsigned long long)most, (unsigned long long)spent);
    costly_done(twin);
}

int main(void)
{
    struct twin twin = {.env = {.now = 1800000000}};
    uint32_t bad = 0, kinds = 0;

    lang_init(&twin.lang);
    arena_init(&twin.scratch);
    rng_init(&twin.rng, 7);
    for (uint32_t i = 0; i < POOLS && !bad; i++)
        bad += !pool_try(&twin);
    tap_ok(!bad, "of %u pools each first reason is true, and the machines are counted where they belong", POOLS);
    for (int i = 0; i < WAIT_REASON_COUNT; i++)
        kinds += twin.seen[i] > 0;
    tap_ok(bad || (twin.unfilled > POOLS / 20 && twin.unfilled < POOLS), "ports that nobody can fill have come up (%u)",
           twin.unfilled);
    tap_ok(bad || kinds >= 12, "every reason about machines has come up (%u)", kinds);
    check_slices(&twin);
    check_mask_slices(&twin);
    arena_done(&twin.scratch);
    lang_done(&twin.lang);
    return tap_done();
}
