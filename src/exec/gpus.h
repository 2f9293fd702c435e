/* gpus.h: the graphics processors of this machine: what they are, and what a job needs to use one.
 *
 *     gpus_find    by what the drivers show, and NVIDIA's own library
 *     gpus_settle  which of them can be given to a job: the others lose their id, and `why` says what is missing */
#ifndef BERTH_EXEC_GPUS_H
#define BERTH_EXEC_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUS_FOUND_MAX 64 /* more are not told */
#define GPU_ID_MAX 96
#define GPU_NODES_MAX 4
#define GPU_NODE_MAX 64

enum gpu_vendor { GPU_OTHER, GPU_NVIDIA, GPU_AMD };

struct gpu {
    char name[201], bus[64];
    char id
        [GPU_ID_MAX]; /* the driver's own UUID, if `has_uuid`; else one that we made of its place; "": it cannot be given */
    bool has_uuid;
    enum gpu_vendor kind;
    const char *vendor;
    int64_t memory;    /* bytes; 0: not known */
    double capability; /* 0: not known */
    int32_t minor;     /* of /dev/nvidiaN or renderDN; -1: not known */
    bool split;        /* its instances are given, and not itself */
    uint32_t node_count;
    char nodes[GPU_NODES_MAX][GPU_NODE_MAX]; /* its device files; the first is the one that it is known by */
};

struct gpus {
    uint32_t count;
    struct gpu list[GPUS_FOUND_MAX];
    char why[256]; /* why some cannot be given; "" when all can */
};

/* Finds them; `root` as in probe.h. The caller frees the result with free(). */
struct gpus *gpus_find(const char *root);
/* `sandbox`: can jobs be kept from the devices that are not theirs? */
void gpus_settle(struct gpus *gpus, const char *root, bool sandbox);

/* How many can be given. */
uint32_t gpus_free(const struct gpus *gpus);
/* The GPU of that id; NULL: there is none that can be given. */
const struct gpu *gpus_get(const struct gpus *gpus, const char *id);

/* The device files that a job with a GPU of that kind needs beside the GPU's own; ends with NULL. A job can do without those from `ret_needed` on. */
const char *const *gpu_controls(enum gpu_vendor kind, size_t *ret_needed);

#ifdef __cplusplus
}
#endif
#endif
