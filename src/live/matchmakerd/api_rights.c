/* api_rights.c: what a user may do in the pool, and why: tokens, roles, being disabled, accounts, groups, limits.
 *
 *     [ Type = "Rights"; Name; Disabled; By; At; Reason; Now; Scope; Tokens = { [ Id; Subject; Scope; Role; Issued; Expires; By;
 *       Delegable; Good; Why ] }; TokensMore; Accounts = { [ a row of /v1/users ] }; Groups = { [ a row of /v1/groups ] }; Agents; Ads;
 *       Limits = [ ... ] ]
 *
 * No token is in it, only what is recorded about tokens. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/auth/roles.h"
#include "live/http/represent.h"
#include "pool/matchmaker/groups.h"
#include "pool/protocol/account.h"

#include <stdio.h>
#include <string.h>

#define ROWS_MAX 100 /* tokens, accounts or groups that are told */

/* Rows for one list of the answer. */
struct row_list {
    struct tree *items[ROWS_MAX];
    uint32_t count, more;
};

static void list_add(struct row_list *list, struct tree *ad)
{
    if (list->count < ROWS_MAX) {
        list->items[list->count++] = ad;
    } else {
        list->more++;
        tree_unref(ad);
    }
}

static void list_into(struct row_list *list, struct maker *maker, const char *name)
{
    maker_list(maker, name, list->items, list->count);
    while (list->count)
        tree_unref(list->items[--list->count]);
}

/* -------------------------------------------------------------------------------------------------------------- tokens */

struct token_tour {
    struct matchmakerd *matchmakerd;
    const char *name;
    bool disabled;
    int64_t now;
    scopes scope; /* of all that are good */
    struct row_list tokens;
};

static void token_tell(struct token_tour *tour, const struct tree *row, const char *subject, bool revoked)
{
    int64_t expires = 0;
    const char *text, *why = NULL;
    const struct role_row *role;
    struct maker maker;
    scopes scope = SCOPE_NONE;
    size_t len;

    if (ad_string(row, "Scope", &text, &len))
        scopes_read(text, len, &scope);
    ad_integer(row, "Expires", &expires);
    why = revoked ? "revoked" : expires <= tour->now ? "expired" : tour->disabled ? "disabled" : NULL;
    if (!why)
        tour->scope |= scope;
    role = role_of(scope, subject);
    maker_init(&maker, tour->matchmakerd->symbols);
    maker_parts(&maker, row, "Type");
    maker_text(&maker, "Role", role ? role->name : NULL);
    maker_flag(&maker, "Good", !why);
    maker_text(&maker, "Why", why);
    list_add(&tour->tokens, maker_seal(&maker));
}

static bool token_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct token_tour *tour = user;
    char subject[TOKEN_NAME_MAX + 1];
    const char *text;
    size_t text_len;
    struct err err;
    struct tree *row = form_parse(tour->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    if (row && ad_string(row, "Subject", &text, &text_len) && text_len < sizeof subject) {
        snprintf(subject, sizeof subject, "%.*s", (int)text_len, text);
        if (identity_is_of(subject, strlen(subject), tour->name))
            token_tell(tour, row, subject, textmap_find(&tour->matchmakerd->revoked, key, key_len) != TEXTMAP_NONE);
    }
    tree_unref(row);
    return true;
}

/* ------------------------------------------------------------------------------------------------- accounts and groups */

static void accounts_add(struct matchmakerd *matchmakerd, const char *name, struct row_list *list)
{
    struct user_view view;
    uint32_t from = 0;

    while (matchmaker_next_user(matchmakerd->matchmaker, runner_wall() / SECOND, from, &view, &from)) {
        const char *mark = strchr(view.name, GROUPS_MARK);

        if (!strcmp(mark ? mark + 1 : view.name, name))
            list_add(list, user_row(matchmakerd, &view));
    }
}

static void groups_add(struct matchmakerd *matchmakerd, const char *name, struct row_list *list)
{
    struct group_view view;
    uint32_t from = 0;

    while (matchmaker_next_group(matchmakerd->matchmaker, from, &view, &from))
        if (matchmaker_group_takes(matchmakerd->matchmaker, view.name, name))
            list_add(list, group_row(matchmakerd, &view));
}

/* The limits of an account, as the settings have them. */
static void limits_add(const struct matchmakerd *matchmakerd, struct maker *maker)
{
    static const enum config_key counts[] = {CONFIG_REQUESTS_PER_SECOND, CONFIG_AGENT_REQUESTS_PER_SECOND,
                                             CONFIG_ADS_PER_IDENTITY};
    static const char *const names[] = {"RequestsPerSecond", "AgentRequestsPerSecond", "AdsPerIdentity"};
    struct maker limits;
    struct tree *ad;

    maker_init(&limits, matchmakerd->symbols);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        maker_integer(&limits, names[i], (int64_t)config_count(&matchmakerd->config, counts[i]));
    maker_integer(&limits, "AdBytesPerIdentity",
                  (int64_t)config_size(&matchmakerd->config, CONFIG_AD_BYTES_PER_IDENTITY));
    ad = maker_seal(&limits);
    maker_ad(maker, "Limits", ad);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- answer */

/* How many agents the user has, and ads of theirs. */
static uint32_t agents_count(const struct matchmakerd *matchmakerd, const char *name, int64_t *ret_ads)
{
    uint32_t count = 0;

    *ret_ads = 0;
    for (uint32_t i = 0; i < matchmakerd->agents.texts.places; i++) {
        const struct agent_row *row = &matchmakerd->agents.items[i];
        const char *identity = row->handle ? caller_text(&matchmakerd->gate.callers, row->identity) : NULL;

        if (!identity || !identity_is_of(identity, strlen(identity), name))
            continue;
        count++;
        *ret_ads += row->ads;
    }
    return count;
}

static void standing_add(struct maker *maker, const struct disabled_entry *entry)
{
    maker_flag(maker, "Disabled", entry);
    if (!entry)
        return;
    maker_text(maker, "By", entry->by);
    maker_integer(maker, "At", entry->at);
    maker_text(maker, "Reason", entry->reason);
    maker_flag(maker, "Now", entry->now);
}

static void rights_answer(struct request *request, const char *name)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct disabled_entry *entry = disabled_find(&matchmakerd->disabled, name, strlen(name));
    struct token_tour tour = {
        .matchmakerd = matchmakerd, .name = name, .disabled = entry, .now = runner_wall() / SECOND};
    struct row_list accounts = {.count = 0}, groups = {.count = 0};
    struct maker maker;
    struct buf scope;
    struct err err;
    int64_t ads;
    uint32_t agents = agents_count(matchmakerd, name, &ads);

    matchmakerd->shelf->kind->each(matchmakerd->shelf, TOKEN_SPACE, token_row, &tour, &err);
    accounts_add(matchmakerd, name, &accounts);
    if (!entry && !tour.tokens.count && !accounts.count && !agents) {
        request_problem(request, 404, "nothing is known of that user");
        return;
    }
    groups_add(matchmakerd, name, &groups);
    buf_init(&scope);
    scopes_print(&scope, tour.scope);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Rights");
    maker_text(&maker, "Name", name);
    standing_add(&maker, entry);
    maker_text(&maker, "Scope", buf_string(&scope));
    list_into(&tour.tokens, &maker, "Tokens");
    if (tour.tokens.more)
        maker_integer(&maker, "TokensMore", tour.tokens.more);
    list_into(&accounts, &maker, "Accounts");
    list_into(&groups, &maker, "Groups");
    maker_integer(&maker, "Agents", agents);
    maker_integer(&maker, "Ads", ads);
    limits_add(matchmakerd, &maker);
    buf_done(&scope);
    request_ad_take(request, 200, maker_seal(&maker));
}

void api_user_rights(struct request *request)
{
    const char *name = request_variable(request, 0);

    if (!subject_valid(name, strlen(name)) || strlen(name) > TEXT_MAX)
        request_problem(request, 400, "that is not a user name");
    else if (!request_any(request) && !identity_owns(name, request_identity(request)))
        request_problem(request, 404, "nothing is known of that user, or it is for administrators to see");
    else
        rights_answer(request, name);
}
