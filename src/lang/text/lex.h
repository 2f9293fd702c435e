/* lex.h: characters become tokens.
 *
 * The lexer knows where a token stands and what a literal is worth; it keeps no copy of the text. BUF_PADDING NUL bytes must follow the text, so that
 * the loops need not check for the end at each character. The lexer skips comments, or gives them to a function of the caller (the formatter's). */
#ifndef BERTH_LANG_TEXT_LEX_H
#define BERTH_LANG_TEXT_LEX_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

enum token_kind {
    TOKEN_BAD, /* not a token: the lexer's err says why */
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_QUOTED_NAME, /* 'odd name' */
    TOKEN_UNDEFINED,
    TOKEN_ERROR,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_STRING,
    TOKEN_ABSTIME,
    TOKEN_RELTIME,
    TOKEN_OP,
    TOKEN_ASSIGN,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
    TOKEN_DOT,
    TOKEN_OPEN,
    TOKEN_CLOSE, /* ( ) */
    TOKEN_OPEN_SQUARE,
    TOKEN_CLOSE_SQUARE,
    TOKEN_OPEN_BRACE,
    TOKEN_CLOSE_BRACE,
};

struct token {
    unsigned char kind; /* enum token_kind */
    unsigned char op;   /* TOKEN_OP */
    bool escapes;       /* a string or quoted name that has escapes */
    int16_t zone;       /* TOKEN_ABSTIME */
    const char *start, *end;
    union {
        int64_t integer;
        double real;
    } u;
};

typedef void lex_comment_fn(void *user, size_t offset, size_t len);

struct lexer {
    const char *text, *at, *end;
    const struct dialect *dialect;
    bool old_strings;      /* a backslash escapes only a quote, as in HTCondor's long form */
    unsigned line, column; /* of the text's first character, from 1 */
    lex_comment_fn *comment;
    void *comment_user;
    struct token token;
    struct err *err;
};

void lex_init(struct lexer *lexer, const struct dialect *dialect, const char *text, size_t len, struct err *err);

/* Makes the next token the current one. */
void lex_next(struct lexer *lexer);

/* Skips a '=' that stands right behind the current token; false when there is none. Between a name and its expression nothing else may stand, so the
 * '=' need not become a token. */
static inline bool lex_pass_assign(struct lexer *lexer)
{
    const char *at = lexer->at;

    if (at[0] == ' ')
        at++;
    if (at[0] != '=' || at[1] == '=' || at[1] == '?' || at[1] == '!')
        return false;
    lexer->at = at + 1;
    return true;
}

/* Says what is wrong at a place in the text; returns -1. */
int lex_fail(struct lexer *lexer, const char *at, const char *format, ...) ERR_FORMAT(3, 4);

/* Decodes one escape at `*at` (just after the backslash), which lex_next has checked; moves past it. */
char lex_escape(const char **at, const char *end);

/* Describes the current token for "expected X, got Y". */
const char *lex_describe(const struct lexer *lexer, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
