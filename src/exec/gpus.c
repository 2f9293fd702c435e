/* gpus.c: graphics processors, by what their drivers show.
 *
 *     libnvidia-ml.so.1                          NVIDIA's own library, where there is one: UUIDs, memory, capability, instances (MIG)
 *     /proc/driver/nvidia/gpus/BUS/information   what NVIDIA's own driver says
 *     /proc/driver/nvidia/capabilities/gpuN/mig  the instances of a GPU that is split
 *     /sys/class/kfd/kfd/topology/nodes/N        what AMD's driver for computing says
 *     /sys/class/drm/cardN/device                the others, and those of NVIDIA that another driver has
 *     /dev/nvidiaN                               all that is seen inside some containers
 *
 * All are described in Gpus; those that can be given to jobs (gpu_give.c) have a Uuid there, and GpuCount says how many they are.
 * Adapters that only show a picture (of virtual machines, of boards for remote control) are none. */
#include "exec/gpus.h"
#include "exec/nvml.h"
#include "exec/probe_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct finding {
    const char *root;
    struct gpus *gpus;
    const struct gpu *whole; /* whose instances are looked for */
    int gi;
};

#define NVIDIA "NVIDIA"

static const struct vendor {
    const char *id, *name;
    enum gpu_vendor kind;
} vendors[] = {
    {"0x10de", NVIDIA, GPU_NVIDIA},
    {"0x1002", "AMD", GPU_AMD},
    {"0x8086", "Intel", GPU_OTHER},
};

static bool is_numbered(const char *name, const char *stem)
{
    size_t len = strlen(stem), digits = strncmp(name, stem, len) == 0 ? strspn(name + len, "0123456789") : 0;

    return digits && digits < 6 && !name[len + digits];
}

static struct gpu *gpus_add(struct gpus *gpus, const struct vendor *vendor)
{
    struct gpu *gpu;

    if (gpus->count == GPUS_FOUND_MAX)
        return NULL;
    gpu = &gpus->list[gpus->count++];
    *gpu = (struct gpu){.vendor = vendor->name, .kind = vendor->kind, .minor = -1};
    return gpu;
}

static void node_add(struct gpu *gpu, const char *format, int number)
{
    if (gpu->node_count < GPU_NODES_MAX)
        snprintf(gpu->nodes[gpu->node_count++], GPU_NODE_MAX, format, number);
}

/* The library writes 00000000:1B:00.0 where the kernel writes 0000:1b:00.0. */
static bool same_bus(const char *a, const char *b)
{
    size_t len_a = strlen(a), len_b = strlen(b), len = len_a < len_b ? len_a : len_b;

    return len >= 12 && strcasecmp(a + len_a - 12, b + len_b - 12) == 0;
}

static struct gpu *gpus_at(struct gpus *gpus, const char *bus)
{
    for (uint32_t i = 0; *bus && i < gpus->count; i++)
        if (strcmp(gpus->list[i].bus, bus) == 0 || same_bus(gpus->list[i].bus, bus))
            return &gpus->list[i];
    return NULL;
}

static bool node_is_there(const char *root, const char *node)
{
    char whole[PROBE_PATH_MAX];

    return rooted_path(root, node, whole) && access(whole, F_OK) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- NVIDIA */

/* The driver hides the number from some: GPU-????????-.... */
static void uuid_set(struct gpu *gpu, const char *uuid)
{
    if (!*uuid || strchr(uuid, '?') || strpbrk(uuid, " ,;"))
        return;
    snprintf(gpu->id, sizeof gpu->id, "%.95s", uuid);
    gpu->has_uuid = true;
}

/* Adds a GPU that NVIDIA's driver tells of. The driver tells of all in the machine, also where only some were given to this container. */
static void add_nvidia(void *user, const char *name)
{
    struct finding *finding = user;
    char path[PROBE_PATH_MAX], text_of[GPU_ID_MAX];
    struct gpu *gpu;
    struct buf text;
    int64_t number;

    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", name);
    buf_init(&text);
    if (rooted_read(finding->root, path, &text) && !gpus_at(finding->gpus, name) &&
        (gpu = gpus_add(finding->gpus, &vendors[0]))) {
        text_clean(name, strlen(name), gpu->bus, sizeof gpu->bus);
        if (!text_value(text.text, "Model", ':', gpu->name, sizeof gpu->name))
            strcpy(gpu->name, NVIDIA);
        if (text_value(text.text, "GPU UUID", ':', text_of, sizeof text_of))
            uuid_set(gpu, text_of);
        if (text_value(text.text, "Device Minor", ':', text_of, sizeof text_of) && text_integer(text_of, &number) &&
            number < 100000) {
            gpu->minor = (int32_t)number;
            node_add(gpu, "/dev/nvidia%d", gpu->minor);
            if (!node_is_there(finding->root, gpu->nodes[0]))
                finding->gpus->count--;
        }
    }
    buf_done(&text);
}

/* Adds the device file that lets whoever has it use an instance, or a part of one. */
static void access_add(const char *root, struct gpu *gpu, const char *folder)
{
    char path[PROBE_PATH_MAX], number[32];
    struct buf text;
    int64_t minor;

    snprintf(path, sizeof path, "%.200s/access", folder);
    buf_init(&text);
    if (rooted_read(root, path, &text) && text_value(text.text, "DeviceFileMinor", ':', number, sizeof number) &&
        text_integer(number, &minor) && minor < 1000000)
        node_add(gpu, "/dev/nvidia-caps/nvidia-cap%d", (int)minor);
    buf_done(&text);
}

static void instance_nodes(const char *root, struct gpu *gpu, int gi, int ci)
{
    char folder[128];

    snprintf(folder, sizeof folder, "/proc/driver/nvidia/capabilities/gpu%d/mig/gi%d", gpu->minor, gi);
    access_add(root, gpu, folder);
    snprintf(folder, sizeof folder, "/proc/driver/nvidia/capabilities/gpu%d/mig/gi%d/ci%d", gpu->minor, gi, ci);
    access_add(root, gpu, folder);
}

/* Adds an instance that only the files tell of. CUDA knows it by the older form of its name. */
static void add_instance(void *user, const char *name)
{
    struct finding *finding = user;
    struct gpu *gpu;
    int ci;

    if (!is_numbered(name, "ci") || !(gpu = gpus_add(finding->gpus, &vendors[0])))
        return;
    ci = atoi(name + 2);
    snprintf(gpu->name, sizeof gpu->name, "%.150s MIG %d/%d", finding->whole->name, finding->gi, ci);
    memcpy(gpu->bus, finding->whole->bus, sizeof gpu->bus);
    gpu->minor = finding->whole->minor;
    node_add(gpu, "/dev/nvidia%d", gpu->minor);
    instance_nodes(finding->root, gpu, finding->gi, ci);
    if (finding->whole->has_uuid) {
        snprintf(gpu->id, sizeof gpu->id, "MIG-%.60s/%d/%d", finding->whole->id, finding->gi, ci);
        gpu->has_uuid = true;
    }
}

static void add_instances(void *user, const char *name)
{
    struct finding *finding = user;
    char path[128];

    if (!is_numbered(name, "gi"))
        return;
    finding->gi = atoi(name + 2);
    snprintf(path, sizeof path, "/proc/driver/nvidia/capabilities/gpu%d/mig/gi%d", finding->whole->minor, finding->gi);
    rooted_names(finding->root, path, GPUS_FOUND_MAX, add_instance, finding);
}

/* Lays what the library says over what the files say. */
static void add_listed(struct finding *finding, const struct nvml_gpu *told)
{
    struct gpu *gpu = told->instance ? NULL : gpus_at(finding->gpus, told->bus);

    for (uint32_t i = 0; !gpu && !told->instance && i < finding->gpus->count; i++) /* of a container: it has no bus */
        if (finding->gpus->list[i].kind == GPU_NVIDIA && told->minor >= 0 &&
            finding->gpus->list[i].minor == told->minor)
            gpu = &finding->gpus->list[i];
    if (!gpu && !(gpu = gpus_add(finding->gpus, &vendors[0])))
        return;
    text_clean(told->name, strlen(told->name), gpu->name, sizeof gpu->name);
    if (!*gpu->bus)
        text_clean(told->bus, strlen(told->bus), gpu->bus, sizeof gpu->bus);
    uuid_set(gpu, told->uuid);
    gpu->memory = told->memory;
    gpu->capability = told->major_cap > 0 && told->major_cap < 1000 ? told->major_cap + told->sub_cap % 10 / 10.0 : 0;
    gpu->split = told->split;
    if (told->minor >= 0 && gpu->minor < 0)
        gpu->minor = told->minor;
    if (!gpu->node_count && gpu->minor >= 0)
        node_add(gpu, "/dev/nvidia%d", gpu->minor);
    if (told->instance)
        instance_nodes(finding->root, gpu, told->gi, told->ci);
}

static void add_device(void *user, const char *name)
{
    struct finding *finding = user;
    struct gpu *gpu;

    if (!is_numbered(name, "nvidia") || !(gpu = gpus_add(finding->gpus, &vendors[0])))
        return;
    strcpy(gpu->name, NVIDIA);
    gpu->minor = (int32_t)atoi(name + 6);
    node_add(gpu, "/dev/nvidia%d", gpu->minor);
}

/* NVIDIA's own driver is there: then so may be its library. */
static void find_nvidia(struct finding *finding)
{
    struct nvml_gpu *told;
    size_t count;
    uint32_t found;

    rooted_names(finding->root, "/proc/driver/nvidia/gpus", GPUS_FOUND_MAX, add_nvidia, finding);
    if (!finding->gpus->count)
        rooted_names(finding->root, "/dev", 8192, add_device, finding);
    if (!finding->gpus->count)
        return;
    told = mem_alloc(GPUS_FOUND_MAX * sizeof *told);
    count = nvml_list(finding->root, told, GPUS_FOUND_MAX, finding->gpus->why, sizeof finding->gpus->why);
    for (size_t i = 0; i < count; i++)
        add_listed(finding, &told[i]);
    free(told);
    found = finding->gpus->count;
    for (uint32_t i = 0; !count && i < found; i++) {
        struct gpu whole = finding->gpus->list[i];
        uint32_t before = finding->gpus->count;
        char path[128];

        finding->whole = &whole;
        snprintf(path, sizeof path, "/proc/driver/nvidia/capabilities/gpu%d/mig", whole.minor);
        rooted_names(finding->root, path, GPUS_FOUND_MAX, add_instances, finding);
        finding->gpus->list[i].split = finding->gpus->count > before;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- AMD */

/* A number of a file of lines "name value"; 0: it is not there. */
static int64_t property(const char *text, const char *name)
{
    size_t len = strlen(name);
    int64_t number = 0;

    while (text && *text) {
        if (strncmp(text, name, len) == 0 && text[len] == ' ')
            return text_integer(text + len, &number) ? number : 0;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return 0;
}

static int64_t bank_size(const char *root, const char *node)
{
    char path[PROBE_PATH_MAX];
    struct buf text;
    int64_t size = 0;

    snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%.20s/mem_banks/0/properties", node);
    buf_init(&text);
    if (rooted_read(root, path, &text))
        size = property(text.text, "size_in_bytes");
    buf_done(&text);
    return size;
}

/* Adds a node of AMD's driver that computes: those without SIMD units are processors. */
static void add_kfd(void *user, const char *name)
{
    struct finding *finding = user;
    char path[PROBE_PATH_MAX], bus[64] = "";
    struct buf text;
    struct gpu *gpu;
    int64_t minor, version, unique;

    snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%.20s/properties", name);
    buf_init(&text);
    if (rooted_read(finding->root, path, &text) && property(text.text, "simd_count") > 0 &&
        (minor = property(text.text, "drm_render_minor")) >= 128 && minor < 100000) {
        snprintf(path, sizeof path, "/sys/class/drm/renderD%d/device", (int)minor);
        rooted_link(finding->root, path, bus, sizeof bus);
        gpu = gpus_at(finding->gpus, bus);
        if (gpu || (gpu = gpus_add(finding->gpus, &vendors[1]))) {
            version = property(text.text, "gfx_target_version");
            unique = property(text.text, "unique_id");
            if (!*gpu->name)
                strcpy(gpu->name, "AMD");
            memcpy(gpu->bus, bus, sizeof gpu->bus);
            gpu->minor = (int32_t)minor;
            gpu->node_count = 0;
            node_add(gpu, "/dev/dri/renderD%d", gpu->minor);
            if (!gpu->memory)
                gpu->memory = bank_size(finding->root, name);
            gpu->capability =
                version > 0 && version < 1000000 ? (double)(version / 10000) + (double)(version / 100 % 100) / 10 : 0;
            if (unique > 0 && unique < INT64_MAX) {
                snprintf(gpu->id, sizeof gpu->id, "GPU-%016llx", (unsigned long long)unique);
                gpu->has_uuid = true;
            }
        }
    }
    buf_done(&text);
}

/* --------------------------------------------------------------------------------------------------------------- others */

static void add_card(void *user, const char *name)
{
    struct finding *finding = user;
    char path[PROBE_PATH_MAX], id[32], bus[64] = "", product[32] = "?";
    const struct vendor *vendor = NULL;
    struct gpu *gpu;

    if (!is_numbered(name, "card"))
        return;
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/vendor", name);
    if (!rooted_line(finding->root, path, id, sizeof id))
        return;
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strcmp(vendors[i].id, id) == 0)
            vendor = &vendors[i];
    snprintf(path, sizeof path, "/sys/class/drm/%s/device", name);
    rooted_link(finding->root, path, bus, sizeof bus);
    if (!vendor || gpus_at(finding->gpus, bus) || !(gpu = gpus_add(finding->gpus, vendor)))
        return;
    strcpy(gpu->bus, bus);
    node_add(gpu, "/dev/dri/card%d", atoi(name + 4));
    gpu->kind = GPU_OTHER; /* until its driver for computing tells of it */
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/mem_info_vram_total", name);
    rooted_integer(finding->root, path, &gpu->memory);
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/product_name", name);
    if (rooted_line(finding->root, path, gpu->name, sizeof gpu->name))
        return;
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/device", name);
    rooted_line(finding->root, path, product, sizeof product);
    snprintf(gpu->name, sizeof gpu->name, "%s %s", vendor->name, product); /* the driver has a number for it only */
}

struct gpus *gpus_find(const char *root)
{
    struct gpus *gpus = mem_alloc(sizeof *gpus);
    struct finding finding = {.root = root, .gpus = gpus};

    memset(gpus, 0, sizeof *gpus);
    find_nvidia(&finding);
    rooted_names(root, "/sys/class/drm", 1024, add_card, &finding);
    rooted_names(root, "/sys/class/kfd/kfd/topology/nodes", 1024, add_kfd, &finding);
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->list[i].vendor == vendors[1].name && gpus->list[i].minor >= 0)
            gpus->list[i].kind = GPU_AMD;
    return gpus;
}

/* --------------------------------------------------------------------------------------------------------------- the ad */

/* A name that were missing would be read from the machine around it. */
static void write_unknown(struct facts *facts, const char *name)
{
    build_undefined(&facts->build);
    facts_name(facts, name);
}

static void write_gpu(struct facts *facts, const struct gpu *gpu, uint32_t index, bool settled)
{
    uint32_t outside = facts->count, place;
    bool given;

    facts->count = 0;
    facts_string(facts, "Name", gpu->name);
    facts_string(facts, "Vendor", gpu->vendor);
    facts_string(facts, "Bus", gpu->bus);
    facts_string(facts, "Device", gpu->node_count ? gpu->nodes[0] : "");
    given = settled && *gpu->id;
    if (gpu->memory > 0)
        facts_integer(facts, "Memory", gpu->memory);
    else if (given)
        write_unknown(facts, "Memory");
    if (gpu->capability > 0)
        facts_real(facts, "Capability", gpu->capability);
    else if (given)
        write_unknown(facts, "Capability");
    if (given) {
        facts_string(facts, "Uuid", gpu->id);
        facts_integer(facts, "Index", index);
    }
    build_ad(&facts->build, facts->count, &place);
    facts->count = outside;
}

void gpus_write(struct facts *facts, const char *root, const struct gpus *settled)
{
    struct gpus *found = settled ? NULL : gpus_find(root);
    const struct gpus *gpus = settled ? settled : found;

    facts_integer(facts, "GpuCount", settled ? gpus_free(settled) : 0);
    for (uint32_t i = 0; i < gpus->count; i++)
        write_gpu(facts, &gpus->list[i], i, settled != NULL);
    build_bind(&facts->build, EXPR_LIST, gpus->count);
    facts_name(facts, "Gpus");
    free(found);
}
