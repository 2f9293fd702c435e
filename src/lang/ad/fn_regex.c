/* fn_regex.c: patterns, with PCRE2.
 *
 * A pattern is compiled for each call, unless the environment keeps it, and searched for. PCRE2's match limit counts anew at each place of the text
 * where a match may begin, so it does not bound the time. The library calls regex_count before each item of the pattern instead, which counts all
 * the work: one for the call, and one for each 16 bytes that the match moved. Past the limit the value is error. */
#include "lang/ad/fn.h"
#include "lang/ad/patterns.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_PATTERN_MAX 1024     /* bytes */
#define REGEX_WORK_MAX 100000      /* of one call; also PCRE2's match and depth limits */
#define REGEX_HEAP_MAX 1024        /* KiB, of PCRE2 for one match */
#define REGEX_STEPS 10             /* for compiling a pattern, and one more for each byte of it */
#define REGEX_GIVEN_UP_STEPS 10000 /* for a match past a limit, which has done more work than was counted */
#define REGEX_WORK_STEP 3          /* units of work for one step of the evaluation */

enum substitute {
    SUBSTITUTE_WHOLE = 1, /* f: give the whole text, the substitute in the match's place */
    SUBSTITUTE_ALL = 2,   /* g: each match, not only the first */
};

/* What is made of a pattern. */
struct pattern {
    pcre2_code *code;
    pcre2_match_data *found;
    pcre2_match_context *limits;
    size_t size; /* of the code */
    uint32_t options;
    char *text; /* of one that is kept; NULL: there is none */
    size_t len;
    bool busy; /* a call is at work with it: another one, inside that, makes its own */
};

struct patterns {
    struct pattern items[PATTERNS_KEPT];
    uint64_t compiled;
};

struct regex {
    struct pattern own;      /* or ... */
    struct pattern *pattern; /* ... one that the environment keeps */
    uint32_t work;           /* done so far */
    size_t place;            /* where the match was at its last callout */
    int substitute;
};

static int regex_count(pcre2_callout_block *block, void *user)
{
    struct regex *regex = user;
    size_t moved = block->current_position > regex->place ? block->current_position - regex->place
                                                          : regex->place - block->current_position;

    regex->place = block->current_position;
    regex->work += 1 + (uint32_t)(moved / 16);
    return regex->work > REGEX_WORK_MAX ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* The letters that say how to match; other letters mean nothing. HTCondor knows only the small ones here. */
static const struct letter {
    char letter;
    unsigned char dialects;
    unsigned char substitute;
    uint32_t option;
} letters[] = {
    {'i', DIALECT_ALL, 0, PCRE2_CASELESS},       {'m', DIALECT_ALL, 0, PCRE2_MULTILINE},
    {'s', DIALECT_ALL, 0, PCRE2_DOTALL},         {'x', DIALECT_ALL, 0, PCRE2_EXTENDED},
    {'f', DIALECT_ALL, SUBSTITUTE_WHOLE, 0},     {'g', DIALECT_ALL, SUBSTITUTE_ALL, 0},
    {'I', DIALECT_CLASSIC, 0, PCRE2_CASELESS},   {'M', DIALECT_CLASSIC, 0, PCRE2_MULTILINE},
    {'S', DIALECT_CLASSIC, 0, PCRE2_DOTALL},     {'X', DIALECT_CLASSIC, 0, PCRE2_EXTENDED},
    {'F', DIALECT_CLASSIC, SUBSTITUTE_WHOLE, 0}, {'G', DIALECT_CLASSIC, SUBSTITUTE_ALL, 0},
};

static uint32_t read_letters(struct fn_text text, unsigned dialects, int *ret_substitute)
{
    uint32_t options = 0;

    *ret_substitute = 0;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (!(letters[i].dialects & dialects) || !text.len || !memchr(text.at, letters[i].letter, text.len))
            continue;
        options |= letters[i].option;
        *ret_substitute |= letters[i].substitute;
    }
    return options;
}

static void pattern_done(struct pattern *pattern)
{
    pcre2_code_free(pattern->code);
    pcre2_match_data_free(pattern->found);
    pcre2_match_context_free(pattern->limits);
    free(pattern->text);
    *pattern = (struct pattern){.code = NULL};
}

struct patterns *patterns_new(void)
{
    struct patterns *patterns = mem_alloc(sizeof *patterns);

    *patterns = (struct patterns){.compiled = 0};
    return patterns;
}

void patterns_free(struct patterns *patterns)
{
    if (!patterns)
        return;
    for (int i = 0; i < PATTERNS_KEPT; i++)
        pattern_done(&patterns->items[i]);
    free(patterns);
}

uint64_t patterns_compiled(const struct patterns *patterns)
{
    return patterns->compiled;
}

/* Where a pattern is kept, or would be. */
static struct pattern *patterns_place(struct patterns *patterns, struct fn_text text, uint32_t options)
{
    uint64_t hash = options;

    for (size_t i = 0; i < text.len; i++)
        hash = hash * 0x100000001b3u ^ (unsigned char)text.at[i];
    return &patterns->items[rng_mix(hash) % PATTERNS_KEPT];
}

static bool pattern_is(const struct pattern *pattern, struct fn_text text, uint32_t options)
{
    return pattern->text && pattern->len == text.len && pattern->options == options &&
           (text.len == 0 || memcmp(pattern->text, text.at, text.len) == 0);
}

/* False when it is not a pattern; `ret` needs pattern_done in any case. Bytes are bytes: with UTF, PCRE2 would check the whole text at each match. */
static bool pattern_compile(struct fn_text text, uint32_t options, struct pattern *ret)
{
    int why;
    size_t where;

    *ret = (struct pattern){.options = options};
    ret->code = pcre2_compile((PCRE2_SPTR)text.at, text.len,
                              options | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &why, &where, NULL);
    if (!ret->code)
        return false;
    pcre2_pattern_info(ret->code, PCRE2_INFO_SIZE, &ret->size);
    return true;
}

static bool pattern_prepare(struct pattern *pattern)
{
    pattern->found = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    pattern->limits = pcre2_match_context_create(NULL);
    if (!pattern->found || !pattern->limits)
        return false;
    pcre2_set_match_limit(pattern->limits, REGEX_WORK_MAX);
    pcre2_set_depth_limit(pattern->limits, REGEX_WORK_MAX);
    pcre2_set_heap_limit(pattern->limits, REGEX_HEAP_MAX);
    return true;
}

/* The environment keeps the pattern from now on, in the place of another. */
static void regex_keep(struct regex *regex, struct pattern *place, struct fn_text text)
{
    pattern_done(place);
    *place = regex->own;
    regex->own = (struct pattern){.code = NULL};
    regex->pattern = place;
    place->text = mem_dup(text.at ? text.at : "", text.len);
    place->len = text.len;
    place->busy = true;
}

static void regex_done(struct regex *regex)
{
    if (regex->pattern && regex->pattern != &regex->own)
        regex->pattern->busy = false;
    pattern_done(&regex->own);
}

/* False when the pattern is too long or is not a pattern; `regex` needs regex_done in any case. The work is charged as if it were compiled, also where it is
 * kept: for its length, and for what it becomes, since (a{1,100}){1,100} is short, and compiles to much. */
static bool regex_init(struct call *call, struct regex *regex, struct fn_text text, struct fn_text option_letters,
                       unsigned dialects)
{
    struct patterns *patterns = call->eval->env->patterns;
    struct pattern *place = NULL;
    uint32_t options;

    *regex = (struct regex){.pattern = NULL};
    options = read_letters(option_letters, dialects, &regex->substitute);
    if (text.len > REGEX_PATTERN_MAX || !eval_steps(call->eval, REGEX_STEPS + text.len))
        return false;
    if (patterns) {
        place = patterns_place(patterns, text, options);
        if (place->busy)
            place = NULL;
    }
    if (place && pattern_is(place, text, options)) {
        regex->pattern = place;
        place->busy = true;
        return eval_steps(call->eval, place->size / 4);
    }
    if (patterns)
        patterns->compiled++;
    regex->pattern = &regex->own;
    if (!pattern_compile(text, options, &regex->own) || !eval_steps(call->eval, regex->own.size / 4) ||
        !pattern_prepare(&regex->own))
        return false;
    if (place && regex->own.size <= PATTERNS_BYTES_MAX)
        regex_keep(regex, place, text);
    return true;
}

/* Finds the first match from `from` on. Returns the number of groups that it set, the whole match included; 0 for
 * no match; below 0 when a limit was passed. */
static int regex_search(struct call *call, struct regex *regex, struct fn_text text, size_t from, uint32_t options)
{
    uint32_t before = regex->work;
    int groups;

    regex->place = from;
    pcre2_set_callout(regex->pattern->limits, regex_count, regex);
    groups = pcre2_match(regex->pattern->code, (PCRE2_SPTR)text.at, text.len, from, options, regex->pattern->found,
                         regex->pattern->limits);
    if (!eval_steps(call->eval, 1 + (regex->work - before) / REGEX_WORK_STEP))
        return -1;
    if (groups < 0 && groups != PCRE2_ERROR_NOMATCH)
        eval_steps(call->eval, REGEX_GIVEN_UP_STEPS);
    return groups == PCRE2_ERROR_NOMATCH ? 0 : groups;
}

static struct fn_text regex_group(const struct regex *regex, struct fn_text text, int n)
{
    const size_t *places = pcre2_get_ovector_pointer(regex->pattern->found) + 2 * n;

    if (places[0] == PCRE2_UNSET || places[1] < places[0])
        return (struct fn_text){text.at, 0};
    return (struct fn_text){text.at + places[0], places[1] - places[0]};
}

/* Appends the substitute with its groups filled in; false when there is no such group, or the result is too long. */
static bool regex_fill(struct call *call, const struct regex *regex, struct fn_text text, int groups,
                       struct fn_text substitute, struct buf *out)
{
    const char *at = substitute.at, *end = at + substitute.len;
    size_t before = out->len;

    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        bool group = stop && stop + 1 < end && ascii_digit(stop[1]);

        if (group) {
            struct fn_text found;

            if (stop[1] - '0' >= groups)
                return false;
            found = regex_group(regex, text, stop[1] - '0');
            buf_add(out, at, (size_t)(stop - at));
            buf_add(out, found.at, found.len);
            at = stop + 2;
        } else {
            stop = stop ? stop + 1 : end;
            buf_add(out, at, (size_t)(stop - at));
            at = stop;
        }
        if (out->len > call->eval->bytes)
            return false;
    }
    return eval_steps(call->eval, (out->len - before) / 16);
}

static void add_between(struct buf *out, struct fn_text text, size_t from, size_t to)
{
    if (to > from)
        buf_add(out, text.at + from, to - from);
}

/* Substitutes the first match, or each; false when a limit was passed. */
static bool regex_substitute(struct call *call, struct regex *regex, struct fn_text text, struct fn_text substitute,
                             struct buf *out)
{
    bool whole = regex->substitute & SUBSTITUTE_WHOLE;
    size_t done = 0;        /* how much of the text has been copied */
    uint32_t not_empty = 0; /* after an empty match, search at that place for one that is not empty */

    for (size_t from = 0; from <= text.len;) {
        int groups = regex_search(call, regex, text, from, not_empty);
        struct fn_text match;
        size_t start;

        if (groups < 0)
            return false;
        if (groups == 0 && !not_empty)
            break;
        if (groups == 0) {
            not_empty = 0;
            from++;
            continue;
        }
        match = regex_group(regex, text, 0);
        start = (size_t)(match.at - text.at);
        if (whole)
            add_between(out, text, done, start);
        if (!regex_fill(call, regex, text, groups, substitute, out))
            return false;
        done = from = start + match.len;
        not_empty = match.len ? 0 : PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED;
        if (!(regex->substitute & SUBSTITUTE_ALL))
            break;
    }
    if (whole)
        add_between(out, text, done, text.len);
    return out->len <= call->eval->bytes;
}

void fn_regexp(struct call *call, struct value *ret)
{
    struct fn_text text[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct regex regex;
    int groups = -1;

    *ret = value_error();
    if (!call_get_texts(call, 0, text))
        return;
    if (regex_init(call, &regex, text[0], text[2], call->dialect->bit))
        groups = regex_search(call, &regex, text[1], 0, 0);
    if (groups >= 0)
        *ret = value_boolean(groups > 0);
    regex_done(&regex);
}

/* Does an element of the list match? The first element that matches, or that is not a string, decides. */
static void match_elements(struct call *call, struct regex *regex, struct value *ret)
{
    const struct value *list = &call->arguments[1];
    bool undefined = false;

    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        struct value element;
        struct fn_text text;
        int groups;

        eval_element(call->eval, list, i, &element);
        if (element.type == VALUE_UNDEFINED) {
            undefined = true;
            continue;
        }
        groups = value_get_text(&element, &text) && eval_charge_text(call->eval, text.len)
                     ? regex_search(call, regex, text, 0, 0)
                     : -1;
        if (groups) {
            *ret = groups > 0 ? value_boolean(true) : value_error();
            return;
        }
    }
    *ret = undefined ? value_undefined() : value_boolean(false);
}

void fn_regexp_member(struct call *call, struct value *ret)
{
    struct fn_text pattern, option_letters = {NULL, 0};
    struct regex regex;

    *ret = value_error();
    if (!value_get_text(&call->arguments[0], &pattern) || call->arguments[1].type != VALUE_LIST ||
        !call_get_texts(call, 2, &option_letters))
        return;
    if (regex_init(call, &regex, pattern, option_letters, call->dialect->bit))
        match_elements(call, &regex, ret);
    regex_done(&regex);
}

static void substitute(struct call *call, int always, struct value *ret)
{
    struct fn_text text[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct regex regex;
    struct buf out;

    *ret = value_error();
    if (!call_get_texts(call, 0, text))
        return;
    buf_init(&out);
    if (regex_init(call, &regex, text[0], text[3], call->dialect->bit)) {
        regex.substitute |= always;
        if (regex_substitute(call, &regex, text[1], text[2], &out))
            call_return_text(call, (struct fn_text){out.text, out.len}, ret);
    }
    regex_done(&regex);
    buf_done(&out);
}

void fn_regexps(struct call *call, struct value *ret)
{
    substitute(call, 0, ret);
}

void fn_replace(struct call *call, struct value *ret)
{
    substitute(call, SUBSTITUTE_WHOLE, ret);
}

void fn_replace_all(struct call *call, struct value *ret)
{
    substitute(call, SUBSTITUTE_WHOLE | SUBSTITUTE_ALL, ret);
}

/* Searches each item. The option letters may be in either case. */
void fn_string_list_regexp_member(struct call *call, struct value *ret)
{
    struct fn_text text[4] = {{NULL, 0}, {NULL, 0}, {", ", 2}, {NULL, 0}}, item;
    struct text_items items;
    struct regex regex;
    int groups = 0;
    bool some = false;

    *ret = value_error();
    if (!call_get_texts(call, 0, text) || !text_items_init(call, text[1], text[2], &items))
        return;
    if (regex_init(call, &regex, text[0], text[3], DIALECT_ALL)) {
        while (groups == 0 && text_items_next(&items, &item)) {
            some = true;
            groups = regex_search(call, &regex, item, 0, 0);
        }
        if (groups >= 0)
            *ret = some ? value_boolean(groups > 0) : value_undefined();
    }
    regex_done(&regex);
}
