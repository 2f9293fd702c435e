/* lint_ports_test.c: what lint finds in an ad with ports, and that it finds nothing where nothing is wrong. */
#include "common/lang.h"
#include "common/tap.h"

#include "match/gang/lint_ports.h"

static const struct finding_case {
    const char *sentence;
    const struct dialect *dialect; /* NULL: classic */
    const char *ad;
    const char *findings; /* a line each: attribute, kind, text */
} cases[] = {
    {"an ad without ports is left alone", NULL, "[ Constraint = other.x; Rank = 1; Essential = 1; Choose = 2 ]", ""},
    {"two hosts on one subnet are left alone (figure 8)", NULL,
     "[ Owner = \"raman\"; Priority = 23.7; Ports = {"
     "  [ Label = Host1; Executable = \"a.out\"; ImageSize = 25.7M; Constraint = Host1.Arch == \"INTEL\" &&"
     "    Host1.OpSys == \"LINUX\" && Host1.VirtualMemory > ImageSize; Rank = Host1.MIPS ],"
     "  [ Label = Host2; Executable = \"b.out\"; ImageSize = 22.7M; Constraint = Host2.Arch == \"INTEL\" &&"
     "    Host2.VirtualMemory > ImageSize && Host1.Subnet == Host2.Subnet; Rank = Host2.KFlops ] } ]",
     ""},
    {"a rendering service is left alone (figure 10)", NULL,
     "[ Ports = {"
     "  [ Label = request; Type = \"render_server\"; Constraint = request.Type == \"render_client\" && request.Owner != "
     "\"rival\"; Rank = 0 ],"
     "  [ Label = cpu; ImageSize = 27.2M; StdIn = request.sceneFile; Constraint = cpu.Arch == \"INTEL\" && "
     "cpu.VirtualMemory > ImageSize; Rank = cpu.Memory ],"
     "  [ Label = license; HostName = cpu.Name; Constraint = license.App == \"do_render\"; Rank = 0 ] } ]",
     ""},
    {"a set, a group, and labels that are strings are left alone", NULL,
     "[ Ports = {"
     "  [ Label = \"cpu\"; Constraint = cpu.Memory >= 64 && Arch == \"INTEL\" ],"
     "  [ Label = node; Count = { 2, 16 }; Share = false; Constraint = node.Host == cpu.Host && sum(node.Cpus) >= 32;"
     "    Rank = -SetSize ],"
     "  [ Choose = 1; Essential = false; Ports = { [ Label = matlab; Constraint = matlab.Host == cpu.Host ],"
     "    [ Label = octave; Essential = true; Constraint = octave.Host == node.Host ] } ] } ]",
     ""},
    {"a port that does not read its own label is left alone", NULL,
     "[ Ports = { [ Label = cpu; Constraint = Memory > 64 ], [ Label = disk ] } ]", ""},
    {"an attribute of the ad may read any label", NULL,
     "[ Size = cpu.Memory + disk.Size; Ports = { [ Label = cpu ], [ Label = disk ] } ]", ""},

    {"a job with one port is left alone", NULL, "[ Cmd = \"a\"; Ports = { [ Label = cpu ] } ]", ""},
    {"a job whose ports ask for machines, or say where it runs, is left alone", NULL,
     "[ Cmd = \"a\"; Ports = { [ Label = disk ], [ Label = cpu; Constraint = cpu.Type == \"Machine\" && cpu.Memory > 1 ] } ]",
     ""},
    {"the same where it says so", NULL,
     "[ Cmd = \"a\"; Ports = { [ Label = disk ], [ Label = cpu; Executes = true ] } ]", ""},
    {"a job whose ports do not say where it runs is told where it does", NULL,
     "[ Cmd = \"a\"; Ports = { [ Label = cpu; Constraint = cpu.Memory > 1 ], [ Label = gpu; Constraint = gpu.Memory > 1 ] } ]",
     "Ports who-executes: no port says Executes, and none asks for a machine by its Type, so the job runs at the first "
     "alone, cpu: say Executes = true in each port at which it runs\n"},
    {"a job whose ports say that it runs at none is told so", NULL,
     "[ Cmd = \"a\"; Ports = { [ Label = cpu; Executes = 1 ], [ Label = gpu; Executes = false ] } ]",
     "Ports who-executes: no port says Executes = true, so the job would run nowhere: say so in each port at which it "
     "runs\n"
     "Ports not-boolean: Executes of port 1 is neither true nor false as it stands, so it counts as false\n"},

    {"a port reads no later label", NULL,
     "[ Ports = { [ Label = a; Constraint = a.x && b.x; Rank = \"c\" == c[\"x\"] ? 1 : 2 ], [ Label = b ], [ Label = \"c\" ] "
     "} ]",
     "Ports later-label: port 1 reads 'b', the label of port 2, which is filled later: there it is undefined\n"
     "Ports later-label: port 1 reads 'c', the label of port 3, which is filled later: there it is undefined\n"},
    {"ports in groups are counted in their place", NULL,
     "[ Ports = { [ Label = a ], [ Choose = 1; Ports = { [ Label = b; Constraint = c.x && a.x ],"
     "  [ Choose = 1; Ports = { [ Label = c; Constraint = b.y && d.x ] } ] } ], [ Label = d; Constraint = c.x ] } ]",
     "Ports later-label: port 2 reads 'c', the label of port 3, which is filled later: there it is undefined\n"
     "Ports later-label: port 3 reads 'd', the label of port 4, which is filled later: there it is undefined\n"},
    {"constraints and ranks in groups are looked at", NULL,
     "[ Ports = { [ Choose = 1; Limit = 5; Ports = { [ Label = a; Constraint = Limit > 6 ],"
     "  [ Label = b; Constraint = b.x < 1 && x > 2; Rank = membr(b.y, {}) ] } ] } ]",
     "Ports never-true: Constraint of port 1 is always false, so nothing matches\n"
     "Ports contradiction: 'b.x < 1' and 'x > 2' are never both true\n"
     "Ports no-preference: Rank of port 2 is always error, so it prefers nobody\n"
     "Ports unknown-function: there is no function 'membr'\n"},
    {"an attribute of one port and of another are two", NULL,
     "[ Ports = { [ Label = a; Constraint = a.x < 1 ], [ Label = b; Constraint = a.x < 1 && b.x > 2 && x < 9 ] } ]",
     ""},
    {"a label one slip away is suspected", NULL,
     "[ Ports = { [ Label = host; Constraint = hots.Memory > 1 && hosts.x && ghosts.x ], [ Label = node2; Rank = node1.x "
     "] } ]",
     "Ports misspelt: no port of this ad is labelled 'hots', so it is asked of the counterpart; was 'host' meant?\n"
     "Ports misspelt: no port of this ad is labelled 'hosts', so it is asked of the counterpart; was 'host' meant?\n"},

    {"an attribute that hides a label is told, where the label is in force", NULL,
     "[ cpu = 1; Ports = { [ Label = \"cpu\"; Disk = 5 ], [ Label = disk; CPU = 2 ] } ]",
     "cpu shadow: the attribute 'cpu' hides the label of port 1\n"
     "Ports shadow: the attribute 'CPU' hides the label of port 1\n"},
    {"a label that means something else is told, and is not taken for a later one", NULL,
     "[ Ports = { [ Label = a; b = self.Label; c = TARGET.x ], [ Label = self; Constraint = self.x; x = true ],"
     "  [ Label = \"target\" ], [ Label = my; a = MY.Label ] } ]",
     "Ports shadow: the attribute 'a' hides the label of port 1\n"
     "Ports shadow: Label of port 2 is 'self', a name that means the ad itself, so nothing reads the port by it\n"
     "Ports shadow: Label of port 3 is 'TARGET', a name that means other, so nothing reads the port by it\n"
     "Ports shadow: Label of port 4 is 'MY', a name that means the ad itself, so nothing reads the port by it\n"},

    {"a constraint outside the ports is not read; a rank there is that of ports without one", NULL,
     "[ Constraint = false; requirements = 5; Rank = self.y is undefined ? 1 : 0; Ports = { [ Label = a ] } ]",
     "Constraint not-read: is not read, since the ad has Ports: each port has its own\n"
     "requirements not-read: is not read, since the ad has Ports: each port has its own\n"},
    {"nor is it in a group", NULL,
     "[ ports = { [ Label = a ], [ Choose = 1; Label = g; Count = 2; Rank = 1; Ports = { [ Label = b ] } ] } ]",
     "ports not-read: Label of the group at port 2 is not read, since only ports have one\n"
     "ports not-read: Count of the group at port 2 is not read, since only ports have one\n"},
    {"a port chooses nothing", NULL, "[ Ports = { [ Label = a; Choose = 1 ] } ]",
     "Ports not-read: Choose of port 1 is not read, since only groups have one\n"},

    {"a port's own names are known by one slip", NULL,
     "[ Ports = { [ Label = a; Constrain = a.x; Rnak = 1 ], [ Choose = 1; Esential = false; Ports = { [ Label = b; Cost = 1 ] } ] } ]",
     "Ports misspelt: Constrain of port 1 is only shown to whoever docks; did you mean 'Constraint'?\n"
     "Ports misspelt: Rnak of port 1 is only shown to whoever docks; did you mean 'Rank'?\n"
     "Ports misspelt: Esential of the group at port 2 is only shown to whoever docks; did you mean 'Essential'?\n"},
    {"Share is true or false as it stands, Essential as well or an expression", NULL,
     "[ Ports = { [ Label = a; Essential = 0 ], [ Label = b; Share = \"yes\"; Essential = JobRunTime < 60 ],"
     "  [ Essential = \"x\"; Choose = 1; Ports = { [ Label = c; Share = !true ] } ] } ]",
     "Ports not-boolean: Essential of port 1 is neither true nor false as it stands, so it counts as true\n"
     "Ports not-boolean: Share of port 2 is neither true nor false as it stands, so it counts as false\n"
     "Ports not-boolean: Essential of the group at port 3 is neither true nor false as it stands, so it counts as true\n"
     "Ports not-boolean: Share of port 3 is neither true nor false as it stands, so it counts as false\n"},
    {"SetSize is for sets", NULL,
     "[ Ports = { [ Label = a; Rank = SetSize ], [ Label = b; Count = 2; Rank = SetSize ], [ Label = c; SetSize = 3; Rank = "
     "SetSize ] } ]",
     "Ports no-set: port 1 reads 'SetSize', but it has no Count, so it is asked of the counterpart\n"},
    {"a set's own SetSize hides that of the matchmaker", NULL,
     "[ Ports = { [ Label = a; Count = 2; setsize = 3; Rank = a.x ] } ]",
     "Ports reserved: setsize of port 1 hides the number of members that the matchmaker gives\n"},

    {"Ports that are no list are refused, and the rest is looked at", NULL, "[ Ports = 5; a = size() ]",
     "a argument-count: size(X) takes 1 argument, not 0\n"
     "Ports wrong-ports: Ports is not a list of ads\n"},
    {"a port that is no ad is refused", NULL, "[ Ports = { [ Label = a ], size() } ]",
     "Ports argument-count: size(X) takes 1 argument, not 0\n"
     "Ports wrong-ports: port 2 is not an ad\n"},
    {"a port without a label is refused, and looked at", NULL, "[ Ports = { [ Constraint = 1 ] } ]",
     "Ports never-true: Constraint of port 1 is always of type integer, which is not a condition, so nothing matches\n"
     "Ports wrong-ports: port 1 has no Label\n"},
    {"a label twice is refused", NULL, "[ Ports = { [ Label = a ], [ Label = A ] } ]",
     "Ports wrong-ports: ports 1 and 2 have the same Label, A\n"},
    {"a wrong Count is refused", NULL, "[ Ports = { [ Label = a; Count = x ] } ]",
     "Ports wrong-ports: the Count of port 1 is neither a number from 1 to 256 nor { least, most }\n"},
    {"a wrong Choose is refused", NULL, "[ Ports = { [ Choose = 2; Ports = { [ Label = a ] } ] } ]",
     "Ports wrong-ports: the Choose of the group at port 1 is neither a number from 1 to 1, its entries, nor { least, most "
     "}\n"},
};

struct notes {
    const struct symbols *symbols;
    struct buf *out;
    unsigned count;
};

static void note_finding(void *user, const struct lint_finding *finding)
{
    struct notes *notes = user;
    size_t len;

    notes->count++;
    buf_adds(notes->out, symbols_text(notes->symbols, finding->attribute, &len));
    buf_addf(notes->out, " %s: %s\n", lint_kind_name(finding->kind), finding->text);
}

/* All findings as `berth lint` tells them. */
static void lint_both(struct lang *lang, const struct tree *ad, struct notes *ret)
{
    *ret = (struct notes){lang->symbols, lang_scratch(), 0};
    lint_ad(&lang->arena, ad, NULL, note_finding, ret);
    lint_ports(ad, NULL, note_finding, ret);
}

static void check_case(struct lang *lang, const struct finding_case *row)
{
    struct err err = {0};
    struct tree *ad = lang_ad(lang, row->dialect ? row->dialect : &dialect_classic, row->ad, &err);
    size_t names = symbols_count(lang->symbols);
    struct notes notes = {0};

    if (ad)
        lint_both(lang, ad, &notes);
    if (!tap_ok(ad && !strcmp(buf_string(notes.out), row->findings) && symbols_count(lang->symbols) == names, "%s",
                row->sentence))
        tap_diag("%s\n%s\nexpected:\n%sgot:\n%s", row->ad, err.text, row->findings,
                 notes.out ? buf_string(notes.out) : "");
    tree_unref(ad);
}

/* Many wrong entries, most of which are not ports at all. */
static void check_large(struct lang *lang)
{
    struct buf text;
    struct notes notes;
    struct tree *ad;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    for (int i = 0; i < 20000; i++)
        buf_addf(&text, "[ Ports = {}; Requirements = 1 ], [ Label = l%d; Constraint = l%d.x && SetSize ], ", i, i + 1);
    buf_adds(&text, "[ Label = a ] } ]");
    ad = lang_ad(lang, &dialect_classic, buf_string(&text), NULL);
    tap_ok(ad != NULL, "an ad with 40000 entries in its Ports is read");
    lint_both(lang, ad, &notes);
    tap_ok(notes.count == 2 * LINT_FINDINGS_MAX, "%d findings are told of its expressions, and as many of its ports",
           LINT_FINDINGS_MAX);
    tree_unref(ad);
    buf_done(&text);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&lang, &cases[i]);
    check_large(&lang);
    lang_done(&lang);
    return tap_done();
}
