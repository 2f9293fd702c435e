/* submit_macros.c: expands everything that begins with a dollar in a submit file: $(name), $(name:else), $ENV(name), $Fnx(name), $INT(name,%03d), ...
 *
 * Expansion counts its work, so that macros that double one another end in an error before memory runs out. */
#include "lang/form/submit_parts.h"

#include "lang/ad/eval.h"
#include "lang/text/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expansion {
    struct submit_reader *reader;
    struct submit_place at;
    struct buf *out;
    struct err *err;
    unsigned depth;
};

static int expand(struct expansion *expansion, const char *text, size_t len);

/* Expands into another buffer. */
static int expand_apart(const struct expansion *expansion, const char *text, size_t len, struct buf *out)
{
    struct expansion apart = *expansion;

    apart.out = out;
    return expand(&apart, text, len);
}

/* ------------------------------------------------------------------------------------------------------- what is known */

enum builtin { BUILTIN_PROCESS, BUILTIN_CLUSTER, BUILTIN_STEP, BUILTIN_ROW };

static const struct {
    const char *name;
    enum builtin what;
} builtins[] = {
    {"Process", BUILTIN_PROCESS},   {"ProcId", BUILTIN_PROCESS}, {"Cluster", BUILTIN_CLUSTER},
    {"ClusterId", BUILTIN_CLUSTER}, {"Step", BUILTIN_STEP},      {"Row", BUILTIN_ROW},
    {"ItemIndex", BUILTIN_ROW},
};

static int builtin_add(const struct expansion *expansion, size_t n)
{
    const struct submit_reader *reader = expansion->reader;
    struct buf *out = expansion->out;

    if (!reader->in_item)
        return submit_fail(expansion->at, expansion->err, "$(%s) is known only behind 'queue'", builtins[n].name);
    switch (builtins[n].what) {
    case BUILTIN_PROCESS:
        if (reader->literal)
            buf_addf(out, "%" PRIu64, reader->base + reader->step);
        else
            buf_addc(out, MARK_PROCESS);
        break;
    case BUILTIN_STEP:
        if (reader->literal || (reader->fold.items && reader->count == 1))
            buf_addf(out, "%" PRIu64, reader->step);
        else
            buf_addc(out, MARK_STEP);
        break;
    case BUILTIN_ROW:
        if (reader->fold.items)
            buf_addc(out, MARK_ROW);
        else
            buf_addf(out, "%" PRIu64, reader->item);
        break;
    case BUILTIN_CLUSTER:
        buf_addc(out, MARK_CLUSTER);
        break;
    }
    return 0;
}

/* Names of the pool that the file was written for, or of the moment of submission: there is nothing like them here. */
static const char *const foreign[] = {"SUBMIT_FILE", "SUBMIT_TIME", "YEAR", "MONTH", "DAY", "Node"};

/* Appends the value of a name: 1; 0 when there is no such name; -1. */
static int name_add(const struct expansion *expansion, const char *name, size_t len)
{
    struct submit_reader *reader = expansion->reader;
    const struct submit_world *world = reader->world;
    struct expansion below = *expansion;
    struct submit_macro *macro;

    for (uint32_t i = 0; reader->in_item && i < reader->variable_count; i++)
        if (submit_same(name, len, reader->variables[i].name)) {
            if (reader->fold.items) {
                buf_addc(expansion->out, (char)(MARK_VARIABLE + (int)i));
                return 1;
            }
            below.depth++;
            return expand(&below, reader->variables[i].value, reader->variables[i].len) < 0 ? -1 : 1;
        }
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (submit_same(name, len, builtins[i].name))
            return builtin_add(expansion, i) < 0 ? -1 : 1;
    macro = submit_macro(reader, name, len);
    if (macro) {
        macro->used = true;
        below.depth++;
        return expand(&below, macro->value, macro->len) < 0 ? -1 : 1;
    }
    if (submit_same(name, len, "dollar")) {
        buf_addc(expansion->out, '$');
        return 1;
    }
    if ((submit_same(name, len, "arch") && world->arch) || (submit_same(name, len, "opsys") && world->system)) {
        buf_adds(expansion->out, submit_same(name, len, "arch") ? world->arch : world->system);
        return 1;
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (submit_same(name, len, foreign[i]))
            return submit_fail(expansion->at, expansion->err, "$(%s) is not carried over", foreign[i]);
    return 0;
}

static int reference(const struct expansion *expansion, const char *body, size_t len)
{
    const char *colon = memchr(body, ':', len), *name = body;
    size_t name_len = colon ? (size_t)(colon - body) : len;
    int found;

    submit_trim(&name, &name_len);
    if (!name_len)
        return submit_fail(expansion->at, expansion->err, "expected a name in '$()'");
    found = name_add(expansion, name, name_len);
    if (found)
        return found < 0 ? -1 : 0;
    if (colon) {
        struct expansion below = *expansion;

        below.depth++;
        return expand(&below, colon + 1, len - (size_t)(colon - body) - 1);
    }
    if (textmap_find(&expansion->reader->missing, name, name_len) == TEXTMAP_NONE &&
        expansion->reader->missing.count < SUBMIT_MACROS_MAX) {
        textmap_add(&expansion->reader->missing, name, name_len);
        submit_remark(expansion->reader, expansion->at, "$(%.*s) is not defined: nothing stands in its place",
                      name_len > 60 ? 60 : (int)name_len, name);
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- functions */

#define FUNCTION_ARGUMENTS_MAX 64

struct arguments {
    const char *text[FUNCTION_ARGUMENTS_MAX];
    size_t len[FUNCTION_ARGUMENTS_MAX];
    size_t count;
};

static void arguments_split(const char *body, size_t len, struct arguments *ret)
{
    size_t start = 0;

    ret->count = 0;
    for (size_t i = 0; i <= len; i++)
        if ((i == len || body[i] == ',') && ret->count < FUNCTION_ARGUMENTS_MAX) {
            ret->text[ret->count] = body + start;
            ret->len[ret->count] = i - start;
            submit_trim(&ret->text[ret->count], &ret->len[ret->count]);
            ret->count++;
            start = i + 1;
        }
}

/* Appends the value of a name; or the text itself, when nothing has that name. 1 when the value depends on the
 * job: then each job is expanded by itself. */
static int argument_value(const struct expansion *expansion, const char *text, size_t len, struct buf *out)
{
    struct expansion apart = *expansion;
    int found;

    apart.out = out;
    apart.depth++;
    found = name_add(&apart, text, len);
    if (found == 0)
        found = expand(&apart, text, len);
    if (found < 0)
        return -1;
    if (submit_is_fixed(buf_string(out), out->len))
        return 0;
    if (expansion->reader->literal)
        return submit_fail(expansion->at, expansion->err,
                           "$(Cluster) is known only when it is submitted: no function can use it");
    expansion->reader->wants_literal = true;
    return 1;
}

static int whole_value(const struct expansion *expansion, const char *text, size_t len, int64_t *ret)
{
    static const struct env env = {.steps = 10000};
    struct value value = {0};
    struct tree *tree = NULL;
    struct arena arena;
    struct build build;
    struct eval eval;
    struct buf out;
    int result;

    buf_init(&out);
    arena_init(&arena);
    build_init(&build, expansion->reader->symbols, &dialect_condor);
    result = argument_value(expansion, text, len, &out);
    *ret = 0;
    if (result == 0) {
        tree = parse_expr(&build, NULL, buf_string(&out), out.len, NULL);
        eval_init(&eval, &env, &arena);
        if (tree)
            eval_tree(&eval, NULL, tree, &value);
        if (tree && value.type == VALUE_INTEGER)
            *ret = value.u.integer;
        else
            result =
                submit_fail(expansion->at, expansion->err, "expected a whole number, got '%.60s'", buf_string(&out));
    }
    tree_unref(tree);
    build_done(&build);
    arena_done(&arena);
    buf_done(&out);
    return result;
}

/* $INT(name,%04d) */
static int function_int(const struct expansion *expansion, const char *letters, size_t letter_count, const char *body,
                        size_t len)
{
    char format[16] = "%", text[128];
    struct arguments arguments;
    int64_t value;
    int result;

    (void)letters;
    (void)letter_count;
    arguments_split(body, len, &arguments);
    if (arguments.count == 2) {
        const char *given = arguments.text[1];
        size_t given_len = arguments.len[1], digits = 1, all;

        while (digits < given_len && strchr("0-+ ", given[digits]))
            digits++;
        all = digits;
        while (digits < given_len && given[digits] >= '0' && given[digits] <= '9')
            digits++;
        if (given_len < 2 || given_len > 8 || *given != '%' || digits - all > 2 || digits + 1 != given_len ||
            !strchr("dixXo", given[digits]))
            return submit_fail(expansion->at, expansion->err, "expected a format such as %%03d in $INT()");
        memcpy(format + 1, given + 1, digits - 1);
        memcpy(format + digits, PRId64, strlen(PRId64) - 1);
        format[digits + strlen(PRId64) - 1] = given[digits];
        format[digits + strlen(PRId64)] = '\0';
    } else if (arguments.count == 1) {
        memcpy(format, "%" PRId64, sizeof "%" PRId64);
    } else {
        return submit_fail(expansion->at, expansion->err, "expected $INT(name) or $INT(name,%%03d)");
    }
    result = whole_value(expansion, arguments.text[0], arguments.len[0], &value);
    if (result < 0)
        return -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value); /* the format has been checked */
#pragma GCC diagnostic pop
    buf_adds(expansion->out, text);
    return 0;
}

/* $CHOICE(index, a, b, c), or with the name of a list */
static int function_choice(const struct expansion *expansion, const char *letters, size_t letter_count,
                           const char *body, size_t len)
{
    struct arguments arguments, list;
    int64_t index;
    struct buf out;
    int result;

    (void)letters;
    (void)letter_count;
    arguments_split(body, len, &arguments);
    if (arguments.count < 2)
        return submit_fail(expansion->at, expansion->err, "expected $CHOICE(index, list)");
    result = whole_value(expansion, arguments.text[0], arguments.len[0], &index);
    if (result)
        return result < 0 ? -1 : 0;
    buf_init(&out);
    if (arguments.count == 2) {
        result = argument_value(expansion, arguments.text[1], arguments.len[1], &out);
        arguments_split(buf_string(&out), out.len, &list);
    } else {
        list = arguments;
        index += index >= 0;
    }
    if (result == 0 && (index < 0 || (uint64_t)index >= list.count))
        result = submit_fail(expansion->at, expansion->err, "expected an index into the list of $CHOICE()");
    if (result == 0)
        result = expand_apart(expansion, list.text[index], list.len[index], expansion->out);
    buf_done(&out);
    return result < 0 ? -1 : 0;
}

/* $SUBSTR(name,from,len) */
static int function_substr(const struct expansion *expansion, const char *letters, size_t letter_count,
                           const char *body, size_t len)
{
    struct arguments arguments;
    int64_t from, count = INT64_MAX, size;
    struct buf out;
    int result;

    (void)letters;
    (void)letter_count;
    arguments_split(body, len, &arguments);
    if (arguments.count < 2 || arguments.count > 3)
        return submit_fail(expansion->at, expansion->err,
                           "expected $SUBSTR(name, from) or $SUBSTR(name, from, length)");
    buf_init(&out);
    result = whole_value(expansion, arguments.text[1], arguments.len[1], &from);
    if (result == 0 && arguments.count == 3)
        result = whole_value(expansion, arguments.text[2], arguments.len[2], &count);
    if (result == 0)
        result = argument_value(expansion, arguments.text[0], arguments.len[0], &out);
    if (result == 0) {
        size = (int64_t)out.len;
        from = from < 0 ? (from < -size ? 0 : size + from) : from > size ? size : from;
        if (count < 0)
            count = count < -(size - from) ? 0 : size - from + count;
        if (count > size - from)
            count = size - from;
        buf_add(expansion->out, buf_string(&out) + from, (size_t)count);
    }
    buf_done(&out);
    return result < 0 ? -1 : 0;
}

/* $Fnx(name) and the like: the parts of a file's name. */
static int function_file(const struct expansion *expansion, const char *letters, size_t letter_count, const char *body,
                         size_t len)
{
    bool path = false, parent = false, name = false, ending = false, bare = false, quotes = false;
    const char *text, *slash, *dot;
    size_t text_len;
    struct buf out;
    int result;

    for (size_t i = 0; i < letter_count; i++) {
        switch (letters[i] | 0x20) {
        case 'p':
            path = true;
            break;
        case 'd':
            parent = true;
            break;
        case 'n':
            name = true;
            break;
        case 'x':
            ending = true;
            break;
        case 'b':
            bare = true;
            break;
        case 'q':
            quotes = true;
            break;
        default:
            return submit_fail(expansion->at, expansion->err, "expected the letters p, d, n, x, b and q in '$F%.*s'",
                               letter_count > 20 ? 20 : (int)letter_count, letters);
        }
    }
    if (!path && !parent && !name && !ending)
        path = name = ending = true;
    buf_init(&out);
    submit_trim(&body, &len);
    result = argument_value(expansion, body, len, &out);
    text = buf_string(&out);
    text_len = out.len;
    slash = strrchr(text, '/');
    dot = strrchr(slash ? slash : text, '.');
    if (result == 0) {
        const char *last = slash ? slash + 1 : text, *end = dot ? dot : text + text_len, *first = text;

        if (quotes)
            buf_addc(expansion->out, '"');
        if (parent && !path && slash)
            for (const char *at = text; at < slash; at++)
                first = *at == '/' ? at + 1 : first;
        if ((path || parent) && slash)
            buf_add(expansion->out, first, (size_t)(last - first) - (bare && !name));
        if (name)
            buf_add(expansion->out, last, (size_t)(end - last));
        if (ending && dot)
            buf_adds(expansion->out, dot + (bare && !name));
        if (quotes)
            buf_addc(expansion->out, '"');
    }
    buf_done(&out);
    return result < 0 ? -1 : 0;
}

static int function_basename(const struct expansion *expansion, const char *letters, size_t letter_count,
                             const char *body, size_t len)
{
    (void)letters;
    (void)letter_count;
    return function_file(expansion, "nx", 2, body, len);
}

static int function_dirname(const struct expansion *expansion, const char *letters, size_t letter_count,
                            const char *body, size_t len)
{
    (void)letters;
    (void)letter_count;
    return function_file(expansion, "p", 1, body, len);
}

static int function_env(const struct expansion *expansion, const char *letters, size_t letter_count, const char *body,
                        size_t len)
{
    const struct submit_world *world = expansion->reader->world;
    const char *colon = memchr(body, ':', len), *value, *name = body;
    size_t name_len = colon ? (size_t)(colon - body) : len;
    char called[256];

    (void)letters;
    (void)letter_count;
    submit_trim(&name, &name_len);
    if (!name_len || name_len >= sizeof called)
        return submit_fail(expansion->at, expansion->err, "expected the name of a variable in '$ENV()'");
    memcpy(called, name, name_len);
    called[name_len] = '\0';
    value = world->variable ? world->variable(world->user, called) : NULL;
    if (!value && colon)
        return expand_apart(expansion, colon + 1, len - (size_t)(colon - body) - 1, expansion->out);
    if (!value)
        return submit_fail(expansion->at, expansion->err, "there is no variable '%.60s' in the environment", called);
    if (submit_clean(value, strlen(value), expansion->at, false, expansion->err) < 0)
        return -1;
    buf_adds(expansion->out, value);
    return 0;
}

static const struct {
    const char *name;
    int (*fn)(const struct expansion *expansion, const char *letters, size_t letter_count, const char *body,
              size_t len);
} functions[] = {
    {"ENV", function_env},
    {"INT", function_int},
    {"CHOICE", function_choice},
    {"SUBSTR", function_substr},
    {"BASENAME", function_basename},
    {"DIRNAME", function_dirname},
    {"RANDOM_CHOICE", NULL},
    {"RANDOM_INTEGER", NULL},
    {"REAL", NULL},
    {"STRING", NULL},
    {"EVAL", NULL},
};

/* -------------------------------------------------------------------------------------------------------------- a value */

/* The place of the bracket that closes the one in front of `start`; `len` when there is none. */
static size_t closing(const char *text, size_t len, size_t start)
{
    unsigned depth = 1;

    for (size_t i = start; i < len; i++) {
        if (text[i] == '(')
            depth++;
        else if (text[i] == ')' && --depth == 0)
            return i;
    }
    return len;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Expands the text behind a dollar: 1 and how many bytes that was; 0 when it is only a dollar; -1. */
static int dollar(const struct expansion *expansion, const char *text, size_t len, size_t *ret_taken)
{
    size_t word = 0, end;
    int result = 0;

    while (word < len && is_letter(text[word]))
        word++;
    if (word >= len || text[word] != '(')
        return 0;
    end = closing(text, len, word + 1);
    if (end == len)
        return submit_fail(expansion->at, expansion->err, "expected ')' to close '$%.*s('", word > 30 ? 30 : (int)word,
                           text);
    *ret_taken = end + 1;
    if (!word)
        return reference(expansion, text + 1, end - 1) < 0 ? -1 : 1;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (submit_same(text, word, functions[i].name)) {
            if (!functions[i].fn)
                return submit_fail(expansion->at, expansion->err, "$%s() is not carried over", functions[i].name);
            result = functions[i].fn(expansion, text, word, text + word + 1, end - word - 1);
            return result < 0 ? -1 : 1;
        }
    if (*text == 'F')
        return function_file(expansion, text + 1, word - 1, text + word + 1, end - word - 1) < 0 ? -1 : 1;
    return submit_fail(expansion->at, expansion->err, "'$%.*s()' is not a function of the submit language",
                       word > 30 ? 30 : (int)word, text);
}

static int spend(const struct expansion *expansion, size_t amount)
{
    struct submit_reader *reader = expansion->reader;

    reader->work += amount;
    if (reader->work > SUBMIT_WORK_MAX)
        return submit_fail(expansion->at, expansion->err, "expected less: the macros of this file expand to too much");
    if (expansion->out->len > SUBMIT_VALUE_MAX)
        return submit_fail(expansion->at, expansion->err, "expected a value of at most %u bytes, macros expanded",
                           SUBMIT_VALUE_MAX);
    return 0;
}

static int expand(struct expansion *expansion, const char *text, size_t len)
{
    size_t start = 0, taken = 0;

    if (expansion->depth > SUBMIT_DEPTH_MAX)
        return submit_fail(expansion->at, expansion->err, "expected macros at most %d deep: does one mean itself?",
                           SUBMIT_DEPTH_MAX);
    for (size_t i = 0; i < len; i++) {
        int found;

        if (text[i] != '$')
            continue;
        if (i + 2 < len && text[i + 1] == '$' && text[i + 2] == '(')
            return submit_fail(expansion->at, expansion->err,
                               "'$$(...)' is filled in by the machine that is found: it is not carried over");
        buf_add(expansion->out, text + start, i - start);
        if (spend(expansion, i - start + 16) < 0)
            return -1;
        start = i;
        found = dollar(expansion, text + i + 1, len - i - 1, &taken);
        if (found < 0)
            return -1;
        if (found) {
            i += taken;
            start = i + 1;
        }
    }
    buf_add(expansion->out, text + start, len - start);
    return spend(expansion, len - start + 16);
}

int submit_expand(struct submit_reader *reader, const char *text, size_t len, struct submit_place at, struct buf *out,
                  struct err *err)
{
    struct expansion expansion = {reader, at, out, err, 0};

    buf_reserve(out, 1);
    return expand(&expansion, text, len);
}
