/* slow_disk.c: to be preloaded: each write at a place in a file takes a while longer while the file $SLOW_DISK is there:
 * the milliseconds that are its bytes' number, or half a second when it is empty. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t write_fn(int fd, const void *bytes, size_t count, off64_t place);

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place)
{
    write_fn *real = (write_fn *)dlsym(RTLD_NEXT, "pwrite64");
    const char *path = getenv("SLOW_DISK");
    struct stat file;

    if (path && stat(path, &file) == 0)
        usleep(1000 * (file.st_size ? (useconds_t)file.st_size : 500));
    return real(fd, bytes, count, place);
}
