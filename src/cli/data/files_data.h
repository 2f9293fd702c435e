/* files_data.h: the bytes of files, for `berth files`: measures them, puts them into a store, fetches them from one. */
#ifndef BERTH_CLI_DATA_FILES_DATA_H
#define BERTH_CLI_DATA_FILES_DATA_H

#include "live/config/config.h"
#include "live/data/file_data.h"

/* Finds the size and hash of a path, or of a URL. All functions here return -1 and `err`. */
int data_measure(const struct config *config, const char *what, int64_t *ret_size, char ret_hash[FILE_HASH_LEN + 1],
                 struct err *err);

/* Copies a file of this machine to where the URL says. It is there whole under its name, or not at all. */
int data_put(const struct config *config, const char *path, const char *url, const struct file_entry *entry,
             struct err *err);

/* Copies a replica into a file of this machine, and checks it by the entry. It is there whole and right under its name, or not at all. */
int data_get(const struct config *config, const char *url, const char *path, const struct file_entry *entry,
             struct err *err);

#endif
