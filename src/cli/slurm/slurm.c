/* slurm.c: Slurm's commands by their names, and berth slurm, which puts them into a folder. */
#include "cli/slurm/slurm.h"
#include "cli/slurm/parts.h"
#include "cli/term/links.h"
#include "cli/term/report.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int word_count, char **words);
} commands[] = {
    {"sbatch", slurm_sbatch},   {"srun", slurm_srun},   {"squeue", slurm_squeue},     {"sacct", slurm_sacct},
    {"scancel", slurm_scancel}, {"sinfo", slurm_sinfo}, {"scontrol", slurm_scontrol},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static size_t command_at(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t i = 0;

    while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0)
        i++;
    return i;
}

bool slurm_is_called(const char *path)
{
    return path && command_at(path) < COMMAND_COUNT;
}

int slurm_main(int argc, char **argv)
{
    int status = commands[command_at(argv[0])].run(argc - 1, argv + 1);

    return status == STATUS_DONE ? STATUS_DONE : STATUS_NO; /* programs that call Slurm know no other */
}

int slurm_read(const char *command, const struct option *options, size_t count, const char *flags, bool leading,
               void *settings, int *word_count, char **words)
{
    struct err err = {0};

    for (int i = 0; flags && i < *word_count; i++) { /* -h, -Nhe: without a heading */
        char *word = words[i];

        if (word[0] == '-' && word[1] && word[1] != '-' && strspn(word + 1, flags) == strlen(word + 1))
            for (char *c = word + 1; *c; c++)
                *c = *c == 'h' ? 'H' : *c;
    }
    switch (options_read(options, count, leading, settings, word_count, words, &err)) {
    case OPTIONS_READ:
        return STATUS_DONE;
    case OPTIONS_HELP:
        printf("%s: one of Slurm's commands, for a pool of Berth: see `berth help slurm`\n", command);
        return STATUS_BAD;
    default:
        report("%s: %s", command, err.text);
        return STATUS_BAD;
    }
}

/* -------------------------------------------------------------------------------------------------------------- berth slurm */

static int slurm_run(const void *settings, int word_count, char **words)
{
    const char *names[COMMAND_COUNT];

    (void)settings;
    if (word_count != 2 || strcmp(words[0], "install") != 0) {
        report("slurm: expected 'install' and a folder");
        return STATUS_BAD;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    return links_install(names, COMMAND_COUNT, words[1]);
}

const struct command command_slurm = {
    .name = "slurm",
    .summary = "put commands with Slurm's names into a folder",
    .usage = "install FOLDER",
    .about =
        "Puts links to this program into a folder that exists: sbatch, srun, squeue, sacct, scancel, sinfo and scontrol. Called by such a name, the program reads Slurm's options and prints "
        "what programs that call these commands read, such as Toil and Snakemake. What it cannot do it says, with status 1.\n"
        "\n"
        "Jobs run in sandboxes on machines that need not share a folder with this one: the script travels, what it makes comes back into the folder of -D, and a job is COMPLETED when all of it is "
        "here. With $BERTH_SLURM_SHARE=1 they run as yourself where you are, on machines that share that folder (ShareFiles). There is one partition, " SLURM_PARTITION
        ". $BERTH_CUSTOMER and $BERTH_POOL say whom the commands ask, if not those of this machine.",
    .examples = {{"berth slurm install ~/bin", NULL}, {"sbatch -c 4 --mem=2G --wrap='./fit data.csv'", NULL}},
    .run = slurm_run,
};
