/* csv_test.c: tables in files: what their fields are, and what is wrong with them. */
#include "lang/form/csv.h"

#include "common/tap.h"

#include <stdlib.h>

/* What a text is read as: a line a row, fields in brackets; or the error with its place. */
static void table_show(struct buf *out, const char *text, size_t len)
{
    char *copy = mem_dup(text, len); /* of its exact length, so that a sanitizer sees reading past its end */
    struct err err = {0};
    struct csv csv;

    csv_init(&csv);
    if (csv_read(&csv, copy, len, &err) < 0)
        buf_addf(out, "%u:%u: %s", err.line, err.column, err.text);
    for (uint32_t row = 0; !*err.text && row <= csv_rows(&csv); row++)
        for (uint32_t column = 0; column < csv.columns; column++) {
            const struct csv_field *field = csv_field(&csv, row, column);

            buf_adds(out, row && !column ? "\n[" : "[");
            buf_add(out, csv_text(&csv, field), field->len);
            buf_addc(out, ']');
        }
    csv_done(&csv);
    free(copy);
}

static void same(struct buf *out, const char *wanted, const char *sentence)
{
    if (!tap_ok(!strcmp(buf_string(out), wanted), "%s", sentence))
        tap_diag("got\n%s\nwanted\n%s", buf_string(out), wanted);
}

static const struct {
    const char *sentence, *text, *table;
} cases[] = {
    {"a line of names, then a line a row", "a,b\n1,2\n3,4\n", "[a][b]\n[1][2]\n[3][4]"},
    {"the last line may have no end", "a\n1", "[a]\n[1]"},
    {"lines end with CRLF as well", "a,b\r\n1,2\r\n", "[a][b]\n[1][2]"},
    {"also the last one without its LF", "a\r\n1\r", "[a]\n[1]"},
    {"a CR elsewhere is a byte as any other", "a\n1\r2\n", "[a]\n[1\r2]"},
    {"blanks around a field are no part of it", "a , b\n 1 ,\t2 3\t\n", "[a][b]\n[1][2 3]"},
    {"unless they are quoted", "a\n\" 1 \"\n", "[a]\n[ 1 ]"},
    {"a quoted field may hold commas", "a,b\n\"1,2\",3\n", "[a][b]\n[1,2][3]"},
    {"and line ends", "a,b\n\"1\n2\",3\n", "[a][b]\n[1\n2][3]"},
    {"and quotes, each written twice", "a\n\"say \"\"no\"\"\"\n", "[a]\n[say \"no\"]"},
    {"blanks may stand around its quotes", "a,b\n \"1\" , \"2\" \n", "[a][b]\n[1][2]"},
    {"names may be quoted", "\"a\",b\n1,2\n", "[a][b]\n[1][2]"},
    {"fields may be empty", "a,b,c\n,,\n\"\",2,\n", "[a][b][c]\n[][][]\n[][2][]"},
    {"lines with nothing in them are no rows", "\n  \na,b\n\n1,2\n \t\r\n\n", "[a][b]\n[1][2]"},
    {"a table without rows is one", "a,b\n", "[a][b]"},
    {"a table without names is none", "", "1:1: expected a line with the names of the columns"},
    {"nor is one of empty lines", "\n \n", "1:1: expected a line with the names of the columns"},
    {"a row with too few fields has its place", "a,b,c\n1,2,3\n 4,5\n",
     "3:1: this row has 2 fields; there are 3 names in the first line"},
    {"one with too many has the place of the first of them", "a,b\n1,2\n3,4, 5\n",
     "3:6: expected the end of the line: there are 2 names in the first line"},
    {"a quote that does not end is told where it began", "a,b\n1,\"2\n3,4\n",
     "2:3: expected '\"' at the end of this field"},
    {"a quote within a field is told", "a\n5\" disk\n",
     "2:2: a quote within a field: quote the whole field, and write the quote twice"},
    {"what follows a quoted field is told", "a\n\"1\"2\n", "2:4: expected a comma behind a quoted field"},
    {"places count from the line that a quoted field has begun", "a,b\n\"1\n2\",3,4\n",
     "3:6: expected the end of the line: there are 2 names in the first line"},
};

/* Tables at the limits. */
static void limits_test(void)
{
    struct buf text, out;

    buf_init(&text);
    buf_init(&out);
    for (int i = 0; i <= CSV_COLUMNS_MAX; i++)
        buf_adds(&text, "a,");
    table_show(&out, text.text, text.len);
    same(&out, "1:513: expected at most 256 names", "there are at most so many columns");
    buf_reset(&text);
    buf_reset(&out);
    for (int i = 0; i < CSV_ROWS_MAX + 2; i++)
        buf_adds(&text, "1\n");
    table_show(&out, text.text, text.len);
    same(&out, "100002:1: expected at most 100000 rows", "and so many rows");
    buf_reset(&out);
    table_show(&out,
               "a\n1\0"
               "2\n",
               6);
    same(&out, "2:2: there is a NUL in the field", "a NUL is refused");
    buf_reset(&out);
    table_show(&out, "a\n\"\0\"\n", 6);
    same(&out, "2:2: there is a NUL in the field", "also within quotes");
    buf_done(&out);
    buf_done(&text);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;

        buf_init(&out);
        table_show(&out, cases[i].text, strlen(cases[i].text));
        same(&out, cases[i].table, cases[i].sentence);
        buf_done(&out);
    }
    limits_test();
    return tap_done();
}
