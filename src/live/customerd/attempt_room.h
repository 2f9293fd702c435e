/* attempt_room.h: how much one try of a job has left at the customer, of each kind: files and bytes; a file counts with
 * the size it was announced with. * Kept in memory, and computed anew from the disk when it is not there. */
#ifndef BERTH_LIVE_CUSTOMERD_ATTEMPT_ROOM_H
#define BERTH_LIVE_CUSTOMERD_ATTEMPT_ROOM_H

#include "lang/base/textmap.h"
#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attempt_room {
    bool known;
    uint64_t claim, number; /* the try */
    struct textmap names;   /* "KIND/NAME" -> place */
    uint64_t *sizes;
    uint32_t room;
    uint32_t files[JOB_FILE_KIND_COUNT];
    uint64_t bytes[JOB_FILE_KIND_COUNT];
    uint64_t before[JOB_FILE_KIND_COUNT]; /* what other tries have left */
};

void attempt_room_init(struct attempt_room *room, uint64_t claim, uint64_t number, uint64_t seed);
void attempt_room_done(struct attempt_room *room); /* takes one that is all zeros */

/* A file has, or will have, that many bytes; fewer than before change nothing. */
void attempt_room_add(struct attempt_room *room, enum job_file_kind kind, const char *name, uint64_t size);

/* May the file become that long? If not, -1 and `err` names the limit. */
int attempt_room_check(const struct attempt_room *room, const struct job_leaving *leaving, uint64_t size,
                       struct err *err);

#ifdef __cplusplus
}
#endif
#endif
