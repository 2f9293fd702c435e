/* lex.c: characters become tokens. The class of the first character decides which reader goes on. */
#include "lang/text/lex.h"

#include "lang/base/number.h"
#include "lang/text/timetext.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Rare code stays out of lex_next, which then needs no stack frame. */
#if defined(__GNUC__)
#define RARE __attribute__((noinline))
#else
#define RARE
#endif

enum { LETTER = 1, DIGIT = 2 };

#define L LETTER
static const unsigned char class_of[256] = {
    ['_'] = L,     ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT,
    ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT, ['A'] = L,     ['B'] = L,     ['C'] = L,
    ['D'] = L,     ['E'] = L,     ['F'] = L,     ['G'] = L,     ['H'] = L,     ['I'] = L,     ['J'] = L,
    ['K'] = L,     ['L'] = L,     ['M'] = L,     ['N'] = L,     ['O'] = L,     ['P'] = L,     ['Q'] = L,
    ['R'] = L,     ['S'] = L,     ['T'] = L,     ['U'] = L,     ['V'] = L,     ['W'] = L,     ['X'] = L,
    ['Y'] = L,     ['Z'] = L,     ['a'] = L,     ['b'] = L,     ['c'] = L,     ['d'] = L,     ['e'] = L,
    ['f'] = L,     ['g'] = L,     ['h'] = L,     ['i'] = L,     ['j'] = L,     ['k'] = L,     ['l'] = L,
    ['m'] = L,     ['n'] = L,     ['o'] = L,     ['p'] = L,     ['q'] = L,     ['r'] = L,     ['s'] = L,
    ['t'] = L,     ['u'] = L,     ['v'] = L,     ['w'] = L,     ['x'] = L,     ['y'] = L,     ['z'] = L,
};
#undef L

static inline unsigned class_at(const char *at)
{
    return class_of[(unsigned char)*at];
}

/* How many of the first 16 characters belong to a name; BUF_PADDING bytes behind the text may be read. There is no loop, because no
 * branch predictor knows how long a name is. */
#if defined(__GNUC__)
static inline unsigned name_length_16(const char *at)
{
    typedef unsigned char bytes __attribute__((vector_size(16)));
    bytes c, ends;
    uint64_t half[2];

    memcpy(&c, at, sizeof c);
    ends = (bytes)(((c | 0x20) - 'a' > 25) & (c - '0' > 9) & (c != '_'));
    memcpy(half, &ends, sizeof half);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    half[0] = __builtin_bswap64(half[0]);
    half[1] = __builtin_bswap64(half[1]);
#endif
    if (half[0])
        return (unsigned)__builtin_ctzll(half[0]) / 8;
    return half[1] ? 8 + (unsigned)__builtin_ctzll(half[1]) / 8 : 16;
}
#else
static inline unsigned name_length_16(const char *at)
{
    unsigned len = 0;

    while (len < 16 && class_at(at + len))
        len++;
    return len;
}
#endif

void lex_init(struct lexer *lexer, const struct dialect *dialect, const char *text, size_t len, struct err *err)
{
    *lexer = (struct lexer){
        .text = text, .at = text, .end = text + len, .dialect = dialect, .line = 1, .column = 1, .err = err};
}

int lex_fail(struct lexer *lexer, const char *at, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    unsigned line, column;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err_place(lexer->text, (size_t)(at - lexer->text), &line, &column);
    if (line == 1)
        column += lexer->column - 1;
    lexer->token.kind = TOKEN_BAD;
    return err_at(lexer->err, line + lexer->line - 1, column, "%s", text);
}

static RARE void skip_comment(struct lexer *lexer)
{
    const char *start = lexer->at;

    if (start[1] == '/') {
        const char *line_end = memchr(start, '\n', (size_t)(lexer->end - start));

        lexer->at = line_end ? line_end : lexer->end;
    } else {
        const char *at = start + 2;

        while (at + 1 < lexer->end && !(at[0] == '*' && at[1] == '/'))
            at++;
        if (at + 1 >= lexer->end) {
            lex_fail(lexer, start, "this comment has no end: expected '*/'");
            return;
        }
        lexer->at = at + 2;
    }
    if (lexer->comment)
        lexer->comment(lexer->comment_user, (size_t)(start - lexer->text), (size_t)(lexer->at - start));
}

static bool word_is(const char *start, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i++)
        if ((start[i] | 0x20) != word[i])
            return false;
    return true;
}

/* Finds keywords by their length; a word that is no keyword is a name. */
static RARE void keyword(struct token *token, size_t len)
{
    switch (len) {
    case 2:
        if (word_is(token->start, 2, "is"))
            token->kind = TOKEN_OP, token->op = OP_IS;
        break;
    case 4:
        if (word_is(token->start, 4, "true"))
            token->kind = TOKEN_TRUE;
        else if (word_is(token->start, 4, "isnt"))
            token->kind = TOKEN_OP, token->op = OP_ISNT;
        break;
    case 5:
        if (word_is(token->start, 5, "false"))
            token->kind = TOKEN_FALSE;
        else if (word_is(token->start, 5, "error"))
            token->kind = TOKEN_ERROR;
        break;
    case 9:
        if (word_is(token->start, 9, "undefined"))
            token->kind = TOKEN_UNDEFINED;
        break;
    default:
        break;
    }
}

/* Reads 0x... and 0...; the caller has seen the prefix. */
static void read_based(struct lexer *lexer, const char *digits, unsigned base)
{
    const char *start = lexer->at, *at = digits;
    uint64_t value = 0;

    for (; class_at(at) & (LETTER | DIGIT); at++) {
        unsigned digit = *at <= '9' ? (unsigned)(*at - '0') : (unsigned)((*at | 0x20) - 'a') + 10;

        if (digit >= base || *at == '_') {
            lex_fail(lexer, at, "'%c' is not a digit of %s number", *at, base == 8 ? "an octal" : "a hexadecimal");
            return;
        }
        if (value > ((uint64_t)INT64_MAX - digit) / base) {
            lex_fail(lexer, start, "this integer does not fit into 64 bits");
            return;
        }
        value = value * base + digit;
    }
    if (at == digits) {
        lex_fail(lexer, at, "expected a hexadecimal digit after '0x'");
        return;
    }
    lexer->at = at;
    lexer->token.kind = TOKEN_INTEGER;
    lexer->token.u.integer = (int64_t)value;
}

/* The factor of a scale suffix; 0 when the letter is not a suffix. */
static double scale_of(char letter)
{
    switch (letter | 0x20) {
    case 'b':
        return 1;
    case 'k':
        return 0x1p10;
    case 'm':
        return 0x1p20;
    case 'g':
        return 0x1p30;
    case 't':
        return 0x1p40;
    default:
        return 0;
    }
}

static void number_does_not_fit(struct lexer *lexer, const char *start)
{
    lex_fail(lexer, start, "this number does not fit into %s", lexer->token.kind == TOKEN_REAL ? "a real" : "64 bits");
}

/* How many characters there are "B" or "iB", and nothing behind it; 0 when something else is there. */
static int bytes_unit(const char *at)
{
    int len = (*at | 0x20) == 'i' ? 1 : 0;

    return (at[len] | 0x20) == 'b' && !class_at(at + len + 1) ? len + 1 : 0;
}

/* Reads a number's scale suffix, or complains about a letter that must not follow the number. */
static void read_suffix(struct lexer *lexer, const char *start)
{
    struct token *token = &lexer->token;
    const char *at = lexer->at;
    double scale = lexer->dialect->scale_suffixes ? scale_of(*at) : 0;
    int bytes;

    if (scale > 1 && at - start < 20 && (bytes = bytes_unit(at + 1)) > 0) { /* as people write it elsewhere */
        lex_fail(lexer, start, "'%.*s' is written %.*s: K, M, G and T are powers of 1024",
                 (int)(at + 1 + bytes - start), start, (int)(at + 1 - start), start);
        return;
    }
    if (scale == 0 || class_at(at + 1)) {
        lex_fail(lexer, scale == 0 ? at : at + 1, "a number ends before '%c'", scale == 0 ? *at : at[1]);
        return;
    }
    if (token->kind == TOKEN_INTEGER)
        number_parse_real(start, (size_t)(at - start), &token->u.real);
    token->kind = TOKEN_REAL;
    token->u.real *= scale;
    lexer->at++;
    if (isinf(token->u.real))
        number_does_not_fit(lexer, start);
}

/* Reads the part of a number behind its digits. False when there is none: the number is an integer. */
static bool read_real(struct lexer *lexer, const char *start, const char *at)
{
    struct token *token = &lexer->token;

    if (*at == '.') {
        if (!(class_at(at + 1) & DIGIT)) {
            lex_fail(lexer, at, "a real needs digits on both sides of its point");
            return true;
        }
    } else if ((*at | 0x20) != 'e' || !(class_at(at[1] == '+' || at[1] == '-' ? at + 2 : at + 1) & DIGIT)) {
        return false;
    }
    token->kind = TOKEN_REAL;
    lexer->at = start + number_parse_real(start, (size_t)(lexer->end - start), &token->u.real);
    if (isinf(token->u.real))
        number_does_not_fit(lexer, start);
    return true;
}

static void read_number(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    const char *start = lexer->at, *at = start;
    uint64_t value = 0;

    while (class_at(at) & DIGIT)
        value = value * 10 + (uint64_t)(*at++ - '0');
    token->kind = TOKEN_INTEGER;
    if ((*at != '.' && (*at | 0x20) != 'e') || !read_real(lexer, start, at)) {
        if (*start == '0' && (at - start > 1 || (*at | 0x20) == 'x')) {
            if (at - start > 1)
                read_based(lexer, start + 1, 8);
            else
                read_based(lexer, at + 1, 16);
            return;
        }
        token->u.integer = (int64_t)value;
        lexer->at = at;
        if (at - start > 18 && (at - start > 19 || value > INT64_MAX)) {
            if (class_at(at)) /* with a suffix the number is a real, and fits */
                read_suffix(lexer, start);
            else
                number_does_not_fit(lexer, start);
            return;
        }
    }
    if (token->kind != TOKEN_BAD && class_at(lexer->at))
        read_suffix(lexer, start);
}

char lex_escape(const char **at, const char *end)
{
    static const char from[] = "ntabfrv", to[] = "\n\t\a\b\f\r\v";
    const char *p = *at, *named;
    unsigned value = 0;

    if (*p >= '0' && *p <= '7') {
        for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++, p++)
            value = value * 8 + (unsigned)(*p - '0');
        *at = p;
        return (char)value;
    }
    if (*p == 'x') {
        p++;
        for (int i = 0; i < 2 && p < end; i++, p++) {
            if (class_of[(unsigned char)*p] & DIGIT)
                value = value * 16 + (unsigned)(*p - '0');
            else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
                value = value * 16 + (unsigned)((*p | 0x20) - 'a') + 10;
            else
                break;
        }
        *at = p;
        return (char)value;
    }
    *at = p + 1;
    named = strchr(from, *p);
    return named ? to[named - from] : *p;
}

/* Does the language have the escape whose backslash is at `at`? */
static bool escape_right(struct lexer *lexer, const char *at)
{
    const char *after = at + 1;

    if (at + 1 >= lexer->end || *after == 0 || !strchr("ntabfrv\\\"'01234567x", *after)) {
        lex_fail(lexer, at, "this escape is not one of \\n \\t \\a \\b \\f \\r \\v \\\\ \\\" \\' \\ooo \\xhh");
        return false;
    }
    if (*after == 'x' && !(after + 1 < lexer->end &&
                           (class_at(after + 1) & DIGIT || ((after[1] | 0x20) >= 'a' && (after[1] | 0x20) <= 'f')))) {
        lex_fail(lexer, at, "expected a hexadecimal digit after '\\x'");
        return false;
    }
    if ((*after >= '0' && *after <= '7') || *after == 'x') {
        unsigned octal = 0;

        for (int i = 0; *after != 'x' && i < 3 && after + i < lexer->end && after[i] >= '0' && after[i] <= '7'; i++)
            octal = octal * 8 + (unsigned)(after[i] - '0');
        if (octal > 255) {
            lex_fail(lexer, at, "this escape is past 255");
            return false;
        }
        if (lex_escape(&after, lexer->end) == 0) {
            lex_fail(lexer, at, "a string cannot hold a NUL");
            return false;
        }
    }
    return true;
}

/* Reads the text between two quotes; the token's start and end are those of the text without the quotes. */
static bool read_quoted(struct lexer *lexer, char quote, const char *what)
{
    static const bool stops[256] = {[0] = true, ['"'] = true, ['\''] = true, ['\\'] = true};
    struct token *token = &lexer->token;
    const char *open = lexer->at, *at = open + 1;

    token->escapes = false;
    for (;; at++) {
        while (!stops[(unsigned char)*at])
            at++;
        if (*at == quote || at >= lexer->end)
            break;
        if (*at == 0) {
            lex_fail(lexer, at, "%s cannot hold a NUL", what);
            return false;
        }
        if (*at != '\\')
            continue;
        if (lexer->old_strings && quote == '"') {
            if (at + 1 < lexer->end && at[1] == '"' && at + 2 < lexer->end) {
                token->escapes = true;
                at++;
            }
            continue;
        }
        if (!escape_right(lexer, at))
            return false;
        token->escapes = true;
        at++;
    }
    if (at >= lexer->end) {
        lex_fail(lexer, open, "%s has no end: expected %c", what, quote);
        return false;
    }
    token->start = open + 1;
    token->end = at;
    lexer->at = at + 1;
    return true;
}

static void read_time(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    const char *open = lexer->at;
    size_t len;
    int zone;

    if (!read_quoted(lexer, '\'', "this time"))
        return;
    len = (size_t)(token->end - token->start);
    if (time_parse_relative(lexer->dialect, token->start, len, &token->u.integer)) {
        token->kind = TOKEN_RELTIME;
    } else if (time_parse_absolute(lexer->dialect, token->start, len, TIME_ZONE_NONE, &token->u.integer, &zone)) {
        token->kind = TOKEN_ABSTIME;
        token->zone = (int16_t)zone;
    } else {
        lex_fail(lexer, open,
                 "this is not a time: expected 'H:M', '[Nd]H:M:S', 'YYYY-MM-DDTHH:MM:SS+HH:MM' or "
                 "'Mon DD HH:MM:SS YYYY +HH:MM'");
    }
}

/* Operators, the longest texts first: the first text that fits is the longest. */
static const struct {
    char text[4];
    unsigned char len, op;
} op_texts[] = {
    {"=?=", 3, OP_IS},
    {"=!=", 3, OP_ISNT},
    {">>>", 3, OP_SHIFT_RIGHT_ZERO},
    {"==", 2, OP_EQUAL},
    {"!=", 2, OP_NOT_EQUAL},
    {"<=", 2, OP_LESS_EQUAL},
    {"<<", 2, OP_SHIFT_LEFT},
    {">=", 2, OP_GREATER_EQUAL},
    {">>", 2, OP_SHIFT_RIGHT},
    {"&&", 2, OP_AND},
    {"||", 2, OP_OR},
    {"!", 1, OP_NOT},
    {"<", 1, OP_LESS},
    {">", 1, OP_GREATER},
    {"&", 1, OP_BIT_AND},
    {"|", 1, OP_BIT_OR},
    {"^", 1, OP_BIT_XOR},
    {"~", 1, OP_COMPLEMENT},
    {"+", 1, OP_ADD},
    {"-", 1, OP_SUBTRACT},
    {"*", 1, OP_MULTIPLY},
    {"/", 1, OP_DIVIDE},
    {"%", 1, OP_REMAINDER},
};

static RARE void read_operator(struct lexer *lexer)
{
    for (size_t i = 0; i < sizeof op_texts / sizeof *op_texts; i++) {
        const char *text = op_texts[i].text;

        if (text[0] == lexer->at[0] && (op_texts[i].len < 2 || text[1] == lexer->at[1]) &&
            (op_texts[i].len < 3 || text[2] == lexer->at[2])) {
            lexer->token.kind = TOKEN_OP;
            lexer->token.op = op_texts[i].op;
            lexer->at += op_texts[i].len;
            return;
        }
    }
    if (*lexer->at == '=') {
        lexer->token.kind = TOKEN_ASSIGN;
        lexer->at++;
    } else if (*lexer->at > ' ' && *lexer->at < 127) {
        lex_fail(lexer, lexer->at, "unexpected character '%c'", *lexer->at);
    } else {
        lex_fail(lexer, lexer->at, "unexpected byte 0x%02x", (unsigned)(unsigned char)*lexer->at);
    }
}

/* What the first character of a token says: it is a whole token by itself (then this is its kind), or it says which reader goes on. */
enum {
    START_OPERATOR = 0,
    START_WORD = 64,
    START_NUMBER,
    START_BLANK,
    START_QUOTE,
    START_TICK,
    START_END,
    START_POINT,
    START_EQUAL,
    START_SLASH
};

#define W START_WORD
#define N START_NUMBER
#define B START_BLANK
static const unsigned char start_of[256] = {
    [0] = START_END,
    ['\t'] = B,
    ['\n'] = B,
    ['\r'] = B,
    ['\f'] = B,
    ['\v'] = B,
    [' '] = B,
    ['0'] = N,
    ['1'] = N,
    ['2'] = N,
    ['3'] = N,
    ['4'] = N,
    ['5'] = N,
    ['6'] = N,
    ['7'] = N,
    ['8'] = N,
    ['9'] = N,
    ['A'] = W,
    ['B'] = W,
    ['C'] = W,
    ['D'] = W,
    ['E'] = W,
    ['F'] = W,
    ['G'] = W,
    ['H'] = W,
    ['I'] = W,
    ['J'] = W,
    ['K'] = W,
    ['L'] = W,
    ['M'] = W,
    ['N'] = W,
    ['O'] = W,
    ['P'] = W,
    ['Q'] = W,
    ['R'] = W,
    ['S'] = W,
    ['T'] = W,
    ['U'] = W,
    ['V'] = W,
    ['W'] = W,
    ['X'] = W,
    ['Y'] = W,
    ['Z'] = W,
    ['a'] = W,
    ['b'] = W,
    ['c'] = W,
    ['d'] = W,
    ['e'] = W,
    ['f'] = W,
    ['g'] = W,
    ['h'] = W,
    ['i'] = W,
    ['j'] = W,
    ['k'] = W,
    ['l'] = W,
    ['m'] = W,
    ['n'] = W,
    ['o'] = W,
    ['p'] = W,
    ['q'] = W,
    ['r'] = W,
    ['s'] = W,
    ['t'] = W,
    ['u'] = W,
    ['v'] = W,
    ['w'] = W,
    ['x'] = W,
    ['y'] = W,
    ['z'] = W,
    ['_'] = W,
    ['?'] = TOKEN_QUESTION,
    [':'] = TOKEN_COLON,
    [','] = TOKEN_COMMA,
    [';'] = TOKEN_SEMICOLON,
    ['('] = TOKEN_OPEN,
    [')'] = TOKEN_CLOSE,
    ['['] = TOKEN_OPEN_SQUARE,
    [']'] = TOKEN_CLOSE_SQUARE,
    ['{'] = TOKEN_OPEN_BRACE,
    ['}'] = TOKEN_CLOSE_BRACE,
    ['"'] = START_QUOTE,
    ['\''] = START_TICK,
    ['.'] = START_POINT,
    ['='] = START_EQUAL,
    ['/'] = START_SLASH,
};
#undef W
#undef N
#undef B

/* Reads the tokens that are not a single character. */
static RARE void read_longer(struct lexer *lexer, unsigned start)
{
    struct token *token = &lexer->token;

    switch (start) {
    case START_NUMBER:
        read_number(lexer);
        break;
    case START_QUOTE:
        token->kind = TOKEN_STRING;
        read_quoted(lexer, '"', "this string");
        return;
    case START_TICK:
        token->kind = TOKEN_QUOTED_NAME;
        if (!lexer->dialect->quoted_names)
            read_time(lexer);
        else if (read_quoted(lexer, '\'', "this name") && token->start == token->end)
            lex_fail(lexer, token->start - 1, "a name cannot be empty");
        return;
    case START_END:
        token->kind = TOKEN_END;
        if (lexer->at != lexer->end)
            lex_fail(lexer, lexer->at, "unexpected byte 0x00");
        break;
    case START_POINT:
        if (class_at(lexer->at + 1) & DIGIT) {
            lex_fail(lexer, lexer->at, "a real needs digits on both sides of its point");
            break;
        }
        token->kind = TOKEN_DOT;
        lexer->at++;
        break;
    default:
        read_operator(lexer);
    }
    token->end = lexer->at;
}

/* Skips blanks and comments, and reads the token behind them. */
static RARE void skip_and_next(struct lexer *lexer)
{
    for (;;) {
        unsigned start = start_of[(unsigned char)*lexer->at];

        if (start == START_BLANK) {
            lexer->at++;
        } else if (start == START_SLASH && (lexer->at[1] == '/' || lexer->at[1] == '*')) {
            lexer->token.kind = TOKEN_END;
            skip_comment(lexer);
            if (lexer->token.kind == TOKEN_BAD)
                return;
        } else {
            break;
        }
    }
    lex_next(lexer);
}

void lex_next(struct lexer *lexer)
{
    struct token *token = &lexer->token;
    const char *at = lexer->at;
    unsigned start = start_of[(unsigned char)*at];

    if (start == START_BLANK) { /* one blank is common, more are not */
        lexer->at = ++at;
        start = start_of[(unsigned char)*at];
    }
    token->start = lexer->at = at;
    if (start == START_WORD) {
        size_t len;

        unsigned some;

        do
            at += some = name_length_16(at);
        while (some == 16);
        len = (size_t)(at - token->start);
        token->kind = TOKEN_NAME;
        token->end = lexer->at = at;
        if (len <= 9 && (0x234u >> len & 1)) /* 2, 4, 5 or 9 letters */
            keyword(token, len);
        return;
    }
    if (start == START_EQUAL && at[1] != '=' && at[1] != '?' && at[1] != '!')
        start = TOKEN_ASSIGN;
    if (start == START_NUMBER) { /* an integer of few digits, as most integers are */
        uint64_t value = (uint64_t)(*at - '0');

        if (value) {
            for (at++; class_at(at) == DIGIT; at++)
                value = value * 10 + (uint64_t)(*at - '0');
            if (at - token->start <= 18 && *at != '.' && !class_at(at)) {
                token->kind = TOKEN_INTEGER;
                token->u.integer = (int64_t)value;
                token->end = lexer->at = at;
                return;
            }
            at = token->start;
        }
    }
    if (start - 1 < START_WORD - 1) { /* a token of one character */
        token->kind = (unsigned char)start;
        token->end = lexer->at = at + 1;
        return;
    }
    if (start == START_BLANK || (start == START_SLASH && (at[1] == '/' || at[1] == '*')))
        skip_and_next(lexer);
    else
        read_longer(lexer, start);
}

const char *lex_describe(const struct lexer *lexer, char *out, size_t room)
{
    const struct token *token = &lexer->token;
    size_t len = (size_t)(token->end - token->start);

    if (token->kind == TOKEN_END)
        snprintf(out, room, "the end");
    else if (token->kind == TOKEN_STRING)
        snprintf(out, room, "a string");
    else
        snprintf(out, room, "'%.*s'", (int)(len < 30 ? len : 30), token->start);
    return out;
}
