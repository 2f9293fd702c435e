/* nvml.h: what NVIDIA's own library tells about GPUs. It is loaded where it is installed, and only in processes of which nothing else hangs: a
 * driver that is unwell may keep whoever asks it waiting for ever. */
#ifndef BERTH_EXEC_NVML_H
#define BERTH_EXEC_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVML_TEXT_MAX 96

/* A GPU; or, of one that is split (MIG), an instance. */
struct nvml_gpu {
    char uuid[NVML_TEXT_MAX], name[NVML_TEXT_MAX], bus[32];
    int64_t memory;             /* bytes */
    int32_t minor;              /* of /dev/nvidiaN; -1: not known */
    int32_t major_cap, sub_cap; /* compute capability; 0: not known */
    bool split;                 /* it is split: its instances are given, and not itself */
    bool instance;
    int32_t gi, ci; /* which instance */
};

/* Lists the GPUs, in a process of its own that is ended when it takes too long. Returns how many; 0 also where there is no library. `why`: what
 * was wrong; "" when nothing was. */
size_t nvml_list(const char *root, struct nvml_gpu *ret, size_t max, char *why, size_t size);

/* How busy some GPUs were since that was last asked. */
struct nvml_use {
    double
        busy; /* the sum of their shares of time with work, on average: 0 to as many as there are; below 0: not known */
    int64_t memory; /* the most bytes that were in use on them; below 0: not known */
};

/* Watches GPUs by their ids, in a thread of its own, which an unwell driver may keep for ever: nobody waits for it. NULL: there is no thread. */
struct nvml_watch;
struct nvml_watch *nvml_watch_new(const char *root, const char *const *ids, size_t count);
void nvml_watch_read(struct nvml_watch *watch, struct nvml_use *ret);
void nvml_watch_free(struct nvml_watch *watch); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
