/* agent.c: a provider or a customer, live: its keys, its role and its pools. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "sys/encoding.h"
#include "sys/names.h"
#include "sys/secrets.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

agent agent_self(const char *identity, const char *name)
{
    return agent_handle(identity, name);
}

agent agent_pool_matchmaker(const char *name)
{
    return agent_handle("matchmaker", name);
}

agent agent_matchmaker(void)
{
    return agent_pool_matchmaker("");
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

bool key_get(struct live_agent *live, const char *name, struct buf *ret)
{
    struct shelf *shelf = live->settings->shelf;
    struct err err;

    buf_reset(ret);
    return shelf->kind->get(shelf, KEY_SPACE, name, strlen(name), row_copy, ret, &err) == 0 && ret->len;
}

int key_put(struct live_agent *live, const char *name, const void *bytes, size_t len, struct err *err)
{
    struct shelf *shelf = live->settings->shelf;

    return shelf->kind->put(shelf, KEY_SPACE, name, strlen(name), bytes, len, err);
}

static bool is_local(const char *listen)
{
    return !strncmp(listen, "127.", 4) || !strncmp(listen, "[::1]", 5) || !strncmp(listen, "unix:", 5) ||
           !strncasecmp(listen, "localhost:", 10);
}

/* Makes the agent's own keys: those that were kept, or new ones, which are kept first. */
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

/* The id of the agent's first pool, if it is known. An agent that had but one pool before has its keys in the row "pool". */
static bool home_get(struct live_agent *live, struct buf *ret)
{
    struct tree *ad;
    const char *id;
    struct err err;
    size_t len;

    if (key_get(live, "home", ret))
        return true;
    if (live->pool_count < 2 || !key_get(live, "pool", ret))
        return false;
    ad = form_parse(live->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(ret), ret->len, &err);
    buf_reset(ret);
    if (ad && ad_string(ad, "PoolId", &id, &len))
        buf_add(ret, id, len);
    tree_unref(ad);
    return ret->len > 0;
}

/* Finds the pool whose handles are used as they are; those of further pools are mixed with the pool's id. Which pool that is never changes, whatever
 * the order of the pools is later: rows of the role have such handles. */
static int home_find(struct live_agent *live, struct err *err)
{
    const char *home = live->pools[0].keys.issuer;
    struct buf row;
    int failed = 0;

    buf_init(&row);
    if (home_get(live, &row))
        home = buf_string(&row);
    if (live->pool_count > 1)
        failed = key_put(live, "home", home, strlen(home), err) < 0 ||
                 live->settings->shelf->kind->commit(live->settings->shelf, err) < 0;
    for (uint32_t i = 0; i < live->pool_count; i++) {
        struct membership *pool = &live->pools[i];

        pool->salt = strcmp(pool->keys.issuer, home) != 0 ? pool_salt(pool->keys.issuer) : 0;
        for (uint32_t j = 0; j < i && !failed; j++)
            if (!strcmp(live->pools[j].keys.issuer, pool->keys.issuer))
                failed = err_set(err, "the pools %s and %s are the same one: their tokens say so",
                                 live->pools[j].is.name, pool->is.name);
    }
    buf_done(&row);
    return failed ? -1 : 0;
}

static int pools_start(struct live_agent *live, struct err *err)
{
    if (home_find(live, err) < 0)
        return -1;
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (membership_start(&live->pools[i], err) < 0)
            return -1;
    return 0;
}

static struct server *server_at(struct live_agent *live, const char *address, struct err *err)
{
    struct server_handler handler = front_handler;

    handler.user = &live->front;
    return server_new(live->loop, address, live->tls.cert, live->tls.key, &(struct server_limits){.head = 0}, &handler,
                      err);
}

/* Listens at the port of the last time, so that those who know it find us again after a restart; at another when it is taken. */
static struct server *server_again(struct live_agent *live, const char *listen, struct err *err)
{
    size_t host = strlen(listen) - strlen("0"); /* "10.0.0.5:0", up to the port */
    struct server *server = NULL;
    char address[512];
    const char *port;
    struct err taken;
    struct buf row;

    buf_init(&row);
    if (key_get(live, "port", &row)) {
        snprintf(address, sizeof address, "%.*s%.5s", (int)host, listen, buf_string(&row));
        server = server_at(live, address, &taken);
    }
    if (!server)
        server = server_at(live, listen, err);
    port = server ? strrchr(server_address(server), ':') : NULL;
    if (port && key_put(live, "port", port + 1, strlen(port + 1), err) < 0) {
        server_free(server);
        server = NULL;
    }
    buf_done(&row);
    return server;
}

static int server_start(struct live_agent *live, struct err *err)
{
    const struct agent_settings *settings = live->settings;
    const char *address, *port;
    char contact[512];

    if (!settings->listen)
        return 0;
    live->server =
        settings->keep_port ? server_again(live, settings->listen, err) : server_at(live, settings->listen, err);
    if (!live->server)
        return -1;
    address = server_address(live->server);
    port = strrchr(address, ':');
    if (settings->contact_host && port)
        snprintf(contact, sizeof contact, "%s://%s%s", live->tls.cert ? "https" : "http", settings->contact_host, port);
    else
        snprintf(contact, sizeof contact, "%s://%s", live->tls.cert ? "https" : "http", address);
    live->contact = mem_dup(settings->contact ? settings->contact : contact,
                            strlen(settings->contact ? settings->contact : contact));
    live->gate.called = live->contact;
    return 0;
}

static void role_note(void *user, const struct effect *effect)
{
    struct live_agent *live = user;

    LOG(live->settings->log, LEVEL_INFO, "note", log_text("what", effect->note), log_word("claim", effect->claim),
        log_text("reason", reason_words(effect->reason)));
}

static void role_committed(void *user, int64_t took)
{
    struct live_agent *live = user;

    metrics_count(live->settings->metrics, METRIC_COMMITS);
    metrics_observe(live->settings->metrics, METRIC_COMMIT_SECONDS, 0, took);
}

static void role_away(void *user, const char *why)
{
    struct live_agent *live = user;

    metrics_set(live->settings->metrics, METRIC_STORE_AWAY, 0, 0, why != NULL);
    if (why)
        LOG(live->settings->log, LEVEL_WARNING, "store.away", log_text("why", why));
    else
        LOG(live->settings->log, LEVEL_INFO, "store.back", log_text("why", "its database answers again"));
    agent_say(live, why ? "its database does not answer: it takes nothing" : "");
}

static void role_broken(void *user, const char *why)
{
    struct live_agent *live = user;

    metrics_count(live->settings->metrics, METRIC_COMMIT_FAILURES);
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

static bool role_goes_on(void *user)
{
    struct live_agent *live = user;

    return front_goes_on(&live->front);
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
                                 .goes_on = role_goes_on,
                                 .committed = role_committed,
                                 .away = role_away,
                                 .broken = role_broken};

    for (uint32_t i = 0; i < live->pool_count; i++)
        if (!live->pools[i].is.token || !live->pools[i].is.matchmaker_count ||
            !agent_name_is_good(settings->name, strlen(settings->name)))
            return err_set(err, "an agent needs a token, a name and a matchmaker");
    if (keys_make(live, err) < 0 || pools_start(live, err) < 0)
        return -1;
    secrets_live.draw(secrets_live.user, live->challenge.bytes, KEY_BYTES);
    if (server_start(live, err) < 0)
        return -1;
    live->runner = runner_new(live->loop, settings->role, settings->role_settings, settings->shelf, live->symbols,
                              &secrets_live, &ports, err);
    return live->runner ? 0 : -1;
}

static void pools_init(struct live_agent *live)
{
    const struct agent_settings *settings = live->settings;
    struct agent_pool own = {.name = settings->pool ? settings->pool : "",
                             .matchmakers = settings->matchmakers,
                             .matchmaker_count = settings->matchmaker_count,
                             .token = settings->token,
                             .identity = settings->identity,
                             .ca_file = settings->ca_file,
                             .networks = settings->networks,
                             .private_peers = settings->private_peers};

    live->pool_count = 1 + settings->other_count;
    live->pools = mem_alloc(live->pool_count * sizeof *live->pools);
    for (uint32_t i = 0; i < live->pool_count; i++)
        membership_init(&live->pools[i], live, i ? &settings->others[i - 1] : &own);
}

/* Begins an incarnation: one more than at the last start. Its row is durable with the first commit. */
static int incarnation_begin(struct live_agent *live, struct err *err)
{
    struct buf row;

    buf_init(&row);
    if (key_get(live, "incarnation", &row))
        live->incarnation = strtoull(buf_string(&row), NULL, 10);
    buf_done(&row);
    do
        live->process = secrets_word(&secrets_live);
    while (!live->process);
    return agent_put_incarnation(live, ++live->incarnation, err);
}

bool agent_is_superseded(const struct live_agent *live)
{
    return live->superseded;
}

struct live_agent *agent_new(uv_loop_t *loop, const struct agent_settings *settings, struct err *err)
{
    struct live_agent *live = mem_alloc(sizeof *live);

    if (sodium_init() < 0)
        abort();
    memset(live, 0, sizeof *live);
    live->loop = loop;
    live->settings = settings;
    live->symbols = settings->symbols;
    live->draining = settings->draining;
    map_init(&live->locals, 0);
    buf_init(&live->text);
    pools_init(live);
    agent_front_init(live);
    if (agent_start(live, err) < 0 || incarnation_begin(live, err) < 0) {
        agent_free(live);
        return NULL;
    }
    for (uint32_t i = 0; i < live->pool_count; i++)
        agent_listen(&live->pools[i]);
    return live;
}

/* Frees the agent when the last of its handles is closed. */
static void agent_closed(uv_handle_t *handle)
{
    struct live_agent *live = ((struct membership *)handle->data)->live;

    if (--live->handles)
        return;
    free(live->pools);
    free(live);
}

void agent_free(struct live_agent *live)
{
    if (!live)
        return;
    live->closing = true;
    server_free(live->server); /* which still speaks of exchanges that wait */
    agent_inbound_sweep(live, true);
    front_done(&live->front);
    gate_done(&live->gate);
    for (uint32_t i = 0; i < live->pool_count; i++)
        client_free(live->pools[i].client);
    for (uint32_t i = 0; i < live->pool_count; i++)
        agent_bundle_drop(&live->pools[i]);
    runner_free(live->runner);
    agent_local_done(live);
    command_replies_done(live);
    for (uint32_t i = 0; i < live->pool_count; i++)
        membership_done(&live->pools[i]);
    box_keys_done(&live->box);
    cert_pair_done(&live->tls);
    buf_done(&live->text);
    free(live->pin);
    free(live->contact);
    live->handles = 2 * live->pool_count;
    for (uint32_t i = 0, count = live->pool_count; i < count; i++) {
        uv_close((uv_handle_t *)&live->pools[i].again, agent_closed);
        uv_close((uv_handle_t *)&live->pools[i].bundling, agent_closed);
    }
}

struct runner *agent_runner(const struct live_agent *live)
{
    return live->runner;
}

const char *agent_contact(const struct live_agent *live)
{
    return live->contact;
}

const char *agent_pin(const struct live_agent *live)
{
    return live->pin;
}

const char *agent_address(const struct live_agent *live)
{
    return live->server ? server_address(live->server) : "";
}

bool agent_known(struct live_agent *live, agent who, const char **ret_identity, const char **ret_name)
{
    struct contact *contact;

    if (!membership_of(live, who, &contact) || !contact)
        return false;
    *ret_identity = contact->identity;
    *ret_name = contact->name;
    return true;
}

const char *agent_pool_of(struct live_agent *live, agent who)
{
    struct contact *contact;
    const struct membership *pool = membership_of(live, who, &contact);

    return pool && *pool->is.name ? pool->is.name : NULL;
}

bool agent_is_connected(const struct live_agent *live)
{
    for (uint32_t i = 0; i < live->pool_count; i++)
        if (membership_is_connected(&live->pools[i]))
            return true;
    return false;
}

const char *agent_asks(const struct live_agent *live)
{
    return live->pools[0].places[live->pools[0].at];
}

uint32_t agent_pools(const struct live_agent *live)
{
    return live->pool_count;
}

struct agent_pool_view agent_pool_view(const struct live_agent *live, uint32_t place)
{
    const struct membership *pool = &live->pools[place];

    return (struct agent_pool_view){.name = pool->is.name,
                                    .url = pool->places[pool->at],
                                    .identity = pool->is.identity,
                                    .connected = membership_is_connected(pool)};
}

struct agent_counts agent_counts(const struct live_agent *live)
{
    return live->counts;
}
