/* booking_form.c: what is said of a booking, on its way. */
#include "live/world/booking_form.h"

#include "lang/ad/get.h"
#include "pool/protocol/account.h"
#include "pool/protocol/fields.h"

#include <string.h>

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

const char *booking_form_copy(struct maker *maker, const struct tree *from)
{
    static const char *const must[] = {"From", "Until"}, *const may[] = {"Held", "Arrive", "Count"};
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
            return "Held, Arrive, Count: expected whole numbers";
        maker_integer(maker, may[i], number);
    }
    if (!users_are_good(from, users))
        return "Users: expected a list of 1 to 16 users or groups: letters, digits and ._-+@:/~";
    names = ad_part(from, users);
    maker_ad(maker, "Users", names);
    tree_unref(names);
    if (!ad_find(from, "Purpose"))
        return NULL;
    if (!ad_string(from, "Purpose", &text, &len) || len > TEXT_MAX)
        return "Purpose: expected a text of 63 bytes at most";
    maker_bytes(maker, "Purpose", text, len);
    return NULL;
}
