/* process.h: for tests of the real process: starts `berth matchmaker` with a state of its own, and talks to it by plain sockets.
 *
 *     live_start -> talk_open -> talk_send ... talk_take -> live_kill or live_stop -> live_done
 *
 * Nothing here knows the code that it tests: bytes go out, bytes come in. A process that was started ends with the test, whatever
 * becomes of that. Included by the main file of a program, after which comes tap.h. */
#ifndef BERTH_TESTS_PROCESS_H
#define BERTH_TESTS_PROCESS_H

#include "lang/base/buf.h"
#include "lang/base/rng.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIVE_ARGS_MAX 48
#define LIVE_PATH_MAX 90    /* so that a Unix socket fits in */
#define LIVE_PATIENCE 60000 /* milliseconds that a process may take to start, or to answer: past it something hangs */

#ifdef TESTS_SANITIZED
#define LIVE_SLOWER 3 /* times that a sanitized program may take */
#else
#define LIVE_SLOWER 1
#endif

/* ------------------------------------------------------------------------------------------------------ small things */

static inline int64_t live_now(void) /* milliseconds */
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static inline void live_sleep(int64_t milliseconds)
{
    struct timespec span = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&span, &span) < 0 && errno == EINTR)
        ;
}

static inline uint64_t live_setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

static inline const char *live_program(void)
{
    const char *program = getenv("BERTH");

    return program ? program : "build/berth";
}

/* A folder of its own. */
static inline void live_folder(char out[LIVE_PATH_MAX])
{
    snprintf(out, LIVE_PATH_MAX, "/tmp/berth-test-XXXXXX");
    if (!mkdtemp(out)) {
        printf("Bail out! no folder can be made in /tmp: %s\n", strerror(errno));
        exit(1);
    }
}

static inline int live_remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

static inline void live_remove(const char *folder)
{
    nftw(folder, live_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The whole of a file, appended; nothing when it cannot be read. */
static inline void live_read_file(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count;

    while (fd >= 0 && (count = read(fd, buf_reserve(out, 65536), 65536)) > 0)
        out->len += (size_t)count;
    if (fd >= 0)
        close(fd);
}

static inline bool live_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;

    return file && fclose(file) == 0 && good;
}

static inline bool live_file_says(const char *path, const char *words)
{
    struct buf text;
    bool found;

    buf_init(&text);
    live_read_file(path, &text);
    found = strstr(buf_string(&text), words) != NULL;
    buf_done(&text);
    return found;
}

/* ---------------------------------------------------------------------------------------------------------- processes */

struct live {
    char state[LIVE_PATH_MAX]; /* its folder */
    char log[LIVE_PATH_MAX];   /* standard error goes to its end */
    const char *args[LIVE_ARGS_MAX];
    int arg_count;    /* beside those that every one gets */
    rlim_t file_max;  /* RLIMIT_FSIZE; 0: none */
    bool file_signal; /* SIGXFSZ is as it always is; otherwise ignored, so that writing fails as on a full disk */
    rlim_t fd_max;    /* RLIMIT_NOFILE; 0: as it is */
    const char *host; /* to listen at; NULL: 127.0.0.1 */
    int port_wanted;  /* 0: any */
    pid_t pid;        /* 0: it does not run */
    int port, out;
    int64_t took; /* milliseconds until it listened */
};

static inline void live_init(struct live *live)
{
    memset(live, 0, sizeof *live);
    live->out = -1;
    live_folder(live->state);
    live_folder(live->log);
    strncat(live->log, "/log", LIVE_PATH_MAX - strlen(live->log) - 1);
    signal(SIGPIPE, SIG_IGN);
}

/* "Key=Value", kept by the caller. */
static inline void live_set(struct live *live, const char *setting)
{
    live->args[live->arg_count++] = "--set";
    live->args[live->arg_count++] = setting;
}

static inline void live_limit(int which, rlim_t max)
{
    if (max)
        setrlimit(which, &(struct rlimit){max, max});
}

static inline void live_exec(const char *const *args, int out, const char *log, const struct live *live)
{
    int err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (live) {
        signal(SIGXFSZ, live->file_signal ? SIG_DFL : SIG_IGN);
        live_limit(RLIMIT_FSIZE, live->file_max);
        live_limit(RLIMIT_NOFILE, live->fd_max);
    }
    execv(args[0], (char *const *)(uintptr_t)args);
    _exit(127);
}

/* Runs it, within the limits of `live` if that is not NULL; what it prints comes out of the pipe. */
static inline pid_t live_spawn(const char *const *args, const char *log, const struct live *live, int *ret_out)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        live_exec(args, ends[1], log, live);
    close(ends[1]);
    *ret_out = ends[0];
    return pid;
}

/* Up to the deadline: its status as of waitpid, -1 when it goes on. */
static inline int live_wait_pid(pid_t pid, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;
    int status;

    for (;;) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        if (live_now() >= ends)
            return -1;
        live_sleep(2);
    }
}

static inline void live_fork_only(struct live *live)
{
    const char *args[LIVE_ARGS_MAX + 8] = {live_program(), "matchmaker", "--listen", NULL, "--state", live->state};
    char listen[64];
    int count = 6;

    snprintf(listen, sizeof listen, "%s:%d", live->host ? live->host : "127.0.0.1", live->port_wanted);
    args[3] = listen;
    for (int i = 0; i < live->arg_count; i++)
        args[count++] = live->args[i];
    live->pid = live_spawn(args, live->log, live, &live->out);
}

/* True when it listens. False when it ended instead; then live_wait tells its status. */
static inline bool live_start(struct live *live)
{
    int64_t began = live_now();
    struct pollfd at;
    struct buf text;
    const char *words = NULL;

    live_fork_only(live);
    at = (struct pollfd){.fd = live->out, .events = POLLIN};
    buf_init(&text);
    live->port = 0;
    while (!(words && strstr(words, "unix:")) && poll(&at, 1, LIVE_PATIENCE) > 0) {
        ssize_t count = read(live->out, buf_reserve(&text, 4096), 4096);

        if (count <= 0)
            break;
        text.len += (size_t)count;
        words = strstr(buf_string(&text), "listening at  ");
    }
    if (words && strstr(words, "unix:")) {
        const char *end = strchr(words, '\n');

        while (end > words && end[-1] != ':')
            end--;
        live->port = atoi(end);
    }
    buf_done(&text);
    live->took = live_now() - began;
    return live->port > 0;
}

/* Its exit status; 1000 + N when signal N ended it; -1 when it goes on. */
static inline int live_wait(struct live *live, int64_t milliseconds)
{
    int status = live->pid > 0 ? live_wait_pid(live->pid, milliseconds) : -1;

    if (status < 0)
        return -1;
    live->pid = 0;
    close(live->out);
    live->out = -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void live_kill(struct live *live)
{
    if (live->pid <= 0)
        return;
    kill(live->pid, SIGKILL);
    live_wait(live, LIVE_PATIENCE);
}

/* Asks it to end. Its status. */
static inline int live_stop(struct live *live)
{
    if (live->pid > 0)
        kill(live->pid, SIGTERM);
    return live_wait(live, LIVE_PATIENCE);
}

static inline void live_done(struct live *live)
{
    live_kill(live);
    live_remove(live->state);
    *strrchr(live->log, '/') = '\0';
    live_remove(live->log);
}

/* Runs the program to its end, with what it says in `out`, both ways. Its exit status. */
static inline int live_run(const char *const *args, struct buf *out)
{
    char log[LIVE_PATH_MAX];
    int fd = -1, status;
    ssize_t count;
    pid_t pid;

    live_folder(log);
    strncat(log, "/log", LIVE_PATH_MAX - strlen(log) - 1);
    pid = live_spawn(args, log, NULL, &fd);
    while ((count = read(fd, buf_reserve(out, 4096), 4096)) > 0)
        out->len += (size_t)count;
    close(fd);
    status = live_wait_pid(pid, LIVE_PATIENCE);
    if (status < 0) {
        kill(pid, SIGKILL);
        status = live_wait_pid(pid, LIVE_PATIENCE);
    }
    live_read_file(log, out);
    *strrchr(log, '/') = '\0';
    live_remove(log);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Is the store on disk sound? What `berth store check` says is in `out`. */
static inline bool live_store_is_sound(const struct live *live, struct buf *out)
{
    const char *const args[] = {live_program(), "store", "check", "--state", live->state, NULL};

    return live_run(args, out) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- talking */

/* A connection, one request after another. */
struct talk {
    int fd; /* -1: closed */
    struct buf in;
};

struct reply {
    unsigned status;                         /* 0: none came */
    char etag[80], modified[64], link[1024]; /* fields of its head */
    bool closes;                             /* the connection is not to be used again */
    struct buf body;                         /* text, NUL behind it */
};

enum talk_result { TALK_WAIT, TALK_REPLY, TALK_CLOSED };

static inline void reply_init(struct reply *reply)
{
    memset(reply, 0, sizeof *reply);
    buf_init(&reply->body);
}

static inline void reply_done(struct reply *reply)
{
    buf_done(&reply->body);
}

static inline void talk_init(struct talk *talk)
{
    talk->fd = -1;
    buf_init(&talk->in);
}

static inline void talk_close(struct talk *talk)
{
    if (talk->fd >= 0)
        close(talk->fd);
    talk->fd = -1;
    buf_reset(&talk->in);
}

static inline void talk_done(struct talk *talk)
{
    talk_close(talk);
    buf_done(&talk->in);
}

static inline bool talk_connect(struct talk *talk, const struct sockaddr *name, socklen_t len)
{
    int on = 1;

    talk_close(talk);
    talk->fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (talk->fd < 0 || connect(talk->fd, name, len) < 0) {
        talk_close(talk);
        return false;
    }
    if (name->sa_family == AF_INET)
        setsockopt(talk->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return true;
}

static inline bool talk_open_at(struct talk *talk, const char *host, int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    inet_pton(AF_INET, host, &name.sin_addr);
    return talk_connect(talk, (const struct sockaddr *)&name, sizeof name);
}

static inline bool talk_open(struct talk *talk, const struct live *live)
{
    return talk_open_at(talk, "127.0.0.1", live->port);
}

static inline bool talk_open_local(struct talk *talk, const struct live *live)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof name.sun_path, "%s/matchmaker.sock", live->state);
    return talk_connect(talk, (const struct sockaddr *)&name, sizeof name);
}

static inline bool talk_write(struct talk *talk, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = talk->fd < 0 ? -1 : send(talk->fd, bytes, len, MSG_NOSIGNAL);

        if (sent < 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* `token` NULL: none. `fields`: whole lines, each with its CRLF. `body` NULL: none. */
static inline bool talk_send(struct talk *talk, const char *method, const char *path, const char *token,
                             const char *fields, const char *body)
{
    struct buf out;
    bool sent;

    buf_init(&out);
    buf_addf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path);
    if (token)
        buf_addf(&out, "Authorization: Bearer %s\r\n", token);
    if (body)
        buf_addf(&out, "Content-Type: application/classad\r\nContent-Length: %zu\r\n", strlen(body));
    else if (strcmp(method, "GET") != 0)
        buf_adds(&out, "Content-Length: 0\r\n");
    buf_adds(&out, fields ? fields : "");
    buf_adds(&out, "\r\n");
    buf_adds(&out, body ? body : "");
    sent = talk_write(talk, out.text, out.len);
    buf_done(&out);
    return sent;
}

/* The value of a field of a head, in `out`; empty when it has none such. */
static inline void head_field(const char *head, const char *name, char *out, size_t room)
{
    const char *line = strstr(head, "\r\n");
    size_t len = strlen(name);

    *out = '\0';
    for (; line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
        const char *value = line + 2 + len + 1;

        if (strncasecmp(line + 2, name, len) != 0 || line[2 + len] != ':')
            continue;
        value += strspn(value, " ");
        snprintf(out, room, "%.*s", (int)strcspn(value, "\r"), value);
        return;
    }
}

/* A whole answer at the start of what came in, taken out. */
static inline bool talk_parse(struct talk *talk, struct reply *ret)
{
    const char *text = buf_string(&talk->in), *end = strstr(text, "\r\n\r\n");
    char field[32];
    size_t head, len;

    if (!end || sscanf(text, "HTTP/1.1 %u", &ret->status) != 1)
        return false;
    head = (size_t)(end + 4 - text);
    head_field(text, "Content-Length", field, sizeof field);
    len = strtoull(field, NULL, 10);
    if (talk->in.len < head + len) {
        ret->status = 0;
        return false;
    }
    head_field(text, "ETag", ret->etag, sizeof ret->etag);
    head_field(text, "Last-Modified", ret->modified, sizeof ret->modified);
    head_field(text, "Link", ret->link, sizeof ret->link);
    head_field(text, "Connection", field, sizeof field);
    ret->closes = !strcasecmp(field, "close");
    buf_reset(&ret->body);
    buf_add(&ret->body, text + head, len);
    (void)buf_string(&ret->body);
    memmove(talk->in.text, talk->in.text + head + len, talk->in.len - head - len);
    talk->in.len -= head + len;
    return true;
}

/* Reads what is there, without waiting. False when the connection is over. */
static inline bool talk_read(struct talk *talk)
{
    for (;;) {
        ssize_t count = talk->fd < 0 ? 0 : recv(talk->fd, buf_reserve(&talk->in, 1 << 16), 1 << 16, MSG_DONTWAIT);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 && errno == EAGAIN;
        talk->in.len += (size_t)count;
    }
}

static inline enum talk_result talk_take(struct talk *talk, struct reply *ret)
{
    bool open = talk_read(talk);

    if (talk_parse(talk, ret))
        return TALK_REPLY;
    if (open)
        return TALK_WAIT;
    ret->status = 0;
    talk_close(talk);
    return TALK_CLOSED;
}

static inline enum talk_result talk_wait(struct talk *talk, int64_t milliseconds, struct reply *ret)
{
    int64_t ends = live_now() + milliseconds;
    enum talk_result result;

    while ((result = talk_take(talk, ret)) == TALK_WAIT && live_now() < ends) {
        struct pollfd at = {.fd = talk->fd, .events = POLLIN};

        poll(&at, 1, (int)(ends - live_now()) + 1);
    }
    return result;
}

/* Waits until what came in, which stays, has the words; for streams. */
static inline bool talk_hears(struct talk *talk, const char *words, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;

    for (;;) {
        bool open = talk_read(talk);
        struct pollfd at = {.fd = talk->fd, .events = POLLIN};

        if (strstr(buf_string(&talk->in), words))
            return true;
        if (!open || live_now() >= ends)
            return false;
        poll(&at, 1, (int)(ends - live_now()) + 1);
    }
}

/* One request on a connection that is kept, or opened anew: with a token by TCP, without by the Unix socket. The status, 0 for none. */
static inline unsigned talk_ask(struct talk *talk, const struct live *live, const char *method, const char *path,
                                const char *token, const char *fields, const char *body, struct reply *ret)
{
    ret->status = 0;
    if (talk->fd < 0 && !(token ? talk_open(talk, live) : talk_open_local(talk, live)))
        return 0;
    if (!talk_send(talk, method, path, token, fields, body) || talk_wait(talk, LIVE_PATIENCE, ret) != TALK_REPLY ||
        ret->closes)
        talk_close(talk);
    return ret->status;
}

/* The text of an attribute in what was answered: Name = "text" or Name = 17; empty when it is not there. */
static inline void reply_text(const struct reply *reply, const char *name, char *out, size_t room)
{
    char words[64];
    const char *at;

    *out = '\0';
    snprintf(words, sizeof words, " %s = ", name);
    at = reply->body.len ? strstr(reply->body.text, words) : NULL;
    if (!at)
        return;
    at += strlen(words);
    if (*at == '"')
        snprintf(out, room, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
    else
        snprintf(out, room, "%.*s", (int)strcspn(at, "; ]"), at);
}

/* A new token, asked for by the Unix socket. */
static inline bool live_token(const struct live *live, const char *subject, const char *scope, char *out, size_t room)
{
    struct talk talk;
    struct reply reply;
    char body[512];

    talk_init(&talk);
    reply_init(&reply);
    snprintf(body, sizeof body, "[ Subject = \"%s\"; Scope = \"%s\"; Lifetime = 86400 ]", subject, scope);
    *out = '\0';
    if (talk_ask(&talk, live, "POST", "/v1/tokens", NULL, NULL, body, &reply) == 201)
        reply_text(&reply, "Token", out, room);
    talk_done(&talk);
    reply_done(&reply);
    return *out != '\0';
}

#endif
