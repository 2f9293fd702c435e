/* machine_words.c: how a machine stands, in words for people. */
#include "cli/admin/machine_words.h"

#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/span.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MOMENT_SLACK 2 /* seconds that a message may be under way: what comes at 20:00 is not called 19:59 */

bool machine_state_of(const struct tree *machine, enum machine_state *ret)
{
    const char *text;
    size_t len;

    if (!ad_string(machine, "State", &text, &len))
        return false;
    for (int i = 0; i < MACHINE_STATE_COUNT; i++) {
        const char *word = machine_state_word(i);

        if (len == strlen(word) && !memcmp(text, word, len)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

void moment_print(struct buf *out, double seconds)
{
    struct timespec now = {0};
    double at;
    time_t when;
    const char *format = seconds < 20 * 3600.0 ? "%H:%M" : seconds < 6 * 86400.0 ? "%a %H:%M" : "%Y-%m-%d %H:%M";
    char text[40];
    struct tm date;

    clock_gettime(CLOCK_REALTIME, &now);
    at = (double)now.tv_sec + (double)now.tv_nsec / 1e9 + seconds + MOMENT_SLACK;
    when = at > -1e11 && at < 1e11 ? (time_t)at : 0;
    if (localtime_r(&when, &date) && strftime(text, sizeof text, format, &date))
        buf_adds(out, text);
}

/* -------------------------------------------------------------------------------------------------------------- amounts */

/* A number with one digit behind the point where it has one; what is more than nothing is never shown as nothing. */
static void number_print(struct buf *out, double number)
{
    if (number > 0 && number < 0.05)
        buf_adds(out, "<0.1");
    else
        buf_addf(out, fabs(number - nearbyint(number)) < 0.05 ? "%.0f" : "%.1f", number);
}

void amount_print(struct buf *out, double used, double all, bool bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    size_t unit = 0;
    double whole = all;

    while (bytes && whole >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        whole /= 1024;
        used /= 1024;
        unit++;
    }
    number_print(out, used);
    buf_adds(out, " of ");
    number_print(out, whole);
    buf_adds(out, bytes ? units[unit] : "");
}

void used_print(struct buf *out, const struct tree *machine, const char *all, const char *used, bool bytes)
{
    double much, taken = 0;

    if (!ad_number(machine, all, &much) || !isfinite(much))
        return;
    ad_number(machine, used, &taken);
    amount_print(out, taken, much, bytes);
}

/* ---------------------------------------------------------------------------------------------------------------- states */

/* The second at which the owner lets people in again, if that is certain. */
static bool back_in(const struct tree *machine, double *ret)
{
    bool sure = false;

    return ad_flag(machine, "Sure", &sure) && sure && ad_number(machine, "Until", ret);
}

static void words_print(struct buf *out, const struct tree *machine, const char *before, const char *otherwise)
{
    const char *text;
    size_t len, from;

    if (ad_string(machine, "Words", &text, &len) && len) {
        buf_adds(out, before);
        from = out->len;
        buf_add(out, text, len);
        text_tame(out, from);
    } else {
        buf_adds(out, otherwise);
    }
}

static void heard_print(struct buf *out, const struct tree *machine, const char *before)
{
    double heard;

    if (!ad_number(machine, "Heard", &heard))
        return;
    buf_adds(out, before);
    span_say(out, heard);
    buf_adds(out, " ago");
}

void machine_standing_print(struct buf *out, const struct tree *machine)
{
    enum machine_state state;
    double seconds;

    if (!machine_state_of(machine, &state)) {
        buf_adds(out, "not known");
        return;
    }
    buf_adds(out, machine_state_word(state));
    if (state == MACHINE_OWNER && back_in(machine, &seconds)) {
        buf_adds(out, ": back at ");
        moment_print(out, seconds);
    } else if (state == MACHINE_OWNER || state == MACHINE_SICK) {
        words_print(out, machine, ": ", "");
    } else if (state == MACHINE_AWAY) {
        heard_print(out, machine, ": last heard of ");
    } else if (state == MACHINE_BUSY && ad_number(machine, "Ends", &seconds)) {
        buf_adds(out, ": the first job there must end in ");
        span_say(out, seconds);
    }
}

void machine_note_print(struct buf *out, const struct tree *machine)
{
    enum machine_state state;
    bool pulls = false;
    double seconds;

    if (!machine_state_of(machine, &state))
        return;
    if (state == MACHINE_OWNER && back_in(machine, &seconds)) {
        buf_adds(out, "until ");
        moment_print(out, seconds);
    } else if (state == MACHINE_OWNER || state == MACHINE_SICK) {
        words_print(out, machine, "", "");
    } else if (state == MACHINE_AWAY) {
        heard_print(out, machine, "last heard ");
    } else if (state == MACHINE_BUSY && ad_number(machine, "Ends", &seconds)) {
        buf_adds(out, "first ends in ");
        span_say(out, seconds);
    } else if (state <= MACHINE_PART && ad_flag(machine, "Pulls", &pulls) && pulls) {
        buf_adds(out, "pulls");
    }
}
