/* daemon_listen.c: where a daemon can be called: as its settings say, or, by default, at its own address in the network of its pool.
 *
 *     auto            the pool is known on this machine alone   127.0.0.1:0
 *                     others know it                            OWN:0, where OWN is what connections to the matchmaker come from
 *     0.0.0.0:PORT    at all addresses, and others are told OWN:PORT
 *
 * Nobody believes it: the matchmaker asks the address to prove itself before others are told of it (live/matchmakerd/delivery.c). */
#include "live/agent/daemon_parts.h"

#include "live/config/here.h"

#include <stdio.h>
#include <string.h>

#define HERE_ALONE "127.0.0.1:0"

static bool url_is_elsewhere(const char *text)
{
    struct url url;

    return text && strncmp(text, "unix:", 5) != 0 && url_read(text, strlen(text), &url, NULL) == 0 &&
           !url_is_here(&url);
}

/* This machine's address in the network of the pool, that other machines know by that URL. */
static bool own_address(const char *url, struct sockaddr_storage *ret)
{
    /* Where the matchmaker runs, its name may mean loopback. */
    return (here_towards(url, ret) && address_sort((const struct sockaddr *)ret) != ADDRESS_LOOPBACK) ||
           here_address(ret);
}

bool pool_is_private(const char *matchmaker, const struct token_file *token)
{
    const char *url = url_is_elsewhere(matchmaker) ? matchmaker : token->pool;
    struct sockaddr_storage own;

    return url_is_elsewhere(url) && own_address(url, &own) && address_is_private((const struct sockaddr *)&own);
}

static bool host_is_any(const struct address *address)
{
    return !address->is_unix && (!strcmp(address->host, "0.0.0.0") || !strcmp(address->host, "::"));
}

void daemon_listen_find(struct daemon *daemon, const char *listen)
{
    const char *url = url_is_elsewhere(daemon->matchmakers[0]) ? daemon->matchmakers[0] : daemon->token.pool;
    bool automatic = listen && !strcmp(listen, "auto"), found;
    struct sockaddr_storage own;
    struct address address;
    char host[ADDRESS_HOST_MAX + 1] = "127.0.0.1";

    daemon->agent.listen = listen && *listen ? listen : NULL;
    if (!daemon->agent.listen || (!automatic && (address_read(listen, &address, NULL) < 0 || !host_is_any(&address))))
        return;
    found = url_is_elsewhere(url) && own_address(url, &own);
    if (found)
        address_host((const struct sockaddr *)&own, host);
    daemon->agent.keep_port = automatic;
    if (!automatic) {
        snprintf(daemon->host, sizeof daemon->host, strchr(host, ':') ? "[%s]" : "%s", host);
        daemon->agent.contact_host = daemon->host;
        return;
    }
    snprintf(daemon->listen, sizeof daemon->listen, strchr(host, ':') ? "[%s]:0" : "%s:0", host);
    daemon->agent.listen = found ? daemon->listen : HERE_ALONE;
}
