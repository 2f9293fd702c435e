/* issuer_map.c: an issuer's expressions over the claims of a token. They are parsed anew for each token, in the token's own table of names: a token is mapped
 * once, and nothing of it stays. */
#include "live/auth/issuer_map.h"

#include "lang/text/parse.h"
#include "lang/text/words.h"

#include <string.h>

/* The name of a claim as an identifier; false when it cannot be one. */
static bool name_take(const char *name, size_t len, struct buf *ret)
{
    buf_reset(ret);
    if (len && *name >= '0' && *name <= '9')
        buf_addc(ret, '_');
    for (size_t i = 0; i < len; i++) {
        char c = (char)(name[i] | 0x20);

        buf_addc(ret, (c >= 'a' && c <= 'z') || (name[i] >= '0' && name[i] <= '9') ? name[i] : '_');
    }
    return word_is_plain(ret->text, ret->len) && word_may_name(ret->text, ret->len);
}

int issuer_map_init(struct issuer_map *map, const struct jwt *jwt, int64_t now, struct err *why)
{
    const struct tree *claims = jwt->claims;
    const struct expr *root = tree_root(claims), *parts = tree_parts(claims, root);
    uint32_t count = 0, where;
    struct build build;
    struct buf name;

    *map = (struct issuer_map){.env = {.now = now}};
    arena_init(&map->arena);
    buf_init(&name);
    build_init(&build, jwt->symbols, &dialect_classic);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t len;
        const char *text = symbols_text(jwt->symbols, parts[i].label, &len);

        if (!name_take(text, len, &name))
            continue;
        build_copy(&build, claims, &parts[i]);
        build_attribute(&build, symbols_take(jwt->symbols, name.text, name.len));
        count++;
    }
    if (build_ad(&build, count, &where) == 0)
        map->ad = build_seal(&build);
    build_done(&build);
    buf_done(&name);
    if (!map->ad)
        return err_set(why, "two claims have one name for expressions");
    scope_init(&map->scope, map->ad, NULL);
    return 0;
}

void issuer_map_done(struct issuer_map *map)
{
    tree_unref(map->ad);
    arena_done(&map->arena);
}

/* Evaluates; the value lives until the map is done. The tree of the expression is unrefed by the caller. */
static struct tree *map_value(struct issuer_map *map, const char *expression, struct value *ret, struct err *why)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *tree;

    build_init(&build, map->ad->symbols, &dialect_classic);
    tree = parse_expr(&build, &options, expression, strlen(expression), why);
    build_done(&build);
    if (!tree)
        return NULL;
    eval_init(&map->eval, &map->env, &map->arena);
    eval_tree(&map->eval, &map->scope, tree, ret);
    return tree;
}

static enum mapped value_text(const struct value *value, const char *field, char *ret, size_t room, struct err *why)
{
    if (value->type == VALUE_UNDEFINED)
        return MAPPED_NOTHING;
    if (value->type != VALUE_STRING)
        return err_set(why, "%s: expected a text, the expression gives %s%s", field,
                       value->type == VALUE_ERROR ? "" : "a value of the type ",
                       value_type_name((enum value_type)value->type)),
               MAPPED_BADLY;
    if (!value->len || value->len >= room || memchr(value->u.string, 0, value->len))
        return err_set(why, "%s: expected a text of 1 to %zu bytes", field, room - 1), MAPPED_BADLY;
    memcpy(ret, value->u.string, value->len);
    ret[value->len] = '\0';
    return MAPPED;
}

enum mapped issuer_map_text(struct issuer_map *map, const char *field, const char *expression, char *ret, size_t room,
                            struct err *why)
{
    enum mapped result;
    struct value value;
    struct tree *tree;

    if (!expression)
        return MAPPED_NOTHING;
    tree = map_value(map, expression, &value, why);
    result = tree ? value_text(&value, field, ret, room, why) : MAPPED_BADLY;
    tree_unref(tree);
    return result;
}

/* Adds the elements of a list as words. */
static enum mapped list_words(struct issuer_map *map, const struct value *list, struct buf *out, struct err *why)
{
    for (uint32_t i = 0; i < list->len; i++) {
        struct value element;

        eval_element(&map->eval, list, i, &element);
        if (element.type != VALUE_STRING)
            return err_set(why, "Scopes: expected a list of texts"), MAPPED_BADLY;
        if (out->len)
            buf_addc(out, ' ');
        buf_add(out, element.u.string, element.len);
    }
    return MAPPED;
}

enum mapped issuer_map_scopes(struct issuer_map *map, const char *expression, scopes *ret, struct err *why)
{
    enum mapped result;
    struct value value;
    struct tree *tree;
    struct buf words;

    if (!expression)
        return MAPPED_NOTHING;
    tree = map_value(map, expression, &value, why);
    if (!tree)
        return MAPPED_BADLY;
    buf_init(&words);
    if (value.type == VALUE_UNDEFINED) {
        result = MAPPED_NOTHING;
    } else if (value.type == VALUE_STRING) {
        buf_add(&words, value.u.string, value.len);
        result = MAPPED;
    } else if (value.type == VALUE_LIST) {
        result = list_words(map, &value, &words, why);
    } else {
        err_set(why, "Scopes: expected a text or a list of texts, the expression gives %s",
                value_type_name((enum value_type)value.type));
        result = MAPPED_BADLY;
    }
    *ret = SCOPE_NONE; /* what is empty grants nothing */
    if (result == MAPPED && words.len && !scopes_read(words.text, words.len, ret)) {
        err_set(why, "Scopes: expected names of scopes, each once");
        result = MAPPED_BADLY;
    }
    buf_done(&words);
    tree_unref(tree);
    return result;
}
