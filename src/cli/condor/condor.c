/* condor.c: HTCondor's commands by their names, and berth condor, which puts them into a folder. */
#include "cli/condor/condor.h"
#include "cli/condor/parts.h"
#include "cli/term/links.h"
#include "cli/term/report.h"

#include <stdio.h>
#include <string.h>

static int version_run(struct condor_words *words)
{
    (void)words;
    puts("$CondorVersion: " CONDOR_NUMBER " 2023-09-29 berth " BERTH_VERSION " $\n$CondorPlatform: berth $");
    return STATUS_DONE;
}

static const struct {
    const char *name;
    int (*run)(struct condor_words *words);
} commands[] = {
    {"condor_submit", condor_submit},     {"condor_submit_dag", condor_submit_dag},
    {"condor_q", condor_queue},           {"condor_history", condor_history},
    {"condor_rm", condor_change},         {"condor_hold", condor_change},
    {"condor_release", condor_change},    {"condor_status", condor_status},
    {"condor_version", version_run},      {"condor_wait", condor_wait},
    {"condor_qedit", condor_qedit},       {"condor_prio", condor_prio},
    {"condor_tail", condor_tail},         {"condor_ssh_to_job", condor_ssh_to_job},
    {"condor_userprio", condor_userprio}, {"condor_drain", condor_drain},
    {"condor_vacate_job", condor_change}, {"condor_config_val", condor_config_val},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static size_t command_at(const char *name)
{
    size_t i = 0;

    while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0)
        i++;
    return i;
}

bool condor_is_called(const char *path)
{
    return path && command_at(name_of(path)) < COMMAND_COUNT;
}

int condor_main(int argc, char **argv)
{
    size_t i = command_at(name_of(argv[0]));
    struct condor_words words = {.command = commands[i].name, .count = argc - 1, .words = argv + 1};

    return commands[i].run(&words);
}

/* ------------------------------------------------------------------------------------------------------------- berth condor */

static int condor_run(const void *settings, int word_count, char **words)
{
    const char *names[COMMAND_COUNT];

    (void)settings;
    if (word_count != 2 || strcmp(words[0], "install") != 0) {
        report("condor: expected 'install' and a folder");
        return STATUS_BAD;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    return links_install(names, COMMAND_COUNT, words[1]);
}

const struct command command_condor = {
    .name = "condor",
    .summary = "put commands with HTCondor's names into a folder",
    .usage = "install FOLDER",
    .about =
        "Puts links to this program into a folder that exists: condor_submit, condor_q, condor_rm, condor_hold, condor_release, condor_history, condor_status, condor_submit_dag and "
        "others. Called by such a name, the program reads HTCondor's options and prints what programs that call these commands read: -terse, -nobatch, -af:jh, -long, -json, -xml, -constraint, "
        "-hold, -run, -totals, -limit; 5.0 and users as arguments. What it cannot do it says, with status 1.\n"
        "\n"
        "A job has the number CLUSTER.PROC there: the number of the first job that was submitted with it, and how many came before it. Job 17 of the jobs 15-20 is 15.2. "
        "$BERTH_CUSTOMER and $BERTH_POOL say whom the commands ask, if not those of this machine.",
    .examples = {{"berth condor install ~/bin", NULL}, {"condor_q -af:jh JobStatus RemoteHost", NULL}},
    .run = condor_run,
};
