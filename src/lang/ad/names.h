/* names.h: the names that have a meaning in the language, with fixed symbols.
 *
 * Every table of symbols of an evaluated tree is made by names_new: it knows the names below and, behind them, the functions in the order of
 * functions.def. So the evaluator can compare symbols with constants. */
#ifndef BERTH_LANG_AD_NAMES_H
#define BERTH_LANG_AD_NAMES_H

#include "lang/base/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NAMES(X)                      \
    X(SELF, "self")                   \
    X(PARENT, "parent")               \
    X(ROOT, "root")                   \
    X(OTHER, "other")                 \
    X(MY, "MY")                       \
    X(TARGET, "TARGET")               \
    X(CONSTRAINT, "Constraint")       \
    X(REQUIREMENTS, "Requirements")   \
    X(RANK, "Rank")                   \
    X(NAME, "Name")                   \
    X(TYPE, "Type")                   \
    X(TIMEZONE, "TimeZone")           \
    X(COUNT, "Count")                 \
    X(RESIDUAL, "Residual")           \
    X(LABEL, "Label")                 \
    X(ROOTSELECTION, "RootSelection") \
    X(ROOTORDER, "RootOrder")         \
    X(DOCKINGVECTOR, "DockingVector") \
    X(PORTS, "Ports")                 \
    X(CHOOSE, "Choose")               \
    X(ESSENTIAL, "Essential")         \
    X(SHARE, "Share")                 \
    X(SETSIZE, "SetSize")             \
    X(PREEMPTS, "Preempts")           \
    X(CURRENTRANK, "CurrentRank")     \
    X(YEAR, "Year")                   \
    X(MONTH, "Month")                 \
    X(DAY, "Day")                     \
    X(DAYS, "Days")                   \
    X(HOURS, "Hours")                 \
    X(MINUTES, "Minutes")             \
    X(SECONDS, "Seconds")             \
    X(OFFSET, "Offset")

enum name_number {
    NAME_NUMBER_NOBODY,
#define X(id, text) NAME_NUMBER_##id,
    NAMES(X)
#undef X
        NAME_NUMBER_END
};

/* NAME_SELF, NAME_PARENT, ... are symbols. */
enum name_symbol {
#define X(id, text) NAME_##id = SYMBOL_KNOWN(NAME_NUMBER_##id),
    NAMES(X)
#undef X
};

struct symbols *names_new(uint64_t seed); /* free with symbols_free */

#ifdef __cplusplus
}
#endif
#endif
