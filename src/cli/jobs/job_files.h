/* job_files.h: what the customer has of a job's files and logs: read piece by piece, and on as they grow. */
#ifndef BERTH_CLI_JOBS_JOB_FILES_H
#define BERTH_CLI_JOBS_JOB_FILES_H

#include "cli/ask/connection.h"

struct job_stream {
    struct connection *customer;
    uint64_t id;
    const char *path; /* behind /v1/jobs/ID: "/log", "/files/log/stdout" */
    bool follow;      /* until the job is over, and all has come */
    int fd;           /* where it is written */
};

/* STATUS_NO: there is none, which is reported when `missing` names it. */
int job_file_copy(const struct job_stream *file, const char *missing);

#endif
