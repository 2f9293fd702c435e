/* providerd_parts.h: what the files of a live provider share; not installed.
 *
 *     providerd.c   life: the agent, the machine's state, what the role wants
 *     tasks.c      jobs under claims, from their files to their end
 *     inquiry.c    who is asked about a job's files, and by what right
 *     staging.c    brings a job its files
 *     input_fetch.c     brings a job the files of the catalogue that it reads
 *     ahead.c      fetches what the claim's next job reads, while this one runs
 *     secret_fetch.c    brings a job its secrets
 *     results_row.c    what is noted of a job that has ended
 *     results_send.c   brings back what it made
 *     file_sync.c   brings to disk what it made for stores
 *     uploads.c  brings to stores what it made for them (uploads_parts.h)
 *     workfolder.c the folders of jobs
 *     task_view.c  what a job sees besides its own
 *     images.c     images that jobs run in
 *     image_from.c what each of them is unpacked from
 *     image_sources.c   the registries that they may come from
 *     policy_told.c  another policy of the owner's: the pool is told
 *     health.c     is the machine fit for jobs?
 *     tending.c    one that goes by itself, when its time has come
 *     providerd_status.c  answers those on this machine
 *     providerd_metrics.c  numbers for monitoring
 *     shells.c     commands that the owners of jobs run in their sandboxes
 *     providerd_booking.c  orders by which its machine is booked
 *     providerd_command.c  commands of its pool, and of customers about their jobs
 *
 *     STATE/provider/work/CLAIM.NUMBER    a job's folder, until all of it is with the customer
 *     STATE/provider/work/CLAIM.0         one that the claim's next job gets
 *     STATE/provider/cache/HASH           inputs that came once
 *     STATE/provider/images/HASH          images that were unpacked
 *     STATE/provider/transfers            files on their way to stores */
#ifndef BERTH_LIVE_PROVIDERD_PROVIDERD_PARTS_H
#define BERTH_LIVE_PROVIDERD_PROVIDERD_PARTS_H

#include "live/agent/daemon_parts.h"
#include "live/http/front.h"
#include "live/providerd/file_sync.h"
#include "live/providerd/job_order.h"
#include "live/providerd/providerd.h"
#include "pool/protocol/image_ref.h"
#include "pool/protocol/job_trace.h"
#include "pool/provider/provider.h"
#include "sys/hash.h"

#include <uv.h>

#define PIECE_BYTES (192 * 1024)             /* of a file, in one question */
#define TICK_MS 400                          /* between looks at jobs that run */
#define PROBE_MS 5000                        /* between looks at the machine */
#define SWEEP_MS 3600000                     /* between looks for what is left over */
#define CACHE_LIFE 86400                     /* seconds that an input is kept which nobody wants */
#define OUTGOING_SPACE "outgoing"            /* on the shelf */
#define OUTGOING_LIFE (7 * 24 * 60 * MINUTE) /* then nobody will want it */

#define HEALTH_WORDS_MAX 255
#define POLICY_DUE_MAX 200
#define POLICY_BY_MAX 100

struct providerd;
struct staging;
struct uploads;
struct datain;
struct urlin;
struct secretin;
struct image;
struct shell;
struct watch;
struct beside;
struct catalogues;
struct transfer_rules;

enum task_state {
    TASK_STAGING, /* its files are on their way */
    TASK_RUNS,
    TASK_SETTLES, /* it has ended; what goes to stores is on its way to the disk */
    TASK_HELD,    /* nothing is run: whoever claimed it has it until it lets go */
};

/* Whom to ask about the files of a try, and by what name it is known there (pool/claim/duty.h). */
struct inquiry {
    agent customer;
    uint64_t claim, number, job;
    struct key pass; /* none: the customer knows us by the claim */
    uint32_t member; /* of a helper that has a number: what it writes has that at the end of its name; 0: none */
};

#define IMAGE_KEY_MAX (HASH_DIGITS + 8) /* bytes of what names an image that was unpacked (image_from.c) */

struct task {
    struct task *next;
    struct providerd *providerd;
    uint64_t claim, number, job;
    struct inquiry inquiry;
    bool
        helps; /* another one is the leader of its gang: of what it leaves, what it has written is sent, if it has a number */
    enum task_state state;
    struct tree *ad;                  /* held: the job's */
    struct tree *receipt;             /* held: the claim's; or NULL */
    char trace[JOB_TRACE_ID_LEN + 1]; /* by which it is followed through logs; "" */
    struct job_order order;
    struct text owner;                 /* whose job it is, as its customer has proved; "": that is not known here */
    struct executor_account account;   /* whom it runs as, of one that runs as its owner */
    struct executor_view view;         /* what it sees, when it is begun */
    char image_key[IMAGE_KEY_MAX + 1]; /* of its image, once that can be unpacked; "" */
    char image_root[DAEMON_PATH_MAX];  /* what view.root points to */
    struct image *image;               /* that it runs in, or waits for; or NULL */
    bool image_waits;                  /* it is being unpacked */
    int64_t deadline, span;
    int64_t came;            /* to this machine; 0: before the daemon began, or its process has been seen to run */
    int64_t began;           /* the process; 0: not yet */
    bool runs;               /* the executor has said so */
    bool unreached;          /* its image's registry is: the job tries elsewhere, and this machine is as well as ever */
    struct staging *staging; /* or NULL */
    struct datain *datain;   /* or NULL */
    struct urlin *urlin;     /* or NULL */
    struct secretin *secretin;     /* or NULL */
    bool ahead;                    /* it is no job: its files are those of its claim's next one (ahead.c) */
    int64_t ahead_at, ahead_pause; /* when it is asked what the next one reads, and how long is waited after that */
    int64_t ahead_bytes;           /* of one that is ahead: what it fetches, and has fetched, as far as is known */
    int secrets;                   /* a bundle in memory, until the launcher has it; -1: none */
    struct file_sync *file_sync;   /* or NULL */
    struct watch *door; /* by which its processes begin commands beside others of the job (beside.c); or NULL */
    struct executor_news ending; /* TASK_SETTLES: how it ended */
    bool reported, asking;       /* the customer knows that it runs; a question is on its way */
    int64_t log_sent[2];         /* bytes of stdout and stderr that the customer has */
    int64_t reported_at, checkpoint_at;
    int64_t samples_told; /* seconds of its life, of which the customer has samples */
    bool checkpoint_due;  /* the signal was sent: the files are to follow */
    uint32_t signals;     /* that its owner has sent it */
    uint32_t transfers;   /* of its files to stores, when it has ended */
    int64_t taken;        /* bytes of its files that came from the customer and from stores, since the daemon began */
    int64_t brought;      /* bytes of its files that went there, and are to go there when it has ended */
    bool unmade;          /* it has ended, and has not made all the outputs that it names */
};

/* The field of a line of the log by which its job is followed. */
static inline struct log_field task_trace(const struct task *task)
{
    return log_text("trace", *task->trace ? task->trace : NULL);
}

/* A registry that could not be reached (image_sources.c). */
#define SOURCE_PAUSES_MAX 16
struct source_pause {
    char host[IMAGE_REF_HOST_MAX + 1]; /* "": none */
    int64_t until, span;
};

/* The owner's own check of the machine (health_check.c). */
struct health_check {
    pid_t pid;  /* 0: none runs */
    int output; /* -1 */
    int64_t began, ended, due;
    char words[200]; /* what it says against jobs; "": nothing */
};

struct providerd {
    const struct providerd_settings *settings;
    struct daemon daemon;
    struct live_agent *live;
    struct executor *executor; /* or NULL */
    double benchmark;          /* of the machine, as its ad says; 0: it says none */
    struct catalogues *catalogues;
    struct transfer_rules *data_rules; /* by which jobs' data are fetched */
    struct transfer_rules *url_rules;  /* by which what their URLs name is */
    struct server *status;
    struct gate gate;       /* of its users on this machine */
    struct gate calls_gate; /* of those who call it: for `calls` */
    struct front_part calls;
    struct front front;
    struct provider_settings provider;
    struct provider_pool pools[POOL_LIST_MAX]; /* of a provider that pulls */
    uint64_t *ids;
    struct tree **ads;
    struct task *tasks;
    struct task *aheads; /* what is fetched for the next jobs of claims */
    struct image *images;
    struct url_client *url_clients; /* that run */
    struct source_pause pauses[SOURCE_PAUSES_MAX];
    struct beside *beside;                  /* commands that jobs here have begun beside processes elsewhere */
    struct shell *shells;                   /* commands in the sandboxes of jobs (shells.h) */
    struct results *results, *results_last; /* what jobs made, on its way to customers: the oldest first */
    int64_t results_due;                    /* none of them goes on before */
    struct uploads *uploads;
    struct trash *trash; /* NULL: not yet, or no more */
    uint64_t *claims;    /* that had jobs, and that what holds jobs is kept for */
    uint32_t claim_count, claim_room;
    uv_timer_t tick, probe, sweep;
    bool booted;
    struct drain {
        bool is, now;  /* it takes no more work; and jobs have to go */
        int64_t since; /* seconds, on the wall clock */
        char by[TOKEN_NAME_MAX + 1];
    } drain;
    struct health {
        bool ails, trying;
        char words[HEALTH_WORDS_MAX + 1]; /* why */
        int64_t since;                    /* seconds, on the wall clock */
        int64_t pause, try_at, look_at;
        uint64_t claim; /* of the job of its own that is tried */
        int64_t clock;  /* how far the wall clock is from the one that does not jump; 0: not looked at yet */
        struct health_check check;
    } health;
    struct policy_telling {
        struct tree *own;                                    /* held: the policy that its owner has given it */
        char due[POLICY_DUE_MAX + 1], by[POLICY_BY_MAX + 1]; /* what the pool is to be told of a change; "": nothing */
        bool asking;
        int64_t again, pause;
    } policy;
    uint64_t started; /* jobs, in this life */
    bool told, drains;
    int64_t leaves; /* since when it leaves; 0: it does not */
    char note[PROVIDERD_NOTE_MAX + 1];
};

void health_check_init(struct health_check *check);
void health_check_done(struct health_check *check);
/* Begins the check when it is due, or at once in a hurry; looks how it ended. `words`: the program, and its arguments, to a NULL; or NULL. Returns whether
 * check->words hold: it does not run just now. */
bool health_check_tick(struct health_check *check, const char *const *words, bool hurry);

/* The path of a job's folder, into `size` bytes. */
void providerd_folder(const struct providerd *providerd, char *ret, size_t size, uint64_t claim, uint64_t number);
/* Begins a question about a try. */
struct maker;
void question_begin(struct maker *maker, const struct providerd *providerd, const char *ask,
                    const struct inquiry *inquiry);
/* Does the answer give that Reason? Where there is no answer, it is "". */
bool answer_is(const struct tree *answer, const char *reason);

/* ---- cache_boot.c ---- */
void cache_boot(const char *folder); /* the cache, once when we start */

/* ---- inquiry.c ---- */
void inquiry_of(const struct tenant_view *tenant, struct inquiry *ret); /* of its last job */
/* Write and read an inquiry in a row on the shelf, under a claim of our own. */
void inquiry_write(struct maker *maker, const struct inquiry *inquiry, uint64_t claim);
bool inquiry_read(const struct tree *row, uint64_t claim, uint64_t number, struct inquiry *ret);

/* ---- tasks.c ---- */
void task_launch(struct providerd *providerd, const struct effect *effect);
void task_deadline(struct providerd *providerd, uint64_t claim, int64_t at);
void task_stop(struct providerd *providerd, uint64_t claim, int64_t grace);
void task_suspend(struct providerd *providerd, uint64_t claim, bool suspended);
void task_told(void *user, const struct executor_news *news);  /* of the executor */
void task_found(void *user, const struct executor_news *news); /* before the role has begun */
void tasks_tick(struct providerd *providerd);
void tasks_done(struct providerd *providerd);
bool claim_is_kept(const struct providerd *providerd, uint64_t claim); /* it had a job, and may have another */
bool task_is_here(const struct providerd *providerd, uint64_t claim, uint64_t number);
/* So many bytes of a try that still runs have gone to its customer. */
void task_brought(struct providerd *providerd, uint64_t claim, uint64_t number, int64_t bytes);
double tasks_load(const struct providerd *providerd);
/* The files of a task are there (NULL), or cannot be had; and the same for those of the catalogue. */
void task_staged(struct task *task, const char *why);
void task_urls_came(struct task *task, const char *why);
void task_data_staged(struct task *task, const char *why);
void task_image_came(struct task *task, const char *why, bool fault); /* fault: of this machine, not of the job */
void task_secrets_came(struct task *task, const char *why);

/* ---- beside.c ---- */
void beside_open(
    struct task *task); /* it is about to run, or was found: if it may, its processes find a socket in its folder */
void beside_close(struct task *task); /* the task is over */
void beside_tick(struct providerd *providerd);
void beside_done(struct providerd *providerd); /* after the agent has gone */

/* ---- workfolder.c ---- */
/* Makes an empty folder for a job; logs that are there already are empty too. */
int workfolder_make(const struct providerd *providerd, uint64_t claim, uint64_t number, struct err *err);
/* Leaves a job's folder, of which the customer has everything: it is removed, or kept for another job of its claim. */
int workfolder_leave(const struct providerd *providerd, uint64_t claim, uint64_t number, struct err *err);
void workfolder_forget(const struct providerd *providerd, uint64_t claim); /* no more jobs of it */

/* ---- task_view.c ---- */
/* Puts into the task's order what the job is to see. -1: what it needs is not here. */
int task_view(struct task *task, struct err *err);

/* ---- task_owner.c ---- */
/* Puts into the task's order that it runs as the user who sent it, if it asks for that, and adds to what it sees the folders it may write in. -1: it
 * cannot be, and why; it never runs as another then. */
int task_owner(struct task *task, struct err *err);

/* ---- image_sources.c ---- */
#define SOURCES_MAX 64                                                               /* that are told */
size_t sources_now(const struct providerd *providerd, const char *ret[SOURCES_MAX]); /* that images come from, now */
int source_check(const struct providerd *providerd, const struct image_ref *ref,
                 struct err *err);                                 /* does it come from one? */
void source_fails(struct providerd *providerd, const char *place); /* its registry could not be reached ... */
void source_works(struct providerd *providerd, const char *place); /* ... or could */

/* ---- image_from.c ---- */
/* What an image is unpacked from, as the unpacker is told (exec/image_unpack.h). */
struct image_from {
    const char *sort;
    char what[DAEMON_PATH_MAX];
    char place[IMAGE_REF_MAX + 32]; /* in a registry; "" */
    int accounts;                   /* a file in memory that the caller closes: whose account opens the registry; -1 */
};
/* Finds out what the task's image is unpacked from, and sets its key. 0: from nothing, it is a folder as it lies there; -1 and `err`. */
int image_from(struct task *task, struct image_from *ret, struct err *err);
bool image_key_is_good(const char *key);
bool image_key_is_single(const char *key); /* of one job alone */

/* ---- images.c ---- */
#define IMAGE_SORTS_MAX 4
void images_load(struct providerd *providerd); /* once when we start, before tasks are found */
void images_done(struct providerd *providerd); /* after all tasks have gone */
void images_tick(struct providerd *providerd);
void images_begin(struct task *task);                /* task_image_came follows, perhaps at once */
void images_leave(struct task *task);                /* the task is over; it need not have one */
void images_found(struct task *task);                /* it was begun by an earlier agent: in which does it run? */
int images_view(struct task *task, struct err *err); /* puts the image into what the job sees, and how it is run */
size_t images_sorts(const struct providerd *providerd, const char *ret[IMAGE_SORTS_MAX]); /* that can be run here */

/* ---- policy_told.c ---- */
int owners_policy_look(struct providerd *providerd,
                       struct err *err); /* once when we start: is it another than the last time? */
void owners_policy_tick(struct providerd *providerd);
void owners_policy_done(struct providerd *providerd); /* after the agent has gone */

/* ---- health.c ---- */
void health_fault(struct providerd *providerd, const char *words); /* a job came to nothing by the machine's fault */
void health_good(struct providerd *providerd);                     /* one has run, well or badly by its own fault */
void health_tick(struct providerd *providerd);
void health_job(struct providerd *providerd); /* a job begins: very many may between two looks */
bool health_told(struct providerd *providerd,
                 const struct executor_news *news);          /* of the executor: was that of a trial? */
bool health_lacks(const struct providerd *providerd);        /* is there too little room, now? */
const char *health_words(const struct providerd *providerd); /* what it lacks; NULL: nothing */

/* ---- tending.c ---- */
void tending_tick(struct providerd *providerd);
void tending_told(void *providerd);                      /* a signal came */
void providerd_probe(struct providerd *providerd);       /* providerd.c: its role hears how the machine is now */
uint32_t tasks_count(const struct providerd *providerd); /* tasks.c */

/* ---- providerd_status.c ---- */
extern const struct route_table providerd_routes;
int status_start(struct providerd *providerd, struct err *err);
void status_end(struct providerd *providerd);
struct tree *status_ad(struct providerd *providerd); /* what it does now; the caller unrefs it */

/* ---- providerd_metrics.c ---- */
#define METRICS_TYPE_ONLY "application/openmetrics-text"
extern const struct route_table providerd_calls; /* what it answers by TCP, beside the routes of every agent */
void provider_metrics_begin(struct providerd *providerd);
void provider_metrics_runs(struct task *task); /* its process runs */
void provider_metrics_ended(const struct task *task, const struct executor_news *news);
void provider_calls(struct providerd *providerd,
                    struct front_part *ret); /* makes its gate, and its part of the agent's front */
void api_provider_metrics(struct request *request);

/* ---- providerd_command.c ---- */
struct tree *booking_carry_out(struct providerd *providerd, const struct agent_order *order,
                               bool books); /* providerd_booking.c */
int drain_load(struct providerd *providerd, struct err *err);
void drain_tell(
    struct providerd *providerd); /* the role, if it is drained: before it begins, and again for jobs that have to go */
void providerd_sweep(struct providerd *providerd); /* commands that nobody asks about any more are forgotten */
struct tree *providerd_commanded(void *user, const struct agent_order *order);
struct tree *providerd_asked(void *user, const struct peer *peer, const struct tree *question, struct agent_turn *turn);

/* ---- staging.c ---- */
void staging_begin(struct task *task, const char *folder); /* task_staged follows, perhaps at once */
void staging_cancel(struct staging *staging);              /* takes NULL */

/* ---- input_fetch.c ---- */
int datain_open(struct providerd *providerd, struct err *err);
void datain_close(struct providerd *providerd); /* after all tasks have gone */
bool datain_is_needed(const struct task *task);
void datain_begin(struct task *task);      /* task_data_staged follows, perhaps at once */
void datain_cancel(struct datain *datain); /* takes NULL */

/* ---- ahead.c ---- */
void ahead_begin(struct task *task);                          /* its job runs: time to fetch what the next one reads? */
void ahead_told(struct task *ahead, const struct tree *told); /* by the customer, which files those are */
int64_t ahead_left(const struct task *ahead);                 /* how many bytes it may fetch yet; 1 at least */
void ahead_spend(struct task *ahead, int64_t bytes);          /* it is about to fetch them */
void ahead_staged(struct task *ahead, const char *why);       /* as task_staged ... */
void ahead_data_staged(struct task *ahead, const char *why);  /* ... and task_data_staged */
/* A job begins under the claim: what is still on its way from its customer is gone on with by the job itself, what comes from stores is waited for. */
void ahead_meets(struct task *task);
void aheads_tick(struct providerd *providerd); /* those of claims that are over end */
void aheads_done(struct providerd *providerd);

/* ---- url_fetch.c ---- */
#define URLS_FAILED "Transfer input files failure at the execution point" /* begins the words; HTCondor's */
bool urlin_is_needed(const struct task *task);
void urlin_begin(struct task *task);    /* task_urls_came follows, perhaps at once */
void urlin_cancel(struct urlin *urlin); /* takes NULL */
void urlin_put(const struct providerd *providerd,
               struct maker *maker); /* adds to the machine's ad which it fetches, and brings */

/* ---- url_clients.c ---- */
#define URL_CLIENTS_MAX 64
#define URL_SCHEME_ROOM 17
enum url_client_way { URL_CLIENT_GET, URL_CLIENT_PUT };
struct url_client_order {
    enum url_client_way way;
    const char *url;
    const char *
        part; /* a path beneath the agent's folder: the file comes there; of one that goes, it lies beside it meanwhile */
    int64_t bytes; /* of the file: at most; of one that goes, all */
    int from;      /* a descriptor of the one that goes */
};
struct url_client; /* a program of the owner's that fetches one file, or brings one away */
/* `why`: NULL, and the file is there; of one that was fetched, its size. */
typedef void url_client_fn(void *user, const char *why, int64_t size);
int url_clients_check(const struct providerd *providerd, struct err *err); /* the settings */
size_t url_clients_schemes(const struct providerd *providerd, enum url_client_way way,
                           char ret[URL_CLIENTS_MAX][URL_SCHEME_ROOM]);
/* NULL and `err`. `done` is called once, later, unless it is cancelled, or all are ended. */
struct url_client *url_client_start(struct providerd *providerd, const struct url_client_order *order,
                                    url_client_fn *done, void *user, struct err *err);
void url_client_cancel(struct url_client *client);  /* takes NULL */
void url_clients_done(struct providerd *providerd); /* ends those that run still */

/* ---- secret_fetch.c ---- */
void secretin_begin(struct task *task);          /* task_secrets_came follows, perhaps at once */
void secretin_cancel(struct secretin *secretin); /* takes NULL */

/* Adds what the task's job used over its life, if there is enough that the customer does not know yet; `over`: all there is. */
void samples_put(struct maker *maker, struct task *task, bool over);

/* ---- results_row.c ---- */
struct tree *results_row(struct task *task, const struct executor_news *news); /* the caller unrefs it */
struct tree *results_passing(const struct task *task); /* of one that still runs: its checkpoint alone */

/* ---- results_send.c ---- */
/* A try is over, and what it made is to be sent. A row for that lies on the shelf when this returns; a commit follows.
 * Returns how many bytes that is. */
int64_t results_add(struct providerd *providerd, struct task *task, const struct executor_news *news);
/* Sends what is new since `from` in a file of a job that still runs. `done` as in agent_ask. */
bool results_piece(struct providerd *providerd, const struct task *task, const char *kind, const char *name,
                   int64_t from, agent_answer_fn *done, void *user);
/* Sends the checkpoint files of a job that still runs. */
void results_checkpoint(struct providerd *providerd, const struct task *task);
bool results_load(struct providerd *providerd, struct err *err);
bool results_has(const struct providerd *providerd, uint64_t claim, uint64_t number);
void results_tick(struct providerd *providerd);
void results_done(struct providerd *providerd);
uint32_t results_count(const struct providerd *providerd);

/* ---- uploads.c ---- */
/* Is what the job's ad says of files for stores well formed? -1 and what is wrong. */
int uploads_check(const struct task *task, struct err *err);
/* A try has ended well: what it made for stores is brought to disk, and then `done` is called. NULL: there is nothing. */
struct file_sync *uploads_settle(const struct task *task, file_sync_done_fn *done, void *user);
/* Moves aside what a try made for stores, and puts a request for it on the shelf; a commit follows. Returns how many files there are, and adds
 * how many bytes. */
uint32_t uploads_add(struct providerd *providerd, const struct task *task, int64_t *bytes);
bool uploads_has(const struct providerd *providerd, uint64_t claim, uint64_t number);
int uploads_load(struct providerd *providerd, struct err *err);
void uploads_tick(struct providerd *providerd);
void uploads_sweep(struct providerd *providerd);
uint64_t uploads_room(const struct providerd *providerd);  /* bytes that are left for files that wait */
uint32_t uploads_count(const struct providerd *providerd); /* files that wait */
void uploads_stop(struct providerd *providerd); /* what is under way is cut, and waited for: before the agent goes */
void uploads_done(struct providerd *providerd);

#endif
