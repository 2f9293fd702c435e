/* gang_why_port.c: a port of the request alone, explained as a plain request is: its window against the faces of the offers.
 *
 * An attribute that is open in a window or a face is a reference back to whoever asks (window.h). Here nobody may be blamed for that: a clause of
 * an offer that reads something open of the request is left out, and an offer of which the port reads something open is set aside.
 *
 * Windows say `other`; what is told is the clause as its owner wrote it, under the label. */
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/gang/gang_why_parts.h"
#include "match/gang/port_view.h"

#include <stdlib.h>
#include <string.h>

struct tree *gang_why_relabel(const struct tree *tree, symbol label)
{
    struct tree *result;
    struct build build;

    build_init(&build, tree->symbols, tree->dialect);
    build_copy(&build, tree, tree_root(tree));
    for (uint32_t i = 0; i < build.cell_count + build.stack_count; i++) {
        struct expr *cell = i < build.cell_count ? &build.cells[i] : &build.stack[i - build.cell_count];

        if (cell->kind != EXPR_DOT || !symbol_same(EXPR_DOT_BASE(cell), NAME_OTHER))
            continue;
        symbols_hold(build.symbols, label);
        symbols_drop(build.symbols, EXPR_DOT_BASE(cell));
        EXPR_DOT_BASE(cell) = label;
    }
    result = build_seal(&build);
    build_done(&build);
    return result;
}

/* The port that is explained. */
struct port_asking {
    struct gang_asking *asking;
    struct gang_why_port *of;
    struct port_view view; /* of its window */
    struct tree **faces;   /* the faces that the port is explained with */
    uint32_t *numbers;     /* the numbers of those faces */
    uint32_t count;
};

/* Takes a face that is judged; of an offer whose policy is hidden, returns what may be told of it. */
static struct tree *face_shown(const struct port_asking *port, uint32_t number, struct tree *judged)
{
    const struct gang_asking *asking = port->asking;
    const struct members *members = &asking->members;
    uint64_t steps = 0;
    struct tree *masked;

    if (!gang_why_hides(asking, asking_place(asking, asking->offers.faces[number].offer)))
        return judged;
    masked = asking->terms->mask(
        judged, match_accepts_counted(members->env, members->scratch, judged, port->of->window, &steps));
    tree_unref(judged);
    return masked;
}

static void port_faces(struct port_asking *port)
{
    const struct gang_asking *asking = port->asking;

    port_view_take(&port->view, tree_ref(port->of->window));
    port->faces = mem_alloc((asking->offers.face_count + 1) * sizeof *port->faces);
    port->numbers = mem_alloc((asking->offers.face_count + 1) * sizeof *port->numbers);
    for (uint32_t i = 0; i < asking->offers.face_count; i++) {
        if (!asking->faces[i])
            continue;
        if (!asking->offers.items[asking->offers.faces[i].offer].ported.ports.implicit &&
            port_view_doubts(&port->view, asking->faces[i])) {
            port->of->doubtful++;
            continue;
        }
        port->numbers[port->count] = i;
        port->faces[port->count++] = face_shown(port, i, port_view_judge(&port->view, asking->faces[i]));
    }
}

/* ------------------------------------------------------------------------------------------------- as its owner wrote it */

/* What the clause calls whoever docks there: the label, `other` or TARGET. */
static symbol origin_label(const struct tree *ad, const struct expr *e, symbol label)
{
    const struct expr *parts = tree_parts(ad, e);
    symbol found = label;

    if (e->kind == EXPR_DOT &&
        (symbol_same(EXPR_DOT_BASE(e), NAME_OTHER) || symbol_same(EXPR_DOT_BASE(e), NAME_TARGET)))
        return EXPR_DOT_BASE(e);
    for (uint32_t i = 0; i < expr_part_count(e) && found == label; i++)
        if (!expr_is_literal(&parts[i]))
            found = origin_label(ad, &parts[i], label);
    return found;
}

static symbol clause_label(const struct port_asking *port, const struct expr *e)
{
    const struct ports *ports = &port->asking->why->ports;

    return origin_label(ports->ad, e, ports->items[port->of->port].label);
}

/* Writes a text of a window with the label in the place of `other`. */
static const char *text_relabel(struct port_asking *port, const char *text, symbol label)
{
    struct tree *window = port->of->window, *said, *shown;
    const char *result = text;
    struct build build;
    struct err err;
    struct buf out;

    if (!text)
        return NULL;
    build_init(&build, window->symbols, window->dialect);
    said = parse_expr(&build, NULL, text, strlen(text), &err);
    if (said) {
        shown = gang_why_relabel(said, label);
        buf_init(&out);
        print_tree(&out, shown, PRINT_PLAIN);
        result = gang_why_text(port->asking->why, &out);
        buf_done(&out);
        tree_unref(shown);
    }
    tree_unref(said);
    build_done(&build);
    return result;
}

static const char *origin_text(struct port_asking *port, const struct expr *e)
{
    const char *result;
    struct buf out;

    buf_init(&out);
    print_expr(&out, port->asking->root.ad, e, PRINT_PLAIN);
    result = gang_why_text(port->asking->why, &out);
    buf_done(&out);
    return result;
}

static void edits_restore(struct port_asking *port)
{
    struct why *why = &port->of->why;

    for (uint32_t i = 0; i < why->edit_count; i++) {
        for (uint32_t k = 0; k < why->edits[i].part_count; k++) {
            struct why_change *change = &why->edits[i].parts[k];

            if (change->kind == WHY_CHANGE_ATTRIBUTE)
                continue;
            change->from = origin_text(port, why->clauses[change->clause].e);
            change->to = text_relabel(port, change->to, clause_label(port, why->clauses[change->clause].e));
        }
    }
}

/* Drops conflicts that the time causes: a clause that is false because of the time is no reason to give up for ever. */
static void conflicts_restore(struct why *why)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < why->conflict_count; i++)
        if (!why->clauses[why->conflicts[i].a].timed && !why->clauses[why->conflicts[i].b].timed)
            why->conflicts[count++] = why->conflicts[i];
    why->conflict_count = count;
    if (why->verdict == WHY_NEVER && count == 0)
        why->verdict = WHY_NOT_NOW;
}

static void clauses_restore(struct port_asking *port, const struct window_trace *trace)
{
    struct gang_why *gang = port->asking->why;
    struct why *why = &port->of->why;
    uint32_t n = 0;

    port->of->later = arena_alloc(&gang->arena, (trace->count + 1) * sizeof *port->of->later);
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct window_origin *origin = &trace->items[i];
        struct tree *left;

        if (!origin->asked) {
            port->of->later[port->of->later_count++] = origin->e;
            continue;
        }
        if (n == why->clause_count)
            continue; /* counted with the last one that is told */
        left = why->clauses[n].left;
        why->clauses[n].left = gang_why_relabel(left, clause_label(port, origin->e));
        tree_unref(left);
        why->clauses[n].e = origin->e;
        why->clauses[n].timed = origin->timed;
        why->clauses[n].never = why->clauses[n].never && !origin->timed;
        n++;
    }
}

/* Which clause of a flat conjunction `e` is, from 0. */
static uint32_t clause_number(const struct tree *tree, const struct expr *e)
{
    const struct expr *constraint = match_constraint(tree), *parts = tree_parts(tree, constraint);

    return constraint == e ? 0 : (uint32_t)(e - parts);
}

/* Finds the clause of an offer's port as it is written, for the n-th clause of its judged face; NULL when it is not found. */
static const struct expr *face_origin(struct port_asking *port, uint32_t number, uint32_t n)
{
    struct gang_asking *asking = port->asking;
    const struct face *of = &asking->offers.faces[number];
    const struct stocked_offer *offer = &asking->offers.items[of->offer];
    const struct tree *face = asking->faces[number];
    const struct expr *constraint = match_constraint(face), *parts = tree_parts(face, constraint), *found = NULL;
    bool chain = constraint->kind == EXPR_CHAIN && parts[1].label == OP_AND;
    struct window_trace trace = {0};
    uint32_t member = members_push(&asking->members, &offer->ported, offer->place), place = 0;

    tree_unref(window_traced(&asking->members,
                             members_slot(&asking->members, member, member_slot_of(&offer->ported, of->port)), &trace));
    members_pop(&asking->members);
    for (uint32_t i = 0; i < trace.count && !found; i++) {
        if (!trace.items[i].asked)
            continue;
        if (!port_view_hangs(&port->view, face, chain ? &parts[place] : constraint) && n-- == 0)
            found = trace.items[i].e;
        place++;
    }
    free(trace.items);
    return found;
}

/* Restores the offers' clauses as they are written, and the offers by their places. */
static void refusals_restore(struct port_asking *port)
{
    const struct gang_asking *asking = port->asking;
    struct why *why = &port->of->why;

    for (uint32_t i = 0; i < why->refusal_count; i++) {
        struct why_refusal *refusal = &why->refusals[i];
        uint32_t number = port->numbers[refusal->first], offer = asking->offers.faces[number].offer;
        const struct expr *e;

        refusal->first = asking_place(asking, offer);
        if (!asking->offers.items[offer].ported.ports.implicit && !gang_why_hides(asking, refusal->first)) {
            e = face_origin(port, number, clause_number(refusal->offer, refusal->e));
            if (e) {
                refusal->offer = asking->offers.items[offer].ported.ad;
                refusal->e = e;
                continue;
            }
        }
        gang_why_hold(asking->why, tree_ref((struct tree *)refusal->offer));
    }
}

#define SPENT_STEPS \
    2000 /* steps of an evaluation when the budget is spent: what is quickly found is told of the later ports */
#define PORT_STEPS 100000 /* steps of evaluation between two looks at the budget */

static void port_explain(struct gang_asking *asking, uint32_t number)
{
    static const struct policy any = {0};
    struct port_asking port = {.asking = asking, .of = &asking->why->items[number]};
    struct members *members = &asking->members;
    struct window_trace trace = {0};
    uint32_t root = members_push(members, &asking->root, 0);
    struct explaining *run;

    port.of->port = number;
    port.of->window =
        window_traced(members, members_slot(members, root, member_slot_of(&asking->root, number)), &trace);
    members_pop(members);
    port_faces(&port);
    run = why_begin(&port.of->why, members->env, members->scratch, &any, port.of->window, port.faces, port.count);
    while (why_go_on(run, PORT_STEPS) && !gang_why_spent(asking))
        ;
    why_end(run);
    clauses_restore(&port, &trace);
    conflicts_restore(&port.of->why);
    edits_restore(&port);
    refusals_restore(&port);
    if (port.of->why.matching)
        port.of->why.choice.offer =
            asking_place(asking, asking->offers.faces[port.numbers[port.of->why.choice.offer]].offer);
    for (uint32_t i = 0; i < port.count; i++)
        tree_unref(port.faces[i]);
    free(port.faces);
    free(port.numbers);
    port_view_done(&port.view);
    free(trace.items);
}

void gang_why_ports(struct gang_asking *asking)
{
    struct gang_why *why = asking->why;

    why->items = arena_alloc(&why->arena, (why->ports.count + 1) * sizeof *why->items);
    memset(why->items, 0, (why->ports.count + 1) * sizeof *why->items);
    for (uint32_t i = 0; i < why->ports.count; i++) {
        const struct port *port = &why->ports.items[i];

        if (gang_why_spent(asking))
            asking->env.steps = SPENT_STEPS;
        port_explain(asking, i);
        if (why->items[i].why.verdict == WHY_NEVER && !port->optional && port->min > 0 && port->group == PORTS_NO_GROUP)
            why->never = true;
    }
}
