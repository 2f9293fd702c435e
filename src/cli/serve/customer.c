/* customer.c: berth customer: the service that users bring their jobs to. */
#include "live/customerd/customerd.h"

#include "cli/ask/pool_config.h"
#include "cli/ask/redeem.h"
#include "cli/serve/daemons.h"
#include "cli/serve/own_store.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/guard.h"
#include "exec/self.h"
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct customer_options {
    struct config_options config;
    const char *token, *standby;
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
    {0, "standby", "CODE",
     "at the first start: join by this code (`berth token code --customer`), and stand by for the one that has the queue "
     "in Store; `-`: from the standard input",
     option_text, offsetof(S, standby)},
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

static void tell_standby(void *user, const char *url, const char *who)
{
    struct buf out;

    (void)user;
    buf_init(&out);
    buf_addf(&out, "Berth customer stands by: %s%s%s has the queue\n", *who ? who : "another", *url ? ", at " : "",
             url);
    output_write(&out);
    output_flush();
    buf_done(&out);
}

/* What opens its store when it is free. */
struct opening {
    struct config config; /* of its own: the customer may read its own anew meanwhile */
    bool fresh;
};

static struct shelf *store_await(void *user, const struct store_wait *wait, struct err *err)
{
    const struct opening *opening = user;

    return own_store_await(&opening->config, CUSTOMERD_FOLDER, "jobs", opening->fresh, wait, err);
}

static int customer_serve(const struct customer_options *options, const struct config_options *all,
                          struct config *config)
{
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;
    struct opening opening = {.fresh = options->fresh};
    struct customerd_settings settings = {.version = BERTH_VERSION,
                                          .sources = &sources,
                                          .token = options->token,
                                          .log_fd = STDERR_FILENO,
                                          .up = options->quiet ? NULL : tell_up,
                                          .stands_by = options->quiet ? NULL : tell_standby,
                                          .open = store_await,
                                          .replicas = store_replicas,
                                          .reached = store_reached,
                                          .fresh = options->fresh,
                                          .user = &opening};
    char program[SELF_MAX];
    struct err err = {0};
    bool waits = *config_text(config, CONFIG_STORE);
    int ended;

    settings.program = self_program(program);
    config_options_sources(all, given, &sources);
    if (!own_store_check(config) || (waits && config_options_load(all, &opening.config) < 0))
        return STATUS_BAD;
    if (!waits && !(settings.shelf = own_store_open(config, CUSTOMERD_FOLDER, "jobs", options->fresh)))
        return STATUS_BAD;
    ended = customerd_run(&settings, config, &err);
    if (settings.shelf)
        settings.shelf->kind->close(settings.shelf);
    config_done(&opening.config);
    if (ended < 0)
        report("%s", err.text);
    return ended < 0 ? STATUS_BAD : ended ? STATUS_NO : STATUS_DONE;
}

/* Gets the token of one that is to stand by. Whose queue it is, and where, its settings say as those of the first one do. */
static int standby_join(const struct customer_options *options, const struct config *config, const char *folder)
{
    char path[PATH_MAX + 8];
    struct redeemed redeemed;
    struct join_code code;
    struct err err = {0};
    int status;

    snprintf(path, sizeof path, "%s/token", folder);
    if (!*config_text(config, CONFIG_STORE) || !*config_text(config, CONFIG_AGENT_NAME)) {
        report("--standby wants the settings Store and AgentName, as the one has them that has the queue");
        return STATUS_BAD;
    }
    if (options->token || access(path, F_OK) == 0) {
        report("%s: there is a token already: --standby is for the first start alone",
               options->token ? options->token : path);
        return STATUS_BAD;
    }
    status = redeem_code_read(options->standby, !strcmp(options->standby, "-") ? "-" : NULL, &code);
    if (status != STATUS_DONE)
        return status;
    status = redeem(&code, &options->config, NULL, &redeemed);
    if (status == STATUS_DONE && redeemed.for_whom != REDEEMED_CUSTOMER) {
        report("this code is not for a customer: `berth token code --customer NAME` makes one");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE && token_file_write(path, &redeemed.file, &err) < 0) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    redeemed_done(&redeemed);
    join_code_done(&code);
    return status;
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
        status = options->standby ? standby_join(options, &config, folder) : STATUS_DONE;
    if (status == STATUS_DONE)
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
        "Where the setting Store names a database, several customers with one AgentName have one queue: one has it, the others "
        "stand by, and go on with it when that one is gone. What jobs read and leave is then in the folder CustomerFiles, "
        "which all of them have.\n"
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
