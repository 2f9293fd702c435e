/* here.c: the addresses of this machine, and which of them others can be told. */
#include "live/config/here.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DISCARD_PORT 9

/* An address of the internet that nobody has, for either family: what leads there is the way out of this machine's networks. */
static const char *const outside[] = {"http://192.0.2.1", "http://[2001:db8::1]"};

/* The address from which this machine would send to that one. */
static bool source_of(const struct sockaddr *to, socklen_t len, struct sockaddr_storage *ret)
{
    int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *ret;
    bool found;

    if (fd < 0)
        return false;
    found = connect(fd, to, len) == 0 && getsockname(fd, (struct sockaddr *)ret, &size) == 0;
    close(fd);
    return found;
}

bool here_towards(const char *url, struct sockaddr_storage *ret)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM}, *all = NULL;
    char port[8];
    bool found = false;
    struct url read;

    if (url_read(url, strlen(url), &read, NULL) < 0)
        return false;
    snprintf(port, sizeof port, "%u", read.port ? read.port : DISCARD_PORT);
    if (getaddrinfo(read.host, port, &hints, &all) != 0)
        return false;
    for (const struct addrinfo *at = all; at && !found; at = at->ai_next)
        found = source_of(at->ai_addr, at->ai_addrlen, ret);
    freeaddrinfo(all);
    return found;
}

/* May others be told of it? Not loopback, nor what is good on one cable alone. */
static bool is_for_others(const struct sockaddr *address)
{
    enum address_sort sort = address_sort(address);

    return (address->sa_family == AF_INET || address->sa_family == AF_INET6) && sort != ADDRESS_LOOPBACK &&
           sort != ADDRESS_LINK_LOCAL && sort != ADDRESS_UNSPECIFIED;
}

static void address_copy(const struct sockaddr *from, struct sockaddr_storage *ret)
{
    memset(ret, 0, sizeof *ret);
    memcpy(ret, from, from->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
}

bool here_address(struct sockaddr_storage *ret)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all = NULL;
    bool found = false;

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (here_towards(outside[i], ret) && is_for_others((const struct sockaddr *)ret))
            return true;
    if (getifaddrs(&all) < 0)
        return false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct ifaddrs *at = all; at && !found; at = at->ifa_next)
            if (at->ifa_addr && at->ifa_addr->sa_family == families[i] && (at->ifa_flags & IFF_UP) &&
                is_for_others(at->ifa_addr)) {
                address_copy(at->ifa_addr, ret);
                found = true;
            }
    freeifaddrs(all);
    return found;
}

bool here_is(const struct sockaddr *address)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (getifaddrs(&all) < 0)
        return false;
    for (const struct ifaddrs *at = all; at && !found; at = at->ifa_next)
        found = at->ifa_addr && address_same_host(at->ifa_addr, address);
    freeifaddrs(all);
    return found;
}

/* Does the name lead to an address of this machine that others may know? */
static bool name_leads_here(const char *name)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM}, *all = NULL;
    bool leads = false;

    if (getaddrinfo(name, NULL, &hints, &all) != 0)
        return false;
    for (const struct addrinfo *at = all; at && !leads; at = at->ai_next)
        leads = is_for_others(at->ai_addr) && here_is(at->ai_addr);
    freeaddrinfo(all);
    return leads;
}

bool here_hostname(char ret[ADDRESS_HOST_MAX + 1])
{
    char text[ADDRESS_HOST_MAX + 16];
    struct url url;

    ret[0] = ret[ADDRESS_HOST_MAX] = '\0';
    gethostname(ret, ADDRESS_HOST_MAX);
    snprintf(text, sizeof text, "https://%s", ret);
    return *ret && url_read(text, strlen(text), &url, NULL) == 0;
}

void here_name(char ret[ADDRESS_HOST_MAX + 1])
{
    struct sockaddr_storage own;
    bool named = here_hostname(ret);

    if (named && strchr(ret, '.') && name_leads_here(ret))
        return;
    if (here_address(&own))
        address_host((const struct sockaddr *)&own, ret);
    else if (!named)
        snprintf(ret, ADDRESS_HOST_MAX + 1, "localhost");
}
