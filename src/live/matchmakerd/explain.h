/* explain.h: questions about an ad and the pool: why it matches nothing, with ads as they might be (what_if.c), and for
 * several at once (api_gang.c). */
#ifndef BERTH_LIVE_MATCHMAKERD_EXPLAIN_H
#define BERTH_LIVE_MATCHMAKERD_EXPLAIN_H

#include "live/http/request.h"
#include "live/matchmakerd/ids.h"
#include "match/pair/match.h"
#include "pool/protocol/wait_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- explained.c ---- */

/* Appends to an explanation, or into its JSON object: what holds back the ad of that id (NULL: the ad is not in the
 * pool), and how many of the others are taken. `waits`: why a request waits, which its words have told already; or NULL. */
struct waits;
void explanation_end(const struct request *request, const char *id, uint64_t taken, const struct waits *waits,
                     struct buf *out);

/* Adds the first reason why a gang waits to the JSON object of an explanation, and then `more` objects, each with a comma in front. Without a text
 * the first of those is the first reason, and has no comma. */
void explanation_add_reasons(struct buf *out, enum wait_reason first, const struct buf *text, const struct buf *more);

/* ---- what_if.c: ads as they might be, for one question ---- */

#define SUPPOSED_MAX 64

struct what_if {
    struct what_if_ad {
        struct tree *ad; /* held */
        char id[ID_LEN_MAX + 1];
        bool used; /* it has replaced an ad of the pool */
    } items[SUPPOSED_MAX];
    uint32_t count;
};

/* Reads the body: the ad that asks, which the caller unrefs, and after it the supposed ads. NULL after a problem was
 * answered. In either case what_if_done must be called. */
struct tree *what_if_read(struct request *request, struct what_if *ret);
struct what_if_ad *what_if_find(struct what_if *what_if, const char *id); /* NULL: none */
void what_if_done(struct what_if *what_if);

/* ---- api_gang.c: an ad that asks for several at once. All pointers are lent; offers and ids may be reordered. ---- */
struct gang_waits;
struct gang_question {
    struct tree *ad;
    const char *name; /* its name in the explanation */
    bool why;
    struct env env;
    struct arena *scratch;
    struct tree **offers;
    char **ids;
    uint32_t count;
    uint64_t taken;       /* how many of the offers are taken */
    size_t ported;        /* how many of the offers have ports; they come last when no gang is asked for */
    struct tree **wholes; /* all machines that are known, as if nothing of them were in use; or NULL */
    uint32_t whole_count;
    char **whole_ids;
    const struct gang_waits *waits; /* where `why`: what is known of each port */
    uint64_t who,
        id; /* the request's, where it is in the pool: what else holds it back is told as well; 0: it is not */
    const bool *hidden, *whole_hidden; /* of each of both: its policy is not for the caller */
};
/* ---- api_why.c: why a request waits, or what it matches. Takes the ads; `who` and `id`: the request's, 0: it is not in the pool. ---- */
struct request_question {
    struct tree *ad;
    const char *name; /* its name in the explanation */
    uint64_t who, id;
    struct what_if what_if;
};
void request_explain(struct request *request, const struct request_question *question);

/* Are there ports that matter to the ad, so that pairs do not suffice? Without ids, the offers stay in their order. */
bool gang_is_asked(const struct request *request, struct gang_question *question);
void gang_answer(struct request *request, struct gang_question *question);

#ifdef __cplusplus
}
#endif
#endif
