/* cgroup_files.c: the small files by which the kernel is asked and told about groups. */
#include "exec/cgroup_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_PATH_MAX (CGROUP_PATH_MAX + 128)

bool group_write(const char *folder, const char *name, const char *text)
{
    char path[FILE_PATH_MAX];
    size_t len = strlen(text);
    bool written;
    int fd, why;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= FILE_PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    written = write(fd, text, len) == (ssize_t)len;
    why = errno;
    close(fd);
    errno = why;
    return written;
}

bool group_write_number(const char *folder, const char *name, int64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)number);
    return group_write(folder, name, text);
}

bool group_read(const char *folder, const char *name, char *text, size_t size)
{
    char path[FILE_PATH_MAX];
    ssize_t got;
    int fd;

    *text = '\0';
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= FILE_PATH_MAX)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

int64_t group_number(const char *folder, const char *name, const char *word)
{
    char text[CGROUP_TEXT_MAX], *at = text;

    if (!*folder || !group_read(folder, name, text, sizeof text))
        return 0;
    while (at && *word) {
        size_t len = strlen(word);

        if (!strncmp(at, word, len) && at[len] == ' ')
            return strtoll(at + len, NULL, 10);
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoll(at, NULL, 10) : 0;
}

bool words_have(const char *words, const char *word, const char *separators)
{
    size_t len = strlen(word);

    for (const char *at = words; *at;) {
        size_t span = strcspn(at, separators);

        if (span == len && !strncmp(at, word, len))
            return true;
        at += span + (at[span] != '\0');
    }
    return false;
}
