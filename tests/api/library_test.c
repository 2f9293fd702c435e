/* library_test.c: the library through berth.h alone: errors, limits, bad calls, ads that are made, an index against trying each. */
#include "common/tap.h"

#include <berth.h>
#include <stdlib.h>
#include <sys/resource.h>

static struct berth_context *context;

static struct berth_ad *ad_in(struct berth_context *with, const char *text)
{
    struct berth_error error = {0};
    struct berth_ad *ad = berth_ad_parse(with, BERTH_FORM_ANY, text, strlen(text), &error);

    if (!ad)
        tap_diag("%u:%u: %s in %s", error.line, error.column, error.message, text);
    return ad;
}

static struct berth_ad *ad_of(const char *text)
{
    return ad_in(context, text);
}

static struct berth_expr *expr_of(const char *text)
{
    return berth_expr_parse(context, text, strlen(text), NULL);
}

static bool is_text(const struct berth_ad *ad, const char *text)
{
    const char *got = berth_ad_text(context, ad, BERTH_FORM_CLASSAD, NULL, NULL);

    if (got && !strcmp(got, text))
        return true;
    tap_diag("wanted: %s\n   got: %s", text, got ? got : "nothing");
    return false;
}

/* ------------------------------------------------------------------------------------------------------ bad texts */

static void test_errors(void)
{
    static const struct {
        int form, code;
        unsigned line, column;
        const char *text, *message;
    } cases[] = {
        {BERTH_FORM_CLASSAD, BERTH_BAD_TEXT, 2, 5, "[ A = 1;\nB = ]", "expected an expression"},
        {BERTH_FORM_JSON, BERTH_BAD_TEXT, 1, 7, "{\"A\": }", ""},
        {BERTH_FORM_XML, BERTH_BAD_TEXT, 1, 0, "<c><a n=\"A\"><i>x</i></a></c>", ""},
        {BERTH_FORM_LONG, BERTH_BAD_TEXT, 2, 0, "A = 1\nB = (\n", ""},
        {BERTH_FORM_ANY, BERTH_BAD_TEXT, 1, 0, "", "expected an ad"},
        {99, BERTH_BAD_CALL, 0, 0, "[]", ""},
        {-1, BERTH_BAD_CALL, 0, 0, "[]", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct berth_error error = {0};
        struct berth_ad *ad = berth_ad_parse(context, cases[i].form, cases[i].text, strlen(cases[i].text), &error);

        if (!tap_ok(!ad && error.code == cases[i].code && error.line == cases[i].line &&
                        (!cases[i].column || error.column == cases[i].column) && error.message[0] &&
                        !strncmp(error.message, cases[i].message, strlen(cases[i].message)),
                    "a bad text of form %d is an error with code and place: %s", cases[i].form, cases[i].text))
            tap_diag("code %d at %u:%u: %s", error.code, error.line, error.column, error.message);
        berth_ad_unref(ad);
    }
    tap_ok(!berth_ad_parse(context, BERTH_FORM_CLASSAD, "[", 1, NULL), "whoever does not want the reason gives NULL");
    tap_ok(!berth_ad_parse(context, BERTH_FORM_CLASSAD, NULL, 5, NULL), "no text is no ad");
}

static void test_limits(void)
{
    struct berth_error error = {0};
    struct berth_ad *ad;

    berth_context_set_limit(context, BERTH_LIMIT_TEXT, 10);
    tap_ok(!berth_ad_parse(context, BERTH_FORM_CLASSAD, "[ A = 12345 ]", 13, &error) && error.code == BERTH_TOO_MUCH,
           "a text longer than the limit is refused");
    berth_context_set_limit(context, BERTH_LIMIT_TEXT, UINT64_MAX);
    berth_context_set_limit(context, BERTH_LIMIT_CELLS, 5);
    tap_ok(!berth_expr_parse(context, "f(a + b, c + d, e)", 18, &error) && error.code == BERTH_BAD_TEXT && error.column,
           "one of more parts too, with the place where it becomes too much");
    berth_context_set_limit(context, BERTH_LIMIT_CELLS, 0);
    berth_context_set_limit(context, BERTH_LIMIT_ATTRIBUTES, 2);
    tap_ok(!berth_ad_parse(context, BERTH_FORM_CLASSAD, "[ A = 1; B = 2; C = 3 ]", 23, &error) && error.column == 17,
           "and one of more attributes");
    berth_context_set_limit(context, BERTH_LIMIT_ATTRIBUTES, 0);
    tap_ok(berth_context_set_limit(context, 77, 1) == -1 && berth_context_set_limit(context, -1, 1) == -1,
           "there are no other limits");
    ad = ad_of("[ A = repeat(\"x\", 1000000); B = 1 ]");
    berth_context_set_limit(context, BERTH_LIMIT_BYTES, 1000);
    tap_ok(ad && berth_value_type(berth_eval_attribute(context, ad, "A", NULL)) == BERTH_ERROR,
           "memory of an evaluation is bounded");
    berth_context_set_limit(context, BERTH_LIMIT_BYTES, 0);
    berth_ad_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------ bad calls */

static void test_bad_calls(void)
{
    struct berth_context *other = berth_context_new();
    struct berth_ad *mine = ad_of("[ A = 1 ]"), *foreign = ad_in(other, "[ A = 1 ]");
    struct berth_expr *query = expr_of("A == 1");
    struct berth_index *index = berth_index_new(context);
    struct berth_party *party = berth_party_new(context, mine);
    struct berth_ad *const none[] = {NULL, foreign};
    const struct berth_finding *findings;
    const struct berth_member *members;
    const char *const *names;
    const uint64_t *keys;
    struct berth_error error;
    uint64_t key;
    int64_t n;
    size_t count;

    for (int i = 0; i < 2; i++) {
        struct berth_ad *bad = none[i];
        bool refused =
            !berth_ad_text(context, bad, BERTH_FORM_JSON, NULL, &error) && error.code == BERTH_BAD_CALL &&
            !berth_ad_name(context, bad, 0) && berth_ad_type(context, bad, "A") == -1 &&
            berth_ad_get_integer(context, bad, "A", &n) == -1 && !berth_ad_get_expr(context, bad, "A") &&
            !berth_ad_get_string(context, bad, "A", NULL) && !berth_eval_attribute(context, bad, "A", NULL) &&
            berth_match(context, mine, bad) == -1 && berth_match(context, bad, mine) == -1 &&
            berth_accepts(context, mine, bad) == -1 && berth_query(context, query, bad) == -1 &&
            berth_rank(context, mine, bad) == 0 && !berth_residual(context, mine, bad) &&
            !berth_party_new(context, bad) && berth_index_put(context, index, 1, bad, &error) == -1 &&
            berth_index_load(context, index, &bad, 1, &error) == -1 &&
            berth_index_all(context, index, bad, &keys) == -1 && berth_index_matches(context, index, bad) == -1 &&
            berth_index_best(context, index, bad, &key) == -1 && berth_index_count(index) == 0 &&
            berth_gang(context, bad, &mine, 1, &members, &count, &error) == -1 &&
            berth_gang(context, mine, &bad, 1, &members, &count, &error) == -1 &&
            !berth_why(context, bad, &mine, 1, BERTH_WORDS, &error) &&
            !berth_why(context, mine, &bad, 1, BERTH_JSON, &error) && berth_lint(context, bad, &findings) == -1 &&
            !berth_ad_equal(mine, bad);

        tap_ok(refused, "%s is refused by every call", bad ? "an ad of other names" : "no ad");
    }
    tap_ok(!berth_eval(context, NULL, mine, NULL) && !berth_eval(context, query, foreign, NULL) &&
               !berth_eval(context, query, mine, foreign) && !berth_expr_specialize(context, NULL, mine) &&
               berth_expr_references(context, query, foreign, &names) == -1 && !berth_maker_new(context, foreign) &&
               berth_party_match(context, party, NULL) == -1 && !berth_why(context, mine, &mine, 1, 9, &error) &&
               !berth_eval_attribute(context, mine, NULL, NULL) && berth_ad_type(context, mine, NULL) == -1,
           "so are missing expressions, names and parties, and numbers that mean nothing");
    tap_ok(berth_value_type(NULL) == BERTH_UNDEFINED && berth_value_integer(NULL, &n) == -1 &&
               !berth_value_string(NULL, NULL) && berth_value_count(NULL) == 0 &&
               !berth_value_element(context, NULL, 0) && !berth_value_text(context, NULL, NULL) &&
               !berth_value_ad(context, NULL),
           "a value that is not there is none");
    berth_party_free(NULL);
    berth_index_free(NULL);
    berth_maker_free(NULL);
    berth_reader_free(NULL);
    berth_context_free(NULL);
    berth_expr_unref(NULL);
    berth_party_free(party);
    berth_index_free(index);
    berth_expr_unref(query);
    berth_ad_unref(mine);
    berth_context_free(other);
    tap_ok(berth_ad_count(foreign) == 1, "an ad outlives the context it was read with");
    berth_ad_unref(foreign);
}

/* ------------------------------------------------------------------------------------------------------- making ads */

static void test_maker(void)
{
    struct berth_ad *from = ad_of("[ A = 1; B = \"two\"; C = A + 1 ]"), *made;
    struct berth_maker *maker = berth_maker_new(context, from);
    struct berth_error error;
    char *name = malloc(70000);

    tap_ok(berth_maker_integer(maker, "b", 2, NULL) == 0 && berth_maker_drop(maker, "A") == 1 &&
               berth_maker_drop(maker, "a") == 0 && berth_maker_real(maker, "A", 0.5, NULL) == 0,
           "attributes are set, taken out, and set again");
    tap_ok(berth_maker_integer(maker, "", 1, &error) == -1 && error.code == BERTH_BAD_CALL &&
               berth_maker_integer(maker, NULL, 1, &error) == -1,
           "an attribute has a name");
    tap_ok(berth_maker_string(maker, "S", "a\0b", 3, &error) == -1 && error.code == BERTH_BAD_TEXT,
           "a string that could not be read again is refused");
    memset(name, 'n', 69999);
    name[69999] = '\0';
    tap_ok(berth_maker_integer(maker, name, 1, &error) == -1, "which is not endless");
    tap_ok(berth_maker_parse(maker, "D", "1 +", 3, &error) == -1 && error.column == 4 && error.code == BERTH_BAD_TEXT,
           "an expression that is none changes nothing");
    made = berth_maker_seal(maker, NULL);
    tap_ok(is_text(made, "[ b = 2; C = A + 1; A = 0.5 ]"),
           "one that was there keeps its place, one that is new is last");
    tap_ok(is_text(from, "[ A = 1; B = \"two\"; C = A + 1 ]"), "the ad that it was made from is as it was");
    berth_ad_unref(made);
    berth_ad_unref(from);
    free(name);

    maker = berth_maker_new(context, NULL);
    berth_context_set_limit(context, BERTH_LIMIT_ATTRIBUTES, 3);
    for (int i = 0; i < 3; i++)
        berth_maker_integer(maker, (const char[]){(char)('a' + i), 0}, i, NULL);
    tap_ok(berth_maker_integer(maker, "d", 4, &error) == -1 && error.code == BERTH_TOO_MUCH &&
               berth_maker_integer(maker, "c", 5, &error) == 0,
           "there are no more attributes than the limit allows");
    berth_context_set_limit(context, BERTH_LIMIT_ATTRIBUTES, 0);
    made = berth_maker_seal(maker, NULL);
    tap_ok(is_text(made, "[ a = 0; b = 1; c = 5 ]"), "and the others are there");
    berth_ad_unref(made);
}

/* Ads inside ads inside ads, as deep as it goes. */
static void test_depth(void)
{
    struct berth_ad *ad = ad_of("[ X = 1 ]"), *deeper;
    struct berth_error error = {0};
    const char *text;
    char *copy;
    int depth = 1;

    for (; depth < 2000; depth++, ad = deeper) {
        struct berth_maker *maker = berth_maker_new(context, NULL);

        berth_maker_ad(maker, "In", ad, NULL);
        if (!(deeper = berth_maker_seal(maker, &error)))
            break;
        berth_ad_unref(ad);
    }
    tap_ok(depth > 100 && depth < 300 && error.code == BERTH_TOO_MUCH, "ads inside ads end somewhere (%d)", depth);
    text = berth_ad_text(context, ad, BERTH_FORM_CLASSAD, NULL, NULL);
    copy = strdup(text);
    deeper = ad_of(copy);
    tap_ok(deeper && berth_ad_equal(ad, deeper), "what can be made can also be written and read");
    berth_ad_unref(deeper);
    berth_ad_unref(ad);
    free(copy);
}

/* An expression that grows each time it is specialised. */
static void test_growth(void)
{
    struct berth_expr *e = expr_of("-a0"), *next;
    char text[64];
    int i = 0;

    for (; i < 600; i++, e = next) {
        struct berth_ad *ad;

        snprintf(text, sizeof text, "[ a%d = -(-(-(other.x + a%d))) ]", i, i + 1);
        ad = ad_of(text);
        next = berth_expr_specialize(context, e, ad);
        berth_ad_unref(ad);
        berth_expr_unref(e);
        if (!next)
            break;
    }
    tap_ok(i == 600 && berth_expr_text(context, e, NULL), "what is specialised again and again does not grow for ever");
    berth_expr_unref(e);
}

static void test_forms(void)
{
    static const int forms[] = {BERTH_FORM_CLASSAD, BERTH_FORM_JSON, BERTH_FORM_XML, BERTH_FORM_LONG};
    struct berth_ad *ad =
        ad_of("[ I = 1; R = 1.5; S = \"a\\\"b\\n\"; T = true; U = undefined; L = { 1, [ X = I ] }; "
              "E = other.I > 3 ? strcat(S, \"x\") : error; D = absTime(\"2026-03-01T12:00:00+00:00\") ]");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = 0;
        const char *text = berth_ad_text(context, ad, forms[i], &len, NULL);
        char *copy = text ? strdup(text) : NULL;
        struct berth_ad *given = text ? berth_ad_parse(context, forms[i], copy, len, NULL) : NULL;
        struct berth_ad *found = text ? berth_ad_parse(context, BERTH_FORM_ANY, copy, len, NULL) : NULL;

        tap_ok(given && found && berth_ad_equal(ad, given) && berth_ad_equal(ad, found),
               "an ad is the same after form %d, which is also recognised", forms[i]);
        berth_ad_unref(given);
        berth_ad_unref(found);
        free(copy);
    }
    berth_ad_unref(ad);
}

/* -------------------------------------------------------------------------------------------------------- evaluation */

static void test_eval(void)
{
    struct berth_ad *ad =
        ad_of("[ A = 2; B = eval(strcat(\"A + New\", \"Name\")); NewName = 3; L = { eval(\"A\"), A } ]");
    struct berth_expr *free_name = expr_of("Memory > 4");
    struct berth_ad *other = ad_of("[ Memory = 8 ]");
    struct berth_context *second;
    const struct berth_value *list;
    int64_t n = 0;

    tap_ok(berth_value_boolean(berth_eval(context, free_name, NULL, other)) == 1,
           "an expression without an ad sees the other one");
    for (int shared = 0; shared < 2; shared++) {
        second = shared ? berth_context_share(context) : NULL;
        tap_ok(berth_value_integer(berth_eval_attribute(second ? second : context, ad, "B", NULL), &n) == 0 && n == 5,
               "a text that is evaluated may have new names, %s",
               shared ? "where names are shared too" : "where nobody else is");
        list = berth_eval_attribute(context, ad, "L", NULL);
        tap_ok(berth_value_count(list) == 2 && berth_value_integer(berth_value_element(context, list, 0), &n) == 0 &&
                   n == 2 && berth_value_integer(berth_value_element(context, list, 1), &n) == 0 && n == 2 &&
                   !berth_value_element(context, list, 2),
               "so may one in a list, whose elements are asked for one by one");
        berth_context_free(second);
    }
    berth_expr_unref(free_name);
    berth_ad_unref(other);
    berth_ad_unref(ad);
}

static void test_gangs(void)
{
    struct berth_ad *wrong = ad_of("[ Ports = 3 ]"), *plain = ad_of("[ A = 1 ]"),
                    *job = ad_of("[ Ports = { [ Label = x; Constraint = x.A == 2 ] } ]");
    const struct berth_member *members;
    struct berth_error error = {0};
    size_t count;

    tap_ok(berth_gang(context, wrong, &plain, 1, &members, &count, &error) == -1 && error.code == BERTH_BAD_PORTS &&
               error.message[0],
           "ports that are not in order are told");
    tap_ok(berth_gang(context, job, &wrong, 1, &members, &count, &error) == -1 && strstr(error.message, "offer 1"),
           "and whose they are");
    tap_ok(berth_gang(context, job, &plain, 1, &members, &count, &error) == 0, "no gang is an answer");
    tap_ok(berth_why(context, job, &plain, 1, BERTH_WORDS, &error) &&
               !berth_why(context, wrong, &plain, 1, BERTH_WORDS, &error) && error.code == BERTH_BAD_PORTS,
           "why explains gangs as well");
    berth_ad_unref(wrong);
    berth_ad_unref(plain);
    berth_ad_unref(job);
}

/* ------------------------------------------------------------------------------------------------- one against many */

#define KEYS 60

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

static struct berth_ad *random_ad(void)
{
    static const char *const constraints[] = {"other.A >= %u",
                                              "other.B == \"b%u\" || other.A < 3",
                                              "A > %u && other.A < A",
                                              "currentTime() > absTime(%u) && other.A > 2",
                                              "other.C =?= undefined && other.A != %u",
                                              "member(other.A, { 1, 2, %u })"};
    char text[300], constraint[100];

    snprintf(constraint, sizeof constraint, constraints[below(sizeof constraints / sizeof *constraints)], below(6));
    snprintf(text, sizeof text, "[ A = %u; B = \"b%u\"; Rank = other.A %s; %s%s ]", below(8), below(3),
             below(2) ? "* 2" : "% 3", below(5) ? "Constraint = " : "X = ", constraint);
    return ad_of(text);
}

static bool index_agrees(struct berth_index *index, struct berth_ad *const *offers, const struct berth_ad *job)
{
    const uint64_t *found;
    uint64_t keys[KEYS], best = 0;
    ptrdiff_t count = berth_index_all(context, index, job, &found), n = 0;
    double rank = 0, back = 0;
    bool same = true;
    int told;

    memcpy(keys, found, (size_t)(count > KEYS ? KEYS : count < 0 ? 0 : count) * sizeof *keys);
    told = berth_index_best(context, index, job, &best);
    for (unsigned i = 0; i < KEYS; i++) {
        bool better;
        double r, b;

        if (!offers[i] || berth_match(context, job, offers[i]) != 1)
            continue;
        same = same && n < count && keys[n] == i * 1000003u;
        r = berth_rank(context, job, offers[i]);
        b = berth_rank(context, offers[i], job);
        better = n == 0 || r > rank || (r == rank && b > back);
        if (better && told)
            same = same && (best >= i * 1000003u);
        rank = better ? r : rank;
        back = better ? b : back;
        n++;
    }
    if (told == 1) {
        const struct berth_ad *chosen = berth_index_get(index, best);

        same = same && berth_rank(context, job, chosen) == rank && berth_rank(context, chosen, job) == back;
    }
    return same && n == count && (told == 1) == (n > 0) && berth_index_matches(context, index, job) == n;
}

static void test_index(void)
{
    struct berth_index *index = berth_index_new(context);
    struct berth_ad *offers[KEYS] = {NULL};
    unsigned rounds = 0;
    bool agrees = true;

    random_state = getenv("BERTH_SEED") ? strtoull(getenv("BERTH_SEED"), NULL, 10) : 1;
    for (; rounds < 1500 && agrees; rounds++) {
        unsigned place = below(KEYS);
        struct berth_ad *job;

        if (below(3)) {
            berth_ad_unref(offers[place]);
            offers[place] = random_ad();
            agrees = berth_index_put(context, index, place * 1000003u, offers[place], NULL) == 0;
        } else {
            agrees = berth_index_drop(context, index, place * 1000003u) == (offers[place] != NULL);
            berth_ad_unref(offers[place]);
            offers[place] = NULL;
        }
        if (below(10) == 0)
            berth_context_set_clock(context, below(8), 0);
        job = random_ad();
        agrees = agrees && index_agrees(index, offers, job);
        berth_ad_unref(job);
    }
    if (!tap_ok(agrees, "an index finds what trying each finds, and the best of them, while offers come and go"))
        tap_diag("round %u", rounds);
    for (int i = 0; i < KEYS; i++)
        berth_ad_unref(offers[i]);
    berth_index_free(index);
}

/* --------------------------------------------------------------------------------------------------------- memory */

#ifndef TESTS_SANITIZED
static int asked;

static int more_room(void *user, size_t wanted)
{
    struct rlimit limit;

    (void)wanted;
    (void)user;
    if (++asked > 1 || getrlimit(RLIMIT_AS, &limit) < 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

static void test_memory(void)
{
    char *text = malloc(3 << 20);
    struct rlimit limit;
    struct berth_ad *ad;

    memset(text, ' ', 3 << 20);
    memcpy(text, "[ A = \"", 7);
    memset(text + 7, 'x', (3 << 20) - 10);
    memcpy(text + (3 << 20) - 3, "\" ]", 3);
    berth_on_memory(more_room, NULL);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1 << 20; /* less than there is already: nothing more can be had */
    setrlimit(RLIMIT_AS, &limit);
    ad = berth_ad_parse(context, BERTH_FORM_CLASSAD, text, 3 << 20, NULL);
    berth_on_memory(NULL, NULL);
    tap_ok(ad && asked == 1, "when memory has run out the hook is asked, and with what it gives back the call goes on");
    berth_ad_unref(ad);
    free(text);
}
#endif

int main(void)
{
    context = berth_context_new();
    test_errors();
    test_limits();
    test_bad_calls();
    test_maker();
    test_depth();
    test_growth();
    test_forms();
    test_gangs();
    test_index();
    test_eval(); /* shares the names from here on */
    test_index();
#ifndef TESTS_SANITIZED
    test_memory();
#endif
    berth_context_free(context);
    return tap_done();
}
