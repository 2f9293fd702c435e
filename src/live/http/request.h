/* request.h: a request that was admitted, as its handler has it: what was asked, by whom, and how it is answered.
 *
 *     request.c        the parts of the address and the body        answer.c   ads and problems as answers; conditions
 *     waiting.c        those that are answered when something has changed
 *
 * A handler answers once, now or later. One that answers later keeps its work in `work`, and forgets the request in `forget`. */
#ifndef BERTH_LIVE_HTTP_REQUEST_H
#define BERTH_LIVE_HTTP_REQUEST_H

#include "live/auth/token.h"
#include "live/http/front.h"
#include "live/http/represent.h"
#include "live/http/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

struct request {
    struct front *front;
    const struct front_part *part; /* of the front, that has the route; the first where there is none */
    struct exchange *exchange;
    const struct route *route;
    struct route_match match;
    struct caller caller;
    uint64_t number;
    int64_t began;
    unsigned status;
    enum form form;          /* of the answer */
    enum grdl_form resource; /* it is given as a resource; GRDL_FORM_UNKNOWN: as an ad */
    bool counted;            /* among those under way */
    uint64_t body;           /* bytes of it that are counted */
    uint64_t handle;         /* of the agent that it speaks for; 0: not asked for yet */
    struct tree *answer;     /* that waits for rows to be durable; held */
    unsigned answer_status;
    char answer_etag[24];                    /* "": by its text */
    int64_t deadline;                        /* until when it waits for a change; 0: not set yet */
    bool waits;                              /* for one */
    struct request *next;                    /* that waits */
    void *work;                              /* of a handler that answers later ... */
    void (*forget)(struct request *request); /* ... and how it ends when the request does */
};

/* ---- front.c ---- */

const char *request_identity(const struct request *request); /* "": nobody's */

/* ---- request.c ---- */

const char *request_variable(const struct request *request, int place);
const char *request_query(const struct request *request, const char *name); /* NULL: it is not there */
bool request_flag(const struct request *request, const char *name);         /* ?name, ?name=true, ?name=1 */
/* A whole number from `low` to `high`, `fallback` when it is not there; false, and a problem was answered, when it is none. */
bool request_number(struct request *request, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                    uint64_t *ret);
/* Are the names in `select` good? False when not, and that was answered. */
bool select_checked(struct request *request);
/* The expression of a parameter, NULL when there is none; the caller unrefs it. False when it does not parse, and that was answered. */
bool request_expr(struct request *request, const char *name, struct tree **ret);

/* The ad in the body; NULL, and a problem was answered. */
struct tree *request_body_ad(struct request *request);
/* The same, of an ad that may have only those attributes (names with blanks between). */
struct tree *request_body_of(struct request *request, const char *names);
/* A text of such an ad; `fallback` when it is not there. False, and a problem was answered, when it is none. */
bool body_text(struct request *request, const struct tree *ad, const char *name, const char *fallback, char *out,
               size_t room);
bool body_key(struct request *request, const struct tree *ad, const char *name, struct public_key *ret);

/* ---- answer.c ---- */

void request_answer(struct request *request, unsigned status, const char *type, const char *body, size_t len,
                    const struct http_field *fields, size_t field_count);
/* What caches are told; how many fields. Every answer has them; a stream, which is answered elsewhere, asks for them. */
#define CACHE_FIELDS 2
size_t request_cache_fields(const struct request *request, bool tagged, struct http_field out[CACHE_FIELDS]);
/* A problem's words may come from strangers: they are escaped. */
void request_problem(struct request *request, unsigned status, const char *format, ...) ERR_FORMAT(3, 4);
/* The same, with one field in the head of the answer; NULL: none. */
void request_problem_with(struct request *request, unsigned status, const char *detail, const char *field,
                          const char *value);
/* An ad that the daemon keeps (NULL: none, which is told as an empty one), and its entity tag. */
#define KEPT_ETAG_MAX 32
void kept_etag(const struct tree *ad, char out[KEPT_ETAG_MAX]);
void request_kept(struct request *request, struct tree *ad);
void request_ad(struct request *request, unsigned status, const struct tree *ad, const struct http_field *fields,
                size_t field_count);
void request_ad_take(struct request *request, unsigned status, struct tree *ad); /* unrefs it */
void request_words(struct request *request, unsigned status, const char *words); /* plain text */
void request_done(struct request *request);                                      /* 204 */
/* Answers with a list; where there is more, says where to go on. */
void request_list(struct request *request, const struct buf *out, bool more, uint64_t cursor);

/* Does a field If-Match or If-None-Match name that entity tag? NULL: there is nothing to name, so only "*" could. */
bool etag_is_named(const char *field, const char *etag);
/* The conditions of the request against what is there (NULL: nothing). False when they are not met, and that was answered. */
bool conditions_met(struct request *request, const char *etag);
/* Is what the caller has still what there is? Then it was answered with 304. */
bool answered_unchanged(struct request *request, const char *etag);

/* ---- waiting.c ---- */

#define REQUEST_WAIT_MAX 25 /* seconds that a request waits for something to happen, at most */
/* Has it still time to wait for a change (its parameter `wait`)? Then its handler is called again (front_wake). */
bool request_waits(struct request *request);

#ifdef __cplusplus
}
#endif
#endif
