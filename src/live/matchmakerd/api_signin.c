/* api_signin.c: a person gets to the page by signing in at an institute.
 *
 *     the page      GET /v1/signin?issuer=NAME   -> to the issuer, with a cookie that is good for this one sign-in
 *     the issuer    GET /v1/signin/callback      -> to /#k=CODE, a link that is good once: the page redeems it as any other (api_session.c)
 *                                                -> to /#signin=WORD when it did not go well: the page has the words
 *
 * The browser is sent to the issuer's own address or to ours, and nowhere else. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "live/auth/signin_state.h"
#include "live/http/signin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CALLBACK "/v1/signin/callback"
#define LINK_SPAN 60 /* seconds that the page has to redeem what it is sent */

/* By https a cookie of that name can be set by nobody but this host. */
static const char *cookie_name(const struct matchmakerd *matchmakerd)
{
    return strncmp(matchmakerd->url, "https://", 8) ? "berth-signin" : "__Host-berth-signin";
}

/* Sends the browser on. `cookie`: what its cookie is from now on; "": it is taken back. */
static void request_redirect(struct request *request, const char *location, const char *cookie)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = cookie_name(matchmakerd);
    char set[SIGNIN_SEALED_MAX + 200];
    const struct http_field fields[] = {
        {"Location", location}, {"Set-Cookie", set}, {"Referrer-Policy", "no-referrer"}};

    snprintf(set, sizeof set, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s", name, cookie,
             *cookie ? SIGNIN_SPAN : 0, *name == '_' ? "; Secure" : "");
    request_answer(request, 302, "text/plain", "", 0, fields, sizeof fields / sizeof *fields);
}

static void request_sent_back(struct request *request, enum signin_fault fault)
{
    char location[64];

    snprintf(location, sizeof location, "/#signin=%s", signin_fault_word(fault));
    request_redirect(request, location, "");
}

static void signin_audit(const struct request *request, const char *issuer, const char *why, const char *more)
{
    char from[ADDRESS_TEXT_MAX];

    LOG_AUDIT(&request_matchmakerd(request)->log, "signin.refused", log_word("request", request->number),
              log_text("issuer", issuer), log_text("from", address_print(exchange_from(request->exchange), from)),
              log_text("why", why), log_text("more", *more ? more : NULL));
}

static void callback_print(const struct matchmakerd *matchmakerd, char *ret, size_t room)
{
    snprintf(ret, room, "%.1100s" CALLBACK, matchmakerd->url);
}

void api_signin(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_query(request, "issuer");
    struct buf location, cookie;
    enum signin_fault fault;
    char back[1200];

    buf_init(&location);
    buf_init(&cookie);
    callback_print(matchmakerd, back, sizeof back);
    fault =
        signin_begin(matchmakerd->signins, matchmakerd->issuers, name, back, runner_now() / SECOND, &location, &cookie);
    if (fault == SIGNIN_OK) {
        request_redirect(request, buf_string(&location), buf_string(&cookie));
    } else {
        signin_audit(request, NULL, signin_fault_words(fault), name ? name : "");
        request_sent_back(request, fault);
    }
    buf_done(&location);
    buf_done(&cookie);
}

/* -------------------------------------------------------------------------------------------------------- coming back */

/* The cookie's value in the field, which has NAME=VALUE with "; " between. */
static const char *cookie_find(const char *field, const char *name, size_t *ret_len)
{
    size_t len = strlen(name);

    while (field && *field) {
        field += strspn(field, "; ");
        if (!strncmp(field, name, len) && field[len] == '=') {
            *ret_len = strcspn(field + len + 1, ";");
            return field + len + 1;
        }
        field += strcspn(field, ";");
    }
    return NULL;
}

static void signed_in(void *user, const struct signed_in *told)
{
    struct request *request = user;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    enum signin_fault fault = told->fault;
    char location[64];
    struct page_link *link;

    request->work = NULL;
    if (told->token != TOKEN_OK)
        metrics_add(matchmakerd->metrics, METRIC_TOKENS_REFUSED, told->token, 0, 1);
    if (fault == SIGNIN_OK && disabled_find(&matchmakerd->disabled, told->grant->subject, strlen(told->grant->subject)))
        fault = SIGNIN_DISABLED;
    if (fault == SIGNIN_OK &&
        textmap_find(&matchmakerd->revoked, told->grant->ids[0], strlen(told->grant->ids[0])) != TEXTMAP_NONE)
        fault = SIGNIN_REFUSED;
    if (fault != SIGNIN_OK) {
        signin_audit(request, told->issuer,
                     told->token != TOKEN_OK ? token_fault_words(told->token) : signin_fault_words(fault), told->why);
        request_sent_back(request, fault);
        return;
    }
    link = page_link_make(matchmakerd, told->grant->subject, told->grant->scope, LINK_SPAN);
    link->expires = runner_wall() / SECOND + told->session;
    link->foreign = true;
    link->grouped = told->grant->grouped;
    memcpy(link->of, told->grant->ids[0], sizeof link->of);
    memcpy(link->group, told->grant->group, sizeof link->group);
    memcpy(link->unix_account, told->grant->unix_account, sizeof link->unix_account);
    LOG_AUDIT(&matchmakerd->log, "signin", log_text("subject", told->grant->subject), log_text("issuer", told->issuer));
    snprintf(location, sizeof location, "/#k=%s", link->code);
    request_redirect(request, location, "");
}

static void signin_over(struct request *request)
{
    signin_forget(request->work);
}

void api_signin_callback(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct signin_answer answer = {.state = request_query(request, "state"),
                                   .code = request_query(request, "code"),
                                   .error = request_query(request, "error"),
                                   .issuer = request_query(request, "iss")};
    char back[1200];

    answer.cookie =
        cookie_find(exchange_field(request->exchange, "Cookie"), cookie_name(matchmakerd), &answer.cookie_len);
    callback_print(matchmakerd, back, sizeof back);
    request->forget = signin_over;
    request->work = signin_end(matchmakerd->signins, matchmakerd->issuers, &answer, back, runner_now() / SECOND,
                               signed_in, request);
}
