/* narrow.c: an ad that takes fewer than it did. */
#include "match/pair/narrow.h"

#include "lang/ad/names.h"
#include "lang/text/build.h"
#include "lang/text/parse.h"
#include "match/pair/match.h"

struct tree *constraint_narrow(struct tree *ad, const struct tree *from, const struct expr *rule)
{
    const struct expr *own = match_constraint(ad), *root = tree_root(ad), *parts = tree_parts(ad, root);
    uint32_t count = 0, place;
    struct tree *text = NULL;
    struct build build;
    symbol name = own ? own->label : NAME_CONSTRAINT;

    if (!rule || from->dialect != ad->dialect)
        return tree_ref(ad);
    build_init(&build, ad->symbols, ad->dialect);
    for (; count < root->u.run.count; count++) {
        build_copy(&build, ad, &parts[count]);
        if (&parts[count] == own) {
            build_copy(&build, from, rule);
            build_top(&build)->label = OP_AND;
            build_bind(&build, EXPR_CHAIN, 2);
        }
        symbols_hold(ad->symbols, parts[count].label);
        build_attribute(&build, parts[count].label);
    }
    if (!own) {
        build_copy(&build, from, rule);
        symbols_hold(ad->symbols, name);
        build_attribute(&build, name);
        count++;
    }
    if (count <= TREE_PARTS_MAX && build_ad(&build, count, &place) == 0)
        text = build_seal(&build);
    build_done(&build);
    return text ? text : tree_ref(ad);
}

struct tree *constraint_narrow_text(struct tree *ad, const char *text, size_t len)
{
    struct tree *rule, *narrow;
    struct build build;

    build_init(&build, ad->symbols, ad->dialect);
    rule = parse_expr(&build, NULL, text, len, NULL);
    build_done(&build);
    narrow = rule ? constraint_narrow(ad, rule, tree_root(rule)) : tree_ref(ad);
    tree_unref(rule);
    return narrow;
}
