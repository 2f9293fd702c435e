/* scenario.c (fuzzer): scenarios from any text.
 *
 * Law: what is refused has a reason and a place within the text; what is read can be scaled, and all that it draws is a number within its
 * bounds. Nothing is left of a name when it is gone. */
#include "sim/scenario.h"
#include "fuzz.h"

#include <math.h>

#define DRAWS 3

static uint32_t lines_of(const uint8_t *data, size_t size)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

static void check_dist(const struct dist *dist, double least, struct rng *rng)
{
    for (int i = 0; dist && i < DRAWS; i++) {
        double number = dist_draw(dist, rng);

        if (!isfinite(number) || number < least - 1)
            fuzz_broken("what is drawn is a number, and not below the least");
    }
}

static void check_templates(const struct scenario *scenario, const struct templates *templates, struct rng *rng)
{
    struct build build;

    build_init(&build, scenario->tree->symbols, &dialect_classic);
    for (int i = 0; i < DRAWS; i++) {
        const struct template_ad *template = templates_draw(templates, rng);
        struct tree *ad = template_make(scenario, template, &build, 0, rng);

        if (!ad || !tree_is_ad(ad) || tree_root(ad)->u.run.count != template->count)
            fuzz_broken("a template gives an ad with all its attributes");
        check_dist(template->duration, 0, rng);
        tree_unref(ad);
    }
    build_done(&build);
}

static void check(struct scenario *scenario)
{
    struct rng rng;

    rng_init(&rng, 1);
    check_dist(scenario->site_sizes, 0, &rng);
    check_dist(scenario->site_delays, 0, &rng);
    check_dist(scenario->starts, 0, &rng);
    check_dist(scenario->up, 0, &rng);
    check_dist(scenario->down, 0, &rng);
    check_dist(scenario->sizes, 0, &rng);
    check_dist(scenario->durations, 0, &rng);
    check_dist(scenario->pauses, 0, &rng);
    check_dist(scenario->batches, 0, &rng);
    if (scenario->durations)
        check_dist(dist_settle(scenario->durations, &rng, &scenario->arena), 0, &rng);
    check_templates(scenario, &scenario->machines, &rng);
    check_templates(scenario, &scenario->requests, &rng);
    scenario_scale(scenario, 0.5);
    if (!scenario->providers || !scenario->sites || !scenario->shapes || scenario->customers > scenario->users ||
        scenario->sites > scenario->providers)
        fuzz_broken("half of a scenario is one");
}

static void count_warning(void *user, const struct err *warning)
{
    if (!warning->line || !*warning->text)
        fuzz_broken("a warning has a place and words");
    ++*(uint32_t *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    static size_t names;
    struct scenario *scenario;
    struct err err = {0};
    uint32_t warnings = 0;

    if (!symbols) {
        symbols = names_new(0);
        names = symbols_count(symbols);
    }
    scenario = scenario_read(symbols, (const char *)data, size, count_warning, &warnings, &err);
    if (scenario)
        check(scenario);
    else if (!*err.text || err.line > lines_of(data, size))
        fuzz_broken("what is refused has a reason, and a place");
    scenario_free(scenario);
    if (symbols_count(symbols) != names)
        fuzz_broken("no name is left");
    return 0;
}
