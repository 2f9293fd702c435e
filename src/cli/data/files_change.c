/* files_change.c: berth files add, get and rm: enter, fetch and forget replicas. */
#include "cli/data/files.h"

#include "cli/data/files_data.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "live/data/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------------- add */

static bool store_take(void *user, struct tree *ad)
{
    *(struct tree **)user = tree_ref(ad);
    return false;
}

/* Reads the store from its ad in the pool. */
static int store_find(struct connection *pool, const struct files_settings *settings, struct store_place *ret)
{
    struct tree *ad = NULL;
    struct err err = {0};
    struct buf path, constraint;
    int status;

    buf_init(&path);
    buf_init(&constraint);
    buf_addf(&constraint, "Type == \"" STORE_TYPE "\" && Name == \"");
    for (const char *c = settings->store; *c; c++)
        buf_addf(&constraint, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    buf_addc(&constraint, '"');
    buf_adds(&path, "/v1/ads");
    path_query(&path, "constraint", buf_string(&constraint));
    status = connection_list(pool, buf_string(&path), 1, store_take, &ad);
    if (status == STATUS_DONE && !ad) {
        report("%s: there is no such store in the pool; an ad with Type = \"" STORE_TYPE "\" makes one",
               settings->store);
        status = STATUS_BAD;
    } else if (status == STATUS_DONE && store_read(ad, ret, &err) < 0) {
        report("the store %s: %s", settings->store, err.text);
        status = STATUS_BAD;
    }
    buf_done(&path);
    buf_done(&constraint);
    tree_unref(ad);
    return status;
}

/* Tells all catalogues of the replica. STATUS_DONE when all have it, STATUS_NO when one lacks it, else the gravest of the statuses. */
static int replica_enter(struct files_sides *sides, const struct file_entry *entry)
{
    size_t have = 0;
    int worst = STATUS_DONE;

    for (size_t i = 0; i < sides->count; i++) {
        int status = sides->items[i].up ? side_add(&sides->items[i], entry, 0) : STATUS_UNREACHABLE;

        have += status == STATUS_DONE;
        worst = status > worst ? status : worst;
    }
    for (size_t i = 0; have && have < sides->count && i < sides->count; i++)
        if (!sides->items[i].up)
            report("%s: the catalogue %s lacks it; `berth files repair` brings it over when it is back", entry->name,
                   side_name(&sides->items[i]));
    return have == sides->count ? STATUS_DONE : have ? STATUS_NO : worst;
}

/* Finds the size and hash for the entry: from the bytes of the file, or as they were given. */
static int facts_find(const struct files_settings *settings, const char *what, struct file_entry *entry)
{
    struct config config;
    struct err err = {0};
    int failed;

    if (settings->hash && settings->size != UINT64_MAX) {
        if (!file_hash_is_good(settings->hash, strlen(settings->hash))) {
            report("--hash: expected \"sha256:\" and 64 lower-case hexadecimal digits");
            return STATUS_BAD;
        }
        entry->size = (int64_t)settings->size;
        memcpy(entry->hash, settings->hash, FILE_HASH_LEN + 1);
        return STATUS_DONE;
    }
    if (settings->hash || settings->size != UINT64_MAX) {
        report("--size and --hash are given together, or neither");
        return STATUS_BAD;
    }
    if (config_options_load(&settings->pool.config, &config) < 0)
        return STATUS_BAD;
    failed = data_measure(&config, what, &entry->size, entry->hash, &err);
    config_done(&config);
    if (!failed)
        return STATUS_DONE;
    report("%s: %s", what, err.text);
    return STATUS_BAD;
}

/* Is that the name of another file? This is asked before the file is put into the store: what lies there would be lost, and the catalogue would
 * refuse the entry all the same. */
static int name_check(struct files_sides *sides, const char *name, const struct file_entry *entry)
{
    bool differ = false, up = false;

    for (size_t i = 0; i < sides->count && !differ; i++) {
        struct file_entry found = {0};
        int status = side_find(&sides->items[i], name, &found);

        if (status == STATUS_BAD)
            return status;
        up = up || sides->items[i].up;
        differ = status == STATUS_DONE && (found.size != entry->size || strcmp(found.hash, entry->hash) != 0);
        file_entry_done(&found);
    }
    if (differ)
        report("%s: the catalogue has another file of that name; `berth files rm` forgets it", name);
    return differ ? STATUS_BAD : up ? STATUS_DONE : STATUS_UNREACHABLE;
}

/* Finds the URL of the replica; a file of this machine is put there first. */
static int replica_place(const struct files_settings *settings, const char *name, const char *what,
                         const struct file_entry *entry, struct buf *ret_url)
{
    struct store_place place;
    struct err err = {0};
    struct connection pool;
    int status;

    if (strstr(what, "://")) {
        buf_adds(ret_url, what);
        return STATUS_DONE;
    }
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = store_find(&pool, settings, &place);
    if (status == STATUS_DONE) {
        store_url(&place, name, ret_url);
        if (data_put(&pool.config, what, buf_string(ret_url), entry, &err) < 0) {
            report("%s: %s", buf_string(ret_url), err.text);
            status = STATUS_BAD;
        }
    }
    connection_close(&pool);
    return status;
}

static int add_check(const struct files_settings *settings, const char *name, const char *what)
{
    if (!settings->store || !file_store_is_good(settings->store, strlen(settings->store)))
        report("files add wants --store NAME");
    else if (!file_name_is_good(name, strlen(name)))
        report("%s: the name of a file has up to %d bytes: parts with '/' between, none of them empty, \".\" or \"..\"",
               name, FILE_NAME_MAX);
    else if (strstr(what, "://") && !file_url_is_good(what, strlen(what)))
        report("%s: expected a URL of file, http, https or sftp without a password", what);
    else
        return STATUS_DONE;
    return STATUS_BAD;
}

int files_add(const struct files_settings *settings, int word_count, char **words)
{
    struct file_entry entry = {0};
    struct files_sides sides = {.count = 0};
    struct buf url;
    int status = add_check(settings, words[0], words[1]);

    (void)word_count;
    buf_init(&url);
    if (status == STATUS_DONE)
        status = facts_find(settings, words[1], &entry);
    if (status == STATUS_DONE)
        status = sides_open(&sides, settings);
    if (status == STATUS_DONE && !strstr(words[1], "://"))
        status = name_check(&sides, words[0], &entry);
    if (status == STATUS_DONE)
        status = replica_place(settings, words[0], words[1], &entry, &url);
    if (status == STATUS_DONE) {
        entry.name = mem_dup(words[0], strlen(words[0]));
        entry.owner = settings->owner ? mem_dup(settings->owner, strlen(settings->owner)) : NULL;
        (void)file_replica_put(&entry, settings->store, buf_string(&url), NULL);
        status = replica_enter(&sides, &entry);
        buf_reset(&url);
        if (status == STATUS_DONE || status == STATUS_NO)
            buf_addf(&url, "%s: %lld bytes in %s\n", entry.name, (long long)entry.size, settings->store);
        output_write(&url);
    }
    sides_close(&sides);
    file_entry_done(&entry);
    buf_done(&url);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------------- get */

/* Fetches the file from a replica: those of this machine come first, then the others in the order of their stores' names. */
static int replica_fetch(const struct config *config, const struct file_entry *entry, const char *path)
{
    for (int far = 0; far < 2; far++)
        for (uint32_t i = 0; i < entry->count; i++) {
            const struct file_replica *replica = &entry->replicas[i];
            struct err err = {0};

            if ((strncmp(replica->url, "file://", 7) != 0) != far)
                continue;
            if (data_get(config, replica->url, path, entry, &err) == 0)
                return STATUS_DONE;
            report("%s in %s: %s", entry->name, replica->store, err.text);
        }
    report("%s: %s", entry->name, entry->count ? "no replica could be had" : "there is no replica of it");
    return STATUS_NO;
}

int files_get(const struct files_settings *settings, int word_count, char **words)
{
    struct file_entry entry = {0};
    struct files_sides sides;
    bool differ = false;
    int status = sides_open(&sides, settings);

    (void)word_count;
    if (status == STATUS_DONE)
        status = sides_find(&sides, words[0], &entry, &differ);
    if (status == STATUS_NO && !differ)
        report("%s: there is no such file in the catalogue", words[0]);
    if (status == STATUS_DONE && entry.files) {
        report("%s is a dataset; `berth files show` tells which files are in it", words[0]);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = replica_fetch(&sides.items[0].pool.config, &entry,
                               settings->output ? settings->output : file_name_last(words[0]));
    file_entry_done(&entry);
    sides_close(&sides);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ rm */

static int side_remove(struct files_side *side, const char *name, const char *store)
{
    struct fetched fetched;
    struct buf path;
    int status;

    buf_init(&path);
    catalogue_path(&path, name);
    if (store) {
        buf_adds(&path, "/replicas");
        path_query(&path, "store", store);
    }
    status = connection_fetch(
        &side->pool,
        &(struct connection_ask){
            .method = "DELETE", .path = buf_string(&path), .may_miss = true, .hush = true, .about = side_name(side)},
        &fetched);
    if (status == STATUS_DONE)
        fetched_done(&fetched);
    side->up = side->up && status != STATUS_UNREACHABLE;
    buf_done(&path);
    return status;
}

int files_rm(const struct files_settings *settings, int word_count, char **words)
{
    struct files_sides sides;
    int status = sides_open(&sides, settings), worst = STATUS_DONE;
    size_t done = 0, missing = 0;

    (void)word_count;
    for (size_t i = 0; status == STATUS_DONE && i < sides.count; i++) {
        int one = side_remove(&sides.items[i], words[0], settings->store);

        done += one == STATUS_DONE;
        missing += one == STATUS_NO;
        worst = one > worst ? one : worst;
        if (one == STATUS_UNREACHABLE && sides.count > 1)
            report("%s: the catalogue %s still has it", words[0], side_name(&sides.items[i]));
    }
    if (status == STATUS_DONE && missing == sides.count)
        report("%s: %s", words[0],
               settings->store ? "there is no such replica in the catalogue"
                               : "there is no such file in the catalogue");
    if (status == STATUS_DONE)
        status = done && done + missing == sides.count ? STATUS_DONE : done ? STATUS_NO : worst;
    sides_close(&sides);
    return status;
}
