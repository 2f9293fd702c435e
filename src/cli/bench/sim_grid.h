/* sim_grid.h: berth sim --scenario: simulates the pool that a file describes, and prints its figures. */
#ifndef BERTH_CLI_BENCH_SIM_GRID_H
#define BERTH_CLI_BENCH_SIM_GRID_H

#include <stdbool.h>
#include <stdint.h>

struct sim_grid_options {
    const char *file;
    double hours, scale; /* 0: as the file says */
    uint64_t seed;       /* UINT64_MAX: as the file says */
    bool json, check;
};

int sim_grid(const struct sim_grid_options *options); /* a status */

#endif
