/* load.h: sends many HTTP requests at once over a few kept connections, as cheaply as possible: for measuring a server, not for using it.
 *
 * Each connection has one request under way: it is written whole, then its answer is read by its Content-Length. */
#ifndef BERTH_CLI_BENCH_LOAD_H
#define BERTH_CLI_BENCH_LOAD_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the whole n-th request. */
typedef void load_write_fn(void *user, uint64_t n, struct buf *out);

struct load {
    int port; /* on 127.0.0.1 */
    uint32_t connections;
    uint64_t requests;
    load_write_fn *write;
    void *user;
    double *spans; /* seconds that each answer took, in the order they came: as many as there are requests; or NULL */
};

struct load_result {
    double seconds;
    uint64_t answers, failures; /* failures: answers that are not 2xx */
    unsigned status;            /* of the last failure */
    uint64_t empty;             /* answers without a body: 204 */
};

/* Sends all requests. -1 and the reason when a connection could not be made, or broke. */
int load_run(const struct load *load, struct load_result *ret, struct err *err);

#endif
