/* seats.c: the processes of seats: how they stand by, take a seat, renew its lease, and stop. What the database does is in base.c. */
#include "sim/seats.h"

#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"
#include "sim/base.h"

#include <stdlib.h>
#include <string.h>

#define LATE_ONE_IN 128
#define RESTART_PAUSE SECOND

static struct host *host_of(struct world *world, const struct candidate *candidate)
{
    return &world->hosts[candidate->place];
}

static int64_t now_of(struct world *world, const struct candidate *candidate)
{
    return host_now(world, host_of(world, candidate));
}

/* ------------------------------------------------------------------------------------------------------------- errands */

void errand_travels(struct seats *seats, uint32_t index)
{
    struct world *world = seats->world;
    const struct errand *errand = slab_at(&seats->errands, index);
    const struct candidate *candidate = &seats->candidates[errand->candidate];
    int64_t from = candidate->cut > world->time ? candidate->cut : world->time;
    bool late = !seats->quiet && rng_next(&world->rng) % LATE_ONE_IN == 0;
    int64_t most = late ? 2 * seats->span : world->rates.write_most;

    world_push(world, from + world_between(world, world->rates.write_least, most), ITEM_ERRAND, index);
}

static struct errand *errand_new(struct seats *seats, const struct candidate *candidate, enum errand_kind kind,
                                 uint32_t *ret_index)
{
    struct errand *errand;

    *ret_index = slab_take(&seats->errands);
    errand = slab_at(&seats->errands, *ret_index);
    *errand = (struct errand){.kind = kind,
                              .candidate = (uint32_t)(candidate - seats->candidates),
                              .life = candidate->life,
                              .serial = ++seats->serials,
                              .connection = seats->connection,
                              .sent = now_of(seats->world, candidate),
                              .epoch = candidate->epoch,
                              .holder = candidate->holder,
                              .history = candidate->history,
                              .commits = candidate->commits};
    return errand;
}

/* Sends an errand whose answer the process waits for. */
static void candidate_asks(struct seats *seats, struct candidate *candidate, enum errand_kind kind)
{
    uint32_t index;
    struct errand *errand = errand_new(seats, candidate, kind, &index);

    if (kind == ERRAND_TAKE) {
        errand->epoch = candidate->vigil.epoch;
        errand->renewals = candidate->vigil.renewals;
        errand->holder = errand->serial;
    }
    candidate->awaits = errand->serial;
    candidate->asked = errand->sent;
    errand_travels(seats, index);
}

void seats_commit(struct world *world, struct host *host, struct record *rows, uint32_t count)
{
    uint32_t index;
    struct errand *errand = errand_new(world->seats, host->candidate, ERRAND_COMMIT, &index);

    errand->rows = rows;
    errand->count = count;
    errand_travels(world->seats, index);
}

/* ----------------------------------------------------------------------------------------------------------- processes */

void seats_start(struct world *world, struct host *host)
{
    if (!host->candidate->up)
        host->candidate->start = world->time;
}

void seats_crashed(struct world *world, struct host *host, int64_t until)
{
    struct candidate *candidate = host->candidate;

    (void)world;
    *candidate = (struct candidate){.seat = candidate->seat,
                                    .place = candidate->place,
                                    .life = candidate->life + 1,
                                    .cut = candidate->cut,
                                    .start = until};
}

static void candidate_stops(struct world *world, struct candidate *candidate, int64_t until)
{
    struct host *host = host_of(world, candidate);

    if (!candidate->up)
        return;
    if (host->role)
        host_crash(world, host, false, until);
    else
        seats_crashed(world, host, until);
}

static void candidate_gives_up(struct world *world, struct candidate *candidate)
{
    candidate_stops(world, candidate, world->time + world_between(world, RESTART_PAUSE / 10, RESTART_PAUSE));
}

int64_t seats_sleep(const struct world *world, const struct host *host)
{
    return host->candidate && host->candidate->asleep > world->time ? host->candidate->asleep : 0;
}

struct host *seats_ghost(struct world *world, const struct host *host)
{
    struct host *aside = &world->hosts[world->seats->seats[host->candidate->seat].aside];

    return host != aside && aside->role ? aside : NULL;
}

bool seats_lets(struct world *world, struct host *host)
{
    struct candidate *candidate = host->candidate;
    const struct seat *seat = &world->seats->seats[candidate->seat];

    if (tenure_state(&candidate->tenure, host_now(world, host)) != TENURE_HOLDS && !MUTANT(LAPSE_IGNORED)) {
        candidate->stopping = true;
        return false;
    }
    if (seat->last == candidate->holder)
        return true;
    world_tell_stale(world, host, "it acts, and another has taken its seat");
    return false;
}

static void holder_turn(struct world *world, struct candidate *candidate)
{
    struct seats *seats = world->seats;
    struct host *host = host_of(world, candidate);
    int64_t now = host_now(world, host);

    if (candidate->stopping || tenure_state(&candidate->tenure, now) == TENURE_LOST) {
        candidate_gives_up(world, candidate);
        return;
    }
    switch (tenure_due(&candidate->tenure, now)) {
    case TENURE_ASK:
        tenure_asked(&candidate->tenure, now);
        candidate_asks(seats, candidate, ERRAND_RENEW);
        break;
    case TENURE_GIVE_UP:
        candidate->awaits = 0;
        tenure_answered(&candidate->tenure, TENURE_SILENCE, now);
        break;
    case TENURE_REST:
        break;
    }
    if (!host->role && tenure_state(&candidate->tenure, now) == TENURE_HOLDS)
        host_live(world, host);
}

static void standby_turn(struct world *world, struct candidate *candidate)
{
    struct seats *seats = world->seats;
    int64_t now = now_of(world, candidate);

    if (candidate->awaits && now - candidate->asked > seats->span)
        candidate->awaits = 0;
    if (!candidate->awaits)
        candidate_asks(seats, candidate,
                       vigil_may_take(&candidate->vigil, now, seats->span) ? ERRAND_TAKE : ERRAND_LOOK);
}

void seats_turn(struct world *world, uint32_t index)
{
    struct candidate *candidate = &world->seats->candidates[index];
    int64_t span = world->seats->span;

    world_push(world, world->time + world_between(world, span / 16, span / 8), ITEM_SEAT, index);
    if (!candidate->up)
        candidate->up = world->time >= candidate->start;
    else if (candidate->asleep > world->time)
        return;
    else if (candidate->holder)
        holder_turn(world, candidate);
    else
        standby_turn(world, candidate);
}

/* ------------------------------------------------------------------------------------------------------------- answers */

static void commit_answered(struct world *world, struct candidate *candidate, const struct errand *errand)
{
    if (errand->answer == TENURE_GRANTED || (errand->answer == TENURE_SILENCE && MUTANT(UNKNOWN_IS_DONE))) {
        candidate->commits++;
        disk_committed(world, host_of(world, candidate), errand->count);
    } else {
        candidate_gives_up(world, candidate);
    }
}

static void errand_answered(struct world *world, struct candidate *candidate, const struct errand *errand)
{
    int64_t now = now_of(world, candidate);

    if (errand->kind == ERRAND_COMMIT) {
        commit_answered(world, candidate, errand);
        return;
    }
    if (candidate->awaits != errand->serial)
        return;
    candidate->awaits = 0;
    if (errand->kind == ERRAND_LOOK && errand->answer == TENURE_GRANTED) {
        vigil_sees(&candidate->vigil, errand->epoch, errand->renewals, now);
    } else if (errand->kind == ERRAND_TAKE) {
        candidate->vigil = (struct vigil){0};
        if (errand->answer != TENURE_GRANTED)
            return;
        candidate->holder = errand->holder;
        candidate->epoch = errand->epoch;
        candidate->history = errand->history;
        candidate->commits = errand->commits;
        tenure_take(&candidate->tenure, errand->sent, world->seats->span);
        holder_turn(world, candidate);
    } else if (errand->kind == ERRAND_RENEW &&
               tenure_answered(&candidate->tenure, errand->answer, now) == TENURE_LOST) {
        candidate_gives_up(world, candidate);
    }
}

void seats_errand(struct world *world, uint32_t index)
{
    struct seats *seats = world->seats;
    struct errand *errand = slab_at(&seats->errands, index), copy;
    struct candidate *candidate = &seats->candidates[errand->candidate];

    if (!errand->returns) {
        base_serves(seats, index);
        return;
    }
    if (candidate->asleep > world->time && candidate->life == errand->life) {
        world_push(world, candidate->asleep, ITEM_ERRAND, index);
        return;
    }
    copy = *errand;
    slab_give(&seats->errands, index);
    if (candidate->up && candidate->life == copy.life)
        errand_answered(world, candidate, &copy);
}

/* -------------------------------------------------------------------------------------------------------------- faults */

static struct candidate *any_candidate(struct seats *seats)
{
    return &seats->candidates[rng_below(&seats->world->rng, 2 * seats->count)];
}

void seats_fault(struct world *world)
{
    struct seats *seats = world->seats;
    struct candidate *candidate = any_candidate(seats);
    int64_t span = seats->span;

    if (seats->quiet)
        return;
    switch (rng_below(&world->rng, 8)) {
    case 0:
    case 1:
        if (candidate->up) {
            world->faults[FAULT_ASLEEP]++;
            candidate->asleep = world->time + world_between(world, span / 4, 3 * span);
        }
        break;
    case 2:
    case 3:
        world->faults[FAULT_NO_BASE]++;
        candidate->cut = world->time + world_between(world, 0, 2 * span);
        break;
    case 4:
        candidate_stops(world, candidate, world->time + world_between(world, 0, 2 * span));
        break;
    case 5:
        base_stalls(seats, world_between(world, 0, 2 * span));
        break;
    default:
        base_fails_over(seats);
        break;
    }
    world_push(world, world->time + world_between(world, span / 2, 3 * span), ITEM_BASE, 0);
}

int64_t seats_quiet(struct world *world)
{
    if (!world->seats)
        return 0;
    world->seats->quiet = true;
    return 8 * world->seats->span; /* sleep, a stall, errands that are late, and two leases */
}

/* ---------------------------------------------------------------------------------------------------------- life cycle */

static void candidate_new(struct seats *seats, uint32_t seat, uint32_t place)
{
    uint32_t index = 2 * seat + (place == seats->seats[seat].aside);
    struct candidate *candidate = &seats->candidates[index];

    *candidate = (struct candidate){.seat = seat, .place = place, .start = INT64_MAX};
    seats->world->hosts[place].candidate = candidate;
    world_push(seats->world, world_between(seats->world, 0, seats->span / 8), ITEM_SEAT, index);
}

void seats_new(struct world *world, uint32_t first, uint32_t end, int64_t span, bool synchronous, bool faults)
{
    struct seats *seats = mem_alloc(sizeof *seats);

    *seats = (struct seats){.world = world,
                            .span = span,
                            .synchronous = synchronous,
                            .quiet = !faults,
                            .errands = {.size = sizeof(struct errand)}};
    world->seats = seats;
    for (uint32_t place = first; place < end && seats->count < SEATS_MAX && world->host_count < HOSTS_MAX; place++) {
        const struct host *host = &world->hosts[place];
        uint32_t aside = world_add(world, host->kind, host->settings, host->identity, host->any, "the other process");

        seats->seats[seats->count] = (struct seat){.place = place, .aside = aside};
        candidate_new(seats, seats->count, place);
        candidate_new(seats, seats->count, aside);
        seats->count++;
    }
    if (faults)
        world_push(world, span, ITEM_BASE, 0);
}

void seats_free(struct world *world)
{
    if (world->seats)
        base_free(world->seats);
    free(world->seats);
    world->seats = NULL;
}
