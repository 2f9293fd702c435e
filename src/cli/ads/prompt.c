/* prompt.c: berth eval -i: reads an expression from each line, and prints its value below; lines that begin with a point and a word are for the
 * prompt itself.
 *
 * Ctrl-c drops the line that is being typed. libedit would go on waiting in its read, so a function of ours gives it characters, and takes a signal
 * for the end of input; readline then returns NULL, and a flag tells this from ctrl-d. It takes what the function returns for a whole character, so
 * those of several bytes are put together there.
 *
 * `.x` is also the language's way to name an attribute of the root: a point and a name that is not a command is an expression. */
#include "cli/ads/prompt.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/library.h"
#include "lang/base/sonames.h"

#include <stdio.h>

#include <editline/readline.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#define PROMPT "> "
#define HISTORY_FILE ".berth_history"
#define HISTORY_MAX 1000
#define UNREADABLE '?' /* stands for bytes that are no character */

/* Of libedit, which is loaded when somebody types. */
#define LIBEDIT_FUNCTIONS(X) \
    X(add_history)           \
    X(read_history)          \
    X(readline)              \
    X(rl_getc_function)      \
    X(rl_initialize)         \
    X(stifle_history)        \
    X(using_history)         \
    X(write_history)

static struct libedit {
#define X(name) __typeof__(name) *name;
    LIBEDIT_FUNCTIONS(X)
#undef X
} functions;
static const char *const function_names[] = {
#define X(name) #name,
    LIBEDIT_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_EDIT, "lines are edited by libedit", function_names, functions);

static const struct libedit *libedit(void)
{
    return library_need(&library);
}

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
    bool required; /* the argument must be there */
    void (*run)(struct prompt *prompt, const char *argument);
} prompt_commands[] = {
    {".my", "FILE", "expressions stand in the first ad of the file", true, do_my},
    {".target", "FILE", "`other` is the first ad of the file", true, do_target},
    {".dialect", "[NAME]", "say the dialect, or change it: classic or condor", false, do_dialect},
    {".help", "", "this list", false, do_help},
    {".quit", "", "leave and keep the history; so does the end of input (ctrl-d)", false, do_quit},
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
                           "functions. Ctrl-c drops a line.\n");
}

/* Runs a line that is a command of the prompt; false when it is not one. */
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

/* Ctrl-c was pressed. A global, since neither a signal nor readline's reading function has another place to say so. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Reads a byte that is typed; EOF at the end of input and on ctrl-c. The signal is let in only while we wait, so none slips in between looking
 * at the flag and waiting. */
static int typed_byte(void)
{
    unsigned char c = 0;
    fd_set input;
    sigset_t interrupt, before;
    ssize_t got = 0;

    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    while (!interrupted) {
        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        got = pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &before);
        if (got > 0)
            got = read(STDIN_FILENO, &c, 1);
        if (got >= 0 || errno != EINTR)
            break;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return got == 1 ? c : EOF;
}

/* Reads a character that is typed, whatever the number of its bytes; EOF as above. */
static int typed_character(FILE *unused)
{
    mbstate_t state = {0};
    wchar_t wide = 0;
    int byte = typed_byte();
    char c = (char)byte;

    (void)unused;
    while (byte != EOF) {
        size_t got = mbrtowc(&wide, &c, 1, &state);

        if (got == 0 || got == 1)
            return (int)wide;
        if (got == (size_t)-1)
            return UNREADABLE;
        byte = typed_byte();
        c = (char)byte;
    }
    return EOF;
}

static char *terminal_line(void)
{
    char *line;

    do {
        interrupted = 0;
        line = libedit()->readline(PROMPT);
        if (!line && interrupted)
            puts("^C");
    } while (!line && interrupted);
    return line;
}

static char *prompt_line(const struct prompt *prompt)
{
    char *line = NULL;
    size_t room = 0;

    if (prompt->terminal)
        return terminal_line();
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

static void terminal_begin(const struct evaluator *evaluator)
{
    const struct sigaction action = {.sa_handler = on_interrupt};

    /* without SA_RESTART: waiting for a file ends too */
    sigaction(SIGINT, &action, NULL);
    /* the terminal's characters; ads are in UTF-8 whatever is set */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
    *libedit()->rl_getc_function = typed_character;
    libedit()->rl_initialize();
    libedit()->using_history();
    libedit()->stifle_history(HISTORY_MAX);
    printf("Berth " BERTH_VERSION ", %s dialect. An expression and Enter; .help for more.\n", evaluator->dialect->name);
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
    if (prompt.terminal)
        terminal_begin(evaluator);
    if (keep)
        libedit()->read_history(buf_string(&path));
    while (!prompt.quit && (line = prompt_line(&prompt))) {
        if (prompt.terminal && *line)
            libedit()->add_history(line);
        prompt_answer(&prompt, line);
        free(line);
        output_write(&prompt.out);
        if (output_flush() < 0)
            break;
    }
    if (keep)
        libedit()->write_history(buf_string(&path));
    if (prompt.terminal && !prompt.quit)
        putchar('\n');
    buf_done(&path);
    buf_done(&prompt.out);
    return STATUS_DONE;
}
