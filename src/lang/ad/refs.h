/* refs.h: the external references of an expression or an ad (section 2.6.2): the names it reads that it does not define.
 *
 * Each is said once, with the scope it is read from: `other` (also written TARGET), or none for a plain name that no enclosing
 * ad defines. A constant path such as other.a.b is one reference. */
#ifndef BERTH_LANG_AD_REFS_H
#define BERTH_LANG_AD_REFS_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REF_PATH_MAX 8 /* names of a path that are told; what follows is cut off */

struct ref {
    symbol scope; /* NAME_OTHER; SYMBOL_NONE for a plain name */
    uint32_t len; /* names in the path; 0: the counterpart as a whole */
    symbol path[REF_PATH_MAX];
};

struct refs {
    struct ref *items;
    uint32_t count, room;
    uint32_t *slots; /* finds them; twice the room of items */
};

void refs_init(struct refs *refs);
void refs_done(struct refs *refs);

/* What `e`, an expression of scope->tree that stands in `scope`, reads; through the ad's own attributes as well. */
void refs_add(struct refs *refs, const struct scope *scope, const struct expr *e);

/* What any attribute of the ad reads. */
void refs_add_ad(struct refs *refs, const struct tree *ad);

/* Does `e` read that attribute of an enclosing ad, directly or through others? */
bool refs_reach(const struct scope *scope, const struct expr *e, const struct expr *attribute);

/* The names that expressions of the tree may read, each as one bit of 64: a bit that is not set is certain. It takes a look at each
 * cell, and no more. */
uint64_t refs_bits(const struct tree *tree);

static inline uint64_t refs_bit(symbol name)
{
    return (uint64_t)1 << (symbol_name(name) * 0x9e3779b1u >> 26);
}

void refs_sort(struct refs *refs, const struct symbols *symbols); /* by text, whatever the case */

/* "other.Memory", "Arch", "other.a.b", "other". */
void ref_print(struct buf *out, const struct symbols *symbols, const struct ref *ref);

#ifdef __cplusplus
}
#endif
#endif
