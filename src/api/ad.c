/* ad.c: ads are read, looked into and written; readers of many. */
#include "api/api_parts.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"

#include <stdlib.h>

/* The forms have the numbers of enum form. */
_Static_assert((int)BERTH_FORM_ANY == (int)FORM_UNKNOWN && (int)BERTH_FORM_CLASSAD == (int)FORM_CLASSAD &&
                   (int)BERTH_FORM_JSON == (int)FORM_JSON && (int)BERTH_FORM_XML == (int)FORM_XML &&
                   (int)BERTH_FORM_LONG == (int)FORM_LONG,
               "forms");
_Static_assert((int)BERTH_UNDEFINED == (int)EXPR_UNDEFINED && (int)BERTH_RELTIME == (int)EXPR_RELTIME &&
                   (int)BERTH_LIST == (int)EXPR_LIST && (int)BERTH_AD == (int)EXPR_AD,
               "types");

static bool form_is_good(int form)
{
    return form >= BERTH_FORM_ANY && form <= BERTH_FORM_LONG;
}

struct berth_ad *berth_ad_parse(struct berth_context *context, int form, const char *text, size_t len,
                                struct berth_error *error)
{
    struct form_limits limits = context_limits(context);
    struct berth_ad *ad = NULL;
    struct tree *tree = NULL;
    struct err err = {0};

    context_fresh(context);
    if (!form_is_good(form) || (!text && len)) {
        error_set(error, BERTH_BAD_CALL, "there is no form %d, or no text", form);
        return NULL;
    }
    if (len > context->text_max) {
        error_set(error, BERTH_TOO_MUCH, "this ad is too long: the limit is %zu bytes", context->text_max);
        return NULL;
    }
    xml_ready((enum form)form, text, len);
    changes_begin(context->world);
    if (!names_fit(context, len))
        error_set(error, BERTH_TOO_MUCH, "too many different names are in use");
    else if (!(tree = form_parse(context->world->symbols, context->dialect, (enum form)form, &limits, text ? text : "",
                                 len, &err)))
        error_from(error, BERTH_BAD_TEXT, &err);
    else
        ad = ad_take(context->world, tree);
    changes_end(context->world);
    return ad;
}

const char *berth_ad_text(struct berth_context *context, const struct berth_ad *ad, int form, size_t *ret_len,
                          struct berth_error *error)
{
    const struct tree *tree = ad_tree(context, ad);
    struct err err = {0};
    int failed = 0;

    context_fresh(context);
    if (!tree || !form_is_good(form)) {
        error_foreign(error);
        return NULL;
    }
    reads_begin(context);
    if (form == BERTH_FORM_ANY || form == BERTH_FORM_CLASSAD)
        print_tree(&context->text, tree, PRINT_PLAIN);
    else
        failed = form_write_ad(&context->text, (enum form)form, tree, &err);
    reads_done(context);
    if (failed) {
        error_from(error, BERTH_BAD_TEXT, &err);
        return NULL;
    }
    if (context->text.len && context->text.text[context->text.len - 1] == '\n')
        context->text.len--; /* what separates an ad from the next */
    return context_lend(context, ret_len);
}

size_t berth_ad_count(const struct berth_ad *ad)
{
    return ad ? tree_root(ad->item.tree)->u.run.count : 0;
}

const char *berth_ad_name(struct berth_context *context, const struct berth_ad *ad, size_t n)
{
    const struct tree *tree = ad_tree(context, ad);
    const char *name;

    if (!tree || n >= berth_ad_count(ad))
        return NULL;
    reads_begin(context);
    name = symbols_text(tree->symbols, tree_parts(tree, tree_root(tree))[n].label, &(size_t){0});
    reads_done(context);
    return name;
}

/* The attribute of that name, or NULL. The cell belongs to the ad. */
static const struct expr *attribute(struct berth_context *context, const struct berth_ad *ad, const char *name)
{
    const struct tree *tree = ad_tree(context, ad);
    const struct expr *e;

    if (!tree || !name)
        return NULL;
    reads_begin(context);
    e = ad_find(tree, name);
    reads_done(context);
    return e;
}

int berth_ad_type(struct berth_context *context, const struct berth_ad *ad, const char *name)
{
    const struct expr *e = attribute(context, ad, name);

    return !e ? -1 : e->kind <= EXPR_AD ? e->kind : BERTH_EXPRESSION;
}

int berth_ad_get_integer(struct berth_context *context, const struct berth_ad *ad, const char *name, int64_t *ret)
{
    const struct expr *e = attribute(context, ad, name);

    if (!e || e->kind != EXPR_INTEGER)
        return -1;
    *ret = e->u.integer;
    return 0;
}

int berth_ad_get_real(struct berth_context *context, const struct berth_ad *ad, const char *name, double *ret)
{
    const struct expr *e = attribute(context, ad, name);

    if (!e || (e->kind != EXPR_REAL && e->kind != EXPR_INTEGER))
        return -1;
    *ret = e->kind == EXPR_REAL ? e->u.real : (double)e->u.integer;
    return 0;
}

int berth_ad_get_boolean(struct berth_context *context, const struct berth_ad *ad, const char *name)
{
    const struct expr *e = attribute(context, ad, name);

    return e && e->kind == EXPR_BOOLEAN ? e->small != 0 : -1;
}

const char *berth_ad_get_string(struct berth_context *context, const struct berth_ad *ad, const char *name,
                                size_t *ret_len)
{
    const struct expr *e = attribute(context, ad, name);

    context_fresh(context);
    if (!e || e->kind != EXPR_STRING)
        return NULL;
    buf_add(&context->text, tree_string(ad->item.tree, e), e->u.run.count);
    return context_lend(context, ret_len);
}

struct berth_expr *berth_ad_get_expr(struct berth_context *context, const struct berth_ad *ad, const char *name)
{
    const struct expr *e = attribute(context, ad, name);
    struct berth_expr *expr;

    if (!e)
        return NULL;
    changes_begin(context->world);
    expr = expr_take(context->world, ad_part(ad->item.tree, e));
    changes_end(context->world);
    return expr;
}

int berth_ad_equal(const struct berth_ad *a, const struct berth_ad *b)
{
    return a && b && a->item.world == b->item.world &&
           tree_equal(a->item.tree, tree_root(a->item.tree), b->item.tree, tree_root(b->item.tree));
}

size_t berth_ad_size(const struct berth_ad *ad)
{
    return ad ? tree_size(ad->item.tree) : 0;
}

/* ---------------------------------------------------------------------------------------------------------- many ads */

struct berth_reader {
    struct berth_context *context;
    struct form_reader *reader;
    struct form_text text;
    size_t len;   /* of the whole text */
    bool refused; /* because of the call itself */
};

struct berth_reader *berth_reader_new(struct berth_context *context, int form, const char *text, size_t len)
{
    struct berth_reader *reader = mem_alloc(sizeof *reader);
    struct form_limits limits = context_limits(context);

    *reader = (struct berth_reader){.context = context,
                                    .text = {text ? text : "", len},
                                    .len = len,
                                    .refused = !form_is_good(form) || (!text && len)};
    if (!reader->refused) {
        xml_ready((enum form)form, text, len);
        changes_begin(context->world);
        reader->reader = form_reader_new(context->world->symbols, context->dialect, (enum form)form, &limits,
                                         form_text_read, &reader->text);
        changes_end(context->world);
    }
    return reader;
}

int berth_reader_next(struct berth_reader *reader, struct berth_ad **ret_ad, struct berth_error *error)
{
    struct berth_context *context = reader->context;
    struct tree *tree;
    struct err err = {0};
    int got = -1;

    context_fresh(context);
    if (reader->refused)
        return error_set(error, BERTH_BAD_CALL, "there is no such form, or no text");
    changes_begin(context->world);
    if (!names_fit(context, reader->len < context->text_max ? reader->len : context->text_max))
        error_set(error, BERTH_TOO_MUCH, "too many different names are in use");
    else if ((got = form_reader_next(reader->reader, &tree, &err)) < 0)
        error_from(error, BERTH_BAD_TEXT, &err);
    else if (got)
        *ret_ad = ad_take(context->world, tree);
    changes_end(context->world);
    return got;
}

unsigned berth_reader_line(const struct berth_reader *reader)
{
    return reader->reader ? form_reader_line(reader->reader) : 0;
}

void berth_reader_free(struct berth_reader *reader)
{
    if (!reader)
        return;
    changes_begin(reader->context->world);
    form_reader_free(reader->reader);
    changes_end(reader->context->world);
    free(reader);
}
