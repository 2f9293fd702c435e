/* usage_book.c: what was used, month by month: a table of rows, found by month, kind and name. */
#include "pool/matchmaker/usage_book.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_LOOKS 20000 /* rows that are looked at in one writing ... */
#define FOLD_ROWS 500    /* ... and of these, rows that are folded */
#define KEY_HEAD 7       /* bytes before the name: six digits and the kind */
#define KEY_MAX (KEY_HEAD + TEXT_MAX)
#define DAY 86400
#define MONTH_LAST 999912

void usage_book_init(struct usage_book *book, uint64_t seed)
{
    *book = (struct usage_book){.last_key = 0};
    textmap_init(&book->names, seed);
}

void usage_book_done(struct usage_book *book)
{
    textmap_done(&book->names);
    free(book->rows);
    free(book->months);
    free(book->removed);
}

/* Days are counted from 1 March 0000, so that the leap day is the last of a year. */
int64_t usage_month(int64_t wall_seconds)
{
    int64_t days = (wall_seconds > 0 ? wall_seconds / DAY : 0) + 719468, era = days / 146097, day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t rest = day - (365 * year + year / 4 - year / 100), month = (5 * rest + 2) / 153;
    int64_t number = (year + era * 400 + (month > 9)) * 100 + (month > 9 ? month - 9 : month + 3);

    return number < MONTH_LAST ? number : MONTH_LAST;
}

/* ---------------------------------------------------------------------------------------------------------- amounts */

static int64_t sum(int64_t a, int64_t b)
{
    return a > USAGE_AMOUNT_MAX - b ? USAGE_AMOUNT_MAX : a + b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What is kept is never negative and never too large to add, whatever stands on the disk. */
static int64_t bounded(int64_t amount)
{
    return amount < 0 ? 0 : amount > USAGE_AMOUNT_MAX ? USAGE_AMOUNT_MAX : amount;
}

void usage_amounts_add(struct usage_amounts *to, const struct usage_amounts *more)
{
#define X(name, how) to->name = how(to->name, bounded(more->name));
    USAGE_AMOUNTS(X)
#undef X
}

/* ----------------------------------------------------------------------------------------------------------- months */

static uint32_t month_find(const struct usage_book *book, int64_t month)
{
    uint32_t at = book->month_count;

    while (at && book->months[at - 1].month >= month)
        at--;
    return at;
}

/* How many months with rows are newer. */
static uint32_t month_age(const struct usage_book *book, int64_t month)
{
    uint32_t at = month_find(book, month);

    return book->month_count - at - (at < book->month_count && book->months[at].month == month);
}

static struct usage_month *month_make(struct usage_book *book, int64_t month)
{
    uint32_t at = month_find(book, month);

    if (at < book->month_count && book->months[at].month == month)
        return &book->months[at];
    ARRAY_ROOM(book->months, book->month_count, book->month_room, 16);
    memmove(&book->months[at + 1], &book->months[at], (book->month_count - at) * sizeof *book->months);
    book->month_count++;
    book->months[at] = (struct usage_month){.month = month};
    book->folds = true; /* another month is old now */
    return &book->months[at];
}

static void month_drop(struct usage_book *book, int64_t month, bool of_machine)
{
    uint32_t at = month_find(book, month);
    struct usage_month *found = &book->months[at];

    found->names[of_machine]--;
    if (found->names[0] || found->names[1])
        return;
    book->month_count--;
    memmove(found, found + 1, (book->month_count - at) * sizeof *book->months);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static size_t row_text(char ret[KEY_MAX + 1], int64_t month, bool of_machine, const char *name)
{
    return (size_t)snprintf(ret, KEY_MAX + 1, "%06lld%c%s", (long long)month, of_machine ? 'm' : 'u', name);
}

static struct usage_row *row_find(const struct usage_book *book, int64_t month, bool of_machine, const char *name)
{
    char text[KEY_MAX + 1];
    size_t len = row_text(text, month, of_machine, name);
    uint32_t place = textmap_find(&book->names, text, len);

    return place == TEXTMAP_NONE ? NULL : &book->rows[place];
}

static struct usage_row *row_make(struct usage_book *book, int64_t month, bool of_machine, const char *name)
{
    char text[KEY_MAX + 1];
    size_t len = row_text(text, month, of_machine, name);
    uint32_t place = textmap_find(&book->names, text, len), before = book->room;

    if (place != TEXTMAP_NONE)
        return &book->rows[place];
    place = textmap_add(&book->names, text, len);
    if (place >= book->room) {
        book->room = place + place / 2 + 16;
        book->rows = mem_grow(book->rows, book->room * sizeof *book->rows);
        memset(book->rows + before, 0, (book->room - before) * sizeof *book->rows);
    }
    book->rows[place] = (struct usage_row){
        .name = textmap_text(&book->names, place) + KEY_HEAD, .month = month, .of_machine = of_machine};
    month_make(book, month)->names[of_machine]++;
    return &book->rows[place];
}

static void row_drop(struct usage_book *book, uint32_t place)
{
    struct usage_row *row = &book->rows[place];

    if (row->key) {
        ARRAY_ROOM(book->removed, book->removed_count, book->removed_room, 64);
        book->removed[book->removed_count++] = row->key;
    }
    month_drop(book, row->month, row->of_machine);
    *row = (struct usage_row){.name = NULL};
    textmap_remove(&book->names, place);
}

/* Where use of that month, kind and name is kept, by the age of the month. */
static int64_t month_kept(const struct usage_book *book, int64_t month)
{
    return month_age(book, month) < USAGE_MONTHS ? month : 0;
}

static const char *name_kept(const struct usage_book *book, int64_t month, bool of_machine, const char *name)
{
    return of_machine && (!month || month_age(book, month) >= USAGE_MACHINE_MONTHS) ? USAGE_ALL : name;
}

static void row_add(struct usage_book *book, int64_t month, bool of_machine, const char *name,
                    const struct usage_amounts *amounts)
{
    struct usage_row *row;

    month = month_kept(book, month);
    name = name_kept(book, month, of_machine, name);
    row = row_find(book, month, of_machine, name);
    if (!row && month_make(book, month)->names[of_machine] >= USAGE_NAMES_MAX)
        name = USAGE_OTHERS;
    row = row ? row : row_make(book, month, of_machine, name);
    usage_amounts_add(&row->amounts, amounts);
    row->dirty = book->dirty = true;
}

void usage_book_add(struct usage_book *book, int64_t month, const char *account, const char *machine,
                    const struct usage_amounts *amounts)
{
    row_add(book, month, false, account, amounts);
    row_add(book, month, true, machine, amounts);
}

/* ---------------------------------------------------------------------------------------------------------- on disk */

void usage_book_load(struct usage_book *book, const struct record *record)
{
    const struct usage_record *kept = &record->u.usage_record;
    struct usage_amounts amounts = {0};
    struct usage_row *row;

    if (record->key > book->last_key)
        book->last_key = record->key;
    row = row_make(book, kept->month < 0 || kept->month > MONTH_LAST ? 0 : kept->month, kept->of_machine,
                   kept->whose.bytes);
#define X(name, how) amounts.name = kept->name;
    USAGE_AMOUNTS(X)
#undef X
    usage_amounts_add(&row->amounts, &amounts);
    row->key = row->key ? row->key : record->key;
}

static void row_write(struct usage_book *book, struct usage_row *row, struct effects *effects)
{
    struct record record = {.kind = RECORD_USAGE};
    struct usage_record *kept = &record.u.usage_record;

    row->dirty = false;
    if (!row->key)
        row->key = ++book->last_key;
    record.key = row->key;
    kept->month = row->month;
    kept->of_machine = row->of_machine;
    text_set(&kept->whose, row->name, strlen(row->name));
#define X(name, how) kept->name = row->amounts.name;
    USAGE_AMOUNTS(X)
#undef X
    effects_persist(effects, &record);
}

/* Folds rows of months that have become old, some at a time: the row and what it is folded into are written together. */
static void book_fold(struct usage_book *book)
{
    uint32_t folded = 0, looks = 0;

    for (; looks < FOLD_LOOKS && folded < FOLD_ROWS && book->fold_at < book->room; looks++, book->fold_at++) {
        struct usage_row row = book->rows[book->fold_at];
        char name[TEXT_MAX + 1];
        int64_t month;

        if (!row.name)
            continue;
        month = month_kept(book, row.month);
        if (month == row.month && !strcmp(name_kept(book, month, row.of_machine, row.name), row.name))
            continue;
        snprintf(name, sizeof name, "%s", row.name);
        row_drop(book, book->fold_at);
        row_add(book, month, row.of_machine, name, &row.amounts);
        folded++;
    }
    if (book->fold_at < book->room)
        return;
    book->fold_at = 0;
    book->folds = false;
}

bool usage_book_is_dirty(const struct usage_book *book)
{
    return book->dirty || book->folds;
}

void usage_book_write(struct usage_book *book, struct effects *effects)
{
    if (book->folds)
        book_fold(book);
    for (uint32_t i = 0; i < book->removed_count; i++)
        effects_remove(effects, RECORD_USAGE, book->removed[i]);
    book->removed_count = 0;
    for (uint32_t i = 0; book->dirty && i < book->room; i++)
        if (book->rows[i].name && book->rows[i].dirty)
            row_write(book, &book->rows[i], effects);
    book->dirty = false;
}

/* ----------------------------------------------------------------------------------------------------------- checks */

bool usage_book_valid(const struct usage_book *book, const char **ret_why)
{
    uint32_t rows = 0, counted = 0;

    for (uint32_t i = 0; i < book->room; i++)
        rows += book->rows[i].name != NULL;
    for (uint32_t i = 0; i < book->month_count; i++)
        counted += book->months[i].names[0] + book->months[i].names[1];
    if (rows != counted || rows != book->names.count)
        *ret_why = "rows of usage are not counted right";
    return rows == counted && rows == book->names.count;
}
