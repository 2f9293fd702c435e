/* replica.h: a matchmaker that was set up by a code to stand by for another one: what it was told then is kept in STATE/replica.
 *
 *     [ Store = "postgresql://..."; Name = "pool" ]       holds where the settings name no Store: it must never begin a pool of its own with those keys */
#ifndef BERTH_CLI_SERVE_REPLICA_H
#define BERTH_CLI_SERVE_REPLICA_H

#include "cli/term/config_options.h"

/* Shows the code (`-`: it is read from the standard input), and keeps what it gives in the state folder. STATUS_DONE, or what to end with; it was reported. */
int replica_make(const struct config_options *options, const struct config *config, const char *code);

/* Takes what is kept into the settings, which are read anew. The same. */
int replica_take(const struct config_options *options, struct config *config);

#endif
