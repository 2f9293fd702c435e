/* csv.c (fuzzer): tables from any text.
 *
 * Law: what is refused has a reason and a place within the text; what is read has as many fields in each row as there are names, and written with
 * every field quoted it is read as the same table. */
#include "lang/form/csv.h"
#include "fuzz.h"

static void quoted_add(struct buf *out, const char *text, size_t len)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            buf_addc(out, '"');
        buf_addc(out, text[i]);
    }
    buf_addc(out, '"');
}

static void again_check(const struct csv *csv)
{
    struct err err = {0};
    struct buf text;
    struct csv back;

    buf_init(&text);
    csv_init(&back);
    for (uint32_t row = 0; row <= csv_rows(csv); row++)
        for (uint32_t column = 0; column < csv->columns; column++) {
            const struct csv_field *field = csv_field(csv, row, column);

            quoted_add(&text, csv_text(csv, field), field->len);
            buf_adds(&text, column + 1 == csv->columns ? "\r\n" : " , ");
        }
    if (csv_read(&back, text.text, text.len, &err) < 0 || back.columns != csv->columns || back.count != csv->count)
        fuzz_broken("a table is read as it was written");
    for (size_t i = 0; i < back.count; i++)
        if (back.fields[i].len != csv->fields[i].len ||
            (back.fields[i].len &&
             memcmp(csv_text(&back, &back.fields[i]), csv_text(csv, &csv->fields[i]), back.fields[i].len) != 0))
            fuzz_broken("a field is read as it was written");
    csv_done(&back);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + !size); /* of its exact length, so that reading past its end is seen */
    struct err err = {0};
    unsigned lines = 1;
    struct csv csv;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    memcpy(copy, data, size);
    csv_init(&csv);
    if (csv_read(&csv, copy, size, &err) < 0) {
        if (!*err.text || !err.line || err.line > lines || !err.column)
            fuzz_broken("what is refused has a reason, and a place");
    } else {
        if (!csv.columns || csv.count % csv.columns)
            fuzz_broken("each row has as many fields as there are names");
        again_check(&csv);
    }
    csv_done(&csv);
    free(copy);
    return 0;
}
