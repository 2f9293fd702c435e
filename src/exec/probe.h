/* probe.h: what this machine is and how it is now, as an ad.
 *
 *     hardware (once)    Type Name Machine Arch OpSys OpSysName OpSysVersion KernelVersion Cpus Cores Sockets NumaNodes CpuModel Memory
 *                        VirtualMemory Disk GpuCount Gpus Benchmark
 *     state (each time)  LoadAvg OwnerLoad PressureCpu PressureMemory PressureIo Users KeyboardIdle KeybrdIdle TimeZone Day DayTime FreeMemory FreeDisk
 *     software           by programs that print an ad: their attributes lie over the others
 *
 * Memory, VirtualMemory and Disk are in bytes; Disk is what is set aside for jobs, not what is free. KeyboardIdle is in seconds,
 * KeybrdIdle the same as a relative time, as the dissertation has it. Day is 0 on Sunday, DayTime in seconds since midnight: as it was
 * when we looked, while dayTime() is as it is, in the TimeZone that the ad says. Gpus is a list of ads
 * [ Name; Vendor; Bus; Device; Memory; Capability; Uuid; Index ], of those that are in the machine; only those that can be given to jobs have a Uuid,
 * and GpuCount is how many they are.
 * What cannot be told is left out, so that it is undefined. */
#ifndef BERTH_EXEC_PROBE_H
#define BERTH_EXEC_PROBE_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct prober;
struct gpus;

struct probe_settings {
    const char *root;    /* where /proc, /sys and /dev are looked for: "" for most; a folder in tests */
    const char *scratch; /* the folder that jobs work in: its disk is meant */
    /* Bytes set aside for jobs; 0: nine tenths of what is free there now. Who starts again keeps the first answer and gives it here, or
     * the files of jobs that are there would count twice. */
    int64_t disk;
    double benchmark;            /* how fast a processor is (pilot_benchmark), as it was measured; 0: not known */
    const char *const *programs; /* that print an ad; ends with NULL; or NULL */
    int64_t program_span;        /* microseconds that one may take: then it is killed, and said nothing */
    const struct gpus *
        gpus; /* of this machine, as gpus_settle left them (gpus.h), as long as the prober lives; NULL: none can be given */
    const char *synthetic; /* hwloc's description of a machine that is not there, for tests; or NULL */
};

/* Makes a prober, which reads the hardware at once. The settings are copied. */
struct prober *prober_new(struct symbols *symbols, const struct probe_settings *settings, struct err *err);
void prober_free(struct prober *prober);

/* The machine as it is now; the caller unrefs it. `own_load`: how much of the load average our own jobs make (OwnerLoad is the rest). Does not wait:
 * what the programs printed last is used. */
struct tree *prober_probe(struct prober *prober, double own_load);

/* Starts the programs anew, but for those that run still; they are read by prober_poll, which does not wait, until it returns false:
 * none runs any more. One that fails changes nothing: what it printed before still holds. */
void prober_start(struct prober *prober);
bool prober_poll(struct prober *prober);
/* What was wrong with the last run of the programs, one line; "" when nothing was. */
const char *prober_complaint(const struct prober *prober);

#ifdef __cplusplus
}
#endif
#endif
