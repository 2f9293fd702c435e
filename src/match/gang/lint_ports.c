/* lint_ports.c: what is wrong with the ports of an ad that can be seen without a pool. */
#include "match/gang/lint_ports.h"

#include "lang/base/buf.h"
#include "lang/base/nearest.h"
#include "match/gang/ports.h"
#include "match/gang/runs.h"

struct looking {
    const struct tree *ad;
    lint_report_fn *report;
    void *user;
    uint64_t *meter;
    symbol attribute; /* Ports as the ad spells it */
    uint32_t port;    /* the number of the next port, as ports_read counts */
    unsigned told_count;
    bool is_job; /* the ad says what is to be run */
    struct buf text;
};

enum place { IN_AD = 1, IN_PORT = 2, IN_GROUP = 4 };

static void tell(struct looking *looking, enum lint_kind kind, symbol attribute)
{
    struct lint_finding finding = {.kind = kind, .attribute = attribute, .function = SYMBOL_NONE};

    if (looking->told_count++ >= LINT_FINDINGS_MAX)
        return;
    finding.text = buf_string(&looking->text);
    looking->report(looking->user, &finding);
}

static void add_name(struct looking *looking, symbol name)
{
    size_t len;
    const char *text = symbols_text(looking->ad->symbols, name, &len);

    buf_add(&looking->text, text, len);
}

/* "Rank of port 2 ", "Rank of the group at port 2 " */
static struct buf *begin(struct looking *looking, symbol attribute, enum place place)
{
    buf_reset(&looking->text);
    add_name(looking, attribute);
    buf_addf(&looking->text, " of %sport %u ", place == IN_GROUP ? "the group at " : "", looking->port);
    return &looking->text;
}

/* Tells of attributes that have a meaning, but not there. */
static void look_at_unread(struct looking *looking, const struct expr *entry, enum place place)
{
    static const struct {
        symbol name;
        unsigned places;
    } rows[] = {
        {NAME_CONSTRAINT, IN_AD | IN_GROUP},
        {NAME_REQUIREMENTS, IN_AD | IN_GROUP},
        {NAME_LABEL, IN_GROUP},
        {NAME_COUNT, IN_GROUP},
        {NAME_SHARE, IN_GROUP},
        {NAME_CHOOSE, IN_PORT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expr *found = rows[i].places & place ? tree_find(looking->ad, entry, rows[i].name) : NULL;

        if (!found)
            continue;
        if (place == IN_AD) {
            buf_reset(&looking->text);
            buf_adds(&looking->text, "is not read, since the ad has Ports: each port has its own");
            tell(looking, LINT_NOT_READ, found->label);
        } else {
            buf_addf(begin(looking, found->label, place), "is not read, since only %s have one",
                     place == IN_GROUP ? "ports" : "groups");
            tell(looking, LINT_NOT_READ, looking->attribute);
        }
    }
}

#define SPELLING_STEPS 256 /* to hold a name against all that have a meaning */

/* Tells of names that have no meaning, but are one slip away from one that has. */
static void look_at_spelling(struct looking *looking, const struct expr *entry, enum place place)
{
    static const char *const names[] = {"Label", "Constraint", "Requirements", "Rank",
                                        "Count", "Share",      "Essential",    "Choose"};
    const struct expr *parts = tree_parts(looking->ad, entry);

    for (uint32_t i = 0; i < entry->u.run.count && *looking->meter <= LINT_STEPS_MAX; i++) {
        struct nearest nearest;
        size_t len;
        const char *text = symbols_text(looking->ad->symbols, parts[i].label, &len);

        *looking->meter += SPELLING_STEPS;
        nearest_init(&nearest, text, len);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            nearest_try(&nearest, names[k]);
        if (!nearest.name || nearest.distance != 1)
            continue;
        buf_addf(begin(looking, parts[i].label, place), "is only shown to whoever docks; did you mean '%s'?",
                 nearest.name);
        tell(looking, LINT_MISSPELT, looking->attribute);
    }
}

/* Looks at an attribute that must be true or false as it stands; anything else counts as if it were absent. Essential may also be an expression: it
 * is evaluated when the member is lost. */
static void look_at_flag(struct looking *looking, const struct expr *entry, enum place place, symbol name,
                         const char *absent)
{
    const struct expr *found = tree_find(looking->ad, entry, name);

    if (!found || found->kind == EXPR_BOOLEAN || (!expr_is_literal(found) && symbol_same(name, NAME_ESSENTIAL)))
        return;
    buf_addf(begin(looking, found->label, place), "is neither true nor false as it stands, so it counts as %s", absent);
    tell(looking, LINT_NOT_BOOLEAN, looking->attribute);
}

/* Tells of a label that is a reserved name: nothing reads the port by it. */
static void look_at_label(struct looking *looking, const struct expr *port)
{
    static const struct {
        symbol name;
        const char *text, *meaning;
    } rows[] = {
        {NAME_SELF, "self", "the ad itself"},
        {NAME_MY, "MY", "the ad itself"},
        {NAME_PARENT, "parent", "the ad around it"},
        {NAME_ROOT, "root", "the outermost ad"},
        {NAME_TARGET, "TARGET", "other"},
    };
    const struct expr *label = tree_find(looking->ad, port, NAME_LABEL);

    for (size_t i = 0; label && i < sizeof rows / sizeof *rows; i++) {
        if (label->kind == EXPR_NAME
                ? !symbol_same(label->u.name.id, rows[i].name)
                : label->kind != EXPR_STRING || !symbols_named(looking->ad->symbols, rows[i].name,
                                                               tree_string(looking->ad, label), label->u.run.count))
            continue;
        buf_addf(begin(looking, label->label, IN_PORT),
                 "is '%s', a name that means %s, so nothing reads the port by it", rows[i].text, rows[i].meaning);
        tell(looking, LINT_SHADOW, looking->attribute);
    }
}

static void look_at_port(struct looking *looking, const struct expr *port)
{
    const struct expr *size = tree_find(looking->ad, port, NAME_SETSIZE);
    symbol executes = symbols_find(looking->ad->symbols, "Executes", 8);

    look_at_unread(looking, port, IN_PORT);
    look_at_spelling(looking, port, IN_PORT);
    look_at_flag(looking, port, IN_PORT, NAME_ESSENTIAL, "true");
    look_at_flag(looking, port, IN_PORT, NAME_SHARE, "false");
    if (executes != SYMBOL_NONE && looking->is_job)
        look_at_flag(looking, port, IN_PORT, executes, "false");
    look_at_label(looking, port);
    if (size && tree_find(looking->ad, port, NAME_COUNT)) {
        buf_adds(begin(looking, size->label, IN_PORT), "hides the number of members that the matchmaker gives");
        tell(looking, LINT_RESERVED, looking->attribute);
    }
}

/* Looks at the entries of a list of ports. What ports_read refuses is left out here. */
static void look_at_list(struct looking *looking, const struct expr *list, unsigned depth)
{
    const struct expr *entries = tree_parts(looking->ad, list);

    for (uint32_t i = 0; i < list->u.run.count && looking->port <= PORTS_MAX; i++) {
        const struct expr *inner = entries[i].kind == EXPR_AD ? tree_find(looking->ad, &entries[i], NAME_PORTS) : NULL;

        if (inner) {
            look_at_unread(looking, &entries[i], IN_GROUP);
            look_at_spelling(looking, &entries[i], IN_GROUP);
            look_at_flag(looking, &entries[i], IN_GROUP, NAME_ESSENTIAL, "true");
            if (inner->kind == EXPR_LIST && depth + 1 < PORTS_GROUP_DEPTH)
                look_at_list(looking, inner, depth + 1);
        } else {
            if (entries[i].kind == EXPR_AD)
                look_at_port(looking, &entries[i]);
            looking->port++;
        }
    }
}

void lint_ports(const struct tree *ad, uint64_t *meter, lint_report_fn *report, void *user)
{
    uint64_t own = 0;
    const struct expr *root = tree_root(ad), *list = tree_find(ad, root, NAME_PORTS);
    struct looking looking = {.ad = ad, .report = report, .user = user, .meter = meter ? meter : &own, .port = 1};
    struct ports ports;
    struct err err = {0};
    symbol command;

    if (!list)
        return;
    looking.attribute = list->label;
    command = symbols_find(ad->symbols, "Cmd", 3);
    looking.is_job = command != SYMBOL_NONE && tree_find(ad, root, command);
    buf_init(&looking.text);
    look_at_unread(&looking, root, IN_AD);
    if (ports_read(&ports, ad, &err) < 0) {
        buf_reset(&looking.text);
        buf_adds(&looking.text, err.text);
        tell(&looking, LINT_WRONG_PORTS, looking.attribute);
    } else {
        buf_reset(&looking.text);
        if (looking.is_job && ports_run_words(&ports, &looking.text))
            tell(&looking, LINT_WHO_EXECUTES, looking.attribute);
        ports_done(&ports);
    }
    if (list->kind == EXPR_LIST)
        look_at_list(&looking, list, 0);
    buf_done(&looking.text);
}
