/* gang_why.h: why does a request get no gang, or which gang does it get?
 *
 *     ports      each port of the request alone, as match/pair/why.h explains a plain request: clauses about other ports count as true
 *     together   the smallest set of ports that cannot be filled together
 *     died       the deepest place that a search from left to right comes to: what is docked there, the port for which nobody is
 *                left, and what excludes the candidates
 *
 * Work: one explanation for each port, a search for each set of ports that is tried, and one pass over the offers at the place where the search
 * dies. All is bounded, and the explanation says where it stopped. */
#ifndef BERTH_MATCH_GANG_GANG_WHY_H
#define BERTH_MATCH_GANG_GANG_WHY_H

#include "match/gang/gang.h"
#include "match/pair/why.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GANG_WHY_SEARCHES_MAX 4096 /* sets of ports that are tried */
#define GANG_WHY_NODES_MAX 20000   /* candidates that are tried to find out where the search dies */
#define GANG_WHY_REFUSALS_MAX 8    /* refusals that are told */

/* One port of the request, alone. */
struct gang_why_port {
    uint32_t port;
    struct why why;            /* the offers in it are ports of offers */
    size_t doubtful;           /* ports not in `why`: what they show is known only when others of theirs are filled */
    const struct expr **later; /* clauses that are tested only when somebody docks: they ask about other ports */
    uint32_t later_count;
    struct tree *window; /* the port as a plain ad */
};

/* Somebody who is docked, or a port that stays empty. */
struct gang_why_seat {
    uint32_t member; /* the member's number; 0: the port stays empty */
    uint32_t parent; /* the number of the member that it docks at; 0: the request */
    const char *label;
    bool set; /* there may be several at this port */
    size_t offer;
};

struct gang_why_refusal {
    struct why_refusal of; /* `offer` and `e` as the offer is written; `count` are ports of offers */
    const char *label;     /* what the offer calls the party whose attributes it reads */
};

/* A clause of somebody else in the gang, or of a set as a whole, that is not true. */
struct gang_why_denial {
    size_t count; /* how many candidates it is said of */
    const struct tree *ad;
    const struct expr *e; /* the first clause */
    size_t offer;         /* the offer whose clause it is; SIZE_MAX: the request's */
};

struct gang_why_died {
    bool known;
    struct gang_why_seat *seats; /* in the order in which they were filled */
    uint32_t seat_count;
    uint32_t member; /* whose port it is: 0 the request's, else that of the seat with this number */
    const struct tree *ad;
    const char *label;
    size_t free, taken; /* ports of offers that fit its clauses: those that are left, and those in the gang already */
    const struct expr
        *clause;       /* free is 0: the first clause that, with all before it, is true of nobody left; or NULL */
    const char *means; /* that clause, with what is docked folded in; or NULL */
    size_t refusing;   /* how many of those that are free refuse */
    struct gang_why_refusal *refusals;
    uint32_t refusal_count;
    struct gang_why_denial denied; /* what denies some of those that are free */
    struct gang_why_denial empty;  /* what keeps the port from staying as it is */
};

struct gang_why {
    enum gang_outcome outcome;
    bool never;           /* nobody can fill a port that must be filled, whatever the pool holds */
    struct ports ports;   /* of the request */
    size_t offers, faces; /* all offers, and their ports by which they could dock */
    size_t broken;        /* offers whose ports are not in order: nobody can dock there */
    uint64_t nodes;       /* the budget */
    struct gang_why_port *items;
    uint64_t together; /* ports, as bits; 0: not found out */
    bool smallest;     /* all smaller sets can be filled */
    bool minimal;      /* without any one of them the rest can be filled */
    struct gang_why_died died;
    struct gang_why_seat *gang; /* when one is formed */
    uint32_t gang_count;
    struct arena arena;
    struct tree **held; /* the trees that all this points into */
    size_t held_count, held_room;
};

/* Does the ad have Ports? */
bool gang_why_ported(const struct tree *ad);

/* Is a request best explained as match/pair/why.h does it, by the offers without Ports alone? It is when it has no Ports itself, could dock at none
 * of an offer's, and not all offers have Ports. `*ret_ported`: how many have. `scratch` is left as it was. */
bool gang_why_plain(const struct env *env, struct arena *scratch, const struct policy *policy,
                    const struct tree *request, struct tree *const *offers, size_t count, size_t *ret_ported);

/* The ad, or one of its ports as a plain ad, with that answer in the place of its policy. The caller unrefs it. */
typedef struct tree *gang_why_mask_fn(const struct tree *ad, bool accepts);

struct gang_why_terms {
    uint64_t nodes; /* the budget of a search; 0 is the default */
    uint64_t
        steps; /* all evaluations together take not many more, and what is not found by then is not told; 0: as many as they need */
    const bool *hidden;     /* of each offer: its policy is not told, only what it answers; NULL: all is told */
    gang_why_mask_fn *mask; /* where something is hidden */
    bool brief;             /* whether there is a gang is all that is asked */
};

/* Explains `request`, alone, with all `offers` free. The ads are borrowed: they must outlive the explanation. `scratch` is left as it was. -1 and
 * the reason when the request's ports are not in order. */
int gang_why_explain(struct gang_why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                     struct tree *request, struct tree *const *offers, size_t count, const struct gang_why_terms *terms,
                     struct err *err);
void gang_why_done(struct gang_why *why);

/* The explanation in words, or as one JSON object in the form of docs/why.md. Appends to `out`; names->place is not asked. */
void gang_why_print(struct buf *out, const struct gang_why *why, const struct why_names *names);
void gang_why_print_ports(struct buf *out, const struct gang_why *why,
                          const struct why_names *names); /* all but its first line */
void gang_why_print_json(struct buf *out, const struct gang_why *why, const struct why_names *names);

#ifdef __cplusplus
}
#endif
#endif
