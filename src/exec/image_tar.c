/* image_tar.c: reads a tar file that strangers made. */
#include "exec/image_tar.h"

#include "lang/base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512
#define TAR_SIZE_MAX (INT64_MAX / 2) /* of an entry: other sizes can be added to it */

/* The head of an entry, as it lies in the file. */
struct head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6], version[2];
    char user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};

void tar_init(struct tar *tar, tar_read_fn *read, void *user)
{
    memset(tar, 0, sizeof *tar);
    tar->read = read;
    tar->user = user;
    tar->size_pax = -1;
}

/* Reads all of them; 1. 0: the file ended before the first. */
static int read_all(struct tar *tar, void *bytes, size_t len, struct err *err)
{
    size_t have = 0;

    while (have < len) {
        ssize_t got = tar->read(tar->user, (char *)bytes + have, len - have, err);

        if (got < 0)
            return -1;
        if (got == 0)
            return have ? err_set(err, "the tar file is cut short") : 0;
        have += (size_t)got;
    }
    tar->at += (int64_t)len;
    return 1;
}

static int pass_over(struct tar *tar, int64_t bytes, struct err *err)
{
    char room[8192];

    while (bytes > 0) {
        size_t part = bytes < (int64_t)sizeof room ? (size_t)bytes : sizeof room;
        int got = read_all(tar, room, part, err);

        if (got <= 0)
            return got < 0 ? -1 : err_set(err, "the tar file is cut short");
        bytes -= (int64_t)part;
    }
    return 0;
}

/* A number in octal digits, or in binary when its first bit is set. -1: it is none. */
static int64_t number_read(const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    int64_t number = 0;
    size_t i = 0;

    if (bytes[0] & 0x80) {
        if (bytes[0] != 0x80)
            return -1;
        for (i = 1; i < len; i++) {
            if (number > INT64_MAX >> 8)
                return -1;
            number = number << 8 | bytes[i];
        }
        return number;
    }
    while (i < len && text[i] == ' ')
        i++;
    for (; i < len && text[i] >= '0' && text[i] <= '7'; i++) {
        if (number > INT64_MAX >> 3)
            return -1;
        number = number << 3 | (text[i] - '0');
    }
    return i < len && text[i] && text[i] != ' ' ? -1 : number;
}

static bool sum_is_right(const struct head *head)
{
    const unsigned char *bytes = (const unsigned char *)head;
    int64_t sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= offsetof(struct head, sum) && i < offsetof(struct head, type) ? ' ' : bytes[i];
    return number_read(head->sum, sizeof head->sum) == sum;
}

static bool is_zero(const struct head *head)
{
    const char *bytes = (const char *)head;

    for (size_t i = 0; i < BLOCK; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Reads the contents of an entry that is about the next one. The caller frees it; NULL and `err`. */
static char *about_read(struct tar *tar, int64_t size, int64_t most, struct err *err)
{
    char *text;

    if (size > most) {
        err_set(err, "a name or header in the tar file is too long");
        return NULL;
    }
    text = mem_alloc((size_t)size + 1);
    text[size] = '\0';
    if ((size && read_all(tar, text, (size_t)size, err) != 1) ||
        pass_over(tar, (BLOCK - size % BLOCK) % BLOCK, err) < 0) {
        err_set(err, "the tar file is cut short");
        free(text);
        return NULL;
    }
    return text;
}

static int long_name(struct tar *tar, int64_t size, char ret[TAR_NAME_MAX + 1], struct err *err)
{
    char *text = about_read(tar, size, TAR_NAME_MAX + 1, err);

    if (!text)
        return -1;
    if (strlen(text) > TAR_NAME_MAX) {
        free(text);
        return err_set(err, "a name in the tar file is too long");
    }
    strcpy(ret, text);
    free(text);
    return 0;
}

/* Takes one record of a pax header, KEY=VALUE. */
static int pax_record(struct tar *tar, const char *record, size_t len, struct err *err)
{
    static const char *const keys[] = {"path=", "linkpath=", "size="};
    char *into[] = {tar->name, tar->link};

    for (size_t i = 0; i < 3; i++) {
        size_t key = strlen(keys[i]);

        if (len < key || memcmp(record, keys[i], key) != 0)
            continue;
        if (i == 2) {
            char *end;

            tar->size_pax = strtoll(record + key, &end, 10);
            return tar->size_pax >= 0 && tar->size_pax <= TAR_SIZE_MAX && end == record + len
                       ? 0
                       : err_set(err, "a size in the tar file is no number");
        }
        if (len - key > TAR_NAME_MAX || memchr(record + key, '\0', len - key))
            return err_set(err, "a name in the tar file is too long");
        memcpy(into[i], record + key, len - key);
        into[i][len - key] = '\0';
        return 0;
    }
    if (len > 11 && !memcmp(record, "GNU.sparse.", 11))
        return err_set(err, "there is a sparse file in the tar file");
    return 0;
}

/* "LENGTH KEY=VALUE\n", one after another; the length is that of all of it. */
static int pax_read(struct tar *tar, int64_t size, struct err *err)
{
    char *text = about_read(tar, size, TAR_PAX_MAX, err), *at = text, *end = text ? text + size : NULL;
    int failed = text ? 0 : -1;

    while (!failed && at < end && *at) {
        char *blank;
        unsigned long long len = strtoull(at, &blank, 10);

        if (len > (unsigned long long)(end - at) || *blank != ' ' || blank + 1 >= at + len || at[len - 1] != '\n') {
            failed = err_set(err, "a header of the tar file is not in order");
            break;
        }
        at[len - 1] = '\0';
        failed = pax_record(tar, blank + 1, (size_t)(at + len - 1 - (blank + 1)), err);
        at += len;
    }
    free(text);
    return failed;
}

/* Fills in the entry's names, unless a header before it has said them. */
static void names_read(struct tar *tar, const struct head *head)
{
    size_t len = 0;

    if (!*tar->name) {
        if (!memcmp(head->magic, "ustar", 5) && memcmp(head->magic, "ustar ", 6) != 0 && head->prefix[0]) {
            len = strnlen(head->prefix, sizeof head->prefix);
            memcpy(tar->name, head->prefix, len);
            tar->name[len++] = '/';
        }
        memcpy(tar->name + len, head->name, strnlen(head->name, sizeof head->name));
        tar->name[len + strnlen(head->name, sizeof head->name)] = '\0';
    }
    if (!*tar->link) {
        len = strnlen(head->link, sizeof head->link);
        memcpy(tar->link, head->link, len);
        tar->link[len] = '\0';
    }
}

static int entry_take(struct tar *tar, const struct head *head, int64_t size, struct tar_entry *ret, struct err *err)
{
    char type = head->type ? head->type : '0';
    int64_t mode = number_read(head->mode, sizeof head->mode);
    size_t len;

    if (type == 'S')
        return err_set(err, "there is a sparse file in the tar file");
    names_read(tar, head);
    size = tar->size_pax >= 0 ? tar->size_pax : size;
    tar->size_pax = -1;
    if (type == '7')
        type = '0';
    len = strlen(tar->name);
    if (type == '0' && len && tar->name[len - 1] == '/')
        type = '5'; /* as the oldest programs wrote folders */
    if (type >= '1' && type <= '6')
        size = 0; /* only files have contents */
    tar->left = size;
    tar->padding = (BLOCK - size % BLOCK) % BLOCK;
    *ret = (struct tar_entry){.type = type,
                              .name = tar->name,
                              .link = tar->link,
                              .size = size,
                              .mode = mode < 0 ? 0644 : (uint32_t)mode & 07777};
    return 1;
}

int tar_next(struct tar *tar, struct tar_entry *ret, struct err *err)
{
    struct head head;

    if (pass_over(tar, tar->left, err) < 0 || pass_over(tar, tar->padding, err) < 0)
        return -1;
    tar->left = tar->padding = 0;
    tar->name[0] = tar->link[0] = '\0';
    for (;;) {
        int got = read_all(tar, &head, sizeof head, err);
        int64_t size;

        if (got <= 0 || is_zero(&head))
            return got < 0 ? -1 : 0;
        size = number_read(head.size, sizeof head.size);
        if (!sum_is_right(&head) || size < 0 || size > TAR_SIZE_MAX)
            return err_set(err, "it is no tar file, or not a whole one");
        if (head.type == 'L' || head.type == 'K') {
            if (long_name(tar, size, head.type == 'L' ? tar->name : tar->link, err) < 0)
                return -1;
        } else if (head.type == 'x') {
            if (pax_read(tar, size, err) < 0)
                return -1;
        } else if (head.type == 'g') {
            if (pass_over(tar, size + (BLOCK - size % BLOCK) % BLOCK, err) < 0)
                return -1;
        } else {
            return entry_take(tar, &head, size, ret, err);
        }
    }
}

ssize_t tar_contents(struct tar *tar, void *bytes, size_t len, struct err *err)
{
    size_t part = (int64_t)len < tar->left ? len : (size_t)tar->left;
    int got;

    if (!part)
        return 0;
    got = read_all(tar, bytes, part, err);
    if (got <= 0)
        return got < 0 ? -1 : err_set(err, "the tar file is cut short");
    tar->left -= (int64_t)part;
    return (ssize_t)part;
}
