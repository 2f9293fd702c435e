/* Two processes share a seat: the lease by a table of moments, and then many of them at random, with clocks that run apart: never do two act at once.
 * In the plain build bugs are planted, and must show. */
#include "common/rounds.h"
#include "common/tap.h"
#include "lang/base/rng.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/tenure.h"

#include <inttypes.h>

#define MS INT64_C(1000)
#define SPAN TENURE_SPAN

#ifdef BERTH_MUTANTS
enum mutant mutant_now;
#endif

/* ------------------------------------------------------------------------------------------------------ the moments */

static void holder_test(void)
{
    struct tenure tenure;

    tenure_take(&tenure, 0, SPAN);
    tap_ok(tenure_state(&tenure, 0) == TENURE_HOLDS && tenure_state(&tenure, 2812 * MS) == TENURE_HOLDS,
           "who has taken a seat acts for a lease of 3 s, but for its last sixteenth");
    tap_ok(tenure_state(&tenure, 2813 * MS) == TENURE_LAPSED, "then it does not act");
    tap_ok(tenure_due(&tenure, 499 * MS) == TENURE_REST && tenure_due(&tenure, 500 * MS) == TENURE_ASK,
           "a renewal is due after a sixth of the lease");

    tenure_asked(&tenure, 600 * MS);
    tap_ok(tenure_due(&tenure, 1599 * MS) == TENURE_REST && tenure_due(&tenure, 1600 * MS) == TENURE_GIVE_UP,
           "its answer is awaited for a third of the lease");
    tenure_answered(&tenure, TENURE_GRANTED, 1500 * MS);
    tap_ok(tenure_state(&tenure, 3412 * MS) == TENURE_HOLDS && tenure_state(&tenure, 3413 * MS) == TENURE_LAPSED,
           "a renewal counts from when it was sent, however late its answer comes");
    tap_ok(tenure_due(&tenure, 1500 * MS) == TENURE_ASK, "after a late answer the next renewal is due at once");

    tenure_asked(&tenure, 1500 * MS);
    tenure_answered(&tenure, TENURE_SILENCE, 1501 * MS);
    tap_ok(tenure_state(&tenure, 3412 * MS) == TENURE_HOLDS && tenure_state(&tenure, 3413 * MS) == TENURE_LAPSED,
           "a renewal without an answer changes nothing");
    tap_ok(tenure_due(&tenure, 1999 * MS) == TENURE_REST && tenure_due(&tenure, 2000 * MS) == TENURE_ASK,
           "a database that refuses connections is asked once each sixth of the lease");

    tenure_asked(&tenure, 5000 * MS);
    tap_ok(tenure_answered(&tenure, TENURE_GRANTED, 5100 * MS) == TENURE_HOLDS,
           "a seat that nobody has taken meanwhile is held again after a renewal");
    tenure_asked(&tenure, 5500 * MS);
    tap_ok(tenure_answered(&tenure, TENURE_GRANTED, 8400 * MS) == TENURE_LAPSED,
           "a grant that comes when its lease is over is good for nothing");
    tenure_answered(&tenure, TENURE_GRANTED, 8450 * MS);
    tap_ok(tenure_state(&tenure, 8450 * MS) == TENURE_LAPSED, "an answer that nobody waits for is good for nothing");

    tenure_asked(&tenure, 8500 * MS);
    tap_ok(tenure_answered(&tenure, TENURE_REFUSED, 8501 * MS) == TENURE_LOST &&
               tenure_due(&tenure, 20000 * MS) == TENURE_REST && tenure_next(&tenure, 20000 * MS) == INT64_MAX,
           "who is told that another has the seat stops for good, and asks no more");
}

static void next_test(void)
{
    struct tenure tenure;

    tenure_take(&tenure, 100 * MS, SPAN);
    tap_ok(tenure_next(&tenure, 100 * MS) == 600 * MS, "next comes the renewal");
    tenure_asked(&tenure, 2500 * MS);
    tap_ok(tenure_next(&tenure, 2500 * MS) == 100 * MS + SPAN - SPAN / TENURE_PARTS,
           "or the end of the lease, when that is before the patience with the answer");
    tap_ok(tenure_next(&tenure, 3000 * MS) == 3500 * MS, "behind the end of the lease comes the patience");
}

static void standby_test(void)
{
    struct vigil vigil = {0};

    tap_ok(!vigil_may_take(&vigil, 100 * SPAN, SPAN), "a seat whose row was not seen is not taken");
    vigil_sees(&vigil, 4, 7, 1000 * MS);
    vigil_sees(&vigil, 4, 7, 3000 * MS);
    tap_ok(!vigil_may_take(&vigil, 4187 * MS, SPAN) && vigil_may_take(&vigil, 4188 * MS, SPAN),
           "a seat is taken a lease and a sixteenth after its row was first seen as it still is");
    vigil_sees(&vigil, 4, 8, 3500 * MS);
    tap_ok(!vigil_may_take(&vigil, 4188 * MS, SPAN) && vigil_may_take(&vigil, 6688 * MS, SPAN),
           "a lease that was renewed is waited for anew");
    vigil_sees(&vigil, 5, 8, 4000 * MS);
    tap_ok(!vigil_may_take(&vigil, 6688 * MS, SPAN), "so is that of another holder");
}

/* ------------------------------------------------------------------------------------------------- two that share it */

#define STEP (5 * MS)
#define STEPS 20000

/* What is on its way between a process and the database. */
enum errand { NOTHING, RENEWING, RENEWED, REFUSED, LOOKING, LOOKED, TAKING, TAKEN };

struct process {
    struct tenure tenure;
    struct vigil vigil;
    enum errand errand;
    int64_t due;   /* when the errand gets to its next place */
    int64_t sent;  /* on its own clock */
    int64_t rate;  /* thousandths */
    int64_t start; /* of its clock */
    int64_t sleeps;
    bool holds;             /* it has taken the seat, and was not told that it is lost */
    uint64_t epoch;         /* under which it holds */
    uint64_t saw, saw_with; /* the row, as an answer on its way has it */
};

struct scene {
    struct rng rng;
    bool calm; /* nothing is late but by processes that sleep */
    int64_t time;
    uint64_t epoch, renewals, holder; /* the row; holder is 1 or 2 */
    struct process processes[2];
    uint64_t takeovers, resumed;
};

static int64_t delay(struct scene *scene)
{
    switch (scene->calm ? 2 : rng_below(&scene->rng, 8)) {
    case 0:
        return (int64_t)rng_below(&scene->rng, 2 * SPAN);
    case 1:
        return (int64_t)rng_below(&scene->rng, SPAN / 2);
    default:
        return (int64_t)rng_below(&scene->rng, 10 * MS);
    }
}

static int64_t clock_of(const struct scene *scene, const struct process *process)
{
    return process->start + scene->time * process->rate / 1000;
}

static void errand_goes(struct scene *scene, struct process *process, enum errand errand)
{
    process->errand = errand;
    process->due = scene->time + delay(scene);
}

/* The errand has come to the database. */
static void errand_arrives(struct scene *scene, struct process *process)
{
    uint64_t me = (uint64_t)(process - scene->processes) + 1;
    bool mine = scene->holder == me && scene->epoch == process->epoch;
    enum errand back = LOOKED;

    if (process->errand == RENEWING) {
        scene->renewals += mine;
        back = mine ? RENEWED : REFUSED;
    } else if (process->errand == TAKING) {
        back = REFUSED;
        if (scene->epoch == process->vigil.epoch &&
            (scene->renewals == process->vigil.renewals || MUTANT(RENEWAL_UNSEEN))) {
            scene->takeovers += scene->holder && scene->holder != me;
            scene->holder = me;
            scene->epoch++;
            scene->renewals++;
            back = TAKEN;
        }
    }
    process->saw = scene->epoch;
    process->saw_with = scene->renewals;
    errand_goes(scene, process, back);
}

/* An answer has come back. */
static void errand_returns(struct scene *scene, struct process *process)
{
    int64_t now = clock_of(scene, process);
    enum errand errand = process->errand;
    bool lapsed = process->holds && tenure_state(&process->tenure, now) == TENURE_LAPSED;

    process->errand = NOTHING;
    if (errand == LOOKED) {
        vigil_sees(&process->vigil, process->saw, process->saw_with, now);
    } else if (errand == TAKEN) {
        process->holds = true;
        process->epoch = process->saw;
        tenure_take(&process->tenure, process->sent, SPAN);
    } else if (process->holds) {
        process->holds =
            tenure_answered(&process->tenure, errand == RENEWED ? TENURE_GRANTED : TENURE_REFUSED, now) != TENURE_LOST;
        scene->resumed += lapsed && process->holds && tenure_state(&process->tenure, now) == TENURE_HOLDS;
    }
    if (!process->holds && errand != LOOKED)
        process->vigil = (struct vigil){0};
}

static void process_acts(struct scene *scene, struct process *process)
{
    int64_t now = clock_of(scene, process);

    if (scene->time < process->sleeps)
        return;
    if (rng_below(&scene->rng, 2000) == 0)
        process->sleeps = scene->time + (int64_t)rng_below(&scene->rng, 2 * SPAN);
    if (process->errand != NOTHING) {
        if (scene->time >= process->due && (process->errand == RENEWED || process->errand == REFUSED ||
                                            process->errand == LOOKED || process->errand == TAKEN))
            errand_returns(scene, process);
        return;
    }
    process->sent = now;
    if (process->holds) {
        if (tenure_due(&process->tenure, now) == TENURE_ASK) {
            tenure_asked(&process->tenure, now);
            errand_goes(scene, process, RENEWING);
        }
    } else {
        errand_goes(scene, process, vigil_may_take(&process->vigil, now, SPAN) ? TAKING : LOOKING);
    }
}

/* May it act, by what it knows? */
static bool is_acting(const struct scene *scene, const struct process *process)
{
    return process->holds && tenure_state(&process->tenure, clock_of(scene, process)) == TENURE_HOLDS;
}

/* Both never act at once, and none once the row is another's: false when that happens. */
static bool scene_plays(struct scene *scene, uint64_t seed)
{
    *scene = (struct scene){.epoch = 1};
    rng_init(&scene->rng, seed);
    scene->calm = rng_below(&scene->rng, 2);
    for (size_t i = 0; i < 2; i++)
        scene->processes[i] = (struct process){.rate = 980 + (int64_t)rng_below(&scene->rng, 3) * 20,
                                               .start = (int64_t)rng_below(&scene->rng, 1000 * SPAN)};
    for (int step = 0; step < STEPS; step++) {
        scene->time += STEP;
        for (size_t i = 0; i < 2; i++) {
            struct process *process = &scene->processes[i];

            /* the network goes on while a process sleeps */
            if (scene->time >= process->due &&
                (process->errand == RENEWING || process->errand == LOOKING || process->errand == TAKING))
                errand_arrives(scene, process);
            process_acts(scene, process);
        }
        for (uint64_t i = 0; i < 2; i++)
            if (is_acting(scene, &scene->processes[i]) && scene->holder != i + 1)
                return false;
    }
    return true;
}

static void scenes_test(uint64_t seed, uint64_t rounds)
{
    uint64_t takeovers = 0, resumed = 0, round = 0;
    struct scene scene;
    bool good = true;

    for (; round < rounds && good; round++) {
        good = scene_plays(&scene, seed + round);
        takeovers += scene.takeovers;
        resumed += scene.resumed;
    }
    tap_ok(good && takeovers > 0 && resumed > 0,
           "in %" PRIu64 " scenes with %" PRIu64 " takeovers nobody acts whose seat another has taken; %" PRIu64
           " held it again after a lapse (seed %" PRIu64 ")",
           round, takeovers, resumed, seed + round - 1);
}

#ifdef BERTH_MUTANTS
static void plants_are_found(uint64_t seed)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
        {MUTANT_LEASE_FROM_ANSWER, "a lease is counted from the answer to its renewal"},
        {MUTANT_NO_BIT, "nothing of a lease is left for clocks that run apart"},
        {MUTANT_SEAT_EARLY, "a seat is taken before its lease is over"},
        {MUTANT_RENEWAL_UNSEEN, "a standby does not look whether the lease was renewed"},
    };
    struct scene scene;

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        uint64_t round = 0;

        mutant_now = plants[i].mutant;
        while (round < 200 && scene_plays(&scene, seed + round))
            round++;
        mutant_now = MUTANT_NONE;
        tap_ok(round < 200, "planted: %s: found in scene %" PRIu64, plants[i].words, round + 1);
    }
}
#endif

int main(void)
{
    uint64_t first = lang_setting("BERTH_SEED", 1);

    holder_test();
    next_test();
    standby_test();
    scenes_test(first, lang_rounds(40));
#ifdef BERTH_MUTANTS
    plants_are_found(first);
#endif
    return tap_done();
}
