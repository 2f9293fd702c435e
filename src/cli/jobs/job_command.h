/* job_command.h: berth job ID peek FILE, berth job ID signal N: commands to a job that runs. */
#ifndef BERTH_CLI_JOBS_JOB_COMMAND_H
#define BERTH_CLI_JOBS_JOB_COMMAND_H

#include "cli/ask/awaited.h"

struct job_command_settings {
    int64_t wait, life;
    uint64_t bytes, lines; /* 0: not given */
    bool follow, json;
};

/* Carries out the words behind the job's number, and gives the status to end with. The customer is open. */
int job_command_run(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                    int word_count, char **words);
/* Are the words a command? If not, that has been reported. */
bool job_command_good(const struct job_command_settings *settings, int word_count, char **words);

#endif
