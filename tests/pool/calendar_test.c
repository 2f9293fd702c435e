/* calendar_test.c: bookings of a machine, where the clock or the names of users are not what one expects. */
#include "suitor.h"

#include "match/pair/match.h"

#define BOOKED 9 /* the booking's number */

/* Orders the machine for the user, from so many seconds after now, by the orderer's clock; NULL: it was taken. */
static const char *order(struct world *w, uint64_t number, const char *user, int64_t in, int64_t wall)
{
    char text[300];
    int64_t from = wall / SECOND + in;

    snprintf(text, sizeof text, "[ From = %lld; Until = %lld; Users = { \"%s\" } ]", (long long)from,
             (long long)(from + 3600), user);
    happen(w, &(struct event){.kind = EVENT_BOOK, .number = number, .ad = ad(w, text), .at = wall});
    return provider_booking_refused(w->role);
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
    guess();
    refused();
    return tap_done();
}
