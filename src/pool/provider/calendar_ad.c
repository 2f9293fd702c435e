/* calendar_ad.c: what the ad of a machine, and what matchmakers are told of it, says of its bookings. */
#include "pool/provider/calendar_parts.h"

#include "lang/ad/make.h"
#include "lang/base/buf.h"
#include "match/gang/dock.h"
#include "match/pair/narrow.h"
#include "pool/protocol/writers.h"
#include "pool/provider/offers.h"

#include <inttypes.h>
#include <string.h>

#define TOLD_MAX 16 /* bookings of a machine that matchmakers are told of */
#define NARROWED \
    4 /* bookings that stand in the ad's constraint: those behind them are asked about when somebody comes */
#define PATTERN_MAX 1024 /* bytes: a longer one is an error of regexp */
#define PATTERN_END ")(/|$)\", other.Owner)"

/* Appends clauses that are true of those of the booking's users in front of whom an account may stand (identity_is_of): one expression tells many of them. */
static void accounts_clause(struct buf *out, const struct booking *booking)
{
    char user[TEXT_MAX + 1];
    size_t begun = 0;

    for (uint32_t i = 0; booking_user(booking->ad, i, user); i++) {
        if (!strchr(user, ':'))
            continue;
        if (begun && out->len - begun > PATTERN_MAX - 2 * TEXT_MAX) {
            buf_adds(out, PATTERN_END);
            begun = 0;
        }
        if (begun) {
            buf_adds(out, "|");
        } else {
            begun = out->len;
            buf_adds(out, " || regexp(\"/(");
        }
        buf_addf(out, "\\\\Q%s\\\\E", user);
    }
    if (begun)
        buf_adds(out, PATTERN_END);
}

/* Appends a clause that is true of the booking's users. */
static void users_clause(struct buf *out, const struct booking *booking)
{
    char user[TEXT_MAX + 1];

    for (uint32_t i = 0; booking_user(booking->ad, i, user); i++)
        buf_addf(out,
                 "%sother.Owner is \"%s\" || substr(other.Owner, 0, %zu) is \"%s/\" || other.AccountingGroup is \"%s\"",
                 i ? " || " : "", user, strlen(user) + 1, user, user);
    accounts_clause(out, booking);
}

static void booking_clause(const struct provider_step *step, const struct booking *booking, struct buf *out)
{
    int64_t left = booking->from * SECOND - calendar_time(step),
            free = calendar_free_step(calendar_free_seconds(step, left));

    buf_adds(out, "(");
    users_clause(out, booking);
    if (free)
        buf_addf(out, " || other.TimeLimit <= %" PRId64, free);
    if (left > calendar_yields_before(step))
        buf_adds(out, " || other.Yields == true || (other.TimeLimit is undefined && !(other.Yields is false))");
    buf_adds(out, ")");
}

/* The booking of that machine that is next, of those that begin after the last one; NULL: there is none. */
static const struct booking *booking_after(const struct provider_step *step, uint32_t place, const struct booking *last)
{
    const struct calendar *calendar = &step->provider->calendar;
    const struct booking *next = NULL;

    for (uint32_t i = 0; i < calendar->count; i++) {
        const struct booking *booking = &calendar->items[i];

        if (booking->place == place && calendar_time(step) < booking->until * SECOND &&
            (!last || booking->from > last->from) && (!next || booking->from < next->from))
            next = booking;
    }
    return next;
}

static struct tree *free_for(struct tree *ad, int64_t seconds)
{
    struct ad_setting setting = {symbols_take(ad->symbols, "FreeFor", 7), value_integer(seconds)};
    struct tree *told = ad_set(ad, &setting, 1, NULL);

    symbols_drop(ad->symbols, setting.name);
    if (!told) /* it has as many attributes as an ad can have */
        return ad;
    tree_unref(ad);
    return told;
}

struct tree *calendar_narrow(const struct provider_step *step, uint32_t place, struct tree *ad)
{
    const struct booking *booking = ad ? booking_after(step, place, NULL) : NULL;
    struct tree *narrow;
    int64_t free;
    struct buf text;

    if (!booking || dock_has_ports(ad))
        return ad;
    free = calendar_free_step(calendar_free_seconds(step, booking->from * SECOND - calendar_time(step)));
    buf_init(&text);
    for (uint32_t i = 0; booking && i < NARROWED; i++) {
        buf_adds(&text, i ? " && " : "");
        booking_clause(step, booking, &text);
        booking = booking_after(step, place, booking);
    }
    narrow = free_for(constraint_narrow_text(ad, text.text, text.len), free);
    buf_done(&text);
    tree_unref(ad);
    return narrow;
}

void calendar_tell(const struct provider_step *step, uint32_t place, struct maker *maker)
{
    const struct calendar *calendar = &step->provider->calendar;
    struct tree *rows[TOLD_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < calendar->count && count < TOLD_MAX; i++) {
        const struct booking *booking = &calendar->items[i];
        struct maker row;

        if (booking->place != place)
            continue;
        maker_init(&row, step->env->symbols);
        maker_word(&row, "Booking", booking->id);
        if (booking->came)
            maker_flag(&row, "Came", true);
        maker_parts(&row, booking->ad, "Booking");
        rows[count++] = maker_seal(&row);
    }
    if (count)
        maker_list(maker, "Bookings", rows, count);
    while (count)
        tree_unref(rows[--count]);
}
