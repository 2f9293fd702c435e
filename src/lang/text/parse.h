/* parse.h: tokens become trees.
 *
 * The whole text must be one expression, or one ad. An error names line, column and what was expected. Time and memory are
 * linear in the text, the C stack is bounded by the depth limits of tree.h. */
#ifndef BERTH_LANG_TEXT_PARSE_H
#define BERTH_LANG_TEXT_PARSE_H

#include "lang/text/build.h"
#include "lang/text/lex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tells the formatter where the attributes of the outermost ad, and the comments, stand in the text. */
struct parse_watch {
    lex_comment_fn *comment;
    void (*attribute)(void *user, size_t start, size_t end); /* in order; from the name to the end of the expression */
    void *user;
};

#define PARSE_CELLS_MAX (1u << 17) /* no sensible ad reaches this: a limit for those who read ads of strangers */

struct parse_options {
    unsigned first_line, first_column; /* of the text in its file; 0 counts as 1 */
    unsigned depth;                    /* of the ads and lists around the text, which another reader has read */
    bool old_strings;                  /* a backslash escapes only a quote, as in HTCondor's long form */
    uint32_t cells_max;                /* 0: no limit */
    uint32_t attributes_max;           /* in one ad; 0: TREE_PARTS_MAX */
    const struct parse_watch *watch;   /* or NULL */
};

/* Pushes the expression onto the builder. On error the builder holds unfinished cells: call build_reset. `options` may be NULL. */
int parse_push(struct build *build, const struct parse_options *options, const char *text, size_t len, struct err *err);

/* Pushes `NAME = EXPRESSION` as an attribute (a line of the long form). */
int parse_push_attribute(struct build *build, const struct parse_options *options, const char *text, size_t len,
                         struct err *err);

/* Reads and seals the expression, or the ad; NULL on error. The builder must be empty and is left empty. */
struct tree *parse_expr(struct build *build, const struct parse_options *options, const char *text, size_t len,
                        struct err *err);
struct tree *parse_ad(struct build *build, const struct parse_options *options, const char *text, size_t len,
                      struct err *err);

/* Reads the ad that a text begins with, whatever follows it, and gives its length; NULL when there is no ad, or no whole one. The text is read in
 * place: BUF_PADDING NULs must stand behind it. */
struct tree *parse_ad_front(struct build *build, const struct parse_options *options, const char *text, size_t len,
                            size_t *ret_used);

#ifdef __cplusplus
}
#endif
#endif
