/* print.c: ads as HTCondor's commands print them: -long, -json, -xml and -autoformat. */
#include "lang/text/print.h"
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/eval.h"
#include "lang/form/form.h"
#include "lang/text/parse.h"

#include <string.h>
#include <time.h>

#define OUT_AT_ONCE 65536

void print_init(struct condor_print *print, struct symbols *symbols)
{
    *print = (struct condor_print){.symbols = symbols, .between = ' ', .behind = '\n'};
    buf_init(&print->out);
}

void print_done(struct condor_print *print)
{
    while (print->field_count)
        tree_unref(print->trees[--print->field_count]);
    buf_done(&print->out);
}

void print_flags(struct condor_print *print, const char *letters)
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

int print_fields(struct condor_print *print, struct condor_words *words)
{
    struct build build;
    int result = 0;

    print->form = PRINT_FIELDS;
    build_init(&build, print->symbols, &dialect_condor);
    for (; words->at < words->count && words->words[words->at][0] != '-' && result == 0; words->at++) {
        const char *text = words->words[words->at];
        struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
        struct err err = {0};
        struct tree *tree;

        if (print->field_count == sizeof print->fields / sizeof *print->fields) {
            report("%s: more than 64 expressions", words->command);
            result = -1;
        } else if (!(tree = parse_expr(&build, &options, text, strlen(text), &err))) {
            report_error("-autoformat", &err, text, strlen(text));
            result = -1;
        } else {
            print->fields[print->field_count] = text;
            print->trees[print->field_count++] = tree;
        }
    }
    build_done(&build);
    if (result == 0 && !print->field_count) {
        report("%s: -autoformat wants attributes behind it", words->command);
        result = -1;
    }
    return result;
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

static void ad_write(struct condor_print *print, struct tree *ad, enum form form)
{
    struct err err = {0};

    if (form_write_ad(&print->out, form, ad, &err) < 0)
        report("%s", err.text);
}

void print_ad_of(struct condor_print *print, struct tree *ad)
{
    switch (print->form) {
    case PRINT_FIELDS:
        fields_print(print, ad);
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
    if (print->form == PRINT_JSON && print->count)
        buf_adds(&print->out, "\n]\n");
    if (print->form == PRINT_XML && print->count)
        buf_adds(&print->out, "</classads>\n");
    output_write(&print->out);
}
