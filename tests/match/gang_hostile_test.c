/* gang_hostile_test.c: ads as a stranger might write them: a cycle ends soon, and the algorithms agree on who gets a gang.
 *
 * Each pool once made something hang, lost a gang or read what was not there, or could. */
#include "gang_world.h"

#define SECONDS_MAX 30 /* under sanitizers and on a busy machine: without them it is a second or two */

static struct world world;

/* Runs every algorithm and both ways of auto: each ends soon; those that do not give up agree on the gangs there are. */
static void check_agree(const char *sentence, int64_t gangs)
{
    bool soon = true, agree = true;
    double longest = 0;

    for (int a = 0; a <= GANG_ALGORITHMS; a++) {
        bool preferences = a == GANG_ALGORITHMS;

        world_run_by(&world, preferences ? GANG_AUTO : (enum gang_algorithm)a, preferences);
        longest = world.seconds > longest ? world.seconds : longest;
        soon = soon && world.seconds < SECONDS_MAX;
        if (world.stats.gave_up || gangs < 0 || (int64_t)world.stats.gangs == gangs)
            continue;
        agree = false;
        tap_diag("%s%s: %llu gangs, not %lld: %s", gang_algorithm_names[preferences ? GANG_AUTO : a],
                 preferences ? " with preferences" : "", (unsigned long long)world.stats.gangs, (long long)gangs,
                 buf_string(&world.told));
    }
    if (!tap_ok(soon && agree, "%s", sentence))
        tap_diag("the longest took %.1f s", longest);
}

static void machines(int count)
{
    for (int i = 0; i < count; i++)
        world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Key = %d; Cpus = %d ]", i, i, i % 7 + 1);
}

/* ------------------------------------------------------------------------------------------------ what no label shows */

static void hidden_reading(void)
{
    static const struct {
        const char *sentence, *request;
    } rows[] = {
        {"ports that read one another through the list of ports hang together",
         "[ Ports = { [ Label = a; X = a.Key; Constraint = a.Type == \"A\" ], [ Label = b; Constraint = b.Type == \"B\" ], "
         "[ Label = c; Constraint = c.Type == \"C\" && c.Key == parent.Ports[0].X ] } ]"},
        {"so do those that evaluate text",
         "[ Ports = { [ Label = a; Constraint = a.Type == \"A\" ], [ Label = b; Constraint = b.Type == \"B\" ], [ Label = c; "
         "Constraint = c.Type == \"C\" && eval(\"c.Key == a.Key\") ] } ]"},
        {"be it beside the ports",
         "[ Y = eval(\"a.Key\"); Ports = { [ Label = a; Constraint = a.Type == \"A\" ], [ Label = b; Constraint = b.Type == "
         "\"B\" ], [ Label = c; Constraint = c.Type == \"C\" && c.Key == Y ] } ]"},
        {"ports that look alike are not, if text tells them apart",
         "[ Ports = { [ Label = a; Constraint = a.Type == \"A\" ], [ Label = b; Constraint = b.Type == \"A\" ], [ Label = c; "
         "Constraint = c.Type == \"C\" && eval(\"c.Key == a.Key && b.Key == 0\") ] } ]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world_reset(&world);
        world_request(&world, "%s", rows[i].request);
        for (int k = 0; k < 5; k++)
            world_offer(&world, "[ Type = \"A\"; Key = %d ]", k);
        for (int k = 0; k < 3; k++)
            world_offer(&world, "[ Type = \"B\"; Key = %d ]", k);
        world_offer(&world, "[ Type = \"C\"; Key = 3 ]");
        check_agree(rows[i].sentence, 1);
    }
}

static void hidden_difference(void)
{
    static const char *const constraints[] = {"eval(\"cpu.Key\") == 2", "size(cpu) == 3"};

    for (size_t i = 0; i < 2; i++) {
        world_reset(&world);
        world_request(&world, "[ Ports = { [ Label = cpu; Constraint = %s ] } ]", constraints[i]);
        world_offer(&world, "[ Type = \"M\"; Key = 1 ]");
        world_offer(&world, "[ Type = \"M\"; Key = 2; More = 3 ]");
        check_agree("offers that are told apart by text, or by their size, are not equal", 1);
    }
    world_reset(&world);
    world_request(&world, "[ Ports = { [ Label = cpu; Size = 3 ] } ]");
    world_offer(&world, "[ Ok = other.Size < 5; Constraint = Ok ]");
    check_agree("an offer may ask by an attribute of its own", 1);
}

static void strange_labels(void)
{
    static const char *const labels[] = {"self", "other", "TARGET", "Label", "parent", "root",
                                         "MY",   "Type",  "Rank",   "Key",   "Ports"};
    static const int gangs[] = {0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0};

    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        char sentence[80];

        snprintf(sentence, sizeof sentence, "a port may be labelled %s, whatever comes of it", labels[i]);
        world_reset(&world);
        world_request(
            &world,
            "[ Ports = { [ Label = %s; Constraint = %s.Type == \"A\" ], [ Label = z; HostId = %s.Key; Constraint = "
            "z.Type == \"C\" ] } ]",
            labels[i], labels[i], labels[i]);
        for (int k = 0; k < 4; k++)
            world_offer(&world, "[ Type = \"A\"; Key = %d ]", k);
        world_offer(&world, "[ Type = \"C\"; Constraint = other.HostId == 2 ]");
        check_agree(sentence, gangs[i]);
    }
}

static void shadowed(void)
{
    world_reset(&world);
    world_request(&world,
                  "[ cpu = [ Key = 7 ]; Ports = { [ Label = cpu; Constraint = other.Type == \"A\" ], [ Label = z; "
                  "HostId = cpu.Key; Constraint = z.Type == \"C\" ] } ]");
    for (int k = 0; k < 4; k++)
        world_offer(&world, "[ Type = \"A\"; Key = %d ]", k);
    world_offer(&world, "[ Type = \"C\"; Constraint = other.HostId == 7 ]");
    check_agree("an attribute hides a label of its name", 1);
    world_reset(&world);
    world_request(&world,
                  "[ A = cpu.B; B = A; Ports = { [ Label = cpu; X = cpu.X; Constraint = cpu.X == X && self.X == cpu.X "
                  "&& A is B ] } ]");
    world_offer(&world, "[ X = other.X; Constraint = X == other.X; B = other.A ]");
    world_offer(&world, "[ X = 1; B = other.A ]");
    check_agree("ports that refer to themselves across the dock end", 1);
}

/* ------------------------------------------------------------------------------------------------------------------ size */

static void request_ports(int count, const char *own, const char *clause)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    for (int i = 0; i < count; i++) {
        buf_addf(&text, "%s[ Label = p%d; %s; Constraint = p%d.Type == \"M\"", i ? ", " : "", i, own, i);
        if (i && clause)
            buf_addf(&text, " && p%d.Key %s p%d.Key", i, clause, i - 1);
        buf_adds(&text, " ]");
    }
    buf_adds(&text, " } ]");
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
}

static void many_ports(void)
{
    world_reset(&world);
    request_ports(64, "Rank = other.Key", ">");
    machines(70);
    world.settings.nodes = 500;
    check_agree("sixty-four ports in a row, each above the last", 1);
    world_reset(&world);
    request_ports(64, "Essential = false; Rank = other.Key * p0.Key", NULL);
    machines(40);
    world.settings.nodes = 2000;
    check_agree("sixty-four ports that may all stay empty", 1);
}

static void groups_add(struct buf *text, int depth, int *labels)
{
    if (depth == 0) {
        int n = (*labels)++;

        buf_addf(text, "[ Label = p%d; Constraint = p%d.Type == \"M\" && p%d.Key * p%d.Key > 100 ]", n, n, n, n);
        return;
    }
    buf_addf(text, "[ Choose = %s; Ports = { ", depth > 3 ? "{ 1, 2 }" : "1");
    groups_add(text, depth - 1, labels);
    if (depth > 3) {
        buf_adds(text, ", ");
        groups_add(text, depth - 1, labels);
    }
    buf_adds(text, " } ]");
}

static void deep_groups(void)
{
    struct buf text;
    int labels = 0;

    world_reset(&world);
    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    groups_add(&text, PORTS_GROUP_DEPTH, &labels);
    buf_adds(&text, ", [ Label = z; Constraint = z.Key * z.Key == -1 ] } ]");
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
    machines(50);
    world.settings.nodes = 500;
    check_agree("groups eight deep before a port that nobody fits", 0);
}

static void services(void)
{
    world_reset(&world);
    world_request(&world, "[ Ports = { [ Label = s; Type = \"C\"; Constraint = s.Type == \"S\" ] } ]");
    for (int i = 0; i < 1000; i++)
        world_offer(
            &world,
            "[ Id = %d; Ports = { [ Label = up; Type = \"S\"; Constraint = up.Type == \"C\" ], [ Label = d1; Type = "
            "\"C\"; Constraint = d1.Type == \"S\" ], [ Label = d2; Type = \"C\"; Constraint = d2.Type == \"S\"; Rank "
            "= d2.Id ] } ]",
            i);
    world.settings.nodes = 200;
    check_agree("a thousand services that each need two services", 0);
}

static void large_sets(void)
{
    world_reset(&world);
    world_request(&world, "[ Ports = { [ Label = n; Count = 256; Constraint = n.Type == \"M\" ] } ]");
    machines(300);
    world.settings.nodes = 2000;
    check_agree("a set of 256", 1);
    world_reset(&world);
    world_request(&world,
                  "[ Ports = { [ Label = a; Count = 250; Constraint = a.Type == \"M\" ], [ Label = b; Count = 250; "
                  "Constraint = b.Type == \"M\" ], [ Label = c; Count = 250; Constraint = c.Type == \"M\" ] } ]");
    machines(749);
    world.settings.nodes = 500;
    check_agree("three sets of 250, of more than a gang may have", 0);
    world_reset(&world);
    world_request(&world,
                  "[ Ports = { [ Label = n; Count = 250; Constraint = n.Type == \"M\" && sum(n.Cpus) > 100000 ] } ]");
    machines(300);
    world.settings.nodes = 600;
    world_run(&world);
    tap_ok(world.outcome == GANG_GAVE_UP && world.stats.nodes > 0,
           "a set whose sum nobody reaches is given up on, not said to be none");
    world_reset(&world);
    world_request(&world,
                  "[ Ports = { [ Label = n; Count = { 0, 256 }; Constraint = n.Type == \"M\"; Rank = sum(n.Cpus) * 1.0 "
                  "/ SetSize ] } ]");
    machines(300);
    world.settings.nodes = 600;
    check_agree("a set of up to 256 that is ranked as a whole", 1);
}

static void wide_offers(void)
{
    struct buf text;

    world_reset(&world);
    world_request(&world, "[ Ports = { [ Label = s; Constraint = s.Type == \"S\" ] } ]");
    buf_init(&text);
    for (int k = 0; k < 63; k++)
        buf_addf(&text, ", [ Label = d%d; Count = 256; Constraint = d%d.Type == \"none\" ]", k, k);
    for (int i = 0; i < 100; i++)
        world_offer(&world, "[ Id = %d; Ports = { [ Label = up; Type = \"S\" ]%s } ]", i, buf_string(&text));
    buf_done(&text);
    check_agree("offers that need sixteen thousand members", 0);
}

/* ------------------------------------------------------------------------------------------------------------------ work */

/* x0 takes two to the n steps. */
static void expo_add(struct buf *text, int n, const char *leaf)
{
    for (int i = 0; i < n; i++)
        buf_addf(text, "x%d = x%d + x%d; ", i, i + 1, i + 1);
    buf_addf(text, "x%d = %s; ", n, leaf);
}

static void costly_clauses(bool open)
{
    struct buf text;

    world_reset(&world);
    buf_init(&text);
    buf_adds(&text, "[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\" ], [ Label = l; ");
    expo_add(&text, 14, open ? "cpu.Key" : "0");
    buf_adds(&text, "Constraint = l.Type == \"M\"");
    for (int i = 1; i < 1000; i++)
        buf_addf(&text, " && x0 + l.Key != -%d", i);
    buf_adds(&text, " ] } ]");
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
    machines(8);
    world.settings.nodes = 500;
    check_agree(open ? "a thousand clauses of thirty thousand steps, each of which reads another port"
                     : "a thousand clauses of thirty thousand steps",
                0);
}

static void many_clauses(void)
{
    struct buf text;

    world_reset(&world);
    buf_init(&text);
    buf_adds(&text,
             "[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\" ], [ Label = l; Constraint = l.Type == \"M\"");
    for (int i = 200; i < 10000; i++)
        buf_addf(&text, " && (l.Key != cpu.Key - %d || l.Key > 0)", i);
    buf_adds(&text, " ] } ]");
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
    machines(30);
    world.settings.nodes = 500;
    check_agree("ten thousand clauses", 1);
}

static void growing_residuals(void)
{
    world_reset(&world);
    world_request(&world, "[ Count = 300; Ports = { [ Label = a; Constraint = a.S isnt undefined ] } ]");
    world_offer(&world, "[ S = \"x\"; L = { 1 }; Residual = [ S = strcat(S, S); L = { L, L, S } ] ]");
    check_agree("a residual that doubles each time", -1);
    world_reset(&world);
    for (int i = 0; i < 2; i++)
        world_request(&world,
                      "[ Ports = { [ Label = a; Constraint = a.T == \"b\" ], [ Label = b; Share = true; Constraint = "
                      "b.T == \"b\" ] } ]");
    world_offer(&world,
                "[ Ports = { [ Label = x; T = \"a\"; Essential = false ], [ Label = y; T = \"b\" ] }; Residual = "
                "[ Ports = { [ Label = x; T = \"b\" ] } ] ]");
    world_offer(&world,
                "[ Ports = { [ Label = x; T = \"a\"; Essential = false ], [ Label = y; T = \"b\" ] }; Residual = "
                "[ Ports = { [ Label = x; T = \"b\" ], [ Label = y; Count = 200; T = \"b\" ] } ] ]");
    check_agree("a residual that has other ports", 1);
}

static void strange_ranks(void)
{
    static const char *const ranks[] = {
        "real(\"NaN\")", "1",         "\"x\"",         "absTime(\"2020-01-01T00:00:00Z\")",
        "1.5",           "true",      "undefined",     "error",
        "{ 1 }",         "[ a = 1 ]", "real(\"INF\")", "-real(\"INF\")",
        "\"X\"",         "\"\""};

    world_reset(&world);
    world_request(&world,
                  "[ Name = \"j\"; Ports = { [ Label = a; Constraint = a.Type == \"M\"; Rank = a.R ], [ Label = b; "
                  "Constraint = b.Type == \"M\"; Rank = b.R ] } ]");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        world_offer(&world, "[ Name = \"m%zu\"; Type = \"M\"; R = %s ]", i, ranks[i]);
    check_agree("ranks of every kind", 1);
    world_gives(&world, "j a=m3 b=m2", "times are above strings, and those above numbers");
}

static void mixed_kinds(void)
{
    world_reset(&world);
    world_request(
        &world, "[ Ports = { [ Label = h1; Constraint = h1.Arch == \"INTEL\" ], [ Label = h2; Constraint = h2.Arch == "
                "\"INTEL\" && h1.Subnet == h2.Subnet ] } ]");
    world_offer(&world, "[ Arch = \"INTEL\"; Subnet = false ]");
    world_offer(&world, "[ Arch = \"INTEL\"; Subnet = \"a\" ]");
    world_offer(&world, "[ Arch = \"INTEL\"; Subnet = \"a\" ]");
    world_offer(&world, "[ Arch = \"INTEL\"; Subnet = 3 ]");
    check_agree("what candidates of several kinds ask of an earlier port is no obstacle to any of them", 1);
}

int main(void)
{
    world_open(&world);
    mixed_kinds();
    hidden_reading();
    hidden_difference();
    strange_labels();
    shadowed();
    many_ports();
    deep_groups();
    services();
    large_sets();
    wide_offers();
    costly_clauses(false);
    costly_clauses(true);
    many_clauses();
    growing_residuals();
    strange_ranks();
    world_close(&world);
    return tap_done();
}
