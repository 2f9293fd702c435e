/* submit_functions.c: the functions of the submit language: $Fnx(name), $INT(name,%03d), $CHOICE(index,list), $RANDOM_INTEGER(1,6), ... */
#include "lang/form/submit_expansion.h"

#include "lang/ad/eval.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    found = submit_name_add(&apart, text, len);
    if (found == 0)
        found = submit_expand_apart(&apart, text, len, out);
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

/* Evaluates the value of a name as an expression, and gives it to `take`. 1 when it depends on the job. */
typedef int take_fn(const struct expansion *expansion, const struct value *value, void *user);

static int value_take(const struct expansion *expansion, const char *text, size_t len, take_fn *take, void *user)
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
    if (result == 0) {
        tree = parse_expr(&build, NULL, buf_string(&out), out.len, NULL);
        eval_init(&eval, &env, &arena);
        if (tree)
            eval_tree(&eval, NULL, tree, &value);
        result = tree && take(expansion, &value, user) == 0
                     ? 0
                     : submit_fail(expansion->at, expansion->err, "expected a value of that sort, got '%.60s'",
                                   buf_string(&out));
    }
    tree_unref(tree);
    build_reset(&build);
    build_done(&build);
    arena_done(&arena);
    buf_done(&out);
    return result;
}

static int whole_take(const struct expansion *expansion, const struct value *value, void *user)
{
    (void)expansion;
    if (value->type != VALUE_INTEGER)
        return -1;
    *(int64_t *)user = value->u.integer;
    return 0;
}

static int whole_value(const struct expansion *expansion, const char *text, size_t len, int64_t *ret)
{
    *ret = 0;
    return value_take(expansion, text, len, whole_take, ret);
}

static int real_take(const struct expansion *expansion, const struct value *value, void *user)
{
    (void)expansion;
    if (value->type != VALUE_INTEGER && value->type != VALUE_REAL)
        return -1;
    *(double *)user = value->type == VALUE_REAL ? value->u.real : (double)value->u.integer;
    return 0;
}

/* Appends a value as it stands in a submit file: a text without quotes. */
static int print_take(const struct expansion *expansion, const struct value *value, void *user)
{
    (void)user;
    if (value->type == VALUE_STRING) {
        buf_add(expansion->out, value->u.string, value->len);
        return submit_clean(value->u.string, value->len, expansion->at, false, NULL);
    }
    if (value->type == VALUE_ERROR || value->type == VALUE_UNDEFINED)
        return -1;
    value_print(expansion->out, &dialect_condor, value, PRINT_PLAIN);
    return 0;
}

/* $INT(name,%04d) */
static int function_int(const struct expansion *expansion, const char *body, size_t len)
{
    char format[16] = "%", text[128];
    struct arguments arguments;
    int64_t value;
    int result;

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
static int function_choice(const struct expansion *expansion, const char *body, size_t len)
{
    struct arguments arguments, list;
    int64_t index;
    struct buf out;
    int result;

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
        result = submit_expand_apart(expansion, list.text[index], list.len[index], expansion->out);
    buf_done(&out);
    return result < 0 ? -1 : 0;
}

/* $SUBSTR(name,from,len) */
static int function_substr(const struct expansion *expansion, const char *body, size_t len)
{
    struct arguments arguments;
    int64_t from, count = INT64_MAX, size;
    struct buf out;
    int result;

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

/* The letters of $Fpdnxbqfa(name): which parts, and how they are written. */
struct parts {
    bool path, name, ending, bare, quotes, single, whole;
    unsigned parents;
};

static int parts_read(const struct expansion *expansion, const char *letters, size_t count, struct parts *ret)
{
    *ret = (struct parts){.path = false};
    for (size_t i = 0; i < count; i++) {
        char letter = (char)(letters[i] | 0x20);

        ret->path |= letter == 'p';
        ret->parents += letter == 'd';
        ret->name |= letter == 'n';
        ret->ending |= letter == 'x';
        ret->bare |= letter == 'b';
        ret->quotes |= letter == 'q';
        ret->single |= letter == 'a'; /* for arguments in the new syntax */
        ret->whole |= letter == 'f';
        if (!strchr("pdnxbqafu", letter)) /* u: slashes as here */
            return submit_fail(expansion->at, expansion->err,
                               "expected the letters p, d, n, x, b, q, a, f and u in '$F%.*s'",
                               count > 20 ? 20 : (int)count, letters);
    }
    if (!ret->path && !ret->parents && !ret->name && !ret->ending)
        ret->path = ret->name = ret->ending = true;
    return 0;
}

/* The last so many folders of a path, each with its slash. */
static const char *parents_begin(const char *text, const char *last, unsigned count)
{
    const char *at = last;

    while (at > text && count--) {
        at--;
        while (at > text && at[-1] != '/')
            at--;
    }
    return at;
}

static void parts_add(struct buf *out, const struct parts *parts, const char *text)
{
    const char *slash = strrchr(text, '/'), *dot = strrchr(slash ? slash : text, '.');
    const char *last = slash ? slash + 1 : text, *end = dot ? dot : text + strlen(text);
    const char *first = parts->path ? text : parents_begin(text, last, parts->parents);
    char quote = parts->single ? '\'' : '"';

    if (parts->quotes)
        buf_addc(out, quote);
    if ((parts->path || parts->parents) && slash)
        buf_add(out, first, (size_t)(last - first) - (parts->bare && !parts->name));
    if (parts->name)
        buf_add(out, last, (size_t)(end - last));
    if (parts->ending && dot)
        buf_adds(out, dot + (parts->bare && !parts->name));
    if (parts->quotes)
        buf_addc(out, quote);
}

/* $Fnx(name) and the like: the parts of a file's name. */
static int function_file(const struct expansion *expansion, const char *letters, size_t letter_count, const char *body,
                         size_t len)
{
    const char *folder = expansion->reader->world->folder, *text;
    struct parts parts;
    struct buf out, whole;
    size_t text_len;
    int result;

    if (parts_read(expansion, letters, letter_count, &parts) < 0)
        return -1;
    buf_init(&out);
    buf_init(&whole);
    submit_trim(&body, &len);
    result = argument_value(expansion, body, len, &out);
    text = buf_string(&out);
    text_len = out.len;
    submit_trim(&text, &text_len);
    if (text_len >= 2 && *text == '"' && text[text_len - 1] == '"') {
        text++;
        text_len -= 2;
    }
    if (parts.whole && folder && *text != '/')
        buf_addf(&whole, "%s/", folder);
    buf_add(&whole, text, text_len);
    if (result == 0)
        parts_add(expansion->out, &parts, buf_string(&whole));
    buf_done(&out);
    buf_done(&whole);
    return result < 0 ? -1 : 0;
}

static int function_basename(const struct expansion *expansion, const char *body, size_t len)
{
    return function_file(expansion, "nx", 2, body, len);
}

static int function_dirname(const struct expansion *expansion, const char *body, size_t len)
{
    return function_file(expansion, "p", 1, body, len);
}

static int function_env(const struct expansion *expansion, const char *body, size_t len)
{
    const struct submit_world *world = expansion->reader->world;
    const char *colon = memchr(body, ':', len), *value, *name = body;
    size_t name_len = colon ? (size_t)(colon - body) : len;
    char called[256];

    submit_trim(&name, &name_len);
    if (!name_len || name_len >= sizeof called)
        return submit_fail(expansion->at, expansion->err, "expected the name of a variable in '$ENV()'");
    memcpy(called, name, name_len);
    called[name_len] = '\0';
    value = world->variable ? world->variable(world->user, called) : NULL;
    if (!value && colon)
        return submit_expand_apart(expansion, colon + 1, len - (size_t)(colon - body) - 1, expansion->out);
    if (!value)
        return submit_fail(expansion->at, expansion->err, "there is no variable '%.60s' in the environment", called);
    if (submit_clean(value, strlen(value), expansion->at, false, expansion->err) < 0)
        return -1;
    buf_adds(expansion->out, value);
    return 0;
}

/* $EVAL(name), $STRING(name) */
static int function_eval(const struct expansion *expansion, const char *body, size_t len)
{
    struct arguments arguments;

    arguments_split(body, len, &arguments);
    if (arguments.count == 2 && !submit_same(arguments.text[1], arguments.len[1], "%s"))
        return submit_fail(expansion->at, expansion->err, "expected no format but %%s");
    return value_take(expansion, arguments.text[0], arguments.len[0], print_take, NULL) < 0 ? -1 : 0;
}

/* $REAL(name,%.3f) */
static int function_real(const struct expansion *expansion, const char *body, size_t len)
{
    char format[16] = "%g", text[512];
    struct arguments arguments;
    double value = 0;
    int result;

    arguments_split(body, len, &arguments);
    if (arguments.count > 1) {
        const char *given = arguments.text[1];
        size_t given_len = arguments.len[1], at = 1, digits = 0;

        while (at < given_len && strchr("0123456789.-+ ", given[at])) {
            digits = given[at] >= '0' && given[at] <= '9' ? digits + 1 : 0;
            if (digits > 2)
                break;
            at++;
        }
        if (arguments.count > 2 || given_len < 2 || given_len > 10 || *given != '%' || at + 1 != given_len ||
            !strchr("fFgGeE", given[at]))
            return submit_fail(expansion->at, expansion->err, "expected a format such as %%.3f in $REAL()");
        memcpy(format, given, given_len);
        format[given_len] = '\0';
    }
    result = value_take(expansion, arguments.text[0], arguments.len[0], real_take, &value);
    if (result)
        return result < 0 ? -1 : 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value); /* the format has been checked */
#pragma GCC diagnostic pop
    buf_adds(expansion->out, text);
    return 0;
}

/* Each job draws for itself. 1: so it is expanded by itself. */
static int draw(const struct expansion *expansion, uint64_t below, uint64_t *ret)
{
    const struct submit_world *world = expansion->reader->world;

    if (!expansion->reader->literal && expansion->reader->in_item) {
        expansion->reader->wants_literal = true;
        return 1;
    }
    if (!world->random)
        return submit_fail(expansion->at, expansion->err, "nothing can be drawn here");
    *ret = world->random(world->user) % below;
    return 0;
}

/* $RANDOM_CHOICE(a, b, c) */
static int function_random_choice(const struct expansion *expansion, const char *body, size_t len)
{
    struct arguments arguments;
    uint64_t place = 0;
    int result;

    arguments_split(body, len, &arguments);
    result = draw(expansion, arguments.count, &place);
    if (result)
        return result < 0 ? -1 : 0;
    return submit_expand_apart(expansion, arguments.text[place], arguments.len[place], expansion->out);
}

/* $RANDOM_INTEGER(least, most, step) */
static int function_random_integer(const struct expansion *expansion, const char *body, size_t len)
{
    struct arguments arguments;
    int64_t bounds[3] = {0, 0, 1};
    uint64_t place = 0;
    int result = 0;

    arguments_split(body, len, &arguments);
    if (arguments.count < 2 || arguments.count > 3)
        return submit_fail(expansion->at, expansion->err, "expected $RANDOM_INTEGER(least, most)");
    for (size_t i = 0; i < arguments.count && result == 0; i++)
        result = whole_value(expansion, arguments.text[i], arguments.len[i], &bounds[i]);
    if (result == 0 &&
        (bounds[0] > bounds[1] || bounds[2] < 1 || bounds[0] < -(INT64_C(1) << 53) || bounds[1] > INT64_C(1) << 53))
        result = submit_fail(expansion->at, expansion->err, "expected $RANDOM_INTEGER(least, most), least first");
    if (result == 0)
        result = draw(expansion, (uint64_t)((bounds[1] - bounds[0]) / bounds[2]) + 1, &place);
    if (result == 0)
        buf_addf(expansion->out, "%" PRId64, bounds[0] + (int64_t)place * bounds[2]);
    return result < 0 ? -1 : 0;
}

static const struct {
    const char *name;
    int (*fn)(const struct expansion *expansion, const char *body, size_t len);
} functions[] = {
    {"ENV", function_env},
    {"INT", function_int},
    {"CHOICE", function_choice},
    {"SUBSTR", function_substr},
    {"BASENAME", function_basename},
    {"DIRNAME", function_dirname},
    {"RANDOM_CHOICE", function_random_choice},
    {"RANDOM_INTEGER", function_random_integer},
    {"REAL", function_real},
    {"STRING", function_eval},
    {"EVAL", function_eval},
};

int submit_function(const struct expansion *expansion, const char *name, size_t name_len, const char *body, size_t len)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (submit_same(name, name_len, functions[i].name))
            return functions[i].fn(expansion, body, len);
    if (*name == 'F')
        return function_file(expansion, name + 1, name_len - 1, body, len);
    return submit_fail(expansion->at, expansion->err, "'$%.*s()' is not a function of the submit language",
                       name_len > 30 ? 30 : (int)name_len, name);
}
