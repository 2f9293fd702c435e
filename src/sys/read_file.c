/* read_file.c: files that are read as a whole. */
#include "sys/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, size_t max, struct buf *ret, struct err *err)
{
    size_t before = ret->len;

    for (;;) {
        ssize_t got;

        buf_grow(ret, 4096);
        got = read(fd, ret->text + ret->len, ret->room - ret->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, "%s", strerror(errno));
        if (got == 0)
            return 1;
        ret->len += (size_t)got;
        if (ret->len - before > max)
            return err_set(err, "it has more than %zu bytes", max);
    }
}

int read_file(const char *path, size_t max, bool plain, struct buf *ret, struct err *err)
{
    /* without waiting: a pipe that nobody writes to would hold us for ever */
    int fd = open(path, O_RDONLY | O_CLOEXEC | (plain ? O_NONBLOCK : 0)), result;
    size_t before = ret->len;
    struct stat status;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_set(err, "%s", strerror(errno));
    if (plain && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)))
        result = err_set(err, "it is not a plain file");
    else
        result = read_all(fd, max, ret, err);
    close(fd);
    if (result < 0)
        ret->len = before;
    return result;
}
