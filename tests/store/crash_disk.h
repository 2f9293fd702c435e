/* crash_disk.h: a disk whose power is cut at any moment, after the fact: an SQLite VFS that writes down all that is asked of it.
 *
 *     crash_disk_init(&disk, path, NULL, 1);   every store opened from now on at `path` is on it
 *     ... put, commit ...                      disk.op_count counts what the disk was asked to do
 *     crash_disk_leave(&disk);                 no store is open on it any more; the record stays
 *     crash_replay_init(&replay, &disk);
 *     while (crash_replay_step(&replay))       after each operation:
 *         crash_replay_cut(&replay, KEEP_TORN, seed, &image);     the power is cut here; this is what is left
 *     crash_disk_init(&next, path, &image, 2); and with that the next process begins
 *
 * The bytes are in memory. At `path` there must be a file that is not empty: on it are the locks, and beside it the shared memory, which
 * are those of SQLite's own VFS.
 *
 * What an fsync of a file has covered stays. Of all else a power cut leaves any part, down to sectors. Where a name leads is covered by
 * an fsync of the folder, and SQLite's own VFS makes one of those in two places: after the first fsync of a log or journal that it
 * opened so that it is made, and after a deletion if that is asked for. The store makes its main file itself, and syncs the folder,
 * before SQLite sees it: so that name stays. SQLite renames nothing. After an fsync that failed, what it should have covered can be read
 * until the power is cut, and no later one covers it. A write changes no byte beside those that it is given (as SQLite's own VFS says of
 * disks: SQLITE_IOCAP_POWERSAFE_OVERWRITE). */
#ifndef BERTH_TESTS_CRASH_DISK_H
#define BERTH_TESTS_CRASH_DISK_H

#include "lang/base/buf.h"

#include <sqlite3.h>
#include <stdbool.h>

#define CRASH_SECTOR 512
#define CRASH_PATH_MAX 256

/* The files that a store may have, by the ends of their names. */
enum crash_name { NAME_MAIN, NAME_LOG, NAME_JOURNAL, NAME_COUNT };

/* What is left of what no fsync has covered. */
enum crash_keep {
    KEEP_NONE,
    KEEP_ALL,
    KEEP_TORN,    /* all up to some write, and the first sectors of that one */
    KEEP_LATE,    /* nothing up to some write, and all from there on */
    KEEP_WRITES,  /* some writes whole, others not at all */
    KEEP_SECTORS, /* some sectors of each write */
    KEEP_JUNK,    /* the same, but some sectors hold neither the old nor the new */
    KEEP_COUNT
};

/* Syncs that the disk says it did, and does not: bits. */
enum crash_lie { LIE_MAIN = 1, LIE_LOG = 2, LIE_FOLDER = 4, LIE_ALL = 7 };

enum crash_kind { OP_WRITE, OP_TRUNCATE, OP_SYNC, OP_SYNC_FAILED, OP_FOLDER_SYNC, OP_MAKE, OP_DELETE, OP_LIE };

struct crash_op {
    enum crash_kind kind;
    int file;             /* which, among all that there ever were */
    enum crash_name name; /* it has, or had */
    size_t offset, len;
    char *bytes;
};

struct crash_file {
    struct buf first, now; /* what the disk began with, and what a reader sees */
};

struct crash_disk {
    sqlite3_vfs vfs, *real;
    uint64_t seed;
    char path[CRASH_PATH_MAX];
    struct crash_file *files;
    int file_count;
    int first[NAME_COUNT], now[NAME_COUNT]; /* where the names lead: a file or -1 */
    struct crash_op *ops;
    size_t op_count, op_room;
    unsigned lies;     /* enum crash_lie */
    uint64_t fail_at;  /* the fsync of a file that fails, from 1 */
    uint64_t syncs;    /* fsyncs of files so far */
    size_t fail_after; /* operations before the one that failed */
    bool failed;
};

/* What a power cut leaves. */
struct crash_image {
    bool there[NAME_COUNT];
    struct buf bytes[NAME_COUNT];
};

/* A walk through what a disk was asked. */
struct crash_replay {
    const struct crash_disk *disk;
    size_t at;             /* operations done */
    struct buf *durable;   /* by file */
    int names[NAME_COUNT]; /* durable */
    size_t *pending;       /* operations that no fsync has covered */
    bool *doomed;          /* by operation: none ever will */
    size_t pending_count;
};

/* Begins with the image, or with an empty main file; and becomes SQLite's default. From the seed follow the numbers that SQLite draws:
 * no two processes should draw the same, since by them it tells an old log from a new one. */
void crash_disk_init(struct crash_disk *disk, const char *path, const struct crash_image *image, uint64_t seed);
void crash_disk_leave(struct crash_disk *disk); /* SQLite's own is the default again */
void crash_disk_join(struct crash_disk *disk);  /* and this one once more */
void crash_disk_done(struct crash_disk *disk);

void crash_replay_init(struct crash_replay *replay, const struct crash_disk *disk);
void crash_replay_done(struct crash_replay *replay);
bool crash_replay_step(struct crash_replay *replay); /* false at the end */
void crash_replay_cut(const struct crash_replay *replay, enum crash_keep keep, uint64_t seed,
                      struct crash_image *image);

void crash_image_init(struct crash_image *image);
void crash_image_done(struct crash_image *image);
uint64_t crash_image_hash(const struct crash_image *image);
/* What a reader sees now, as after the process ended and the system went on. */
void crash_disk_image(const struct crash_disk *disk, struct crash_image *image);
/* Real files at `path`. */
bool crash_image_write(const struct crash_image *image, const char *path);

#endif
