/* dialect.c: the table of dialects. */
#include "lang/text/dialect.h"

#include <string.h>

const struct dialect dialect_classic = {
    .name = "classic",
    .bit = DIALECT_CLASSIC,
    .scale_suffixes = true,
};

const struct dialect dialect_condor = {
    .name = "condor",
    .bit = DIALECT_CONDOR,
    .quoted_names = true,
    .last_duplicate_holds = true,
    .short_intervals = true,
    .early_times = true,
    .reals_as_e15 = true,
    .logic_by_order = true,
    .booleans_count = true,
    .outside_list_is_error = true,
    .ads_take_subscripts = true,
    .lists_take_names = true,
    .is_refuses_aggregates = true,
    .infinite_reals = true,
    .alone_in_empty_ad = true,
    .zone_of_evaluation = true,
};

const struct dialect *dialect_find(const char *name)
{
    if (strcmp(name, dialect_classic.name) == 0)
        return &dialect_classic;
    if (strcmp(name, dialect_condor.name) == 0)
        return &dialect_condor;
    return NULL;
}
