/* members.c: a gang as it grows. */
#include "match/gang/members.h"

#include "lang/ad/ops.h"
#include "match/pair/order.h"

void members_init(struct members *members, const struct env *env, const struct policy *policy, struct arena *scratch)
{
    members->env = env;
    members->policy = policy;
    members->scratch = scratch;
    members->count = 0;
    members->evaluations = members->steps = 0;
    members->veiled = false;
    members->vector_env = NULL;
    members->vector_user = NULL;
    arena_init(&members->arena);
}

void members_done(struct members *members)
{
    arena_done(&members->arena);
}

uint32_t member_slot_of(const struct ported *of, uint32_t port)
{
    uint32_t slot = 0;

    for (uint32_t i = 0; i < port; i++)
        slot += of->ports.items[i].set ? of->ports.items[i].max + 1 : 1;
    return slot;
}

/* The scope in which a group's entries stand, itself inside that of the group around it. */
static const struct scope *group_scope(struct arena *arena, const struct slot *slot, const struct ports *ports,
                                       uint32_t group)
{
    struct scope *scope;

    if (group == PORTS_NO_GROUP || ports->groups[group].ad == tree_root(ports->ad))
        return &slot->ad;
    scope = arena_alloc(arena, sizeof *scope);
    scope_open(scope, group_scope(arena, slot, ports, ports->groups[group].outer), ports->groups[group].ad);
    return scope;
}

static void slot_init(struct arena *arena, struct slot *slot, const struct ported *of, struct label *labels,
                      uint32_t port)
{
    const struct ports *ports = &of->ports;

    slot->labels = labels;
    slot->port_number = port;
    slot->state = SLOT_OPEN;
    slot->docked = NOBODY;
    for (uint32_t i = 0; i < ports->count; i++)
        labels[i] = (struct label){ports->items[i].label, LABEL_OPEN, NULL};
    slot->around = (struct surroundings){labels, ports->count, LABEL_OPEN, ports->count - 1 - port};
    if (ports->implicit) {
        scope_init(&slot->port, of->ad, &slot->around);
        return;
    }
    scope_init(&slot->ad, of->ad, &slot->around);
    scope_open(&slot->port, group_scope(arena, slot, ports, ports->items[port].group), ports->items[port].ad);
}

uint32_t members_push(struct members *members, const struct ported *of, size_t place)
{
    uint32_t number = members->count++, ports = of->ports.count, n = 0;
    struct member *member = &members->items[number];
    struct label *labels;

    *member = (struct member){of, place, NOBODY, NOBODY, NOBODY, 0, NULL, arena_mark(&members->arena)};
    member->slots = arena_alloc(&members->arena, of->slot_count * sizeof *member->slots);
    labels = arena_alloc(&members->arena, (size_t)of->slot_count * ports * sizeof *labels);
    for (uint32_t port = 0; port < ports; port++) {
        uint32_t positions = of->ports.items[port].set ? of->ports.items[port].max + 1 : 1;

        for (uint32_t i = 0; i < positions; i++, n++) {
            struct slot *slot = &member->slots[n];

            slot->member = number;
            slot->number = n;
            slot->position = i;
            slot->whole = positions > 1 && i == positions - 1;
            slot_init(&members->arena, slot, of, labels + (size_t)n * ports, port);
        }
    }
    return number;
}

void members_pop(struct members *members)
{
    arena_rewind(&members->arena, members->items[--members->count].mark);
}

/* Shows a slot under its label to the slots behind it. */
static void slot_show(struct members *members, const struct slot *slot, const struct scope *who,
                      const struct value *set)
{
    const struct member *member = &members->items[slot->member];

    for (uint32_t i = slot->number + 1; i < member->of->slot_count; i++) {
        if (member->slots[i].port_number == slot->port_number)
            continue;
        member->slots[i].labels[slot->port_number].scope = who;
        member->slots[i].labels[slot->port_number].set = set;
    }
}

static void slot_fill(struct members *members, struct slot *slot, const struct slot *with)
{
    slot->state = SLOT_FILLED;
    slot->docked = with->member;
    slot->docked_slot = with->number;
    slot->around.counterpart = &with->port;
    slot->labels[slot->port_number].scope = &with->port;
    if (!members->items[slot->member].of->ports.items[slot->port_number].set)
        slot_show(members, slot, &with->port, NULL);
}

static void slot_open_again(struct members *members, struct slot *slot)
{
    slot->state = SLOT_OPEN;
    slot->docked = NOBODY;
    slot->around.counterpart = LABEL_OPEN;
    slot->labels[slot->port_number].scope = LABEL_OPEN;
    if (!members->items[slot->member].of->ports.items[slot->port_number].set)
        slot_show(members, slot, LABEL_OPEN, NULL);
}

/* Settles a set: once every position is decided, the set is a list to the slots behind it, and to its whole. */
static void set_settle(struct members *members, const struct slot *slot)
{
    const struct member *member = &members->items[slot->member];
    const struct port *port = &member->of->ports.items[slot->port_number];
    struct slot *first = &member->slots[slot->number - slot->position], *whole = &first[port->max];
    struct value values[PORTS_SET_MAX];
    uint32_t count = 0;
    struct eval eval;

    if (!port->set)
        return;
    whole->state = SLOT_FILLED;
    for (uint32_t i = 0; i < port->max; i++) {
        if (first[i].state == SLOT_OPEN)
            whole->state = SLOT_OPEN;
        if (first[i].state == SLOT_FILLED) {
            const struct scope *who = first[i].around.counterpart;

            values[count++] = (struct value){.type = VALUE_AD, .u.aggregate = who->ad, .scope = who};
        }
    }
    whole->around.counterpart = NULL;
    whole->labels[slot->port_number].set = NULL;
    whole->labels[slot->port_number].scope = LABEL_OPEN;
    if (whole->state == SLOT_FILLED && count == 0) { /* as a port that stays empty */
        whole->state = SLOT_EMPTY;
        whole->labels[slot->port_number].scope = NULL;
    }
    if (whole->state == SLOT_FILLED) {
        eval_init(&eval, members->env, &members->arena);
        eval_make_list(&eval, member->of->ad->dialect, values, count, &whole->set);
        whole->labels[slot->port_number].set = &whole->set;
        whole->labels[slot->port_number].scope = NULL;
    }
    slot_show(members, whole, whole->labels[slot->port_number].scope, whole->labels[slot->port_number].set);
}

void members_dock(struct members *members, uint32_t parent, uint32_t slot, uint32_t child, uint32_t link)
{
    struct slot *at = members_slot(members, parent, slot), *with = members_slot(members, child, link);
    struct member *member = &members->items[child];

    member->parent = parent;
    member->parent_slot = slot;
    member->link = link;
    member->depth = members->items[parent].depth + 1;
    slot_fill(members, at, with);
    slot_fill(members, with, at);
    set_settle(members, at);
}

void members_undock(struct members *members, uint32_t child)
{
    struct member *member = &members->items[child];
    struct slot *at = members_slot(members, member->parent, member->parent_slot);

    slot_open_again(members, at);
    slot_open_again(members, members_slot(members, child, member->link));
    set_settle(members, at);
    member->parent = NOBODY;
}

void members_leave(struct members *members, uint32_t member, uint32_t slot)
{
    struct slot *at = members_slot(members, member, slot);

    at->state = SLOT_EMPTY;
    at->around.counterpart = NULL;
    at->labels[at->port_number].scope = NULL;
    if (!members->items[member].of->ports.items[at->port_number].set)
        slot_show(members, at, NULL, NULL);
    set_settle(members, at);
}

void members_reopen(struct members *members, uint32_t member, uint32_t slot)
{
    struct slot *at = members_slot(members, member, slot);

    slot_open_again(members, at);
    set_settle(members, at);
}

/* ---------------------------------------------------------------------------------------------------------- expressions */

/* How many members the set of a whole has. */
static int64_t set_size(const struct slot *whole)
{
    return whole->state == SLOT_FILLED ? (int64_t)whole->set.len : 0;
}

static bool evaluate_in(struct members *members, const struct env *env, const struct scope *scope, const struct expr *e,
                        struct value *ret)
{
    struct active active = {e, scope->around, NULL};
    struct eval eval;
    uint64_t steps;

    eval_init(&eval, env, members->scratch);
    eval.active = &active;
    steps = eval.steps;
    eval_expr(&eval, scope, e, ret);
    members->steps += steps - eval.steps;
    if (eval.exhausted)
        *ret = value_error();
    return !eval.open;
}

bool members_evaluate(struct members *members, const struct scope *scope, const struct expr *e, struct value *ret)
{
    return evaluate_in(members, members->env, scope, e, ret);
}

/* Evaluates in a slot. In a whole, SetSize is known as well. */
static bool slot_evaluate(struct members *members, const struct slot *slot, const struct scope *scope,
                          const struct expr *e, struct value *ret)
{
    struct env env = *members->env;
    struct given *given;

    if (!slot->whole)
        return evaluate_in(members, members->env, scope, e, ret);
    given = arena_alloc(members->scratch, (env.given_count + 1) * sizeof *given);
    for (uint32_t i = 0; i < env.given_count; i++)
        given[i + 1] = env.given[i];
    given[0] = (struct given){NAME_SETSIZE, value_integer(set_size(slot))};
    env.given = given;
    env.given_count++;
    return evaluate_in(members, &env, scope, e, ret);
}

static bool clauses_walk(const struct members *members, const struct slot *slot, const struct expr *e, clause_fn *each,
                         void *user)
{
    const struct ported *of = members->items[slot->member].of;
    const struct expr *parts = tree_parts(of->ad, e);

    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            if (!clauses_walk(members, slot, &parts[i], each, user))
                return false;
        return true;
    }
    if (of->ports.items[slot->port_number].set && port_speaks_of_set(&of->ports, slot->port_number, e) != slot->whole)
        return true;
    return each(user, slot, e);
}

bool slot_clauses(const struct members *members, const struct slot *slot, clause_fn *each, void *user)
{
    const struct ported *of = members->items[slot->member].of;
    const struct expr *constraint = port_constraint(&of->ports, slot->port_number);

    return !constraint || clauses_walk(members, slot, constraint, each, user);
}

enum truth members_clause(struct members *members, const struct slot *slot, const struct expr *e)
{
    struct arena_mark mark = arena_mark(members->scratch);
    bool truth = false, known;
    struct value v;

    known = slot_evaluate(members, slot, &slot->port, e, &v);
    truth = op_condition(slot->port.tree->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
    arena_rewind(members->scratch, mark);
    return !known ? TRUTH_OPEN : truth ? TRUTH_YES : TRUTH_NO;
}

struct judging {
    struct members *members;
    enum truth truth;
    uint64_t steps_end; /* of members->steps: the clauses share one budget, as where a constraint is evaluated whole */
};

static bool judge_clause(void *user, const struct slot *slot, const struct expr *e)
{
    struct judging *judging = user;
    bool spent = judging->members->steps >= judging->steps_end;
    enum truth truth = spent ? TRUTH_NO : members_clause(judging->members, slot, e);

    if (truth != TRUTH_YES)
        judging->truth = truth;
    return truth != TRUTH_NO;
}

enum truth members_truth(struct members *members, const struct slot *slot)
{
    uint64_t budget = members->env->steps ? members->env->steps : EVAL_STEPS_MAX;
    struct judging judging = {members, TRUTH_YES, members->steps + budget};

    slot_clauses(members, slot, judge_clause, &judging);
    return judging.truth;
}

/* The Rank (or CurrentRank) that is seen from a slot outward, as it counts. */
static bool slot_rank(struct members *members, const struct slot *slot, symbol name, struct value *ret)
{
    const struct scope *at = &slot->port;
    const struct expr *rank = scope_find(&at, name);
    bool known = true;

    *ret = value_integer(0);
    if (rank) {
        known = slot_evaluate(members, slot, at, rank, ret);
        *ret = order_rank(ret);
    }
    return known;
}

/* Is the docked party free (1), or would it have to send away somebody whom it likes less (0)? An error says that it sends nobody away. */
static bool docked_freedom(struct members *members, const struct slot *slot, struct value *ret)
{
    const struct slot *its = slot->docked == NOBODY ? NULL : members_slot(members, slot->docked, slot->docked_slot);
    const struct tree *ad = its ? members->items[slot->docked].of->ad : NULL;
    struct value rank, now;
    bool known;

    *ret = value_integer(1);
    if (!ad || !tree_find(ad, tree_root(ad), NAME_PREEMPTS))
        return true;
    known = slot_rank(members, its, NAME_RANK, &rank);
    known &= slot_rank(members, its, NAME_CURRENTRANK, &now);
    *ret = order_compare(&rank, &now) > 0 ? value_integer(0) : value_error();
    return known;
}

/* The same for a slot; for a set, of all who are in it. */
static bool slot_freedom(struct members *members, const struct slot *slot, struct value *ret)
{
    const struct slot *end = slot;
    bool known = true;

    if (!slot->whole)
        return docked_freedom(members, slot, ret);
    *ret = value_integer(1);
    for (slot -= members->items[slot->member].of->ports.items[slot->port_number].max; slot < end; slot++) {
        struct value one;

        known &= docked_freedom(members, slot, &one);
        if (one.type != VALUE_INTEGER || one.u.integer == 0)
            *ret = ret->type == VALUE_INTEGER ? one : *ret;
    }
    return known;
}

/* Makes a scope inside the slot's in which `label` is whoever is docked there, whatever names the ad has: [ Label = ... ]. */
static const struct scope *label_scope(struct members *members, const struct slot *slot)
{
    const struct label *label = &slot->labels[slot->port_number];
    struct tree *tree = arena_alloc(members->scratch, sizeof *tree + sizeof(struct expr));
    struct value *docked = arena_alloc(members->scratch, sizeof *docked);
    struct scope *scope = arena_alloc(members->scratch, sizeof *scope);

    *docked = value_undefined();
    if (label->set)
        *docked = *label->set;
    else if (label->scope)
        *docked = (struct value){.type = VALUE_AD, .u.aggregate = label->scope->ad, .scope = label->scope};
    *tree = (struct tree){
        .references = 1, .cell_count = 2, .dialect = slot->port.tree->dialect, .symbols = slot->port.tree->symbols};
    tree->cells[0] = (struct expr){.kind = EXPR_VALUE, .flags = EXPR_FLAG_NAMED, .label = NAME_LABEL};
    tree->cells[0].u.value = docked;
    tree->cells[1] = (struct expr){.kind = EXPR_AD, .u.run = {0, 1}};
    *scope = (struct scope){tree, &tree->cells[1], &slot->port, slot->port.root, slot->port.around};
    return scope;
}

/* Evaluates a component of the policy's vector, which stands in the slot. */
static bool policy_component(struct members *members, const struct slot *slot, const struct expr *e, struct value *ret)
{
    struct given absent[POLICY_ABSENT_MAX + 1] = {{NAME_RANK, {VALUE_INTEGER, false, 0, 0, {0}, NULL}}};
    struct scope *scope = arena_alloc(members->scratch, sizeof *scope);
    struct env env = *members->env;
    uint32_t count = 1;
    struct eval eval;
    uint64_t steps;

    if (members->vector_env)
        env = members->vector_env(members->vector_user, members->env,
                                  slot->docked == NOBODY ? SIZE_MAX : members->items[slot->docked].place);
    for (; count <= POLICY_ABSENT_MAX && count <= env.absent_count; count++)
        absent[count] = env.absent[count - 1];
    scope_inside(scope, label_scope(members, slot), members->policy->ad);
    env.absent = absent;
    env.absent_count = count;
    eval_init(&eval, &env, members->scratch);
    steps = eval.steps;
    eval_expr(&eval, scope, e, ret);
    members->steps += steps - eval.steps;
    return !eval.open;
}

uint32_t members_vector(struct members *members, const struct slot *slot, struct arena *arena, struct value **ret,
                        bool *ret_open)
{
    const struct policy *policy = members->policy;
    uint32_t count = policy->vector ? policy->vector->u.run.count : 3;
    struct value *components = arena_alloc(arena, count * sizeof *components);
    struct arena *scratch = members->scratch;

    members->scratch = arena; /* strings that are made on the way are part of the answer */
    *ret_open = false;
    for (uint32_t i = 0; i < count; i++) {
        if (policy->vector)
            *ret_open |= !policy_component(members, slot, &tree_parts(policy->ad, policy->vector)[i], &components[i]);
        else if (i == 0)
            *ret_open |= !slot_freedom(members, slot, &components[i]);
        else if (i == 1)
            *ret_open |= !slot_rank(members, slot, NAME_RANK, &components[i]);
        else if (slot->docked != NOBODY)
            *ret_open |=
                !slot_rank(members, members_slot(members, slot->docked, slot->docked_slot), NAME_RANK, &components[i]);
        else
            components[i] = value_integer(0);
        if (!order_has(&components[i]) && !*ret_open)
            count = 0;
    }
    members->scratch = scratch;
    *ret = components;
    return count;
}
