/* run_parts.h: what the files of `berth run` share: its settings, what a job takes along, and its ad.
 *
 *     run_along.c  arguments that name files, standard input   ->   run_ad.c  the ad   ->   run.c  submits and follows it */
#ifndef BERTH_CLI_JOBS_RUN_PARTS_H
#define BERTH_CLI_JOBS_RUN_PARTS_H

#include "cli/ask/jobs.h"
#include "cli/term/quantity.h"

struct run_settings {
    struct connection_options pool;
    double cpus;
    uint64_t retries, gpus;
    uint64_t processes; /* 0: one */
    int64_t memory, disk, time;
    struct option_words inputs, outputs, variables, secrets, needs;
    const char *name, *image, *image_secret, *require_gpus, *processes_on;
    bool processes_exec, network, force, quiet, verbose;
    bool all_variables; /* of here */
    bool input;         /* standard input is read, whatever it is */
    bool terminal;      /* the command gets a terminal */
};

#define RUN_ALONG_MAX \
    ((int64_t)256 << 20)         /* bytes of the files that arguments name, all together; and of standard input */
#define RUN_INPUT ".berth-stdin" /* what standard input is called in the job's folder */

struct run_along {
    const char **names; /* files that are sent along because arguments name them; the names are lent */
    size_t count, room;
    int64_t bytes;    /* of them */
    struct buf hints; /* about what arguments name and the job does not see, a line each */
    int input;        /* a copy of standard input, which has no name; -1: there is none */
};

void run_along_init(struct run_along *along);
void run_along_done(struct run_along *along);

/* Finds the files that arguments name. The first word is the command. */
void run_along_files(struct run_along *along, const struct run_settings *settings, int word_count, char **words);

/* Reads standard input to its end, if it is not a terminal or if that is asked for. An enum status; errors have been reported. */
int run_along_input(struct run_along *along, const struct run_settings *settings);

/* Reports which options may be missing, for a command that has failed. */
void run_along_hint(struct run_along *along, const struct run_settings *settings);

/* ---- run.c ---- */

void run_state_tell(const struct run_settings *settings, uint64_t id, const struct tree *job, struct buf *last);
bool run_job_remove(struct connection *customer, uint64_t id, const char *why);
bool run_is_interrupted(void);
/* Waits until the job is over and its outputs are here, or it is held: then `*ret` is its ad. After an interrupt it gives STATUS_NO, without an
 * ad. */
int run_wait(struct connection *customer, const struct run_settings *settings, uint64_t id, struct tree **ret);

/* ---- run_tty.c ---- */

/* What a job does whose command has a terminal: it holds the place. */
char *const *run_tty_words(int *ret_count);
/* Runs the command in that job, and stays until it is over; `*ret_left`: it goes on without us. The status to end with. */
int run_tty_follow(struct connection *customer, const struct run_settings *settings, uint64_t id, int word_count,
                   char **words, bool *ret_left);

/* Makes the ad; NULL and the error. */
struct tree *run_ad(struct symbols *symbols, const struct run_settings *settings, const struct run_along *along,
                    int word_count, char **words, struct err *err);

#endif
