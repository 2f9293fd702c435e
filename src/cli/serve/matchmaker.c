/* matchmaker.c: berth matchmaker: the service that introduces requests and offers that fit. */
#include "live/matchmakerd/matchmakerd.h"

#include "cli/serve/daemons.h"
#include "cli/serve/own_store.h"
#include "cli/serve/replica.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/guard.h"
#include "store/store.h"

#include <stdio.h>
#include <unistd.h>

struct matchmaker_options {
    struct config_options config;
    const char *standby;
    bool quiet, fresh;
};

#define S struct matchmaker_options
static const struct option matchmaker_options[] = {
    CONFIG_OPTION_ROWS(S),
    {0, "standby", "CODE",
     "at the first start: get the keys of the pool that made this code, and stand by; `-`: from the standard input",
     option_text, offsetof(S, standby)},
    {0, "new", NULL, "begin with an empty store where that of before is gone or damaged", option_flag,
     offsetof(S, fresh)},
    {'q', "quiet", NULL, "print nothing at the start; the log goes to standard error as ever", option_flag,
     offsetof(S, quiet)},
};
#undef S

static const struct matchmaker_options matchmaker_defaults;

/* Prints where the matchmaker listens, and what to type next. */
static void tell_up(void *user, const char *const *addresses, const char *url, const char *join_code)
{
    struct buf out;

    (void)user;
    buf_init(&out);
    buf_addf(&out, "Berth matchmaker is up: %s\n", url);
    for (size_t i = 0; addresses[i]; i++)
        buf_addf(&out, "  listening at  %s\n", addresses[i]);
    buf_adds(&out, "\nOn this machine:    berth status\n");
    if (join_code)
        buf_addf(
            &out,
            "A provider:         berth join %s\n                    (on that machine; once, within an hour; `berth token code` makes another)\n"
            "A submit host:      berth join CODE, with the code of `berth token code --customer alice`\n",
            join_code);
    else
        buf_adds(&out, "Other machines:     start it with --listen 0.0.0.0:7600 to let them join\n");
    buf_adds(&out, "A token for a user: berth token create --subject alice\n");
    output_write(&out);
    output_flush();
    buf_done(&out);
}

static void tell_standby(void *user, const char *url, const char *leader)
{
    struct buf out;

    (void)user;
    buf_init(&out);
    buf_addf(&out, "Berth matchmaker stands by: %s\n", url);
    buf_addf(&out, "  leader        %s\n", *leader ? leader : "none is known");
    output_write(&out);
    output_flush();
    buf_done(&out);
}

/* What opens its store when it is free. */
struct opening {
    struct config config; /* of its own: the matchmaker may read its own anew meanwhile */
    bool fresh;
};

static struct shelf *store_await(void *user, const struct store_wait *wait, struct err *err)
{
    const struct opening *opening = user;

    return own_store_await(&opening->config, "", NULL, opening->fresh, wait, err);
}

static int matchmaker_serve(const struct matchmaker_options *options, struct config *config)
{
    struct opening opening = {.fresh = options->fresh};
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;
    struct matchmakerd_settings settings = {.version = BERTH_VERSION,
                                            .sources = &sources,
                                            .log_fd = STDERR_FILENO,
                                            .up = options->quiet ? NULL : tell_up,
                                            .stands_by = options->quiet ? NULL : tell_standby,
                                            .open = store_await,
                                            .replicas = store_replicas,
                                            .user = &opening};
    bool waits = *config_text(config, CONFIG_STORE);
    struct err err = {0};
    int ended = -1;

    config_options_sources(&options->config, given, &sources);
    if (!own_store_check(config) || (waits && config_options_load(&options->config, &opening.config) < 0))
        return STATUS_BAD;
    if (!waits && !(settings.shelf = own_store_open(config, "", NULL, options->fresh)))
        return STATUS_BAD;
    ended = matchmakerd_run(&settings, config, &err);
    if (settings.shelf)
        settings.shelf->kind->close(settings.shelf);
    config_done(&opening.config);
    if (ended < 0)
        report("%s", err.text);
    return ended < 0 ? STATUS_BAD : ended ? STATUS_NO : STATUS_DONE;
}

static int matchmaker_run(const void *given, int word_count, char **words)
{
    const struct matchmaker_options *options = given;
    struct config config;
    int status = STATUS_BAD;

    (void)words;
    if (word_count) {
        report("matchmaker takes no arguments, only options");
        return STATUS_BAD;
    }
    if (config_options_load(&options->config, &config) < 0)
        return STATUS_BAD;
    raise_files();
    guard_memory();
    if (folder_make_own(config_text(&config, CONFIG_STATE)) == 0)
        status = options->standby ? replica_make(&options->config, &config, options->standby) : STATUS_DONE;
    if (status == STATUS_DONE)
        status = replica_take(&options->config, &config);
    if (status == STATUS_DONE)
        status = matchmaker_serve(options, &config);
    config_done(&config);
    return status;
}

const struct command command_matchmaker = {
    .name = "matchmaker",
    .summary = "serve a pool: collect ads, find those that fit, tell them",
    .usage = "[OPTIONS]",
    .about =
        "Runs until it is told to end (SIGTERM). Without any configuration it listens on this machine alone, keeps its state "
        "in the user's own folder, makes its keys at the first start, and says how others join.\n"
        "\n"
        "Settings come from a file (an ad), the folder FILE.d, the environment (BERTH_LISTEN and so on) and these options, "
        "each over those before; `berth config --trace` tells what holds and why. SIGHUP reads them anew.\n"
        "\n"
        "All that must outlive it is in the state folder: keys, tokens that were revoked, what users have used. Ads and "
        "claims are learnt again from the agents after a restart. Other addresses than this machine's are encrypted. The log "
        "goes to standard error, a line an event.",
    .examples = {{"berth matchmaker", NULL}, {"berth matchmaker --listen 0.0.0.0:7600 --state /srv/berth", NULL}},
    .options = matchmaker_options,
    .option_count = sizeof matchmaker_options / sizeof *matchmaker_options,
    .settings_size = sizeof(struct matchmaker_options),
    .defaults = &matchmaker_defaults,
    .run = matchmaker_run,
};
