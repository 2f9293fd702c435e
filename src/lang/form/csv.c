/* csv.c: a table in a file becomes rows of fields. */
#include "lang/form/csv.h"

#include "lang/base/array.h"

#include <stdlib.h>
#include <string.h>

/* Where the reading is. */
struct csv_reader {
    struct csv *csv;
    const char *at, *end, *line_start;
    unsigned line;
    struct err *err;
};

void csv_init(struct csv *csv)
{
    *csv = (struct csv){.count = 0};
    buf_init(&csv->text);
}

void csv_done(struct csv *csv)
{
    buf_done(&csv->text);
    free(csv->fields);
}

void csv_add(struct csv *csv, const char *text, size_t len, unsigned line, unsigned column)
{
    ARRAY_ROOM(csv->fields, csv->count, csv->room, 64);
    csv->fields[csv->count++] = (struct csv_field){.start = csv->text.len, .len = len, .line = line, .column = column};
    buf_add(&csv->text, text, len);
}

/* ------------------------------------------------------------------------------------------------------------- one field */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Does a line end here? A CR alone is a byte as any other. */
static bool is_line_end(const struct csv_reader *reader, const char *at)
{
    return at == reader->end || *at == '\n' || (*at == '\r' && (at + 1 == reader->end || at[1] == '\n'));
}

static unsigned column_of(const struct csv_reader *reader, const char *at)
{
    return (unsigned)(at - reader->line_start) + 1;
}

static void blanks_skip(struct csv_reader *reader)
{
    while (reader->at < reader->end && is_blank(*reader->at))
        reader->at++;
}

/* Notes that the byte before `at` has ended a line. */
static void line_begin(struct csv_reader *reader, const char *at)
{
    reader->line++;
    reader->line_start = at;
}

static int plain_read(struct csv_reader *reader)
{
    const char *start = reader->at, *stop;

    for (; !is_line_end(reader, reader->at) && *reader->at != ','; reader->at++) {
        if (*reader->at == '"')
            return err_at(reader->err, reader->line, column_of(reader, reader->at),
                          "a quote within a field: quote the whole field, and write the quote twice");
        if (!*reader->at)
            return err_at(reader->err, reader->line, column_of(reader, reader->at), "there is a NUL in the field");
    }
    stop = reader->at;
    while (stop > start && is_blank(stop[-1]))
        stop--;
    csv_add(reader->csv, start, (size_t)(stop - start), reader->line, column_of(reader, start));
    return 0;
}

/* Reads a quoted field: what stands between the quotes, each `""` as one. */
static int quoted_read(struct csv_reader *reader)
{
    unsigned line = reader->line, column = column_of(reader, reader->at);
    size_t start = reader->csv->text.len;

    csv_add(reader->csv, NULL, 0, line, column);
    for (reader->at++;; reader->at++) {
        if (reader->at == reader->end)
            return err_at(reader->err, line, column, "expected '\"' at the end of this field");
        if (!*reader->at)
            return err_at(reader->err, reader->line, column_of(reader, reader->at), "there is a NUL in the field");
        if (*reader->at == '"' && (reader->at + 1 == reader->end || reader->at[1] != '"'))
            break;
        reader->at += *reader->at == '"';
        buf_addc(&reader->csv->text, *reader->at);
        if (*reader->at == '\n')
            line_begin(reader, reader->at + 1);
    }
    reader->csv->fields[reader->csv->count - 1].len = reader->csv->text.len - start;
    reader->at++;
    blanks_skip(reader);
    if (is_line_end(reader, reader->at) || *reader->at == ',')
        return 0;
    return err_at(reader->err, reader->line, column_of(reader, reader->at), "expected a comma behind a quoted field");
}

/* ------------------------------------------------------------------------------------------------------------------ rows */

static void line_end_skip(struct csv_reader *reader)
{
    if (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    if (reader->at < reader->end && *reader->at == '\n')
        line_begin(reader, ++reader->at);
}

/* Are there as many fields as there are names? `line` and `column` are where the row begins. */
static int row_check(struct csv_reader *reader, uint32_t fields, unsigned line, unsigned column)
{
    struct csv *csv = reader->csv;

    if (!csv->columns)
        csv->columns = fields;
    else if (fields < csv->columns)
        return err_at(reader->err, line, column, "this row has %u field%s; there are %u names in the first line",
                      (unsigned)fields, fields == 1 ? "" : "s", (unsigned)csv->columns);
    return 0;
}

static int row_read(struct csv_reader *reader)
{
    struct csv *csv = reader->csv;
    unsigned line = reader->line, column = column_of(reader, reader->at);

    for (uint32_t fields = 1;; fields++) {
        blanks_skip(reader);
        if (csv->columns ? fields > csv->columns : fields > CSV_COLUMNS_MAX)
            return csv->columns ? err_at(reader->err, reader->line, column_of(reader, reader->at),
                                         "expected the end of the line: there are %u names in the first line",
                                         (unsigned)csv->columns)
                                : err_at(reader->err, reader->line, column_of(reader, reader->at),
                                         "expected at most %d names", CSV_COLUMNS_MAX);
        if (csv->count == CSV_FIELDS_MAX)
            return err_at(reader->err, reader->line, column_of(reader, reader->at), "expected at most %d fields",
                          CSV_FIELDS_MAX);
        if ((reader->at < reader->end && *reader->at == '"' ? quoted_read(reader) : plain_read(reader)) < 0)
            return -1;
        if (is_line_end(reader, reader->at)) {
            line_end_skip(reader);
            return row_check(reader, fields, line, column);
        }
        reader->at++; /* the comma */
    }
}

/* Skips a line with nothing but blanks in it; false: there is something. */
static bool empty_skip(struct csv_reader *reader)
{
    blanks_skip(reader);
    if (!is_line_end(reader, reader->at)) {
        reader->at = reader->line_start;
        return false;
    }
    line_end_skip(reader);
    return true;
}

int csv_read(struct csv *csv, const char *text, size_t len, struct err *err)
{
    struct csv_reader reader = {.csv = csv, .at = text, .end = text + len, .line_start = text, .line = 1, .err = err};

    if (len > CSV_BYTES_MAX)
        return err_at(err, 1, 1, "expected at most %u bytes", CSV_BYTES_MAX);
    while (reader.at < reader.end) {
        if (empty_skip(&reader))
            continue;
        if (csv->columns && csv_rows(csv) == CSV_ROWS_MAX)
            return err_at(err, reader.line, 1, "expected at most %d rows", CSV_ROWS_MAX);
        if (row_read(&reader) < 0)
            return -1;
    }
    return csv->columns ? 0 : err_at(err, 1, 1, "expected a line with the names of the columns");
}
