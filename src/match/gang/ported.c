/* ported.c: an ad with its ports read, and which of them depend on each other. */
#include "match/gang/ported.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

uint64_t ports_mentioned(const struct ports *ports, const struct expr *e)
{
    const struct expr *parts = tree_parts(ports->ad, e);
    symbol name = e->kind == EXPR_DOT ? EXPR_DOT_BASE(e) : e->kind == EXPR_NAME ? e->u.name.id : SYMBOL_NONE;
    uint64_t found = 0;

    for (uint32_t i = 0; name && i < ports->count; i++)
        if (symbol_same(ports->items[i].label, name))
            found |= (uint64_t)1 << i;
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if (!expr_is_literal(&parts[i]))
            found |= ports_mentioned(ports, &parts[i]);
    return found;
}

/* What the attributes of an ad mention, except its Ports and the labels themselves. */
static uint64_t ad_mentions(const struct ports *ports, const struct expr *ad)
{
    const struct expr *parts = tree_parts(ports->ad, ad);
    uint64_t found = 0;

    for (uint32_t i = 0; i < ad->u.run.count; i++)
        if (!expr_is_literal(&parts[i]) && !symbol_same(parts[i].label, NAME_PORTS) &&
            !symbol_same(parts[i].label, NAME_LABEL))
            found |= ports_mentioned(ports, &parts[i]);
    return found;
}

/* Connects all ports that are joined by a chain of mentions. */
static void connect_all(struct ported *ported)
{
    uint32_t count = ported->ports.count;
    bool changed = true;

    for (uint32_t i = 0; i < count; i++)
        ported->connected[i] = ported->mentions[i] | (uint64_t)1 << i;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < count; k++) {
                uint64_t both = ported->connected[i] | ported->connected[k];

                if (!(ported->connected[i] & (uint64_t)1 << k) ||
                    (ported->connected[i] == both && ported->connected[k] == both))
                    continue;
                ported->connected[i] = ported->connected[k] = both;
                changed = true;
            }
        }
    }
}

/* Are two expressions of the ad alike, where one says label a and the other b? */
static bool expr_alike(const struct tree *ad, const struct expr *x, symbol a, const struct expr *y, symbol b)
{
    const struct expr *xs = tree_parts(ad, x), *ys = tree_parts(ad, y);

    if (x->kind != y->kind || expr_part_count(x) != expr_part_count(y))
        return false;
    if (expr_is_literal(x))
        return tree_equal(ad, x, ad, y);
    if (x->kind == EXPR_DOT || x->kind == EXPR_NAME) {
        symbol p = x->kind == EXPR_DOT ? EXPR_DOT_BASE(x) : x->u.name.id;
        symbol q = y->kind == EXPR_DOT ? EXPR_DOT_BASE(y) : y->u.name.id;

        if (symbol_same(p, a) != symbol_same(q, b) || (!symbol_same(p, a) && !symbol_same(p, q)))
            return false;
        return x->kind == EXPR_NAME || symbol_same(x->u.name.id, y->u.name.id);
    }
    if ((expr_has_symbol(x) && !symbol_same(x->u.name.id, y->u.name.id)) ||
        (x->kind == EXPR_PREFIX && x->small != y->small))
        return false;
    for (uint32_t i = 0; i < expr_part_count(x); i++) {
        bool named = x->kind == EXPR_AD;

        if (named ? !symbol_same(xs[i].label, ys[i].label) : xs[i].label != ys[i].label)
            return false;
        if (x->kind == EXPR_PATH && i > 0 && xs[i].label == STEP_SELECT) {
            if (!symbol_same(xs[i].u.name.id, ys[i].u.name.id))
                return false;
            continue;
        }
        if (!expr_alike(ad, &xs[i], a, &ys[i], b))
            return false;
    }
    return true;
}

/* Finds ports that could change places: they are alike, and nobody else mentions their labels. */
static void find_twins(struct ported *ported)
{
    const struct ports *ports = &ported->ports;

    for (uint32_t i = 1; i < ports->count; i++) {
        const struct port *x = &ports->items[i - 1], *y = &ports->items[i];
        uint64_t pair = (uint64_t)3 << (i - 1);
        bool apart = x->group == PORTS_NO_GROUP && y->group == PORTS_NO_GROUP && !x->set && !y->set &&
                     x->optional == y->optional && x->share == y->share;

        for (uint32_t k = 0; k < ports->count && apart; k++)
            apart = !(ported->mentions[k] & pair & ~((uint64_t)1 << k));
        if (apart && expr_alike(ports->ad, x->ad, x->label, y->ad, y->label))
            ported->twins |= (uint64_t)1 << i;
    }
}

/* Reads the ports without holding the ad. */
static int ported_read(struct ported *ported, struct tree *ad, struct err *err)
{
    uint64_t outer;

    *ported = (struct ported){0};
    if (ports_read(&ported->ports, ad, err) < 0)
        return -1;
    ported->ad = ad;
    for (uint32_t i = 0; i < ported->ports.count; i++) {
        const struct port *port = &ported->ports.items[i];

        ported->slot_count += port->set ? port->max + 1 : 1;
    }
    if (ported->ports.count == 1)
        return 0;
    ported->mentions = mem_alloc(2 * ported->ports.count * sizeof *ported->mentions);
    ported->connected = ported->mentions + ported->ports.count;
    outer = ad_mentions(&ported->ports, tree_root(ad));
    for (uint32_t i = 0; i < ported->ports.count; i++)
        ported->mentions[i] = ad_mentions(&ported->ports, ported->ports.items[i].ad) | outer;
    connect_all(ported);
    find_twins(ported);
    return 0;
}

int ported_init(struct ported *ported, struct tree *ad, struct err *err)
{
    if (ported_read(ported, ad, err) < 0)
        return -1;
    tree_ref(ad);
    return 0;
}

void ported_done(struct ported *ported)
{
    if (!ported || !ported->ad)
        return;
    free(ported->mentions);
    ports_done(&ported->ports);
    tree_unref(ported->ad);
    *ported = (struct ported){0};
}

struct ported_note {
    struct tree_note note;
    struct ported ported;
    struct ported_memo memo;
};

static void memo_clear(struct ported_note *noted)
{
    for (uint32_t port = 0; port < noted->ported.ports.count; port++)
        if (noted->memo.made >> port & 1)
            tree_unref(noted->memo.windows[port]);
    noted->memo.made = 0;
}

static void ported_note_free(struct tree_note *note)
{
    struct ported_note *noted = (struct ported_note *)(void *)note;

    memo_clear(noted);
    free(noted->memo.windows);
    free(noted->ported.mentions);
    ports_done(&noted->ported.ports);
    free(noted);
}

const struct ported *tree_ported(struct tree *ad)
{
    struct ported_note *noted = (struct ported_note *)(void *)ad->note;
    struct err err;

    if (noted)
        return &noted->ported;
    noted = mem_alloc(sizeof *noted);
    noted->note.free = ported_note_free;
    noted->memo = (struct ported_memo){0};
    if (ported_read(&noted->ported, ad, &err) < 0) {
        free(noted);
        return NULL;
    }
    ad->note = &noted->note;
    return &noted->ported;
}

struct ported_memo *ported_memo(const struct ported *ported, uint64_t asked)
{
    struct ported_note *noted = (struct ported_note *)(void *)ported->ad->note;
    uint32_t count = ported->ports.count;

    if (noted->memo.asked != asked)
        memo_clear(noted);
    noted->memo.asked = asked;
    if (!noted->memo.windows) {
        noted->memo.windows = mem_alloc(count * (sizeof *noted->memo.windows + sizeof *noted->memo.steps));
        noted->memo.steps = (uint64_t *)(void *)(noted->memo.windows + count);
    }
    return &noted->memo;
}

bool ported_kept(const struct ported *left, const struct ported *ported)
{
    if (left->ports.count != ported->ports.count)
        return false;
    for (uint32_t i = 0; i < ported->ports.count; i++)
        if (left->ports.items[i].set != ported->ports.items[i].set)
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- sets */

static bool is_aggregate(const struct tree *tree, symbol function)
{
    static const char *const names[] = {"sum", "min", "max", "avg", "size"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (symbols_named(tree->symbols, function, names[i], strlen(names[i])))
            return true;
    return false;
}

bool port_speaks_of_set(const struct ports *ports, uint32_t port, const struct expr *e)
{
    const struct expr *parts = tree_parts(ports->ad, e);

    if (e->kind == EXPR_NAME && symbol_same(e->u.name.id, NAME_SETSIZE))
        return true;
    if (e->kind == EXPR_CALL && is_aggregate(ports->ad, e->u.name.id) &&
        ports_mentioned(ports, e) & (uint64_t)1 << port)
        return true;
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if (!expr_is_literal(&parts[i]) && port_speaks_of_set(ports, port, &parts[i]))
            return true;
    return false;
}

bool port_ranks_set(const struct ports *ports, uint32_t port)
{
    const struct expr *rank = tree_find(ports->ad, ports->items[port].ad, NAME_RANK);

    return rank && ports->items[port].set && port_speaks_of_set(ports, port, rank);
}

bool port_binds_set(const struct ports *ports, uint32_t port)
{
    const struct expr *constraint = port_constraint(ports, port);

    return constraint && ports->items[port].set && port_speaks_of_set(ports, port, constraint);
}
