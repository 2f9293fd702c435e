/* clp.h: CLP, which solves linear programmes, loaded when the first is solved: of the many commands hardly any needs it, and with the C++ and Fortran
 * libraries behind it it takes longer to load than most of them run. */
#ifndef BERTH_MATCH_ASSIGN_CLP_H
#define BERTH_MATCH_ASSIGN_CLP_H

#include "lang/base/err.h"

#include <coin/Clp_C_Interface.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of CLP that are called, without the Clp_ in front. */
#define CLP_FUNCTIONS(X)        \
    X(addColumns)               \
    X(chgColumnLower)           \
    X(chgColumnUpper)           \
    X(chgRowLower)              \
    X(chgRowUpper)              \
    X(deleteModel)              \
    X(dual)                     \
    X(dualRowSolution)          \
    X(loadProblem)              \
    X(newModel)                 \
    X(numberIterations)         \
    X(objectiveValue)           \
    X(primal)                   \
    X(primalColumnSolution)     \
    X(resize)                   \
    X(scaling)                  \
    X(setLogLevel)              \
    X(setMaximumIterations)     \
    X(setOptimizationDirection) \
    X(status)

struct clp {
#define X(name) __typeof__(Clp_##name) *name;
    CLP_FUNCTIONS(X)
#undef X
};

/* Loads CLP, unless it was loaded before; -1 when it is not installed. */
int clp_load(struct err *err);

/* The functions. Whoever has solved a programme, or has called clp_load, can have them. */
const struct clp *clp(void);

#ifdef __cplusplus
}
#endif
#endif
