/* membership.c: an agent in one of its pools: that pool's keys, and telling the matchmaker there of itself. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/encoding.h"
#include "sys/names.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_SECONDS_MAX 25 /* that the matchmaker may be given to see whether we can be called */
#define KEY_ROW_MAX (TOKEN_ID_DIGITS + 8)

/* ------------------------------------------------------------------------------------------------------- the matchmaker */

int agent_put_incarnation(struct live_agent *live, uint64_t number, struct err *err)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return key_put(live, "incarnation", text, strlen(text), err);
}

static void superseded(struct membership *pool)
{
    struct live_agent *live = pool->live;

    if (live->superseded)
        return;
    live->superseded = true;
    LOG(live->settings->log, LEVEL_ERROR, "superseded", log_text("name", live->settings->name),
        log_text(
            "why",
            "another with this identity and name began later, from a copy of this state: this one takes no more work. End one of them, and give the other a name and a token of its own"));
    if (live->settings->superseded)
        live->settings->superseded(live->settings->user);
    else
        runner_halt(live->runner);
}

/* Its row is durable, and we may act: whoever has lost the rows to another process never comes here, and does not put that one down by a number that is
 * above its own. */
static void raise_durable(void *user, bool durable)
{
    struct live_agent *live = user;

    if (!durable)
        return;
    live->incarnation = live->raised;
    live->raised = 0;
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (live->pools[i].standing == UNKNOWN_THERE && !live->closing)
            agent_describe(&live->pools[i]);
}

/* Begins to take a number above that one, for we began later than who has it. */
static void agent_raise(struct live_agent *live, uint64_t above)
{
    uint64_t number = (above > live->incarnation ? above : live->incarnation) + 1;
    struct err err = {0};

    if (live->raised || agent_put_incarnation(live, number, &err) < 0)
        return;
    live->raised = number;
    runner_commit(live->runner, raise_durable, live);
}

bool agent_heard_later(struct membership *pool, const struct http_outcome *outcome)
{
    static const char words[] = "superseded: incarnation ";
    const char *said = outcome->result == CALL_ANSWERED && outcome->status == 409 ? strstr(outcome->body, words) : NULL;
    uint64_t last = said ? strtoull(said + strlen(words), NULL, 10) : 0;

    if (!last)
        return false;
    if (pool->accepted) {
        superseded(pool);
    } else {
        pool->standing = UNKNOWN_THERE;
        agent_raise(pool->live, last);
    }
    return true;
}

bool agent_call(struct membership *pool, struct agent_call *ret, const char *method, const char *path)
{
    const char *base = pool->places[pool->at];
    bool local = !strncmp(base, "unix:", 5);
    int64_t wall = runner_wall(), now = runner_now(), ends;
    size_t end = strlen(base);
    struct err err = {0};

    while (end && base[end - 1] == '/')
        end--;
    snprintf(ret->url, sizeof ret->url, "%.*s%s", local ? 17 : (int)end, local ? "http://matchmaker" : base, path);
    if (!token_made_serves(&pool->bearer_made, wall, now)) {
        buf_reset(&pool->bearer);
        if (token_file_bearer(&pool->bearer, pool->is.token, NULL, wall / SECOND, &ends, &err) < 0) {
            pool->bearer_made = (struct token_made){.span = 0};
            LOG(pool->live->settings->log, LEVEL_ERROR, "token", log_text("why", err.text));
            return false;
        }
        pool->bearer_made = token_made_at(wall, now, ends, TOKEN_BEARER_SPAN);
    }
    ret->fields[0] = (struct http_field){"Berth-Agent", pool->live->settings->name};
    if (pool->live->superseded)
        return false;
    snprintf(ret->incarnation, sizeof ret->incarnation, "%" PRIu64 ".%016" PRIx64, pool->live->incarnation,
             pool->live->process);
    ret->fields[*pool->live->settings->name ? 1 : 0] = (struct http_field){"Berth-Incarnation", ret->incarnation};
    ret->call = (struct http_call){.method = method,
                                   .url = ret->url,
                                   .unix_socket = local ? base + 5 : NULL,
                                   .token = buf_string(&pool->bearer),
                                   .plain_token = token_file_names(pool->is.token, base),
                                   .type = TYPE_CLASSAD,
                                   .accept = TYPE_CLASSAD,
                                   .fields = ret->fields,
                                   .field_count = *pool->live->settings->name ? 2 : 1,
                                   .timeout = pool->live->settings->spans->deadline};
    return true;
}

bool agent_call_known(struct membership *pool, struct agent_call *ret, const char *path)
{
    if (!agent_call(pool, ret, "POST", path))
        return false;
    ret->fields[ret->call.field_count++] = (struct http_field){"Berth-Introduced", "true"};
    return true;
}

void agent_heard_known(struct membership *pool, const struct http_outcome *outcome)
{
    agent_heard(pool, outcome);
    if (agent_heard_later(pool, outcome))
        return;
    if (outcome->result != CALL_ANSWERED || outcome->status != 412)
        return;
    /* It was started anew since we told it, and no stream of ours broke: there was none just then. */
    pool->standing = UNKNOWN_THERE;
    agent_describe(pool);
}

/* Notes whether a matchmaker was heard. One that does not answer, several times, is left for the next; one that stands by is left by the stream. */
void agent_heard(struct membership *pool, const struct http_outcome *outcome)
{
    if (http_stands_by(outcome))
        return;
    if (outcome->result == CALL_ANSWERED && outcome->status < 500) {
        pool->failures = 0;
        return;
    }
    if (++pool->failures < AGENT_FAILURES || !follow_next(pool))
        return;
    if (pool->stream) {
        client_cancel(pool->client, pool->stream);
        pool->stream = 0;
        agent_listen(pool);
    }
}

/* --------------------------------------------------------------------------------------------------------- the pool's keys */

static bool keys_take(struct membership *pool, const struct tree *ad)
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
        symbol name = symbols_find(pool->live->symbols, "Key", 3);
        const struct expr *key = parts[i].kind == EXPR_AD && name ? tree_find(ad, &parts[i], name) : NULL;
        struct token_key *row = &keys.keys[keys.count];

        if (!key || key->kind != EXPR_STRING ||
            !hex_read(tree_string(ad, key), key->u.run.count, row->open.bytes, PUBLIC_KEY_BYTES))
            return false;
        public_key_id(&row->open, row->id);
        keys.count++;
    }
    /* The pool that we belong to is the one that our own token names. */
    if (!keys.count || (pool->has_keys && strcmp(pool->keys.issuer, keys.issuer) != 0))
        return false;
    if (!ad_string(ad, "BoxKey", &text, &len) || !hex_read(text, len, box.bytes, BOX_KEY_BYTES))
        return false;
    pool->keys = keys;
    pool->box = box;
    pool->has_keys = pool->has_box = true;
    token_agent_audience(keys.issuer, pool->self, pool->audience);
    token_cache_retain(pool->tokens, &pool->keys);
    return true;
}

void agent_doubt_keys(struct membership *pool)
{
    int64_t soon = runner_now() - AGENT_KEYS_SPAN + AGENT_KEYS_PAUSE;

    if (!pool->has_box)
        pool->keys_asked = 0; /* there are none yet: with the next message, which waits for them */
    else if (pool->keys_asked > soon)
        pool->keys_asked = soon;
}

/* Takes the list of revoked tokens, if there is one, in the place of the one before; strangers are not told any. */
static bool revoked_take(struct membership *pool, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Revoked"), *parts;

    if (!list || list->kind != EXPR_LIST)
        return false;
    parts = tree_parts(ad, list);
    textmap_done(&pool->revoked);
    textmap_init(&pool->revoked, secrets_word(&secrets_live));
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (parts[i].kind == EXPR_STRING && parts[i].u.run.count == TOKEN_ID_DIGITS)
            textmap_add(&pool->revoked, tree_string(ad, &parts[i]), TOKEN_ID_DIGITS);
    return true;
}

/* The user's claims get no further jobs, or end: each time the list comes, for what began meanwhile. */
static void user_shut(const struct membership *pool, const char *name, bool now)
{
    if (pool->live->runner)
        runner_event(pool->live->runner, &(struct event){.kind = EVENT_SHUT, .user = name, .status = now});
}

/* Takes the list of disabled users in the place of the one before. An older matchmaker tells none: then nobody is. */
static void disabled_take(struct membership *pool, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Disabled"), *parts;

    disabled_done(&pool->disabled);
    disabled_init(&pool->disabled, secrets_word(&secrets_live));
    if (!list || list->kind != EXPR_LIST)
        return;
    parts = tree_parts(ad, list);
    for (uint32_t i = 0; i < list->u.run.count && pool->disabled.names.count < DISABLED_MAX; i++) {
        struct tree *row = parts[i].kind == EXPR_AD ? ad_part(ad, &parts[i]) : NULL;
        struct disabled_entry entry = {.at = 0};
        const char *name;
        size_t len;

        if (row && ad_string(row, "Name", &name, &len) && subject_valid(name, len)) {
            ad_flag(row, "Now", &entry.now);
            disabled_set(&pool->disabled, name, len, &entry);
        }
        tree_unref(row);
    }
    for (uint32_t i = 0; i < pool->disabled.names.places; i++)
        if (textmap_text(&pool->disabled.names, i))
            user_shut(pool, textmap_text(&pool->disabled.names, i), pool->disabled.entries[i].now);
}

void agent_disabled(struct membership *pool, const char *name, size_t len, bool disabled, bool now)
{
    struct disabled_entry entry = {.now = now};
    char text[TOKEN_NAME_MAX + 1];

    if (!subject_valid(name, len) || (disabled && pool->disabled.names.count >= DISABLED_MAX))
        return;
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    if (disabled) {
        disabled_set(&pool->disabled, text, len, &entry);
        user_shut(pool, text, now);
    } else {
        disabled_remove(&pool->disabled, text, len);
    }
    if (!pool->keys_call)
        return;
    pool->keys_asked = 0; /* the list under way may be of before */
    agent_ask_keys(pool);
}

/* The row in which the pool's keys are kept. */
static const char *key_row(const struct membership *pool, char ret[KEY_ROW_MAX])
{
    snprintf(ret, KEY_ROW_MAX, pool->salt ? "pool.%s" : "pool", pool->keys.issuer);
    return ret;
}

static void keys_done(void *user, const struct http_outcome *outcome)
{
    struct membership *pool = user;
    struct live_agent *live = pool->live;
    char row[KEY_ROW_MAX];
    bool first = !pool->has_box, kept = false;
    struct tree *ad;
    struct err err;

    pool->keys_call = 0;
    if (outcome->result == CALL_CANCELLED || outcome->result != CALL_ANSWERED || outcome->status != 200) {
        agent_doubt_keys(pool);
        return;
    }
    ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, outcome->body, outcome->len, &err);
    if (ad && keys_take(pool, ad) && revoked_take(pool, ad)) {
        follow_learn(pool, ad);
        kept = key_put(live, key_row(pool, row), outcome->body, outcome->len, &err) == 0;
    }
    if (kept)
        runner_commit(live->runner, NULL, NULL);
    if (ad && ad_find(ad, "Revoked")) /* it was told to a member of the pool */
        disabled_take(pool, ad);
    tree_unref(ad);
    if (first && pool->has_box && pool->standing == REGISTERED) /* until now nothing could be told to it */
        runner_event(live->runner, &(struct event){.kind = EVENT_KNOWN, .claim = pool->matchmaker});
}

/* Notes whether the matchmaker can call us, and logs it once: if not, all goes by its relay, and whoever runs us is told what to do. */
static void contact_note(struct membership *pool, const struct http_outcome *outcome)
{
    struct live_agent *live = pool->live;
    const char *state = "";
    bool good, bad;
    struct tree *ad;
    struct err err;
    size_t len = 0;

    if (!live->contact)
        return;
    ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, outcome->body, outcome->len, &err);
    if (ad)
        ad_string(ad, "ContactState", &state, &len);
    good = len == 4 && !memcmp(state, "good", 4);
    bad = len == 3 && !memcmp(state, "bad", 3);
    if (good && !live->contact_told)
        LOG(live->settings->log, LEVEL_INFO, "contact.good", log_text("contact", live->contact));
    if (bad && !live->contact_told)
        LOG(live->settings->log, LEVEL_WARNING, "contact.bad", log_text("contact", live->contact),
            log_text("why", "the matchmaker cannot call this address: files and heart beats go by its relay, which is "
                            "slower. Open the port to the machines of the pool, or name another address in "
                            "CustomerListen or ProviderListen"));
    live->contact_told = live->contact_told || good || bad;
    pool->contact_bad = bad || (pool->contact_bad && !good);
    tree_unref(ad);
}

/* Notes what the matchmaker says that it understands; earlier ones say nothing. */
static void knows_note(struct membership *pool, const struct http_outcome *outcome)
{
    struct live_agent *live = pool->live;
    const char *knows = "";
    bool traces = false;
    struct tree *ad;
    struct err err;
    size_t len = 0;

    ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, outcome->body, outcome->len, &err);
    if (ad)
        ad_string(ad, "Knows", &knows, &len);
    pool->takes_usage = len == 5 && !memcmp(knows, "usage", 5);
    pool->takes_trace = ad && ad_flag(ad, "KnowsTrace", &traces) && traces;
    tree_unref(ad);
}

static void register_done(void *user, const struct http_outcome *outcome)
{
    struct membership *pool = user;
    bool good = outcome->result == CALL_ANSWERED && outcome->status < 300, news = pool->standing == BEING_REGISTERED;

    if (outcome->result == CALL_CANCELLED)
        return;
    pool->describing = false;
    pool->describe_call = 0;
    agent_heard(pool, outcome);
    if (agent_heard_later(pool, outcome))
        return;
    pool->accepted = pool->accepted || good;
    if (good) {
        contact_note(pool, outcome);
        knows_note(pool, outcome);
    }
    if (pool->standing == BEING_REGISTERED || !good)
        pool->standing = good ? REGISTERED : UNKNOWN_THERE;
    if (pool->standing == REGISTERED)
        pool->absence = pool->live->settings->spans->retry;
    if (!good && !http_stands_by(outcome))
        LOG(pool->live->settings->log, LEVEL_WARNING, "register.failed",
            log_text("pool", *pool->is.name ? pool->is.name : NULL), log_number("status", outcome->status),
            log_text("why", outcome->error ? outcome->error : outcome->body));
    agent_bundle_send(pool);
    if (news && pool->standing == REGISTERED) /* it may have begun anew, and know nothing of our ads */
        runner_event(pool->live->runner, &(struct event){.kind = EVENT_KNOWN, .claim = pool->matchmaker});
    if (pool->describe_again)
        agent_describe(pool);
}

/* Writes what we say of ourselves, as the body of a call. */
static void agent_words(struct live_agent *live)
{
    char digits[2 * KEY_BYTES + 1], host[256] = "", process[24];
    struct maker maker;
    struct tree *ad;

    gethostname(host, sizeof host - 1);
    snprintf(process, sizeof process, "%ld", (long)getpid());
    maker_init(&maker, live->symbols);
    maker_text(&maker, "Host", host);
    maker_text(&maker, "Process", process);
    maker_text(&maker, "Version", live->settings->version);
    maker_text(&maker, "Role", live->settings->role->name);
    if (live->draining)
        maker_flag(&maker, "Draining", true);
    maker_text(&maker, "Note", *live->note ? live->note : NULL);
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
}

/* Tells the matchmaker who we are and how we are reached. False when it cannot be told. */
static bool agent_introduce(struct membership *pool)
{
    struct agent_call call = {.url = ""};
    int64_t seconds = (pool->live->settings->spans->deadline + SECOND - 1) / SECOND;
    char path[AGENT_NAME_MAX + 48];

    /* Whoever is matched with us is to be told where we are called: nothing is advertised before that was checked. Where it
     * has failed before, behind a firewall, we do not wait for it to fail again. */
    seconds = !pool->live->contact || pool->contact_bad ? 0 : seconds > CHECK_SECONDS_MAX ? CHECK_SECONDS_MAX : seconds;
    snprintf(path, sizeof path, "/v1/agents/%s?wait=%d", pool->live->settings->name, (int)seconds);
    if (!agent_call(pool, &call, "PUT", path))
        return false;
    call.fields[call.call.field_count++] = (struct http_field){"Berth-Knows", "receipts"};
    call.fields[call.call.field_count++] = (struct http_field){"Berth-Knows-Plans", "true"};
    agent_words(pool->live);
    call.call.body = pool->live->text.text;
    call.call.len = pool->live->text.len;
    call.call.timeout += seconds * SECOND;
    pool->describing = true;
    pool->describe_call = client_send(pool->client, &call.call, register_done, pool);
    return true;
}

void agent_describe(struct membership *pool)
{
    pool->describe_again = pool->describing; /* one at a time: the last word is to arrive last */
    if (pool->describing || !agent_introduce(pool))
        return;
    if (pool->standing == UNKNOWN_THERE)
        pool->standing = BEING_REGISTERED;
}

/* Tells the matchmakers a note about us. Where we are not known yet, the note goes with what makes us known. */
void agent_say(struct live_agent *live, const char *note)
{
    snprintf(live->note, sizeof live->note, "%s", note);
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (live->pools[i].standing != UNKNOWN_THERE)
            agent_describe(&live->pools[i]);
}

bool agent_is_saying(const struct live_agent *live)
{
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (live->pools[i].describing)
            return true;
    return false;
}

void agent_ask_keys(struct membership *pool)
{
    int64_t now = runner_now();
    struct agent_call call = {.url = ""};

    if (pool->standing == UNKNOWN_THERE)
        agent_describe(pool);
    agent_inbound_sweep(pool->live, false);
    command_replies_send(pool->live);
    if ((pool->keys_asked && now < pool->keys_asked + AGENT_KEYS_SPAN) || !agent_call(pool, &call, "GET", "/v1/keys"))
        return;
    pool->keys_asked = now;
    callers_sweep(&pool->live->gate.callers, now);
    client_cancel(pool->client, pool->keys_call); /* an older list must not come behind the newer */
    pool->keys_call = client_send(pool->client, &call.call, keys_done, pool);
}

void agent_revoked(struct membership *pool, const char id[TOKEN_ID_DIGITS])
{
    textmap_add(&pool->revoked, id, TOKEN_ID_DIGITS);
    if (!pool->keys_call)
        return;
    pool->keys_asked = 0; /* the list under way may be of before */
    agent_ask_keys(pool);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void contact_space(const struct membership *pool, char ret[CONTACT_SPACE_MAX + 1])
{
    snprintf(ret, CONTACT_SPACE_MAX + 1, pool->salt ? CONTACT_SPACE ".%.23s" : CONTACT_SPACE, pool->keys.issuer);
}

static void membership_load(struct membership *pool)
{
    struct live_agent *live = pool->live;
    char name[KEY_ROW_MAX];
    struct tree *ad;
    struct buf row;
    struct err err;

    buf_init(&row);
    if (key_get(live, key_row(pool, name), &row)) {
        ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&row), row.len, &err);
        if (ad && keys_take(pool, ad)) {
            follow_learn(pool, ad);
            revoked_take(pool, ad);
            disabled_take(pool, ad);
        }
        tree_unref(ad);
    }
    buf_done(&row);
    token_agent_audience(pool->keys.issuer, pool->self, pool->audience);
}

static agent contact_enter(const void *user, uint64_t there)
{
    return handle_enter(user, there);
}

int membership_start(struct membership *pool, struct err *err)
{
    struct client_settings client = {.ca_file = pool->is.ca_file, .at_once = 256, .per_host = 64};
    char space[CONTACT_SPACE_MAX + 1];

    contact_space(pool, space);
    contacts_set_space(&pool->contacts, space, contact_enter, pool);
    if (contacts_load(&pool->contacts, pool->live->symbols, err) < 0)
        return -1;
    membership_load(pool);
    pool->client = client_new(pool->live->loop, &client, err);
    return pool->client ? 0 : -1;
}

void membership_init(struct membership *pool, struct live_agent *live, const struct agent_pool *is)
{
    struct grant grant;

    *pool = (struct membership){
        .live = live, .is = *is, .pause = live->settings->spans->retry, .absence = live->settings->spans->retry};
    pool->self = agent_self(is->identity, live->settings->name);
    pool->matchmaker = agent_pool_matchmaker(is->name);
    pool->tokens = token_cache_new(1024);
    textmap_init(&pool->revoked, secrets_word(&secrets_live));
    disabled_init(&pool->disabled, secrets_word(&secrets_live));
    contacts_init(&pool->contacts, live->settings->shelf, secrets_word(&secrets_live));
    buf_init(&pool->bearer);
    follow_init(pool);
    uv_timer_init(live->loop, &pool->again);
    uv_timer_init(live->loop, &pool->bundling);
    pool->again.data = pool->bundling.data = pool;
    if (is->token && token_read(is->token->token, strlen(is->token->token), &grant) == TOKEN_OK) {
        memcpy(pool->keys.issuer, grant.issuer, sizeof pool->keys.issuer);
        pool->has_keys = true; /* its id, at least */
    }
}

void membership_done(struct membership *pool)
{
    agent_bundle_drop(pool);
    follow_done(pool);
    if (pool->reader.event)
        events_reader_done(&pool->reader);
    contacts_done(&pool->contacts);
    token_cache_free(pool->tokens);
    textmap_done(&pool->revoked);
    disabled_done(&pool->disabled);
    buf_wipe(&pool->bearer);
    buf_done(&pool->bearer);
}

struct membership *membership_of(struct live_agent *live, agent who, struct contact **ret_contact)
{
    *ret_contact = NULL;
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (who == live->pools[i].matchmaker || (*ret_contact = contacts_find(&live->pools[i].contacts, who)))
            return &live->pools[i];
    return NULL;
}

bool membership_is_connected(const struct membership *pool)
{
    return pool->standing == REGISTERED && pool->stream && !pool->failures;
}
