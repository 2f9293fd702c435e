/* file.h: ads and text from files, or from standard input, whose name is `-`.
 *
 * Errors are reported here, with their place, so callers only pass the status on. Ads are read one at a time, in constant memory; the last bytes read
 * are kept when an error would show its line. */
#ifndef BERTH_CLI_TERM_FILE_H
#define BERTH_CLI_TERM_FILE_H

#include "lang/base/buf.h"
#include "lang/form/form.h"

struct input_source {
    const char *name;
    int fd;
    const struct buf *given; /* the text, when it has been read before; or NULL */
    size_t given_at;
    struct form_reader *reader;
    unsigned count;       /* ads given so far */
    bool keeps;           /* it keeps the last lines, for the caret ... */
    bool keeps_all;       /* ... or all of them */
    struct buf recent;    /* the lines kept; the first of them is complete ... */
    unsigned recent_line; /* ... and has this number */
};

/* The functions on sources, files and folders that return int give -1 when they have reported an error. */
int source_open(struct input_source *source, struct symbols *symbols, const struct dialect *dialect, enum form form,
                const char *name);
/* The same for a text that has been read: the source borrows it until it is closed. */
void source_open_text(struct input_source *source, struct symbols *symbols, const struct dialect *dialect,
                      enum form form, const char *name, const struct buf *text);
void source_keep_all(struct input_source *source);                  /* all that is read stays in `recent` */
int source_next(struct input_source *source, struct tree **ret_ad); /* 1 and an ad, 0 at the end */
void source_close(struct input_source *source);

/* Reads the first ad of a file in any form; NULL when there is none, which is reported. */
struct tree *file_first_ad(struct symbols *symbols, const struct dialect *dialect, const char *name);

/* Makes a folder, and every folder on the way to it that is missing; only we may enter those it makes. */
int folder_make(const char *path);

/* The same for a folder that is for its owner alone: one that others may enter, or that belongs to another user, is refused, and the report says what
 * to do. */
int folder_make_own(const char *path);

/* Makes the path of a file whose name is relative to a folder; the caller frees it. */
char *file_in(const char *folder, const char *name);

/* Reads a whole file. */
int file_read(const char *name, struct buf *ret_text);

/* Appends what an ad is called: its Name, if that is a string; for HTCondor's jobs their numbers, `101.0`; else `#3` by its place in the file. */
void ad_name(struct buf *out, const struct tree *ad, unsigned place);

/* Finds the line of that number (from 1) in a text, without its end; false when there is none. */
bool text_line(const char *text, size_t len, unsigned line, const char **ret_line, size_t *ret_len);

/* How many bytes a UTF-8 byte order mark takes at the start of a text: the mark is not part of what the text says. */
size_t text_mark(const char *text, size_t len);

/* Writes what is in `out` to standard output and empties it. -1 when that failed; output_finish reports it at the end. */
int output_write(struct buf *out);
int output_flush(void);

/* Finishes standard output: reports what could not be written and then gives STATUS_BAD, else `status`. */
int output_finish(int status);

#endif
