/* booking_form.h: what is said of a booking, on its way from whoever orders it to the machine, and back to those who look:
 *
 *     [ From = 1794844800; Until = 1794852000; Users = { "physics" }; Count = 4; Purpose = "exam"; Held = ...; Arrive = 600 ]
 *
 * Moments are seconds since 1970, Arrive is a span. Count says how many machines were booked together.
 *
 *     [ ...; Every = "0 20 * * mon-fri"; Zone = "Europe/Berlin"; ZoneRule = "CET-1CEST,M3.5.0,M10.5.0/3"; Last = 1803000000 ]
 *
 * It comes again: at these times, as ZoneRule says what local time is; Zone is for people. Last: it begins no later; it may be missing. */
#ifndef BERTH_LIVE_WORLD_BOOKING_FORM_H
#define BERTH_LIVE_WORLD_BOOKING_FORM_H

#include "lang/ad/make.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOOKING_NAMES_MAX 16 /* users and groups */

/* Adds these attributes of an ad from elsewhere, and nothing else of it. NULL, or what is wrong with it, in words; then only some have been added. */
const char *booking_form_copy(struct maker *maker, const struct tree *from);

#ifdef __cplusplus
}
#endif
#endif
