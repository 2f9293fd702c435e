/* time_limit.c: how long a job may run that says so in seconds of a machine of a certain speed. */
#include "pool/protocol/time_limit.h"

#include "lang/ad/get.h"
#include "lang/text/parse.h"
#include "pool/protocol/writers.h"

#include <string.h>

#define FOLLOWS                                                            \
    "[ TimeLimit = (other.Benchmark > 0) is true ? " TIME_LIMIT_NORMALISED \
    " * 100000.0 / other.Benchmark : " TIME_LIMIT_NORMALISED " ]"

static bool seconds_of(const struct tree *ad, double *ret)
{
    const struct expr *said = ad_find(ad, TIME_LIMIT_NORMALISED);

    if (!said || !expr_is_literal(said))
        return false;
    *ret = said->kind == EXPR_REAL                                    ? said->u.real
           : said->kind == EXPR_INTEGER || said->kind == EXPR_RELTIME ? (double)said->u.integer
                                                                      : 0;
    return *ret > 0;
}

bool time_limit_is_normalised(const struct tree *ad)
{
    double seconds;

    return seconds_of(ad, &seconds);
}

static struct tree *layer_make(const struct tree *ad, struct err *err)
{
    static const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *layer;

    build_init(&build, ad->symbols, ad->dialect);
    layer = parse_ad(&build, &options, FOLLOWS, strlen(FOLLOWS), err);
    build_done(&build);
    return layer;
}

struct tree *time_limit_set(const struct tree *ad, struct err *err)
{
    struct tree *layer = layer_make(ad, err), *whole = layer ? ad_over(ad, layer, err) : NULL;

    tree_unref(layer);
    return whole;
}

bool time_limit_follows(const struct tree *ad, const struct expr *limit)
{
    struct err err;
    struct tree *layer = layer_make(ad, &err);
    bool same = layer && tree_equal(ad, limit, layer, ad_find(layer, "TimeLimit"));

    tree_unref(layer);
    return same;
}

bool time_limit_on(const struct tree *ad, const struct tree *machine, double *ret)
{
    double benchmark;

    if (!seconds_of(ad, ret))
        return false;
    if (ad_number(machine, "Benchmark", &benchmark) && benchmark > 0)
        *ret = *ret * TIME_LIMIT_REFERENCE / benchmark;
    return true;
}
