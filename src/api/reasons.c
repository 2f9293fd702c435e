/* reasons.c: why nothing fits, and what is wrong with an ad. */
#include "api/api_parts.h"
#include "lang/ad/functions.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "match/gang/gang_why.h"
#include "match/gang/lint_ports.h"
#include "match/pair/lint.h"

#include <stdlib.h>

struct explanation {
    struct berth_context *context;
    struct tree *request;
    struct tree *const *offers; /* all of them */
    struct tree **plain;        /* those without Ports, if some have any; else NULL */
    size_t *places;             /* of those among all */
    size_t count;
    struct policy policy;
    struct arena scratch;
};

/* What an ad is called: its Name, or #N. */
static void name_add(struct explanation *explanation, struct buf *out, const struct tree *ad, size_t place)
{
    struct arena_mark mark = arena_mark(&explanation->scratch);
    struct value value;
    struct scope scope;
    struct eval eval;

    scope_init(&scope, ad, NULL);
    eval_init(&eval, &explanation->context->env, &explanation->scratch);
    eval_attribute(&eval, &scope, NAME_NAME, &value);
    if (value.type == VALUE_STRING)
        buf_add(out, value.u.string, value.len);
    else
        buf_addf(out, "#%zu", place + 1);
    arena_rewind(&explanation->scratch, mark);
}

static void offer_name(void *user, size_t offer, struct buf *out)
{
    struct explanation *explanation = user;
    size_t place = explanation->plain ? explanation->places[offer] : offer;

    name_add(explanation, out, explanation->offers[place], place);
}

static int explain_gang(struct explanation *explanation, const struct why_names *names, bool json,
                        struct berth_error *error)
{
    struct berth_context *context = explanation->context;
    struct gang_why_terms terms = {.nodes = context->nodes_max};
    struct gang_why why;
    struct err err = {0};

    if (gang_why_explain(&why, &context->env, &context->arena, &explanation->policy, explanation->request,
                         explanation->offers, explanation->count, &terms, &err) < 0)
        return error_from(error, BERTH_BAD_PORTS, &err);
    if (json)
        gang_why_print_json(&context->text, &why, names);
    else
        gang_why_print(&context->text, &why, names);
    gang_why_done(&why);
    return 0;
}

/* Offers with Ports are left aside, for the request could dock at none of them. */
static void set_aside(struct explanation *explanation)
{
    size_t room = explanation->count + 1, count = 0;

    explanation->plain = mem_alloc(room * sizeof *explanation->plain);
    explanation->places = mem_alloc(room * sizeof *explanation->places);
    for (size_t i = 0; i < explanation->count; i++) {
        if (gang_why_ported(explanation->offers[i]))
            continue;
        explanation->plain[count] = explanation->offers[i];
        explanation->places[count++] = i;
    }
    explanation->count = count;
}

static void explain_plain(struct explanation *explanation, const struct why_names *names, bool json)
{
    struct berth_context *context = explanation->context;
    struct why why;

    if (names->ported)
        set_aside(explanation);
    why_explain(&why, &context->env, &context->arena, &explanation->policy, explanation->request,
                explanation->plain ? explanation->plain : explanation->offers, explanation->count);
    if (json)
        why_print_json(&context->text, &why, explanation->request, names);
    else
        why_print(&context->text, &why, explanation->request, names);
    why_done(&why);
}

/* Part of a call that changes. */
static int explain(struct explanation *explanation, bool json, struct berth_error *error)
{
    struct why_names names = {.offer = offer_name, .user = explanation};
    struct berth_context *context = explanation->context;
    struct buf name;
    int status = 0;

    buf_init(&name);
    arena_init(&explanation->scratch);
    policy_init(&explanation->policy, NULL, NULL, NULL);
    name_add(explanation, &name, explanation->request, 0);
    names.request = buf_string(&name);
    if (gang_why_plain(&context->env, &context->arena, &explanation->policy, explanation->request, explanation->offers,
                       explanation->count, &names.ported))
        explain_plain(explanation, &names, json);
    else
        status = explain_gang(explanation, &names, json, error);
    policy_done(&explanation->policy);
    arena_done(&explanation->scratch);
    buf_done(&name);
    free(explanation->plain);
    free(explanation->places);
    return status;
}

const char *berth_why(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers,
                      size_t count, int manner, struct berth_error *error)
{
    struct explanation explanation = {.context = context, .request = ad_tree(context, request), .count = count};
    struct tree **trees;
    int status;

    context_fresh(context);
    if (!explanation.request || (manner != BERTH_WORDS && manner != BERTH_JSON)) {
        error_foreign(error);
        return NULL;
    }
    if (!(trees = ads_trees(context, NULL, offers, count, error)))
        return NULL;
    explanation.offers = trees;
    changes_begin(context->world);
    status = explain(&explanation, manner == BERTH_JSON, error);
    changes_end(context->world);
    free(trees);
    return status < 0 ? NULL : context_lend(context, NULL);
}

/* -------------------------------------------------------------------------------------------------------------- lint */

struct findings {
    struct berth_context *context;
    struct symbols *symbols;
    const struct dialect *dialect;
    struct arena scratch;
    struct berth_finding *items;
    size_t count, room;
};

static void finding_add(void *user, const struct lint_finding *finding)
{
    struct findings *findings = user;
    struct berth_context *context = findings->context;
    size_t len;
    const char *attribute = symbols_text(findings->symbols, finding->attribute, &len);
    struct berth_finding told = {.kind = lint_kind_name(finding->kind),
                                 .attribute = context_copy(context, attribute, len)};

    buf_reset(&context->text);
    buf_adds(&context->text, finding->text);
    if (finding->function != SYMBOL_NONE) {
        const char *wrong = symbols_text(findings->symbols, finding->function, &len);
        struct nearest nearest;

        nearest_init(&nearest, wrong, len);
        for (size_t i = 0; i < function_count; i++)
            if (function_table[i].dialects & findings->dialect->bit)
                nearest_try(&nearest, function_table[i].name);
        if (nearest.name)
            buf_addf(&context->text, "; did you mean '%s'?", nearest.name);
    }
    told.text = context_copy(context, context->text.text, context->text.len);
    ARRAY_ROOM(findings->items, findings->count, findings->room, 16);
    findings->items[findings->count++] = told;
}

ptrdiff_t berth_lint(struct berth_context *context, const struct berth_ad *ad,
                     const struct berth_finding **ret_findings)
{
    const struct tree *tree = ad_tree(context, ad);
    struct findings findings = {.context = context};
    struct berth_finding *lent;

    context_fresh(context);
    if (!tree)
        return -1;
    findings.symbols = tree->symbols;
    findings.dialect = tree->dialect;
    arena_init(&findings.scratch);
    changes_begin(context->world);
    lint_ad(&findings.scratch, tree, NULL, finding_add, &findings);
    lint_ports(tree, NULL, finding_add, &findings);
    changes_end(context->world);
    arena_done(&findings.scratch);
    lent = arena_alloc(&context->arena, (findings.count + 1) * sizeof *lent);
    if (findings.count)
        memcpy(lent, findings.items, findings.count * sizeof *lent);
    free(findings.items);
    *ret_findings = lent;
    return (ptrdiff_t)findings.count;
}
