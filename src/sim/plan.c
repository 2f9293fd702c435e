/* plan.c: reads the attributes of a batch system's scenario. */
#include "sim/plan.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "sim/scenario_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MOST 1e9 /* seconds */
#define CLUSTERS_LIST_MAX 10000
#define WINDOW_DEFAULT 120

bool plan_is_one(struct symbols *symbols, const char *text, size_t len)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    symbol name = symbols_take(symbols, "Clusters", 8);
    struct build build;
    struct tree *tree;
    bool found;

    build_init(&build, symbols, &dialect_classic);
    tree = parse_ad(&build, &options, text, len, NULL);
    build_done(&build);
    found = tree && tree_find(tree, tree_root(tree), name);
    tree_unref(tree);
    symbols_drop(symbols, name);
    return found;
}

/* ------------------------------------------------------------------------------------------------------------- clusters */

/* A number in an ad that stands alone; -1 when there is none. */
static double ad_number(struct eval *eval, const struct tree *ad, const char *name)
{
    symbol known = symbols_find(ad->symbols, name, strlen(name));
    struct scope scope;
    struct value value;

    scope_init(&scope, ad, NULL);
    if (!known || !eval_attribute(eval, &scope, known, &value))
        return -1;
    if (value.type == VALUE_INTEGER)
        return (double)value.u.integer;
    return value.type == VALUE_REAL && isfinite(value.u.real) ? value.u.real : -1;
}

static void ad_word(struct eval *eval, const struct tree *ad, const char *name, char *ret, size_t room)
{
    symbol known = symbols_find(ad->symbols, name, strlen(name));
    struct scope scope;
    struct value value;
    size_t len;

    scope_init(&scope, ad, NULL);
    if (!known || !eval_attribute(eval, &scope, known, &value) || value.type != VALUE_STRING)
        return;
    len = value.len < room ? value.len : room - 1;
    memcpy(ret, value.u.string, len);
    ret[len] = '\0';
}

/* Adds a kind of cluster; takes the ad. */
static void kind_take(struct plan *plan, struct batch_kind *kind, struct tree *ad)
{
    uint32_t place = park_add(&plan->park, kind);

    ARRAY_ROOM(plan->ads, place, plan->ad_room, 16);
    plan->ads[place] = ad;
}

static void kind_fill(struct eval *eval, const struct tree *ad, struct batch_kind *kind)
{
    for (int q = 0; q < BATCH_QUANTITIES; q++) {
        double number = ad_number(eval, ad, batch_quantities[q]);

        kind->capacity[q] = number < 0 ? INFINITY : number;
    }
    ad_word(eval, ad, "Name", kind->name, sizeof kind->name);
}

/* Reads one entry of Clusters: so many clusters of one kind, or, when an attribute is drawn, so many kinds. */
static int read_cluster(const struct section *section, struct plan *plan, uint32_t number, struct rng *rng,
                        struct build *build)
{
    static const char *const known[] = {"Count", "Ad", NULL};
    struct path path = {section->path, "Count", 0}, inner = {section->path, "Ad", 0};
    struct template_ad template = {0};
    uint64_t count = 1;
    bool drawn = false;

    section_known(section, known);
    if (attributes_read(section, &template) < 0 || section_count(section, "Count", 1, BATCH_CLUSTERS_MAX, &count) < 0)
        return -1;
    if (count > BATCH_CLUSTERS_MAX - plan->park.clusters)
        return reader_fail(section->reader, &path, "there are more than %d clusters", BATCH_CLUSTERS_MAX);
    for (uint32_t i = 0; i < template.count; i++)
        drawn = drawn || template.attributes[i].dist;
    for (uint64_t i = 0; i < (drawn ? count : 1); i++) {
        struct batch_kind kind = {.count = drawn ? 1 : (uint32_t)count};
        struct tree *ad = template_make(section->reader->scenario, &template, build, 0, rng);

        if (!ad)
            return reader_fail(section->reader, &inner, "the ad is too large");
        snprintf(kind.name, sizeof kind.name, "#%u", number + 1);
        kind_fill(&section->reader->eval, ad, &kind);
        if (kind.capacity[0] == INFINITY) {
            tree_unref(ad);
            return reader_fail(section->reader, &inner, "expected a number of Cpus, from 0 on");
        }
        kind_take(plan, &kind, ad);
    }
    return 0;
}

static int read_clusters(const struct section *top, struct plan *plan)
{
    struct path path = {NULL, "Clusters", 0};
    struct value list, element;
    struct build build;
    struct rng rng;
    int result = 0;

    if (!section_value(top, "Clusters", &list) || list.type != VALUE_LIST || !list.len || list.len > CLUSTERS_LIST_MAX)
        return reader_fail(top->reader, &path, "expected a list of 1 to %d ads, each [ Count = ...; Ad = [ ... ] ]",
                           CLUSTERS_LIST_MAX);
    rng_init(&rng, rng_mix(top->reader->scenario->seed));
    build_init(&build, top->reader->scenario->tree->symbols, &dialect_classic);
    for (uint32_t i = 0; i < list.len && result == 0; i++) {
        struct path place = {&path, NULL, i};
        struct section inner = {top->reader, NULL, &place};

        eval_element(&top->reader->eval, &list, i, &element);
        if (element.type != VALUE_AD) {
            result = reader_fail(top->reader, &place, "expected an ad [ Count = ...; Ad = [ ... ] ]");
            break;
        }
        inner.scope = element.scope;
        result = read_cluster(&inner, plan, i, &rng, &build);
    }
    build_done(&build);
    return result;
}

/* -------------------------------------------------------------------------------------------------- policies and windows */

static int read_policies(const struct section *top, struct plan *plan)
{
    struct path path = {NULL, "Policies", 0};
    struct value list, element;

    if (!section_value(top, "Policies", &list))
        return 0;
    if (list.type != VALUE_LIST || !list.len || list.len > PLAN_POLICIES_MAX)
        return reader_fail(top->reader, &path, "expected a list of 1 to %d names of policies", PLAN_POLICIES_MAX);
    plan->policy_count = 0;
    for (uint32_t i = 0; i < list.len; i++) {
        struct path place = {&path, NULL, i};
        struct err err = {0};

        eval_element(&top->reader->eval, &list, i, &element);
        if (element.type != VALUE_STRING)
            return reader_fail(top->reader, &place, "expected the name of a policy");
        if (batch_policy_find(element.u.string, element.len, &plan->policies[plan->policy_count++], &err) < 0)
            return reader_fail(top->reader, &place, "%s", err.text);
    }
    return 0;
}

static int64_t span(double seconds)
{
    return (int64_t)llround(seconds * BATCH_SECOND);
}

/* Reads a number of seconds, or [ Least = ...; Most = ... ]. */
static int read_window(const struct section *section, const char *name, struct batch_window *ret)
{
    static const char *const known[] = {"Least", "Most", NULL};
    struct path path = {section->path, name, 0}, most_path = {&path, "Most", 0};
    struct section inner;
    struct value value;
    double least = 1, most = WINDOW_DEFAULT;

    if (!section_value(section, name, &value))
        return 0;
    if (value.type != VALUE_AD) {
        if (section_number(section, name, 0.001, SPAN_MOST, &least) < 0)
            return -1;
        *ret = (struct batch_window){span(least), span(least)};
        return 0;
    }
    if (section_open(section, &path, &inner) < 0)
        return -1;
    section_known(&inner, known);
    if (section_number(&inner, "Least", 0.001, SPAN_MOST, &least) < 0 ||
        section_number(&inner, "Most", 0.001, SPAN_MOST, &most) < 0)
        return -1;
    if (most < least)
        return reader_fail(section->reader, &most_path, "it is below Least");
    *ret = (struct batch_window){span(least), span(most)};
    return 0;
}

static int read_windows(const struct section *top, struct plan *plan)
{
    const char *known[BATCH_STRICT + 1] = {NULL};
    struct path path = {NULL, "Windows", 0};
    struct batch_window all = {span(WINDOW_DEFAULT), span(WINDOW_DEFAULT)};
    struct section section;
    struct value value;

    if (read_window(top, "Window", &all) < 0)
        return -1;
    for (int i = 0; i < BATCH_POLICY_COUNT; i++)
        plan->windows[i] = all;
    for (int i = 0; batch_policy_has_windows((enum batch_policy)i); i++)
        known[i] = batch_policy_names[i];
    if (!section_value(top, "Windows", &value))
        return 0;
    if (section_open(top, &path, &section) < 0)
        return -1;
    section_known(&section, known);
    for (int i = 0; batch_policy_has_windows((enum batch_policy)i); i++)
        if (read_window(&section, batch_policy_names[i], &plan->windows[i]) < 0)
            return -1;
    return 0;
}

static int read_timeouts(const struct section *top, struct plan *plan)
{
    struct path path = {NULL, "Timeout", 0};
    struct value list, element;

    if (!section_value(top, "Timeout", &list))
        return 0;
    if (list.type != VALUE_LIST)
        return section_number(top, "Timeout", 0, SPAN_MOST, &plan->timeouts[0]);
    if (!list.len || list.len > PLAN_TIMEOUTS_MAX)
        return reader_fail(top->reader, &path, "expected a list of 1 to %d numbers", PLAN_TIMEOUTS_MAX);
    for (uint32_t i = 0; i < list.len; i++) {
        struct path place = {&path, NULL, i};
        double seconds;

        eval_element(&top->reader->eval, &list, i, &element);
        seconds = element.type == VALUE_REAL                                       ? element.u.real
                  : element.type == VALUE_INTEGER || element.type == VALUE_RELTIME ? (double)element.u.integer
                                                                                   : -1;
        if (!(seconds >= 0 && seconds <= SPAN_MOST))
            return reader_fail(top->reader, &place, "expected a number of seconds, 0 for none");
        plan->timeouts[i] = seconds;
    }
    plan->timeout_count = list.len;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- jobs */

static int read_jobs(const struct section *top, struct scenario *scenario)
{
    static const char *const known[] = {"Weight", "Ad", "Duration", NULL};
    static const char *const arrival_known[] = {"Pause", NULL};
    struct path path = {NULL, "Arrival", 0}, pause = {&path, "Pause", 0}, jobs = {NULL, "Jobs", 0};
    struct section arrival;
    struct value value;

    if (!section_value(top, "Jobs", &value) && !section_value(top, "Arrival", &value))
        return 0; /* the jobs will come from a trace */
    if (templates_read(top, "Jobs", known, &scenario->requests) < 0 || section_open(top, &path, &arrival) < 0)
        return -1;
    section_known(&arrival, arrival_known);
    if (section_dist(&arrival, "Pause", PLAN_PAUSE_LEAST, &scenario->pauses) < 0)
        return -1;
    if (!scenario->pauses)
        return reader_fail(top->reader, &pause, "expected the time between jobs");
    for (uint32_t i = 0; i < scenario->requests.count; i++) {
        struct path place = {&jobs, NULL, i}, duration = {&place, "Duration", 0};

        if (!scenario->requests.items[i].duration)
            return reader_fail(top->reader, &duration, "nothing says how long the jobs run");
    }
    return 0;
}

static int read_plan(const struct section *top, struct scenario *scenario, void *found)
{
    static const char *const known[] = {"Name",    "Duration", "Seed",     "Runs",  "Policies", "Window",
                                        "Windows", "Timeout",  "Clusters", "Users", "Arrival",  "Jobs",
                                        "Bound",   "Starved",  "Effort",   NULL};
    struct plan *plan = found;
    uint64_t users = 1;

    section_known(top, known);
    if (section_name(top, scenario->name, sizeof scenario->name) < 0 ||
        section_number(top, "Duration", 1, SPAN_MOST, &scenario->duration) < 0 ||
        section_count(top, "Seed", 0, INT64_MAX, &scenario->seed) < 0 ||
        section_count(top, "Runs", 1, PLAN_RUNS_MAX, &plan->runs) < 0 ||
        section_count(top, "Users", 1, SCENARIO_SHAPES_MAX, &users) < 0 ||
        section_count(top, "Effort", 1, INT64_MAX, &plan->effort) < 0 ||
        section_number(top, "Bound", 0.001, SPAN_MOST, &plan->bound) < 0 ||
        section_number(top, "Starved", 0, SPAN_MOST, &plan->starved) < 0 || read_policies(top, plan) < 0 ||
        read_windows(top, plan) < 0 || read_timeouts(top, plan) < 0 || read_clusters(top, plan) < 0)
        return -1;
    scenario->users = (uint32_t)users;
    return read_jobs(top, scenario);
}

struct plan *plan_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn, void *user,
                       struct err *err)
{
    struct plan *plan = mem_alloc(sizeof *plan);

    *plan = (struct plan){
        .policies = {BATCH_FCFS}, .policy_count = 1, .timeout_count = 1, .runs = 1, .bound = 10, .starved = 3600};
    park_init(&plan->park);
    plan->scenario = scenario_read_as(symbols, text, len, read_plan, plan, warn, user, err);
    if (plan->scenario)
        return plan;
    plan_free(plan);
    return NULL;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    for (uint32_t i = 0; i < plan->park.kind_count; i++)
        tree_unref(plan->ads[i]);
    free(plan->ads);
    park_done(&plan->park);
    scenario_free(plan->scenario);
    free(plan);
}

/* -------------------------------------------------------------------------------------------------------------- what if */

static const char *blanks_skip(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    return at;
}

/* Is that the next word? Then `*at` moves behind it. */
static bool word_skip(const char **at, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(*at, word, len) != 0 || ((*at)[len] && !strchr(" \t\n[", (*at)[len])))
        return false;
    *at = blanks_skip(*at + len);
    return true;
}

static int what_if_named(struct plan *plan, const char *name, uint32_t count, struct err *err)
{
    for (uint32_t i = 0; i < plan->park.kind_count; i++)
        if (!strcmp(plan->park.kinds[i].name, name)) {
            struct batch_kind kind = plan->park.kinds[i];

            kind.count = count;
            kind.extra = true;
            kind_take(plan, &kind, plan->ads[i] ? tree_ref(plan->ads[i]) : NULL);
            return 0;
        }
    return err_set(err, "there is no cluster '%.64s'", name);
}

static int what_if_ad(struct plan *plan, const char *text, uint32_t count, struct err *err)
{
    struct env env = {.steps = 1000000, .bytes = 1 << 20};
    struct batch_kind kind = {.name = "what-if", .count = count, .extra = true};
    struct arena scratch;
    struct build build;
    struct tree *ad;
    struct eval eval;

    build_init(&build, plan->scenario->tree->symbols, &dialect_classic);
    ad = parse_ad(&build, NULL, text, strlen(text), err);
    build_done(&build);
    if (!ad)
        return -1;
    arena_init(&scratch);
    eval_init(&eval, &env, &scratch);
    kind_fill(&eval, ad, &kind);
    arena_done(&scratch);
    if (kind.capacity[0] == INFINITY) {
        tree_unref(ad);
        return err_set(err, "expected a number of Cpus in the ad");
    }
    kind_take(plan, &kind, ad);
    return 0;
}

int plan_what_if(struct plan *plan, const char *text, struct err *err)
{
    static const char *const nouns[] = {"machines", "machine", "clusters", "cluster"};
    const char *at = blanks_skip(text);
    uint64_t count = 0;
    bool named = false;

    at += *at == '+';
    if (*at < '0' || *at > '9')
        return err_set(err, "expected \"+COUNT machines like [ AD ]\"");
    for (; *at >= '0' && *at <= '9'; at++)
        count = count > BATCH_CLUSTERS_MAX ? count : 10 * count + (uint64_t)(*at - '0');
    at = blanks_skip(at);
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns && !named; i++)
        named = word_skip(&at, nouns[i]);
    if (!named || !word_skip(&at, "like") || !*at)
        return err_set(err, "expected \"+COUNT machines like [ AD ]\"");
    if (count < 1 || count > BATCH_CLUSTERS_MAX - plan->park.clusters)
        return err_set(err, "expected a count from 1 to %u", BATCH_CLUSTERS_MAX - plan->park.clusters);
    return *at == '[' ? what_if_ad(plan, at, (uint32_t)count, err) : what_if_named(plan, at, (uint32_t)count, err);
}
