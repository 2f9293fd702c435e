/* run_gangs.h: the offers and jobs of which pools under faults make gangs: licences, disks and services beside the machines, and jobs with Ports.
 *
 * Two machines that take every job that fits, and one of each of these offers, are enough for all jobs, one after another. */
#ifndef BERTH_SIM_RUN_GANGS_H
#define BERTH_SIM_RUN_GANGS_H

#include "lang/base/rng.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GANG_OFFERS 6
#define GANG_MACHINES 2 /* of one kind, that a gang may need at once */

extern const char *const gang_offers[GANG_OFFERS];

/* Writes the Ports of a job that wants that much memory of each machine: "; Ports = { ... }". */
void gang_ports(struct rng *rng, int memory, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
