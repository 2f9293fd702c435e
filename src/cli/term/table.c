/* table.c: rows of results. */
#include "cli/term/table.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/terminal.h"
#include "lang/base/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUT "..."
#define WIDTH_LEAST 16     /* columns are not cut to less than this ... */
#define WIDTH_LEAST_LAST 8 /* ... and the last one not to less than this */

void table_init(struct table *table, const char *const *columns, size_t column_count, bool json)
{
    *table = (struct table){.columns = columns, .column_count = column_count, .json = json};
    buf_init(&table->out);
    buf_init(&table->text);
}

void table_done(struct table *table)
{
    buf_done(&table->out);
    buf_done(&table->text);
    free(table->ends);
    free(table->numbers);
    free(table->tones);
}

static void add_json(struct table *table, const char *text, size_t len, bool number)
{
    buf_adds(&table->out, table->next ? ", " : "{");
    buf_addf(&table->out, "\"%s\": ", table->columns[table->next]);
    if (number)
        buf_add(&table->out, text, len);
    else
        json_quote(&table->out, text, len);
    if (++table->next == table->column_count) {
        table->next = 0;
        buf_adds(&table->out, "}\n");
        output_write(&table->out);
    }
}

static void add_cell(struct table *table, const char *text, size_t len, bool number)
{
    if (table->json) {
        add_json(table, text, len, number);
        return;
    }
    if (table->count == table->room) {
        table->room = table->room ? table->room * 2 : 64;
        table->ends = mem_grow(table->ends, table->room * sizeof *table->ends);
        table->numbers = mem_grow(table->numbers, table->room * sizeof *table->numbers);
        table->tones = mem_grow(table->tones, table->room * sizeof *table->tones);
    }
    if (len) {
        size_t from = table->text.len;

        buf_add(&table->text, text, len);
        controls_mask(table->text.text + from, len, 0); /* a cell is one line */
    }
    table->ends[table->count] = table->text.len;
    table->tones[table->count] = TABLE_PLAIN;
    table->numbers[table->count++] = number;
}

void table_tone(struct table *table, enum table_tone tone)
{
    if (!table->json)
        table->tones[table->count - 1] = (unsigned char)tone;
}

void table_text(struct table *table, const char *text, size_t len)
{
    add_cell(table, text, len, false);
}

void table_json(struct table *table, const char *text, size_t len)
{
    add_cell(table, text, len, true);
}

void table_number(struct table *table, const char *format, ...)
{
    char text[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_cell(table, text, strlen(text), true);
}

/* Appends a cell; a text that is wider than its column is cut, and ends with dots. */
static void add_padded(struct buf *out, const char *text, size_t len, size_t width, bool right, bool last)
{
    size_t columns = columns_count(text, len), blanks = columns < width ? width - columns : 0;

    if (right)
        buf_addf(out, "%*s", (int)blanks, "");
    if (columns > width && !right) {
        buf_add(out, text, columns_bytes(text, len, width - strlen(CUT)));
        buf_adds(out, CUT);
    } else {
        buf_add(out, text, len);
    }
    if (!right && !last)
        buf_addf(out, "%*s", (int)blanks, "");
    buf_adds(out, last ? "\n" : "  ");
}

/* Makes the widest columns narrower until a line fits the terminal, if that is where the table goes. Returns how many columns there is room for: where
 * that is not enough, the last ones are left out. */
static size_t widths_fit(size_t *widths, size_t columns)
{
    size_t room, lines, total = 2 * (columns - 1);

    if (!terminal_size(STDOUT_FILENO, &room, &lines) || !room)
        return columns;
    for (size_t i = 0; i < columns; i++) {
        widths[i] = widths[i] > room ? room : widths[i];
        total += widths[i];
    }
    while (total > room) {
        size_t widest = columns - 1, least = WIDTH_LEAST_LAST;

        for (size_t i = columns - 1; i-- > 0;)
            if (widths[i] > WIDTH_LEAST && (widths[i] > widths[widest] || widths[widest] <= least)) {
                widest = i;
                least = WIDTH_LEAST;
            }
        if (widths[widest] <= least)
            break;
        widths[widest]--;
        total--;
    }
    while (total > room && columns > 1)
        total -= widths[--columns] + 2;
    return columns;
}

static void add_heading(struct table *table, const size_t *widths, size_t shown)
{
    bool colours = report_colours(STDOUT_FILENO);

    buf_adds(&table->out, colours ? "\033[1m" : "");
    for (size_t i = 0; i < shown; i++) {
        char heading[64];
        size_t len = 0;

        for (; table->columns[i][len] && len < sizeof heading; len++)
            heading[len] = (char)toupper((unsigned char)table->columns[i][len]);
        add_padded(&table->out, heading, len, widths[i], table->numbers[i], i + 1 == shown);
    }
    buf_adds(&table->out, colours ? "\033[0m" : "");
    table->begun = true;
}

int table_flush(struct table *table)
{
    static const char *const tone_colours[] = {[TABLE_PLAIN] = "", [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m"};
    bool colours = report_colours(STDOUT_FILENO);
    size_t columns = table->column_count, *widths = table->widths, fitting[TABLE_COLUMNS_MAX], shown;

    if (table->json || table->count == 0)
        return output_write(&table->out);
    for (size_t i = 0; i < columns && !table->begun; i++)
        widths[i] = columns_count(table->columns[i], strlen(table->columns[i]));
    for (size_t i = 0, start = 0; i < table->count; start = table->ends[i++]) {
        size_t width = columns_count(table->text.text + start, table->ends[i] - start);

        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    memcpy(fitting, widths, columns * sizeof *widths);
    shown = widths_fit(fitting, columns);
    if (!table->begun)
        add_heading(table, fitting, shown);
    for (size_t i = 0, start = 0; i < table->count; start = table->ends[i++]) {
        const char *colour = colours ? tone_colours[table->tones[i]] : "";

        if (i % columns >= shown)
            continue;
        buf_adds(&table->out, colour);
        add_padded(&table->out, table->text.text + start, table->ends[i] - start, fitting[i % columns],
                   table->numbers[i], i % columns + 1 == shown);
        buf_adds(&table->out, *colour ? "\033[0m" : "");
    }
    table->count = 0;
    buf_reset(&table->text);
    return output_write(&table->out);
}

int table_finish(struct table *table)
{
    return table_flush(table);
}
