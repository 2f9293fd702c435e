/* calendar_test.c: bookings of a machine, where the clock or the names of users are not what one expects. */
#include "suitor.h"

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

int main(void)
{
    users();
    many();
    guess();
    refused();
    return tap_done();
}
