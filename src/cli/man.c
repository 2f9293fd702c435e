/* man.c: prints the same help as pages for man(1), in the man macros of troff. The build calls it: berth help --man COMMAND. */
#include "cli/term/command.h"

#include <ctype.h>
#include <string.h>

/* Appends text that troff takes literally: a line that begins with a point or a quote is not taken for a request. */
static void add_troff(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool line_start = out->len == 0 || out->text[out->len - 1] == '\n';

        if (line_start && (text[i] == '.' || text[i] == '\''))
            buf_adds(out, "\\&");
        switch (text[i]) {
        case '\\':
            buf_adds(out, "\\e");
            break;
        case '-':
            buf_adds(out, "\\-");
            break;
        case '\'':
            buf_adds(out, "\\(aq");
            break;
        case '`':
            buf_adds(out, "\\(ga");
            break;
        case '^':
            buf_adds(out, "\\(ha");
            break;
        case '~':
            buf_adds(out, "\\(ti");
            break;
        default:
            buf_addc(out, text[i]);
        }
    }
}

static void add_line(struct buf *out, const char *text)
{
    add_troff(out, text, strlen(text));
    buf_addc(out, '\n');
}

static void add_upper(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_addc(out, (char)toupper((unsigned char)*text));
}

/* Appends paragraphs; runs of lines that begin with blanks are shown as they are. */
static void add_about(struct buf *out, const char *text)
{
    bool verbatim = false;

    while (*text) {
        size_t len = strcspn(text, "\n");
        bool kept = !strncmp(text, "    ", 4);

        if (kept != verbatim)
            buf_adds(out, kept ? ".nf\n" : ".fi\n");
        verbatim = kept;
        if (len == 0)
            buf_adds(out, ".PP\n");
        add_troff(out, text, len);
        if (len)
            buf_addc(out, '\n');
        text += len + (text[len] == '\n');
    }
    if (verbatim)
        buf_adds(out, ".fi\n");
}

static void add_option(struct buf *out, const struct option *option)
{
    if (!option->help)
        return;
    buf_adds(out, ".TP\n");
    if (option->letter)
        buf_addf(out, "\\fB\\-%c\\fR, ", option->letter);
    buf_adds(out, "\\fB\\-\\-");
    add_troff(out, option->name, strlen(option->name));
    buf_adds(out, "\\fR");
    if (option->argument)
        buf_addf(out, " \\fI%s\\fR", option->argument);
    buf_addc(out, '\n');
    add_line(out, option->help);
}

static void add_header(struct buf *out, const char *command)
{
    buf_adds(out, ".TH BERTH");
    if (command) {
        buf_adds(out, "\\-");
        add_upper(out, command);
    }
    buf_adds(out, " 1 \"\" \"Berth " BERTH_VERSION "\" \"User Commands\"\n");
}

static void add_status(struct buf *out)
{
    buf_adds(out, ".SH EXIT STATUS\n"
                  ".TP\n0\ndone\n"
                  ".TP\n1\nthe answer is no\n"
                  ".TP\n2\nbad usage or bad input\n"
                  ".TP\n3\nthe pool could not be reached\n");
}

void man_command(struct buf *out, const struct command *command)
{
    const char *usage = command->usage;

    add_header(out, command->name);
    buf_addf(out, ".SH NAME\nberth\\-%s \\- ", command->name);
    add_line(out, command->summary);
    buf_adds(out, ".SH SYNOPSIS\n");
    while (*usage) {
        size_t len = strcspn(usage, "\n");

        buf_addf(out, "\\fBberth %s\\fR ", command->name);
        add_troff(out, usage, len);
        buf_addc(out, '\n');
        usage += len + (usage[len] == '\n');
        buf_adds(out, *usage ? ".br\n" : "");
    }
    buf_adds(out, ".SH DESCRIPTION\n");
    add_about(out, command->about);
    buf_adds(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < command->option_count; i++)
        add_option(out, &command->options[i]);
    add_option(out, &option_help_row);
    for (size_t i = 0; i < EXAMPLES_MAX && command->examples[i].line; i++) {
        const struct example *example = &command->examples[i];

        buf_adds(out, i ? ".PP\n.nf\n$ " : ".SH EXAMPLES\n.nf\n$ ");
        add_line(out, example->line);
        if (example->output)
            add_line(out, example->output);
        buf_adds(out, ".fi\n");
    }
    add_status(out);
    buf_adds(out, ".SH SEE ALSO\n.BR berth (1)\n");
}

void man_overview(struct buf *out)
{
    add_header(out, NULL);
    buf_adds(
        out,
        ".SH NAME\nberth \\- run jobs on the machines you have\n"
        ".SH SYNOPSIS\n\\fBberth\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILES\\fR]\n"
        ".br\n\\fBberth help\\fR [\\fICOMMAND\\fR | \\fIFUNCTION\\fR | \\fBfunctions\\fR | \\fBroles\\fR]\n"
        ".br\n\\fBberth \\-\\-version\\fR\n"
        ".SH DESCRIPTION\n" BERTH_IN_A_LINE
        "\nJobs, machines and whatever else is offered or wanted are described by ClassAds, and matched by what they "
        "say.\n"
        "Results go to standard output, everything else to standard error.\n"
        "A file named \\- is standard input.\n"
        ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++) {
        buf_addf(out, ".TP\n\\fBberth %s\\fR\n", command_table[i]->name);
        add_line(out, command_table[i]->summary);
    }
    add_status(out);
    buf_adds(out,
             ".SH ENVIRONMENT\n"
             ".TP\n\\fBNO_COLOR\\fR\nno colours, also on a terminal\n"
             ".TP\n\\fBHOME\\fR\nwhere the prompt of \\fBberth eval \\-i\\fR keeps its history, in .berth_history\n"
             ".SH SEE ALSO\n");
    for (size_t i = 0; i < command_count; i++)
        buf_addf(out, ".BR berth\\-%s (1)%s\n", command_table[i]->name, i + 1 < command_count ? "," : "");
}
