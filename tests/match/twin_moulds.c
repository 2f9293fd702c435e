/* twin_moulds.c: what an ad is to the other side is the same whether it is found out from the ad alone or by its mould: key, hash and class.
 *
 * Ads come in families, whose members differ in digits here and there. Names that are read are added in between.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "match/index/classes.h"

#define ADS 60
#define FAMILY 6

struct twin {
    struct lang lang;
    struct rng rng;
    struct buf text;
    const struct dialect *dialect;
    struct pool_style style;
    struct moulds moulds;
    struct class_set set;
    struct tree *ads[ADS];
    uint64_t moulded, found, differ;
};

/* Digits of the last ad become others. */
static void text_vary(struct twin *twin)
{
    for (size_t i = 0; i < twin->text.len; i++) {
        char *at = &twin->text.text[i];
        bool in_name = i && ((at[-1] >= 'A' && at[-1] <= 'Z') || (at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '_');

        if (*at >= '1' && *at <= '9' && !in_name && rng_below(&twin->rng, 4) == 0)
            *at = (char)('1' + (char)rng_below(&twin->rng, 9));
    }
}

static struct tree *ad_make(struct twin *twin, uint32_t n)
{
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .side = (int)(n / FAMILY % 2)};
    struct tree *ad;
    struct err err;

    m.dialect = twin->dialect;
    if (n % FAMILY == 0)
        pool_add_ad(&m);
    else
        text_vary(twin);
    ad = lang_ad(&twin->lang, twin->dialect, buf_string(&twin->text), &err);
    return ad ? ad : lang_ad(&twin->lang, twin->dialect, "[]", &err);
}

static bool keys_same(const struct class_key *a, const struct class_key *b)
{
    if (a->hash != b->hash || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!symbol_same(a->names[i], b->names[i]) || a->found[i] != b->found[i])
            return false;
    return true;
}

static void ad_compare(struct twin *twin, uint32_t n)
{
    static struct class_key plain, by_mould;
    struct tree *ad = twin->ads[n];
    uint32_t mould = moulds_find(&twin->moulds, ad), place;
    bool shares = classes_key(&twin->set, ad, &plain), same;

    same = shares == classes_key_moulded(&twin->set, ad, mould, &by_mould) && (!shares || keys_same(&plain, &by_mould));
    twin->moulded += mould != MOULD_NONE && moulds_alike(twin->moulds.items[mould % MOULDS].ad, ad);
    if (same && shares) {
        place = classes_find(&twin->set, ad, &plain);
        same = place == classes_find(&twin->set, ad, &by_mould);
        twin->found += place != NO_CLASS;
        if (place == NO_CLASS)
            classes_add(&twin->set, ad, n, &by_mould);
        else if (rng_below(&twin->rng, 2))
            classes_stand(&twin->set, place, ad, mould);
    }
    if (!same && twin->differ++ < 3)
        tap_diag("%s", lang_show_tree(ad));
}

static void round_run(struct twin *twin, uint64_t seed)
{
    static const char *const names[] = {"Memory", "Need", "Arch", "Owner", "Constraint", "Load", "Size", "Tags"};
    struct pool_maker m = {.rng = &twin->rng};

    rng_init(&twin->rng, seed);
    twin->style = pool_style(&m);
    twin->dialect = rng_below(&twin->rng, 3) ? &dialect_classic : &dialect_condor;
    classes_start(&twin->set, twin->lang.symbols, NULL, 0);
    for (uint32_t n = 0; n < ADS; n++) {
        twin->ads[n] = ad_make(twin, n);
        if (rng_below(&twin->rng, 8) == 0) { /* classes that must be told apart are left, as their users do */
            const char *name = names[rng_below(&twin->rng, POOL_COUNT(names))];
            symbol taken = symbols_take(twin->lang.symbols, name, strlen(name));

            for (uint32_t i = 0; i < twin->set.count; i++)
                if (twin->set.items[i].ad)
                    classes_remove(&twin->set, i);
            classes_add_name(&twin->set, twin->lang.symbols, taken);
            symbols_drop(twin->lang.symbols, taken);
        }
        ad_compare(twin, n);
    }
    classes_done(&twin->set, twin->lang.symbols);
    moulds_done(&twin->moulds);
    for (uint32_t n = 0; n < ADS; n++)
        tree_unref(twin->ads[n]);
}

#define OTHERS (20 * MOULDS)

/* Ads from so many other moulds come that many come to the same place. */
static void moulds_go(struct twin *twin)
{
    static struct tree *others[OTHERS]; /* they stay, else their names would be the same symbol */
    char text[64];
    struct err err;
    struct tree *ad = lang_ad(&twin->lang, &dialect_classic, "[ A = 1 ]", &err);
    uint32_t first = moulds_find(&twin->moulds, ad), number = first, kept = 0;

    for (uint32_t i = 0; i < OTHERS; i++) {
        snprintf(text, sizeof text, "[ N%u = 1 ]", i);
        others[i] = lang_ad(&twin->lang, &dialect_classic, text, &err);
        moulds_find(&twin->moulds, others[i]);
    }
    tap_ok(twin->moulds.items[first % MOULDS].number != first, "a mould that is no longer seen makes room");
    for (uint32_t i = 0; i < 20 && (number = moulds_find(&twin->moulds, ad)) == MOULD_NONE; i++)
        ;
    tap_ok(number != MOULD_NONE && number != first, "when it comes again it has another number");
    for (uint32_t i = 0; i < 4; i++)
        kept += moulds_find(&twin->moulds, ad) == number;
    tap_ok(kept == 4, "and then keeps it");
    moulds_done(&twin->moulds);
    for (uint32_t i = 0; i < OTHERS; i++)
        tree_unref(others[i]);
    tree_unref(ad);
}

static bool alike(struct twin *twin, const char *a, const char *b)
{
    struct err err;
    struct tree *x = lang_ad(&twin->lang, &dialect_classic, a, &err),
                *y = lang_ad(&twin->lang, &dialect_classic, b, &err);
    bool same = moulds_alike(x, y);

    tree_unref(x);
    tree_unref(y);
    return same;
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(400);
    struct twin twin = {0};

    lang_init(&twin.lang);
    buf_init(&twin.text);
    for (uint64_t round = 0; round < rounds && twin.differ < 3; round++)
        round_run(&twin, rng_mix(seed) + round);
    tap_ok(!twin.differ, "key, hash and class of an ad are those that it has without its mould (seed %llu)",
           (unsigned long long)seed);
    tap_ok(twin.moulded > rounds * ADS / 2, "most ads have one");
    tap_ok(twin.found > rounds, "and many are of a class that is there");
    tap_ok(alike(&twin, "[ A = 1; B = \"x\"; C = other.D > 2 && { 1, 2 }[0] ]",
                 "[ A = 2.5; B = \"longer\"; C = other.D > \"u\" && { true, 2 }[1] ]"),
           "literals may be others, of other types, too");
    tap_ok(!alike(&twin, "[ A = 1 ]", "[ B = 1 ]") && !alike(&twin, "[ A = 1 ]", "[ A = 1; B = 1 ]") &&
               !alike(&twin, "[ A = B ]", "[ A = C ]") && !alike(&twin, "[ A = 1 ]", "[ A = B ]") &&
               !alike(&twin, "[ A = other.B > 1 ]", "[ A = other.B >= 1 ]") &&
               !alike(&twin, "[ A = f(1, 2) ]", "[ A = g(1, 2) ]") && !alike(&twin, "[ A = !B ]", "[ A = -B ]"),
           "names and operators may not");
    moulds_go(&twin);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
