/* bench_plan.c: berth bench plan: measures what it costs a matchmaker to plan those that wait for room (pool/matchmaker/planner.h).
 *
 *     plan-bare    the cycles of a minute in a pool that is full, in which every second one machine in a thousand has some room again
 *     plan-none    the same with a reservation on one machine in ten
 *     plan-easy    the same while the first large request that waits is planned; -some: the first 8; -many: 100
 *     plan-vain    the same while 100 are sought a machine for that fit none
 *
 * What is measured is what the matchmaker does when it is woken: cycles, plans and timers; taking in what machines tell is not counted. Each has a
 * function of its own, for a profiler. */
#include "cli/bench/bench.h"
#include "cli/bench/drive.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MACHINES_FROM 1000 /* the first agent that is a machine */
#define RESERVED 10        /* one machine in so many */
#define LARGE 100          /* requests 1 and so on */
#define SMALL_FROM 1000    /* the first small one */
#define SMALL_KINDS 200
#define CHANGES 1000                          /* one machine in so many has room again, each second */
#define RENEWALS 100                          /* seconds after which a machine tells again that it is there */
#define WARMS 500                             /* seconds until what is to be planned is */
#define MEASURED 60                           /* seconds */
#define ENDS_LEAST 900                        /* seconds: no claim ends sooner by its limit */
#define BEGINS (INT64_C(1800000000) * SECOND) /* the wall clock when a measurement begins */

/* What all machines say alike, and what of a machine depends on its number. */
#define MACHINE_TEXT                                                                                                    \
    "[Type=\"Machine\";Name=\"m%u.example.org\";Machine=\"m%u.example.org\";Arch=\"X86_64\";OpSys=\"LINUX\";"           \
    "OpSysName=\"Debian\";OpSysMajorVer=12;KFlops=%u;Mips=%u;LoadAvg=0.1;KeyboardIdle=70526;Disk=%u;Cpus=%d;Memory=%u;" \
    "Constraint=Cpus>0&&LoadAvg<=0.3&&other.Cpus<=Cpus&&other.Memory<=Memory%s;"                                        \
    "Residual=[Cpus=Cpus-other.Cpus;Memory=Memory-other.Memory]%s]"

struct machine_texts {
    struct tree *whole, *full; /* the machine, and its claims */
    struct tree *left, *part;  /* what is left of it after one of them has ended, and the others */
};

struct plan_pool {
    struct drive drive;
    struct machine_texts *machines;
    uint64_t count, seed;
    bool made, reserved; /* the machines are made; one in RESERVED with a reservation */
    uint32_t changed;    /* how many of them have had room again */
    struct rng rng;
    uint64_t refused; /* messages */
};

/* ---------------------------------------------------------------------------------------------------------- the pool */

static void claim_add(struct plan_pool *pool, struct buf *told, uint32_t number, uint32_t cpus, uint32_t each)
{
    buf_addf(told, "[Claim=\"%016x\";Job=1;Ends=%llu;Cpus=%u;Memory=%u]", number,
             (unsigned long long)(ENDS_LEAST + rng_below(&pool->rng, 8 * 3600)), cpus, each * cpus);
}

static struct tree *told_make(struct plan_pool *pool, uint32_t used, uint32_t each, const char *claims,
                              const char *bookings)
{
    struct tree *told;
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "[Used=[Cpus=%u;Memory=%u];%s}%s]", used, each * used, claims, bookings);
    told = drive_ad(&pool->drive, buf_string(&text));
    buf_done(&text);
    return told;
}

static void machine_make(struct plan_pool *pool, uint32_t i)
{
    struct machine_texts *machine = &pool->machines[i];
    uint32_t memory = 32768 + i % 5 * 16384, claims = 2 + i % 3, left = 1 + i % 2;
    int64_t from = BEGINS / SECOND + 3600 + i % 40 * 900;
    char text[1200], clause[300] = "", free[40] = "", bookings[120] = "";
    bool reserved = pool->reserved && i % RESERVED == 0;
    struct buf told;

    if (reserved) {
        unsigned user = i / RESERVED % 50;

        snprintf(clause, sizeof clause,
                 "&&(other.Owner is \"r%u\"||substr(other.Owner,0,4) is \"r%u/\"||other.AccountingGroup is "
                 "\"r%u\"||other.TimeLimit<=%" PRId64 "||other.Yields==true||(other.TimeLimit is "
                 "undefined&&!(other.Yields is false)))",
                 user, user, user, from - BEGINS / SECOND - 600);
        snprintf(free, sizeof free, ";FreeFor=%" PRId64, from - BEGINS / SECOND - 600);
    }
    snprintf(text, sizeof text, MACHINE_TEXT, i, i, 60000 + i % 64 * 100, 500 + i % 16, 300000 + i % 97, 16, memory,
             clause, free);
    machine->whole = drive_ad(&pool->drive, text);
    snprintf(text, sizeof text, MACHINE_TEXT, i, i, 60000 + i % 64 * 100, 500 + i % 16, 300000 + i % 97, (int)left,
             memory / 16 * left, clause, free);
    machine->left = drive_ad(&pool->drive, text);
    buf_init(&told);
    buf_adds(&told, "Claims={");
    for (uint32_t n = 0, cpus = 16 - left; n < claims; n++) {
        uint32_t takes = n + 1 == claims ? cpus : (16 - left) / claims;

        cpus -= takes;
        claim_add(pool, &told, i * 8 + n + 1, takes, memory / 16);
        buf_adds(&told, n + 1 < claims ? "," : "");
    }
    if (reserved)
        snprintf(bookings, sizeof bookings, ";Bookings={[Booking=\"%016x\";From=%" PRId64 ";Until=%" PRId64 "]}", i + 1,
                 from, from + 7200);
    machine->part = told_make(pool, 16 - left, memory / 16, buf_string(&told), bookings);
    buf_adds(&told, ",");
    claim_add(pool, &told, i * 8, left, memory / 16);
    machine->full = told_make(pool, 16, memory / 16, buf_string(&told), bookings);
    buf_done(&told);
}

static void machines_drop(struct plan_pool *pool)
{
    for (uint64_t i = 0; i < pool->count && pool->made; i++) {
        tree_unref(pool->machines[i].whole);
        tree_unref(pool->machines[i].left);
        tree_unref(pool->machines[i].full);
        tree_unref(pool->machines[i].part);
    }
    pool->made = false;
}

static void machines_make(struct plan_pool *pool, bool reserved)
{
    machines_drop(pool);
    pool->made = true;
    pool->reserved = reserved;
    rng_init(&pool->rng, pool->seed);
    for (uint32_t i = 0; i < pool->count; i++)
        machine_make(pool, i);
}

static struct peer machine_peer(uint32_t i)
{
    return (struct peer){.agent = MACHINES_FROM + i, .identity = "host", .channel = i};
}

static void machine_tells(struct plan_pool *pool, uint32_t i, uint64_t version, enum machine_state state)
{
    struct peer peer = machine_peer(i);
    struct message message = {.kind = MESSAGE_STANDS};

    message.u.stands =
        (struct stands){.id = MACHINES_FROM + i,
                        .version = version,
                        .base = 1,
                        .state = state,
                        .until = -1,
                        .ad = version == 1 ? tree_ref(pool->machines[i].whole) : NULL,
                        .told = tree_ref(state == MACHINE_PART ? pool->machines[i].part : pool->machines[i].full)};
    drive_hear(&pool->drive, &peer, &message);
}

/* Some room is there again. */
static void machine_changes(struct plan_pool *pool, uint32_t i)
{
    struct peer peer = machine_peer(i);
    struct message message = {.kind = MESSAGE_ADVERTISE};

    message.u.advertise =
        (struct advertise){.id = MACHINES_FROM + i, .version = 1, .ad = tree_ref(pool->machines[i].left)};
    drive_hear(&pool->drive, &peer, &message);
    machine_tells(pool, i, 2, MACHINE_PART);
}

static void request_put(struct plan_pool *pool, uint64_t id, const char *text)
{
    struct peer peer = {.agent = 10 + id % 50, .identity = "", .any = true, .channel = id};
    struct message message = {.kind = MESSAGE_ADVERTISE};

    message.u.advertise = (struct advertise){
        .id = id, .version = 1, .request = true, .bare = !text, .ad = text ? drive_ad(&pool->drive, text) : NULL};
    drive_hear(&pool->drive, &peer, &message);
}

/* A queue of small jobs, longer than all machines could take, and large ones that fit whole machines, or none. */
static void requests_put(struct plan_pool *pool, bool vain)
{
    char text[600];

    for (unsigned i = 0; i < LARGE; i++) {
        snprintf(text, sizeof text,
                 "[Type=\"Job\";Owner=\"u%u\";Cpus=%d;Memory=%u;TimeLimit=%u;Constraint=other.Type==\"Machine\"&&"
                 "other.Arch==\"X86_64\"&&other.OpSysName==\"Debian\"&&other.Disk>=%u]",
                 i % 50, vain ? 17 : 16, 16000 + i * 100, 1800 + i * 60, 200000 + i);
        request_put(pool, i + 1, text);
    }
    for (unsigned i = 0; i < SMALL_KINDS; i++) {
        snprintf(text, sizeof text,
                 "[Type=\"Job\";Owner=\"u%u\";Count=%llu;Cpus=%u;Memory=%u;TimeLimit=%u;Constraint=other.Type=="
                 "\"Machine\"&&other.Arch==\"X86_64\"&&other.OpSysName==\"Debian\"&&other.Mips>=%u;Rank=KFlops/1E3]",
                 i % 50, (unsigned long long)pool->count, 1 + i % 2, 500 + i * 10, 300 + i * 30, 490 + i % 20);
        request_put(pool, SMALL_FROM + i, text);
    }
}

static void all_renew(struct plan_pool *pool, uint64_t second)
{
    for (uint64_t i = second % RENEWALS; i < pool->count; i += RENEWALS)
        if (i >= pool->changed)
            machine_tells(pool, (uint32_t)i, 1, MACHINE_BUSY);
    for (uint64_t id = 1; id < SMALL_FROM + SMALL_KINDS && second % RENEWALS == 0; id++)
        if (id <= LARGE || id >= SMALL_FROM)
            request_put(pool, id, NULL);
}

static uint32_t planned(const struct plan_pool *pool)
{
    struct plan_view plan;
    uint32_t count = 0;

    for (uint64_t id = 1; id < SMALL_FROM + SMALL_KINDS; id++)
        count += matchmaker_planned(pool->drive.role, 10 + id % 50, id, &plan);
    return count;
}

/* ------------------------------------------------------------------------------------------------------------- cycles */

/* A function that is not inlined, so that a profiler can count its instructions by its name. */
#define COUNTED __attribute__((noinline)) static

COUNTED void second_bare(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

COUNTED void second_none(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

COUNTED void second_easy(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

COUNTED void second_some(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

COUNTED void second_many(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

COUNTED void second_vain(struct drive *drive)
{
    drive_pass(drive, SECOND);
}

static const struct plans {
    const char *name;
    uint32_t most;
    bool reserved;
    bool vain; /* the large fit no machine */
    void (*second)(struct drive *drive);
} kinds[] = {{"plan-bare", 0, false, false, second_bare},  {"plan-none", 0, true, false, second_none},
             {"plan-easy", 1, true, false, second_easy},   {"plan-some", 8, true, false, second_some},
             {"plan-many", 100, true, false, second_many}, {"plan-vain", 100, true, true, second_vain}};

struct plan_measured {
    double seconds, longest; /* of processor time of one second that passes */
    uint64_t cycles, matches;
    uint32_t planned;
};

/* What this process has had of the processor: others may keep the machine busy. */
static double processor_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void refused(void *user, const struct message *reply)
{
    struct plan_pool *pool = user;

    pool->refused += reply->kind == MESSAGE_GOT          ? reply->u.got.reason != REASON_OK
                     : reply->kind == MESSAGE_ADVERTISED ? reply->u.advertised.reason != REASON_OK
                                                         : 0;
}

static void plans_measure(struct plan_pool *pool, const struct plans *plans, struct plan_measured *ret)
{
    struct matchmaker_counts before;

    pool->drive.settings.plans = plans->most;
    pool->drive.env.now = SECOND;
    pool->drive.env.wall = BEGINS;
    pool->changed = 0;
    drive_boot(&pool->drive);
    for (uint32_t i = 0; i < pool->count; i++)
        machine_tells(pool, i, 1, MACHINE_BUSY);
    requests_put(pool, plans->vain);
    for (uint64_t second = 0; second < WARMS; second++) {
        all_renew(pool, second);
        drive_pass(&pool->drive, SECOND);
    }
    before = matchmaker_counts(pool->drive.role);
    *ret = (struct plan_measured){.planned = planned(pool)};
    for (uint64_t second = WARMS; second < WARMS + MEASURED; second++) {
        double began;

        all_renew(pool, second);
        for (uint64_t i = 0; i < pool->count / CHANGES; i++)
            machine_changes(pool, pool->changed++);
        began = processor_clock();
        plans->second(&pool->drive);
        began = processor_clock() - began;
        ret->seconds += began;
        ret->longest = began > ret->longest ? began : ret->longest;
    }
    ret->cycles = matchmaker_counts(pool->drive.role).cycles - before.cycles;
    ret->matches = matchmaker_counts(pool->drive.role).matches - before.matches;
}

int bench_plan(const struct bench_settings *settings)
{
    struct plan_pool pool = {.count = settings->ads};
    struct plan_measured best[sizeof kinds / sizeof *kinds] = {0};
    struct buf row;

    if (settings->ads < CHANGES) {
        report("bench plan wants --ads of %d or more", CHANGES);
        return STATUS_BAD;
    }
    drive_init(&pool.drive, settings->seed);
    pool.drive.settings.machine_bytes_max = UINT64_MAX;
    pool.drive.replied = refused;
    pool.drive.user = &pool;
    pool.seed = settings->seed;
    pool.machines = mem_alloc(pool.count * sizeof *pool.machines);
    for (uint64_t round = 0; round < settings->rounds; round++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct plan_measured measured;

            if (!pool.made || pool.reserved != kinds[k].reserved)
                machines_make(&pool, kinds[k].reserved);
            plans_measure(&pool, &kinds[k], &measured);
            if (!round || measured.seconds < best[k].seconds)
                best[k] = measured;
        }
    if (pool.refused)
        report("bench plan: %" PRIu64 " messages were refused", pool.refused);
    buf_init(&row);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct bench bench = {
            .operations = best[k].cycles, .seconds = best[k].seconds, .counter = -1, .instructions = -1};

        bench_row_begin(&row, kinds[k].name);
        bench_row_integer(&row, "machines", pool.count);
        bench_row_integer(&row, "reserved", kinds[k].reserved ? (pool.count + RESERVED - 1) / RESERVED : 0);
        bench_row_integer(&row, "planned", best[k].planned);
        bench_row_integer(&row, "matches", best[k].matches);
        bench_row_real(&row, "longest_ms", best[k].longest * 1e3);
        bench_row_real(&row, "of_bare", best[k].seconds / best[0].seconds);
        bench_row_real(&row, "of_none", best[k].seconds / best[1].seconds);
        bench_row_measured(&row, &bench);
        bench_row_finish(&row);
    }
    buf_done(&row);
    machines_drop(&pool);
    free(pool.machines);
    drive_done(&pool.drive);
    return pool.refused ? STATUS_BAD : STATUS_DONE;
}
