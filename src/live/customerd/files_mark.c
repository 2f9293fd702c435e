/* files_mark.c: are the files of a shared folder those of the queue?
 *
 *     FOLDER/queue        a number that was drawn when the two first met
 *     space "files", "1"  the same number
 *
 * A host on which the folder is not mounted has another one of that name, which is empty: it is not to go on with the queue. Nor are two queues to
 * have one folder: their jobs have the same numbers. */
#include "live/customerd/customerd_parts.h"

#include "sys/encoding.h"
#include "sys/private_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#define MARK_FILE "queue"
#define MARK_SPACE "files"
#define MARK_BYTES 16
#define MARK_DIGITS (2 * MARK_BYTES)

static bool mark_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len;
    buf_add(user, value, len);
    return false;
}

/* Draws a number: on disk it is in the file first. */
static int mark_make(struct shelf *shelf, int dir, struct err *err)
{
    unsigned char bytes[MARK_BYTES];
    char digits[MARK_DIGITS + 1];

    randombytes_buf(bytes, sizeof bytes);
    hex_print(bytes, sizeof bytes, digits);
    if (private_write(dir, MARK_FILE, digits, MARK_DIGITS, err) < 0 ||
        shelf->kind->put(shelf, MARK_SPACE, "1", 1, digits, MARK_DIGITS, err) < 0)
        return -1;
    return shelf->kind->commit(shelf, err);
}

/* Says what is wrong, and what to do where it is the right folder all the same: a backup of the database may be older than the mark, and a start may have
 * been cut short between the mark and its row. */
static int mark_differs(const char *folder, const struct buf *row, const struct buf *file, struct err *err)
{
    if (!row->len)
        return err_set(
            err,
            "CustomerFiles: %.180s: the files there are of another queue: each has a folder of its own; if they are "
            "of this one, whose database is of before it had that folder: remove the file `" MARK_FILE "` there",
            folder);
    return err_set(
        err,
        file->len
            ? "CustomerFiles: %.180s: the files there are of another queue: each has a folder of its own; if they "
              "are of this one: put %.*s into the file `" MARK_FILE "` there"
            : "CustomerFiles: %.180s: the files of this queue are not there: is the folder mounted? If it is: "
              "put %.*s into a file `" MARK_FILE "` there (chmod 600)",
        folder, (int)row->len, row->text);
}

/* An editor ends the line. */
static void line_end_cut(struct buf *file)
{
    if (file->len && file->text[file->len - 1] == '\n')
        file->len--;
}

int files_mark_check(struct shelf *shelf, const char *folder, bool fresh, struct err *err)
{
    int dir = private_dir_open(folder, err), got;
    struct buf file, row;

    if (dir < 0)
        return -1;
    buf_init(&file);
    buf_init(&row);
    got = private_read(dir, MARK_FILE, MARK_DIGITS + 1, &file, err);
    line_end_cut(&file);
    if (got >= 0)
        got = shelf->kind->get(shelf, MARK_SPACE, "1", 1, mark_row, &row, err);
    /* a mark alone, where nothing else is yet, is left of a start that was cut short */
    if (got >= 0 && !row.len && (fresh || !file.len || faccessat(dir, "jobs", F_OK, 0) < 0))
        got = mark_make(shelf, dir, err);
    else if (got >= 0 && (row.len != file.len || memcmp(buf_string(&row), buf_string(&file), row.len) != 0))
        got = mark_differs(folder, &row, &file, err);
    close(dir);
    buf_done(&file);
    buf_done(&row);
    return got < 0 ? -1 : 0;
}
