/* base.c: the database that the processes of seats share: their rows, the fence before each commit, and what a fail-over loses. */
#include "sim/base.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------- what may be lost */

/* Forgets what is too old to be lost. */
static void before_forget(struct seats *seats)
{
    while (seats->before_count && seats->before[seats->before_first].at < seats->world->time - seats->span) {
        record_done(&seats->before[seats->before_first++].record);
        seats->before_count--;
    }
    if (!seats->before_count)
        seats->before_first = 0;
}

static struct before *before_add(struct seats *seats, uint32_t seat)
{
    before_forget(seats);
    ARRAY_ROOM(seats->before, seats->before_first + seats->before_count, seats->before_room, 64);
    seats->before[seats->before_first + seats->before_count] =
        (struct before){.at = seats->world->time, .seat = seat, .was = seats->seats[seat]};
    return &seats->before[seats->before_first + seats->before_count++];
}

static void before_seat(struct seats *seats, uint32_t seat)
{
    if (!seats->synchronous)
        before_add(seats, seat)->is_seat = true;
}

static void before_row(struct seats *seats, uint32_t seat, const struct record *row)
{
    const struct disk *disk = &seats->world->hosts[seats->seats[seat].place].disk;
    const struct record *was = disk_find(disk, row->kind, row->key);
    struct before *before;

    if (seats->synchronous && !MUTANT(COMMIT_LOCAL))
        return;
    before = before_add(seats, seat);
    if (was)
        record_copy(&before->record, was);
    else
        before->record = (struct record){.kind = row->kind, .key = row->key, .removed = true};
}

/* The commits since that time are lost. */
static void commits_lose(struct seats *seats, int64_t since)
{
    while (seats->before_count) {
        struct before *before = &seats->before[seats->before_first + seats->before_count - 1];
        struct seat *seat = &seats->seats[before->seat];

        if (before->at < since)
            break;
        if (before->is_seat) { /* which process is where is no matter of the database's */
            before->was.place = seat->place;
            before->was.aside = seat->aside;
            before->was.last = seat->last;
            *seat = before->was;
        } else {
            disk_revert(&seats->world->hosts[seat->place].disk, &before->record);
        }
        record_done(&before->record);
        seats->before_count--;
    }
}

/* ----------------------------------------------------------------------------------------------------------- the seats */

/* The process aside takes the party's place in the world, and the rows. The one that was there is aside now. */
static void seat_changes(struct world *world, struct seat *seat)
{
    struct host *place = &world->hosts[seat->place], *aside = &world->hosts[seat->aside], held = *place;

    if (place->role)
        world_tell_went(world, place, "crashes");
    *place = *aside;
    *aside = held;
    aside->name = place->name;
    place->name = held.name;
    aside->place = seat->aside;
    place->place = seat->place;
    aside->candidate->place = seat->aside;
    place->candidate->place = seat->place;
    aside->secrets.user = &aside->hidden;
    place->secrets.user = &place->hidden;
    disk_rows_swap(&place->disk, &aside->disk);
    place->life = (place->life > aside->life ? place->life : aside->life) + 1;
    host_wakes_anew(world, aside);
}

static bool is_holders(const struct seats *seats, const struct seat *seat, const struct errand *errand)
{
    return seat->epoch == errand->epoch && seat->holder == errand->holder &&
           (errand->history == seats->history || MUTANT(HISTORY_IGNORED));
}

/* A row that came back after a loss is another row. */
static uint64_t renewals_of(const struct seats *seats, const struct seat *seat)
{
    return seat->renewals + (MUTANT(HISTORY_IGNORED) ? 0 : seats->history << 40);
}

static void look_serve(struct seats *seats, const struct seat *seat, struct errand *errand)
{
    errand->epoch = seat->epoch;
    errand->renewals = renewals_of(seats, seat);
    errand->answer = TENURE_GRANTED;
}

static void take_serve(struct seats *seats, struct seat *seat, struct errand *errand)
{
    const struct candidate *candidate = &seats->candidates[errand->candidate];

    errand->answer = TENURE_REFUSED;
    if (candidate->life != errand->life ||
        ((seat->epoch != errand->epoch || renewals_of(seats, seat) != errand->renewals) && !MUTANT(TAKEN_BLINDLY)))
        return;
    before_seat(seats, candidate->seat);
    seat->epoch++;
    seat->renewals++;
    seat->holder = seat->last = errand->holder;
    if (candidate->place != seat->place) {
        seats->world->faults[FAULT_TAKEN]++;
        seat_changes(seats->world, seat);
    }
    errand->epoch = seat->epoch;
    errand->history = seats->history;
    errand->commits = seat->commits;
    errand->answer = TENURE_GRANTED;
}

static void renew_serve(struct seats *seats, struct seat *seat, struct errand *errand)
{
    bool granted = is_holders(seats, seat, errand);

    if (granted)
        before_seat(seats, (uint32_t)(seat - seats->seats));
    seat->renewals += granted;
    errand->answer = granted ? TENURE_GRANTED : TENURE_REFUSED;
}

static void rows_done(struct errand *errand)
{
    for (uint32_t i = 0; i < errand->count; i++)
        record_done(&errand->rows[i]);
    free(errand->rows);
    errand->rows = NULL;
}

static void commit_serve(struct seats *seats, struct seat *seat, struct errand *errand)
{
    uint32_t number = (uint32_t)(seat - seats->seats);
    struct host *host = &seats->world->hosts[seat->place];

    errand->answer = TENURE_REFUSED;
    if (is_holders(seats, seat, errand) || errand->checked || MUTANT(EPOCH_UNCHECKED)) {
        if (seat->last != errand->holder)
            world_tell_stale(seats->world, &seats->world->hosts[seats->candidates[errand->candidate].place],
                             "it writes, and another has taken its seat");
        else if (errand->commits != seat->commits && !MUTANT(COMMIT_LOCAL))
            world_tell_stale(seats->world, host, "it writes, and the rows are not as it knows them");
        before_seat(seats, number);
        for (uint32_t i = 0; i < errand->count; i++) {
            before_row(seats, number, &errand->rows[i]);
            disk_put_take(seats->world, host, &errand->rows[i]);
        }
        seat->commits++;
        errand->answer = TENURE_GRANTED;
    }
    rows_done(errand);
}

void base_serves(struct seats *seats, uint32_t index)
{
    struct world *world = seats->world;
    struct errand *errand = slab_at(&seats->errands, index);
    struct seat *seat = &seats->seats[seats->candidates[errand->candidate].seat];

    if (seats->back > world->time) {
        world_push(world, seats->back + world_between(world, 0, 2 * MILLISECOND), ITEM_ERRAND, index);
        return;
    }
    if (MUTANT(FENCE_BEFORE) && errand->kind == ERRAND_COMMIT && !errand->checked && is_holders(seats, seat, errand)) {
        errand->checked = true;
        errand_travels(seats, index);
        return;
    }
    errand->returns = true;
    if (errand->connection != seats->connection) {
        errand->answer = TENURE_SILENCE;
        rows_done(errand);
    } else if (errand->kind == ERRAND_LOOK) {
        look_serve(seats, seat, errand);
    } else if (errand->kind == ERRAND_TAKE) {
        take_serve(seats, seat, errand);
    } else if (errand->kind == ERRAND_RENEW) {
        renew_serve(seats, seat, errand);
    } else {
        commit_serve(seats, seat, errand);
    }
    errand_travels(seats, index);
}

/* -------------------------------------------------------------------------------------------------------------- faults */

void base_stalls(struct seats *seats, int64_t span)
{
    seats->world->faults[FAULT_STALL]++;
    seats->back = seats->world->time + span;
}

void base_fails_over(struct seats *seats)
{
    struct world *world = seats->world;

    world->faults[FAULT_FAILOVER]++;
    seats->connection++;
    base_stalls(seats, world_between(world, seats->span / 16, seats->span));
    commits_lose(seats, world->time - world_between(world, 0, seats->span / 2));
    seats->history += !seats->synchronous;
}

void base_free(struct seats *seats)
{
    for (uint32_t i = 0; i < seats->before_count; i++)
        record_done(&seats->before[seats->before_first + i].record);
    free(seats->before);
    for (uint32_t i = 0; i < seats->errands.count; i++) {
        struct errand *errand = slab_at(&seats->errands, i);

        if (errand->rows)
            rows_done(errand);
    }
    free(seats->errands.items);
}
