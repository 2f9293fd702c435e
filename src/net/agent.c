/* agent.c: a provider or a customer, live: its keys, the pool's keys, and telling the matchmaker of itself. */
#include "net/agent_parts.h"

#include "base/mem.h"
#include "net/agents.h"
#include "net/codes.h"
#include "net/represent.h"
#include "net/secrets.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_SPACE "key" /* rows: box, tls.cert, tls.key, pool */

agent agent_self(const char *identity, const char *name)
{
    return agent_handle(identity, name);
}

agent agent_matchmaker(void)
{
    return agent_handle("matchmaker", "");
}

/* ------------------------------------------------------------------------------------------------------- the matchmaker */

bool agent_call(struct live_agent *live, struct agent_call *ret, const char *method, const char *path)
{
    const char *base = live->settings->matchmakers[live->at];
    bool local = !strncmp(base, "unix:", 5);
    int64_t now = runner_wall() / SECOND;
    size_t end = strlen(base);
    struct err err = {0};

    while (end && base[end - 1] == '/')
        end--;
    snprintf(ret->url, sizeof ret->url, "%.*s%s", local ? 17 : (int)end, local ? "http://matchmaker" : base, path);
    if (now >= live->bearer_ends) {
        buf_reset(&live->bearer);
        if (token_file_bearer(&live->bearer, live->settings->token, NULL, now, &live->bearer_ends, &err) < 0) {
            LOG(live->settings->log, LEVEL_ERROR, "token", log_text("why", err.text));
            return false;
        }
        live->bearer_ends -= 60;
    }
    ret->fields[0] = (struct http_field){"Berth-Agent", live->settings->name};
    ret->call = (struct call){.method = method,
                              .url = ret->url,
                              .unix_socket = local ? base + 5 : NULL,
                              .token = buf_string(&live->bearer),
                              .type = TYPE_CLASSAD,
                              .accept = TYPE_CLASSAD,
                              .fields = ret->fields,
                              .field_count = *live->settings->name ? 1 : 0,
                              .timeout = live->settings->spans->deadline};
    return true;
}

/* One that does not answer, several times, is left for the next. */
void agent_heard(struct live_agent *live, const struct outcome *outcome)
{
    if (outcome->result == CALL_ANSWERED && outcome->status < 500) {
        live->failures = 0;
        return;
    }
    if (++live->failures < AGENT_FAILURES || live->settings->matchmaker_count < 2)
        return;
    live->failures = 0;
    live->at = (live->at + 1) % live->settings->matchmaker_count;
    live->counts.failed_over++;
    live->standing = UNKNOWN_THERE;
    live->pool_asked = 0;
    LOG(live->settings->log, LEVEL_WARNING, "matchmaker.next", log_text("url", live->settings->matchmakers[live->at]));
    if (live->stream) {
        client_cancel(live->client, live->stream);
        live->stream = 0;
        agent_listen(live);
    }
}

/* --------------------------------------------------------------------------------------------------------- the pool's keys */

static bool keys_take(struct live_agent *live, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Keys"), *parts;
    struct token_keys keys = {.count = 0};
    struct box_public box;
    const char *text;
    size_t len;

    if (!ad_string(ad, "PoolId", &text, &len) || len != TOKEN_ID_DIGITS || !list || list->kind != EXPR_LIST)
        return false;
    memcpy(keys.issuer, text, len);
    parts = tree_parts(ad, list);
    for (uint32_t i = 0; i < list->u.run.count && keys.count < TOKEN_KEYS_MAX; i++) {
        symbol name = symbols_find(live->symbols, "Key", 3);
        const struct expr *key = parts[i].kind == EXPR_AD && name ? tree_find(ad, &parts[i], name) : NULL;
        struct token_key *row = &keys.keys[keys.count];

        if (!key || key->kind != EXPR_STRING ||
            !hex_read(tree_string(ad, key), key->u.run.count, row->open.bytes, PUBLIC_KEY_BYTES))
            return false;
        public_key_id(&row->open, row->id);
        keys.count++;
    }
    /* The pool that we belong to is the one that our own token names. */
    if (!keys.count || (live->has_pool && strcmp(live->pool.issuer, keys.issuer) != 0))
        return false;
    if (!ad_string(ad, "BoxKey", &text, &len) || !hex_read(text, len, box.bytes, BOX_KEY_BYTES))
        return false;
    live->pool = keys;
    live->pool_box = box;
    live->has_pool = live->has_pool_box = true;
    token_agent_audience(keys.issuer, live->self, live->audience);
    token_cache_retain(live->tokens, &live->pool);
    return true;
}

void agent_doubt_keys(struct live_agent *live)
{
    int64_t soon = runner_wall() / SECOND - AGENT_KEYS_SPAN + AGENT_KEYS_PAUSE;

    if (!live->has_pool_box)
        live->pool_asked = 0; /* there are none yet: with the next message, which waits for them */
    else if (live->pool_asked > soon)
        live->pool_asked = soon;
}

/* A list that is there takes the place of the one before; strangers are told none. */
static bool revoked_take(struct live_agent *live, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Revoked"), *parts;

    if (!list || list->kind != EXPR_LIST)
        return false;
    parts = tree_parts(ad, list);
    textmap_done(&live->revoked);
    textmap_init(&live->revoked, secrets_word(&secrets_live));
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (parts[i].kind == EXPR_STRING && parts[i].u.run.count == TOKEN_ID_DIGITS)
            textmap_add(&live->revoked, tree_string(ad, &parts[i]), TOKEN_ID_DIGITS);
    return true;
}

static void keys_done(void *user, const struct outcome *outcome)
{
    struct live_agent *live = user;
    struct shelf *shelf = live->settings->shelf;
    struct tree *ad;
    struct err err;

    if (outcome->result == CALL_CANCELLED || outcome->result != CALL_ANSWERED || outcome->status != 200) {
        agent_doubt_keys(live);
        return;
    }
    ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, outcome->body, outcome->len, &err);
    if (ad && keys_take(live, ad) && revoked_take(live, ad) &&
        shelf->kind->put(shelf, KEY_SPACE, "pool", 4, outcome->body, outcome->len, &err) == 0)
        runner_commit(live->runner, NULL, NULL);
    tree_unref(ad);
}

static void register_done(void *user, const struct outcome *outcome)
{
    struct live_agent *live = user;

    if (outcome->result == CALL_CANCELLED)
        return;
    agent_heard(live, outcome);
    if (live->standing == BEING_REGISTERED)
        live->standing = outcome->result == CALL_ANSWERED && outcome->status < 300 ? REGISTERED : UNKNOWN_THERE;
    if (live->standing != REGISTERED)
        LOG(live->settings->log, LEVEL_WARNING, "register.failed", log_number("status", outcome->status),
            log_text("why", outcome->error ? outcome->error : outcome->body));
}

/* The matchmaker is told who we are and how we are reached. */
static void agent_register(struct live_agent *live)
{
    char digits[2 * KEY_BYTES + 1], host[256] = "", process[24], path[AGENT_NAME_MAX + 32];
    struct agent_call call = {.url = ""};
    struct maker maker;
    struct tree *ad;

    if (live->standing != UNKNOWN_THERE)
        return;
    snprintf(path, sizeof path, "/v1/agents/%s", live->settings->name);
    if (!agent_call(live, &call, "PUT", path))
        return;
    live->standing = BEING_REGISTERED;
    gethostname(host, sizeof host - 1);
    snprintf(process, sizeof process, "%ld", (long)getpid());
    maker_init(&maker, live->symbols);
    maker_text(&maker, "Host", host);
    maker_text(&maker, "Process", process);
    maker_text(&maker, "Version", live->settings->version);
    hex_print(live->box.open.bytes, BOX_KEY_BYTES, digits);
    maker_text(&maker, "BoxKey", digits);
    if (live->contact) {
        hex_print(live->challenge.bytes, KEY_BYTES, digits);
        maker_text(&maker, "Contact", live->contact);
        maker_text(&maker, "Pin", live->pin);
        maker_text(&maker, "Challenge", digits);
    }
    ad = maker_seal(&maker);
    buf_reset(&live->text);
    represent_ad(&live->text, FORM_CLASSAD, ad);
    tree_unref(ad);
    call.call.body = live->text.text;
    call.call.len = live->text.len;
    client_send(live->client, &call.call, register_done, live);
}

void agent_ask_keys(struct live_agent *live)
{
    int64_t now = runner_wall() / SECOND;
    struct agent_call call = {.url = ""};

    agent_register(live);
    agent_inbound_sweep(live, false);
    if ((live->pool_asked && now < live->pool_asked + AGENT_KEYS_SPAN) || !agent_call(live, &call, "GET", "/v1/keys"))
        return;
    live->pool_asked = now;
    client_send(live->client, &call.call, keys_done, live);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

/* A row of the keys; true when it is there. */
static bool key_get(struct live_agent *live, const char *name, struct buf *ret)
{
    struct shelf *shelf = live->settings->shelf;
    struct err err;

    buf_reset(ret);
    return shelf->kind->get(shelf, KEY_SPACE, name, strlen(name), row_copy, ret, &err) == 0 && ret->len;
}

static int key_put(struct live_agent *live, const char *name, const void *bytes, size_t len, struct err *err)
{
    struct shelf *shelf = live->settings->shelf;

    return shelf->kind->put(shelf, KEY_SPACE, name, strlen(name), bytes, len, err);
}

static bool is_local(const char *listen)
{
    return !strncmp(listen, "127.", 4) || !strncmp(listen, "[::1]", 5) || !strncmp(listen, "unix:", 5);
}

/* Its own keys: the ones that were kept, or new ones, which are kept first. */
static int keys_make(struct live_agent *live, struct err *err)
{
    struct shelf *shelf = live->settings->shelf;
    struct buf row;
    int failed = 0;

    buf_init(&row);
    if (key_get(live, "box", &row) && row.len == BOX_KEY_BYTES) {
        box_keys_from_secret((unsigned char *)row.text, &live->box);
    } else {
        box_keys_draw(&live->box);
        failed = key_put(live, "box", live->box.secret, BOX_KEY_BYTES, err);
    }
    if (!failed && live->settings->listen && !is_local(live->settings->listen)) {
        if (key_get(live, "tls.cert", &row)) {
            live->tls.cert = mem_dup(row.text, row.len);
            if (key_get(live, "tls.key", &row))
                live->tls.key = mem_dup(row.text, row.len);
        }
        if (!live->tls.key) {
            cert_pair_done(&live->tls);
            failed = cert_make_own(live->settings->name, runner_wall() / SECOND, &live->tls, err) < 0 ||
                     key_put(live, "tls.cert", live->tls.cert, strlen(live->tls.cert), err) < 0 ||
                     key_put(live, "tls.key", live->tls.key, strlen(live->tls.key), err) < 0;
        }
        buf_reset(&row);
        if (!failed && !(failed = cert_pin(&row, live->tls.cert, err)))
            live->pin = mem_dup(row.text, row.len);
    }
    buf_wipe(&row);
    buf_done(&row);
    return failed ? -1 : shelf->kind->commit(shelf, err);
}

static void pool_load(struct live_agent *live)
{
    struct grant grant;
    struct tree *ad;
    struct buf row;
    struct err err;

    if (token_read(live->settings->token->token, strlen(live->settings->token->token), &grant) == TOKEN_OK) {
        memcpy(live->pool.issuer, grant.issuer, sizeof live->pool.issuer);
        live->has_pool = true; /* its id, at least */
    }
    buf_init(&row);
    if (key_get(live, "pool", &row)) {
        ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&row), row.len, &err);
        if (ad && keys_take(live, ad))
            revoked_take(live, ad);
        tree_unref(ad);
    }
    buf_done(&row);
    token_agent_audience(live->pool.issuer, live->self, live->audience);
}

static int server_start(struct live_agent *live, struct err *err)
{
    const struct agent_settings *settings = live->settings;
    struct server_handler handler = agent_handler;
    char contact[512];

    if (!settings->listen)
        return 0;
    handler.user = live;
    live->server = server_new(live->loop, settings->listen, live->tls.cert, live->tls.key,
                              &(struct server_limits){.head = 0}, &handler, err);
    if (!live->server)
        return -1;
    snprintf(contact, sizeof contact, "%s://%s", live->tls.cert ? "https" : "http", server_address(live->server));
    live->contact = mem_dup(settings->contact ? settings->contact : contact,
                            strlen(settings->contact ? settings->contact : contact));
    return 0;
}

static void role_note(void *user, const struct effect *effect)
{
    struct live_agent *live = user;

    LOG(live->settings->log, LEVEL_INFO, "note", log_text("what", effect->note), log_word("claim", effect->claim),
        log_text("reason", reason_words(effect->reason)));
}

static void role_broken(void *user, const char *why)
{
    struct live_agent *live = user;

    LOG(live->settings->log, LEVEL_ERROR, "store.failed", log_text("why", why));
    if (live->settings->broken)
        live->settings->broken(live->settings->user, why);
}

static void role_job(void *user, const struct effect *effect)
{
    struct live_agent *live = user;

    if (live->settings->job)
        live->settings->job(live->settings->user, effect);
}

static void role_changed(void *user, uint64_t job)
{
    struct live_agent *live = user;

    if (live->settings->changed)
        live->settings->changed(live->settings->user, job);
}

static int agent_start(struct live_agent *live, struct err *err)
{
    const struct agent_settings *settings = live->settings;
    struct runner_ports ports = {.user = live,
                                 .send = agent_send,
                                 .reply = agent_reply,
                                 .job = role_job,
                                 .changed = role_changed,
                                 .note = role_note,
                                 .broken = role_broken};
    struct client_settings client = {.ca_file = settings->ca_file, .at_once = 256, .per_host = 64};

    if (!settings->token || !settings->matchmaker_count || !agent_name_is_good(settings->name, strlen(settings->name)))
        return err_set(err, "an agent needs a token, a name and a matchmaker");
    if (keys_make(live, err) < 0 || contacts_load(&live->contacts, live->symbols, err) < 0)
        return -1;
    pool_load(live);
    secrets_live.draw(secrets_live.user, live->challenge.bytes, KEY_BYTES);
    live->client = client_new(live->loop, &client, err);
    if (!live->client || server_start(live, err) < 0)
        return -1;
    live->runner = runner_new(live->loop, settings->role, settings->role_settings, settings->shelf, live->symbols,
                              &secrets_live, &ports, err);
    return live->runner ? 0 : -1;
}

struct live_agent *agent_new(uv_loop_t *loop, const struct agent_settings *settings, struct err *err)
{
    struct live_agent *live = mem_alloc(sizeof *live);

    if (sodium_init() < 0)
        abort();
    memset(live, 0, sizeof *live);
    live->loop = loop;
    live->settings = settings;
    live->self = agent_self(settings->identity, settings->name);
    live->matchmaker = agent_matchmaker();
    live->symbols = settings->symbols;
    live->tokens = token_cache_new(1024);
    textmap_init(&live->revoked, secrets_word(&secrets_live));
    live->pause = settings->spans->retry;
    contacts_init(&live->contacts, settings->shelf, secrets_word(&secrets_live));
    map_init(&live->locals, 0);
    buf_init(&live->bearer);
    buf_init(&live->text);
    uv_timer_init(loop, &live->again);
    live->again.data = live;
    uv_timer_init(loop, &live->bundling);
    live->bundling.data = live;
    if (agent_start(live, err) < 0) {
        agent_free(live);
        return NULL;
    }
    agent_listen(live);
    return live;
}

/* The last of its handles takes it along. */
static void agent_closed(uv_handle_t *handle)
{
    struct live_agent *live = handle->data;

    if (!--live->handles)
        free(live);
}

void agent_free(struct live_agent *live)
{
    if (!live)
        return;
    live->closing = true;
    server_free(live->server); /* which still speaks of exchanges that wait */
    agent_inbound_sweep(live, true);
    client_free(live->client);
    agent_bundle_drop(live);
    runner_free(live->runner);
    agent_local_done(live);
    if (live->reader.event)
        events_reader_done(&live->reader);
    contacts_done(&live->contacts);
    token_cache_free(live->tokens);
    textmap_done(&live->revoked);
    box_keys_done(&live->box);
    cert_pair_done(&live->tls);
    buf_wipe(&live->bearer);
    buf_done(&live->bearer);
    buf_done(&live->text);
    free(live->pin);
    free(live->contact);
    live->handles = 2;
    uv_close((uv_handle_t *)&live->again, agent_closed);
    uv_close((uv_handle_t *)&live->bundling, agent_closed);
}

struct runner *agent_runner(const struct live_agent *live)
{
    return live->runner;
}

const char *agent_address(const struct live_agent *live)
{
    return live->server ? server_address(live->server) : "";
}

bool agent_known(struct live_agent *live, agent who, const char **ret_identity, const char **ret_name)
{
    const struct contact *contact = contacts_find(&live->contacts, who);

    if (!contact)
        return false;
    *ret_identity = contact->identity;
    *ret_name = contact->name;
    return true;
}

bool agent_is_connected(const struct live_agent *live)
{
    return live->standing == REGISTERED && live->stream && !live->failures;
}

const char *agent_asks(const struct live_agent *live)
{
    return live->settings->matchmakers[live->at];
}

struct agent_counts agent_counts(const struct live_agent *live)
{
    return live->counts;
}
