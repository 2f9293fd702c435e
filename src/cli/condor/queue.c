/* queue.c: condor_q and condor_history: the jobs of the queue, and those that are over. */
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    Q_ALL,
    Q_ANALYZE,
    Q_BETTER,
    Q_ALLUSERS,
    Q_ATTRIBUTES,
    Q_DAG,
    Q_DEBUG,
    Q_FORMAT,
    Q_GLOBAL,
    Q_IDLE,
    Q_IO,
    Q_POOL,
    Q_AUTOFORMAT,
    Q_AF,
    Q_BATCH,
    Q_BACKWARDS,
    Q_FORWARDS,
    Q_COMPLETED,
    Q_CONSTRAINT,
    Q_HOLD,
    Q_JSON,
    Q_LIMIT,
    Q_MATCH,
    Q_LONG,
    Q_NAME,
    Q_NOBATCH,
    Q_RUN,
    Q_SINCE,
    Q_SUBMITTER,
    Q_TOTALS,
    Q_WIDE,
    Q_XML,
    Q_HELP
};

static const struct condor_option options[] = {
    [Q_ALL] = {"all", 2, false},
    [Q_ANALYZE] = {"analyze", 2, false},
    [Q_BETTER] = {"better-analyze", 2, false},
    [Q_ALLUSERS] = {"allusers", 4, false},
    [Q_ATTRIBUTES] = {"attributes", 3, true},
    [Q_DAG] = {"dag", 2, false},
    [Q_DEBUG] = {"debug", 3, false},
    [Q_FORMAT] = {"format", 1, false},
    [Q_GLOBAL] = {"global", 1, false},
    [Q_IDLE] = {"idle", 2, false},
    [Q_IO] = {"io", 2, false},
    [Q_POOL] = {"pool", 1, true},
    [Q_AUTOFORMAT] = {"autoformat", 2, false},
    [Q_AF] = {"af", 2, false},
    [Q_BATCH] = {"batch", 2, false},
    [Q_BACKWARDS] = {"backwards", 2, false},
    [Q_FORWARDS] = {"forwards", 3, false},
    [Q_COMPLETED] = {"completedsince", 3, true},
    [Q_CONSTRAINT] = {"constraint", 1, true},
    [Q_HOLD] = {"hold", 2, false},
    [Q_JSON] = {"json", 2, false},
    [Q_LIMIT] = {"limit", 2, true},
    [Q_MATCH] = {"match", 1, true},
    [Q_LONG] = {"long", 1, false},
    [Q_NAME] = {"name", 2, true},
    [Q_NOBATCH] = {"nobatch", 3, false},
    [Q_RUN] = {"run", 1, false},
    [Q_SINCE] = {"since", 2, true},
    [Q_SUBMITTER] = {"submitter", 2, true},
    [Q_TOTALS] = {"totals", 1, false},
    [Q_WIDE] = {"wide", 1, false},
    [Q_XML] = {"xml", 1, false},
    [Q_HELP] = {"help", 2, false},
};
#define OPTION_COUNT ((int)(sizeof options / sizeof *options))

/* A row for people: of jobs that were submitted together there is one. */
struct batch {
    int64_t cluster, date, first, last; /* first and last: of those that are not over */
    uint32_t counts[JOB_SUSPENDED + 1], total;
    char owner[64], name[64];
};

struct queue {
    struct condor_choice choice;
    struct condor_print print;
    struct connection customer;
    bool history, batched, only_held, only_running, only_idle, totals, forwards;
    uint64_t limit;
    struct tree **list; /* of the history, to be printed the other way round */
    struct batch *batches;
    uint32_t list_count, list_room, batch_count, batch_room;
    uint32_t counts[JOB_SUSPENDED + 1];
    bool headed;
    struct condor_choice since; /* of the history: the first such job ends the list */
    bool has_since;
    bool explains; /* why one job does not run */
};

static void date_print(struct buf *out, int64_t at)
{
    char text[32];
    time_t when = (time_t)at;
    struct tm parts;

    localtime_r(&when, &parts);
    strftime(text, sizeof text, "%m/%d %H:%M", &parts);
    buf_addf(out, "%11s", text);
}

/* Appends 0+00:01:30. */
static void span_print(struct buf *out, int64_t seconds)
{
    long long all = seconds > 0 ? seconds : 0;

    buf_addf(out, "%3lld+%02lld:%02lld:%02lld", all / 86400, all % 86400 / 3600, all % 3600 / 60, all % 60);
}

static void text_of(const struct tree *ad, const char *name, char ret[], size_t size)
{
    const char *text = "";
    size_t len = 0;

    ad_string(ad, name, &text, &len);
    snprintf(ret, size, "%.*s", (int)(len < size ? len : size - 1), text);
}

static void heading_print(struct queue *queue)
{
    char host[256] = "";
    struct buf *out = &queue->print.out;
    char now[64];
    time_t at = time(NULL);
    struct tm parts;

    if (queue->headed)
        return;
    queue->headed = true;
    if (!queue->history) {
        gethostname(host, sizeof host - 1);
        strftime(now, sizeof now, "%m/%d/%y %H:%M:%S", localtime_r(&at, &parts));
        buf_addf(out, "\n\n-- Schedd: %s : <127.0.0.1:0> @ %s\n", host, now);
    }
    if (queue->totals)
        return;
    if (queue->batched)
        buf_adds(out, "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n");
    else if (queue->history)
        buf_adds(out, " ID     OWNER          SUBMITTED   RUN_TIME     ST COMPLETED   CMD\n");
    else if (queue->only_held)
        buf_adds(out, " ID      OWNER          HELD_SINCE  HOLD_REASON\n");
    else if (queue->only_running)
        buf_adds(out, " ID      OWNER            SUBMITTED     RUN_TIME HOST(S)\n");
    else
        buf_adds(out, " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n");
}

/* How long the job has run: so far, or in all. */
static int64_t run_time(const struct tree *ad, int64_t status)
{
    int64_t began = condor_integer(ad, "JobCurrentStartDate");

    return status == JOB_RUNNING && began ? time(NULL) - began : condor_integer(ad, "RemoteWallClockTime");
}

static void command_print(struct buf *out, const struct tree *ad)
{
    char command[512], arguments[512];
    const char *name;
    size_t from = out->len;

    text_of(ad, "Cmd", command, sizeof command);
    text_of(ad, "Args", arguments, sizeof arguments);
    name = strrchr(command, '/');
    buf_addf(out, "%s%s%s", name ? name + 1 : command, *arguments ? " " : "", arguments);
    text_tame(out, from);
    buf_addc(out, '\n');
}

static void row_print(struct queue *queue, const struct tree *ad)
{
    static const char letters[] = " IRXCH>S";
    int64_t status = condor_integer(ad, "JobStatus");
    struct buf *out = &queue->print.out;
    char id[48], owner[64], words[512];

    heading_print(queue);
    snprintf(id, sizeof id, "%4lld.%lld", (long long)condor_integer(ad, "ClusterId"),
             (long long)condor_integer(ad, "ProcId"));
    text_of(ad, "Owner", owner, sizeof owner);
    buf_addf(out, "%-8s %-14s ", id, owner);
    if (queue->only_held) {
        date_print(out, condor_integer(ad, "EnteredCurrentStatus"));
        text_of(ad, "HoldReason", words, sizeof words);
        buf_addf(out, " %s\n", words);
        return;
    }
    date_print(out, condor_integer(ad, "QDate"));
    buf_addc(out, ' ');
    span_print(out, run_time(ad, status));
    if (queue->only_running) {
        text_of(ad, "RemoteHost", words, sizeof words);
        buf_addf(out, " %s\n", words);
        return;
    }
    buf_addf(out, " %c  ", status > 0 && status <= JOB_SUSPENDED ? letters[status] : '?');
    if (queue->history) {
        date_print(out, condor_integer(ad, "CompletionDate"));
        buf_addc(out, ' ');
    } else {
        buf_addf(out, "%-3lld %4.1f ", (long long)condor_integer(ad, "JobPrio"),
                 (double)condor_integer(ad, "ImageSize") / 1024);
    }
    command_print(out, ad);
}

static void batch_count(struct queue *queue, const struct tree *ad)
{
    int64_t cluster = condor_integer(ad, "ClusterId"), proc = condor_integer(ad, "ProcId");
    int64_t status = condor_integer(ad, "JobStatus");
    struct batch *batch = queue->batch_count ? &queue->batches[queue->batch_count - 1] : NULL;

    if (!batch || batch->cluster != cluster) {
        ARRAY_ROOM(queue->batches, queue->batch_count, queue->batch_room, 16);
        batch = &queue->batches[queue->batch_count++];
        *batch = (struct batch){.cluster = cluster, .date = condor_integer(ad, "QDate"), .first = -1};
        text_of(ad, "Owner", batch->owner, sizeof batch->owner);
        text_of(ad, "JobBatchName", batch->name, sizeof batch->name);
        if (!*batch->name)
            snprintf(batch->name, sizeof batch->name, "ID: %lld", (long long)cluster);
    }
    if (status > 0 && status <= JOB_SUSPENDED)
        batch->counts[status]++;
    batch->total++;
    if (batch->first < 0)
        batch->first = proc;
    batch->last = proc;
}

static void count_cell(struct buf *out, uint32_t count)
{
    if (count)
        buf_addf(out, " %6u", count);
    else
        buf_adds(out, "      _");
}

static void batches_print(struct queue *queue)
{
    struct buf *out = &queue->print.out;

    heading_print(queue);
    for (uint32_t i = 0; i < queue->batch_count; i++) {
        const struct batch *batch = &queue->batches[i];

        buf_addf(out, "%-8s %-11s ", batch->owner, batch->name);
        date_print(out, batch->date);
        count_cell(out, batch->counts[JOB_COMPLETED]);
        count_cell(out, batch->counts[JOB_RUNNING]);
        count_cell(out, batch->counts[JOB_IDLE]);
        count_cell(out, batch->counts[JOB_HELD]);
        buf_addf(out, " %6u %lld.%lld", batch->total, (long long)batch->cluster, (long long)batch->first);
        if (batch->last != batch->first)
            buf_addf(out, "-%lld", (long long)batch->last);
        buf_addc(out, '\n');
    }
}

static void totals_print(struct queue *queue)
{
    struct buf *out = &queue->print.out;
    uint32_t all = 0;

    heading_print(queue);
    for (int i = JOB_IDLE; i <= JOB_SUSPENDED; i++)
        all += queue->counts[i];
    buf_addf(out,
             "\nTotal for query: %u jobs; %u completed, %u removed, %u idle, %u running, %u held, %u suspended\n\n",
             all, queue->counts[JOB_COMPLETED], queue->counts[JOB_REMOVED], queue->counts[JOB_IDLE],
             queue->counts[JOB_RUNNING], queue->counts[JOB_HELD], queue->counts[JOB_SUSPENDED]);
}

static void ad_show(struct queue *queue, struct tree *ad)
{
    if (queue->print.form != PRINT_TABLE)
        print_ad_of(&queue->print, ad);
    else if (queue->batched)
        batch_count(queue, ad);
    else if (!queue->totals)
        row_print(queue, ad);
}

static bool job_take(void *user, struct tree *job)
{
    struct queue *queue = user;
    struct tree *ad = condor_job(job);
    int64_t status = condor_integer(ad, "JobStatus");
    bool wanted = choice_has(&queue->choice, ad) && !(queue->only_held && status != JOB_HELD) &&
                  !(queue->only_running && status != JOB_RUNNING && status != JOB_SUSPENDED) &&
                  !(queue->only_idle && status != JOB_IDLE);

    if (queue->has_since && choice_has(&queue->since, ad)) {
        tree_unref(ad);
        return false;
    }
    if (wanted && status > 0 && status <= JOB_SUSPENDED)
        queue->counts[status]++;
    if (wanted && queue->forwards) {
        ARRAY_ROOM(queue->list, queue->list_count, queue->list_room, 64);
        queue->list[queue->list_count++] = tree_ref(ad);
    } else if (wanted) {
        ad_show(queue, ad);
    }
    tree_unref(ad);
    return !(wanted && queue->limit && !--queue->limit);
}

/* Takes an option; -1: something is wrong, which has been reported. */
static int option_take(struct queue *queue, struct condor_words *words, int option)
{
    switch (option) {
    case Q_CONSTRAINT:
        return choice_constrain(&queue->choice, words->value);
    case Q_SUBMITTER:
    case -1:
        choice_add(&queue->choice, words->value);
        return 0;
    case Q_LIMIT:
    case Q_MATCH:
        queue->limit = strtoull(words->value, NULL, 10);
        return 0;
    case Q_NOBATCH:
    case Q_DAG:
    case Q_IO:
        queue->batched = false;
        return 0;
    case Q_GLOBAL: /* there is one queue */
    case Q_DEBUG:
        return 0;
    case Q_IDLE:
        queue->only_idle = true;
        queue->batched = false;
        return 0;
    case Q_HOLD:
        queue->only_held = true;
        queue->batched = false;
        return 0;
    case Q_RUN:
        queue->only_running = true;
        queue->batched = false;
        return 0;
    case Q_TOTALS:
        queue->totals = true;
        queue->batched = false;
        return 0;
    case Q_FORWARDS:
        queue->forwards = true;
        return 0;
    case Q_SINCE:
        queue->has_since = true;
        if (*words->value >= '0' && *words->value <= '9' && !words->value[strspn(words->value, "0123456789.")]) {
            choice_add(&queue->since, words->value);
            return 0;
        }
        return choice_constrain(&queue->since, words->value);
    case Q_ANALYZE:
    case Q_BETTER:
        queue->explains = true;
        return 0;
    case Q_NAME:
    case Q_POOL:
        return condor_is_here(words->command, words->value) ? 0 : -1;
    case Q_COMPLETED:
        report("%s: -%s is not understood here", words->command, options[option].name);
        return -1;
    default: /* all users are shown who may be seen, and lines are as wide as they are */
        return print_option(&queue->print, words, options[option].name) < 0 ? -1 : 0;
    }
}

static int queue_ask(struct queue *queue)
{
    int status = connection_list(&queue->customer, queue->history ? "/v1/history" : "/v1/jobs", 0, job_take, queue);

    if (status != STATUS_DONE)
        return status;
    while (queue->list_count) {
        struct tree *ad = queue->list[--queue->list_count];

        ad_show(queue, ad);
        tree_unref(ad);
    }
    if (queue->print.form == PRINT_TABLE && queue->batched)
        batches_print(queue);
    if (queue->print.form == PRINT_TABLE && !queue->history)
        totals_print(queue);
    print_end(&queue->print);
    return STATUS_DONE;
}

static int list_run(struct condor_words *words, bool history)
{
    struct queue queue = {.history = history, .batched = !history};
    struct connection_options options_none = {0};
    int status, option;

    status = customer_open(&queue.customer, &options_none);
    if (status == STATUS_DONE) {
        print_init(&queue.print, queue.customer.symbols);
        choice_init(&queue.choice, queue.customer.symbols);
        choice_init(&queue.since, queue.customer.symbols);
        while (status == STATUS_DONE && (option = words_next(words, options, OPTION_COUNT)) != -2)
            if (option == -3 || option_take(&queue, words, option) < 0)
                status = STATUS_NO;
        if (status == STATUS_DONE)
            status = queue.explains ? job_explain(words->command, &queue.choice) : queue_ask(&queue);
        while (queue.list_count)
            tree_unref(queue.list[--queue.list_count]);
        free(queue.list);
        free(queue.batches);
        choice_done(&queue.choice);
        choice_done(&queue.since);
        print_done(&queue.print);
    }
    connection_close(&queue.customer);
    return status;
}

int condor_queue(struct condor_words *words)
{
    return list_run(words, false);
}

int condor_history(struct condor_words *words)
{
    return list_run(words, true);
}
