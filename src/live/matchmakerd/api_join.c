/* api_join.c: how machines join: codes, the pool's keys, and the token that a code buys. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/auth/roles.h"
#include "store/store.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_TRIES 100                     /* tries a second, from one address */
#define JOIN_AGAIN_MAX 20                  /* tokens that one code buys for who has used it first: each is a row */
#define JOIN_NAME_MAX 50                   /* so that the identity fits into an ad's Owner */
#define PERSON_SPAN (INT64_C(30) * 86400)  /* seconds that the token of a person lasts; it is renewed */
#define CODE_FOR_MAX (TOKEN_NAME_MAX + 16) /* "alice", or "alice serve" */

/* --------------------------------------------------------------------------------------------------------------- keys */

/* Adds the revoked tokens, so that agents refuse them too; only for callers that belong to the pool. */
static void revoked_add(struct maker *maker, const struct matchmakerd *matchmakerd)
{
    uint32_t end = matchmakerd->revoked.places, first = end > TOKEN_REVOKED_TOLD ? end - TOKEN_REVOKED_TOLD : 0;

    for (uint32_t i = first; i < end; i++)
        build_string(&maker->build, textmap_text(&matchmakerd->revoked, i), TOKEN_ID_DIGITS);
    build_bind(&maker->build, EXPR_LIST, end - first);
    build_attribute(&maker->build, symbols_take(matchmakerd->symbols, "Revoked", 7));
    maker->count++;
}

/* Adds the users who are disabled, for the same reason. */
static void disabled_add(struct maker *maker, const struct matchmakerd *matchmakerd)
{
    const struct disabled *book = &matchmakerd->disabled;
    struct tree *ads[DISABLED_MAX] = {NULL};
    uint32_t count = 0;

    for (uint32_t i = 0; i < book->names.places && count < DISABLED_MAX; i++) {
        struct maker row;

        if (!textmap_text(&book->names, i))
            continue;
        maker_init(&row, matchmakerd->symbols);
        maker_text(&row, "Name", textmap_text(&book->names, i));
        maker_flag(&row, "Now", book->entries[i].now);
        ads[count++] = maker_seal(&row);
    }
    maker_list(maker, "Disabled", ads, count);
    while (count)
        tree_unref(ads[--count]);
}

/* Adds where those are that lead this pool or stand by, so that agents find the one that leads. */
static void matchmakers_add(struct maker *maker, const struct matchmakerd *matchmakerd)
{
    struct store_replica replicas[STORE_REPLICAS_MAX];
    uint32_t count = matchmakerd_replicas(matchmakerd, replicas), given = 0;

    for (uint32_t i = 0; i < count; i++)
        if (*replicas[i].url) {
            build_string(&maker->build, replicas[i].url, strlen(replicas[i].url));
            given++;
        }
    if (!given)
        return;
    build_bind(&maker->build, EXPR_LIST, given);
    build_attribute(&maker->build, symbols_take(matchmakerd->symbols, "Matchmakers", 11));
    maker->count++;
}

void api_keys(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char digits[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "PoolId", keyring_pool(matchmakerd->keys));
    for (uint32_t i = 0; i < matchmakerd->token_keys.count; i++) {
        struct maker key;
        struct tree *ad;

        hex_print(matchmakerd->token_keys.keys[i].open.bytes, PUBLIC_KEY_BYTES, digits);
        maker_init(&key, matchmakerd->symbols);
        maker_text(&key, "Id", matchmakerd->token_keys.keys[i].id);
        maker_text(&key, "Key", digits);
        ad = maker_seal(&key);
        build_copy(&maker.build, ad, tree_root(ad));
        tree_unref(ad);
    }
    build_bind(&maker.build, EXPR_LIST, matchmakerd->token_keys.count);
    build_attribute(&maker.build, symbols_take(matchmakerd->symbols, "Keys", 4));
    maker.count++;
    hex_print(keyring_box(matchmakerd->keys)->open.bytes, BOX_KEY_BYTES, digits);
    maker_text(&maker, "BoxKey", digits);
    maker_text(&maker, "Ca", keyring_ca_pem(matchmakerd->keys));
    if (request->caller.identity != CALLERS_NONE)
        revoked_add(&maker, matchmakerd), disabled_add(&maker, matchmakerd), matchmakers_add(&maker, matchmakerd);
    request_ad_take(request, 200, maker_seal(&maker));
}

void api_keys_rotate(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct err err = {0};

    if (keyring_rotate(matchmakerd->keys, &err) < 0) {
        request_problem(request, 503, "%s", err.text);
        return;
    }
    keyring_token_keys(matchmakerd->keys, &matchmakerd->token_keys);
    token_cache_retain(matchmakerd->tokens, &matchmakerd->token_keys);
    if (keys_share(matchmakerd, &err) < 0) {
        request_store_failed(request, err.text);
        return;
    }
    LOG_AUDIT(&matchmakerd->log, "keys", log_text("subject", request_identity(request)));
    if (request_audit(request, "keys.rotate", "keys", NULL))
        request_commit(request, api_keys);
}

/* ------------------------------------------------------------------------------------------------------- codes, joining */

int matchmakerd_join_code(struct matchmakerd *matchmakerd, const struct code_purpose *purpose, struct buf *out,
                          struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    struct join_code code;
    struct join_row row = {0};
    unsigned char ca[CERT_HASH_BYTES];
    char key[24];
    int failed;

    keyring_ca_fingerprint(matchmakerd->keys, ca);
    if (join_book_make(matchmakerd->codes, ca, matchmakerd->url, runner_settled(matchmakerd->runner) / SECOND, &code,
                       &row, err) < 0)
        return -1;
    snprintf(key, sizeof key, "%016" PRIx64, row.number);
    failed = shelf->kind->put(shelf, CODE_SPACE, key, strlen(key), row.bytes, sizeof row.bytes, err);
    if (!failed && purpose)
        failed = shelf->kind->put(shelf, purpose->space, key, strlen(key), purpose->whom, strlen(purpose->whom), err);
    if (!failed)
        join_code_print(out, &code);
    join_code_done(&code);
    return failed;
}

bool person_valid(const char *name)
{
    return subject_valid(name, strlen(name)) && strlen(name) <= TEXT_MAX && strncmp(name, "machine/", 8) != 0 &&
           strcmp(name, "machine") != 0 && strcmp(name, "matchmaker") != 0;
}

/* Whom a code is for: "alice", "alice serve"; the name is written as it is into a token. */
static bool code_for(const char *customer, bool serves, char ret[CODE_FOR_MAX])
{
    if (!person_valid(customer))
        return false;
    snprintf(ret, CODE_FOR_MAX, "%s%s", customer, serves ? " serve" : "");
    return true;
}

void api_code_create(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *customer = exchange_query(request->exchange, "customer"), *user = request_query(request, "user");
    struct code_purpose purpose = {CODE_FOR_SPACE, NULL};
    char whom[CODE_FOR_MAX];
    struct err err = {0};
    struct tree *answer;
    struct maker maker;
    struct buf text;

    if (request_flag(request, "standby")) {
        if (customer || user || !keys_are_shared(matchmakerd)) {
            request_problem(request, customer || user ? 400 : 409, "%s",
                            customer || user ? "standby: expected no customer and no user"
                                             : "standby: the rows of this matchmaker are in a file: only one whose "
                                               "Store is a database can have another stand by");
            return;
        }
        purpose = (struct code_purpose){CODE_STANDBY_SPACE, "a matchmaker"};
    }
    if (customer && !code_for(customer, request_flag(request, "serve"), whom)) {
        request_problem(request, 400, "customer: expected the name of a user");
        return;
    }
    if (user && (customer || !person_valid(user) || strchr(user, '/'))) {
        request_problem(request, 400, "user: expected the name of a user, and no customer");
        return;
    }
    if (customer)
        purpose.whom = whom;
    else if (user)
        purpose = (struct code_purpose){CODE_USER_SPACE, user};
    if (!scopes_are_own(request, request_flag(request, "standby") ? SCOPE_ALL
                                 : user                           ? ROLE_PERSON
                                 : !customer                      ? ROLE_MACHINE
                                 : request_flag(request, "serve") ? ROLE_CUSTOMER | SCOPE_SERVE
                                                                  : ROLE_CUSTOMER))
        return;
    buf_init(&text);
    if (matchmakerd_join_code(matchmakerd, purpose.whom ? &purpose : NULL, &text, &err) < 0) {
        request_problem(request, 429, "%s", err.text);
    } else {
        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Code", buf_string(&text));
        maker_integer(&maker, "Expires", runner_wall() / SECOND + JOIN_SPAN);
        LOG_AUDIT(&matchmakerd->log, "code", log_text("subject", request_identity(request)),
                  log_text("for", purpose.whom));
        answer = maker_seal(&maker);
        if (request_audit(request, "codes.create", purpose.whom ? purpose.whom : "a machine", NULL))
            request_answer_durable(request, 201, answer);
        else
            tree_unref(answer);
    }
    buf_wipe(&text);
    buf_done(&text);
}

/* Looks for a token of that subject that was made for another key and is still valid. */
struct namesake {
    struct matchmakerd *matchmakerd;
    const char *subject, *key;
    int64_t now;
    bool found;
};

static bool namesake_row(void *user, const void *id, size_t id_len, const void *value, size_t len)
{
    struct namesake *namesake = user;
    const char *subject, *key;
    size_t subject_len, key_len;
    struct err err;
    int64_t expires;
    struct tree *ad =
        form_parse(namesake->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    namesake->found = ad && ad_string(ad, "Subject", &subject, &subject_len) &&
                      subject_len == strlen(namesake->subject) && !memcmp(subject, namesake->subject, subject_len) &&
                      ad_integer(ad, "Expires", &expires) && expires > namesake->now &&
                      textmap_find(&namesake->matchmakerd->revoked, id, id_len) == TEXTMAP_NONE &&
                      !(ad_string(ad, "Delegate", &key, &key_len) && key_len == strlen(namesake->key) &&
                        !memcmp(key, namesake->key, key_len));
    tree_unref(ad);
    return !namesake->found;
}

/* Does the name belong to another key? A machine's name belongs to the key that first joined under it. -1: that cannot be read. */
static int name_is_anothers(struct matchmakerd *matchmakerd, const char *subject, const struct public_key *key,
                            int64_t now)
{
    char digits[2 * PUBLIC_KEY_BYTES + 1];
    struct namesake namesake = {matchmakerd, subject, digits, now, false};
    struct err err;

    hex_print(key->bytes, PUBLIC_KEY_BYTES, digits);
    if (matchmakerd->shelf->kind->each(matchmakerd->shelf, TOKEN_SPACE, namesake_row, &namesake, &err) < 0)
        return -1;
    return namesake.found;
}

/* May the code buy a token, once more? Whoever has used it may ask again, for the answer may have been lost. False after a problem was answered. */
static bool code_buys(struct request *request, const char *code)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t at = 0, count = 0;
    bool revoked = false;
    const char *id;

    for (; (id = token_tally_bought(&matchmakerd->made, code, &at)); count++)
        revoked = revoked || textmap_find(&matchmakerd->revoked, id, TOKEN_ID_DIGITS) != TEXTMAP_NONE;
    if (revoked)
        request_problem(request, 403, "what was bought with this code was revoked: ask for another code");
    else if (count >= JOIN_AGAIN_MAX)
        request_problem(request, 429, "this code was redeemed too often: ask for another code");
    return !revoked && count < JOIN_AGAIN_MAX;
}

static bool whom_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    snprintf(user, CODE_FOR_MAX, "%.*s", (int)len, (const char *)value);
    return false;
}

/* Fills in who it is that joins, and what it may do: the machine of that name, or the user whom the code was made for; -1 when that cannot be
 * read. */
static int joins_as(struct matchmakerd *matchmakerd, const char *key, const char *name, struct token_terms *terms,
                    char subject[TOKEN_NAME_MAX + 1], struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    char customer[CODE_FOR_MAX] = "", person[CODE_FOR_MAX] = "";

    if (shelf->kind->get(shelf, CODE_FOR_SPACE, key, strlen(key), whom_row, customer, err) < 0 ||
        shelf->kind->get(shelf, CODE_USER_SPACE, key, strlen(key), whom_row, person, err) < 0)
        return -1;
    if (*customer) {
        terms->scope = ROLE_CUSTOMER | (strchr(customer, ' ') ? SCOPE_SERVE : SCOPE_NONE);
        snprintf(subject, TOKEN_NAME_MAX + 1, "%.*s", (int)strcspn(customer, " "), customer);
    } else if (*person) {
        terms->scope = ROLE_PERSON;
        terms->expires = terms->issued + PERSON_SPAN;
        snprintf(subject, TOKEN_NAME_MAX + 1, "%.*s", TOKEN_NAME_MAX, person);
    } else {
        snprintf(subject, TOKEN_NAME_MAX + 1, "machine/%s", name);
    }
    return 0;
}

static bool there_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    *(bool *)user = true;
    return false;
}

/* Is the code one for another matchmaker? -1 when that cannot be read. */
static int is_standby(struct matchmakerd *matchmakerd, const char *key, bool *ret, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;

    *ret = false;
    return shelf->kind->get(shelf, CODE_STANDBY_SPACE, key, strlen(key), there_row, ret, err);
}

/* Gives another matchmaker what it needs to stand by: the keys, for it alone, and where the rows are. */
static void standby_give(struct request *request, const struct tree *ad, bool is_for, const char *key,
                         const struct join_row *row)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct box_public reader;
    struct err err = {0};
    struct maker maker;
    struct buf box, sealed;
    const char *text;
    size_t len;

    if (!is_for || !ad_string(ad, "Box", &text, &len) || !hex_read(text, len, reader.bytes, BOX_KEY_BYTES)) {
        request_problem(request, 403, "%s",
                        ad_find(ad, "Box") ? "this code is not for a matchmaker: `berth token code --standby` makes one"
                                           : "this code is for a matchmaker: berth matchmaker --standby CODE");
        return;
    }
    buf_init(&box);
    buf_init(&sealed);
    if (keyring_seal(matchmakerd->keys, &reader, &box, &err) < 0) {
        request_problem(request, 400, "Box: %s", err.text);
    } else if (request_row_put(request, CODE_SPACE, key, strlen(key), row->bytes, sizeof row->bytes) &&
               request_audit(request, "standby", "a matchmaker", NULL)) {
        maker_init(&maker, matchmakerd->symbols);
        base64url_print(&sealed, box.text, box.len);
        maker_text(&maker, "SealedKeys", buf_string(&sealed));
        maker_text(&maker, "Store", config_text(&matchmakerd->config, CONFIG_STORE));
        maker_text(&maker, "Name", config_text(&matchmakerd->config, CONFIG_NAME));
        request_answer_durable(request, 200, maker_seal(&maker));
    }
    buf_done(&sealed);
    buf_done(&box);
}

static void join_redeem(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char name[AGENT_NAME_MAX + 1], subject[TOKEN_NAME_MAX + 1], key[24];
    unsigned char secret[JOIN_SECRET_BYTES],
        user[PUBLIC_KEY_BYTES + AGENT_NAME_MAX + 1]; /* who redeems the code: key and name */
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = subject,
                                .audience = keyring_pool(matchmakerd->keys),
                                .scope = ROLE_MACHINE,
                                .issued = runner_wall() / SECOND,
                                .expires = runner_wall() / SECOND + TOKEN_SPAN_MAX};
    struct public_key delegate;
    enum join_result result;
    struct join_row row = {0};
    struct err err = {0};
    bool is_for;
    const char *text;
    int others = 0;
    size_t len;

    /* A certificate of the pool's CA would let its holder answer in the pool's name, and a code proves no host name. */
    if (ad_string(ad, "TlsKey", &text, &len)) {
        request_problem(request, 400,
                        "TlsKey: a pool signs no certificates for machines that join; an agent serves with a key of "
                        "its own, and is known by its Pin");
        return;
    }
    if (!ad_string(ad, "Secret", &text, &len) || !hex_read(text, len, secret, sizeof secret)) {
        request_problem(request, 400, "Secret: expected %d hexadecimal digits", 2 * JOIN_SECRET_BYTES);
        return;
    }
    if (!body_key(request, ad, "Key", &delegate) || !body_text(request, ad, "Name", NULL, name, sizeof name))
        return;
    if (!agent_name_is_good(name, strlen(name)) || strlen(name) > JOIN_NAME_MAX) {
        request_problem(request, 400, "Name: expected up to 50 letters, digits, '.', '_' and '-'");
        return;
    }
    memcpy(user, delegate.bytes, sizeof delegate.bytes);
    memcpy(user + sizeof delegate.bytes, name, sizeof name);
    result = join_book_redeem(matchmakerd->codes, secret, user, sizeof delegate.bytes + strlen(name),
                              runner_settled(matchmakerd->runner) / SECOND, &row);
    LOG_AUDIT(&matchmakerd->log, "join", log_text("name", name), log_text("result", join_result_words(result)));
    if (result != JOIN_OK) {
        request_problem(request, 403, "%s", join_result_words(result));
        return;
    }
    snprintf(key, sizeof key, "%016" PRIx64, row.number);
    if (is_standby(matchmakerd, key, &is_for, &err) < 0 ||
        joins_as(matchmakerd, key, name, &terms, subject, &err) < 0) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        return;
    }
    if (!code_buys(request, key))
        return;
    if (is_for || ad_find(ad, "Box")) {
        standby_give(request, ad, is_for, key, &row);
        return;
    }
    terms.delegate = &delegate;
    terms.code = key;
    if (terms.scope == ROLE_MACHINE)
        others = name_is_anothers(matchmakerd, subject, &delegate, terms.issued);
    if (others < 0)
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
    else if (others)
        request_problem(request, 403,
                        "Name: another machine has that name; revoke its token, or join by a new code and name");
    else if (request_row_put(request, CODE_SPACE, key, strlen(key), row.bytes, sizeof row.bytes))
        token_give(request, 200, &terms, "join");
}

/* Whose tries are counted together: those of an address, of IPv6 those of a /64, which is commonly one host's. No identity has a blank in its name. */
static void tries_key(const struct sockaddr *from, char ret[ADDRESS_TEXT_MAX + 8])
{
    struct sockaddr_in6 net = {.sin6_family = AF_INET6};
    char address[ADDRESS_TEXT_MAX], *colon;

    if (from->sa_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;

        memcpy(&net.sin6_addr, in6, IN6_IS_ADDR_V4MAPPED(in6) || IN6_IS_ADDR_LINKLOCAL(in6) ? 16 : 8);
        from = (const struct sockaddr *)(const void *)&net;
    }
    address_print(from, address);
    colon = strrchr(address, ':');
    if (colon)
        *colon = '\0'; /* without the port */
    snprintf(ret, ADDRESS_TEXT_MAX + 8, "join %s", address);
}

/* Slows down guessing of codes, for each address. */
static bool join_paced(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char key[ADDRESS_TEXT_MAX + 8];
    int64_t wait;
    uint32_t place;

    tries_key(exchange_from(request->exchange), key);
    place = callers_add(&matchmakerd->gate.callers, key, strlen(key), runner_now());
    if (caller_may(&matchmakerd->gate.callers, place, PACE_PERSON, JOIN_TRIES, runner_now(), &wait))
        return true;
    request_problem(request, 429, "too many tries from that address");
    return false;
}

void api_join(struct request *request)
{
    struct tree *ad;

    if (!join_paced(request))
        return;
    ad = request_body_of(request, "Secret Key Name TlsKey Box");

    if (ad)
        join_redeem(request, ad);
    tree_unref(ad);
}
