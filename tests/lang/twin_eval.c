/* twin_eval.c: random expressions between random ads have one value, whichever way it is found.
 *
 *   reference   the evaluator against the small one of reference.h
 *   value       plain against specialised first, in value mode; with constants gathered, reals to one part in 10^9
 *   truth       plain against specialised for truth, and against the question "is it true"
 *   refs        what is not among the external references does not matter
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. Each difference is printed with its seed, the ads and the expression; after
 * five of them the rest is silent. */
#include "common/grow.h"
#include "common/lang.h"
#include "common/reference.h"
#include "common/tap.h"
#include "lang/ad/functions.h"
#include "lang/ad/refs.h"
#include "match/pair/pair.h"

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "A", NULL};
static const char *const bases[] = {"other", "TARGET", "self", "MY", "other", NULL};
static const char *const all_bases[] = {"other", "TARGET", "self", "MY", "parent", "root", "a", "b", NULL};

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct tree *my, *target; /* the question is the attribute Q of my */
    struct pair pair;
    const struct expr *question;
    symbol q;
    struct env env;
    int said; /* differences told, of the law at hand */
};

/* A row of the function table that holds in the dialect; sometimes with a wrong number of arguments. None that depends on chance:
 * random() is a function of the place of the call, and specialising moves it. */
static const char *any_call(struct grow *g, uint32_t *ret_count)
{
    for (;;) {
        const struct function *f = &function_table[grow_below(g, function_count)];
        if (!(f->dialects & g->build->dialect->bit) || f->traits & FUNCTION_CHANCE)
            continue;
        uint32_t most = (uint32_t)(f->max > f->min + 2 ? f->min + 2 : f->max);
        *ret_count = (uint32_t)f->min + (uint32_t)grow_below(g, most - (uint32_t)f->min + 1);
        if (grow_below(g, 30) == 0)
            *ret_count += 1;
        return f->name;
    }
}

/* The same without those that look around for themselves. */
static const char *blind_call(struct grow *g, uint32_t *ret_count)
{
    for (;;) {
        const char *name = any_call(g, ret_count);
        bool looks = false;
        for (size_t i = 0; i < function_count; i++)
            looks = looks || (strcmp(function_table[i].name, name) == 0 && function_table[i].traits & FUNCTION_SCOPE);
        if (!looks)
            return name;
    }
}

/* ------------------------------------------------------------------------------------------------- random ads */

enum world { WORLD_SIMPLE, WORLD_WHOLE, WORLD_FLAT_TARGET };

/* An ad of some of the names; most attributes are literals, so that values are rarely all undefined. */
static struct tree *ad_grow(struct grow *g, unsigned depth, bool literals, unsigned question_depth)
{
    uint32_t count = 0, place;

    for (int i = 0; i < 6; i++) {
        if (grow_below(g, 3) == 0)
            continue;
        if (literals || grow_below(g, 5) < 3)
            grow_literal(g);
        else
            grow_expr(g, depth);
        build_attribute(g->build, symbols_take(g->build->symbols, names[i], strlen(names[i])));
        count++;
    }
    if (question_depth) {
        grow_expr(g, question_depth);
        build_attribute(g->build, symbols_take(g->build->symbols, "Q", 1));
        count++;
    }
    build_ad(g->build, count, &place);
    return build_seal(g->build);
}

static void twin_make(struct twin *twin, const struct dialect *dialect, enum world world)
{
    const struct dialect *other = dialect;
    struct grow g = {.names = names,
                     .bases = world == WORLD_SIMPLE ? bases : all_bases,
                     .simple = world == WORLD_SIMPLE,
                     .call = world == WORLD_FLAT_TARGET ? blind_call : any_call};

    rng_init(&g.rng, rng_mix(twin->seed) + twin->round * 7919);
    if (grow_below(&g, 4) == 0)
        other = dialect == &dialect_classic ? &dialect_condor : &dialect_classic;
    g.build = lang_build(&twin->lang, dialect);
    twin->my = ad_grow(&g, 2, false, 1 + (unsigned)grow_below(&g, 4));
    g.build = lang_build(&twin->lang, other);
    twin->target = ad_grow(&g, 2, world == WORLD_FLAT_TARGET, 0);
    pair_init(&twin->pair, twin->my, twin->target);
    twin->question = tree_find(twin->my, tree_root(twin->my), twin->q);
    twin->env = (struct env){.now = 1772366400 + (int64_t)twin->round, .zone = 60, .seed = twin->round};
}

static void twin_drop(struct twin *twin)
{
    tree_unref(twin->my);
    tree_unref(twin->target);
    arena_reset(&twin->lang.arena);
}

/* Tells a difference; false, so that a law can return it. */
static bool differs(struct twin *twin, const char *what, const char *one, const char *two)
{
    struct buf *question = lang_scratch();
    if (twin->said++ >= 5)
        return false;
    print_expr(question, twin->my, twin->question, PRINT_PLAIN);
    tap_diag("seed %llu, round %llu (my %s, target %s): %s", (unsigned long long)twin->seed,
             (unsigned long long)twin->round, twin->my->dialect->name, twin->target->dialect->name, what);
    tap_diag("  Q:  %s", buf_string(question));
    tap_diag("  ->  %s", one);
    tap_diag("  not %s", two);
    tap_diag("  my     %s", lang_show_tree(twin->my));
    tap_diag("  target %s", lang_show_tree(twin->target));
    return false;
}

/* The question's value in a pair; false when the budget was spent. */
static bool twin_value(struct twin *twin, const struct scope *scope, struct value *ret)
{
    struct eval eval;
    eval_init(&eval, &twin->env, &twin->lang.arena);
    eval_expr(&eval, scope, twin->question, ret);
    return !eval.exhausted;
}

/* ---------------------------------------------------------------------------------------------------------- laws */

static bool law_reference(struct twin *twin)
{
    struct ref_world world = {.ads = {twin->my, twin->target}};
    struct ref_value want = ref_eval(&world, 0, twin->question);
    struct value got;

    if (!twin_value(twin, &twin->pair.left, &got) || ref_agrees(&want, &got))
        return true;
    static const char *const types[] = {"?",    "undefined", "error",    "boolean", "integer",
                                        "real", "string",    "absolute", "relative"};
    char text[200];
    snprintf(text, sizeof text, "%s %lld %.17g", types[want.type], (long long)want.i, want.r);
    return differs(twin, "the value is not the reference's", lang_show(twin->my->dialect, &got), text);
}

static bool law_value(struct twin *twin)
{
    int flags = (twin->round & 1 ? SPECIALIZE_TIME : 0) | (twin->round & 2 ? SPECIALIZE_GATHER : 0);
    struct value plain, first;
    struct eval eval;

    if (!twin_value(twin, &twin->pair.left, &plain))
        return true;
    struct tree *special = specialize(&twin->env, &twin->lang.arena, &twin->pair.left, twin->question, flags);
    eval_init(&eval, &twin->env, &twin->lang.arena);
    eval_tree(&eval, &twin->pair.left, special, &first);
    bool same = lang_same(&twin->lang.arena, &twin->env, &plain, &first, flags & SPECIALIZE_GATHER ? 1e-9 : 0);
    if (!same) {
        char what[1000];
        snprintf(what, sizeof what, "specialised with flags %d: %.900s", flags, lang_show_tree(special));
        differs(twin, what, lang_show(twin->my->dialect, &first), lang_show(twin->my->dialect, &plain));
    }
    if (same && !(lang_reads_back(&twin->lang, special, PRINT_PLAIN)))
        same = differs(twin, "what specialising leaves does not read back", lang_show_tree(special), "");
    tree_unref(special);
    return same;
}

static bool law_truth(struct twin *twin)
{
    int flags = SPECIALIZE_TRUTH | (twin->round & 1 ? SPECIALIZE_TIME : 0);
    struct value plain, first;
    struct eval eval;

    if (!twin_value(twin, &twin->pair.left, &plain))
        return true;
    bool holds = lang_holds(twin->my->dialect, &plain);
    eval_init(&eval, &twin->env, &twin->lang.arena);
    if (eval_true(&eval, &twin->pair.left, twin->question) != holds)
        return differs(twin, "asked whether it is true", holds ? "no" : "yes", lang_show(twin->my->dialect, &plain));
    struct tree *special = specialize(&twin->env, &twin->lang.arena, &twin->pair.left, twin->question, flags);
    eval_init(&eval, &twin->env, &twin->lang.arena);
    eval_tree(&eval, &twin->pair.left, special, &first);
    bool same = lang_holds(special->dialect, &first) == holds;
    if (!same) {
        char what[1000];
        snprintf(what, sizeof what, "specialised for truth: %.900s", lang_show_tree(special));
        differs(twin, what, lang_show(twin->my->dialect, &first), lang_show(twin->my->dialect, &plain));
    }
    tree_unref(special);
    return same;
}

/* May the expression read that attribute of the other ad, as its references say? */
static bool refs_have(const struct refs *refs, symbol name)
{
    for (uint32_t i = 0; i < refs->count; i++)
        if (refs->items[i].len == 0 || symbol_same(refs->items[i].path[0], name))
            return true;
    return false;
}

/* The target with every attribute that the question does not read made another, and some that it lacked added. */
static struct tree *target_change(struct twin *twin, const struct refs *refs)
{
    struct build *build = lang_build(&twin->lang, twin->target->dialect);
    const struct expr *root = tree_root(twin->target);
    uint32_t count = 0, place;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct expr *part = &tree_parts(twin->target, root)[i];
        if (!refs_have(refs, part->label))
            continue;
        build_copy(build, twin->target, part);
        symbols_hold(twin->lang.symbols, part->label);
        build_attribute(build, part->label);
        count++;
    }
    for (int i = 0; i < 6; i++) {
        symbol name = symbols_take(twin->lang.symbols, names[i], strlen(names[i]));
        if (refs_have(refs, name)) {
            symbols_drop(twin->lang.symbols, name);
            continue;
        }
        build_string(build, "changed", 7);
        build_attribute(build, name);
        count++;
    }
    build_ad(build, count, &place);
    return build_seal(build);
}

static bool law_refs(struct twin *twin)
{
    struct refs refs;
    struct pair changed;
    struct value before, after;

    if (!twin_value(twin, &twin->pair.left, &before))
        return true;
    refs_init(&refs);
    refs_add(&refs, &twin->pair.left, twin->question);
    struct tree *target = target_change(twin, &refs);
    pair_init(&changed, twin->my, target);
    bool same =
        !twin_value(twin, &changed.left, &after) || lang_same(&twin->lang.arena, &twin->env, &before, &after, 0);
    if (!same) {
        struct buf what;
        buf_init(&what);
        buf_adds(&what, "references are");
        for (uint32_t i = 0; i < refs.count; i++) {
            buf_addc(&what, ' ');
            ref_print(&what, twin->lang.symbols, &refs.items[i]);
        }
        buf_addf(&what, "; facing %s", lang_show_tree(target));
        differs(twin, buf_string(&what), lang_show(twin->my->dialect, &after), lang_show(twin->my->dialect, &before));
        buf_done(&what);
    }
    refs_done(&refs);
    tree_unref(target);
    return same;
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

struct law {
    const char *sentence;
    enum world world;
    bool (*holds)(struct twin *twin);
};

static const struct law laws[] = {
    {"the evaluator agrees with the reference on scalars and flat ads", WORLD_SIMPLE, law_reference},
    {"specialising first changes no value, on scalars and flat ads", WORLD_SIMPLE, law_value},
    {"specialising first changes no value", WORLD_WHOLE, law_value},
    {"specialising for truth keeps whether it is true, on scalars and flat ads", WORLD_SIMPLE, law_truth},
    {"specialising for truth keeps whether it is true", WORLD_WHOLE, law_truth},
    {"what is not among the external references does not matter", WORLD_FLAT_TARGET, law_refs},
};

static void law_check(struct twin *twin, const struct law *law, const struct dialect *dialect)
{
    uint64_t wrong = 0;
    twin->said = 0;
    for (uint64_t i = 0; i < twin->rounds; i++) {
        twin->round = i;
        twin_make(twin, dialect, law->world);
        wrong += !law->holds(twin);
        twin_drop(twin);
    }
    tap_ok(wrong == 0, "%s: %s", dialect->name, law->sentence);
    if (wrong)
        tap_diag("%llu of %llu rounds differ", (unsigned long long)wrong, (unsigned long long)twin->rounds);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(20000)};

    lang_init(&twin.lang);
    twin.q = symbols_take(twin.lang.symbols, "Q", 1);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        law_check(&twin, &laws[i], &dialect_classic);
        law_check(&twin, &laws[i], &dialect_condor);
    }
    symbols_drop(twin.lang.symbols, twin.q);
    lang_done(&twin.lang);
    return tap_done();
}
