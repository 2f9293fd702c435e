/* file_book.h: the entries of a catalogue of files, in the order of their names; and as rows on a shelf.
 *
 *     run6/z.dat  run7/a.dat  run7/b.dat ...       an array of entries: found by halves, listed from a prefix on
 *
 * A new name moves those behind it by a place: of a million that takes half a millisecond at most. */
#ifndef BERTH_LIVE_DATA_FILE_BOOK_H
#define BERTH_LIVE_DATA_FILE_BOOK_H

#include "lang/base/textmap.h"
#include "live/data/file_entry.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FILES_SPACE "file" /* rows: a logical name -> the entry, as an ad */
#define FILES_MAX 4000000u /* entries of a catalogue */

struct file_book {
    struct file_entry **items;
    uint32_t count, room;
    uint64_t replicas;     /* of all of them */
    uint64_t weight;       /* of all of them: file_entry_weight() */
    struct textmap owners; /* who have registered something ... */
    uint32_t *owned;       /* ... and how much: weights */
    uint32_t owner_room;
};

void file_book_init(struct file_book *book, uint64_t seed);
void file_book_done(struct file_book *book);
int file_book_load(struct file_book *book, struct shelf *shelf, struct symbols *symbols, struct err *err);

/* The first place whose name does not come before that one. */
uint32_t file_book_from(const struct file_book *book, const char *name);
struct file_entry *file_book_find(const struct file_book *book, const char *name); /* NULL: it has none */
uint32_t file_book_owned(const struct file_book *book, const char *who);

/* Puts an entry in the place of the one of that name; what it holds is taken. */
struct file_entry *file_book_put_take(struct file_book *book, struct file_entry *entry);
void file_book_remove(struct file_book *book, const char *name);
/* The same as file_replica_put and file_replica_drop, for an entry of the book, which counts replicas. */
int file_book_replica_put(struct file_book *book, struct file_entry *entry, const char *store, const char *url,
                          struct err *err);
bool file_book_replica_drop(struct file_book *book, struct file_entry *entry, const char *store);

/* Keeps the entry of that name as a row on the shelf; where the book has none any more, removes the row. */
int file_book_keep(const struct file_book *book, struct shelf *shelf, struct symbols *symbols, const char *name,
                   struct err *err);

#ifdef __cplusplus
}
#endif
#endif
