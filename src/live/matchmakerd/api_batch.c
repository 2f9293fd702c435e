/* api_batch.c: many ads in one request: messages ADVERTISE, WITHDRAW and STANDS, each answered in its place.
 *
 *     [Message="advertise"; Id="heron"; Ad=[...]]        the same as PUT /v1/ads/heron
 *     SealedKey="..."                                    the key of an offer, sealed, in the place of Key
 *     [Message="advertise"; Id="heron"; Bare=true]       most messages: read and answered without building a tree */
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/text/print.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"

#include <string.h>

struct batch {
    struct request *request;
    uint32_t agent;
    struct listing *answers;
};

static void word_print(struct buf *out, const char *name, uint64_t word)
{
    char digits[17];

    for (int i = 15; i >= 0; i--, word >>= 4)
        digits[i] = "0123456789abcdef"[word & 15];
    buf_adds(out, name);
    buf_add(out, digits, 16);
}

/* Prints the answer that nearly all get, ADVERTISED that says OK, without building a tree. */
static void advertised_print(struct buf *out, const struct advertised *told)
{
    word_print(out, "[ Message = \"advertised\"; Id = \"", told->id);
    word_print(out, "\"; Version = \"", told->version);
    word_print(out, "\"; Reason = \"ok\"; Incarnation = \"", told->incarnation);
    word_print(out, "\"; Settled = \"", told->settled);
    buf_adds(out, "\"; Span = ");
    print_integer(out, told->span);
    buf_adds(out, "; Clock = ");
    print_integer(out, told->clock);
    buf_adds(out, " ]\n");
}

static void batch_answer(struct batch *batch, const struct message *answer)
{
    struct tree *ad;

    if (batch->answers->form == FORM_CLASSAD && answer->kind == MESSAGE_ADVERTISED &&
        answer->u.advertised.reason == REASON_OK && !answer->u.advertised.planned) {
        advertised_print(batch->answers->out, &answer->u.advertised);
        batch->answers->count++;
        return;
    }
    ad = wire_message(request_matchmakerd(batch->request)->symbols, answer);

    listing_add(batch->answers, ad);
    tree_unref(ad);
}

static void batch_refuse(struct batch *batch, const char *id, enum reason reason, const char *words)
{
    message_refuse(batch->request, batch->answers, MESSAGE_ADVERTISE, id, reason, words);
}

static bool batch_withdraw(struct batch *batch, struct message *message, const char *id)
{
    struct request *request = batch->request;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint64_t handle = matchmakerd->agents.items[batch->agent].handle;
    uint32_t place = ids_find(&matchmakerd->ids, handle, id, strlen(id));
    struct entry_view view;
    struct peer peer;

    if (!message->u.withdraw.version && matchmaker_find(matchmakerd->matchmaker, handle, message->u.withdraw.id, &view))
        message->u.withdraw.version = view.version;
    request_peer(request, batch->agent, &peer);
    if (!request_ask(request, &peer, message))
        return false;
    if (matchmakerd->reply.u.got.reason == REASON_OK && place != TEXTMAP_NONE)
        id_unlive(matchmakerd, place);
    batch_answer(batch, &matchmakerd->reply);
    return true;
}

static bool batch_stands(struct batch *batch, struct message *message)
{
    struct request *request = batch->request;
    struct peer peer;

    request_peer(request, batch->agent, &peer);
    if (!request_ask(request, &peer, message))
        return false;
    batch_answer(batch, &request_matchmakerd(request)->reply);
    return true;
}

/* Is the message just [Message="advertise"; Id="..."; Bare=true], as most are? Then it need not be read field by field. */
static bool is_renewal(const struct matchmakerd *matchmakerd, const struct tree *ad, const char **ret_id,
                       size_t *ret_len)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    const struct expr *found[RENEWAL_WORDS] = {NULL};

    if (root->u.run.count != RENEWAL_WORDS)
        return false;
    for (int i = 0; i < RENEWAL_WORDS; i++)
        for (int n = 0; n < RENEWAL_WORDS; n++)
            if (symbol_same(parts[i].label, matchmakerd->renewal[n]))
                found[n] = &parts[i];
    if (!found[0] || !found[1] || !found[2] || found[0]->kind != EXPR_STRING || found[1]->kind != EXPR_STRING ||
        found[2]->kind != EXPR_BOOLEAN || !found[2]->small || found[0]->u.run.count != 9 ||
        memcmp(tree_string(ad, found[0]), "advertise", 9) != 0 || !found[1]->u.run.count)
        return false;
    *ret_id = tree_string(ad, found[1]);
    *ret_len = found[1]->u.run.count;
    return true;
}

/* Reads a message as it was sent. A sealed key may replace the plain one, beside the fields that all messages have: it is opened. */
static enum reason batch_read(const struct batch *batch, const struct tree *ad, const char *id, struct message *ret,
                              struct err *err)
{
    static const struct key none = {{0}};
    const struct expr *sealed = ad_find(ad, "SealedKey");
    enum reason reason = REASON_INVALID;
    struct tree *rest;
    int failed;

    if (!sealed)
        return wire_read_brief(ad, "id", ret, err) < 0 ? REASON_INVALID : REASON_OK;
    rest = ad_without(ad, "SealedKey");
    failed = wire_read_brief(rest, "id", ret, err);
    tree_unref(rest);
    if (failed)
        return REASON_INVALID;
    if (ret->kind != MESSAGE_ADVERTISE || sealed->kind != EXPR_STRING)
        err_set(err, "SealedKey: expected a text, in an advertise");
    else if (memcmp(&ret->u.advertise.key, &none, sizeof none) != 0)
        err_set(err, "SealedKey: expected one key, and there is a Key too");
    else if ((reason = sealed_key_take(batch->request, batch->agent, id, tree_string(ad, sealed), sealed->u.run.count,
                                       &ret->u.advertise.key, err)) != REASON_OK)
        err_context(err, "SealedKey");
    if (reason != REASON_OK)
        message_done(ret);
    return reason;
}

/* Takes one message of the batch. False, after a problem was answered, when the store has failed. */
static bool batch_one(struct batch *batch, struct tree *ad)
{
    struct request *request = batch->request;
    const char *text = "";
    char id[ID_LEN_MAX + 1];
    struct err err = {0};
    struct message message;
    struct taking taking;
    enum reason reason;
    size_t len = 0;
    bool goes_on = true, renewal = is_renewal(request_matchmakerd(request), ad, &text, &len);

    if ((!renewal && !ad_string(ad, "Id", &text, &len)) || !id_is_good(text, len)) {
        batch_refuse(batch, "", REASON_INVALID, "Id: expected an id");
        return true;
    }
    memcpy(id, text, len);
    id[len] = '\0';
    if (renewal) {
        memset(&message, 0, sizeof message);
        message.kind = MESSAGE_ADVERTISE;
        message.u.advertise.bare = true;
    } else if ((reason = batch_read(batch, ad, id, &message, &err)) != REASON_OK) {
        batch_refuse(batch, id, reason, err.text);
        return true;
    }
    if (message.kind == MESSAGE_WITHDRAW) {
        message.u.withdraw.id = id_number(id, len);
        goes_on = batch_withdraw(batch, &message, id);
    } else if (message.kind == MESSAGE_STANDS) {
        message.u.stands.id = id_number(id, len);
        goes_on = batch_stands(batch, &message);
    } else if (message.kind != MESSAGE_ADVERTISE) {
        batch_refuse(batch, id, REASON_INVALID, "Message: expected advertise, withdraw or stands");
    } else {
        goes_on = ad_take(request, batch->agent, id, &message, &taking);
        if (goes_on && taking.err.text[0])
            batch_refuse(batch, id, taking.reason, taking.err.text);
        else if (goes_on)
            batch_answer(batch, &request_matchmakerd(request)->reply);
    }
    message_done(&message);
    return goes_on;
}

static bool batch_take(struct request *request, void *user, struct tree *ad, struct listing *answers)
{
    struct batch batch = {.request = request, .agent = *(const uint32_t *)user, .answers = answers};

    return batch_one(&batch, ad);
}

void api_ads_batch(struct request *request)
{
    uint32_t who = request_advertiser(request);

    if (who != TEXTMAP_NONE)
        request_messages(request, batch_take, &who);
}
