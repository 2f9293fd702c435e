/* resolving.c: the files that jobs read, looked up in the catalogues before the jobs are submitted. */
#include "live/data/resolving.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/text/parse.h"
#include "live/data/input_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 32                     /* questions */
#define BYTES_EXACT (INT64_C(1) << 20) /* more are rounded up ... */
#define BYTES_STEPS 8                  /* ... to one of so many steps between a power of two and the next */

struct resolving {
    struct catalogues *catalogues;
    struct tree *const *ads; /* lent */
    uint32_t ad_count;
    struct textmap names;       /* those in the ads, then those in the datasets among them */
    struct file_entry *entries; /* by the names' places */
    uint32_t entry_room;
    uint32_t next, under_way;
    bool datasets; /* there were some */
    unsigned status;
    char words[ERR_TEXT_MAX];
    resolving_done_fn *done;
    void *user;
};

/* A question under way. */
struct question {
    struct resolving *resolving;
    uint32_t place;
};

bool resolving_is_needed(struct tree *const *ads, uint32_t count)
{
    struct input_data data;
    bool needed = false;

    for (uint32_t i = 0; i < count && !needed; i++) {
        needed = input_data_read(ads[i], &data, NULL) == 0 && data.count;
        input_data_done(&data);
    }
    return needed;
}

void resolving_free(struct resolving *resolving)
{
    if (!resolving)
        return;
    for (uint32_t i = 0; i < resolving->entry_room; i++)
        file_entry_done(&resolving->entries[i]);
    free(resolving->entries);
    textmap_done(&resolving->names);
    free(resolving);
}

/* -------------------------------------------------------------------------------------------------------------- asking */

static void fail_words(struct resolving *resolving, const struct err *err)
{
    if (resolving->status)
        return;
    resolving->status = 400;
    snprintf(resolving->words, sizeof resolving->words, "%s", err->text);
}

/* Keeps why it failed, if nothing failed before: the first thing that is wrong is told. */
static void fail(struct resolving *resolving, uint32_t place, const struct catalogue_answer *answer)
{
    const char *name = textmap_text(&resolving->names, place);
    static const struct {
        enum catalogue_result result;
        unsigned status;
        const char *words;
    } rows[] = {
        {CATALOGUE_NONE, 400, "there is no such file in the catalogue"},
        {CATALOGUE_DIFFER, 409, "the catalogues call different files so; `berth files check` tells"},
    };

    if (resolving->status)
        return;
    resolving->status = 503;
    snprintf(resolving->words, sizeof resolving->words, "InputData: '%s': no catalogue answers: %.150s", name,
             answer->words);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == answer->result) {
            resolving->status = rows[i].status;
            snprintf(resolving->words, sizeof resolving->words, "InputData: '%s': %s", name, rows[i].words);
        }
}

/* The entries have room for all names. */
static void entries_grow(struct resolving *resolving)
{
    uint32_t before = resolving->entry_room;

    if (resolving->names.places <= before)
        return;
    resolving->entry_room = resolving->names.places * 2;
    resolving->entries = mem_grow(resolving->entries, resolving->entry_room * sizeof *resolving->entries);
    memset(resolving->entries + before, 0, (resolving->entry_room - before) * sizeof *resolving->entries);
}

/* The files of a dataset are asked for as well. */
static void dataset_take(struct resolving *resolving, uint32_t place)
{
    const struct file_entry *entry = &resolving->entries[place];
    struct err err;

    resolving->datasets = true;
    for (uint32_t i = 0; i < entry->file_count && resolving->names.places <= RESOLVING_NAMES_MAX; i++)
        (void)textmap_add(&resolving->names, entry->files[i], strlen(entry->files[i]));
    if (resolving->names.places > RESOLVING_NAMES_MAX) {
        err_set(&err, "InputData: the jobs of one submission read at most %d files", RESOLVING_NAMES_MAX);
        fail_words(resolving, &err);
    }
    entries_grow(resolving);
}

static const struct file_entry *entry_of(const struct resolving *resolving, const char *name)
{
    return &resolving->entries[textmap_find(&resolving->names, name, strlen(name))];
}

/* Adds the files of a dataset to those of an ad. */
static int dataset_add(const struct resolving *resolving, const struct file_entry *dataset, struct input_data *data,
                       struct err *err)
{
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        if (entry_of(resolving, dataset->files[i])->files)
            return err_set(err, "InputData: '%s': '%s' in it is a dataset as well, and no file", dataset->name,
                           dataset->files[i]);
        if (input_data_add(data, dataset->files[i], err) < 0) {
            err_context(err, "the dataset '%s'", dataset->name);
            return -1;
        }
    }
    return 0;
}

/* Reads the files of an ad, with those of datasets in their place; all names have been asked for. */
static int files_read(const struct resolving *resolving, const struct tree *ad, struct input_data *ret, struct err *err)
{
    struct input_data named, data;
    int failed = input_data_read(ad, &named, err);

    if (failed || !resolving->datasets) {
        *ret = named;
        return failed;
    }
    input_data_init(&data);
    for (uint32_t i = 0; !failed && i < named.count; i++) {
        const struct file_entry *entry = entry_of(resolving, named.names[i]);

        failed = entry->files ? dataset_add(resolving, entry, &data, err) : input_data_add(&data, named.names[i], err);
    }
    input_data_done(&named);
    if (failed)
        input_data_done(&data);
    *ret = data;
    return failed;
}

/* Can each of the ads have the files of its datasets? */
static void datasets_check(struct resolving *resolving)
{
    uint32_t reads = 0;

    for (uint32_t i = 0; resolving->datasets && !resolving->status && i < resolving->ad_count; i++) {
        struct input_data data = {0};
        struct err err;

        if (files_read(resolving, resolving->ads[i], &data, &err) < 0)
            fail_words(resolving, &err);
        reads += data.count;
        input_data_done(&data);
        if (reads > RESOLVING_READS_MAX) {
            err_set(
                &err,
                "InputData: with their datasets the jobs of one submission have %d files at most, those of each ad counted",
                RESOLVING_READS_MAX);
            fail_words(resolving, &err);
        }
    }
}

static void names_ask(struct resolving *resolving);

static void answer_came(void *user, const struct catalogue_answer *answer)
{
    struct question *question = user;
    struct resolving *resolving = question->resolving;

    if (answer->result == CATALOGUE_FOUND)
        file_entry_copy(answer->entry, &resolving->entries[question->place]);
    else
        fail(resolving, question->place, answer);
    if (resolving->entries[question->place].files)
        dataset_take(resolving, question->place);
    free(question);
    resolving->under_way--;
    names_ask(resolving);
    if (resolving->under_way)
        return;
    datasets_check(resolving);
    resolving->done(resolving->user, resolving->status, resolving->words);
}

static void names_ask(struct resolving *resolving)
{
    while (!resolving->status && resolving->next < resolving->names.places && resolving->under_way < AT_ONCE) {
        struct question *question = mem_alloc(sizeof *question);

        *question = (struct question){resolving, resolving->next++};
        resolving->under_way++;
        catalogues_find(resolving->catalogues, textmap_text(&resolving->names, question->place), answer_came, question);
    }
}

struct resolving *resolving_start(struct catalogues *catalogues, struct tree *const *ads, uint32_t count,
                                  resolving_done_fn *done, void *user)
{
    struct resolving *resolving = mem_alloc(sizeof *resolving);
    struct input_data data;

    *resolving =
        (struct resolving){.catalogues = catalogues, .ads = ads, .ad_count = count, .done = done, .user = user};
    textmap_init(&resolving->names, 0);
    for (uint32_t i = 0; i < count && resolving->names.places <= RESOLVING_NAMES_MAX; i++) {
        if (input_data_read(ads[i], &data, NULL) < 0)
            continue;
        for (uint32_t k = 0; k < data.count; k++)
            (void)textmap_add(&resolving->names, data.names[k], strlen(data.names[k]));
        input_data_done(&data);
    }
    if (resolving->names.places > RESOLVING_NAMES_MAX) {
        resolving_free(resolving);
        return NULL;
    }
    entries_grow(resolving);
    names_ask(resolving);
    return resolving;
}

/* ------------------------------------------------------------------------------------------------------------ the answer */

/* Does the store have all the files of an ad? */
static bool store_has_all(const struct resolving *resolving, const struct input_data *data, const char *store)
{
    for (uint32_t i = 0; i < data->count; i++)
        if (file_replica_find(entry_of(resolving, data->names[i]), store) < 0)
            return false;
    return true;
}

/* Copies the host of a URL; NULL: it has none. */
static char *url_host(const char *url)
{
    const char *host = strstr(url, "://"), *end, *at;

    if (!host)
        return NULL;
    host += 3;
    end = host + strcspn(host, "/");
    at = memchr(host, '@', (size_t)(end - host));
    host = at ? at + 1 : host;
    if (*host == '[') {
        host++;
        end = host + strcspn(host, "]");
    } else {
        const char *colon = memchr(host, ':', (size_t)(end - host));

        end = colon ? colon : end;
    }
    return end > host ? mem_dup(host, (size_t)(end - host)) : NULL;
}

static void host_add(char **hosts, size_t *count, const char *url)
{
    char *host = url_host(url);

    for (size_t i = 0; host && i < *count; i++)
        if (!strcmp(hosts[i], host)) {
            free(host);
            return;
        }
    if (host)
        hosts[(*count)++] = host;
}

static void replicas_write(struct maker *maker, const struct resolving *resolving, const struct input_data *data)
{
    const struct file_entry *entry = entry_of(resolving, data->names[0]);
    const char *stores[FILE_REPLICAS_MAX];
    char *hosts[FILE_REPLICAS_MAX];
    size_t store_count = 0, host_count = 0;

    for (uint32_t i = 0; i < entry->count; i++) {
        if (!store_has_all(resolving, data, entry->replicas[i].store))
            continue;
        stores[store_count++] = entry->replicas[i].store;
        host_add(hosts, &host_count, entry->replicas[i].url);
    }
    maker_texts(maker, "Replicas", stores, store_count);
    maker_texts(maker, "ReplicaHosts", (const char *const *)hosts, host_count);
    for (size_t i = 0; i < host_count; i++)
        free(hosts[i]);
}

/* Copies the parts of an ad, without the attributes that are told here: those are not the submitter's to say. */
static void parts_copy(struct maker *maker, const struct tree *ad, bool datasets)
{
    static const char *const told[] = {"Replicas", "ReplicaHosts", "InputBytes", "InputData"};
    struct tree *less = ad_without_all(ad, told, datasets ? 4 : 3);

    maker_parts(maker, less, NULL);
    tree_unref(less);
}

static void rank_write(struct maker *maker)
{
    struct build build;
    struct tree *rank;

    build_init(&build, maker->build.symbols, maker->build.dialect);
    rank = parse_expr(&build, NULL, INPUT_DATA_RANK, sizeof INPUT_DATA_RANK - 1, NULL);
    build_done(&build);
    maker_ad(maker, "Rank", rank);
    tree_unref(rank);
}

/* Jobs whose files are about as large share a request, and so a claim: the number is rounded up. */
static int64_t bytes_about(int64_t bytes)
{
    int64_t step = 1;

    if (bytes <= BYTES_EXACT)
        return bytes;
    while (bytes / step >= 2 * BYTES_STEPS)
        step *= 2;
    return bytes > INT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

bool resolving_has_datasets(const struct resolving *resolving)
{
    return resolving->datasets;
}

struct tree *resolving_ad(const struct resolving *resolving, const struct tree *ad)
{
    struct input_data data;
    struct maker maker;
    int64_t bytes = 0;

    if (!ad_find(ad, "InputData") || files_read(resolving, ad, &data, NULL) < 0)
        return tree_ref((struct tree *)(uintptr_t)ad);
    maker_init(&maker, ad->symbols);
    parts_copy(&maker, ad, resolving->datasets);
    if (resolving->datasets)
        maker_texts(&maker, "InputData", (const char *const *)data.names, data.count);
    if (data.count)
        replicas_write(&maker, resolving, &data);
    if (data.count && !ad_find(ad, "Rank") && !ad_find(ad, "Ports"))
        rank_write(&maker);
    for (uint32_t i = 0; i < data.count; i++) {
        int64_t size = entry_of(resolving, data.names[i])->size;

        bytes = bytes > INT64_MAX - size ? INT64_MAX : bytes + size;
    }
    maker_integer(&maker, "InputBytes", bytes_about(bytes));
    input_data_done(&data);
    return maker_seal(&maker);
}
