/* executor.h: where jobs run. An interface: exec/ implements it for the machine it runs on, live/ uses it.
 *
 *     launch -> EXECUTOR_RUNS -> EXECUTOR_ENDED            by itself, at a limit, or because its time was up
 *                  `-- stop, or the deadline -> EXECUTOR_GONE
 *
 * A claim has at most one job at a time. The launcher that carries a job out outlives the program that ordered it: after a restart `find`
 * tells of all jobs that were begun before. The launcher ends a job by itself at the deadline, which only `deadline` moves. When a job's
 * end is told, nothing of it is left: no process, and nothing outside its folder. */
#ifndef BERTH_POOL_PROTOCOL_EXECUTOR_H
#define BERTH_POOL_PROTOCOL_EXECUTOR_H

#include "lang/base/err.h"
#include "pool/protocol/fields.h"
#include "pool/protocol/samples.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EXECUTOR_WORDS_MAX 255

/* 0: not limited. */
struct executor_limits {
    double cores;
    int64_t memory, disk; /* bytes */
    int64_t processes;
};

/* A folder of the machine that jobs may look into: its place to a job, and where it lies. */
struct executor_folder {
    const char *path, *real;
    bool
        writable; /* the job may also write there, as far as its user may; only for one that runs as a user of the machine */
};

/* Whom a job runs as: a user of the machine, as its directory has him when the job begins. A name that is not there, is none of an ordinary person or
 * is not in the group is refused. */
struct executor_account {
    const char *name;  /* the account's */
    const char *group; /* the Unix group that its owner has opened the machine to */
    uint32_t umask;    /* of the job */
    const char *streams
        [3]; /* input, output and errors that are files in the folder it begins in, opened as that user; NULL: as the order says */
};

/* What a job sees besides its folder. */
struct executor_view {
    const char *root;  /* absolute: the folder that is `/` to the job, read-only; NULL: the machine's own programs */
    const char *begin; /* where the job begins, in there; NULL: in its own folder */
    const struct executor_folder *folders; /* read-only, but for those that are writable */
    uint32_t folder_count;
};

/* All pointers are lent for the call. Times are in microseconds of the clock that never jumps (CLOCK_BOOTTIME). */
struct executor_order {
    uint64_t claim, number, job;
    const char *folder; /* absolute; the job begins there, finds its inputs there and leaves its outputs there */
    const char *const *arguments;   /* ends with NULL; the first is the program: looked for in the folder if it has a
                                       slash, else in the sandbox's PATH */
    const char *const *environment; /* "NAME=value", all that the job gets; ends with NULL */
    const char *input, *output, *error; /* names in the folder; NULL: /dev/null. Output and error are made anew */
    int64_t deadline;                   /* then the job is killed, without a warning */
    int64_t span;                       /* how long the job may run from its start; INT64_MAX: no limit */
    int warning;                        /* the signal of a warning: SIGTERM for most */
    bool network;                       /* the job may use the machine's network; else it has only its own loopback */
    /* 1: its first process is a shell that runs one command after another, and signals are for the one that runs. The flag stands where the orders
     * of older programs had nothing, so that they can be read. */
    unsigned char staged;
    unsigned char secrets; /* 1: the job has secrets, which do not stand here: they come beside the order, in memory */
    unsigned char viewed;  /* set by the executor: the view is kept beside the order */
    unsigned char gpus;    /* 1: the job has GPUs, those that the claim was given by `give` */
    unsigned char owned;   /* set by the executor: 1: the account is kept beside the order */
    unsigned char
        together; /* 1: one of the processes of a parallel job, which call each other by the addresses of their machines */
    unsigned char
        netted; /* set by the executor: 1: `network` is one of the job's own, which leads out (exec/jobnet.h) */
    struct executor_limits limits;
    const struct executor_view *view;       /* NULL: nothing more. The records of older programs end before it */
    const struct executor_account *account; /* NULL: a user of the claim's own, or ours */
};

/* What a job really used. */
struct executor_usage {
    int64_t wall, cpu;    /* microseconds; cpu: user and system, of all processes of the job */
    int64_t memory, disk; /* bytes, at the most */
};

enum executor_news_kind {
    EXECUTOR_RUNS,  /* after `launch`, or found by `find`: deadline and usage so far */
    EXECUTOR_ENDED, /* reason: EXITED (status: the code, or minus the signal), TIME, MEMORY, DISK, SETUP (the job itself cannot be run) or FAULT
                       (the machine cannot run it now: no room, no sandbox); with SETUP and FAULT, `words` say what failed */
    EXECUTOR_GONE,  /* after `stop` or the deadline, or its launcher died: nothing of it is left. usage, if known */
};

struct executor_news {
    enum executor_news_kind kind;
    uint64_t claim, number; /* number 0, with GONE: there was no job */
    enum reason reason;
    int64_t status, deadline;
    struct executor_usage usage;
    char words[EXECUTOR_WORDS_MAX + 1];
};

/* Called from the loop, never from inside a call, except `find`. */
typedef void executor_told_fn(void *user, const struct executor_news *news);

struct executor;

struct executor_kind {
    const char *name;
    /* After a start: tells of every job that was begun before and not cleared, before it returns. */
    int (*find)(struct executor *executor, struct err *err);
    /* 0: news of the job will follow. -1: nothing was begun. */
    int (*launch)(struct executor *executor, const struct executor_order *order, struct err *err);
    /* The same for a job with secrets: a bundle (sys/secret_bundle.h) in a memory file, whose descriptor is lent. The job finds them as files in memory
     * that nobody else can read. */
    int (*launch_secret)(struct executor *executor, const struct executor_order *order, int secrets, struct err *err);
    bool (*takes_secrets)(const struct executor *executor); /* can it do that here? */
    /* Can jobs have an image as their root here? `ret_uid`: the user who is to unpack it, nobody else's; 0: ours. */
    bool (*takes_images)(const struct executor *executor, uint32_t *ret_uid);
    /* Can jobs run as users of the machine here? If not, and `ret_why` is not NULL, it gets the reason. NULL: never. */
    bool (*takes_accounts)(const struct executor *executor, const char **ret_why);
    /* Gives a claim GPUs of the machine by their ids, for its jobs from now on; none: it has none any more. NULL: this executor gives none. -1: they
     * cannot be used now. */
    int (*give)(struct executor *executor, uint64_t claim, const char *const *gpus, size_t count, struct err *err);
    void (*deadline)(struct executor *executor, uint64_t claim, int64_t at);
    /* Warns the job, and kills it after `grace` microseconds; EXECUTOR_GONE follows in every case. */
    void (*stop)(struct executor *executor, uint64_t claim, int64_t grace);
    void (*suspend)(struct executor *executor, uint64_t claim, bool suspended);
    /* The same for the job's own user: it goes on when neither wants it to stand still. False: it cannot be done with the job that runs. NULL: never. */
    bool (*rest)(struct executor *executor, uint64_t claim, bool rests);
    void (*signal)(struct executor *executor, uint64_t claim, int number); /* to the job's first process */
    /* Hands over one end of a socket by which one further process is begun in the sandbox of the job that runs (sys/shell_socket.h); it is taken in every
     * case. Or NULL: that cannot be done here. -1: nobody is there to take it. */
    int (*shell)(struct executor *executor, uint64_t claim, int fd_take, struct err *err);
    /* What a running job has used so far; false: not known. */
    bool (*usage)(struct executor *executor, uint64_t claim, struct executor_usage *ret);
    /* What the claim's job of that number used over its life, so far or until its end, and how many bytes it moved (-1: not known). False: nothing is
     * known. NULL: this executor does not look. */
    bool (*samples)(struct executor *executor, uint64_t claim, uint64_t number, struct samples *ret, int64_t *ret_read,
                    int64_t *ret_written);
    /* The claim is over and its job has ended: gives back what the executor kept beside the folder. */
    void (*clear)(struct executor *executor, uint64_t claim);
    /* How jobs are confined, for people and the machine's ad: "bubblewrap, seccomp, landlock, cgroup v1 (cpu memory pids)". Lent. */
    const char *(*describe)(const struct executor *executor);
    void (*free)(struct executor *executor); /* jobs go on; takes NULL */
};

struct executor {
    const struct executor_kind *kind; /* the implementation's own fields follow */
};

#ifdef __cplusplus
}
#endif
#endif
