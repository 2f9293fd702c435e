/* spell.c: how names and expressions are spelt in forms that cannot carry every byte. */
#include "lang/form/spell.h"

#include "lang/text/lex.h"
#include "lang/text/print.h"

#include <stdlib.h>

/* The length of the UTF-8 character at `at` and its number; 0 when there is none. */
static size_t utf8_char(const unsigned char *at, size_t len, uint32_t *ret_char)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 0;
    uint32_t c = bytes < 2 ? at[0] : at[0] & (0x7fu >> bytes);

    if (bytes == 0 || bytes > len)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    *ret_char = c;
    return c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : bytes;
}

size_t spell_utf8_end(const char *text, size_t len)
{
    size_t at = 0, bytes;
    uint32_t c;

    for (; at < len; at += bytes) {
        bytes = (unsigned char)text[at] < 0x80 ? 1 : utf8_char((const unsigned char *)text + at, len - at, &c);
        if (bytes == 0)
            break;
    }
    return at;
}

bool spell_utf8(const char *text, size_t len)
{
    return spell_utf8_end(text, len) == len;
}

size_t spell_xml_end(const char *text, size_t len)
{
    size_t at = 0, bytes;
    uint32_t c;

    for (; at < len; at += bytes) {
        c = (unsigned char)text[at];
        bytes = c < 0x80 ? 1 : utf8_char((const unsigned char *)text + at, len - at, &c);
        if (bytes == 0 || (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0xfffe || c == 0xffff)
            break;
    }
    return at;
}

bool spell_xml(const char *text, size_t len)
{
    return spell_xml_end(text, len) == len;
}

const char *spell_show(const char *name, size_t len, char out[SPELL_SHOWN_MAX])
{
    size_t shown = len < SPELL_SHOWN_MAX - 1 ? len : SPELL_SHOWN_MAX - 1;

    for (size_t i = 0; i < shown; i++)
        out[i] = (char)(name[i] >= ' ' && name[i] < 127 ? name[i] : '?');
    out[shown] = 0;
    return out;
}

/* Looks at the text printed since `start`. If the form cannot carry it, turns every byte past ASCII into an escape. Such bytes stand only in strings
 * and quoted names, and both have escapes. */
static void bytes_escape(struct buf *out, size_t start, spell_test_fn *carried)
{
    size_t len = out->len - start;
    char *text;

    if (carried(out->text + start, len))
        return;
    text = mem_dup(out->text + start, len);
    out->len = start;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x80)
            buf_addc(out, text[i]);
        else
            buf_addf(out, "\\%03o", (unsigned)(unsigned char)text[i]);
    }
    free(text);
}

void spell_expr(struct buf *out, const struct tree *tree, const struct expr *e, spell_test_fn *carried)
{
    size_t start = out->len;

    print_expr(out, tree, e, PRINT_PLAIN);
    bytes_escape(out, start, carried);
}

static bool looks_quoted(const char *text, size_t len)
{
    return len > 2 && text[0] == '\'' && text[len - 1] == '\'';
}

void spell_name(struct buf *out, const struct dialect *dialect, const char *name, size_t len, spell_test_fn *carried)
{
    size_t start = out->len;

    if (carried(name, len) && !looks_quoted(name, len)) {
        buf_add(out, name, len);
        return;
    }
    print_name(out, dialect, name, len);
    bytes_escape(out, start, carried);
}

void spell_name_read(struct buf *out, const struct dialect *dialect, const char *text, size_t len)
{
    struct lexer lexer;
    struct buf copy;

    if (!dialect->quoted_names || !looks_quoted(text, len)) {
        buf_add(out, text, len);
        return;
    }
    buf_init(&copy);
    buf_add(&copy, text, len);
    lex_init(&lexer, dialect, buf_string(&copy), len, NULL);
    lex_next(&lexer);
    if (lexer.token.kind != TOKEN_QUOTED_NAME || lexer.token.end != lexer.end - 1) {
        buf_add(out, text, len);
        buf_done(&copy);
        return;
    }
    for (const char *at = lexer.token.start; at < lexer.token.end;) {
        if (*at++ == '\\')
            buf_addc(out, lex_escape(&at, lexer.token.end));
        else
            buf_addc(out, at[-1]);
    }
    buf_done(&copy);
}
