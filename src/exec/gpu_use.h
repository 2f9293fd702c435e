/* gpu_use.h: how busy the GPUs of a job are. Those of NVIDIA are asked by its library, those of AMD by files of its driver. */
#ifndef BERTH_EXEC_GPU_USE_H
#define BERTH_EXEC_GPU_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_use;

/* Begins to look at the GPUs that these words (gpu_give.h) give; NULL: there are none. `root` as in probe.h. */
struct gpu_use *gpu_use_new(const char *root, const char *words, size_t len);
/* How busy they were since this was last asked, in percent of all of them, and the bytes in use on them. False: nothing here can tell. */
bool gpu_use_read(struct gpu_use *use, int64_t *ret_percent, int64_t *ret_memory);
void gpu_use_free(struct gpu_use *use); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
