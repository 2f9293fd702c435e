/* library.c: whatever a program does with berth.h, in whatever order, nothing crashes, nothing leaks, and what was answered holds.
 *
 * The input is a program: each line is a call. Its first byte says which, its second which of SLOTS places it is about (and which other one), the rest is its text.
 *     p TEXT  read an ad      e TEXT  read an expression     m NAME=TEXT  make an ad from one of them     ...
 * Places hold ads and expressions; a call about an empty place must be refused. */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 6
#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct stage {
    struct berth_context *contexts[2];
    struct berth_context *context; /* the one of this line */
    struct berth_ad *ads[SLOTS];
    struct berth_expr *exprs[SLOTS];
    struct berth_index *index;
    struct berth_error error;
    char *text; /* of the line, as long as it is */
    size_t len;
    unsigned a, b;
};

static _Noreturn void broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

static void ad_set(struct stage *stage, unsigned at, struct berth_ad *ad)
{
    if (!ad)
        return;
    berth_ad_unref(stage->ads[at]);
    stage->ads[at] = ad;
}

static void expr_set(struct stage *stage, unsigned at, struct berth_expr *expr)
{
    if (!expr)
        return;
    berth_expr_unref(stage->exprs[at]);
    stage->exprs[at] = expr;
}

/* An error has a code, words, and a place where it is one of a text. */
static void error_check(const struct stage *stage)
{
    const struct berth_error *error = &stage->error;

    if (!berth_code_name(error->code) || error->code == BERTH_OK || !error->message[0] ||
        memchr(error->message, 0, sizeof error->message) == NULL)
        broken("an error has a code and a message");
}

static void do_parse(struct stage *stage)
{
    struct berth_ad *ad = berth_ad_parse(stage->context, (int)stage->b - 1, stage->text, stage->len, &stage->error);

    if (!ad)
        error_check(stage);
    ad_set(stage, stage->a, ad);
}

static void do_expr(struct stage *stage)
{
    struct berth_expr *expr = berth_expr_parse(stage->context, stage->text, stage->len, &stage->error);

    if (!expr)
        error_check(stage);
    expr_set(stage, stage->a, expr);
}

/* What is written reads back as the same ad. */
static void do_print(struct stage *stage)
{
    const struct berth_ad *ad = stage->ads[stage->a];

    for (int form = BERTH_FORM_CLASSAD; form <= BERTH_FORM_LONG; form++) {
        size_t len;
        const char *text = berth_ad_text(stage->context, ad, form, &len, &stage->error);
        struct berth_ad *again;
        char *copy;

        if (!text)
            continue;
        copy = malloc(len + 1);
        memcpy(copy, text, len + 1);
        for (int dialect = BERTH_CLASSIC; dialect <= BERTH_CONDOR; dialect++) { /* that of the ad is one of them */
            berth_context_set_dialect(stage->context, dialect);
            again = berth_ad_parse(stage->context, form, copy, len, NULL);
            if (again && berth_ad_equal(ad, again) != 1 && berth_ad_count(again) > berth_ad_count(ad))
                broken("an ad that is read again has no more attributes");
            berth_ad_unref(again);
        }
        free(copy);
    }
}

static void do_look(struct stage *stage)
{
    const struct berth_ad *ad = stage->ads[stage->a];

    if (berth_ad_type(stage->context, ad, "A") < 0 && !berth_ad_name(stage->context, ad, 0))
        return; /* it has no attributes, or belongs to other names */
    for (size_t i = 0; i < berth_ad_count(ad); i++) {
        const char *name = berth_ad_name(stage->context, ad, i);
        int64_t integer;
        double real;
        int type = berth_ad_type(stage->context, ad, name);

        if (!name || type < 0)
            broken("every attribute of an ad has a name, and is found by it");
        if ((berth_ad_get_integer(stage->context, ad, name, &integer) == 0) != (type == BERTH_INTEGER) ||
            (berth_ad_get_boolean(stage->context, ad, name) >= 0) != (type == BERTH_BOOLEAN) ||
            (berth_ad_get_string(stage->context, ad, name, NULL) != NULL) != (type == BERTH_STRING))
            broken("an attribute is what its type says");
        (void)berth_ad_get_real(stage->context, ad, name, &real);
    }
    berth_ad_size(ad);
}

/* NAME=TEXT: an expression; NAME alone: taken out; NAME=: the other ad inside. */
static void do_make(struct stage *stage)
{
    struct berth_maker *maker = berth_maker_new(stage->context, stage->ads[stage->a]);
    char *equals = strchr(stage->text, '=');
    size_t before;

    if (!maker)
        return;
    if (!equals) {
        berth_maker_drop(maker, stage->text);
        berth_maker_string(maker, "S", stage->text, stage->len, NULL);
        berth_maker_real(maker, "R", (double)stage->len / 3, NULL);
        berth_maker_boolean(maker, "B", 1, NULL);
    } else {
        *equals = '\0';
        before = (size_t)(equals + 1 - stage->text);
        if (before == stage->len)
            berth_maker_ad(maker, stage->text, stage->ads[stage->b], &stage->error);
        else if (berth_maker_parse(maker, stage->text, equals + 1, stage->len - before, &stage->error) < 0)
            error_check(stage);
        berth_maker_expr(maker, "E", stage->exprs[stage->b], NULL);
        berth_maker_integer(maker, "I", (int64_t)stage->len, NULL);
    }
    if (stage->b == SLOTS - 1)
        berth_maker_free(maker);
    else
        ad_set(stage, stage->a, berth_maker_seal(maker, &stage->error));
}

static void value_look(struct stage *stage, const struct berth_value *value, int depth)
{
    int64_t integer;
    double real;

    if (!value)
        return;
    (void)berth_value_integer(value, &integer);
    (void)berth_value_real(value, &real);
    (void)berth_value_zone(value);
    if ((berth_value_string(value, NULL) != NULL) != (berth_value_type(value) == BERTH_STRING) ||
        (berth_value_boolean(value) >= 0) != (berth_value_type(value) == BERTH_BOOLEAN) ||
        !berth_value_text(stage->context, value, NULL))
        broken("a value is what its type says");
    berth_ad_unref(berth_value_ad(stage->context, value));
    for (size_t i = 0; i < berth_value_count(value) && i < 4 && depth < 4; i++)
        value_look(stage, berth_value_element(stage->context, value, i), depth + 1);
}

static void do_eval(struct stage *stage)
{
    const struct berth_expr *expr = stage->exprs[stage->a];
    const char *const *names;

    value_look(stage, berth_eval(stage->context, expr, stage->ads[stage->a], stage->ads[stage->b]), 0);
    value_look(stage, berth_eval_attribute(stage->context, stage->ads[stage->b], stage->text, stage->ads[stage->a]), 0);
    berth_expr_references(stage->context, expr, stage->ads[stage->b], &names);
    expr_set(stage, stage->b, berth_expr_specialize(stage->context, expr, stage->ads[stage->b]));
    berth_expr_text(stage->context, stage->exprs[stage->b], NULL);
    expr_set(stage, stage->a, berth_ad_get_expr(stage->context, stage->ads[stage->a], stage->text));
}

/* All ways to ask give one answer. */
static void do_match(struct stage *stage)
{
    struct berth_ad *left = stage->ads[stage->a], *right = stage->ads[stage->b];
    struct berth_party *a = berth_party_new(stage->context, left), *b = berth_party_new(stage->context, right);
    int matches = berth_match(stage->context, left, right);

    if ((matches < 0) != (!a || !b))
        broken("a match of ads that are there has an answer");
    if (matches >= 0 &&
        matches != (berth_accepts(stage->context, left, right) == 1 && berth_accepts(stage->context, right, left) == 1))
        broken("a match is that both accept");
    berth_party_match(stage->context, a, b);
    berth_rank(stage->context, left, right);
    berth_query(stage->context, stage->exprs[stage->a], right);
    ad_set(stage, stage->a, berth_residual(stage->context, left, right));
    berth_party_free(a);
    berth_party_free(b);
}

static void do_index(struct stage *stage)
{
    const uint64_t *keys;
    ptrdiff_t count, n;
    uint64_t best;

    if (stage->len % 3 == 0)
        berth_index_drop(stage->context, stage->index, stage->b);
    else if (berth_index_put(stage->context, stage->index, stage->b, stage->ads[stage->b], &stage->error) < 0)
        error_check(stage);
    count = berth_index_matches(stage->context, stage->index, stage->ads[stage->a]);
    n = berth_index_all(stage->context, stage->index, stage->ads[stage->a], &keys);
    if (n != count || n > (ptrdiff_t)berth_index_count(stage->index))
        broken("an index finds as many as it counts");
    for (ptrdiff_t i = 0; i < n; i++)
        if (!berth_index_get(stage->index, keys[i]) || (i && keys[i] <= keys[i - 1]))
            broken("an index finds what is in it, in rising order");
    if (berth_index_best(stage->context, stage->index, stage->ads[stage->a], &best) == 1 &&
        !berth_index_get(stage->index, best))
        broken("the best is in the index");
}

static void do_reasons(struct stage *stage)
{
    struct berth_ad *others[SLOTS];
    const struct berth_finding *findings;
    const struct berth_member *members;
    size_t count = 0, filled;
    ptrdiff_t found;

    for (unsigned i = 0; i < SLOTS; i++)
        if (stage->ads[i] && i != stage->a)
            others[count++] = stage->ads[i];
    if (!berth_why(stage->context, stage->ads[stage->a], others, count, (int)(stage->b & 1), &stage->error))
        error_check(stage);
    if (berth_gang(stage->context, stage->ads[stage->a], others, count, &members, &filled, &stage->error) == 1)
        for (size_t i = 0; i < filled; i++)
            if (members[i].offer >= count || (members[i].parent != BERTH_ROOT && members[i].parent >= i))
                broken("members of a gang are offers, each behind its parent");
    found = berth_lint(stage->context, stage->ads[stage->a], &findings);
    for (ptrdiff_t i = 0; i < found; i++)
        if (!findings[i].kind || !findings[i].attribute || !findings[i].text)
            broken("a finding says where and what");
}

static void do_read(struct stage *stage)
{
    struct berth_reader *reader = berth_reader_new(stage->context, (int)stage->b - 1, stage->text, stage->len);
    struct berth_ad *ad;
    int got;

    while ((got = berth_reader_next(reader, &ad, &stage->error)) == 1)
        ad_set(stage, stage->a, ad);
    if (got < 0)
        error_check(stage);
    berth_reader_line(reader);
    berth_reader_free(reader);
}

static void do_set(struct stage *stage)
{
    uint64_t n = strtoull(stage->text, NULL, 10);

    berth_context_set_clock(stage->context, (int64_t)n, (int)n);
    berth_context_set_seed(stage->context, n);
    berth_context_set_dialect(stage->context, (int)(n % 3));
    berth_context_set_limit(stage->context, (int)stage->b, n % 5000);
}

static const struct {
    char letter;
    void (*call)(struct stage *stage);
} calls[] = {
    {'p', do_parse}, {'e', do_expr},  {'w', do_print},   {'l', do_look}, {'m', do_make}, {'v', do_eval},
    {'x', do_match}, {'i', do_index}, {'y', do_reasons}, {'r', do_read}, {'s', do_set},
};

static void line_run(struct stage *stage, const uint8_t *line, size_t len)
{
    if (len < 2)
        return;
    stage->a = line[1] % SLOTS;
    stage->b = line[1] / SLOTS % SLOTS;
    stage->context = stage->contexts[line[1] >> 7];
    stage->len = len - 2;
    stage->text = malloc(stage->len + 1);
    memcpy(stage->text, line + 2, stage->len);
    stage->text[stage->len] = '\0';
    stage->error = (struct berth_error){0};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (line[0] == calls[i].letter)
            calls[i].call(stage);
    free(stage->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stage stage = {.contexts = {berth_context_new()}};
    const uint8_t *end = data + size;

    stage.contexts[1] = size % 2 ? berth_context_share(stage.contexts[0]) : berth_context_new();
    for (int i = 0; i < 2; i++) {
        berth_context_set_limit(stage.contexts[i], BERTH_LIMIT_STEPS, 3000);
        berth_context_set_limit(stage.contexts[i], BERTH_LIMIT_CELLS, 2000);
        berth_context_set_limit(stage.contexts[i], BERTH_LIMIT_NODES, 200);
    }
    stage.index = berth_index_new(stage.contexts[0]);
    for (int lines = 0; data < end && lines < LINES_MAX; lines++) {
        const uint8_t *stop = memchr(data, '\n', (size_t)(end - data));

        stop = stop ? stop : end;
        line_run(&stage, data, (size_t)(stop - data));
        data = stop < end ? stop + 1 : end;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        berth_ad_unref(stage.ads[i]);
        berth_expr_unref(stage.exprs[i]);
    }
    berth_context_free(stage.contexts[0]); /* the index outlives its context */
    berth_index_free(stage.index);
    berth_context_free(stage.contexts[1]);
    return 0;
}
