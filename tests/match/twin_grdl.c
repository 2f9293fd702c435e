/* twin_grdl.c: the relations of src/grdl say what the set definitions say, written plainly, on random resources; and the theorems of the
 * document hold.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/tap.h"
#include "grdl_slow.h"
#include "match/grdl/batch.h"
#include "match/grdl/matcher.h"
#include "match/grdl/profile.h"
#include "match/grdl/shapes.h"

#define MANY 8
#define HALF (MANY / 2)

struct twin {
    struct universe universe;
    struct rng rng;
    uint64_t seed, rounds;
    struct grdl_units *units;
    struct grdl_consumer *consumer;
    struct plain plain[MANY];
    struct grdl_resource *resources[MANY];
    struct grdl_reading *readings[MANY];
    uint64_t held[16];
    int differ;
};

static void plain_print(const struct plain *plain, char *out)
{
    struct rng rng = {0};
    const char *type;
    char text[64];

    for (int i = 0; i < plain->char_count + plain->req_count; i++) {
        bool req = i >= plain->char_count;
        const struct plain_property *p = req ? &plain->reqs[i - plain->char_count] : &plain->chars[i];

        plain_write(&rng, &p->value, &type, text);
        out += sprintf(out, "%s%s%s%s %s%s", plain_dimensions[p->dimension], type ? ":" : "", type ? type : "",
                       req ? grdl_operators[p->match].sign : "", text, req ? "! " : ", ");
    }
    *out = '\0';
}

/* Says that a relation between a and b is not what it should be; a few times. */
static void differs(struct twin *twin, const char *relation, int a, int b, uint64_t round)
{
    char one[800], other[800];

    if (twin->differ++ > 5)
        return;
    plain_print(&twin->plain[a], one);
    plain_print(&twin->plain[b], other);
    tap_diag("seed %llu round %llu: %s\nA: %s\nB: %s", (unsigned long long)twin->seed, (unsigned long long)round,
             relation, one, other);
}

static void round_begin(struct twin *twin, uint64_t round, int count, int chars, int reqs, bool sets)
{
    rng_init(&twin->rng, rng_mix(twin->seed) + round);
    for (int i = 0; i < count; i++)
        plain_random(&twin->rng, chars, reqs, sets, &twin->plain[i]);
}

static void round_read(struct twin *twin, int count)
{
    for (int i = 0; i < count; i++) {
        twin->resources[i] = plain_resource(&twin->rng, &twin->plain[i]);
        twin->readings[i] = grdl_read(twin->consumer, twin->resources[i]);
    }
}

static void round_end(struct twin *twin, int count)
{
    for (int i = 0; i < count; i++) {
        grdl_reading_free(twin->readings[i]);
        grdl_resource_free(twin->resources[i]);
    }
}

/* ---- relations ---- */

/* Text by bytes and text without case are two orders: that a range of the one lies in a range of the other is not always seen. */
static bool mixes_orders(const struct plain *a)
{
    for (int i = 0; i < a->req_count; i++)
        if (a->reqs[i].match == GRDL_ORDERED && a->reqs[i].value.specified && a->reqs[i].value.space == PLAIN_TEXT)
            return true;
    return false;
}

static void relations_compare(struct twin *twin, uint64_t round, int a, int b, struct grdl_failures *failures)
{
    const struct plain *x = &twin->plain[a], *y = &twin->plain[b];
    const struct grdl_reading *p = twin->readings[a], *q = twin->readings[b];
    struct {
        const char *name;
        bool slow, fast;
    } rows[] = {
        {"A => B", plain_matches(x, y, false), grdl_matches(p, q, NULL)},
        {"A => B in part", plain_matches(x, y, true), grdl_matches_shared(p, q, NULL)},
        {"chars within", plain_chars_within(x, y, false), grdl_chars_within(p, q)},
        {"chars within in part", plain_chars_within(x, y, true), grdl_chars_within_shared(p, q)},
        {"reqs within", plain_reqs_within(&twin->universe, x, y), grdl_reqs_within(p, q)},
        {"space within", plain_space_within(&twin->universe, x, y), grdl_space_within(p, q)},
        {"A => B, learning", plain_matches(x, y, false), grdl_matches_learning(p, q, failures, NULL)},
        {"first unmet", plain_matches(x, y, false), !grdl_first_unmet(p, q, NULL)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        twin->held[i] += rows[i].slow && x->char_count + x->req_count && y->char_count + y->req_count;
        if (rows[i].slow != rows[i].fast &&
            !(!rows[i].fast && (i == 4 || i == 5) && (mixes_orders(x) || mixes_orders(y))))
            differs(twin, rows[i].name, a, b, round);
    }
}

static void relations(struct twin *twin)
{
    struct grdl_failures failures;
    bool all = true;

    grdl_failures_init(&failures);
    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds; round++) {
        round_begin(twin, round, 4, 4, 2, true);
        round_read(twin, 4);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                relations_compare(twin, round, a, b, &failures);
        round_end(twin, 4);
    }
    grdl_failures_done(&failures);
    tap_ok(twin->differ == 0, "the relations are what the definitions say, by going through all values");
    for (int i = 0; i < 6; i++)
        all &= twin->held[i] > twin->rounds / 2;
    tap_ok(all, "each of them holds often enough to matter");
    tap_diag(
        "of %llu pairs: match %llu, in part %llu; chars within %llu, in part %llu; reqs within %llu, space within %llu",
        (unsigned long long)twin->rounds * 16, (unsigned long long)twin->held[0], (unsigned long long)twin->held[1],
        (unsigned long long)twin->held[2], (unsigned long long)twin->held[3], (unsigned long long)twin->held[4],
        (unsigned long long)twin->held[5]);
}

/* ---- empty spaces ---- */

static bool folds(const struct plain *plain)
{
    for (int i = 0; i < plain->req_count; i++)
        if (plain->reqs[i].match == GRDL_EQUIVALENT || plain->reqs[i].match == GRDL_ORDERED)
            return true;
    return false;
}

static bool set_meets_all(const struct plain *plain, const struct plain_value *const *set, int count)
{
    for (int i = 0; i < plain->req_count; i++)
        if (!plain_met(&plain->reqs[i], set, count))
            return false;
    return true;
}

/* Is there a set of at most `max` values (3 at most) that meets all requirements, which are in one dimension? */
static bool set_exists(const struct universe *universe, const struct plain *plain, int max)
{
    if (set_meets_all(plain, NULL, 0))
        return true;
    for (int i = 0; i < universe->count; i++)
        for (int j = max > 1 ? 0 : i; j <= i; j++)
            for (int k = max > 2 ? 0 : j; k <= j; k++) {
                const struct plain_value *set[] = {&universe->values[i], &universe->values[j], &universe->values[k]};

                if (set_meets_all(plain, set, 3))
                    return true;
            }
    return false;
}

static void empty_spaces(struct twin *twin)
{
    uint64_t empty = 0;

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds / 4 + 10; round++) {
        bool single = round % 2, slow, fast;
        struct plain *plain = &twin->plain[0];

        round_begin(twin, round, 1, 0, 3, true);
        for (int i = 0; i < plain->req_count; i++)
            plain->reqs[i].dimension = single ? 2 : 0; /* z has one value at most */
        round_read(twin, 1);
        slow = !set_exists(&twin->universe, plain, single ? 1 : 3);
        fast = grdl_space_empty(twin->readings[0], NULL, NULL);
        empty += fast;
        if (fast && !slow)
            differs(twin, "a space that is not empty is said to be", 0, 0, round);
        if (slow && !fast && !folds(plain))
            differs(twin, "a space that is empty is not said to be", 0, 0, round);
        round_end(twin, 1);
    }
    tap_ok(twin->differ == 0, "a requirement space is said to be empty when no set of values is in it");
    tap_ok(empty > 3, "which is so now and then: %llu times", (unsigned long long)empty);
}

/* ---- theorems ---- */

/* B is A with more characteristics, and with fewer requirements or wider ones. */
static void plain_relax(struct rng *rng, const struct plain *a, struct plain *b)
{
    static const enum grdl_operator wider[] = {[GRDL_LT] = GRDL_LE, [GRDL_GT] = GRDL_GE, [GRDL_EQ] = GRDL_LE};

    *b = *a;
    while (b->char_count < PLAIN_MANY && rng_below(rng, 2))
        b->chars[b->char_count++] = (struct plain_property){(int)rng_below(rng, 3), GRDL_EQ, plain_constant(rng)};
    if (b->req_count && rng_below(rng, 2))
        b->reqs[rng_below(rng, (uint64_t)b->req_count)] = b->reqs[b->req_count - 1];
    for (int i = 0; i < b->req_count; i++)
        if (rng_below(rng, 2) &&
            (b->reqs[i].match == GRDL_LT || b->reqs[i].match == GRDL_GT || b->reqs[i].match == GRDL_EQ))
            b->reqs[i].match = wider[b->reqs[i].match];
}

static void theorems(struct twin *twin)
{
    uint64_t first = 0, second = 0, third = 0, templates = 0;
    int broken = 0;

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds * 8; round++) {
        const struct grdl_reading *a, *b, *x;

        round_begin(twin, round, 3, 3, 2, round % 2);
        if (round % 4)
            plain_relax(&twin->rng, &twin->plain[0], &twin->plain[1]);
        round_read(twin, 3);
        a = twin->readings[0];
        b = twin->readings[1];
        x = twin->readings[2];
        if (grdl_chars_within(a, b) && grdl_matches(a, x, NULL) && !x->set_wise) {
            first += a->char_count && x->req_count;
            if (!grdl_matches(b, x, NULL))
                differs(twin, "theorem 6.3.1", 0, 1, round), broken++;
        }
        if (grdl_matches(x, a, NULL) && grdl_space_within(a, b)) {
            second += a->req_count && b->req_count;
            if (!grdl_matches(x, b, NULL))
                differs(twin, "theorem 6.3.2", 0, 1, round), broken++;
        }
        templates += grdl_is_template(a, b);
        if (grdl_is_template(a, b) && grdl_pair(GRDL_PEER, a, x, NULL) && !x->set_wise) {
            third += a->char_count + b->req_count > 0;
            if (!grdl_pair(GRDL_PEER, b, x, NULL))
                differs(twin, "theorem 8.2.1", 0, 1, round), broken++;
        }
        round_end(twin, 3);
    }
    tap_ok(broken == 0, "theorems 6.3.1, 6.3.2 and 8.2.1 hold");
    tap_ok(first > twin->rounds / 10 && second > twin->rounds / 10 && third > twin->rounds / 10,
           "their premises do often enough");
    tap_diag("premises held: 6.3.1 %llu times, 6.3.2 %llu, 8.2.1 %llu; %llu templates", (unsigned long long)first,
             (unsigned long long)second, (unsigned long long)third, (unsigned long long)templates);
}

/* ---- matchers ---- */

static const struct grdl_reading *const *all_readings(const struct twin *twin)
{
    return (const struct grdl_reading *const *)twin->readings;
}

/* Sets of three, by trying all. Returns how many there are. */
static uint32_t triples_compare(struct twin *twin, uint64_t round)
{
    const struct grdl_reading *const *readings = all_readings(twin);
    struct grdl_compositions found, expected;
    uint32_t count;

    grdl_compositions_init(&found, 3);
    grdl_compositions_init(&expected, 3);
    grdl_find_peers(readings, MANY, 0, 1000000, NULL, &found);
    for (uint32_t i = 0; i < MANY; i++)
        for (uint32_t j = i + 1; j < MANY; j++)
            for (uint32_t k = j + 1; k < MANY; k++)
                if (grdl_peers((const struct grdl_reading *const[]){readings[i], readings[j], readings[k]}, 3, NULL))
                    grdl_compositions_add(&expected, (uint32_t[]){i, j, k});
    count = found.count;
    if (count != expected.count ||
        (count && memcmp(found.members, expected.members, count * 3 * sizeof *found.members)))
        differs(twin, "the sets of three peers", 0, 1, round);
    grdl_compositions_done(&found);
    grdl_compositions_done(&expected);
    return count;
}

/* The pairs of the first half with the second, by shape and in a batch, and by trying all. Returns how many share a shape. */
static uint32_t halves_compare(struct twin *twin, uint64_t round)
{
    const struct grdl_reading *const *readings = all_readings(twin), *const *others = readings + HALF;
    struct grdl_dimensions seen[2];
    struct grdl_shapes left, right;
    struct grdl_shape_pairs pairs;
    struct grdl_batch batch;
    uint32_t brute = 0, shared;

    for (int side = 0; side < 2; side++) {
        grdl_dimensions_init(&seen[side]);
        for (int i = 0; i < HALF; i++)
            grdl_dimensions_name(&seen[side], readings[side * HALF + i]);
    }
    grdl_shapes_make(readings, HALF, &seen[1], &left);
    grdl_shapes_make(others, HALF, &seen[0], &right);
    grdl_shapes_match(&left, readings, &right, others, &pairs);
    grdl_batch_make(readings, HALF, others, HALF, NULL, &batch);
    shared = MANY - left.count - right.count;
    for (uint32_t i = 0; i < HALF; i++)
        for (uint32_t j = 0; j < HALF; j++) {
            bool is = grdl_pair(GRDL_PEER, readings[i], others[j], NULL), said = false;

            for (uint32_t k = 0; k < pairs.count; k++)
                said |= pairs.items[k].left == left.shape_of[i] && pairs.items[k].right == right.shape_of[j];
            if (is != said)
                differs(twin, "shapes stand for their members", (int)i, (int)(HALF + j), round);
            if (is && (brute >= batch.count || batch.pairs[brute].left != i || batch.pairs[brute].right != j))
                differs(twin, "the pairs of a batch", (int)i, (int)(HALF + j), round);
            brute += is;
        }
    if (pairs.resource_pairs != brute || batch.count != brute)
        differs(twin, "the number of pairs", 0, 1, round);
    grdl_batch_done(&batch);
    grdl_shape_pairs_done(&pairs);
    grdl_shapes_done(&left);
    grdl_shapes_done(&right);
    grdl_dimensions_done(&seen[0]);
    grdl_dimensions_done(&seen[1]);
    return shared;
}

static void peers_and_shapes(struct twin *twin)
{
    uint64_t sets = 0, shared = 0;

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds / 2 + 5; round++) {
        round_begin(twin, round, MANY, 3, 1, true);
        for (int i = 1; i < MANY; i++)
            if (rng_below(&twin->rng, 3) == 0)
                twin->plain[i] = twin->plain[i - 1];
        round_read(twin, MANY);
        sets += triples_compare(twin, round);
        shared += halves_compare(twin, round);
        round_end(twin, MANY);
    }
    tap_ok(twin->differ == 0,
           "peers found by growing sets are those found by trying all; shapes match as their members do");
    tap_ok(sets > twin->rounds / 10 && shared > twin->rounds / 10, "there were %llu sets, and %llu that looked alike",
           (unsigned long long)sets, (unsigned long long)shared);
}

/* Is the composition left, and is it the only one left of one of its resources? */
static bool is_left(const struct grdl_compositions *found, uint32_t which, const bool *taken, bool *ret_single)
{
    bool left = true;

    *ret_single = false;
    for (uint32_t k = 0; k < found->size; k++) {
        uint32_t resource = found->members[which * found->size + k], others = 0;

        left &= !taken[resource];
        for (uint32_t i = 0; i < found->count; i++) {
            bool has = false, free_of_taken = true;

            for (uint32_t m = 0; m < found->size; m++) {
                has |= found->members[i * found->size + m] == resource;
                free_of_taken &= !taken[found->members[i * found->size + m]];
            }
            others += i != which && has && free_of_taken;
        }
        *ret_single |= others == 0;
    }
    return left;
}

/* What a multi matcher takes, looked for anew each time. */
static uint32_t exclude_slowly(const struct grdl_compositions *found, const bool *taken)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t i = 0; i < found->count; i++) {
        bool single;

        if (!is_left(found, i, taken, &single))
            continue;
        if (single)
            return i;
        first = first == UINT32_MAX ? i : first;
    }
    return first;
}

static void multi_matchers(struct twin *twin)
{
    uint64_t chosen_all = 0;

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds; round++) {
        struct grdl_compositions found, chosen;
        bool taken[12] = {false}, wrong = false;
        uint32_t count, size, next;

        rng_init(&twin->rng, rng_mix(twin->seed) + round);
        size = 2 + (uint32_t)rng_below(&twin->rng, 2);
        count = (uint32_t)rng_below(&twin->rng, 20);
        grdl_compositions_init(&found, size);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t a = (uint32_t)rng_below(&twin->rng, 4), b = 4 + (uint32_t)rng_below(&twin->rng, 4);

            grdl_compositions_add(&found, (uint32_t[]){b, a, 8 + (uint32_t)rng_below(&twin->rng, 4)});
        }
        grdl_exclude(&found, 12, 0, &chosen);
        chosen_all += chosen.count;
        for (uint32_t i = 0; i <= chosen.count; i++) {
            next = exclude_slowly(&found, taken);
            if (i == chosen.count || next == UINT32_MAX) {
                wrong |= i < chosen.count || next != UINT32_MAX;
                break;
            }
            wrong |= memcmp(chosen.members + i * size, found.members + next * size, size * sizeof *found.members) != 0;
            for (uint32_t k = 0; k < size; k++)
                taken[found.members[next * size + k]] = true;
        }
        if (wrong && twin->differ++ < 5)
            tap_diag("seed %llu round %llu", (unsigned long long)twin->seed, (unsigned long long)round);
        grdl_compositions_done(&found);
        grdl_compositions_done(&chosen);
    }
    tap_ok(twin->differ == 0, "a multi matcher takes what has no other choice first, as looking anew each time does");
    tap_ok(chosen_all > twin->rounds, "%llu compositions", (unsigned long long)chosen_all);
}

/* The first is a template, the next are members as far as they may join, the last is a candidate: whoever it is given is a peer of it, and where
 * the template speaks for all, all are. Returns whether it was given one. */
static bool queue_check(struct twin *twin, uint64_t round, enum grdl_queue_kind kind)
{
    const struct grdl_reading *const *readings = all_readings(twin), *candidate = readings[MANY - 1];
    struct grdl_queue queue;
    uint32_t given;
    bool sure = !candidate->set_wise;

    if (grdl_queue_init(&queue, kind, GRDL_PREFS_OF_MEMBERS, false, readings[0], NULL))
        return false;
    for (int i = 1; i < MANY - 1; i++)
        grdl_queue_add(&queue, readings[i], NULL);
    given = grdl_queue_offer(&queue, candidate, NULL, NULL, NULL);
    for (uint32_t i = 0; i < queue.count; i++) {
        bool is = grdl_pair(GRDL_PEER, candidate, queue.members[i], NULL);

        sure &= !queue.set_wise;
        if (!is && (given == i || (given != UINT32_MAX && sure)))
            differs(twin, grdl_queue_words[kind], 0, MANY - 1, round);
    }
    grdl_queue_done(&queue);
    return given != UINT32_MAX;
}

static void queues(struct twin *twin)
{
    uint64_t given[2] = {0};

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds * 4; round++) {
        enum grdl_queue_kind kind = round % 2 ? GRDL_MATCH_EQUIVALENT : GRDL_SHARED_COMPOSITION;

        round_begin(twin, round, MANY, 2, 1, round % 3 == 0);
        for (int i = 1; i < MANY - 1 && kind == GRDL_SHARED_COMPOSITION; i++)
            plain_relax(&twin->rng, &twin->plain[0], &twin->plain[i]);
        if (kind == GRDL_MATCH_EQUIVALENT)
            plain_relax(&twin->rng, &twin->plain[0], &twin->plain[MANY - 1]);
        round_read(twin, MANY);
        given[kind] += queue_check(twin, round, kind);
        round_end(twin, MANY);
    }
    tap_ok(twin->differ == 0, "what a queue gives to a candidate matches it, by either kind of template");
    tap_ok(given[0] > twin->rounds / 10 && given[1] > twin->rounds / 10, "it gives something: %llu and %llu times",
           (unsigned long long)given[0], (unsigned long long)given[1]);
}

/* ---- ranking ---- */

/* How a preference for whole numbers sees a candidate, by table 7.1: less is better. */
static double plain_worth(enum grdl_operator match, bool has_value, double value, const double *values, int count)
{
    double best = count ? 1e6 : 2e6; /* others; without the dimension */

    if (!has_value && (match == GRDL_EQ || match == GRDL_NE))
        return (match == GRDL_EQ) == (count > 0) ? 0 : 1;
    for (int i = 0; i < count; i++) {
        double v = values[i], worth = 1e6, gap = v < value ? value - v : v - value;

        if (!has_value)
            worth = match == GRDL_LT || match == GRDL_LE ? v : -v;
        else if (match == GRDL_CLOSE || match == GRDL_FAR)
            worth = match == GRDL_CLOSE ? gap : -gap;
        else if ((match == GRDL_EQ && v == value) || (match == GRDL_NE && v != value))
            worth = 0;
        else if ((match == GRDL_LT && v < value) || (match == GRDL_LE && v <= value) ||
                 (match == GRDL_GT && v > value) || (match == GRDL_GE && v >= value))
            worth = gap;
        best = worth < best ? worth : best;
    }
    return best;
}

/* A task with preferences and candidates for them, by chance, with what each preference makes of each: the first preference first. */
struct wish {
    struct grdl_resource *who;
    uint32_t prefs;
    double worth[MANY][3];
};

static void wish_add(struct twin *twin, struct wish *wish, uint32_t pref)
{
    static const enum grdl_operator operators[] = {GRDL_EQ, GRDL_NE, GRDL_LT,    GRDL_LE,
                                                   GRDL_GT, GRDL_GE, GRDL_CLOSE, GRDL_FAR};
    enum grdl_operator match = operators[rng_below(&twin->rng, 8)];
    bool has_value = match == GRDL_CLOSE || match == GRDL_FAR || rng_below(&twin->rng, 2);
    double value = (double)rng_below(&twin->rng, 5);
    char text[16];

    sprintf(text, "%g", value);
    grdl_add_pref(wish->who, plain_dimensions[pref], match, NULL, has_value ? text : NULL, 9.0 - pref, NULL);
    for (uint32_t i = 0; i < MANY; i++) {
        double values[2];
        int count = (int)rng_below(&twin->rng, 3);

        for (int k = 0; k < count; k++) {
            values[k] = (double)rng_below(&twin->rng, 5);
            sprintf(text, "%g", values[k]);
            grdl_add_char(twin->resources[i], plain_dimensions[pref], NULL, text, NULL);
        }
        wish->worth[i][wish->prefs - 1 - pref] = plain_worth(match, has_value, value, values, count);
    }
}

/* By insertion: what is tied stays in its order. */
static void wish_sort(const struct wish *wish, uint32_t *ret_order)
{
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t at = i;

        for (; at; at--) {
            uint32_t before = ret_order[at - 1], p = 0;

            while (p < wish->prefs && wish->worth[before][p] == wish->worth[i][p])
                p++;
            if (p == wish->prefs || wish->worth[before][p] < wish->worth[i][p])
                break;
            ret_order[at] = before;
        }
        ret_order[at] = i;
    }
}

/* Is the ranking the one expected, and the first few its beginning? Counts those that are tied with the one before. */
static bool wish_holds(struct twin *twin, const struct grdl_reading *who, const uint32_t *order, uint64_t *ties)
{
    uint32_t wanted = 1 + (uint32_t)rng_below(&twin->rng, MANY);
    struct grdl_ranked ranked[MANY], top[MANY];
    bool holds = true;

    grdl_rank(who, all_readings(twin), MANY, 0, ranked);
    holds &= grdl_rank(who, all_readings(twin), MANY, wanted, top) == wanted;
    for (uint32_t i = 0; i < MANY; i++) {
        holds &= ranked[i].candidate == order[i];
        holds &= i >= wanted || (top[i].candidate == order[i] && top[i].position == ranked[i].position);
        *ties += i && ranked[i].position == ranked[i - 1].position;
        for (uint32_t j = i + 1; j < MANY; j++) {
            int preferred = grdl_prefer(who, twin->readings[order[i]], twin->readings[order[j]], NULL);

            holds &= preferred <= 0 && (preferred == 0) == (ranked[i].position == ranked[j].position);
        }
    }
    return holds;
}

static void ranking(struct twin *twin)
{
    uint64_t ties = 0;

    twin->differ = 0;
    for (uint64_t round = 0; round < twin->rounds; round++) {
        struct wish wish = {.who = grdl_resource_new("task", NULL)};
        struct grdl_reading *who;
        uint32_t order[MANY];

        rng_init(&twin->rng, rng_mix(twin->seed) + round);
        wish.prefs = (uint32_t)rng_below(&twin->rng, 4);
        for (uint32_t i = 0; i < MANY; i++)
            twin->resources[i] = grdl_resource_new("executor", NULL);
        for (uint32_t p = 0; p < wish.prefs; p++) /* their ranks descend: the last goes first */
            wish_add(twin, &wish, p);
        for (uint32_t i = 0; i < MANY; i++)
            twin->readings[i] = grdl_read(twin->consumer, twin->resources[i]);
        wish_sort(&wish, order);
        who = grdl_read(twin->consumer, wish.who);
        if (!wish_holds(twin, who, order, &ties) && twin->differ++ < 5)
            tap_diag("seed %llu round %llu", (unsigned long long)twin->seed, (unsigned long long)round);
        grdl_reading_free(who);
        grdl_resource_free(wish.who);
        round_end(twin, MANY);
    }
    tap_ok(twin->differ == 0, "candidates are ranked as table 7.1 says, and the first few as the first of all");
    tap_ok(ties > twin->rounds, "ties among them: %llu", (unsigned long long)ties);
}

int main(void)
{
    const char *seed = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");
    struct twin twin = {.seed = seed ? strtoull(seed, NULL, 0) : 12,
                        .rounds = rounds ? strtoull(rounds, NULL, 0) : 400};

    universe_make(&twin.universe);
    twin.units = grdl_units_new();
    twin.consumer = grdl_consumer_new(twin.units, GRDL_TYPE_TRANSFORMING);
    grdl_consumer_single(twin.consumer, "z");
    relations(&twin);
    empty_spaces(&twin);
    theorems(&twin);
    peers_and_shapes(&twin);
    multi_matchers(&twin);
    queues(&twin);
    ranking(&twin);
    grdl_consumer_free(twin.consumer);
    grdl_units_free(twin.units);
    return tap_done();
}
