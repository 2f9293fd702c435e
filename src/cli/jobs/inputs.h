/* inputs.h: finds the files that a job takes along, hashes them, and uploads them to the customer by their hash.
 *
 *     Inputs = { "data/a.csv", "tables" }; Cmd = "./sim"    ->    Inputs = { [ Name = "data/a.csv"; Hash = "..."; Size = 17; Mode = 420 ], ... }
 *
 * A folder stands for all files in it. A file that lies outside the folder of the ad (/usr/bin/x, ../a) is called by the last part of its name. */
#ifndef BERTH_CLI_JOBS_INPUTS_H
#define BERTH_CLI_JOBS_INPUTS_H

#include "cli/jobs/submission.h"

/* Appends Inputs to the text of a layer for the ad, and Cmd, In, Pre and Post where their files have other names for the job. `*ret_image` is the
 * size of the executable in bytes, or -1. */
int inputs_add(struct job_submission *submission, const struct tree *ad, const char *folder, const char *name,
               struct buf *out, int64_t *ret_image);

/* The same for a job that runs on the submit host (inputs_local.c): its files stay where they are, and are called by their paths from the root. */
int inputs_local(const struct tree *ad, const char *folder, const char *name, struct buf *out);

#endif
