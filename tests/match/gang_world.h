/* gang_world.h: what the tests of gangs share: a pool written as text, one run over it, and what it gave as a line.
 *
 *     world_request(&world, "[ Name = \"job\"; Ports = { [ Label = cpu ] } ]");
 *     world_offer(&world, "[ Name = \"m1\" ]");
 *     world_run(&world)  ->  "job cpu=m1"
 *
 * In the line roots are parted by "; ", a member's own members stand in brackets behind it; "-" is no gang, "?" gave up. Everything is
 * static to the file that includes it. */
#ifndef BERTH_TESTS_GANG_WORLD_H
#define BERTH_TESTS_GANG_WORLD_H

#include "common/lang.h"
#include "common/tap.h"
#include "match/gang/gang.h"

#include <stdarg.h>
#include <time.h>

#define WORLD_ADS_MAX 4096

struct world {
    struct lang lang;
    const struct dialect *dialect;
    struct env env;
    struct policy policy;
    struct gang_settings settings;
    struct tree *requests[WORLD_ADS_MAX], *offers[WORLD_ADS_MAX];
    struct tree *ads[2 * WORLD_ADS_MAX];
    size_t request_count, offer_count;
    struct gang_stats stats;
    struct gang_member members[GANG_MEMBERS_MAX + 1]; /* of the last root that was told of */
    uint32_t member_count;
    enum gang_outcome outcome;
    struct buf told;
    double seconds; /* of the last run */
};

static inline void world_open(struct world *world)
{
    *world = (struct world){.dialect = &dialect_classic,
                            .env = {.now = 1772366400, .seed = 1},
                            .settings = {.algorithm = GANG_AUTO, .preferences = true, .nodes = 100000}};
    lang_init(&world->lang);
    buf_init(&world->told);
}

/* No ads any more, and the default policy and settings. */
static inline void world_reset(struct world *world)
{
    for (size_t i = 0; i < world->request_count; i++)
        tree_unref(world->requests[i]);
    for (size_t i = 0; i < world->offer_count; i++)
        tree_unref(world->offers[i]);
    world->request_count = world->offer_count = 0;
    policy_done(&world->policy);
    world->policy = (struct policy){0};
    world->dialect = &dialect_classic;
    world->settings = (struct gang_settings){.algorithm = GANG_AUTO, .preferences = true, .nodes = 100000};
}

static inline void world_close(struct world *world)
{
    world_reset(world);
    buf_done(&world->told);
    lang_done(&world->lang);
}

static inline struct tree *world_ad(struct world *world, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&world->lang, world->dialect, text, &err);

    if (!ad) {
        printf("Bail out! %u:%u: %s: %.400s\n", err.line, err.column, err.text, text);
        exit(1);
    }
    return ad;
}

static inline struct tree *world_text(struct world *world, const char *format, va_list args)
{
    struct buf text;
    struct tree *ad;
    va_list again;
    char *room;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    room = malloc((size_t)len + 1);
    vsnprintf(room, (size_t)len + 1, format, args);
    buf_init(&text);
    buf_adds(&text, room);
    ad = world_ad(world, buf_string(&text));
    buf_done(&text);
    free(room);
    return ad;
}

__attribute__((format(printf, 2, 3))) static inline void world_request(struct world *world, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    world->requests[world->request_count++] = world_text(world, format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3))) static inline void world_offer(struct world *world, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    world->offers[world->offer_count++] = world_text(world, format, args);
    va_end(args);
}

static inline void world_policy(struct world *world, const char *text)
{
    struct tree *ad = world_ad(world, text);
    struct err err = {0};
    symbol attribute;

    policy_done(&world->policy);
    if (policy_init(&world->policy, ad, &attribute, &err) < 0) {
        printf("Bail out! %s: %s\n", err.text, text);
        exit(1);
    }
    tree_unref(ad);
}

/* ---------------------------------------------------------------------------------------------------------------- runs */

/* The Name of an ad, else its place. */
static inline void world_name(struct world *world, size_t place)
{
    const struct tree *ad = world->ads[place];
    const struct expr *name = tree_find(ad, tree_root(ad), symbols_find(world->lang.symbols, "Name", 4));

    if (name && name->kind == EXPR_STRING)
        buf_add(&world->told, tree_string(ad, name), name->u.run.count);
    else
        buf_addf(&world->told, "#%zu", place);
}

static inline void world_tell(struct world *world, const struct gang_member *members, uint32_t count, uint32_t of)
{
    struct err err;
    struct ports ports;
    bool first = true;

    for (uint32_t i = 1; i < count; i++) {
        size_t len;
        const char *label;

        if (members[i].parent != of)
            continue;
        if (ports_read(&ports, world->ads[members[of].place], &err) < 0)
            abort();
        label = port_label(&ports, members[i].port, &len);
        buf_addf(&world->told, "%s%.*s=", of && first ? "(" : " ", (int)len, label);
        ports_done(&ports);
        world_name(world, members[i].place);
        world_tell(world, members, count, i);
        first = false;
    }
    if (of && !first)
        buf_adds(&world->told, ")");
}

static inline void world_found(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct world *world = user;

    buf_adds(&world->told, world->told.len ? "; " : "");
    world_name(world, members[0].place);
    if (outcome == GANG_FORMED)
        world_tell(world, members, count, 0);
    else
        buf_adds(&world->told, outcome == GANG_NONE ? " -" : " ?");
    memcpy(world->members, members, count * sizeof *members);
    world->member_count = count;
    world->outcome = outcome;
}

/* Runs once; the line is good until the next run. */
static inline const char *world_run(struct world *world)
{
    struct timespec from, to;

    memcpy(world->ads, world->requests, world->request_count * sizeof *world->ads);
    memcpy(world->ads + world->request_count, world->offers, world->offer_count * sizeof *world->ads);
    buf_reset(&world->told);
    clock_gettime(CLOCK_MONOTONIC, &from);
    gang_run(&world->env, &world->lang.arena,
             &(struct gang_field){.policy = &world->policy,
                                  .ads = world->ads,
                                  .request_count = world->request_count,
                                  .offer_count = world->offer_count},
             &world->settings, world_found, world, &world->stats);
    clock_gettime(CLOCK_MONOTONIC, &to);
    world->seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    return buf_string(&world->told);
}

static inline const char *world_run_by(struct world *world, enum gang_algorithm algorithm, bool preferences)
{
    world->settings.algorithm = algorithm;
    world->settings.preferences = preferences;
    return world_run(world);
}

/* A case: the run gives that line. */
__attribute__((format(printf, 3, 4))) static inline bool world_gives(struct world *world, const char *line,
                                                                     const char *format, ...)
{
    char sentence[512];
    const char *got = world_run(world);
    va_list args;
    bool same = !strcmp(got, line);

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (!tap_ok(same, "%s", sentence))
        tap_diag("expected: %s\ngot: %s", line, got);
    return same;
}

/* A case: the last run took no more nodes than that. */
static inline bool world_nodes(struct world *world, uint64_t most, const char *sentence)
{
    bool few = world->stats.nodes <= most;

    if (!tap_ok(few, "%s", sentence))
        tap_diag("%llu nodes, at most %llu expected; %llu probes, %.2f s", (unsigned long long)world->stats.nodes,
                 (unsigned long long)most, (unsigned long long)world->stats.probes, world->seconds);
    return few;
}

#endif
