/* replicas_renew.h: what jobs that wait say of where their files are (Replicas, ReplicaHosts, InputBytes), looked up again from time to time: a file gets
 * further replicas, and loses some, while jobs wait; private to the live customer. */
#ifndef BERTH_LIVE_CUSTOMERD_REPLICAS_RENEW_H
#define BERTH_LIVE_CUSTOMERD_REPLICAS_RENEW_H

#include <stdbool.h>
#include <stdint.h>

struct customerd;
struct renewal;

struct renewal *renewal_new(struct customerd *customerd);
/* After the catalogues, which end what is under way. Takes NULL. */
void renewal_free(struct renewal *renewal);
/* Goes through jobs until `ends`, when ReplicasPeriod is over; true: there is more to do now. */
bool renewal_tick(struct renewal *renewal, int64_t ends);

#endif
