/* dag_run_jobs.c: the jobs of a workflow's nodes: read from their files when their turn comes, submitted, and asked for until they are over. */
#include "cli/jobs/dag_run.h"

#include "cli/ask/languages.h"
#include "cli/ask/summary.h"
#include "cli/jobs/job_control.h"
#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"
#include "sys/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LOOK_MOST 60    /* ranges of numbers in one question */
#define PAUSE_FIRST 50  /* milliseconds between two looks; it grows ... */
#define PAUSE_MOST 2000 /* ... up to this while nothing changes */
#define MISSED_MOST 20  /* looks after which a job that nobody knows is given up */

/* ----------------------------------------------------------------------------------------------------------- submission */

struct reading_job {
    struct run *run;
    const struct dag_node *node;
    struct job_submission *submission;
    const char *folder;
    int64_t retry;
};

/* Lays over an ad what the workflow says of it, and adds it. */
static int job_add(void *user, struct tree *ad, unsigned line)
{
    struct reading_job *job = user;
    const struct dag_node *node = job->node;
    struct symbols *symbols = job->run->runner->customer.symbols;
    const char *slash = strrchr(job->run->file, '/');
    struct tree *layer, *whole;
    struct err err = {0};
    struct buf text;
    int status = STATUS_BAD;
    char name[400];

    (void)line;
    buf_init(&text);
    buf_adds(&text, "[ DAGNodeName = ");
    print_string(&text, node->name, strlen(node->name), PRINT_PLAIN);
    buf_addf(&text, "; DAGManJobId = %" PRIu64 "; DAGNodeRetry = %" PRId64 "; Dag = ", job->run->runner->job,
             job->retry);
    slash = slash ? slash + 1 : job->run->file;
    print_string(&text, slash, strlen(slash), PRINT_PLAIN);
    if (node->priority && !ad_find(ad, "Priority"))
        buf_addf(&text, "; Priority = %" PRId64, node->priority);
    if (!ad_find(ad, "Iwd")) {
        buf_adds(&text, "; Iwd = ");
        print_string(&text, job->folder, strlen(job->folder), PRINT_PLAIN);
    }
    buf_adds(&text, " ]");
    layer = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    whole = layer ? ad_over(ad, layer, &err) : NULL;
    snprintf(name, sizeof name, "%.300s", node->name);
    if (whole)
        status = submission_add(job->submission, whole, job->folder, name);
    else
        report("%s: %s", name, err.text);
    tree_unref(layer);
    tree_unref(whole);
    buf_done(&text);
    return status == STATUS_DONE ? 0 : -1;
}

static int ads_add(struct reading_job *job, const char *path, const struct buf *text)
{
    struct input_source source;
    struct tree *ad;
    int got, result = 0;

    source_open_text(&source, job->run->runner->customer.symbols, &dialect_classic, FORM_UNKNOWN, path, text);
    while (result == 0 && (got = source_next(&source, &ad)) != 0) {
        result = got < 0 ? -1 : job_add(job, ad, 0);
        if (got > 0)
            tree_unref(ad);
    }
    source_close(&source);
    return result;
}

/* Reads the text of a node's job, with its macros. */
static int text_add(struct reading_job *job, const char *path, const struct buf *text, bool is_file)
{
    const struct dag_node *node = job->node;
    enum submit_language language =
        is_file ? submit_recognise(path, text->len ? text->text : "", text->len) : SUBMIT_SUBMIT;
    struct submit_given *before = mem_alloc((node->variable_count + 6) * sizeof *before),
                        *behind = mem_alloc((node->variable_count + 1) * sizeof *behind);
    struct language_given given = {
        .macros = before, .appended = behind, .is_node = true, .runs = true, .remarked = &job->run->runner->remarked};
    char retry[24], carrier[24], failed[24], dag_status[24];
    int result;

    snprintf(retry, sizeof retry, "%" PRId64, job->retry);
    for (uint32_t i = 0; i < node->variable_count; i++) {
        struct submit_given one = {node->variables[i].name, node->variables[i].value};

        if (node->variables[i].append)
            behind[given.appended_count++] = one;
        else
            before[given.count++] = one;
    }
    before[given.count++] = (struct submit_given){"JOB", node->name};
    before[given.count++] = (struct submit_given){"RETRY", retry};
    snprintf(carrier, sizeof carrier, "%" PRIu64, job->run->runner->job);
    before[given.count++] = (struct submit_given){"DAGManJobId", carrier};
    if (node->final) { /* it may look at how the workflow went */
        snprintf(failed, sizeof failed, "%u", (unsigned)job->run->failed);
        snprintf(dag_status, sizeof dag_status, "%d", run_dag_status(job->run));
        before[given.count++] = (struct submit_given){"FAILED_COUNT", failed};
        before[given.count++] = (struct submit_given){"DAG_STATUS", dag_status};
    }
    job->submission->sets_modes = language != SUBMIT_AD;
    result = language == SUBMIT_AD ? ads_add(job, path, text)
                                   : language_read_given(job->run->runner->customer.symbols, language, path, text,
                                                         job->folder, &given, job_add, job);
    free(before);
    free(behind);
    return result;
}

static bool range_take(void *user, struct tree *answer)
{
    struct run_node *node = user;
    int64_t first = 0, count = 0;

    if (!ad_integer(answer, "First", &first) || !ad_integer(answer, "Count", &count))
        return false;
    if (!node->count)
        node->first = (uint64_t)first;
    node->count += (uint64_t)count; /* the jobs of one submission have numbers in a row */
    return true;
}

/* The key of a try of a node: the same when the run is begun again. */
static void key_of(const struct run *run, uint32_t place, char ret[SUBMISSION_KEY_MAX + 1])
{
    char text[512], digits[HASH_DIGITS + 1];
    int len = snprintf(text, sizeof text, "%s %s %u", run->name, run->dag.nodes[place].name,
                       (unsigned)run->nodes[place].tries);

    hash_bytes(text, (size_t)len, digits);
    snprintf(ret, SUBMISSION_KEY_MAX + 1, "dag-%.40s", digits);
}

/* Has the description a queue statement? One in place mostly has none. */
static bool is_queued(const char *text)
{
    for (; text; text = strchr(text, '\n')) {
        text += strspn(text, " \t\r\n");
        if (!strncasecmp(text, "queue", 5) && strchr(" \t\r\n", text[5]))
            return true;
    }
    return false;
}

int job_start(struct run *run, uint32_t place)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];
    char *folder = said->folder ? file_in(run->folder, said->folder) : mem_dup(run->folder, strlen(run->folder));
    struct job_submission submission;
    struct reading_job job = {run, said, &submission, folder, node->tries};
    char key[SUBMISSION_KEY_MAX + 1], *path = NULL;
    int status = STATUS_DONE;
    struct buf text;

    buf_init(&text);
    submission_init(&submission, &run->runner->customer);
    submission.quiet = true;
    if (said->description) {
        path = mem_dup(said->name, strlen(said->name));
        buf_adds(&text, run->dag.descriptions[said->description - 1]);
        if (!is_queued(buf_string(&text)))
            buf_adds(&text, "\nqueue\n");
    } else {
        path = file_in(folder, said->file);
        if (file_read(path, &text) < 0)
            status = STATUS_BAD;
    }
    if (status == STATUS_DONE && text_add(&job, path, &text, !said->description) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE && !submission.count) {
        report("%s: there is no job in it", path);
        status = STATUS_BAD;
    }
    node->first = node->count = 0;
    key_of(run, place, key);
    if (status == STATUS_DONE)
        status = submission_upload(&submission);
    if (status == STATUS_DONE)
        status = submission_send(&submission, key, true, range_take, node);
    if (status == STATUS_DONE && node->count) {
        char number[32];

        dag_journal_add(run, 'J', place, (int64_t)node->first, (int64_t)node->count, false);
        run_log(run, "node %s: %" PRIu64 " job%s submitted, %" PRIu64, said->name, node->count,
                node->count == 1 ? "" : "s", node->first);
        snprintf(number, sizeof number, "%" PRIu64 ".0", node->first);
        run_state_log(run, said->name, "SUBMIT", number);
        run->runner->idle += node->count;
        run->runner->pause = PAUSE_FIRST;
        run->runner->look = 0;
    }
    submission_done(&submission);
    buf_done(&text);
    free(path);
    free(folder);
    return status == STATUS_DONE && node->count ? 0 : -1;
}

void jobs_remove(struct run *run, uint32_t place)
{
    const struct run_node *node = &run->nodes[place];
    struct jobs_changed changed;
    char ids[64];

    if (!node->count)
        return;
    snprintf(ids, sizeof ids, "%" PRIu64 "-%" PRIu64, node->first, node->first + node->count - 1);
    jobs_control(&run->runner->customer, &(struct jobs_order){.verb = "remove", .ids = ids, .why = "its workflow ends"},
                 &changed);
}

/* --------------------------------------------------------------------------------------------------------------- looking */

struct waiting {
    struct run *run;
    uint32_t node;
    uint64_t first, last;
};

struct looking {
    struct waiting *items;
    size_t count, room;
    uint64_t idle;
};

static void waits_gather(struct run *run, struct looking *looking)
{
    uint32_t kept = 0;

    run->looks++;
    for (uint32_t i = 0; i < run->job_count; i++) {
        uint32_t place = run->jobs[i];
        struct run_node *node = &run->nodes[place];

        if (node->sub)
            waits_gather(node->sub, looking);
        if (node->state != NODE_JOB || node->listed == run->looks)
            continue; /* over; or it was tried again, and is here twice */
        node->listed = run->looks;
        run->jobs[kept++] = place;
        if (!node->count)
            continue;
        node->over = node->seen = 0;
        node->failed = false;
        ARRAY_ROOM(looking->items, looking->count, looking->room, 64);
        looking->items[looking->count++] = (struct waiting){run, place, node->first, node->first + node->count - 1};
    }
    run->job_count = kept;
}

static int waiting_order(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

static struct run_node *waiting_find(const struct looking *looking, uint64_t id)
{
    size_t low = 0, high = looking->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (looking->items[middle].last < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == looking->count || looking->items[low].first > id)
        return NULL;
    return &looking->items[low].run->nodes[looking->items[low].node];
}

static bool job_look(void *user, struct tree *job)
{
    struct looking *looking = user;
    struct run_node *node;
    int64_t id = 0, status = 0;
    bool due = false;

    node = ad_integer(job, "Job", &id) ? waiting_find(looking, (uint64_t)id) : NULL;
    if (!node)
        return true;
    node->seen++;
    looking->idle += job_text_is(job, "State", "Waiting");
    ad_flag(job, "OutputsDue", &due);
    if (!job_is_over(job) || due)
        return true;
    node->over++;
    if (job_is_good(job) || node->failed)
        return true;
    node->failed = true;
    node->bad = ad_integer(job, "Status", &status) && status ? status : RUN_LOST;
    return true;
}

static int chunk_look(struct runner *runner, struct looking *looking, size_t from, size_t to)
{
    char **words = mem_alloc((to - from + 1) * sizeof *words);
    struct job_ids ids;
    int count = 0, status = STATUS_BAD;

    for (; from < to; from++) {
        char word[64];
        int len =
            snprintf(word, sizeof word, "%" PRIu64 "-%" PRIu64, looking->items[from].first, looking->items[from].last);

        words[count++] = mem_dup(word, (size_t)len);
    }
    if (job_ids_read(&ids, count, words) == 0)
        status = job_ids_list(&runner->customer, &ids, OUTCOME_SELECT ",OutputsDue", job_look, looking);
    job_ids_done(&ids);
    while (count)
        free(words[--count]);
    free(words);
    return status;
}

/* What follows from the look: nodes whose jobs are over go on. */
static void waits_settle(struct looking *looking)
{
    for (size_t i = 0; i < looking->count; i++) {
        struct run *run = looking->items[i].run;
        uint32_t place = looking->items[i].node;
        struct run_node *node = &run->nodes[place];

        if (node->state != NODE_JOB || run->over)
            continue;
        node->missed = node->seen < node->count ? node->missed + 1 : 0;
        if (node->over == node->count || node->missed > MISSED_MOST) {
            bool lost = node->over < node->count;

            node_job_ended(run, place, lost ? RUN_LOST : node->failed ? node->bad : 0);
        } else if (node->failed && node->over < node->count) {
            jobs_remove(run, place); /* one has failed: the node has, and the rest is not needed */
        }
    }
}

/* Limits are those of the whole: what has ended in one workflow makes room in all. */
static void turns_come(struct run *run)
{
    run->dirty = run->dirty || run->ready;
    for (struct run *sub = run->subs; sub; sub = sub->next)
        turns_come(sub);
}

int jobs_look(struct runner *runner, struct run *top)
{
    struct looking looking = {.items = NULL};
    struct tree *summary = NULL;
    int64_t now = run_now();
    int status = STATUS_DONE;
    bool changed = true;

    if (now < runner->look)
        return STATUS_DONE;
    waits_gather(top, &looking);
    if (looking.count) {
        status = summary_fetch(&runner->customer, NULL, 0, 0, &summary);
        changed = status == STATUS_DONE &&
                  (summary_number(summary, "Changes") != runner->changes || runner->pause == PAUSE_FIRST);
        if (status == STATUS_DONE)
            runner->changes = summary_number(summary, "Changes");
        tree_unref(summary);
    }
    if (changed && looking.count && status == STATUS_DONE) {
        qsort(looking.items, looking.count, sizeof *looking.items, waiting_order);
        for (size_t i = 0; i < looking.count && status == STATUS_DONE; i += LOOK_MOST)
            status = chunk_look(runner, &looking, i, i + LOOK_MOST < looking.count ? i + LOOK_MOST : looking.count);
        if (status == STATUS_DONE) {
            runner->idle = looking.idle;
            waits_settle(&looking);
            turns_come(top);
        }
    }
    runner->pause = changed ? PAUSE_FIRST * 2 : runner->pause * 2 < PAUSE_MOST ? runner->pause * 2 : PAUSE_MOST;
    runner->look = run_now() + runner->pause + (int64_t)looking.count;
    free(looking.items);
    return status;
}
