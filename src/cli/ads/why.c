/* why.c: berth why: explains why requests match nothing, or what they match and why. */
#include "match/gang/gang_why.h"

#include "cli/ads/policy_file.h"
#include "cli/ask/connection.h"
#include "cli/ask/explain.h"
#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/setting.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "lang/text/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct why_settings {
    const struct dialect *dialect;
    const char *requests, *offers, *policy, *name;
    struct setting setting;
    struct connection_options pool;
    bool json;
};

#define S struct why_settings
static const struct option why_options[] = {
    {'r', "requests", "FILE", "the ads that ask", option_once, offsetof(S, requests)},
    {'o', "offers", "FILE", "the ads that are asked for", option_once, offsetof(S, offers)},
    {0, "name", "NAME", "explain only what is called so: a request, or else an offer", option_text, offsetof(S, name)},
    {0, "policy", "FILE", "an ad that says who is given what: its DockingVector chooses", option_file,
     offsetof(S, policy)},
    OPTION_DIALECT(S),
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {0, "json", NULL, "JSON lines: an object an explanation", option_flag, offsetof(S, json)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct why_settings why_defaults = {.dialect = &dialect_classic};

/* The ads of a file, and where each begins in it. */
struct side {
    const char *file;
    struct tree **ads;
    size_t *starts; /* offsets in the text; NO_PLACE when the form of the file has no places */
    size_t count, room;
    unsigned line; /* of the ad that was read last, and where that line begins */
    size_t line_start;
    struct buf text;
};
#define NO_PLACE ((size_t)-1)
#define PLACES_MAX 4096 /* clauses of one attribute that have a place */

struct why_run {
    const struct why_settings *settings;
    struct symbols *symbols;
    struct env env;
    struct arena arena;
    struct policy policy;
    struct side requests, offers;
    const struct side *explained, *others; /* the side being explained, and the other one */
    size_t at;                             /* the place of the ad being explained */
    struct buf out, name;
    bool found, unmatched;
};

/* Finds where the ad that was read last begins in the text that was kept. The search for its line starts from that of the ad before it. */
static size_t ad_start(struct side *side, const struct input_source *source)
{
    enum form form = form_reader_form(source->reader);
    unsigned line = form_reader_line(source->reader);
    const char *found;
    size_t len;

    if ((form != FORM_CLASSAD && form != FORM_LONG) || line < side->line ||
        !text_line(source->recent.text + side->line_start, source->recent.len - side->line_start, line - side->line + 1,
                   &found, &len))
        return NO_PLACE;
    side->line = line;
    side->line_start = (size_t)(found - source->recent.text);
    return side->line_start + form_reader_column(source->reader) - 1;
}

static int side_read(struct why_run *run, struct side *side, const char *file)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    side->file = file;
    side->line = 1;
    buf_init(&side->text);
    if (source_open(&source, run->symbols, run->settings->dialect, FORM_UNKNOWN, file) == 0) {
        source_keep_all(&source);
        while ((got = source_next(&source, &ad)) > 0) {
            if (side->count == side->room) {
                side->room = side->room ? side->room * 2 : 64;
                side->ads = mem_grow(side->ads, side->room * sizeof *side->ads);
                side->starts = mem_grow(side->starts, side->room * sizeof *side->starts);
            }
            side->starts[side->count] = ad_start(side, &source);
            side->ads[side->count++] = ad;
        }
        buf_add(&side->text, source.recent.text, source.recent.len);
        buf_string(&side->text);
    }
    source_close(&source);
    return got;
}

static void side_done(struct side *side)
{
    while (side->count)
        tree_unref(side->ads[--side->count]);
    free(side->ads);
    free(side->starts);
    buf_done(&side->text);
}

/* Finds the line and column of a clause of the ad that is explained. */
static void clause_place(void *user, const struct why_clause *clause, unsigned *ret_line, unsigned *ret_column)
{
    const struct why_run *run = user;
    const struct side *side = run->explained;
    size_t start = side->starts[run->at], *offsets, count, len;
    const char *attribute = symbols_text(run->symbols, clause->attribute, &len), *at, *newline;

    if (start == NO_PLACE || clause->place >= PLACES_MAX)
        return;
    offsets = mem_alloc(PLACES_MAX * sizeof *offsets);
    count = places_of_clauses(run->settings->dialect, side->text.text + start, side->text.len - start, attribute, len,
                              offsets, PLACES_MAX);
    if (clause->place < count) {
        const char *place = side->text.text + start + offsets[clause->place];

        *ret_line = 1;
        for (at = side->text.text; (newline = memchr(at, '\n', (size_t)(place - at))); at = newline + 1)
            ++*ret_line;
        *ret_column = (unsigned)(place - at) + 1;
    }
    free(offsets);
}

static void other_name(void *user, size_t place, struct buf *out)
{
    const struct why_run *run = user;

    ad_name(out, run->others->ads[place], (unsigned)place + 1);
}

static bool side_ported(const struct side *side)
{
    bool ported = false;

    for (size_t i = 0; i < side->count && !ported; i++)
        ported = gang_why_ported(side->ads[i]);
    return ported;
}

/* Is the ad a request that is explained as a gang? If not, and some offers have Ports, those without are put together in `plain`. */
static bool wants_gang(struct why_run *run, const struct side *side, size_t place, struct side *plain,
                       struct why_names *names)
{
    if (side != &run->requests)
        return false;
    if (!gang_why_plain(&run->env, &run->arena, &run->policy, side->ads[place], run->offers.ads, run->offers.count,
                        &names->ported))
        return true;
    if (!names->ported)
        return false;
    *plain = (struct side){.file = run->offers.file,
                           .ads = arena_alloc(&run->arena, run->offers.count * sizeof *plain->ads)};
    for (size_t i = 0; i < run->offers.count; i++)
        if (!gang_why_ported(run->offers.ads[i]))
            plain->ads[plain->count++] = run->offers.ads[i];
    run->others = plain;
    return false;
}

static int explain_gang(struct why_run *run, const struct side *side, size_t place, const struct why_names *names)
{
    struct gang_why why;
    struct err err = {0};

    if (gang_why_explain(&why, &run->env, &run->arena, &run->policy, side->ads[place], run->offers.ads,
                         run->offers.count, &(struct gang_why_terms){0}, &err) < 0) {
        report("%s: %.60s: %s", side->file, names->request, err.text);
        return -1;
    }
    run->unmatched = run->unmatched || why.outcome != GANG_FORMED;
    if (run->settings->json)
        gang_why_print_json(&run->out, &why, names);
    else
        gang_why_print(&run->out, &why, names);
    gang_why_done(&why);
    return 0;
}

static void explain_plain(struct why_run *run, const struct side *side, size_t place, const struct why_names *names)
{
    struct why why;

    why_explain(&why, &run->env, &run->arena, &run->policy, side->ads[place], run->others->ads, run->others->count);
    run->unmatched = run->unmatched || why.verdict != WHY_MATCHES;
    if (run->settings->json)
        why_print_json(&run->out, &why, side->ads[place], names);
    else
        why_print(&run->out, &why, side->ads[place], names);
    why_done(&why);
}

static int explain(struct why_run *run, struct side *side, size_t place, const struct side *others)
{
    struct why_names names = {.file = side->file, .place = clause_place, .offer = other_name, .user = run};
    struct arena_mark mark = arena_mark(&run->arena);
    struct side plain;
    int failed = 0;

    run->explained = side;
    run->others = others;
    run->at = place;
    buf_reset(&run->name);
    ad_name(&run->name, side->ads[place], (unsigned)place + 1);
    names.request = buf_string(&run->name);
    names.is_offer = side == &run->offers;
    if (names.is_offer && (gang_why_ported(side->ads[place]) || side_ported(&run->requests))) {
        report("%.60s is asked for by ports: why explains a gang to the request, with --name and its name",
               names.request);
        return -1;
    }
    if (run->found && !run->settings->json)
        buf_addc(&run->out, '\n');
    run->found = true;
    if (!wants_gang(run, side, place, &plain, &names))
        explain_plain(run, side, place, &names);
    else
        failed = explain_gang(run, side, place, &names);
    arena_rewind(&run->arena, mark);
    if (!failed)
        output_write(&run->out);
    return failed;
}

static bool is_called(struct why_run *run, const struct side *side, size_t place)
{
    const char *name = run->settings->name;

    if (!name)
        return side == &run->requests;
    buf_reset(&run->name);
    ad_name(&run->name, side->ads[place], (unsigned)place + 1);
    return !strcmp(buf_string(&run->name), name);
}

static int why_files(struct why_run *run)
{
    const struct why_settings *settings = run->settings;

    if (settings->policy && policy_load(&run->policy, run->symbols, settings->dialect, settings->policy) < 0)
        return STATUS_BAD;
    if (side_read(run, &run->requests, settings->requests) < 0 || side_read(run, &run->offers, settings->offers) < 0)
        return STATUS_BAD;
    for (size_t i = 0; i < run->requests.count; i++)
        if (is_called(run, &run->requests, i) && explain(run, &run->requests, i, &run->offers) < 0)
            return STATUS_BAD;
    for (size_t i = 0; i < run->offers.count && !run->found && settings->name; i++)
        if (is_called(run, &run->offers, i) && explain(run, &run->offers, i, &run->requests) < 0)
            return STATUS_BAD;
    if (settings->name && !run->found) {
        report("no request and no offer is called '%.60s'", settings->name);
        return STATUS_BAD;
    }
    return run->unmatched || !run->found ? STATUS_NO : STATUS_DONE;
}

/* Has the pool explain one of its ads. */
static int why_ask(struct connection *pool, const char *id, bool json)
{
    struct buf path, out;
    bool matches = false;
    int status;

    buf_init(&path);
    buf_init(&out);
    buf_adds(&path, "/v1/ads/");
    path_escape(&path, id);
    buf_adds(&path, "/why");
    status = explain_fetch(pool, &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .about = id},
                           json, &out, &matches);
    if (status == STATUS_DONE) {
        status = matches ? STATUS_DONE : STATUS_NO;
        output_write(&out);
    }
    buf_done(&path);
    buf_done(&out);
    return status;
}

/* Fetches the job of that number, if there is a customer that has it. Else `*ret` stays NULL, and the number is that of an ad. */
static int why_job(const struct why_settings *settings, const char *id, struct connection *customer, struct tree **ret)
{
    bool asked = settings->pool.customer || getenv("BERTH_CUSTOMER");
    struct buf path;
    int status = customer_open(customer, &settings->pool);

    buf_init(&path);
    buf_addf(&path, "/v1/jobs/%s", id);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(
            customer,
            &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .hush = !asked, .quiet = !asked},
            ret);
    buf_done(&path);
    return asked ? status : STATUS_DONE;
}

static int why_of_job(struct connection *pool, const struct tree *job, const char *id, bool json)
{
    bool matches = false;
    char name[32];
    struct buf out;
    int status;

    buf_init(&out);
    if (job_text_is(job, "State", "Blocked") && !json) {
        buf_addf(&out, "job %.20s ", id);
        cell_print(&out, job, "Reason", CELL_VALUE, 0);
        buf_adds(&out, ": no machine is asked for before that is done. Then:\n");
    }
    snprintf(name, sizeof name, "job %.20s", id);
    status = explain_job(pool, job, name, json, &out, &matches);
    if (status == STATUS_DONE) {
        status = matches ? STATUS_DONE : STATUS_NO;
        output_write(&out);
    }
    buf_done(&out);
    return status;
}

static int why_pool(const struct why_settings *settings, const char *id)
{
    struct tree *job = NULL;
    struct connection pool, customer;
    int status;

    if (settings->name || settings->policy || settings->setting.has_now || settings->setting.has_seed ||
        settings->setting.zone || settings->dialect != &dialect_classic || !*id) {
        report("why ID asks the pool: --name, --policy, --dialect, --now, --zone and --seed are for -r and -o");
        return STATUS_BAD;
    }
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && job_id_is(id)) {
        status = why_job(settings, id, &customer, &job);
        if (status == STATUS_DONE && job)
            status = why_of_job(&pool, job, id, settings->json);
        tree_unref(job);
        connection_close(&customer);
    }
    if (status == STATUS_DONE && !job)
        status = why_ask(&pool, id, settings->json);
    connection_close(&pool);
    return status;
}

static int why_run(const void *given, int word_count, char **words)
{
    const struct why_settings *settings = given;
    struct why_run run = {.settings = settings};
    int status;

    if (word_count == 1 && !settings->requests && !settings->offers)
        return why_pool(settings, words[0]);
    if (word_count != 0 || !settings->requests || !settings->offers) {
        report("why wants -r FILE with the requests and -o FILE with the offers%s",
               settings->requests || settings->offers ? "" : ", or the id of one ad in the pool");
        return STATUS_BAD;
    }
    if (!strcmp(settings->requests, "-") && !strcmp(settings->offers, "-")) {
        report("standard input can be the requests or the offers, not both");
        return STATUS_BAD;
    }
    run.symbols = names_new(0);
    run.env = setting_env(&settings->setting);
    arena_init(&run.arena);
    buf_init(&run.out);
    buf_init(&run.name);
    status = why_files(&run);
    policy_done(&run.policy);
    side_done(&run.requests);
    side_done(&run.offers);
    buf_done(&run.out);
    buf_done(&run.name);
    arena_done(&run.arena);
    symbols_free(run.symbols);
    return status;
}

const struct command command_why = {
    .name = "why",
    .summary = "explain why requests match nothing, or what they match",
    .usage = "[OPTIONS] -r FILE -o FILE\n[--json] [--pool URL] [--token FILE] ID\n[--json] [--customer URL] JOB",
    .about =
        "For each request: how many offers each clause of its constraint keeps, alone and after those before it, with "
        "the clause's place; clauses that exclude each other whatever the pool holds; every smallest set of clauses "
        "that no offer satisfies together; the offers' own clauses that refuse it, with the attribute of the request "
        "that they refuse; names that no offer has, with the nearest that they do have, and types that never fit; and "
        "the smallest changes that would make it match, each tried before it is printed, with the number of offers "
        "that it opens. Where a request matches, the offer that it gets and what decided for it. Every request is "
        "looked at by itself: nothing is consumed.\n"
        "\n"
        "A request with Ports, or one that could dock at an offer's, is explained as a gang: the gang that it gets; or each port "
        "alone, the smallest set of ports that cannot be filled together, and the port and clause at which a search from "
        "left to right died, with who was docked by then.\n"
        "\n"
        "With --name the name of an offer explains to its owner why nobody takes it: nobody asks, nobody wants it, it "
        "refuses all that ask, or it refuses everybody.\n"
        "\n"
        "With the ID of an ad, the pool explains that ad against all others that it holds: a request, or an offer to its "
        "owner. With the number of a job, the customer is asked for the job, and the pool explains that.\n"
        "\n"
        "The status is 0 when everything that was asked for matches, 1 when something does not. The JSON form is "
        "described in docs/why.md.",
    .examples = {{"berth why -r job.ad -o machines.ad", NULL},
                 {"berth why -r jobs.ad -o pool.ad --name job17", NULL},
                 {"berth why job17", NULL}},
    .options = why_options,
    .option_count = sizeof why_options / sizeof *why_options,
    .settings_size = sizeof(struct why_settings),
    .defaults = &why_defaults,
    .run = why_run,
};
