/* run_ad.c: the ad of a job of `berth run`: its command, its environment and what it takes along. */
#include "cli/jobs/environment.h"
#include "cli/jobs/run_parts.h"
#include "lang/form/form.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
    environment_print(&text, settings->variables.items, settings->variables.count, settings->all_variables);
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
