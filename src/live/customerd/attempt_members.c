/* attempt_members.c: the members of a gang that run a try of a job together. */
#include "live/customerd/attempt_members.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 128

void attempt_members_done(struct attempt_members *members)
{
    for (uint32_t i = 0; i < members->count; i++)
        free(members->items[i].name);
    free(members->items);
    *members = (struct attempt_members){.count = 0};
}

static void members_room(struct attempt_members *members, uint32_t count)
{
    members->count = count < ATTEMPT_MEMBERS_MAX ? count : ATTEMPT_MEMBERS_MAX;
    members->items = mem_alloc(members->count * sizeof *members->items);
    memset(members->items, 0, members->count * sizeof *members->items);
}

/* A machine's name for itself, as it may be shown. */
static char *name_keep(const char *text, size_t len)
{
    len = len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return NULL;
    return len ? mem_dup(text, len) : NULL;
}

void attempt_members_fill(struct attempt_members *members, const struct member_view *from, uint32_t count)
{
    if (members->count || count < 2)
        return;
    members_room(members, count);
    for (uint32_t i = 0; i < members->count; i++) {
        members->items[i].who = from[i].who;
        members->items[i].name = name_keep(from[i].name, from[i].name_len);
    }
}

struct attempt_member *attempt_members_find(const struct attempt_members *members, int64_t number, agent who)
{
    return number > 0 && number < members->count && members->items[number].who == who ? &members->items[number] : NULL;
}

uint32_t attempt_members_due(const struct attempt_members *members)
{
    uint32_t due = 0;

    for (uint32_t i = 1; i < members->count; i++)
        due += !members->items[i].finished;
    return due;
}

/* ---------------------------------------------------------------------------------------------------------------- ads */

static struct tree *member_ad(const struct maker *around, const struct attempt_member *one, uint32_t number, bool row)
{
    struct maker maker;

    maker_init(&maker, around->build.symbols);
    maker_integer(&maker, "Member", number);
    if (row)
        maker_word(&maker, "Agent", one->who);
    maker_text(&maker, "Provider", one->name);
    if (row && one->finished)
        maker_flag(&maker, "Finished", true);
    if (one->ended)
        maker_integer(&maker, "Status", one->status);
    if (one->cpu > 0)
        maker_real(&maker, "CpuUsed", one->cpu);
    if (one->memory > 0)
        maker_integer(&maker, "MemoryUsed", one->memory);
    return maker_seal(&maker);
}

void attempt_members_put(const struct attempt_members *members, struct maker *maker, const char *name, bool row)
{
    struct tree *ads[ATTEMPT_MEMBERS_MAX];

    if (!members->count)
        return;
    for (uint32_t i = 0; i < members->count; i++)
        ads[i] = member_ad(maker, &members->items[i], i, row);
    maker_list(maker, name, ads, members->count);
    for (uint32_t i = 0; i < members->count; i++)
        tree_unref(ads[i]);
}

static void member_load(struct attempt_member *one, const struct tree *ad)
{
    const char *text;
    size_t len;

    ad_word(ad, "Agent", &one->who);
    if (ad_string(ad, "Provider", &text, &len))
        one->name = name_keep(text, len);
    ad_flag(ad, "Finished", &one->finished);
    one->ended = ad_integer(ad, "Status", &one->status);
    ad_number(ad, "CpuUsed", &one->cpu);
    ad_integer(ad, "MemoryUsed", &one->memory);
}

void attempt_members_load(struct attempt_members *members, const struct tree *ad, const char *name)
{
    const struct expr *list = ad_find(ad, name);

    if (!list || list->kind != EXPR_LIST || !list->u.run.count || members->count)
        return;
    members_room(members, list->u.run.count);
    for (uint32_t i = 0; i < members->count; i++) {
        struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);

        if (tree_is_ad(one))
            member_load(&members->items[i], one);
        tree_unref(one);
    }
}
