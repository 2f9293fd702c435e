/* away.h: a job's output on its way into the folder that the job was submitted from: under which name, and over what.
 *
 *     the job names it         NAME, over whatever is there
 *     it does not              NAME where nothing is, or over what this job has brought before; else NAME.JOB
 *
 * The job may say where a file goes (OutputTo): to another name beneath that folder, or anywhere else, if that folder is there.
 *
 * The folder is another's, and so are the names: no link is followed beneath it (sys/confined_path.h). */
#ifndef BERTH_LIVE_CUSTOMERD_AWAY_H
#define BERTH_LIVE_CUSTOMERD_AWAY_H

#include "live/customerd/jobfiles.h"
#include "sys/confined_path.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AWAY_NAME_MAX (CONFINED_NAME_MAX + 32)

struct away {
    uint64_t job;
    const char *name;
    enum permit permit;
    bool before, before_beside; /* this job has brought a file of that name before (as NAME.JOB) */
    int64_t size;
    const char *hash;
};

#define AWAY_FOLDER_MAX 4096

/* The folder where a file of that name goes, and its name there; `to` is where the job says, or NULL. -1 and errno. */
int away_place(const char *iwd, const char *name, const char *to, char ret_folder[AWAY_FOLDER_MAX],
               char ret_name[CONFINED_NAME_MAX + 1]);

/* The file's name there; false when it is too long. */
bool away_name(uint64_t job, const char *name, bool beside, char ret[AWAY_NAME_MAX]);

/* Moves the file `part` beneath `folder` to its place beneath `iwd`. 0, and whether it lies there as NAME.JOB; -1 and errno. */
int away_put(int folder, const char *part, int iwd, const struct away *away, bool *ret_beside);

#ifdef __cplusplus
}
#endif
#endif
