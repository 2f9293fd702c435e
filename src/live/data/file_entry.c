/* file_entry.c: an entry of a catalogue of files: read, written, compared. */
#include "live/data/file_entry.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/auth/token.h"
#include "live/http/represent.h"
#include "pool/matchmaker/accountant.h"
#include "sys/confined_path.h"
#include "sys/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- texts */

static bool is_plain(const char *text, size_t len, unsigned char from)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < from || text[i] == 0x7f)
            return false;
    return true;
}

bool file_name_is_good(const char *name, size_t len)
{
    return len <= FILE_NAME_MAX && confined_name_is_good(name, len) && is_plain(name, len, ' ') &&
           utf8_check(name, len, NULL) == 0;
}

bool file_name_is_kept(const char *name)
{
    return *name == '~';
}

bool file_name_is_of(const char *name, const char *identity)
{
    size_t len = account_len(identity, strlen(identity));

    return file_name_is_kept(name) && len && !strncmp(name + 1, identity, len) && name[1 + len] == '/';
}

bool file_store_is_good(const char *store, size_t len)
{
    return len && len <= FILE_STORE_MAX && is_plain(store, len, ' ') && utf8_check(store, len, NULL) == 0;
}

bool file_url_is_good(const char *url, size_t len)
{
    static const char *const schemes[] = {"file:///", "http://", "https://", "sftp://"};
    const char *host = NULL, *at, *colon;
    size_t host_len;

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (len > strlen(schemes[i]) && !strncmp(url, schemes[i], strlen(schemes[i])))
            host = url + strlen(schemes[i]);
    if (!host || len > FILE_URL_MAX || !is_plain(url, len, '!'))
        return false;
    host_len = (size_t)(url + len - host);
    host_len = memchr(host, '/', host_len) ? (size_t)((const char *)memchr(host, '/', host_len) - host) : host_len;
    at = memchr(host, '@', host_len);
    colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
    return !colon; /* everybody may read it */
}

bool file_hash_is_good(const char *hash, size_t len)
{
    return len == FILE_HASH_LEN && !memcmp(hash, "sha256:", FILE_HASH_DIGITS_AT) &&
           hash_is_good(hash + FILE_HASH_DIGITS_AT, len - FILE_HASH_DIGITS_AT);
}

const char *file_name_last(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* ----------------------------------------------------------------------------------------------------------- replicas */

int file_replica_find(const struct file_entry *entry, const char *store)
{
    for (uint32_t i = 0; i < entry->count; i++)
        if (!strcmp(entry->replicas[i].store, store))
            return (int)i;
    return -1;
}

int file_replica_put(struct file_entry *entry, const char *store, const char *url, struct err *err)
{
    int place = file_replica_find(entry, store);
    uint32_t at = 0;

    if (place >= 0) {
        char *copy = mem_dup(url, strlen(url));

        free(entry->replicas[place].url);
        entry->replicas[place].url = copy;
        return 0;
    }
    if (entry->count == FILE_REPLICAS_MAX)
        return err_set(err, "Replicas: a file has at most %d", FILE_REPLICAS_MAX);
    entry->replicas = mem_grow(entry->replicas, (entry->count + 1) * sizeof *entry->replicas);
    while (at < entry->count && strcmp(entry->replicas[at].store, store) < 0)
        at++;
    memmove(&entry->replicas[at + 1], &entry->replicas[at], (entry->count - at) * sizeof *entry->replicas);
    entry->replicas[at] =
        (struct file_replica){.store = mem_dup(store, strlen(store)), .url = mem_dup(url, strlen(url))};
    entry->count++;
    return 0;
}

void file_replicas_join(struct file_entry *entry, const struct file_entry *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        if (file_replica_find(entry, more->replicas[i].store) < 0)
            (void)file_replica_put(entry, more->replicas[i].store, more->replicas[i].url, NULL);
}

bool file_replica_drop(struct file_entry *entry, const char *store)
{
    int place = file_replica_find(entry, store);

    if (place < 0)
        return false;
    free(entry->replicas[place].store);
    free(entry->replicas[place].url);
    entry->count--;
    memmove(&entry->replicas[place], &entry->replicas[place + 1],
            (entry->count - (uint32_t)place) * sizeof *entry->replicas);
    return true;
}

void file_entry_done(struct file_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        free(entry->replicas[i].store);
        free(entry->replicas[i].url);
    }
    for (uint32_t i = 0; i < entry->file_count; i++)
        free(entry->files[i]);
    for (uint32_t i = 0; i < entry->at_count; i++)
        free(entry->at[i]);
    free(entry->at);
    free(entry->files);
    free(entry->replicas);
    free(entry->name);
    free(entry->owner);
    free(entry->by);
    *entry = (struct file_entry){0};
}

static char *text_dup(const char *text)
{
    return text ? mem_dup(text, strlen(text)) : NULL;
}

/* A copy of texts, in an array with room for one more. */
static char **texts_dup(char *const *texts, uint32_t count)
{
    char **copy = mem_alloc((count + 1) * sizeof *copy);

    for (uint32_t i = 0; i < count; i++)
        copy[i] = text_dup(texts[i]);
    return copy;
}

void file_entry_copy(const struct file_entry *entry, struct file_entry *ret)
{
    *ret = (struct file_entry){
        .name = text_dup(entry->name), .owner = text_dup(entry->owner), .by = text_dup(entry->by), .size = entry->size};
    memcpy(ret->hash, entry->hash, sizeof ret->hash);
    for (uint32_t i = 0; i < entry->count; i++)
        (void)file_replica_put(ret, entry->replicas[i].store, entry->replicas[i].url, NULL);
    ret->copies = entry->copies;
    ret->at = entry->at ? texts_dup(entry->at, entry->at_count) : NULL;
    ret->at_count = entry->at_count;
    ret->files = entry->files ? texts_dup(entry->files, entry->file_count) : NULL;
    ret->file_count = entry->file_count;
}

void file_keep_take(struct file_entry *entry, struct file_entry *wish)
{
    for (uint32_t i = 0; i < entry->at_count; i++)
        free(entry->at[i]);
    free(entry->at);
    entry->copies = wish->copies;
    entry->at = wish->at;
    entry->at_count = wish->at_count;
    wish->at = NULL;
    wish->copies = wish->at_count = 0;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

/* The text of an attribute, if it is good; NULL: it is not, or with `*ret_missing` there is none. */
static char *text_read(const struct tree *ad, const char *name, bool (*good)(const char *, size_t), bool *ret_missing)
{
    const char *text;
    size_t len;

    *ret_missing = !ad_find(ad, name);
    return ad_string(ad, name, &text, &len) && !memchr(text, '\0', len) && good(text, len) ? mem_dup(text, len) : NULL;
}

static int replica_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    bool missing;
    char *store = text_read(ad, "Store", file_store_is_good, &missing);
    char *url = text_read(ad, "Url", file_url_is_good, &missing);
    int failed = 0;

    if (!store)
        failed = err_set(err, "Store: expected the name of a store, of up to %d bytes", FILE_STORE_MAX);
    else if (!url)
        failed = err_set(err, "Url: expected a URL of file, http, https or sftp without a password");
    else if (file_replica_find(entry, store) >= 0)
        failed = err_set(err, "Store: '%s' is there twice", store);
    else
        failed = file_replica_put(entry, store, url, err);
    free(store);
    free(url);
    return failed;
}

static int replicas_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    const struct expr *list = ad_find(ad, "Replicas");
    const struct expr *parts = list && list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;
    int failed = 0;

    if (!list)
        return 0;
    if (list->kind != EXPR_LIST)
        return err_set(err, "Replicas: expected a list of ads");
    for (uint32_t i = 0; !failed && i < list->u.run.count; i++) {
        struct tree *part = ad_part(ad, &parts[i]);

        failed = parts[i].kind == EXPR_AD ? replica_read(part, entry, err)
                                          : err_set(err, "expected an ad with Store and Url");
        tree_unref(part);
        if (failed)
            err_context(err, "Replicas[%u]", i);
    }
    return failed;
}

/* Adds a store to those that are to have the file. */
static int at_add(const struct tree *ad, const struct expr *e, struct file_entry *entry, struct err *err)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    if (memchr(text, '\0', len) || !file_store_is_good(text, len))
        return err_set(err, "CopiesAt: expected a list of names of stores");
    for (uint32_t i = 0; i < entry->at_count; i++)
        if (strlen(entry->at[i]) == len && !memcmp(entry->at[i], text, len))
            return err_set(err, "CopiesAt: '%s' is there twice", entry->at[i]);
    entry->at[entry->at_count++] = mem_dup(text, len);
    return 0;
}

static int keep_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    const struct expr *list = ad_find(ad, "CopiesAt");
    int64_t copies = 0;
    int failed = 0;

    if (ad_find(ad, "Copies") && (!ad_integer(ad, "Copies", &copies) || copies < 0 || copies > FILE_REPLICAS_MAX))
        return err_set(err, "Copies: expected a whole number up to %d", FILE_REPLICAS_MAX);
    entry->copies = (uint32_t)copies;
    if (!list || !copies)
        return 0;
    if (list->kind != EXPR_LIST || list->u.run.count > FILE_REPLICAS_MAX)
        return err_set(err, "CopiesAt: expected a list of up to %d names of stores", FILE_REPLICAS_MAX);
    if (list->u.run.count && list->u.run.count < entry->copies)
        return err_set(err, "CopiesAt: %u stores cannot have %u copies", list->u.run.count, entry->copies);
    entry->at = list->u.run.count ? mem_alloc(list->u.run.count * sizeof *entry->at) : NULL;
    for (uint32_t i = 0; !failed && i < list->u.run.count; i++)
        failed = at_add(ad, &tree_parts(ad, list)[i], entry, err);
    return failed;
}

int file_keep_read(const struct tree *ad, struct file_entry *ret, struct err *err)
{
    struct file_entry entry = {0};

    if (keep_read(ad, &entry, err) < 0) {
        file_entry_done(&entry);
        return -1;
    }
    *ret = entry;
    return 0;
}

static int facts_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    bool missing;
    char *hash;

    if (!ad_integer(ad, "Size", &entry->size) || entry->size < 0)
        return err_set(err, "Size: expected the number of bytes");
    hash = text_read(ad, "Hash", file_hash_is_good, &missing);
    if (!hash)
        return err_set(err, "Hash: expected \"sha256:\" and 64 lower-case hexadecimal digits");
    memcpy(entry->hash, hash, FILE_HASH_LEN + 1);
    free(hash);
    return 0;
}

/* Adds a name to a dataset; `seen` has those before it. */
static int file_add(const struct tree *ad, const struct expr *e, struct file_entry *entry, struct textmap *seen,
                    struct err *err)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    if (!file_name_is_good(text, len))
        return err_set(err, "Files: expected a list of names of files");
    if (textmap_find(seen, text, len) != TEXTMAP_NONE)
        return err_set(err, "Files: '%.*s' is there twice", (int)len, text);
    (void)textmap_add(seen, text, len);
    entry->files[entry->file_count++] = mem_dup(text, len);
    return 0;
}

/* The hash of a dataset: of its names, a line each. */
static void dataset_hash(struct file_entry *entry)
{
    struct buf lines;

    buf_init(&lines);
    for (uint32_t i = 0; i < entry->file_count; i++)
        buf_addf(&lines, "%s\n", entry->files[i]);
    memcpy(entry->hash, "sha256:", FILE_HASH_DIGITS_AT);
    hash_bytes(lines.text, lines.len, entry->hash + FILE_HASH_DIGITS_AT);
    buf_done(&lines);
}

static int dataset_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    static const char *const others[] = {"Size", "Hash", "Replicas", "Copies", "CopiesAt"};
    const struct expr *list = ad_find(ad, "Files");
    struct textmap seen;
    int failed = 0;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ad_find(ad, others[i]))
            return err_set(err, "Files: a dataset has no %s", others[i]);
    if (list->kind != EXPR_LIST || !list->u.run.count || list->u.run.count > FILE_DATASET_MAX)
        return err_set(err, "Files: expected a list of 1 to %d names of files", FILE_DATASET_MAX);
    entry->files = mem_alloc(list->u.run.count * sizeof *entry->files);
    textmap_init(&seen, 0);
    for (uint32_t i = 0; !failed && i < list->u.run.count; i++)
        failed = file_add(ad, &tree_parts(ad, list)[i], entry, &seen, err);
    textmap_done(&seen);
    if (!failed)
        dataset_hash(entry);
    return failed;
}

static int names_read(const struct tree *ad, struct file_entry *entry, struct err *err)
{
    bool missing;

    entry->name = text_read(ad, "Name", file_name_is_good, &missing);
    if (!entry->name && !missing)
        return err_set(err, "Name: up to %d bytes, parts with '/' between, none of them empty, \".\" or \"..\"",
                       FILE_NAME_MAX);
    entry->owner = text_read(ad, "Owner", subject_valid, &missing);
    if (!entry->owner && !missing)
        return err_set(err, "Owner: expected the name of a user");
    entry->by = text_read(ad, "By", subject_valid, &missing);
    return entry->by || missing ? 0 : err_set(err, "By: expected the name of a user");
}

int file_entry_read(const struct tree *ad, struct file_entry *ret, struct err *err)
{
    struct file_entry entry = {0};

    if (names_read(ad, &entry, err) < 0 ||
        (ad_find(ad, "Files") ? dataset_read(ad, &entry, err) < 0
                              : facts_read(ad, &entry, err) < 0 || replicas_read(ad, &entry, err) < 0 ||
                                    keep_read(ad, &entry, err) < 0)) {
        file_entry_done(&entry);
        return -1;
    }
    *ret = entry;
    return 0;
}

int file_addition_read(const struct tree *ad, struct file_entry *ret, struct err *err)
{
    struct file_entry entry = {0};

    if (names_read(ad, &entry, err) < 0 || facts_read(ad, &entry, err) < 0 || replica_read(ad, &entry, err) < 0) {
        file_entry_done(&entry);
        return -1;
    }
    *ret = entry;
    return 0;
}

struct tree *file_entry_ad(const struct file_entry *entry, struct symbols *symbols)
{
    struct tree *replicas[FILE_REPLICAS_MAX];
    struct maker maker;

    for (uint32_t i = 0; i < entry->count; i++) {
        maker_init(&maker, symbols);
        maker_text(&maker, "Store", entry->replicas[i].store);
        maker_text(&maker, "Url", entry->replicas[i].url);
        replicas[i] = maker_seal(&maker);
    }
    maker_init(&maker, symbols);
    maker_text(&maker, "Name", entry->name);
    if (entry->files) {
        maker_texts(&maker, "Files", (const char *const *)entry->files, entry->file_count);
    } else {
        maker_integer(&maker, "Size", entry->size);
        maker_text(&maker, "Hash", entry->hash);
        maker_list(&maker, "Replicas", replicas, entry->count);
        if (entry->copies)
            maker_integer(&maker, "Copies", entry->copies);
        if (entry->at)
            maker_texts(&maker, "CopiesAt", (const char *const *)entry->at, entry->at_count);
    }
    maker_text(&maker, "Owner", entry->owner);
    maker_text(&maker, "By", entry->by);
    for (uint32_t i = 0; i < entry->count; i++)
        tree_unref(replicas[i]);
    return maker_seal(&maker);
}

/* ---------------------------------------------------------------------------------------------------------- comparing */

/* Adds words for the replicas that the first entry has and the second lacks. */
static void replicas_compare(const struct file_entry *has, const struct file_entry *lacks, const char *lacks_name,
                             struct buf *words)
{
    for (uint32_t i = 0; i < has->count; i++)
        if (file_replica_find(lacks, has->replicas[i].store) < 0)
            buf_addf(words, "%s%s has no replica in %s", words->len ? "; " : "", lacks_name, has->replicas[i].store);
}

/* Adds words where other numbers of copies, or other stores for them, are wished for. */
static void keeps_compare(const struct file_entry *left, const struct file_entry *right, struct buf *words)
{
    bool same = left->copies == right->copies && left->at_count == right->at_count;

    for (uint32_t i = 0; same && i < left->at_count; i++)
        same = !strcmp(left->at[i], right->at[i]);
    if (!same)
        buf_addf(words, "%sthe copies that are to be kept are %u and %u%s", words->len ? "; " : "", left->copies,
                 right->copies, left->copies == right->copies ? ", in other stores" : "");
}

static void urls_compare(const struct file_entry *left, const struct file_entry *right, struct buf *words)
{
    for (uint32_t i = 0; i < left->count; i++) {
        int there = file_replica_find(right, left->replicas[i].store);

        if (there >= 0 && strcmp(left->replicas[i].url, right->replicas[there].url) != 0)
            buf_addf(words, "%sthe replica in %s is %s and %s", words->len ? "; " : "", left->replicas[i].store,
                     left->replicas[i].url, right->replicas[there].url);
    }
}

bool file_entry_compare(const struct file_entry *left, const struct file_entry *right, const char *left_name,
                        const char *right_name, struct buf *words, bool *ret_differ)
{
    struct buf found;
    bool any;

    *ret_differ = false;
    buf_init(&found);
    if (!left || !right) {
        if (left || right)
            buf_addf(&found, "%s does not have it", left ? right_name : left_name);
    } else {
        if (left->files || right->files)
            buf_adds(&found, !strcmp(left->hash, right->hash) ? ""
                             : !left->files || !right->files  ? "one has a dataset of that name, the other a file"
                                                              : "the files of the dataset are others");
        else if (left->size != right->size)
            buf_addf(&found, "its size is %" PRId64 " and %" PRId64, left->size, right->size);
        if (!left->files && !right->files && strcmp(left->hash, right->hash) != 0)
            buf_addf(&found, "%sits hash is %s and %s", found.len ? "; " : "", left->hash, right->hash);
        *ret_differ = found.len > 0;
        if (!left->files && !right->files) {
            replicas_compare(left, right, right_name, &found);
            replicas_compare(right, left, left_name, &found);
            urls_compare(left, right, &found);
            keeps_compare(left, right, &found);
        }
    }
    buf_add(words, found.text, found.len);
    any = found.len > 0;
    buf_done(&found);
    return any;
}
