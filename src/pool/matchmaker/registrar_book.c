/* registrar_book.c: what claims have used, on its way into the book of the registrar.
 *
 *     report -> tally of the claim -> book, with the claim's row -> disk       every TALLY_SPAN, if there is anything
 *
 * Claims that are over are booked at once, in memory; those that go on when they are due, some at a time. Whatever is booked between two writings is
 * written in one commit with the rows of its claims. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/matchmaker/registrar.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>

static void book_schedule(struct registrar *registrar, int64_t at)
{
    if (at >= registrar->book_next)
        return;
    registrar->book_next = at;
    timers_set(registrar->timers, at, registrar->timer_book, 0);
}

/* With the next writing the claim's row is to say what the book says; or to go, when the claim is over. */
static void row_settle(struct registrar *registrar, uint64_t claim)
{
    ARRAY_ROOM(registrar->tallied, registrar->tallied_count, registrar->tallied_room, 64);
    registrar->tallied[registrar->tallied_count++] = claim;
}

enum reason registrar_book_take(struct registrar *registrar, const struct role_env *env, struct tally *tally,
                                const struct report *report, int64_t charged, int64_t known)
{
    enum reason reason = tally_take(tally, report, charged, known, registrar->spans, env, &registrar->book);

    if (tally->ahead)
        row_settle(registrar, report->claim);
    tally->ahead = false;
    if (reason == REASON_OK)
        book_schedule(registrar, env->now + TALLY_SPAN);
    return reason;
}

void registrar_book_settle(struct registrar *registrar, uint64_t claim, struct tally *tally)
{
    tally_book(tally, &registrar->book);
    tally->waits = tally->ahead = false;
    row_settle(registrar, claim);
}

void registrar_book_end(struct registrar *registrar, uint64_t claim, struct tally *tally)
{
    if (!tally)
        return;
    tally_book(tally, &registrar->book);
    if (tally->row)
        row_settle(registrar, claim);
    free(tally);
}

/* ---------------------------------------------------------------------------------------------------------- on disk */

void registrar_book_load(struct registrar *registrar, const struct role_env *env, const struct record *record)
{
    if (record->removed)
        return;
    if (record->kind == RECORD_USAGE) {
        usage_book_load(&registrar->book, record);
        return;
    }
    ARRAY_ROOM(registrar->loaded, registrar->loaded_count, registrar->loaded_room, 64);
    map_set(&registrar->tallies, record->key, registrar->loaded_count);
    registrar->loaded[registrar->loaded_count] = mem_alloc(sizeof **registrar->loaded);
    tally_load(registrar->loaded[registrar->loaded_count++], &record->u.tally_record, env);
    book_schedule(registrar, env->now + TALLY_KEEP);
}

bool registrar_book_has(const struct registrar *registrar, uint64_t claim)
{
    return map_find(&registrar->tallies, claim) != MAP_NONE;
}

struct tally *registrar_book_learn(struct registrar *registrar, const struct receipt *receipt, int64_t weight)
{
    uint64_t found = map_find(&registrar->tallies, receipt->claim);
    struct tally *tally;

    if (found != MAP_NONE) {
        tally = registrar->loaded[found];
        registrar->loaded[found] = NULL;
        map_remove(&registrar->tallies, receipt->claim);
        if (MUTANT(TALLY_ANEW))
            tally->counted = tally->booked = tally->all = (struct tally_counts){0};
    } else {
        tally = mem_alloc(sizeof *tally);
        *tally = (struct tally){.unsure = true};
    }
    tally->account = receipt->account;
    tally->weight = weight;
    return tally;
}

/* Nothing was heard for long of claims that have rows: they are over. */
static void loaded_forget(struct registrar *registrar)
{
    uint64_t claim, place;

    for (uint32_t at = 0; map_next(&registrar->tallies, &at, &claim, &place);) {
        free(registrar->loaded[place]);
        registrar->loaded[place] = NULL;
        row_settle(registrar, claim);
    }
    map_done(&registrar->tallies);
    map_init(&registrar->tallies, registrar->claims.seed);
}

/* The tally of a claim that is known, whether it goes on or only fell silent; or NULL. */
static struct tally *tally_of(const struct registrar *registrar, uint64_t claim)
{
    uint64_t active = map_find(&registrar->claims, claim), past = map_find(&registrar->past, claim);

    return active != MAP_NONE ? registrar->active[active].tally
           : past != MAP_NONE ? registrar->history[past].tally
                              : NULL;
}

/* Books claims that go on, as they are due, some at a time; returns when the next is. */
static int64_t claims_book(struct registrar *registrar, const struct role_env *env)
{
    uint32_t looks = 0, rows = 0;
    int64_t next = INT64_MAX;

    for (; looks < TALLY_LOOKS && looks < registrar->count && rows < TALLY_ROWS; looks++, registrar->book_at++) {
        struct active_claim *claim;

        if (registrar->book_at >= registrar->count)
            registrar->book_at = 0;
        claim = &registrar->active[registrar->book_at];
        if (!claim->claim || !claim->tally->waits)
            continue;
        if (claim->tally->due > env->now) {
            next = claim->tally->due < next ? claim->tally->due : next;
            continue;
        }
        registrar_book_settle(registrar, claim->claim, claim->tally);
        claim->tally->due = env->now + TALLY_AGAIN;
        rows++;
    }
    return looks < registrar->count ? env->now : next;
}

void registrar_book_due(struct registrar *registrar, const struct role_env *env, struct effects *effects)
{
    int64_t next;

    if (env->now < registrar->book_next) /* another timer was set before this one */
        return;
    registrar->book_next = INT64_MAX;
    if (map_count(&registrar->tallies) && env->now >= registrar->began + TALLY_KEEP)
        loaded_forget(registrar);
    next = claims_book(registrar, env);
    for (uint32_t i = 0; i < registrar->tallied_count; i++) {
        struct tally *tally = tally_of(registrar, registrar->tallied[i]);

        if (tally)
            tally_write(tally, registrar->tallied[i], env, effects);
        else
            effects_remove(effects, RECORD_TALLY, registrar->tallied[i]);
    }
    registrar->tallied_count = 0;
    usage_book_write(&registrar->book, effects); /* last: of a disk that takes only a part, nothing counts twice */
    if (usage_book_is_dirty(&registrar->book)) {
        next = env->now;
    } else {
        registrar->writings++;
        registrar->written_by = effects->persists;
    }
    if (next != INT64_MAX)
        book_schedule(registrar, next > env->now + TALLY_SPAN ? next : env->now + TALLY_SPAN);
    if (map_count(&registrar->tallies))
        book_schedule(registrar, registrar->began + TALLY_KEEP);
}

void registrar_book_done(struct registrar *registrar)
{
    for (uint32_t i = 0; i < registrar->loaded_count; i++)
        free(registrar->loaded[i]);
    for (uint32_t i = 0; i < registrar->history_count; i++)
        free(registrar->history[i].tally);
    free(registrar->loaded);
    free(registrar->tallied);
    map_done(&registrar->tallies);
    usage_book_done(&registrar->book);
}
