/* trace.h: what happened last, party by party, for people: a ring of lines for each host.
 *
 *     12.345678 provider2   <- commit from customer1: claim=1f2e.. epoch=1 sequence=1 collect=1.5s
 *     12.345678 provider2      writes tenant_record 1f2e..; then answers claimed: ...
 *
 * Lines are costly: a world is run again with a trace when something was found, which the seed allows. */
#ifndef BERTH_SIM_TRACE_H
#define BERTH_SIM_TRACE_H

#include "lang/base/buf.h"
#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trace;

struct trace *trace_new(struct world *world, uint32_t lines); /* of each host; it looks on from now on */
void trace_free(struct trace *trace);
void trace_print(const struct trace *trace, struct buf *out); /* of all hosts, each in its order */

#ifdef __cplusplus
}
#endif
#endif
