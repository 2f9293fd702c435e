/* twin_why.c: what an explanation says, against plain evaluation of each clause with each offer.
 *
 *   clauses     they are the conjuncts of the constraint in source order; for how many offers each is true, undefined or error
 *   sets        all subsets of the clauses (and of the offers' own constraints) are tried: exactly the minimal ones that no offer
 *               satisfies are told, the largest effect first
 *   conflicts   no offer satisfies both clauses; further random offers do not either, and none matches what can never match
 *   edits       each is made in the text of the request, which is read again and held against the offers
 *   refusals    each conjunct of each offer's constraint is evaluated with the request
 *   hints       who has an attribute of that name
 *   choice      the best of those that match, by their docking vectors or ranks
 *
 * The pools are small: up to twelve offers, up to eight clauses before own attributes are taken apart, and values so few that
 * offers often differ in one clause only. Both dialects occur, also within one pool.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. Each difference is printed with its seed, its round, the request and the offers;
 * after five of a kind the rest is silent. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "match/pair/why.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OFFERS_MAX 12
#define FURTHER 10     /* offers that are not in the pool */
#define LEAVES_MAX 60  /* clauses that the evaluation tells apart */
#define SUBSETS_MAX 12 /* members of which all subsets are tried */
#define GROUPS_MAX 64
#define POLICIES 4
#define PATH_MAX 6 /* attributes inside one another */

enum law {
    LAW_CLAUSES,
    LAW_UNKNOWN,
    LAW_SETS,
    LAW_CONFLICTS,
    LAW_NEVER,
    LAW_EDITS,
    LAW_SMALLEST,
    LAW_REFUSALS,
    LAW_HINTS,
    LAW_CHOICE,
    LAW_COUNT
};

struct tally {
    uint64_t unmatched, empty, sets, wide_sets, conflicts, types, never, edits, changed[3], refusals, hints, choices,
        decided;
    uint64_t discarded;
    uint64_t wrong[LAW_COUNT];
};

/* A clause of the request, and the attributes that it stands in: the constraint first. */
struct leaf {
    const struct expr *e;
    const struct expr *path[PATH_MAX];
    uint32_t depth;
};

enum truth { IS_FALSE, IS_TRUE, IS_UNDEFINED, IS_ERROR };

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct tree *policy_ads[POLICIES];
    struct policy policies[POLICIES];

    const struct policy *policy;
    struct env env;
    struct tree *request, *offers[OFFERS_MAX], *further[FURTHER];
    size_t count;
    struct why why;

    /* by evaluation */
    struct leaf leaves[LEAVES_MAX];
    uint32_t leaf_count;
    enum truth truths[OFFERS_MAX][LEAVES_MAX];
    struct match matches[OFFERS_MAX];
    bool fits[OFFERS_MAX], accepts[OFFERS_MAX];
    uint64_t failed[OFFERS_MAX]; /* the clauses, then one bit for the offer's own constraint */
    size_t matching;

    struct tally tally;
    int said[LAW_COUNT];
};

/* ----------------------------------------------------------------------------------------------------- random text */

enum sort { SORT_NUMBER, SORT_TEXT, SORT_FLAG, SORT_COUNT };

struct subject {
    const char *name;
    enum sort sort;
};

/* What offers have and requests ask for, and the other way round. */
static const struct subject subjects[2][6] = {
    {{"Memory", SORT_NUMBER},
     {"Disk", SORT_NUMBER},
     {"Load", SORT_NUMBER},
     {"Arch", SORT_TEXT},
     {"OpSys", SORT_TEXT},
     {"Idle", SORT_FLAG}},
    {{"Need", SORT_NUMBER},
     {"Size", SORT_NUMBER},
     {"Least", SORT_NUMBER},
     {"Owner", SORT_TEXT},
     {"Kind", SORT_TEXT},
     {"Nice", SORT_FLAG}},
};

/* An ad that is being written. */
struct maker {
    struct rng *rng;
    struct buf *out;
    const struct dialect *dialect;
    const struct subject *asks, *has; /* of the others, and its own */
    const struct env *env;
};

static uint64_t below(struct maker *m, uint64_t bound)
{
    return rng_below(m->rng, bound);
}

static bool chance(struct maker *m, unsigned percent)
{
    return below(m, 100) < percent;
}

static void add_literal(struct maker *m, enum sort sort)
{
    static const char *const texts[] = {"\"INTEL\"", "\"intel\"", "\"SUN\"", "\"VAX\"", "\"\""};
    static const char *const odd[] = {"9007199254740993", "9007199254740992.0", "-9223372036854775807", "1.0e308",
                                      "-0.0"};

    if (chance(m, 4))
        sort = (enum sort)below(m, SORT_COUNT);
    if (chance(m, 2)) {
        buf_adds(m->out, chance(m, 60) ? "undefined" : "error");
        return;
    }
    switch (sort) {
    case SORT_NUMBER:
        if (chance(m, 80))
            buf_addf(m->out, "%d", chance(m, 40) ? 2 : (int)below(m, 6));
        else if (chance(m, 85))
            buf_addf(m->out, "%d.5", (int)below(m, 5));
        else
            buf_adds(m->out, odd[below(m, COUNT(odd))]);
        break;
    case SORT_TEXT:
        buf_adds(m->out, texts[chance(m, 50) ? 0 : below(m, COUNT(texts))]);
        break;
    default:
        buf_adds(m->out, chance(m, 75) ? "true" : "false");
        break;
    }
}

static const struct subject *any_subject(struct maker *m, const struct subject *of)
{
    return &of[below(m, COUNT(subjects[0]))];
}

/* The counterpart's attribute: other.x, TARGET.x or x; rarely one that nobody has. */
static void add_asked(struct maker *m, const struct subject *subject)
{
    static const char *const bases[] = {"other.", "TARGET.", "other.", "", ""};

    buf_adds(m->out, bases[below(m, COUNT(bases))]);
    if (chance(m, 2))
        buf_add(m->out, subject->name, strlen(subject->name) - 1);
    else
        buf_adds(m->out, subject->name);
}

static const char *any_comparison(struct maker *m)
{
    static const char *const ops[] = {">=", ">=", ">=", "<=", "<=", "==", "==", "==", "<", ">", "!="};

    return ops[below(m, COUNT(ops))];
}

static void add_comparison(struct maker *m)
{
    const struct subject *subject = any_subject(m, m->asks);

    if (chance(m, 15)) {
        add_literal(m, subject->sort);
        buf_addf(m->out, " %s ", any_comparison(m));
        add_asked(m, subject);
        return;
    }
    add_asked(m, subject);
    buf_addf(m->out, " %s ", any_comparison(m));
    if (chance(m, 14)) {
        static const char *const bases[] = {"", "self.", "MY."};

        buf_adds(m->out, bases[below(m, COUNT(bases))]);
        buf_adds(m->out, any_subject(m, m->has)->name);
    } else {
        add_literal(m, subject->sort);
    }
}

static void add_clause(struct maker *m, unsigned depth);

/* What the other side does not decide, or not alone: constants, own attributes, the time. */
static void add_own_clause(struct maker *m)
{
    static const char *const constants[] = {"true", "true", "false", "self.nosuch > 1", "undefined", "error", "1"};
    static const char *const refs[] = {"Constraint",    "other.Constraint is true",  "other.Usual",
                                       "Usual is true", "other.More isnt undefined", "More || other.Idle"};

    switch (below(m, 4)) {
    case 0:
        buf_addf(m->out, "time() %s %lld", chance(m, 70) ? ">" : "<",
                 (long long)m->env->now - 5 + (long long)below(m, 10));
        break;
    case 1:
        buf_adds(m->out, constants[below(m, COUNT(constants))]);
        break;
    case 2:
        buf_adds(m->out, refs[below(m, COUNT(refs))]);
        break;
    default:
        buf_addf(m->out, "%s %s ", any_subject(m, m->has)->name, any_comparison(m));
        add_literal(m, SORT_NUMBER);
        break;
    }
}

static void add_other_clause(struct maker *m, unsigned depth)
{
    const struct subject *subject = any_subject(m, m->asks);

    switch (below(m, 6)) {
    case 0:
        buf_addc(m->out, '(');
        add_clause(m, depth - 1);
        buf_adds(m->out, " || ");
        add_clause(m, depth - 1);
        buf_addc(m->out, ')');
        break;
    case 1:
        buf_adds(m->out, "!(");
        add_clause(m, depth - 1);
        buf_addc(m->out, ')');
        break;
    case 2:
        buf_addc(m->out, '(');
        add_clause(m, depth - 1);
        buf_adds(m->out, " ? ");
        add_clause(m, depth - 1);
        buf_adds(m->out, " : ");
        add_clause(m, depth - 1);
        buf_addc(m->out, ')');
        break;
    case 3:
        buf_adds(m->out, "member(");
        add_asked(m, subject);
        buf_adds(m->out, ", {\"INTEL\", \"sun\", 2})");
        break;
    case 4:
        add_asked(m, subject);
        buf_adds(m->out, chance(m, 50) ? " is " : " isnt ");
        add_literal(m, subject->sort);
        break;
    default:
        add_own_clause(m);
        break;
    }
}

static void add_clause(struct maker *m, unsigned depth)
{
    static const char *const own[] = {"Usual", "self.Usual", "MY.More", "More"};

    if (depth == 0 || chance(m, 72)) {
        bool parentheses = chance(m, 5);

        buf_adds(m->out, parentheses ? "(" : "");
        add_comparison(m);
        buf_adds(m->out, parentheses ? ")" : "");
    } else if (chance(m, 22)) {
        buf_adds(m->out, own[below(m, COUNT(own))]);
    } else {
        add_other_clause(m, depth);
    }
}

static void add_conjunction(struct maker *m, uint64_t count, unsigned depth)
{
    bool parentheses = count > 3 && chance(m, 10);

    for (uint64_t i = 0; i < count; i++) {
        buf_adds(m->out, i ? " && " : "");
        if (i == 1 && parentheses)
            buf_addc(m->out, '(');
        add_clause(m, depth);
    }
    buf_adds(m->out, parentheses ? ")" : "");
}

/* A value: mostly a literal, else by way of another attribute. */
static void add_value(struct maker *m, const struct subject *subject)
{
    if (chance(m, 93)) {
        add_literal(m, subject->sort);
    } else if (chance(m, 50)) {
        add_asked(m, any_subject(m, m->asks));
    } else {
        buf_adds(m->out, any_subject(m, m->has)->name);
        if (subject->sort == SORT_NUMBER)
            buf_adds(m->out, " + 1");
    }
}

/* Attributes that constraints are put together from. */
static void add_terms(struct maker *m)
{
    static const char *const names[] = {"Usual", "More"};

    for (size_t i = 0; i < COUNT(names); i++) {
        if (chance(m, 30))
            continue;
        buf_addf(m->out, "%s = ", names[i]);
        add_conjunction(m, 1 + below(m, 3), 1);
        buf_adds(m->out, "; ");
    }
}

static struct tree *ad_make(struct twin *twin, bool is_offer, uint64_t clauses, unsigned depth)
{
    struct maker m = {.rng = &twin->rng, .asks = subjects[is_offer], .has = subjects[!is_offer], .env = &twin->env};
    struct err err = {0};
    struct buf text;
    struct tree *tree;

    buf_init(&text);
    m.out = &text;
    m.dialect = chance(&m, 50) ? &dialect_condor : &dialect_classic;
    buf_adds(&text, "[ ");
    for (size_t i = 0; i < COUNT(subjects[0]); i++) {
        if (chance(&m, 10))
            continue;
        buf_addf(&text, "%s = ", m.has[i].name);
        add_value(&m, &m.has[i]);
        buf_adds(&text, "; ");
    }
    add_terms(&m);
    if (chance(&m, 70)) {
        buf_adds(&text, "Rank = ");
        add_value(&m, any_subject(&m, chance(&m, 50) ? m.asks : m.has));
        buf_adds(&text, "; ");
    }
    if (clauses) {
        buf_adds(&text, chance(&m, 90) ? "Constraint = " : "Requirements = ");
        add_conjunction(&m, clauses, depth);
        buf_adds(&text, "; ");
    }
    buf_adds(&text, "]");
    tree = lang_ad(&twin->lang, m.dialect, buf_string(&text), &err);
    if (!tree) {
        printf("Bail out! %u:%u: %s in %s\n", err.line, err.column, err.text, buf_string(&text));
        exit(1);
    }
    buf_done(&text);
    return tree;
}

static uint64_t offer_clauses(struct twin *twin)
{
    return rng_below(&twin->rng, 100) < 35 ? 0 : 1 + rng_below(&twin->rng, 2);
}

static void twin_make(struct twin *twin)
{
    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round * 7919);
    twin->env = (struct env){.now = 1772366400 + (int64_t)twin->round, .seed = twin->round};
    twin->policy = &twin->policies[rng_below(&twin->rng, POLICIES)];
    twin->request = ad_make(twin, false, rng_below(&twin->rng, 2 + rng_below(&twin->rng, 8)), 2);
    twin->count = rng_below(&twin->rng, OFFERS_MAX + 1);
    for (size_t i = 0; i < twin->count; i++)
        twin->offers[i] = ad_make(twin, true, offer_clauses(twin), 1);
    for (size_t i = 0; i < FURTHER; i++)
        twin->further[i] = ad_make(twin, true, 0, 0);
}

static void twin_drop(struct twin *twin)
{
    tree_unref(twin->request);
    for (size_t i = 0; i < twin->count; i++)
        tree_unref(twin->offers[i]);
    for (size_t i = 0; i < FURTHER; i++)
        tree_unref(twin->further[i]);
    arena_reset(&twin->lang.arena);
}

/* ----------------------------------------------------------------------------------------------------- differences */

__attribute__((format(printf, 3, 4))) static void differs(struct twin *twin, enum law law, const char *format, ...)
{
    char what[2000];
    va_list args;

    twin->tally.wrong[law]++;
    if (twin->said[law]++ >= 5)
        return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    tap_diag("seed %llu, round %llu: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round, what);
    tap_diag("  request (%s)  %s", twin->request->dialect->name, lang_show_tree(twin->request));
    for (size_t i = 0; i < twin->count; i++)
        tap_diag("  offer %zu (%s)  %s", i, twin->offers[i]->dialect->name, lang_show_tree(twin->offers[i]));
    if (twin->policy->ad)
        tap_diag("  policy  %s", lang_show_tree(twin->policy->ad));
}

static const char *expr_text(const struct tree *tree, const struct expr *e)
{
    struct buf *text = lang_scratch();

    print_expr(text, tree, e, PRINT_PLAIN);
    return buf_string(text);
}

/* ------------------------------------------------------------------------------------------------- plain evaluation */

static bool is_conjunction(const struct tree *tree, const struct expr *e)
{
    return e->kind == EXPR_CHAIN && tree_parts(tree, e)[1].label == OP_AND;
}

/* The own attribute that stands for a conjunction and is not taken apart already. */
static const struct expr *own_conjunction(const struct tree *ad, const struct expr *e, const struct leaf *at)
{
    const struct expr *found = NULL;

    if (e->kind == EXPR_NAME ||
        (e->kind == EXPR_DOT && (symbol_same(EXPR_DOT_BASE(e), NAME_SELF) || symbol_same(EXPR_DOT_BASE(e), NAME_MY))))
        found = tree_find(ad, tree_root(ad), e->u.name.id);
    if (!found || !is_conjunction(ad, found))
        return NULL;
    for (uint32_t i = 0; i < at->depth; i++)
        if (at->path[i] == found)
            return NULL;
    return found;
}

static void leaves_collect(struct twin *twin, const struct expr *e, struct leaf at)
{
    const struct expr *parts = tree_parts(twin->request, e), *own;

    if (is_conjunction(twin->request, e)) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            leaves_collect(twin, &parts[i], at);
    } else if ((own = own_conjunction(twin->request, e, &at))) {
        at.path[at.depth++] = own;
        leaves_collect(twin, own, at);
    } else if (twin->leaf_count < LEAVES_MAX) {
        at.e = e;
        twin->leaves[twin->leaf_count++] = at;
    }
}

/* What an expression is that stands in these attributes of the pair's left ad. */
static enum truth evaluate(struct twin *twin, const struct pair *pair, const struct leaf *leaf)
{
    struct active active[PATH_MAX];
    bool truth = false;
    struct eval eval;
    struct value v;

    eval_init(&eval, &twin->env, &twin->lang.arena);
    for (uint32_t i = 0; i < leaf->depth; i++) {
        active[i] = (struct active){leaf->path[i], pair->left.around, eval.active};
        eval.active = &active[i];
    }
    eval_expr(&eval, &pair->left, leaf->e, &v);
    switch (op_condition(pair->left.tree->dialect, &v, &truth)) {
    case VALUE_BOOLEAN:
        return truth ? IS_TRUE : IS_FALSE;
    case VALUE_UNDEFINED:
        return IS_UNDEFINED;
    default:
        return IS_ERROR;
    }
}

static enum truth leaf_truth(struct twin *twin, uint32_t leaf, const struct tree *offer)
{
    struct pair pair;

    pair_init(&pair, twin->request, offer);
    return evaluate(twin, &pair, &twin->leaves[leaf]);
}

static void twin_evaluate(struct twin *twin)
{
    const struct expr *constraint = match_constraint(twin->request);
    struct leaf at = {.path = {constraint}, .depth = 1};

    twin->leaf_count = 0;
    twin->matching = 0;
    if (constraint)
        leaves_collect(twin, constraint, at);
    for (size_t i = 0; i < twin->count; i++) {
        struct match *match = &twin->matches[i];

        match_ads(&twin->env, &twin->lang.arena, twin->request, twin->offers[i], match);
        twin->fits[i] = lang_holds(twin->request->dialect, &match->left_constraint);
        twin->accepts[i] = lang_holds(twin->offers[i]->dialect, &match->right_constraint);
        twin->matching += match->matches;
        twin->failed[i] = twin->accepts[i] ? 0 : (uint64_t)1 << twin->leaf_count;
        for (uint32_t k = 0; k < twin->leaf_count; k++) {
            twin->truths[i][k] = leaf_truth(twin, k, twin->offers[i]);
            if (twin->truths[i][k] != IS_TRUE)
                twin->failed[i] |= (uint64_t)1 << k;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- clauses */

static void clause_check(struct twin *twin, uint32_t n)
{
    const struct why_clause *clause = &twin->why.clauses[n];
    const struct leaf *leaf = &twin->leaves[n];
    size_t counts[4] = {0}, together = 0;

    for (size_t i = 0; i < twin->count; i++) {
        counts[twin->truths[i][n]]++;
        together += !(twin->failed[i] & (((uint64_t)2 << n) - 1));
    }
    if (clause->e != leaf->e || !symbol_same(clause->attribute, leaf->path[leaf->depth - 1]->label))
        differs(twin, LAW_CLAUSES, "clause %u is told as %s; %s stands there", n, expr_text(twin->request, clause->e),
                expr_text(twin->request, leaf->e));
    else if (clause->alone != counts[IS_TRUE] || clause->together != together)
        differs(twin, LAW_CLAUSES, "clause %u, %s: alone %zu, together %zu; evaluated %zu, %zu", n,
                expr_text(twin->request, leaf->e), clause->alone, clause->together, counts[IS_TRUE], together);
    else if (clause->undefined != counts[IS_UNDEFINED] || clause->error != counts[IS_ERROR])
        differs(twin, LAW_UNKNOWN, "clause %u, %s: undefined for %zu, error for %zu; evaluated %zu, %zu", n,
                expr_text(twin->request, leaf->e), clause->undefined, clause->error, counts[IS_UNDEFINED],
                counts[IS_ERROR]);
}

static void clauses_check(struct twin *twin)
{
    const struct why *why = &twin->why;
    size_t fitting = 0, accepting = 0;

    for (size_t i = 0; i < twin->count; i++) {
        fitting += twin->fits[i];
        accepting += twin->accepts[i];
    }
    if (why->offers != twin->count || why->fitting != fitting || why->accepting != accepting ||
        why->matching != twin->matching)
        differs(twin, LAW_CLAUSES, "of %zu offers %zu fit, %zu accept, %zu match; evaluated %zu, %zu, %zu", why->offers,
                why->fitting, why->accepting, why->matching, fitting, accepting, twin->matching);
    if (why->clause_count != twin->leaf_count) {
        differs(twin, LAW_CLAUSES, "%u clauses are told; there are %u", why->clause_count, twin->leaf_count);
        return;
    }
    for (uint32_t i = 0; i < why->clause_count; i++)
        clause_check(twin, i);
}

/* ------------------------------------------------------------------------------------------------------------- sets */

/* Does no offer satisfy all members of the set? */
static bool excludes_all(const struct twin *twin, uint64_t set)
{
    for (size_t i = 0; i < twin->count; i++)
        if (!(twin->failed[i] & set))
            return false;
    return true;
}

static bool is_minimal(const struct twin *twin, uint64_t set)
{
    if (!excludes_all(twin, set))
        return false;
    for (uint64_t left = set; left; left &= left - 1)
        if (excludes_all(twin, set & ~(left & -left)))
            return false;
    return true;
}

static uint64_t set_members(const struct twin *twin, const struct why_set *set)
{
    return set->clauses | (set->offers ? (uint64_t)1 << twin->leaf_count : 0);
}

static void set_check(struct twin *twin, uint32_t n)
{
    const struct why_set *set = &twin->why.sets[n];
    uint64_t members = set_members(twin, set);
    size_t opens = 0;

    for (size_t i = 0; i < twin->count; i++)
        opens += !(twin->failed[i] & ~members);
    if (!excludes_all(twin, members))
        differs(twin, LAW_SETS, "an offer satisfies the set %llx", (unsigned long long)members);
    else if (!is_minimal(twin, members))
        differs(twin, LAW_SETS, "the set %llx is not minimal", (unsigned long long)members);
    if (set->opens != opens)
        differs(twin, LAW_SETS, "without the set %llx %zu would match, not %zu", (unsigned long long)members, opens,
                set->opens);
    if (n && set->opens > set[-1].opens)
        differs(twin, LAW_SETS, "the set %llx comes too late", (unsigned long long)members);
    for (uint32_t i = 0; i < n; i++)
        if (set_members(twin, &twin->why.sets[i]) == members)
            differs(twin, LAW_SETS, "the set %llx is told twice", (unsigned long long)members);
    twin->tally.sets++;
    twin->tally.wide_sets += (members & (members - 1)) != 0;
}

static void sets_check(struct twin *twin)
{
    const struct why *why = &twin->why;
    size_t minimal = 0;

    if (twin->matching && why->set_count)
        differs(twin, LAW_SETS, "%u sets are told of a request that matches", why->set_count);
    if (twin->matching)
        return;
    for (uint32_t i = 0; i < why->set_count; i++)
        set_check(twin, i);
    if (!why->all_sets && why->set_count < WHY_SETS_MAX)
        differs(twin, LAW_SETS, "only %u sets are told, and yet not all of them", why->set_count);
    if (!why->all_sets || twin->leaf_count + 1 > SUBSETS_MAX)
        return;
    for (uint64_t set = 0; set < (uint64_t)2 << twin->leaf_count; set++)
        minimal += is_minimal(twin, set);
    if (minimal != why->set_count)
        differs(twin, LAW_SETS, "%u sets are told; there are %zu", why->set_count, minimal);
}

/* -------------------------------------------------------------------------------------------------------- conflicts */

static void conflict_try(struct twin *twin, const struct why_conflict *conflict, const struct tree *offer)
{
    if (leaf_truth(twin, conflict->a, offer) == IS_TRUE && leaf_truth(twin, conflict->b, offer) == IS_TRUE)
        differs(twin, LAW_CONFLICTS, "clauses %u and %u exclude each other, it says, but hold for %s", conflict->a,
                conflict->b, lang_show_tree(offer));
}

static void conflicts_check(struct twin *twin)
{
    const struct why *why = &twin->why;
    enum why_verdict verdict = twin->matching && !why->discarded ? WHY_MATCHES
                               : why->conflict_count             ? WHY_NEVER
                                                                 : WHY_NOT_NOW;

    for (uint32_t i = 0; i < why->conflict_count; i++) {
        for (size_t k = 0; k < twin->count; k++)
            conflict_try(twin, &why->conflicts[i], twin->offers[k]);
        for (size_t k = 0; k < FURTHER; k++)
            conflict_try(twin, &why->conflicts[i], twin->further[k]);
        twin->tally.conflicts++;
        twin->tally.types += why->conflicts[i].types;
    }
    if (why->verdict != verdict)
        differs(twin, LAW_NEVER, "the verdict is %d, not %d", why->verdict, verdict);
    if (why->verdict != WHY_NEVER)
        return;
    twin->tally.never++;
    for (size_t k = 0; k < FURTHER; k++) {
        struct match match;

        match_ads(&twin->env, &twin->lang.arena, twin->request, twin->further[k], &match);
        if (match.matches)
            differs(twin, LAW_NEVER, "it can never match, it says, but does match %s",
                    lang_show_tree(twin->further[k]));
    }
}

/* ------------------------------------------------------------------------------------------------------------ edits */

static const struct why_change *change_of_clause(const struct twin *twin, const struct why_edit *edit,
                                                 const struct expr *e)
{
    for (uint32_t i = 0; i < edit->part_count; i++)
        if (edit->parts[i].kind != WHY_CHANGE_ATTRIBUTE && twin->why.clauses[edit->parts[i].clause].e == e)
            return &edit->parts[i];
    return NULL;
}

static const struct why_change *change_of_attribute(const struct why_edit *edit, symbol name)
{
    for (uint32_t i = 0; i < edit->part_count; i++)
        if (edit->parts[i].kind == WHY_CHANGE_ATTRIBUTE && symbol_same(edit->parts[i].attribute, name))
            return &edit->parts[i];
    return NULL;
}

/* The text of an attribute, its changed clauses put in the place of those that stand there. */
static void add_changed(struct twin *twin, struct buf *out, const struct why_edit *edit, const struct expr *e)
{
    const struct expr *parts = tree_parts(twin->request, e);
    const struct why_change *change = change_of_clause(twin, edit, e);

    if (change) {
        buf_adds(out, change->to ? change->to : "true");
    } else if (is_conjunction(twin->request, e)) {
        buf_adds(out, e->flags & EXPR_FLAG_PARENTHESES ? "(" : "");
        for (uint32_t i = 0; i < e->u.run.count; i++) {
            buf_adds(out, i ? " && " : "");
            add_changed(twin, out, edit, &parts[i]);
        }
        buf_adds(out, e->flags & EXPR_FLAG_PARENTHESES ? ")" : "");
    } else {
        print_expr(out, twin->request, e, PRINT_PLAIN);
    }
}

static void add_attribute(struct twin *twin, struct buf *out, symbol name)
{
    size_t len;
    const char *text = symbols_text(twin->lang.symbols, name, &len);

    print_name(out, twin->request->dialect, text, len);
    buf_adds(out, " = ");
}

/* The request as it reads when someone has made the edit. */
static void edit_apply(struct twin *twin, const struct why_edit *edit, struct buf *out)
{
    const struct expr *root = tree_root(twin->request), *parts = tree_parts(twin->request, root);

    buf_adds(out, "[ ");
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct why_change *change = change_of_attribute(edit, parts[i].label);

        add_attribute(twin, out, parts[i].label);
        if (change)
            buf_adds(out, change->to);
        else
            add_changed(twin, out, edit, &parts[i]);
        buf_adds(out, "; ");
    }
    for (uint32_t i = 0; i < edit->part_count; i++) {
        const struct why_change *part = &edit->parts[i];

        if (part->kind != WHY_CHANGE_ATTRIBUTE || tree_find(twin->request, root, part->attribute) ||
            change_of_attribute(edit, part->attribute) != part)
            continue;
        add_attribute(twin, out, part->attribute);
        buf_addf(out, "%s; ", part->to);
    }
    buf_addc(out, ']');
}

/* How many offers the changed text matches; `out` holds it afterwards. */
static size_t edit_opens(struct twin *twin, const struct why_edit *edit, struct buf *out)
{
    struct tree *changed;
    size_t opens = 0;

    buf_reset(out);
    edit_apply(twin, edit, out);
    changed = lang_ad(&twin->lang, twin->request->dialect, buf_string(out), NULL);
    for (size_t i = 0; i < twin->count && changed; i++) {
        struct match match;

        match_ads(&twin->env, &twin->lang.arena, changed, twin->offers[i], &match);
        opens += match.matches;
    }
    tree_unref(changed);
    return opens;
}

/* Does a part say what stands there, and is it the only one that changes it? */
static void part_check(struct twin *twin, const struct why_edit *edit, uint32_t n)
{
    const struct tree *request = twin->request;
    const struct why_change *part = &edit->parts[n];
    bool attribute = part->kind == WHY_CHANGE_ATTRIBUTE;
    const struct expr *e =
        attribute ? tree_find(request, tree_root(request), part->attribute) : twin->why.clauses[part->clause].e;
    const char *from = e ? expr_text(request, e) : NULL;

    if (!from != !part->from || (from && strcmp(from, part->from) != 0) || !part->to != (part->kind == WHY_DROP_CLAUSE))
        differs(twin, LAW_EDITS, "%s is to be changed, where %s stands", part->from ? part->from : "nothing",
                from ? from : "nothing");
    if ((attribute ? change_of_attribute(edit, part->attribute) : change_of_clause(twin, edit, e)) != part)
        differs(twin, LAW_EDITS, "one edit changes %s twice, the second time to %s", from ? from : "a new attribute",
                part->to ? part->to : "nothing");
    twin->tally.changed[part->kind]++;
}

static void edit_check(struct twin *twin, uint32_t n)
{
    const struct why_edit *edit = &twin->why.edits[n];
    struct buf text;
    size_t opens;

    buf_init(&text);
    for (uint32_t i = 0; i < edit->part_count; i++)
        part_check(twin, edit, i);
    opens = edit_opens(twin, edit, &text);
    if (opens != edit->opens || opens == 0 || edit->part_count == 0 || edit->part_count > WHY_EDIT_PARTS_MAX)
        differs(twin, LAW_EDITS, "edit %u opens %zu, it says, but %zu: %s", n, edit->opens, opens, buf_string(&text));
    if (n && edit->opens > edit[-1].opens)
        differs(twin, LAW_EDITS, "edit %u comes too late", n);
    twin->tally.edits++;
    buf_done(&text);
}

/* Does some offer fail in that clause only? */
static bool fails_only(const struct twin *twin, uint32_t clause)
{
    for (size_t i = 0; i < twin->count; i++)
        if (twin->failed[i] == (uint64_t)1 << clause)
            return true;
    return false;
}

/* Where it is enough to drop one clause, a change as small is told. */
static void smallest_check(struct twin *twin)
{
    uint32_t least = UINT32_MAX;
    struct buf text;

    buf_init(&text);
    for (uint32_t i = 0; i < twin->why.edit_count; i++)
        least = twin->why.edits[i].part_count < least ? twin->why.edits[i].part_count : least;
    for (uint32_t i = 0; i < twin->why.clause_count && least > 1; i++) {
        struct why_edit drop = {.part_count = 1, .parts = {{.kind = WHY_DROP_CLAUSE, .clause = i}}};
        size_t opens = fails_only(twin, i) ? edit_opens(twin, &drop, &text) : 0;

        if (!opens)
            continue;
        differs(twin, LAW_SMALLEST, "%u edits are told, none of one change; without %s %zu match", twin->why.edit_count,
                expr_text(twin->request, twin->why.clauses[i].e), opens);
        break;
    }
    buf_done(&text);
}

static void edits_check(struct twin *twin)
{
    if (twin->matching && twin->why.edit_count)
        differs(twin, LAW_EDITS, "%u edits are told of a request that matches", twin->why.edit_count);
    if (twin->matching)
        return;
    for (uint32_t i = 0; i < twin->why.edit_count; i++)
        edit_check(twin, i);
    smallest_check(twin);
}

/* --------------------------------------------------------------------------------------------------------- refusals */

struct group {
    const struct tree *offer;
    const struct expr *e;
    size_t last; /* offer that was counted, plus one */
    size_t count, fitting;
};

struct groups {
    struct group items[GROUPS_MAX];
    size_t count;
};

static struct group *group_find(struct groups *groups, const struct tree *offer, const struct expr *e)
{
    for (size_t i = 0; i < groups->count; i++)
        if (tree_equal(groups->items[i].offer, groups->items[i].e, offer, e))
            return &groups->items[i];
    return NULL;
}

/* Counts the conjuncts of an offer's constraint that are not true for the request. */
static void groups_gather(struct twin *twin, struct groups *groups, size_t n, const struct expr *e)
{
    const struct tree *offer = twin->offers[n];
    struct leaf leaf = {.e = e, .path = {match_constraint(offer)}, .depth = 1};
    struct group *group;
    struct pair pair;

    if (is_conjunction(offer, e)) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            groups_gather(twin, groups, n, &tree_parts(offer, e)[i]);
        return;
    }
    pair_init(&pair, offer, twin->request);
    if (evaluate(twin, &pair, &leaf) == IS_TRUE)
        return;
    group = group_find(groups, offer, e);
    if (!group && groups->count < GROUPS_MAX) {
        group = &groups->items[groups->count++];
        *group = (struct group){.offer = offer, .e = e};
    }
    if (!group || group->last == n + 1)
        return;
    group->last = n + 1;
    group->count++;
    group->fitting += twin->fits[n];
}

/* The attributes that a refusal says it read. */
static void reads_check(struct twin *twin, const struct why_refusal *refusal)
{
    struct pair pair;

    pair_init(&pair, refusal->offer, twin->request);
    for (uint32_t i = 0; i < refusal->read_count; i++) {
        const struct why_read *read = &refusal->reads[i];
        struct eval eval;
        struct value v;
        const char *value = NULL;

        eval_init(&eval, &twin->env, &twin->lang.arena);
        if (eval_attribute(&eval, &pair.right, read->name, &v))
            value = lang_show(twin->request->dialect, &v);
        if (!value != !read->value || (value && strcmp(value, read->value) != 0))
            differs(twin, LAW_REFUSALS, "%s read %s, not %s", expr_text(refusal->offer, refusal->e),
                    read->value ? read->value : "nothing", value ? value : "nothing");
    }
}

static void refusals_check(struct twin *twin)
{
    const struct why *why = &twin->why;
    struct groups groups = {.count = 0};

    for (size_t i = 0; i < twin->count; i++)
        if (match_constraint(twin->offers[i]))
            groups_gather(twin, &groups, i, match_constraint(twin->offers[i]));
    for (uint32_t i = 0; i < why->refusal_count; i++) {
        const struct why_refusal *refusal = &why->refusals[i];
        const struct group *group = group_find(&groups, refusal->offer, refusal->e);

        if (!group || group->count != refusal->count || group->fitting != refusal->fitting)
            differs(twin, LAW_REFUSALS, "%zu refuse by %s, of which %zu fit; evaluated %zu and %zu", refusal->count,
                    expr_text(refusal->offer, refusal->e), refusal->fitting, group ? group->count : 0,
                    group ? group->fitting : 0);
        if (twin->offers[refusal->first] != refusal->offer || (group && group->offer != refusal->offer))
            differs(twin, LAW_REFUSALS, "offer %zu is not the first that refuses by %s", refusal->first,
                    expr_text(refusal->offer, refusal->e));
        if (i && refusal->fitting > refusal[-1].fitting)
            differs(twin, LAW_REFUSALS, "refusal %u comes too late", i);
        reads_check(twin, refusal);
        twin->tally.refusals++;
    }
    if (why->all_refusals && why->refusal_count != groups.count)
        differs(twin, LAW_REFUSALS, "%u clauses refuse, it says, but %zu do", why->refusal_count, groups.count);
}

/* ------------------------------------------------------------------------------------------------------------ hints */

static size_t offers_with(const struct twin *twin, symbol name)
{
    size_t count = 0;

    for (size_t i = 0; i < twin->count; i++)
        count += tree_find(twin->offers[i], tree_root(twin->offers[i]), name) != NULL;
    return count;
}

/* Offers that have a literal of that name, and for which the clause is an error. */
static size_t offers_in_error(const struct twin *twin, const struct why_hint *hint)
{
    size_t count = 0;

    for (size_t i = 0; i < twin->count; i++) {
        const struct expr *found = tree_find(twin->offers[i], tree_root(twin->offers[i]), hint->name);

        count += found && expr_is_literal(found) && twin->truths[i][hint->clause] == IS_ERROR;
    }
    return count;
}

static void hint_check(struct twin *twin, const struct why_hint *hint)
{
    size_t have = offers_with(twin, hint->name), len;
    const char *name = symbols_text(twin->lang.symbols, hint->name, &len);

    if (hint->kind == WHY_WRONG_TYPE) { /* the clause may be an error for other reasons as well */
        if (hint->count == 0 || hint->count > offers_in_error(twin, hint))
            differs(twin, LAW_HINTS, "%zu offers have %s of a wrong type, it says, but %zu are in error", hint->count,
                    name, offers_in_error(twin, hint));
    } else if ((hint->kind == WHY_NO_SUCH_NAME) != (have == 0) || hint->count != twin->count - have || !hint->count) {
        differs(twin, LAW_HINTS, "%zu offers have no %s, it says, but %zu", hint->count, name, twin->count - have);
    }
    if (hint->nearest != SYMBOL_NONE &&
        (hint->nearest_have == 0 || hint->nearest_have != offers_with(twin, hint->nearest)))
        differs(twin, LAW_HINTS, "%zu offers have what is nearest to %s, it says, but %zu", hint->nearest_have, name,
                offers_with(twin, hint->nearest));
    twin->tally.hints++;
}

/* ----------------------------------------------------------------------------------------------------------- choice */

/* An offer's vector in the arena; 0 when it does not match or is discarded. */
static uint32_t offer_vector(struct twin *twin, size_t offer, struct value **ret)
{
    const struct match *match = &twin->matches[offer];

    if (!match->matches)
        return 0;
    if (twin->policy->vector)
        return policy_vector(twin->policy, &twin->env, &twin->lang.arena, twin->request, twin->offers[offer], NULL,
                             ret);
    *ret = arena_alloc(&twin->lang.arena, 3 * sizeof **ret);
    (*ret)[0] = value_integer(1); /* no ad here says Preempts */
    (*ret)[1] = order_rank(&match->left_rank);
    (*ret)[2] = order_rank(&match->right_rank);
    return 3;
}

static int32_t difference(const struct value *a, const struct value *b, uint32_t count, int *ret_order)
{
    for (uint32_t i = 0; i < count; i++)
        if ((*ret_order = order_compare(&a[i], &b[i])))
            return (int32_t)i;
    return -1;
}

/* The first of the best, not counting one of them (or OFFERS_MAX); OFFERS_MAX when there is none. */
static size_t best_but(struct value *const *vectors, const uint32_t *counts, size_t count, size_t but)
{
    size_t best = OFFERS_MAX;

    for (size_t i = 0; i < count; i++) {
        int order = 0;

        if (i == but || !counts[i])
            continue;
        if (best != OFFERS_MAX)
            difference(vectors[i], vectors[best], counts[i], &order);
        if (best == OFFERS_MAX || order > 0)
            best = i;
    }
    return best;
}

static void choice_check(struct twin *twin)
{
    const struct why_choice *choice = &twin->why.choice;
    struct value *vectors[OFFERS_MAX];
    uint32_t counts[OFFERS_MAX];
    size_t best, second;
    int32_t component = -1;
    int order;

    for (size_t i = 0; i < twin->count; i++)
        counts[i] = offer_vector(twin, i, &vectors[i]);
    best = best_but(vectors, counts, twin->count, OFFERS_MAX);
    second = best_but(vectors, counts, twin->count, best);
    if (twin->why.discarded != (twin->matching && best == OFFERS_MAX))
        differs(twin, LAW_CHOICE, "%zu match and %s is taken", twin->matching, best == OFFERS_MAX ? "none" : "one");
    twin->tally.discarded += twin->why.discarded;
    if (best == OFFERS_MAX)
        return;
    twin->tally.choices++;
    if (second != OFFERS_MAX && best != second)
        component = difference(vectors[best], vectors[second], counts[best], &order);
    if (choice->offer != best || choice->has_second != (second != OFFERS_MAX) ||
        (choice->has_second && choice->second != second) || choice->component != component) {
        differs(twin, LAW_CHOICE, "offer %zu before %zu by component %d; compared %zu before %zu by %d", choice->offer,
                choice->second, choice->component, best, second, component);
    } else if (component >= 0) {
        const char *value = lang_show(twin->request->dialect, &vectors[best][component]);
        const char *other = lang_show(twin->request->dialect, &vectors[second][component]);

        twin->tally.decided++;
        if (!choice->text || strcmp(choice->value, value) != 0 || strcmp(choice->second_value, other) != 0)
            differs(twin, LAW_CHOICE, "%s against %s decided, not %s against %s", value, other, choice->value,
                    choice->second_value);
    }
}

/* ----------------------------------------------------------------------------------------------------------- rounds */

static const char *const sentences[LAW_COUNT] = {
    [LAW_CLAUSES] = "each clause counts the offers for which it is true, alone and with those before it",
    [LAW_UNKNOWN] = "each clause counts the offers for which it is undefined, and for which it is an error",
    [LAW_SETS] = "exactly the minimal sets of clauses that no offer satisfies are told, the largest effect first",
    [LAW_CONFLICTS] = "clauses that exclude each other hold for no offer",
    [LAW_NEVER] = "a request that can never match matches none of the further offers",
    [LAW_EDITS] = "an edit, made in the text of the request, opens as many offers as it says",
    [LAW_SMALLEST] = "where offers fail in one clause only, and dropping it opens them, an edit of one change is told",
    [LAW_REFUSALS] = "each clause that refuses counts the offers that refuse by it",
    [LAW_HINTS] = "a hint counts the offers that it is true of",
    [LAW_CHOICE] = "the best offer is taken, and the first component that differs decides",
};

static void rounds_report(const struct twin *twin)
{
    const struct tally *t = &twin->tally;

    for (int law = 0; law < LAW_COUNT; law++) {
        tap_ok(t->wrong[law] == 0, "%s", sentences[law]);
        if (t->wrong[law])
            tap_diag("%llu differences in %llu rounds", (unsigned long long)t->wrong[law],
                     (unsigned long long)twin->rounds);
    }
    tap_ok(t->unmatched * 10 > twin->rounds * 2 && t->unmatched * 10 < twin->rounds * 9 && t->empty && t->wide_sets &&
               t->types && t->never && t->edits * 20 > t->unmatched && t->changed[WHY_CHANGE_CLAUSE] &&
               t->changed[WHY_DROP_CLAUSE] && t->changed[WHY_CHANGE_ATTRIBUTE] && t->refusals && t->hints &&
               t->decided && t->discarded,
           "the random pools show all that there is to tell");
    tap_diag("%llu pools, %llu without a match, %llu empty, %llu that can never match",
             (unsigned long long)twin->rounds, (unsigned long long)t->unmatched, (unsigned long long)t->empty,
             (unsigned long long)t->never);
    tap_diag("%llu sets, %llu of several members; %llu conflicts, %llu of types", (unsigned long long)t->sets,
             (unsigned long long)t->wide_sets, (unsigned long long)t->conflicts, (unsigned long long)t->types);
    tap_diag("%llu edits: %llu clauses and %llu attributes changed, %llu clauses dropped", (unsigned long long)t->edits,
             (unsigned long long)t->changed[WHY_CHANGE_CLAUSE], (unsigned long long)t->changed[WHY_CHANGE_ATTRIBUTE],
             (unsigned long long)t->changed[WHY_DROP_CLAUSE]);
    tap_diag("%llu refusals, %llu hints; %llu choices, %llu decided by a component, %llu discarded",
             (unsigned long long)t->refusals, (unsigned long long)t->hints, (unsigned long long)t->choices,
             (unsigned long long)t->decided, (unsigned long long)t->discarded);
}

static void round_run(struct twin *twin)
{
    twin_make(twin);
    twin_evaluate(twin);
    why_explain(&twin->why, &twin->env, &twin->lang.arena, twin->policy, twin->request, twin->offers, twin->count);
    twin->tally.unmatched += !twin->matching;
    twin->tally.empty += !twin->count;
    clauses_check(twin);
    if (twin->why.clause_count == twin->leaf_count) { /* else the places of clauses mean nothing */
        sets_check(twin);
        conflicts_check(twin);
        edits_check(twin);
        for (uint32_t i = 0; i < twin->why.hint_count; i++)
            hint_check(twin, &twin->why.hints[i]);
    }
    refusals_check(twin);
    choice_check(twin);
    why_done(&twin->why);
    twin_drop(twin);
}

static void policies_make(struct twin *twin)
{
    static const char *const texts[POLICIES] = {
        NULL,
        "[ DockingVector = { self.Rank, label.Rank, -label.Memory } ]",
        "[ DockingVector = { label.Disk } ]",
        "[ DockingVector = { label.Arch, -label.Memory, other.Load } ]",
    };

    for (size_t i = 0; i < POLICIES; i++) {
        symbol wrong;

        twin->policy_ads[i] = texts[i] ? lang_ad(&twin->lang, &dialect_classic, texts[i], NULL) : NULL;
        if (policy_init(&twin->policies[i], twin->policy_ads[i], &wrong, NULL) != 0)
            tap_ok(false, "%s is a policy", texts[i]);
    }
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(7000)};

    lang_init(&twin.lang);
    policies_make(&twin);
    for (twin.round = 0; twin.round < twin.rounds; twin.round++)
        round_run(&twin);
    rounds_report(&twin);
    for (size_t i = 0; i < POLICIES; i++) {
        policy_done(&twin.policies[i]);
        tree_unref(twin.policy_ads[i]);
    }
    lang_done(&twin.lang);
    return tap_done();
}
