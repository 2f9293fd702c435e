/* server_life_test.c: answers that come later, streams, and clients that are slow, greedy, too many or gone. */
#include "common/tap.h"
#include "web.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MS INT64_C(1000) /* of microseconds */

/* Deadlines short enough to wait for. */
static const struct server_limits hasty = {
    .head = 300 * MS, .body = 300 * MS, .reply = 300 * MS, .idle = 500 * MS, .comment = 200 * MS};

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

/* ------------------------------------------------------------------------------------------------------------ deadlines */

#define LONG 60000 /* milliseconds: whoever waits so long waits for nothing */

/* Sends a byte now and then until the server closes; how many milliseconds that took. A deadline is never early; how late it is depends on
 * what else the machine does, and is not looked at. */
static unsigned drip(struct web *web, struct client *client, const char *bytes)
{
    uint64_t start = web_now();

    for (const char *at = bytes; !client->is_closed && web_now() - start < LONG;) {
        send(client->fd, at, 1, MSG_NOSIGNAL);
        at += at[1] != '\0';
        client_wait_closed(web, client, 40);
    }
    return (unsigned)(web_now() - start);
}

static void test_deadlines(void)
{
    struct web web;
    struct client client;
    unsigned took;

    web_init(&web, &hasty);
    client_open(&web, &client);
    took = drip(&web, &client, "GET /echo HTTP/1.1\r\nHost: h\r\nX: a very long value indeed, and it never ends");
    tap_ok(took >= 290 && client.is_closed && client_count(&client, "408 Request Timeout") == 1 &&
               strstr(web.why, "head"),
           "a head that comes byte by byte is cut at its deadline (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    took = drip(&web, &client, "GET /a-long-path-and-so-on-and-so-on-and-so-on-and-so-on-and-so-on");
    tap_ok(took >= 290 && client.is_closed && client_count(&client, "408 ") == 1, "so is a request line (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n");
    took = drip(&web, &client, "xxxx");
    tap_ok(took >= 290 && client.is_closed && client_count(&client, "408 ") == 1 &&
               client_count(&client, "problem+json") == 1 && strstr(web.why, "body"),
           "a body that comes byte by byte is cut at its deadline (%u ms)", took);
    client_close(&client);
    WEB_WAIT(&web, web.overs == web.begins, 500);
    tap_ok(web.begins == 1 && web.overs == 1 && web.handles == 0, "it is over, and was not handled");

    client_open_with(&client, server_address(web.server), 4096);
    client_send(&client, GET("/big"));
    uint64_t start = web_now();
    WEB_WAIT(&web, web.overs == 2, LONG);
    took = (unsigned)(web_now() - start);
    tap_ok(took >= 290 && web.overs == 2 && strstr(web.why, "slowly"),
           "an answer that is not read is cut at its deadline (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, GET("/echo"));
    client_wait(&web, &client, "200 OK");
    start = web_now();
    client_wait_closed(&web, &client, LONG);
    took = (unsigned)(web_now() - start);
    tap_ok(took >= 450 && client.is_closed && client_count(&client, "HTTP/1.1 ") == 1,
           "a connection without a request is closed without a word (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, GET("/echo"));
    client_wait(&web, &client, "200 OK");
    client_send(&client, "GET /echo HTTP/1.1\r\n");
    took = drip(&web, &client, "Host: a very long value indeed, and it never ends");
    tap_ok(took >= 290 && client.is_closed && client_count(&client, "408 ") == 1,
           "a second head that comes byte by byte is cut as well (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, GET("/late"));
    tap_ok(client_wait(&web, &client, "no answer in time") && client_count(&client, "503 Service Unavailable") == 1 &&
               !client.is_closed,
           "a handler that says nothing is not waited for longer");
    WEB_WAIT(&web, web.overs == web.begins, 500);
    tap_ok(web.kept_count == 0 && web.overs == web.begins, "each exchange that began is over, once");
    client_close(&client);
    web_done(&web);
}

/* The loop runs only while the test waits for something: else it stands still. */
static void test_stall(void)
{
    static const char half[] = "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab";
    struct web web;
    struct client head, body, late;

    web_init(&web, &hasty);
    client_open(&web, &head);
    client_open(&web, &body);
    client_open(&web, &late);
    client_send(&head, "GET /echo HTTP/1.1\r\n");
    client_send(&body, half);
    client_send(&late, half);
    WEB_WAIT(&web, web.begins == 2, 2000);
    client_send(&head, "Host: h\r\n\r\n");
    client_send(&body, "cd");
    usleep(900 * 1000); /* three times as long as they have */
    tap_ok(client_wait(&web, &head, "200 OK") && !client_count(&head, "408 "),
           "the time in which the loop stands still is charged to no head");
    tap_ok(client_wait(&web, &body, "200 OK") && !client_count(&body, "408 "), "nor to a body");
    client_wait_closed(&web, &late, 3000);
    tap_ok(client_count(&late, "408 ") == 1, "who sends no more is late all the same, a little later");
    client_close(&head);
    client_close(&body);
    client_close(&late);
    web_done(&web);
}

/* ---------------------------------------------------------------------------------------------------------- later, gone */

static void test_later(void)
{
    struct web web;
    struct client clients[50], client;
    unsigned good = 0;

    web_init(&web, NULL);
    for (size_t i = 0; i < COUNT(clients); i++) {
        client_open(&web, &clients[i]);
        client_send(&clients[i], GET("/late"));
    }
    WEB_WAIT(&web, web.kept_count == COUNT(clients), 2000);
    web_answer_late(&web, "at last");
    web_answer_late(&web, "too late"); /* counts for nothing */
    for (size_t i = 0; i < COUNT(clients); i++) {
        good += client_wait(&web, &clients[i], "at last") && !client_count(&clients[i], "too late");
        client_close(&clients[i]);
    }
    tap_ok(good == COUNT(clients) && web.overs == web.begins, "50 answers that come later come to those who asked");

    client_open(&web, &client);
    client_send(&client, "PUT /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    web_run_for(&web, 20);
    good = web.handles;
    exchange_accept(web.kept[0], 5, true);
    tap_ok(client_wait(&web, &client, "- - hello") && web.handles == good + 1,
           "begin may take its time, and the body waits");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "PUT /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    web_answer_late(&web, "never");
    tap_ok(client_wait_closed(&web, &client, 2000) && client_count(&client, "never") == 1 && web.handles == good + 1,
           "and may refuse in the end");
    client_close(&client);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

static void test_gone(void)
{
    static const struct server_limits limits = {.head = 300 * MS}; /* so it looks often, and no other deadline helps */
    struct web web;
    struct client client;

    web_init(&web, &limits);
    client_open(&web, &client);
    client_send(&client, GET("/late"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    client_close(&client);
    WEB_WAIT(&web, web.overs == 1, 1000);
    tap_ok(web.overs == 1 && web.kept_count == 0, "a client that goes before its answer is noticed");

    client_open(&web, &client);
    client_send(&client, GET("/late"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    client_close(&client);
    web_answer_late(&web, "to nobody");
    WEB_WAIT(&web, web.overs == 2, 1000);
    tap_ok(web.overs == 2, "an answer to one who has gone harms nobody");

    client_open(&web, &client);
    client_send(&client, "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\nhalf");
    WEB_WAIT(&web, web.begins == 3, 2000);
    client_close(&client);
    WEB_WAIT(&web, web.overs == 3, 1000);
    tap_ok(web.overs == 3 && web.handles == 2, "half a body is not handled");

    client_open(&web, &client);
    client_send(&client, GET("/big"));
    client_wait(&web, &client, "200 OK");
    client_close(&client);
    WEB_WAIT(&web, web.overs == 4, 1000);
    tap_ok(web.overs == 4, "nor is an answer sent to the end when its client goes");
    WEB_WAIT(&web, server_connections(web.server) == 0, 500);
    tap_ok(server_connections(web.server) == 0, "no connection is left");
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

/* -------------------------------------------------------------------------------------------------------------- streams */

static void test_stream(void)
{
    struct web web;
    struct client client;

    web_init(&web, NULL);
    client_open(&web, &client);
    client_send(&client, GET("/stream"));
    tap_ok(client_wait(&web, &client, "\r\n\r\n") && client_count(&client, "Content-Type: text/event-stream") == 1 &&
               client_count(&client, "Cache-Control: no-store") == 1,
           "a stream begins before there is anything in it");
    web_run_for(&web, 30);
    exchange_stream_write(web.kept[0], "data: one\n\n", 11);
    tap_ok(client_wait(&web, &client, "data: one\n\n"), "what is written arrives");
    exchange_stream_write(web.kept[0], "data: two\n\n", 11);
    exchange_stream_write(web.kept[0], "data: three\n\n", 13);
    tap_ok(client_wait(&web, &client, "data: two\n\ndata: three\n\n"), "in its order, and after a pause as well");
    exchange_stream_write(web.kept[0], "data: last\n\n", 12);
    exchange_stream_end(web.kept[0]);
    tap_ok(!exchange_stream_write(web.kept[0], "x", 1), "nothing is written to a stream that has ended");
    tap_ok(client_wait(&web, &client, "data: last\n\n\r\n0\r\n\r\n") && web.overs == 1,
           "the end comes after all that was written");
    client_send(&client, GET("/echo"));
    tap_ok(client_wait(&web, &client, "GET /echo"), "and the connection can be used again");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "GET /stream HTTP/1.0\r\n\r\n");
    client_wait(&web, &client, "\r\n\r\n");
    exchange_stream_write(web.kept[0], "data: one\n\n", 11);
    exchange_stream_end(web.kept[0]);
    tap_ok(client_wait_closed(&web, &client, 2000) && client_count(&client, "\r\n\r\ndata: one\n\n") == 1,
           "to HTTP/1.0 it ends with the connection");
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n" GET("/echo"));
    tap_ok(client_wait(&web, &client, "GET /echo") && web.kept_count == 0,
           "a stream that is asked for by HEAD is over at once");
    client_close(&client);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

static void test_stream_readers(void)
{
    struct web web;
    struct client client;
    char event[1024];
    size_t sent = 0;
    bool is_open = true;

    memset(event, 'e', sizeof event);
    web_init(&web, &hasty);
    client_open(&web, &client);
    client_send(&client, GET("/stream"));
    tap_ok(client_wait_count(&web, &client, ":\n\n", 3, 2000), "a stream without news gets a comment now and then");
    client_close(&client);
    WEB_WAIT(&web, web.overs == 1, 1000);
    tap_ok(web.overs == 1, "a stream whose client goes is over");

    client_open_with(&client, server_address(web.server), 4096);
    client_send(&client, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    for (uint64_t end = web_now() + 2000; is_open && web_now() < end; sent += sizeof event) {
        is_open = exchange_stream_write(web.kept[0], event, sizeof event);
        if (is_open)
            web_run(&web, -1);
    }
    tap_ok(!is_open && sent < 400000 && web.kept_count == 1,
           "a client that does not read is cut when its queue is full (%zu bytes)", sent);
    WEB_WAIT(&web, web.overs == 2, 1000);
    tap_ok(web.overs == 2 && web.kept_count == 0 && strstr(web.why, "queue"),
           "and it is over soon after, not in the middle of a write");
    client_close(&client);

    web.queue_max = 4u << 20;
    client_open_with(&client, server_address(web.server), 4096);
    client_send(&client, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    for (int i = 0; i < 1000; i++)
        exchange_stream_write(web.kept[0], event, sizeof event);
    uint64_t start = web_now();
    WEB_WAIT(&web, web.overs == 3, LONG);
    unsigned took = (unsigned)(web_now() - start);
    tap_ok(took >= 290 && web.overs == 3 && strstr(web.why, "not read"),
           "a client that reads nothing for a while is cut (%u ms)", took);
    client_close(&client);

    client_open(&web, &client);
    client_send(&client, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    for (int i = 0; i < 40; i++) {
        exchange_stream_write(web.kept[0], event, sizeof event);
        web_run_for(&web, 20);
        client_read(&client);
    }
    tap_ok(web.overs == 3 && web.kept_count == 1 && client.in.len > 40 * sizeof event,
           "one who reads is not, however long it lasts");
    client_close(&client);
    tap_ok(web_done(&web) && web.overs == web.begins, "each exchange that began is over, once");
}

#define STREAMS 2000

static void test_many_streams(void)
{
    static const struct server_limits limits = {.strangers = 5000, .connections = 5000};
    struct rlimit files;
    struct web *web = mem_alloc(sizeof *web);
    struct client *clients = mem_alloc(STREAMS * sizeof *clients);
    unsigned opened = 0, first = 0, good = 0;
    uint64_t start, longest = 0;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 8192 ? files.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &files);
    web_init(web, &limits);
    for (; opened < STREAMS && files.rlim_cur >= 2 * STREAMS + 100; opened++) {
        client_open(web, &clients[opened]);
        client_send(&clients[opened], GET("/stream"));
        if (opened % 100 == 99)
            WEB_WAIT(web, web->kept_count == opened + 1, 2000);
    }
    tap_ok(web->kept_count == STREAMS && server_connections(web->server) == STREAMS, "2,000 streams are open at once");
    for (unsigned i = 0; i < web->kept_count; i++)
        exchange_stream_write(web->kept[i], "data: all\n\n", 11);
    start = web_now();
    for (unsigned turns = 0; turns < 200 && first < opened; turns++) {
        uint64_t before = web_now();
        uv_run(&web->loop, UV_RUN_NOWAIT);
        longest = web_now() - before > longest ? web_now() - before : longest;
        for (; first < opened && client_wait_count(web, &clients[first], "data: all\n\n", 1, 0); first++)
            ;
    }
    for (unsigned i = 0; i < opened; i++)
        good += client_wait(web, &clients[i], "data: all\n\n");
    tap_ok(good == STREAMS, "what is written to all of them arrives at each");
    tap_diag("%u ms, the longest turn %u ms", (unsigned)(web_now() - start), (unsigned)longest);
    for (unsigned i = 0; i < opened / 2; i++)
        client_close(&clients[i]);
    WEB_WAIT(web, web->overs == opened / 2, 3000);
    tap_ok(web->overs == opened / 2 && web->kept_count == opened - opened / 2, "half of them go");
    tap_ok(web_done(web) && web->overs == web->begins, "and the others end with the server, each once");
    for (unsigned i = opened / 2; i < opened; i++)
        client_close(&clients[i]);
    free(clients);
    free(web);
}

/* -------------------------------------------------------------------------------------------------------- crowds, the end */

static void test_crowds(void)
{
    static const struct server_limits narrow = {.connections = 10};
    struct web web;
    struct client clients[66];

    web_init(&web, NULL);
    for (size_t i = 0; i < 64; i++)
        client_open(&web, &clients[i]);
    client_send(&clients[63], GET("/echo"));
    client_wait(&web, &clients[63], "200 OK");
    client_open(&web, &clients[64]);
    tap_ok(client_wait_closed(&web, &clients[64], 2000) && strstr(web.why, "strangers") &&
               server_connections(web.server) == 64,
           "the 65th stranger of an address is refused");
    client_close(&clients[64]);
    client_send(&clients[0], GET("/known"));
    client_wait(&web, &clients[0], "200 OK");
    client_open(&web, &clients[64]);
    client_send(&clients[64], GET("/echo"));
    tap_ok(client_wait(&web, &clients[64], "200 OK"), "one who has become known makes room");
    client_open(&web, &clients[65]);
    tap_ok(client_wait_closed(&web, &clients[65], 2000), "for one");
    client_close(&clients[65]);
    client_close(&clients[1]);
    WEB_WAIT(&web, server_connections(web.server) == 64, 2000);
    client_open(&web, &clients[65]);
    client_send(&clients[65], GET("/echo"));
    tap_ok(client_wait(&web, &clients[65], "200 OK"), "so does one who leaves");
    for (size_t i = 0; i < COUNT(clients); i++)
        if (i != 1)
            client_close(&clients[i]);
    web_done(&web);

    web_init(&web, &narrow);
    for (size_t i = 0; i < 10; i++) {
        client_open(&web, &clients[i]);
        client_send(&clients[i], GET("/known"));
        client_wait(&web, &clients[i], "200 OK");
    }
    client_open(&web, &clients[10]);
    tap_ok(client_wait_closed(&web, &clients[10], 2000) && strstr(web.why, "too many connections") && web.refusals == 1,
           "there is a bound for all, known or not");
    for (size_t i = 0; i < 11; i++)
        client_close(&clients[i]);
    web_done(&web);
}

#define FEW 200 /* descriptors */

/* Many strangers, of however many addresses, and few descriptors. */
static void test_many_strangers(void)
{
    static const struct server_limits narrow = {.strangers = 1000, .all_strangers = 10, .connections = 100};
    static const struct server_limits wide = {.strangers = 1000};
    struct client clients[48], known;
    int spare[FEW], count = 0, kept[8], open_count = 0;
    struct rlimit files, few;
    struct web web;

    web_init(&web, &narrow);
    client_open(&web, &known);
    client_send(&known, GET("/known"));
    client_wait(&web, &known, "200 OK");
    for (size_t i = 0; i < 12; i++)
        client_open(&web, &clients[i]);
    client_send(&clients[11], GET("/echo"));
    tap_ok(client_wait(&web, &clients[11], "200 OK"), "past the bound for strangers in all the newest is served");
    tap_ok(client_wait_closed(&web, &clients[0], 2000) && client_wait_closed(&web, &clients[1], 2000) &&
               strstr(web.why, "strangers"),
           "and the oldest make room");
    client_send(&known, GET("/echo"));
    tap_ok(client_wait_count(&web, &known, "200 OK", 2, 2000) && server_connections(web.server) == 11,
           "who is known stays");
    for (size_t i = 0; i < 12; i++)
        client_close(&clients[i]);
    client_close(&known);
    web_done(&web);

    getrlimit(RLIMIT_NOFILE, &files);
    few = files;
    few.rlim_cur = FEW;
    setrlimit(RLIMIT_NOFILE, &few);
    web_init(&web, &wide);
    while (count < FEW && (spare[count] = dup(0)) >= 0 && spare[count] < 100)
        count++;
    for (size_t i = 0; i < COUNT(clients); i++) {
        client_open(&web, &clients[i]);
        web_run_for(&web, 2);
    }
    client_send(&clients[COUNT(clients) - 1], GET("/echo"));
    tap_ok(client_wait(&web, &clients[COUNT(clients) - 1], "200 OK"), "with few descriptors left the newest is served");
    while (open_count < (int)COUNT(kept) && (kept[open_count] = dup(0)) >= 0)
        open_count++;
    tap_ok(open_count == (int)COUNT(kept), "and some are always left for other things (%d)", open_count);
    while (open_count > 0)
        close(kept[--open_count]);
    while (count >= 0)
        close(spare[count--]);
    for (size_t i = 0; i < COUNT(clients); i++)
        client_close(&clients[i]);
    web_done(&web);
    setrlimit(RLIMIT_NOFILE, &files);
}

/* One that connects as another user, as often as it can, and says by a byte that it has; it ends when the pipe does. */
static void crowd_of_another(const char *path, int hold, int told)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fds[20];
    char byte;

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    if (setreuid(65534, 65534) < 0)
        _exit(1);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fds[i], (const struct sockaddr *)&name, sizeof name) < 0)
            _exit(1);
    }
    if (write(told, "c", 1) != 1 || read(hold, &byte, 1) < 0)
        _exit(1);
    _exit(0);
}

static void test_users(void)
{
    static const struct server_limits limits = {.users = 8, .idle = 300000, .head = 60000000};
    char folder[] = "/tmp/berth-users-XXXXXX", address[64], byte;
    int hold[2], told[2];
    struct client client;
    struct web web;
    pid_t child;

    if (!mkdtemp(folder) || chmod(folder, 0755) < 0 || pipe(hold) < 0 || pipe(told) < 0)
        exit(1);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    web_init_with(&web, address, NULL, NULL, &limits);
    client_open(&web, &client);
    client_send(&client, GET("/echo"));
    client_wait(&web, &client, "200 OK");
    tap_ok(client_wait_closed(&web, &client, 3000), "who is idle on a Unix socket is closed after a while");
    client_close(&client);
    if (geteuid() == 0) {
        child = fork();
        if (child == 0) {
            close(hold[1]);
            crowd_of_another(address + strlen("unix:"), hold[0], told[1]);
        }
        fcntl(told[0], F_SETFL, O_NONBLOCK);
        WEB_WAIT(&web, read(told[0], &byte, 1) == 1, 5000);
        WEB_WAIT(&web, server_connections(web.server) == 8 && web.refusals == 12, 5000);
        tap_ok(server_connections(web.server) == 8 && strstr(web.why, "one user"),
               "one user of the machine has a share of the connections, and no more");
        client_open(&web, &client);
        client_send(&client, GET("/echo"));
        tap_ok(client_wait(&web, &client, "200 OK"), "others are served beside it");
        client_close(&client);
        close(hold[1]);
        waitpid(child, NULL, 0);
        close(hold[0]);
    } else {
        tap_ok(true, "one user of the machine has a share of the connections # SKIP needs root");
        tap_ok(true, "others are served beside it # SKIP needs root");
        close(hold[0]);
        close(hold[1]);
    }
    close(told[0]);
    close(told[1]);
    web_done(&web);
    rmdir(folder);
}

#define UNREAD_BYTES 60000

/* A client that leaves while much waits for it: nothing of it stays, on whatever socket it was. */
static void check_unread(const char *address, size_t bytes, bool more, const char *sentence)
{
    struct client client;
    struct web web;
    char *text = mem_alloc(UNREAD_BYTES);

    memset(text, 'x', UNREAD_BYTES);
    web_init_with(&web, address, NULL, NULL, NULL);
    web.queue_max = 8 * UNREAD_BYTES;
    client_open_with(&client, server_address(web.server), 4096);
    client_send(&client, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    if (more)
        client_send(&client, GET("/echo"));
    for (size_t sent = 0; sent < bytes && web.kept_count == 1; sent += UNREAD_BYTES) {
        exchange_stream_write(web.kept[0], text, bytes < UNREAD_BYTES ? bytes : UNREAD_BYTES);
        web_run_for(&web, 5);
    }
    web_run_for(&web, 50);
    close(client.fd);
    client.fd = -1;
    WEB_WAIT(&web, server_connections(web.server) == 0, 3000);
    if (!tap_ok(server_connections(web.server) == 0 && web.overs == 1, "%s", sentence))
        tap_diag("%zu bytes, %u connections", bytes, server_connections(web.server));
    client_close(&client);
    web_done(&web);
    free(text);
}

/* One that stays and reads nothing: its queue grows full, or its time is over. */
static void check_deaf(const char *address, bool full, const char *sentence)
{
    static const struct server_limits limits = {.reply = 300000};
    struct client client;
    struct web web;
    char *text = mem_alloc(UNREAD_BYTES);

    memset(text, 'x', UNREAD_BYTES);
    web_init_with(&web, address, NULL, NULL, &limits);
    web.queue_max = full ? UNREAD_BYTES : 100 * UNREAD_BYTES;
    client_open_with(&client, server_address(web.server), 4096);
    client_send(&client, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 1, 2000);
    for (int i = 0; i < 20 && web.kept_count == 1; i++) {
        exchange_stream_write(web.kept[0], text, UNREAD_BYTES);
        web_run_for(&web, 5);
    }
    WEB_WAIT(&web, server_connections(web.server) == 0, 4000);
    if (!tap_ok(server_connections(web.server) == 0 && web.overs == 1, "%s", sentence))
        tap_diag("%u connections", server_connections(web.server));
    client_close(&client);
    web_done(&web);
    free(text);
}

/* Writes pieces until one waits, or `most` of them; how many. */
static unsigned pieces_write(struct web *web, unsigned most)
{
    static const char piece[1000] = {'x'};
    unsigned count = 0;

    while (count < most && exchange_stream_waiting(web->kept[0]) == 0) {
        exchange_stream_write(web->kept[0], piece, sizeof piece);
        count++;
        for (int i = 0; i < 10 && exchange_stream_waiting(web->kept[0]); i++)
            web_run_for(web, 1);
    }
    return count;
}

/* The stream ends while the last of it is in nobody's queue but libmicrohttpd's. */
static void check_ended(const char *address, const char *sentence)
{
    static const struct server_limits limits = {.reply = 300000};
    struct client client;
    unsigned most = 100000;
    struct web web;

    for (int round = 0; round < 2; round++) {
        web_init_with(&web, address, NULL, NULL, round ? &limits : NULL);
        client_open_with(&client, server_address(web.server), 4096);
        client_send(&client, GET("/stream"));
        WEB_WAIT(&web, web.kept_count == 1, 2000);
        most = pieces_write(&web, most) - 1;
        if (round) {
            exchange_stream_end(web.kept[0]);
            WEB_WAIT(&web, server_connections(web.server) == 0, 4000);
            tap_ok(server_connections(web.server) == 0 && web.overs == 1, "%s", sentence);
        }
        client_close(&client);
        web_done(&web);
    }
}

static void test_unread(void)
{
    char folder[] = "/tmp/berth-unread-XXXXXX", address[64];

    if (!mkdtemp(folder))
        exit(1);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    check_unread("127.0.0.1:0", 7 * UNREAD_BYTES, false, "a client that leaves in the middle of a stream is gone");
    check_unread("127.0.0.1:0", 100, false, "also one that has not read what had come");
    check_unread(address, 7 * UNREAD_BYTES, false, "so it is on a Unix socket");
    check_unread(address, 100, true, "whatever it has sent meanwhile");
    check_unread(address, 100, false, "also when what had come was not read");
    check_deaf("127.0.0.1:0", true, "one that stays and reads nothing is given up when its queue is full");
    check_deaf("127.0.0.1:0", false, "or after a while");
    check_deaf(address, true, "on a Unix socket too when its queue is full");
    check_deaf(address, false, "or after a while");
    check_ended(address, "and when the stream has ended, and its last bytes are not read");
    rmdir(folder);
}

static void test_end(void)
{
    static const char *const requests[] = {
        GET("/late"),
        GET("/stream"),
        "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf",
        "PUT /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nhalf",
        GET("/big"),
        "GET /half HTTP/1.1\r\nHo",
        "",
    };
    struct web web;
    struct client clients[3 * COUNT(requests)];
    struct client woken;
    unsigned busy = 0;

    web_init(&web, NULL);
    for (size_t i = 0; i < COUNT(clients); i++) {
        client_open_with(&clients[i], server_address(web.server), 4096);
        client_send(&clients[i], requests[i % COUNT(requests)]);
    }
    WEB_WAIT(&web, web.begins == 15 && web.kept_count == 9 && server_connections(web.server) == COUNT(clients), 2000);
    client_open(&web, &woken);
    client_send(&woken, GET("/stream"));
    WEB_WAIT(&web, web.kept_count == 10, 2000);
    for (int i = 0; i < 100; i++) {
        uv_run(&web.loop, UV_RUN_NOWAIT);
        busy += i >= 50 && uv_backend_timeout(&web.loop) == 0;
    }
    tap_ok(busy == 0, "while all of them wait the server sleeps");
    exchange_stream_write(web.kept[9], "x", 1); /* it is to be woken, and will not be */
    tap_ok(web.overs == 0 && web.begins == 16, "21 connections are in the middle of something");
    tap_ok(web_done(&web) && web.overs == 16 && web.kept_count == 0,
           "when the server goes all of it is over, once each");
    for (size_t i = 0; i < COUNT(clients); i++) {
        client_read(&clients[i]);
        client_close(&clients[i]);
    }
    client_close(&woken);
}

int main(void)
{
    test_deadlines();
    test_stall();
    test_later();
    test_gone();
    test_stream();
    test_stream_readers();
    test_many_streams();
    test_crowds();
    test_many_strangers();
    test_users();
    test_unread();
    test_end();
    return tap_done();
}
