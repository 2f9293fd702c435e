/* calendar_test.c: bookings of a machine, where the clock or the names of users are not what one expects. */
#include "suitor.h"

#include "lang/ad/get.h"
#include "lang/base/schedule.h"
#include "lang/base/zone.h"
#include "match/pair/match.h"

#define BOOKED 9 /* the booking's number */

/* Orders the machine for users, as a list of strings, from so many seconds after now; `at`: the orderer's clock, 0: he says none. NULL: it was taken. */
static const char *order_for(struct world *w, uint64_t number, const char *users, int64_t in, int64_t at)
{
    char text[2000];
    int64_t from = (at ? at : w->env.wall) / SECOND + in;

    snprintf(text, sizeof text, "[ From = %lld; Until = %lld; Users = { %s } ]", (long long)from,
             (long long)(from + 3600), users);
    happen(w, &(struct event){.kind = EVENT_BOOK, .number = number, .ad = ad(w, text), .at = at});
    return provider_booking_refused(w->role);
}

static const char *order(struct world *w, uint64_t number, const char *user, int64_t in, int64_t at)
{
    char users[100];

    snprintf(users, sizeof users, "\"%s\"", user);
    return order_for(w, number, users, in, at);
}

/* Does the machine, as it is advertised, accept a job of that owner? */
static bool accepted(struct machine *m, const char *owner)
{
    struct env env = {.now = m->w->env.wall / SECOND};
    char text[300];

    snprintf(text, sizeof text, "[ Type = \"Job\"; Owner = \"%s\"; Yields = false; Constraint = true ]", owner);
    return match_accepts(&env, m->w->env.scratch, m->w->put.u.advertise.ad, ad(m->w, text));
}

static void users(void)
{
    struct machine m;

    machine_start(&m, PLAIN);
    m.w->agreeable = true;
    tap_ok(accepted(&m, "zoe"), "a machine that nobody booked accepts everybody");
    tap_ok(!order(m.w, BOOKED, "idp:alice", 60, m.w->env.wall), "it is booked for an identity");
    pass(m.w, 30 * SECOND);
    tap_ok(accepted(&m, "idp:alice"), "she is let in");
    tap_ok(accepted(&m, "idp:alice/thesis"), "and what she names herself beneath it");
    tap_ok(accepted(&m, "physics/idp:alice"), "and she by way of an account");
    tap_ok(accepted(&m, "physics/idp:alice/thesis"), "and both");
    tap_ok(!accepted(&m, "idp:alicex"), "not one whose name begins with hers");
    tap_ok(!accepted(&m, "physics/idp:alicex"), "nor by way of an account");
    tap_ok(!accepted(&m, "xidp:alice"), "nor one whose name ends with hers");
    tap_ok(!accepted(&m, "zoe"), "nor anybody else");
    world_free(m.w, "users");
}

#define MANY 16 /* as many as a booking can have */

/* Names that are as long as they may be, with what regular expressions would read otherwise. */
static void many(void)
{
    char users[MANY * 70] = "", name[100], wrong[101];
    bool all = true;
    struct machine m;

    machine_start(&m, PLAIN);
    m.w->agreeable = true;
    for (int i = 0; i < MANY; i++)
        snprintf(users + strlen(users), sizeof users - strlen(users), "%s\"idp:%02d.%.*s\"", i ? ", " : "", i, 56,
                 "a-name-of-an-institute-that-is-as-long-as-one-can-be.and-longer");
    tap_ok(!order_for(m.w, BOOKED, users, 60, m.w->env.wall),
           "a machine is booked for sixteen identities with long names");
    pass(m.w, 30 * SECOND);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "physics/idp:%02d.%.*s", i, 56,
                 "a-name-of-an-institute-that-is-as-long-as-one-can-be.and-longer");
        snprintf(wrong, sizeof wrong, "%sx", name);
        all = all && accepted(&m, name) && !accepted(&m, wrong);
        name[strlen("physics/idp:00")] = 'x'; /* in the place of the dot */
        all = all && !accepted(&m, name);
    }
    tap_ok(all, "each is let in by way of an account, and nobody whose name only looks like theirs");
    world_free(m.w, "many");
}

/* After a boot the clock may be wrong, and what it says is a guess until somebody orders. */
static void guess(void)
{
    struct machine m;

    machine_start(&m, PLAIN);
    tap_ok(!order(m.w, BOOKED, "zoe", 24 * 3600, m.w->env.wall), "it is booked");
    m.w->env.wall += 2 * HOUR; /* the clock jumps while it is down */
    world_restart(m.w, false, MINUTE);
    world_restart(m.w, true, MINUTE);
    m.w->env.wall -= 2 * HOUR;
    tap_ok(!order(m.w, BOOKED + 3, "zoe", 30 * 3600, 0), "an order that says no time is taken by the guess");
    tap_ok(!order(m.w, BOOKED + 1, "zoe", 8 * 3600, m.w->env.wall),
           "a clock that was guessed is one after a restart in the same boot, too: who orders says what time it is");
    tap_ok(order(m.w, BOOKED + 2, "zoe", 16 * 3600, m.w->env.wall + HOUR) != NULL,
           "then it is known, and another's that differs is refused");
    world_restart(m.w, true, MINUTE);
    tap_ok(order(m.w, BOOKED + 2, "zoe", 16 * 3600, m.w->env.wall + HOUR) != NULL, "after one more restart, too");
    world_free(m.w, "guess");
}

/* An order that sets the clock and is refused moves the timer of what is booked. */
static void refused(void)
{
    struct machine m;

    machine_start(&m, PLAIN);
    tap_ok(!order(m.w, BOOKED, "zoe", 12 * 3600, m.w->env.wall), "it is booked for tonight");
    m.w->env.wall -= 2 * 24 * HOUR; /* it boots without a battery: by the last row the day has only begun */
    world_restart(m.w, false, MINUTE);
    m.w->env.wall += 2 * 24 * HOUR;
    m.w->notes = 0;
    tap_ok(order(m.w, BOOKED + 1, "zoe", -7200, m.w->env.wall + 14 * HOUR) != NULL,
           "an order for what is over is refused, and says that the night is over");
    pass(m.w, SECOND);
    tap_ok(row_count(m.w, RECORD_BOOKING) == 0, "so what was booked is over");
    world_free(m.w, "refused");
}

#define ZONE "CET-1CEST,M3.5.0,M10.5.0/3"
#define DAY (24 * HOUR)

/* Orders a machine for zoe for an hour each time, and gives it back where nobody comes in ten minutes. NULL: it was taken. */
static const char *order_every(struct world *w, uint64_t number, const char *every, const char *more)
{
    char text[400];
    long long now = (long long)(w->env.wall / SECOND);

    snprintf(text, sizeof text,
             "[ From = %lld; Until = %lld; Users = { \"zoe\" }; Arrive = 600; Every = \"%s\"; ZoneRule = \"" ZONE
             "\"; %s ]",
             now, now + 3600, every, more);
    happen(w, &(struct event){.kind = EVENT_BOOK, .number = number, .ad = ad(w, text), .at = w->env.wall});
    return provider_booking_refused(w->role);
}

/* The times of that schedule behind a moment, one after the other. */
static int64_t time_behind(const char *every, int64_t moment, int count)
{
    struct schedule schedule;
    struct zone zone;

    schedule_read(every, strlen(every), &schedule, NULL);
    zone_read(ZONE, strlen(ZONE), &zone, NULL);
    while (count--)
        moment = schedule_next(&schedule, moment, 0, zone_offset, &zone);
    return moment;
}

static int64_t now_of(const struct world *w)
{
    return w->env.wall / SECOND;
}

static int64_t booked_from(struct world *w)
{
    struct booking_view view;
    int64_t said;

    return provider_booking(w->role, 0, &view) && ad_integer(view.ad, "From", &said) && said == view.from ? view.from
                                                                                                          : 0;
}

static void again(void)
{
    static const char evening[] = "0 20 * * *";
    struct machine m;
    int64_t first, tenth;

    machine_start(&m, PLAIN);
    m.w->agreeable = true;
    first = time_behind(evening, now_of(m.w), 1);
    tenth = time_behind(evening, now_of(m.w), 10);
    tap_ok(!order_every(m.w, BOOKED, evening, ""), "it is booked for each evening");
    tap_ok(booked_from(m.w) == first, "and is kept for the first, in the zone that is named");
    tap_ok(order(m.w, BOOKED + 1, "ada", tenth - now_of(m.w) + 1800, 0) != NULL, "nobody else has a part of the tenth");
    tap_ok(order(m.w, BOOKED + 1, "ada", tenth - now_of(m.w) - 1800, 0) != NULL, "nor what reaches into it");
    tap_ok(!order(m.w, BOOKED + 1, "ada", tenth - now_of(m.w) + 3600, 0), "what is between is free");
    tap_ok(order_every(m.w, BOOKED + 2, "30 20 1 * *", "") != NULL, "what comes on each first of a month meets it");
    tap_ok(order_every(m.w, BOOKED + 2, "30 21 * * *", "") != NULL,
           "and what comes later on each evening meets what was booked after the tenth");
    tap_ok(!order_every(m.w, BOOKED + 2, "0 22 * * *", ""), "what meets none of them is taken");
    world_free(m.w, "again");
}

static void noshows(void)
{
    static const char evening[] = "0 20 * * *";
    struct machine m;
    int64_t first;

    machine_start(&m, PLAIN);
    m.w->agreeable = true;
    first = time_behind(evening, now_of(m.w), 1);
    order_every(m.w, BOOKED, evening, "");
    pass(m.w, (first + 599 - now_of(m.w)) * SECOND);
    tap_ok(booked_from(m.w) == first && !accepted(&m, "ada"), "it is kept until nobody has come in time");
    pass(m.w, 5 * SECOND);
    tap_ok(booked_from(m.w) == time_behind(evening, first, 1), "then it is given back until the next evening");
    world_restart(m.w, true, MINUTE);
    tap_ok(booked_from(m.w) == time_behind(evening, first, 1), "a restart changes nothing about it");
    pass(m.w, DAY);
    tap_ok(booked_from(m.w) == time_behind(evening, first, 2), "nobody comes the second time");
    pass(m.w, DAY);
    tap_ok(row_count(m.w, RECORD_BOOKING) == 0, "after the third the rule is over");
    world_free(m.w, "no-shows");

    machine_start(&m, PLAIN);
    first = time_behind(evening, now_of(m.w), 1);
    order_every(m.w, BOOKED, evening, "");
    pass(m.w, MINUTE);
    world_restart(m.w, true, 5 * DAY);
    tap_ok(booked_from(m.w) == time_behind(evening, now_of(m.w), 1),
           "times at which the machine was away are over, and do not count");
    world_free(m.w, "away");
}

static void again_ends(void)
{
    static const char evening[] = "0 20 * * *";
    struct machine m;
    int64_t first;
    char last[60];

    machine_start(&m, PLAIN);
    first = time_behind(evening, now_of(m.w), 1);
    snprintf(last, sizeof last, "Last = %lld", (long long)time_behind(evening, first, 1));
    tap_ok(!order_every(m.w, BOOKED, evening, last), "one that ends after its second time is taken");
    pass(m.w, (first + 3700 - now_of(m.w)) * SECOND);
    tap_ok(booked_from(m.w) == time_behind(evening, first, 1), "the second time comes");
    pass(m.w, DAY);
    tap_ok(row_count(m.w, RECORD_BOOKING) == 0, "and no third");
    tap_ok(order_every(m.w, BOOKED, "61 * * * *", "") && order_every(m.w, BOOKED, "every 1h", "") &&
               order_every(m.w, BOOKED, "0 20 30 2 *", "") && order_every(m.w, BOOKED, evening, "Last = 5") &&
               order_every(m.w, BOOKED, "0 0 1 1 *", "") /* in more than 90 days */,
           "what is no rule, or has no time soon, is refused");
    world_free(m.w, "the end");
}

/* Two that meet in more than 90 days: one of them is kept for that time, and the other leaves it out. */
static void late_meeting(void)
{
    struct booking_view one, other;
    struct machine m;
    int64_t october;

    machine_start(&m, PLAIN);
    october = time_behind("0 20 1 10 *", now_of(m.w), 1);
    tap_ok(!order_every(m.w, BOOKED, "0 20 1 4,10 *", "") && !order_every(m.w, BOOKED + 1, "30 20 1 5,10 *", ""),
           "two that will meet in half a year are taken");
    world_restart(m.w, true, 70 * DAY);
    tap_ok(provider_booking(m.w->role, 0, &one) && provider_booking(m.w->role, 1, &other) &&
               (one.until <= other.from || other.until <= one.from) &&
               (one.from == october || other.from == october + 1800),
           "then one of them has that time, and the other a later one");
    world_free(m.w, "a late meeting");
}

/* The owner says which bookings he takes, and sees all that was ordered. */
static void owner_lets(void)
{
    static const char *const evening = "0 20 * * *";
    struct machine m;

    machine_start(&m, "[ Type = \"Machine\"; Constraint = true; Reservable = other.Until - other.From <= 3600 && "
                      "isMember(\"zoe\", other.Users) && other.Every is undefined ]");
    tap_ok(!order(m.w, BOOKED, "zoe", 60, 0), "what the owner takes is booked");
    tap_ok(order(m.w, BOOKED + 1, "ada", 7200, 0) != NULL, "for others it is not");
    tap_ok(order_every(m.w, BOOKED + 2, evening, "") != NULL, "nor again and again");
    world_free(m.w, "Reservable");
    machine_start(&m, "[ Type = \"Machine\"; Constraint = true; Reservable = hour(other.From) == 20 ]");
    tap_ok(order(m.w, BOOKED, "zoe", 60, 0) != NULL, "an answer that is no truth is a refusal");
    world_free(m.w, "Reservable that says nothing");
}

int main(void)
{
    users();
    many();
    guess();
    refused();
    again();
    noshows();
    again_ends();
    late_meeting();
    owner_lets();
    return tap_done();
}
