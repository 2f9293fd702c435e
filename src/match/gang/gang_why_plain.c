/* gang_why_plain.c: do the ports of offers matter to a request that has none?
 *
 * They do when the request may dock at one of them, as the engine asks too (seeker_meets), and when all offers have ports. */
#include "match/gang/gang_why.h"
#include "match/gang/seeker.h"

struct offers {
    struct tree *const *ads;
    size_t count;
};

/* Every offer is a kind of its own. */
static uint32_t kind_first(const void *user, uint32_t kind)
{
    const struct offers *offers = user;

    return kind < offers->count ? kind : SEEKER_NONE;
}

static uint32_t kind_next(const void *user, uint32_t offer)
{
    (void)user;
    (void)offer;
    return SEEKER_NONE;
}

static uint32_t offer_kind(const void *user, uint32_t offer)
{
    return kind_first(user, offer);
}

static uint64_t offer_order(const void *user, uint32_t offer)
{
    (void)user;
    return offer;
}

static struct tree *offer_ad(const void *user, uint32_t offer)
{
    return ((const struct offers *)user)->ads[offer];
}

static bool request_meets(const struct env *env, struct arena *scratch, const struct policy *policy,
                          const struct tree *request, const struct offers *offers)
{
    struct seeker_pool pool = {.user = offers,
                               .first = kind_first,
                               .next = kind_next,
                               .kind = offer_kind,
                               .order = offer_order,
                               .ad_of_kind = offer_ad,
                               .ad_of_offer = offer_ad};
    struct seeker *seeker = seeker_new(&pool, policy);
    struct arena_mark mark = arena_mark(scratch);
    bool meets;

    seeker_note(seeker, request);
    for (size_t i = 0; i < offers->count; i++)
        seeker_note(seeker, offers->ads[i]);
    for (size_t i = 0; i < offers->count; i++)
        if (gang_why_ported(offers->ads[i]))
            seeker_kind_put(seeker, env, scratch, (uint32_t)i);
    meets = seeker_meets(seeker, env, scratch, request);
    seeker_free(seeker);
    arena_rewind(scratch, mark);
    return meets;
}

bool gang_why_plain(const struct env *env, struct arena *scratch, const struct policy *policy,
                    const struct tree *request, struct tree *const *offers, size_t count, size_t *ret_ported)
{
    struct offers all = {offers, count};
    size_t ported = 0;

    for (size_t i = 0; i < count; i++)
        ported += gang_why_ported(offers[i]);
    *ret_ported = ported;
    if (gang_why_ported(request))
        return false;
    return !ported ||
           (ported < count && count < SEEKER_OFFERS_MAX && !request_meets(env, scratch, policy, request, &all));
}
