/* Machines that are booked: invariant 13, in worlds in which somebody books and gives back all the time, without and with planted bugs. */
#include "common/tap.h"
#include "lang/ad/make.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/provider.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS_CLEAN 12
#define WORLDS_MAX 60 /* in which a planted bug shows */
#define SEED 70000
#define PLAN_ORDER SIM_PLANS
#define AHEAD 45   /* seconds */
#define LONGEST 25 /* seconds */
#define MOVED 20   /* seconds */

struct office {
    struct world *world;
    struct judge *judge;
    struct parties parties;
    struct rng rng;
    bool quiet;
    uint64_t given;                               /* numbers of bookings */
    uint64_t ordered, accepted, changed, durable; /* in all worlds; `changed` were asked to be changed */
    uint64_t again;                               /* of the ordered, those that come again ... */
    uint64_t times;                               /* ... and how many of their times were over */
};

static uint64_t below(struct office *office, uint64_t bound)
{
    return rng_below(&office->rng, bound);
}

static int64_t utc(const struct office *office)
{
    return WALL_START * SECOND + office->world->time;
}

static void order_next(struct office *office)
{
    if (!office->quiet)
        world_plan(office->world, office->world->time + 1 + (int64_t)below(office, 4 * SECOND), PLAN_ORDER);
}

static struct host *any_provider(struct office *office)
{
    uint32_t place =
        office->parties.providers + (uint32_t)below(office, office->parties.users - office->parties.providers);

    return &office->world->hosts[place];
}

/* Gives a booking back, if that machine has one of that number. */
static void give_back(struct office *office, struct host *host, uint64_t number)
{
    host_event(office->world, host, &(struct event){.kind = EVENT_BOOK, .number = number, .at = utc(office)});
}

/* An order, from then on. */
static struct tree *order_make(struct office *office, int64_t from)
{
    static const char *const users[] = {"u1", "u2", "many", "nobody"};
    static const char *const every[] = {"* * * * *", "*/2 * * * *", "*/3 * * * *", "0 * * * *"};
    int64_t now = utc(office) / SECOND;
    const char *user = users[below(office, sizeof users / sizeof *users)];
    struct maker maker;

    maker_init(&maker, office->world->symbols);
    maker_integer(&maker, "From", from);
    maker_integer(&maker, "Until", from + 4 + (int64_t)below(office, LONGEST));
    maker_texts(&maker, "Users", &user, 1);
    if (below(office, 3) == 0) { /* it comes again */
        maker_text(&maker, "Every", every[below(office, sizeof every / sizeof *every)]);
        maker_text(&maker, "ZoneRule", below(office, 2) ? "CET-1CEST,M3.5.0,M10.5.0/3" : "UTC0");
        office->again++;
    }
    if (below(office, 2))
        maker_integer(&maker, "Arrive", 1 + (int64_t)below(office, 3));
    if (below(office, 4) == 0)
        maker_integer(&maker, "Held", now + 1 + (int64_t)below(office, 3));
    return maker_seal(&maker);
}

/* Takes `ad`. */
static void order_give(struct office *office, struct host *host, uint64_t number, struct tree *ad)
{
    office->ordered++;
    host_event(office->world, host, &(struct event){.kind = EVENT_BOOK, .number = number, .ad = ad, .at = utc(office)});
    office->accepted += host->role && !provider_booking_refused(host->role);
    tree_unref(ad);
}

/* One that is there is confirmed, or is to be at another time, or for others. */
static void order_change(struct office *office, struct host *host, const struct booking_view *booking)
{
    office->changed++;
    order_give(office, host, booking->id,
               below(office, 2) ? ad_without(booking->ad, "Held")
                                : order_make(office, booking->from - MOVED / 2 + (int64_t)below(office, MOVED)));
}

static void order_happens(void *user, uint32_t which)
{
    struct office *office = user;
    struct host *host = any_provider(office);
    struct booking_view booking;

    (void)which;
    if (office->quiet)
        return;
    order_next(office);
    if (!host->role)
        return;
    if (office->given && below(office, 6) == 0) {
        give_back(office, host, 1 + below(office, office->given));
        return;
    }
    if (below(office, 3) == 0 && provider_booking(host->role, (uint32_t)below(office, 3), &booking))
        order_change(office, host, &booking);
    else
        order_give(office, host, ++office->given,
                   order_make(office, utc(office) / SECOND + (int64_t)below(office, AHEAD)));
}

static void office_comes(void *user, struct world *world, struct judge *judge, const struct parties *parties)
{
    struct office *office = user;

    office->world = world;
    office->judge = judge;
    office->parties = *parties;
    office->quiet = false;
    office->given = 0;
    rng_init(&office->rng, rng_mix(world->host_count ^ rng_next(&world->hosts[0].chance)));
    order_next(office);
}

static void office_quiet(void *user)
{
    struct office *office = user;

    office->quiet = true;
    for (uint32_t i = office->parties.providers; i < office->parties.users; i++)
        for (uint64_t number = 1; number <= office->given; number++)
            if (office->world->hosts[i].role)
                give_back(office, &office->world->hosts[i], number);
}

static void office_goes(void *user)
{
    struct office *office = user;

    office->durable += judge_booked(office->judge);
    office->times += judge_booked_times(office->judge);
}

/* Did what calendars are to survive happen? */
static bool faults_happened(const struct sim_report *report)
{
    static const int faults[] = {FAULT_LOSS, FAULT_CRASH, FAULT_REBOOT, FAULT_TORN, FAULT_CLOCK, FAULT_WALL};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!report->by_fault[faults[i]])
            return false;
    return true;
}

static int worlds_run(struct office *office, uint64_t worlds, struct sim_report *report)
{
    const char *seed = getenv("BERTH_SEED");
    struct sim_guest guest = {office, office_comes, order_happens, office_quiet, office_goes};
    struct sim_settings settings = {.seed = seed ? strtoull(seed, NULL, 10) : SEED,
                                    .worlds = worlds,
                                    .claims = UINT64_MAX,
                                    .faults = true,
                                    .guest = &guest};

    return sim_run(&settings, report);
}

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
#define X(id, words) {MUTANT_##id, words},
        BOOKING_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct office office = {0};
        struct sim_report report;
        int broken;

        mutant_now = plants[i].mutant;
        broken = worlds_run(&office, WORLDS_MAX, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && report.violation.number == 13, "planted: %s: found in world %" PRIu64 ": %s", plants[i].words,
               report.worlds, report.violation.words);
    }
}
#endif

int main(void)
{
    struct office office = {0};
    const char *rounds = getenv("BERTH_ROUNDS");
    struct sim_report report;
    int broken;

#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    broken = worlds_run(&office, rounds ? strtoull(rounds, NULL, 10) : WORLDS_CLEAN, &report);
    if (!tap_ok(!broken && office.durable > 50 && office.changed > 10 && office.accepted > office.changed &&
                    faults_happened(&report) && office.times > 5,
                "machines are there for whom they are booked, in %" PRIu64 " worlds with %" PRIu64 " bookings; %" PRIu64
                " orders, %" PRIu64 " of them changes, %" PRIu64 " that come again, %" PRIu64
                " of whose times were over; %" PRIu64 " reboots, %" PRIu64 " jumps of a wall clock",
                report.worlds, office.durable, office.ordered, office.changed, office.again, office.times,
                report.by_fault[FAULT_REBOOT], report.by_fault[FAULT_WALL]))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
    return tap_done();
}
