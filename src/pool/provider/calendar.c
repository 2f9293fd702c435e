/* calendar.c: the bookings of a provider: machines that are kept for some users from one moment to another. */
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "match/pair/match.h"
#include "pool/protocol/account.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/time_limit.h"
#include "pool/protocol/writers.h"
#include "pool/provider/calendar_rule.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/session.h"
#include "pool/provider/stands.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 200 /* of an order */
#define FREE_LEAST 4  /* seconds: FreeFor is told in steps, each 1.25 times the one before */
#define PAST 60       /* seconds: a booking begins no earlier than that before it is ordered */

int64_t calendar_time(const struct provider_step *step)
{
    return MUTANT(BOOKING_WALL) ? step->env->wall : step->env->now + step->provider->calendar.ahead;
}

static int64_t calendar_seconds(const struct provider_step *step)
{
    return wall_seconds(calendar_time(step));
}

/* How long before From those are warned that yield. */
static int64_t clears_before(const struct provider_step *step)
{
    return step->provider->spans->grace + step->provider->spans->lease / 2;
}

int64_t calendar_yields_before(const struct provider_step *step)
{
    int64_t lives = YIELD_LIVES * step->provider->spans->life, clears = clears_before(step);

    return lives > clears ? lives : clears;
}

static void booking_store(const struct provider_step *step, const struct booking *booking)
{
    struct record record = {.kind = RECORD_BOOKING, .key = booking->id};

    record.u.booking_record = (struct booking_record){.offer = step->provider->settings->ids[booking->place],
                                                      .from = booking->from,
                                                      .until = booking->until,
                                                      .held = booking->held,
                                                      .arrive = booking->arrive,
                                                      .came = booking->came,
                                                      .boot = step->provider->calendar.guessed ? 0 : step->env->boot,
                                                      .ahead = step->provider->calendar.ahead,
                                                      .stamp = calendar_seconds(step),
                                                      .ad = booking->ad,
                                                      .span = booking->span,
                                                      .missed = booking->missed};
    effects_persist(step->effects, &record);
}

static void bookings_store(const struct provider_step *step)
{
    for (uint32_t i = 0; i < step->provider->calendar.count; i++)
        booking_store(step, &step->provider->calendar.items[i]);
}

static void booking_done(struct calendar *calendar, uint32_t at)
{
    tree_unref(calendar->items[at].ad);
    calendar->count--;
    memmove(&calendar->items[at], &calendar->items[at + 1], (calendar->count - at) * sizeof *calendar->items);
}

static void booking_ends(const struct provider_step *step, uint32_t at, enum reason reason, const char *words)
{
    struct calendar *calendar = &step->provider->calendar;
    uint32_t place = calendar->items[at].place;

    effects_note(step->effects, reason, calendar->items[at].id, words);
    effects_remove(step->effects, RECORD_BOOKING, calendar->items[at].id);
    booking_done(calendar, at);
    stands_booked(step, place);
}

void calendar_done(struct provider *provider)
{
    while (provider->calendar.count)
        booking_done(&provider->calendar, provider->calendar.count - 1);
    free(provider->calendar.items);
}

static uint32_t booking_at(const struct calendar *calendar, uint64_t id)
{
    uint32_t at = 0;

    while (at < calendar->count && calendar->items[at].id != id)
        at++;
    return at;
}

bool calendar_has(const struct provider *provider, uint32_t place)
{
    for (uint32_t i = 0; i < provider->calendar.count; i++)
        if (provider->calendar.items[i].place == place)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ for whom */

bool booking_user(const struct tree *ad, uint32_t at, char ret[TEXT_MAX + 1])
{
    const struct expr *users = ad_find(ad, "Users"), *user;

    if (!users || users->kind != EXPR_LIST || at >= users->u.run.count)
        return false;
    user = &tree_parts(ad, users)[at];
    ret[0] = '\0';
    if (user->kind == EXPR_STRING && user->u.run.count <= TEXT_MAX) {
        memcpy(ret, tree_string(ad, user), user->u.run.count);
        ret[user->u.run.count] = '\0';
    }
    return true;
}

/* Is the booking that user's, or of the group that the job names? */
static bool booking_is_for(const struct booking *booking, const char *user, const struct tree *job)
{
    char name[TEXT_MAX + 1], group[TEXT_MAX + 1] = "";

    if (job)
        ad_text(job, "AccountingGroup", group, sizeof group);
    for (uint32_t i = 0; booking_user(booking->ad, i, name); i++)
        if (name[0] && (identity_is_of(user, strlen(user), name) || !strcmp(group, name)))
            return true;
    return false;
}

static bool booking_is_tenants(const struct booking *booking, const struct tenant *tenant)
{
    return booking_is_for(booking, tenant_charged(tenant)->bytes, tenant_duty(tenant).ad);
}

/* ---------------------------------------------------------------------------------------------------- what may be there */

/* How long the job may run there, as its launcher sees to it; INT64_MAX: nothing says so. What depends on a counterpart is not believed, but for what is
 * reckoned out here. */
static int64_t job_limit(const struct provider_step *step, uint32_t place, const struct tree *ad)
{
    const struct expr *limit = ad_find(ad, "TimeLimit");
    double seconds;

    if (time_limit_on(ad, step->provider->offers[place].whole, &seconds))
        return seconds < (double)(INT64_MAX / 2 / SECOND) ? (int64_t)(seconds * (double)SECOND) : INT64_MAX;
    return limit && expr_is_literal(limit) ? job_span(step, ad) : INT64_MAX;
}

static bool job_yields(const struct provider_step *step, uint32_t place, const struct tree *ad)
{
    bool yields;

    return ad_flag(ad, "Yields", &yields) ? yields : job_limit(step, place, ad) == INT64_MAX;
}

/* May a job with that ad begin, of somebody else, when it is so long until From? */
static bool job_fits_before(const struct provider_step *step, uint32_t place, const struct tree *ad, int64_t left)
{
    int64_t limit = job_limit(step, place, ad);

    return (left > 0 && limit <= left && step->provider->spans->grace <= left - limit) ||
           (job_yields(step, place, ad) && left > calendar_yields_before(step));
}

bool calendar_admits(const struct provider_step *step, uint32_t place, const char *user, const struct tree *ad)
{
    const struct calendar *calendar = &step->provider->calendar;
    int64_t now = calendar_time(step);

    for (uint32_t i = 0; i < calendar->count; i++) {
        const struct booking *booking = &calendar->items[i];

        if (booking->place == place && now < booking->until * SECOND && !booking_is_for(booking, user, ad) &&
            !job_fits_before(step, place, ad, booking->from * SECOND - now))
            return false;
    }
    return true;
}

bool calendar_lets(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad)
{
    return calendar_admits(step, tenant->offer, tenant_charged(tenant)->bytes, ad);
}

int64_t calendar_deadline(const struct provider_step *step, const struct tenant *tenant, int64_t at)
{
    const struct calendar *calendar = &step->provider->calendar;

    for (uint32_t i = 0; i < calendar->count; i++) {
        const struct booking *booking = &calendar->items[i];
        int64_t left = booking->from * SECOND - calendar_time(step);

        if (booking->place == tenant->offer && calendar_time(step) < booking->until * SECOND &&
            !booking_is_tenants(booking, tenant) && step->env->now + (left > 0 ? left : 0) < at)
            at = step->env->now + (left > 0 ? left : 0);
    }
    return at;
}

void calendar_began(const struct provider_step *step, const struct tenant *tenant)
{
    struct calendar *calendar = &step->provider->calendar;

    for (uint32_t i = 0; i < calendar->count; i++) {
        struct booking *booking = &calendar->items[i];

        if (booking->place != tenant->offer || booking->came || calendar_time(step) < booking->from * SECOND ||
            !booking_is_tenants(booking, tenant))
            continue;
        booking->came = true;
        booking_store(step, booking);
    }
}

/* Does anything that runs there reach into the booking, and would be ended before its limit? */
static bool booking_is_reached(const struct provider_step *step, const struct booking *booking)
{
    int64_t left = booking->from * SECOND - calendar_time(step), grace = step->provider->spans->grace;

    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        const struct tenant *tenant = step->provider->tenants[i];
        const struct tree *ad = tenant_duty(tenant).ad;
        int64_t limit, begun = tenant->begun ? tenant->begun - step->env->now : 0;

        if (tenant->offer != booking->place || !(tenant->running || tenant->serves) ||
            booking_is_tenants(booking, tenant) || (job_yields(step, booking->place, ad) && left > clears_before(step)))
            continue;
        limit = job_limit(step, booking->place, ad);
        if (limit == INT64_MAX || limit + begun + grace > left)
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------- time */

static bool booking_is_used(const struct provider_step *step, const struct booking *booking)
{
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        const struct tenant *tenant = step->provider->tenants[i];

        if (tenant->offer == booking->place && (tenant->running || tenant->serves) &&
            booking_is_tenants(booking, tenant))
            return true;
    }
    return false;
}

/* Makes way: who yields is warned in time, and at From nobody else is left. Goes backwards, since claims that end are taken out of the list. */
static void booking_clears(const struct provider_step *step, const struct booking *booking, int64_t now)
{
    bool open = now >= booking->from * SECOND;

    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = step->provider->tenants[i];
        bool runs = tenant->running || tenant->serves;

        if (tenant->offer != booking->place || tenant->state < TENANT_VERIFIED || booking_is_tenants(booking, tenant))
            continue;
        if (open)
            tenant_end(step, tenant, REASON_VETOED, 0);
        else if (runs && tenant->state == TENANT_CLAIMED && job_yields(step, booking->place, tenant_duty(tenant).ad))
            tenant_end(step, tenant, REASON_VETOED, step->provider->spans->grace);
    }
}

int64_t calendar_free_step(int64_t seconds)
{
    int64_t at = FREE_LEAST;

    if (seconds < at)
        return seconds > 0 ? seconds : 0;
    while (at + at / 4 <= seconds)
        at += at / 4;
    return at;
}

int64_t calendar_free_seconds(const struct provider_step *step, int64_t left)
{
    return left > step->provider->spans->grace ? (left - step->provider->spans->grace) / SECOND : 0;
}

static int64_t earlier(int64_t at, int64_t other, int64_t now)
{
    return other > now && other < at ? other : at;
}

/* When something about the booking changes next, on its own time. */
static int64_t booking_next(const struct provider_step *step, const struct booking *booking, int64_t now)
{
    int64_t from = booking->from * SECOND, left = from - now,
            free = calendar_free_step(calendar_free_seconds(step, left));
    int64_t at = booking->until * SECOND;

    if (booking->held)
        at = earlier(at, booking->held * SECOND, now);
    if (booking->arrive && !booking->came)
        at = earlier(at, from + booking->arrive * SECOND, now);
    at = earlier(at, from, now);
    at = earlier(at, from - clears_before(step), now);
    at = earlier(at, from - calendar_yields_before(step), now);
    if (free) /* a microsecond later the step is too long */
        at = earlier(at, from - step->provider->spans->grace - free * SECOND + 1, now);
    return at;
}

static void calendar_wake(const struct provider_step *step)
{
    struct calendar *calendar = &step->provider->calendar;
    int64_t next = INT64_MAX, now = calendar_time(step);

    for (uint32_t i = 0; i < calendar->count; i++) {
        int64_t at = booking_next(step, &calendar->items[i], now);

        next = at < next ? at : next;
    }
    if (next == INT64_MAX)
        return;
    next = next > now ? step->env->now + (next - now) : step->env->now;
    if (calendar->set > step->env->now && calendar->set <= next)
        return;
    calendar->set = next;
    timers_set(&step->provider->timers, next, TIMER_CALENDAR, 0);
}

/* One of its times is over: the next one is kept. Where nobody came several times in a row, and where there is no other, the booking is over. */
static void booking_goes_on(const struct provider_step *step, uint32_t at, bool nobody)
{
    struct booking *booking = &step->provider->calendar.items[at];

    booking->missed = nobody ? booking->missed + 1 : 0;
    if (booking->missed >= (MUTANT(BOOKING_STOPS) ? 1 : RULE_NOSHOWS)) {
        booking_ends(step, at, REASON_WINDOW, "nobody came, three times in a row: the rule is over");
        return;
    }
    if (!booking_moves(&step->provider->calendar, booking, calendar_seconds(step))) {
        booking_ends(step, at, REASON_TIME, "the rule is over");
        return;
    }
    booking->came = false;
    booking_store(step, booking);
    effects_note(step->effects, nobody ? REASON_WINDOW : REASON_TIME, booking->id,
                 nobody ? "nobody came: the booking is given back until it comes again"
                        : "the booking is over until it comes again");
    stands_booked(step, booking->place);
}

/* Does what is due of one booking; false: it is over, or that time of it. */
static bool booking_due(const struct provider_step *step, uint32_t at)
{
    struct booking *booking = &step->provider->calendar.items[at];
    int64_t now = calendar_time(step);
    bool used;

    if (booking->held && now >= booking->held * SECOND && now < booking->until * SECOND &&
        !MUTANT(BOOKING_UNCONFIRMED)) {
        booking_ends(step, at, REASON_WINDOW, "the booking was not confirmed: it is given back");
        return false;
    }
    if (now >= booking->until * SECOND && booking->span && !booking->held) {
        booking_goes_on(step, at, !booking->came);
        return false;
    }
    if (now >= booking->until * SECOND) {
        booking_ends(step, at, REASON_TIME, "the booking is over");
        return false;
    }
    used = now >= booking->from * SECOND && !booking->came && booking_is_used(step, booking);
    if (booking->arrive && !booking->came && !used && now >= (booking->from + booking->arrive) * SECOND &&
        !MUTANT(BOOKING_KEPT)) {
        if (booking->span && !booking->held)
            booking_goes_on(step, at, true);
        else
            booking_ends(step, at, REASON_WINDOW, "nobody came: the booking is given back");
        return false;
    }
    if (used) {
        booking->came = true;
        booking_store(step, booking);
    }
    if (now >= booking->from * SECOND - clears_before(step))
        booking_clears(step, booking, now);
    return true;
}

void calendar_due(const struct provider_step *step)
{
    struct calendar *calendar = &step->provider->calendar;

    if (calendar->set <= step->env->now)
        calendar->set = INT64_MAX;
    for (uint32_t i = calendar->count; i-- > 0;) {
        offer_changed(step, calendar->items[i].place);
        booking_due(step, i);
    }
    calendar_wake(step);
}

/* -------------------------------------------------------------------------------------------------------------- orders */

static bool users_are_good(const struct tree *ad)
{
    char user[TEXT_MAX + 1];
    uint32_t count = 0;

    while (booking_user(ad, count, user)) {
        if (!user[0] || strspn(user, USER_LETTERS) != strlen(user))
            return false;
        count++;
    }
    return count > 0 && count <= BOOKING_USERS_MAX;
}

/* An order that comes again says how long it is by From and Until: it is placed at the first of its times that begins from now on, or stays at the one where
 * it is. */
static const char *rule_place(const struct booking *before, int64_t now, struct booking *ret)
{
    struct rule rule;
    const char *wrong = rule_read(ret->ad, &rule);

    if (wrong)
        return wrong;
    if (ret->until - ret->from > BOOKING_LONGEST)
        return "it is longer than 30 days, or begins in more than 90 days";
    ret->span = ret->until - ret->from;
    ret->from = before && before->until > now && rule_after(&rule, before->from - 1) == before->from
                    ? before->from
                    : rule_after(&rule, now - 1);
    if (ret->from == SCHEDULE_NEVER)
        return "none of its times is left";
    ret->until = ret->from + ret->span;
    return NULL;
}

/* `before`: what is booked under that number; or NULL. */
static const char *order_read(const struct provider_step *step, const struct event *event, const struct booking *before,
                              struct booking *ret)
{
    int64_t now = calendar_seconds(step);
    const char *wrong = NULL;

    *ret = (struct booking){.id = event->number, .place = (uint32_t)event->claim, .ad = event->ad};
    if (event->claim >= step->provider->settings->count || !event->number)
        return "there is no such machine";
    if (!tree_is_ad(event->ad) || event->ad->cell_count > CELLS_MAX || event->ad->symbols != step->env->symbols ||
        !ad_integer(event->ad, "From", &ret->from) || !ad_integer(event->ad, "Until", &ret->until))
        return "the order does not say from when until when";
    if (ret->from >= ret->until || (ret->until <= now && !rule_is_said(event->ad)))
        return "its end is not behind its beginning, or is over";
    if (rule_is_said(event->ad))
        wrong = rule_place(before, now, ret);
    if (wrong)
        return wrong;
    if (ret->from < now - PAST && !(before && before->from == ret->from))
        return "its beginning is over";
    if (ret->from < 0 || (ret->from - now > BOOKING_AHEAD && !(before && before->from == ret->from)) ||
        ret->until - ret->from > BOOKING_LONGEST)
        return "it is longer than 30 days, or begins in more than 90 days";
    if (!users_are_good(event->ad))
        return "the order does not say for which users, or for too many";
    if (!ad_integer(event->ad, "Held", &ret->held) || ret->held < 0)
        ret->held = 0;
    if (!ad_integer(event->ad, "Arrive", &ret->arrive) || ret->arrive < 0)
        ret->arrive = 0;
    if (ret->arrive > BOOKING_LONGEST || ret->held > ret->until || (ret->held && ret->held <= now))
        return "it may be held or waited for no longer than it lasts";
    return NULL;
}

/* Does the owner let the machine be booked so? */
static bool owner_lets_book(const struct provider_step *step, const struct booking *booking)
{
    const struct tree *whole = step->provider->offers[booking->place].whole;
    struct env eval = provider_env(step->env);

    return !ad_find(whole, "Reservable") || match_says(&eval, step->env->scratch, whole, "Reservable", booking->ad);
}

/* Is all of it booked already, for the same users? Then everybody who came since was asked. */
static bool booking_holds(const struct booking *before, const struct booking *booking)
{
    const struct expr *users = ad_find(booking->ad, "Users"), *had = before ? ad_find(before->ad, "Users") : NULL;

    return had && before->from <= booking->from && booking->until <= before->until &&
           tree_equal(before->ad, had, booking->ad, users);
}

static const char *order_refusal(const struct provider_step *step, const struct booking *before,
                                 const struct booking *booking)
{
    const struct calendar *calendar = &step->provider->calendar;
    uint32_t rules = 0;

    for (uint32_t i = 0; i < calendar->count; i++) {
        const struct booking *other = &calendar->items[i];

        if (other->id == booking->id && other->place != booking->place)
            return "another machine here is booked under that number";
        rules += other->id != booking->id && other->span;
        if (other->id != booking->id && other->place == booking->place && !MUTANT(BOOKING_TWICE) &&
            bookings_meet(other, booking))
            return "it is booked for others then";
    }
    if (booking->span && rules >= RULES_MAX)
        return "it has as many bookings that come again as it may have";
    if (!owner_lets_book(step, booking))
        return "its owner does not let it be booked so";
    if (!MUTANT(BOOKING_REACHED) && !booking_holds(before, booking) && booking_is_reached(step, booking))
        return "a job that runs there may not have ended by then";
    return NULL;
}

/* What time it is by whoever orders; the first booking sets the calendar's, and a clock that was guessed is known when somebody says what time it is. */
static const char *order_clock(const struct provider_step *step, int64_t at)
{
    struct calendar *calendar = &step->provider->calendar;
    bool said = at > 0 && at <= INT64_MAX / 4;
    int64_t differs;

    if (!said)
        at = calendar->count ? step->env->now + calendar->ahead : step->env->wall;
    if (!calendar->count || (calendar->guessed && said)) {
        calendar->ahead = at - step->env->now;
        calendar->guessed = false;
        bookings_store(step);
    }
    differs = at - (step->env->now + calendar->ahead);
    return differs < -BOOKING_CLOCK * SECOND || differs > BOOKING_CLOCK * SECOND
               ? "its clock and the pool's differ by more than 30 s"
               : NULL;
}

void calendar_order(const struct provider_step *step, const struct event *event)
{
    struct calendar *calendar = &step->provider->calendar;
    uint32_t at = booking_at(calendar, event->number);
    const struct booking *before = at < calendar->count ? &calendar->items[at] : NULL;
    struct booking booking;
    struct tree *dated;

    calendar->refused = NULL;
    if (!event->ad) {
        if (before) {
            offer_changed(step, before->place);
            booking_ends(step, at, REASON_RELEASED, "the booking is given back");
        }
        return;
    }
    calendar->refused = order_clock(step, event->at);
    if (!calendar->refused)
        calendar->refused = order_read(step, event, before, &booking);
    dated = calendar->refused ? NULL : booking_dated(&booking);
    if (dated)
        booking.ad = dated;
    if (!calendar->refused)
        calendar->refused = order_refusal(step, before, &booking);
    if (!calendar->refused && !before && calendar->count == BOOKINGS_MAX)
        calendar->refused = "it has as many bookings as it may have";
    if (calendar->refused) {
        tree_unref(dated);
        if (MUTANT(BOOKING_SWAPPED) && before)
            booking_ends(step, at, REASON_RELEASED, "another takes its place");
        calendar_due(step); /* the order may have set the clock */
        return;
    }
    if (before) {
        booking.came = before->came && before->from == booking.from;
        tree_unref(before->ad);
    } else {
        ARRAY_ROOM(calendar->items, calendar->count, calendar->room, 4);
        calendar->count++;
    }
    calendar->items[at] = booking;
    if (!MUTANT(BOOKING_EARLY))
        booking_store(step, &booking);
    effects_note(step->effects, REASON_OK, booking.id, booking.held ? "a booking is held" : "it is booked");
    stands_booked(step, booking.place);
    calendar_due(step);
}

/* ------------------------------------------------------------------------------------------------------------ restarts */

void calendar_load(const struct provider_step *step, const struct record *record)
{
    const struct booking_record *was = &record->u.booking_record;
    struct calendar *calendar = &step->provider->calendar;
    uint32_t place = offer_find(step->provider, was->offer);

    if (MUTANT(BOOKING_FORGOTTEN) || place == step->provider->settings->count || !was->ad || !tree_is_ad(was->ad) ||
        calendar->count == BOOKINGS_MAX || booking_at(calendar, record->key) < calendar->count || was->from < 0 ||
        was->until <= was->from || was->until > INT64_MAX / 4 / SECOND || was->arrive < 0 ||
        was->arrive > BOOKING_LONGEST || was->held < 0 || was->held > was->until || was->span < 0 ||
        was->span > BOOKING_LONGEST)
        return;
    ARRAY_ROOM(calendar->items, calendar->count, calendar->room, 4);
    calendar->items[calendar->count++] = (struct booking){.id = record->key,
                                                          .place = place,
                                                          .from = was->from,
                                                          .until = was->until,
                                                          .held = was->held,
                                                          .arrive = was->arrive,
                                                          .came = was->came,
                                                          .span = was->span,
                                                          .missed = was->missed,
                                                          .ad = tree_ref(was->ad)};
    if (was->boot == step->env->boot && was->ahead > -INT64_MAX / 4 && was->ahead < INT64_MAX / 4) {
        calendar->ahead = was->ahead;
        calendar->known = true;
    }
    if (was->stamp > calendar->stamp && was->stamp < INT64_MAX / 4 / SECOND)
        calendar->stamp = was->stamp;
}

void calendar_boot(const struct provider_step *step)
{
    struct calendar *calendar = &step->provider->calendar;

    if (!calendar->count)
        return;
    if (!calendar->known) {
        calendar->ahead = step->env->wall - step->env->now;
        if (calendar_seconds(step) < calendar->stamp) /* the clock was set back, or has no battery */
            calendar->ahead = calendar->stamp * SECOND - step->env->now;
        calendar->guessed = true;
        bookings_store(step);
    }
    for (uint32_t i = 0; i < calendar->count; i++) /* whoever came while we were away found nobody */
        if (calendar->items[i].span && calendar_seconds(step) >= calendar->items[i].until)
            calendar->items[i].came = true;
    calendar_due(step);
}

/* ------------------------------------------------------------------------------------------------------------ looking */

bool provider_booking(const struct provider *provider, uint32_t at, struct booking_view *ret)
{
    const struct booking *booking;

    if (at >= provider->calendar.count)
        return false;
    booking = &provider->calendar.items[at];
    *ret = (struct booking_view){.id = booking->id,
                                 .place = booking->place,
                                 .from = booking->from,
                                 .until = booking->until,
                                 .held = booking->held != 0,
                                 .ad = booking->ad};
    return true;
}

const char *provider_booking_refused(const struct provider *provider)
{
    return provider->calendar.refused;
}
