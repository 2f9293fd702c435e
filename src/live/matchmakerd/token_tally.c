/* token_tally.c: how many tokens that are on record each account has had made, and which of them a code has bought. */
#include "live/matchmakerd/token_tally.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
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
    free(tally->bought);
    *tally = (struct token_tally){.counts = NULL};
}

static bool row_account(const struct tree *row, const char **ret, size_t *ret_len)
{
    if (!row || !ad_find(row, "How") || !ad_string(row, "By", ret, ret_len))
        return false;
    *ret_len = account_len(*ret, *ret_len);
    return *ret_len > 0;
}

static void account_add(struct token_tally *tally, const struct tree *row)
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

void token_tally_add(struct token_tally *tally, const char id[TOKEN_ID_DIGITS], const struct tree *row)
{
    struct token_bought bought = {{0}, {0}};

    account_add(tally, row);
    if (!row || !ad_text(row, "Code", bought.code, sizeof bought.code))
        return;
    memcpy(bought.id, id, TOKEN_ID_DIGITS);
    ARRAY_ROOM(tally->bought, tally->bought_count, tally->bought_room, 64);
    tally->bought[tally->bought_count++] = bought;
}

static void account_remove(struct token_tally *tally, const struct tree *row)
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

void token_tally_remove(struct token_tally *tally, const char id[TOKEN_ID_DIGITS], const struct tree *row)
{
    uint32_t at = 0;

    account_remove(tally, row);
    if (!row || !ad_find(row, "Code"))
        return;
    while (at < tally->bought_count && memcmp(tally->bought[at].id, id, TOKEN_ID_DIGITS) != 0)
        at++;
    if (at < tally->bought_count)
        tally->bought[at] = tally->bought[--tally->bought_count];
}

const char *token_tally_bought(const struct token_tally *tally, const char *code, uint32_t *at)
{
    while (*at < tally->bought_count) {
        const struct token_bought *bought = &tally->bought[(*at)++];

        if (!strcmp(bought->code, code))
            return bought->id;
    }
    return NULL;
}

uint64_t token_tally_of(const struct token_tally *tally, const char *account)
{
    uint32_t place = textmap_find(&tally->accounts, account, strlen(account));

    return place == TEXTMAP_NONE ? 0 : tally->counts[place];
}
