/* customerd_disk.c: how full the customer's disk is, and whether it can be written; told in the log, in its interface and to its pool.
 *
 * Below PIECES_RESERVE no more files are taken: jobs end and their outputs stay with the providers, which wait. Each job's log says so;
 * but the owners of the jobs may never look there. */
#include "live/customerd/customerd_parts.h"

#include "sys/confined_path.h"
#include "sys/pieces.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define ROOM_AGAIN (PIECES_RESERVE / 4) /* room needed above the reserve, or it would be told again and again */

const char *customerd_disk_words(const struct customerd *customerd)
{
    if (customerd->disk_readonly)
        return "the customer's disk is read-only: nothing is taken until it can be written";
    return customerd->disk_full
               ? "the customer's disk is full, less than 64 MiB are left: no files are taken until there is room"
               : NULL;
}

void customerd_disk_look(struct customerd *customerd)
{
    struct statvfs disk;
    bool full, readonly;

    if (statvfs(customerd->folder, &disk) < 0)
        return;
    customerd->disk_free = (uint64_t)disk.f_bavail * disk.f_frsize;
    readonly = disk.f_flag & ST_RDONLY || confined_is_readonly(customerd->folder);
    full = readonly || customerd->disk_free < PIECES_RESERVE + (customerd->disk_full ? ROOM_AGAIN : 0);
    if (full == customerd->disk_full && readonly == customerd->disk_readonly)
        return;
    customerd->disk_full = full;
    customerd->disk_readonly = readonly;
    if (full)
        LOG(&customerd->daemon.log, LEVEL_WARNING, "disk.full", log_number("free", (int64_t)customerd->disk_free),
            log_text("folder", customerd->folder), log_text("why", customerd_disk_words(customerd)));
    else
        LOG(&customerd->daemon.log, LEVEL_INFO, "disk.room", log_number("free", (int64_t)customerd->disk_free));
    agent_say(customerd->live, readonly ? "its disk is read-only: it takes nothing"
                               : full   ? "its disk is full: it takes no files"
                                        : "");
    customerd_changed(customerd);
}
