/* job_parcels.c: what a job's ad says of the files that go to stores when it has ended. */
#include "net/job_parcels.h"

#include "ad/eval.h"
#include "net/beneath.h"
#include "net/represent.h"
#include "net/storage.h"

#include <string.h>

struct reading {
    struct arena *into;
    struct eval eval;
    struct symbols *symbols;
};

/* A text that a value is, kept; NULL: it is none. */
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

/* An attribute of an ad within the list; NULL when there is none. False: it is no text. */
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

static int parcel_check(const struct job_parcel *parcel, struct err *err)
{
    if (!beneath_name_is_good(parcel->file, strlen(parcel->file)))
        return err_set(err, "OutputData: %.80s is no name of a file in the job's folder", parcel->file);
    if (!file_name_is_good(parcel->name, strlen(parcel->name)))
        return err_set(err, "OutputData: %.80s is no logical name of a file", parcel->name);
    if (parcel->store && strlen(parcel->store) > STORE_NAME_MAX)
        return err_set(err, "OutputData: a store's name has up to %d bytes", STORE_NAME_MAX);
    return 0;
}

static int parcel_read(struct reading *reading, const struct value *value, struct job_parcel *ret, struct err *err)
{
    *ret = (struct job_parcel){.file = text_keep(reading, value)};
    if (!ret->file &&
        (value->type != VALUE_AD || !part_read(reading, value, "File", &ret->file) || !ret->file ||
         !part_read(reading, value, "Name", &ret->name) || !part_read(reading, value, "Store", &ret->store)))
        return err_set(err, "OutputData: a list of names, or of [File; Name; Store], is expected");
    ret->name = ret->name ? ret->name : ret->file;
    return parcel_check(ret, err);
}

static int data_read(struct reading *reading, const struct value *list, struct job_parcels *ret, struct err *err)
{
    struct job_parcel *items;
    struct value element;

    if (list->type != VALUE_LIST || list->len > JOB_PARCELS_MAX)
        return err_set(err, "OutputData: a list of up to %d files is expected", JOB_PARCELS_MAX);
    items = arena_alloc(reading->into, (list->len + 1) * sizeof *items);
    for (uint32_t i = 0; i < list->len; i++) {
        eval_element(&reading->eval, list, i, &element);
        if (parcel_read(reading, &element, &items[i], err) < 0)
            return -1;
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(items[k].name, items[i].name))
                return err_set(err, "OutputData: %.80s is there twice", items[i].name);
    }
    ret->items = items;
    ret->count = list->len;
    return 0;
}

static int stores_read(struct reading *reading, const struct value *value, struct job_parcels *ret, struct err *err)
{
    size_t count = value->type == VALUE_LIST ? value->len : 1;
    const char **stores;
    struct value element;

    if (count > JOB_STORES_MAX)
        return err_set(err, "OutputSE: up to %d stores are expected", JOB_STORES_MAX);
    stores = arena_alloc(reading->into, (count + 1) * sizeof *stores);
    for (uint32_t i = 0; i < count; i++) {
        if (value->type == VALUE_LIST)
            eval_element(&reading->eval, value, i, &element);
        stores[i] = text_keep(reading, value->type == VALUE_LIST ? &element : value);
        if (!stores[i] || strlen(stores[i]) > STORE_NAME_MAX)
            return err_set(err, "OutputSE: the name of a store, or a list of them, is expected");
    }
    stores[count] = NULL;
    ret->stores = stores;
    return 0;
}

/* An attribute of the job's ad; false: there is none. */
static bool attribute(struct reading *reading, const struct scope *scope, const char *name, struct value *ret)
{
    symbol label = symbols_find(reading->symbols, name, strlen(name));

    return label && eval_attribute(&reading->eval, scope, label, ret) && ret->type != VALUE_UNDEFINED;
}

static int whole_read(struct reading *reading, const struct scope *scope, struct job_parcels *ret, struct err *err)
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
    return 0;
}

int job_parcels_read(struct arena *arena, const struct tree *ad, int64_t now, struct job_parcels *ret, struct err *err)
{
    static const char *const none[] = {NULL};
    struct job_parcels read = {.stores = none, .elsewhere = true};
    struct reading reading = {.into = arena, .symbols = ad->symbols};
    struct env env = {.now = now};
    struct arena scratch;
    struct scope scope;
    int failed;

    arena_init(&scratch);
    scope_init(&scope, ad, NULL);
    eval_init(&reading.eval, &env, &scratch);
    failed = whole_read(&reading, &scope, &read, err);
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

static bool store_is_good(const char *name, size_t len)
{
    return len && len <= STORE_NAME_MAX && !memchr(name, '\0', len);
}

static bool part_is_good(const struct tree *ad, const char *name, bool needed,
                         bool (*good)(const char *name, size_t len))
{
    const struct expr *e = ad_find(ad, name);

    return e ? text_is_good(ad, e, good) : !needed;
}

static bool parcel_is_good(const struct tree *ad, const struct expr *e)
{
    struct tree *one;
    bool good;

    if (e->kind != EXPR_AD)
        return text_is_good(ad, e, file_name_is_good);
    one = ad_part(ad, e);
    good = part_is_good(one, "File", true, beneath_name_is_good) &&
           part_is_good(one, "Name", false, file_name_is_good) && part_is_good(one, "Store", false, store_is_good);
    tree_unref(one);
    return good;
}

bool job_parcels_are_good(const struct tree *ad, const struct expr *data)
{
    if (is_computed(data))
        return true;
    if (data->kind != EXPR_LIST || data->u.run.count > JOB_PARCELS_MAX)
        return false;
    for (uint32_t i = 0; i < data->u.run.count; i++)
        if (!parcel_is_good(ad, &tree_parts(ad, data)[i]))
            return false;
    return true;
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
