/* file.h: ads and text from files, or from standard input, whose name is `-`.
 *
 * What goes wrong is reported here, with its place, so callers only pass the status on. Ads are read one at a time, in
 * constant memory; the last bytes read are kept when an error would show its line. */
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
    bool keeps;           /* the last lines, for the caret ... */
    bool keeps_all;       /* ... or all of them */
    struct buf recent;    /* they; they begin at a line's beginning ... */
    unsigned recent_line; /* ... of this number */
};

/* All return -1 when they have reported an error. */
int source_open(struct input_source *source, struct symbols *symbols, const struct dialect *dialect, enum form form,
                const char *name);
/* The same for a text that has been read: lent until it is closed. */
void source_open_text(struct input_source *source, struct symbols *symbols, const struct dialect *dialect,
                      enum form form, const char *name, const struct buf *text);
void source_keep_all(struct input_source *source);                  /* all that is read stays in `recent` */
int source_next(struct input_source *source, struct tree **ret_ad); /* 1 and an ad, 0 at the end */
void source_close(struct input_source *source);

/* The first ad of a file in any form; NULL when there is none, which is reported. */
struct tree *file_first_ad(struct symbols *symbols, const struct dialect *dialect, const char *name);

/* Every folder on the way to it and itself, those that are made for us alone. */
int folder_make(const char *path);

/* The same of one that is for its owner alone: one that others may enter, or of another user, is refused, and what to do is said. */
int folder_make_own(const char *path);

/* The path of a file that is named from a folder on; the caller frees it. */
char *file_in(const char *folder, const char *name);

/* The whole of a file. */
int file_read(const char *name, struct buf *ret_text);

/* What an ad is called: its Name, if that is a string; of HTCondor's jobs their numbers, `101.0`; else `#3` by its place in the file. */
void ad_name(struct buf *out, const struct tree *ad, unsigned place);

/* The line of that number (from 1) in a text, without its end; false when there is none. */
bool text_line(const char *text, size_t len, unsigned line, const char **ret_line, size_t *ret_len);

/* How many bytes a UTF-8 byte order mark takes at the start of a text: it is no part of what the text says. */
size_t text_mark(const char *text, size_t len);

/* Appends what is in `out` to standard output and empties it. -1 when that failed (told at the end by output_finish).
 * */
int output_write(struct buf *out);
int output_flush(void);

/* Standard output is done with: reports what could not be written and then gives STATUS_BAD, else `status`. */
int output_finish(int status);

#endif
