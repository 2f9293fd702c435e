/* bench.h: measurements: the best of several rounds, one JSON object on each line.
 *
 *     {"name": "parse", "ads": 100000, ..., "seconds": 0.31, "operations": 100000, "per_second": ..., "nanoseconds": ...}
 *
 * `instructions`, for each operation, are there where the machine can count them. */
#ifndef BERTH_CLI_BENCH_BENCH_H
#define BERTH_CLI_BENCH_BENCH_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

#include <stdint.h>

/* The workstation of figure 13 of the dissertation in 886 bytes: without blanks around the `=` of attributes or between lines. */
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

/* A larger number would take longer than anyone waits, or more memory than there is: an ad of the parse bench takes 2 KB. */
#define BENCH_ADS_MAX 1000000
#define BENCH_ROUNDS_MAX 1000000
#define BENCH_QUEUED_MAX 100000000

/* Requests of BENCH_SHAPES shapes, and machines that pull: each machine fits about every other shape. */
#define BENCH_SHAPES 500
#define BENCH_SHAPE_TEXT                                                                                        \
    "[Type=\"Job\";Owner=\"u%u\";Group=\"g%u\";RequestMemory=%u;ImageSize=31744;%sConstraint=Arch==\"INTEL\"&&" \
    "OpSys==\"LINUX\"&&Disk>=30%03u&&other.Memory>=RequestMemory;Rank=KFlops/1E3+other.Memory/32]"
#define BENCH_PULL_TEXT                                                                                               \
    "[Type=\"Machine\";Arch=\"INTEL\";OpSys=\"LINUX\";Disk=%u;Memory=%u;KFlops=63685;LoadAvg=0.1;KeyboardIdle=70526;" \
    "Constraint=LoadAvg<=0.3&&KeyboardIdle>15*60&&other.RequestMemory<=Memory;Rank=other.RequestMemory]"

enum bench_engine { BENCH_BOTH, BENCH_SCAN, BENCH_INDEX };

struct bench_settings {
    const struct dialect *dialect; /* of the files: */
    const char *requests, *offers; /* files in place of the workload of index or gang; or NULL */
    uint64_t ads, rounds, seed;
    uint64_t attributes; /* for index: attributes of each ad of its workload ... */
    int mix;             /* ... its enum workload_mix ... */
    int engine;          /* ... an enum bench_engine ... */
    uint64_t queries;    /* ... and how many ads look for matches; 0: as many as there are ads */
    const char *scene;   /* for engine: the only pool that is measured; NULL: all */
    bool pull;           /* for serve: offers pull ... */
    uint64_t queued;     /* ... while so many requests wait; for pull too; 0: a million */

    int algorithm;           /* for gang: an enum gang_algorithm, or GANG_ALGORITHMS for all of them ... */
    int kind;                /* ... the enum gang_workload_kind of its workload, never GANG_DUDS ... */
    bool duds;               /* ... to which duds are added ... */
    bool live;               /* ... gangs are made by the live engine ... */
    uint64_t machines;       /* ... machines; 0: 4000, or 500 for the skewed workload ... */
    uint64_t licenses;       /* ... licences for each hundred machines, 50 or 100; 0: both ... */
    uint64_t selectivity;    /* ... partitions, 1, 2, 4 or 8; 0: all four ... */
    uint64_t discrimination; /* ... how choosy machines are; 0: all values of figure 57 ... */
    int preferences;         /* ... 1: gangs follow ranks */

    int assign_policy;      /* for assign: an enum assign_policy, or -1 for all of them ... */
    uint64_t kinds;         /* ... kinds of requests; 0: 500 ... */
    uint64_t cluster_kinds; /* ... kinds of offers; 0: 50 */

    const char
        *slots; /* for jobs: how many run at a time, numbers with commas; NULL: as many as there are processors ... */
    uint64_t count;    /* ... and how many there are; 0: 1000; for store these as well, 16 and 5000 ... */
    const char *store; /* ... and where its rows go: a file or a database; NULL: a file of its own */
};

int bench_parse(const struct bench_settings *settings); /* returns an enum status */
int bench_eval(const struct bench_settings *settings);
int bench_pair(const struct bench_settings *settings);
int bench_index(const struct bench_settings *settings);
int bench_why(const struct bench_settings *settings);
int bench_engine(const struct bench_settings *settings);
int bench_serve(const struct bench_settings *settings);
int bench_pull(const struct bench_settings *settings);
int bench_plan(const struct bench_settings *settings);
int bench_gang(const struct bench_settings *settings);
int bench_assign(const struct bench_settings *settings);
int bench_grdl(const struct bench_settings *settings);
int bench_jobs(const struct bench_settings *settings);
int bench_store(const struct bench_settings *settings);

/* Reads all ads of a file, and appends them. -1 when it cannot be read, which has been reported. */
int bench_ads_read(const struct bench_settings *settings, struct symbols *symbols, const char *file,
                   struct tree ***ret_ads, size_t *ret_count);

/* What the best round of so many operations took. */
struct bench {
    uint64_t operations;
    double seconds;      /* of the best round */
    double processor;    /* of all threads of the program in it */
    double instructions; /* of all operations; below 0 where they cannot be counted */
    int counter;         /* the descriptor that counts instructions, or -1 */
    double started, started_processor;
};

double bench_clock(void);     /* seconds since some moment */
double bench_processor(void); /* seconds that all threads of the program have computed */

void bench_init(struct bench *bench, uint64_t operations);
void bench_done(struct bench *bench);
void bench_start(struct bench *bench); /* a round begins ... */
void bench_stop(struct bench *bench);  /* ... and ends; it is kept if it is the best */

/* A row: begin, add fields; bench_row_measured adds what was measured, and bench_row_finish prints the row. */
void bench_row_begin(struct buf *row, const char *name);
void bench_row_text(struct buf *row, const char *field, const char *text); /* plain words */
void bench_row_integer(struct buf *row, const char *field, uint64_t value);
void bench_row_real(struct buf *row, const char *field, double value);
void bench_row_measured(struct buf *row, const struct bench *bench);
void bench_row_finish(struct buf *row);

#endif
