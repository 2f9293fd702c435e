/* pool_config.h: what a pool has configured for its agents. */
#ifndef BERTH_CLI_ASK_POOL_CONFIG_H
#define BERTH_CLI_ASK_POOL_CONFIG_H

#include "cli/ask/connection.h"
#include "lang/base/arena.h"

/* Prints the SECTION, or the value of SECTION/OPTION; returns an enum status. Errors have been reported. */
int pool_config_print(const struct connection_options *options, const char *what);

#define SERVED_SECTION "Agent" /* settings for customers and providers alike */

/* The settings of an agent: loads them, asks the sources of ConfigSources for what the pool has configured, and loads them again with that; what the
 * user has set himself goes before it. `role`: whose token is shown to the sources. `ret_all`: the options together with those of the pool, for
 * reloading; their texts lie in the arena. -1 when that failed, which has been reported. */
int agent_config_load(const struct config_options *options, const char *role, struct config *ret,
                      struct config_options *ret_all, struct arena *arena);

#endif
