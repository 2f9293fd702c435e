/* disk.c: the rows that are durable on a host, the rows that are being written, and the effects that wait for them.
 *
 *     persist -> waiting [ group being written | the rest ] -> rows by kind and key
 *                  `-> held: effects with `after`, carried out in order when those rows are durable
 *
 * Rows become durable in order, group by group. A crash loses the rows that were not written yet, from some point on. Rows before that point are
 * durable although the role never heard of it; a row that was torn is detected and dropped. A full disk stops the role. */
#include "sim/world.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/wire.h"
#include "sim/seats.h"

#include <stdlib.h>
#include <string.h>

#define RESTART_PAUSE SECOND
#define WIRE_ONE_IN 64

void disk_init(struct disk *disk)
{
    *disk = (struct disk){.rows = {.size = sizeof(struct sim_row), .first = 2}};
}

static void waiting_drop(struct disk *disk)
{
    for (uint32_t i = 0; i < disk->waiting_count; i++)
        record_done(&disk->waiting[disk->waiting_first + i]);
    disk->waiting_first = disk->waiting_count = disk->group = 0;
}

static void effect_drop(struct effect *effect)
{
    message_done(&effect->message);
    record_done(&effect->record);
    tree_unref(effect->ad);
}

static void held_drop(struct disk *disk)
{
    for (uint32_t i = 0; i < disk->held_count; i++)
        effect_drop(&disk->held[disk->held_first + i]);
    disk->held_first = disk->held_count = 0;
}

void disk_done(struct disk *disk)
{
    waiting_drop(disk);
    held_drop(disk);
    for (uint32_t i = 0; i < disk->rows.count; i++) {
        struct sim_row *row = slab_at(&disk->rows, i);

        if (row->used)
            record_done(&row->record);
    }
    free(disk->rows.items);
    free(disk->buckets);
    free(disk->waiting);
    free(disk->held);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static uint32_t *disk_bucket(const struct disk *disk, enum record_kind kind, uint64_t key)
{
    return &disk->buckets[rng_mix(key ^ (uint64_t)kind << 60) & (disk->bucket_count - 1)];
}

/* The link that holds the index of that row, or would hold it; indices are stored plus 1. */
static uint32_t *disk_link(const struct disk *disk, enum record_kind kind, uint64_t key)
{
    uint32_t *link = disk_bucket(disk, kind, key);

    while (*link) {
        struct sim_row *row = slab_at(&disk->rows, *link - 1);

        if (row->record.kind == kind && row->record.key == key)
            break;
        link = &row->next;
    }
    return link;
}

const struct record *disk_find(const struct disk *disk, enum record_kind kind, uint64_t key)
{
    uint32_t index = disk->bucket_count ? *disk_link(disk, kind, key) : 0;

    return index ? &((struct sim_row *)slab_at(&disk->rows, index - 1))->record : NULL;
}

void disk_each(const struct disk *disk, enum record_kind kind, disk_row_fn *fn, void *user)
{
    for (uint32_t i = 0; i < disk->rows.count; i++) {
        struct sim_row *row = slab_at(&disk->rows, i);

        if (row->used && row->record.kind == kind)
            fn(user, &row->record);
    }
}

static void disk_grow(struct disk *disk)
{
    free(disk->buckets);
    disk->bucket_count = disk->bucket_count ? disk->bucket_count * 2 : 4;
    disk->buckets = mem_alloc(disk->bucket_count * sizeof *disk->buckets);
    memset(disk->buckets, 0, disk->bucket_count * sizeof *disk->buckets);
    for (uint32_t i = 0; i < disk->rows.count; i++) {
        struct sim_row *row = slab_at(&disk->rows, i);
        uint32_t *bucket;

        if (!row->used)
            continue;
        bucket = disk_bucket(disk, row->record.kind, row->record.key);
        row->next = *bucket;
        *bucket = i + 1;
    }
}

/* The record moves into its row. */
static void disk_set_take(struct disk *disk, struct record *record)
{
    uint32_t *link, index;
    struct sim_row *row;

    if (disk->row_count >= disk->bucket_count)
        disk_grow(disk);
    link = disk_link(disk, record->kind, record->key);
    index = *link;
    if (index) {
        row = slab_at(&disk->rows, index - 1);
        record_done(&row->record);
        if (record->removed) {
            *link = row->next;
            row->used = 0;
            slab_give(&disk->rows, index - 1);
            disk->row_count--;
        } else {
            row->record = *record;
        }
    } else if (!record->removed) {
        uint32_t *bucket;

        index = slab_take(&disk->rows);
        row = slab_at(&disk->rows, index);
        bucket = disk_bucket(disk, record->kind, record->key);
        row->used = 1;
        row->record = *record;
        row->next = *bucket;
        *bucket = index + 1;
        disk->row_count++;
    }
    record->kind = RECORD_NONE;
}

void disk_put_take(struct world *world, struct host *host, struct record *record)
{
    world_tell_durable(world, host, record);
    disk_set_take(&host->disk, record);
}

void disk_revert(struct disk *disk, struct record *record)
{
    disk_set_take(disk, record);
}

void disk_rows_swap(struct disk *a, struct disk *b)
{
    struct disk held = *a;

    a->rows = b->rows;
    a->buckets = b->buckets;
    a->bucket_count = b->bucket_count;
    a->row_count = b->row_count;
    b->rows = held.rows;
    b->buckets = held.buckets;
    b->bucket_count = held.bucket_count;
    b->row_count = held.row_count;
}

/* --------------------------------------------------------------------------------------------------------- writing */

/* All that waits goes to the database at once. */
static void disk_write_there(struct world *world, struct host *host)
{
    struct disk *disk = &host->disk;
    uint32_t count = disk->waiting_count;
    struct record *rows = mem_alloc(count * sizeof *rows);

    memcpy(rows, &disk->waiting[disk->waiting_first], count * sizeof *rows);
    disk->waiting_first = disk->waiting_count = 0;
    disk->writing = true;
    seats_commit(world, host, rows, count);
}

static void disk_write(struct world *world, struct host *host)
{
    struct disk *disk = &host->disk;
    int64_t delay = world_between(world, world->rates.write_least, world->rates.write_most);

    if (disk->writing || !disk->waiting_count)
        return;
    if (host->candidate) {
        disk_write_there(world, host);
        return;
    }
    if (world_roll(world, world->rates.slow)) {
        world->faults[FAULT_SLOW_DISK]++;
        delay = world_between(world, 0, world->spans->deadline);
    }
    disk->writing = true;
    disk->group = disk->waiting_count;
    disk->order = world_push(world, world->time + delay, ITEM_DISK, host->place);
}

void disk_take(struct world *world, struct host *host, struct effect *effect)
{
    struct disk *disk = &host->disk;

    if (disk->waiting_first && !disk->waiting_count)
        disk->waiting_first = 0;
    ARRAY_ROOM(disk->waiting, disk->waiting_first + disk->waiting_count, disk->waiting_room, 4);
    if (rng_next(&world->rng) % WIRE_ONE_IN == 0 && !world->lean &&
        !wire_same_record(world->symbols, &effect->record, &(struct err){0}))
        world->broken = "the wire form of a record says something else";
    disk->waiting[disk->waiting_first + disk->waiting_count++] = effect->record;
    effect->record.kind = RECORD_NONE;
    disk_write(world, host);
}

void disk_hold(struct host *host, struct effect *effect)
{
    struct disk *disk = &host->disk;
    uint32_t place;

    if (disk->held_first && !disk->held_count)
        disk->held_first = 0;
    ARRAY_ROOM(disk->held, disk->held_first + disk->held_count, disk->held_room, 4);
    place = disk->held_first + disk->held_count++;
    for (; place > disk->held_first && disk->held[place - 1].after > effect->after; place--)
        disk->held[place] = disk->held[place - 1];
    disk->held[place] = *effect;
    effect->message.kind = MESSAGE_NONE;
    effect->ad = NULL;
}

/* Makes the first `count` waiting rows durable. */
static void disk_settle(struct world *world, struct host *host, uint32_t count)
{
    struct disk *disk = &host->disk;

    for (; count; count--) {
        disk_put_take(world, host, &disk->waiting[disk->waiting_first++]);
        disk->waiting_count--;
        disk->durable++;
    }
}

void disk_rest(struct world *world, struct disk *disk)
{
    if (world->lean && !disk->waiting_count && disk->waiting) {
        free(disk->waiting);
        disk->waiting = NULL;
        disk->waiting_room = disk->waiting_first = 0;
    }
    if (world->lean && !disk->held_count && disk->held) {
        free(disk->held);
        disk->held = NULL;
        disk->held_room = disk->held_first = 0;
    }
}

/* The group that was being written is durable. */
static void disk_released(struct world *world, struct host *host)
{
    struct disk *disk = &host->disk;

    disk->writing = false;
    while (disk->held_count && disk->held[disk->held_first].after <= disk->durable) {
        struct effect effect = disk->held[disk->held_first++];

        disk->held_count--;
        effect_carry(world, host, &effect);
        effect_drop(&effect);
    }
    disk_rest(world, disk);
    disk_write(world, host);
    world->events++;
}

void disk_committed(struct world *world, struct host *host, uint32_t count)
{
    host->disk.durable += count;
    disk_released(world, host);
}

void disk_written(struct world *world, struct host *host, uint32_t order)
{
    struct disk *disk = &host->disk;

    if (!disk->writing || disk->order != order)
        return;
    if (host->full) {
        world->faults[FAULT_FULL]++;
        host_crash(world, host, false, world->time + world_between(world, RESTART_PAUSE / 10, RESTART_PAUSE));
        return;
    }
    disk_settle(world, host, disk->group);
    process_tidy(world, host);
    disk_released(world, host);
}

void disk_crash(struct world *world, struct host *host)
{
    struct disk *disk = &host->disk;
    uint32_t kept = (uint32_t)rng_below(&world->rng, (uint64_t)disk->waiting_count + 1);

    /* as a rule all or nothing of the group that was being written; what is on its way to a database is no longer here */
    if (rng_next(&world->rng) & 1 || host->candidate)
        kept = 0;
    world->faults[FAULT_TORN] += disk->waiting_count - kept;
    disk_settle(world, host, kept);
    waiting_drop(disk);
    held_drop(disk);
    disk_rest(world, disk);
    disk->writing = false;
    disk->durable = 0;
    process_tidy(world, host);
}
