/* user_why.c: why a user's place is what it is, in words. */
#include "cli/ask/user_why.h"

#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/span.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double number_of(const struct tree *ad, const char *name)
{
    double value;

    return ad_number(ad, name, &value) ? value : 0;
}

/* Appends a text of the ad, as one line; nothing when the ad has none. */
static void add_text(struct buf *out, const struct tree *ad, const char *name)
{
    size_t from = out->len, len;
    const char *text;

    if (!ad_string(ad, name, &text, &len))
        return;
    buf_add(out, text, len);
    text_tame(out, from);
}

/* Appends a number with up to four significant digits. */
static void add_number(struct buf *out, double value)
{
    buf_addf(out, "%.4g", value);
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

/* ------------------------------------------------------------------------------------------------------------- its place */

static void add_place(struct buf *out, const struct tree *ad)
{
    int64_t place = 0, places = 0;
    double requests = number_of(ad, "Requests");

    ad_integer(ad, "Place", &place);
    ad_integer(ad, "Places", &places);
    add_text(out, ad, "Name");
    if (requests == 0)
        buf_adds(out, " asks for nothing");
    else if (place == 0)
        buf_adds(out, " waits, but not for an offer");
    else
        buf_addf(out, " is number %" PRId64 " of %" PRId64 " user%s who wait%s for an offer", place, places,
                 plural((double)places), places == 1 ? "s" : "");
    if (requests)
        buf_addf(out, ", with %.0f request%s", requests, plural(requests));
    buf_adds(out, "\n");
    if (ad_find(ad, "Delegates")) {
        bool more = false;

        ad_flag(ad, "MoreDelegates", &more);
        add_text(out, ad, "Delegates");
        buf_addf(out, "%s ask in its name: what was delegated counts for who has delegated\n",
                 more ? " and others" : "");
    }
}

static void add_priority(struct buf *out, const struct tree *ad)
{
    double usage = number_of(ad, "Usage"), units = number_of(ad, "Units"), claims = number_of(ad, "Claims");

    buf_adds(out, "\npriority ");
    add_number(out, number_of(ad, "Priority"));
    buf_adds(out, " = factor ");
    add_number(out, number_of(ad, "Factor"));
    buf_adds(out, " x (usage ");
    add_number(out, fmax(usage, 0.5));
    buf_adds(out, " + ");
    add_number(out, units);
    buf_addf(out, " unit%s in use); the smallest is served first\n", plural(units));
    buf_adds(out, "usage ");
    add_number(out, usage);
    buf_addf(out, ", %sin units used all the time; what was used counts half after ",
             usage < 0.5 ? "counted as 0.5, " : "");
    span_say(out, number_of(ad, "HalfLife"));
    buf_adds(out, "\n");
    if (units > 0 || usage >= 0.0001) {
        buf_addf(out, "with the %.0f claim%s of now it will be ", claims, plural(claims));
        add_number(out, number_of(ad, "UsageLater"));
        buf_adds(out, " then\n");
    }
}

static void add_group(struct buf *out, const struct tree *ad)
{
    bool surplus = false;

    if (!ad_find(ad, "Group"))
        return;
    ad_flag(ad, "Surplus", &surplus);
    buf_adds(out, "group ");
    add_text(out, ad, "Group");
    buf_adds(out, ": ");
    add_number(out, number_of(ad, "GroupUnits"));
    buf_adds(out, " of its quota of ");
    add_number(out, number_of(ad, "Quota"));
    buf_adds(out, " units in use, of a pool of ");
    add_number(out, number_of(ad, "Pool"));
    buf_addf(out, "; it may %s\n", surplus ? "have more while nobody within a quota wants it" : "have no more");
}

/* ------------------------------------------------------------------------------------------------- who is ahead, what holds */

typedef void add_fn(struct buf *out, const struct tree *part);

/* Appends each ad of a list, under a heading. */
static void add_list(struct buf *out, const struct tree *ad, const char *name, const char *heading, add_fn *add)
{
    const struct expr *list = ad_find(ad, name), *items = list && list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;

    if (!items || list->u.run.count == 0)
        return;
    buf_addf(out, "\n%s\n", heading);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *part = ad_part(ad, &items[i]);

        if (part)
            add(out, part);
        tree_unref(part);
    }
}

static void add_ahead(struct buf *out, const struct tree *part)
{
    buf_adds(out, "  ");
    add_text(out, part, "Name");
    buf_adds(out, ": ");
    if (ad_find(part, "Group")) {
        buf_adds(out, "in the group ");
        add_text(out, part, "Group");
        buf_adds(out, ", which comes first\n");
        return;
    }
    buf_adds(out, "priority ");
    add_number(out, number_of(part, "Priority"));
    buf_adds(out, " = ");
    add_number(out, number_of(part, "Factor"));
    buf_adds(out, " x (");
    add_number(out, fmax(number_of(part, "Usage"), 0.5));
    buf_adds(out, " + ");
    add_number(out, number_of(part, "Units"));
    buf_adds(out, ")\n");
}

/* For each kind of hold: what one request does, what several do, what stands before the name and behind it, and whether it says how much is in
 * use. */
static const struct hold_words {
    const char *kind, *one, *many, *before, *behind;
    bool counts;
} hold_table[] = {
    {"quota", "waits", "wait", "for the quota of the group ", "", true},
    {"limit", "waits", "wait", "for the limit ", "", true},
    {"never", "asks", "ask", "for more of a limit than there is", ": that never comes", false},
    {"learns", "waits", "wait", "until it is known what is in use of limits", ": the matchmaker has begun lately",
     false},
    {"gave-up", "waits", "wait", "for the next try", ": looking for an offer took too long, and was given up", false},
    {"no-group", "is charged", "are charged", "outside the group ", ", which does not exist", false},
    {"not-his", "is charged", "are charged", "outside the group ", ", which the user may not use", false},
};

static void add_hold(struct buf *out, const struct tree *part)
{
    double requests = number_of(part, "Requests");
    const char *kind;
    size_t len;

    if (!ad_string(part, "Kind", &kind, &len))
        return;
    for (size_t i = 0; i < sizeof hold_table / sizeof *hold_table; i++) {
        const struct hold_words *words = &hold_table[i];

        if (strlen(words->kind) != len || memcmp(words->kind, kind, len) != 0)
            continue;
        buf_addf(out, "  %.0f request%s %s %s", requests, plural(requests), requests == 1 ? words->one : words->many,
                 words->before);
        add_text(out, part, "Name");
        if (words->counts) {
            buf_adds(out, " (");
            add_number(out, number_of(part, "Used"));
            buf_adds(out, " of ");
            add_number(out, number_of(part, "Most"));
            buf_adds(out, " in use)");
        }
        buf_addf(out, "%s\n", words->behind);
    }
}

/* --------------------------------------------------------------------------------------------------- what would change it */

/* Finds the nearest user ahead who is in the same group. */
static struct tree *rival_of(const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Ahead"),
                      *items = list && list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;

    for (uint32_t i = 0; items && i < list->u.run.count; i++) {
        struct tree *part = ad_part(ad, &items[i]);

        if (part && !ad_find(part, "Group"))
            return part;
        tree_unref(part);
    }
    return NULL;
}

static void add_changes(struct buf *out, const struct tree *ad)
{
    struct tree *rival = rival_of(ad);

    if (!rival)
        return;
    buf_adds(out, "\nwhat would change it:\n  ");
    if (ad_find(ad, "AheadAfter")) {
        buf_adds(out, "if it used nothing from now on, it would be ahead of ");
        add_text(out, rival, "Name");
        if (number_of(ad, "AheadAfter") < 1) {
            buf_adds(out, " at once\n");
        } else {
            buf_adds(out, " in ");
            span_say(out, number_of(ad, "AheadAfter"));
            buf_adds(out, "\n");
        }
    } else {
        buf_adds(out, "using nothing would never bring it ahead of ");
        add_text(out, rival, "Name");
        buf_adds(out, "\n");
    }
    if (ad_find(ad, "AheadBelowFactor")) {
        buf_adds(out, "  with a factor below ");
        add_number(out, number_of(ad, "AheadBelowFactor"));
        buf_adds(out, " it would be ahead of ");
        add_text(out, rival, "Name");
        buf_adds(out, " now\n");
    }
    tree_unref(rival);
}

/* Names the other accounts of a user who was asked for without a group. */
static void add_accounts(struct buf *out, const struct tree *ad)
{
    const char *names;
    size_t len;

    if (!ad_string(ad, "Accounts", &names, &len))
        return;
    buf_adds(out, memchr(names, ',', len) ? "\nother accounts of this user: " : "\nanother account of this user: ");
    add_text(out, ad, "Accounts");
    buf_adds(out, "\n");
}

void user_why_print(struct buf *out, const struct tree *ad)
{
    add_place(out, ad);
    add_priority(out, ad);
    add_group(out, ad);
    add_list(out, ad, "Ahead", "served before it, the nearest first:", add_ahead);
    add_list(out, ad, "Holds", "what its requests wait for, or are charged to:", add_hold);
    add_changes(out, ad);
    add_accounts(out, ad);
}
