/* user_logs.h: the logs that jobs name (UserLog), written into their users' folders in HTCondor's form (event_log.h).
 *
 *     a job has changed -> user_logs_note -> waits, with others of its user -> a text of events -> durable what they tell of -> a writer (log_writer.h)
 *                       -> "userlog": job -> what its log has been told
 *
 * After a restart, events that may have been written without this having been recorded are looked for at the end of the log. A log that cannot be written
 * is told once in the job's own log; if that may pass, it is tried again, less and less often, for an hour. Nothing else waits for it. */
#ifndef BERTH_LIVE_CUSTOMERD_USER_LOGS_H
#define BERTH_LIVE_CUSTOMERD_USER_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USER_LOG_ATTRIBUTE "UserLog"
#define USER_LOG_SPACE "userlog"

struct customerd;
struct job_view;
struct err;
struct user_logs;

struct user_logs *user_logs_new(struct customerd *customerd, struct err *err);
/* Ends the writers. The loop has to run until their handles are closed. */
void user_logs_free(struct user_logs *logs);

void user_logs_note(struct user_logs *logs, const struct job_view *view); /* there may be something to tell */
/* Begins writing what waits, until then on the clock; called often. True: there is more. */
bool user_logs_tick(struct user_logs *logs, int64_t ends);
bool user_logs_owe(const struct user_logs *logs, const struct job_view *view); /* is something of its end to be told? */
void user_logs_forget(struct user_logs *logs, uint64_t job);

#ifdef __cplusplus
}
#endif
#endif
