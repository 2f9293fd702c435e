/* submit.c: condor_submit and condor_submit_dag: `berth submit` and `berth dag submit`, told as HTCondor tells it.
 *
 * The work is done by this program itself, started once more: what it says is read, and said in other words. */
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/self.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 256
#define MADE_MAX 8

enum {
    S_APPEND,
    S_DRYRUN,
    S_TERSE,
    S_VERBOSE,
    S_DISABLE,
    S_SPOOL,
    S_FILE,
    S_NAME,
    S_POOL,
    S_BATCHNAME,
    S_QUEUE,
    S_FORCE,
    S_HELP
};

static const struct condor_option options[] = {
    [S_APPEND] = {"append", 1, true},        [S_DRYRUN] = {"dry-run", 2, true},   [S_TERSE] = {"terse", 1, false},
    [S_VERBOSE] = {"verbose", 1, false},     [S_DISABLE] = {"disable", 1, false}, [S_SPOOL] = {"spool", 1, false},
    [S_FILE] = {"file", 2, false},           [S_NAME] = {"name", 1, true},        [S_POOL] = {"pool", 1, true},
    [S_BATCHNAME] = {"batch-name", 1, true}, [S_QUEUE] = {"queue", 1, false},     [S_FORCE] = {"force", 2, false},
    [S_HELP] = {"help", 1, false},
};

struct line {
    const char *words[WORDS_MAX + 1];
    char *made[MADE_MAX]; /* words that are ours */
    int count, made_count;
};

static void line_add(struct line *line, const char *word)
{
    if (line->count < WORDS_MAX)
        line->words[line->count++] = word;
}

/* Adds --append and a command of a submit file, which is copied; not more than MADE_MAX of them. */
static void line_append(struct line *line, const struct buf *command)
{
    if (line->made_count == MADE_MAX)
        return;
    line->made[line->made_count] = mem_dup(command->text, command->len);
    line_add(line, "--append");
    line_add(line, line->made[line->made_count++]);
}

/* -queue takes all words behind it. */
static void line_append_queue(struct line *line, struct condor_words *words)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "queue");
    for (; words->at < words->count; words->at++)
        buf_addf(&text, " %s", words->words[words->at]);
    line_append(line, &text);
    buf_done(&text);
}

static void line_append_name(struct line *line, const char *name)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "batch_name = %s", name);
    line_append(line, &text);
    buf_done(&text);
}

static int line_run(struct line *line, struct buf *said)
{
    line->words[line->count] = NULL;
    return self_run(line->words, NULL, said);
}

static void line_done(struct line *line)
{
    while (line->made_count)
        free(line->made[--line->made_count]);
}

/* Reads lines of "7.0 - 7.4", as `berth submit --terse` writes them, and tells each as HTCondor does. */
static void clusters_tell(const char *said)
{
    unsigned long long cluster, first, last;
    struct buf out;

    buf_init(&out);
    buf_adds(&out, "Submitting job(s).\n");
    while (said && sscanf(said, "%llu.%llu - %*u.%llu", &cluster, &first, &last) == 3) {
        buf_addf(&out, "%llu job(s) submitted to cluster %llu.\n", last - first + 1, cluster);
        said = strchr(said, '\n');
        said = said ? said + 1 : NULL;
    }
    output_write(&out);
    buf_done(&out);
}

/* Writes what a dry run has said to a file; - is standard output. */
static int dry_write(struct buf *said, const char *path)
{
    FILE *to;
    bool good;

    if (!strcmp(path, "-"))
        return output_write(said) < 0 ? STATUS_NO : STATUS_DONE;
    to = fopen(path, "w");
    good = to && fwrite(said->text, 1, said->len, to) == said->len;
    if (to && fclose(to) != 0)
        good = false;
    if (!good)
        report("%.200s: %s", path, strerror(errno));
    return good ? STATUS_DONE : STATUS_NO;
}

struct submitting {
    struct line line;
    bool terse;
    const char *file, *dry_to; /* NULL: standard input; it is no dry run */
};

/* Takes a word; -1: it is wrong, which has been reported. */
static int submit_take(struct submitting *submit, struct condor_words *words, int option)
{
    switch (option) {
    case S_APPEND:
        line_add(&submit->line, "--append");
        line_add(&submit->line, words->value);
        return 0;
    case S_BATCHNAME:
        line_append_name(&submit->line, words->value);
        return 0;
    case S_QUEUE:
        line_append_queue(&submit->line, words);
        return 0;
    case S_DRYRUN:
        submit->dry_to = words->value;
        return 0;
    case S_TERSE:
        submit->terse = true;
        return 0;
    case S_NAME:
    case S_POOL:
        report("condor_submit: -%s is not understood here: $BERTH_CUSTOMER says who has the jobs",
               options[option].name);
        return -1;
    case -1:
        line_add(&submit->line, words->value);
        if (!submit->file && !strchr(words->value, '='))
            submit->file = words->value;
        return 0;
    default:
        return option == -3 ? -1 : 0;
    }
}

int condor_submit(struct condor_words *words)
{
    struct submitting submit = {.line = {.words = {"berth", "submit", "--from", "submit", "--force"}, .count = 5}};
    int option, status = STATUS_DONE;
    struct buf said;

    while (status == STATUS_DONE && (option = words_next(words, options, S_HELP + 1)) != -2)
        if (submit_take(&submit, words, option) < 0)
            status = STATUS_NO;
    buf_init(&said);
    if (status == STATUS_DONE) {
        if (!submit.file)
            line_add(&submit.line, "-");
        line_add(&submit.line, submit.dry_to ? "--dry-run" : "--terse");
        status = line_run(&submit.line, &said);
        if (status == STATUS_DONE && submit.dry_to)
            status = dry_write(&said, submit.dry_to);
        else if (status == STATUS_DONE && submit.terse)
            output_write(&said);
        else if (status == STATUS_DONE)
            clusters_tell(buf_string(&said));
    }
    line_done(&submit.line);
    buf_done(&said);
    return status == STATUS_DONE ? STATUS_DONE : STATUS_NO;
}

/* ------------------------------------------------------------------------------------------------------------- workflows */

enum {
    D_FORCE,
    D_MAXJOBS,
    D_MAXIDLE,
    D_MAXPRE,
    D_MAXPOST,
    D_NOSUBMIT,
    D_BATCHNAME,
    D_USEDAGDIR,
    D_UPDATE,
    D_AUTORESCUE,
    D_DORESCUE,
    D_NOTIFICATION,
    D_IMPORT,
    D_VERBOSE,
    D_DEBUG,
    D_HELP
};

static const struct condor_option dag_options[] = {
    [D_FORCE] = {"force", 1, false},          [D_MAXJOBS] = {"maxjobs", 4, true},
    [D_MAXIDLE] = {"maxidle", 4, true},       [D_MAXPRE] = {"maxpre", 5, true},
    [D_MAXPOST] = {"maxpost", 5, true},       [D_NOSUBMIT] = {"no_submit", 4, false},
    [D_BATCHNAME] = {"batch-name", 1, true},  [D_USEDAGDIR] = {"usedagdir", 3, false},
    [D_UPDATE] = {"update_submit", 3, false}, [D_AUTORESCUE] = {"autorescue", 5, true},
    [D_DORESCUE] = {"dorescuefrom", 4, true}, [D_NOTIFICATION] = {"notification", 4, true},
    [D_IMPORT] = {"import_env", 3, false},    [D_VERBOSE] = {"verbose", 1, false},
    [D_DEBUG] = {"debug", 3, true},           [D_HELP] = {"help", 1, false},
};

/* The option of `berth dag submit` that is the same; NULL: there is none, or it needs none. */
static const char *dag_option(int option)
{
    switch (option) {
    case D_MAXJOBS:
        return "--maxjobs";
    case D_MAXIDLE:
        return "--maxidle";
    case D_MAXPRE:
        return "--maxpre";
    case D_MAXPOST:
        return "--maxpost";
    case D_DORESCUE:
        return "--rescue-from";
    case D_BATCHNAME:
        return "--batch-name";
    default:
        return NULL;
    }
}

int condor_submit_dag(struct condor_words *words)
{
    struct line line = {.words = {"berth", "dag", "submit", "--force", "--beside"}, .count = 5};
    int option, status = STATUS_DONE;
    unsigned long long number;
    const char *file = NULL;
    struct buf said, out;
    bool beside = false; /* files are named from the folder of the workflow's file, not from here */

    while ((option = words_next(words, dag_options, D_HELP + 1)) != -2) {
        if (option == D_NOSUBMIT)
            report("condor_submit_dag: -%s is not understood here", dag_options[option].name);
        if (option == -3 || option == D_NOSUBMIT)
            return STATUS_NO;
        beside = beside || option == D_USEDAGDIR;
        if (option == D_FORCE)
            line_add(&line, "--anew");
        if (option == D_AUTORESCUE && !strcmp(words->value, "0"))
            line_add(&line, "--no-rescue");
        if (option >= 0 && dag_option(option)) {
            line_add(&line, dag_option(option));
            line_add(&line, words->value);
        }
        if (option == -1) {
            line_add(&line, words->value);
            file = words->value;
        }
    }
    if (!file) {
        report("condor_submit_dag wants the file of a DAG");
        return STATUS_NO;
    }
    if (!beside) {
        line_add(&line, "--cwd");
        line_add(&line, ".");
    }
    buf_init(&said);
    buf_init(&out);
    status = line_run(&line, &said);
    if (status == STATUS_DONE && sscanf(buf_string(&said), "workflow %llu ", &number) == 1) {
        buf_addf(&out, "Submitting job(s).\n1 job(s) submitted to cluster %llu.\n", number);
        output_write(&out);
    }
    buf_done(&said);
    buf_done(&out);
    return status == STATUS_DONE ? STATUS_DONE : STATUS_NO;
}
