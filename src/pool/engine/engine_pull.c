/* engine_pull.c: an offer that is not stored asks for a root.
 *
 *     the ad -> index of all classes of roots -> the classes that fit -> the first root of each -> the first of all
 *
 * Only a root that would come before the best so far is judged: so where the index leaves doubts, few are evaluated.
 * From the first pull on all classes of roots are kept in the index, not only those that wait. */
#include "lang/ad/names.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_wake.h"

#define PULL_STEPS_MAX 1000000 /* steps of evaluation for one pull; then the best so far is taken */

/* An offer that looks for its root. */
struct pull {
    struct engine *engine;
    const struct tree *ad;
    struct env env;
    uint32_t best; /* the best root so far, or NOBODY */
    struct value rank;
    uint64_t steps;
    uint64_t begun; /* the engine's meter when the pull began */
};

void engine_pull_reads(const struct engine *engine, struct reads *reads)
{
    static const struct {
        const char *name;
        size_t len;
    } own[] = {{"Priority", 8}, {"JobPrio", 7}};

    reads_add(reads, NAME_PORTS); /* a root with Ports is never given */
    for (size_t i = 0; i < 2 && engine->policy.pull == PULL_PRIORITY; i++) {
        symbol name = symbols_take(engine->symbols, own[i].name, own[i].len);

        reads_add(reads, name);
        symbols_drop(engine->symbols, name);
    }
}

/* ------------------------------------------------------------------------------------------------------- who is first */

/* Is no gate closed for the root? */
static bool root_is_open(const struct engine *engine, uint32_t root)
{
    return !engine->gate_closed || engine->gate_closed(engine->gate_user, root) == ENGINE_OPEN;
}

/* The first root of a class that no gate holds back, or NOBODY; the first root of each user counts. */
static uint32_t class_first(const struct engine *engine, const struct engine_class *class)
{
    bool starving = engine->policy.pull == PULL_STARVING;
    uint32_t best = NOBODY;

    for (uint32_t i = class->groups; i != NOBODY; i = engine->groups[i].after) {
        uint32_t first = members_at(&engine->groups[i].members, 0);

        if ((best == NOBODY ||
             (starving ? engine_member_older(engine, first, best) : engine_root_before(engine, first, best))) &&
            root_is_open(engine, first))
            best = first;
    }
    return best;
}

/* The root's own priority, a number; 0 when it has none. */
static struct value root_priority(struct pull *pull, uint32_t root)
{
    static const char *const names[] = {"Priority", "JobPrio"};
    static const size_t lens[] = {8, 7};
    struct scope scope;
    struct value v = value_undefined();
    struct eval eval;

    scope_init(&scope, pull->engine->slots[root].ad, NULL);
    for (unsigned i = 0; i < 2 && v.type == VALUE_UNDEFINED; i++) {
        symbol name = symbols_find(pull->engine->symbols, names[i], lens[i]);

        if (!name)
            continue;
        eval_init(&eval, &pull->env, pull->engine->scratch);
        eval_attribute(&eval, &scope, name, &v);
    }
    return v.type == VALUE_INTEGER || v.type == VALUE_REAL ? v : value_integer(0);
}

/* The offer's rank of the root. Only numbers count: other values live no longer than the evaluation. */
static struct value root_rank(struct pull *pull, uint32_t root)
{
    struct pair *pair = arena_alloc(pull->engine->scratch, sizeof *pair);
    struct value rank;
    struct eval eval;

    pair_init(pair, pull->ad, pull->engine->slots[root].ad);
    eval_init(&eval, &pull->env, pull->engine->scratch);
    pull->engine->counts.evaluations++;
    eval_attribute(&eval, &pair->left, NAME_RANK, &rank);
    rank = order_rank(&rank);
    return rank.type == VALUE_INTEGER || rank.type == VALUE_REAL || rank.type == VALUE_BOOLEAN ? rank
                                                                                               : value_integer(0);
}

/* Would the root come before the best so far? `ret_rank` is the value that it is ordered by. */
static bool pull_prefers(struct pull *pull, uint32_t root, struct value *ret_rank)
{
    const struct engine *engine = pull->engine;
    struct arena_mark mark = arena_mark(engine->scratch);
    int order = 0;

    *ret_rank = value_integer(0);
    if (engine->policy.pull == PULL_BEST_FIT)
        *ret_rank = root_rank(pull, root);
    else if (engine->policy.pull == PULL_PRIORITY)
        *ret_rank = root_priority(pull, root);
    arena_rewind(engine->scratch, mark);
    if (pull->best == NOBODY)
        return true;
    order = order_compare(ret_rank, &pull->rank);
    if (order)
        return order > 0;
    return engine->policy.pull == PULL_STARVING ? engine_member_older(engine, root, pull->best)
                                                : engine_root_before(engine, root, pull->best);
}

/* ------------------------------------------------------------------------------------------------------------ who fits */

/* The given names have the values of the root's user. */
static struct env pull_env_of(const struct pull *pull, uint32_t root)
{
    struct env env = pull->env, given = engine_env_of(pull->engine, pull->engine->slots[root].user, 0);

    env.given = given.given;
    env.given_count = given.given_count;
    return env;
}

/* Do the two accept each other, where the index could not tell, and does the policy not discard the pair? */
static bool pull_fits(struct pull *pull, uint32_t root, unsigned doubts)
{
    struct engine *engine = pull->engine;
    const struct tree *ad = engine->slots[root].ad;
    struct env env = pull_env_of(pull, root), docking;
    struct arena_mark mark;
    struct value *vector;
    bool fits = true;

    if (doubts & INDEX_DOUBT_OWN) {
        engine->counts.evaluations++;
        fits = match_accepts_counted(&env, engine->scratch, pull->ad, ad, &pull->steps);
    }
    if (fits && doubts & INDEX_DOUBT_FOUND) {
        engine->counts.evaluations++;
        fits = match_accepts_counted(&env, engine->scratch, ad, pull->ad, &pull->steps);
    }
    if (!fits || !engine->policy.vector)
        return fits;
    mark = arena_mark(engine->scratch);
    engine->counts.evaluations++;
    docking = engine_docking_env(engine, &env);
    fits = policy_vector_counted(&engine->policy, &docking, engine->scratch, ad, pull->ad, NULL, &vector,
                                 &pull->steps) > 0;
    arena_rewind(engine->scratch, mark);
    return fits;
}

/* Judges a class of roots that the index could not rule out. */
static void pull_found(void *user, uint32_t number, unsigned doubts)
{
    struct pull *pull = user;
    struct engine *engine = pull->engine;
    const struct engine_class *class = engine_class_at(engine, ROOTS, number);
    struct value rank;
    uint32_t root;

    if (engine->meter - pull->begun > PULL_STEPS_MAX || tree_find(class->ad, tree_root(class->ad), NAME_PORTS))
        return;
    root = class_first(engine, class);
    if (root == NOBODY || !pull_prefers(pull, root, &rank) || !pull_fits(pull, root, doubts))
        return;
    pull->best = root;
    pull->rank = rank;
}

/* From now on every class of roots is in the index, or will be before the index is asked. */
static void pulls_begin(struct engine *engine)
{
    const struct side *roots = &engine->sides[ROOTS];

    engine->pulled = true;
    for (uint32_t i = 0; i < roots->count; i++)
        if (roots->classes[i].ad && !roots->classes[i].indexed)
            engine_class_index_late(engine, i);
}

/* Time and chance are the caller's, the given names are the cycle's. Where stored ads depend on the time, the index
 * knows them as of the cycle's time. */
static struct env pull_env(const struct engine *engine, const struct env *env)
{
    struct env ret = engine->env;

    if (!engine->restless.count && !engine->policy_traits) {
        ret.now = env->now;
        ret.zone = env->zone;
    }
    ret.seed = env->seed;
    return ret;
}

uint32_t engine_pull(struct engine *engine, struct arena *scratch, const struct tree *ad, const struct env *env,
                     bool *ret_later)
{
    struct side *roots = &engine->sides[ROOTS];
    struct arena_mark mark = arena_mark(scratch);
    struct pull pull = {.engine = engine, .ad = ad, .env = pull_env(engine, env), .best = NOBODY};

    reads_add_ad(&roots->reads, ad);
    *ret_later = engine->cycle == 0 || engine_classes_lag(roots) || (engine->phase == PHASE_REFRESH && engine->at);
    if (*ret_later || engine_ad_ported(ad)) /* an offer with ports needs a gang */
        return ENGINE_NO_ONE;
    engine->scratch = scratch;
    if (!engine->pulled)
        pulls_begin(engine);
    pull.begun = engine->meter;
    while (engine->meter - pull.begun <= PULL_STEPS_MAX && engine_keep_next(engine))
        ;
    *ret_later = roots->late.count;
    if (roots->indexed && !*ret_later) {
        index_sift(roots->index, &pull.env, scratch, ad, pull_found, &pull);
        engine->counts.probes++;
        engine->counts.tests += index_probed(roots->index).tests;
    }
    if (pull.best != NOBODY)
        engine_root_take(engine, pull.best);
    arena_rewind(scratch, mark);
    engine->scratch = NULL;
    return pull.best;
}
