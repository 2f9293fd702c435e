/* disk_room.c: can a folder be written, and is there room in it? */
#include "sys/disk_room.h"

#include "sys/confined_path.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define RESERVE (INT64_C(64) << 20) /* bytes that stay free for a daemon's own rows, or: */
#define RESERVE_PART 20             /* one part in so many of a small file system */

bool disk_room_lacks(const char *path, char *ret, size_t size)
{
    struct statvfs st;
    double room, whole, reserve;

    if (statvfs(path, &st) < 0) {
        snprintf(ret, size, "%.200s: %s", path, strerror(errno));
        return true;
    }
    room = (double)st.f_bavail * (double)st.f_frsize;
    whole = (double)st.f_blocks * (double)st.f_frsize;
    reserve = whole / RESERVE_PART < (double)RESERVE ? whole / RESERVE_PART : (double)RESERVE;
    if (st.f_flag & ST_RDONLY || confined_is_readonly(path))
        snprintf(ret, size, "%.200s: the file system is read-only", path);
    else if (room < reserve)
        snprintf(ret, size, "%.200s: only %.1f MiB are free", path, room / (1 << 20));
    else if (st.f_files && !st.f_favail)
        snprintf(ret, size, "%.200s: the file system takes no more files", path);
    else
        return false;
    return true;
}
