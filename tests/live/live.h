/* live.h: a real matchmaker in a process of its own, and a plain HTTP client to speak with it; for the tests of the live world.
 *
 *     struct live live;   live_start(&live, settings, count)  ->  $BERTH matchmaker --listen 127.0.0.1:0 --state DIR --set ...
 *     struct talk talk;   talk_ask(&talk, token, "PUT", "/v1/ads/x", "If-Match: *\r\n", "[A = 1]")  ->  the status; talk.reply has the rest
 *
 * The pool's keys are made, and read, before the process begins: tests sign tokens themselves, good ones and bad ones. The client knows
 * as little as can be: it sends the bytes it is told to, and reads an answer by its length, its chunks, or to the end. Whatever a test
 * starts ends with it: the process has the kernel's word that it is killed when the test dies, and the folder goes at exit. */
#ifndef BERTH_TESTS_LIVE_H
#define BERTH_TESTS_LIVE_H

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "live/auth/keyring.h"
#include "live/auth/token.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIVE_PATIENCE 60000 /* milliseconds that anything may take before the test gives up on it */

struct live {
    char dir[64];   /* DIR/state, DIR/log */
    char state[80]; /* its folder */
    char log[80];   /* what it says on standard error */
    pid_t pid;      /* 0: it does not run */
    uint16_t port;
    struct signing_key key; /* the pool's current one */
    char pool[TOKEN_ID_DIGITS + 1];
    struct symbols *symbols;
};

static inline int64_t live_clock(void) /* milliseconds that never jump */
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void live_sleep(int milliseconds)
{
    poll(NULL, 0, milliseconds);
}

/* ------------------------------------------------------------------------------------------------------- the process */

static char live_folder[64]; /* of the process at hand: removed at exit */
static pid_t live_child;

static inline void live_remove(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *row;
    char inside[512];

    while (dir && (row = readdir(dir))) {
        if (!strcmp(row->d_name, ".") || !strcmp(row->d_name, ".."))
            continue;
        if (snprintf(inside, sizeof inside, "%s/%s", path, row->d_name) >= (int)sizeof inside)
            continue;
        if (unlink(inside) < 0)
            live_remove(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static inline void live_clean(void)
{
    if (live_child > 0) {
        kill(live_child, SIGKILL);
        waitpid(live_child, NULL, 0);
    }
    live_child = 0;
    if (live_folder[0])
        live_remove(live_folder);
    live_folder[0] = '\0';
}

__attribute__((noreturn, format(printf, 1, 2))) static inline void live_bail(const char *format, ...)
{
    va_list args;

    printf("Bail out! ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    puts("");
    fflush(stdout);
    exit(1); /* live_clean is called */
}

/* Reads what the process prints until it says where it listens. */
static inline uint16_t live_read_port(int fd)
{
    static const char words[] = "listening at  127.0.0.1:";
    int64_t ends = live_clock() + LIVE_PATIENCE;
    struct buf text;
    unsigned port = 0;

    buf_init(&text);
    while (!port && live_clock() < ends) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        const char *at;
        ssize_t got;

        if (poll(&one, 1, 100) <= 0)
            continue;
        got = read(fd, buf_reserve(&text, 4096), 4096);
        if (got <= 0)
            break;
        text.len += (size_t)got;
        at = strstr(buf_string(&text), words);
        if (at && strchr(at, '\n'))
            port = (unsigned)strtoul(at + sizeof words - 1, NULL, 10);
    }
    buf_done(&text);
    return (uint16_t)port;
}

static inline void live_exec(const struct live *live, const char *const *settings, size_t count, int out)
{
    const char *program = getenv("BERTH");
    const char *words[64] = {program, "matchmaker", "--listen", "127.0.0.1:0", "--state", live->state};
    size_t at = 6;
    int log = open(live->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

    for (size_t i = 0; i < count && at < 60; i++) {
        words[at++] = "--set";
        words[at++] = settings[i];
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    setenv("HOME", live->dir, 1);
    unsetenv("BERTH_SOURCE");
    unsetenv("BERTH");
    execv(program, (char *const *)(uintptr_t)words);
    _exit(127);
}

/* Starts it, with the state that is there. */
static inline void live_run(struct live *live, const char *const *settings, size_t count)
{
    int pipes[2];

    if (!getenv("BERTH") || pipe(pipes) < 0)
        live_bail("$BERTH does not say where the program is");
    fcntl(pipes[0], F_SETFD, FD_CLOEXEC);
    fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
    live->pid = fork();
    if (live->pid == 0)
        live_exec(live, settings, count, pipes[1]);
    live_child = live->pid;
    close(pipes[1]);
    live->port = live_read_port(pipes[0]);
    /* The pipe stays open: what is printed later must not kill it. */
    if (!live->port)
        live_bail("the matchmaker does not come up; see its log:\n%s", live->log);
}

/* A new folder and new keys, and the process with those settings ("Lease=0.3"). Ends the test when it does not come up. */
static inline void live_start(struct live *live, const char *const *settings, size_t count)
{
    static bool cleans;
    struct keyring *ring;
    struct err err = {0};

    *live = (struct live){.pid = 0};
    signal(SIGPIPE, SIG_IGN);
    snprintf(live->dir, sizeof live->dir, "/tmp/berth-live-XXXXXX");
    if (!mkdtemp(live->dir))
        live_bail("no folder: %s", strerror(errno));
    snprintf(live_folder, sizeof live_folder, "%s", live->dir);
    if (!cleans)
        atexit(live_clean);
    cleans = true;
    snprintf(live->state, sizeof live->state, "%s/state", live->dir);
    snprintf(live->log, sizeof live->log, "%s/log", live->dir);
    mkdir(live->state, 0700);
    {
        char path[128];

        snprintf(path, sizeof path, "%s/keys", live->state);
        ring = keyring_open(path, time(NULL), &err);
    }
    if (!ring)
        live_bail("no keys: %s", err.text);
    live->key = *keyring_current(ring);
    memcpy(live->pool, keyring_pool(ring), sizeof live->pool);
    keyring_free(ring);
    live->symbols = names_new(1);
    live_run(live, settings, count);
}

static inline bool live_is_up(const struct live *live)
{
    return live->pid > 0 && waitpid(live->pid, NULL, WNOHANG) == 0;
}

/* Tells it to end; its exit status, 128 and the signal that killed it, or -1 when it had to be killed. */
static inline int live_stop(struct live *live)
{
    int64_t ends = live_clock() + LIVE_PATIENCE;
    int status = 0;

    if (live->pid <= 0)
        return -1;
    kill(live->pid, SIGTERM);
    while (waitpid(live->pid, &status, WNOHANG) == 0 && live_clock() < ends)
        live_sleep(5);
    if (kill(live->pid, 0) == 0) {
        kill(live->pid, SIGKILL);
        waitpid(live->pid, &status, 0);
        status = -1;
    }
    live->pid = live_child = 0;
    return status < 0 ? -1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The folder, and all that was made for the test. */
static inline void live_done(struct live *live)
{
    live_clean();
    symbols_free(live->symbols);
    signing_key_done(&live->key);
}

/* All that it has logged so far, appended. */
static inline void live_read_log(const struct live *live, struct buf *out)
{
    FILE *file = fopen(live->log, "rb");
    size_t got;

    while (file && (got = fread(buf_reserve(out, 65536), 1, 65536, file)) > 0)
        out->len += got;
    if (file)
        fclose(file);
}

/* ------------------------------------------------------------------------------------------------------------ tokens */

/* A good token, signed with the pool's key; the caller frees it. */
static inline char *live_token(const struct live *live, const char *subject, scopes scope)
{
    int64_t now = time(NULL);
    struct token_terms terms = {.issuer = live->pool,
                                .subject = subject,
                                .audience = live->pool,
                                .scope = scope,
                                .issued = now,
                                .expires = now + 3600};
    struct err err = {0};
    struct buf text;
    char *token;

    buf_init(&text);
    if (token_sign(&text, &live->key, &terms, NULL, &err) < 0)
        live_bail("no token: %s", err.text);
    token = mem_dup(text.text, text.len);
    buf_done(&text);
    return token;
}

/* ----------------------------------------------------------------------------------------------------------- talking */

struct reply {
    unsigned status; /* 0: none came */
    struct buf head, body;
};

struct talk {
    const struct live *live;
    bool by_socket; /* by the Unix socket, as the user who runs it */
    int fd;         /* -1: not connected */
    bool used;      /* an answer came by this connection */
    bool over;      /* the other side has ended it */
    struct buf in;
    struct reply reply;
    struct buf *heard; /* all that is received is appended; NULL: it is not */
    const char *agent; /* Berth-Agent of what is sent by talk_ask; NULL: none */
};

static inline void talk_init(struct talk *talk, const struct live *live)
{
    *talk = (struct talk){.live = live, .fd = -1};
    buf_init(&talk->in);
    buf_init(&talk->reply.head);
    buf_init(&talk->reply.body);
}

static inline void talk_close(struct talk *talk)
{
    if (talk->fd >= 0)
        close(talk->fd);
    talk->fd = -1;
    talk->used = talk->over = false;
    buf_reset(&talk->in);
}

static inline void talk_done(struct talk *talk)
{
    talk_close(talk);
    buf_done(&talk->in);
    buf_done(&talk->reply.head);
    buf_done(&talk->reply.body);
}

static inline bool talk_connect(struct talk *talk)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(talk->live->port)};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    int yes = 1;

    if (talk->fd >= 0)
        return true;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(path.sun_path, sizeof path.sun_path, "%s/matchmaker.sock", talk->live->state);
    talk->fd = socket(talk->by_socket ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (talk->by_socket ? connect(talk->fd, (struct sockaddr *)&path, sizeof path) < 0
                        : connect(talk->fd, (struct sockaddr *)&to, sizeof to) < 0) {
        talk_close(talk);
        return false;
    }
    if (!talk->by_socket)
        setsockopt(talk->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(talk->fd, F_SETFL, O_NONBLOCK);
    return true;
}

/* Sends all, or stops when an answer comes before: who refuses a body need not read it. False when the connection is over. */
static inline bool talk_send(struct talk *talk, const char *bytes, size_t len)
{
    int64_t ends = live_clock() + LIVE_PATIENCE;

    while (len && live_clock() < ends) {
        struct pollfd one = {.fd = talk->fd, .events = POLLOUT | POLLIN};
        ssize_t sent = send(talk->fd, bytes, len, MSG_NOSIGNAL);

        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
            continue;
        }
        if (errno != EAGAIN)
            return false;
        poll(&one, 1, 1000);
        if (one.revents & POLLIN)
            return true;
    }
    return !len;
}

/* More bytes; false at the end, or when none come in time. */
static inline bool talk_more(struct talk *talk, int64_t ends)
{
    ssize_t got;

    for (;;) {
        int64_t left = ends - live_clock();
        struct pollfd one = {.fd = talk->fd, .events = POLLIN};

        if (talk->fd < 0)
            return false;
        got = recv(talk->fd, buf_reserve(&talk->in, 65536), 65536, 0);
        if (got > 0)
            break;
        talk->over = got == 0 || errno != EAGAIN;
        if (talk->over || left <= 0)
            return false;
        poll(&one, 1, (int)left);
    }
    if (talk->heard)
        buf_add(talk->heard, talk->in.text + talk->in.len, (size_t)got);
    talk->in.len += (size_t)got;
    return true;
}

/* The value of a field of an answer's head, to `out`; false when it has none such. */
static inline bool reply_field(struct reply *reply, const char *name, char *out, size_t room)
{
    size_t len = strlen(name);
    const char *at = buf_string(&reply->head);

    while ((at = strstr(at, "\r\n"))) {
        at += 2;
        if (strncasecmp(at, name, len) == 0 && at[len] == ':') {
            at += len + 1;
            at += strspn(at, " ");
            snprintf(out, room, "%.*s", (int)strcspn(at, "\r"), at);
            return true;
        }
    }
    if (room)
        *out = '\0';
    return false;
}

static inline bool reply_field_is(struct reply *reply, const char *name, const char *value)
{
    char text[2048];

    return reply_field(reply, name, text, sizeof text) && !strcmp(text, value);
}

/* Is that text in the answer's body? */
static inline bool reply_has(struct reply *reply, const char *text)
{
    return strstr(buf_string(&reply->body), text);
}

/* The body for a diagnosis: what is not plain ASCII is shown as '?'. */
static inline const char *reply_show(struct reply *reply)
{
    for (size_t i = 0; i < reply->body.len; i++)
        if (reply->body.text[i] < ' ' || reply->body.text[i] == 0x7f)
            reply->body.text[i] = reply->body.text[i] == '\n' ? '\n' : '?';
    return buf_string(&reply->body);
}

/* Takes bytes off the front of what has come. */
static inline void talk_eat(struct talk *talk, size_t len)
{
    memmove(talk->in.text, talk->in.text + len, talk->in.len - len);
    talk->in.len -= len;
}

/* Head of an answer, into reply.head; the rest stays in `in`. */
static inline bool talk_head(struct talk *talk, int64_t ends)
{
    const char *end;

    talk->reply.status = 0;
    buf_reset(&talk->reply.head);
    buf_reset(&talk->reply.body);
    for (;;) {
        const char *text = buf_string(&talk->in);

        end = strstr(text, "\r\n\r\n");
        if (end && strncmp(text, "HTTP/1.1 100", 12) == 0) {
            talk_eat(talk, (size_t)(end - text) + 4);
            continue;
        }
        if (end)
            break;
        if (!talk_more(talk, ends))
            return false;
    }
    buf_add(&talk->reply.head, talk->in.text, (size_t)(end - talk->in.text) + 2);
    talk_eat(talk, (size_t)(end - talk->in.text) + 4);
    if (strncmp(buf_string(&talk->reply.head), "HTTP/1.", 7) != 0)
        return false;
    talk->reply.status = (unsigned)strtoul(talk->reply.head.text + 9, NULL, 10);
    talk->used = true;
    return true;
}

/* One chunk, appended to the body: 1; 0 when it was the last; -1 when none came. */
static inline int talk_chunk(struct talk *talk, int64_t ends)
{
    const char *line;
    size_t len, head;

    while (!(line = strstr(buf_string(&talk->in), "\r\n")))
        if (!talk_more(talk, ends))
            return -1;
    len = strtoul(talk->in.text, NULL, 16);
    head = (size_t)(line - talk->in.text) + 2;
    while (talk->in.len < head + len + 2)
        if (!talk_more(talk, ends))
            return -1;
    buf_add(&talk->reply.body, talk->in.text + head, len);
    talk_eat(talk, head + len + 2);
    return len > 0;
}

/* The answer that is due; its status, 0 when none came in time. */
static inline unsigned talk_answer(struct talk *talk, bool to_head, int patience)
{
    int64_t ends = live_clock() + patience;
    char text[64];
    size_t len = 0;
    int got;

    if (!talk_head(talk, ends)) {
        talk_close(talk);
        return 0;
    }
    if (to_head || talk->reply.status == 204 || talk->reply.status == 304) {
        /* there is no body */
    } else if (reply_field_is(&talk->reply, "Transfer-Encoding", "chunked")) {
        while ((got = talk_chunk(talk, ends)) > 0)
            ;
        if (got < 0)
            talk_close(talk);
    } else if (reply_field(&talk->reply, "Content-Length", text, sizeof text)) {
        len = strtoul(text, NULL, 10);
        while (talk->in.len < len && talk_more(talk, ends))
            ;
        len = talk->in.len < len ? talk->in.len : len;
        buf_add(&talk->reply.body, talk->in.text, len);
        talk_eat(talk, len);
    } else {
        while (talk_more(talk, ends))
            ;
        buf_add(&talk->reply.body, talk->in.text, talk->in.len);
        talk_close(talk);
    }
    if (reply_field_is(&talk->reply, "Connection", "close"))
        talk_close(talk);
    return talk->reply.status;
}

/* A request as text, appended. `fields` are whole lines, each with its CR LF; NULL: none. `body` NULL: none, and no length. */
static inline void request_text(struct buf *out, const struct talk *talk, const char *token, const char *method,
                                const char *path, const char *fields, const char *body, size_t len)
{
    buf_addf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, path);
    if (token)
        buf_addf(out, "Authorization: Bearer %s\r\n", token);
    if (talk->agent)
        buf_addf(out, "Berth-Agent: %s\r\n", talk->agent);
    if (fields)
        buf_adds(out, fields);
    if (body)
        buf_addf(out, "Content-Length: %zu\r\n", len);
    buf_adds(out, "\r\n");
    if (body)
        buf_add(out, body, len);
}

/* Sends bytes and reads one answer. A kept connection that was closed meanwhile is made anew, once. */
static inline unsigned talk_raw(struct talk *talk, const char *bytes, size_t len, bool to_head, int patience)
{
    bool again = talk->fd >= 0 && talk->used;

    buf_reset(&talk->in);
    if (!talk_connect(talk))
        return talk->reply.status = 0;
    talk_send(talk, bytes, len);
    if (talk_answer(talk, to_head, patience) || !again)
        return talk->reply.status;
    talk_close(talk);
    return talk_raw(talk, bytes, len, to_head, patience);
}

static inline unsigned talk_bytes(struct talk *talk, const char *token, const char *method, const char *path,
                                  const char *fields, const char *body, size_t len)
{
    struct buf text;
    unsigned status;

    buf_init(&text);
    request_text(&text, talk, token, method, path, fields, body, len);
    status = talk_raw(talk, text.text, text.len, !strcmp(method, "HEAD"), LIVE_PATIENCE);
    buf_done(&text);
    return status;
}

/* The status of the answer, 0 when none came; the rest is in talk->reply. */
static inline unsigned talk_ask(struct talk *talk, const char *token, const char *method, const char *path,
                                const char *fields, const char *body)
{
    return talk_bytes(talk, token, method, path, fields, body, body ? strlen(body) : 0);
}

/* The ad that the last answer is; NULL when it is none. The caller unrefs it. */
static inline struct tree *talk_ad(struct talk *talk)
{
    char type[128];
    struct err err;

    reply_field(&talk->reply, "Content-Type", type, sizeof type);
    return form_parse(talk->live->symbols, strstr(type, "condor") ? &dialect_condor : &dialect_classic,
                      strstr(type, "json") ? FORM_JSON : FORM_CLASSAD, NULL, buf_string(&talk->reply.body),
                      talk->reply.body.len, &err);
}

/* A text that an ad has under that name, to `out`; false when it has none. */
static inline bool text_of_ad(const struct tree *ad, const char *name, char *out, size_t room)
{
    const char *text;
    size_t len;

    if (room)
        *out = '\0';
    if (!ad || !ad_string(ad, name, &text, &len) || len >= room)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

/* A text of the ad that the last answer is. */
static inline bool talk_text(struct talk *talk, const char *name, char *out, size_t room)
{
    struct tree *ad = talk_ad(talk);
    bool found = text_of_ad(ad, name, out, room);

    tree_unref(ad);
    return found;
}

/* How often a text occurs in another. */
static inline size_t text_count(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text += strlen(part);
    }
    return count;
}

#endif
