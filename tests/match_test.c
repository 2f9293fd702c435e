/* match_test.c: two ads fit or do not; an ad made ready says the same as the ad itself, over all pairs of the corpus. */
#include "lang.h"
#include "tap.h"

#include "match/cycle.h"
#include "match/order.h"

#include <jansson.h>

static const struct env env = {.now = 1772366400}; /* 2026-03-01T12:00:00Z */

static struct tree *ad(struct lang *lang, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(lang, dialect, text, &err);

    if (!tree)
        tap_diag("%s: %u:%u: %s", text, err.line, err.column, err.text);
    return tree;
}

static const struct pairing {
    const char *sentence;
    const char *left, *right;
    bool matches;
} pairings[] = {
    {"two ads match when both constraints are true", "[ x = 1; Constraint = other.y > x ]",
     "[ y = 2; Constraint = other.x < 5 ]", true},
    {"one constraint that is false refuses", "[ x = 1; Constraint = other.y > 5 ]", "[ y = 2; Constraint = true ]",
     false},
    {"the other one's constraint refuses as well", "[ x = 1; Constraint = true ]",
     "[ y = 2; Constraint = other.x > 5 ]", false},
    {"a missing constraint counts as true", "[ x = 1 ]", "[ y = 2 ]", true},
    {"a constraint that is undefined refuses", "[ Constraint = other.nosuch > 1 ]", "[]", false},
    {"a constraint that is error refuses", "[ Constraint = \"a\" + 1 ]", "[]", false},
    {"a constraint that is no truth value refuses", "[ Constraint = 1 ]", "[]", false},
    {"Requirements is another name for it", "[ Requirements = other.y == 3 ]", "[ y = 2 ]", false},
    {"of both, Constraint counts", "[ Requirements = false; Constraint = true ]", "[]", true},
    {"plain names fall through to the counterpart", "[ Constraint = Arch == \"INTEL\" ]", "[ Arch = \"intel\" ]", true},
    {"self.x never falls through", "[ Constraint = self.Arch is undefined ]", "[ Arch = \"INTEL\" ]", true},
    {"an ad's own attribute comes before the counterpart's", "[ m = 1; Constraint = m == 1 && other.m == 2 ]",
     "[ m = 2 ]", true},
    {"a circle through both ads is undefined", "[ a = other.b; Constraint = a is undefined ]", "[ b = other.a ]", true},
};

static void check_pairing(struct lang *lang, const struct pairing *pairing)
{
    struct tree *left = ad(lang, &dialect_classic, pairing->left), *right = ad(lang, &dialect_classic, pairing->right);
    struct party left_party, right_party;
    struct match match;

    party_init(&left_party, &env, &lang->arena, left);
    party_init(&right_party, &env, &lang->arena, right);
    match_ads(&env, &lang->arena, left, right, &match);
    tap_ok(match.matches == pairing->matches, "%s", pairing->sentence);
    tap_ok(party_matches(&env, &lang->arena, &left_party, &right_party) == pairing->matches, "made ready: %s",
           pairing->sentence);
    tap_ok(party_matches(&env, &lang->arena, &right_party, &left_party) == pairing->matches, "from the other side: %s",
           pairing->sentence);
    party_done(&left_party);
    party_done(&right_party);
    tree_unref(left);
    tree_unref(right);
    arena_reset(&lang->arena);
}

static void check_ranks(struct lang *lang)
{
    struct tree *left = ad(lang, &dialect_classic, "[ Rank = other.Memory / 2 ]");
    struct tree *right = ad(lang, &dialect_classic, "[ Memory = 64 ]");
    struct match match;

    match_ads(&env, &lang->arena, left, right, &match);
    tap_ok(match.left_rank.type == VALUE_INTEGER && match.left_rank.u.integer == 32, "a rank is evaluated in the pair");
    tap_ok(match.right_rank.type == VALUE_UNDEFINED, "an absent rank is undefined");
    tap_ok(value_is_true(&match.left_constraint), "an absent constraint reads as true");
    tree_unref(left);
    tree_unref(right);
    arena_reset(&lang->arena);
}

static void check_queries(struct lang *lang)
{
    static const struct {
        const char *sentence, *query;
        bool matches;
    } rows[] = {
        {"a query reads the ad by plain names", "Memory > 32", true},
        {"a query reads the ad by other.", "other.Memory > 32", true},
        {"a query that is undefined finds nothing", "nosuch > 32", false},
        {"the ad's own constraint is not asked", "true", true},
        {"a query that is no truth value finds nothing", "Memory", false},
        {"what the ad says is evaluated in the ad", "Double == 128", true},
    };
    struct tree *offer = ad(lang, &dialect_classic, "[ Memory = 64; Double = Memory * 2; Constraint = false ]");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *query = lang_expr(lang, &dialect_classic, rows[i].query, strlen(rows[i].query), NULL);

        tap_ok(query && match_query(&env, &lang->arena, query, offer) == rows[i].matches, "%s", rows[i].sentence);
        tree_unref(query);
    }
    tree_unref(offer);
}

/* Values in rising order: each is below all that follow it. */
static void check_order(struct lang *lang)
{
    static const char *const rising[] = {
        "real(\"NaN\")", "-1.5", "false", "0.5", "true", "2", "\"a\"", "\"B\"", "'2000-01-01T00:00:00Z'", "'1:00'"};
    enum { COUNT = sizeof rising / sizeof *rising };
    struct tree *trees[COUNT];
    struct value values[COUNT];
    struct eval eval;
    bool right = true;

    eval_init(&eval, &env, &lang->arena);
    for (int i = 0; i < COUNT; i++) {
        trees[i] = lang_expr(lang, &dialect_classic, rising[i], strlen(rising[i]), NULL);
        eval_tree(&eval, NULL, trees[i], &values[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            int order = order_compare(&values[i], &values[k]);

            if ((order > 0) - (order < 0) != (i > k) - (i < k)) {
                tap_diag("%s and %s", rising[i], rising[k]);
                right = false;
            }
        }
    }
    tap_ok(right, "numbers, strings and times are ordered, NaN below all");
    values[0] = value_undefined();
    values[1] = order_rank(&values[0]);
    tap_ok(!order_has(&values[0]) && values[1].type == VALUE_INTEGER && values[1].u.integer == 0,
           "a rank that is undefined counts as zero");
    for (int i = 0; i < COUNT; i++)
        tree_unref(trees[i]);
    arena_reset(&lang->arena);
}

static const struct cycle_case {
    const char *sentence;
    const char *requests[4], *offers[4];
    const char *rows; /* request offer rank; ... by their places */
} cycles[] = {
    {"a request gets the offer that it ranks highest",
     {"[ Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 3 ]", "[ m = 2 ]"},
     "0 1 3; "},
    {"of offers that it ranks alike, the one that ranks it highest",
     {"[ x = 1 ]"},
     {"[ Rank = 1 ]", "[ Rank = 2 * other.x ]", "[]"},
     "0 1 0; "},
    {"then the first", {"[]"}, {"[ m = 1 ]", "[ m = 2 ]"}, "0 0 0; "},
    {"an offer is given once, to the request that comes first",
     {"[ Rank = other.m ]", "[ Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 2 ]"},
     "0 1 2; 1 0 1; "},
    {"a request that nobody fits is passed over", {"[ Constraint = other.m > 5 ]", "[]"}, {"[ m = 1 ]"}, "1 0 0; "},
    {"an offer's own constraint counts", {"[ o = \"a\" ]"}, {"[ Constraint = other.o == \"b\" ]"}, ""},
    {"Count units are matched one by one, as many as there are",
     {"[ Count = 3; Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 2 ]"},
     "0 1 2; 0 0 1; "},
    {"a rank that is an error counts as zero", {"[ Rank = other.m + 1 ]"}, {"[ m = -5 ]", "[ m = \"x\" ]"}, "0 1 0; "},
    {"a rank may be a string", {"[ Rank = other.s ]"}, {"[ s = \"a\" ]", "[ s = \"b\" ]"}, "0 1 \"b\"; "},
};

static void note_match(void *user, size_t request, size_t offer, const struct value *rank)
{
    struct buf *rows = user;

    buf_addf(rows, "%zu %zu ", request, offer);
    value_print(rows, &dialect_classic, rank, PRINT_PLAIN);
    buf_adds(rows, "; ");
}

static size_t parties_read(struct lang *lang, const char *const texts[4], struct party parties[4])
{
    size_t count = 0;

    for (; count < 4 && texts[count]; count++) {
        struct tree *tree = ad(lang, &dialect_classic, texts[count]);

        party_init(&parties[count], &env, &lang->arena, tree);
        tree_unref(tree);
    }
    return count;
}

static void check_cycle(struct lang *lang, const struct cycle_case *c)
{
    struct party requests[4], offers[4];
    size_t request_count = parties_read(lang, c->requests, requests),
           offer_count = parties_read(lang, c->offers, offers);
    struct buf rows;

    buf_init(&rows);
    cycle_run(&env, &lang->arena, requests, request_count, offers, offer_count, note_match, &rows);
    if (!tap_ok(strcmp(buf_string(&rows), c->rows) == 0, "%s", c->sentence))
        tap_diag("got %s", buf_string(&rows));
    buf_done(&rows);
    while (request_count)
        party_done(&requests[--request_count]);
    while (offer_count)
        party_done(&offers[--offer_count]);
}

#define ADS_MAX 1000

/* Every ad of the corpus against every other. */
static void check_all_pairs(struct lang *lang, const struct dialect *dialect)
{
    static struct party parties[ADS_MAX];
    size_t len, count = 0, differ = 0, matched = 0;
    char *text = lang_read("tests/conformance/condor-match.jsonl", &len), *rest = text, *line;

    while ((line = lang_line(&rest)) && count + 2 <= ADS_MAX) {
        json_t *json = json_loads(line, 0, NULL);
        const char *sides[2] = {NULL, NULL};

        json_unpack(json, "{s:s, s:s}", "a", &sides[0], "b", &sides[1]);
        for (int i = 0; i < 2; i++) {
            struct tree *tree = sides[i] ? lang_ad(lang, dialect, sides[i], NULL) : NULL;

            if (tree)
                party_init(&parties[count++], &env, &lang->arena, tree);
            tree_unref(tree);
        }
        json_decref(json);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            struct match match;

            match_ads(&env, &lang->arena, parties[i].ad, parties[k].ad, &match);
            matched += match.matches;
            if (match.matches != party_matches(&env, &lang->arena, &parties[i], &parties[k]) && differ++ == 0)
                tap_diag("ads %zu and %zu", i, k);
            arena_reset(&lang->arena);
        }
    }
    tap_ok(count > 400 && matched > 0 && differ == 0,
           "%s: ads made ready match as the ads do, over all pairs of the corpus", dialect->name);
    tap_diag("%zu ads, %zu of %zu pairs match, %zu differ", count, matched, count * count, differ);
    while (count)
        party_done(&parties[--count]);
    free(text);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; i++)
        check_pairing(&lang, &pairings[i]);
    check_ranks(&lang);
    check_queries(&lang);
    check_order(&lang);
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        check_cycle(&lang, &cycles[i]);
    check_all_pairs(&lang, &dialect_condor);
    check_all_pairs(&lang, &dialect_classic);
    lang_done(&lang);
    return tap_done();
}
