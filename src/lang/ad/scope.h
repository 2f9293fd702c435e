/* scope.h: where an expression stands: the ads that are open around it, and what surrounds the outermost.
 *
 *     [ a = 1; b = [ c = a ] ]      at c:   scope of [ c = a ]  ->  scope of [ a = ..; b = .. ]  ->  surroundings
 *
 * A scope without an ad belongs to an expression that is typed against an ad: the search for names goes through it. */
#ifndef BERTH_LANG_AD_SCOPE_H
#define BERTH_LANG_AD_SCOPE_H

#include "lang/ad/names.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scope;
struct value;

/* A name under which a counterpart is seen: `other`, or the label of a port. */
struct label {
    symbol name;
    const struct scope *scope; /* NULL: nobody is there, the label is undefined; LABEL_OPEN: that is not decided yet */
    const struct value *set;   /* a list of all who are there; NULL where there is one */
};

extern const struct scope label_open;
#define LABEL_OPEN (&label_open)

/* The surroundings of an outermost ad in a match. Two scopes that share them belong to the same ad in the same role. */
struct surroundings {
    const struct label *labels;
    uint32_t label_count;
    const struct scope
        *counterpart;     /* plain names that no enclosing ad defines are looked up here; or NULL, or LABEL_OPEN */
    uint32_t label_later; /* so many labels at the end are not in force yet: they are undefined */
};

struct scope {
    const struct tree *tree;
    const struct expr *ad; /* the AD cell, or NULL */
    const struct scope *parent;
    const struct scope *root;          /* the outermost ad; NULL when there is none */
    const struct surroundings *around; /* or NULL */
};

/* Makes `ret` the scope of a whole ad, or of an expression alone (`tree` may be either). `around` may be NULL. */
void scope_init(struct scope *ret, const struct tree *tree, const struct surroundings *around);

/* Makes the scope of an ad literal `e` of outer->tree inside `outer`. */
void scope_open(struct scope *ret, const struct scope *outer, const struct expr *e);

/* Makes the scope of an expression of another tree that stands in `outer` (or alone: NULL). */
void scope_inside(struct scope *ret, const struct scope *outer, const struct tree *tree);

/* The attribute of that name in *scope or in the nearest ad further out, whose scope *scope becomes; NULL when no ad has it. */
const struct expr *scope_find(const struct scope **scope, symbol name);

const struct scope *scope_self(const struct scope *scope); /* the innermost ad; NULL when there is none */

/* Is the name self, MY, parent or root? Then *ret is the ad's scope, NULL when there is no such ad. */
bool scope_reserved(const struct scope *scope, symbol name, const struct scope **ret);

/* The label of that name; false when the name is not a label. TARGET is another way to write other, and other is the
 * counterpart where no label in force has that name. */
bool scope_label(const struct scope *scope, symbol name, struct label *ret);

#ifdef __cplusplus
}
#endif
#endif
