/* Policies compared: what a scenario of clusters says, that a study repeats itself, and the shape of table 5.2. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "sim/plan.h"
#include "sim/study.h"
#include "sim/study_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CLUSTERS \
    "Clusters = {\n[ Count = 2; Ad = [ Name = \"a\"; Cpus = 4; Memory = 100 ] ],\n[ Ad = [ Cpus = 8 ] ] };\n"
#define JOBS                                                                                                          \
    "Arrival = [ Pause = [ Distribution = \"exponential\"; Mean = 20 ] ];\nJobs = { [ Duration = 300; Ad = [ Cpus = " \
    "[ Distribution = \"uniform\"; Least = 1; Most = 6 ]; RequestMemory = 30; Rank = other.Cpus ] ] };\n"

struct heard {
    unsigned count;
    struct err last;
};

static void hear(void *user, const struct err *warning)
{
    struct heard *heard = user;

    heard->count++;
    heard->last = *warning;
}

static struct plan *read_text(struct symbols *symbols, const char *text, struct heard *heard, struct err *err)
{
    *err = (struct err){0};
    *heard = (struct heard){0};
    return plan_read(symbols, text, strlen(text), hear, heard, err);
}

static void test_plan(struct symbols *symbols)
{
    static const char text[] =
        "[ Name = \"small\"; Duration = 7200; Seed = 4; Runs = 3; Users = 5; Starved = 60; Bound = 20;\n"
        "Policies = { \"srfm\", \"FCFS\" }; Window = 30; Windows = [ fcfs = 1; lbm = [ Least = 5; Most = 50 ] ];\n"
        "Timeout = { 0, 600 }; Odd = 1;\n" CLUSTERS JOBS "]";
    static const char pool[] = "[ Providers = 5; Machines = { } ]";
    struct heard heard;
    struct err err;
    struct plan *plan = read_text(symbols, text, &heard, &err);

    if (!tap_ok(plan != NULL, "a scenario of clusters is read from an ad")) {
        tap_diag("%u:%u: %s", err.line, err.column, err.text);
        return;
    }
    tap_ok(plan->policy_count == 2 && plan->policies[0] == BATCH_SRFM && plan->policies[1] == BATCH_FCFS &&
               plan->runs == 3 && plan->timeout_count == 2 && plan->timeouts[1] == 600 && plan->starved == 60 &&
               plan->bound == 20,
           "policies, runs and timeouts are as they stand");
    tap_ok(plan->windows[BATCH_SRFM].least == 30 * BATCH_SECOND &&
               plan->windows[BATCH_SRFM].most == 30 * BATCH_SECOND && plan->windows[BATCH_FCFS].most == BATCH_SECOND &&
               plan->windows[ASSIGN_LBM].least == 5 * BATCH_SECOND &&
               plan->windows[ASSIGN_LBM].most == 50 * BATCH_SECOND,
           "a policy may have a window of its own, also one that adapts");
    tap_ok(plan->park.kind_count == 2 && plan->park.clusters == 3 && park_processors(&plan->park, false) == 16 &&
               plan->park.kinds[0].capacity[1] == 100 && isinf(plan->park.kinds[1].capacity[1]) &&
               !strcmp(plan->park.kinds[1].name, "#2"),
           "clusters have what they say, and no limit where they say nothing");
    tap_ok(heard.count == 1 && strstr(heard.last.text, "Odd: nobody reads this"),
           "an attribute that nobody reads is a warning");
    tap_ok(plan_is_one(symbols, text, sizeof text - 1) && !plan_is_one(symbols, pool, sizeof pool - 1) &&
               !plan_is_one(symbols, "5", 1),
           "it is told from the scenario of a pool by its Clusters");
    plan_free(plan);
}

static const struct wrong {
    const char *text;
    unsigned line;
    const char *says;
} wrongs[] = {
    {"[\nClusters = 5 ]", 2, "Clusters: expected a list of 1 to"},
    {"[\nClusters = { 5 } ]", 2, "Clusters[0]: expected an ad"},
    {"[\nClusters = { [ Count = 0;\n Ad = [ Cpus = 1 ] ] } ]", 2, "Clusters[0].Count: expected a whole number from 1"},
    {"[ Clusters = { [\nAd = [ Memory = 5 ] ] } ]", 2, "Clusters[0].Ad: expected a number of Cpus"},
    {"[ Clusters = { [ Count = 2 ] } ]", 1, "Clusters[0].Ad: expected an ad"},
    {"[\nPolicies = { \"fcfs\", \"srmf\" };\n" CLUSTERS "]", 2, "Policies[1]: there is no policy 'srmf'"},
    {"[\nPolicies = \"fcfs\";\n" CLUSTERS "]", 2, "Policies: expected a list"},
    {"[\nWindow = 0;\n" CLUSTERS "]", 2, "Window: expected a number from 0.001"},
    {"[\nWindow = [ Least = 9;\n Most = 2 ];\n" CLUSTERS "]", 3, "Window.Most: it is below Least"},
    {"[\nWindows = [ fcfs = \"x\" ];\n" CLUSTERS "]", 2, "Windows.fcfs: expected a number"},
    {"[\nTimeout = { 0,\n -1 };\n" CLUSTERS "]", 3, "Timeout[1]: expected a number of seconds"},
    {"[\n" CLUSTERS "Jobs = { [ Ad = [ ] ] } ]", 1, "Arrival: expected an ad"},
    {"[\n" CLUSTERS "Jobs = { [ Ad = [ ] ] }; Arrival = [ Pause = 1 ] ]", 5, "Jobs[0].Duration: nothing says"},
    {"[\n" CLUSTERS "Jobs = { [ Ad = [ ]; Duration = 5 ] };\n Arrival = [ Pause = 0 ] ]", 6,
     "Arrival.Pause: expected at least 0.001"},
    {"[\n" CLUSTERS "Runs = 1.5 ]", 5, "Runs: expected a whole number"},
    {"[\n" CLUSTERS
     "Jobs = { [ Ad = [ ]; Duration = [ Distribution = \"gamma\";\n Shape = 0; Scale = 2 ] ] }; Arrival = [ Pause = 5 ] ]",
     6, "Jobs[0].Duration.Shape: expected a number above 0"},
};

static void test_wrong(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct heard heard;
        struct err err;
        struct plan *plan = read_text(symbols, wrongs[i].text, &heard, &err);
        bool refused = !laws_known() && strstr(wrongs[i].text, "gamma"); /* for another reason */

        if (!tap_ok(!plan && (refused || (err.line == wrongs[i].line && strstr(err.text, wrongs[i].says))),
                    "what is wrong is told: line %u: %s", wrongs[i].line, wrongs[i].says))
            tap_diag("%s: line %u: %s", plan ? "it was read" : "told", err.line, err.text);
        plan_free(plan);
    }
}

static void test_what_if(struct symbols *symbols)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"20 more", "expected \"+COUNT machines like [ AD ]\""},
               {"+x machines like [ Cpus = 1 ]", "expected \"+COUNT"},
               {"+0 machines like [ Cpus = 1 ]", "expected a count from 1"},
               {"+2 machines like nobody", "there is no cluster 'nobody'"},
               {"+2 machines like [ Memory = 1 ]", "expected a number of Cpus"},
               {"+2 machines like [ Cpus = ", "expected"},
               {"+99999999999999999999 machines like [ Cpus = 1 ]", "expected a count"}};
    struct heard heard;
    struct err err;
    struct plan *plan = read_text(symbols, "[ " CLUSTERS JOBS " ]", &heard, &err);

    tap_ok(plan && plan_what_if(plan, "+20 machines like [ Cpus = 8; Memory = 64 ]", &err) == 0 &&
               plan_what_if(plan, " 1 cluster like a", &err) == 0,
           "machines are added by an ad, or like those that are there");
    tap_ok(plan->park.kind_count == 4 && plan->park.kinds[2].count == 20 && plan->park.kinds[2].extra &&
               plan->park.kinds[3].capacity[1] == 100 && park_processors(&plan->park, false) == 16 &&
               park_processors(&plan->park, true) == 180,
           "they are there only when somebody asks what if");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!tap_ok(plan_what_if(plan, bad[i].text, &err) < 0 && strstr(err.text, bad[i].says), "not: %s", bad[i].text))
            tap_diag("%s", err.text);
    plan_free(plan);
}

/* ---------------------------------------------------------------------------------------------------------------- studies */

static void study_print(struct buf *out, const struct study *study)
{
    for (uint32_t v = 0; v < study->variant_count; v++)
        for (uint32_t h = 0; h < study->hour_count; h++)
            for (int i = 0; i < FIGURE_COUNT; i++)
                buf_addf(out, "%a %a\n", study->variants[v].rows[h].figures[i].mean,
                         study->variants[v].rows[h].figures[i].squares);
}

static void test_repeats(struct symbols *symbols)
{
    static const double hours[] = {1, 2}, late[] = {2};
    struct buf texts[4];
    struct heard heard;
    struct err err;
    struct plan *plan =
        read_text(symbols, "[ Name = \"<b>&\"; Policies = { \"fcfs\", \"lbm\" };\n" CLUSTERS JOBS " ]", &heard, &err);
    struct sample first = {0}, second = {0};

    plan_what_if(plan, "+3 machines like [ Name = \"<i>\"; Cpus = 6 ]", &err);
    for (int i = 0; i < 4; i++) {
        struct study_settings settings = {.plan = plan,
                                          .hours = i == 3 ? late : hours,
                                          .hour_count = i == 3 ? 1 : 2,
                                          .runs = 3,
                                          .seed = i == 2 ? 8 : 7,
                                          .extra = true};
        struct study study;

        buf_init(&texts[i]);
        if (study_run(&settings, &study, &err) < 0)
            tap_diag("%s", err.text);
        study_print(&texts[i], &study);
        study_page(&texts[i], plan, &study, false);
        if (i == 0)
            first = study.variants[1].rows[1].figures[FIGURE_WAIT_MEAN];
        if (i == 3)
            second = study.variants[1].rows[0].figures[FIGURE_WAIT_MEAN];
        if (i == 0)
            tap_ok(study.variant_count == 4 && study.variants[2].extra &&
                       study.variants[2].rows[1].figures[FIGURE_WAIT_MEAN].mean <
                           study.variants[0].rows[1].figures[FIGURE_WAIT_MEAN].mean,
                   "with more machines jobs wait less");
        study_done(&study);
    }
    tap_ok(texts[0].len == texts[1].len && !memcmp(texts[0].text, texts[1].text, texts[0].len),
           "the same seed gives the same figures and the same page, to the last byte");
    tap_ok(texts[0].len != texts[2].len || memcmp(texts[0].text, texts[2].text, texts[0].len) != 0,
           "and another seed others");
    tap_ok(first.mean == second.mean && first.squares == second.squares,
           "what is seen after two hours does not depend on whether somebody looked after one");
    tap_ok(!strstr(buf_string(&texts[0]), "<b>&") && !strstr(buf_string(&texts[0]), "<i>") &&
               strstr(buf_string(&texts[0]), "&lt;b&gt;&amp;"),
           "names have no meaning of their own in a page");
    tap_ok(!strstr(buf_string(&texts[0]), "<script") && !strstr(buf_string(&texts[0]), "http:") &&
               !strstr(buf_string(&texts[0]), "https:") && !strstr(buf_string(&texts[0]), "src="),
           "and it loads nothing");
    for (int i = 0; i < 4; i++)
        buf_done(&texts[i]);
    plan_free(plan);
}

/* How much sjf completes without a timeout, in percent. */
static double sjf_completed(const struct study *study, uint32_t hour)
{
    for (uint32_t v = 0; v < study->variant_count; v++)
        if (study->variants[v].policy == BATCH_SJF && study->variants[v].timeout == 0)
            return study->variants[v].rows[hour].figures[FIGURE_COMPLETED].mean;
    return 0;
}

/* Of table 5.2: over long runs srfm and lbm complete more than fcfs when there is more to do than the clusters can. */
static void test_table(struct symbols *symbols)
{
    static const double hours[] = {1, 2, 10, 24};
    char name[1000], text[20000];
    struct study_settings settings = {.hours = hours, .hour_count = 4, .runs = 20, .seed = 1};
    const char *source = getenv("BERTH_SOURCE");
    struct heard heard;
    struct study study;
    struct err err;
    struct plan *plan;
    double most = -INFINITY;
    size_t len;
    FILE *file;

    snprintf(name, sizeof name, "%s/examples/sim/gridcam.ad", source ? source : ".");
    file = fopen(name, "r");
    if (!tap_ok(file != NULL, "the scenario of table 5.2 is there"))
        return;
    len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    settings.plan = read_text(symbols, text, &heard, &err);
    if (!tap_ok(settings.plan && !heard.count && settings.plan->policy_count == 3 &&
                    settings.plan->timeout_count == 2 && settings.plan->policies[0] == BATCH_FCFS,
                "it has fcfs, srfm and lbm, without a timeout and with one"))
        return;
    plan = (struct plan *)(uintptr_t)settings.plan;
    plan->policies[plan->policy_count++] = BATCH_SJF;
    tap_ok(study_run(&settings, &study, &err) == 0, "and can be run, and with sjf");
    for (uint32_t v = 0; v < study.variant_count; v++) {
        const struct study_variant *variant = &study.variants[v];

        for (uint32_t h = 0; h < 4; h++) {
            const struct sample *gain = &variant->rows[h].gain;
            double margin = sample_margin(gain, STUDY_CONFIDENCE);

            if (variant->policy == BATCH_FCFS || hours[h] < 10)
                continue;
            if (!tap_ok(gain->mean - margin > 0,
                        "timeout %g: %s completes more than fcfs in %g hours, and that is no chance", variant->timeout,
                        batch_policy_names[variant->policy], hours[h]))
                tap_diag("%.3f +- %.3f", gain->mean, margin);
            if (variant->timeout == 0 && variant->policy != BATCH_SJF)
                most = fmax(most, variant->rows[h].figures[FIGURE_COMPLETED].mean - sjf_completed(&study, h));
        }
    }
    tap_ok(most < 0, "without a timeout sjf completes most, in 10 and in 24 hours: by %.2f percent of the jobs", -most);
    study_done(&study);
    plan_free(plan);
}

int main(void)
{
    struct symbols *symbols = names_new(0);

    test_plan(symbols);
    test_wrong(symbols);
    test_what_if(symbols);
    test_repeats(symbols);
    test_table(symbols);
    symbols_free(symbols);
    return tap_done();
}
