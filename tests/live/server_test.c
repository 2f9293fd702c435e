/* server_test.c: requests come in, answers go out, and what is malformed, slow, greedy or gone does no harm. */
#include "common/tap.h"
#include "web.h"

#include <sys/stat.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MS INT64_C(1000) /* of microseconds */

/* Deadlines short enough to wait for. */
static const struct server_limits hasty = {.head = 300 * MS, .body = 300 * MS, .idle = 500 * MS};

#define SECOND_REQUEST "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"

/* --------------------------------------------------------------------------------------------------- what is answered */

static void test_answers(void)
{
    static const struct {
        const char *says, *request, *answer, *heard;
    } rows[] = {
        {"a GET is answered", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK", "GET /echo /echo - - "},
        {"a body comes whole", "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "200 OK",
         "PUT /echo /echo - - hello"},
        {"a path is decoded once, and there raw as well", "GET /a%2Fb%252e HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "GET /a/b%2e /a%2Fb%252e - - "},
        {"an argument of the query is decoded", "GET /echo?p=1&q=a%20b+c%0A&r HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "GET /echo /echo a b c\n - "},
        {"an argument without a value is empty", "GET /echo?q HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "GET /echo /echo  - "},
        {"the second mark of a query belongs to it", "GET /echo?q=? HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "GET /echo /echo ? - "},
        {"a field is found in any case", "GET /echo HTTP/1.1\r\nHost: h\r\nx-nOTE:  n \r\n\r\n", "200 OK",
         "GET /echo /echo - n  "},
        {"DELETE is told from the others", "DELETE /echo HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "DELETE /echo /echo - - "},
        {"a method that nobody knows is for the handler to refuse", "BREW /echo HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK",
         "OTHER /echo /echo - - "},
        {"HTTP/1.0 needs no Host", "GET /echo HTTP/1.0\r\n\r\n", "200 OK", "GET /echo /echo - - "},
        {"an empty body is one", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "200 OK",
         "POST /echo /echo - - "},
        {"2,000 arguments are no harm", NULL, "200 OK", "GET /echo /echo - - "},
    };
    struct web web;
    struct buf many;

    buf_init(&many);
    buf_adds(&many, "GET /echo?");
    for (int i = 0; i < 2000; i++)
        buf_adds(&many, "a&");
    buf_adds(&many, " HTTP/1.1\r\nHost: h\r\n\r\n");
    web_init(&web, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct client client;
        client_open(&web, &client);
        client_send(&client, rows[i].request ? rows[i].request : buf_string(&many));
        bool came = client_wait(&web, &client, rows[i].heard);
        if (!tap_ok(came && client_count(&client, rows[i].answer) == 1 &&
                        strcmp(buf_string(&web.last), rows[i].heard) == 0,
                    "%s", rows[i].says))
            tap_diag("%s\nheard: %s", buf_string(&client.in), buf_string(&web.last));
        client_close(&client);
    }
    buf_done(&many);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

static void test_bodies(void)
{
    struct web web;
    struct client client;
    unsigned handles;

    web_init(&web, NULL);
    client_open(&web, &client);
    client_send(&client, "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\nGET /empty HTTP/1.1\r\nHost: h\r\n\r\n");
    tap_ok(client_wait(&web, &client, "204 No Content") &&
               client_count(&client, "Content-Length: 21\r\n\r\nHTTP/1.1 204"),
           "an answer to HEAD has the length of its body, and no body");
    tap_ok(client_count(&client, "Content-Length") == 1, "204 has no body and no length");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "PUT /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    tap_ok(client_wait(&web, &client, "HTTP/1.1 100 Continue\r\n\r\n") && client_send(&client, "hello") &&
               client_wait(&web, &client, "- - hello"),
           "a client that asks is told to go on with its body");
    client_close(&client);

    handles = web.handles;
    client_open(&web, &client);
    client_send(&client, "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n");
    tap_ok(client_wait_closed(&web, &client, 3000) && client_count(&client, "HTTP/1.1 413 ") == 1 &&
               client_count(&client, "problem+json") == 1 && web.handles == handles &&
               strcmp(web.why, "the body is too long") == 0,
           "a body that is declared too long is refused before it is read");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "PUT /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
    tap_ok(client_wait_closed(&web, &client, 3000) && client_count(&client, "HTTP/1.1 413 ") == 1 &&
               client_count(&client, "100 Continue") == 0,
           "and its client is not told to go on");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "PUT /deny HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" SECOND_REQUEST);
    tap_ok(client_wait_closed(&web, &client, 3000) && client_count(&client, "HTTP/1.1 ") == 1 &&
               client_count(&client, "HTTP/1.1 401 ") == 1 && web.handles == handles,
           "a body that begin does not accept is not read, and the connection is closed");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "GET /deny HTTP/1.1\r\nHost: h\r\n\r\nGET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    tap_ok(client_wait(&web, &client, "GET /echo") && client_count(&client, "HTTP/1.1 401 ") == 1,
           "without a body the connection is kept");
    client_close(&client);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

static void test_kept_alive(void)
{
    struct web web;
    struct client client;
    bool is_good = true;

    web_init(&web, NULL);
    client_open(&web, &client);
    for (unsigned i = 1; i <= 100; i++) {
        client_send(&client, i % 2 ? "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"
                                   : "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
        is_good = is_good && client_wait_count(&web, &client, "200 OK", i, 2000);
    }
    tap_ok(is_good && web.handles == 100 && server_connections(web.server) == 1, "100 requests go over one connection");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client,
                "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPUT /late HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
    client_wait(&web, &client, "GET /1");
    web_run_for(&web, 50);
    client_read(&client);
    is_good = web.kept_count == 1 && client_count(&client, "HTTP/1.1 ") == 1;
    web_answer_late(&web, "late answer");
    tap_ok(is_good && client_wait(&web, &client, "GET /3") && client_count(&client, "HTTP/1.1 200 OK") == 3 &&
               strstr(buf_string(&client.in), "late answer") < strstr(buf_string(&client.in), "GET /3"),
           "requests that are sent without waiting are answered in their order, though one has to be thought about");
    client_close(&client);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

/* ----------------------------------------------------------------------------------------------------- what is refused */

#define START "GET /echo HTTP/1.1\r\nHost: h\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: h\r\n"

static void test_guard(void)
{
    /* a literal may hold NULs, so its length counts */
#define ROW(says, request, words)                \
    {                                            \
        says, request, sizeof request - 1, words \
    }
    static const struct {
        const char *says, *request;
        size_t len;
        const char *words;
    } rows[] = {
        ROW("two Content-Lengths", POST "Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello",
            "more than one Content-Length"),
        ROW("two that agree", POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello",
            "more than one Content-Length"),
        ROW("a list of Content-Lengths", POST "Content-Length: 5, 5\r\n\r\nhello", "Content-Length is not a number"),
        ROW("a Content-Length with a sign", POST "Content-Length: +5\r\n\r\nhello", "Content-Length is not a number"),
        ROW("a negative Content-Length", POST "Content-Length: -5\r\n\r\nhello", "Content-Length is not a number"),
        ROW("a hexadecimal Content-Length", POST "Content-Length: 0x5\r\n\r\nhello", "Content-Length is not a number"),
        ROW("a Content-Length with a blank behind", POST "Content-Length: 5 \r\n\r\nhello",
            "Content-Length is not a number"),
        ROW("an empty Content-Length", POST "Content-Length:\r\n\r\nhello", "Content-Length is not a number"),
        ROW("a Content-Length past 64 bits", POST "Content-Length: 18446744073709551617\r\n\r\nhello",
            "Content-Length is not a number"),
        ROW("a good Content-Length before a bad one", POST "Content-Length: 5\r\nContent-Length: x\r\n\r\nhello",
            "more than one Content-Length"),
        ROW("a chunked body", POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
        ROW("Transfer-Encoding: identity", POST "Transfer-Encoding: identity\r\n\r\n", "Transfer-Encoding"),
        ROW("Content-Length beside Transfer-Encoding",
            POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
        ROW("Transfer-Encoding before Content-Length",
            POST "TRANSFER-ENCODING: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
        ROW("Transfer-Encoding in a folded line", POST "X: y\r\n Transfer-Encoding: chunked\r\n\r\n", "folded"),
        ROW("a folded Transfer-Encoding", POST "Transfer-Encoding: chunked\r\n , x\r\n\r\n0\r\n\r\n", "folded"),
        ROW("Transfer-Encoding behind a bare line feed", POST "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400"),
        ROW("a blank before the colon", POST "Content-Length : 5\r\n\r\nhello", "name of a field"),
        ROW("a bare line feed", START "X: y\nY: z\r\n\r\n", "bare line feed"),
        ROW("bare line feeds only", "GET /echo HTTP/1.1\nHost: h\n\n", "bare line feed"),
        ROW("a bare line feed at the end", START "\n", "bare line feed"),
        ROW("a folded line", START "X: y\r\n\tz\r\n\r\n", "folded"),
        ROW("a folded first line", "GET /echo HTTP/1.1\r\n Host: h\r\n\r\n", "name of a field"),
        ROW("a NUL in a value", START "X: a\0b\r\n\r\n", "NUL"),
        ROW("two NULs in a value, and fields behind it", START "X: a\0\0b\r\nY: z\r\n\r\n", "NUL"),
        ROW("a NUL at the end of a value", START "X: a\0\r\n\r\n", "NUL"),
        ROW("many NULs in the last value", START "X: a\0\0\0\0\0b\r\n\r\n", "NUL"),
        ROW("a NUL in the path", "GET /ec\0ho HTTP/1.1\r\nHost: h\r\n\r\n", "NUL"),
        ROW("a carriage return in a value", START "X: a\rb\r\n\r\n", "control character in the value"),
        ROW("a bell in a value", START "X: a\ab\r\n\r\n", "control character in the value"),
        ROW("a DEL in a value", START "X: a\177b\r\n\r\n", "control character in the value"),
        ROW("a name with a slash", START "X/Y: a\r\n\r\n", "name of a field"),
        ROW("no name", START ": a\r\n\r\n", "400"),
        ROW("two Hosts", START "host: other\r\n\r\n", "more than one Host"),
        ROW("no Host", "GET /echo HTTP/1.1\r\n\r\n", "no Host"),
        ROW("a Host that is a list", "GET /echo HTTP/1.1\r\nHost: a,b\r\n\r\n", "Host is not"),
        ROW("a Host with a path", "GET /echo HTTP/1.1\r\nHost: a/b\r\n\r\n", "Host is not"),
        ROW("%00", "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n", "%00"),
        ROW("%00 in the query", "GET /a?b=%00 HTTP/1.1\r\nHost: h\r\n\r\n", "%00"),
        ROW("a '%' alone", "GET /a% HTTP/1.1\r\nHost: h\r\n\r\n", "'%' in the target"),
        ROW("a '%' with one digit", "GET /a%2 HTTP/1.1\r\nHost: h\r\n\r\n", "'%' in the target"),
        ROW("a '%' with no digits", "GET /a?b=%zz HTTP/1.1\r\nHost: h\r\n\r\n", "'%' in the target"),
        ROW("an escaped line feed in the path", "GET /a%0ab HTTP/1.1\r\nHost: h\r\n\r\n", "escaped control character"),
        ROW("..", "GET /../etc HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW(".. at the end", "GET /a/.. HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW(".. before a query", "GET /a/..?q=1 HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW("escaped dots", "GET /a/%2e%2E/b HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW("one escaped dot", "GET /a/.%2e HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW(".. between escaped slashes", "GET /a%2f..%2Fb HTTP/1.1\r\nHost: h\r\n\r\n", "'..'"),
        ROW("a blank in the path", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "should be escaped"),
        ROW("a byte past ASCII in the path", "GET /\xc3\xa4 HTTP/1.1\r\nHost: h\r\n\r\n", "should be escaped"),
        ROW("a fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", "should be escaped"),
        ROW("two blanks in the request line", "GET  /echo HTTP/1.1\r\nHost: h\r\n\r\n", "blank too many"),
        ROW("a whole URL", "GET http://h/echo HTTP/1.1\r\nHost: h\r\n\r\n", "begins with '/'"),
        ROW("a star", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "begins with '/'"),
        ROW("a host and port", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", "begins with '/'"),
        ROW("a method that is no word", "G(T /echo HTTP/1.1\r\nHost: h\r\n\r\n", "method"),
        ROW("HTTP/1.2", "GET /echo HTTP/1.2\r\nHost: h\r\n\r\n", "version"),
        ROW("an expectation", START "Expect: tea\r\n\r\n", "100-continue"),
    };
#undef ROW
    struct web web;

    web_init(&web, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct client client;
        unsigned refusals = web.refusals;
        client_open(&web, &client);
        client_send_bytes(&client, rows[i].request, rows[i].len);
        client_send(&client, SECOND_REQUEST);
        bool is_closed = client_wait_closed(&web, &client, 3000);
        if (!tap_ok(is_closed && web.begins == 0 && client_count(&client, "\r\n\r\n") == 1 &&
                        strncmp(buf_string(&client.in), "HTTP/1.1 400 ", 13) == 0 &&
                        client_count(&client, "application/problem+json") == 1 &&
                        client_count(&client, rows[i].words) && web.refusals == refusals + 1,
                    "refused with one answer, and nothing behind it is run: %s", rows[i].says))
            tap_diag("closed %d, begins %u, refusals %u\n%s", is_closed, web.begins, web.refusals - refusals,
                     buf_string(&client.in));
        client_close(&client);
    }
    tap_ok(web_done(&web), "nothing is left in the loop");
}

/* Heads at the limits and one past them. */
static void test_guard_sizes(void)
{
    static const struct {
        const char *says;
        unsigned path, fields, value; /* bytes of the path; fields beside Host, each with that many bytes of value */
        const char *words;            /* NULL: taken */
    } rows[] = {
        {"100 fields are taken", 5, 99, 1, NULL},
        {"101 fields are refused", 5, 100, 1, "too many fields"},
        {"a path of 4096 bytes is taken", 4096, 0, 0, NULL},
        {"a path of 4097 bytes is refused", 4097, 0, 0, "longer than 4096"},
        {"fields of nearly 16 KiB are taken", 4096, 99, 155, NULL},
        {"fields past 16 KiB are refused", 5, 99, 160, "fields are too long"},
        {"one field past 16 KiB is refused", 5, 1, 16384, "fields are too long"},
        {"a head past all memory is refused", 5, 1, 60000, "HTTP/1.1 431 "},
        {"a path past all memory is refused", 60000, 0, 0, "HTTP/1.1 414 "},
        {"3,000 fields are refused", 5, 3000, 1, "HTTP/1.1 431 "},
    };
    struct web web;
    struct buf request;

    web_init(&web, NULL);
    buf_init(&request);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct client client;
        unsigned handles = web.handles;
        bool is_good;
        buf_reset(&request);
        buf_adds(&request, "GET /");
        for (unsigned j = 1; j < rows[i].path; j++)
            buf_addc(&request, 'p');
        buf_adds(&request, " HTTP/1.1\r\nHost: h\r\n");
        for (unsigned j = 0; j < rows[i].fields; j++) {
            buf_addf(&request, "F%03u: ", j);
            for (unsigned k = 0; k < rows[i].value; k++)
                buf_addc(&request, 'v');
            buf_adds(&request, "\r\n");
        }
        buf_adds(&request, "\r\n");
        client_open(&web, &client);
        client_send(&client, buf_string(&request));
        if (rows[i].words)
            is_good = client_wait_closed(&web, &client, 3000) && client_count(&client, rows[i].words) == 1 &&
                      web.handles == handles;
        else
            is_good = client_wait(&web, &client, "200 OK") && web.handles == handles + 1;
        if (!tap_ok(is_good, "%s", rows[i].says))
            tap_diag("%s", buf_string(&client.in));
        client_close(&client);
    }
    buf_done(&request);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

/* ----------------------------------------------------------------------------------------------------------- addresses */

static void test_addresses(void)
{
    static const char *const bad[] = {
        "",          "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",   "127.0.0.1:65536", "127.0.0.1:-1", "here:7600",
        "[::1]7600", "[::1:0",    "::1:0",      "unix:relative", "unix:",           "192.0.2.1:0"};
    struct web web, v6;
    struct client client;
    struct err err = {0};
    bool is_good = true;

    web_init(&web, NULL);
    for (size_t i = 0; i < COUNT(bad); i++) {
        err = (struct err){0};
        if (web_server(&web, bad[i], NULL, NULL, NULL, &err) || !err.text[0]) {
            tap_diag("'%s' was taken", bad[i]);
            is_good = false;
        }
    }
    tap_ok(is_good, "an address that cannot be had is refused, and why");
    tap_ok(!web_server(&web, server_address(web.server), NULL, NULL, NULL, &err) && strstr(err.text, "in use"),
           "an address is had once");
    tap_ok(strncmp(server_address(web.server), "127.0.0.1:", 10) == 0 && atoi(server_address(web.server) + 10) > 0,
           "the port that was taken is told");

    client_open(&web, &client);
    client_send(&client, START "\r\n");
    client_wait(&web, &client, "200 OK");
    server_stop_accepting(web.server);
    server_stop_accepting(web.server);
    client_send(&client, START "\r\n");
    is_good = client_wait_count(&web, &client, "200 OK", 2, 2000);
    client_close(&client);
    client_open(&web, &client);
    tap_ok(is_good && client.is_closed && !web.has_uid && !web.is_secure,
           "a server that drains keeps its connections and takes no more");
    client_close(&client);
    web_done(&web);

    web_init_with(&v6, "[::1]:0", NULL, NULL, NULL);
    client_open(&v6, &client);
    client_send(&client, START "\r\n");
    tap_ok(client_wait(&v6, &client, "200 OK"), "IPv6 is served");
    client_close(&client);
    web_done(&v6);
}

/* Its name is longer than the address that libmicrohttpd has room for. */
static bool named_client_is_served(struct web *web, const char *folder)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}, to = {.sun_family = AF_UNIX};
    struct client client = {.fd = socket(AF_UNIX, SOCK_STREAM, 0)};
    bool is_served;

    buf_init(&client.in);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/%060d", folder, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s/socket", folder);
    is_served = bind(client.fd, (struct sockaddr *)&name, sizeof name) == 0 &&
                connect(client.fd, (struct sockaddr *)&to, sizeof to) == 0 &&
                fcntl(client.fd, F_SETFL, O_NONBLOCK) == 0 && client_send(&client, START "\r\n") &&
                client_wait(web, &client, "200 OK");
    client_close(&client);
    unlink(name.sun_path);
    return is_served;
}

static void test_unix(void)
{
    char folder[] = "/tmp/berth-server-XXXXXX", address[64], path[64];
    struct web web;
    struct client clients[70], client;
    struct stat st;
    struct err err = {0};
    int fd;

    if (!mkdtemp(folder))
        exit(1);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    snprintf(path, sizeof path, "%s/socket", folder);
    web_init_with(&web, address, NULL, NULL, NULL);
    client_open(&web, &client);
    client_send(&client, START "\r\n");
    tap_ok(client_wait(&web, &client, "200 OK") && web.has_uid && web.uid == geteuid(),
           "over a Unix socket the user is known");
    client_close(&client);
    tap_ok(named_client_is_served(&web, folder), "so is one whose client has a name of its own");
    tap_ok(stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0666, "everyone may connect to it");
    tap_ok(!web_server(&web, address, NULL, NULL, NULL, &err) && strstr(err.text, "another process"),
           "a socket that is served is not taken away");
    tap_ok(strcmp(server_address(web.server), address) == 0, "its address is its path");
    for (size_t i = 0; i < COUNT(clients); i++)
        client_open(&web, &clients[i]);
    client_send(&clients[69], START "\r\n");
    tap_ok(client_wait(&web, &clients[69], "200 OK"), "70 local strangers are welcome");
    for (size_t i = 0; i < COUNT(clients); i++)
        client_close(&clients[i]);
    web_done(&web);
    tap_ok(stat(path, &st) < 0, "the socket goes with its server");

    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    strcpy(name.sun_path, path);
    bind(fd, (struct sockaddr *)&name, sizeof name);
    close(fd);
    web_init_with(&web, address, NULL, NULL, NULL);
    tap_ok(stat(path, &st) == 0, "a socket that nobody serves any more is replaced");
    web_done(&web);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    web_init(&web, NULL);
    tap_ok(!web_server(&web, address, NULL, NULL, NULL, &err) && stat(path, &st) == 0,
           "a file that is no socket is left alone");
    web_done(&web);
    unlink(path);
    rmdir(folder);
}

/* ----------------------------------------------------------------------------------------------------------------- TLS */

/* A certificate that signs itself, as PEM texts. */
static void certificate_make(gnutls_datum_t *certificate, gnutls_datum_t *key)
{
    gnutls_x509_privkey_t private;
    gnutls_x509_crt_t crt;

    gnutls_x509_privkey_init(&private);
    gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    gnutls_x509_crt_init(&crt);
    gnutls_x509_crt_set_version(crt, 3);
    gnutls_x509_crt_set_serial(crt, "\1", 1);
    gnutls_x509_crt_set_activation_time(crt, time(NULL) - 60);
    gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 3600);
    gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, "localhost", 9);
    gnutls_x509_crt_set_key(crt, private);
    gnutls_x509_crt_sign2(crt, crt, private, GNUTLS_DIG_SHA256, 0);
    gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, certificate);
    gnutls_x509_privkey_export2(private, GNUTLS_X509_FMT_PEM, key);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(private);
}

/* One connection with these priorities: sends the request and returns what came, or the empty text. */
static void tls_talk(struct web *web, const char *priorities, const char *request, const char *needle, struct buf *ret,
                     gnutls_protocol_t *ret_version)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
    struct client client;
    int result;
    uint64_t end = web_now() + 3000;

    client_open(web, &client);
    gnutls_certificate_allocate_credentials(&credentials);
    gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    gnutls_priority_set_direct(session, priorities, NULL);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, client.fd);
    while ((result = gnutls_handshake(session)) < 0 && !gnutls_error_is_fatal(result) && web_now() < end)
        web_run(web, client.fd);
    buf_reset(ret);
    *ret_version = gnutls_protocol_get_version(session);
    if (result == 0) {
        gnutls_record_send(session, request, strlen(request));
        while (web_now() < end && !strstr(buf_string(ret) + (ret->len > 4096 ? ret->len - 4096 : 0), needle)) {
            ssize_t got = gnutls_record_recv(session, buf_reserve(ret, 16384), 16384);
            if (got > 0)
                ret->len += (size_t)got;
            else if (got == 0 || gnutls_error_is_fatal((int)got))
                break;
            else
                web_run(web, client.fd);
            if (web->kept_count) { /* one of the two does nothing */
                web_answer_late(web, "late over TLS");
                exchange_stream_write(web->kept[0], "data: tls\n\n", 11);
            }
        }
    }
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    client_close(&client);
}

static void test_tls(void)
{
    gnutls_datum_t certificate, key;
    gnutls_protocol_t version;
    struct web web;
    struct err err = {0};
    struct buf in;

    buf_init(&in);
    certificate_make(&certificate, &key);
    web_init_with(&web, "127.0.0.1:0", (const char *)certificate.data, (const char *)key.data, &hasty);
    tls_talk(&web, "NORMAL", START "\r\n", "GET /echo", &in, &version);
    tap_ok(strstr(buf_string(&in), "200 OK") && version == GNUTLS_TLS1_3 && web.is_secure,
           "TLS 1.3 is spoken where both can");
    tls_talk(&web, "NORMAL:-VERS-ALL:+VERS-TLS1.2", START "\r\n", "GET /echo", &in, &version);
    tap_ok(strstr(buf_string(&in), "200 OK") && version == GNUTLS_TLS1_2, "TLS 1.2 is spoken");
    tls_talk(&web, "LEGACY:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.0", START "\r\n", "GET /echo", &in, &version);
    tap_ok(in.len == 0, "nothing older is");
    tls_talk(&web, "NORMAL", POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "more than one", &in, &version);
    tap_ok(strstr(buf_string(&in), "400 Bad Request"), "the guard stands before TLS as well");
    tls_talk(&web, "NORMAL", POST "Content-Length: x\r\n\r\n", "not a number", &in, &version);
    tap_ok(strstr(buf_string(&in), "400 Bad Request"), "and answers where the parser would not");
    tls_talk(&web, "NORMAL", POST "Content-Length: 5\r\n\r\nhel", "too long\"}", &in, &version);
    tap_ok(strstr(buf_string(&in), "408 Request Timeout"), "a slow body is told so over TLS");
    tls_talk(&web, "NORMAL", "GET /late HTTP/1.1\r\nHost: h\r\n\r\n", "late over TLS", &in, &version);
    tap_ok(strstr(buf_string(&in), "late over TLS"), "an answer may come later over TLS");
    tls_talk(&web, "NORMAL", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", "data: tls", &in, &version);
    tap_ok(strstr(buf_string(&in), "data: tls"), "so may a stream");
    tls_talk(&web, "NORMAL", "GET /big HTTP/1.1\r\nHost: h\r\n\r\n", "no such text", &in, &version);
    tap_ok(in.len > WEB_BIG, "8 MiB come whole over TLS");
    WEB_WAIT(&web, web.overs == web.begins, 1000);
    tap_ok(web.overs == web.begins && web.kept_count == 0, "each exchange that began is over, once");
    struct client mute;
    client_open(&web, &mute);
    tap_ok(client_wait_closed(&web, &mute, 1000), "a handshake that does not come is not waited for");
    client_close(&mute);
    tap_ok(!web_server(&web, "127.0.0.1:0", (const char *)certificate.data, "no key", NULL, &err) && err.text[0],
           "a key that is none is refused, and why");
    web_done(&web);
    gnutls_free(certificate.data);
    gnutls_free(key.data);
    buf_done(&in);
}

int main(void)
{
    test_answers();
    test_bodies();
    test_kept_alive();
    test_guard();
    test_guard_sizes();
    test_addresses();
    test_unix();
    test_tls();
    return tap_done();
}
