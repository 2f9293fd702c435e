/* transfer_test.c: files to and from stores: local ones, an HTTP server (argv[1]). Those by sftp are in transfer_sftp_test.c. */
#include "live/data/transfer.h"

#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "live/world/runner.h"

#include "common/folder.h"
#include "common/tap.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <uv.h>

static struct folder home;
static struct config config;
static struct networks networks;

static void config_set(const struct config_given *given, size_t count)
{
    const char *variables[] = {"BERTH_STATE=/tmp", NULL};
    struct config_sources sources = {.variables = variables, .given = given, .given_count = count, .etc = home.path};
    struct err err = {0};

    config_done(&config);
    if (config_load(&config, &sources, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static struct transfer_rules *rules_make(void)
{
    struct err err = {0};
    struct transfer_rules *rules = transfer_rules_new(&config, &networks, &err);

    if (!rules) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return rules;
}

static struct transfer_result run(struct transfer_rules *rules, enum transfer_way way, const char *url,
                                  const char *path, int64_t size, const char *hash)
{
    struct transfer_result result;

    transfer_now(rules, &(struct transfer_order){.way = way, .url = url, .path = path, .size = size, .hash = hash},
                 &result);
    return result;
}

/* Is that how it ended? */
static void ends(const struct transfer_result *result, enum transfer_end end, const char *sentence)
{
    if (!tap_ok(result->end == end, "%s", sentence))
        tap_diag("%s: %s", transfer_end_word(result->end), result->words);
}

static bool file_is(const char *path, const char *text)
{
    char got[4096] = "";
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(got, 1, sizeof got - 1, file) : 0;

    if (file)
        fclose(file);
    return file && len == strlen(text) && !memcmp(got, text, len);
}

/* -------------------------------------------------------------------------------------------------------------- local */

static void local_store(void)
{
    const char *file = strdup(folder_put(&home, "a.dat", "hello, store"));
    struct config_given given[] = {{"--set", "StoreFolders", NULL}};
    char list[512], url[512], path[512], digits[HASH_DIGITS + 1];
    struct transfer_result result;
    struct transfer_rules *rules;

    folder_make(&home, "store");
    folder_make(&home, "other");
    snprintf(list, sizeof list, "{\"%s/store\"}", home.path);
    given[0].value = list;
    config_set(given, 1);
    rules = rules_make();
    hash_bytes("hello, store", 12, digits);
    snprintf(url, sizeof url, "file://%s/store/run%%207/a.dat", home.path);
    result = run(rules, TRANSFER_PUT, url, file, 12, digits);
    ends(&result, TRANSFER_DONE, "a file is put into a local store, whose folders are made");
    tap_ok(file_is(folder_path(&home, "store/run 7/a.dat"), "hello, store") && result.size == 12 &&
               !strcmp(result.hash, digits),
           "it is there, and its size and hash are told");
    snprintf(path, sizeof path, "%s/b.dat", home.path);
    result = run(rules, TRANSFER_GET, url, path, -1, digits);
    ends(&result, TRANSFER_DONE, "and got back");
    tap_ok(file_is(path, "hello, store"), "as it was");
    hash_bytes("x", 1, digits);
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "c.dat"), -1, digits);
    ends(&result, TRANSFER_DAMAGED, "a file of another hash is not taken");
    tap_ok(access(folder_path(&home, "c.dat"), F_OK) < 0 && access(folder_path(&home, "c.dat.part"), F_OK) < 0,
           "and nothing of it is left");
    result = run(rules, TRANSFER_PUT, url, file, 13, NULL);
    ends(&result, TRANSFER_DAMAGED, "a file of another size than was recorded is not put");
    snprintf(url, sizeof url, "file://%s/other/a.dat", home.path);
    result = run(rules, TRANSFER_PUT, url, file, 12, NULL);
    ends(&result, TRANSFER_REFUSED, "a folder that StoreFolders does not name is no store");
    snprintf(url, sizeof url, "file://%s/store/../other/a.dat", home.path);
    result = run(rules, TRANSFER_PUT, url, file, 12, NULL);
    ends(&result, TRANSFER_REFUSED, "nor one that is reached by ..");
    snprintf(url, sizeof url, "file://%s/store/%%2e%%2e/other/a.dat", home.path);
    result = run(rules, TRANSFER_PUT, url, file, 12, NULL);
    ends(&result, TRANSFER_REFUSED, "nor by the same escaped");
    if (symlink(folder_path(&home, "other"), folder_path(&home, "store/link")) < 0)
        exit(1);
    snprintf(url, sizeof url, "file://%s/store/link/a.dat", home.path);
    result = run(rules, TRANSFER_PUT, url, file, 12, NULL);
    tap_ok(result.end != TRANSFER_DONE && access(folder_path(&home, "other/a.dat"), F_OK) < 0,
           "no link leads out of a store: %s", result.words);
    transfer_rules_unref(rules);
    free((char *)(uintptr_t)file);
}

/* --------------------------------------------------------------------------------------------------------------- http */

struct server {
    pid_t pid;
    unsigned port;
};

/* With files of a certificate and its key it speaks TLS; NULL: it does not. */
static struct server server_start_by(const char *program, unsigned port, const char *speed, const char *token,
                                     const char *cert, const char *key)
{
    struct server server = {.port = 0};
    char digits[16], line[64] = "";
    int pipes[2];
    FILE *out;

    snprintf(digits, sizeof digits, "%u", port);
    if (pipe(pipes) < 0)
        exit(1);
    server.pid = fork();
    if (server.pid == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        execl(program, program, folder_path(&home, "http"), digits, speed, token, cert, key, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    out = fdopen(pipes[0], "r");
    if (!out || !fgets(line, sizeof line, out) || sscanf(line, "port %u", &server.port) != 1)
        exit(1);
    return server; /* what it says later is not read: the pipe has room for it */
}

static struct server server_start(const char *program, unsigned port, const char *speed, const char *token)
{
    return server_start_by(program, port, speed, token, NULL, NULL);
}

static void server_end(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}

/* What a server has kept is looked at: it says what that is, or it is read back. */
static void http_bytes_kept(struct transfer_rules *rules, const struct server *server, const char *file,
                            const char *digits)
{
    struct config_given given[] = {{"--set", "TransferStall", "2"}, {"--set", "TransferReadBack", "false"}};
    struct transfer_rules *believing;
    struct transfer_result result;
    char url[256];

    snprintf(url, sizeof url, "http://127.0.0.1:%u/h.spoilt", server->port);
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_AGAIN, "a server that has kept other bytes, though as many, does not have the file");
    tap_ok(strstr(result.words, "has kept other bytes than were sent"), "that is said: %s", result.words);
    config_set(given, 2);
    believing = rules_make();
    result = run(believing, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_DONE, "without TransferReadBack it is believed");
    snprintf(url, sizeof url, "http://127.0.0.1:%u/h.said", server->port);
    result = run(believing, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_AGAIN, "but not where it says itself that it has another SHA-256");
    transfer_rules_unref(believing);
    config_set(given, 1);
}

static void http_store(const char *program)
{
    const char *file = strdup(folder_put(&home, "h.dat", "by http"));
    struct config_given given[] = {{"--set", "TransferTokens", NULL}, {"--set", "TransferStall", "2"}};
    char url[256], tokens[256], path[512], digits[HASH_DIGITS + 1];
    struct transfer_result result;
    struct transfer_rules *rules;
    struct server server;

    folder_make(&home, "http");
    server = server_start(program, 0, "0", "");
    config_set(given + 1, 1);
    rules = rules_make();
    hash_bytes("by http", 7, digits);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/run7/h%%20.dat", server.port);
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_DONE, "a file is put by http");
    tap_ok(file_is(folder_path(&home, "http/run7/h .dat"), "by http"), "it is there");
    http_bytes_kept(rules, &server, file, digits);
    snprintf(path, sizeof path, "%s/h2.dat", home.path);
    folder_put(&home, "h2.dat.part", "by h");
    result = run(rules, TRANSFER_GET, url, path, 7, digits);
    ends(&result, TRANSFER_DONE, "a get goes on where one before was cut");
    tap_ok(file_is(path, "by http"), "and the file is whole");
    folder_put(&home, "h3.dat.part", "ot h");
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "h3.dat"), 7, digits);
    ends(&result, TRANSFER_DAMAGED, "where what was there is of another file, that is seen");
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "h3.dat"), 7, digits);
    ends(&result, TRANSFER_DONE, "and the next get begins anew");
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "h4.dat"), 3, NULL);
    ends(&result, TRANSFER_DAMAGED, "a file that is longer than it should be is not taken");
    snprintf(url, sizeof url, "http://127.0.0.1:%u/nothing", server.port);
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "h5.dat"), -1, NULL);
    ends(&result, TRANSFER_REFUSED, "a file that is not there is not asked for again");
    server_end(&server);
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_AGAIN, "a store that is down may be tried again");
    networks_done(&networks);
    networks_init(&networks);
    transfer_rules_unref(rules);
    rules = rules_make();
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_REFUSED, "an address of no network that is named is not contacted");
    networks_add(&networks, "127.0.0.0/8", NULL);
    transfer_rules_unref(rules);
    server = server_start(program, server.port, "0", "secret");
    rules = rules_make();
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_REFUSED, "a store that wants a token refuses who has none");
    transfer_rules_unref(rules);
    given[0].value = folder_put(&home, "tokens", "127.0.0.1 secret\n");
    chmod(given[0].value, 0600);
    config_set(given, 2);
    rules = rules_make();
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_REFUSED, "a token for the host, without a port, is not shown to any port of it");
    tap_ok(strstr(result.words, "the token of that host in TransferTokens has no port, so it is for 443 and 80 alone"),
           "and that is said: %s", result.words);
    tap_ok(transfer_shows_token(rules, "127.0.0.1", 443) && transfer_shows_token(rules, "127.0.0.1", 80) &&
               !transfer_shows_token(rules, "127.0.0.1", server.port) && !transfer_shows_token(rules, "127.0.0.2", 443),
           "but to the ports of https and http");
    transfer_rules_unref(rules);
    snprintf(tokens, sizeof tokens, "# tokens\n127.0.0.1:%u  secret\n", server.port);
    given[0].value = folder_put(&home, "tokens", tokens);
    chmod(given[0].value, 0600);
    config_set(given, 2);
    rules = rules_make();
    result = run(rules, TRANSFER_PUT, url, file, 7, digits);
    ends(&result, TRANSFER_DONE, "and takes it from who has");
    transfer_rules_unref(rules);
    server_end(&server);
    free((char *)(uintptr_t)file);
}

/* -------------------------------------------------------------------------------------------------------------- https */

enum naming {
    BY_ADDRESS,     /* for 127.0.0.1 */
    BY_COMMON_NAME, /* "127.0.0.1" and "localhost" are what somebody is called, and no host */
    BY_OTHER,       /* likewise, with an alternative name that is no host's */
    OTHER_HOST,     /* for 127.0.0.2 */
    TOO_OLD,        /* for 127.0.0.1, and over */
};

static void must(int code)
{
    if (code >= 0)
        return;
    printf("Bail out! %s\n", gnutls_strerror(code));
    exit(1);
}

/* Signed by itself, so that whoever is told to trust it has the CA for it; in home/NAME.cert and home/NAME.key. */
static void certificate_write(const char *name, enum naming naming)
{
    static const char uri[] = "berth:agent";
    const char *called = naming == BY_OTHER ? "localhost" : "127.0.0.1";
    unsigned char host[] = {127, 0, 0, naming == OTHER_HOST ? 2 : 1}, serial[] = {1};
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t cert;
    gnutls_datum_t pem;
    char file[64];

    must(gnutls_x509_privkey_init(&key));
    must(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    must(gnutls_x509_crt_init(&cert));
    must(gnutls_x509_crt_set_version(cert, 3));
    must(gnutls_x509_crt_set_key(cert, key));
    must(gnutls_x509_crt_set_serial(cert, serial, sizeof serial));
    must(gnutls_x509_crt_set_activation_time(cert, time(NULL) - 60));
    must(gnutls_x509_crt_set_expiration_time(cert, time(NULL) + (naming == TOO_OLD ? -30 : 3600)));
    must(gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, called, (unsigned)strlen(called)));
    if (naming == BY_OTHER)
        must(gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_URI, uri, sizeof uri - 1, 0));
    else if (naming != BY_COMMON_NAME)
        must(gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, host, sizeof host, 0));
    must(gnutls_x509_crt_set_basic_constraints(cert, 1, -1));
    must(gnutls_x509_crt_sign2(cert, cert, key, GNUTLS_DIG_SHA256, 0));
    must(gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem));
    snprintf(file, sizeof file, "%s.cert", name);
    folder_write(&home, file, (const char *)pem.data, pem.size);
    gnutls_free(pem.data);
    must(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem));
    snprintf(file, sizeof file, "%s.key", name);
    folder_write(&home, file, (const char *)pem.data, pem.size);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(cert);
    gnutls_x509_privkey_deinit(key);
}

/* A put and a get, at a store with such a certificate, which the CA of the settings vouches for; a token for it is there to be stolen. */
static void secure_store(const char *program, enum naming naming, const char *host, enum transfer_end end,
                         const char *sentence)
{
    struct config_given given[] = {{"--set", "TransferCa", NULL}, {"--set", "TransferTokens", NULL}};
    char cert[520], file_of_cert[512], key[512], url[256], tokens[256], digits[HASH_DIGITS + 1], file[512], back[512];
    struct transfer_result result;
    struct transfer_rules *rules;
    struct server server;

    certificate_write("secure", naming);
    snprintf(file_of_cert, sizeof file_of_cert, "%s", folder_path(&home, "secure.cert"));
    snprintf(cert, sizeof cert, "\"%s\"", file_of_cert);
    given[0].value = cert;
    snprintf(key, sizeof key, "%s", folder_path(&home, "secure.key"));
    snprintf(file, sizeof file, "%s", folder_put(&home, "s.dat", "by tls"));
    unlink(folder_path(&home, "http/s.dat"));
    snprintf(back, sizeof back, "%s", folder_path(&home, "s.back"));
    server = server_start_by(program, 0, "0", "secret", file_of_cert, key);
    snprintf(tokens, sizeof tokens, "%s:%u secret\n", host, server.port);
    given[1].value = folder_put(&home, "tokens", tokens);
    chmod(given[1].value, 0600);
    config_set(given, 2);
    rules = rules_make();
    hash_bytes("by tls", 6, digits);
    snprintf(url, sizeof url, "https://%s:%u/s.dat", host, server.port);
    result = run(rules, TRANSFER_PUT, url, file, 6, digits);
    ends(&result, end, sentence);
    tap_ok(file_is(folder_path(&home, "http/s.dat"), "by tls") == (end == TRANSFER_DONE), "it has %s the file",
           end == TRANSFER_DONE ? "got" : "not got");
    folder_put(&home, "http/s.dat", "by tls");
    result = run(rules, TRANSFER_GET, url, back, 6, digits);
    ends(&result, end, end == TRANSFER_DONE ? "and gives it" : "nor is the file taken from it");
    transfer_rules_unref(rules);
    server_end(&server);
}

/* A store that reads nothing is left after the span of the setting, and one that is slow can be cancelled. */
static void over(void *user, const struct transfer_result *result)
{
    *(struct transfer_result *)user = *result;
}

static void slow_store(const char *program)
{
    struct config_given given[] = {{"--set", "TransferStall", "2"}};
    struct transfer_result result = {.end = TRANSFER_DONE};
    char *much = mem_alloc(8 << 20), url[256];
    struct transfer_rules *rules;
    struct transfer_run *going;
    struct server server = server_start(program, 0, "1000", "");
    const char *file;
    uv_loop_t loop;

    memset(much, 'x', 8 << 20);
    file = folder_write(&home, "much", much, 8 << 20);
    config_set(given, 1);
    rules = rules_make();
    snprintf(url, sizeof url, "http://127.0.0.1:%u/much", server.port);
    result = run(rules, TRANSFER_PUT, url, file, 8 << 20, NULL);
    ends(&result, TRANSFER_AGAIN, "a transfer that stands still is given up");
    uv_loop_init(&loop);
    going = transfer_start(&loop, rules,
                           &(struct transfer_order){.way = TRANSFER_PUT, .url = url, .path = file, .size = 8 << 20},
                           over, &result);
    result.end = TRANSFER_DONE;
    while (!transfer_moved(going))
        uv_run(&loop, UV_RUN_NOWAIT);
    transfer_cancel(going);
    uv_run(&loop, UV_RUN_DEFAULT);
    ends(&result, TRANSFER_CANCELLED, "one that goes on can be ended");
    uv_loop_close(&loop);
    transfer_rules_unref(rules);
    server_end(&server);
    free(much);
}

/* A store that gives two bytes now and then, for as long as it is asked. */
static pid_t drip_start(uint16_t *ret_port)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one;
    char bytes[4096];
    pid_t pid;

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 4) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        exit(2);
    *ret_port = ntohs(address.sin_port);
    pid = fork();
    if (pid) {
        close(fd);
        return pid;
    }
    while ((one = accept(fd, NULL, NULL)) >= 0) {
        if (read(one, bytes, sizeof bytes) > 0 && write(one, head, sizeof head - 1) > 0)
            while (write(one, "xx", 2) > 0)
                usleep(100000);
        close(one);
    }
    _exit(0);
}

static void dripping_store(void)
{
    struct config_given given[] = {{"--set", "TransferStall", "2"}};
    struct transfer_result result;
    struct transfer_rules *rules;
    uint16_t port;
    pid_t pid = drip_start(&port);
    int64_t began = runner_now();
    char url[64];

    config_set(given, 1);
    rules = rules_make();
    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", port);
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "drip"), 1000000, NULL);
    ends(&result, TRANSFER_AGAIN, "one that gives a byte now and then is given up, too");
    tap_ok(runner_now() - began < 60 * SECOND, "long before all of it has come");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    transfer_rules_unref(rules);
}

/* A store that answers every request with the same words, then `more` without end, or the end. */
static pid_t liar_start(const char *words, const char *more, uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one;
    char bytes[4096];
    pid_t pid;

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 4) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        exit(2);
    *ret_port = ntohs(address.sin_port);
    pid = fork();
    if (pid) {
        close(fd);
        return pid;
    }
    while ((one = accept(fd, NULL, NULL)) >= 0) {
        if (read(one, bytes, sizeof bytes) > 0 && write(one, words, strlen(words)) > 0)
            while (*more && write(one, more, strlen(more)) > 0)
                ;
        close(one);
    }
    _exit(0);
}

/* What a store says that means to harm: the file is taken if it is that file, and nothing is left of what is not. */
static void lying_store(const char *program)
{
    static const struct {
        const char *words, *more;
        enum transfer_end end;
        const char *sentence;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nby evil", "", TRANSFER_DAMAGED,
         "a store that gives other bytes, as many, is found out"},
        {"HTTP/1.1 200 OK\r\n\r\n", "by http", TRANSFER_DAMAGED, "so is one that gives bytes without end"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "7\r\nby http\r\n", TRANSFER_DAMAGED,
         "and one that does so in chunks"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nby ", "", TRANSFER_DAMAGED,
         "one that says that it has less, and gives that, has another file"},
        {"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 4-6/7\r\nContent-Length: 3\r\n\r\nttp", "",
         TRANSFER_DAMAGED, "a part that nobody asked for is not the file"},
        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nby evil", "", TRANSFER_DAMAGED,
         "nothing is unpacked"},
        {"HTTP/1.1 304 Not Modified\r\n\r\n", "", TRANSFER_REFUSED, "who says that nothing has changed gives nothing"},
        {"HTTP/1.1 200 OK\r\n", "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
         TRANSFER_AGAIN, "who never comes to an end of the head is left"},
    };
    struct config_given given[] = {{"--set", "TransferStall", "2"}};
    char url[64], words[256], digits[HASH_DIGITS + 1];
    struct transfer_result result;
    struct transfer_rules *rules;
    struct server server = server_start(program, 0, "0", "");
    uint16_t port;
    pid_t pid;

    config_set(given, 1);
    rules = rules_make();
    hash_bytes("by http", 7, digits);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pid = liar_start(rows[i].words, rows[i].more, &port);
        snprintf(url, sizeof url, "http://127.0.0.1:%u/x", port);
        result = run(rules, TRANSFER_GET, url, folder_path(&home, "lie"), 7, digits);
        ends(&result, rows[i].end, rows[i].sentence);
        if (result.end == TRANSFER_DAMAGED || result.end == TRANSFER_REFUSED)
            tap_ok(access(folder_path(&home, "lie"), F_OK) < 0 && access(folder_path(&home, "lie.part"), F_OK) < 0,
                   "and nothing of it is left");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    unlink(folder_path(&home, "lie.part"));
    folder_put(&home, "http/h.dat", "by http");
    snprintf(words, sizeof words,
             "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%u/h.dat\r\nContent-Length: 0\r\n\r\n", server.port);
    pid = liar_start(words, "", &port);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", port);
    result = run(rules, TRANSFER_GET, url, folder_path(&home, "lie"), 7, digits);
    ends(&result, TRANSFER_REFUSED, "nobody is sent elsewhere, though the right file lies there");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    server_end(&server);
    transfer_rules_unref(rules);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2)
        return 2;
    folder_init(&home);
    networks_init(&networks);
    networks_add(&networks, "127.0.0.0/8", NULL);
    local_store();
    http_store(argv[1]);
    secure_store(argv[1], BY_ADDRESS, "127.0.0.1", TRANSFER_DONE, "a store whose certificate names it is trusted");
    secure_store(argv[1], BY_COMMON_NAME, "127.0.0.1", TRANSFER_REFUSED,
                 "one whose certificate names it as a common name alone is not");
    secure_store(argv[1], BY_OTHER, "localhost", TRANSFER_REFUSED, "nor one whose alternative name is no host's");
    secure_store(argv[1], OTHER_HOST, "127.0.0.1", TRANSFER_REFUSED, "nor one for another host");
    secure_store(argv[1], TOO_OLD, "127.0.0.1", TRANSFER_REFUSED, "nor one that is over");
    slow_store(argv[1]);
    dripping_store();
    lying_store(argv[1]);
    config_done(&config);
    networks_done(&networks);
    folder_done(&home);
    return tap_done();
}
