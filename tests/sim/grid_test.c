/* Scenarios that run: jobs are neither lost nor doubled, figures follow from the seed, and add up. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "sim/grid.h"

#include <stdlib.h>

#define MACHINES "Machines = { [ Ad = [ Type = \"Machine\"; Memory = 4; Constraint = other.Need <= Memory ] ] };\n"
#define JOBS(count, sizes, duration)                                              \
    "Shapes = [ Count = " count "; Sizes = " sizes "; Duration = " duration ";\n" \
    "Ads = { [ Ad = [ Type = \"Job\"; Need = 1; Constraint = other.Type == \"Machine\" ] ] } ];\n"

/* Runs a scenario; false when it could not be. */
static bool run(const char *text, uint64_t seed, double hours, bool check, double scale, struct grid_report *ret)
{
    struct symbols *symbols = names_new(0);
    struct err err = {0};
    struct scenario *scenario = scenario_read(symbols, text, strlen(text), NULL, NULL, &err);
    struct grid_settings settings = {.scenario = scenario, .seed = seed, .duration = hours * 3600, .check = check};
    int failed = -1;

    *ret = (struct grid_report){0};
    if (scenario && scale > 0)
        scenario_scale(scenario, scale);
    if (scenario)
        failed = grid_run(&settings, ret, &err);
    if (failed)
        tap_diag("%u:%u: %s", err.line, err.column, err.text);
    if (ret->broken)
        tap_diag("%s", ret->broken);
    scenario_free(scenario);
    symbols_free(symbols);
    return !failed && !ret->broken;
}

static bool is_same(const struct grid_report *a, const struct grid_report *b)
{
    return a->hash == b->hash && a->events == b->events && a->done == b->done && a->queued == b->queued &&
           a->busy == b->busy && a->up == b->up && a->claimed == b->claimed && a->lost == b->lost &&
           memcmp(&a->waits, &b->waits, sizeof a->waits) == 0 &&
           memcmp(a->class_waits, b->class_waits, sizeof a->class_waits) == 0 &&
           memcmp(a->by_message, b->by_message, sizeof a->by_message) == 0 &&
           memcmp(&a->work, &b->work, sizeof a->work) == 0 &&
           memcmp(&a->provider, &b->provider, sizeof a->provider) == 0;
}

/* Ten machines, a hundred jobs of ten minutes: ten rounds. */
static void test_exact(void)
{
    static const char text[] = "[ Providers = 10; Jobs = 100;\n" MACHINES JOBS("2", "50", "600") "]";
    struct grid_report r;

    tap_ok(run(text, 1, 3, true, 0, &r), "a scenario runs");
    tap_ok(r.submitted == 100 && r.done == 100 && r.queued == 0 && r.refused == 0, "all 100 jobs are done");
    tap_ok(r.launches == 100 && r.lost == 0 && r.expired == 0 && r.wasted == 0, "each is started once");
    tap_ok(r.busy >= 100 * 600 * SECOND && r.busy <= 100 * 600 * SECOND + 100, "they are busy for as long as they say");
    tap_ok(r.claimed >= r.busy && r.claimed <= r.up && r.up > 10 * 10700 * SECOND && r.up <= 10 * 10800 * SECOND,
           "claims last a little longer, hosts are up all the time");
    tap_ok(r.waits.count == 100 && r.waits.most >= 9 * 600 * 1000 && r.waits.most <= 9 * 600 * 1000 + 60000,
           "the last have waited for nine rounds: %llu ms", (unsigned long long)r.waits.most);
    tap_ok(r.class_waits[0].count == 100 && r.class_waits[1].count == 0, "waits are told by the size of a submission");
    tap_ok(r.matches >= 10 && r.claims == r.matches, "every match became a claim");
    tap_ok(r.provider.hosts == 10 && r.customer.hosts == 1 && r.matchmaker.hosts == 1 && r.provider.in > 0 &&
               r.provider.most >= (r.provider.in + r.provider.out) / 10,
           "messages are told by party");
}

static void test_churn(void)
{
    static const char text[] =
        "[ Providers = 60; Sites = [ Count = 5; Delay = 0.05; Jitter = 1 ]; Customers = 3; Users = 7; Jobs = 400;\n" MACHINES
            JOBS(
                "20", "[ Distribution = \"uniform\"; Least = 1; Most = 40 ]",
                "[ Distribution = \"exponential\"; Mean = 600 ]") "Churn = [ Up = [ Distribution = \"exponential\"; Mean = 3600 ]; Down = [ Distribution = \"exponential\"; Mean = 600 ] ];\n"
                                                                  "Start = [ Distribution = \"uniform\"; Least = 0.0; Most = 300.0 ];\n"
                                                                  "Protocol = [ Lease = 300; Life = 3600 ] ]";
    struct grid_report one, two, fat, other, half;

    tap_ok(run(text, 4, 12, false, 0, &one) && run(text, 4, 12, false, 0, &two) && run(text, 4, 12, true, 0, &fat) &&
               run(text, 5, 12, false, 0, &other) && run(text, 4, 0.5, false, 0, &half),
           "hosts come and go");
    tap_ok(one.lost > 10 && one.stops > 300 && one.starts >= one.stops, "%llu jobs went with their hosts",
           (unsigned long long)one.lost);
    tap_ok(one.submitted == 400 && one.done == 400 && one.queued == 0, "and all jobs are done, in the end");
    tap_ok(one.waits.count == 400 && one.launches >= 400 + one.lost / 2, "a wait is that for the first start");
    tap_ok(one.wasted > 0 && one.wasted < one.busy && one.busy <= one.claimed && one.claimed <= one.up,
           "what was in vain was busy, what was busy was claimed, what was claimed was up");
    tap_ok(is_same(&one, &two), "the same seed gives the same figures");
    tap_ok(is_same(&one, &fat), "and so does a world that gives nothing back and checks all");
    tap_ok(one.hash != other.hash && one.busy != other.busy, "another seed gives others");
    tap_ok(half.done > 0 && half.queued > 0 && half.done + half.queued == half.submitted && half.running > 0 &&
               half.running <= 60,
           "when time is up, what is not done is queued: %llu and %llu", (unsigned long long)half.done,
           (unsigned long long)half.queued);
}

static void test_arrivals(void)
{
    static const char text[] = "[ Providers = 40; Jobs = 40; Users = 2;\n" MACHINES JOBS(
        "4", "10",
        "300") "Arrival = [ Pause = [ Distribution = \"exponential\"; Mean = 600 ]; Sizes = 10 ]; Protocol = [ Life = 600 ] ]";
    struct grid_report r, scaled;

    tap_ok(run(text, 1, 24, true, 0, &r), "submissions come later too");
    tap_ok(r.submitted > 1000 && r.submitted < 2000 && r.submitted % 10 == 0, "about 144 of 10 jobs a day: %llu jobs",
           (unsigned long long)r.submitted);
    tap_ok(r.done + r.queued == r.submitted && r.done > r.submitted - 100, "they are done");
    tap_ok(r.busy * 100 / r.up < 20, "and most machines are idle");
    tap_ok(run(text, 1, 24, false, 0.5, &scaled), "half of it runs");
    tap_ok(scaled.providers == 20 && scaled.submitted > 500 && scaled.submitted < 1000,
           "half of the scenario is half of the jobs: %llu", (unsigned long long)scaled.submitted);
}

static void test_refused(void)
{
    static const char text[] =
        "[ Providers = 1; Machines = { [ Ad = [ Site = \"here\" ] ] };\n" JOBS("1", "1", "1") "]";
    struct symbols *symbols = names_new(0);
    struct err err = {0};
    struct scenario *scenario = scenario_read(symbols, text, strlen(text), NULL, NULL, &err);
    struct grid_settings settings = {.scenario = scenario, .seed = 1, .duration = 60};
    struct grid_report report;

    tap_ok(scenario && grid_run(&settings, &report, &err) < 0 && strstr(err.text, "Machines: an ad has"),
           "a machine that says its own Site is refused");
    scenario_free(scenario);
    symbols_free(symbols);
}

static char *text_of(const char *name)
{
    const char *source = getenv("BERTH_SOURCE");
    char path[1000], *text = NULL;
    size_t len = 0, room = 1 << 20;
    FILE *file;

    snprintf(path, sizeof path, "%s/examples/sim/%s", source ? source : ".", name);
    file = fopen(path, "r");
    if (!file)
        return NULL;
    text = malloc(room);
    if (text)
        len = fread(text, 1, room - 1, file);
    if (text)
        text[len] = '\0';
    fclose(file);
    return text;
}

static void test_examples(void)
{
    char *text = text_of("internet.ad");
    struct grid_report r;

    tap_ok(text && run(text, 1, 6, false, 0.01, &r), "a hundredth of examples/sim/internet.ad runs");
    if (!text)
        return;
    tap_ok(r.providers == 1000 && r.sites == 10 && r.submitted >= 10000, "it has 1,000 providers and 10,000 jobs");
    tap_ok(r.done + r.queued == r.submitted && r.refused == 0, "no job is lost");
    tap_ok(r.claimed * 100 > r.up * 70 && r.claimed <= r.up, "the machines are claimed for %lld parts of a hundred",
           (long long)(r.claimed * 100 / r.up));
    tap_ok(r.lost > 100 && r.stops > 300, "hosts come and go");
    free(text);
    text = text_of("campus.ad");
    tap_ok(text && run(text, 1, 10, true, 0, &r), "examples/sim/campus.ad runs, with machines that are divided");
    tap_ok(r.submitted > 1000 && r.done + r.queued == r.submitted && r.done > r.submitted / 2,
           "no job is lost there: %llu of %llu are done", (unsigned long long)r.done, (unsigned long long)r.submitted);
    free(text);
    text = text_of("reference-grid.ad");
    tap_ok(text && run(text, 1, 24, false, 0.01, &r), "a hundredth of examples/sim/reference-grid.ad runs");
    tap_ok(r.providers == 333 && r.users == 100 && r.submitted >= 10000,
           "it has 333 nodes, 100 users and 10,000 tasks");
    tap_ok(r.done + r.queued == r.submitted && r.refused == 0, "no task is lost there");
    tap_ok(r.busy > 2 * r.up && r.busy <= 4 * r.up,
           "its nodes of 2 or 4 processors are busy with %.2f tasks in the mean", (double)r.busy / (double)r.up);
    free(text);
}

/* One site of ten machines, all with a room or all without. */
static void test_sites(void)
{
    static const char text[] =
        "[ Providers = 10; Jobs = 10;\n"
        "Sites = [ Count = 1; Ad = [ Room = [ Distribution = \"choice\"; Values = { 0, 1 } ] ] ];\n"
        "Machines = { [ Ad = [ Type = \"Machine\"; Constraint = other.Type == \"Job\" ] ] };\n"
        "Shapes = [ Count = 1; Sizes = 10; Duration = 7000; Ads = { [ Ad = [ Type = \"Job\"; Constraint = other.Room == 1 ] ] } ] ]";
    static const char twice[] =
        "[ Providers = 1; Sites = [ Ad = [ Room = 1 ] ]; Machines = { [ Ad = [ Room = 2 ] ] };\n"
        "Shapes = [ Count = 1; Sizes = 1; Duration = 1; Ads = { [ Ad = [ Type = \"Job\" ] ] } ] ]";
    struct grid_report r;
    int all = 0, none = 0, other = 0;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        if (!run(text, seed, 3, true, 0, &r))
            other++;
        *(r.done == 10 && r.claims == 10 ? &all : r.done == 0 && r.claims == 0 ? &none : &other) += 1;
    }
    tap_ok(all > 0 && none > 0 && other == 0, "what a site's ad draws is the same for all of its machines: %d, %d, %d",
           all, none, other);
    tap_ok(!run(twice, 1, 1, true, 0, &r), "a machine cannot say otherwise than its site");
}

int main(void)
{
    test_exact();
    test_churn();
    test_arrivals();
    test_refused();
    test_sites();
    test_examples();
    return tap_done();
}
