/* disabled.c: the book of users who are shut out. */
#include "live/auth/disabled.h"

#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void disabled_init(struct disabled *book, uint64_t seed)
{
    *book = (struct disabled){.room = 0};
    textmap_init(&book->names, seed);
}

void disabled_done(struct disabled *book)
{
    textmap_done(&book->names);
    free(book->entries);
    book->entries = NULL;
    book->room = 0;
}

void disabled_set(struct disabled *book, const char *name, size_t len, const struct disabled_entry *entry)
{
    uint32_t place = textmap_add(&book->names, name, len);
    struct disabled_entry *kept;

    if (place >= book->room) {
        book->room = place < 16 ? 16 : 2 * place;
        book->entries = mem_grow(book->entries, book->room * sizeof *book->entries);
    }
    kept = &book->entries[place];
    *kept = *entry;
    snprintf(kept->words, sizeof kept->words, "disabled%s%s", *kept->reason ? ": " : "", kept->reason);
}

bool disabled_remove(struct disabled *book, const char *name, size_t len)
{
    uint32_t place = textmap_find(&book->names, name, len);

    if (place != TEXTMAP_NONE)
        textmap_remove(&book->names, place);
    return place != TEXTMAP_NONE;
}

const struct disabled_entry *disabled_named(const struct disabled *book, const char *name, size_t len)
{
    uint32_t place = textmap_find(&book->names, name, len);

    return place == TEXTMAP_NONE ? NULL : &book->entries[place];
}

/* The same as identity_is_of() of one of the names: each that is a beginning of the identity, or a part of it with a ':' is looked for. */
const struct disabled_entry *disabled_find(const struct disabled *book, const char *identity, size_t len)
{
    const struct disabled_entry *found = NULL;
    size_t part = 0;

    if (!book->names.count)
        return NULL;
    for (size_t end = 1; end <= len && !found; end++) {
        if (end < len && identity[end] != '/')
            continue;
        found = disabled_named(book, identity, end);
        if (!found && part && memchr(identity + part, ':', end - part))
            found = disabled_named(book, identity + part, end - part);
        part = end + 1;
    }
    return found;
}
