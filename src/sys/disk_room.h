/* disk_room.h: can a folder be written, and is there room in it? */
#ifndef BERTH_SYS_DISK_ROOM_H
#define BERTH_SYS_DISK_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is something wrong with a folder that a daemon writes in? Less than 64 MiB are free, or than a twentieth of a small file system; it is read-only, takes
 * no more files, or is not there. `ret` gets the words, which name the folder. */
bool disk_room_lacks(const char *path, char *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
