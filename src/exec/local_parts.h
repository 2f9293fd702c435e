/* local_parts.h: what the files of the local executor share. Private. */
#ifndef BERTH_EXEC_LOCAL_PARTS_H
#define BERTH_EXEC_LOCAL_PARTS_H

#include "exec/local.h"
#include "exec/record.h"
#include "exec/support.h"

#include <uv.h>

#define CLAIM_NAME_MAX 17 /* 16 digits */

/* A watched socket, which outlives its claim until the loop has let go of it. */
struct wire {
    uv_poll_t poll;
    struct local *local;
    uint64_t claim;
    int fd;
};

struct claim {
    struct claim *next;
    uint64_t id, number; /* of the last order; 0: none */
    struct holding how;
    struct cores_share cores; /* its processors; amount 0: none are fixed */
    int folder, lock;         /* lock: to see whether a launcher holds it */
    struct wire *wire;        /* NULL: no launcher is connected */
    int64_t takes;  /* PARCEL_TAKES_ bits of its launcher: one of an older program would run a job without the rest */
    bool runs;      /* its end has not been told */
    bool told_runs; /* EXECUTOR_RUNS has */
    bool heard;     /* the launcher has said something since it was started */
    bool stopping;  /* EXECUTOR_GONE is owed */
    bool seeking;   /* its launcher is to be found again, or cleaned up after */
    bool deadline_owed; /* it was moved while the launcher was being sought */
    int64_t deadline;
    struct executor_usage usage;
};

struct exec_pending {
    struct exec_pending *next;
    struct executor_news news;
};

struct local {
    struct executor executor;
    uv_loop_t *loop;
    char *state_path, *program;
    int state;
    uint32_t tag;
    bool freed;
    executor_told_fn *told;
    void *user;
    struct support support;
    enum local_network network;
    const struct gpus *gpus; /* borrowed; or NULL */
    struct cores cores;      /* to be given to claims; none where the kernel holds shares of them */
    struct buf description;
    uv_timer_t timer;
    uint32_t handles; /* of the loop, that are open */
    int nursery;      /* a socket to the process that makes launchers; -1: there is none */
    struct claim *claims;
    struct exec_pending *pending, **pending_last; /* news that wait for the loop */
};

struct claim *claim_get(const struct local *local, uint64_t id);
/* Opens a claim: its folder is opened or made. NULL and `err`. */
struct claim *claim_open(struct local *local, uint64_t id, struct err *err);
/* Takes a claim off the list and frees it; `remove`: with its folder. */
void claim_close(struct local *local, struct claim *claim, bool remove);

/* Chooses processors for a job of that many: those that the claim has, if they are as many, or others that no claim has; or none. */
void claim_choose_cores(struct local *local, struct claim *claim, double amount);

int claim_start_launcher(struct local *local, struct claim *claim, struct err *err);
/* Watches a socket to the claim's launcher. */
void claim_attach(struct local *local, struct claim *claim, int fd);
void claim_detach(struct claim *claim);
bool claim_send(struct claim *claim, enum parcel_kind kind, int64_t value);
bool claim_send_launch(struct claim *claim, int secrets); /* a descriptor; -1: the job has none */
/* Reads what the claim's launcher says, and tells it. The claim may be gone afterwards. */
void claim_hear(struct local *local, uint64_t id);
/* Tries once to find the claim's launcher, or to end what it left. The claim may be gone afterwards. */
void claim_seek(struct local *local, uint64_t id);
void claim_seek_soon(struct local *local, struct claim *claim);

void local_handle_closed(struct local *local);

#endif
