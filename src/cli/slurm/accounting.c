/* accounting.c: sacct: jobs of the queue and those that are over. */
#define _XOPEN_SOURCE 700 /* strptime */
#include "cli/slurm/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define FIELDS_MAX 64

struct account_settings {
    const char *format, *jobs, *users, *names, *states, *start, *end, *delimiter, *partition, *account;
    bool headless, parsable, parsable2, allocations, brief, all, duplicates, truncate;
};

#define S struct account_settings
static const struct option options[] = {
    {'o', "format", "FIELDS", "", option_text, offsetof(S, format)},
    {'j', "jobs", "IDS", "", option_text, offsetof(S, jobs)},
    {'u', "user", "USERS", "", option_text, offsetof(S, users)},
    {0, "uid", "USERS", "", option_text, offsetof(S, users)},
    {0, "name", "NAMES", "", option_text, offsetof(S, names)},
    {'s', "state", "STATES", "", option_text, offsetof(S, states)},
    {'S', "starttime", "DATE", "", option_text, offsetof(S, start)},
    {'E', "endtime", "DATE", "", option_text, offsetof(S, end)},
    {0, "delimiter", "TEXT", "", option_text, offsetof(S, delimiter)},
    {'r', "partition", "NAME", "", option_text, offsetof(S, partition)},
    {'A', "accounts", "NAMES", "", option_text, offsetof(S, account)},
    {'n', "noheader", NULL, "", option_flag, offsetof(S, headless)},
    {'p', "parsable", NULL, "", option_flag, offsetof(S, parsable)},
    {'P', "parsable2", NULL, "", option_flag, offsetof(S, parsable2)},
    {'X', "allocations", NULL, "", option_flag, offsetof(S, allocations)},
    {'b', "brief", NULL, "", option_flag, offsetof(S, brief)},
    {'a', "allusers", NULL, "", option_flag, offsetof(S, all)},
    {'D', "duplicates", NULL, "", option_flag, offsetof(S, duplicates)},
    {'T', "truncate", NULL, "", option_flag, offsetof(S, truncate)},
};
#undef S

struct accounting {
    struct account_settings settings;
    struct {
        const struct account_field *field;
        int width; /* less than 0: to the left */
    } columns[FIELDS_MAX];
    size_t column_count;
    int64_t start, end, now;
    struct buf out, cell;
    struct buf since; /* the same as `start`, for the customer: jobs that were over before need not be sent */
};

/* -------------------------------------------------------------------------------------------------------------- fields */

enum field_id {
    F_JOBID,
    F_RAW,
    F_NAME,
    F_STATE,
    F_EXIT,
    F_USER,
    F_ACCOUNT,
    F_PARTITION,
    F_CPUS,
    F_NODES,
    F_MEMORY,
    F_RSS,
    F_NODELIST,
    F_START,
    F_END,
    F_SUBMIT,
    F_ELAPSED,
    F_ELAPSED_RAW,
    F_LIMIT,
    F_LIMIT_RAW,
    F_CPU_TIME_RAW,
    F_TOTAL_CPU,
    F_FOLDER
};

static const struct account_field {
    const char *name;
    enum field_id id;
    int width;
} fields[] = {
    {"JobID", F_JOBID, -12},
    {"JobIDRaw", F_RAW, -12},
    {"JobName", F_NAME, 10},
    {"State", F_STATE, 10},
    {"ExitCode", F_EXIT, 8},
    {"User", F_USER, 9},
    {"Account", F_ACCOUNT, 10},
    {"Partition", F_PARTITION, 10},
    {"AllocCPUS", F_CPUS, 10},
    {"ReqCPUS", F_CPUS, 8},
    {"NCPUS", F_CPUS, 10},
    {"NNodes", F_NODES, 8},
    {"AllocNodes", F_NODES, 10},
    {"ReqMem", F_MEMORY, 10},
    {"MaxRSS", F_RSS, 10},
    {"NodeList", F_NODELIST, 15},
    {"Start", F_START, 19},
    {"End", F_END, 19},
    {"Submit", F_SUBMIT, 19},
    {"Elapsed", F_ELAPSED, 10},
    {"ElapsedRaw", F_ELAPSED_RAW, 10},
    {"Timelimit", F_LIMIT, 10},
    {"TimelimitRaw", F_LIMIT_RAW, 12},
    {"CPUTimeRAW", F_CPU_TIME_RAW, 10},
    {"TotalCPU", F_TOTAL_CPU, 10},
    {"WorkDir", F_FOLDER, 20},
};

/* JobIDRaw,State%20,ExitCode. -1: a name is not known, which has been reported. */
static int columns_read(struct accounting *all, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, ","), name = strcspn(text, "%,");
        const struct account_field *field = NULL;

        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strlen(fields[i].name) == name && !strncasecmp(fields[i].name, text, name))
                field = &fields[i];
        if ((!field && name) || all->column_count == FIELDS_MAX) {
            report("sacct: --format: there is no field '%.*s' here", (int)(name < 40 ? name : 40), text);
            return -1;
        }
        if (field) {
            int width = name < len ? atoi(text + name + 1) : field->width;

            all->columns[all->column_count].field = field;
            all->columns[all->column_count++].width = width > 1000 || width < -1000 ? field->width : width;
        }
        text += len + (text[len] == ',');
    }
    return 0;
}

static void cell_fill(struct accounting *all, const struct slurm_job *job, enum field_id id)
{
    struct buf *out = &all->cell;
    int64_t limit = slurm_job_number(job, "TimeLimit", 0), ran = slurm_job_ran(job, all->now);
    bool over = slurm_state_is_end(job->state);

    switch (id) {
    case F_JOBID:
        slurm_job_id(job, out);
        break;
    case F_RAW:
        buf_addf(out, "%" PRId64, job->id);
        break;
    case F_NAME:
        slurm_job_name(job, out);
        break;
    case F_STATE:
        buf_adds(out, slurm_state_word(job->state));
        break;
    case F_EXIT:
        buf_addf(out, "%" PRId64 ":%" PRId64, over ? job->code : 0, over ? job->signal : 0);
        break;
    case F_USER:
        slurm_job_owner(job, out);
        break;
    case F_ACCOUNT:
        break;
    case F_PARTITION:
        buf_adds(out, SLURM_PARTITION);
        break;
    case F_CPUS:
        buf_addf(out, "%" PRId64, slurm_job_number(job, "RequestCpus", 1));
        break;
    case F_NODES:
        buf_adds(out, "1");
        break;
    case F_MEMORY:
        slurm_amount(out, slurm_job_number(job, "RequestMemory", 0));
        break;
    case F_RSS:
        buf_addf(out, "%" PRId64 "K", slurm_job_number(job, "MemoryUsed", 0) / 1024);
        break;
    case F_NODELIST:
        slurm_job_nodes(job, out);
        break;
    case F_START:
    case F_END:
    case F_SUBMIT:
        slurm_date(out, slurm_job_number(job, id == F_START ? "Started" : id == F_END ? "Ended" : "Submitted", 0));
        break;
    case F_ELAPSED:
        slurm_span(out, ran, true);
        break;
    case F_ELAPSED_RAW:
        buf_addf(out, "%" PRId64, ran);
        break;
    case F_LIMIT:
        if (limit)
            slurm_span(out, limit, true);
        else
            buf_adds(out, "UNLIMITED");
        break;
    case F_LIMIT_RAW:
        if (limit)
            buf_addf(out, "%" PRId64, (limit + 59) / 60);
        else
            buf_adds(out, "UNLIMITED");
        break;
    case F_CPU_TIME_RAW:
        buf_addf(out, "%" PRId64, ran * slurm_job_number(job, "RequestCpus", 1));
        break;
    case F_TOTAL_CPU:
        slurm_span(out, slurm_job_number(job, "CpuUsed", 0), true);
        break;
    case F_FOLDER:
        slurm_job_text(job, "Iwd", out);
    }
}

/* Prints a line; what: 0 the headings, 1 what stands below them, 2 a job. */
static void line_print(struct accounting *all, const struct slurm_job *job, int what)
{
    const struct account_settings *settings = &all->settings;
    bool parsable = settings->parsable || settings->parsable2;
    const char *between = parsable ? settings->delimiter ? settings->delimiter : "|" : " ";

    for (size_t i = 0; i < all->column_count; i++) {
        int width = parsable ? 0 : all->columns[i].width, room = abs(width);

        buf_reset(&all->cell);
        if (what == 2)
            cell_fill(all, job, all->columns[i].field->id);
        else if (what == 0)
            buf_adds(&all->cell, all->columns[i].field->name);
        else
            for (int n = 0; n < room; n++)
                buf_addc(&all->cell, '-');
        if (room && all->cell.len > (size_t)room) {
            all->cell.len = (size_t)room;
            all->cell.text[room - 1] = '+';
        }
        buf_addf(&all->out, "%*s%s", width, buf_string(&all->cell),
                 i + 1 < all->column_count || settings->parsable || !parsable ? between : "");
    }
    buf_addc(&all->out, '\n');
}

/* --------------------------------------------------------------------------------------------------------------- dates */

/* now, now-7days, now+1hour: the seconds that are added. False: it is written otherwise. */
static bool span_read(const char *text, int64_t *ret)
{
    static const struct {
        const char *word;
        int64_t seconds;
    } units[] = {{"", 1},         {"second", 1},  {"seconds", 1},  {"minute", 60},   {"minutes", 60},  {"hour", 3600},
                 {"hours", 3600}, {"day", 86400}, {"days", 86400}, {"week", 604800}, {"weeks", 604800}};
    size_t digits = *text ? strspn(text + 1, "0123456789") : 0;
    const char *unit = text + 1 + digits;

    *ret = 0;
    if (!*text)
        return true;
    if ((*text != '+' && *text != '-') || !digits || digits > 9)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(unit, units[i].word)) {
            *ret = strtoll(text, NULL, 10) * units[i].seconds;
            return true;
        }
    return false;
}

/* 2026-11-19, 2026-11-19T01:02[:03], 11/19/26, 01:02[:03] and noon of today, today, now-7days. -1: it is none, which has been reported. */
static int date_read(const char *option, const char *text, int64_t now, int64_t otherwise, int64_t *ret)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y"};
    static const char *const hours[] = {"%H:%M:%S", "%H:%M"};
    time_t clock = (time_t)now;
    int64_t span;
    struct tm today;

    *ret = otherwise;
    if (!text)
        return 0;
    if (!strncasecmp(text, "now", 3) && span_read(text + 3, &span)) {
        *ret = now + span;
        return 0;
    }
    localtime_r(&clock, &today);
    today.tm_hour = !strcasecmp(text, "noon") ? 12 : 0;
    today.tm_min = today.tm_sec = 0;
    today.tm_isdst = -1;
    if (!strcasecmp(text, "today") || !strcasecmp(text, "midnight") || !strcasecmp(text, "noon")) {
        *ret = (int64_t)mktime(&today);
        return 0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms + sizeof hours / sizeof *hours; i++) {
        bool hour = i >= sizeof forms / sizeof *forms;
        struct tm parts = hour ? today : (struct tm){.tm_isdst = -1};
        const char *end = strptime(text, hour ? hours[i - sizeof forms / sizeof *forms] : forms[i], &parts);

        if (end && !*end) {
            *ret = (int64_t)mktime(&parts);
            return 0;
        }
    }
    report("sacct: --%s: expected a date, as 2026-11-19T12:00:00, today or now-7days, got '%.40s'", option, text);
    return -1;
}

static bool is_shown(const struct accounting *all, const struct slurm_job *job)
{
    const struct account_settings *settings = &all->settings;
    int64_t ended = slurm_job_number(job, "Ended", 0);

    return slurm_job_number(job, "Submitted", 0) <= all->end &&
           !(slurm_state_is_end(job->state) && ended && ended < all->start) &&
           slurm_job_is_among(job, &(struct slurm_choice){settings->users, settings->names, settings->states,
                                                          settings->partition, false});
}

static void job_show(void *user, const struct slurm_job *job)
{
    struct accounting *all = user;

    if (is_shown(all, job))
        line_print(all, job, 2);
}

static int account_ask(struct accounting *all, const char *ids)
{
    struct connection_options none = {0};
    struct connection customer;
    int status = customer_open(&customer, &none);

    if (status == STATUS_DONE)
        status =
            slurm_jobs_each(&customer, ids, all->start > 0 ? buf_string(&all->since) : SLURM_HISTORY, job_show, all);
    connection_close(&customer);
    return status;
}

int slurm_sacct(int word_count, char **words)
{
    struct accounting all = {.now = time(NULL)};
    struct account_settings *settings = &all.settings;
    struct buf ids;
    int status =
        slurm_read("sacct", options, sizeof options / sizeof *options, NULL, false, settings, &word_count, words);

    if (status == STATUS_DONE && word_count) {
        report("sacct: '%.60s' is not understood", words[0]);
        status = STATUS_BAD;
    }
    buf_init(&ids);
    buf_init(&all.out);
    buf_init(&all.cell);
    buf_init(&all.since);
    if (status == STATUS_DONE && settings->jobs && slurm_ids_read("sacct", settings->jobs, &ids) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE &&
        columns_read(&all, settings->format  ? settings->format
                           : settings->brief ? "jobid,state,exitcode"
                                             : "jobid,jobname,partition,account,alloccpus,state,exitcode") < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE &&
        (date_read("starttime", settings->start, all.now, settings->jobs ? 0 : all.now - 86400, &all.start) < 0 ||
         date_read("endtime", settings->end, all.now, INT64_MAX, &all.end) < 0))
        status = STATUS_BAD;
    if (status == STATUS_DONE) {
        buf_addf(&all.since, "Ended is undefined || Ended >= %" PRId64, all.start);
        if (!settings->headless)
            line_print(&all, NULL, 0);
        if (!settings->headless && !settings->parsable && !settings->parsable2)
            line_print(&all, NULL, 1);
        status = account_ask(&all, ids.len ? buf_string(&ids) : NULL);
    }
    if (status == STATUS_DONE)
        output_write(&all.out);
    buf_done(&all.cell);
    buf_done(&all.since);
    buf_done(&all.out);
    buf_done(&ids);
    return status;
}
