/* scope.c: where an expression stands. */
#include "lang/ad/scope.h"

const struct scope label_open;

void scope_init(struct scope *ret, const struct tree *tree, const struct surroundings *around)
{
    bool ad = tree_is_ad(tree);

    *ret = (struct scope){.tree = tree, .ad = ad ? tree_root(tree) : NULL, .root = ad ? ret : NULL, .around = around};
}

void scope_open(struct scope *ret, const struct scope *outer, const struct expr *e)
{
    *ret = (struct scope){.tree = outer->tree, .ad = e, .parent = outer, .root = outer->root, .around = outer->around};
    if (!ret->root && !outer->tree->dialect->alone_in_empty_ad)
        ret->root = ret;
}

void scope_inside(struct scope *ret, const struct scope *outer, const struct tree *tree)
{
    *ret = (struct scope){.tree = tree, .parent = outer};
    if (outer) {
        ret->root = outer->root;
        ret->around = outer->around;
    }
}

const struct expr *scope_find(const struct scope **scope, symbol name)
{
    const struct expr *found = NULL;
    const struct scope *at = *scope;

    for (; at; at = at->parent) {
        if (at->ad && (found = tree_find(at->tree, at->ad, name)))
            break;
    }
    *scope = at;
    return found;
}

const struct scope *scope_self(const struct scope *scope)
{
    while (scope && !scope->ad)
        scope = scope->parent;
    return scope;
}

bool scope_reserved(const struct scope *scope, symbol name, const struct scope **ret)
{
    const struct scope *self;

    switch (symbol_name(name)) {
    case NAME_NUMBER_SELF:
    case NAME_NUMBER_MY:
        *ret = scope_self(scope);
        return true;
    case NAME_NUMBER_ROOT:
        *ret = scope->root;
        return true;
    case NAME_NUMBER_PARENT:
        self = scope_self(scope);
        *ret = self ? scope_self(self->parent) : NULL;
        return true;
    default:
        return false;
    }
}

bool scope_label(const struct scope *scope, symbol name, struct label *ret)
{
    const struct surroundings *around = scope->around;
    uint32_t in_force;

    if (!around)
        return false;
    if (symbol_same(name, NAME_TARGET))
        name = NAME_OTHER;
    in_force = around->label_count - around->label_later;
    for (uint32_t i = 0; i < in_force; i++) {
        if (symbol_same(around->labels[i].name, name)) {
            *ret = around->labels[i];
            return true;
        }
    }
    *ret = (struct label){name, around->counterpart, NULL};
    if (symbol_same(name, NAME_OTHER))
        return around->counterpart != NULL;
    ret->scope = NULL;
    for (uint32_t i = in_force; i < around->label_count; i++)
        if (symbol_same(around->labels[i].name, name))
            return true;
    return false;
}
