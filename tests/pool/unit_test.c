/* unit_test.c: the ad of one job of a shape says which of its jobs it is, and whom it got. */
#include "common/lang.h"
#include "common/tap.h"

#include "pool/customer/unit.h"

#define MEMBERS_MAX 4
#define LICENSED                                                                  \
    "[ Cmd = \"solve\"; Env = [ HOST = Gang.cpu.Name; KEY = Gang.license.Name ];" \
    "  Ports = { [ Label = cpu; Constraint = cpu.Type == \"Machine\" ], [ Label = License ] } ]"
#define SPREAD                                                                                                       \
    "[ Cmd = \"solve\"; Ports = { [ Label = head ], [ Label = node; Count = { 1, 3 } ], [ Label = gpu; Essential = " \
    "false ] } ]"

/* A shape, and who docks at its ports. */
struct shape {
    struct lang lang;
    struct tree *ad;
    struct claim_member members[MEMBERS_MAX];
    struct crew crew;
};

static struct tree *ad_read(struct shape *shape, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&shape->lang, &dialect_classic, text, &err);

    if (!ad) {
        printf("Bail out! %s: %s\n", err.text, text);
        exit(1);
    }
    return ad;
}

static void shape_start(struct shape *shape, const char *ad)
{
    *shape = (struct shape){0};
    lang_init(&shape->lang);
    shape->ad = ad_read(shape, ad);
    shape->crew.members = shape->members;
}

static struct claim_member *shape_dock(struct shape *shape, uint64_t port, const char *ad)
{
    struct claim_member *member = &shape->members[shape->crew.count++];

    *member = (struct claim_member){.port = port, .state = CLAIM_MEMBER_ACTIVE, .ad = ad ? ad_read(shape, ad) : NULL};
    return member;
}

static void shape_end(struct shape *shape)
{
    for (uint32_t i = 0; i < shape->crew.count; i++)
        tree_unref(shape->members[i].ad);
    tree_unref(shape->ad);
    lang_done(&shape->lang);
}

static struct tree *shape_unit(struct shape *shape)
{
    struct unit unit = {.ad = shape->ad, .job = 17, .index = 3, .tries = 2, .crew = &shape->crew};

    return unit_ad(&unit);
}

/* Is that true within the unit's ad? */
static void holds(struct shape *shape, const char *text, const char *sentence)
{
    struct tree *unit = shape_unit(shape), *expr = lang_expr(&shape->lang, &dialect_classic, text, strlen(text), NULL);
    struct env env = {0};
    struct value value = {0};
    struct scope scope;
    struct eval eval;

    if (unit && expr) {
        scope_init(&scope, unit, NULL);
        eval_init(&eval, &env, &shape->lang.arena);
        eval_tree(&eval, &scope, expr, &value);
    }
    if (!tap_ok(unit && expr && value_is_true(&value), "%s", sentence))
        tap_diag("%s is not true in %s", text, unit ? lang_show_tree(unit) : "nothing");
    tree_unref(expr);
    tree_unref(unit);
}

static void check_plain(void)
{
    struct shape shape;

    shape_start(&shape, "[ Cmd = \"solve\"; Out = strcat(\"pi.\", JobIndex); Constraint = other.Memory > 1 ]");
    shape_dock(&shape, 0, "[ Name = \"heron\" ]");
    holds(&shape, "JobId == 17 && JobIndex == 3 && Index == 3 && JobTry == 2",
          "a job has its number, its index and its try");
    holds(&shape, "Cmd == \"solve\" && Out == \"pi.3\"", "what was submitted is there, and reads them");
    holds(&shape, "Gang is undefined", "a job without Ports has no Gang, though somebody runs it");
    shape_end(&shape);

    shape_start(&shape, "[ JobId = 1; JobIndex = 1; JobTry = 1; Cmd = \"solve\" ]");
    holds(&shape, "JobId == 17 && JobIndex == 3 && JobTry == 2", "numbers that a user wrote are not believed");
    shape_end(&shape);

    shape_start(&shape, "[ Index = \"of names\"; Cmd = \"solve\" ]");
    holds(&shape, "Index == \"of names\" && JobIndex == 3", "an Index that is something else stays what it is");
    shape_end(&shape);
}

static void check_labels(void)
{
    struct shape shape;
    struct claim_member *license;

    shape_start(&shape, LICENSED);
    shape_dock(&shape, 0, "[ Name = \"heron\"; Type = \"Machine\"; Memory = 64 ]");
    license = shape_dock(&shape, 1, "[ Name = \"solver-2\"; Seats = 5 ]");
    holds(&shape, "Gang.cpu.Name == \"heron\" && Gang.license.Seats == 5",
          "Gang has who docks, by the labels of the ports");
    holds(&shape, "Env.HOST == \"heron\" && Env.KEY == \"solver-2\"", "what the job computes from it has its value");
    holds(&shape, "JobId == 17 && JobTry == 2", "the numbers are there as well");
    license->dropped = true;
    license->state = CLAIM_MEMBER_RELEASING;
    holds(&shape, "Gang.license is undefined && Gang.cpu.Name == \"heron\"",
          "one that was dropped is not there any more");
    license->dropped = false;
    license->state = CLAIM_MEMBER_GONE;
    holds(&shape, "Gang.license is undefined && Gang.cpu.Name == \"heron\"", "nor is one that is gone");
    shape_end(&shape);

    shape_start(&shape, LICENSED);
    shape_dock(&shape, 1, NULL);
    holds(&shape, "Gang isnt undefined && Gang.cpu is undefined && Gang.license is undefined",
          "nobody is at a port at which nobody docks, or one who has not shown an ad");
    shape_end(&shape);

    shape_start(&shape, "[ Cmd = \"solve\"; Gang = \"mine\"; Ports = { [ Label = cpu ] } ]");
    shape_dock(&shape, 0, "[ Name = \"heron\" ]");
    holds(&shape, "Gang.cpu.Name == \"heron\"", "a Gang that a user wrote gives way");
    shape_end(&shape);
}

static void check_sets(void)
{
    struct shape shape;

    shape_start(&shape, SPREAD);
    shape_dock(&shape, 0, "[ Name = \"heron\" ]");
    shape_dock(&shape, 1, "[ Name = \"crane\"; Cpus = 4 ]");
    holds(&shape, "size(Gang.node) == 1 && Gang.node[0].Name == \"crane\"",
          "a port with a Count has a list, also of one");
    shape_dock(&shape, 1, "[ Name = \"stork\"; Cpus = 8 ]");
    holds(&shape, "size(Gang.node) == 2 && Gang.node[0].Cpus == 4 && Gang.node[1].Name == \"stork\"",
          "a list of all who dock there, in their order");
    holds(&shape, "Gang.head.Name == \"heron\"", "a port without one has the one");
    holds(&shape, "Gang.gpu is undefined", "an optional port that stayed empty has nothing");
    shape_end(&shape);
}

static void check_computed(void)
{
    struct shape shape;
    struct tree *unit;

    shape_start(&shape, LICENSED);
    shape_dock(
        &shape, 0,
        "[ Name = \"heron\"; Memory = 64; Half = Memory / 2; Constraint = other.Type == \"Job\"; Sub = [ A = 1 ];"
        "  Groups = { \"a\", \"b\" }; Mixed = { 1, Memory }; Up = '1:00:00' ]");
    holds(&shape, "Gang.cpu.Memory == 64 && Gang.cpu.Up == '1:00:00' && Gang.cpu.Groups[1] == \"b\"",
          "the constants of a member's ad are there, and lists of them");
    unit = shape_unit(&shape);
    tap_ok(unit && !strstr(lang_show_tree(unit), "Half") && !strstr(lang_show_tree(unit), "other.Type"),
           "what a member computes is left out, and its constraint");
    tree_unref(unit);
    holds(&shape, "Gang.cpu.Sub is undefined && Gang.cpu.Mixed is undefined",
          "so are ads in it, and lists that compute");
    shape_end(&shape);
}

/* The ad of that try, of a submission with that trace. */
static struct tree *traced(struct shape *shape, const char *trace, uint64_t tries)
{
    struct unit unit = {.ad = shape->ad, .job = 17, .index = 3, .tries = tries, .crew = &shape->crew};

    job_trace_read(trace, strlen(trace), &unit.trace);
    return unit_ad(&unit);
}

static void check_traced(void)
{
    static const char given[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    struct job_trace first, second, own;
    struct tree *one, *two, *none;
    struct shape shape;

    shape_start(&shape,
                "[ Cmd = \"solve\"; TraceParent = \"00-11111111111111111111111111111111-2222222222222222-01\" ]");
    job_trace_read(given, strlen(given), &own);
    one = traced(&shape, given, 1);
    two = traced(&shape, given, 2);
    none = traced(&shape, "", 1);
    tap_ok(job_trace_of(one, &first) && !memcmp(first.id, own.id, sizeof own.id),
           "a job is told its submission's trace, whatever its ad says");
    tap_ok(job_trace_of(two, &second) && !memcmp(first.id, second.id, sizeof first.id) &&
               memcmp(first.span, second.span, sizeof first.span) != 0,
           "its next try is told the same trace, and a span of its own");
    tap_ok(job_trace_of(none, &first) && first.id[0] == 0x11, "where the submission has no trace, its ad is as it was");
    tree_unref(one);
    tree_unref(two);
    tree_unref(none);
    shape_end(&shape);
}

int main(void)
{
    check_plain();
    check_traced();
    check_labels();
    check_sets();
    check_computed();
    return tap_done();
}
