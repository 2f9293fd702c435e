/* calendar.h: the bookings of a provider: machines that are kept for some users from one moment to another; private to the provider.
 *
 *     ordered -> HELD -confirmed-> BOOKED -From-> OPEN -Until-> over        left: not confirmed in time, nobody came, given back
 *
 *     now                          From                 Until
 *      | others: what surely ends    | its users alone     | all
 *      | before From, or yields      |                     |
 *
 * A booking is of a whole machine, and a durable row: it holds whether or not there is a matchmaker. Before From its users are as others are; what of theirs
 * runs at From goes on, and so does what runs at Until. Everybody else is asked, when a claim is verified and at each activation and start: does the job end
 * before From by its limit, and its grace? A job may say Yields = true, and one without a limit yields unless it says Yields = false: it begins when From is
 * YIELD_LIVES lives of a claim away, and is warned and ended before From, even if it would end by then. So no job that does not yield is ended before its
 * limit for a booking: one that would do that is refused. But the limit counts from when the job's process begins: where inputs or an image take long to
 * come, From may come first.
 *
 * Time is UTC, and runs on the clock that does not jump: whoever orders the first booking says what time it is. After another boot the wall clock
 * counts, but never as earlier than when a booking was last written down, until an order says what time it is. */
#ifndef BERTH_POOL_PROVIDER_CALENDAR_H
#define BERTH_POOL_PROVIDER_CALENDAR_H

#include "lang/ad/make.h"
#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOOKING_AHEAD (90 * 86400)   /* seconds: no booking begins later */
#define BOOKING_LONGEST (30 * 86400) /* seconds */
#define BOOKING_CLOCK 30             /* seconds by which clocks may differ */
#define YIELD_LIVES 3

void calendar_done(struct provider *provider);
void calendar_load(const struct provider_step *step, const struct record *record);
void calendar_boot(const struct provider_step *step);
void calendar_due(const struct provider_step *step); /* its timer */

/* EVENT_BOOK. A booking that is there under that number is replaced, or stays when the new one is refused: provider_booking_refused says why. `ad` is
 * [ From; Until; Users; ... ], in seconds since 1970, perhaps with Held (a moment) and Arrive (a span); all else in it is kept and told. */
void calendar_order(const struct provider_step *step, const struct event *event);

/* May a job with that ad begin now, of that user? */
bool calendar_admits(const struct provider_step *step, uint32_t place, const char *user, const struct tree *ad);
/* The same for a tenant's job. */
bool calendar_lets(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad);
/* A job of the tenant begins. */
void calendar_began(const struct provider_step *step, const struct tenant *tenant);
/* When the tenant's launcher is to end its job: at that time, or at From if that is before. */
int64_t calendar_deadline(const struct provider_step *step, const struct tenant *tenant, int64_t at);

/* The ad with FreeFor, the seconds for which it is free, and a constraint by which nobody is matched whom calendar_admits would refuse. Takes `ad`, or NULL. */
struct tree *calendar_narrow(const struct provider_step *step, uint32_t place, struct tree *ad);

bool calendar_has(const struct provider *provider, uint32_t place);
/* Adds Bookings, as matchmakers are told of them. */
void calendar_tell(const struct provider_step *step, uint32_t place, struct maker *maker);

#ifdef __cplusplus
}
#endif
#endif
