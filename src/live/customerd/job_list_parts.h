/* job_list_parts.h: a list that a request asks for (constraint, select, limit, cursor), made of ads one after another in the turns of its account.
 *
 *     list = list_new();  list_begin(list, request)  ->  walk_begin(request, &list->walk)  ->  list_add, list_add, ...  ->  list_end */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_LIST_PARTS_H
#define BERTH_LIVE_CUSTOMERD_JOB_LIST_PARTS_H

#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_order.h"
#include "live/customerd/walk.h"
#include "match/pair/match.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list that is being made: which ads are wanted, and which attributes. */
struct job_list {
    struct walk walk; /* its `one` and `end` are the caller's */
    struct request *request;
    struct tree *query;
    const char *select;
    uint64_t limit, cursor, steps;
    uint32_t looked;
    struct env env;
    struct arena scratch;
    struct listing listing;
    struct buf out;
    bool more;         /* enough is listed, and there may be more */
    bool alone, given; /* of jobs in the queue: only those without company; only these: */
    struct id_ranges ranges;
    struct job_order *order; /* NULL: jobs come by their numbers */
    uint64_t skip;           /* in an order: so many come on pages before */
};

struct job_list *list_new(void);
void list_drop(struct walk *walk);
/* Fills in what the request asks for; false after a problem was answered, when it cannot be: then it is to be dropped. */
bool list_begin(struct job_list *list, struct request *request);
/* Is it among those that are asked for? */
bool list_wants(struct job_list *list, const struct tree *ad);
void list_put(struct job_list *list, struct tree *ad); /* adds an ad, which it takes, as the request wants to see it */
/* Looks at an ad, which it takes, and adds it if it is wanted; false: enough for this answer. */
bool list_add(struct job_list *list, struct tree *ad);
/* Something was looked at that the caller may not see; false: enough for this answer. */
bool list_pass(struct job_list *list);
void list_end(struct job_list *list, bool more, uint64_t cursor); /* answers */
/* The same of an order, and whether all that there is was looked at. */
void list_order_end(struct job_list *list, bool more, uint64_t cursor, bool whole);

#ifdef __cplusplus
}
#endif
#endif
