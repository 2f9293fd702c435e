/* files.h: berth files: what its parts share.
 *
 *     files.c         the command; list, show
 *     files_sides.c   the one or two catalogues that are asked
 *     files_change.c  add, get, rm
 *     files_check.c   check, repair */
#ifndef BERTH_CLI_DATA_FILES_H
#define BERTH_CLI_DATA_FILES_H

#include "cli/ask/connection.h"
#include "live/data/catalogue.h"
#include "live/data/file_book.h"

struct files_settings {
    struct connection_options pool;
    const char *prefix, *store, *output, *hash, *owner, *format;
    uint64_t size; /* UINT64_MAX: not said */
    bool json, long_form;
};

/* One of the catalogues. */
struct files_side {
    struct connection pool;
    bool up; /* it has not failed to answer yet */
};

struct files_sides {
    struct files_side items[CATALOGUES_MAX];
    size_t count;
};

/* Those of the setting Catalogues; with --pool, or where there are none, the pool's own. All return a status; what is wrong was reported. */
int sides_open(struct files_sides *sides, const struct files_settings *settings);
void sides_close(struct files_sides *sides);
const char *side_name(const struct files_side *side); /* for people */

/* What one says of a file. STATUS_NO: it does not have it. `*ret` is to be ended. */
int side_find(struct files_side *side, const char *name, struct file_entry *ret);
/* What they say together. STATUS_NO: none has it; or, when they call different files so, it was reported, and `*ret_differ`. */
int sides_find(struct files_sides *sides, const char *name, struct file_entry *ret, bool *ret_differ);
/* All entries of one, in a book. One that does not answer is marked. */
int side_load(struct files_side *side, const char *prefix, struct file_book *ret);

/* A replica is told to one of them, by its place in the entry. */
int side_add(struct files_side *side, const struct file_entry *entry, uint32_t place);
/* An entry that it does not have, with all its replicas. */
int side_put(struct files_side *side, const struct file_entry *entry);

/* The verbs. */
int files_add(const struct files_settings *settings, int word_count, char **words);
int files_get(const struct files_settings *settings, int word_count, char **words);
int files_rm(const struct files_settings *settings, int word_count, char **words);
int files_check(const struct files_settings *settings, int word_count, char **words);
int files_repair(const struct files_settings *settings, int word_count, char **words);

#endif
