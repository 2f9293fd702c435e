/* jdl_values.c: attributes of JDL: their places, their texts, and the rows that need no more than that. */
#include "lang/form/jdl_parts.h"

#include "lang/text/print.h"
#include "lang/text/words.h"

#include <inttypes.h>
#include <stdio.h>
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

/* A job of several has the place of the attribute in the file; what a node says has that of Nodes. */
static struct submit_place place_within(const struct jdl *jdl)
{
    const struct jdl *whole = jdl->whole;
    const struct expr *root = tree_root(whole->ad);
    const struct expr *own =
        jdl->ad && jdl->at < tree_root(jdl->ad)->u.run.count ? &tree_parts(jdl->ad, tree_root(jdl->ad))[jdl->at] : NULL;
    const struct expr *said = own ? tree_find(whole->ad, root, own->label) : NULL;
    uint32_t at = said && !jdl->node ? (uint32_t)(said - tree_parts(whole->ad, root)) : whole->at;

    return at < whole->start_count ? place_of(whole, whole->starts[at]) : (struct submit_place){1, 1};
}

struct submit_place jdl_place(const struct jdl *jdl)
{
    if (jdl->whole)
        return place_within(jdl);
    return jdl->at < jdl->start_count ? place_of(jdl, jdl->starts[jdl->at]) : (struct submit_place){1, 1};
}

const char *jdl_name(const struct jdl *jdl)
{
    size_t len;

    return symbols_text(jdl->symbols, tree_parts(jdl->ad, tree_root(jdl->ad))[jdl->at].label, &len);
}

int jdl_fail(const struct jdl *jdl, const char *words)
{
    return submit_fail(jdl_place(jdl), jdl->err, "%s%.60s%s%.60s: %s", jdl->node ? "node " : "",
                       jdl->node ? jdl->node : "", jdl->node ? ": " : "", jdl_name(jdl), words);
}

void jdl_remark(const struct jdl *jdl, const char *words)
{
    struct submit_place at = jdl_place(jdl);
    struct err remark = {.line = at.line, .column = at.column};

    if (!jdl->world->remark || jdl->quiet)
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

/* root.InputSandbox[1]: an element of a list that the workflow has for all of its nodes. NULL: it is no such thing. */
static const struct expr *root_find(const struct jdl *jdl, const struct expr *e)
{
    const struct expr *list = NULL, *found = NULL;
    char name[64] = "", rest[2] = "";
    unsigned place = 0;
    struct buf text;
    symbol called;

    if (!jdl->whole || e->kind == EXPR_STRING)
        return NULL;
    buf_init(&text);
    print_expr(&text, jdl->ad, e, PRINT_PLAIN);
    if (sscanf(buf_string(&text), "root.%63[A-Za-z_0-9][%u]%1s", name, &place, rest) == 2 &&
        (called = symbols_find(jdl->symbols, name, strlen(name))))
        list = tree_find(jdl->whole->ad, tree_root(jdl->whole->ad), called);
    if (list && list->kind == EXPR_LIST && place < list->u.run.count)
        found = &tree_parts(jdl->whole->ad, list)[place];
    buf_done(&text);
    return found && jdl_is_text(jdl->whole, found) ? found : NULL;
}

int jdl_each_text(struct jdl *jdl, const struct expr *e, int (*fn)(struct jdl *jdl, const char *text, size_t len))
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(jdl->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;

    for (uint32_t i = 0; i < count; i++) {
        const struct expr *shared = root_find(jdl, &parts[i]), *part = shared ? shared : &parts[i];
        char *copy;
        int result;

        if (part->kind == EXPR_STRING && !part->u.run.count)
            continue; /* nothing is named */
        if (!shared && !jdl_is_text(jdl, part))
            return jdl_fail(jdl, "expected a text, or a list of texts");
        copy = mem_dup(tree_string(shared ? jdl->whole->ad : jdl->ad, part), part->u.run.count);
        result = fn(jdl, copy, part->u.run.count);
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
    return jdl_text_is(jdl, e, "Job") ? 0 : jdl_fail(jdl, "expected \"Job\", or \"DAG\" or \"Collection\" with Nodes");
}

int jdl_row_job_type(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    static const char *const others[] = {"Interactive", "Checkpointable", "Partitionable", "Parametric", "Multiple"};

    (void)row;
    if (jdl_text_is(jdl, e, "Normal") || jdl_text_is(jdl, e, "User")) /* DIRAC's word */
        return 0;
    if (jdl_text_is(jdl, e, "MPICH"))
        return jdl_find(jdl, "NodeNumber") ? 0 : jdl_fail(jdl, "expected a NodeNumber with a job of type MPICH");
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
