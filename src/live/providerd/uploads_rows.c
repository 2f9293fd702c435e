/* uploads_rows.c: transfer requests on the shelf: a row for each try, under claim and number. */
#include "live/providerd/uploads_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/job_uploads.h"
#include "pool/protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void upload_key(unsigned char ret[16], uint64_t claim, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        ret[i] = (unsigned char)(claim >> (56 - 8 * i));
        ret[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    }
}

/* Says why a file waits, or what is wrong; and of one that several stores are to have, which have it besides. */
static void kept_words(const struct upload *upload, const struct upload_file *upload_file, struct buf *out)
{
    if (upload_file->kept_count && upload_file->state == UPLOAD_FILE_WAITS)
        buf_addf(out, "%u of %u stores have it: ", upload_file->kept_count, upload->copies);
    else if (upload_file->kept_count)
        buf_adds(out, "also in ");
    for (uint32_t i = 0; i < upload_file->kept_count; i++)
        buf_addf(out, "%s%s", i ? ", " : "", upload_file->kept[i].store);
    buf_addf(out, "%s%s", out->len && *upload_file->words ? "; " : "", upload_file->words);
}

struct tree *upload_file_ad(const struct upload *upload, const struct upload_file *upload_file)
{
    struct maker maker;
    struct buf words;

    buf_init(&words);
    maker_init(&maker, upload->providerd->daemon.symbols);
    maker_text(&maker, "File", upload_file->file);
    maker_text(&maker, "Name", upload_file->name);
    maker_text(&maker, "State", upload_file_state_word(upload_file->state));
    if (upload_file->state == UPLOAD_FILE_WAITS || upload_file->state == UPLOAD_FILE_STORED)
        maker_integer(&maker, "Size", upload_file->size);
    maker_text(&maker, "Hash", *upload_file->hash ? upload_file->hash : NULL);
    maker_text(&maker, "Store", upload_file->store);
    maker_text(&maker, "Url", upload_file->state == UPLOAD_FILE_STORED ? upload_file->url : NULL);
    kept_words(upload, upload_file, &words);
    maker_text(&maker, "Why", words.len ? buf_string(&words) : NULL);
    buf_done(&words);
    return maker_seal(&maker);
}

static void kept_write(struct maker *maker, const struct upload *upload, const struct upload_file *upload_file)
{
    struct tree *ads[JOB_COPIES_MAX];
    struct maker one;

    for (uint32_t i = 0; i < upload_file->kept_count; i++) {
        maker_init(&one, upload->providerd->daemon.symbols);
        maker_text(&one, "Store", upload_file->kept[i].store);
        maker_text(&one, "Url", upload_file->kept[i].url);
        ads[i] = maker_seal(&one);
    }
    if (upload_file->kept_count)
        maker_list(maker, "Kept", ads, upload_file->kept_count);
    for (uint32_t i = 0; i < upload_file->kept_count; i++)
        tree_unref(ads[i]);
}

/* The ad of a file for its row, with what is nobody else's business. */
static struct tree *upload_file_row(const struct upload *upload, const struct upload_file *upload_file)
{
    struct tree *ad = upload_file_ad(upload, upload_file), *row;
    struct maker maker;

    maker_init(&maker, upload->providerd->daemon.symbols);
    maker_parts(&maker, ad, "Why");
    maker_text(&maker, "Why", *upload_file->words ? upload_file->words : NULL);
    kept_write(&maker, upload, upload_file);
    maker_text(&maker, "Wanted", upload_file->wanted);
    maker_flag(&maker, "Registered", upload_file->registered);
    maker_flag(&maker, "Told", upload_file->told);
    maker_integer(&maker, "Since", upload_file->since);
    row = maker_seal(&maker);
    tree_unref(ad);
    return row;
}

void upload_store(struct upload *upload)
{
    struct providerd *providerd = upload->providerd;
    struct shelf *shelf = providerd->daemon.shelf;
    struct tree **ads = mem_alloc((upload->count + 1) * sizeof(struct tree *)), *row;
    unsigned char key[16];
    struct err err = {0};
    struct maker maker;
    struct buf text;

    for (uint32_t i = 0; i < upload->count; i++)
        ads[i] = upload_file_row(upload, &upload->upload_files[i]);
    maker_init(&maker, providerd->daemon.symbols);
    inquiry_write(&maker, &upload->inquiry, upload->claim);
    maker_ad(&maker, "Ad", upload->job);
    maker_ad(&maker, "Receipt", upload->receipt);
    maker_texts(&maker, "Stores", (const char *const *)upload->stores, upload->store_count);
    maker_flag(&maker, "Elsewhere", upload->elsewhere);
    maker_integer(&maker, "Copies", upload->copies);
    maker_flag(&maker, "Accepted", upload->accepted);
    maker_integer(&maker, "Began", upload->began);
    maker_list(&maker, "Files", ads, upload->count);
    row = maker_seal(&maker);
    buf_init(&text);
    wire_print(&text, row);
    upload_key(key, upload->claim, upload->number);
    if (shelf->kind->put(shelf, UPLOAD_SPACE, key, sizeof key, text.text, text.len, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_ERROR, "transfers", log_text("why", err.text));
    runner_commit(agent_runner(providerd->live), NULL, NULL);
    buf_done(&text);
    tree_unref(row);
    for (uint32_t i = 0; i < upload->count; i++)
        tree_unref(ads[i]);
    free(ads);
}

void upload_forget(const struct upload *upload)
{
    struct providerd *providerd = upload->providerd;
    struct shelf *shelf = providerd->daemon.shelf;
    unsigned char key[16];
    struct err err = {0};

    upload_key(key, upload->claim, upload->number);
    if (shelf->kind->remove(shelf, UPLOAD_SPACE, key, sizeof key, &err) == 0)
        runner_commit(agent_runner(providerd->live), NULL, NULL);
    else
        LOG(&providerd->daemon.log, LEVEL_ERROR, "transfers", log_text("why", err.text));
}

/* ---------------------------------------------------------------------------------------------------------------- loading */

static void text_load(const struct tree *ad, const char *name, char **ret)
{
    const char *text;
    size_t len;

    if (ad_string(ad, name, &text, &len) && len)
        *ret = mem_dup(text, len);
}

static void kept_load(const struct tree *ad, struct upload_file *ret)
{
    const struct expr *list = ad_find(ad, "Kept");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count && i < JOB_COPIES_MAX - 1; i++) {
        struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);
        char *store = NULL, *url = NULL;

        if (tree_is_ad(one)) {
            text_load(one, "Store", &store);
            text_load(one, "Url", &url);
        }
        if (store && url)
            upload_file_keep(ret, store, url);
        free(store);
        free(url);
        tree_unref(one);
    }
}

static void upload_file_load(const struct tree *ad, struct upload *upload, struct upload_file *ret)
{
    const char *text;
    size_t len;

    *ret = (struct upload_file){.upload = upload};
    text_load(ad, "File", &ret->file);
    text_load(ad, "Name", &ret->name);
    text_load(ad, "Wanted", &ret->wanted);
    text_load(ad, "Store", &ret->store);
    text_load(ad, "Url", &ret->url);
    kept_load(ad, ret);
    ad_integer(ad, "Size", &ret->size);
    ad_integer(ad, "Since", &ret->since);
    ad_flag(ad, "Registered", &ret->registered);
    ad_flag(ad, "Told", &ret->told);
    if (ad_string(ad, "Hash", &text, &len) && file_hash_is_good(text, len))
        memcpy(ret->hash, text, len);
    if (ad_string(ad, "Why", &text, &len))
        snprintf(ret->words, sizeof ret->words, "%.*s", (int)len, text);
    for (int i = 0; ad_string(ad, "State", &text, &len) && i < UPLOAD_FILE_STATE_COUNT; i++)
        if (strlen(upload_file_state_word((enum upload_file_state)i)) == len &&
            !memcmp(text, upload_file_state_word((enum upload_file_state)i), len))
            ret->state = (enum upload_file_state)i;
    if (!ret->file)
        upload_file_text(&ret->file, "");
    if (!ret->name)
        upload_file_text(&ret->name, ret->file);
}

static void upload_files_load(struct upload *upload, const struct tree *row, const struct expr *list)
{
    upload->upload_files = mem_alloc((list->u.run.count + 1) * sizeof *upload->upload_files);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *one = ad_part(row, &tree_parts(row, list)[i]);

        if (tree_is_ad(one))
            upload_file_load(one, upload, &upload->upload_files[upload->count++]);
        tree_unref(one);
    }
}

static void stores_load(struct upload *upload, const struct tree *row, const struct expr *list)
{
    upload->stores = mem_alloc((list->u.run.count + 1) * sizeof *upload->stores);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *name = &tree_parts(row, list)[i];

        if (name->kind == EXPR_STRING)
            upload->stores[upload->store_count++] = mem_dup(tree_string(row, name), name->u.run.count);
    }
}

struct upload *upload_load(struct providerd *providerd, uint64_t claim, uint64_t number, const struct tree *row)
{
    const struct expr *files = ad_find(row, "Files"), *stores = ad_find(row, "Stores"), *ad = ad_find(row, "Ad");
    const struct expr *receipt = ad_find(row, "Receipt");
    struct upload *upload;
    struct inquiry inquiry;
    int64_t copies;

    if (!files || files->kind != EXPR_LIST || !stores || stores->kind != EXPR_LIST || !ad || ad->kind != EXPR_AD ||
        !inquiry_read(row, claim, number, &inquiry))
        return NULL;
    upload = mem_alloc(sizeof *upload);
    *upload = (struct upload){
        .providerd = providerd, .claim = claim, .number = number, .inquiry = inquiry, .job = ad_part(row, ad)};
    if (receipt && receipt->kind == EXPR_AD)
        upload->receipt = ad_part(row, receipt);
    ad_flag(row, "Elsewhere", &upload->elsewhere);
    ad_flag(row, "Accepted", &upload->accepted);
    ad_integer(row, "Began", &upload->began);
    upload->copies =
        ad_integer(row, "Copies", &copies) && copies > 0 && copies <= JOB_COPIES_MAX ? (uint32_t)copies : 1;
    upload_files_load(upload, row, files);
    stores_load(upload, row, stores);
    return upload;
}
