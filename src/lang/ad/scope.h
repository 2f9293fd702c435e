/* scope.h: where an expression stands: the ads that are open around it, and what surrounds the outermost.
 *
 *     [ a = 1; b = [ c = a ] ]      at c:   scope of [ c = a ]  ->  scope of [ a = ..; b = .. ]  ->  surroundings
 *
 * A scope without an ad is that of an expression typed against an ad: names go through it. */
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
    const struct scope *scope; /* NULL: nobody is there, it is undefined; LABEL_OPEN: that is not decided yet */
    const struct value *set;   /* or all who are there, as a list; NULL where it is one */
};

extern const struct scope label_open;
#define LABEL_OPEN (&label_open)

/* What an outermost ad is surrounded by in a match. Two scopes that share it belong to the same ad in the same role. */
struct surroundings {
    const struct label *labels;
    uint32_t label_count;
    const struct scope
        *counterpart;     /* where plain names are looked up that no enclosing ad defines; or NULL, or LABEL_OPEN */
    uint32_t label_later; /* so many labels at the end are not in force yet: they are undefined */
};

struct scope {
    const struct tree *tree;
    const struct expr *ad; /* the AD cell, or NULL */
    const struct scope *parent;
    const struct scope *root;          /* the outermost ad; NULL when there is none */
    const struct surroundings *around; /* or NULL */
};

/* The scope of a whole ad, or of an expression alone (`tree` may be either), in `ret`. `around` may be NULL. */
void scope_init(struct scope *ret, const struct tree *tree, const struct surroundings *around);

/* That of an ad literal `e` of outer->tree inside `outer`. */
void scope_open(struct scope *ret, const struct scope *outer, const struct expr *e);

/* That of an expression of another tree, standing in `outer` (or alone: NULL). */
void scope_inside(struct scope *ret, const struct scope *outer, const struct tree *tree);

/* The attribute of that name in *scope or the nearest further out, which *scope becomes; NULL when none has it. */
const struct expr *scope_find(const struct scope **scope, symbol name);

const struct scope *scope_self(const struct scope *scope); /* the innermost ad; NULL when there is none */

/* Is the name self, MY, parent or root? Then *ret is the ad's scope, NULL when there is no such ad. */
bool scope_reserved(const struct scope *scope, symbol name, const struct scope **ret);

/* The label of that name (TARGET is another way to write other, and other is the counterpart where no label in force has that name);
 * false when it is no label. */
bool scope_label(const struct scope *scope, symbol name, struct label *ret);

#ifdef __cplusplus
}
#endif
#endif
