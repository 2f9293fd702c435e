/* Scenarios: what a file says is what is read, and what is wrong is told with its place. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "sim/scenario.h"

#include <math.h>
#include <stdlib.h>

#define BASE                                                             \
    "Providers = 20;\nMachines = { [ Ad = [ Type = \"Machine\" ] ] };\n" \
    "Shapes = [ Count = 3; Sizes = 5; Duration = 60; Ads = { [ Ad = [ Type = \"Job\" ] ] } ];\n"

struct heard {
    uint32_t count;
    struct err last;
};

static void hear(void *user, const struct err *warning)
{
    struct heard *heard = user;

    heard->count++;
    heard->last = *warning;
}

static struct scenario *read_text(struct symbols *symbols, const char *text, struct heard *heard, struct err *err)
{
    *err = (struct err){0};
    *heard = (struct heard){0};
    return scenario_read(symbols, text, strlen(text), hear, heard, err);
}

static void test_whole(struct symbols *symbols)
{
    static const char text[] =
        "// a comment\n[ Name = \"small\"; Hour = 3600; Minutes = 60; Duration = 2 * Hour; Seed = 9;\n" BASE
        "Sites = [ Count = 4; Delay = 0.01; Jitter = 0.5 ]; Customers = 2; Users = 6; Jobs = 100;\n"
        "Churn = [ Up = [ Distribution = \"exponential\"; Mean = 6 * Hour ]; Down = 60 ];\n"
        "Arrival = [ Pause = 30 ]; Protocol = [ Lease = 1200; Cycle = 0.5 ] ]";
    struct heard heard;
    struct err err;
    struct scenario *s = read_text(symbols, text, &heard, &err);

    if (!tap_ok(s != NULL, "a scenario is read from an ad")) {
        tap_diag("%u:%u: %s", err.line, err.column, err.text);
        return;
    }
    tap_ok(s->duration == 7200 && s->seed == 9 && !strcmp(s->name, "small"), "a number may be an expression");
    tap_ok(s->providers == 20 && s->sites == 4 && s->customers == 2 && s->users == 6 && s->jobs == 100 &&
               s->shapes == 3,
           "counts are as they stand");
    tap_ok(s->spans.lease == 1200 * SECOND && s->spans.cycle == 500 * MILLISECOND &&
               s->spans.deadline == spans_default.deadline,
           "spans of the protocol are in seconds, and those not named as always");
    tap_ok(s->up && s->up->kind == DIST_EXPONENTIAL && s->up->parameters[0]->value == 21600 && s->down->value == 60,
           "a distribution may be a number");
    tap_ok(s->batches == s->sizes, "further submissions are as large as the first");
    tap_ok(heard.count == 1 && heard.last.line == 2 && strstr(heard.last.text, "Minutes: "),
           "an attribute that nobody reads is a warning with its place, but one that an expression reads is none");
    scenario_scale(s, 0.5);
    tap_ok(s->providers == 10 && s->sites == 2 && s->users == 3 && s->jobs == 50 && s->customers == 2 && s->shapes == 2,
           "a scenario may be scaled");
    scenario_scale(s, 1e-9);
    tap_ok(s->providers == 1 && s->sites == 1 && s->users == 1 && s->jobs == 1 && s->customers == 1 && s->shapes == 1,
           "but something of each is left");
    scenario_free(s);
}

/* ---------------------------------------------------------------------------------------------------------- errors */

static const struct wrong {
    const char *text;
    unsigned line;
    const char *says;
} wrongs[] = {
    {"[ Providers = ", 1, "expected"},
    {"5", 1, ""},
    {"[\nProviders = 0; ]", 2, "Providers: expected a whole number from 1"},
    {"[\nProviders = 1.5; ]", 2, "Providers: expected a whole number"},
    {"[\n" BASE "Duration = \"long\" ]", 5, "Duration: expected a number"},
    {"[\n" BASE "Name = 5 ]", 5, "Name: expected a string"},
    {"[\n" BASE "Sites = [\n\n Count = 21 ] ]", 7, "Sites.Count: there are more sites than providers"},
    {"[\n" BASE "Sites = 5 ]", 5, "Sites: expected an ad"},
    {"[\n" BASE "Sites = [ Count = 2;\n Ad = 5 ] ]", 6, "Sites.Ad: expected an ad"},
    {"[\n" BASE "Customers = 5; Users = 2 ]", 5, "Users: there are more customers than users"},
    {"[ Providers = 1 ]", 1, "Machines: expected a list"},
    {"[ Machines = { 5 } ]", 1, "Machines[0]: expected an ad"},
    {"[ Machines = { [ Ad = [ a = 1 ] ],\n [ Weight = 2 ] } ]", 2, "Machines[1].Ad: expected an ad"},
    {"[ Machines = { [ Ad = [ ];\n Weight = -1 ] } ]", 2, "Machines[0].Weight: expected a number"},
    {"[ Machines = { [ Ad = [ ]; Weight = 0 ] } ]", 1, "Machines: expected a Weight above 0"},
    {"[ Machines = { [ Ad = [ Memory = [\n Distribution = \"bell\" ] ] ] } ]", 2,
     "Machines[0].Ad.Memory.Distribution: expected \"fixed\""},
    {"[ Machines = { [ Ad = [ M = [ Distribution = \"uniform\";\n Least = 3;\n Most = 2 ] ] ] } ]", 3,
     "Machines[0].Ad.M.Most: it is below Least"},
    {"[ Machines = { [ Ad = [ M = [\nDistribution = \"uniform\"; Least = 3 ] ] ] } ]", 1,
     "Machines[0].Ad.M.Most: a distribution \"uniform\" needs it"},
    {"[ Machines = { [ Ad = [ M = [ Distribution = \"choice\";\n Values = { } ] ] ] } ]", 2,
     "Machines[0].Ad.M.Values: expected a list of 1"},
    {"[ Machines = { [ Ad = [ M = [ Distribution = \"choice\"; Values = { 1, 2 };\n Weights = { 1 } ] ] ] } ]", 2,
     "Machines[0].Ad.M.Weights: expected a list of as many"},
    {"[ Machines = { [ Ad = [ M = [ Distribution = \"choice\"; Values = { 1, 2 }; Weights = { 1,\n -1 } ] ] ] } ]", 2,
     "Machines[0].Ad.M.Weights[1]: expected a number that is not negative"},
    {"[ Machines = { [ Ad = [ ] ] } ]", 1, "Shapes: expected an ad"},
    {"[ Machines = { [ Ad = [ ] ] };\nShapes = [ Ads = { [ Ad = [ ] ] } ] ]", 2, "Shapes.Duration: nothing says"},
    {"[\n" BASE "Arrival = [ Sizes = 4 ] ]", 5, "Arrival.Pause: expected the time"},
    {"[\n" BASE "Arrival = [ Pause = 0 ] ]", 5, "Arrival.Pause: expected at least 0.001"},
    {"[\n" BASE "Churn = [ Up = 5 ] ]", 5, "Churn: expected how long"},
    {"[\n" BASE "Churn = [ Up = 5; Down = \"x\" ] ]", 5, "Churn.Down: expected a number or a distribution"},
    {"[\n" BASE "Protocol = [ Pin = 60;\nLease = 30 ] ]", 6, "Protocol.Lease: it is shorter than Pin"},
    {"[\n" BASE "Protocol = [ Lease = true ] ]", 5, "Protocol.Lease: expected a number"},
};

static void test_errors(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct heard heard;
        struct err err;
        struct scenario *s = read_text(symbols, wrongs[i].text, &heard, &err);
        bool right = !s && strstr(err.text, wrongs[i].says) && err.line == wrongs[i].line;

        if (!tap_ok(right, "what is wrong is told: line %u: %s...", wrongs[i].line,
                    *wrongs[i].says ? wrongs[i].says : "no ad"))
            tap_diag("%s: line %u: %s", s ? "it was read" : "told", err.line, err.text);
        scenario_free(s);
    }
}

/* --------------------------------------------------------------------------------------------------- distributions */

#define DRAWS 200000

struct drawn {
    double mean, deviation, least, most;
    bool whole;
};

/* Draws from the distribution of how long hosts are up. */
static struct drawn draw_many(struct symbols *symbols, const char *law)
{
    struct drawn drawn = {.least = INFINITY, .most = -INFINITY, .whole = true};
    char text[1000];
    struct scenario *s;
    struct heard heard;
    struct err err;
    double sum = 0, squares = 0;
    struct rng rng;

    snprintf(text, sizeof text, "[ " BASE "Churn = [ Up = %s; Down = 1 ] ]", law);
    s = read_text(symbols, text, &heard, &err);
    if (!s) {
        tap_diag("%s: %s", law, err.text);
        return drawn;
    }
    rng_init(&rng, 5);
    for (int i = 0; i < DRAWS; i++) {
        double number = dist_draw(s->up, &rng);

        sum += number;
        squares += number * number;
        drawn.least = fmin(drawn.least, number);
        drawn.most = fmax(drawn.most, number);
        drawn.whole = drawn.whole && number == nearbyint(number);
    }
    drawn.mean = sum / DRAWS;
    drawn.deviation = sqrt(squares / DRAWS - drawn.mean * drawn.mean);
    scenario_free(s);
    return drawn;
}

static bool is_near(double number, double wanted)
{
    return fabs(number - wanted) <= 0.02 * fabs(wanted);
}

static void test_draws(struct symbols *symbols)
{
    struct drawn d = draw_many(symbols, "[ Distribution = \"uniform\"; Least = 2; Most = 5 ]");

    tap_ok(is_near(d.mean, 3.5) && d.least == 2 && d.most == 5 && d.whole,
           "whole bounds: whole numbers, both bounds too");
    d = draw_many(symbols, "[ Distribution = \"uniform\"; Least = 2.0; Most = 5 ]");
    tap_ok(is_near(d.mean, 3.5) && d.least >= 2 && d.most < 5 && !d.whole, "uniform: any number between");
    d = draw_many(symbols, "[ Distribution = \"exponential\"; Mean = 40 ]");
    tap_ok(is_near(d.mean, 40) && is_near(d.deviation, 40) && !d.whole, "exponential: mean and deviation are the same");
    d = draw_many(symbols, "[ Distribution = \"lognormal\"; Mean = 100; Deviation = 50; Whole = true ]");
    tap_ok(is_near(d.mean, 100) && is_near(d.deviation, 50) && d.whole,
           "lognormal: mean and deviation as they are said");
    d = draw_many(symbols, "[ Distribution = \"lognormal\"; Mean = 100; Deviation = 500; Floor = 20; Ceiling = 90 ]");
    tap_ok(d.least == 20 && d.most == 90, "nothing is drawn below the floor or above the ceiling");
    d = draw_many(
        symbols,
        "[ Distribution = \"choice\"; Values = { 10, [ Distribution = \"uniform\"; Least = 100; Most = 300 ] }; "
        "Weights = { 3, 1 } ]");
    tap_ok(is_near(d.mean, 57.5) && d.least == 10, "choice: values by their weights, which may be distributions");
    d = draw_many(symbols,
                  "[ Distribution = \"exponential\"; Mean = [ Distribution = \"choice\"; Values = { 10, 30 } ] ]");
    tap_ok(is_near(d.mean, 20), "a parameter may be a distribution");
    d = draw_many(symbols, "[ Distribution = \"fixed\"; Value = 7 ]");
    tap_ok(d.least == 7 && d.most == 7, "fixed: always the same");
}

/* Those that are GSL's; their quantiles are tested in stats_test.c. */
static void test_laws(struct symbols *symbols)
{
    static const struct {
        const char *law;
        double mean, deviation;
        bool whole;
    } rows[] = {
        {"[ Distribution = \"gaussian\"; Mean = 100; Deviation = 20 ]", 100, 20, false},
        {"[ Distribution = \"gamma\"; Shape = 4; Scale = 10 ]", 40, 20, false},
        {"[ Distribution = \"weibull\"; Shape = 2; Scale = 100 ]", 88.62269, 46.32514, false},
        {"[ Distribution = \"pareto\"; Shape = 8; Scale = 70 ]", 80, 11.547, false},
        {"[ Distribution = \"beta\"; Shape = 2; Second = 3 ]", 0.4, 0.2, false},
        {"[ Distribution = \"poisson\"; Mean = 9 ]", 9, 3, true},
        {"[ Distribution = \"zipf\"; Exponent = 9; Ceiling = 100 ]", 1.002072, 0.0470, true},
    };

    for (size_t i = 0; laws_known() && i < sizeof rows / sizeof *rows; i++) {
        struct drawn d = draw_many(symbols, rows[i].law);

        if (!tap_ok(fabs(d.mean - rows[i].mean) < 0.01 * rows[i].mean &&
                        fabs(d.deviation - rows[i].deviation) < 0.05 * rows[i].deviation && d.whole == rows[i].whole,
                    "mean and deviation are right: %s", rows[i].law))
            tap_diag("mean %g, deviation %g", d.mean, d.deviation);
    }
}

static void test_settled(struct symbols *symbols)
{
    static const char text[] = "[ " BASE "Churn = [ Down = 1; Up = [ Distribution = \"uniform\"; Least = 0.1;\n"
                               "Most = [ Distribution = \"choice\"; Values = { 1, 1000 } ] ] ] ]";
    uint32_t small = 0, odd = 0;
    struct scenario *s;
    struct heard heard;
    struct err err;
    struct rng rng;

    s = read_text(symbols, text, &heard, &err);
    rng_init(&rng, 3);
    for (int i = 0; s && i < 100; i++) {
        const struct dist *settled = dist_settle(s->up, &rng, &s->arena);
        uint32_t below = 0;

        for (int k = 0; k < 100; k++)
            below += dist_draw(settled, &rng) < 1;
        small += below == 100;
        odd += below > 20 && below < 100;
    }
    tap_ok(s && small > 20 && small < 80 && odd == 0, "a parameter of what is settled has been drawn once for all");
    scenario_free(s);
}

static void test_templates(struct symbols *symbols)
{
    static const char text[] =
        "[ Providers = 3; Machines = { [ Weight = 3; Ad = [ Arch = \"A\"; Memory = [ Distribution = \"choice\"; Values = { 1, 2 } ];\n"
        "OpSys = [ Distribution = \"choice\"; Values = { \"LINUX\", \"WINDOWS\" } ]; Constraint = other.Size <= Memory ] ],\n"
        "[ Ad = [ Arch = \"B\" ] ] };\n"
        "Shapes = [ Duration = 1; Ads = { [ Ad = [ Type = \"Job\" ] ] } ] ]";
    uint32_t sorts[2] = {0}, windows = 0, made = 0;
    struct build build;
    struct scenario *s;
    struct heard heard;
    struct err err;
    struct rng rng;

    s = read_text(symbols, text, &heard, &err);
    if (!tap_ok(s && s->machines.count == 2, "templates are read")) {
        tap_diag("%s", err.text);
        return;
    }
    rng_init(&rng, 1);
    build_init(&build, symbols, &dialect_classic);
    for (int i = 0; i < 4000; i++) {
        const struct template_ad *template = templates_draw(&s->machines, &rng);
        struct tree *ad = template_make(s, template, &build, 0, &rng);
        const struct expr *os = tree_find(ad, tree_root(ad), symbols_find(symbols, "OpSys", 5));
        const struct expr *memory = tree_find(ad, tree_root(ad), symbols_find(symbols, "Memory", 6));
        const struct expr *constraint = tree_find(ad, tree_root(ad), NAME_CONSTRAINT);

        sorts[template - s->machines.items]++;
        windows += os && os->u.run.count == 7;
        made += !memory || (memory->kind == EXPR_INTEGER && memory->u.integer >= 1 && memory->u.integer <= 2 &&
                            constraint && constraint->kind == EXPR_CHAIN);
        tree_unref(ad);
    }
    tap_ok(is_near(sorts[0], 3000) || abs((int)sorts[0] - 3000) < 150, "machines are drawn by their weights");
    tap_ok(windows > 1300 && windows < 1700, "a choice may be one of words");
    tap_ok(made == 4000, "what is no distribution is copied as it stands");
    build_done(&build);
    scenario_free(s);
}

int main(void)
{
    struct symbols *symbols = names_new(0);

    test_whole(symbols);
    test_errors(symbols);
    test_draws(symbols);
    test_laws(symbols);
    test_settled(symbols);
    test_templates(symbols);
    symbols_free(symbols);
    return tap_done();
}
