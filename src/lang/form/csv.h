/* csv.h: a table as people keep it in a file: a line of names, then a line a row, with commas between the fields.
 *
 *     seed, file, note            field(0, 2) = "note"
 *     17, data/a.csv, "a, b"      field(1, 2) = "a, b"     row 0 is the line of names
 *
 * A field may be quoted: then it may hold commas and line ends, and `""` is a quote. Blanks around a field are not part of it unless they are quoted.
 * Lines end with LF or CRLF; a line without anything in it is no row. Every row has as many fields as there are names. Time and memory are linear in
 * the text, and bounded by the limits below; an error has its line and column. */
#ifndef BERTH_LANG_FORM_CSV_H
#define BERTH_LANG_FORM_CSV_H

#include "lang/base/buf.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CSV_BYTES_MAX (16u << 20)
#define CSV_COLUMNS_MAX 256
#define CSV_ROWS_MAX 100000
#define CSV_FIELDS_MAX 2000000

struct csv_field {
    size_t start; /* in the text of all fields */
    size_t len;
    unsigned line, column; /* where it stands in the file */
};

struct csv {
    struct buf text;
    struct csv_field *fields; /* row by row */
    size_t count, room;
    uint32_t columns;
};

void csv_init(struct csv *csv);
void csv_done(struct csv *csv);

/* Reads a table, which must have a line of names; `csv` is empty. -1 with the place of what is wrong. */
int csv_read(struct csv *csv, const char *text, size_t len, struct err *err);

/* Adds a field to a table that is made and not read; its first row is of names, and the caller has set how many columns there are. */
void csv_add(struct csv *csv, const char *text, size_t len, unsigned line, unsigned column);

/* Rows, without that of the names. */
static inline uint32_t csv_rows(const struct csv *csv)
{
    return csv->columns ? (uint32_t)(csv->count / csv->columns) - 1 : 0;
}

/* A field of a row that there is. Row 0 is that of the names. */
static inline const struct csv_field *csv_field(const struct csv *csv, uint32_t row, uint32_t column)
{
    return &csv->fields[(size_t)row * csv->columns + column];
}

/* The text of a field; it has no NUL at its end, and is lent until something is added. */
static inline const char *csv_text(const struct csv *csv, const struct csv_field *field)
{
    return csv->text.text ? csv->text.text + field->start : "";
}

#ifdef __cplusplus
}
#endif
#endif
