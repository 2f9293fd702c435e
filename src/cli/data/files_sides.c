/* files_sides.c: the one or two catalogues that `berth files` asks. */
#include "cli/data/files.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/make.h"

#include <string.h>

const char *side_name(const struct files_side *side)
{
    const struct connection_place *place = &side->pool.places[side->pool.at];

    return place->socket ? place->socket : place->url;
}

static int side_open(struct files_sides *sides, const struct connection_options *options)
{
    struct files_side *side = &sides->items[sides->count++];

    side->up = true;
    return connection_open(&side->pool, options);
}

int sides_open(struct files_sides *sides, const struct files_settings *settings)
{
    struct connection_options options = settings->pool;
    const char *const *urls, *const *tokens;
    size_t count = 0, token_count;
    struct config config;
    int status = STATUS_DONE;

    *sides = (struct files_sides){.count = 0};
    if (settings->pool.url)
        return side_open(sides, &options);
    if (config_options_load(&options.config, &config) < 0)
        return STATUS_BAD;
    urls = config_list(&config, CONFIG_CATALOGUES, &count);
    tokens = config_list(&config, CONFIG_CATALOGUE_TOKENS, &token_count);
    for (size_t i = 0; i < count && status == STATUS_DONE; i++) {
        options.url = urls[i];
        options.token = i < token_count && strcmp(tokens[i], "-") != 0 ? tokens[i] : settings->pool.token;
        status = side_open(sides, &options);
    }
    if (!count)
        status = side_open(sides, &options);
    config_done(&config);
    return status;
}

void sides_close(struct files_sides *sides)
{
    for (size_t i = 0; i < sides->count; i++)
        connection_close(&sides->items[i].pool);
}

/* -------------------------------------------------------------------------------------------------------------- asking */

int side_find(struct files_side *side, const char *name, struct file_entry *ret)
{
    struct tree *ad = NULL;
    struct err err = {0};
    struct buf path;
    int status;

    buf_init(&path);
    catalogue_path(&path, name);
    status = connection_fetch_ad(
        &side->pool, &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .hush = true}, &ad);
    buf_done(&path);
    if (status == STATUS_DONE && file_entry_read(ad, ret, &err) < 0) {
        report("%s: %s: %s", side_name(side), name, err.text);
        status = STATUS_UNREACHABLE;
    }
    side->up = side->up && status != STATUS_UNREACHABLE;
    tree_unref(ad);
    return status;
}

/* Leaves out a catalogue that does not answer, as long as another does. */
static int silence(const struct files_sides *sides)
{
    const struct files_side *up = NULL;

    for (size_t i = 0; i < sides->count; i++)
        if (sides->items[i].up)
            up = &sides->items[i];
    if (up)
        report("only the catalogue %s was asked", side_name(up));
    return up ? STATUS_DONE : STATUS_UNREACHABLE;
}

/* Joins two answers. */
static int answers_join(const struct files_sides *sides, const char *name, struct file_entry found[CATALOGUES_MAX],
                        struct file_entry *ret, bool *ret_differ)
{
    bool both = sides->count == 2 && sides->items[0].up && sides->items[1].up;
    struct file_entry *first = found[0].hash[0] ? &found[0] : &found[1];
    struct buf words;

    buf_init(&words);
    if (both && file_entry_compare(found[0].hash[0] ? &found[0] : NULL, found[1].hash[0] ? &found[1] : NULL,
                                   side_name(&sides->items[0]), side_name(&sides->items[1]), &words, ret_differ))
        report("%s: the catalogues disagree: %s", name, buf_string(&words));
    buf_done(&words);
    if (!first->hash[0] || *ret_differ)
        return STATUS_NO;
    if (first == &found[0])
        file_replicas_join(first, &found[1]);
    *ret = *first;
    *first = (struct file_entry){0};
    return STATUS_DONE;
}

int sides_find(struct files_sides *sides, const char *name, struct file_entry *ret, bool *ret_differ)
{
    struct file_entry found[CATALOGUES_MAX] = {{0}};
    int status = STATUS_DONE;
    bool silent = false;

    *ret_differ = false;
    for (size_t i = 0; i < sides->count && status != STATUS_BAD; i++) {
        status = side_find(&sides->items[i], name, &found[i]);
        silent = silent || status == STATUS_UNREACHABLE;
    }
    if (status != STATUS_BAD && silent)
        status = silence(sides);
    if (status != STATUS_BAD && status != STATUS_UNREACHABLE)
        status = answers_join(sides, name, found, ret, ret_differ);
    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        file_entry_done(&found[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- all of it */

struct load {
    struct files_side *side;
    struct file_book *book;
    bool failed;
};

static bool load_ad(void *user, struct tree *ad)
{
    struct load *load = user;
    struct file_entry entry;
    struct err err = {0};

    load->failed = file_entry_read(ad, &entry, &err) < 0;
    if (load->failed)
        report("%s: %s", side_name(load->side), err.text);
    else if (entry.name)
        (void)file_book_put_take(load->book, &entry);
    else
        file_entry_done(&entry);
    return !load->failed;
}

int side_load(struct files_side *side, const char *prefix, struct file_book *ret)
{
    struct load load = {.side = side, .book = ret};
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/files");
    path_query(&path, "prefix", prefix);
    status = connection_list(&side->pool, buf_string(&path), 0, load_ad, &load);
    buf_done(&path);
    if (status == STATUS_DONE && load.failed)
        status = STATUS_UNREACHABLE;
    side->up = side->up && status != STATUS_UNREACHABLE;
    return status;
}

/* Tells a catalogue something. Takes the body. */
static int side_tell(struct files_side *side, const char *method, const char *name, const char *end, struct tree *body)
{
    struct tree *answer = NULL;
    struct buf path;
    int status;

    buf_init(&path);
    catalogue_path(&path, name);
    buf_adds(&path, end);
    status = connection_fetch_ad(
        &side->pool,
        &(struct connection_ask){
            .method = method, .path = buf_string(&path), .body = body, .patient = true, .about = side_name(side)},
        &answer);
    buf_done(&path);
    tree_unref(body);
    tree_unref(answer);
    side->up = side->up && status != STATUS_UNREACHABLE;
    return status;
}

int side_add(struct files_side *side, const struct file_entry *entry, uint32_t place)
{
    return side_tell(side, "POST", entry->name, "/replicas", catalogue_addition(side->pool.symbols, entry, place));
}

int side_put(struct files_side *side, const struct file_entry *entry)
{
    struct tree *ad = file_entry_ad(entry, side->pool.symbols), *body = ad_without(ad, "By");

    tree_unref(ad);
    return side_tell(side, "PUT", entry->name, "", body);
}

int side_keep(struct files_side *side, const char *name, uint64_t copies, char *const *stores, size_t store_count)
{
    struct maker maker;

    maker_init(&maker, side->pool.symbols);
    maker_integer(&maker, "Copies", (int64_t)copies);
    if (store_count)
        maker_texts(&maker, "CopiesAt", (const char *const *)stores, store_count);
    return side_tell(side, "PATCH", name, "", maker_seal(&maker));
}
