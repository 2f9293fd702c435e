/* file_entry.h: an entry of a catalogue of files: a logical name, what the file is, and where there are replicas of it; or a dataset, a name for
 * many files.
 *
 *     [Name = "run7/a.dat"; Size = 4096; Hash = "sha256:9f86..."; Owner = "alice"; By = "machine/heron";
 *      Replicas = {[Store = "se1"; Url = "http://se1:8080/data/run7/a.dat"], [Store = "se2"; Url = "file:///data/run7/a.dat"]}]
 *
 * Size and Hash say what the file is: a replica of another size or hash is none. By is who has registered it, where that is not the owner.
 * Replicas are in the order of their stores' names, one a store.
 *
 *     [Name = "run7"; Files = {"run7/a.dat", "run7/b.dat"}; Owner = "alice"]
 *
 * A dataset says which files are meant, and nothing of what they are or where; they need not be in the catalogue (yet).
 *
 *     Copies = 2; CopiesAt = {"se1", "se2", "se3"}
 *
 * in a file's entry is a wish: so many stores are to have the file, these before others. Who sees to it is the owner's customer. */
#ifndef BERTH_LIVE_DATA_FILE_ENTRY_H
#define BERTH_LIVE_DATA_FILE_ENTRY_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FILE_NAME_MAX 200     /* bytes of a logical name */
#define FILE_STORE_MAX 128    /* of a store's name */
#define FILE_URL_MAX 2048     /* of a replica's URL */
#define FILE_HASH_LEN 71      /* of "sha256:" and 64 digits */
#define FILE_REPLICAS_MAX 32  /* of one file */
#define FILE_HASH_DIGITS_AT 7 /* where the digits begin */
#define FILE_DATASET_MAX 1000 /* files of a dataset: as many as a job reads */

struct file_replica {
    char *store, *url;
};

struct file_entry {
    char *name, *owner, *by; /* by: NULL, the owner */
    int64_t size;
    char hash[FILE_HASH_LEN + 1];
    struct file_replica *replicas;
    uint32_t count;
    char **
        files; /* of a dataset: their names, in the order in which they were given; its hash is that of the list. NULL: it is a file */
    uint32_t file_count;
    uint32_t copies; /* how many stores are to have it; 0: nobody has said */
    char **at;       /* which ones, in that order; NULL: any */
    uint32_t at_count;
    int64_t
        changed; /* of an entry in the matchmaker's book: when, in seconds on the wall clock; 0: before it was read */
};

/* Is that a good name for a file? It has parts with '/' between, none of them empty, "." or "..", and no control character. */
bool file_name_is_good(const char *name, size_t len);
/* Is that a name which is kept for an account, such as ~alice/run7/a.dat? Nobody else may take it. */
bool file_name_is_kept(const char *name);
bool file_name_is_of(const char *name, const char *identity); /* for the account of that identity? */
bool file_store_is_good(const char *store, size_t len);
bool file_url_is_good(const char *url, size_t len); /* file, http, https or sftp; no password in it */
bool file_hash_is_good(const char *hash, size_t len);
const char *file_name_last(const char *name); /* its last part, inside it */

/* How much room an entry takes among those that one identity may have: a dataset as much as its names. */
static inline uint32_t file_entry_weight(const struct file_entry *entry)
{
    return 1 + entry->file_count;
}

/* Reads an entry from an ad; the caller frees it with file_entry_done. -1 and the attribute that is wrong. Replicas may be missing. */
int file_entry_read(const struct tree *ad, struct file_entry *ret, struct err *err);
/* The same from an ad that tells of one replica: Store and Url beside Size, Hash and perhaps Owner. */
int file_addition_read(const struct tree *ad, struct file_entry *ret, struct err *err);
/* Reads Copies and CopiesAt alone; of 0 copies the wish is over. */
int file_keep_read(const struct tree *ad, struct file_entry *ret, struct err *err);
void file_entry_done(struct file_entry *entry); /* takes a zeroed one */
void file_entry_copy(const struct file_entry *entry, struct file_entry *ret);
/* Puts what `wish` says of copies in the place of what the entry says; what it holds of that is taken. */
void file_keep_take(struct file_entry *entry, struct file_entry *wish);

/* The entry as an ad; the caller unrefs it. */
struct tree *file_entry_ad(const struct file_entry *entry, struct symbols *symbols);

/* The place of the replica in that store; -1: there is none. */
int file_replica_find(const struct file_entry *entry, const char *store);
/* Adds a replica, or puts another URL in its place. -1: there are too many. */
int file_replica_put(struct file_entry *entry, const char *store, const char *url, struct err *err);
/* Adds the replicas that another entry of the same file has besides, as far as there is room. */
void file_replicas_join(struct file_entry *entry, const struct file_entry *more);
bool file_replica_drop(struct file_entry *entry, const char *store); /* false: there was none */

/* Do two catalogues disagree about one file? (NULL: that one does not have it.) The words are appended: "left has no
 * replica in se1; right has the hash sha256:..". `differ`: they call different files by one name, so that nobody can say which is right. */
bool file_entry_compare(const struct file_entry *left, const struct file_entry *right, const char *left_name,
                        const char *right_name, struct buf *words, bool *ret_differ);

#ifdef __cplusplus
}
#endif
#endif
