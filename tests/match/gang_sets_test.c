/* gang_sets_test.c: sets: the exact one against all subsets, the greedy one against figure 2.10 of the thesis.
 *
 * Which set is the best: the rank of the whole first, where the port ranks the whole; then, position by position, a filled one beats an
 * empty one, then (where members are ranked) the higher rank, then the smaller place. */
#include "gang_world.h"

#include "lang/base/rng.h"

#define OFFERS_MAX 9

static struct world world;

/* ----------------------------------------------------------------------------------------------- a set, told once more */

struct node {
    int cpus, mem;
};

struct tally {
    double sum_cpus, sum_mem, min_cpus, min_mem, max_cpus, max_mem;
    int size;
};

struct problem {
    struct node nodes[OFFERS_MAX];
    int count, least, most;
    int floor;             /* every member has as many Cpus */
    unsigned clause, rank; /* of the tables below */
    int bound;             /* of the clause */
    int limit;             /* of the licence that a later port needs for the sum; -1: there is no such port */
    uint32_t best;         /* members, as bits; 0 for an empty set */
    int order[OFFERS_MAX]; /* of its positions */
    bool formed;
};

enum { CLAUSES = 7, RANKS = 7, RANK_MEMBER = 5, RANK_NONE = 6 };
static const char *const clauses[CLAUSES] = {"",
                                             " && sum(n.Cpus) >= %d",
                                             " && min(n.Cpus) * 3 >= %d",
                                             " && max(n.Mem) * 3 <= %d",
                                             " && avg(n.Cpus) * 4 > %d",
                                             " && SetSize * 4 >= %d",
                                             " && (sum(n.Mem) > %d || SetSize == 2)"};
static const char *const ranks[RANKS] = {
    "sum(n.Cpus)", "-SetSize", "min(n.Mem) * SetSize", "max(n.Cpus) * 2 - sum(n.Mem)", "avg(n.Cpus)", "n.Mem", NULL};

static struct tally tally_of(const struct problem *p, uint32_t set)
{
    struct tally t = {0};

    for (int i = 0; i < p->count; i++) {
        if (!(set >> i & 1))
            continue;
        t.sum_cpus += p->nodes[i].cpus;
        t.sum_mem += p->nodes[i].mem;
        t.min_cpus = t.size && t.min_cpus < p->nodes[i].cpus ? t.min_cpus : p->nodes[i].cpus;
        t.min_mem = t.size && t.min_mem < p->nodes[i].mem ? t.min_mem : p->nodes[i].mem;
        t.max_cpus = t.size && t.max_cpus > p->nodes[i].cpus ? t.max_cpus : p->nodes[i].cpus;
        t.max_mem = t.size && t.max_mem > p->nodes[i].mem ? t.max_mem : p->nodes[i].mem;
        t.size++;
    }
    return t;
}

static bool set_satisfies(const struct problem *p, uint32_t set)
{
    struct tally t = tally_of(p, set);
    const bool hold[CLAUSES] = {true,
                                t.sum_cpus >= p->bound,
                                t.min_cpus * 3 >= p->bound,
                                t.max_mem * 3 <= p->bound,
                                t.size && t.sum_cpus / t.size * 4 > p->bound,
                                t.size * 4 >= p->bound,
                                t.sum_mem > p->bound || t.size == 2};

    for (int i = 0; i < p->count; i++)
        if (set >> i & 1 && p->nodes[i].cpus < p->floor)
            return false;
    return hold[p->clause];
}

static double set_rank(const struct problem *p, uint32_t set)
{
    struct tally t = tally_of(p, set);
    const double rank[RANKS] = {
        t.sum_cpus, -t.size, t.min_mem * t.size, t.max_cpus * 2 - t.sum_mem, t.size ? t.sum_cpus / t.size : 0, 0, 0};

    return rank[p->rank];
}

/* Is member a better at a position than member b? */
static int node_compare(const struct problem *p, int a, int b)
{
    if (p->rank == RANK_MEMBER && p->nodes[a].mem != p->nodes[b].mem)
        return p->nodes[a].mem > p->nodes[b].mem ? 1 : -1;
    return (a < b) - (a > b);
}

/* The members of a set, the best first. */
static int set_order(const struct problem *p, uint32_t set, int *order)
{
    int count = 0;

    for (int i = 0; i < p->count; i++) {
        int at = count;

        if (!(set >> i & 1))
            continue;
        while (at > 0 && node_compare(p, i, order[at - 1]) > 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
        count++;
    }
    return count;
}

static int set_compare(const struct problem *p, uint32_t a, uint32_t b)
{
    int x[OFFERS_MAX], y[OFFERS_MAX], m = set_order(p, a, x), n = set_order(p, b, y);

    if (p->rank < RANK_MEMBER) {
        double r = set_rank(p, a), s = set_rank(p, b);

        if (!a != !b)
            return a ? 1 : -1; /* an empty one has no rank */
        if (r != s)
            return r > s ? 1 : -1;
    }
    for (int i = 0; i < m && i < n; i++)
        if (x[i] != y[i])
            return node_compare(p, x[i], y[i]);
    return m - n;
}

static bool licence_fits(const struct problem *p, uint32_t set)
{
    return p->limit < 0 || (set && tally_of(p, set).sum_cpus <= p->limit);
}

/* All subsets are tried. */
static void problem_enumerate(struct problem *p)
{
    p->formed = false;
    for (uint32_t set = 0; set < (uint32_t)1 << p->count; set++) {
        int size = __builtin_popcount(set);

        if (size < p->least || size > p->most || (set && !set_satisfies(p, set)) || !licence_fits(p, set))
            continue;
        if (p->formed && set_compare(p, set, p->best) <= 0)
            continue;
        p->formed = true;
        p->best = set;
    }
}

/* Figure 2.10: the member that makes the set rank highest is added until none is left; of the sets on the way the one that satisfies and
 * ranks highest is kept. Of members that rank alike the one with the smaller place is added; of sets that rank alike the first is kept
 * (where members are ranked instead, they are added in the order of their ranks, and the last set that satisfies is kept). */
static void problem_figure(struct problem *p)
{
    uint32_t set = 0, left = 0;

    p->formed = p->least == 0;
    p->best = 0;
    for (int i = 0; i < p->count; i++)
        if (p->nodes[i].cpus >= p->floor)
            left |= (uint32_t)1 << i;
    for (int size = 1; left && size <= p->most; size++) {
        int next = -1;

        for (int i = 0; i < p->count; i++) {
            if (!(left >> i & 1))
                continue;
            if (next < 0 ||
                (p->rank < RANK_MEMBER ? set_rank(p, set | (uint32_t)1 << i) > set_rank(p, set | (uint32_t)1 << next)
                                       : node_compare(p, i, next) > 0))
                next = i;
        }
        left &= ~((uint32_t)1 << next);
        set |= (uint32_t)1 << next;
        if (size < p->least || !set_satisfies(p, set))
            continue;
        if (!p->best || p->rank >= RANK_MEMBER || set_rank(p, set) > set_rank(p, p->best))
            p->best = set;
        p->formed = true;
    }
}

/* ----------------------------------------------------------------------------------------------------------- the library */

static void problem_make(struct problem *p, struct rng *rng, bool licence)
{
    *p = (struct problem){.limit = -1};
    p->count = 1 + (int)rng_below(rng, OFFERS_MAX);
    for (int i = 0; i < p->count; i++)
        p->nodes[i] = (struct node){1 + (int)rng_below(rng, 5), 1 + (int)rng_below(rng, 5)};
    p->least = (int)rng_below(rng, 4);
    p->most = p->least + (int)rng_below(rng, 4);
    p->most += !p->most;
    p->clause = (unsigned)rng_below(rng, CLAUSES);
    p->rank = (unsigned)rng_below(rng, RANKS);
    p->bound = (int)rng_below(rng, 15);
    p->floor = (int)rng_below(rng, 3);
    if (licence)
        p->limit = (int)rng_below(rng, 20);
}

static void problem_write(const struct problem *p)
{
    char clause[64], rank[64] = "";

    world_reset(&world);
    snprintf(clause, sizeof clause, clauses[p->clause], p->bound);
    if (ranks[p->rank])
        snprintf(rank, sizeof rank, "; Rank = %s", ranks[p->rank]);
    world_request(&world,
                  "[ Name = \"j\"; Ports = { [ Label = n; Count = { %d, %d }; Constraint = n.Cpus >= %d%s%s ]%s } ]",
                  p->least, p->most, p->floor, clause, rank,
                  p->limit < 0 ? "" : ", [ Label = lic; Constraint = sum(n.Cpus) <= lic.Limit ]");
    for (int i = 0; i < p->count; i++)
        world_offer(&world, "[ Name = \"n%d\"; Cpus = %d; Mem = %d ]", i, p->nodes[i].cpus, p->nodes[i].mem);
    if (p->limit >= 0)
        world_offer(&world, "[ Name = \"lic\"; Limit = %d ]", p->limit);
}

/* The set that the last run gave. */
static uint32_t world_set(const struct problem *p)
{
    uint32_t set = 0;

    for (uint32_t i = 1; i < world.member_count; i++)
        if (world.members[i].place <= (size_t)p->count)
            set |= (uint32_t)1 << (world.members[i].place - 1);
    return set;
}

static bool problem_same(const struct problem *p, uint64_t seed, const char *what)
{
    bool same = (world.outcome == GANG_FORMED) == p->formed && (!p->formed || world_set(p) == p->best);

    if (!same)
        tap_diag("%s, seed %llu: %s\ngot: %s (set %x)\nexpected: %s %x", what, (unsigned long long)seed,
                 lang_show_tree(world.requests[0]), buf_string(&world.told), world_set(p), p->formed ? "set" : "none",
                 p->best);
    for (int i = 0; i < p->count && !same; i++)
        tap_diag("%s", lang_show_tree(world.offers[i]));
    return same;
}

static void exact(bool licence)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(400);
    uint64_t formed = 0;
    bool same = true;

    for (uint64_t i = 0; i < rounds && same; i++) {
        struct rng rng;
        struct problem p;

        rng_init(&rng, rng_mix(seed * 1000003 + i));
        problem_make(&p, &rng, licence);
        problem_write(&p);
        problem_enumerate(&p);
        world.settings.nodes = 1000000;
        world_run(&world);
        formed += p.formed;
        same = problem_same(&p, seed * 1000003 + i, "exact");
    }
    tap_ok(same && formed * 3 > rounds, "%s",
           licence ? "a set that a later port reads is the best that the later port leaves"
                   : "the exact set is the best of all subsets");
}

static void greedy(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(400);
    bool same = true, good = true, fallen = true;

    for (uint64_t i = 0; i < rounds && same && good && fallen; i++) {
        struct rng rng;
        struct problem p, best;

        rng_init(&rng, rng_mix(seed * 2000003 + i));
        problem_make(&p, &rng, false);
        problem_write(&p);
        best = p;
        problem_figure(&p);
        problem_enumerate(&best);
        world.settings.sets_greedy = true;
        world_run(&world);
        same = problem_same(&p, seed * 2000003 + i, "greedy");
        good = !p.formed || (best.formed && set_compare(&best, best.best, p.best) >= 0);
        world.settings.sets_greedy = false;
        world.settings.nodes = 72; /* enough for 9 candidates and sets of up to 6, and not for most exact ones */
        world_run(&world);
        fallen = !p.formed || p.rank >= RANK_MEMBER ||
                 (world.outcome == GANG_FORMED && set_compare(&p, world_set(&p), p.best) >= 0);
        if (!fallen)
            problem_same(&p, seed * 2000003 + i, "fallen back");
    }
    tap_ok(same, "the greedy set is that of figure 2.10");
    tap_ok(good, "the exact one is never worse");
    tap_ok(fallen, "past a small budget the set is at least as good as the greedy one");
}

/* -------------------------------------------------------------------------------------------------------------- by hand */

static void by_hand(void)
{
    world_reset(&world);
    world_request(
        &world, "[ Name = \"j\"; Ports = { [ Label = n; Count = 4; Constraint = n.Cpus == 2 && sum(n.Cpus) == 8 ] } ]");
    for (int i = 0; i < 4; i++)
        world_offer(&world, "[ Name = \"n%d\"; Cpus = 2 ]", i);
    world_gives(&world, "j n=n0 n=n1 n=n2 n=n3", "equal offers are several members of a set");
    world.settings.sets_greedy = true;
    world_gives(&world, "j n=n0 n=n1 n=n2 n=n3", "also where it is put together quickly");
    world_reset(&world);
    world_request(&world,
                  "[ Name = \"sim\"; Ports = { [ Label = switch; Constraint = switch.Type == \"Switch\"; Rank = "
                  "switch.Gbps ], [ Label = node; Count = { 2, 16 }; Constraint = node.Switch == switch.Name && "
                  "sum(node.Cpus) >= 32 && SetSize <= 8; Rank = -SetSize ], [ Label = disk; Constraint = disk.Gb >= "
                  "size(node) * 10 && max(node.Cpus) == 16 ] } ]");
    world_offer(&world, "[ Name = \"east\"; Type = \"Switch\"; Gbps = 100 ]");
    world_offer(&world, "[ Name = \"west\"; Type = \"Switch\"; Gbps = 40 ]");
    for (int i = 0; i < 8; i++)
        world_offer(&world, "[ Name = \"%c%d\"; Switch = \"%s\"; Cpus = %d ]", i < 3 ? 'e' : 'w', i,
                    i < 3 ? "east" : "west", (const int[]){16, 8, 4, 8, 16, 8, 4, 16}[i]);
    world_offer(&world, "[ Name = \"small\"; Gb = 10 ]");
    world_offer(&world, "[ Name = \"large\"; Gb = 20 ]");
    world_gives(&world, "sim switch=west node=w4 node=w7 disk=large",
                "a set stands behind the switch where there is enough, as few as will do, and a later port reads it");
    for (int a = 0; a < GANG_AUTO; a++) {
        world_run_by(&world, (enum gang_algorithm)a, false);
        tap_ok(world.outcome == GANG_FORMED || (world.outcome == GANG_GAVE_UP && (a == GANG_RL || a == GANG_RLC)),
               "%s finds such a set too, or gives up where it must begin with the last port", gang_algorithm_names[a]);
    }
}

int main(void)
{
    world_open(&world);
    by_hand();
    exact(false);
    exact(true);
    greedy();
    world_close(&world);
    return tap_done();
}
