/* customerd_disk.c: how full the customer's disk is, and whether it can be written; told in the log, in its interface, to its pool, and as metrics.
 *
 * Below PIECES_RESERVE no more files are taken: jobs end and their outputs stay with the providers, which wait. Each job's log says so;
 * but the owners of the jobs may never look there. */
#include "live/customerd/customerd_parts.h"

#include "live/http/metrics.h"
#include "sys/confined_path.h"
#include "sys/pieces.h"

#include <inttypes.h>
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

    if (statvfs(customerd->daemon.folder, &disk) < 0)
        return;
    customerd->disk_free = (uint64_t)disk.f_bavail * disk.f_frsize;
    readonly = disk.f_flag & ST_RDONLY || confined_is_readonly(customerd->daemon.folder);
    full = readonly || customerd->disk_free < PIECES_RESERVE + (customerd->disk_full ? ROOM_AGAIN : 0);
    if (full == customerd->disk_full && readonly == customerd->disk_readonly)
        return;
    customerd->disk_full = full;
    customerd->disk_readonly = readonly;
    if (full)
        LOG(&customerd->daemon.log, LEVEL_WARNING, "disk.full", log_number("free", (int64_t)customerd->disk_free),
            log_text("folder", customerd->daemon.folder), log_text("why", customerd_disk_words(customerd)));
    else
        LOG(&customerd->daemon.log, LEVEL_INFO, "disk.room", log_number("free", (int64_t)customerd->disk_free));
    agent_say(customerd->live, readonly ? "its disk is read-only: it takes nothing"
                               : full   ? "its disk is full: it takes no files"
                                        : "");
    customerd_changed(customerd);
}

static void metric(struct buf *out, const char *name, const char *help, uint64_t value)
{
    buf_addf(out, "# TYPE %s gauge\n# HELP %s %s\n%s %" PRIu64 "\n", name, name, help, name, value);
}

/* Answers with a few metrics that are worth an alarm. */
void api_customer_metrics(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    struct buf out;

    buf_init(&out);
    metric(&out, "berth_customer_disk_free_bytes", "Bytes that are left on the disk of the state folder.",
           customerd->disk_free);
    metric(&out, "berth_customer_disk_full", "1: no files are taken, for want of room.", customerd->disk_full);
    metric(&out, "berth_customer_jobs", "Jobs in the queue.", customer_count(customerd->customer));
    metric(&out, "berth_customer_spool_bytes", "Bytes of inputs that are kept.", spool_bytes(customerd->spool));
    metric(&out, "berth_customer_connected", "1: the matchmaker is reached.", agent_is_connected(customerd->live));
    metrics_print_one(&out, customerd->metrics, METRIC_LOOP_TURN);
    buf_adds(&out, "# EOF\n");
    request_answer(request, 200, METRICS_TYPE, out.text, out.len, NULL, 0);
    buf_done(&out);
}
