/* address_test.c: which addresses are understood, and which may be contacted. */
#include "live/config/address.h"
#include "live/config/here.h"

#include "common/tap.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/un.h>

/* The address of a text like 10.0.0.1 or ::1. */
static struct sockaddr *number(const char *text, struct sockaddr_storage *room)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)room;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)room;

    memset(room, 0, sizeof *room);
    if (strchr(text, ':')) {
        v6->sin6_family = AF_INET6;
        if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1)
            exit(1);
    } else {
        v4->sin_family = AF_INET;
        if (inet_pton(AF_INET, text, &v4->sin_addr) != 1)
            exit(1);
    }
    return (struct sockaddr *)room;
}

/* ----------------------------------------------------------------------------------------------------------- sorts */

static const struct {
    const char *text;
    enum address_sort sort;
} sorts[] = {
    {"8.8.8.8", ADDRESS_PUBLIC},
    {"1.0.0.0", ADDRESS_PUBLIC},
    {"9.255.255.255", ADDRESS_PUBLIC},
    {"11.0.0.0", ADDRESS_PUBLIC},
    {"100.63.255.255", ADDRESS_PUBLIC},
    {"100.128.0.0", ADDRESS_PUBLIC},
    {"126.255.255.255", ADDRESS_PUBLIC},
    {"128.0.0.0", ADDRESS_PUBLIC},
    {"172.15.255.255", ADDRESS_PUBLIC},
    {"172.32.0.0", ADDRESS_PUBLIC},
    {"192.167.255.255", ADDRESS_PUBLIC},
    {"192.169.0.0", ADDRESS_PUBLIC},
    {"223.255.255.255", ADDRESS_PUBLIC},
    {"0.0.0.0", ADDRESS_UNSPECIFIED},
    {"0.0.0.1", ADDRESS_SPECIAL},
    {"10.0.0.0", ADDRESS_PRIVATE},
    {"10.255.255.255", ADDRESS_PRIVATE},
    {"100.64.0.0", ADDRESS_SPECIAL},
    {"100.127.255.255", ADDRESS_SPECIAL},
    {"127.0.0.1", ADDRESS_LOOPBACK},
    {"127.255.255.254", ADDRESS_LOOPBACK},
    {"169.254.169.254", ADDRESS_LINK_LOCAL},
    {"172.16.0.0", ADDRESS_PRIVATE},
    {"172.31.255.255", ADDRESS_PRIVATE},
    {"192.0.0.8", ADDRESS_SPECIAL},
    {"192.0.2.1", ADDRESS_SPECIAL},
    {"192.88.99.1", ADDRESS_SPECIAL},
    {"192.168.0.1", ADDRESS_PRIVATE},
    {"198.18.0.1", ADDRESS_SPECIAL},
    {"198.19.255.255", ADDRESS_SPECIAL},
    {"198.51.100.7", ADDRESS_SPECIAL},
    {"203.0.113.7", ADDRESS_SPECIAL},
    {"224.0.0.1", ADDRESS_MULTICAST},
    {"239.255.255.255", ADDRESS_MULTICAST},
    {"240.0.0.1", ADDRESS_SPECIAL},
    {"255.255.255.255", ADDRESS_SPECIAL},
    {"2606:4700::1111", ADDRESS_PUBLIC},
    {"2a00::1", ADDRESS_PUBLIC},
    {"2001:200::1", ADDRESS_PUBLIC},
    {"::", ADDRESS_UNSPECIFIED},
    {"::1", ADDRESS_LOOPBACK},
    {"::2", ADDRESS_SPECIAL},
    {"::127.0.0.1", ADDRESS_SPECIAL},
    {"::ffff:127.0.0.1", ADDRESS_LOOPBACK},
    {"::ffff:10.1.2.3", ADDRESS_PRIVATE},
    {"::ffff:0.0.0.0", ADDRESS_UNSPECIFIED},
    {"::ffff:8.8.8.8", ADDRESS_PUBLIC},
    {"::ffff:0:127.0.0.1", ADDRESS_SPECIAL},
    {"64:ff9b::127.0.0.1", ADDRESS_LOOPBACK},
    {"64:ff9b::192.168.1.1", ADDRESS_PRIVATE},
    {"64:ff9b::8.8.8.8", ADDRESS_PUBLIC},
    {"64:ff9b:1::8.8.8.8", ADDRESS_SPECIAL},
    {"2002:7f00:1::", ADDRESS_LOOPBACK},
    {"2002:c0a8:101::1", ADDRESS_PRIVATE},
    {"2002:a9fe:a9fe::1", ADDRESS_LINK_LOCAL},
    {"2002:808:808::1", ADDRESS_PUBLIC},
    {"100::1", ADDRESS_SPECIAL},
    {"2001::1", ADDRESS_SPECIAL},
    {"2001:10::1", ADDRESS_SPECIAL},
    {"2001:db8::1", ADDRESS_SPECIAL},
    {"3fff::1", ADDRESS_SPECIAL},
    {"3fff:1000::1", ADDRESS_PUBLIC},
    {"5f00::1", ADDRESS_SPECIAL},
    {"4000::1", ADDRESS_SPECIAL},
    {"fc00::1", ADDRESS_PRIVATE},
    {"fdff::1", ADDRESS_PRIVATE},
    {"fe80::1", ADDRESS_LINK_LOCAL},
    {"febf::1", ADDRESS_LINK_LOCAL},
    {"fec0::1", ADDRESS_PRIVATE},
    {"ff02::1", ADDRESS_MULTICAST},
};

static void check_sorts(void)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/tmp/x"};
    struct sockaddr_storage room;

    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        enum address_sort sort = address_sort(number(sorts[i].text, &room));

        if (!tap_ok(sort == sorts[i].sort, "%s is %s", sorts[i].text, address_sort_name(sorts[i].sort)))
            tap_diag("taken as %s", address_sort_name(sort));
        if (address_may_be_contacted(NULL, number(sorts[i].text, &room)) != (sorts[i].sort == ADDRESS_PUBLIC))
            tap_ok(false, "%s: only what is public may be contacted", sorts[i].text);
    }
    tap_ok(!address_may_be_contacted(NULL, (struct sockaddr *)&path), "a Unix socket is no public address");
}

/* -------------------------------------------------------------------------------------------------------- networks */

static const char *const bad_networks[] = {
    "",
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/+8",
    "10.0.0.0/8 ",
    " 10.0.0.0/8",
    "10.0.0.1/8",
    "10/8",
    "10.0.0/8",
    "010.0.0.0/8",
    "fd00::/129",
    "fd00::1/8",
    "fd00::",
    "fe80::%1/10",
    "::ffff:0:0/96",
    "example.org/8",
    "10.0.0.0/8,10.0.0.0/8",
    "[fd00::]/8",
    "fd00::/-1",
};

static const struct {
    const char *text;
    bool allowed;
} contacts[] = {
    {"10.1.2.3", true},        {"::ffff:10.1.2.3", true},  {"11.0.0.1", true},     {"192.168.3.4", true},
    {"192.168.4.4", false},    {"172.16.0.1", false},      {"fd12:3456::1", true}, {"fd12:3457::1", false},
    {"127.0.0.1", true},       {"127.0.0.2", false},       {"::1", false},         {"64:ff9b::10.1.2.3", false},
    {"2002:a01:203::", false}, {"169.254.169.254", false},
};

static void check_networks(void)
{
    struct networks networks;
    struct sockaddr_storage room;
    struct err err;

    networks_init(&networks);
    for (size_t i = 0; i < sizeof bad_networks / sizeof *bad_networks; i++) {
        err.text[0] = '\0';
        tap_ok(networks_add(&networks, bad_networks[i], &err) == -1 && err.text[0] && networks.count == 0,
               "\"%s\" is no network", bad_networks[i]);
    }
    tap_ok(networks_add(&networks, "10.0.0.0/8", &err) == 0 && networks_add(&networks, "192.168.2.0/23", &err) == 0 &&
               networks_add(&networks, "fd12:3456::/32", &err) == 0 &&
               networks_add(&networks, "127.0.0.1/32", &err) == 0,
           "networks are read");
    for (size_t i = 0; i < sizeof contacts / sizeof *contacts; i++)
        tap_ok(address_may_be_contacted(&networks, number(contacts[i].text, &room)) == contacts[i].allowed,
               "%s may %sbe contacted with those networks", contacts[i].text, contacts[i].allowed ? "" : "not ");
    networks_done(&networks);
    networks_add(&networks, "0.0.0.0/0", NULL);
    tap_ok(networks_have(&networks, number("127.0.0.1", &room)) && !networks_have(&networks, number("::1", &room)),
           "0.0.0.0/0 is all of IPv4 and nothing of IPv6");
    while (networks.count < NETWORKS_MAX)
        networks_add(&networks, "0.0.0.0/0", NULL);
    tap_ok(networks_add(&networks, "0.0.0.0/0", NULL) == -1, "a list of networks has an end");
    networks_done(&networks);
}

/* ------------------------------------------------------------------------------------------------- of one site, of this machine */

static void check_sites(void)
{
    static const char *const site[] = {"10.1.2.3",  "172.31.0.1",   "192.168.0.1",    "100.64.0.1",
                                       "192.0.2.7", "198.51.100.7", "203.0.113.1",    "198.19.0.1",
                                       "fd00::1",   "2001:db8::1",  "::ffff:10.0.0.1"},
                             *const other[] = {"127.0.0.1", "::1",     "169.254.1.1", "fe80::1",
                                               "0.0.0.0",   "0.1.2.3", "224.0.0.1",   "240.0.0.1",
                                               "192.0.0.1", "8.8.8.8", "2600::1",     "::ffff:127.0.0.1"};
    struct sockaddr_storage one, two;
    char host[ADDRESS_HOST_MAX + 1];

    for (size_t i = 0; i < sizeof site / sizeof *site; i++)
        tap_ok(address_is_private(number(site[i], &one)), "%s may be one of a site's own", site[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        tap_ok(!address_is_private(number(other[i], &one)), "%s is not", other[i]);
    tap_ok(address_same_host(number("10.0.0.1", &one), number("::ffff:10.0.0.1", &two)) &&
               !address_same_host(number("10.0.0.1", &one), number("10.0.0.2", &two)) &&
               !address_same_host(number("::1", &one), number("127.0.0.1", &two)) &&
               !address_same_host(&(struct sockaddr){.sa_family = AF_UNIX}, &(struct sockaddr){.sa_family = AF_UNIX}),
           "hosts are compared, whatever carries them");
    address_host(number("::ffff:10.0.0.1", &one), host);
    tap_ok(!strcmp(host, "10.0.0.1"), "a mapped address is printed as what it is");
    tap_ok(here_is(number("127.0.0.1", &one)) && !here_is(number("198.51.100.77", &two)),
           "this machine has loopback, and not any address");
    tap_ok(here_towards("http://127.0.0.1:7600", &one) && address_sort((struct sockaddr *)&one) == ADDRESS_LOOPBACK,
           "what leads to loopback is loopback");
    tap_ok(!here_towards("http://no-such-host.invalid:7600", &one) && !here_towards("unix:/tmp/x", &one),
           "to what is not there nothing leads");
    here_name(host);
    tap_ok(*host && strcmp(host, "127.0.0.1") != 0, "others may call this machine %s", host);
    if (here_address(&one))
        tap_ok(here_is((struct sockaddr *)&one) && address_sort((struct sockaddr *)&one) != ADDRESS_LOOPBACK,
               "the address that others may know is its own, and not loopback");
}

/* ------------------------------------------------------------------------------------------ addresses to listen at */

static const struct {
    const char *text, *host;
    int port;            /* -1: refused */
    const char *printed; /* as a socket address; NULL: a name */
} addresses[] = {
    {"127.0.0.1:7600", "127.0.0.1", 7600, "127.0.0.1:7600"},
    {"0.0.0.0:0", "0.0.0.0", 0, "0.0.0.0:0"},
    {"[::1]:65535", "::1", 65535, "[::1]:65535"},
    {"Pool.Example.org:80", "pool.example.org", 80, NULL},
    {"localhost:1", "localhost", 1, NULL},
    {"", NULL, -1, NULL},
    {":80", NULL, -1, NULL},
    {"127.0.0.1", NULL, -1, NULL},
    {"127.0.0.1:", NULL, -1, NULL},
    {"127.0.0.1:65536", NULL, -1, NULL},
    {"127.0.0.1:080", NULL, -1, NULL},
    {"127.0.0.1:80 ", NULL, -1, NULL},
    {"127.1:80", NULL, -1, NULL},
    {"127.0.0.256:80", NULL, -1, NULL},
    {"0x7f000001:80", NULL, -1, NULL},
    {"2130706433:80", NULL, -1, NULL},
    {"::1:80", NULL, -1, NULL},
    {"[::1]", NULL, -1, NULL},
    {"[::1]80", NULL, -1, NULL},
    {"[::1:80", NULL, -1, NULL},
    {"[fe80::1%eth0]:80", NULL, -1, NULL},
    {"[127.0.0.1]:80", NULL, -1, NULL},
    {"a..b:80", NULL, -1, NULL},
    {"-a:80", NULL, -1, NULL},
    {"a-:80", NULL, -1, NULL},
    {"a/b:80", NULL, -1, NULL},
    {"unix:", NULL, -1, NULL},
    {"unix:relative", NULL, -1, NULL},
};

static void check_addresses(void)
{
    struct address address;
    struct sockaddr_storage socket;
    char text[ADDRESS_TEXT_MAX], longest[ADDRESS_PATH_MAX + 10];
    socklen_t len;
    struct err err;

    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        int result = address_read(addresses[i].text, &address, &err);

        if (addresses[i].port < 0) {
            tap_ok(result == -1, "\"%s\" is no address", addresses[i].text);
            continue;
        }
        bool good = result == 0 && !address.is_unix && !strcmp(address.host, addresses[i].host) &&
                    address.port == addresses[i].port;
        bool number = good && address_socket(&address, &socket, &len);
        tap_ok(good && number == (addresses[i].printed != NULL) &&
                   (!number || !strcmp(address_print((struct sockaddr *)&socket, text), addresses[i].printed)),
               "\"%s\" is an address", addresses[i].text);
    }
    tap_ok(address_read("unix:/run/berth.sock", &address, &err) == 0 && address.is_unix &&
               !strcmp(address.path, "/run/berth.sock") && address_socket(&address, &socket, &len) &&
               !strcmp(address_print((struct sockaddr *)&socket, text), "unix:/run/berth.sock"),
           "\"unix:/run/berth.sock\" is an address");
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "unix:/", 6);
    longest[5 + ADDRESS_PATH_MAX] = '\0';
    tap_ok(address_read(longest, &address, &err) == 0 && !address_socket(&address, &socket, &len),
           "a socket's path may be longer than what the kernel takes as an address");
    address.path[sizeof((struct sockaddr_un *)&socket)->sun_path - 1] = '\0';
    tap_ok(address_socket(&address, &socket, &len) &&
               strlen(address_print((struct sockaddr *)&socket, text)) < ADDRESS_TEXT_MAX,
           "what it takes is printed, cut to the room");
    longest[5 + ADDRESS_PATH_MAX] = 'a';
    longest[6 + ADDRESS_PATH_MAX] = '\0';
    tap_ok(address_read(longest, &address, &err) == -1, "and no longer");
}

/* ------------------------------------------------------------------------------------------------------------ URLs */

static const struct {
    const char *text;
    bool secure;
    const char *host;
    unsigned port; /* 0: refused */
    const char *path;
} urls[] = {
    {"http://a", false, "a", 80, ""},
    {"https://a/", true, "a", 443, "/"},
    {"HTTPS://Pool.Example.ORG:7600/v1/ads?x=1&y=%2f", true, "pool.example.org", 7600, "/v1/ads?x=1&y=%2f"},
    {"http://127.0.0.1:1/", false, "127.0.0.1", 1, "/"},
    {"https://[2001:DB8::1]:65535/", true, "2001:db8::1", 65535, "/"},
    {"https://my_service/", true, "my_service", 443, "/"},
    {"http://1.2.3.4.example/", false, "1.2.3.4.example", 80, "/"},
    {"", false, NULL, 0, NULL},
    {"http", false, NULL, 0, NULL},
    {"http://", false, NULL, 0, NULL},
    {"http:///", false, NULL, 0, NULL},
    {"http:/a", false, NULL, 0, NULL},
    {"ftp://a/", false, NULL, 0, NULL},
    {"file:///etc/passwd", false, NULL, 0, NULL},
    {"gopher://a/", false, NULL, 0, NULL},
    {" http://a/", false, NULL, 0, NULL},
    {"http://a /", false, NULL, 0, NULL},
    {"http://a/ ", false, NULL, 0, NULL},
    {"http://a/\n", false, NULL, 0, NULL},
    {"http://a/\x7f", false, NULL, 0, NULL},
    {"http://a/\xc3\xa4", false, NULL, 0, NULL},
    {"http://\xc3\xa4/", false, NULL, 0, NULL},
    {"http://u@a/", false, NULL, 0, NULL},
    {"http://u:p@a/", false, NULL, 0, NULL},
    {"http://@a/", false, NULL, 0, NULL},
    {"http://a\\@b/", false, NULL, 0, NULL},
    {"http://a/\\b", false, NULL, 0, NULL},
    {"http://a#b", false, NULL, 0, NULL},
    {"http://a/#", false, NULL, 0, NULL},
    {"http://a?b", false, NULL, 0, NULL},
    {"http://a/%", false, NULL, 0, NULL},
    {"http://a/%2", false, NULL, 0, NULL},
    {"http://a/%zz", false, NULL, 0, NULL},
    {"http://a%2eb/", false, NULL, 0, NULL},
    {"http://a:0/", false, NULL, 0, NULL},
    {"http://a:/", false, NULL, 0, NULL},
    {"http://a:65536/", false, NULL, 0, NULL},
    {"http://a:99999999999999999999/", false, NULL, 0, NULL},
    {"http://a:1:2/", false, NULL, 0, NULL},
    {"http://127.1/", false, NULL, 0, NULL},
    {"http://0177.0.0.1/", false, NULL, 0, NULL},
    {"http://0x7f.0.0.1/", false, NULL, 0, NULL},
    {"http://127.0.0.0x1/", false, NULL, 0, NULL},
    {"http://2130706433/", false, NULL, 0, NULL},
    {"http://1.2.3.4./", false, NULL, 0, NULL},
    {"http://[::1/", false, NULL, 0, NULL},
    {"http://[::1]x/", false, NULL, 0, NULL},
    {"http://[fe80::1%25eth0]/", false, NULL, 0, NULL},
    {"http://[]/", false, NULL, 0, NULL},
    {"http://::1/", false, NULL, 0, NULL},
};

static void check_urls(void)
{
    char longest[URL_MAX + 2];
    struct err err;
    struct url url;

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        int result = url_read(urls[i].text, strlen(urls[i].text), &url, &err);

        if (urls[i].port == 0)
            tap_ok(result == -1, "\"%s\" is no URL to contact", urls[i].text);
        else
            tap_ok(result == 0 && url.secure == urls[i].secure && !strcmp(url.host, urls[i].host) &&
                       url.port == urls[i].port && url.path_len == strlen(urls[i].path) &&
                       !memcmp(url.path, urls[i].path, url.path_len),
                   "\"%s\" is a URL", urls[i].text);
    }
    tap_ok(url_read("http://a/\0b", 11, &url, &err) == -1 && url_read("http://a\0b/", 11, &url, &err) == -1,
           "a NUL is refused wherever it is");
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "http://a/", 9);
    tap_ok(url_read(longest, URL_MAX, &url, &err) == 0 && url_read(longest, URL_MAX + 1, &url, &err) == -1,
           "a URL has at most %d bytes", URL_MAX);
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "http://", 7);
    tap_ok(url_read(longest, 7 + 63, &url, &err) == 0 && url_read(longest, 7 + 64, &url, &err) == -1,
           "a part of a host's name has at most 63 bytes");
}

/* Where a plain connection is heard by nobody else. */
static void check_here(void)
{
    static const char *const here[] = {"http://127.0.0.1:1", "http://127.9.9.9/x", "http://[::1]:80/"};
    static const char *const away[] = {"http://127.evil.example/",
                                       "http://127.0.0.1.evil.example",
                                       "http://10.0.0.1",
                                       "http://localhost.evil.example",
                                       "http://[::2]",
                                       "nonsense",
                                       ""};
    struct url url;
    struct err err;

    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        tap_ok(url_is_loopback(here[i]), "%s leads to this machine", here[i]);
    for (size_t i = 0; i < sizeof away / sizeof *away; i++)
        tap_ok(!url_is_loopback(away[i]) && (url_read(away[i], strlen(away[i]), &url, &err) < 0 || !url_is_here(&url)),
               "'%s' does not", away[i]);
    tap_ok(!url_is_loopback("http://localhost") && url_read("http://localhost", 16, &url, &err) == 0 &&
               url_is_here(&url),
           "localhost does, as far as one may trust a name");
}

int main(void)
{
    check_here();
    check_sorts();
    check_networks();
    check_sites();
    check_addresses();
    check_urls();
    return tap_done();
}
