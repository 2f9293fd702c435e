/* job_uploads.c: what a job's ad says of the files that go to stores when it has ended. */
#include "live/data/job_uploads.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "live/data/storage.h"
#include "sys/confined_path.h"

#include <string.h>

#define PARCELS_WANTED "OutputData: expected a list of names, or of [File; Name; Store]"

struct reading {
    struct arena *into;
    struct eval eval;
    struct symbols *symbols;
};

/* Keeps the text that a value is; NULL: it is not a text. */
static const char *text_keep(struct reading *reading, const struct value *value)
{
    char *text;

    if (value->type != VALUE_STRING || !value->len || memchr(value->u.string, '\0', value->len))
        return NULL;
    text = arena_alloc(reading->into, value->len + 1);
    memcpy(text, value->u.string, value->len);
    text[value->len] = '\0';
    return text;
}

/* Reads a text attribute of an ad within the list; NULL when there is none. False: it is not a text. */
static bool part_read(struct reading *reading, const struct value *ad, const char *name, const char **ret)
{
    symbol label = symbols_find(reading->symbols, name, strlen(name));
    const struct expr *part = label ? tree_find(ad->scope->tree, ad->u.aggregate, label) : NULL;
    struct value value;

    *ret = NULL;
    if (!part)
        return true;
    eval_expr(&reading->eval, ad->scope, part, &value);
    if (value.type == VALUE_UNDEFINED)
        return true;
    *ret = text_keep(reading, &value);
    return *ret != NULL;
}

/* Checks a file that goes to stores. What is not known yet is NULL, and good. */
static int parcel_check(const struct job_upload *parcel, struct err *err)
{
    if (parcel->file && !confined_name_is_good(parcel->file, strlen(parcel->file)))
        return err_set(err, "OutputData: %.80s is not the name of a file in the job's folder", parcel->file);
    if (parcel->name && !file_name_is_good(parcel->name, strlen(parcel->name)))
        return err_set(err, "OutputData: %.80s is not a logical name of a file", parcel->name);
    if (parcel->store && strlen(parcel->store) > STORE_NAME_MAX)
        return err_set(err, "OutputData: a store's name has up to %d bytes", STORE_NAME_MAX);
    return 0;
}

static int parcel_read(struct reading *reading, const struct value *value, struct job_upload *ret, struct err *err)
{
    *ret = (struct job_upload){.file = text_keep(reading, value)};
    if (!ret->file &&
        (value->type != VALUE_AD || !part_read(reading, value, "File", &ret->file) || !ret->file ||
         !part_read(reading, value, "Name", &ret->name) || !part_read(reading, value, "Store", &ret->store)))
        return err_set(err, PARCELS_WANTED);
    ret->name = ret->name ? ret->name : ret->file;
    return parcel_check(ret, err);
}

/* Checks that the last file has a logical name of its own. */
static int parcels_differ(const struct job_upload *items, uint32_t last, struct err *err)
{
    for (uint32_t i = 0; items[last].name && i < last; i++)
        if (items[i].name && !strcmp(items[i].name, items[last].name))
            return err_set(err, "OutputData: %.80s is there twice", items[last].name);
    return 0;
}

static int data_count(bool is_list, size_t count, struct err *err)
{
    return is_list && count <= JOB_UPLOADS_MAX
               ? 0
               : err_set(err, "OutputData: expected a list of up to %d files", JOB_UPLOADS_MAX);
}

static int data_read(struct reading *reading, const struct value *list, struct job_uploads *ret, struct err *err)
{
    struct job_upload *items;
    struct value element;

    if (data_count(list->type == VALUE_LIST, list->len, err) < 0)
        return -1;
    items = arena_alloc(reading->into, (list->len + 1) * sizeof *items);
    for (uint32_t i = 0; i < list->len; i++) {
        eval_element(&reading->eval, list, i, &element);
        if (parcel_read(reading, &element, &items[i], err) < 0 || parcels_differ(items, i, err) < 0)
            return -1;
    }
    ret->items = items;
    ret->count = list->len;
    return 0;
}

static int stores_read(struct reading *reading, const struct value *value, struct job_uploads *ret, struct err *err)
{
    size_t count = value->type == VALUE_LIST ? value->len : 1;
    const char **stores;
    struct value element;

    if (count > JOB_STORES_MAX)
        return err_set(err, "OutputSE: expected up to %d stores", JOB_STORES_MAX);
    stores = arena_alloc(reading->into, (count + 1) * sizeof *stores);
    for (uint32_t i = 0; i < count; i++) {
        if (value->type == VALUE_LIST)
            eval_element(&reading->eval, value, i, &element);
        stores[i] = text_keep(reading, value->type == VALUE_LIST ? &element : value);
        if (!stores[i] || strlen(stores[i]) > STORE_NAME_MAX)
            return err_set(err, "OutputSE: expected the name of a store, or a list of them");
    }
    stores[count] = NULL;
    ret->stores = stores;
    return 0;
}

/* Evaluates an attribute of the job's ad; false: there is none. */
static bool attribute(struct reading *reading, const struct scope *scope, const char *name, struct value *ret)
{
    symbol label = symbols_find(reading->symbols, name, strlen(name));

    return label && eval_attribute(&reading->eval, scope, label, ret) && ret->type != VALUE_UNDEFINED;
}

static bool copies_fit(int64_t copies)
{
    return copies >= 1 && copies <= JOB_COPIES_MAX;
}

static int read_file(struct reading *reading, const struct scope *scope, struct job_uploads *ret, struct err *err)
{
    struct value value;

    if (!attribute(reading, scope, "OutputData", &value))
        return 0;
    if (data_read(reading, &value, ret, err) < 0)
        return -1;
    if (attribute(reading, scope, "OutputSE", &value) && stores_read(reading, &value, ret, err) < 0)
        return -1;
    if (attribute(reading, scope, "OutputElsewhere", &value))
        ret->elsewhere = value_is_true(&value);
    if (!attribute(reading, scope, "OutputCopies", &value))
        return 0;
    if (value.type != VALUE_INTEGER || !copies_fit(value.u.integer))
        return err_set(err, "OutputCopies: expected a whole number from 1 to %d", JOB_COPIES_MAX);
    ret->copies = (uint32_t)value.u.integer;
    return 0;
}

int job_uploads_read(struct arena *arena, const struct tree *ad, int64_t now, struct job_uploads *ret, struct err *err)
{
    static const char *const none[] = {NULL};
    struct job_uploads read = {.stores = none, .elsewhere = true, .copies = 1};
    struct reading reading = {.into = arena, .symbols = ad->symbols};
    struct env env = {.now = now};
    struct arena scratch;
    struct scope scope;
    int failed;

    arena_init(&scratch);
    scope_init(&scope, ad, NULL);
    eval_init(&reading.eval, &env, &scratch);
    failed = read_file(&reading, &scope, &read, err);
    arena_done(&scratch);
    if (!failed)
        *ret = read;
    return failed;
}

/* ---------------------------------------------------------------------------------------------------- as it is submitted */

static bool is_computed(const struct expr *e)
{
    return e->kind > EXPR_AD;
}

static bool text_is_good(const struct tree *ad, const struct expr *e, bool (*good)(const char *name, size_t len))
{
    return is_computed(e) || (e->kind == EXPR_STRING && good(tree_string(ad, e), e->u.run.count));
}

static bool text_is_one(const char *text, size_t len)
{
    return len && !memchr(text, '\0', len);
}

static bool store_is_good(const char *name, size_t len)
{
    return len <= STORE_NAME_MAX && text_is_one(name, len);
}

/* Keeps a text as it is written; NULL: it is computed. */
static int literal_read(struct arena *into, const struct tree *ad, const struct expr *e, const char **ret,
                        struct err *err)
{
    char *text;

    *ret = NULL;
    if (is_computed(e))
        return 0;
    if (!text_is_good(ad, e, text_is_one))
        return err_set(err, PARCELS_WANTED);
    text = arena_alloc(into, e->u.run.count + 1);
    memcpy(text, tree_string(ad, e), e->u.run.count);
    text[e->u.run.count] = '\0';
    *ret = text;
    return 0;
}

/* Reads [File; Name; Store], and nothing besides: a name that is misspelt would be as if it were not there. */
static int parcel_parts(struct arena *into, const struct tree *ad, const struct expr *e, struct job_upload *ret,
                        struct err *err)
{
    static const char *const names[] = {"File", "Name", "Store"};
    const char **fields[] = {&ret->file, &ret->name, &ret->store};
    bool there[3] = {false};
    size_t k, len;

    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        const struct expr *part = &tree_parts(ad, e)[i];

        for (k = 0; k < 3 && !symbols_named(ad->symbols, part->label, names[k], strlen(names[k])); k++)
            ;
        if (k == 3)
            return err_set(err, "OutputData: %.80s is unknown: expected File, Name and Store of a file",
                           symbols_text(ad->symbols, part->label, &len));
        if (literal_read(into, ad, part, fields[k], err) < 0)
            return -1;
        there[k] = true;
    }
    ret->name = there[1] ? ret->name : ret->file;
    return there[0] ? 0 : err_set(err, PARCELS_WANTED);
}

static int parcel_literal(struct arena *into, const struct tree *ad, const struct expr *e, struct job_upload *ret,
                          struct err *err)
{
    *ret = (struct job_upload){0};
    if (e->kind == EXPR_AD) {
        if (parcel_parts(into, ad, e, ret, err) < 0)
            return -1;
    } else {
        if (literal_read(into, ad, e, &ret->file, err) < 0)
            return -1;
        ret->name = ret->file;
    }
    return parcel_check(ret, err);
}

int job_uploads_check(const struct tree *ad, const struct expr *data, struct err *err)
{
    struct job_upload *items;
    struct arena arena;
    int failed = 0;

    if (is_computed(data))
        return 0;
    if (data_count(data->kind == EXPR_LIST, data->kind == EXPR_LIST ? expr_part_count(data) : 0, err) < 0)
        return -1;
    arena_init(&arena);
    items = arena_alloc(&arena, (expr_part_count(data) + 1) * sizeof *items);
    for (uint32_t i = 0; i < expr_part_count(data) && !failed; i++)
        failed = parcel_literal(&arena, ad, &tree_parts(ad, data)[i], &items[i], err) < 0 ||
                 parcels_differ(items, i, err) < 0;
    arena_done(&arena);
    return failed ? -1 : 0;
}

bool job_copies_are_good(const struct tree *ad, const struct expr *copies)
{
    (void)ad;
    return is_computed(copies) || (copies->kind == EXPR_INTEGER && copies_fit(copies->u.integer));
}

int job_copies_check(const struct tree *ad, struct err *err)
{
    const struct expr *copies = ad_find(ad, "OutputCopies"), *stores = ad_find(ad, "OutputSE");
    bool elsewhere = true;
    size_t count;

    if (!copies || copies->kind != EXPR_INTEGER || !stores || is_computed(stores) ||
        !ad_flag(ad, "OutputElsewhere", &elsewhere) || elsewhere)
        return 0;
    count = stores->kind == EXPR_LIST ? stores->u.run.count : 1;
    return (uint64_t)copies->u.integer <= count
               ? 0
               : err_set(err, "OutputCopies: OutputSE names %zu stores, and there are to be no others", count);
}

bool job_stores_are_good(const struct tree *ad, const struct expr *stores)
{
    if (stores->kind != EXPR_LIST)
        return text_is_good(ad, stores, store_is_good);
    for (uint32_t i = 0; i < stores->u.run.count; i++)
        if (!text_is_good(ad, &tree_parts(ad, stores)[i], store_is_good))
            return false;
    return stores->u.run.count <= JOB_STORES_MAX;
}
