/* fmt_tokens.h: a text as its tokens, with the comments hung onto them: what the formatter lays out.
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
    ROLE_BINARY,    /* an operator between two; also ? and : */
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
    uint32_t next; /* on the same token, in the same place */
};

struct fmt_piece {
    unsigned char kind, op, role; /* enum token_kind, op, role */
    bool gap;                     /* an empty line stood in front */
    const char *at;               /* where it stands */
    const char *text;             /* as it is printed */
    size_t len;
    uint32_t partner; /* of a bracket */
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
    const char *text; /* lent: all texts point into it */
};

/* The text is followed by a NUL. -1 with the error when there is something that is no token, or a bracket without its
 * partner; the tokens before it are there then. */
int fmt_tokens_init(struct fmt_tokens *tokens, const struct dialect *dialect, const char *text, size_t len,
                    struct err *err);
void fmt_tokens_done(struct fmt_tokens *tokens);

/* Does the token of that number begin a line when what it stands in is spread over lines? */
bool fmt_tokens_start_line(const struct fmt_tokens *tokens, uint32_t at);

/* Moves comments to where a line may end: behind a comma rather than before it, before an operator rather than behind
 * it, above the attribute if nowhere else. None is lost. */
void fmt_tokens_settle_comments(struct fmt_tokens *tokens);

/* The same tokens (but for a `;` after the last attribute) and as many comments? */
bool fmt_tokens_alike(const struct fmt_tokens *a, const struct fmt_tokens *b);

/* Can no other comment stand behind it in the same line? */
bool comment_ends_line(const struct comment *comment);

#endif
