/* groups.c: groups of users with quotas. */
#include "pool/matchmaker/groups.h"

#include "lang/base/mem.h"
#include "pool/matchmaker/accountant.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/weight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* ----------------------------------------------------------------------------------------------------------- the tree */

static uint32_t group_add(struct groups *groups, const char *name, uint32_t parent, uint32_t row, bool leaf,
                          bool surplus)
{
    groups->items[groups->count] = (struct group){.name = mem_dup(name, strlen(name)),
                                                  .parent = parent,
                                                  .row = row,
                                                  .leaf = leaf,
                                                  .surplus = surplus,
                                                  .units = true};
    for (int i = 0; i < SHARE_KINDS; i++)
        groups->items[groups->count].kinds[i] = INFINITY;
    return groups->count++;
}

/* The group of that name that was made before, not the node of its own users; 0 when there is none. */
static uint32_t group_find(const struct groups *groups, const char *name, size_t len)
{
    for (uint32_t i = 1; i < groups->count; i++)
        if (groups->items[i].row != NO_ROW && !groups->items[i].itself && strlen(groups->items[i].name) == len &&
            !memcmp(groups->items[i].name, name, len))
            return i;
    return 0;
}

static bool row_has_below(const struct shares *shares, uint32_t row)
{
    size_t len = strlen(shares->groups[row].name);

    for (uint32_t i = row + 1; i < shares->group_count; i++)
        if (!strncmp(shares->groups[i].name, shares->groups[row].name, len) && shares->groups[i].name[len] == '.')
            return true;
    return false;
}

static void row_add(struct groups *groups, uint32_t row)
{
    const struct group_row *at = &groups->shares.groups[row];
    const char *dot = strrchr(at->name, '.');
    uint32_t parent = dot ? group_find(groups, at->name, (size_t)(dot - at->name)) : 0, number;
    bool below = row_has_below(&groups->shares, row);

    number = group_add(groups, at->name, parent, row, !below, at->surplus);
    groups->items[number].units = at->says_units;
    memcpy(groups->items[number].kinds, at->kinds, sizeof at->kinds);
    if (!below)
        return;
    /* the quota binds the group: its own users may have what the groups below leave of it */
    number = group_add(groups, at->name, number, row, true, true);
    groups->items[number].itself = true;
    groups->items[number].units = at->says_units;
}

static void tree_make(struct groups *groups)
{
    groups->items = mem_alloc((2 * (size_t)groups->shares.group_count + 2) * sizeof *groups->items);
    group_add(groups, "", 0, NO_ROW, groups->shares.group_count == 0, true);
    if (groups->shares.group_count)
        group_add(groups, "<none>", 0, NO_ROW, true, true);
    for (uint32_t i = 0; i < groups->shares.group_count; i++)
        row_add(groups, i);
}

static void tree_free(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        free(groups->items[i].name);
    free(groups->items);
    groups->items = NULL;
    groups->count = 0;
    shares_done(&groups->shares);
}

void groups_init(struct groups *groups, struct engine *engine)
{
    *groups = (struct groups){.engine = engine, .shares = {.default_limit = SHARES_NO_LIMIT}};
    tree_make(groups);
}

void groups_done(struct groups *groups)
{
    if (groups)
        tree_free(groups);
}

void groups_set(struct groups *groups, struct shares *shares)
{
    uint32_t *parents;

    tree_free(groups);
    groups->shares = *shares;
    *shares = (struct shares){.default_limit = SHARES_NO_LIMIT};
    tree_make(groups);
    parents = mem_alloc(groups->count * sizeof *parents);
    for (uint32_t i = 0; i < groups->count; i++)
        parents[i] = groups->items[i].parent;
    engine_set_shares(groups->engine, parents, groups->count);
    free(parents);
    for (uint32_t i = 0; i < GROUPS_SHARES_MAX; i++) /* roots that waited there may have nothing to wait for now */
        engine_open_gate(groups->engine, i);
    groups->pool = -1;
}

/* ------------------------------------------------------------------------------------------------------------- quotas */

static double part_used(int64_t used, double quota)
{
    return quota > 0 ? weight_units(used) / quota : (double)INFINITY;
}

/* The part that is used of the quota, of the kind of which that is the largest. */
static double group_part(const struct group *group)
{
    double part = group->units ? part_used(group->used, group->quota) : 0;

    for (int i = 0; i < SHARE_KINDS; i++)
        if (isfinite(group->kinds[i]))
            part = fmax(part, part_used(group->kinds_used[i], group->kinds[i]));
    return part;
}

static bool group_is_full(const struct group *group)
{
    bool full = group->units && weight_units(group->used) >= group->quota;

    for (int i = 0; i < SHARE_KINDS; i++)
        full = full || weight_units(group->kinds_used[i]) >= group->kinds[i];
    return full;
}

const char *group_fullest(const struct group *group, double *ret_used, double *ret_most)
{
    double part = group->units ? part_used(group->used, group->quota) : -1;
    const char *kind = NULL;

    *ret_used = weight_units(group->used);
    *ret_most = group->quota;
    for (int i = 0; i < SHARE_KINDS; i++)
        if (isfinite(group->kinds[i]) && part_used(group->kinds_used[i], group->kinds[i]) > part) {
            part = part_used(group->kinds_used[i], group->kinds[i]);
            kind = share_kinds[i];
            *ret_used = weight_units(group->kinds_used[i]);
            *ret_most = group->kinds[i];
        }
    return kind;
}

static void group_tell(struct groups *groups, uint32_t number)
{
    const struct group *group = &groups->items[number];

    if (number) /* share 0 is all */
        engine_set_share_key(groups->engine, number, group_is_full(group) && !MUTANT(QUOTA_ORDER),
                             MUTANT(QUOTA_ORDER) ? 0 : group_part(group));
}

/* In the order of numbers, so that the group above is known; what the groups below do not get is for its own users. */
static void quotas_set(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group *group = &groups->items[i];
        double above = groups->items[group->parent].quota;

        if (i == 0)
            group->quota = groups->pool;
        else if (group->row == NO_ROW || group->itself)
            group->quota = above;
        else {
            if (!group->units) { /* it takes nothing from what others have */
                group->quota = above;
                continue;
            }
            group->quota = groups->shares.groups[group->row].quota;
            group->quota = fmin(group->quota < 1 ? group->quota * above : group->quota, above);
        }
    }
    for (uint32_t i = 1; i < groups->count; i++) {
        struct group *rest = &groups->items[i];

        for (uint32_t k = i + 1; k < groups->count && (rest->row == NO_ROW || rest->itself); k++)
            if (groups->items[k].parent == rest->parent && groups->items[k].units)
                rest->quota -= groups->items[k].quota;
        rest->quota = fmax(rest->quota, 0);
    }
}

void groups_resize(struct groups *groups, int64_t weight)
{
    double pool = weight_units(weight);

    if (groups->count == 1 || pool == groups->pool)
        return;
    groups->pool = pool;
    quotas_set(groups);
    for (uint32_t i = 1; i < groups->count; i++) {
        group_tell(groups, i);
        if (!group_is_full(&groups->items[i]))
            engine_open_gate(groups->engine, i);
    }
}

void groups_use(struct groups *groups, uint32_t leaf, const struct group_use *use, int sign)
{
    if (groups->count == 1)
        return;
    for (uint32_t i = leaf;; i = groups->items[i].parent) {
        struct group *group = &groups->items[i];
        bool was_full = group_is_full(group);

        group->used += sign * use->weight;
        for (int k = 0; k < SHARE_KINDS; k++)
            group->kinds_used[k] += sign * use->kinds[k];
        group_tell(groups, i);
        if (was_full && !group_is_full(group))
            engine_open_gate(groups->engine, i);
        if (i == 0)
            break;
    }
}

uint32_t groups_closed(const struct groups *groups, uint32_t leaf)
{
    if (MUTANT(QUOTA_IGNORED))
        return ENGINE_OPEN;
    for (uint32_t i = leaf; i; i = groups->items[i].parent)
        if (!groups->items[i].surplus && group_is_full(&groups->items[i]))
            return i;
    return ENGINE_OPEN;
}

/* ----------------------------------------------------------------------------------------------------------- accounts */

/* May the owner use the group? A group that does not say who may use it is open to those who may use the one above. */
static bool group_admits(const struct groups *groups, uint32_t number, const char *owner)
{
    const struct group_row *row;

    for (; number; number = groups->items[number].parent) {
        row = &groups->shares.groups[groups->items[number].row];
        if (!row->says_users)
            continue;
        for (uint32_t i = 0; i < row->user_count; i++) {
            size_t len = strlen(row->users[i]);

            /* the users named, and their delegates, who are charged to them */
            if (!strncmp(row->users[i], owner, len) && (!owner[len] || account_len(owner, strlen(owner)) == len))
                return true;
        }
        return false;
    }
    return true;
}

enum groups_reason groups_account(const struct groups *groups, const char *owner, const char *group, struct text *ret)
{
    size_t owner_len = account_len(owner, strlen(owner)), group_len = strlen(group);
    uint32_t number = group_len ? group_find(groups, group, group_len) : 0;
    char name[2 * (TEXT_MAX + 1)];

    text_set(ret, owner, owner_len);
    if (!group_len)
        return GROUPS_OK;
    if (!number)
        return GROUPS_UNKNOWN;
    if (!group_admits(groups, number, owner))
        return GROUPS_REFUSED;
    if (group_len + 1 + owner_len > TEXT_MAX)
        return GROUPS_LONG;
    memcpy(name, group, group_len);
    name[group_len] = GROUPS_MARK;
    memcpy(name + group_len + 1, owner, owner_len);
    text_set(ret, name, group_len + 1 + owner_len);
    return GROUPS_OK;
}

uint32_t groups_share(const struct groups *groups, const char *account)
{
    const char *mark = strchr(account, GROUPS_MARK);
    uint32_t number = mark ? group_find(groups, account, (size_t)(mark - account)) : 0;

    if (groups->count == 1)
        return 0;
    if (!number)
        return 1;
    return groups->items[number].leaf ? number : number + 1; /* the node of its own users comes right behind it */
}

bool groups_valid(const struct groups *groups, const char **ret_why)
{
    for (uint32_t i = 0; i < groups->count && groups->count > 1; i++) {
        int64_t below = 0;

        for (uint32_t k = i + 1; k < groups->count; k++)
            if (groups->items[k].parent == i)
                below += groups->items[k].used;
        if (groups->items[i].used < 0 || (!groups->items[i].leaf && below != groups->items[i].used)) {
            *ret_why = "what groups use does not add up";
            return false;
        }
    }
    return true;
}
