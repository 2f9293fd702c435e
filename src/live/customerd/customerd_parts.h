/* customerd_parts.h: what the files of the live customer share; private to them.
 *
 *     customerd.c         starting, stopping, reloading
 *     customerd_news.c    news from the role and the providers: tries, logs; wakes waiting requests
 *     recovery.c          what comes first where the rows are of a backup;  ends_tell.c, ends_catch_up.c  what the pool is told for that
 *     customerd_tidy.c    tidying: ended jobs to the history, old files
 *     spool_tidy.c        the same: inputs that no job names
 *     customer_request.c  which callers are admitted, and what they may see
 *     customerd_standby.c  what it does while another customer has its store
 *     customerd_listen.c  its sockets;  files_mark.c  does a shared folder belong to the queue?
 *     customerd_disk.c    how full the disk is
 *     customerd_metrics.c  numbers for monitoring
 *     job_policy.c        what jobs themselves say shall become of them
 *     user_logs.c         the logs that jobs name, in their users' folders
 *     audited.c           the audit log
 *     customerd_routes.c  the table of routes                      route_examples.c  an example of each
 *     api_jobs.c     lists, a job, the summary, the history        api_submit.c   submissions,
 *                                                                  with submitting.c and submission_keys.c
 *     api_job.c      one job: its tag, its links, changes in place
 *     api_control.c  hold, release, remove                         api_files.c    logs, files, the spool
 *     api_secrets.c  secrets of jobs                               api_crons.c    jobs that come again (crons.h)
 *     api_token.c    tokens for the users of this machine
 *     api_workflows.c  how far workflows are                       api_submissions.c  how far submissions are
 *     shells.c, api_shells.c  commands in the sandboxes of running jobs (shells.h)
 *     customerd_local.c  jobs that run on this host (local_jobs.h)
 *     customerd_commands.c  commands to running jobs: kept, and sent to their providers until they have answered */
#ifndef BERTH_LIVE_CUSTOMERD_CUSTOMERD_PARTS_H
#define BERTH_LIVE_CUSTOMERD_CUSTOMERD_PARTS_H

#include "lang/form/form.h"
#include "live/agent/daemon_parts.h"
#include "live/auth/scope.h"
#include "live/auth/token.h"
#include "live/customerd/customerd.h"
#include "live/customerd/endings.h"
#include "live/customerd/ends_catch_up.h"
#include "live/customerd/history.h"
#include "live/customerd/joblog.h"
#include "live/customerd/newcomers.h"
#include "live/customerd/output_shares.h"
#include "live/customerd/questions.h"
#include "live/customerd/spool.h"
#include "live/http/loop_watch.h"
#include "live/http/request.h"
#include "live/http/server.h"
#include "live/world/audit.h"
#include "live/world/commands.h"
#include "live/world/runner.h"
#include "pool/customer/customer.h"
#include "sys/confined_path.h"

#include <limits.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMERD_LOOK_MAX 20000      /* at most so many jobs are looked at for one request */
#define CUSTOMERD_READ_MAX (1u << 20) /* bytes of a file in one answer */
#define CUSTOMERD_RANGES_MAX 1000     /* ranges in `ids` */
#define CUSTOMERD_LIMIT_DEFAULT 1000
#define CUSTOMERD_LIMIT_MAX 100000
#define CUSTOMERD_FILES_KEPT (INT64_C(7) * 86400) /* how many seconds the files of a job are kept after its end */

struct customerd_task;
struct deliveries;
struct local_jobs;
struct lent_tokens;
struct asking;
struct crons;
struct secret_sets;
struct shell;
struct job_policies;
struct copies;
struct unix_users;
struct user_logs;
struct recovery;

struct customerd {
    struct daemon daemon;             /* in STATE/customer */
    char folder[DAEMON_PATH_MAX];     /* of files */
    struct waiting_customer *waiting; /* it stands by, or has done so; else NULL */
    const struct customerd_settings *settings;
    struct customer_settings role;
    struct customer_pool pools[POOL_LIST_MAX];
    struct live_agent *live;
    struct runner *runner;
    const struct customer *customer; /* the role, to look things up in */
    struct server *server;
    struct server *submit;    /* for all users whom it serves; NULL: it serves only the user who runs it */
    struct unix_users *users; /* ... and who they are */
    struct lent_tokens *lent; /* the tokens that they have got; or NULL */
    struct asking *askings;   /* users for whom a token is being asked for (api_token.c) */
    struct gate gate;
    struct issuers *issuers; /* whose tokens are taken besides those of the pool */
    struct front_part part;  /* the customer's part of its agent's front */

    char *serves_by; /* the token that was read last; owned ... */
    bool serves;     /* ... may it ask for others? */
    struct spool *spool;
    struct spooling *spooling;           /* pieces for it that wait (api_spool.c) ... */
    bool spools;                         /* ... for a thread that writes another one */
    struct spool_tidying *spool_tidying; /* NULL: it is not being tidied */
    struct jobfiles *files;
    struct output_shares *shares; /* of what jobs have left in them */
    struct attempts *tries;
    struct history *history;
    struct secret_sets *secrets;
    struct crons *crons; /* jobs that come again */
    bool marking;        /* jobs are gone through, to see which secrets are still needed ... */
    uint64_t marked;     /* ... up to this one */
    struct questions questions;
    struct commands commands; /* commands that wait for providers */
    struct audit audit;
    uint32_t commands_ticks;
    struct shell *shells; /* commands in the sandboxes of jobs (shells.h) */
    uint64_t shells_numbered;
    struct catalogues *catalogues; /* the catalogues of files */
    struct deliveries *deliveries; /* outputs on their way to other users; NULL: it serves only the user who runs it */
    struct job_policies *policies; /* what jobs say shall become of them (job_policy.h) */
    struct renewal *renewal;       /* where the files of waiting jobs are (replicas_renew.h) */
    struct copies *copies;         /* files of which a number of copies is kept (copies.h) */
    struct user_logs *logs;        /* the logs that jobs name (user_logs.h) */

    struct local_jobs *local; /* jobs that run on this host */

    uint64_t changes; /* grows with every visible change, across restarts as well */
    struct endings endings;
    struct ends_tell *ends;        /* tells the pool which jobs have ended ... */
    struct ends_catch_up catch_up; /* ... and first which had ended before the start */
    struct recovery *recovery;     /* the rows are of a backup, and the role has not begun (recovery.h); else NULL */
    struct customerd_task *tasks, *tasks_to_come; /* to_come: added while one of them runs */
    bool turning;
    uv_idle_t turn;     /* runs the tasks */
    uv_timer_t wake;    /* wakes waiting requests */
    uv_timer_t watched; /* wakes those of them that watch a job that has changed */
    struct loop_watch turns;
    uv_timer_t tidy;
    uv_timer_t more;              /* the rest of a tidying waits: */
    uint32_t tidy_due, tidy_next; /* the parts of it, as bits, that are to be done; and which comes next */
    struct newcomers newcomers;
    bool woken;
    uint32_t tidied;
    uint32_t keys_due;             /* the look from which on keys of submissions are gone through ... */
    char swept[SHELF_KEY_MAX + 1]; /* ... and the last of them that was looked at; "": the first comes next */
    uint64_t expired;              /* the place in the history up to which jobs have lost their files */
    int64_t started;               /* on the wall clock */
    uint64_t disk_free;
    bool disk_full;      /* no more files are taken: too little room, */
    bool disk_readonly;  /* or the disk cannot be written */
    int64_t count_again; /* before that, jobs are not counted again for the metrics */
    bool stopping;
    struct buf out; /* scratch, for one answer */
};

/* Work that takes several turns of the loop. */
struct customerd_task {
    struct customerd_task *next;
    bool (*step)(struct customerd_task *task); /* false: the task is over, and has freed itself or will */
    void (*drop)(struct customerd_task *task); /* the customer ends: there will be no more steps */
};
void customerd_task(struct customerd *customerd, struct customerd_task *task);

agent customerd_pool(const struct customerd *customerd); /* the matchmaker of its first pool */

/* ---- customerd_standby.c ---- */

/* Waits until no other customer has the store: 0, and it is open; 1: it is told to end; -1 and `err`. Meanwhile its servers answer, which stay. */
int customerd_stand_by(struct customerd *customerd, struct err *err);
void customerd_stands_no_more(struct customerd *customerd); /* after its servers are gone */
/* Tells those who wait for the store where this one is reached. */
void customerd_tell_reached(struct customerd *customerd);
/* The same processes as store_replicas says; none where its store is its own. */
uint32_t customerd_replicas(const struct customerd *customerd, struct store_replica *ret);
/* Has its lease run out, and are there others who wait for the store? Then one of them may have the queue. */
bool customerd_is_deposed(const struct customerd *customerd);
/* For the front: the same; and the request is answered. */
bool customerd_elsewhere(struct request *request);

/* ---- customerd_listen.c ---- */

int customerd_listen(struct customerd *customerd, struct front *front, struct err *err);
void customerd_serve_by(struct customerd *customerd, struct front *front); /* its servers go on with that front */

/* ---- files_mark.c ---- */

/* Are the files in that folder those of this queue, as a mark in the folder and a row say? Both are made where neither is there, or when `fresh`. -1 and
 * `err`. */
int files_mark_check(struct shelf *shelf, const char *folder, bool fresh, struct err *err);

/* ---- customerd_disk.c ---- */

void customerd_disk_look(struct customerd *customerd);               /* called now and then */
const char *customerd_disk_words(const struct customerd *customerd); /* why no files are taken; NULL: they are */

/* ---- customerd_metrics.c ---- */

void customer_metrics_begin(struct customerd *customerd);
void customer_metrics_ended(struct customerd *customerd, const struct job_view *view); /* a job has ended */
void customer_metrics_dropped(struct customerd *customerd, uint64_t count); /* so many were removed all at once */
void customer_metrics_try(struct customerd *customerd, const struct job_view *view,
                          const struct job_attempt *one); /* a claim was given the job */

/* ---- customer_request.c ---- */

extern const struct route_table customerd_routes;
extern const struct route_example customerd_examples[]; /* route_examples.c */

#define CUSTOMERD_DOWN "the customer is going down"
#define CUSTOMERD_BODIES_MAX (UINT64_C(256) << 20) /* bytes of bodies of one account under way */

static inline struct customerd *request_customerd(const struct request *request)
{
    return (struct customerd *)request->part->daemon;
}

void customerd_front(struct customerd *customerd,
                     struct front_part *ret);        /* makes its gate, and its part of the agent's front */
uint64_t request_job(const struct request *request); /* the job number in its path; 0: it is not one */
bool caller_sees(const struct request *request, const char *owner, size_t len);
bool caller_sees_all(const struct request *request); /* and may it do everything? */
/* The next job behind that number that the caller sees; false: there is none. */
bool caller_next(const struct request *request, uint64_t after, struct job_view *ret);
void caller_peer(const struct request *request, struct peer *ret);
/* Could a job of this caller be submitted at all? False after a problem was answered (api_submit.c). */
bool customerd_takes(struct request *request);
/* Is there room for so many jobs more, of all users together? False after a problem was answered. */
bool customerd_has_room(struct request *request, uint64_t jobs);

/* For the front: a request that would have changed something was refused (audited.c). */
void customer_audit_refusal(struct request *request, unsigned status, const char *why);

/* Ranges such as "1-20,31", sorted. id_ranges_read returns false when the text is malformed. */
struct id_ranges {
    struct id_range {
        uint64_t first, last;
    } items[CUSTOMERD_RANGES_MAX];
    uint32_t count;
};
bool id_ranges_read(const char *text, size_t len, struct id_ranges *ret);
/* The smallest number in the ranges that is above `after`; 0: there is none. */
uint64_t id_ranges_next(const struct id_ranges *ranges, uint64_t after);
uint64_t id_ranges_end(const struct id_ranges *ranges,
                       uint64_t number); /* the last number of the range that has this one */

/* ---- customerd_news.c ---- */

void customerd_job_changed(void *user, uint64_t job); /* for the agent's settings */
bool view_ended(const struct job_view *view);
bool customerd_job(void *user, uint64_t id, struct job_view *ret);
uint32_t customerd_members(void *user, uint64_t job, struct member_view *ret, uint32_t room);
uint64_t customerd_ahead(void *user, uint64_t claim, bool promise);
bool customerd_node(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count);
void customerd_news(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                    const char *words);
struct tree *customerd_asked(void *user, const struct peer *peer, const struct tree *question, struct agent_turn *turn);
void customerd_changed(struct customerd *customerd);    /* something visible has changed */
void customerd_boot(struct customerd *customerd);       /* brings the role's jobs and the recorded tries together */
void customerd_deliveries(struct customerd *customerd); /* makes what brings outputs to other users */
void customerd_commit(struct customerd *customerd);
void customerd_ends(struct customerd *customerd, const struct job_view *view); /* its pool is told that it has ended */
void customerd_dropped(struct customerd *customerd, uint64_t first,
                       uint64_t count); /* the same of jobs removed at once */

/* ---- customerd_local.c ---- */

void customerd_local(struct customerd *customerd); /* makes what runs jobs of this host */
bool customerd_local_is(const struct tree *ad);    /* is it such a job? */

/* ---- customerd_tidy.c ---- */

void customerd_tidy(struct customerd *customerd); /* begins to do what there is to do; called often */
void customerd_tidy_more(uv_timer_t *timer);      /* does some of it */

/* ---- spool_tidy.c ---- */

void spool_tidy_begin(struct customerd *customerd); /* if it is not at it */
bool spool_tidy(struct customerd *customerd,
                int64_t ends);                     /* does some of it, until then on the clock; true: there is more */
void spool_tidy_done(struct customerd *customerd); /* breaks off; before the spool is freed */

/* ---- customerd_commands.c ---- */

void commands_tick(struct customerd *customerd); /* sends waiting commands when they are due; called often */
/* The job in its path, if it runs and the caller may command it. False after a problem was answered. */
bool request_job_runs(struct request *request, struct job_view *ret);
void api_job_command(struct request *request);
void api_job_commands(struct request *request);
void api_job_command_get(struct request *request);

/* ---- submission_keys.c ---- */

#define CUSTOMERD_BODY_SPACE "body" /* rows of keys */

/* Looks at some keys, and forgets those that are of no use any more. True: it has looked at all, and will begin anew. */
bool submissions_tidy(struct customerd *customerd);

/* ---- api_submissions.c ---- */

/* The first and the last of the jobs that were submitted together with this one. */
void submission_of(const struct customerd *customerd, const struct job_view *view, int64_t now, uint64_t *ret_first,
                   uint64_t *ret_last);

/* ---- jobs_counted.c ---- */

#define COUNT_STUCK STANDING_COUNT /* of the blocked jobs, those that will not move by themselves */
#define COUNTS (STANDING_COUNT + 1)
/* The jobs that are not in the history, of all users, by their state. */
void jobs_counted(const struct customerd *customerd, uint64_t counts[COUNTS]);

/* ---- api_*.c ---- */

void api_customer_metrics(struct request *request);
void api_customer_status(struct request *request);
void api_jobs_list(struct request *request);
/* The job's ad, as the caller may see it; the caller unrefs it. `*ret_here`: it is not in the history, and the view is filled in. NULL: there is no such job. */
struct tree *job_seen(const struct request *request, uint64_t job, struct job_view *ret_view, bool *ret_here);
/* Answers that there is none, or that it cannot be read now. */
void job_missing(struct request *request, uint64_t job);
void api_jobs_submit(struct request *request);
void api_submissions(struct request *request);
void api_submission(struct request *request);
void api_summary(struct request *request);
void api_workflows(struct request *request);
void api_workflow(struct request *request);
void api_control(struct request *request);
bool control_applies(enum control_verb verb, const struct job_view *view); /* would the verb change anything? */
bool control_permits(const struct request *request, enum control_verb verb);
/* Does what an ad says, as that of /v1/control; `one`: to that job, which is the answer (job_changed_answer); 0: as /v1/control answers. */
void control_begin(struct request *request, const struct tree *ad, uint64_t one);

/* ---- api_job.c ---- */

void api_job_get(struct request *request);
void api_job_patch(struct request *request);
void api_job_delete(struct request *request);
void api_job_turn(struct request *request);
/* The job was changed as one wished: answers with it as it is now; with nothing if it was removed. */
void job_changed_answer(struct request *request, uint64_t job, bool removed);

void api_history(struct request *request);
void api_customer_audit(struct request *request);
void api_job_log(struct request *request);
void api_job_files(struct request *request);
void api_job_files_drop(struct request *request);
void api_job_file(struct request *request);
void api_spool_head(struct request *request);
void api_spool_put(struct request *request);
void api_secrets(struct request *request);
/* Removes those of jobs that are over; works until then on the clock, and is called often. True: there is more. */
bool secrets_tidy(struct customerd *customerd, int64_t ends);
void api_crons(struct request *request);
void api_cron_add(struct request *request);
void api_cron_get(struct request *request);
void api_cron_delete(struct request *request);
void api_cron_hold(struct request *request);
void api_cron_release(struct request *request);
void api_user_token(struct request *request);
void lent_tokens_done(struct customerd *customerd);

#ifdef __cplusplus
}
#endif
#endif
