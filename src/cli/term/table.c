/* table.c: rows of results. */
#include "cli/term/table.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
    for (size_t i = 0; i < len; i++) /* a cell is one line, and no control characters reach a terminal */
        buf_addc(&table->text, (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i]);
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

/* How many columns the terminal has; 0: standard output is none, and lines are as long as they are. */
static size_t terminal_width(void)
{
    struct winsize size;

    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* How many columns a text takes on a terminal, if each character takes one. */
static size_t text_width(const char *text, size_t len)
{
    size_t width = 0;

    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* The bytes of a text that fit into so many columns. */
static size_t text_fit(const char *text, size_t len, size_t columns)
{
    size_t i = 0, width = 0;

    for (; i < len; i++) {
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (width > columns)
            break;
    }
    return i;
}

/* Adds the last cell of a row, of which the terminal shows so much; a cell that was cut ends with three points. */
static void add_last(struct buf *out, const char *text, size_t len, size_t room)
{
    bool cut = room > 3 && text_width(text, len) > room;

    buf_add(out, text, cut ? text_fit(text, len, room - 3) : len);
    buf_adds(out, cut ? "...\n" : "\n");
}

static void add_padded(struct buf *out, const char *text, size_t len, size_t width, bool right, bool last)
{
    size_t blanks = width - text_width(text, len);

    if (right)
        buf_addf(out, "%*s", (int)blanks, "");
    buf_add(out, text, len);
    if (!right && !last)
        buf_addf(out, "%*s", (int)blanks, "");
    buf_adds(out, last ? "\n" : "  ");
}

static void add_heading(struct table *table)
{
    bool colours = report_colours(STDOUT_FILENO);

    buf_adds(&table->out, colours ? "\033[1m" : "");
    for (size_t i = 0; i < table->column_count; i++) {
        char heading[64];
        size_t len = 0;

        for (; table->columns[i][len] && len < sizeof heading; len++)
            heading[len] = (char)toupper((unsigned char)table->columns[i][len]);
        add_padded(&table->out, heading, len, table->widths[i], table->numbers[i], i + 1 == table->column_count);
    }
    buf_adds(&table->out, colours ? "\033[0m" : "");
    table->begun = true;
}

int table_flush(struct table *table)
{
    static const char *const tone_colours[] = {[TABLE_PLAIN] = "", [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m"};
    bool colours = report_colours(STDOUT_FILENO);
    size_t columns = table->column_count, *widths = table->widths;
    size_t terminal = terminal_width(), before = 0; /* the terminal's columns, and those before the last cell */

    if (table->json || table->count == 0)
        return output_write(&table->out);
    for (size_t i = 0; i < columns && !table->begun; i++)
        widths[i] = text_width(table->columns[i], strlen(table->columns[i]));
    for (size_t i = 0, start = 0; i < table->count; start = table->ends[i++]) {
        size_t width = text_width(table->text.text + start, table->ends[i] - start);

        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    if (!table->begun)
        add_heading(table);
    for (size_t i = 0; terminal && i + 1 < columns; i++)
        before += widths[i] + 2;
    for (size_t i = 0, start = 0; i < table->count; start = table->ends[i++]) {
        const char *colour = colours ? tone_colours[table->tones[i]] : "";
        bool last = i % columns + 1 == columns;

        buf_adds(&table->out, colour);
        if (last && terminal > before && !table->numbers[i])
            add_last(&table->out, table->text.text + start, table->ends[i] - start, terminal - before);
        else
            add_padded(&table->out, table->text.text + start, table->ends[i] - start, widths[i % columns],
                       table->numbers[i], last);
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
