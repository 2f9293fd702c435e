/* parts.h: what the files of the room share. Private. */
#ifndef BERTH_CLI_SLURM_PARTS_H
#define BERTH_CLI_SLURM_PARTS_H

#include "cli/ask/jobs.h"
#include "cli/term/command.h"

#define SLURM_PARTITION "berth" /* the one that there is */

/* Reads the options of a command; its name is for errors. Words that are none go to the front. STATUS_DONE, or what to end with, which has been reported.
 * `flags` are the letters of options without a value among which -h may be, which is no call for help with these commands; NULL: it is one. */
int slurm_read(const char *command, const struct option *options, size_t count, const char *flags, bool leading,
               void *settings, int *word_count, char **words);

/* ---- order.c: what a job is to be ---- */
struct slurm_order {
    const char *name, *out, *err, *in, *export, *mem, *mem_per_cpu, *time, *folder, *array, *cpus, *tasks, *nodes,
        *gres, *gpus, *disk, *wrap;
    const char *account, *qos, *partition, *mail, *mail_user, *comment, *nice, *open_mode, *signal, *environment,
        *reservation;                                                            /* which change nothing here */
    const char *constraint, *dependency, *begin, *licenses, *nodelist, *exclude; /* which are refused */
    bool parsable, quiet, test, hold, wait, requeue, no_requeue, exclusive;
};
extern const struct option slurm_order_options[];
extern const size_t slurm_order_option_count;

/* The numbers in it. -1: one is wrong, or something that cannot be done here is asked for, which has been reported. */
struct slurm_amounts {
    double cpus;
    int64_t memory, disk, time, gpus, tasks; /* bytes, seconds; -1: not said */
};
int slurm_order_amounts(const char *command, const struct slurm_order *order, struct slurm_amounts *ret);
/* Says what it asks for that changes nothing here. */
void slurm_order_remark(const char *command, const struct slurm_order *order);

/* 0-9, 1,3,7-9:2%4: the ranges, each of consecutive numbers. -1: it is wrong, which has been reported. */
#define SLURM_RANGES_MAX 1000
struct slurm_array {
    struct {
        int64_t first, last;
    } ranges[SLURM_RANGES_MAX];
    uint32_t count;
    int64_t tasks;
};
int slurm_array_read(const char *text, struct slurm_array *ret);

/* ---- jobs.c: jobs, in Slurm's words ---- */
enum slurm_state {
    SLURM_PENDING,
    SLURM_RUNNING,
    SLURM_SUSPENDED,
    SLURM_COMPLETING, /* over, and its files are on their way */
    SLURM_COMPLETED,
    SLURM_FAILED,
    SLURM_OUT_OF_MEMORY,
    SLURM_TIMEOUT,
    SLURM_CANCELLED,
    SLURM_DEADLINE,
    SLURM_STATE_COUNT
};
const char *slurm_state_word(enum slurm_state state);
const char *slurm_state_letters(enum slurm_state state);
bool slurm_state_is_end(enum slurm_state state);

#define SLURM_SELECT                                                                                                      \
    OUTCOME_SELECT                                                                                                        \
    ",ExitCode,Signal,Submitted,Started,Ended,WallUsed,CpuUsed,Provider,Owner,RequestCpus,RequestGpus,Iwd,TimeLimit,Cmd," \
    "Index,Suspended,Priority,SlurmName,SlurmPlace,SlurmTasks,HoldReason"

struct slurm_job {
    struct tree *ad;   /* lent */
    int64_t id, array; /* array: the number of its first job; 0: it is in none */
    int64_t index;     /* its number there */
    int64_t tasks;     /* of the array */
    enum slurm_state state;
    int64_t code, signal; /* how it ended */
};
/* A job of the queue, or of the history (`over`). */
void slurm_job_read(struct tree *ad, bool over, struct slurm_job *ret);
void slurm_job_id(const struct slurm_job *job, struct buf *out); /* 12, or 7_5 */
void slurm_job_name(const struct slurm_job *job, struct buf *out);
void slurm_job_nodes(const struct slurm_job *job, struct buf *out);
void slurm_job_owner(const struct slurm_job *job, struct buf *out);
void slurm_job_text(const struct slurm_job *job, const char *name, struct buf *out); /* of any attribute */
const char *slurm_job_reason(const struct slurm_job *job);                           /* why it waits */
/* Appends what somebody else wrote: on one line, in one column, and no control character reaches a terminal. */
void slurm_text(struct buf *out, const char *text, size_t len);
int64_t slurm_job_number(const struct slurm_job *job, const char *attribute, int64_t otherwise);
int64_t slurm_job_ran(const struct slurm_job *job, int64_t now); /* seconds */

/* Which jobs are meant; NULL: that does not matter. `me`: those of the login that this runs under. */
struct slurm_choice {
    const char *users, *names, *states, *partition;
    bool me;
};
bool slurm_job_is_among(const struct slurm_job *job, const struct slurm_choice *choice);

typedef void slurm_job_fn(void *user, const struct slurm_job *job);
/* Gives the jobs of the queue, and those that are over and of which the constraint `history` is true (NULL: none; SLURM_HISTORY: all): all, or those with the
 * numbers in `ids` ("7,9,12-14"), of an array all of it. */
#define SLURM_HISTORY ""
int slurm_jobs_each(struct connection *customer, const char *ids, const char *history, slurm_job_fn *each, void *user);

/* Jobs as these commands name them, 7 7_3 7,9: their own numbers, "7,9,12-14"; of an array all of it. -1: a word is wrong, which has been reported. */
int slurm_ids_read(const char *command, const char *words, struct buf *ret_ids);
bool slurm_word_among(const char *list, const char *word); /* in a list with commas between, in any case */

/* ---- cancel.c ---- */
/* Holds, releases, ... the jobs with those numbers. */
int slurm_change(const char *command, const char *verb, int word_count, char **words);

/* ---- machines.c ---- */
struct slurm_node {
    struct tree *ad;                /* lent */
    const char *state, *state_long; /* idle, mix, ... */
    int64_t cpus, used, memory, memory_used, gpus;
};
void slurm_node_read(struct tree *ad, struct slurm_node *ret);
void slurm_node_name(const struct slurm_node *node, struct buf *out);

/* ---- format.c: %.18i %P, and fields of columns ---- */
/* Appends one value; NULL at the end of `name`: the heading. */
typedef void slurm_cell_fn(const void *what, char letter, struct buf *out);
/* Prints a line by the format; false: a letter is not known, which has been reported. */
bool slurm_line(const char *command, const char *format, const char *letters, slurm_cell_fn *cell, const void *what,
                struct buf *out);
void slurm_span(struct buf *out, int64_t seconds, bool whole); /* 1-02:03:04, 2:03; whole: 00:02:03 */
void slurm_date(struct buf *out, int64_t at);                  /* 2026-11-19T01:02:03, Unknown */
void slurm_amount(struct buf *out, int64_t bytes);             /* 512M, 4G */

/* ---- each a command ---- */
int slurm_sbatch(int word_count, char **words);
int slurm_srun(int word_count, char **words);
int slurm_squeue(int word_count, char **words);
int slurm_sacct(int word_count, char **words);
int slurm_scancel(int word_count, char **words);
int slurm_sinfo(int word_count, char **words);
int slurm_scontrol(int word_count, char **words);

#endif
