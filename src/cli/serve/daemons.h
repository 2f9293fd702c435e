/* daemons.h: what the commands that run a daemon have in common. */
#ifndef BERTH_CLI_SERVE_DAEMONS_H
#define BERTH_CLI_SERVE_DAEMONS_H

#include "cli/term/config_options.h"
#include "live/providerd/providerd.h"

/* Lets us open as many files as the system allows. */
void raise_files(void);

/* Bytes set aside for jobs: the setting, else what was found at the first start, which is kept in the folder. */
int64_t disk_set_aside(int64_t setting, const char *scratch);

/* Opens the shelf in STATE/FOLDER (`fresh`: an empty one, where the old one is gone or damaged), runs the provider daemon and reports errors. Takes
 * the configuration. Returns the status to end with. */
int daemon_serve(const char *folder, const struct config_options *options, struct config *config,
                 const struct providerd_settings *providerd, bool fresh);

#endif
