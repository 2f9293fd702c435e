/* exec_shell_test.c: one further process in the sandbox of a job that runs has what the job has, and nothing else; as root and as an ordinary user. */
#define _GNU_SOURCE
#include "exec/exec_world.h"

#include "common/tap.h"
#include "sys/shell_socket.h"

#include <sys/socket.h>

static struct world world;
static uint64_t last_claim;

struct session {
    int fd, streams[3]; /* ours; with a terminal the first is its other side */
    bool began, over;
    int status;
    char said[65536], why[SHELL_TEXT_MAX + 1];
    size_t len;
};

static void session_close(struct session *session)
{
    close(session->fd);
    for (int i = 0; i < 3; i++)
        if (session->streams[i] >= 0)
            close(session->streams[i]);
    *session = (struct session){.fd = -1, .streams = {-1, -1, -1}};
}

/* Asks for `sh -c SCRIPT` in the claim's sandbox; or for the program, where that begins with a slash. */
static bool session_open(struct session *session, uint64_t claim, const char *script, bool terminal)
{
    struct shell_head head = {.kind = SHELL_BEGIN,
                              .words = *script == '/' ? 1 : 3,
                              .terminal = terminal,
                              .rows = terminal ? 33 : 0,
                              .columns = terminal ? 77 : 0};
    int ends[2], pipes[3][2], inner[3];
    char text[4096];
    struct err err = {0};
    size_t len = 0;
    bool sent;

    *session = (struct session){.streams = {-1, -1, -1}};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    session->fd = ends[0];
    if (*script != '/') {
        memcpy(text, "sh\0-c", 6);
        len = 6;
    }
    len += (size_t)snprintf(text + len, sizeof text - len, "%s", script) + 1;
    if (terminal)
        len += (size_t)snprintf(text + len, sizeof text - len, "vt100") + 1;
    for (int i = 0; i < 3 && !terminal; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) < 0)
            return false;
        inner[i] = pipes[i][i ? 1 : 0];
        session->streams[i] = pipes[i][i ? 0 : 1];
    }
    sent = shell_send(session->fd, &head, text, len, inner, terminal ? 0 : 3);
    for (int i = 0; i < 3 && !terminal; i++)
        close(inner[i]);
    if (world.executor->kind->shell(world.executor, claim, ends[1], &err) < 0)
        session->over = snprintf(session->why, sizeof session->why, "%s", err.text) >= 0;
    return sent;
}

static void session_read(struct session *session, int place)
{
    ssize_t got = read(session->streams[place], session->said + session->len, sizeof session->said - 1 - session->len);

    if (got <= 0) {
        close(session->streams[place]);
        session->streams[place] = -1;
    } else {
        session->len += (size_t)got;
    }
    session->said[session->len] = '\0';
}

static void session_hear(struct session *session)
{
    int beside[SHELL_STREAMS], count, got;
    char text[SHELL_TEXT_MAX + 1];
    struct shell_head head;
    size_t len;

    got = shell_receive(session->fd, &head, text, sizeof text, &len, beside, &count);
    if (got > 0 && head.kind == SHELL_BEGAN) {
        session->began = true;
        if (count == 1)
            session->streams[0] = beside[0];
        return;
    }
    if (got > 0 && head.kind == SHELL_FAILED)
        snprintf(session->why, sizeof session->why, "%s", text);
    if (got > 0 && head.kind == SHELL_ENDED) {
        session->status = head.value;
        session->over = true;
    }
    if (got < 0)
        session->over = true;
}

/* Until it is over, or has said that. */
static bool session_wait(struct session *session, const char *words, bool terminal)
{
    int64_t until = record_now() + PATIENCE * 1000ll;

    while (record_now() < until) {
        struct pollfd fds[] = {{.fd = session->fd, .events = POLLIN},
                               {.fd = terminal ? session->streams[0] : -1, .events = POLLIN},
                               {.fd = session->streams[1], .events = POLLIN},
                               {.fd = session->streams[2], .events = POLLIN}};

        bool over = session->over && fds[1].fd < 0 && fds[2].fd < 0 && fds[3].fd < 0; /* all that it said was read */

        if (words ? strstr(session->said, words) != NULL : over)
            return true;
        if (over)
            return false;
        if (poll(fds, 4, 200) <= 0)
            continue;
        for (int i = 1; i < 4; i++)
            if (fds[i].revents)
                session_read(session, i - 1);
        if (fds[0].revents && !session->over)
            session_hear(session);
    }
    return false;
}

/* What a script in the sandbox says; its status is in `session`. */
static const char *ask(struct session *session, uint64_t claim, const char *script)
{
    if (!session_open(session, claim, script, false) || !session_wait(session, NULL, false))
        tap_diag("no end: %s %s", session->said, session->why);
    return session->said;
}

static bool job_begins(uint64_t claim, uint64_t number, const char *script)
{
    struct job_order order;

    job_order(&world, claim, number, script, &order);
    order.environment[0] = "GREETING=hello there";
    order.is.limits.cores = 1;
    return job_launch(&world, &order) && world_wait(&world, claim, number, EXECUTOR_RUNS) != NULL;
}

/* What a process is held by, as it sees that itself. */
#define HELD                                                                                            \
    "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)' /proc/self/status; cat /proc/self/cgroup; "     \
    "cat /proc/self/oom_score_adj; umask; ulimit -a; "                                                  \
    "for n in user mnt pid ipc uts net cgroup; do readlink /proc/self/ns/$n; done; grep Cpus_allowed: " \
    "/proc/self/status; env | grep -v -E '^(_|SHLVL|OLDPWD)=' | sort; pwd; ls -a / /etc; "

/* `number`: which job of its claim; later ones may have a sandbox that is a copy. */
static void cases_of(uint64_t number)
{
    uint64_t claim = ++last_claim, other = ++last_claim;
    struct session session, second;
    char theirs[8192];

    world_init(&world);
    for (uint64_t i = 1; i < number; i++)
        job_run(&world, claim, i, "true");
    tap_ok(job_begins(claim, number, HELD "echo; echo all is said; while :; do sleep 0.1; done"),
           "job %d of a claim runs", (int)number);
    for (int i = 0; i < 200 && !job_says(&world, claim, "all is said"); i++)
        world_run(&world, 100);
    snprintf(theirs, sizeof theirs, "%s", job_text(&world, claim, "out"));
    ask(&session, claim, HELD "echo; echo all is said");
    if (!tap_ok(!strcmp(theirs, session.said),
                "it has the user, rights, filter, group, limits, namespaces, files and variables of the job"))
        tap_diag("the job:\n%s\nit: %s\n%s", theirs, session.why, session.said);
    tap_ok(session.status == 0, "and its status is told");
    session_close(&session);

    ask(&session, claim, "ls /proc/self/fd | tr '\\n' ' '");
    tap_ok(!strcmp(session.said, "0 1 2 3 "), "no descriptor of ours comes along: %s", session.said);
    session_close(&session);
    ask(&session, claim, "exit 37");
    tap_ok(session.status == 37, "a status of another kind is told");
    session_close(&session);
    ask(&session, claim, "kill -9 $$");
    tap_ok(session.status == -9, "and a signal");
    session_close(&session);
    ask(&session, claim, "/no/such/program");
    tap_ok(session.status == 127 && strstr(session.why, strerror(ENOENT)), "a program that is not there is told: %s",
           session.why);
    session_close(&session);
    ask(&session, claim, "mount -t tmpfs x /tmp; unshare -U true; echo x >/usr/x; chroot / true; echo done");
    tap_ok(strstr(session.said, "done") && session.status == 0 && !strstr(session.said, "\nx"),
           "it cannot mount, unshare or write where the job cannot");
    session_close(&session);

    session_open(&session, claim, "read line; echo \"got $line\"; read line || echo nothing more", false);
    tap_ok(write(session.streams[0], "words\n", 6) == 6 && session_wait(&session, "got words", false),
           "it reads what is written");
    close(session.streams[0]);
    session.streams[0] = -1;
    tap_ok(session_wait(&session, "nothing more", false), "and its end");
    session_close(&session);

    /* It does not wait by `read`: a signal just before that one sleeps is kept by the shell until a line comes. */
    session_open(
        &session, claim,
        "tty; stty size; echo $TERM; trap 'echo interrupted; exit 3' INT; echo set; while :; do sleep 0.1; done", true);
    tap_ok(session_wait(&session, "set", true) && strstr(session.said, "vt100") && strstr(session.said, "/dev/pts/") &&
               strstr(session.said, "33 77"),
           "with a terminal it has one, of its own /dev and of the size that was asked for: %s%s", session.said,
           session.why);
    tap_ok(write(session.streams[0], "\003", 1) == 1 && session_wait(&session, "interrupted", true),
           "what is typed there interrupts it");
    session_close(&session);

    session_open(&session, claim, "trap 'echo heard; exit 4' TERM; echo ready; while :; do sleep 0.05; done", false);
    session_wait(&session, "ready", false);
    shell_send(session.fd, &(struct shell_head){.kind = SHELL_SIGNAL, .value = SIGTERM}, "", 0, NULL, 0);
    tap_ok(session_wait(&session, NULL, false) && session.status == 4, "a signal reaches it");
    session_close(&session);

    session_open(&session, claim, "echo ready; exec sleep 987651", false);
    session_wait(&session, "ready", false);
    for (int i = 0; i < 200 && !marked_processes("sleep 987651"); i++)
        world_run(&world, 100); /* the word comes before the program is another */
    tap_ok(marked_processes("sleep 987651") == 1, "one that runs");
    session_close(&session);
    for (int i = 0; i < 200 && marked_processes("sleep 987651"); i++)
        world_run(&world, 100);
    tap_ok(marked_processes("sleep 987651") == 0, "is ended when nobody listens to it any more");

    session_open(&session, claim, "echo ready; exec sleep 987652", false);
    session_wait(&session, "ready", false);
    tap_ok(job_begins(other, 1, "sleep 987653 & wait"), "another job runs");
    session_open(&second, other,
                 "while ! cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -a '[s]leep 98765'; do sleep 0.1; done",
                 false);
    session_wait(&second, NULL, false);
    tap_ok(strstr(second.said, "987653") && !strstr(second.said, "987652"), "whose sandbox does not show the first");
    session_close(&second);
    world.executor->kind->stop(world.executor, claim, 0);
    world_wait_end(&world, claim, number);
    tap_ok(session_wait(&session, NULL, false) && marked_processes("sleep 987652") == 0, "with its job it ends: %d %s",
           session.status, session.why);
    session_close(&session);
    session_open(&session, claim, "true", false);
    tap_ok(!session_wait(&session, "x", false) && !session.began, "in a job that is over nothing is begun");
    session_close(&session);
    world.executor->kind->stop(world.executor, other, 0);
    world_wait_end(&world, other, 1);
    world.executor->kind->clear(world.executor, claim);
    world.executor->kind->clear(world.executor, other);
    world_done(&world);
}

static void cases(void)
{
    cases_of(1);
    cases_of(3);
}

/* Further processes are held together with the job's own. */
static void bounds(void)
{
    struct session sessions[SHELLS_MAX + 1];
    uint64_t claim = ++last_claim;
    const struct executor_news *end;

    world_init(&world);
    tap_ok(job_begins(claim, 1, "while :; do sleep 0.1; done"), "a job runs that uses nothing");
    for (int i = 0; i < SHELLS_MAX; i++) {
        session_open(&sessions[i], claim, "echo ready; sleep 60", false);
        session_wait(&sessions[i], "ready", false);
    }
    session_open(&sessions[SHELLS_MAX], claim, "echo ready; sleep 60", false);
    session_wait(&sessions[SHELLS_MAX], NULL, false);
    tap_ok(strstr(sessions[SHELLS_MAX].why, "so many") != NULL,
           "so many further processes are let in, and no more: %d %s%s", sessions[SHELLS_MAX].over,
           sessions[SHELLS_MAX].said, sessions[SHELLS_MAX].why);
    for (int i = 0; i <= SHELLS_MAX; i++)
        session_close(&sessions[i]);
    world_run(&world, 300);
    session_open(&sessions[0], claim, "head -c 900000000 /dev/zero | tail -c 900000000 | sleep 60", false);
    end = world_wait_end(&world, claim, 1);
    tap_ok(end && end->reason == REASON_MEMORY, "what one takes counts against the memory of the job");
    session_close(&sessions[0]);
    world.executor->kind->clear(world.executor, claim);
    world_done(&world);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    bounds();
    world_each_user(cases, &tap_count, &tap_failures);
    return tap_done();
}
