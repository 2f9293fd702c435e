/* stock.h: the ads that a gang may take, in an index by their ports (sections 5.4.2, 5.8); not installed.
 *
 *     offer -> its ports -> a *face* each: the port as a plain ad (window.h), a row of the index
 *
 * Faces have numbers of their own. A port that is a set has no face: nobody docks by it. */
#ifndef BERTH_MATCH_GANG_STOCK_H
#define BERTH_MATCH_GANG_STOCK_H

#include "match/gang/window.h"
#include "match/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

struct face {
    uint32_t offer; /* its place among the offers */
    uint32_t port;
};

struct kinds; /* kinds.h */

struct stocked_offer {
    struct ported ported;
    size_t place;        /* among all ads */
    uint32_t first_face; /* its faces by port: first_face + port, through `number` */
    uint32_t taken;      /* how often it is in the gang that grows */
    uint64_t seen;       /* when it was last met, while candidates are counted */
    uint32_t given_to;   /* the slot that has it then, or NOBODY */
    bool gone;
    struct tree *left; /* what is left of it, while a gang is taken out */
};

struct stock {
    struct members *members; /* for making windows */
    struct stocked_offer *items;
    uint32_t count;
    struct face *faces; /* by number */
    uint32_t *number;   /* of a face, by first_face + port */
    uint32_t face_count;
    uint64_t stamp;        /* the time of `seen` */
    struct index *index;   /* NULL: there is none, every face is tried */
    struct kinds *kinds;   /* somebody else keeps the offers, in kinds, and faces have other numbers; or NULL */
    struct name_set asked; /* the names that faces ask of whoever comes */
    bool shared;
    bool residual;  /* some offer says Residual */
    bool ranked;    /* some offer says Rank, or Preempts */
    bool entangled; /* ports may depend on each other though neither mentions the other: by eval, or Ports[0].Key */
};

/* How the offers are kept. */
enum stock_way {
    STOCK_PLAIN,   /* a list */
    STOCK_INDEXED, /* an index */
    STOCK_SHARED,  /* an index in which equal offers share a row */
};

/* Puts in the offers. `ads` are all ads, `places` those that are offers; `read` the names that anybody reads of another. The offers are tried in
 * their order, until stock_reorder puts the faces into another. */
void stock_init(struct stock *offers, struct members *members, struct tree *const *ads, const size_t *places,
                uint32_t count, enum stock_way way, const struct name_set *read);
void stock_done(struct stock *offers);

/* Puts the faces into another order: that of their weights, the smallest first; equal ones stay in theirs. */
void stock_reorder(struct stock *offers, const uint32_t *weights, const struct name_set *read);

/* Takes an offer out, or lets it go on as another ad. */
void stock_consume(struct stock *offers, uint32_t offer, struct tree *left);

/* Finds the faces that may dock at a window, heads of their kinds, from that row on; like index_seek. */
uint32_t stock_seek(const struct stock *offers, const struct tree *window, uint32_t from, index_seek_fn *found,
                    void *user);

/* The next face of those that are the same; INDEX_END when it is the last. */
uint32_t stock_next(const struct stock *offers, uint32_t face);

struct face stock_face(const struct stock *offers, uint32_t face);
const struct ported *stock_ported(const struct stock *offers, uint32_t offer);

/* An offer's place in the order: the smaller the sooner; of equal ones the smaller number. */
uint64_t stock_order(const struct stock *offers, uint32_t offer);

/* Does the first of two offers, or of the places of two, come before the other? */
bool stock_before(const struct stock *offers, uint32_t a, uint32_t b);
bool stock_place_before(const struct stock *offers, size_t a, size_t b);

/* Puts faces into the order of their offers, then of their ports. */
void stock_sort(const struct stock *offers, uint32_t *faces, uint32_t count);

/* Tells the index that windows like this will come. */
void stock_learn(const struct stock *offers, const struct tree *window);

#ifdef __cplusplus
}
#endif
#endif
