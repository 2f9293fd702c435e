/* secret_bundle.c: the secrets of a job, as they go from hand to hand in memory. */
#define _GNU_SOURCE
#include "sys/secret_bundle.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_BYTES 5 /* the two lengths */

bool secret_name_is_good(const char *name, size_t len)
{
    if (!len || len > SECRET_NAME_MAX || *name == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
              (name[i] >= '0' && name[i] <= '9') || name[i] == '.' || name[i] == '_' || name[i] == '-'))
            return false;
    return true;
}

int secret_bundle_add(struct buf *bundle, const char *name, size_t name_len, const void *bytes, size_t len,
                      struct err *err)
{
    unsigned char length[4] = {(unsigned char)len, (unsigned char)(len >> 8), (unsigned char)(len >> 16), 0};
    struct secret other;
    size_t at = 0;
    int count = 0;

    if (!secret_name_is_good(name, name_len))
        return err_set(err,
                       "'%.*s': a secret is called by up to %d letters, digits, '.', '_' and '-', and not first a '.'",
                       name_len < 80 ? (int)name_len : 80, name, SECRET_NAME_MAX);
    if (len > SECRET_BYTES_MAX)
        return err_set(err, "'%.*s': a secret has at most %u bytes", (int)name_len, name, SECRET_BYTES_MAX);
    while (secret_bundle_next(bundle->text, bundle->len, &at, &other) > 0) {
        if (other.name_len == name_len && !memcmp(other.name, name, name_len))
            return err_set(err, "'%.*s': there are two secrets of this name", (int)name_len, name);
        count++;
    }
    if (count == SECRETS_MAX)
        return err_set(err, "a job has at most %d secrets", SECRETS_MAX);
    if (bundle->len + HEAD_BYTES + name_len + len > SECRETS_BYTES_MAX)
        return err_set(err, "the secrets of a job have together at most %u bytes", SECRETS_BYTES_MAX);
    buf_addc(bundle, (char)name_len);
    buf_add(bundle, name, name_len);
    buf_add(bundle, (const char *)length, sizeof length);
    buf_add(bundle, bytes, len);
    return 0;
}

int secret_bundle_next(const void *bundle, size_t len, size_t *at, struct secret *ret)
{
    const unsigned char *bytes = bundle;
    size_t place = *at, name, long_is;

    if (place == len)
        return 0;
    name = bytes[place];
    if (len - place < HEAD_BYTES + name || !secret_name_is_good((const char *)bytes + place + 1, name))
        return -1;
    place += 1 + name;
    long_is =
        bytes[place] | (size_t)bytes[place + 1] << 8 | (size_t)bytes[place + 2] << 16 | (size_t)bytes[place + 3] << 24;
    place += 4;
    if (long_is > SECRET_BYTES_MAX || long_is > len - place)
        return -1;
    *ret = (struct secret){(const char *)bytes + *at + 1, name, bytes + place, long_is};
    *at = place + long_is;
    return 1;
}

bool secret_bundle_is_good(const void *bundle, size_t len)
{
    struct secret secret, first;
    size_t at = 0, before = 0;
    int count = 0, got;

    if (len > SECRETS_BYTES_MAX)
        return false;
    while ((got = secret_bundle_next(bundle, len, &at, &secret)) > 0) {
        /* the first of its name is itself */
        if (++count > SECRETS_MAX || !secret_bundle_find(bundle, at, secret.name, secret.name_len, &first) ||
            first.name != (const char *)bundle + before + 1)
            return false;
        before = at;
    }
    return got == 0;
}

bool secret_bundle_find(const void *bundle, size_t len, const char *name, size_t name_len, struct secret *ret)
{
    struct secret secret;
    size_t at = 0;

    while (secret_bundle_next(bundle, len, &at, &secret) > 0)
        if (secret.name_len == name_len && !memcmp(secret.name, name, name_len)) {
            *ret = secret;
            return true;
        }
    return false;
}

int secret_memory_file(const void *bytes, size_t len, struct err *err)
{
    int fd = memfd_create("berth", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, bytes, len) == (ssize_t)len)
        return fd;
    err_set(err, "a secret could not be put into memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

void secret_wipe(struct buf *buf)
{
    if (buf->text)
        sodium_memzero(buf->text, buf->room);
    buf_done(buf);
}
