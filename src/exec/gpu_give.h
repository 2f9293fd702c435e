/* gpu_give.h: what goes with some GPUs into a sandbox, as words, each with its NUL and a letter before it that says what it is:
 *
 *     d/dev/nvidia0    a device file          g44     a group that may use one              b/sys/bus/pci   a folder to be seen, read-only
 *     vCUDA_VISIBLE_DEVICES=GPU-5d5b...       l/run/opengl-driver/lib                       a variable; a folder of libraries
 *     i/usr/lib64/libcuda.so.1                a library of the driver, for a job in an image, which does not see the machine's
 *
 * The agent makes them of the claim's GPUs, the claim's folder keeps them (record.h), and the launcher does what they say. */
#ifndef BERTH_EXEC_GPU_GIVE_H
#define BERTH_EXEC_GPU_GIVE_H

#include "exec/gpus.h"
#include "lang/base/buf.h"
#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_WORD_DEVICE 'd'
#define GPU_WORD_GROUP 'g'
#define GPU_WORD_SEEN 'b'
#define GPU_WORD_VARIABLE 'v'
#define GPU_WORD_LIBRARIES 'l'
#define GPU_WORD_LIBRARY 'i'
#define GPU_IMAGE_LIBRARIES "/run/berth-gpu" /* where those are in an image */
#define GPU_SHARE_MAX 65536                  /* bytes of all words */
#define GPU_GROUPS_MAX 8

/* Writes the words for these GPUs into an initialised buffer: nothing, if there are none. -1: one of them, or a file that it needs, is not there
 * now. */
int gpus_share(const struct gpus *gpus, const char *const *ids, size_t count, struct buf *out, struct err *err);

/* The next word after that one (NULL: the first) in words of that many bytes; NULL: there are no more. */
const char *gpu_word_next(const char *words, size_t len, const char *word);

#ifdef __cplusplus
}
#endif
#endif
