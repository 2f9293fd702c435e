/* steady_test.c: the wall clock, for those who must not follow it wherever it jumps. */
#include "common/tap.h"

#include "pool/protocol/role.h"
#include "sys/steady_clock.h"

#define NOON (INT64_C(1800000000) * SECOND)
#define UP (5 * SECOND) /* the machine has been up for so long */
#define HOUR (60 * MINUTE)
#define YEAR (365 * 24 * HOUR)

static bool serves(const struct token_made *made, int64_t passed, int64_t jumped)
{
    return token_made_serves(made, NOON + passed + jumped, UP + passed);
}

static void tokens(void)
{
    struct token_made none = {.span = 0}, made = token_made_at(NOON, UP, NOON / SECOND + 3600, 3600);
    struct token_made soon = token_made_at(NOON, UP, NOON / SECOND + 300, 3600);
    struct token_made over = token_made_at(NOON, UP, NOON / SECOND - 300, 3600);
    struct token_made early = token_made_at(NOON, UP, NOON / SECOND + YEAR / SECOND, 3600);

    tap_ok(!serves(&none, 0, 0) && serves(&made, 0, 0) && serves(&made, 58 * MINUTE, 0) &&
               !serves(&made, 59 * MINUTE, 0),
           "a token serves until a minute before its end");
    tap_ok(serves(&soon, 3 * MINUTE, 0) && !serves(&soon, 4 * MINUTE, 0) && !serves(&over, 0, 0),
           "one that ends sooner serves for less, and one that is over does not");
    tap_ok(!serves(&made, MINUTE, -3 * HOUR) && !serves(&made, MINUTE, -20 * SECOND),
           "one that was made while the clock was ahead does not serve when that is right again");
    tap_ok(!serves(&made, MINUTE, 3 * HOUR) && !serves(&made, MINUTE, 20 * SECOND),
           "nor one of a clock that was behind");
    tap_ok(serves(&made, 30 * MINUTE, 2 * SECOND) && serves(&made, 30 * MINUTE, -2 * SECOND),
           "a clock that is drawn along a little is no jump");
    tap_ok(!serves(&early, HOUR, 0), "however late it ends, it serves no longer than it may");
}

static void dates(void)
{
    struct settled settled = {.set = false};
    int64_t at = 0;

    tap_ok(settled_look(&settled, NOON, UP) == NOON, "at first the wall clock is believed");
    at += MINUTE;
    tap_ok(settled_look(&settled, NOON + at + YEAR, UP + at) == NOON + at, "one that jumps ahead is not");
    at += 9 * MINUTE;
    tap_ok(settled_look(&settled, NOON + at + YEAR, UP + at) == NOON + at, "nor when it has been so for nine minutes");
    at += SECOND;
    tap_ok(settled_look(&settled, NOON + at, UP + at) == NOON + at, "set right again, nothing has happened");
    at += MINUTE;
    settled_look(&settled, NOON + at + YEAR, UP + at);
    at += 10 * MINUTE;
    tap_ok(settled_look(&settled, NOON + at + YEAR, UP + at) == NOON + at + YEAR, "after ten minutes it is believed");
    at += SECOND;
    tap_ok(settled_look(&settled, NOON + at, UP + at) == NOON + at, "and followed back at once");
    at += SECOND;
    tap_ok(settled_look(&settled, NOON + at - YEAR, UP + at) == NOON + at - YEAR, "however far");
    at += SECOND;
    tap_ok(settled_look(&settled, NOON + at - YEAR + SECOND / 2, UP + at) == NOON + at - YEAR + SECOND / 2,
           "a little ahead is drift");
}

int main(void)
{
    tokens();
    dates();
    return tap_done();
}
