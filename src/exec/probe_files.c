/* probe_files.c: bounded reads below a root, which never wait, and what stands in such files. */
#include "exec/probe_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool rooted_path(const char *root, const char *path, char out[PROBE_PATH_MAX])
{
    int len = snprintf(out, PROBE_PATH_MAX, "%s%s", root, path);

    return len > 0 && len < PROBE_PATH_MAX;
}

bool rooted_read(const char *root, const char *path, struct buf *ret_text)
{
    char whole[PROBE_PATH_MAX];
    struct stat st;
    ssize_t count = -1;
    /* nonblocking: a pipe that somebody put there must not hold us */
    int fd = rooted_path(root, path, whole) ? open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

    if (fd < 0)
        return false;
    buf_reset(ret_text);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        for (;;) {
            size_t room = PROBE_FILE_MAX - ret_text->len;

            if (room > 16384)
                room = 16384;
            count = room ? read(fd, buf_reserve(ret_text, room), room) : 0;
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                break;
            ret_text->len += (size_t)count;
        }
    }
    close(fd);
    (void)buf_string(ret_text);
    return count == 0;
}

bool rooted_line(const char *root, const char *path, char *out, size_t room)
{
    struct buf text;
    bool found;

    buf_init(&text);
    found = rooted_read(root, path, &text);
    if (found)
        text_clean(text.text, text.len, out, room);
    buf_done(&text);
    return found && *out;
}

bool rooted_integer(const char *root, const char *path, int64_t *ret)
{
    char line[64];

    return rooted_line(root, path, line, sizeof line) && text_integer(line, ret);
}

bool rooted_link(const char *root, const char *path, char *out, size_t room)
{
    char whole[PROBE_PATH_MAX], target[PROBE_PATH_MAX];
    ssize_t len = rooted_path(root, path, whole) ? readlink(whole, target, sizeof target - 1) : -1;
    const char *last;

    if (len <= 0)
        return false;
    target[len] = '\0';
    last = strrchr(target, '/');
    last = last ? last + 1 : target;
    text_clean(last, strlen(last), out, room);
    return *out;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void rooted_names(const char *root, const char *path, size_t max, rooted_name_fn *fn, void *user)
{
    char whole[PROBE_PATH_MAX];
    DIR *dir = rooted_path(root, path, whole) ? opendir(whole) : NULL;
    char **names = dir ? mem_alloc(max * sizeof *names) : NULL;
    struct dirent *entry;
    size_t count = 0;

    while (dir && count < max && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            names[count++] = mem_dup(entry->d_name, strlen(entry->d_name));
    if (dir)
        closedir(dir);
    if (count)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        fn(user, names[i]);
        free(names[i]);
    }
    free(names);
}

bool text_integer(const char *text, int64_t *ret)
{
    int64_t value = 0;

    text += strspn(text, " \t");
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value > (INT64_MAX - 9) / 10 ? INT64_MAX : value * 10 + (*text - '0');
    *ret = value;
    return true;
}

bool text_value(const char *text, const char *key, char separator, char *out, size_t room)
{
    size_t len = strlen(key);

    while (text && *text) {
        if (strncmp(text, key, len) == 0) {
            const char *at = text + len + strspn(text + len, " \t");

            if (*at == separator) {
                text_clean(at + 1, strcspn(at + 1, "\n"), out, room);
                return *out;
            }
        }
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return false;
}
