/* image_archive.c: the tar file that an image comes in. */
#define _GNU_SOURCE
#include "exec/image_archive.h"

#include "exec/image_tar.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sys/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE 65536
#define DIGEST "sha256:"

struct member {
    char *name;
    int64_t at, size;
};

struct archive {
    int fd;
    bool own; /* the descriptor is ours */
    struct member *members;
    uint32_t count, room;
};

struct archive_stream {
    int fd;
    int64_t at, end; /* in the file */
    bool packed, done;
    z_stream zip;
    unsigned char piece[PIECE];
    struct sha256 *sum, *unpacked;
};

/* ---------------------------------------------------------------------------------------------------------------- streams */

static struct archive_stream *stream_new(int fd, int64_t at, int64_t end, struct err *err)
{
    struct archive_stream *stream = mem_alloc(sizeof *stream);
    unsigned char first[4] = {0};

    memset(stream, 0, sizeof *stream);
    stream->fd = fd;
    stream->at = at;
    stream->end = end;
    stream->sum = sha256_new();
    stream->unpacked = sha256_new();
    if (end - at >= 4 && pread(fd, first, sizeof first, at) != (ssize_t)sizeof first)
        memset(first, 0, sizeof first);
    stream->packed = first[0] == 0x1f && first[1] == 0x8b;
    if (!memcmp(first, "\x28\xb5\x2f\xfd", 4))
        err_set(err, "its layers are packed by zstd, which is not read here: pack them by gzip");
    else if (stream->packed && inflateInit2(&stream->zip, 15 + 16) != Z_OK)
        err_set(err, "no memory to unpack it");
    else
        return stream;
    stream->packed = false;
    archive_stream_end(stream, NULL, NULL, 0, NULL);
    return NULL;
}

/* Reads the next bytes as they lie in the file. */
static ssize_t stream_piece(struct archive_stream *stream, void *bytes, size_t len, struct err *err)
{
    int64_t left = stream->end - stream->at;
    ssize_t got;

    do
        got = left ? pread(stream->fd, bytes, left < (int64_t)len ? (size_t)left : len, stream->at) : 0;
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(err, "the image cannot be read: %s", strerror(errno));
    if (left && !got)
        return err_set(err, "the image is cut short");
    stream->at += got;
    sha256_add(stream->sum, bytes, (size_t)got);
    return got;
}

static ssize_t stream_unpack(struct archive_stream *stream, void *bytes, size_t len, struct err *err)
{
    z_stream *zip = &stream->zip;

    zip->next_out = bytes;
    zip->avail_out = (unsigned)(len < PIECE ? len : PIECE);
    while (!stream->done && zip->next_out == bytes) {
        int result;

        if (!zip->avail_in) {
            ssize_t got = stream_piece(stream, stream->piece, sizeof stream->piece, err);

            if (got < 0)
                return -1;
            zip->next_in = stream->piece;
            zip->avail_in = (unsigned)got;
        }
        result = inflate(zip, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            /* another part may follow, as some programs pack them; zeros and such are nothing */
            stream->done =
                zip->avail_in < 2 || zip->next_in[0] != 0x1f || zip->next_in[1] != 0x8b || inflateReset(zip) != Z_OK;
        } else if (result != Z_OK) {
            return err_set(err, "what is packed in the image is not whole");
        }
    }
    return zip->next_out - (unsigned char *)bytes;
}

ssize_t archive_stream_read(void *user, void *bytes, size_t len, struct err *err)
{
    struct archive_stream *stream = user;
    ssize_t got = stream->packed ? stream_unpack(stream, bytes, len, err) : stream_piece(stream, bytes, len, err);

    if (got > 0)
        sha256_add(stream->unpacked, bytes, (size_t)got);
    return got;
}

static int digest_compare(const char *wanted, const char *digits, struct err *err)
{
    size_t len = strlen(DIGEST);

    if (!wanted || (!strncmp(wanted, DIGEST, len) && !strcmp(wanted + len, digits)))
        return 0;
    return err_set(err, "what is called %.80s in the image has another sum: " DIGEST "%s", wanted, digits);
}

int archive_stream_end(struct archive_stream *stream, const char *digest, const char *unpacked, int64_t bytes_max,
                       struct err *err)
{
    char sum[SHA256_DIGITS + 1], other[SHA256_DIGITS + 1], rest[4096];
    ssize_t got = 0;
    int failed = 0;

    if (!stream)
        return 0;
    if (unpacked)
        while (bytes_max >= 0 && (got = archive_stream_read(stream, rest, sizeof rest, err)) > 0)
            bytes_max -= got;
    if (got >= 0 && digest)
        while ((got = stream_piece(stream, rest, sizeof rest, err)) > 0)
            ;
    failed = got < 0 || bytes_max < 0;
    sha256_end(stream->sum, sum);
    sha256_end(stream->unpacked, other);
    if (stream->packed)
        inflateEnd(&stream->zip);
    free(stream);
    if (failed)
        return bytes_max < 0 ? err_set(err, "a layer of the image goes on after its end") : -1;
    return digest_compare(digest, sum, err) < 0 || digest_compare(unpacked, other, err) < 0 ? -1 : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- the file */

/* Unpacks the whole file into one without a name. */
static int whole_unpack(struct archive *archive, int64_t bytes_max, struct err *err)
{
    struct archive_stream *stream = stream_new(archive->fd, 0, lseek(archive->fd, 0, SEEK_END), err);
    int fd = stream ? open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    char bytes[PIECE];
    ssize_t got = fd < 0 && stream ? err_set(err, "a file to unpack it into: %s", strerror(errno)) : stream ? 0 : -1;

    while (got >= 0 && (got = archive_stream_read(stream, bytes, sizeof bytes, err)) > 0) {
        bytes_max -= got;
        if (bytes_max < 0)
            got = err_set(err, "the image is too large");
        else if (write(fd, bytes, (size_t)got) != got)
            got = err_set(err, "a file to unpack it into: %s", strerror(errno));
    }
    archive_stream_end(stream, NULL, NULL, 0, NULL);
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
    struct archive_stream *stream = stream_new(archive->fd, 0, end, err);
    struct tar_entry entry;
    struct tar tar;
    int got = -1;

    if (!stream)
        return -1;
    tar_init(&tar, archive_stream_read, stream);
    while ((got = tar_next(&tar, &entry, err)) > 0) {
        if (archive->count >= ARCHIVE_FILES_MAX || entry.size > end - tar.at) {
            got = err_set(err, entry.size > end - tar.at ? "the image is cut short" : "there are too many files in it");
            break;
        }
        if (entry.type == '0')
            member_add(archive, &entry, tar.at);
        tar.at += tar.left + tar.padding;
        stream->at = tar.at; /* the tar reader is spared what it would pass over */
        tar.left = tar.padding = 0;
        if (stream->at > end)
            stream->at = end;
    }
    archive_stream_end(stream, NULL, NULL, 0, NULL);
    return got < 0 ? -1 : 0;
}

struct archive *archive_open(int fd, int64_t bytes_max, struct err *err)
{
    struct archive *archive = mem_alloc(sizeof *archive);
    unsigned char first[2] = {0};

    *archive = (struct archive){.fd = fd};
    if (pread(fd, first, 2, 0) == 2 && first[0] == 0x1f && first[1] == 0x8b &&
        whole_unpack(archive, bytes_max, err) < 0) {
        archive_free(archive);
        return NULL;
    }
    if (members_read(archive, err) < 0) {
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

bool archive_has(const struct archive *archive, const char *name)
{
    return member_find(archive, name) != NULL;
}

char *archive_text(const struct archive *archive, const char *name, const char *digest, size_t *ret_len,
                   struct err *err)
{
    const struct member *member = member_find(archive, name);
    char sum[SHA256_DIGITS + 1], *text = NULL;
    struct sha256 *adding;

    if (!member || member->size > ARCHIVE_TEXT_MAX) {
        err_set(err, member ? "'%.120s' in the image is too large" : "the image has no '%.120s'", name);
        return NULL;
    }
    text = mem_alloc((size_t)member->size + 1);
    text[member->size] = '\0';
    if (pread(archive->fd, text, (size_t)member->size, member->at) != (ssize_t)member->size) {
        err_set(err, "the image is cut short");
        free(text);
        return NULL;
    }
    adding = sha256_new();
    sha256_add(adding, text, (size_t)member->size);
    sha256_end(adding, sum);
    if (digest_compare(digest, sum, err) < 0) {
        free(text);
        return NULL;
    }
    *ret_len = (size_t)member->size;
    return text;
}

struct archive_stream *archive_stream(const struct archive *archive, const char *name, struct err *err)
{
    const struct member *member = member_find(archive, name);

    if (!member) {
        err_set(err, "the image has no '%.120s'", name);
        return NULL;
    }
    return stream_new(archive->fd, member->at, member->at + member->size, err);
}
