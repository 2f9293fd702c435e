/* world.h: the simulated world: hosts that run roles, the time, and everything that happens between the hosts.
 *
 *     agenda -> one event for one host -> its role's step -> effects -> network, disk, launchers -> agenda
 *
 * The world is single-threaded, seeded, and runs in virtual time: the same seed gives the same events, byte for byte. Nothing here knows what the
 * roles decide. The world delays, loses, repeats and breaks, as the *rates* and the planner (faults.h) say, and tells a *watch* what it did.
 *
 *     host    role (NULL while it is down) | clock, boot, chance, secrets | disk | processes
 *     letter  a message on its way; a *send* is owed one answer; an *owed* is a reply that a host may still give
 *     disk    rows that are durable | rows that are being written | effects that wait for them
 *     process a job that was launched; it outlives its role's crash, not a reboot
 *
 * Workload: small pools under faults, a million events a second; and *lean* worlds of 100,000 hosts and more, in which an idle host takes some
 * kilobytes. All tables are slabs that are used again. */
#ifndef BERTH_SIM_WORLD_H
#define BERTH_SIM_WORLD_H

#include "lang/base/array.h"
#include "pool/protocol/role.h"
#include "sim/agenda.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WALL_START INT64_C(1772366400) /* noon of 2026-03-01 */
#define HOSTS_MAX 32 /* of a world with a judge, a trace or a planner of faults; others may have more */

/* Entries of one size that are given out by index and taken back. */
struct slab {
    char *items;
    size_t size;
    uint32_t count, room, free; /* `free` heads a list through the entries' first words: an index plus 1, or 0 */
    uint32_t first;             /* the room at first; 0: 64 */
};

uint32_t slab_take(struct slab *slab); /* cleared */
void slab_give(struct slab *slab, uint32_t index);
static inline void *slab_at(const struct slab *slab, uint32_t index)
{
    return slab->items + (size_t)index * slab->size;
}

/* How bad the world is at the moment. Chances are out of 65536. */
struct rates {
    uint32_t loss, twice, late; /* of messages; a late one comes at about its deadline, or after it */
    uint32_t stray; /* of activations: an old abort follows it; of claims that end: their first messages come again */
    uint32_t slow;  /* of a group of rows to be written: takes as long as a deadline */
    uint32_t hang, fail;              /* of jobs: never ends by itself; ends with a status that is not 0 */
    int64_t delay_least, delay_most;  /* of a message */
    int64_t write_least, write_most;  /* of a group of rows */
    int64_t job_least, job_most;      /* how long jobs run */
    int64_t kill_most, deadline_most; /* how long killing takes: when told to, and at a deadline */
};

/* A durable row. */
struct sim_row {
    uint32_t next; /* in its bucket, or in the list of free ones */
    uint32_t used;
    struct record record;
};

struct disk {
    struct slab rows;
    uint32_t *buckets;
    uint32_t bucket_count, row_count;
    /* rows that are not durable yet, in order; [0, group) is being written */
    struct record *waiting;
    uint32_t waiting_first, waiting_count, waiting_room, group;
    uint64_t durable; /* the number of the last persist that is durable */
    /* effects that wait for persists, in the order of those */
    struct effect *held;
    uint32_t held_first, held_count, held_room;
    bool writing;
    uint32_t order; /* of the agenda's entry that ends the writing */
};

struct host {
    const struct role_kind *kind;
    const void *settings;
    void *role;           /* NULL while the host is down */
    const char *identity; /* of the user that it acts for */
    bool any;             /* it may act for any user */
    bool full;            /* its disk is full */
    bool unfit;           /* it cannot set up jobs */
    const char *name;     /* for the trace */
    uint32_t place;
    uint32_t life; /* raised at every stop */
    uint64_t boot;
    int64_t true_base, now_base; /* now = now_base + (true - true_base) * rate / 1e6 */
    int64_t rate;                /* millionths of true time */
    int64_t wall;                /* added to true time */
    struct rng chance, hidden;
    struct secrets secrets;
    int64_t wake; /* on its own clock; INT64_MAX: never */
    uint32_t wake_order;
    uint64_t changed; /* the job that its role told of last; at its next wake it is told to forget that; 0: none */
    struct effects effects;
    struct disk disk;
    uint32_t processes;          /* the first of the processes that its launchers know */
    struct candidate *candidate; /* where two processes share a seat (seats.h); or NULL */
};

enum process_state {
    PROCESS_RUNS,
    PROCESS_STOPS,  /* was told to stop */
    PROCESS_EXITED, /* by itself, or its time was up; the result is kept until it is recorded */
    PROCESS_KILLED, /* at its deadline, or when told to; the launcher still knows it */
    PROCESS_FORGOTTEN,
};

struct process {
    uint32_t next; /* of the same host */
    uint32_t host;
    enum process_state state;
    uint32_t order; /* of the agenda's entry for its next change */
    uint64_t claim, number, job;
    uint64_t told_job; /* the JobId in the ad that is launched; 0: none */
    agent superior;    /* whose job it is; the watch sets this */
    uint64_t gang;
    int64_t began, ended; /* true time; 0: not yet */
    int64_t natural;      /* true time of its own end; INT64_MAX when it hangs */
    int64_t limit;        /* true time when its time is up */
    int64_t deadline;     /* true time */
    int64_t told;         /* the deadline, on the host's clock */
    int64_t kill;         /* true time at which a stop ends it; 0: not told to stop */
    enum reason reason;
    int64_t status, used;
    uint64_t boot;
    bool unfit;     /* its machine could not set it up */
    int64_t orphan; /* for the judge: since when no record names its claim */
};

static inline bool process_lives(const struct process *process)
{
    return process->state <= PROCESS_STOPS;
}

struct sim_letter {
    uint32_t link;
    uint32_t send, stamp; /* the send that it belongs to */
    uint32_t from, to;
    uint64_t channel;
    struct message message;
};

struct send {
    uint32_t link;  /* in the list of free entries */
    uint32_t stamp; /* which use of this entry */
    uint32_t open;
    uint32_t host, life;
    uint32_t tag;
    uint32_t order; /* of the agenda's entry for its deadline */
    uint64_t token;
};

struct owed {
    uint32_t link, stamp, open;
    uint32_t send, send_stamp;
    uint32_t host, life; /* the host that owes the answer */
    uint32_t to;
    uint32_t kind; /* enum message_kind of the message that is answered */
    uint64_t channel;
};

enum item {
    ITEM_LETTER,
    ITEM_REPLY,
    ITEM_TIMEOUT,
    ITEM_WAKE,
    ITEM_DISK,
    ITEM_PROCESS,
    ITEM_START,
    ITEM_NEWS, /* JOB_GONE, when there was nothing to stop */
    ITEM_PLAN, /* for the planner */
    ITEM_SEAT,
    ITEM_ERRAND,
    ITEM_BASE, /* of seats.h */
};

struct news {
    uint32_t host, life;
    uint64_t claim;
};

enum fault {
    FAULT_LOSS,
    FAULT_TWICE,
    FAULT_LATE,
    FAULT_CUT,
    FAULT_DOWN, /* a message to a host that was down */
    FAULT_CRASH,
    FAULT_REBOOT,
    FAULT_TORN,
    FAULT_FULL,
    FAULT_SLOW_DISK,
    FAULT_CLOCK,
    FAULT_WALL,
    FAULT_FILES, /* descriptors */
    FAULT_OWNER,
    FAULT_HANG,
    FAULT_FAILED, /* a job that ends badly */
    FAULT_DRAIN,
    FAULT_USER,
    FAULT_LIE, /* a message from a user who is not who it says */
    FAULT_STRAY,
    FAULT_UNFIT,                /* a job that its machine could not set up */
    FAULT_SEATS,                /* those from here on are only in worlds with seats */
    FAULT_ASLEEP = FAULT_SEATS, /* a process that shares a seat was stopped for a while */
    FAULT_NO_BASE,              /* ... did not reach the database */
    FAULT_STALL,                /* the database did nothing for a while */
    FAULT_FAILOVER,
    FAULT_TAKEN, /* a seat, by the other process */
    FAULT_COUNT
};

extern const char *const fault_words[FAULT_COUNT];

/* An observer: the judge, the trace. Each function may be NULL. All arguments are borrowed. */
struct world;
struct watch {
    void *user;
    void (*stepped)(void *user, struct host *host, const struct role_env *env, const struct event *event);
    void (*sent)(void *user, const struct host *host, const struct effect *effect);    /* a send or reply leaves */
    void (*durable)(void *user, const struct host *host, const struct record *record); /* a row is durable now */
    void (*launched)(void *user, const struct host *host, struct process *process);
    void (*ended)(void *user, const struct host *host, const struct process *process); /* the process has died */
    void (*went)(void *user, const struct host *host, const char *what);               /* crash, start, ... */
    void (*steps)(void *user, const struct host *host, const struct event *event);     /* the host is about to step */
    void (*stale)(void *user, const struct host *host,
                  const char *what); /* a process whose seat is another's does that */
};

/* A world's own behaviour in the place of its rates. Each function may be NULL. */
struct ways {
    void *user;
    int64_t (*delay)(void *user, const struct host *from, const struct host *to); /* of a message */
    /* How long the job runs that this effect launches. */
    int64_t (*lasts)(void *user, const struct host *host, const struct effect *effect);
    void (*changed)(void *user, struct host *host, uint64_t job); /* else the host is told to forget it when it wakes */
    /* Called for a message that is about to leave, which it may change; false: the message does not leave. */
    bool (*tells)(void *user, const struct host *from, struct message *message);
};

#define WATCHES_MAX 4

struct world {
    int64_t time; /* true, microseconds */
    uint64_t events, hash, faults[FAULT_COUNT];
    struct agenda agenda;
    struct rng rng;
    struct rates rates;
    const struct spans *spans;
    struct symbols *symbols, *own; /* the same, or `own` is NULL */
    struct arena scratch;
    struct host *hosts;
    uint32_t host_count, host_room;
    int64_t cuts[HOSTS_MAX][HOSTS_MAX]; /* from, to: until when no message passes */
    struct slab letters, sends, owed, processes, news;
    uint32_t owed_open, owed_sweep; /* entries in use; at how many to look for entries that nobody waits for */
    uint32_t stamps;
    struct message old_verify, old_commit; /* of one claim, to come once more when that is over */
    struct watch watches[WATCHES_MAX];
    uint32_t watch_count;
    void (*plan)(void *user, uint32_t which);
    void *plan_user;
    const char *broken; /* an error that the world itself found (a wire form, a role's state), or NULL */
    bool check;         /* check now and then whether the roles' states are in order */
    /* The world is large: memory that a host does not need at the moment is given back, forgotten processes are freed here too, and no wire forms are
     * made. The events are the same. */
    bool lean;
    struct ways ways;
    struct effects spare; /* lent to the host that steps */
    struct seats *seats;  /* or NULL */
};

/* The world keeps `spans`. */
struct world *world_new(uint64_t seed, const struct spans *spans);
struct world *world_new_of(uint64_t seed, const struct spans *spans, struct symbols *symbols); /* symbols outlive it */
void world_free(struct world *world);

/* Adds a host that is down; its agent is the place plus 1. `settings`, `identity` and `name` are kept. Past HOSTS_MAX hosts, and past those that were
 * reserved, all hosts move in memory. */
uint32_t world_add(struct world *world, const struct role_kind *kind, const void *settings, const char *identity,
                   bool any, const char *name);
void world_reserve(struct world *world, uint32_t hosts);
void world_watch(struct world *world, const struct watch *watch);

/* Makes the next event happen; false when there is none, or when the next one is after `until` (then the time becomes `until`). */
bool world_next(struct world *world, int64_t until);

void world_plan(struct world *world, int64_t at, uint32_t which); /* calls plan() at that time */

static inline uint32_t world_roll(struct world *world, uint32_t chance) /* of 65536 */
{
    return chance && (rng_next(&world->rng) & 0xffff) < chance;
}
int64_t world_between(struct world *world, int64_t least, int64_t most);

static inline agent host_agent(const struct host *host)
{
    return host->place + 1;
}
static inline struct host *world_host(struct world *world, agent who) /* or NULL */
{
    return who - 1 < world->host_count ? &world->hosts[who - 1] : NULL;
}

void host_start(struct world *world, struct host *host); /* one that shares a seat stands by at first */
void host_start_at(struct world *world, const struct host *host, int64_t at);
/* Ends the role. Rows that were not durable are lost, except some that became durable without the role hearing of it. */
void host_crash(struct world *world, struct host *host, bool reboot, int64_t until);
void host_event(struct world *world, struct host *host, const struct event *event); /* to its role, if it is up */
void host_rate(struct world *world, struct host *host, int64_t rate);
int64_t host_now(const struct world *world, const struct host *host);
int64_t host_true(const struct world *world, const struct host *host, int64_t now); /* when its clock shows `now` */

/* These are for the files of the world. */
#define ITEM_SHIFT 24
static inline uint32_t world_push(struct world *world, int64_t at, enum item item, uint32_t index)
{
    return agenda_push(&world->agenda, at, (uint32_t)item << ITEM_SHIFT | index);
}
void world_tell_durable(struct world *world, struct host *host, const struct record *record);
void world_tell_went(struct world *world, const struct host *host, const char *what);
void world_tell_stale(struct world *world, const struct host *host, const char *what);
void host_live(struct world *world, struct host *host);       /* makes its role, and loads the rows */
void host_wakes_anew(struct world *world, struct host *host); /* it has another place */
void effect_carry(struct world *world, struct host *host, struct effect *effect); /* at once, which empties it */

enum message_kind net_asked(const struct world *world, uint64_t token); /* the kind of message that a token answers */
void net_init(struct world *world);
void net_send(struct world *world, struct host *host, struct effect *effect);
void net_reply(struct world *world, struct host *host, struct effect *effect);
void net_letter(struct world *world, uint32_t index);
void net_answer(struct world *world, uint32_t index);
void net_timeout(struct world *world, uint32_t index, uint32_t order);

void disk_init(struct disk *disk);
void disk_done(struct disk *disk);
void disk_take(struct world *world, struct host *host, struct effect *effect); /* a persist */
void disk_hold(struct host *host, struct effect *effect);
void disk_rest(struct world *world, struct disk *disk); /* a lean world takes back spare memory */
void disk_written(struct world *world, struct host *host, uint32_t order);
void disk_crash(struct world *world, struct host *host);
void disk_put_take(struct world *world, struct host *host, struct record *record); /* makes a row durable */
void disk_revert(struct disk *disk, struct record *record); /* takes the record: its row was never written since */
void disk_rows_swap(struct disk *a, struct disk *b);
void disk_committed(struct world *world, struct host *host, uint32_t count); /* so many rows, in a database */
const struct record *disk_find(const struct disk *disk, enum record_kind kind, uint64_t key); /* durable; or NULL */
typedef void disk_row_fn(void *user, const struct record *record);
void disk_each(const struct disk *disk, enum record_kind kind, disk_row_fn *fn, void *user);

void process_launch(struct world *world, struct host *host, const struct effect *effect);
void process_deadline(struct world *world, struct host *host, uint64_t claim, int64_t at);
void process_stop(struct world *world, struct host *host, uint64_t claim, int64_t span);
void process_due(struct world *world, uint32_t index, uint32_t order);
void process_gone(struct world *world, uint32_t index);     /* ITEM_NEWS */
void process_clock(struct world *world, struct host *host); /* its clock runs at another rate now */
void process_reboot(struct world *world, struct host *host);
void process_found(struct world *world, struct host *host); /* tells a starting role of its jobs */
void process_tidy(struct world *world, struct host *host);  /* forgets results that are recorded */

#ifdef __cplusplus
}
#endif
#endif
