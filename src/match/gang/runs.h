/* runs.h: at which ports of an ad those dock who run the job, and what the others are not told.
 *
 *     Ports = { [ Label = cpu; Executes = true; ... ], [ Label = lic; ... ] }      whoever docks at lic runs nothing, whatever it says itself
 *
 * That is for the ad that has the ports to say, never for the one that docks. Where no port says Executes, those are meant whose constraint
 * asks for a machine (`cpu.Type == "Machine"`); where none does, the first. */
#ifndef BERTH_MATCH_GANG_RUNS_H
#define BERTH_MATCH_GANG_RUNS_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RUNS_NO_LINK UINT64_MAX

/* May whoever docks at that port run the job, or one below it? `link` is the port by which the ad itself is docked to its superior: that is not
 * one of those; RUNS_NO_LINK: there is none. An ad without Ports has one port, at which it may. */
bool port_runs(struct tree *ad, uint64_t port, uint64_t link);

/* By what it is settled at which ports of a job's ad it runs. */
enum runs_by {
    RUNS_BY_WORD,  /* they say Executes = true */
    RUNS_BY_TYPE,  /* they ask for a machine */
    RUNS_BY_PLACE, /* nothing is said: the first alone */
    RUNS_NOWHERE   /* some say Executes, and none of them true */
};
struct ports;
enum runs_by ports_run_by(const struct ports *ports);
/* What whoever wrote the ports should hear of that, as a line: where the job runs and how to say it. False: nothing. */
struct buf;
bool ports_run_words(const struct ports *ports, struct buf *out);

/* The ad for one at that port who runs nothing: without the attributes of those names, but for those that the port itself reads, and of the other
 * ports only what keeps their places and whether they run the job. The caller unrefs it. */
struct tree *port_withholds(struct tree *ad, uint64_t port, uint64_t link, const char *const *names, size_t count);

#ifdef __cplusplus
}
#endif
#endif
