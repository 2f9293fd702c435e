/* disk.h: a disk that fails when a test says so: an SQLite VFS over the real files that remembers what no fsync has covered yet.
 *
 *     disk_begin(&disk);                       every file that SQLite opens from now on is on it
 *     disk.fault = FAULT_SYNC; disk.at = 3;    the third fsync fails
 *     disk_cut(&disk, CUT_TORN, seed);         the power was cut: of what was not covered, only some is there
 *     disk_end(&disk);
 *
 * After an fsync that failed, what it should have covered can still be read, but is gone at the next power cut, whatever is synced
 * later: so do real systems behave. Directory entries are taken to be durable at once. */
#ifndef BERTH_TESTS_DISK_H
#define BERTH_TESTS_DISK_H

#include "lang/base/buf.h"
#include "lang/base/rng.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DISK_FILES 8
#define DISK_SECTOR 512

enum fault {
    FAULT_NONE,
    FAULT_WRITE,    /* a write fails */
    FAULT_SHORT,    /* a write stops half way: the disk is full */
    FAULT_SYNC,     /* an fsync fails */
    FAULT_TRUNCATE, /* a truncation fails */
    FAULT_POWER,    /* before a write, an fsync or a truncation the power is cut: from then on all of them fail */
};

enum cut { CUT_NONE_KEPT, CUT_ALL_KEPT, CUT_TORN, CUT_COUNT };

struct disk_write { /* not covered by an fsync; a truncation where `bytes` is NULL */
    size_t offset, len;
    char *bytes;
};

struct disk_file {
    char name[512];
    struct buf durable;
    struct disk_write *writes;
    size_t write_count;
    bool sync_failed;
};

struct disk {
    sqlite3_vfs vfs, *real;
    struct disk_file files[DISK_FILES];
    size_t file_count;
    enum fault fault;
    uint64_t at, calls;    /* the `at`th call of the fault's sort fails; so many were made */
    bool hit;              /* it did */
    bool dead;             /* the power is cut */
    unsigned synced_again; /* files on which fsync was called after it had failed */
    uint64_t syncs;
};

struct disk_handle {
    sqlite3_file base;
    struct disk *disk;
    struct disk_file *file; /* NULL: one that nobody looks after */
};

static inline sqlite3_file *disk_real(sqlite3_file *handle)
{
    return (sqlite3_file *)((struct disk_handle *)handle + 1);
}

static inline void disk_forget_writes(struct disk_file *file)
{
    for (size_t i = 0; i < file->write_count; i++)
        free(file->writes[i].bytes);
    free(file->writes);
    file->writes = NULL;
    file->write_count = 0;
}

static inline void disk_apply(struct buf *image, size_t offset, const char *bytes, size_t len)
{
    if (!bytes) {
        if (offset < image->len)
            image->len = offset;
        return;
    }
    if (image->len < offset + len) {
        buf_reserve(image, offset + len - image->len);
        memset(image->text + image->len, 0, offset + len - image->len);
        image->len = offset + len;
    }
    memcpy(image->text + offset, bytes, len);
}

static inline void disk_note(struct disk_file *file, size_t offset, const void *bytes, size_t len)
{
    file->writes = mem_grow(file->writes, (file->write_count + 1) * sizeof *file->writes);
    file->writes[file->write_count++] =
        (struct disk_write){.offset = offset, .len = len, .bytes = bytes ? mem_dup(bytes, len) : NULL};
}

/* Does this call, of that sort, fail? */
static inline bool disk_fails(struct disk *disk, enum fault sort)
{
    bool counts =
        disk->fault == sort || disk->fault == FAULT_POWER || (disk->fault == FAULT_SHORT && sort == FAULT_WRITE);

    if (disk->dead)
        return true;
    if (!counts || ++disk->calls != disk->at)
        return false;
    disk->hit = true;
    disk->dead = disk->fault == FAULT_POWER;
    return true;
}

static inline int disk_write(sqlite3_file *handle, const void *bytes, int len, sqlite3_int64 offset)
{
    struct disk_handle *h = (struct disk_handle *)handle;
    bool fails = h->file && disk_fails(h->disk, FAULT_WRITE), half = fails && h->disk->fault == FAULT_SHORT;

    if (half)
        len /= 2;
    if (fails && !half)
        return SQLITE_IOERR_WRITE;
    if (h->file)
        disk_note(h->file, (size_t)offset, bytes, (size_t)len);
    if (disk_real(handle)->pMethods->xWrite(disk_real(handle), bytes, len, offset) != SQLITE_OK)
        return SQLITE_IOERR_WRITE;
    return half ? SQLITE_FULL : SQLITE_OK;
}

static inline int disk_truncate(sqlite3_file *handle, sqlite3_int64 size)
{
    struct disk_handle *h = (struct disk_handle *)handle;

    if (h->file && disk_fails(h->disk, FAULT_TRUNCATE))
        return SQLITE_IOERR_TRUNCATE;
    if (h->file)
        disk_note(h->file, (size_t)size, NULL, 0);
    return disk_real(handle)->pMethods->xTruncate(disk_real(handle), size);
}

static inline int disk_sync(sqlite3_file *handle, int flags)
{
    struct disk_handle *h = (struct disk_handle *)handle;
    bool fails;

    (void)flags;
    if (!h->file)
        return SQLITE_OK;
    h->disk->synced_again += h->file->sync_failed;
    h->disk->syncs++;
    fails = disk_fails(h->disk, FAULT_SYNC);
    if (!h->disk->dead) {
        for (size_t i = 0; i < h->file->write_count && !fails; i++)
            disk_apply(&h->file->durable, h->file->writes[i].offset, h->file->writes[i].bytes, h->file->writes[i].len);
        disk_forget_writes(h->file); /* where it failed: they will never be covered */
        h->file->sync_failed = fails;
    }
    return fails ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

#define PASS(name, params, args)                       \
    static inline int disk_##name params               \
    {                                                  \
        return disk_real(handle)->pMethods->name args; \
    }
PASS(xClose, (sqlite3_file * handle), (disk_real(handle)))
PASS(xRead, (sqlite3_file * handle, void *to, int len, sqlite3_int64 at), (disk_real(handle), to, len, at))
PASS(xFileSize, (sqlite3_file * handle, sqlite3_int64 *size), (disk_real(handle), size))
PASS(xLock, (sqlite3_file * handle, int level), (disk_real(handle), level))
PASS(xUnlock, (sqlite3_file * handle, int level), (disk_real(handle), level))
PASS(xCheckReservedLock, (sqlite3_file * handle, int *out), (disk_real(handle), out))
PASS(xFileControl, (sqlite3_file * handle, int op, void *arg), (disk_real(handle), op, arg))
PASS(xSectorSize, (sqlite3_file * handle), (disk_real(handle)))
PASS(xDeviceCharacteristics, (sqlite3_file * handle), (disk_real(handle)))
PASS(xShmMap, (sqlite3_file * handle, int page, int size, int more, void volatile **out),
     (disk_real(handle), page, size, more, out))
PASS(xShmLock, (sqlite3_file * handle, int at, int n, int flags), (disk_real(handle), at, n, flags))
PASS(xShmUnmap, (sqlite3_file * handle, int remove), (disk_real(handle), remove))
#undef PASS

static inline void disk_barrier(sqlite3_file *handle)
{
    disk_real(handle)->pMethods->xShmBarrier(disk_real(handle));
}

/* What is there already counts as durable. */
static inline struct disk_file *disk_file_of(struct disk *disk, const char *name)
{
    struct disk_file *file;
    FILE *stream;

    for (size_t i = 0; i < disk->file_count; i++)
        if (!strcmp(disk->files[i].name, name))
            return &disk->files[i];
    if (disk->file_count == DISK_FILES)
        abort();
    file = &disk->files[disk->file_count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    buf_init(&file->durable);
    stream = fopen(name, "rb");
    for (int c; stream && (c = getc(stream)) != EOF;)
        buf_addc(&file->durable, (char)c);
    if (stream)
        fclose(stream);
    return file;
}

static inline int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *handle, int flags, int *ret_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 2,
        .xClose = disk_xClose,
        .xRead = disk_xRead,
        .xWrite = disk_write,
        .xTruncate = disk_truncate,
        .xSync = disk_sync,
        .xFileSize = disk_xFileSize,
        .xLock = disk_xLock,
        .xUnlock = disk_xUnlock,
        .xCheckReservedLock = disk_xCheckReservedLock,
        .xFileControl = disk_xFileControl,
        .xSectorSize = disk_xSectorSize,
        .xDeviceCharacteristics = disk_xDeviceCharacteristics,
        .xShmMap = disk_xShmMap,
        .xShmLock = disk_xShmLock,
        .xShmBarrier = disk_barrier,
        .xShmUnmap = disk_xShmUnmap,
    };
    struct disk *disk = vfs->pAppData;
    struct disk_handle *h = (struct disk_handle *)handle;
    bool ours = name && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    int result;

    *h = (struct disk_handle){.disk = disk};
    if (disk->dead)
        return SQLITE_CANTOPEN;
    if (ours) /* before it is opened: closing a second descriptor would drop the first one's locks */
        h->file = disk_file_of(disk, name);
    result = disk->real->xOpen(disk->real, name, disk_real(handle), flags, ret_flags);
    if (result == SQLITE_OK)
        h->base.pMethods = &methods;
    return result;
}

static inline int disk_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    struct disk *disk = vfs->pAppData;

    if (disk->dead)
        return SQLITE_IOERR_DELETE;
    for (size_t i = 0; i < disk->file_count; i++)
        if (!strcmp(disk->files[i].name, name)) {
            disk_forget_writes(&disk->files[i]);
            buf_reset(&disk->files[i].durable);
            disk->files[i].sync_failed = false; /* another file, if there will be one */
        }
    (void)sync_folder;
    return disk->real->xDelete(disk->real, name, 0);
}

static inline void disk_begin(struct disk *disk)
{
    *disk = (struct disk){.real = sqlite3_vfs_find("unix")};
    disk->vfs = *disk->real;
    disk->vfs.zName = "failing disk";
    disk->vfs.pNext = NULL;
    disk->vfs.szOsFile = (int)sizeof(struct disk_handle) + disk->real->szOsFile;
    disk->vfs.pAppData = disk;
    disk->vfs.xOpen = disk_open;
    disk->vfs.xDelete = disk_delete;
    sqlite3_vfs_register(&disk->vfs, 1);
}

/* The disk works again, for a process that starts anew. */
static inline void disk_heal(struct disk *disk)
{
    disk->fault = FAULT_NONE;
    disk->dead = disk->hit = false;
    disk->calls = disk->synced_again = 0;
    for (size_t i = 0; i < disk->file_count; i++)
        disk->files[i].sync_failed = false;
}

/* No file is open. The files become what a power cut leaves of them, and the disk is healed. */
static inline void disk_cut(struct disk *disk, enum cut cut, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed);
    for (size_t i = 0; i < disk->file_count; i++) {
        struct disk_file *file = &disk->files[i];
        char shm[sizeof file->name + 8];
        FILE *stream;

        for (size_t w = 0; w < file->write_count && cut != CUT_NONE_KEPT; w++) {
            const struct disk_write *write = &file->writes[w];

            if (!write->bytes && (cut == CUT_ALL_KEPT || rng_below(&rng, 2)))
                disk_apply(&file->durable, write->offset, NULL, 0);
            for (size_t from = 0, to; from < write->len; from = to) { /* sector by sector */
                to = (write->offset + from) / DISK_SECTOR * DISK_SECTOR + DISK_SECTOR - write->offset;
                to = to < write->len ? to : write->len;
                if (cut == CUT_ALL_KEPT || rng_below(&rng, 2))
                    disk_apply(&file->durable, write->offset + from, write->bytes + from, to - from);
            }
        }
        disk_forget_writes(file);
        if (access(file->name, F_OK) == 0 && (stream = fopen(file->name, "wb"))) {
            if (file->durable.len && fwrite(file->durable.text, 1, file->durable.len, stream) != file->durable.len)
                abort();
            fclose(stream);
        }
        snprintf(shm, sizeof shm, "%s-shm", file->name);
        unlink(shm);
    }
    disk_heal(disk);
}

static inline void disk_end(struct disk *disk)
{
    sqlite3_vfs_unregister(&disk->vfs);
    for (size_t i = 0; i < disk->file_count; i++) {
        disk_forget_writes(&disk->files[i]);
        buf_done(&disk->files[i].durable);
    }
}

#endif
