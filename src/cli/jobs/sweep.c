/* sweep.c: many jobs of one ad. */
#include "cli/jobs/sweep.h"

#include "cli/ask/languages.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/value.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/base/textmap.h"
#include "lang/text/words.h"
#include "pool/protocol/writers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the values of a column are. */
enum kind { KIND_TEXT, KIND_NUMBER, KIND_TRUTH };

bool sweep_is_wanted(const struct sweep_source *source)
{
    return source->table || source->lines || source->files;
}

int sweep_check(const struct sweep_source *source)
{
    if (!!source->table + !!source->lines + !!source->files <= 1)
        return 0;
    report("submit wants one of --table, --each-line and --each-file, not several");
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------------- columns */

/* Reads a number that is written as we write it, so that it can be made a text again and is the same; 007 and 1e-3 are texts. */
static bool number_read(const char *text, size_t len, struct value *ret)
{
    bool minus = len && *text == '-';
    char again[NUMBER_TEXT_MAX];
    char copy[NUMBER_TEXT_MAX];
    double real;
    size_t used;

    if (len <= minus || len >= sizeof copy || !isdigit((unsigned char)text[minus]))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (strspn(copy + minus, "0123456789") == len - minus) {
        errno = 0;
        *ret = value_integer(strtoll(copy, NULL, 10));
        used = number_print_integer(ret->u.integer, again);
        return errno == 0 && used == len && !memcmp(again, text, len);
    }
    if (number_parse_real(copy + minus, len - minus, &real) != len - minus || !(real <= 1e300))
        return false;
    *ret = value_real(minus ? -real : real);
    used = number_print_real(ret->u.real, again);
    return used == len && !memcmp(again, text, len);
}

static bool truth_read(const char *text, size_t len, struct value *ret)
{
    bool is_true = len == 4 && !memcmp(text, "true", 4);

    *ret = value_boolean(is_true);
    return is_true || (len == 5 && !memcmp(text, "false", 5));
}

/* What all values of the column are; those that are empty say nothing. */
static enum kind column_kind(const struct csv *rows, uint32_t column)
{
    bool numbers = true, truths = true, any = false;
    struct value value;

    for (uint32_t row = 1; row <= csv_rows(rows) && (numbers || truths); row++) {
        const struct csv_field *field = csv_field(rows, row, column);
        const char *text = csv_text(rows, field);

        any = any || field->len;
        numbers = numbers && (!field->len || number_read(text, field->len, &value));
        truths = truths && (!field->len || truth_read(text, field->len, &value));
    }
    return !any ? KIND_TEXT : numbers ? KIND_NUMBER : truths ? KIND_TRUTH : KIND_TEXT;
}

/* May a column be called that? The number of the job in the sweep is set by us. */
static int name_check(const struct csv *rows, uint32_t column, struct textmap *seen, struct err *err)
{
    static const char *const ours[] = {"Index", "JobIndex", "JobId", "JobTry"};
    const struct csv_field *field = csv_field(rows, 0, column);
    char *name = mem_dup(csv_text(rows, field), field->len);
    uint32_t before = seen->count;
    int result = 0;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcasecmp(name, ours[i]))
            result =
                err_at(err, field->line, field->column, "a column cannot be called %s: that is set for each job", name);
    if (result == 0 && (!word_is_plain(name, field->len) || !word_may_name(name, field->len)))
        result = err_at(err, field->line, field->column,
                        "expected the name of a column (letters, digits and _, not a digit first), got '%.60s'", name);
    for (size_t i = 0; i < field->len; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    textmap_add(seen, name, field->len);
    if (result == 0 && seen->count == before)
        result = err_at(err, field->line, field->column, "there are two columns of that name");
    free(name);
    return result;
}

/* Settles what the columns are called and what is in them. */
static int columns_settle(struct sweep *sweep, struct err *err)
{
    uint32_t columns = sweep->rows.columns;
    struct textmap seen;
    int result = 0;

    textmap_init(&seen, 0);
    for (uint32_t i = 0; i < columns && result == 0; i++)
        result = name_check(&sweep->rows, i, &seen, err);
    textmap_done(&seen);
    if (result < 0)
        return -1;
    sweep->names = mem_alloc((columns + 1) * sizeof *sweep->names);
    sweep->kinds = mem_alloc(columns);
    for (uint32_t i = 0; i < columns; i++) {
        const struct csv_field *field = csv_field(&sweep->rows, 0, i);

        sweep->names[i] = symbols_take(sweep->symbols, csv_text(&sweep->rows, field), field->len);
        sweep->kinds[i] = (unsigned char)column_kind(&sweep->rows, i);
    }
    sweep->names[columns] = symbols_take(sweep->symbols, "Index", 5);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------- rows */

/* Makes a row of each line that has something in it. */
static int lines_read(struct csv *rows, const char *text, size_t len, struct err *err)
{
    const char *at = text, *end = text + len;

    rows->columns = 1;
    csv_add(rows, "Line", 4, 1, 1);
    for (unsigned line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *from = at, *to;

        stop = stop ? stop : end;
        for (to = stop; to > from && isspace((unsigned char)to[-1]); to--)
            ;
        while (from < to && isspace((unsigned char)*from))
            from++;
        if (memchr(at, '\0', (size_t)(stop - at)))
            return err_at(err, line, 1, "there is a NUL in this line");
        if (from < to && csv_rows(rows) == CSV_ROWS_MAX)
            return err_at(err, line, 1, "expected at most %d lines", CSV_ROWS_MAX);
        if (from < to)
            csv_add(rows, from, (size_t)(to - from), line, (unsigned)(from - at) + 1);
        at = stop + (stop < end);
    }
    return 0;
}

static void file_row(struct csv *rows, const char *path, size_t len, unsigned line)
{
    const char *name = path + len, *dot;

    while (name > path && name[-1] != '/')
        name--;
    for (dot = path + len; dot > name && *dot != '.'; dot--)
        ;
    if (dot == name) /* .profile has no ending */
        dot = path + len;
    csv_add(rows, path, len, line, 1);
    csv_add(rows, name, (size_t)(path + len - name), line, 1);
    csv_add(rows, name, (size_t)(dot - name), line, 1);
}

/* Makes a row of each file that matches, in the order of their names. */
static int files_read(struct csv *rows, const char *pattern, const char *folder)
{
    struct err err = {0};
    struct buf found;
    int result;

    buf_init(&found);
    rows->columns = 3;
    csv_add(rows, "File", 4, 1, 1);
    csv_add(rows, "FileName", 8, 1, 1);
    csv_add(rows, "FileStem", 8, 1, 1);
    result = language_match(folder, pattern, SUBMIT_MATCH_FILES, &found, &err);
    for (size_t start = 0, i = 0; i < found.len && result == 0; i++)
        if (found.text[i] == '\n') {
            if (csv_rows(rows) == CSV_ROWS_MAX)
                result = err_set(&err, "expected at most %d files", CSV_ROWS_MAX);
            else
                file_row(rows, found.text + start, i - start, csv_rows(rows) + 1);
            start = i + 1;
        }
    if (result < 0)
        report("--each-file %.200s: %s", pattern, err.text);
    else if (!csv_rows(rows))
        result = (report("--each-file %.200s: no file matches in the folder %.200s", pattern, folder), -1);
    buf_done(&found);
    return result;
}

static int text_read(struct sweep *sweep, const struct sweep_source *source)
{
    const char *line = NULL, *text;
    struct err err = {0};
    size_t line_len = 0, mark;
    struct buf all;
    int result = -1;

    buf_init(&all);
    if (file_read(sweep->file, &all) == 0) {
        text = buf_string(&all);
        mark = text_mark(text, all.len);
        result = source->table ? csv_read(&sweep->rows, text + mark, all.len - mark, &err)
                               : lines_read(&sweep->rows, text + mark, all.len - mark, &err);
        if (result == 0)
            result = columns_settle(sweep, &err);
        if (result == 0 && !csv_rows(&sweep->rows))
            result = err_set(&err, source->table ? "there is no row in this table" : "there is no line in this file");
        if (result < 0 && (!err.line || !text_line(text + mark, all.len - mark, err.line, &line, &line_len)))
            line = NULL;
        if (result < 0)
            report_error(sweep->file, &err, line, line_len);
    }
    buf_done(&all);
    return result;
}

int sweep_open(struct sweep *sweep, struct symbols *symbols, const struct sweep_source *source, const char *folder)
{
    struct err err = {0};

    *sweep = (struct sweep){.symbols = symbols,
                            .is_files = source->files,
                            .file = source->table   ? source->table
                                    : source->lines ? source->lines
                                                    : source->files};
    csv_init(&sweep->rows);
    if (!source->files)
        return text_read(sweep, source);
    return files_read(&sweep->rows, source->files, folder) == 0 ? columns_settle(sweep, &err) : -1;
}

void sweep_done(struct sweep *sweep)
{
    for (uint32_t i = 0; sweep->names && i <= sweep->rows.columns; i++)
        symbols_drop(sweep->symbols, sweep->names[i]);
    free(sweep->names);
    free(sweep->kinds);
    csv_done(&sweep->rows);
}

struct tree *sweep_ad(const struct sweep *sweep, const struct tree *ad, uint32_t row, uint64_t index, struct err *err)
{
    uint32_t columns = sweep->rows.columns;
    struct ad_setting *settings = mem_alloc((columns + 1) * sizeof *settings);
    struct tree *made;
    size_t count = 0;

    for (uint32_t i = 0; i < columns; i++) {
        const struct csv_field *field = csv_field(&sweep->rows, row + 1, i);
        const char *text = csv_text(&sweep->rows, field);
        struct value value = value_string(text, field->len);

        if (!field->len && sweep->kinds[i] != KIND_TEXT)
            continue; /* as the ad has it */
        if (sweep->kinds[i] == KIND_NUMBER)
            number_read(text, field->len, &value);
        else if (sweep->kinds[i] == KIND_TRUTH)
            truth_read(text, field->len, &value);
        settings[count++] = (struct ad_setting){sweep->names[i], value};
    }
    settings[count++] = (struct ad_setting){sweep->names[columns], value_integer((int64_t)index)};
    made = ad_set(ad, settings, count, err);
    free(settings);
    return made;
}

void sweep_place(const struct sweep *sweep, uint32_t row, struct buf *out)
{
    const struct csv_field *field = csv_field(&sweep->rows, row + 1, 0);

    if (sweep->is_files)
        buf_add(out, csv_text(&sweep->rows, field), field->len < 300 ? field->len : 300);
    else
        buf_addf(out, "%.300s:%u", sweep->file, field->line);
}
