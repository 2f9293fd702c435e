/* institute.c: logging in by the identity of an institute. What the issuer says is a stranger's word: it is bounded, and nothing of it but plain characters
 * comes to the terminal. */
#include "cli/admin/institute.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/claims.h"
#include "live/auth/jwt.h"
#include "live/config/address.h"
#include "sys/encoding.h"
#include "sys/read_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (64u << 10) /* bytes of an issuer's answer */
#define PAUSE_DEFAULT 5        /* seconds between two questions, if the issuer does not say */
#define PAUSE_MAX 60
#define WAIT_MAX 1800 /* seconds that a person has */
#define DEVICE_GRANT "urn:ietf:params:oauth:grant-type:device_code"

/* An answer of the issuer. */
struct reply {
    struct symbols *symbols;
    struct tree *tree; /* NULL: it is no JSON */
    unsigned status;
};

static void reply_done(struct reply *reply)
{
    tree_unref(reply->tree);
    if (reply->symbols)
        symbols_free(reply->symbols);
    *reply = (struct reply){0};
}

/* Asks the issuer; `form` NULL: GET. Over plain HTTP only on this machine. */
static int issuer_ask(const struct institute *institute, const char *url, struct buf *form, struct reply *ret)
{
    const struct client_settings settings = {.ca_file = institute->ca};
    const struct http_call call = {.method = form ? "POST" : "GET",
                                   .url = url,
                                   .accept = "application/json",
                                   .type = form ? "application/x-www-form-urlencoded" : NULL,
                                   .body = form ? buf_string(form) : NULL,
                                   .len = form ? form->len : 0,
                                   .bytes_max = ANSWER_MAX,
                                   .older_tls = true,
                                   .https_only = !url_is_loopback(url)};
    struct fetched fetched;
    struct err err = {0};
    const char *text;
    size_t len;

    *ret = (struct reply){0};
    if (client_fetch(&settings, &call, &fetched, &err) < 0) {
        report("%s: %s", url, err.text);
        return STATUS_UNREACHABLE;
    }
    text = buf_string(&fetched.body);
    len = fetched.body.len;
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    ret->status = fetched.status;
    ret->symbols = symbols_new(NULL, 0, 0);
    ret->tree = claims_read(ret->symbols, text, len, JWT_CELLS_MAX, &err);
    fetched_done(&fetched);
    if (ret->tree)
        return STATUS_DONE;
    report("%s: the answer (status %u) is no JSON: %s", url, ret->status, err.text);
    reply_done(ret);
    return STATUS_UNREACHABLE;
}

/* Copies a text of plain characters. False when there is none. */
static bool reply_text(const struct reply *reply, const char *name, char *ret, size_t room)
{
    const char *text;
    size_t len;

    if (!claims_text(reply->tree, NULL, name, room - 1, &text, &len))
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    memcpy(ret, text, len);
    ret[len] = '\0';
    return true;
}

static int64_t reply_seconds(const struct reply *reply, const char *name, int64_t missing, int64_t most)
{
    const struct expr *value = claims_find(reply->tree, NULL, name);
    int64_t seconds = value && value->kind == EXPR_INTEGER ? value->u.integer : missing;

    return seconds < 1 ? 1 : seconds > most ? most : seconds;
}

static void form_add(struct buf *form, const char *name, const char *value)
{
    buf_addf(form, "%s%s=", form->len ? "&" : "", name);
    path_escape(form, value);
}

struct endpoints {
    char device[URL_MAX + 1], token[URL_MAX + 1];
};

static int endpoints_find(const struct institute *institute, struct endpoints *ret)
{
    struct reply reply;
    struct buf url;
    int status;

    buf_init(&url);
    buf_adds(&url, institute->issuer);
    while (url.len && url.text[url.len - 1] == '/')
        url.len--;
    buf_adds(&url, "/.well-known/openid-configuration");
    status = issuer_ask(institute, buf_string(&url), NULL, &reply);
    buf_done(&url);
    if (status != STATUS_DONE)
        return status;
    status = STATUS_BAD;
    if (reply.status != 200 || !claims_is(reply.tree, claims_find(reply.tree, NULL, "issuer"), institute->issuer))
        report("%s: what answers there is not that issuer", institute->issuer);
    else if (!reply_text(&reply, "device_authorization_endpoint", ret->device, sizeof ret->device) ||
             !reply_text(&reply, "token_endpoint", ret->token, sizeof ret->token))
        report("%s: it does not let programs without a browser log in (device_authorization_endpoint)",
               institute->issuer);
    else
        status = STATUS_DONE;
    reply_done(&reply);
    return status;
}

/* What the person has to do, and how to ask whether it was done. */
struct device {
    char code[2048];
    int64_t pause, ends; /* seconds; when the code ends */
};

static int device_begin(const struct institute *institute, const struct endpoints *endpoints, struct device *ret)
{
    char url[URL_MAX + 1], code[128];
    struct reply reply;
    struct buf form;
    int status;

    buf_init(&form);
    form_add(&form, "client_id", institute->client);
    form_add(&form, "scope", institute->scope);
    status = issuer_ask(institute, endpoints->device, &form, &reply);
    buf_done(&form);
    if (status != STATUS_DONE)
        return status;
    if (reply.status == 200 && reply_text(&reply, "device_code", ret->code, sizeof ret->code) &&
        reply_text(&reply, "user_code", code, sizeof code) && reply_text(&reply, "verification_uri", url, sizeof url)) {
        ret->pause = reply_seconds(&reply, "interval", PAUSE_DEFAULT, PAUSE_MAX);
        ret->ends = time(NULL) + reply_seconds(&reply, "expires_in", WAIT_MAX, WAIT_MAX);
        fprintf(stderr, "Open %s in a browser, and enter the code %s\n", url, code);
    } else {
        char why[128];

        report("%s: it gives no code: %s", institute->issuer,
               reply_text(&reply, "error", why, sizeof why) ? why : "the answer is not as it must be");
        status = STATUS_BAD;
    }
    reply_done(&reply);
    return status;
}

/* Takes the token from an answer. Where what opens the issuer's own doors is not a token that others can read, it is the one that says who one is. */
static int token_take(const struct institute *institute, const struct reply *reply, struct buf *ret)
{
    static const char *const names[] = {"access_token", "id_token"};
    char token[JWT_BYTES_MAX + 1];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (reply_text(reply, names[i], token, sizeof token) && jwt_is(token, strlen(token))) {
            buf_adds(ret, token);
            explicit_bzero(token, sizeof token);
            return STATUS_DONE;
        }
    report("%s: it gives no token that the pool could read", institute->issuer);
    return STATUS_BAD;
}

/* One question: STATUS_NO while the person has not done it yet. */
static int device_poll(const struct institute *institute, const struct endpoints *endpoints, struct device *device,
                       struct buf *ret)
{
    char why[128] = "the answer is not as it must be";
    struct reply reply;
    struct buf form;
    int status;

    buf_init(&form);
    form_add(&form, "grant_type", DEVICE_GRANT);
    form_add(&form, "device_code", device->code);
    form_add(&form, "client_id", institute->client);
    status = issuer_ask(institute, endpoints->token, &form, &reply);
    buf_wipe(&form);
    if (status != STATUS_DONE)
        return status;
    if (reply.status == 200) {
        status = token_take(institute, &reply, ret);
    } else if (reply_text(&reply, "error", why, sizeof why) && !strcmp(why, "authorization_pending")) {
        status = STATUS_NO;
    } else if (!strcmp(why, "slow_down")) {
        device->pause = device->pause + 5 < PAUSE_MAX ? device->pause + 5 : PAUSE_MAX;
        status = STATUS_NO;
    } else {
        report("%s: %s", institute->issuer, !strcmp(why, "access_denied") ? "the login was refused" : why);
        status = STATUS_BAD;
    }
    reply_done(&reply);
    return status;
}

int institute_ask(const struct institute *institute, struct buf *ret)
{
    struct endpoints endpoints;
    struct device device;
    int status = endpoints_find(institute, &endpoints);

    if (status == STATUS_DONE)
        status = device_begin(institute, &endpoints, &device);
    if (status != STATUS_DONE)
        return status;
    do {
        if (time(NULL) + device.pause > device.ends) {
            report("%s: nobody has entered the code in time", institute->issuer);
            status = STATUS_BAD;
            break;
        }
        sleep((unsigned)device.pause);
        status = device_poll(institute, &endpoints, &device, ret);
    } while (status == STATUS_NO);
    explicit_bzero(&device, sizeof device);
    return status;
}

int institute_read(const char *file, struct buf *ret)
{
    struct err err = {0};
    int got = read_file(!strcmp(file, "-") ? "/dev/stdin" : file, JWT_BYTES_MAX, false, ret, &err);

    if (got == 0)
        err_set(&err, "there is no such file");
    while (got == 1 && ret->len && strchr(" \t\r\n", ret->text[ret->len - 1]))
        ret->len--;
    if (got == 1 && jwt_is(ret->text, ret->len) && strlen(buf_string(ret)) == ret->len)
        return STATUS_DONE;
    report("%s: %s", file, got == 1 ? "it is not the token of an institute" : err.text);
    return STATUS_BAD;
}

static struct tree *exchange_body(struct connection *pool, struct token_file *file)
{
    char key[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;

    signing_key_draw(&file->key);
    file->has_key = true;
    hex_print(file->key.open.bytes, PUBLIC_KEY_BYTES, key);
    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Delegate", key);
    return maker_seal(&maker);
}

int institute_exchange(const struct connection_options *options, const char *token, struct redeemed *ret)
{
    struct tree *body = NULL, *answer = NULL;
    struct connection pool;
    struct grant grant;
    int status;

    *ret = (struct redeemed){.for_whom = REDEEMED_PERSON, .bounded = true};
    token_file_init(&ret->file);
    status = connection_open(&pool, options);
    if (status == STATUS_DONE) {
        connection_show(&pool, token);
        body = exchange_body(&pool, &ret->file);
        status = connection_fetch_ad(
            &pool, &(struct connection_ask){.method = "POST", .path = "/v1/exchange", .body = body}, &answer);
    }
    if (status == STATUS_DONE)
        status = token_answer(answer, &ret->file);
    if (status == STATUS_DONE && token_read(ret->file.token, strlen(ret->file.token), &grant) == TOKEN_OK)
        memcpy(ret->subject, grant.subject, sizeof ret->subject);
    tree_unref(body);
    tree_unref(answer);
    connection_close(&pool);
    return status;
}
