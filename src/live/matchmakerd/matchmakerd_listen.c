/* matchmakerd_listen.c: the addresses on which the matchmaker listens, which of them are encrypted, and its URL for others. */
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/base/mem.h"
#include "live/config/here.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOCKET_NAME "matchmaker.sock"

/* The host of an address: "127.0.0.1:80" -> "127.0.0.1", "[::1]:80" -> "::1". */
static void host_of(const char *address, char out[ADDRESS_HOST_MAX + 1])
{
    struct address read;
    struct err err;

    out[0] = '\0';
    if (address_read(address, &read, &err) == 0 && !read.is_unix)
        snprintf(out, ADDRESS_HOST_MAX + 1, "%s", read.host);
}

static bool host_is_any(const char *host)
{
    return !strcmp(host, "0.0.0.0") || !strcmp(host, "::");
}

/* The certificate for all encrypted addresses, with this machine's names. */
static int certificate_get(struct matchmakerd *matchmakerd, struct cert_pair *ret, struct err *err)
{
    char names[20][ADDRESS_HOST_MAX + 1];
    const char *pointers[20], *const *addresses, *public_url = config_text(&matchmakerd->config, CONFIG_PUBLIC_URL);
    size_t address_count, count = 0;
    struct url url;
    struct err ignored;

    snprintf(names[count++], sizeof *names, "localhost");
    snprintf(names[count++], sizeof *names, "127.0.0.1");
    here_name(names[count]); /* what others are told where it listens at all addresses */
    count += strcmp(names[count], "localhost") != 0;
    if (here_hostname(names[count])) /* and the name, where that was a number */
        count += strcmp(names[count], "localhost") != 0 && strcmp(names[count], names[count - 1]) != 0;
    if (*public_url && url_read(public_url, strlen(public_url), &url, &ignored) == 0)
        snprintf(names[count++], sizeof *names, "%s", url.host);
    addresses = config_list(&matchmakerd->config, CONFIG_LISTEN, &address_count);
    for (size_t i = 0; i < address_count && count < 20; i++) {
        bool known = false;

        host_of(addresses[i], names[count]);
        for (size_t n = 0; n < count; n++)
            known = known || !strcmp(names[n], names[count]);
        count += names[count][0] && !host_is_any(names[count]) && !known;
    }
    for (size_t i = 0; i < count; i++)
        pointers[i] = names[i];
    return keyring_certificate(matchmakerd->keys, pointers, count, runner_wall() / SECOND, ret, err);
}

/* Is that address served encrypted? -1 when it must be and the settings forbid it. */
static int is_encrypted(const struct matchmakerd *matchmakerd, const char *address, struct err *err)
{
    int tls = config_word(&matchmakerd->config, CONFIG_TLS); /* auto, on, off */
    bool local = config_address_is_local(address);

    if (!strncmp(address, "unix:", 5))
        return 0;
    if (tls == 1 || (tls == 0 && !local && !config_flag(&matchmakerd->config, CONFIG_ALLOW_PLAIN)))
        return 1;
    if (local || config_flag(&matchmakerd->config, CONFIG_ALLOW_PLAIN))
        return 0;
    return err_set(
        err,
        "%s is open to the network, and Tls is off: tokens could be read by others. Leave Tls at \"auto\", or set "
        "AllowPlain if something in front of this service encrypts",
        address);
}

/* The URL for others of an address on which we listen. For all addresses at once it is what others may call this machine. */
static char *url_make(const char *address, bool encrypted)
{
    char text[ADDRESS_HOST_MAX + 64], host[ADDRESS_HOST_MAX + 1];
    const char *port = strrchr(address, ':');
    bool is_number;

    host_of(address, host);
    if (host_is_any(host))
        here_name(host);
    is_number = strchr(host, ':');
    snprintf(text, sizeof text, "%s://%s%s%s%s", encrypted ? "https" : "http", is_number ? "[" : "", host,
             is_number ? "]" : "", port ? port : "");
    return mem_dup(text, strlen(text));
}

static int listen_at(struct matchmakerd *matchmakerd, const char *address, const struct server_limits *limits,
                     struct err *err)
{
    struct server_handler handler = front_handler;
    struct cert_pair pair = {0};
    int encrypted = is_encrypted(matchmakerd, address, err);
    struct server *server;

    if (encrypted < 0 || (encrypted && certificate_get(matchmakerd, &pair, err) < 0))
        return -1;
    handler.user = &matchmakerd->front;
    server = server_new(matchmakerd->loop, address, encrypted ? pair.cert : NULL, encrypted ? pair.key : NULL, limits,
                        &handler, err);
    if (encrypted)
        cert_pair_done(&pair);
    if (!server)
        return -1;
    if (!matchmakerd->url && strncmp(address, "unix:", 5) != 0)
        matchmakerd->url = url_make(server_address(server), encrypted);
    matchmakerd->servers[matchmakerd->server_count++] = server;
    return 0;
}

/* Is there an IPv4 address with the same port in the list? Then [::] does not take that as well. */
static bool ipv4_has_port(const char *const *addresses, size_t count, const char *address)
{
    const char *port = strrchr(address, ':');

    for (size_t i = 0; i < count; i++)
        if (port && addresses[i][0] != '[' && strrchr(addresses[i], ':') && !strcmp(strrchr(addresses[i], ':'), port))
            return true;
    return false;
}

int matchmakerd_listen(struct matchmakerd *matchmakerd, struct err *err)
{
    const struct config *config = &matchmakerd->config;
    struct server_limits limits = {.head = config_span(config, CONFIG_HEAD_DEADLINE),
                                   .body = config_span(config, CONFIG_BODY_DEADLINE),
                                   .reply = config_span(config, CONFIG_REPLY_DEADLINE),
                                   .strangers = (uint32_t)config_count(config, CONFIG_STRANGERS_PER_ADDRESS),
                                   .connections = (uint32_t)config_count(config, CONFIG_CONNECTIONS)};
    const char *public_url = config_text(config, CONFIG_PUBLIC_URL);
    char path[PATH_MAX];
    const char *const *addresses;
    size_t count;

    if (*public_url)
        matchmakerd->url = mem_dup(public_url, strlen(public_url));
    addresses = config_list(config, CONFIG_LISTEN, &count);
    for (size_t i = 0; i < count; i++) {
        limits.ipv6_alone = ipv4_has_port(addresses, count, addresses[i]);
        if (listen_at(matchmakerd, addresses[i], &limits, err) < 0)
            return -1;
    }
    snprintf(path, sizeof path, "unix:%s/" SOCKET_NAME, config_text(config, CONFIG_STATE));
    if (listen_at(matchmakerd, path, &limits, err) < 0)
        return -1;
    if (!matchmakerd->url)
        matchmakerd->url = mem_dup(path, strlen(path));
    matchmakerd->gate.called = matchmakerd->url;
    return 0;
}
