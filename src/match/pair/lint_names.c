/* lint_names.c: references to names that do not exist, and references that lead in a circle. */
#include "lang/ad/functions.h"
#include "lang/base/array.h"
#include "match/pair/lint_parts.h"

#include <stdlib.h>

#define SLIP_LEN_MIN 4 /* shorter names are too often near by chance */

static const char *const given_names[] = {"UserPrio", "RemoteUserPrio", "Usage", "Identity", "Received"};

bool lint_is_given(const struct lint *lint, symbol name)
{
    for (size_t i = 0; i < sizeof given_names / sizeof *given_names; i++) {
        symbol given = symbols_find(lint->tree->symbols, given_names[i], strlen(given_names[i]));

        if (given != SYMBOL_NONE && symbol_same(given, name))
            return true;
    }
    return false;
}

/* Finds the attribute that a reference means, and the scope that has it. */
static const struct expr *find_own(const struct scope *scope, const struct expr *e, const struct scope **ret_at)
{
    const struct scope *at = scope, *from;

    *ret_at = NULL;
    switch (e->kind) {
    case EXPR_NAME:
        break;
    case EXPR_ROOT_NAME:
        *ret_at = scope->root;
        return scope->root ? tree_find(scope->root->tree, scope->root->ad, e->u.name.id) : NULL;
    case EXPR_DOT:
        if (scope_find(&at, EXPR_DOT_BASE(e)) || !scope_reserved(scope, EXPR_DOT_BASE(e), &from) || !from)
            return NULL;
        at = from;
        break;
    default:
        return NULL;
    }
    {
        const struct expr *found = scope_find(&at, e->u.name.id);

        *ret_at = at;
        return found;
    }
}

const struct expr *lint_definition(const struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct scope *at;

    return lint->elsewhere ? NULL : find_own(scope, e, &at);
}

static void add_edge(struct lint *lint, const struct scope *at, const struct expr *found)
{
    if (!at || at != at->root || lint->elsewhere || lint->lazy)
        return;
    ARRAY_ROOM(lint->edges, lint->edge_count, lint->edge_room, 64);
    lint->edges[lint->edge_count++] = (struct lint_edge){lint->place, (uint32_t)(found - tree_parts(at->tree, at->ad))};
}

/* ------------------------------------------------------------------------------------------------- misspelt names */

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static bool same_text(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Do the names differ by one letter put in or changed, or two swapped? Digits tell things apart: disk1 and disk2 are not a slip. `b` is not the
 * shorter one. */
static bool one_slip(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0;

    if (b_len - a_len > 1)
        return false;
    while (i < a_len && lower(a[i]) == lower(b[i]))
        i++;
    if (i == b_len || is_digit(b[i]) || (i < a_len && is_digit(a[i])))
        return false;
    if (a_len < b_len)
        return same_text(a + i, b + i + 1, a_len - i);
    if (same_text(a + i + 1, b + i + 1, a_len - i - 1))
        return true;
    return i + 1 < a_len && lower(a[i]) == lower(b[i + 1]) && lower(a[i + 1]) == lower(b[i]) &&
           same_text(a + i + 2, b + i + 2, a_len - i - 2);
}

static bool likely_slip(const struct symbols *symbols, symbol wrong, symbol right)
{
    size_t wrong_len, right_len;
    const char *a = symbols_text(symbols, wrong, &wrong_len), *b = symbols_text(symbols, right, &right_len);

    if (wrong_len < SLIP_LEN_MIN || right_len < SLIP_LEN_MIN)
        return false;
    return wrong_len <= right_len ? one_slip(a, wrong_len, b, right_len) : one_slip(b, right_len, a, wrong_len);
}

/* Finds the attribute of an ad around here that is one slip away; SYMBOL_NONE when none is. */
static symbol near_attribute(struct lint *lint, const struct scope *scope, symbol wrong)
{
    size_t len;

    symbols_text(lint->tree->symbols, wrong, &len);
    if (len < SLIP_LEN_MIN)
        return SYMBOL_NONE;
    for (; scope; scope = scope->parent) {
        const struct expr *parts = tree_parts(scope->tree, scope->ad);
        uint32_t count = scope->ad->u.run.count < LINT_NAMES_MAX ? scope->ad->u.run.count : LINT_NAMES_MAX;

        if (!lint_spend(lint, 1 + count))
            break;
        for (uint32_t i = 0; i < count; i++)
            if (likely_slip(scope->tree->symbols, wrong, parts[i].label))
                return parts[i].label;
    }
    return SYMBOL_NONE;
}

static void tell_no_set(struct lint *lint)
{
    buf_addf(lint_begin(lint), "port %u reads 'SetSize', but it has no Count, so it is asked of the counterpart",
             lint->port + 1);
    lint_end(lint, LINT_NO_SET);
}

static void check_free_name(struct lint *lint, const struct scope *scope, symbol name)
{
    symbol near;

    if (symbol_same(name, NAME_SETSIZE) && lint->port < lint->label_count && !lint->set && !lint->elsewhere)
        tell_no_set(lint);
    if (lint->elsewhere || symbol_name(name) < NAME_NUMBER_END || lint_is_given(lint, name))
        return;
    near = near_attribute(lint, scope, name);
    if (near != SYMBOL_NONE) {
        struct buf *text = lint_begin(lint);

        buf_adds(text, "this ad has no '");
        lint_name(lint, name);
        buf_adds(text, "', so it is asked of the counterpart; was '");
        lint_name(lint, near);
        buf_adds(text, "' meant?");
        lint_end(lint, LINT_MISSPELT);
    }
}

/* Checks the base of name.x where no label has that name: a label in force may be one slip away. */
static void check_free_base(struct lint *lint, symbol name)
{
    if (lint->elsewhere || symbol_name(name) < NAME_NUMBER_END || !lint_spend(lint, lint->label_count))
        return;
    for (uint32_t i = 0; i < lint->label_count && i <= lint->port; i++) {
        struct buf *text;

        if (lint->labels[i] == SYMBOL_NONE || !likely_slip(lint->tree->symbols, name, lint->labels[i]))
            continue;
        text = lint_begin(lint);
        buf_adds(text, "no port of this ad is labelled '");
        lint_name(lint, name);
        buf_adds(text, "', so it is asked of the counterpart; was '");
        lint_name(lint, lint->labels[i]);
        buf_adds(text, "' meant?");
        lint_end(lint, LINT_MISSPELT);
        return;
    }
}

/* ------------------------------------------------------------------------------------------------------ references */

static void tell_missing(struct lint *lint, const struct scope *at, const struct expr *e)
{
    symbol near = near_attribute(lint, at, e->u.name.id);
    struct buf *text = lint_begin(lint);

    lint_quote(lint, e);
    buf_adds(text, ": this ad has no '");
    lint_name(lint, e->u.name.id);
    buf_addc(text, '\'');
    if (near != SYMBOL_NONE) {
        buf_adds(text, "; was '");
        lint_name(lint, near);
        buf_adds(text, "' meant?");
    }
    lint_end(lint, LINT_NO_SUCH_ATTRIBUTE);
}

/* Is the name the label of a port of this ad? A port behind this one has nobody docked yet when this one is asked. */
static bool check_label(struct lint *lint, symbol name)
{
    for (uint32_t i = 0; i < lint->label_count; i++) {
        if (lint->labels[i] == SYMBOL_NONE || !symbol_same(lint->labels[i], name))
            continue;
        if (lint->port < i) {
            struct buf *text = lint_begin(lint);

            buf_addf(text, "port %u reads '", lint->port + 1);
            lint_name(lint, name);
            buf_addf(text, "', the label of port %u, which is filled later: there it is undefined", i + 1);
            lint_end(lint, LINT_LATER_LABEL);
        }
        return true;
    }
    return false;
}

/* Notes the name of a reference of which it is asked whether it is there. */
static void tested_add(struct lint *lint, const struct expr *e)
{
    if (e->kind != EXPR_DOT && e->kind != EXPR_NAME && e->kind != EXPR_ROOT_NAME)
        return;
    ARRAY_ROOM(lint->tested, lint->tested_count, lint->tested_room, 16);
    lint->tested[lint->tested_count++] = symbol_name(e->u.name.id);
}

/* Does the function tell whether its argument is undefined? */
static bool is_test(const struct tree *tree, const struct expr *e)
{
    const struct function *function = e->small == 1 ? function_find(tree->dialect, e->u.name.id) : NULL;

    return function && (function->traits & FUNCTION_TEST);
}

static int name_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Finds all names x of self.x is undefined, isUndefined(self.x) and the like. */
static void tested_find(struct lint *lint)
{
    const struct tree *tree = lint->tree;

    lint->tested_known = true;
    lint_spend(lint, tree->cell_count);
    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct expr *e = &tree->cells[i];

        if (e->kind == EXPR_CHAIN && e->u.run.count == 2) {
            const struct expr *parts = tree_parts(tree, e);

            if (parts[1].label != OP_IS && parts[1].label != OP_ISNT)
                continue;
            if (parts[1].kind == EXPR_UNDEFINED)
                tested_add(lint, &parts[0]);
            else if (parts[0].kind == EXPR_UNDEFINED)
                tested_add(lint, &parts[1]);
        } else if (e->kind == EXPR_CALL && is_test(tree, e)) {
            tested_add(lint, &tree->cells[e->u.name.at]);
        }
    }
    if (lint->tested_count)
        qsort(lint->tested, lint->tested_count, sizeof *lint->tested, name_order);
}

/* Is it asked somewhere in the ad whether there is such an attribute? Then its author knows that it may be missing: an owner's policy is laid over
 * what is known of a machine, and that is not here. */
static bool is_asked_for(struct lint *lint, symbol name)
{
    uint32_t wanted = symbol_name(name);

    if (!lint->tested_known)
        tested_find(lint);
    return lint->tested_count && bsearch(&wanted, lint->tested, lint->tested_count, sizeof *lint->tested, name_order);
}

/* Tells of self.x, MY.x, root.x, parent.x or .x where nothing was found. */
static void check_missing(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct scope *from = scope->root;

    if (e->kind == EXPR_DOT && (!scope_reserved(scope, EXPR_DOT_BASE(e), &from) || !from))
        return;
    if (from && !lint_is_given(lint, e->u.name.id) && !is_asked_for(lint, e->u.name.id))
        tell_missing(lint, from, e);
}

#define NAME_SEARCHES 3 /* to know what a name stands for, and its value */

void lint_reference(struct lint *lint, const struct scope *scope, const struct expr *e, bool tested)
{
    symbol first = e->kind == EXPR_DOT ? EXPR_DOT_BASE(e) : e->u.name.id;
    const struct scope *at = scope, *ignored;
    const struct expr *found;

    if (!lint_spend(lint, NAME_SEARCHES * lint_scope_steps(scope) + lint_label_steps(lint)))
        return;
    if (e->kind != EXPR_ROOT_NAME) {
        found = scope_find(&at, first);
        if (found) {
            add_edge(lint, at, found);
            return;
        }
        if (check_label(lint, first))
            return;
        if (!scope_reserved(scope, first, &ignored)) {
            if (e->kind == EXPR_NAME)
                check_free_name(lint, scope, first);
            else
                check_free_base(lint, first);
            return;
        }
        if (e->kind == EXPR_NAME)
            return;
    }
    found = find_own(scope, e, &at);
    if (found)
        add_edge(lint, at, found);
    else if (!tested && !lint->elsewhere)
        check_missing(lint, scope, e);
}

/* --------------------------------------------------------------------------------------------------------- circles */

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

#define CIRCLE_SHOWN 8 /* attributes of a circle that are named */

/* The attributes that are being followed, and the edge of each that comes next. */
struct trail {
    uint32_t *places;
    size_t *next;
    uint32_t count;
};

static void tell_circle(struct lint *lint, const struct trail *trail, uint32_t place)
{
    const struct expr *parts = tree_parts(lint->tree, tree_root(lint->tree));
    struct buf *text = lint_begin(lint);
    uint32_t from = trail->count, shown = 0;

    while (trail->places[--from] != place)
        continue;
    buf_adds(text, "reads itself: ");
    for (; from < trail->count && shown < CIRCLE_SHOWN; from++, shown++) {
        lint_name(lint, parts[trail->places[from]].label);
        buf_adds(text, " -> ");
    }
    if (from < trail->count)
        buf_adds(text, "... -> ");
    lint_name(lint, parts[place].label);
    lint->place = place;
    lint_end(lint, LINT_CIRCLE);
}

/* Follows what an attribute reads until it leads nowhere new. */
static void follow(struct lint *lint, struct trail *trail, unsigned char *marks, const size_t *first, uint32_t start)
{
    trail->places[0] = start;
    trail->next[0] = first[start];
    trail->count = 1;
    marks[start] = MARK_OPEN;
    while (trail->count) {
        uint32_t here = trail->places[trail->count - 1], to;
        size_t *next = &trail->next[trail->count - 1];

        if (*next == first[here + 1]) {
            marks[here] = MARK_DONE;
            trail->count--;
            continue;
        }
        to = lint->edges[(*next)++].to;
        if (marks[to] == MARK_OPEN) {
            if (lint->told_count < LINT_FINDINGS_MAX && lint_spend(lint, trail->count))
                tell_circle(lint, trail, to);
        } else if (marks[to] == MARK_NEW) {
            marks[to] = MARK_OPEN;
            trail->places[trail->count] = to;
            trail->next[trail->count++] = first[to];
        }
    }
}

void lint_circles(struct lint *lint)
{
    struct arena_mark mark = arena_mark(lint->scratch);
    uint32_t count = tree_root(lint->tree)->u.run.count;
    struct trail trail = {arena_alloc(lint->scratch, (count + 1) * sizeof *trail.places),
                          arena_alloc(lint->scratch, (count + 1) * sizeof *trail.next), 0};
    unsigned char *marks = arena_alloc(lint->scratch, count + 1);
    size_t *first = arena_alloc(lint->scratch, (count + 1) * sizeof *first), edge = 0;

    memset(marks, MARK_NEW, count + 1);
    for (uint32_t i = 0; i <= count; i++) {
        first[i] = edge;
        while (edge < lint->edge_count && lint->edges[edge].from == i)
            edge++;
    }
    for (uint32_t i = 0; i < count; i++)
        if (marks[i] == MARK_NEW)
            follow(lint, &trail, marks, first, i);
    arena_rewind(lint->scratch, mark);
}
