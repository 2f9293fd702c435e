/* client_tls_test.c: whom the client trusts: certificates, names and pins, against a TLS server of our own. */
#include "live/http/client.h"

#include "common/tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

struct server {
    gnutls_certificate_credentials_t credentials;
    char ca_file[64];
    char pin[64], other_pin[64];
    int listener, port;
    int news[2]; /* a byte for each request that was read */
    pid_t child;
};

static void must(int result)
{
    if (result < 0) {
        fprintf(stderr, "%s\n", gnutls_strerror(result));
        exit(1);
    }
}

/* ------------------------------------------------------------------------------------------------ keys, certificate */

static void key_make(gnutls_x509_privkey_t *ret)
{
    must(gnutls_x509_privkey_init(ret));
    must(gnutls_x509_privkey_generate(*ret, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
}

/* "sha256//BASE64" of the public key, as RFC 7469 has it. */
static void pin_print(gnutls_x509_privkey_t key, char ret[64])
{
    gnutls_privkey_t whole;
    gnutls_pubkey_t public_key;
    gnutls_datum_t der, hash, text;
    unsigned char bytes[32];

    must(gnutls_privkey_init(&whole));
    must(gnutls_privkey_import_x509(whole, key, 0));
    must(gnutls_pubkey_init(&public_key));
    must(gnutls_pubkey_import_privkey(public_key, whole, 0, 0));
    must(gnutls_pubkey_export2(public_key, GNUTLS_X509_FMT_DER, &der));
    must(gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, bytes));
    hash = (gnutls_datum_t){.data = bytes, .size = sizeof bytes};
    must(gnutls_base64_encode2(&hash, &text));
    snprintf(ret, 64, "sha256//%.*s", (int)text.size, (const char *)text.data);
    gnutls_free(text.data);
    gnutls_free(der.data);
    gnutls_pubkey_deinit(public_key);
    gnutls_privkey_deinit(whole);
}

enum naming {
    BY_ADDRESS, /* for 127.0.0.1 and no name */
    BY_COMMON_NAME, /* "localhost" as its common name, and no alternative one: as a pool once signed for machines that joined */
    BY_OTHER, /* likewise, with an alternative name that is no host's */
    TOO_OLD,  /* as BY_ADDRESS, and over */
};

/* Signed by itself. */
static void certificate_make(gnutls_x509_privkey_t key, enum naming naming, gnutls_x509_crt_t *ret)
{
    static const char agent[] = "berth:agent";
    const char *name = naming == BY_ADDRESS ? "test" : "localhost";
    static const unsigned char loopback[] = {127, 0, 0, 1}, serial[] = {1};
    time_t now = time(NULL);

    must(gnutls_x509_crt_init(ret));
    must(gnutls_x509_crt_set_version(*ret, 3));
    must(gnutls_x509_crt_set_key(*ret, key));
    must(gnutls_x509_crt_set_serial(*ret, serial, sizeof serial));
    must(gnutls_x509_crt_set_activation_time(*ret, now - 60));
    must(gnutls_x509_crt_set_expiration_time(*ret, naming == TOO_OLD ? now - 30 : now + 3600));
    must(gnutls_x509_crt_set_dn_by_oid(*ret, GNUTLS_OID_X520_COMMON_NAME, 0, name, (unsigned)strlen(name)));
    if (naming == BY_ADDRESS || naming == TOO_OLD)
        must(gnutls_x509_crt_set_subject_alt_name(*ret, GNUTLS_SAN_IPADDRESS, loopback, sizeof loopback, 0));
    if (naming == BY_OTHER)
        must(gnutls_x509_crt_set_subject_alt_name(*ret, GNUTLS_SAN_URI, agent, sizeof agent - 1, 0));
    must(gnutls_x509_crt_set_basic_constraints(*ret, 1, -1));
    must(gnutls_x509_crt_sign2(*ret, *ret, key, GNUTLS_DIG_SHA256, 0));
}

static void trust_make(struct server *server, enum naming naming)
{
    gnutls_x509_privkey_t key, other;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t pem;
    int file;

    key_make(&key);
    key_make(&other);
    certificate_make(key, naming, &certificate);
    pin_print(key, server->pin);
    pin_print(other, server->other_pin);
    must(gnutls_certificate_allocate_credentials(&server->credentials));
    must(gnutls_certificate_set_x509_key(server->credentials, &certificate, 1, key));
    must(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem));
    strcpy(server->ca_file, "/tmp/berth-ca-XXXXXX");
    file = mkstemp(server->ca_file);
    if (file < 0 || write(file, pem.data, pem.size) != (ssize_t)pem.size)
        exit(1);
    close(file);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    gnutls_x509_privkey_deinit(other);
}

/* ------------------------------------------------------------------------------------------------------------ server */

/* One connection: every request gets the same answer, and a byte of news. */
static void connection_serve(struct server *server, int fd)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    gnutls_session_t session;
    char text[4096];
    ssize_t len;
    int result;

    must(gnutls_init(&session, GNUTLS_SERVER));
    must(gnutls_set_default_priority(session));
    must(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, server->credentials));
    gnutls_transport_set_int(session, fd);
    while ((result = gnutls_handshake(session)) < 0 && !gnutls_error_is_fatal(result))
        ;
    while (result == 0 && (len = gnutls_record_recv(session, text, sizeof text)) > 0)
        if (write(server->news[1], "r", 1) != 1 || gnutls_record_send(session, answer, sizeof answer - 1) < 0)
            break;
    _exit(0);
}

static void server_start(struct server *server, enum naming naming)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    trust_make(server, naming);
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (pipe(server->news) || bind(server->listener, (struct sockaddr *)&at, len) || listen(server->listener, 16) ||
        getsockname(server->listener, (struct sockaddr *)&at, &len))
        exit(1);
    server->port = ntohs(at.sin_port);
    fcntl(server->news[0], F_SETFL, O_NONBLOCK);
    server->child = fork();
    if (server->child == 0) {
        setpgid(0, 0);
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int fd = accept(server->listener, NULL, NULL);

            if (fork() == 0)
                connection_serve(server, fd);
            close(fd);
        }
    }
    setpgid(server->child, server->child);
}

static void server_stop(struct server *server)
{
    kill(-server->child, SIGKILL);
    waitpid(server->child, NULL, 0);
    unlink(server->ca_file);
    gnutls_certificate_free_credentials(server->credentials);
    close(server->listener);
    close(server->news[0]);
    close(server->news[1]);
}

static unsigned server_requests(struct server *server)
{
    char bytes[64];
    ssize_t len = read(server->news[0], bytes, sizeof bytes);

    return len > 0 ? (unsigned)len : 0;
}

/* ------------------------------------------------------------------------------------------------------------- cases */

struct got {
    uv_loop_t *loop;
    enum call_result result;
    unsigned status;
    char error[256];
};

static void on_done(void *user, const struct http_outcome *outcome)
{
    struct got *got = user;

    got->result = outcome->result;
    got->status = outcome->status;
    snprintf(got->error, sizeof got->error, "%s", outcome->error ? outcome->error : "");
    uv_stop(got->loop);
}

static void check(struct server *server, struct client *client, uv_loop_t *loop, const char *host, const char *pin,
                  bool trusted, const char *sentence)
{
    struct got got = {.loop = loop};
    unsigned requests;
    char url[64];

    snprintf(url, sizeof url, "https://%s:%d/", host, server->port);
    client_send(
        client,
        &(struct http_call){.method = "POST", .url = url, .pin = pin, .https_only = true, .body = "x", .len = 1},
        on_done, &got);
    uv_run(loop, UV_RUN_DEFAULT);
    requests = server_requests(server);
    if (!tap_ok(got.result == (trusted ? CALL_ANSWERED : CALL_UNREACHED) && got.status == (trusted ? 200u : 0) &&
                    requests == (trusted ? 1u : 0),
                "%s", sentence))
        tap_diag("%s, status %u, %u requests: %s", call_result_name(got.result), got.status, requests, got.error);
}

/* Whoever answers is listened to, and told no secret; what is trusted otherwise stays as it was. */
static void check_unchecked(struct server *server, struct client *client, uv_loop_t *loop)
{
    struct got got = {.loop = loop};
    struct http_call call = {.unchecked = true, .https_only = true};
    char url[64];

    snprintf(url, sizeof url, "https://localhost:%d/", server->port);
    call.url = url;
    client_send(client, &call, on_done, &got);
    uv_run(loop, UV_RUN_DEFAULT);
    tap_ok(got.result == CALL_ANSWERED && got.status == 200 && server_requests(server) == 1,
           "a server that nobody vouches for can be asked, when that is said");
    call.token = "v4.public.x";
    client_send(client, &call, on_done, &got);
    uv_run(loop, UV_RUN_DEFAULT);
    tap_ok(got.result == CALL_REFUSED && server_requests(server) == 0, "but no token is shown to it");
}

static void check_all(struct server *server, uv_loop_t *loop)
{
    struct client *own = client_new(loop, &(struct client_settings){.ca_file = server->ca_file}, NULL);
    struct client *plain = client_new(loop, NULL, NULL);
    struct client *lost = client_new(loop, &(struct client_settings){.ca_file = "/tmp/berth-no-such-file"}, NULL);

    check(server, own, loop, "127.0.0.1", NULL, true, "a certificate that the CA file vouches for is trusted");
    check(server, own, loop, "localhost", NULL, false, "a certificate for another name is not");
    check(server, plain, loop, "127.0.0.1", NULL, false, "a certificate that the system does not know is not trusted");
    check(server, lost, loop, "127.0.0.1", NULL, false, "without its CA file a client trusts nobody");
    check(server, plain, loop, "127.0.0.1", server->other_pin, false,
          "a server with another key than the pinned one is left alone");
    check(server, plain, loop, "127.0.0.1", server->pin, true,
          "a server with the pinned key is trusted without any CA");
    check(server, plain, loop, "localhost", server->pin, true, "and under any name");
    check(server, plain, loop, "127.0.0.1", server->other_pin, false, "a kept connection is no way around another pin");
    check(server, plain, loop, "127.0.0.1", NULL, false, "nor around the CAs");
    check(server, plain, loop, "127.0.0.1", server->pin, true, "the pinned key is still trusted");
    check(server, own, loop, "127.0.0.1", server->other_pin, false, "a CA's word does not replace the pinned key");
    check(server, own, loop, "127.0.0.1", "sha256//AAAA", false, "a pin that is no hash matches no key");
    check(server, own, loop, "127.0.0.1", "sha256//", false, "an empty pin matches no key");
    check_unchecked(server, plain, loop);
    check(server, plain, loop, "127.0.0.1", NULL, false, "and its kept connection is no way around the CAs either");
    client_free(own);
    client_free(plain);
    client_free(lost);
    uv_run(loop, UV_RUN_DEFAULT);
}

/* One whose certificate the CA vouches for, and that names the host where nobody should look, or is over. */
static void check_naming(uv_loop_t *loop, enum naming naming, const char *host, const char *sentence)
{
    struct server server;
    struct client *own;

    server_start(&server, naming);
    own = client_new(loop, &(struct client_settings){.ca_file = server.ca_file}, NULL);
    check(&server, own, loop, host, NULL, false, sentence);
    check(&server, own, loop, host, NULL, false, "nor when it is asked again");
    check(&server, own, loop, host, server.pin, true, "by its pin it is");
    check(&server, own, loop, host, NULL, false, "and the connection that was kept then is no way around");
    client_free(own);
    uv_run(loop, UV_RUN_DEFAULT);
    server_stop(&server);
}

int main(void)
{
    struct server server;
    uv_loop_t loop;

    signal(SIGPIPE, SIG_IGN);
    server_start(&server, BY_ADDRESS);
    uv_loop_init(&loop);
    check_all(&server, &loop);
    check_naming(&loop, BY_COMMON_NAME, "localhost",
                 "a certificate that names the host as its common name alone is not trusted");
    check_naming(&loop, BY_OTHER, "localhost", "nor one whose alternative name is no host's");
    check_naming(&loop, TOO_OLD, "127.0.0.1", "a certificate that is over is not trusted");
    tap_ok(uv_loop_close(&loop) == 0, "nothing of the clients is left in the loop");
    server_stop(&server);
    return tap_done();
}
