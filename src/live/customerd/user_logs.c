/* user_logs.c: the logs that jobs name, written into their users' folders. */
#define _GNU_SOURCE /* memfd_create */
#include "live/customerd/user_logs.h"

#include "live/customerd/customerd_parts.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/event_log.h"
#include "live/customerd/log_rows.h"
#include "live/customerd/log_writer.h"
#include "live/customerd/user_writer.h"
#include "pool/customer/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WRITERS_MAX 8            /* at a time */
#define BATCH_JOBS 100           /* jobs of one user whose events are written together ... */
#define BATCH_BYTES (256u << 10) /* ... and bytes of these, about */
#define BATCH_PAUSE (SECOND / 2) /* between two writers of one user, unless much waits */
#define SILENCE (60 * SECOND)    /* of a writer: then it is ended */
#define PAUSE_FIRST (2 * SECOND) /* after a failure; it doubles ... */
#define PAUSE_MOST (60 * SECOND) /* ... up to this */
#define PATIENCE (3600 * SECOND) /* then events are left out */
#define AHEAD_BYTES (64u << 10)  /* of the events of one job that wait */
#define OURS INT64_MAX           /* the customer's own user */

struct written {
    uint64_t job;
    struct log_told told; /* when it is written */
    size_t order;         /* its place in the orders */
};

/* The jobs of one user of which something is to be told; and the writer. */
struct log_user {
    struct log_user *next;
    struct user_logs *logs;
    int64_t uid;
    struct endings waiting;
    bool busy;    /* a batch is under way: */
    bool started; /* ... its writer is there */
    bool full;    /* more waited than a batch can hold */
    bool handle;  /* the process' handle is open */
    int orders;   /* ... the file in memory; -1: none */
    uv_process_t process;
    struct written *batch;
    uint32_t count, room;
    int64_t began;               /* the last batch */
    int64_t due, pause, failing; /* after a failure */
};

struct user_logs {
    struct customerd *customerd;
    struct log_rows rows; /* what the log of each job has been told */
    struct log_user *users;
    uint32_t writers;
    uint64_t before; /* the last job of the time before this start */
    bool began;
    char host[256];
    uint32_t open; /* handles */
    bool ending;
};

void user_logs_forget(struct user_logs *logs, uint64_t job)
{
    log_rows_forget(&logs->rows, job);
}

static void row_store(struct user_logs *logs, const struct log_row *row)
{
    struct err err = {0};

    if (log_rows_store(&logs->rows, row, &err) < 0)
        LOG(&logs->customerd->daemon.log, LEVEL_ERROR, "userlog", log_text("why", err.text));
}

/* --------------------------------------------------------------------------------------------------------------- one job */

/* With whose rights its log is written, and from which folder. NULL: the job has no log. The caller frees the folder. */
static char *log_folder(const struct job_view *view, int64_t *ret_uid)
{
    uint32_t uid;
    char *folder;

    if (!ad_find(view->ad, USER_LOG_ATTRIBUTE))
        return NULL;
    *ret_uid = OURS;
    folder = job_iwd(view->ad);
    if (!folder && (folder = job_iwd_of(view->ad, &uid)))
        *ret_uid = uid;
    return folder;
}

/* A text of the job's, computed for this job of several; false: it has none. */
static bool text_of(const struct job_view *view, const char *attribute, struct buf *ret)
{
    const struct crew nobody = {.count = 0};
    struct unit unit = {.ad = (struct tree *)(uintptr_t)view->ad,
                        .job = view->id,
                        .index = view->index,
                        .tries = view->begun,
                        .node = view->node,
                        .crew = &nobody};
    const struct env env = {.now = view->submitted, .steps = 10000};
    struct value value;
    struct scope scope;
    struct arena arena;
    struct eval eval;
    struct tree *ad;
    const char *text;
    size_t len;
    symbol name;

    buf_reset(ret);
    if (!ad_find(view->ad, attribute))
        return false;
    if (ad_string(view->ad, attribute, &text, &len)) {
        buf_add(ret, text, len);
    } else if ((ad = unit_ad(&unit))) {
        arena_init(&arena);
        scope_init(&scope, ad, NULL);
        eval_init(&eval, &env, &arena);
        name = symbols_find(ad->symbols, attribute, strlen(attribute));
        if (name && eval_attribute(&eval, &scope, name, &value) && value.type == VALUE_STRING)
            buf_add(ret, value.u.string, value.len);
        arena_done(&arena);
        tree_unref(ad);
    }
    return ret->len && ret->len < PATH_MAX && !memchr(ret->text, '\0', ret->len);
}

/* What is known of a job that runs on this machine, without a claim: it stands for its last try. */
static void local_try(const struct user_logs *logs, const struct job_view *view, struct job_attempts *ret)
{
    bool began = view->state == JOB_RUNNING || view->state == JOB_DONE;

    *ret = (struct job_attempts){.job = view->id, .count = view->begun ? 1 : 0};
    ret->tries[0] = (struct job_attempt){.serial = view->begun,
                                         .claim = view->claim,
                                         .number = view->number,
                                         .provider = (char *)(uintptr_t)logs->host,
                                         .began = view->changed,
                                         .started = began ? view->changed : 0,
                                         .finished = view->changed};
}

/* Appends the events of which the job's log has not been told, and what it has been told then. */
static void job_events(const struct user_logs *logs, const struct job_view *view, struct log_told *told,
                       struct buf *out)
{
    const struct customerd *customerd = logs->customerd;
    struct log_look look = {.view = view,
                            .tries = attempts_of(customerd->tries, view->id),
                            .host = logs->host,
                            .now = runner_wall() / SECOND};
    struct job_attempts local;
    struct buf notes, more;
    const char *node;
    uint64_t last;
    size_t len;

    buf_init(&notes);
    buf_init(&more);
    if (told->phase == LOG_NEW) {
        submission_of(customerd, view, look.now, &told->cluster, &last);
        if (view->node && ad_string(view->node, "Node", &node, &len))
            buf_addf(&notes, "DAG Node: %.*s", (int)len, node);
        look.notes[0] = notes.len || text_of(view, "SubmitEventNotes", &notes) ? buf_string(&notes) : NULL;
        look.notes[1] = text_of(view, "SubmitEventUserNotes", &more) ? buf_string(&more) : NULL;
    }
    if (view->local) {
        local_try(logs, view, &local);
        look.tries = &local;
    }
    event_log_add(&look, told, out);
    buf_done(&notes);
    buf_done(&more);
}

bool user_logs_owe(const struct user_logs *logs, const struct job_view *view)
{
    const struct log_row *known = log_rows_find(&logs->rows, view->id);
    int64_t uid;
    char *folder = known && known->told.phase == LOG_OVER ? NULL : log_folder(view, &uid);

    free(folder);
    return folder != NULL;
}

/* ------------------------------------------------------------------------------------------------------------- one batch */

static struct log_user *user_of(struct user_logs *logs, int64_t uid)
{
    struct log_user **link = &logs->users, *user;

    while (*link && (*link)->uid != uid)
        link = &(*link)->next;
    if (*link)
        return *link;
    *link = user = mem_alloc(sizeof *user);
    *user = (struct log_user){.logs = logs, .uid = uid, .orders = -1, .pause = PAUSE_FIRST};
    endings_init(&user->waiting);
    return user;
}

/* What its log has been told when all that is on its way is written. */
static struct log_told told_by_now(const struct log_user *user, const struct log_row *known, uint64_t job)
{
    if (known && known->ahead)
        return known->ahead_told;
    for (uint32_t i = 0; i < user->count; i++)
        if (user->batch[i].job == job)
            return user->batch[i].told;
    return known ? known->told : (struct log_told){.phase = LOG_NEW};
}

/* Puts the events of a job in words now, while it is as they say. */
static void events_keep(struct log_user *user, const struct job_view *view)
{
    struct log_row *known = log_rows_find(&user->logs->rows, view->id);
    struct log_told told = told_by_now(user, known, view->id);
    struct buf text;

    buf_init(&text);
    if (told.phase != LOG_NEW || view->state != JOB_IDLE) /* there may be very many that have only been submitted */
        job_events(user->logs, view, &told, &text);
    if (text.len && (!known || known->ahead_len + text.len < AHEAD_BYTES)) {
        if (!known) {
            known = log_rows_make(&user->logs->rows, view->id);
            known->unsure = view->id <= user->logs->before;
        }
        log_row_add(known, text.text, text.len, &told);
    }
    buf_done(&text);
}

void user_logs_note(struct user_logs *logs, const struct job_view *view)
{
    int64_t uid;
    char *folder = logs->ending ? NULL : log_folder(view, &uid);

    if (folder) {
        struct log_user *user = user_of(logs, uid);

        endings_add(&user->waiting, view->id);
        events_keep(user, view);
    }
    free(folder);
}

/* Its UserLog is no name of a file: what it is computed from may not be there. It is told once, and nothing waits for that log. */
static void log_leave(struct log_user *user, const struct job_view *view, struct log_told told, struct buf *text)
{
    struct customerd *customerd = user->logs->customerd;
    struct log_row *known = log_rows_make(&user->logs->rows, view->id);

    job_events(user->logs, view, &told, text);
    log_row_drop(known);
    known->told = told;
    row_store(user->logs, known);
    if (!known->blamed)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()),
                   "trouble with files: " USER_LOG_ATTRIBUTE " says no name of a file: its events are left out");
    known->blamed = true;
    customerd_commit(customerd);
}

/* Adds the job's events to the orders: to the last one, if that is for the same log. */
static void batch_add(struct log_user *user, const struct job_view *view, struct buf *orders, struct buf *path,
                      struct buf *text, struct buf *last)
{
    struct user_logs *logs = user->logs;
    struct log_row *known = log_rows_find(&logs->rows, view->id);
    struct written one = {.job = view->id, .told = told_by_now(user, known, view->id)};
    int64_t uid;
    char *folder = log_folder(view, &uid);

    buf_reset(text);
    if (!folder || uid != user->uid || !text_of(view, USER_LOG_ATTRIBUTE, path)) {
        if (folder && uid == user->uid)
            log_leave(user, view, one.told, text);
        free(folder);
        return;
    }
    if (known && known->ahead) {
        buf_add(text, known->ahead, known->ahead_len);
        log_row_drop(known);
    }
    job_events(logs, view, &one.told, text);
    if (text->len) {
        const char *name = buf_string(path);
        bool unsure = known ? known->unsure : view->id <= logs->before;

        buf_reset(&logs->customerd->out);
        buf_addf(&logs->customerd->out, "%d %s %s %s", unsure, view->owner, folder, name);
        one.order = user->count ? user->batch[user->count - 1].order : 0;
        if (!user->count || last->len != logs->customerd->out.len ||
            memcmp(last->text, logs->customerd->out.text, last->len) != 0) {
            one.order = log_order_add(orders, folder, name, view->owner, unsure);
            buf_reset(last);
            buf_add(last, logs->customerd->out.text, logs->customerd->out.len);
        }
        log_order_text(orders, one.order, text->text, text->len);
        ARRAY_ROOM(user->batch, user->count, user->room, 16);
        user->batch[user->count++] = one;
    }
    free(folder);
}

static void batch_drop(struct log_user *user)
{
    if (user->orders >= 0)
        close(user->orders);
    user->orders = -1;
    user->count = 0;
    user->busy = user->started = false;
}

/* Can it succeed later? */
static bool is_passing(int error)
{
    static const int passing[] = {ENOSPC, EDQUOT, EIO, ESTALE, ETIMEDOUT, EAGAIN, EMFILE, ENFILE, ENOMEM, EINTR};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == passing[i])
            return true;
    return false;
}

/* The events of one job could not be written. Returns whether they will be tried again. */
static bool job_failed(struct log_user *user, const struct written *one, int error)
{
    struct customerd *customerd = user->logs->customerd;
    bool again = is_passing(error) && (!user->failing || runner_now() - user->failing < PATIENCE);
    struct log_row *known = log_rows_make(&user->logs->rows, one->job);
    struct job_view view;

    known->unsure = true;
    if (!known->blamed && customer_job(customerd->customer, one->job, &view))
        joblog_add(customerd->files, one->job, view.submitted, wall_seconds(runner_wall()),
                   "trouble with files: the log that it names could not be written: %s; %s",
                   error == USER_WRITER_ANOTHER ? "the job's user id is that of another account now" : strerror(error),
                   again ? "it will be tried again" : "these events are left out");
    known->blamed = true;
    return again;
}

static void job_settled(struct log_user *user, const struct written *one, const struct log_order *order)
{
    struct user_logs *logs = user->logs;
    struct log_row *known;

    if (order->state != LOG_WRITTEN && job_failed(user, one, order->state == LOG_FAILED ? order->error : ETIMEDOUT)) {
        user->failing = user->failing ? user->failing : runner_now();
        endings_add(&user->waiting, one->job);
        log_row_drop(log_rows_make(&logs->rows, one->job)); /* it went on from what was not written */
        return;
    }
    known = log_rows_make(&logs->rows, one->job);
    known->told = one->told;
    known->unsure = known->unsure && order->state != LOG_WRITTEN;
    row_store(logs, known);
}

static void batch_settle(struct log_user *user)
{
    struct user_logs *logs = user->logs;
    int64_t failing = user->failing;
    bool failed = false;

    for (uint32_t i = 0; i < user->count; i++) {
        struct log_order order = {.state = LOG_UNANSWERED};
        struct job_view view;

        if (pread(user->orders, &order, sizeof order, (off_t)user->batch[i].order) != (ssize_t)sizeof order)
            order.state = LOG_UNANSWERED;
        if (!customer_job(logs->customerd->customer, user->batch[i].job, &view))
            continue; /* it has gone meanwhile */
        job_settled(user, &user->batch[i], &order);
        failed = failed || (order.state != LOG_WRITTEN && endings_has(&user->waiting, user->batch[i].job));
    }
    if (failed) {
        user->failing = failing ? failing : runner_now();
        user->due = runner_now() + user->pause;
        user->pause = user->pause * 2 < PAUSE_MOST ? user->pause * 2 : PAUSE_MOST;
    } else {
        user->failing = user->due = 0;
        user->pause = PAUSE_FIRST;
    }
    customerd_commit(logs->customerd);
}

/* ------------------------------------------------------------------------------------------------------------ the writer */

static void user_free(struct log_user *user)
{
    endings_done(&user->waiting);
    free(user->batch);
    free(user);
}

static void logs_free_if(struct user_logs *logs)
{
    if (logs->ending && !logs->open)
        free(logs);
}

static void process_closed(uv_handle_t *handle)
{
    struct log_user *user = handle->data;

    user->handle = false;
    user->logs->open--;
    if (user->logs->ending) {
        struct user_logs *logs = user->logs;

        user_free(user);
        logs_free_if(logs);
    }
}

static void writer_ended(uv_process_t *process, int64_t status, int number)
{
    struct log_user *user = process->data;

    (void)status, (void)number;
    user->logs->writers--;
    if (!user->logs->ending)
        batch_settle(user);
    batch_drop(user);
    uv_close((uv_handle_t *)process, process_closed);
}

static int writer_start(struct log_user *user)
{
    struct customerd *customerd = user->logs->customerd;
    char who[24] = LOG_WRITER_SELF;
    char *words[] = {(char *)(uintptr_t)customerd->settings->program, (char *)(uintptr_t)LOG_WRITER_COMMAND, who, NULL};
    char *nothing[] = {NULL};
    uv_stdio_container_t streams[3] = {
        {.flags = UV_INHERIT_FD, .data.fd = user->orders}, {.flags = UV_IGNORE}, {.flags = UV_IGNORE}};
    uv_process_options_t options = {.exit_cb = writer_ended,
                                    .file = customerd->settings->program,
                                    .args = words,
                                    .env = nothing,
                                    .stdio = streams,
                                    .stdio_count = 3};

    if (user->uid != OURS)
        snprintf(who, sizeof who, "%lld", (long long)user->uid);
    user->process.data = user;
    user->handle = true;
    user->logs->open++;
    if (uv_spawn(&customerd->daemon.loop, &user->process, &options) < 0) {
        uv_close((uv_handle_t *)&user->process, process_closed);
        return -1;
    }
    user->started = true;
    user->logs->writers++;
    return 0;
}

/* All that the batch tells of is durable: it is not taken back any more. */
static void batch_durable(void *given, bool durable)
{
    struct log_user *user = given;

    if (!durable || user->logs->ending) {
        batch_drop(user);
    } else if (writer_start(user) < 0) {
        batch_settle(user);
        batch_drop(user);
    }
}

/* Takes up some of the jobs that wait. */
static void batch_begin(struct log_user *user)
{
    struct customerd *customerd = user->logs->customerd;
    struct buf orders, path, text, last;
    struct job_view view;
    uint32_t jobs = 0;

    buf_init(&orders);
    buf_init(&path);
    buf_init(&text);
    buf_init(&last);
    while (endings_count(&user->waiting) && jobs++ < BATCH_JOBS && orders.len < BATCH_BYTES) {
        uint64_t job = endings_take(&user->waiting);

        if (customer_job(customerd->customer, job, &view))
            batch_add(user, &view, &orders, &path, &text, &last);
    }
    user->full = endings_count(&user->waiting) != 0;
    user->orders = user->count ? memfd_create("events", MFD_CLOEXEC) : -1;
    if (user->count) {
        user->busy = true;
        user->began = runner_now();
        if (user->orders < 0 || write(user->orders, orders.text, orders.len) != (ssize_t)orders.len) {
            batch_settle(user);
            batch_drop(user);
        } else {
            runner_commit(customerd->runner, batch_durable, user);
        }
    }
    buf_done(&orders);
    buf_done(&path);
    buf_done(&text);
    buf_done(&last);
}

/* -------------------------------------------------------------------------------------------------------------- all users */

bool user_logs_tick(struct user_logs *logs, int64_t ends)
{
    struct log_user *user = logs->users, *last = user;
    int64_t now = runner_now();

    if (!logs->began)
        logs->before = customer_last(logs->customerd->customer);
    logs->began = true;
    for (; user; user = user->next) {
        last = user;
        if (user->started && now - user->began > SILENCE)
            uv_process_kill(&user->process, SIGKILL);
        if (user->busy || user->handle || !endings_count(&user->waiting) || now < user->due ||
            (!user->full && now - user->began < BATCH_PAUSE) || logs->writers >= WRITERS_MAX)
            continue;
        if (runner_now() >= ends)
            return true; /* the others come first the next time */
        batch_begin(user);
    }
    if (last && last != logs->users) { /* another is first the next time */
        user = logs->users;
        logs->users = user->next;
        user->next = NULL;
        last->next = user;
    }
    return false;
}

struct user_logs *user_logs_new(struct customerd *customerd, struct err *err)
{
    struct user_logs *logs = mem_alloc(sizeof *logs);

    *logs = (struct user_logs){.customerd = customerd};
    log_rows_init(&logs->rows, customerd->daemon.shelf);
    if (gethostname(logs->host, sizeof logs->host - 1) < 0 || !*logs->host)
        snprintf(logs->host, sizeof logs->host, "customer");
    if (log_rows_load(&logs->rows, err) == 0)
        return logs;
    user_logs_free(logs);
    return NULL;
}

void user_logs_free(struct user_logs *logs)
{
    struct log_user *user, *next;

    if (!logs)
        return;
    logs->ending = true;
    for (user = logs->users; user; user = next) {
        next = user->next;
        if (user->started) {
            uv_process_kill(&user->process, SIGKILL);
            batch_drop(user);
            uv_close((uv_handle_t *)&user->process, process_closed);
        } else if (!user->handle) {
            batch_drop(user);
            user_free(user);
        }
    }
    log_rows_done(&logs->rows);
    logs_free_if(logs);
}
