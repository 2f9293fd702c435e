/* job_trace.h: by which word a job is followed through the logs of all parties: `traceparent` of the W3C's Trace Context, version 00.
 *
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *        id                               span             flags
 *
 * A submission has one: its caller's, or one that is made for it. The job of a start is told one with the same id and a span of its own: in its ad
 * (AD_JOB_TRACE), which parties that know nothing of it pass over. It says nothing of who may do what, and nothing is decided by it. */
#ifndef BERTH_POOL_PROTOCOL_JOB_TRACE_H
#define BERTH_POOL_PROTOCOL_JOB_TRACE_H

#include "lang/text/tree.h"
#include "pool/protocol/fields.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AD_JOB_TRACE "TraceParent" /* in the ad of a job as it is started */
#define JOB_TRACE_LEN 55
#define JOB_TRACE_ID_LEN 32

struct job_trace {
    unsigned char id[16], span[8]; /* not all 0, but that there is no trace: then all is 0 */
    unsigned char flags;
};

static inline bool job_trace_is_none(const struct job_trace *trace)
{
    static const struct job_trace none = {{0}, {0}, 0};

    return memcmp(trace, &none, sizeof none) == 0;
}

/* Reads such a text, whoever wrote it. False where it is anything else, in the smallest thing: `*ret` is none then. */
bool job_trace_read(const char *text, size_t len, struct job_trace *ret);
bool job_trace_of(const struct tree *ad,
                  struct job_trace *ret); /* what AD_JOB_TRACE of the ad says; the ad may be NULL */

/* One that is made from those words, which are drawn by chance. */
void job_trace_make(const uint64_t words[3], struct job_trace *ret);

/* What a try of a job is told: the same id, and a span that is another for each try, and the same whenever it is asked for. */
struct job_trace job_trace_child(const struct job_trace *trace, uint64_t job, uint64_t tried);

/* The text, and the id alone; both empty where there is no trace. */
void job_trace_write(const struct job_trace *trace, struct text *ret);
void job_trace_id_write(const struct job_trace *trace, char ret[JOB_TRACE_ID_LEN + 1]);

#ifdef __cplusplus
}
#endif
#endif
