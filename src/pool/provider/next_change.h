/* next_change.h: when will the value of a part of an expression change, by the passing of time alone?
 *
 * The part of a constraint that reads the time is nearly always a comparison whose sides move one way until they jump:
 * DayTime() rises until midnight, time() - Start for ever. Such a comparison changes at most once between two jumps,
 * so its value at both ends tells whether it does, and halving finds the second. Where the sides cannot be analysed so, each
 * second is looked at. Values come from evaluation: this file itself computes only directions.
 *
 *     DayTime() < '8:00'       true ........ 7:59:59 | false 8:00:00 ................ 23:59:59 | true 0:00:00
 *
 * The work is counted. */
#ifndef BERTH_POOL_PROVIDER_NEXT_CHANGE_H
#define BERTH_POOL_PROVIDER_NEXT_CHANGE_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TURNS_NEVER INT64_MAX
#define TURNS_WEEK 604800

struct next_change {
    const struct env *env;
    struct arena *scratch;
    uint64_t steps; /* steps of work that are left, as evaluation counts them */
    bool spent;     /* the steps did not suffice: `next` and `once` mean nothing */
    int64_t from;
    int64_t next;   /* the first second after `from` at which the value of some part of the expression may change */
    int64_t once;   /* the same, without the parts that are the same every week; not before `next` */
    unsigned depth; /* of the part that is being examined */
};

void next_change_init(struct next_change *turns, const struct env *env, struct arena *scratch, uint64_t steps);

/* Finds `next` and `once` for `e`, which stands in `scope`. What counts is whether each operand of && || ! ?: is
 * true, false, undefined or error, and whether any other part is error, as far as that does not need a counterpart.
 * `scratch` is left as it was. */
void next_change_find(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t from);

#ifdef __cplusplus
}
#endif
#endif
