/* table.h: rows of results: aligned columns for people, JSON lines for programs.
 *
 *     NAME   SCOPE  REFERENCE              {"name": "heron", "scope": "other", "reference": "other.Memory"}
 *     heron  other  other.Memory
 *
 * As JSON each row goes out when it is complete; aligned columns wait for the end. */
#ifndef BERTH_CLI_TABLE_H
#define BERTH_CLI_TABLE_H

#include "base/buf.h"

#include <stdbool.h>

#define TABLE_COLUMNS_MAX 16

struct table {
    const char *const *columns;
    size_t column_count;
    bool json;
    size_t next; /* the column that the next cell is in */
    struct buf out;
    struct buf text; /* all cells, one behind another ... */
    size_t *ends;    /* ... and where each ends */
    bool *numbers;   /* is it one? They are aligned to the right, and not quoted in JSON */
    size_t count, room;
};

void table_init(struct table *table, const char *const *columns, size_t column_count, bool json);
void table_done(struct table *table);

/* The next cell, in the order of the columns. */
void table_text(struct table *table, const char *text, size_t len);
void table_number(struct table *table, const char *format, ...) ERR_FORMAT(2, 3);

/* Prints what has not been printed. -1 when standard output failed. */
int table_finish(struct table *table);

#endif
