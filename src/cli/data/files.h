/* files.h: berth files: what its parts share.
 *
 *     files.c         the command; list, show
 *     files_sides.c   the one or two catalogues that are asked
 *     files_change.c  add, get, rm
 *     files_dataset.c dataset
 *     files_keep.c    keep, copies
 *     files_check.c   check, repair
 *     files_data.c    the bytes of files */
#ifndef BERTH_CLI_DATA_FILES_H
#define BERTH_CLI_DATA_FILES_H

#include "cli/ask/connection.h"
#include "live/data/catalogue.h"
#include "live/data/file_book.h"

struct files_settings {
    struct connection_options pool;
    const char *prefix, *store, *output, *hash, *owner, *format;
    uint64_t size; /* UINT64_MAX: not given */
    bool json, long_form;
};

/* One of the catalogues. */
struct files_side {
    struct connection pool;
    bool up; /* it has answered whenever it was asked */
};

struct files_sides {
    struct files_side items[CATALOGUES_MAX];
    size_t count;
};

/* Opens the catalogues of the setting Catalogues; with --pool, or where there are none, the pool's own. All functions here return a status; errors
 * have been reported. */
int sides_open(struct files_sides *sides, const struct files_settings *settings);
void sides_close(struct files_sides *sides);
const char *side_name(const struct files_side *side); /* for people */

/* Asks one catalogue for a file. STATUS_NO: it does not have the file. The caller ends `*ret`. */
int side_find(struct files_side *side, const char *name, struct file_entry *ret);
/* Asks all catalogues for a file and joins their answers. STATUS_NO: none has the file; or they have different files of that name, which has been
 * reported, and `*ret_differ` is set. */
int sides_find(struct files_sides *sides, const char *name, struct file_entry *ret, bool *ret_differ);
/* Loads all entries of one catalogue into a book. A catalogue that does not answer is marked. */
int side_load(struct files_side *side, const char *prefix, struct file_book *ret);

/* Tells one catalogue of a replica, which is given by its place in the entry. */
int side_add(struct files_side *side, const struct file_entry *entry, uint32_t place);
/* Gives a catalogue an entry that it does not have, with all its replicas. */
int side_put(struct files_side *side, const struct file_entry *entry);

/* Tells a catalogue how many stores are to have a file, and which; of no stores: any. */
int side_keep(struct files_side *side, const char *name, uint64_t copies, char *const *stores, size_t store_count);

/* The verbs. */
int files_dataset(const struct files_settings *settings, int word_count, char **words);
int files_add(const struct files_settings *settings, int word_count, char **words);
int files_get(const struct files_settings *settings, int word_count, char **words);
int files_rm(const struct files_settings *settings, int word_count, char **words);
int files_keep(const struct files_settings *settings, int word_count, char **words);
int files_copies(const struct files_settings *settings, int word_count, char **words);
int files_check(const struct files_settings *settings, int word_count, char **words);
int files_repair(const struct files_settings *settings, int word_count, char **words);

#endif
