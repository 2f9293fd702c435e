/* stored.c: what became of the files that a try leaves for stores. */
#include "live/data/stored.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "live/data/job_uploads.h"
#include "live/data/storage.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 256

static const char *const states[] = {"waits", "stored", "not made", "lost"}; /* all but the first are for good */

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return true;
}

static int state_of(const struct tree *file)
{
    const char *text;
    size_t len;

    if (ad_string(file, "State", &text, &len))
        for (int i = 0; i < (int)(sizeof states / sizeof *states); i++)
            if (strlen(states[i]) == len && !memcmp(states[i], text, len))
                return i;
    return -1;
}

static bool text_same(const struct tree *a, const struct tree *b, const char *name)
{
    const char *left = "", *right = "";
    size_t left_len = 0, right_len = 0;

    ad_string(a, name, &left, &left_len);
    ad_string(b, name, &right, &right_len);
    return left_len == right_len && !memcmp(left, right, left_len);
}

/* Takes over a text attribute, if it can be shown; false: it cannot, or is too long. */
static bool text_take(struct maker *maker, const struct tree *told, const char *name, size_t max)
{
    const char *text;
    size_t len;

    if (!ad_find(told, name))
        return true;
    if (!ad_string(told, name, &text, &len) || len > max || !is_plain(text, len))
        return false;
    maker_bytes(maker, name, text, len);
    return true;
}

/* The ad of a file as it is kept, with only what is known here. NULL: what was told is malformed. */
static struct tree *file_take(struct symbols *symbols, const struct tree *told)
{
    struct maker maker;
    const char *text;
    int64_t size;
    size_t len;
    bool good;
    struct tree *file;

    if (!tree_is_ad(told) || state_of(told) < 0 || !ad_string(told, "Name", &text, &len) ||
        !file_name_is_good(text, len) ||
        (ad_find(told, "Hash") && (!ad_string(told, "Hash", &text, &len) || !file_hash_is_good(text, len))))
        return NULL;
    maker_init(&maker, symbols);
    good = text_take(&maker, told, "File", 1024) && text_take(&maker, told, "Name", FILE_NAME_MAX) &&
           text_take(&maker, told, "State", 16) && text_take(&maker, told, "Store", STORE_NAME_MAX) &&
           text_take(&maker, told, "Url", FILE_URL_MAX) && text_take(&maker, told, "Hash", FILE_HASH_LEN) &&
           text_take(&maker, told, "Why", WORDS_MAX);
    if (ad_integer(told, "Size", &size) && size >= 0)
        maker_integer(&maker, "Size", size);
    file = maker_seal(&maker);
    if (good)
        return file;
    tree_unref(file);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ merging */

struct files {
    struct tree *items[JOB_UPLOADS_MAX];
    uint32_t count;
};

static void files_load(struct files *files, const struct tree *ad)
{
    const struct expr *list = ad ? ad_find(ad, "Files") : NULL;

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count && files->count < JOB_UPLOADS_MAX;
         i++)
        files->items[files->count++] = ad_part(ad, &tree_parts(ad, list)[i]);
}

static void text_add(struct buf *out, const char *before, const struct tree *file, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(file, name, &text, &len) || !len)
        return;
    buf_adds(out, before);
    buf_add(out, text, len);
}

static void news_tell(const struct tree *file, stored_news_fn *news, void *user)
{
    int state = state_of(file);
    struct buf words;

    buf_init(&words);
    text_add(&words, "", file, "Name");
    if (state == 1) {
        text_add(&words, " is stored in ", file, "Store");
        text_add(&words, ": ", file, "Url");
    } else if (state == 0) {
        buf_adds(&words, " waits to be stored");
        text_add(&words, " in ", file, "Store");
    } else {
        buf_adds(&words, state == 2 ? " was not made" : " is lost");
    }
    text_add(&words, ": ", file, "Why");
    news(user, buf_string(&words));
    buf_done(&words);
}

/* Puts a file into the list, which takes it. False when there are too many. */
static bool file_put(struct files *files, struct tree *file, stored_news_fn *news, void *user)
{
    for (uint32_t i = 0; i < files->count; i++)
        if (text_same(files->items[i], file, "Name")) {
            bool same = text_same(files->items[i], file, "State") && text_same(files->items[i], file, "Store") &&
                        text_same(files->items[i], file, "Why");

            if (state_of(files->items[i]) > 0) {
                tree_unref(file);
                return true;
            }
            tree_unref(files->items[i]);
            files->items[i] = file;
            if (!same)
                news_tell(file, news, user);
            return true;
        }
    if (files->count == JOB_UPLOADS_MAX) {
        tree_unref(file);
        return false;
    }
    files->items[files->count++] = file;
    if (state_of(file) > 0 || ad_find(file, "Why"))
        news_tell(file, news, user);
    return true;
}

static bool files_take(struct symbols *symbols, struct files *files, const struct tree *told, stored_news_fn *news,
                       void *user)
{
    const struct expr *list = ad_find(told, "Files");

    if (!list || list->kind != EXPR_LIST)
        return false;
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *one = ad_part(told, &tree_parts(told, list)[i]), *file = file_take(symbols, one);

        tree_unref(one);
        if (!file || !file_put(files, file, news, user))
            return false;
    }
    return true;
}

struct tree *stored_merge(struct symbols *symbols, const struct tree *before, const struct tree *told,
                          stored_news_fn *news, void *user)
{
    struct files *files = mem_alloc(sizeof *files);
    struct tree *stored = NULL;
    struct maker maker;
    int64_t total;

    files->count = 0;
    files_load(files, before);
    if (ad_integer(told, "Total", &total) && total >= 0 && total <= JOB_UPLOADS_MAX &&
        files_take(symbols, files, told, news, user) && files->count <= (uint64_t)total) {
        maker_init(&maker, symbols);
        maker_integer(&maker, "Total", total);
        maker_list(&maker, "Files", files->items, files->count);
        stored = maker_seal(&maker);
    }
    for (uint32_t i = 0; i < files->count; i++)
        tree_unref(files->items[i]);
    free(files);
    return stored;
}

struct stored_count stored_count(const struct tree *stored)
{
    const struct expr *list = stored ? ad_find(stored, "Files") : NULL;
    struct stored_count count = {.total = 0};

    if (!stored)
        return count;
    ad_integer(stored, "Total", &count.total);
    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *one = ad_part(stored, &tree_parts(stored, list)[i]);
        int state = state_of(one);

        count.stored += state == 1;
        count.none += state == 2;
        count.lost += state == 3;
        count.over += state > 0;
        tree_unref(one);
    }
    return count;
}
