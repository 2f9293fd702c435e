/* submit_cron.c: cron_minute and its likes: a job that begins at a time of a crontab, once, or each time.
 *
 *     cron_minute = 0                          ->   NotBefore = 1795132800          the next such time
 *     cron_minute = 0, on_exit_remove = false  ->   CronSchedule = "0 * * * *"      a job each time (docs/jobs.md, again and again)
 *
 * HTCondor lets a job that stays in the queue begin again at the next time after its end: so none begins beside the last one, and times that were missed
 * are missed. */
#include "lang/base/schedule.h"
#include "lang/form/submit_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS SUBMIT_CRON_FIELDS
#define WINDOW_DIGITS 9

static const char *const names[FIELDS] = {"cron_minute", "cron_hour", "cron_day_of_month", "cron_month",
                                          "cron_day_of_week"};
static const char *const own_names[FIELDS] = {"MY.CronMinute", "MY.CronHour", "MY.CronDayOfMonth", "MY.CronMonth",
                                              "MY.CronDayOfWeek"};

/* Does the file say one of them, by its key or as an attribute with `+`? */
static bool is_said(const struct submit_job *job)
{
    for (int i = 0; i < FIELDS; i++)
        if (submit_key_macro(job->reader, submit_key_find(names[i], strlen(names[i]))) ||
            submit_macro(job->reader, own_names[i], strlen(own_names[i])))
            return true;
    return false;
}

/* A field, as the key's unit says which. */
int submit_key_cron(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf *field = &job->cron[key->unit];

    submit_quotes_strip(&text, &len);
    if (submit_same(text, len, "undefined"))
        return 0;
    buf_reset(field);
    for (size_t i = 0; i < len; i++)
        if (!submit_blank(text[i])) /* "1, 15" is one field */
            buf_addc(field, text[i]);
    job->cron_macro = job->macro;
    return 0;
}

/* How late a job may begin: then it is given up. */
int submit_key_cron_window(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    size_t digits = 0;

    if (!is_said(job) || submit_same(text, len, "0") || submit_same(text, len, "undefined"))
        return 0;
    while (digits < len && digits < WINDOW_DIGITS && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (!digits || digits < len)
        return submit_job_fail(job, "expected a whole number of seconds");
    buf_addf(&job->out, "%s = %.*s;\n", key->attribute, (int)len, text);
    return 0;
}

/* on_exit_remove: of a job with a crontab it says whether it comes once. */
int submit_key_leaves(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (!is_said(job))
        return submit_key_policy(job, key, text, len);
    job->repeats = submit_is_false(text, len);
    return job->repeats || submit_is_true(text, len) || submit_same(text, len, "undefined")
               ? 0
               : submit_job_fail(job, "expected false (a job each time) or true (one job) where cron_minute and the "
                                      "like are said: 'berth cron rm' ends what comes again");
}

static int64_t offset_utc(void *user, int64_t moment)
{
    (void)user, (void)moment;
    return 0;
}

int submit_cron_write(struct submit_job *job)
{
    const struct submit_world *world = job->reader->world;
    struct schedule schedule;
    struct err why = {0};
    struct buf text;
    int64_t next;
    int result = 0;

    if (!job->cron_macro)
        return 0;
    job->macro = job->cron_macro;
    if (submit_key_macro(job->reader, submit_key_find("deferral_time", strlen("deferral_time"))))
        return submit_job_fail(job, "expected this or deferral_time, not both");
    buf_init(&text);
    for (int i = 0; i < FIELDS; i++)
        buf_addf(&text, "%s%s", i ? " " : "", job->cron[i].len ? buf_string(&job->cron[i]) : "*");
    if (schedule_read(text.text, text.len, &schedule, &why) < 0) {
        result = submit_job_fail(job, why.text);
    } else if (job->repeats) {
        buf_addf(&job->out, "CronSchedule = \"%s\";\nCronMissed = \"skip\";\nCronOverlap = \"skip\";\n",
                 buf_string(&text));
    } else {
        next = schedule_next(&schedule, world->now, 0, world->offset ? world->offset : offset_utc, world->user);
        if (next == SCHEDULE_NEVER)
            result = submit_job_fail(job, "such a time never comes");
        else
            buf_addf(&job->out, "NotBefore = %" PRId64 ";\n", next);
    }
    buf_done(&text);
    return result;
}
