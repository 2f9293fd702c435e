/* output_permits.c: what a try may leave at the customer. */
#include "live/customerd/output_permits.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/job_ad.h"
#include "live/data/job_uploads.h"
#include "pool/customer/unit.h"
#include "pool/protocol/job_limits.h"
#include "sys/confined_path.h"

#include <stdlib.h>
#include <string.h>

struct permits {
    struct textmap to; /* the names in OutputTo ... */
    char **to_paths;   /* ... and where each of them goes */
    uint32_t to_room;
    struct textmap outputs, checkpoint, inputs, parcels, streams;
    bool listed; /* the job says what its outputs are */
    bool open;   /* but not all of it can be evaluated here */
    bool parcels_open;
    uint64_t bytes;
};

struct reading {
    struct permits *permits;
    const struct tree *ad;
    struct scope scope;
    struct eval eval;
};

static bool attribute(struct reading *reading, const char *name, struct value *ret)
{
    symbol called = symbols_find(reading->ad->symbols, name, strlen(name));

    return called && eval_attribute(&reading->eval, &reading->scope, called, ret) && ret->type != VALUE_UNDEFINED;
}

/* One name, or several with blanks between, as the provider reads them (job_order.c). False: it is not a text. */
static bool names_add(struct textmap *names, const struct value *value, bool split)
{
    size_t at = 0;

    if (value->type != VALUE_STRING)
        return false;
    while (at < value->len) {
        size_t len = 0;

        while (split && at < value->len && strchr(" \t\n", value->u.string[at]))
            at++;
        while (at + len < value->len && !(split && strchr(" \t\n", value->u.string[at + len])))
            len++;
        if (confined_name_is_good(value->u.string + at, len))
            textmap_add(names, value->u.string + at, len);
        at += len;
    }
    return true;
}

/* Reads a list of names. False: a part of it is not known here. */
static bool list_read(struct reading *reading, const char *name, struct textmap *names, bool *ret_there)
{
    struct value value, element;
    bool known = true;

    *ret_there = ad_find(reading->ad, name) != NULL;
    if (!*ret_there)
        return true;
    if (!attribute(reading, name, &value))
        return false;
    if (value.type != VALUE_LIST)
        return names_add(names, &value, true);
    for (uint32_t i = 0; i < value.len && i < JOB_FILES_MAX; i++) {
        eval_element(&reading->eval, &value, i, &element);
        known = names_add(names, &element, false) && known;
    }
    return known;
}

/* Reads one [ Name; To ]. */
static void destination_read(struct reading *reading, const struct value *ad)
{
    struct permits *permits = reading->permits;
    symbol to = symbols_find(reading->ad->symbols, "To", 2), name = symbols_find(reading->ad->symbols, "Name", 4);
    uint32_t place, known = permits->to.places;
    struct value called, path;

    if (ad->type != VALUE_AD || !to || !name || !eval_attribute(&reading->eval, ad->scope, name, &called) ||
        !eval_attribute(&reading->eval, ad->scope, to, &path) || called.type != VALUE_STRING ||
        path.type != VALUE_STRING || !path.len || memchr(path.u.string, '\0', path.len) ||
        !confined_name_is_good(called.u.string, called.len))
        return;
    place = textmap_add(&permits->to, called.u.string, called.len);
    if (place < known)
        return; /* of several the first holds */
    ARRAY_ROOM(permits->to_paths, place, permits->to_room, 8);
    permits->to_paths[place] = mem_dup(path.u.string, path.len);
}

static void destinations_read(struct reading *reading)
{
    struct value value, element;

    if (!attribute(reading, "OutputTo", &value) || value.type != VALUE_LIST)
        return;
    for (uint32_t i = 0; i < value.len && i < JOB_FILES_MAX; i++) {
        eval_element(&reading->eval, &value, i, &element);
        destination_read(reading, &element);
    }
}

static bool input_add(void *user, const struct job_input *input)
{
    textmap_add(user, input->name, strlen(input->name));
    return true;
}

static void parcels_read(struct permits *permits, const struct tree *ad, int64_t now)
{
    struct job_uploads parcels = {.count = 0};
    struct arena arena;
    struct err err;

    arena_init(&arena);
    permits->parcels_open = job_uploads_read(&arena, ad, now, &parcels, &err) < 0;
    for (size_t i = 0; !permits->parcels_open && i < parcels.count; i++)
        textmap_add(&permits->parcels, parcels.items[i].name, strlen(parcels.items[i].name));
    arena_done(&arena);
}

/* A RequestDisk that depends on the machine's ad counts as not given. */
static uint64_t disk_read(struct reading *reading)
{
    struct value value;
    double bytes = (double)JOB_DISK;

    if (attribute(reading, "RequestDisk", &value) && (value.type == VALUE_INTEGER || value.type == VALUE_REAL))
        bytes = value.type == VALUE_REAL ? value.u.real : (double)value.u.integer;
    return bytes >= 1 && bytes <= 1e18 ? (uint64_t)bytes
                                       : JOB_DISK; /* a job that asks for no disk has no limit of its own */
}

static void permits_read(struct permits *permits, const struct tree *ad, int64_t now)
{
    struct env env = {.now = now};
    struct reading reading = {.permits = permits, .ad = ad};
    struct arena scratch;
    struct value value;
    bool there;

    arena_init(&scratch);
    scope_init(&reading.scope, ad, NULL);
    eval_init(&reading.eval, &env, &scratch);
    permits->open = !list_read(&reading, "Outputs", &permits->outputs, &permits->listed);
    list_read(&reading, "Checkpoint", &permits->checkpoint, &there);
    for (int i = 0; i < 2; i++)
        if (attribute(&reading, i ? "Err" : "Out", &value)) {
            names_add(&permits->outputs, &value, false);
            names_add(&permits->streams, &value, false);
        }
    destinations_read(&reading);
    permits->bytes = disk_read(&reading);
    arena_done(&scratch);
    job_inputs(ad, input_add, &permits->inputs);
    parcels_read(permits, ad, now);
}

struct permits *permits_new(const struct permits_try *one)
{
    struct permits *permits = mem_alloc(sizeof *permits);
    struct crew nobody = {.count = 0};
    struct unit unit = {.ad = (struct tree *)(uintptr_t)one->ad,
                        .job = one->job,
                        .index = one->index,
                        .tries = one->tries,
                        .node = one->node,
                        .crew = &nobody};
    struct tree *ad = unit_ad(&unit);

    *permits = (struct permits){.bytes = JOB_DISK};
    textmap_init(&permits->to, 0);
    textmap_init(&permits->outputs, 0);
    textmap_init(&permits->checkpoint, 0);
    textmap_init(&permits->inputs, 0);
    textmap_init(&permits->parcels, 0);
    textmap_init(&permits->streams, 0);
    permits_read(permits, ad ? ad : one->ad, one->now);
    tree_unref(ad);
    return permits;
}

void permits_free(struct permits *permits)
{
    if (!permits)
        return;
    for (uint32_t i = 0; i < permits->to.places; i++)
        free(permits->to_paths[i]);
    free(permits->to_paths);
    textmap_done(&permits->to);
    textmap_done(&permits->outputs);
    textmap_done(&permits->checkpoint);
    textmap_done(&permits->inputs);
    textmap_done(&permits->parcels);
    textmap_done(&permits->streams);
    free(permits);
}

/* How much of the name the list names: all of it, a folder above it, or nothing. */
static size_t named_part(const struct textmap *names, const char *name)
{
    size_t len = strlen(name);

    if (textmap_find(names, name, len) != TEXTMAP_NONE)
        return len;
    while (len-- > 1)
        if (name[len] == '/' && textmap_find(names, name, len) != TEXTMAP_NONE)
            return len;
    return 0;
}

static bool has_dot(const char *name)
{
    return *name == '.' || strstr(name, "/.");
}

static bool is_deep(const char *name)
{
    unsigned depth = 0;

    for (; *name; name++)
        depth += *name == '/';
    return depth > PERMIT_DEPTH_MAX;
}

static bool is_log(const char *name)
{
    return !strcmp(name, JOB_STDOUT) || !strcmp(name, JOB_STDERR);
}

static const char *path_of(const struct permits *permits, const char *name, size_t len)
{
    uint32_t place = textmap_find(&permits->to, name, len);

    return place == TEXTMAP_NONE ? NULL : permits->to_paths[place];
}

/* Goes what is in a folder of the job's straight into the folder that it was submitted from? Then the machine could choose any name there, and nothing
 * that is there is replaced. */
static bool spills(const struct permits *permits, const char *name)
{
    size_t named = named_part(&permits->to, name);

    return named && named < strlen(name) && !strcmp(path_of(permits, name, named), ".");
}

bool permits_to(const struct permits *permits, const char *name, struct buf *ret)
{
    size_t named = named_part(&permits->to, name);
    const char *path = named ? path_of(permits, name, named) : NULL;

    if (!path)
        return false;
    if (!strcmp(path, ".") && name[named])
        buf_adds(ret, name + named + 1);
    else
        buf_addf(ret, "%s%s", path, name + named);
    return true;
}

enum permit permits_look(const struct permits *permits, enum job_file_kind kind, const char *name, const char **ret_why)
{
    size_t len = strlen(name), named = named_part(&permits->outputs, name);
    bool input = textmap_find(&permits->inputs, name, len) != TEXTMAP_NONE;

    *ret_why = NULL;
    if (is_deep(name))
        *ret_why = "too many folders are inside one another";
    else if (kind == JOB_FILE_LOG && !is_log(name))
        *ret_why = "a job has no such log";
    else if (kind == JOB_FILE_CHECKPOINT && textmap_find(&permits->checkpoint, name, len) == TEXTMAP_NONE)
        *ret_why = "Checkpoint does not name it";
    else if (kind == JOB_FILE_OUTPUT && permits->listed && !permits->open && !named)
        *ret_why = "Outputs does not name it";
    else if (kind == JOB_FILE_OUTPUT && has_dot(name + named))
        *ret_why = "a part of its name begins with a dot, and Outputs does not name it";
    if (*ret_why)
        return PERMIT_NO;
    if (kind == JOB_FILE_OUTPUT && spills(permits, name))
        return PERMIT_NEW;
    if (kind != JOB_FILE_OUTPUT || named == len || named_part(&permits->to, name) == len)
        return PERMIT_REPLACE;
    return input ? PERMIT_BESIDE : named ? PERMIT_REPLACE : PERMIT_NEW;
}

bool permits_streams(const struct permits *permits, const char *name)
{
    return textmap_find(&permits->streams, name, strlen(name)) != TEXTMAP_NONE;
}

uint64_t permits_bytes(const struct permits *permits)
{
    return permits->bytes;
}

bool permits_stores(const struct permits *permits, const char *name, size_t len)
{
    return permits->parcels_open || textmap_find(&permits->parcels, name, len) != TEXTMAP_NONE;
}

uint64_t permits_stored(const struct permits *permits)
{
    return permits->parcels_open ? JOB_UPLOADS_MAX : permits->parcels.count;
}
