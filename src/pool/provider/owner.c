/* owner.c: is a provider in the owner state, why, and how long? */
#include "pool/provider/owner.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/base/cut.h"
#include "lang/text/print.h"
#include "match/gang/dock.h"
#include "match/gang/ports.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"
#include "pool/provider/next_change.h"

#define OWNER_CLOCK_MAX ((int64_t)1 << 52) /* seconds on either side of 1970; beyond them no time is foretold */
#define OWNER_TRY_FIRST 64                 /* steps for a first attempt to fold the time in */
#define OWNER_TRY_MORE 4                   /* the next attempt has that many times more */

/* The result of a look. LOST: its budget was spent. */
enum look { LOOK_CLOSED, LOOK_OPEN, LOOK_LOST };

/* A provider's constraint, to be tried at one time after another. */
struct looker {
    const struct env *env;
    struct arena *scratch;
    const struct scope *scope; /* of its ad */
    struct tree *left;         /* the constraint, specialised without the time */
    uint64_t steps, most;      /* steps that one look takes, about; and may take */
};

static bool tree_is_false(const struct tree *tree)
{
    return tree_root(tree)->kind == EXPR_BOOLEAN && !tree_root(tree)->small;
}

static enum look look_at(const struct looker *looker, int64_t now, uint64_t steps)
{
    struct env env = *looker->env;
    enum look look;
    struct tree *left;

    env.now = now;
    env.steps = steps < looker->most ? steps : looker->most;
    left = specialize_tree(&env, looker->scratch, looker->scope, looker->left, SPECIALIZE_TRUTH | SPECIALIZE_TIME);
    if (left == looker->left)
        look = LOOK_LOST; /* specialisation gave up: the tree came back unchanged */
    else
        look = tree_is_false(left) ? LOOK_CLOSED : LOOK_OPEN;
    tree_unref(left);
    return look;
}

/* The first look also finds out how many steps one takes. */
static enum look look_first(struct looker *looker)
{
    enum look look;

    looker->most = looker->env->steps ? looker->env->steps : EVAL_STEPS_MAX;
    for (looker->steps = OWNER_TRY_FIRST;; looker->steps *= OWNER_TRY_MORE) {
        look = look_at(looker, looker->env->now, looker->steps);
        if (look != LOOK_LOST || looker->steps >= looker->most)
            return look;
    }
}

static bool clock_is_odd(const struct env *env)
{
    return env->now > OWNER_CLOCK_MAX || env->now < -OWNER_CLOCK_MAX;
}

/* The look ahead came as far as `seen`, and no further. */
static void owner_again(const struct env *env, int64_t seen, struct owner *ret)
{
    ret->sure = false;
    if (clock_is_odd(env))
        return;
    ret->until = seen > env->now + OWNER_AGAIN ? seen : env->now + OWNER_AGAIN;
}

/* Goes from change to change until one changes the answer. Some parts of a constraint are the same every week:
 * when they have been seen for a week while nothing else changed, they do not change the answer before something
 * else does. */
static void look_ahead(const struct looker *looker, enum look first, struct owner *ret)
{
    int64_t at = looker->env->now, week = at, once = at; /* `week`: where the present week of looking begins */
    struct next_change turns;
    struct scope inner;
    enum look look;

    next_change_init(&turns, looker->env, looker->scratch, OWNER_STEPS_MAX);
    scope_inside(&inner, looker->scope, looker->left);
    for (;;) {
        next_change_find(&turns, &inner, tree_root(looker->left), at);
        if (turns.spent || turns.steps < looker->steps) {
            owner_again(looker->env, at, ret);
            return;
        }
        if (at == week)
            once = turns.once;
        at = turns.next;
        if (at >= week + TURNS_WEEK && at < once)
            at = once;
        if (at == TURNS_NEVER)
            return;
        if (at >= once)
            week = at;
        turns.steps -= looker->steps;
        look = look_at(looker, at, looker->steps * OWNER_TRY_MORE);
        if (look != first) {
            ret->until = at;
            ret->sure = look != LOOK_LOST;
            return;
        }
    }
}

/* Has specialisation given up, and left a mere reference to the attribute? */
static bool left_unchanged(const struct tree *left, const struct expr *constraint)
{
    const struct expr *root = tree_root(left);

    return root->kind == EXPR_NAME && symbol_same(root->u.name.id, constraint->label);
}

/* Looks at a constraint that stands in a scope; NULL: there is none. */
static void constraint_look(const struct env *env, struct arena *scratch, const struct scope *scope,
                            const struct expr *constraint, struct owner *ret)
{
    struct looker looker = {.env = env, .scratch = scratch, .scope = scope};
    enum look look;

    *ret = (struct owner){.open = true, .sure = true, .until = OWNER_NEVER};
    if (!constraint)
        return;
    looker.left = specialize(env, scratch, scope, constraint, SPECIALIZE_TRUTH);
    if (left_unchanged(looker.left, constraint)) { /* chance, or too much work */
        struct tree *left = specialize(env, scratch, scope, constraint, SPECIALIZE_TRUTH | SPECIALIZE_TIME);

        ret->open = !tree_is_false(left);
        owner_again(env, env->now, ret);
        tree_unref(left);
    } else if (tree_root(looker.left)->kind == EXPR_BOOLEAN) {
        ret->open = !tree_is_false(looker.left);
    } else {
        look = look_first(&looker);
        ret->open = look != LOOK_CLOSED;
        if (look == LOOK_LOST || clock_is_odd(env))
            owner_again(env, env->now, ret);
        else
            look_ahead(&looker, look, ret);
    }
    tree_unref(looker.left);
}

/* --------------------------------------------------------------------------------------------------------- ports */

/* The scope of a port, inside the scopes of the groups around it, which are made in `around`. */
static void port_scope(const struct ports *ports, const struct scope *outer, uint32_t port,
                       struct scope around[PORTS_GROUP_DEPTH], struct scope *ret)
{
    uint32_t groups[PORTS_GROUP_DEPTH], depth = 0;

    for (uint32_t at = ports->items[port].group; at != PORTS_NO_GROUP && depth < PORTS_GROUP_DEPTH;
         at = ports->groups[at].outer)
        if (ports->groups[at].ad != tree_root(ports->ad))
            groups[depth++] = at;
    for (uint32_t i = 0; depth > 0; i++) {
        scope_open(&around[i], outer, ports->groups[groups[--depth]].ad);
        outer = &around[i];
    }
    scope_open(ret, outer, ports->items[port].ad);
}

/* Must this port be filled, whatever the others are? */
static bool port_is_needed(const struct port *port)
{
    return !port->optional && port->group == PORTS_NO_GROUP;
}

/* A counterpart docks at one of the ports, and every port that must be filled has to be filled by somebody. So the ad
 * is closed when nobody can satisfy one such port, or when nobody can satisfy any port. Labels stand for counterparts,
 * which are not known here, as with an ad without ports. */
static void ports_look(const struct env *env, struct arena *scratch, const struct tree *ad, const struct ports *ports,
                       struct owner *ret)
{
    struct scope outer, around[PORTS_GROUP_DEPTH], scope;
    bool any = false, needed = true;

    *ret = (struct owner){.sure = ports->count == 1, .until = OWNER_NEVER};
    scope_init(&outer, ad, NULL);
    for (uint32_t i = 0; i < ports->count; i++) {
        struct owner one;

        port_scope(ports, &outer, i, around, &scope);
        constraint_look(env, scratch, &scope, port_constraint(ports, i), &one);
        any = any || one.open;
        needed = needed && (one.open || !port_is_needed(&ports->items[i]));
        ret->until = one.until < ret->until ? one.until : ret->until;
        ret->sure = ret->sure && one.sure;
    }
    ret->open = any && needed;
    ret->sure = ret->sure || ret->until == OWNER_NEVER;
}

void owner_look(const struct env *env, struct arena *scratch, const struct tree *ad, struct owner *ret)
{
    struct ports ports;
    struct scope scope;

    if (dock_has_ports(ad) && ports_read(&ports, ad, NULL) == 0) {
        ports_look(env, scratch, ad, &ports, ret);
        ports_done(&ports);
        return;
    }
    scope_init(&scope, ad, NULL);
    constraint_look(env, scratch, &scope, match_constraint(ad), ret);
}

/* ---------------------------------------------------------------------------------------------------------- why */

/* The clauses of a constraint as it is written, through names that stand alone. */
struct reasons {
    const struct env *env;
    struct arena *scratch;
    struct buf *out;
    uint32_t told;
    bool more; /* there are more clauses than may be told */
    unsigned depth;
};

#define REASONS_DEPTH_MAX 16
#define REASONS_FACTS_MAX 6 /* names with their values, for each clause */

/* Is that part of the constraint false, whoever asks? */
static bool part_refuses(const struct reasons *reasons, const struct scope *scope, const struct expr *e,
                         const struct active *active)
{
    struct tree *left =
        specialize_part(reasons->env, reasons->scratch, scope, e, active, SPECIALIZE_TRUTH | SPECIALIZE_TIME);
    bool refuses = tree_is_false(left);

    tree_unref(left);
    return refuses;
}

/* "name is value" for each attribute of the ad, or time, that the clause reads; each once. */
struct facts {
    const struct expr *told[REASONS_FACTS_MAX];
    uint32_t count;
};

static bool expr_is_fact(const struct scope *scope, const struct expr *e)
{
    const struct scope *at = scope;
    const struct function *function;

    if (e->kind == EXPR_NAME)
        return scope_find(&at, e->u.name.id) != NULL;
    if (e->kind != EXPR_CALL || e->small != 0)
        return false;
    function = function_find(scope->tree->dialect, e->u.name.id);
    return function && function->traits & FUNCTION_TIME;
}

static void facts_tell(const struct reasons *reasons, const struct scope *scope, const struct expr *e,
                       struct facts *facts)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct arena_mark mark = arena_mark(reasons->scratch);
    struct eval eval;
    struct value v;
    size_t start;

    if (e->kind == EXPR_AD)
        return;
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if (e->kind != EXPR_PATH || i == 0)
            facts_tell(reasons, scope, &parts[i], facts);
    if (facts->count == REASONS_FACTS_MAX || !expr_is_fact(scope, e))
        return;
    for (uint32_t i = 0; i < facts->count; i++)
        if (tree_equal(scope->tree, facts->told[i], scope->tree, e))
            return;
    eval_init(&eval, reasons->env, reasons->scratch);
    eval_expr(&eval, scope, e, &v);
    if (v.type < VALUE_LIST) {
        buf_adds(reasons->out, facts->count ? ", " : " (");
        facts->told[facts->count++] = e;
        print_expr(reasons->out, scope->tree, e, PRINT_PLAIN);
        buf_adds(reasons->out, " is ");
        start = reasons->out->len;
        value_print(reasons->out, scope->tree->dialect, &v, PRINT_PLAIN);
        buf_cut(reasons->out, start, OWNER_CLAUSE_MAX);
    }
    arena_rewind(reasons->scratch, mark);
}

static void reason_tell(struct reasons *reasons, const struct scope *scope, const struct expr *e)
{
    struct facts facts = {.count = 0};
    size_t start;

    if (reasons->told == OWNER_WHY_MAX) {
        reasons->more = true;
        return;
    }
    buf_adds(reasons->out, reasons->told++ ? ", nor " : "no counterpart can satisfy ");
    start = reasons->out->len;
    print_expr(reasons->out, scope->tree, e, PRINT_PLAIN);
    buf_cut(reasons->out, start, OWNER_CLAUSE_MAX);
    facts_tell(reasons, scope, e, &facts);
    if (facts.count)
        buf_addc(reasons->out, ')');
}

static void reasons_find(struct reasons *reasons, const struct scope *scope, const struct expr *e,
                         const struct active *active)
{
    const struct expr *parts = tree_parts(scope->tree, e), *found = NULL;
    const struct scope *at = scope;
    uint32_t told = reasons->told;

    if (reasons->more || !part_refuses(reasons, scope, e, active))
        return;
    if (reasons->depth < REASONS_DEPTH_MAX) {
        reasons->depth++;
        if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
            for (uint32_t i = 0; i < e->u.run.count; i++)
                reasons_find(reasons, scope, &parts[i], active);
        } else if (e->kind == EXPR_NAME && (found = scope_find(&at, e->u.name.id)) && !expr_is_literal(found)) {
            struct active inner = {found, at->around, active};

            reasons_find(reasons, at, found, &inner);
        }
        reasons->depth--;
    }
    if (told == reasons->told && !reasons->more)
        reason_tell(reasons, scope, e);
}

/* Tells of the ports that nobody can satisfy; of none while the ad is open. */
static void ports_why(struct reasons *reasons, const struct scope *outer, const struct ports *ports)
{
    struct scope around[PORTS_GROUP_DEPTH], scope;
    struct owner owner;

    ports_look(reasons->env, reasons->scratch, outer->tree, ports, &owner);
    for (uint32_t i = 0; i < ports->count && !owner.open; i++) {
        const struct expr *constraint = port_constraint(ports, i);

        port_scope(ports, outer, i, around, &scope);
        if (constraint)
            reasons_find(reasons, &scope, constraint, &(struct active){constraint, NULL, NULL});
    }
}

void owner_why(const struct env *env, struct arena *scratch, const struct tree *ad, struct buf *out)
{
    struct reasons reasons = {.env = env, .scratch = scratch, .out = out};
    const struct expr *constraint = match_constraint(ad);
    struct scope scope;
    struct ports ports;

    scope_init(&scope, ad, NULL);
    if (dock_has_ports(ad) && ports_read(&ports, ad, NULL) == 0) {
        ports_why(&reasons, &scope, &ports);
        ports_done(&ports);
    } else if (constraint) {
        reasons_find(&reasons, &scope, constraint, &(struct active){constraint, NULL, NULL});
    }
    if (reasons.more)
        buf_adds(out, ", nor others");
}

/* -------------------------------------------------------------------------------------------------------- alone */

/* The clauses of a constraint, each with a counterpart and with nobody. */
struct aloneness {
    struct reasons reasons;   /* for what is false whoever asks */
    const struct scope *with; /* the ad's scope, with the counterpart around it */
    uint64_t spent, most;     /* steps of evaluation: names that stand in one another many times multiply the clauses */
    unsigned depth;
};

static bool clause_is_true(const struct aloneness *alone, const struct expr *e)
{
    struct arena_mark mark = arena_mark(alone->reasons.scratch);
    struct eval eval;
    struct value v;
    bool truth = false;

    eval_init(&eval, alone->reasons.env, alone->reasons.scratch);
    eval_expr(&eval, alone->with, e, &v);
    truth = op_condition(alone->with->tree->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
    arena_rewind(alone->reasons.scratch, mark);
    return truth;
}

static bool clause_is_owners(struct aloneness *alone, const struct scope *scope, const struct expr *e,
                             const struct active *active)
{
    const struct expr *parts = tree_parts(scope->tree, e), *found = NULL;
    const struct scope *at = scope;
    bool owners = true;

    if (alone->spent >= alone->most)
        return false;
    if (!part_refuses(&alone->reasons, scope, e, active))
        return clause_is_true(alone, e);
    if (alone->depth == REASONS_DEPTH_MAX)
        return true;
    alone->depth++;
    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count && owners; i++)
            owners = clause_is_owners(alone, scope, &parts[i], active);
    } else if (e->kind == EXPR_NAME && (found = scope_find(&at, e->u.name.id)) && !expr_is_literal(found)) {
        struct active inner = {found, at->around, active};

        owners = clause_is_owners(alone, at, found, &inner);
    }
    alone->depth--;
    return owners;
}

bool owner_alone(const struct env *env, struct arena *scratch, const struct tree *ad, const struct tree *counterpart,
                 uint64_t *steps)
{
    const struct expr *constraint = match_constraint(ad);
    struct aloneness alone = {.reasons = {.scratch = scratch}, .most = env->steps ? env->steps : EVAL_STEPS_MAX};
    struct active active = {constraint, NULL, NULL};
    struct env metered = *env;
    struct scope scope;
    struct pair pair;
    bool owners;

    if (!constraint || dock_has_ports(ad))
        return false;
    metered.meter = &alone.spent;
    metered.meter_end = alone.most;
    alone.reasons.env = &metered;
    pair_init(&pair, ad, counterpart);
    alone.with = &pair.left;
    scope_init(&scope, ad, NULL);
    owners = part_refuses(&alone.reasons, &scope, constraint, &active) &&
             clause_is_owners(&alone, &scope, constraint, &active);
    *steps += alone.spent;
    return owners;
}
