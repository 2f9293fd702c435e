/* specialize.c: berth specialize: prints what is left of an expression when what is known is folded in. */
#include "lang/ad/specialize.h"

#include "cli/ads/evaluator.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/text/print.h"

#include <string.h>

struct specialize_settings {
    const struct dialect *dialect;
    const char *my;
    struct setting setting;
    bool truth;
};

#define S struct specialize_settings
static const struct option specialize_options[] = {
    {0, "truth", NULL, "keep only whether the expression is true, not its value", option_flag, offsetof(S, truth)},
    {0, "my", "FILE", "the ad in which the expression stands: the first of this file", option_file, offsetof(S, my)},
    OPTION_DIALECT(S),
    {0, "now", "TIME", "fold in this time as well, and the zone; without it, what reads the clock is left", option_now,
     offsetof(S, setting)},
    OPTION_ZONE(S),
    OPTION_SEED(S),
};
#undef S

static const struct specialize_settings specialize_defaults = {.dialect = &dialect_classic};

static int specialize_one(struct evaluator *evaluator, int flags, const char *text, struct buf *out)
{
    struct tree *tree, *left;
    size_t len = strlen(text);
    struct err err;

    tree = evaluator_parse(evaluator, 1, text, len, &err);
    if (!tree) {
        text_line(text, len, err.line, &text, &len);
        report_error("expression", &err, text, len);
        return STATUS_BAD;
    }
    left = specialize_tree(&evaluator->env, &evaluator->arena, evaluator->scope, tree, flags);
    print_tree(out, left, PRINT_PLAIN);
    buf_addc(out, '\n');
    tree_unref(left);
    tree_unref(tree);
    return STATUS_DONE;
}

static int specialize_run(const void *given, int word_count, char **words)
{
    const struct specialize_settings *settings = given;
    int flags = SPECIALIZE_GATHER, status = STATUS_DONE;
    struct evaluator evaluator;
    struct buf out;

    if (word_count == 0) {
        report("specialize wants an expression; `berth help specialize` shows how");
        return STATUS_BAD;
    }
    flags |= settings->truth ? SPECIALIZE_TRUTH : 0;
    flags |= settings->setting.has_now ? SPECIALIZE_TIME : 0;
    buf_init(&out);
    evaluator_init(&evaluator, settings->dialect, &settings->setting);
    if (settings->my && evaluator_load(&evaluator, EVALUATOR_MY, settings->my) < 0) {
        status = STATUS_BAD;
        word_count = 0;
    }
    for (int i = 0; i < word_count; i++)
        status |= specialize_one(&evaluator, flags, words[i], &out);
    output_write(&out);
    evaluator_done(&evaluator);
    buf_done(&out);
    return status;
}

const struct command command_specialize = {
    .name = "specialize",
    .summary = "fold into an expression what is known, and print what is left",
    .usage = "[OPTIONS] EXPR...",
    .about =
        "Works out the parts of EXPR that are known and prints the rest, a line an expression. Known are constants and, "
        "with --my, the attributes of that ad; unknown is whatever the opposite ad will say, and the time unless --now "
        "gives it.\n"
        "\n"
        "What is printed has the same value as EXPR, whatever the opposite ad. With --truth only whether it is true is "
        "kept, as for a constraint, and more can be folded. Constants are gathered across unknown operands, so sums of "
        "reals may differ in their last digits.",
    .examples = {{"berth specialize '2 * 3 < other.x'", "6 < other.x"},
                 {"berth specialize '3 + a + 7'", "10 + a"},
                 {"berth specialize --truth 'false && other.x > 10'", "false"}},
    .options = specialize_options,
    .option_count = sizeof specialize_options / sizeof *specialize_options,
    .settings_size = sizeof(struct specialize_settings),
    .defaults = &specialize_defaults,
    .run = specialize_run,
};
