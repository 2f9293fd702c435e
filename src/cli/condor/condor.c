/* condor.c: HTCondor's commands by their names, and berth condor, which puts them into a folder. */
#include "cli/condor/condor.h"
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int links_make(const char *folder)
{
    char program[PATH_MAX], path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);

    if (len < 0) {
        report("this program's own file: %s", strerror(errno));
        return STATUS_NO;
    }
    program[len] = '\0';
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char there[PATH_MAX];
        ssize_t got;

        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, commands[i].name) >= sizeof path) {
            report("%.200s: the name is too long", folder);
            return STATUS_BAD;
        }
        got = readlink(path, there, sizeof there);
        if (got == len && !memcmp(there, program, (size_t)len))
            continue; /* it is there */
        if (symlink(program, path) < 0) {
            report("%s: %s%s", path, strerror(errno), errno == EEXIST ? "; it is not ours, and is left as it is" : "");
            return STATUS_NO;
        }
    }
    printf("%zu commands are in %s; export PATH=%s:$PATH\n", COMMAND_COUNT, folder, folder);
    return STATUS_DONE;
}

static int condor_run(const void *settings, int word_count, char **words)
{
    char folder[PATH_MAX];

    (void)settings;
    if (word_count != 2 || strcmp(words[0], "install") != 0) {
        report("condor: expected 'install' and a folder");
        return STATUS_BAD;
    }
    if (!realpath(words[1], folder)) {
        report("%.200s: %s", words[1], strerror(errno));
        return STATUS_BAD;
    }
    return links_make(folder);
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
