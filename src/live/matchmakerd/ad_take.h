/* ad_take.h: takes an ad that was sent, or refuses it; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_AD_TAKE_H
#define BERTH_LIVE_MATCHMAKERD_AD_TAKE_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of an ad that was sent: the role's answer, or why the role was not even asked. */
struct taking {
    enum reason reason;
    struct err err; /* the words, when the role was not asked */
    bool created;
    bool full; /* there is no memory for it: it may be tried again later */
};

/* Opens the key of an offer, as that agent has sealed it for the ad of that id. Returns the reason, with words, when it does not open. */
enum reason sealed_key_take(const struct request *request, uint32_t who, const char *id, const char *text, size_t len,
                            struct key *ret, struct err *err);
/* Has an institute put the caller into a group, or into none ("")? The pool's own tokens do not say so: the record of those that were given for an institute's does. -1: it
 * cannot be looked up. */
int caller_group(const struct request *request, char ret[TOKEN_GROUP_MAX + 1]);
/* The heart of PUT and of the batch. A version of 0 stands for the next one. False, after a problem was answered, when the store has failed. */
bool ad_take(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret);
/* id_unlive: the ad of that id has gone, and no longer counts for its account. id_forget: nothing of it is remembered,
 * and the id is removed. */
void id_unlive(struct matchmakerd *matchmakerd, uint32_t place);
void id_forget(struct matchmakerd *matchmakerd, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
