/* file_book.c: the entries of a catalogue of files, in the order of their names; and as rows on a shelf. */
#include "live/data/file_book.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"

#include <stdlib.h>
#include <string.h>

void file_book_init(struct file_book *book, uint64_t seed)
{
    *book = (struct file_book){0};
    textmap_init(&book->owners, seed);
}

void file_book_done(struct file_book *book)
{
    for (uint32_t i = 0; i < book->count; i++) {
        file_entry_done(book->items[i]);
        free(book->items[i]);
    }
    free(book->items);
    free(book->owned);
    textmap_done(&book->owners);
}

uint32_t file_book_from(const struct file_book *book, const char *name)
{
    uint32_t low = 0, high = book->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (strcmp(book->items[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct file_entry *file_book_find(const struct file_book *book, const char *name)
{
    uint32_t place = file_book_from(book, name);

    return place < book->count && !strcmp(book->items[place]->name, name) ? book->items[place] : NULL;
}

/* -------------------------------------------------------------------------------------------------------------- counts */

/* For whom an entry counts: for the account of who has registered it, since to be named as an owner must cost nobody anything. */
static const char *counts_for(const struct file_entry *entry)
{
    return entry->by ? entry->by : entry->owner ? entry->owner : "";
}

uint32_t file_book_owned(const struct file_book *book, const char *who)
{
    uint32_t place = textmap_find(&book->owners, who, account_len(who, strlen(who)));

    return place == TEXTMAP_NONE ? 0 : book->owned[place];
}

static void count_add(struct file_book *book, const struct file_entry *entry)
{
    const char *who = counts_for(entry);
    uint32_t place = textmap_add(&book->owners, who, account_len(who, strlen(who)));

    if (place >= book->owner_room) {
        uint32_t before = book->owner_room;

        book->owner_room = (place + 1) * 2;
        book->owned = mem_grow(book->owned, book->owner_room * sizeof *book->owned);
        memset(book->owned + before, 0, (book->owner_room - before) * sizeof *book->owned);
    }
    book->owned[place] += file_entry_weight(entry);
    book->weight += file_entry_weight(entry);
    book->replicas += entry->count;
}

static void count_drop(struct file_book *book, const struct file_entry *entry)
{
    const char *who = counts_for(entry);
    uint32_t place = textmap_find(&book->owners, who, account_len(who, strlen(who)));

    book->replicas -= entry->count;
    book->weight -= file_entry_weight(entry);
    if (place != TEXTMAP_NONE && (book->owned[place] -= file_entry_weight(entry)) == 0)
        textmap_remove(&book->owners, place);
}

/* ------------------------------------------------------------------------------------------------------------- changes */

static void place_make(struct file_book *book, uint32_t place)
{
    ARRAY_ROOM(book->items, book->count, book->room, 64);
    memmove(&book->items[place + 1], &book->items[place], (book->count - place) * sizeof *book->items);
    book->items[place] = mem_alloc(sizeof **book->items);
    *book->items[place] = (struct file_entry){0};
    book->count++;
}

struct file_entry *file_book_put_take(struct file_book *book, struct file_entry *entry)
{
    uint32_t place = file_book_from(book, entry->name);

    if (place < book->count && !strcmp(book->items[place]->name, entry->name)) {
        count_drop(book, book->items[place]);
        file_entry_done(book->items[place]);
    } else {
        place_make(book, place);
    }
    *book->items[place] = *entry;
    *entry = (struct file_entry){0};
    count_add(book, book->items[place]);
    return book->items[place];
}

void file_book_remove(struct file_book *book, const char *name)
{
    uint32_t place = file_book_from(book, name);
    struct file_entry *entry = place < book->count ? book->items[place] : NULL;

    if (!entry || strcmp(entry->name, name) != 0)
        return;
    book->count--;
    memmove(&book->items[place], &book->items[place + 1], (book->count - place) * sizeof *book->items);
    count_drop(book, entry);
    file_entry_done(entry);
    free(entry);
}

int file_book_replica_put(struct file_book *book, struct file_entry *entry, const char *store, const char *url,
                          struct err *err)
{
    uint32_t before = entry->count;
    int failed = file_replica_put(entry, store, url, err);

    book->replicas += entry->count - before;
    return failed;
}

bool file_book_replica_drop(struct file_book *book, struct file_entry *entry, const char *store)
{
    bool dropped = file_replica_drop(entry, store);

    book->replicas -= dropped;
    return dropped;
}

/* ---------------------------------------------------------------------------------------------------------------- rows */

int file_book_keep(const struct file_book *book, struct shelf *shelf, struct symbols *symbols, const char *name,
                   struct err *err)
{
    const struct file_entry *entry = file_book_find(book, name);
    struct tree *ad;
    struct buf text;
    int failed;

    if (!entry)
        return shelf->kind->remove(shelf, FILES_SPACE, name, strlen(name), err);
    ad = file_entry_ad(entry, symbols);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    failed = shelf->kind->put(shelf, FILES_SPACE, name, strlen(name), text.text, text.len, err);
    buf_done(&text);
    tree_unref(ad);
    return failed;
}

struct loading {
    struct file_book *book;
    struct symbols *symbols;
    struct err *err;
    bool failed;
};

/* Loads a row. One that cannot be read is an error and not left out, for a catalogue that forgets would be believed. */
static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct loading *loading = user;
    struct tree *ad = form_parse(loading->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, loading->err);
    struct file_entry entry;

    loading->failed = !ad || file_entry_read(ad, &entry, loading->err) < 0;
    tree_unref(ad);
    if (loading->failed) {
        err_context(loading->err, "the file %.*s", (int)key_len, (const char *)key);
        return false;
    }
    if (entry.name && strlen(entry.name) == key_len && !memcmp(entry.name, key, key_len)) {
        (void)file_book_put_take(loading->book, &entry);
        return true;
    }
    file_entry_done(&entry);
    err_set(loading->err, "the file %.*s has a row of another name", (int)key_len, (const char *)key);
    loading->failed = true;
    return false;
}

int file_book_load(struct file_book *book, struct shelf *shelf, struct symbols *symbols, struct err *err)
{
    struct loading loading = {.book = book, .symbols = symbols, .err = err};

    return shelf->kind->each(shelf, FILES_SPACE, row_load, &loading, err) < 0 || loading.failed ? -1 : 0;
}
