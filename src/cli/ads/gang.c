/* gang.c: berth gang: runs one matchmaking cycle over files of ads, in which a request gathers a whole gang. */
#include "match/gang/gang.h"

#include "cli/ads/policy_file.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/setting.h"
#include "cli/term/table.h"
#include "lang/base/json.h"
#include "match/pair/residual.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum wish { WISH_NONE, WISH_ON, WISH_OFF };

/* What is asked for on the command line. */
struct gang_call {
    const struct dialect *dialect;
    struct option_files requests, offers;
    const char *policy;
    struct setting setting;
    enum gang_algorithm algorithm;
    enum wish preferences;
    uint64_t nodes; /* 0: the default */
    bool greedy, stats, json;
};

static int option_algorithm(const char *text, void *target, struct err *err)
{
    for (int i = 0; i < GANG_ALGORITHMS; i++) {
        if (!strcmp(text, gang_algorithm_names[i])) {
            *(enum gang_algorithm *)target = (enum gang_algorithm)i;
            return 0;
        }
    }
    return err_set(err, "expected naive, lr, rl, lrc, rlc, dyn, dyns, dynsr or auto, got '%.60s'", text);
}

static int option_wish(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        return err_set(err, "expected on or off, got '%.60s'", text);
    *(enum wish *)target = text[1] == 'n' ? WISH_ON : WISH_OFF;
    return 0;
}

static int option_set(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "greedy") != 0 && strcmp(text, "exact") != 0)
        return err_set(err, "expected greedy or exact, got '%.60s'", text);
    *(bool *)target = text[0] == 'g';
    return 0;
}

static int option_nodes(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 1000000000, target, err);
}

#define S struct gang_call
static const struct option gang_options[] = {
    {'r', "requests", "FILE", "the ads that ask, in the order in which they are served; there may be several",
     option_files, offsetof(S, requests)},
    {'o', "offers", "FILE", "the ads that are asked for; there may be several", option_files, offsetof(S, offers)},
    {0, "algorithm", "NAME",
     "how a gang is searched for: auto (the default), or one of the dissertation's: naive, lr, rl, lrc, rlc, dyn, dyns, "
     "dynsr, which take any gang that fits",
     option_algorithm, offsetof(S, algorithm)},
    {0, "preferences", "WISH", "on (the default of auto): the best gang by the ranks of its ports; off: any that fits",
     option_wish, offsetof(S, preferences)},
    {0, "policy", "FILE", "an ad that says who is served first and with what", option_file, offsetof(S, policy)},
    {0, "set", "HOW", "how the members of a set are chosen: exact (the default) or greedy", option_set,
     offsetof(S, greedy)},
    {0, "nodes", "N", "give up on a request after trying so many candidates for its ports; 200000 if not given",
     option_nodes, offsetof(S, nodes)},
    {0, "stats", NULL, "tell at the end how much work it was", option_flag, offsetof(S, stats)},
    OPTION_DIALECT(S),
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {0, "json", NULL, "JSON lines: an object a gang", option_flag, offsetof(S, json)},
};
#undef S

static const struct gang_call gang_defaults = {.dialect = &dialect_classic, .algorithm = GANG_AUTO};
static const char *const gang_columns[] = {"root", "members"};
static const char *const stats_columns[] = {"gangs", "roots", "gave_up", "probes", "evaluations", "nodes", "seconds"};

struct gang_cycle {
    const struct gang_call *call;
    struct symbols *symbols;
    struct env env;
    struct arena arena;
    struct policy policy;
    struct tree **ads;   /* the requests, then the offers */
    struct ports *ports; /* of each ad */
    size_t count, room, request_count;
    struct table table;
    struct buf text;
    bool found;
};

/* Takes over the ad. -1 and the reason when something that a cycle reads in it is wrong; then it is not among the ads. */
static int ad_take(struct gang_cycle *run, struct tree *ad, struct err *err)
{
    if (run->count == run->room) {
        run->room = run->room ? run->room * 2 : 64;
        run->ads = mem_grow(run->ads, run->room * sizeof *run->ads);
        run->ports = mem_grow(run->ports, run->room * sizeof *run->ports);
    }
    if (residual_check(ad, err) < 0 || ports_read(&run->ports[run->count], ad, err) < 0) {
        tree_unref(ad);
        return -1;
    }
    run->ads[run->count++] = ad;
    return 0;
}

static int ads_read(struct gang_cycle *run, const char *file)
{
    struct input_source source;
    struct tree *ad;
    struct err err = {0};
    int got = -1;

    if (source_open(&source, run->symbols, run->call->dialect, FORM_UNKNOWN, file) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            if ((got = ad_take(run, ad, &err)) < 0) {
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

static int files_read(struct gang_cycle *run, const struct option_files *files)
{
    int got = 0;

    for (unsigned i = 0; i < files->count && got == 0; i++)
        got = ads_read(run, files->names[i]);
    return got;
}

/* -------------------------------------------------------------------------------------------------------- a gang in words */

/* A gang that is being printed. */
struct telling {
    const struct gang_cycle *run;
    const struct gang_member *members;
    uint32_t count;
    struct buf *out;
};

static void add_name(const struct gang_cycle *run, struct buf *out, size_t place)
{
    ad_name(out, run->ads[place], (unsigned)(place < run->request_count ? place : place - run->request_count) + 1);
}

/* The next member behind `after` that docks at that port of `parent`; `count` when there is none. */
static uint32_t member_next(const struct telling *telling, uint32_t parent, uint32_t port, uint32_t after)
{
    uint32_t i = after + 1;

    while (i < telling->count && (telling->members[i].parent != parent || telling->members[i].port != port))
        i++;
    return i;
}

static void add_members(const struct telling *telling, uint32_t parent);

/* Appends a member: leo, or render1(cpu=leo license=lic2). */
static void add_member(const struct telling *telling, uint32_t i)
{
    struct buf *out = telling->out;
    size_t before;

    add_name(telling->run, out, telling->members[i].place);
    before = out->len;
    buf_addc(out, '(');
    add_members(telling, i);
    if (out->len == before + 1)
        out->len = before; /* it has no members of its own */
    else
        buf_addc(out, ')');
}

/* Appends the members at the ports of one party, from left to right: cpu=leo node={n1 n2}. */
static void add_members(const struct telling *telling, uint32_t parent)
{
    const struct ports *ports = &telling->run->ports[telling->members[parent].place];
    struct buf *out = telling->out;
    const char *blank = "";

    for (uint32_t port = 0; port < ports->count; port++) {
        uint32_t i = member_next(telling, parent, port, parent), first = i;
        size_t len;
        const char *label = port_label(ports, port, &len);

        if (i == telling->count)
            continue;
        buf_adds(out, blank);
        buf_add(out, label, len);
        buf_adds(out, ports->items[port].set ? "={" : "=");
        for (; i < telling->count; i = member_next(telling, parent, port, i)) {
            buf_adds(out, i == first ? "" : " ");
            add_member(telling, i);
        }
        buf_adds(out, ports->items[port].set ? "}" : "");
        blank = " ";
    }
}

/* --------------------------------------------------------------------------------------------------------- a gang in JSON */

static void json_members(const struct telling *telling, uint32_t parent);

static void json_member(const struct telling *telling, uint32_t i)
{
    const struct gang_cycle *run = telling->run;
    const struct gang_member *member = &telling->members[i];
    struct buf *out = telling->out, name;
    size_t len;
    const char *label = port_label(&run->ports[member->place], member->link, &len);

    buf_init(&name);
    add_name(run, &name, member->place);
    buf_adds(out, "{\"offer\": ");
    json_quote(out, name.text, name.len);
    buf_adds(out, ", \"port\": ");
    json_quote(out, label, len);
    buf_adds(out, ", \"members\": ");
    json_members(telling, i);
    buf_addc(out, '}');
    buf_done(&name);
}

static void json_members(const struct telling *telling, uint32_t parent)
{
    const struct ports *ports = &telling->run->ports[telling->members[parent].place];
    struct buf *out = telling->out;
    const char *comma = "";

    buf_addc(out, '{');
    for (uint32_t port = 0; port < ports->count; port++) {
        uint32_t i = member_next(telling, parent, port, parent), first = i;
        size_t len;
        const char *label = port_label(ports, port, &len);

        if (i == telling->count)
            continue;
        buf_adds(out, comma);
        json_quote(out, label, len);
        buf_adds(out, ports->items[port].set ? ": [" : ": ");
        for (; i < telling->count; i = member_next(telling, parent, port, i)) {
            buf_adds(out, i == first ? "" : ", ");
            json_member(telling, i);
        }
        buf_adds(out, ports->items[port].set ? "]" : "");
        comma = ", ";
    }
    buf_addc(out, '}');
}

/* -------------------------------------------------------------------------------------------------------------- the command */

static void gang_found(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct gang_cycle *run = user;
    struct telling telling = {run, members, count, &run->text};

    buf_reset(&run->text);
    if (outcome == GANG_NONE)
        return;
    add_name(run, &run->text, members[0].place);
    if (outcome == GANG_GAVE_UP) {
        uint64_t nodes = run->call->nodes ? run->call->nodes : GANG_NODES_MAX;

        report("gave up: %s after %llu candidate%s", buf_string(&run->text), (unsigned long long)nodes,
               nodes == 1 ? "" : "s");
        return;
    }
    run->found = true;
    table_text(&run->table, run->text.text, run->text.len);
    buf_reset(&run->text);
    if (run->call->json) {
        json_members(&telling, 0);
        table_json(&run->table, run->text.text, run->text.len);
        return;
    }
    add_members(&telling, 0);
    if (run->text.len == 0)
        buf_addc(&run->text, '-'); /* all of its ports are optional */
    table_text(&run->table, run->text.text, run->text.len);
}

/* Reports when some gangs may not be the best, since otherwise ranks are respected. */
static void cut_report(const struct gang_cycle *run, const struct gang_stats *stats)
{
    uint64_t nodes = run->call->nodes ? run->call->nodes : GANG_NODES_MAX;

    if (stats->cut)
        report("%llu gang%s may not be the best: the search ended after %llu candidates; --nodes searches longer",
               (unsigned long long)stats->cut, stats->cut == 1 ? "" : "s", (unsigned long long)nodes);
}

static void stats_print(const struct gang_cycle *run, const struct gang_stats *stats, double seconds)
{
    const uint64_t numbers[] = {stats->gangs,  stats->roots,       stats->gave_up,
                                stats->probes, stats->evaluations, stats->nodes};
    size_t count = sizeof numbers / sizeof *numbers;
    struct table table;
    struct buf gap;

    buf_init(&gap);
    buf_adds(&gap, run->found && !run->call->json ? "\n" : "");
    output_write(&gap);
    buf_done(&gap);
    table_init(&table, stats_columns, count + 1, run->call->json);
    for (size_t i = 0; i < count; i++)
        table_number(&table, "%llu", (unsigned long long)numbers[i]);
    table_number(&table, "%.6f", seconds);
    table_finish(&table);
    table_done(&table);
}

static double clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int gang_files(struct gang_cycle *run)
{
    const struct gang_call *call = run->call;
    struct gang_settings settings = {.algorithm = call->algorithm,
                                     .preferences = call->algorithm == GANG_AUTO && call->preferences != WISH_OFF,
                                     .sets_greedy = call->greedy,
                                     .nodes = call->nodes,
                                     .seed = run->env.seed};
    struct gang_stats stats = {0};
    double start;

    if (call->policy && policy_load(&run->policy, run->symbols, call->dialect, call->policy) < 0)
        return STATUS_BAD;
    if (files_read(run, &call->requests) < 0)
        return STATUS_BAD;
    run->request_count = run->count;
    if (files_read(run, &call->offers) < 0)
        return STATUS_BAD;
    start = clock_seconds();
    gang_run(&run->env, &run->arena,
             &(struct gang_field){.policy = &run->policy,
                                  .ads = run->ads,
                                  .request_count = run->request_count,
                                  .offer_count = run->count - run->request_count},
             &settings, gang_found, run, &stats);
    table_finish(&run->table);
    if (call->stats)
        stats_print(run, &stats, clock_seconds() - start);
    cut_report(run, &stats);
    return run->found ? STATUS_DONE : STATUS_NO;
}

static bool reads_input(const struct option_files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (!strcmp(files->names[i], "-"))
            return true;
    return false;
}

static int gang_check(const struct gang_call *call, int word_count)
{
    if (word_count != 0 || !call->requests.count || !call->offers.count) {
        report("gang wants -r FILE with the requests and -o FILE with the offers");
        return -1;
    }
    if (reads_input(&call->requests) && reads_input(&call->offers)) {
        report("standard input can be the requests or the offers, not both");
        return -1;
    }
    if (call->preferences == WISH_ON && call->algorithm != GANG_AUTO) {
        report("--preferences on wants --algorithm auto: %s takes any gang that fits",
               gang_algorithm_names[call->algorithm]);
        return -1;
    }
    return 0;
}

static int gang_command(const void *given, int word_count, char **words)
{
    struct gang_cycle run = {.call = given};
    int status;

    (void)words;
    if (gang_check(run.call, word_count) < 0)
        return STATUS_BAD;
    run.symbols = names_new(0);
    run.env = setting_env(&run.call->setting);
    arena_init(&run.arena);
    buf_init(&run.text);
    table_init(&run.table, gang_columns, 2, run.call->json);
    status = gang_files(&run);
    table_done(&run.table);
    policy_done(&run.policy);
    while (run.count) {
        ports_done(&run.ports[--run.count]);
        tree_unref(run.ads[run.count]);
    }
    free(run.ads);
    free(run.ports);
    buf_done(&run.text);
    arena_done(&run.arena);
    symbols_free(run.symbols);
    return status;
}

const struct command command_gang = {
    .name = "gang",
    .summary = "give each request of a file all the parties that it needs at once",
    .usage = "[OPTIONS] -r FILE -o FILE",
    .about =
        "Runs one matchmaking cycle in which a request may need several parties at once: a machine and a licence, or two "
        "machines side by side. An ad says whom it must meet in Ports, a list of ads. Each has a Label, by which it and "
        "the ports behind it speak of whoever docks there, a Constraint and a Rank. Whoever docks may have more ports, "
        "and these are filled too. A request gets its whole gang or nothing.\n\n"
        "A port may say Count = N or { least, most } (a set), Essential = false (it may stay empty) and Share = true; an "
        "entry with Choose and Ports of its own is a group of alternatives. docs/gangs.md explains them all.\n\n"
        "The requests are served in the order of their file. Each gets the best gang of what is left: the best for its "
        "first port among all gangs that can be completed, then for the next. An offer is in one gang, unless it says by "
        "Residual what is left of it.\n\n"
        "Prints a row a gang: the `root`, by its Name or its place in the file, and its `members` by port. "
        "`server=render1(cpu=leo)` has a port of its own that is filled, and `node={n1 n2}` is a set. Requests that get "
        "no gang have no row. The status is 1 when there is no gang at all. The search for a gang can be long; one that "
        "is given up is told on standard error.",
    .examples = {{"berth gang -r job.ad -o pool.ad", NULL}},
    .options = gang_options,
    .option_count = sizeof gang_options / sizeof *gang_options,
    .settings_size = sizeof(struct gang_call),
    .defaults = &gang_defaults,
    .run = gang_command,
};
