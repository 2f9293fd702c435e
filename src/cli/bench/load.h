/* load.h: many HTTP requests at once over a few kept connections, as cheaply as can be: for measuring a server, not for using it.
 *
 * Each connection has one request under way: written whole, then its answer is read by its Content-Length. */
#ifndef BERTH_CLI_BENCH_LOAD_H
#define BERTH_CLI_BENCH_LOAD_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The n-th request, whole, appended. */
typedef void load_write_fn(void *user, uint64_t n, struct buf *out);

struct load {
    int port; /* on 127.0.0.1 */
    uint32_t connections;
    uint64_t requests;
    load_write_fn *write;
    void *user;
    double *spans; /* what each answer took, in the order in which they came: as many as there are requests; or NULL */
};

struct load_result {
    double seconds;
    uint64_t answers, failures; /* failures: answers that are no 2xx */
    unsigned status;            /* of the last failure */
    uint64_t empty;             /* answers with nothing in them: 204 */
};

/* -1 and the reason when a connection could not be made, or broke. */
int load_run(const struct load *load, struct load_result *ret, struct err *err);

#endif
