/* evaluator.c: evaluates expressions, given as text, against up to two ads. */
#include "cli/ads/evaluator.h"

#include "cli/term/file.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

void evaluator_init(struct evaluator *evaluator, const struct dialect *dialect, const struct setting *setting)
{
    *evaluator = (struct evaluator){.dialect = dialect, .symbols = names_new(0), .env = setting_env(setting)};
    evaluator->seed = evaluator->env.seed;
    build_init(&evaluator->build, evaluator->symbols, dialect);
    arena_init(&evaluator->arena);
}

void evaluator_done(struct evaluator *evaluator)
{
    tree_unref(evaluator->ads[EVALUATOR_MY]);
    tree_unref(evaluator->ads[EVALUATOR_TARGET]);
    build_done(&evaluator->build);
    arena_done(&evaluator->arena);
    symbols_free(evaluator->symbols);
}

void evaluator_dialect(struct evaluator *evaluator, const struct dialect *dialect)
{
    evaluator->dialect = dialect;
    build_done(&evaluator->build);
    build_init(&evaluator->build, evaluator->symbols, dialect);
}

static void evaluator_pair(struct evaluator *evaluator)
{
    struct tree **ads = evaluator->ads;

    if (ads[EVALUATOR_TARGET] && !ads[EVALUATOR_MY]) /* the target needs somebody opposite */
        ads[EVALUATOR_MY] = parse_ad(&evaluator->build, NULL, "[]", 2, NULL);
    pair_init(&evaluator->pair, ads[EVALUATOR_MY], ads[EVALUATOR_TARGET]);
    evaluator->scope = ads[EVALUATOR_MY] ? &evaluator->pair.left : NULL;
}

int evaluator_load(struct evaluator *evaluator, enum evaluator_side side, const char *file)
{
    struct tree *ad = file_first_ad(evaluator->symbols, evaluator->dialect, file);

    if (!ad)
        return -1;
    tree_unref(evaluator->ads[side]);
    evaluator->ads[side] = ad;
    evaluator_pair(evaluator);
    return 0;
}

struct tree *evaluator_parse(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct err *err)
{
    const struct parse_options options = {.first_line = line, .cells_max = PARSE_CELLS_MAX};

    return parse_expr(&evaluator->build, &options, text, len, err);
}

int evaluator_print(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct buf *out,
                    struct err *err)
{
    struct tree *tree = evaluator_parse(evaluator, line, text, len, err);
    uint64_t count = evaluator->count++;
    struct value value;
    struct eval eval;

    if (!tree)
        return -1;
    evaluator->env.seed = count ? rng_mix(evaluator->seed ^ rng_mix(count)) : evaluator->seed;
    eval_init(&eval, &evaluator->env, &evaluator->arena);
    eval_tree(&eval, evaluator->scope, tree, &value);
    value_print(out, evaluator->dialect, &value, PRINT_PLAIN);
    arena_reset(&evaluator->arena);
    tree_unref(tree);
    return 0;
}
