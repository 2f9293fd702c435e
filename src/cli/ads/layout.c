/* layout.c: the one way to lay out ads.
 *
 * A run of tokens that fits into what is left of the line, and has no comment in it that ends a line, is printed as it comes (flat). Else it is
 * split: a choice before each ? and :, a chain before each of the operators that bind least, brackets around their elements; and each part is laid
 * out by the same rule. Whether a run fits is a subtraction, so the whole takes linear time, except for looking for operators, which is done once for
 * each level of brackets that is broken. */
#include "cli/ads/layout.h"

#include "lang/base/mem.h"

#include <stdlib.h>

/* Running sums up to a token: the blanks before it, the columns, and the comments that end a line. */
struct measure {
    unsigned char blanks;  /* before the token, when it does not begin a line */
    uint32_t column;       /* of its end, if everything were on one line */
    uint32_t owns, trails; /* how many tokens up to this one have such comments */
};

struct layout {
    struct buf *out;
    const struct fmt_tokens *tokens;
    struct measure *measures;
    size_t column, line_indent; /* of the line being printed */
};

static void lay_expr(struct layout *layout, uint32_t from, uint32_t to, size_t indent, size_t tail);

static bool is_opening(const struct fmt_piece *piece)
{
    return piece->kind == TOKEN_OPEN || piece->kind == TOKEN_OPEN_SQUARE || piece->kind == TOKEN_OPEN_BRACE;
}

static bool is_closing(const struct fmt_piece *piece)
{
    return piece->kind == TOKEN_CLOSE || piece->kind == TOKEN_CLOSE_SQUARE || piece->kind == TOKEN_CLOSE_BRACE;
}

static bool is_wide(const struct fmt_piece *bracket) /* does the bracket have blanks inside? */
{
    return bracket->role == ROLE_AD || bracket->role == ROLE_LIST;
}

static uint32_t comment_at(const struct layout *layout, uint32_t at, enum comment_place place)
{
    return layout->tokens->pieces[at].comments[place].first;
}

/* How many blanks stand between two tokens on a line. */
static unsigned blanks_between(const struct fmt_piece *left, const struct fmt_piece *right)
{
    if (right->kind == TOKEN_COMMA || right->kind == TOKEN_SEMICOLON)
        return 0;
    if (is_closing(right))
        return is_wide(right) && !is_opening(left);
    if (is_opening(left))
        return is_wide(left);
    if (right->role == ROLE_CALL || right->role == ROLE_SUBSCRIPT)
        return 0;
    if (right->role == ROLE_SELECT) /* a point right behind a number would be read as part of it */
        return left->kind == TOKEN_INTEGER || left->kind == TOKEN_REAL;
    return left->kind != TOKEN_DOT && left->role != ROLE_PREFIX;
}

/* How many columns a text takes, if each character takes one. */
static size_t text_width(const char *text, size_t len)
{
    size_t width = 0;

    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* Is there a blank before, or after, comments inside a line? There is, except next to brackets and separators that stand close. */
static bool blank_before_inline(const struct fmt_piece *left)
{
    return !(is_opening(left) && !is_wide(left));
}

static bool blank_after_inline(const struct fmt_piece *piece)
{
    return piece->kind != TOKEN_COMMA && piece->kind != TOKEN_SEMICOLON && !(is_closing(piece) && !is_wide(piece));
}

static size_t inline_width(const struct layout *layout, uint32_t at)
{
    const struct comment *comments = layout->tokens->comments;
    size_t width = 0;

    for (uint32_t i = comment_at(layout, at, COMMENT_INLINE); i != TOKENS_NONE; i = comments[i].next)
        width += text_width(comments[i].text, comments[i].len) + 1;
    return width && !blank_after_inline(&layout->tokens->pieces[at]) ? width - 1 : width;
}

static void layout_measure(struct layout *layout)
{
    const struct fmt_tokens *tokens = layout->tokens;
    struct measure sum = {0};

    layout->measures = mem_alloc(tokens->count * sizeof *layout->measures);
    for (uint32_t i = 0; i < tokens->count; i++) {
        const struct fmt_piece *piece = &tokens->pieces[i];
        size_t comments = inline_width(layout, i);

        sum.blanks = 0;
        if (i)
            sum.blanks = (unsigned char)(comments ? blank_before_inline(piece - 1) : blanks_between(piece - 1, piece));
        sum.column += (uint32_t)(sum.blanks + comments + text_width(piece->text, piece->len));
        sum.owns += comment_at(layout, i, COMMENT_OWN) != TOKENS_NONE;
        sum.trails += comment_at(layout, i, COMMENT_TRAIL) != TOKENS_NONE;
        layout->measures[i] = sum;
    }
}

/* How many columns tokens [from, to) take on one line. */
static size_t flat_width(const struct layout *layout, uint32_t from, uint32_t to)
{
    const struct measure *measures = layout->measures;
    const struct fmt_piece *first = &layout->tokens->pieces[from];

    return measures[to - 1].column - measures[from].column + inline_width(layout, from) +
           text_width(first->text, first->len);
}

/* Is there a comment inside [from, to) that ends a line? */
static bool must_break(const struct layout *layout, uint32_t from, uint32_t to)
{
    const struct measure *measures = layout->measures;

    if (measures[to - 1].owns != measures[from].owns)
        return true;
    return to - from > 1 &&
           (measures[to - 2].trails != measures[from].trails || comment_at(layout, from, COMMENT_TRAIL) != TOKENS_NONE);
}

static bool fits(const struct layout *layout, uint32_t from, uint32_t to, size_t tail)
{
    return !must_break(layout, from, to) && layout->column + flat_width(layout, from, to) + tail <= LAYOUT_WIDTH;
}

static void put(struct layout *layout, const char *text, size_t len)
{
    buf_add(layout->out, text, len);
    layout->column += text_width(text, len);
}

static void put_line(struct layout *layout, size_t indent)
{
    buf_addf(layout->out, "\n%*s", (int)indent, "");
    layout->column = layout->line_indent = indent;
}

/* Prints an empty line, if there is a gap; to be called before put_line. */
static void put_gap(struct layout *layout, bool gap)
{
    if (gap)
        buf_addc(layout->out, '\n');
}

/* Prints a token with the comments before it in its line, and the blanks before it unless it begins the line. */
static void put_piece(struct layout *layout, uint32_t at, bool blanks)
{
    const struct fmt_piece *piece = &layout->tokens->pieces[at];
    const struct comment *comments = layout->tokens->comments;

    if (blanks)
        put(layout, " ", layout->measures[at].blanks);
    for (uint32_t i = comment_at(layout, at, COMMENT_INLINE); i != TOKENS_NONE; i = comments[i].next) {
        put(layout, comments[i].text, comments[i].len);
        if (comments[i].next != TOKENS_NONE || blank_after_inline(piece))
            put(layout, " ", 1);
    }
    put(layout, piece->text, piece->len);
}

/* Prints the comments above a token, each on its own line; the first line has been begun. */
static void put_own(struct layout *layout, uint32_t at, size_t indent)
{
    const struct comment *comments = layout->tokens->comments;

    for (uint32_t i = comment_at(layout, at, COMMENT_OWN); i != TOKENS_NONE; i = comments[i].next) {
        put(layout, comments[i].text, comments[i].len);
        put_line(layout, indent);
    }
}

/* Prints the comments behind a token; the caller ends the line. */
static void put_trail(struct layout *layout, uint32_t at)
{
    const struct comment *comments = layout->tokens->comments;

    for (uint32_t i = comment_at(layout, at, COMMENT_TRAIL); i != TOKENS_NONE; i = comments[i].next) {
        put(layout, "  ", i == comment_at(layout, at, COMMENT_TRAIL) ? 2 : 1);
        put(layout, comments[i].text, comments[i].len);
    }
}

/* Prints comments and the token below them on lines of their own, inside an ad or between ads, with the empty lines that were there. */
static void put_spaced(struct layout *layout, uint32_t at, size_t indent, bool first, bool token)
{
    const struct comment *comments = layout->tokens->comments;

    for (uint32_t i = comment_at(layout, at, COMMENT_OWN); i != TOKENS_NONE; i = comments[i].next, first = false) {
        put_gap(layout, comments[i].gap && !first);
        put_line(layout, indent);
        put(layout, comments[i].text, comments[i].len);
    }
    if (token) {
        put_gap(layout, layout->tokens->pieces[at].gap && !first);
        put_line(layout, indent);
        put_piece(layout, at, false);
    }
}

/* Finds the first separator of that kind in [from, to) outside brackets; `to` when there is none. */
static uint32_t find_separator(const struct layout *layout, enum token_kind kind, uint32_t from, uint32_t to)
{
    const struct fmt_piece *pieces = layout->tokens->pieces;

    for (uint32_t i = from; i < to; i++) {
        if (pieces[i].kind == kind)
            return i;
        if (is_opening(&pieces[i]))
            i = pieces[i].partner;
    }
    return to;
}

/* Prints the attributes of an ad, one on a line; [from, to) is what stands between the brackets. */
static void lay_attributes(struct layout *layout, uint32_t from, uint32_t to, size_t indent)
{
    for (uint32_t at = from, end; at < to; at = end + 1) {
        end = find_separator(layout, TOKEN_SEMICOLON, at, to);
        put_spaced(layout, at, indent, at == from, true);
        put_piece(layout, at + 1, true); /* = */
        put(layout, " ", 1);
        lay_expr(layout, at + 2, end, indent + LAYOUT_INDENT, 1);
        if (end < to)
            put_piece(layout, end, true);
        else
            put(layout, ";", 1);
        put_trail(layout, end < to ? end : end - 1);
    }
}

/* Prints the elements of a list, the arguments of a function, or the expression in parentheses. */
static void lay_elements(struct layout *layout, uint32_t from, uint32_t to, size_t indent, bool alone)
{
    for (uint32_t at = from, end; at < to; at = end + 1) {
        end = find_separator(layout, TOKEN_COMMA, at, to);
        put_line(layout, indent);
        put_own(layout, at, indent);
        lay_expr(layout, at, end, alone ? indent : indent + LAYOUT_INDENT, end < to);
        if (end < to)
            put_piece(layout, end, true);
        put_trail(layout, end < to ? end : end - 1);
    }
}

/* Prints what stands before a closing bracket that gets a line of its own. Comments in the line of the bracket stay with what they stand behind. */
static void put_before_closing(struct layout *layout, uint32_t close, size_t indent, bool empty)
{
    const struct fmt_tokens *tokens = layout->tokens;
    uint32_t trail = tokens->pieces[close - 1].comments[COMMENT_TRAIL].last;
    uint32_t i = comment_at(layout, close, COMMENT_INLINE);
    bool alone = comment_at(layout, close, COMMENT_OWN) != TOKENS_NONE ||
                 (trail != TOKENS_NONE && comment_ends_line(&tokens->comments[trail]));
    bool first = trail == TOKENS_NONE;

    put_spaced(layout, close, indent, empty, false);
    for (; i != TOKENS_NONE; i = tokens->comments[i].next, first = false) {
        if (alone)
            put_line(layout, indent);
        else
            put(layout, "  ", first ? 2 : 1);
        put(layout, tokens->comments[i].text, tokens->comments[i].len);
    }
}

/* Prints brackets and what is in them; the blanks before them have been printed. */
static void lay_brackets(struct layout *layout, uint32_t open, bool spread)
{
    const struct fmt_piece *piece = &layout->tokens->pieces[open];
    size_t base = layout->line_indent, inner = base + LAYOUT_INDENT;
    uint32_t close = piece->partner;

    put_piece(layout, open, false);
    if (!spread) {
        for (uint32_t i = open + 1; i <= close; i++)
            put_piece(layout, i, true);
        return;
    }
    put_trail(layout, open);
    if (piece->role == ROLE_AD)
        lay_attributes(layout, open + 1, close, inner);
    else
        lay_elements(layout, open + 1, close, inner, piece->role == ROLE_GROUP || piece->role == ROLE_SUBSCRIPT);
    put_before_closing(layout, close, inner, close == open + 1);
    put_line(layout, base);
    put(layout, layout->tokens->pieces[close].text, 1);
}

/* Prints an operand without operators between its parts: prefixes, a name or bracket, what is selected from it. */
static void lay_operand(struct layout *layout, uint32_t from, uint32_t to, size_t tail)
{
    const struct fmt_piece *pieces = layout->tokens->pieces;

    for (uint32_t i = from; i < to; i++) {
        uint32_t close = pieces[i].partner;

        if (i > from)
            put(layout, " ", layout->measures[i].blanks);
        if (!is_opening(&pieces[i])) {
            put_piece(layout, i, false);
            continue;
        }
        lay_brackets(layout, i, !fits(layout, i, close + 1, close + 1 == to ? tail : 0));
        i = close;
    }
}

/* The level at which [from, to) is split: that of the operators outside brackets that bind least; 0 for a choice. */
static unsigned split_level(const struct layout *layout, uint32_t from, uint32_t to)
{
    const struct fmt_piece *pieces = layout->tokens->pieces;
    unsigned least = OP_LEVEL_PREFIX;

    for (uint32_t i = from; i < to; i++) {
        if (is_opening(&pieces[i])) {
            i = pieces[i].partner;
        } else if (pieces[i].role == ROLE_BINARY) {
            unsigned level = pieces[i].kind == TOKEN_OP ? op_table[pieces[i].op].level : 0;

            least = level < least ? level : least;
        }
    }
    return least;
}

static uint32_t find_operator(const struct layout *layout, unsigned level, uint32_t from, uint32_t to)
{
    const struct fmt_piece *pieces = layout->tokens->pieces;

    for (uint32_t i = from; i < to; i++) {
        if (is_opening(&pieces[i]))
            i = pieces[i].partner;
        else if (pieces[i].role == ROLE_BINARY &&
                 (pieces[i].kind == TOKEN_OP ? op_table[pieces[i].op].level : 0) == level)
            return i;
    }
    return to;
}

/* Prints an expression; lines after its first begin at `indent`, and `tail` columns will follow it on its last line. */
static void lay_expr(struct layout *layout, uint32_t from, uint32_t to, size_t indent, size_t tail)
{
    unsigned level;
    uint32_t end;

    if (fits(layout, from, to, tail)) {
        for (uint32_t i = from; i < to; i++)
            put_piece(layout, i, i > from);
        return;
    }
    level = split_level(layout, from, to);
    if (level == OP_LEVEL_PREFIX) {
        lay_operand(layout, from, to, tail);
        return;
    }
    end = find_operator(layout, level, from, to);
    lay_expr(layout, from, end, indent + LAYOUT_INDENT, 0);
    while (end < to) {
        uint32_t at = end;

        end = find_operator(layout, level, at + 1, to);
        put_trail(layout, at - 1);
        put_line(layout, indent);
        put_own(layout, at, indent);
        put_piece(layout, at, false);
        put(layout, " ", 1);
        lay_expr(layout, at + 1, end, indent + LAYOUT_INDENT, end == to ? tail : 0);
    }
}

void layout_ads(struct buf *out, struct fmt_tokens *tokens)
{
    struct layout layout = {.out = out, .tokens = tokens};
    uint32_t at = 0, last = tokens->count - 1;
    size_t start = out->len;

    fmt_tokens_settle_comments(tokens);
    layout_measure(&layout);
    for (; at < last; at = tokens->pieces[at].partner + 1) {
        uint32_t close = tokens->pieces[at].partner;

        if (at)
            put_gap(&layout, true);
        put_spaced(&layout, at, 0, true, false);
        put_gap(&layout, comment_at(&layout, at, COMMENT_OWN) != TOKENS_NONE && tokens->pieces[at].gap);
        put_line(&layout, 0);
        lay_brackets(&layout, at, close > at + 1 || must_break(&layout, at, close + 1));
        put_trail(&layout, close);
    }
    put_spaced(&layout, last, 0, at == 0, false);
    if (out->len > start) { /* each line began with a newline: move the first one to the end */
        buf_addc(out, '\n');
        memmove(out->text + start, out->text + start + 1, out->len - start - 1);
        out->len--;
    }
    free(layout.measures);
}
