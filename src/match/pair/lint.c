/* lint.c: what is wrong with an ad that can be seen without a pool: the walk, and what is wrong with an ad as a whole. */
#include "match/pair/lint.h"

#include "lang/ad/functions.h"
#include "lang/base/nearest.h"
#include "lang/text/print.h"
#include "match/pair/lint_parts.h"

#include <stdlib.h>

const char *lint_kind_name(enum lint_kind kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        LINT_KINDS(X)
#undef X
    };

    return names[kind];
}

/* -------------------------------------------------------------------------------------------------------- findings */

/* Appends the name of the function that was probably meant. */
static void add_nearest(struct buf *out, const struct tree *ad, symbol function)
{
    struct nearest nearest;
    size_t len;
    const char *wrong = symbols_text(ad->symbols, function, &len);

    nearest_init(&nearest, wrong, len);
    for (size_t i = 0; i < function_count; i++)
        if (function_table[i].dialects & ad->dialect->bit)
            nearest_try(&nearest, function_table[i].name);
    if (nearest.name)
        buf_addf(out, "; did you mean '%s'?", nearest.name);
}

void lint_text_print(struct buf *out, const struct tree *ad, const struct lint_finding *finding)
{
    buf_adds(out, finding->text);
    if (finding->function != SYMBOL_NONE)
        add_nearest(out, ad, finding->function);
}

#define BEGIN_STEPS 16 /* for making a finding */
#define STEP_BYTES 32  /* of a text that is made or compared */

struct buf *lint_begin(struct lint *lint)
{
    lint_spend(lint, BEGIN_STEPS);
    buf_reset(&lint->text);
    return &lint->text;
}

/* Cuts what was added behind `start` when it is long. */
static void text_cut(struct lint *lint, size_t start)
{
    struct buf *text = &lint->text;

    lint_spend(lint, (text->len - start) / STEP_BYTES);
    if (text->len - start <= LINT_QUOTE_MAX)
        return;
    text->len = start + LINT_QUOTE_MAX;
    while ((text->text[text->len] & 0xc0) == 0x80 && text->len > start) /* not inside a letter */
        text->len--;
    buf_adds(text, "...");
}

void lint_quote(struct lint *lint, const struct expr *e)
{
    size_t start;

    buf_addc(&lint->text, '\'');
    start = lint->text.len;
    print_expr_most(&lint->text, lint->tree, e, PRINT_PLAIN, LINT_QUOTE_MAX);
    text_cut(lint, start);
    buf_addc(&lint->text, '\'');
}

void lint_name(struct lint *lint, symbol name)
{
    size_t len, start = lint->text.len;
    const char *text = symbols_text(lint->tree->symbols, name, &len);

    print_name(&lint->text, lint->tree->dialect, text, len);
    text_cut(lint, start);
}

static bool was_told(const struct lint *lint, const char *text, size_t len)
{
    const char *at = lint->told.text, *end = at + lint->told.len;

    while (at < end) {
        size_t told = strlen(at);

        if (told == len && !memcmp(at, text, len))
            return true;
        at += told + 1;
    }
    return false;
}

void lint_end_with(struct lint *lint, enum lint_kind kind, symbol function)
{
    struct lint_finding finding = {.kind = kind,
                                   .attribute = tree_parts(lint->tree, tree_root(lint->tree))[lint->place].label,
                                   .function = function};

    finding.text = buf_string(&lint->text);
    lint_spend(lint, lint->told.len / STEP_BYTES);
    if (lint->told_count == LINT_FINDINGS_MAX || (lint->told.len && was_told(lint, finding.text, strlen(finding.text))))
        return;
    lint->told_count++;
    buf_add(&lint->told, finding.text, strlen(finding.text) + 1);
    lint->report(lint->user, &finding);
}

void lint_end(struct lint *lint, enum lint_kind kind)
{
    lint_end_with(lint, kind, SYMBOL_NONE);
}

/* Goes on to the next attribute: what was told of the last may be told again. */
static void lint_place(struct lint *lint, uint32_t place)
{
    lint->place = place;
    lint->told_count = 0;
    buf_reset(&lint->told);
}

/* -------------------------------------------------------------------------------------------------------- the walk */

#define WALK_TESTED 1u /* the part stands where undefined is asked for: x is undefined */
#define WALK_INNER 2u  /* the part is a clause of a conjunction that has been looked at */

static struct lint_shape walk(struct lint *lint, const struct scope *scope, const struct expr *e, unsigned flags);

static void walk_parts(struct lint *lint, const struct scope *scope, const struct expr *e, unsigned flags)
{
    const struct expr *parts = tree_parts(lint->tree, e);

    for (uint32_t i = 0; i < expr_part_count(e); i++)
        walk(lint, scope, &parts[i], flags);
}

static struct lint_shape walk_chain(struct lint *lint, const struct scope *scope, const struct expr *e, unsigned flags)
{
    const struct expr *parts = tree_parts(lint->tree, e);
    enum op op = lint_chain_op(lint->tree, e);
    unsigned inner = op == OP_AND ? WALK_INNER : op == OP_IS || op == OP_ISNT ? WALK_TESTED : 0;
    struct lint_shape shape;

    if (op == OP_AND && !(flags & WALK_INNER))
        lint_conjunction(lint, scope, e);
    shape = walk(lint, scope, &parts[0], inner);
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        struct lint_shape next = walk(lint, scope, &parts[i], inner);

        shape = lint_binary(lint, e, i, &shape, &next);
    }
    return shape;
}

static struct lint_shape walk_choice(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(lint->tree, e);
    struct lint_shape condition = walk(lint, scope, &parts[0], 0), yes = walk(lint, scope, &parts[1], 0),
                      no = walk(lint, scope, &parts[2], 0);

    lint_condition(lint, &parts[0], &condition);
    if (yes.known && no.known && yes.v.type == VALUE_BOOLEAN && no.v.type == VALUE_BOOLEAN)
        return lint_boolean();
    return (struct lint_shape){.known = SHAPE_UNKNOWN};
}

/* Does the function give true or false and nothing else? Tests of types do, and those listed here. */
static bool gives_boolean(const struct function *function)
{
    static const char *const names[] = {"member", "isMember", "identicalMember", "anyCompare", "allCompare", "regexp"};

    if (function->traits & FUNCTION_TEST)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(function->name, names[i]))
            return true;
    return false;
}

static void tell_unknown_function(struct lint *lint, symbol name)
{
    struct buf *text = lint_begin(lint);

    buf_adds(text, "there is no function '");
    lint_name(lint, name);
    buf_addc(text, '\'');
    lint_end_with(lint, LINT_UNKNOWN_FUNCTION, name);
}

static void tell_argument_count(struct lint *lint, const struct function *function, int count)
{
    struct buf *text = lint_begin(lint);

    buf_addf(text, "%s(%s) takes ", function->name, function->arguments);
    if (function->max == FUNCTION_ANY_COUNT)
        buf_addf(text, "at least %d", function->min);
    else if (function->min == function->max)
        buf_addf(text, "%d", function->min);
    else
        buf_addf(text, "%d to %d", function->min, function->max);
    buf_addf(text, " argument%s, not %d",
             function->min == 1 && (function->max == 1 || function->max == FUNCTION_ANY_COUNT) ? "" : "s", count);
    lint_end(lint, LINT_ARGUMENT_COUNT);
}

static struct lint_shape walk_call(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct function *function = function_find(lint->tree->dialect, e->u.name.id);
    bool elsewhere = function && (function->traits & FUNCTION_SCOPE);

    if (!function)
        tell_unknown_function(lint, e->u.name.id);
    else if (e->small < function->min || e->small > function->max)
        tell_argument_count(lint, function, e->small);
    lint->elsewhere += elsewhere;
    walk_parts(lint, scope, e, function && (function->traits & FUNCTION_TEST) ? WALK_TESTED : 0);
    lint->elsewhere -= elsewhere;
    if (function && !e->small && (function->traits & FUNCTION_TIME) && (function->traits & FUNCTION_STRICT))
        return lint_clock(lint, scope, e);
    return function && gives_boolean(function) ? lint_boolean() : (struct lint_shape){.known = SHAPE_UNKNOWN};
}

/* Walks base.a.b[i]: the base, and what stands in brackets. */
static void walk_path(struct lint *lint, const struct scope *scope, const struct expr *e, unsigned flags)
{
    const struct expr *parts = tree_parts(lint->tree, e);

    walk(lint, scope, &parts[0], flags & WALK_TESTED);
    for (uint32_t i = 1; i < e->u.run.count; i++)
        if (parts[i].label == STEP_SUBSCRIPT)
            walk(lint, scope, &parts[i], 0);
}

static void check_shadows(struct lint *lint, const struct expr *ad);

static struct lint_shape walk(struct lint *lint, const struct scope *scope, const struct expr *e, unsigned flags)
{
    struct scope opened;
    struct lint_shape shape;

    if (!lint_spend(lint, 1))
        return (struct lint_shape){.known = SHAPE_UNKNOWN};
    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_DOT:
        lint_reference(lint, scope, e, flags & WALK_TESTED);
        return lint_leaf(lint, scope, e);
    case EXPR_PATH:
        walk_path(lint, scope, e, flags);
        break;
    case EXPR_PREFIX:
        shape = walk(lint, scope, tree_parts(lint->tree, e), 0);
        return lint_prefix(lint, e, &shape);
    case EXPR_CHAIN:
        return walk_chain(lint, scope, e, flags);
    case EXPR_CHOICE:
        return walk_choice(lint, scope, e);
    case EXPR_CALL:
        return walk_call(lint, scope, e);
    case EXPR_LIST:
        lint->lazy++;
        walk_parts(lint, scope, e, 0);
        lint->lazy--;
        return lint_leaf(lint, scope, e);
    case EXPR_AD:
        scope_open(&opened, scope, e);
        check_shadows(lint, e);
        lint->lazy++;
        walk_parts(lint, &opened, e, 0);
        lint->lazy--;
        return lint_leaf(lint, scope, e);
    default:
        return expr_is_literal(e) ? lint_leaf(lint, scope, e) : (struct lint_shape){.known = SHAPE_UNKNOWN};
    }
    return (struct lint_shape){.known = SHAPE_UNKNOWN};
}

/* ------------------------------------------------------------------------------------------------- an ad as a whole */

static void check_shadow(struct lint *lint, const struct expr *attribute)
{
    static const symbol hidden[] = {NAME_OTHER, NAME_TARGET, NAME_MY};
    struct buf *text;

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (!symbol_same(attribute->label, hidden[i]))
            continue;
        text = lint_begin(lint);
        buf_adds(text, "the attribute '");
        lint_name(lint, attribute->label);
        buf_addf(text, "' hides the %s", hidden[i] == NAME_MY ? "ad itself" : "counterpart");
        lint_end(lint, LINT_SHADOW);
    }
    for (uint32_t i = 0; i < lint->label_count && i <= lint->port; i++) { /* later labels are not in force */
        if (lint->labels[i] == SYMBOL_NONE || !symbol_same(attribute->label, lint->labels[i]))
            continue;
        text = lint_begin(lint);
        buf_adds(text, "the attribute '");
        lint_name(lint, attribute->label);
        buf_addf(text, "' hides the label of port %u", i + 1);
        lint_end(lint, LINT_SHADOW);
    }
}

static void check_shadows(struct lint *lint, const struct expr *ad)
{
    const struct expr *parts = tree_parts(lint->tree, ad);

    for (uint32_t i = 0; i < ad->u.run.count && lint_spend(lint, lint_label_steps(lint)); i++)
        check_shadow(lint, &parts[i]);
}

/* ----------------------------------------------------------------------------------------------------------- ports */

/* The list of a group, which is an entry of Ports with Ports of its own; NULL when the entry is a port. */
static const struct expr *group_list(const struct lint *lint, const struct expr *entry)
{
    const struct expr *list = entry->kind == EXPR_AD ? tree_find(lint->tree, entry, NAME_PORTS) : NULL;

    return list && list->kind == EXPR_LIST ? list : NULL;
}

/* Reads Label = cpu, or Label = "cpu". SYMBOL_NONE for a label that nothing can read: a string that no symbol stands for, or a name that means
 * something else. */
static symbol find_label(const struct lint *lint, const struct expr *entry)
{
    const struct expr *label = entry->kind == EXPR_AD ? tree_find(lint->tree, entry, NAME_LABEL) : NULL;
    const struct scope *ignored;
    symbol found = SYMBOL_NONE;

    if (label && label->kind == EXPR_NAME)
        found = label->u.name.id;
    else if (label && label->kind == EXPR_STRING)
        found = symbols_find(lint->tree->symbols, tree_string(lint->tree, label), label->u.run.count);
    return scope_reserved(&(struct scope){0}, found, &ignored) || symbol_same(found, NAME_TARGET) ? SYMBOL_NONE : found;
}

/* Collects the labels of the ports from left to right, those in groups in their place. */
static void find_labels(struct lint *lint, const struct expr *list)
{
    const struct expr *entries = tree_parts(lint->tree, list);

    for (uint32_t i = 0; i < list->u.run.count && lint->label_count < LINT_PORTS_MAX; i++) {
        const struct expr *inner = group_list(lint, &entries[i]);

        if (inner)
            find_labels(lint, inner);
        else
            lint->labels[lint->label_count++] = find_label(lint, &entries[i]);
    }
}

static void walk_port(struct lint *lint, const struct scope *scope, const struct expr *port)
{
    const struct expr *parts = tree_parts(lint->tree, port);
    struct scope opened;

    scope_open(&opened, scope, port);
    check_shadows(lint, port);
    lint->set = tree_find(lint->tree, port, NAME_COUNT) != NULL;
    for (uint32_t i = 0; i < port->u.run.count; i++) {
        if (symbol_same(parts[i].label, NAME_LABEL) && parts[i].kind == EXPR_NAME)
            continue; /* a name that stands for itself */
        lint_role(lint, &opened, &parts[i]);
        walk(lint, &opened, &parts[i], 0);
    }
}

/* Walks the entries of Ports. `*next` is the number of the first port among them, and becomes that of the first port after them. */
static void walk_ports(struct lint *lint, const struct scope *scope, const struct expr *list, uint32_t *next)
{
    const struct expr *entries = tree_parts(lint->tree, list);

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *inner = group_list(lint, &entries[i]), *parts = tree_parts(lint->tree, &entries[i]);
        struct scope opened;

        if (inner) {
            scope_open(&opened, scope, &entries[i]);
            check_shadows(lint, &entries[i]);
            for (uint32_t n = 0; n < entries[i].u.run.count; n++) {
                if (&parts[n] == inner)
                    walk_ports(lint, &opened, inner, next);
                else
                    walk(lint, &opened, &parts[n], 0);
            }
            continue;
        }
        lint->port = *next < lint->label_count ? (*next)++ : lint->label_count;
        if (lint->port < lint->label_count && entries[i].kind == EXPR_AD)
            walk_port(lint, scope, &entries[i]);
        else
            walk(lint, scope, &entries[i], 0);
        lint->port = lint->label_count;
    }
}

/* -------------------------------------------------------------------------------------------------- the outermost ad */

static void check_reserved(struct lint *lint, symbol name)
{
    if (lint_is_given(lint, name)) {
        buf_adds(lint_begin(lint), "the matchmaker gives the value of that name; the ad's own hides it");
        lint_end(lint, LINT_RESERVED);
    }
}

/* Does the attribute belong to a policy? Its expressions are evaluated in the ads that are served, so names there are not this ad's. */
static bool is_policy(symbol name)
{
    return symbol_same(name, NAME_ROOTSELECTION) || symbol_same(name, NAME_ROOTORDER) ||
           symbol_same(name, NAME_DOCKINGVECTOR);
}

static void walk_attribute(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    uint32_t next = 0;

    check_shadow(lint, e);
    check_reserved(lint, e->label);
    if (!lint->ports)
        lint_role(lint, scope, e); /* else its ports have their own roles */
    lint->elsewhere = is_policy(e->label);
    if (e != lint->ports || e->kind != EXPR_LIST) {
        walk(lint, scope, e, 0);
        return;
    }
    lint->lazy++;
    walk_ports(lint, scope, e, &next);
    lint->lazy--;
}

/* Tells at which attribute the steps were over. */
static void tell_unfinished(struct lint *lint)
{
    const struct lint_finding finding = {
        .kind = LINT_UNFINISHED,
        .attribute = tree_parts(lint->tree, tree_root(lint->tree))[lint->place].label,
        .text = "too much is to be looked at: it ended here, and what comes behind was not looked at",
        .function = SYMBOL_NONE};

    lint->report(lint->user, &finding);
}

void lint_ad(struct arena *scratch, const struct tree *ad, uint64_t *meter, lint_report_fn *report, void *user)
{
    uint64_t own = 0;
    struct lint lint = {.tree = ad, .scratch = scratch, .report = report, .user = user, .meter = meter ? meter : &own};
    struct arena_mark mark = arena_mark(scratch);
    const struct expr *parts = tree_parts(ad, tree_root(ad));
    struct scope scope;

    lint.env = (struct env){.meter = lint.meter, .meter_end = LINT_STEPS_MAX};
    buf_init(&lint.text);
    buf_init(&lint.told);
    scope_init(&scope, ad, NULL);
    lint.ports = tree_find(ad, tree_root(ad), NAME_PORTS);
    if (lint.ports && lint.ports->kind == EXPR_LIST)
        find_labels(&lint, lint.ports);
    lint.port = lint.label_count;
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count && !lint_is_spent(&lint); i++) {
        lint_place(&lint, i);
        walk_attribute(&lint, &scope, &parts[i]);
        arena_rewind(scratch, mark);
    }
    if (lint_is_spent(&lint) && tree_root(ad)->u.run.count) {
        tell_unfinished(&lint);
    } else {
        lint_place(&lint, 0);
        lint_circles(&lint);
    }
    free(lint.edges);
    free(lint.tested);
    buf_done(&lint.text);
    buf_done(&lint.told);
    arena_rewind(scratch, mark);
}
