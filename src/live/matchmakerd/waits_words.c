/* waits_words.c: why a request waits, in words and as JSON.
 *
 *     job 7: waits for a free machine: 2 machines fit, all their processors are in use (heron 4 of 4, stork 2 of 2).
 *     3 jobs of 2 users come first by share. The first claim that must end does so in 12 min. */
#include "live/matchmakerd/waits.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/json.h"
#include "lang/base/span.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char *const amount_words[AMOUNTS] = {"processors", "memory", "disk", "GPUs"};
/* What is said of machines beside the first reason. */
static const struct {
    enum wait_reason reason;
    const char *is;
} besides[] = {{WAIT_BUSY, "in use"},
               {WAIT_KEPT, "kept for jobs that come first"},
               {WAIT_OWNER, "open to nobody now"},
               {WAIT_PULL, "asking for jobs by itself"},
               {WAIT_DRAINED, "drained"},
               {WAIT_SICK, "not well"},
               {WAIT_AWAY, "away"}};

static const struct pool_machine *machine_named(const struct waits *waits, enum wait_reason reason, uint32_t n)
{
    return &waits->machines->items[waits->named[reason][n]];
}

static uint32_t named_count(const struct waits *waits, enum wait_reason reason)
{
    return waits->counts[reason] < WAITS_NAMED ? waits->counts[reason] : WAITS_NAMED;
}

/* "20:00", or with the day when that is not today's or this night's. */
static void clock_say(struct buf *out, int64_t at, int64_t now)
{
    time_t wall = (time_t)at;
    struct tm local;
    char text[40];

    if (!localtime_r(&wall, &local) ||
        !strftime(text, sizeof text, at - now < 20 * 3600 ? "%H:%M" : "%a %d %b %H:%M", &local))
        snprintf(text, sizeof text, "%" PRId64, at);
    buf_adds(out, text);
}

/* "4 of 4", "6 of 8 GiB" */
static void amount_say(struct buf *out, int amount, double part, double all)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;

    if (amount == AMOUNT_CPUS || amount == AMOUNT_GPUS) {
        buf_addf(out, "%g of %g", part, all);
        return;
    }
    for (; all >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        all /= 1024, part /= 1024;
    buf_addf(out, "%g of %g %s", round(part * 10) / 10, round(all * 10) / 10, units[unit]);
}

/* "1 machine", "2 machines"; "offers" where they are not all machines. */
static void machines_say(struct buf *out, const struct waits *waits, enum wait_reason reason)
{
    const char *noun = "machine", *text;
    size_t len;

    for (uint32_t i = 0; i < named_count(waits, reason); i++)
        if (!ad_string(machine_named(waits, reason, i)->whole, "Type", &text, &len) || len != 7 ||
            strncasecmp(text, "Machine", 7) != 0)
            noun = "offer";
    buf_add_count(out, waits->counts[reason]);
    buf_addf(out, " %s%s", noun, waits->counts[reason] == 1 ? "" : "s");
}

/* The first amount of which the machine has too little left; AMOUNTS: that is not why. */
static int amount_lacked(const struct waits *waits, const struct pool_machine *machine)
{
    for (int i = 0; i < AMOUNTS; i++)
        if (machine->used[i] > 0 && waits->asked[i] > machine->all[i] - machine->used[i])
            return i;
    return AMOUNTS;
}

/* The amount that all those named lack; AMOUNTS: they differ. `ret_all`: nothing of it is left anywhere. */
static int amount_common(const struct waits *waits, bool *ret_all)
{
    int common = amount_lacked(waits, machine_named(waits, WAIT_BUSY, 0));

    *ret_all = true;
    for (uint32_t i = 0; i < named_count(waits, WAIT_BUSY); i++) {
        const struct pool_machine *machine = machine_named(waits, WAIT_BUSY, i);

        if (amount_lacked(waits, machine) != common)
            common = AMOUNTS;
        if (common != AMOUNTS)
            *ret_all = *ret_all && machine->used[common] >= machine->all[common];
    }
    return common;
}

/* The names in brackets, each with what `say` adds. */
static void names_say(struct buf *out, const struct waits *waits, enum wait_reason reason, int amount, bool left)
{
    uint32_t count = named_count(waits, reason);

    buf_adds(out, " (");
    for (uint32_t i = 0; i < count; i++) {
        const struct pool_machine *machine = machine_named(waits, reason, i);
        int lacked = amount;

        buf_adds(out, i ? ", " : "");
        pool_machine_name(machine, out);
        if (reason != WAIT_BUSY)
            continue;
        if (lacked == AMOUNTS)
            lacked = amount_lacked(waits, machine);
        if (lacked == AMOUNTS)
            continue;
        buf_addc(out, ' ');
        amount_say(out, lacked, left ? machine->all[lacked] - machine->used[lacked] : machine->used[lacked],
                   machine->all[lacked]);
        if (amount == AMOUNTS && (lacked == AMOUNT_CPUS || lacked == AMOUNT_GPUS))
            buf_addf(out, " %s", amount_words[lacked]);
        if (left)
            buf_adds(out, " left");
    }
    if (waits->counts[reason] > count) {
        buf_adds(out, ", and ");
        buf_add_count(out, waits->counts[reason] - count);
        buf_adds(out, " more");
    }
    buf_addc(out, ')');
}

static void busy_say(struct buf *out, const struct waits *waits)
{
    bool one = waits->counts[WAIT_BUSY] == 1, all;
    int amount = amount_common(waits, &all);

    machines_say(out, waits, WAIT_BUSY);
    buf_adds(out, one ? " fits, " : " fit, ");
    if (amount == AMOUNTS)
        buf_adds(out, one ? "and it is in use" : "and all of them are in use");
    else if (all)
        buf_addf(out, "all %s %s %s in use", one ? "its" : "their", amount_words[amount],
                 amount == AMOUNT_MEMORY || amount == AMOUNT_DISK ? "is" : "are");
    else
        buf_addf(out, "what is left of %s %s is not enough", one ? "its" : "their", amount_words[amount]);
    names_say(out, waits, WAIT_BUSY, amount, amount != AMOUNTS && !all);
}

/* "heron lets nobody in until 20:00 (no counterpart can satisfy ...)", for each that is named. */
static void each_say(struct buf *out, const struct waits *waits, enum wait_reason reason, const char *does)
{
    int64_t now = runner_now(), wall = runner_wall() / SECOND;

    for (uint32_t i = 0; i < named_count(waits, reason); i++) {
        const struct pool_machine *machine = machine_named(waits, reason, i);

        buf_adds(out, i ? ", " : "");
        pool_machine_name(machine, out);
        buf_addf(out, " %s", does);
        if (reason == WAIT_OWNER && machine->until != INT64_MAX) {
            buf_addf(out, machine->sure ? " until " : " before ");
            clock_say(out, wall + (machine->until - now) / SECOND, wall);
        }
        if (reason == WAIT_AWAY) {
            buf_adds(out, ": not heard of for ");
            span_say(out, (now - machine->since) / SECOND);
        } else if (machine->words) {
            size_t from = out->len;

            buf_addf(out, ": %s", machine->words);
            for (size_t at = from; at < out->len; at++)
                if ((unsigned char)out->text[at] < ' ' || out->text[at] == 127)
                    out->text[at] = '?';
        }
    }
    if (waits->counts[reason] > WAITS_NAMED) {
        buf_adds(out, ", and likewise ");
        buf_add_count(out, waits->counts[reason] - WAITS_NAMED);
        buf_adds(out, " more");
    }
}

static void ahead_say(struct buf *out, const struct waits *waits)
{
    buf_add_count(out, waits->ahead);
    buf_addf(out, " job%s of ", waits->ahead == 1 ? "" : "s");
    buf_add_count(out, waits->ahead_users);
    buf_addf(out, " other user%s come%s first by share", waits->ahead_users == 1 ? "" : "s",
             waits->ahead == 1 ? "s" : "");
}

static void hold_say(struct buf *out, const struct waits *waits, const char *what)
{
    const struct user_hold *hold = &waits->hold;

    buf_addf(out, "waits for %s %s: %g of %g in use", what, hold->name.bytes, hold->used, hold->most);
}

static void nofit_say(struct buf *out, const struct waits *waits)
{
    uint32_t known = waits->runners, fit = waits->machines->count - waits->counts[WAIT_NOFIT];

    if (!known) {
        buf_adds(out, "waits for a machine: none is known");
        return;
    }
    if (waits->wanted > 1 && fit) {
        buf_adds(out, "waits for more machines that fit: ");
        buf_add_count(out, fit);
        buf_addf(out, " %s known", fit == 1 ? "is" : "are");
        return;
    }
    buf_adds(out, "waits for a machine that fits: none of the ");
    buf_add_count(out, known);
    buf_addf(out, " that %s known would, even when idle", known == 1 ? "is" : "are");
}

static void claiming_say(struct buf *out, const struct waits *waits)
{
    bool one = waits->claiming == 1;

    buf_add_count(out, (size_t)waits->claiming);
    buf_addf(out, " machine%s found for it, and %s awaited", one ? " was" : "s were",
             one ? "its claim is" : "their claims are");
}

/* "all who wait are settled together, every 2 min: next in 80 s" */
static void window_say(struct buf *out, const struct waits *waits)
{
    buf_adds(out, "all who wait are settled together, every ");
    span_say(out, waits->window);
    if (waits->window_left >= 0) {
        buf_adds(out, ": next in ");
        span_say(out, waits->window_left);
    }
}

/* A machine may be idle and offer nothing: then its next word, a few seconds from now, says why. */
static void soon_say(struct buf *out, const struct waits *waits)
{
    bool one = waits->counts[WAIT_SOON] == 1;

    if (!waits->free)
        buf_adds(out, "waits for word of a machine: ");
    else if (!waits->wanted)
        buf_adds(out, "is about to be matched: ");
    machines_say(out, waits, WAIT_SOON);
    if (waits->free)
        buf_adds(out, one ? " fits and is free" : " fit and are free");
    else
        buf_adds(out, one ? " fits, and has just withdrawn its offer" : " fit, and have just withdrawn their offers");
    names_say(out, waits, WAIT_SOON, AMOUNTS, false);
}

static void kept_say(struct buf *out, const struct waits *waits)
{
    bool one = waits->counts[WAIT_KEPT] == 1;

    machines_say(out, waits, WAIT_KEPT);
    buf_addf(out,
             " %s room for it, and %s kept for those that cannot begin yet: whoever would be done by then may pass",
             one ? "has" : "have", one ? "is" : "are");
    names_say(out, waits, WAIT_KEPT, AMOUNTS, false);
}

/* "It is planned for about 14:20 on heron." */
static void plan_say(struct buf *out, const struct waits *waits)
{
    int64_t wall = runner_wall() / SECOND;

    buf_adds(out, "It is planned for about ");
    clock_say(out, wall + waits->planned_in, wall);
    if (waits->planned_at != NOBODY) {
        buf_adds(out, " on ");
        pool_machine_name(&waits->machines->items[waits->planned_at], out);
    }
    buf_addc(out, '.');
}

void waits_print_reason(struct buf *out, const struct waits *waits, enum wait_reason reason)
{
    switch (reason) {
    case WAIT_BUSY:
        buf_adds(out, "waits for a free machine: ");
        busy_say(out, waits);
        break;
    case WAIT_KEPT:
        buf_adds(out, "waits for jobs that come first: ");
        kept_say(out, waits);
        break;
    case WAIT_OWNER:
        buf_adds(out, "waits for an owner: ");
        each_say(out, waits, reason, "lets nobody in");
        break;
    case WAIT_AWAY:
        buf_adds(out, "waits for a machine that is away: ");
        each_say(out, waits, reason, "fits and is away");
        break;
    case WAIT_SICK:
        buf_adds(out, "waits for a machine that cannot run jobs now: ");
        each_say(out, waits, reason, "fits and is not well");
        break;
    case WAIT_DRAINED:
        buf_adds(out, "waits for a machine that takes no more jobs: ");
        each_say(out, waits, reason, "fits and was drained");
        break;
    case WAIT_PULL:
        buf_adds(out, "waits for a machine to ask for it: ");
        machines_say(out, waits, reason);
        buf_adds(out, waits->counts[reason] == 1 ? " fits and asks for jobs by itself"
                                                 : " fit and ask for jobs by themselves");
        names_say(out, waits, reason, AMOUNTS, false);
        break;
    case WAIT_REFUSES:
        buf_adds(out, "waits for an owner to accept it: ");
        machines_say(out, waits, reason);
        buf_adds(out,
                 waits->counts[reason] == 1 ? " fits, and its owner refuses it" : " fit, and their owners refuse it");
        names_say(out, waits, reason, AMOUNTS, false);
        break;
    case WAIT_QUOTA:
        hold_say(out, waits, "the quota of the group");
        break;
    case WAIT_LIMIT:
        hold_say(out, waits, "the limit");
        break;
    case WAIT_NEVER:
        buf_addf(out, "asks for more of %s%s than there is: that never comes",
                 *waits->hold.name.bytes ? "the limit " : "a limit", waits->hold.name.bytes);
        break;
    case WAIT_LEARNS:
        if (waits->has_hold && waits->hold.kind == HOLD_LEARNS)
            buf_adds(out, "waits for what is in use of limits to be known: the matchmaker began ");
        else
            buf_adds(out, "waits for a machine: none has been heard of since the matchmaker began, ");
        span_say(out, waits->began);
        buf_adds(out, " ago");
        break;
    case WAIT_CLAIMING:
        buf_adds(out, "is being claimed: ");
        claiming_say(out, waits);
        break;
    case WAIT_WINDOW:
        buf_adds(out, "waits for those who come with it: ");
        window_say(out, waits);
        break;
    case WAIT_SHARE:
        buf_adds(out, "waits for its turn: ");
        ahead_say(out, waits);
        break;
    case WAIT_NOFIT:
        nofit_say(out, waits);
        break;
    case WAIT_SOON:
        soon_say(out, waits);
        break;
    default:
        buf_addf(out, "waits: %s", wait_says(reason));
    }
}

static void end_say(struct buf *out, const struct waits *waits)
{
    if (!waits->end_count) {
        buf_adds(out, "Nothing that runs there has a time limit.");
        return;
    }
    buf_adds(out, "The first claim that must end does so in ");
    span_say(out, waits->ends[0].in);
    buf_addc(out, '.');
}

void waits_print_more(struct buf *out, const struct waits *waits)
{
    struct buf words;

    if (waits->first != WAIT_SHARE && waits->first != WAIT_WINDOW && waits->first != WAIT_CLAIMING)
        return;
    buf_init(&words);
    if (waits->first == WAIT_SHARE)
        ahead_say(&words, waits);
    else if (waits->first == WAIT_CLAIMING)
        claiming_say(&words, waits);
    else
        window_say(&words, waits);
    words.text[0] = (char)toupper((unsigned char)words.text[0]);
    buf_add(out, words.text, words.len);
    buf_adds(out, ".\n");
    buf_done(&words);
}

void waits_print(struct buf *out, const struct waits *waits, const char *name)
{
    size_t from;

    buf_addf(out, "%s: ", name);
    waits_print_reason(out, waits, waits->first);
    buf_adds(out, ".\n");
    from = out->len;
    if (waits->first == WAIT_BUSY && waits->ahead) {
        ahead_say(out, waits);
        buf_adds(out, ". ");
    }
    if (waits->planned && !waits->free)
        plan_say(out, waits);
    else if (waits->first == WAIT_BUSY)
        end_say(out, waits);
    if (waits->learning && (waits->first == WAIT_NOFIT || waits->first == WAIT_REFUSES)) {
        buf_adds(out, "The matchmaker began ");
        span_say(out, waits->began);
        buf_adds(out, " ago, and may not have heard of all machines yet.");
    }
    if (out->len > from)
        buf_addc(out, '\n');
    for (size_t i = 0; i < sizeof besides / sizeof *besides; i++) {
        enum wait_reason reason = besides[i].reason;

        if (reason == waits->first || !waits->counts[reason])
            continue;
        buf_adds(out, "Besides, ");
        machines_say(out, waits, reason);
        buf_addf(out, " that would fit %s %s", waits->counts[reason] == 1 ? "is" : "are", besides[i].is);
        names_say(out, waits, reason, AMOUNTS, false);
        buf_adds(out, ".\n");
    }
}

/* ------------------------------------------------------------------------------------------------------------------- JSON */

static void json_name(struct buf *out, const struct pool_machine *machine)
{
    struct buf name;

    buf_init(&name);
    pool_machine_name(machine, &name);
    json_quote(out, name.text, name.len);
    buf_done(&name);
}

/* A machine that is named for a reason. */
static void json_machine(struct buf *out, const struct pool_machine *machine)
{
    int64_t now = runner_now();

    buf_adds(out, "{\"name\": ");
    json_name(out, machine);
    buf_addf(out, ", \"state\": \"%s\", \"since\": %" PRId64, machine_state_word(machine->state),
             (now - machine->since) / SECOND);
    if (machine->until != INT64_MAX && machine->state == MACHINE_OWNER)
        buf_addf(out, ", \"until\": %" PRId64, machine->until > now ? (machine->until - now) / SECOND : 0);
    if (machine->first_end >= 0)
        buf_addf(out, ", \"ends\": %" PRId64, machine->first_end);
    for (int i = 0; i < AMOUNTS; i++)
        if (machine->all[i] > 0)
            buf_addf(out, ", \"%s\": {\"used\": %.17g, \"all\": %.17g}", machine_amounts[i], machine->used[i],
                     machine->all[i]);
    buf_addc(out, '}');
}

static void json_window(struct buf *out, const struct waits *waits)
{
    buf_addf(out, "\"span\": %" PRId64, waits->window);
    if (waits->window_left >= 0)
        buf_addf(out, ", \"in\": %" PRId64, waits->window_left);
}

static void json_reason(struct buf *out, const struct waits *waits, enum wait_reason reason)
{
    struct buf text;

    buf_init(&text);
    waits_print_reason(&text, waits, reason);
    buf_addf(out, "{\"code\": \"%s\", \"text\": ", wait_word(reason));
    json_quote(out, text.text, text.len);
    buf_addf(out, ", \"machines\": %u, \"data\": {", waits->counts[reason]);
    if (reason == WAIT_SHARE)
        buf_addf(out, "\"ahead\": %" PRIu64 ", \"users\": %u", waits->ahead, waits->ahead_users);
    else if (reason == WAIT_CLAIMING)
        buf_addf(out, "\"units\": %" PRId64, waits->claiming);
    else if (reason == WAIT_WINDOW)
        json_window(out, waits);
    else if (reason == WAIT_QUOTA || reason == WAIT_LIMIT || reason == WAIT_NEVER) {
        buf_adds(out, "\"name\": ");
        json_quote(out, waits->hold.name.bytes, strlen(waits->hold.name.bytes));
        buf_addf(out, ", \"used\": %g, \"most\": %g", waits->hold.used, waits->hold.most);
    } else if (reason == WAIT_LEARNS) {
        buf_addf(out, "\"since\": %" PRId64 ", \"count\": %u", waits->began, waits->machines->count);
    } else {
        buf_adds(out, "\"named\": [");
        for (uint32_t i = 0; i < named_count(waits, reason); i++) {
            buf_adds(out, i ? ", " : "");
            json_machine(out, machine_named(waits, reason, i));
        }
        buf_addc(out, ']');
    }
    buf_adds(out, "}, \"do\": ");
    json_quote(out, wait_can(reason), strlen(wait_can(reason)));
    buf_addc(out, '}');
    buf_done(&text);
}

/* Could any that is not there come back at any time? Then nothing is said of the others. */
static bool some_are_gone(const struct waits *waits)
{
    return waits->counts[WAIT_AWAY] || waits->counts[WAIT_SICK] || waits->counts[WAIT_DRAINED];
}

/* When it may start, as far as that is known: a bound, never a promise. By `to` a claim must have ended for each that comes first, and one more;
 * before `from` nothing can begin, as the machines that are known stand. */
static void json_start(struct buf *out, const struct waits *waits)
{
    bool busy = waits->first == WAIT_BUSY;

    if (waits->planned) {
        buf_addf(out, "{\"kind\": \"planned\", \"to\": %" PRId64, waits->planned_in);
        if (waits->planned_at != NOBODY) {
            buf_adds(out, ", \"on\": ");
            json_name(out, &waits->machines->items[waits->planned_at]);
        }
        buf_addc(out, '}');
    } else if (busy && waits->ahead < waits->end_count) {
        buf_addf(out, "{\"kind\": \"limit\", \"to\": %" PRId64 ", \"on\": ", waits->ends[waits->ahead].in);
        json_name(out, &waits->machines->items[waits->ends[waits->ahead].place]);
        buf_addc(out, '}');
    } else if (waits->first == WAIT_OWNER && waits->opens >= 0 && !some_are_gone(waits)) {
        buf_addf(out, "{\"kind\": \"limit\", \"from\": %" PRId64 ", \"on\": ", waits->opens);
        json_name(out, &waits->machines->items[waits->opens_at]);
        buf_addc(out, '}');
    } else if (waits->first == WAIT_WINDOW && waits->window_left >= 0) {
        buf_addf(out, "{\"kind\": \"limit\", \"from\": %" PRId64 "}", waits->window_left);
    } else {
        buf_addf(out, "{\"kind\": \"unknown\", \"why\": \"%s\"}",
                 !busy              ? wait_says(waits->first)
                 : waits->end_count ? "more jobs come first than claims there must end"
                                    : "nothing that runs there has a time limit");
    }
}

void waits_print_json_reasons(struct buf *out, const struct waits *waits)
{
    json_reason(out, waits, waits->first);
    for (int i = 0; i < WAIT_REASON_COUNT; i++)
        if (i != (int)waits->first &&
            (waits->counts[i] || (i == WAIT_SHARE && waits->ahead) || (i == WAIT_CLAIMING && waits->claiming > 0))) {
            buf_adds(out, ", ");
            json_reason(out, waits, (enum wait_reason)i);
        }
}

void waits_print_json(struct buf *out, const struct waits *waits)
{
    buf_addf(out, ", \"machines\": %u, \"first\": \"%s\", \"reasons\": [", waits->runners, wait_word(waits->first));
    waits_print_json_reasons(out, waits);
    buf_adds(out, "], \"start\": ");
    json_start(out, waits);
}
