/* from_ad.c: an ad as a resource: its own record, or what can be said of an ad that has none.
 *
 * A constraint is taken apart as the matchmaker does it (match/pair/clauses.h): what the ad says of itself is folded in, and what is left
 * must be comparisons. ClassAds compare text without case; GRDL has that for == (equivalent) and <= (ordered) alone. */
#include "lang/base/calendar.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/grdl/document.h"
#include "match/grdl/translate.h"
#include "match/grdl/units.h"
#include "match/pair/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct from_ad {
    const struct tree *ad;
    struct grdl_resource *resource;
    struct buf text;
    struct err *err;
};

/* Fails with "ATTRIBUTE: EXPRESSION cannot be expressed: why". */
static int refuse(struct from_ad *from, const char *attribute, const struct tree *tree, const struct expr *e,
                  const char *why)
{
    struct buf shown;

    buf_init(&shown);
    print_expr(&shown, tree, e, PRINT_PLAIN);
    err_set(from->err, "%s: '%.200s' cannot be expressed: %s", attribute, buf_string(&shown), why);
    buf_done(&shown);
    return -1;
}

static bool has_letters(const char *text)
{
    for (; *text; text++)
        if ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z')
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- values */

/* The type that keeps a string a text where it looks like something else; NULL where it does not. */
static const char *string_type(const char *text)
{
    double ignored;
    size_t len = strlen(text);

    return grdl_number_read(text, len, 1, 0, &ignored) || grdl_version_like(text, len) ||
                   grdl_date_read(text, len, &ignored)
               ? "text"
               : NULL;
}

/* Prints a time as 2008-09-30T12:00:00Z; nothing when it is beyond the calendar. */
static void time_print(struct buf *out, int64_t seconds)
{
    struct date date;

    if (calendar_split(seconds, &date))
        buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", date.year, date.month, date.day, date.hour, date.minute,
                 date.second);
}

/* Reads a literal as a value: its text into from->text, and its type. False when it is not one, or not one that a document can hold. */
static bool literal_read(struct from_ad *from, const struct tree *tree, const struct expr *e, const char **ret_type)
{
    bool minus = e->kind == EXPR_PREFIX && e->small == OP_SUBTRACT;

    buf_reset(&from->text);
    *ret_type = NULL;
    if (minus) {
        e = tree_parts(tree, e);
        buf_addc(&from->text, '-');
        if (e->kind != EXPR_INTEGER && e->kind != EXPR_REAL)
            return false;
    }
    switch (e->kind) {
    case EXPR_BOOLEAN:
        buf_adds(&from->text, e->small ? "true" : "false");
        return true;
    case EXPR_INTEGER:
        print_integer(&from->text, e->u.integer);
        return true;
    case EXPR_REAL:
        if (!isfinite(e->u.real))
            return false;
        print_real(&from->text, e->u.real);
        return true;
    case EXPR_ABSTIME:
        time_print(&from->text, e->u.integer);
        return from->text.len > 0;
    case EXPR_RELTIME:
        print_integer(&from->text, e->u.integer);
        *ret_type = "s";
        return true;
    case EXPR_STRING: {
        const char *text = tree_string(tree, e);
        size_t len = e->u.run.count;

        if (!len || strchr(" \t\r\n", text[0]) || strchr(" \t\r\n", text[len - 1]))
            return false; /* blanks at the ends are no part of a value */
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)text[i] < ' ' && !strchr("\t\n\r", text[i]))
                return false;
        buf_add(&from->text, text, len);
        *ret_type = string_type(buf_string(&from->text));
        return true;
    }
    default:
        return false;
    }
}

static int char_take(struct from_ad *from, const char *name, const struct expr *e)
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(from->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;
    const char *type;

    if (e->kind == EXPR_UNDEFINED)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!literal_read(from, from->ad, &parts[i], &type))
            return refuse(from, name, from->ad, e, "expected a number, a text, a time, or a list of them");
        if (grdl_add_char(from->resource, name, type, buf_string(&from->text), from->err) < 0)
            return -1;
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- constraint */

static const enum grdl_operator compare_operators[OP_COUNT] = {
    [OP_EQUAL] = GRDL_EQ,      [OP_NOT_EQUAL] = GRDL_NE, [OP_LESS] = GRDL_LT,
    [OP_LESS_EQUAL] = GRDL_LE, [OP_GREATER] = GRDL_GT,   [OP_GREATER_EQUAL] = GRDL_GE,
};

/* Takes the operator that ignores the case of letters, as ClassAds do in text; false when there is none. */
static bool text_operator(enum grdl_operator *operation)
{
    if (*operation == GRDL_EQ)
        *operation = GRDL_EQUIVALENT;
    else if (*operation == GRDL_LE)
        *operation = GRDL_ORDERED;
    else
        return false;
    return true;
}

static int property_take(struct from_ad *from, const struct tree *tree, const struct clause *clause)
{
    const struct property *property = &clause->property;
    struct value constant = property_constant(property);
    enum grdl_operator match = compare_operators[property->op];
    const char *type = NULL, *name;
    size_t len;

    name = symbols_text(tree->symbols, property->name, &len);
    buf_reset(&from->text);
    switch (constant.type) {
    case VALUE_BOOLEAN:
        buf_adds(&from->text, constant.boolean ? "true" : "false");
        if (match != GRDL_EQ && match != GRDL_NE)
            return refuse(from, "Constraint", tree, clause->e, "truth has no order");
        break;
    case VALUE_INTEGER:
        print_integer(&from->text, constant.u.integer);
        break;
    case VALUE_REAL:
        print_real(&from->text, constant.u.real);
        break;
    case VALUE_ABSTIME:
        time_print(&from->text, constant.u.integer);
        break;
    case VALUE_RELTIME:
        print_integer(&from->text, constant.u.integer);
        type = "s";
        break;
    case VALUE_STRING:
        buf_add(&from->text, constant.u.string, constant.len);
        type = string_type(buf_string(&from->text));
        if (!from->text.len || strchr(" \t\r\n", from->text.text[0]) ||
            strchr(" \t\r\n", from->text.text[from->text.len - 1]))
            return refuse(from, "Constraint", tree, clause->e, "blanks at the ends are no part of a value");
        if (has_letters(buf_string(&from->text)) && !text_operator(&match))
            return refuse(from, "Constraint", tree, clause->e,
                          "it overlooks the case of letters, which GRDL does for == and <= alone");
        break;
    default:
        return refuse(from, "Constraint", tree, clause->e, "expected a comparison with a constant");
    }
    return grdl_add_req(from->resource, name, match, type, buf_string(&from->text), from->err);
}

static int constraint_take(struct from_ad *from)
{
    const struct env env = {0};
    struct arena arena;
    struct party party;
    int taken = 0;

    arena_init(&arena);
    party_init(&party, &env, &arena, (struct tree *)from->ad);
    if (!party_is_open(&party))
        taken = err_set(from->err, "Constraint: it is never true, and a requirement always can be");
    for (uint32_t i = 0; party.constraint && i < party.clauses.count && taken == 0; i++) {
        const struct clause *clause = &party.clauses.items[i];
        symbol asked = property_asked(from->ad, clause->e);
        size_t len;

        if (clause->simple)
            taken = property_take(from, party.constraint, clause);
        else if (asked != SYMBOL_NONE) /* other.HasGpu alone */
            taken = grdl_add_req(from->resource, symbols_text(from->ad->symbols, asked, &len), GRDL_EQ, NULL, "true",
                                 from->err);
        else
            taken = refuse(from, "Constraint", party.constraint, clause->e,
                           "expected a comparison of an attribute of the other with a constant");
    }
    party_done(&party);
    arena_done(&arena);
    return taken;
}

/* --------------------------------------------------------------------------------------------------------------- rank */

static int rank_take(struct from_ad *from, const struct expr *rank)
{
    bool minus = rank->kind == EXPR_PREFIX && rank->small == OP_SUBTRACT;
    const struct expr *inner = minus ? tree_parts(from->ad, rank) : rank;
    symbol asked = property_asked(from->ad, inner);
    size_t len;

    if (inner->kind == EXPR_INTEGER || inner->kind == EXPR_REAL || inner->kind == EXPR_UNDEFINED)
        return 0; /* the same for all: not a preference */
    if (asked == SYMBOL_NONE)
        return refuse(from, "Rank", from->ad, rank, "expected an attribute of the other, or minus one");
    return grdl_add_pref(from->resource, symbols_text(from->ad->symbols, asked, &len), minus ? GRDL_LT : GRDL_GT, NULL,
                         NULL, GRDL_RANK_DEFAULT, from->err);
}

/* ----------------------------------------------------------------------------------------------------------------- ads */

static bool named(const struct tree *ad, const struct expr *part, const char *name)
{
    return symbols_named(ad->symbols, part->label, name, strlen(name));
}

/* The string that an attribute is, or NULL; the caller frees it. */
static char *string_of(const struct tree *ad, const char *name)
{
    symbol s = symbols_find(ad->symbols, name, strlen(name));
    const struct expr *e = s == SYMBOL_NONE ? NULL : tree_find(ad, tree_root(ad), s);

    if (!e || e->kind != EXPR_STRING || !e->u.run.count || e->u.run.count > GRDL_NAME_MAX)
        return NULL;
    return mem_dup(tree_string(ad, e), e->u.run.count);
}

static int attributes_take(struct from_ad *from)
{
    const struct expr *root = tree_root(from->ad), *parts = tree_parts(from->ad, root), *rank = NULL;
    const struct expr *constraint = match_constraint(from->ad);

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(from->ad->symbols, parts[i].label, &len);

        if (&parts[i] == constraint)
            continue;
        if (named(from->ad, &parts[i], "Rank")) {
            rank = &parts[i];
            continue;
        }
        if ((named(from->ad, &parts[i], "Type") && from->resource->class_name[0] != '_') ||
            (named(from->ad, &parts[i], "Name") && from->resource->name))
            continue;
        if (!grdl_name_is_good(name, len))
            return err_set(from->err, "'%.60s': this cannot be the name of a dimension", name);
        if (char_take(from, name, &parts[i]) < 0)
            return -1;
    }
    if (constraint && constraint_take(from) < 0)
        return -1;
    return rank ? rank_take(from, rank) : 0;
}

struct grdl_resource *grdl_from_ad(const struct tree *ad, struct err *err)
{
    struct from_ad from = {.ad = ad, .err = err};
    symbol record = symbols_find(ad->symbols, "Grdl", 4);
    const struct expr *whole = record == SYMBOL_NONE ? NULL : tree_find(ad, tree_root(ad), record);
    char *class_name, *name;

    if (whole && whole->kind == EXPR_AD) {
        struct grdl_resource *resource = grdl_record_read(ad, whole, err);

        if (!resource)
            err_context(err, "Grdl");
        return resource;
    }
    class_name = string_of(ad, "Type");
    name = string_of(ad, "Name");
    if (class_name && (!grdl_name_is_good(class_name, strlen(class_name)) || class_name[0] == '_' ||
                       strcmp(class_name, "resources") == 0)) {
        free(class_name);
        class_name = NULL;
    }
    from.resource = grdl_resource_new(class_name ? class_name : "_ad", name);
    free(class_name);
    free(name);
    buf_init(&from.text);
    if (attributes_take(&from) < 0) {
        grdl_resource_free(from.resource);
        from.resource = NULL;
    }
    buf_done(&from.text);
    return from.resource;
}
