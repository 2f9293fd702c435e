/* ports_test.c: the ports that an ad says it has, and the reasons why some are refused. */
#include "common/lang.h"
#include "common/tap.h"

#include "match/gang/ports.h"

/* The ports as a line: label, members, and marks: s a set, o optional, = shared, @n in group n; then the groups. */
static const struct ports_case {
    const char *sentence;
    const struct dialect *dialect; /* NULL: classic */
    const char *ad;
    const char *ports; /* as above, or "! " and the reason */
} cases[] = {
    {"an ad without Ports has one port, the ad itself, labelled other", NULL, "[ Constraint = other.x ]", "other 1..1"},
    {"so has an empty ad", NULL, "[]", "other 1..1"},
    {"labels are names or strings", NULL, "[ Ports = { [ Label = cpu ], [ label = \"Disk\" ] } ]",
     "cpu 1..1, Disk 1..1"},
    {"a quoted name is a label in condor", &dialect_condor, "[ Ports = { [ Label = 'a b' ], [ Label = \"c d\" ] } ]",
     "a b 1..1, c d 1..1"},
    {"a label may be other, or a name of the ad", NULL, "[ cpu = 1; Ports = { [ Label = other ], [ Label = cpu ] } ]",
     "other 1..1, cpu 1..1"},
    {"a port with a Count is a set, of one as well", NULL,
     "[ Ports = { [ Label = a; Count = 16 ], [ Label = b; Count = { 0, 3 } ], [ Label = c; Count = 1 ] } ]",
     "a 16..16 s, b 0..3 s, c 1..1 s"},
    {"a set has up to 256 members", NULL, "[ Ports = { [ Label = a; Count = { 256, 256 } ] } ]", "a 256..256 s"},
    {"ports are optional and shared if they say so in so many words", NULL,
     "[ Ports = { [ Label = a; Essential = false ], [ Label = b; Share = true ], [ Label = c; Essential = true; Share = "
     "false ], [ Label = d; Essential = 0; Share = 1 < 2 ] } ]",
     "a 1..1 o, b 1..1 =, c 1..1, d 1..1"},
    {"the ports of a group stand in its place", NULL,
     "[ Ports = { [ Label = a ], [ Choose = 1; Ports = { [ Label = b ], [ Label = c ] } ], [ Label = d ] } ]",
     "a 1..1, b 1..1 @0, c 1..1 @0, d 1..1; group 1..1 of 1-3"},
    {"groups stand in groups, the outer ones first", NULL,
     "[ Ports = { [ Choose = { 0, 2 }; Essential = false; Ports = { [ Label = a ], [ Choose = 1; Ports = { [ Label = b ] } "
     "] } ], [ Choose = 1; Ports = { [ Label = c ] } ] } ]",
     "a 1..1 @0, b 1..1 @1, c 1..1 @2; group 0..2 of 0-2 o; group 1..1 of 1-2 in 0; group 1..1 of 2-3"},

    {"Ports must be a list", NULL, "[ Ports = [ Label = a ] ]", "! Ports is not a list of ads"},
    {"it must hold something", NULL, "[ Ports = {} ]", "! Ports is not a list of ads"},
    {"it must be written out", NULL, "[ p = { [ Label = a ] }; Ports = p ]", "! Ports is not a list of ads"},
    {"it must hold ads", NULL, "[ Ports = { [ Label = a ], 5 } ]", "! port 2 is not an ad"},
    {"a port must have a label", NULL, "[ Ports = { [ Constraint = true ] } ]", "! port 1 has no Label"},
    {"a label must not be computed", NULL, "[ Ports = { [ Label = a ], [ Label = 1 + 1 ] } ]",
     "! the Label of port 2 is neither a name nor a string that could be one"},
    {"a label must not be a path", NULL, "[ Ports = { [ Label = a.b ] } ]",
     "! the Label of port 1 is neither a name nor a string that could be one"},
    {"a label must not be empty", &dialect_condor, "[ Ports = { [ Label = \"\" ] } ]",
     "! the Label of port 1 is neither a name nor a string that could be one"},
    {"a string that no reference could name is no label", NULL, "[ Ports = { [ Label = \"a b\" ] } ]",
     "! the Label of port 1 is neither a name nor a string that could be one"},
    {"a label that would act on a terminal is refused", &dialect_condor, "[ Ports = { [ Label = 'a\x1b[31m' ] } ]",
     "! the Label of port 1 has a control character in it"},
    {"so is one of two lines", &dialect_condor, "[ Ports = { [ Label = a ], [ Label = \"b\\nPorts: none\" ] } ]",
     "! the Label of port 2 has a control character in it"},
    {"and one with a control character of two bytes", &dialect_condor, "[ Ports = { [ Label = 'a\xc2\x9b' ] } ]",
     "! the Label of port 1 has a control character in it"},
    {"quotes do no harm", &dialect_condor, "[ Ports = { [ Label = \"it's \\\"a\\\"\" ] } ]", "it's \"a\" 1..1"},
    {"nor is a word of the language", NULL, "[ Ports = { [ Label = \"true\" ] } ]",
     "! the Label of port 1 is neither a name nor a string that could be one"},
    {"no label stands twice, whatever its case", NULL,
     "[ Ports = { [ Label = a ], [ Label = b ], [ Label = \"A\" ] } ]", "! ports 1 and 3 have the same Label, A"},
    {"nor in a group", NULL, "[ Ports = { [ Label = a ], [ Choose = 1; Ports = { [ Label = b ], [ Label = a ] } ] } ]",
     "! ports 1 and 3 have the same Label, a"},
    {"a reason has the label as it would be written", &dialect_condor,
     "[ Ports = { [ Label = \"it's\" ], [ Label = \"it's\" ] } ]", "! ports 1 and 2 have the same Label, 'it\\'s'"},
    {"no set is empty", NULL, "[ Ports = { [ Label = a; Count = 0 ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"no set has 257 members", NULL, "[ Ports = { [ Label = a; Count = { 1, 257 } ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"a set has no less than none", NULL, "[ Ports = { [ Label = b ], [ Label = a; Count = -1 ] } ]",
     "! the Count of port 2 is neither a number from 1 to 256 nor { least, most }"},
    {"the least is not above the most", NULL, "[ Ports = { [ Label = a; Count = { 3, 2 } ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"a range has two ends", NULL, "[ Ports = { [ Label = a; Count = { 3 } ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"a count past 32 bits does not come back small", NULL, "[ Ports = { [ Label = a; Count = 4294967297 ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"a count is an integer", NULL, "[ Ports = { [ Label = a; Count = 2.0 ] } ]",
     "! the Count of port 1 is neither a number from 1 to 256 nor { least, most }"},
    {"a group must say how many", NULL, "[ Ports = { [ Label = x ], [ Ports = { [ Label = a ] } ] } ]",
     "! the group at port 2 has no Choose"},
    {"a group has as many entries as are chosen", NULL,
     "[ Ports = { [ Choose = 3; Ports = { [ Label = a ], [ Label = b ] } ] } ]",
     "! the Choose of the group at port 1 is neither a number from 1 to 2, its entries, nor { least, most }"},
    {"none is not a choice", NULL, "[ Ports = { [ Choose = { 0, 0 }; Ports = { [ Label = a ] } ] } ]",
     "! the Choose of the group at port 1 is neither a number from 1 to 1, its entries, nor { least, most }"},
    {"a group must hold something", NULL, "[ Ports = { [ Choose = 1; Ports = {} ] } ]",
     "! the Ports of the group at port 1 are not a list of ads"},
    {"what is in a group must be a port", NULL, "[ Ports = { [ Label = a ], [ Choose = 1; Ports = { 1 } ] } ]",
     "! port 2 is not an ad"},
};

static void show(struct buf *out, const struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        const struct port *port = &ports->items[i];
        size_t len;
        const char *label = port_label(ports, i, &len);

        buf_addf(out, "%s%.*s %u..%u", i ? ", " : "", (int)len, label, port->min, port->max);
        if (port->set || port->optional || port->share)
            buf_addf(out, " %s%s%s", port->set ? "s" : "", port->optional ? "o" : "", port->share ? "=" : "");
        if (port->group != PORTS_NO_GROUP)
            buf_addf(out, " @%u", port->group);
    }
    for (uint32_t i = 0; i < ports->group_count; i++) {
        const struct port_group *group = &ports->groups[i];

        buf_addf(out, "; group %u..%u of %u-%u", group->min, group->max, group->first, group->end);
        if (group->outer != PORTS_NO_GROUP)
            buf_addf(out, " in %u", group->outer);
        buf_adds(out, group->optional ? " o" : "");
    }
}

/* The ports of a text, as a line that the caller does not free. */
static const char *ports_of(struct lang *lang, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(lang, dialect, text, &err);
    struct buf *out = lang_scratch();
    struct ports ports;

    if (!ad) {
        buf_addf(out, "does not parse: %s", err.text);
    } else if (ports_read(&ports, ad, &err) < 0) {
        buf_addf(out, "! %s", err.text);
    } else {
        show(out, &ports);
        ports_done(&ports);
    }
    tree_unref(ad);
    return buf_string(out);
}

static void check_case(struct lang *lang, const struct ports_case *row)
{
    const char *got = ports_of(lang, row->dialect ? row->dialect : &dialect_classic, row->ad);

    if (!tap_ok(!strcmp(got, row->ports), "%s", row->sentence))
        tap_diag("%s\nexpected: %s\ngot: %s", row->ad, row->ports, got);
}

/* ----------------------------------------------------------------------------------------------------------- limits */

/* Is an ad with a label of so many bytes read; else why not? */
static const char *read_long(struct lang *lang, int len)
{
    struct buf text;
    const char *got;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { [ Label = ");
    for (int i = 0; i < len; i++)
        buf_addc(&text, 'x');
    buf_adds(&text, " ] } ]");
    got = ports_of(lang, &dialect_classic, buf_string(&text));
    buf_done(&text);
    return got;
}

/* Is an ad of so many ports, half of them in a group, read; else why not? */
static const char *read_many(struct lang *lang, int count)
{
    struct buf text;
    const char *got;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    for (int i = 0; i < count / 2; i++)
        buf_addf(&text, "[ Label = p%d ], ", i);
    buf_adds(&text, "[ Choose = 1; Ports = { ");
    for (int i = count / 2; i < count; i++)
        buf_addf(&text, "%s[ Label = p%d ]", i > count / 2 ? ", " : "", i);
    buf_adds(&text, " } ] } ]");
    got = ports_of(lang, &dialect_classic, buf_string(&text));
    buf_done(&text);
    return got;
}

static const char *read_deep(struct lang *lang, int depth)
{
    struct buf text;
    const char *got;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    for (int i = 0; i < depth; i++)
        buf_adds(&text, "[ Choose = 1; Ports = { ");
    buf_adds(&text, "[ Label = a ]");
    for (int i = 0; i < depth; i++)
        buf_adds(&text, " } ]");
    buf_adds(&text, " } ]");
    got = ports_of(lang, &dialect_classic, buf_string(&text));
    buf_done(&text);
    return got;
}

static void check_limits(struct lang *lang)
{
    const char *got = read_many(lang, PORTS_MAX);

    tap_ok(*read_long(lang, PORTS_LABEL_MAX) == 'x', "a label has up to %d bytes", PORTS_LABEL_MAX);
    tap_ok(!strcmp(read_long(lang, PORTS_LABEL_MAX + 1), "! the Label of port 1 is longer than 128 bytes"),
           "and no more");
    tap_ok(!strcmp(read_long(lang, 500000), "! the Label of port 1 is longer than 128 bytes"),
           "nor half a million of them");

    if (!tap_ok(*got == 'p' && strstr(got, "p63 1..1 @0; group 1..1 of 32-64"), "an ad has up to %d ports", PORTS_MAX))
        tap_diag("%s", got);
    got = read_many(lang, PORTS_MAX + 1);
    if (!tap_ok(!strcmp(got, "! an ad has at most 64 ports"), "those in groups are counted too"))
        tap_diag("%s", got);
    got = read_deep(lang, PORTS_GROUP_DEPTH);
    if (!tap_ok(!strncmp(got, "a 1..1 @7; ", 11), "groups are up to %d deep", PORTS_GROUP_DEPTH))
        tap_diag("%s", got);
    got = read_deep(lang, PORTS_GROUP_DEPTH + 1);
    if (!tap_ok(!strcmp(got, "! groups of ports are more than 8 deep"), "and no deeper"))
        tap_diag("%s", got);
}

/* --------------------------------------------------------------------------------------------- what is found in them */

static bool shows(const struct ports *ports, const struct expr *e, const char *expected)
{
    struct buf *out = lang_scratch();

    if (!e)
        return !expected;
    print_expr(out, ports->ad, e, PRINT_PLAIN);
    return expected && !strcmp(buf_string(out), expected);
}

static void check_constraints(struct lang *lang)
{
    struct tree *ad = lang_ad(lang, &dialect_classic,
                              "[ Constraint = zz; Ports = { [ Label = a; Requirements = a.x; Constraint = a.y ], "
                              "[ Label = b; Requirements = b.x ], [ Label = c ] } ]",
                              NULL);
    struct tree *plain = lang_ad(lang, &dialect_classic, "[ Requirements = other.x ]", NULL);
    struct ports ports;

    tap_ok(ad && ports_read(&ports, ad, NULL) == 0, "no reason need be asked for");
    tap_ok(shows(&ports, port_constraint(&ports, 0), "a.y"), "the constraint of a port is its Constraint");
    tap_ok(shows(&ports, port_constraint(&ports, 1), "b.x"), "else its Requirements");
    tap_ok(shows(&ports, port_constraint(&ports, 2), NULL), "never that of the ad around it");
    tap_ok(!ports.implicit, "ports that are written are not implicit");
    ports_done(&ports);
    tap_ok(plain && ports_read(&ports, plain, NULL) == 0 && shows(&ports, port_constraint(&ports, 0), "other.x"),
           "that of the implicit port is the ad's");
    tap_ok(ports.implicit && ports.items[0].ad == tree_root(plain), "which the implicit port is");
    ports_done(&ports);
    tree_unref(ad);
    tree_unref(plain);
}

static void check_group_ads(struct lang *lang)
{
    struct tree *ad =
        lang_ad(lang, &dialect_classic,
                "[ Ports = { [ Choose = 1; which = 1; Ports = { [ Label = a ], [ which = 2; Choose = 1; Ports "
                "= { [ Label = b ] } ] } ] } ]",
                NULL);
    symbol which = symbols_find(lang->symbols, "which", 5);
    struct ports ports;
    bool right = true;

    tap_ok(ad && ports_read(&ports, ad, NULL) == 0 && ports.group_count == 2, "a group in a group makes two");
    for (uint32_t i = 0; i < ports.group_count; i++)
        right = right && tree_find(ad, ports.groups[i].ad, which)->u.integer == (int64_t)i + 1;
    tap_ok(right, "a group knows its ad, the outer one first");
    ports_done(&ports);
    tree_unref(ad);
}

/* Labels keep their symbols as long as the ports are there, and no longer. `at_start`: how many there were before any ad. */
static void check_symbols(struct lang *lang, size_t at_start)
{
    static const char *const names[] = {"other", "Label", "Ports"};
    size_t before = symbols_count(lang->symbols);
    struct tree *ad;
    struct ports ports;
    bool known = true;

    tap_ok(before == at_start, "every symbol is given back, those of ports that are refused as well");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known && symbols_find(lang->symbols, names[i], strlen(names[i])) != SYMBOL_NONE;
    tap_ok(known && symbols_named(lang->symbols, NAME_OTHER, "other", 5), "the names of the language stay known");

    ad = lang_ad(lang, &dialect_classic, "[ Ports = { [ Label = \"fresh\" ] } ]", NULL);
    before = symbols_count(lang->symbols);
    tap_ok(ad && ports_read(&ports, ad, NULL) == 0 && symbols_count(lang->symbols) == before + 1,
           "a label that is a string takes a symbol");
    ports_done(&ports);
    tap_ok(symbols_count(lang->symbols) == before, "which goes with the ports");
    ports_done(&ports);
    ports_done(NULL);
    tap_ok(symbols_count(lang->symbols) == before, "there is no harm in being done twice");
    tree_unref(ad);
}

int main(void)
{
    struct lang lang;
    size_t at_start;

    lang_init(&lang);
    at_start = symbols_count(lang.symbols);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&lang, &cases[i]);
    check_limits(&lang);
    check_constraints(&lang);
    check_group_ads(&lang);
    check_symbols(&lang, at_start);
    lang_done(&lang);
    return tap_done();
}
