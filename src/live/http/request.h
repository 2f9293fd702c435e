/* request.h: an admitted request, as its handler sees it: what was asked, by whom, and how it is answered.
 *
 *     request.c        the parts of the address and the body        answer.c   ads and problems as answers; conditions
 *     waiting.c        requests that are answered when something has changed
 *     queues.c         requests that take turns                      lookups.c  requests whose callers are being looked up
 *
 * A handler answers once, now or later. A handler that answers later keeps its work in `work`; `forget` must drop its reference to the request. */
#ifndef BERTH_LIVE_HTTP_REQUEST_H
#define BERTH_LIVE_HTTP_REQUEST_H

#include "live/auth/token.h"
#include "live/config/address.h"
#include "live/http/front.h"
#include "live/http/represent.h"
#include "live/http/resource.h"
#include "pool/protocol/job_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STORE_AWAY_WORDS "the database of the store does not answer: try again soon"
#define STORE_AWAY_AGAIN "2" /* seconds */

struct request {
    struct front *front;
    const struct front_part *part; /* the front's part that has the route; the first part when there is no route */
    struct exchange *exchange;
    const struct route *route;
    struct route_match match;
    struct caller caller;
    uint64_t number;
    int64_t began;
    unsigned status;
    enum form form;          /* of the answer */
    enum grdl_form resource; /* the answer is given as a resource; GRDL_FORM_UNKNOWN: as an ad */
    bool counted;            /* it is counted among the requests under way */
    bool misread;            /* a row that was to be in the answer could not be read */
    uint64_t body;           /* bytes of the body that are counted */
    uint64_t handle;         /* of the agent that the request speaks for; 0: not looked up yet */
    struct tree *answer;     /* an answer that waits for rows to be durable; held */
    unsigned answer_status;
    char answer_etag[24];                    /* "": the tag is made from the text */
    int64_t deadline;                        /* until when the request waits for a change; 0: not set yet */
    bool waits;                              /* it waits for a change ... */
    uint64_t watches;                        /* ... of that job, above all; 0: of anything */
    bool marked;                             /* there was one */
    struct request *next;                    /* the next request that waits */
    struct lookups_place lookup;             /* its caller is being looked up */
    struct queue_place queued;               /* it waits for its turn ... */
    void (*again)(struct request *request);  /* ... to go on there; NULL: with its handler */
    void *work;                              /* the handler's own, if it answers later ... */
    void (*forget)(struct request *request); /* ... called when the request is over */
};

/* ---- front.c ---- */

const char *request_identity(const struct request *request); /* "": nobody */
void front_serve(struct request *request);                   /* calls its handler, if that may still be called */
/* Calls a step of it, and notes whether a row could not be read there. */
void front_step(struct request *request, void (*step)(struct request *request));

/* ---- queues.c ---- */

/* It can be handled: at once, or, where requests take turns, when it is its account's. */
void request_ready(struct request *request);
/* Is the turn over? Then a handler that has more to do calls request_again, and returns. */
bool request_turn_is_over(const struct request *request);
/* `step` is called in the next turn of its account; at once where requests take no turns. */
void request_again(struct request *request, void (*step)(struct request *request));
/* How much its account has used of all turns, and more that it has used elsewhere, as a thread: microseconds. */
int64_t request_used(const struct request *request);
void request_charge(struct request *request, int64_t cost);

/* ---- request.c ---- */

const char *request_variable(const struct request *request, int place);
const char *request_query(const struct request *request, const char *name); /* NULL: not given */
bool request_flag(const struct request *request, const char *name);         /* ?name, ?name=true, ?name=1 */
/* A whole number from `low` to `high`; `fallback` when it is not given; false, after a problem was answered, when it is not a number. */
bool request_number(struct request *request, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                    uint64_t *ret);
/* Where the request comes from: the address without the port, which is another each time; "unix" by a Unix socket. */
const char *request_from(const struct request *request, char out[ADDRESS_TEXT_MAX]);
/* By which word it is followed through logs, if its field `traceparent` is one; else none, and false. */
#define TRACE_FIELD "traceparent"
bool request_trace(const struct request *request, struct job_trace *ret);
/* By what its caller was proved: "token ID", the id of the first link; "uid 1000"; "": by nothing. */
#define REQUEST_VIA_MAX (TOKEN_ID_DIGITS + 16)
const char *request_via(const struct request *request, char out[REQUEST_VIA_MAX]);
/* Are the names in `select` good? False, after a problem was answered, when not. */
bool select_checked(struct request *request);
/* The expression of a parameter, NULL when there is none; the caller unrefs it. False, after a problem was answered, when it does not parse. */
bool request_expr(struct request *request, const char *name, struct tree **ret);

/* The ad in the body; NULL after a problem was answered. */
struct tree *request_body_ad(struct request *request);
/* The same, for an ad that may have only these attributes (names with blanks between). */
struct tree *request_body_of(struct request *request, const char *names);
/* A text attribute of such an ad; `fallback` when it is not there. False, after a problem was answered, when it is not
 * a text. */
bool body_text(struct request *request, const struct tree *ad, const char *name, const char *fallback, char *out,
               size_t room);
bool body_key(struct request *request, const struct tree *ad, const char *name, struct public_key *ret);

/* ---- answer.c ---- */

void request_answer(struct request *request, unsigned status, const char *type, const char *body, size_t len,
                    const struct http_field *fields, size_t field_count);
/* Header fields for caches; returns how many. Every answer has them; a stream, which is answered elsewhere, asks for them. */
#define CACHE_FIELDS 2
size_t request_cache_fields(const struct request *request, bool tagged, struct http_field out[CACHE_FIELDS]);
/* Answers with a problem. Its words may come from strangers: they are escaped. */
void request_problem(struct request *request, unsigned status, const char *format, ...) ERR_FORMAT(3, 4);
/* The same, with one field in the head of the answer; NULL: none. */
void request_problem_with(struct request *request, unsigned status, const char *detail, const char *field,
                          const char *value);
/* The same with up to four. */
void request_problem_fields(struct request *request, unsigned status, const char *detail,
                            const struct http_field *fields, size_t field_count);
/* kept_etag: the entity tag of an ad that the daemon keeps (NULL: none). request_kept answers with it; none is answered
 * as an empty ad. */
#define KEPT_ETAG_MAX 32
void kept_etag(const struct tree *ad, char out[KEPT_ETAG_MAX]);
void request_kept(struct request *request, struct tree *ad);
void request_ad(struct request *request, unsigned status, const struct tree *ad, const struct http_field *fields,
                size_t field_count);
void request_ad_take(struct request *request, unsigned status, struct tree *ad); /* unrefs the ad */
void request_words(struct request *request, unsigned status, const char *words); /* plain text */
void request_done(struct request *request);                                      /* 204 */
/* Answers with a list; if there is more, says where to go on. */
void request_list(struct request *request, const struct buf *out, bool more, uint64_t cursor);
/* The same with one more field; NULL: without. */
void request_list_with(struct request *request, const struct buf *out, bool more, uint64_t cursor,
                       const struct http_field *field);

/* Does a field If-Match or If-None-Match name that entity tag, weak or not? With NULL there is nothing to name. */
bool etag_is_named(const char *field, const char *etag);
/* Checks the request's conditions against what is there (NULL: nothing). False, after a problem was answered, when they are not met. */
bool conditions_met(struct request *request, const char *etag);
/* Is what the caller has unchanged? Then 304 was answered. */
bool answered_unchanged(struct request *request, const char *etag);

/* ---- waiting.c ---- */

#define REQUEST_WAIT_MAX 25 /* a request waits at most so many seconds for something to happen */
/* Does the request still have time to wait for a change (its parameter `wait`)? Then its handler is called again
 * (front_wake). */
bool request_waits(struct request *request);
bool request_watches(struct request *request,
                     uint64_t job); /* the same, for a change of that job above all (front_mark) */
/* Has the caller that tag already (If-None-Match), and does it wait for another? Then its handler is called again when `mark` is marked, or its time is up. */
bool resource_waits(struct request *request, const char *etag, uint64_t mark);

#ifdef __cplusplus
}
#endif
#endif
