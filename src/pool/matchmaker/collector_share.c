/* collector_share.c: what the ads of a matchmaker count for, and which accounts they are charged to. */
#include "pool/matchmaker/collector_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/weight.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- weight */

void entry_unweigh(struct collector *collector, uint32_t number)
{
    struct entry *entry = &collector->entries[number];

    if (entry->unweighed)
        return;
    entry->unweighed = true;
    ARRAY_ROOM(collector->unweighed, collector->unweighed_count, collector->unweighed_room, 64);
    collector->unweighed[collector->unweighed_count++] = number;
}

/* Is this a second ad beside a claim? The claim is counted itself. */
static bool is_second(const struct tree *ad)
{
    return tree_find(ad, tree_root(ad), NAME_PREEMPTS) != NULL;
}

int64_t collector_weigh(struct collector *collector, const struct role_env *env)
{
    struct env at = eval_env(env);

    while (collector->unweighed_count) {
        struct entry *entry = &collector->entries[collector->unweighed[--collector->unweighed_count]];
        int64_t before = entry->weight;

        entry->unweighed = false;
        entry->weight = entry->state == ENTRY_LIVE && !entry->request && entry->left && !is_second(entry->left)
                            ? weight_of(&at, env->scratch, collector->names[COLLECTOR_WEIGHT], entry->left, NULL)
                            : 0;
        collector->weight += entry->weight - before;
    }
    return collector->weight;
}

int64_t collector_weight(const struct collector *collector, const struct role_env *env, const struct tree *offer,
                         const struct tree *root)
{
    struct env at = eval_env(env);

    return weight_of(&at, env->scratch, collector->names[COLLECTOR_WEIGHT], offer, root);
}

/* ----------------------------------------------------------------------------------------------------------- accounts */

void collector_says(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    enum collector_name name, struct text *ret)
{
    struct arena_mark mark = arena_mark(env->scratch);
    struct env at = eval_env(env);
    struct value v = value_undefined();
    struct scope scope;
    struct eval eval;

    text_set(ret, "", 0);
    if (!tree_find(ad, tree_root(ad), collector->names[name]))
        return;
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &at, env->scratch);
    eval_attribute(&eval, &scope, collector->names[name], &v);
    if (v.type == VALUE_STRING && v.len)
        text_set(ret, v.u.string, v.len);
    arena_rewind(env->scratch, mark);
}

uint32_t entry_account(const struct collector *collector, const struct text *owner, const struct text *group)
{
    struct text account = *owner;

    if (collector->groups)
        groups_account(collector->groups, owner->bytes, group->bytes, &account);
    else
        text_set(&account, owner->bytes, account_len(owner->bytes, strlen(owner->bytes)));
    return accountant_user(collector->accountant, account.bytes, strlen(account.bytes));
}

/* The account that the job which an offer runs is charged to, by its RemoteUser and RemoteGroup. */
static uint32_t entry_remote(const struct collector *collector, const struct role_env *env, const struct entry *entry)
{
    struct text owner, group;

    if (entry->remote == ACCOUNTANT_NOBODY)
        return ACCOUNTANT_NOBODY;
    collector_says(collector, env, entry->ad, COLLECTOR_REMOTE_USER, &owner);
    collector_says(collector, env, entry->ad, COLLECTOR_REMOTE_GROUP, &group);
    return entry_account(collector, &owner, &group);
}

void collector_regroup(struct collector *collector, const struct role_env *env)
{
    for (uint32_t i = 0; i < collector->count; i++) {
        struct entry *entry = &collector->entries[i];
        struct text owner, group;
        uint32_t user, remote;

        if (entry->state != ENTRY_LIVE)
            continue;
        collector_owner(collector, entry->ad, &owner);
        collector_says(collector, env, entry->ad, COLLECTOR_GROUP, &group);
        user = entry_account(collector, &owner, &group);
        remote = entry_remote(collector, env, entry);
        if (user == entry->user && remote == entry->remote)
            continue;
        entry_set_user(collector, entry, user);
        entry_set_remote(collector, entry, remote);
        collector_restore(collector, i);
    }
}

bool collector_asks(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    struct limits_asked *ret)
{
    struct text text;

    collector_says(collector, env, ad, COLLECTOR_LIMITS, &text);
    *ret = (struct limits_asked){.count = 0};
    return limits_read(text.bytes, strlen(text.bytes), ret, NULL) == 0 && ret->count;
}
