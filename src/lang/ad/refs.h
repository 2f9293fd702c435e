/* refs.h: the external references of an expression or an ad (section 2.6.2): the names that it reads and does not define.
 *
 * Each reference is listed once, with the scope that it reads from: `other` (also written TARGET), or none for a plain name that no enclosing
 * ad defines. A constant path such as other.a.b is one reference. */
#ifndef BERTH_LANG_AD_REFS_H
#define BERTH_LANG_AD_REFS_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REF_PATH_MAX 8 /* names of a path that are kept; the rest is cut off */

struct ref {
    symbol scope; /* NAME_OTHER; SYMBOL_NONE for a plain name */
    uint32_t len; /* names in the path; 0: the counterpart as a whole */
    symbol path[REF_PATH_MAX];
};

struct refs {
    struct ref *items;
    uint32_t count, room;
    uint32_t *slots; /* a hash table that finds them; twice the room of items */
};

void refs_init(struct refs *refs);
void refs_done(struct refs *refs);

/* Adds the names that `e`, an expression of scope->tree that stands in `scope`, reads; also through the ad's own attributes. */
void refs_add(struct refs *refs, const struct scope *scope, const struct expr *e);

/* Adds the names that any attribute of the ad reads. */
void refs_add_ad(struct refs *refs, const struct tree *ad);

/* Does `e` read that attribute of an enclosing ad, directly or through others? */
bool refs_reach(const struct scope *scope, const struct expr *e, const struct expr *attribute);

/* The names that expressions of the tree may read, each as one bit of 64. A bit that is not set is certain: none of its names is read. This looks at
 * each cell once, and does nothing more. */
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
