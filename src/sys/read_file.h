/* read_file.h: files that are read as a whole. */
#ifndef BERTH_SYS_READ_FILE_H
#define BERTH_SYS_READ_FILE_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 and the bytes appended; 0 when there is no such file; -1, also when it has more than `max` bytes, or `plain` is wanted and it is a
 * pipe or a device, of which there might be no end. The error does not name the file. */
int read_file(const char *path, size_t max, bool plain, struct buf *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
