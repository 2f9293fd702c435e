/* local.h: the executor of the machine at hand: each job in a sandbox of its own, under a launcher that outlives the agent.
 *
 *     agent ---- socket ---- launcher (one a claim) ---- bubblewrap ---- the job
 *
 * The launcher is this program again, as `berth launcher FOLDER`. It holds the deadline, the limits and the job's end, which it writes
 * down before it tells; when it dies, the kernel ends the job with it. */
#ifndef BERTH_EXEC_LOCAL_H
#define BERTH_EXEC_LOCAL_H

#include "pool/protocol/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What jobs have that may use the network. */
enum local_network {
    LOCAL_NETWORK_AUTO,    /* one of their own that leads out, where that can be made; else the machine's */
    LOCAL_NETWORK_OWN,     /* one of their own; a job that cannot have that does not run */
    LOCAL_NETWORK_MACHINE, /* the machine's */
};

struct uv_loop_s; /* uv_loop_t */
struct gpus;

struct local_settings {
    const char *state;       /* an absolute folder of ours alone: a folder a claim is made in it */
    const char *program;     /* what is started as `program launcher FOLDER`; NULL: this one */
    bool unprotected;        /* the owner lets jobs run without a sandbox where none can be made */
    const struct gpus *gpus; /* of this machine (gpus.h), as long as the executor lives; NULL: none are given */
    enum local_network network;
    executor_told_fn *told;
    void *user;
};

/* Makes the executor. NULL and `err` when jobs cannot be held here and `unprotected` is not set: the error says what is missing, and what to do. */
struct executor *local_new(struct uv_loop_s *loop, const struct local_settings *settings, struct err *err);

/* Is each job in a sandbox of its own? */
bool local_is_sandboxed(const struct executor *executor);
/* Tells the executor which GPUs there are, once that is known. */
void local_set_gpus(struct executor *executor, const struct gpus *gpus);
/* Which network a job has that may use one, and a process of a parallel job: "own", "machine" or "none": then such jobs do not run. Where it is not their own, though it might be, it
 * says why where it describes itself. */
void local_networks(struct executor *executor, const char **ret_job, const char **ret_process);
/* Adds words to how it describes itself. */
void local_describe_also(struct executor *executor, const char *words);

/* What `berth launcher FOLDER` does; returns its exit status. */
int launcher_main(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
