/* steady_clock.c: the wall clock, for those who must not follow it wherever it jumps. */
#include "sys/steady_clock.h"

#include "pool/protocol/role.h"

#include <stdlib.h>

#define EARLY (60 * SECOND)  /* before its end a token serves no more: others' clocks are not ours */
#define SETTLED_SLACK SECOND /* the wall clock is drawn along, not set: it is followed */

struct token_made token_made_at(int64_t wall, int64_t now, int64_t ends, int64_t most)
{
    int64_t seconds = wall / SECOND, left = ends > seconds ? ends - seconds : 0;

    return (struct token_made){.wall = wall, .now = now, .span = (left < most ? left : most) * SECOND - EARLY};
}

bool token_made_serves(const struct token_made *made, int64_t wall, int64_t now)
{
    return made->span > 0 && now - made->now < made->span &&
           llabs((wall - now) - (made->wall - made->now)) <= TOKEN_MADE_SLACK;
}

int64_t settled_look(struct settled *settled, int64_t wall, int64_t now)
{
    int64_t apart = wall - now;

    if (!settled->set || apart <= settled->apart + SETTLED_SLACK) {
        *settled = (struct settled){.set = true, .apart = apart, .since = INT64_MAX};
    } else if (settled->since == INT64_MAX) {
        settled->since = now;
    } else if (now - settled->since >= SETTLED_SPAN) {
        settled->apart = apart;
        settled->since = INT64_MAX;
    }
    return now + settled->apart;
}
