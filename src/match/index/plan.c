/* plan.c: how a probe would go, step by step. */
#include "lang/text/print.h"
#include "match/index/probe.h"

struct plan {
    struct index *index;
    struct probe *probe;
    struct buf text;
    index_plan_fn *tell;
    void *user;
};

static void tell(struct plan *plan, enum index_step_kind kind, uint64_t rows, bool exact)
{
    struct index_step step = {kind, buf_string(&plan->text), rows, exact};

    plan->tell(plan->user, &step);
    buf_reset(&plan->text);
}

static void add_value(struct plan *plan, const struct dim *dim, double v)
{
    const char *text;
    uint32_t len;

    switch (dim->kind) {
    case KEY_STRING:
        if (key_strings_text(&plan->index->strings, v, &text, &len))
            print_string(&plan->text, text, len, PRINT_PLAIN);
        else
            buf_adds(&plan->text, "a string that no ad has");
        break;
    case KEY_BOOLEAN:
        buf_adds(&plan->text, v != 0 ? "true" : "false");
        break;
    case KEY_ABSTIME:
        print_abstime(&plan->text, plan->probe->ad->dialect, (int64_t)v, 0);
        break;
    case KEY_RELTIME:
        print_reltime(&plan->text, plan->probe->ad->dialect, (int64_t)v);
        break;
    default:
        if (v == (double)(int64_t)v)
            print_integer(&plan->text, (int64_t)v);
        else
            print_real(&plan->text, v);
    }
}

static void add_name(struct plan *plan, const struct dim *dim)
{
    size_t len;
    const char *name = symbols_text(plan->index->symbols, dim->attribute.name, &len);

    buf_add(&plan->text, name, len);
    if (dim->attribute.then == SYMBOL_NONE)
        return;
    buf_addc(&plan->text, '.');
    name = symbols_text(plan->index->symbols, dim->attribute.then, &len);
    buf_add(&plan->text, name, len);
}

static void tell_test(struct plan *plan, const struct test *test)
{
    const struct dim *dim = &plan->index->dims[test->dim];
    uint64_t rows = 0;

    for (uint32_t n = 0; n * LINE_ROWS < plan->index->row_count; n++) {
        const struct line *block = plan->index->blocks[n];
        struct line left;

        for (int i = 0; i < LINE_WORDS; i++)
            left.words[i] = ((block[test->in].words[i] & ~block[test->out].words[i]) | block[test->maybe].words[i]) &
                            block[LINE_LIVE].words[i];
        rows += line_count(&left);
    }
    if (!dim->exported)
        buf_adds(&plan->text, "other.");
    add_name(plan, dim);
    if (!dim_has_columns(dim) && dim->kind != DIM_ABSENCE) {
        buf_adds(&plan->text, " has an element");
    } else if (dim->exported && test->op != OP_EQUAL) {
        buf_adds(&plan->text, test->op == OP_NONE ? " is missing" : " is of another type");
    } else {
        buf_addf(&plan->text, " %s ", dim->exported ? "=" : op_table[test->op].text);
        if (dim->kind == DIM_ABSENCE)
            buf_adds(&plan->text, "undefined");
        else
            add_value(plan, dim, test->v);
    }
    tell(plan, dim->exported ? INDEX_HAS : INDEX_ASKS, rows, test->exact);
}

/* The rows of a block that all tests and choices leave; those that a choice leaves in doubt are in `ret_doubt`. */
static struct line block_left(const struct plan *plan, const struct line *block, struct line *ret_doubt)
{
    const struct probe *probe = plan->probe;
    struct line left = block[LINE_LIVE];

    memset(ret_doubt, 0, sizeof *ret_doubt);
    for (uint32_t i = 0; i < probe->test_count; i++)
        for (int k = 0; k < LINE_WORDS; k++)
            left.words[k] &= (block[probe->tests[i].in].words[k] & ~block[probe->tests[i].out].words[k]) |
                             block[probe->tests[i].maybe].words[k];
    for (uint32_t i = 0; i < probe->choice_count; i++) {
        struct sets sets;

        probe_choice(probe, plan->index->wants.ordered, probe->choices[i], block, &sets);
        for (int k = 0; k < LINE_WORDS; k++) {
            left.words[k] &= sets.yes.words[k] | sets.maybe.words[k];
            ret_doubt->words[k] |= sets.maybe.words[k];
        }
    }
    for (int k = 0; k < LINE_WORDS; k++)
        ret_doubt->words[k] &= left.words[k];
    return left;
}

static void tell_choices(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->probe->choice_count; i++) {
        uint64_t rows = 0, doubt = 0;

        for (uint32_t n = 0; n * LINE_ROWS < plan->index->row_count; n++) {
            struct sets sets;

            probe_choice(plan->probe, plan->index->wants.ordered, plan->probe->choices[i], plan->index->blocks[n],
                         &sets);
            rows += line_count(&sets.yes) + line_count(&sets.maybe);
            doubt += line_count(&sets.maybe);
        }
        buf_adds(&plan->text, "a disjunction");
        tell(plan, INDEX_CHOICE, rows, !doubt);
    }
}

static void tell_left(struct plan *plan)
{
    const struct probe *probe = plan->probe;
    uint64_t rows = 0, own = 0, others = 0;

    for (uint32_t n = 0; n * LINE_ROWS < plan->index->row_count; n++) {
        const struct line *block = plan->index->blocks[n];
        struct line doubt, left = block_left(plan, block, &doubt), asked = block[LINE_EVALUATE];

        for (uint32_t i = 0; i < probe->check_count; i++) {
            const struct dim *dim = &plan->index->dims[probe->checks[i].dim];

            for (int k = 0; k < LINE_WORDS && !dim->exported; k++)
                doubt.words[k] |= block[dim_line_deviant(dim)].words[k] & left.words[k];
        }
        for (uint32_t i = 0; i < probe->asker_count; i++)
            for (int k = 0; k < LINE_WORDS; k++)
                asked.words[k] |= block[probe->askers[i]].words[k];
        for (int k = 0; k < LINE_WORDS; k++)
            asked.words[k] &= left.words[k];
        rows += line_count(&left);
        own += probe->evaluate ? line_count(&left) : line_count(&doubt);
        others += line_count(&asked);
    }
    buf_adds(&plan->text, "rows that are left");
    tell(plan, INDEX_LEFT, rows, !own && !others && !probe->check_count);
    if (own) {
        buf_adds(&plan->text, "its constraint");
        tell(plan, INDEX_EVALUATES, own, false);
    }
    if (others) {
        buf_adds(&plan->text, "their constraints");
        tell(plan, INDEX_EVALUATED, others, false);
    }
}

void index_plan(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                index_plan_fn *told, void *user)
{
    struct plan plan = {.index = index, .probe = probe_of(index), .tell = told, .user = user};

    index_adopt(index, ad);
    index->env = env;
    wants_read(&index->wants, env, scratch, ad);
    plan.probe->env = env;
    plan.probe->scratch = scratch;
    plan.probe->ad = ad;
    buf_init(&plan.text);
    if (index->wants.never) {
        buf_adds(&plan.text, "its constraint takes nobody");
        tell(&plan, INDEX_LEFT, 0, true);
    } else {
        probe_prepare(index, plan.probe);
        plan.probe->evaluate = plan.probe->evaluate || plan.probe->computes;
        for (uint32_t i = 0; i < plan.probe->test_count; i++)
            tell_test(&plan, &plan.probe->tests[i]);
        tell_choices(&plan);
        tell_left(&plan);
    }
    if (index->timed_count || index->wants.timed) {
        buf_adds(&plan.text, index->wants.timed ? "ads that read the time, and this one" : "ads that read the time");
        tell(&plan, INDEX_VOLATILE, index->timed_count, false);
    }
    buf_done(&plan.text);
}
