/* gpus.c: graphics processors, by what their drivers show.
 *
 *     /proc/driver/nvidia/gpus/BUS/information   what NVIDIA's own driver says
 *     /sys/class/drm/cardN/device                the others, and those of NVIDIA that another driver has
 *     /dev/nvidiaN                               all that is seen inside some containers
 *
 * All are described in Gpus. GpuCount is how many jobs can be given, and that is none: a job that asks for one waits, where it would run without.
 * Adapters that only show a picture (of virtual machines, of boards for remote control) are none. */
#include "exec/probe_parts.h"

#include <stdio.h>
#include <unistd.h>

struct gpu {
    char name[PROBE_TEXT_MAX + 1], bus[64], device[64];
    const char *vendor;
    int64_t memory; /* bytes; 0: not known */
};

struct gpus {
    const char *root;
    uint32_t count;
    struct gpu list[PROBE_GPUS_MAX];
};

#define NVIDIA "NVIDIA"

static const struct vendor {
    const char *id, *name;
} vendors[] = {
    {"0x10de", NVIDIA},
    {"0x1002", "AMD"},
    {"0x8086", "Intel"},
};

static bool is_numbered(const char *name, const char *stem)
{
    size_t len = strlen(stem), digits = strncmp(name, stem, len) == 0 ? strspn(name + len, "0123456789") : 0;

    return digits && digits < 6 && !name[len + digits];
}

static struct gpu *gpus_add(struct gpus *gpus)
{
    struct gpu *gpu;

    if (gpus->count == PROBE_GPUS_MAX)
        return NULL;
    gpu = &gpus->list[gpus->count++];
    memset(gpu, 0, sizeof *gpu);
    return gpu;
}

static bool gpus_have(const struct gpus *gpus, const char *bus)
{
    for (uint32_t i = 0; i < gpus->count; i++)
        if (*bus && strcmp(gpus->list[i].bus, bus) == 0)
            return true;
    return false;
}

/* Adds a GPU that NVIDIA's driver tells of. The driver tells of all in the machine, also where only some were given to this container. */
static void add_nvidia(void *user, const char *name)
{
    struct gpus *gpus = user;
    char path[PROBE_PATH_MAX], whole[PROBE_PATH_MAX], minor[16];
    struct gpu gpu = {.vendor = NVIDIA}, *place;
    struct buf text;
    int64_t number;
    bool there = true;

    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", name);
    buf_init(&text);
    if (rooted_read(gpus->root, path, &text)) {
        text_clean(name, strlen(name), gpu.bus, sizeof gpu.bus);
        if (!text_value(text.text, "Model", ':', gpu.name, sizeof gpu.name))
            strcpy(gpu.name, NVIDIA);
        if (text_value(text.text, "Device Minor", ':', minor, sizeof minor) && text_integer(minor, &number) &&
            number < 100000) {
            snprintf(gpu.device, sizeof gpu.device, "/dev/nvidia%d", (int)number);
            there = rooted_path(gpus->root, gpu.device, whole) && access(whole, F_OK) == 0;
        }
        if (there && !gpus_have(gpus, gpu.bus) && (place = gpus_add(gpus)))
            *place = gpu;
    }
    buf_done(&text);
}

static void add_card(void *user, const char *name)
{
    struct gpus *gpus = user;
    char path[PROBE_PATH_MAX], id[32], bus[64] = "", product[32] = "?";
    const struct vendor *vendor = NULL;
    struct gpu *gpu;

    if (!is_numbered(name, "card"))
        return;
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/vendor", name);
    if (!rooted_line(gpus->root, path, id, sizeof id))
        return;
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strcmp(vendors[i].id, id) == 0)
            vendor = &vendors[i];
    snprintf(path, sizeof path, "/sys/class/drm/%s/device", name);
    rooted_link(gpus->root, path, bus, sizeof bus);
    if (!vendor || gpus_have(gpus, bus) || !(gpu = gpus_add(gpus)))
        return;
    gpu->vendor = vendor->name;
    strcpy(gpu->bus, bus);
    snprintf(gpu->device, sizeof gpu->device, "/dev/dri/%.40s", name);
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/mem_info_vram_total", name);
    rooted_integer(gpus->root, path, &gpu->memory);
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/product_name", name);
    if (rooted_line(gpus->root, path, gpu->name, sizeof gpu->name))
        return;
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/device", name);
    rooted_line(gpus->root, path, product, sizeof product);
    snprintf(gpu->name, sizeof gpu->name, "%s %s", vendor->name, product); /* the driver has a number for it only */
}

static void add_device(void *user, const char *name)
{
    struct gpus *gpus = user;
    struct gpu *gpu;

    if (!is_numbered(name, "nvidia") || !(gpu = gpus_add(gpus)))
        return;
    gpu->vendor = NVIDIA;
    strcpy(gpu->name, NVIDIA);
    snprintf(gpu->device, sizeof gpu->device, "/dev/%.40s", name);
}

static void write_gpu(struct facts *facts, const struct gpu *gpu)
{
    uint32_t outside = facts->count, place;

    facts->count = 0;
    facts_string(facts, "Name", gpu->name);
    facts_string(facts, "Vendor", gpu->vendor);
    facts_string(facts, "Bus", gpu->bus);
    facts_string(facts, "Device", gpu->device);
    if (gpu->memory > 0)
        facts_integer(facts, "Memory", gpu->memory);
    build_ad(&facts->build, facts->count, &place);
    facts->count = outside;
}

void gpus_write(struct facts *facts, const char *root)
{
    struct gpus gpus = {.root = root};
    bool driver;

    rooted_names(root, "/proc/driver/nvidia/gpus", PROBE_GPUS_MAX, add_nvidia, &gpus);
    driver = gpus.count > 0;
    rooted_names(root, "/sys/class/drm", 1024, add_card, &gpus);
    for (uint32_t i = 0; i < gpus.count; i++)
        driver |= gpus.list[i].vendor == vendors[0].name;
    if (!driver)
        rooted_names(root, "/dev", 8192, add_device, &gpus);
    facts_integer(facts, "GpuCount", 0); /* what jobs can have: no sandbox has a device of them in it */
    for (uint32_t i = 0; i < gpus.count; i++)
        write_gpu(facts, &gpus.list[i]);
    build_bind(&facts->build, EXPR_LIST, gpus.count);
    facts_name(facts, "Gpus");
}
