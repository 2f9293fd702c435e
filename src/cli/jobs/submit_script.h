/* submit_script.h: a script as a job, whose ad the command line says: berth submit --script fit.sh -c 4 -m 2G. */
#ifndef BERTH_CLI_JOBS_SUBMIT_SCRIPT_H
#define BERTH_CLI_JOBS_SUBMIT_SCRIPT_H

#include "cli/jobs/submission.h"
#include "cli/term/quantity.h"

struct submit_script {
    const char *file, *name; /* file: NULL: there is none */
    double cpus;
    uint64_t gpus;
    int64_t memory, disk, time;
    struct option_words inputs, outputs, variables;
};

/* Its ad; `words` are the script's arguments. NULL, which has been reported. The caller unrefs it. */
struct tree *submit_script_ad(struct symbols *symbols, const struct submit_script *script, int word_count,
                              char **words);
/* Does it say anything that goes with a script alone? */
bool submit_script_says(const struct submit_script *script);

#endif
