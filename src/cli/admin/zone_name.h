/* zone_name.h: a time zone by its name, as the rule that a machine can follow which does not know the name.
 *
 *     "Europe/Berlin"  ->  the last line of /usr/share/zoneinfo/Europe/Berlin  ->  "CET-1CEST,M3.5.0,M10.5.0/3" */
#ifndef BERTH_CLI_ADMIN_ZONE_NAME_H
#define BERTH_CLI_ADMIN_ZONE_NAME_H

#include "lang/base/zone.h"

struct zone_named {
    char name[ZONE_TEXT_MAX + 1], rule[ZONE_TEXT_MAX + 1];
    struct zone zone;
};

/* `name`: a zone, or a rule itself; NULL: this machine's own. False after a report. */
bool zone_named(const char *name, struct zone_named *ret);

#endif
