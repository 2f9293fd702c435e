/* cache_boot.c: what of the provider's cache is trusted after the machine has started anew.
 *
 * A file that was whole may lack its last bytes after a power cut, with its length right: nothing in the cache was waited for until it was
 * on disk, which would cost more than it is worth. So after another boot each is as a part that was fetched before: it is read, and what is not
 * right is fetched again. */
#include "live/providerd/providerd_parts.h"

#include "sys/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK ".boot" /* the boot in which the cache was written */
#define MARK_MAX 64

static void text_read(int folder, const char *name, char ret[MARK_MAX])
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, ret, MARK_MAX - 1);

    ret[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static void mark_write(int folder, const char *boot)
{
    int fd = openat(folder, MARK, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return; /* then all is looked at the next time, too */
    if (write(fd, boot, strlen(boot)) != (ssize_t)strlen(boot))
        unlinkat(folder, MARK, 0);
    close(fd);
}

static void file_distrust(int folder, const char *name)
{
    char part[HASH_DIGITS + 16];

    if (hash_is_good(name, strlen(name))) {
        snprintf(part, sizeof part, "%.*s.part", HASH_DIGITS, name);
        if (renameat(folder, name, folder, part) < 0)
            unlinkat(folder, name, 0);
    } else if (!strncmp(name, "data-", 5)) {
        unlinkat(folder, name, 0);
    }
}

void cache_boot(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), again = fd < 0 ? -1 : dup(fd);
    char now[MARK_MAX], then[MARK_MAX];
    struct dirent *row;
    DIR *dir;

    if (fd < 0)
        return;
    text_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", now);
    text_read(fd, MARK, then);
    dir = *now && !strcmp(now, then) ? NULL : again < 0 ? NULL : fdopendir(again);
    while (dir && (row = readdir(dir)))
        file_distrust(fd, row->d_name);
    if (dir) {
        closedir(dir);
        mark_write(fd, now);
    } else if (again >= 0) {
        close(again);
    }
    close(fd);
}
