/* launcher.c: what carries out the jobs of one claim: `berth launcher FOLDER`. It outlives the agent, and everything that it began dies with it.
 *
 *     agent ---- descriptor 3, and later FOLDER/socket ---- one loop ---- a job at a time
 *
 * It stays while a job runs or an agent listens. FOLDER/lock (descriptor 4) is held as long as it lives. */
#define _GNU_SOURCE
#include "exec/account.h"
#include "exec/guard.h"
#include "exec/guests.h"
#include "exec/job.h"
#include "exec/local.h"
#include "exec/nursery_parts.h"
#include "exec/secret_files.h"
#include "sys/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_FD 3
#define LOCK_FD 4
#define TELL_SPAN 1000000 /* between two words on what the job uses */

struct launcher {
    int folder, listening, agent, signals, timer; /* agent -1: none is there */
    struct sandbox sandbox;
    struct exec_job job;
    struct cgroup cgroup;      /* that of its jobs */
    struct guests guests;      /* processes that entered the job's sandbox later */
    struct executor_news last; /* number 0: none has ended */
    int64_t tell_at;
    bool leaving; /* no more jobs: it ends with this one */
};

static void say(const char *what)
{
    fprintf(stderr, "launcher: %s\n", what);
}

/* --------------------------------------------------------------------------------------------------------------- telling */

static void agent_lost(struct launcher *launcher)
{
    if (launcher->agent >= 0)
        close(launcher->agent);
    launcher->agent = -1;
}

static void tell(struct launcher *launcher, enum parcel_kind kind, const struct executor_news *news)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof parcel);
    parcel.kind = kind;
    parcel.value =
        PARCEL_TAKES_SECRETS | PARCEL_TAKES_VIEWS | PARCEL_TAKES_ACCOUNTS | PARCEL_TAKES_RESTS | PARCEL_TAKES_NETS;
    if (news)
        parcel.news = *news;
    if (launcher->agent >= 0 && !parcel_send(launcher->agent, &parcel) && kind == PARCEL_NEWS)
        agent_lost(launcher); /* it must not miss this; it will find us, or our record, again */
}

static void tell_running(struct launcher *launcher, enum parcel_kind kind)
{
    const struct exec_job *job = &launcher->job;
    struct executor_news news = {.kind = EXECUTOR_RUNS, .deadline = job->deadline, .usage = job->usage};

    news.claim = job->order->is.claim;
    news.number = job->order->is.number;
    tell(launcher, kind, &news);
}

/* The job is over: its end is written down, then told. */
static void job_is_over(struct launcher *launcher, const struct executor_news *news)
{
    struct err err = {0};

    if (status_write(launcher->folder, news, &err) < 0)
        say(err.text); /* the agent still hears it; should it not, the job counts as gone */
    launcher->last = *news;
    step_note(STEP_UNDONE, news->claim, news->number);
    tell(launcher, PARCEL_NEWS, news);
    init_write(launcher->folder, 0);
    guests_done(&launcher->guests);
    job_done(&launcher->job);
}

/* ------------------------------------------------------------------------------------------------------------- commands */

/* Takes the job's secrets, if it has any. -1: they are not there, or cannot be given. */
static int secrets_take(struct order *order, int secrets, struct err *err)
{
    if (order->is.secrets != 1)
        return 0;
    if (order->how.unprotected)
        return err_set(err, "jobs run without a sandbox here, and so nobody's secrets could be kept from others");
    if (secrets < 0)
        return err_set(err, "its secrets have not come with it");
    order->secrets = secret_files_new(secrets, err);
    return order->secrets ? 0 : -1;
}

/* Are the GPUs there that the job was given? One that asked for some never runs without. */
static int gpus_take(const struct order *order, struct err *err)
{
    if (!order->is.gpus)
        return 0;
    if (order->how.unprotected)
        return err_set(err, "jobs run without a sandbox here, and so no GPU could be kept from others");
    return order->gpus ? 0 : err_set(err, "what it was given of GPUs cannot be read: %s", strerror(EIO));
}

/* Finds the user of the machine whom the job is to run as. One that asked for that never runs as another. */
static int account_take(struct order *order, struct err *err)
{
    if (!order->is.owned)
        return 0;
    if (order->how.unprotected || !order->how.uid)
        return err_set(err, "jobs do not run here as the users who sent them");
    if (!order->wish)
        return err_set(err, "whom it is to run as cannot be read: %s", strerror(EIO));
    order->account = account_find(order->wish, err);
    if (!order->account)
        return -1;
    order->how.uid = order->account->uid;
    return 0;
}

/* `secrets`: a bundle of them, lent; -1: none came. */
static void launch(struct launcher *launcher, int secrets)
{
    struct executor_news news = {.kind = EXECUTOR_ENDED, .reason = REASON_SETUP};
    struct err err = {0};
    struct order *order = order_read(launcher->folder, &err);

    if (!order || launcher->job.order) {
        say(order ? "a job runs already" : err.text);
        order_free(order);
        return;
    }
    news.claim = order->is.claim;
    news.number = order->is.number;
    step_note(STEP_ORDERED, news.claim, news.number);
    cgroup_init(&launcher->cgroup, &order->how.cgroups, order->is.claim);
    if (order->is.viewed && !order->is.view) {
        err_set(&err, "what it is to see cannot be read");
        order_free(order);
    } else if (account_take(order, &err) < 0 || secrets_take(order, secrets, &err) < 0 || gpus_take(order, &err) < 0)
        order_free(order);
    else if (job_begin(&launcher->job, order, &launcher->sandbox, &err) == 0)
        return;
    news.reason = err_is_shortage(err.text) ? REASON_FAULT : REASON_SETUP;
    snprintf(news.words, sizeof news.words, "%.*s", EXECUTOR_WORDS_MAX, err.text);
    job_is_over(launcher, &news);
}

static void stop(struct launcher *launcher, int64_t grace)
{
    struct executor_news gone = launcher->last;

    if (launcher->job.order) {
        job_stop(&launcher->job, grace);
        return;
    }
    gone.kind = EXECUTOR_GONE;
    tell(launcher, PARCEL_NEWS, &gone);
}

static void hello(struct launcher *launcher)
{
    if (launcher->job.order)
        tell_running(launcher, PARCEL_NEWS);
    else
        tell(launcher, PARCEL_IDLE, &launcher->last);
}

static void obey(struct launcher *launcher, const struct parcel *parcel, int beside)
{
    struct exec_job *job = &launcher->job;

    switch (parcel->kind) {
    case PARCEL_HELLO:
        hello(launcher);
        break;
    case PARCEL_LAUNCH:
        launch(launcher, beside);
        break;
    case PARCEL_STOP:
        stop(launcher, parcel->value);
        break;
    case PARCEL_LEAVE:
        launcher->leaving = true;
        if (job->order)
            job_stop(job, 0);
        break;
    case PARCEL_DEADLINE:
        job->deadline = parcel->value;
        break;
    case PARCEL_SUSPEND:
        if (job->order)
            job_suspend(job, parcel->value != 0);
        break;
    case PARCEL_REST:
        if (job->order)
            job_rest(job, parcel->value != 0);
        break;
    case PARCEL_SIGNAL:
        if (job->order)
            job_signal(job, (int)parcel->value);
        break;
    case PARCEL_SHELL:
        beside = beside < 0 ? -1 : fcntl(beside, F_DUPFD_CLOEXEC, 3);
        if (beside >= 0)
            guests_add(&launcher->guests, beside);
        break;
    default:
        break;
    }
}

/* --------------------------------------------------------------------------------------------------------------- the loop */

static void hear_agent(struct launcher *launcher)
{
    struct parcel parcel;
    int got = 1, beside;

    while (launcher->agent >= 0 && (got = parcel_receive_with(launcher->agent, &parcel, &beside)) > 0) {
        obey(launcher, &parcel, beside);
        if (beside >= 0)
            close(beside);
    }
    if (got < 0)
        agent_lost(launcher);
}

static void accept_agent(struct launcher *launcher)
{
    int fd = accept4(launcher->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || (peer.uid != 0 && peer.uid != geteuid())) {
        close(fd);
        return;
    }
    agent_lost(launcher); /* the newest is the one that lives */
    launcher->agent = fd;
}

static void reap(struct launcher *launcher)
{
    struct executor_news news;
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (launcher->job.order && job_guest_reaped(&launcher->job, pid, &usage))
            guests_reaped(&launcher->guests, pid, status);
        else if (!sandbox_reaped(&launcher->sandbox, pid) && launcher->job.order)
            job_reaped(&launcher->job, pid, status, &usage);
        if (launcher->job.order && launcher->job.process.pid == 0)
            sandbox_over(&launcher->sandbox);
    }
    if (((pid < 0 && errno == ECHILD) || launcher->job.process.staged) && launcher->job.order &&
        launcher->job.process.pid == 0) {
        job_end(&launcher->job, &news);
        job_is_over(launcher, &news);
    }
}

static void hear_signals(struct launcher *launcher)
{
    struct signalfd_siginfo info;

    while (read(launcher->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        launcher->leaving = true; /* somebody wants us to go */
        if (launcher->job.order)
            job_stop(&launcher->job, 0);
    }
}

static void set_timer(const struct launcher *launcher, int64_t at)
{
    struct itimerspec when = {.it_value = {at / 1000000, at % 1000000 * 1000}};

    if (at <= 0)
        when.it_value = (struct timespec){0, 1};
    if (at == INT64_MAX)
        memset(&when, 0, sizeof when);
    timerfd_settime(launcher->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void tick(struct launcher *launcher)
{
    int64_t now = record_now(), next;

    if (!launcher->job.order) {
        set_timer(launcher, INT64_MAX);
        return;
    }
    next = job_tick(&launcher->job, now);
    if (now >= launcher->tell_at && launcher->job.runs) {
        tell_running(launcher, PARCEL_USAGE);
        launcher->tell_at = now + TELL_SPAN;
    }
    set_timer(launcher, next);
}

static void turn(struct launcher *launcher)
{
    struct pollfd fds[5 + SHELLS_MAX] = {{.fd = launcher->listening, .events = POLLIN},
                                         {.fd = launcher->agent, .events = POLLIN},
                                         {.fd = launcher->signals, .events = POLLIN},
                                         {.fd = launcher->timer, .events = POLLIN},
                                         {.fd = launcher->job.process.told, .events = POLLIN}};
    uint64_t count;

    guests_watch(&launcher->guests, fds + 5);

    if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
        return;
    if (fds[4].revents && job_hear(&launcher->job))
        tell_running(launcher, PARCEL_NEWS);
    guests_hear(&launcher->guests, fds + 5, &launcher->job, &launcher->sandbox);
    if (fds[1].revents)
        hear_agent(launcher);
    if (fds[0].revents)
        accept_agent(launcher);
    if (fds[2].revents)
        hear_signals(launcher);
    if (fds[3].revents && read(launcher->timer, &count, sizeof count) < 0)
        return;
    tick(launcher);
    reap(launcher);
}

/* -------------------------------------------------------------------------------------------------------------- beginning */

static bool fd_is_socket(int fd)
{
    int kind;
    socklen_t len = sizeof kind;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &len) == 0 && kind == SOCK_SEQPACKET;
}

/* Takes the two descriptors that an agent hands over; false: somebody has started the launcher by hand. */
static bool take_descriptors(struct launcher *launcher)
{
    int lock = LOCK_FD;

    if (fd_is_socket(AGENT_FD)) {
        launcher->agent = AGENT_FD;
        fcntl(AGENT_FD, F_SETFD, FD_CLOEXEC);
        fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC);
    } else {
        lock = openat(launcher->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    return flock(lock, LOCK_EX | LOCK_NB) == 0;
}

static bool launcher_init(struct launcher *launcher, const char *folder)
{
    sigset_t signals;

    launcher->agent = -1;
    launcher->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (launcher->folder < 0 || !take_descriptors(launcher))
        return false;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    launcher->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    launcher->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    launcher->listening = record_listen(launcher->folder);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a job leaves behind becomes ours */
    sandbox_init(&launcher->sandbox);
    launcher->sandbox.title = folder;
    job_init(&launcher->job, launcher->folder);
    guests_init(&launcher->guests);
    return launcher->signals >= 0 && launcher->timer >= 0 && launcher->listening >= 0;
}

int launcher_main(const char *folder)
{
    struct launcher *launcher;

    if (nursery_is(folder) && !(folder = nursery_serve(folder)))
        return 0;
    launcher = mem_alloc(sizeof *launcher);
    guard_memory(); /* the environment of jobs is in it */
    memset(launcher, 0, sizeof *launcher);
    if (!launcher_init(launcher, folder)) {
        say("it cannot begin: the folder is not there, or another has it");
        free(launcher);
        return 1;
    }
    while (launcher->job.order || (launcher->agent >= 0 && !launcher->leaving))
        turn(launcher);
    cgroup_remove(&launcher->cgroup);
    sandbox_done(&launcher->sandbox);
    free(launcher);
    return 0;
}
