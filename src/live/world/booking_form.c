/* booking_form.c: what is said of a booking, on its way. */
#include "live/world/booking_form.h"

#include "lang/ad/get.h"
#include "lang/base/schedule.h"
#include "lang/base/zone.h"
#include "pool/protocol/account.h"
#include "pool/protocol/fields.h"

#include <string.h>

static bool text_is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

static bool name_is_good(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!name[i] || !strchr(USER_LETTERS, name[i]))
            return false;
    return len && len <= TEXT_MAX;
}

static bool users_are_good(const struct tree *ad, const struct expr *users)
{
    if (!users || users->kind != EXPR_LIST || !users->u.run.count || users->u.run.count > BOOKING_NAMES_MAX)
        return false;
    for (uint32_t i = 0; i < users->u.run.count; i++) {
        const struct expr *user = &tree_parts(ad, users)[i];

        if (user->kind != EXPR_STRING || !name_is_good(tree_string(ad, user), user->u.run.count))
            return false;
    }
    return true;
}

static const char *text_copy(struct maker *maker, const struct tree *from, const char *name, size_t most,
                             const char *wrong)
{
    const char *text;
    size_t len;

    if (!ad_string(from, name, &text, &len) || !len || len > most || !text_is_plain(text, len))
        return wrong;
    maker_bytes(maker, name, text, len);
    return NULL;
}

/* What is said of one that comes again. */
static const char *rule_copy(struct maker *maker, const struct tree *from)
{
    const char *wrong = text_copy(maker, from, "Every", SCHEDULE_TEXT_MAX, "Every: expected times as in crontab");

    if (!wrong)
        wrong = text_copy(maker, from, "ZoneRule", ZONE_TEXT_MAX,
                          "ZoneRule: expected a rule of local time, as CET-1CEST,M3.5.0,M10.5.0/3");
    if (!wrong && ad_find(from, "Zone"))
        wrong = text_copy(maker, from, "Zone", TEXT_MAX, "Zone: expected the name of a time zone");
    return wrong;
}

const char *booking_form_copy(struct maker *maker, const struct tree *from)
{
    static const char *const must[] = {"From", "Until"}, *const may[] = {"Held", "Arrive", "Count", "Last"};
    const struct expr *users = ad_find(from, "Users");
    struct tree *names;
    const char *text;
    int64_t number;
    size_t len;

    for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
        if (!ad_integer(from, must[i], &number) || number < 0)
            return i ? "Until: expected seconds since 1970" : "From: expected seconds since 1970";
        maker_integer(maker, must[i], number);
    }
    for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
        if (!ad_find(from, may[i]))
            continue;
        if (!ad_integer(from, may[i], &number) || number < 0)
            return "Held, Arrive, Count, Last: expected whole numbers";
        maker_integer(maker, may[i], number);
    }
    if (!users_are_good(from, users))
        return "Users: expected a list of 1 to 16 users or groups: letters, digits and ._-+@:/~";
    names = ad_part(from, users);
    maker_ad(maker, "Users", names);
    tree_unref(names);
    if (ad_find(from, "Every") && (text = rule_copy(maker, from)))
        return text;
    if (!ad_find(from, "Purpose"))
        return NULL;
    if (!ad_string(from, "Purpose", &text, &len) || len > TEXT_MAX)
        return "Purpose: expected a text of 63 bytes at most";
    maker_bytes(maker, "Purpose", text, len);
    return NULL;
}
