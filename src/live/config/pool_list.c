/* pool_list.c: the setting Pools is read: every field is known and of its sort, and no two pools are called the same. */
#include "live/config/pool_list.h"

#include "lang/text/build.h"
#include "live/config/ad_list.h"
#include "live/config/address.h"
#include "sys/names.h"

#include <stdlib.h>
#include <string.h>

#define URL_BYTES_MAX 1000

static bool read_name(struct ad_place place, void *entry)
{
    struct pool_entry *ret = entry;

    return ad_place_text(place, AGENT_NAME_MAX, &ret->name) && agent_name_is_good(ret->name, strlen(ret->name));
}

static bool read_token(struct ad_place place, void *entry)
{
    return ad_place_text(place, AD_LIST_PATH_MAX, &((struct pool_entry *)entry)->token);
}

static bool read_ca(struct ad_place place, void *entry)
{
    return ad_place_text(place, AD_LIST_PATH_MAX, &((struct pool_entry *)entry)->ca);
}

static bool url_take(struct ad_place place, struct pool_entry *ret)
{
    char *text = NULL;
    struct url url;

    if (ret->matchmaker_count == POOL_URLS_MAX || !ad_place_text(place, URL_BYTES_MAX, &text))
        return false;
    ret->matchmakers[ret->matchmaker_count++] = text;
    return !strncmp(text, "unix:/", 6) || url_read(text, strlen(text), &url, NULL) == 0;
}

static bool read_matchmaker(struct ad_place place, void *entry)
{
    struct pool_entry *ret = entry;
    const struct expr *parts;

    if (place.value->kind != EXPR_LIST)
        return url_take(place, ret);
    parts = tree_parts(place.tree, place.value);
    for (uint32_t i = 0; i < place.value->u.run.count; i++)
        if (!url_take((struct ad_place){place.tree, &parts[i]}, ret))
            return false;
    return ret->matchmaker_count > 0;
}

static bool read_share(struct ad_place place, void *entry)
{
    struct pool_entry *ret = entry;

    ret->share = place.value->kind == EXPR_INTEGER ? (double)place.value->u.integer
                 : place.value->kind == EXPR_REAL  ? place.value->u.real
                                                   : -1;
    return ret->share >= 0 && ret->share <= 1;
}

/* Reads Access, which may be any expression: it is evaluated for each request. */
static bool read_access(struct ad_place place, void *entry)
{
    struct pool_entry *ret = entry;
    struct build build;
    uint32_t where;

    build_init(&build, place.tree->symbols, place.tree->dialect);
    build_copy(&build, place.tree, place.value);
    build_attribute(&build, symbols_take(place.tree->symbols, "Constraint", 10));
    if (build_ad(&build, 1, &where) == 0)
        ret->access = build_seal(&build);
    build_done(&build);
    return ret->access != NULL;
}

static const struct ad_field pool_fields[] = {
    {"Name", "a name of up to 63 letters, digits, . _ and -", read_name},
    {"Token", "the name of a file", read_token},
    {"Matchmaker", "a URL (https://HOST[:PORT], unix:/PATH) or a list of up to 8", read_matchmaker},
    {"CA", "the name of a file", read_ca},
    {"Share", "a number from 0 to 1", read_share},
    {"Access", "an expression", read_access},
};

static void *entry_add(void *list)
{
    struct pool_list *pools = list;

    pools->items[pools->count] = (struct pool_entry){.share = 0};
    return &pools->items[pools->count++];
}

/* No two pools have one name, and one at most has no token. */
static int entry_check(void *list, struct err *err)
{
    const struct pool_list *pools = list;
    const struct pool_entry *entry = &pools->items[pools->count - 1];

    if (!entry->name)
        return err_set(err, "Name: every pool has one");
    if (!entry->token && (entry->matchmaker_count || entry->ca))
        return err_set(err, "%s: a pool without a Token is the agent's own, and is found as ever",
                       entry->matchmaker_count ? "Matchmaker" : "CA");
    for (const struct pool_entry *other = pools->items; other < entry; other++) {
        if (!strcmp(other->name, entry->name))
            return err_set(err, "Name: another pool is called so");
        if (!other->token && !entry->token)
            return err_set(err, "Token: there is none, and %s has none either: one pool at most is the agent's own",
                           other->name);
    }
    return 0;
}

static const char *entry_name(const void *entry)
{
    return ((const struct pool_entry *)entry)->name;
}

static void list_done(void *list)
{
    pool_list_done(list);
}

static const struct ad_list_kind pools_kind = {
    .what = "pool",
    .example = "[ Name = \"world\"; Token = \"world.token\" ]",
    .max = POOL_LIST_MAX,
    .fields = pool_fields,
    .field_count = sizeof pool_fields / sizeof *pool_fields,
    .add = entry_add,
    .check = entry_check,
    .name = entry_name,
    .done = list_done,
};

int pool_list_read(struct pool_list *ret, const struct tree *tree, const struct expr *list, struct err *err)
{
    *ret = (struct pool_list){.count = 0};
    return ad_list_read(&pools_kind, ret, tree, list, err);
}

int pool_list_parse(struct pool_list *ret, struct symbols *symbols, const char *text, struct err *err)
{
    *ret = (struct pool_list){.count = 0};
    return ad_list_parse(&pools_kind, ret, symbols, text, err);
}

void pool_list_done(struct pool_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct pool_entry *entry = &list->items[i];

        free(entry->name);
        free(entry->token);
        free(entry->ca);
        for (size_t k = 0; k < entry->matchmaker_count; k++)
            free(entry->matchmakers[k]);
        tree_unref(entry->access);
    }
    *list = (struct pool_list){.count = 0};
}

int pool_list_find(const struct pool_list *list, const char *name, size_t len)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strlen(list->items[i].name) == len && !memcmp(list->items[i].name, name, len))
            return (int)i;
    return -1;
}
