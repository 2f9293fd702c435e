/* run_gangs.h: what the pools under faults gather gangs of: licences, disks and services beside the machines, and jobs with Ports.
 *
 * Two machines that take whatever fits, and one of each of these, are enough for every job, one after the other. */
#ifndef BERTH_SIM_RUN_GANGS_H
#define BERTH_SIM_RUN_GANGS_H

#include "lang/base/rng.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GANG_OFFERS 6
#define GANG_MACHINES 2 /* of one sort, that a gang may need at once */

extern const char *const gang_offers[GANG_OFFERS];

/* Writes the Ports of a job that wants that memory of each machine: "; Ports = { ... }". */
void gang_ports(struct rng *rng, int memory, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
