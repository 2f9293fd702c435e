/* grdl_match.c: berth grdl match: the matchers of section 6.6, single and multi, by three engines. */
#include "cli/ads/grdl.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "match/grdl/batch.h"
#include "match/grdl/matcher.h"
#include "match/grdl/shapes.h"
#include "match/grdl/translate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MAX 10000000 /* pairs, or aggregates, that are looked at before a search gives up */

static const char *const pair_columns[] = {"base", "candidate"};
static const char *const why_columns[] = {"base", "candidate", "match", "why"};
static const char *const over_columns[] = {"base", "candidate", "over"};
static const char *const master_columns[] = {"master", "slaves"};
static const char *const peers_columns[] = {"peers"};
static const char *const parts_columns[] = {"base", "parts"};
static const char *const batch_columns[] = {"left", "right", "left_position", "right_position"};

struct matching {
    struct grdl_run *run;
    struct grdl_compositions pairs; /* base, candidate */
    struct grdl_counts counts;
    struct grdl_indexed indexed;
    uint64_t all_pairs;
};

static const struct grdl_reading *reading(const struct grdl_run *run, uint32_t i)
{
    return run->readings[i];
}

static const struct grdl_reading *const *left_side(const struct grdl_run *run)
{
    return (const struct grdl_reading *const *)run->readings;
}

static const struct grdl_reading *const *right_side(const struct grdl_run *run)
{
    return left_side(run) + (grdl_two_sides(run) ? run->left_count : 0);
}

static uint32_t right_count(const struct grdl_run *run)
{
    return run->resources.count - (grdl_two_sides(run) ? run->left_count : 0);
}

/* ------------------------------------------------------------------------------------------------------------- reasons */

/* Appends the requirements of `of` that `by` does not meet, or all of them when it meets all. True when it does. */
static bool reasons_add(struct buf *out, const struct grdl_reading *of, const struct grdl_reading *by, bool shared)
{
    bool met = true;

    for (int turn = 0; turn < 2 && met; turn++)
        for (uint32_t i = 0; i < of->req_count; i++) {
            bool hidden = shared && !grdl_reading_chars(by, of->reqs[i].dimension).count;

            if (hidden || (turn == 0 && grdl_req_met_by(&of->reqs[i], by, NULL)))
                continue;
            met = met && turn;
            buf_adds(out, out->len ? "; " : "");
            grdl_reason_print(out, &of->reqs[i], by);
        }
    return met;
}

static void pair_explain(struct matching *matching, uint32_t base, uint32_t candidate, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;
    const struct grdl_reading *a = reading(run, base), *b = reading(run, candidate);
    bool peer = mode == GRDL_PEER, yes = peer ? grdl_pair(GRDL_PEER, a, b, NULL) : grdl_pair(mode, b, a, NULL);
    struct buf why, back;

    buf_init(&why);
    buf_init(&back);
    reasons_add(&why, a, b, mode == GRDL_PARTIAL);
    if (peer && !reasons_add(&back, b, a, false) && !yes && grdl_matches(b, a, NULL))
        buf_reset(&why); /* a requirement that is met is not the reason */
    if (peer && (yes || !grdl_matches(a, b, NULL)) && back.len) {
        buf_addf(&why, "%sof %s: ", why.len ? "; " : "", grdl_name(run, candidate));
        buf_add(&why, back.text, back.len);
    }
    grdl_name_cell(run, base);
    grdl_name_cell(run, candidate);
    grdl_text_cell(run, yes ? "yes" : "no");
    grdl_text_cell(run, buf_string(&why));
    buf_done(&why);
    buf_done(&back);
}

/* --------------------------------------------------------------------------------------------------------------- pairs */

static void indexed_found(void *user, uint32_t left, uint32_t right)
{
    struct matching *matching = user;
    uint32_t shift = grdl_two_sides(matching->run) ? matching->run->left_count : 0;

    grdl_compositions_add(&matching->pairs, (uint32_t[]){left, right + shift});
}

static int pair_order(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void pairs_by_index(struct matching *matching, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;
    struct grdl_compositions kept;

    grdl_index_pairs(left_side(run), run->left_count, right_side(run), right_count(run), mode == GRDL_ONE_WAY,
                     indexed_found, matching, &matching->indexed);
    if (matching->pairs.count)
        qsort(matching->pairs.members, matching->pairs.count, 2 * sizeof *matching->pairs.members, pair_order);
    grdl_compositions_init(&kept, 2);
    for (uint32_t i = 0; i < matching->pairs.count; i++) {
        const uint32_t *pair = matching->pairs.members + (size_t)i * 2;

        if (grdl_may_pair(run, pair[0], pair[1]) && (mode != GRDL_PEER || grdl_two_sides(run) || pair[0] < pair[1]))
            grdl_compositions_add(&kept, pair);
    }
    grdl_compositions_done(&matching->pairs);
    matching->pairs = kept;
}

static void pairs_by_templates(struct matching *matching)
{
    struct grdl_run *run = matching->run;
    struct grdl_dimensions left_sees, right_sees;
    struct grdl_shapes left, right;
    struct grdl_shape_pairs pairs;

    grdl_dimensions_init(&left_sees);
    grdl_dimensions_init(&right_sees);
    for (uint32_t i = 0; i < run->left_count; i++)
        grdl_dimensions_name(&left_sees, left_side(run)[i]);
    for (uint32_t i = 0; i < right_count(run); i++)
        grdl_dimensions_name(&right_sees, right_side(run)[i]);
    grdl_shapes_make(left_side(run), run->left_count, &right_sees, &left);
    grdl_shapes_make(right_side(run), right_count(run), &left_sees, &right);
    grdl_shapes_match(&left, left_side(run), &right, right_side(run), &pairs);
    matching->counts = pairs.counts;
    for (uint32_t i = 0; i < pairs.count; i++) {
        const struct grdl_shape *a = &left.items[pairs.items[i].left], *b = &right.items[pairs.items[i].right];

        for (uint32_t m = 0; m < a->count; m++)
            for (uint32_t n = 0; n < b->count; n++)
                indexed_found(matching, left.members[a->first + m], right.members[b->first + n]);
    }
    if (matching->pairs.count)
        qsort(matching->pairs.members, matching->pairs.count, 2 * sizeof *matching->pairs.members, pair_order);
    grdl_shape_pairs_done(&pairs);
    grdl_shapes_done(&left);
    grdl_shapes_done(&right);
    grdl_dimensions_done(&left_sees);
    grdl_dimensions_done(&right_sees);
}

/* Tries all pairs, in the order of the bases, then of the candidates. */
static void pairs_by_sets(struct matching *matching, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;

    for (uint32_t i = 0; i < run->left_count; i++)
        for (uint32_t j = 0; j < run->resources.count; j++)
            if (grdl_may_pair(run, i, j) && (mode != GRDL_PEER || grdl_two_sides(run) || i < j) &&
                grdl_pair(mode, reading(run, j), reading(run, i), &matching->counts))
                grdl_compositions_add(&matching->pairs, (uint32_t[]){i, j});
}

static uint64_t pairs_count(const struct grdl_run *run, enum grdl_mode mode)
{
    uint64_t left = run->left_count;

    if (grdl_two_sides(run))
        return left * right_count(run);
    return left * (left ? left - 1 : 0) / (mode == GRDL_PEER ? 2 : 1);
}

static void pairs_find(struct matching *matching, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;

    matching->all_pairs = pairs_count(run, mode);
    if (run->settings->engine == GRDL_ENGINE_SETS)
        pairs_by_sets(matching, mode);
    else if (run->settings->engine == GRDL_ENGINE_INDEX)
        pairs_by_index(matching, mode);
    else if (run->settings->engine == GRDL_ENGINE_TEMPLATES)
        pairs_by_templates(matching);
    if (run->settings->multi) {
        struct grdl_compositions chosen;

        grdl_exclude(&matching->pairs, run->resources.count, (uint32_t)run->settings->top, &chosen);
        grdl_compositions_done(&matching->pairs);
        matching->pairs = chosen;
    }
}

static void stats_print(const struct matching *matching)
{
    const struct grdl_settings *settings = matching->run->settings;

    if (!settings->stats)
        return;
    if (settings->engine == GRDL_ENGINE_INDEX)
        report("%" PRIu64 " pairs of all, of which the index looked at %" PRIu64 " and evaluated %" PRIu64
               " constraints",
               matching->all_pairs, matching->indexed.candidates, matching->indexed.evaluations);
    else
        report("%" PRIu64 " pairs of all; %" PRIu64 " times one was tried against another, with %" PRIu64
               " comparisons",
               matching->all_pairs, matching->counts.pairs, matching->counts.comparisons);
}

/* Prints the dimensions of requirements that the candidate has. */
static void over_cell(struct grdl_run *run, uint32_t base, uint32_t candidate)
{
    const struct grdl_reading *of = reading(run, base);
    uint32_t last = UINT32_MAX;

    buf_reset(&run->text);
    for (uint32_t i = 0; i < of->req_count; i++) {
        if (of->reqs[i].dimension == last || !grdl_reading_chars(reading(run, candidate), of->reqs[i].dimension).count)
            continue;
        last = of->reqs[i].dimension;
        buf_addf(&run->text, "%s%s", run->text.len ? " " : "", of->reqs[i].from->dimension);
    }
    table_text(&run->table, run->text.text, run->text.len);
}

static bool top_reached(const struct grdl_run *run, uint32_t count)
{
    return run->settings->top && count >= run->settings->top;
}

static uint32_t pairs_explain(struct matching *matching, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;

    table_init(&run->table, why_columns, 4, run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++)
        for (uint32_t j = 0; j < run->resources.count; j++)
            if (grdl_may_pair(run, i, j) && (mode != GRDL_PEER || grdl_two_sides(run) || i < j))
                pair_explain(matching, i, j, mode);
    return matching->pairs.count;
}

static int pairs_run(struct matching *matching, enum grdl_mode mode)
{
    struct grdl_run *run = matching->run;
    uint32_t count = 0;

    if (run->settings->engine == GRDL_ENGINE_TEMPLATES && (mode != GRDL_PEER || !grdl_two_sides(run))) {
        report("--engine templates matches peers of two files");
        return STATUS_BAD;
    }
    if (run->settings->engine == GRDL_ENGINE_INDEX && mode == GRDL_PARTIAL) {
        report("--engine index matches peers, or one way");
        return STATUS_BAD;
    }
    grdl_compositions_init(&matching->pairs, 2);
    pairs_find(matching, mode);
    if (run->settings->explain) {
        count = pairs_explain(matching, mode);
        table_finish(&run->table);
        table_done(&run->table);
    } else {
        table_init(&run->table, mode == GRDL_PARTIAL ? over_columns : pair_columns, mode == GRDL_PARTIAL ? 3 : 2,
                   run->settings->json);
        for (; count < matching->pairs.count && !top_reached(run, count); count++) {
            const uint32_t *pair = matching->pairs.members + (size_t)count * 2;

            if (run->settings->long_form) {
                const struct grdl_resource *both[] = {run->resources.items[pair[0]], run->resources.items[pair[1]]};

                grdl_print(run, both, 2, GRDL_FORM_XML);
                continue;
            }
            grdl_name_cell(run, pair[0]);
            grdl_name_cell(run, pair[1]);
            if (mode == GRDL_PARTIAL)
                over_cell(run, pair[0], pair[1]);
        }
        table_finish(&run->table);
        table_done(&run->table);
    }
    stats_print(matching);
    grdl_compositions_done(&matching->pairs);
    return count ? STATUS_DONE : STATUS_NO;
}

static int one_way_run(struct matching *matching)
{
    return pairs_run(matching, GRDL_ONE_WAY);
}

static int partial_run(struct matching *matching)
{
    return pairs_run(matching, GRDL_PARTIAL);
}

/* ----------------------------------------------------------------------------------------------------- by both sides */

static int batch_run(struct matching *matching)
{
    static const char *const words[] = {"minsum", "singles", "singles-minsum"};
    struct grdl_run *run = matching->run;
    struct grdl_batch batch;
    uint32_t *chosen, count, policy = 0;

    while (policy < 3 && strcmp(run->settings->policy, words[policy]) != 0)
        policy++;
    if (policy == 3 || !grdl_two_sides(run)) {
        report(policy == 3 ? "grdl: --policy: expected minsum, singles or singles-minsum, got '%.60s'"
                           : "grdl: --policy %s wants two files: one a side",
               run->settings->policy);
        return STATUS_BAD;
    }
    grdl_batch_make(left_side(run), run->left_count, right_side(run), right_count(run), &matching->counts, &batch);
    chosen = mem_alloc((batch.count + 1) * sizeof *chosen);
    count = grdl_batch_choose(&batch, (enum grdl_batch_policy)policy, chosen);
    table_init(&run->table, batch_columns, 4, run->settings->json);
    for (uint32_t i = 0; i < count && !top_reached(run, i); i++) {
        const struct grdl_batch_pair *pair = &batch.pairs[chosen[i]];

        grdl_name_cell(run, pair->left);
        grdl_name_cell(run, pair->right + run->left_count);
        table_number(&run->table, "%" PRIu32, pair->left_position);
        table_number(&run->table, "%" PRIu32, pair->right_position);
    }
    table_finish(&run->table);
    table_done(&run->table);
    free(chosen);
    grdl_batch_done(&batch);
    return count ? STATUS_DONE : STATUS_NO;
}

static int peer_run(struct matching *matching)
{
    return matching->run->settings->policy ? batch_run(matching) : pairs_run(matching, GRDL_PEER);
}

/* ------------------------------------------------------------------------------------------------------ more than two */

static int hierarchical_run(struct matching *matching)
{
    struct grdl_run *run = matching->run;
    const struct grdl_reading **slaves = mem_alloc((run->resources.count + 1) * sizeof *slaves);
    uint32_t *numbers = mem_alloc((run->resources.count + 1) * sizeof *numbers), found = 0;

    table_init(&run->table, run->settings->explain ? why_columns : master_columns, run->settings->explain ? 4 : 2,
               run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++) {
        uint32_t count = 0;

        for (uint32_t j = 0; j < run->resources.count; j++)
            if (grdl_may_pair(run, i, j)) {
                slaves[count] = reading(run, j);
                numbers[count++] = j;
                if (run->settings->explain)
                    pair_explain(matching, i, j, GRDL_ONE_WAY);
            }
        if (!count || !grdl_hierarchy(slaves, count, reading(run, i), &matching->counts))
            continue;
        found++;
        if (run->settings->explain || top_reached(run, found - 1))
            continue;
        grdl_name_cell(run, i);
        grdl_names_cell(run, numbers, count);
    }
    table_finish(&run->table);
    table_done(&run->table);
    free(slaves);
    free(numbers);
    return found ? STATUS_DONE : STATUS_NO;
}

static int n_way_run(struct matching *matching)
{
    struct grdl_run *run = matching->run;
    uint32_t size = run->settings->size ? (uint32_t)run->settings->size : run->resources.count;
    struct grdl_compositions sets, chosen;
    bool all;

    grdl_compositions_init(&sets, size);
    all = size > run->resources.count ||
          grdl_find_peers(left_side(run), run->resources.count, run->settings->multi ? 0 : (uint32_t)run->settings->top,
                          WORK_MAX, &matching->counts, &sets);
    if (run->settings->multi) {
        grdl_exclude(&sets, run->resources.count, (uint32_t)run->settings->top, &chosen);
        grdl_compositions_done(&sets);
        sets = chosen;
    }
    table_init(&run->table, peers_columns, 1, run->settings->json);
    for (uint32_t i = 0; i < sets.count; i++)
        grdl_names_cell(run, &sets.members[(size_t)i * size], size);
    table_finish(&run->table);
    table_done(&run->table);
    if (!all && !(run->settings->top && sets.count == run->settings->top))
        report("grdl: not all sets were looked at: more than %d pairs", WORK_MAX);
    size = sets.count;
    grdl_compositions_done(&sets);
    return size ? STATUS_DONE : STATUS_NO;
}

/* Prints the aggregate of the parts as a document. */
static void whole_print(struct grdl_run *run, const struct grdl_merge_rule *rules, uint32_t rule_count,
                        const uint32_t *parts, uint32_t count)
{
    const struct grdl_reading *readings[64];
    struct grdl_resource *whole;
    const struct grdl_resource *one;
    struct err err = {0};

    for (uint32_t i = 0; i < count; i++)
        readings[i] = right_side(run)[parts[i]];
    whole = grdl_aggregate(run->kit->consumer, rules, rule_count, readings, count, readings[0]->resource->class_name,
                           "aggregated", &err);
    one = whole;
    if (whole)
        grdl_print(run, &one, 1, run->settings->json ? GRDL_FORM_JSON : GRDL_FORM_XML);
    grdl_resource_free(whole);
}

static int aggregated_run(struct matching *matching)
{
    static const struct grdl_merge_rule usual[] = {
        {"cpus", GRDL_MERGE_ADD, "1"}, {"bench", GRDL_MERGE_ADD, NULL}, {"os", GRDL_MERGE_AGREE, NULL}};
    struct grdl_run *run = matching->run;
    const struct grdl_merge_rules *given = &run->settings->merge;
    const struct grdl_merge_rule *rules = given->count ? given->rules : usual;
    uint32_t rule_count = given->count ? given->count : 3, parts[64], found = 0;
    uint32_t most = run->settings->size ? (uint32_t)run->settings->size : 8;

    if (!grdl_two_sides(run)) {
        report("grdl match --kind aggregated wants two files: those who ask, and the parts");
        return STATUS_BAD;
    }
    table_init(&run->table, parts_columns, 2, run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++) {
        uint32_t count = grdl_aggregate_find(run->kit->consumer, rules, rule_count, reading(run, i), right_side(run),
                                             right_count(run), most, WORK_MAX / 100, parts);

        if (!count)
            continue;
        found++;
        if (top_reached(run, found - 1))
            continue;
        if (run->settings->long_form) {
            whole_print(run, rules, rule_count, parts, count);
            continue;
        }
        for (uint32_t n = 0; n < count; n++)
            parts[n] += run->left_count;
        grdl_name_cell(run, i);
        grdl_names_cell(run, parts, count);
    }
    table_finish(&run->table);
    table_done(&run->table);
    return found ? STATUS_DONE : STATUS_NO;
}

static const struct {
    const char *name;
    int (*run)(struct matching *matching);
} kinds[] = {
    {"peer", peer_run},   {"one-way", one_way_run}, {"hierarchical", hierarchical_run},
    {"n-way", n_way_run}, {"partial", partial_run}, {"aggregated", aggregated_run},
};

int grdl_match(struct grdl_run *run)
{
    struct matching matching = {.run = run};
    const char *kind = run->settings->kind ? run->settings->kind : "peer";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return kinds[i].run(&matching);
    report("grdl match: --kind: expected one-way, hierarchical, peer, n-way, partial or aggregated, got '%.60s'", kind);
    return STATUS_BAD;
}
