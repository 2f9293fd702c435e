/* image.c: any bytes as a .sif file and as a tar file: what is found lies within them, and reading ends. */
#include "exec/image_sif.h"
#include "exec/image_tar.h"

#include <stdlib.h>
#include <string.h>

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
    return 0;
}
