/* survey.c: looks rows over, one after the other, in the order of their spaces: names, sizes and checksums; and counts what each space holds. */
#include "store/store_parts.h"

#include <stdarg.h>
#include <stdio.h>

void survey_init(struct survey *survey, store_space_fn *fn, void *user, struct buf *ret_complaints)
{
    *survey = (struct survey){.fn = fn, .user = user, .complaints = ret_complaints};
    buf_init(&survey->name);
}

void survey_done(struct survey *survey)
{
    buf_done(&survey->name);
}

void survey_complain(struct survey *survey, const char *format, ...)
{
    char text[1500];
    va_list args;

    if (++survey->complaint_count > STORE_COMPLAINTS_MAX + 1)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (survey->complaint_count > STORE_COMPLAINTS_MAX)
        buf_adds(survey->complaints, "there is more to complain of\n");
    else
        buf_addf(survey->complaints, "%s\n", text);
}

void survey_end(struct survey *survey)
{
    survey->space.name = buf_string(&survey->name);
    if (survey->space.rows && survey->fn)
        survey->fn(survey->user, &survey->space);
}

static void space_begin(struct survey *survey, const char *name, size_t len)
{
    const char *wrong = row_space_wrong(name, len);
    struct buf shown;

    if (survey->space.rows && survey->name.len == len && memcmp(survey->name.text, name, len) == 0)
        return;
    survey_end(survey);
    survey->space = (struct store_space){0};
    buf_reset(&survey->name);
    buf_add(&survey->name, name, len);
    if (wrong) {
        buf_init(&shown);
        row_print(&shown, name, len);
        survey_complain(survey, "space %.200s: %s", buf_string(&shown), wrong);
        buf_done(&shown);
    }
}

static void row_complain(struct survey *survey, const struct stored_row *row, const char *what)
{
    struct buf space, shown;

    buf_init(&space);
    buf_init(&shown);
    row_print(&space, survey->name.text, survey->name.len);
    row_print(&shown, row->key, row->key_len);
    survey_complain(survey, "space %.200s, row %.1100s: %s", buf_string(&space), buf_string(&shown), what);
    buf_done(&space);
    buf_done(&shown);
}

void survey_row(struct survey *survey, const struct stored_row *row)
{
    space_begin(survey, row->space, row->space_len);
    survey->space.rows++;
    survey->space.bytes += row->key_len + row->len;
    if (row_key_wrong(row->key_len))
        row_complain(survey, row, row_key_wrong(row->key_len));
    if (row_value_wrong(row->len))
        row_complain(survey, row, row_value_wrong(row->len));
    if (row->summed && row->sum != row_sum(row->space, row->space_len, row->key, row->key_len, row->value, row->len))
        row_complain(survey, row, "its checksum is wrong");
}
