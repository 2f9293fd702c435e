/* take.c: a gang that was found, docked once more with the ads themselves. */
#include "match/gang/take.h"

#include "match/pair/residual.h"

uint32_t taken_before(const struct search *search, uint32_t number)
{
    uint32_t before = number - 1;

    while (before && search->best[before].place != search->best[number].place)
        before--;
    return before;
}

struct tree *taken_left(const struct members *members, uint32_t number)
{
    const struct member *member = &members->items[number];
    const struct slot *link = &member->slots[member->link];

    return residual_make_in(members->env, members->scratch, link->port.parent ? &link->ad : &link->port);
}

void taken_dock(const struct search *search, const struct ported *const *of, struct ported *again)
{
    struct members *members = search->members;
    struct err err;

    members_push(members, of[0], search->best[0].place);
    for (uint32_t i = 1; i < search->best_count; i++) {
        const struct gang_member *at = &search->best[i];
        const struct ported *ported = of[i], *parent = members->items[at->parent].of;
        uint32_t before = taken_before(search, i), slot = member_slot_of(parent, at->port), child;
        struct tree *left = before ? taken_left(members, before) : NULL;

        if (before)
            ported = members->items[before].of;
        if (left && ported_init(&again[i], left, &err) == 0 && ported_kept(&again[i], ported))
            ported = &again[i];
        tree_unref(left);
        child = members_push(members, ported, at->place);
        while (members_slot(members, at->parent, slot)->state != SLOT_OPEN)
            slot++; /* the next position of a set */
        members_dock(members, at->parent, slot, child, member_slot_of(ported, at->link));
    }
}

/* -------------------------------------------------------------------------------------------------------- counterparts */

/* Pushes the attributes that are seen from a scope outward, each as the value that it has now; returns how many. All of them share one budget: past
 * it they are errors. */
static uint32_t seen_push(const struct members *members, struct build *build, const struct scope *from)
{
    uint32_t count = 0;
    struct eval eval;

    eval_init(&eval, members->env, members->scratch);
    for (const struct scope *scope = from; scope; scope = scope->parent) {
        const struct expr *parts = tree_parts(scope->tree, scope->ad);

        for (uint32_t i = 0; i < scope->ad->u.run.count; i++) {
            const struct scope *seen = from;
            struct arena_mark mark = arena_mark(members->scratch);
            struct value v;

            if (!window_shows(parts[i].label) || scope_find(&seen, parts[i].label) != &parts[i])
                continue;
            eval_expr(&eval, scope, &parts[i], &v);
            value_build(build, &v);
            arena_rewind(members->scratch, mark);
            symbols_hold(build->symbols, parts[i].label);
            build_attribute(build, parts[i].label);
            count++;
        }
    }
    return count;
}

/* Pushes those that the member sees under the labels of its own ports, up to the port by which it docks. */
static uint32_t labels_push(const struct members *members, struct build *build, const struct slot *link,
                            const struct scope *superior)
{
    uint32_t count = 0, place;

    for (uint32_t i = 0; i <= link->port_number && link->port.parent; i++) {
        const struct label *label = &link->labels[i];
        struct build_mark mark = build_mark(build);
        const struct scope *at = superior;

        if (label->set || !label->scope || label->scope == LABEL_OPEN || scope_find(&at, label->name) ||
            !window_shows(label->name))
            continue;
        if (build_ad(build, seen_push(members, build, label->scope), &place) < 0) {
            build_rewind(build, mark);
            continue;
        }
        symbols_hold(build->symbols, label->name);
        build_attribute(build, label->name);
        count++;
    }
    return count;
}

struct tree *taken_counterpart(const struct members *members, uint32_t number)
{
    const struct member *member = &members->items[number];
    const struct slot *link = &member->slots[member->link];
    const struct scope *superior = link->around.counterpart;
    struct tree *ad = NULL;
    struct build build;
    uint32_t count, place;

    build_init(&build, superior->tree->symbols, superior->tree->dialect);
    count = seen_push(members, &build, superior);
    count += labels_push(members, &build, link, superior);
    if (build_ad(&build, count, &place) == 0)
        ad = build_seal(&build);
    build_done(&build);
    return ad;
}
