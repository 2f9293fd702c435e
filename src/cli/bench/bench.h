/* bench.h: measurements: the best of several rounds, as one JSON object a line.
 *
 *     {"name": "parse", "ads": 100000, ..., "seconds": 0.31, "operations": 100000, "per_second": ..., "nanoseconds":
 * ...}
 *
 * `instructions` an operation are there where the machine can count them. */
#ifndef BERTH_CLI_BENCH_BENCH_H
#define BERTH_CLI_BENCH_BENCH_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

#include <stdint.h>

/* The workstation of figure 13 of the dissertation in 886 bytes: no blanks around the `=` of attributes or between lines. */
#define BENCH_FIGURE_13_REST                                                                                            \
    "Name=\"cobra.cs.wisc.edu\";Machine=\"cobra.cs.wisc.edu\";IsInstructional=FALSE;RebootedDaily=FALSE;"               \
    "OffHoursOnly=FALSE;CkptServer=\"condor-ckpt.cs.wisc.edu\";IsDedicated=FALSE;IsComputeCluster=FALSE;"               \
    "VirtualMachineID=1;VirtualMemory=746304;Disk=384802;CondorLoadAvg=0.997985;LoadAvg=1.000000;KeyboardIdle=70526;"   \
    "ConsoleIdle=70530;Memory=251;Cpus=1;Arch=\"INTEL\";OpSys=\"LINUX\";UidDomain=\"cs.wisc.edu\";"                     \
    "FileSystemDomain=\"cs.wisc.edu\";Subnet=\"128.105.166\";TotalVirtualMemory=746304;TotalDisk=384802;KFlops=63685;"  \
    "Mips=550;LastBenchmark=971987587;TotalLoadAvg=1.000000;TotalCondorLoadAvg=0.997985;TotalVirtualMachines=1;"        \
    "State=\"Unclaimed\";EnteredCurrentState=972068166;Activity=\"Idle\";EnteredCurrentActivity=972206722;"             \
    "Rank=0.000000;CurrentRank=0.000000;Constraint=(((LoadAvg - CondorLoadAvg) <= 0.300000) &&KeyboardIdle > 15 * 60) " \
    "&&(other.ImageSize <= ((Memory - 15) * 1024));LastHeardFrom=972223116;]"
#define BENCH_FIGURE_13 "[" BENCH_FIGURE_13_REST

/* More would take longer than anyone waits, or more memory than there is: an ad of the parse bench takes 2 KB. */
#define BENCH_ADS_MAX 1000000
#define BENCH_ROUNDS_MAX 1000000
#define BENCH_QUEUED_MAX 100000000

/* Requests of BENCH_SHAPES shapes, and machines that pull: each fits every other shape or so. */
#define BENCH_SHAPES 500
#define BENCH_SHAPE_TEXT                                                                                        \
    "[Type=\"Job\";Owner=\"u%u\";Group=\"g%u\";RequestMemory=%u;ImageSize=31744;%sConstraint=Arch==\"INTEL\"&&" \
    "OpSys==\"LINUX\"&&Disk>=30%03u&&other.Memory>=RequestMemory;Rank=KFlops/1E3+other.Memory/32]"
#define BENCH_PULL_TEXT                                                                                               \
    "[Type=\"Machine\";Arch=\"INTEL\";OpSys=\"LINUX\";Disk=%u;Memory=%u;KFlops=63685;LoadAvg=0.1;KeyboardIdle=70526;" \
    "Constraint=LoadAvg<=0.3&&KeyboardIdle>15*60&&other.RequestMemory<=Memory;Rank=other.RequestMemory]"

enum bench_engine { BENCH_BOTH, BENCH_SCAN, BENCH_INDEX };

struct bench_settings {
    const struct dialect *dialect; /* of these files: */
    const char *requests, *offers; /* in place of the workload of index or gang; or NULL */
    uint64_t ads, rounds, seed;
    uint64_t attributes; /* of each ad of the index's workload ... */
    int mix;             /* ... its enum workload_mix ... */
    int engine;          /* ... BENCH_BOTH, or one of them ... */
    uint64_t queries;    /* ... and how many look for matches; 0: as many as there are ads */
    const char *scene;   /* the engine's only pool, or NULL */
    bool pull;           /* serve: offers pull, of ... */
    uint64_t queued;     /* ... so many requests that wait, there and in pull; 0: a million */

    int algorithm;           /* of gang: an enum gang_algorithm, or GANG_ALGORITHMS for all of them ... */
    int kind;                /* ... the enum gang_workload_kind of its workload, never GANG_DUDS ... */
    bool duds;               /* ... which these are added to ... */
    bool live;               /* of gang: by the live engine */
    uint64_t machines;       /* ... 0: 4000, or 500 where it is skewed ... */
    uint64_t licenses;       /* ... 50 or 100 for each hundred machines; 0: both ... */
    uint64_t selectivity;    /* ... 1, 2, 4 or 8; 0: all four ... */
    uint64_t discrimination; /* ... 0: all of figure 57 ... */
    int preferences;         /* ... 1: they count */

    int assign_policy;      /* of assign: an enum assign_policy, or -1 for all of them ... */
    uint64_t kinds;         /* ... of requests; 0: 500 ... */
    uint64_t cluster_kinds; /* ... of offers; 0: 50 */
};

int bench_parse(const struct bench_settings *settings); /* returns an enum status */
int bench_eval(const struct bench_settings *settings);
int bench_pair(const struct bench_settings *settings);
int bench_index(const struct bench_settings *settings);
int bench_why(const struct bench_settings *settings);
int bench_engine(const struct bench_settings *settings);
int bench_serve(const struct bench_settings *settings);
int bench_pull(const struct bench_settings *settings);
int bench_gang(const struct bench_settings *settings);
int bench_assign(const struct bench_settings *settings);
int bench_grdl(const struct bench_settings *settings);

/* All ads of a file are appended. -1 when it cannot be read, which has been reported. */
int bench_ads_read(const struct bench_settings *settings, struct symbols *symbols, const char *file,
                   struct tree ***ret_ads, size_t *ret_count);

/* What a round of so many operations took. */
struct bench {
    uint64_t operations;
    double seconds;      /* the best round's */
    double instructions; /* of all operations; below 0 where they cannot be counted */
    int counter;         /* the descriptor that counts them, or -1 */
    double started;
};

double bench_clock(void); /* seconds, from some time on */

void bench_init(struct bench *bench, uint64_t operations);
void bench_done(struct bench *bench);
void bench_start(struct bench *bench); /* a round begins ... */
void bench_stop(struct bench *bench);  /* ... and ends; kept if it is the best */

/* A row: begin, fields, bench_row_finish adds what was measured and prints it. */
void bench_row_begin(struct buf *row, const char *name);
void bench_row_text(struct buf *row, const char *field, const char *text); /* plain words */
void bench_row_integer(struct buf *row, const char *field, uint64_t value);
void bench_row_real(struct buf *row, const char *field, double value);
void bench_row_measured(struct buf *row, const struct bench *bench);
void bench_row_finish(struct buf *row);

#endif
