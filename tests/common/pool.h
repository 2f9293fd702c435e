/* pool.h: random ads of two sides, as text, for tests and fuzzers of pools.
 *
 * Choices come from a seed, or from the bytes of a fuzzer. Most attributes are literals and most constraints conjunctions of
 * comparisons, so that many ads match; a *style* says how much else there is: values of every kind, attributes that are expressions,
 * disjunctions, negations, choices, memberships, circles, the time. */
#ifndef BERTH_TESTS_POOL_H
#define BERTH_TESTS_POOL_H

#include "lang/ad/value.h"
#include "lang/base/buf.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POOL_COUNT(array) (sizeof(array) / sizeof *(array))
#define POOL_NOW 1772366400 /* the time that constraints speak of: noon of 2026-03-01 */
#define POOL_HOURS 43200    /* since midnight */
#define POOL_WIDE 4096      /* bytes of a long string, or about */

enum pool_sort { SORT_NUMBER, SORT_STAMP, SORT_TEXT, SORT_FLAG, SORT_DATE, SORT_SPAN, SORT_WIDE, SORT_COUNT };

struct pool_style {
    bool many;          /* hundreds of values in an attribute, not a handful */
    unsigned strange;   /* percent: literals of another kind, undefined, error */
    unsigned deviant;   /* percent: attributes that are expressions */
    unsigned branching; /* percent: clauses that are no comparison */
    unsigned timed;     /* percent: clauses that read the time */
    unsigned none;      /* percent: ads of side 0 without a constraint; a quarter of it on side 1 */
    unsigned clauses;   /* at most, in a constraint */
    unsigned window;    /* which of the odd numbers */
    unsigned extras;    /* names without a meaning that are asked for too: more than an index has dimensions for */
    bool plain;         /* what is no comparison is still of the form that an index reads */
};

/* An ad that is being written. */
struct pool_maker {
    struct rng *rng;
    const uint8_t *bytes, *end; /* a fuzzer's, instead of the rng */
    struct buf *out;
    const struct dialect *dialect;
    const struct pool_style *style;
    int side; /* whose ad it is: 0 or 1 */
};

struct pool_subject {
    const char *name;
    enum pool_sort sort;
};

/* What ads of a side have, and the other side asks for. */
#define POOL_SUBJECTS 11
static const struct pool_subject pool_subjects[2][POOL_SUBJECTS] = {
    {{"Memory", SORT_NUMBER},
     {"Disk", SORT_NUMBER},
     {"Load", SORT_NUMBER},
     {"Seen", SORT_STAMP},
     {"Arch", SORT_TEXT},
     {"OpSys", SORT_TEXT},
     {"Idle", SORT_FLAG},
     {"HasX", SORT_FLAG},
     {"Since", SORT_DATE},
     {"Wait", SORT_SPAN},
     {"Note", SORT_WIDE}},
    {{"Need", SORT_NUMBER},
     {"Size", SORT_NUMBER},
     {"Least", SORT_NUMBER},
     {"Born", SORT_STAMP},
     {"Owner", SORT_TEXT},
     {"Kind", SORT_TEXT},
     {"Nice", SORT_FLAG},
     {"HasY", SORT_FLAG},
     {"Due", SORT_DATE},
     {"Last", SORT_SPAN},
     {"Text", SORT_WIDE}},
};
static const char *const pool_lists[2] = {"Tags", "Sites"};

/* From 0 to below `bound`; the last of them when a fuzzer's bytes have run out. */
static inline uint64_t pool_below(struct pool_maker *m, uint64_t bound)
{
    uint64_t word = 0;

    if (m->rng)
        return rng_below(m->rng, bound);
    if (m->bytes == m->end)
        return bound - 1;
    for (uint64_t most = bound - 1; most && m->bytes < m->end; most >>= 8)
        word = word << 8 | *m->bytes++;
    return word % bound;
}

static inline bool pool_chance(struct pool_maker *m, unsigned percent)
{
    return percent && pool_below(m, 100) < percent;
}

/* One of so many texts. */
static inline const char *pool_pick(struct pool_maker *m, const char *const *texts, size_t count)
{
    return texts[pool_below(m, count)];
}

static inline void pool_add_pick(struct pool_maker *m, const char *const *texts, size_t count)
{
    buf_adds(m->out, pool_pick(m, texts, count));
}

/* ----------------------------------------------------------------------------------------------------------- literals */

static inline struct value pool_number(struct pool_maker *m)
{
    static const struct value odd[] = {
#define I(integer) {VALUE_INTEGER, false, 0, 0, {integer}, NULL}
#define R(number)                              \
    {                                          \
        .type = VALUE_REAL, .u.real = (number) \
    }
        I((1ll << 53) - 1),
        I(1ll << 53),
        I((1ll << 53) + 1),
        R(0x1p53),
        R(0x1p53 + 2),
        I((1ll << 53) + 2),
        I(1ll << 54),
        R(0x1p54),
        I((1ll << 54) + 1),
        I(1ll << 62),
        I((1ll << 62) + 1),
        R(0x1p62),
        I(INT64_MAX),
        R(0x1p63),
        I(INT64_MAX - 1),
        R(0x1.fffffffffffffp1023),
        R(INFINITY),
        R(1e22),
        R(INFINITY),
        R(NAN),
        R(-INFINITY),
        R(-1e308),
        R(-INFINITY),
        I(INT64_MIN),
        R(-0x1p63),
        I(INT64_MIN),
        I(-(1ll << 53)),
        R(-0x1p53),
        I(-(1ll << 53) - 1),
        R(-0.0),
        I(0),
        R(5e-324),
        R(0.0),
        I(1),
        R(0x1.fffffffffffffp-1),
        R(0x1.0000000000001p0)
#undef I
#undef R
    };

    if (pool_chance(m, m->style->strange)) /* of few that are near each other, so that they are often the same */
        return odd[(m->style->window + pool_below(m, 4)) % POOL_COUNT(odd)];
    if (m->style->many)
        return pool_chance(m, 80) ? value_integer((int64_t)pool_below(m, 1000))
                                  : value_real((double)pool_below(m, 4000) / 4);
    if (pool_chance(m, 75))
        return value_integer(pool_chance(m, 40) ? 2 : (int64_t)pool_below(m, 6));
    return value_real((double)pool_below(m, 10) / 2);
}

static inline struct value pool_text(struct pool_maker *m)
{
    static const char *const texts[] = {"INTEL", "INTEL", "INTEL", "intel", "Intel", "SUN",
                                        "sun",   "sunny", "",      "1",     "TRUE"};
    static char name[8];

    if (m->style->many && pool_chance(m, 90)) {
        snprintf(name, sizeof name, "%c%d", pool_chance(m, 10) ? 'S' : 's', (int)pool_below(m, 150));
        return value_string(name, strlen(name));
    }
    const char *text = pool_pick(m, texts, POOL_COUNT(texts));
    return value_string(text, strlen(text));
}

/* A value of that sort; a text lives until the next is made. */
static inline struct value pool_value(struct pool_maker *m, enum pool_sort sort)
{
    static char wide[POOL_WIDE + 1];

    if (pool_chance(m, m->style->strange) && pool_chance(m, 60)) {
        if (pool_chance(m, 40))
            return pool_chance(m, 60) ? value_undefined() : value_error();
        sort = (enum pool_sort)pool_below(m, SORT_WIDE); /* no long ones */
    }
    switch (sort) {
    case SORT_NUMBER:
        return pool_number(m);
    case SORT_STAMP:
        return value_integer(POOL_NOW - 2 + (int64_t)pool_below(m, 12));
    case SORT_TEXT:
        return pool_text(m);
    case SORT_FLAG:
        return pool_chance(m, 90) ? value_boolean(pool_chance(m, 70)) : value_integer((int64_t)pool_below(m, 3));
    case SORT_DATE:
        return value_abstime(POOL_NOW - 2 + (int64_t)pool_below(m, m->style->many ? 100 : 8),
                             60 * (int)pool_below(m, 3));
    case SORT_SPAN:
        return value_reltime(pool_chance(m, m->style->strange) ? (1ll << 60) + (int64_t)pool_below(m, 3)
                                                               : POOL_HOURS - 2 + (int64_t)pool_below(m, 12));
    default:
        memset(wide, pool_chance(m, 50) ? 'X' : 'x', sizeof wide);
        return value_string(wide, POOL_WIDE - 1 + pool_below(m, 3));
    }
}

static inline void pool_add_literal(struct pool_maker *m, enum pool_sort sort)
{
    struct value v = pool_value(m, sort);

    value_print(m->out, m->dialect, &v, PRINT_PLAIN);
}

/* { literals }, of one kind or of several; perhaps with something that is none. */
static inline void pool_add_list(struct pool_maker *m, enum pool_sort sort)
{
    uint64_t count = pool_below(m, 5);

    buf_adds(m->out, "{");
    for (uint64_t i = 0; i < count; i++) {
        buf_adds(m->out, i ? ", " : " ");
        if (pool_chance(m, 2))
            buf_adds(m->out, pool_chance(m, 50) ? "1 + 1" : "other.Memory");
        else
            pool_add_literal(m, pool_chance(m, 85) ? sort : (enum pool_sort)pool_below(m, SORT_WIDE));
    }
    buf_adds(m->out, " }");
}

/* ------------------------------------------------------------------------------------------------------------ clauses */

static inline void pool_add_clause(struct pool_maker *m, unsigned depth);
static inline void pool_add_conjunction(struct pool_maker *m, uint64_t count, unsigned depth);

/* What the counterpart has, by its place; long strings are rare. */
static inline const struct pool_subject *pool_asked(struct pool_maker *m)
{
    const struct pool_subject *subject = &pool_subjects[!m->side][pool_below(m, POOL_SUBJECTS)];

    if (subject->sort == SORT_WIDE && !pool_chance(m, 10))
        subject -= POOL_SUBJECTS - 1;
    return subject;
}

static inline const struct pool_subject *pool_own(struct pool_maker *m)
{
    return &pool_subjects[m->side][pool_below(m, POOL_SUBJECTS)];
}

/* other.x, TARGET.x or x; in some spelling. */
static inline void pool_add_reference(struct pool_maker *m, const char *name)
{
    static const char *const bases[] = {"other.", "TARGET.", "other.", "Other.", "", "other."};

    pool_add_pick(m, bases, POOL_COUNT(bases));
    buf_adds(m->out, name);
    if (pool_chance(m, 4)) {
        char *first = m->out->text + m->out->len - strlen(name);

        *first = (char)(*first | 0x20);
    }
}

static inline void pool_add_comparison(struct pool_maker *m)
{
    static const char *const ops[] = {" >= ", " >= ", " >= ", " <= ", " <= ", " == ", " == ", " < ", " > ", " != "};
    const struct pool_subject *subject = pool_asked(m);
    const char *op = pool_pick(m, ops, POOL_COUNT(ops));

    if (m->style->extras && pool_chance(m, 80)) {
        buf_addf(m->out, "other.Extra%d%s", (int)pool_below(m, m->style->extras), op);
        pool_add_literal(m, SORT_NUMBER);
        return;
    }
    if (pool_chance(m, 15)) {
        pool_add_literal(m, subject->sort);
        buf_adds(m->out, op);
        pool_add_reference(m, subject->name);
        return;
    }
    pool_add_reference(m, subject->name);
    buf_adds(m->out, op);
    if (pool_chance(m, 8)) {
        static const char *const bases[] = {"", "self.", "MY."};

        pool_add_pick(m, bases, POOL_COUNT(bases));
        for (size_t i = 0; i < POOL_SUBJECTS; i++) /* one of the same sort */
            if (pool_subjects[m->side][i].sort == subject->sort) {
                buf_adds(m->out, pool_subjects[m->side][i].name);
                break;
            }
    } else {
        pool_add_literal(m, subject->sort);
    }
}

/* What reads the time, as a whole or as the bound of a comparison. */
static inline void pool_add_timed(struct pool_maker *m)
{
    const char *stamp = pool_subjects[!m->side][3].name, *date = pool_subjects[!m->side][8].name;
    const char *span = pool_subjects[!m->side][9].name, *number = pool_subjects[!m->side][0].name;
    const char *op = pool_chance(m, 50) ? "<=" : ">";

    switch (pool_below(m, 7)) {
    case 0:
        buf_addf(m->out, "time() %s %d", op, POOL_NOW + (int)pool_below(m, 10));
        break;
    case 1:
        buf_addf(m->out, "other.%s %s time()", stamp, op);
        break;
    case 2:
        buf_addf(m->out, "other.%s %s CurrentTime()", date, op);
        break;
    case 3:
        buf_addf(m->out, "other.%s %s DayTime()", span, op);
        break;
    case 4:
        buf_addf(m->out, "DayTime() %s ", op);
        pool_add_literal(m, SORT_SPAN);
        break;
    case 5:
        buf_addf(m->out, "other.%s %s time() - %d", number, op, POOL_NOW);
        break;
    default:
        buf_addf(m->out, "other.%s %s Age", number, op); /* pool_add_terms has it */
        break;
    }
}

/* No comparison with a value, and no logic. */
static inline void pool_add_other_leaf(struct pool_maker *m)
{
    static const char *const is[] = {" is undefined", " isnt undefined", " =?= undefined", " =!= undefined",
                                     " is error"};
    static const char *const constants[] = {"true", "false", "undefined", "error",           "1",
                                            "0",    "0.0",   "\"a\"",     "self.nosuch > 1", "true"};
    static const char *const circles[] = {
        "other.Constraint",          "Constraint", "other.Usual", "other.More", "other.Constraint is true",
        "other.Usual isnt undefined"};
    const struct pool_subject *subject = pool_asked(m);

    switch (pool_below(m, m->style->plain ? 6 : 10)) {
    case 0:
    case 1: /* as a truth value */
        buf_adds(m->out, pool_chance(m, 40) ? "!" : "");
        pool_add_reference(m, pool_subjects[!m->side][pool_chance(m, 80) ? 6 + pool_below(m, 2) : 0].name);
        break;
    case 2:
        buf_adds(m->out, pool_chance(m, 20) ? "!member(" : "member(");
        pool_add_reference(m, subject->name);
        buf_adds(m->out, ", ");
        pool_add_list(m, subject->sort);
        buf_adds(m->out, ")");
        break;
    case 6:
        buf_adds(m->out, "member(");
        pool_add_literal(m, pool_chance(m, 50) ? SORT_TEXT : SORT_NUMBER);
        buf_adds(m->out, ", ");
        pool_add_reference(m, pool_lists[!m->side]);
        buf_adds(m->out, ")");
        break;
    case 3:
    case 4:
        pool_add_reference(m, pool_chance(m, 80) ? subject->name : pool_lists[!m->side]);
        pool_add_pick(m, is, POOL_COUNT(is));
        break;
    case 5:
        pool_add_reference(m, subject->name);
        buf_adds(m->out, pool_chance(m, 50) ? " is " : " isnt ");
        pool_add_literal(m, subject->sort);
        break;
    case 7: /* arithmetic, or of two attributes */
        pool_add_reference(m, pool_subjects[!m->side][pool_below(m, 3)].name);
        buf_adds(m->out, pool_chance(m, 50) ? " * 2 > " : " >= ");
        pool_add_reference(m, pool_subjects[!m->side][pool_below(m, 3)].name);
        break;
    case 8:
        pool_add_pick(m, constants, POOL_COUNT(constants));
        break;
    default:
        pool_add_pick(m, circles, POOL_COUNT(circles));
        break;
    }
}

/* (a || b || ...), rarely with very many parts. */
static inline void pool_add_disjunction(struct pool_maker *m, unsigned depth)
{
    uint64_t count = 2 + (pool_chance(m, 70) ? 0 : pool_below(m, 3));

    if (pool_chance(m, 3))
        count = 28 + pool_below(m, 10);
    buf_adds(m->out, "(");
    for (uint64_t i = 0; i < count; i++) {
        buf_adds(m->out, i ? " || " : "");
        if (pool_chance(m, 20) && count < 8)
            pool_add_conjunction(m, 2, depth - 1);
        else
            pool_add_clause(m, count < 8 ? depth - 1 : 0);
    }
    buf_adds(m->out, ")");
}

static inline void pool_add_clause(struct pool_maker *m, unsigned depth)
{
    static const char *const own[] = {"Usual", "self.Usual", "MY.More", "More"};

    if (pool_chance(m, m->style->timed)) {
        pool_add_timed(m);
    } else if (!pool_chance(m, m->style->branching)) {
        pool_add_comparison(m);
    } else if (depth == 0 || pool_chance(m, m->style->plain ? 15 : 45)) {
        pool_add_other_leaf(m);
    } else if (pool_chance(m, 60)) {
        pool_add_disjunction(m, depth);
    } else if (pool_chance(m, 40)) {
        buf_adds(m->out, "!(");
        pool_add_conjunction(m, 1 + pool_below(m, 2), depth - 1);
        buf_adds(m->out, ")");
    } else if (!m->style->plain && pool_chance(m, 40)) {
        buf_adds(m->out, "(");
        pool_add_clause(m, depth - 1);
        buf_adds(m->out, " ? ");
        pool_add_clause(m, depth - 1);
        buf_adds(m->out, " : ");
        pool_add_clause(m, depth - 1);
        buf_adds(m->out, ")");
    } else {
        pool_add_pick(m, own, POOL_COUNT(own));
    }
}

static inline void pool_add_conjunction(struct pool_maker *m, uint64_t count, unsigned depth)
{
    for (uint64_t i = 0; i < count; i++) {
        buf_adds(m->out, i ? " && " : "");
        pool_add_clause(m, depth);
    }
}

/* --------------------------------------------------------------------------------------------------------------- ads */

/* What is no literal: by way of an own attribute, of the counterpart's, or of the time. */
static inline void pool_add_deviant(struct pool_maker *m, const struct pool_subject *subject)
{
    switch (pool_below(m, 6)) {
    case 0:
        pool_add_literal(m, subject->sort);
        buf_adds(m->out, " + 1");
        break;
    case 1:
        buf_adds(m->out, pool_own(m)->name);
        break;
    case 2:
        pool_add_reference(m, pool_asked(m)->name);
        break;
    case 3:
        buf_addf(m->out, "time() - %d", subject->sort == SORT_STAMP ? 1 : POOL_NOW);
        break;
    case 4:
        pool_add_list(m, subject->sort);
        break;
    default:
        buf_adds(m->out, pool_chance(m, 50) ? "[ a = 1 ]" : "2 > 1");
        break;
    }
}

/* Attributes that constraints are put together from. */
static inline void pool_add_terms(struct pool_maker *m)
{
    static const char *const names[] = {"Usual", "More"};

    for (size_t i = 0; i < POOL_COUNT(names); i++) {
        if (!pool_chance(m, m->style->branching))
            continue;
        buf_addf(m->out, "%s = ", names[i]);
        pool_add_conjunction(m, 1 + pool_below(m, 2), 1);
        buf_adds(m->out, "; ");
    }
    if (pool_chance(m, 3 * m->style->timed))
        buf_addf(m->out, "Age = time() - %d; ", POOL_NOW + (int)pool_below(m, 4));
}

/* An attribute that takes a reserved word's place. */
static inline void pool_add_shadow(struct pool_maker *m)
{
    static const char *const shadows[] = {"other = [ Memory = 2; Need = 2; Arch = \"INTEL\" ]; ", "other = 1; ",
                                          "TARGET = [ Idle = true; Nice = true ]; ", "MY = [ Memory = 3 ]; ",
                                          "other = self; "};

    pool_add_pick(m, shadows, POOL_COUNT(shadows));
}

static inline void pool_add_constraint(struct pool_maker *m)
{
    if (pool_chance(m, m->side ? m->style->none / 4 : m->style->none))
        return;
    buf_adds(m->out, pool_chance(m, 85) ? "Constraint = " : "Requirements = ");
    pool_add_conjunction(m, 1 + pool_below(m, m->style->clauses), 2);
    buf_adds(m->out, "; ");
}

/* Writes an ad of m->side to m->out, which is emptied first. */
static inline void pool_add_ad(struct pool_maker *m)
{
    bool first = pool_chance(m, 50);

    buf_reset(m->out);
    buf_adds(m->out, "[ ");
    if (first)
        pool_add_constraint(m);
    for (size_t i = 0; i < POOL_SUBJECTS; i++) {
        const struct pool_subject *subject = &pool_subjects[m->side][i];

        if (pool_chance(m, subject->sort == SORT_WIDE ? 95 : 12))
            continue;
        buf_addf(m->out, "%s = ", subject->name);
        if (pool_chance(m, m->style->deviant))
            pool_add_deviant(m, subject);
        else
            pool_add_literal(m, subject->sort);
        buf_adds(m->out, "; ");
    }
    if (pool_chance(m, 50)) {
        buf_addf(m->out, "%s = ", pool_lists[m->side]);
        pool_add_list(m, pool_chance(m, 50) ? SORT_TEXT : SORT_NUMBER);
        buf_adds(m->out, "; ");
    }
    for (unsigned i = 0; i < m->style->extras; i++) {
        if (pool_chance(m, 70))
            continue;
        buf_addf(m->out, "Extra%u = ", i);
        pool_add_literal(m, SORT_NUMBER);
        buf_adds(m->out, "; ");
    }
    pool_add_terms(m);
    if (pool_chance(m, m->style->strange) && pool_chance(m, 20))
        pool_add_shadow(m);
    if (!first)
        pool_add_constraint(m);
    buf_adds(m->out, "]");
}

/* A style, from plain to wild. */
static inline struct pool_style pool_style(struct pool_maker *m)
{
    static const unsigned percents[] = {0, 3, 10, 30};
    struct pool_style style = {.many = pool_chance(m, 30),
                               .strange = percents[pool_below(m, 4)],
                               .deviant = percents[pool_below(m, 3)],
                               .branching = percents[pool_below(m, 4)] * 2,
                               .timed = percents[pool_below(m, 4)] / 2,
                               .none = 10 + (unsigned)pool_below(m, 50),
                               .clauses = 1 + (unsigned)pool_below(m, 4),
                               .window = (unsigned)pool_below(m, 256),
                               .extras = pool_chance(m, 2) ? 300 : 0,
                               .plain = pool_chance(m, 40)};

    if (pool_chance(m, 15)) { /* hardly anything must be evaluated, though there are disjunctions */
        style.strange = 3;
        style.deviant = style.timed = 0;
        style.branching = 60;
        style.none = 80;
        style.plain = true;
    }
    return style;
}

#endif
