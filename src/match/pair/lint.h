/* lint.h: what is wrong with an ad that can be seen without a pool.
 *
 * Nothing here is an error of the language: every ad that parses has a meaning. Each finding is something that its author hardly meant: a
 * constraint that no counterpart satisfies, a function that does not exist, a name that means something else. Lint never guesses what a counterpart
 * might say, so most findings are certain; `misspelt` alone is a suspicion.
 *
 * Work is a walk over the ad, a comparison of the clauses of each conjunction, and of names that are not there with those that are. All of it is
 * counted, evaluations too, and past LINT_STEPS_MAX what is left of the ad is not looked at, which is a finding as well. */
#ifndef BERTH_MATCH_PAIR_LINT_H
#define BERTH_MATCH_PAIR_LINT_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LINT_KINDS(X)                                                                                     \
    X(CONTRADICTION, "contradiction")         /* two clauses of a conjunction exclude each other */       \
    X(TWO_TYPES, "two-types")                 /* two clauses want one attribute to be of two types */     \
    X(NEVER_TRUE, "never-true")               /* a constraint that no counterpart satisfies */            \
    X(NO_PREFERENCE, "no-preference")         /* a rank that is always undefined, error or false */       \
    X(NEVER_FITS, "never-fits")               /* an operator that does not take its operands */           \
    X(UNKNOWN_FUNCTION, "unknown-function")   /* no function has that name */                             \
    X(ARGUMENT_COUNT, "argument-count")       /* the function takes more, or fewer */                     \
    X(NO_SUCH_ATTRIBUTE, "no-such-attribute") /* self.x in an ad without x */                             \
    X(MISSPELT, "misspelt")                   /* a free name, one slip away from an own attribute */      \
    X(CIRCLE, "circle")                       /* an attribute that reads itself */                        \
    X(SHADOW, "shadow")                       /* an attribute that hides other, TARGET, MY or a label */  \
    X(LATER_LABEL, "later-label")             /* a port that reads a later one */                         \
    X(WRONG_PORTS, "wrong-ports")             /* Ports that are refused */                                \
    X(NOT_READ, "not-read")                   /* a constraint outside the ports, and the like */          \
    X(NOT_BOOLEAN, "not-boolean")             /* Essential or Share that is neither true nor false */     \
    X(WHO_EXECUTES, "who-executes")           /* a job whose ports do not say at which of them it runs */ \
    X(NO_SET, "no-set")                       /* SetSize in a port without Count */                       \
    X(TWO_CONSTRAINTS, "two-constraints")     /* Constraint and Requirements: the second is not read */   \
    X(RESERVED, "reserved")                   /* a name whose value the matchmaker gives */               \
    X(UNFINISHED, "unfinished")               /* too much: what comes behind was not looked at */

enum lint_kind {
#define X(id, name) LINT_##id,
    LINT_KINDS(X)
#undef X
        LINT_KIND_COUNT
};

const char *lint_kind_name(enum lint_kind kind); /* "contradiction", ... */

#define LINT_FINDINGS_MAX 64 /* findings told of one attribute */
#define LINT_CLAUSES_MAX 512 /* clauses of one conjunction that are compared */
#define LINT_NAMES_MAX 1024  /* attributes of an ad that a misspelt name is compared with */
#define LINT_PORTS_MAX 64    /* ports that are looked at */
#define LINT_QUOTE_MAX 80    /* bytes of an expression, or a name, that are shown */
/* Steps: a cell that is looked at, two names or clauses that are compared, 32 bytes of text, a step of an evaluation. About 20 ns each. */
#define LINT_STEPS_MAX (4u << 20)

/* A finding lives only during the call of the reporter. */
struct lint_finding {
    enum lint_kind kind;
    symbol attribute; /* the outermost ad's attribute in which it was found; Ports for what is in a port */
    const char *text; /* what is wrong: a line */
    symbol function;  /* UNKNOWN_FUNCTION: the name, of which lint_text_print tells the nearest; else SYMBOL_NONE */
};

typedef void lint_report_fn(void *user, const struct lint_finding *finding);

/* Calls `report` for each finding, those of an attribute together, in the ad's order; circles come last. The same finding is told once. `scratch`
 * is left as it was. Lint looks at what is inside a port too; match/gang/lint_ports.h says whether the ports are in order. The steps are added to
 * `meter`, which several ads may share; NULL: this ad has all steps for itself. */
void lint_ad(struct arena *scratch, const struct tree *ad, uint64_t *meter, lint_report_fn *report, void *user);

/* Appends what is wrong, with the function that was probably meant. */
void lint_text_print(struct buf *out, const struct tree *ad, const struct lint_finding *finding);

#ifdef __cplusplus
}
#endif
#endif
