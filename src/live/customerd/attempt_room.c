/* attempt_room.c: how much one try of a job has left at the customer. */
#include "live/customerd/attempt_room.h"

#include "lang/base/array.h"
#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "pool/protocol/job_limits.h"

#include <stdlib.h>

void attempt_room_init(struct attempt_room *room, uint64_t claim, uint64_t number, uint64_t seed)
{
    *room = (struct attempt_room){.known = true, .claim = claim, .number = number};
    textmap_init(&room->names, seed);
}

void attempt_room_done(struct attempt_room *room)
{
    if (room->known)
        textmap_done(&room->names);
    free(room->sizes);
    *room = (struct attempt_room){.known = false};
}

static void key_of(struct buf *out, enum job_file_kind kind, const char *name)
{
    buf_init(out);
    buf_addf(out, "%d/%s", (int)kind, name);
}

void attempt_room_add(struct attempt_room *room, enum job_file_kind kind, const char *name, uint64_t size)
{
    uint32_t known = room->names.count, place;
    struct buf key;

    key_of(&key, kind, name);
    place = textmap_add(&room->names, key.text, key.len);
    buf_done(&key);
    ARRAY_ROOM(room->sizes, place, room->room, 8);
    if (room->names.count > known) {
        room->sizes[place] = 0;
        room->files[kind]++;
    }
    if (size > room->sizes[place]) {
        room->bytes[kind] += size - room->sizes[place];
        room->sizes[place] = size;
    }
}

int attempt_room_check(const struct attempt_room *room, const struct job_leaving *leaving, uint64_t size,
                       struct err *err)
{
    uint64_t bytes = room->bytes[leaving->kind], before = room->before[leaving->kind], had = 0;
    struct buf key;
    uint32_t place;

    key_of(&key, leaving->kind, leaving->name);
    place = textmap_find(&room->names, key.text, key.len);
    buf_done(&key);
    if (place == TEXTMAP_NONE && room->files[leaving->kind] >= JOB_FILES_MAX)
        return err_set(err, "more than %d files", JOB_FILES_MAX);
    if (place != TEXTMAP_NONE)
        had = room->sizes[place];
    if (size <= had)
        return 0;
    bytes -= had;
    if (size > leaving->bytes || bytes > leaving->bytes - size)
        return err_set(err, "with it there would be more than RequestDisk, %llu bytes",
                       (unsigned long long)leaving->bytes);
    if (before / JOBFILES_TRIES > leaving->bytes ||
        before + bytes + size >
            (leaving->bytes > UINT64_MAX / JOBFILES_TRIES ? UINT64_MAX : leaving->bytes * JOBFILES_TRIES))
        return err_set(err, "all tries together have left more than %d times RequestDisk", JOBFILES_TRIES);
    return 0;
}
