/* workflow.c: workflows: submissions that wait for each other, by the names of their nodes.
 *
 *     A --- B --- D        After of B and C: { "A" };  of D: { "B", "C" }: blocked by two, and let go when the second of them is done
 *      `--- C ---'
 *
 * Only the names are recorded: which nodes are blocked follows from the results of jobs, which are recorded. So a node is let go by the same facts
 * before a restart and after it. When a node is done only its children are looked at; a restart looks at all names in all After once. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/form/dag.h"
#include "pool/customer/customer_parts.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- nodes */

static const struct expr *node_find(const struct tree *node, const char *attribute)
{
    symbol name = symbols_find(node->symbols, attribute, strlen(attribute));

    return name ? tree_find(node, tree_root(node), name) : NULL;
}

/* The node's name; NULL: it has no valid one. */
static const char *node_name(const struct tree *node, size_t *ret_len)
{
    const struct expr *name = node && tree_is_ad(node) ? node_find(node, "Node") : NULL;

    if (!name || name->kind != EXPR_STRING || !name->u.run.count || name->u.run.count > CUSTOMER_NODE_MAX)
        return NULL;
    *ret_len = name->u.run.count;
    return tree_string(node, name);
}

/* The next node in an After. False: there are no more. NULL: no node has that name. */
static bool parent_next(const struct flow *flow, struct dag_after *after, struct submission **ret,
                        const char **ret_name, size_t *ret_len)
{
    uint32_t place;

    if (!dag_after_next(after, ret_name, ret_len))
        return false;
    place = textmap_find(&flow->names, *ret_name, *ret_len);
    *ret = place < flow->count ? flow->items[place] : NULL;
    return true;
}

/* -------------------------------------------------------------------------------------------------- joining and leaving */

static struct flow *flow_find(const struct customer *customer, uint64_t word)
{
    uint64_t value = map_find(&customer->flows, word);

    return value == MAP_NONE ? NULL : (struct flow *)(uintptr_t)value;
}

static void flow_free(struct flow *flow)
{
    textmap_done(&flow->names);
    free(flow->items);
    free(flow);
}

void flows_done(struct customer *customer)
{
    uint64_t word, value;
    uint32_t at = 0;

    while (map_next(&customer->flows, &at, &word, &value))
        flow_free((struct flow *)(uintptr_t)value);
    map_done(&customer->flows);
}

bool flow_fits(const struct customer *customer, uint64_t word, uint64_t nodes, const struct tree *node,
               const struct text *owner)
{
    const struct flow *flow = flow_find(customer, word);
    size_t len;
    const char *name = node_name(node, &len);

    if (!name || !nodes || nodes > CUSTOMER_SUBMIT_MAX)
        return false;
    return !flow ||
           (flow->nodes == nodes && flow->count < nodes && textmap_find(&flow->names, name, len) == TEXTMAP_NONE &&
            memcmp(&flow->owner, owner, sizeof *owner) == 0);
}

void flow_join(struct customer *customer, struct submission *submission, uint64_t word, uint64_t nodes,
               struct tree *node)
{
    struct flow *flow = flow_find(customer, word);
    size_t len;
    const char *name = node_name(node, &len);

    if (!flow) {
        flow = mem_alloc(sizeof *flow);
        *flow = (struct flow){.word = word, .nodes = nodes, .owner = submission->owner, .first = UINT64_MAX};
        textmap_init(&flow->names, word);
        map_set(&customer->flows, word, (uint64_t)(uintptr_t)flow);
    }
    ARRAY_ROOM(flow->items, flow->count, flow->room, 8);
    submission->flow = flow;
    submission->node = tree_ref(node);
    submission->place = textmap_add(&flow->names, name, len);
    flow->items[flow->count++] = submission;
}

void flow_leave(struct customer *customer, struct submission *submission)
{
    struct flow *flow = submission->flow;

    if (!flow)
        return;
    flow->items[submission->place] = NULL;
    if (++flow->gone < flow->count)
        return;
    map_remove(&customer->flows, flow->word);
    flow_free(flow);
}

void flow_count(struct submission *submission)
{
    struct flow *flow = submission->flow;

    if (!flow)
        return;
    submission->tally[TALLY_OPEN] = submission->count;
    flow->left += submission->count;
    if (submission->first < flow->first)
        flow->first = submission->first;
}

bool flow_is_whole(const struct flow *flow)
{
    return flow->count == flow->nodes;
}

/* ---------------------------------------------------------------------------------------------------- who waits for whom */

static void child_add(struct submission *parent, uint32_t child)
{
    ARRAY_ROOM(parent->children, parent->child_count, parent->child_room, 4);
    parent->children[parent->child_count++] = child;
}

/* Counts for each node the names that block it. A name that no node has blocks for ever. */
static void flow_tie(struct flow *flow)
{
    for (uint32_t i = 0; i < flow->count; i++) {
        struct submission *one = flow->items[i], *parent;
        struct dag_after after;
        const char *name;
        size_t len;

        dag_after_begin(&after, one->node);
        while (parent_next(flow, &after, &parent, &name, &len)) {
            if (parent && parent->done)
                continue;
            one->blocked++;
            if (parent)
                child_add(parent, i);
        }
    }
    flow->begun = true;
}

/* The node's jobs wait for machines from now on. Their request must not be sent before the persist `stored` is
 * durable. */
static void node_go(const struct customer_step *step, struct submission *node, uint64_t stored)
{
    node->since = step->env->now;
    if (stored > node->shape->lead->stored)
        node->shape->lead->stored = stored;
    for (uint64_t id = node->first + node->gone; id < node->first + node->count; id++) {
        struct job *job = job_find(step->customer, id);

        if (!job || job->state != JOB_IDLE)
            continue;
        job_wait(step->customer, job, false);
        effects_changed(step->effects, id, stored);
        if (job->shape == node->shape)
            continue;
        if (stored > job->shape->lead->stored) /* it was edited */
            job->shape->lead->stored = stored;
        shape_changed(step, job->shape);
    }
    shape_submitted(step, node->shape);
}

void flow_begin(const struct customer_step *step, struct flow *flow)
{
    flow_tie(flow);
    for (uint32_t i = 0; i < flow->count; i++)
        if (!flow->items[i]->blocked)
            node_go(step, flow->items[i], flow->items[i]->stored);
}

/* All jobs of a node have ended well. */
static void node_done(const struct customer_step *step, struct submission *node, uint64_t stored)
{
    node->done = true;
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct submission *child = node->flow->items[node->children[i]];

        if (child && child->blocked && !--child->blocked)
            node_go(step, child, stored);
    }
}

/* -------------------------------------------------------------------------------------------------------------- counting */

static enum tally tally_of(const struct job *job)
{
    if (job->state == JOB_DONE)
        return job->past->reason == REASON_EXITED && job->past->status == 0 ? TALLY_GOOD : TALLY_FAILED;
    return job->state == JOB_REMOVED ? TALLY_REMOVED : job->state == JOB_ABORTED ? TALLY_FAILED : TALLY_OPEN;
}

static bool tally_is_left(enum tally tally)
{
    return tally == TALLY_OPEN || tally == TALLY_FAILED;
}

void flow_moves(struct job *job)
{
    bool moves = job->waits || job->past->rests || job->state == JOB_RUNNING;

    if (!job->from || !job->from->flow || moves == job->moves)
        return;
    job->moves = moves;
    job->from->flow->moving += moves ? 1 : UINT64_MAX;
}

void flow_tally(const struct customer_step *step, struct job *job)
{
    struct submission *node = job->from;
    enum tally was = job->tally, is = tally_of(job);

    flow_moves(job);
    if (!node || !node->flow || was == is)
        return;
    job->tally = is;
    node->tally[was]--;
    node->tally[is]++;
    node->flow->left += (uint64_t)tally_is_left(is) - (uint64_t)tally_is_left(was);
    if (!node->done && (node->tally[TALLY_GOOD] == node->count || (MUTANT(PARENT_IGNORED) && is == TALLY_FAILED)))
        node_done(step, node, job->past->stored);
}

/* ------------------------------------------------------------------------------------------------------------- restarts */

static void node_boot(const struct customer *customer, struct submission *node)
{
    struct flow *flow = node->flow;

    node->tally[TALLY_GOOD] = node->count - node->alive; /* jobs are forgotten only when all of it is over */
    for (uint64_t id = node->first + node->gone; id < node->first + node->count; id++) {
        struct job *job = job_find(customer, id);

        if (!job || job->from != node)
            continue;
        job->tally = tally_of(job);
        flow_moves(job);
        node->tally[job->tally]++;
        flow->left += tally_is_left(job->tally);
    }
    node->done = node->tally[TALLY_GOOD] == node->count;
    if (node->first < flow->first)
        flow->first = node->first;
}

/* A workflow that is not whole never begins: it was not submitted as a whole, or all of it is over. */
void flows_boot(const struct customer_step *step)
{
    uint64_t word, value;
    uint32_t at = 0;

    while (map_next(&step->customer->flows, &at, &word, &value)) {
        struct flow *flow = (struct flow *)(uintptr_t)value;

        for (uint32_t i = 0; i < flow->count; i++)
            node_boot(step->customer, flow->items[i]);
        if (flow_is_whole(flow))
            flow_tie(flow);
    }
}

/* When the last of the node's jobs came into its present state. */
static int64_t node_changed(const struct customer *customer, const struct submission *node)
{
    int64_t latest = node->at;

    for (uint64_t id = node->first + node->gone; id < node->first + node->count; id++) {
        const struct job *job = job_find(customer, id);

        if (job && job_changed(job) > latest)
            latest = job_changed(job);
    }
    return latest;
}

int64_t flow_since(const struct customer *customer, const struct submission *submission)
{
    int64_t latest = node_changed(customer, submission), one;
    struct submission *parent;
    struct dag_after after;
    struct textmap seen; /* a name may appear often, and a node may have many jobs */
    const char *name;
    size_t len;

    if (submission->shape->patience == INT64_MAX)
        return latest; /* no job of it can wait too long: nobody asks */
    textmap_init(&seen, submission->flow->word);
    dag_after_begin(&after, submission->node);
    while (parent_next(submission->flow, &after, &parent, &name, &len)) {
        uint32_t known = seen.places;

        if (!parent || textmap_add(&seen, name, len) != known)
            continue;
        one = node_changed(customer, parent);
        latest = one > latest ? one : latest;
    }
    textmap_done(&seen);
    return latest;
}

/* ---------------------------------------------------------------------------------------------------------------- views */

void customer_parents(const struct customer *customer, uint64_t id, customer_parent_fn *fn, void *user)
{
    const struct job *job = job_find(customer, id);
    const struct submission *node = job ? job->from : NULL;
    struct submission *parent;
    struct parent_view view;
    struct dag_after after;

    if (!node || !node->flow)
        return;
    dag_after_begin(&after, node->node);
    while (parent_next(node->flow, &after, &parent, &view.name, &view.len)) {
        if (parent && parent->done)
            continue;
        view.missing = !parent;
        view.failed = parent && parent->tally[TALLY_FAILED];
        view.removed = parent && parent->tally[TALLY_REMOVED];
        if (!fn(user, &view))
            return;
    }
}

bool customer_node(const struct customer *customer, uint64_t id, const char *name, size_t len, uint64_t *ret_first,
                   uint64_t *ret_count)
{
    const struct job *job = job_find(customer, id);
    const struct flow *flow = job && job->from ? job->from->flow : NULL;
    uint32_t place = flow ? textmap_find(&flow->names, name, len) : TEXTMAP_NONE;

    if (!flow || place >= flow->count || !flow->items[place])
        return false;
    *ret_first = flow->items[place]->first;
    *ret_count = flow->items[place]->count;
    return true;
}
