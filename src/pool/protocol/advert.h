/* advert.h: one ad kept at the matchmaker: put in, replaced, renewed, withdrawn; by providers and customers alike.
 *
 * The owner says what should be there; this sends it, one message at a time, and again until it is answered. The version rises with
 * every change of the text and of the matches taken into account; a renewal without body is sent only while neither has moved. */
#ifndef BERTH_POOL_PROTOCOL_ADVERT_H
#define BERTH_POOL_PROTOCOL_ADVERT_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ADVERT_TAGS 8 /* the tags of its messages are multiples of this; smaller ones are free for others */

struct advert {
    uint64_t id;
    bool request;
    int64_t lifetime;    /* that the text gives itself; 0: it does not say */
    struct tree *text;   /* held: what should be there; NULL: nothing */
    uint64_t version;    /* of text, key and seen */
    struct seen seen;    /* matches that the text takes into account */
    uint64_t teller;     /* an incarnation of the matchmaker, ... */
    int64_t heard;       /* ... and its clock, as it last told */
    struct key key;      /* of an offer's tickets */
    bool moved;          /* the matchmaker has not confirmed this version */
    bool there;          /* something may be there */
    enum reason refused; /* why the matchmaker last refused it; OK: it did not */
    uint32_t flight;     /* the tag of the message under way; 0: none */
    uint32_t flights;    /* that were made */
    uint64_t carried;    /* the version that is under way */
    int64_t due, pause;  /* when to send next, and the present pause between repeats */
};

/* `first` is the version that all of this life lie above. */
void advert_init(struct advert *advert, uint64_t id, bool request, uint64_t first);
void advert_done(struct advert *advert);

/* This text should be there; NULL: none. Holds it. Nothing happens when it says the same as before. */
void advert_want(struct advert *advert, int64_t now, struct tree *text);

/* Is that the life of the matchmaker that answered us last? Of others nothing is taken: they may be long over; a new one answers soon. */
bool advert_knows(const struct advert *advert, uint64_t incarnation);

/* A match of that life has been taken into account: true if it was not known. The next text names it. */
bool advert_saw(struct advert *advert, int64_t now, uint64_t incarnation, uint64_t number);

void advert_set_key(struct advert *advert, int64_t now, const struct key *key);

/* The matchmaker may have forgotten it: it is renewed now. */
void advert_again(struct advert *advert, int64_t now);

/* Sends what is due, behind the persist `after`; returns when to look again. `token` comes back with the answer. */
int64_t advert_run(struct advert *advert, const struct role_env *env, agent matchmaker, uint64_t token, uint64_t after,
                   struct effects *effects);

/* The answer to a message of this ad. */
void advert_answer(struct advert *advert, const struct role_env *env, const struct spans *spans,
                   const struct event *event, struct effects *effects);

/* The pause after another failure, doubled up to the deadline of requests, with some chance in it. */
int64_t pause_next(int64_t *pause, const struct role_env *env, const struct spans *spans);

#ifdef __cplusplus
}
#endif
#endif
