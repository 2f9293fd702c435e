/* eval.c: berth eval: prints the value of each expression, a line each. */
#include "cli/ads/evaluator.h"
#include "cli/ads/prompt.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct eval_settings {
    const struct dialect *dialect;
    const char *my, *target;
    struct setting setting;
    bool interactive;
};

#define S struct eval_settings
static const struct option eval_options[] = {
    OPTION_DIALECT(S),
    {0, "my", "FILE", "the ad in which the expressions stand: the first of this file", option_file, offsetof(S, my)},
    {0, "target", "FILE", "the opposite ad, which `other` names: the first of this file", option_file,
     offsetof(S, target)},
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {'i', "interactive", NULL, "a prompt with history; .help there says what it knows", option_flag,
     offsetof(S, interactive)},
};
#undef S

static const struct eval_settings eval_defaults = {.dialect = &dialect_classic};

/* Prints the value; or prints `parse-error`, and says why on standard error. */
static int eval_one(struct evaluator *evaluator, const char *file, unsigned line, const char *text, size_t len,
                    struct buf *out)
{
    struct err err;

    if (evaluator_print(evaluator, line, text, len, out, &err) == 0) {
        buf_addc(out, '\n');
        return STATUS_DONE;
    }
    buf_adds(out, "parse-error\n");
    text_line(text, len, err.line >= line ? err.line - line + 1 : 1, &text, &len);
    report_error(file, &err, text, len);
    return STATUS_BAD;
}

/* Evaluates a line of standard input, without the marks that other systems put at its beginning and end. */
static int eval_line(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct buf *out)
{
    size_t mark = line == 1 ? text_mark(text, len) : 0;

    text += mark;
    len -= mark;
    if (len && text[len - 1] == '\r')
        len--;
    return eval_one(evaluator, "-", line, text, len, out);
}

/* Evaluates lines from standard input. Results are held back until we must wait for more input, so that a program at the other end of a pair of pipes
 * gets its answers; complaints are not held back. */
static int eval_lines(struct evaluator *evaluator, struct buf *out)
{
    enum { READ_SIZE = 256 << 10 };
    int status = STATUS_DONE;
    unsigned line = 0;
    struct buf in;
    ssize_t got;

    buf_init(&in);
    do {
        const char *start, *end, *newline;

        do
            got = read(STDIN_FILENO, buf_reserve(&in, READ_SIZE), READ_SIZE);
        while (got < 0 && errno == EINTR);
        if (got < 0) {
            report("standard input: %s", strerror(errno));
            status = STATUS_BAD;
            break;
        }
        start = in.text;
        end = in.text + in.len + got;
        newline = in.text + in.len; /* what was there before has no newline in it */
        if (got == 0 && in.len)
            status |= eval_line(evaluator, ++line, start, in.len, out);
        while (got && (newline = memchr(newline, '\n', (size_t)(end - newline)))) {
            status |= eval_line(evaluator, ++line, start, (size_t)(newline - start), out);
            start = ++newline;
        }
        in.len = (size_t)(end - start);
        memmove(in.text, start, in.len);
    } while (output_write(out) == 0 && output_flush() == 0 && got > 0);
    buf_done(&in);
    return status;
}

static int eval_run(const void *given, int word_count, char **words)
{
    const struct eval_settings *settings = given;
    struct evaluator evaluator;
    int status = STATUS_DONE;
    struct buf out;

    if (settings->interactive && word_count) {
        report("eval -i takes no expressions: they are typed at its prompt");
        return STATUS_BAD;
    }
    buf_init(&out);
    evaluator_init(&evaluator, settings->dialect, &settings->setting);
    if ((settings->my && evaluator_load(&evaluator, EVALUATOR_MY, settings->my) < 0) ||
        (settings->target && evaluator_load(&evaluator, EVALUATOR_TARGET, settings->target) < 0)) {
        status = STATUS_BAD;
    } else if (settings->interactive) {
        status = prompt_run(&evaluator);
    } else if (word_count == 0) {
        status = eval_lines(&evaluator, &out);
    } else {
        for (int i = 0; i < word_count; i++)
            status |= eval_one(&evaluator, "expression", 1, words[i], strlen(words[i]), &out);
        output_write(&out);
    }
    evaluator_done(&evaluator);
    buf_done(&out);
    return status;
}

const struct command command_eval = {
    .name = "eval",
    .summary = "print the value of expressions",
    .usage = "[OPTIONS] [EXPR...]\n-i [OPTIONS]",
    .about =
        "Prints the value of each EXPR in the syntax of the language, a line each. Without EXPR, reads expressions "
        "from standard input, one a line.\n"
        "\n"
        "An expression stands alone unless --my gives the ad around it. --target gives the opposite ad of a match: "
        "`other.Memory` (or TARGET.Memory) is its attribute, and so is a plain name that --my does not define. "
        "FILE may be in any form that `berth convert` knows; `-` is standard input.\n"
        "\n"
        "A text that is not an expression prints `parse-error` in its place and the reason on standard error, and the "
        "status at the end is 2.",
    .examples = {{"berth eval '3 + 4' '\"a\" == \"A\"'", "7\ntrue"},
                 {"berth eval -d condor 'true + 1'", "2"},
                 {"berth eval --my job.ad --target machine.ad 'other.Memory >= ImageSize'", "true"},
                 {"echo '{ 1, 2 }[0]' | berth eval", "1"}},
    .options = eval_options,
    .option_count = sizeof eval_options / sizeof *eval_options,
    .settings_size = sizeof(struct eval_settings),
    .defaults = &eval_defaults,
    .run = eval_run,
};
