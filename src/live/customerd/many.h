/* many.h: many jobs as one resource, a submission or a workflow: with an entity tag, a time, and links to what can be done next; private to the live customer.
 *
 *     walk over its jobs: many_note, many_note, ...  ->  many_end: the answer to GET, or the change that is asked for begins */
#ifndef BERTH_LIVE_CUSTOMERD_MANY_H
#define BERTH_LIVE_CUSTOMERD_MANY_H

#include "live/customerd/customerd_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct many {
    bool workflow;   /* of a workflow; else of a submission */
    uint64_t number; /* of the resource: its first job */
    uint64_t last;   /* the last job of a submission */
    uint64_t from;   /* a change begins with this job */
    bool changes;    /* it is to be changed: */
    const char *verb;
    struct tree *set;            /* what `edit` sets, held; or NULL */
    int64_t modified;            /* when something last happened to one of its jobs */
    bool applies[CONTROL_COUNT]; /* which verbs would change one of its jobs */
};

/* What a request by a route of submissions or workflows asks for. False after a problem was answered. */
bool many_begin(struct request *request, struct many *ret);
void many_done(struct many *many);

void many_note(struct many *many, const struct job_view *view, const struct job_attempt *last); /* one of its jobs */
void many_note_ended(struct many *many, int64_t ended); /* one that is in the history */

/* All its jobs were looked at: answers, or begins the change. `ad`: what it is; NULL: there is no such thing for the caller. */
void many_end(struct request *request, struct many *many, const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
