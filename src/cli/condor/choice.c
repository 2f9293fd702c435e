/* choice.c: which jobs are meant. */
#include "cli/condor/parts.h"
#include "cli/term/report.h"
#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/text/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define ID_MAX 4000000000 /* of a cluster */

void choice_init(struct condor_choice *choice, struct symbols *symbols)
{
    *choice = (struct condor_choice){.symbols = symbols};
}

void choice_done(struct condor_choice *choice)
{
    free(choice->ids);
    free(choice->owners);
    tree_unref(choice->constraint);
}

void choice_add(struct condor_choice *choice, const char *word)
{
    long long cluster = 0, proc = -1;
    int whole = 0, part = 0;

    if (*word >= '0' && *word <= '9' && sscanf(word, "%lld%n.%lld%n", &cluster, &whole, &proc, &part) >= 1 &&
        (!word[whole] || (part && !word[part])) && cluster < ID_MAX && proc < ID_MAX) {
        ARRAY_ROOM(choice->ids, choice->id_count, choice->id_room, 16);
        choice->ids[choice->id_count++] = (struct condor_id){cluster, proc};
        return;
    }
    ARRAY_ROOM(choice->owners, choice->owner_count, choice->owner_room, 16);
    choice->owners[choice->owner_count++] = word;
}

int choice_constrain(struct condor_choice *choice, const char *text)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct err err = {0};
    struct build build;

    if (choice->constraint) {
        report("there can be one -constraint");
        return -1;
    }
    build_init(&build, choice->symbols, &dialect_condor);
    choice->constraint = parse_expr(&build, &options, text, strlen(text), &err);
    build_done(&build);
    if (choice->constraint)
        return 0;
    report_error("-constraint", &err, text, strlen(text));
    return -1;
}

bool choice_is_empty(const struct condor_choice *choice)
{
    return !choice->id_count && !choice->owner_count && !choice->constraint;
}

static bool is_named(const struct condor_choice *choice, const struct tree *ad)
{
    int64_t cluster = condor_integer(ad, "ClusterId"), proc = condor_integer(ad, "ProcId");
    const char *owner;
    size_t len;

    for (uint32_t i = 0; i < choice->id_count; i++)
        if (choice->ids[i].cluster == cluster && (choice->ids[i].proc < 0 || choice->ids[i].proc == proc))
            return true;
    if (!ad_string(ad, "Owner", &owner, &len))
        return false;
    for (uint32_t i = 0; i < choice->owner_count; i++)
        if (strlen(choice->owners[i]) == len && !memcmp(choice->owners[i], owner, len))
            return true;
    return false;
}

bool choice_has(struct condor_choice *choice, const struct tree *ad)
{
    struct env env = {.now = time(NULL)};
    struct arena arena;
    struct scope scope;
    struct value value;
    struct eval eval;
    bool is;

    if ((choice->id_count || choice->owner_count) && !is_named(choice, ad))
        return false;
    if (!choice->constraint)
        return true;
    arena_init(&arena);
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &arena);
    eval_tree(&eval, &scope, choice->constraint, &value);
    is = value_is_true(&value) || (value.type == VALUE_INTEGER && value.u.integer);
    arena_done(&arena);
    return is;
}
