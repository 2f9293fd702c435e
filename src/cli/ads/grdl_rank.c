/* grdl_rank.c: berth grdl rank: whom resources would rather have (chapter 7). */
#include "cli/ads/grdl.h"

#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "match/grdl/matcher.h"
#include "match/grdl/rank.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const rank_columns[] = {"who", "place", "candidate", "decided_by"};

/* Prints the preference that put this candidate behind the one before; nothing where they are tied. */
static void decided_cell(struct grdl_run *run, const struct grdl_reading *who, const struct grdl_reading *before,
                         const struct grdl_reading *this_one)
{
    uint32_t preference = 0;

    buf_reset(&run->text);
    if (before && grdl_prefer(who, before, this_one, &preference) != 0 && preference < who->pref_count)
        grdl_property_print(&run->text, who->prefs[preference].from, &who->prefs[preference].match);
    table_text(&run->table, run->text.text, run->text.len);
}

/* Finds the candidates that may be ranked: all of the other side, or those that match as asked. */
static uint32_t candidates_find(const struct grdl_run *run, uint32_t who, enum grdl_mode mode, bool any,
                                const struct grdl_reading **ret_readings, uint32_t *ret_numbers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->resources.count; i++) {
        if (!grdl_may_pair(run, who, i) || (!any && !grdl_pair(mode, run->readings[i], run->readings[who], NULL)))
            continue;
        ret_readings[count] = run->readings[i];
        ret_numbers[count++] = i;
    }
    return count;
}

static uint32_t ranking_print(struct grdl_run *run, uint32_t who, enum grdl_mode mode, bool any)
{
    uint32_t most = run->resources.count + 1, ranked;
    const struct grdl_reading **candidates = mem_alloc(most * sizeof *candidates);
    struct grdl_ranked *order = mem_alloc(most * sizeof *order);
    uint32_t *numbers = mem_alloc(most * sizeof *numbers);
    uint32_t count = candidates_find(run, who, mode, any, candidates, numbers);

    ranked = grdl_rank(run->readings[who], candidates, count, (uint32_t)run->settings->top, order);
    for (uint32_t i = 0; i < ranked; i++) {
        grdl_name_cell(run, who);
        table_number(&run->table, "%" PRIu32, order[i].position);
        grdl_name_cell(run, numbers[order[i].candidate]);
        if (run->settings->explain)
            decided_cell(run, run->readings[who], i ? candidates[order[i - 1].candidate] : NULL,
                         candidates[order[i].candidate]);
    }
    free(candidates);
    free(order);
    free(numbers);
    return ranked;
}

int grdl_ranking(struct grdl_run *run)
{
    static const struct {
        const char *word;
        enum grdl_mode mode;
    } modes[] = {{"one-way", GRDL_ONE_WAY}, {"peer", GRDL_PEER}, {"partial", GRDL_PARTIAL}};
    const char *kind = run->settings->kind;
    size_t row = 0;
    uint32_t found = 0;

    while (kind && row < 3 && strcmp(kind, modes[row].word) != 0)
        row++;
    if (row == 3) {
        report("grdl rank: --kind: expected one-way, peer or partial, got '%.60s'", kind);
        return STATUS_BAD;
    }
    table_init(&run->table, rank_columns, run->settings->explain ? 4 : 3, run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++)
        if (run->readings[i]->pref_count)
            found += ranking_print(run, i, modes[row].mode, !kind);
    table_finish(&run->table);
    table_done(&run->table);
    return found ? STATUS_DONE : STATUS_NO;
}
