/* exec.c: berth exec: runs a command in the sandbox of a job that runs. */
#include "cli/ask/jobs.h"
#include "cli/jobs/exec_beside.h"
#include "cli/jobs/shell.h"
#include "cli/term/command.h"
#include "cli/term/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_MEMBER UINT64_MAX

struct exec_settings {
    struct connection_options pool;
    bool terminal, attach, no_input;
    uint64_t member;
};

#define S struct exec_settings
static const struct option exec_options[] = {
    {'t', "tty", NULL, "the command gets a terminal, and what is typed here goes to it", option_flag,
     offsetof(S, terminal)},
    {'n', "no-stdin", NULL, "nothing is read here: the command finds its standard input at its end", option_flag,
     offsetof(S, no_input)},
    {0, "member", "N", "beside that process of a parallel job; 0, the first, if not given", option_number,
     offsetof(S, member)},
    {0, "attach", NULL, "come back to the command that was begun last in that job and still runs", option_flag,
     offsetof(S, attach)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct exec_settings exec_defaults = {.member = NO_MEMBER};

static int exec_run(const void *given, int word_count, char **words)
{
    const struct exec_settings *settings = given;
    struct shell_settings shell = {.terminal = settings->terminal,
                                   .no_input = settings->no_input,
                                   .member = settings->member != NO_MEMBER ? settings->member : 0};
    struct connection customer;
    const char *door;
    uint64_t id, number = 0;
    int status;

    door = getenv(EXEC_BESIDE_VARIABLE);
    if (door && settings->member != NO_MEMBER) {
        if (word_count && *words[0] && !settings->terminal && !settings->attach)
            return exec_beside(door, settings->member, !settings->no_input, word_count, words);
        report("within a job exec wants --member and a COMMAND, and gives it no terminal");
        return STATUS_BAD;
    }
    if (!word_count || job_id_read("exec", 1, words, &id) < 0) {
        if (!word_count)
            report("exec wants the number of a job, and behind -- a COMMAND");
        return STATUS_BAD;
    }
    if (settings->attach ? word_count > 1 : word_count < 2 || !*words[1]) {
        report(settings->attach ? "--attach comes back to a command: it wants no other"
                                : "exec wants a COMMAND, behind the number of the job and --");
        return STATUS_BAD;
    }
    if (shell.terminal && !isatty(STDIN_FILENO)) {
        report("--tty wants a terminal here, too");
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE && settings->attach)
        status = shell_find(&customer, id, &number, &shell.terminal);
    else if (status == STATUS_DONE)
        status = shell_begin(&customer, &shell, id, word_count - 1, words + 1, &number);
    shell.terminal = shell.terminal && isatty(STDIN_FILENO);
    if (status == STATUS_DONE)
        status = shell_follow(&customer, &shell, id, number);
    connection_close(&customer);
    return status;
}

const struct command command_exec = {
    .name = "exec",
    .summary = "run a command in the sandbox of a job that runs, or a shell",
    .usage = "[OPTIONS] ID -- COMMAND [ARGUMENT...]\n[OPTIONS] ID --attach",
    .about =
        "Begins the COMMAND on the machine where the job runs, in the job's own sandbox: with its files, variables, secrets, limits and "
        "rights, and no others. What it uses counts as the job's, and it ends with the job. What it writes is printed as it comes, "
        "standard input goes to it, and the signals INT, TERM and QUIT too; the status is that of the command: 128 and the signal's number "
        "when a signal ended it, 127 when there is no such program, 126 when it could not be begun, with the reason. All of this goes the way that "
        "the job came by, through firewalls.\n\n"
        "With --tty it has a terminal of the size of this one: `berth exec 5 --tty -- bash` is a shell in the job. ~. at the "
        "beginning of a line leaves it. A command that was left, or whose connection was cut, goes on for 10 minutes, and what it writes meanwhile is "
        "kept, as far as 128 KiB go; --attach comes back to it. The owner of a machine can forbid all this (the setting Exec); up to 8 commands run in "
        "a job at a time. `berth audit --jobs` tells who has begun which.\n\n"
        "Within a parallel job that says ProcessesExec = true, `berth exec --member N -- COMMAND` begins a command beside another process of the same job.",
    .examples = {{"berth exec 5 -- ps aux", NULL},
                 {"berth exec 5 --tty -- bash", NULL},
                 {"berth exec 5 -- tar c results | tar x", NULL},
                 {"berth exec 5 --attach", NULL}},
    .options = exec_options,
    .option_count = sizeof exec_options / sizeof *exec_options,
    .settings_size = sizeof(struct exec_settings),
    .defaults = &exec_defaults,
    .run = exec_run,
};
