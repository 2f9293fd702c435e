/* dag_run.c: berth dag run: carries out a workflow until nothing of it moves any more. */
#include "cli/jobs/dag_run.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sys/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 50        /* between two looks at what is ready */
#define STEP_NODES 50     /* that begin in one turn */
#define UNREACHED_MOST 60 /* looks in a row that the customer does not answer */

static volatile sig_atomic_t told_to_end; /* 2: told again */

static void end_told(int number)
{
    (void)number;
    told_to_end = told_to_end + (told_to_end < 2);
}

int64_t run_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* -------------------------------------------------------------------------------------------------------------- reading */

static int inner_file(void *user, const char *path, struct buf *ret, struct err *err)
{
    const struct run *run = user;
    char *whole = file_in(run->folder, path);
    struct stat info;
    int result = stat(whole, &info) < 0 ? err_set(err, "%s", strerror(errno)) : file_read(whole, ret);

    if (result < 0 && !err->text[0])
        err_set(err, "it cannot be read");
    free(whole);
    return result;
}

static int files_read(struct run *run, int file_count, char **files)
{
    struct err err = {0};
    int result = 0;

    run->dag.file = inner_file;
    run->dag.file_user = run;
    for (int i = 0; i < file_count && result == 0; i++) {
        char *path = i ? file_in(".", files[i]) : mem_dup(run->file, strlen(run->file));
        struct buf text;

        buf_init(&text);
        result = file_read(path, &text);
        if (result == 0 && dag_read(&run->dag, buf_string(&text), text.len, NULL, NULL, &err) < 0) {
            report("%s:%u:%u: %s", path, err.line, err.column, err.text);
            result = -1;
        }
        buf_done(&text);
        free(path);
    }
    return result;
}

/* Who waits for whom, the other way round. */
static void children_find(struct run *run)
{
    const struct dag *dag = &run->dag;

    run->first = mem_alloc((dag->count + 2) * sizeof *run->first);
    run->children = mem_alloc((dag->edges + 1) * sizeof *run->children);
    memset(run->first, 0, (dag->count + 2) * sizeof *run->first);
    for (uint32_t i = 0; i < dag->count; i++)
        for (uint32_t k = 0; k < dag->nodes[i].parent_count; k++)
            run->first[dag->nodes[i].parents[k] + 2]++;
    for (uint32_t i = 2; i < dag->count + 2; i++)
        run->first[i] += run->first[i - 1];
    for (uint32_t i = 0; i < dag->count; i++)
        for (uint32_t k = 0; k < dag->nodes[i].parent_count; k++)
            run->children[run->first[dag->nodes[i].parents[k] + 1]++] = i;
}

/* ------------------------------------------------------------------------------------------------------------- beginning */

/* Takes up a node where the journal leaves it. */
static void node_resume(struct run *run, uint32_t place)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];
    bool ended = node->due < 0;

    node->due = 0;
    run->finishing = run->finishing || (said->final && (node->state != NODE_WAITS || node->pre_done));
    if (node->state == NODE_JOB) {
        run->active++;
        run->runner->queued++;
        node_queued(run, place);
        if (said->category)
            run->in_category[said->category - 1]++;
    } else if (node->state == NODE_POST) {
        run->active++;
        if (ended || !said->post.count)
            node_end(run, place, node->status == 0);
        else if (script_start(run, place, true) < 0)
            node_script_ended(run, place, true, 127);
    } else if (node->pre_done && node->pre_status) {
        run->active++;
        node->state = NODE_PRE;
        node_script_ended(run, place, false, node->pre_status);
    } else if (!node->blocked && (!said->final || run->finishing)) {
        node_ready(run, place);
    }
}

static void nodes_begin(struct run *run)
{
    for (uint32_t i = 0; i < run->dag.count; i++) {
        struct run_node *node = &run->nodes[i];

        if (run->dag.nodes[i].done && node->state == NODE_WAITS)
            node->state = NODE_DONE;
        if (!run->dag.nodes[i].final) {
            run->done += node->state == NODE_DONE;
            run->failed += node->state == NODE_FAILED;
        }
    }
    for (uint32_t i = 0; i < run->dag.count; i++)
        for (uint32_t k = 0; k < run->dag.nodes[i].parent_count; k++)
            run->nodes[i].blocked += run->nodes[run->dag.nodes[i].parents[k]].state != NODE_DONE;
    for (uint32_t i = 0; i < run->dag.count; i++)
        if (run->nodes[i].state != NODE_DONE && run->nodes[i].state != NODE_FAILED)
            node_resume(run, i);
}

static void run_name(struct run *run)
{
    char text[512], digits[HASH_DIGITS + 1];
    int len;

    if (!run->outer) {
        snprintf(run->name, sizeof run->name, "%.60s", run->runner->name);
        return;
    }
    len = snprintf(text, sizeof text, "%s/%s/%u", run->outer->name, run->outer->dag.nodes[run->outer_node].name,
                   (unsigned)run->outer->nodes[run->outer_node].tries);
    hash_bytes(text, (size_t)len, digits);
    snprintf(run->name, sizeof run->name, "%.40s", digits);
}

/* The scripts have what ENV SET says. */
static void environment_set(const struct dag_words *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        const char *equals = strchr(words->items[i], '=');
        char *name = equals ? mem_dup(words->items[i], (size_t)(equals - words->items[i])) : NULL;

        if (name)
            setenv(name, equals + 1, 1);
        free(name);
    }
}

/* Everything is read: the nodes get their places, and the files beside the workflow are opened. */
static int run_begin(struct run *run)
{
    uint32_t cycle = dag_cycle(&run->dag);

    if (cycle <= DAG_NODES_MAX) {
        report("%s:%u: node %s waits for itself, by way of others", run->file, run->dag.nodes[cycle].line,
               run->dag.nodes[cycle].name);
        return -1;
    }
    if (dag_config_load(run) < 0 || run_files_open(run) < 0)
        return -1;
    run->nodes = mem_alloc((run->dag.count + 1) * sizeof *run->nodes);
    memset(run->nodes, 0, (run->dag.count + 1) * sizeof *run->nodes);
    run->in_category = mem_alloc((run->dag.category_names.places + 1) * sizeof *run->in_category);
    memset(run->in_category, 0, (run->dag.category_names.places + 1) * sizeof *run->in_category);
    run->gate_count = GATE_CATEGORIES + run->dag.category_names.places;
    run->gates = mem_alloc(run->gate_count * sizeof *run->gates);
    memset(run->gates, 0, run->gate_count * sizeof *run->gates);
    if (dag_journal_load(run) < 0 || (!run->loaded && dag_rescue_load(run) < 0))
        return -1;
    environment_set(&run->dag.environment);
    children_find(run);
    run_log(run, run->loaded ? "goes on with %u nodes, as the journal says" : "begins with %u nodes",
            (unsigned)run->dag.count);
    run_state_log(run, "INTERNAL", "DAGMAN_STARTED", "0.0");
    dag_dot_write(run);
    nodes_begin(run);
    dag_status_write(run, true);
    run->dirty = true;
    return 0;
}

struct run *run_open(struct runner *runner, struct run *outer, uint32_t outer_node, const char *folder, int file_count,
                     char **files)
{
    struct run *run = mem_alloc(sizeof *run);
    char here[PATH_MAX];

    *run =
        (struct run){.runner = runner, .outer = outer, .outer_node = outer_node, .depth = outer ? outer->depth + 1 : 0};
    run->lock = run->journal = -1;
    dag_init(&run->dag);
    run->folder = mem_dup(folder, strlen(folder));
    run->file = outer ? file_in(folder, files[0]) : getcwd(here, sizeof here) ? file_in(here, files[0]) : NULL;
    run_name(run);
    if (!run->file || files_read(run, file_count, files) < 0 || run_begin(run) < 0) {
        run_free(run);
        return NULL;
    }
    if (outer) {
        run->next = outer->subs;
        outer->subs = run;
    }
    return run;
}

void run_free(struct run *run)
{
    struct run *next;

    for (struct run *sub = run->subs; sub; sub = next) {
        next = sub->next;
        run_free(sub);
    }
    run_files_close(run);
    dag_done(&run->dag);
    for (uint32_t i = 0; i < run->gate_count; i++)
        free(run->gates[i].items);
    free(run->gates);
    free(run->jobs);
    free(run->in_category);
    free(run->nodes);
    free(run->first);
    free(run->children);
    free(run->file);
    free(run->folder);
    free(run);
}

/* ------------------------------------------------------------------------------------------------------------- the turns */

/* Lets those go on whose turn it is, as far as the limits let them. */
static void turns_give(struct run *run)
{
    struct run_heap *gate;
    uint32_t begun = 0;

    run->dirty = false;
    while (begun < STEP_NODES && (gate = gate_next(run))) {
        uint32_t place = gate_pop(run, gate);

        if (run->nodes[place].state != NODE_READY)
            continue;
        begun++;
        node_go(run, place);
    }
    run->dirty = run->dirty || begun == STEP_NODES;
}

/* Scripts that were put off run again. */
static void rest_look(struct run *run)
{
    int64_t now = run_now();

    for (uint32_t i = 0; run->resting && i < run->dag.count; i++) {
        struct run_node *node = &run->nodes[i];
        bool post = node->state == NODE_POST;

        if (node->due <= 0 || node->due > now)
            continue;
        node->due = 0;
        run->resting--;
        if ((post || node->state == NODE_PRE) && script_start(run, i, post) < 0)
            node_script_ended(run, i, post, 127);
    }
}

static void subs_step(struct run *run)
{
    struct run **link = &run->subs, *sub;

    while ((sub = *link)) {
        struct run_node *node = &run->nodes[sub->outer_node];
        uint32_t place = sub->outer_node;
        int status;
        bool ours; /* the node has not been tried again meanwhile */

        if (!sub->over)
            run_step(sub);
        if (!sub->over) {
            link = &sub->next;
            continue;
        }
        *link = sub->next;
        status = sub->status;
        ours = node->sub == sub;
        run_free(sub);
        if (!ours)
            continue;
        node->sub = NULL;
        if (node->state == NODE_JOB)
            node_job_ended(run, place, status);
    }
}

static void run_end(struct run *run)
{
    const struct run_node *final = run->dag.final ? &run->nodes[run->dag.final - 1] : NULL;
    char number[16];

    run->over = true;
    if (run->aborted)
        run->status = run->abort_status;
    else if (final)
        run->status = final->state == NODE_DONE ? 0 : 1;
    else
        run->status = run->failed || run->done + (final != NULL) < run->dag.count ? 1 : 0;
    snprintf(number, sizeof number, "%d", run->status);
    if (run->failed || run->aborted || run->status)
        dag_rescue_write(run);
    run_log(run, "ends with status %d: %u of %u nodes are done, %u failed", run->status, (unsigned)run->done,
            (unsigned)run->dag.count, (unsigned)run->failed);
    run_state_log(run, "INTERNAL", "DAGMAN_FINISHED", number);
    dag_status_write(run, true);
}

/* Has it a node FINAL that is still to come, or one of the workflows in it? */
static bool has_final(const struct run *run)
{
    if (run->dag.final && !run->finishing)
        return true;
    for (const struct run *sub = run->subs; sub; sub = sub->next)
        if (!sub->over && has_final(sub))
            return true;
    return false;
}

/* Ends what runs of it; the node FINAL is still to come. A workflow in it ends at once, or with its own FINAL when the whole was removed. */
void run_abort(struct run *run, int status)
{
    uint32_t kept = 0;

    run->aborted = true;
    run->abort_status = status;
    scripts_end(run->runner, run);
    for (uint32_t i = 0; i < run->dag.count; i++) {
        struct run_node *node = &run->nodes[i];
        const struct dag_node *said = &run->dag.nodes[i];

        if (node->state == NODE_JOB && !said->noop && !said->subdag) {
            jobs_remove(run, i);
            run->runner->queued--;
        }
        if (node->sub && !node->sub->over && run->runner->stopping && has_final(node->sub)) {
            run_abort(node->sub, 1);
            kept++;
            continue;
        }
        if (node->sub && !node->sub->over) {
            run_abort(node->sub, 1);
            run_end(node->sub);
        }
        if (node->state == NODE_JOB && said->category)
            run->in_category[said->category - 1]--;
        if (node->state != NODE_DONE && node->state != NODE_FAILED)
            node->state = NODE_WAITS;
        node->due = 0;
    }
    for (uint32_t i = 0; i < run->gate_count; i++)
        run->gates[i].count = 0;
    run->ready = 0;
    run->resting = 0;
    run->active = kept;
    run->dirty = true;
}

void run_step(struct run *run)
{
    subs_step(run);
    rest_look(run);
    if (run->dirty)
        turns_give(run);
    if (run->active || run->dirty) {
        dag_status_write(run, false);
        return;
    }
    if (run->dag.final && !run->finishing) {
        run->finishing = true;
        node_ready(run, run->dag.final - 1);
        return;
    }
    run_end(run);
}

/* ----------------------------------------------------------------------------------------------------------- the command */

/* Is the job that carries it out only held? Then its jobs go on, and it goes on with them when it is released. */
static bool is_held(struct runner *runner)
{
    struct tree *job = NULL;
    bool held = runner->job && job_fetch(&runner->customer, runner->job, &job) == STATUS_DONE &&
                job_text_is(job, "State", "Held");

    tree_unref(job);
    return held;
}

/* The workflow was removed: what runs of it ends, and its FINAL node is the last. */
static void run_remove(struct run *run)
{
    run->runner->stopping = true;
    run_log(run, has_final(run) ? "was removed: what runs is ended, and then FINAL runs" : "was told to end");
    run_abort(run, 1);
    if (!has_final(run))
        run_end(run);
}

static int carry_out(struct runner *runner, struct run *run)
{
    unsigned unreached = 0;

    while (!run->over) {
        if (told_to_end && !runner->stopping) {
            if (is_held(runner)) {
                scripts_end(runner, NULL);
                return STATUS_NO;
            }
            run_remove(run);
            continue;
        }
        if (told_to_end > 1) { /* FINAL is not waited for any longer */
            run_abort(run, 1);
            run_end(run);
            break;
        }
        run_step(run);
        if (run->over)
            break;
        scripts_wait(runner, run->dirty ? 0 : TICK_MS);
        unreached = jobs_look(runner, run) == STATUS_DONE ? 0 : unreached + 1;
        if (unreached > UNREACHED_MOST) {
            report("the customer does not answer");
            return STATUS_UNREACHABLE;
        }
    }
    return run->status;
}

int dag_carry(const struct dag_settings *settings, int word_count, char **words)
{
    const char *job = getenv("BERTH_JOB");
    struct runner runner = {.job = job ? strtoull(job, NULL, 10) : 0,
                            .name = settings->run_name ? settings->run_name : "",
                            .most_jobs = settings->most_jobs,
                            .most_idle = settings->most_idle ? settings->most_idle : RUN_IDLE_MOST,
                            .most_pre = settings->most_pre ? settings->most_pre : RUN_SCRIPTS_MOST,
                            .most_post = settings->most_post ? settings->most_post : RUN_SCRIPTS_MOST,
                            .anew = settings->anew,
                            .rescue_from = settings->no_rescue     ? 0
                                           : settings->rescue_from ? (int64_t)settings->rescue_from
                                                                   : -1};
    struct sigaction action = {.sa_handler = end_told};
    char name[40], folder[PATH_MAX];
    struct run *run = NULL;
    int status;

    if (!word_count) {
        report("dag run wants FILEs of a workflow");
        return STATUS_BAD;
    }
    if (!settings->run_name) {
        snprintf(name, sizeof name, "%lld.%ld", (long long)time(NULL), (long)getpid());
        runner.name = name;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    textmap_init(&runner.remarked, 0);
    if (!realpath(settings->cwd ? settings->cwd : ".", folder)) {
        report("%s: %s", settings->cwd ? settings->cwd : ".", strerror(errno));
        return STATUS_BAD;
    }
    status = customer_open(&runner.customer, &settings->pool);
    if (status == STATUS_DONE)
        run = run_open(&runner, NULL, 0, folder, word_count, words);
    if (status == STATUS_DONE)
        status = run ? carry_out(&runner, run) : STATUS_BAD;
    if (run)
        run_free(run);
    connection_close(&runner.customer);
    textmap_done(&runner.remarked);
    return status;
}
