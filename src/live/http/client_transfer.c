/* client_transfer.c: one request: its options for libcurl, the answer as it comes, and what became of it.
 *
 * Whether anything was sent is known exactly: libcurl calls on_ready when a connection is up, with TLS, before the first byte
 * of the request is written to it. */
#include "live/http/client_parts.h"

#include "live/auth/certs.h"
#include "live/config/address.h"
#include "sys/hash.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define METHOD_MAX 16
#define BAD_FIELD "a header field has a character that it must not have"
#define ASK_FIRST \
    (1024 * 1024) /* bytes of a body: a longer one is sent only when the server wants it, so that a refusal is heard */

static const char *const result_names[] = {
    [CALL_ANSWERED] = "answered", [CALL_UNREACHED] = "unreached", [CALL_UNKNOWN] = "unknown",
    [CALL_REFUSED] = "refused",   [CALL_CANCELLED] = "cancelled",
};

const char *call_result_name(enum call_result result)
{
    return result_names[result];
}

struct transfer *transfer_new(struct client *client)
{
    struct transfer *transfer = mem_alloc(sizeof *transfer);

    *transfer = (struct transfer){.client = client, .easy = libcurl()->easy_init()};
    if (!transfer->easy)
        abort(); /* out of memory: there is no other reason once libcurl is ready */
    return transfer;
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    transfer_reset(transfer);
    libcurl()->easy_cleanup(transfer->easy);
    buf_done(&transfer->request);
    buf_done(&transfer->answer);
    free(transfer);
}

void answer_fields_forget(struct answer_fields *fields)
{
#define X(member, name) free(fields->member);
    ANSWER_FIELDS(X)
#undef X
    *fields = (struct answer_fields){0};
}

/* Frees a large buffer, so that a handle that once carried much does not hold that memory for ever. */
static void buf_shrink(struct buf *buf)
{
    if (buf->room > CLIENT_HEAD_MAX)
        buf_done(buf);
    buf_reset(buf);
}

void transfer_reset(struct transfer *transfer)
{
    struct client *client = transfer->client;
    CURL *easy = transfer->easy;
    struct buf request = transfer->request, answer = transfer->answer;

    libcurl()->easy_reset(easy);
    libcurl()->slist_free_all(transfer->head);
    answer_fields_forget(&transfer->fields);
    if (transfer->is_long)
        socket_path_close(&transfer->through);
    buf_shrink(&request);
    buf_shrink(&answer);
    *transfer = (struct transfer){.client = client, .easy = easy, .request = request, .answer = answer};
}

ERR_FORMAT(2, 3) static int refuse(struct transfer *transfer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(transfer->why, sizeof transfer->why, format, args);
    va_end(args);
    transfer->refused = true;
    return -1;
}

/* ---------------------------------------------------------------------------------------- what libcurl asks us for */

static bool may_connect(struct transfer *transfer, const struct sockaddr *address)
{
    char text[ADDRESS_TEXT_MAX];

    if (!transfer->may_connect || transfer->at_socket || transfer->may_connect(transfer->may_user, address))
        return true;
    refuse(transfer, "the address %s (%s) may not be contacted", address_print(address, text),
           address_sort_name(address_sort(address)));
    return false;
}

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = user;

    (void)purpose;
    if (transfer->gone || !may_connect(transfer, &address->addr) || transfer->gone)
        return CURL_SOCKET_BAD;
    transfer->opened = true;
    if (transfer->is_long && transfer->through.folder < 0)
        return CURL_SOCKET_BAD; /* its folder is not there, or not for us */
    if (transfer->is_long) {    /* libcurl has room for any sort of address here, and connects to what we leave */
        memcpy(&address->addr, &transfer->through.name, sizeof transfer->through.name);
        address->addrlen = sizeof transfer->through.name;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Checks the address here as well, because a kept connection may have been opened for a call with other rules. */
static bool ready_address(struct transfer *transfer, const char *ip, int port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};

    if (!transfer->may_connect || transfer->at_socket)
        return true;
    if (inet_pton(AF_INET, ip, &v4.sin_addr) == 1)
        return may_connect(transfer, (const struct sockaddr *)&v4);
    if (inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1)
        return may_connect(transfer, (const struct sockaddr *)&v6);
    refuse(transfer, "the address connected to is not known");
    return false;
}

/* Does the certificate name its host? Without an alternative name libcurl takes the common name for a host, though that
 * proves nothing: so where hosts are trusted by name, certificates must name theirs. A kept connection was checked when
 * it was opened. */
static bool ready_certificate(struct transfer *transfer)
{
    struct curl_certinfo *chain = NULL;
    const struct curl_slist *line = NULL;

    if (!transfer->by_name)
        return true;
    if (libcurl()->easy_getinfo(transfer->easy, CURLINFO_CERTINFO, &chain) == CURLE_OK && chain &&
        chain->num_of_certs > 0)
        line = chain->certinfo[0];
    else if (!transfer->opened)
        return true;
    while (line && strncmp(line->data, "Cert:", 5) != 0)
        line = line->next;
    if (line && cert_names_host(line->data + 5))
        return true;
    snprintf(transfer->why, sizeof transfer->why,
             "the certificate names no host as its alternative name (a common name proves nothing)");
    return false;
}

static int on_ready(void *user, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    struct transfer *transfer = user;

    (void)local_ip;
    (void)local_port;
    if (transfer->gone || !ready_address(transfer, remote_ip, remote_port) || transfer->gone)
        return CURL_PREREQFUNC_ABORT;
    if (!ready_certificate(transfer))
        return CURL_PREREQFUNC_ABORT;
    if (transfer->sent && !transfer->may_repeat) {
        snprintf(transfer->why, sizeof transfer->why, "the connection was closed before an answer came");
        return CURL_PREREQFUNC_ABORT;
    }
    transfer->sent = true;
    transfer->refused = false; /* another address of that name may have been refused */
    transfer->why[0] = '\0';
    return CURL_PREREQFUNC_OK;
}

/* ------------------------------------------------------------------------------------------------- what comes back */

static size_t too_long(struct transfer *transfer, const char *what, size_t max)
{
    transfer->too_long = true;
    snprintf(transfer->why, sizeof transfer->why, "the answer's %s has more than %zu bytes", what, max);
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void answer_field_take(char **value, const char *name, const char *line, size_t len)
{
    size_t name_len = strlen(name);

    if (*value || len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
        return;
    line += name_len + 1;
    len -= name_len + 1;
    while (len && is_blank(*line)) {
        line++;
        len--;
    }
    while (len && is_blank(line[len - 1]))
        len--;
    if (!memchr(line, '\0', len))
        *value = mem_dup(line, len);
}

static size_t on_head(char *line, size_t size, size_t count, void *user)
{
    struct transfer *transfer = user;
    size_t len = size * count;
    long status = 0;

    if (transfer->gone)
        return 0;
    transfer->head_bytes += len;
    if (transfer->head_bytes > CLIENT_HEAD_MAX)
        return too_long(transfer, "head", CLIENT_HEAD_MAX);
    transfer->heard = client_now(transfer->client);
    if (transfer->head_over) /* trailer fields, after the body */
        return len;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        answer_fields_forget(&transfer->fields); /* those of an interim answer */
#define X(member, name) answer_field_take(&transfer->fields.member, name, line, len);
    ANSWER_FIELDS(X)
#undef X
    if (len == 2 && memcmp(line, "\r\n", 2) == 0) {
        libcurl()->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
        transfer->head_over = status >= 200;
        transfer->status = transfer->head_over ? (unsigned)status : 0;
    }
    return len;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct transfer *transfer = user;
    size_t len = size * count, max = transfer->bytes_max;
    bool handed_on = transfer_is_stream(transfer) && transfer->status / 100 == 2;

    if (transfer->gone)
        return 0;
    if (max == 0)
        max = handed_on ? SIZE_MAX : CLIENT_BYTES_MAX;
    if (len > max || transfer->body_bytes > max - len)
        return too_long(transfer, "body", max);
    transfer->body_bytes = handed_on && !transfer->bytes_max ? 0 : transfer->body_bytes + len;
    if (!handed_on) {
        buf_add(&transfer->answer, bytes, len);
        return len;
    }
    transfer->heard = client_now(transfer->client);
    transfer->bytes(transfer->bytes_user, bytes, len);
    return transfer->gone ? 0 : len;
}

/* ----------------------------------------------------------------------------------------------------- what is sent */

static bool is_token(const char *text)
{
    size_t len = strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

    return len > 0 && text[len] == '\0';
}

/* Is the text free of characters that could end the field and begin another? */
static bool is_value(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

static int field_add(struct transfer *transfer, const char *name, const char *value)
{
    struct curl_slist *longer;
    struct buf line;

    if (!is_token(name) || !is_value(value))
        return refuse(transfer, BAD_FIELD);
    buf_init(&line);
    buf_adds(&line, name);
    buf_adds(&line, *value ? ": " : ";"); /* this is how libcurl is told of an empty field */
    buf_adds(&line, value);
    longer = libcurl()->slist_append(transfer->head, buf_string(&line));
    buf_done(&line);
    if (!longer)
        abort(); /* out of memory */
    transfer->head = longer;
    return 0;
}

/* Suppresses a field that libcurl would add by itself. */
static void field_leave_out(struct transfer *transfer, const char *line)
{
    struct curl_slist *longer = libcurl()->slist_append(transfer->head, line);

    if (!longer)
        abort();
    transfer->head = longer;
}

static int head_make(struct transfer *transfer, const struct http_call *call)
{
    if (call->len <= ASK_FIRST)
        field_leave_out(transfer, "Expect:");
    else if (field_add(transfer, "Expect", "100-continue"))
        return -1;
    if (!call->type)
        field_leave_out(transfer, "Content-Type:");
    else if (field_add(transfer, "Content-Type", call->type))
        return -1;
    if (call->accept && field_add(transfer, "Accept", call->accept))
        return -1;
    if (call->token) {
        struct buf value;
        int result;

        buf_init(&value);
        buf_adds(&value, "Bearer ");
        buf_adds(&value, call->token);
        result = field_add(transfer, "Authorization", buf_string(&value));
        memset(value.text, 0, value.len);
        buf_done(&value);
        if (result)
            return -1;
    }
    for (size_t i = 0; i < call->field_count; i++)
        if (field_add(transfer, call->fields[i].name, call->fields[i].value))
            return -1;
    return 0;
}

static const struct {
    const char *name;
    bool may_repeat, has_body; /* has_body: an empty body is sent as such, too */
} methods[] = {
    {"GET", true, false},    {"HEAD", true, false}, {"PUT", true, true},
    {"DELETE", true, false}, {"POST", false, true}, {"OPTIONS", true, false},
};

static void method_set(struct transfer *transfer, const struct http_call *call, const char *method)
{
    CURL *easy = transfer->easy;
    bool has_body = call->body != NULL;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, method) == 0) {
            transfer->may_repeat = methods[i].may_repeat;
            has_body = has_body || methods[i].has_body;
        }
    if (has_body) {
        buf_add(&transfer->request, call->body, call->body ? call->len : 0);
        libcurl()->easy_setopt(easy, CURLOPT_POST, 1L);
        libcurl()->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->request.len);
        libcurl()->easy_setopt(easy, CURLOPT_POSTFIELDS, buf_string(&transfer->request));
    } else if (strcmp(method, "HEAD") == 0) {
        libcurl()->easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    if (strcmp(method, has_body ? "POST" : "GET") != 0)
        libcurl()->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

int call_check(const struct http_call *call, const char *method, struct err *err)
{
    struct url url;

    if (url_read(call->url, strlen(call->url), &url, err))
        return -1;
    if (call->https_only && !url.secure)
        return err_set(err, "only https:// is allowed");
    if (call->token && !call->plain_token && !url.secure && !call->unix_socket && !url_is_here(&url))
        return err_set(err, "a token is not sent in the clear over a network: use https://");
    if (!is_token(method) || strlen(method) > METHOD_MAX)
        return err_set(err, "the method is malformed");
    if (call->body && call->len > CLIENT_REQUEST_MAX)
        return err_set(err, "the request has more than %zu bytes", CLIENT_REQUEST_MAX);
    if (call->unix_socket && (!*call->unix_socket || strlen(call->unix_socket) > ADDRESS_PATH_MAX))
        return err_set(err, "the path of a Unix socket has 1 to %d bytes", ADDRESS_PATH_MAX);
    if (call->pin && (strncmp(call->pin, "sha256//", 8) != 0 || strchr(call->pin, ';')))
        return err_set(err, "a pin is sha256//BASE64"); /* libcurl would take anything else for a file's name */
    if (call->pin && !url.secure)
        return err_set(err, "a pin needs https://");
    if (call->unchecked && (call->token || call->pin))
        return err_set(err, "no token is shown to somebody who has not been checked");
    if ((call->type && !is_value(call->type)) || (call->accept && !is_value(call->accept)) ||
        (call->token && !is_value(call->token)))
        return err_set(err, BAD_FIELD);
    for (size_t i = 0; i < call->field_count; i++)
        if (!is_token(call->fields[i].name) || !is_value(call->fields[i].value))
            return err_set(err, BAD_FIELD);
    return 0;
}

/* Options that are the same for every call. */
static void rules_set(CURL *easy)
{
    libcurl()->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_PROXY, "");
    libcurl()->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    libcurl()->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    libcurl()->easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl()->easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    libcurl()->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
    libcurl()->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* never wait for a name that is still being resolved */
    libcurl()->easy_setopt(easy, CURLOPT_USERAGENT, "berth");
}

static void callbacks_set(struct transfer *transfer)
{
    CURL *easy = transfer->easy;

    libcurl()->easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    libcurl()->easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_words);
    libcurl()->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    libcurl()->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    libcurl()->easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_ready);
    libcurl()->easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    libcurl()->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    libcurl()->easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    libcurl()->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    libcurl()->easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

/* A pin names the one key that is trusted, so neither the CA nor the name in the certificate is checked. */
static void trust_set(struct transfer *transfer, const struct http_call *call, const char *ca_file)
{
    CURL *easy = transfer->easy;

    transfer->by_name = !call->pin && !call->unchecked && strncasecmp(call->url, "https:", 6) == 0;
    if (call->pin || call->unchecked) {
        libcurl()->easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, call->pin);
        libcurl()->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        libcurl()->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        return;
    }
    libcurl()->easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE,
                           0L); /* so that each new connection shows its certificate */
    if (ca_file) {
        libcurl()->easy_setopt(easy, CURLOPT_CAINFO, ca_file);
        libcurl()->easy_setopt(easy, CURLOPT_CAPATH, NULL); /* or the system's CAs would be trusted as well */
    }
}

/* Sets the Unix socket. libcurl takes no long path, so it gets a short name that stands for it: kept connections are told apart by it. */
static void socket_set(struct transfer *transfer, const char *path)
{
    char stand_in[HASH_DIGITS + 16], digits[HASH_DIGITS + 1];

    transfer->at_socket = path != NULL;
    transfer->is_long = path && strlen(path) >= sizeof transfer->through.name.sun_path;
    if (transfer->is_long) {
        (void)socket_path_open(&transfer->through, path); /* where it fails, on_open does */
        hash_bytes(path, strlen(path), digits);
        snprintf(stand_in, sizeof stand_in, "/berth/%s", digits);
        path = stand_in;
    }
    libcurl()->easy_setopt(transfer->easy, CURLOPT_UNIX_SOCKET_PATH, path); /* copied */
}

int transfer_prepare(struct transfer *transfer, const struct http_call *call, const char *ca_file)
{
    const char *method = call->method ? call->method : "GET";
    CURL *easy = transfer->easy;
    int64_t timeout = call->timeout > 0 ? call->timeout : call->bytes ? CLIENT_SILENCE : CLIENT_TIMEOUT;
    struct err err = {0};

    if (call_check(call, method, &err))
        return refuse(transfer, "%s", err.text);
    if (head_make(transfer, call))
        return -1;
    transfer->timeout = timeout > INT64_C(1000) * INT32_MAX ? INT32_MAX : (timeout + 999) / 1000;
    transfer->bytes_max = call->bytes_max;
    transfer->may_connect = call->may_connect;
    transfer->may_user = call->may_user;
    transfer->bytes = call->bytes;
    transfer->bytes_user = call->bytes_user ? call->bytes_user : transfer->user;
    rules_set(easy);
    if (call->older_tls)
        libcurl()->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    callbacks_set(transfer);
    trust_set(transfer, call, ca_file);
    libcurl()->easy_setopt(easy, CURLOPT_URL, call->url);
    socket_set(transfer, call->unix_socket);
    libcurl()->easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->head);
    if (!call->bytes) /* a stream's silence is measured by the client */
        libcurl()->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)transfer->timeout);
    method_set(transfer, call, method);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- what became */

static enum call_result result_of(const struct transfer *transfer, CURLcode curl, bool cancelled)
{
    if (cancelled)
        return CALL_CANCELLED;
    if (curl == CURLE_OK && !transfer->refused && transfer->head_over)
        return CALL_ANSWERED;
    if (transfer->too_long)
        return CALL_REFUSED;
    if (transfer->sent)
        return CALL_UNKNOWN;
    return transfer->refused ? CALL_REFUSED : CALL_UNREACHED;
}

static const char *words_of(const struct transfer *transfer, CURLcode curl, bool cancelled)
{
    if (cancelled)
        return "the client was ended";
    if (transfer->why[0])
        return transfer->why;
    return transfer->curl_words[0] ? transfer->curl_words : libcurl()->easy_strerror(curl);
}

void transfer_report(struct transfer *transfer, CURLcode curl, bool cancelled)
{
    struct http_outcome outcome = {
        .result = result_of(transfer, curl, cancelled),
        .status = transfer->status,
#define X(member, name) .member = transfer->fields.member,
        ANSWER_FIELDS(X)
#undef X
            .body = buf_string(&transfer->answer),
        .len = transfer->answer.len,
    };

    if (outcome.result != CALL_ANSWERED)
        outcome.error = words_of(transfer, curl, cancelled);
    transfer->done(transfer->user, &outcome);
}
