/* assign.c: berth assign: settles a queue of requests at once, by one of several policies. */
#include "match/assign/ads.h"
#include "match/assign/shelves.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/quantity.h"
#include "cli/term/report.h"
#include "cli/term/setting.h"
#include "cli/term/table.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUANTITY_MAX 200 /* letters of a name */

struct quantity_list {
    uint32_t count;
    char names[ASSIGN_QUANTITIES_MAX][QUANTITY_MAX + 1];
};

/* What is asked for on the command line. */
struct assign_call {
    const struct dialect *dialect;
    struct option_files requests, offers;
    struct setting setting;
    enum assign_policy policy;
    struct quantity_list quantities;
    uint64_t work;   /* 0: the default */
    int64_t seconds; /* 0: no limit */
    bool stats, desires, json;
};

static int option_policy_name(const char *text, void *target, struct err *err)
{
    return assign_policy_find(text, strlen(text), target, err);
}

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (!(c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return len > 0 && len <= QUANTITY_MAX;
}

/* Reads a list such as Cpus,Memory,Disk. */
static int option_quantities(const char *text, void *target, struct err *err)
{
    struct quantity_list list = {0};

    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");

        if (!is_name(at, len))
            return err_set(err, "expected names of attributes with commas between, got '%.60s'", text);
        if (list.count == ASSIGN_QUANTITIES_MAX)
            return err_set(err, "at most %d quantities", ASSIGN_QUANTITIES_MAX);
        memcpy(list.names[list.count++], at, len);
        at += len;
        if (!*at)
            break;
    }
    *(struct quantity_list *)target = list;
    return 0;
}

static int option_work(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 1000000000000, target, err);
}

#define S struct assign_call
static const struct option assign_options[] = {
    {'r', "requests", "FILE", "the ads that ask, in their order; there may be several", option_files,
     offsetof(S, requests)},
    {'o', "offers", "FILE", "the ads that are asked for; there may be several", option_files, offsetof(S, offers)},
    {0, "policy", "NAME", "fcfs (the default), sjf, ljf, srfm, lbm, minsum, singles, singles-minsum or optimal",
     option_policy_name, offsetof(S, policy)},
    {0, "quantities", "NAMES",
     "what offers have amounts of: attributes, with commas between; Cpus,Memory,Disk if not given", option_quantities,
     offsetof(S, quantities)},
    {0, "time-limit", "SPAN",
     "optimal stops after that time with the best it has: 10, \"30 s\", 5min; none if not given", option_span,
     offsetof(S, seconds)},
    {0, "work", "N",
     "optimal searches for so many units of work at most; 200000, a few seconds, if not given. The same on every machine",
     option_work, offsetof(S, work)},
    {0, "desires", NULL,
     "place nobody: print how much of each offer each request that fits would fill, D(j,c), as srfm has it at first",
     option_flag, offsetof(S, desires)},
    {0, "stats", NULL, "tell at the end how good the result is and what it took", option_flag, offsetof(S, stats)},
    OPTION_DIALECT(S),
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {0, "json", NULL, "JSON lines: an object a pair", option_flag, offsetof(S, json)},
};
#undef S

static const struct assign_call assign_defaults = {
    .dialect = &dialect_classic,
    .quantities = {3, {"Cpus", "Memory", "Disk"}},
};
static const char *const assign_columns[] = {"request", "offer", "desire"};
static const char *const stats_columns[] = {"policy", "requests", "placed",    "bound", "gap",
                                            "weight", "exact",    "fell_back", "work",  "seconds"};

/* Where an ad was read. */
struct origin {
    const char *file;
    unsigned line;
};

struct assign_run {
    const struct assign_call *call;
    struct symbols *symbols;
    struct env env;
    struct arena arena;
    struct tree **ads; /* the requests, then the offers */
    struct origin *origins;
    size_t count, room, request_count;
    struct table table;
    struct buf text;
    double end; /* when the policy optimal stops, by clock_seconds(); 0: never */
};

static int ads_read(struct assign_run *run, const char *file)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    if (source_open(&source, run->symbols, run->call->dialect, FORM_UNKNOWN, file) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            if (run->count == run->room) {
                run->room = run->room ? run->room * 2 : 64;
                run->ads = mem_grow(run->ads, run->room * sizeof *run->ads);
                run->origins = mem_grow(run->origins, run->room * sizeof *run->origins);
            }
            run->origins[run->count] = (struct origin){file, form_reader_line(source.reader)};
            run->ads[run->count++] = ad;
        }
    }
    source_close(&source);
    return got;
}

static int files_read(struct assign_run *run, const struct option_files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (ads_read(run, files->names[i]) < 0)
            return -1;
    return 0;
}

static const char *name_of(struct assign_run *run, size_t place)
{
    size_t among = place < run->request_count ? place : place - run->request_count;

    buf_reset(&run->text);
    ad_name(&run->text, run->ads[place], (unsigned)among + 1);
    return buf_string(&run->text);
}

static void part_told(void *user, bool offer, uint32_t among, const char *why)
{
    struct assign_run *run = user;
    size_t place = offer ? run->request_count + among : among;

    report("%s:%u: %s %s takes no part: %s", run->origins[place].file, run->origins[place].line,
           offer ? "offer" : "request", name_of(run, place), why);
}

static double clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool time_is_up(void *user)
{
    const struct assign_run *run = user;

    return run->end > 0 && clock_seconds() > run->end;
}

/* ---------------------------------------------------------------------------------------------------------------- the result */

static void pairs_print(struct assign_run *run, const struct assign_built *built, const struct assign_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        name_of(run, built->request_of[result->pairs[i].request]);
        table_text(&run->table, run->text.text, run->text.len);
        name_of(run, run->request_count + result->pairs[i].offer);
        table_text(&run->table, run->text.text, run->text.len);
    }
    table_finish(&run->table);
}

/* Reports where the result may not be what one expects. */
static void doubts_report(const struct assign_run *run, const struct assign_result *result)
{
    if (result->fell_back)
        report("%s; the requests were placed as srfm does it", result->why);
    else if (run->call->policy == ASSIGN_OPTIMAL && !result->exact && result->count_bound == UINT32_MAX)
        report("the result may not be the best, and by how much is not known: %s", result->why);
    else if (run->call->policy == ASSIGN_OPTIMAL && !result->exact && result->count < result->count_bound)
        report("the result may not be the best: %u are placed, at most %u could be (gap %.2f%%): %s", result->count,
               result->count_bound, assign_gap(result) * 100, result->why);
    else if (run->call->policy == ASSIGN_OPTIMAL && !result->exact)
        report("no more can be placed, but they could have more weight: %g, at most %g (gap %.2f%%): %s",
               result->weight, result->weight_bound, assign_gap(result) * 100, result->why);
}

static void stats_print(const struct assign_run *run, const struct assign_result *result, uint32_t requests,
                        double seconds)
{
    const char *name = assign_policy_names[run->call->policy];
    bool known = result->count_bound != UINT32_MAX;
    struct table table;
    struct buf gap;

    buf_init(&gap);
    buf_adds(&gap, result->count && !run->call->json ? "\n" : "");
    output_write(&gap);
    buf_done(&gap);
    table_init(&table, stats_columns, sizeof stats_columns / sizeof *stats_columns, run->call->json);
    table_text(&table, name, strlen(name));
    table_number(&table, "%u", requests);
    table_number(&table, "%u", result->count);
    if (known) {
        table_number(&table, "%u", result->count_bound);
        table_number(&table, "%.6f", assign_gap(result));
    } else {
        table_text(&table, "", 0);
        table_text(&table, "", 0);
    }
    table_number(&table, "%.15g", result->weight);
    table_text(&table, result->exact ? "yes" : "no", result->exact ? 3 : 2);
    table_text(&table, result->fell_back ? "yes" : "no", result->fell_back ? 3 : 2);
    table_number(&table, "%llu", (unsigned long long)result->work);
    table_number(&table, "%.6f", seconds);
    table_finish(&table);
    table_done(&table);
}

/* --------------------------------------------------------------------------------------------------------------- the command */

/* Prints the desire of each request for each offer that it fits while nobody is placed. What stands for several requests is printed once. */
static int desires_print(struct assign_run *run, const struct assign_built *built)
{
    const struct assign_problem *problem = &built->problem;
    uint32_t quantities = problem->quantity_count;
    int status = STATUS_NO;

    for (uint32_t i = 0; i < problem->request_count; i++) {
        const struct assign_row *row = &problem->rows[problem->requests[i].row];
        const double *amounts = problem->amounts + (size_t)i * quantities;

        if (i > 0 && built->request_of[i] == built->request_of[i - 1])
            continue;
        for (uint32_t offer = 0; offer < problem->offer_count; offer++) {
            const double *free = problem->free + (size_t)offer * quantities;
            bool fits = false;

            for (uint32_t k = 0; k < row->count && !fits; k++)
                fits = problem->edges[row->first + k].kind == problem->offer_kinds[offer] &&
                       assign_fits(amounts, free, quantities);
            if (!fits)
                continue;
            name_of(run, built->request_of[i]);
            table_text(&run->table, run->text.text, run->text.len);
            name_of(run, run->request_count + offer);
            table_text(&run->table, run->text.text, run->text.len);
            table_number(&run->table, "%.6g", desire_of(amounts, free, quantities));
            status = STATUS_DONE;
        }
    }
    table_finish(&run->table);
    return status;
}

static int assign_all(struct assign_run *run, const struct assign_ads *ads)
{
    struct assign_options options = {.work = run->call->work, .stop = time_is_up, .stop_user = run};
    struct assign_built built;
    struct assign_result result;
    struct err err;
    double start = clock_seconds();
    int status = STATUS_BAD;

    if (assign_build(&built, &run->env, &run->arena, ads, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    if (run->call->desires) {
        status = desires_print(run, &built);
        assign_built_done(&built);
        return status;
    }
    run->end = run->call->seconds > 0 ? clock_seconds() + (double)run->call->seconds : 0;
    assign_result_init(&result);
    if (assign_solve(&run->arena, run->call->policy, &built.problem, &options, &result, &err) < 0) {
        report("%s", err.text);
    } else {
        pairs_print(run, &built, &result);
        if (run->call->stats)
            stats_print(run, &result, built.problem.request_count, clock_seconds() - start);
        doubts_report(run, &result);
        status = result.count ? STATUS_DONE : STATUS_NO;
    }
    assign_result_done(&result);
    assign_built_done(&built);
    return status;
}

static int assign_files(struct assign_run *run)
{
    const char *quantities[ASSIGN_QUANTITIES_MAX];

    if (files_read(run, &run->call->requests) < 0)
        return STATUS_BAD;
    run->request_count = run->count;
    if (files_read(run, &run->call->offers) < 0)
        return STATUS_BAD;
    for (uint32_t i = 0; i < run->call->quantities.count; i++)
        quantities[i] = run->call->quantities.names[i];
    return assign_all(run, &(struct assign_ads){.requests = run->ads,
                                                .offers = run->ads + run->request_count,
                                                .request_count = (uint32_t)run->request_count,
                                                .offer_count = (uint32_t)(run->count - run->request_count),
                                                .quantities = quantities,
                                                .quantity_count = run->call->quantities.count,
                                                .told = part_told,
                                                .user = run});
}

static bool reads_input(const struct option_files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (!strcmp(files->names[i], "-"))
            return true;
    return false;
}

static int assign_command(const void *given, int word_count, char **words)
{
    struct assign_run run = {.call = given};
    int status;

    (void)words;
    if (word_count != 0 || !run.call->requests.count || !run.call->offers.count) {
        report("assign wants -r FILE with the requests and -o FILE with the offers");
        return STATUS_BAD;
    }
    if (reads_input(&run.call->requests) && reads_input(&run.call->offers)) {
        report("standard input can be the requests or the offers, not both");
        return STATUS_BAD;
    }
    run.symbols = names_new(0);
    run.env = setting_env(&run.call->setting);
    arena_init(&run.arena);
    buf_init(&run.text);
    table_init(&run.table, assign_columns, run.call->desires ? 3 : 2, run.call->json);
    status = assign_files(&run);
    table_done(&run.table);
    while (run.count)
        tree_unref(run.ads[--run.count]);
    free(run.ads);
    free(run.origins);
    buf_done(&run.text);
    arena_done(&run.arena);
    symbols_free(run.symbols);
    return status;
}

const struct command command_assign = {
    .name = "assign",
    .summary = "settle a whole queue of requests at once, by a policy",
    .usage = "[OPTIONS] --policy NAME -r FILE -o FILE",
    .about =
        "Places requests at offers, all at once instead of one after the other. An offer has amounts of some quantities, and "
        "takes as many requests as fit. The amount of X that a request asks for is its RequestX, else its X, else 0; what an "
        "offer has is its X, and without one it has no limit. Which X there are says --quantities. Two ads fit when the "
        "Constraint (or Requirements) of both is true; how much a request likes an offer is its Rank. A request that says "
        "Count = N stands for N.\n\n"
        "The policies: fcfs serves the requests in their order, each with the offer that it ranks highest and that has room; "
        "sjf and ljf do the same, the shortest or the longest Duration first. srfm places at once who has a single choice, "
        "and then the pairs that fill an offer most. lbm solves a linear programme and follows its values. minsum takes the "
        "pairs that both sides rank highest, singles only pairs of which a side has no other choice, and singles-minsum "
        "both by turns. optimal places as many as can be placed, and of these ways it takes the one with the largest ranks. "
        "docs/assign.md tells more.\n\n"
        "Prints a row a pair: `request` and `offer`, each by its Name or its place in the file, in the order of the requests. "
        "The status is 1 when nothing is placed. When optimal could not prove that nothing is better, the gap is told on "
        "standard error.\n\n"
        "With --desires nobody is placed. It prints D(j,c) of each request and each offer that it fits: the product of what is asked for, "
        "divided by the product of what there is. srfm tries the largest first.",
    .examples = {{"berth assign --policy srfm --quantities Cpus -r jobs.ad -o clusters.ad", NULL},
                 {"berth assign --desires --quantities Cpus -r jobs.ad -o clusters.ad", NULL}},
    .options = assign_options,
    .option_count = sizeof assign_options / sizeof *assign_options,
    .settings_size = sizeof(struct assign_call),
    .defaults = &assign_defaults,
    .run = assign_command,
};
