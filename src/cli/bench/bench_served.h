/* bench_served.h: the matchmaker that berth bench serve drives, for the files that drive it. */
#ifndef BERTH_CLI_BENCH_BENCH_SERVED_H
#define BERTH_CLI_BENCH_BENCH_SERVED_H

#include <stdint.h>
#include <sys/types.h>

struct served {
    pid_t pid;
    int port;
    char state[64];
    char token[4096];
    uint64_t ads;
};

/* The processor time of the matchmaker so far, in seconds, and its memory in bytes. */
double served_cpu(const struct served *served, double *ret_resident);

/* Measures offers that pull, while so many requests wait; returns an enum status. */
int bench_serve_pull(struct served *served, uint64_t queued);

#endif
