/* uploads_send.c: a file's way to a store: sent, registered in the catalogues, told to the customer; again and again until it is.
 *
 *     it fails  -> a pause, which grows -> the same store; after TransferPatience, or when that refuses, the next one
 *     it is there -> further stores, where several are to have it -> the row says so -> the catalogues -> the customer acknowledges -> the file goes here */
#include "live/providerd/uploads_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MAX 100 /* files in one question */
#define PARTLY_MAX 8 /* times that two catalogues are told of a file, of which one does not answer */

/* ------------------------------------------------------------------------------------------------------------------- pauses */

static void upload_file_pause(struct upload_file *upload_file)
{
    upload_file->pause = upload_file->pause ? upload_file->pause * 2 : UPLOAD_PAUSE_MIN;
    if (upload_file->pause > UPLOAD_PAUSE_MAX)
        upload_file->pause = UPLOAD_PAUSE_MAX;
    upload_file->due = runner_now() + upload_file->pause;
}

/* A store did not get the file now. Is it the turn of another? */
static void upload_file_failed(struct upload *upload, struct upload_file *upload_file, bool refused, const char *words)
{
    struct providerd *providerd = upload->providerd;
    int64_t now = upload_now(upload), patience = config_span(&providerd->daemon.config, CONFIG_TRANSFER_PATIENCE);
    bool known = !strcmp(upload_file->words, words), first = !upload_file->since;

    LOG(&providerd->daemon.log, known ? LEVEL_DEBUG : LEVEL_WARNING, "transfer.failed",
        log_word("claim", upload->claim), log_text("name", upload_file->name), log_text("store", upload_file->store),
        log_text("why", words));
    snprintf(upload_file->words, sizeof upload_file->words, "%s", words);
    upload_file->since = upload_file->since ? upload_file->since : now;
    if (refused || (now - upload_file->since) * SECOND >= patience) {
        if (store_next(upload, upload_file))
            upload_file->pause = 0; /* it is not that one's fault */
        upload_file->changed = first = true;
    }
    upload_file->changed = upload_file->changed || !known;
    upload_file->free = false; /* before it is sent again: meanwhile another may have come by the name */
    upload_file_pause(upload_file);
    if (first)
        upload_store(upload);
}

/* ------------------------------------------------------------------------------------------------------------------ sending */

/* A store has the file. Others are to have it, too? */
static void upload_file_arrived(struct upload *upload, struct upload_file *upload_file)
{
    if (upload_file->kept_count + 1 >= upload->copies) {
        upload_file_end(upload, upload_file, UPLOAD_FILE_STORED, NULL);
        return;
    }
    upload_file_keep(upload_file, upload_file->store, upload_file->url);
    upload_file_text(&upload_file->store, NULL);
    upload_file_text(&upload_file->url, NULL);
    upload_file->since = upload_file->due = upload_file->pause = 0;
    upload_file->words[0] = '\0';
    upload_file->changed = true;
    upload_store(upload);
}

/* A thread is done with the file. False: nobody wants to know any more. */
static bool upload_file_is_back(struct upload_file *upload_file, const struct transfer_result *result)
{
    struct upload *upload = upload_file->upload;
    struct uploads *uploads = upload->providerd->uploads;

    uploads->going--;
    upload_file->run = NULL;
    return !uploads->closing && !upload->gone && result->end != TRANSFER_CANCELLED;
}

static void upload_file_begin(struct upload_file *upload_file, enum transfer_way way, transfer_done_fn *done)
{
    struct upload *upload = upload_file->upload;
    struct uploads *uploads = upload->providerd->uploads;
    struct transfer_order order = {.way = way, .url = upload_file->url, .size = upload_file->size};
    char path[DAEMON_PATH_MAX + 32];

    upload_path(upload, (uint32_t)(upload_file - upload->upload_files), path, sizeof path);
    order.path = path;
    uploads->going++;
    upload_file->run = transfer_start(&upload->providerd->daemon.loop, uploads->rules, &order, done, upload_file);
}

static void upload_file_seen(void *user, const struct transfer_result *result)
{
    struct upload_file *upload_file = user;
    struct upload *upload = upload_file->upload;

    if (!upload_file_is_back(upload_file, result))
        return;
    if (result->end == TRANSFER_DONE) {
        memcpy(upload_file->hash, result->entry, sizeof upload_file->hash);
        upload_store(upload);
    } else {
        upload_file_end(upload, upload_file, UPLOAD_FILE_LOST, result->words);
    }
    uploads_tick(upload->providerd);
}

void upload_file_look(struct upload *upload, struct upload_file *upload_file)
{
    (void)upload;
    upload_file_begin(upload_file, TRANSFER_LOOK, upload_file_seen);
}

static void upload_file_sent(void *user, const struct transfer_result *result)
{
    struct upload_file *upload_file = user;
    struct upload *upload = upload_file->upload;

    if (!upload_file_is_back(upload_file, result))
        return;
    if (result->end == TRANSFER_DONE || result->end == TRANSFER_AGAIN)
        store_fared(upload->providerd->uploads, upload_file->store,
                    result->end == TRANSFER_DONE ? NULL : result->words);
    if (result->end == TRANSFER_DONE && strcmp(result->entry, upload_file->hash) != 0) {
        upload_file_give_up(upload, upload_file, "the file has changed");
    } else if (result->end == TRANSFER_DONE) {
        upload_file_arrived(upload, upload_file);
    } else if (result->end == TRANSFER_DAMAGED) {
        upload_file_give_up(upload, upload_file, result->words);
    } else {
        upload_file_failed(upload, upload_file, result->end == TRANSFER_REFUSED, result->words);
    }
    uploads_tick(upload->providerd);
}

void upload_file_dispatch(struct upload *upload, struct upload_file *upload_file)
{
    struct store_place place;
    struct err err = {0};
    const char *trouble;
    struct buf url;

    if (!store_choose(upload, upload_file, &place, &err)) {
        upload_file_failed(upload, upload_file, false, err.text);
        return;
    }
    trouble = store_trouble(upload->providerd->uploads, place.name);
    if (trouble) {
        upload_file_failed(upload, upload_file, false, trouble);
        return;
    }
    buf_init(&url);
    store_url(&place, upload_file->name, &url);
    upload_file_text(&upload_file->url, buf_string(&url));
    buf_done(&url);
    upload_file_begin(upload_file, TRANSFER_PUT, upload_file_sent);
    LOG(&upload->providerd->daemon.log, LEVEL_INFO, "transfer.begin", log_word("claim", upload->claim),
        log_text("name", upload_file->name), log_text("url", upload_file->url));
}

/* -------------------------------------------------------------------------------------------------------------- registering */

/* Takes the catalogues' answer about the name. Another file of that name must not be overwritten where it lies: somebody has to decide. */
static void name_answered(void *user, const struct catalogue_answer *answer)
{
    struct upload_file *upload_file = user;
    struct upload *upload = upload_file->upload;
    char words[TRANSFER_WORDS_MAX];
    bool other = answer->result == CATALOGUE_DIFFER ||
                 (answer->result == CATALOGUE_FOUND &&
                  (answer->entry->size != upload_file->size || strcmp(answer->entry->hash, upload_file->hash) != 0));

    upload_file->registering = 0;
    if (upload->gone)
        return;
    if (answer->result == CATALOGUE_NONE || (answer->result == CATALOGUE_FOUND && !other)) {
        upload_file->free = true;
        uploads_tick(upload->providerd);
        return;
    }
    snprintf(words, sizeof words, "%s",
             other ? "the catalogue has another file of that name; `berth files rm` forgets it"
                   : "no catalogue answers");
    upload_file->changed = upload_file->changed || strcmp(words, upload_file->words) != 0;
    memcpy(upload_file->words, words, sizeof words);
    upload_file_pause(upload_file);
}

void upload_file_check(struct upload *upload, struct upload_file *upload_file)
{
    upload_file->registering =
        catalogues_find(upload->providerd->catalogues, upload_file->name, name_answered, upload_file);
}

/* The replica that is to be entered now. */
static struct file_replica upload_file_replica(const struct upload_file *upload_file)
{
    return upload_file->entered < upload_file->kept_count ? upload_file->kept[upload_file->entered]
                                                          : (struct file_replica){upload_file->store, upload_file->url};
}

/* Takes the catalogues' answer to the entry, which is told once or given up: `berth files check` finds what one catalogue lacks. */
static void upload_file_registered(struct upload_file *upload_file, const char *words)
{
    struct upload *upload = upload_file->upload;

    LOG(&upload->providerd->daemon.log, *words ? LEVEL_WARNING : LEVEL_INFO, "transfer.registered",
        log_word("claim", upload->claim), log_text("name", upload_file->name),
        log_text("url", upload_file_replica(upload_file).url), log_text("why", *words ? words : NULL));
    upload_file->registered = upload_file->entered == upload_file->kept_count;
    upload_file->entered++;
    upload_file->asked = 0;
    if (*words)
        snprintf(upload_file->words, sizeof upload_file->words, "%.200s", words);
    if (upload_file->registered)
        upload_store(upload);
    uploads_tick(upload->providerd);
}

static void catalogues_answered(void *user, const struct catalogue_answer *answer)
{
    struct upload_file *upload_file = user;

    upload_file->registering = 0;
    if (upload_file->upload->gone)
        return;
    if (answer->result == CATALOGUE_SILENT || (answer->result == CATALOGUE_PARTLY && upload_file->asked < PARTLY_MAX))
        upload_file_pause(upload_file);
    else
        upload_file_registered(upload_file, answer->words);
}

void upload_file_register(struct upload *upload, struct upload_file *upload_file)
{
    struct file_replica replica = upload_file_replica(upload_file);
    struct file_entry entry = {.name = upload_file->name, .size = upload_file->size, .replicas = &replica, .count = 1};
    const char *owner;
    size_t len;

    memcpy(entry.hash, upload_file->hash, sizeof entry.hash);
    if (ad_string(upload->job, "Owner", &owner, &len) && len)
        entry.owner = mem_dup(owner, len);
    upload_file->asked++;
    upload_file->registering =
        catalogues_add(upload->providerd->catalogues, &entry,
                       &(struct catalogue_right){.agent = upload->providerd->daemon.name, .receipt = upload->receipt},
                       catalogues_answered, upload_file);
    free(entry.owner);
}

/* ------------------------------------------------------------------------------------------------------------------ telling */

/* Is there something that the customer should hear? What is stored is told when the catalogues have it. */
static bool upload_file_has_news(const struct upload_file *upload_file)
{
    if (upload_file->told)
        return false;
    return upload_file->changed || upload_file->state == UPLOAD_FILE_NONE || upload_file->state == UPLOAD_FILE_LOST ||
           (upload_file->state == UPLOAD_FILE_STORED && upload_file->registered);
}

bool upload_has_news(const struct upload *upload)
{
    for (uint32_t i = 0; i < upload->count; i++)
        if (upload_file_has_news(&upload->upload_files[i]))
            return true;
    return false;
}

struct telling {
    struct upload *upload;
    uint32_t count;
    struct {
        uint32_t place;
        bool final;
    } items[TELL_MAX];
};

static void tell_pause(struct upload *upload)
{
    upload->tell_pause = upload->tell_pause ? upload->tell_pause * 2 : UPLOAD_PAUSE_MIN / 4;
    if (upload->tell_pause > UPLOAD_PAUSE_MAX)
        upload->tell_pause = UPLOAD_PAUSE_MAX;
    upload->tell_due = runner_now() + upload->tell_pause;
}

static void told(void *user, const struct tree *answer)
{
    struct telling *telling = user;
    struct upload *upload = telling->upload;
    struct uploads *uploads = upload->providerd->uploads;

    upload->asking = false;
    if (uploads->closing || upload->gone) {
        free(telling);
        return;
    }
    if (answer && answer_is(answer, "ok")) {
        upload->tell_pause = upload->tell_due = 0;
        upload->accepted = true;
        for (uint32_t i = 0; i < telling->count; i++)
            if (telling->items[i].final)
                upload_file_close(upload, &upload->upload_files[telling->items[i].place]);
        upload_store(upload);
    } else if (answer && answer_is(answer, "stale")) {
        LOG(&upload->providerd->daemon.log, LEVEL_INFO, "transfers.unwanted", log_word("claim", upload->claim));
        upload_drop(upload);
    } else {
        for (uint32_t i = 0; i < telling->count; i++)
            upload->upload_files[telling->items[i].place].changed = true;
        tell_pause(upload);
    }
    free(telling);
    uploads_tick(upload->providerd);
}

/* Makes the question that tells the customer what is new. What is told of a file is for good once it is not "waits". */
static struct tree *question_of(struct upload *upload, struct telling *telling)
{
    struct tree *ads[TELL_MAX], *question;
    struct maker maker;

    for (uint32_t i = 0; i < upload->count && telling->count < TELL_MAX; i++) {
        struct upload_file *upload_file = &upload->upload_files[i];

        if (!upload_file_has_news(upload_file))
            continue;
        upload_file->changed = false;
        ads[telling->count] = upload_file_ad(upload, upload_file);
        telling->items[telling->count].place = i;
        telling->items[telling->count++].final = upload_file->state != UPLOAD_FILE_WAITS &&
                                                 (upload_file->state != UPLOAD_FILE_STORED || upload_file->registered);
    }
    question_begin(&maker, upload->providerd, "stored", &upload->inquiry);
    maker_integer(&maker, "Total", upload->count);
    maker_list(&maker, "Files", ads, telling->count);
    for (uint32_t i = 0; i < telling->count; i++)
        tree_unref(ads[i]);
    question = maker_seal(&maker);
    return question;
}

void upload_tell(struct upload *upload)
{
    struct telling *telling = mem_alloc(sizeof *telling);
    struct tree *question;

    *telling = (struct telling){.upload = upload};
    question = question_of(upload, telling);
    upload->asking = true;
    if (!agent_ask(upload->providerd->live, upload->inquiry.customer, question, told, telling)) {
        upload->asking = false;
        for (uint32_t i = 0; i < telling->count; i++)
            upload->upload_files[telling->items[i].place].changed = true;
        tell_pause(upload);
        free(telling);
    }
    tree_unref(question);
}
