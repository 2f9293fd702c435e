/* prompt.c: berth eval -i: an expression a line, its value below; lines that begin with a point and a word are for the
 * prompt itself.
 *
 * `.x` is also the language's way to name an attribute of the root: a point and a name that is no command is an
 * expression. */
#include "cli/prompt.h"

#include "cli/command.h"
#include "cli/file.h"
#include "cli/report.h"

#include <stdio.h>

#include <editline/readline.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT "> "
#define HISTORY_FILE ".berth_history"
#define HISTORY_MAX 1000

struct prompt {
    struct evaluator *evaluator;
    bool terminal;
    bool quit;
    struct buf out;
};

static void do_my(struct prompt *prompt, const char *file)
{
    evaluator_load(prompt->evaluator, EVALUATOR_MY, file);
}

static void do_target(struct prompt *prompt, const char *file)
{
    evaluator_load(prompt->evaluator, EVALUATOR_TARGET, file);
}

static void do_dialect(struct prompt *prompt, const char *name)
{
    const struct dialect *dialect = dialect_find(name);

    if (!*name)
        buf_addf(&prompt->out, "%s\n", prompt->evaluator->dialect->name);
    else if (dialect)
        evaluator_dialect(prompt->evaluator, dialect);
    else
        report("there is no dialect '%.60s': it is classic or condor", name);
}

static void do_quit(struct prompt *prompt, const char *argument)
{
    (void)argument;
    prompt->quit = true;
}

static void do_help(struct prompt *prompt, const char *argument);

static const struct prompt_command {
    const char *name, *argument, *help;
    bool required; /* the argument */
    void (*run)(struct prompt *prompt, const char *argument);
} prompt_commands[] = {
    {".my", "FILE", "expressions stand in the first ad of the file", true, do_my},
    {".target", "FILE", "`other` is the first ad of the file", true, do_target},
    {".dialect", "[NAME]", "say the dialect, or change it: classic or condor", false, do_dialect},
    {".help", "", "this list", false, do_help},
    {".quit", "", "leave; so does the end of input (ctrl-d)", false, do_quit},
};
#define PROMPT_COMMANDS (sizeof prompt_commands / sizeof *prompt_commands)

static void do_help(struct prompt *prompt, const char *argument)
{
    (void)argument;
    for (size_t i = 0; i < PROMPT_COMMANDS; i++) {
        const struct prompt_command *row = &prompt_commands[i];

        buf_addf(&prompt->out, "%-8s %-7s %s\n", row->name, row->argument, row->help);
    }
    buf_adds(&prompt->out, "Anything else is an expression; its value is printed. `berth help functions` lists the "
                           "functions.\n");
}

/* Runs a line that is a command of the prompt; false when it is none. */
static bool prompt_command(struct prompt *prompt, const char *line)
{
    size_t len = strcspn(line, " \t");
    const char *argument = line + len + strspn(line + len, " \t");

    for (size_t i = 0; i < PROMPT_COMMANDS; i++) {
        const struct prompt_command *row = &prompt_commands[i];

        if (strlen(row->name) != len || memcmp(row->name, line, len))
            continue;
        if (row->required && !*argument)
            report("%s wants a %s", row->name, row->argument);
        else
            row->run(prompt, argument);
        return true;
    }
    return false;
}

static void prompt_answer(struct prompt *prompt, char *line)
{
    size_t len = strlen(line);
    struct err err;

    while (len && strchr(" \t\r\n", line[len - 1]))
        line[--len] = 0;
    line += strspn(line, " \t");
    if (!*line || prompt_command(prompt, line))
        return;
    if (evaluator_print(prompt->evaluator, 1, line, strlen(line), &prompt->out, &err) == 0) {
        buf_addc(&prompt->out, '\n');
        return;
    }
    if (err.line == 1)
        report_caret(line, strlen(line), err.column);
    fprintf(stderr, "%s\n", err.text);
}

static char *prompt_line(const struct prompt *prompt)
{
    char *line = NULL;
    size_t room = 0;

    if (prompt->terminal)
        return readline(PROMPT);
    if (getline(&line, &room, stdin) < 0) {
        free(line);
        return NULL;
    }
    return line;
}

static bool history_path(struct buf *path)
{
    const char *home = getenv("HOME");

    if (!home || *home != '/')
        return false;
    buf_addf(path, "%s/" HISTORY_FILE, home);
    return true;
}

int prompt_run(struct evaluator *evaluator)
{
    struct prompt prompt = {.evaluator = evaluator, .terminal = isatty(STDIN_FILENO)};
    struct buf path;
    bool keep;
    char *line;

    buf_init(&prompt.out);
    buf_init(&path);
    keep = prompt.terminal && history_path(&path);
    if (prompt.terminal) {
        rl_initialize();
        using_history();
        stifle_history(HISTORY_MAX);
        printf("Berth " BERTH_VERSION ", %s dialect. An expression and Enter; .help for more.\n",
               evaluator->dialect->name);
    }
    if (keep)
        read_history(buf_string(&path));
    while (!prompt.quit && (line = prompt_line(&prompt))) {
        if (prompt.terminal && *line)
            add_history(line);
        prompt_answer(&prompt, line);
        free(line);
        output_write(&prompt.out);
        if (output_flush() < 0)
            break;
    }
    if (keep)
        write_history(buf_string(&path));
    if (prompt.terminal && !prompt.quit)
        putchar('\n');
    buf_done(&path);
    buf_done(&prompt.out);
    return STATUS_DONE;
}
