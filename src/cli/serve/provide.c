/* provide.c: berth provide: offers what a file of ads describes: licences, instruments, anything that can be claimed. */
#include "live/providerd/providerd.h"

#include "cli/ask/pool_config.h"
#include "cli/serve/daemons.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/text/print.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFERS_MAX 1000 /* in all files together */

struct provide_options {
    struct config_options config;
    bool fresh;
};

#define S struct provide_options
static const struct option provide_options[] = {
    CONFIG_AGENT_OPTION_ROWS(S),
    {0, "new", NULL, "begin with an empty store where that of before is gone or damaged", option_flag,
     offsetof(S, fresh)},
};
#undef S

static const struct provide_options provide_defaults;

struct things {
    char **files;
    int file_count;
    char *texts[OFFERS_MAX]; /* each ad as text: the provider daemon reads it again with its own symbols */
    uint32_t count;
};

static struct tree *thing_offer(void *user, struct symbols *symbols, uint32_t place, struct err *err)
{
    const struct things *things = user;

    return form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, things->texts[place], strlen(things->texts[place]),
                      err);
}

static void tell_up(void *user, const char *name, const char *matchmaker, const char *held)
{
    const struct things *things = user;

    (void)held;
    fprintf(stderr, "Berth provider %s is up, at the pool %s, with %u offer%s\n", name, matchmaker, things->count,
            things->count == 1 ? "" : "s");
}

static int things_read(struct things *things)
{
    struct symbols *symbols = names_new(1);
    int failed = 0;

    for (int i = 0; i < things->file_count && !failed; i++) {
        struct input_source source;
        struct tree *ad;
        int more = 0;

        if (source_open(&source, symbols, &dialect_classic, FORM_UNKNOWN, things->files[i]) < 0) {
            failed = -1;
            break;
        }
        while ((more = source_next(&source, &ad)) > 0) {
            struct buf text;

            if (things->count == OFFERS_MAX) {
                report("%s: more than %d offers", things->files[i], OFFERS_MAX);
                more = -1;
                tree_unref(ad);
                break;
            }
            buf_init(&text);
            print_tree(&text, ad, 0);
            things->texts[things->count++] = strdup(buf_string(&text));
            buf_done(&text);
            tree_unref(ad);
        }
        source_close(&source);
        failed = more < 0 ? -1 : 0;
    }
    symbols_free(symbols);
    if (!failed && !things->count) {
        report("there is no ad in what was given");
        failed = -1;
    }
    return failed;
}

static int provide_run(const void *given, int word_count, char **words)
{
    const struct provide_options *options = given;
    static struct things things;
    struct providerd_settings settings = {.role = "provide", .offer = thing_offer, .up = tell_up, .user = &things};
    struct config_options all;
    struct arena texts;
    struct config config;
    int status = STATUS_BAD;

    if (!word_count) {
        report("provide needs a file of ads");
        return STATUS_BAD;
    }
    things = (struct things){.files = words, .file_count = word_count};
    arena_init(&texts);
    if (things_read(&things) == 0 && agent_config_load(&options->config, "provide", &config, &all, &texts) == 0) {
        settings.offers = things.count;
        status = daemon_serve("provide", &all, &config, &settings, options->fresh);
        config_done(&config);
    }
    arena_done(&texts);
    for (uint32_t i = 0; i < things.count; i++)
        free(things.texts[i]);
    return status;
}

const struct command command_provide = {
    .name = "provide",
    .summary = "offer what a file of ads describes: licences, anything",
    .usage = "[OPTIONS] FILE...",
    .about =
        "Advertises each ad of the files, under the constraint and rank that it states, and lets those that match claim "
        "it. Nothing is run: who has claimed a thing holds it until it lets go. Runs until it is told to end "
        "(SIGTERM).\n"
        "\n"
        "It acts as the machine that it runs on: `berth join CODE` lets that join a pool, and with --only no jobs are run there; "
        "under `berth pool` it has joined. A token of its own would be STATE/provide/token, which `berth token create` makes with "
        "the scopes ad:read, ad:write and claim. A job that holds such a thing while it runs on a machine has Ports: "
        "examples/jobs/licensed.ad.",
    .examples = {{"berth provide examples/licenses.ad", NULL}},
    .options = provide_options,
    .option_count = sizeof provide_options / sizeof *provide_options,
    .settings_size = sizeof(struct provide_options),
    .defaults = &provide_defaults,
    .run = provide_run,
};
