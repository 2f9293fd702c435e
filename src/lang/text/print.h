/* print.h: trees become text.
 *
 * The text reads back as the same tree: parse(print(e)) == e. Parentheses stand where they stood in the source, and where they
 * are needed. A style says where blanks go. */
#ifndef BERTH_LANG_TEXT_PRINT_H
#define BERTH_LANG_TEXT_PRINT_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

enum print_style {
    PRINT_PLAIN,   /* one line, blanks where a person would put them */
    PRINT_COMPACT, /* no blank that is not needed */
    PRINT_CONDOR,  /* HTCondor's own spacing: { 1,2 }, [  ] */
};

#define PRINT_OLD_STRINGS 16 /* or'ed to a style: for the long form, where a backslash escapes only a quote */
#define PRINT_AMOUNTS 32     /* or'ed to a style: for people, 109951162777600.0 as 100T, where the dialect reads that */

/* Appends to `out`. The C stack is bounded by TREE_HEIGHT_MAX. */
void print_expr(struct buf *out, const struct tree *tree, const struct expr *e, int style);
void print_tree(struct buf *out, const struct tree *tree, int style);
/* The same for whoever shows a beginning of it: stops soon after that many bytes, and then more than those are there. A word, a name or a string is
 * always whole. */
void print_expr_most(struct buf *out, const struct tree *tree, const struct expr *e, int style, size_t most);

void print_string(struct buf *out, const char *text, size_t len, int style); /* in quotes */
void print_escaped(struct buf *out, const char *text,
                   size_t len); /* the text inside unescape("..."): never ends in a backslash */
void print_name(struct buf *out, const struct dialect *dialect, const char *name, size_t len);
void print_real(struct buf *out, double value); /* also infinities and NaN, as calls */
/* As print_real, but with PRINT_AMOUNTS in the style a whole count of mebibytes or more as 64M, 3G or 100T, if the dialect reads that. */
void print_amount(struct buf *out, const struct dialect *dialect, double value, int style);
void print_real_e15(struct buf *out, double value); /* as HTCondor: zero is 0.0, else C's %.15E */
void print_integer(struct buf *out, int64_t value);
void print_abstime(struct buf *out, const struct dialect *dialect, int64_t seconds, int zone_minutes);
void print_reltime(struct buf *out, const struct dialect *dialect, int64_t seconds);

/* Prints a cell that holds a value made by evaluation; code that makes such cells gives this function. */
typedef void print_value_fn(struct buf *out, const struct dialect *dialect, const void *value, int style);
void print_expr_with(struct buf *out, const struct tree *tree, const struct expr *e, int style, print_value_fn *value);

#ifdef __cplusplus
}
#endif
#endif
