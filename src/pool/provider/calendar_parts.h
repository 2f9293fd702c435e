/* calendar_parts.h: what the files of the calendar share; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_CALENDAR_PARTS_H
#define BERTH_POOL_PROVIDER_CALENDAR_PARTS_H

#include "pool/provider/calendar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What time it is, in microseconds since 1970. */
int64_t calendar_time(const struct provider_step *step);
/* Who yields must begin longer before From. */
int64_t calendar_yields_before(const struct provider_step *step);
/* For how many whole seconds a machine is free that is booked so far ahead. */
int64_t calendar_free_seconds(const struct provider_step *step, int64_t left);
/* The longest span of FreeFor's steps, in seconds, that is not longer; 0: none. */
int64_t calendar_free_step(int64_t seconds);
/* The elements of Users, one after the other; false when there are no more. */
bool booking_user(const struct tree *ad, uint32_t at, char ret[TEXT_MAX + 1]);

#ifdef __cplusplus
}
#endif
#endif
