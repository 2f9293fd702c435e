/* judge_bookings.c: 13: a machine that is booked is there for whom it was booked, and no job is ended before its limit for that.
 *
 * What is booked is what is durable. The booking runs on the host's clock, which is a little fast or slow; after a reboot it runs on the wall clock, and
 * where that is wrong the judge says no more about it. */
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/base/schedule.h"
#include "lang/base/zone.h"
#include "pool/protocol/account.h"
#include "sim/judge_parts.h"

#include <stdlib.h>
#include <string.h>

#define DRIFT_PART 45            /* of a span: clocks differ by less */
#define DRIFT_LEAST (SECOND / 2) /* and intervals are whole seconds */
#define SETTLES (10 * SECOND)    /* by then a host that is up has done what is due, and that is durable */

struct booked {
    struct booked *next;
    uint64_t id, boot, offer;
    uint32_t place;
    int64_t from, until, arrive; /* true time; the last is a span */
    int64_t held;                /* until then it is not confirmed, and may be given back before its end; 0: it is */
    bool came;
    bool again;      /* it comes again: what it is kept for is one of its times ... */
    uint32_t times;  /* ... and so many of them are over */
    struct tree *ad; /* held */
};

static void booked_free(struct booked *booked)
{
    tree_unref(booked->ad);
    free(booked);
}

void judge_bookings_done(struct judge *judge)
{
    map_done(&judge->released);
    map_done(&judge->ordered);
    while (judge->booked) {
        struct booked *next = judge->booked->next;

        booked_free(judge->booked);
        judge->booked = next;
    }
}

static bool booked_is_for(const struct booked *booked, const char *user, const struct tree *job)
{
    const struct expr *users = ad_find(booked->ad, "Users");
    char name[TEXT_MAX + 1], group[TEXT_MAX + 1] = "";

    if (job)
        ad_text(job, "AccountingGroup", group, sizeof group);
    for (uint32_t i = 0; users && i < users->u.run.count; i++) {
        const struct expr *e = &tree_parts(booked->ad, users)[i];

        if (e->kind != EXPR_STRING || e->u.run.count > TEXT_MAX)
            continue;
        memcpy(name, tree_string(booked->ad, e), e->u.run.count);
        name[e->u.run.count] = '\0';
        if (identity_is_of(user, strlen(user), name) || !strcmp(group, name))
            return true;
    }
    return false;
}

static bool row_is_for(const struct booked *booked, const struct tenant_record *row)
{
    return booked_is_for(booked, row->root_owner.bytes[0] ? row->root_owner.bytes : row->owner.bytes,
                         row->task ? row->task : row->ad);
}

/* How far that moment of a booking may be off on a host's clock, whenever that was set. */
static int64_t drift_of(int64_t at)
{
    return DRIFT_LEAST + at / DRIFT_PART;
}

typedef void process_fn(struct judge *judge, struct booked *booked, const struct host *host,
                        const struct process *process, const struct tenant_record *row);

/* Each job that runs there, and whose it is by its claim's row. */
static void booked_each(struct judge *judge, struct booked *booked, process_fn *fn)
{
    const struct host *host = &judge->world->hosts[booked->place];

    for (uint32_t at = host->processes; at != NOBODY;) {
        const struct process *process = slab_at(&judge->world->processes, at);
        const struct record *row = disk_find(&host->disk, RECORD_TENANT, process->claim);

        at = process->next;
        if (process_lives(process) && row)
            fn(judge, booked, host, process, &row->u.tenant_record);
    }
}

/* A job that reaches into a booking would be ended before its limit. */
static void check_reach(struct judge *judge, struct booked *booked, const struct host *host,
                        const struct process *process, const struct tenant_record *row)
{
    if (row_is_for(booked, row))
        booked->came = true;
    else if (process->limit > booked->from + drift_of(booked->from))
        judge_finds(judge, 13, host, "a job reaches into a booking of its machine, and would be ended for it");
}

static void check_open(struct judge *judge, struct booked *booked, const struct host *host,
                       const struct process *process, const struct tenant_record *row)
{
    const struct rates *rates = &judge->world->rates;
    int64_t now = judge->world->time;

    if (row_is_for(booked, row))
        booked->came = true;
    else if (now > booked->from + drift_of(booked->from) + rates->kill_most + rates->deadline_most &&
             now < booked->until - drift_of(booked->until))
        judge_finds(judge, 13, host, "a job of '%s' runs on a machine that is booked for others",
                    row->root_owner.bytes[0] ? row->root_owner.bytes : row->owner.bytes);
    (void)process;
}

/* Somebody who is there already has come. */
static void user_look(void *user, const struct record *record)
{
    struct booked *booked = user;

    if (record->u.tenant_record.running && row_is_for(booked, &record->u.tenant_record))
        booked->came = true;
}

static uint64_t released_key(const struct host *host, uint64_t id)
{
    return rng_mix(id ^ rng_mix(host->place + 1));
}

static int64_t true_time(int64_t seconds)
{
    return (seconds - WALL_START) * SECOND;
}

/* In another boot the calendar runs on the wall clock, whether or not that is written yet; and so do bookings that are made meanwhile. */
static void calendar_doubt(struct judge *judge, const struct booked *booked, uint64_t boot)
{
    if (booked->boot != boot && judge->world->hosts[booked->place].wall)
        judge->doubted[booked->place] = true;
}

static struct booked **booked_find(struct judge *judge, const struct host *host, uint64_t id)
{
    struct booked **link = &judge->booked;

    while (*link && ((*link)->id != id || (*link)->place != host->place))
        link = &(*link)->next;
    return link;
}

/* May it be over, or that time of it, before its end? Nobody came, as far as is known. */
static bool is_forsaken(const struct judge *judge, const struct booked *booked)
{
    return booked->arrive &&
           judge->world->time > booked->from + booked->arrive - drift_of(booked->from + booked->arrive);
}

static int64_t seconds_utc(int64_t at)
{
    return WALL_START + at / SECOND;
}

/* Does one of the times of a booking that comes again, from that at which it is on, reach into another's? Reckoned from what was ordered, time by time. */
static bool comes_into(const struct booked *again, const struct booked *other)
{
    int64_t at = seconds_utc(again->from) - 1, span = seconds_utc(again->until) - seconds_utc(again->from);
    const char *every, *rule;
    struct schedule schedule;
    struct zone zone;
    size_t every_len, rule_len;
    struct err err;

    if (!ad_string(again->ad, "Every", &every, &every_len) || !ad_string(again->ad, "ZoneRule", &rule, &rule_len) ||
        schedule_read(every, every_len, &schedule, &err) < 0 || zone_read(rule, rule_len, &zone, &err) < 0)
        return false;
    while ((at = schedule_next(&schedule, at, 0, zone_offset, &zone)) < seconds_utc(other->until))
        if (at + span > seconds_utc(other->from))
            return true;
    return false;
}

/* A machine is booked whole, and for each time at which a booking comes again. (Two that come again may meet one day.) */
static void check_alone(struct judge *judge, const struct host *host, const struct booked *booked)
{
    for (const struct booked *other = judge->booked; other; other = other->next) {
        if (other == booked || other->place != booked->place || other->offer != booked->offer)
            continue;
        if (other->from < booked->until && booked->from < other->until)
            judge_finds(judge, 13, host, "two bookings of a machine are for one time");
        else if (booked->again != other->again &&
                 (booked->again ? comes_into(booked, other) : comes_into(other, booked)))
            judge_finds(judge, 13, host, "a machine is booked for a time at which another booking comes again");
    }
}

/* A time of one that comes again is over, and it is kept for another: not before the end of the first, while somebody is there. */
static void check_next(struct judge *judge, struct booked *booked, const struct host *host)
{
    bool changed = map_find(&judge->ordered, released_key(host, booked->id)) != MAP_NONE;

    if (changed)
        map_remove(&judge->ordered, released_key(host, booked->id));
    else if (!judge->doubted[host->place] && judge->world->time < booked->until - drift_of(booked->until) &&
             !is_forsaken(judge, booked))
        judge_finds(judge, 13, host, "a time of a booking that comes again is over before its end");
    booked->times++;
    judge->booked_times++;
    booked->came = false;
}

/* One that comes again ends when nobody came three times in a row, or is given back; none here has a last time. */
static void check_end(struct judge *judge, const struct booked *booked, const struct host *host)
{
    if (booked->again && !booked->held && map_find(&judge->released, released_key(host, booked->id)) == MAP_NONE &&
        !judge->doubted[host->place] && booked->times + 1 < 3)
        judge_finds(judge, 13, host, "a booking that comes again is over before three of its times are");
}

void judge_booking(struct judge *judge, const struct host *host, const struct record *record)
{
    struct booked **link = booked_find(judge, host, record->key), *booked = *link;
    const struct booking_record *row = &record->u.booking_record;
    bool moved;

    if (record->removed) {
        if (booked) {
            calendar_doubt(judge, booked, host->boot);
            check_end(judge, booked, host);
            if (!booked->held && map_find(&judge->released, released_key(host, record->key)) == MAP_NONE &&
                !judge->doubted[host->place] && judge->world->time < booked->until - drift_of(booked->until) &&
                !is_forsaken(judge, booked))
                judge_finds(judge, 13, host, "a booking is over before its time");
            *link = booked->next;
            booked_free(booked);
        }
        return;
    }
    moved = !booked || booked->from != true_time(row->from) || booked->until != true_time(row->until);
    if (!booked) {
        booked = mem_alloc(sizeof *booked);
        *booked = (struct booked){.next = judge->booked, .id = record->key, .boot = row->boot, .place = host->place};
        judge->booked = booked;
        judge->bookings++;
    }
    if (moved && booked->again)
        check_next(judge, booked, host);
    if (moved) {
        booked->from = true_time(row->from);
        booked->until = true_time(row->until);
    }
    booked->again = ad_find(row->ad, "Every") != NULL;
    calendar_doubt(judge, booked, row->boot);
    booked->boot = row->boot;
    booked->offer = row->offer;
    booked->arrive = row->arrive * SECOND;
    booked->held = row->held ? true_time(row->held) : 0;
    tree_unref(booked->ad);
    booked->ad = tree_ref(row->ad);
    disk_each(&host->disk, RECORD_TENANT, user_look, booked);
    if (moved)
        check_alone(judge, host, booked);
    if (moved && !judge->doubted[host->place])
        booked_each(judge, booked, check_reach);
}

/* Is the row written in this step, and says what was ordered? What is told of the order becomes durable with it, or later. */
static bool order_is_written(const struct host *host, const struct event *event)
{
    int64_t from, until;

    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];
        const struct booking_record *row = &effect->record.u.booking_record;

        if (effect->kind == EFFECT_PERSIST && effect->record.kind == RECORD_BOOKING && !effect->record.removed &&
            effect->record.key == event->number && ad_integer(event->ad, "From", &from) &&
            ad_integer(event->ad, "Until", &until) &&
            ((row->from == from && row->until == until) ||
             ad_find(event->ad, "Every"))) /* that is placed at its first time */
            return true;
    }
    return false;
}

void judge_booking_order(struct judge *judge, const struct host *host, const struct event *event)
{
    map_set(event->ad ? &judge->ordered : &judge->released, released_key(host, event->number), 1);
    if (event->ad && !provider_booking_refused(host->role) && !order_is_written(host, event))
        judge_finds(judge, 13, host, "a booking is acknowledged before it is written");
}

/* A claim is on disk: of a user of the booking, it may be why the machine is kept. */
void judge_booked_row(struct judge *judge, const struct host *host, const struct tenant_record *row)
{
    for (struct booked *booked = judge->booked; booked; booked = booked->next)
        if (booked->place == host->place && row->running && row_is_for(booked, row))
            booked->came = true;
}

void judge_booked_launch(struct judge *judge, const struct host *host, const struct process *process)
{
    const struct record *row = disk_find(&host->disk, RECORD_TENANT, process->claim);

    for (struct booked *booked = judge->booked; booked && row; booked = booked->next)
        if (booked->place == host->place && !judge->doubted[host->place] && judge->world->time < booked->from)
            check_reach(judge, booked, host, process, &row->u.tenant_record);
}

void judge_bookings(struct judge *judge)
{
    int64_t now = judge->world->time;

    for (struct booked *booked = judge->booked; booked; booked = booked->next) {
        const struct host *host = &judge->world->hosts[booked->place];
        int64_t drift = drift_of(now), left = booked->arrive ? booked->from + booked->arrive : INT64_MAX;
        bool settled = host->role && now - judge->began[booked->place] > SETTLES;

        calendar_doubt(judge, booked, host->boot);
        if (judge->doubted[booked->place])
            continue;
        booked_each(judge, booked, check_open);
        if (settled && now > booked->until + drift + SETTLES)
            judge_finds(judge, 13, host, "a booking outlives its end");
        if (settled && booked->held && now > booked->held + drift + SETTLES)
            judge_finds(judge, 13, host, "a booking is kept that nobody confirmed");
        if (settled && !booked->came && left < INT64_MAX && now > left + drift + SETTLES)
            judge_finds(judge, 13, host, "a booking is kept although nobody came");
    }
}
