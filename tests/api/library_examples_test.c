/* library_examples_test.c: an example for every function of berth.h. They are what docs/library.md shows (tools/library-docs), and a test: each is one case.
 *
 * In them `context` is a context, `ad("...")` reads an ad in any form and `expr("...")` an expression; `holds(...)` says what is true there. */
#include "common/tap.h"

#include <berth.h>
#include <stdlib.h>

static struct berth_context *context;
static bool all_hold;

static void hold(bool condition, const char *text)
{
    if (!condition) {
        tap_diag("does not hold: %s", text);
        all_hold = false;
    }
}
#define holds(...) hold(__VA_ARGS__, #__VA_ARGS__)

static struct berth_ad *ad(const char *text)
{
    struct berth_ad *made = berth_ad_parse(context, BERTH_FORM_ANY, text, strlen(text), NULL);

    holds(made != NULL);
    return made;
}

static struct berth_expr *expr(const char *text)
{
    struct berth_expr *made = berth_expr_parse(context, text, strlen(text), NULL);

    holds(made != NULL);
    return made;
}

static bool same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* berth_version, berth_version_number */
static void example_version(void)
{
    holds(berth_version_number() == BERTH_VERSION_NUMBER); /* built with the header of the library that is loaded */
    holds(same(berth_version(), "0.1.0"));
}

/* berth_code_name */
static void example_code(void)
{
    holds(same(berth_code_name(BERTH_BAD_TEXT), "bad text"));
    holds(berth_code_name(77) == NULL);
}

static int give_back(void *user, size_t wanted)
{
    void **reserve = user; /* memory that was put aside for this */
    int had = *reserve != NULL;

    (void)wanted;
    free(*reserve);
    *reserve = NULL;
    return had; /* 1: try again; 0: nothing is left, the program ends */
}

/* berth_on_memory */
static void example_memory(void)
{
    void *reserve = malloc(1 << 20);

    berth_on_memory(give_back, &reserve);
    berth_on_memory(NULL, NULL); /* nobody is asked any more */
    free(reserve);
}

/* berth_context_new, berth_context_free, berth_context_share */
static void example_context(void)
{
    struct berth_context *first = berth_context_new();
    struct berth_context *second = berth_context_share(first); /* for another thread */
    struct berth_ad *made = berth_ad_parse(first, BERTH_FORM_ANY, "[ A = 1 ]", 9, NULL);

    holds(same(berth_ad_text(second, made, BERTH_FORM_JSON, NULL, NULL), "{\"A\": 1}"));
    holds(berth_ad_text(context, made, BERTH_FORM_JSON, NULL, NULL) == NULL); /* that context has other names */
    berth_context_free(first);
    berth_context_free(second);
    berth_ad_unref(made);
}

/* berth_context_set_clock */
static void example_clock(void)
{
    struct berth_expr *now = expr("formatTime(currentTime(), \"%Y-%m-%d %H:%M\")");

    berth_context_set_clock(context, 1772366400, 0);
    holds(same(berth_value_string(berth_eval(context, now, NULL, NULL), NULL), "2026-03-01 12:00"));
    berth_context_set_clock(context, 1772366400 + 3600, 0);
    holds(same(berth_value_string(berth_eval(context, now, NULL, NULL), NULL), "2026-03-01 13:00"));
    berth_expr_unref(now);
}

/* berth_context_set_seed */
static void example_seed(void)
{
    struct berth_expr *dice = expr("random(6)");
    int64_t first, again;

    berth_context_set_seed(context, 7);
    holds(berth_value_integer(berth_eval(context, dice, NULL, NULL), &first) == 0);
    holds(berth_value_integer(berth_eval(context, dice, NULL, NULL), &again) == 0 && again == first);
    berth_expr_unref(dice);
}

/* berth_context_set_dialect */
static void example_dialect(void)
{
    struct berth_expr *both;

    holds(berth_context_set_dialect(context, BERTH_CONDOR) == 0);
    both = expr("MY.Cpus =?= undefined");
    holds(berth_value_boolean(berth_eval(context, both, NULL, NULL)) == 1);
    holds(berth_context_set_dialect(context, 17) == -1);
    berth_expr_unref(both);
}

/* berth_context_set_limit, berth_context_steps, berth_context_exhausted */
static void example_limit(void)
{
    struct berth_expr *sum = expr("sum({1, 2, 3, 4})");
    uint64_t before = berth_context_steps(context);

    holds(berth_context_set_limit(context, BERTH_LIMIT_STEPS, 2) == 0);
    holds(berth_value_type(berth_eval(context, sum, NULL, NULL)) == BERTH_ERROR);
    holds(berth_context_exhausted(context) == 1);
    berth_context_set_limit(context, BERTH_LIMIT_STEPS, 0); /* as at first */
    holds(berth_value_type(berth_eval(context, sum, NULL, NULL)) == BERTH_INTEGER);
    holds(berth_context_exhausted(context) == 0 && berth_context_steps(context) > before);
    berth_expr_unref(sum);
}

/* berth_ad_parse */
static void example_parse(void)
{
    static const char json[] = "{\"Cpus\": 8, \"Rank\": \"\\/Expr(other.Memory)\\/\"}";
    struct berth_ad *machine = berth_ad_parse(context, BERTH_FORM_JSON, json, strlen(json), NULL);
    struct berth_error error;

    holds(machine != NULL && berth_ad_count(machine) == 2);
    holds(berth_ad_parse(context, BERTH_FORM_CLASSAD, "[ A = (1 + 2 ]", 14, &error) == NULL);
    holds(error.code == BERTH_BAD_TEXT && error.line == 1 && error.column == 14);
    holds(same(error.message, "expected ')' to close '(' at 1:7"));
    berth_ad_unref(machine);
}

/* berth_ad_ref, berth_ad_unref */
static void example_ref(void)
{
    struct berth_ad *mine = ad("[ A = 1 ]");
    struct berth_ad *yours = berth_ad_ref(mine);

    berth_ad_unref(mine);
    holds(berth_ad_count(yours) == 1); /* it is still there */
    berth_ad_unref(yours);
    berth_ad_unref(NULL);
}

/* berth_ad_text */
static void example_text(void)
{
    struct berth_ad *machine = ad("[Arch=\"arm64\";Free=Cpus-2;Cpus=8]");

    holds(same(berth_ad_text(context, machine, BERTH_FORM_CLASSAD, NULL, NULL),
               "[ Arch = \"arm64\"; Free = Cpus - 2; Cpus = 8 ]"));
    holds(same(berth_ad_text(context, machine, BERTH_FORM_LONG, NULL, NULL),
               "Arch = \"arm64\"\nFree = Cpus - 2\nCpus = 8\n"));
    berth_ad_unref(machine);
}

/* berth_ad_count, berth_ad_name, berth_ad_type */
static void example_iterate(void)
{
    struct berth_ad *machine = ad("[ Name = \"heron\"; Cpus = 8; Free = Cpus - 2 ]");
    static const int types[] = {BERTH_STRING, BERTH_INTEGER, BERTH_EXPRESSION};

    for (size_t i = 0; i < berth_ad_count(machine); i++)
        holds(berth_ad_type(context, machine, berth_ad_name(context, machine, i)) == types[i]);
    holds(same(berth_ad_name(context, machine, 2), "Free") && berth_ad_name(context, machine, 3) == NULL);
    holds(berth_ad_type(context, machine, "NAME") == BERTH_STRING && berth_ad_type(context, machine, "Disk") == -1);
    berth_ad_unref(machine);
}

/* berth_ad_get_integer, berth_ad_get_real, berth_ad_get_boolean, berth_ad_get_string */
static void example_get(void)
{
    struct berth_ad *machine = ad("[ Name = \"heron\"; Cpus = 8; Load = 0.5; Gpu = false; Free = Cpus - 2 ]");
    int64_t cpus;
    double load;

    holds(berth_ad_get_integer(context, machine, "Cpus", &cpus) == 0 && cpus == 8);
    holds(berth_ad_get_integer(context, machine, "Free", &cpus) == -1); /* an expression: berth_eval_attribute */
    holds(berth_ad_get_real(context, machine, "Load", &load) == 0 && load == 0.5);
    holds(berth_ad_get_boolean(context, machine, "Gpu") == 0);
    holds(same(berth_ad_get_string(context, machine, "Name", NULL), "heron"));
    berth_ad_unref(machine);
}

/* berth_ad_get_expr */
static void example_get_expr(void)
{
    struct berth_ad *machine = ad("[ Cpus = 8; Free = Cpus - 2 ]");
    struct berth_expr *rest = berth_ad_get_expr(context, machine, "Free");

    holds(same(berth_expr_text(context, rest, NULL), "Cpus - 2"));
    berth_expr_unref(rest);
    berth_ad_unref(machine);
}

/* berth_ad_equal, berth_ad_size */
static void example_equal(void)
{
    struct berth_ad *a = ad("[ Cpus = 8 ]"), *b = ad("{\"cpus\": 8}"), *c = ad("[ Cpus = 9 ]");

    holds(berth_ad_equal(a, b) == 1 && berth_ad_equal(a, c) == 0);
    holds(berth_ad_size(a) < 200);
    berth_ad_unref(a);
    berth_ad_unref(b);
    berth_ad_unref(c);
}

/* berth_maker_new, berth_maker_integer, berth_maker_real, berth_maker_boolean, berth_maker_string, berth_maker_parse, berth_maker_seal */
static void example_maker(void)
{
    struct berth_maker *maker = berth_maker_new(context, NULL);
    struct berth_error error;
    struct berth_ad *job;

    berth_maker_string(maker, "Owner", "ada", 3, NULL);
    berth_maker_integer(maker, "Cpus", 4, NULL);
    berth_maker_real(maker, "Hours", 1.5, NULL);
    berth_maker_boolean(maker, "Restart", 1, NULL);
    berth_maker_parse(maker, "Constraint", "other.Cpus >= Cpus", 18, NULL);
    holds(berth_maker_parse(maker, "Rank", "other.", 6, &error) == -1 && error.column == 7);
    job = berth_maker_seal(maker, NULL);
    holds(same(berth_ad_text(context, job, BERTH_FORM_CLASSAD, NULL, NULL),
               "[ Owner = \"ada\"; Cpus = 4; Hours = 1.5; Restart = true; Constraint = other.Cpus >= Cpus ]"));
    berth_ad_unref(job);
}

/* berth_maker_drop, berth_maker_expr, berth_maker_ad, berth_maker_free */
static void example_change(void)
{
    struct berth_ad *old = ad("[ Cpus = 4; Note = \"old\" ]"), *place = ad("[ City = \"Bern\" ]"), *now;
    struct berth_expr *half = expr("Cpus / 2");
    struct berth_maker *maker = berth_maker_new(context, old);

    holds(berth_maker_drop(maker, "Note") == 1 && berth_maker_drop(maker, "Other") == 0);
    berth_maker_expr(maker, "Half", half, NULL);
    berth_maker_ad(maker, "Place", place, NULL);
    now = berth_maker_seal(maker, NULL);
    holds(same(berth_ad_text(context, now, BERTH_FORM_CLASSAD, NULL, NULL),
               "[ Cpus = 4; Half = Cpus / 2; Place = [ City = \"Bern\" ] ]"));
    berth_maker_free(berth_maker_new(context, old)); /* nothing came of this one */
    berth_expr_unref(half);
    berth_ad_unref(old);
    berth_ad_unref(place);
    berth_ad_unref(now);
}

/* berth_reader_new, berth_reader_next, berth_reader_line, berth_reader_free */
static void example_reader(void)
{
    static const char text[] = "[ A = 1 ]\n\n[ A = 2 ]\n[ A = ]\n";
    struct berth_reader *reader = berth_reader_new(context, BERTH_FORM_ANY, text, strlen(text));
    struct berth_ad *next;
    struct berth_error error;

    while (berth_reader_next(reader, &next, &error) == 1) {
        int64_t a;

        holds(berth_ad_get_integer(context, next, "A", &a) == 0 && berth_reader_line(reader) == (a == 1 ? 1 : 3));
        berth_ad_unref(next);
    }
    holds(error.line == 4 && error.column == 7);
    berth_reader_free(reader);
}

/* berth_expr_parse, berth_expr_text, berth_expr_equal, berth_expr_ref, berth_expr_unref */
static void example_expr(void)
{
    struct berth_expr *a = berth_expr_parse(context, "Cpus>=4&&(Gpu)", 14, NULL);
    struct berth_expr *b = berth_expr_ref(a), *c = expr("CPUS >= 4 && gpu");

    holds(same(berth_expr_text(context, a, NULL), "Cpus >= 4 && (Gpu)"));
    holds(berth_expr_equal(b, c) == 1);
    berth_expr_unref(a);
    berth_expr_unref(b);
    berth_expr_unref(c);
}

/* berth_expr_specialize */
static void example_specialize(void)
{
    struct berth_ad *job = ad("[ Cpus = 4; Factor = 2 ]");
    struct berth_expr *whole = expr("other.Cpus >= Cpus * Factor");
    struct berth_expr *left = berth_expr_specialize(context, whole, job);

    holds(same(berth_expr_text(context, left, NULL), "other.Cpus >= 8"));
    berth_expr_unref(left);
    berth_expr_unref(whole);
    berth_ad_unref(job);
}

/* berth_expr_references */
static void example_references(void)
{
    struct berth_ad *job = ad("[ Cpus = 4 ]");
    struct berth_expr *wish = expr("other.Memory > 8 && Arch == \"arm64\" && Cpus < 9");
    const char *const *names;

    holds(berth_expr_references(context, wish, job, &names) == 2);
    holds(same(names[0], "Arch") && same(names[1], "other.Memory"));
    berth_expr_unref(wish);
    berth_ad_unref(job);
}

/* berth_eval, berth_value_type, berth_value_boolean */
static void example_eval(void)
{
    struct berth_ad *job = ad("[ Cpus = 4 ]"), *machine = ad("[ Cpus = 8 ]");
    struct berth_expr *fits = expr("other.Cpus >= Cpus");

    holds(berth_value_boolean(berth_eval(context, fits, job, machine)) == 1);
    holds(berth_value_boolean(berth_eval(context, fits, machine, job)) == 0);
    holds(berth_value_type(berth_eval(context, fits, job, NULL)) == BERTH_UNDEFINED);
    berth_expr_unref(fits);
    berth_ad_unref(job);
    berth_ad_unref(machine);
}

/* berth_eval_attribute, berth_value_integer, berth_value_real, berth_value_string, berth_value_text */
static void example_eval_attribute(void)
{
    struct berth_ad *machine = ad("[ Cpus = 8; Free = Cpus - 2; Load = 1 / 4.0; Who = strcat(\"a\", \"da\") ]");
    const struct berth_value *value = berth_eval_attribute(context, machine, "Free", NULL);
    int64_t cpus;
    double load;

    holds(berth_value_integer(value, &cpus) == 0 && cpus == 6);
    holds(berth_value_real(berth_eval_attribute(context, machine, "Load", NULL), &load) == 0 && load == 0.25);
    value = berth_eval_attribute(context, machine, "Who", NULL);
    holds(same(berth_value_string(value, NULL), "ada"));
    holds(same(berth_value_text(context, value, NULL), "\"ada\"")); /* as it would be written */
    berth_ad_unref(machine);
}

/* berth_value_count, berth_value_element, berth_value_ad */
static void example_list(void)
{
    struct berth_ad *site = ad("[ N = 3; List = { N, N * N, [ Inner = N ] } ]"), *inner;
    const struct berth_value *list = berth_eval_attribute(context, site, "List", NULL);
    int64_t n;

    holds(berth_value_count(list) == 3);
    holds(berth_value_integer(berth_value_element(context, list, 1), &n) == 0 && n == 9);
    inner = berth_value_ad(context, berth_value_element(context, list, 2));
    holds(same(berth_ad_text(context, inner, BERTH_FORM_CLASSAD, NULL, NULL), "[ Inner = N ]"));
    berth_ad_unref(inner);
    berth_ad_unref(site);
}

/* berth_value_zone */
static void example_time(void)
{
    struct berth_expr *then = expr("absTime(\"2026-03-01T12:00:00+01:00\")");
    const struct berth_value *value = berth_eval(context, then, NULL, NULL);
    int64_t seconds;

    holds(berth_value_type(value) == BERTH_ABSTIME && berth_value_zone(value) == 60);
    holds(berth_value_integer(value, &seconds) == 0 && seconds == 1772366400 - 3600);
    berth_expr_unref(then);
}

/* berth_match, berth_accepts, berth_rank */
static void example_match(void)
{
    struct berth_ad *job = ad("[ Owner = \"ada\"; Constraint = other.Cpus >= 4; Rank = other.Cpus ]");
    struct berth_ad *machine = ad("[ Cpus = 8; Constraint = other.Owner == \"ada\" ]");
    struct berth_ad *closed = ad("[ Cpus = 8; Constraint = false ]");

    holds(berth_match(context, job, machine) == 1 && berth_rank(context, job, machine) == 8);
    holds(berth_accepts(context, job, closed) == 1 && berth_match(context, job, closed) == 0);
    berth_ad_unref(job);
    berth_ad_unref(machine);
    berth_ad_unref(closed);
}

/* berth_query */
static void example_query(void)
{
    struct berth_ad *machine = ad("[ Name = \"heron\"; Cpus = 8 ]");
    struct berth_expr *large = expr("Cpus > 4 && regexp(\"^h\", Name)");

    holds(berth_query(context, large, machine) == 1);
    berth_expr_unref(large);
    berth_ad_unref(machine);
}

/* berth_residual */
static void example_residual(void)
{
    struct berth_ad *machine = ad("[ Cpus = 8; Residual = [ Cpus = Cpus - other.Cpus ] ]"), *job = ad("[ Cpus = 3 ]");
    struct berth_ad *left = berth_residual(context, machine, job);
    int64_t cpus;

    holds(berth_ad_get_integer(context, left, "Cpus", &cpus) == 0 && cpus == 5);
    holds(berth_residual(context, job, machine) == NULL); /* it says no Residual */
    berth_ad_unref(left);
    berth_ad_unref(machine);
    berth_ad_unref(job);
}

/* berth_party_new, berth_party_match, berth_party_free */
static void example_party(void)
{
    struct berth_ad *job = ad("[ Cpus = 4; Constraint = other.Cpus >= Cpus ]"), *machine = ad("[ Cpus = 8 ]");
    struct berth_party *left = berth_party_new(context, job), *right = berth_party_new(context, machine);

    for (int i = 0; i < 1000; i++)
        holds(berth_party_match(context, left, right) == 1);
    berth_party_free(left);
    berth_party_free(right);
    berth_ad_unref(job);
    berth_ad_unref(machine);
}

/* berth_index_new, berth_index_put, berth_index_drop, berth_index_get, berth_index_count, berth_index_best, berth_index_free */
static void example_index(void)
{
    struct berth_index *index = berth_index_new(context);
    struct berth_ad *small = ad("[ Cpus = 2 ]"), *large = ad("[ Cpus = 8 ]");
    struct berth_ad *job = ad("[ Constraint = other.Cpus >= 1; Rank = other.Cpus ]");
    uint64_t key;

    berth_index_put(context, index, 1001, small, NULL); /* any numbers will do */
    berth_index_put(context, index, 1002, large, NULL);
    holds(berth_index_best(context, index, job, &key) == 1 && key == 1002);
    holds(berth_index_get(index, key) == large);
    holds(berth_index_drop(context, index, key) == 1 && berth_index_count(index) == 1);
    holds(berth_index_best(context, index, job, &key) == 1 && key == 1001);
    berth_index_free(index);
    berth_ad_unref(small);
    berth_ad_unref(large);
    berth_ad_unref(job);
}

/* berth_index_load, berth_index_all, berth_index_matches */
static void example_index_all(void)
{
    struct berth_index *index = berth_index_new(context);
    struct berth_ad *offers[] = {ad("[ Cpus = 2 ]"), ad("[ Cpus = 8 ]"), ad("[ Cpus = 16 ]")};
    struct berth_ad *job = ad("[ Constraint = other.Cpus >= 8 ]");
    const uint64_t *keys;

    holds(berth_index_load(context, index, offers, 3, NULL) == 0);
    holds(berth_index_all(context, index, job, &keys) == 2 && keys[0] == 1 && keys[1] == 2);
    holds(berth_index_matches(context, index, job) == 2);
    berth_index_free(index);
    for (int i = 0; i < 3; i++)
        berth_ad_unref(offers[i]);
    berth_ad_unref(job);
}

/* berth_gang */
static void example_gang(void)
{
    struct berth_ad *job =
        ad("[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"Machine\" ],"
           "            [ Label = lic; Constraint = lic.Type == \"License\" && lic.Host == cpu.Name ] } ]");
    struct berth_ad *offers[] = {ad("[ Type = \"Machine\"; Name = \"heron\" ]"),
                                 ad("[ Type = \"Machine\"; Name = \"ibis\" ]"),
                                 ad("[ Type = \"License\"; Host = \"ibis\" ]")};
    const struct berth_member *members;
    size_t count;

    holds(berth_gang(context, job, offers, 3, &members, &count, NULL) == 1 && count == 2);
    holds(same(members[0].label, "cpu") && members[0].offer == 1 && members[0].parent == BERTH_ROOT);
    holds(same(members[1].label, "lic") && members[1].offer == 2);
    for (int i = 0; i < 3; i++)
        berth_ad_unref(offers[i]);
    berth_ad_unref(job);
}

/* berth_why */
static void example_why(void)
{
    struct berth_ad *job = ad("[ Name = \"job\"; Constraint = other.Cpus >= 64 ]"), *machine = ad("[ Cpus = 8 ]");
    const char *words = berth_why(context, job, &machine, 1, BERTH_WORDS, NULL);

    holds(words && strstr(words, "other.Cpus >= 64"));
    words = berth_why(context, job, &machine, 1, BERTH_JSON, NULL);
    holds(words && words[0] == '{');
    berth_ad_unref(job);
    berth_ad_unref(machine);
}

/* berth_lint */
static void example_lint(void)
{
    struct berth_ad *job = ad("[ Constraint = x < 1 && x > 2 ]");
    const struct berth_finding *findings;

    holds(berth_lint(context, job, &findings) == 1);
    holds(same(findings[0].kind, "contradiction") && same(findings[0].attribute, "Constraint"));
    holds(same(findings[0].text, "'x < 1' and 'x > 2' are never both true"));
    berth_ad_unref(job);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } examples[] = {
        {"version", example_version},
        {"code", example_code},
        {"memory", example_memory},
        {"context", example_context},
        {"clock", example_clock},
        {"seed", example_seed},
        {"dialect", example_dialect},
        {"limit", example_limit},
        {"parse", example_parse},
        {"ref", example_ref},
        {"text", example_text},
        {"iterate", example_iterate},
        {"get", example_get},
        {"get_expr", example_get_expr},
        {"equal", example_equal},
        {"maker", example_maker},
        {"change", example_change},
        {"reader", example_reader},
        {"expr", example_expr},
        {"specialize", example_specialize},
        {"references", example_references},
        {"eval", example_eval},
        {"eval_attribute", example_eval_attribute},
        {"list", example_list},
        {"time", example_time},
        {"match", example_match},
        {"query", example_query},
        {"residual", example_residual},
        {"party", example_party},
        {"index", example_index},
        {"index_all", example_index_all},
        {"gang", example_gang},
        {"why", example_why},
        {"lint", example_lint},
    };

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        context = berth_context_new();
        all_hold = true;
        examples[i].run();
        berth_context_free(context);
        tap_ok(all_hold, "the example %s does what it says", examples[i].name);
    }
    return tap_done();
}
