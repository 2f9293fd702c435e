/* assign_test.c: the policies on the examples of the documents, and on problems that are not in order. */
#include "match/assign/ads.h"
#include "match/assign/preference.h"

#include "common/lang.h"
#include "common/tap.h"

#include <math.h>
#include <stdlib.h>

struct fixture {
    struct arena scratch;
    struct assign_problem problem;
    struct assign_result result;
    struct err err;
};

static void fixture_init(struct fixture *f, uint32_t quantity_count)
{
    arena_init(&f->scratch);
    assign_problem_init(&f->problem, quantity_count);
    assign_result_init(&f->result);
}

static void fixture_done(struct fixture *f)
{
    assign_result_done(&f->result);
    assign_problem_done(&f->problem);
    arena_done(&f->scratch);
}

static void solve(struct fixture *f, enum assign_policy policy)
{
    if (assign_solve(&f->scratch, policy, &f->problem, NULL, &f->result, &f->err) < 0)
        tap_ok(false, "%s failed: %s", assign_policy_names[policy], f->err.text);
}

static uint32_t offer_of(const struct fixture *f, uint32_t request)
{
    for (uint32_t i = 0; i < f->result.count; i++)
        if (f->result.pairs[i].request == request)
            return f->result.pairs[i].offer;
    return ASSIGN_NONE;
}

/* Offers A with 20 and B with 10 processors; requests for 5, 5 and 20, all compatible with both. */
static void figure_1_1(struct fixture *f)
{
    uint32_t row;

    fixture_init(f, 1);
    row = assign_add_row(&f->problem);
    assign_add_edge(&f->problem, 0, 0, 0);
    assign_add_edge(&f->problem, 1, 0, 0);
    assign_add_offer(&f->problem, 0, (double[]){20});
    assign_add_offer(&f->problem, 1, (double[]){10});
    assign_add_request(&f->problem, row, (double[]){5}, NAN, 0);
    assign_add_request(&f->problem, row, (double[]){5}, NAN, 0);
    assign_add_request(&f->problem, row, (double[]){20}, NAN, 0);
}

static void test_figure_1_1(void)
{
    static const enum assign_policy all[] = {ASSIGN_SRFM, ASSIGN_LBM, ASSIGN_OPTIMAL};
    struct fixture f;

    figure_1_1(&f);
    solve(&f, ASSIGN_FCFS);
    tap_ok(f.result.count == 2 && offer_of(&f, 0) == 0 && offer_of(&f, 1) == 0 && offer_of(&f, 2) == ASSIGN_NONE,
           "figure 1.1: first come, first served, puts jobs 1 and 2 on A, and job 3 finds no room");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        solve(&f, all[i]);
        tap_ok(f.result.count == 3 && offer_of(&f, 0) == 1 && offer_of(&f, 1) == 1 && offer_of(&f, 2) == 0,
               "figure 1.1: %s places all three, the large one on A", assign_policy_names[all[i]]);
    }
    fixture_done(&f);
}

static void test_table_4_1(void)
{
    static const char *const compatible[] = {"01000", "10000", "11000", "11001", "00111"};
    static const enum assign_policy all[] = {ASSIGN_FCFS, ASSIGN_SRFM, ASSIGN_LBM, ASSIGN_OPTIMAL};
    struct fixture f;

    fixture_init(&f, 1);
    for (uint32_t i = 0; i < 5; i++) {
        assign_add_row(&f.problem);
        for (uint32_t k = 0; k < 5; k++)
            if (compatible[i][k] == '1')
                assign_add_edge(&f.problem, k, 1, 0);
        assign_add_request(&f.problem, i, (double[]){1}, NAN, 0);
        assign_add_offer(&f.problem, i, (double[]){1});
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        solve(&f, all[i]);
        tap_ok(f.result.count == 4, "table 4.1: %s makes four matches, and nobody can make more",
               assign_policy_names[all[i]]);
    }
    tap_ok(f.result.exact && f.result.count_bound == 4, "table 4.1: optimal proves that four is the most");
    fixture_done(&f);
}

static void test_figure_4_3(void)
{
    struct fixture f;

    fixture_init(&f, 1);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 0, 1, 0);
    assign_add_edge(&f.problem, 1, 1, 0);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 1, 1, 0);
    assign_add_offer(&f.problem, 0, (double[]){2});
    assign_add_offer(&f.problem, 1, (double[]){1});
    assign_add_request(&f.problem, 0, (double[]){1}, NAN, 0);
    assign_add_request(&f.problem, 1, (double[]){1}, NAN, 0);
    solve(&f, ASSIGN_LBM);
    tap_ok(offer_of(&f, 0) == 0 && offer_of(&f, 1) == 1 && fabs(f.result.relaxation - 2) < 1e-9,
           "figure 4.3: r11 = 1 and r22 = 1, and the programme is worth 2");
    fixture_done(&f);
}

/* --------------------------------------------------------------------------------------------------------------- the queues */

static void test_queues(void)
{
    struct fixture f;

    fixture_init(&f, 1);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 0, 0, 0);
    assign_add_offer(&f.problem, 0, (double[]){4});
    assign_add_request(&f.problem, 0, (double[]){4}, NAN, 0);
    assign_add_request(&f.problem, 0, (double[]){4}, 100, 0);
    assign_add_request(&f.problem, 0, (double[]){3}, 10, 0);
    assign_add_request(&f.problem, 0, (double[]){2}, 10, 0);
    solve(&f, ASSIGN_FCFS);
    tap_ok(f.result.count == 1 && offer_of(&f, 0) == 0, "fcfs does not look at durations");
    solve(&f, ASSIGN_SJF);
    tap_ok(f.result.count == 1 && offer_of(&f, 3) == 0,
           "sjf takes the shortest, and of two that are equally short the one with fewer processors");
    solve(&f, ASSIGN_LJF);
    tap_ok(f.result.count == 1 && offer_of(&f, 1) == 0,
           "ljf takes the longest; who does not say how long is no longer than anybody");
    fixture_done(&f);
}

static void test_priorities(void)
{
    struct fixture f;

    fixture_init(&f, 1);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 0, 0, 0);
    assign_add_offer(&f.problem, 0, (double[]){1});
    assign_add_request(&f.problem, 0, (double[]){1}, NAN, 0);
    assign_add_request(&f.problem, 0, (double[]){1}, NAN, 1);
    solve(&f, ASSIGN_SRFM);
    tap_ok(f.result.count == 1 && offer_of(&f, 1) == 0, "srfm: who has waited a window longer is served first");
    fixture_done(&f);
}

static void test_fractions(void)
{
    struct fixture f;

    fixture_init(&f, 1);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 0, 0, 0);
    assign_add_offer(&f.problem, 0, (double[]){1});
    for (int i = 0; i < 11; i++)
        assign_add_request(&f.problem, 0, (double[]){0.1}, NAN, 0);
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++) {
        solve(&f, policy);
        tap_ok(f.result.count == 10, "%s: ten tenths fit into one, and no eleventh", assign_policy_names[policy]);
    }
    fixture_done(&f);
}

/* ------------------------------------------------------------------------------------------------------- programmes that fail */

static int relax_badly(void *user, const struct assign_programme *programme, double *ret_x, double *ret_prices,
                       uint64_t *ret_work, struct err *err)
{
    (void)programme, (void)ret_x, (void)ret_prices, (void)ret_work;
    ++*(int *)user;
    return err_set(err, "the planted solver never solves anything");
}

static void test_planted(void)
{
    struct fixture f;
    int asked = 0;
    struct assign_options options = {.relax = relax_badly, .relax_user = &asked};

    figure_1_1(&f);
    if (assign_solve(&f.scratch, ASSIGN_LBM, &f.problem, &options, &f.result, &f.err) < 0)
        tap_ok(false, "lbm failed: %s", f.err.text);
    tap_ok(asked == 1 && f.result.fell_back && strstr(f.result.why, "planted") && f.result.count == 3,
           "lbm: a programme that cannot be solved is told of, and the window is settled as srfm does it");
    tap_ok(isinf(f.result.relaxation) && f.result.count_bound == UINT32_MAX, "and then nothing is said about a bound");
    if (assign_solve(&f.scratch, ASSIGN_OPTIMAL, &f.problem, &options, &f.result, &f.err) < 0)
        tap_ok(false, "optimal failed: %s", f.err.text);
    tap_ok(asked == 2 && !f.result.exact && f.result.count == 3 && assign_gap(&f.result) == 1 &&
               strstr(f.result.why, "planted"),
           "optimal without a programme has no proof and says so, and still places what the quick policies can");
    if (assign_solve(&f.scratch, ASSIGN_LBM, &f.problem, NULL, &f.result, &f.err) < 0)
        tap_ok(false, "lbm failed: %s", f.err.text);
    tap_ok(!f.result.fell_back && !*f.result.why, "the next window is solved again");
    fixture_done(&f);
}

static bool stop_at_once(void *user)
{
    ++*(int *)user;
    return true;
}

static void test_stop(void)
{
    struct fixture f;
    int asked = 0;
    struct assign_options options = {.stop = stop_at_once, .stop_user = &asked};

    fixture_init(&f, 2);
    assign_add_row(&f.problem);
    for (uint32_t i = 0; i < 6; i++) {
        assign_add_edge(&f.problem, i, i, 0);
        assign_add_offer(&f.problem, i, (double[]){10 + i, 9});
    }
    for (uint32_t i = 0; i < 30; i++)
        assign_add_request(&f.problem, 0, (double[]){1 + i % 7, 1 + i % 4}, NAN, 0);
    if (assign_solve(&f.scratch, ASSIGN_OPTIMAL, &f.problem, &options, &f.result, &f.err) < 0)
        tap_ok(false, "optimal failed: %s", f.err.text);
    tap_ok(asked > 0 && f.result.count > 0 && f.result.count_bound >= f.result.count,
           "optimal that is stopped gives what it has, and a bound (%u of at most %u)", f.result.count,
           f.result.count_bound);
    fixture_done(&f);
}

/* ------------------------------------------------------------------------------------------------- problems not in order */

static void test_wrong(void)
{
    struct fixture f;

    figure_1_1(&f);
    assign_add_request(&f.problem, 0, (double[]){-1}, NAN, 0);
    tap_ok(assign_solve(&f.scratch, ASSIGN_FCFS, &f.problem, NULL, &f.result, &f.err) < 0 && f.result.count == 0 &&
               strcmp(f.err.text, "request 4 asks for -1 of quantity 1: expected a number from 0 on") == 0,
           "an amount below zero is refused: %s", f.err.text);
    fixture_done(&f);
    figure_1_1(&f);
    assign_add_offer(&f.problem, 0, (double[]){NAN});
    tap_ok(assign_solve(&f.scratch, ASSIGN_FCFS, &f.problem, NULL, &f.result, &f.err) < 0,
           "an offer of no number is refused: %s", f.err.text);
    fixture_done(&f);
    figure_1_1(&f);
    assign_add_request(&f.problem, 7, (double[]){1}, NAN, 0);
    tap_ok(assign_solve(&f.scratch, ASSIGN_FCFS, &f.problem, NULL, &f.result, &f.err) < 0,
           "a request of a row that is not there is refused: %s", f.err.text);
    fixture_done(&f);
}

static void test_large(void)
{
    struct fixture f;
    int refused = 0;

    fixture_init(&f, 1);
    assign_add_row(&f.problem);
    assign_add_edge(&f.problem, 0, 0, 0);
    for (int i = 0; i < 8000; i++) {
        assign_add_offer(&f.problem, 0, (double[]){i});
        assign_add_request(&f.problem, 0, (double[]){i}, NAN, 0);
    }
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++)
        refused += assign_solve(&f.scratch, policy, &f.problem, NULL, &f.result, &f.err) < 0;
    tap_ok(refused == ASSIGN_POLICY_COUNT, "a problem that memory may not hold is refused by all: %s", f.err.text);
    fixture_done(&f);
}

static void test_empty(void)
{
    struct fixture f;
    int good = 0;

    fixture_init(&f, 3);
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++) {
        solve(&f, policy);
        good += f.result.count == 0;
    }
    assign_add_offer(&f.problem, 0, (double[]){1, 1, 1});
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++) {
        solve(&f, policy);
        good += f.result.count == 0;
    }
    assign_problem_next(&f.problem);
    assign_add_row(&f.problem);
    assign_add_request(&f.problem, 0, (double[]){1, 1, 1}, NAN, 0);
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++) {
        solve(&f, policy);
        good += f.result.count == 0;
    }
    tap_ok(good == 3 * ASSIGN_POLICY_COUNT, "no requests, no offers, or neither: nothing is placed, by any policy");
    fixture_done(&f);
}

static void test_names(void)
{
    enum assign_policy policy = ASSIGN_FCFS;
    struct err err;

    tap_ok(assign_policy_find("SRFM", 4, &policy, &err) == 0 && policy == ASSIGN_SRFM, "policies by name, in any case");
    tap_ok(assign_policy_find("optimel", 7, &policy, &err) < 0 && strstr(err.text, "did you mean 'optimal'?"),
           "a wrong name is told what was meant: %s", err.text);
}

/* ---------------------------------------------------------------------------------------------------------- both sides' likes */

struct couples {
    uint32_t left[8], right[8], count;
};

static void couple_take(void *user, uint32_t left, uint32_t right)
{
    struct couples *couples = user;

    couples->left[couples->count] = left;
    couples->right[couples->count++] = right;
}

static void test_preferences(void)
{
    static const struct preference lone[] = {{0, 0, 1, 1}, {0, 1, 2, 1}, {1, 1, 1, 2}}; /* figure 7.3 */
    static const struct preference torn[] = {{0, 0, 1, 2}, {0, 1, 2, 1}, {1, 0, 2, 1}, {1, 1, 1, 2}};
    static const struct preference first[] = {{0, 0, 2, 1}, {0, 1, 1, 1}, {1, 1, 1, 2}};
    struct couples couples = {.count = 0};
    struct preference_rules rules = {&couples, NULL, couple_take};
    struct arena scratch;

    arena_init(&scratch);
    preference_minsum(&scratch, &(struct preference_list){lone, 3, 2, 2}, &rules);
    tap_ok(couples.count == 2 && couples.right[0] == 0 && couples.right[1] == 1,
           "figure 7.3: minsum pairs t1 with x1 and t2 with x2 when t1 likes x1 best");
    couples.count = 0;
    preference_minsum(&scratch, &(struct preference_list){first, 3, 2, 2}, &rules);
    tap_ok(couples.count == 1 && couples.left[0] == 0 && couples.right[0] == 1,
           "figure 7.4: when t1 and x2 both choose each other first, minsum leaves t2 and x1 alone");
    couples.count = 0;
    preference_singles(&scratch, &(struct preference_list){first, 3, 2, 2}, &rules);
    tap_ok(couples.count == 2, "and singles pairs all four");
    couples.count = 0;
    preference_minsum(&scratch, &(struct preference_list){torn, 4, 2, 2}, &rules);
    tap_ok(couples.count == 2 && couples.left[0] == 0 && couples.right[0] == 0,
           "figure 7.5: where all sums are 3 the first of the list is taken");
    couples.count = 0;
    preference_singles(&scratch, &(struct preference_list){torn, 4, 2, 2}, &rules);
    tap_ok(couples.count == 0, "and nobody is single there");
    preference_singles_minsum(&scratch, &(struct preference_list){torn, 4, 2, 2}, &rules);
    tap_ok(couples.count == 2 && couples.right[0] == 0 && couples.right[1] == 1,
           "singles and minsum by turns: one pair by its sum, and then the others are single");
    arena_done(&scratch);
}

/* ------------------------------------------------------------------------------------------------------------------ from ads */

struct ads_fixture {
    struct symbols *symbols;
    struct arena scratch;
    struct tree *ads[16];
    struct assign_built built;
    char told[400];
};

static void ad_told(void *user, bool offer, uint32_t place, const char *why)
{
    char *told = user;

    snprintf(told + strlen(told), 400 - strlen(told), "%s %u: %s\n", offer ? "offer" : "request", place, why);
}

/* Requests first; the offers are from `requests` on. */
static void ads_make(struct ads_fixture *f, const char *const *texts, uint32_t requests, uint32_t count)
{
    static const char *const quantities[] = {"Cpus", "Memory"};
    static const struct env env = {.now = 1772366400};
    struct build build;
    struct err err;

    *f = (struct ads_fixture){.symbols = names_new(0)};
    arena_init(&f->scratch);
    build_init(&build, f->symbols, &dialect_classic);
    for (uint32_t i = 0; i < count; i++)
        f->ads[i] = parse_ad(&build, NULL, texts[i], strlen(texts[i]), &err);
    build_done(&build);
    if (assign_build(&f->built, &env, &f->scratch,
                     &(struct assign_ads){f->ads, f->ads + requests, requests, count - requests, quantities, 2, ad_told,
                                          f->told},
                     &err) < 0)
        tap_ok(false, "the problem cannot be built: %s", err.text);
}

static void ads_done(struct ads_fixture *f)
{
    assign_built_done(&f->built);
    for (int i = 0; i < 16; i++)
        tree_unref(f->ads[i]);
    arena_done(&f->scratch);
    symbols_free(f->symbols);
}

static void test_ads(void)
{
    static const char *const texts[] = {
        "[Name=\"a\";RequestCpus=2;Cpus=7;Memory=100;Duration=5;Constraint=other.Arch==\"x\";Rank=other.Speed]",
        "[Name=\"b\";Cpus=1;Priority=3;Count=2;Constraint=other.Arch==\"x\";Rank=other.Speed]",
        "[Name=\"c\";Constraint=other.Arch==\"y\"]",
        "[Name=\"m1\";Arch=\"x\";Speed=3;Cpus=4;Memory=1000]",
        "[Name=\"m2\";Arch=\"x\";Speed=3;Cpus=8]",
        "[Name=\"m3\";Arch=\"x\";Speed=5;Cpus=4;Memory=1000;Rank=other.Duration;Constraint=other.Name==\"a\"]",
    };
    struct ads_fixture f;
    const struct assign_problem *problem = &f.built.problem;

    ads_make(&f, texts, 3, 6);
    tap_ok(problem->request_count == 4 && problem->offer_count == 3 && f.built.request_of[1] == 1 &&
               f.built.request_of[2] == 1 && f.built.request_of[3] == 2,
           "a request with a Count stands for so many");
    tap_ok(problem->amounts[0] == 2 && problem->amounts[1] == 100 && problem->amounts[2] == 1 &&
               problem->amounts[3] == 0,
           "RequestX counts before X, and what is not asked for is 0");
    tap_ok(problem->free[0] == 4 && problem->free[1] == 1000 && problem->free[2] == 8 && isinf(problem->free[3]),
           "a capacity that an offer does not tell has no limit");
    tap_ok(problem->offer_kinds[0] == problem->offer_kinds[1] && problem->offer_kinds[0] != problem->offer_kinds[2],
           "offers that no request can tell apart are one kind, whatever they have free");
    tap_ok(problem->rows[problem->requests[0].row].count == 2 && problem->rows[problem->requests[1].row].count == 1 &&
               problem->rows[problem->requests[3].row].count == 0,
           "compatible is whoever the constraints of both sides accept");
    tap_ok(problem->requests[0].duration == 5 && isnan(problem->requests[1].duration) &&
               problem->requests[1].priority == 3,
           "Duration and Priority are the request's");
    for (uint32_t i = 0; i < 2; i++) {
        const struct assign_edge *edge = &problem->edges[problem->rows[problem->requests[0].row].first + i];

        tap_ok(edge->kind == problem->offer_kinds[2] ? edge->weight == 5 && edge->back == 5
                                                     : edge->weight == 3 && edge->back == 0,
               "the weights are the ranks of both sides (kind %u)", edge->kind);
    }
    ads_done(&f);
}

static void test_ads_alike(void)
{
    static const char *const texts[] = {
        "[Name=\"a\";Cpus=1;Constraint=other.Arch==\"x\"]",
        "[Name=\"b\";Cpus=2;Constraint=other.Arch==\"x\"]",
        "[Name=\"c\";Cpus=2;Constraint=other.Arch==\"y\"]",
        "[Arch=\"x\";Cpus=4]",
    };
    struct ads_fixture f;

    ads_make(&f, texts, 3, 4);
    tap_ok(f.built.problem.row_count == 2 && f.built.problem.requests[0].row == f.built.problem.requests[1].row,
           "requests that no offer can tell apart are one row, whatever they ask for");
    ads_done(&f);
}

static void test_ads_wrong(void)
{
    static const char *const texts[] = {
        "[RequestCpus=-1]", "[Cpus=\"two\"]",    "[Memory=1/0]", "[Ports={[Label=p]}]",
        "[Cpus=1]",         "[Cpus=\"plenty\"]", "[Cpus=2]",
    };
    struct ads_fixture f;
    struct assign_result result;
    struct err err;

    ads_make(&f, texts, 5, 7);
    tap_ok(strcmp(f.told, "offer 0: its Cpus is not an amount: expected a number from 0 on\n"
                          "request 0: its RequestCpus is not an amount: expected a number from 0 on\n"
                          "request 1: its Cpus is not an amount: expected a number from 0 on\n"
                          "request 2: its Memory is not an amount: expected a number from 0 on\n"
                          "request 3: it has Ports, and wants a gang: see berth gang\n") == 0,
           "who cannot take part is told of: %s", f.told);
    assign_result_init(&result);
    tap_ok(assign_solve(&f.scratch, ASSIGN_FCFS, &f.built.problem, NULL, &result, &err) == 0 && result.count == 1 &&
               f.built.request_of[result.pairs[0].request] == 4 && result.pairs[0].offer == 1,
           "and the others are placed all the same");
    assign_result_done(&result);
    ads_done(&f);
}

int main(void)
{
    test_figure_1_1();
    test_table_4_1();
    test_figure_4_3();
    test_queues();
    test_priorities();
    test_fractions();
    test_planted();
    test_stop();
    test_wrong();
    test_large();
    test_empty();
    test_names();
    test_preferences();
    test_ads();
    test_ads_alike();
    test_ads_wrong();
    return tap_done();
}
