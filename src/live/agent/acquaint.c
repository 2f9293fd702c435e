/* acquaint.c: somebody claims us whom we could not answer: the news of our match was lost with the matchmaker that had it, or is late. That
 * one, or the next, is asked how the other is reached; until that is known no claim is taken, for it could not be kept. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACQUAINT_MAX 64 /* questions under way in a pool */

struct acquaintance {
    struct acquaintance *next;
    struct membership *pool;
    uint64_t from; /* as the pool has it */
};

/* Takes what the matchmaker says of an agent. The address counts only if it was checked. */
static void row_take(struct membership *pool, const char *text, size_t len)
{
    struct tree *row, *known;
    const char *state;
    size_t state_len;
    struct err err;

    row = form_parse(pool->live->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, len, &err);
    if (!row)
        return;
    known = ad_string(row, "ContactState", &state, &state_len) && state_len == 4 && !memcmp(state, "good", 4)
                ? tree_ref(row)
                : ad_without(row, "Contact");
    if (contacts_take(&pool->contacts, known, tree_root(known)))
        runner_commit(pool->live->runner, NULL, NULL);
    tree_unref(known);
    tree_unref(row);
}

static void acquaint_done(void *user, unsigned status, const char *text, size_t len)
{
    struct acquaintance *one = user, **link = &one->pool->acquaintances;

    (void)status;
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    /* The news of the match may have come meanwhile: it says as much, and is not older. */
    if (text && !contact_is_reached(one->pool, contacts_find(&one->pool->contacts, handle_enter(one->pool, one->from))))
        row_take(one->pool, text, len);
    free(one);
}

void agent_acquaint(struct membership *pool, uint64_t from)
{
    struct acquaintance *one;
    uint32_t count = 0;
    char path[48];

    for (one = pool->acquaintances; one; one = one->next, count++)
        if (one->from == from)
            return;
    if (count >= ACQUAINT_MAX)
        return;
    one = mem_alloc(sizeof *one);
    *one = (struct acquaintance){.next = pool->acquaintances, .pool = pool, .from = from};
    pool->acquaintances = one;
    snprintf(path, sizeof path, "/v1/agents/%016" PRIx64, from);
    if (!agent_fetch(pool->live, pool->matchmaker, path, acquaint_done, one))
        acquaint_done(one, 0, NULL, 0);
}
