/* rows.h: ads that a pool answers with, as rows: a table for people, JSON lines for programs, or the ads themselves.
 *
 *     [ Name = "heron"; LastWord = 130.2 ]      NAME   HEARD          {"name": "heron", "heard": 130.2}
 *                                               heron  2 min
 *
 * Rows go out by and by, so that a list of any length takes little memory. */
#ifndef BERTH_CLI_TERM_ROWS_H
#define BERTH_CLI_TERM_ROWS_H

#include "cli/term/format.h"
#include "cli/term/table.h"
#include "lang/text/tree.h"

#define ROWS_AT_ONCE 1000 /* that are aligned together */

/* What a value is, and so how it is shown. As JSON, spans and times are seconds. */
enum cell {
    CELL_VALUE, /* as it is */
    CELL_NAME,  /* what the ad is called; #3 when it does not say */
    CELL_SPAN,  /* seconds: "3 s", "2 min", "5 h", "4 d" */
    CELL_SINCE, /* a time: how long ago */
    CELL_UNTIL, /* a time: how long still, or "over" */
    CELL_CLOCK, /* seconds: "12s", "3m12s", "5h03m", "4d07h" */
    CELL_AGO,   /* a time: how long ago, in the same way */
};

struct table_column {
    const char *name;      /* the heading, and the key in JSON */
    const char *attribute; /* whose value it is; an attribute that is not there is empty, and null in JSON */
    enum cell cell;
};

enum rows_form { ROWS_TABLE, ROWS_JSON, ROWS_LONG, ROWS_FORMAT };

/* --json and --long as a form; -1, and that was reported, when both are asked for. */
int rows_form(bool json, bool long_form, enum rows_form *ret);
/* The same with --format, or NULL. */
int rows_form_of(bool json, bool long_form, const char *format, enum rows_form *ret);

struct rows {
    enum rows_form form;
    struct format format;               /* of ROWS_FORMAT */
    const struct table_column *columns; /* lent */
    size_t column_count;
    const char *names[TABLE_COLUMNS_MAX];
    struct table table;
    struct buf out;
    unsigned count; /* ads so far */
    int64_t now;
    bool failed;
};

/* Without columns, JSON is the ads themselves. */
void rows_init(struct rows *rows, enum rows_form form, const struct table_column *columns, size_t column_count);
void rows_done(struct rows *rows);

/* Before the first ad: what --format says, of ads of these symbols. -1 when it is wrong, which has been reported. NULL: nothing. */
int rows_set_format(struct rows *rows, struct symbols *symbols, const char *text);

/* A connection_ad_fn, whose user is the rows: false when standard output does not take any more. */
bool rows_add(void *user, struct tree *ad);

/* Prints what has not been printed. */
void rows_finish(struct rows *rows);

/* "3 s", "2 min", "5 h", "4 d". */
void span_print(struct buf *out, double seconds);

/* "12s", "3m12s", "5h03m", "4d07h". */
void clock_print(struct buf *out, double seconds);

/* What stands in the text from there on is one line: whatever a service says, no control character reaches a terminal. */
void text_tame(struct buf *text, size_t from);

/* The value of an attribute of an ad for people; nothing when it has none. True when it is a number. */
bool cell_print(struct buf *out, const struct tree *ad, const char *attribute, enum cell cell, int64_t now);

#endif
