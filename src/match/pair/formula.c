/* formula.c: an expression of an ad over attributes of its counterpart, computed for many counterparts at once. */
#include "match/pair/formula.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/base/rng.h"
#include "match/pair/property.h"

#include <math.h>
#include <string.h>

#define BATCH 128
_Static_assert(COLUMNS_MAX <= 32, "a batch knows by a bit whether a column has been read");
#define MIXED 254 /* the values of a batch are of several types */

enum step_kind { STEP_CONSTANT, STEP_COLUMN, STEP_ANSWER, STEP_BINARY, STEP_PREFIX, STEP_CHOOSE };

/* ------------------------------------------------------------------------------------------------------------ reading */

#define READER_DEPTH_MAX 200 /* expressions inside one another; what is deeper might be too deep for an evaluation */

struct reader {
    struct formula *formula;
    const struct env *env;
    const struct tree *ad, *tree;
    struct columns *columns;
    uint32_t height;                      /* of the stack after the steps so far */
    uint32_t depth;                       /* of expressions */
    struct expr exprs[FORMULA_STEPS_MAX]; /* by step: what an answer answers */
};

/* What is known of a part that was read. */
struct reading {
    bool
        steps; /* its steps were added; else what was added is of no use, and the whole must do without its parts' steps */
    bool pure;   /* its value is a function of the attributes that it asks for */
    bool plain;  /* its steps are arithmetic alone */
    bool answer; /* its one step is an answer */
    bool many;   /* it asks for several attributes, ... */
    symbol asks; /* ... or for this one, or SYMBOL_NONE */
};

static bool step_add(struct reader *reader, struct formula_step step, uint32_t operands)
{
    struct formula *formula = reader->formula;

    if (formula->count == FORMULA_STEPS_MAX || reader->height + 1 - operands > FORMULA_DEPTH_MAX)
        return false;
    reader->height += 1 - operands;
    if (reader->height > formula->depth)
        formula->depth = reader->height;
    formula->steps[formula->count++] = step;
    return true;
}

/* Does the matchmaker give that name a value where the counterpart lacks it? */
static bool is_given(const struct env *env, symbol name)
{
    for (uint32_t i = 0; i < env->given_count; i++)
        if (symbol_same(env->given[i].name, name))
            return true;
    for (uint32_t i = 0; i < env->absent_count; i++)
        if (symbol_same(env->absent[i].name, name))
            return true;
    return false;
}

static void reading_join(struct reading *whole, const struct reading *part)
{
    whole->steps = whole->steps && part->steps;
    whole->pure = whole->pure && part->pure;
    whole->plain = whole->plain && part->plain;
    whole->many = whole->many || part->many ||
                  (whole->asks != SYMBOL_NONE && part->asks != SYMBOL_NONE && !symbol_same(whole->asks, part->asks));
    if (whole->asks == SYMBOL_NONE)
        whole->asks = part->asks;
}

static struct reading read_literal(struct reader *reader, const struct expr *e)
{
    struct formula_step step = {.kind = STEP_CONSTANT,
                                .type = e->kind,
                                .constant.integer = e->kind == EXPR_BOOLEAN ? e->small & 1 : e->u.integer};

    return (struct reading){
        .steps = e->kind != EXPR_STRING && step_add(reader, step, 0), .pure = true, .plain = e->kind != EXPR_STRING};
}

static struct reading read_reference(struct reader *reader, const struct expr *e)
{
    symbol name = property_asked(reader->ad, e);
    struct formula_step step = {.kind = STEP_COLUMN, .name = name};

    if (name == SYMBOL_NONE || symbol_name(name) <= NAME_NUMBER_TARGET || is_given(reader->env, name))
        return (struct reading){.many = true};
    step.column = columns_find(reader->columns, name);
    if (step.column == COLUMNS_NONE)
        return (struct reading){.many = true};
    return (struct reading){.steps = step_add(reader, step, 0), .pure = true, .plain = true, .asks = name};
}

static struct reading read_expr(struct reader *reader, const struct expr *e);

/* A list that prints as it would anywhere else. */
static struct reading read_list(const struct reader *reader, const struct expr *e)
{
    const struct expr *parts = tree_parts(reader->tree, e);
    bool pure = !(e->flags & EXPR_FLAG_PARENTHESES);

    for (uint32_t i = 0; i < e->u.run.count && pure; i++)
        pure = expr_is_literal(&parts[i]) && !(parts[i].flags & EXPR_FLAG_PARENTHESES);
    return (struct reading){.pure = pure};
}

/* Parts one behind another, and a step that takes them; none, if `kind` is STEP_ANSWER: the whole has no steps. */
static struct reading read_parts(struct reader *reader, const struct expr *parts, uint32_t count, enum step_kind kind,
                                 enum op op)
{
    struct reading whole = {.steps = true, .pure = true, .plain = true};

    for (uint32_t i = 0; i < count; i++) {
        struct reading part = read_expr(reader, &parts[i]);

        reading_join(&whole, &part);
    }
    if (kind == STEP_ANSWER)
        whole.steps = whole.plain = false;
    whole.steps = whole.steps &&
                  step_add(reader, (struct formula_step){.kind = (unsigned char)kind, .op = (unsigned char)op}, count);
    return whole;
}

/* Operators between two each. What follows one another in && or || and asks for the same attribute is one answer. */
static struct reading read_chain(struct reader *reader, const struct expr *e)
{
    const struct expr *parts = tree_parts(reader->tree, e);
    bool logic = parts[1].label == OP_AND || parts[1].label == OP_OR;
    struct reading whole = {.steps = true, .pure = true, .plain = true}, last = {0};
    uint32_t first = 0, step = 0; /* of the last answer: its first part, and its step */

    for (uint32_t i = 0; i < e->u.run.count; i++) {
        uint32_t count = reader->formula->count;
        struct reading part = read_expr(reader, &parts[i]);
        enum op op = (enum op)parts[i].label;

        reading_join(&whole, &part);
        if (op == OP_IS || op == OP_ISNT) /* is it there? That is asked of strings as well, which have no arithmetic */
            whole.plain = false;
        if (logic && whole.steps && last.answer && part.answer && symbol_same(last.asks, part.asks)) {
            reader->formula->count--;
            reader->height--;
            reader->exprs[step] = (struct expr){.kind = EXPR_CHAIN, .u.run = {e->u.run.at + first, i - first + 1}};
            continue;
        }
        last = part;
        first = i;
        step = count;
        if (i && whole.steps)
            whole.steps = step_add(reader, (struct formula_step){.kind = STEP_BINARY, .op = (unsigned char)op}, 2);
    }
    return whole;
}

static struct reading read_call(struct reader *reader, const struct expr *e)
{
    const struct function *function = function_find(reader->tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(reader->tree, e);

    if (!function || function->traits & (FUNCTION_TIME | FUNCTION_CHANCE | FUNCTION_SCOPE))
        return (struct reading){.many = true};
    return read_parts(reader, parts, (uint32_t)e->small, function->traits & FUNCTION_CHOICE ? STEP_CHOOSE : STEP_ANSWER,
                      OP_NONE);
}

/* Subscripts of a list. */
static struct reading read_path(struct reader *reader, const struct expr *e)
{
    const struct expr *parts = tree_parts(reader->tree, e);

    for (uint32_t i = 1; i < e->u.run.count; i++)
        if (parts[i].label != STEP_SUBSCRIPT)
            return (struct reading){.many = true};
    return read_parts(reader, parts, e->u.run.count, STEP_ANSWER, OP_NONE);
}

static struct reading read_deeper(struct reader *reader, const struct expr *e)
{
    const struct expr *parts = tree_parts(reader->tree, e);

    if (expr_is_literal(e))
        return read_literal(reader, e);
    switch (e->kind) {
    case EXPR_NAME:
    case EXPR_DOT:
        return read_reference(reader, e);
    case EXPR_LIST:
        return read_list(reader, e);
    case EXPR_PREFIX:
        return read_parts(reader, parts, 1, STEP_PREFIX, (enum op)e->small);
    case EXPR_CHAIN:
        return read_chain(reader, e);
    case EXPR_CHOICE:
        return read_parts(reader, parts, 3, STEP_CHOOSE, OP_NONE);
    case EXPR_CALL:
        return read_call(reader, e);
    case EXPR_PATH:
        return read_path(reader, e);
    default:
        return (struct reading){.many = true};
    }
}

/* Adds the steps of an expression: those of its parts, or, where they are not arithmetic and ask for one attribute, one answer in their place. */
static struct reading read_expr(struct reader *reader, const struct expr *e)
{
    uint32_t count = reader->formula->count, height = reader->height;
    struct reading reading;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(reader->tree, e);
    if (reader->depth == READER_DEPTH_MAX)
        return (struct reading){.many = true};
    reader->depth++;
    reading = read_deeper(reader, e);
    reader->depth--;
    if (!reading.pure || reading.many || reading.asks == SYMBOL_NONE || (reading.steps && reading.plain))
        return reading;
    reader->formula->count = count;
    reader->height = height;
    reading.steps = reading.answer =
        step_add(reader,
                 (struct formula_step){
                     .kind = STEP_ANSWER, .name = reading.asks, .column = columns_find(reader->columns, reading.asks)},
                 0);
    if (reading.answer)
        reader->exprs[count] = *e;
    return reading;
}

/* Finds the places of the answers, when it is known which are asked for. */
static bool reader_answers(struct reader *reader)
{
    struct formula *formula = reader->formula;

    for (uint32_t i = 0; i < formula->count; i++) {
        struct formula_step *step = &formula->steps[i];
        uint32_t place;

        if (step->kind != STEP_ANSWER)
            continue;
        reader->exprs[i].flags = 0;
        place = columns_find_answer(reader->columns, step->column, reader->tree, &reader->exprs[i]);
        if (place == ANSWERS_NONE)
            return false;
        step->op = (unsigned char)place;
        step->constant.integer = (int64_t)reader->columns->items[step->column].answers->items[place].serial;
        formula->answers++;
    }
    return true;
}

static void formula_begin(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad)
{
    formula->dialect = ad->dialect;
    formula->count = formula->depth = formula->answers = 0;
    formula->left = NULL;
    formula->env = env;
    formula->scratch = scratch;
    formula->ad = ad;
}

static void reader_begin(struct reader *reader, struct formula *formula, const struct tree *tree,
                         struct columns *columns)
{
    reader->formula = formula;
    reader->env = formula->env;
    reader->ad = formula->ad;
    reader->tree = tree;
    reader->columns = columns;
    reader->height = reader->depth = 0;
}

bool formula_init(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad,
                  symbol name, struct columns *columns)
{
    const struct expr *e = tree_find(ad, tree_root(ad), name);
    static const struct expr undefined = {.kind = EXPR_UNDEFINED};
    struct reader reader;
    struct scope scope;

    formula_begin(formula, env, scratch, ad);
    reader_begin(&reader, formula, ad, columns);
    if (env->steps || env->bytes) /* an evaluation may end early */
        return false;
    if (!e || expr_is_literal(e))
        return read_expr(&reader, e ? e : &undefined).steps;
    scope_init(&scope, ad, NULL);
    formula->left = specialize(env, scratch, &scope, e, 0);
    reader.tree = formula->left;
    if (read_expr(&reader, tree_root(formula->left)).steps && reader_answers(&reader))
        return true;
    formula_done(formula);
    return false;
}

bool formula_read(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad,
                  const struct tree *tree, const struct expr *const *clauses, uint32_t count, struct columns *columns)
{
    struct reader reader;

    formula_begin(formula, env, scratch, ad);
    reader_begin(&reader, formula, tree, columns);
    if (env->steps || env->bytes)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!read_expr(&reader, clauses[i]).steps ||
            (i && !step_add(&reader, (struct formula_step){.kind = STEP_BINARY, .op = OP_AND}, 2)))
            return false;
    return count > 0 && reader_answers(&reader);
}

bool formula_is_true(const struct formula *formula, const struct formula_value *value)
{
    struct value v = formula_value(value);
    bool truth = false;

    return op_condition(formula->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
}

void formula_done(struct formula *formula)
{
    if (!formula)
        return;
    tree_unref(formula->left);
    formula->left = NULL;
}

static bool step_same(const struct formula_step *a, const struct formula_step *b)
{
    if (a->kind != b->kind || a->op != b->op || a->type != b->type)
        return false;
    return a->kind == STEP_COLUMN || a->kind == STEP_ANSWER
               ? symbol_same(a->name, b->name) && a->constant.integer == b->constant.integer
               : a->constant.integer == b->constant.integer;
}

bool formula_same(const struct formula *a, const struct formula *b)
{
    if (a->count != b->count || a->dialect != b->dialect)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!step_same(&a->steps[i], &b->steps[i]))
            return false;
    return true;
}

uint64_t formula_hash(const struct formula *formula)
{
    uint64_t hash = formula->dialect->bit;

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];

        hash = rng_mix(hash + ((uint64_t)step->kind << 16 | (uint64_t)step->op << 8 | step->type));
        hash += step->kind == STEP_COLUMN ? symbol_name(step->name) : (uint64_t)step->constant.integer;
    }
    return rng_mix(hash);
}

/* ------------------------------------------------------------------------------------------------------------- slopes */

/* How a value on the stack moves with each attribute: 1 if it rises, -1 if it falls, 0 if it does not. */
struct slant {
    signed char by[FORMULA_SLOPES_MAX];
    bool constant;
    double v; /* of a constant */
};

static bool slant_constant(struct slant *slant, const struct formula_step *step)
{
    *slant = (struct slant){.constant = true};
    slant->v = step->type == VALUE_REAL ? step->constant.real : (double)step->constant.integer;
    return (step->type == VALUE_INTEGER || step->type == VALUE_REAL) && slant->v - slant->v == 0;
}

static bool slant_column(struct slant *slant, struct formula_slopes *slopes, const struct formula_step *step)
{
    uint32_t i = 0;

    while (i < slopes->count && slopes->items[i].column != step->column)
        i++;
    if (i == FORMULA_SLOPES_MAX)
        return false;
    if (i == slopes->count)
        slopes->items[slopes->count++] = (struct formula_slope){.name = step->name, .column = step->column};
    *slant = (struct slant){0};
    slant->by[i] = 1;
    return true;
}

static void slant_turn(struct slant *slant)
{
    for (int i = 0; i < FORMULA_SLOPES_MAX; i++)
        slant->by[i] = (signed char)-slant->by[i];
    slant->v = -slant->v;
}

/* a = a op b. False when it is not known how that moves. */
static bool slant_binary(enum op op, struct slant *a, const struct slant *b)
{
    struct slant other = *b;

    if (a->constant && b->constant)
        return false; /* it would have been folded in, if it had a value */
    if (op == OP_MULTIPLY || op == OP_DIVIDE) {
        if (op == OP_MULTIPLY && a->constant) {
            other = *a;
            *a = *b;
        }
        if (!other.constant || (op == OP_DIVIDE && other.v == 0))
            return false;
        if (other.v < 0)
            slant_turn(a);
        return true;
    }
    if (op != OP_ADD && op != OP_SUBTRACT)
        return false;
    if (op == OP_SUBTRACT)
        slant_turn(&other);
    for (int i = 0; i < FORMULA_SLOPES_MAX; i++) {
        if (a->by[i] * other.by[i] < 0)
            return false;
        a->by[i] = a->by[i] ? a->by[i] : other.by[i];
    }
    a->constant = false;
    return true;
}

bool formula_slopes(const struct formula *formula, struct formula_slopes *ret)
{
    struct slant slants[FORMULA_DEPTH_MAX + 1], *top = slants;

    ret->count = 0;
    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];
        bool known = false;

        if (step->kind == STEP_CONSTANT) {
            known = slant_constant(top++, step);
        } else if (step->kind == STEP_COLUMN) {
            known = slant_column(top++, ret, step);
        } else if (step->kind == STEP_BINARY) {
            top--;
            known = slant_binary((enum op)step->op, top - 1, top);
        } else if (step->kind == STEP_PREFIX && step->op == OP_SUBTRACT) {
            slant_turn(top - 1);
            known = true;
        }
        if (!known)
            return false;
    }
    for (uint32_t i = 0; i < ret->count; i++)
        ret->items[i].rises = slants[0].by[i] >= 0;
    return ret->count > 0;
}

#define SAFE 0x1p62 /* integers below it do not wrap when two are added, nor lose their order as reals */

bool formula_may_wrap(const struct formula *formula, const struct formula_slopes *slopes, const double *least,
                      const double *most)
{
    double sizes[FORMULA_DEPTH_MAX + 1], *top = sizes;

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];
        struct slant slant;
        uint32_t slope = 0;

        switch ((enum step_kind)step->kind) {
        case STEP_CONSTANT:
            slant_constant(&slant, step);
            *top++ = fabs(slant.v);
            break;
        case STEP_COLUMN:
            while (slopes->items[slope].column != step->column)
                slope++;
            *top++ = fmax(fabs(least[slope]), fabs(most[slope]));
            break;
        case STEP_BINARY:
            top--;
            if (step->op == OP_MULTIPLY)
                top[-1] *= top[0];
            else if (step->op == OP_DIVIDE)
                top[-1] /= top[0];
            else
                top[-1] += top[0];
            break;
        default:
            break;
        }
        if (!(top[-1] < SAFE))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- computing */

/* One operand, or result, of a batch. */
struct lane {
    unsigned char same; /* the type of all; or MIXED */
    unsigned char types[BATCH];
    union cell v[BATCH];
};

/* The counterparts of a batch. */
struct batch {
    const struct formula *formula;
    struct columns *columns;
    const uint32_t *ids;
    uint32_t count;
    uint32_t cells_read, numbers_read; /* bits: columns of which they have been read for all of them */
    bool evaluate[BATCH];
};

static struct value lane_value(const struct lane *lane, uint32_t i)
{
    struct value v = {.type = lane->types[i], .u.integer = lane->v[i].integer};

    if (v.type == VALUE_BOOLEAN)
        v.boolean = lane->v[i].integer != 0;
    return v;
}

static void lane_put(struct lane *lane, uint32_t i, const struct value *v)
{
    lane->types[i] = v->type;
    lane->v[i].integer = v->type == VALUE_BOOLEAN ? v->boolean : v->u.integer;
}

static void lane_uniform(struct lane *lane, unsigned type, uint32_t count)
{
    lane->same = (unsigned char)type;
    memset(lane->types, (int)type, count);
}

/* Looks whether all are of one type after all. */
static void lane_settle(struct lane *lane, uint32_t count)
{
    lane->same = lane->types[0];
    for (uint32_t i = 1; i < count; i++)
        if (lane->types[i] != lane->same)
            lane->same = MIXED;
}

static void lane_column(struct lane *lane, struct batch *batch, uint32_t place)
{
    const struct ad_column *column = &batch->columns->items[place];
    const uint32_t *ids = batch->ids, count = batch->count;
    unsigned differ = 0, most = 0;

    if (!(batch->cells_read >> place & 1))
        columns_read(batch->columns, place, ids, count);
    batch->cells_read |= 1u << place;
    for (uint32_t i = 0; i < count; i++) {
        lane->types[i] = column->types[ids[i]];
        lane->v[i] = column->cells[ids[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        differ |= lane->types[i] ^ lane->types[0];
        most |= lane->types[i];
    }
    lane->same = differ ? MIXED : lane->types[0];
    if (most <= VALUE_RELTIME)
        return;
    for (uint32_t i = 0; i < count; i++) {
        batch->evaluate[i] |= lane->types[i] == CELL_OTHER;
        if (lane->types[i] > VALUE_RELTIME)
            lane->types[i] = VALUE_UNDEFINED;
    }
    lane_settle(lane, count);
}

/* Asks for the answers that are not known. */
static void codes_ask(const struct batch *batch, struct answers *answers, struct kept_answer *answer,
                      unsigned char *codes)
{
    const struct formula *formula = batch->formula;
    struct columns *columns = batch->columns;
    bool remember = columns_remember(columns);

    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t number = answers->numbers[batch->ids[i]];

        if (codes[i] != ANSWER_UNKNOWN)
            continue;
        codes[i] = remember ? answer_code(answer, number) : ANSWER_EVALUATE;
        if (codes[i] == ANSWER_UNKNOWN)
            codes[i] = answer_ask(answers, answer, number, formula->env, formula->scratch, formula->ad,
                                  columns->ad(columns->user, batch->ids[i]));
    }
}

static void lane_answer(struct lane *lane, struct batch *batch, const struct formula_step *step)
{
    struct answers *answers = batch->columns->items[step->column].answers;
    struct kept_answer *answer = &answers->items[step->op];
    const uint32_t *ids = batch->ids, count = batch->count;
    unsigned char codes[BATCH];
    bool ask = false, odd = false;
    unsigned differ = 0;

    if (!(batch->numbers_read >> step->column & 1))
        columns_read_numbers(batch->columns, step->column, ids, count);
    batch->numbers_read |= 1u << step->column;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = answers->numbers[ids[i]];

        codes[i] = number >= ANSWERS_UNREAD ? ANSWER_EVALUATE : answer_code(answer, number);
        ask |= codes[i] == ANSWER_UNKNOWN;
    }
    if (ask)
        codes_ask(batch, answers, answer, codes);
    for (uint32_t i = 0; i < count; i++) {
        lane->types[i] = (unsigned char)ANSWER_TYPE(codes[i]);
        lane->v[i].integer = ANSWER_TRUTH(codes[i]);
        differ |= lane->types[i] ^ lane->types[0];
        odd |= lane->types[i] > VALUE_BOOLEAN;
    }
    lane->same = differ ? MIXED : lane->types[0];
    if (!odd)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i] == ANSWER_EVALUATE) {
            batch->evaluate[i] = true;
            lane->types[i] = VALUE_UNDEFINED;
        } else if (lane->types[i] > VALUE_BOOLEAN) {
            lane->v[i].integer = answer_bits(answer, answers->numbers[ids[i]]);
        }
    }
    lane_settle(lane, count);
}

static bool is_number(unsigned type)
{
    return type == VALUE_INTEGER || type == VALUE_REAL;
}

static void lane_reals(const struct lane *lane, uint32_t count, double *ret)
{
    if (lane->same == VALUE_REAL) {
        for (uint32_t i = 0; i < count; i++)
            ret[i] = lane->v[i].real;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (double)lane->v[i].integer;
}

/* Sums, differences and products of integers, which wrap; quotients where no divisor is special. */
static bool compute_integers(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    switch (op) {
    case OP_ADD:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer + (uint64_t)b->v[i].integer);
        return true;
    case OP_SUBTRACT:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer - (uint64_t)b->v[i].integer);
        return true;
    case OP_MULTIPLY:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer * (uint64_t)b->v[i].integer);
        return true;
    case OP_DIVIDE:
        for (uint32_t i = 0; i < count; i++)
            if (b->v[i].integer == 0 || b->v[i].integer == -1)
                return false;
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer /= b->v[i].integer;
        return true;
    default:
        return false;
    }
}

/* The same of reals; not where a result would be an error. */
static bool compute_reals(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    double x[BATCH], y[BATCH];
    bool odd = false;

    lane_reals(a, count, x);
    lane_reals(b, count, y);
    switch (op) {
    case OP_ADD:
        for (uint32_t i = 0; i < count; i++)
            x[i] += y[i];
        break;
    case OP_SUBTRACT:
        for (uint32_t i = 0; i < count; i++)
            x[i] -= y[i];
        break;
    case OP_MULTIPLY:
        for (uint32_t i = 0; i < count; i++)
            x[i] *= y[i];
        break;
    case OP_DIVIDE:
        for (uint32_t i = 0; i < count; i++) {
            odd |= y[i] == 0;
            x[i] /= y[i];
        }
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < count; i++) /* infinite, or not a number */
        odd |= !(x[i] - x[i] == 0);
    if (odd)
        return false;
    for (uint32_t i = 0; i < count; i++)
        a->v[i].real = x[i];
    lane_uniform(a, VALUE_REAL, count);
    return true;
}

/* a->v = x op y, for each of the batch. */
#define COMPARE_EACH(op, x, y)               \
    switch (op) {                            \
    case OP_EQUAL:                           \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) == (y);    \
        break;                               \
    case OP_NOT_EQUAL:                       \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) != (y);    \
        break;                               \
    case OP_LESS:                            \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) < (y);     \
        break;                               \
    case OP_LESS_EQUAL:                      \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) <= (y);    \
        break;                               \
    case OP_GREATER:                         \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) > (y);     \
        break;                               \
    default:                                 \
        for (uint32_t i = 0; i < count; i++) \
            a->v[i].integer = (x) >= (y);    \
    }

static void compare_lanes(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    double x[BATCH], y[BATCH];

    if (a->same == VALUE_INTEGER && b->same == VALUE_INTEGER) {
        COMPARE_EACH(op, a->v[i].integer, b->v[i].integer)
    } else {
        lane_reals(a, count, x);
        lane_reals(b, count, y);
        COMPARE_EACH(op, x[i], y[i])
    }
    lane_uniform(a, VALUE_BOOLEAN, count);
}

static bool is_comparison(enum op op)
{
    return op == OP_EQUAL || op == OP_NOT_EQUAL || (op >= OP_LESS && op <= OP_GREATER_EQUAL);
}

/* Truth values, undefined and error, as they are in a lane, from 0 to 3. */
static bool lane_truths(const struct lane *lane, uint32_t count, unsigned char *ret)
{
    bool other = false;

    if (lane->same != MIXED && lane->same > VALUE_BOOLEAN)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        other |= lane->types[i] > VALUE_BOOLEAN;
        ret[i] = (unsigned char)(lane->types[i] + (lane->types[i] == VALUE_BOOLEAN && lane->v[i].integer));
    }
    return !other;
}

static struct value truth_value(unsigned truth)
{
    return truth == VALUE_UNDEFINED ? value_undefined()
           : truth == VALUE_ERROR   ? value_error()
                                    : value_boolean(truth > VALUE_BOOLEAN);
}

/* && or || of truth values: the sixteen cases once, and then a look at them for each. */
static bool compute_logic(const struct dialect *dialect, enum op op, struct lane *a, const struct lane *b,
                          uint32_t count)
{
    unsigned char x[BATCH], y[BATCH], types[16], truths[16];
    unsigned differ = 0;

    if (a->same == VALUE_BOOLEAN && b->same == VALUE_BOOLEAN) {
        for (uint32_t i = 0; i < count && op == OP_AND; i++)
            a->v[i].integer &= b->v[i].integer;
        for (uint32_t i = 0; i < count && op == OP_OR; i++)
            a->v[i].integer |= b->v[i].integer;
        return true;
    }
    if (!lane_truths(a, count, x) || !lane_truths(b, count, y))
        return false;
    for (unsigned i = 0; i < 16; i++) {
        struct value left = truth_value(i / 4), right = truth_value(i % 4), v;

        op_binary(dialect, op, &left, &right, &v);
        types[i] = v.type;
        truths[i] = v.type == VALUE_BOOLEAN && v.boolean;
    }
    for (uint32_t i = 0; i < count; i++) {
        unsigned both = x[i] * 4u + y[i];

        a->types[i] = types[both];
        a->v[i].integer = truths[both];
        differ |= a->types[i] ^ a->types[0];
    }
    a->same = differ ? MIXED : a->types[0];
    return true;
}

/* a = a op b */
static void compute_binary(const struct dialect *dialect, enum op op, struct lane *a, const struct lane *b,
                           uint32_t count)
{
    if (is_number(a->same) && is_number(b->same)) {
        if (is_comparison(op)) {
            compare_lanes(op, a, b, count);
            return;
        }
        if (a->same == VALUE_INTEGER && b->same == VALUE_INTEGER ? compute_integers(op, a, b, count)
                                                                 : compute_reals(op, a, b, count))
            return;
    }
    if ((op == OP_AND || op == OP_OR) && compute_logic(dialect, op, a, b, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct value x = lane_value(a, i), y = lane_value(b, i), v;

        op_binary(dialect, op, &x, &y, &v);
        lane_put(a, i, &v);
    }
    lane_settle(a, count);
}

static void compute_prefix(const struct dialect *dialect, enum op op, struct lane *a, uint32_t count)
{
    if (op == OP_NOT && a->same == VALUE_BOOLEAN) {
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = !a->v[i].integer;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct value x = lane_value(a, i), v;

        op_prefix(dialect, op, &x, &v);
        lane_put(a, i, &v);
    }
    lane_settle(a, count);
}

/* a = a ? a[1] : a[2] */
static void compute_choose(const struct dialect *dialect, struct lane *a, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct value condition = lane_value(a, i);
        bool truth = false;
        unsigned type = op_condition(dialect, &condition, &truth);

        if (type == VALUE_BOOLEAN) {
            a->types[i] = a[truth ? 1 : 2].types[i];
            a->v[i] = a[truth ? 1 : 2].v[i];
        } else {
            a->types[i] = type == VALUE_UNDEFINED ? VALUE_UNDEFINED : VALUE_ERROR;
        }
    }
    lane_settle(a, count);
}

static void compute_constant(struct lane *a, const struct formula_step *step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        a->v[i] = step->constant;
    lane_uniform(a, step->type, count);
}

/* Could the answers and the rest together take longer than an evaluation may? */
static bool takes_long(const struct formula *formula, const struct columns *columns)
{
    const struct env *env = formula->env;
    uint64_t most = env->meter_end && env->meter && *env->meter >= env->meter_end ? EVAL_SPENT_STEPS : EVAL_STEPS_MAX,
             steps = formula->count;

    for (uint32_t i = 0; i < formula->count; i++)
        if (formula->steps[i].kind == STEP_ANSWER)
            steps += columns->items[formula->steps[i].column].answers->items[formula->steps[i].op].worst;
    return steps > most / 2;
}

static void compute_batch(struct batch *batch, struct formula_value *ret)
{
    struct lane lanes[FORMULA_DEPTH_MAX + 1], *top = lanes; /* of the next result */
    const struct formula *formula = batch->formula;
    uint32_t count = batch->count;

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];

        switch ((enum step_kind)step->kind) {
        case STEP_CONSTANT:
            compute_constant(top++, step, count);
            break;
        case STEP_COLUMN:
            lane_column(top++, batch, step->column);
            break;
        case STEP_ANSWER:
            lane_answer(top++, batch, step);
            break;
        case STEP_BINARY:
            top--;
            compute_binary(formula->dialect, (enum op)step->op, top - 1, top, count);
            break;
        case STEP_PREFIX:
            compute_prefix(formula->dialect, (enum op)step->op, top - 1, count);
            break;
        case STEP_CHOOSE:
            top -= 2;
            compute_choose(formula->dialect, top - 1, count);
            break;
        }
    }
    if (formula->answers && takes_long(formula, batch->columns))
        memset(batch->evaluate, true, count);
    for (uint32_t i = 0; i < count; i++) {
        ret[i].type = batch->evaluate[i] ? FORMULA_EVALUATE : lanes[0].types[i];
        ret[i].v = lanes[0].v[i];
    }
}

void formula_compute(const struct formula *formula, struct columns *columns, const uint32_t *ids, uint32_t count,
                     struct formula_value *ret)
{
    for (uint32_t done = 0; done < count; done += BATCH) {
        struct batch batch = {formula, columns, ids + done, count - done < BATCH ? count - done : BATCH, 0, 0, {false}};

        compute_batch(&batch, ret + done);
    }
}

struct value formula_value(const struct formula_value *value)
{
    struct value v = {.type = value->type, .u.integer = value->v.integer};

    if (v.type == VALUE_BOOLEAN) {
        v.boolean = value->v.integer != 0;
        v.u.integer = 0;
    } else if (v.type == VALUE_REAL) {
        v = value_real(value->v.real);
    }
    return v;
}
