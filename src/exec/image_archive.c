/* image_archive.c: the tar file or folder that an image comes in. */
#define _GNU_SOURCE
#include "exec/image_archive.h"

#include "exec/image_tar.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sys/confined_path.h"
#include "sys/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

struct member {
    char *name;
    int64_t at, size;
};

struct archive {
    int fd;
    bool own;    /* the descriptor is ours */
    bool folder; /* its files are found by the kernel, and there are no members */
    struct member *members;
    uint32_t count, room;
};

/* ---------------------------------------------------------------------------------------------------------------- a tar file */

/* Unpacks the whole file into one without a name. */
static int whole_unpack(struct archive *archive, int64_t bytes_max, struct err *err)
{
    struct image_stream *stream = image_stream_new(archive->fd, false, 0, lseek(archive->fd, 0, SEEK_END), err);
    int fd = stream ? open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    char bytes[PIECE];
    ssize_t got = fd < 0 && stream ? err_set(err, "a file to unpack it into: %s", strerror(errno)) : stream ? 0 : -1;

    while (got >= 0 && (got = image_stream_read(stream, bytes, sizeof bytes, err)) > 0) {
        bytes_max -= got;
        if (bytes_max < 0)
            got = err_set(err, "the image is too large");
        else if (write(fd, bytes, (size_t)got) != got)
            got = err_set(err, "a file to unpack it into: %s", strerror(errno));
    }
    image_stream_end(stream, NULL, NULL, 0, NULL);
    if (got < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    archive->fd = fd;
    archive->own = true;
    return 0;
}

static void member_add(struct archive *archive, const struct tar_entry *entry, int64_t at)
{
    const char *name = !strncmp(entry->name, "./", 2) ? entry->name + 2 : entry->name;

    ARRAY_ROOM(archive->members, archive->count, archive->room, 16);
    archive->members[archive->count++] = (struct member){mem_dup(name, strlen(name)), at, entry->size};
}

/* Finds out which files there are. Their contents are not read. */
static int members_read(struct archive *archive, struct err *err)
{
    int64_t end = lseek(archive->fd, 0, SEEK_END);
    struct image_stream *stream = image_stream_new(archive->fd, false, 0, end, err);
    struct tar_entry entry;
    struct tar tar;
    int got = -1;

    if (!stream)
        return -1;
    tar_init(&tar, image_stream_read, stream);
    while ((got = tar_next(&tar, &entry, err)) > 0) {
        if (archive->count >= ARCHIVE_FILES_MAX || entry.size > end - tar.at) {
            got = err_set(err, entry.size > end - tar.at ? "the image is cut short" : "there are too many files in it");
            break;
        }
        if (entry.type == '0')
            member_add(archive, &entry, tar.at);
        tar.at += tar.left + tar.padding;
        image_stream_skip(stream, tar.at); /* the tar reader is spared what it would pass over */
        tar.left = tar.padding = 0;
    }
    image_stream_end(stream, NULL, NULL, 0, NULL);
    return got < 0 ? -1 : 0;
}

struct archive *archive_open(int fd, int64_t bytes_max, struct err *err)
{
    struct archive *archive = mem_alloc(sizeof *archive);
    struct stat info;

    *archive = (struct archive){.fd = fd, .folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)};
    if (!archive->folder &&
        ((image_is_packed(fd, 0) && whole_unpack(archive, bytes_max, err) < 0) || members_read(archive, err) < 0)) {
        archive_free(archive);
        return NULL;
    }
    return archive;
}

void archive_free(struct archive *archive)
{
    if (!archive)
        return;
    while (archive->count)
        free(archive->members[--archive->count].name);
    free(archive->members);
    if (archive->own)
        close(archive->fd);
    free(archive);
}

static const struct member *member_find(const struct archive *archive, const char *name)
{
    for (uint32_t i = archive->count; i-- > 0;) /* of two with one name the last is meant, as in any tar file */
        if (!strcmp(archive->members[i].name, name))
            return &archive->members[i];
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- its files */

/* A file of the archive: where its bytes are. `ret_own`: the descriptor is the caller's. -1 and `err`. */
static int file_find(const struct archive *archive, const char *name, struct member *ret, bool *ret_own,
                     struct err *err)
{
    const struct member *member = archive->folder ? NULL : member_find(archive, name);
    struct stat info;
    int fd;

    *ret_own = archive->folder;
    if (member)
        *ret = *member;
    if (!archive->folder)
        return member ? archive->fd : err_set(err, "the image has no '%.120s'", name);
    fd = confined_file(archive->fd, name, O_RDONLY, 0);
    if (fd < 0 || fstat(fd, &info) < 0) {
        if (fd >= 0)
            close(fd);
        return errno == ENOENT ? err_set(err, "the image has no '%.120s'", name)
                               : err_set(err, "'%.120s' in the image: %s", name, strerror(errno));
    }
    *ret = (struct member){.at = 0, .size = info.st_size};
    return fd;
}

bool archive_has(const struct archive *archive, const char *name)
{
    return archive->folder ? confined_look(archive->fd, name) == CONFINED_FILE : member_find(archive, name) != NULL;
}

/* Reads the file and compares its sum; NULL and `err`. */
static char *file_read(int fd, const struct member *member, const char *name, const char *digest, struct err *err)
{
    char sum[SHA256_DIGITS + 1], *text;
    struct sha256 *adding;

    if (member->size > ARCHIVE_TEXT_MAX) {
        err_set(err, "'%.120s' in the image is too large", name);
        return NULL;
    }
    text = mem_alloc((size_t)member->size + 1);
    text[member->size] = '\0';
    if (pread(fd, text, (size_t)member->size, member->at) != (ssize_t)member->size) {
        err_set(err, "the image is cut short");
        free(text);
        return NULL;
    }
    adding = sha256_new();
    sha256_add(adding, text, (size_t)member->size);
    sha256_end(adding, sum);
    if (image_digest_compare(digest, sum, err) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *archive_text(const struct archive *archive, const char *name, const char *digest, size_t *ret_len,
                   struct err *err)
{
    struct member member;
    bool own;
    int fd = file_find(archive, name, &member, &own, err);
    char *text = fd < 0 ? NULL : file_read(fd, &member, name, digest, err);

    if (text)
        *ret_len = (size_t)member.size;
    if (own && fd >= 0)
        close(fd);
    return text;
}

struct image_stream *archive_stream(const struct archive *archive, const char *name, struct err *err)
{
    struct member member;
    bool own;
    int fd = file_find(archive, name, &member, &own, err);

    return fd < 0 ? NULL : image_stream_new(fd, own, member.at, member.at + member.size, err);
}
