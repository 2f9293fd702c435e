/* config.c: berth config: the settings that a daemon started here would have, and where each comes from. */
#include "cli/ask/pool_config.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/table.h"
#include "lang/base/json.h"
#include "lang/base/nearest.h"

#include <string.h>

struct config_settings {
    struct config_options config;
    const char *served, *pool, *token;
    bool trace, explain, json;
};

#define S struct config_settings
static const struct option config_table[] = {
    {0, "trace", NULL, "also what each value overrode", option_flag, offsetof(S, trace)},
    {0, "explain", NULL, "what each setting is for and what it may be, and not what it is", option_flag,
     offsetof(S, explain)},
    {0, "json", NULL, "JSON lines: an object a setting; spans in seconds, sizes in bytes", option_flag,
     offsetof(S, json)},
    {0, "served", "SECTION[/OPTION]", "what the pool serves to its agents, in place of settings", option_text,
     offsetof(S, served)},
    {0, "pool", "URL", "the pool that is asked for that", option_text, offsetof(S, pool)},
    {0, "token", "FILE", "the file of the token to show there", option_file, offsetof(S, token)},
    CONFIG_OPTION_ROWS(S),
};
#undef S

static const struct config_settings config_defaults;

static const char *const value_columns[] = {"key", "value", "from", "over"};
static const char *const explain_columns[] = {"key", "value", "default", "change", "help"};

static void add_value(struct table *table, enum config_key key, const struct config_value *value)
{
    struct buf text;

    buf_init(&text);
    if (table->json) {
        config_print_json(&text, key, value);
        table_json(table, text.text, text.len);
    } else {
        config_print(&text, key, value);
        table_text(table, text.text, text.len);
    }
    buf_done(&text);
}

/* Adds the values that were overridden, the last first. */
static void add_over(struct table *table, enum config_key key, const struct config_value *value)
{
    const char *between = "";
    struct buf text;

    buf_init(&text);
    buf_adds(&text, table->json ? "[" : "");
    for (; value; value = value->over, between = table->json ? ", " : "; ") {
        buf_adds(&text, between);
        if (table->json) {
            buf_adds(&text, "{\"value\": ");
            config_print_json(&text, key, value);
            buf_adds(&text, ", \"from\": ");
            json_quote(&text, value->from, strlen(value->from));
            buf_addc(&text, '}');
        } else {
            config_print(&text, key, value);
            buf_addf(&text, " (%s)", value->from);
        }
    }
    buf_adds(&text, table->json ? "]" : "");
    if (table->json)
        table_json(table, text.text, text.len);
    else
        table_text(table, text.text, text.len);
    buf_done(&text);
}

static void add_row(struct table *table, const struct config *config, enum config_key key, bool trace)
{
    const struct config_value *value = &config->values[key];

    table_text(table, config_row(key)->name, strlen(config_row(key)->name));
    add_value(table, key, value);
    table_text(table, value->from, strlen(value->from));
    if (trace)
        add_over(table, key, value->over);
}

/* Adds what a value may be: SECONDS, 0.001 to 86400. */
static void add_form(struct table *table, enum config_key key)
{
    const struct config_row *row = config_row(key);
    struct config_value low = {.number = row->low}, high = {.number = row->high};
    struct buf text;

    buf_init(&text);
    buf_adds(&text, row->form);
    if (row->sort == CONFIG_IS_SPAN || row->sort == CONFIG_IS_SIZE || row->sort == CONFIG_IS_COUNT) {
        buf_adds(&text, ", ");
        config_print(&text, key, &low);
        buf_adds(&text, " to ");
        config_print(&text, key, &high);
    }
    table_text(table, text.text, text.len);
    buf_done(&text);
}

/* Adds the explanation of a setting. Its default is the value that overrides no other. */
static void add_explanation(struct table *table, const struct config *config, enum config_key key)
{
    const struct config_row *row = config_row(key);
    const struct config_value *value = &config->values[key];
    const char *when = row->restart ? "restart" : "reload";

    while (value->over)
        value = value->over;
    table_text(table, row->name, strlen(row->name));
    add_form(table, key);
    add_value(table, key, value);
    table_text(table, when, strlen(when));
    table_text(table, row->help, strlen(row->help));
}

/* Finds which keys are asked for: all of them, when none is named. */
static int choose_keys(int word_count, char **words, enum config_key *ret_keys, size_t *ret_count)
{
    *ret_count = 0;
    for (int i = 0; i < word_count; i++) {
        int key = config_find(words[i], strlen(words[i]));
        struct nearest nearest;

        if (*ret_count == CONFIG_KEY_COUNT) {
            report("config wants at most %d settings", CONFIG_KEY_COUNT);
            return -1;
        }
        if (key >= 0) {
            ret_keys[(*ret_count)++] = (enum config_key)key;
            continue;
        }
        nearest_init(&nearest, words[i], strlen(words[i]));
        for (int j = 0; j < CONFIG_KEY_COUNT; j++)
            nearest_try(&nearest, config_row((enum config_key)j)->name);
        if (nearest.name)
            report("there is no setting '%.60s'; did you mean '%s'?", words[i], nearest.name);
        else
            report("there is no setting '%.60s'; `berth config` lists them", words[i]);
        return -1;
    }
    for (int i = 0; i < CONFIG_KEY_COUNT && word_count == 0; i++)
        ret_keys[(*ret_count)++] = (enum config_key)i;
    return 0;
}

/* Prints the values alone, a line each, for scripts. */
static void print_values(const struct config *config, const enum config_key *keys, size_t count)
{
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < count; i++) {
        const struct config_value *value = &config->values[keys[i]];

        if (config_row(keys[i])->sort == CONFIG_IS_TEXT)
            buf_adds(&out, value->text);
        else
            config_print(&out, keys[i], value);
        buf_addc(&out, '\n');
    }
    output_write(&out);
    buf_done(&out);
}

static void print_table(const struct config_settings *settings, const struct config *config,
                        const enum config_key *keys, size_t count)
{
    struct table table;

    if (settings->explain)
        table_init(&table, explain_columns, 5, settings->json);
    else
        table_init(&table, value_columns, settings->trace ? 4 : 3, settings->json);
    for (size_t i = 0; i < count; i++) {
        if (settings->explain)
            add_explanation(&table, config, keys[i]);
        else
            add_row(&table, config, keys[i], settings->trace);
    }
    table_finish(&table);
    table_done(&table);
}

static int config_run(const void *given, int word_count, char **words)
{
    const struct config_settings *settings = given;
    enum config_key keys[CONFIG_KEY_COUNT];
    struct config config;
    size_t count;

    if (settings->served) {
        struct connection_options pool = {.url = settings->pool, .token = settings->token, .config = settings->config};

        return pool_config_print(&pool, settings->served);
    }
    if (settings->trace && settings->explain) {
        report("--trace and --explain cannot be used together");
        return STATUS_BAD;
    }
    if (choose_keys(word_count, words, keys, &count) < 0 || config_options_load(&settings->config, &config) < 0)
        return STATUS_BAD;
    if (word_count && !settings->trace && !settings->explain && !settings->json)
        print_values(&config, keys, count);
    else
        print_table(settings, &config, keys, count);
    config_done(&config);
    return STATUS_DONE;
}

const struct command command_config = {
    .name = "config",
    .summary = "print the settings of the daemons and where each comes from",
    .usage = "[OPTIONS] [KEY...]",
    .about =
        "Prints the settings that a daemon started with the same options and environment would have. With a KEY, the "
        "value alone.\n"
        "\n"
        "A setting comes from the last of these that names it:\n"
        "\n"
        "    its default\n"
        "    the configuration file: an ad, [ Pin = 30; Lease = 2 * Pin ]\n"
        "    FILE.d/*.ad beside it, in the order of their names\n"
        "    the environment: BERTH_LISTEN, BERTH_CYCLE_INTERVAL\n"
        "    options: --listen ADDRESS, --set CycleInterval=0.1\n"
        "\n"
        "The file is that of --config, else of $BERTH_CONFIG; both must be there. Else it is "
        "$XDG_CONFIG_HOME/berth/berth.ad (~/.config/berth/berth.ad) or /etc/berth/berth.ad, if there is one. A span is "
        "a number of seconds, a relative time, or a text such as \"200 ms\" or \"2 h\"; a size is a number of bytes or "
        "a text such as \"64 MiB\". A setting that does not exist, or a value that does not fit, is refused with its "
        "place, and the status is 2.\n"
        "\n"
        "With --served it prints a section, or the value of an option, of what the pool has configured for its agents "
        "(PUT /v1/config). The setting ConfigSources names where to ask, files and URLs, in order; what was answered "
        "is kept in the state folder and used when nobody answers. Without that setting the pool is asked.",
    .examples = {{"berth config --set Lease=90 Lease Pin", "90\n30"},
                 {"BERTH_LEASE=45 berth config --trace Lease",
                  "KEY    VALUE  FROM         OVER\nLease  45     BERTH_LEASE  60 (default)"}},
    .options = config_table,
    .option_count = sizeof config_table / sizeof *config_table,
    .settings_size = sizeof(struct config_settings),
    .defaults = &config_defaults,
    .run = config_run,
};
