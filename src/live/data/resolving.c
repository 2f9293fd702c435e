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
    struct textmap names;
    struct file_entry *entries; /* by the names' places */
    uint32_t next, under_way;
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
    for (uint32_t i = 0; resolving->entries && i < resolving->names.places; i++)
        file_entry_done(&resolving->entries[i]);
    free(resolving->entries);
    textmap_done(&resolving->names);
    free(resolving);
}

/* -------------------------------------------------------------------------------------------------------------- asking */

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

static void names_ask(struct resolving *resolving);

static void answer_came(void *user, const struct catalogue_answer *answer)
{
    struct question *question = user;
    struct resolving *resolving = question->resolving;

    if (answer->result == CATALOGUE_FOUND)
        file_entry_copy(answer->entry, &resolving->entries[question->place]);
    else
        fail(resolving, question->place, answer);
    free(question);
    resolving->under_way--;
    names_ask(resolving);
    if (!resolving->under_way)
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

    *resolving = (struct resolving){.catalogues = catalogues, .done = done, .user = user};
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
    resolving->entries = mem_alloc((resolving->names.places + 1) * sizeof *resolving->entries);
    memset(resolving->entries, 0, (resolving->names.places + 1) * sizeof *resolving->entries);
    names_ask(resolving);
    return resolving;
}

/* ------------------------------------------------------------------------------------------------------------ the answer */

/* Does the store have all the files of an ad? */
static bool store_has_all(const struct resolving *resolving, const struct input_data *data, const char *store)
{
    for (uint32_t i = 0; i < data->count; i++) {
        uint32_t place = textmap_find(&resolving->names, data->names[i], strlen(data->names[i]));

        if (file_replica_find(&resolving->entries[place], store) < 0)
            return false;
    }
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
    uint32_t first = textmap_find(&resolving->names, data->names[0], strlen(data->names[0]));
    const struct file_entry *entry = &resolving->entries[first];
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
static void parts_copy(struct maker *maker, const struct tree *ad)
{
    struct tree *without = ad_without(ad, "Replicas"), *less = ad_without(without, "ReplicaHosts");

    maker_parts(maker, less, "InputBytes");
    tree_unref(without);
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

struct tree *resolving_ad(const struct resolving *resolving, const struct tree *ad)
{
    struct input_data data;
    struct maker maker;
    int64_t bytes = 0;

    if (!ad_find(ad, "InputData") || input_data_read(ad, &data, NULL) < 0)
        return tree_ref((struct tree *)(uintptr_t)ad);
    maker_init(&maker, ad->symbols);
    parts_copy(&maker, ad);
    if (data.count)
        replicas_write(&maker, resolving, &data);
    if (data.count && !ad_find(ad, "Rank") && !ad_find(ad, "Ports"))
        rank_write(&maker);
    for (uint32_t i = 0; i < data.count; i++) {
        uint32_t place = textmap_find(&resolving->names, data.names[i], strlen(data.names[i]));
        int64_t size = resolving->entries[place].size;

        bytes = bytes > INT64_MAX - size ? INT64_MAX : bytes + size;
    }
    maker_integer(&maker, "InputBytes", bytes_about(bytes));
    input_data_done(&data);
    return maker_seal(&maker);
}
