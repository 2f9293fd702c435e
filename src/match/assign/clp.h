/* clp.h: CLP, which solves linear programmes, loaded when the first is solved: of the many commands hardly any needs it, and with the C++ and Fortran
 * libraries behind it it takes longer to load than most of them run. */
#ifndef BERTH_MATCH_ASSIGN_CLP_H
#define BERTH_MATCH_ASSIGN_CLP_H

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

/* Loads CLP at the first call. Where it is not installed, the process ends with a word about it, as it would have at its start if it had been linked. */
const struct clp *clp(void);

#ifdef __cplusplus
}
#endif
#endif
