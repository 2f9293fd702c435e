/* reader.h: shared by the readers of the four forms; and the table of the forms. For this folder only. */
#ifndef BERTH_LANG_FORM_READER_H
#define BERTH_LANG_FORM_READER_H

#include "lang/form/compose.h"
#include "lang/form/source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct form_reader {
    struct source source;
    struct compose compose;
    enum form form;
    int state; /* of the form's reader; 0 at the beginning */
    bool begun, over;
    unsigned line, column; /* where the last ad began */
};

#define READER_BLANKS " \t\n\r\f\v" /* bytes that the language skips */

/* Each form has one that reads the next ad as form_reader_next does, and one that appends an ad as form_write_ad does. */
typedef int reader_next_fn(struct form_reader *reader, struct tree **ret_ad, struct err *err);
typedef void reader_write_fn(struct buf *out, const struct tree *ad);

reader_next_fn classad_next, json_next, xml_next, long_next;
reader_write_fn classad_write, json_write, xml_write, long_write;

/* The most bytes that an ad may have; libxml2 counts in ints. */
static inline size_t reader_bytes_max(const struct form_limits *limits)
{
    size_t bytes = limits && limits->bytes ? limits->bytes : FORM_AD_BYTES_MAX;

    return bytes < 1u << 30 ? bytes : 1u << 30;
}

/* Do the first two bytes show that a text is UTF-16? They are a mark in either order, or one of them is half of an ASCII character. */
static inline bool reader_utf16(int first, int second)
{
    return (first == 0xff && second == 0xfe) || (first == 0xfe && second == 0xff) || (first > 0 && second == 0) ||
           (first == 0 && second > 0);
}
#define READER_UTF16 "this is UTF-16: only UTF-8 is read"

struct form_row {
    const char *name;
    reader_next_fn *next;
    reader_write_fn *write;
    const char *begin, *end; /* text around all ads */
};
extern const struct form_row form_rows[FORM_LONG + 1];

#ifdef __cplusplus
}
#endif
#endif
