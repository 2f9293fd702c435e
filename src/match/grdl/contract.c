/* contract.c: holds profiles against resources as they are now. */
#include "match/grdl/profile.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>

void grdl_breaches_done(struct grdl_breaches *breaches)
{
    if (!breaches)
        return;
    free(breaches->items);
    *breaches = (struct grdl_breaches){0};
}

static void breach_add(struct grdl_breaches *breaches, struct grdl_breach breach)
{
    ARRAY_ROOM(breaches->items, breaches->count, breaches->room, 8);
    breaches->items[breaches->count++] = breach;
}

/* Checks a minimal profile: every characteristic that was agreed upon is still there. */
static void missing_find(const struct grdl_reading *agreed, const struct grdl_reading *now, uint32_t part,
                         struct grdl_breaches *breaches)
{
    for (uint32_t i = 0; i < agreed->char_count; i++) {
        struct grdl_points chars = grdl_reading_chars(now, agreed->chars[i].dimension);
        bool there = false;

        for (uint32_t j = 0; j < chars.count && !there; j++)
            there = grdl_same_value(&chars.items[j].value, &agreed->chars[i].value);
        if (!there)
            breach_add(breaches, (struct grdl_breach){GRDL_BREACH_MISSING, part, part, agreed->chars[i].from});
    }
}

/* Checks a full profile: `by` meets every requirement of `of`. */
static void unmet_find(enum grdl_mode mode, const struct grdl_reading *const *now, uint32_t of, uint32_t by,
                       struct grdl_breaches *breaches)
{
    bool shared = mode == GRDL_PARTIAL || mode == GRDL_PARTIAL_PEER;

    for (uint32_t i = 0; i < now[of]->req_count; i++) {
        const struct grdl_point *requirement = &now[of]->reqs[i];
        struct grdl_points chars = grdl_reading_chars(now[by], requirement->dimension);

        if ((shared && !chars.count) || grdl_req_met(requirement, chars, NULL))
            continue;
        breach_add(breaches, (struct grdl_breach){GRDL_BREACH_UNMET, by, of, requirement->from});
    }
}

bool grdl_contract_holds(struct grdl_consumer *consumer, const struct grdl_profile *contract, enum grdl_mode mode,
                         const struct grdl_resource *const *now, struct grdl_breaches *ret_breaches)
{
    uint32_t count = contract->parts.count;
    struct grdl_reading **agreed = mem_alloc((2 * (size_t)count + 1) * sizeof *agreed);
    struct grdl_reading **current = agreed + count;
    struct grdl_breaches breaches = {0};
    bool holds, one_way = mode == GRDL_ONE_WAY || mode == GRDL_PARTIAL;

    for (uint32_t i = 0; i < count; i++) {
        const struct grdl_resource *part = contract->parts.items[i];

        agreed[i] = grdl_read(consumer, part);
        current[i] = grdl_read(consumer, now && now[i] ? now[i] : part);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (contract->kind == GRDL_PROFILE_MINIMAL)
            missing_find(agreed[i], current[i], i, &breaches);
        for (uint32_t j = 0; contract->kind == GRDL_PROFILE_FULL && (i > 0 || !one_way) && j < count; j++)
            if (i != j)
                unmet_find(mode, (const struct grdl_reading *const *)current, i, j, &breaches);
    }
    for (uint32_t i = 0; i < 2 * count; i++)
        grdl_reading_free(agreed[i]);
    free(agreed);
    holds = !breaches.count && contract->kind != GRDL_PROFILE_FAILURE;
    if (ret_breaches)
        *ret_breaches = breaches;
    else
        grdl_breaches_done(&breaches);
    return holds;
}
