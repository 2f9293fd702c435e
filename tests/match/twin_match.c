/* twin_match.c: two random ads match, or do not, whichever way it is asked.
 *
 *   side       the clauses of a party against the plain evaluation of its constraint
 *   pair       two parties, in both orders, against the evaluation of both constraints
 *   reference  the same against the small evaluator of reference.h, where that one knows
 *   clause     each clause, tested as a property where it is one, against the value of its evaluation
 *   together   all clauses at once against each of them alone
 *
 * The ads look like those of machines and jobs: most attributes are literals, most constraints conjunctions of comparisons,
 * written out or by way of own attributes. Among them are circular ones, ads that call an attribute `other`, constraints with
 * more clauses than are taken apart, and strings longer than a property compares.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. Each difference is printed with its seed, its round and both ads; after five of
 * them the rest is silent. */
#include "common/grow.h"
#include "common/lang.h"
#include "common/reference.h"
#include "common/tap.h"
#include "lang/ad/functions.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OUTSIDE_MAX 3 /* names that the matchmaker gives, and as many for absent ones */
#define LADDER (CLAUSES_WITHIN_MAX + 3)
#define FILLERS 14 /* attributes without a meaning, so that some ads have a table of their names */

enum law { LAW_SIDE, LAW_PAIR, LAW_REFERENCE, LAW_CLAUSE, LAW_TOGETHER, LAW_COUNT };

struct tally {
    uint64_t pairs, matched, known, clauses, properties, inner; /* known: to the reference */
    uint64_t wrong[LAW_COUNT];
};

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct grow g;
    struct tree *ads[2];
    bool shadowed; /* some ad has an attribute called other, TARGET or MY: the reference does not know such */
    struct env env;
    struct given outside[2 * OUTSIDE_MAX]; /* the given names, then the absent ones */
    struct party parties[2];
    struct match match;
    struct tally tally;
    int said;
};

static bool chance(struct grow *g, unsigned percent)
{
    return grow_below(g, 100) < percent;
}

static symbol name_take(struct grow *g, const char *name)
{
    return symbols_take(g->build->symbols, name, strlen(name));
}

/* ------------------------------------------------------------------------------------------------------- literals */

enum sort { SORT_NUMBER, SORT_TEXT, SORT_FLAG, SORT_DATE, SORT_SPAN, SORT_WIDE, SORT_COUNT };

/* The attributes that ads have, and what they mostly are. */
static const struct subject {
    const char *name;
    enum sort sort;
} subjects[] = {
    {"Memory", SORT_NUMBER}, {"Disk", SORT_NUMBER}, {"Load", SORT_NUMBER}, {"Rank", SORT_NUMBER},
    {"Arch", SORT_TEXT},     {"OpSys", SORT_TEXT},  {"Owner", SORT_TEXT},  {"Idle", SORT_FLAG},
    {"Since", SORT_DATE},    {"Wait", SORT_SPAN},   {"Note", SORT_WIDE},   {"Site", SORT_TEXT}, /* in few ads */
};

/* The same and others, for expressions that are wholly random. */
static const char *const names[] = {"Memory", "memory", "Disk", "Arch", "Idle", "Wait", "mine", "Constraint", NULL};
static const char *const bases[] = {"other", "TARGET", "self", "MY", "other", "Tags", NULL};

static double number_real(struct grow *g)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN,    -0.0,   1e308, -1e308, 0x1p63,
                                 -0x1p63,  0x1p53,    1e-300, 5e-324, 0.1,   1e22};
    return chance(g, 40) ? odd[grow_below(g, COUNT(odd))] : ((double)grow_below(g, 9) - 1) / 2;
}

static int64_t number_integer(struct grow *g)
{
    static const int64_t odd[] = {INT64_MIN,       INT64_MIN + 1,   INT64_MAX,        INT64_MAX - 1,
                                  (1ll << 53) - 1, (1ll << 53) + 1, -(1ll << 53) - 1, 1ll << 32};
    return chance(g, 12) ? odd[grow_below(g, COUNT(odd))] : (int64_t)grow_below(g, 6) - 1;
}

/* Few texts, so that they are often the same but for the case. */
static struct value text_value(struct grow *g)
{
    static const char *const texts[] = {"INTEL", "intel", "Intel", "SUN", "sun", "sunny", "", "1", "true", "\xc3\x89"};
    const char *text = texts[grow_below(g, chance(g, 70) ? 4 : COUNT(texts))];
    return value_string(text, strlen(text));
}

/* A text of about as many bytes as a property compares. */
static struct value wide_value(uint64_t more, bool capitals)
{
    static char wide[2][PROPERTY_STRING_MAX + 1];

    memset(wide[capitals], capitals ? 'X' : 'x', sizeof wide[capitals]);
    return value_string(wide[capitals], PROPERTY_STRING_MAX - 1 + more);
}

static struct value sort_value(struct grow *g, enum sort sort)
{
    switch (sort) {
    case SORT_NUMBER:
        return chance(g, 75) ? value_integer(number_integer(g)) : value_real(number_real(g));
    case SORT_TEXT:
        return text_value(g);
    case SORT_FLAG:
        return chance(g, 90) ? value_boolean(grow_below(g, 2)) : value_integer((int64_t)grow_below(g, 3));
    case SORT_DATE:
        return value_abstime(86400 + 3600 * (int64_t)grow_below(g, 3), 60 * (int)grow_below(g, 3));
    case SORT_WIDE:
        return wide_value(grow_below(g, 3), grow_below(g, 2));
    default:
        return value_reltime(chance(g, 90) ? 60 * ((int64_t)grow_below(g, 4) - 1) : 1ll << 40);
    }
}

/* What most ads have there and most constraints ask for: without it hardly any would match. */
static struct value usual_value(enum sort sort)
{
    switch (sort) {
    case SORT_NUMBER:
        return value_integer(2);
    case SORT_TEXT:
        return value_string("INTEL", 5);
    case SORT_FLAG:
        return value_boolean(true);
    case SORT_DATE:
        return value_abstime(86400, 60);
    case SORT_WIDE:
        return wide_value(1, false);
    default:
        return value_reltime(60);
    }
}

/* Mostly of that sort; else of any, or undefined or error. */
static struct value any_value(struct grow *g, enum sort sort)
{
    if (chance(g, 50))
        return usual_value(sort);
    if (chance(g, 85))
        return sort_value(g, sort);
    switch (grow_below(g, 5)) {
    case 0:
        return value_undefined();
    case 1:
        return value_error();
    default:
        return sort_value(g, (enum sort)grow_below(g, SORT_COUNT));
    }
}

static void push_literal(struct grow *g, enum sort sort)
{
    struct value v = any_value(g, sort);
    value_build(g->build, &v);
}

/* -------------------------------------------------------------------------------------------------------- clauses */

/* Attributes that are conditions. */
static const char *const hops[] = {"Hop", "Jump"}; /* that lead to the other ad's */
static const char *const backs[] = {"Constraint", "Requirements", "mine", "terms", "more", "step0", "step1", "step4"};

static void push_clause(struct grow *g, unsigned depth);
static void push_conjunction(struct grow *g, unsigned depth);

/* base.name, or the name alone where there is no base. */
static void push_reference(struct grow *g, const char *base, const char *name)
{
    if (base) {
        build_name(g->build, EXPR_NAME, name_take(g, base));
        build_select(g->build, name_take(g, name));
    } else {
        build_name(g->build, EXPR_NAME, name_take(g, name));
    }
}

/* An attribute as clauses ask for it: of the counterpart, of whoever has it, or the own. */
static void push_asked(struct grow *g, const char *name)
{
    static const char *const whose[] = {"other", "TARGET", "other", "Other", "target", "other",
                                        "other", "TARGET", NULL,    NULL,    "MY",     "self"};
    push_reference(g, whose[grow_below(g, COUNT(whose))], name);
}

static void bind_two(struct grow *g, enum op op)
{
    build_top(g->build)->label = op;
    build_bind(g->build, EXPR_CHAIN, 2);
}

static enum op any_comparison(struct grow *g)
{
    static const enum op ops[] = {OP_EQUAL,         OP_NOT_EQUAL, OP_LESS,       OP_LESS_EQUAL,    OP_GREATER,
                                  OP_GREATER_EQUAL, OP_IS,        OP_ISNT,       OP_GREATER_EQUAL, OP_LESS_EQUAL,
                                  OP_GREATER_EQUAL, OP_EQUAL,     OP_LESS_EQUAL, OP_EQUAL};
    return ops[grow_below(g, COUNT(ops))];
}

static void push_comparison(struct grow *g)
{
    const struct subject *subject = &subjects[grow_below(g, COUNT(subjects))];
    bool turned = chance(g, 25);

    if (turned)
        push_literal(g, subject->sort);
    push_asked(g, subject->name);
    if (!turned && chance(g, 8))
        push_asked(g, subjects[grow_below(g, COUNT(subjects))].name);
    else if (!turned)
        push_literal(g, subject->sort);
    bind_two(g, any_comparison(g));
}

static void push_call(struct grow *g)
{
    static const char *const kinds[] = {"isUndefined", "isString", "isNumber", "isError"};
    const char *name = kinds[grow_below(g, COUNT(kinds))];
    uint32_t count = 1;

    push_asked(g, subjects[grow_below(g, COUNT(subjects))].name);
    if (chance(g, 50)) {
        name = chance(g, 50) ? "member" : "isMember";
        count = 2;
        if (chance(g, 50)) {
            push_asked(g, "Tags");
        } else {
            push_literal(g, SORT_TEXT);
            push_literal(g, SORT_NUMBER);
            push_literal(g, SORT_TEXT);
            build_bind(g->build, EXPR_LIST, 3);
        }
    }
    build_call(g->build, name_take(g, name), count);
}

/* Asks the other ad for one of these names, and perhaps whether it is true or undefined: so that a circle is seen from inside. */
static void push_back(struct grow *g, const char *const *whose, size_t count)
{
    push_reference(g, "other", whose[grow_below(g, count)]);
    if (chance(g, 40))
        return;
    if (chance(g, 50))
        build_undefined(g->build);
    else
        build_boolean(g->build, true);
    bind_two(g, chance(g, 65) ? OP_IS : OP_ISNT);
}

/* What is no comparison; `depth` is of the conjunctions that may stand in it. */
static void push_other_clause(struct grow *g, unsigned depth)
{
    switch (grow_below(g, 11)) {
    case 0:
    case 1:
        push_clause(g, depth - 1);
        push_clause(g, depth - 1);
        bind_two(g, OP_OR);
        build_top(g->build)->flags |= EXPR_FLAG_PARENTHESES;
        break;
    case 2:
        push_clause(g, depth - 1);
        build_prefix(g->build, OP_NOT);
        break;
    case 3:
        push_clause(g, depth - 1);
        push_clause(g, depth - 1);
        push_clause(g, depth - 1);
        build_bind(g->build, EXPR_CHOICE, 3);
        break;
    case 4:
    case 5:
        push_call(g);
        break;
    case 6: /* a constraint that asks for the other's, or for itself */
        push_asked(g, backs[grow_below(g, COUNT(backs))]);
        if (chance(g, 60)) {
            push_literal(g, SORT_FLAG);
            bind_two(g, chance(g, 50) ? OP_IS : OP_ISNT);
        }
        break;
    case 7:
    case 8:
        push_back(g, hops, COUNT(hops));
        break;
    case 9:
        push_asked(g, "Idle");
        break;
    default:
        grow_expr(g, 2);
        break;
    }
}

static void push_clause(struct grow *g, unsigned depth)
{
    static const char *const own[] = {"mine", "terms", "more"};
    static const char *const ways[] = {NULL, "MY", "self", NULL};

    if (depth == 0 || chance(g, 66)) {
        push_comparison(g);
    } else if (chance(g, 30)) {
        push_conjunction(g, depth - 1);
        build_top(g->build)->flags |= EXPR_FLAG_PARENTHESES;
    } else if (chance(g, 45)) {
        push_reference(g, ways[grow_below(g, COUNT(ways))], own[grow_below(g, COUNT(own))]);
    } else {
        push_other_clause(g, depth);
    }
}

static void push_conjunction(struct grow *g, unsigned depth)
{
    uint32_t count = 1 + (uint32_t)(chance(g, 40) ? 0 : grow_below(g, 3));

    for (uint32_t i = 0; i < count; i++) {
        push_clause(g, depth);
        build_top(g->build)->label = i ? OP_AND : 0;
    }
    if (count > 1)
        build_bind(g->build, EXPR_CHAIN, count);
}

/* About as many clauses as are taken apart, most of them true. */
static void push_wide_conjunction(struct grow *g)
{
    uint32_t count = CLAUSES_MAX - 2 + (uint32_t)grow_below(g, 5);

    for (uint32_t i = 0; i < count; i++) {
        if (i < 3) {
            push_comparison(g);
        } else {
            push_reference(g, "other", "Arch");
            build_string(g->build, "VAX", 3);
            bind_two(g, i & 1 ? OP_NOT_EQUAL : OP_ISNT);
        }
        build_top(g->build)->label = i ? OP_AND : 0;
    }
    build_bind(g->build, EXPR_CHAIN, count);
}

/* ------------------------------------------------------------------------------------------------------ random ads */

/* A row of the function table that holds in the dialect; none that depends on chance, which a specialised constraint would ask
 * from another place. */
static const char *any_call(struct grow *g, uint32_t *ret_count)
{
    const struct function *f;
    do
        f = &function_table[grow_below(g, function_count)];
    while (!(f->dialects & g->build->dialect->bit) || f->traits & FUNCTION_CHANCE);
    *ret_count = (uint32_t)f->min + (uint32_t)grow_below(g, f->max > f->min ? 2 : 1);
    return f->name;
}

/* The value of an attribute: mostly a literal, else one that leads to this ad's or the other's attributes. */
static void push_attribute_value(struct grow *g, enum sort sort)
{
    if (chance(g, 82)) {
        push_literal(g, sort);
        return;
    }
    switch (grow_below(g, 6)) {
    case 0:
        grow_expr(g, 2);
        break;
    case 1:
        push_clause(g, 1);
        break;
    case 2:
        push_asked(g, chance(g, 50) ? "Constraint" : "Requirements");
        break;
    case 3:
        push_asked(g, subjects[grow_below(g, COUNT(subjects))].name);
        push_literal(g, sort);
        bind_two(g, chance(g, 50) ? OP_ADD : OP_SUBTRACT);
        break;
    default:
        push_asked(g, subjects[grow_below(g, COUNT(subjects))].name);
        break;
    }
}

/* Labels the top with the name, sometimes in small letters. */
static uint32_t bind_attribute(struct grow *g, const char *name)
{
    char text[16];
    size_t len = strlen(name);

    memcpy(text, name, len + 1);
    if (chance(g, 10))
        text[0] = text[0] >= 'A' && text[0] <= 'Z' ? (char)(text[0] + 32) : text[0];
    build_attribute(g->build, symbols_take(g->build->symbols, text, len));
    return 1;
}

/* An attribute that takes a reserved word's place: often an ad, so that what is selected from it has a value. */
static uint32_t push_shadow(struct grow *g)
{
    static const char *const words[] = {"other", "TARGET", "other", "TARGET", "MY"};
    uint32_t place;

    switch (grow_below(g, 4)) {
    case 0:
        push_asked(g, "Tags");
        break;
    case 1:
        build_name(g->build, EXPR_NAME, name_take(g, chance(g, 50) ? "self" : "TARGET"));
        break;
    default:
        push_literal(g, SORT_NUMBER);
        bind_attribute(g, "Memory");
        push_literal(g, SORT_TEXT);
        bind_attribute(g, "Arch");
        build_ad(g->build, 2, &place);
        break;
    }
    return bind_attribute(g, words[grow_below(g, COUNT(words))]);
}

static uint32_t push_constraints(struct grow *g)
{
    bool both = chance(g, 5);
    unsigned which = (unsigned)grow_below(g, 20); /* 0 to 2: none */
    uint32_t count = 0;

    if (both || (which > 2 && which < 13)) {
        if (grow_below(g, 4000) == 0)
            push_wide_conjunction(g);
        else
            push_conjunction(g, 2);
        count += bind_attribute(g, "Constraint");
    }
    if (both || which >= 13) {
        push_conjunction(g, 2);
        count += bind_attribute(g, "Requirements");
    }
    return count;
}

/* The own attributes that constraints are put together from; each may stand in the next, and in itself. */
static uint32_t push_terms(struct grow *g)
{
    static const char *const own[] = {"mine", "terms", "more"};
    uint32_t count = 0;

    for (size_t i = 0; i < COUNT(own); i++) {
        if (chance(g, 25))
            continue;
        push_conjunction(g, 1 + (unsigned)grow_below(g, 2));
        count += bind_attribute(g, own[i]);
    }
    return count;
}

/* Own attributes one inside the other, deeper than they are taken apart; a constraint begins with the first, and the last may lead
 * back to any of them through the other ad. */
static uint32_t push_ladder(struct grow *g)
{
    uint32_t count = 2 + (uint32_t)grow_below(g, LADDER - 1);
    char name[16];

    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count) {
            snprintf(name, sizeof name, "step%d", (int)(i + 1));
            push_reference(g, NULL, name);
        } else {
            push_back(g, hops, COUNT(hops));
        }
        if (chance(g, 50)) {
            if (chance(g, 50))
                push_comparison(g);
            else
                push_back(g, hops, COUNT(hops));
            bind_two(g, OP_AND);
        }
        snprintf(name, sizeof name, "step%d", (int)i);
        bind_attribute(g, name);
    }
    push_reference(g, NULL, "step0");
    push_comparison(g);
    bind_two(g, OP_AND);
    return count + bind_attribute(g, "Constraint");
}

static struct tree *ad_grow(struct grow *g, bool *ret_shadowed)
{
    bool first = chance(g, 50), ladder = chance(g, 4);
    uint32_t count = ladder ? push_ladder(g) : first ? push_constraints(g) : 0, place;

    for (size_t i = 0; i < COUNT(subjects); i++) {
        if (chance(g, subjects[i].sort == SORT_WIDE ? 50 : i + 1 < COUNT(subjects) ? 10 : 90))
            continue;
        push_attribute_value(g, subjects[i].sort);
        count += bind_attribute(g, subjects[i].name);
    }
    if (chance(g, 60)) {
        push_literal(g, SORT_TEXT);
        push_literal(g, SORT_NUMBER);
        build_bind(g->build, EXPR_LIST, 2);
        count += bind_attribute(g, "Tags");
    }
    count += push_terms(g);
    for (size_t i = 0; i < COUNT(hops) && chance(g, 70); i++) {
        push_back(g, backs, COUNT(backs));
        count += bind_attribute(g, hops[i]);
    }
    if (chance(g, 6)) {
        count += push_shadow(g);
        *ret_shadowed = true;
    }
    for (uint64_t i = chance(g, 80) ? FILLERS : grow_below(g, FILLERS); i < FILLERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "filler%d", (int)i);
        push_literal(g, SORT_NUMBER);
        count += bind_attribute(g, name);
    }
    count += first || ladder ? 0 : push_constraints(g);
    build_ad(g->build, count, &place);
    return build_seal(g->build);
}

/* The matchmaker's names: the first of each kind is in few ads, the others in most. */
static void twin_outside(struct twin *twin)
{
    for (uint32_t i = 0; i < 2 * OUTSIDE_MAX; i++) {
        uint64_t which = i % OUTSIDE_MAX ? grow_below(&twin->g, COUNT(subjects)) : COUNT(subjects) - 1;
        const struct subject *subject = &subjects[which];
        twin->outside[i].name = symbols_take(twin->lang.symbols, subject->name, strlen(subject->name));
        twin->outside[i].value = any_value(&twin->g, subject->sort);
    }
    twin->env.given = twin->outside;
    twin->env.given_count = (uint32_t)grow_below(&twin->g, OUTSIDE_MAX + 1);
    twin->env.absent = twin->outside + OUTSIDE_MAX;
    twin->env.absent_count = (uint32_t)grow_below(&twin->g, OUTSIDE_MAX + 1);
}

static void twin_make(struct twin *twin, bool outside)
{
    static const struct dialect *const dialects[] = {&dialect_classic, &dialect_condor};
    struct grow *g = &twin->g;

    *g = (struct grow){.names = names, .bases = bases, .call = any_call};
    rng_init(&g->rng, rng_mix(twin->seed) + (twin->round * 2 + outside) * 7919);
    twin->shadowed = false;
    for (int side = 0; side < 2; side++) {
        g->build = lang_build(&twin->lang, dialects[grow_below(g, 2)]);
        twin->ads[side] = ad_grow(g, &twin->shadowed);
    }
    twin->env = (struct env){.now = 86400 + (int64_t)twin->round, .zone = 60, .seed = twin->round};
    if (outside)
        twin_outside(twin);
    for (int side = 0; side < 2; side++)
        party_init(&twin->parties[side], &twin->env, &twin->lang.arena, twin->ads[side]);
}

static void twin_drop(struct twin *twin)
{
    for (int side = 0; side < 2; side++) {
        party_done(&twin->parties[side]);
        tree_unref(twin->ads[side]);
    }
    if (twin->env.given)
        for (uint32_t i = 0; i < 2 * OUTSIDE_MAX; i++)
            symbols_drop(twin->lang.symbols, twin->outside[i].name);
    arena_reset(&twin->lang.arena);
}

/* ------------------------------------------------------------------------------------------------------ differences */

/* Was the budget spent on either constraint? Then nothing may be concluded. */
static bool twin_spent(struct twin *twin)
{
    bool spent = false;
    struct pair pair;

    pair_init(&pair, twin->ads[0], twin->ads[1]);
    for (int side = 0; side < 2; side++) {
        const struct expr *constraint = match_constraint(twin->ads[side]);
        struct eval eval;
        struct value v;

        eval_init(&eval, &twin->env, &twin->lang.arena);
        if (constraint)
            eval_attribute(&eval, side ? &pair.right : &pair.left, constraint->label, &v);
        spent = spent || eval.exhausted;
    }
    return spent;
}

static void outside_show(struct twin *twin, const char *what, const struct given *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t len;
        tap_diag("  %s %s = %s", what, symbols_text(twin->lang.symbols, items[i].name, &len),
                 lang_show(&dialect_classic, &items[i].value));
    }
}

static void differs(struct twin *twin, enum law law, const char *what)
{
    if (twin_spent(twin))
        return;
    twin->tally.wrong[law]++;
    if (twin->said++ >= 5)
        return;
    tap_diag("seed %llu, round %llu: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round, what);
    for (int side = 0; side < 2; side++) {
        const struct dialect *dialect = twin->ads[side]->dialect;
        const struct value *v = side ? &twin->match.right_constraint : &twin->match.left_constraint;
        const struct tree *left = twin->parties[side].constraint;
        tap_diag("  %s (%s)  %s", side ? "right" : "left", dialect->name, lang_show_tree(twin->ads[side]));
        tap_diag("    its constraint is %s; specialised: %s", lang_show(dialect, v),
                 left ? lang_show_tree(left) : "none");
    }
    outside_show(twin, "given", twin->env.given, twin->env.given_count);
    outside_show(twin, "absent", twin->env.absent, twin->env.absent_count);
}

/* ------------------------------------------------------------------------------------------------------------ laws */

/* What one side's clauses say of the other, alone, together, and by evaluation. */
static void side_check(struct twin *twin, int side)
{
    const struct clauses *clauses = &twin->parties[side].clauses;
    const struct tree *counterpart = twin->ads[1 - side];
    const struct value *plain = side ? &twin->match.right_constraint : &twin->match.left_constraint;
    bool together = clauses_hold(clauses, &twin->env, &twin->lang.arena, counterpart), each = true;
    char what[600];

    for (uint32_t i = 0; i < clauses->count; i++) {
        bool alone = clause_holds(clauses, i, &twin->env, &twin->lang.arena, counterpart);
        struct arena_mark mark = arena_mark(&twin->lang.arena);
        uint32_t within = clauses->items[i].within;
        struct value v;

        each = each && alone;
        clause_evaluate(clauses, i, &twin->env, &twin->lang.arena, counterpart, &v);
        if (alone != lang_holds(clauses->tree->dialect, &v)) {
            struct buf *text = lang_scratch();
            print_expr(text, clauses->tree, clauses->items[i].e, PRINT_PLAIN);
            snprintf(what, sizeof what, "of the %s the clause %.400s %s, but is %.60s", side ? "right" : "left",
                     buf_string(text), alone ? "holds" : "fails", lang_show(clauses->tree->dialect, &v));
            differs(twin, LAW_CLAUSE, what);
        }
        arena_rewind(&twin->lang.arena, mark);
        twin->tally.properties += clauses->items[i].simple;
        twin->tally.inner +=
            within && clauses->within[within - 1].depth > 1; /* the outermost is the constraint itself */
    }
    twin->tally.clauses += clauses->count;
    if (together != each) {
        snprintf(what, sizeof what, "the clauses of the %s %s together, not alone", side ? "right" : "left",
                 together ? "hold" : "fail");
        differs(twin, LAW_TOGETHER, what);
    }
    if (together != lang_holds(twin->ads[side]->dialect, plain)) {
        snprintf(what, sizeof what, "the clauses of the %s %s, not its constraint", side ? "right" : "left",
                 together ? "hold" : "fail");
        differs(twin, LAW_SIDE, what);
    }
}

static void pair_check(struct twin *twin)
{
    bool there = party_matches(&twin->env, &twin->lang.arena, &twin->parties[0], &twin->parties[1]);
    bool back = party_matches(&twin->env, &twin->lang.arena, &twin->parties[1], &twin->parties[0]);
    char what[100];

    if (there != twin->match.matches || back != there) {
        snprintf(what, sizeof what, "evaluated they %s, as parties they %s, the other way round they %s",
                 twin->match.matches ? "match" : "do not", there ? "match" : "do not", back ? "match" : "do not");
        differs(twin, LAW_PAIR, what);
    }
}

/* What the reference says of one side's constraint. */
static enum ref_truth reference_accepts(struct twin *twin, int side)
{
    struct ref_world world = {.ads = {twin->ads[0], twin->ads[1]}};
    const struct expr *constraint = match_constraint(twin->ads[side]);
    struct ref_value v = ref_boolean(true);

    if (constraint)
        ref_attribute(&world, side, constraint->label, &v);
    return ref_condition(twin->ads[side]->dialect == &dialect_condor, &v);
}

static void reference_check(struct twin *twin)
{
    enum ref_truth left, right;

    if (twin->shadowed || twin->env.given_count || twin->env.absent_count)
        return;
    left = reference_accepts(twin, 0);
    right = reference_accepts(twin, 1);
    if (left == REF_OPEN || right == REF_OPEN)
        return;
    twin->tally.known++;
    if ((left == REF_TRUE && right == REF_TRUE) != twin->match.matches)
        differs(twin, LAW_REFERENCE, twin->match.matches ? "the reference refuses" : "the reference accepts");
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

static const char *const sentences[LAW_COUNT] = {
    [LAW_SIDE] = "an ad accepts exactly whom its constraint, taken apart into clauses, accepts",
    [LAW_PAIR] = "two ads made ready to meet match when both constraints are true, whichever comes first",
    [LAW_REFERENCE] = "the reference agrees on who matches",
    [LAW_CLAUSE] = "a clause holds exactly when its value is true",
    [LAW_TOGETHER] = "clauses hold together exactly when each of them does",
};

static void rounds_report(const struct twin *twin, const char *where)
{
    const struct tally *tally = &twin->tally;
    uint64_t matched = tally->matched * 100;

    for (int law = 0; law < LAW_COUNT; law++) {
        tap_ok(tally->wrong[law] == 0, "%s: %s", where, sentences[law]);
        if (tally->wrong[law])
            tap_diag("%llu differences in %llu rounds", (unsigned long long)tally->wrong[law],
                     (unsigned long long)twin->rounds);
    }
    tap_ok(matched >= tally->pairs * 2 && matched <= tally->pairs * 98 && tally->properties && tally->inner,
           "%s: some of the pairs match and some do not", where);
    tap_diag("%s: %llu pairs, %llu matched, %llu known to the reference", where, (unsigned long long)tally->pairs,
             (unsigned long long)tally->matched, (unsigned long long)tally->known);
    tap_diag("%s: %llu clauses, %llu of them properties, %llu by way of an own attribute", where,
             (unsigned long long)tally->clauses, (unsigned long long)tally->properties,
             (unsigned long long)tally->inner);
}

static void rounds_run(struct twin *twin, bool outside)
{
    twin->tally = (struct tally){0};
    twin->said = 0;
    for (uint64_t i = 0; i < twin->rounds; i++) {
        twin->round = i;
        twin_make(twin, outside);
        match_ads(&twin->env, &twin->lang.arena, twin->ads[0], twin->ads[1], &twin->match);
        twin->tally.pairs++;
        twin->tally.matched += twin->match.matches;
        side_check(twin, 0);
        side_check(twin, 1);
        pair_check(twin);
        reference_check(twin);
        twin_drop(twin);
    }
    rounds_report(twin, outside ? "with names of the matchmaker" : "two ads alone");
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(20000)};

    lang_init(&twin.lang);
    rounds_run(&twin, false);
    rounds_run(&twin, true);
    lang_done(&twin.lang);
    return tap_done();
}
