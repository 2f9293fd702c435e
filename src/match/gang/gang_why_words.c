/* gang_why_words.c: an explanation of a gang in words.
 *
 *     job1: gets no gang from 2 offers now.
 *     Port Cpu: 0 of 2 offers fit.
 *            alone     left  clause
 *                1        1  Cpu.Arch == "INTEL"
 *                0        0  Cpu.OpSys == "LINUX"
 *     Port License: 1 of 2 offers fits.
 *     Port Cpu cannot be filled.
 *     The search died at port Cpu, with nothing docked: Cpu.OpSys == "LINUX" is true of nobody. */
#include "lang/text/print.h"
#include "match/gang/gang_why_parts.h"

#include <string.h>

#define TEXT_MAX 100 /* bytes of an expression that are shown */

struct words {
    struct buf *out;
    const struct gang_why *why;
    const struct why_names *names;
};

bool gang_why_seat_again(const struct gang_why_seat *seats, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (seats[i].parent == seats[n].parent && !strcmp(seats[i].label, seats[n].label))
            return true;
    return false;
}

void gang_why_seat_path(struct buf *out, const struct gang_why_seat *seats, uint32_t count, uint32_t parent,
                        const char *label)
{
    for (uint32_t i = 0; i < count && parent; i++) {
        if (seats[i].member != parent)
            continue;
        gang_why_seat_path(out, seats, count, seats[i].parent, seats[i].label);
        buf_addc(out, '.');
        break;
    }
    buf_adds(out, label);
}

/* ------------------------------------------------------------------------------------------------------------------- words */

/* Makes a text fit to be shown: a byte that could control a terminal becomes a question mark; a long text is cut. */
static void make_fit(struct buf *out, size_t from)
{
    for (size_t i = from; i < out->len; i++)
        if ((unsigned char)out->text[i] < ' ' || out->text[i] == 127)
            out->text[i] = '?';
    if (out->len - from <= TEXT_MAX)
        return;
    out->len = from + TEXT_MAX;
    while (out->len > from && ((unsigned char)out->text[out->len] & 0xc0) == 0x80)
        out->len--;
    buf_adds(out, "...");
}

static void add_text(const struct words *words, const char *text)
{
    size_t from = words->out->len;

    buf_adds(words->out, text);
    make_fit(words->out, from);
}

static void add_expr(const struct words *words, const struct tree *tree, const struct expr *e)
{
    size_t from = words->out->len;

    print_expr(words->out, tree, e, PRINT_PLAIN | PRINT_AMOUNTS);
    make_fit(words->out, from);
}

static void add_offer(const struct words *words, size_t offer)
{
    size_t from = words->out->len;

    words->names->offer(words->names->user, offer, words->out);
    make_fit(words->out, from);
}

static void add_offers(const struct words *words, size_t n)
{
    buf_add_count(words->out, n);
    buf_adds(words->out, n == 1 ? " offer" : " offers");
}

/* Adds "1 offer", "8 offers"; where some offers have several ports, the ports are counted, and called candidates. */
static void add_count(const struct words *words, size_t n)
{
    bool ports = words->why->faces > words->why->offers;

    buf_add_count(words->out, n);
    buf_addf(words->out, " %s%s", ports ? "candidate" : "offer", n == 1 ? "" : "s");
}

static void add_path(const struct words *words, const struct gang_why_seat *seats, uint32_t count, uint32_t parent,
                     const char *label)
{
    size_t from = words->out->len;

    gang_why_seat_path(words->out, seats, count, parent, label);
    make_fit(words->out, from);
}

/* Cpu = m7, node = {n1, n2}, gpu = nobody */
static void add_seats(const struct words *words, const struct gang_why_seat *seats, uint32_t count)
{
    const char *comma = "";

    for (uint32_t i = 0; i < count; i++) {
        const char *between = "";

        if (gang_why_seat_again(seats, i))
            continue;
        buf_adds(words->out, comma);
        add_path(words, seats, count, seats[i].parent, seats[i].label);
        buf_adds(words->out, seats[i].set ? " = {" : " = ");
        for (uint32_t k = i; k < count; k++) {
            if (k > i && (seats[k].parent != seats[i].parent || strcmp(seats[k].label, seats[i].label) != 0))
                continue;
            buf_adds(words->out, between);
            if (seats[k].offer == SEAT_NOBODY)
                buf_adds(words->out, "nobody");
            else
                add_offer(words, seats[k].offer);
            between = ", ";
        }
        buf_adds(words->out, seats[i].set ? "}" : "");
        comma = ", ";
    }
}

static void say_verdict(const struct words *words)
{
    const struct gang_why *why = words->why;

    add_text(words, words->names->request);
    if (why->outcome == GANG_FORMED) {
        buf_adds(words->out, ": gets a gang from ");
        add_offers(words, why->offers);
        buf_adds(words->out, ": ");
        add_seats(words, why->gang, why->gang_count);
        buf_adds(words->out, why->gang_count ? ".\n" : "nobody, for it needs nobody.\n");
    } else if (why->outcome == GANG_GAVE_UP) {
        buf_addf(words->out, ": the search gave up after %llu candidate%s; whether there is a gang is not known.\n",
                 (unsigned long long)why->nodes, why->nodes == 1 ? "" : "s");
    } else if (why->never) {
        buf_adds(words->out, ": can never get a gang, whatever the pool holds.\n");
    } else if (why->offers == 0) {
        buf_adds(words->out, ": gets no gang, for there are no offers.\n");
    } else {
        buf_adds(words->out, ": gets no gang from ");
        add_offers(words, why->offers);
        buf_adds(words->out, " now.\n");
    }
    if (why->broken)
        buf_addf(words->out, "%zu offer%s ports that are not in order: nobody docks there.\n", why->broken,
                 why->broken == 1 ? " has" : "s have");
}

/* Adds the text with each line indented. */
static void add_indented(struct buf *out, const struct buf *text)
{
    const char *at = text->text, *end = text->text + text->len, *newline;

    for (; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            newline = end - 1;
        buf_adds(out, "  ");
        buf_add(out, at, (size_t)(newline - at) + 1);
    }
}

/* Keeps only the refusals and hints that matter to this port. A pool for gangs holds offers of many kinds: it is no news that those for other ports
 * refuse, or lack a name. `hints` has room for all. */
static void only_own(struct why *why, struct why_hint *hints)
{
    uint32_t refusals = 0, count = 0;

    while (refusals < why->refusal_count && why->refusals[refusals].fitting)
        refusals++; /* those of fitting offers come first */
    why->refusal_count = refusals;
    for (uint32_t i = 0; i < why->hint_count; i++)
        if (why->hints[i].kind != WHY_MISSING)
            hints[count++] = why->hints[i];
    why->hints = hints;
    why->hint_count = count;
}

static void say_reasons(const struct words *words, const struct gang_why_port *item)
{
    struct why_names names = {
        .request = words->names->request, .offer = words->names->offer, .user = words->names->user};
    struct why_hint hints[WHY_HINTS_MAX];
    struct why shown = item->why;
    struct buf reasons;

    only_own(&shown, hints);
    buf_init(&reasons);
    why_print_reasons(&reasons, &shown, words->why->ports.ad, &names);
    add_indented(words->out, &reasons);
    buf_done(&reasons);
}

static void say_port(const struct words *words, const struct gang_why_port *item)
{
    const struct ports *ports = &words->why->ports;
    const struct port *port = &ports->items[item->port];
    const struct why *why = &item->why;
    size_t len, from;
    const char *label = port_label(ports, item->port, &len);

    buf_adds(words->out, "Port ");
    from = words->out->len;
    buf_add(words->out, label, len);
    make_fit(words->out, from);
    buf_adds(words->out, port->optional ? ", which may stay empty: " : ": ");
    buf_add_count(words->out, why->matching);
    buf_adds(words->out, " of ");
    if (words->why->faces > words->why->offers) {
        buf_add_count(words->out, why->offers);
        buf_adds(words->out, " ports of ");
    }
    add_offers(words, words->why->offers);
    buf_adds(words->out, why->matching == 1 ? " fits" : " fit");
    if (port->set)
        buf_addf(words->out, port->min == port->max ? "; it wants %u" : "; it wants %u to %u", port->min, port->max);
    buf_adds(words->out, ".\n");
    if (why->unseen) {
        buf_adds(words->out, "  ");
        add_count(words, why->unseen);
        buf_adds(words->out, " more were not looked at: it would have taken too long.\n");
    }
    if (item->doubtful) {
        buf_adds(words->out, "  ");
        buf_add_count(words->out, item->doubtful);
        buf_adds(words->out, " more may fit: that is known only when other ports of theirs are filled.\n");
    }
    if (why->matching == 0 && why->offers && !item->doubtful)
        say_reasons(words, item);
    for (uint32_t i = 0; i < item->later_count; i++) {
        buf_adds(words->out, "  tested only when somebody docks: ");
        add_expr(words, ports->ad, item->later[i]);
        buf_addc(words->out, '\n');
    }
}

/* The ports that are filled or left with this one: all of the outermost group that it is in. */
static void port_unit(const struct ports *ports, uint32_t port, uint32_t *ret_first, uint32_t *ret_end)
{
    uint32_t group = ports->items[port].group;

    while (group != PORTS_NO_GROUP && ports->groups[group].outer != PORTS_NO_GROUP)
        group = ports->groups[group].outer;
    *ret_first = group == PORTS_NO_GROUP ? port : ports->groups[group].first;
    *ret_end = group == PORTS_NO_GROUP ? port + 1 : ports->groups[group].end;
}

/* Cpu, or {matlab, octave} */
static void add_unit(const struct words *words, uint32_t first, uint32_t end)
{
    const struct ports *ports = &words->why->ports;
    bool group = ports->items[first].group != PORTS_NO_GROUP;

    buf_adds(words->out, group ? "{" : "");
    for (uint32_t i = first; i < end; i++) {
        size_t len, from;
        const char *label = port_label(ports, i, &len);

        buf_adds(words->out, i > first ? ", " : "");
        from = words->out->len;
        buf_add(words->out, label, len);
        make_fit(words->out, from);
    }
    buf_adds(words->out, group ? "}" : "");
}

static void say_together(const struct words *words)
{
    const struct gang_why *why = words->why;
    uint32_t count = 0, left, first, end;
    bool group = false;

    for (uint32_t i = 0; i < why->ports.count; i = end) {
        port_unit(&why->ports, i, &first, &end);
        count += why->together >> i & 1;
        group = group || (why->together >> i & 1 && why->ports.items[i].group != PORTS_NO_GROUP);
    }
    if (!count) {
        buf_adds(words->out,
                 "Which ports cannot be filled together was not found out: it would have taken too long.\n");
        return;
    }
    buf_adds(words->out, count > 1 ? "Ports " : group ? "Group " : "Port ");
    left = count;
    for (uint32_t i = 0; i < why->ports.count; i = end) {
        port_unit(&why->ports, i, &first, &end);
        if (!(why->together >> i & 1))
            continue;
        add_unit(words, first, end);
        left--;
        buf_adds(words->out, left > 1 ? ", " : left ? " and " : "");
    }
    buf_adds(words->out, count == 1 ? " cannot be filled.\n" : " cannot be filled together");
    if (count > 1)
        buf_adds(words->out, why->smallest  ? "; any fewer ports can.\n"
                             : why->minimal ? "; without any one of them the rest can.\n"
                                            : "; perhaps fewer cannot either.\n");
}

static void say_refusal(const struct words *words, const struct gang_why_refusal *refusal, size_t all)
{
    buf_adds(words->out, "\n      ");
    if (all > 1)
        buf_addf(words->out, "%zu by ", refusal->of.count);
    add_expr(words, refusal->of.offer, refusal->of.e);
    for (uint32_t i = 0; i < refusal->of.read_count; i++) {
        const struct why_read *read = &refusal->of.reads[i];
        size_t len;
        const char *name = symbols_text(refusal->of.offer->symbols, read->name, &len);

        buf_adds(words->out, i ? ", " : "  (");
        add_text(words, refusal->label);
        buf_addc(words->out, '.');
        buf_add(words->out, name, len);
        buf_adds(words->out, read->value ? " = " : " is missing");
        if (read->value)
            add_text(words, read->value);
    }
    buf_adds(words->out, refusal->of.read_count ? ")" : "  (the state of the offer itself)");
}

/* this is not true: request.MemoryReqs < Memory, of tuna */
static void say_denial(const struct words *words, const struct gang_why_denial *denial)
{
    buf_adds(words->out, "this is not true: ");
    add_expr(words, denial->ad, denial->e);
    if (denial->offer == SEAT_NOBODY)
        return;
    buf_adds(words->out, ", of ");
    add_offer(words, denial->offer);
}

/* Says what excludes the candidates that are left. */
static void say_reason(const struct words *words)
{
    const struct gang_why_died *died = &words->why->died;
    size_t told = 0;

    if (!died->free && died->clause) {
        add_expr(words, died->ad, died->clause);
        if (died->means) {
            buf_adds(words->out, "  (that is, ");
            add_text(words, died->means);
            buf_addc(words->out, ')');
        }
        buf_adds(words->out, died->seat_count ? " is true of nobody who is left" : " is true of nobody");
    } else if (!died->free && !died->taken) {
        buf_adds(words->out, "no offer has a port to dock by");
    } else if (!died->free) {
        buf_adds(words->out, "nobody is left");
    }
    if (died->free) {
        add_count(words, died->free);
        buf_adds(words->out, died->free == 1 ? " fits the clauses of the port" : " fit the clauses of the port");
    }
    if (died->denied.count) {
        buf_adds(words->out, died->free == 1 ? ", but with it " : ", but with ");
        if (died->free > 1)
            buf_addf(words->out, "%zu of them ", died->denied.count);
        say_denial(words, &died->denied);
    }
    if (died->taken) {
        buf_adds(words->out, "; ");
        add_count(words, died->taken);
        buf_adds(words->out,
                 died->taken == 1 ? " that fits is in the gang already" : " that fit are in the gang already");
    }
    if (died->empty.count) {
        buf_adds(words->out, "; with nobody more there ");
        say_denial(words, &died->empty);
    }
    if (died->free > died->refusing + died->denied.count)
        buf_addf(
            words->out,
            "; what is in the gang already has nothing left for it, or the gang is too large (%d deep, %d members)",
            GANG_DEPTH_MAX, GANG_MEMBERS_MAX);
    if (died->refusing) {
        buf_adds(words->out, died->free == 1                ? ", but refuses:"
                             : died->refusing == died->free ? ", but all refuse:"
                                                            : "");
        if (died->refusing < died->free)
            buf_addf(words->out, "; %zu refuse%s:", died->refusing, died->refusing == 1 ? "s" : "");
        for (uint32_t i = 0; i < died->refusal_count; i++)
            say_refusal(words, &died->refusals[i], died->free);
        for (uint32_t i = 0; i < died->refusal_count; i++)
            told += died->refusals[i].of.count;
        if (told < died->refusing)
            buf_adds(words->out, "\n      and others by other clauses");
        buf_addc(words->out, '\n');
        return;
    }
    buf_adds(words->out, ".\n");
}

static void say_died(const struct words *words)
{
    const struct gang_why_died *died = &words->why->died;

    if (!died->known)
        return;
    buf_adds(words->out,
             words->why->outcome == GANG_GAVE_UP ? "It came no further than port " : "The search died at port ");
    add_path(words, died->seats, died->seat_count, died->member, died->label);
    buf_adds(words->out, ", with ");
    if (died->seat_count)
        add_seats(words, died->seats, died->seat_count);
    else
        buf_adds(words->out, "nothing docked");
    buf_adds(words->out, ": ");
    say_reason(words);
}

void gang_why_print_ports(struct buf *out, const struct gang_why *why, const struct why_names *names)
{
    const struct words words = {out, why, names};

    if (why->outcome == GANG_FORMED || why->offers == 0)
        return;
    for (uint32_t i = 0; i < why->ports.count; i++)
        say_port(&words, &why->items[i]);
    say_together(&words);
    say_died(&words);
}

void gang_why_print(struct buf *out, const struct gang_why *why, const struct why_names *names)
{
    const struct words words = {out, why, names};

    say_verdict(&words);
    gang_why_print_ports(out, why, names);
}
