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
    int64_t memory, disk, time;
    struct option_words inputs, outputs, variables, secrets, needs;
    const char *name, *image, *require_gpus;
    bool network, force, quiet, verbose;
    bool all_variables; /* of here */
    bool input;         /* standard input is read, whatever it is */
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

bool run_variable_is_name(const char *text, size_t len);

/* Makes the ad; NULL and the error. */
struct tree *run_ad(struct symbols *symbols, const struct run_settings *settings, const struct run_along *along,
                    int word_count, char **words, struct err *err);

#endif
