/* gpu_give.c: which GPUs can be given to jobs, and what goes with them into a sandbox. */
#define _GNU_SOURCE
#include "exec/gpu_give.h"
#include "exec/probe_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first two are needed to compute; tools that look at how programs run need the third. */
static const char *const nvidia_controls[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", NULL};
static const char *const amd_controls[] = {"/dev/kfd", NULL};
static const char *const no_controls[] = {NULL};

/* Folders of the kernel that the drivers' libraries read, and folders outside /usr where their libraries lie on some machines. */
static const char *const seen_folders[] = {"/sys/devices/system/cpu",
                                           "/sys/devices/system/node",
                                           "/sys/bus/pci",
                                           "/sys/class/kfd",
                                           "/sys/devices/virtual/kfd",
                                           "/sys/class/drm",
                                           "/sys/module/nvidia",
                                           "/sys/module/amdgpu",
                                           "/etc/OpenCL",
                                           "/etc/vulkan"};
static const char *const library_folders[] = {"/run/opengl-driver/lib", "/run/nvidia/driver/usr/lib64",
                                              "/run/nvidia/driver/usr/lib/x86_64-linux-gnu", "/opt/nvidia/lib64",
                                              "/opt/rocm/lib"};

/* Where the libraries of NVIDIA's driver lie, which must be those of the kernel's part of it, and so cannot be an image's own. */
static const char *const driver_folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                             "/usr/lib"};
static const char *const driver_libraries[] = {"libcuda.so", "libcudadebugger.so", "libnvidia-", "libnvcuvid.so",
                                               "libnvoptix.so"};
#define DRIVER_LIBRARIES_MAX 128

const char *const *gpu_controls(enum gpu_vendor kind, size_t *ret_needed)
{
    *ret_needed = kind == GPU_NVIDIA ? 2 : kind == GPU_AMD ? 1 : 0;
    return kind == GPU_NVIDIA ? nvidia_controls : kind == GPU_AMD ? amd_controls : no_controls;
}

/* ------------------------------------------------------------------------------------------------------------ settling */

/* Why a job could not use that device file; NULL: it could. A job of root's gets the file's group. */
static const char *node_lacks(const char *root, const char *node)
{
    char path[PROBE_PATH_MAX];
    struct stat st;

    if (!rooted_path(root, node, path) || stat(path, &st) < 0)
        return "there is no";
    if ((st.st_mode & 0006) == 0006)
        return NULL;
    if (geteuid() == 0)
        return (st.st_mode & 0060) == 0060 ? NULL : "jobs may not use";
    return access(path, R_OK | W_OK) == 0 ? NULL : "this user may not use";
}

/* Is it one of those that were left to us? A batch system that has given us some of the machine's GPUs says so by this variable. */
static bool is_ours(const struct gpu *gpu, uint32_t index)
{
    const char *list = gpu->kind == GPU_NVIDIA ? getenv("CUDA_VISIBLE_DEVICES") : NULL;

    while (list && *list) {
        size_t len = strcspn(list, ",");
        char *end;
        unsigned long number = strtoul(list, &end, 10);

        if ((end == list + len && len && number == index) || (len >= 4 && strncmp(gpu->id, list, len) == 0))
            return true;
        list += len + (list[len] == ',');
    }
    return !(gpu->kind == GPU_NVIDIA && getenv("CUDA_VISIBLE_DEVICES"));
}

static void lose(struct gpus *gpus, struct gpu *gpu, const char *why, const char *what)
{
    if (!*gpus->why)
        snprintf(gpus->why, sizeof gpus->why, "%.100s: %s%s%s", gpu->name, why, *what ? " " : "", what);
    gpu->id[0] = '\0';
}

/* Does it lack one of these files? Then it is lost. */
static bool lacks(struct gpus *gpus, struct gpu *gpu, const char *root, const char *node)
{
    const char *why = node_lacks(root, node);

    if (why)
        lose(gpus, gpu, why, node);
    return why != NULL;
}

static void settle_one(struct gpus *gpus, struct gpu *gpu, uint32_t index, const char *root, bool sandbox)
{
    size_t needed;
    const char *const *controls = gpu_controls(gpu->kind, &needed);

    if (gpu->split || gpu->kind == GPU_OTHER || !gpu->node_count) {
        if (gpu->kind != GPU_OTHER && !gpu->split)
            lose(gpus, gpu, "its driver shows no device file", "");
        gpu->id[0] = '\0'; /* nobody expects that a picture or a whole can be given: that is no news */
        return;
    }
    if (!*gpu->id) /* the driver tells no number: then by its place */
        snprintf(gpu->id, sizeof gpu->id, "%s-%.60s", gpu->kind == GPU_NVIDIA ? "nvidia" : "amd",
                 strrchr(gpu->nodes[0], '/') + 1);
    if (!sandbox) {
        lose(gpus, gpu, "without a sandbox nothing keeps a job from the GPUs of others", "");
        return;
    }
    if (!*root && !is_ours(gpu, index)) {
        gpu->id[0] = '\0';
        return;
    }
    for (size_t i = 0; i < needed; i++)
        if (lacks(gpus, gpu, root, controls[i]))
            return;
    for (uint32_t i = 0; i < gpu->node_count; i++)
        if (lacks(gpus, gpu, root, gpu->nodes[i]))
            return;
}

void gpus_settle(struct gpus *gpus, const char *root, bool sandbox)
{
    uint32_t nvidia = 0;

    for (uint32_t i = 0; i < gpus->count; i++) {
        settle_one(gpus, &gpus->list[i], nvidia, root, sandbox);
        nvidia += gpus->list[i].kind == GPU_NVIDIA && !gpus->list[i].split;
    }
}

uint32_t gpus_free(const struct gpus *gpus)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gpus->count; i++)
        count += *gpus->list[i].id != '\0';
    return count;
}

const struct gpu *gpus_get(const struct gpus *gpus, const char *id)
{
    for (uint32_t i = 0; *id && i < gpus->count; i++)
        if (strcmp(gpus->list[i].id, id) == 0)
            return &gpus->list[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- sharing */

static void word_add(struct buf *out, char kind, const char *text)
{
    char word[PROBE_PATH_MAX];
    size_t len = (size_t)snprintf(word, sizeof word, "%c%s", kind, text);

    for (size_t at = 0; at < out->len; at += strlen(out->text + at) + 1)
        if (strcmp(out->text + at, word) == 0)
            return;
    if (len < sizeof word)
        buf_add(out, word, len + 1);
}

/* A device file and, where only a group may use it, that group. */
static int node_add(struct buf *out, const char *node, bool needed, struct err *err)
{
    struct stat st;
    char group[32];

    if (stat(node, &st) < 0)
        return needed ? err_set(err, "%s: %s", node, strerror(errno)) : 0;
    word_add(out, GPU_WORD_DEVICE, node);
    if ((st.st_mode & 0006) != 0006 && (st.st_mode & 0060) == 0060 && st.st_gid) {
        snprintf(group, sizeof group, "%u", (unsigned)st.st_gid);
        word_add(out, GPU_WORD_GROUP, group);
    }
    return 0;
}

static bool folder_has_library(const char *folder)
{
    static const char *const libraries[] = {"libcuda.so.1", "libhsa-runtime64.so.1"};
    char path[PROBE_PATH_MAX];

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, libraries[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void folders_add(struct buf *out)
{
    DIR *dir = opendir("/sys/devices");
    struct dirent *entry;
    char path[PROBE_PATH_MAX];

    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, "pci", 3) == 0) {
            snprintf(path, sizeof path, "/sys/devices/%s", entry->d_name);
            word_add(out, GPU_WORD_SEEN, path);
        }
    if (dir)
        closedir(dir);
    for (size_t i = 0; i < sizeof seen_folders / sizeof *seen_folders; i++)
        if (access(seen_folders[i], F_OK) == 0)
            word_add(out, GPU_WORD_SEEN, seen_folders[i]);
    for (size_t i = 0; i < sizeof library_folders / sizeof *library_folders; i++)
        if (folder_has_library(library_folders[i])) {
            word_add(out, GPU_WORD_SEEN, library_folders[i]);
            word_add(out, GPU_WORD_LIBRARIES, library_folders[i]);
        }
}

static bool is_of_driver(const char *name)
{
    for (size_t i = 0; i < sizeof driver_libraries / sizeof *driver_libraries; i++)
        if (!strncmp(name, driver_libraries[i], strlen(driver_libraries[i])) && strstr(name, ".so"))
            return true;
    return false;
}

/* The driver's libraries in the folder, if they lie there. */
static bool driver_add(struct buf *out, const char *folder)
{
    char path[PROBE_PATH_MAX];
    struct dirent *entry;
    int count = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    dir = access(path, R_OK) == 0 ? opendir(folder) : NULL;
    if (!dir)
        return false;
    while ((entry = readdir(dir)) && count < DRIVER_LIBRARIES_MAX)
        if (is_of_driver(entry->d_name)) {
            snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
            word_add(out, GPU_WORD_LIBRARY, path);
            count++;
        }
    closedir(dir);
    return true;
}

static void drivers_add(struct buf *out)
{
    bool found = false;

    for (size_t i = 0; i < sizeof library_folders / sizeof *library_folders && !found; i++)
        found = driver_add(out, library_folders[i]);
    for (size_t i = 0; i < sizeof driver_folders / sizeof *driver_folders && !found; i++)
        found = driver_add(out, driver_folders[i]);
}

/* A variable that names GPUs of a kind: as their driver knows them; else by their order among those that the job sees. */
static void variable_add(struct buf *out, const char *name, const struct gpu *const *given, size_t count,
                         enum gpu_vendor kind, bool always)
{
    struct buf text;
    int place = 0;

    buf_init(&text);
    buf_addf(&text, "%s=", name);
    for (size_t i = 0; i < count; i++) {
        if (kind != GPU_OTHER && given[i]->kind != kind)
            continue;
        if (place)
            buf_addc(&text, ',');
        if (given[i]->has_uuid || kind == GPU_OTHER)
            buf_adds(&text, given[i]->id);
        else
            buf_addf(&text, "%d", place);
        place++;
    }
    if (place || always)
        word_add(out, GPU_WORD_VARIABLE, buf_string(&text));
    buf_done(&text);
}

int gpus_share(const struct gpus *gpus, const char *const *ids, size_t count, struct buf *out, struct err *err)
{
    const struct gpu *given[GPUS_FOUND_MAX];
    bool nvidia = false;

    buf_reset(out);
    if (!count)
        return 0;
    if (count > GPUS_FOUND_MAX)
        return err_set(err, "more GPUs than there are");
    for (size_t i = 0; i < count; i++) {
        const char *const *controls;
        size_t needed;

        given[i] = gpus ? gpus_get(gpus, ids[i]) : NULL;
        if (!given[i])
            return err_set(err, "GPU %.90s is not there any more", ids[i]);
        nvidia = nvidia || given[i]->kind == GPU_NVIDIA;
        controls = gpu_controls(given[i]->kind, &needed);
        for (size_t k = 0; controls[k]; k++)
            if (node_add(out, controls[k], k < needed, err) < 0)
                return -1;
        for (uint32_t k = 0; k < given[i]->node_count; k++)
            if (node_add(out, given[i]->nodes[k], true, err) < 0)
                return -1;
    }
    folders_add(out);
    if (nvidia)
        drivers_add(out);
    variable_add(out, "BERTH_GPUS", given, count, GPU_OTHER, true);
    variable_add(out, "CUDA_VISIBLE_DEVICES", given, count, GPU_NVIDIA, true);
    variable_add(out, "ROCR_VISIBLE_DEVICES", given, count, GPU_AMD, false);
    return 0;
}

const char *gpu_word_next(const char *words, size_t len, const char *word)
{
    word = word ? word + strlen(word) + 1 : words;
    return words && word < words + len ? word : NULL;
}
