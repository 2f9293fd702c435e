/* inputs.h: the files that a job takes along: found, hashed, and uploaded to the customer by their hash.
 *
 *     Inputs = { "data/a.csv", "tables" }; Cmd = "./sim"    ->    Inputs = { [ Name = "data/a.csv"; Hash = "..."; Size = 17; Mode = 420 ], ... }
 *
 * A folder stands for all files in it. What lies outside the folder it is named from (/usr/bin/x, ../a) is called by the last part of its name. */
#ifndef BERTH_CLI_JOBS_INPUTS_H
#define BERTH_CLI_JOBS_INPUTS_H

#include "cli/jobs/submission.h"

/* Appends the attributes Inputs (and Cmd and In, where they are called otherwise there) of the ad to the text of a layer; `*ret_image` are
 * the bytes of the executable, or -1. */
int inputs_add(struct job_submission *submission, const struct tree *ad, const char *folder, const char *name,
               struct buf *out, int64_t *ret_image);

#endif
