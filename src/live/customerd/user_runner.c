/* user_runner.c: runs one job of the customer's own host with the rights of its user. */
#define _GNU_SOURCE /* close_range, signalfd */
#include "live/customerd/user_runner.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/user_account.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define REAP_ROUNDS 1000 /* looks for what the job has left: each ends all that there is then */

void user_order_add(struct buf *order, enum user_order_field field, const char *text, size_t len)
{
    buf_addc(order, (char)field);
    buf_add(order, text, len);
    buf_addc(order, '\0');
}

/* ------------------------------------------------------------------------------------------------------------ the order */

struct job_order {
    struct buf text; /* the fields point into it */
    const char *owner, *folder, *input, *output, *error;
    uint64_t memory, seconds;
    int64_t grace;
    char **words; /* the program and its arguments, and a NULL */
    size_t word_count, word_room;
    char **variables; /* ... the same */
    size_t variable_count, variable_room;
};

/* Reads up to ORDER_END. False: the customer has gone, or says too much. */
static bool order_take(struct buf *text)
{
    char room[65536];
    ssize_t got;

    while (!(text->len >= 2 && !text->text[text->len - 1] && text->text[text->len - 2] == ORDER_END &&
             (text->len == 2 || !text->text[text->len - 3]))) {
        got = read(STDIN_FILENO, room, sizeof room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || text->len + (size_t)got > USER_ORDER_MAX)
            return false;
        buf_add(text, room, (size_t)got);
    }
    return true;
}

static void field_take(struct job_order *order, char field, char *text)
{
    switch (field) {
    case ORDER_OWNER:
        order->owner = text;
        break;
    case ORDER_FOLDER:
        order->folder = text;
        break;
    case ORDER_INPUT:
        order->input = text;
        break;
    case ORDER_OUTPUT:
        order->output = text;
        break;
    case ORDER_ERROR:
        order->error = text;
        break;
    case ORDER_COMMAND:
    case ORDER_ARGUMENT:
        ARRAY_ROOM(order->words, order->word_count + 1, order->word_room, 16);
        order->words[order->word_count++] = text;
        order->words[order->word_count] = NULL;
        break;
    case ORDER_VARIABLE:
        ARRAY_ROOM(order->variables, order->variable_count + 1, order->variable_room, 16);
        order->variables[order->variable_count++] = text;
        order->variables[order->variable_count] = NULL;
        break;
    case ORDER_MEMORY:
        order->memory = strtoull(text, NULL, 10);
        break;
    case ORDER_GRACE:
        order->grace = strtoll(text, NULL, 10);
        break;
    case ORDER_SECONDS:
        order->seconds = strtoull(text, NULL, 10);
        break;
    default:
        break;
    }
}

static void order_read(struct job_order *order)
{
    for (size_t at = 0; at < order->text.len;) {
        char *field = order->text.text + at;

        at += strlen(field) + 1;
        field_take(order, *field, field + 1);
    }
}

/* ------------------------------------------------------------------------------------------------------- the job itself */

static void variable_default(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 0);
}

/* The job's environment: what it says, and for the rest what the account says. */
static void environment_set(const struct job_order *order)
{
    const struct passwd *account = getpwuid(getuid());

    clearenv();
    for (size_t i = 0; i < order->variable_count; i++)
        putenv(order->variables[i]);
    variable_default("PATH", USUAL_PATH);
    variable_default("HOME", account ? account->pw_dir : NULL);
    variable_default("USER", account ? account->pw_name : NULL);
    variable_default("LOGNAME", account ? account->pw_name : NULL);
    variable_default("SHELL", account ? account->pw_shell : NULL);
}

/* Opens a file of the job as that stream; -1 and errno. The same name for both outputs is one file, written by both in turn. */
static int stream_open(const char *name, int stream, bool reads)
{
    int fd = open(name ? name : "/dev/null", reads ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

    if (fd < 0 || dup2(fd, stream) < 0)
        return -1;
    if (fd != stream)
        close(fd);
    return 0;
}

static void limit_set(int what, uint64_t most)
{
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

    if (most)
        setrlimit(what, &limit);
}

/* What cannot be set up is told in `report`, which closes when the program begins. Does not return. */
static void job_exec(const struct job_order *order, int report, pid_t runner)
{
    bool one = order->output && order->error && !strcmp(order->output, order->error);
    const char *at = order->folder;
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != runner)
        _exit(127);
    setsid();
    limit_set(RLIMIT_AS, order->memory);
    umask(022);
    if (chdir(order->folder) == 0 && (at = order->input, stream_open(order->input, STDIN_FILENO, true) == 0) &&
        (at = order->output, stream_open(order->output, STDOUT_FILENO, false) == 0) &&
        (at = order->error,
         one ? dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 : stream_open(order->error, STDERR_FILENO, false) == 0)) {
        at = order->words[0];
        execvp(order->words[0], order->words);
    }
    dprintf(report, "%.300s: %s", at ? at : "/dev/null", strerror(errno));
    _exit(127);
}

/* ------------------------------------------------------------------------------------------------------------ its parent */

static int64_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
}

/* Ends our children, whoever they are; false: there are none. */
static bool children_end(void)
{
    char path[64];
    bool some = false;
    FILE *file;
    int child;

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1) {
        some = true;
        kill(child, SIGKILL);
    }
    if (file)
        fclose(file);
    return some;
}

/* Ends what the job has left, and those of its processes that have lost their parents. */
static void rest_end(void)
{
    for (int round = 0; round < REAP_ROUNDS && children_end(); round++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        poll(NULL, 0, 5);
    }
}

/* Answers how it ended; nobody may listen any more. */
static void answer(const char *words)
{
    size_t len = strlen(words);

    if (write(STDOUT_FILENO, words, len) != (ssize_t)len)
        return;
}

struct watching {
    pid_t pid;
    int signals;
    int report;                      /* says why it cannot be set up, and closes when its program begins; then -1 */
    char why[USER_RUNNER_WORDS_MAX]; /* what it said */
    size_t why_len;
    int64_t ends, kills; /* seconds; INT64_MAX: never */
    int64_t grace;
    bool timed, over; /* its time was up; it has ended ... */
    int status;       /* ... so */
};

/* A signal for the job and all in its session; before it has one, for itself. */
static void job_signal(const struct watching *job, int number)
{
    if (kill(-job->pid, number) < 0)
        kill(job->pid, number);
}

static void report_read(struct watching *job)
{
    ssize_t got = read(job->report, job->why + job->why_len, sizeof job->why - 1 - job->why_len);

    if (got > 0) {
        job->why_len += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
        close(job->report);
        job->report = -1;
    }
}

static void signals_read(struct watching *job)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    while (read(job->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && job->kills == INT64_MAX) {
            job_signal(job, SIGTERM);
            job_signal(job, SIGCONT);
            job->kills = seconds_now() + job->grace;
        }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == job->pid) {
            job->over = true;
            job->status = status;
        }
}

/* Waits until the job is over, or is ended. It may take long to set it up: a file of its streams may be a pipe. */
static void job_watch(struct watching *job)
{
    struct pollfd on[3] = {{.fd = job->signals, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    char byte;

    while (!job->over || job->report >= 0) {
        on[2] = (struct pollfd){.fd = job->report, .events = POLLIN};
        if (poll(on, 3, 1000) < 0 && errno != EINTR)
            break;
        signals_read(job);
        if (on[2].revents)
            report_read(job);
        if (on[1].revents && read(STDIN_FILENO, &byte, 1) <= 0 && !job->over) { /* the customer has gone */
            job_signal(job, SIGKILL);
            on[1].fd = -1;
        }
        if (seconds_now() >= job->ends && !job->over) {
            job->timed = true;
            job->ends = INT64_MAX;
            job->kills = 0;
        }
        if (seconds_now() >= job->kills && !job->over)
            job_signal(job, SIGKILL);
    }
}

/* Starts the job; -1 and errno. */
static int job_start(const struct job_order *order, struct watching *job)
{
    pid_t runner = getpid();
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) < 0)
        return -1;
    job->pid = fork();
    if (job->pid == 0)
        job_exec(order, pair[1], runner);
    close(pair[1]);
    job->report = pair[0];
    return job->pid < 0 ? -1 : 0;
}

static int job_run(const struct job_order *order)
{
    struct watching job = {.report = -1,
                           .ends = INT64_MAX,
                           .kills = INT64_MAX,
                           .grace = order->grace > 0 ? order->grace : USER_RUNNER_GRACE_S};
    char words[USER_RUNNER_WORDS_MAX + 16];
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    job.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (job.signals < 0 || job_start(order, &job) < 0) {
        snprintf(words, sizeof words, "setup %s", strerror(errno));
        answer(words);
        return 1;
    }
    if (order->seconds && order->seconds < (uint64_t)INT32_MAX)
        job.ends = seconds_now() + (int64_t)order->seconds;
    job_watch(&job);
    rest_end();
    if (job.why_len)
        snprintf(words, sizeof words, "setup %s", job.why);
    else if (job.timed)
        snprintf(words, sizeof words, "time");
    else if (WIFSIGNALED(job.status))
        snprintf(words, sizeof words, "signal %d", WTERMSIG(job.status));
    else
        snprintf(words, sizeof words, "exit %d", WEXITSTATUS(job.status));
    answer(words);
    return 0;
}

int user_runner_main(uint32_t uid)
{
    struct job_order order = {.folder = NULL};
    char account[TEXT_MAX + 1];
    int status = 1;

    if (uid != USER_RUNNER_SAME && user_become(uid, account) < 0) {
        answer("setup the account of its user cannot be taken on");
        return 1;
    }
    close_range(STDERR_FILENO + 1, ~0U, 0);
    buf_init(&order.text);
    if (order_take(&order.text)) {
        order_read(&order);
        if (uid != USER_RUNNER_SAME && (!order.owner || !user_account_owns(account, order.owner))) {
            answer("setup the job's user id is that of another account now");
        } else if (!order.word_count || !order.folder) {
            answer("setup there is no program");
        } else {
            environment_set(&order);
            status = job_run(&order);
        }
    }
    free(order.words);
    free(order.variables);
    buf_done(&order.text);
    return status;
}
