/* ad_take.c: takes an ad that was sent, or refuses it: is it valid, whose is its id, is it too much for its
 * identity. */
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "live/auth/offer_key.h"
#include "match/gang/ports.h"
#include "match/pair/residual.h"

#include <stdio.h>
#include <string.h>

#define DERIVED_MAX 16 /* at most so many offers of one agent are looked at */

/* Names that the matchmaker gives: no ad may have them. */
static const char *const given_names[] = {"UserPrio", "RemoteUserPrio", "Usage"};

/* Names that stand for the whole ad: a port that had one would hide the ad's own from whoever docks there. */
static const char *const whole_names[] = {
    "Owner",      "Identity",    "Received", "AccountingGroup", "ConcurrencyLimits",
    "RemoteUser", "RemoteGroup", "UserPrio", "RemoteUserPrio",  "Usage"};

static int ports_check(const struct ports *ports, struct err *err)
{
    for (size_t i = 0; i < sizeof whole_names / sizeof *whole_names; i++) {
        symbol name = symbols_find(ports->ad->symbols, whole_names[i], strlen(whole_names[i]));

        if (name && ports_say(ports, name))
            return err_set(err, "%s: no port may have an attribute of this name", whole_names[i]);
    }
    return 0;
}

/* What is wrong with an advertised ad, where this can say it better than the role. */
static int ad_check(const struct tree *ad, struct err *err)
{
    struct ports ports;
    int failed;

    for (size_t i = 0; i < sizeof given_names / sizeof *given_names; i++)
        if (ad_find(ad, given_names[i]))
            return err_set(err, "%s: this name is given by the matchmaker", given_names[i]);
    if (residual_check(ad, err) < 0)
        return err_context(err, "Residual");
    if (ports_read(&ports, ad, err) < 0)
        return -1;
    failed = ports_check(&ports, err);
    ports_done(&ports);
    return failed;
}

/* -------------------------------------------------------------------------------------------------------------- taking */

void id_unlive(struct matchmakerd *matchmakerd, uint32_t place)
{
    struct ad_id *row = &matchmakerd->ids.items[place];
    struct identity *account = &matchmakerd->gate.callers.items[row->account];
    uint32_t who = agents_find(&matchmakerd->agents, row->agent);

    if (!row->live)
        return;
    row->live = false;
    account->ads--;
    account->bytes -= row->bytes;
    row->bytes = 0;
    if (who != TEXTMAP_NONE)
        matchmakerd->agents.items[who].ads--;
}

void id_forget(struct matchmakerd *matchmakerd, uint32_t place)
{
    id_unlive(matchmakerd, place);
    matchmakerd->gate.callers.items[matchmakerd->ids.items[place].account].ids--;
    ids_remove(&matchmakerd->ids, place);
}

/* Is this an id that a Berth agent of that name gives its own offers (providerd.c)? Nobody else has a reason to use it. */
static bool id_is_derived(const struct matchmakerd *matchmakerd, const struct agent_row *row, const char *id)
{
    char text[2 * TOKEN_NAME_MAX + 32];

    for (unsigned i = 0; i < DERIVED_MAX; i++) {
        snprintf(text, sizeof text, i ? "%s/%s.%u" : "%s/%s", caller_text(&matchmakerd->gate.callers, row->identity),
                 row->name, i);
        if (id_number(text, strlen(text)) == id_number(id, strlen(id)))
            return true;
    }
    return false;
}

static void id_keep(struct request *request, uint32_t who, const char *id, uint32_t place, size_t bytes)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct identity *account;
    struct ad_id *row;

    if (place == TEXTMAP_NONE) {
        place = ids_add(&matchmakerd->ids, id, strlen(id), matchmakerd->agents.items[who].handle,
                        request->caller.account, id_is_derived(matchmakerd, &matchmakerd->agents.items[who], id));
        matchmakerd->gate.callers.items[request->caller.account].ids++;
    }
    row = &matchmakerd->ids.items[place];
    account = &matchmakerd->gate.callers.items[row->account];
    if (!row->live) {
        row->live = true;
        account->ads++;
        matchmakerd->agents.items[who].ads++;
    }
    account->bytes += bytes;
    account->bytes -= row->bytes;
    row->bytes = (uint32_t)bytes;
}

/* Would the ad be too much for its identity? Returns the name of the limit, or NULL. */
static const char *limit_passed(const struct request *request, uint32_t place, size_t bytes)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct identity *account = &matchmakerd->gate.callers.items[request->caller.account];
    uint64_t most = config_count(&matchmakerd->config, CONFIG_ADS_PER_IDENTITY);
    uint64_t before = place == TEXTMAP_NONE ? 0 : matchmakerd->ids.items[place].bytes;
    bool counted = place != TEXTMAP_NONE && matchmakerd->ids.items[place].live;

    if ((!counted && account->ads >= most) || (place == TEXTMAP_NONE && account->ids >= 2 * most))
        return "AdsPerIdentity";
    if (account->bytes + bytes - before > config_size(&matchmakerd->config, CONFIG_AD_BYTES_PER_IDENTITY))
        return "AdBytesPerIdentity";
    return NULL;
}

/* Do both ads say the same, except for what the matchmaker writes into them? */
static bool ad_says_same(const struct tree *there, const struct tree *ad)
{
    static const char *const written[] = {"Owner", "Identity", "Received"};
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root), *found;
    uint32_t count = 0;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        bool ours = false;

        for (size_t n = 0; n < sizeof written / sizeof *written; n++)
            ours = ours || symbol_same(parts[i].label, symbols_find(ad->symbols, written[n], strlen(written[n])));
        if (ours)
            continue;
        found = tree_find(there, tree_root(there), parts[i].label);
        if (!found || !tree_equal(there, found, ad, &parts[i]))
            return false;
        count++;
    }
    return tree_root(there)->u.run.count == count + 3 && there->dialect == ad->dialect;
}

enum reason sealed_key_take(const struct request *request, uint32_t who, const char *id, const char *text, size_t len,
                            struct key *ret, struct err *err)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    enum offer_key_result result = offer_key_open(keyring_box(matchmakerd->keys), matchmakerd->agents.items[who].handle,
                                                  id_number(id, strlen(id)), text, len, ret);

    if (result == OFFER_KEY_OK)
        return REASON_OK;
    err_set(err, "%s", offer_key_words(result));
    return result == OFFER_KEY_ANOTHERS ? REASON_IDENTITY : REASON_INVALID;
}

/* Is this a joined machine that asks for others? It is there to run jobs: its key lies where others' jobs run, and must
 * be worth no machine but itself. A machine that is to ask for others has a token that says so. */
static bool machine_asks(const struct request *request, const struct advertise *advertise)
{
    return advertise->request && !strncmp(request_identity(request), "machine/", 8) &&
           !(request->caller.scope & (SCOPE_JOB_SUBMIT | SCOPE_SERVE | SCOPE_ADMIN));
}

/* The words for a request that is made for a user who is disabled, by an agent that serves others; NULL: it is for nobody like that. */
static const char *owner_disabled(const struct request *request, const struct advertise *advertise)
{
    const struct disabled_entry *entry = NULL;
    const char *owner;
    size_t len;

    if (advertise->request && advertise->ad && ad_string(advertise->ad, "Owner", &owner, &len))
        entry = disabled_find(&request_matchmakerd(request)->disabled, owner, len);
    return entry ? entry->words : NULL;
}

/* The group of a token that was given for an institute's; false: nothing is said of groups. */
struct recorded {
    struct matchmakerd *matchmakerd;
    bool grouped;
    char group[TOKEN_GROUP_MAX + 1];
};

static bool recorded_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct recorded *recorded = user;
    struct err err;
    struct tree *ad =
        form_parse(recorded->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    const char *text;
    size_t text_len;

    (void)key, (void)key_len;
    if (ad && ad_find(ad, "Of") && ad_string(ad, "Group", &text, &text_len) && text_len <= TOKEN_GROUP_MAX) {
        recorded->grouped = true;
        memcpy(recorded->group, text, text_len);
    }
    tree_unref(ad);
    return true;
}

int caller_group(const struct request *request, char ret[TOKEN_GROUP_MAX + 1])
{
    struct recorded recorded = {.matchmakerd = request_matchmakerd(request), .grouped = request->caller.grouped};
    struct shelf *shelf = recorded.matchmakerd->shelf;
    struct err err;

    if (request->caller.foreign)
        memcpy(recorded.group, request->caller.group, sizeof recorded.group);
    else if (request->caller.links && shelf->kind->get(shelf, TOKEN_SPACE, request->caller.ids[0], TOKEN_ID_DIGITS,
                                                       recorded_read, &recorded, &err) < 0)
        return -1;
    memcpy(ret, recorded.group, sizeof recorded.group);
    return recorded.grouped;
}

/* Is the request charged to a group that the caller's institute has not put it into? What an expression will say is not known here. */
static bool group_is_foreign(const struct request *request, const struct advertise *advertise)
{
    char mine[TOKEN_GROUP_MAX + 1] = "";
    const char *group;
    size_t len;
    int grouped;

    if (!advertise->request || !advertise->ad || !ad_find(advertise->ad, "AccountingGroup"))
        return false;
    grouped = caller_group(request, mine);
    if (grouped <= 0)
        return grouped < 0; /* what cannot be looked up is not granted */
    return !ad_string(advertise->ad, "AccountingGroup", &group, &len) || len != strlen(mine) ||
           memcmp(group, mine, len) != 0;
}

/* Takes out of an answer what its reader would not know. */
static void plan_untell(struct advertised *told)
{
    told->planned = 0;
    told->planned_on = (struct text){{0}};
}

static bool ad_put(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct advertise *advertise = &message->u.advertise;
    uint64_t handle = matchmakerd->agents.items[who].handle;
    size_t bytes = advertise->ad ? tree_size(advertise->ad) : 0;
    struct entry_view view;
    const char *limit, *words;
    struct peer peer;
    uint32_t place;
    bool lives;

    *ret = (struct taking){.reason = REASON_OK};
    if (machine_asks(request, advertise)) {
        ret->reason = REASON_IDENTITY;
        err_set(&ret->err, "a machine asks for no others: a request of its own needs the scope job:submit");
        return true;
    }
    if ((words = owner_disabled(request, advertise))) {
        ret->reason = REASON_IDENTITY;
        err_set(&ret->err, "Owner: %s", words);
        return true;
    }
    if (group_is_foreign(request, advertise)) {
        ret->reason = REASON_IDENTITY;
        err_set(&ret->err, "AccountingGroup: it is not the group that the institute has put this user into");
        return true;
    }
    advertise->id = id_number(id, strlen(id));
    place = ids_find(&matchmakerd->ids, handle, id, strlen(id));
    if (place == TEXTMAP_NONE && ids_find_number(&matchmakerd->ids, handle, advertise->id) != TEXTMAP_NONE) {
        ret->reason = REASON_CONFLICT;
        err_set(&ret->err, "another id of this agent has the same number");
        return true;
    }
    if (!advertise->bare && (limit = limit_passed(request, place, bytes))) {
        ret->reason = REASON_LIMIT;
        err_set(&ret->err, "%s: the limit of this identity is reached", limit);
        return true;
    }
    if (advertise->ad && ad_check(advertise->ad, &ret->err) < 0) {
        ret->reason = REASON_INVALID;
        return true;
    }
    lives = matchmaker_find(matchmakerd->matchmaker, handle, advertise->id, &view);
    if (!lives && advertise->ad && memory_refuses(&matchmakerd->memory, runner_now())) {
        ret->reason = REASON_LIMIT;
        ret->full = true;
        err_set(&ret->err, MEMORY_WORDS);
        return true;
    }
    if (!advertise->version)
        advertise->version = lives ? view.version + !advertise->bare
                                   : matchmaker_version(matchmakerd->matchmaker, handle, advertise->id) + 1;
    else if (lives && advertise->ad && advertise->version == view.version && !ad_says_same(view.ad, advertise->ad)) {
        ret->reason = REASON_CONFLICT;
        err_set(&ret->err, "this version is there with another text");
        return true;
    }
    request_peer(request, who, &peer);
    if (!request_ask(request, &peer, message))
        return false;
    if (!matchmakerd->agents.items[who].plans) /* messages are read strictly */
        plan_untell(&matchmakerd->reply.u.advertised);
    ret->reason = matchmakerd->reply.u.advertised.reason;
    ret->created = !lives;
    if ((ret->reason == REASON_OK || ret->reason == REASON_CONSUMED) && !advertise->bare)
        id_keep(request, who, id, place, bytes);
    return true;
}

/* Tells those who look after an agent that its ad was refused: once in the log, and in the agent's row as long as that holds. */
static void refusal_tell(struct matchmakerd *matchmakerd, uint32_t who, const char *id, const struct taking *taking)
{
    bool good = taking->reason == REASON_OK || taking->reason == REASON_CONSUMED;
    struct agent_row *row = &matchmakerd->agents.items[who];
    char words[AGENT_TEXT_MAX + 1];
    size_t len = strlen(id);

    if (taking->reason == REASON_STALE || taking->reason == REASON_BODY || taking->reason == REASON_UNKNOWN)
        return; /* the agent sends more, and that is answered */
    if (good) {
        if (row->refused && !strncmp(row->refused, id, len) && row->refused[len] == ':')
            agent_set_text(&row->refused, NULL);
        return;
    }
    snprintf(words, sizeof words, "%.100s: %.140s", id,
             *taking->err.text ? taking->err.text : reason_words(taking->reason));
    if (row->refused && (!strcmp(row->refused, words) || (taking->reason == REASON_LIMIT && *taking->err.text &&
                                                          strstr(row->refused, taking->err.text))))
        return; /* that there is a limit is told once, and not of every ad beyond it */
    agent_set_text(&row->refused, words);
    LOG(&matchmakerd->log, LEVEL_WARNING, "ad.refused", log_word("agent", row->handle),
        log_text("identity", caller_text(&matchmakerd->gate.callers, row->identity)), log_text("name", row->name),
        log_text("ad", id), log_text("why", *taking->err.text ? taking->err.text : reason_words(taking->reason)));
}

bool ad_take(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret)
{
    bool asked = ad_put(request, who, id, message, ret);

    if (asked)
        refusal_tell(request_matchmakerd(request), who, id, ret);
    return asked;
}
