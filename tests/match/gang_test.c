/* gang_test.c: gangs by the library: the figures of the dissertation, how little work a failure is, residuals, policies, budgets. */
#include "gang_world.h"

static struct world world;

/* ------------------------------------------------------------------------------------------------------- the figures */

#define FIGURE8_PORT(n, more)                                                                                  \
    "[ Label = Host" n "; ImageSize = 25; MemoryReqs = 17; Constraint = Host" n ".Arch == \"INTEL\" && Host" n \
    ".VirtualMemory > ImageSize" more

static void figure8(void)
{
    static const char *const hosts[] = {"asp 350 41 175", "cobra 550 63 166", "viper 500 60 175", "mamba 400 58 175"};

    world_reset(&world);
    world_request(&world, "[ Name = \"pair\"; Ports = { " FIGURE8_PORT("1", "; Rank = Host1.MIPS ]") ", " FIGURE8_PORT(
                              "2", " && Host1.Subnet == Host2.Subnet; Rank = Host2.KFlops ]") " } ]");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char name[16];
        int mips, kflops, subnet;

        if (sscanf(hosts[i], "%15s %d %d %d", name, &mips, &kflops, &subnet) != 4)
            abort();
        world_offer(&world,
                    "[ Name = \"%s\"; Arch = \"INTEL\"; Memory = 64; VirtualMemory = 120; MIPS = %d; KFlops = %d; "
                    "Subnet = %d; Constraint = other.MemoryReqs < Memory - 15 ]",
                    name, mips, kflops, subnet);
    }
    world_gives(&world, "pair Host1=viper Host2=mamba",
                "figure 8: the fastest host has no neighbour, so the search goes back and takes the next");
    for (int a = 0; a < GANG_AUTO; a++) {
        world_run_by(&world, (enum gang_algorithm)a, false);
        tap_ok(world.outcome == GANG_FORMED && world.member_count == 3, "figure 8: %s finds a pair as well",
               gang_algorithm_names[a]);
    }
}

static void figure10(void)
{
    world_reset(&world);
    for (int i = 0; i < 2; i++)
        world_request(
            &world,
            "[ Name = \"scene%d\"; Owner = \"%s\"; Ports = { [ Label = server; Type = \"client\"; Constraint = "
            "server.Type == \"server\" ] } ]",
            i, i ? "rival" : "raman");
    world_offer(
        &world,
        "[ Name = \"render\"; Ports = { [ Label = request; Type = \"server\"; Constraint = request.Type == \"client\" && "
        "request.Owner != \"rival\" ], [ Label = cpu; MemoryReqs = 15; Constraint = cpu.Arch == \"INTEL\"; Rank = "
        "cpu.Memory ], [ Label = license; HostName = cpu.Name; Constraint = license.App == \"render\" ] } ]");
    for (int i = 0; i < 2; i++)
        world_offer(&world, "[ Name = \"%s\"; Arch = \"INTEL\"; Memory = %d; Constraint = other.MemoryReqs < Memory ]",
                    i ? "leo" : "virgo", i ? 128 : 256);
    world_offer(&world, "[ Name = \"lic1\"; App = \"sim\"; Constraint = other.HostName == \"virgo\" ]");
    world_offer(&world, "[ Name = \"lic2\"; App = \"render\"; Constraint = other.HostName == \"leo\" ]");
    world_gives(&world, "scene0 server=render(cpu=leo license=lic2); scene1 -",
                "figure 10: a service brings the machine for which it finds a licence, and refuses a rival");
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world.settings.preferences = false;
        world_gives(&world, "scene0 server=render(cpu=leo license=lic2); scene1 -", "figure 10: so by %s",
                    gang_algorithm_names[a]);
    }
}

static void figure11(void)
{
    world_reset(&world);
    for (int i = 0; i < 2; i++)
        world_request(&world,
                      "[ Name = \"%s\"; Ports = { [ Label = machine; MemoryReqs = %d; Constraint = machine.Type == "
                      "\"smp\" && machine.NumCpus >= 4 ] } ]",
                      i ? "medium" : "large", i ? 400 : 500);
    world_offer(&world,
                "[ Name = \"smp\"; Ports = { [ Label = cpu1; Type = \"ask\"; Constraint = cpu1.Type == \"Node\" ], "
                "[ Label = cpu2; Type = \"ask\"; Constraint = cpu2.Type == \"Node\" && cpu1.Host == cpu2.Host ], "
                "[ Label = request; Type = \"smp\"; NumCpus = cpu1.NumCpus + cpu2.NumCpus; Memory = cpu1.Memory + "
                "cpu2.Memory; Constraint = request.MemoryReqs < Memory - 15 ] } ]");
    for (int i = 0; i < 4; i++)
        world_offer(&world,
                    "[ Name = \"%s.%d\"; Type = \"Node\"; Host = \"%s\"; NumCpus = 2; Memory = %d; Constraint = "
                    "other.Type == \"ask\" ]",
                    i < 2 ? "tuna" : "marlin", i % 2 + 1, i < 2 ? "tuna" : "marlin", i < 2 ? 128 : 256);
    world_gives(
        &world, "large -; medium machine=smp(cpu1=marlin.1 cpu2=marlin.2)",
        "figure 11: the parent link is the last port, and its tentative yes is refuted when the nodes are known");
    for (int a = 0; a < GANG_AUTO; a++) {
        world_run_by(&world, (enum gang_algorithm)a, false);
        tap_ok(world.stats.gangs == 1 && world.outcome == GANG_FORMED && world.member_count == 4, "figure 11: so by %s",
               gang_algorithm_names[a]);
    }
}

static void unknown_ranks(void)
{
    world_reset(&world);
    world.settings = (struct gang_settings){.algorithm = GANG_AUTO, .preferences = true};
    world_request(&world, "[ Name = \"job\"; Size = 1; Ports = { [ Label = cpu ] } ]");
    world_offer(&world, "[ Name = \"least\"; Ports = { [ Label = job; Rank = -job.Size ] } ]");
    world_offer(&world, "[ Name = \"most\"; Ports = { [ Label = job; Rank = job.Size ] } ]");
    world_gives(&world, "job cpu=most", "offers that differ only in what they say once somebody docks are not alike");
}

/* A machine of that name; what its owner thinks of the job that it has, or "" for none. */
static void in_use(const char *name, const char *current)
{
    world_offer(&world, "[ Name = \"%s\"; Type = \"Machine\"; Rank = other.Size%s%s ]", name,
                *current ? "; Preempts = \"c1\"; CurrentRank = " : "", current);
}

static void preempting(void)
{
    static const char pair[] =
        "[ Name = \"job\"; Size = 2; Ports = { [ Label = cpu; Constraint = cpu.Type == \"Machine\" ] } ]";
    static const char set[] =
        "[ Name = \"job\"; Size = 2; Ports = { [ Label = cpu; Count = 2; Constraint = cpu.Type == "
        "\"Machine\" ] } ]";

    world_reset(&world);
    world.settings = (struct gang_settings){.algorithm = GANG_AUTO, .preferences = true};
    world_request(&world, "%s", pair);
    in_use("same", "2");
    world_gives(&world, "job -", "a machine in use is not taken for a gang that its owner likes no better");
    in_use("liked", "1");
    world_gives(&world, "job cpu=liked", "it is for one that its owner likes better");
    in_use("free", "");
    world_gives(&world, "job cpu=free", "but what is free comes first");
    world_reset(&world);
    world_request(&world, "%s", set);
    in_use("same", "2");
    in_use("free", "");
    world_gives(&world, "job -", "nor is it taken into a set");
    in_use("liked", "1");
    world_gives(&world, "job cpu=free cpu=liked", "one that may be taken is");
}

static void figure32(void)
{
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"job1\"; Ports = { [ Label = Cpu; MemoryReqs = 2.86041e+06; ImageSize = 1.34615e+07; "
                  "Constraint = cpu.Arch == \"INTEL\" && cpu.OpSys == \"LINUX\" && cpu.VirtualMemory > ImageSize ], "
                  "[ Label = License; HostId = cpu.Key; Constraint = License.App == \"app1\" ] } ]");
    for (int i = 0; i < 2; i++)
        world_offer(
            &world,
            "[ Name = \"%s\"; Key = %d; Arch = \"INTEL\"; OpSys = \"%s\"; Memory = 800M; VirtualMemory = 427.8M; "
            "Ports = { [ Label = Job; Constraint = Job.MemoryReqs < Memory - 15M ] } ]",
            i ? "leo" : "virgo", i ? 90 : 143, i ? "LINUX" : "WINNT40");
    for (int i = 0; i < 2; i++)
        world_offer(&world,
                    "[ Name = \"lic%d\"; App = \"app1\"; Ports = { [ Label = Job; Constraint = Job.HostID >= %d && "
                    "Job.HostId < %d ] } ]",
                    i + 1, i * 50, i * 50 + 50);
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world_gives(&world, "job1 Cpu=leo License=lic2", "figure 32: the licence gang forms by %s",
                    gang_algorithm_names[a]);
    }
    world.request_count--;
    tree_unref(world.requests[0]);
    world_request(&world,
                  "[ Name = \"job1\"; Ports = { [ Label = Cpu; MemoryReqs = 1; Constraint = cpu.OpSys == \"SOLARIS\" "
                  "], [ Label = License; HostId = cpu.Key; Constraint = License.App == \"app1\" ] } ]");
    world_gives(&world, "job1 -", "figures 28 to 30: with the wrong system it does not");
}

/* ---------------------------------------------------------------------------------------------------- wholly or not at all */

static void wholly(void)
{
    world_reset(&world);
    for (int i = 0; i < 2; i++)
        world_request(
            &world,
            "[ Name = \"j%d\"; Ports = { [ Label = x; Constraint = x.Name == \"%s\" ], [ Label = y; Constraint = "
            "y.Name == \"%s\" ] } ]",
            i, i ? "b" : "a", i ? "a" : "b");
    world_offer(&world, "[ Name = \"a\" ]");
    world_offer(&world, "[ Name = \"b\" ]");
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world_gives(&world, "j0 x=a y=b; j1 -", "of two roots that need the same two things one gets both, by %s",
                    gang_algorithm_names[a]);
    }
    world_reset(&world);
    world_request(&world, "[ Name = \"greedy\"; Ports = { [ Label = x; Constraint = x.Name == \"a\" ], [ Label = y; "
                          "Constraint = y.Name == \"missing\" ] } ]");
    world_request(&world, "[ Name = \"modest\"; Constraint = other.Name == \"a\" ]");
    world_offer(&world, "[ Name = \"a\" ]");
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world_gives(&world, "greedy -; modest other=a", "what a gang that fails had taken is there for the next, by %s",
                    gang_algorithm_names[a]);
    }
}

/* ----------------------------------------------------------------------------------------------------- counting, learning */

/* A root of so many equal ports. */
static void request_equal(int ports, const char *constraint, const char *last)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Name = \"job\"; Ports = { ");
    for (int i = 0; i < ports; i++)
        buf_addf(&text, "%s[ Label = p%d; Constraint = p%d.%s ]", i ? ", " : "", i, i, constraint);
    buf_addf(&text, "%s } ]", last);
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
}

static void counting(void)
{
    for (int preferences = 0; preferences < 2; preferences++) {
        const char *how = preferences ? "with preferences" : "without preferences";

        world_reset(&world);
        request_equal(6, "Type == \"M\"", "");
        for (int i = 0; i < 5; i++)
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d ]", i, i);
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_NONE, "six ports and five machines make no gang, %s", how);
        world_nodes(&world, 12, "and that is found by counting");

        world_reset(&world);
        request_equal(20, "Size > 0", "");
        for (int i = 0; i < 19; i++)
            world_offer(&world, "[ Name = \"m%d\"; Size = %d ]", i, 1 + i % 3);
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_NONE, "nor do twenty ports and nineteen machines of three kinds, %s", how);
        world_nodes(&world, 60, "and that is found by counting too");
        world_offer(&world, "[ Name = \"more\"; Size = 2 ]");
        world_run(&world);
        tap_ok(world.outcome == GANG_FORMED, "with one more they do, %s", how);
        world_nodes(&world, 60, "at once");
    }
}

/* Section 6.2.2: with a machine less than are wanted, all orders of the others would be tried. */
static void no_explosion(void)
{
    static const struct {
        const char *ports, *more, *words;
    } rows[] = {
        {"[ Label = p%d; Constraint = p%d.Type == \"M\" ]", "", "equal ports"},
        {"[ Label = p%d; Constraint = p%d.Type == \"M\" && p%d.Size > %d ]", "", "ports that ask for different sizes"},
        {"[ Label = p%d; Need = %d; Constraint = p%d.Type == \"M\" ]", ", [ Label = q; Constraint = q.Type == \"L\" ]",
         "ports that say different things, and one for whom there are many"},
    };

    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
            struct buf text;

            world_reset(&world);
            buf_init(&text);
            buf_adds(&text, "[ Name = \"job\"; Ports = { ");
            for (int i = 0; i < 20; i++) {
                char port[200];

                snprintf(port, sizeof port, rows[row].ports, i, i, i, i);
                buf_addf(&text, "%s%s", i ? ", " : "", port);
            }
            buf_addf(&text, "%s } ]", rows[row].more);
            world_request(&world, "%s", buf_string(&text));
            for (int i = 0; i < 19; i++)
                world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Size = 99; Id = %d ]", i, i);
            for (int i = 0; i < 10; i++)
                world_offer(&world, "[ Name = \"l%d\"; Type = \"L\"; Id = %d ]", i, i);
            world_run_by(&world, (enum gang_algorithm)a, false);
            tap_ok(world.outcome == GANG_NONE && world.stats.nodes <= 40 && world.stats.evaluations <= 3000,
                   "nineteen machines for twenty %s are no gang, after %llu of them, by %s", rows[row].words,
                   (unsigned long long)world.stats.nodes, gang_algorithm_names[a]);
            buf_done(&text);
        }
        world_reset(&world);
        world_request(&world,
                      "[ Name = \"job\"; Ports = { [ Label = set; Count = 20; Constraint = set.Type == \"M\" ] } ]");
        world_request(&world, "[ Name = \"client\"; Ports = { [ Label = s; Constraint = s.Type == \"S\" ] } ]");
        world_offer(&world, "[ Type = \"S\"; Ports = { [ Label = up; Type = \"S\" ], [ Label = set; Count = 20; "
                            "Constraint = set.Type == \"M\" ] } ]");
        for (int i = 0; i < 19; i++)
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d ]", i, i);
        world_run_by(&world, (enum gang_algorithm)a, false);
        tap_ok(world.stats.gangs == 0 && world.stats.gave_up == 0 && world.stats.nodes <= 80,
               "nor are they where a set wants twenty, of a job or of a service below it, by %s",
               gang_algorithm_names[a]);
    }
}

/* An attribute that was never asked for is looked up from the first time on. */
static void first_question(void)
{
    for (int ported = 0; ported < 2; ported++) {
        for (int a = GANG_LR; a < GANG_ALGORITHMS; a++) {
            world_reset(&world);
            request_equal(2, "Type == \"Machine\"", "");
            for (int i = 0; i < 402; i++)
                world_offer(&world,
                            ported ? "[ Name = \"o%d\"; Type = \"%s\"; Ports = { [ Label = job ] } ]"
                                   : "[ Name = \"o%d\"; Type = \"%s\" ]",
                            i, i < 400 ? "License" : "Machine");
            world_run_by(&world, (enum gang_algorithm)a, false);
            tap_ok(
                world.outcome == GANG_FORMED && world.stats.evaluations == 2,
                "offers without a Constraint that a port does not ask for are not tried at it, %s ports, by %s: %llu dockings",
                ported ? "with" : "without", gang_algorithm_names[a], (unsigned long long)world.stats.evaluations);
        }
    }
}

static void hopeless_port(void)
{
    for (int preferences = 0; preferences < 2; preferences++) {
        world_reset(&world);
        request_equal(3, "Type == \"M\"", ", [ Label = q; Constraint = q.Type == \"none such\" ]");
        for (int i = 0; i < 1000; i++)
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d; Constraint = other.Size isnt %d ]", i, i, i);
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_NONE, "a port that nobody fits makes no gang, %s preferences",
               preferences ? "with" : "without");
        world_nodes(&world, 10, "and the thousand candidates of the others are not gone through");
    }
}

static void jumping(void)
{
    for (int preferences = 0; preferences < 2; preferences++) {
        world_reset(&world);
        world_request(&world, "[ Name = \"job\"; Ports = { [ Label = a; Constraint = a.Type == \"A\"; Rank = -a.Id ], "
                              "[ Label = b; Constraint = b.Type == \"B\"; Rank = -b.Id ], [ Label = c; HostId = a.Id; "
                              "Constraint = c.Type == \"C\" ] } ]");
        for (int i = 0; i < 200; i++) {
            world_offer(&world, "[ Name = \"a%d\"; Type = \"A\"; Id = %d ]", i, i);
            world_offer(&world, "[ Name = \"b%d\"; Type = \"B\"; Id = %d ]", i, i);
            /* no clause that could be inverted: only trying tells */
            world_offer(&world,
                        "[ Name = \"c%d\"; Type = \"C\"; Constraint = other.HostId * other.HostId == 199 * 199 ]", i);
        }
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_FORMED && world.ads[world.members[1].place] == world.offers[3 * 199],
               "of 200 candidates for each of three ports the one that the last port needs at the first is found, %s "
               "preferences",
               preferences ? "with" : "without");
        world_nodes(&world, 3 * 200 + 10, "a failure jumps back over the port that does not matter");
    }
}

static void path_consistency(void)
{
    for (int preferences = 0; preferences < 2; preferences++) {
        world_reset(&world);
        world_request(
            &world,
            "[ Name = \"job\"; Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\" ], [ Label = l1; HostID = "
            "cpu.Key; Constraint = l1.App == \"one\" ], [ Label = l2; HostID = cpu.Key; Constraint = l2.App == "
            "\"two\" ] } ]");
        for (int i = 0; i < 100; i++) {
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Key = %d ]", i, i % 20);
            world_offer(&world, "[ Name = \"l%d\"; App = \"one\"; No = %d; Constraint = other.HostID > 10 ]", i, i);
            world_offer(&world, "[ Name = \"k%d\"; App = \"two\"; No = %d; Constraint = other.HostID < 5 ]", i, i);
        }
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_NONE,
               "two licences that together exclude every machine make no gang, %s preferences",
               preferences ? "with" : "without");
        world_nodes(&world, 20, "and hardly any machine is tried");
    }
}

static void symmetry(void)
{
    for (int preferences = 0; preferences < 2; preferences++) {
        world_reset(&world);
        request_equal(8, "Type == \"M\"", ", [ Label = last; Constraint = last.Id == 3 ]");
        for (int i = 0; i < 9; i++)
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d ]", i, i);
        world_run_by(&world, GANG_AUTO, preferences);
        tap_ok(world.outcome == GANG_FORMED && !strcmp(strstr(buf_string(&world.told), "last="), "last=m3"),
               "a ninth port gets the machine that only it needs, though eight equal ports come first, %s preferences",
               preferences ? "with" : "without");
        world_nodes(&world, 200, "and that does not take 8! tries");
        world.offer_count--;
        tree_unref(world.offers[world.offer_count]);
        world_run(&world);
        tap_ok(world.outcome == GANG_NONE, "with a machine fewer there is no gang, %s preferences",
               preferences ? "with" : "without");
        world_nodes(&world, 200, "nor does that");
    }
}

/* The same, but what cannot be told by counting: the ninth port hangs on a clause that only evaluation decides. */
static void symmetry_hidden(void)
{
    world_reset(&world);
    request_equal(8, "Id * p0.Id >= 0", ", [ Label = last; Constraint = last.Id * last.Id == 9 && last.Id < p0.Id ]");
    for (int i = 0; i < 9; i++)
        world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d ]", i, i);
    world.settings.nodes = 20000;
    world_run_by(&world, GANG_AUTO, true);
    tap_ok(world.outcome == GANG_FORMED && strstr(buf_string(&world.told), "last=m3"),
           "a gang that only evaluation can see is found among equal ports");
    world_nodes(&world, 2000, "without trying all orders");
}

static void scarce(void)
{
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"job\"; Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\"; Rank = cpu.Mips ], "
                  "[ Label = lic; HostId = cpu.Key + 10; Constraint = lic.Type == \"L\" ] } ]");
    for (int i = 0; i < 500; i++)
        world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Key = %d; Mips = %d ]", i, i, i);
    world_offer(&world, "[ Name = \"l1\"; Type = \"L\"; Constraint = other.HostId >= 20 && other.HostId < 24 ]");
    world_offer(&world, "[ Name = \"l2\"; Type = \"L\"; Constraint = other.HostId == 47 ]");
    world_gives(&world, "job cpu=m37 lic=l2", "the best machine with a licence is taken, not the best of all");
    world_nodes(&world, 8, "and the machines without one are not tried");
}

/* ------------------------------------------------------------------------------------------------- residuals, policies */

#define LINK "[ Name = \"link\"; Mbps = 100; Constraint = other.Need <= Mbps; Residual = [ Mbps = Mbps - other.Need ] ]"

static void residuals(void)
{
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world_reset(&world);
        for (int i = 0; i < 4; i++)
            world_request(
                &world,
                "[ Name = \"j%d\"; Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\" ], [ Label = net; Need "
                "= %d; Constraint = net.Mbps > 0 ] } ]",
                i, i < 3 ? 40 : 20);
        for (int i = 0; i < 5; i++)
            world_offer(&world, "[ Name = \"m%d\"; Type = \"M\" ]", i);
        world_offer(&world, LINK);
        world_run_by(&world, (enum gang_algorithm)a, a == GANG_AUTO);
        tap_ok(world.stats.gangs == 3 && strstr(buf_string(&world.told), "; j2 -; j3 cpu=") &&
                   strstr(buf_string(&world.told), " net=link"),
               "a link of 100 is shared by jobs until it is used up, by %s", gang_algorithm_names[a]);
    }
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"two\"; Ports = { [ Label = n1; Need = 60; Constraint = n1.Mbps > 0 ], [ Label = n2; "
                  "Share = true; Need = 60; Constraint = n2.Mbps > 0 ] } ]");
    world_offer(&world, LINK);
    world_gives(&world, "two -", "within a gang a shared link is what the gang has left of it");
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"two\"; Ports = { [ Label = n1; Need = 40; Constraint = n1.Mbps > 0 ], [ Label = n2; "
                  "Share = true; Need = 40; Constraint = n2.Mbps > 0 ] } ]");
    world_request(&world, "[ Name = \"one\"; Ports = { [ Label = n1; Need = 21; Constraint = n1.Mbps > 0 ] } ]");
    world_request(&world, "[ Name = \"tiny\"; Ports = { [ Label = n1; Need = 20; Constraint = n1.Mbps > 0 ] } ]");
    world_offer(&world, LINK);
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world_gives(&world, "two n1=link n2=link; one -; tiny n1=link",
                    "a link that a gang shares twice goes on as what both have left, by %s", gang_algorithm_names[a]);
    }
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"two\"; Ports = { [ Label = n1; Need = 1; Constraint = n1.Mbps > 0 ], [ Label = n2; "
                  "Need = 1; Constraint = n2.Mbps > 0 ] } ]");
    world_offer(&world, LINK);
    world_gives(&world, "two -", "without Share an ad is in a gang once");
    world_reset(&world);
    world_request(
        &world, "[ Name = \"two\"; Ports = { [ Label = n1; Need = 60; Constraint = n1.Mbps > 0 ], [ Label = n2; Share "
                "= true; Need = 60; Constraint = n2.Name == \"link\" ] } ]");
    world_offer(&world, LINK);
    world_offer(&world, "[ Name = \"spare\"; Mbps = 70 ]");
    world_gives(&world, "two n1=spare n2=link",
                "a failure by what is left of a link goes back to whoever had taken of it");
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"two\"; Ports = { [ Label = a; Constraint = a.X ], [ Label = b; Share = true; Constraint "
                  "= b.X ] } ]");
    world_request(&world, "[ Name = \"next\"; Constraint = other.X ]");
    world_offer(&world, "[ Name = \"x\"; X = true ]");
    world_gives(&world, "two a=x b=x; next -", "a shared ad without a residual is gone after its gang");
}

static void counts(void)
{
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"j\"; Count = 3; Ports = { [ Label = cpu; Constraint = cpu.Type == \"M\" ], [ Label = "
                  "lic; Constraint = lic.Type == \"L\" ] } ]");
    for (int i = 0; i < 4; i++)
        world_offer(&world, "[ Name = \"m%d\"; Type = \"M\" ]", i);
    for (int i = 0; i < 2; i++)
        world_offer(&world, "[ Name = \"l%d\"; Type = \"L\" ]", i);
    world_gives(&world, "j cpu=m0 lic=l0; j cpu=m1 lic=l1; j -",
                "a root with a Count gets that many gangs, if there are");
}

static void policies(void)
{
    world_reset(&world);
    world_policy(&world, "[ RootSelection = Type == \"job\"; RootOrder = Priority ]");
    world_request(&world, "[ Name = \"low\"; Type = \"job\"; Priority = 1; Constraint = other.Cpus > 0 ]");
    world_offer(&world, "[ Name = \"m\"; Cpus = 1 ]");
    world_offer(&world, "[ Name = \"high\"; Type = \"job\"; Priority = 2; Constraint = other.Cpus > 0 ]");
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        world.settings.algorithm = (enum gang_algorithm)a;
        world_gives(&world, "high other=m; low -", "the policy says who is a root and who comes first, by %s",
                    gang_algorithm_names[a]);
    }
    world_reset(&world);
    world_policy(&world, "[ DockingVector = { label.Speed, -label.Price } ]");
    world_request(&world,
                  "[ Name = \"j\"; Ports = { [ Label = cpu; Rank = -cpu.Speed; Constraint = cpu.Speed > 0 ] } ]");
    for (int i = 0; i < 6; i++)
        world_offer(&world, "[ Name = \"m%d\"; Speed = %d; Price = %d ]", i, 1 + i % 3, 10 - i);
    world_gives(&world, "j cpu=m5", "the docking vector is told of whoever docks as label, not by the rank");
    world_offer(&world, "[ Name = \"free\"; Speed = 9 ]");
    world_gives(&world, "j cpu=m5", "a vector with an undefined component is discarded");
    world_reset(&world);
    world_policy(&world, "[ DockingVector = { size(label) } ]");
    world_request(&world, "[ Name = \"j\"; label = 3; Ports = { [ Label = cpu ] } ]");
    world_offer(&world, "[ Name = \"small\" ]");
    world_offer(&world, "[ Name = \"large\"; A = 1; B = 2 ]");
    world_gives(&world, "j cpu=large", "label is whoever docks, whatever the ad calls by that name");
}

/* ------------------------------------------------------------------------------------------------------- budgets, chance */

/* A colouring that cannot be: only trying tells, and there are many ways. */
static void request_hard(int ports)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Name = \"hard\"; Ports = { ");
    for (int i = 0; i < ports; i++) {
        buf_addf(&text, "%s[ Label = p%d; Constraint = p%d.Type == \"M\"", i ? ", " : "", i, i);
        for (int k = 0; k < i; k++)
            buf_addf(&text, " && p%d.Id * p%d.Id %% 7 != 3", k, i);
        if (i == ports - 1)
            buf_adds(&text, " && (p0.Id + p1.Id + p2.Id) * p3.Id == p4.Id * -1");
        buf_adds(&text, " ]");
    }
    buf_adds(&text, " } ]");
    world_request(&world, "%s", buf_string(&text));
    buf_done(&text);
}

static void budgets(void)
{
    for (int a = 0; a < GANG_ALGORITHMS; a++) {
        for (int preferences = 0; preferences < 2; preferences++) {
            world_reset(&world);
            request_hard(8);
            for (int i = 0; i < 60; i++)
                world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d ]", i, i + 1);
            world.settings.nodes = 10;
            world_run_by(&world, (enum gang_algorithm)a, preferences);
            tap_ok(world.outcome == GANG_GAVE_UP && world.stats.gave_up == 1 && world.stats.nodes <= 10,
                   "past a budget of ten %s gives up, preferences %s", gang_algorithm_names[a],
                   preferences ? "on" : "off");
            world.settings.nodes = 3000;
            world_run(&world);
            tap_ok(world.outcome == GANG_GAVE_UP && world.stats.nodes <= 3000, "and past one of three thousand");
            if (world.seconds > 20)
                tap_ok(false, "within 20 seconds, not %.1f", world.seconds);
        }
    }
}

static void chance(void)
{
    char first[4096];
    bool differs = false;

    world_reset(&world);
    for (int i = 0; i < 10; i++)
        world_request(&world,
                      "[ Name = \"j%d\"; Ports = { [ Label = a; Constraint = a.Type == \"M\" ], [ Label = b; "
                      "Constraint = b.Type == \"M\" ] } ]",
                      i);
    for (int i = 0; i < 30; i++)
        world_offer(&world, "[ Name = \"m%d\"; Type = \"M\"; Id = %d; Constraint = other.X isnt %d ]", i, i, i);
    world.settings.seed = 7;
    snprintf(first, sizeof first, "%s", world_run_by(&world, GANG_DYNSR, false));
    tap_ok(!strcmp(first, world_run(&world)), "the same seed gives the same gangs by dynsr");
    for (uint64_t seed = 8; seed < 12 && !differs; seed++) {
        world.settings.seed = seed;
        differs = strcmp(first, world_run(&world)) != 0;
    }
    tap_ok(differs, "and another seed others");
}

int main(void)
{
    world_open(&world);
    figure8();
    figure10();
    figure11();
    unknown_ranks();
    preempting();
    figure32();
    wholly();
    counting();
    no_explosion();
    first_question();
    hopeless_port();
    jumping();
    path_consistency();
    symmetry();
    symmetry_hidden();
    scarce();
    residuals();
    counts();
    policies();
    budgets();
    chance();
    world_close(&world);
    return tap_done();
}
