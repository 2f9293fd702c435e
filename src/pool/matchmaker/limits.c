/* limits.c: how many of a named thing may be in use at a time. */
#include "pool/matchmaker/limits.h"

#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ what is asked */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads one item between commas. */
static int read_one(const char *text, size_t len, struct limit_asked *ret, struct err *err)
{
    size_t at = 0;

    *ret = (struct limit_asked){.number = 1};
    for (; at < len && is_name(text[at]) && ret->len < SHARES_NAME_MAX; at++) {
        char c = text[at];

        ret->name[ret->len++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    if (at == 0 || is_digit(text[0]) || (at < len && text[at] != ':'))
        return err_set(err, "expected a name of letters, digits and '_', up to %d bytes, got '%.*s'", SHARES_NAME_MAX,
                       (int)(len < 40 ? len : 40), text);
    if (at == len)
        return 0;
    ret->number = 0;
    for (at++; at < len && is_digit(text[at]) && ret->number <= LIMITS_NUMBER_MAX; at++)
        ret->number = ret->number * 10 + (text[at] - '0');
    if (at < len || ret->number < 1 || ret->number > LIMITS_NUMBER_MAX)
        return err_set(err, "expected a number from 1 to %d behind '%s:'", LIMITS_NUMBER_MAX, ret->name);
    return 0;
}

static void asked_add(struct limits_asked *asked, const struct limit_asked *one)
{
    for (uint32_t i = 0; i < asked->count; i++)
        if (!strcmp(asked->items[i].name, one->name)) {
            asked->items[i].number += one->number;
            return;
        }
    asked->items[asked->count++] = *one;
}

int limits_read(const char *text, size_t len, struct limits_asked *ret, struct err *err)
{
    struct limit_asked one;
    uint32_t seen = 0;

    ret->count = 0;
    while (len && is_blank(text[len - 1]))
        len--;
    for (size_t at = 0, end; at < len; at = end + 1) {
        size_t until;

        while (at < len && is_blank(text[at]))
            at++;
        for (end = at; end < len && text[end] != ','; end++)
            ;
        for (until = end; until > at && is_blank(text[until - 1]); until--)
            ;
        if (read_one(text + at, until - at, &one, err) < 0)
            return -1;
        if (++seen > LIMITS_OF_JOB_MAX)
            return err_set(err, "expected up to %d names", LIMITS_OF_JOB_MAX);
        asked_add(ret, &one);
        if (end + 1 == len)
            return err_set(err, "expected a name behind the last comma");
    }
    return 0;
}

void limits_print(const struct limits_asked *asked, struct text *ret)
{
    char text[LIMITS_OF_JOB_MAX * (SHARES_NAME_MAX + 16)];
    size_t len = 0;

    for (uint32_t i = 0; i < asked->count; i++) {
        const struct limit_asked *one = &asked->items[i];

        len += (size_t)snprintf(text + len, sizeof text - len, one->number == 1 ? "%s%s" : "%s%s:%lld", i ? "," : "",
                                one->name, (long long)one->number);
    }
    text_set(ret, text, len);
}

/* ---------------------------------------------------------------------------------------------------------- the table */

void limits_init(struct limits *limits, struct engine *engine, uint64_t seed)
{
    *limits = (struct limits){.engine = engine, .default_limit = SHARES_NO_LIMIT, .learns = true};
    textmap_init(&limits->names, seed);
}

void limits_done(struct limits *limits)
{
    if (!limits)
        return;
    textmap_done(&limits->names);
    free(limits->items);
}

static struct limit *limit_of(struct limits *limits, const char *name, size_t len, uint32_t *ret_place)
{
    uint32_t place = textmap_find(&limits->names, name, len);

    if (place == TEXTMAP_NONE) {
        place = textmap_add(&limits->names, name, len);
        if (place >= limits->room) {
            limits->room = place + place / 2 + 16;
            limits->items = mem_grow(limits->items, limits->room * sizeof *limits->items);
        }
        limits->items[place] = (struct limit){.most = limits->default_limit};
    }
    *ret_place = place;
    return &limits->items[place];
}

/* A limit that is neither configured nor in use is forgotten, or strangers could fill the table. */
static void limit_tidy(struct limits *limits, uint32_t place)
{
    if (!limits->items[place].configured && !limits->items[place].used)
        textmap_remove(&limits->names, place);
}

static void gates_open(struct limits *limits)
{
    engine_open_gate(limits->engine, LIMITS_GATE_NEVER);
    engine_open_gate(limits->engine, LIMITS_GATE_LEARNS);
    for (uint32_t i = 0; i < limits->names.places; i++)
        engine_open_gate(limits->engine, LIMITS_GATE_FIRST + i);
}

void limits_set(struct limits *limits, const struct shares *shares)
{
    uint32_t place;

    gates_open(limits);
    limits->default_limit = shares->default_limit;
    for (uint32_t i = 0; i < limits->names.places; i++)
        if (textmap_text(&limits->names, i)) {
            limits->items[i].configured = false;
            limits->items[i].most = limits->default_limit;
        }
    for (uint32_t i = 0; i < shares->limit_count; i++) {
        struct limit *limit = limit_of(limits, shares->limits[i].name, strlen(shares->limits[i].name), &place);

        limit->configured = true;
        limit->most = shares->limits[i].most;
    }
    for (uint32_t i = 0; i < limits->names.places; i++)
        if (textmap_text(&limits->names, i))
            limit_tidy(limits, i);
}

void limits_learnt(struct limits *limits)
{
    limits->learns = false;
    engine_open_gate(limits->engine, LIMITS_GATE_LEARNS);
}

/* ------------------------------------------------------------------------------------------------------ take and give */

uint32_t limits_closed(const struct limits *limits, const struct limits_asked *asked)
{
    bool counts = false;

    if (MUTANT(LIMIT_IGNORED))
        return ENGINE_OPEN;
    for (uint32_t i = 0; i < asked->count; i++) {
        uint32_t place = textmap_find(&limits->names, asked->items[i].name, asked->items[i].len);
        const struct limit *limit = place != TEXTMAP_NONE ? &limits->items[place] : NULL;
        int64_t most = limit ? limit->most : limits->default_limit;

        if (most == SHARES_NO_LIMIT)
            continue;
        counts = true;
        if (asked->items[i].number > most)
            return LIMITS_GATE_NEVER;
        if (limit && limit->used + asked->items[i].number > most)
            return LIMITS_GATE_FIRST + place;
    }
    return counts && limits->learns ? LIMITS_GATE_LEARNS : ENGINE_OPEN;
}

struct holdings *limits_take(struct limits *limits, const struct limits_asked *asked)
{
    struct holdings *holdings;

    if (!asked->count)
        return NULL;
    holdings = mem_alloc(sizeof *holdings);
    holdings->count = asked->count;
    for (uint32_t i = 0; i < asked->count; i++) {
        struct limit *limit = limit_of(limits, asked->items[i].name, asked->items[i].len, &holdings->items[i].limit);

        limit->used += asked->items[i].number;
        holdings->items[i].number = asked->items[i].number;
    }
    return holdings;
}

void limits_give(struct limits *limits, struct holdings *holdings)
{
    for (uint32_t i = 0; holdings && i < holdings->count; i++) {
        uint32_t place = holdings->items[i].limit;

        limits->items[place].used -= holdings->items[i].number;
        engine_open_gate(limits->engine, LIMITS_GATE_FIRST + place);
        limit_tidy(limits, place);
    }
    free(holdings);
}

/* ---------------------------------------------------------------------------------------------------------- questions */

const char *limits_gate(const struct limits *limits, uint32_t gate, struct limit *ret)
{
    const char *name = gate >= LIMITS_GATE_FIRST ? textmap_text(&limits->names, gate - LIMITS_GATE_FIRST) : NULL;

    if (name)
        *ret = limits->items[gate - LIMITS_GATE_FIRST];
    return name;
}

bool limits_next(const struct limits *limits, uint32_t from, const char **ret_name, struct limit *ret,
                 uint32_t *ret_next)
{
    for (; from < limits->names.places; from++) {
        *ret_name = textmap_text(&limits->names, from);
        if (!*ret_name)
            continue;
        *ret = limits->items[from];
        *ret_next = from + 1;
        return true;
    }
    return false;
}
