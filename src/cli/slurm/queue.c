/* queue.c: squeue: the jobs that are not over. */
#include "cli/slurm/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct queue_settings {
    const char *format, *jobs, *users, *states, *name, *partition, *account, *sort;
    bool headless, me, whole, all, each, verbose;
};

#define S struct queue_settings
static const struct option options[] = {
    {'o', "format", "FORMAT", "", option_text, offsetof(S, format)},
    {'j', "jobs", "IDS", "", option_text, offsetof(S, jobs)},
    {'u', "user", "USERS", "", option_text, offsetof(S, users)},
    {0, "users", "USERS", "", option_text, offsetof(S, users)},
    {'t', "states", "STATES", "", option_text, offsetof(S, states)},
    {'n', "name", "NAME", "", option_text, offsetof(S, name)},
    {'p', "partition", "NAME", "", option_text, offsetof(S, partition)},
    {'A', "account", "NAME", "", option_text, offsetof(S, account)},
    {'S', "sort", "FIELDS", "", option_text, offsetof(S, sort)},
    {'H', "noheader", NULL, "", option_flag, offsetof(S, headless)},
    {0, "me", NULL, "", option_flag, offsetof(S, me)},
    {'l', "long", NULL, "", option_flag, offsetof(S, whole)},
    {'a', "all", NULL, "", option_flag, offsetof(S, all)},
    {'r', "array", NULL, "", option_flag, offsetof(S, each)},
    {'v', "verbose", NULL, "", option_flag, offsetof(S, verbose)},
};
#undef S

#define LETTERS "iAFKjuUtTMlLDRNrCmPapSVeZQowv"
#define FORMAT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define FORMAT_LONG "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"

struct queue {
    struct queue_settings settings;
    const char *format;
    struct buf out;
    int64_t now;
    bool good;
};

static const char *heading(char letter)
{
    static const char *const words[] = {
        ['i'] = "JOBID",        ['A'] = "JOBID",
        ['F'] = "ARRAY_JOB_ID", ['K'] = "ARRAY_TASK_ID",
        ['j'] = "NAME",         ['u'] = "USER",
        ['U'] = "UID",          ['t'] = "ST",
        ['T'] = "STATE",        ['M'] = "TIME",
        ['l'] = "TIME_LIMIT",   ['L'] = "TIME_LEFT",
        ['D'] = "NODES",        ['R'] = "NODELIST(REASON)",
        ['N'] = "NODELIST",     ['r'] = "REASON",
        ['C'] = "CPUS",         ['m'] = "MIN_MEMORY",
        ['P'] = "PARTITION",    ['a'] = "ACCOUNT",
        ['p'] = "PRIORITY",     ['S'] = "START_TIME",
        ['V'] = "SUBMIT_TIME",  ['e'] = "END_TIME",
        ['Z'] = "WORK_DIR",     ['Q'] = "PRIORITY",
        ['o'] = "COMMAND",      ['w'] = "WCKEY",
        ['v'] = "RESERVATION",
    };

    return words[(unsigned char)letter];
}

struct shown {
    const struct queue *queue;
    const struct slurm_job *job; /* NULL: the heading */
};

static void time_cell(struct buf *out, const struct shown *cell, char letter)
{
    int64_t limit = slurm_job_number(cell->job, "TimeLimit", 0), ran = slurm_job_ran(cell->job, cell->queue->now);

    if (letter == 'M')
        slurm_span(out, cell->job->state == SLURM_PENDING ? 0 : ran, false);
    else if (!limit)
        buf_adds(out, "UNLIMITED");
    else
        slurm_span(out, letter == 'L' ? limit - ran : limit, false);
}

static void shown_print(const void *what, char letter, struct buf *out)
{
    const struct shown *cell = what;
    const struct slurm_job *job = cell->job;

    if (!job) {
        buf_adds(out, heading(letter));
        return;
    }
    switch (letter) {
    case 'i':
        slurm_job_id(job, out);
        break;
    case 'A':
        buf_addf(out, "%" PRId64, job->id);
        break;
    case 'F':
        buf_addf(out, "%" PRId64, job->array ? job->array : job->id);
        break;
    case 'K':
        buf_addf(out, job->array ? "%" PRId64 : "N/A", job->index);
        break;
    case 'j':
        slurm_job_name(job, out);
        break;
    case 'u':
        slurm_job_owner(job, out);
        break;
    case 't':
        buf_adds(out, slurm_state_letters(job->state));
        break;
    case 'T':
        buf_adds(out, slurm_state_word(job->state));
        break;
    case 'M':
    case 'l':
    case 'L':
        time_cell(out, cell, letter);
        break;
    case 'D':
        buf_adds(out, "1");
        break;
    case 'R':
        if (job->state == SLURM_PENDING)
            buf_addf(out, "(%s)", slurm_job_reason(job));
        else
            slurm_job_nodes(job, out);
        break;
    case 'N':
        slurm_job_nodes(job, out);
        break;
    case 'r':
        buf_adds(out, slurm_job_reason(job));
        break;
    case 'C':
        buf_addf(out, "%" PRId64, slurm_job_number(job, "RequestCpus", 1));
        break;
    case 'm':
        slurm_amount(out, slurm_job_number(job, "RequestMemory", 0));
        break;
    case 'P':
        buf_adds(out, SLURM_PARTITION);
        break;
    case 'Q':
    case 'p':
        buf_addf(out, "%" PRId64, slurm_job_number(job, "Priority", 0));
        break;
    case 'S':
    case 'V':
    case 'e':
        slurm_date(out, slurm_job_number(job, letter == 'S' ? "Started" : letter == 'V' ? "Submitted" : "Ended", 0));
        break;
    case 'Z':
    case 'o':
        slurm_job_text(job, letter == 'Z' ? "Iwd" : "Cmd", out);
        break;
    default:
        buf_adds(out, "(null)");
    }
}

static bool is_shown(const struct queue *queue, const struct slurm_job *job)
{
    const struct queue_settings *settings = &queue->settings;

    return (settings->states || !slurm_state_is_end(job->state)) &&
           slurm_job_is_among(job, &(struct slurm_choice){settings->users, settings->name, settings->states,
                                                          settings->partition, settings->me});
}

static void job_show(void *user, const struct slurm_job *job)
{
    struct queue *queue = user;
    struct shown cell = {queue, job};

    if (queue->good && is_shown(queue, job))
        queue->good = slurm_line("squeue", queue->format, LETTERS, shown_print, &cell, &queue->out);
}

int slurm_squeue(int word_count, char **words)
{
    struct connection_options none = {0};
    struct queue queue = {.now = time(NULL), .good = true};
    const struct shown headings = {&queue, NULL};
    struct connection customer;
    struct buf ids;
    int status = slurm_read("squeue", options, sizeof options / sizeof *options, "hlarv", false, &queue.settings,
                            &word_count, words);

    if (status == STATUS_DONE && word_count) {
        report("squeue: '%.60s' is not understood", words[0]);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE && queue.settings.account)
        report("squeue: --account: nothing like it here");
    buf_init(&ids);
    buf_init(&queue.out);
    queue.format = queue.settings.format ? queue.settings.format : queue.settings.whole ? FORMAT_LONG : FORMAT;
    if (status == STATUS_DONE && queue.settings.jobs && slurm_ids_read("squeue", queue.settings.jobs, &ids) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE && !queue.settings.headless)
        queue.good = slurm_line("squeue", queue.format, LETTERS, shown_print, &headings, &queue.out);
    if (status == STATUS_DONE && queue.good) {
        status = customer_open(&customer, &none);
        if (status == STATUS_DONE)
            status = slurm_jobs_each(&customer, ids.len ? buf_string(&ids) : NULL,
                                     queue.settings.states ? SLURM_HISTORY : NULL, job_show, &queue);
        connection_close(&customer);
    }
    if (status == STATUS_DONE && queue.good)
        output_write(&queue.out);
    buf_done(&queue.out);
    buf_done(&ids);
    return queue.good ? status : STATUS_BAD;
}
