/* desk_news.h: when something has changed at a customer, for those who watch the pool; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_DESK_NEWS_H
#define BERTH_LIVE_MATCHMAKERD_DESK_NEWS_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DESKS_WATCHED_MAX 8 /* customers that one stream has news of */

/* A customer that somebody watches. */
struct desk_news {
    struct desk_news *next;
    struct matchmakerd *matchmakerd;
    uint64_t desk; /* the customer's handle, whether or not it is known now */
    uint32_t watchers;
    uint64_t call;      /* the question that is held there; 0: none is */
    int64_t asked, due; /* when it was asked last, and when it may be asked again */
    int64_t pause;      /* after a question that came to nothing */
    int64_t changes;    /* how many it has had, as it said last; -1: it has not said */
    uint32_t turn;      /* whose rights it is asked with next */
};

/* Somebody watches that customer, or does no more. */
struct desk_news *desk_news_join(struct matchmakerd *matchmakerd, uint64_t desk);
void desk_news_leave(struct desk_news *news);
void desk_news_sweep(struct matchmakerd *matchmakerd, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
