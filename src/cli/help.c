/* help.c: berth help: what the commands and functions are, from the tables that run them. */
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/wrap.h"
#include "lang/ad/functions.h"
#include "lang/base/nearest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct help_settings {
    bool man, all, search;
};

static const struct option help_options[] = {
    {'a', "all", NULL, "list all commands", option_flag, offsetof(struct help_settings, all)},
    {'s', "search", NULL, "list the commands, options, settings and functions whose help has all of the words",
     option_flag, offsetof(struct help_settings, search)},
    {0, "man", NULL, NULL, option_flag, offsetof(struct help_settings, man)}, /* for the build: help does not list it */
};

static const struct help_settings help_defaults = {0};

static void add_usage(struct buf *out, const struct command *command)
{
    const char *at = command->usage;

    for (bool first = true; first || *at; first = false) {
        size_t len = strcspn(at, "\n");

        buf_addf(out, "%s berth %s %.*s\n", first ? "usage:" : "      ", command->name, (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void add_option(struct buf *out, const struct option *option)
{
    struct buf term;

    if (!option->help)
        return;
    buf_init(&term);
    buf_adds(&term, "  ");
    option_print(&term, option);
    wrap_item(out, buf_string(&term), option->help, 28);
    buf_done(&term);
}

static void add_output(struct buf *out, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");

        buf_addf(out, "    %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

void help_command(struct buf *out, const struct command *command)
{
    add_usage(out, command);
    buf_addc(out, '\n');
    wrap_text(out, command->about, 0);
    buf_adds(out, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++)
        add_option(out, &command->options[i]);
    add_option(out, &option_help_row);
    for (size_t i = 0; i < EXAMPLES_MAX && command->examples[i].line; i++) {
        if (i == 0)
            buf_adds(out, command->examples[1].line ? "\nExamples:\n" : "\nExample:\n");
        buf_addf(out, "  $ %s\n", command->examples[i].line);
        if (command->examples[i].output)
            add_output(out, command->examples[i].output);
    }
}

/* The commands that a newcomer needs, fifteen at most; `berth help --all` has the others. */
#define GROUP_MAX 9

static const struct {
    const char *heading;
    const struct command *commands[GROUP_MAX + 1];
} groups[] = {
    {"Jobs:",
     {&command_run, &command_submit, &command_jobs, &command_job, &command_wait, &command_logs, &command_rm,
      &command_why, &command_history}},
    {"The pool:", {&command_pool, &command_join, &command_status, &command_doctor, &command_machines}},
    {"Ads:", {&command_eval}},
};

static void add_summary(struct buf *out, const struct command *command)
{
    buf_addf(out, "  %-12s %s\n", command->name, command->summary);
}

static void add_commands(struct buf *out, bool all)
{
    if (all) {
        buf_adds(out, "Commands:\n");
        for (size_t i = 0; i < command_count; i++)
            add_summary(out, command_table[i]);
        buf_addc(out, '\n');
        return;
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        buf_addf(out, "%s\n", groups[i].heading);
        for (size_t at = 0; groups[i].commands[at]; at++)
            add_summary(out, groups[i].commands[at]);
        buf_addc(out, '\n');
    }
}

void help_overview(struct buf *out, bool all)
{
    buf_adds(out, BERTH_IN_A_LINE "\n"
                                  "\n"
                                  "    berth COMMAND [OPTIONS] [FILES]\n"
                                  "\n");
    add_commands(out, all);
    if (!all)
        buf_adds(out, "  berth help --all       all commands\n");
    buf_adds(out, "  berth help COMMAND     how to use it, with examples\n"
                  "  berth help -s WORD     where a word stands in the help\n"
                  "  berth help functions   the functions of the language\n"
                  "  berth help roles       what tokens let their holders do\n"
                  "  berth --version        the version of this program\n"
                  "\n");
    if (all)
        buf_adds(out, "HTCondor's names work too: q for jobs, remove for rm, tail for logs, userprio\n"
                      "for users.\n"
                      "\n");
    buf_adds(out, "Example:\n"
                  "  $ berth pool &\n"
                  "  $ berth run -- hostname\n"
                  "\n"
                  "Exit status: 0 done, 1 the answer is no, 2 bad usage or bad input, 3 the pool\n"
                  "could not be reached.\n");
}

static int by_name(const void *a, const void *b)
{
    const struct function *const *x = a, *const *y = b;
    int order = strcasecmp((*x)->name, (*y)->name);

    return order ? order : *x < *y ? -1 : *x > *y; /* rows of one name keep their order */
}

/* Does a row for another dialect say the same? */
static bool same_help(const struct function *a, const struct function *b)
{
    return !strcasecmp(a->name, b->name) && !strcmp(a->arguments, b->arguments) && !strcmp(a->help, b->help);
}

static void help_functions(struct buf *out)
{
    const struct function **rows = mem_alloc((function_count + 1) * sizeof *rows);
    struct buf term;

    buf_init(&term);
    for (size_t i = 0; i < function_count; i++)
        rows[i] = &function_table[i];
    qsort(rows, function_count, sizeof *rows, by_name);
    wrap_text(
        out,
        "The functions of the language. Their names may be written in any case; in the arguments, L is a list, N a "
        "number, S a string, T a time, V any value. One that only one dialect has, or that is different there, says "
        "so.\n\n",
        0);
    for (size_t i = 0; i < function_count; i++) {
        const struct function *row = rows[i];
        unsigned dialects = row->dialects;

        if (i + 1 < function_count && same_help(row, rows[i + 1]))
            dialects |= rows[++i]->dialects;
        buf_reset(&term);
        buf_addf(&term, "%s(%s)", row->name, row->arguments);
        if (dialects != DIALECT_ALL)
            buf_addf(&term, " [%s]", dialects == DIALECT_CLASSIC ? "classic" : "condor");
        wrap_item(out, buf_string(&term), row->help, 32);
    }
    buf_done(&term);
    free(rows);
}

/* Appends the help on a function; false when there is no function of that name. */
static bool help_function(struct buf *out, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < function_count; i++) {
        const struct function *row = &function_table[i];
        unsigned dialects = row->dialects;

        if (strcasecmp(row->name, name))
            continue;
        if (i + 1 < function_count && same_help(row, row + 1)) /* rows of one name stand next to each other */
            dialects |= function_table[++i].dialects;
        buf_addf(out, "%s(%s)", row->name, row->arguments);
        if (dialects != DIALECT_ALL)
            buf_addf(out, "  in the %s dialect", dialects == DIALECT_CLASSIC ? "classic" : "condor");
        buf_addc(out, '\n');
        wrap_text(out, row->help, 4);
        found = true;
    }
    return found;
}

static int fail_unknown_topic(const char *topic)
{
    struct nearest nearest;

    nearest_init(&nearest, topic, strlen(topic));
    nearest_try(&nearest, "functions");
    nearest_try(&nearest, "roles");
    for (size_t i = 0; i < command_count; i++)
        nearest_try(&nearest, command_table[i]->name);
    for (size_t i = 0; i < function_count; i++)
        nearest_try(&nearest, function_table[i].name);
    if (nearest.name)
        report("there is no help on '%.60s'; did you mean '%s'?", topic, nearest.name);
    else
        report("there is no help on '%.60s'; `berth help --all` lists the commands", topic);
    return STATUS_BAD;
}

static int help_run(const void *given, int word_count, char **words)
{
    const struct help_settings *settings = given;
    const char *topic = word_count ? words[0] : NULL;
    const struct command *command = topic ? command_find(topic) : NULL;
    int status = STATUS_DONE;
    struct buf out;

    buf_init(&out);
    if (settings->search) {
        if (!word_count)
            report("help --search wants a word, or several");
        else if (!help_search(&out, word_count, words))
            report("no help has %s", word_count == 1 ? "that word" : "all of these words");
        status = !word_count ? STATUS_BAD : out.len ? STATUS_DONE : STATUS_NO;
    } else if (word_count > 1) {
        report("help wants one topic");
        status = STATUS_BAD;
    } else if (settings->man && (command || !topic)) {
        if (command)
            man_command(&out, command);
        else
            man_overview(&out);
    } else if (command) {
        help_command(&out, command);
    } else if (!topic) {
        help_overview(&out, settings->all);
    } else if (!strcmp(topic, "functions")) {
        help_functions(&out);
    } else if (!strcmp(topic, "roles")) {
        help_roles(&out);
    } else if (!help_function(&out, topic)) {
        status = fail_unknown_topic(topic);
    }
    output_write(&out);
    buf_done(&out);
    return status;
}

const struct command command_help = {
    .name = "help",
    .summary = "explain a command or a function",
    .usage = "[COMMAND | FUNCTION | functions | roles]\n--all\n--search WORD...",
    .about =
        "Prints the commands that one needs first, with --all all of them; or how to use one of them, what one function of "
        "the language does, or what all of them do; or what the roles are that tokens give, and what each may do.\n"
        "\n"
        "With --search, a line for each command, option, setting and function whose help has all of the words, in whatever case, "
        "with what to type for more; the status is 1 when there is none.",
    .examples = {{"berth help --all", NULL},
                 {"berth help eval", NULL},
                 {"berth help --search secret", NULL},
                 {"berth help strcat", NULL}},
    .options = help_options,
    .option_count = sizeof help_options / sizeof *help_options,
    .settings_size = sizeof(struct help_settings),
    .defaults = &help_defaults,
    .run = help_run,
};
