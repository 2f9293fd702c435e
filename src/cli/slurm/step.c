/* step.c: srun: inside a job it runs the command there, elsewhere it is `berth run`. */
#define _GNU_SOURCE /* environ */
#include "cli/slurm/parts.h"
#include "cli/term/report.h"
#include "cli/term/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 1024
#define EXPORTS_MAX 256

struct srun {
    struct slurm_order order; /* first: its options are read into this */
    const char *jobid, *bind, *mpi, *label, *overlap;
    bool unbuffered, whole, exact;
};

static const struct option step_options[] = {
    {0, "jobid", "ID", "", option_text, offsetof(struct srun, jobid)},
    {0, "cpu-bind", "HOW", "", option_text, offsetof(struct srun, bind)},
    {0, "mpi", "HOW", "", option_text, offsetof(struct srun, mpi)},
    {'u', "unbuffered", NULL, "", option_flag, offsetof(struct srun, unbuffered)},
    {0, "whole", NULL, "", option_flag, offsetof(struct srun, whole)},
    {0, "exact", NULL, "", option_flag, offsetof(struct srun, exact)},
    {0, "overlap", NULL, "", option_flag, offsetof(struct srun, overlap)},
};

static void environment_take(const char *export)
{
    while (export && *export) {
        size_t len = strcspn(export, ","), name = strcspn(export, "=,");
        char *word = mem_dup(export, len);

        if (name < len) {
            word[name] = '\0';
            setenv(word, word + name + 1, 1);
        }
        free(word);
        export += len + (export[len] == ',');
    }
}

/* --export=ALL,K=V,NAME as words for `berth run`; without it all variables go. Returns behind the last; -1: there are too many, which has been reported. */
static int environment_pass(const char *export, const char **line, int at)
{
    const char *text = export ? export : "ALL";

    for (int count = 0; *text; count++) {
        size_t len = strcspn(text, ",");

        if (count == EXPORTS_MAX) {
            report("srun: --export: at most %d variables", EXPORTS_MAX);
            return -1;
        }
        if (len == 3 && !memcmp(text, "ALL", 3)) {
            line[at++] = "--env-all";
        } else if (len && !(len == 4 && !memcmp(text, "NONE", 4)) && !(len == 3 && !memcmp(text, "NIL", 3))) {
            line[at++] = "-e";
            line[at++] = mem_dup(text, len);
        }
        text += len + (text[len] == ',');
    }
    return at;
}

/* A stream of ours goes to a file, or comes from one. -1: it cannot, which has been reported. */
static int stream_turn(const char *option, const char *name, int flags, int stream)
{
    int fd;

    if (strchr(name, '%')) {
        report("srun: %s: expected a name without %%: the job has no number yet", option);
        return -1;
    }
    fd = open(!strcmp(name, "none") ? "/dev/null" : name, flags | O_CLOEXEC, 0666);
    if (fd == stream) /* that stream was closed; what we become has it all the same */
        return fcntl(fd, F_SETFD, 0);
    if (fd < 0 || dup2(fd, stream) < 0) {
        report("srun: %s: %.200s: %s", option, name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    close(fd);
    return 0;
}

/* -i, -D, -o and -e of a command that runs elsewhere: `berth run` carries our own streams, and the files of the folder where it is begun. Errors go where
 * the output goes, if nothing else is said. -1: one cannot be done, which has been reported. */
static int streams_turn(const struct slurm_order *order)
{
    const int write = O_WRONLY | O_CREAT | O_TRUNC;
    int out = order->err ? -1 : STDERR_FILENO;

    if (order->in && stream_turn("--input", order->in, O_RDONLY, STDIN_FILENO) < 0)
        return -1;
    if (order->out && stream_turn("--output", order->out, write, STDOUT_FILENO) < 0)
        return -1;
    if (order->err && stream_turn("--error", order->err, write, STDERR_FILENO) < 0)
        return -1;
    if (order->folder && chdir(order->folder) < 0) {
        report("srun: --chdir: %.200s: %s", order->folder, strerror(errno));
        return -1;
    }
    if (order->out && out >= 0 && dup2(STDOUT_FILENO, out) < 0)
        return -1;
    return 0;
}

int slurm_srun(int word_count, char **words)
{
    struct option *options = mem_alloc((slurm_order_option_count + 16) * sizeof *options);
    size_t count = slurm_order_option_count + sizeof step_options / sizeof *step_options;
    const char *line[WORDS_MAX + 32 + 2 * EXPORTS_MAX] = {"berth", "run", "-q"};
    char cpus[32], memory[32], disk[32], time[32], gpus[32], processes[32];
    struct slurm_amounts amounts;
    struct srun step = {0};
    int at = 3, status;

    memcpy(options, slurm_order_options, slurm_order_option_count * sizeof *options);
    memcpy(options + slurm_order_option_count, step_options, sizeof step_options);
    status = slurm_read("srun", options, count, NULL, true, &step, &word_count, words);
    free(options);
    if (status != STATUS_DONE || slurm_order_amounts("srun", &step.order, &amounts) < 0)
        return STATUS_NO;
    if (!word_count || word_count > WORDS_MAX) {
        report("srun: expected a command%s", word_count ? ", and not so many words" : "");
        return STATUS_NO;
    }
    if (getenv("SLURM_JOB_ID")) { /* a step of a job: its machine has what it asks for */
        environment_take(step.order.export);
        execvp(words[0], words);
        report("srun: %.200s: %s", words[0], strerror(errno));
        return STATUS_NO;
    }
    slurm_order_remark("srun", &step.order);
    snprintf(cpus, sizeof cpus, "%.0f", amounts.cpus);
    line[at++] = "-c";
    line[at++] = cpus;
    if (amounts.memory > 0) {
        snprintf(memory, sizeof memory, "%" PRId64 "KiB", amounts.memory / 1024);
        line[at++] = "-m";
        line[at++] = memory;
    }
    if (amounts.disk > 0) {
        snprintf(disk, sizeof disk, "%" PRId64 "KiB", amounts.disk / 1024);
        line[at++] = "--disk";
        line[at++] = disk;
    }
    if (amounts.time > 0) {
        snprintf(time, sizeof time, "%" PRId64 "s", amounts.time);
        line[at++] = "-t";
        line[at++] = time;
    }
    if (amounts.gpus > 0) {
        snprintf(gpus, sizeof gpus, "%" PRId64, amounts.gpus);
        line[at++] = "--gpus";
        line[at++] = gpus;
    }
    if (amounts.tasks > 1) {
        snprintf(processes, sizeof processes, "%" PRId64, amounts.tasks);
        line[at++] = "--processes";
        line[at++] = processes;
    }
    if (step.order.name) {
        line[at++] = "--name";
        line[at++] = step.order.name;
    }
    at = environment_pass(step.order.export, line, at);
    if (at < 0 || streams_turn(&step.order) < 0)
        return STATUS_NO;
    line[at++] = "--";
    for (int i = 0; i < word_count; i++)
        line[at++] = words[i];
    line[at] = NULL;
    execv("/proc/self/exe", (char *const *)(uintptr_t)line);
    report("srun: %s", strerror(errno));
    return STATUS_NO;
}
