/* pool_list.c: the setting Pools is read: every field is known and of its sort, and no two pools are called the same. */
#include "live/config/pool_list.h"

#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "live/config/address.h"
#include "sys/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATH_BYTES_MAX 4096
#define SHOWN_MAX 60 /* bytes of a wrong value that are shown */

/* A field where it stands. */
struct place {
    const struct tree *tree;
    const struct expr *value;
};

/* Copies a text of one line; NULL when the expression is not one. */
static char *text_take(const struct tree *tree, const struct expr *e, size_t max)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(tree, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return NULL;
    return len && len <= max ? mem_dup(text, len) : NULL;
}

static bool read_name(struct place place, struct pool_entry *ret)
{
    ret->name = text_take(place.tree, place.value, AGENT_NAME_MAX);
    return ret->name && agent_name_is_good(ret->name, strlen(ret->name));
}

static bool read_token(struct place place, struct pool_entry *ret)
{
    ret->token = text_take(place.tree, place.value, PATH_BYTES_MAX);
    return ret->token != NULL;
}

static bool read_ca(struct place place, struct pool_entry *ret)
{
    ret->ca = text_take(place.tree, place.value, PATH_BYTES_MAX);
    return ret->ca != NULL;
}

static bool url_take(const struct tree *tree, const struct expr *e, struct pool_entry *ret)
{
    char *text = ret->matchmaker_count < POOL_URLS_MAX ? text_take(tree, e, 1000) : NULL;
    struct url url;

    if (!text)
        return false;
    ret->matchmakers[ret->matchmaker_count++] = text;
    return !strncmp(text, "unix:/", 6) || url_read(text, strlen(text), &url, NULL) == 0;
}

static bool read_matchmaker(struct place place, struct pool_entry *ret)
{
    const struct expr *parts;

    if (place.value->kind != EXPR_LIST)
        return url_take(place.tree, place.value, ret);
    parts = tree_parts(place.tree, place.value);
    for (uint32_t i = 0; i < place.value->u.run.count; i++)
        if (!url_take(place.tree, &parts[i], ret))
            return false;
    return ret->matchmaker_count > 0;
}

static bool read_share(struct place place, struct pool_entry *ret)
{
    ret->share = place.value->kind == EXPR_INTEGER ? (double)place.value->u.integer
                 : place.value->kind == EXPR_REAL  ? place.value->u.real
                                                   : -1;
    return ret->share >= 0 && ret->share <= 1;
}

/* Reads Access, which may be any expression: it is evaluated for each request. */
static bool read_access(struct place place, struct pool_entry *ret)
{
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

static const struct pool_field {
    const char *name, *expected;
    bool (*read)(struct place place, struct pool_entry *ret);
} pool_fields[] = {
    {"Name", "a name of up to 63 letters, digits, . _ and -", read_name},
    {"Token", "the name of a file", read_token},
    {"Matchmaker", "a URL (https://HOST[:PORT], unix:/PATH) or a list of up to 8", read_matchmaker},
    {"CA", "the name of a file", read_ca},
    {"Share", "a number from 0 to 1", read_share},
    {"Access", "an expression", read_access},
};

#define FIELD_COUNT (sizeof pool_fields / sizeof *pool_fields)

static int fail_unknown(const char *name, size_t len, struct err *err)
{
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        nearest_try(&nearest, pool_fields[i].name);
    if (nearest.name)
        return err_set(err, "there is no field '%.*s'; did you mean '%s'?", (int)(len < SHOWN_MAX ? len : SHOWN_MAX),
                       name, nearest.name);
    return err_set(err, "there is no field '%.*s'; there are Name, Token, Matchmaker, CA, Share and Access",
                   (int)(len < SHOWN_MAX ? len : SHOWN_MAX), name);
}

static int field_read(struct place place, const char *name, size_t len, struct pool_entry *ret, struct err *err)
{
    const struct pool_field *field = pool_fields;
    struct buf got;

    while (field < pool_fields + FIELD_COUNT &&
           (strlen(field->name) != len || strncasecmp(field->name, name, len) != 0))
        field++;
    if (field == pool_fields + FIELD_COUNT)
        return fail_unknown(name, len, err);
    if (field->read(place, ret))
        return 0;
    buf_init(&got);
    print_expr(&got, place.tree, place.value, PRINT_PLAIN);
    err_set(err, "%s: expected %s, got %.*s", field->name, field->expected,
            (int)(got.len < SHOWN_MAX ? got.len : SHOWN_MAX), buf_string(&got));
    buf_done(&got);
    return -1;
}

static int entry_read(struct pool_entry *ret, const struct tree *tree, const struct expr *ad, struct err *err)
{
    const struct expr *parts;

    if (ad->kind != EXPR_AD)
        return err_set(err, "expected an ad, as [ Name = \"world\"; Token = \"world.token\" ]");
    parts = tree_parts(tree, ad);
    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(tree->symbols, parts[i].label, &len);

        if (field_read((struct place){tree, &parts[i]}, name, len, ret, err) < 0)
            return -1;
    }
    if (!ret->name)
        return err_set(err, "Name: every pool has one");
    if (!ret->token && (ret->matchmaker_count || ret->ca))
        return err_set(err, "%s: a pool without a Token is the agent's own, and is found as ever",
                       ret->matchmaker_count ? "Matchmaker" : "CA");
    return 0;
}

/* Checks a new entry: no two pools have one name, and one at most has no token. */
static int entry_check(const struct pool_list *list, const struct pool_entry *entry, struct err *err)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!strcmp(list->items[i].name, entry->name))
            return err_set(err, "Name: another pool is called so");
        if (!list->items[i].token && !entry->token)
            return err_set(err, "Token: there is none, and %s has none either: one pool at most is the agent's own",
                           list->items[i].name);
    }
    return 0;
}

int pool_list_read(struct pool_list *ret, const struct tree *tree, const struct expr *list, struct err *err)
{
    const struct expr *parts;

    *ret = (struct pool_list){.count = 0};
    if (list->kind == EXPR_STRING && !list->u.run.count)
        return 0;
    if (list->kind != EXPR_LIST || list->u.run.count > POOL_LIST_MAX)
        return err_set(err, "expected a list of up to %d ads, as { [ Name = \"world\"; Token = \"world.token\" ] }",
                       POOL_LIST_MAX);
    parts = tree_parts(tree, list);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct pool_entry *entry = &ret->items[i];
        int failed = entry_read(entry, tree, &parts[i], err) < 0 || entry_check(ret, entry, err) < 0;

        ret->count++;
        if (failed) {
            if (entry->name)
                err_context(err, "%s", entry->name);
            else
                err_context(err, "pool %u", i + 1);
            pool_list_done(ret);
            return -1;
        }
    }
    return 0;
}

int pool_list_parse(struct pool_list *ret, struct symbols *symbols, const char *text, struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *tree;
    int failed = 0;

    *ret = (struct pool_list){.count = 0};
    if (!*text)
        return 0;
    build_init(&build, symbols, &dialect_classic);
    tree = parse_expr(&build, &options, text, strlen(text), err);
    failed = tree ? pool_list_read(ret, tree, tree_root(tree), err) : -1;
    tree_unref(tree);
    build_done(&build);
    return failed;
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
