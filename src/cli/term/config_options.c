/* config_options.c: the options by which a command is configured. */
#include "cli/term/config_options.h"

#include "cli/term/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int option_config_file(const char *text, void *target, struct err *err)
{
    return option_file(text, &((struct config_options *)target)->file, err);
}

static int add_item(struct config_options *options, const char *flag, const char *key, size_t key_len,
                    const char *value, struct err *err)
{
    struct config_option *item = &options->items[options->count];
    bool is_set = !strcmp(flag, "--set");

    if (options->count == CONFIG_OPTIONS_MAX)
        return err_set(err, "more than %d settings; put them into a file", CONFIG_OPTIONS_MAX);
    if (key_len >= sizeof item->key)
        return err_set(err, "there is no setting '%.60s'", key);
    snprintf(item->key, sizeof item->key, "%.*s", (int)key_len, key);
    snprintf(item->flag, sizeof item->flag, "%s%s%.*s", flag, is_set ? " " : "", is_set ? (int)key_len : 0, key);
    item->value = value;
    options->count++;
    return 0;
}

int option_config_set(const char *text, void *target, struct err *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text)
        return err_set(err, "expected KEY=VALUE, got '%.60s'", text);
    return add_item(target, "--set", text, (size_t)(equals - text), equals + 1, err);
}

#define OPTION(name, flag, key)                                               \
    int option_config_##name(const char *text, void *target, struct err *err) \
    {                                                                         \
        return add_item(target, flag, key, sizeof(key) - 1, text, err);       \
    }

OPTION(listen, "--listen", "Listen")
OPTION(state, "--state", "State")
OPTION(name, "--name", "Name")
OPTION(policy, "--policy", "Policy")
OPTION(log, "--log", "Log")
OPTION(log_level, "--log-level", "LogLevel")

void config_options_sources(const struct config_options *options, struct config_given given[CONFIG_OPTIONS_MAX],
                            struct config_sources *ret)
{
    for (size_t i = 0; i < options->count; i++)
        given[i] = (struct config_given){options->items[i].flag, options->items[i].key, options->items[i].value};
    *ret = (struct config_sources){.file = options->file,
                                   .variables = (const char *const *)environ,
                                   .given = given,
                                   .given_count = options->count,
                                   .root = geteuid() == 0};
}

/* Reports the doubts of a configuration, once in a process: a command may load it for each pool that it asks. */
static void doubts_tell(const char *doubts)
{
    static bool told;

    for (size_t len; *doubts && !told; doubts += len + (doubts[len] == '\n')) {
        len = strcspn(doubts, "\n");
        report("%.*s", (int)len, doubts);
        told = !doubts[len];
    }
}

int config_options_load(const struct config_options *options, struct config *ret)
{
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;
    struct err err = {0};

    config_options_sources(options, given, &sources);
    if (config_load(ret, &sources, &err) == 0) {
        doubts_tell(ret->doubts);
        return 0;
    }
    report("%s", err.text);
    return -1;
}
