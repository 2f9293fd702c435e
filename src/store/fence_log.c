/* fence_log.c: was something lost in the middle of a store's log?
 *
 *     FILE-wal   header (32 bytes: magic, version, page, sequence, two salts, two sums), frames
 *     frame      page's number, pages of the file if it ends a commit (else 0), the header's salts, two sums over all so far; the page
 *
 * SQLite takes what a log holds up to the first frame whose sums are wrong, and drops the rest without a word: so it has to be after a power cut,
 * where the last commit may have been written in part. But a commit is only begun when the one before is on disk. So where two commits lie behind
 * a frame that is wrong, the first of them was acknowledged, and is lost: that is damage. */
#include "store/store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADER 32
#define FRAME 24
#define MAGIC 0x377f0682u /* the last bit: sums are of numbers whose highest byte comes first */
#define PAGE_MAX 65536u

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t number_of(const unsigned char *at, bool high)
{
    return high ? number_at(at) : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void sums_add(uint32_t sums[2], const unsigned char *at, size_t len, bool high)
{
    for (const unsigned char *end = at + len; at < end; at += 8) {
        sums[0] += number_of(at, high) + sums[1];
        sums[1] += number_of(at + 4, high) + sums[0];
    }
}

/* How many commits lie behind the first frame whose sums are wrong? */
static uint32_t commits_behind(int fd, const unsigned char header[HEADER], unsigned char *frame, size_t page)
{
    bool high = number_at(header) & 1, good = true;
    uint32_t sums[2] = {0, 0}, commits = 0;
    off_t at = HEADER;

    sums_add(sums, header, 24, high);
    if (sums[0] != number_at(header + 24) || sums[1] != number_at(header + 28))
        good = false;
    for (; pread(fd, frame, FRAME + page, at) == (ssize_t)(FRAME + page); at += (off_t)(FRAME + page)) {
        if (memcmp(frame + 8, header + 16, 8) != 0)
            break; /* of the log's life before: nothing of this one is behind it */
        sums_add(sums, frame, 8, high);
        sums_add(sums, frame + FRAME, page, high);
        good = good && sums[0] == number_at(frame + 16) && sums[1] == number_at(frame + 20);
        commits += !good && number_at(frame + 4) != 0;
    }
    return commits;
}

int fence_look_log(const char *path, struct err *err)
{
    unsigned char header[HEADER], *frame;
    char name[PATH_MAX];
    uint32_t page, commits = 0;
    int fd;

    if (snprintf(name, sizeof name, "%s-wal", path) >= (int)sizeof name || (fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    if (pread(fd, header, HEADER, 0) == HEADER && (number_at(header) & ~1u) == MAGIC) {
        page = number_at(header + 8);
        if (page >= 512 && page <= PAGE_MAX && (page & (page - 1)) == 0) {
            frame = mem_alloc(FRAME + page);
            commits = commits_behind(fd, header, frame, page);
            free(frame);
        }
    }
    close(fd);
    return commits < 2
               ? 0
               : err_set(err, "%s: is damaged (its log: %u commits are behind what cannot be read): " STORE_WHAT_TO_DO,
                         path, commits);
}
