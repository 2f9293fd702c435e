/* bench_serve.c: berth bench serve: measures a real matchmaker in a process of its own, driven over loopback from this one.
 *
 *     serve-put, serve-renew      one ad in each request: changed, or only renewed
 *     serve-batch, serve-batch-renew      hundreds of ads in each request
 *     serve-get       an ad is read
 *     serve-notify    from the arrival of an offer that fits to the letter that tells of the match
 *     serve-pull      offers that pull, in bench_serve_pull.c
 *
 * `cpu_us` is the processor time of the server for an operation, from /proc: it does not depend on how busy the machine is. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "cli/bench/bench.h"
#include "cli/bench/bench_served.h"
#include "cli/bench/load.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "exec/self.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS 16
#define BATCH 500
#define AD_REST BENCH_FIGURE_13_REST
#define NOTIFIED_LEAST 20 /* matches that are timed: one in a hundred ads, at least so many ... */
#define NOTIFIED_MOST 200 /* ... and at most so many */

/* ------------------------------------------------------------------------------------------------------- the process */

static int served_start(struct served *served, struct err *err)
{
    int ends[2];
    char self[SELF_MAX], listen[] = "127.0.0.1:0", text[4096] = "", *at = NULL;
    size_t len = 0;
    ssize_t count;

    snprintf(served->state, sizeof served->state, "/tmp/berth-bench-XXXXXX");
    if (!mkdtemp(served->state) || pipe(ends) < 0)
        return err_set(err, "%s", strerror(errno));
    served->pid = fork();
    if (served->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl(self_program(self), "berth", "matchmaker", "--listen", listen, "--state", served->state, "--set",
              "AgentRequestsPerSecond=10000000", "--set", "AdsPerIdentity=2000000", "--set", "AdBytesPerIdentity=64GiB",
              "--set", "LogLevel=error", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (len < sizeof text - 1 && !(at && strstr(at, "unix:")) &&
           (count = read(ends[0], text + len, sizeof text - 1 - len)) > 0) {
        len += (size_t)count;
        text[len] = '\0';
        at = strstr(text, "listening at  127.0.0.1:");
    }
    close(ends[0]);
    if (!at)
        return err_set(err, "the matchmaker did not start");
    served->port = atoi(at + strlen("listening at  127.0.0.1:"));
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int sort, struct FTW *place)
{
    (void)status;
    (void)sort;
    (void)place;
    return remove(path);
}

static void served_end(struct served *served)
{
    if (served->pid > 0) {
        kill(served->pid, SIGTERM);
        waitpid(served->pid, NULL, 0);
    }
    if (served->state[0])
        nftw(served->state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

double served_cpu(const struct served *served, double *ret_resident)
{
    char path[64], text[1024] = "", *at;
    unsigned long user = 0, kernel = 0;
    long pages = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)served->pid);
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file) && (at = strrchr(text, ')')))
        sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %ld", &user,
               &kernel, &pages);
    if (file)
        fclose(file);
    if (ret_resident)
        *ret_resident = (double)pages * (double)sysconf(_SC_PAGESIZE);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* Sends one request by the Unix socket, where we may do everything; `out` gets the text of the answer. */
static int served_ask(const struct served *served, const char *request, char *out, size_t room)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t len = 0;
    ssize_t count;

    snprintf(name.sun_path, sizeof name.sun_path, "%s/matchmaker.sock", served->state);
    if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
        write(fd, request, strlen(request)) != (ssize_t)strlen(request)) {
        close(fd);
        return -1;
    }
    while (len < room - 1 && (count = read(fd, out + len, room - 1 - len)) > 0)
        len += (size_t)count;
    out[len] = '\0';
    close(fd);
    return 0;
}

static int served_token(struct served *served, struct err *err)
{
    static const char body[] = "[Subject=\"bench\"; Scope=\"ad:read ad:write match claim\"]";
    char request[512], answer[8192], *at, *end;

    snprintf(request, sizeof request,
             "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
             body);
    if (served_ask(served, request, answer, sizeof answer) < 0 || !(at = strstr(answer, "Token = \"")) ||
        !(end = strchr(at + 9, '"')) || (size_t)(end - at) > sizeof served->token)
        return err_set(err, "no token was made");
    snprintf(served->token, sizeof served->token, "%.*s", (int)(end - at - 9), at + 9);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- requests */

static void head_write(const struct served *served, struct buf *out, const char *method, uint64_t id, const char *more,
                       size_t len)
{
    buf_addf(
        out,
        "%s /v1/ads/m%llu HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n%sContent-Length: %zu\r\n\r\n",
        method, (unsigned long long)id, served->token, more, len);
}

/* Writes a request that puts an ad of 38 attributes, which differs from one update to the next. */
static void put_write(void *user, uint64_t n, struct buf *out)
{
    const struct served *served = user;
    char ad[64];

    snprintf(ad, sizeof ad, "[Changed=%llu;", (unsigned long long)n);
    head_write(served, out, "PUT", n % served->ads, "", strlen(ad) + strlen(AD_REST));
    buf_adds(out, ad);
    buf_adds(out, AD_REST);
}

static void renew_write(void *user, uint64_t n, struct buf *out)
{
    const struct served *served = user;

    head_write(served, out, "PUT", n % served->ads, "If-Match: *\r\n", 0);
}

static void get_write(void *user, uint64_t n, struct buf *out)
{
    const struct served *served = user;

    head_write(served, out, "GET", n % served->ads, "", 0);
}

static void batch_head(const struct served *served, struct buf *out, const struct buf *body)
{
    buf_addf(out, "POST /v1/ads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
             served->token, body->len);
    buf_add(out, body->text, body->len);
}

static void batch_write(void *user, uint64_t n, struct buf *out)
{
    const struct served *served = user;
    struct buf body;

    buf_init(&body);
    for (uint64_t i = 0; i < BATCH; i++)
        buf_addf(&body, "[Message=\"advertise\";Id=\"m%llu\";Ad=[Changed=%llu;%s]\n",
                 (unsigned long long)((n * BATCH + i) % served->ads), (unsigned long long)(n + 1000000), AD_REST);
    batch_head(served, out, &body);
    buf_done(&body);
}

static void batch_renew_write(void *user, uint64_t n, struct buf *out)
{
    const struct served *served = user;
    struct buf body;

    buf_init(&body);
    for (uint64_t i = 0; i < BATCH; i++)
        buf_addf(&body, "[Message=\"advertise\";Id=\"m%llu\";Bare=true]\n",
                 (unsigned long long)((n * BATCH + i) % served->ads));
    batch_head(served, out, &body);
    buf_done(&body);
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static int row_run(struct served *served, const char *name, load_write_fn *write, uint64_t requests, uint64_t each,
                   uint32_t connections)
{
    struct load load = {
        .port = served->port, .connections = connections, .requests = requests, .write = write, .user = served};
    struct load_result result;
    struct bench bench = {.operations = requests * each, .counter = -1, .instructions = -1};
    double cpu = served_cpu(served, NULL);
    struct err err = {0};
    struct buf row;

    if (load_run(&load, &result, &err) < 0) {
        report("bench: %s: %s", name, err.text);
        return -1;
    }
    if (result.failures) {
        report("bench: %s: %llu of %llu requests failed, the last with %u", name, (unsigned long long)result.failures,
               (unsigned long long)result.answers, result.status);
        return -1;
    }
    bench.seconds = result.seconds;
    buf_init(&row);
    bench_row_begin(&row, name);
    bench_row_integer(&row, "ads", served->ads);
    bench_row_integer(&row, "connections", connections);
    bench_row_real(&row, "cpu_us", (served_cpu(served, NULL) - cpu) * 1e6 / (double)bench.operations);
    bench_row_measured(&row, &bench);
    bench_row_finish(&row);
    buf_done(&row);
    return 0;
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static int tcp_open(int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Reads until that word has come; false when the connection ends before. */
static bool read_until(int fd, struct buf *in, const char *word)
{
    while (!strstr(buf_string(in), word)) {
        ssize_t count = read(fd, buf_reserve(in, 65536), 65536);

        if (count <= 0)
            return false;
        in->len += (size_t)count;
    }
    return true;
}

static bool write_all(int fd, const struct buf *out)
{
    size_t sent = 0;

    while (sent < out->len) {
        ssize_t count = send(fd, out->text + sent, out->len - sent, MSG_NOSIGNAL);

        if (count <= 0)
            return false;
        sent += (size_t)count;
    }
    return true;
}

/* Times one match: a request for just one machine waits, the machine is advertised, and the letter comes by the stream. */
static int notify_once(struct served *served, int stream, int line, uint64_t n, struct buf *in, double *ret)
{
    struct buf out;
    char ad[256];
    double began;
    bool good;

    buf_init(&out);
    snprintf(ad, sizeof ad, "[Type=\"Job\";Constraint=other.Only==%llu]", (unsigned long long)n);
    head_write(served, &out, "PUT", 10000000 + n, "Berth-Agent: notified\r\n", strlen(ad));
    buf_adds(&out, ad);
    buf_reset(in);
    good = write_all(line, &out) && read_until(line, in, "Reason");
    usleep(30000); /* by now the request has been tried, and waits */
    buf_reset(&out);
    snprintf(ad, sizeof ad, "[Type=\"Machine\";Only=%llu]", (unsigned long long)n);
    head_write(served, &out, "PUT", 20000000 + n, "", strlen(ad));
    buf_adds(&out, ad);
    began = bench_clock();
    good = good && write_all(line, &out);
    buf_reset(in);
    good = good && read_until(stream, in, "event: match");
    *ret = bench_clock() - began;
    buf_reset(in);
    good = good && read_until(line, in, "Reason");
    buf_done(&out);
    return good ? 0 : -1;
}

static int notify_run(struct served *served)
{
    static double spans[NOTIFIED_MOST];
    int stream = tcp_open(served->port), line = tcp_open(served->port), failed = stream < 0 || line < 0;
    uint64_t share = served->ads / 100, count = share < NOTIFIED_LEAST  ? NOTIFIED_LEAST
                                                : share < NOTIFIED_MOST ? share
                                                                        : NOTIFIED_MOST;
    struct bench bench = {.operations = count, .counter = -1, .instructions = -1};
    struct buf out, in, row;

    buf_init(&out);
    buf_init(&in);
    buf_addf(&out,
             "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nBerth-Agent: notified\r\n"
             "Accept: text/event-stream\r\n\r\n",
             served->token);
    failed = failed || !write_all(stream, &out) || !read_until(stream, &in, "\r\n\r\n");
    for (uint64_t i = 0; i < count && !failed; i++) {
        failed = notify_once(served, stream, line, i, &in, &spans[i]) < 0;
        bench.seconds += spans[i];
    }
    close(stream);
    close(line);
    buf_done(&out);
    buf_done(&in);
    if (failed) {
        report("bench: serve-notify: the connection broke");
        return -1;
    }
    qsort(spans, count, sizeof *spans, double_compare);
    buf_init(&row);
    bench_row_begin(&row, "serve-notify");
    bench_row_integer(&row, "ads", served->ads);
    bench_row_real(&row, "median_ms", spans[count / 2] * 1e3);
    bench_row_real(&row, "p99_ms", spans[count * 99 / 100] * 1e3);
    bench_row_real(&row, "most_ms", spans[count - 1] * 1e3);
    bench_row_measured(&row, &bench);
    bench_row_finish(&row);
    buf_done(&row);
    return 0;
}

static int serve_all(struct served *served)
{
    uint64_t updates = served->ads * 2;
    double before, after;
    struct buf row;

    served_cpu(served, &before);
    if (row_run(served, "serve-fill", batch_write, (served->ads + BATCH - 1) / BATCH, BATCH, 1) < 0)
        return STATUS_BAD;
    served_cpu(served, &after);
    buf_init(&row);
    bench_row_begin(&row, "serve-memory");
    bench_row_integer(&row, "ads", served->ads);
    bench_row_real(&row, "bytes_an_ad", (after - before) / (double)served->ads);
    bench_row_finish(&row);
    buf_done(&row);
    if (row_run(served, "serve-put", put_write, updates, 1, CONNECTIONS) < 0 ||
        row_run(served, "serve-renew", renew_write, updates, 1, CONNECTIONS) < 0 ||
        row_run(served, "serve-batch", batch_write, updates / BATCH, BATCH, 2) < 0 ||
        row_run(served, "serve-batch-renew", batch_renew_write, updates / BATCH, BATCH, 2) < 0 ||
        row_run(served, "serve-get", get_write, updates * 2, 1, CONNECTIONS) < 0 || notify_run(served) < 0)
        return STATUS_BAD;
    return STATUS_DONE;
}

int bench_serve(const struct bench_settings *settings)
{
    struct served served = {.ads = settings->ads ? settings->ads : 20000};
    struct err err = {0};
    int status = STATUS_BAD;

    served.ads = (served.ads + BATCH - 1) / BATCH * BATCH;
    if (served_start(&served, &err) < 0 || served_token(&served, &err) < 0)
        report("bench: %s", err.text);
    else
        status = settings->pull ? bench_serve_pull(&served, settings->queued ? settings->queued : 1000000)
                                : serve_all(&served);
    served_end(&served);
    return status;
}
