/* api_shares.c: groups, quotas and limits: the present ones, what is in use, and the reasons for a user's place. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/json.h"
#include "live/http/represent.h"
#include "pool/matchmaker/shares.h"
#include "pool/matchmaker/user_why.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHARES_KEY "shares" /* in the space of policies */
#define FILE_MAX (1u << 20)

/* ------------------------------------------------------------------------------------------------------ what is configured */

static int shares_check(struct tree *ad, struct err *err)
{
    struct shares shares;

    if (shares_read(ad, &shares, err) < 0)
        return -1;
    shares_done(&shares);
    return 0;
}

static int shares_file(struct matchmakerd *matchmakerd, const char *path, struct tree **ret, struct err *err)
{
    FILE *file = fopen(path, "r");
    struct buf text;
    int c;

    if (!file)
        return err_set(err, "%s: the file of groups and limits cannot be read", path);
    buf_init(&text);
    while ((c = getc(file)) != EOF && text.len < FILE_MAX)
        buf_addc(&text, (char)c);
    fclose(file);
    *ret = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    buf_done(&text);
    if (*ret && shares_check(*ret, err) == 0)
        return 0;
    tree_unref(*ret);
    *ret = NULL;
    return err_context(err, "%s", path);
}

static bool shares_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct matchmakerd *matchmakerd = user;
    struct err err;

    (void)key;
    (void)key_len;
    matchmakerd->shares = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    return false;
}

int shares_load(struct matchmakerd *matchmakerd, struct err *err)
{
    const char *file = config_text(&matchmakerd->config, CONFIG_SHARES);

    if (matchmakerd->shelf->kind->get(matchmakerd->shelf, POLICY_SPACE, SHARES_KEY, strlen(SHARES_KEY), shares_row,
                                      matchmakerd, err) < 0)
        return -1;
    matchmakerd->shares_put = matchmakerd->shares != NULL;
    return !matchmakerd->shares && *file ? shares_file(matchmakerd, file, &matchmakerd->shares, err) : 0;
}

static void shares_apply(struct matchmakerd *matchmakerd, struct tree *ad)
{
    tree_unref(matchmakerd->shares);
    matchmakerd->shares = ad;
    runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_SHARES, .ad = ad});
}

void shares_reload(struct matchmakerd *matchmakerd, bool changed)
{
    const char *file = config_text(&matchmakerd->config, CONFIG_SHARES);
    struct tree *ad = NULL;
    struct err err = {0};

    if (!changed && (matchmakerd->shares_put || !*file))
        return;
    if (*file && shares_file(matchmakerd, file, &ad, &err) < 0) {
        LOG(&matchmakerd->log, LEVEL_ERROR, "shares.refused", log_text("why", err.text));
        return;
    }
    matchmakerd->shares_put = false;
    shares_apply(matchmakerd, ad);
}

static void shares_answer(struct request *request)
{
    request_kept(request, request_matchmakerd(request)->shares);
}

void api_shares_get(struct request *request)
{
    char etag[32];

    kept_etag(request_matchmakerd(request)->shares, etag);
    if (!answered_unchanged(request, etag))
        shares_answer(request);
}

void api_shares_put(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct tree *ad = request_body_ad(request);
    struct err err = {0};
    struct buf text;
    char etag[32];
    int failed;

    if (!ad)
        return;
    kept_etag(matchmakerd->shares, etag);
    if (ad->dialect != &dialect_classic || shares_check(ad, &err) < 0) {
        request_problem(request, 400, "%s", *err.text ? err.text : "it is written in the classic dialect");
        tree_unref(ad);
        return;
    }
    if (!conditions_met(request, etag)) {
        tree_unref(ad);
        return;
    }
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    failed = matchmakerd->shelf->kind->put(matchmakerd->shelf, POLICY_SPACE, SHARES_KEY, strlen(SHARES_KEY), text.text,
                                           text.len, &err);
    buf_done(&text);
    if (failed) {
        tree_unref(ad);
        request_store_failed(request, err.text);
        return;
    }
    matchmakerd->shares_put = true;
    shares_apply(matchmakerd, ad);
    LOG_AUDIT(&matchmakerd->log, "shares", log_text("subject", request_identity(request)));
    if (request_audit(request, "shares.put", "shares", NULL))
        request_commit(request, shares_answer);
}

/* ----------------------------------------------------------------------------------------------------------- what is in use */

struct tree *group_row(struct matchmakerd *matchmakerd, const struct group_view *view)
{
    struct maker maker;
    char name[16];

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Group");
    maker_text(&maker, "Name", view->name);
    maker_real(&maker, "Quota", view->quota);
    maker_real(&maker, "Used", view->used);
    maker_flag(&maker, "Surplus", view->surplus);
    maker_real(&maker, "Pool", matchmaker_pool(matchmakerd->matchmaker));
    for (int i = 0; i < SHARE_KINDS; i++) {
        if (!isfinite(view->kinds[i]))
            continue;
        snprintf(name, sizeof name, "%sQuota", share_kinds[i]);
        maker_real(&maker, name, view->kinds[i]);
        snprintf(name, sizeof name, "%sUsed", share_kinds[i]);
        maker_real(&maker, name, view->kinds_used[i]);
    }
    return maker_seal(&maker);
}

static bool groups_step(struct scan *scan)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct group_view view;

    return matchmaker_next_group(matchmakerd->matchmaker, scan->from, &view, &scan->from) &&
           collection_add((struct collection *)scan, group_row(matchmakerd, &view));
}

/* Lets quotas that are parts of the pool be those of the pool as it is now. */
static void pool_weigh(struct matchmakerd *matchmakerd)
{
    runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_WEIGH});
}

void api_groups_list(struct request *request)
{
    pool_weigh(request_matchmakerd(request));
    collection_tour(request, groups_step);
}

static bool limits_step(struct scan *scan)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct limit_view view;
    struct maker maker;

    if (!matchmaker_next_limit(matchmakerd->matchmaker, scan->from, &view, &scan->from))
        return false;
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Limit");
    maker_text(&maker, "Name", view.name);
    if (view.most >= 0)
        maker_integer(&maker, "Most", view.most);
    maker_integer(&maker, "Used", view.used);
    return collection_add((struct collection *)scan, maker_seal(&maker));
}

void api_limits_list(struct request *request)
{
    collection_tour(request, limits_step);
}

/* --------------------------------------------------------------------------------------------------------------------- why */

static const char *const hold_words[] = {
    [HOLD_QUOTA] = "quota",       [HOLD_LIMIT] = "limit",     [HOLD_NEVER] = "never",     [HOLD_LEARNS] = "learns",
    [HOLD_NO_GROUP] = "no-group", [HOLD_NOT_HIS] = "not-his", [HOLD_GAVE_UP] = "gave-up",
};

/* For people: %s stands for the name. */
static const char *const hold_sentences[] = {
    [HOLD_QUOTA] = "the quota of the group %s",
    [HOLD_LIMIT] = "the limit %s",
    [HOLD_NEVER] = "more of a limit than there is%s: that never comes",
    [HOLD_LEARNS] = "what is in use of limits to be known%s: the matchmaker has begun lately",
    [HOLD_GAVE_UP] = "its next try%s: looking for an offer took too long in the last cycle, and was given up",
};

static bool hold_find(const struct matchmakerd *matchmakerd, const char *id, struct user_hold *ret)
{
    uint32_t place =
        ids_next(&matchmakerd->ids, id, strlen(id), TEXTMAP_NONE); /* the caller has found out whose it is */

    return place != TEXTMAP_NONE && request_hold(matchmakerd->matchmaker, matchmakerd->ids.items[place].agent,
                                                 matchmakerd->ids.items[place].id, ret);
}

static void hold_print(struct buf *out, const struct user_hold *hold)
{
    const char *sentence = hold_sentences[hold->kind], *gap = strstr(sentence, "%s");

    buf_adds(out, "It waits for ");
    buf_add(out, sentence, (size_t)(gap - sentence));
    buf_addf(out, "%s%s", hold->name.bytes, gap + 2);
    if (hold->kind <= HOLD_LIMIT)
        buf_addf(out, " (%g of %g in use)", hold->used, hold->most);
    buf_addc(out, '.');
}

void shares_explain(const struct matchmakerd *matchmakerd, const char *id, struct buf *out)
{
    struct user_hold hold;

    if (!hold_find(matchmakerd, id, &hold))
        return;
    hold_print(out, &hold);
    buf_addc(out, '\n');
}

bool shares_explain_json(const struct matchmakerd *matchmakerd, const char *id, struct buf *out)
{
    struct user_hold hold;
    struct buf words;

    if (!hold_find(matchmakerd, id, &hold))
        return false;
    buf_init(&words);
    hold_print(&words, &hold);
    buf_addf(out, "{\"kind\": \"%s\"", hold_words[hold.kind]);
    if (*hold.name.bytes) {
        buf_adds(out, ", \"name\": ");
        json_quote(out, hold.name.bytes, strlen(hold.name.bytes));
    }
    if (hold.kind <= HOLD_LIMIT)
        buf_addf(out, ", \"used\": %g, \"most\": %g", hold.used, hold.most);
    buf_adds(out, ", \"text\": ");
    json_quote(out, words.text, words.len);
    buf_addc(out, '}');
    buf_done(&words);
    return true;
}

static struct tree *hold_row(struct matchmakerd *matchmakerd, const struct user_hold *hold)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Kind", hold_words[hold->kind]);
    if (*hold->name.bytes)
        maker_text(&maker, "Name", hold->name.bytes);
    if (hold->kind <= HOLD_LIMIT) {
        maker_real(&maker, "Used", hold->used);
        maker_real(&maker, "Most", hold->most);
    }
    maker_integer(&maker, "Requests", (int64_t)hold->requests);
    return maker_seal(&maker);
}

static struct tree *ahead_row(struct matchmakerd *matchmakerd, const struct user_ahead *ahead)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Name", ahead->name.bytes);
    maker_real(&maker, "Usage", ahead->usage);
    maker_real(&maker, "Factor", ahead->factor);
    maker_real(&maker, "Units", ahead->units);
    maker_real(&maker, "Priority", ahead->priority);
    maker_text(&maker, "Group", *ahead->group.bytes ? ahead->group.bytes : NULL);
    return maker_seal(&maker);
}

static void why_lists(struct matchmakerd *matchmakerd, struct maker *maker, const struct user_why *why)
{
    struct tree *ahead[USER_WHY_AHEAD], *holds[USER_WHY_REASONS];

    for (uint32_t i = 0; i < why->ahead_count; i++)
        ahead[i] = ahead_row(matchmakerd, &why->ahead[i]);
    for (uint32_t i = 0; i < why->hold_count; i++)
        holds[i] = hold_row(matchmakerd, &why->holds[i]);
    maker_list(maker, "Ahead", ahead, why->ahead_count);
    maker_list(maker, "Holds", holds, why->hold_count);
    for (uint32_t i = 0; i < why->ahead_count; i++)
        tree_unref(ahead[i]);
    for (uint32_t i = 0; i < why->hold_count; i++)
        tree_unref(holds[i]);
}

/* Names with commas between; nothing when there are none. */
static void why_names(struct maker *maker, const char *attribute, const struct text *items, uint32_t count)
{
    struct buf names;

    if (!count)
        return;
    buf_init(&names);
    for (uint32_t i = 0; i < count; i++)
        buf_addf(&names, "%s%s", i ? ", " : "", items[i].bytes);
    maker_text(maker, attribute, buf_string(&names));
    buf_done(&names);
}

static struct tree *why_ad(struct matchmakerd *matchmakerd, const struct user_why *why)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "UserWhy");
    maker_text(&maker, "Name", why->name.bytes);
    maker_real(&maker, "Usage", why->usage);
    maker_real(&maker, "HalfLife", why->half_life);
    maker_real(&maker, "UsageLater", why->later);
    maker_real(&maker, "Factor", why->factor);
    maker_real(&maker, "Units", why->units);
    maker_integer(&maker, "Claims", why->claims);
    maker_real(&maker, "Priority", why->priority);
    maker_integer(&maker, "Requests", (int64_t)why->requests);
    maker_integer(&maker, "Place", why->place);
    maker_integer(&maker, "Places", why->places);
    if (*why->group.bytes) {
        maker_text(&maker, "Group", why->group.bytes);
        maker_real(&maker, "Quota", why->quota);
        maker_real(&maker, "GroupUnits", why->group_units);
        maker_flag(&maker, "Surplus", why->surplus);
        maker_real(&maker, "Pool", why->pool);
    }
    why_names(&maker, "Delegates", why->delegates, why->delegate_count);
    if (why->delegate_count)
        maker_flag(&maker, "MoreDelegates", why->delegate_more);
    why_names(&maker, "Accounts", why->accounts, why->account_count);
    why_lists(matchmakerd, &maker, why);
    if (!isnan(why->seconds))
        maker_real(&maker, "AheadAfter", why->seconds);
    if (!isnan(why->least_factor))
        maker_real(&maker, "AheadBelowFactor", why->least_factor);
    return maker_seal(&maker);
}

void api_user_why(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct user_why why;

    pool_weigh(matchmakerd);
    if (user_why(matchmakerd->matchmaker, runner_wall() / SECOND, request_variable(request, 0), &why))
        request_ad_take(request, 200, why_ad(matchmakerd, &why));
    else
        request_problem(request, 404, "nothing is known of that user");
}
