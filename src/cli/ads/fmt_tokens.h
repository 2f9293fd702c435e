/* fmt_tokens.h: the tokens of a text, with the comments hung onto them: what the formatter lays out.
 *
 *     // above            own    lines of their own before `Memory`
 *     Memory = 64; // behind
 *                            trail: ends the line behind `;`; a comment inside the line is inline
 *
 * Only blanks are forgotten: the same tokens and comments make the same text again. */
#ifndef BERTH_CLI_ADS_FMT_TOKENS_H
#define BERTH_CLI_ADS_FMT_TOKENS_H

#include "lang/text/lex.h"

/* What a token is for where it stands. */
enum role {
    ROLE_PLAIN,
    ROLE_PREFIX,    /* an operator before its operand */
    ROLE_BINARY,    /* an operator between two operands; also ? and : */
    ROLE_GROUP,     /* ( ) around an expression */
    ROLE_CALL,      /* ( ) of a function */
    ROLE_SUBSCRIPT, /* [ ] behind an expression */
    ROLE_AD,        /* [ ] of an ad */
    ROLE_LIST,      /* { } */
    ROLE_SELECT,    /* . behind an expression */
};

enum comment_place { COMMENT_OWN, COMMENT_INLINE, COMMENT_TRAIL, COMMENT_PLACES };

#define TOKENS_NONE UINT32_MAX

struct comment {
    const char *text;
    size_t len;
    bool gap;      /* an empty line stood in front */
    uint32_t next; /* the next comment on the same token, in the same place */
};

struct fmt_piece {
    unsigned char kind, op, role; /* enum token_kind, op, role */
    bool gap;                     /* an empty line stood in front */
    const char *at;               /* where it stands in the text */
    const char *text;             /* what is printed for it */
    size_t len;
    uint32_t partner; /* for a bracket: the number of the other one */
    struct {
        uint32_t first, last;
    } comments[COMMENT_PLACES];
};

/* The last piece is always the end, TOKEN_END. */
struct fmt_tokens {
    struct fmt_piece *pieces;
    uint32_t count, room;
    struct comment *comments;
    uint32_t comment_count, comment_room;
    const char *text; /* lent: the texts of pieces and comments point into it */
};

/* Reads a text, which is followed by a NUL. -1 with the error when something in it is not a token, or a bracket has no partner; the tokens before
 * that are there then. */
int fmt_tokens_init(struct fmt_tokens *tokens, const struct dialect *dialect, const char *text, size_t len,
                    struct err *err);
void fmt_tokens_done(struct fmt_tokens *tokens);

/* Does the token of that number begin a line when the brackets around it are spread over lines? */
bool fmt_tokens_start_line(const struct fmt_tokens *tokens, uint32_t at);

/* Moves comments to where a line may end: behind a comma rather than before it, before an operator rather than behind it, above the attribute if
 * nowhere else. No comment is lost. */
void fmt_tokens_settle_comments(struct fmt_tokens *tokens);

/* Are these the same tokens (except for a `;` after the last attribute) and as many comments? */
bool fmt_tokens_alike(const struct fmt_tokens *a, const struct fmt_tokens *b);

/* Must the line end behind this comment? */
bool comment_ends_line(const struct comment *comment);

#endif
