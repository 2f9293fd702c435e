/* format.h: --format: a line of values for each ad, as HTCondor's tools print them with -af.
 *
 *     --format "Name Memory/1024"        slot1@heron 31
 *     --format Name,Arch                 slot1@heron,X86_64
 *
 * Words are expressions that are evaluated in the ad. What stands between them, blanks or a comma, stands between the values. */
#ifndef BERTH_CLI_TERM_FORMAT_H
#define BERTH_CLI_TERM_FORMAT_H

#include "lang/base/arena.h"
#include "lang/base/buf.h"
#include "lang/text/tree.h"

struct env;

#define FORMAT_WORDS_MAX 64

struct format {
    struct tree *words[FORMAT_WORDS_MAX];
    char behind[FORMAT_WORDS_MAX]; /* what stands behind each: a blank or a comma; the last: a line end */
    size_t count;
    struct arena arena;
};

/* Reads a format; -1 when the text is not one, which has been reported. */
int format_init(struct format *format, struct symbols *symbols, const struct dialect *dialect, const char *text);
void format_done(struct format *format); /* also takes a zeroed format */

/* Appends the line of an ad; control characters in it are shown as question marks. */
void format_print(struct format *format, const struct env *env, const struct tree *ad, struct buf *out);

#endif
