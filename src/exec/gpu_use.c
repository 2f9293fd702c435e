/* gpu_use.c: how busy the GPUs of a job are. */
#include "exec/gpu_use.h"

#include "exec/gpu_give.h"
#include "exec/nvml.h"
#include "exec/probe_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVIDIA_VARIABLE "vCUDA_VISIBLE_DEVICES="
#define AMD_NODE "d/dev/dri/renderD"

struct gpu_use {
    char root[256];
    struct nvml_watch *nvidia; /* or NULL */
    uint32_t nvidia_count, amd_count;
    int amd[GPUS_FOUND_MAX]; /* minors of their render nodes */
};

/* The ids in a list with commas between; returns how many. The text is cut at them. */
static size_t ids_split(char *text, const char *ids[GPUS_FOUND_MAX])
{
    size_t count = 0;

    for (char *rest = NULL, *id = strtok_r(text, ",", &rest); id && count < GPUS_FOUND_MAX;
         id = strtok_r(NULL, ",", &rest))
        ids[count++] = id;
    return count;
}

struct gpu_use *gpu_use_new(const char *root, const char *words, size_t len)
{
    struct gpu_use *use = mem_alloc(sizeof *use);

    memset(use, 0, sizeof *use);
    snprintf(use->root, sizeof use->root, "%s", root);
    for (const char *word = NULL; (word = gpu_word_next(words, len, word));) {
        if (!strncmp(word, AMD_NODE, strlen(AMD_NODE)) && use->amd_count < GPUS_FOUND_MAX) {
            use->amd[use->amd_count++] = atoi(word + strlen(AMD_NODE));
        } else if (!strncmp(word, NVIDIA_VARIABLE, strlen(NVIDIA_VARIABLE)) && !use->nvidia) {
            char *text = mem_dup(word + strlen(NVIDIA_VARIABLE), strlen(word + strlen(NVIDIA_VARIABLE)));
            const char *ids[GPUS_FOUND_MAX];

            use->nvidia_count = (uint32_t)ids_split(text, ids);
            if (use->nvidia_count)
                use->nvidia = nvml_watch_new(root, ids, use->nvidia_count);
            free(text);
        }
    }
    if (use->nvidia || use->amd_count)
        return use;
    free(use);
    return NULL;
}

static int64_t amd_number(const struct gpu_use *use, uint32_t place, const char *name)
{
    char path[128];
    int64_t number;

    snprintf(path, sizeof path, "/sys/class/drm/renderD%d/device/%s", use->amd[place], name);
    return rooted_integer(use->root, path, &number) ? number : -1;
}

bool gpu_use_read(struct gpu_use *use, int64_t *ret_percent, int64_t *ret_memory)
{
    struct nvml_use nvidia = {-1, -1};
    double busy = 0;
    int64_t memory = 0;
    bool known = false;

    if (use->nvidia)
        nvml_watch_read(use->nvidia, &nvidia);
    if (nvidia.busy >= 0 || nvidia.memory >= 0) {
        known = true;
        busy = nvidia.busy > 0 ? nvidia.busy : 0;
        memory = nvidia.memory > 0 ? nvidia.memory : 0;
    }
    for (uint32_t i = 0; i < use->amd_count; i++) {
        int64_t percent = amd_number(use, i, "gpu_busy_percent"), bytes = amd_number(use, i, "mem_info_vram_used");

        known = known || percent >= 0 || bytes >= 0;
        busy += percent >= 0 && percent <= 100 ? (double)percent / 100 : 0;
        memory += bytes >= 0 && bytes < INT64_MAX / 128 ? bytes : 0;
    }
    busy = busy * 100 / (use->nvidia_count + use->amd_count);
    *ret_percent = busy > 100 ? 100 : (int64_t)(busy + 0.5);
    *ret_memory = memory;
    return known;
}

void gpu_use_free(struct gpu_use *use)
{
    if (!use)
        return;
    nvml_watch_free(use->nvidia);
    free(use);
}
