/* layout.c: an OCI layout as one tar file. Nothing goes into it but the index and the blobs, in the order of their names, with neither times nor owners:
 * machines that have it already know it by its hash. */
#define _GNU_SOURCE
#include "cli/jobs/layout.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512
#define BLOBS "blobs/sha256"
#define BLOBS_MAX 4000 /* machines take a few more files in an image */

struct packing {
    int folder, out; /* descriptors */
    char **names;
    size_t count, room;
    struct err *err;
};

bool layout_is(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is =
        fd >= 0 && confined_look(fd, "oci-layout") == CONFINED_FILE && confined_look(fd, "index.json") == CONFINED_FILE;

    if (fd >= 0)
        close(fd);
    return is;
}

static int bytes_write(struct packing *packing, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(packing->out, bytes, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set(packing->err, "a file to pack it into: %s", strerror(errno));
        bytes += put;
        len -= (size_t)put;
    }
    return 0;
}

/* The head of a file in a tar file. A size that eight octal digits do not hold is written in binary, as GNU tar does. */
static int head_write(struct packing *packing, const char *name, uint64_t size)
{
    char head[BLOCK] = {0};
    unsigned sum = 0;

    snprintf(head, 100, "%s", name);
    memcpy(head + 100, "0000644", 8);
    memcpy(head + 108, "0000000", 8);
    memcpy(head + 116, "0000000", 8);
    if (size < (uint64_t)1 << 33) {
        snprintf(head + 124, 12, "%011" PRIo64, size);
    } else {
        head[124] = (char)0x80;
        for (int i = 0; i < 8; i++)
            head[135 - i] = (char)(size >> (8 * i) & 0xff);
    }
    memcpy(head + 136, "00000000000", 12);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof head; i++)
        sum += (unsigned char)head[i];
    snprintf(head + 148, 8, "%06o", sum & 0777777);
    return bytes_write(packing, head, sizeof head);
}

static int file_pack(struct packing *packing, const char *name)
{
    static const char zeros[BLOCK];
    int fd = confined_file(packing->folder, name, O_RDONLY, 0), failed = 0;
    uint64_t done = 0, size;
    char piece[65536];
    struct stat info;
    ssize_t got = 0;

    if (fd < 0 || fstat(fd, &info) < 0) {
        err_set(packing->err, "%.100s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    size = (uint64_t)info.st_size;
    failed = head_write(packing, name, size);
    while (!failed && done < size) {
        got = read(fd, piece, size - done < sizeof piece ? (size_t)(size - done) : sizeof piece);
        if (got <= 0) {
            failed =
                err_set(packing->err, "%.100s: %s", name, got ? strerror(errno) : "it has changed while it was read");
            break;
        }
        failed = bytes_write(packing, piece, (size_t)got);
        done += (uint64_t)got;
    }
    close(fd);
    return failed ? -1 : bytes_write(packing, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

static int blob_note(void *user, const char *name)
{
    struct packing *packing = user;
    char path[128];

    if (strlen(name) != 64 || strspn(name, "0123456789abcdef") != 64)
        return 0; /* what a program left that was ended */
    snprintf(path, sizeof path, BLOBS "/%s", name);
    ARRAY_ROOM(packing->names, packing->count, packing->room, 16);
    packing->names[packing->count++] = mem_dup(path, strlen(path));
    return 0;
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int blobs_pack(struct packing *packing)
{
    int blobs = openat(packing->folder, BLOBS, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), failed;

    if (blobs < 0)
        return err_set(packing->err, BLOBS ": %s", strerror(errno));
    failed = confined_each(blobs, BLOBS_MAX, blob_note, packing, packing->err);
    close(blobs);
    if (packing->count)
        qsort(packing->names, packing->count, sizeof *packing->names, name_compare);
    for (size_t i = 0; !failed && i < packing->count; i++)
        failed = file_pack(packing, packing->names[i]);
    return failed ? -1 : 0;
}

/* A file without a name, beside those of others that are large and temporary. */
static int nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/berth-layout.XXXXXX", folder && *folder ? folder : "/var/tmp");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int layout_pack(const char *folder, struct err *err)
{
    static const char zeros[2 * BLOCK];
    struct packing packing = {
        .err = err, .folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .out = nameless()};
    int failed;

    if (packing.folder < 0 || packing.out < 0)
        failed = err_set(err, "%s: %s", packing.folder < 0 ? "it" : "a file to pack it into", strerror(errno));
    else
        failed = file_pack(&packing, "oci-layout") < 0 || file_pack(&packing, "index.json") < 0 ||
                 blobs_pack(&packing) < 0 || bytes_write(&packing, zeros, sizeof zeros) < 0;
    while (packing.count)
        free(packing.names[--packing.count]);
    free(packing.names);
    if (packing.folder >= 0)
        close(packing.folder);
    if (failed && packing.out >= 0)
        close(packing.out);
    return failed ? -1 : packing.out;
}
