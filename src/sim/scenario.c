/* scenario.c: reads the attributes of a scenario. */
#include "sim/scenario_parts.h"

#include "lang/base/mem.h"
#include "lang/text/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATES_MAX 1000
#define SPAN_MOST 1e9 /* seconds */
#define READ_STEPS 10000000
#define READ_BYTES (64u << 20)

static const struct dist nothing = {.kind = DIST_FIXED, .least = 0, .most = 0, .whole = true};
static const struct dist one = {.kind = DIST_FIXED, .least = 1, .most = 1, .value = 1, .whole = true};

/* ------------------------------------------------------------------------------------------------------- templates */

static bool is_dist(const struct tree *tree, const struct expr *e)
{
    symbol name = symbols_find(tree->symbols, "Distribution", 12);

    return e->kind == EXPR_AD && name && tree_find(tree, e, name);
}

int attributes_read(const struct section *section, struct template_ad *ret)
{
    struct reader *reader = section->reader;
    struct path path = {section->path, "Ad", 0};
    struct template_attribute *attributes;
    const struct expr *parts;
    struct section ad;

    if (section_open(section, &path, &ad) < 0)
        return -1;
    if (ad.scope->tree != reader->scenario->tree)
        return reader_fail(reader, &path, "expected an ad as it stands in the file");
    ret->count = ad.scope->ad->u.run.count;
    parts = tree_parts(ad.scope->tree, ad.scope->ad);
    attributes = arena_alloc(&reader->scenario->arena, (ret->count + 1) * sizeof *attributes);
    for (uint32_t i = 0; i < ret->count; i++) {
        size_t len;
        struct path attribute = {&path, symbols_text(ad.scope->tree->symbols, parts[i].label, &len), 0};
        struct value value;

        attributes[i] = (struct template_attribute){.e = &parts[i]};
        if (!is_dist(ad.scope->tree, &parts[i]))
            continue;
        eval_attribute(&reader->eval, ad.scope, parts[i].label, &value);
        if (reader_dist(reader, &attribute, &value, true, -1e15, &attributes[i].dist) < 0)
            return -1;
    }
    ret->attributes = attributes;
    return 0;
}

static int template_read(const struct section *section, struct template_ad *ret)
{
    ret->upto = 1;
    return attributes_read(section, ret) < 0 || section_number(section, "Weight", 0, 1e12, &ret->upto) < 0 ||
                   section_dist(section, "Duration", 0, &ret->duration) < 0
               ? -1
               : 0;
}

int templates_read(const struct section *section, const char *name, const char *const *known, struct templates *ret)
{
    struct reader *reader = section->reader;
    struct path path = {section->path, name, 0};
    struct template_ad *items;
    struct value list, element;

    if (!section_value(section, name, &list) || list.type != VALUE_LIST || !list.len || list.len > TEMPLATES_MAX)
        return reader_fail(reader, &path, "expected a list of 1 to %d ads, each [ Weight = ...; Ad = [ ... ] ]",
                           TEMPLATES_MAX);
    items = arena_alloc(&reader->scenario->arena, list.len * sizeof *items);
    memset(items, 0, list.len * sizeof *items);
    for (uint32_t i = 0; i < list.len; i++) {
        struct path place = {&path, NULL, i};
        struct section inner = {reader, NULL, &place};

        eval_element(&reader->eval, &list, i, &element);
        if (element.type != VALUE_AD)
            return reader_fail(reader, &place, "expected an ad [ Weight = ...; Ad = [ ... ] ]");
        inner.scope = element.scope;
        section_known(&inner, known);
        if (template_read(&inner, &items[i]) < 0)
            return -1;
    }
    if (weights_sum(&items->upto, list.len, sizeof *items) < 0)
        return reader_fail(reader, &path, "expected a Weight above 0");
    *ret = (struct templates){items, list.len};
    return 0;
}

const struct template_ad *templates_draw(const struct templates *templates, struct rng *rng)
{
    double unit = rng_unit(rng_next(rng));
    uint32_t i = 0;

    while (i + 1 < templates->count && unit >= templates->items[i].upto)
        i++;
    return &templates->items[i];
}

struct tree *template_make(const struct scenario *scenario, const struct template_ad *ad, struct build *build,
                           uint32_t pushed, struct rng *rng)
{
    struct symbols *symbols = scenario->tree->symbols;
    uint32_t place;

    for (uint32_t i = 0; i < ad->count; i++) {
        const struct template_attribute *attribute = &ad->attributes[i];
        const struct expr *word = attribute->e;
        double number;

        if (attribute->dist && dist_draw_any(attribute->dist, rng, &number, &word)) {
            if (dist_is_whole(attribute->dist))
                build_integer(build, (int64_t)number);
            else
                build_real(build, number);
        } else {
            build_copy(build, scenario->tree, word);
        }
        symbols_hold(symbols, attribute->e->label);
        build_attribute(build, attribute->e->label);
    }
    if (build_ad(build, pushed + ad->count, &place) < 0) {
        build_reset(build);
        return NULL;
    }
    return build_seal(build);
}

/* ------------------------------------------------------------------------------------------------------ the sections */

static int read_sites(const struct section *top, struct scenario *scenario)
{
    static const char *const known[] = {"Count", "Sizes", "Delay", "Jitter", "Ad", NULL};
    struct path path = {NULL, "Sites", 0}, many = {&path, "Count", 0};
    struct section section;
    struct value value;
    uint64_t count = 1;

    if (section_value(top, "Sites", &value)) {
        if (section_open(top, &path, &section) < 0)
            return -1;
        section_known(&section, known);
        if (section_count(&section, "Count", 1, SCENARIO_PROVIDERS_MAX, &count) < 0 ||
            section_dist(&section, "Sizes", 0, &scenario->site_sizes) < 0 ||
            section_dist(&section, "Delay", 0, &scenario->site_delays) < 0 ||
            section_number(&section, "Jitter", 0, 10, &scenario->jitter) < 0 ||
            (section_value(&section, "Ad", &value) && attributes_read(&section, &scenario->site) < 0))
            return -1;
        if (count > scenario->providers)
            return reader_fail(top->reader, &many, "there are more sites than providers");
    }
    scenario->sites = (uint32_t)count;
    return 0;
}

static int read_shapes(const struct section *top, struct scenario *scenario)
{
    static const char *const known[] = {"Count", "Sizes", "Duration", "Ads", NULL};
    static const char *const ad_known[] = {"Weight", "Ad", "Duration", NULL};
    struct path path = {NULL, "Shapes", 0}, inner = {&path, "Duration", 0};
    struct section section;
    uint64_t count = 1;

    if (section_open(top, &path, &section) < 0)
        return -1;
    section_known(&section, known);
    if (section_count(&section, "Count", 1, SCENARIO_SHAPES_MAX, &count) < 0 ||
        section_dist(&section, "Sizes", 0, &scenario->sizes) < 0 ||
        section_dist(&section, "Duration", 0, &scenario->durations) < 0 ||
        templates_read(&section, "Ads", ad_known, &scenario->requests) < 0)
        return -1;
    scenario->shapes = (uint32_t)count;
    for (uint32_t i = 0; !scenario->durations && i < scenario->requests.count; i++)
        if (!scenario->requests.items[i].duration)
            return reader_fail(top->reader, &inner, "nothing says how long the jobs run");
    return 0;
}

static int read_arrival(const struct section *top, struct scenario *scenario)
{
    static const char *const known[] = {"Pause", "Sizes", NULL};
    struct path path = {NULL, "Arrival", 0}, inner = {&path, "Pause", 0};
    struct section section;
    struct value value;

    if (!section_value(top, "Arrival", &value))
        return 0;
    if (section_open(top, &path, &section) < 0)
        return -1;
    section_known(&section, known);
    scenario->batches = scenario->sizes;
    if (section_dist(&section, "Pause", 0.001, &scenario->pauses) < 0 ||
        section_dist(&section, "Sizes", 1, &scenario->batches) < 0)
        return -1;
    return scenario->pauses ? 0 : reader_fail(top->reader, &inner, "expected the time between submissions");
}

static int read_churn(const struct section *top, struct scenario *scenario)
{
    static const char *const known[] = {"Up", "Down", NULL};
    struct path path = {NULL, "Churn", 0};
    struct section section;
    struct value value;

    if (!section_value(top, "Churn", &value))
        return 0;
    if (section_open(top, &path, &section) < 0)
        return -1;
    section_known(&section, known);
    if (section_dist(&section, "Up", 0.001, &scenario->up) < 0 ||
        section_dist(&section, "Down", 0, &scenario->down) < 0)
        return -1;
    return scenario->up && scenario->down
               ? 0
               : reader_fail(top->reader, &path, "expected how long hosts are Up, and how long Down");
}

static const struct {
    const char *name;
    size_t at;
} span_rows[] = {
    {"Window", offsetof(struct spans, window)},     {"Pin", offsetof(struct spans, pin)},
    {"Lease", offsetof(struct spans, lease)},       {"Life", offsetof(struct spans, life)},
    {"Deadline", offsetof(struct spans, deadline)}, {"Retry", offsetof(struct spans, retry)},
    {"Lifetime", offsetof(struct spans, lifetime)}, {"Cycle", offsetof(struct spans, cycle)},
    {"Keep", offsetof(struct spans, keep)},         {"Grace", offsetof(struct spans, grace)},
    {"HalfLife", offsetof(struct spans, half)},
};
#define SPAN_ROWS (sizeof span_rows / sizeof *span_rows)

static int read_protocol(const struct section *top, struct scenario *scenario)
{
    const char *known[SPAN_ROWS + 1] = {NULL};
    struct path path = {NULL, "Protocol", 0}, lease = {&path, "Lease", 0};
    struct section section;
    struct value value;

    if (!section_value(top, "Protocol", &value))
        return 0;
    if (section_open(top, &path, &section) < 0)
        return -1;
    for (size_t i = 0; i < SPAN_ROWS; i++)
        known[i] = span_rows[i].name;
    section_known(&section, known);
    for (size_t i = 0; i < SPAN_ROWS; i++) {
        int64_t *span = (int64_t *)(void *)((char *)&scenario->spans + span_rows[i].at);
        double seconds = (double)*span / (double)SECOND;

        if (section_number(&section, span_rows[i].name, 0.001, SPAN_MOST, &seconds) < 0)
            return -1;
        *span = (int64_t)llround(seconds * (double)SECOND);
    }
    return scenario->spans.lease >= scenario->spans.pin ? 0
                                                        : reader_fail(top->reader, &lease, "it is shorter than Pin");
}

static int read_counts(const struct section *top, struct scenario *scenario)
{
    struct path path = {NULL, "Users", 0};
    uint64_t providers = 1, customers = 1, users = 1;

    if (section_count(top, "Providers", 1, SCENARIO_PROVIDERS_MAX, &providers) < 0 ||
        section_count(top, "Customers", 1, 10000, &customers) < 0 ||
        section_count(top, "Users", 1, SCENARIO_SHAPES_MAX, &users) < 0 ||
        section_count(top, "Jobs", 1, SCENARIO_JOBS_MAX, &scenario->jobs) < 0)
        return -1;
    if (users < customers)
        return reader_fail(top->reader, &path, "there are more customers than users");
    scenario->providers = (uint32_t)providers;
    scenario->customers = (uint32_t)customers;
    scenario->users = (uint32_t)users;
    return 0;
}

int section_name(const struct section *section, char *ret, size_t room)
{
    struct path path = {section->path, "Name", 0};
    struct value value;
    size_t len;

    if (!section_value(section, "Name", &value))
        return 0;
    if (value.type != VALUE_STRING)
        return reader_fail(section->reader, &path, "expected a string");
    len = value.len < room ? value.len : room - 1;
    memcpy(ret, value.u.string, len);
    ret[len] = '\0';
    return 0;
}

static int read_top(const struct section *top, struct scenario *scenario, void *found)
{
    static const char *const known[] = {"Name",   "Duration", "Seed",      "Providers", "Sites",
                                        "Start",  "Machines", "Customers", "Users",     "Jobs",
                                        "Shapes", "Arrival",  "Churn",     "Protocol",  NULL};
    static const char *const machine_known[] = {"Weight", "Ad", NULL};

    (void)found;
    section_known(top, known);
    if (section_name(top, scenario->name, sizeof scenario->name) < 0 ||
        section_number(top, "Duration", 1, SPAN_MOST, &scenario->duration) < 0 ||
        section_count(top, "Seed", 0, INT64_MAX, &scenario->seed) < 0 || read_counts(top, scenario) < 0 ||
        read_sites(top, scenario) < 0 || section_dist(top, "Start", 0, &scenario->starts) < 0 ||
        templates_read(top, "Machines", machine_known, &scenario->machines) < 0 || read_shapes(top, scenario) < 0 ||
        read_arrival(top, scenario) < 0 || read_churn(top, scenario) < 0)
        return -1;
    return read_protocol(top, scenario);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static struct scenario *scenario_new(struct tree *tree)
{
    struct scenario *scenario = mem_alloc(sizeof *scenario);

    *scenario = (struct scenario){
        .duration = 24 * 3600,
        .seed = 1,
        .site_sizes = &one,
        .site_delays = &nothing,
        .starts = &nothing,
        .sizes = &one,
        .spans = spans_default,
        .tree = tree,
    };
    arena_init(&scenario->arena);
    return scenario;
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    arena_done(&scenario->arena);
    tree_unref(scenario->tree);
    free(scenario);
}

struct scenario *scenario_read_as(struct symbols *symbols, const char *text, size_t len, scenario_top_fn *read,
                                  void *found, scenario_warn_fn *warn, void *user, struct err *err)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct reader reader = {.warn = warn, .user = user, .err = err, .env = {.steps = READ_STEPS, .bytes = READ_BYTES}};
    struct section top = {&reader, NULL, NULL};
    struct scope scope;
    struct build build;
    struct buf copy;
    struct tree *tree;
    int result;

    build_init(&build, symbols, &dialect_classic);
    tree = parse_ad(&build, &options, text, len, err);
    build_done(&build);
    if (!tree)
        return NULL;
    buf_init(&copy);
    buf_add(&copy, text, len);
    reader.text = buf_string(&copy);
    reader.len = len;
    reader.scenario = scenario_new(tree);
    arena_init(&reader.scratch);
    eval_init(&reader.eval, &reader.env, &reader.scratch);
    scope_init(&scope, tree, NULL);
    top.scope = &scope;
    result = read(&top, reader.scenario, found);
    arena_done(&reader.scratch);
    buf_done(&copy);
    if (result == 0)
        return reader.scenario;
    scenario_free(reader.scenario);
    return NULL;
}

struct scenario *scenario_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn,
                               void *user, struct err *err)
{
    return scenario_read_as(symbols, text, len, read_top, NULL, warn, user, err);
}

static uint32_t scaled(uint32_t count, double factor)
{
    double many = nearbyint(count * factor);

    return many < 1 ? 1 : many > SCENARIO_PROVIDERS_MAX ? SCENARIO_PROVIDERS_MAX : (uint32_t)many;
}

void scenario_scale(struct scenario *scenario, double factor)
{
    scenario->providers = scaled(scenario->providers, factor);
    scenario->sites = scaled(scenario->sites, factor);
    scenario->users = scaled(scenario->users, factor);
    scenario->shapes = scaled(scenario->shapes, factor);
    scenario->customers = scenario->customers < scenario->users ? scenario->customers : scenario->users;
    if (scenario->jobs)
        scenario->jobs = (uint64_t)fmax(1, nearbyint((double)scenario->jobs * factor));
    scenario->rarer = scenario->rarer > 0 ? scenario->rarer / factor : 1 / factor;
}
