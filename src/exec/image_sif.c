/* image_sif.c: where the image of a .sif file lies in it. */
#include "exec/image_sif.h"

#include <string.h>

enum { SORT_PARTITION = 0x4004, SYSTEM_SQUASHFS = 1, SYSTEM_ENCRYPTED = 5, PARTITION_PRIMARY = 2 };

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* Is there a squashfs of no more than `len` bytes? */
static int squashfs_check(sif_read_fn *read, void *user, int64_t at, int64_t len, struct err *err)
{
    unsigned char head[SIF_SQUASHFS_HEAD];

    if (len < (int64_t)sizeof head || read(user, at, head, sizeof head) != sizeof head || memcmp(head, "hsqs", 4) != 0)
        return err_set(err, "there is no squashfs where the image should be");
    if (number(head + 28, 2) != 4)
        return err_set(err, "the squashfs is of a version that is not read here");
    if (number(head + 40, 8) > (uint64_t)len)
        return err_set(err, "the squashfs is cut short");
    return 0;
}

static int partition_take(const unsigned char *descriptor, int64_t size, int64_t *ret_at, int64_t *ret_len,
                          struct err *err)
{
    const unsigned char *extra = descriptor + 201;
    uint64_t at = number(descriptor + 17, 8), len = number(descriptor + 25, 8);

    if (number(extra, 4) == SYSTEM_ENCRYPTED)
        return err_set(err, "the image is encrypted, and nobody here has its key");
    if (number(extra, 4) != SYSTEM_SQUASHFS)
        return err_set(err, "the image is no squashfs, and other file systems are not read here");
    if (at > (uint64_t)size || len > (uint64_t)size - at)
        return err_set(err, "the .sif file is cut short");
    *ret_at = (int64_t)at;
    *ret_len = (int64_t)len;
    return 0;
}

int sif_find(sif_read_fn *read, void *user, int64_t size, int64_t *ret_at, int64_t *ret_len, struct err *err)
{
    unsigned char head[SIF_HEAD], descriptor[SIF_DESCRIPTOR];
    size_t got = read(user, 0, head, sizeof head);
    uint64_t count, first;
    int64_t at = 0, len = 0;

    if (got >= 4 && !memcmp(head, "hsqs", 4)) {
        if (squashfs_check(read, user, 0, size, err) < 0)
            return -1;
        *ret_at = 0;
        *ret_len = size;
        return 0;
    }
    if (got != sizeof head || memcmp(head + 32, "SIF_MAGIC", 10) != 0)
        return err_set(err, "it is neither a .sif file nor a squashfs");
    count = number(head + 88, 8);
    first = number(head + 96, 8);
    if (count > SIF_DESCRIPTORS_MAX || first > (uint64_t)size)
        return err_set(err, "the head of the .sif file is not in order");
    for (uint64_t i = 0; i < count; i++) {
        if (read(user, (int64_t)(first + i * SIF_DESCRIPTOR), descriptor, sizeof descriptor) != sizeof descriptor)
            return err_set(err, "the .sif file is cut short");
        if (number(descriptor, 4) != SORT_PARTITION || !descriptor[4] ||
            number(descriptor + 205, 4) != PARTITION_PRIMARY)
            continue;
        if (partition_take(descriptor, size, &at, &len, err) < 0 || squashfs_check(read, user, at, len, err) < 0)
            return -1;
        *ret_at = at;
        *ret_len = len;
        return 0;
    }
    return err_set(err, "there is no primary partition in the .sif file");
}
