/* deliveries.c: outputs of other users' jobs on their way into the folders that they were submitted from. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "live/customerd/deliveries.h"

#include "lang/base/array.h"
#include "lang/base/err.h"
#include "lang/base/mem.h"
#include "live/customerd/away.h"
#include "live/customerd/user_writer.h"
#include "sys/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#define TICK_MS 1000
#define SECOND_US INT64_C(1000000)
#define SILENCE (60 * SECOND_US)     /* of a writer: then it is ended */
#define IDLE_SPAN (5 * SECOND_US)    /* a writer with nothing to do is kept so long */
#define PAUSE_FIRST (5 * SECOND_US)  /* before a job is tried again; it doubles ... */
#define PAUSE_MOST (600 * SECOND_US) /* ... up to this */
#define PATIENCE (86400 * SECOND_US) /* after that, what is not there stays here */

/* A job whose outputs wait, or are being brought. */
struct delivery {
    struct delivery *next;
    uint64_t job;
    int64_t since, due, pause;
};

/* The deliveries of one user, in order; and its writer. */
struct user {
    struct user *next;
    struct deliveries *all;
    uint32_t uid;
    struct delivery *first, **end;
    bool started;      /* its writer's process is there: */
    bool polled, told; /* ... we read from it; it was told to end */
    int socket;        /* -1: none */
    int handles;       /* of these, still open */
    uv_process_t process;
    uv_poll_t poll;
    int64_t heard;          /* when the writer last said something, or was given something to do */
    bool busy;              /* the writer has an order: the file `at` of the first job */
    struct job_file *files; /* of the first job; their names are owned */
    uint32_t count, room, at;
    struct delivery_job now; /* its folder and owner are owned */
    bool waits;              /* one of its files is to be tried again */
};

struct deliveries {
    uv_loop_t *loop;
    struct deliveries_ports ports;
    struct user *users;
    uint32_t writers;
    uv_timer_t tick;
    bool ending, ended; /* the timer is still there, or gone */
};

static void user_next(struct user *user);
static void file_failed(struct user *user, int error);

/* --------------------------------------------------------------------------------------------------------- the writer */

static void all_free_if(struct deliveries *all)
{
    if (all->ended && !all->users)
        free(all);
}

static void user_free_if(struct user *user)
{
    struct deliveries *all = user->all;
    struct user **link = &all->users;

    if (user->started || user->handles || (user->first && !all->ending))
        return;
    while (*link != user)
        link = &(*link)->next;
    *link = user->next;
    while (user->first) {
        struct delivery *next = user->first->next;

        free(user->first);
        user->first = next;
    }
    free(user);
    all_free_if(all);
}

static void handle_closed(uv_handle_t *handle)
{
    struct user *user = handle->data;

    user->handles--;
    user_free_if(user);
}

static void job_clear(struct user *user)
{
    for (uint32_t i = 0; i < user->count; i++) {
        free((char *)(uintptr_t)user->files[i].name);
        free((char *)(uintptr_t)user->files[i].to);
    }
    free(user->files);
    free((char *)(uintptr_t)user->now.place.iwd);
    free((char *)(uintptr_t)user->now.owner);
    user->files = NULL;
    user->now = (struct delivery_job){.uid = 0};
    user->count = user->room = user->at = 0;
    user->busy = user->waits = false;
}

/* Stops listening to the writer, which ends when it sees that. */
static void writer_leave(struct user *user)
{
    if (user->polled) {
        user->polled = false;
        uv_poll_stop(&user->poll);
        uv_close((uv_handle_t *)&user->poll, handle_closed);
    }
    if (user->socket >= 0)
        close(user->socket);
    user->socket = -1;
}

static void writer_ended(uv_process_t *process, int64_t status, int number)
{
    struct user *user = process->data;
    bool busy = user->busy;

    (void)status, (void)number;
    user->all->writers--;
    user->started = false;
    writer_leave(user);
    uv_close((uv_handle_t *)process, handle_closed);
    user->told = false;
    if (busy) { /* it has ended in the middle of a file */
        user->busy = false;
        file_failed(user, ETIMEDOUT);
        user->at = user->count;
    }
}

static void answer_came(uv_poll_t *poll, int status, int events);

/* Starts the user's writer. -1: not now. */
static int writer_start(struct user *user)
{
    struct deliveries *all = user->all;
    char uid[16], *words[] = {(char *)(uintptr_t)all->ports.program, (char *)(uintptr_t)USER_WRITER_COMMAND, uid, NULL},
                  *nothing[] = {NULL};
    uv_stdio_container_t streams[3] = {{.flags = UV_INHERIT_FD}, {.flags = UV_IGNORE}, {.flags = UV_IGNORE}};
    uv_process_options_t options = {.exit_cb = writer_ended,
                                    .file = all->ports.program,
                                    .args = words,
                                    .env = nothing,
                                    .stdio = streams,
                                    .stdio_count = 3};
    int pair[2], failed;

    if (user->handles || all->writers >= DELIVERIES_WRITERS || !all->ports.program)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) /* the writer waits for orders; we never do */
        return -1;
    snprintf(uid, sizeof uid, "%u", user->uid);
    streams[0].data.fd = pair[1];
    user->process.data = user->poll.data = user;
    failed = uv_spawn(all->loop, &user->process, &options);
    close(pair[1]);
    user->handles++;
    if (failed) {
        close(pair[0]);
        uv_close((uv_handle_t *)&user->process, handle_closed);
        return -1;
    }
    all->writers++;
    user->started = true;
    user->told = false;
    user->socket = pair[0];
    user->heard = clock_now();
    if (uv_poll_init(all->loop, &user->poll, pair[0]) < 0)
        return 0; /* it will be taken for silent */
    user->handles++;
    user->polled = true;
    uv_poll_start(&user->poll, UV_READABLE, answer_came);
    return 0;
}

static void writer_kill(struct user *user)
{
    if (user->started && !user->told) {
        user->told = true;
        uv_process_kill(&user->process, SIGKILL);
    }
}

/* ------------------------------------------------------------------------------------------------------------- one job */

static void file_note(void *given, const struct job_file *file)
{
    struct user *user = given;

    if (file->kind != JOB_FILE_OUTPUT || !file->whole || file->away || file->delivered || file->permit == PERMIT_NO)
        return;
    ARRAY_ROOM(user->files, user->count, user->room, 16);
    user->files[user->count] = *file;
    user->files[user->count].to = file->to ? mem_dup(file->to, strlen(file->to)) : NULL;
    user->files[user->count++].name = mem_dup(file->name, strlen(file->name));
}

/* The first job of the user is over, or is to be tried again. */
static void job_end(struct user *user)
{
    struct delivery *one = user->first;
    int64_t now = clock_now();
    bool again = user->waits && now - one->since < PATIENCE;
    uint64_t job = one->job;

    job_clear(user);
    user->first = one->next;
    one->next = NULL;
    if (!user->first)
        user->end = &user->first;
    if (again) { /* behind those of the same user: their folders may be others */
        one->due = now + one->pause;
        one->pause = one->pause * 2 < PAUSE_MOST ? one->pause * 2 : PAUSE_MOST;
        *user->end = one;
        user->end = &one->next;
    } else {
        free(one);
        user->all->ports.over(user->all->ports.user, job);
    }
}

/* Can it succeed later? */
static bool is_passing(int error)
{
    static const int passing[] = {ENOSPC, EDQUOT, EIO,    ESTALE, ETIMEDOUT, EAGAIN,
                                  EMFILE, ENFILE, ENOMEM, EROFS,  EINTR,     EHOSTDOWN};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == passing[i])
            return true;
    return false;
}

static void file_failed(struct user *user, int error)
{
    const struct job_file *file = &user->files[user->at];
    bool passing = is_passing(error);
    struct err words = {0};

    user->waits = user->waits || passing;
    if (passing && user->first->pause > PAUSE_FIRST)
        return; /* that was told when it was first tried */
    err_set(&words, "%s could not be put %s%s: %s; %s", file->to ? file->to : file->name, file->to ? "there" : "into ",
            file->to ? "" : user->now.place.iwd,
            error == USER_WRITER_ANOTHER ? "the job's user id is that of another account now" : strerror(error),
            passing ? "it will be tried again" : "it is kept here");
    user->all->ports.trouble(user->all->ports.user, user->first->job, words.text);
}

static void file_done(struct user *user, bool beside)
{
    const struct job_file *file = &user->files[user->at];
    struct err words = {0};

    if (jobfiles_delivered(user->all->ports.files, &user->now.place, file->name, beside, user->now.keep) < 0) {
        user->waits = true; /* when it is tried again, the same bytes are found there */
        return;
    }
    if (!beside)
        return;
    err_set(&words, "%s is there already, and the job does not name it: it came as %s.%llu", file->name, file->name,
            (unsigned long long)user->first->job);
    user->all->ports.trouble(user->all->ports.user, user->first->job, words.text);
}

/* Gives the writer the next file; false: that could not be done, and the file is passed over. */
static bool file_order(struct user *user)
{
    const struct job_file *file = &user->files[user->at];
    struct write_order order = {.customer = user->all->ports.customer,
                                .job = user->first->job,
                                .size = (int64_t)file->size,
                                .mode = file->mode,
                                .permit = file->permit,
                                .before = file->before,
                                .before_beside = file->before_beside};
    struct job_place here = user->now.place;
    uint64_t size;
    bool whole;
    int fd;

    here.iwd = NULL;
    if (away_place(user->now.place.iwd, file->name, file->to, order.folder, order.name) < 0)
        return file_failed(user, ENAMETOOLONG), false;
    snprintf(order.owner, sizeof order.owner, "%s", user->now.owner);
    memcpy(order.hash, file->hash, sizeof order.hash);
    fd = jobfiles_open(user->all->ports.files, &here, JOB_FILE_OUTPUT, file->name, &size, &whole);
    if (fd < 0)
        return file_failed(user, errno), false;
    user->busy = write_order_send(user->socket, &order, fd) == 0;
    close(fd);
    user->heard = clock_now();
    if (!user->busy) { /* the writer has gone, or is going */
        user->waits = true;
        user->at = user->count;
    }
    return user->busy;
}

static void answer_came(uv_poll_t *poll, int status, int events)
{
    struct user *user = poll->data;
    struct write_answer answer;
    ssize_t got;

    (void)events;
    got = status < 0 ? 0 : recv(user->socket, &answer, sizeof answer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got != sizeof answer || !user->busy ||
        answer.state > WRITE_FAILED) { /* it has ended, or says what it should not */
        writer_leave(user);
        writer_kill(user);
        return;
    }
    user->heard = clock_now();
    if (answer.state == WRITE_BUSY)
        return;
    user->busy = false;
    if (answer.state == WRITE_DONE)
        file_done(user, answer.beside != 0);
    else
        file_failed(user, answer.error);
    user->at++;
    user_next(user);
}

/* Takes up the first job that is due. False: there is none. */
static bool job_begin(struct user *user)
{
    int64_t now = clock_now();

    while (user->first && !user->now.place.job) {
        struct delivery **link = &user->first, *one;

        while (*link && (*link)->due > now)
            link = &(*link)->next;
        if (!*link)
            return false;
        if (link != &user->first) { /* to the front */
            one = *link;
            *link = one->next;
            if (user->end == &one->next)
                user->end = link;
            one->next = user->first;
            user->first = one;
        }
        if (user->all->ports.job(user->all->ports.user, user->first->job, &user->now) && user->now.uid == user->uid &&
            jobfiles_each(user->all->ports.files, &user->now.place, file_note, user) < 0)
            user->waits = true; /* the list of its files cannot be read now */
        if (!user->count)
            job_end(user);
    }
    return user->first != NULL;
}

/* Goes on with the user's deliveries as far as that is possible now. */
static void user_next(struct user *user)
{
    while (!user->busy && !user->all->ending && job_begin(user)) {
        if (user->at == user->count) {
            job_end(user);
            continue;
        }
        if ((!user->started && writer_start(user) < 0) || !user->polled || user->told)
            return; /* at the next tick */
        if (!file_order(user) && user->at < user->count)
            user->at++;
    }
}

/* ------------------------------------------------------------------------------------------------------------------ all */

static void tick_due(uv_timer_t *timer)
{
    struct deliveries *all = timer->data;
    int64_t now = clock_now();
    struct user *next;

    for (struct user *user = all->users; user; user = next) {
        next = user->next;
        if (user->started && now - user->heard > (user->busy ? SILENCE : IDLE_SPAN))
            writer_kill(user);
        user_next(user);
        user_free_if(user);
    }
    if (!all->users)
        uv_timer_stop(timer);
}

struct deliveries *deliveries_new(uv_loop_t *loop, const struct deliveries_ports *ports)
{
    struct deliveries *all = mem_alloc(sizeof *all);

    *all = (struct deliveries){.loop = loop, .ports = *ports};
    uv_timer_init(loop, &all->tick);
    all->tick.data = all;
    return all;
}

static void tick_closed(uv_handle_t *handle)
{
    struct deliveries *all = handle->data;
    struct user *user = all->users, *next;

    for (; user; user = next) { /* those without a writer */
        next = user->next;
        user_free_if(user);
    }
    all->ended = true;
    all_free_if(all);
}

void deliveries_free(struct deliveries *all)
{
    if (!all)
        return;
    all->ending = true;
    for (struct user *user = all->users; user; user = user->next) {
        job_clear(user);
        writer_leave(user);
        writer_kill(user);
        if (user->started) { /* nobody waits for its end any more */
            user->started = false;
            uv_close((uv_handle_t *)&user->process, handle_closed);
        }
    }
    uv_close((uv_handle_t *)&all->tick, tick_closed);
}

void deliveries_add(struct deliveries *all, uint64_t job, uint32_t uid)
{
    struct delivery *one = mem_alloc(sizeof *one);
    struct user *user = all->users;

    while (user && user->uid != uid)
        user = user->next;
    if (!user) {
        user = mem_alloc(sizeof *user);
        *user = (struct user){.next = all->users, .all = all, .uid = uid, .socket = -1};
        user->end = &user->first;
        all->users = user;
    }
    *one = (struct delivery){.job = job, .since = clock_now(), .pause = PAUSE_FIRST};
    *user->end = one;
    user->end = &one->next;
    if (!uv_is_active((const uv_handle_t *)&all->tick))
        uv_timer_start(&all->tick, tick_due, TICK_MS, TICK_MS);
    user_next(user);
}
