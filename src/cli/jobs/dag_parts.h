/* dag_parts.h: what the files of berth dag share.
 *
 *     dag.c           the command: list, status, rescue, rm
 *     dag_submit.c    submits the nodes of a workflow, of which dag_flow.c reads the files and dag_layers.c makes the ads (dag_flow.h)
 *     dag_host.c      submits the job that carries out a workflow on the submit host
 *     dag_run*.c      that job (dag_run.h)
 *     dag_progress.c  how far workflows are */
#ifndef BERTH_CLI_JOBS_DAG_PARTS_H
#define BERTH_CLI_JOBS_DAG_PARTS_H

#include "cli/ask/jobs.h"
#include "cli/term/quantity.h"
#include "lang/base/map.h"
#include "lang/form/dag.h"

struct dag_settings {
    struct connection_options pool;
    const char *key, *cwd, *why, *file, *format;
    struct option_words secrets;
    const char *run_name, *batch_name;
    uint64_t most_jobs, most_idle, most_pre, most_post, rescue_from;
    bool force, dry_run, json, long_form, anew, no_rescue, beside;
};

/* ---- dag_submit.c */

int dag_submit(const struct dag_settings *settings, int word_count, char **words);

/* ---- dag_host.c */

/* Submits a workflow that is carried out beside its files, on the submit host; `why` is the word of it that asks for that. */
int dag_host_submit(const struct dag_settings *settings, struct connection *customer, const struct dag *dag,
                    const char *why, int file_count, char **files);

/* ---- dag_run.c */

/* Carries out a workflow here, until nothing of it moves any more. */
int dag_carry(const struct dag_settings *settings, int word_count, char **words);

/* ---- dag_progress.c */

/* How far a workflow is, counted from its jobs. */
struct dag_progress {
    int64_t workflow;
    char *name; /* of its file; NULL: not known */
    int64_t submitted;
    uint64_t total, done, failed, removed, held, running, waiting, blocked;
};

/* All workflows that a job was added for. */
struct dag_progresses {
    struct map places; /* number -> place */
    struct dag_progress *items;
    uint32_t count, room;
};

void dag_progresses_init(struct dag_progresses *all);
void dag_progresses_done(struct dag_progresses *all);
void dag_progresses_add(struct dag_progresses *all, const struct tree *job); /* a job without a workflow is skipped */
/* Appends a line such as "workflow 17 (diamond.dag): 3 of 10 done, 2 run, 1 failed, 4 wait". */
void dag_progress_print(struct buf *out, const struct dag_progress *one);

#endif
