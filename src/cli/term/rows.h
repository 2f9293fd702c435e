/* rows.h: ads that a pool answers with, as rows: a table for people, JSON lines for programs, or the ads themselves.
 *
 *     [ Name = "heron"; LastWord = 130.2 ]      NAME   HEARD          {"name": "heron", "heard": 130.2}
 *                                               heron  2 min
 *
 * Rows go out as they come, those of a table a thousand at a time, so that a list of any length takes little memory. */
#ifndef BERTH_CLI_TERM_ROWS_H
#define BERTH_CLI_TERM_ROWS_H

#include "cli/term/format.h"
#include "cli/term/table.h"
#include "lang/text/tree.h"

#define ROWS_AT_ONCE 1000 /* rows that are aligned together */

/* What a value is, and so how it is shown. As JSON, spans and times are seconds. */
enum cell {
    CELL_VALUE,      /* the value as it is */
    CELL_TONED,      /* the same; on a terminal green where Good is true in the ad, and red where it is false */
    CELL_NAME,       /* the name of the ad; #3 when it has none */
    CELL_SPAN,       /* seconds: "12s", "3m12s", "5h03m", "4d07h" */
    CELL_SINCE,      /* a time: how long ago */
    CELL_UNTIL,      /* a time: how long until then, or "over" */
    CELL_SPAN_SAID,  /* seconds amid words: "12 s", "3 min" */
    CELL_SINCE_SAID, /* a time amid words: how long ago */
};

struct table_column {
    const char *name;      /* the heading, and the key in JSON */
    const char *attribute; /* whose value the column shows; an attribute that is not there is empty, and null in JSON */
    enum cell cell;
};

enum rows_form { ROWS_TABLE, ROWS_JSON, ROWS_LONG, ROWS_FORMAT };

/* The form that --json and --long ask for; -1 when both are given, which has been reported. */
int rows_form(bool json, bool long_form, enum rows_form *ret);
/* The same with the text of --format, or NULL. */
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
    unsigned most;  /* of a table, only so many are shown; 0: all */
    int64_t now;
    bool failed;
};

/* Without columns, the ads themselves are written as JSON. */
void rows_init(struct rows *rows, enum rows_form form, const struct table_column *columns, size_t column_count);
void rows_done(struct rows *rows);

/* Sets what --format says, before the first ad; `symbols` are those of the ads. -1 when it is wrong, which has been reported. NULL: nothing is
 * set. */
int rows_set_format(struct rows *rows, struct symbols *symbols, const char *text);

/* Adds an ad; a connection_ad_fn, whose user is the rows. False when standard output does not take any more. */
bool rows_add(void *user, struct tree *ad);

/* Prints the rows that have not been printed. */
void rows_finish(struct rows *rows);

/* Makes the text from there on one line: whatever a service says, no control character reaches a terminal. */
void text_tame(struct buf *text, size_t from);

/* Appends the value of an attribute for people; nothing when the ad has none. True when it is a number. */
bool cell_print(struct buf *out, const struct tree *ad, const char *attribute, enum cell cell, int64_t now);

#endif
