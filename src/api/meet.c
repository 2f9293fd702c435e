/* meet.c: two ads meet. */
#include "api/api_parts.h"
#include "lang/base/mem.h"
#include "match/pair/order.h"
#include "match/pair/residual.h"

#include <stdlib.h>

#if defined(__GNUC__)
#define RARE __attribute__((noinline))
#else
#define RARE
#endif

struct berth_party {
    struct world *world;
    struct party party;
};

int berth_accepts(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other)
{
    const struct tree *left = ad_tree(context, ad), *right = ad_tree(context, other);
    bool accepts;

    context_fresh(context);
    if (!left || !right)
        return -1;
    do {
        reads_begin(context);
        accepts = match_accepts(&context->env, &context->arena, left, right);
    } while (reads_end(context));
    return accepts;
}

int berth_match(struct berth_context *context, const struct berth_ad *left, const struct berth_ad *right)
{
    const struct tree *a = ad_tree(context, left), *b = ad_tree(context, right);
    bool matches;

    context_fresh(context);
    if (!a || !b)
        return -1;
    do {
        reads_begin(context);
        matches =
            match_accepts(&context->env, &context->arena, a, b) && match_accepts(&context->env, &context->arena, b, a);
    } while (reads_end(context));
    return matches;
}

double berth_rank(struct berth_context *context, const struct berth_ad *ad, const struct berth_ad *other)
{
    const struct tree *left = ad_tree(context, ad), *right = ad_tree(context, other);
    struct value rank;
    struct eval eval;
    double number;

    context_fresh(context);
    if (!left || !right)
        return 0;
    do {
        reads_begin(context);
        pair_init(&context->pair, left, right);
        eval_init(&eval, &context->env, &context->arena);
        eval_attribute(&eval, &context->pair.left, NAME_RANK, &rank);
        number = order_number(&rank);
    } while (reads_end(context));
    return number;
}

int berth_query(struct berth_context *context, const struct berth_expr *query, const struct berth_ad *ad)
{
    const struct tree *tree = expr_tree(context, query), *of = ad_tree(context, ad);
    bool holds;

    context_fresh(context);
    if (!tree || !of)
        return -1;
    do {
        reads_begin(context);
        holds = match_query(&context->env, &context->arena, tree, of);
    } while (reads_end(context));
    return holds;
}

struct berth_ad *berth_residual(struct berth_context *context, const struct berth_ad *offer,
                                const struct berth_ad *request)
{
    const struct tree *from = ad_tree(context, offer), *with = ad_tree(context, request);
    struct berth_ad *ad = NULL;
    struct tree *left;

    context_fresh(context);
    if (!from || !with)
        return NULL;
    changes_begin(context->world);
    left = residual_check(from, NULL) < 0 ? NULL : residual_make(&context->env, &context->arena, from, with);
    if (left && tree_fits(left))
        ad = ad_take(context->world, left);
    else
        tree_unref(left);
    changes_end(context->world);
    return ad;
}

struct berth_party *berth_party_new(struct berth_context *context, struct berth_ad *ad)
{
    struct tree *tree = ad_tree(context, ad);
    struct berth_party *party;

    context_fresh(context);
    if (!tree)
        return NULL;
    party = mem_alloc(sizeof *party);
    changes_begin(context->world);
    party->world = world_ref(context->world);
    party_init(&party->party, &context->env, &context->arena, tree);
    changes_end(context->world);
    return party;
}

void berth_party_free(struct berth_party *party)
{
    if (!party)
        return;
    changes_begin(party->world);
    party_done(&party->party);
    changes_end(party->world);
    world_unref(party->world);
    free(party);
}

/* Where the names are shared. */
static RARE int party_match_shared(struct berth_context *context, const struct berth_party *left,
                                   const struct berth_party *right)
{
    bool matches;

    if (left->world != context->world || right->world != context->world)
        return -1;
    do {
        reads_begin(context);
        matches = party_matches(&context->env, &context->arena, &left->party, &right->party);
    } while (reads_end(context));
    return matches;
}

/* A match takes some two hundred instructions: there are few around it where nobody shares the names, which is usual. */
int berth_party_match(struct berth_context *context, const struct berth_party *left, const struct berth_party *right)
{
    const struct world *quiet = context->quiet;

    if (!left || !right)
        return -1;
    if (left->world != quiet || right->world != quiet)
        return party_match_shared(context, left, right);
    return party_matches(&context->env, &context->arena, &left->party, &right->party);
}
