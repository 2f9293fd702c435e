/* load.c: sends many HTTP requests at once over a few kept connections. */
#include "cli/bench/load.h"

#include "cli/bench/bench.h"
#include "lang/base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX 16384
#define EVENTS 64

struct line {
    int fd;
    struct buf out, in;
    size_t sent;
    bool waits; /* it waits for an answer */
    double began;
};

static int line_open(struct line *line, int port, struct err *err)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1;

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    line->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (line->fd < 0 || connect(line->fd, (struct sockaddr *)&name, sizeof name) < 0)
        return err_set(err, "port %d: %s", port, strerror(errno));
    setsockopt(line->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return 0;
}

/* Sends a request. Requests are short: they fit into the socket's buffer, or writing waits a moment. */
static int line_send(struct line *line, struct err *err)
{
    while (line->sent < line->out.len) {
        ssize_t count = send(line->fd, line->out.text + line->sent, line->out.len - line->sent, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return err_set(err, "the connection broke: %s", strerror(errno));
        line->sent += (size_t)count;
    }
    line->waits = true;
    return 0;
}

/* The length of the answer that begins the buffer, head and body; 0 while that is not known. */
static size_t answer_len(struct line *line, unsigned *ret_status)
{
    const char *text = buf_string(&line->in), *end = strstr(text, "\r\n\r\n"), *at;

    if (!end || line->in.len < 12)
        return 0;
    *ret_status = (unsigned)atoi(text + 9);
    for (at = text; at && at < end; at = strstr(at, "\r\n") ? strstr(at, "\r\n") + 2 : NULL)
        if (!strncasecmp(at, "Content-Length:", 15))
            return (size_t)(end + 4 - text) + (size_t)strtoull(at + 15, NULL, 10);
    return (size_t)(end + 4 - text);
}

/* Reads some of the answer: 1 when it is whole, 0 when more comes. */
static int line_read(struct line *line, unsigned *ret_status, struct err *err)
{
    ssize_t count = recv(line->fd, buf_reserve(&line->in, HEAD_MAX), HEAD_MAX, 0);
    size_t len;

    if (count <= 0)
        return err_set(err, "the connection broke: %s", count ? strerror(errno) : "closed");
    line->in.len += (size_t)count;
    len = answer_len(line, ret_status);
    if (!len || line->in.len < len)
        return 0;
    buf_reset(&line->in);
    line->waits = false;
    return 1;
}

struct running {
    const struct load *load;
    struct line *lines;
    int epoll;
    uint64_t next;
    struct load_result result;
};

static int line_next(struct running *running, struct line *line, struct err *err)
{
    if (running->next == running->load->requests)
        return 0;
    buf_reset(&line->out);
    line->sent = 0;
    running->load->write(running->load->user, running->next++, &line->out);
    line->began = running->load->spans ? bench_clock() : 0;
    return line_send(line, err);
}

static int running_go(struct running *running, struct err *err)
{
    struct epoll_event events[EVENTS];

    while (running->result.answers < running->load->requests) {
        int count = epoll_wait(running->epoll, events, EVENTS, 30000);

        if (count <= 0)
            return err_set(err, "no answer within 30 s");
        for (int i = 0; i < count; i++) {
            struct line *line = events[i].data.ptr;
            unsigned status = 0;
            int whole = line_read(line, &status, err);

            if (whole < 0)
                return -1;
            if (!whole)
                continue;
            if (running->load->spans)
                running->load->spans[running->result.answers] = bench_clock() - line->began;
            running->result.answers++;
            running->result.empty += status == 204;
            if (status / 100 != 2) {
                running->result.failures++;
                running->result.status = status;
            }
            if (line_next(running, line, err) < 0)
                return -1;
        }
    }
    return 0;
}

int load_run(const struct load *load, struct load_result *ret, struct err *err)
{
    struct running running = {.load = load, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    double began;
    int failed = 0;

    running.lines = mem_alloc(load->connections * sizeof *running.lines);
    memset(running.lines, 0, load->connections * sizeof *running.lines);
    for (uint32_t i = 0; i < load->connections && !failed; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &running.lines[i]};

        failed = line_open(&running.lines[i], load->port, err);
        if (!failed)
            epoll_ctl(running.epoll, EPOLL_CTL_ADD, running.lines[i].fd, &event);
    }
    began = bench_clock();
    for (uint32_t i = 0; i < load->connections && !failed; i++)
        failed = line_next(&running, &running.lines[i], err);
    if (!failed)
        failed = running_go(&running, err);
    running.result.seconds = bench_clock() - began;
    for (uint32_t i = 0; i < load->connections; i++) {
        if (running.lines[i].fd > 0)
            close(running.lines[i].fd);
        buf_done(&running.lines[i].out);
        buf_done(&running.lines[i].in);
    }
    free(running.lines);
    close(running.epoll);
    *ret = running.result;
    return failed;
}
