/* table.h: rows of results: aligned columns for people, JSON lines for programs.
 *
 *     NAME   SCOPE  REFERENCE              {"name": "heron", "scope": "other", "reference": "other.Memory"}
 *     heron  other  other.Memory
 *
 * On a terminal the widest columns are cut so that a line fits; what goes to a file or another program is whole.
 *
 * As JSON each row goes out when it is complete; aligned columns wait for the end, or for table_flush. */
#ifndef BERTH_CLI_TERM_TABLE_H
#define BERTH_CLI_TERM_TABLE_H

#include "lang/base/buf.h"

#include <stdbool.h>

#define TABLE_COLUMNS_MAX 24

enum table_tone { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD };

struct table {
    const char *const *columns;
    size_t column_count;
    bool json;
    size_t next; /* the column that the next cell is in */
    struct buf out;
    struct buf text;      /* all cells, one behind another ... */
    size_t *ends;         /* ... and where each ends */
    bool *numbers;        /* whether each is a number: numbers are aligned to the right, and not quoted in JSON */
    unsigned char *tones; /* the enum table_tone of each */
    size_t count, room;
    size_t widths[TABLE_COLUMNS_MAX]; /* of what has been printed so far */
    bool begun;                       /* the heading is out */
};

void table_init(struct table *table, const char *const *columns, size_t column_count, bool json);
void table_done(struct table *table);

/* Add the next cell, in the order of the columns. */
void table_text(struct table *table, const char *text, size_t len);
void table_number(struct table *table, const char *format, ...) ERR_FORMAT(2, 3);
void table_json(struct table *table, const char *text, size_t len); /* JSON already: written as it is, of any length */

/* Says how good what the last cell tells is: on a terminal with colours it is green or red. */
void table_tone(struct table *table, enum table_tone tone);

/* Prints the rows so far and goes on, for tables too long to be kept. The rows that follow stand under the same heading, in columns as wide, or wider
 * where they must be. -1 when standard output failed. */
int table_flush(struct table *table);

/* Prints the rows that have not been printed. -1 when standard output failed. */
int table_finish(struct table *table);

#endif
