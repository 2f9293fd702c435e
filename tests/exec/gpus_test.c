/* gpus_test.c: GPUs by what the drivers show, on made-up machines: which can be given, under which name, by which device files; and how busy they are.
 * The first argument is a library that answers as NVIDIA's own does (common/fake_nvml.c). */
#include "exec/gpu_give.h"
#include "exec/gpu_use.h"

#include "common/tap.h"
#include "lang/base/mem.h"
#include "machines.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define UUID "GPU-12345678-aaaa-bbbb-cccc-000000000000"

static const char *library;

static void put_nvidia(const struct machine *machine)
{
    machine_put(machine, "proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t Made-up H200\nGPU UUID: \t " UUID "\nDevice Minor: \t 0\n");
    machine_put(machine, "dev/nvidia0", "");
    machine_put(machine, "dev/nvidiactl", "");
    machine_put(machine, "dev/nvidia-uvm", "");
}

/* Made-up device files are those of whoever runs the test: anybody may use them. */
static void permit(const struct machine *machine, const char *const *names)
{
    for (; *names; names++)
        chmod(folder_path(&machine->root, *names), 0666);
}

static void put_library(const struct machine *machine)
{
    FILE *from = fopen(library, "rb");
    static char bytes[4 << 20];
    size_t len = from ? fread(bytes, 1, sizeof bytes, from) : 0;

    if (from)
        fclose(from);
    machine_write(machine, "usr/lib/libnvidia-ml.so.1", bytes, len);
}

static struct gpus *settled(const struct machine *machine, bool sandbox)
{
    struct gpus *gpus = gpus_find(machine->root.path);

    gpus_settle(gpus, machine->root.path, sandbox);
    return gpus;
}

static const char *const nvidia_nodes[] = {"dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm", NULL};

static void check_files(void)
{
    struct machine machine;
    struct gpus *gpus;

    machine_init(&machine);
    put_nvidia(&machine);
    permit(&machine, nvidia_nodes);
    gpus = settled(&machine, true);
    tap_ok(gpus->count == 1 && gpus_free(gpus) == 1 && gpus_get(gpus, UUID) && !*gpus->why,
           "a GPU whose device files are there can be given, by its UUID");
    free(gpus);
    gpus = settled(&machine, false);
    tap_ok(gpus->count == 1 && !gpus_free(gpus) && strstr(gpus->why, "without a sandbox"),
           "not where nothing would keep a job from the GPUs of others");
    free(gpus);
    chmod(folder_path(&machine.root, "dev/nvidia-uvm"), 0600);
    gpus = settled(&machine, true);
    tap_ok(geteuid() != 0 || (!gpus_free(gpus) && strstr(gpus->why, "jobs may not use /dev/nvidia-uvm")),
           "nor where jobs may not use its files");
    free(gpus);
    unlink(folder_path(&machine.root, "dev/nvidia-uvm"));
    gpus = settled(&machine, true);
    tap_ok(!gpus_free(gpus) && !strcmp(gpus->why, "Made-up H200: there is no /dev/nvidia-uvm"),
           "nor where one is missing, and it is said which");
    free(gpus);
    machine_done(&machine);
}

static void check_hidden(void)
{
    struct machine machine;
    struct gpus *gpus;

    machine_init(&machine);
    put_nvidia(&machine);
    machine_put(
        &machine, "proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t Made-up H200\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\nDevice Minor: \t 0\n");
    permit(&machine, nvidia_nodes);
    gpus = settled(&machine, true);
    tap_ok(gpus_free(gpus) == 1 && gpus_get(gpus, "nvidia-nvidia0") && !gpus->list[0].has_uuid,
           "one whose UUID the driver hides is called by its place");
    free(gpus);
    machine_done(&machine);
}

static void check_split(void)
{
    static const char *const nodes[] = {"dev/nvidia0",
                                        "dev/nvidiactl",
                                        "dev/nvidia-uvm",
                                        "dev/nvidia-caps/nvidia-cap12",
                                        "dev/nvidia-caps/nvidia-cap13",
                                        "dev/nvidia-caps/nvidia-cap21",
                                        NULL};
    struct machine machine;
    const struct gpu *part;
    struct gpus *gpus;

    machine_init(&machine);
    put_nvidia(&machine);
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/gi1/access",
                "DeviceFileMinor: 12\nDeviceFileMode: 438\n");
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "DeviceFileMinor: 13\n");
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/gi2/access", "DeviceFileMinor: 21\n");
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access", "DeviceFileMinor: 22\n");
    for (const char *const *node = nodes + 3; *node; node++)
        machine_put(&machine, *node, "");
    permit(&machine, nodes);
    gpus = settled(&machine, true);
    part = gpus_get(gpus, "MIG-" UUID "/1/0");
    tap_ok(gpus->count == 3 && !gpus_get(gpus, UUID), "of a GPU that is split the whole is not given");
    tap_ok(part && part->node_count == 3 && !strcmp(part->nodes[1], "/dev/nvidia-caps/nvidia-cap12") &&
               !strcmp(part->nodes[2], "/dev/nvidia-caps/nvidia-cap13"),
           "but its instances are, with the files that let one use them");
    tap_ok(gpus_free(gpus) == 1 && strstr(gpus->why, "/dev/nvidia-caps/nvidia-cap22"), "where those are there");
    free(gpus);
    machine_done(&machine);
}

static void check_amd(void)
{
    static const char *const nodes[] = {"dev/kfd", "dev/dri/renderD128", NULL};
    struct machine machine;
    struct gpus *gpus;
    const struct gpu *gpu;

    machine_init(&machine);
    machine_put(&machine, "sys/devices/0000:03:00.0/vendor", "0x1002\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/product_name", "Made-up MI300\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/mem_info_vram_total", "206141652992\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/gpu_busy_percent", "60\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/mem_info_vram_used", "1073741824\n");
    machine_link(&machine, "sys/class/drm/card0/device", "../../../devices/0000:03:00.0");
    machine_link(&machine, "sys/class/drm/renderD128/device", "../../../devices/0000:03:00.0");
    machine_put(&machine, "sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\n");
    machine_put(&machine, "sys/class/kfd/kfd/topology/nodes/1/properties",
                "simd_count 1216\ngfx_target_version 90402\nunique_id 1234567890123456789\ndrm_render_minor 128\n");
    machine_put(&machine, "dev/dri/renderD128", "");
    gpus = settled(&machine, true);
    tap_ok(gpus->count == 1 && !gpus_free(gpus) && strstr(gpus->why, "there is no /dev/kfd"),
           "a GPU of AMD's without its control file cannot be given");
    free(gpus);
    machine_put(&machine, "dev/kfd", "");
    permit(&machine, nodes);
    gpus = settled(&machine, true);
    gpu = gpus_get(gpus, "GPU-112210f47de98115");
    tap_ok(gpu && gpu->memory == 206141652992 && gpu->capability > 9.39 && gpu->capability < 9.41 &&
               !strcmp(gpu->nodes[0], "/dev/dri/renderD128") && !strcmp(gpu->name, "Made-up MI300"),
           "with it, by its number, its render node and what its driver says of it");
    free(gpus);
    {
        static const char words[] = "d/dev/kfd\0d/dev/dri/renderD128\0vBERTH_GPUS=GPU-112210f47de98115";
        struct gpu_use *use = gpu_use_new(machine.root.path, words, sizeof words);
        int64_t percent = 0, memory = 0;

        tap_ok(use && gpu_use_read(use, &percent, &memory) && percent == 60 && memory == 1073741824,
               "and its driver says how busy it is");
        gpu_use_free(use);
    }
    machine_done(&machine);
}

static void check_library(void)
{
    static const char *const nodes[] = {"dev/nvidia0",
                                        "dev/nvidia1",
                                        "dev/nvidiactl",
                                        "dev/nvidia-uvm",
                                        "dev/nvidia-caps/nvidia-cap12",
                                        "dev/nvidia-caps/nvidia-cap13",
                                        NULL};
    static const char *const none[] = {NULL};
    static const char *const gone[] = {"GPU-gone", NULL};
    static const char words[] =
        "vCUDA_VISIBLE_DEVICES=GPU-00000000-aaaa-bbbb-cccc-000000000000,GPU-00000001-aaaa-bbbb-cccc-000000000000";
    struct machine machine;
    const struct gpu *part;
    struct gpu_use *use;
    struct gpus *gpus;
    struct err err = {0};
    struct buf share;
    int64_t percent = 0, memory = 0;
    bool known = false;

    machine_init(&machine);
    put_nvidia(&machine);
    put_library(&machine);
    for (const char *const *node = nodes; *node; node++)
        machine_put(&machine, *node, "");
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu1/mig/gi1/access", "DeviceFileMinor: 12\n");
    machine_put(&machine, "proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0/access", "DeviceFileMinor: 13\n");
    permit(&machine, nodes);
    gpus = settled(&machine, true);
    tap_ok(gpus_free(gpus) == 2 && gpus->list[0].memory == INT64_C(80) << 30 && gpus->list[0].capability > 8.9 &&
               gpus_get(gpus, "GPU-00000000-aaaa-bbbb-cccc-000000000000") == &gpus->list[0] &&
               !strcmp(gpus->list[0].bus, "0000:01:00.0"),
           "NVIDIA's library tells memory, capability and UUID, of each once");
    buf_init(&share);
    tap_ok(gpus_share(gpus, none, 0, &share, &err) == 0 && !share.len, "nothing goes with no GPU");
    tap_ok(gpus_share(gpus, gone, 1, &share, &err) < 0 && strstr(err.text, "is not there any more"),
           "one that is not there is not given");
    buf_done(&share);
    free(gpus);

    setenv("FAKE_NVML_SPLIT", "1", 1);
    gpus = settled(&machine, true);
    part = gpus_get(gpus, "MIG-00000000-aaaa-bbbb-cccc-000000000000");
    tap_ok(part && part->memory == INT64_C(10) << 30 && part->node_count == 3 &&
               !strcmp(part->nodes[0], "/dev/nvidia1") && !strcmp(part->nodes[1], "/dev/nvidia-caps/nvidia-cap12"),
           "it tells of instances, too");
    tap_ok(!gpus_get(gpus, "GPU-00000001-aaaa-bbbb-cccc-000000000000"), "and that their whole is split");
    free(gpus);
    unsetenv("FAKE_NVML_SPLIT");

    setenv("FAKE_NVML", "-2", 1);
    gpus = settled(&machine, true);
    tap_ok(strstr(gpus->why, "does not work") && gpus_get(gpus, UUID),
           "a library that does not work is told, and the files hold");
    free(gpus);
    unsetenv("FAKE_NVML");

    use = gpu_use_new(machine.root.path, words, sizeof words);
    for (int i = 0; i < 600 && !known; i++) {
        known = use && gpu_use_read(use, &percent, &memory);
        poll(NULL, 0, 50);
    }
    tap_ok(known && percent == 75 && memory == INT64_C(6) << 30, "it tells how busy they are while a job runs");
    gpu_use_free(use);
    machine_done(&machine);
}

int main(int argc, char **argv)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (argc < 2)
        return 2;
    library = argv[1];
    check_files();
    check_hidden();
    check_split();
    check_amd();
    check_library();
    return tap_done();
}
