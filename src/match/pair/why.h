/* why.h: why does a request match nothing, or why this offer and not another?
 *
 * The request's constraint is taken apart into the clauses of its conjunction, as they are written, and each is tried with each
 * offer; so is each clause of each offer's own constraint with the request. From what failed where follow
 *
 *     counts      how many offers satisfy a clause alone, and together with all before it
 *     conflicts   clauses that exclude each other whatever the pool holds (sections 4.2.2 and 4.4.4)
 *     sets        every minimal set of clauses that no offer satisfies together
 *     refusals    the offers' clauses that refuse the request
 *     edits       the smallest changes of the request that open matches, each checked by evaluation
 *     hints       names that no offer has, types that never fit, attributes that are missing
 *     choice      where it matches: the offer that is taken, and what decided
 *
 * An offer is explained to its owner by the same function with the roles exchanged, and why_offer says which of the four cases of
 * section 2.6.1 it is.
 *
 * Work: one pass over the offers, 64 clauses a machine word; all else is done on the distinct patterns of failure. Everything that
 * could be many is bounded, and the explanation says where it stopped. */
#ifndef BERTH_MATCH_PAIR_WHY_H
#define BERTH_MATCH_PAIR_WHY_H

#include "match/pair/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WHY_CLAUSES_MAX 63         /* clauses of the request that are told apart; the last stands for the rest */
#define WHY_SETS_MAX 64            /* sets that are told */
#define WHY_REFUSALS_MAX 32        /* refusals that are told */
#define WHY_HINTS_MAX 64           /* hints that are told */
#define WHY_EDITS_MAX 12           /* edits that are told */
#define WHY_EDIT_PARTS_MAX 4       /* changes in one edit */
#define WHY_STEPS_MAX 50000000     /* steps of evaluation; when they are spent, no further offer is looked at */
#define WHY_EDIT_STEPS_MAX 2000000 /* steps of evaluation while edits are tried; after that no further edit is told */
#define WHY_READS_MAX 4            /* attributes of the request that a refusal shows */
#define WHY_EDIT_WORK_MAX 250000   /* meetings of a changed request with an offer, for all edits together */

/* What came of the meeting with one offer. */
#define WHY_MET_FITS 1    /* the request takes the offer */
#define WHY_MET_ACCEPTS 2 /* the offer takes the request */

enum why_verdict {
    WHY_MATCHES,
    WHY_NOT_NOW, /* nothing in this pool, or at this time */
    WHY_NEVER,   /* whatever the pool holds */
};

struct why_clause {
    symbol attribute;     /* whose text the clause stands in: the constraint, or an attribute that it refers to ... */
    uint32_t place;       /* ... and which of the clauses there it is, from 0 */
    uint32_t more;        /* further clauses that are counted with this one: the last of too many */
    const struct expr *e; /* as it is written, of the request */
    struct tree *left;    /* what is left of the clause when the request's own attributes are folded in */
    bool never;           /* the clause is true for no offer, whatever the pool holds */
    bool timed;           /* the clause is false because of the time, whatever the offer */
    size_t alone, together;
    size_t undefined, error; /* offers for which the clause is undefined, or an error */
};

/* Two clauses that are never both true; or, when both are the same, one that is never true. */
struct why_conflict {
    uint32_t a, b;
    bool types; /* the clauses want an attribute to be of two types */
};

struct why_set {
    uint64_t clauses; /* by their place */
    bool offers;      /* the offers' own constraints are one more of the set */
    size_t opens;     /* offers that only this set excludes */
};

/* A clause of offers' constraints that is not true for the request. */
struct why_refusal {
    const struct tree *offer; /* the first that says it */
    const struct expr *e;     /* the clause there */
    size_t first;             /* that offer's place among the offers */
    size_t count, fitting;    /* offers that refuse by it, and those among them that fit the request's constraint */
    struct why_read {
        symbol name;
        const char *value; /* as text; NULL: the request does not have it */
    } reads[WHY_READS_MAX];
    uint32_t read_count; /* attributes of the request that the clause reads; 0: the offer's own state refuses */
};

enum why_hint_kind {
    WHY_NO_SUCH_NAME, /* no offer has the name */
    WHY_MISSING,      /* some offers do not have the name */
    WHY_WRONG_TYPE,   /* where offers have the name, its value cannot be compared */
};

struct why_hint {
    enum why_hint_kind kind;
    uint32_t clause;
    symbol name;
    size_t count;        /* offers that the hint is about */
    symbol nearest;      /* a name that offers have; or SYMBOL_NONE ... */
    size_t nearest_have; /* ... and how many offers have it */
    enum value_type wanted, found;
};

enum why_change_kind { WHY_CHANGE_CLAUSE, WHY_DROP_CLAUSE, WHY_CHANGE_ATTRIBUTE };

struct why_edit {
    uint32_t part_count;
    struct why_change {
        enum why_change_kind kind;
        uint32_t clause;       /* that is changed, or dropped */
        symbol attribute;      /* that is changed */
        const char *from, *to; /* as text; an attribute that is new has no `from`, what is dropped no `to` */
    } parts[WHY_EDIT_PARTS_MAX];
    size_t opens; /* offers that match then */
};

/* The offer that is taken, and the component of the docking vector in which it is better than the next. */
struct why_choice {
    size_t offer, second;
    bool has_second;
    int32_t component; /* below 0: both are equal in all, and the first one is taken */
    const char *text;  /* the component */
    const char *value, *second_value;
};

struct why {
    enum why_verdict verdict;
    size_t offers, fitting, accepting, matching; /* all; that the request takes; that take the request; both */
    size_t unseen; /* further offers that were not looked at, because it would have taken too long */
    struct why_clause *clauses;
    struct why_conflict *conflicts;
    struct why_set *sets;
    struct why_refusal *refusals;
    struct why_hint *hints;
    struct why_edit *edits;
    uint32_t clause_count, conflict_count, set_count, refusal_count, hint_count, edit_count;
    bool all_sets, all_refusals, all_edits; /* nothing was left out because it would have been too much */
    bool discarded;                         /* offers match, but the policy's docking vector discards all of them */
    unsigned char *met;                     /* of each offer: WHY_MET_FITS, WHY_MET_ACCEPTS */
    struct why_choice choice;               /* where something matches and is not discarded */
    struct arena arena;                     /* holds all of it */
};

/* Explains `request` to its owner. The explanation borrows the ads, which must outlive it. `scratch` is left as it was. */
void why_explain(struct why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                 struct tree *request, struct tree *const *offers, size_t count);
void why_done(struct why *why);

/* The same in slices, for callers with other things to do: why_go_on does about so many steps of evaluation, and returns true while there is more
 * to do. The policy, the ads and the scratch arena are lent until the end, and nobody else uses the arena meanwhile. An explanation that is ended
 * early has not seen all offers. */
struct explaining;
struct explaining *why_begin(struct why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                             struct tree *request, struct tree *const *offers, size_t count);
bool why_go_on(struct explaining *run, uint64_t steps);
void why_end(struct explaining *run); /* takes NULL */

/* Why nobody takes an offer: the four cases of section 2.6.1. `why` is the explanation of the offer, with the requests as the other side. */
enum why_offer_case {
    WHY_OFFER_TAKEN,    /* a request matches it */
    WHY_OFFER_NOBODY,   /* there are no requests */
    WHY_OFFER_UNWANTED, /* no request that it would serve wants it */
    WHY_OFFER_REFUSES,  /* it refuses every request there is, though it would serve others */
    WHY_OFFER_CLOSED,   /* it refuses everybody */
};
enum why_offer_case why_offer(const struct why *why);

/* Where a clause stands in the text that the request was read from; 0 for the line when it is not known. */
typedef void why_place_fn(void *user, const struct why_clause *clause, unsigned *ret_line, unsigned *ret_column);
/* What the n-th offer is called. */
typedef void why_name_fn(void *user, size_t offer, struct buf *out);

struct why_names {
    const char *request, *file; /* NULL: no file */
    why_place_fn *place;        /* or NULL */
    why_name_fn *offer;
    void *user;
    bool is_offer; /* what is explained is an offer, and the others are requests */
    size_t ported; /* offers that were left aside: they have Ports, and the request could dock at none of them */
};

/* The explanation in words, or as one JSON object in the form of docs/why.md. Appends to `out`. */
void why_print(struct buf *out, const struct why *why, const struct tree *request, const struct why_names *names);
void why_print_json(struct buf *out, const struct why *why, const struct tree *request, const struct why_names *names);

/* Prints only the reasons: clauses, conflicts, sets, refusals, hints, edits. In JSON they are fields, with a comma in front. */
void why_print_reasons(struct buf *out, const struct why *why, const struct tree *request,
                       const struct why_names *names);
void why_print_json_reasons(struct buf *out, const struct why *why, const struct tree *request,
                            const struct why_names *names);

#ifdef __cplusplus
}
#endif
#endif
