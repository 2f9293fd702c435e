/* port_view.c: one port of a request alone, and offers as those who might dock there. */
#include "match/gang/port_view.h"

#include "lang/ad/refs.h"
#include "lang/base/mem.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"

#include <stdlib.h>

/* Adds the attributes of a window that are open: each is a reference to the counterpart's attribute of the same name. */
static void names_open(struct name_set *open, const struct tree *window)
{
    const struct expr *root = tree_root(window), *parts = tree_parts(window, root);

    for (uint32_t i = 0; i < root->u.run.count; i++)
        if (parts[i].kind == EXPR_DOT && symbol_same(EXPR_DOT_BASE(&parts[i]), NAME_OTHER) &&
            symbol_same(parts[i].u.name.id, parts[i].label))
            name_set_add(open, parts[i].label);
}

void port_view_take(struct port_view *view, struct tree *window)
{
    const struct expr *constraint = match_constraint(window);

    *view = (struct port_view){.window = window};
    names_open(&view->open, window);
    if (constraint)
        name_set_read(&view->reads, window, constraint);
}

void port_view_done(struct port_view *view)
{
    name_set_done(&view->open);
    name_set_done(&view->reads);
    tree_unref(view->window);
    *view = (struct port_view){0};
}

bool port_view_doubts(const struct port_view *view, const struct tree *face)
{
    struct name_set open = {0};
    bool doubtful = false;

    names_open(&open, face);
    for (uint32_t i = 0; i < open.count && !doubtful; i++)
        doubtful = name_set_has(&view->reads, open.items[i]);
    name_set_done(&open);
    return doubtful;
}

bool port_view_hangs(const struct port_view *view, const struct tree *face, const struct expr *e)
{
    bool hangs = false;
    struct pair pair;
    struct refs refs;

    pair_init(&pair, face, view->window);
    refs_init(&refs);
    refs_add(&refs, &pair.left, e);
    for (uint32_t i = 0; i < refs.count && !hangs; i++)
        hangs = refs.items[i].len > 0 && name_set_has(&view->open, refs.items[i].path[0]);
    refs_done(&refs);
    return hangs;
}

/* Pushes the clauses of a face that can be judged now; returns how many. */
static uint32_t clauses_push(const struct port_view *view, const struct tree *face, const struct expr *e,
                             struct build *build)
{
    const struct expr *parts = tree_parts(face, e);
    uint32_t count = 0;

    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            count += clauses_push(view, face, &parts[i], build);
        return count;
    }
    if (port_view_hangs(view, face, e))
        return 0;
    build_copy(build, face, e);
    build_top(build)->label = OP_AND;
    build_top(build)->flags = 0;
    return 1;
}

struct tree *port_view_judge(const struct port_view *view, struct tree *face)
{
    const struct expr *root = tree_root(face), *parts = tree_parts(face, root), *constraint = match_constraint(face);
    uint32_t count = 0, clauses, place;
    uint64_t bits = 0, read = refs_bits(face);
    struct build build;
    struct tree *judged;

    for (uint32_t i = 0; i < view->open.count; i++)
        bits |= read & refs_bit(view->open.items[i]);
    if (!constraint || !bits)
        return tree_ref(face);
    build_init(&build, face->symbols, face->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (&parts[i] == constraint) {
            clauses = clauses_push(view, face, constraint, &build);
            if (clauses == 0)
                continue;
            if (clauses > 1)
                build_bind(&build, EXPR_CHAIN, clauses);
        } else {
            build_copy(&build, face, &parts[i]);
        }
        symbols_hold(build.symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        count++;
    }
    judged = build_ad(&build, count, &place) == 0 ? build_seal(&build) : tree_ref(face);
    build_done(&build);
    return judged;
}

/* A slot of an ad as a plain ad, with nobody docked. */
static struct tree *slot_window(const struct env *env, struct arena *scratch, const struct policy *policy,
                                const struct ported *of, uint32_t port)
{
    struct members *members = mem_alloc(sizeof *members);
    struct window_trace trace = {0};
    struct tree *window;
    uint32_t member;

    members_init(members, env, policy, scratch);
    member = members_push(members, of, 0);
    window = window_traced(members, members_slot(members, member, member_slot_of(of, port)), &trace);
    members_pop(members);
    members_done(members);
    free(trace.items);
    free(members);
    return window;
}

struct tree *port_view_window(const struct env *env, struct arena *scratch, const struct policy *policy,
                              const struct ported *request, uint32_t port)
{
    return slot_window(env, scratch, policy, request, port);
}

/* How well they fit: 0 not at all, 1 the port takes the face, 2 both take each other. */
static int face_fits(const struct port_view *view, const struct env *env, struct arena *scratch,
                     const struct tree *face, uint64_t *steps)
{
    if (!match_accepts_counted(env, scratch, view->window, face, steps))
        return 0;
    return match_accepts_counted(env, scratch, face, view->window, steps) ? 2 : 1;
}

struct tree *port_view_face(const struct port_view *view, const struct env *env, struct arena *scratch,
                            const struct policy *policy, struct tree *offer, bool *ret_doubtful, uint64_t *steps)
{
    struct tree *best = NULL;
    struct ported of;
    int fits = -1;

    *ret_doubtful = false;
    if (!tree_find(offer, tree_root(offer), NAME_PORTS))
        return port_view_judge(view, offer);
    if (ported_init(&of, offer, NULL) < 0)
        return NULL;
    for (uint32_t i = 0; i < of.ports.count && fits < 2; i++) {
        struct tree *window = of.ports.items[i].set ? NULL : slot_window(env, scratch, policy, &of, i), *face;
        int how;

        if (!window)
            continue;
        if (port_view_doubts(view, window)) {
            *ret_doubtful = true;
            tree_unref(window);
            continue;
        }
        face = port_view_judge(view, window);
        tree_unref(window);
        how = face_fits(view, env, scratch, face, steps);
        if (how > fits) {
            tree_unref(best);
            best = face;
            fits = how;
        } else {
            tree_unref(face);
        }
    }
    ported_done(&of);
    if (best && fits < 2 && *ret_doubtful) { /* one of the others may fit */
        tree_unref(best);
        best = NULL;
    }
    *ret_doubtful = *ret_doubtful && !best;
    return best;
}
