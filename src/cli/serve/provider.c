/* provider.c: berth provider: offers this machine to a pool, and runs the jobs that claim it. */
#include "live/providerd/providerd.h"

#include "cli/ask/pool_config.h"
#include "cli/serve/daemons.h"
#include "cli/serve/machine.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/report.h"

#include <stdio.h>

struct provider_options {
    struct config_options config;
    const char *policy;
    bool pull, quiet, fresh;
};

#define S struct provider_options
static const struct option provider_options[] = {
    CONFIG_AGENT_OPTION_ROWS(S),
    {0, "policy", "FILE", "the owner's policy: an ad that lies over what is found out about the machine", option_file,
     offsetof(S, policy)},
    {0, "pull", NULL, "ask for jobs when there is room, and do not advertise", option_flag, offsetof(S, pull)},
    {0, "new", NULL, "begin with an empty store where that of before is gone or damaged", option_flag,
     offsetof(S, fresh)},
    {'q', "quiet", NULL, "print nothing at the start; the log goes to standard error as ever", option_flag,
     offsetof(S, quiet)},
};
#undef S

static const struct provider_options provider_defaults;

static void tell_up(void *user, const char *name, const char *matchmaker, const char *held)
{
    (void)user;
    fprintf(stderr, "Berth provider %s is up, at the pool %s\n  jobs are held by  %s\n", name, matchmaker, held);
}

static int provider_serve(const struct provider_options *options, const struct config_options *all,
                          struct config *config)
{
    struct machine machine;
    struct providerd_settings settings = {.role = "provider",
                                          .executor = machine_executor,
                                          .shown = machine_shown,
                                          .image = machine_image,
                                          .registries = machine_sources,
                                          .owners = machine_owners,
                                          .pull = options->pull || config_flag(config, CONFIG_PULL),
                                          .pools = true,
                                          .offers = 1,
                                          .offer = machine_offer,
                                          .probe = machine_probe,
                                          .up = options->quiet ? NULL : tell_up,
                                          .down = machine_down,
                                          .user = &machine};

    machine_init(&machine, config, "provider");
    machine.policy = options->policy ? options->policy : machine.policy;
    return daemon_serve("provider", all, config, &settings, options->fresh);
}

static int provider_run(const void *given, int word_count, char **words)
{
    const struct provider_options *options = given;
    struct config_options all;
    struct config config;
    struct arena texts;
    int status = STATUS_BAD;

    (void)words;
    if (word_count) {
        report("provider takes no arguments, only options; `berth provide FILE` offers other things");
        return STATUS_BAD;
    }
    arena_init(&texts);
    if (agent_config_load(&options->config, "provider", &config, &all, &texts) == 0) {
        status = provider_serve(options, &all, &config);
        config_done(&config);
    }
    arena_done(&texts);
    return status;
}

const struct command command_provider = {
    .name = "provider",
    .summary = "offer this machine to a pool, and run the jobs that claim it",
    .usage = "[OPTIONS]",
    .about =
        "Finds out what this machine is and how it is used now, advertises it under its owner's policy, and runs the jobs of "
        "those who claim it, each in a sandbox of its own. Runs until it is told to end (SIGTERM); jobs go on meanwhile, and "
        "are found again at the next start, as long as their lease lasts.\n"
        "\n"
        "Who it is in the pool says the token in STATE/provider/token: `berth pool` makes one, and so does `berth join "
        "CODE` on another machine. Without --policy every job that fits is accepted; examples/policy has other owners.\n"
        "\n"
        "With the setting Pools it belongs to several pools, and pulls from them in that order, whether or not --pull is said.",
    .examples = {{"berth provider --policy examples/policy/nights.ad", NULL}, {"berth provider --pull", NULL}},
    .options = provider_options,
    .option_count = sizeof provider_options / sizeof *provider_options,
    .settings_size = sizeof(struct provider_options),
    .defaults = &provider_defaults,
    .run = provider_run,
};
