/* trace.h: the last events of each host, for people to read: a ring of lines for each host.
 *
 *     12.345678 provider2   <- customer1: commit claim=#1f2e0 epoch=1 sequence=1 collect=1.500s
 *     12.345678 provider2       writes(7) tenant_record #1f2e0 ...
 *
 * Lines are costly. So a world has a trace only when it is run again because of a violation; the seed makes both runs the same. */
#ifndef BERTH_SIM_TRACE_H
#define BERTH_SIM_TRACE_H

#include "lang/base/buf.h"
#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trace;

struct trace *trace_new(struct world *world, uint32_t lines); /* so many of each host; watches from now on */
void trace_free(struct trace *trace);
void trace_print(const struct trace *trace, struct buf *out); /* of all hosts, the lines of each in order */

#ifdef __cplusplus
}
#endif
#endif
