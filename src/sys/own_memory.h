/* own_memory.h: how much memory this process has in use, and how much it may have. */
#ifndef BERTH_SYS_OWN_MEMORY_H
#define BERTH_SYS_OWN_MEMORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes in use that are the process's own: pages of files, which the kernel can drop, are not counted. 0: it cannot be told. */
int64_t own_memory_used(void);

/* Bytes that the process may have at most: those of the machine, or of a control group (version 2) that the process is in. */
int64_t own_memory_most(void);

/* Gives back to the kernel what the program has freed; takes longer the more that is. */
void own_memory_give_back(void);

#ifdef __cplusplus
}
#endif
#endif
