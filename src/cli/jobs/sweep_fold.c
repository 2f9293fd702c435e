/* sweep_fold.c: what a job of a sweep computes from its row alone is computed when it is submitted.
 *
 *     [ Seed = 17; Args = { "--seed", Seed }; Out = strcat("o.", JobId) ]   ->   [ Seed = 17; Args = { "--seed", "17" }; Out = strcat("o.", JobId) ]
 *
 * So lists of jobs show what each of them runs, and what is wrong with it is told at once. What reads something that is known only where the job runs
 * stays as it is, and is computed there. */
#include "cli/ask/jobs.h"
#include "cli/jobs/sweep.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/refs.h"
#include "lang/ad/specialize.h"
#include "pool/protocol/writers.h"

#include <string.h>
#include <strings.h>

/* An ad that is being folded. */
struct folding {
    const struct tree *ad;
    struct scope scope;
    struct build build;
    struct arena arena;
};

/* Pushes a literal as a text, as the job's machine would make one of it. */
static void text_push(struct folding *folding, const struct tree *tree)
{
    static const struct env env = {0};
    struct value value;
    struct scope scope;
    struct eval eval;
    struct buf text;

    eval_init(&eval, &env, &folding->arena);
    scope_init(&scope, tree, NULL);
    eval_expr(&eval, &scope, tree_root(tree), &value);
    buf_init(&text);
    value_to_text(&text, tree->dialect, &value);
    build_string(&folding->build, text.text ? text.text : "", text.len);
    buf_done(&text);
}

/* Pushes a value of a job that is a text: folded, if nothing is missing. */
static void part_push(struct folding *folding, const struct scope *scope, const struct expr *e)
{
    static const struct env env = {0};
    struct tree *folded = NULL;
    struct refs refs;

    refs_init(&refs);
    refs_add(&refs, scope, e);
    if (!refs.count && e->kind != EXPR_STRING)
        folded = specialize(&env, &folding->arena, scope, e, 0);
    if (folded && expr_is_literal(tree_root(folded)) && tree_root(folded)->kind != EXPR_UNDEFINED &&
        tree_root(folded)->kind != EXPR_ERROR)
        text_push(folding, folded);
    else
        build_copy(&folding->build, folding->ad, e);
    tree_unref(folded);
    refs_done(&refs);
}

static void attribute_name(struct folding *folding, symbol name)
{
    symbols_hold(folding->ad->symbols, name);
    build_attribute(&folding->build, name);
}

/* Pushes an attribute of the job that is a text, a list of texts, or an ad of texts. */
static void attribute_push(struct folding *folding, const struct expr *e)
{
    const struct expr *parts = tree_parts(folding->ad, e);
    struct scope inner;
    uint32_t place;

    if (e->kind == EXPR_LIST) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            part_push(folding, &folding->scope, &parts[i]);
        build_bind(&folding->build, EXPR_LIST, e->u.run.count);
    } else if (e->kind == EXPR_AD) {
        scope_open(&inner, &folding->scope, e);
        for (uint32_t i = 0; i < e->u.run.count; i++) {
            /* [ SEED = Seed ] would read itself: the column is meant */
            part_push(folding, refs_reach(&inner, &parts[i], &parts[i]) ? &folding->scope : &inner, &parts[i]);
            attribute_name(folding, parts[i].label);
        }
        build_ad(&folding->build, e->u.run.count, &place);
    } else {
        part_push(folding, &folding->scope, e);
    }
}

static bool is_folded(const struct symbols *symbols, symbol name)
{
    static const char *const names[] = {"Args", "Env", "Outputs", "Out", "Err", "Checkpoint", "Name"};
    size_t len;
    const char *text = symbols_text(symbols, name, &len);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && !strncasecmp(names[i], text, len))
            return true;
    return false;
}

static struct tree *all_fold(const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    struct folding folding = {.ad = ad};
    struct tree *folded;
    uint32_t place;

    arena_init(&folding.arena);
    scope_init(&folding.scope, ad, NULL);
    build_init(&folding.build, ad->symbols, ad->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (is_folded(ad->symbols, parts[i].label))
            attribute_push(&folding, &parts[i]);
        else
            build_copy(&folding.build, ad, &parts[i]);
        attribute_name(&folding, parts[i].label);
    }
    build_ad(&folding.build, root->u.run.count, &place);
    folded = build_seal(&folding.build);
    build_done(&folding.build);
    arena_done(&folding.arena);
    return folded;
}

struct tree *sweep_fold(const struct tree *ad)
{
    struct tree *alone, *folded, *whole;
    struct ad_setting index;
    double count = 1;
    int64_t first;

    if (!job_number(ad, "Count", &count) || count == 1 || !ad_integer(ad, "Index", &first))
        return all_fold(ad);
    /* the jobs of the ad have different numbers: what reads Index is computed by each of them */
    alone = ad_without(ad, "Index");
    folded = all_fold(alone);
    index = (struct ad_setting){symbols_take(ad->symbols, "Index", 5), value_integer(first)};
    whole = ad_set(folded, &index, 1, NULL);
    symbols_drop(ad->symbols, index.name);
    tree_unref(alone);
    tree_unref(folded);
    return whole;
}
