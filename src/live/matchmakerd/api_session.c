/* api_session.c: how a person gets to the page: by a link that is good once, made by a caller who has a token.
 *
 *     a caller      POST /v1/links    -> URL/#k=CODE    in the fragment, which no server and no log ever sees
 *     the page      POST /v1/session  -> a token with that person's name and rights, for half a day at most
 *
 * Codes are kept only in memory, for ten minutes. Those who sign in at an institute come by the same road: api_signin.c. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/make.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINK_SPAN (10 * 60)         /* seconds that a link is good for */
#define SESSION_SPAN (12 * 60 * 60) /* seconds that its token is good for */

void api_whoami(struct request *request)
{
    struct maker maker;
    struct buf scope;

    buf_init(&scope);
    scopes_print(&scope, request->caller.scope);
    maker_init(&maker, request_matchmakerd(request)->symbols);
    maker_text(&maker, "Subject", request_identity(request));
    maker_text(&maker, "Scope", buf_string(&scope));
    if (request->caller.expires)
        maker_integer(&maker, "Expires", request->caller.expires);
    if (request->caller.account != request->caller.identity)
        maker_text(&maker, "Account", caller_text(&request->part->gate->callers, request->caller.account));
    maker_text(&maker, "Group", *request->caller.group ? request->caller.group : NULL);
    maker_text(&maker, "UnixAccount", *request->caller.unix_account ? request->caller.unix_account : NULL);
    buf_done(&scope);
    request_ad_take(request, 200, maker_seal(&maker));
}

/* The place of the link that ends first, which is given up. Who makes one after another gives up its own. */
static struct page_link *link_room(struct matchmakerd *matchmakerd, const char *subject, int64_t now)
{
    struct page_link *oldest = matchmakerd->links;
    uint32_t own = 0;

    for (int i = 0; i < PAGE_LINKS; i++)
        own += matchmakerd->links[i].ends > now && !strcmp(matchmakerd->links[i].subject, subject);
    for (int i = 0; i < PAGE_LINKS; i++) {
        struct page_link *link = &matchmakerd->links[i];

        if (own >= PAGE_LINKS / 4 && strcmp(link->subject, subject) != 0)
            continue;
        if (link->ends < oldest->ends || (own >= PAGE_LINKS / 4 && strcmp(oldest->subject, subject) != 0))
            oldest = link;
    }
    return oldest;
}

struct page_link *page_link_make(struct matchmakerd *matchmakerd, const char *subject, scopes scope, int64_t span)
{
    int64_t now = runner_now() / SECOND;
    struct page_link *link = link_room(matchmakerd, subject, now);

    *link = (struct page_link){.scope = scope, .ends = now + span};
    snprintf(link->subject, sizeof link->subject, "%s", subject);
    for (int i = 0; i < 2; i++)
        snprintf(link->code + 16 * i, 17, "%016" PRIx64, secrets_word(&secrets_live));
    return link;
}

/* A link gives a token of its own, which does not end when another is revoked: so only those who can make tokens anyway may make links. */
void api_link_create(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct page_link *link = page_link_make(matchmakerd, request_identity(request), request->caller.scope, LINK_SPAN);
    char url[1200];
    struct tree *answer;
    struct maker maker;

    link->expires = request->caller.expires;
    snprintf(url, sizeof url, "%.1100s/#k=%s", matchmakerd->url, link->code);
    LOG_AUDIT(&matchmakerd->log, "link", log_text("subject", request_identity(request)));
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Link", url);
    maker_integer(&maker, "Ends", runner_wall() / SECOND + LINK_SPAN);
    answer = maker_seal(&maker);
    if (request_audit(request, "links.create", request_identity(request), NULL))
        request_answer_durable(request, 201, answer);
    else
        tree_unref(answer);
}

/* Compares every link as a whole, so that the time reveals nothing. */
static struct page_link *link_find(struct matchmakerd *matchmakerd, const char *code, int64_t now)
{
    struct page_link *found = NULL;

    for (int i = 0; i < PAGE_LINKS; i++) {
        unsigned different = 0;

        for (size_t at = 0; at < LINK_DIGITS; at++)
            different |= (unsigned)(matchmakerd->links[i].code[at] ^ code[at]);
        if (!different && matchmakerd->links[i].ends > now)
            found = &matchmakerd->links[i];
    }
    return found;
}

static void session_begin(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char code[LINK_DIGITS + 1] = {0};
    int64_t now = runner_wall() / SECOND, most = now + SESSION_SPAN;
    struct token_terms terms = {
        .issuer = keyring_pool(matchmakerd->keys), .audience = keyring_pool(matchmakerd->keys), .issued = now};
    struct page_link *link, used;

    if (!body_text(request, ad, "Code", "", code, sizeof code))
        return;
    link = strlen(code) == LINK_DIGITS ? link_find(matchmakerd, code, runner_now() / SECOND) : NULL;
    if (!link) {
        request_problem(request, 403, "Code: this link was used before, or its time is over; ask for another one");
        return;
    }
    used = *link;
    *link = (struct page_link){.ends = 0};
    terms.scope = used.scope;
    terms.expires = used.expires && (used.expires < most || used.foreign) ? used.expires : most;
    terms.subject = used.subject;
    if (used.foreign) {
        terms.bounded = true;
        terms.follows = used.of;
        terms.group = used.grouped ? used.group : NULL;
        terms.unix_account = used.unix_account;
    }
    token_give(request, 201, &terms, "session");
}

void api_session(struct request *request)
{
    struct tree *ad = request_body_of(request, "Code");

    if (ad)
        session_begin(request, ad);
    tree_unref(ad);
}
