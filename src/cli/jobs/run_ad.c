/* run_ad.c: the ad of a job of `berth run`: its command, its environment and what it takes along. */
#define _GNU_SOURCE /* environ */
#include "cli/jobs/run_parts.h"
#include "lang/form/form.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void add_string(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "%s = ", name);
    print_string(out, value, strlen(value), PRINT_PLAIN);
    buf_adds(out, ";\n");
}

static void add_list(struct buf *out, const char *name, const char *const *words, size_t count)
{
    buf_addf(out, "%s = {", name);
    for (size_t i = 0; i < count; i++) {
        buf_adds(out, i ? ", " : " ");
        print_string(out, words[i], strlen(words[i]), PRINT_PLAIN);
    }
    buf_adds(out, " };\n");
}

static void add_number(struct buf *out, const char *name, int64_t value)
{
    if (value > 0)
        buf_addf(out, "%s = %" PRId64 ";\n", name, value);
}

/* ------------------------------------------------------------------------------------------------------------ variables */

/* Variables that say where things are on this machine, who is at it, or what we say to jobs ourselves: a job has its own. */
static const char *const own_variables[] = {"HOME", "PATH",  "PWD",     "OLDPWD",  "TMPDIR",  "SHELL",
                                            "USER", "SHLVL", "LOGNAME", "_",       "DISPLAY", "WAYLAND_DISPLAY",
                                            "MAIL", "TERM",  "TTY",     "WINDOWID"};
static const char *const own_beginnings[] = {"BERTH_", "XDG_", "SSH_", "DBUS_", "GPG_"};

bool run_variable_is_name(const char *text, size_t len)
{
    return len && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") >= len &&
           !(*text >= '0' && *text <= '9');
}

static bool variable_is_own(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof own_variables / sizeof *own_variables; i++)
        if (strlen(own_variables[i]) == len && !memcmp(own_variables[i], word, len))
            return true;
    for (size_t i = 0; i < sizeof own_beginnings / sizeof *own_beginnings; i++)
        if (!strncmp(own_beginnings[i], word, strlen(own_beginnings[i])))
            return true;
    return false;
}

/* Are these words NAME=VALUE, or NAME, about one variable, as an ad has its names? */
static bool variable_is_same(const char *a, const char *b)
{
    size_t len = strcspn(a, "=");

    return len == strcspn(b, "=") && !strncasecmp(a, b, len);
}

static bool variable_is_there(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (variable_is_same(word, words[i]))
            return true;
    return false;
}

static void add_variable(struct buf *out, const char *word)
{
    size_t len = strcspn(word, "=");
    const char *value = word[len] ? word + len + 1 : getenv(word);

    value = value ? value : "";
    print_name(out, &dialect_classic, word, len);
    buf_adds(out, " = ");
    print_string(out, value, strlen(value), PRINT_PLAIN);
    buf_adds(out, "; ");
}

/* Appends the variables: those that were given, the last of each, and with --env-all those of here. */
static void add_variables(struct buf *out, const struct run_settings *settings)
{
    const struct option_words *given = &settings->variables;
    size_t count = 0;

    if (!given->count && !settings->all_variables)
        return;
    buf_adds(out, "Env = [ ");
    for (size_t i = 0; i < given->count; i++)
        if (!variable_is_there(given->items[i], given->items + i + 1, given->count - i - 1))
            add_variable(out, given->items[i]);
    for (; settings->all_variables && environ[count]; count++)
        if (run_variable_is_name(environ[count], strcspn(environ[count], "=")) &&
            !variable_is_own(environ[count], strcspn(environ[count], "=")) &&
            !variable_is_there(environ[count], given->items, given->count) &&
            !variable_is_there(environ[count], (const char *const *)environ, count))
            add_variable(out, environ[count]);
    buf_adds(out, "];\n");
}

/* --------------------------------------------------------------------------------------------------------------- whole */

/* Appends the files that it takes along: those that were named for it, those of its arguments, and its standard input. */
static void add_inputs(struct buf *out, const struct run_settings *settings, const struct run_along *along)
{
    const char *before = "Inputs = { ";

    for (size_t i = 0; i < settings->inputs.count + along->count; i++) {
        const char *name =
            i < settings->inputs.count ? settings->inputs.items[i] : along->names[i - settings->inputs.count];

        buf_adds(out, before);
        print_string(out, name, strlen(name), PRINT_PLAIN);
        before = ", ";
    }
    if (along->input >= 0) {
        buf_addf(out, "%s[ Name = \"" RUN_INPUT "\"; From = \"/proc/self/fd/%d\" ]", before, along->input);
        before = ", ";
    }
    if (*before == ',')
        buf_adds(out, " };\n");
    if (along->input >= 0)
        add_string(out, "In", RUN_INPUT);
}

struct tree *run_ad(struct symbols *symbols, const struct run_settings *settings, const struct run_along *along,
                    int word_count, char **words, struct err *err)
{
    struct tree *ad;
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[\n");
    if (settings->name)
        add_string(&text, "Name", settings->name);
    if (word_count)
        add_string(&text, "Cmd", words[0]);
    if (settings->image)
        add_string(&text, "Image", settings->image);
    if (settings->image_secret)
        add_string(&text, "ImageSecret", settings->image_secret);
    if (word_count > 1)
        add_list(&text, "Args", (const char *const *)words + 1, (size_t)word_count - 1);
    add_variables(&text, settings);
    add_inputs(&text, settings, along);
    if (settings->outputs.count)
        add_list(&text, "Outputs", settings->outputs.items, settings->outputs.count);
    if (settings->needs.count)
        add_list(&text, "Needs", settings->needs.items, settings->needs.count);
    if (settings->cpus > 0)
        buf_addf(&text, "RequestCpus = %.12g;\n", settings->cpus);
    add_number(&text, "RequestMemory", settings->memory);
    add_number(&text, "RequestDisk", settings->disk);
    if (settings->gpus)
        buf_addf(&text, "RequestGpus = %" PRIu64 ";\n", settings->gpus);
    if (settings->require_gpus)
        buf_addf(&text, "RequireGpus = %s;\n", settings->require_gpus);
    add_number(&text, "Processes", (int64_t)settings->processes);
    if (settings->processes_on)
        add_string(&text, "ProcessesOn", settings->processes_on);
    if (settings->processes_exec)
        buf_adds(&text, "ProcessesExec = true;\n");
    add_number(&text, "TimeLimit", settings->time);
    if (settings->retries != UINT64_MAX)
        buf_addf(&text, "MaxRetries = %" PRIu64 ";\n", settings->retries);
    if (settings->network)
        buf_adds(&text, "Network = true;\n");
    buf_addc(&text, ']');
    ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    buf_done(&text);
    return ad;
}
