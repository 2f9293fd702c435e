/* twin_answers.c: clauses over strings, lists and whatever else an attribute may be, computed for many counterparts at once, are what an evaluation gives.
 *
 *   value    the same type and value, whatever the counterparts have, also the second time, when answers are remembered
 *   change   the same after ads have changed
 *   asks     an evaluation is asked for only where a counterpart has an expression or a long value, or the answer is no number
 *   spent    the same where the budget of the one who asks is spent
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/pair/formula.h"
#include "match/pair/pair.h"

#include <string.h>

#define ADS_MAX 200
#define RANKS 24

enum law { LAW_VALUE, LAW_CHANGE, LAW_ASKS, LAW_SPENT, LAW_COUNT };

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text;
    const struct dialect *dialect;
    struct env env;
    struct columns columns;
    struct tree *ads[ADS_MAX];
    uint32_t count;
    bool mixed; /* an attribute may be of any type */
    uint64_t formulas, answers, none, computed, evaluated, spent, by_type[VALUE_RELTIME + 1], truths[2];
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

#define ONE_OF(twin, texts) ((texts)[below((twin), sizeof(texts) / sizeof *(texts))])

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

static const char *const texts[] = {"\"linux\"", "\"Linux\"",  "\"plan9\"", "\"m17\"", "\"m27\"",
                                    "\"m5\"",    "\"a,b, c\"", "\"\"",      "\"é\"",   "\"3.5\""};
static const char *const lists[] = {"{ }",
                                    "{ \"a\", \"b\" }",
                                    "{ \"linux\", 1, 2.5 }",
                                    "{ undefined, \"b\" }",
                                    "{ error }",
                                    "{ (1), 2 }",
                                    "{ 1, 2 }",
                                    "{ { 1 } }",
                                    "{ 1 + 1 }"};
static const char *const others[] = {
    "1",    "0",         "-7",    "2.5",       "true", "false", "undefined", "error", "9007199254740993",
    "-0.0", "[ a = 1 ]", "1 + 1", "other.Size"};
static const char *const names[] = {"Os", "Name", "Has", "Memory", "Any"};

static void add_value(struct twin *twin, unsigned name)
{
    uint64_t kind = twin->mixed ? below(twin, 4) : name == 4 ? 3 : name;

    if (kind < 2)
        add(twin, ONE_OF(twin, texts));
    else if (kind == 2)
        add(twin, lists[below(twin, sizeof lists / sizeof *lists - (twin->mixed ? 0 : 2))]);
    else if (name == 4 || twin->mixed)
        add(twin, ONE_OF(twin, others));
    else
        buf_addf(&twin->text, "%u", (unsigned)below(twin, 6));
}

static struct tree *ad_make(struct twin *twin)
{
    buf_reset(&twin->text);
    add(twin, "[ ");
    for (unsigned i = 0; i < 5; i++) {
        if (below(twin, 8) == 0)
            continue;
        buf_addf(&twin->text, "%s = ", names[i]);
        add_value(twin, i);
        add(twin, "; ");
    }
    if (below(twin, 40) == 0) {
        add(twin, "Long = \"");
        for (int i = 0; i < 120; i++)
            add(twin, "longer");
        add(twin, "\"; ");
    }
    add(twin, "Last = 1 ]");
    return ad_read(twin);
}

/* ------------------------------------------------------------------------------------------------------- the clauses */

static void add_name(struct twin *twin)
{
    static const char *const more[] = {"Own", "Long", "Absent", "OwnList", "OwnTwice"};

    if (below(twin, 12) == 0)
        add(twin, ONE_OF(twin, more));
    else
        buf_addf(&twin->text, "%s%s", below(twin, 2) ? "other." : "", ONE_OF(twin, names));
}

static void add_operand(struct twin *twin)
{
    static const char *const wrapped[] = {"toUpper(",        "size(",    "int(",      "string(",
                                          "isUndefined(",    "isError(", "isString(", "isList(",
                                          "stringListSize(", "bool(",    "-",         "random("};
    uint64_t kind = below(twin, 10);
    const char *call;

    if (kind < 5) {
        add_name(twin);
    } else if (kind < 7) {
        add(twin, below(twin, 2) ? ONE_OF(twin, texts) : others[2 + below(twin, 8)]);
    } else if (kind == 7) {
        add_name(twin);
        buf_addf(&twin->text, "[%u]", (unsigned)below(twin, 3));
    } else if (kind == 8) {
        call = ONE_OF(twin, wrapped);
        add(twin, call);
        add_name(twin);
        add(twin, strchr(call, '(') ? ")" : "");
    } else {
        add(twin, "strcat(");
        add_name(twin);
        add(twin, ", \"x\")");
    }
}

static void add_leaf(struct twin *twin)
{
    static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">=", "is", "isnt", "+", "*"};
    static const char *const patterns[] = {"\"^m[0-9]*7$\"", "\"lin\"", "\"(\"", "\"^$\"", "\"(a|b)*c\"", "Own"};
    static const char *const items[] = {"\"a\"", "\"b\"", "\"linux\"", "1", "2.5", "Own", "undefined"};

    switch (below(twin, 8)) {
    case 0:
        buf_addf(&twin->text, "regexp(%s, ", ONE_OF(twin, patterns));
        add_operand(twin);
        add(twin, below(twin, 4) ? ")" : ", \"i\")");
        break;
    case 1:
        add(twin, "member(");
        add_operand(twin);
        buf_addf(&twin->text, ", %s)", below(twin, 4) ? ONE_OF(twin, lists) : "OwnList");
        break;
    case 2:
        buf_addf(&twin->text, "member(%s, ", ONE_OF(twin, items));
        add_name(twin);
        add(twin, ")");
        break;
    case 3:
        buf_addf(&twin->text, "stringListMember(%s, ", ONE_OF(twin, items));
        add_operand(twin);
        add(twin, ")");
        break;
    case 4:
        add_name(twin);
        break;
    default:
        add(twin, "(");
        add_operand(twin);
        buf_addf(&twin->text, " %s ", ONE_OF(twin, operators));
        add_operand(twin);
        add(twin, ")");
    }
}

static void add_clause(struct twin *twin, unsigned depth)
{
    uint64_t kind = depth ? below(twin, 8) : 0, parts = 2 + below(twin, below(twin, 6) ? 4 : 70);

    if (kind < 2) {
        add_leaf(twin);
    } else if (kind == 2) {
        add(twin, "!(");
        add_clause(twin, depth - 1);
        add(twin, ")");
    } else if (kind == 3) {
        add(twin, below(twin, 2) ? "ifThenElse(" : "(");
        bool call = buf_string(&twin->text)[twin->text.len - 2] == 'e';

        add_clause(twin, depth - 1);
        add(twin, call ? ", " : " ? ");
        add_clause(twin, depth - 1);
        add(twin, call ? ", " : " : ");
        add_clause(twin, depth - 1);
        add(twin, ")");
    } else {
        const char *op = kind < 6 ? " || " : " && ";

        add(twin, "(");
        for (uint64_t i = 0; i < parts; i++) {
            add(twin, i ? op : "");
            add_clause(twin, parts < 8 ? depth - 1 : 0);
        }
        add(twin, ")");
    }
}

static struct tree *root_make(struct twin *twin)
{
    buf_reset(&twin->text);
    add(twin, "[ Own = ");
    add(twin, below(twin, 3) ? ONE_OF(twin, texts) : "2");
    add(twin, "; OwnList = { \"linux\", Own, 2 }; OwnTwice = strcat(Own, other.Os); Rank = ");
    add_clause(twin, (unsigned)below(twin, 4));
    add(twin, " ]");
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

/* Has the ad something that is no value, or none that has a number? */
static bool is_odd(const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct expr *elements = tree_parts(ad, &parts[i]);

        if (parts[i].kind > EXPR_LIST || (parts[i].kind == EXPR_STRING && parts[i].u.run.count > 100))
            return true;
        for (uint32_t k = 0; parts[i].kind == EXPR_LIST && k < parts[i].u.run.count; k++)
            if (!expr_is_literal(&elements[k]))
                return true;
    }
    return false;
}

/* May arithmetic on columns meet a string or a list? */
static bool asks_plainly(const struct formula *formula)
{
    return formula->answers != 1 || formula->count != 1;
}

static void value_check(struct twin *twin, enum law law, const struct formula *formula, const struct tree *root,
                        uint32_t id, const struct formula_value *computed)
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
        if (!is_odd(twin->ads[id]) && !asks_plainly(formula) && v.type <= VALUE_REAL && v.type != VALUE_ERROR &&
            law != LAW_SPENT)
            tell(twin, LAW_ASKS, root, id, computed, &v);
    } else {
        made = formula_value(computed);
        if (!value_equal(&made, &v)) {
            tell(twin, law, root, id, computed, &v);
        } else {
            twin->by_type[v.type]++;
            twin->truths[v.type == VALUE_BOOLEAN && v.boolean] += v.type == VALUE_BOOLEAN;
        }
    }
    arena_rewind(&twin->lang.arena, mark);
}

static void formula_check(struct twin *twin, const struct formula *formula, const struct tree *root)
{
    struct formula_value values[ADS_MAX];
    uint32_t ids[ADS_MAX];

    for (int time = 0; time < 2; time++) {
        for (uint32_t i = 0; i < twin->count; i++)
            ids[i] = time ? i : (uint32_t)below(twin, twin->count);
        formula_compute(formula, &twin->columns, ids, twin->count, values);
        for (uint32_t i = 0; i < twin->count; i++)
            value_check(twin, LAW_VALUE, formula, root, ids[i], &values[i]);
    }
    for (int k = 0; k < 5; k++) {
        uint32_t id = (uint32_t)below(twin, twin->count);

        tree_unref(twin->ads[id]);
        twin->ads[id] = ad_make(twin);
        columns_forget(&twin->columns, id);
    }
    formula_compute(formula, &twin->columns, ids, twin->count, values);
    for (uint32_t i = 0; i < twin->count; i++)
        value_check(twin, LAW_CHANGE, formula, root, i, &values[i]);
}

/* A budget is spent at a reading of the meter, not before it: the reading here is past it all the time. */
static void spent_check(struct twin *twin, const struct tree *root)
{
    struct formula_value values[ADS_MAX];
    uint32_t ids[ADS_MAX];
    struct formula formula;
    uint64_t meter = 1;

    twin->env.meter = &meter;
    twin->env.meter_end = 1;
    columns_ask(&twin->columns);
    if (formula_init(&formula, &twin->env, &twin->lang.arena, root, NAME_RANK, &twin->columns)) {
        for (uint32_t i = 0; i < twin->count; i++)
            ids[i] = i;
        formula_compute(&formula, &twin->columns, ids, twin->count, values);
        for (uint32_t i = 0; i < twin->count; i++)
            value_check(twin, LAW_SPENT, &formula, root, i, &values[i]);
        twin->spent++;
        formula_done(&formula);
    }
    twin->env.meter = NULL;
    twin->env.meter_end = 0;
}

static void round_run(struct twin *twin)
{
    struct tree *roots[RANKS];

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round * 7919);
    twin->dialect = below(twin, 2) ? &dialect_condor : &dialect_classic;
    twin->env = (struct env){.now = 1700000000, .seed = twin->round};
    twin->mixed = below(twin, 2);
    twin->count = 1 + (uint32_t)below(twin, ADS_MAX);
    columns_init(&twin->columns, twin->lang.symbols, ad_of, twin);
    for (uint32_t i = 0; i < twin->count; i++)
        twin->ads[i] = ad_make(twin);
    for (int r = 0; r < RANKS; r++) {
        struct formula formula;

        roots[r] = r && below(twin, 4) == 0 ? tree_ref(roots[below(twin, (uint64_t)r)]) : root_make(twin);
        columns_ask(&twin->columns);
        if (!formula_init(&formula, &twin->env, &twin->lang.arena, roots[r], NAME_RANK, &twin->columns)) {
            twin->none++;
            continue;
        }
        twin->formulas++;
        twin->answers += formula.answers;
        formula_check(twin, &formula, roots[r]);
        formula_done(&formula);
        if (below(twin, 4) == 0)
            spent_check(twin, roots[r]);
    }
    for (int r = 0; r < RANKS; r++)
        tree_unref(roots[r]);
    for (uint32_t i = 0; i < twin->count; i++)
        tree_unref(twin->ads[i]);
    columns_done(&twin->columns);
    arena_reset(&twin->lang.arena);
}

int main(void)
{
    static struct twin twin;

    twin.seed = lang_setting("BERTH_SEED", 1);
    twin.rounds = lang_rounds(150);
    lang_init(&twin.lang);
    buf_init(&twin.text);
    for (twin.round = 0; twin.round < twin.rounds; twin.round++)
        round_run(&twin);
    tap_ok(twin.wrong[LAW_VALUE] == 0, "a clause computes what an evaluation gives, whatever an attribute is");
    tap_ok(twin.wrong[LAW_CHANGE] == 0, "also for ads that have changed");
    tap_ok(twin.wrong[LAW_ASKS] == 0, "an evaluation is asked for only where that must be");
    tap_ok(twin.spent && twin.wrong[LAW_SPENT] == 0, "the same where the budget is spent");
    tap_ok(twin.by_type[VALUE_UNDEFINED] && twin.by_type[VALUE_ERROR] && twin.by_type[VALUE_INTEGER] &&
               twin.truths[0] && twin.truths[1] && twin.answers > twin.formulas && twin.none < twin.formulas &&
               twin.evaluated * 2 < twin.computed,
           "truth values, numbers, undefined and error are computed, and few must be evaluated");
    tap_diag("%llu formulas of %llu answers, %llu clauses without one, %llu values, %llu of them evaluated; "
             "%llu undefined, %llu errors, %llu true, %llu false, %llu integers",
             (unsigned long long)twin.formulas, (unsigned long long)twin.answers, (unsigned long long)twin.none,
             (unsigned long long)twin.computed, (unsigned long long)twin.evaluated,
             (unsigned long long)twin.by_type[VALUE_UNDEFINED], (unsigned long long)twin.by_type[VALUE_ERROR],
             (unsigned long long)twin.truths[1], (unsigned long long)twin.truths[0],
             (unsigned long long)twin.by_type[VALUE_INTEGER]);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
