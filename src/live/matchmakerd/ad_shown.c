/* ad_shown.c: an ad as its reader may see it: an owner may keep a machine's policy to himself, whose job runs on a machine that may be
 * preempted is told to those whom it concerns, and whether somebody sits at a machine to its owner alone. What is not shown is not there for
 * the reader's queries either.
 *
 * A match is another thing: there an ad meets the machine's whole ad, as a job's would. Who asks what `other.KeyboardIdle < 60` would match learns as much as
 * whoever submits such a job: docs/machines.md says so. */
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
#include <strings.h>

/* What decides whom a machine takes. */
static const char *const policy_names[] = {"Constraint", "Requirements", "Rank", "Start", "Preemption"};
/* Whether somebody sits there. The last counts of machines alone: another thing may have users of another kind. */
static const char *const presence_names[] = {"KeyboardIdle", "KeybrdIdle", "ConsoleIdle", "Users"};
/* Who has it now. */
static const char *const tenant_names[] = {"RemoteUser", "RemoteOwner", "RemoteGroup"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool ad_shows_policy(const struct tree *ad)
{
    bool shows;

    return !ad_flag(ad, "ShowPolicy", &shows) || shows;
}

static bool is_machine(const struct tree *ad)
{
    const char *type;
    size_t len;

    return ad_string(ad, "Type", &type, &len) && len == 7 && !strncasecmp(type, "Machine", 7);
}

/* The attributes of an ad that somebody does not see. */
struct unseen {
    const char *names[COUNT(policy_names) + COUNT(presence_names) + COUNT(tenant_names)];
    size_t count;
};

static void unseen_add(struct unseen *unseen, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        unseen->names[unseen->count++] = names[i];
}

static void unseen_add_presence(struct unseen *unseen, const struct tree *ad)
{
    unseen_add(unseen, presence_names, COUNT(presence_names) - !is_machine(ad)); /* users are the last */
}

struct tree *ad_without_policy(const struct tree *ad)
{
    return ad_without_all(ad, policy_names, COUNT(policy_names));
}

struct tree *machine_ad_shown(const struct tree *ad, bool policy, bool presence)
{
    struct unseen unseen = {.count = 0};

    if (!policy)
        unseen_add(&unseen, policy_names, COUNT(policy_names));
    if (!presence)
        unseen_add_presence(&unseen, ad);
    return ad_without_all(ad, unseen.names, unseen.count);
}

bool words_tell_presence(const char *words, size_t len)
{
    for (size_t i = 0; i < COUNT(presence_names); i++)
        for (size_t at = 0, name = strlen(presence_names[i]); at + name <= len; at++)
            if (!strncasecmp(words + at, presence_names[i], name))
                return true;
    return false;
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
    const struct tree *ad = view->ad;
    struct unseen unseen = {.count = 0};

    if (view->request || request_any(request) || entry_is_own(request, view))
        return tree_ref((struct tree *)ad);
    if (!ad_shows_policy(ad))
        unseen_add(&unseen, policy_names, COUNT(policy_names));
    if (!is_tenant(request, ad))
        unseen_add(&unseen, tenant_names, COUNT(tenant_names));
    unseen_add_presence(&unseen, ad);
    return ad_without_all(ad, unseen.names, unseen.count);
}
