/* ad_shown.c: an ad as its reader may see it: an owner may keep a machine's policy to himself, whose job runs on a machine that may be
 * preempted is told to those whom it concerns, and whether somebody sits at a machine to its owner alone. What is not shown is not there for
 * the reader's queries either. */
#include "live/matchmakerd/ad_shown.h"

#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "pool/protocol/account.h"
#include "pool/protocol/writers.h"

#include <stdio.h>
#include <string.h>

/* What decides whom a machine takes. */
static const char *const policy_names[] = {"Constraint", "Requirements", "Rank", "Start", "Preemption"};
/* Whether somebody sits there. */
static const char *const presence_names[] = {"KeyboardIdle", "KeybrdIdle", "ConsoleIdle", "Users"};
/* Who has it now. */
static const char *const tenant_names[] = {"RemoteUser", "RemoteOwner", "RemoteGroup"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool ad_shows_policy(const struct tree *ad)
{
    bool shows;

    return !ad_flag(ad, "ShowPolicy", &shows) || shows;
}

static bool ad_has(const struct tree *ad, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ad_find(ad, names[i]))
            return true;
    return false;
}

/* Takes the ad; returns it without those attributes. */
static struct tree *ad_less(struct tree *ad, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tree *less = ad_find(ad, names[i]) ? ad_without(ad, names[i]) : NULL;

        if (less) {
            tree_unref(ad);
            ad = less;
        }
    }
    return ad;
}

struct tree *ad_without_policy(const struct tree *ad)
{
    return ad_less(tree_ref((struct tree *)ad), policy_names, COUNT(policy_names));
}

struct tree *ad_without_presence(const struct tree *ad)
{
    return ad_less(tree_ref((struct tree *)ad), presence_names, COUNT(presence_names));
}

struct tree *ad_masked(const struct tree *ad, bool accepts)
{
    struct ad_setting answer = {NAME_CONSTRAINT, value_boolean(accepts)};
    struct tree *less = ad_without_policy(ad), *masked = ad_set(less, &answer, 1, NULL);
    struct maker maker;

    tree_unref(less);
    if (masked)
        return masked;
    maker_init(&maker, ad->symbols);
    maker_flag(&maker, "Constraint", accepts);
    return maker_seal(&maker);
}

bool entry_hides_policy(const struct request *request, const struct entry_view *view)
{
    return !view->request && !request_any(request) && !entry_is_own(request, view) && !ad_shows_policy(view->ad);
}

bool user_is_caller(const struct request *request, const char *user)
{
    const char *in_group = strrchr(user, '~');

    return account_same(user, request_identity(request)) ||
           (in_group && account_same(in_group + 1, request_identity(request)));
}

/* Is it the caller's job that runs there? */
static bool is_tenant(const struct request *request, const struct tree *ad)
{
    char user[TOKEN_NAME_MAX + 1];
    const char *text;
    size_t len;

    if (!ad_string(ad, "RemoteUser", &text, &len) || len > TOKEN_NAME_MAX)
        return false;
    snprintf(user, sizeof user, "%.*s", (int)len, text);
    return user_is_caller(request, user);
}

struct tree *ad_shown(const struct request *request, const struct entry_view *view)
{
    struct tree *ad = tree_ref((struct tree *)view->ad);
    bool policy = !ad_shows_policy(ad), tenant = ad_has(ad, tenant_names, COUNT(tenant_names));
    bool presence = ad_has(ad, presence_names, COUNT(presence_names));

    if (view->request || (!policy && !tenant && !presence) || request_any(request) || entry_is_own(request, view))
        return ad;
    if (tenant && !is_tenant(request, ad))
        ad = ad_less(ad, tenant_names, COUNT(tenant_names));
    if (presence)
        ad = ad_less(ad, presence_names, COUNT(presence_names));
    return policy ? ad_less(ad, policy_names, COUNT(policy_names)) : ad;
}
