/* why_json.c: an explanation as one JSON object, in the form that docs/why.md describes. */
#include "lang/base/json.h"
#include "lang/text/print.h"
#include "match/pair/why_parts.h"

#define FORM_VERSION 1

static void add_text(struct buf *out, const char *field, const char *text)
{
    buf_addf(out, ", \"%s\": ", field);
    if (text)
        json_quote(out, text, strlen(text));
    else
        buf_adds(out, "null");
}

static void add_symbol(struct buf *out, const struct tree *tree, const char *field, symbol name)
{
    add_text(out, field, name == SYMBOL_NONE ? NULL : symbols_text(tree->symbols, name, &(size_t){0}));
}

static void add_expr(struct buf *out, const char *field, const struct tree *tree, const struct expr *e)
{
    struct buf text;

    buf_init(&text);
    print_expr(&text, tree, e, PRINT_PLAIN);
    buf_addf(out, ", \"%s\": ", field);
    json_quote(out, text.text, text.len);
    buf_done(&text);
}

static void add_offer(struct buf *out, const struct why_names *names, const char *field, size_t offer)
{
    struct buf text;

    buf_init(&text);
    names->offer(names->user, offer, &text);
    buf_addf(out, ", \"%s\": ", field);
    json_quote(out, text.text, text.len);
    buf_done(&text);
}

static void add_clauses(struct buf *out, const struct why *why, const struct tree *request,
                        const struct why_names *names)
{
    buf_adds(out, ", \"clauses\": [");
    for (uint32_t i = 0; i < why->clause_count; i++) {
        const struct why_clause *clause = &why->clauses[i];
        unsigned line = 0, column = 0;

        if (names->place)
            names->place(names->user, clause, &line, &column);
        buf_addf(out, "%s{\"clause\": %u", i ? ", " : "", i);
        add_expr(out, "text", request, clause->e);
        add_expr(out, "means", clause->left, tree_root(clause->left));
        add_symbol(out, request, "attribute", clause->attribute);
        if (line)
            buf_addf(out, ", \"line\": %u, \"column\": %u", line, column);
        if (clause->more)
            buf_addf(out, ", \"more\": %u", clause->more);
        buf_addf(out, ", \"alone\": %zu, \"left\": %zu, \"undefined\": %zu, \"error\": %zu, \"by_time\": %s}",
                 clause->alone, clause->together, clause->undefined, clause->error, clause->timed ? "true" : "false");
    }
    buf_addc(out, ']');
}

static void add_conflicts(struct buf *out, const struct why *why)
{
    buf_adds(out, ", \"conflicts\": [");
    for (uint32_t i = 0; i < why->conflict_count; i++) {
        const struct why_conflict *conflict = &why->conflicts[i];

        buf_addf(out, "%s{\"clauses\": [%u", i ? ", " : "", conflict->a);
        if (conflict->b != conflict->a)
            buf_addf(out, ", %u", conflict->b);
        buf_addf(out, "], \"kind\": \"%s\"}",
                 conflict->types              ? "two-types"
                 : conflict->a == conflict->b ? "never-true"
                                              : "contradiction");
    }
    buf_addc(out, ']');
}

static void add_sets(struct buf *out, const struct why *why)
{
    buf_adds(out, ", \"blocking\": [");
    for (uint32_t i = 0; i < why->set_count; i++) {
        const char *between = "";

        buf_addf(out, "%s{\"clauses\": [", i ? ", " : "");
        for (uint32_t k = 0; k < why->clause_count; k++) {
            if (why->sets[i].clauses >> k & 1) {
                buf_addf(out, "%s%u", between, k);
                between = ", ";
            }
        }
        buf_addf(out, "], \"offers\": %s, \"opens\": %zu}", why->sets[i].offers ? "true" : "false", why->sets[i].opens);
    }
    buf_addf(out, "], \"blocking_complete\": %s", why->all_sets ? "true" : "false");
}

static void add_refusals(struct buf *out, const struct why *why, const struct tree *request,
                         const struct why_names *names)
{
    buf_adds(out, ", \"refusals\": [");
    for (uint32_t i = 0; i < why->refusal_count; i++) {
        const struct why_refusal *refusal = &why->refusals[i];

        buf_addf(out, "%s{\"offers\": %zu, \"fitting\": %zu", i ? ", " : "", refusal->count, refusal->fitting);
        add_expr(out, "clause", refusal->offer, refusal->e);
        add_offer(out, names, "first", refusal->first);
        buf_adds(out, ", \"reads\": [");
        for (uint32_t k = 0; k < refusal->read_count; k++) {
            buf_adds(out, k ? ", {\"name\": " : "{\"name\": ");
            json_quote(out, symbols_text(request->symbols, refusal->reads[k].name, &(size_t){0}),
                       strlen(symbols_text(request->symbols, refusal->reads[k].name, &(size_t){0})));
            add_text(out, "value", refusal->reads[k].value);
            buf_addc(out, '}');
        }
        buf_adds(out, "]}");
    }
    buf_addf(out, "], \"refusals_complete\": %s", why->all_refusals ? "true" : "false");
}

static void add_hints(struct buf *out, const struct why *why, const struct tree *request)
{
    static const char *const kinds[] = {"no-such-name", "missing", "wrong-type"};

    buf_adds(out, ", \"hints\": [");
    for (uint32_t i = 0; i < why->hint_count; i++) {
        const struct why_hint *hint = &why->hints[i];

        buf_addf(out, "%s{\"kind\": \"%s\", \"clause\": %u", i ? ", " : "", kinds[hint->kind], hint->clause);
        add_symbol(out, request, "name", hint->name);
        buf_addf(out, ", \"offers\": %zu", hint->count);
        if (hint->kind == WHY_NO_SUCH_NAME) {
            add_symbol(out, request, "nearest", hint->nearest);
            buf_addf(out, ", \"nearest_offers\": %zu", hint->nearest_have);
        } else if (hint->kind == WHY_WRONG_TYPE) {
            add_text(out, "wanted", value_type_name(hint->wanted));
            add_text(out, "found", value_type_name(hint->found));
        }
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}

static void add_edits(struct buf *out, const struct why *why, const struct tree *request)
{
    static const char *const kinds[] = {"clause", "drop", "attribute"};

    buf_adds(out, ", \"edits\": [");
    for (uint32_t i = 0; i < why->edit_count; i++) {
        const struct why_edit *edit = &why->edits[i];

        buf_addf(out, "%s{\"opens\": %zu, \"changes\": [", i ? ", " : "", edit->opens);
        for (uint32_t k = 0; k < edit->part_count; k++) {
            const struct why_change *change = &edit->parts[k];

            buf_addf(out, "%s{\"kind\": \"%s\"", k ? ", " : "", kinds[change->kind]);
            if (change->kind == WHY_CHANGE_ATTRIBUTE)
                add_symbol(out, request, "attribute", change->attribute);
            else
                buf_addf(out, ", \"clause\": %u", change->clause);
            add_text(out, "from", change->from);
            add_text(out, "to", change->to);
            buf_addc(out, '}');
        }
        buf_adds(out, "]}");
    }
    buf_addf(out, "], \"edits_complete\": %s", why->all_edits ? "true" : "false");
}

static void add_choice(struct buf *out, const struct why *why, const struct why_names *names)
{
    const struct why_choice *choice = &why->choice;

    if (why->verdict != WHY_MATCHES) {
        buf_adds(out, ", \"choice\": null");
        return;
    }
    buf_adds(out, ", \"choice\": {\"reason\": ");
    buf_adds(out, !choice->has_second ? "\"only\"" : choice->component < 0 ? "\"first\"" : "\"rank\"");
    add_offer(out, names, "offer", choice->offer);
    if (choice->has_second)
        add_offer(out, names, "second", choice->second);
    if (choice->has_second && choice->component >= 0) {
        buf_addf(out, ", \"component\": %d", choice->component);
        add_text(out, "text", choice->text);
        add_text(out, "value", choice->value);
        add_text(out, "second_value", choice->second_value);
    }
    buf_addc(out, '}');
}

void why_print_json_reasons(struct buf *out, const struct why *why, const struct tree *request,
                            const struct why_names *names)
{
    add_clauses(out, why, request, names);
    add_conflicts(out, why);
    add_sets(out, why);
    add_refusals(out, why, request, names);
    add_hints(out, why, request);
    add_edits(out, why, request);
}

void why_print_json(struct buf *out, const struct why *why, const struct tree *request, const struct why_names *names)
{
    static const char *const verdicts[] = {"matches", "not-now", "never"};
    static const char *const cases[] = {"taken", "nobody-asks", "unwanted", "refuses-all-present", "refuses-everybody"};

    buf_addf(out, "{\"version\": %d", FORM_VERSION);
    add_text(out, names->is_offer ? "offer" : "request", names->request);
    add_text(out, "verdict", verdicts[why->verdict]);
    if (names->is_offer)
        add_text(out, "case", cases[why_offer(why)]);
    buf_addf(out, ", \"unseen\": %zu", why->unseen);
    buf_addf(out, ", \"offers\": %zu, \"fitting\": %zu, \"accepting\": %zu, \"matching\": %zu, \"discarded\": %s",
             why->offers, why->fitting, why->accepting, why->matching, why->discarded ? "true" : "false");
    if (!names->is_offer)
        buf_addf(out, ", \"ported\": %zu", names->ported);
    why_print_json_reasons(out, why, request, names);
    add_choice(out, why, names);
    buf_adds(out, "}\n");
}
