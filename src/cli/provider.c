/* provider.c: berth provider: offers this machine to a pool, and runs the jobs that claim it. */
#include "net/workshop.h"

#include "cli/command.h"
#include "cli/config_options.h"
#include "cli/daemons.h"
#include "cli/file.h"
#include "cli/report.h"
#include "cli/served.h"
#include "exec/local.h"
#include "exec/policy.h"
#include "exec/probe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct provider_options {
    struct config_options config;
    const char *policy;
    bool pull, quiet;
};

#define S struct provider_options
static const struct option provider_options[] = {
    CONFIG_AGENT_OPTION_ROWS(S),
    {0, "policy", "FILE", "the owner's policy: an ad that lies over what is found out about the machine", option_file,
     offsetof(S, policy)},
    {0, "pull", NULL, "ask for jobs when there is room, and do not advertise", option_flag, offsetof(S, pull)},
    {'q', "quiet", NULL, "print nothing at the start; the log goes to standard error as ever", option_flag,
     offsetof(S, quiet)},
};
#undef S

static const struct provider_options provider_defaults;

/* The machine as the workshop asks for it. */
struct machine {
    int64_t disk;       /* set aside for jobs, as the settings say; 0: to be found out */
    const char *policy; /* a file; "" for none */
    char state[PATH_MAX], scratch[PATH_MAX];
    struct prober *prober;
    const char *probes[65];
    bool unprotected;
};

static struct executor *machine_executor(void *user, struct uv_loop_s *loop, executor_told_fn *told, void *told_user,
                                         struct err *err)
{
    struct machine *machine = user;
    struct local_settings settings = {
        .state = machine->state, .unprotected = machine->unprotected, .told = told, .user = told_user};

    return local_new(loop, &settings, err);
}

static struct tree *machine_offer(void *user, struct symbols *symbols, uint32_t place, struct err *err)
{
    const struct machine *machine = user;
    struct tree *defaults = policy_default(symbols), *own, *both;

    (void)place;
    if (!*machine->policy)
        return defaults;
    own = policy_read(symbols, machine->policy, err);
    both = own ? policy_over(own, defaults) : NULL;
    if (own && !both)
        err_set(err, "%s: more attributes than an ad can have", machine->policy);
    tree_unref(own);
    tree_unref(defaults);
    return both;
}

/* The prober is made with the first question: the symbols are the workshop's. */
static struct tree *machine_probe(void *user, struct symbols *symbols, double own_load)
{
    struct machine *machine = user;
    struct err err = {0};
    struct tree *ad;

    if (!machine->prober) {
        struct probe_settings settings = {.root = "",
                                          .scratch = machine->scratch,
                                          .disk = disk_set_aside(machine->disk, machine->scratch),
                                          .programs = machine->probes,
                                          .program_span = 10 * SECOND};

        machine->prober = prober_new(symbols, &settings, &err);
        if (!machine->prober) {
            report("%s", err.text);
            return NULL;
        }
        prober_start(machine->prober);
    }
    if (!prober_poll(machine->prober))
        prober_start(machine->prober);
    ad = prober_probe(machine->prober, own_load);
    return ad;
}

static void machine_down(void *user)
{
    struct machine *machine = user;

    prober_free(machine->prober);
    machine->prober = NULL;
}

static void tell_up(void *user, const char *name, const char *matchmaker, const char *held)
{
    (void)user;
    fprintf(stderr, "Berth provider %s is up, at the pool %s\n  jobs are held by  %s\n", name, matchmaker, held);
}

static int provider_serve(const struct provider_options *options, const struct config_options *all,
                          struct config *config)
{
    struct machine machine = {.disk = (int64_t)config_size(config, CONFIG_JOB_DISK)};
    struct workshop_settings settings = {.role = "provider",
                                         .executor = machine_executor,
                                         .pull = options->pull || config_flag(config, CONFIG_PULL),
                                         .pools = true,
                                         .offers = 1,
                                         .offer = machine_offer,
                                         .probe = machine_probe,
                                         .up = options->quiet ? NULL : tell_up,
                                         .down = machine_down,
                                         .user = &machine};
    size_t count;
    const char *const *probes = config_list(config, CONFIG_PROBES, &count);
    const char *state = config_text(config, CONFIG_STATE);

    snprintf(machine.state, sizeof machine.state, "%.4000s/provider/claims", state);
    snprintf(machine.scratch, sizeof machine.scratch, "%.4000s/provider/work", state);
    machine.policy = options->policy ? options->policy : config_text(config, CONFIG_OWNER_POLICY);
    machine.unprotected = config_flag(config, CONFIG_UNPROTECTED);
    for (size_t i = 0; i < count && i < 64; i++)
        machine.probes[i] = probes[i];
    return daemon_serve("provider", all, config, &settings);
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
        report("provider takes options alone; `berth provide FILE` offers other things");
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
