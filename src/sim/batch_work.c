/* batch_work.c: makes the clusters and the jobs of a batch system. */
#include "sim/batch.h"

#include "lang/base/array.h"
#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const batch_quantities[BATCH_QUANTITIES] = {"Cpus", "Memory", "Disk"};

const char *const batch_policy_names[BATCH_POLICY_COUNT] = {
#define X(name, text, about) [BATCH_##name] = text,
    ASSIGN_POLICIES(X) BATCH_ORDERS(X)
#undef X
};

int batch_policy_find(const char *name, size_t len, enum batch_policy *ret_policy, struct err *err)
{
    struct nearest nearest;
    struct buf all;
    int failed;

    nearest_init(&nearest, name, len);
    buf_init(&all);
    for (int i = 0; i < BATCH_POLICY_COUNT; i++) {
        if (strlen(batch_policy_names[i]) == len && !strncasecmp(batch_policy_names[i], name, len)) {
            *ret_policy = (enum batch_policy)i;
            buf_done(&all);
            return 0;
        }
        nearest_try(&nearest, batch_policy_names[i]);
        buf_addf(&all, "%s%s", i ? ", " : "", batch_policy_names[i]);
    }
    failed = nearest.name
                 ? err_set(err, "there is no policy '%.*s'; did you mean '%s'?", len < 100 ? (int)len : 100, name,
                           nearest.name)
                 : err_set(err, "there is no policy '%.*s': %s", len < 100 ? (int)len : 100, name, buf_string(&all));
    buf_done(&all);
    return failed;
}

void park_init(struct batch_park *park)
{
    *park = (struct batch_park){0};
}

void park_done(struct batch_park *park)
{
    free(park->kinds);
    park_init(park);
}

uint32_t park_add(struct batch_park *park, const struct batch_kind *kind)
{
    ARRAY_ROOM(park->kinds, park->kind_count, park->room, 16);
    park->kinds[park->kind_count] = *kind;
    park->clusters += kind->count;
    return park->kind_count++;
}

double park_processors(const struct batch_park *park, bool extra)
{
    double sum = 0;

    for (uint32_t i = 0; i < park->kind_count; i++)
        if (extra || !park->kinds[i].extra)
            sum += park->kinds[i].capacity[0] * park->kinds[i].count;
    return sum;
}

void work_init(struct batch_work *work)
{
    *work = (struct batch_work){.users = 1};
    assign_problem_init(&work->problem, BATCH_QUANTITIES);
    map_init(&work->rows, 0);
}

void work_done(struct batch_work *work)
{
    free(work->jobs);
    free(work->after);
    free(work->before_first);
    free(work->before);
    assign_problem_done(&work->problem);
    map_done(&work->rows);
}

void work_reset(struct batch_work *work)
{
    work->count = work->after_count = 0;
}

struct batch_job *work_add(struct batch_work *work)
{
    ARRAY_ROOM(work->jobs, work->count, work->room, 1024);
    work->jobs[work->count] = (struct batch_job){.number = work->count + 1};
    return &work->jobs[work->count++];
}

static int submit_compare(const void *a, const void *b)
{
    const struct batch_job *left = a, *right = b;

    if (left->submit != right->submit)
        return left->submit < right->submit ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

void work_sort(struct batch_work *work)
{
    uint32_t *rows;
    bool sorted = true;

    for (uint32_t i = 1; i < work->count && sorted; i++)
        sorted = work->jobs[i - 1].submit <= work->jobs[i].submit;
    if (sorted)
        return;
    rows = mem_alloc(((size_t)work->count + 1) * sizeof *rows); /* a job's place stands in for its row while sorting */
    for (uint32_t i = 0; i < work->count; i++) {
        rows[i] = work->jobs[i].row;
        work->jobs[i].row = i;
    }
    qsort(work->jobs, work->count, sizeof *work->jobs, submit_compare);
    for (uint32_t i = 0; i < work->count; i++)
        work->jobs[i].row = rows[work->jobs[i].row];
    free(rows);
}

static uint64_t edges_hash(const struct assign_edge *edges, uint32_t count)
{
    uint64_t hash = rng_mix(count);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t words[2];

        memcpy(&words[0], &edges[i].weight, sizeof words[0]);
        memcpy(&words[1], &edges[i].back, sizeof words[1]);
        hash = rng_mix(rng_mix(rng_mix(hash ^ edges[i].kind) ^ words[0]) ^ words[1]);
    }
    return hash;
}

static bool row_is(const struct assign_problem *problem, uint32_t row, const struct assign_edge *edges, uint32_t count)
{
    const struct assign_edge *own = problem->edges + problem->rows[row].first;

    if (problem->rows[row].count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (own[i].kind != edges[i].kind || own[i].weight != edges[i].weight || own[i].back != edges[i].back)
            return false;
    return true;
}

uint32_t work_row(struct batch_work *work, const struct assign_edge *edges, uint32_t count)
{
    uint64_t hash = edges_hash(edges, count), found;
    uint32_t row;

    while ((found = map_find(&work->rows, hash)) != MAP_NONE) {
        if (row_is(&work->problem, (uint32_t)found, edges, count))
            return (uint32_t)found;
        hash++; /* another row has this hash */
    }
    row = assign_add_row(&work->problem);
    for (uint32_t i = 0; i < count; i++)
        assign_add_edge(&work->problem, edges[i].kind, edges[i].weight, edges[i].back);
    map_set(&work->rows, hash, row);
    return row;
}

uint32_t work_row_all(struct batch_work *work, const struct batch_park *park)
{
    struct assign_edge *edges = mem_alloc((park->kind_count + 1) * sizeof *edges);
    uint32_t row;

    for (uint32_t i = 0; i < park->kind_count; i++)
        edges[i] = (struct assign_edge){i, 0, 0};
    row = work_row(work, edges, park->kind_count);
    free(edges);
    return row;
}
