/* gang_workload.h: the ads of the dissertation's chapter 5, made from a seed.
 *
 *     base         n jobs that want a machine and a licence, n machines, n or n / 2 licences (section 5.2)
 *     duds         the same, and a few machines and a licence that fit a job each by itself, but never together (5.6.2)
 *     skewed       n jobs and n machines that all fit; 2 n licences, all for the last fifth of the machines (5.7, n = 500)
 *     opportunity  n jobs that want a machine alone; the machines are choosy in various degrees (5.8.3, figure 57)
 *
 * The ads are those of figures 28 to 30:
 *
 *     machine  [ Name = "m143"; Type = "Machine"; Key = 143; Arch = "INTEL"; OpSys = "WINNT40"; Memory = 67108864.0; ...
 *                Ports = { [ Label = Job; Constraint = Job.MemoryReqs < Memory - 15M ] } ]
 *     licence  [ Name = "l7"; Type = "License"; App = "sim_app";
 *                Ports = { [ Label = Site; Constraint = Site.HostID >= 0 && Site.HostID < 1000 ] } ]
 *     job      [ Name = "j7"; Ports = { [ Label = Cpu; ImageSize = 13461450.030324; MemoryReqs = 2860414.100368;
 *                                         Constraint = Cpu.Arch == "INTEL" && ... && Cpu.VirtualMemory > ImageSize ],
 *                                       [ Label = License; HostID = Cpu.Key; Constraint = License.App == "sim_app" ] } ]
 *
 * Machines and jobs depend only on how many there are and on the seed. So when results change with licences and selectivity, these are the cause. */
#ifndef BERTH_CLI_BENCH_GANG_WORKLOAD_H
#define BERTH_CLI_BENCH_GANG_WORKLOAD_H

#include "lang/base/symbols.h"

struct tree;

enum gang_workload_kind { GANG_BASE, GANG_DUDS, GANG_SKEWED, GANG_OPPORTUNITY, GANG_WORKLOADS };

extern const char *const gang_workload_names[GANG_WORKLOADS]; /* "base", "duds", ... */

#define GANG_SELECTIVITY_MAX 8
#define GANG_TAGS 10 /* the tags of the jobs of OPPORTUNITY are from 0 to below this */

struct gang_plan {
    enum gang_workload_kind kind;
    size_t machines;         /* and as many jobs */
    unsigned percent;        /* BASE, DUDS: licences for each hundred machines */
    unsigned selectivity;    /* BASE, DUDS: partitions of machines and licences */
    unsigned discrimination; /* OPPORTUNITY: thresholds are from 0 to below this */
    uint64_t seed;
};

/* What a job or a machine of OPPORTUNITY is compared by. */
struct gang_trait {
    unsigned platform; /* its row in figure 26, from 0 on */
    double level;      /* the job's tag, the machine's threshold */
};

/* The ads: `jobs` requests, then the offers: machines, dud machines, licences, dud licences. */
struct gang_workload {
    struct tree **ads;
    size_t jobs, machines, dud_machines, licenses, dud_licenses;
    struct gang_trait *traits; /* OPPORTUNITY: of the jobs, then of the machines; else NULL */
};

void gang_workload_init(struct gang_workload *workload, struct symbols *symbols, const struct gang_plan *plan);
void gang_workload_done(struct gang_workload *workload);

/* gang_license_partition gives the partition that a licence is in: the first licences are in the first, the next in the next. gang_partition_keys
 * gives the Keys of the machines that a partition's licences are for, from *ret_first to below *ret_end. */
unsigned gang_license_partition(size_t license, size_t licenses, unsigned selectivity);
void gang_partition_keys(unsigned partition, unsigned selectivity, size_t machines, size_t *ret_first, size_t *ret_end);

/* A match of OPPORTUNITY: numbers of a job and of a machine, each from 0. */
struct gang_pair {
    size_t job, machine;
};

/* What the matches, in the order in which they were made, took from others: for each match, the jobs that its machine fits and that no earlier match
 * has served, added up. So its own job counts too. */
uint64_t gang_opportunity_cost(const struct gang_workload *workload, const struct gang_pair *pairs, size_t count);

#endif
