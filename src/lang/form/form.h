/* form.h: ads travel in four forms. They are read from a stream one ad at a time, and written the same way.
 *
 *   classad   [ A = 1; B = "x" ]            any number, one after another
 *   json      {"A": 1, "B": "x"}            objects one after another (JSON lines), or one array of them; a value that JSON lacks
 *                                           is a string "\/Expr(...)\/", as HTCondor writes it
 *   xml       <classads><c><a n="A"><i>1</i></a></c></classads>, as HTCondor writes it
 *   long      A = 1                         a line an attribute, a blank line between ads; `#[]` is an ad without attributes
 *
 * All four are lossless. A name that JSON or XML cannot carry (bytes that are not UTF-8) is written as condor quotes it:
 * "'caf\351'". The same attribute twice is an error in JSON and XML; in the other two forms the dialect decides. A reader needs
 * memory for the largest ad, whose size is limited. */
#ifndef BERTH_LANG_FORM_FORM_H
#define BERTH_LANG_FORM_FORM_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum form { FORM_UNKNOWN, FORM_CLASSAD, FORM_JSON, FORM_XML, FORM_LONG };

enum form form_find(const char *name); /* "classad", "json", "xml", "long"; else FORM_UNKNOWN */
const char *form_name(enum form form);

#define FORM_AD_BYTES_MAX (16u << 20)

struct form_limits {
    size_t bytes;        /* of one ad's text; 0: FORM_AD_BYTES_MAX */
    uint32_t cells;      /* of one ad; 0: no limit */
    uint32_t attributes; /* in one ad; 0: only the language's own limit */
    /* JSON of others, who do not know our language: a string is a string and a name is a name, whatever is written there. */
    bool plain;
};

/* Fills `out` with up to `room` bytes and returns how many; 0 at the end; -1 with err filled. */
typedef ptrdiff_t form_read_fn(void *user, char *out, size_t room, struct err *err);

/* A text in memory as such a stream: the rest of it that has not been read. */
struct form_text {
    const char *text;
    size_t len;
};
ptrdiff_t form_text_read(void *form_text, char *out, size_t room, struct err *err);

struct form_reader;

/* FORM_UNKNOWN: the reader recognises the form by the first characters. `limits` may be NULL. */
struct form_reader *form_reader_new(struct symbols *symbols, const struct dialect *dialect, enum form form,
                                    const struct form_limits *limits, form_read_fn *read, void *user);
void form_reader_free(struct form_reader *reader);

/* 1 and an ad (the caller unrefs it); 0 at the end; -1 with the error, whose line and column count from the stream's
 * beginning. After an error the reader gives nothing more. */
int form_reader_next(struct form_reader *reader, struct tree **ret_ad, struct err *err);

enum form form_reader_form(const struct form_reader *reader); /* FORM_UNKNOWN before the first ad */
unsigned form_reader_line(const struct form_reader *reader);  /* where the last ad began */
unsigned form_reader_column(const struct form_reader *reader);

/* Reads one ad from memory, in a given form; the whole text must be that ad. */
struct tree *form_parse(struct symbols *symbols, const struct dialect *dialect, enum form form,
                        const struct form_limits *limits, const char *text, size_t len, struct err *err);

/* These append to `out`. Begin and end write the text around all ads (for xml); each ad ends with a newline. */
void form_write_begin(struct buf *out, enum form form);
int form_write_ad(struct buf *out, enum form form, const struct tree *ad, struct err *err);
void form_write_end(struct buf *out, enum form form);

#ifdef __cplusplus
}
#endif
#endif
