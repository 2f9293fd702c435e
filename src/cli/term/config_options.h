/* config_options.h: the options by which a command is configured: --config, --set, and flags for the settings most often set.
 *
 * A command that has them keeps a `struct config_options config` in its settings and lists CONFIG_OPTION_ROWS(T) among its rows. */
#ifndef BERTH_CLI_TERM_CONFIG_OPTIONS_H
#define BERTH_CLI_TERM_CONFIG_OPTIONS_H

#include "cli/term/options.h"
#include "live/config/config.h"

#define CONFIG_OPTIONS_MAX 64 /* settings on one command line */

struct config_options {
    const char *file;
    size_t count;
    struct config_option {
        char flag[64]; /* "--listen", "--set Pin" */
        char key[48];
        const char *value; /* lent by the command line */
    } items[CONFIG_OPTIONS_MAX];
};

/* These functions write a struct config_options. */
option_read_fn option_config_file;
option_read_fn option_config_set;
option_read_fn option_config_listen;
option_read_fn option_config_state;
option_read_fn option_config_name;
option_read_fn option_config_policy;
option_read_fn option_config_log;
option_read_fn option_config_log_level;

/* The options of an agent. */
#define CONFIG_AGENT_OPTION_ROWS(T)                                                                            \
    {0,                                                                                                        \
     "config",                                                                                                 \
     "FILE",                                                                                                   \
     "the configuration file; else $BERTH_CONFIG, ~/.config/berth/berth.ad or /etc/berth/berth.ad",            \
     option_config_file,                                                                                       \
     offsetof(T, config)},                                                                                     \
        {0,                                                                                                    \
         "set",                                                                                                \
         "KEY=VALUE",                                                                                          \
         "any setting (`berth config --explain` lists them); may be repeated",                                 \
         option_config_set,                                                                                    \
         offsetof(T, config)},                                                                                 \
        {0,                                                                                                    \
         "state",                                                                                              \
         "FOLDER",                                                                                             \
         "the folder for keys and what must outlive a restart",                                                \
         option_config_state,                                                                                  \
         offsetof(T, config)},                                                                                 \
        {0, "log", "FORM", "the form of the log: logfmt or json", option_config_log, offsetof(T, config)},     \
    {                                                                                                          \
        0, "log-level", "LEVEL", "error, warning, info or debug", option_config_log_level, offsetof(T, config) \
    }

/* The options of a matchmaker: those that only it has come first. For a provider, `--policy` means something else. */
#define CONFIG_OPTION_ROWS(T)                                                                          \
    {0,                                                                                                \
     "listen",                                                                                         \
     "ADDRESS",                                                                                        \
     "the address to listen at: HOST:PORT or unix:PATH; several with commas",                          \
     option_config_listen,                                                                             \
     offsetof(T, config)},                                                                             \
        {0, "name", "TEXT", "what the pool is called", option_config_name, offsetof(T, config)},       \
        {0, "policy", "FILE", "the administrative policy", option_config_policy, offsetof(T, config)}, \
        CONFIG_AGENT_OPTION_ROWS(T)

/* Fills in what config_load wants, from the options, the environment and the user who runs the program; `ret` borrows from `options` and `given`. */
void config_options_sources(const struct config_options *options, struct config_given given[CONFIG_OPTIONS_MAX],
                            struct config_sources *ret);

/* Loads the configuration; -1 when that failed, which has been reported. */
int config_options_load(const struct config_options *options, struct config *ret);

#endif
