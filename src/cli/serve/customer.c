/* customer.c: berth customer: the service that users bring their jobs to. */
#include "live/customerd/customerd.h"

#include "cli/ask/pool_config.h"
#include "cli/serve/daemons.h"
#include "cli/serve/own_store.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/guard.h"
#include "exec/self.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct customer_options {
    struct config_options config;
    const char *token;
    bool quiet, fresh;
};

#define S struct customer_options
static const struct option customer_options[] = {
    {0, "token", "FILE", "the file of its token; else STATE/customer/token", option_text, offsetof(S, token)},
    {0, "config", "FILE", "the configuration file; else $BERTH_CONFIG, ~/.config/berth/berth.ad or /etc/berth/berth.ad",
     option_config_file, offsetof(S, config)},
    {0, "set", "KEY=VALUE", "any setting (`berth config --explain` lists them); may be repeated", option_config_set,
     offsetof(S, config)},
    {0, "state", "FOLDER", "the folder of the state: the customer's is STATE/customer", option_config_state,
     offsetof(S, config)},
    {0, "log", "FORM", "the form of the log: logfmt or json", option_config_log, offsetof(S, config)},
    {0, "log-level", "LEVEL", "error, warning, info or debug", option_config_log_level, offsetof(S, config)},
    {0, "new", NULL, "begin with an empty store where that of before is gone or damaged", option_flag,
     offsetof(S, fresh)},
    {'q', "quiet", NULL, "print nothing at the start; the log goes to standard error as ever", option_flag,
     offsetof(S, quiet)},
};
#undef S

static const struct customer_options customer_defaults;

/* Prints where the customer listens, and whom it asks. */
static void tell_up(void *user, const char *const *addresses, const char *matchmaker)
{
    struct buf out;

    (void)user;
    buf_init(&out);
    buf_addf(&out, "Berth customer is up, and asks %s\n", matchmaker);
    for (size_t i = 0; addresses[i]; i++)
        buf_addf(&out, "  listening at  %s\n", addresses[i]);
    output_write(&out);
    output_flush();
    buf_done(&out);
}

static int customer_serve(const struct customer_options *options, const struct config_options *all,
                          struct config *config)
{
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;
    struct customerd_settings settings = {.version = BERTH_VERSION,
                                          .sources = &sources,
                                          .token = options->token,
                                          .log_fd = STDERR_FILENO,
                                          .up = options->quiet ? NULL : tell_up};
    char program[SELF_MAX];
    struct err err = {0};
    int ended;

    settings.program = self_program(program);
    config_options_sources(all, given, &sources);
    settings.shelf = own_store_open(config, CUSTOMERD_FOLDER, "jobs", options->fresh);
    if (!settings.shelf)
        return STATUS_BAD;
    ended = customerd_run(&settings, config, &err);
    settings.shelf->kind->close(settings.shelf);
    if (ended < 0)
        report("%s", err.text);
    return ended < 0 ? STATUS_BAD : ended ? STATUS_NO : STATUS_DONE;
}

static int customer_run(const void *given, int word_count, char **words)
{
    const struct customer_options *options = given;
    char folder[PATH_MAX];
    struct config_options all;
    struct config config;
    struct arena texts;
    int status = STATUS_BAD;

    (void)words;
    if (word_count) {
        report("customer takes no arguments, only options");
        return STATUS_BAD;
    }
    arena_init(&texts);
    if (agent_config_load(&options->config, CUSTOMERD_FOLDER, &config, &all, &texts) < 0) {
        arena_done(&texts);
        return STATUS_BAD;
    }
    raise_files();
    guard_memory();
    if (snprintf(folder, sizeof folder, "%s/" CUSTOMERD_FOLDER, config_text(&config, CONFIG_STATE)) >=
        (int)sizeof folder)
        report("the name of the state folder is too long");
    else if (folder_make(folder) == 0)
        status = customer_serve(options, &all, &config);
    config_done(&config);
    arena_done(&texts);
    return status;
}

const struct command command_customer = {
    .name = "customer",
    .summary = "keep a queue of jobs, and have them run on the machines of a pool",
    .usage = "[OPTIONS]",
    .about =
        "Runs until it is told to end (SIGTERM). Users bring jobs to it by its Unix socket, STATE/customer/customer.sock; it "
        "advertises them to the matchmaker, claims the machines that fit, hands over what jobs read, and keeps what they "
        "leave. Jobs that were accepted outlive it, and go on running while it is not there.\n"
        "\n"
        "It acts as the user of its token, STATE/customer/token or --token. The matchmaker is that of the setting "
        "Matchmakers, else the one of the same state folder, else the pool of the token. Providers call it at the address of "
        "the setting CustomerListen; by default that is found out, and where it is empty, all goes by the matchmaker's relay. "
        "`berth join CODE` makes the token, with a code of `berth token code --customer NAME`. With the setting Pools it offers "
        "every job to several pools, or to those that the job's Pools names.\n"
        "\n"
        "With the setting SubmitFor it serves all users of this machine, or those of some Unix groups, by the socket "
        "SubmitSocket: each is who the kernel says, sees its own jobs, and gets its outputs with its own rights. For that "
        "it runs as root.\n"
        "\n"
        "Settings come from a file (an ad), the folder FILE.d, the environment and these options, each over those before. "
        "SIGHUP reads them anew. The log goes to standard error, a line an event.",
    .examples = {{"berth customer", NULL},
                 {"berth customer --state /srv/berth --set CustomerListen=10.0.0.5:7601", NULL}},
    .options = customer_options,
    .option_count = sizeof customer_options / sizeof *customer_options,
    .settings_size = sizeof(struct customer_options),
    .defaults = &customer_defaults,
    .run = customer_run,
};
