/* library_threads_test.c: threads that share ads, each with a context of its own, get the answers of one thread alone. Built with the thread sanitizer as well,
 * which sees what may not run at once. */
#include "common/tap.h"

#include <berth.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define OFFERS 24
#define ROUNDS 60

static struct berth_ad *offers[OFFERS];
static struct berth_party *parties[OFFERS], *asking;
static struct berth_ad *job;
static struct berth_expr *query, *texts; /* texts evaluates a text: it needs new names */

struct worker {
    pthread_t thread;
    struct berth_context *context;
    unsigned number, wrong, line; /* how many answers were wrong, and where the last one was asked for */
};

static struct berth_ad *ad_of(struct berth_context *context, const char *text)
{
    return berth_ad_parse(context, BERTH_FORM_ANY, text, strlen(text), NULL);
}

static void expect_at(struct worker *worker, bool right, unsigned line)
{
    worker->wrong += !right;
    worker->line = right ? worker->line : line;
}
#define expect(worker, ...) expect_at(worker, __VA_ARGS__, __LINE__)

/* Calls that read what all share. */
static void look(struct worker *worker, unsigned n)
{
    struct berth_context *context = worker->context;
    struct berth_ad *offer = berth_ad_ref(offers[n]);
    int fits = n >= OFFERS / 2;
    int64_t cpus = -1, sum = -1;
    const char *name;

    expect(worker, berth_match(context, job, offer) == fits && berth_accepts(context, offer, job) == 1);
    expect(worker, berth_party_match(context, asking, parties[n]) == fits);
    expect(worker, berth_rank(context, job, offer) == n && berth_query(context, query, offer) == fits);
    expect(worker,
           berth_value_integer(berth_eval_attribute(context, offer, "Twice", NULL), &cpus) == 0 && cpus == 2 * n);
    expect(worker, berth_value_integer(berth_eval(context, texts, offer, job), &sum) == 0 && sum == n + 1);
    expect(worker, berth_ad_get_integer(context, offer, "Cpus", &cpus) == 0 && cpus == n);
    name = berth_ad_name(context, offer, 0);
    expect(worker, name && !strcmp(name, "Cpus"));
    name = berth_ad_text(context, offer, BERTH_FORM_JSON, NULL, NULL);
    expect(worker, name && name[0] == '{');
    berth_ad_unref(offer);
}

/* Calls that change the table: names come and go. */
static void change(struct worker *worker, unsigned round)
{
    struct berth_context *context = worker->context;
    char text[100];
    struct berth_ad *own, *made;
    struct berth_expr *left;
    struct berth_maker *maker;

    snprintf(text, sizeof text, "[ N%u_%u = 1; Cpus = %u; Constraint = other.Cpus >= N%u_%u ]", worker->number, round,
             round, worker->number, round);
    own = ad_of(context, text);
    expect(worker, own && berth_match(context, own, offers[1]) == 1);
    maker = berth_maker_new(context, own);
    snprintf(text, sizeof text, "M%u_%u", worker->number, round);
    berth_maker_integer(maker, text, round, NULL);
    made = berth_maker_seal(maker, NULL);
    expect(worker, berth_ad_count(made) == 4);
    left = berth_expr_specialize(context, query, job);
    expect(worker, left != NULL);
    berth_expr_unref(left);
    berth_ad_unref(own);
    berth_ad_unref(made);
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct berth_index *index = berth_index_new(worker->context);
    const struct berth_finding *findings;
    uint64_t best;

    for (unsigned i = 0; i < OFFERS; i++)
        berth_index_put(worker->context, index, i, offers[i], NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < OFFERS; i++)
            look(worker, (i + worker->number * 5) % OFFERS);
        change(worker, round);
        expect(worker, berth_index_best(worker->context, index, job, &best) == 1 && best == OFFERS - 1);
        expect(worker, berth_index_matches(worker->context, index, job) == OFFERS / 2);
        if (round % 16 == 0) {
            expect(worker, berth_lint(worker->context, job, &findings) == 0);
            expect(worker, berth_why(worker->context, job, offers, OFFERS, BERTH_JSON, NULL) != NULL);
        }
    }
    berth_index_free(index);
    berth_context_free(worker->context);
    return NULL;
}

/* Contexts of tables of their own, XML among what they read. */
static void *apart(void *user)
{
    struct worker *worker = user;
    struct berth_context *context = berth_context_new();

    for (unsigned round = 0; round < 40; round++) {
        struct berth_ad *ad = ad_of(context, "<classads><c><a n=\"A\"><i>1</i></a></c></classads>"),
                        *other = ad_of(context, "{\"A\": 1}");

        expect(worker, ad && other && berth_ad_equal(ad, other) == 1);
        berth_ad_unref(ad);
        berth_ad_unref(other);
    }
    berth_context_free(context);
    return NULL;
}

static unsigned run(struct worker *workers, void *(*body)(void *))
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0)
            abort();
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        wrong += workers[i].wrong;
        if (workers[i].wrong)
            tap_diag("thread %u: %u wrong answers, the last in line %u", i, workers[i].wrong, workers[i].line);
    }
    return wrong;
}

int main(void)
{
    static const char job_text[] = "[ Owner = \"ada\"; One = 1; Constraint = other.Cpus >= 12; Rank = other.Cpus ]";
    static const char eval_text[] = "eval(\"Cpus + other.One + ifThenElse(isUndefined(Unheard), 0, 9)\")";
    struct berth_context *context = berth_context_new();
    struct worker workers[THREADS] = {0};
    char text[200];

    tap_ok(run(workers, apart) == 0, "threads with names of their own do not meet");
    job = ad_of(context, job_text);
    query = berth_expr_parse(context, "Cpus >= 12", 10, NULL);
    texts = berth_expr_parse(context, eval_text, strlen(eval_text), NULL);
    for (unsigned i = 0; i < OFFERS; i++) {
        snprintf(text, sizeof text,
                 "[ Cpus = %u; Twice = Cpus + Cpus; Constraint = other.Owner == \"ada\" || other.Cpus < 100 ]", i);
        offers[i] = ad_of(context, text);
        parties[i] = berth_party_new(context, offers[i]);
    }
    asking = berth_party_new(context, job);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].wrong = 0;
        workers[i].context = berth_context_share(context);
    }
    tap_ok(run(workers, work) == 0, "threads that share ads get the answers of one alone, while names come and go");
    for (unsigned i = 0; i < OFFERS; i++) {
        berth_party_free(parties[i]);
        berth_ad_unref(offers[i]);
    }
    berth_party_free(asking);
    berth_ad_unref(job);
    berth_expr_unref(query);
    berth_expr_unref(texts);
    berth_context_free(context);
    return tap_done();
}
