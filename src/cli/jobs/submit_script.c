/* submit_script.c: makes the ad of a script, as berth run makes that of a command. */
#include "cli/jobs/submit_script.h"
#include "cli/jobs/run_parts.h"
#include "cli/term/report.h"

#include <stdlib.h>
#include <string.h>

bool submit_script_says(const struct submit_script *script)
{
    return script->name || script->cpus > 0 || script->gpus || script->memory || script->disk || script->time ||
           script->inputs.count || script->outputs.count || script->variables.count;
}

struct tree *submit_script_ad(struct symbols *symbols, const struct submit_script *script, int word_count, char **words)
{
    struct run_settings settings = {.cpus = script->cpus,
                                    .retries = UINT64_MAX,
                                    .gpus = script->gpus,
                                    .memory = script->memory,
                                    .disk = script->disk,
                                    .time = script->time,
                                    .inputs = script->inputs,
                                    .outputs = script->outputs,
                                    .variables = script->variables,
                                    .name = script->name};
    char **all = mem_alloc((size_t)(word_count + 1) * sizeof *all);
    struct run_along along;
    struct err err = {0};
    struct buf path;
    struct tree *ad;

    buf_init(&path);
    buf_addf(&path, "%s%s", strchr(script->file, '/') ? "" : "./", script->file);
    all[0] = (char *)(uintptr_t)buf_string(&path);
    memcpy(all + 1, words, (size_t)word_count * sizeof *all);
    run_along_init(&along);
    ad = run_ad(symbols, &settings, &along, word_count + 1, all, &err);
    if (!ad)
        report("--script: %s", err.text);
    run_along_done(&along);
    buf_done(&path);
    free(all);
    return ad;
}
