/* print.c: ads as HTCondor's commands print them: -long, -json, -xml and -autoformat. */
#include "lang/text/print.h"
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/eval.h"
#include "lang/ad/make.h"
#include "lang/form/form.h"
#include "lang/text/parse.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define OUT_AT_ONCE 65536

void print_init(struct condor_print *print, struct symbols *symbols)
{
    *print = (struct condor_print){.symbols = symbols, .between = ' ', .behind = '\n'};
    buf_init(&print->out);
    buf_init(&print->only);
}

void print_done(struct condor_print *print)
{
    while (print->field_count)
        tree_unref(print->trees[--print->field_count]);
    buf_done(&print->out);
    buf_done(&print->only);
}

/* What -af:LETTERS says. */
static void print_flags(struct condor_print *print, const char *letters)
{
    for (; letters && *letters; letters++)
        switch (*letters) {
        case 'j':
            print->with_id = true;
            break;
        case 'l':
            print->labels = true;
            break;
        case 'h':
            print->headings = true;
            break;
        case 'V':
            print->quoted = true;
            break;
        case 'r':
        case 'o':
            print->raw = true;
            break;
        case 't':
            print->between = '\t';
            break;
        case ',':
            print->between = ',';
            break;
        case 'n':
            print->between = '\n';
            break;
        case 'g':
            print->blank_line = true;
            break;
        default:
            break;
        }
}

/* Adds an expression whose value is printed; -1: it is wrong, which has been reported. */
static int field_add(struct condor_print *print, const char *command, const char *text, const char *format)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct err err = {0};
    struct build build;
    struct tree *tree;

    if (print->field_count == sizeof print->fields / sizeof *print->fields) {
        report("%s: more than 64 expressions", command);
        return -1;
    }
    build_init(&build, print->symbols, &dialect_condor);
    tree = parse_expr(&build, &options, text, strlen(text), &err);
    build_done(&build);
    if (!tree) {
        report_error(format ? "-format" : "-autoformat", &err, text, strlen(text));
        return -1;
    }
    print->formats[print->field_count] = format;
    print->fields[print->field_count] = text;
    print->trees[print->field_count++] = tree;
    return 0;
}

/* -format "%d\n" NAME */
static int print_format(struct condor_print *print, struct condor_words *words)
{
    if (words->at + 2 > words->count) {
        report("%s: -format wants a format and an attribute behind it", words->command);
        return -1;
    }
    words->at += 2;
    return field_add(print, words->command, words->words[words->at - 1], words->words[words->at - 2]);
}

/* Takes the words behind -af, up to the next option; -1: one is wrong, which has been reported. */
static int print_fields(struct condor_print *print, struct condor_words *words)
{
    int result = 0;

    for (; words->at < words->count && words->words[words->at][0] != '-' && result == 0; words->at++)
        result = field_add(print, words->command, words->words[words->at], NULL);
    if (result == 0 && !print->field_count) {
        report("%s: -autoformat wants attributes behind it", words->command);
        result = -1;
    }
    return result;
}

int print_option(struct condor_print *print, struct condor_words *words, const char *name)
{
    static const struct {
        const char *name;
        enum condor_form form;
    } forms[] = {{"long", PRINT_LONG},         {"json", PRINT_JSON}, {"xml", PRINT_XML},
                 {"autoformat", PRINT_FIELDS}, {"af", PRINT_FIELDS}, {"format", PRINT_FORMATS}};

    if (!strcmp(name, "attributes")) {
        buf_addf(&print->only, "%s%s", print->only.len ? "," : "", words->value);
        if (!select_is_good(buf_string(&print->only))) {
            report("%s: -attributes wants names with commas between", words->command);
            return -1;
        }
        return 1;
    }

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, name) != 0)
            continue;
        print->form = forms[i].form;
        print_flags(print, words->behind);
        if (print->form == PRINT_FORMATS)
            return print_format(print, words) == 0 ? 1 : -1;
        return print->form != PRINT_FIELDS || print_fields(print, words) == 0 ? 1 : -1;
    }
    return 0;
}

/* Appends the value of an expression in the ad; strings without quotes, unless they are wanted. */
static void field_print(struct condor_print *print, const struct tree *ad, struct tree *field)
{
    struct env env = {.now = time(NULL)};
    const struct expr *root = tree_root(field), *raw = NULL;
    size_t from = print->out.len;
    struct arena arena;
    struct scope scope;
    struct value value;
    struct eval eval;

    if (print->raw && root->kind == EXPR_NAME)
        raw = tree_find(ad, tree_root(ad), root->u.name.id);
    if (raw) {
        print_expr(&print->out, ad, raw, PRINT_CONDOR);
        return;
    }
    arena_init(&arena);
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &arena);
    eval_tree(&eval, &scope, field, &value);
    if (value.type == VALUE_UNDEFINED)
        buf_adds(&print->out, "undefined");
    else if (value.type == VALUE_STRING && print->quoted)
        buf_addf(&print->out, "\"%.*s\"", (int)value.len, value.u.string);
    else
        value_to_text(&print->out, &dialect_condor, &value);
    text_tame(&print->out, from);
    arena_done(&arena);
}

static void fields_print(struct condor_print *print, const struct tree *ad)
{
    if (!print->count && print->headings) {
        if (print->with_id)
            buf_addf(&print->out, "ID%c", print->between);
        for (size_t i = 0; i < print->field_count; i++)
            buf_addf(&print->out, "%s%c", print->fields[i], i + 1 < print->field_count ? print->between : '\n');
    }
    if (print->with_id)
        buf_addf(&print->out, "%lld.%lld%c", (long long)condor_integer(ad, "ClusterId"),
                 (long long)condor_integer(ad, "ProcId"), print->between);
    for (size_t i = 0; i < print->field_count; i++) {
        if (print->labels)
            buf_addf(&print->out, "%s = ", print->fields[i]);
        field_print(print, ad, print->trees[i]);
        buf_addc(&print->out, i + 1 < print->field_count ? print->between : print->behind);
    }
    if (print->blank_line)
        buf_addc(&print->out, '\n');
}

/* ------------------------------------------------------------------------------------------------------------- -format */

/* Appends one character, or what a backslash and a letter mean. Returns how many were read. */
static size_t char_print(struct buf *out, const char *at)
{
    static const char letters[] = "ntr0\\\"'", meant[] = "\n\t\r\0\\\"'";
    const char *found = *at == '\\' && at[1] ? strchr(letters, at[1]) : NULL;

    buf_addc(out, found ? meant[found - letters] : *at);
    return found ? 2 : 1;
}

/* Appends the value by one conversion: its flags, width and precision are those of printf. */
static void converted_print(struct buf *out, const struct value *value, const char *flags, size_t len, char kind)
{
    bool number = value->type == VALUE_INTEGER || value->type == VALUE_REAL || value->type == VALUE_BOOLEAN;
    double real = value->type == VALUE_REAL      ? value->u.real
                  : value->type == VALUE_INTEGER ? (double)value->u.integer
                                                 : value->boolean;
    char format[48], text[512];
    struct buf words;

    if (len > 20)
        return;
    if (strchr("diouxXc", kind)) {
        snprintf(format, sizeof format, "%%%.*sll%c", (int)len, flags, kind == 'c' ? 'd' : kind);
        if (number && real > -9e18 && real < 9e18 &&
            snprintf(text, sizeof text, format,
                     value->type == VALUE_INTEGER ? (long long)value->u.integer : (long long)real) > 0)
            buf_adds(out, text);
        return;
    }
    if (strchr("feEgGaA", kind)) {
        snprintf(format, sizeof format, "%%%.*s%c", (int)len, flags, kind);
        if (number && snprintf(text, sizeof text, format, real) > 0)
            buf_adds(out, text);
        return;
    }
    buf_init(&words);
    if (value->type == VALUE_STRING && kind != 'V')
        buf_add(&words, value->u.string, value->len);
    else
        value_to_text(&words, &dialect_condor, value);
    if (len) {
        snprintf(format, sizeof format, "%%%.*ss", (int)len, flags);
        snprintf(text, sizeof text, format, buf_string(&words));
        buf_adds(out, text);
    } else {
        buf_add(out, words.len ? words.text : "", words.len);
    }
    buf_done(&words);
}

/* Appends the format with the value in it. Of a value that is undefined nothing is printed. */
static void formatted_print(struct condor_print *print, const struct tree *ad, size_t field)
{
    struct env env = {.now = time(NULL)};
    const char *at = print->formats[field];
    struct arena arena;
    struct scope scope;
    struct value value;
    struct eval eval;

    arena_init(&arena);
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &arena);
    eval_tree(&eval, &scope, print->trees[field], &value);
    while (*at && value.type != VALUE_UNDEFINED && value.type != VALUE_ERROR) {
        size_t flags = strspn(at + 1, "-+ #0123456789."), sizes = strspn(at + 1 + flags, "hlLqjzt");
        char kind = *at == '%' ? at[1 + flags + sizes] : '\0';

        if (*at == '%' && at[1] == '%') {
            buf_addc(&print->out, '%');
            at += 2;
        } else if (kind && strchr("diouxXcfeEgGaAsvV", kind)) {
            size_t from = print->out.len;

            converted_print(&print->out, &value, at + 1, flags, kind);
            text_tame(&print->out, from);
            at += 2 + flags + sizes;
        } else {
            at += char_print(&print->out, at);
        }
    }
    arena_done(&arena);
}

static void ad_write(struct condor_print *print, struct tree *ad, enum form form)
{
    struct tree *some = print->only.len ? ad_select(print->symbols, ad, buf_string(&print->only)) : NULL;
    struct err err = {0};

    if (form_write_ad(&print->out, form, some ? some : ad, &err) < 0)
        report("%s", err.text);
    tree_unref(some);
}

void print_ad_of(struct condor_print *print, struct tree *ad)
{
    switch (print->form) {
    case PRINT_FIELDS:
        fields_print(print, ad);
        break;
    case PRINT_FORMATS:
        for (size_t i = 0; i < print->field_count; i++)
            formatted_print(print, ad, i);
        break;
    case PRINT_LONG:
        ad_write(print, ad, FORM_LONG);
        buf_addc(&print->out, '\n');
        break;
    case PRINT_JSON:
        buf_adds(&print->out, print->count ? ",\n" : "[\n");
        ad_write(print, ad, FORM_JSON);
        break;
    case PRINT_XML:
        if (!print->count)
            buf_adds(&print->out, "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n");
        ad_write(print, ad, FORM_XML);
        break;
    case PRINT_TABLE:
        break;
    }
    print->count++;
    if (print->out.len > OUT_AT_ONCE)
        output_write(&print->out);
}

void print_end(struct condor_print *print)
{
    if (print->form == PRINT_JSON)
        buf_adds(&print->out, print->count ? "\n]\n" : "[\n]\n"); /* that is JSON, too, when there is none */
    if (print->form == PRINT_XML && print->count)
        buf_adds(&print->out, "</classads>\n");
    output_write(&print->out);
}
