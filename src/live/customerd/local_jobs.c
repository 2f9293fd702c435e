/* local_jobs.c: jobs that run on the customer's own host: whose turn it is, and the runners of those that run. */
#include "live/customerd/local_jobs.h"

#include "lang/base/mem.h"
#include "live/customerd/endings.h"
#include "live/customerd/user_runner.h"
#include "sys/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define TICK_MS 250     /* within that, what runs ends when another customer may have the queue */
#define LOOKS_MOST 1000 /* at users in one turn: then others have theirs */
#define SECOND_US INT64_C(1000000)

struct local_user;

/* One that runs. */
struct local_run {
    struct local_run *next;
    struct local_jobs *all;
    struct local_user *user;
    uint64_t job, begun;
    bool flow;
    uv_process_t process;
    uv_pipe_t in, out;
    uv_write_t write;
    struct buf order;
    char said[USER_RUNNER_WORDS_MAX];
    size_t said_len;
    int handles;                 /* still open */
    bool waits;                  /* for the row of its beginning: it has no process yet */
    bool exited, heard, dropped; /* its process has ended; all that it said was read; nobody wants to know */
    bool cut;                    /* it ends at once */
    int64_t told;                /* since when it is to end; 0: it is not */
    bool shut;                   /* its owner was shut out: it is to begin again, some day */
};

/* Those of one user. Jobs that carry out workflows wait for other jobs most of the time, and are counted by themselves: [1]. */
struct local_user {
    struct local_user *next;
    uint32_t uid;
    struct endings waits[2]; /* in the order in which they came */
    uint32_t runs[2];
};

struct local_jobs {
    uv_loop_t *loop;
    struct local_jobs_ports ports;
    struct local_run *runs;
    struct local_user *users; /* the first is the first to begin one */
    uint32_t run_count[2];
    uv_timer_t tick;
    bool ending, closed;
};

/* ----------------------------------------------------------------------------------------------------------------- runs */

static void all_free_if(struct local_jobs *all)
{
    struct local_user *user, *next;

    if (!all->closed || all->runs)
        return;
    for (user = all->users; user; user = next) {
        next = user->next;
        endings_done(&user->waits[0]);
        endings_done(&user->waits[1]);
        free(user);
    }
    free(all);
}

static struct local_user *user_of(struct local_jobs *all, uint32_t uid)
{
    struct local_user **link = &all->users, *user;

    while (*link && (*link)->uid != uid)
        link = &(*link)->next;
    if (*link)
        return *link;
    *link = user = mem_alloc(sizeof *user);
    *user = (struct local_user){.uid = uid};
    endings_init(&user->waits[0]);
    endings_init(&user->waits[1]);
    return user;
}

static void run_free_if(struct local_run *run)
{
    struct local_jobs *all = run->all;
    struct local_run **link = &all->runs;

    if (run->handles)
        return;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    buf_done(&run->order);
    free(run);
    all_free_if(all);
}

static void handle_closed(uv_handle_t *handle)
{
    struct local_run *run = handle->data;

    run->handles--;
    run_free_if(run);
}

static void tick_due(uv_timer_t *timer);

static void soon(struct local_jobs *all)
{
    if (!all->ending)
        uv_timer_start(&all->tick, tick_due, 0, TICK_MS);
}

/* What the runner said, as an end. Words that it does not have are taken for a fault of its own. */
static struct local_end end_read(const struct local_run *run)
{
    struct local_end end = {.news = JOB_EXITED, .reason = REASON_EXITED};
    long number;

    if (run->shut)
        return (struct local_end){.news = JOB_GONE};
    if (!strncmp(run->said, "exit ", 5)) {
        end.status = strtol(run->said + 5, NULL, 10) & 255;
    } else if (!strncmp(run->said, "signal ", 7)) {
        number = strtol(run->said + 7, NULL, 10);
        end.status = number > 0 && number < 128 ? -number : -9;
    } else if (!strcmp(run->said, "time")) {
        end.reason = REASON_TIME;
        end.status = -9;
    } else if (!strncmp(run->said, "setup ", 6)) {
        end.reason = REASON_SETUP;
        end.words = run->said + 6;
    } else { /* the runner was killed, and the job with it */
        end.status = -9;
    }
    return end;
}

/* The process has ended, and all that it said is here. */
static void run_settle(struct local_run *run)
{
    struct local_end end;

    if (!run->exited || !run->heard)
        return;
    if (!run->cut)
        uv_close((uv_handle_t *)&run->in, handle_closed);
    uv_close((uv_handle_t *)&run->out, handle_closed);
    uv_close((uv_handle_t *)&run->process, handle_closed);
    end = end_read(run);
    if (!run->dropped && !run->all->ending)
        run->all->ports.ended(run->all->ports.user, run->job, run->begun, &end);
    run->job = 0; /* another try may begin */
    soon(run->all);
}

static void run_uncount(struct local_run *run)
{
    run->user->runs[run->flow]--;
    run->all->run_count[run->flow]--;
}

static void process_ended(uv_process_t *process, int64_t status, int number)
{
    struct local_run *run = process->data;

    (void)status, (void)number;
    run->exited = true;
    run_uncount(run);
    run_settle(run);
}

static void said_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    static char room[1024];

    (void)handle, (void)size;
    *ret = uv_buf_init(room, sizeof room);
}

static void said_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *bytes)
{
    struct local_run *run = stream->data;

    for (ssize_t i = 0; i < got; i++)
        if (run->said_len + 1 < sizeof run->said)
            run->said[run->said_len++] = bytes->base[i] && (unsigned char)bytes->base[i] >= ' ' ? bytes->base[i] : ' ';
    if (got >= 0)
        return;
    run->heard = true;
    uv_read_stop(stream);
    run_settle(run);
}

static void order_sent(uv_write_t *write, int status)
{
    (void)write, (void)status; /* a runner that does not read it ends by itself */
}

/* Starts the runner; -1: it cannot be started now. */
static int run_start(struct local_run *run)
{
    struct local_jobs *all = run->all;
    char uid[16], *words[] = {(char *)(uintptr_t)all->ports.program, (char *)(uintptr_t)USER_RUNNER_COMMAND, uid, NULL},
                  *nothing[] = {NULL};
    uv_stdio_container_t streams[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&run->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&run->out},
        {.flags = UV_IGNORE}};
    uv_process_options_t options = {.exit_cb = process_ended,
                                    .file = all->ports.program,
                                    .args = words,
                                    .env = nothing,
                                    .stdio = streams,
                                    .stdio_count = 3};
    uv_buf_t bytes = uv_buf_init(run->order.text, (unsigned)run->order.len);
    int failed;

    snprintf(uid, sizeof uid, "%u", run->user->uid);
    uv_pipe_init(all->loop, &run->in, 0);
    uv_pipe_init(all->loop, &run->out, 0);
    run->process.data = run->in.data = run->out.data = run;
    failed = all->ports.program ? uv_spawn(all->loop, &run->process, &options) : UV_ENOENT;
    run->handles = 2;
    if (all->ports.program)
        run->handles++;
    if (failed) {
        run->exited = run->heard = true; /* its handles are being closed */
        uv_close((uv_handle_t *)&run->in, handle_closed);
        uv_close((uv_handle_t *)&run->out, handle_closed);
        if (all->ports.program)
            uv_close((uv_handle_t *)&run->process, handle_closed);
        return -1;
    }
    uv_write(&run->write, (uv_stream_t *)&run->in, &bytes, 1, order_sent);
    uv_read_start((uv_stream_t *)&run->out, said_room, said_read);
    return 0;
}

static struct local_run *run_find(const struct local_jobs *all, uint64_t job)
{
    struct local_run *run = all->runs;

    while (run && run->job != job)
        run = run->next;
    return run;
}

/* The role has decided that the job begins. Its process begins when the row of that is durable: else the next customer would know nothing of it, and begin it
 * beside this one. */
static void run_await(struct local_jobs *all, struct local_user *user, const struct job_view *view)
{
    struct local_run *run = mem_alloc(sizeof *run);

    *run = (struct local_run){.next = all->runs,
                              .all = all,
                              .user = user,
                              .job = view->id,
                              .begun = view->begun,
                              .flow = local_job_is_flow(view->ad),
                              .waits = true};
    all->runs = run;
    buf_init(&run->order);
    user->runs[run->flow]++;
    all->run_count[run->flow]++;
}

/* The row is durable, and says something else by now. */
static void run_forget(struct local_run *run)
{
    run_uncount(run);
    run_free_if(run);
}

/* The row is durable. */
static void run_begin(struct local_run *run, const struct job_view *view)
{
    static const struct local_end failed = {
        .news = JOB_EXITED, .reason = REASON_SETUP, .words = "its process could not be started"};
    struct local_jobs *all = run->all;

    run->waits = false;
    all->ports.order(all->ports.user, view, &run->order);
    user_order_add(&run->order, ORDER_END, "", 0);
    if (run_start(run) == 0)
        return;
    run_uncount(run);
    run->job = 0;
    all->ports.ended(all->ports.user, view->id, view->begun, &failed);
}

static void run_end(struct local_run *run)
{
    if (run->told)
        return;
    run->told = clock_now();
    if (!run->exited)
        uv_process_kill(&run->process, SIGTERM);
}

static void run_stop(struct local_run *run)
{
    run->dropped = true;
    run_end(run);
}

/* Ends the job at once: its runner sees that nobody is there any more. It is to begin again. */
static void run_cut(struct local_run *run)
{
    run->shut = run->cut = true;
    run->told = clock_now();
    uv_close((uv_handle_t *)&run->in, handle_closed);
}

/* Another customer may have the queue by now, and begin again what runs here. */
static void runs_cut(struct local_jobs *all)
{
    for (struct local_run *run = all->runs; run; run = run->next)
        if (!run->waits && !run->cut && !run->exited)
            run_cut(run);
}

/* Ends what runs of users who were shut out so that it is to end, too. */
static void runs_shut(struct local_jobs *all)
{
    struct job_view view;
    bool now;

    for (struct local_run *run = all->runs; run; run = run->next)
        if (run->job && !run->waits && !run->told && all->ports.job(all->ports.user, run->job, &view) &&
            all->ports.shut(all->ports.user, view.owner, &now) && now) {
            run->shut = true;
            run_end(run);
        }
}

/* ---------------------------------------------------------------------------------------------------------------- turns */

/* Lets the first of that user's that waits begin; true: one has, or was found not to wait any more. */
static bool first_begin(struct local_jobs *all, struct local_user *user, bool flow)
{
    struct endings *waits = &user->waits[flow];
    struct job_view view;
    uint64_t job;
    bool now;

    if (!endings_count(waits) || !all->ports.may_act(all->ports.user) ||
        all->run_count[flow] >= all->ports.most(all->ports.user, false) ||
        user->runs[flow] >= all->ports.most(all->ports.user, true))
        return false;
    job = endings_take(waits);
    if (!all->ports.job(all->ports.user, job, &view) || view.state != JOB_IDLE || view.blocked || view.early)
        return true;
    if (run_find(all, job) || all->ports.shut(all->ports.user, view.owner, &now)) { /* its last try is being ended */
        endings_add(waits, job);
        return false;
    }
    all->ports.begins(all->ports.user, job);
    if (all->ports.job(all->ports.user, job, &view) && view.state == JOB_RUNNING)
        run_await(all, user, &view);
    return true;
}

/* Lets those begin whose turn has come, one of each user in turn. */
static void turns_give(struct local_jobs *all)
{
    struct local_user *user, **last = &all->users;
    bool some = true;
    int looks = 0;

    while (some && looks < LOOKS_MOST) {
        some = false;
        for (user = all->users; user && looks < LOOKS_MOST; user = user->next, looks++) {
            some = first_begin(all, user, false) || some;
            some = first_begin(all, user, true) || some;
        }
    }
    if (some)
        soon(all);
    if (!all->users || !all->users->next)
        return;
    user = all->users; /* another is first the next time */
    all->users = user->next;
    user->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = user;
}

static bool some_wait(const struct local_jobs *all)
{
    for (const struct local_user *user = all->users; user; user = user->next)
        if (endings_count(&user->waits[0]) || endings_count(&user->waits[1]))
            return true;
    return false;
}

/* After that a runner that was told to end is ended. */
static int64_t patience(const struct local_run *run)
{
    return ((run->flow && !run->cut ? USER_RUNNER_FLOW_S : USER_RUNNER_GRACE_S) + 15) * SECOND_US;
}

static void tick_due(uv_timer_t *timer)
{
    struct local_jobs *all = timer->data;
    int64_t now = clock_now();

    for (struct local_run *run = all->runs; run; run = run->next)
        if (run->told && !run->exited && now - run->told > patience(run))
            uv_process_kill(&run->process, SIGKILL);
    if (all->ports.deposed(all->ports.user))
        runs_cut(all);
    runs_shut(all);
    turns_give(all);
    if (!all->runs && !some_wait(all))
        uv_timer_stop(timer);
}

void local_jobs_changed(struct local_jobs *all, const struct job_view *view)
{
    struct local_run *run = run_find(all, view->id);

    if (all->ending)
        return;
    if (run && run->waits && view->state == JOB_RUNNING && view->begun == run->begun)
        run_begin(run, view);
    else if (run && run->waits)
        run_forget(run);
    else if (run && (view->state != JOB_RUNNING || view->begun != run->begun))
        run_stop(run);
    if (view->state != JOB_IDLE || view->blocked || view->early) /* when its time comes we are told */
        return;
    endings_add(&user_of(all, local_job_user(view->ad))->waits[local_job_is_flow(view->ad)], view->id);
    soon(all);
}

/* ------------------------------------------------------------------------------------------------------------------ all */

struct local_jobs *local_jobs_new(uv_loop_t *loop, const struct local_jobs_ports *ports)
{
    struct local_jobs *all = mem_alloc(sizeof *all);

    *all = (struct local_jobs){.loop = loop, .ports = *ports};
    uv_timer_init(loop, &all->tick);
    all->tick.data = all;
    return all;
}

static void tick_closed(uv_handle_t *handle)
{
    struct local_jobs *all = handle->data;

    all->closed = true;
    all_free_if(all);
}

static void run_close(struct local_run *run)
{
    if (!run->cut)
        uv_close((uv_handle_t *)&run->in, handle_closed); /* its runner sees that, and ends the job */
    uv_close((uv_handle_t *)&run->out, handle_closed);
    uv_close((uv_handle_t *)&run->process, handle_closed);
    run->exited = run->heard = true;
}

void local_jobs_free(struct local_jobs *all)
{
    if (!all)
        return;
    all->ending = true;
    for (struct local_run *run = all->runs, *next; run; run = next) {
        next = run->next;
        if (run->waits)
            run_forget(run);
        else if (run->handles && !(run->exited && run->heard)) /* else it is being closed already */
            run_close(run);
    }
    uv_close((uv_handle_t *)&all->tick, tick_closed);
}
