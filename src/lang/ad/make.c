/* make.c: makes new ads from values or from another ad. */
#include "lang/ad/make.h"

#include "lang/ad/get.h"

#include <stdio.h>
#include <string.h>

void maker_init(struct maker *maker, struct symbols *symbols)
{
    maker->count = 0;
    build_init(&maker->build, symbols, &dialect_classic);
}

static void maker_name(struct maker *maker, const char *name)
{
    build_attribute(&maker->build, symbols_take(maker->build.symbols, name, strlen(name)));
    maker->count++;
}

void maker_bytes(struct maker *maker, const char *name, const char *value, size_t len)
{
    build_string(&maker->build, value, len);
    maker_name(maker, name);
}

void maker_text(struct maker *maker, const char *name, const char *value)
{
    if (value)
        maker_bytes(maker, name, value, strlen(value));
}

void maker_integer(struct maker *maker, const char *name, int64_t value)
{
    build_integer(&maker->build, value);
    maker_name(maker, name);
}

void maker_seconds(struct maker *maker, const char *name, int64_t microseconds)
{
    maker_real(maker, name, (double)microseconds / 1e6);
}

void maker_real(struct maker *maker, const char *name, double value)
{
    build_real(&maker->build, value);
    maker_name(maker, name);
}

void maker_flag(struct maker *maker, const char *name, bool value)
{
    build_boolean(&maker->build, value);
    maker_name(maker, name);
}

void maker_word(struct maker *maker, const char *name, uint64_t value)
{
    char digits[17];

    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)value);
    maker_text(maker, name, digits);
}

void maker_texts(struct maker *maker, const char *name, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        build_string(&maker->build, texts[i], strlen(texts[i]));
    build_bind(&maker->build, EXPR_LIST, (uint32_t)count);
    maker_name(maker, name);
}

void maker_integers(struct maker *maker, const char *name, const int64_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        build_integer(&maker->build, numbers[i]);
    build_bind(&maker->build, EXPR_LIST, count);
    maker_name(maker, name);
}

void maker_ad(struct maker *maker, const char *name, const struct tree *ad)
{
    if (!ad)
        return;
    build_copy(&maker->build, ad, tree_root(ad));
    maker_name(maker, name);
}

void maker_list(struct maker *maker, const char *name, struct tree *const *ads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        build_copy(&maker->build, ads[i], tree_root(ads[i]));
    build_bind(&maker->build, EXPR_LIST, count);
    maker_name(maker, name);
}

void maker_parts(struct maker *maker, const struct tree *ad, const char *but)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    symbol left_out = but ? symbols_find(ad->symbols, but, strlen(but)) : SYMBOL_NONE;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (left_out != SYMBOL_NONE && symbol_same(parts[i].label, left_out))
            continue;
        build_copy(&maker->build, ad, &parts[i]);
        symbols_hold(ad->symbols, parts[i].label);
        build_attribute(&maker->build, parts[i].label);
        maker->count++;
    }
}

struct tree *maker_seal(struct maker *maker)
{
    struct tree *tree;
    uint32_t place;

    build_ad(&maker->build, maker->count, &place);
    tree = build_seal(&maker->build);
    build_done(&maker->build);
    return tree;
}

struct tree *ad_without(const struct tree *ad, const char *name)
{
    struct maker maker = {.count = 0};

    if (tree_root(ad)->kind != EXPR_AD)
        return NULL;
    build_init(&maker.build, ad->symbols, ad->dialect);
    maker_parts(&maker, ad, name);
    return maker_seal(&maker);
}

struct tree *ad_part(const struct tree *ad, const struct expr *part)
{
    struct build build;
    struct tree *tree;

    build_init(&build, ad->symbols, ad->dialect);
    build_copy(&build, ad, part);
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

/* ---------------------------------------------------------------------------------------------------------- choosing */

/* A copy of an ad with those attributes that `wanted` accepts. */
static struct tree *ad_filter(const struct tree *ad, bool (*wanted)(void *user, symbol name), void *user)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    struct build build;
    struct tree *tree;
    uint32_t count = 0, place;

    build_init(&build, ad->symbols, ad->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (!wanted(user, parts[i].label))
            continue;
        build_copy(&build, ad, &parts[i]);
        symbols_hold(ad->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        count++;
    }
    build_ad(&build, count, &place);
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

struct selection {
    symbol names[SELECT_MAX];
    uint32_t count;
};

static bool is_selected(void *user, symbol name)
{
    const struct selection *selection = user;

    for (uint32_t i = 0; i < selection->count; i++)
        if (symbol_same(selection->names[i], name))
            return true;
    return false;
}

static bool is_not_selected(void *user, symbol name)
{
    return !is_selected(user, name);
}

struct tree *ad_without_all(const struct tree *ad, const char *const *names, size_t count)
{
    struct selection selection = {.count = 0};

    for (size_t i = 0; i < count && selection.count < SELECT_MAX; i++)
        if (ad_find(ad, names[i]))
            selection.names[selection.count++] = symbols_find(ad->symbols, names[i], strlen(names[i]));
    return selection.count ? ad_filter(ad, is_not_selected, &selection) : tree_ref((struct tree *)ad);
}

bool select_is_good(const char *names)
{
    int count = *names != '\0';

    for (; *names; names++)
        count += *names == ',';
    return count > 0 && count <= SELECT_MAX;
}

struct tree *ad_select(struct symbols *symbols, const struct tree *ad, const char *names)
{
    struct selection selection = {.count = 0};

    while (*names) {
        size_t len;
        symbol name;

        names += strspn(names, " ");
        len = strcspn(names, ", ");
        name = symbols_find(symbols, names, len);

        if (name != SYMBOL_NONE && selection.count < SELECT_MAX) /* a name without a symbol is in no ad */
            selection.names[selection.count++] = name;
        names += len;
        names += strspn(names, " ,");
    }
    return ad_filter(ad, is_selected, &selection);
}
