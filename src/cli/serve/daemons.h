/* daemons.h: what the commands that run a daemon have in common. */
#ifndef BERTH_CLI_SERVE_DAEMONS_H
#define BERTH_CLI_SERVE_DAEMONS_H

#include "cli/term/config_options.h"
#include "live/providerd/providerd.h"

/* Lets us open as many files as the system allows. */
void raise_files(void);

/* Bytes set aside for jobs: the setting, else what was found at the first start, which is kept in the folder. */
int64_t disk_set_aside(int64_t setting, const char *scratch);

#define MACHINE_BENCHMARK_SPAN 0.1 /* seconds of processor time */
/* How fast a processor of this machine is (pilot_benchmark): as it was measured at the first start and is kept in the folder `scratch`. 0: it was not, and
 * jobs may run, by the folder `claims`. */
double benchmark_kept(const char *scratch, const char *claims);

/* Opens the shelf in STATE/FOLDER (`fresh`: an empty one, where the old one is gone or damaged), runs the provider daemon and reports errors. Takes
 * the configuration. Returns the status to end with. */
int daemon_serve(const char *folder, const struct config_options *options, struct config *config,
                 const struct providerd_settings *providerd, bool fresh);

#endif
