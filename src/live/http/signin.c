/* signin.c: people sign in by a browser at an issuer. What the issuer and the browser say are strangers' words: bounded, and compared. */
#include "live/http/signin.h"

#include "lang/base/mem.h"
#include "live/auth/claims.h"
#include "live/auth/signin_state.h"
#include "live/http/issuers_parts.h"
#include "pool/protocol/role.h"
#include "sys/clock.h"
#include "sys/encoding.h"
#include "sys/read_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ANSWER_MAX (64u << 10) /* bytes of an issuer's answer */
#define ENDED_KEPT 4096        /* sign-ins that have ended: the code of an older one is used up at the issuer */
#define ENDED_LETTERS 22       /* 132 bits tell one from all others */

struct signins {
    unsigned char key[SIGNIN_KEY_BYTES];
    char ended[ENDED_KEPT][ENDED_LETTERS]; /* of their states; the next one in the place of the oldest */
    uint32_t at;
};

struct signin_call {
    struct source *source;
    struct signin_state state;
    signin_done_fn *done; /* NULL: nobody waits any more */
    void *user;
};

const char *signin_fault_word(enum signin_fault fault)
{
#define X(id, word, words) word,
    static const char *const table[] = {SIGNIN_FAULTS(X)};
#undef X
    return table[fault];
}

const char *signin_fault_words(enum signin_fault fault)
{
#define X(id, word, words) words,
    static const char *const table[] = {SIGNIN_FAULTS(X)};
#undef X
    return table[fault];
}

struct signins *signins_new(void)
{
    struct signins *signins = mem_alloc(sizeof *signins);

    memset(signins, 0, sizeof *signins);
    signin_key_draw(signins->key);
    return signins;
}

void signins_free(struct signins *signins)
{
    if (signins)
        explicit_bzero(signins->key, sizeof signins->key);
    free(signins);
}

/* Has the sign-in ended before? If not, it has now. */
static bool ends_first(struct signins *signins, const struct signin_state *state)
{
    for (uint32_t i = 0; i < ENDED_KEPT; i++)
        if (!memcmp(signins->ended[i], state->state, ENDED_LETTERS))
            return false;
    memcpy(signins->ended[signins->at++ % ENDED_KEPT], state->state, ENDED_LETTERS);
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- begin */

void signin_each(struct issuers *issuers, void (*add)(void *user, const char *name, const char *title), void *user)
{
    for (uint32_t i = 0; issuers && i < issuers->count; i++) {
        const struct source *source = &issuers->sources[i];

        if (source->door)
            add(user, source->entry.issuer.name, source->entry.title ? source->entry.title : source->entry.issuer.name);
    }
}

static void form_add(struct buf *out, const char *name, const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    if (*name)
        buf_addf(out, "%s%s=", out->len && !strchr("?&", out->text[out->len - 1]) ? "&" : "", name);
    for (; *value; value++) {
        if (strchr(plain, *value))
            buf_addc(out, *value);
        else
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)*value);
    }
}

enum signin_fault signin_begin(struct signins *signins, struct issuers *issuers, const char *name, const char *back,
                               int64_t now, struct buf *ret_location, struct buf *ret_cookie)
{
    struct source *source = NULL;
    struct signin_state state;
    struct buf challenge;

    for (uint32_t i = 0; issuers && name && i < issuers->count; i++)
        if (issuers->sources[i].door && !strcmp(issuers->sources[i].entry.issuer.name, name))
            source = &issuers->sources[i];
    if (!source)
        return SIGNIN_UNKNOWN;
    if (!source_ready(source))
        return SIGNIN_BUSY;
    if (!*source->authorize)
        return SIGNIN_ISSUER;
    signin_state_draw(source->mark, now, &state);
    buf_init(&challenge);
    signin_challenge(&challenge, &state);
    buf_adds(ret_location, source->authorize);
    if (!strchr(source->authorize, '?'))
        buf_addc(ret_location, '?');
    form_add(ret_location, "response_type", "code");
    form_add(ret_location, "client_id", source->entry.issuer.client);
    form_add(ret_location, "redirect_uri", back);
    form_add(ret_location, "scope", source->entry.ask ? source->entry.ask : ISSUER_ASK);
    form_add(ret_location, "state", state.state);
    form_add(ret_location, "nonce", state.nonce);
    form_add(ret_location, "code_challenge", buf_string(&challenge));
    form_add(ret_location, "code_challenge_method", "S256");
    buf_done(&challenge);
    signin_state_seal(ret_cookie, &state, signins->key);
    explicit_bzero(&state, sizeof state);
    return SIGNIN_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- end */

static void call_end(struct signin_call *call, const struct signed_in *signed_in)
{
    struct signed_in told = *signed_in;

    told.issuer = call->source->entry.issuer.url;
    told.session = call->source->entry.session;
    if (!told.why)
        told.why = "";
    call->source->under_way--;
    if (call->done)
        call->done(call->user, &told);
    explicit_bzero(&call->state, sizeof call->state);
    free(call);
}

/* Proves who the issuer's answer says it is. */
static void answer_prove(struct signin_call *call, const struct tree *answer)
{
    struct issuer_signin signin = {.nonce = call->state.nonce, .granted = ""};
    struct signed_in told = {.fault = SIGNIN_OK};
    struct grant grant;
    struct err why = {0};
    const char *text;
    size_t len;

    if (!claims_text(answer, NULL, "id_token", JWT_BYTES_MAX, &text, &len)) {
        call_end(call, &(struct signed_in){.fault = SIGNIN_ISSUER, .why = "id_token: it is not there, or too long"});
        return;
    }
    claims_text(answer, NULL, "scope", JWT_BYTES_MAX, &signin.granted, &signin.granted_len);
    told.token = source_signed_in(call->source, text, len, &signin, clock_wall() / SECOND, &grant, &why);
    told.why = why.text;
    told.grant = &grant;
    if (told.token == TOKEN_KEYS)
        told.fault = SIGNIN_BUSY;
    else if (told.token == TOKEN_NO_SCOPE)
        told.fault = SIGNIN_RIGHTS;
    else if (told.token != TOKEN_OK)
        told.fault = SIGNIN_REFUSED;
    call_end(call, &told);
}

/* The issuer's word for what is wrong, if that is a plain one. */
static void error_take(const struct tree *tree, unsigned status, struct err *why)
{
    const char *word;
    size_t len;

    err_set(why, "the answer was %u", status);
    if (!tree || !claims_text(tree, NULL, "error", 100, &word, &len))
        return;
    for (size_t i = 0; i < len; i++)
        if (word[i] <= ' ' || word[i] > '~')
            return;
    err_set(why, "the answer was %u: %.*s", status, (int)len, word);
}

static void answer_came(void *user, const struct http_outcome *outcome)
{
    struct signin_call *call = user;
    struct symbols *symbols;
    struct err why = {0};
    struct tree *tree;
    size_t len = outcome->len;

    if (outcome->result != CALL_ANSWERED) {
        call_end(call, &(struct signed_in){.fault = outcome->result == CALL_CANCELLED ? SIGNIN_BUSY : SIGNIN_ISSUER,
                                           .why = outcome->error});
        return;
    }
    while (len && strchr(" \t\r\n", outcome->body[len - 1]))
        len--;
    symbols = symbols_new(NULL, 0, 0);
    tree = claims_read(symbols, outcome->body, len, JWT_CELLS_MAX, &why);
    if (tree && outcome->status == 200) {
        answer_prove(call, tree);
    } else {
        if (outcome->status != 200)
            error_take(tree, outcome->status, &why);
        call_end(call, &(struct signed_in){.fault = SIGNIN_ISSUER, .why = why.text});
    }
    tree_unref(tree);
    symbols_free(symbols);
}

/* An issuer may lead to its own host, wherever that is, and otherwise not into the networks of this site. */
static bool may_connect(void *user, const struct sockaddr *address)
{
    const struct source *source = user;

    return !source->token_elsewhere || address_may_be_contacted(source->issuers->networks, address);
}

/* Appends the secret of our client; nothing where it is a public one. */
static int secret_take(const struct source *source, struct buf *ret, struct err *err)
{
    return source->entry.secret_file ? signin_secret_read(source->entry.secret_file, ret, err) : 0;
}

/* Shows the code to the issuer. -1 when the client's secret cannot be read. */
static int code_send(struct signin_call *call, const char *code, const char *back, struct err *err)
{
    const struct source *source = call->source;
    struct buf form, secret, pair, head;
    int failed;

    buf_init(&form);
    buf_init(&secret);
    buf_init(&pair);
    buf_init(&head);
    failed = secret_take(source, &secret, err);
    form_add(&form, "grant_type", "authorization_code");
    form_add(&form, "code", code);
    form_add(&form, "redirect_uri", back);
    form_add(&form, "code_verifier", call->state.verifier);
    if (!secret.len || source->posts_secret)
        form_add(&form, "client_id", source->entry.issuer.client);
    if (secret.len && source->posts_secret)
        form_add(&form, "client_secret", buf_string(&secret));
    if (secret.len && !source->posts_secret) {
        form_add(&pair, "", source->entry.issuer.client);
        buf_addc(&pair, ':');
        form_add(&pair, "", buf_string(&secret));
        buf_adds(&head, "Basic ");
        base64_print(&head, pair.text, pair.len);
    }
    if (!failed) {
        const struct http_field fields[] = {{"Authorization", buf_string(&head)}};
        const struct http_call ask = {.method = "POST",
                                      .url = source->token,
                                      .accept = "application/json",
                                      .type = "application/x-www-form-urlencoded",
                                      .fields = fields,
                                      .field_count = head.len ? 1 : 0,
                                      .body = buf_string(&form),
                                      .len = form.len,
                                      .timeout = ISSUERS_FETCH_SPAN,
                                      .bytes_max = ANSWER_MAX,
                                      .older_tls = true,
                                      .https_only = !source->entry.plain,
                                      .may_connect = may_connect,
                                      .may_user = call->source};

        failed = client_send(source->door, &ask, answer_came, call) ? 0 : err_set(err, "nothing is sent any more");
    }
    buf_wipe(&form);
    buf_wipe(&secret);
    buf_wipe(&pair);
    buf_wipe(&head);
    buf_done(&form);
    buf_done(&secret);
    buf_done(&pair);
    buf_done(&head);
    return failed;
}

static struct source *mark_find(struct issuers *issuers, const unsigned char mark[16])
{
    for (uint32_t i = 0; issuers && i < issuers->count; i++)
        if (issuers->sources[i].door && !memcmp(issuers->sources[i].mark, mark, 16))
            return &issuers->sources[i];
    return NULL;
}

/* What is wrong with what the browser brought, before anybody is asked. */
static enum signin_fault answer_check(struct signins *signins, struct issuers *issuers,
                                      const struct signin_answer *answer, int64_t now, struct signin_state *ret_state,
                                      struct source **ret_source)
{
    if (!answer->cookie || !answer->state ||
        !signin_state_open(answer->cookie, answer->cookie_len, signins->key, now, ret_state) ||
        !signin_state_is(ret_state, answer->state) || !ends_first(signins, ret_state))
        return SIGNIN_EXPIRED;
    *ret_source = mark_find(issuers, ret_state->issuer);
    if (!*ret_source)
        return SIGNIN_UNKNOWN;
    if (answer->issuer && strcmp(answer->issuer, (*ret_source)->entry.issuer.url) != 0)
        return SIGNIN_ISSUER;
    if (answer->error)
        return strcmp(answer->error, "access_denied") ? SIGNIN_ISSUER : SIGNIN_DENIED;
    if (!answer->code || !*answer->code || strlen(answer->code) > SIGNIN_CODE_MAX)
        return SIGNIN_ISSUER;
    return (*ret_source)->under_way >= SIGNIN_UNDER_WAY_MAX ? SIGNIN_BUSY : SIGNIN_OK;
}

struct signin_call *signin_end(struct signins *signins, struct issuers *issuers, const struct signin_answer *answer,
                               const char *back, int64_t now, signin_done_fn *done, void *user)
{
    struct source *source = NULL;
    struct signed_in told = {.why = ""};
    struct signin_call *call;
    struct signin_state state;
    struct err err = {0};

    told.fault = answer_check(signins, issuers, answer, now, &state, &source);
    if (source)
        told.issuer = source->entry.issuer.url;
    if (told.fault == SIGNIN_ISSUER && answer->error)
        told.why = answer->error;
    if (told.fault != SIGNIN_OK) {
        done(user, &told);
        return NULL;
    }
    call = mem_alloc(sizeof *call);
    *call = (struct signin_call){.source = source, .state = state, .done = done, .user = user};
    source->under_way++;
    if (code_send(call, answer->code, back, &err) == 0)
        return call;
    call_end(call, &(struct signed_in){.fault = SIGNIN_ISSUER, .why = err.text});
    return NULL;
}

void signin_forget(struct signin_call *call)
{
    if (call)
        call->done = NULL;
}

int signin_secret_read(const char *path, struct buf *ret, struct err *err)
{
    struct stat state;
    int got = stat(path, &state) == 0 && state.st_mode & (S_IROTH | S_IWOTH)
                  ? err_set(err, "others can read it or write it")
                  : read_file(path, SIGNIN_SECRET_MAX, true, ret, err);

    if (got == 0)
        err_set(err, "there is no such file");
    while (got == 1 && ret->len && strchr("\r\n", ret->text[ret->len - 1]))
        ret->len--;
    if (got == 1 && (!ret->len || strlen(buf_string(ret)) != ret->len))
        got = err_set(err, "expected a secret");
    if (got != 1)
        err_context(err, "ClientSecret: %s", path);
    return got == 1 ? 0 : -1;
}
