/* grdl.c: berth grdl: operations on resources that are described as sets (docs/grdl.md). */
#include "cli/ads/grdl.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Finds a word in a list, and gives its place in it. */
static int word_read(const char *text, const char *const *words, size_t count, const char *expected, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return (int)i;
    return err_set(err, "expected %s, got '%.60s'", expected, text);
}

static int option_comparator(const char *text, void *target, struct err *err)
{
    static const char *const words[] = {"basic", "type", "dimension"};
    int place = word_read(text, words, 3, "basic, type or dimension", err);

    if (place >= 0)
        *(enum grdl_comparator *)target = (enum grdl_comparator)place;
    return place < 0 ? -1 : 0;
}

static int option_engine(const char *text, void *target, struct err *err)
{
    static const char *const words[] = {"sets", "index", "templates"};
    int place = word_read(text, words, 3, "sets, index or templates", err);

    if (place >= 0)
        *(enum grdl_engine *)target = (enum grdl_engine)place;
    return place < 0 ? -1 : 0;
}

static int option_top(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 1000000, target, err);
}

static int option_size(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 64, target, err);
}

/* Reads DIMENSION=RULE or DIMENSION=RULE:VALUE. The rule points into a copy that is cut at the signs; grdl_run frees it. */
static int option_merge(const char *text, void *target, struct err *err)
{
    struct grdl_merge_rules *rules = target;
    char *copy = mem_dup(text, strlen(text)), *sign = strchr(copy, '='), *colon;
    int merge;

    if (!sign || sign == copy || rules->count == GRDL_RULES_MAX) {
        free(copy);
        return err_set(err, "expected DIMENSION=RULE[:VALUE], at most %d of them, got '%.60s'", GRDL_RULES_MAX, text);
    }
    *sign++ = '\0';
    colon = strchr(sign, ':');
    if (colon)
        *colon++ = '\0';
    merge = word_read(sign, grdl_merge_words, GRDL_MERGES, "a rule: unite, add, agree, least, most or drop", err);
    if (merge < 0) {
        free(copy);
        return -1;
    }
    rules->rules[rules->count++] = (struct grdl_merge_rule){copy, (enum grdl_merge)merge, colon};
    return 0;
}

#define S struct grdl_settings
static const struct option grdl_options[] = {
    {'k', "kind", "KIND",
     "match: one-way, hierarchical, peer (the default), n-way, partial or aggregated; profile: minimal, full or failure; "
     "rank: rank only those that match so",
     option_text, offsetof(S, kind)},
    {0, "strict", NULL, "a dimension that is not known, or a value that its dimension does not have, is an error",
     option_flag, offsetof(S, strict)},
    {0, "explain", NULL, "say why, or why not; validate: where the type of each value comes from", option_flag,
     offsetof(S, explain)},
    {0, "top", "N", "only the first N: of each ranking, or of all compositions", option_top, offsetof(S, top)},
    {0, "units", "FILE", "units and dimensions of one's own, a line each", option_once, offsetof(S, units)},
    {0, "comparator", "CLASS",
     "basic: types must be the same; type: units of one category are converted; dimension (the default): dimensions "
     "that are one are too, as ghz and mhz",
     option_comparator, offsetof(S, comparator)},
    {0, "size", "N", "n-way: how many peers (all if not given); aggregated: at most so many parts (8)", option_size,
     offsetof(S, size)},
    {0, "multi", NULL, "match: propose compositions that share no resource", option_flag, offsetof(S, multi)},
    {0, "policy", "POLICY", "match peers of two files by both sides' preferences: minsum, singles or singles-minsum",
     option_text, offsetof(S, policy)},
    {0, "merge", "RULE",
     "aggregated: DIMENSION=unite|add|agree|least|most|drop[:VALUE]; VALUE is that of a part without the dimension; "
     "cpus=add:1, bench=add and os=agree if none is given",
     option_merge, offsetof(S, merge)},
    {0, "engine", "NAME", "match: sets (the default), index (as ads), or templates (alike resources once)",
     option_engine, offsetof(S, engine)},
    {0, "stats", NULL, "match: what was compared, at the end, on standard error", option_flag, offsetof(S, stats)},
    {0, "queue", "KIND",
     "template: match-equivalent or shared-composition: the second file has the members, the third candidates",
     option_text, offsetof(S, queue)},
    {0, "preferences", "WHOSE", "template: whose preferences count: members (the default), template or equivalent",
     option_text, offsetof(S, preferences)},
    {0, "partial", NULL, "template: members may be described in part", option_flag, offsetof(S, partial)},
    {0, "contract", "FILE", "profile: check this profile against the resources as they are now", option_once,
     offsetof(S, contract)},
    {'t', "to", "FORM", "convert, profile: xml, json or classad (convert alone)", option_text, offsetof(S, to)},
    {0, "json", NULL, "JSON lines: an object a row", option_flag, offsetof(S, json)},
    {0, "long", NULL, "match: the resources themselves, a document a composition", option_flag, offsetof(S, long_form)},
};
#undef S

static const struct grdl_settings grdl_defaults = {.comparator = GRDL_DIMENSION_TRANSFORMING};

static const struct operation {
    const char *name;
    int (*run)(struct grdl_run *run);
} operations[] = {
    {"validate", grdl_validate},  {"match", grdl_match},         {"rank", grdl_ranking},    {"profile", grdl_profiling},
    {"template", grdl_templates}, {"inclusion", grdl_inclusion}, {"convert", grdl_convert},
};

static struct grdl_kit *kit_load(const struct grdl_settings *settings)
{
    struct grdl_kit *kit = NULL;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    if (!settings->units || file_read(settings->units, &text) == 0) {
        kit = grdl_kit_new(settings->comparator, text.text, text.len, &err);
        if (!kit)
            report_error(settings->units, &err, NULL, 0);
    }
    buf_done(&text);
    return kit;
}

static int files_run(struct grdl_run *run, const struct operation *operation, int count, char **files)
{
    int bad = 0;

    run->validates = operation->run == grdl_validate;
    for (int i = 0; i < count; i++)
        bad |= grdl_load(run, files[i]);
    if (bad || (run->told && !run->validates))
        return STATUS_BAD;
    run->readings = mem_alloc((run->resources.count + 1) * sizeof *run->readings);
    for (uint32_t i = 0; i < run->resources.count; i++)
        run->readings[i] = grdl_read(run->kit->consumer, run->resources.items[i]);
    return operation->run(run);
}

static int grdl_run(const void *given, int word_count, char **words)
{
    const struct operation *operation = NULL;
    struct grdl_run run = {.settings = given};
    int status = STATUS_BAD;

    for (size_t i = 0; word_count && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(words[0], operations[i].name) == 0)
            operation = &operations[i];
    if (!operation || word_count < 2) {
        report(operation ? "grdl %s wants a file of resources, or - for standard input"
                         : "grdl wants validate, match, rank, profile, template, inclusion or convert, and files",
               operation ? operation->name : "");
        return STATUS_BAD;
    }
    run.kit = kit_load(run.settings);
    buf_init(&run.text);
    grdl_resources_init(&run.resources);
    if (run.kit)
        status = files_run(&run, operation, word_count - 1, words + 1);
    for (uint32_t i = 0; run.readings && i < run.resources.count; i++)
        grdl_reading_free(run.readings[i]);
    for (uint32_t i = 0; i < run.settings->merge.count; i++)
        free((char *)(uintptr_t)run.settings->merge.rules[i].dimension);
    free(run.readings);
    free(run.files);
    free(run.file_names);
    grdl_resources_done(&run.resources);
    grdl_kit_free(run.kit);
    buf_done(&run.text);
    return status;
}

const struct command command_grdl = {
    .name = "grdl",
    .summary = "work on resources that are described as sets: GRDL",
    .usage = "OPERATION [OPTIONS] FILE...",
    .about =
        "A resource has characteristics, requirements on whoever it is composed with, and preferences. Files hold one "
        "resource or `<resources>` in XML, JSON lines, or ClassAds.\n"
        "\n"
        "    validate   check them by the schema; unknown dimensions are a warning\n"
        "    match      who can be composed with whom; the status is 1 when nobody can\n"
        "    rank       each resource with preferences orders the others\n"
        "    profile    what a composition rests on, or why there is none; contracts\n"
        "    template   of whom those of the first file are templates; queues\n"
        "    inclusion  whose sets lie within whose: chars 5.13, reqs 6.6, space 6.8\n"
        "    convert    the resources as XML, JSON or ClassAds\n"
        "\n"
        "With one FILE each resource meets all others. With several, those of the first meet those of the others: in "
        "one-way, hierarchical, partial and aggregated matches the first file has those whose requirements count.\n"
        "\n"
        "A file of units has lines `unit NAME CATEGORY FACTOR`, `dimension NAME TYPE`, `default DIMENSION TYPE`, "
        "`operation DIMENSION TYPE`, `same DIMENSION DIMENSION` and `single DIMENSION`.",
    .examples = {{"berth grdl validate --explain job.xml", NULL},
                 {"berth grdl match --kind one-way --explain job.xml executors.xml", NULL},
                 {"berth grdl rank --top 3 job.xml executors.xml", NULL},
                 {"berth grdl convert --to classad job.xml", NULL}},
    .options = grdl_options,
    .option_count = sizeof grdl_options / sizeof *grdl_options,
    .settings_size = sizeof(struct grdl_settings),
    .defaults = &grdl_defaults,
    .run = grdl_run,
};
