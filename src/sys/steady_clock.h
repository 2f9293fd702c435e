/* steady_clock.h: the wall clock, for those who must not follow it wherever it jumps. Pure: who asks says what both clocks show.
 *
 *     wall   the clock that people read; somebody may set it, far ahead or far back, and set it right again
 *     now    the clock that never jumps, and goes on while the machine sleeps (runner_now)
 *
 * Microseconds, both. What lasts for a while within a process goes by `now` alone. Two things cannot:
 *
 * - A token says by the wall clock when it was made. One that was made while that was wrong is good for nobody, and is made anew as
 *   soon as it is right again: struct token_made.
 * - What is thrown away by a date that was written down before the process began. A clock that is ahead for a moment must not throw
 *   away what nobody can bring back: struct settled. */
#ifndef BERTH_SYS_STEADY_CLOCK_H
#define BERTH_SYS_STEADY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOKEN_MADE_SLACK INT64_C(10000000) /* that the clocks may come apart before a token is made anew */
#define SETTLED_SPAN INT64_C(600000000)    /* that the wall clock must have been ahead before that is believed */

/* When a token was made; all zero: there is none. */
struct token_made {
    int64_t wall, now, span; /* how long it serves */
};

/* A token made now that ends at that second of the wall clock, or after `most` seconds: it serves until a minute before. */
struct token_made token_made_at(int64_t wall, int64_t now, int64_t ends, int64_t most);
/* Does the token still serve? Its time is not over, and the wall clock goes as it went when the token was made. */
bool token_made_serves(const struct token_made *made, int64_t wall, int64_t now);

/* The wall clock as it is believed; all zero: not looked at yet. It is followed back at once, and ahead after SETTLED_SPAN. */
struct settled {
    bool set;
    int64_t apart; /* wall - now, as it is believed */
    int64_t since; /* by `now`: the wall clock is ahead of that; INT64_MAX: it is not */
};

/* Tells what both clocks show, and returns the time that is believed. To be called often. */
int64_t settled_look(struct settled *settled, int64_t wall, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
