/* twin_index.c: whom the index finds, against trying every pair.
 *
 * A pool is filled at once or one by one, before or after it is told whom to expect; then ads come, change and go, the clock moves,
 * and ads of the other side look for those that match.
 *
 *   missing   every ad that matches is found
 *   surplus   nothing else is found
 *   once      no ad is found twice, and the count is right
 *   first     of the ads that match the one with the smallest place is found, though blocks with larger places are passed over
 *   order     index_valid after every step
 *   tidy      the scratch arena is as before; with the index and the ads gone, no name is held
 *
 * Most pools are small; some have hundreds of ads, so that rows fill more than one block and values share slabs. The ads are those
 * of pool.h, in either dialect or in both.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. Each difference is printed with its seed, its round and both ads, as small as
 * leaving out attributes makes them if the two differ alone; after five of a kind the rest is silent. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "match/index/index.h"
#include "match/pair/match.h"

#define IDS_MAX 1600
#define PROBERS_MAX 10
#define OUTSIDE_MAX 3 /* names that the matchmaker gives, and as many for absent ones */
#define ROWS_OF_A_BLOCK 512
#define CHECKED_ALWAYS 50 /* ads: of more, not each that is put in makes the whole index be looked through */

enum law { LAW_MISSING, LAW_SURPLUS, LAW_ONCE, LAW_FIRST, LAW_ORDER, LAW_TIDY, LAW_COUNT };

struct tally {
    uint64_t probes, pairs, matched, evaluations, candidates;
    uint64_t several;       /* ads with a disjunction that were found */
    uint64_t exact_choices; /* probes with a disjunction that found something and evaluated nothing */
    uint64_t large, moved;  /* probes of more than a block; whose answer changed with the clock alone */
    uint64_t left_out;      /* probes that left out blocks */
    uint64_t outside,
        spared; /* probes with names of the matchmaker; that looked at no ad at all though there were some */
    uint64_t rebuilt, learned_late;
    uint64_t passed; /* ads that match and were passed over, since another has a smaller place */
    uint64_t wrong[LAW_COUNT];
};

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng, among;
    struct buf text;
    size_t names; /* that are always held */

    struct pool_style style;
    int dialects; /* 0: classic, 1: condor, 2: both */
    struct env env;
    struct given outside[2 * OUTSIDE_MAX]; /* the given names, then the absent ones */
    struct index *index;
    struct tree *ads[IDS_MAX]; /* by number; NULL: there is none */
    uint32_t ids, count;       /* numbers that may be in use, and those that are */
    struct tree *probers[PROBERS_MAX];
    uint32_t prober_count;
    bool clock_moved;
    bool hits[IDS_MAX], twice; /* of the last probe */
    uint64_t hit_count;
    uint64_t places[IDS_MAX], bound;
    bool sifted[IDS_MAX];

    struct tally tally;
    int said[LAW_COUNT];
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static bool chance(struct twin *twin, unsigned percent)
{
    return below(twin, 100) < percent;
}

/* ----------------------------------------------------------------------------------------------------------- the pool */

static struct tree *ad_read(struct twin *twin, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&twin->lang, dialect, text, &err);

    if (!tree) {
        printf("Bail out! %u:%u: %s in %s\n", err.line, err.column, err.text, text);
        exit(1);
    }
    return tree;
}

/* One of some values, and arithmetic: the lines tell the first, a formula the second. */
static void among_add(struct pool_maker *m)
{
    const struct pool_subject *subject = &pool_subjects[0][pool_below(m, 2) ? pool_below(m, 3) : 4 + pool_below(m, 2)];

    buf_reset(m->out);
    buf_addf(m->out, "[ Need = 2; Size = 3; Least = 1; Owner = \"SUN\"; Nice = true; Constraint = member(other.%s, ",
             subject->name);
    pool_add_list(m, subject->sort);
    buf_addf(m->out, ") && other.%s + other.%s > ", pool_subjects[0][pool_below(m, 3)].name,
             pool_subjects[0][pool_below(m, 3)].name);
    pool_add_literal(m, SORT_NUMBER);
    buf_adds(m->out, " ]");
}

/* Clauses over texts, which the lines cannot tell or tell only in part: a formula looks them up by the texts that the ads have. */
static void texts_add(struct pool_maker *m)
{
    static const char *const leaves[] = {"regexp(\"^[a-i]\", other.%s)", "other.%s < \"m\"",
                                         "\"INTEL\" != other.%s",        "strcat(other.%s, \"x\") == \"intelx\"",
                                         "size(other.%s) > 4",           "stringListMember(\"intel\", other.%s)"};
    uint64_t parts = 1 + pool_below(m, 5);

    buf_reset(m->out);
    buf_adds(m->out, "[ Need = 2; Size = 3; Least = 1; Owner = \"SUN\"; Nice = true; Constraint = ");
    for (uint64_t i = 0; i < parts; i++) {
        const char *leaf = leaves[pool_below(m, POOL_COUNT(leaves))], *at = strchr(leaf, '%');

        buf_adds(m->out, !i ? "" : pool_below(m, 2) ? " || " : " && ");
        buf_adds(m->out, pool_below(m, 6) ? "" : "!");
        buf_add(m->out, leaf, (size_t)(at - leaf));
        buf_addf(m->out, "%s%s", pool_subjects[0][4 + pool_below(m, pool_below(m, 8) ? 2 : 4)].name, at + 2);
    }
    if (pool_below(m, 2)) {
        buf_addf(m->out, " && other.%s > ", pool_subjects[0][pool_below(m, 3)].name);
        pool_add_literal(m, SORT_NUMBER);
    }
    buf_adds(m->out, " ]");
}

static struct tree *ad_make(struct twin *twin, int side)
{
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .side = side};
    uint64_t dialect = twin->dialects == 2 ? below(twin, 2) : (uint64_t)twin->dialects;

    m.dialect = dialect ? &dialect_condor : &dialect_classic;
    pool_add_ad(&m);
    m.rng = &twin->among;
    if (side && pool_chance(&m, 8))
        among_add(&m);
    else if (side && pool_chance(&m, 8))
        texts_add(&m);
    return ad_read(twin, m.dialect, buf_string(&twin->text));
}

static void twin_outside(struct twin *twin)
{
    struct pool_maker m = {.rng = &twin->rng, .style = &twin->style};

    for (uint32_t i = 0; i < 2 * OUTSIDE_MAX; i++) {
        const struct pool_subject *subject = &pool_subjects[below(twin, 2)][below(twin, POOL_SUBJECTS)];

        twin->outside[i].name = symbols_take(twin->lang.symbols, subject->name, strlen(subject->name));
        twin->outside[i].value = pool_value(&m, subject->sort);
        if (twin->outside[i].value.type == VALUE_STRING) /* the maker's own may change */
            twin->outside[i].value = value_string("intel", 5);
    }
    twin->env.given = twin->outside;
    twin->env.given_count = (uint32_t)below(twin, OUTSIDE_MAX + 1);
    twin->env.absent = twin->outside + OUTSIDE_MAX;
    twin->env.absent_count = (uint32_t)below(twin, OUTSIDE_MAX + 1);
}

static uint64_t place_of(void *user, uint32_t id)
{
    return ((struct twin *)user)->places[id];
}

static uint32_t pool_size(struct twin *twin)
{
    if (chance(twin, 6))
        return 350 + (uint32_t)below(twin, 700);
    return (uint32_t)below(twin, chance(twin, 30) ? 4 : 41);
}

static void twin_make(struct twin *twin)
{
    struct pool_maker m = {.rng = &twin->rng};

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round * 7919);
    rng_init(&twin->among, rng_mix(twin->seed) + twin->round);
    twin->names = symbols_count(twin->lang.symbols);
    twin->style = pool_style(&m);
    twin->dialects = (int)below(twin, 3);
    twin->env = (struct env){.now = POOL_NOW, .seed = twin->round};
    if (chance(twin, 15))
        twin_outside(twin);
    twin->index = index_new();
    if (chance(twin, 50))
        index_lay_near(twin->index);
    for (uint32_t i = 0; i < IDS_MAX; i++)
        twin->places[i] = i / 2 + below(twin, 100);
    index_set_places(twin->index, place_of, twin);
    twin->prober_count = 2 + (uint32_t)below(twin, PROBERS_MAX - 1);
    for (uint32_t i = 0; i < twin->prober_count; i++)
        twin->probers[i] = ad_make(twin, 1);
    twin->ids = pool_size(twin);
    twin->count = 0;
    twin->clock_moved = false;
}

static void twin_clear(struct twin *twin)
{
    for (uint32_t i = 0; i < IDS_MAX; i++) {
        tree_unref(twin->ads[i]);
        twin->ads[i] = NULL;
    }
    twin->count = 0;
}

/* ----------------------------------------------------------------------------------------------------- differences */

static bool tell(struct twin *twin, enum law law, const char *what)
{
    twin->tally.wrong[law]++;
    if (twin->said[law]++ >= 5)
        return false;
    tap_diag("seed %llu, round %llu, %u ads: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round,
             (unsigned)twin->count, what);
    return true;
}

/* Some way of filling an index that holds one ad. */
enum alone { ALONE_BUILD, ALONE_LEARN_BUILD, ALONE_PUT, ALONE_PUT_LEARN, ALONE_COUNT };
static const char *const alone_names[ALONE_COUNT] = {"built", "learned and built", "put in", "put in and learned"};

static void hit_one(void *user, uint32_t id)
{
    *(uint32_t *)user += id == 0;
}

/* Do the two differ alone? The second probe may use what the first one made. */
static bool differs_alone(struct twin *twin, enum alone way, struct tree *prober, struct tree *ad)
{
    struct index *index = index_new();
    struct arena_mark mark = arena_mark(&twin->lang.arena);
    struct match match;
    bool differs = false;

    match_ads(&twin->env, &twin->lang.arena, prober, ad, &match);
    if (way == ALONE_LEARN_BUILD)
        index_learn(index, &twin->env, &twin->lang.arena, prober);
    if (way == ALONE_BUILD || way == ALONE_LEARN_BUILD)
        index_build(index, &twin->env, &twin->lang.arena, &ad, 1);
    else
        index_put(index, &twin->env, &twin->lang.arena, 0, ad);
    if (way == ALONE_PUT_LEARN)
        index_learn(index, &twin->env, &twin->lang.arena, prober);
    for (int i = 0; i < 3 && !differs; i++) {
        uint32_t hits = 0;

        index_probe(index, &twin->env, &twin->lang.arena, prober, hit_one, &hits);
        differs = hits != match.matches;
    }
    arena_rewind(&twin->lang.arena, mark);
    index_free(index);
    return differs;
}

/* The ad without its n-th attribute. */
static struct tree *ad_without(struct twin *twin, const struct tree *ad, uint32_t n)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);

    buf_reset(&twin->text);
    buf_adds(&twin->text, "[ ");
    for (uint32_t i = 0; i < expr_part_count(root); i++) {
        size_t len;

        if (i == n)
            continue;
        buf_addf(&twin->text, "%s = ", symbols_text(twin->lang.symbols, parts[i].label, &len));
        print_expr(&twin->text, ad, &parts[i], PRINT_PLAIN);
        buf_adds(&twin->text, "; ");
    }
    buf_adds(&twin->text, "]");
    return ad_read(twin, ad->dialect, buf_string(&twin->text));
}

/* Leaves out attributes of either ad as long as they differ; takes both references, gives the smaller ones. */
static void pair_shrink(struct twin *twin, enum alone way, struct tree *pair[2])
{
    for (int side = 0; side < 2; side++) {
        for (uint32_t n = 0; n < expr_part_count(tree_root(pair[side]));) {
            struct tree *whole = pair[side];

            pair[side] = ad_without(twin, whole, n);
            if (differs_alone(twin, way, pair[0], pair[1])) {
                tree_unref(whole);
                continue;
            }
            tree_unref(pair[side]);
            pair[side] = whole;
            n++;
        }
    }
}

static void outside_show(struct twin *twin, const char *what, const struct given *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t len;
        tap_diag("  %s %s = %s", what, symbols_text(twin->lang.symbols, items[i].name, &len),
                 lang_show(&dialect_classic, &items[i].value));
    }
}

static void pair_tell(struct twin *twin, enum law law, const struct tree *prober, uint32_t id)
{
    struct tree *pair[2] = {tree_ref((struct tree *)prober), tree_ref(twin->ads[id])};
    int way = 0;

    if (tell(twin, law, law == LAW_MISSING ? "an ad is missing" : "an ad is too much")) {
        while (way < ALONE_COUNT && !differs_alone(twin, (enum alone)way, pair[0], pair[1]))
            way++;
        if (way < ALONE_COUNT)
            pair_shrink(twin, (enum alone)way, pair);
        tap_diag("  %s%s", way < ALONE_COUNT ? "alone too, when " : "only among the others",
                 way < ALONE_COUNT ? alone_names[way] : "");
        tap_diag("  who looks (%s)  %s", pair[0]->dialect->name, lang_show_tree(pair[0]));
        tap_diag("  ad %u (%s)  %s", (unsigned)id, pair[1]->dialect->name, lang_show_tree(pair[1]));
        tap_diag("  %lld seconds past noon", (long long)(twin->env.now - POOL_NOW));
        outside_show(twin, "given", twin->env.given, twin->env.given_count);
        outside_show(twin, "absent", twin->env.absent, twin->env.absent_count);
    }
    tree_unref(pair[0]);
    tree_unref(pair[1]);
}

static void order_check(struct twin *twin, const char *after)
{
    const char *why = "?";
    char what[200];

    if (index_valid(twin->index, &why))
        return;
    snprintf(what, sizeof what, "after %s: %s", after, why);
    tell(twin, LAW_ORDER, what);
}

static void scratch_check(struct twin *twin, struct arena_mark before, const char *after)
{
    struct arena_mark now = arena_mark(&twin->lang.arena);

    if (now.chunk != before.chunk || now.used != before.used)
        tell(twin, LAW_TIDY, after);
    arena_rewind(&twin->lang.arena, before);
}

/* ------------------------------------------------------------------------------------------------------------ probes */

static void hit(void *user, uint32_t id)
{
    struct twin *twin = user;

    twin->hit_count++;
    if (id >= IDS_MAX || twin->hits[id])
        twin->twice = true;
    else
        twin->hits[id] = true;
}

static bool has_disjunction(const struct tree *ad)
{
    const struct expr *e = match_constraint(ad);

    if (!e || e->kind != EXPR_CHAIN)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        const struct expr *part = &tree_parts(ad, e)[i];

        if (part->label == OP_OR || (part->kind == EXPR_CHAIN && tree_parts(ad, part)[1].label == OP_OR))
            return true;
    }
    return false;
}

static void probe_count(struct twin *twin, const struct tree *prober)
{
    struct index_probed probed = index_probed(twin->index);
    struct tally *t = &twin->tally;

    t->probes++;
    t->evaluations += probed.evaluations;
    t->candidates += probed.candidates;
    t->exact_choices += has_disjunction(prober) && probed.evaluations == 0 && probed.found > 0;
    t->large += twin->count > ROWS_OF_A_BLOCK;
    t->left_out += twin->count > ROWS_OF_A_BLOCK && probed.blocks <= 1;
    t->spared += twin->count > 0 && probed.candidates == 0;
    t->outside += twin->env.given_count || twin->env.absent_count;
    if (twin->twice || probed.found != twin->hit_count)
        tell(twin, LAW_ONCE, twin->twice ? "an ad is found twice" : "the count is wrong");
}

/* One ad looks; each pair is tried as well. */
static void probe_check(struct twin *twin, struct tree *prober)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);

    if (twin->clock_moved) {
        index_refresh(twin->index, &twin->env, &twin->lang.arena);
        scratch_check(twin, mark, "index_refresh leaves something in the scratch arena");
        order_check(twin, "a refresh");
    }
    twin->clock_moved = false;
    memset(twin->hits, 0, sizeof twin->hits);
    twin->twice = false;
    twin->hit_count = 0;
    index_probe(twin->index, &twin->env, &twin->lang.arena, prober, hit, twin);
    scratch_check(twin, mark, "index_probe leaves something in the scratch arena");
    order_check(twin, "a probe");
    probe_count(twin, prober);
    for (uint32_t id = 0; id < IDS_MAX; id++) {
        struct match match = {0};

        if (twin->ads[id]) {
            match_ads(&twin->env, &twin->lang.arena, prober, twin->ads[id], &match);
            arena_rewind(&twin->lang.arena, mark);
            twin->tally.pairs++;
            twin->tally.matched += match.matches;
            twin->tally.several += match.matches && has_disjunction(twin->ads[id]);
            if (match.matches != twin->hits[id])
                pair_tell(twin, match.matches ? LAW_MISSING : LAW_SURPLUS, prober, id);
        } else if (twin->hits[id]) {
            tell(twin, LAW_SURPLUS, "an ad is found that is not there");
        }
    }
}

static void sift(void *user, uint32_t id, unsigned doubts)
{
    struct twin *twin = user;

    (void)doubts;
    twin->sifted[id] = true;
    if (twin->hits[id] && twin->places[id] < twin->bound)
        twin->bound = twin->places[id];
}

/* The first of those that the last probe has found. */
static void first_check(struct twin *twin, struct tree *prober)
{
    uint64_t least = UINT64_MAX;

    memset(twin->sifted, 0, sizeof twin->sifted);
    twin->bound = UINT64_MAX;
    index_sift_within(twin->index, &twin->env, &twin->lang.arena, prober, &twin->bound, sift, twin);
    for (uint32_t id = 0; id < IDS_MAX; id++) {
        if (twin->hits[id] && twin->places[id] < least)
            least = twin->places[id];
        twin->tally.passed += twin->hits[id] && !twin->sifted[id];
    }
    if (least != twin->bound)
        tell(twin, LAW_FIRST, "the first is passed over");
}

/* An ad gets another place. */
static void place_move(struct twin *twin, uint32_t id)
{
    bool smaller = chance(twin, 50);

    if (!twin->ads[id])
        return;
    twin->places[id] = smaller ? below(twin, twin->places[id] + 1) : twin->places[id] + below(twin, 500);
    if (smaller)
        index_advance(twin->index, id);
    order_check(twin, "an ad with another place");
}

/* The same before and after the clock has moved. */
static void clock_check(struct twin *twin, struct tree *prober)
{
    bool before[IDS_MAX];

    probe_check(twin, prober);
    first_check(twin, prober);
    memcpy(before, twin->hits, sizeof before);
    twin->env.now += 1 + (int64_t)below(twin, 3);
    twin->clock_moved = true;
    probe_check(twin, prober);
    twin->tally.moved += memcmp(before, twin->hits, sizeof before) != 0;
}

/* ------------------------------------------------------------------------------------------------------------- steps */

static void learn(struct twin *twin, unsigned percent)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);

    for (uint32_t i = 0; i < twin->prober_count; i++)
        if (chance(twin, percent))
            index_learn(twin->index, &twin->env, &twin->lang.arena, twin->probers[i]);
    scratch_check(twin, mark, "index_learn leaves something in the scratch arena");
    order_check(twin, "learning");
}

static void put(struct twin *twin, uint32_t id, struct tree *ad)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);

    index_put(twin->index, &twin->env, &twin->lang.arena, id, ad);
    scratch_check(twin, mark, "index_put leaves something in the scratch arena");
    if (ad != twin->ads[id]) {
        twin->count += !twin->ads[id];
        tree_unref(twin->ads[id]);
        twin->ads[id] = ad;
    }
    if (twin->count < CHECKED_ALWAYS || id % CHECKED_ALWAYS == 0)
        order_check(twin, "a put");
}

static void take_out(struct twin *twin, uint32_t id)
{
    index_remove(twin->index, id);
    twin->count -= twin->ads[id] != NULL;
    tree_unref(twin->ads[id]);
    twin->ads[id] = NULL;
    order_check(twin, "a removal");
}

/* The first `count` numbers, at once. */
static void build(struct twin *twin, uint32_t count)
{
    struct arena_mark mark = arena_mark(&twin->lang.arena);

    for (uint32_t id = 0; id < count; id++)
        twin->ads[id] = ad_make(twin, 0);
    index_build(twin->index, &twin->env, &twin->lang.arena, twin->ads, count);
    twin->count = count;
    scratch_check(twin, mark, "index_build leaves something in the scratch arena");
    order_check(twin, "building");
}

static void fill(struct twin *twin)
{
    uint64_t way = below(twin, 4);
    uint32_t at_once = way == 0 ? 0 : way == 1 ? (uint32_t)below(twin, twin->ids + 1) : twin->ids;

    if (chance(twin, 5)) { /* filled once before, and emptied */
        for (uint32_t id = 0; id < 5; id++)
            put(twin, id, ad_make(twin, 0));
        for (uint32_t id = 0; id < 5; id++)
            take_out(twin, id);
        twin->tally.rebuilt++;
    }
    if (at_once || way > 1)
        build(twin, at_once);
    for (uint32_t id = at_once; id < twin->ids; id++)
        put(twin, id, ad_make(twin, 0));
}

static void step(struct twin *twin)
{
    struct tree *prober = twin->probers[below(twin, twin->prober_count)];
    uint32_t id = (uint32_t)below(twin, twin->ids + 1);

    switch (below(twin, 12)) {
    case 0:
        put(twin, twin->ids++, ad_make(twin, 0));
        break;
    case 1: /* one that is there, or was */
        put(twin, id, ad_make(twin, 0));
        twin->ids += id == twin->ids;
        break;
    case 2:
        take_out(twin, id);
        break;
    case 3:
        if (twin->ads[id])
            put(twin, id, twin->ads[id]);
        break;
    case 4:
        clock_check(twin, prober);
        break;
    case 5:
        learn(twin, 20);
        twin->tally.learned_late++;
        break;
    case 6: /* with an ad that nobody has announced */
        prober = ad_make(twin, 1);
        probe_check(twin, prober);
        tree_unref(prober);
        break;
    case 7:
        place_move(twin, id);
        break;
    default:
        probe_check(twin, prober);
        first_check(twin, prober);
        break;
    }
}

static void round_run(struct twin *twin)
{
    static const unsigned announced[] = {0, 50, 100, 100};

    twin_make(twin);
    if (chance(twin, 5)) /* nobody is there, nobody was announced */
        probe_check(twin, twin->probers[0]);
    if (chance(twin, 80))
        learn(twin, announced[below(twin, 4)]);
    fill(twin);
    for (uint64_t i = 0, steps = 8 + below(twin, 24); i < steps; i++)
        step(twin);
    if (index_bytes(twin->index) == 0)
        tell(twin, LAW_TIDY, "the index takes no memory");
    twin_clear(twin);
    for (uint32_t i = 0; i < twin->prober_count; i++)
        tree_unref(twin->probers[i]);
    index_free(twin->index);
    if (twin->env.given)
        for (uint32_t i = 0; i < 2 * OUTSIDE_MAX; i++)
            symbols_drop(twin->lang.symbols, twin->outside[i].name);
    if (symbols_count(twin->lang.symbols) != twin->names)
        tell(twin, LAW_TIDY, "names are held though all is gone");
    arena_reset(&twin->lang.arena);
}

/* ------------------------------------------------------------------------------------------------------------ report */

static const char *const sentences[LAW_COUNT] = {
    [LAW_MISSING] = "every ad that matches is found",
    [LAW_SURPLUS] = "no ad is found that does not match, or is not there",
    [LAW_ONCE] = "an ad is found once, even if its constraint holds for several reasons",
    [LAW_FIRST] = "the ad with the smallest place is found without finding all",
    [LAW_ORDER] = "an index is in order whatever comes, changes and goes",
    [LAW_TIDY] = "an index leaves nothing behind",
};

static void rounds_report(const struct twin *twin)
{
    const struct tally *t = &twin->tally;

    for (int law = 0; law < LAW_COUNT; law++) {
        tap_ok(t->wrong[law] == 0, "%s", sentences[law]);
        if (t->wrong[law])
            tap_diag("%llu differences in %llu pools", (unsigned long long)t->wrong[law],
                     (unsigned long long)twin->rounds);
    }
    tap_ok(t->matched * 100 > t->pairs && t->matched * 2 < t->pairs && t->several, "some of the pairs match, by "
                                                                                   "disjunctions too");
    tap_ok(t->evaluations < t->pairs && t->spared, "fewer constraints are evaluated than there are pairs");
    tap_ok(t->left_out, "blocks in which nothing can fit are left out");
    tap_ok(t->passed, "some that match are passed over since another comes before them");
    tap_ok(t->exact_choices, "a disjunction can be settled without evaluating anything");
    tap_ok(t->large && t->moved && t->outside && t->rebuilt && t->learned_late,
           "the random pools are large enough, depend on the clock and on names of the matchmaker");
    tap_diag("%llu pools, %llu probes, %llu of more than %d ads, %llu with names of the matchmaker",
             (unsigned long long)twin->rounds, (unsigned long long)t->probes, (unsigned long long)t->large,
             ROWS_OF_A_BLOCK, (unsigned long long)t->outside);
    tap_diag("%llu pairs, %llu matched, %llu of them with a disjunction; %llu answers changed with the clock",
             (unsigned long long)t->pairs, (unsigned long long)t->matched, (unsigned long long)t->several,
             (unsigned long long)t->moved);
    tap_diag("a probe: %.1f ads, %.1f candidates, %.1f evaluations; %llu without a candidate, %llu exact disjunctions",
             (double)t->pairs / (double)(t->probes + !t->probes),
             (double)t->candidates / (double)(t->probes + !t->probes),
             (double)t->evaluations / (double)(t->probes + !t->probes), (unsigned long long)t->spared,
             (unsigned long long)t->exact_choices);
}

int main(void)
{
    static struct twin twin;

    twin.seed = lang_setting("BERTH_SEED", 1);
    twin.rounds = lang_rounds(500);
    lang_init(&twin.lang);
    buf_init(&twin.text);
    arena_alloc(&twin.lang.arena, 1); /* so that it has a chunk: marks are compared */
    arena_reset(&twin.lang.arena);
    for (twin.round = 0; twin.round < twin.rounds; twin.round++)
        round_run(&twin);
    rounds_report(&twin);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
