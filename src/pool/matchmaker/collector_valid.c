/* collector_valid.c: do the books of the collector balance? */
#include "pool/matchmaker/collector_parts.h"

#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"

static const char *ledger_fault(const struct entry *entry)
{
    uint32_t unnamed = 0;

    for (uint32_t i = 0; i < entry->ledger_count; i++) {
        unnamed += !entry->ledger[i].named;
        if (entry->ledger[i].number > entry->numbered)
            return "a match has a number that was not given yet";
        if (i && entry->ledger[i].number <= entry->ledger[i - 1].number)
            return "the ledger is not in order";
        if (i && entry->ledger[i].settles < entry->ledger[i - 1].settles)
            return "a later match settles before an earlier one";
    }
    return unnamed == entry->unnamed ? NULL : "the matches that no text names are miscounted";
}

static const char *entry_fault(const struct collector *collector, uint32_t number)
{
    const struct entry *entry = &collector->entries[number];
    int64_t left = entry->advertised - (int64_t)entry->unnamed;

    if (entry_find(collector, entry->agent, entry->id) != number)
        return "an entry is not found by its agent and id";
    if (entry->timers == 0 || (entry->state == ENTRY_LIVE && entry->timer == INT64_MAX))
        return "nothing waits for the end of an entry";
    if (entry->state != ENTRY_LIVE)
        return entry->ad || entry->left || engine_ad(collector->engine, number) ? "a dead ad is still there" : NULL;
    if (entry->timer > entry->expires && !MUTANT(LIFETIME_IGNORED))
        return "an ad outlives its lifetime";
    if (!entry->ad || entry->user == ACCOUNTANT_NOBODY)
        return "an ad has no text, or no user";
    if (engine_units(collector->engine, number) != entry->free)
        return "the engine has more or less of an ad than the collector";
    if (entry->left && !entry->dressed && engine_ad(collector->engine, number) != entry->left &&
        !tree_equal(entry->left, tree_root(entry->left), engine_ad(collector->engine, number),
                    tree_root(engine_ad(collector->engine, number))))
        return "the engine has another ad than the collector";
    if (!residual_of(entry->ad) && entry->free != (left > 0 ? left : 0))
        return "what is free is not what was advertised less what is outstanding";
    if (residual_of(entry->ad) &&
        (entry->free > entry->advertised || (!entry->unnamed && entry->free && entry->left != entry->ad)))
        return "what is left of an offer is not what its ledger says";
    return NULL;
}

bool collector_valid(const struct collector *collector, const char **ret_why)
{
    uint64_t entries = 0, lives = 0, bytes = 0, key, both, all_entries = 0, all_lives = 0, all_bytes = 0;
    const char *why = NULL;

    for (uint32_t i = 0; i < collector->count && !why; i++) {
        const struct entry *entry = &collector->entries[i];

        if (entry->state == ENTRY_FREE)
            continue;
        entries++;
        lives += entry->state == ENTRY_LIVE;
        bytes += text_bytes(entry->ad);
        why = ledger_fault(entry);
        if (!why)
            why = entry_fault(collector, i);
    }
    for (uint32_t at = 0; map_next(&collector->agents, &at, &key, &both);) {
        all_entries += both / ENTRY_ONE;
        all_lives += both % ENTRY_ONE;
    }
    for (uint32_t at = 0; map_next(&collector->bytes, &at, &key, &both);)
        all_bytes += both;
    if (!why && (entries != all_entries || lives != all_lives || bytes != all_bytes))
        why = "the agents' ads are not counted right";
    if (why)
        *ret_why = why;
    return !why;
}
