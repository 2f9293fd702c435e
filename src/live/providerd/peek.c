/* peek.c: the end of a file in the folder of a job that runs. */
#include "live/providerd/peek.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "live/world/commands.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the last so many lines begin; an end of line at the very end belongs to the last of them. */
static size_t lines_begin(const char *bytes, size_t len, int64_t lines)
{
    size_t at = len && bytes[len - 1] == '\n' ? len - 1 : len;

    if (!lines)
        return len;
    while (at > 0 && !(bytes[at - 1] == '\n' && --lines == 0))
        at--;
    return at;
}

static struct tree *bytes_tell(struct symbols *symbols, int fd, int64_t size, const struct peek_order *order)
{
    int64_t lines = order->bytes < 0 && order->lines < 0 && order->offset < 0 ? PEEK_LINES : order->lines;
    int64_t most = order->bytes >= 0                       ? order->bytes
                   : order->lines < 0 && order->offset < 0 ? PEEK_BYTES
                                                           : PEEK_BYTES_MAX;
    int64_t from = order->offset >= 0 ? order->offset : size > most ? size - most : 0;
    char *bytes = mem_alloc((size_t)most + 1);
    ssize_t got = from < size ? pread(fd, bytes, (size_t)most, from) : 0;
    size_t skip, len = got > 0 ? (size_t)got : 0;
    struct maker maker;
    struct buf data;
    struct tree *ad;

    skip = lines >= 0 ? lines_begin(bytes, len, lines) : 0;
    buf_init(&data);
    base64url_print(&data, bytes + skip, len - skip);
    maker_init(&maker, symbols);
    maker_text(&maker, "Reason", "ok");
    maker_text(&maker, "File", order->name);
    maker_integer(&maker, "Size", size);
    maker_integer(&maker, "From", from + (int64_t)skip);
    maker_bytes(&maker, "Data", data.text ? data.text : "", data.len);
    ad = maker_seal(&maker);
    buf_done(&data);
    free(bytes);
    return ad;
}

struct names {
    char *items[PEEK_FILES_MAX];
    uint32_t count;
};

/* Keeps the name of a file for the answer. A name that cannot stand in an ad is passed over. */
static int name_keep(void *user, const char *name)
{
    struct names *names = user;

    if (utf8_check(name, strlen(name), NULL) < 0)
        return 0;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return 0;
    names->items[names->count++] = mem_dup(name, strlen(name));
    return names->count == PEEK_FILES_MAX;
}

static struct tree *names_tell(struct symbols *symbols, int folder)
{
    struct names names = {.count = 0};
    struct maker maker;
    struct tree *ad;

    confined_each(folder, UINT32_MAX, name_keep, &names, NULL);
    maker_init(&maker, symbols);
    maker_text(&maker, "Reason", "missing");
    maker_text(&maker, "Words", "there is no file of that name in the job's folder");
    maker_texts(&maker, "Files", (const char *const *)names.items, names.count);
    ad = maker_seal(&maker);
    while (names.count)
        free(names.items[--names.count]);
    return ad;
}

struct tree *peek_answer(struct symbols *symbols, const char *folder, const struct peek_order *order)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd, failed;
    struct err err = {0};
    struct tree *answer;
    int64_t size = 0;

    if (at < 0)
        return command_reason(symbols, "missing", "the job has no folder yet");
    fd = confined_read(at, order->name, &size, &err);
    failed = errno;
    if (fd >= 0)
        answer = bytes_tell(symbols, fd, size, order);
    else if (failed == ENOENT)
        answer = names_tell(symbols, at);
    else
        answer =
            command_reason(symbols, "refused",
                           failed == ELOOP || failed == EXDEV || failed == EINVAL
                               ? "that is not a file of the job's own: links, devices and the like are not followed"
                               : strerror(failed));
    if (fd >= 0)
        close(fd);
    close(at);
    return answer;
}
