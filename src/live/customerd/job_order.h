/* job_order.h: the first of many jobs, in the order of an attribute: as many as are kept, however many are looked at; private to the live customer.
 *
 *     order = job_order_new("Submitted", false, 50)  ->  job_order_note, job_order_note, ...  ->  job_order_sort  ->  job_order_id(order, 0), ...
 *
 * Numbers come before texts, and both before jobs without such an attribute, whichever way; jobs that are alike by their numbers. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_ORDER_H
#define BERTH_LIVE_CUSTOMERD_JOB_ORDER_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct job_order;

struct job_order *job_order_new(const char *name, bool down, uint32_t most);
void job_order_free(struct job_order *order); /* takes NULL */
void job_order_note(struct job_order *order, const struct tree *ad, uint64_t job);
void job_order_sort(struct job_order *order);
uint32_t job_order_count(const struct job_order *order); /* of those that are kept */
uint64_t job_order_seen(const struct job_order *order);  /* of those that were noted */
uint64_t job_order_id(const struct job_order *order, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
