/* job_files.h: reads what the customer has of a job's files and logs, piece by piece, and goes on as they grow. */
#ifndef BERTH_CLI_JOBS_JOB_FILES_H
#define BERTH_CLI_JOBS_JOB_FILES_H

#include "cli/ask/connection.h"

struct job_stream {
    struct connection *customer;
    uint64_t id;
    const char *path; /* behind /v1/jobs/ID: "/log", "/files/log/stdout" */
    bool follow;      /* go on until the job is over, and all has come */
    int fd;           /* where the bytes are written */
};

/* Copies the file to `fd`. STATUS_NO: there is none, which is reported when `missing` names it. */
int job_file_copy(const struct job_stream *file, const char *missing);

#endif
