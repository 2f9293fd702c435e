/* main.c: berth COMMAND ...: finds the command, reads its options by its table, runs it. */
#include "cli/condor/condor.h"
#include "cli/slurm/slurm.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/nearest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *const command_table[] = {
    &command_eval,       &command_match,        &command_gang,     &command_assign,     &command_grdl,
    &command_why,        &command_query,        &command_convert,  &command_fmt,        &command_specialize,
    &command_lint,       &command_refs,         &command_submit,   &command_run,        &command_jobs,
    &command_job,        &command_exec,         &command_wait,     &command_progress,   &command_rm,
    &command_hold,       &command_release,      &command_vacate,   &command_suspend,    &command_continue,
    &command_edit,       &command_prio,         &command_cron,     &command_logs,       &command_history,
    &command_outputs,    &command_dag,          &command_pool,     &command_join,       &command_login,
    &command_matchmaker, &command_customer,     &command_provider, &command_provide,    &command_pilot,
    &command_status,     &command_doctor,       &command_page,     &command_machines,   &command_machine,
    &command_reserve,    &command_reservations, &command_ads,      &command_agents,     &command_agent,
    &command_commands,   &command_matches,      &command_claims,   &command_users,      &command_usage,
    &command_audit,      &command_files,        &command_token,    &command_config,     &command_served,
    &command_store,      &command_sim,          &command_bench,    &command_completion, &command_condor,
    &command_slurm,      &command_help,
};
const size_t command_count = sizeof command_table / sizeof *command_table;

/* Names that people who know HTCondor may type. */
static const struct {
    const char *name, *command;
} aliases[] = {{"q", "jobs"}, {"remove", "rm"}, {"tail", "logs"}, {"userprio", "users"}};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(aliases[i].name, name))
            name = aliases[i].command;
    for (size_t i = 0; i < command_count; i++)
        if (!strcmp(command_table[i]->name, name))
            return command_table[i];
    return NULL;
}

static int fail_unknown_command(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < command_count; i++)
        nearest_try(&nearest, command_table[i]->name);
    if (nearest.name)
        report("there is no command '%.60s'; did you mean '%s'?", name, nearest.name);
    else
        report("there is no command '%.60s'; `berth help --all` lists them", name);
    return STATUS_BAD;
}

static int print_help(const struct command *command)
{
    struct buf out;

    buf_init(&out);
    if (command)
        help_command(&out, command);
    else
        help_overview(&out, false);
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}

static int run_command(const struct command *command, int word_count, char **words)
{
    void *settings = mem_alloc(command->settings_size + 1);
    int status = STATUS_BAD;
    struct err err = {0};

    if (command->settings_size)
        memcpy(settings, command->defaults, command->settings_size);
    switch (
        options_read(command->options, command->option_count, command->leading, settings, &word_count, words, &err)) {
    case OPTIONS_READ:
        status = command->run(settings, word_count, words);
        break;
    case OPTIONS_HELP:
        status = print_help(command);
        break;
    case OPTIONS_BAD:
        report("%s: %s (`berth help %s` lists the options)", command->name, err.text, command->name);
        break;
    }
    free(settings);
    return status;
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct command *command;

    if (condor_is_called(argv[0]))
        return condor_main(argc, argv);
    if (slurm_is_called(argv[0]))
        return slurm_main(argc, argv);
    if (!name) {
        struct buf out;

        buf_init(&out);
        help_overview(&out, false);
        fwrite(out.text, 1, out.len, stderr);
        buf_done(&out);
        return STATUS_BAD;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        puts("berth " BERTH_VERSION);
        return STATUS_DONE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        return print_help(NULL);
    if (*name == '-') {
        report("expected a command before '%.60s'; `berth help --all` lists them", name);
        return STATUS_BAD;
    }
    if (!strcmp(name, "launcher"))
        return command_launcher(argc - 2, argv + 2);
    if (!strcmp(name, "unpack"))
        return command_unpack(argc - 2, argv + 2);
    if (!strcmp(name, "url-client"))
        return command_url_client(argc - 2, argv + 2);
    if (!strcmp(name, "user-writer"))
        return command_user_writer(argc - 2, argv + 2);
    if (!strcmp(name, "user-runner"))
        return command_user_runner(argc - 2, argv + 2);
    if (!strcmp(name, "user-log"))
        return command_user_log(argc - 2, argv + 2);
    command = command_find(name);
    return command ? run_command(command, argc - 2, argv + 2) : fail_unknown_command(name);
}

/* Opens standard streams that are closed: else a file that is opened later would take their place and get our output. */
static void hold_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY}; /* chosen so that using the stream fails */

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            exit(STATUS_BAD);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* writing fails instead, and output_finish reports it */
    signal(SIGXFSZ, SIG_IGN); /* the same past a limit on the size of files */
    return output_finish(run(argc, argv));
}
