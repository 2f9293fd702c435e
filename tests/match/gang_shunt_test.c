/* gang_shunt_test.c: what a docked licence asks of the machine is translated into a query for it, and never asks too much.
 *
 *     job      port Cpu; port Lic with HostId = Cpu.Key + 10
 *     licence  docked at Lic: Site.HostId >= 20
 *     so the window of Cpu says other.Key >= 10
 *
 * The window is what the index is probed with; whether a machine fits is asked of evaluation, with all three docked. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/gang/shunt.h"
#include "match/gang/window.h"
#include "match/index/index.h"

#define MACHINES_MAX 64

static struct lang lang;
static const struct env env = {.now = 1772366400, .seed = 1};
static const struct policy policy;

/* A job whose licence is docked. */
struct trial {
    struct ported job, licence;
    struct members members;
    struct arena scratch;
    const struct slot *cpu, *lic, *link;
    struct tree *window;
    uint32_t shunted;
    const struct dialect *dialect;
};

static struct tree *ad_of(const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&lang, dialect, text, &err);

    if (!ad) {
        printf("Bail out! %s: %s\n", err.text, text);
        exit(1);
    }
    return ad;
}

static void ported_of(struct ported *ported, const struct dialect *dialect, const char *text)
{
    struct tree *ad = ad_of(dialect, text);
    struct err err;

    if (ported_init(ported, ad, &err) < 0) {
        printf("Bail out! %s: %s\n", err.text, text);
        exit(1);
    }
    tree_unref(ad);
}

static uint32_t more(void *user, struct build *build)
{
    struct trial *trial = user;

    trial->shunted = shunt_clauses(&trial->members, trial->link, trial->cpu, build) +
                     shunt_clauses(&trial->members, trial->lic, trial->cpu, build);
    return trial->shunted;
}

static void trial_open(struct trial *trial, const struct dialect *dialect, const char *job, const char *licence)
{
    uint32_t root, child;

    trial->dialect = dialect;
    trial->shunted = 0;
    arena_init(&trial->scratch);
    ported_of(&trial->job, dialect, job);
    ported_of(&trial->licence, dialect, licence);
    members_init(&trial->members, &env, &policy, &trial->scratch);
    root = members_push(&trial->members, &trial->job, 0);
    child = members_push(&trial->members, &trial->licence, 1);
    members_dock(&trial->members, root, 1, child, 0);
    trial->cpu = members_slot(&trial->members, root, 0);
    trial->lic = members_slot(&trial->members, root, 1);
    trial->link = members_slot(&trial->members, child, 0);
    trial->window = window_make(&trial->members, trial->cpu, NULL, more, trial);
}

static void trial_close(struct trial *trial)
{
    tree_unref(trial->window);
    members_done(&trial->members);
    ported_done(&trial->job);
    ported_done(&trial->licence);
    arena_done(&trial->scratch);
}

/* Does the machine fit, by evaluation alone? */
static bool trial_fits(struct trial *trial, const struct ported *machine)
{
    struct members *members = &trial->members;
    uint32_t child = members_push(members, machine, 2);
    bool fits;

    members_dock(members, 0, 0, child, 0);
    fits = members_truth(members, trial->cpu) == TRUTH_YES && members_truth(members, trial->lic) == TRUTH_YES &&
           members_truth(members, trial->link) == TRUTH_YES &&
           members_truth(members, members_slot(members, child, 0)) == TRUTH_YES;
    members_undock(members, child);
    members_pop(members);
    return fits;
}

static bool machine_found(void *user, uint32_t id)
{
    ((bool *)user)[id] = true;
    return true;
}

/* Which of the machines does the index find by the window? */
static void trial_probe(struct trial *trial, struct tree *const *machines, uint32_t count, bool *found)
{
    struct index *index = index_new();

    memset(found, 0, count * sizeof *found);
    if (trial->window) {
        index_learn(index, &env, &trial->scratch, trial->window);
        index_build(index, &env, &trial->scratch, machines, count);
        index_seek(index, &env, &trial->scratch, trial->window, 0, machine_found, found);
    }
    index_free(index);
}

/* ------------------------------------------------------------------------------------------------------ one by one */

#define JOB(attributes)                                                                       \
    "[ Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"M\" ], [ Label = Lic; " attributes \
    "; Constraint = Lic.App == \"a\" ] } ]"
#define LICENCE(clause) "[ App = \"a\"; Ports = { [ Label = Site; Constraint = " clause " ] } ]"

/* Whole keys from -40 to 40: which does the window let through? A bound that went through arithmetic lets itself through, be it strict
 * or not: evaluation has the last word. */
static const struct shunt_case {
    const char *sentence;
    const char *job, *licence;
    const char *keys; /* as ranges: "10..40"; "all" when nothing is added */
} cases[] = {
    {"an attribute that is the key asks for it", JOB("HostId = Cpu.Key"), LICENCE("Site.HostId >= 20"), "20..40"},
    {"a sum is undone", JOB("HostId = Cpu.Key + 10"), LICENCE("Site.HostId >= 20"), "10..40"},
    {"so is one written the other way round", JOB("HostId = 10 + Cpu.Key"), LICENCE("Site.HostId < 0"), "-40..-10"},
    {"a difference is undone", JOB("HostId = Cpu.Key - 10"), LICENCE("Site.HostId >= 20"), "30..40"},
    {"one from a number turns round", JOB("HostId = 10 - Cpu.Key"), LICENCE("Site.HostId > 20"), "-40..-10"},
    {"a product is undone", JOB("HostId = Cpu.Key * 3"), LICENCE("Site.HostId >= 20"), "7..40"},
    {"a negative one turns round", JOB("HostId = Cpu.Key * -2"), LICENCE("Site.HostId < 9"), "-4..40"},
    {"so does a minus", JOB("HostId = -Cpu.Key"), LICENCE("Site.HostId <= 5"), "-5..40"},
    {"a plus does nothing", JOB("HostId = +Cpu.Key"), LICENCE("Site.HostId <= 5"), "-40..5"},
    {"several hops are undone one by one", JOB("HostId = a * 2; a = b - 1; b = -c; c = Cpu.Key + 3"),
     LICENCE("Site.HostId >= 10"), "-40..-9"},
    {"an attribute beside the ports translates too",
     "[ HostId = Cpu.Key + 1; Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"M\" ], [ Label = Lic ] } ]",
     LICENCE("Site.HostId == 5"), "4..4"},
    {"equality is met at one key", JOB("HostId = Cpu.Key * 3"), LICENCE("Site.HostId == 21"), "7..7"},
    {"and at none where no key gives it", JOB("HostId = Cpu.Key * 3"), LICENCE("Site.HostId == 20"), ""},
    {"is asks no more than equality does", JOB("HostId = Cpu.Key + 1"), LICENCE("Site.HostId is 5"), "4..4"},
    {"the licence may compute as well", JOB("HostId = Cpu.Key"),
     "[ App = \"a\"; Low = 7; Ports = { [ Label = Site; Constraint = Low + 1 <= Site.HostId * 2 && Site.HostId < Low ] } ]",
     "4..6"},
    {"an interval is two clauses", JOB("HostId = Cpu.Key - 5"), LICENCE("Site.HostId >= 0 && Site.HostId < 3"), "5..8"},
    {"either of two intervals", JOB("HostId = Cpu.Key"),
     LICENCE("Site.HostId < -38 || Site.HostId == 0 || (Site.HostId > 10 && Site.HostId <= 12)"),
     "-40..-39 0..0 11..12"},
    {"a member of a list", JOB("HostId = Cpu.Key"), LICENCE("member(Site.HostId, { 3, 5, 5, \"x\" })"), "3..3 5..5"},
    {"of a conjunction in a disjunction what cannot be said is left out", JOB("HostId = Cpu.Key"),
     LICENCE("(Site.HostId > 30 && Site.HostId * Site.HostId > 0) || Site.HostId < -30"), "-40..-31 31..40"},
    {"a clause of the licence's port about the machine is",
     "[ Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"M\" ], [ Label = Lic; Constraint = Cpu.Key >= Lic.Lo && Cpu.Key <= "
     "Lic.Hi ] } ]",
     "[ App = \"a\"; Lo = 3; Hi = 6 ]", "3..6"},
    {"a product of two unknowns adds nothing", JOB("HostId = Cpu.Key * Cpu.Key"), LICENCE("Site.HostId > 4"), "all"},
    {"nor does a quotient", JOB("HostId = Cpu.Key / 2"), LICENCE("Site.HostId > 4"), "all"},
    {"nor a product with nothing", JOB("HostId = Cpu.Key * 0"), LICENCE("Site.HostId == 0"), "all"},
    {"nor a choice", JOB("HostId = Cpu.Key > 3 ? 1 : 2"), LICENCE("Site.HostId == 1"), "all"},
    {"nor what is computed from text", JOB("HostId = int(Cpu.Key)"), LICENCE("Site.HostId == 1"), "all"},
    {"nor inequality behind arithmetic", JOB("HostId = Cpu.Key + 1"), LICENCE("Site.HostId != 5"), "all"},
    {"nor a disjunction of which a part cannot be said", JOB("HostId = Cpu.Key"),
     LICENCE("Site.HostId > 100 || Site.HostId * Site.HostId >= 0"), "all"},
    {"nor a circle", JOB("HostId = a; a = HostId"), LICENCE("Site.HostId > 3 || Site.HostId is undefined"), "all"},
};

static void keys_show(const bool *found, struct buf *out)
{
    bool all = true;

    for (int i = 0; i < 81; i++)
        all = all && found[i];
    if (all)
        buf_adds(out, "all");
    for (int i = 0; i < 81 && !all; i++) {
        int end = i;

        if (!found[i])
            continue;
        while (end + 1 < 81 && found[end + 1])
            end++;
        buf_addf(out, "%s%d..%d", out->len ? " " : "", i - 40, end - 40);
        i = end;
    }
}

static void check_case(const struct shunt_case *row, const struct dialect *dialect)
{
    struct tree *machines[81];
    struct trial trial;
    bool found[81];
    struct buf got;

    trial_open(&trial, dialect, row->job, row->licence);
    for (int i = 0; i < 81; i++) {
        char text[64];

        snprintf(text, sizeof text, "[ Type = \"M\"; Key = %d ]", i - 40);
        machines[i] = ad_of(dialect, text);
    }
    trial_probe(&trial, machines, 81, found);
    buf_init(&got);
    keys_show(found, &got);
    if (!tap_ok(!strcmp(buf_string(&got), row->keys), "%s (%s)", row->sentence, dialect->name))
        tap_diag("expected: %s\ngot: %s\nwindow: %s", row->keys, buf_string(&got),
                 trial.window ? lang_show_tree(trial.window) : "none");
    buf_done(&got);
    for (int i = 0; i < 81; i++)
        tree_unref(machines[i]);
    trial_close(&trial);
}

/* -------------------------------------------------------------------------------------------------------- at random */

static const char *const constants[] = {"1", "2", "-3", "10", "0.5", "-0.25", "1000", "7.125", "0.1", "1e-3", "1023.0"};
static const char *const bounds[] = {"0",
                                     "1",
                                     "-1",
                                     "5",
                                     "20",
                                     "2.5",
                                     "-7.75",
                                     "1e6",
                                     "0.3",
                                     "4503599627370496",
                                     "true",
                                     "\"abc\"",
                                     "undefined",
                                     "real(\"NaN\")",
                                     "9007199254740993",
                                     "1e300"};
static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!=", "is", "isnt"};
static const char *const values[] = {"true",
                                     "false",
                                     "\"abc\"",
                                     "\"ABC\"",
                                     "undefined",
                                     "error",
                                     "9223372036854775807",
                                     "-9223372036854775807",
                                     "9007199254740993",
                                     "4503599627370497",
                                     "1e300",
                                     "-1e300",
                                     "real(\"NaN\")",
                                     "real(\"INF\")",
                                     "{ 1 }",
                                     "[ a = 1 ]",
                                     "4611686018427387904",
                                     "6148914691236517206",
                                     "1.0000000001",
                                     "0.9999999999",
                                     "-0.0",
                                     "absTime(\"2020-01-01T00:00:00Z\")",
                                     "relTime(\"1+00:00:00\")",
                                     "other.Nothing",
                                     "1/0"};

#define PICK(rng, table) (table)[rng_below(rng, sizeof(table) / sizeof *(table))]

/* An expression of Cpu.Key: through some hops, of which the last is HostId. */
static void hops_add(struct rng *rng, struct buf *out)
{
    unsigned hops = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < hops; i++) {
        char from[16];

        snprintf(from, sizeof from, i ? "h%u" : "Cpu.Key", i - 1);
        if (i == hops - 1)
            buf_adds(out, "HostId = ");
        else
            buf_addf(out, "h%u = ", i);
        switch (rng_below(rng, 8)) {
        case 0:
            buf_addf(out, "%s + %s; ", from, PICK(rng, constants));
            break;
        case 1:
            buf_addf(out, "%s - %s; ", PICK(rng, constants), from);
            break;
        case 2:
            buf_addf(out, "%s * %s; ", from, PICK(rng, constants));
            break;
        case 3:
            buf_addf(out, "-%s; ", from);
            break;
        case 4:
            buf_addf(out, "%s * %s + %s; ", PICK(rng, constants), from, PICK(rng, constants));
            break;
        case 5:
            buf_addf(out, "%s - %s; ", from, PICK(rng, constants));
            break;
        default:
            buf_addf(out, "%s; ", from);
        }
    }
}

static void clause_add(struct rng *rng, struct buf *out, int depth)
{
    switch (rng_below(rng, depth ? 8 : 5)) {
    case 0:
        buf_addf(out, "member(Site.HostId, { %s, %s })", PICK(rng, bounds), PICK(rng, bounds));
        break;
    case 1:
        buf_addf(out, "%s %s Site.HostId", PICK(rng, bounds), PICK(rng, operators));
        break;
    case 5:
    case 6:
        buf_adds(out, "(");
        clause_add(rng, out, depth - 1);
        buf_adds(out, rng_below(rng, 3) ? " || " : " && ");
        clause_add(rng, out, depth - 1);
        buf_adds(out, ")");
        break;
    case 7:
        buf_addf(out, "Site.HostId");
        break;
    default:
        buf_addf(out, "Site.HostId %s %s", PICK(rng, operators), PICK(rng, bounds));
    }
}

static struct tree *machine_random(struct rng *rng, const struct dialect *dialect)
{
    char text[160];

    switch (rng_below(rng, 5)) {
    case 0:
        snprintf(text, sizeof text, "[ Type = \"M\"; Key = %s ]", PICK(rng, values));
        break;
    case 1:
        snprintf(text, sizeof text, "[ Type = \"M\" ]");
        break;
    case 2:
        snprintf(text, sizeof text, "[ Type = \"M\"; Key = %.17g ]",
                 (double)((int64_t)rng_below(rng, 81) - 40) + (rng_unit(rng_next(rng)) - 0.5) * 1e-8);
        break;
    case 3:
        snprintf(text, sizeof text, "[ Type = \"M\"; Key = %lld ]", (long long)(rng_next(rng) >> rng_below(rng, 64)));
        break;
    default:
        snprintf(text, sizeof text, "[ Type = \"M\"; Key = %d ]", (int)rng_below(rng, 81) - 40);
    }
    return ad_of(dialect, text);
}

/* One round: false when a machine that fits is lost. */
static bool round_check(uint64_t seed, uint32_t *fitting, uint32_t *narrowed)
{
    struct rng rng;
    struct buf job, licence;
    const struct dialect *dialect;
    struct tree *machines[MACHINES_MAX];
    bool found[MACHINES_MAX], kept = true;
    struct trial trial;

    rng_init(&rng, rng_mix(seed));
    dialect = rng_below(&rng, 2) ? &dialect_condor : &dialect_classic;
    buf_init(&job);
    buf_init(&licence);
    buf_adds(&job, "[ Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"M\" ], [ Label = Lic; ");
    hops_add(&rng, &job);
    buf_adds(&job, "Constraint = Lic.App == \"a\" ] } ]");
    buf_adds(&licence, "[ App = \"a\"; Ports = { [ Label = Site; Constraint = ");
    clause_add(&rng, &licence, 2);
    if (rng_below(&rng, 2)) {
        buf_adds(&licence, " && ");
        clause_add(&rng, &licence, 1);
    }
    buf_adds(&licence, " ] } ]");
    trial_open(&trial, dialect, buf_string(&job), buf_string(&licence));
    for (int i = 0; i < MACHINES_MAX; i++)
        machines[i] = machine_random(&rng, dialect);
    trial_probe(&trial, machines, MACHINES_MAX, found);
    for (int i = 0; i < MACHINES_MAX; i++) {
        struct ported machine;
        struct err err;
        bool fits;

        if (ported_init(&machine, machines[i], &err) < 0)
            abort();
        fits = trial_fits(&trial, &machine);
        *fitting += fits;
        *narrowed += !found[i];
        if (fits && !found[i]) {
            kept = false;
            tap_diag("seed %llu, %s\n%s\n%s\nloses %s\nwindow: %s", (unsigned long long)seed, dialect->name,
                     buf_string(&job), buf_string(&licence), lang_show_tree(machines[i]),
                     trial.window ? lang_show_tree(trial.window) : "none");
        }
        ported_done(&machine);
        tree_unref(machines[i]);
    }
    trial_close(&trial);
    buf_done(&job);
    buf_done(&licence);
    return kept;
}

static void check_random(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(1500);
    uint32_t fitting = 0, narrowed = 0;
    bool kept = true;

    for (uint64_t i = 0; i < rounds && kept; i++)
        kept = round_check(seed * 1000003 + i, &fitting, &narrowed);
    tap_ok(kept,
           "no machine that fits is lost: whole numbers, reals near the bounds, huge values, strings, nothing at all");
    tap_ok(fitting > rounds && narrowed > rounds, "and some fit, and some are left out (%u, %u)", fitting, narrowed);
}

int main(void)
{
    lang_init(&lang);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_case(&cases[i], &dialect_classic);
        check_case(&cases[i], &dialect_condor);
    }
    check_random();
    lang_done(&lang);
    return tap_done();
}
