/* library_speed.c: the work of `berth bench pair` and `berth bench index`, once by the rooms themselves and once through berth.h and the shared library.
 *     library_speed pair|index rooms|library ROUNDS
 * prints how many matches were found. library_speed_test.sh counts the instructions that a few rounds more take. */
#include "api/berth.h"
#include "cli/bench/workload.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/index/index.h"
#include "match/pair/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 120

static const struct env env = {.now = 972223116};

static uint64_t pair_direct(struct arena *arena, const struct party *queries, const struct party *objects)
{
    uint64_t matches = 0;

    for (size_t i = 0; i < SIDE; i++)
        for (size_t k = 0; k < SIDE; k++)
            matches += party_matches(&env, arena, &queries[i], &objects[k]);
    return matches;
}

static uint64_t pair_library(struct berth_context *context, struct berth_party *const *queries,
                             struct berth_party *const *objects)
{
    uint64_t matches = 0;

    for (size_t i = 0; i < SIDE; i++)
        for (size_t k = 0; k < SIDE; k++)
            matches += (uint64_t)berth_party_match(context, queries[i], objects[k]);
    return matches;
}

static void count_found(void *user, uint32_t id)
{
    (void)id;
    ++*(uint64_t *)user;
}

static uint64_t index_direct(struct arena *arena, const struct workload *workload)
{
    struct index *index = index_new();
    uint64_t matches = 0;

    index_build(index, &env, arena, workload->objects, (uint32_t)workload->object_count);
    for (size_t i = 0; i < workload->query_count; i++)
        index_probe(index, &env, arena, workload->queries[i], count_found, &matches);
    index_free(index);
    return matches;
}

static uint64_t index_library(struct berth_context *context, struct berth_ad *const *objects,
                              struct berth_ad *const *queries)
{
    struct berth_index *index = berth_index_new(context);
    uint64_t matches = 0;

    if (berth_index_load(context, index, objects, SIDE, NULL) < 0)
        return 0;
    for (size_t i = 0; i < SIDE; i++) {
        const uint64_t *keys;

        matches += (uint64_t)berth_index_all(context, index, queries[i], &keys);
    }
    berth_index_free(index);
    return matches;
}

int main(int count, char **words)
{
    struct symbols *symbols = names_new(0);
    struct berth_context *context = berth_context_new();
    struct party *parties[2];
    struct berth_ad *ads[2][SIDE];
    struct berth_party *ready[2][SIDE];
    struct workload workload;
    struct arena arena;
    struct build build;
    struct buf text;
    uint64_t found = 0;

    if (count != 4)
        return 2;
    arena_init(&arena);
    buf_init(&text);
    build_init(&build, symbols, &dialect_classic);
    berth_context_set_clock(context, env.now, 0);
    workload_init(&workload, symbols, 1, SIDE, SIDE, 4, WORKLOAD_D);
    for (int side = 0; side < 2; side++) {
        struct tree **trees = side ? workload.objects : workload.queries;

        parties[side] = mem_alloc(SIDE * sizeof **parties);
        for (size_t i = 0; i < SIDE; i++) {
            buf_reset(&text);
            print_tree(&text, trees[i], PRINT_PLAIN);
            tree_unref(trees[i]);
            trees[i] =
                parse_ad(&build, NULL, text.text, text.len, NULL); /* both ways are given what was read from one text */
            party_init(&parties[side][i], &env, &arena, trees[i]);
            ads[side][i] = berth_ad_parse(context, BERTH_FORM_CLASSAD, text.text, text.len, NULL);
            ready[side][i] = berth_party_new(context, ads[side][i]);
        }
    }
    for (int rounds = atoi(words[3]); rounds > 0; rounds--) {
        bool library = !strcmp(words[2], "library");

        if (!strcmp(words[1], "pair"))
            found = library ? pair_library(context, ready[0], ready[1]) : pair_direct(&arena, parties[0], parties[1]);
        else
            found = library ? index_library(context, ads[1], ads[0]) : index_direct(&arena, &workload);
    }
    printf("%llu\n", (unsigned long long)found);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < SIDE; i++) {
            party_done(&parties[side][i]);
            berth_party_free(ready[side][i]);
            berth_ad_unref(ads[side][i]);
        }
        free(parties[side]);
    }
    workload_done(&workload);
    buf_done(&text);
    build_done(&build);
    arena_done(&arena);
    symbols_free(symbols);
    berth_context_free(context);
    return 0;
}
