/* twin_formula.c: what a formula computes for many counterparts at once is what an evaluation gives for each.
 *
 *   value    the same type and value, whatever the counterparts have: numbers of both types, huge ones, infinite ones, none, truth values, times, undefined
 *            and error; where they have strings, lists, ads or expressions, the formula asks for an evaluation, and for nothing else
 *   change   the same after ads have changed, when the caller says so
 *   same     formulas that are called the same give the same
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "match/pair/formula.h"
#include "match/pair/pair.h"

#define ADS_MAX 300
#define RANKS 12

enum law { LAW_VALUE, LAW_CHANGE, LAW_ASKS, LAW_SAME, LAW_COUNT };

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text;
    struct pool_style style;
    uint64_t even; /* bits: which names have reals, the others having integers; 0: numbers of both types */
    unsigned odd;  /* percent: numbers at which arithmetic ends */
    const struct dialect *dialect;
    struct env env;
    struct given given;
    struct columns columns;
    struct tree *ads[ADS_MAX];
    uint32_t count;
    struct tree *roots[RANKS];
    uint64_t computed, evaluated, formulas, none, same, by_type[VALUE_RELTIME + 1];
    uint64_t wrong[LAW_COUNT];
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static void add(struct twin *twin, const char *text)
{
    buf_adds(&twin->text, text);
}

static struct tree *ad_read(struct twin *twin)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&twin->lang, twin->dialect, buf_string(&twin->text), &err);

    if (!tree) {
        printf("Bail out! %u:%u: %s in %s\n", err.line, err.column, err.text, buf_string(&twin->text));
        exit(1);
    }
    return tree;
}

static const struct tree *ad_of(void *user, uint32_t id)
{
    return ((struct twin *)user)->ads[id];
}

/* ----------------------------------------------------------------------------------------------------------- the ads */

static const char *const names[] = {"Memory", "Disk", "Load", "Idle", "Since", "Wait", "Arch"};
static const enum pool_sort sorts[] = {SORT_NUMBER, SORT_NUMBER, SORT_NUMBER, SORT_FLAG,
                                       SORT_DATE,   SORT_SPAN,   SORT_TEXT};

/* Numbers of one type, so that a batch has no other: small ones, and now and then one at which arithmetic ends. */
static const char *const integers[] = {"0", "1", "2", "3", "7", "-1", "9007199254740993", "9223372036854775807"};
static const char *const reals[] = {"0.0", "-0.0", "0.5", "2.0", "7.25", "-3.5", "1e308", "9007199254740992.0"};

static void add_even(struct twin *twin, bool real)
{
    uint64_t which = below(twin, 100) < twin->odd ? below(twin, 8) : 2 + below(twin, 3);

    add(twin, real ? reals[which] : integers[which]);
}

static struct tree *ad_make(struct twin *twin)
{
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .dialect = twin->dialect};

    buf_reset(&twin->text);
    add(twin, "[ ");
    for (size_t i = 0; i < POOL_COUNT(names); i++) {
        uint64_t odd = below(twin, 100);

        if (odd < twin->style.strange / 4 && !twin->even)
            continue;
        buf_addf(&twin->text, "%s = ", names[i]);
        if (twin->even && sorts[i] == SORT_NUMBER)
            add_even(twin, twin->even >> i & 1);
        else if (odd + 1 > 100 - twin->style.deviant)
            add(twin, below(twin, 2) ? "{ 1, 2 }" : below(twin, 2) ? "1 + Least" : "[ a = 1 ]");
        else
            pool_add_literal(&m, sorts[i]);
        add(twin, "; ");
    }
    add(twin, "Last = 1 ]");
    return ad_read(twin);
}

static void add_expr(struct twin *twin, unsigned depth)
{
    static const char *const operators[] = {
        "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "is", "isnt", "&", "|", "^", "<<", ">>"};
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .dialect = twin->dialect};
    uint64_t sort = below(twin, depth ? 9 : 5);

    if (sort < 3) {
        buf_addf(&twin->text, "%s%s", below(twin, 2) ? "other." : "",
                 names[below(twin, POOL_COUNT(names) - below(twin, 5))]);
    } else if (sort == 3) {
        pool_add_literal(&m, below(twin, 4) ? SORT_NUMBER : sorts[below(twin, 6)]);
    } else if (sort == 4) {
        add(twin, below(twin, 2) ? "Least" : "(Least * 2)");
    } else if (sort == 5) {
        add(twin, below(twin, 3) ? "-(" : "!(");
        add_expr(twin, depth - 1);
        add(twin, ")");
    } else if (sort == 6) {
        add(twin, "(");
        add_expr(twin, depth - 1);
        add(twin, " ? ");
        add_expr(twin, depth - 1);
        add(twin, " : ");
        add_expr(twin, depth - 1);
        add(twin, ")");
    } else {
        add(twin, "(");
        add_expr(twin, depth - 1);
        buf_addf(&twin->text, " %s ",
                 operators[below(twin, 3)   ? below(twin, 4)
                           : below(twin, 2) ? 5 + below(twin, 6)
                                            : below(twin, POOL_COUNT(operators))]);
        add_expr(twin, depth - 1);
        add(twin, ")");
    }
}

static struct tree *root_make(struct twin *twin)
{
    buf_reset(&twin->text);
    add(twin, "[ Least = ");
    add(twin, below(twin, 2) ? "3" : "0.5");
    if (below(twin, 10)) {
        add(twin, "; Rank = ");
        add_expr(twin, (unsigned)below(twin, 4));
    }
    add(twin, below(twin, 12) ? " ]" : "; other = [ Memory = 4 ] ]");
    return ad_read(twin);
}

/* ----------------------------------------------------------------------------------------------------------- the laws */

static void tell(struct twin *twin, enum law law, const struct tree *root, uint32_t id,
                 const struct formula_value *computed, const struct value *evaluated)
{
    if (twin->wrong[law]++ >= 5)
        return;
    buf_reset(&twin->text);
    print_tree(&twin->text, root, PRINT_PLAIN);
    add(twin, "\n");
    print_tree(&twin->text, twin->ads[id], PRINT_PLAIN);
    tap_diag("seed %llu, round %llu, law %d: computed type %u, %lld, evaluated type %u, %lld:\n%s",
             (unsigned long long)twin->seed, (unsigned long long)twin->round, (int)law, (unsigned)computed->type,
             (long long)computed->v.integer, (unsigned)evaluated->type, (long long)evaluated->u.integer,
             buf_string(&twin->text));
}

/* Are the two the same to whoever orders them? There is one NaN, and a time's zone does not count. */
static bool is_same(const struct value *a, const struct value *b)
{
    struct value x = *a, y = *b;

    x.zone = y.zone = 0;
    return value_equal(&x, &y);
}

/* Must an evaluation be asked for? Only where the counterpart has something that is no literal, or a string. */
static bool may_ask(const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);

    for (uint32_t i = 0; i < root->u.run.count; i++)
        if (!expr_is_literal(&parts[i]) || parts[i].kind == EXPR_STRING)
            return true;
    return false;
}

static void value_check(struct twin *twin, enum law law, const struct tree *root, uint32_t id,
                        const struct formula_value *computed)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);
    struct value v, made;
    struct pair pair;
    struct eval eval;

    pair_init(&pair, root, twin->ads[id]);
    eval_init(&eval, &twin->env, &twin->lang.arena);
    eval_attribute(&eval, &pair.left, NAME_RANK, &v);
    twin->computed++;
    if (computed->type == FORMULA_EVALUATE) {
        twin->evaluated++;
        if (!may_ask(twin->ads[id]))
            tell(twin, LAW_ASKS, root, id, computed, &v);
    } else {
        made = formula_value(computed);
        if (!is_same(&made, &v))
            tell(twin, law, root, id, computed, &v);
        else
            twin->by_type[v.type]++;
    }
    arena_rewind(&twin->lang.arena, mark);
}

static void round_run(struct twin *twin)
{
    struct formula_value values[RANKS][ADS_MAX];
    uint32_t ids[ADS_MAX];
    struct formula formulas[RANKS];
    bool has[RANKS];

    for (int r = 0; r < RANKS; r++) {
        columns_ask(&twin->columns);
        has[r] = formula_init(&formulas[r], &twin->env, &twin->lang.arena, twin->roots[r], NAME_RANK, &twin->columns);
        twin->none += !has[r];
        if (!has[r])
            continue;
        twin->formulas++;
        for (uint32_t i = 0; i < twin->count; i++)
            ids[i] = (uint32_t)below(twin, twin->count);
        formula_compute(&formulas[r], &twin->columns, ids, twin->count, values[r]);
        for (uint32_t i = 0; i < twin->count; i++)
            value_check(twin, LAW_VALUE, twin->roots[r], ids[i], &values[r][i]);
        for (int k = 0; k < 5; k++) {
            uint32_t id = (uint32_t)below(twin, twin->count);

            tree_unref(twin->ads[id]);
            twin->ads[id] = ad_make(twin);
            columns_forget(&twin->columns, id);
        }
        for (uint32_t i = 0; i < twin->count; i++)
            ids[i] = i;
        formula_compute(&formulas[r], &twin->columns, ids, twin->count, values[r]);
        for (uint32_t i = 0; i < twin->count; i++)
            value_check(twin, LAW_CHANGE, twin->roots[r], i, &values[r][i]);
        for (int s = 0; s < r; s++) {
            if (!has[s] || !formula_same(&formulas[r], &formulas[s]))
                continue;
            twin->same++;
            formula_compute(&formulas[s], &twin->columns, ids, twin->count, values[s]);
            for (uint32_t i = 0; i < twin->count; i++) {
                struct value a = formula_value(&values[r][i]), b = formula_value(&values[s][i]);

                if (values[r][i].type != values[s][i].type ||
                    (values[r][i].type != FORMULA_EVALUATE && !is_same(&a, &b)) ||
                    formula_hash(&formulas[r]) != formula_hash(&formulas[s]))
                    tell(twin, LAW_SAME, twin->roots[r], i, &values[s][i], &a);
            }
        }
    }
    for (int r = 0; r < RANKS; r++)
        if (has[r])
            formula_done(&formulas[r]);
}

static void twin_make(struct twin *twin)
{
    static const unsigned many[] = {0, 0, 10, 40};
    struct pool_maker m = {.rng = &twin->rng};

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round * 7919);
    twin->style = pool_style(&m);
    twin->style.strange = many[below(twin, 4)];
    twin->style.deviant = many[below(twin, 4)] / 4;
    twin->even = below(twin, 4) ? 1 + below(twin, 15) : 0;
    twin->odd = (unsigned)below(twin, 2) * 20;
    twin->dialect = below(twin, 2) ? &dialect_condor : &dialect_classic;
    twin->env = (struct env){.now = POOL_NOW, .seed = twin->round};
    twin->given = (struct given){symbols_take(twin->lang.symbols, "Load", 4), value_integer(7)};
    if (below(twin, 8) == 0) {
        twin->env.given = twin->env.absent = &twin->given;
        twin->env.given_count = (uint32_t)below(twin, 2);
        twin->env.absent_count = 1;
    }
    twin->count = 1 + (uint32_t)below(twin, ADS_MAX);
    columns_init(&twin->columns, twin->lang.symbols, ad_of, twin);
    for (uint32_t i = 0; i < twin->count; i++)
        twin->ads[i] = ad_make(twin);
    for (int r = 0; r < RANKS; r++)
        twin->roots[r] = r && below(twin, 6) == 0 ? tree_ref(twin->roots[r - 1]) : root_make(twin);
}

static void twin_done(struct twin *twin)
{
    for (uint32_t i = 0; i < twin->count; i++)
        tree_unref(twin->ads[i]);
    for (int r = 0; r < RANKS; r++)
        tree_unref(twin->roots[r]);
    columns_done(&twin->columns);
    symbols_drop(twin->lang.symbols, twin->given.name);
    arena_reset(&twin->lang.arena);
}

int main(void)
{
    static struct twin twin;
    bool types = true;

    twin.seed = lang_setting("BERTH_SEED", 1);
    twin.rounds = lang_rounds(600);
    lang_init(&twin.lang);
    buf_init(&twin.text);
    for (twin.round = 0; twin.round < twin.rounds; twin.round++) {
        twin_make(&twin);
        round_run(&twin);
        twin_done(&twin);
    }
    for (int i = 0; i <= VALUE_RELTIME; i++)
        types = types && (twin.by_type[i] || i == VALUE_STRING);
    tap_ok(twin.wrong[LAW_VALUE] == 0, "a formula computes what an evaluation gives");
    tap_ok(twin.wrong[LAW_CHANGE] == 0, "also for ads that have changed");
    tap_ok(twin.wrong[LAW_ASKS] == 0, "an evaluation is asked for only where an ad has no literal, or a string");
    tap_ok(twin.wrong[LAW_SAME] == 0, "formulas that are the same compute the same");
    tap_ok(types && twin.same && twin.none && twin.evaluated * 4 < twin.computed,
           "values of all types are computed, and few must be evaluated");
    tap_diag(
        "%llu formulas, %llu ranks without one, %llu values, %llu of them evaluated, %llu pairs of formulas the same",
        (unsigned long long)twin.formulas, (unsigned long long)twin.none, (unsigned long long)twin.computed,
        (unsigned long long)twin.evaluated, (unsigned long long)twin.same);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
