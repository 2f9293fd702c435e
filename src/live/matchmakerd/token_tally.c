/* token_tally.c: how many tokens that are on record each account has had made. */
#include "live/matchmakerd/token_tally.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "pool/protocol/account.h"

#include <stdlib.h>
#include <string.h>

void token_tally_init(struct token_tally *tally, uint64_t seed)
{
    *tally = (struct token_tally){.counts = NULL};
    textmap_init(&tally->accounts, seed);
}

void token_tally_done(struct token_tally *tally)
{
    textmap_done(&tally->accounts);
    free(tally->counts);
    *tally = (struct token_tally){.counts = NULL};
}

static bool row_account(const struct tree *row, const char **ret, size_t *ret_len)
{
    if (!row || !ad_find(row, "How") || !ad_string(row, "By", ret, ret_len))
        return false;
    *ret_len = account_len(*ret, *ret_len);
    return *ret_len > 0;
}

void token_tally_add(struct token_tally *tally, const struct tree *row)
{
    const char *account;
    uint32_t place, known;
    size_t len;

    if (!row_account(row, &account, &len))
        return;
    known = tally->accounts.count;
    place = textmap_add(&tally->accounts, account, len);
    if (place >= tally->room) {
        tally->room = place * 2 + 16;
        tally->counts = mem_grow(tally->counts, tally->room * sizeof *tally->counts);
    }
    tally->counts[place] = (tally->accounts.count > known ? 0 : tally->counts[place]) + 1;
}

void token_tally_remove(struct token_tally *tally, const struct tree *row)
{
    const char *account;
    uint32_t place;
    size_t len;

    if (!row_account(row, &account, &len))
        return;
    place = textmap_find(&tally->accounts, account, len);
    if (place != TEXTMAP_NONE && !--tally->counts[place])
        textmap_remove(&tally->accounts, place);
}

uint64_t token_tally_of(const struct token_tally *tally, const char *account)
{
    uint32_t place = textmap_find(&tally->accounts, account, strlen(account));

    return place == TEXTMAP_NONE ? 0 : tally->counts[place];
}
