/* collector_unit.c: what a match gives away, for those who count it: whose machine, how many processors and GPUs, whether it is a licence, and how fast. */
#include "pool/matchmaker/collector_parts.h"

#include "match/pair/pair.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define STEPS_MAX 2000 /* of evaluation: anybody may write an expression */

/* A number that an ad says where it meets another (which may be NULL); NAN when it says none. */
static double number_of(const struct role_env *env, const struct tree *ad, const struct tree *other, symbol name)
{
    struct arena_mark mark = arena_mark(env->scratch);
    struct env few = eval_env(env);
    double number = NAN;
    struct pair *pair;
    struct value v;
    struct eval eval;

    if (!ad || !tree_find(ad, tree_root(ad), name))
        return NAN;
    pair = arena_alloc(env->scratch, sizeof *pair);
    pair_init(pair, ad, other);
    few.steps = STEPS_MAX;
    eval_init(&eval, &few, env->scratch);
    eval_attribute(&eval, &pair->left, name, &v);
    if (value_is_number(&v))
        number = v.type == VALUE_INTEGER ? (double)v.u.integer : v.u.real;
    arena_rewind(env->scratch, mark);
    return number;
}

static int64_t scaled(double number, double scale, double most)
{
    return !(number > 0) ? 0 : (int64_t)((number < most ? number : most) * scale + 0.5);
}

/* What an amount of the offer was before the match and is after it tells what was given; where the rest is not known, what was asked for. */
static double given(const struct collector *collector, const struct role_env *env,
                    const struct collector_match_ads *ads, enum collector_name has, enum collector_name asks,
                    double otherwise)
{
    double before = number_of(env, ads->offer, NULL, collector->names[has]),
           left = number_of(env, ads->left, NULL, collector->names[has]), asked;

    if (ads->left && !isnan(left))
        return before - left;
    if (ads->known || !tree_find(ads->offer, tree_root(ads->offer), collector->names[COLLECTOR_RESIDUAL]))
        return before;
    asked = number_of(env, ads->root, ads->offer, collector->names[asks]);
    return isnan(asked) ? otherwise : asked;
}

/* A name for people: nothing in it that a terminal or a table would take for more; and where a long one was cut, no part of a character. */
static void name_clean(struct text *name)
{
    size_t len = strlen(name->bytes);

    if (len == TEXT_MAX) {
        while (len && ((unsigned char)name->bytes[len - 1] & 0xc0) == 0x80)
            name->bytes[--len] = '\0';
        if (len && (unsigned char)name->bytes[len - 1] >= 0xc0)
            name->bytes[--len] = '\0';
    }
    for (char *c = name->bytes; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* Is the offer a licence, whatever the case of that word, as `==` has it? */
static bool is_license(const struct collector *collector, const struct role_env *env, const struct tree *offer)
{
    struct text type;

    collector_says(collector, env, offer, COLLECTOR_TYPE, &type);
    return !strcasecmp(type.bytes, "License");
}

void collector_unit(const struct collector *collector, const struct role_env *env,
                    const struct collector_match_ads *ads, struct tally_unit *ret)
{
    double cpus = given(collector, env, ads, COLLECTOR_CPUS, COLLECTOR_REQUEST_CPUS, 1),
           gpus = given(collector, env, ads, COLLECTOR_GPUS, COLLECTOR_REQUEST_GPUS, 0);
    double cores = number_of(env, ads->whole ? ads->whole : ads->offer, NULL, collector->names[COLLECTOR_CPUS]);

    *ret = (struct tally_unit){
        .cpus = scaled(cpus, 1000, TALLY_CORES_MAX),
        .gpus = scaled(gpus, 1000, TALLY_CORES_MAX),
        .licenses = is_license(collector, env, ads->offer) ? 1000 : 0,
        .speed = scaled(number_of(env, ads->offer, NULL, collector->names[COLLECTOR_BENCHMARK]) / TALLY_REFERENCE, 1e6,
                        TALLY_SPEED_MAX),
        .cores = scaled(cores, 1, TALLY_CORES_MAX)};
    collector_says(collector, env, ads->offer, COLLECTOR_NAME, &ret->machine);
    name_clean(&ret->machine);
}
