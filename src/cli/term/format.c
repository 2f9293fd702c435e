/* format.c: prints a line of values for each ad. */
#include "cli/term/format.h"

#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/eval.h"
#include "lang/text/parse.h"

#include <string.h>

/* The length of the word that a text begins with: it ends at a blank or a comma outside brackets and quotes. */
static size_t word_len(const char *text)
{
    unsigned depth = 0;
    char quote = '\0';
    size_t i = 0;

    for (; text[i]; i++) {
        if (quote) {
            if (text[i] == '\\' && text[i + 1])
                i++;
            else if (text[i] == quote)
                quote = '\0';
        } else if (text[i] == '"' || text[i] == '\'') {
            quote = text[i];
        } else if (strchr("([{", text[i])) {
            depth++;
        } else if (depth && strchr(")]}", text[i])) {
            depth--;
        } else if (!depth && strchr(" \t\n,", text[i])) {
            break;
        }
    }
    return i;
}

int format_init(struct format *format, struct symbols *symbols, const struct dialect *dialect, const char *text)
{
    const char *at = text + strspn(text, " \t\n");
    struct err err = {0};
    struct build build;
    int result = 0;

    *format = (struct format){.count = 0};
    arena_init(&format->arena);
    build_init(&build, symbols, dialect);
    while (*at && result == 0) {
        struct parse_options options = {.first_column = (unsigned)(at - text) + 1, .cells_max = PARSE_CELLS_MAX};
        size_t len = word_len(at);
        struct tree *word = NULL;

        if (format->count == FORMAT_WORDS_MAX)
            err_set(&err, "expected at most %d words", FORMAT_WORDS_MAX);
        else
            word = parse_expr(&build, &options, at, len, &err);
        at += len;
        at += strspn(at, " \t\n");
        if (word) {
            format->behind[format->count] = *at == ',' ? ',' : ' ';
            format->words[format->count++] = word;
        } else {
            result = -1;
        }
        if (*at == ',')
            at += 1 + strspn(at + 1, " \t\n");
    }
    build_done(&build);
    if (result == 0 && !format->count)
        result = err_set(&err, "expected names of attributes, or expressions without blanks");
    if (result < 0)
        report_error("--format", &err, text, strlen(text));
    else
        format->behind[format->count - 1] = '\n';
    return result;
}

void format_done(struct format *format)
{
    while (format->count)
        tree_unref(format->words[--format->count]);
    arena_done(&format->arena);
}

void format_print(struct format *format, const struct env *env, const struct tree *ad, struct buf *out)
{
    struct scope scope;

    scope_init(&scope, ad, NULL);
    for (size_t i = 0; i < format->count; i++) {
        struct value value;
        struct eval eval;
        size_t from = out->len;

        eval_init(&eval, env, &format->arena);
        eval_tree(&eval, &scope, format->words[i], &value);
        if (value.type == VALUE_UNDEFINED)
            buf_adds(out, "undefined");
        else
            value_to_text(out, ad->dialect, &value);
        text_tame(out, from);
        buf_addc(out, format->behind[i]);
        arena_reset(&format->arena);
    }
}
