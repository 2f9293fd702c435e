/* special.h: shared by the files of specialisation; not for others. See specialize.c for the idea. */
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
    bool chance; /* there was a call whose value depends on where it stands */
    bool failed; /* give up: the expression stays as it is */
};

static inline bool value_is_scalar(const struct value *v)
{
    return v->type < VALUE_LIST;
}

/* True and the value when `e` is known; false when the rest of it has been pushed. In truth mode, the rest need only be true when `e` is. */
bool special_expr(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);

/* Pushes an expression that stands for a known part: its literal, or the part as it was written. */
void special_emit(struct special *sp, const struct scope *scope, const struct expr *e, const struct value *v);

/* Pushes the part as it was written; returns false. */
bool special_leave(struct special *sp, const struct scope *scope, const struct expr *e);

/* Specialises the attribute `found` of scope `at`, called `name` (or an element of a list, which has no name), which `e` in `scope` refers to. */
bool special_bound(struct special *sp, const struct scope *at, const struct expr *found, symbol name,
                   const struct scope *scope, const struct expr *e, bool truth, struct value *ret);

/* These do as special_expr does, each for one kind of expression. */
bool special_logic(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);
bool special_chain(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret);
bool special_call(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret);
/* `e` is a ?: or a call that means one; `parts` are its three parts. */
bool special_choice(struct special *sp, const struct scope *scope, const struct expr *e, const struct expr *parts,
                    bool truth, struct value *ret);

/* Moves the top of the stack down below the next `n` cells. */
void special_sink(struct build *build, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
