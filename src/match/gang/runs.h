/* runs.h: at which ports of an ad the parties dock that run the job, and what the other parties are not told.
 *
 *     Ports = { [ Label = cpu; Executes = true; ... ], [ Label = lic; ... ] }      whoever docks at lic runs nothing, whatever it says itself
 *
 * The ad that has the ports decides that, never the one that docks. Where no port says Executes, the ports are meant whose constraint asks for a
 * machine (`cpu.Type == "Machine"`); where none does, the first. */
#ifndef BERTH_MATCH_GANG_RUNS_H
#define BERTH_MATCH_GANG_RUNS_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RUNS_NO_LINK UINT64_MAX

/* May whoever docks at that port run the job, or a party below it? `link` is the port by which the ad itself is docked to its superior, and never
 * such a port; RUNS_NO_LINK: there is none. An ad without Ports has one port, at which the job may run. */
bool port_runs(struct tree *ad, uint64_t port, uint64_t link);

/* What decides at which ports of its ad a job runs. */
enum runs_by {
    RUNS_BY_WORD,  /* some ports say Executes = true */
    RUNS_BY_TYPE,  /* some ports ask for a machine */
    RUNS_BY_PLACE, /* nothing is said: the first alone */
    RUNS_NOWHERE   /* some say Executes, and none of them true */
};
struct ports;
enum runs_by ports_run_by(const struct ports *ports);
/* Writes a line for the author of the ports: where the job runs and how to say it. False: there is nothing to tell. */
struct buf;
bool ports_run_words(const struct ports *ports, struct buf *out);

/* Makes the ad for a party at that port that runs nothing: without the attributes of those names, except those that the port itself reads; of the
 * other ports only what keeps their places and whether they run the job. The caller unrefs it. */
struct tree *port_withholds(struct tree *ad, uint64_t port, uint64_t link, const char *const *names, size_t count);

#ifdef __cplusplus
}
#endif
#endif
