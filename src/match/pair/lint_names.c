/* lint_names.c: references to names that do not exist, and references that lead in a circle. */
#include "lang/ad/functions.h"
#include "lang/base/array.h"
#include "match/pair/lint_parts.h"

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
static symbol near_attribute(const struct scope *scope, symbol wrong)
{
    for (; scope; scope = scope->parent) {
        const struct expr *parts = tree_parts(scope->tree, scope->ad);

        for (uint32_t i = 0; i < scope->ad->u.run.count && i < LINT_NAMES_MAX; i++)
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
    near = near_attribute(scope, name);
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
    if (lint->elsewhere || symbol_name(name) < NAME_NUMBER_END)
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
    symbol near = near_attribute(at, e->u.name.id);
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

static bool reads(const struct expr *e, symbol name)
{
    return (e->kind == EXPR_DOT || e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME) &&
           symbol_same(e->u.name.id, name);
}

/* Is it asked somewhere in the ad whether there is such an attribute: self.x is undefined, isUndefined(self.x)? Then its author knows that it may
 * be missing: an owner's policy is laid over what is known of a machine, and that is not here. */
static bool is_asked_for(const struct tree *tree, symbol name)
{
    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct expr *e = &tree->cells[i];

        if (e->kind == EXPR_CHAIN && e->u.run.count == 2) {
            const struct expr *parts = tree_parts(tree, e);

            if ((parts[1].label == OP_IS || parts[1].label == OP_ISNT) &&
                ((parts[1].kind == EXPR_UNDEFINED && reads(&parts[0], name)) ||
                 (parts[0].kind == EXPR_UNDEFINED && reads(&parts[1], name))))
                return true;
        } else if (e->kind == EXPR_CALL && e->small == 1 && reads(&tree->cells[e->u.name.at], name)) {
            const struct function *function = function_find(tree->dialect, e->u.name.id);

            if (function && (function->traits & FUNCTION_TEST))
                return true;
        }
    }
    return false;
}

/* Tells of self.x, MY.x, root.x, parent.x or .x where nothing was found. */
static void check_missing(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct scope *from = scope->root;

    if (e->kind == EXPR_DOT && (!scope_reserved(scope, EXPR_DOT_BASE(e), &from) || !from))
        return;
    if (from && !lint_is_given(lint, e->u.name.id) && !is_asked_for(lint->tree, e->u.name.id))
        tell_missing(lint, from, e);
}

void lint_reference(struct lint *lint, const struct scope *scope, const struct expr *e, bool tested)
{
    symbol first = e->kind == EXPR_DOT ? EXPR_DOT_BASE(e) : e->u.name.id;
    const struct scope *at = scope, *ignored;
    const struct expr *found;

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
