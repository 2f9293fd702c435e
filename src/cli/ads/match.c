/* match.c: berth match: runs one matchmaking cycle over files of ads. */
#include "match/index/finder.h"

#include "cli/ads/policy_file.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/setting.h"
#include "cli/term/table.h"
#include "lang/ad/patterns.h"
#include "lang/base/array.h"
#include "lang/text/print.h"
#include "match/pair/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How the candidates of a request are found. */
enum engine { ENGINE_INDEX, ENGINE_SCAN };

struct match_settings {
    const struct dialect *dialect;
    const char *requests, *offers, *policy;
    struct setting setting;
    enum engine engine;
    bool json, long_form, plan;
};

static int option_engine(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "scan") != 0 && strcmp(text, "index") != 0)
        return err_set(err, "expected index or scan, got '%.60s'", text);
    *(enum engine *)target = text[0] == 's' ? ENGINE_SCAN : ENGINE_INDEX;
    return 0;
}

#define S struct match_settings
static const struct option match_options[] = {
    {'r', "requests", "FILE", "the ads that ask, in the order in which they are served", option_once,
     offsetof(S, requests)},
    {'o', "offers", "FILE", "the ads that are asked for", option_once, offsetof(S, offers)},
    {0, "policy", "FILE", "an ad that says who is served first and with what", option_file, offsetof(S, policy)},
    {0, "plan", NULL, "tell how the index would find the offers of each request, and match nothing", option_flag,
     offsetof(S, plan)},
    {0, "engine", "NAME", "how offers are found: index (the default), or scan, which tries every pair", option_engine,
     offsetof(S, engine)},
    OPTION_DIALECT(S),
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {0, "json", NULL, "JSON lines: an object a match", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the ads themselves, in the long form: for each match the request, then the offer", option_flag,
     offsetof(S, long_form)},
};
#undef S

static const struct match_settings match_defaults = {.dialect = &dialect_classic};
static const char *const match_columns[] = {"request", "offer", "rank"};
static const char *const plan_columns[] = {"request", "step", "what", "rows", "exact"};

struct match_run {
    const struct match_settings *settings;
    struct symbols *symbols;
    struct env env;
    struct arena arena;
    struct policy policy;
    struct index *index;   /* or NULL: every pair is tried */
    struct party *parties; /* the requests, then the offers */
    size_t count, room, request_count;
    size_t planned; /* the request whose plan is being printed */
    bool ports;     /* it has been reported that ports are not looked at */
    struct table table;
    struct buf text;
    bool found;
};

/* Warns once of an ad with Ports, which wants a gang. */
static void ports_warn(struct match_run *run, const char *file, const struct tree *ad)
{
    if (!run->ports && tree_find(ad, tree_root(ad), NAME_PORTS))
        report("%s: ads with Ports are matched here as if they had none; `berth gang` fills them", file);
    run->ports = run->ports || tree_find(ad, tree_root(ad), NAME_PORTS);
}

/* Reads all ads of a file, and makes them ready. */
static int ads_read(struct match_run *run, const char *file)
{
    struct input_source source;
    struct tree *ad;
    struct err err;
    int got = -1;

    if (source_open(&source, run->symbols, run->settings->dialect, FORM_UNKNOWN, file) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            ARRAY_ROOM(run->parties, run->count, run->room, 64);
            ports_warn(run, file, ad);
            party_init(&run->parties[run->count++], &run->env, &run->arena, ad);
            got = residual_check(ad, &err);
            tree_unref(ad);
            if (got < 0) {
                err.line = form_reader_line(source.reader);
                err.column = 1;
                report_error(file, &err, NULL, 0);
                break;
            }
        }
    }
    source_close(&source);
    return got;
}

static void name_cell(struct match_run *run, size_t place)
{
    size_t in_file = place < run->request_count ? place : place - run->request_count;

    buf_reset(&run->text);
    ad_name(&run->text, run->parties[place].ad, (unsigned)in_file + 1);
    table_text(&run->table, run->text.text, run->text.len);
}

static void print_long(struct match_run *run, const struct tree *ad)
{
    struct err err;

    buf_reset(&run->text);
    if (form_write_ad(&run->text, FORM_LONG, ad, &err) < 0)
        report_error(run->settings->offers, &err, NULL, 0);
    output_write(&run->text);
}

static void match_found(void *user, size_t root, size_t candidate, const struct value *rank)
{
    struct match_run *run = user;

    run->found = true;
    if (run->settings->long_form) {
        print_long(run, run->parties[root].ad);
        print_long(run, run->parties[candidate].ad);
        return;
    }
    name_cell(run, root);
    name_cell(run, candidate);
    buf_reset(&run->text);
    value_print(&run->text, run->settings->dialect, rank, PRINT_PLAIN);
    if (value_is_number(rank) && !(rank->type == VALUE_REAL && !isfinite(rank->u.real)))
        table_number(&run->table, "%s", buf_string(&run->text));
    else
        table_text(&run->table, run->text.text, run->text.len);
}

static void plan_step(void *user, const struct index_step *step)
{
    static const char *const kinds[] = {"asks", "has", "choice", "left", "evaluates", "evaluated", "volatile"};
    struct match_run *run = user;

    name_cell(run, run->planned);
    table_text(&run->table, kinds[step->kind], strlen(kinds[step->kind]));
    table_text(&run->table, step->text, strlen(step->text));
    table_number(&run->table, "%llu", (unsigned long long)step->rows);
    table_text(&run->table, step->exact ? "yes" : "no", step->exact ? 3 : 2);
}

/* Prints how the offers of each request would be found, while all of them are left. */
static void match_plan(struct match_run *run)
{
    size_t count = run->count - run->request_count;
    struct tree **offers = mem_alloc(count * sizeof *offers);

    for (size_t i = 0; i < count; i++)
        offers[i] = run->parties[run->request_count + i].ad;
    for (size_t i = 0; i < run->request_count; i++)
        index_learn(run->index, &run->env, &run->arena, run->parties[i].ad);
    index_build(run->index, &run->env, &run->arena, offers, (uint32_t)count);
    for (run->planned = 0; run->planned < run->request_count; run->planned++)
        index_plan(run->index, &run->env, &run->arena, run->parties[run->planned].ad, plan_step, run);
    free(offers);
}

static int match_files(struct match_run *run)
{
    struct cycle_finder finder;

    if (run->settings->policy &&
        policy_load(&run->policy, run->symbols, run->settings->dialect, run->settings->policy) < 0)
        return STATUS_BAD;
    if (ads_read(run, run->settings->requests) < 0)
        return STATUS_BAD;
    run->request_count = run->count;
    if (ads_read(run, run->settings->offers) < 0)
        return STATUS_BAD;
    if (run->settings->plan) {
        run->index = index_new();
        match_plan(run);
        return STATUS_DONE;
    }
    if (run->settings->engine == ENGINE_INDEX)
        finder = finder_of(run->index = index_new());
    cycle_run(&run->env, &run->arena,
              &(struct cycle_field){.policy = &run->policy,
                                    .parties = run->parties,
                                    .request_count = run->request_count,
                                    .offer_count = run->count - run->request_count,
                                    .finder = run->index ? &finder : NULL},
              match_found, run);
    return run->found ? STATUS_DONE : STATUS_NO;
}

static int match_run(const void *given, int word_count, char **words)
{
    const struct match_settings *settings = given;
    struct match_run run = {.settings = settings};
    int status;

    (void)words;
    if (word_count != 0 || !settings->requests || !settings->offers) {
        report("match wants -r FILE with the requests and -o FILE with the offers");
        return STATUS_BAD;
    }
    if (!strcmp(settings->requests, "-") && !strcmp(settings->offers, "-")) {
        report("standard input can be the requests or the offers, not both");
        return STATUS_BAD;
    }
    if (settings->json && settings->long_form) {
        report("--json and --long cannot be used together");
        return STATUS_BAD;
    }
    run.symbols = names_new(0);
    run.env = setting_env(&settings->setting);
    run.env.patterns = patterns_new();
    arena_init(&run.arena);
    buf_init(&run.text);
    table_init(&run.table, settings->plan ? plan_columns : match_columns, settings->plan ? 5 : 3, settings->json);
    status = match_files(&run);
    if (!settings->long_form || settings->plan)
        table_finish(&run.table);
    table_done(&run.table);
    policy_done(&run.policy);
    index_free(run.index);
    while (run.count)
        party_done(&run.parties[--run.count]);
    free(run.parties);
    patterns_free(run.env.patterns);
    buf_done(&run.text);
    arena_done(&run.arena);
    symbols_free(run.symbols);
    return status;
}

const struct command command_match = {
    .name = "match",
    .summary = "give each request of a file its best offer of another",
    .usage = "[OPTIONS] -r FILE -o FILE",
    .about =
        "Runs one matchmaking cycle. The requests are served in the order of their file. Each gets the offer that it ranks "
        "highest among those that fit and are left: of equal ones the offer that ranks the request highest, then the "
        "first. Two ads fit when the Constraint (or Requirements) of both is true. A request that says Count = N gets "
        "up to N offers; an offer is given once.\n\n"
        "Prints a row a match: `request` and `offer`, each by its Name or its place in the file, and the request's "
        "`rank` of the offer, which is 0 where it has none. The status is 1 when nothing matched.",
    .examples = {{"berth match -d condor -r job.ad -o workstation.ad", NULL}},
    .options = match_options,
    .option_count = sizeof match_options / sizeof *match_options,
    .settings_size = sizeof(struct match_settings),
    .defaults = &match_defaults,
    .run = match_run,
};
