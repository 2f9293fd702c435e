/* image.c: any bytes as a .sif file, as a tar file, and as files that are packed by gzip or zstd: what is found lies within them, and reading ends. */
#define _GNU_SOURCE
#include "exec/image_archive.h"
#include "exec/image_sif.h"
#include "exec/image_stream.h"
#include "exec/image_tar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNPACKED_MAX (4 << 20) /* a few bytes unpack to any number */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *data;
    size_t size, at;
};

static size_t bytes_from(void *user, int64_t at, void *into, size_t len)
{
    const struct bytes *bytes = user;
    size_t left = at < 0 || (uint64_t)at > bytes->size ? 0 : bytes->size - (size_t)at;

    if (at < 0)
        abort();
    if (len > left)
        len = left;
    if (len)
        memcpy(into, bytes->data + at, len);
    return len;
}

static ssize_t bytes_next(void *user, void *into, size_t len, struct err *err)
{
    struct bytes *bytes = user;

    (void)err;
    len = bytes_from(bytes, (int64_t)bytes->at, into, len);
    bytes->at += len;
    return (ssize_t)len;
}

/* The bytes as a layer, which may be packed, and as the file that an image comes in. */
static void packed_try(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct image_stream *stream;
    struct archive *archive;
    struct err err = {0};
    char contents[5000];
    size_t all = 0;
    ssize_t got;

    if (fd < 0)
        fd = memfd_create("image", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    stream = image_stream_new(fd, false, 0, (int64_t)size, &err);
    while (stream && all < UNPACKED_MAX && (got = image_stream_read(stream, contents, sizeof contents, &err)) > 0) {
        if ((size_t)got > sizeof contents)
            abort();
        all += (size_t)got;
    }
    image_stream_end(stream, NULL, "sha256:", UNPACKED_MAX, &err);
    archive = archive_open(fd, UNPACKED_MAX, &err);
    if (archive) {
        char *text = archive_text(archive, "index.json", NULL, &all, &err);

        if (text && strlen(text) > all)
            abort();
        free(text);
    }
    archive_free(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size, 0};
    struct tar *tar = malloc(sizeof *tar);
    struct tar_entry entry;
    struct err err = {0};
    char contents[1000];
    int64_t at, len;

    if (sif_find(bytes_from, &bytes, (int64_t)size, &at, &len, &err) == 0 &&
        (at < 0 || len < 0 || (uint64_t)at + (uint64_t)len > size))
        abort();
    tar_init(tar, bytes_next, &bytes);
    for (int n = 0; tar_next(tar, &entry, &err) > 0; n++) {
        if (strlen(entry.name) > TAR_NAME_MAX || strlen(entry.link) > TAR_NAME_MAX || entry.size < 0)
            abort();
        if (n % 2 && tar_contents(tar, contents, sizeof contents, &err) < 0)
            break;
    }
    free(tar);
    packed_try(data, size);
    return 0;
}
