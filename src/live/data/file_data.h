/* file_data.h: what a file is, by its bytes: size and SHA-256; and the path that a file:// URL means. */
#ifndef BERTH_LIVE_DATA_FILE_DATA_H
#define BERTH_LIVE_DATA_FILE_DATA_H

#include "live/data/file_entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a file from where the descriptor stands to its end, and gives size and hash. What is read is written to `to` as well, unless that is -1. -1
 * and `err`. */
int file_data_read(int fd, int to, int64_t *ret_size, char ret_hash[FILE_HASH_LEN + 1], struct err *err);

/* Is that the file of the entry? 0: it is; -1 and in what it differs. */
int file_data_check(int64_t size, const char *hash, const struct file_entry *entry, struct err *err);

/* Appends the path that a URL means: /dir/a b for file:///dir/a%20b. False when it is not such a URL, or its escapes are wrong. */
bool file_url_path(const char *url, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
