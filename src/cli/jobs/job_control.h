/* job_control.h: changes many jobs by one request: what berth rm, hold and release share with edit, prio, run and dag. */
#ifndef BERTH_CLI_JOBS_JOB_CONTROL_H
#define BERTH_CLI_JOBS_JOB_CONTROL_H

#include "cli/ask/jobs.h"

struct jobs_order {
    const char *verb;             /* "hold", "release", "remove", "rescue", "vacate", "edit", "prio" */
    const char *ids, *constraint; /* one of the two is NULL */
    const char *why;              /* or NULL */
    struct tree *set;             /* edit: the attributes that change; or NULL */
    char **settings;              /* the same as words NAME=EXPR, for jobs_change */
    int setting_count;
    const char *number_name; /* prio: "Priority", or "Change" for what is added to it; or NULL */
    int64_t number;
};

struct jobs_changed {
    uint64_t changed, unchanged, missing;
    uint64_t storing; /* of the unchanged: jobs that have ended, and whose files go to stores */
    uint64_t refused; /* of the unchanged: jobs that cannot be edited so ... */
    char reason[300]; /* ... and why the first cannot */
};

/* Changes jobs, however many there are: the customer is asked again for the rest until there is none. When something goes wrong, it is reported how
 * many had changed before. */
int jobs_control(struct connection *customer, const struct jobs_order *order, struct jobs_changed *ret);

/* The ad that such words make; the caller unrefs it. NULL: one does not parse, which has been reported. */
struct tree *jobs_settings(struct symbols *symbols, char **words, int count);

/* ---- which jobs a command means: numbers, or an option ---- */
struct jobs_which {
    struct connection_options pool;
    const char *constraint, *user, *why;
    bool all, json;
};

#define JOBS_WHICH_USAGE "[OPTIONS] ID...\n[OPTIONS] --constraint EXPR\n[OPTIONS] --user NAME\n[OPTIONS] --all"

/* Rows of such a command's options. */
#define JOBS_WHICH_ROWS(S)                                                                                 \
    {'c', "constraint", "EXPR", "all jobs for which it is true", option_text, offsetof(S, constraint)},    \
        {'u', "user", "NAME", "all jobs of that user", option_text, offsetof(S, user)},                    \
        {'a', "all", NULL, "all jobs", option_flag, offsetof(S, all)},                                     \
        {0, "json", NULL, "one JSON object: changed, unchanged, missing", option_flag, offsetof(S, json)}, \
        CUSTOMER_OPTION_ROWS(S)

/* Opens the customer, changes the jobs and prints "17 jobs DONE". */
int jobs_change(const struct jobs_which *which, struct jobs_order *order, const char *command, const char *done,
                int word_count, char **words);

#endif
