/* connection.c: where the pool is, and who we are there. */
#include "cli/ask/connection.h"
#include "cli/ask/token_ask.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "live/auth/jwt.h"
#include "live/config/address.h"
#include "sys/encoding.h"
#include "sys/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_NAME "matchmaker.sock"
#define CUSTOMER_SOCKET_NAME "customer/customer.sock"
#define TOKEN_NAME "token"
#define INSTITUTE_LOOK \
    1800 /* seconds after which the file of an institute's token is read again: grids' tools renew it */

int option_limit(const char *text, void *target, struct err *err)
{
    return option_count_to(text, INT64_MAX, target, err);
}

static char *text_dup(const char *text)
{
    return text ? mem_dup(text, strlen(text)) : NULL;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- tokens */

/* Finds the token of the customer or provider of a machine that has joined a pool elsewhere: who may read it, may use it. Where a
 * matchmaker runs, that is asked by its socket. */
static bool token_of_agent(const struct config *config, struct buf *ret_path)
{
    static const char *const roles[] = {"customer", "provider"};
    const char *state = config_text(config, CONFIG_STATE);
    bool found;

    buf_reset(ret_path);
    buf_addf(ret_path, "%s/" SOCKET_NAME, state);
    found = access(buf_string(ret_path), F_OK) == 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && !found; i++) {
        buf_reset(ret_path);
        buf_addf(ret_path, "%s/%s/" TOKEN_NAME, state, roles[i]);
        if (access(buf_string(ret_path), R_OK) == 0)
            return true;
    }
    return false;
}

/* Finds the token in the state folder, else beside the configuration file; false when there is none. */
static bool token_usual(const struct config *config, struct buf *ret_path)
{
    const char *file = config->file, *slash = file ? strrchr(file, '/') : NULL;

    buf_addf(ret_path, "%s/" TOKEN_NAME, config_text(config, CONFIG_STATE));
    if (access(buf_string(ret_path), F_OK) == 0)
        return true;
    buf_reset(ret_path);
    if (slash)
        buf_add(ret_path, file, (size_t)(slash - file + 1));
    buf_adds(ret_path, TOKEN_NAME);
    return slash && access(buf_string(ret_path), F_OK) == 0;
}

/* Takes the token of an institute that grids' tools leave in the environment, or in a file that it names. It is shown as it is: who does not take it says so. */
static int token_of_institute(struct connection *pool)
{
    const char *text = environment("BEARER_TOKEN"), *file = environment("BEARER_TOKEN_FILE"),
               *name = text ? "BEARER_TOKEN" : file;
    struct err err = {0};
    int got = 1;

    if (!name)
        return STATUS_DONE;
    if (text)
        buf_adds(&pool->bearer, text);
    else if ((got = read_file(file, JWT_BYTES_MAX, false, &pool->bearer, &err)) == 0)
        err_set(&err, "there is no such file");
    while (pool->bearer.len && strchr(" \t\r\n", pool->bearer.text[pool->bearer.len - 1]))
        pool->bearer.len--;
    if (got == 1 && (!jwt_is(pool->bearer.text, pool->bearer.len) || pool->bearer.len > JWT_BYTES_MAX ||
                     strlen(buf_string(&pool->bearer)) != pool->bearer.len))
        got = err_set(&err, "it is not the token of an institute");
    if (got != 1) {
        report("%s: %s", name, err.text);
        buf_wipe(&pool->bearer);
        return STATUS_BAD;
    }
    pool->bearer_ends = text ? 0 : time(NULL) + INSTITUTE_LOOK;
    free(pool->token_name);
    pool->token_name = text_dup(name);
    return STATUS_DONE;
}

static int token_load(struct connection *pool, const char *named)
{
    struct err err = {0};
    struct buf path;
    int status = STATUS_DONE;
    bool found = named;

    buf_init(&path);
    if (named)
        buf_adds(&path, named);
    else
        found = token_usual(&pool->config, &path);
    if (!found) {
        status = token_of_institute(pool);
        found = status == STATUS_DONE && !pool->token_name && token_of_agent(&pool->config, &path);
    }
    if (found) {
        if (token_file_read(buf_string(&path), &pool->token, &err) < 0) {
            report("%s", err.text);
            status = STATUS_BAD;
        } else {
            pool->token_name = text_dup(buf_string(&path));
            pool->token_named = named;
        }
    }
    buf_done(&path);
    return status;
}

int connection_token(const struct connection_options *options, struct token_file *ret)
{
    struct connection pool = {.ca_fd = -1};
    int status = STATUS_BAD;

    token_file_init(&pool.token);
    buf_init(&pool.bearer);
    if (config_options_load(&options->config, &pool.config) == 0)
        status = token_load(&pool, options->token ? options->token : environment("BERTH_TOKEN"));
    if (status == STATUS_DONE && !pool.token.token) {
        report(pool.token_name ? "this wants a token of the pool, and there is only that of an institute: `berth login "
                                 "--institute` gets one for it"
                               : "there is no token; --token FILE names one");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE) {
        *ret = pool.token;
        token_file_init(&pool.token);
    }
    connection_close(&pool);
    return status;
}

/* Puts the CA's certificate into a file that nobody else sees and that is gone when we are: libcurl wants a name. */
static int ca_open(struct connection *pool)
{
    const char *folder = environment("TMPDIR");
    size_t len = strlen(pool->token.ca);
    struct buf path;
    char *name;

    buf_init(&path);
    buf_addf(&path, "%s/berth-ca-XXXXXX", folder ? folder : "/tmp");
    name = text_dup(buf_string(&path));
    buf_done(&path);
    pool->ca_fd = mkstemp(name);
    if (pool->ca_fd >= 0)
        unlink(name);
    free(name);
    if (pool->ca_fd < 0 || write(pool->ca_fd, pool->token.ca, len) != (ssize_t)len) {
        report("the pool's certificate cannot be put into a file: %s", strerror(errno));
        return STATUS_BAD;
    }
    snprintf(pool->ca_file, sizeof pool->ca_file, "/dev/fd/%d", pool->ca_fd);
    return STATUS_DONE;
}

/* ------------------------------------------------------------------------------------------------------------- places */

void connection_place_done(struct connection_place *place)
{
    free(place->url);
    free(place->socket);
    free(place->pin);
    free(place->audience);
}

static void places_done(struct connection *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        connection_place_done(&pool->places[i]);
    pool->count = 0;
}

static void place_add_socket(struct connection *pool, const char *path)
{
    pool->places[pool->count++] =
        (struct connection_place){.url = text_dup("http://localhost"), .socket = text_dup(path)};
}

static int place_add(struct connection *pool, const char *from, const char *text)
{
    size_t len = strlen(text);
    struct err err = {0};
    struct url url;

    if (pool->count == POOL_PLACES_MAX)
        return STATUS_DONE;
    if (!strncmp(text, "unix:", 5)) {
        struct address address;

        if (address_read(text, &address, &err) == 0) {
            place_add_socket(pool, address.path);
            return STATUS_DONE;
        }
    } else if (url_read(text, len, &url, &err) == 0) {
        if (memchr(url.path, '?', url.path_len)) {
            report("%s: the address of a pool has no query", from);
            return STATUS_BAD;
        }
        while (len && text[len - 1] == '/')
            len--;
        pool->places[pool->count++] = (struct connection_place){.url = mem_dup(text, len)};
        return STATUS_DONE;
    }
    report("%s: %s", from, err.text);
    return STATUS_BAD;
}

static bool is_address(const char *text)
{
    return !strncmp(text, "unix:", 5) || !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
}

/* Adds one, or several with blanks between them. A path may have blanks, but not at its end. */
static int places_add(struct connection *pool, const char *from, const char *text)
{
    int status;

    text += strspn(text, " ");
    do {
        const char *end = text, *next;
        char *one;

        for (;; end = next) {
            end += strcspn(end, " ");
            next = end + strspn(end, " ");
            if (!*next || is_address(next))
                break;
        }
        one = mem_dup(text, (size_t)(end - text));
        status = place_add(pool, from, one);
        free(one);
        text = next;
    } while (*text && status == STATUS_DONE);
    return status;
}

/* Those that the token's file names. */
static int places_of_token(struct connection *pool)
{
    char place[TOKEN_PLACE_MAX + 1];
    int status = STATUS_DONE;

    for (size_t i = 0; status == STATUS_DONE && token_file_place(&pool->token, i, place); i++)
        status = place_add(pool, pool->token_name, place);
    return status;
}

static int places_find(struct connection *pool, const struct connection_options *options)
{
    const char *variable = environment("BERTH_POOL"), *const * urls;
    size_t count;
    struct buf path;
    int status = STATUS_DONE;

    pool->named = true;
    if (options->url)
        return place_add(pool, "--pool", options->url);
    if (variable)
        return place_add(pool, "BERTH_POOL", variable);
    urls = config_list(&pool->config, CONFIG_MATCHMAKERS, &count);
    for (size_t i = 0; i < count && status == STATUS_DONE; i++)
        status = place_add(pool, "Matchmakers", urls[i]);
    if (count)
        return status;
    if (pool->token_named && pool->token.pool)
        return places_of_token(pool);
    pool->named = false;
    buf_init(&path);
    buf_addf(&path, "%s/" SOCKET_NAME, config_text(&pool->config, CONFIG_STATE));
    if (pool->token.pool && access(buf_string(&path), F_OK) != 0)
        status = places_of_token(pool); /* a machine that has joined a pool elsewhere */
    else
        place_add_socket(pool, buf_string(&path));
    buf_done(&path);
    return status;
}

/* Finds the customer: one's own, else that of this machine for all its users. Its socket knows us as the user that we are; a token is for a
 * customer that is elsewhere. */
static int customer_find(struct connection *pool, const struct connection_options *options)
{
    const char *variable = environment("BERTH_CUSTOMER");
    struct buf path;

    pool->named = true;
    if (options->customer)
        return places_add(pool, "--customer", options->customer);
    if (variable)
        return places_add(pool, "BERTH_CUSTOMER", variable);
    pool->named = false;
    buf_init(&path);
    buf_addf(&path, "%s/" CUSTOMER_SOCKET_NAME, config_text(&pool->config, CONFIG_STATE));
    if (access(buf_string(&path), F_OK) != 0 && access(config_text(&pool->config, CONFIG_SUBMIT_SOCKET), F_OK) == 0) {
        buf_reset(&path);
        buf_adds(&path, config_text(&pool->config, CONFIG_SUBMIT_SOCKET));
    }
    place_add_socket(pool, buf_string(&path));
    buf_done(&path);
    return STATUS_DONE;
}

/* ------------------------------------------------------------------------------------------------- the word of the host */

/* Asks the customer for all users of this machine, if there is one, for a token: it knows who we are. Who has none, and no matchmaker of his own, gets to the
 * pool by that. Nothing is reported: what is wrong then shows when the pool is asked. */
static void token_of_host(struct connection *pool)
{
    const char *path = config_text(&pool->config, CONFIG_SUBMIT_SOCKET);
    struct connection host = {.ca_fd = -1, .customer = true, .named = true, .symbols = pool->symbols};
    struct tree *answer = NULL;
    struct buf own;
    bool needed;

    buf_init(&own);
    buf_addf(&own, "%s/" SOCKET_NAME, config_text(&pool->config, CONFIG_STATE));
    needed = !pool->token_name && access(buf_string(&own), F_OK) != 0 && access(path, F_OK) == 0;
    buf_done(&own);
    if (!needed)
        return;
    place_add_socket(&host, path);
    if (connection_fetch_ad(
            &host,
            &(struct connection_ask){.method = "POST", .path = "/v1/token", .quiet = true, .mute = true, .hasty = true},
            &answer) == STATUS_DONE &&
        token_answer(answer, &pool->token) == STATUS_DONE) {
        pool->token_name = text_dup(path);
        pool->token_lent = true;
    }
    tree_unref(answer);
    places_done(&host);
}

/* ------------------------------------------------------------------------------------------------------------ for weeks */

/* The institute's, from the file that the environment names. */
static void institute_again(struct connection *pool)
{
    struct buf before = pool->bearer;

    buf_init(&pool->bearer);
    if (token_of_institute(pool) == STATUS_DONE) {
        buf_wipe(&before);
        return;
    }
    buf_wipe(&pool->bearer);
    pool->bearer = before;
    pool->bearer_ends = time(NULL) + INSTITUTE_LOOK;
}

static void lent_again(struct connection *pool)
{
    struct token_file before = pool->token;
    char *name = pool->token_name;

    token_file_init(&pool->token);
    pool->token_name = NULL;
    token_of_host(pool);
    if (pool->token_name) {
        token_file_done(&before);
        free(name);
        return;
    }
    token_file_done(&pool->token);
    pool->token = before;
    pool->token_name = name;
}

/* A customer renews nobody's token: the pool does, whose address is in the token's file. */
static void customer_token_tend(struct connection *customer)
{
    struct connection pool = {.ca_fd = -1,
                              .named = true,
                              .symbols = customer->symbols,
                              .token = customer->token,
                              .token_name = customer->token_name};

    if (customer->places[0].socket || !customer->token.pool || !token_is_old(customer))
        return;
    if (place_add(&pool, pool.token_name, pool.token.pool) == STATUS_DONE &&
        (!pool.token.ca || ca_open(&pool) == STATUS_DONE))
        token_keep_good(&pool);
    customer->token = pool.token;
    buf_wipe(&pool.bearer);
    if (pool.ca_fd >= 0)
        close(pool.ca_fd);
    places_done(&pool);
}

static void token_tend(struct connection *pool)
{
    if (pool->customer)
        customer_token_tend(pool);
    else
        token_keep_good(pool);
}

void connection_token_again(struct connection *pool)
{
    struct token_file fresh;
    struct err err;

    if (!pool->token.token) {
        institute_again(pool);
        return;
    }
    buf_wipe(&pool->bearer);
    if (pool->token_lent) {
        lent_again(pool);
    } else if (token_file_read(pool->token_name, &fresh, &err) == 0) {
        token_file_done(&pool->token);
        pool->token = fresh;
    }
    token_tend(pool);
}

/* ---------------------------------------------------------------------------------------------------- opening, closing */

typedef int find_fn(struct connection *pool, const struct connection_options *options);

static int open_config(struct connection *pool, const struct connection_options *options, bool customer)
{
    *pool = (struct connection){.ca_fd = -1, .customer = customer, .symbols = names_new(0)};
    token_file_init(&pool->token);
    buf_init(&pool->bearer);
    return config_options_load(&options->config, &pool->config) < 0 ? STATUS_BAD : STATUS_DONE;
}

static int open_by(struct connection *pool, const struct connection_options *options, find_fn *find)
{
    const char *token = options->token ? options->token : environment("BERTH_TOKEN");
    int status = open_config(pool, options, find == customer_find);

    if (status == STATUS_DONE)
        status = token_load(pool, token);
    if (status == STATUS_DONE && find == places_find)
        token_of_host(pool);
    if (status == STATUS_DONE)
        status = find(pool, options);
    if (status == STATUS_DONE && pool->token.ca)
        status = ca_open(pool);
    return status;
}

int connection_open(struct connection *pool, const struct connection_options *options)
{
    int status = open_by(pool, options, places_find);

    if (status == STATUS_DONE)
        token_tend(pool);
    return status;
}

int customer_open(struct connection *pool, const struct connection_options *options)
{
    int status = open_by(pool, options, customer_find);

    if (status == STATUS_DONE)
        token_tend(pool);
    return status;
}

int connection_open_stranger(struct connection *pool, const struct connection_options *options)
{
    int status = open_config(pool, options, false);

    return status == STATUS_DONE ? places_find(pool, options) : status;
}

int connection_trust(struct connection *pool)
{
    return ca_open(pool);
}

void connection_close(struct connection *pool)
{
    places_done(pool);
    if (pool->ca_fd >= 0)
        close(pool->ca_fd);
    free(pool->token_name);
    token_file_done(&pool->token);
    buf_wipe(&pool->bearer);
    symbols_free(pool->symbols);
    config_done(&pool->config);
}
