/* small_disk.c: to be preloaded: all disks are full while the file $SMALL_DISK is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void fill(struct statvfs *disk)
{
    const char *path = getenv("SMALL_DISK");

    if (path && access(path, F_OK) == 0)
        disk->f_bavail = 1;
}

int statvfs(const char *restrict path, struct statvfs *restrict ret)
{
    int (*real)(const char *, struct statvfs *) = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    int failed = real(path, ret);

    if (!failed)
        fill(ret);
    return failed;
}

int fstatvfs(int fd, struct statvfs *ret)
{
    int (*real)(int, struct statvfs *) = (int (*)(int, struct statvfs *))dlsym(RTLD_NEXT, "fstatvfs");
    int failed = real(fd, ret);

    if (!failed)
        fill(ret);
    return failed;
}
