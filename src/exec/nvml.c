/* nvml.c: what NVIDIA's own library tells about GPUs. Its functions and structures are declared here as its manual has them: nothing of it is
 * needed to build. */
#define _GNU_SOURCE
#include "exec/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libnvidia-ml.so.1"
#define LIST_SPAN 60000 /* milliseconds: a GPU that sleeps takes seconds to wake */
#define LIST_MAX 64
#define WATCH_SPAN 1000 /* milliseconds between two looks */

struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
};
struct memory_info {
    unsigned long long total, free, used;
};
struct use_info {
    unsigned gpu, memory; /* per cent of the last moments */
};

/* Name, parameters, and whether nothing can be told without it. */
#define CALLS(X)                                                               \
    X(nvmlInit_v2, (void), true)                                               \
    X(nvmlShutdown, (void), false)                                             \
    X(nvmlDeviceGetCount_v2, (unsigned *), true)                               \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned, void **), true)                \
    X(nvmlDeviceGetHandleByUUID, (const char *, void **), false)               \
    X(nvmlDeviceGetUUID, (void *, char *, unsigned), true)                     \
    X(nvmlDeviceGetName, (void *, char *, unsigned), false)                    \
    X(nvmlDeviceGetMemoryInfo, (void *, struct memory_info *), false)          \
    X(nvmlDeviceGetMinorNumber, (void *, unsigned *), false)                   \
    X(nvmlDeviceGetPciInfo_v3, (void *, struct pci_info *), false)             \
    X(nvmlDeviceGetCudaComputeCapability, (void *, int *, int *), false)       \
    X(nvmlDeviceGetMigMode, (void *, unsigned *, unsigned *), false)           \
    X(nvmlDeviceGetMaxMigDeviceCount, (void *, unsigned *), false)             \
    X(nvmlDeviceGetMigDeviceHandleByIndex, (void *, unsigned, void **), false) \
    X(nvmlDeviceGetGpuInstanceId, (void *, unsigned *), false)                 \
    X(nvmlDeviceGetComputeInstanceId, (void *, unsigned *), false)             \
    X(nvmlDeviceGetUtilizationRates, (void *, struct use_info *), false)

struct nvml {
    void *library;
#define X(name, parameters, needed) int(*name) parameters;
    CALLS(X)
#undef X
};

#define HAS(nvml, name, ...) ((nvml)->name && (nvml)->name(__VA_ARGS__) == 0)

/* Where the library lies on machines whose loader does not know of it, and below the root of a test. */
static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/" LIBRARY,
    "/usr/lib/aarch64-linux-gnu/" LIBRARY,
    "/usr/lib64/" LIBRARY,
    "/usr/lib/" LIBRARY,
    "/usr/local/nvidia/lib64/" LIBRARY,
    "/usr/lib/wsl/lib/" LIBRARY,
    "/run/opengl-driver/lib/" LIBRARY,
};

static void *library_open(const char *root)
{
    void *library = *root ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    char path[4096];

    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s", root, places[i]) < sizeof path && access(path, R_OK) == 0)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Loads the library and begins; false: it is not there, or does not work. */
static bool nvml_open(struct nvml *nvml, const char *root)
{
    bool whole = true;

    memset(nvml, 0, sizeof *nvml);
    nvml->library = library_open(root);
    if (!nvml->library)
        return false;
#define X(name, parameters, needed)                                                      \
    *(void **)&nvml->name = dlsym(nvml->library, #name); /* as its manual asks for it */ \
    whole = whole && (nvml->name || !(needed));
    CALLS(X)
#undef X
    return whole && nvml->nvmlInit_v2() == 0;
}

/* ------------------------------------------------------------------------------------------------------------- listing */

static bool gpu_read(const struct nvml *nvml, void *device, struct nvml_gpu *ret)
{
    struct memory_info memory = {0};
    struct pci_info pci = {0};
    unsigned minor = 0;
    int major = 0, sub = 0;

    memset(ret, 0, sizeof *ret);
    ret->minor = -1;
    if (nvml->nvmlDeviceGetUUID(device, ret->uuid, sizeof ret->uuid) != 0)
        return false;
    if (!HAS(nvml, nvmlDeviceGetName, device, ret->name, sizeof ret->name))
        strcpy(ret->name, "NVIDIA");
    if (HAS(nvml, nvmlDeviceGetMemoryInfo, device, &memory) && memory.total < (unsigned long long)INT64_MAX)
        ret->memory = (int64_t)memory.total;
    if (HAS(nvml, nvmlDeviceGetMinorNumber, device, &minor) && minor < 100000)
        ret->minor = (int32_t)minor;
    if (HAS(nvml, nvmlDeviceGetPciInfo_v3, device, &pci))
        snprintf(ret->bus, sizeof ret->bus, "%.31s", pci.bus_id);
    if (HAS(nvml, nvmlDeviceGetCudaComputeCapability, device, &major, &sub)) {
        ret->major_cap = major;
        ret->sub_cap = sub;
    }
    ret->uuid[NVML_TEXT_MAX - 1] = ret->name[NVML_TEXT_MAX - 1] = '\0';
    return true;
}

/* Adds the instances of a GPU that is split. */
static size_t instances_read(const struct nvml *nvml, void *device, const struct nvml_gpu *whole, struct nvml_gpu *ret,
                             size_t max)
{
    unsigned most = 0, gi = 0, ci = 0;
    size_t count = 0;
    void *part;

    if (!HAS(nvml, nvmlDeviceGetMaxMigDeviceCount, device, &most))
        return 0;
    for (unsigned i = 0; i < most && count < max; i++) {
        if (!HAS(nvml, nvmlDeviceGetMigDeviceHandleByIndex, device, i, &part) || !gpu_read(nvml, part, &ret[count]) ||
            !HAS(nvml, nvmlDeviceGetGpuInstanceId, part, &gi) || !HAS(nvml, nvmlDeviceGetComputeInstanceId, part, &ci))
            continue;
        ret[count].instance = true;
        ret[count].gi = (int32_t)gi;
        ret[count].ci = (int32_t)ci;
        ret[count].minor = whole->minor;
        ret[count].major_cap = whole->major_cap;
        ret[count].sub_cap = whole->sub_cap;
        memcpy(ret[count].bus, whole->bus, sizeof whole->bus);
        count++;
    }
    return count;
}

static size_t list_read(const struct nvml *nvml, struct nvml_gpu *ret, size_t max)
{
    unsigned found = 0, now, later;
    size_t count = 0;
    void *device;

    if (nvml->nvmlDeviceGetCount_v2(&found) != 0)
        return 0;
    for (unsigned i = 0; i < found && count < max; i++) {
        struct nvml_gpu *whole = &ret[count];

        if (nvml->nvmlDeviceGetHandleByIndex_v2(i, &device) != 0 || !gpu_read(nvml, device, whole))
            continue; /* of a GPU that was not given to this container, or is lost */
        count++;
        now = 0;
        if (HAS(nvml, nvmlDeviceGetMigMode, device, &now, &later) && now) {
            whole->split = true;
            count += instances_read(nvml, device, whole, &ret[count], max - count);
        }
    }
    return count;
}

/* In the child: an array of GPUs, and no more. */
static _Noreturn void list_write(const char *root, int out)
{
    static struct nvml_gpu list[LIST_MAX];
    struct nvml nvml;
    size_t size;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!nvml_open(&nvml, root))
        _exit(nvml.library ? 2 : 1);
    size = list_read(&nvml, list, LIST_MAX) * sizeof *list;
    for (size_t done = 0; done < size;) {
        ssize_t sent = write(out, (const char *)list + done, size - done);

        if (sent <= 0)
            _exit(3);
        done += (size_t)sent;
    }
    _exit(0);
}

static int64_t now_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

/* Reads until the other end is closed; false: that takes too long. */
static bool read_all(int fd, char *bytes, size_t room, size_t *ret_len)
{
    int64_t until = now_ms() + LIST_SPAN;
    size_t len = 0;

    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int64_t left = until - now_ms();
        ssize_t got;

        if (left <= 0 || (poll(&one, 1, (int)left) == 0 && now_ms() >= until))
            return false;
        got = read(fd, bytes + len, room - len);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0 || (len += (size_t)got) == room)
            break;
    }
    *ret_len = len;
    return true;
}

size_t nvml_list(const char *root, struct nvml_gpu *ret, size_t max, char *why, size_t size)
{
    int ends[2], status = 0;
    size_t len = 0;
    bool in_time;
    pid_t pid;

    *why = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return 0;
    pid = fork();
    if (pid == 0)
        list_write(root, ends[1]);
    close(ends[1]);
    in_time = pid > 0 && read_all(ends[0], (char *)ret, (max < LIST_MAX ? max : LIST_MAX) * sizeof *ret, &len);
    close(ends[0]);
    if (pid > 0 && !in_time)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, in_time ? 0 : WNOHANG) < 0 && errno == EINTR)
        ;
    if (!in_time)
        snprintf(why, size, "NVIDIA's driver does not answer");
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1)
        snprintf(why, size, "NVIDIA's library (" LIBRARY ") does not work");
    return !in_time || status != 0 ? 0 : len / sizeof *ret;
}

/* ------------------------------------------------------------------------------------------------------------ watching */

struct nvml_watch {
    atomic_int held; /* by how many: the last frees it */
    atomic_bool ended;
    pthread_mutex_t lock; /* of what follows; never held while the driver is asked */
    double busy;          /* the sum of all looks since it was read */
    int looks;
    int64_t memory; /* the most since then; below 0: not known */
    char root[256];
    size_t count;
    char ids[][NVML_TEXT_MAX];
};

static void watch_drop(struct nvml_watch *watch)
{
    if (atomic_fetch_sub(&watch->held, 1) != 1)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static void watch_look(struct nvml_watch *watch, const struct nvml *nvml, void *const *devices)
{
    int64_t memory = -1;
    double busy = -1;

    for (size_t i = 0; i < watch->count; i++) {
        struct memory_info info;
        struct use_info use;

        if (!devices[i])
            continue;
        if (HAS(nvml, nvmlDeviceGetUtilizationRates, devices[i], &use) && use.gpu <= 100)
            busy = (busy < 0 ? 0 : busy) + use.gpu / 100.0;
        if (HAS(nvml, nvmlDeviceGetMemoryInfo, devices[i], &info) && info.used < (unsigned long long)INT64_MAX / 64)
            memory = (memory < 0 ? 0 : memory) + (int64_t)info.used;
    }
    pthread_mutex_lock(&watch->lock);
    if (busy >= 0) {
        watch->busy += busy;
        watch->looks++;
    }
    watch->memory = memory > watch->memory ? memory : watch->memory;
    pthread_mutex_unlock(&watch->lock);
}

static void *watch_run(void *user)
{
    struct nvml_watch *watch = user;
    void *devices[LIST_MAX] = {NULL};
    struct nvml nvml;

    if (nvml_open(&nvml, watch->root) && nvml.nvmlDeviceGetHandleByUUID) {
        for (size_t i = 0; i < watch->count; i++)
            if (nvml.nvmlDeviceGetHandleByUUID(watch->ids[i], &devices[i]) != 0)
                devices[i] = NULL;
        while (!atomic_load(&watch->ended)) {
            watch_look(watch, &nvml, devices);
            poll(NULL, 0, WATCH_SPAN);
        }
    }
    watch_drop(watch);
    return NULL;
}

struct nvml_watch *nvml_watch_new(const char *root, const char *const *ids, size_t count)
{
    struct nvml_watch *watch;
    sigset_t all, before;
    pthread_t thread;
    bool begun;

    count = count < LIST_MAX ? count : LIST_MAX;
    watch = calloc(1, sizeof *watch + count * sizeof *watch->ids);
    if (!watch)
        return NULL;
    watch->count = count;
    watch->memory = -1;
    pthread_mutex_init(&watch->lock, NULL);
    atomic_store(&watch->held, 2);
    snprintf(watch->root, sizeof watch->root, "%s", root);
    for (size_t i = 0; i < count; i++)
        snprintf(watch->ids[i], NVML_TEXT_MAX, "%.95s", ids[i]);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the others */
    begun = pthread_create(&thread, NULL, watch_run, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (begun) {
        pthread_detach(thread);
        return watch;
    }
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
}

void nvml_watch_read(struct nvml_watch *watch, struct nvml_use *ret)
{
    pthread_mutex_lock(&watch->lock);
    *ret = (struct nvml_use){watch->looks ? watch->busy / watch->looks : -1, watch->memory};
    watch->busy = 0;
    watch->looks = 0;
    watch->memory = -1;
    pthread_mutex_unlock(&watch->lock);
}

void nvml_watch_free(struct nvml_watch *watch)
{
    if (!watch)
        return;
    atomic_store(&watch->ended, true);
    watch_drop(watch);
}
