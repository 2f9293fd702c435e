/* explain.h: what is asked about an ad and the pool: why it matches nothing, with ads as they might be (what_if.c), of several at once (api_gang.c). */
#ifndef BERTH_LIVE_MATCHMAKERD_EXPLAIN_H
#define BERTH_LIVE_MATCHMAKERD_EXPLAIN_H

#include "live/http/request.h"
#include "live/matchmakerd/ids.h"
#include "match/pair/match.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- explained.c ---- */

/* Behind an explanation in words, or within the object that it is as JSON: what holds back the ad of that id (NULL: the pool has it not),
 * and how many of the others are taken. */
void explanation_end(const struct request *request, const char *id, uint64_t taken, struct buf *out);

/* ---- what_if.c: ads as they might be, for one question ---- */

#define SUPPOSED_MAX 64

struct what_if {
    struct what_if_ad {
        struct tree *ad; /* held */
        char id[ID_LEN_MAX + 1];
        bool used; /* in the place of one of the pool's */
    } items[SUPPOSED_MAX];
    uint32_t count;
};

/* The body: the ad that asks, which the caller unrefs, and behind it those that are supposed. NULL, and a problem was answered. In either
 * case what_if_done is to be called. */
struct tree *what_if_read(struct request *request, struct what_if *ret);
struct what_if_ad *what_if_find(struct what_if *what_if, const char *id); /* NULL: there is none */
void what_if_done(struct what_if *what_if);

/* ---- api_gang.c: an ad that asks for several at once. All is lent; offers and ids may come back in another order. ---- */
struct gang_question {
    struct tree *ad;
    const char *name; /* by which the explanation calls it */
    bool why;
    struct env env;
    struct arena *scratch;
    struct tree **offers;
    char **ids;
    uint32_t count;
    uint64_t taken; /* of the offers */
    bool is_held;   /* the pool has the ad: what holds it back besides is told as well */
    size_t ported;  /* of the offers, that have ports; they are the last when gangs are not asked */
};
/* Are there ports that matter to it, so that pairs do not tell? */
bool gang_is_asked(const struct request *request, struct gang_question *question);
void gang_answer(struct request *request, struct gang_question *question);

#ifdef __cplusplus
}
#endif
#endif
