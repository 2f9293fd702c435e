/* local_jobs.h: jobs that run on the customer's own host, with the rights of the user who submitted them (Universe = "local").
 *
 *     the job waits -> its turn has come -> the role records that it begins -> that is durable -> a runner of that user (user_runner.h)
 *         -> the role records its end
 *
 * Only so many run at once, of a user and of all, and none of a user who is disabled. A job that is held or removed is told to end. When the customer goes, its jobs are ended at
 * once, and the next customer begins them anew; so they are when the next one may have the queue already. */
#ifndef BERTH_LIVE_CUSTOMERD_LOCAL_JOBS_H
#define BERTH_LIVE_CUSTOMERD_LOCAL_JOBS_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "pool/customer/customer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;

/* How a run has ended. */
struct local_end {
    enum job_news news; /* EXITED; GONE: it is to begin again */
    enum reason reason;
    int64_t status;
    const char *words; /* why it could not be set up; or NULL */
};

struct local_jobs_ports {
    void *user;
    const char *program; /* that is called as user-runner; NULL: no job can be run */
    bool (*job)(void *user, uint64_t job, struct job_view *ret);
    void (*order)(void *user, const struct job_view *view, struct buf *order); /* for its runner */
    bool (*may_act)(void *user); /* does the queue belong to this customer for certain? Else no job begins */
    bool (*deposed)(void *user); /* may another one have it by now? Then what runs here ends */
    /* The job's turn has come: later, when that is durable, local_jobs_changed follows. */
    void (*begins)(void *user, uint64_t job);
    void (*ended)(void *user, uint64_t job, uint64_t begun, const struct local_end *end);
    uint32_t (*most)(void *user, bool of_one); /* so many run at once, of all or of one user */
    /* Is the owner shut out of the pool? Then no job of its begins; `ret_now`: those that run end, and wait. */
    bool (*shut)(void *user, const char *owner, bool *ret_now);
};

struct local_jobs *local_jobs_new(struct uv_loop_s *loop, const struct local_jobs_ports *ports);
void local_jobs_free(struct local_jobs *all); /* ends what runs; the loop has to run on for a moment */

/* The job, which is a local one, is in another state, or was found when the customer began. */
void local_jobs_changed(struct local_jobs *all, const struct job_view *view);

/* ---- local_order.c ---- */

/* Are these attributes those of a job that can be run here? -1 and what is wrong. */
int local_job_check(const struct tree *ad, struct err *err);

/* Appends what a runner is told of a job, without ORDER_END; its limits are `memory` bytes and `seconds`, 0: none, or less if the job says less. */
void local_order_print(const struct job_view *view, uint64_t memory, uint64_t seconds, const char *customer_socket,
                       struct buf *order);
uint32_t local_job_user(const struct tree *ad); /* its user's id; USER_RUNNER_SAME: the customer's own */
bool local_job_is_flow(
    const struct tree *ad); /* it carries out a workflow, and waits for other jobs most of the time */

#ifdef __cplusplus
}
#endif
#endif
