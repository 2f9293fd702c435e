/* messages.c: messages in the body of a request, one after another, each answered in its place. */
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/make.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"

#include <string.h>

#define MESSAGES_MAX 2000 /* in one request */

void message_refuse(struct request *request, struct listing *answers, enum message_kind kind, const char *id,
                    enum reason reason, const char *words)
{
    struct message answer;
    struct tree *plain, *ad;
    struct maker maker;

    if (!message_refusal(kind, reason, &answer))
        return;
    plain = wire_message(request_matchmakerd(request)->symbols, &answer);
    maker_init(&maker, request_matchmakerd(request)->symbols);
    maker_parts(&maker, plain, "Id");
    maker_text(&maker, "Id", id);
    maker_text(&maker, "Detail", words);
    ad = maker_seal(&maker);
    listing_add(answers, ad);
    tree_unref(ad);
    tree_unref(plain);
}

/* Returns 0 when all messages were taken; -1 and the error when one could not be read; -2 when the request was
 * answered. */
static int messages_take(struct request *request, const struct media *media, struct form_text *body, message_fn *take,
                         void *user, struct listing *answers, uint32_t *ret_count, struct err *err)
{
    struct form_limits limits = query_limits(&request_matchmakerd(request)->config);
    struct form_reader *reader;
    struct tree *ad;
    int got = 1;

    limits.cells += 64; /* for the message around the ad */
    reader = form_reader_new(request_matchmakerd(request)->symbols, media->dialect, media->form, &limits,
                             form_text_read, body);
    while (got > 0 && (got = form_reader_next(reader, &ad, err)) > 0) {
        if (++*ret_count > MESSAGES_MAX)
            got = err_set(err, "more than %d messages", MESSAGES_MAX);
        else if (!take(request, user, ad, answers))
            got = -2;
        tree_unref(ad);
    }
    form_reader_free(reader);
    return got;
}

void request_messages(struct request *request, message_fn *take, void *user)
{
    struct listing answers;
    struct err err = {0};
    struct form_text body = {0};
    struct media media;
    struct buf out;
    uint32_t count = 0;
    int got;

    if (!media_read(exchange_field(request->exchange, "Content-Type"), &media)) {
        request_problem(request, 415, "messages are sent as %s or %s", TYPE_CLASSAD, TYPE_JSON);
        return;
    }
    body.text = exchange_body(request->exchange, &body.len);
    if (utf8_check(body.text, body.len, &err) < 0) {
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
        return;
    }
    buf_init(&out);
    listing_begin(&answers, &out, request->form);
    got = messages_take(request, &media, &body, take, user, &answers, &count, &err);
    listing_end(&answers);
    if (got == 0)
        request_answer(request, 200, media_type(request->form, &dialect_classic), out.text, out.len, NULL, 0);
    else if (got == -1)
        request_problem(request, 400, "message %u, line %u, column %u: %s; those before it were taken", count + 1,
                        err.line, err.column, err.text);
    buf_done(&out);
}
