/* api_eval.c: evaluates an expression for two ads, without the pool: for those who try the language.
 *
 *     [ Left = "[ Memory = 4 ]"; Right = "[ Need = 2 ]"; Expression = "other.Need < Memory" ]
 *     -> [ Value = "true"; Type = "boolean"; Matches = true; LeftConstraint = "undefined"; ... ]
 *
 * All are texts, so that an error is told with its place in its own text, and the rest is still evaluated. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "match/pair/pair.h"

#include <stdio.h>
#include <string.h>

enum part { PART_LEFT, PART_RIGHT, PART_EXPRESSION, PARTS };

static const char *const part_names[PARTS] = {"Left", "Right", "Expression"};

struct trial {
    struct request *request;
    const struct dialect *dialect;
    struct tree *trees[PARTS]; /* NULL: not given, or not read */
    struct env env;
    struct arena scratch;
    struct maker maker;
};

static bool text_is_blank(const char *text, size_t len)
{
    while (len && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
        len--;
    return !len;
}

/* Reads a part. False, after a problem was answered, when it is not a text. A part that does not parse is told in the
 * answer. */
static bool part_read(struct trial *trial, const struct tree *body, enum part part)
{
    const struct config *config = &request_matchmakerd(trial->request)->config;
    struct parse_options options = {.cells_max = (uint32_t)config_count(config, CONFIG_AD_NODES),
                                    .attributes_max = (uint32_t)config_count(config, CONFIG_AD_ATTRIBUTES)};
    struct err err = {0};
    struct build build;
    const char *text;
    char name[32];
    size_t len;

    if (!ad_find(body, part_names[part]))
        return true;
    if (!ad_string(body, part_names[part], &text, &len)) {
        request_problem(trial->request, 400, "%s: expected a text", part_names[part]);
        return false;
    }
    if (text_is_blank(text, len))
        return true;
    if (utf8_check(text, len, &err) == 0) {
        build_init(&build, request_matchmakerd(trial->request)->symbols, trial->dialect);
        trial->trees[part] = part == PART_EXPRESSION ? parse_expr(&build, &options, text, len, &err)
                                                     : parse_ad(&build, &options, text, len, &err);
        build_done(&build);
    }
    if (trial->trees[part])
        return true;
    snprintf(name, sizeof name, "%sError", part_names[part]);
    maker_text(&trial->maker, name, err.text);
    snprintf(name, sizeof name, "%sLine", part_names[part]);
    maker_integer(&trial->maker, name, err.line);
    snprintf(name, sizeof name, "%sColumn", part_names[part]);
    maker_integer(&trial->maker, name, err.column);
    return true;
}

static void tell_value(struct trial *trial, const char *name, const struct value *value)
{
    struct buf out;

    buf_init(&out);
    value_print(&out, trial->dialect, value, PRINT_PLAIN);
    maker_bytes(&trial->maker, name, out.text, out.len);
    buf_done(&out);
}

static void tell_expression(struct trial *trial)
{
    struct tree **trees = trial->trees;
    struct value value;
    struct eval eval;
    struct pair pair;

    pair_init(&pair, trees[PART_LEFT], trees[PART_RIGHT]);
    eval_init(&eval, &trial->env, &trial->scratch);
    eval_tree(&eval, trees[PART_LEFT] ? &pair.left : NULL, trees[PART_EXPRESSION], &value);
    tell_value(trial, "Value", &value);
    maker_text(&trial->maker, "Type", value_type_name(value.type));
}

static void tell_match(struct trial *trial)
{
    struct match match;

    match_ads(&trial->env, &trial->scratch, trial->trees[PART_LEFT], trial->trees[PART_RIGHT], &match);
    maker_flag(&trial->maker, "Matches", match.matches);
    tell_value(trial, "LeftConstraint", &match.left_constraint);
    tell_value(trial, "RightConstraint", &match.right_constraint);
    tell_value(trial, "LeftRank", &match.left_rank);
    tell_value(trial, "RightRank", &match.right_rank);
}

static bool dialect_read(struct trial *trial, const struct tree *body)
{
    char name[32];

    if (!body_text(trial->request, body, "Dialect", "classic", name, sizeof name))
        return false;
    trial->dialect = dialect_find(name);
    if (!trial->dialect)
        request_problem(trial->request, 400, "Dialect: expected classic or condor");
    return trial->dialect;
}

void api_eval(struct request *request)
{
    struct tree *body = request_body_of(request, "Left Right Expression Dialect"), *answer;
    struct trial trial = {.request = request, .env = request_env(request)};
    bool good;

    if (!body)
        return;
    arena_init(&trial.scratch);
    maker_init(&trial.maker, request_matchmakerd(request)->symbols);
    good = dialect_read(&trial, body);
    for (int part = 0; good && part < PARTS; part++)
        good = part_read(&trial, body, part);
    if (good && trial.trees[PART_EXPRESSION])
        tell_expression(&trial);
    if (good && trial.trees[PART_LEFT] && trial.trees[PART_RIGHT])
        tell_match(&trial);
    answer = maker_seal(&trial.maker);
    if (good)
        request_ad(request, 200, answer, NULL, 0);
    tree_unref(answer);
    for (int part = 0; part < PARTS; part++)
        tree_unref(trial.trees[part]);
    arena_done(&trial.scratch);
    tree_unref(body);
}
