/* gang_pool.h: random requests and offers with ports, as text, for tests of gangs.
 *
 *     request   [ Ports = { [ Label = cpu; Type = "J"; HostId = 3; Constraint = cpu.Type == "M" && ...; Rank = cpu.Mem ], ... } ]
 *     leaf      a machine "M" or a licence "L": one port, often the implicit one
 *     service   "S" or "T": a port for whoever asks, anywhere in the list, and ports for what it needs: a T may need an S
 *
 * Ports refer to labels of the ports before them, by attributes (HostId = cpu.Key + 1) and by constraints; most values are small
 * numbers, so that much fits and much does not. A *style* says what else there is. */
#ifndef BERTH_TESTS_GANG_POOL_H
#define BERTH_TESTS_GANG_POOL_H

#include "lang/base/buf.h"
#include "lang/base/rng.h"
#include "lang/text/dialect.h"

#include <ctype.h>
#include <string.h>

#define GANG_POOL_LABELS 6
#define GANG_POOL_COUNT(array) (sizeof(array) / sizeof *(array))

struct gang_style {
    unsigned optional, groups, sets, shared; /* percent of ports */
    unsigned odd;                            /* percent of clauses that are strange */
    unsigned plain;                          /* percent of references without a label */
    unsigned outer;                          /* percent of ads with an attribute beside the ports that reads labels */
    unsigned ranked;                         /* percent of ports */
    unsigned untyped;                        /* percent of ports that do not ask for a type */
    unsigned clauses;                        /* at most, in a constraint */
    unsigned range;                          /* of the numbers */
    unsigned taken;                          /* percent of leaves that have a claim already */
};

/* An ad that is being written. */
struct gang_maker {
    struct rng *rng;
    struct buf *out;
    const struct dialect *dialect;
    struct gang_style style;
    const char *labels[GANG_POOL_LABELS]; /* of the ad, shuffled */
    bool hidden[GANG_POOL_LABELS];        /* sets: no other port speaks of them */
    unsigned port;                        /* the one that is written: its label and those before are in force */
    bool services;                        /* there are some in the pool */
};

static inline uint64_t gang_below(struct gang_maker *m, uint64_t bound)
{
    return rng_below(m->rng, bound);
}

static inline bool gang_chance(struct gang_maker *m, unsigned percent)
{
    return gang_below(m, 100) < percent;
}

static inline const char *gang_pick(struct gang_maker *m, const char *const *words, size_t count)
{
    return words[gang_below(m, count)];
}
#define GANG_PICK(m, words) gang_pick(m, words, GANG_POOL_COUNT(words))

static const char *const gang_numbers[] = {"Key", "Mem", "Rate", "HostId", "Need"};
static const char *const gang_texts[] = {"Host", "App"};

/* An attribute that is asked for. */
static inline const char *gang_asked(struct gang_maker *m)
{
    return gang_chance(m, m->style.outer / 3) ? "Sum" : GANG_PICK(m, gang_numbers);
}

static inline struct gang_style gang_style(struct rng *rng)
{
    struct gang_maker m = {.rng = rng};
    struct gang_style style = {0};

    /* one by one: the order within an initialiser, or among arguments, is the compiler's */
    style.odd = (unsigned)gang_below(&m, 3) * 5;
    style.plain = gang_chance(&m, 30) ? 15 : 0;
    style.ranked = 30 * (unsigned)gang_below(&m, 4);
    style.untyped = gang_chance(&m, 70) ? 0 : 25;
    style.clauses = (unsigned)gang_below(&m, 4);
    style.range = 2 + (unsigned)gang_below(&m, 5);
    if (gang_chance(&m, 20))
        style.outer = 50;
    if (gang_chance(&m, 40))
        style.optional = 25;
    if (gang_chance(&m, 35))
        style.groups = 35;
    if (gang_chance(&m, 25))
        style.sets = 25;
    if (gang_chance(&m, 20))
        style.shared = 30;
    if (gang_chance(&m, 25))
        style.taken = 40;
    return style;
}

/* ---------------------------------------------------------------------------------------------------- expressions */

static inline long long gang_number(struct gang_maker *m)
{
    return (long long)gang_below(m, m->style.range);
}

/* The label of a port that is in force; mostly the port's own. */
static inline const char *gang_label(struct gang_maker *m, bool own)
{
    unsigned at = own || !m->port || gang_chance(m, 20) ? m->port : (unsigned)gang_below(m, m->port);

    return m->hidden[at] && at != m->port ? m->labels[m->port] : m->labels[at];
}

static inline void gang_put_reference(struct gang_maker *m, bool own, const char *attribute)
{
    static const char *const selves[] = {"self.", "", "", "."};

    if (gang_chance(m, m->style.plain)) {
        buf_addf(m->out, "%s%s", GANG_PICK(m, selves), attribute);
    } else if (gang_chance(m,
                           m->style.odd)) { /* a label that is not yet in force, or the counterpart by its other name */
        unsigned later = m->port + 1 < GANG_POOL_LABELS ? m->port + 1 : m->port;

        if (m->dialect == &dialect_condor && gang_chance(m, 30))
            buf_addf(m->out, "TARGET.%s", attribute);
        else
            buf_addf(m->out, "%s.%s", gang_chance(m, 50) || m->hidden[later] ? "other" : m->labels[later], attribute);
    } else {
        buf_addf(m->out, "%s.%s", gang_label(m, own), attribute);
    }
}

static inline void gang_put_number(struct gang_maker *m)
{
    static const char *const shapes[] = {"", "", " + %lld", " - %lld", " * %lld"};
    const char *name = gang_asked(m), *shape;

    if (gang_chance(m, 10))
        buf_adds(m->out, "-");
    gang_put_reference(m, false, name);
    shape = GANG_PICK(m, shapes);
    buf_addf(m->out, shape, gang_number(m) - 1);
}

static inline void gang_put_list(struct gang_maker *m, bool texts)
{
    uint64_t count = 1 + gang_below(m, 3);

    buf_adds(m->out, "{ ");
    for (uint64_t i = 0; i < count; i++) {
        buf_adds(m->out, i ? ", " : "");
        if (texts != gang_chance(m, m->style.odd))
            buf_addf(m->out, "\"%c\"", "abc"[gang_below(m, 3)]);
        else
            buf_addf(m->out, "%lld", gang_number(m));
    }
    buf_adds(m->out, " }");
}

/* What is rarely written. */
static inline void gang_put_odd(struct gang_maker *m)
{
    static const char *const shapes[] = {" == \"a\"", " is undefined",     " isnt undefined",
                                         " > \"b\"",  " == 1.5",           " < 2.5",
                                         "",          " + undefined == 1", " != 1"};

    gang_put_reference(m, true, gang_chance(m, 50) ? GANG_PICK(m, gang_numbers) : GANG_PICK(m, gang_texts));
    buf_adds(m->out, GANG_PICK(m, shapes));
}

static inline void gang_put_clause(struct gang_maker *m, unsigned depth)
{
    static const char *const comparisons[] = {"<", "<=", ">", ">=", "!="};
    const char *number = gang_asked(m), *text = GANG_PICK(m, gang_texts);

    if (gang_chance(m, m->style.odd)) {
        gang_put_odd(m);
        return;
    }
    switch (gang_below(m, depth ? 9 : 7)) {
    case 0: /* a bound */
        gang_put_reference(m, true, number);
        buf_addf(m->out, " >= %lld", gang_number(m) / 2);
        break;
    case 1: /* two */
        gang_put_reference(m, true, number);
        buf_addf(m->out, " >= %lld && ", gang_number(m) / 2);
        gang_put_reference(m, true, number);
        buf_addf(m->out, " < %u", m->style.range);
        break;
    case 2: /* against another port */
        gang_put_reference(m, true, number);
        buf_adds(m->out, gang_chance(m, 60) ? " == " : " >= ");
        gang_put_number(m);
        break;
    case 3:
        gang_put_reference(m, true, text);
        buf_adds(m->out, " == ");
        if (gang_chance(m, 60))
            gang_put_reference(m, false, text);
        else
            buf_addf(m->out, "\"%c\"", "abc"[gang_below(m, 3)]);
        break;
    case 4:
        gang_put_number(m);
        buf_addf(m->out, " %s ", GANG_PICK(m, comparisons));
        gang_put_number(m);
        break;
    case 5: {
        bool texts = gang_chance(m, 40);

        buf_adds(m->out, "member(");
        gang_put_reference(m, true, texts ? text : number);
        buf_adds(m->out, ", ");
        gang_put_list(m, texts);
        buf_adds(m->out, ")");
        break;
    }
    case 6:
        buf_adds(m->out, "true");
        break;
    case 7:
        buf_adds(m->out, "!(");
        gang_put_clause(m, 0);
        buf_adds(m->out, ")");
        break;
    default:
        buf_adds(m->out, "(");
        gang_put_clause(m, 0);
        buf_adds(m->out, " || ");
        gang_put_clause(m, depth - 1);
        buf_adds(m->out, ")");
    }
}

/* `types` are those it wants ("\"M\", \"L\""), or NULL. */
static inline void gang_put_constraint(struct gang_maker *m, const char *types, bool must)
{
    uint64_t count = gang_below(m, m->style.clauses + 1);
    bool typed = types && (must || !gang_chance(m, m->style.untyped));

    if (gang_chance(m, 50))
        count /= 2;
    if (!typed && !count && gang_chance(m, 50))
        return;
    buf_addf(m->out, "%s = ", gang_chance(m, 85) ? "Constraint" : "Requirements");
    if (typed)
        buf_addf(m->out, strchr(types, ',') ? "member(%s.Type, { %s })" : "%s.Type == %s", m->labels[m->port], types);
    for (uint64_t i = 0; i < count; i++) {
        if (i || typed)
            buf_adds(m->out, " && ");
        gang_put_clause(m, 2);
    }
    if (!typed && !count)
        buf_adds(m->out, "true");
    buf_adds(m->out, "; ");
}

static inline void gang_put_rank(struct gang_maker *m)
{
    if (!gang_chance(m, m->style.ranked))
        return;
    buf_adds(m->out, "Rank = ");
    switch (gang_below(m, 8)) {
    case 0:
        buf_addf(m->out, "%lld", gang_number(m));
        break;
    case 1:
        gang_put_reference(m, true, GANG_PICK(m, gang_texts));
        break;
    case 2:
        gang_put_number(m);
        buf_adds(m->out, " + ");
        gang_put_number(m);
        break;
    case 3:
        gang_put_clause(m, 1);
        break;
    default:
        gang_put_number(m);
    }
    buf_adds(m->out, "; ");
}

/* ------------------------------------------------------------------------------------------------------ attributes */

/* Plain values, each there more often than not. */
static inline void gang_put_values(struct gang_maker *m, unsigned percent)
{
    for (size_t i = 0; i < GANG_POOL_COUNT(gang_numbers); i++) {
        if (!gang_chance(m, percent))
            continue;
        if (gang_chance(m, m->style.odd / 2))
            buf_addf(m->out, "%s = \"%c\"; ", gang_numbers[i], "abc"[gang_below(m, 3)]);
        else if (gang_chance(m, 5))
            buf_addf(m->out, "%s = %lld.5; ", gang_numbers[i], gang_number(m));
        else
            buf_addf(m->out, "%s = %lld; ", gang_numbers[i], gang_number(m));
    }
    for (size_t i = 0; i < GANG_POOL_COUNT(gang_texts); i++)
        if (gang_chance(m, percent))
            buf_addf(m->out, "%s = \"%c\"; ", gang_texts[i], "abc"[gang_below(m, 3)]);
}

/* What a port says of itself: often what it has from the ports before it. */
static inline void gang_put_port_values(struct gang_maker *m)
{
    for (size_t i = 0; i < GANG_POOL_COUNT(gang_numbers); i++) {
        if (!gang_chance(m, 45))
            continue;
        buf_addf(m->out, "%s = ", gang_numbers[i]);
        if (gang_chance(m, m->port ? 35 : 75)) {
            buf_addf(m->out, "%lld", gang_number(m));
        } else {
            gang_put_number(m);
            if (gang_chance(m, 15)) {
                buf_adds(m->out, " + ");
                gang_put_number(m);
            }
        }
        buf_adds(m->out, "; ");
    }
    for (size_t i = 0; i < GANG_POOL_COUNT(gang_texts); i++) {
        if (!gang_chance(m, 30))
            continue;
        buf_addf(m->out, "%s = ", gang_texts[i]);
        if (gang_chance(m, 50))
            buf_addf(m->out, "\"%c\"", "abc"[gang_below(m, 3)]);
        else
            gang_put_reference(m, false, gang_texts[i]);
        buf_adds(m->out, "; ");
    }
}

/* ----------------------------------------------------------------------------------------------------------- ports */

/* Beside the ports: it sees the labels that the port sees from which it is looked at. */
static inline void gang_put_outer(struct gang_maker *m)
{
    unsigned at = (unsigned)gang_below(m, m->port ? m->port : 1);

    if (gang_chance(m, m->style.outer) && !m->hidden[at])
        buf_addf(m->out, "; Sum = %s.%s + 1", m->labels[at], GANG_PICK(m, gang_numbers));
}

static inline void gang_begin(struct gang_maker *m)
{
    static const char *const labels[] = {"cpu", "lic", "net", "disk", "req", "node"};

    for (size_t i = 0; i < GANG_POOL_LABELS; i++) {
        size_t k = gang_below(m, i + 1);

        m->labels[i] = m->labels[k];
        m->labels[k] = labels[i];
        m->hidden[i] = false;
    }
    m->port = 0;
}

static inline void gang_put_port(struct gang_maker *m, const char *type, const char *types, bool must)
{
    buf_addf(m->out, gang_chance(m, 90) ? "[ Label = %s; " : "[ Label = \"%s\"; ", m->labels[m->port]);
    if (type)
        buf_addf(m->out, "Type = \"%s\"; ", type);
    gang_put_port_values(m);
    gang_put_constraint(m, types, must);
    gang_put_rank(m);
}

/* A port that needs somebody; `free` if it may stay empty by itself, `sharing` if it may share, which only a request does, and only
 * licences: so gangs stay small. */
static inline void gang_put_need(struct gang_maker *m, const char *type, const char *const *wanted, size_t wanted_count,
                                 bool free, bool sharing)
{
    static const char *const counts[] = {"2", "{ 1, 2 }", "{ 0, 2 }", "{ 2, 3 }", "1"};
    bool set = gang_chance(m, m->style.sets), shared = sharing && gang_chance(m, m->style.shared);

    m->hidden[m->port] = set;
    gang_put_port(m, type, shared ? "\"L\"" : set ? "\"M\"" : gang_pick(m, wanted, wanted_count), set || shared);
    if (set)
        buf_addf(m->out, "Count = %s; ", free ? GANG_PICK(m, counts) : counts[gang_below(m, 2)]);
    if (shared && !set)
        buf_adds(m->out, "Share = true; ");
    if (free && gang_chance(m, m->style.optional))
        buf_adds(m->out, "Essential = false; ");
    buf_adds(m->out, "]");
    m->port++;
}

/* So many ports in a list, or in groups of it. */
static inline void gang_put_needs(struct gang_maker *m, unsigned count, const char *type, const char *const *wanted,
                                  size_t wanted_count, unsigned depth, bool request)
{
    for (unsigned i = 0; i < count;) {
        unsigned left = count - i, taken = 1;

        buf_adds(m->out, i ? ", " : "");
        if (left >= 2 && depth < 2 && gang_chance(m, m->style.groups)) {
            unsigned least, most;

            taken = 2 + (unsigned)gang_below(m, left - 1);
            least = 1 + (unsigned)gang_below(m, taken > 2 ? 2 : 1);
            most = depth == 0 && gang_chance(m, 30) ? taken : least;
            if (depth == 0 && gang_chance(m, 40)) /* one group inside, so there are fewer entries */
                least = most = 1;
            buf_addf(m->out, most == least ? "[ Choose = %u; " : "[ Choose = { %u, %u }; ", least, most);
            if (gang_chance(m, 20))
                buf_addf(m->out, "%s = 1; ", GANG_PICK(m, gang_numbers));
            if (depth == 0 && gang_chance(m, m->style.optional))
                buf_adds(m->out, "Essential = false; ");
            buf_adds(m->out, "Ports = { ");
            gang_put_needs(m, taken, type, wanted, wanted_count, least == 1 && most == 1 ? depth + 1 : 2, false);
            buf_adds(m->out, " } ]");
        } else {
            gang_put_need(m, type, wanted, wanted_count, depth == 0, request);
        }
        i += taken;
    }
}

/* ------------------------------------------------------------------------------------------------------------- ads */

static inline void gang_put_choose(struct gang_maker *m, unsigned count)
{
    unsigned least = (unsigned)gang_below(m, count + 1), most = least + (unsigned)gang_below(m, count + 1 - least);

    if (least && gang_chance(m, 50))
        buf_addf(m->out, "Choose = %u; ", least);
    else if (most)
        buf_addf(m->out, "Choose = { %u, %u }; ", least, most);
}

/* The same port several times, but for the label. */
static inline void gang_put_twins(struct gang_maker *m, unsigned count, const char *const *wanted, size_t wanted_count)
{
    struct buf *out = m->out, one;
    const char *first = m->labels[0];

    buf_init(&one);
    m->out = &one;
    gang_put_need(m, "J", wanted, wanted_count, false, false);
    m->out = out;
    for (unsigned i = 0; i < count; i++) {
        buf_adds(out, i ? ", " : "");
        for (const char *at = buf_string(&one); *at;) {
            size_t len = strlen(first);
            bool word = !strncmp(at, first, len) && !isalnum((unsigned char)at[len]);

            if (word)
                buf_adds(out, m->labels[i]);
            else
                buf_addc(out, *at);
            at += word ? len : 1;
        }
    }
    buf_done(&one);
}

static inline void gang_put_request(struct gang_maker *m)
{
    static const char *const leaves[] = {"\"M\"", "\"M\"", "\"L\"", "\"M\", \"L\"", NULL};
    static const char *const all[] = {"\"M\"", "\"S\"", "\"S\"", "\"T\", \"S\"", "\"S\", \"M\"", NULL};
    const char *const *wanted = m->services ? all : leaves;
    size_t wanted_count = m->services ? GANG_POOL_COUNT(all) : GANG_POOL_COUNT(leaves);
    unsigned count = 1 + (unsigned)gang_below(m, gang_chance(m, 50) ? 4 : 2);

    gang_begin(m);
    buf_adds(m->out, "[ Name = \"root\"; ");
    gang_put_values(m, 60);
    if (count == 1 && gang_chance(m, 50)) {
        m->labels[0] = "other";
        buf_adds(m->out, "Type = \"J\"; ");
        gang_put_constraint(m, gang_pick(m, wanted, wanted_count), false);
        gang_put_rank(m);
    } else {
        if (gang_chance(m, m->style.odd / 2)) /* its own attribute comes before the label */
            buf_addf(m->out, "%s = [ Key = %lld ]; ", m->labels[0], gang_number(m));
        if (!m->style.groups && gang_chance(m, 15)) /* the ad itself is a group */
            gang_put_choose(m, count);
        buf_adds(m->out, "Ports = { ");
        if (count > 1 && gang_chance(m, 12))
            gang_put_twins(m, count, wanted, wanted_count);
        else
            gang_put_needs(m, count, "J", wanted, wanted_count, 0, true);
        buf_adds(m->out, " }");
        gang_put_outer(m);
    }
    buf_adds(m->out, "]");
}

static inline void gang_put_leaf(struct gang_maker *m)
{
    static const char *const types[] = {"M", "M", "M", "L"};
    static const char *const askers[] = {NULL, NULL, NULL, "\"J\"", "\"J\", \"Q\""};

    gang_begin(m);
    buf_addf(m->out, "[ Type = \"%s\"; ", GANG_PICK(m, types));
    if (m->style.taken && gang_chance(m, m->style.taken))
        buf_addf(m->out, "Preempts = \"a\"; CurrentRank = %lld; ", gang_number(m));
    if (gang_chance(m, 60)) {
        m->labels[0] = "other";
        gang_put_values(m, 90);
        gang_put_constraint(m, GANG_PICK(m, askers), false);
        gang_put_rank(m);
    } else {
        gang_put_values(m, 80);
        buf_adds(m->out, "Ports = { ");
        if (gang_chance(m, 10))
            m->labels[0] = "other";
        gang_put_port(m, NULL, GANG_PICK(m, askers), false);
        buf_adds(m->out, "] }");
        gang_put_outer(m);
    }
    buf_adds(m->out, " ]");
}

/* Its link stands before, between or behind what it needs. */
static inline void gang_put_service(struct gang_maker *m)
{
    static const char *const wanted[2][4] = {{"\"M\"", "\"M\"", "\"L\"", NULL}, {"\"S\"", "\"S\"", "\"M\"", NULL}};
    static const char *const askers[] = {NULL, "\"J\"", "\"J\", \"Q\"", "\"J\", \"Q\""};
    unsigned kind = gang_chance(m, 30), needs = (unsigned)gang_below(m, 3);
    unsigned before = (unsigned)gang_below(m, needs + 1);

    gang_begin(m);
    buf_addf(m->out, "[ Name = \"service\"; ");
    gang_put_values(m, 70);
    buf_adds(m->out, "Ports = { ");
    gang_put_needs(m, before, "Q", wanted[kind], 4, 0, false);
    buf_adds(m->out, before ? ", " : "");
    gang_put_port(m, kind ? "T" : "S", GANG_PICK(m, askers), false);
    buf_adds(m->out, "]");
    m->port++;
    buf_adds(m->out, needs > before ? ", " : "");
    gang_put_needs(m, needs - before, "Q", wanted[kind], 4, 0, false);
    buf_adds(m->out, " }");
    gang_put_outer(m);
    buf_adds(m->out, " ]");
}

#endif
