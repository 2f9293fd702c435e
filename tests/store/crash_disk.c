/* crash_disk.c: the disk of crash_disk.h: the VFS that keeps the record, and what power cuts make of it. */
#include "crash_disk.h"

#include "lang/base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const ends[NAME_COUNT] = {"", "-wal", "-journal"};

/* ------------------------------------------------------------------------------------------------------------- bytes */

static void bytes_put(struct buf *bytes, size_t offset, const char *from, size_t len)
{
    if (bytes->len < offset + len) {
        buf_reserve(bytes, offset + len - bytes->len);
        memset(bytes->text + bytes->len, 0, offset + len - bytes->len);
        bytes->len = offset + len;
    }
    memcpy(bytes->text + offset, from, len);
}

static void bytes_cut(struct buf *bytes, size_t len)
{
    if (len < bytes->len)
        bytes->len = len;
}

static void op_apply(const struct crash_op *op, struct buf *bytes)
{
    if (op->kind == OP_WRITE)
        bytes_put(bytes, op->offset, op->bytes, op->len);
    else if (op->kind == OP_TRUNCATE)
        bytes_cut(bytes, op->len);
}

/* ---------------------------------------------------------------------------------------------------------- the record */

struct crash_handle {
    sqlite3_file base;
    struct crash_disk *disk;
    enum crash_name name;
    int file;        /* -1: not on this disk, but on the real one */
    bool folder_due; /* its first fsync is followed by one of the folder */
    bool locks;      /* the real handle is open */
};

static struct crash_handle *handle_of(sqlite3_file *file)
{
    return (struct crash_handle *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(handle_of(file) + 1);
}

static void disk_note(struct crash_disk *disk, struct crash_op op, const void *bytes)
{
    if (disk->op_count == disk->op_room) {
        disk->op_room = disk->op_room ? disk->op_room * 2 : 256;
        disk->ops = mem_grow(disk->ops, disk->op_room * sizeof *disk->ops);
    }
    if (bytes)
        op.bytes = mem_dup(bytes, op.len);
    disk->ops[disk->op_count++] = op;
}

static int disk_file_add(struct crash_disk *disk)
{
    disk->files = mem_grow(disk->files, ((size_t)disk->file_count + 1) * sizeof *disk->files);
    buf_init(&disk->files[disk->file_count].first);
    buf_init(&disk->files[disk->file_count].now);
    return disk->file_count++;
}

static void disk_folder_sync(struct crash_disk *disk)
{
    disk_note(disk, (struct crash_op){.kind = disk->lies & LIE_FOLDER ? OP_LIE : OP_FOLDER_SYNC, .file = -1}, NULL);
}

static int crash_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct crash_handle *h = handle_of(file);
    struct crash_op op = {OP_WRITE, h->file, h->name, (size_t)offset, (size_t)len, NULL};

    disk_note(h->disk, op, bytes);
    bytes_put(&h->disk->files[h->file].now, op.offset, bytes, op.len);
    return SQLITE_OK;
}

static int crash_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct crash_handle *h = handle_of(file);

    disk_note(h->disk, (struct crash_op){OP_TRUNCATE, h->file, h->name, 0, (size_t)size, NULL}, NULL);
    bytes_cut(&h->disk->files[h->file].now, (size_t)size);
    return SQLITE_OK;
}

static int crash_sync(sqlite3_file *file, int flags)
{
    struct crash_handle *h = handle_of(file);
    bool fails = ++h->disk->syncs == h->disk->fail_at;
    bool lies = h->disk->lies & (h->name == NAME_MAIN ? LIE_MAIN : LIE_LOG);

    (void)flags;
    if (fails) {
        h->disk->failed = true;
        h->disk->fail_after = h->disk->op_count;
    }
    disk_note(h->disk,
              (struct crash_op){.kind = fails  ? OP_SYNC_FAILED
                                        : lies ? OP_LIE
                                               : OP_SYNC,
                                .file = h->file,
                                .name = h->name},
              NULL);
    if (fails)
        return SQLITE_IOERR_FSYNC;
    if (h->folder_due)
        disk_folder_sync(h->disk);
    h->folder_due = false;
    return SQLITE_OK;
}

static int crash_read(sqlite3_file *file, void *to, int len, sqlite3_int64 offset)
{
    const struct buf *now = &handle_of(file)->disk->files[handle_of(file)->file].now;
    size_t from = (size_t)offset, want = (size_t)len, have = from < now->len ? now->len - from : 0;

    if (have > want)
        have = want;
    if (have)
        memcpy(to, now->text + from, have);
    memset((char *)to + have, 0, want - have);
    return have == want ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int crash_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    *ret_size = (sqlite3_int64)handle_of(file)->disk->files[handle_of(file)->file].now.len;
    return SQLITE_OK;
}

static int crash_close(sqlite3_file *file)
{
    return handle_of(file)->locks ? real_of(file)->pMethods->xClose(real_of(file)) : SQLITE_OK;
}

static int crash_control(sqlite3_file *file, int op, void *arg)
{
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int crash_sector(sqlite3_file *file)
{
    (void)file;
    return 4096; /* as SQLite's own VFS says wherever writes are safe beside others */
}

static int crash_traits(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

#define PASS(name, params, args)                   \
    static int pass_##name params                  \
    {                                              \
        return real_of(file)->pMethods->name args; \
    }
PASS(xLock, (sqlite3_file * file, int level), (real_of(file), level))
PASS(xUnlock, (sqlite3_file * file, int level), (real_of(file), level))
PASS(xCheckReservedLock, (sqlite3_file * file, int *out), (real_of(file), out))
PASS(xShmMap, (sqlite3_file * file, int page, int size, int more, void volatile **out),
     (real_of(file), page, size, more, out))
PASS(xShmLock, (sqlite3_file * file, int at, int n, int flags), (real_of(file), at, n, flags))
PASS(xShmUnmap, (sqlite3_file * file, int remove), (real_of(file), remove))
#undef PASS

static void pass_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = crash_close,
    .xRead = crash_read,
    .xWrite = crash_write,
    .xTruncate = crash_truncate,
    .xSync = crash_sync,
    .xFileSize = crash_size,
    .xLock = pass_xLock,
    .xUnlock = pass_xUnlock,
    .xCheckReservedLock = pass_xCheckReservedLock,
    .xFileControl = crash_control,
    .xSectorSize = crash_sector,
    .xDeviceCharacteristics = crash_traits,
    .xShmMap = pass_xShmMap,
    .xShmLock = pass_xShmLock,
    .xShmBarrier = pass_barrier,
    .xShmUnmap = pass_xShmUnmap,
};

/* Which of the store's files that is, or NAME_COUNT. */
static enum crash_name disk_name(const struct crash_disk *disk, const char *path)
{
    size_t len = strlen(disk->path);
    int name = 0;

    if (!path || strncmp(path, disk->path, len) != 0)
        return NAME_COUNT;
    while (name < NAME_COUNT && strcmp(path + len, ends[name]) != 0)
        name++;
    return (enum crash_name)name;
}

static int crash_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
    struct crash_disk *disk = vfs->pAppData;
    struct crash_handle *h = handle_of(file);
    int result;

    *h = (struct crash_handle){.disk = disk, .name = disk_name(disk, path)};
    if (h->name == NAME_COUNT)
        return SQLITE_CANTOPEN; /* the store needs no other, and whoever opens another has not tested it */
    if (disk->now[h->name] < 0) {
        if (!(flags & SQLITE_OPEN_CREATE))
            return SQLITE_CANTOPEN;
        disk->now[h->name] = disk_file_add(disk);
        disk_note(disk, (struct crash_op){.kind = OP_MAKE, .file = disk->now[h->name], .name = h->name}, NULL);
    }
    h->file = disk->now[h->name];
    h->folder_due = h->name != NAME_MAIN && flags & SQLITE_OPEN_CREATE;
    if (h->name == NAME_MAIN) {
        result = disk->real->xOpen(disk->real, path, real_of(file), flags, ret_flags);
        if (result != SQLITE_OK)
            return result;
        h->locks = true;
    } else if (ret_flags)
        *ret_flags = flags;
    h->base.pMethods = &methods;
    return SQLITE_OK;
}

static int crash_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    struct crash_disk *disk = vfs->pAppData;
    enum crash_name name = disk_name(disk, path);

    if (name == NAME_COUNT)
        return SQLITE_IOERR_DELETE;
    if (disk->now[name] < 0)
        return SQLITE_IOERR_DELETE_NOENT;
    disk_note(disk, (struct crash_op){.kind = OP_DELETE, .file = disk->now[name], .name = name}, NULL);
    disk->now[name] = -1;
    if (sync_folder)
        disk_folder_sync(disk);
    return SQLITE_OK;
}

static int crash_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret_there)
{
    struct crash_disk *disk = vfs->pAppData;
    enum crash_name name = disk_name(disk, path);
    bool there = name != NAME_COUNT && disk->now[name] >= 0;

    /* an empty file counts as none, as SQLite's own VFS has it */
    *ret_there = there && (flags != SQLITE_ACCESS_EXISTS || disk->files[disk->now[name]].now.len > 0);
    return SQLITE_OK;
}

static int crash_random(sqlite3_vfs *vfs, int len, char *to)
{
    struct crash_disk *disk = vfs->pAppData;

    for (int i = 0; i < len; i++)
        to[i] = (char)rng_mix(disk->seed++);
    return len;
}

void crash_disk_init(struct crash_disk *disk, const char *path, const struct crash_image *image, uint64_t seed)
{
    *disk = (struct crash_disk){.real = sqlite3_vfs_find("unix"), .seed = rng_mix(seed)};
    snprintf(disk->path, sizeof disk->path, "%s", path);
    for (int name = 0; name < NAME_COUNT; name++) {
        disk->first[name] = disk->now[name] = -1;
        if (image ? image->there[name] : name == NAME_MAIN) {
            int file = disk_file_add(disk);

            disk->first[name] = disk->now[name] = file;
            if (image) {
                buf_add(&disk->files[file].first, image->bytes[name].text, image->bytes[name].len);
                buf_add(&disk->files[file].now, image->bytes[name].text, image->bytes[name].len);
            }
        }
    }
    disk->vfs = *disk->real;
    disk->vfs.zName = "crash";
    disk->vfs.pNext = NULL;
    disk->vfs.szOsFile = (int)sizeof(struct crash_handle) + disk->real->szOsFile;
    disk->vfs.pAppData = disk;
    disk->vfs.xOpen = crash_open;
    disk->vfs.xDelete = crash_delete;
    disk->vfs.xAccess = crash_access;
    disk->vfs.xRandomness = crash_random;
    crash_disk_join(disk);
}

void crash_disk_join(struct crash_disk *disk)
{
    sqlite3_vfs_register(&disk->vfs, 1);
    sqlite3_randomness(0, NULL); /* begins anew, from crash_random */
}

void crash_disk_leave(struct crash_disk *disk)
{
    sqlite3_vfs_unregister(&disk->vfs);
    sqlite3_vfs_register(disk->real, 1);
}

void crash_disk_done(struct crash_disk *disk)
{
    for (int i = 0; i < disk->file_count; i++) {
        buf_done(&disk->files[i].first);
        buf_done(&disk->files[i].now);
    }
    for (size_t i = 0; i < disk->op_count; i++)
        free(disk->ops[i].bytes);
    free(disk->files);
    free(disk->ops);
}

/* ---------------------------------------------------------------------------------------------------------- power cuts */

void crash_replay_init(struct crash_replay *replay, const struct crash_disk *disk)
{
    *replay = (struct crash_replay){.disk = disk};
    memcpy(replay->names, disk->first, sizeof replay->names);
    replay->durable = mem_alloc((size_t)disk->file_count * sizeof *replay->durable);
    for (int i = 0; i < disk->file_count; i++) {
        buf_init(&replay->durable[i]);
        buf_add(&replay->durable[i], disk->files[i].first.text, disk->files[i].first.len);
    }
    replay->pending = mem_alloc((disk->op_count + 1) * sizeof *replay->pending);
    replay->doomed = mem_alloc((disk->op_count + 1) * sizeof *replay->doomed);
    memset(replay->doomed, 0, (disk->op_count + 1) * sizeof *replay->doomed);
}

void crash_replay_done(struct crash_replay *replay)
{
    for (int i = 0; i < replay->disk->file_count; i++)
        buf_done(&replay->durable[i]);
    free(replay->durable);
    free(replay->pending);
    free(replay->doomed);
}

static bool op_of_folder(const struct crash_op *op)
{
    return op->kind == OP_MAKE || op->kind == OP_DELETE;
}

static int name_after(const struct crash_op *op)
{
    return op->kind == OP_MAKE ? op->file : -1;
}

/* What the sync covers is durable, and pending no more. What an earlier one failed to cover is lost. */
static void replay_sync(struct crash_replay *replay, const struct crash_op *sync)
{
    size_t kept = 0;

    for (size_t i = 0; i < replay->pending_count; i++) {
        size_t at = replay->pending[i];
        const struct crash_op *op = &replay->disk->ops[at];
        bool covers = sync->kind == OP_FOLDER_SYNC ? op_of_folder(op) : !op_of_folder(op) && op->file == sync->file;

        if (!covers || sync->kind == OP_SYNC_FAILED) {
            replay->pending[kept++] = at;
            replay->doomed[at] = replay->doomed[at] || covers;
        } else if (op_of_folder(op))
            replay->names[op->name] = name_after(op);
        else if (!replay->doomed[at])
            op_apply(op, &replay->durable[op->file]);
    }
    replay->pending_count = kept;
}

bool crash_replay_step(struct crash_replay *replay)
{
    const struct crash_op *op = &replay->disk->ops[replay->at];

    if (replay->at == replay->disk->op_count)
        return false;
    if (op->kind == OP_SYNC || op->kind == OP_SYNC_FAILED || op->kind == OP_FOLDER_SYNC)
        replay_sync(replay, op);
    else if (op->kind != OP_LIE)
        replay->pending[replay->pending_count++] = replay->at;
    replay->at++;
    return true;
}

/* One power cut. */
struct cut {
    enum crash_keep keep;
    size_t place; /* among the pending operations, for those ways of keeping that have one */
    uint64_t seed;
};

enum fate { FATE_LOST, FATE_KEPT, FATE_JUNK, FATE_PARTS };

/* Of the operation as a whole, the `i`th of those that are pending. */
static enum fate cut_fate(const struct cut *cut, size_t i, bool whole, struct rng *rng)
{
    switch (cut->keep) {
    case KEEP_NONE:
        return FATE_LOST;
    case KEEP_TORN:
        return i < cut->place ? FATE_KEPT : i > cut->place || whole ? FATE_LOST : FATE_PARTS;
    case KEEP_LATE:
        return i < cut->place ? FATE_LOST : FATE_KEPT;
    case KEEP_WRITES:
        return (enum fate)rng_below(rng, 2);
    case KEEP_SECTORS:
    case KEEP_JUNK:
        return whole ? (enum fate)rng_below(rng, 2) : FATE_PARTS;
    default:
        return FATE_KEPT;
    }
}

/* Of a sector of it. */
static void sector_apply(struct buf *bytes, size_t offset, const char *from, size_t len, enum fate fate,
                         struct rng *rng)
{
    char junk[CRASH_SECTOR];

    for (size_t i = 0; fate == FATE_JUNK && i < len; i++)
        junk[i] = (char)rng_next(rng);
    if (fate != FATE_LOST)
        bytes_put(bytes, offset, fate == FATE_JUNK ? junk : from, len);
}

static void parts_apply(const struct cut *cut, const struct crash_op *op, struct rng *rng, struct buf *bytes)
{
    size_t sectors = (op->offset + op->len - 1) / CRASH_SECTOR - op->offset / CRASH_SECTOR + 1;
    size_t left = rng_below(rng, sectors); /* for KEEP_TORN: those that are kept */

    for (size_t from = 0, to; from < op->len; from = to) {
        enum fate fate = cut->keep == KEEP_TORN ? (left ? FATE_KEPT : FATE_LOST)
                                                : (enum fate)rng_below(rng, cut->keep == KEEP_JUNK ? 3 : 2);

        to = (op->offset + from) / CRASH_SECTOR * CRASH_SECTOR + CRASH_SECTOR - op->offset;
        to = to < op->len ? to : op->len;
        left -= left > 0;
        sector_apply(bytes, op->offset + from, op->bytes + from, to - from, fate, rng);
    }
}

/* First where the names lead, since a file without one is of no interest. */
void crash_replay_cut(const struct crash_replay *replay, enum crash_keep keep, uint64_t seed, struct crash_image *image)
{
    struct cut cut = {.keep = keep, .seed = rng_mix(seed ^ rng_mix(replay->at * KEEP_COUNT + keep))};
    int names[NAME_COUNT];

    cut.place = cut.seed % (replay->pending_count + 1);
    memcpy(names, replay->names, sizeof names);
    for (int pass = 0; pass < 2; pass++) {
        for (int name = 0; name < NAME_COUNT && pass == 1; name++) {
            image->there[name] = names[name] >= 0;
            buf_reset(&image->bytes[name]);
            if (image->there[name])
                buf_add(&image->bytes[name], replay->durable[names[name]].text, replay->durable[names[name]].len);
        }
        for (size_t i = 0; i < replay->pending_count; i++) {
            const struct crash_op *op = &replay->disk->ops[replay->pending[i]];
            bool folder = op_of_folder(op), whole = op->kind != OP_WRITE || op->len == 0;
            struct rng rng;
            enum fate fate;

            if (folder != (pass == 0) || (!folder && names[op->name] != op->file))
                continue;
            rng_init(&rng, rng_mix(cut.seed + replay->pending[i]));
            fate = cut_fate(&cut, i, whole, &rng);
            if (fate == FATE_PARTS)
                parts_apply(&cut, op, &rng, &image->bytes[op->name]);
            else if (fate == FATE_KEPT && folder)
                names[op->name] = name_after(op);
            else if (fate == FATE_KEPT)
                op_apply(op, &image->bytes[op->name]);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------------- images */

void crash_image_init(struct crash_image *image)
{
    *image = (struct crash_image){0};
    for (int name = 0; name < NAME_COUNT; name++)
        buf_init(&image->bytes[name]);
}

void crash_image_done(struct crash_image *image)
{
    for (int name = 0; name < NAME_COUNT; name++)
        buf_done(&image->bytes[name]);
}

uint64_t crash_image_hash(const struct crash_image *image)
{
    uint64_t hash = 0;

    for (int name = 0; name < NAME_COUNT; name++) {
        const struct buf *bytes = &image->bytes[name];

        hash = rng_mix(hash ^ (image->there[name] ? bytes->len + 1 : 0));
        for (size_t i = 0; image->there[name] && i < bytes->len; i += 8) {
            uint64_t word = 0;

            memcpy(&word, bytes->text + i, bytes->len - i < 8 ? bytes->len - i : 8);
            hash = rng_mix(hash ^ word);
        }
    }
    return hash;
}

void crash_disk_image(const struct crash_disk *disk, struct crash_image *image)
{
    for (int name = 0; name < NAME_COUNT; name++) {
        const struct buf *now = disk->now[name] < 0 ? NULL : &disk->files[disk->now[name]].now;

        image->there[name] = now != NULL;
        buf_reset(&image->bytes[name]);
        if (now)
            buf_add(&image->bytes[name], now->text, now->len);
    }
}

bool crash_image_write(const struct crash_image *image, const char *path)
{
    bool written = true;

    for (int name = 0; name < NAME_COUNT; name++) {
        const struct buf *bytes = &image->bytes[name];
        char whole[CRASH_PATH_MAX + 16];
        FILE *file;

        snprintf(whole, sizeof whole, "%s%s", path, ends[name]);
        if (!image->there[name]) {
            unlink(whole);
            continue;
        }
        file = fopen(whole, "wb");
        written = file && (bytes->len == 0 || fwrite(bytes->text, 1, bytes->len, file) == bytes->len) && written;
        if (file && fclose(file) != 0)
            written = false;
    }
    return written;
}
