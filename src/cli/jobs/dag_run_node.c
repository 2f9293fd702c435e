/* dag_run_node.c: what becomes of a node: its PRE script, its job, its POST script, and retries. */
#include "cli/jobs/dag_run.h"

#include "cli/term/file.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- turns */

static bool turn_before(const struct run_turn *a, const struct run_turn *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->node < b->node;
}

static void heap_push(struct run_heap *heap, struct run_turn turn)
{
    uint32_t at;

    ARRAY_ROOM(heap->items, heap->count, heap->room, 64);
    for (at = heap->count++; at && turn_before(&turn, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = turn;
}

static void heap_pop(struct run_heap *heap)
{
    struct run_turn last = heap->items[--heap->count];
    uint32_t at = 0, child;

    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count && turn_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!turn_before(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
}

/* Behind which limit the node waits. */
static uint32_t gate_of(const struct run *run, uint32_t place)
{
    const struct dag_node *said = &run->dag.nodes[place];

    if (said->pre.count && !run->nodes[place].pre_done)
        return GATE_PRE;
    if (said->noop)
        return GATE_FREE;
    if (said->category)
        return GATE_CATEGORIES + said->category - 1;
    return said->subdag ? GATE_FREE : GATE_JOBS;
}

void node_ready(struct run *run, uint32_t place)
{
    struct run_node *node = &run->nodes[place];

    if (node->state != NODE_READY)
        run->active++;
    node->state = NODE_READY;
    heap_push(&run->gates[gate_of(run, place)], (struct run_turn){run->dag.nodes[place].priority, place});
    run->ready++;
    run->dirty = true;
}

uint32_t gate_pop(struct run *run, struct run_heap *gate)
{
    uint32_t place = gate->items[0].node;

    heap_pop(gate);
    run->ready--;
    return place;
}

struct run_heap *gate_next(struct run *run)
{
    struct run_heap *best = NULL;

    for (uint32_t i = 0; run->ready && i < run->gate_count; i++) {
        struct run_heap *gate = &run->gates[i];

        while (gate->count && run->nodes[gate->items[0].node].state != NODE_READY)
            gate_pop(run, gate);
        if (gate->count && (!best || turn_before(&gate->items[0], &best->items[0])) &&
            node_may_go(run, gate->items[0].node))
            best = gate;
    }
    return best;
}

void node_queued(struct run *run, uint32_t place)
{
    ARRAY_ROOM(run->jobs, run->job_count, run->job_room, 64);
    run->jobs[run->job_count++] = place;
}

bool node_may_go(const struct run *run, uint32_t place)
{
    const struct runner *runner = run->runner;
    const struct dag_node *said = &run->dag.nodes[place];
    const struct run_node *node = &run->nodes[place];
    const struct dag_category *category = said->category ? &run->dag.categories[said->category - 1] : NULL;

    if (said->pre.count && !node->pre_done)
        return !runner->most_pre || runner->pre_count < runner->most_pre;
    if (said->noop)
        return true;
    if (category && category->most >= 0 && run->in_category[said->category - 1] >= (uint64_t)category->most)
        return false;
    if (said->subdag)
        return true;
    return (!runner->most_jobs || runner->queued < runner->most_jobs) &&
           (!runner->most_idle || runner->idle < runner->most_idle);
}

/* ------------------------------------------------------------------------------------------------------------- a node */

static void children_look(struct run *run, uint32_t place)
{
    for (uint32_t i = run->first[place]; i < run->first[place + 1]; i++) {
        struct run_node *child = &run->nodes[run->children[i]];

        if (child->blocked && !--child->blocked && child->state == NODE_WAITS && !run->aborted)
            node_ready(run, run->children[i]);
    }
}

/* The node is over: it is done, tried again, or has failed. */
void node_end(struct run *run, uint32_t place, bool good)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];
    bool again = !good && said->retries > (int64_t)node->tries && (said->unless < 0 || node->status != said->unless);
    bool aborts = said->abort != DAG_NO_STATUS && node->status == said->abort && !run->aborted && !said->final;

    run->active--;
    run->dirty = true;
    if (again && !aborts) {
        node->tries++;
        node->pre_done = false;
        node->state = NODE_WAITS;
        node->first = node->count = 0;
        dag_journal_add(run, 'T', place, node->tries, 0, false);
        run_log(run, "node %s is tried again (retry %u of %" PRId64 ")", said->name, (unsigned)node->tries,
                said->retries);
        node_ready(run, place);
        return;
    }
    node->state = good ? NODE_DONE : NODE_FAILED;
    dag_journal_add(run, good ? 'D' : 'F', place, node->status, 0, false);
    run_log(run, good ? "node %s is done" : "node %s has failed, with status %" PRId64, said->name, node->status);
    if (!said->final) {
        run->done += good;
        run->failed += !good;
    }
    if (good && !aborts)
        children_look(run, place);
    if (aborts) {
        run_log(run, "node %s ended with status %" PRId64 ", which ends the workflow (ABORT-DAG-ON)", said->name,
                node->status);
        run_abort(run, (int)(said->abort_return >= 0 ? said->abort_return : (node->status & 255)));
    }
}

void node_job_ended(struct run *run, uint32_t place, int64_t status)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];
    char number[24];

    if (node->state == NODE_JOB && !said->noop && said->category)
        run->in_category[said->category - 1]--;
    if (node->state == NODE_JOB && !said->noop && !said->subdag)
        run->runner->queued--;
    node->status = status;
    dag_journal_add(run, 'E', place, status, 0, false);
    snprintf(number, sizeof number, "%" PRId64, status);
    run_state_log(run, said->name, status ? "JOB_FAILURE" : "JOB_SUCCESS", number);
    run_log(run, "the job of node %s has ended with status %" PRId64, said->name, status);
    if (said->post.count) {
        node->state = NODE_POST;
        if (script_start(run, place, true) < 0)
            node_script_ended(run, place, true, 127);
    } else {
        node_end(run, place, status == 0);
    }
}

/* Submits the job, or begins the workflow that the node is. */
static void job_go(struct run *run, uint32_t place)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];

    node->state = NODE_JOB;
    node->over = node->seen = 0;
    node->missed = 0;
    if (said->noop) {
        node_job_ended(run, place, 0);
        return;
    }
    node_queued(run, place);
    if (said->category)
        run->in_category[said->category - 1]++;
    if (said->subdag) {
        char *folder = said->folder ? file_in(run->folder, said->folder) : mem_dup(run->folder, strlen(run->folder)),
             *file = said->file;

        if (run->depth < RUN_DEPTH_MOST)
            node->sub = run_open(run->runner, run, place, folder, 1, &file);
        free(folder);
        if (!node->sub)
            node_job_ended(run, place, RUN_NO_JOB);
        return;
    }
    run->runner->queued++;
    if (job_start(run, place) < 0)
        node_job_ended(run, place, RUN_NO_JOB);
}

void node_go(struct run *run, uint32_t place)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];

    if (said->pre.count && !node->pre_done) {
        node->state = NODE_PRE;
        if (script_start(run, place, false) < 0)
            node_script_ended(run, place, false, 127);
        return;
    }
    job_go(run, place);
}

void node_script_ended(struct run *run, uint32_t place, bool post, int64_t status)
{
    const struct dag_node *said = &run->dag.nodes[place];
    struct run_node *node = &run->nodes[place];
    const struct dag_defer *defer = post ? &said->post_defer : &said->pre_defer;

    run_log(run, "the %s script of node %s has ended with status %" PRId64, post ? "POST" : "PRE", said->name, status);
    run_state_log(run, said->name,
                  post ? (status ? "POST_SCRIPT_FAILURE" : "POST_SCRIPT_SUCCESS")
                       : (status ? "PRE_SCRIPT_FAILURE" : "PRE_SCRIPT_SUCCESS"),
                  "-");
    if (defer->status >= 0 && status == defer->status) {
        node->due = run_now() + defer->seconds * 1000;
        run->resting++;
        return;
    }
    dag_journal_add(run, post ? 'O' : 'P', place, status, node->tries, true);
    if (post) {
        node->status = status;
        node_end(run, place, status == 0);
        return;
    }
    node->pre_done = true;
    node->pre_status = status;
    if (status && said->pre_skip >= 0 && status == said->pre_skip) {
        node->status = 0;
        run_log(run, "node %s is skipped (PRE_SKIP)", said->name);
        node_end(run, place, true);
    } else if (status) {
        node->status = status;
        if (run->runner->always_post && said->post.count) {
            node->state = NODE_POST;
            if (script_start(run, place, true) < 0)
                node_script_ended(run, place, true, 127);
        } else {
            node_end(run, place, false);
        }
    } else {
        node->state = NODE_WAITS;
        run->active--;
        node_ready(run, place); /* its job has its own limits */
    }
}
