/* match_test.c: two ads fit or do not; an ad made ready says the same as the ad itself, over all pairs of the corpus. */
#include "common/lang.h"
#include "common/tap.h"

#include "match/pair/cycle.h"
#include "match/pair/order.h"
#include "match/pair/residual.h"

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
    static const char *const rising[] = {"real(\"NaN\")",
                                         "real(\"-INF\")",
                                         "-9007199254740993",
                                         "-9007199254740992.0",
                                         "-9007199254740991",
                                         "-1.5",
                                         "-1",
                                         "false",
                                         "0.5",
                                         "true",
                                         "2",
                                         "9007199254740991",
                                         "9007199254740992.0",
                                         "9007199254740993",
                                         "9007199254740994.0",
                                         "9223372036854775807",
                                         "9223372036854775808.0",
                                         "real(\"INF\")",
                                         "\"a\"",
                                         "\"B\"",
                                         "'2000-01-01T00:00:00Z'",
                                         "'1:00'"};
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
    tap_ok(right, "numbers, strings and times are ordered, NaN below all, and integers among reals by what they are");
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
    const char *policy;
} cycles[] = {
    {"a request gets the offer that it ranks highest",
     {"[ Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 3 ]", "[ m = 2 ]"},
     "0 1 3; ",
     NULL},
    {"of offers that it ranks alike, the one that ranks it highest",
     {"[ x = 1 ]"},
     {"[ Rank = 1 ]", "[ Rank = 2 * other.x ]", "[]"},
     "0 1 0; ",
     NULL},
    {"then the first", {"[]"}, {"[ m = 1 ]", "[ m = 2 ]"}, "0 0 0; ", NULL},
    {"an offer is given once, to the request that comes first",
     {"[ Rank = other.m ]", "[ Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 2 ]"},
     "0 1 2; 1 0 1; ",
     NULL},
    {"a request that nobody fits is passed over",
     {"[ Constraint = other.m > 5 ]", "[]"},
     {"[ m = 1 ]"},
     "1 0 0; ",
     NULL},
    {"an offer's own constraint counts", {"[ o = \"a\" ]"}, {"[ Constraint = other.o == \"b\" ]"}, "", NULL},
    {"Count units are matched one by one, as many as there are",
     {"[ Count = 3; Rank = other.m ]"},
     {"[ m = 1 ]", "[ m = 2 ]"},
     "0 1 2; 0 0 1; ",
     NULL},
    {"a rank that is an error counts as zero",
     {"[ Rank = other.m + 1 ]"},
     {"[ m = -5 ]", "[ m = \"x\" ]"},
     "0 1 0; ",
     NULL},
    {"a policy's root order: the larger key is served first, one without a key last",
     {"[ p = 1 ]", "[]", "[ p = 3 ]"},
     {"[]", "[]", "[]"},
     "2 0 0; 0 1 0; 1 2 0; ",
     "[ RootOrder = self.p ]"},
    {"roots of equal keys keep their order",
     {"[ p = 1 ]", "[ p = 1 ]"},
     {"[]", "[]"},
     "0 0 0; 1 1 0; ",
     "[ RootOrder = p ]"},
    {"a policy may select the roots among all ads; the others are candidates",
     {"[ Type = \"Machine\" ]"},
     {"[ Type = \"Job\" ]"},
     "1 0 0; ",
     "[ RootSelection = Type == \"Job\" ]"},
    {"a docking vector chooses the candidate",
     {"[ Rank = other.m ]"},
     {"[ m = 3 ]", "[ m = 1 ]"},
     "0 1 1; ",
     "[ DockingVector = { -label.m } ]"},
    {"its components count from the first",
     {"[ Rank = other.m ]"},
     {"[ m = 1; n = 5 ]", "[ m = 2; n = 1 ]", "[ m = 2; n = 3 ]"},
     "0 2 2; ",
     "[ DockingVector = { self.Rank, label.n } ]"},
    {"a vector with an undefined or error component is discarded",
     {"[]"},
     {"[ n = error ]", "[]", "[ n = -7 ]"},
     "0 2 0; ",
     "[ DockingVector = { label.n } ]"},
    {"a Rank that is absent reads as 0 in a docking vector",
     {"[]"},
     {"[ Rank = -1 ]", "[]"},
     "0 1 0; ",
     "[ DockingVector = { self.Rank, label.Rank } ]"},
    {"appending -label.Memory conserves large machines",
     {"[ Constraint = other.Memory >= 2 ]"},
     {"[ Memory = 8 ]", "[ Memory = 2 ]", "[ Memory = 1 ]"},
     "0 1 0; ",
     "[ DockingVector = { self.Rank, label.Rank, -label.Memory } ]"},
    {"an offer with a residual serves several requests until nothing is left",
     {"[ c = 3 ]", "[ c = 4 ]", "[ c = 2 ]"},
     {"[ Cpus = 6; Constraint = other.c <= Cpus; Residual = [ Cpus = Cpus - other.c ] ]"},
     "0 0 0; 2 0 0; ",
     NULL},
    {"a residual keeps the other attributes, and ranks are of what is left",
     {"[ Count = 3; Rank = other.Cpus ]"},
     {"[ Cpus = 2; Constraint = self.Cpus > 0; Residual = [ Cpus = Cpus - 1 ] ]"},
     "0 0 2; 0 0 1; ",
     NULL},
    {"an offer whose residual accepts nobody is gone, others are not",
     {"[]", "[]"},
     {"[ n = 1; Constraint = n > 0; Residual = [ n = n - 1 ] ]", "[ m = 1 ]"},
     "0 0 0; 1 1 0; ",
     NULL},
    {"a rank may be a string", {"[ Rank = other.s ]"}, {"[ s = \"a\" ]", "[ s = \"b\" ]"}, "0 1 \"b\"; ", NULL},
};

struct rows {
    struct buf text;
    size_t requests;
};

static void note_match(void *user, size_t root, size_t candidate, const struct value *rank)
{
    struct rows *rows = user;

    buf_addf(&rows->text, "%zu %zu ", root, candidate >= rows->requests ? candidate - rows->requests : candidate);
    value_print(&rows->text, &dialect_classic, rank, PRINT_PLAIN);
    buf_adds(&rows->text, "; ");
}

static size_t parties_read(struct lang *lang, const char *const texts[4], struct party *parties)
{
    size_t count = 0;

    for (; count < 4 && texts[count]; count++) {
        struct tree *tree = ad(lang, &dialect_classic, texts[count]);

        party_init(&parties[count], &env, &lang->arena, tree);
        tree_unref(tree);
    }
    return count;
}

/* Offers are named by their place among the offers. */
static void check_cycle(struct lang *lang, const struct cycle_case *c)
{
    struct party parties[8];
    size_t requests = parties_read(lang, c->requests, parties);
    size_t offers = parties_read(lang, c->offers, parties + requests), count = requests + offers;
    struct tree *policy_ad = c->policy ? ad(lang, &dialect_classic, c->policy) : NULL;
    struct rows rows = {.requests = requests};
    struct policy policy;
    symbol wrong;

    buf_init(&rows.text);
    tap_ok(policy_init(&policy, policy_ad, &wrong, NULL) == 0, "the policy is one: %s", c->sentence);
    cycle_run(
        &env, &lang->arena,
        &(struct cycle_field){
            .policy = &policy, .parties = parties, .request_count = requests, .offer_count = offers, .finder = NULL},
        note_match, &rows);
    if (!tap_ok(strcmp(buf_string(&rows.text), c->rows) == 0, "%s", c->sentence))
        tap_diag("got %s", buf_string(&rows.text));
    policy_done(&policy);
    tree_unref(policy_ad);
    buf_done(&rows.text);
    while (count)
        party_done(&parties[--count]);
}

/* Figure 9, Condor's policy: each branch of the vector, with a user whose priority is 10. */
static void check_condor_policy(struct lang *lang)
{
    static const struct {
        const char *sentence, *candidate, *vector;
    } rows[] = {
        {"a machine that nobody uses comes first", "[ m = 7 ]", "7 2 0 "},
        {"a machine that prefers the job may be taken from another",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 1; CurrentRank = 1; Rank = 5; ImageSize = 100; ServiceTime = '0:01' ]",
         "7 1 9900 "},
        {"a better user may take a machine that is indifferent after three hours",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 12; CurrentRank = 5; Rank = 5; ImageSize = 100; ServiceTime = '3:01' ]",
         "7 0 119900 "},
        {"a user must be better by the factor 1.1",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 11; CurrentRank = 5; Rank = 5; ImageSize = 100; ServiceTime = '3:01' ]",
         ""},
        {"three hours to the second are not enough",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 12; CurrentRank = 5; Rank = 5; ImageSize = 100; ServiceTime = '3:00' ]",
         ""},
        {"a machine that likes its present user better is not taken",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 12; CurrentRank = 6; Rank = 5; ImageSize = 100; ServiceTime = '9:00' ]",
         ""},
        {"a machine without a Rank likes all alike",
         "[ m = 7; RemoteUser = \"x\"; RemoteUserPrio = 12; CurrentRank = 0; ImageSize = 100; ServiceTime = '9:00' ]",
         "7 0 119900 "},
    };
    const struct given prio = {symbols_take(lang->symbols, "UserPrio", 8), value_integer(10)};
    struct env with_prio = env;
    size_t len;
    char *text = lang_read("examples/policy/condor.ad", &len);
    struct tree *policy_ad = ad(lang, &dialect_classic, text);
    struct tree *job = ad(lang, &dialect_classic, "[ Type = \"Job\"; Rank = other.m ]");
    struct tree *plain = ad(lang, &dialect_classic, "[ Type = \"Job\" ]");
    struct policy policy;
    struct value *vector;
    symbol wrong;

    with_prio.given = &prio;
    with_prio.given_count = 1;
    tap_ok(policy_init(&policy, policy_ad, &wrong, NULL) == 0, "figure 9 is a policy");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *candidate = ad(lang, &dialect_classic, rows[i].candidate);
        uint32_t count = policy_vector(&policy, &with_prio, &lang->arena, job, candidate, NULL, &vector);
        struct buf got;

        buf_init(&got);
        for (uint32_t k = 0; k < count; k++) {
            value_print(&got, &dialect_classic, &vector[k], PRINT_PLAIN);
            buf_addc(&got, ' ');
        }
        if (!tap_ok(strcmp(buf_string(&got), rows[i].vector) == 0, "figure 9: %s", rows[i].sentence))
            tap_diag("got %s", buf_string(&got));
        if (i == 0)
            tap_ok(policy_vector(&policy, &with_prio, &lang->arena, plain, candidate, NULL, &vector) == 3 &&
                       vector[0].type == VALUE_INTEGER && vector[0].u.integer == 0,
                   "figure 9: a job without a Rank likes all alike");
        buf_done(&got);
        tree_unref(candidate);
        arena_reset(&lang->arena);
    }
    tap_ok(policy_selects(&policy, &env, &lang->arena, job), "figure 9: jobs are served");
    policy_done(&policy);
    symbols_drop(lang->symbols, prio.name);
    tree_unref(job);
    tree_unref(plain);
    tree_unref(policy_ad);
    free(text);
}

static void check_bad_residuals(struct lang *lang)
{
    static const struct {
        const char *sentence, *offer;
        bool right;
    } rows[] = {
        {"an offer need not have a residual", "[]", true},
        {"a residual may read what it replaces", "[ c = 1; Residual = [ c = c - other.c ] ]", true},
        {"a residual is written as an ad", "[ Residual = 5 ]", false},
        {"a residual may not read itself", "[ Residual = [ c = Residual.c ] ]", false},
        {"a residual may not read itself by self", "[ Residual = [ c = self.Residual.c + 1 ] ]", false},
        {"a residual may not read itself through another attribute", "[ d = Residual.c; Residual = [ c = d ] ]", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *offer = ad(lang, &dialect_classic, rows[i].offer);
        struct err err = {0};

        tap_ok((residual_check(offer, &err) == 0) == rows[i].right, "%s", rows[i].sentence);
        tree_unref(offer);
    }
}

static void check_bad_policies(struct lang *lang)
{
    static const char *const bad[] = {"[ DockingVector = label.m ]", "[ DockingVector = {} ]",
                                      "[ DockingVector = [ a = 1 ] ]"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tree *tree = ad(lang, &dialect_classic, bad[i]);
        struct policy policy;
        struct err err = {0};
        symbol wrong = SYMBOL_NONE;

        tap_ok(policy_init(&policy, tree, &wrong, &err) < 0 && symbol_same(wrong, NAME_DOCKINGVECTOR) && err.text[0],
               "a docking vector that is no list of components is refused: %s", bad[i]);
        tree_unref(tree);
    }
}

#define ADS_MAX 1000

/* Every ad of the corpus against every other. */
static void check_all_pairs(struct lang *lang, const struct dialect *dialect)
{
    static struct party parties[ADS_MAX];
    size_t len, count = 0, differ = 0, matched = 0;
    char *text = lang_read("tests/lang/conformance/condor-match.jsonl", &len), *rest = text, *line;

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
    check_condor_policy(&lang);
    check_bad_policies(&lang);
    check_bad_residuals(&lang);
    check_all_pairs(&lang, &dialect_condor);
    check_all_pairs(&lang, &dialect_classic);
    lang_done(&lang);
    return tap_done();
}
