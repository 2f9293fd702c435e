/* advert.h: one ad kept at the matchmaker: put in, replaced, renewed, withdrawn; by providers and customers alike. *
 * The ad's owner says what the matchmaker should have; this file sends it, one message at a time, and repeats it until
 * it is answered. The version rises with every change of the text and of the matches taken into account. A renewal
 * without body is sent only while neither has moved. */
#ifndef BERTH_POOL_PROTOCOL_ADVERT_H
#define BERTH_POOL_PROTOCOL_ADVERT_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ADVERT_TAGS 8 /* the tags of an ad's messages are multiples of this; smaller tags are free for others */

/* A request that waits for room begins by then, as the matchmaker said at `told`, on that machine (empty: it did not say). */
struct advert_plan {
    int64_t start, told;
    struct text on;
};

struct advert {
    uint64_t id;
    bool request;
    int64_t lifetime;         /* as the text says; 0: it does not say */
    struct tree *text;        /* held: the ad that the matchmaker should have; NULL: none */
    uint64_t version;         /* of text, key and seen */
    struct seen seen;         /* which matches the text takes into account */
    uint64_t teller;          /* the incarnation of the matchmaker that answered last, ... */
    int64_t heard;            /* ... and its clock, as it told us last */
    struct key key;           /* an offer's: makes its tickets */
    bool moved;               /* the matchmaker has not confirmed this version */
    bool there;               /* the matchmaker may have the ad */
    bool taken;               /* it has said that it has */
    enum reason refused;      /* why the matchmaker refused the ad last; OK: it did not */
    uint32_t flight;          /* the tag of the message under way; 0: none */
    uint32_t flights;         /* messages sent so far */
    uint64_t carried;         /* the version that is under way */
    int64_t due, pause;       /* when to send next, and the present pause between repeats */
    struct advert_plan *plan; /* what the matchmaker has planned for a request; NULL: nothing */
};

/* All versions of this life lie above `first`. */
void advert_init(struct advert *advert, uint64_t id, bool request, uint64_t first);
void advert_done(struct advert *advert);

/* The matchmaker should have this text; NULL: none. Holds it. Nothing happens when it says the same as the last one. */
void advert_want(struct advert *advert, int64_t now, struct tree *text);

/* Is that the life of the matchmaker that answered us last? Matches of other lives are not taken: those may be long
 * over, and a new life answers soon. */
bool advert_knows(const struct advert *advert, uint64_t incarnation);

/* A match of that life has been taken into account: true if that is new. The next text names the match. */
bool advert_saw(struct advert *advert, int64_t now, uint64_t incarnation, uint64_t number);

void advert_set_key(struct advert *advert, int64_t now, const struct key *key);

/* The matchmaker may have forgotten the ad: it is renewed now. */
void advert_again(struct advert *advert, int64_t now);

/* Sends the message that is due, behind the persist `after`; returns when to look again. `token` comes back with the
 * answer. */
int64_t advert_run(struct advert *advert, const struct role_env *env, agent matchmaker, uint64_t token, uint64_t after,
                   struct effects *effects);

/* The answer to a message of this ad. */
void advert_answer(struct advert *advert, const struct role_env *env, const struct spans *spans,
                   const struct event *event, struct effects *effects);

/* The Lifetime that the text names, a literal: seconds or a relative time; 0: it names none. */
int64_t advert_lifetime(const struct tree *text);

/* The pause after another failure: doubled up to the deadline of requests, and somewhat random. */
int64_t pause_next(int64_t *pause, const struct role_env *env, const struct spans *spans);

#ifdef __cplusplus
}
#endif
#endif
