/* joblog.c: what happened to a job, for people. */
#include "live/customerd/joblog.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX_BYTES 1024

static void line_add(struct buf *out, int64_t at, const char *text)
{
    time_t seconds = (time_t)at;
    char stamp[32] = "";
    struct tm tm;

    if (gmtime_r(&seconds, &tm))
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_addf(out, "%s ", stamp);
    for (; *text; text++) /* the words may come from strangers: a line stays a line */
        buf_addc(out, (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
    buf_addc(out, '\n');
}

void joblog_add(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t now, const char *format, ...)
{
    int fd = jobfiles_log(files, job, O_WRONLY | O_CREAT | O_APPEND);
    char text[TEXT_MAX_BYTES];
    struct stat stat;
    va_list arguments;
    struct buf lines;

    if (fd < 0)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buf_init(&lines);
    if (fstat(fd, &stat) < 0)
        stat.st_size = 0;
    if (!stat.st_size)
        line_add(&lines, submitted, "submitted");
    if (stat.st_size < JOBLOG_MAX)
        line_add(&lines, now, text);
    if (stat.st_size < JOBLOG_MAX && stat.st_size + (int64_t)lines.len >= JOBLOG_MAX)
        line_add(&lines, now, "the log is full: nothing more is written here");
    if (lines.len && write(fd, lines.text, lines.len) < 0) {
        ; /* nobody depends on it */
    }
    buf_done(&lines);
    close(fd);
}

bool joblog_exists(struct jobfiles *files, uint64_t job)
{
    int fd = jobfiles_log(files, job, O_RDONLY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

uint64_t joblog_read(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t changed, const char *words,
                     uint64_t offset, size_t max, struct buf *out)
{
    int fd = jobfiles_log(files, job, O_RDONLY);
    struct stat stat;
    struct buf first;
    uint64_t size;
    ssize_t got;

    if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0) {
        size = (uint64_t)stat.st_size;
        if (offset < size && (got = pread(fd, buf_reserve(out, max), max, (off_t)offset)) > 0)
            out->len += (size_t)got;
        close(fd);
        return size;
    }
    if (fd >= 0)
        close(fd);
    buf_init(&first);
    line_add(&first, submitted, "submitted");
    if (words)
        line_add(&first, changed, words);
    size = first.len;
    if (offset < size)
        buf_add(out, first.text + offset, size - offset < max ? size - offset : max);
    buf_done(&first);
    return size;
}
