/* files_data.h: the bytes of files, for `berth files`: measured, put into a store, fetched from one. */
#ifndef BERTH_CLI_DATA_FILES_DATA_H
#define BERTH_CLI_DATA_FILES_DATA_H

#include "live/config/config.h"
#include "live/data/file_data.h"

/* Of a path, or of a URL. All return -1 and `err`. */
int data_measure(const struct config *config, const char *what, int64_t *ret_size, char ret_hash[FILE_HASH_LEN + 1],
                 struct err *err);

/* A file of this machine to where the URL says: whole under its name, or not there. */
int data_put(const struct config *config, const char *path, const char *url, const struct file_entry *entry,
             struct err *err);

/* A replica into a file of this machine, checked by the entry: whole and right under its name, or not there. */
int data_get(const struct config *config, const char *url, const char *path, const struct file_entry *entry,
             struct err *err);

#endif
