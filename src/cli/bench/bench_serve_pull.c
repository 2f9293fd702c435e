/* bench_serve_pull.c: berth bench serve --pull: measures machines that pull over kept connections, while requests of many shapes wait and cycles run:
 * one in MIXED HTTP requests puts an ad that has changed. */
#include "cli/bench/bench_served.h"

#include "cli/bench/bench.h"
#include "cli/bench/load.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULLERS 10000
#define CONNECTIONS 16
#define MIXED 20

/* The pulls. Each run of them begins with another number. */
struct pulls {
    const struct served *served;
    uint64_t queued, from;
};

/* Writes a request ad with a count for each shape, in one batch. */
static void fill_write(void *user, uint64_t n, struct buf *out)
{
    const struct pulls *pulls = user;
    struct buf body;

    (void)n;
    buf_init(&body);
    for (unsigned i = 0; i < BENCH_SHAPES; i++)
        buf_addf(
            &body,
            "[Message=\"advertise\";Id=\"j%u\";Request=true;Ad=[Type=\"Job\";Group=\"g%u\";RequestMemory=%u;Count=%llu;"
            "Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&Disk>=30%03u&&other.Memory>=RequestMemory;"
            "Rank=KFlops/1E3+other.Memory/32]]\n",
            i, i % 7, 32 + i, (unsigned long long)(pulls->queued / BENCH_SHAPES), i);
    buf_addf(out, "POST /v1/ads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
             pulls->served->token, body.len);
    buf_add(out, body.text, body.len);
    buf_done(&body);
}

static void pull_write(void *user, uint64_t n, struct buf *out)
{
    const struct pulls *pulls = user;
    uint64_t number = pulls->from + n;
    char ad[600];

    if (n % MIXED == 0)
        snprintf(ad, sizeof ad, "[Type=\"Machine\";Changed=%llu;Memory=1]", (unsigned long long)number);
    else
        snprintf(ad, sizeof ad, BENCH_PULL_TEXT, (unsigned)(30100 + n % 64 * 14), (unsigned)(64 + n % 64 * 8));
    if (n % MIXED == 0)
        buf_addf(out, "PUT /v1/ads/m%llu HTTP/1.1\r\n", (unsigned long long)(n / MIXED % 1000));
    else
        buf_addf(out,
                 "POST /v1/pull?id=offer HTTP/1.1\r\nBerth-Agent: p%llu\r\nBerth-Number: %llu\r\n"
                 "Berth-Key: %064llx\r\n",
                 (unsigned long long)(number % PULLERS), (unsigned long long)(number / PULLERS + 1),
                 (unsigned long long)number);
    buf_addf(out, "Host: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s", pulls->served->token,
             strlen(ad), ad);
}

static int load_good(const char *name, const struct load *load, struct load_result *ret)
{
    struct err err = {0};

    if (load_run(load, ret, &err) < 0) {
        report("bench: %s: %s", name, err.text);
        return -1;
    }
    if (ret->failures) {
        report("bench: %s: %llu of %llu requests failed, the last with %u", name, (unsigned long long)ret->failures,
               (unsigned long long)ret->answers, ret->status);
        return -1;
    }
    return 0;
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static void tell(const struct pulls *pulls, const struct load_result *result, double *spans, uint64_t count, double cpu)
{
    struct bench bench = {.operations = count, .seconds = result->seconds, .counter = -1, .instructions = -1};
    struct buf row;

    qsort(spans, count, sizeof *spans, double_compare);
    buf_init(&row);
    bench_row_begin(&row, "serve-pull");
    bench_row_integer(&row, "queued", pulls->queued);
    bench_row_integer(&row, "shapes", BENCH_SHAPES);
    bench_row_integer(&row, "providers", PULLERS);
    bench_row_integer(&row, "connections", CONNECTIONS);
    bench_row_integer(&row, "given", count - count / MIXED - result->empty);
    bench_row_real(&row, "median_ms", spans[count / 2] * 1e3);
    bench_row_real(&row, "p99_ms", spans[count * 99 / 100] * 1e3);
    bench_row_real(&row, "most_ms", spans[count - 1] * 1e3);
    bench_row_real(&row, "cpu_us", cpu * 1e6 / (double)count);
    bench_row_measured(&row, &bench);
    bench_row_finish(&row);
    buf_done(&row);
}

int bench_serve_pull(struct served *served, uint64_t queued)
{
    struct pulls pulls = {.served = served, .queued = queued < 2 * BENCH_SHAPES ? 2 * BENCH_SHAPES : queued};
    uint64_t count = served->ads;
    double *spans = mem_alloc(count * sizeof *spans), cpu;
    struct load fill = {.port = served->port, .connections = 1, .requests = 1, .write = fill_write, .user = &pulls};
    struct load load = {
        .port = served->port, .connections = CONNECTIONS, .requests = PULLERS, .write = pull_write, .user = &pulls};
    struct load_result result;
    int status = STATUS_BAD;

    /* the first round makes the providers known, and tells what they read */
    if (load_good("serve-pull", &fill, &result) == 0 && load_good("serve-pull", &load, &result) == 0) {
        pulls.from = 2 * PULLERS;
        load.requests = count;
        load.spans = spans;
        cpu = served_cpu(served, NULL);
        if (load_good("serve-pull", &load, &result) == 0) {
            tell(&pulls, &result, spans, count, served_cpu(served, NULL) - cpu);
            status = STATUS_DONE;
        }
    }
    free(spans);
    return status;
}
