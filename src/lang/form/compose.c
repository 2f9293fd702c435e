/* compose.c: puts an ad together, attribute by attribute. */
#include "lang/form/compose.h"

#include "lang/base/array.h"
#include "lang/form/spell.h"
#include "lang/text/parse.h"
#include "lang/text/words.h"

#include <stdlib.h>

void compose_init(struct compose *compose, struct symbols *symbols, const struct dialect *dialect,
                  const struct form_limits *limits)
{
    *compose =
        (struct compose){.cells_max = limits->cells, .attributes_max = limits->attributes, .plain = limits->plain};
    if (compose->attributes_max == 0 || compose->attributes_max > TREE_PARTS_MAX)
        compose->attributes_max = TREE_PARTS_MAX;
    build_init(&compose->build, symbols, dialect);
    buf_init(&compose->name);
}

void compose_reset(struct compose *compose)
{
    while (compose->key_count) {
        symbol name = compose->keys[--compose->key_count].name;

        if (name != SYMBOL_NONE)
            symbols_drop(compose->build.symbols, name);
    }
    build_reset(&compose->build);
}

void compose_done(struct compose *compose)
{
    if (!compose)
        return;
    compose_reset(compose);
    build_done(&compose->build);
    buf_done(&compose->name);
    free(compose->keys);
}

static int key_push(struct compose *compose, uint32_t count, uint64_t where, symbol name, struct err *err)
{
    ARRAY_ROOM(compose->keys, compose->key_count, compose->key_room, 64);
    compose->keys[compose->key_count++] = (struct compose_key){where, name};
    if (count >= compose->attributes_max)
        return err_set(err, "too many attributes in one ad: the limit is %u", compose->attributes_max);
    return 0;
}

int compose_begin(struct compose *compose, uint32_t count, uint64_t where, const char *name, size_t len,
                  struct err *err)
{
    struct build *build = &compose->build;
    char shown[SPELL_SHOWN_MAX];

    if (compose->plain && len)
        return key_push(compose, count, where, symbols_take(build->symbols, name, len), err);
    buf_reset(&compose->name);
    spell_name_read(&compose->name, build->dialect, name, len);
    name = compose->name.text;
    len = compose->name.len;
    if (len == 0)
        return err_set(err, "an attribute's name cannot be empty");
    if (!word_may_name(name, len))
        return err_set(err, "'%s' is reserved: it cannot be an attribute's name", spell_show(name, len, shown));
    if (!build->dialect->quoted_names && !word_is_plain(name, len))
        return err_set(err, "'%s' is not an identifier: it cannot be an attribute's name",
                       spell_show(name, len, shown));
    return key_push(compose, count, where, symbols_take(build->symbols, name, len), err);
}

int compose_attribute(struct compose *compose, struct err *err)
{
    struct compose_key *key = &compose->keys[compose->key_count - 1];

    build_attribute(&compose->build, key->name);
    key->name = SYMBOL_NONE;
    return compose_fits(compose, err);
}

int compose_named(struct compose *compose, uint32_t count, uint64_t where, struct err *err)
{
    return key_push(compose, count, where, SYMBOL_NONE, err) < 0 ? -1 : compose_fits(compose, err);
}

int compose_expr(struct compose *compose, const char *text, size_t len, unsigned depth)
{
    const struct parse_options options = {
        .depth = depth, .cells_max = compose->cells_max, .attributes_max = compose->attributes_max};
    struct build_mark mark = build_mark(&compose->build);
    int pushed = parse_push(&compose->build, &options, text, len, NULL);

    if (pushed < 0)
        build_rewind(&compose->build, mark);
    return pushed;
}

size_t compose_expr_why(struct compose *compose, const char *text, size_t len, unsigned depth, unsigned line,
                        unsigned column, struct err *err)
{
    const struct parse_options options = {.depth = depth,
                                          .cells_max = compose->cells_max,
                                          .attributes_max = compose->attributes_max,
                                          .first_line = line,
                                          .first_column = column};
    size_t start = 0;
    struct err why;

    parse_push(&compose->build, &options, text, len, &why);
    err_set(err, "%s", why.text);
    for (; why.line > line; why.line--, column = 1) {
        const char *newline = memchr(text + start, '\n', len - start);

        start = newline ? (size_t)(newline - text) + 1 : len;
    }
    return start + why.column - column;
}

int compose_fits(const struct compose *compose, struct err *err)
{
    if (compose->cells_max && compose->build.cell_count + compose->build.stack_count > compose->cells_max)
        return err_set(err, "too large: the limit is %u parts", compose->cells_max);
    return 0;
}

int compose_ad(struct compose *compose, uint32_t count, bool unique, uint64_t *ret_where, struct err *err)
{
    static const struct dialect strict = {.last_duplicate_holds = false};
    struct build *build = &compose->build;
    const struct dialect *dialect = build->dialect;
    uint32_t place = 0;
    int bound;

    if (unique)
        build->dialect = &strict;
    bound = build_ad(build, count, &place);
    build->dialect = dialect;
    if (bound < 0) {
        size_t len;
        const char *name = symbols_text(build->symbols, build->stack[build->stack_count - count + place].label, &len);
        char shown[SPELL_SHOWN_MAX];

        *ret_where = compose->keys[compose->key_count - count + place].where;
        return err_set(err, "the attribute '%s' is defined twice in this ad", spell_show(name, len, shown));
    }
    compose->key_count -= count;
    return 0;
}
