/* choices.c: what an ad asks for by ||, block by block.
 *
 * For each part three sets are known: the rows that satisfy it, the rows that may (they must be evaluated), and the rows for which it is an error
 * because an attribute has the wrong type. An error spoils the whole. */
#include "lang/ad/ops.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/index/probe.h"

static void choice_add(struct probe *probe, uint32_t node)
{
    ARRAY_ROOM(probe->choices, probe->choice_count, probe->choice_room, 16);
    probe->choices[probe->choice_count++] = node;
}

/* Says what the column is compared with, where the column can tell: the order of strings is not that of their numbers. */
static void part_compare(struct part *part, const struct dim *dim, uint32_t place, enum op op, double v)
{
    part->dim = dim->kind == KEY_STRING && op > OP_NOT_EQUAL ? NO_DIM : place;
    part->op = (unsigned char)op;
    part->v = v;
}

static void part_read(struct index *index, struct probe *probe, uint32_t node)
{
    const struct wants *wants = &index->wants;
    const struct want *want;
    struct part *part = &probe->parts[node];
    uint32_t absence, place;

    *part = (struct part){.kind = wants->nodes[node].kind,
                          .child = wants->nodes[node].child,
                          .after = wants->nodes[node].after,
                          .dim = NO_DIM};
    for (uint32_t at = part->child; at; at = wants->nodes[at].after)
        part_read(index, probe, at);
    if (part->kind != WANTS_LEAF)
        return;
    want = &wants->items[wants->nodes[node].want];
    absence = index_asked(index, want->attribute, DIM_ABSENCE, false);
    place = want->kind == WANT_COMPARE || want->kind == WANT_IS ? probe_dim(index, want, 0) : NO_DIM;
    part->kind = WANTS_DEVIANT; /* unless all is known */
    if (absence == NO_DIM || index_given(probe->env, want->attribute))
        return;
    part->absent = dim_line_here(&index->dims[absence]);
    part->absent_deviant = dim_line_deviant(&index->dims[absence]);
    if (place != NO_DIM) {
        const struct dim *dim = &index->dims[place];

        part->reach = probe_reach(dim, (enum op)want->op, index_key(index, &wants->keys[want->keys], true));
        part->here = dim_line_here(dim);
        part->deviant = dim_line_deviant(dim);
        part->errs = want->kind == WANT_COMPARE;
        part_compare(part, dim, place, (enum op)want->op, index_key(index, &wants->keys[want->keys], true));
        if (want->kind == WANT_IS)
            part->reach.in = LINE_NONE;
        part->kind = WANTS_LEAF;
    } else if (want->kind == WANT_ABSENT || want->kind == WANT_PRESENT) {
        bool absent = want->kind == WANT_ABSENT;
        uint32_t in = absent ? part->absent : LINE_LIVE, out = absent ? LINE_NONE : part->absent;

        part->reach = (struct reach){in, out, in, out, part->absent_deviant, true};
        part->kind = WANTS_LEAF;
    }
}

/* Are all parts equalities with values of one dimension, which has few lines for so many? Then the rows that have one of them are looked up. */
static void choice_list(struct index *index, struct probe *probe, uint32_t node)
{
    uint32_t first = probe->parts[node].child, place = probe->parts[first].dim;
    bool exact = true;

    if (probe->equals || place == NO_DIM || index->dims[place].deviant)
        return;
    for (uint32_t at = first; at; at = probe->parts[at].after) {
        const struct part *part = &probe->parts[at];

        if (part->kind != WANTS_LEAF || part->dim != place || part->op != OP_EQUAL)
            return;
        exact = exact && part->reach.exact;
    }
    if (exact)
        return;
    probe->equals = dim_equals(&index->dims[place], index->row_count, index->row_room);
    probe->equal_dim = place;
    probe->equal_node = node;
}

void probe_disjunction(struct index *index, struct probe *probe, uint32_t node)
{
    part_read(index, probe, node);
    choice_add(probe, node);
    choice_list(index, probe, node);
}

static void sets_leaf(const struct part *part, const struct line *block, struct sets *ret)
{
    const struct reach *reach = &part->reach;

    for (int i = 0; i < LINE_WORDS; i++) {
        line_word yes = block[reach->in].words[i] & ~block[reach->out].words[i];
        line_word more = block[reach->in_more].words[i] & ~block[reach->out_less].words[i];
        line_word deviant = block[reach->maybe].words[i];

        ret->maybe.words[i] = (more & ~yes) | deviant;
        ret->yes.words[i] = yes & ~deviant;
        ret->error.words[i] = 0;
        if (part->errs)
            ret->error.words[i] =
                block[LINE_LIVE].words[i] & ~(block[part->here].words[i] | block[part->deviant].words[i] |
                                              block[part->absent].words[i] | block[part->absent_deviant].words[i]);
    }
}

void probe_choice(const struct probe *probe, bool ordered, uint32_t node, const struct line *block, struct sets *ret)
{
    const struct part *part = &probe->parts[node];
    bool all = part->kind == WANTS_AND;
    struct sets one;

    memset(ret, 0, sizeof *ret);
    if (part->kind == WANTS_LEAF) {
        sets_leaf(part, block, ret);
        return;
    }
    if (part->kind == WANTS_DEVIANT) {
        ret->maybe = block[LINE_LIVE];
        return;
    }
    if (all)
        ret->yes = block[LINE_LIVE];
    for (uint32_t at = part->child; at; at = probe->parts[at].after) {
        probe_choice(probe, ordered, at, block, &one);
        for (int i = 0; i < LINE_WORDS; i++) {
            line_word *yes = &ret->yes.words[i], *maybe = &ret->maybe.words[i], *error = &ret->error.words[i];

            if (all) {
                *yes &= one.yes.words[i];
                *maybe |= one.maybe.words[i] | (ordered ? one.error.words[i] : 0);
                *error |= ordered ? 0 : one.error.words[i];
            } else if (ordered) {
                line_word settled = *yes | *error, open = ~(settled | *maybe);

                *yes |= one.yes.words[i] & open;
                *error |= one.error.words[i] & open;
                *maybe |= one.maybe.words[i] & ~settled;
            } else {
                *yes |= one.yes.words[i];
                *maybe |= one.maybe.words[i];
                *error |= one.error.words[i];
            }
        }
    }
    for (int i = 0; i < LINE_WORDS; i++) {
        if (!ordered)
            ret->maybe.words[i] &= ~ret->error.words[i];
        ret->yes.words[i] &= ~(ret->error.words[i] | ret->maybe.words[i]);
    }
}

bool probe_choice_may(const struct index *index, const struct probe *probe, uint32_t node, const struct line *block,
                      uint32_t row)
{
    const struct part *part = &probe->parts[node];
    bool all = part->kind == WANTS_AND;

    if (part->kind == WANTS_DEVIANT)
        return true;
    if (part->kind == WANTS_LEAF) {
        const struct dim *dim = part->dim == NO_DIM ? NULL : &index->dims[part->dim];
        uint32_t bit = row % LINE_ROWS;

        if (!dim || line_has(&block[dim_line_deviant(dim)], bit))
            return true;
        return line_has(&block[dim_line_here(dim)], bit) && op_compare_reals((enum op)part->op, dim->low[row], part->v);
    }
    for (uint32_t at = part->child; at; at = probe->parts[at].after)
        if (probe_choice_may(index, probe, at, block, row) != all)
            return !all;
    return all;
}

void probe_among(struct index *index, struct probe *probe, uint32_t node)
{
    const struct want *want = &index->wants.items[index->wants.nodes[node].want];
    uint32_t last = 0;

    for (uint32_t i = 0; i < want->key_count; i++) {
        if (probe_dim(index, want, i) == NO_DIM) {
            probe->evaluate = true;
            return;
        }
    }
    probe->parts[node] = (struct part){.kind = WANTS_OR, .dim = NO_DIM};
    for (uint32_t i = 0; i < want->key_count; i++) {
        const struct dim *dim = &index->dims[probe_dim(index, want, i)];
        uint32_t place = probe->part_count++;
        double v = index_key(index, &index->wants.keys[want->keys + i], true);

        probe->parts[place] = (struct part){.kind = WANTS_LEAF, .reach = probe_reach(dim, OP_EQUAL, v)};
        part_compare(&probe->parts[place], dim, probe_dim(index, want, i), OP_EQUAL, v);
        if (last)
            probe->parts[last].after = place;
        else
            probe->parts[node].child = place;
        last = place;
    }
    choice_add(probe, node);
    if (want->key_count)
        choice_list(index, probe, node);
}
