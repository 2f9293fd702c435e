/* record.h: what is kept of a claim in a folder of ours, and what agent and launcher say to each other about it.
 *
 *     STATE/CLAIM/order    the last job that was ordered            written by the agent, before it is begun
 *     STATE/CLAIM/cores    the processors that are the claim's        written by the agent before the order; not there: none are fixed
 *     STATE/CLAIM/view     what that job sees besides its folder       written by the agent before the order, if there is something
 *     STATE/CLAIM/gpus     what goes with its GPUs into a sandbox       written by the agent before the order; not there: it has none (gpu_give.h)
 *     STATE/CLAIM/account  whom that job runs as                        written by the agent before the order, if it is a user of the machine (account.h)
 *     STATE/CLAIM/status   the end of the last job that ended       written by the launcher, durable before it is told
 *     STATE/CLAIM/samples  what the last job used over its life     written by the launcher every ten seconds; not there: it was short
 *     STATE/CLAIM/init     the first process of the sandbox         written by the launcher
 *     STATE/CLAIM/lock     held by the launcher as long as it lives
 *     STATE/CLAIM/socket   where it listens
 *     STATE/CLAIM/log      what it has to say for itself
 *
 * Each is written in its place, with a sum: one that was cut short counts as not there.
 * An order whose number is not the status's has been begun and has no end yet. */
#ifndef BERTH_EXEC_RECORD_H
#define BERTH_EXEC_RECORD_H

#include "exec/cgroup.h"
#include "exec/cores.h"
#include "exec/view.h"
#include "lang/base/buf.h"
#include "pool/protocol/executor.h"
#include "pool/protocol/samples.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RECORD_MAGIC 0x42455232u /* changes when a structure here does: what an older program left is not read */
#define ORDER_WORDS_MAX 4000     /* arguments and variables */
#define ORDER_BYTES_MAX 1000000

struct secret_files;
struct unix_account;

/* How a claim's jobs are held: the same for all of them. */
struct holding {
    uint32_t uid;     /* jobs run as this one; 0: as we do */
    bool unprotected; /* without a sandbox */
    struct cgroups cgroups;
};

/* An order with memory of its own. */
struct order {
    struct executor_order is;
    struct holding how;
    struct cores_share cores; /* as the folder it was read from has it; amount 0: none are fixed */
    char *gpus;               /* words of what goes with its GPUs into the sandbox, gpus_len bytes; NULL: it has none */
    size_t gpus_len;
    struct secret_files *secrets; /* of the job, as long as it is not begun; or NULL. No record has them */
    char *block;
    struct view *view;             /* what order.is.view points to; or NULL */
    struct executor_account *wish; /* what order.is.account points to; or NULL */
    struct unix_account *account;  /* whom the job runs as, once the launcher knows; NULL: `how` says it */
    uint32_t user;                 /* the claim's own, whoever the job runs as; 0: ours */
};

struct order *order_copy(const struct executor_order *order, const struct holding *how, struct err *err);
void order_free(struct order *order);
int order_write(int folder, const struct order *order, struct err *err);
struct order *order_read(
    int folder,
    struct err *err); /* one that is `viewed` and has no view, or `owned` and has no account, is not to be begun */

/* Writes and reads a file of the claim's, in its place and with its sum. The bytes that are read end with a NUL; NULL: it is not there, or not whole. */
int record_write(int folder, const char *name, const void *bytes, size_t len, bool durable, struct err *err);
char *record_read(int folder, const char *name, size_t *ret_len);

/* Writes the claim's processors; amount 0: none from now on. False: they could not be written, and there are none from now on. */
bool share_write(int folder, const struct cores_share *share);

/* Writes what goes with the claim's GPUs into a sandbox; nothing: it has none from now on. */
int gpus_record(int folder, const struct buf *words, struct err *err);

int status_write(int folder, const struct executor_news *news, struct err *err);
bool status_read(int folder, struct executor_news *ret);

/* What a job used over its life. */
struct job_samples {
    uint64_t number;       /* of the job */
    int64_t read, written; /* bytes, of devices, when it is over; -1: not known */
    struct samples samples;
};
void job_samples_write(int folder, const struct job_samples *samples); /* where that fails they are not told */
bool job_samples_read(int folder, uint64_t number, struct job_samples *ret);

/* Writes which is the first process of a sandbox, so that it cannot be mistaken for another of the same number; 0: there is none. */
void init_write(int folder, int pid);
/* The first process of the sandbox, if it lives; else 0. */
int init_read(int folder);

/* One message each way is one datagram. */
enum parcel_kind {
    PARCEL_HELLO = 1, /* agent: what is there? -> PARCEL_NEWS, or PARCEL_IDLE */
    PARCEL_LAUNCH,    /* the order is in the folder -> PARCEL_NEWS. With a descriptor: the job's secrets */
    PARCEL_DEADLINE,  /* value */
    PARCEL_STOP,      /* value: the grace -> PARCEL_NEWS */
    PARCEL_SUSPEND,   /* value: 0 or 1 */
    PARCEL_SIGNAL,    /* value */
    PARCEL_LEAVE,     /* the claim is over */
    PARCEL_NEWS,      /* launcher: news */
    PARCEL_USAGE,     /* launcher: news.usage so far */
    PARCEL_IDLE,      /* launcher: no job runs */
    PARCEL_SHELL, /* agent: one further process in the job's sandbox; with a socket, by which all else is said (sys/shell_socket.h) */
    PARCEL_REST, /* value: 0 or 1: the job's user lets it stand still. PARCEL_SUSPEND is the machine's owner's */
};

/* Bits of the value of all that a launcher says: what it can do. Older ones lack some. */
#define PARCEL_TAKES_SECRETS 1  /* it hands a job its secrets */
#define PARCEL_TAKES_VIEWS 2    /* it shows a job the folders of its view, and its root */
#define PARCEL_TAKES_ACCOUNTS 4 /* it runs a job as a user of the machine, and lets it write in folders of its view */
#define PARCEL_TAKES_RESTS 8    /* it lets a job stand still for its user */
#define PARCEL_TAKES_NETS 16    /* it gives a job a network of its own that leads out */

struct parcel {
    uint32_t magic, kind;
    int64_t value;
    struct executor_news news;
};

bool parcel_send(int fd, const struct parcel *parcel);                  /* false: not sent */
bool parcel_send_with(int fd, const struct parcel *parcel, int beside); /* with a descriptor; -1: none */
/* Receives a message. 1: got; 0: nothing is there now; -1: the other side is gone, or speaks another language. */
int parcel_receive(int fd, struct parcel *ret);
int parcel_receive_with(int fd, struct parcel *ret, int *ret_beside); /* and the descriptor that came with it, or -1 */

/* Listen at, or connect to, the socket of a folder, whose path may be longer than an address can be. */
int record_listen(int folder);
int record_connect(int folder); /* -1: nobody listens */

int64_t record_now(void); /* CLOCK_BOOTTIME, microseconds */

#ifdef __cplusplus
}
#endif
#endif
