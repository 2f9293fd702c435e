/* job_leavings.h: the files that a job leaves, as they are found in its folder: which of them go to the customer, and which cannot. */
#ifndef BERTH_LIVE_PROVIDERD_JOB_LEAVINGS_H
#define BERTH_LIVE_PROVIDERD_JOB_LEAVINGS_H

#include "lang/base/err.h"
#include "lang/base/textmap.h"
#include "live/data/missing_files.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEAVING_LOOKED 100000 /* files of a folder that are looked at */

struct leaving_file {
    char *name;
    const char *kind; /* as Kind has it */
    const char *from; /* what it is called in the job's folder */
};

struct job_leavings {
    struct leaving_file *files;
    uint32_t count, room;
    struct textmap known;   /* "KIND/NAME" */
    uint32_t kinds[3];      /* how many of each */
    struct missing missing; /* what cannot go */
    struct missing unmade;  /* what the job names and has not made */
};

void leaving_init(struct job_leavings *leaving);
void leaving_done(struct job_leavings *leaving);

/* Lists the files that a job leaves: logs, what Outputs names (of a folder all that lies in it) or else every file at the top, and checkpoint files;
 * of a job that still runs, the checkpoint alone. `row` says what the job names (results_send.c). -1: it cannot be told now, and the list is as it was
 * before. */
int leaving_list(struct job_leavings *leaving, const struct tree *row, int folder, bool passing, struct err *err);

/* How many bytes the listed files have that are there. */
int64_t leaving_bytes(const struct job_leavings *leaving, int folder);

#ifdef __cplusplus
}
#endif
#endif
