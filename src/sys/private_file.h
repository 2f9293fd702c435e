/* private_file.h: files that only their owner may read, and the small ads that are kept in them.
 *
 *     [
 *         Token = "v4.public...";
 *         Ca = "-----BEGIN CERTIFICATE-----\n...";
 *     ]
 *
 * Such an ad is one of the language, but has strings only, and is read and written here, since the language's own
 * reader leaves copies of what it read in memory: here all of them are overwritten. */
#ifndef BERTH_SYS_PRIVATE_FILE_H
#define BERTH_SYS_PRIVATE_FILE_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a folder, which is made with mode 0700 when it is not there, and returns its descriptor; -1 when it is a link, is not ours, or others
 * may enter it. */
int private_dir_open(const char *path, struct err *err);

/* Removes files that a write left behind when the machine stopped. Only while nobody else writes there. */
void private_dir_sweep(int dir);

/* Reads a whole file in that folder (or AT_FDCWD) into an empty buffer, which gets room for all of it first. 1: read; 0: there is no such file;
 * -1: it is not a regular file of ours, others can read or write it, or it has more than `max` bytes. The caller wipes the buffer. */
int private_read(int dir, const char *name, size_t max, struct buf *ret_text, struct err *err);

/* Writes a file, all of it or nothing, in the place of what was there. */
int private_write(int dir, const char *name, const char *text, size_t len, struct err *err);

struct private_field {
    const char *name;
    bool required;
    char **value; /* a string of mem_dup's, or NULL */
};

/* Fills the values, which are the caller's to wipe; those not there become NULL. -1 when a field is unknown or there
 * twice, one that is required is missing, or the text is no such ad: then none is set. Values hold no NUL. */
int private_ad_read(const char *text, size_t len, const struct private_field *fields, size_t count, struct err *err);

/* Appends to an empty buffer; fields whose value is NULL are left out. */
void private_ad_print(struct buf *out, const struct private_field *fields, size_t count);

#ifdef __cplusplus
}
#endif
#endif
