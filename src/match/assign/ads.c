/* ads.c: a problem made of ads. */
#include "match/assign/ads.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "match/index/classes.h"
#include "match/index/index.h"
#include "match/index/reads.h"
#include "match/pair/match.h"
#include "match/pair/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHY_MAX 200

struct build_run {
    struct assign_built *built;
    const struct env *env;
    struct arena *scratch;
    const struct assign_ads *ads;
    struct symbols *symbols;
    symbol names[ASSIGN_QUANTITIES_MAX], wishes[ASSIGN_QUANTITIES_MAX]; /* X and RequestX; held */
    symbol duration, priority;
    struct index *index;
    uint32_t *kind_of;      /* by offer */
    struct class_set rows;  /* classes of requests; the head's number is the row's request */
    uint32_t *row_of_class; /* by class */
    uint32_t class_room, request_room;
    const struct tree *request; /* the request whose row is made */
    bool ranked;                /* the request, or some offer, has a rank */
};

/* ------------------------------------------------------------------------------------------------------------------- numbers */

enum number { NUMBER_THERE, NUMBER_MISSING, NUMBER_WRONG };

static enum number attribute_number(const struct build_run *run, const struct tree *ad, symbol name, double *ret)
{
    struct arena_mark mark = arena_mark(run->scratch);
    enum number end = NUMBER_WRONG;
    struct scope scope;
    struct eval eval;
    struct value value;

    scope_init(&scope, ad, NULL);
    eval_init(&eval, run->env, run->scratch);
    if (!eval_attribute(&eval, &scope, name, &value) || value.type == VALUE_UNDEFINED) {
        end = NUMBER_MISSING;
    } else if (value.type == VALUE_INTEGER || value.type == VALUE_REAL) {
        *ret = value.type == VALUE_INTEGER ? (double)value.u.integer : value.u.real;
        end = isnan(*ret) ? NUMBER_WRONG : NUMBER_THERE;
    }
    arena_rewind(run->scratch, mark);
    return end;
}

static void tell(const struct build_run *run, bool offer, uint32_t place, const char *why)
{
    if (run->ads->told)
        run->ads->told(run->ads->user, offer, place, why);
}

/* Reads the amount under a name; false, and why, when it is not one that counts. */
static bool amount_read(const struct build_run *run, const struct tree *ad, symbol name, bool bounded, double *ret,
                        bool *ret_there, char *why)
{
    enum number end = attribute_number(run, ad, name, ret);
    size_t len;

    *ret_there = end == NUMBER_THERE;
    if (end == NUMBER_MISSING || (end == NUMBER_THERE && *ret >= 0 && !(bounded && isinf(*ret))))
        return true;
    snprintf(why, WHY_MAX, "its %.100s is not an amount: expected a number from 0 on",
             symbols_text(run->symbols, name, &len));
    return false;
}

static bool request_read(const struct build_run *run, const struct tree *ad, double *ret_amounts, char *why)
{
    bool there;

    for (uint32_t q = 0; q < run->ads->quantity_count; q++) {
        if (!amount_read(run, ad, run->wishes[q], true, &ret_amounts[q], &there, why))
            return false;
        if (there)
            continue;
        if (!amount_read(run, ad, run->names[q], true, &ret_amounts[q], &there, why))
            return false;
        if (!there)
            ret_amounts[q] = 0;
    }
    if (tree_find(ad, tree_root(ad), NAME_PORTS)) {
        snprintf(why, WHY_MAX, "it has Ports, and wants a gang: see berth gang");
        return false;
    }
    return true;
}

static bool offer_read(const struct build_run *run, const struct tree *ad, double *ret_free, char *why)
{
    bool there;

    for (uint32_t q = 0; q < run->ads->quantity_count; q++) {
        if (!amount_read(run, ad, run->names[q], false, &ret_free[q], &there, why))
            return false;
        if (!there)
            ret_free[q] = INFINITY;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------------------- kinds */

static void reads_of(struct reads *reads, const struct build_run *run, struct tree *const *ads, uint32_t count)
{
    reads_init(reads, run->symbols);
    reads_add_policy(reads, NULL);
    for (uint32_t i = 0; i < count && !reads->all; i++)
        reads_add_ad(reads, ads[i]);
}

/* Reads what each offer has, and its ad, which is NULL when the offer takes no part. */
static void offers_read(struct build_run *run, struct tree **ret_chosen, double *ret_free)
{
    const struct assign_ads *ads = run->ads;
    char why[WHY_MAX];

    for (uint32_t i = 0; i < ads->offer_count; i++) {
        double *free = ret_free + (size_t)i * ads->quantity_count;

        ret_chosen[i] = ads->offers[i];
        run->ranked = run->ranked || tree_find(ads->offers[i], tree_root(ads->offers[i]), NAME_RANK);
        if (offer_read(run, ads->offers[i], free, why))
            continue;
        tell(run, true, i, why);
        ret_chosen[i] = NULL;
        for (uint32_t q = 0; q < ads->quantity_count; q++)
            free[q] = 0;
    }
}

/* Puts the offers that take part into the index; those that share a row there are of one kind. */
static void offers_add(struct build_run *run)
{
    const struct assign_ads *ads = run->ads;
    struct tree **chosen = mem_alloc((ads->offer_count + 1) * sizeof *chosen);
    double *amounts = mem_alloc(((size_t)ads->offer_count * ads->quantity_count + 1) * sizeof *amounts);
    struct reads reads;
    uint32_t kinds = 0;

    reads_of(&reads, run, ads->requests, ads->request_count);
    if (!reads.all)
        index_share(run->index, run->symbols, reads.items, reads.count, true);
    reads_done(&reads);
    offers_read(run, chosen, amounts);
    index_build(run->index, run->env, run->scratch, chosen, ads->offer_count);
    memset(run->kind_of, 0xff, ads->offer_count * sizeof *run->kind_of);
    for (uint32_t i = 0; i < ads->offer_count; i++) {
        if (run->kind_of[i] == ASSIGN_NONE) {
            for (uint32_t k = i; k != INDEX_END; k = chosen[k] ? index_next(run->index, k) : INDEX_END)
                run->kind_of[k] = kinds;
            kinds++;
        }
        assign_add_offer(&run->built->problem, run->kind_of[i], amounts + (size_t)i * ads->quantity_count);
    }
    free(amounts);
    free(chosen);
}

/* ---------------------------------------------------------------------------------------------------------------------- rows */

static void row_found(void *user, uint32_t id)
{
    struct build_run *run = user;
    struct arena_mark mark = arena_mark(run->scratch);
    struct match match;

    if (!run->ranked && !tree_find(run->request, tree_root(run->request), NAME_RANK)) {
        assign_add_edge(&run->built->problem, run->kind_of[id], 0, 0);
        return;
    }
    run->built->evaluations++;
    match_ads(run->env, run->scratch, run->request, run->ads->offers[id], &match);
    assign_add_edge(&run->built->problem, run->kind_of[id], order_finite(&match.left_rank),
                    order_finite(&match.right_rank));
    arena_rewind(run->scratch, mark);
}

static int edge_compare(const void *a, const void *b)
{
    const struct assign_edge *left = a, *right = b;

    return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Makes the row of requests like this one: the index is asked once. */
static uint32_t row_make(struct build_run *run, const struct tree *request)
{
    struct assign_problem *problem = &run->built->problem;
    uint32_t row = assign_add_row(problem);

    run->request = request;
    index_probe(run->index, run->env, run->scratch, request, row_found, run);
    if (problem->rows[row].count)
        qsort(problem->edges + problem->rows[row].first, problem->rows[row].count, sizeof *problem->edges,
              edge_compare);
    return row;
}

/* Finds the row of a request: that of its class, if it has one. */
static uint32_t row_of(struct build_run *run, uint32_t place)
{
    const struct tree *ad = run->ads->requests[place];
    struct class_key key;
    uint32_t class;

    if (!run->rows.on || !classes_key(&run->rows, ad, &key))
        return row_make(run, ad);
    class = classes_find(&run->rows, ad, &key);
    if (class != NO_CLASS)
        return run->row_of_class[class];
    class = classes_add(&run->rows, ad, place, &key);
    if (class >= run->class_room) {
        run->class_room = (class + 1) * 2;
        run->row_of_class = mem_grow(run->row_of_class, run->class_room * sizeof *run->row_of_class);
    }
    return run->row_of_class[class] = row_make(run, ad);
}

/* How many units the request asks for, as in a cycle. */
static uint32_t request_units(const struct build_run *run, const struct tree *ad)
{
    double count;

    if (!tree_find(ad, tree_root(ad), NAME_COUNT) || attribute_number(run, ad, NAME_COUNT, &count) != NUMBER_THERE ||
        count < 1 || count != floor(count))
        return 1;
    return count <= ASSIGN_REQUESTS_MAX ? (uint32_t)count : ASSIGN_REQUESTS_MAX + 1;
}

static int request_add(struct build_run *run, uint32_t place, struct err *err)
{
    struct assign_built *built = run->built;
    const struct tree *ad = run->ads->requests[place];
    double amounts[ASSIGN_QUANTITIES_MAX], duration = NAN, priority = 0;
    uint32_t row, units;
    char why[WHY_MAX];

    if (!request_read(run, ad, amounts, why)) {
        tell(run, false, place, why);
        return 0;
    }
    if (attribute_number(run, ad, run->duration, &duration) != NUMBER_THERE)
        duration = NAN;
    if (attribute_number(run, ad, run->priority, &priority) != NUMBER_THERE)
        priority = 0;
    units = request_units(run, ad);
    if (units > ASSIGN_REQUESTS_MAX - built->problem.request_count)
        return err_set(err, "request %u: with their Count these are more than %u requests", place + 1,
                       ASSIGN_REQUESTS_MAX);
    row = row_of(run, place);
    for (uint32_t i = 0; i < units; i++) {
        uint32_t number = assign_add_request(&built->problem, row, amounts, duration, priority);

        if (number >= run->request_room) {
            run->request_room = built->problem.request_room;
            built->request_of = mem_grow(built->request_of, run->request_room * sizeof *built->request_of);
        }
        built->request_of[number] = place;
    }
    return 0;
}

static int requests_add(struct build_run *run, struct err *err)
{
    const struct assign_ads *ads = run->ads;
    struct reads reads;

    reads_of(&reads, run, ads->offers, ads->offer_count);
    if (!reads.all)
        classes_start(&run->rows, run->symbols, reads.items, reads.count);
    reads_done(&reads);
    for (uint32_t i = 0; i < ads->request_count; i++)
        if (request_add(run, i, err) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ together */

static void names_take(struct build_run *run)
{
    const struct assign_ads *ads = run->ads;

    for (uint32_t q = 0; q < ads->quantity_count; q++) {
        char wish[256];
        int len = snprintf(wish, sizeof wish, "Request%.200s", ads->quantities[q]);

        run->names[q] = symbols_take(run->symbols, ads->quantities[q], strlen(ads->quantities[q]));
        run->wishes[q] = symbols_take(run->symbols, wish, (size_t)len);
        if (!strcasecmp(ads->quantities[q], "Cpus"))
            run->built->problem.processors = q;
    }
    run->duration = symbols_take(run->symbols, "Duration", strlen("Duration"));
    run->priority = symbols_take(run->symbols, "Priority", strlen("Priority"));
}

static void names_drop(struct build_run *run)
{
    for (uint32_t q = 0; q < run->ads->quantity_count; q++) {
        symbols_drop(run->symbols, run->names[q]);
        symbols_drop(run->symbols, run->wishes[q]);
    }
    symbols_drop(run->symbols, run->duration);
    symbols_drop(run->symbols, run->priority);
}

int assign_build(struct assign_built *built, const struct env *env, struct arena *scratch, const struct assign_ads *ads,
                 struct err *err)
{
    struct build_run run = {.built = built, .env = env, .scratch = scratch, .ads = ads};
    int status;

    *built = (struct assign_built){.evaluations = 0};
    if (ads->quantity_count > ASSIGN_QUANTITIES_MAX)
        return err_set(err, "%u quantities are too many: %d are the most", ads->quantity_count, ASSIGN_QUANTITIES_MAX);
    assign_problem_init(&built->problem, ads->quantity_count);
    if (ads->request_count == 0 && ads->offer_count == 0)
        return 0;
    run.symbols = (ads->request_count ? ads->requests[0] : ads->offers[0])->symbols;
    run.index = index_new();
    run.kind_of = mem_alloc((ads->offer_count + 1) * sizeof *run.kind_of);
    names_take(&run);
    offers_add(&run);
    status = requests_add(&run, err);
    if (run.rows.on)
        classes_done(&run.rows, run.symbols);
    names_drop(&run);
    index_free(run.index);
    free(run.kind_of);
    free(run.row_of_class);
    if (status < 0)
        assign_built_done(built);
    return status;
}

void assign_built_done(struct assign_built *built)
{
    if (!built)
        return;
    assign_problem_done(&built->problem);
    free(built->request_of);
    built->request_of = NULL;
}
