/* jdl_values.c: attributes of JDL: their places, their texts, and the rows that need no more than that. */
#include "lang/form/jdl_parts.h"

#include "lang/text/print.h"
#include "lang/text/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------------- places */

static struct submit_place place_of(const struct jdl *jdl, size_t offset)
{
    struct submit_place place;

    err_place(jdl->text.text, offset, &place.line, &place.column);
    place.column -= jdl->wrapped && place.line == 1 && place.column > 1;
    return place;
}

struct submit_place jdl_place(const struct jdl *jdl)
{
    return jdl->at < jdl->start_count ? place_of(jdl, jdl->starts[jdl->at]) : (struct submit_place){1, 1};
}

const char *jdl_name(const struct jdl *jdl)
{
    size_t len;

    return symbols_text(jdl->symbols, tree_parts(jdl->ad, tree_root(jdl->ad))[jdl->at].label, &len);
}

int jdl_fail(const struct jdl *jdl, const char *words)
{
    return submit_fail(jdl_place(jdl), jdl->err, "%.60s: %s", jdl_name(jdl), words);
}

void jdl_remark(const struct jdl *jdl, const char *words)
{
    struct submit_place at = jdl_place(jdl);
    struct err remark = {.line = at.line, .column = at.column};

    if (!jdl->world->remark)
        return;
    err_set(&remark, "%.60s: %s", jdl_name(jdl), words);
    remark.line = at.line;
    remark.column = at.column;
    jdl->world->remark(jdl->world->user, &remark);
}

const struct expr *jdl_find(const struct jdl *jdl, const char *name)
{
    symbol called = symbols_find(jdl->symbols, name, strlen(name));

    return called ? tree_find(jdl->ad, tree_root(jdl->ad), called) : NULL;
}

/* --------------------------------------------------------------------------------------------------------------- values */

bool jdl_is_text(const struct jdl *jdl, const struct expr *e)
{
    return e->kind == EXPR_STRING && e->u.run.count && !memchr(tree_string(jdl->ad, e), '\0', e->u.run.count) &&
           submit_is_fixed(tree_string(jdl->ad, e), e->u.run.count);
}

bool jdl_text_is(const struct jdl *jdl, const struct expr *e, const char *word)
{
    return e->kind == EXPR_STRING && submit_same(tree_string(jdl->ad, e), e->u.run.count, word);
}

int jdl_each_text(struct jdl *jdl, const struct expr *e, int (*fn)(struct jdl *jdl, const char *text, size_t len))
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(jdl->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;

    for (uint32_t i = 0; i < count; i++) {
        char *copy;
        int result;

        if (!jdl_is_text(jdl, &parts[i]))
            return jdl_fail(jdl, "expected a text, or a list of texts");
        copy = mem_dup(tree_string(jdl->ad, &parts[i]), parts[i].u.run.count);
        result = fn(jdl, copy, parts[i].u.run.count);
        free(copy);
        if (result < 0)
            return -1;
    }
    return 0;
}

void jdl_text_print(struct jdl *jdl, const char *text, size_t len)
{
    print_string(&jdl->out, text, len, PRINT_PLAIN);
}

void jdl_attribute_print(struct jdl *jdl, const char *name, const char *text, size_t len)
{
    buf_addf(&jdl->out, "%s = ", name);
    jdl_text_print(jdl, text, len);
    buf_adds(&jdl->out, ";\n");
}

/* ---------------------------------------------------------------------------------------------------------- simple rows */

int jdl_row_refused(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    (void)e;
    return jdl_fail(jdl, row->attribute);
}

int jdl_row_passed(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    if (e->kind != EXPR_BOOLEAN || e->small)
        jdl_remark(jdl, row->attribute);
    return 0;
}

int jdl_row_quiet(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    (void)jdl;
    (void)row;
    (void)e;
    return 0;
}

int jdl_row_text(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    if (!jdl_is_text(jdl, e))
        return jdl_fail(jdl, "expected a text");
    jdl_attribute_print(jdl, row->attribute, tree_string(jdl->ad, e), e->u.run.count);
    return 0;
}

/* Keeps the attribute as it is, under its own name. */
int jdl_row_kept(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = ", row->attribute);
    print_expr(&jdl->out, jdl->ad, e, PRINT_PLAIN);
    buf_adds(&jdl->out, ";\n");
    return 0;
}

int jdl_row_whole(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    if (e->kind != EXPR_INTEGER || e->u.integer < 0 || e->u.integer > 1000000)
        return jdl_fail(jdl, "expected a whole number");
    buf_addf(&jdl->out, "%s = %" PRId64 ";\n", row->attribute, e->u.integer);
    return 0;
}

int jdl_row_type(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    (void)row;
    return jdl_text_is(jdl, e, "Job")
               ? 0
               : jdl_fail(jdl, "expected \"Job\": workflows and collections are not carried over");
}

int jdl_row_job_type(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    static const char *const others[] = {"Interactive",   "MPICH",      "Checkpointable",
                                         "Partitionable", "Parametric", "Multiple"};

    (void)row;
    if (jdl_text_is(jdl, e, "Normal"))
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (jdl_text_is(jdl, e, others[i]))
            return submit_fail(jdl_place(jdl), jdl->err,
                               "JobType: expected \"Normal\": a job of type %s is not carried over", others[i]);
    return jdl_fail(jdl, "expected \"Normal\"");
}

int jdl_row_one(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    return e->kind == EXPR_INTEGER && e->u.integer == 1 ? 0 : jdl_fail(jdl, row->attribute);
}

int jdl_row_expiry(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    int64_t now = jdl->world->now;

    if (e->kind != EXPR_INTEGER)
        return jdl_fail(jdl, "expected a time, in seconds since 1970");
    if (!now || e->u.integer <= now)
        return jdl_fail(jdl,
                        now ? "expected a time to come: it is over" : "it needs the time, which is not known here");
    buf_addf(&jdl->out, "%s = %" PRId64 ";\n", row->attribute, e->u.integer - now);
    return 0;
}

/* ----------------------------------------------------------------------------------------------- arguments, environment */

/* Splits arguments as a shell does: blanks, quotes, backslashes; expands nothing. */
int jdl_row_arguments(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const char *text = tree_string(jdl->ad, e), *begun = " ";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;
    bool inside = false;
    char quote = '\0';
    struct buf word;

    if (e->kind != EXPR_STRING || (len && !jdl_is_text(jdl, e)))
        return jdl_fail(jdl, "expected a text");
    buf_init(&word);
    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (size_t i = 0; i <= len; i++) {
        if (i == len || (!quote && submit_blank(text[i]))) {
            if (inside) {
                buf_adds(&jdl->out, begun);
                begun = ", ";
                jdl_text_print(jdl, word.text, word.len);
            }
            buf_reset(&word);
            inside = false;
        } else if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'') {
            quote = quote ? '\0' : text[i];
            inside = true;
        } else {
            i += text[i] == '\\' && quote != '\'' && i + 1 < len;
            buf_addc(&word, text[i]);
            inside = true;
        }
    }
    buf_adds(&jdl->out, " };\n");
    buf_done(&word);
    return quote ? jdl_fail(jdl, "expected a quote that closes the one before") : 0;
}

static int variable_add(struct jdl *jdl, const char *text, size_t len)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !word_may_name(text, (size_t)(equals - text)))
        return jdl_fail(jdl, "expected NAME=VALUE");
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '[' ? " " : "; ");
    print_name(&jdl->out, &dialect_classic, text, (size_t)(equals - text));
    buf_adds(&jdl->out, " = ");
    jdl_text_print(jdl, equals + 1, len - (size_t)(equals + 1 - text));
    return 0;
}

int jdl_row_environment(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = [", row->attribute);
    if (jdl_each_text(jdl, e, variable_add) < 0)
        return -1;
    buf_adds(&jdl->out, " ];\n");
    return 0;
}
