/* uploads_rows.c: transfer requests on the shelf: a row for each try, under claim and number. */
#include "live/providerd/uploads_parts.h"

#include "lang/base/mem.h"
#include "live/data/job_uploads.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shipment_key(unsigned char ret[16], uint64_t claim, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        ret[i] = (unsigned char)(claim >> (56 - 8 * i));
        ret[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    }
}

struct tree *parcel_ad(const struct shipment *shipment, const struct parcel *parcel)
{
    struct maker maker;

    maker_init(&maker, shipment->workshop->daemon.symbols);
    maker_text(&maker, "File", parcel->file);
    maker_text(&maker, "Name", parcel->name);
    maker_text(&maker, "State", parcel_state_word(parcel->state));
    if (parcel->state == PARCEL_WAITS || parcel->state == PARCEL_STORED)
        maker_integer(&maker, "Size", parcel->size);
    maker_text(&maker, "Hash", *parcel->hash ? parcel->hash : NULL);
    maker_text(&maker, "Store", parcel->store);
    maker_text(&maker, "Url", parcel->state == PARCEL_STORED ? parcel->url : NULL);
    maker_text(&maker, "Why", *parcel->words ? parcel->words : NULL);
    return maker_seal(&maker);
}

/* With what is nobody else's business. */
static struct tree *parcel_row(const struct shipment *shipment, const struct parcel *parcel)
{
    struct tree *ad = parcel_ad(shipment, parcel), *row;
    struct maker maker;

    maker_init(&maker, shipment->workshop->daemon.symbols);
    maker_parts(&maker, ad, NULL);
    maker_text(&maker, "Wanted", parcel->wanted);
    maker_flag(&maker, "Registered", parcel->registered);
    maker_flag(&maker, "Told", parcel->told);
    maker_integer(&maker, "Since", parcel->since);
    row = maker_seal(&maker);
    tree_unref(ad);
    return row;
}

void shipment_store(struct shipment *shipment)
{
    struct workshop *workshop = shipment->workshop;
    struct shelf *shelf = workshop->daemon.shelf;
    struct tree **ads = mem_alloc((shipment->count + 1) * sizeof(struct tree *)), *row;
    unsigned char key[16];
    struct err err = {0};
    struct maker maker;
    struct buf text;

    for (uint32_t i = 0; i < shipment->count; i++)
        ads[i] = parcel_row(shipment, &shipment->parcels[i]);
    maker_init(&maker, workshop->daemon.symbols);
    inquiry_write(&maker, &shipment->inquiry, shipment->claim);
    maker_ad(&maker, "Ad", shipment->job);
    maker_ad(&maker, "Receipt", shipment->receipt);
    maker_texts(&maker, "Stores", (const char *const *)shipment->stores, shipment->store_count);
    maker_flag(&maker, "Elsewhere", shipment->elsewhere);
    maker_flag(&maker, "Accepted", shipment->accepted);
    maker_integer(&maker, "Began", shipment->began);
    maker_list(&maker, "Files", ads, shipment->count);
    row = maker_seal(&maker);
    buf_init(&text);
    wire_print(&text, row);
    shipment_key(key, shipment->claim, shipment->number);
    if (shelf->kind->put(shelf, SHIPMENT_SPACE, key, sizeof key, text.text, text.len, &err) < 0)
        LOG(&workshop->daemon.log, LEVEL_ERROR, "transfers", log_text("why", err.text));
    runner_commit(agent_runner(workshop->live), NULL, NULL);
    buf_done(&text);
    tree_unref(row);
    for (uint32_t i = 0; i < shipment->count; i++)
        tree_unref(ads[i]);
    free(ads);
}

void shipment_forget(const struct shipment *shipment)
{
    struct workshop *workshop = shipment->workshop;
    struct shelf *shelf = workshop->daemon.shelf;
    unsigned char key[16];
    struct err err = {0};

    shipment_key(key, shipment->claim, shipment->number);
    if (shelf->kind->remove(shelf, SHIPMENT_SPACE, key, sizeof key, &err) == 0)
        runner_commit(agent_runner(workshop->live), NULL, NULL);
    else
        LOG(&workshop->daemon.log, LEVEL_ERROR, "transfers", log_text("why", err.text));
}

/* ---------------------------------------------------------------------------------------------------------------- loading */

static void text_load(const struct tree *ad, const char *name, char **ret)
{
    const char *text;
    size_t len;

    if (ad_string(ad, name, &text, &len) && len)
        *ret = mem_dup(text, len);
}

static void parcel_load(const struct tree *ad, struct shipment *shipment, struct parcel *ret)
{
    const char *text;
    size_t len;

    *ret = (struct parcel){.shipment = shipment};
    text_load(ad, "File", &ret->file);
    text_load(ad, "Name", &ret->name);
    text_load(ad, "Wanted", &ret->wanted);
    text_load(ad, "Store", &ret->store);
    text_load(ad, "Url", &ret->url);
    ad_integer(ad, "Size", &ret->size);
    ad_integer(ad, "Since", &ret->since);
    ad_flag(ad, "Registered", &ret->registered);
    ad_flag(ad, "Told", &ret->told);
    if (ad_string(ad, "Hash", &text, &len) && file_hash_is_good(text, len))
        memcpy(ret->hash, text, len);
    if (ad_string(ad, "Why", &text, &len))
        snprintf(ret->words, sizeof ret->words, "%.*s", (int)len, text);
    for (int i = 0; ad_string(ad, "State", &text, &len) && i < PARCEL_STATE_COUNT; i++)
        if (strlen(parcel_state_word((enum parcel_state)i)) == len &&
            !memcmp(text, parcel_state_word((enum parcel_state)i), len))
            ret->state = (enum parcel_state)i;
    if (!ret->file)
        parcel_text(&ret->file, "");
    if (!ret->name)
        parcel_text(&ret->name, ret->file);
}

static void parcels_load(struct shipment *shipment, const struct tree *row, const struct expr *list)
{
    shipment->parcels = mem_alloc((list->u.run.count + 1) * sizeof *shipment->parcels);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *one = ad_part(row, &tree_parts(row, list)[i]);

        if (tree_is_ad(one))
            parcel_load(one, shipment, &shipment->parcels[shipment->count++]);
        tree_unref(one);
    }
}

static void stores_load(struct shipment *shipment, const struct tree *row, const struct expr *list)
{
    shipment->stores = mem_alloc((list->u.run.count + 1) * sizeof *shipment->stores);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *name = &tree_parts(row, list)[i];

        if (name->kind == EXPR_STRING)
            shipment->stores[shipment->store_count++] = mem_dup(tree_string(row, name), name->u.run.count);
    }
}

struct shipment *shipment_load(struct workshop *workshop, uint64_t claim, uint64_t number, const struct tree *row)
{
    const struct expr *files = ad_find(row, "Files"), *stores = ad_find(row, "Stores"), *ad = ad_find(row, "Ad");
    const struct expr *receipt = ad_find(row, "Receipt");
    struct shipment *shipment;
    struct inquiry inquiry;

    if (!files || files->kind != EXPR_LIST || !stores || stores->kind != EXPR_LIST || !ad || ad->kind != EXPR_AD ||
        !inquiry_read(row, claim, number, &inquiry))
        return NULL;
    shipment = mem_alloc(sizeof *shipment);
    *shipment = (struct shipment){
        .workshop = workshop, .claim = claim, .number = number, .inquiry = inquiry, .job = ad_part(row, ad)};
    if (receipt && receipt->kind == EXPR_AD)
        shipment->receipt = ad_part(row, receipt);
    ad_flag(row, "Elsewhere", &shipment->elsewhere);
    ad_flag(row, "Accepted", &shipment->accepted);
    ad_integer(row, "Began", &shipment->began);
    parcels_load(shipment, row, files);
    stores_load(shipment, row, stores);
    return shipment;
}
