/* uploads.c: what a job leaves for stores: transfer requests that outlive the claim, and this process.
 *
 *     a job ends -> its files are moved, a row is put on the shelf, in the commit of its end
 *                -> sent -> registered -> told to the customer -> acknowledged: the file goes; with the last one the row
 *
 * After a restart all that has a row goes on. What was sent and not written down is sent again, to the same place. */
#include "live/providerd/uploads_parts.h"

#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "pool/protocol/wire.h"
#include "sys/confined_path.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "transfers"

static const char *const state_words[] = {
#define X(id, word) [PARCEL_##id] = word,
    PARCEL_STATES(X)
#undef X
};

const char *parcel_state_word(enum parcel_state state)
{
    return state_words[state];
}

void parcel_text(char **text, const char *value)
{
    char *copy = value ? mem_dup(value, strlen(value)) : NULL;

    free(*text);
    *text = copy;
}

void shipment_folder(const struct workshop *workshop, uint64_t claim, uint64_t number, char *ret, size_t size)
{
    snprintf(ret, size, "%.4000s/" FOLDER "/%016llx.%llu", workshop->daemon.folder, (unsigned long long)claim,
             (unsigned long long)number);
}

void shipment_path(const struct shipment *shipment, uint32_t place, char *ret, size_t size)
{
    char folder[DAEMON_PATH_MAX];

    shipment_folder(shipment->workshop, shipment->claim, shipment->number, folder, sizeof folder);
    snprintf(ret, size, "%s/%u", folder, place);
}

/* -------------------------------------------------------------------------------------------------------------- parcels */

static void used_less(struct shipments *shipments, int64_t size)
{
    shipments->used -= (uint64_t)size < shipments->used ? (uint64_t)size : shipments->used;
}

static bool parcel_has_file(const struct parcel *parcel)
{
    return !parcel->told && (parcel->state == PARCEL_WAITS || parcel->state == PARCEL_STORED);
}

void parcel_end(struct shipment *shipment, struct parcel *parcel, enum parcel_state state, const char *words)
{
    if (state == PARCEL_LOST)
        used_less(shipment->workshop->shipments, parcel->size);
    parcel->state = state;
    snprintf(parcel->words, sizeof parcel->words, "%s", words ? words : "");
    parcel->due = parcel->pause = 0;
    LOG(&shipment->workshop->daemon.log, state == PARCEL_LOST ? LEVEL_ERROR : LEVEL_INFO, "transfer.end",
        log_word("claim", shipment->claim), log_text("name", parcel->name), log_text("state", state_words[state]),
        log_text("url", parcel->url), log_text("why", words));
    shipment_store(shipment);
}

void parcel_close(struct shipment *shipment, struct parcel *parcel)
{
    char path[DAEMON_PATH_MAX + 32];

    if (parcel_has_file(parcel))
        used_less(shipment->workshop->shipments, parcel->size);
    parcel->told = true;
    shipment_path(shipment, (uint32_t)(parcel - shipment->parcels), path, sizeof path);
    unlink(path);
}

static void shipment_free(struct shipment *shipment)
{
    for (uint32_t i = 0; i < shipment->count; i++) {
        free(shipment->parcels[i].file);
        free(shipment->parcels[i].name);
        free(shipment->parcels[i].wanted);
        free(shipment->parcels[i].store);
        free(shipment->parcels[i].url);
    }
    for (size_t i = 0; i < shipment->store_count; i++)
        free(shipment->stores[i]);
    free(shipment->stores);
    free(shipment->parcels);
    tree_unref(shipment->job);
    tree_unref(shipment->receipt);
    free(shipment);
}

static bool shipment_is_busy(const struct shipment *shipment)
{
    for (uint32_t i = 0; i < shipment->count; i++)
        if (shipment->parcels[i].run || shipment->parcels[i].registering)
            return true;
    return shipment->asking;
}

void shipment_drop(struct shipment *shipment)
{
    char path[DAEMON_PATH_MAX];
    struct err err = {0};

    if (shipment->gone)
        return;
    for (uint32_t i = 0; i < shipment->count; i++) {
        if (parcel_has_file(&shipment->parcels[i]))
            used_less(shipment->workshop->shipments, shipment->parcels[i].size);
        if (shipment->parcels[i].run)
            transfer_cancel(shipment->parcels[i].run);
    }
    shipment->gone = true;
    shipment_forget(shipment);
    shipment_folder(shipment->workshop, shipment->claim, shipment->number, path, sizeof path);
    if (rubbish_take(shipment->workshop->rubbish, path, &err) < 0)
        LOG(&shipment->workshop->daemon.log, LEVEL_WARNING, "folder", log_text("why", err.text));
}

/* --------------------------------------------------------------------------------------------------------- a job's end */

static struct shipment *shipment_new(struct workshop *workshop, const struct task *task,
                                     const struct job_parcels *parcels)
{
    struct shipment *shipment = mem_alloc(sizeof *shipment);

    *shipment = (struct shipment){.workshop = workshop,
                                  .claim = task->claim,
                                  .number = task->number,
                                  .inquiry = task->inquiry,
                                  .job = tree_ref(task->ad),
                                  .receipt = task->receipt ? tree_ref(task->receipt) : NULL,
                                  .elsewhere = parcels->elsewhere,
                                  .parcels = mem_alloc((parcels->count + 1) * sizeof *shipment->parcels),
                                  .count = (uint32_t)parcels->count,
                                  .began = runner_settled(agent_runner(workshop->live)) / SECOND};
    while (parcels->stores[shipment->store_count])
        shipment->store_count++;
    shipment->stores = mem_alloc((shipment->store_count + 1) * sizeof *shipment->stores);
    for (size_t i = 0; i < shipment->store_count; i++)
        shipment->stores[i] = mem_dup(parcels->stores[i], strlen(parcels->stores[i]));
    for (size_t i = 0; i < parcels->count; i++) {
        struct parcel *parcel = &shipment->parcels[i];

        *parcel = (struct parcel){.shipment = shipment, .changed = true};
        parcel_text(&parcel->file, parcels->items[i].file);
        parcel_text(&parcel->name, parcels->items[i].name);
        parcel_text(&parcel->wanted, parcels->items[i].store);
    }
    return shipment;
}

struct settling *shipments_settle(const struct task *task, settling_done_fn *done, void *user)
{
    struct settling *settling = NULL;
    struct job_parcels parcels;
    struct err err = {0};
    struct arena arena;

    arena_init(&arena);
    if (job_parcels_read(&arena, task->ad, runner_wall() / SECOND, &parcels, &err) == 0 && parcels.count)
        settling = parcels_settle(task, &parcels, done, user);
    arena_done(&arena);
    return settling;
}

int shipments_check(const struct task *task, struct err *err)
{
    struct job_parcels parcels;
    struct arena arena;
    int failed;

    arena_init(&arena);
    failed = job_parcels_read(&arena, task->ad, runner_wall() / SECOND, &parcels, err);
    arena_done(&arena);
    return failed;
}

static struct shipment *shipment_find(const struct workshop *workshop, uint64_t claim, uint64_t number)
{
    struct shipment *shipment = workshop->shipments->first;

    while (shipment && (shipment->gone || shipment->claim != claim || shipment->number != number))
        shipment = shipment->next;
    return shipment;
}

uint32_t shipments_add(struct workshop *workshop, const struct task *task)
{
    struct shipment *shipment = shipment_find(workshop, task->claim, task->number);
    struct job_parcels parcels = {.count = 0};
    struct err err = {0};
    struct arena arena;

    if (shipment)
        return shipment->count;
    arena_init(&arena);
    if (job_parcels_read(&arena, task->ad, runner_wall() / SECOND, &parcels, &err) < 0)
        LOG(&workshop->daemon.log, LEVEL_WARNING, "transfers", log_word("claim", task->claim),
            log_text("why", err.text));
    if (parcels.count) {
        shipment = shipment_new(workshop, task, &parcels);
        parcels_move(shipment, task);
        shipment->next = workshop->shipments->first;
        workshop->shipments->first = shipment;
        shipment_store(shipment);
    }
    arena_done(&arena);
    return (uint32_t)parcels.count;
}

bool shipments_has(const struct workshop *workshop, uint64_t claim, uint64_t number)
{
    return shipment_find(workshop, claim, number) != NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- turns */

int64_t shipment_now(const struct shipment *shipment)
{
    return runner_settled(agent_runner(shipment->workshop->live)) / SECOND;
}

/* A file that no store takes is not kept for ever. */
static bool parcel_is_old(const struct shipment *shipment, const struct parcel *parcel)
{
    int64_t keep = config_span(&shipment->workshop->daemon.config, CONFIG_TRANSFER_KEEP) / SECOND;

    return parcel->state == PARCEL_WAITS && !parcel->run && shipment_now(shipment) > shipment->began + keep;
}

/* On its way: looked at, its name looked up, sent. */
static void parcel_step(struct shipment *shipment, struct parcel *parcel)
{
    if (!*parcel->hash)
        parcel_look(shipment, parcel);
    else if (!parcel->free)
        parcel_check(shipment, parcel);
    else if (stores_known(shipment))
        parcel_dispatch(shipment, parcel);
}

static void parcel_turn(struct shipment *shipment, struct parcel *parcel, int64_t now)
{
    struct shipments *shipments = shipment->workshop->shipments;

    if (parcel->run || parcel->registering || parcel->told || now < parcel->due)
        return;
    if (parcel_is_old(shipment, parcel))
        parcel_end(shipment, parcel, PARCEL_LOST, "no store has taken it in the time of TransferKeep");
    else if (parcel->state == PARCEL_WAITS && shipments->going < SHIPMENTS_AT_ONCE)
        parcel_step(shipment, parcel);
    else if (parcel->state == PARCEL_STORED && !parcel->registered && shipment->accepted)
        parcel_register(shipment, parcel);
}

/* True when nothing of it is left to be done; or the customer has not been heard of for twice the time that files are kept. */
static bool shipment_is_over(const struct shipment *shipment)
{
    int64_t keep = config_span(&shipment->workshop->daemon.config, CONFIG_TRANSFER_KEEP) / SECOND;

    if (shipment_now(shipment) > shipment->began + 2 * keep)
        return true;
    for (uint32_t i = 0; i < shipment->count; i++)
        if (!shipment->parcels[i].told)
            return false;
    return true;
}

static void shipment_turn(struct shipment *shipment, int64_t now)
{
    for (uint32_t i = 0; i < shipment->count; i++)
        parcel_turn(shipment, &shipment->parcels[i], now);
    if (!shipment->asking && now >= shipment->tell_due && shipment_has_news(shipment))
        shipment_tell(shipment);
    if (shipment_is_over(shipment))
        shipment_drop(shipment);
}

void shipments_tick(struct workshop *workshop)
{
    struct shipment **link = &workshop->shipments->first, *shipment;
    int64_t now = runner_now();

    if (workshop->shipments->closing)
        return;
    while ((shipment = *link)) {
        if (!shipment->gone)
            shipment_turn(shipment, now);
        if (shipment->gone && !shipment_is_busy(shipment)) {
            *link = shipment->next;
            shipment_free(shipment);
        } else {
            link = &shipment->next;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ life */

uint64_t shipments_room(const struct workshop *workshop)
{
    uint64_t room = config_size(&workshop->daemon.config, CONFIG_TRANSFER_ROOM);

    return room > workshop->shipments->used ? room - workshop->shipments->used : 0;
}

uint32_t shipments_count(const struct workshop *workshop)
{
    uint32_t count = 0;

    for (const struct shipment *shipment = workshop->shipments->first; shipment; shipment = shipment->next)
        for (uint32_t i = 0; !shipment->gone && i < shipment->count; i++)
            count += shipment->parcels[i].state == PARCEL_WAITS;
    return count;
}

/* The file is as long as when it was moved, or the machine went down before it was on disk. */
static bool file_is_whole(const struct shipment *shipment, uint32_t place)
{
    char path[DAEMON_PATH_MAX + 32];
    struct stat info;

    shipment_path(shipment, place, path, sizeof path);
    return lstat(path, &info) == 0 && info.st_size == shipment->parcels[place].size;
}

/* What has a file takes room, as it did before: also one that is stored, until the customer has heard of it. */
static void parcel_found(struct shipment *shipment, uint32_t place)
{
    struct parcel *parcel = &shipment->parcels[place];

    parcel->changed = parcel->state == PARCEL_WAITS;
    if (parcel->state == PARCEL_WAITS && !file_is_whole(shipment, place)) {
        parcel->state = PARCEL_LOST;
        snprintf(parcel->words, sizeof parcel->words, "the machine has lost it");
    }
    if (parcel_has_file(parcel))
        shipment->workshop->shipments->used += (uint64_t)parcel->size;
}

static bool row_found(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct workshop *workshop = user;
    const unsigned char *bytes = key;
    uint64_t claim = 0, number = 0;
    struct shipment *shipment;
    struct tree *row;
    struct err err;

    if (key_len != 16 || wire_parse(workshop->daemon.symbols, value, len, &row, &err) < 0)
        return true;
    for (int i = 0; i < 8; i++) {
        claim = claim << 8 | bytes[i];
        number = number << 8 | bytes[8 + i];
    }
    shipment = shipment_load(workshop, claim, number, row);
    tree_unref(row);
    if (!shipment)
        return true;
    for (uint32_t i = 0; i < shipment->count; i++)
        parcel_found(shipment, i);
    shipment->next = workshop->shipments->first;
    workshop->shipments->first = shipment;
    return true;
}

int shipments_load(struct workshop *workshop, struct err *err)
{
    struct shelf *shelf = workshop->daemon.shelf;
    char path[DAEMON_PATH_MAX];
    int fd;

    workshop->shipments = mem_alloc(sizeof *workshop->shipments);
    *workshop->shipments = (struct shipments){.first = NULL};
    snprintf(path, sizeof path, "%.4000s/" FOLDER, workshop->daemon.folder);
    fd = beneath_folder(AT_FDCWD, path, err);
    if (fd < 0)
        return -1;
    close(fd);
    workshop->shipments->rules = transfer_rules_new(&workshop->daemon.config, &workshop->daemon.networks, err);
    if (!workshop->shipments->rules)
        return -1;
    return shelf->kind->each(shelf, SHIPMENT_SPACE, row_found, workshop, err);
}

/* Folders that no request knows: left by a crash, of a job that went with it. */
void shipments_sweep(struct workshop *workshop)
{
    char path[DAEMON_PATH_MAX], inner[DAEMON_PATH_MAX + 300];
    unsigned long long claim, number;
    struct dirent *entry;
    struct err err;
    DIR *dir;

    snprintf(path, sizeof path, "%.4000s/" FOLDER, workshop->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        if (sscanf(entry->d_name, "%16llx.%llu", &claim, &number) != 2 || task_is_here(workshop, claim, number) ||
            shipments_has(workshop, claim, number))
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        rubbish_take(workshop->rubbish, inner, &err);
    }
    if (dir)
        closedir(dir);
}

void shipments_stop(struct workshop *workshop)
{
    struct shipments *shipments = workshop->shipments;

    if (!shipments)
        return;
    shipments->closing = true;
    for (struct shipment *shipment = shipments->first; shipment; shipment = shipment->next)
        for (uint32_t i = 0; i < shipment->count; i++) {
            if (shipment->parcels[i].run)
                transfer_cancel(shipment->parcels[i].run);
            if (shipment->parcels[i].registering)
                catalogues_cancel(workshop->catalogues, shipment->parcels[i].registering);
        }
    while (shipments->going)
        uv_run(&workshop->daemon.loop, UV_RUN_ONCE);
}

void shipments_done(struct workshop *workshop)
{
    struct shipments *shipments = workshop->shipments;
    struct shipment *next;

    if (!shipments)
        return;
    for (struct shipment *shipment = shipments->first; shipment; shipment = next) {
        next = shipment->next;
        shipment_free(shipment);
    }
    stores_done(shipments);
    transfer_rules_unref(shipments->rules);
    free(shipments);
    workshop->shipments = NULL;
}
