/* fmt_tokens.c: makes tokens from a text, with the comments hung onto them. */
#include "cli/ads/fmt_tokens.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The state of reading: tokens and comments come in the order of the text. The place of a comment is known when the next token is. */
struct reading {
    struct fmt_tokens *tokens;
    size_t end;       /* offset behind the last token or comment */
    size_t token_end; /* and behind the last token */
    uint32_t pending; /* first comment that has no place yet */
    uint32_t *open;   /* brackets that wait for their partners */
    uint32_t open_count, open_room;
};

static size_t newlines_between(const char *text, size_t from, size_t to)
{
    size_t count = 0;

    for (size_t i = from; i < to; i++)
        count += text[i] == '\n';
    return count;
}

static void add_comment(void *user, size_t offset, size_t len)
{
    struct reading *reading = user;
    struct fmt_tokens *tokens = reading->tokens;
    struct comment *comment;

    ARRAY_ROOM(tokens->comments, tokens->comment_count, tokens->comment_room, 64);
    comment = &tokens->comments[tokens->comment_count++];
    *comment = (struct comment){tokens->text + offset, len, newlines_between(tokens->text, reading->end, offset) > 1,
                                TOKENS_NONE};
    reading->end = offset + len;
    if (comment->text[1] == '/')
        while (strchr(" \t\r", comment->text[comment->len - 1]))
            comment->len--;
}

bool comment_ends_line(const struct comment *comment)
{
    return comment->text[1] == '/' || memchr(comment->text, '\n', comment->len);
}

/* Hangs a comment onto a token, behind those that hang there; sets its link anew. */
static void hang(struct fmt_tokens *tokens, uint32_t at, enum comment_place place, uint32_t comment)
{
    struct fmt_piece *piece = &tokens->pieces[at];

    tokens->comments[comment].next = TOKENS_NONE;
    if (piece->comments[place].first == TOKENS_NONE)
        piece->comments[place].first = comment;
    else
        tokens->comments[piece->comments[place].last].next = comment;
    piece->comments[place].last = comment;
}

/* Does the text from `from` to `to` stay on one line? */
static bool one_line(const char *from, const char *to)
{
    return from >= to || !memchr(from, '\n', (size_t)(to - from));
}

/* Places the comments between the token before and this one, which begins at `start`. */
static void place_comments(struct reading *reading, uint32_t at, const char *start)
{
    struct fmt_tokens *tokens = reading->tokens;
    const char *after = start, *before = tokens->text + reading->token_end;
    bool joined = tokens->pieces[at].kind != TOKEN_END; /* on the line of the token that follows */

    for (uint32_t i = tokens->comment_count; i-- > reading->pending;) {
        struct comment *comment = &tokens->comments[i];

        joined = joined && one_line(comment->text, after);
        comment->next = joined;
        after = comment->text;
    }
    joined = at > 0; /* on the line of the token before */
    for (uint32_t i = reading->pending; i < tokens->comment_count; i++) {
        struct comment *comment = &tokens->comments[i];

        joined = joined && one_line(before, comment->text);
        if (comment->next)
            hang(tokens, at, COMMENT_INLINE, i);
        else if (joined)
            hang(tokens, at - 1, COMMENT_TRAIL, i);
        else
            hang(tokens, at, COMMENT_OWN, i);
        before = comment->text;
    }
    reading->pending = tokens->comment_count;
}

static bool ends_operand(const struct fmt_piece *piece)
{
    switch (piece->kind) {
    case TOKEN_NAME:
    case TOKEN_QUOTED_NAME:
    case TOKEN_UNDEFINED:
    case TOKEN_ERROR:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_INTEGER:
    case TOKEN_REAL:
    case TOKEN_STRING:
    case TOKEN_ABSTIME:
    case TOKEN_RELTIME:
    case TOKEN_CLOSE:
    case TOKEN_CLOSE_SQUARE:
    case TOKEN_CLOSE_BRACE:
        return true;
    default:
        return false;
    }
}

static enum role role_of(const struct fmt_tokens *tokens, uint32_t at, bool outermost)
{
    const struct fmt_piece *piece = &tokens->pieces[at], *before = at ? piece - 1 : NULL;
    bool behind_operand = before && ends_operand(before);

    switch (piece->kind) {
    case TOKEN_OP:
        return behind_operand ? ROLE_BINARY : ROLE_PREFIX;
    case TOKEN_QUESTION:
    case TOKEN_COLON:
        return ROLE_BINARY;
    case TOKEN_OPEN:
        return before && before->kind == TOKEN_NAME ? ROLE_CALL : ROLE_GROUP;
    case TOKEN_OPEN_SQUARE:
        return behind_operand && !outermost ? ROLE_SUBSCRIPT : ROLE_AD;
    case TOKEN_OPEN_BRACE:
        return ROLE_LIST;
    case TOKEN_DOT:
        return behind_operand ? ROLE_SELECT : ROLE_PLAIN;
    default:
        return ROLE_PLAIN;
    }
}

/* Pairs brackets; -1 when one does not fit. */
static int pair_bracket(struct reading *reading, uint32_t at)
{
    struct fmt_piece *pieces = reading->tokens->pieces;
    unsigned kind = pieces[at].kind;

    if (kind == TOKEN_OPEN || kind == TOKEN_OPEN_SQUARE || kind == TOKEN_OPEN_BRACE) {
        ARRAY_ROOM(reading->open, reading->open_count, reading->open_room, 64);
        reading->open[reading->open_count++] = at;
    } else if (kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_SQUARE || kind == TOKEN_CLOSE_BRACE) {
        uint32_t open;

        if (reading->open_count == 0)
            return -1;
        open = reading->open[--reading->open_count];
        if (pieces[open].kind != kind - 1) /* each closing kind follows its opening one */
            return -1;
        pieces[open].partner = at;
        pieces[at].partner = open;
        pieces[at].role = pieces[open].role;
    }
    return 0;
}

/* Sets the text that a token is printed as: as it is written, except for keywords and operators. */
static void set_text(struct fmt_piece *piece, const struct token *token)
{
    static const char *const words[] = {
        [TOKEN_UNDEFINED] = "undefined", [TOKEN_ERROR] = "error", [TOKEN_TRUE] = "true", [TOKEN_FALSE] = "false"};
    bool quoted = token->kind == TOKEN_STRING || token->kind == TOKEN_QUOTED_NAME || token->kind == TOKEN_ABSTIME ||
                  token->kind == TOKEN_RELTIME;

    piece->at = piece->text = token->start - quoted;
    piece->len = (size_t)(token->end - token->start) + 2 * quoted;
    if (token->kind < sizeof words / sizeof *words && words[token->kind])
        piece->text = words[token->kind];
    if (token->kind == TOKEN_OP) {
        piece->text = op_table[token->op].text;
        piece->len = strlen(piece->text);
    }
}

static int add_piece(struct reading *reading, const struct lexer *lexer)
{
    struct fmt_tokens *tokens = reading->tokens;
    const struct token *token = &lexer->token;
    uint32_t at = tokens->count++;
    struct fmt_piece *piece;
    size_t start;

    if (tokens->count > tokens->room) {
        tokens->room = tokens->room ? tokens->room * 2 : 256;
        tokens->pieces = mem_grow(tokens->pieces, tokens->room * sizeof *tokens->pieces);
    }
    piece = &tokens->pieces[at];
    *piece = (struct fmt_piece){.kind = token->kind, .op = token->op, .partner = TOKENS_NONE};
    for (int place = 0; place < COMMENT_PLACES; place++)
        piece->comments[place].first = piece->comments[place].last = TOKENS_NONE;
    set_text(piece, token);
    start = (size_t)((token->kind == TOKEN_END ? lexer->end : piece->at) - tokens->text);
    piece->gap = newlines_between(tokens->text, reading->end, start) > 1;
    place_comments(reading, at, tokens->text + start);
    piece->role = (unsigned char)role_of(tokens, at, reading->open_count == 0);
    reading->end = reading->token_end = (size_t)(lexer->at - tokens->text);
    return pair_bracket(reading, at);
}

int fmt_tokens_init(struct fmt_tokens *tokens, const struct dialect *dialect, const char *text, size_t len,
                    struct err *err)
{
    struct reading reading = {.tokens = tokens};
    struct lexer lexer;
    int result = 0;

    *tokens = (struct fmt_tokens){.text = text};
    lex_init(&lexer, dialect, text, len, err);
    lexer.comment = add_comment;
    lexer.comment_user = &reading;
    do {
        lex_next(&lexer);
        if (lexer.token.kind == TOKEN_BAD) {
            result = -1;
            break;
        }
        if (add_piece(&reading, &lexer) < 0)
            result = lex_fail(&lexer, lexer.token.start, "this bracket closes none that is open");
    } while (result == 0 && lexer.token.kind != TOKEN_END);
    if (result == 0 && reading.open_count)
        result =
            lex_fail(&lexer, tokens->pieces[reading.open[reading.open_count - 1]].at, "this bracket is never closed");
    free(reading.open);
    return result;
}

void fmt_tokens_done(struct fmt_tokens *tokens)
{
    free(tokens->pieces);
    free(tokens->comments);
    *tokens = (struct fmt_tokens){0};
}

bool fmt_tokens_start_line(const struct fmt_tokens *tokens, uint32_t at)
{
    const struct fmt_piece *piece = &tokens->pieces[at];

    if (at == 0 || piece->role == ROLE_BINARY || piece->kind == TOKEN_END)
        return true;
    switch (piece->kind) {
    case TOKEN_CLOSE:
    case TOKEN_CLOSE_SQUARE:
    case TOKEN_CLOSE_BRACE:
        return true;
    default:
        break;
    }
    switch (piece[-1].kind) {
    case TOKEN_OPEN:
    case TOKEN_OPEN_SQUARE:
    case TOKEN_OPEN_BRACE:
    case TOKEN_COMMA:
    case TOKEN_SEMICOLON:
        return true;
    default:
        return piece->kind == TOKEN_OPEN_SQUARE && piece->role == ROLE_AD && piece[-1].kind == TOKEN_CLOSE_SQUARE;
    }
}

/* Takes a list of comments off a token. */
static uint32_t unhang(struct fmt_tokens *tokens, uint32_t at, enum comment_place place)
{
    uint32_t first = tokens->pieces[at].comments[place].first;

    tokens->pieces[at].comments[place].first = tokens->pieces[at].comments[place].last = TOKENS_NONE;
    return first;
}

static void hang_all(struct fmt_tokens *tokens, uint32_t at, enum comment_place place, uint32_t first)
{
    while (first != TOKENS_NONE) {
        uint32_t next = tokens->comments[first].next;

        hang(tokens, at, place, first);
        first = next;
    }
}

static bool has(const struct fmt_tokens *tokens, uint32_t at, enum comment_place place)
{
    return tokens->pieces[at].comments[place].first != TOKENS_NONE;
}

/* Moves the comments behind an operator to its front. */
static void settle_operator(struct fmt_tokens *tokens, uint32_t at)
{
    uint32_t trail = unhang(tokens, at, COMMENT_TRAIL);
    bool moves_up = !has(tokens, at, COMMENT_OWN) && !has(tokens, at - 1, COMMENT_TRAIL);

    hang_all(tokens, moves_up ? at - 1 : at, moves_up ? COMMENT_TRAIL : COMMENT_OWN, trail);
    hang_all(tokens, at, COMMENT_OWN, unhang(tokens, at + 1, COMMENT_OWN));
}

/* Moves the comments before a comma or semicolon behind it. After a comment that ends its line, the rest go above what follows. */
static void settle_separator(struct fmt_tokens *tokens, uint32_t at)
{
    uint32_t lists[] = {unhang(tokens, at - 1, COMMENT_TRAIL), unhang(tokens, at, COMMENT_OWN),
                        unhang(tokens, at, COMMENT_TRAIL), unhang(tokens, at + 1, COMMENT_OWN)};
    bool line_ended = false;

    for (int i = 0; i < 4; i++) {
        for (uint32_t comment = lists[i], next; comment != TOKENS_NONE; comment = next) {
            bool behind = i < 3 && !line_ended;

            next = tokens->comments[comment].next;
            hang(tokens, behind ? at : at + 1, behind ? COMMENT_TRAIL : COMMENT_OWN, comment);
            line_ended = line_ended || comment_ends_line(&tokens->comments[comment]);
        }
    }
}

/* Moves comments that stand where no line may end: above the nearest token before them that begins a line. */
static void settle_above(struct fmt_tokens *tokens, uint32_t at, enum comment_place place)
{
    uint32_t first = unhang(tokens, at, place), start = at;

    if (first == TOKENS_NONE)
        return;
    while (!fmt_tokens_start_line(tokens, start))
        start--;
    if (!has(tokens, start, COMMENT_OWN)) {
        tokens->comments[first].gap = tokens->pieces[start].gap;
        tokens->pieces[start].gap = false;
    }
    hang_all(tokens, start, COMMENT_OWN, first);
}

void fmt_tokens_settle_comments(struct fmt_tokens *tokens)
{
    for (uint32_t i = 0; i + 1 < tokens->count; i++) {
        const struct fmt_piece *piece = &tokens->pieces[i];

        if (piece->role == ROLE_BINARY && i)
            settle_operator(tokens, i);
        else if ((piece->kind == TOKEN_COMMA || piece->kind == TOKEN_SEMICOLON) && i)
            settle_separator(tokens, i);
    }
    for (uint32_t i = 0; i + 1 < tokens->count; i++) {
        if (!fmt_tokens_start_line(tokens, i))
            settle_above(tokens, i, COMMENT_OWN);
        if (!fmt_tokens_start_line(tokens, i + 1))
            settle_above(tokens, i, COMMENT_TRAIL);
    }
}

static bool is_last_semicolon(const struct fmt_tokens *tokens, uint32_t at)
{
    return tokens->pieces[at].kind == TOKEN_SEMICOLON && tokens->pieces[at + 1].kind == TOKEN_CLOSE_SQUARE;
}

bool fmt_tokens_alike(const struct fmt_tokens *a, const struct fmt_tokens *b)
{
    uint32_t i = 0, j = 0;

    for (;; i++, j++) {
        const struct fmt_piece *x, *y;

        i += is_last_semicolon(a, i);
        j += is_last_semicolon(b, j);
        x = &a->pieces[i];
        y = &b->pieces[j];
        if (x->kind != y->kind || x->op != y->op || x->role != y->role)
            return false;
        if (x->kind == TOKEN_END)
            return a->comment_count == b->comment_count;
        if (x->len != y->len || memcmp(x->text, y->text, x->len))
            return false;
    }
}
