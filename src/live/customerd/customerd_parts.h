/* customerd_parts.h: what the files of the live customer share; not installed.
 *
 *     customerd.c         starting, stopping, reloading
 *     customerd_news.c    what the role and the providers tell: tries, logs, history; who waits is woken
 *     customerd_tidy.c    what is over goes: jobs to the history, old files, inputs that nobody names
 *     customer_request.c        from the head of a request to its answer: route, caller, scope; those that wait
 *     customerd_routes.c  the table
 *     api_jobs.c     lists, a job, the summary, the history        api_submit.c   submissions
 *     api_control.c  hold, release, remove                         api_files.c    logs, files, the spool
 *     api_workflows.c  how far workflows are
 *     customerd_commands.c  commands to jobs that run: kept, and told to their providers until those have answered */
#ifndef BERTH_LIVE_CUSTOMERD_CUSTOMERD_PARTS_H
#define BERTH_LIVE_CUSTOMERD_CUSTOMERD_PARTS_H

#include "lang/form/form.h"
#include "live/agent/daemon_parts.h"
#include "live/auth/scope.h"
#include "live/auth/token.h"
#include "live/customerd/customerd.h"
#include "live/customerd/endings.h"
#include "live/customerd/history.h"
#include "live/customerd/joblog.h"
#include "live/customerd/questions.h"
#include "live/customerd/spool.h"
#include "live/http/server.h"
#include "live/world/commands.h"
#include "live/world/runner.h"
#include "pool/customer/customer.h"
#include "sys/confined_path.h"

#include <limits.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMERD_WAIT_MAX 25         /* seconds that a request waits for something to happen, at most */
#define CUSTOMERD_LOOK_MAX 20000      /* jobs that are looked at for one request */
#define CUSTOMERD_READ_MAX (1u << 20) /* bytes of a file in one answer */
#define CUSTOMERD_RANGES_MAX 1000     /* in `ids` */
#define CUSTOMERD_LIMIT_DEFAULT 1000
#define CUSTOMERD_LIMIT_MAX 100000
#define CUSTOMERD_FILES_KEPT (INT64_C(7) * 86400) /* seconds that the files of a job are kept after its end */

struct visit;
struct customerd_task;

struct customerd {
    struct daemon daemon; /* in STATE/customer */
    const struct customerd_settings *settings;
    struct customer_settings role;
    struct customer_pool pools[POOL_LIST_MAX];
    struct live_agent *live;
    struct runner *runner;
    const struct customer *customer; /* the role, for questions */
    struct server *server;
    struct server_handler handler;

    struct spool *spool;
    struct jobfiles *files;
    struct attempts *tries;
    struct history *history;
    struct questions questions;
    struct commands commands; /* that wait for providers */
    uint32_t commands_ticks;
    struct catalogues *catalogues; /* of files */

    uint64_t changes; /* grows whenever something is to be seen, over restarts as well */
    struct endings endings;
    struct visit *waiting; /* who wait for a change */
    struct customerd_task *tasks;
    uv_idle_t turn;  /* of the tasks */
    uv_timer_t wake; /* those who wait */
    uv_timer_t tidy;
    bool woken;
    uint32_t tidied;
    uint32_t expired; /* places of the history, from the oldest on, whose files are gone */
    int64_t started;  /* wall */
    uint64_t disk_free;
    bool disk_full;     /* no more files are taken, */
    bool disk_readonly; /* for that it cannot be written */
    bool stopping;
    struct buf out; /* scratch, for one answer */
};

/* Work that takes several turns of the loop. */
struct customerd_task {
    struct customerd_task *next;
    bool (*step)(struct customerd_task *task); /* false: it is over, and has freed itself or will */
    void (*drop)(struct customerd_task *task); /* all ends: there will be no more steps */
};
void customerd_task(struct customerd *customerd, struct customerd_task *task);

/* ---- customerd_disk.c ---- */

void customerd_disk_look(struct customerd *customerd);               /* every now and then */
const char *customerd_disk_words(const struct customerd *customerd); /* that it is full; NULL: it is not */
void api_customer_metrics(struct visit *visit);

/* ---- customer_request.c ---- */

enum visit_body { VISIT_NONE, VISIT_AD, VISIT_SUBMISSION, VISIT_PIECE };

struct customerd_route {
    const char *id;
    enum http_method method;
    const char *path; /* with {variables}; {rest...} takes all that is left */
    scopes scope;
    enum visit_body body;
    const char *parameters; /* with blanks between */
    const char *types;
    void (*handle)(struct visit *visit);
};

extern const struct customerd_route customerd_routes[];
extern const size_t customerd_route_count;

#define VISIT_VARIABLES 3

/* A request and who makes it. */
struct visit {
    struct customerd *customerd;
    struct exchange *exchange;
    const struct customerd_route *route;
    char variables[VISIT_VARIABLES][CONFINED_NAME_MAX + 1];
    char identity[TOKEN_NAME_MAX + 1];
    bool any;   /* it may see and do everything */
    bool local; /* it is the user who runs this, or the superuser, on this machine */
    enum form form;
    int64_t deadline; /* until when it waits; 0: not set yet */
    bool waits;
    struct visit *next;                  /* who waits */
    void *work;                          /* of a handler that answers later ... */
    void (*forget)(struct visit *visit); /* ... and how it learns that nobody waits for that any more */
};

extern const struct server_handler visit_handler; /* its user is the desk */

void visit_problem(struct visit *visit, unsigned status, const char *format, ...) ERR_FORMAT(3, 4);
void visit_answer(struct visit *visit, unsigned status, const char *type, const char *body, size_t len,
                  const struct http_field *fields, size_t field_count);
void visit_ad_take(struct visit *visit, unsigned status, struct tree *ad); /* unrefs it */
/* The rows of a list; more: there are others, behind `cursor`. */
void visit_list(struct visit *visit, const struct buf *rows, bool more, uint64_t cursor);
const char *visit_query(const struct visit *visit, const char *name);
/* A whole number up to `high`; `fallback` when it is not there; false, and a problem was answered, when it is none. */
bool visit_number(struct visit *visit, const char *name, uint64_t high, uint64_t fallback, uint64_t *ret);
/* Has it still time to wait for a change (its parameter `wait`)? Then its handler is called again. */
bool visit_waits(struct visit *visit);
void visits_wake(struct customerd *customerd, bool all); /* those whose time is up; all: all that wait */
void visits_end(struct customerd *customerd);            /* nobody waits any longer */
uint64_t visit_job(const struct visit *visit);           /* the number that its path has; 0: it is none */
bool visit_sees(const struct visit *visit, const char *owner, size_t len);
void visit_peer(const struct visit *visit, struct peer *ret);
bool customerd_takes(
    struct visit
        *visit); /* could a job of the caller's be submitted at all? Else a problem was answered (api_submit.c) */

/* "1-20,31" in the order of their numbers; false when it is no such text. */
struct id_ranges {
    struct id_range {
        uint64_t first, last;
    } items[CUSTOMERD_RANGES_MAX];
    uint32_t count;
};
bool id_ranges_read(const char *text, size_t len, struct id_ranges *ret);
/* The smallest number in the ranges that is above `after`; 0: there is none. */
uint64_t id_ranges_next(const struct id_ranges *ranges, uint64_t after);

/* ---- customerd_news.c ---- */

void customerd_job_changed(void *user, uint64_t job); /* of the agent's settings */
bool view_ended(const struct job_view *view);
bool customerd_job(void *user, uint64_t id, struct job_view *ret);
bool customerd_node(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count);
void customerd_news(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                    const char *words);
struct tree *customerd_asked(void *user, const struct peer *peer, const struct tree *question);
void customerd_changed(struct customerd *customerd); /* something is to be seen */
void customerd_boot(struct customerd *customerd); /* what the role has, and what is known of it, are brought together */
void customerd_commit(struct customerd *customerd);

/* ---- customerd_tidy.c ---- */

void customerd_tidy(struct customerd *customerd); /* some of it; called often */

/* ---- customerd_commands.c ---- */

void commands_tick(struct customerd *customerd); /* those that wait are told, when it is time; called often */
void api_job_command(struct visit *visit);
void api_job_commands(struct visit *visit);
void api_job_command_get(struct visit *visit);

/* ---- api_submit.c ---- */

void submissions_tidy(struct customerd *customerd); /* keys that are of no use any more are forgotten, some of them */

/* ---- api_*.c ---- */

void api_customer_status(struct visit *visit);
void api_jobs_list(struct visit *visit);
void api_job_get(struct visit *visit);
void api_jobs_submit(struct visit *visit);
void api_summary(struct visit *visit);
void api_workflows(struct visit *visit);
void api_control(struct visit *visit);
void api_history(struct visit *visit);
void api_job_log(struct visit *visit);
void api_job_files(struct visit *visit);
void api_job_file(struct visit *visit);
void api_spool_head(struct visit *visit);
void api_spool_put(struct visit *visit);

#ifdef __cplusplus
}
#endif
#endif
