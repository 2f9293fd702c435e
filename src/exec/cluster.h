/* cluster.h: a batch system (Slurm, PBS, HTCondor, ...) as a table: the commands that submit, list and cancel, and how their answers are read.
 *
 *     [ Name = "slurm";
 *       Submit = { "sbatch", "--parsable", "--job-name=$NAME", "--time=$CLOCK", "$OPTIONS", "$SCRIPT" };
 *       SubmitId = Words[0];                                    // what Submit printed: Output, its Lines and its Words
 *       Status = { "squeue", "--noheader", "--me", "--format=%i %T %j" };
 *       JobId = Words[0]; JobState = ...; JobName = Words[2];   // of each line: Line and its Words
 *       Cancel = { "scancel", "$ID" } ]
 *
 * A command is a list of texts. It goes to execve, never to a shell. In a text stand $NAMEs, of which there is a list below; a text with one that
 * has no value now is left out, and one that is $OPTIONS alone becomes what the user said, word by word. What a command printed is read by expressions of the
 * language. Attributes of the table's own, for such expressions, begin with a small letter; others that are not known are refused. */
#ifndef BERTH_EXEC_CLUSTER_H
#define BERTH_EXEC_CLUSTER_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLUSTER_BYTES_MAX (64u << 10)  /* of a table */
#define CLUSTER_WORDS_MAX 128          /* of a command */
#define CLUSTER_ID_MAX 127             /* bytes of a job's id or name */
#define CLUSTER_OUTPUT_MAX (16u << 20) /* bytes that a command may print */
#define CLUSTER_JOBS_MAX 100000        /* that are listed */
#define CLUSTER_SPAN 60                /* seconds that a command may take */

struct cluster;

/* Reads the table in a file; a NULL name stands for that of Slurm, which is built in. NULL and "FILE:LINE: why" when the file is not a table. */
struct cluster *cluster_read(const char *file, struct err *err);
/* The same for a text; `name`: what it is called in errors. */
struct cluster *cluster_parse(const char *name, const char *text, size_t len, struct err *err);
void cluster_free(struct cluster *cluster);

const char *cluster_name(const struct cluster *cluster);
const char *cluster_text(const struct cluster *cluster, size_t *ret_len); /* the table as it was read; lent */

/* What is submitted, and so what the $NAMEs stand for. NULL and 0: nothing is said of it. */
struct cluster_order {
    const char *name, *script, *output, *folder; /* $NAME, $SCRIPT, $OUTPUT, $FOLDER */
    int64_t seconds;                             /* $SECONDS; as H:MM:SS $CLOCK; rounded up $MINUTES */
    int64_t cpus, memory;                        /* $CPUS; bytes: $MEMORY, in MiB */
    const char *id;                              /* $ID: of a job that there is */
    const char *const *options;                  /* $OPTIONS */
    size_t option_count;
};

/* The words of a command of the table; the caller frees them by cluster_words_free. NULL: the table has none of that name. */
char **cluster_words(const struct cluster *cluster, const char *command, const struct cluster_order *order);
void cluster_words_free(char **words);

int cluster_submit(struct cluster *cluster, const struct cluster_order *order, char ret_id[CLUSTER_ID_MAX + 1],
                   struct err *err);
int cluster_cancel(struct cluster *cluster, const char *id, struct err *err);

enum cluster_state { CLUSTER_PENDING, CLUSTER_RUNNING, CLUSTER_GONE };

struct cluster_job {
    char id[CLUSTER_ID_MAX + 1], name[CLUSTER_ID_MAX + 1];
    enum cluster_state state;
};

struct cluster_jobs {
    struct cluster_job *items;
    size_t count;
};

/* Lists the user's own jobs in the batch system; the caller frees `items`. */
int cluster_list(struct cluster *cluster, struct cluster_jobs *ret, struct err *err);

/* Reads the jobs from such an answer, line by line; `command`: what printed it, for errors. */
int cluster_jobs_of(struct cluster *cluster, const char *command, const char *text, size_t len,
                    struct cluster_jobs *ret, struct err *err);

/* How the whole system is used. */
struct cluster_load {
    int64_t pending, running; /* jobs of everybody; -1: the table does not say */
    int64_t cores, free;      /* likewise */
};
int cluster_load(struct cluster *cluster, struct cluster_load *ret, struct err *err);

/* Are we inside a batch job? Gives its id; false when we are not, or the table does not say how to tell. cluster_left: how many seconds are left of it;
 * -1: that is not known. */
bool cluster_here(const struct cluster *cluster, char ret_id[CLUSTER_ID_MAX + 1]);
int64_t cluster_left(struct cluster *cluster, const char *id, int64_t now, struct err *err);

/* ---- cluster_run.c ---- */

/* Runs a command and waits for its end, so many seconds at most; appends what it printed. -1 when it cannot be run, takes too long, prints too much or ends with another
 * status than 0: then `err` has the first line that it complained with. */
int cluster_run(char *const *words, int64_t span, struct buf *out, struct err *err);

/* The table of Slurm. */
extern const char cluster_slurm[];

#ifdef __cplusplus
}
#endif
#endif
