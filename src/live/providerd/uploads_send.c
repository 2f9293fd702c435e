/* uploads_send.c: a file's way to a store: sent, registered in the catalogues, told to the customer; again and again until it is.
 *
 *     it fails  -> a pause, which grows -> the same store; after TransferPatience, or when that refuses, the next one
 *     it is there -> the row says so -> the catalogues -> the customer acknowledges -> the file goes here */
#include "live/providerd/uploads_parts.h"

#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "live/http/represent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MAX 100 /* files in one question */
#define PARTLY_MAX 8 /* times that two catalogues are told of a file, of which one does not answer */

/* ------------------------------------------------------------------------------------------------------------------- pauses */

static void parcel_pause(struct parcel *parcel)
{
    parcel->pause = parcel->pause ? parcel->pause * 2 : SHIPMENT_PAUSE_MIN;
    if (parcel->pause > SHIPMENT_PAUSE_MAX)
        parcel->pause = SHIPMENT_PAUSE_MAX;
    parcel->due = runner_now() + parcel->pause;
}

/* This store does not have it now. Is it the turn of another? */
static void parcel_failed(struct shipment *shipment, struct parcel *parcel, bool refused, const char *words)
{
    struct workshop *workshop = shipment->workshop;
    int64_t now = shipment_now(shipment), patience = config_span(&workshop->daemon.config, CONFIG_TRANSFER_PATIENCE);
    bool known = !strcmp(parcel->words, words), first = !parcel->since;

    LOG(&workshop->daemon.log, known ? LEVEL_DEBUG : LEVEL_WARNING, "transfer.failed",
        log_word("claim", shipment->claim), log_text("name", parcel->name), log_text("store", parcel->store),
        log_text("why", words));
    snprintf(parcel->words, sizeof parcel->words, "%s", words);
    parcel->since = parcel->since ? parcel->since : now;
    if (refused || (now - parcel->since) * SECOND >= patience) {
        if (store_next(shipment, parcel))
            parcel->pause = 0; /* it is not that one's fault */
        parcel->changed = first = true;
    }
    parcel->changed = parcel->changed || !known;
    parcel->free = false; /* before it is sent again: meanwhile another may have come by the name */
    parcel_pause(parcel);
    if (first)
        shipment_store(shipment);
}

/* ------------------------------------------------------------------------------------------------------------------ sending */

/* A thread has done with it. False: nobody wants to know. */
static bool parcel_is_back(struct parcel *parcel, const struct transfer_result *result)
{
    struct shipment *shipment = parcel->shipment;
    struct shipments *shipments = shipment->workshop->shipments;

    shipments->going--;
    parcel->run = NULL;
    return !shipments->closing && !shipment->gone && result->end != TRANSFER_CANCELLED;
}

static void parcel_begin(struct parcel *parcel, enum transfer_way way, transfer_done_fn *done)
{
    struct shipment *shipment = parcel->shipment;
    struct shipments *shipments = shipment->workshop->shipments;
    struct transfer_order order = {.way = way, .url = parcel->url, .size = parcel->size};
    char path[DAEMON_PATH_MAX + 32];

    shipment_path(shipment, (uint32_t)(parcel - shipment->parcels), path, sizeof path);
    order.path = path;
    shipments->going++;
    parcel->run = transfer_start(&shipment->workshop->daemon.loop, shipments->rules, &order, done, parcel);
}

static void parcel_seen(void *user, const struct transfer_result *result)
{
    struct parcel *parcel = user;
    struct shipment *shipment = parcel->shipment;

    if (!parcel_is_back(parcel, result))
        return;
    if (result->end == TRANSFER_DONE) {
        memcpy(parcel->hash, result->entry, sizeof parcel->hash);
        shipment_store(shipment);
    } else {
        parcel_end(shipment, parcel, PARCEL_LOST, result->words);
    }
    shipments_tick(shipment->workshop);
}

void parcel_look(struct shipment *shipment, struct parcel *parcel)
{
    (void)shipment;
    parcel_begin(parcel, TRANSFER_LOOK, parcel_seen);
}

static void parcel_sent(void *user, const struct transfer_result *result)
{
    struct parcel *parcel = user;
    struct shipment *shipment = parcel->shipment;

    if (!parcel_is_back(parcel, result))
        return;
    if (result->end == TRANSFER_DONE || result->end == TRANSFER_AGAIN)
        store_fared(shipment->workshop->shipments, parcel->store, result->end == TRANSFER_DONE ? NULL : result->words);
    if (result->end == TRANSFER_DONE && strcmp(result->entry, parcel->hash) != 0) {
        parcel_end(shipment, parcel, PARCEL_LOST, "the file has changed");
    } else if (result->end == TRANSFER_DONE) {
        parcel_end(shipment, parcel, PARCEL_STORED, NULL);
    } else if (result->end == TRANSFER_DAMAGED) {
        parcel_end(shipment, parcel, PARCEL_LOST, result->words);
    } else {
        parcel_failed(shipment, parcel, result->end == TRANSFER_REFUSED, result->words);
    }
    shipments_tick(shipment->workshop);
}

void parcel_dispatch(struct shipment *shipment, struct parcel *parcel)
{
    struct store_place place;
    struct err err = {0};
    const char *trouble;
    struct buf url;

    if (!store_choose(shipment, parcel, &place, &err)) {
        parcel_failed(shipment, parcel, false, err.text);
        return;
    }
    trouble = store_trouble(shipment->workshop->shipments, place.name);
    if (trouble) {
        parcel_failed(shipment, parcel, false, trouble);
        return;
    }
    buf_init(&url);
    store_url(&place, parcel->name, &url);
    parcel_text(&parcel->url, buf_string(&url));
    buf_done(&url);
    parcel_begin(parcel, TRANSFER_PUT, parcel_sent);
    LOG(&shipment->workshop->daemon.log, LEVEL_INFO, "transfer.begin", log_word("claim", shipment->claim),
        log_text("name", parcel->name), log_text("url", parcel->url));
}

/* -------------------------------------------------------------------------------------------------------------- registering */

/* Another file of that name must not be overwritten where it lies: somebody has to decide. */
static void name_answered(void *user, const struct catalogue_answer *answer)
{
    struct parcel *parcel = user;
    struct shipment *shipment = parcel->shipment;
    char words[TRANSFER_WORDS_MAX];
    bool other = answer->result == CATALOGUE_DIFFER ||
                 (answer->result == CATALOGUE_FOUND &&
                  (answer->entry->size != parcel->size || strcmp(answer->entry->hash, parcel->hash) != 0));

    parcel->registering = 0;
    if (shipment->gone)
        return;
    if (answer->result == CATALOGUE_NONE || (answer->result == CATALOGUE_FOUND && !other)) {
        parcel->free = true;
        shipments_tick(shipment->workshop);
        return;
    }
    snprintf(words, sizeof words, "%s",
             other ? "the catalogue has another file of that name; `berth files rm` forgets it"
                   : "no catalogue answers");
    parcel->changed = parcel->changed || strcmp(words, parcel->words) != 0;
    memcpy(parcel->words, words, sizeof words);
    parcel_pause(parcel);
}

void parcel_check(struct shipment *shipment, struct parcel *parcel)
{
    parcel->registering = catalogues_find(shipment->workshop->catalogues, parcel->name, name_answered, parcel);
}

/* Said once, or given up: what one catalogue lacks `berth files check` finds. */
static void parcel_registered(struct parcel *parcel, const char *words)
{
    struct shipment *shipment = parcel->shipment;

    LOG(&shipment->workshop->daemon.log, *words ? LEVEL_WARNING : LEVEL_INFO, "transfer.registered",
        log_word("claim", shipment->claim), log_text("name", parcel->name), log_text("url", parcel->url),
        log_text("why", *words ? words : NULL));
    parcel->registered = true;
    snprintf(parcel->words, sizeof parcel->words, "%.200s", words);
    shipment_store(shipment);
    shipments_tick(shipment->workshop);
}

static void catalogues_answered(void *user, const struct catalogue_answer *answer)
{
    struct parcel *parcel = user;

    parcel->registering = 0;
    if (parcel->shipment->gone)
        return;
    if (answer->result == CATALOGUE_SILENT || (answer->result == CATALOGUE_PARTLY && parcel->asked < PARTLY_MAX))
        parcel_pause(parcel);
    else
        parcel_registered(parcel, answer->words);
}

void parcel_register(struct shipment *shipment, struct parcel *parcel)
{
    struct file_replica replica = {parcel->store, parcel->url};
    struct file_entry entry = {.name = parcel->name, .size = parcel->size, .replicas = &replica, .count = 1};
    const char *owner;
    size_t len;

    memcpy(entry.hash, parcel->hash, sizeof entry.hash);
    if (ad_string(shipment->job, "Owner", &owner, &len) && len)
        entry.owner = mem_dup(owner, len);
    parcel->asked++;
    parcel->registering = catalogues_add(
        shipment->workshop->catalogues, &entry,
        &(struct catalogue_right){.agent = shipment->workshop->daemon.name, .receipt = shipment->receipt},
        catalogues_answered, parcel);
    free(entry.owner);
}

/* ------------------------------------------------------------------------------------------------------------------ telling */

/* Is there something that the customer should hear? What is stored is told when the catalogues have it. */
static bool parcel_has_news(const struct parcel *parcel)
{
    if (parcel->told)
        return false;
    return parcel->changed || parcel->state == PARCEL_NONE || parcel->state == PARCEL_LOST ||
           (parcel->state == PARCEL_STORED && parcel->registered);
}

bool shipment_has_news(const struct shipment *shipment)
{
    for (uint32_t i = 0; i < shipment->count; i++)
        if (parcel_has_news(&shipment->parcels[i]))
            return true;
    return false;
}

struct telling {
    struct shipment *shipment;
    uint32_t count;
    struct {
        uint32_t place;
        bool final;
    } items[TELL_MAX];
};

static void tell_pause(struct shipment *shipment)
{
    shipment->tell_pause = shipment->tell_pause ? shipment->tell_pause * 2 : SHIPMENT_PAUSE_MIN / 4;
    if (shipment->tell_pause > SHIPMENT_PAUSE_MAX)
        shipment->tell_pause = SHIPMENT_PAUSE_MAX;
    shipment->tell_due = runner_now() + shipment->tell_pause;
}

static void told(void *user, const struct tree *answer)
{
    struct telling *telling = user;
    struct shipment *shipment = telling->shipment;
    struct shipments *shipments = shipment->workshop->shipments;

    shipment->asking = false;
    if (shipments->closing || shipment->gone) {
        free(telling);
        return;
    }
    if (answer && answer_is(answer, "ok")) {
        shipment->tell_pause = shipment->tell_due = 0;
        shipment->accepted = true;
        for (uint32_t i = 0; i < telling->count; i++)
            if (telling->items[i].final)
                parcel_close(shipment, &shipment->parcels[telling->items[i].place]);
        shipment_store(shipment);
    } else if (answer && answer_is(answer, "stale")) {
        LOG(&shipment->workshop->daemon.log, LEVEL_INFO, "transfers.unwanted", log_word("claim", shipment->claim));
        shipment_drop(shipment);
    } else {
        for (uint32_t i = 0; i < telling->count; i++)
            shipment->parcels[telling->items[i].place].changed = true;
        tell_pause(shipment);
    }
    free(telling);
    shipments_tick(shipment->workshop);
}

/* The list of what is new; each file's own word is for good once it is not "waits". */
static struct tree *question_of(struct shipment *shipment, struct telling *telling)
{
    struct tree *ads[TELL_MAX], *question;
    struct maker maker;

    for (uint32_t i = 0; i < shipment->count && telling->count < TELL_MAX; i++) {
        struct parcel *parcel = &shipment->parcels[i];

        if (!parcel_has_news(parcel))
            continue;
        parcel->changed = false;
        ads[telling->count] = parcel_ad(shipment, parcel);
        telling->items[telling->count].place = i;
        telling->items[telling->count++].final =
            parcel->state != PARCEL_WAITS && (parcel->state != PARCEL_STORED || parcel->registered);
    }
    question_begin(&maker, shipment->workshop, "stored", &shipment->inquiry);
    maker_integer(&maker, "Total", shipment->count);
    maker_list(&maker, "Files", ads, telling->count);
    for (uint32_t i = 0; i < telling->count; i++)
        tree_unref(ads[i]);
    question = maker_seal(&maker);
    return question;
}

void shipment_tell(struct shipment *shipment)
{
    struct telling *telling = mem_alloc(sizeof *telling);
    struct tree *question;

    *telling = (struct telling){.shipment = shipment};
    question = question_of(shipment, telling);
    shipment->asking = true;
    if (!agent_ask(shipment->workshop->live, shipment->inquiry.customer, question, told, telling)) {
        shipment->asking = false;
        for (uint32_t i = 0; i < telling->count; i++)
            shipment->parcels[telling->items[i].place].changed = true;
        tell_pause(shipment);
        free(telling);
    }
    tree_unref(question);
}
