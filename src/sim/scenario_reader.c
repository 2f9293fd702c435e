/* scenario_reader.c: reads attributes of a scenario: numbers, counts and distributions; and finds the place in the text of what is wrong. */
#include "sim/scenario_parts.h"

#include "lang/text/lex.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_STEPS 32
#define CHOICES_MAX 10000

/* ---------------------------------------------------------------------------------------------------------- places */

static bool token_is(const struct token *token, const char *name)
{
    size_t len = (size_t)(token->end - token->start);

    if (token->kind != TOKEN_NAME || len != strlen(name))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((token->start[i] | 32) != (name[i] | 32))
            return false;
    return true;
}

static int token_nesting(int kind)
{
    return kind == TOKEN_OPEN || kind == TOKEN_OPEN_SQUARE || kind == TOKEN_OPEN_BRACE      ? 1
           : kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_SQUARE || kind == TOKEN_CLOSE_BRACE ? -1
                                                                                            : 0;
}

static bool token_ends(const struct lexer *lexer)
{
    return lexer->token.kind == TOKEN_END || lexer->token.kind == TOKEN_BAD;
}

/* Moves from the bracket of an ad to the name of its attribute; from the brace of a list to the first token of its element. */
static bool place_enter(struct lexer *lexer, const struct path *step)
{
    uint32_t number = 0;
    int depth = 0;

    if (lexer->token.kind != (step->name ? TOKEN_OPEN_SQUARE : TOKEN_OPEN_BRACE))
        return false;
    for (lex_next(lexer); !token_ends(lexer) && depth >= 0; lex_next(lexer)) {
        if (depth == 0 && !step->name && number == step->number)
            return true;
        if (depth == 0 && step->name && token_is(&lexer->token, step->name)) {
            const struct lexer before = *lexer;

            lex_next(lexer);
            if (lexer->token.kind == TOKEN_ASSIGN) {
                *lexer = before;
                return true;
            }
        }
        depth += token_nesting(lexer->token.kind);
        number += depth == 0 && lexer->token.kind == TOKEN_COMMA;
    }
    return false;
}

/* Finds the place of a path, as far as the text goes: a computed value has no place of its own. */
static void place_find(struct reader *reader, const struct path *path, unsigned *ret_line, unsigned *ret_column)
{
    const struct path *steps[PATH_MAX_STEPS];
    struct lexer lexer;
    struct err err = {0};
    uint32_t count = 0;
    const char *found;

    for (; path && count < PATH_MAX_STEPS; path = path->outer)
        steps[count++] = path;
    lex_init(&lexer, &dialect_classic, reader->text, reader->len, &err);
    lex_next(&lexer);
    found = lexer.token.start;
    while (count && place_enter(&lexer, steps[--count])) {
        found = lexer.token.start;
        if (!steps[count]->name)
            continue;
        lex_next(&lexer);
        lex_next(&lexer);
    }
    err_place(reader->text, (size_t)(found - reader->text), ret_line, ret_column);
}

static void path_print(char *out, size_t room, const struct path *path)
{
    size_t len;

    if (!path)
        return;
    path_print(out, room, path->outer);
    len = strlen(out);
    if (path->name)
        snprintf(out + len, room - len, "%s%s", len ? "." : "", path->name);
    else
        snprintf(out + len, room - len, "[%u]", path->number);
}

static void reader_say(struct reader *reader, const struct path *path, const char *words, struct err *ret)
{
    char where[200] = "";
    unsigned line, column;

    path_print(where, sizeof where, path);
    place_find(reader, path, &line, &column);
    err_at(ret, line, column, "%s%s%s", where, *where ? ": " : "", words);
}

int reader_fail(struct reader *reader, const struct path *path, const char *format, ...)
{
    char words[300];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    reader_say(reader, path, words, reader->err);
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------- values */

/* Does any expression of the scenario name this attribute? Then something reads it. */
static bool tree_names(const struct tree *tree, symbol name)
{
    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct expr *e = &tree->cells[i];

        if ((expr_has_symbol(e) && symbol_same(e->u.name.id, name)) ||
            (e->kind == EXPR_DOT && symbol_same(EXPR_DOT_BASE(e), name)))
            return true;
    }
    return false;
}

void section_known(const struct section *section, const char *const *names)
{
    const struct scope *scope = section->scope;
    const struct symbols *symbols = scope->tree->symbols;
    const struct expr *parts = tree_parts(scope->tree, scope->ad);

    for (uint32_t i = 0; section->reader->warn && i < scope->ad->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(symbols, parts[i].label, &len);
        struct path path = {section->path, name, 0};
        struct err warning = {0};
        bool known = false;

        for (const char *const *at = names; *at && !known; at++)
            known = symbols_named(symbols, parts[i].label, *at, strlen(*at));
        if (known || tree_names(scope->tree, parts[i].label))
            continue;
        reader_say(section->reader, &path, "nobody reads this", &warning);
        section->reader->warn(section->reader->user, &warning);
    }
}

bool section_value(const struct section *section, const char *name, struct value *ret)
{
    symbol known = symbols_find(section->scope->tree->symbols, name, strlen(name));

    *ret = value_undefined();
    return known && eval_attribute(&section->reader->eval, section->scope, known, ret) && ret->type != VALUE_UNDEFINED;
}

/* Reads a number, or a span of time in seconds. */
static bool value_number(const struct value *value, double *ret)
{
    if (value->type == VALUE_REAL)
        *ret = value->u.real;
    else if (value->type == VALUE_INTEGER || value->type == VALUE_RELTIME)
        *ret = (double)value->u.integer;
    else
        return false;
    return isfinite(*ret);
}

int section_number(const struct section *section, const char *name, double least, double most, double *ret)
{
    struct path path = {section->path, name, 0};
    struct value value;
    double number;

    if (!section_value(section, name, &value))
        return 0;
    if (!value_number(&value, &number) || number < least || number > most)
        return reader_fail(section->reader, &path, "expected a number from %.10g to %.10g", least, most);
    *ret = number;
    return 0;
}

int section_count(const struct section *section, const char *name, uint64_t least, uint64_t most, uint64_t *ret)
{
    struct path path = {section->path, name, 0};
    struct value value;

    if (!section_value(section, name, &value))
        return 0;
    if (value.type != VALUE_INTEGER || value.u.integer < 0 || (uint64_t)value.u.integer < least ||
        (uint64_t)value.u.integer > most)
        return reader_fail(section->reader, &path, "expected a whole number from %llu to %llu",
                           (unsigned long long)least, (unsigned long long)most);
    *ret = (uint64_t)value.u.integer;
    return 0;
}

int section_open(const struct section *section, const struct path *path, struct section *ret)
{
    struct value value;

    if (!section_value(section, path->name, &value) || value.type != VALUE_AD)
        return reader_fail(section->reader, path, "expected an ad [ ... ]");
    *ret = (struct section){section->reader, value.scope, path};
    return 0;
}

/* --------------------------------------------------------------------------------------------------- distributions */

int weights_sum(double *weights, uint32_t count, size_t stride)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        double *weight = (double *)(void *)((char *)weights + i * stride);

        sum += *weight;
        *weight = sum;
    }
    for (uint32_t i = 0; i < count; i++)
        *(double *)(void *)((char *)weights + i * stride) /= sum;
    return sum > 0 ? 0 : -1;
}

static const struct {
    const char *name;
    const char *parameters[DIST_PARAMETERS];
} dist_rows[DIST_COUNT] = {
    [DIST_FIXED] = {"fixed", {"Value", NULL}},
    [DIST_UNIFORM] = {"uniform", {"Least", "Most"}},
    [DIST_EXPONENTIAL] = {"exponential", {"Mean", NULL}},
    [DIST_LOGNORMAL] = {"lognormal", {"Mean", "Deviation"}},
    [DIST_CHOICE] = {"choice", {NULL, NULL}},
    [DIST_LAWS + LAW_GAUSSIAN] = {"gaussian", {"Mean", "Deviation"}},
    [DIST_LAWS + LAW_GAMMA] = {"gamma", {"Shape", "Scale"}},
    [DIST_LAWS + LAW_WEIBULL] = {"weibull", {"Shape", "Scale"}},
    [DIST_LAWS + LAW_PARETO] = {"pareto", {"Shape", "Scale"}},
    [DIST_LAWS + LAW_BETA] = {"beta", {"Shape", "Second"}},
    [DIST_LAWS + LAW_POISSON] = {"poisson", {"Mean", NULL}},
    [DIST_LAWS + LAW_ZIPF] = {"zipf", {"Exponent", NULL}},
};

static int choice_weights(const struct section *section, uint32_t count, struct dist_choice *choices)
{
    struct path path = {section->path, "Weights", 0};
    struct value list, one;

    for (uint32_t i = 0; i < count; i++)
        choices[i].upto = 1;
    if (!section_value(section, "Weights", &list))
        return weights_sum(&choices->upto, count, sizeof *choices);
    if (list.type != VALUE_LIST || list.len != count)
        return reader_fail(section->reader, &path, "expected a list of as many numbers as there are Values");
    for (uint32_t i = 0; i < count; i++) {
        struct path element = {&path, NULL, i};

        eval_element(&section->reader->eval, &list, i, &one);
        if (!value_number(&one, &choices[i].upto) || choices[i].upto < 0)
            return reader_fail(section->reader, &element, "expected a number that is not negative");
    }
    return weights_sum(&choices->upto, count, sizeof *choices) < 0
               ? reader_fail(section->reader, &path, "expected a weight above 0")
               : 0;
}

static int dist_choices(const struct section *section, bool words, double least, struct dist *dist)
{
    struct reader *reader = section->reader;
    struct path path = {section->path, "Values", 0};
    struct dist_choice *choices;
    struct value list, one;

    if (!section_value(section, "Values", &list) || list.type != VALUE_LIST || !list.len || list.len > CHOICES_MAX)
        return reader_fail(reader, &path, "expected a list of 1 to %d values", CHOICES_MAX);
    choices = arena_alloc(&reader->scenario->arena, list.len * sizeof *choices);
    memset(choices, 0, list.len * sizeof *choices);
    for (uint32_t i = 0; i < list.len; i++) {
        struct path element = {&path, NULL, i};
        const struct expr *e = &tree_parts(list.scope->tree, list.u.aggregate)[i];

        eval_element(&reader->eval, &list, i, &one);
        if (words && (one.type == VALUE_STRING || one.type == VALUE_BOOLEAN) &&
            list.scope->tree == reader->scenario->tree)
            choices[i].word = e;
        else if (reader_dist(reader, &element, &one, words, least, &choices[i].dist) < 0)
            return -1;
    }
    dist->choices = choices;
    dist->choice_count = list.len;
    return choice_weights(section, list.len, choices);
}

static unsigned dist_named(const struct value *value)
{
    unsigned kind = 0;

    while (kind < DIST_COUNT && (value->type != VALUE_STRING || strlen(dist_rows[kind].name) != value->len ||
                                 memcmp(dist_rows[kind].name, value->u.string, value->len) != 0))
        kind++;
    return kind;
}

static int dist_unknown(struct reader *reader, const struct path *path)
{
    char names[200] = "";
    size_t len = 0;

    for (unsigned i = 0; i < DIST_COUNT; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s\"%s\"",
                                !i                   ? ""
                                : i + 1 < DIST_COUNT ? ", "
                                                     : " or ",
                                dist_rows[i].name);
    return reader_fail(reader, path, "expected %s", names);
}

/* Refuses shapes, scales and exponents that the law does not allow. */
static int law_parameter(const struct section *section, const struct path *path, const struct dist *dist,
                         const char *name)
{
    double above = !strcmp(name, "Exponent") ? 1 : 0;

    if (!strcmp(name, "Mean") || !strcmp(name, "Deviation") || dist->kind != DIST_FIXED || dist->value > above)
        return 0;
    return reader_fail(section->reader, path, "expected a number above %g", above);
}

static int dist_parameters(const struct section *section, double least, struct dist *dist)
{
    const char *const *names = dist_rows[dist->kind].parameters;

    for (int i = 0; i < DIST_PARAMETERS && names[i]; i++) {
        struct path path = {section->path, names[i], 0};
        bool bound = dist->kind == DIST_UNIFORM || dist->kind == DIST_FIXED ||
                     (dist->kind == DIST_LAWS + LAW_GAUSSIAN && i == 0);

        if (section_dist(section, names[i], bound ? least : 0, &dist->parameters[i]) < 0)
            return -1;
        if (!dist->parameters[i])
            return reader_fail(section->reader, &path, "a distribution \"%s\" needs it", dist_rows[dist->kind].name);
        if (dist->kind >= DIST_LAWS && law_parameter(section, &path, dist->parameters[i], names[i]) < 0)
            return -1;
    }
    if (dist->kind == DIST_UNIFORM && dist->parameters[0]->kind == DIST_FIXED &&
        dist->parameters[1]->kind == DIST_FIXED && dist->parameters[0]->value > dist->parameters[1]->value) {
        struct path path = {section->path, "Most", 0};

        return reader_fail(section->reader, &path, "it is below Least");
    }
    return 0;
}

static int dist_section(const struct section *section, bool words, double least, struct dist *dist)
{
    static const char *const known[] = {"Distribution", "Value",   "Least",    "Most",  "Mean",    "Deviation",
                                        "Values",       "Weights", "Whole",    "Floor", "Ceiling", "Shape",
                                        "Scale",        "Second",  "Exponent", NULL};
    struct reader *reader = section->reader;
    struct path path = {section->path, "Distribution", 0};
    struct value value;

    section_known(section, known);
    section_value(section, "Distribution", &value);
    dist->kind = dist_named(&value);
    if (dist->kind == DIST_COUNT)
        return dist_unknown(reader, &path);
    if (dist->kind >= DIST_LAWS && !laws_known())
        return reader_fail(reader, &path, "this build has no GSL, from which \"%s\" comes", dist_rows[dist->kind].name);
    if (dist->kind == DIST_CHOICE ? dist_choices(section, words, least, dist) < 0
                                  : dist_parameters(section, least, dist) < 0)
        return -1;
    if (section_number(section, "Floor", least, 1e15, &dist->least) < 0 ||
        section_number(section, "Ceiling", dist->least, 1e15, &dist->most) < 0)
        return -1;
    if (dist->kind == DIST_FIXED) { /* fixed at a distribution: means that distribution */
        struct dist inner = *dist->parameters[0];

        *dist = inner;
    }
    dist->whole =
        (dist->kind == DIST_UNIFORM && dist_is_whole(dist->parameters[0]) && dist_is_whole(dist->parameters[1])) ||
        dist->kind == DIST_LAWS + LAW_POISSON || dist->kind == DIST_LAWS + LAW_ZIPF;
    if (section_value(section, "Whole", &value)) {
        path.name = "Whole";
        if (value.type != VALUE_BOOLEAN)
            return reader_fail(reader, &path, "expected true or false");
        dist->whole = value.boolean;
    }
    return 0;
}

int reader_dist(struct reader *reader, const struct path *path, const struct value *value, bool words, double least,
                const struct dist **ret)
{
    struct dist *dist = arena_alloc(&reader->scenario->arena, sizeof *dist);
    int depth = 0;

    for (const struct path *at = path; at; at = at->outer)
        depth++;
    *dist = (struct dist){.least = least, .most = 1e15};
    *ret = dist;
    if (depth >= PATH_MAX_STEPS)
        return reader_fail(reader, path, "too deep");
    if (value->type == VALUE_AD) {
        struct section section = {reader, value->scope, path};

        return dist_section(&section, words, least, dist);
    }
    if (!value_number(value, &dist->value))
        return reader_fail(reader, path, "expected a number or a distribution");
    if (dist->value < least)
        return reader_fail(reader, path, "expected at least %.10g", least);
    dist->whole = value->type == VALUE_INTEGER;
    return 0;
}

int section_dist(const struct section *section, const char *name, double least, const struct dist **ret)
{
    struct path path = {section->path, name, 0};
    struct value value;

    if (!section_value(section, name, &value))
        return 0;
    return reader_dist(section->reader, &path, &value, false, least, ret);
}
