/* tally.c: what a claim has used so far, and how much of that stands in the book. */
#include "pool/matchmaker/tally.h"

#include "pool/protocol/mutants.h"
#include "pool/protocol/weight.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- counting */

static bool report_is_good(const struct report *report)
{
    return report->wall >= 0 && report->cpu >= 0 && report->memory >= 0 && report->jobs >= 0 && report->taken >= 0 &&
           report->brought >= 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Raises what is counted to what is told, as long as it is not more in all than it can be. */
static void count_raise(int64_t *counted, int64_t *all, int64_t told, int64_t can_be)
{
    int64_t more = least(least(told, USAGE_AMOUNT_MAX) - *counted, can_be - *all);

    if (more <= 0)
        return;
    *counted += more;
    *all += more;
}

/* The provider has begun anew: it counts from 0 again, and what it told before stays. */
static void life_begin(struct tally *tally, uint64_t life)
{
    tally->life = life;
    tally->counted = tally->booked = (struct tally_counts){0};
}

/* How long the claim was active cannot be more than the time since it is known, plus a lease, which a first report may cover. */
static void wall_take(struct tally *tally, int64_t told, int64_t known, const struct spans *spans,
                      const struct role_env *env)
{
    int64_t passed = env->now > known ? env->now - known : 0;

    count_raise(&tally->counted.wall, &tally->all.wall, told, tally->before + passed + spans->lease);
}

/* What jobs have used cannot be more than their claim could. */
static void jobs_take(struct tally *tally, const struct report *report)
{
    struct tally_counts *counted = &tally->counted, *all = &tally->all;
    int64_t wall = least(all->wall, USAGE_AMOUNT_MAX / (TALLY_RATE * 2)), moved = wall * TALLY_RATE + TALLY_ROOM;

    count_raise(&counted->cpu, &all->cpu, report->cpu, wall * (tally->unit.cores > 1 ? tally->unit.cores : 1));
    count_raise(&counted->jobs, &all->jobs, report->jobs, wall / TALLY_JOB_SPAN + 1);
    count_raise(&counted->taken, &all->taken, report->taken, moved);
    count_raise(&counted->brought, &all->brought, report->brought, moved);
    if (report->memory > tally->memory)
        tally->memory = least(report->memory, USAGE_AMOUNT_MAX);
}

enum reason tally_take(struct tally *tally, const struct report *report, int64_t charged, int64_t known,
                       const struct spans *spans, const struct role_env *env, struct usage_book *book)
{
    int64_t month = usage_month(wall_seconds(env->wall));

    if (!report_is_good(report))
        return REASON_INVALID;
    if (report->life < tally->life) /* of an older life, or of a provider that tells no totals any more */
        return REASON_OK;
    if (month != tally->month || report->life > tally->life) {
        tally_book(tally, book);
        tally->ahead = true;
    }
    tally->month = month;
    if (report->life > tally->life)
        life_begin(tally, report->life);
    if (tally->unsure)
        tally->counted = tally->booked =
            (struct tally_counts){least(report->wall, USAGE_AMOUNT_MAX), least(report->cpu, USAGE_AMOUNT_MAX),
                                  least(report->jobs, USAGE_AMOUNT_MAX), least(report->taken, USAGE_AMOUNT_MAX),
                                  least(report->brought, USAGE_AMOUNT_MAX)};
    tally->begun = tally->begun || tally->unsure;
    tally->unsure = false;
    wall_take(tally, report->life && !MUTANT(TALLY_ADDS) ? report->wall : tally->counted.wall + charged, known, spans,
              env);
    jobs_take(tally, report);
    if (!tally->due)
        tally->due = env->now + TALLY_FIRST;
    tally->waits = true;
    return REASON_OK;
}

bool tally_is_unused(const struct tally *tally)
{
    return !tally->unsure && !tally->begun && !tally->all.wall && !tally->all.jobs;
}

/* ------------------------------------------------------------------------------------------------------- into the book */

/* Times in milliseconds, each rounded as a whole: pieces add up to the same as if they had been counted at once. */
static int64_t scaled(int64_t microseconds, double by)
{
    double result = (double)microseconds / 1000 * by;

    return result < (double)USAGE_AMOUNT_MAX ? (int64_t)result : USAGE_AMOUNT_MAX;
}

static int64_t more(int64_t counted, int64_t booked, double by)
{
    return scaled(counted, by) - scaled(booked, by);
}

void tally_book(struct tally *tally, struct usage_book *book)
{
    const struct tally_counts *counted = &tally->counted, *booked = &tally->booked;
    bool begins = !tally->begun && (counted->wall || counted->jobs);
    double thousandth = 1e-3, speed = (double)tally->unit.speed * 1e-6;
    struct usage_amounts amounts = {
        .claims = begins,
        .jobs = counted->jobs - booked->jobs,
        .wall = more(counted->wall, booked->wall, 1),
        .units = more(counted->wall, booked->wall, weight_units(tally->weight)),
        .cpus = more(counted->wall, booked->wall, (double)tally->unit.cpus * thousandth),
        .gpus = more(counted->wall, booked->wall, (double)tally->unit.gpus * thousandth),
        .cpu = more(counted->cpu, booked->cpu, 1),
        .normal = more(counted->cpu, booked->cpu, speed),
        .memory = tally->memory,
        .taken = counted->taken - booked->taken,
        .brought = counted->brought - booked->brought,
    };
    static const struct usage_amounts none;

    if (memcmp(&amounts, &none, sizeof none) == 0)
        return;
    usage_book_add(book, tally->month, tally->account.bytes,
                   tally->unit.machine.bytes[0] ? tally->unit.machine.bytes : USAGE_UNKNOWN, &amounts);
    tally->begun = tally->begun || begins;
    tally->memory = 0;
    tally->booked = tally->counted;
}

/* ---------------------------------------------------------------------------------------------------------- on disk */

static int64_t within(int64_t amount, int64_t top)
{
    return amount < 0 ? 0 : amount > top ? top : amount;
}

void tally_load(struct tally *tally, const struct tally_record *row, const struct role_env *env)
{
    int64_t now = wall_seconds(env->wall), away = row->stamp < now ? now - within(row->stamp, now) : 0;

    *tally = (struct tally){.unit = {.machine = row->machine,
                                     .cpus = within(row->cpus, TALLY_CORES_MAX * 1000),
                                     .gpus = within(row->gpus, TALLY_CORES_MAX * 1000),
                                     .licenses = within(row->licenses, 1000),
                                     .speed = within(row->speed, (int64_t)(TALLY_SPEED_MAX * 1e6)),
                                     .cores = within(row->cores, TALLY_CORES_MAX)},
                            .life = row->life,
                            .begun = row->begun,
                            .row = true,
                            .counted = {within(row->wall, USAGE_AMOUNT_MAX), within(row->cpu, USAGE_AMOUNT_MAX),
                                        within(row->jobs, USAGE_AMOUNT_MAX), within(row->taken, USAGE_AMOUNT_MAX),
                                        within(row->brought, USAGE_AMOUNT_MAX)},
                            .all = {within(row->all_wall, USAGE_AMOUNT_MAX), within(row->all_cpu, USAGE_AMOUNT_MAX),
                                    within(row->all_jobs, USAGE_AMOUNT_MAX), within(row->all_taken, USAGE_AMOUNT_MAX),
                                    within(row->all_brought, USAGE_AMOUNT_MAX)}};
    tally->booked = tally->counted;
    tally->before = tally->all.wall + (away > 0 && away < USAGE_AMOUNT_MAX / SECOND ? away * SECOND : 0);
}

void tally_write(struct tally *tally, uint64_t claim, const struct role_env *env, struct effects *effects)
{
    struct record record = {.kind = RECORD_TALLY, .key = claim};

    record.u.tally_record = (struct tally_record){.machine = tally->unit.machine,
                                                  .cpus = tally->unit.cpus,
                                                  .gpus = tally->unit.gpus,
                                                  .licenses = tally->unit.licenses,
                                                  .speed = tally->unit.speed,
                                                  .cores = tally->unit.cores,
                                                  .stamp = wall_seconds(env->wall),
                                                  .begun = tally->begun,
                                                  .life = tally->life,
                                                  .wall = tally->booked.wall,
                                                  .cpu = tally->booked.cpu,
                                                  .jobs = tally->booked.jobs,
                                                  .taken = tally->booked.taken,
                                                  .brought = tally->booked.brought,
                                                  .all_wall = tally->all.wall,
                                                  .all_cpu = tally->all.cpu,
                                                  .all_jobs = tally->all.jobs,
                                                  .all_taken = tally->all.taken,
                                                  .all_brought = tally->all.brought};
    effects_persist(effects, &record);
    tally->row = true;
}
