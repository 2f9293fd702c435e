/* daemons.h: what the commands that serve (provider, provide) have in common. */
#ifndef BERTH_CLI_SERVE_DAEMONS_H
#define BERTH_CLI_SERVE_DAEMONS_H

#include "cli/term/config_options.h"
#include "live/providerd/providerd.h"

/* As many open files as the system lets us have. */
void raise_files(void);

/* Bytes set aside for jobs: the setting, else what the first start found, which is kept in the folder. */
int64_t disk_set_aside(int64_t setting, const char *scratch);

/* Opens the shelf in STATE/FOLDER (`fresh`: an empty one, where that of before is gone or damaged), runs the workshop, reports what went wrong; takes the configuration. The status to end with. */
int daemon_serve(const char *folder, const struct config_options *options, struct config *config,
                 const struct providerd_settings *providerd, bool fresh);

#endif
