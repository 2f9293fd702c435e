/* places.c: where the clauses of a conjunction stand in the text of an ad. */
#include "lang/text/places.h"

#include "lang/base/array.h"
#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/text/lex.h"

#include <stdlib.h>
#include <string.h>

/* The part of a token that matters here. */
struct mark {
    unsigned char kind, op;
    size_t offset;
};

struct places {
    struct mark *marks; /* the tokens of the attribute's expression */
    size_t count, room;
    size_t *offsets;
    size_t offset_count, offset_room;
};

static int nesting(int kind)
{
    switch (kind) {
    case TOKEN_OPEN:
    case TOKEN_OPEN_SQUARE:
    case TOKEN_OPEN_BRACE:
        return 1;
    case TOKEN_CLOSE:
    case TOKEN_CLOSE_SQUARE:
    case TOKEN_CLOSE_BRACE:
        return -1;
    default:
        return 0;
    }
}

/* Is the token that name, whatever the case? */
static bool is_name(const struct token *token, const char *name, size_t len)
{
    const char *start = token->start;
    size_t have = (size_t)(token->end - token->start);

    if (token->kind == TOKEN_QUOTED_NAME && *start == '\'') {
        start++;
        have -= 2;
    }
    if ((token->kind != TOKEN_NAME && token->kind != TOKEN_QUOTED_NAME) || have != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((start[i] | 32) != (name[i] | 32))
            return false;
    return true;
}

/* Skips one `NAME = EXPRESSION`. Keeps the expression's tokens when the attribute is the one asked for. */
static bool read_attribute(struct places *places, struct lexer *lexer, const char *name, size_t len)
{
    bool wanted = is_name(&lexer->token, name, len);
    int depth = 0;

    lex_next(lexer);
    if (lexer->token.kind != TOKEN_ASSIGN)
        return false;
    if (wanted)
        places->count = 0;
    for (;;) {
        int kind;

        lex_next(lexer);
        kind = lexer->token.kind;
        if (kind == TOKEN_END || kind == TOKEN_BAD ||
            (depth == 0 && (kind == TOKEN_SEMICOLON || kind == TOKEN_CLOSE_SQUARE)))
            return wanted && kind != TOKEN_BAD;
        depth += nesting(kind);
        if (!wanted)
            continue;
        if (places->count == PLACES_TOKENS_MAX)
            return false;
        ARRAY_ROOM(places->marks, places->count, places->room, 64);
        places->marks[places->count++] =
            (struct mark){(unsigned char)kind, lexer->token.op, (size_t)(lexer->token.start - lexer->text)};
    }
}

/* Of several attributes of that name the last one holds. */
static bool find_in_ad(struct places *places, struct lexer *lexer, const char *name, size_t len)
{
    bool found = false;

    while (lexer->token.kind == TOKEN_OPEN_SQUARE || lexer->token.kind == TOKEN_SEMICOLON) {
        lex_next(lexer);
        found = read_attribute(places, lexer, name, len) || found;
    }
    return found;
}

/* Reads lines up to a blank one, an attribute each. */
static bool find_in_lines(struct places *places, const struct dialect *dialect, const char *text, size_t len,
                          const char *name, size_t name_len)
{
    bool found = false, blank = false;
    struct buf line;

    buf_init(&line);
    for (size_t at = 0, end; at < len && !blank; at = end + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        struct lexer lexer;
        struct err err;

        end = newline ? (size_t)(newline - text) : len;
        buf_reset(&line);
        buf_add(&line, text + at, end - at);
        lex_init(&lexer, dialect, buf_string(&line), line.len, &err);
        lexer.old_strings = true;
        lex_next(&lexer);
        blank = lexer.token.kind == TOKEN_END && at;
        if (!read_attribute(places, &lexer, name, name_len))
            continue;
        found = true;
        for (size_t i = 0; i < places->count; i++)
            places->marks[i].offset += at;
    }
    buf_done(&line);
    return found;
}

static void add_place(struct places *places, size_t mark)
{
    if (places->offset_count < places->offset_room)
        places->offsets[places->offset_count++] = places->marks[mark].offset;
}

/* Are the tokens from lo to below hi one pair of parentheses with something inside? */
static bool in_parentheses(const struct places *places, size_t lo, size_t hi)
{
    int depth = 0;

    if (hi - lo < 3 || places->marks[lo].kind != TOKEN_OPEN || places->marks[hi - 1].kind != TOKEN_CLOSE)
        return false;
    for (size_t i = lo; i < hi; i++) {
        depth += nesting(places->marks[i].kind);
        if (depth == 0)
            return i == hi - 1;
    }
    return false;
}

static void split(struct places *places, size_t lo, size_t hi)
{
    size_t begin = lo, start;
    bool conjunction = false, weaker = false;
    int depth = 0;

    while (in_parentheses(places, lo, hi)) {
        lo++;
        hi--;
    }
    for (size_t i = lo; i < hi; i++) {
        const struct mark *mark = &places->marks[i];

        depth += nesting(mark->kind);
        if (depth)
            continue;
        conjunction = conjunction || (mark->kind == TOKEN_OP && mark->op == OP_AND);
        weaker = weaker || mark->kind == TOKEN_QUESTION || (mark->kind == TOKEN_OP && mark->op == OP_OR);
    }
    if (!conjunction || weaker) {
        add_place(places, begin);
        return;
    }
    start = lo;
    for (size_t i = lo; i <= hi; i++) {
        if (i < hi)
            depth += nesting(places->marks[i].kind);
        if (i == hi || (depth == 0 && places->marks[i].kind == TOKEN_OP && places->marks[i].op == OP_AND)) {
            split(places, start, i);
            start = i + 1;
        }
    }
}

size_t places_of_clauses(const struct dialect *dialect, const char *text, size_t len, const char *attribute,
                         size_t attribute_len, size_t *ret_offsets, size_t room)
{
    struct places places = {.offsets = ret_offsets, .offset_room = room};
    struct lexer lexer;
    struct err err;
    bool found;

    lex_init(&lexer, dialect, text, len, &err);
    lex_next(&lexer);
    if (lexer.token.kind == TOKEN_OPEN_SQUARE)
        found = find_in_ad(&places, &lexer, attribute, attribute_len);
    else
        found = find_in_lines(&places, dialect, text, len, attribute, attribute_len);
    if (found && places.count)
        split(&places, 0, places.count);
    free(places.marks);
    return places.offset_count;
}
