/* shares.c: reads the ad in which an administrator sets shares. */
#include "pool/matchmaker/shares.h"

#include "lang/ad/eval.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of a reading: values are computed as in any ad, at the time 0. */
struct reading {
    struct tree *ad;
    struct symbols *symbols;
    struct arena arena;
    struct env env;
    struct err *err;
    struct shares *ret;
};

static bool name_is(const struct reading *reading, symbol name, const char *text)
{
    size_t len;
    const char *is = symbols_text(reading->symbols, name, &len);

    if (len != strlen(text))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((is[i] | 0x20) != (text[i] | 0x20))
            return false;
    return true;
}

static int fail_unknown(struct reading *reading, symbol name, const char *known)
{
    size_t len;
    const char *text = symbols_text(reading->symbols, name, &len);

    return err_set(reading->err, "there is no '%.*s'; expected %s", (int)(len < 60 ? len : 60), text, known);
}

static void value_of(struct reading *reading, const struct scope *scope, const struct expr *part, struct value *ret)
{
    struct eval eval;

    eval_init(&eval, &reading->env, &reading->arena);
    eval_attribute(&eval, scope, part->label, ret);
}

/* ----------------------------------------------------------------------------------------------------------- a group */

/* Words of letters, digits and '_', with dots between. */
static bool group_name_is_good(const char *text, size_t len)
{
    bool begins = true;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';

        if (!letter && (c != '.' || begins))
            return false;
        begins = c == '.';
    }
    return len && len <= SHARES_NAME_MAX && !begins;
}

static int read_name(struct reading *reading, const struct value *v, struct group_row *row)
{
    if (v->type != VALUE_STRING || !group_name_is_good(v->u.string, v->len))
        return err_set(reading->err,
                       "Name: expected words of letters, digits and '_' with dots between, up to %d bytes",
                       SHARES_NAME_MAX);
    row->name = mem_dup(v->u.string, v->len);
    return 0;
}

const char *const share_kinds[SHARE_KINDS] = {
    [SHARE_CPUS] = "Cpus", [SHARE_GPUS] = "Gpus", [SHARE_LICENSES] = "Licenses"};

static int read_units(struct reading *reading, const struct value *v, struct group_row *row)
{
    row->quota = v->type == VALUE_INTEGER ? (double)v->u.integer : v->type == VALUE_REAL ? v->u.real : (double)NAN;
    if (!(row->quota >= 0) || row->quota > 1e9)
        return err_set(reading->err, "Quota: expected a number of units, or a part of the pool between 0 and 1");
    return 0;
}

static int read_kind(struct reading *reading, const struct scope *scope, const struct expr *part, struct group_row *row)
{
    struct value v;

    value_of(reading, scope, part, &v);
    if (name_is(reading, part->label, "Units")) {
        row->says_units = true;
        return read_units(reading, &v, row);
    }
    for (int i = 0; i < SHARE_KINDS; i++) {
        double most = v.type == VALUE_INTEGER ? (double)v.u.integer : v.type == VALUE_REAL ? v.u.real : (double)NAN;

        if (!name_is(reading, part->label, share_kinds[i]))
            continue;
        if (!(most >= 0) || most > 1e9)
            return err_set(reading->err, "Quota: %s: expected how many the group may have, from 0 to 1e9",
                           share_kinds[i]);
        row->kinds[i] = most;
        return 0;
    }
    return fail_unknown(reading, part->label, "Units, Cpus, Gpus or Licenses");
}

static int read_quota(struct reading *reading, const struct value *v, struct group_row *row)
{
    const struct expr *ad = v->type == VALUE_AD ? v->scope->ad : NULL, *parts;

    if (!ad)
        return read_units(reading, v, row);
    parts = tree_parts(v->scope->tree, ad);
    row->says_units = false;
    for (uint32_t i = 0; i < ad->u.run.count; i++)
        if (read_kind(reading, v->scope, &parts[i], row) < 0)
            return -1;
    return 0;
}

static int read_surplus(struct reading *reading, const struct value *v, struct group_row *row)
{
    if (v->type != VALUE_BOOLEAN)
        return err_set(reading->err, "Surplus: expected true or false");
    row->surplus = v->boolean;
    return 0;
}

static int read_users(struct reading *reading, const struct value *v, struct group_row *row)
{
    if (v->type != VALUE_LIST || v->len > SHARES_USERS_MAX)
        return err_set(reading->err, "Users: expected a list of up to %d names", SHARES_USERS_MAX);
    row->says_users = true;
    row->users = mem_alloc((v->len + 1) * sizeof *row->users);
    for (uint32_t i = 0; i < v->len; i++) {
        struct value name;
        struct eval eval;

        eval_init(&eval, &reading->env, &reading->arena);
        eval_element(&eval, v, i, &name);
        if (name.type != VALUE_STRING || name.len == 0)
            return err_set(reading->err, "Users: expected a list of names");
        row->users[row->user_count++] = mem_dup(name.u.string, name.len);
    }
    return 0;
}

static const struct group_part {
    const char *name;
    int (*read)(struct reading *reading, const struct value *v, struct group_row *row);
} group_parts[] = {{"Name", read_name}, {"Quota", read_quota}, {"Surplus", read_surplus}, {"Users", read_users}};
#define GROUP_PARTS (sizeof group_parts / sizeof *group_parts)

static int read_part(struct reading *reading, const struct scope *scope, const struct expr *part, struct group_row *row)
{
    struct value v;

    for (size_t i = 0; i < GROUP_PARTS; i++) {
        if (!name_is(reading, part->label, group_parts[i].name))
            continue;
        value_of(reading, scope, part, &v);
        return group_parts[i].read(reading, &v, row);
    }
    return fail_unknown(reading, part->label, "Name, Quota, Surplus or Users");
}

static int read_group(struct reading *reading, const struct value *v, struct group_row *row)
{
    const struct expr *ad = v->type == VALUE_AD ? v->scope->ad : NULL, *parts;

    *row = (struct group_row){.surplus = true, .says_units = true};
    for (int i = 0; i < SHARE_KINDS; i++)
        row->kinds[i] = INFINITY;
    if (!ad)
        return err_set(reading->err, "expected an ad");
    parts = tree_parts(v->scope->tree, ad);
    for (uint32_t i = 0; i < ad->u.run.count; i++)
        if (read_part(reading, v->scope, &parts[i], row) < 0)
            return -1;
    return row->name ? 0 : err_set(reading->err, "Name: missing");
}

static int group_order(const void *a, const void *b)
{
    return strcmp(((const struct group_row *)a)->name, ((const struct group_row *)b)->name);
}

/* Does each group have the group above it, and is none there twice? */
static int groups_check(struct reading *reading)
{
    const struct shares *shares = reading->ret;

    for (uint32_t i = 0; i < shares->group_count; i++) {
        const char *name = shares->groups[i].name, *dot = strrchr(name, '.');
        bool found = !dot;

        if (i && !strcmp(name, shares->groups[i - 1].name))
            return err_set(reading->err, "Groups: there are two of the name '%s'", name);
        for (uint32_t k = 0; k < shares->group_count && !found; k++)
            found = strlen(shares->groups[k].name) == (size_t)(dot - name) &&
                    !strncmp(shares->groups[k].name, name, (size_t)(dot - name));
        if (!found)
            return err_set(reading->err, "Groups: '%s' is in a group '%.*s', and there is none", name,
                           (int)(dot - name), name);
    }
    return 0;
}

static int read_groups(struct reading *reading, const struct value *v)
{
    struct shares *shares = reading->ret;

    if (v->type != VALUE_LIST || v->len > SHARES_GROUPS_MAX)
        return err_set(reading->err, "Groups: expected a list of up to %d ads", SHARES_GROUPS_MAX);
    shares->groups = mem_alloc((v->len + 1) * sizeof *shares->groups);
    for (uint32_t i = 0; i < v->len; i++) {
        struct value group;
        struct eval eval;

        eval_init(&eval, &reading->env, &reading->arena);
        eval_element(&eval, v, i, &group);
        shares->group_count++;
        if (read_group(reading, &group, &shares->groups[i]) < 0)
            return err_context(reading->err, "Groups, number %u", i + 1);
    }
    if (shares->group_count)
        qsort(shares->groups, shares->group_count, sizeof *shares->groups, group_order);
    return groups_check(reading);
}

/* ------------------------------------------------------------------------------------------------------------ limits */

static int read_most(struct reading *reading, const struct value *v, int64_t *ret)
{
    if (v->type != VALUE_INTEGER || v->u.integer < 0 || v->u.integer > SHARES_LIMIT_MAX)
        return err_set(reading->err, "expected a whole number from 0 to %d", SHARES_LIMIT_MAX);
    *ret = v->u.integer;
    return 0;
}

static int read_limits(struct reading *reading, const struct value *v)
{
    const struct expr *ad = v->type == VALUE_AD ? v->scope->ad : NULL, *parts;
    struct shares *shares = reading->ret;

    if (!ad)
        return err_set(reading->err, "Limits: expected an ad, as in [ matlab = 10 ]");
    parts = tree_parts(v->scope->tree, ad);
    shares->limits = mem_alloc((ad->u.run.count + 1) * sizeof *shares->limits);
    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        struct limit_row *row = &shares->limits[i];
        struct value most;
        size_t len;
        const char *name = symbols_text(reading->symbols, parts[i].label, &len);

        value_of(reading, v->scope, &parts[i], &most);
        if (len > SHARES_NAME_MAX)
            return err_set(reading->err, "Limits: '%.*s' has more than %d bytes", 40, name, SHARES_NAME_MAX);
        *row = (struct limit_row){.name = mem_dup(name, len)};
        for (char *c = row->name; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
        shares->limit_count++;
        if (read_most(reading, &most, &row->most) < 0)
            return err_context(reading->err, "Limits: %s", row->name);
    }
    return 0;
}

static int read_default(struct reading *reading, const struct value *v)
{
    return read_most(reading, v, &reading->ret->default_limit) < 0 ? err_context(reading->err, "DefaultLimit") : 0;
}

static const struct share_part {
    const char *name;
    int (*read)(struct reading *reading, const struct value *v);
} share_parts[] = {{"Groups", read_groups}, {"Limits", read_limits}, {"DefaultLimit", read_default}};
#define SHARE_PARTS (sizeof share_parts / sizeof *share_parts)

/* ------------------------------------------------------------------------------------------------------------ the ad */

static int read_all(struct reading *reading)
{
    const struct expr *root = tree_root(reading->ad), *parts = tree_parts(reading->ad, root);
    struct scope scope;

    scope_init(&scope, reading->ad, NULL);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t which = 0;
        struct value v;

        while (which < SHARE_PARTS && !name_is(reading, parts[i].label, share_parts[which].name))
            which++;
        if (which == SHARE_PARTS)
            return fail_unknown(reading, parts[i].label, "Groups, Limits or DefaultLimit");
        value_of(reading, &scope, &parts[i], &v);
        if (share_parts[which].read(reading, &v) < 0)
            return -1;
    }
    return 0;
}

int shares_read(struct tree *ad, struct shares *ret, struct err *err)
{
    struct err dropped = {0};
    struct reading reading = {.ad = ad, .err = err ? err : &dropped, .ret = ret};
    int result;

    *ret = (struct shares){.default_limit = SHARES_NO_LIMIT};
    if (!ad)
        return 0;
    if (!tree_is_ad(ad))
        return err_set(reading.err, "expected an ad");
    reading.symbols = ad->symbols;
    arena_init(&reading.arena);
    result = read_all(&reading);
    arena_done(&reading.arena);
    if (result < 0)
        shares_done(ret);
    return result;
}

void shares_done(struct shares *shares)
{
    for (uint32_t i = 0; i < shares->group_count; i++) {
        for (uint32_t k = 0; k < shares->groups[i].user_count; k++)
            free(shares->groups[i].users[k]);
        free(shares->groups[i].users);
        free(shares->groups[i].name);
    }
    for (uint32_t i = 0; i < shares->limit_count; i++)
        free(shares->limits[i].name);
    free(shares->groups);
    free(shares->limits);
    *shares = (struct shares){.default_limit = SHARES_NO_LIMIT};
}
