/* ad_list.c: a setting that is a list of ads is read: each field of each ad by the table of its kind. */
#include "live/config/ad_list.h"

#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <string.h>
#include <strings.h>

#define SHOWN_MAX 60 /* bytes of a wrong value that are shown */

bool ad_place_text(struct ad_place place, size_t max, char **ret)
{
    const char *text = place.value->kind == EXPR_STRING ? tree_string(place.tree, place.value) : "";
    size_t len = place.value->kind == EXPR_STRING ? place.value->u.run.count : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    if (!len || len > max)
        return false;
    *ret = mem_dup(text, len);
    return true;
}

bool ad_place_flag(struct ad_place place, bool *ret)
{
    *ret = place.value->kind == EXPR_BOOLEAN && place.value->small;
    return place.value->kind == EXPR_BOOLEAN;
}

static int fail_unknown(const struct ad_list_kind *kind, const char *name, size_t len, struct err *err)
{
    int shown = (int)(len < SHOWN_MAX ? len : SHOWN_MAX);
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; i < kind->field_count; i++)
        nearest_try(&nearest, kind->fields[i].name);
    return nearest.name ? err_set(err, "there is no field '%.*s'; did you mean '%s'?", shown, name, nearest.name)
                        : err_set(err, "there is no field '%.*s'", shown, name);
}

static int field_read(const struct ad_list_kind *kind, struct ad_place place, const char *name, size_t len, void *entry,
                      struct err *err)
{
    const struct ad_field *field = kind->fields, *end = kind->fields + kind->field_count;
    struct buf got;

    while (field < end && (strlen(field->name) != len || strncasecmp(field->name, name, len) != 0))
        field++;
    if (field == end)
        return fail_unknown(kind, name, len, err);
    if (field->read(place, entry))
        return 0;
    buf_init(&got);
    print_expr(&got, place.tree, place.value, PRINT_PLAIN);
    err_set(err, "%s: expected %s, got %.*s", field->name, field->expected,
            (int)(got.len < SHOWN_MAX ? got.len : SHOWN_MAX), buf_string(&got));
    buf_done(&got);
    return -1;
}

static int entry_read(const struct ad_list_kind *kind, void *entry, const struct tree *tree, const struct expr *ad,
                      struct err *err)
{
    const struct expr *parts;

    if (ad->kind != EXPR_AD)
        return err_set(err, "expected an ad, as %s", kind->example);
    parts = tree_parts(tree, ad);
    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(tree->symbols, parts[i].label, &len);

        if (field_read(kind, (struct ad_place){tree, &parts[i]}, name, len, entry, err) < 0)
            return -1;
    }
    return 0;
}

static int entries_read(const struct ad_list_kind *kind, void *list, const struct tree *tree, const struct expr *e,
                        struct err *err)
{
    const struct expr *parts;

    if (e->kind == EXPR_STRING && !e->u.run.count)
        return 0;
    if (e->kind != EXPR_LIST || e->u.run.count > kind->max)
        return err_set(err, "expected a list of up to %u ads, as { %s }", kind->max, kind->example);
    parts = tree_parts(tree, e);
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        void *entry = kind->add(list);

        if (entry_read(kind, entry, tree, &parts[i], err) == 0 && kind->check(list, err) == 0)
            continue;
        if (kind->name(entry))
            err_context(err, "%s", kind->name(entry));
        else
            err_context(err, "%s %u", kind->what, i + 1);
        return -1;
    }
    return 0;
}

int ad_list_read(const struct ad_list_kind *kind, void *list, const struct tree *tree, const struct expr *e,
                 struct err *err)
{
    if (entries_read(kind, list, tree, e, err) == 0)
        return 0;
    kind->done(list);
    return -1;
}

int ad_list_parse(const struct ad_list_kind *kind, void *list, struct symbols *symbols, const char *text,
                  struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *tree;
    int failed;

    if (!*text)
        return 0;
    build_init(&build, symbols, &dialect_classic);
    tree = parse_expr(&build, &options, text, strlen(text), err);
    failed = tree ? ad_list_read(kind, list, tree, tree_root(tree), err) : -1;
    tree_unref(tree);
    build_done(&build);
    return failed;
}
