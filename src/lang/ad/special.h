/* special.h: what the files of specialisation share; not for others. See specialize.c for the idea. */
#ifndef BERTH_LANG_AD_SPECIAL_H
#define BERTH_LANG_AD_SPECIAL_H

#include "lang/ad/specialize.h"

#ifdef __cplusplus
extern "C" {
#endif

struct special {
    struct eval eval;
    struct build build;
    const struct dialect *dialect; /* of the result */
    int flags;
    unsigned depth;
    bool chance; /* a call was met whose value depends on where it stands */
    bool failed; /* give up: the expression stays as it is */
};

static inline bool value_is_scalar(const struct value *v)
{
    return v->type < VALUE_LIST;
}

/* True and the value when `e` is known; false when what is left of it has been pushed. In truth mode what is left need only be true
 * when `e` is. */
bool special_expr(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);

/* Pushes what stands for a known part: its literal, or the part as it was written. */
void special_emit(struct special *sp, const struct scope *scope, const struct expr *e, const struct value *v);

/* Pushes the part as it was written; returns false. */
bool special_leave(struct special *sp, const struct scope *scope, const struct expr *e);

/* The attribute `found` of scope `at`, called `name` (or an element of a list, which has none), referred to by `e` in `scope`. */
bool special_bound(struct special *sp, const struct scope *at, const struct expr *found, symbol name,
                   const struct scope *scope, const struct expr *e, bool truth, struct value *ret);

/* Each as special_expr, for one kind of expression. */
bool special_logic(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);
bool special_chain(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret);
bool special_call(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);
/* `e` is a ?: or a call that means one, of these three parts. */
bool special_choice(struct special *sp, const struct scope *scope, const struct expr *e, const struct expr *parts,
                    bool truth, struct value *ret);

/* Moves the top of the stack down below the next `n`. */
void special_sink(struct build *build, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
