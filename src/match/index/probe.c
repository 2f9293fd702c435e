/* probe.c: an ad of the other side looks for those that match (section 4.5.4).
 *
 * What the ad asks for, and what it has, become *tests*: lines that are intersected, block by block. A line may hold more rows than pass: the rows
 * that are left are *checked* in the columns. What neither can tell is evaluated. */
#include "match/index/probe.h"

#include "lang/ad/ops.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/match.h"

#include <stdlib.h>

void probe_free(struct probe *probe)
{
    if (!probe)
        return;
    free(probe->tests);
    free(probe->checks);
    free(probe->parts);
    free(probe->choices);
    free(probe->askers);
    free(probe->listed);
    free(probe);
}

struct probe *probe_of(struct index *index)
{
    if (!index->probe) {
        index->probe = mem_alloc(sizeof *index->probe);
        memset(index->probe, 0, sizeof *index->probe);
    }
    return index->probe;
}

static struct test *add_test(struct probe *probe, uint32_t in, uint32_t out, uint32_t maybe)
{
    ARRAY_ROOM(probe->tests, probe->test_count, probe->test_room, 32);
    probe->tests[probe->test_count] = (struct test){.in = in, .out = out, .maybe = maybe, .dim = NO_DIM};
    return &probe->tests[probe->test_count++];
}

/* Records what a test is about, for the plan. */
static void test_about(struct test *test, uint32_t dim, enum op op, double v, bool exact)
{
    test->dim = dim;
    test->op = (unsigned char)op;
    test->v = v;
    test->exact = exact;
}

static void add_check(struct probe *probe, enum check_kind kind, uint32_t dim, enum op op, double v)
{
    ARRAY_ROOM(probe->checks, probe->check_count, probe->check_room, 32);
    probe->checks[probe->check_count++] = (struct check){kind, dim, op, v};
}

/* ------------------------------------------------------------------------------------- what the ad asks for: imported */

/* The line of all slabs up to that one; -1 is none. */
static uint32_t line_upto(const struct dim *dim, int64_t slab)
{
    return slab < 0 ? LINE_NONE : dim->line + (uint32_t)slab;
}

/* Ordered slabs: those below `slab` or above it are in or out as a whole, and `slab` itself is in, out, or in doubt. */
static struct reach reach_ordered(const struct dim *dim, enum op op, double v)
{
    int64_t slab = dim_slab(dim, v);
    bool exact = dim_exact(dim, (uint32_t)slab);
    bool with = exact && dim->used[slab] && op_compare_reals(op, dim->only[slab], v); /* the slab's one value passes */
    uint32_t here = dim_line_here(dim), below = line_upto(dim, slab - 1), upto = line_upto(dim, slab);
    struct reach reach = {.exact = exact};

    switch (op) {
    case OP_LESS:
    case OP_LESS_EQUAL:
        reach.in = with ? upto : below;
        reach.out = LINE_NONE;
        reach.in_more = exact ? reach.in : upto;
        reach.out_less = LINE_NONE;
        break;
    case OP_GREATER:
    case OP_GREATER_EQUAL:
        reach.in = reach.in_more = here;
        reach.out = with ? below : upto;
        reach.out_less = exact ? reach.out : below;
        break;
    case OP_EQUAL:
        reach.in = with ? upto : LINE_NONE;
        reach.out = below;
        reach.in_more = exact ? reach.in : upto;
        reach.out_less = below;
        break;
    default: /* all but the slab; and the slab too, when its one value is another: then the line is not needed */
        reach.in = reach.in_more = here;
        reach.exact = exact && (with || !dim->used[slab]);
        reach.out = reach.exact ? LINE_NONE : here;
        reach.out_less = LINE_NONE;
        break;
    }
    return reach;
}

static struct reach reach_string(const struct dim *dim, enum op op, double v)
{
    uint32_t slab = dim_slab(dim, v), here = dim_line_here(dim);
    bool exact = v != KEY_STRING_NONE && dim_exact(dim, slab) && slab < DIM_STRING_OWN;
    struct reach reach = {here, here, here, LINE_NONE, LINE_NONE, false}; /* the order of strings is not known */

    if (op == OP_EQUAL && v == KEY_STRING_NONE)
        return (struct reach){LINE_NONE, LINE_NONE, LINE_NONE, LINE_NONE, LINE_NONE, true};
    if (op == OP_NOT_EQUAL && v == KEY_STRING_NONE)
        return (struct reach){here, LINE_NONE, here, LINE_NONE, LINE_NONE, true};
    if (op == OP_EQUAL) {
        reach.in_more = dim->line + slab;
        reach.in = exact ? reach.in_more : LINE_NONE;
        reach.out = LINE_NONE;
        reach.exact = exact;
    } else if (op == OP_NOT_EQUAL) {
        reach.out = dim->line + slab;
        reach.out_less = exact ? reach.out : LINE_NONE;
        reach.exact = exact;
    }
    return reach;
}

struct reach probe_reach(const struct dim *dim, enum op op, double v)
{
    struct reach reach = dim->kind == KEY_STRING ? reach_string(dim, op, v) : reach_ordered(dim, op, v);

    reach.maybe = dim->deviant ? dim_line_deviant(dim) : LINE_NONE;
    return reach;
}

uint32_t probe_dim(struct index *index, const struct want *want, uint32_t key)
{
    return index_asked(index, want->attribute, want_kind(&index->wants, want, key), index->wants.counts);
}

/* Asks for a comparison that must hold. */
static void ask_compare(struct index *index, struct probe *probe, const struct want *want)
{
    uint32_t place = probe_dim(index, want, 0);
    struct dim *dim = &index->dims[place];
    struct reach reach;
    double v;

    if (place == NO_DIM) {
        probe->evaluate = true;
        return;
    }
    v = index_key(index, &index->wants.keys[want->keys], true);
    reach = probe_reach(dim, (enum op)want->op, v);
    test_about(add_test(probe, reach.in_more, reach.out_less, reach.maybe), place, (enum op)want->op, v,
               reach.exact && !dim->deviant);
    if (want->op == OP_EQUAL && !reach.exact && !dim->deviant && !probe->equals) {
        probe->equals = dim_equals(dim, index->row_count, index->row_room);
        probe->equal_dim = place;
        probe->equal = v;
        probe->equal_node = 0;
    }
    if (dim->kind == KEY_STRING && want->op > OP_NOT_EQUAL)
        probe->evaluate = probe->evaluate || !probe->computes;
    else if (!reach.exact || dim->deviant)
        add_check(probe, CHECK_VALUE, place, (enum op)want->op, v);
}

static void ask_presence(struct index *index, struct probe *probe, const struct want *want)
{
    uint32_t place = index_asked(index, want->attribute, DIM_ABSENCE, false);
    const struct dim *dim = &index->dims[place];
    bool absent;

    if (place == NO_DIM) {
        probe->evaluate = true;
        return;
    }
    absent = want->kind == WANT_ABSENT;
    test_about(absent ? add_test(probe, dim_line_here(dim), LINE_NONE, dim_line_deviant(dim))
                      : add_test(probe, LINE_LIVE, dim_line_here(dim), LINE_NONE),
               place, absent ? OP_IS : OP_ISNT, 0, !dim->deviant);
    if (dim->deviant)
        add_check(probe, CHECK_DEVIANT, place, OP_NONE, 0);
}

/* Asks for member(key, name) and the like: the slab is a filter, and the rows that are left are evaluated. */
static void ask_element(struct index *index, struct probe *probe, const struct want *want)
{
    const struct index_key *key = &index->wants.keys[want->keys];
    uint32_t place = probe_dim(index, want, 0);
    const struct dim *dim = &index->dims[place];
    uint32_t slab = (uint32_t)__builtin_ctzll(index_slab_bit(key));

    probe->evaluate = probe->evaluate || !probe->computes;
    if (place == NO_DIM)
        return;
    test_about(add_test(probe, dim->line + slab, LINE_NONE, dim_line_deviant(dim)), place, OP_EQUAL,
               key->kind == KEY_STRING ? 0 : key->number, false);
}

/* ------------------------------------------------------------------------------------------- what the ad has: exported */

static void add_asker(struct probe *probe, uint32_t line)
{
    ARRAY_ROOM(probe->askers, probe->asker_count, probe->asker_room, 16);
    probe->askers[probe->asker_count++] = line;
}

/* Leaves out the rows that are bounded there; and those that are guarded, unless the attribute is only missing. */
static void refuse_value(struct probe *probe, const struct dim *dim, uint32_t place, bool missing)
{
    enum op op = missing ? OP_NONE : OP_NOT_EQUAL;

    if (dim->here)
        test_about(add_test(probe, LINE_LIVE, dim_line_here(dim), LINE_NONE), place, op, 0, true);
    if (dim->deviant && !missing)
        test_about(add_test(probe, LINE_LIVE, dim_line_deviant(dim), LINE_NONE), place, op, 0, true);
}

/* Tests the rows that bound an attribute by what the ad has there. */
static void offer_value(struct index *index, struct probe *probe, uint32_t place)
{
    const struct dim *dim = &index->dims[place];
    const struct expr *found;
    enum attribute_state state;
    uint32_t slab;
    struct index_key key;
    double v;

    if (!dim->here && !dim->deviant)
        return;
    state = attribute_find(probe->ad, dim->attribute, &found);
    if (state == ATTRIBUTE_UNKNOWN || (state == ATTRIBUTE_MISSING && index_given(probe->env, dim->attribute)) ||
        (state == ATTRIBUTE_THERE && (!expr_is_literal(found) || !key_of(probe->ad, found, dim->counts, &key)))) {
        add_asker(probe, dim_line_here(dim));
        add_asker(probe, dim_line_deviant(dim));
        return;
    }
    if (state != ATTRIBUTE_THERE || key.kind != dim->kind) {
        refuse_value(probe, dim, place, state == ATTRIBUTE_MISSING);
        return;
    }
    if (!dim->here)
        return;
    v = index_key(index, &key, true);
    slab = dim_slab(dim, v);
    test_about(add_test(probe, dim->line + slab, LINE_NONE, LINE_NONE), place, OP_EQUAL, v, dim_exact(dim, slab));
    if (!dim_exact(dim, slab))
        add_check(probe, CHECK_BOUND, place, OP_NONE, v);
}

/* Does the clause ask for the order of a string? Lines and columns know only which are the same. */
static bool asks_order(const struct wants *wants, const struct wants_node *node)
{
    const struct want *want = &wants->items[node->want];

    return node->kind == WANTS_LEAF && want->kind == WANT_COMPARE && want->op > OP_NOT_EQUAL &&
           wants->keys[want->keys].kind == KEY_STRING;
}

/* Do lines and columns tell of which rows the clause is true? */
static bool is_told(const struct wants *wants, const struct wants_node *node)
{
    const struct want *want = &wants->items[node->want];

    if (node->kind != WANTS_LEAF || asks_order(wants, node))
        return false;
    return want->kind == WANT_COMPARE || want->kind == WANT_ABSENT || want->kind == WANT_PRESENT ||
           (want->kind == WANT_AMONG && wants->ad->dialect == &dialect_classic);
}

/* Is there a clause that lines and columns cannot tell, whatever the rows are? */
static bool is_in_doubt(const struct wants *wants)
{
    for (uint32_t node = wants->top; node; node = wants->nodes[node].after)
        if (asks_order(wants, &wants->nodes[node]))
            return true;
    return wants->deviant;
}

/* Reads the clauses that lines and columns cannot tell as a formula over the rows' attributes, if they can be computed. */
static bool probe_computes(struct index *index, struct probe *probe)
{
    const struct expr *clauses[FORMULA_STEPS_MAX];
    const struct wants *wants = &index->wants;
    uint32_t count = 0;

    if (!is_in_doubt(wants) || (wants->deviant && !wants->left))
        return false;
    for (uint32_t node = wants->top; node; node = wants->nodes[node].after) {
        if (is_told(wants, &wants->nodes[node]))
            continue;
        if (!wants->nodes[node].e || count == FORMULA_STEPS_MAX)
            return false;
        clauses[count++] = wants->nodes[node].e;
    }
    columns_ask(&index->columns);
    return formula_read(&probe->formula, probe->env, probe->scratch, probe->ad, wants->left ? wants->left : probe->ad,
                        clauses, count, &index->columns);
}

void probe_prepare(struct index *index, struct probe *probe)
{
    const struct wants *wants = &index->wants;

    probe->test_count = probe->check_count = probe->choice_count = probe->asker_count = 0;
    probe->equals = NULL;
    probe->computes = probe_computes(index, probe);
    probe->evaluate = wants->deviant && !probe->computes;
    probe->part_count = wants->node_count;
    if (probe->part_room < wants->node_count + wants->key_count) { /* a key of a list may be a part too */
        probe->part_room = wants->node_room + wants->key_room;
        probe->parts = mem_grow(probe->parts, probe->part_room * sizeof *probe->parts);
    }
    for (uint32_t node = wants->top; node; node = wants->nodes[node].after) {
        const struct want *want;

        if (wants->nodes[node].kind == WANTS_OR) {
            probe_disjunction(index, probe, node);
            probe->parts[node].computed = probe->computes;
        }
        if (wants->nodes[node].kind != WANTS_LEAF) {
            probe->evaluate = probe->evaluate || (wants->nodes[node].kind == WANTS_DEVIANT && !probe->computes);
            continue;
        }
        want = &wants->items[wants->nodes[node].want];
        if (index_given(probe->env, want->attribute)) {
            probe->evaluate = true;
        } else if (want->kind == WANT_COMPARE || want->kind == WANT_IS) {
            ask_compare(index, probe, want);
        } else if (want->kind == WANT_AMONG) {
            probe_among(index, probe, node);
            probe->parts[node].computed = probe->computes && !is_told(wants, &wants->nodes[node]);
        } else if (want->kind == WANT_HAS || want->kind == WANT_LISTED) {
            ask_element(index, probe, want);
        } else {
            ask_presence(index, probe, want);
        }
    }
    for (uint32_t i = 0; i < index->exported.count; i++)
        for (uint32_t dim = index->exported.items[i].first; dim != NO_DIM; dim = index->dims[dim].same)
            offer_value(index, probe, dim);
}

/* ------------------------------------------------------------------------------------------------------- block by block */

/* Is the ad's own constraint true? What is left of the constraint is taken apart when the first row must be asked. */
static bool ad_accepts(struct index *index, struct probe *probe, const struct tree *row)
{
    if (!index->wants.left)
        return match_accepts(probe->env, probe->scratch, probe->ad, row);
    if (!probe->clauses.ad)
        clauses_init(&probe->clauses, probe->ad, index->wants.left);
    return clauses_hold(&probe->clauses, probe->env, probe->scratch, row);
}

/* Tells of all members of the row's class: they may match. */
static void row_sift(struct index *index, struct probe *probe, uint32_t id, unsigned doubts)
{
    for (; id != NO_ID; id = index->entries[id].next) {
        index->probed.found++;
        probe->sift(probe->user, id, doubts);
        if (index->heads_only)
            break;
    }
}

/* Tries a row that the lines have left. `doubt`: a choice could not be settled. */
static void row_try(struct index *index, struct probe *probe, struct line *block, uint32_t row, bool doubt)
{
    struct index_entry *entry = &index->entries[index->rows[row].id];
    uint32_t bit = row % LINE_ROWS;
    bool own = probe->evaluate || doubt, others = line_has(&block[LINE_EVALUATE], bit);

    for (uint32_t i = 0; i < probe->check_count; i++) {
        const struct check *check = &probe->checks[i];
        const struct dim *dim = &index->dims[check->dim];

        if (check->kind == CHECK_BOUND) {
            if (!dim_takes(dim, row, check->v))
                return;
        } else if (line_has(&block[dim_line_deviant(dim)], bit)) {
            own = true;
        } else if (check->kind == CHECK_VALUE && !op_compare_reals(check->op, dim->low[row], check->v)) {
            return;
        }
    }
    for (uint32_t i = 0; doubt && i < probe->choice_count; i++)
        if (!probe_choice_may(index, probe, probe->choices[i], block, row))
            return;
    if (entry->stamp == index->stamp)
        return; /* found already, by another of its rows */
    for (uint32_t i = 0; i < probe->asker_count && !others; i++)
        others = line_has(&block[probe->askers[i]], bit);
    if (probe->seek) {
        entry->stamp = index->stamp;
        index->probed.found++;
        probe->next = row + 1;
        probe->enough = !probe->seek(probe->user, index->rows[row].id);
        return;
    }
    if (probe->sift) {
        entry->stamp = index->stamp;
        row_sift(index, probe, index->rows[row].id, (own ? INDEX_DOUBT_OWN : 0u) | (others ? INDEX_DOUBT_FOUND : 0u));
        return;
    }
    if (own) {
        index->probed.evaluations++;
        if (!ad_accepts(index, probe, entry->ad))
            return;
    }
    if (others) {
        index->probed.evaluations++;
        if (!match_accepts(probe->env, probe->scratch, entry->ad, probe->ad))
            return;
    }
    entry->stamp = index->stamp;
    for (uint32_t id = index->rows[row].id; id != NO_ID; id = index->entries[id].next) {
        index->probed.found++;
        probe->found(probe->user, id);
        if (index->heads_only)
            break;
    }
}

/* Computes for the rows that are left what lines cannot tell: leaves out those of which it is not true, and leaves those in doubt that must be evaluated. */
static void block_compute(struct index *index, struct probe *probe, uint32_t n, struct line *left, struct line *doubt)
{
    struct formula_value values[LINE_ROWS];
    uint32_t bits[LINE_ROWS], ids[LINE_ROWS], count = 0;
    uint64_t steps = index->columns.reads;

    for (uint32_t k = 0; k < LINE_WORDS; k++) {
        for (line_word word = left->words[k]; word; word &= word - 1) {
            bits[count] = k * 64 + (uint32_t)__builtin_ctzll(word);
            ids[count] = index->rows[n * LINE_ROWS + bits[count]].id;
            count++;
        }
    }
    if (!count)
        return;
    formula_compute(&probe->formula, &index->columns, ids, count, values);
    steps = (index->columns.reads - steps) * COLUMNS_READ_STEPS + (uint64_t)count * probe->formula.count;
    index->probed.computed += steps;
    if (probe->env->meter)
        *probe->env->meter += steps;
    for (uint32_t i = 0; i < count; i++) {
        bool open = values[i].type == FORMULA_EVALUATE;

        if (open)
            line_set(doubt, bits[i], true);
        else if (values[i].type == VALUE_BOOLEAN ? !values[i].v.integer : !formula_is_true(&probe->formula, &values[i]))
            line_set(left, bits[i], false);
    }
}

/* Tries the rows of a block; `among`: none but these of them, or NULL. */
static void block_try(struct index *index, struct probe *probe, uint32_t n, const struct line *among)
{
    struct line *block = index->blocks[n], left = block[LINE_LIVE], doubt = {0};

    index->probed.blocks++;
    if (line_empty(&left)) {
        index->probed.tests += probe->test_count > 0;
        index->least[n] = UINT64_MAX;
        return;
    }
    if (n * LINE_ROWS < probe->next)
        line_clear_below(&left, probe->next - n * LINE_ROWS);
    for (int k = 0; k < LINE_WORDS && among; k++)
        left.words[k] &= among->words[k];
    for (uint32_t i = 0; i < probe->test_count; i++) {
        const struct line *in = &block[probe->tests[i].in], *out = &block[probe->tests[i].out];
        const struct line *maybe = &block[probe->tests[i].maybe];
        line_word any = 0;

        for (int k = 0; k < LINE_WORDS; k++) {
            left.words[k] &= (in->words[k] & ~out->words[k]) | maybe->words[k];
            any |= left.words[k];
        }
        index->probed.tests++;
        if (!any)
            return;
    }
    for (uint32_t i = 0; i < probe->choice_count; i++) {
        bool computed = probe->parts[probe->choices[i]].computed;
        struct sets sets;

        probe_choice(probe, index->wants.ordered, probe->choices[i], block, &sets);
        for (int k = 0; k < LINE_WORDS; k++) {
            left.words[k] &= sets.yes.words[k] | sets.maybe.words[k];
            if (!computed)
                doubt.words[k] |= sets.maybe.words[k];
        }
    }
    if (probe->computes)
        block_compute(index, probe, n, &left, &doubt);
    for (uint32_t k = 0; k < LINE_WORDS; k++) {
        for (line_word word = left.words[k]; word; word &= word - 1)
            __builtin_prefetch(
                &index->entries[index->rows[n * LINE_ROWS + k * 64 + (uint32_t)__builtin_ctzll(word)].id]);
        for (line_word word = left.words[k]; word; word &= word - 1) {
            uint32_t bit = k * 64 + (uint32_t)__builtin_ctzll(word);

            if (probe->bound && index->rows[n * LINE_ROWS + bit].place > *probe->bound)
                continue;
            index->probed.candidates++;
            row_try(index, probe, block, n * LINE_ROWS + bit, line_has(&doubt, bit));
            if (probe->enough)
                return;
        }
    }
}

#define SORTED_FROM 4 /* blocks from which on it pays to begin with the tests that leave least */
#define WEIGHED 8     /* blocks by which it is judged how much a line holds */

static uint32_t weighed_rows(uint32_t blocks)
{
    return LINE_ROWS * (blocks < WEIGHED ? blocks : WEIGHED);
}

/* How many rows of some blocks are in the line. What changes later is not noticed until lines are made anew: this says only in which order tests are done. */
static uint32_t line_weight(struct index *index, uint32_t line, uint32_t blocks)
{
    uint32_t weight = 0, count = blocks < WEIGHED ? blocks : WEIGHED;

    if (line == LINE_NONE)
        return 0;
    if (line >= index->weight_room) {
        index->weights = mem_grow(index->weights, index->line_room * sizeof *index->weights);
        for (uint32_t i = index->weight_room; i < index->line_room; i++)
            index->weights[i] = WEIGHT_UNKNOWN;
        index->weight_room = index->line_room;
    }
    if (index->weights[line] != WEIGHT_UNKNOWN)
        return index->weights[line];
    for (uint32_t i = 0; i < count; i++)
        weight += line_count(&index->blocks[(2 * i + 1) * blocks / (2 * count)][line]);
    return index->weights[line] = (uint16_t)weight;
}

static uint32_t test_weight(struct index *index, const struct test *test, uint32_t blocks)
{
    uint32_t in = line_weight(index, test->in, blocks), out = line_weight(index, test->out, blocks);

    return (in > out ? in - out : 0) + line_weight(index, test->maybe, blocks);
}

/* Puts the tests in front that leave least, as far as some blocks tell. */
static void tests_sort(struct index *index, struct probe *probe)
{
    uint32_t blocks = (index->row_count + LINE_ROWS - 1) / LINE_ROWS;

    for (uint32_t i = 0; i < probe->test_count; i++) {
        struct test test = probe->tests[i];
        uint32_t k = i;

        test.left = test_weight(index, &test, blocks);
        for (; k > 0 && probe->tests[k - 1].left > test.left; k--)
            probe->tests[k] = probe->tests[k - 1];
        probe->tests[k] = test;
    }
    probe->sorted = true;
    probe->ahead = 0;
    for (double left = LINE_ROWS; left > 0.5 && probe->ahead < probe->test_count; probe->ahead++)
        left *= (double)probe->tests[probe->ahead].left / weighed_rows(blocks);
}

#define AHEAD 2 /* blocks whose lines are asked for before they are needed */

static void block_ahead(const struct index *index, const struct probe *probe, uint32_t n)
{
    const struct line *block = index->blocks[n];

    __builtin_prefetch(&block[LINE_LIVE]);
    __builtin_prefetch(&block[LINE_NONE]);
    for (uint32_t i = 0; i < probe->ahead; i++) {
        __builtin_prefetch(&block[probe->tests[i].in]);
        if (probe->tests[i].out != LINE_NONE)
            __builtin_prefetch(&block[probe->tests[i].out]);
    }
}

/* May an ad of the block be within the bound? */
static bool block_counts(const struct index *index, const struct probe *probe, uint32_t n)
{
    return !probe->bound || index->least[n] <= *probe->bound;
}

/* The blocks of a field below `end` of which the fields do not say that nothing in them passes. */
static struct line field_left(struct index *index, const struct probe *probe, uint32_t field, uint32_t end)
{
    const struct near *near = &index->near;
    const struct line *some, *every;
    struct line left;

    memset(&left, 0xff, sizeof left);
    line_clear_from(&left, end - field * LINE_ROWS);
    if (field >= near->field_count)
        return left;
    some = near->some + (size_t)field * near->lines;
    every = near->every + (size_t)field * near->lines;
    for (uint32_t i = 0; i < probe->test_count; i++) {
        const struct test *test = &probe->tests[i];
        line_word any = 0;

        if (test->in >= near->lines || test->out >= near->lines || test->maybe >= near->lines)
            continue;
        for (int k = 0; k < LINE_WORDS; k++) {
            left.words[k] &= (some[test->in].words[k] & ~every[test->out].words[k]) | some[test->maybe].words[k];
            any |= left.words[k];
        }
        index->probed.tests++;
        if (!any)
            break;
    }
    for (int k = 0; k < LINE_WORDS; k++)
        left.words[k] |= near->open[field].words[k];
    for (uint32_t n = near->blocks; n < end; n++)
        line_set(&left, n % LINE_ROWS, true); /* blocks that came later */
    return left;
}

/* Tries the blocks of a field from that one on to below `end`. */
static void field_try(struct index *index, struct probe *probe, uint32_t field, uint32_t from, uint32_t end)
{
    struct line left;
    uint32_t blocks[LINE_ROWS], count = 0;

    if (!probe->sorted && index->row_count > SORTED_FROM * LINE_ROWS)
        tests_sort(index, probe);
    left = field_left(index, probe, field, end);
    if (from > field * LINE_ROWS)
        line_clear_below(&left, from - field * LINE_ROWS);
    for (uint32_t k = 0; k < LINE_WORDS; k++)
        for (line_word word = left.words[k]; word; word &= word - 1)
            blocks[count++] = field * LINE_ROWS + k * 64 + (uint32_t)__builtin_ctzll(word);
    for (uint32_t i = 0; i < count && !probe->enough; i++) {
        if (count >= SORTED_FROM && i + AHEAD < count && block_counts(index, probe, blocks[i + AHEAD]))
            block_ahead(index, probe, blocks[i + AHEAD]);
        if (!block_counts(index, probe, blocks[i]))
            continue;
        block_try(index, probe, blocks[i], NULL);
        near_visited(index, blocks[i]);
    }
}

/* Adds the rows that have that value. False when that takes more steps than *steps, which it counts down. */
static bool rows_add(const struct index *index, struct probe *probe, double v, uint32_t *steps)
{
    const double *column = index->dims[probe->equal_dim].low;

    for (uint32_t row = equals_first(probe->equals, v); row != EQUALS_END; row = probe->equals->next[row]) {
        if ((*steps)-- == 0)
            return false;
        if (column[row] != v || row < probe->next)
            continue;
        ARRAY_ROOM(probe->listed, probe->listed_count, probe->listed_room, 64);
        probe->listed[probe->listed_count++] = row;
    }
    return true;
}

/* Finds the rows that have the value that the ad asks for, or one of several. False when there are no lists, or they are long. */
static bool rows_list(const struct index *index, struct probe *probe)
{
    uint32_t most = index->row_count / LINE_ROWS + 8, steps = most;

    probe->listed_count = 0;
    if (!probe->equals)
        return false;
    if (!probe->equal_node)
        return rows_add(index, probe, probe->equal, &steps);
    for (uint32_t at = probe->parts[probe->equal_node].child; at; at = probe->parts[at].after, steps += most)
        if (!rows_add(index, probe, probe->parts[at].v, &steps))
            return false;
    return true;
}

static int rows_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Tries those rows, in their order. */
static void rows_try(struct index *index, struct probe *probe)
{
    index->probed.listed = probe->listed_count;
    if (probe->listed_count)
        qsort(probe->listed, probe->listed_count, sizeof *probe->listed, rows_compare);
    for (uint32_t i = 0; i < probe->listed_count && !probe->enough;) {
        uint32_t n = probe->listed[i] / LINE_ROWS;
        struct line among = {0};

        for (; i < probe->listed_count && probe->listed[i] / LINE_ROWS == n; i++)
            line_set(&among, probe->listed[i] % LINE_ROWS, true);
        if (block_counts(index, probe, n))
            block_try(index, probe, n, &among);
    }
}

static void probe_run(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad)
{
    struct probe *probe = index->probe;
    uint32_t blocks;

    index->probed = (struct index_probed){0};
    index_adopt(index, ad);
    if (++index->stamp > STAMP_MAX) { /* the stamp has wrapped: old ones must not be taken for new */
        for (uint32_t i = 0; i < index->entry_count; i++)
            index->entries[i].stamp = 0;
        for (uint32_t i = 0; i < index->dim_count; i++)
            index->dims[i].asked = 0;
        index->stamp = 1;
    }
    wants_read(&index->wants, env, scratch, ad);
    if (index->wants.never)
        return;
    probe->env = env;
    probe->scratch = scratch;
    probe->ad = ad;
    index->env = env;
    probe_prepare(index, probe);
    blocks = (index->row_count + LINE_ROWS - 1) / LINE_ROWS;
    probe->sorted = false;
    if (rows_list(index, probe)) {
        rows_try(index, probe);
    } else {
        for (uint32_t n = probe->next / LINE_ROWS, end; n < blocks && !probe->enough; n = end) {
            end = (n / LINE_ROWS + 1) * LINE_ROWS;
            field_try(index, probe, n / LINE_ROWS, n, end < blocks ? end : blocks);
        }
    }
    clauses_done(&probe->clauses);
}

void index_probe(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                 index_found_fn *found, void *user)
{
    struct probe *probe = probe_of(index);

    probe->found = found;
    probe->sift = NULL;
    probe->seek = NULL;
    probe->bound = NULL;
    probe->next = 0;
    probe->user = user;
    probe_run(index, env, scratch, ad);
}

void index_sift_within(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                       const uint64_t *bound, index_sift_fn *found, void *user)
{
    struct probe *probe = probe_of(index);

    probe->sift = found;
    probe->seek = NULL;
    probe->bound = bound;
    probe->next = 0;
    probe->user = user;
    probe_run(index, env, scratch, ad);
}

void index_sift(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                index_sift_fn *found, void *user)
{
    index_sift_within(index, env, scratch, ad, NULL, found, user);
}

uint32_t index_seek(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                    uint32_t from, index_seek_fn *found, void *user)
{
    struct probe *probe = probe_of(index);
    bool enough;

    probe->seek = found;
    probe->bound = NULL;
    probe->next = from;
    probe->user = user;
    probe_run(index, env, scratch, ad);
    enough = probe->enough;
    probe->enough = false;
    return enough && probe->next < index->row_count ? probe->next : INDEX_END;
}

uint32_t index_next(const struct index *index, uint32_t id)
{
    return index->entries[id].next;
}
