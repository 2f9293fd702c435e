/* gang_why_test.c: what is told of a request that gets no gang, on pools small enough to be checked by hand; and that on random ones
 * the explanation is that of the cycle. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/ad/make.h"
#include "lang/base/rng.h"
#include "match/gang/gang_why.h"

#include <jansson.h>

#define NOW 1772366400 /* 2026-03-01T12:00:00Z, a Sunday */
#define OFFERS_MAX 12

static const struct gang_why_case {
    const char *sentence;
    const char *request, *offers[OFFERS_MAX];
    const char *says;
    uint64_t nodes;                /* 0: the default */
    const struct dialect *dialect; /* NULL: classic */
} cases[] = {
    {"a change of an attribute that only the port has",
     "[ W = 7; Ports = { [ Label = b; V = 2; W = 1; Constraint = b.Memory == 3 ] } ]",
     {"[ Memory = 3; Constraint = other.V == 1 ]", "[ Memory = 3; Constraint = other.W == 42 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port b: 0 of 2 offers fit.\n"
             "       alone     left  clause\n"
             "           2        2  b.Memory == 3\n"
             "  Every offer refuses it; without that, 2 would match.\n"
             "  2 offers refuse it, 2 of which it would take:\n"
             "           1           other.V == 1  (V = 2)\n"
             "           1           other.W == 42  (W = 1)\n"
             "  It would match\n"
             "           1           with V = 1 instead of 2\n"
             "           1           with W = 42 instead of 1\n"
             "Port b cannot be filled.\n"
             "The search died at port b, with nothing docked: 2 offers fit the clauses of the port, but all refuse:\n"
             "      1 by other.V == 1  (other.V = 2)\n"
             "      1 by other.W == 42  (other.W = 1)\n"},
    {"figures 28 to 30 as printed: nobody has LINUX",
     "[ Ports = { [ Label = Cpu; ImageSize = 13461450.030324; MemoryReqs = 2860414.100368; Constraint "
     "= Cpu.Arch==\"INTEL\" && Cpu.OpSys==\"LINUX\" && Cpu.VirtualMemory > ImageSize ], [ Label = "
     "License; HostId = Cpu.Key; Constraint = License.App==\"sim_app\" ] } ]",
     {"[ Name = \"virgo\"; Key = 143; Type = \"Machine\"; Arch = \"INTEL\"; OpSys = \"WINNT40\"; Memory = 64M; "
      "VirtualMemory = 83.235176M; Ports = { [ Label = Job; Constraint = Job.MemoryReqs<Memory-15M ] } "
      "]",
      "[ Name = \"lic\"; Type = \"License\"; App = \"sim_app\"; Ports = { [ Label = Site; Constraint = "
      "Site.HostID >= 0 && Site.HostId < 1000 ] } ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port Cpu: 0 of 2 offers fit.\n"
             "       alone     left  clause\n"
             "           1        1  Cpu.Arch == \"INTEL\"  (undefined for 1)\n"
             "           0        0  Cpu.OpSys == \"LINUX\"  (undefined for 1)\n"
             "           1        0  Cpu.VirtualMemory > ImageSize  (that is, Cpu.VirtualMemory > "
             "13461450.030324)  (undefined for 1)\n"
             "  No offer satisfies Cpu.OpSys == \"LINUX\"; without that, 1 would match.\n"
             "  It would match\n"
             "           1           with Cpu.OpSys == \"WINNT40\" instead of Cpu.OpSys == \"LINUX\"\n"
             "Port License: 1 of 2 offers fits.\n"
             "Port Cpu cannot be filled.\n"
             "The search died at port Cpu, with nothing docked: Cpu.OpSys == \"LINUX\" is true of nobody.\n"},
    {"with LINUX they are a gang, and it is told",
     "[ Ports = { [ Label = Cpu; ImageSize = 13461450.030324; MemoryReqs = 2860414.100368; Constraint "
     "= Cpu.Arch==\"INTEL\" && Cpu.OpSys==\"LINUX\" && Cpu.VirtualMemory > ImageSize ], [ Label = "
     "License; HostId = Cpu.Key; Constraint = License.App==\"sim_app\" ] } ]",
     {"[ Name = \"virgo\"; Key = 143; Type = \"Machine\"; Arch = \"INTEL\"; OpSys = \"LINUX\"; Memory = 64M; "
      "VirtualMemory = 83.235176M; Ports = { [ Label = Job; Constraint = Job.MemoryReqs<Memory-15M ] } "
      "]",
      "[ Name = \"lic\"; Type = \"License\"; App = \"sim_app\"; Ports = { [ Label = Site; Constraint = "
      "Site.HostID >= 0 && Site.HostId < 1000 ] } ]"},
     .says = "job: gets a gang from 2 offers: Cpu = virgo, License = lic.\n"},
    {"a licence that refuses the only machine",
     "[ Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"Machine\" ], [ Label = License; HostID = "
     "Cpu.Key; Constraint = License.App == \"sim\" ] } ]",
     {"[ Name = \"m7\"; Type = \"Machine\"; Key = 1203 ]",
      "[ Name = \"l1\"; App = \"sim\"; Ports = { [ Label = Site; Constraint = Site.HostID >= 0 && "
      "Site.HostID < 1000 ] } ]",
      "[ Name = \"l2\"; App = \"sim\"; Constraint = other.HostID < 5 ]"},
     .says = "job: gets no gang from 3 offers now.\n"
             "Port Cpu: 1 of 3 offers fits.\n"
             "Port License: 2 of 3 offers fit.\n"
             "Ports Cpu and License cannot be filled together; any fewer ports can.\n"
             "The search died at port License, with Cpu = m7: 2 offers fit the clauses of the port, but all "
             "refuse:\n"
             "      1 by Site.HostID < 1000  (Site.HostID = 1203)\n"
             "      1 by other.HostID < 5  (other.HostID = 1203)\n"},
    {"two ports that exclude each other",
     "[ Ports = { [ Label = Host1; Constraint = Host1.Type == \"Machine\" ], [ Label = Disk; Constraint "
     "= Disk.Type == \"Disk\" ], [ Label = Host2; Constraint = Host2.Type == \"Machine\" && Host1.Subnet "
     "== Host2.Subnet ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Subnet = 5 ]", "[ Name = \"m2\"; Type = \"Machine\"; Subnet = 6 ]",
      "[ Name = \"d\"; Type = \"Disk\" ]"},
     .says = "job: gets no gang from 3 offers now.\n"
             "Port Host1: 2 of 3 offers fit.\n"
             "Port Disk: 1 of 3 offers fits.\n"
             "Port Host2: 2 of 3 offers fit.\n"
             "  tested only when somebody docks: Host1.Subnet == Host2.Subnet\n"
             "Ports Host1 and Host2 cannot be filled together; any fewer ports can.\n"
             "The search died at port Host2, with Host1 = m1, Disk = d: Host1.Subnet == Host2.Subnet  (that "
             "is, 5 == Host2.Subnet) is true of nobody who is left; 1 offer that fits is in the gang "
             "already.\n"},
    {"six ports and five machines",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Machine\" ], [ Label = b; Constraint = b.Type "
     "== \"Machine\" ], [ Label = c; Constraint = c.Type == \"Machine\" ], [ Label = d; Constraint = "
     "d.Type == \"Machine\" ], [ Label = e; Constraint = e.Type == \"Machine\" ], [ Label = f; Constraint "
     "= f.Type == \"Machine\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]", "[ Name = \"m2\"; Type = \"Machine\" ]",
      "[ Name = \"m3\"; Type = \"Machine\" ]", "[ Name = \"m4\"; Type = \"Machine\" ]",
      "[ Name = \"m5\"; Type = \"Machine\" ]"},
     .says = "job: gets no gang from 5 offers now.\n"
             "Port a: 5 of 5 offers fit.\n"
             "Port b: 5 of 5 offers fit.\n"
             "Port c: 5 of 5 offers fit.\n"
             "Port d: 5 of 5 offers fit.\n"
             "Port e: 5 of 5 offers fit.\n"
             "Port f: 5 of 5 offers fit.\n"
             "Ports a, b, c, d, e and f cannot be filled together; any fewer ports can.\n"
             "The search died at port f, with a = m1, b = m2, c = m3, d = m4, e = m5: f.Type == \"Machine\" is "
             "true of nobody who is left; 5 offers that fit are in the gang already.\n"},
    {"no port can be filled: one is the smallest set",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Boat\" ], [ Label = b; Constraint = b.Type == "
     "\"Plane\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]"},
     .says = "job: gets no gang from 1 offer now.\n"
             "Port a: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           0        0  a.Type == \"Boat\"\n"
             "  No offer satisfies a.Type == \"Boat\"; without that, 1 would match.\n"
             "  It would match\n"
             "           1           with a.Type == \"Machine\" instead of a.Type == \"Boat\"\n"
             "Port b: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           0        0  b.Type == \"Plane\"\n"
             "  No offer satisfies b.Type == \"Plane\"; without that, 1 would match.\n"
             "  It would match\n"
             "           1           with b.Type == \"Machine\" instead of b.Type == \"Plane\"\n"
             "Port a cannot be filled.\n"
             "The search died at port a, with nothing docked: a.Type == \"Boat\" is true of nobody.\n"},
    {"no offers",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Boat\" ] } ]",
     {},
     .says = "job: gets no gang, for there are no offers.\n"},
    {"a clause that is false by the request alone can never be true",
     "[ Memory = 5; Ports = { [ Label = a; Constraint = Memory > 6 && a.Type == \"Machine\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]"},
     .says = "job: can never get a gang, whatever the pool holds.\n"
             "Port a: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           0        0  Memory > 6\n"
             "           1        0  a.Type == \"Machine\"\n"
             "  Memory > 6 is never true: nothing of the other side can change it.\n"
             "  No offer satisfies Memory > 6; without that, 1 would match.\n"
             "  It would match\n"
             "           1           without Memory > 6\n"
             "Port a cannot be filled.\n"
             "The search died at port a, with nothing docked: Memory > 6 is true of nobody.\n"},
    {"one that is false at this time can be",
     "[ Ports = { [ Label = a; Constraint = time() < 5 && a.Type == \"Machine\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]"},
     .says = "job: gets no gang from 1 offer now.\n"
             "Port a: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           0        0  time() < 5  (not at this time)\n"
             "           1        0  a.Type == \"Machine\"\n"
             "  No offer satisfies time() < 5; without that, 1 would match.\n"
             "  It would match\n"
             "           1           without time() < 5\n"
             "Port a cannot be filled.\n"
             "The search died at port a, with nothing docked: time() < 5 is true of nobody.\n"},
    {"a set that is too small as a whole",
     "[ Ports = { [ Label = n; Count = { 2, 4 }; Constraint = n.Type == \"Machine\" && sum(n.Cpus) >= "
     "32 && SetSize <= 3 ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Cpus = 4 ]", "[ Name = \"m2\"; Type = \"Machine\"; Cpus = 8 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port n: 2 of 2 offers fit; it wants 2 to 4.\n"
             "Port n cannot be filled.\n"
             "The search died at port n, with n = {m1, m2}: n.Type == \"Machine\" is true of nobody who is "
             "left; 2 offers that fit are in the gang already; with nobody more there this is not true: "
             "sum(n.Cpus) >= 32.\n"},
    {"a set for which there are too few",
     "[ Ports = { [ Label = n; Count = 3; Constraint = n.Type == \"Machine\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]", "[ Name = \"m2\"; Type = \"Machine\" ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port n: 2 of 2 offers fit; it wants 3.\n"
             "Port n cannot be filled.\n"
             "The search died at port n, with n = {m1, m2}: n.Type == \"Machine\" is true of nobody who is "
             "left; 2 offers that fit are in the gang already.\n"},
    {"an optional port is no reason alone, but with one that reads it",
     "[ Ports = { [ Label = gpu; Essential = false; Constraint = gpu.Type == \"Gpu\" ], [ Label = cpu; "
     "Constraint = cpu.Type == \"Machine\" && cpu.Host == gpu.Host ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Host = 1 ]", "[ Name = \"g\"; Type = \"Gpu\"; Host = 2 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port gpu, which may stay empty: 1 of 2 offers fits.\n"
             "Port cpu: 1 of 2 offers fits.\n"
             "  tested only when somebody docks: cpu.Host == gpu.Host\n"
             "Ports gpu and cpu cannot be filled together; any fewer ports can.\n"
             "The search died at port cpu, with gpu = g: cpu.Host == gpu.Host  (that is, cpu.Host == 2) is "
             "true of nobody who is left.\n"},
    {"a group is filled or not as a whole",
     "[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"Machine\" ], [ Choose = 1; Ports = { [ "
     "Label = matlab; Constraint = matlab.App == \"matlab\" ], [ Label = octave; Constraint = "
     "octave.App == \"octave\" ] } ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]", "[ Name = \"s\"; App = \"scilab\" ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port cpu: 1 of 2 offers fits.\n"
             "Port matlab: 0 of 2 offers fit.\n"
             "       alone     left  clause\n"
             "           0        0  matlab.App == \"matlab\"  (undefined for 1)\n"
             "  No offer satisfies matlab.App == \"matlab\"; without that, 2 would match.\n"
             "  It would match\n"
             "           1           with matlab.App == \"scilab\" instead of matlab.App == \"matlab\"\n"
             "Port octave: 0 of 2 offers fit.\n"
             "       alone     left  clause\n"
             "           0        0  octave.App == \"octave\"  (undefined for 1)\n"
             "  No offer satisfies octave.App == \"octave\"; without that, 2 would match.\n"
             "  It would match\n"
             "           1           with octave.App == \"scilab\" instead of octave.App == \"octave\"\n"
             "Group {matlab, octave} cannot be filled.\n"
             "The search died at port octave, with cpu = m1, matlab = nobody: octave.App == \"octave\" is true "
             "of nobody who is left.\n"},
    {"a name that no offer has, and the nearest",
     "[ Ports = { [ Label = cpu; Constraint = cpu.Memry >= 64 ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Memory = 128 ]", "[ Name = \"m2\"; Type = \"Machine\"; Memory = 128 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port cpu: 0 of 2 offers fit.\n"
             "       alone     left  clause\n"
             "           0        0  cpu.Memry >= 64  (undefined for 2)\n"
             "  No offer satisfies cpu.Memry >= 64; without that, 2 would match.\n"
             "  Memry: none of 2 offers has it; Memory: all.\n"
             "  It would match\n"
             "           2           with cpu.Memory >= 64 instead of cpu.Memry >= 64\n"
             "Port cpu cannot be filled.\n"
             "The search died at port cpu, with nothing docked: cpu.Memry >= 64 is true of nobody.\n"},
    {"a port of somebody who is docked",
     "[ Owner = \"ann\"; Ports = { [ Label = server; Size = 9; Constraint = server.Type == \"Server\" ] } "
     "]",
     {"[ Name = \"s1\"; Type = \"Server\"; Ports = { [ Label = client; Constraint = client.Owner == \"ann\" "
      "], [ Label = disk; Constraint = disk.Type == \"Disk\" && disk.Free > client.Size ] } ]",
      "[ Name = \"d\"; Type = \"Disk\"; Free = 7 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port server: 1 of 3 ports of 2 offers fits.\n"
             "Port server cannot be filled.\n"
             "The search died at port server.disk, with server = s1: disk.Free > client.Size  (that is, "
             "disk.Free > 9) is true of nobody who is left.\n"},
    {"what an offer shows only when its own ports are filled is not held against it",
     "[ Ports = { [ Label = m; Need = 500; Constraint = m.Cpus >= 4 ] } ]",
     {"[ Name = \"smp\"; Ports = { [ Label = one; Constraint = one.Type == \"Machine\" ], [ Label = user; "
      "Cpus = one.Cpus * 2; Memory = one.Memory; Constraint = user.Need < Memory ] } ]",
      "[ Name = \"m1\"; Type = \"Machine\"; Cpus = 2; Memory = 100 ]"},
     .says = "job: gets no gang from 2 offers now.\n"
             "Port m: 0 of 2 ports of 2 offers fit.\n"
             "  1 more may fit: that is known only when other ports of theirs are filled.\n"
             "Port m cannot be filled.\n"
             "The search died at port m.one, with m = smp: 1 candidate fits the clauses of the port, but with "
             "it this is not true: user.Need < Memory, of smp.\n"},
    {"a request without ports among offers with ports",
     "[ Memory = 30; Constraint = other.Type == \"Machine\" ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Ports = { [ Label = job; Constraint = job.Memory < 16 ] } ]"},
     .says = "job: gets no gang from 1 offer now.\n"
             "Port other: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           1        1  other.Type == \"Machine\"\n"
             "  Every offer refuses it; without that, 1 would match.\n"
             "  1 offer refuses it, 1 of which it would take:\n"
             "           1           job.Memory < 16  (Memory = 30)\n"
             "  It would match\n"
             "           1           with Memory = 15 instead of 30\n"
             "Port other cannot be filled.\n"
             "The search died at port other, with nothing docked: 1 offer fits the clauses of the port, but "
             "refuses:\n"
             "      job.Memory < 16  (job.Memory = 30)\n"},
    {"an offer whose ports are not in order is told",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Machine\" ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; Ports = { [ Lable = job ] } ]"},
     .says = "job: gets no gang from 1 offer now.\n"
             "1 offer has ports that are not in order: nobody docks there.\n"
             "Port a: 0 of 1 offer fit.\n"
             "Port a cannot be filled.\n"
             "The search died at port a, with nothing docked: a.Type == \"Machine\" is true of nobody.\n"},
    {"ports of the request that are not in order are refused",
     "[ Ports = { [ Lable = a ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\" ]"},
     .says = "port 1 has no Label"},
    {"a budget that runs out says so",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Machine\" ], [ Label = b; Constraint = b.Type "
     "== \"Machine\" && b.x % 7 + a.x % 7 == 99 ] } ]",
     {"[ Name = \"m1\"; Type = \"Machine\"; x = 1 ]", "[ Name = \"m2\"; Type = \"Machine\"; x = 2 ]",
      "[ Name = \"m3\"; Type = \"Machine\"; x = 3 ]", "[ Name = \"m4\"; Type = \"Machine\"; x = 4 ]",
      "[ Name = \"m5\"; Type = \"Machine\"; x = 5 ]", "[ Name = \"m6\"; Type = \"Machine\"; x = 6 ]"},
     .says = "job: the search gave up after 3 candidates; whether there is a gang is not known.\n"
             "Port a: 6 of 6 offers fit.\n"
             "Port b: 6 of 6 offers fit.\n"
             "  tested only when somebody docks: b.x % 7 + a.x % 7 == 99\n"
             "Which ports cannot be filled together was not found out: it would have taken too long.\n"
             "It came no further than port b, with a = m1: b.x % 7 + a.x % 7 == 99  (that is, b.x % 7 + 1 == "
             "99) is true of nobody who is left.\n",
     .nodes = 3},
    {"a name that would control a terminal is shown without",
     "[ Ports = { [ Label = a; Constraint = a.Type == \"Machine\" ], [ Label = b; Constraint = b.Type "
     "== \"Boat\" ] } ]",
     {"[ Name = \"m\\033[1m\"; Type = \"Machine\" ]"},
     .says = "job: gets no gang from 1 offer now.\n"
             "Port a: 1 of 1 offer fits.\n"
             "Port b: 0 of 1 offer fit.\n"
             "       alone     left  clause\n"
             "           0        0  b.Type == \"Boat\"\n"
             "  No offer satisfies b.Type == \"Boat\"; without that, 1 would match.\n"
             "  It would match\n"
             "           1           with b.Type == \"Machine\" instead of b.Type == \"Boat\"\n"
             "Port b cannot be filled.\n"
             "The search died at port b, with a = m?[1m: b.Type == \"Boat\" is true of nobody who is left.\n"},
};

/* -------------------------------------------------------------------------------------------------------------- a world */

struct asked {
    struct lang lang;
    struct env env;
    struct policy policy;
    struct tree *request, *offers[OFFERS_MAX];
    size_t count;
    struct gang_why why;
    bool explained;
    const bool *hidden; /* of each offer; or NULL */
};

static void offer_name(void *user, size_t place, struct buf *out)
{
    const struct asked *asked = user;
    const struct tree *ad = asked->offers[place];
    const struct expr *name = tree_find(ad, tree_root(ad), symbols_find(ad->symbols, "Name", 4));

    if (name && name->kind == EXPR_STRING)
        buf_add(out, tree_string(ad, name), name->u.run.count);
    else
        buf_addf(out, "#%zu", place + 1);
}

static struct why_names asked_names(struct asked *asked)
{
    return (struct why_names){.request = "job", .offer = offer_name, .user = asked};
}

static struct tree *asked_ad(struct asked *asked, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&asked->lang, dialect, text, &err);

    if (!ad)
        printf("# %s: %s\n", text, err.text);
    return ad;
}

static void asked_init(struct asked *asked, const struct dialect *dialect, const char *request,
                       const char *const *offers)
{
    memset(asked, 0, sizeof *asked);
    lang_init(&asked->lang);
    asked->env = (struct env){.now = NOW};
    asked->request = asked_ad(asked, dialect, request);
    for (; asked->count < OFFERS_MAX && offers[asked->count]; asked->count++)
        asked->offers[asked->count] = asked_ad(asked, dialect, offers[asked->count]);
}

static void asked_done(struct asked *asked)
{
    if (asked->explained)
        gang_why_done(&asked->why);
    tree_unref(asked->request);
    while (asked->count)
        tree_unref(asked->offers[--asked->count]);
    lang_done(&asked->lang);
}

/* An offer as it may be told of where its policy is hidden. */
static struct tree *mask(const struct tree *ad, bool accepts)
{
    struct maker maker;

    maker_init(&maker, ad->symbols);
    maker_parts(&maker, ad, "Constraint");
    maker_flag(&maker, "Constraint", accepts);
    return maker_seal(&maker);
}

static int asked_explain(struct asked *asked, uint64_t nodes, struct err *err)
{
    int result = gang_why_explain(&asked->why, &asked->env, &asked->lang.arena, &asked->policy, asked->request,
                                  asked->offers, asked->count,
                                  &(struct gang_why_terms){.nodes = nodes, .hidden = asked->hidden, .mask = mask}, err);

    asked->explained = result == 0;
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ cases */

static void is_text(const char *got, const char *wanted, const char *sentence)
{
    if (!tap_ok(!strcmp(got, wanted), "%s", sentence))
        tap_diag("expected\n%s\ngot\n%s", wanted, got);
}

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked asked;
        struct why_names names;
        struct buf words;
        struct err err;

        asked_init(&asked, cases[i].dialect ? cases[i].dialect : &dialect_classic, cases[i].request, cases[i].offers);
        names = asked_names(&asked);
        buf_init(&words);
        if (asked_explain(&asked, cases[i].nodes, &err) == 0)
            gang_why_print(&words, &asked.why, &names);
        else
            buf_adds(&words, err.text);
        is_text(buf_string(&words), cases[i].says, cases[i].sentence);
        buf_done(&words);
        asked_done(&asked);
    }
}

/* The explanation of a case as JSON, read again. */
static json_t *case_json(const char *request, const char *const *offers, uint64_t nodes)
{
    struct asked asked;
    struct why_names names;
    struct buf text;
    struct err err;
    json_t *json;

    asked_init(&asked, &dialect_classic, request, offers);
    names = asked_names(&asked);
    buf_init(&text);
    asked_explain(&asked, nodes, &err);
    gang_why_print_json(&text, &asked.why, &names);
    json = json_loads(buf_string(&text), JSON_REJECT_DUPLICATES, NULL);
    buf_done(&text);
    asked_done(&asked);
    return json;
}

static void is_json(json_t *json, const char *field, const char *wanted, const char *sentence)
{
    char *got = json_dumps(json_object_get(json, field), JSON_ENCODE_ANY | JSON_COMPACT);

    is_text(got ? got : "nothing", wanted, sentence);
    free(got);
}

static void test_json(void)
{
    static const char *const licence[] = {
        "[ Name = \"m7\"; Type = \"Machine\"; Key = 1203 ]",
        "[ Name = \"l1\"; App = \"sim\"; Ports = { [ Label = Site; Constraint = Site.HostID < 1000 ] } ]", NULL};
    static const char request[] = "[ Ports = { [ Label = Cpu; Constraint = Cpu.Type == \"Machine\" ],"
                                  "[ Label = Lic; HostID = Cpu.Key; Constraint = Lic.App == \"sim\" ] } ]";
    json_t *json = case_json(request, licence, 0), *port;

    is_json(json, "verdict", "\"not-now\"", "the verdict is that of a plain explanation");
    is_json(json, "offers", "2", "the offers are counted");
    is_json(json, "gang", "null", "there is no gang");
    is_json(json, "together", "[\"Cpu\",\"Lic\"]", "the ports that cannot be filled together are named");
    is_json(json, "smallest", "true", "and no smaller set is like that");
    is_json(json, "died",
            "{\"port\":\"Lic\",\"docked\":{\"Cpu\":\"m7\"},\"fitting\":1,\"taken\":0,\"clause\":null,\"means\":null,"
            "\"refusing\":1,\"refusals\":[{\"offers\":1,\"clause\":\"Site.HostID < 1000\",\"first\":\"l1\",\"reads\":"
            "[{\"name\":\"HostID\",\"value\":\"1203\"}]}],\"denied\":null,\"empty\":null}",
            "where the search died is told");
    port = json_array_get(json_object_get(json, "ports"), 0);
    is_json(port, "port", "\"Cpu\"", "every port is explained");
    is_json(port, "matching", "1", "alone");
    is_json(port, "clauses",
            "[{\"clause\":0,\"text\":\"Cpu.Type == \\\"Machine\\\"\",\"means\":\"Cpu.Type == \\\"Machine\\\"\","
            "\"attribute\":\"Constraint\",\"alone\":1,\"left\":1,\"undefined\":1,\"error\":0,\"by_time\":false}]",
            "its clauses are those of a plain explanation, under its label");
    json_decref(json);

    json = case_json(
        "[ Ports = { [ Label = n; Count = { 1, 2 } ], [ Label = gpu; Essential = false; Constraint = gpu.G ] } ]",
        (const char *const[]){"[ Name = \"a\" ]", "[ Name = \"b\" ]", NULL}, 0);
    is_json(json, "verdict", "\"matches\"", "a gang matches");
    is_json(json, "gang", "{\"n\":[\"a\",\"b\"]}", "it is told by labels, a set as a list");
    json_decref(json);
}

/* ------------------------------------------------------------------------------------------------------------ random pools */

/* A request with its ports as texts, and the ports that each mentions. */
struct random_ports {
    struct buf texts[4];
    uint32_t mentions[4], count;
};

static void random_request(struct rng *rng, struct random_ports *ports)
{
    static const char *const labels[] = {"a", "b", "c", "d"};

    ports->count = 1 + (uint32_t)rng_below(rng, 4);
    for (uint32_t i = 0; i < ports->count; i++) {
        struct buf *out = &ports->texts[i];

        buf_reset(out);
        ports->mentions[i] = 0;
        buf_addf(out, "[ Label = %s; k = %d; Constraint = %s.x >= %d", labels[i], (int)rng_below(rng, 4), labels[i],
                 (int)rng_below(rng, 3));
        if (i && rng_below(rng, 2)) {
            uint32_t other = (uint32_t)rng_below(rng, i);

            buf_addf(out, " && %s.y %s %s.y", labels[i], rng_below(rng, 2) ? "==" : "<", labels[other]);
            ports->mentions[i] = 1u << other;
        }
        buf_adds(out, rng_below(rng, 4) ? "" : "; Essential = false");
        buf_adds(out, rng_below(rng, 5) ? "" : "; Count = { 1, 2 }");
        buf_adds(out, " ]");
    }
}

/* The request with only those ports; false when one of them mentions another. */
static bool request_of(const struct random_ports *ports, uint32_t which, struct buf *out)
{
    const char *comma = "";

    buf_reset(out);
    buf_adds(out, "[ Ports = { ");
    for (uint32_t i = 0; i < ports->count; i++) {
        if (!(which >> i & 1))
            continue;
        if (ports->mentions[i] & ~which)
            return false;
        buf_adds(out, comma);
        buf_add(out, ports->texts[i].text, ports->texts[i].len);
        comma = ", ";
    }
    buf_adds(out, " } ]");
    return true;
}

static void random_offer(struct rng *rng, struct buf *out)
{
    buf_reset(out);
    buf_addf(out, "[ x = %d; y = %d", (int)rng_below(rng, 4), (int)rng_below(rng, 3));
    if (rng_below(rng, 2))
        buf_addf(out, "; Ports = { [ Label = j; Constraint = j.k >= %d ]%s }", (int)rng_below(rng, 4),
                 rng_below(rng, 4) ? "" : ", [ Label = sub; k = 3; Constraint = sub.x >= 2 && sub.y >= j.k ]");
    buf_adds(out, " ]");
}

static void note_outcome(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    (void)members;
    (void)count;
    *(enum gang_outcome *)user = outcome;
}

/* What the cycle comes to. */
static enum gang_outcome asked_cycle(struct asked *asked)
{
    struct gang_settings settings = {.algorithm = GANG_LR};
    struct tree *ads[OFFERS_MAX + 1] = {asked->request};
    enum gang_outcome outcome = GANG_GAVE_UP;

    for (size_t i = 0; i < asked->count; i++)
        ads[i + 1] = asked->offers[i];
    gang_run(
        &asked->env, &asked->lang.arena,
        &(struct gang_field){.policy = &asked->policy, .ads = ads, .request_count = 1, .offer_count = asked->count},
        &settings, note_outcome, &outcome, NULL);
    return outcome;
}

/* Something that the end of the search is put down to. */
static bool died_of_something(const struct gang_why_died *died)
{
    return died->known && (died->clause || died->refusing || died->denied.count || died->taken || died->empty.count) &&
           died->free <= died->refusing + died->denied.count;
}

/* Is the set of ports that is told one that the cycle cannot fill, while it fills all smaller ones? Where a port mentions one that is
 * not in the set, only the explanation can tell. */
static bool together_right(const struct asked *asked, const struct random_ports *ports, const char *const *offers,
                           uint32_t *ret_checked)
{
    uint32_t told = (uint32_t)asked->why.together;
    bool right = told && asked->why.smallest;
    struct buf text;

    buf_init(&text);
    for (uint32_t set = 1; set < 1u << ports->count && right; set++) {
        struct asked part;

        if ((set != told && __builtin_popcount(set) >= __builtin_popcount(told)) || !request_of(ports, set, &text))
            continue;
        asked_init(&part, &dialect_classic, buf_string(&text), offers);
        right = asked_cycle(&part) == (set == told ? GANG_NONE : GANG_FORMED);
        asked_done(&part);
        ++*ret_checked;
    }
    buf_done(&text);
    return right;
}

/* One request, as texts: false when what is told of it is not right. */
static bool random_round(const struct random_ports *ports, const char *const *offers, uint32_t *ret_none,
                         uint32_t *ret_checked)
{
    struct why_names names;
    struct buf text;
    struct asked asked;
    struct err err;
    json_t *json;
    bool right;

    buf_init(&text);
    request_of(ports, (1u << ports->count) - 1, &text);
    asked_init(&asked, &dialect_classic, buf_string(&text), offers);
    names = asked_names(&asked);
    right = asked_explain(&asked, 0, &err) == 0 && asked.why.outcome == asked_cycle(&asked);
    if (right && asked.why.outcome == GANG_NONE) {
        ++*ret_none;
        right =
            (!asked.count || died_of_something(&asked.why.died)) && together_right(&asked, ports, offers, ret_checked);
    }
    if (!right) {
        tap_diag("%s", buf_string(&text));
        for (size_t i = 0; i < asked.count; i++)
            tap_diag("  %s", offers[i]);
        buf_reset(&text);
        gang_why_print(&text, &asked.why, &names);
        tap_diag("%s", buf_string(&text));
    }
    buf_reset(&text);
    gang_why_print_json(&text, &asked.why, &names);
    json = json_loads(buf_string(&text), JSON_REJECT_DUPLICATES, NULL);
    right = right && json;
    json_decref(json);
    asked_done(&asked);
    buf_done(&text);
    return right;
}

static void test_random(void)
{
    const char *offers[OFFERS_MAX + 1], *seed = getenv("BERTH_SEED");
    struct buf texts[OFFERS_MAX];
    struct random_ports ports;
    uint32_t none = 0, checked = 0, wrong = 0;
    struct rng rng;

    rng_init(&rng, seed ? strtoull(seed, NULL, 10) : 1);
    for (size_t i = 0; i < OFFERS_MAX; i++)
        buf_init(&texts[i]);
    for (size_t i = 0; i < 4; i++)
        buf_init(&ports.texts[i]);
    for (int round = 0; round < 600; round++) {
        size_t count = (size_t)rng_below(&rng, 5);

        random_request(&rng, &ports);
        for (size_t i = 0; i < count; i++) {
            random_offer(&rng, &texts[i]);
            offers[i] = buf_string(&texts[i]);
        }
        offers[count] = NULL;
        wrong += !random_round(&ports, offers, &none, &checked);
    }
    tap_ok(none > 100 && none < 500, "some random requests get a gang and some do not");
    tap_ok(checked > none / 2, "their sets of ports are compared with the cycle");
    tap_ok(wrong == 0, "the outcome, the smallest set of ports and the end of the search are as the cycle has them");
    for (size_t i = 0; i < OFFERS_MAX; i++)
        buf_done(&texts[i]);
    for (size_t i = 0; i < 4; i++)
        buf_done(&ports.texts[i]);
}

/* A request whose ports take as long as an evaluation may, so that each search and each port's own explanation would. */
static void test_budget(void)
{
    static const char *const offers[] = {"[ Memory = 1 ]",
                                         "[ Memory = 2 ]",
                                         "[ Memory = 3 ]",
                                         "[ Memory = 4 ]",
                                         "[ Memory = 5 ]",
                                         "[ Memory = 6 ]",
                                         NULL};
    struct asked asked;
    struct buf text;
    uint64_t meter = 0;

    buf_init(&text);
    buf_adds(&text, "[ b0 = 1; ");
    for (int i = 1; i < 20; i++)
        buf_addf(&text, "b%d = b%d + b%d; ", i, i - 1, i - 1);
    buf_adds(&text, "Ports = { ");
    for (int i = 0; i < 8; i++)
        buf_addf(&text, "%s[ Label = p%d; Constraint = p%d.Memory > 0 && p%d.Memory * b19 < -1 ]", i ? ", " : "", i, i,
                 i);
    buf_adds(&text, " } ]");
    asked_init(&asked, &dialect_classic, buf_string(&text), offers);
    asked.env.meter = &meter;
    asked.explained =
        gang_why_explain(&asked.why, &asked.env, &asked.lang.arena, &asked.policy, asked.request, asked.offers,
                         asked.count, &(struct gang_why_terms){20000, 300000, .hidden = NULL}, NULL) == 0;
    if (!tap_ok(asked.explained && asked.why.outcome != GANG_FORMED && meter < 2500000,
                "an explanation takes few more steps than it may, whatever the ports say"))
        tap_diag("%llu steps", (unsigned long long)meter);
    asked_done(&asked);
    buf_done(&text);
}

/* What an owner hides is told neither of an offer that refuses, nor of one in the gang, nor of a port of one; that it refuses is. */
static void test_hidden(void)
{
    static const struct {
        const char *sentence, *request, *offers[3];
    } hidden[] = {
        {"a policy that is hidden is not told where its offer refuses",
         "[ Ports = { [ Label = a; Constraint = a.Memory > 1 ], [ Label = b; Constraint = b.Memory > 1 ] } ]",
         {"[ Name = \"m\"; Memory = 2; Constraint = other.Secret == 42 && other.Group != \"x\" ]", "[ Memory = 3 ]"}},
        {"nor where its offer denies another",
         "[ Ports = { [ Label = a; V = b.Memory; Constraint = a.Memory == 2 ], [ Label = b; Constraint = b.Memory == 3 ] } ]",
         {"[ Name = \"m\"; Memory = 2; Constraint = other.V == 42 ]", "[ Memory = 3 ]"}},
        {"nor of a port of an offer for which nobody is left",
         "[ Ports = { [ Label = a; Constraint = a.Memory == 2 ] } ]",
         {"[ Name = \"m\"; Memory = 2; Ports = { [ Label = c ], [ Label = d; Constraint = d.Secret == 42 ] } ]",
          "[ Memory = 3 ]"}},
        {"nor by what a clause comes to when its offer is docked",
         "[ Ports = { [ Label = a; Constraint = a.Memory == 2 ], [ Label = b; Constraint = b.Memory == a.Rank ] } ]",
         {"[ Name = \"m\"; Memory = 2; Rank = 42 ]", "[ Memory = 3 ]"}},
    };
    static const bool all[OFFERS_MAX] = {true, true, true};

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        struct asked asked;
        struct why_names names;
        struct buf out, open;

        buf_init(&out);
        buf_init(&open);
        asked_init(&asked, &dialect_classic, hidden[i].request, hidden[i].offers);
        names = asked_names(&asked);
        asked_explain(&asked, 0, NULL);
        gang_why_print(&open, &asked.why, &names);
        gang_why_done(&asked.why);
        asked.hidden = all;
        asked_explain(&asked, 0, NULL);
        gang_why_print(&out, &asked.why, &names);
        gang_why_print_json(&out, &asked.why, &names);
        if (!tap_ok(asked.why.outcome == GANG_NONE && strstr(buf_string(&open), "42") &&
                        !strstr(buf_string(&out), "42") && strstr(buf_string(&out), "Port a"),
                    "%s", hidden[i].sentence))
            tap_diag("open:\n%s\nhidden:\n%s", buf_string(&open), buf_string(&out));
        asked_done(&asked);
        buf_done(&out);
        buf_done(&open);
    }
}

int main(void)
{
    test_hidden();
    test_budget();
    test_cases();
    test_json();
    test_random();
    return tap_done();
}
