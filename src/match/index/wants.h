/* wants.h: what an ad asks of its counterpart, in the form that an index understands (sections 4.2.1 and 4.5.2).
 *
 * A constraint, specialised, is a conjunction of
 *
 *     leaves      other.Memory >= 64     member(other.Arch, { "a", "b" })     other.X is undefined
 *     choices     leaves and conjunctions of them, joined by ||
 *     the rest    anything else: it must be evaluated, and the ad is *deviant*
 *
 * Negations are carried down to the leaves. */
#ifndef BERTH_MATCH_INDEX_WANTS_H
#define BERTH_MATCH_INDEX_WANTS_H

#include "lang/ad/eval.h"
#include "match/index/key.h"

#ifdef __cplusplus
extern "C" {
#endif

enum want_kind {
    WANT_COMPARE, /* name op key */
    WANT_IS,      /* name is key: true only where == holds, but not always, and never an error */
    WANT_AMONG,   /* member(name, { keys }) */
    WANT_HAS,     /* member(key, name): the name is a list */
    WANT_LISTED,  /* stringListMember(key, name): the name is a string that lists */
    WANT_ABSENT,  /* name is undefined */
    WANT_PRESENT, /* name isnt undefined */
};

struct want {
    unsigned char kind; /* enum want_kind */
    unsigned char op;   /* COMPARE: OP_EQUAL to OP_GREATER_EQUAL, but for `is` and `isnt` */
    bool not_number;    /* COMPARE: it came from a negation, so NaN satisfies it whatever the key */
    struct attribute attribute;
    uint32_t keys; /* the place of its first key; COMPARE has one key */
    uint32_t key_count;
};

enum wants_node_kind { WANTS_LEAF, WANTS_AND, WANTS_OR, WANTS_DEVIANT };

/* Nodes are numbered from 1; 0 is none. */
struct wants_node {
    unsigned char kind;    /* enum wants_node_kind */
    uint32_t want;         /* LEAF: its place */
    uint32_t child, after; /* the first part; the next part of the same whole */
    const struct expr *e;  /* of a part of the conjunction: the clause; NULL if it has none of its own */
};

struct wants {
    const struct tree *ad;
    struct tree *left; /* what is left of the constraint, held; NULL when the ad's own text served */
    struct want *items;
    struct index_key *keys;
    struct wants_node *nodes; /* [0] is not used */
    uint32_t count, room, key_count, key_room, node_count, node_room;
    uint32_t top;  /* the first node of the conjunction */
    bool shadowed; /* `other` or TARGET is an attribute of the ad itself */
    bool counts;   /* truth values are numbers in the ad's dialect */
    bool ordered;  /* || goes from left to right in the ad's dialect */
    bool never;    /* the ad takes nobody */
    bool deviant;  /* something must be evaluated */
    bool timed;    /* what the ad asks for may change with the time */
};

void wants_init(struct wants *wants);
void wants_done(struct wants *wants);

/* Reads what the ad asks for; what was read before is forgotten, and its memory used again. The ad is borrowed. The time is that of the
 * environment. */
void wants_read(struct wants *wants, const struct env *env, struct arena *scratch, const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
