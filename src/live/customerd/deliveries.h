/* deliveries.h: outputs of other users' jobs on their way into the folders that they were submitted from.
 *
 *     all files of a try have come -> deliveries_add -> in turn, of each user one job at a time -> a writer of that user (user_writer.h)
 *                                  -> each file recorded -> `delivered`: the try owes nothing more
 *
 * A file that cannot be put there (no such folder, no right) stays here, and the job's log says so. When the disk is full or does not answer, the
 * rest is tried again, less and less often, for a day. What was under way at the end of the customer begins anew at the next start. */
#ifndef BERTH_LIVE_CUSTOMERD_DELIVERIES_H
#define BERTH_LIVE_CUSTOMERD_DELIVERIES_H

#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DELIVERIES_WRITERS 64 /* writers at a time */

struct deliveries;
struct uv_loop_s;

/* A job whose outputs are to be brought; all of it is lent for the call. */
struct delivery_job {
    struct job_place place; /* with the folder as its iwd */
    uint32_t uid;
    const char *owner; /* whose account that was when the job was submitted */
    bool keep;         /* others read these files from us: a copy stays here */
};

struct deliveries_ports {
    void *user;
    uint64_t customer; /* a number that no other customer has */
    struct jobfiles *files;
    const char *program; /* to start writers by; a test may have its own */
    /* The job as it is now. False: there is nothing to bring any more. The folder and the owner are to be freed. */
    bool (*job)(void *user, uint64_t job, struct delivery_job *ret);
    void (*trouble)(void *user, uint64_t job,
                    const char *words);     /* a file stays here, or waits: a line for the job's log */
    void (*over)(void *user, uint64_t job); /* nothing more will be brought */
};

struct deliveries *deliveries_new(struct uv_loop_s *loop, const struct deliveries_ports *ports);
/* Ends all writers. The loop has to run until their handles are closed. */
void deliveries_free(struct deliveries *deliveries);

void deliveries_add(struct deliveries *deliveries, uint64_t job, uint32_t uid);

#ifdef __cplusplus
}
#endif
#endif
