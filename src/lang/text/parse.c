/* parse.c: tokens become trees.
 *
 * Recursive descent. Binary operators go by precedence climbing over op_table; a run of operators of one level becomes one chain.
 * Each function leaves its result on the builder's stack and returns 0, or -1 with the error filled in. */
#include "lang/text/parse.h"

#include "lang/text/constant.h"
#include "lang/text/words.h"

#include <math.h>
#include <string.h>

struct parser {
    struct lexer lexer;
    struct build *build;
    const struct parse_options *options;
    unsigned depth;  /* brackets, prefixes, ?:, calls */
    unsigned height; /* calls of parse_binary that wait for each other */
    unsigned ads;    /* how many ads stand around this place */
};

static int parse_value(struct parser *p);

static const char *token_place(const struct parser *p)
{
    const struct token *token = &p->lexer.token;

    return token->kind == TOKEN_STRING || token->kind == TOKEN_QUOTED_NAME || token->kind == TOKEN_ABSTIME ||
                   token->kind == TOKEN_RELTIME
               ? token->start - 1
               : token->start;
}

static int parse_expected(struct parser *p, const char *what)
{
    char got[64];

    if (p->lexer.token.kind == TOKEN_BAD)
        return -1;
    return lex_fail(&p->lexer, token_place(p), "expected %s, got %s", what, lex_describe(&p->lexer, got, sizeof got));
}

/* An operator or an end was expected where something else stands, perhaps an operator of another language. */
static int parse_expected_operator(struct parser *p, const char *what)
{
    const struct token *token = &p->lexer.token;
    size_t len = (size_t)(token->end - token->start);
    const char *hint = token->kind == TOKEN_NAME ? word_operator(token->start, len) : NULL;

    if (hint)
        return lex_fail(&p->lexer, token->start, "'%.*s' is not an operator; write '%s'", (int)len, token->start, hint);
    if (build_top(p->build)->kind == EXPR_NAME && token->kind != TOKEN_BAD && token->kind != TOKEN_END) {
        const char *name = symbols_text(p->build->symbols, build_top(p->build)->u.name.id, &len);

        hint = word_operator(name, len);
        if (hint)
            return lex_fail(&p->lexer, token_place(p), "'%.*s' is not an operator; write '%s'", (int)len, name, hint);
    }
    return parse_expected(p, what);
}

/* Reads the closing bracket that belongs to the one at `open`. */
static int parse_close(struct parser *p, enum token_kind kind, const char *bracket, const char *open)
{
    unsigned line, column;

    if (p->lexer.token.kind == kind) {
        lex_next(&p->lexer);
        return 0;
    }
    if (p->lexer.token.kind == TOKEN_BAD)
        return -1;
    err_place(p->lexer.text, (size_t)(open - p->lexer.text), &line, &column);
    if (line == 1)
        column += p->lexer.column - 1;
    return lex_fail(&p->lexer, token_place(p), "expected '%s' to close '%c' at %u:%u", bracket, *open,
                    line + p->lexer.line - 1, column);
}

/* Is the tree that has been read so far within the limit? */
static int parse_size(struct parser *p)
{
    uint32_t limit = p->options->cells_max;

    if (!limit || p->build->cell_count + p->build->stack_count <= limit)
        return 0;
    return lex_fail(&p->lexer, token_place(p), "too large: the limit is %u parts", limit);
}

static int parse_too_deep(struct parser *p, const char *at)
{
    return lex_fail(&p->lexer, at, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
}

static int parse_deeper(struct parser *p)
{
    return ++p->depth > TREE_DEPTH_MAX ? parse_too_deep(p, token_place(p)) : 0;
}

/* Opens a minus or a call. Either may be how a constant is written (constant.h), and a constant may stand wherever a literal may. So before a token
 * of these kinds they may go one deeper than the limit, and must then have become a literal. Reads past the opening. */
static int constant_deeper(struct parser *p, enum token_kind literal, enum token_kind or_literal)
{
    const char *open = p->lexer.token.start;

    p->depth++;
    lex_next(&p->lexer);
    if (p->depth <= TREE_DEPTH_MAX || p->lexer.token.kind == TOKEN_BAD)
        return 0;
    if (p->depth > TREE_DEPTH_MAX + 1 || (p->lexer.token.kind != literal && p->lexer.token.kind != or_literal))
        return parse_too_deep(p, open);
    return 0;
}

static int constant_shallower(struct parser *p, const char *open)
{
    if (p->depth-- > TREE_DEPTH_MAX && !expr_is_literal(build_top(p->build)))
        return parse_too_deep(p, open);
    return 0;
}

/* Appends the name or string of the current token to the builder's text, with escapes decoded. */
static void token_decode(struct parser *p, const struct token *token)
{
    const char *from = token->start;

    while (from < token->end) {
        const char *slash = memchr(from, '\\', (size_t)(token->end - from));
        char c;

        build_string_append(p->build, from, (size_t)((slash ? slash : token->end) - from));
        if (!slash)
            break;
        from = slash + 1;
        if (p->lexer.old_strings && token->kind == TOKEN_STRING) {
            c = from < token->end && *from == '"' ? *from++ : '\\';
        } else {
            c = lex_escape(&from, token->end);
        }
        build_string_append(p->build, &c, 1);
    }
}

static void parse_string(struct parser *p)
{
    const struct token *token = &p->lexer.token;

    build_string_begin(p->build);
    if (token->escapes)
        token_decode(p, token);
    else
        build_string_append(p->build, token->start, (size_t)(token->end - token->start));
    build_string_end(p->build);
}

/* The symbol of the current name token. */
static symbol parse_symbol(struct parser *p)
{
    const struct token *token = &p->lexer.token;
    uint32_t mark = p->build->text_len;
    symbol taken;

    if (token->kind == TOKEN_NAME || !token->escapes)
        return symbols_take(p->build->symbols, token->start, (size_t)(token->end - token->start));
    token_decode(p, token);
    taken = symbols_take(p->build->symbols, p->build->text + mark, p->build->text_len - mark);
    p->build->text_len = mark;
    return taken;
}

static bool token_is_name(const struct parser *p)
{
    return p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_QUOTED_NAME;
}

/* Fails if the current token, a name of that symbol, is reserved. */
static int parse_unreserved(struct parser *p, symbol name)
{
    const struct token *token = &p->lexer.token;
    const char *text = token->start;
    size_t len = (size_t)(token->end - token->start);

    if (token->kind != TOKEN_NAME) /* a quoted name may have escapes */
        text = symbols_text(p->build->symbols, name, &len);
    if (word_may_name(text, len))
        return 0;
    return lex_fail(&p->lexer, token_place(p), "'%s' is reserved: it cannot be an attribute's name",
                    symbols_text(p->build->symbols, name, &len));
}

/* Reads NAME = EXPRESSION and pushes the expression with its name on it. */
static int parse_attribute(struct parser *p)
{
    const char *start = token_place(p);
    symbol name;

    if (!token_is_name(p)) {
        if (p->lexer.token.kind >= TOKEN_UNDEFINED && p->lexer.token.kind <= TOKEN_FALSE)
            return lex_fail(&p->lexer, token_place(p), "a keyword cannot be an attribute's name");
        return parse_expected(p, "an attribute's name");
    }
    name = parse_symbol(p);
    if (parse_unreserved(p, name) < 0) {
        symbols_drop(p->build->symbols, name);
        return -1;
    }
    if (!lex_pass_assign(&p->lexer)) {
        lex_next(&p->lexer);
        if (p->lexer.token.kind != TOKEN_ASSIGN) {
            symbols_drop(p->build->symbols, name);
            return parse_expected(p, "'='");
        }
    }
    lex_next(&p->lexer);
    if (parse_value(p) < 0) {
        symbols_drop(p->build->symbols, name);
        return -1;
    }
    build_attribute(p->build, name);
    if (p->options->watch && p->ads == 1)
        p->options->watch->attribute(p->options->watch->user, (size_t)(start - p->lexer.text),
                                     (size_t)(p->lexer.token.start - p->lexer.text));
    return 0;
}

/* Where the n-th attribute of the ad that opens at `open` begins. It reads the ad's tokens again to find the place. */
static const char *attribute_place(const struct parser *p, const char *open, uint32_t n)
{
    struct lexer lexer = p->lexer;
    unsigned depth = 0;
    bool fresh = false; /* an attribute begins with the next token */

    lexer.at = open;
    lexer.err = NULL;
    lexer.comment = NULL;
    for (lex_next(&lexer); lexer.token.kind != TOKEN_END && lexer.token.kind != TOKEN_BAD; lex_next(&lexer)) {
        switch (lexer.token.kind) {
        case TOKEN_OPEN:
        case TOKEN_OPEN_BRACE:
        case TOKEN_OPEN_SQUARE:
            depth++;
            fresh = depth == 1;
            break;
        case TOKEN_CLOSE:
        case TOKEN_CLOSE_BRACE:
        case TOKEN_CLOSE_SQUARE:
            depth--;
            break;
        case TOKEN_SEMICOLON:
            fresh = depth == 1;
            break;
        default:
            if (fresh && n-- == 0)
                return lexer.token.start - (lexer.token.kind == TOKEN_QUOTED_NAME);
            fresh = false;
        }
    }
    return open;
}

static int parse_duplicate(struct parser *p, const char *open, uint32_t count, uint32_t place)
{
    const struct expr *again = &p->build->stack[p->build->stack_count - count + place];
    size_t len;
    const char *name = symbols_text(p->build->symbols, again->label, &len);

    return lex_fail(&p->lexer, attribute_place(p, open, place), "the attribute '%.*s' is defined twice in this ad",
                    (int)(len < 200 ? len : 200), name);
}

/* Reads the attributes of an ad, up to its closing bracket. */
static int parse_attributes(struct parser *p, uint32_t *ret_count)
{
    uint32_t count = 0, limit = p->options->attributes_max ? p->options->attributes_max : TREE_PARTS_MAX;

    if (parse_deeper(p) < 0)
        return -1;
    p->ads++;
    lex_next(&p->lexer);
    while (p->lexer.token.kind != TOKEN_CLOSE_SQUARE) {
        if (count == limit)
            return lex_fail(&p->lexer, token_place(p), "too many attributes in one ad: the limit is %u", limit);
        if (parse_attribute(p) < 0 || parse_size(p) < 0)
            return -1;
        count++;
        if (p->lexer.token.kind != TOKEN_SEMICOLON)
            break;
        lex_next(&p->lexer);
    }
    if (p->lexer.token.kind != TOKEN_CLOSE_SQUARE && p->lexer.token.kind != TOKEN_END)
        return parse_expected_operator(p, "an operator, ';' or ']'");
    *ret_count = count;
    return 0;
}

static int parse_ad_bind(struct parser *p, const char *open, uint32_t count)
{
    uint32_t place;

    if (build_ad(p->build, count, &place) < 0)
        return parse_duplicate(p, open, count, place);
    p->ads--;
    p->depth--;
    return 0;
}

static int parse_ad_literal(struct parser *p)
{
    const char *open = p->lexer.token.start;
    uint32_t count;

    if (parse_attributes(p, &count) < 0 || parse_close(p, TOKEN_CLOSE_SQUARE, "]", open) < 0)
        return -1;
    return parse_ad_bind(p, open, count);
}

/* Reads EXPRESSION, EXPRESSION, ... up to the closing token, not past it. */
static int parse_sequence(struct parser *p, enum token_kind close, uint32_t *ret_count)
{
    uint32_t count = 0;

    while (p->lexer.token.kind != close || count) {
        if (parse_value(p) < 0 || parse_size(p) < 0)
            return -1;
        count++;
        if (p->lexer.token.kind != TOKEN_COMMA)
            break;
        lex_next(&p->lexer);
    }
    *ret_count = count;
    return 0;
}

static int parse_list(struct parser *p)
{
    const char *open = p->lexer.token.start;
    uint32_t count;

    if (parse_deeper(p) < 0)
        return -1;
    lex_next(&p->lexer);
    if (parse_sequence(p, TOKEN_CLOSE_BRACE, &count) < 0 || parse_close(p, TOKEN_CLOSE_BRACE, "}", open) < 0)
        return -1;
    build_bind(p->build, EXPR_LIST, count);
    p->depth--;
    return 0;
}

/* Reads a name; it is a function's name if a bracket follows. */
static int parse_name_or_call(struct parser *p)
{
    bool quoted = p->lexer.token.kind == TOKEN_QUOTED_NAME;
    symbol name = parse_symbol(p);
    const char *open;
    uint32_t count;

    lex_next(&p->lexer);
    if (p->lexer.token.kind != TOKEN_OPEN || quoted) {
        build_name(p->build, EXPR_NAME, name);
        return 0;
    }
    open = p->lexer.token.start;
    if (constant_deeper(p, TOKEN_STRING, TOKEN_STRING) < 0)
        goto fail;
    if (parse_sequence(p, TOKEN_CLOSE, &count) < 0 || parse_close(p, TOKEN_CLOSE, ")", open) < 0)
        goto fail;
    if (count > TREE_PARTS_MAX) {
        lex_fail(&p->lexer, open, "too many arguments: the limit is %d", TREE_PARTS_MAX);
        goto fail;
    }
    build_call(p->build, name, count);
    constant_fold(p->build);
    return constant_shallower(p, open);
fail:
    symbols_drop(p->build->symbols, name);
    return -1;
}

/* Pushes the current token if it is a literal, and goes on to the next. */
static inline bool parse_literal(struct parser *p)
{
    struct token *token = &p->lexer.token;

    switch (token->kind) {
    case TOKEN_INTEGER:
        build_integer(p->build, token->u.integer);
        break;
    case TOKEN_REAL:
        build_real(p->build, token->u.real);
        break;
    case TOKEN_STRING:
        parse_string(p);
        break;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        build_boolean(p->build, token->kind == TOKEN_TRUE);
        break;
    case TOKEN_UNDEFINED:
        build_undefined(p->build);
        break;
    case TOKEN_ERROR:
        build_error(p->build);
        break;
    case TOKEN_ABSTIME:
        build_abstime(p->build, token->u.integer, token->zone);
        break;
    case TOKEN_RELTIME:
        build_reltime(p->build, token->u.integer);
        break;
    default:
        return false;
    }
    lex_next(&p->lexer);
    return true;
}

static int parse_primary(struct parser *p)
{
    const char *open = p->lexer.token.start;

    if (parse_literal(p))
        return 0;
    switch (p->lexer.token.kind) {
    case TOKEN_NAME:
    case TOKEN_QUOTED_NAME:
        return parse_name_or_call(p);
    case TOKEN_OPEN_BRACE:
        return parse_list(p);
    case TOKEN_OPEN_SQUARE:
        return parse_ad_literal(p);
    case TOKEN_OPEN:
        if (parse_deeper(p) < 0)
            return -1;
        lex_next(&p->lexer);
        if (parse_value(p) < 0 || parse_close(p, TOKEN_CLOSE, ")", open) < 0)
            return -1;
        build_top(p->build)->flags |= EXPR_FLAG_PARENTHESES;
        p->depth--;
        return 0;
    case TOKEN_DOT:
        lex_next(&p->lexer);
        if (!token_is_name(p))
            return parse_expected(p, "an attribute's name after '.'");
        build_name(p->build, EXPR_ROOT_NAME, parse_symbol(p));
        lex_next(&p->lexer);
        return 0;
    default:
        return parse_expected(p, "an expression");
    }
}

/* Reads the steps behind a base that has been pushed. */
static int parse_steps(struct parser *p)
{
    for (unsigned steps = 0;; steps++) {
        const char *open = p->lexer.token.start;

        if (p->lexer.token.kind != TOKEN_DOT && p->lexer.token.kind != TOKEN_OPEN_SQUARE)
            return 0;
        if (steps == TREE_STEPS_MAX)
            return lex_fail(&p->lexer, open, "nested too deeply: the depth limit of a path is %d steps",
                            TREE_STEPS_MAX);
        if (p->lexer.token.kind == TOKEN_DOT) {
            lex_next(&p->lexer);
            if (!token_is_name(p))
                return parse_expected(p, "an attribute's name after '.'");
            build_select(p->build, parse_symbol(p));
            lex_next(&p->lexer);
        } else {
            if (parse_deeper(p) < 0)
                return -1;
            lex_next(&p->lexer);
            if (parse_value(p) < 0 || parse_close(p, TOKEN_CLOSE_SQUARE, "]", open) < 0)
                return -1;
            build_subscript(p->build);
            p->depth--;
        }
    }
}

/* A minus right before a number belongs to the number. So every number that is printed reads back as a literal. */
static bool number_negate(struct expr *e)
{
    if (e->flags & EXPR_FLAG_PARENTHESES)
        return false;
    if (e->kind == EXPR_INTEGER && e->u.integer >= 0)
        e->u.integer = -e->u.integer;
    else if (e->kind == EXPR_REAL && !signbit(e->u.real) && !isnan(e->u.real))
        e->u.real = -e->u.real;
    else
        return false;
    return true;
}

static int parse_prefix(struct parser *p)
{
    enum op op = (enum op)p->lexer.token.op;
    const char *start = p->lexer.token.start;
    bool number;

    if (p->lexer.token.kind != TOKEN_OP || (op != OP_NOT && op != OP_COMPLEMENT && op != OP_ADD && op != OP_SUBTRACT))
        return parse_primary(p) < 0 ? -1 : parse_steps(p);
    if (constant_deeper(p, TOKEN_INTEGER, TOKEN_REAL) < 0)
        return -1;
    number = p->lexer.token.kind == TOKEN_INTEGER || p->lexer.token.kind == TOKEN_REAL;
    if (parse_prefix(p) < 0)
        return -1;
    if (op != OP_SUBTRACT || !number || !number_negate(build_top(p->build)))
        build_prefix(p->build, op);
    return constant_shallower(p, start);
}

static int parse_binary(struct parser *p, unsigned limit);

/* Reads the operators that bind tighter than `limit` and their operands, behind a first operand that has been pushed. */
static int parse_operators(struct parser *p, unsigned limit)
{
    const struct token *token = &p->lexer.token;

    while (token->kind == TOKEN_OP && op_table[token->op].level > limit &&
           op_table[token->op].level < OP_LEVEL_PREFIX) {
        unsigned level = op_table[token->op].level;
        uint32_t count = 1;

        for (; token->kind == TOKEN_OP && op_table[token->op].level == level; count++) {
            enum op op = (enum op)token->op;

            lex_next(&p->lexer);
            if (parse_binary(p, level) < 0 || parse_size(p) < 0)
                return -1;
            build_top(p->build)->label = op;
        }
        build_bind(p->build, EXPR_CHAIN, count);
    }
    return 0;
}

static int parse_binary(struct parser *p, unsigned limit)
{
    if (++p->height > TREE_HEIGHT_MAX)
        return lex_fail(&p->lexer, token_place(p), "nested too deeply: the depth limit is %d levels", TREE_HEIGHT_MAX);
    if (parse_prefix(p) < 0 || parse_operators(p, limit) < 0)
        return -1;
    p->height--;
    return 0;
}

/* Reads the rest of a ?: b, from the colon on. */
static int parse_default(struct parser *p)
{
    lex_next(&p->lexer);
    if (parse_value(p) < 0)
        return -1;
    build_call(p->build, symbols_take(p->build->symbols, TREE_DEFAULT_FUNCTION, strlen(TREE_DEFAULT_FUNCTION)), 2);
    build_top(p->build)->flags |= EXPR_FLAG_OPERATOR;
    p->depth--;
    return 0;
}

static int parse_choice(struct parser *p)
{
    if (parse_deeper(p) < 0)
        return -1;
    lex_next(&p->lexer);
    if (p->lexer.token.kind == TOKEN_COLON)
        return parse_default(p);
    if (parse_value(p) < 0)
        return -1;
    if (p->lexer.token.kind != TOKEN_COLON)
        return parse_expected(p, "':' of '?:'");
    lex_next(&p->lexer);
    if (parse_value(p) < 0)
        return -1;
    build_bind(p->build, EXPR_CHOICE, 3);
    p->depth--;
    return 0;
}

/* Reads a whole expression. Most expressions are one literal, so the way for them is short. */
static int parse_value(struct parser *p)
{
    if (parse_literal(p)) {
        if (p->lexer.token.kind == TOKEN_SEMICOLON || p->lexer.token.kind == TOKEN_COMMA)
            return 0;
        if (parse_steps(p) < 0 || parse_operators(p, 0) < 0)
            return -1;
    } else if (parse_binary(p, 0) < 0) {
        return -1;
    }
    return p->lexer.token.kind == TOKEN_QUESTION ? parse_choice(p) : 0;
}

static int parse_end(struct parser *p)
{
    return p->lexer.token.kind == TOKEN_END ? 0 : parse_expected_operator(p, "an operator or the end");
}

/* `text` must be padded. */
static void parser_init(struct parser *p, struct build *build, const struct parse_options *options, const char *text,
                        size_t len, struct err *err)
{
    static const struct parse_options none = {0};

    p->build = build;
    p->options = options ? options : &none;
    p->depth = p->options->depth;
    p->height = p->depth ? p->depth - 1 : 0; /* an outermost ad has depth, but stands in no expression */
    p->ads = 0;
    lex_init(&p->lexer, build->dialect, text, len, err);
    p->lexer.old_strings = p->options->old_strings;
    if (p->options->first_line)
        p->lexer.line = p->options->first_line;
    if (p->options->first_column)
        p->lexer.column = p->options->first_column;
    if (p->options->watch) {
        p->lexer.comment = p->options->watch->comment;
        p->lexer.comment_user = p->options->watch->user;
    }
    lex_next(&p->lexer);
}

int parse_push(struct build *build, const struct parse_options *options, const char *text, size_t len, struct err *err)
{
    struct parser p;

    parser_init(&p, build, options, build_source(build, text, len), len, err);
    return parse_value(&p) < 0 || parse_size(&p) < 0 ? -1 : parse_end(&p);
}

int parse_push_attribute(struct build *build, const struct parse_options *options, const char *text, size_t len,
                         struct err *err)
{
    struct parser p;

    parser_init(&p, build, options, build_source(build, text, len), len, err);
    return parse_attribute(&p) < 0 || parse_size(&p) < 0 ? -1 : parse_end(&p);
}

struct tree *parse_expr(struct build *build, const struct parse_options *options, const char *text, size_t len,
                        struct err *err)
{
    if (parse_push(build, options, text, len, err) < 0) {
        build_reset(build);
        return NULL;
    }
    return build_seal(build);
}

struct tree *parse_ad(struct build *build, const struct parse_options *options, const char *text, size_t len,
                      struct err *err)
{
    struct parser p;

    parser_init(&p, build, options, build_source(build, text, len), len, err);
    if (p.lexer.token.kind != TOKEN_OPEN_SQUARE ? parse_expected(&p, "'[' of an ad") < 0
                                                : parse_ad_literal(&p) < 0 || parse_end(&p) < 0) {
        build_reset(build);
        return NULL;
    }
    return build_seal(build);
}

struct tree *parse_ad_front(struct build *build, const struct parse_options *options, const char *text, size_t len,
                            size_t *ret_used)
{
    struct parser p;
    uint32_t count;

    parser_init(&p, build, options, text, len, NULL);
    if (p.lexer.token.kind != TOKEN_OPEN_SQUARE || parse_attributes(&p, &count) < 0 ||
        p.lexer.token.kind != TOKEN_CLOSE_SQUARE || parse_ad_bind(&p, text, count) < 0) {
        build_reset(build);
        return NULL;
    }
    *ret_used = (size_t)(p.lexer.token.end - text);
    return build_seal(build);
}
