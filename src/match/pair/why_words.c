/* why_words.c: an explanation in words.
 *
 *     big: matches none of the 3 offers now.
 *          alone     left  clause
 *              3        3  job.ad:3:14  other.Type == "Machine"
 *              0        0  job.ad:4:14  other.Memory >= 64000
 *     No offer satisfies other.Memory >= 64000; without that, 3 would match.
 *     It would match
 *              2           with other.Memory >= 48000 instead of other.Memory >= 64000 */
#include "lang/text/print.h"
#include "match/pair/why_parts.h"

#define TEXT_MAX 100 /* bytes of an expression that are shown */
#define SETS_SHOWN 8
#define REFUSALS_SHOWN 8

struct words {
    struct buf *out;
    const struct why *why;
    const struct tree *request;
    const struct why_names *names;
};

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* "1 offer", "8,412 offers". */
static void add_others(const struct words *words, size_t n)
{
    buf_add_count(words->out, n);
    buf_addf(words->out, " %s%s", words->names->is_offer ? "request" : "offer", plural(n));
}

static void add_cut(struct buf *out, size_t from)
{
    if (out->len - from <= TEXT_MAX)
        return;
    out->len = from + TEXT_MAX;
    while (out->len > from && ((unsigned char)out->text[out->len] & 0xc0) == 0x80)
        out->len--;
    buf_adds(out, "...");
}

static void add_expr(struct buf *out, const struct tree *tree, const struct expr *e)
{
    size_t from = out->len;

    print_expr(out, tree, e, PRINT_PLAIN | PRINT_AMOUNTS);
    add_cut(out, from);
}

static void add_clause(const struct words *words, uint32_t n)
{
    const struct why_clause *clause = &words->why->clauses[n];
    size_t from = words->out->len;

    print_expr(words->out, words->request, clause->e, PRINT_PLAIN | PRINT_AMOUNTS);
    add_cut(words->out, from);
    if (clause->more) {
        buf_addf(words->out, " and %u more clauses", clause->more);
        return;
    }
    /* what the clause amounts to, where that differs from its text */
    if (expr_is_literal(tree_root(clause->left)) ||
        tree_equal(words->request, clause->e, clause->left, tree_root(clause->left)))
        return;
    buf_adds(words->out, "  (that is, ");
    from = words->out->len;
    print_tree(words->out, clause->left, PRINT_PLAIN | PRINT_AMOUNTS);
    add_cut(words->out, from);
    buf_addc(words->out, ')');
}

static void add_place(const struct words *words, const struct why_clause *clause)
{
    unsigned line = 0, column = 0;

    if (!words->names->place || !words->names->file)
        return;
    words->names->place(words->names->user, clause, &line, &column);
    if (line)
        buf_addf(words->out, "%s:%u:%u  ", words->names->file, line, column);
}

/* Makes a name safe to show: a byte that could control a terminal becomes a question mark. */
static void make_safe(struct buf *out, size_t from)
{
    for (size_t i = from; i < out->len; i++)
        if ((unsigned char)out->text[i] < ' ' || out->text[i] == 127)
            out->text[i] = '?';
    add_cut(out, from);
}

static void add_other(const struct words *words, size_t place)
{
    size_t from = words->out->len;

    words->names->offer(words->names->user, place, words->out);
    make_safe(words->out, from);
}

static void say_verdict(const struct words *words)
{
    const struct why *why = words->why;
    size_t from = words->out->len;

    buf_adds(words->out, words->names->request);
    make_safe(words->out, from);
    if (why->verdict == WHY_MATCHES) {
        buf_adds(words->out, ": matches ");
        buf_add_count(words->out, why->matching);
        buf_adds(words->out, " of ");
        add_others(words, why->offers);
        buf_adds(words->out, ".\n");
    } else if (why->discarded) {
        buf_adds(words->out, ": fits ");
        add_others(words, why->matching);
        buf_adds(words->out, ", but the policy's DockingVector discards all of them.\n");
    } else if (why->verdict == WHY_NEVER) {
        buf_adds(words->out, ": can never match, whatever the pool holds.\n");
    } else if (why->offers == 0) {
        buf_addf(words->out, ": matches nothing, for there are no %s.\n",
                 words->names->is_offer ? "requests" : "offers");
    } else {
        buf_adds(words->out, ": matches none of ");
        add_others(words, why->offers);
        buf_adds(words->out, " now.\n");
    }
}

static void say_unseen(const struct words *words)
{
    if (!words->why->unseen)
        return;
    add_others(words, words->why->unseen);
    buf_adds(words->out, " more were not looked at: it would have taken too long.\n");
}

static void say_ported(const struct words *words)
{
    if (!words->names->ported)
        return;
    buf_add_count(words->out, words->names->ported);
    buf_addf(words->out, " more %s ports, and it could dock at none of them.\n",
             words->names->ported == 1 ? "has" : "have");
}

static void say_case(const struct words *words)
{
    static const char *const cases[] = {
        [WHY_OFFER_TAKEN] = NULL,
        [WHY_OFFER_NOBODY] = "There are no requests.",
        [WHY_OFFER_UNWANTED] = "No request that it would serve wants it.",
        [WHY_OFFER_REFUSES] = "It refuses every request there is, but it would serve others.",
        [WHY_OFFER_CLOSED] = "It refuses everybody in its present state.",
    };
    const char *text = cases[why_offer(words->why)];

    if (text)
        buf_addf(words->out, "%s\n", text);
}

static void say_clauses(const struct words *words)
{
    const struct why *why = words->why;

    if (!why->clause_count) {
        buf_adds(words->out, "It has no constraint: it takes any.\n");
        return;
    }
    buf_adds(words->out, "     alone     left  clause\n");
    for (uint32_t i = 0; i < why->clause_count; i++) {
        const struct why_clause *clause = &why->clauses[i];

        buf_addf(words->out, "%10zu %8zu  ", clause->alone, clause->together);
        add_place(words, clause);
        add_clause(words, i);
        if (clause->timed)
            buf_adds(words->out, "  (not at this time)");
        if (clause->undefined) {
            buf_adds(words->out, "  (undefined for ");
            buf_add_count(words->out, clause->undefined);
            buf_addc(words->out, ')');
        }
        if (clause->error) {
            buf_adds(words->out, "  (error for ");
            buf_add_count(words->out, clause->error);
            buf_addc(words->out, ')');
        }
        buf_addc(words->out, '\n');
    }
}

static void say_conflicts(const struct words *words)
{
    const struct why *why = words->why;

    for (uint32_t i = 0; i < why->conflict_count; i++) {
        const struct why_conflict *conflict = &why->conflicts[i];

        add_expr(words->out, words->request, why->clauses[conflict->a].e);
        if (conflict->a == conflict->b) {
            buf_adds(words->out, " is never true: nothing of the other side can change it.\n");
            continue;
        }
        buf_adds(words->out, " and ");
        add_expr(words->out, words->request, why->clauses[conflict->b].e);
        buf_adds(words->out, conflict->types ? " want one attribute to be of two types.\n" : " are never both true.\n");
    }
}

static void say_sets(const struct words *words)
{
    const struct why *why = words->why;

    for (uint32_t i = 0; i < why->set_count && i < SETS_SHOWN; i++) {
        const struct why_set *set = &why->sets[i];
        bool first = true;

        if (!set->offers && !set->clauses)
            continue; /* an empty pool */
        if (set->offers && !set->clauses) {
            buf_addf(words->out, "Every %s refuses it", words->names->is_offer ? "request" : "offer");
        } else {
            buf_addf(words->out, "No %s %s", words->names->is_offer ? "request" : "offer",
                     set->offers ? "that takes it satisfies" : "satisfies");
            for (uint32_t k = 0; k < why->clause_count; k++) {
                if (!(set->clauses >> k & 1))
                    continue;
                buf_adds(words->out, first ? " " : " and ");
                add_expr(words->out, words->request, why->clauses[k].e);
                first = false;
            }
            if (set->clauses & (set->clauses - 1))
                buf_adds(words->out, " together");
        }
        if (set->opens) {
            buf_adds(words->out, "; without that, ");
            buf_add_count(words->out, set->opens);
            buf_adds(words->out, " would match");
        }
        buf_adds(words->out, ".\n");
    }
    if (why->set_count > SETS_SHOWN)
        buf_addf(words->out, "And %u more such sets%s.\n", why->set_count - SETS_SHOWN,
                 why->all_sets ? "" : ", or others still");
}

static void say_refusals(const struct words *words)
{
    const struct why *why = words->why;

    if (why->refusal_count) {
        add_others(words, why->offers - why->accepting);
        buf_addf(words->out, " refuse%s it", why->offers - why->accepting == 1 ? "s" : "");
        if (why->fitting > why->matching) {
            buf_adds(words->out, ", ");
            buf_add_count(words->out, why->fitting - why->matching);
            buf_adds(words->out, " of which it would take");
        }
        buf_adds(words->out, ":\n");
    }
    for (uint32_t i = 0; i < why->refusal_count && i < REFUSALS_SHOWN; i++) {
        const struct why_refusal *refusal = &why->refusals[i];

        buf_addf(words->out, "%10zu           ", refusal->count);
        add_expr(words->out, refusal->offer, refusal->e);
        for (uint32_t k = 0; k < refusal->read_count; k++) {
            size_t len, from;
            const char *name = symbols_text(words->request->symbols, refusal->reads[k].name, &len);

            buf_adds(words->out, k ? ", " : "  (");
            buf_add(words->out, name, len);
            if (!refusal->reads[k].value) {
                buf_adds(words->out, " is missing");
                continue;
            }
            buf_adds(words->out, " = ");
            from = words->out->len;
            buf_adds(words->out, refusal->reads[k].value);
            add_cut(words->out, from);
        }
        if (!refusal->read_count)
            buf_addf(words->out, "  (the state of the %s itself", words->names->is_offer ? "request" : "offer");
        buf_adds(words->out, ")\n");
    }
    if (why->refusal_count > REFUSALS_SHOWN)
        buf_adds(words->out, "           and by other clauses\n");
}

static void add_name(const struct words *words, symbol name)
{
    size_t len, from = words->out->len;
    const char *text = symbols_text(words->request->symbols, name, &len);

    print_name(words->out, words->request->dialect, text, len);
    add_cut(words->out, from);
}

static void say_hints(const struct words *words)
{
    const struct why *why = words->why;

    for (uint32_t i = 0; i < why->hint_count; i++) {
        const struct why_hint *hint = &why->hints[i];

        add_name(words, hint->name);
        buf_adds(words->out, ": ");
        if (hint->kind == WHY_WRONG_TYPE) {
            add_others(words, hint->count);
            buf_addf(words->out, " %s it as %s, and it is compared with %s.\n", hint->count == 1 ? "has" : "have",
                     value_type_name(hint->found), value_type_name(hint->wanted));
            continue;
        }
        if (hint->kind == WHY_MISSING) {
            buf_add_count(words->out, hint->count);
            buf_adds(words->out, " of ");
            add_others(words, why->offers);
            buf_addf(words->out, " %s not have it.\n", hint->count == 1 ? "does" : "do");
            continue;
        }
        buf_adds(words->out, "none of ");
        add_others(words, why->offers);
        buf_adds(words->out, " has it");
        if (hint->nearest != SYMBOL_NONE) {
            buf_adds(words->out, "; ");
            add_name(words, hint->nearest);
            buf_adds(words->out, ": ");
            if (hint->nearest_have == why->offers)
                buf_adds(words->out, "all");
            else
                buf_add_count(words->out, hint->nearest_have);
        }
        buf_adds(words->out, ".\n");
    }
}

/* Is that what the expression is in plain text? */
static bool expr_reads(const struct tree *tree, const struct expr *e, const char *text)
{
    struct buf plain;
    bool same;

    buf_init(&plain);
    print_expr(&plain, tree, e, PRINT_PLAIN);
    same = text && !strcmp(buf_string(&plain), text);
    buf_done(&plain);
    return same;
}

/* What stands there now. An attribute of a port is not one of the request's, though it may have the name of one. */
static void add_before(const struct words *words, const struct why_change *change)
{
    const struct tree *request = words->request;
    bool attribute = change->kind == WHY_CHANGE_ATTRIBUTE;
    const struct expr *e =
        attribute ? tree_find(request, tree_root(request), change->attribute) : words->why->clauses[change->clause].e;
    size_t from = words->out->len;

    if (!attribute || (e && expr_reads(request, e, change->from))) {
        add_expr(words->out, request, e);
        return;
    }
    buf_adds(words->out, change->from ? change->from : "");
    add_cut(words->out, from);
}

static void say_change(const struct words *words, const struct why_change *change)
{
    size_t from;

    if (change->kind == WHY_DROP_CLAUSE)
        buf_adds(words->out, "without ");
    else
        buf_adds(words->out, "with ");
    if (change->kind == WHY_CHANGE_ATTRIBUTE) {
        add_name(words, change->attribute);
        buf_adds(words->out, " = ");
    }
    if (!change->to) {
        add_before(words, change);
        return;
    }
    from = words->out->len;
    buf_adds(words->out, change->to);
    add_cut(words->out, from);
    if (!change->from)
        return;
    buf_adds(words->out, " instead of ");
    add_before(words, change);
}

static void say_edits(const struct words *words)
{
    const struct why *why = words->why;

    if (why->edit_count)
        buf_adds(words->out, "It would match\n");
    for (uint32_t i = 0; i < why->edit_count; i++) {
        const struct why_edit *edit = &why->edits[i];

        buf_addf(words->out, "%10zu           ", edit->opens);
        for (uint32_t k = 0; k < edit->part_count; k++) {
            if (k)
                buf_adds(words->out, " and ");
            say_change(words, &edit->parts[k]);
        }
        buf_addc(words->out, '\n');
    }
}

static void say_choice(const struct words *words)
{
    const struct why_choice *choice = &words->why->choice;

    buf_adds(words->out, "It gets ");
    add_other(words, choice->offer);
    if (!choice->has_second) {
        buf_adds(words->out, ", the only one.\n");
        return;
    }
    buf_adds(words->out, " rather than ");
    add_other(words, choice->second);
    if (choice->component < 0)
        buf_adds(words->out, ": they are equal in rank, and it comes first.\n");
    else
        buf_addf(words->out, " by %s: %s against %s.\n", choice->text, choice->value, choice->second_value);
}

void why_print_reasons(struct buf *out, const struct why *why, const struct tree *request,
                       const struct why_names *names)
{
    struct words words = {out, why, request, names};

    say_clauses(&words);
    say_conflicts(&words);
    say_sets(&words);
    say_refusals(&words);
    say_hints(&words);
    say_edits(&words);
}

void why_print(struct buf *out, const struct why *why, const struct tree *request, const struct why_names *names)
{
    struct words words = {out, why, request, names};

    say_verdict(&words);
    say_unseen(&words);
    say_ported(&words);
    if (names->is_offer && why->offers)
        say_case(&words);
    if (why->verdict == WHY_MATCHES && !names->is_offer)
        say_choice(&words);
    why_print_reasons(out, why, request, names);
}
