/* swf.c: the Standard Workload Format, read and written. */
#include "sim/swf.h"

#include "lang/base/number.h"

#include <inttypes.h>
#include <math.h>

#define NUMBER_MOST 1e12 /* of any field */
#define KILO 1024.0

enum field {
    FIELD_JOB,
    FIELD_SUBMIT,
    FIELD_WAIT,
    FIELD_RUN,
    FIELD_PROCESSORS,
    FIELD_CPU,
    FIELD_MEMORY,
    FIELD_ASKED_PROCESSORS,
    FIELD_ASKED_TIME,
    FIELD_ASKED_MEMORY,
    FIELD_STATUS,
    FIELD_USER,
    FIELD_GROUP,
    FIELD_EXECUTABLE,
    FIELD_QUEUE,
    FIELD_PARTITION,
    FIELD_PRECEDING,
    FIELD_THINK,
};

static const char *const field_names[SWF_FIELDS] = {
    "job number", "submit time",      "wait time",  "run time",     "processors",    "cpu time",
    "memory",     "processors asked", "time asked", "memory asked", "status",        "user",
    "group",      "executable",       "queue",      "partition",    "preceding job", "think time",
};

struct swf_reader {
    struct batch_work *work;
    struct swf_header *header;
    struct map users; /* their number of a user -> ours */
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads a number of the line; returns its end, or NULL when it is not a number. */
static const char *number_read(const char *at, const char *end, double *ret)
{
    bool negative = at < end && *at == '-';
    double number = 0;
    const char *digits;
    size_t taken;

    at += negative || (at < end && *at == '+');
    for (digits = at; at < end && *at >= '0' && *at <= '9' && at - digits < 15; at++)
        number = 10 * number + (*at - '0');
    if (at == digits || (at < end && !is_blank(*at))) {
        taken = number_parse_real(digits, (size_t)(end - digits), &number);
        at = digits + taken;
        if (!taken || (at < end && !is_blank(*at)))
            return NULL;
    }
    *ret = negative ? -number : number;
    return at;
}

/* "; MaxProcs: 128" */
static void header_read(const char *at, const char *end, struct swf_header *header)
{
    static const char *const names[] = {"MaxProcs:", "MaxNodes:"};
    double number;

    for (at++; at < end && (is_blank(*at) || *at == ';'); at++)
        ;
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(names[i]);
        const char *value = at + len;

        if ((size_t)(end - at) <= len || memcmp(at, names[i], len) != 0)
            continue;
        while (value < end && is_blank(*value))
            value++;
        if (number_read(value, end, &number) && number > 0 && number <= NUMBER_MOST &&
            (i == 0 || header->processors == 0))
            header->processors = number;
    }
}

static uint32_t user_number(struct swf_reader *reader, double user)
{
    uint64_t key = user < 0 ? 0 : (uint64_t)user + 1, found = map_find(&reader->users, key);

    if (found != MAP_NONE)
        return (uint32_t)found;
    map_set(&reader->users, key, map_count(&reader->users));
    return map_count(&reader->users) - 1;
}

static int fields_read(struct swf_reader *reader, unsigned line, const char *start, const char *end,
                       double fields[SWF_FIELDS])
{
    const char *at = start;
    int count = 0;

    for (;; count++) {
        const char *behind;

        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            break;
        if (count == SWF_FIELDS)
            return err_at(reader->err, line, (unsigned)(at - start) + 1, "expected %d fields, and there are more",
                          SWF_FIELDS);
        behind = number_read(at, end, &fields[count]);
        if (!behind || fields[count] < -1 || fields[count] > NUMBER_MOST)
            return err_at(reader->err, line, (unsigned)(at - start) + 1,
                          "field %d, the %s: expected a number from 0 to %.0f, or -1 when it is not known", count + 1,
                          field_names[count], NUMBER_MOST);
        if (count == FIELD_SUBMIT && fields[count] < 0)
            return err_at(reader->err, line, (unsigned)(at - start) + 1,
                          "field 2, the submit time: expected a number from 0 on");
        at = behind;
    }
    if (count < SWF_FIELDS)
        return err_at(reader->err, line, (unsigned)(end - start) + 1, "expected %d fields, got %d: the %s is missing",
                      SWF_FIELDS, count, field_names[count]);
    return 0;
}

static int64_t microseconds(double seconds)
{
    return (int64_t)llround(seconds * BATCH_SECOND);
}

static void job_add(struct swf_reader *reader, const double fields[SWF_FIELDS])
{
    double asked = fields[FIELD_ASKED_PROCESSORS], processors = asked > 0 ? asked : fields[FIELD_PROCESSORS];
    struct batch_job *job;

    if (processors <= 0 || fields[FIELD_RUN] < 0) {
        reader->header->skipped++;
        return;
    }
    job = work_add(reader->work);
    job->submit = microseconds(fields[FIELD_SUBMIT]);
    job->duration = microseconds(fields[FIELD_RUN]);
    job->estimate = fields[FIELD_ASKED_TIME] > 0 ? microseconds(fields[FIELD_ASKED_TIME]) : job->duration;
    job->asks[0] = processors;
    job->asks[1] = fields[FIELD_ASKED_MEMORY] > 0 ? fields[FIELD_ASKED_MEMORY] * processors / KILO : 0;
    job->user = user_number(reader, fields[FIELD_USER]);
    if (fields[FIELD_JOB] >= 0 && fields[FIELD_JOB] < UINT32_MAX)
        job->number = (uint32_t)fields[FIELD_JOB];
    if (fields[FIELD_PRECEDING] > 0 && fields[FIELD_PRECEDING] < UINT32_MAX &&
        fields[FIELD_PRECEDING] != fields[FIELD_JOB])
        work_after(reader->work, (uint32_t)fields[FIELD_PRECEDING]);
    job->think = fields[FIELD_THINK] > 0 ? microseconds(fields[FIELD_THINK]) : 0;
    reader->header->largest = fmax(reader->header->largest, processors);
}

static int line_read(struct swf_reader *reader, unsigned line, const char *start, const char *end)
{
    const char *at = start;
    double fields[SWF_FIELDS];

    while (at < end && is_blank(*at))
        at++;
    if (at == end)
        return 0;
    if (*at == ';') {
        header_read(at, end, reader->header);
        return 0;
    }
    if (fields_read(reader, line, start, end, fields) < 0)
        return -1;
    if (reader->work->count == BATCH_JOBS_MAX)
        return err_at(reader->err, line, 1, "there are more than %u jobs", BATCH_JOBS_MAX);
    job_add(reader, fields);
    return 0;
}

int swf_read(const char *text, size_t len, struct batch_work *work, struct swf_header *ret, struct err *err)
{
    struct swf_reader reader = {.work = work, .header = ret, .err = err};
    const char *at = len ? text : "", *end = at + len;
    unsigned line = 1;
    int result = 0;

    *ret = (struct swf_header){0};
    map_init(&reader.users, 0);
    work_reset(work);
    for (; at < end && result == 0; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        result = line_read(&reader, line, at, stop);
        at = stop + 1;
    }
    work->users = map_count(&reader.users) ? map_count(&reader.users) : 1;
    map_done(&reader.users);
    work_sort(work);
    return result == 0 ? work_link(work, false, err) : result;
}

/* -------------------------------------------------------------------------------------------------------------- writing */

static int64_t whole(double number)
{
    return (int64_t)llround(number);
}

static void job_write(struct buf *out, const struct batch_work *work, const struct batch_job *job,
                      const struct batch_outcome *outcome, const struct batch_fate *fate)
{
    bool started = outcome && outcome->start >= 0;
    int64_t processors = whole(job->asks[0]);
    int64_t memory = job->asks[1] > 0 && processors > 0 ? whole(job->asks[1] * KILO / (double)processors) : -1;
    int64_t fields[SWF_FIELDS];

    for (int i = 0; i < SWF_FIELDS; i++)
        fields[i] = -1;
    fields[FIELD_JOB] = job->number;
    fields[FIELD_SUBMIT] = whole((double)job->submit / BATCH_SECOND);
    fields[FIELD_RUN] = whole((double)job->duration / BATCH_SECOND);
    fields[FIELD_ASKED_PROCESSORS] = processors;
    fields[FIELD_ASKED_TIME] = whole((double)job->estimate / BATCH_SECOND);
    fields[FIELD_ASKED_MEMORY] = memory;
    fields[FIELD_USER] = (int64_t)job->user + 1;
    if (started) {
        fields[FIELD_WAIT] = whole((double)(outcome->start - job->submit) / BATCH_SECOND);
        fields[FIELD_PROCESSORS] = processors;
        fields[FIELD_STATUS] = 1;
        fields[FIELD_PARTITION] = (int64_t)outcome->kind + 1;
    } else if (outcome && fate->timeout && outcome->ready < fate->end && fate->end - outcome->ready >= fate->timeout) {
        fields[FIELD_STATUS] = 5; /* cancelled */
    }
    if (job->after_count == 1) { /* the format has no place for several */
        fields[FIELD_PRECEDING] = work->jobs[work->after[job->after]].number;
        fields[FIELD_THINK] = whole((double)job->think / BATCH_SECOND);
    }
    for (int i = 0; i < SWF_FIELDS; i++)
        buf_addf(out, "%s%" PRId64, i ? " " : "", fields[i]);
    buf_addc(out, '\n');
}

void swf_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
               const struct batch_park *park)
{
    buf_addf(out, "; Version: 2.2\n; Computer: simulated\n; MaxJobs: %u\n; MaxRecords: %u\n; UnixStartTime: 0\n",
             work->count, work->count);
    buf_addf(out, "; MaxProcs: %.0f\n", park_processors(park, false));
    buf_addf(out, "; MaxPartitions: %u\n", park->kind_count);
    for (uint32_t i = 0; i < park->kind_count; i++) {
        size_t begun;

        buf_addf(out, "; Partition: %u ", i + 1);
        begun = out->len;
        buf_adds(out, park->kinds[i].name);
        for (; begun < out->len; begun++)
            if (out->text[begun] == '\n' || out->text[begun] == '\r')
                out->text[begun] = ' ';
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < work->count; i++)
        job_write(out, work, &work->jobs[i], fate ? &fate->outcomes[i] : NULL, fate);
}
