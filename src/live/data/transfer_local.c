/* transfer_local.c: file://: from and to a store whose folder is on this machine. No link is followed in it, whoever made it. */
#include "live/data/transfer_parts.h"

#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (256 * 1024)

/* Reads the path of file:///PATH, without escapes; false when it is not such a URL, or the path has a NUL. */
static bool path_read(const char *url, char ret[TRANSFER_PATH_MAX])
{
    size_t len = 0;

    if (strncmp(url, "file:///", 8) != 0)
        return false;
    for (url += 7; *url; url++) {
        unsigned c = (unsigned char)*url;

        if (c == '%' && (sscanf(url + 1, "%2x", &c) != 1 || !url[1] || !url[2] || !c))
            return false;
        if (*url == '%')
            url += 2;
        if (len + 1 >= TRANSFER_PATH_MAX)
            return false;
        ret[len++] = (char)c;
    }
    ret[len] = '\0';
    return true;
}

/* The folder of the settings that the path lies in, and the rest of the path; NULL: it lies in none. */
static const char *folder_of(const struct transfer_rules *rules, const char *path, const char **ret_rest)
{
    for (size_t i = 0; i < rules->folder_count; i++) {
        size_t len = strlen(rules->folders[i]);

        len -= len == 1; /* the root */
        if (strncmp(path, rules->folders[i], len) != 0 || path[len] != '/' ||
            !confined_name_is_good(path + len + 1, strlen(path + len + 1)))
            continue;
        *ret_rest = path + len + 1;
        return rules->folders[i];
    }
    return NULL;
}

/* Opens that folder and gives the name of the file beneath it; -1, and the result tells why. */
static int folder_open(struct carriage *carriage, char path[TRANSFER_PATH_MAX], const char **ret_name)
{
    const char *folder = path_read(carriage->url, path) ? folder_of(carriage->rules, path, ret_name) : NULL;
    int fd;

    if (!folder) {
        carriage_ends(carriage, TRANSFER_REFUSED, "%.150s: it is beneath none of StoreFolders", carriage->url);
        return -1;
    }
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        carriage_ends(carriage, TRANSFER_AGAIN, "%.150s: %s", folder, strerror(errno));
    return fd;
}

static bool bytes_write(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool bytes_copy(struct carriage *carriage, int from, int to)
{
    char *bytes = malloc(CHUNK);
    ssize_t n = 1;
    bool good = bytes != NULL;

    while (good && n > 0) {
        n = read(from, bytes, CHUNK);
        good = n >= 0 && bytes_write(to, bytes, (size_t)n);
        if (good) {
            hashing_add(&carriage->hash, bytes, (size_t)n);
            atomic_fetch_add(&carriage->moved, n);
        }
        if (good && (atomic_load(&carriage->cancelled) || atomic_load(&carriage->moved) > carriage->bytes_max)) {
            free(bytes);
            return carriage_ends(carriage, TRANSFER_REFUSED, "the file has more than %lld bytes",
                                 (long long)carriage->bytes_max);
        }
    }
    free(bytes);
    return good ? true : carriage_ends(carriage, TRANSFER_AGAIN, "the file cannot be copied: %s", strerror(errno));
}

/* Checks that what is on disk there is what was sent. */
static bool copy_check(struct carriage *carriage, int fd, int folder, const char *name)
{
    char sent[HASH_DIGITS + 1], there[HASH_DIGITS + 1];
    int again = fsync(fd) < 0 ? -1 : confined_file(folder, name, O_RDONLY, 0), failed;
    uint64_t size;

    hashing_digits(&carriage->hash, sent);
    failed = again < 0 ? -1 : hash_file(again, there, &size, NULL);
    if (again >= 0)
        close(again);
    if (failed)
        return carriage_ends(carriage, TRANSFER_AGAIN, "the file cannot be written: %s", strerror(errno));
    if (strcmp(sent, there) != 0)
        return carriage_ends(carriage, TRANSFER_AGAIN, "what was written is not what was sent");
    return true;
}

/* The name of the file while it is not whole: in the same folder. */
static void temporary_name(const struct carriage *carriage, const char *name, char *ret, size_t size)
{
    const char *last = strrchr(name, '/');
    char short_name[64];

    transfer_temporary(carriage->url, short_name, sizeof short_name);
    snprintf(ret, size, "%.*s%s", last ? (int)(last + 1 - name) : 0, name, short_name);
}

bool local_put(struct carriage *carriage)
{
    char path[TRANSFER_PATH_MAX], temporary[TRANSFER_PATH_MAX + 64];
    const char *name;
    struct err err = {0};
    int folder = folder_open(carriage, path, &name), fd;
    bool good;

    if (folder < 0)
        return false;
    temporary_name(carriage, name, temporary, sizeof temporary);
    fd = confined_create(folder, temporary, 0644, &err);
    good = fd >= 0 ? bytes_copy(carriage, carriage->fd, fd) && copy_check(carriage, fd, folder, temporary)
                   : carriage_ends(carriage, TRANSFER_AGAIN, "%.150s: %.80s", path, err.text);
    if (fd >= 0)
        close(fd);
    if (good && confined_move(folder, temporary, folder, name) < 0)
        good = carriage_ends(carriage, TRANSFER_AGAIN, "%.150s: %s", path, strerror(errno));
    if (!good && fd >= 0)
        confined_remove(folder, temporary, &err);
    close(folder);
    return good;
}

bool local_ask(struct carriage *carriage)
{
    char path[TRANSFER_PATH_MAX];
    const char *name;
    struct err err = {0};
    int folder = folder_open(carriage, path, &name), fd;
    int64_t size;

    if (folder < 0)
        return false;
    fd = confined_read(folder, name, &size, &err);
    close(folder);
    carriage->result.absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    if (fd < 0)
        return carriage_ends(carriage, carriage->result.absent ? TRANSFER_DAMAGED : TRANSFER_AGAIN, "%.150s: %.80s",
                             path, err.text);
    close(fd);
    return ask_check(carriage, size);
}

bool local_get(struct carriage *carriage)
{
    char path[TRANSFER_PATH_MAX];
    const char *name;
    struct err err = {0};
    int folder = folder_open(carriage, path, &name), fd;
    int64_t size;
    bool good;

    if (folder < 0)
        return false;
    hashing_begin(&carriage->hash);
    fd = confined_read(folder, name, &size, &err);
    close(folder);
    if (fd < 0)
        return carriage_ends(carriage, errno == ENOENT ? TRANSFER_REFUSED : TRANSFER_AGAIN, "%.150s: %.80s", path,
                             err.text);
    good = bytes_copy(carriage, fd, carriage->fd);
    close(fd);
    return good;
}
