/* transfer_curl.c: http://, https:// and sftp://, by libcurl, in a thread that may wait.
 *
 * No redirect is followed, unless the rules say so, and no proxy of the environment used. A put by sftp goes to a temporary name in the same folder, and takes its place
 * in the connection's last command; one by HTTP is asked for afterwards, by HEAD, whether it is as long as it should be, and what its hash is; a
 * server that does not say gives the bytes back, to be looked at. */
#include "live/data/transfer_parts.h"

#include "live/auth/certs.h"
#include "live/data/digest_field.h"
#include "live/http/libcurl.h"
#include "live/world/runner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_SPAN 30 /* seconds */
#define SPEED_LEAST \
    1000 /* bytes a second, over the span of TransferStall: less is as good as nothing, and would hold a job for years */

struct errand {
    struct carriage *carriage;
    CURL *easy;
    CURLU *parts;
    struct curl_slist *head, *after; /* fields; commands behind a put by sftp */
    char *scheme, *host, *path;      /* curl's; path without escapes */
    uint16_t port;
    int64_t came;          /* of a get: bytes that are in the file */
    int64_t looked, moved; /* since when (microseconds), and with how many bytes, it is seen whether it moves */
    bool too_long, no_disk, forbidden;
    bool opened; /* a connection whose certificate was not looked at yet */
    char words[CURL_ERROR_SIZE];
};

static bool errand_is_sftp(const struct errand *errand)
{
    return !strcmp(errand->scheme, "sftp");
}

/* --------------------------------------------------------------------------------------------- what libcurl asks us for */

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct errand *errand = user;
    char text[ADDRESS_TEXT_MAX];

    (void)purpose;
    errand->forbidden = !address_may_be_contacted(&errand->carriage->rules->networks, &address->addr);
    if (errand->forbidden) {
        snprintf(errand->words, sizeof errand->words, "the address %s (%s) may not be contacted",
                 address_print(&address->addr, text), address_sort_name(address_sort(&address->addr)));
        return CURL_SOCKET_BAD;
    }
    errand->opened = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Checks the connection before anything is sent, for a token may be in it. As with our other clients, a host is believed by the alternative names of
 * its certificate alone: where there is none libcurl takes the common name, which is no more than what somebody is called. */
static int on_ready(void *user, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    struct errand *errand = user;
    struct curl_certinfo *chain = NULL;
    const struct curl_slist *line = NULL;

    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (strcmp(errand->scheme, "https") != 0 || !errand->opened)
        return CURL_PREREQFUNC_OK;
    if (libcurl()->easy_getinfo(errand->easy, CURLINFO_CERTINFO, &chain) == CURLE_OK && chain &&
        chain->num_of_certs > 0)
        line = chain->certinfo[0];
    while (line && strncmp(line->data, "Cert:", 5) != 0)
        line = line->next;
    errand->opened = false;
    if (line && cert_names_host(line->data + 5))
        return CURL_PREREQFUNC_OK;
    errand->forbidden = true;
    snprintf(errand->words, sizeof errand->words,
             "%.100s: the certificate names no host as its alternative name (a common name proves nothing)",
             errand->host);
    return CURL_PREREQFUNC_ABORT;
}

/* Is the transfer stalled? A store that gives a byte now and then, or never answers, is left. libcurl itself does not look while it waits for an answer
 * to a command of sftp. */
static bool is_stalled(struct errand *errand, int64_t moved)
{
    const struct transfer_rules *rules = errand->carriage->rules;
    int64_t least = rules->speed && rules->speed / 2 < SPEED_LEAST ? rules->speed / 2 : SPEED_LEAST, now = runner_now();

    if (!errand->looked)
        errand->looked = now;
    if (now - errand->looked < rules->stall * SECOND)
        return false;
    if (moved - errand->moved < least * rules->stall) {
        snprintf(errand->words, sizeof errand->words, "less than %lld bytes a second came for %lld s", (long long)least,
                 (long long)rules->stall);
        return true;
    }
    errand->looked = now;
    errand->moved = moved;
    return false;
}

static int on_progress(void *user, curl_off_t to_come, curl_off_t come, curl_off_t to_go, curl_off_t gone)
{
    struct errand *errand = user;

    (void)to_come;
    (void)to_go;
    atomic_store(&errand->carriage->moved, errand->carriage->way == TRANSFER_PUT ? gone : come);
    return atomic_load(&errand->carriage->cancelled) || is_stalled(errand, come + gone);
}

static int on_host_key(CURL *easy, const struct curl_khkey *known, const struct curl_khkey *found,
                       enum curl_khmatch match, void *user)
{
    struct errand *errand = user;

    (void)easy;
    (void)known;
    (void)found;
    if (match == CURLKHMATCH_OK)
        return CURLKHSTAT_FINE;
    errand->forbidden = true;
    snprintf(errand->words, sizeof errand->words, "%.100s: %s", errand->host,
             match == CURLKHMATCH_MISMATCH ? "the host has another key than TransferKnownHosts says"
                                           : "the host's key is not in TransferKnownHosts");
    return CURLKHSTAT_REJECT;
}

static size_t on_read(char *bytes, size_t size, size_t count, void *user)
{
    struct carriage *carriage = ((struct errand *)user)->carriage;
    ssize_t n = pread(carriage->fd, bytes, size * count, carriage->hash.upto);

    if (n < 0)
        return CURL_READFUNC_ABORT;
    hashing_add(&carriage->hash, bytes, (size_t)n);
    return (size_t)n;
}

/* Goes back in the file, which is to be sent anew: a kept connection was closed, or the server wants to know who we are. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
    struct carriage *carriage = ((struct errand *)user)->carriage;

    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_FAIL;
    hashing_begin(&carriage->hash);
    return hashing_read(&carriage->hash, carriage->fd, offset) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    struct errand *errand = user;
    struct carriage *carriage = errand->carriage;
    int64_t most = carriage->size >= 0 ? carriage->size : carriage->bytes_max;
    size_t len = size * count, written = 0;

    errand->too_long = errand->came + (int64_t)len > most;
    while (!errand->too_long && written < len) {
        ssize_t n = write(carriage->fd, bytes + written, len - written);

        if (n < 0 && errno == EINTR)
            continue;
        errand->no_disk = n < 0;
        if (n < 0)
            break;
        written += (size_t)n;
    }
    errand->came += (int64_t)written;
    return written;
}

static size_t on_nothing(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)user;
    return size * count;
}

static size_t on_field(char *line, size_t size, size_t count, void *user)
{
    (void)digest_field_read(line, size * count, ((struct errand *)user)->carriage->said);
    return size * count;
}

/* What a server gives back of a file that was put there. */
struct back {
    crypto_hash_sha256_state state;
    int64_t left; /* bytes that may come */
};

static size_t on_back(char *bytes, size_t size, size_t count, void *user)
{
    struct back *back = user;

    back->left -= (int64_t)(size * count);
    if (back->left < 0)
        return 0;
    crypto_hash_sha256_update(&back->state, (const unsigned char *)bytes, size * count);
    return size * count;
}

/* -------------------------------------------------------------------------------------------------------------- options */

static bool url_read_parts(struct errand *errand)
{
    char *port = NULL;
    bool good =
        libcurl()->url_set(errand->parts, CURLUPART_URL, errand->carriage->url, CURLU_DISALLOW_USER) == CURLUE_OK &&
        libcurl()->url_get(errand->parts, CURLUPART_SCHEME, &errand->scheme, 0) == CURLUE_OK &&
        libcurl()->url_get(errand->parts, CURLUPART_HOST, &errand->host, 0) == CURLUE_OK &&
        libcurl()->url_get(errand->parts, CURLUPART_PATH, &errand->path, CURLU_URLDECODE) == CURLUE_OK &&
        libcurl()->url_get(errand->parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;

    if (good)
        sscanf(port, "%hu", &errand->port);
    libcurl()->free(port);
    return good &&
           (!strcmp(errand->scheme, "http") || !strcmp(errand->scheme, "https") || !strcmp(errand->scheme, "sftp"));
}

/* May the token be shown here? Over an open network others would read it. */
static bool may_show_token(const struct errand *errand)
{
    struct in_addr number; /* a name may begin with 127 as well */

    return !strcmp(errand->scheme, "https") || !strcmp(errand->host, "[::1]") ||
           (!strncmp(errand->host, "127.", 4) && inet_pton(AF_INET, errand->host, &number) == 1);
}

static void http_set(struct errand *errand)
{
    const char *token = transfer_token_for(errand->carriage->rules, errand->host, errand->port);
    char line[8192 + 32];

    libcurl()->easy_setopt(errand->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    libcurl()->easy_setopt(errand->easy, CURLOPT_FAILONERROR, 1L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_CERTINFO, 1L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSL_SESSIONID_CACHE,
                           0L); /* each new connection shows its certificate */
    libcurl()->easy_setopt(errand->easy, CURLOPT_PREREQFUNCTION, on_ready);
    libcurl()->easy_setopt(errand->easy, CURLOPT_PREREQDATA, errand);
    if (errand->carriage->rules->ca) {
        libcurl()->easy_setopt(errand->easy, CURLOPT_CAINFO, errand->carriage->rules->ca);
        libcurl()->easy_setopt(errand->easy, CURLOPT_CAPATH, NULL);
    }
    if (token && may_show_token(errand)) {
        snprintf(line, sizeof line, "Authorization: Bearer %.8000s", token);
        errand->head = libcurl()->slist_append(errand->head, line);
        memset(line, 0, sizeof line);
        libcurl()->easy_setopt(errand->easy, CURLOPT_HTTPHEADER, errand->head);
    }
}

static bool sftp_set(struct errand *errand)
{
    const struct transfer_rules *rules = errand->carriage->rules;
    struct passwd room, *own = NULL;
    char bytes[4096];

    if (!rules->known_hosts || !rules->key)
        return carriage_ends(errand->carriage, TRANSFER_REFUSED,
                             "sftp needs the settings TransferKey and TransferKnownHosts");
    if (!rules->user && (getpwuid_r(getuid(), &room, bytes, sizeof bytes, &own) != 0 || !own))
        return carriage_ends(errand->carriage, TRANSFER_REFUSED, "sftp needs the setting TransferUser");
    libcurl()->easy_setopt(errand->easy, CURLOPT_USERNAME, rules->user ? rules->user : own->pw_name);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSH_AUTH_TYPES, (long)CURLSSH_AUTH_PUBLICKEY);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSH_PRIVATE_KEYFILE, rules->key);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSH_KNOWNHOSTS, rules->known_hosts);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSH_KEYFUNCTION, on_host_key);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SSH_KEYDATA, errand);
    return true;
}

static void rules_set(struct errand *errand)
{
    const struct transfer_rules *rules = errand->carriage->rules;
    CURL *easy = errand->easy;

    libcurl()->easy_setopt(easy, CURLOPT_CURLU, errand->parts);
    libcurl()->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_PROXY, "");
    libcurl()->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https,sftp");
    libcurl()->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, rules->redirects ? 1L : 0L);
    libcurl()->easy_setopt(easy, CURLOPT_MAXREDIRS, rules->redirects);
    libcurl()->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    libcurl()->easy_setopt(easy, CURLOPT_TIMEOUT, rules->span);
    libcurl()->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_USERAGENT, "berth");
    libcurl()->easy_setopt(easy, CURLOPT_ERRORBUFFER, errand->words);
    libcurl()->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT,
                           (long)(rules->stall < CONNECT_SPAN ? rules->stall : CONNECT_SPAN));
    libcurl()->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)rules->stall);
    libcurl()->easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)rules->speed);
    libcurl()->easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)rules->speed);
    libcurl()->easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    libcurl()->easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    libcurl()->easy_setopt(easy, CURLOPT_XFERINFODATA, errand);
    libcurl()->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    libcurl()->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, errand);
    libcurl()->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_nothing);
}

/* ------------------------------------------------------------------------------------------------------------ what became */

static bool is_for_good(CURLcode code, long status)
{
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return status < 500 && status != 408 && status != 425 && status != 429;
    return code == CURLE_LOGIN_DENIED || code == CURLE_REMOTE_ACCESS_DENIED || code == CURLE_REMOTE_FILE_NOT_FOUND ||
           code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_URL_MALFORMAT ||
           code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_SSL_CACERT_BADFILE;
}

/* Words for a store that wants a token and was not shown the one that somebody may have meant for it. */
static const char *token_hint(const struct errand *errand, long status)
{
    return (status == 401 || status == 403) &&
                   transfer_token_lacks_port(errand->carriage->rules, errand->host, errand->port)
               ? "; the token of that host in TransferTokens has no port, so it is for 443 and 80 alone"
               : "";
}

static bool errand_failed(struct errand *errand, CURLcode code)
{
    long status = 0;

    libcurl()->easy_getinfo(errand->easy, CURLINFO_RESPONSE_CODE, &status);
    if (errand->too_long)
        return carriage_ends(errand->carriage, TRANSFER_DAMAGED, "the file is longer than it should be");
    if (errand->no_disk)
        return carriage_ends(errand->carriage, TRANSFER_AGAIN, "the file cannot be written: %s", strerror(errno));
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return carriage_ends(errand->carriage, is_for_good(code, status) ? TRANSFER_REFUSED : TRANSFER_AGAIN,
                             "%.100s answers %ld%s", errand->host, status, token_hint(errand, status));
    return carriage_ends(errand->carriage,
                         errand->forbidden || is_for_good(code, status) ? TRANSFER_REFUSED : TRANSFER_AGAIN, "%.200s",
                         errand->words[0] ? errand->words : libcurl()->easy_strerror(code));
}

static bool errand_begin(struct errand *errand, struct carriage *carriage)
{
    *errand = (struct errand){.carriage = carriage, .easy = libcurl()->easy_init(), .parts = libcurl()->url()};
    if (!errand->easy || !errand->parts || !url_read_parts(errand))
        return carriage_ends(carriage, TRANSFER_REFUSED,
                             "%.150s: expected file, http, https or sftp, a host and a path", carriage->url);
    rules_set(errand);
    if (errand_is_sftp(errand))
        return sftp_set(errand);
    http_set(errand);
    return true;
}

static void errand_end(struct errand *errand)
{
    libcurl()->easy_cleanup(errand->easy);
    libcurl()->url_cleanup(errand->parts);
    libcurl()->slist_free_all(errand->head);
    libcurl()->slist_free_all(errand->after);
    libcurl()->free(errand->scheme);
    libcurl()->free(errand->host);
    libcurl()->free(errand->path);
}

/* ---------------------------------------------------------------------------------------------------------------- put */

/* Adds a path, quoted for a command of sftp. */
static void quoted_add(struct buf *out, const char *path)
{
    buf_addc(out, '"');
    for (; *path; path++) {
        if (strchr("\"'\\", *path))
            buf_addc(out, '\\');
        buf_addc(out, *path);
    }
    buf_addc(out, '"');
}

static void command_add(struct errand *errand, const char *word, const char *path, const char *other)
{
    struct buf line;

    buf_init(&line);
    buf_adds(&line, word);
    quoted_add(&line, path);
    if (other) {
        buf_addc(&line, ' ');
        quoted_add(&line, other);
    }
    errand->after = libcurl()->slist_append(errand->after, buf_string(&line));
    buf_done(&line);
}

/* Sets up a put by sftp: to a temporary name, then into the place of what may be there from before. */
static bool sftp_put_set(struct errand *errand)
{
    const char *last = strrchr(errand->path, '/');
    char temporary[64];
    struct buf path;
    bool good;

    transfer_temporary(errand->carriage->url, temporary, sizeof temporary);
    buf_init(&path);
    buf_add(&path, errand->path, (size_t)(last + 1 - errand->path));
    buf_adds(&path, temporary);
    command_add(errand, "*rm ", errand->path, NULL);
    command_add(errand, "rename ", buf_string(&path), errand->path);
    good = libcurl()->url_set(errand->parts, CURLUPART_PATH, buf_string(&path), CURLU_URLENCODE) == CURLUE_OK;
    buf_done(&path);
    libcurl()->easy_setopt(errand->easy, CURLOPT_POSTQUOTE, errand->after);
    libcurl()->easy_setopt(errand->easy, CURLOPT_FTP_CREATE_MISSING_DIRS, 1L);
    return good;
}

static void put_set(struct errand *errand)
{
    libcurl()->easy_setopt(errand->easy, CURLOPT_UPLOAD, 1L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)errand->carriage->size);
    libcurl()->easy_setopt(errand->easy, CURLOPT_READFUNCTION, on_read);
    libcurl()->easy_setopt(errand->easy, CURLOPT_READDATA, errand);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SEEKFUNCTION, on_seek);
    libcurl()->easy_setopt(errand->easy, CURLOPT_SEEKDATA, errand);
}

/* Is the file there, and as long as it should be? A server that does not say is believed. */
static bool http_put_check(struct errand *errand)
{
    curl_off_t size = -1;
    long status = 0;
    CURLcode code;

    errand->head = libcurl()->slist_append(errand->head, "Want-Repr-Digest: sha-256=10");
    errand->head = libcurl()->slist_append(errand->head, "Want-Digest: sha-256");
    libcurl()->easy_setopt(errand->easy, CURLOPT_HTTPHEADER, errand->head);
    libcurl()->easy_setopt(errand->easy, CURLOPT_HEADERFUNCTION, on_field);
    libcurl()->easy_setopt(errand->easy, CURLOPT_HEADERDATA, errand);
    libcurl()->easy_setopt(errand->easy, CURLOPT_UPLOAD, 0L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_NOBODY, 1L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_FAILONERROR, 0L);
    libcurl()->easy_setopt(errand->easy, CURLOPT_NOPROGRESS, 1L); /* the bytes have gone already */
    code = libcurl()->easy_perform(errand->easy);
    if (code != CURLE_OK)
        return errand_failed(errand, code);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_RESPONSE_CODE, &status);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    if (status != 200)
        *errand->carriage->said = '\0'; /* it speaks of another text */
    if (status == 404 || status == 410 || (status == 200 && size >= 0 && size != errand->carriage->size))
        return carriage_ends(errand->carriage, TRANSFER_AGAIN, "%.100s has not kept all of it", errand->host);
    return true;
}

/* Carries out a put. Anything but a success, in the sense of HTTP, is a refusal, also the advice to look elsewhere. */
static bool put_perform(struct errand *errand)
{
    CURLcode code = libcurl()->easy_perform(errand->easy);
    long status = 0;

    if (code != CURLE_OK)
        return errand_failed(errand, code);
    if (errand_is_sftp(errand))
        return true;
    libcurl()->easy_getinfo(errand->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 != 2)
        return carriage_ends(errand->carriage, TRANSFER_REFUSED, "%.100s answers %ld", errand->host, status);
    return http_put_check(errand);
}

/* Gets what was put, and sums it up. False: it was cut; a server that gives nothing is believed, and `*ret_given` is false. */
static bool back_read(struct errand *errand, struct back *back, bool *ret_given)
{
    CURLcode code;
    long status = 0;

    crypto_hash_sha256_init(&back->state);
    back->left = errand->carriage->size;
    libcurl()->easy_setopt(errand->easy, CURLOPT_WRITEFUNCTION, on_back);
    libcurl()->easy_setopt(errand->easy, CURLOPT_WRITEDATA, back);
    code = libcurl()->easy_perform(errand->easy);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_RESPONSE_CODE, &status);
    *ret_given = status == 200 && (code == CURLE_OK || back->left < 0);
    return code == CURLE_OK || back->left < 0 || code == CURLE_HTTP_RETURNED_ERROR || errand_failed(errand, code);
}

bool curl_put_verify(struct carriage *carriage)
{
    struct errand errand;
    struct back back = {.left = 0};
    bool given = false, good = errand_begin(&errand, carriage);
    unsigned char bytes[crypto_hash_sha256_BYTES];

    if (good && !errand_is_sftp(&errand) && !*carriage->said && carriage->rules->reads_back) {
        good = back_read(&errand, &back, &given);
        if (given) {
            crypto_hash_sha256_final(&back.state, bytes);
            memcpy(carriage->said, "sha256:", FILE_HASH_DIGITS_AT);
            sodium_bin2hex(carriage->said + FILE_HASH_DIGITS_AT, 2 * sizeof bytes + 1, bytes, sizeof bytes);
        }
    }
    if (good && *carriage->said && (back.left < 0 || strcmp(carriage->said, carriage->result.entry) != 0))
        good = carriage_ends(carriage, TRANSFER_AGAIN, "%.100s has kept other bytes than were sent", errand.host);
    errand_end(&errand);
    return good;
}

bool curl_put(struct carriage *carriage)
{
    struct errand errand;
    bool good = errand_begin(&errand, carriage);

    if (good && errand_is_sftp(&errand) && !sftp_put_set(&errand))
        good = carriage_ends(carriage, TRANSFER_REFUSED, "%.150s: no such path can be", carriage->url);
    if (good) {
        put_set(&errand);
        good = put_perform(&errand);
    }
    errand_end(&errand);
    return good;
}

/* ---------------------------------------------------------------------------------------------------------------- ask */

/* Asks a server by HEAD. */
static bool http_ask(struct errand *errand)
{
    curl_off_t size = -1;
    long status = 0;
    CURLcode code;

    errand->head = libcurl()->slist_append(errand->head, "Want-Repr-Digest: sha-256=10");
    errand->head = libcurl()->slist_append(errand->head, "Want-Digest: sha-256");
    libcurl()->easy_setopt(errand->easy, CURLOPT_HTTPHEADER, errand->head);
    libcurl()->easy_setopt(errand->easy, CURLOPT_HEADERFUNCTION, on_field);
    libcurl()->easy_setopt(errand->easy, CURLOPT_HEADERDATA, errand);
    libcurl()->easy_setopt(errand->easy, CURLOPT_NOBODY, 1L);
    code = libcurl()->easy_perform(errand->easy);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 404 || status == 410)
        return ask_absent(errand->carriage, errand->host);
    if (code != CURLE_OK)
        return errand_failed(errand, code);
    if (status / 100 != 2)
        return carriage_ends(errand->carriage, TRANSFER_REFUSED, "%.100s answers %ld", errand->host, status);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    return ask_check(errand->carriage, size);
}

/* Takes the first bytes of a file as the sign that it is there, and no more of them. */
static size_t on_enough(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)size;
    (void)count;
    ((struct errand *)user)->came = 1;
    return 0;
}

/* Asks a host with sftp: it tells the size when the file is opened. */
static bool sftp_ask(struct errand *errand)
{
    curl_off_t size = -1;
    CURLcode code;

    libcurl()->easy_setopt(errand->easy, CURLOPT_WRITEFUNCTION, on_enough);
    libcurl()->easy_setopt(errand->easy, CURLOPT_WRITEDATA, errand);
    code = libcurl()->easy_perform(errand->easy);
    if (code == CURLE_REMOTE_FILE_NOT_FOUND)
        return ask_absent(errand->carriage, errand->host);
    if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && errand->came))
        return errand_failed(errand, code);
    libcurl()->easy_getinfo(errand->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    return ask_check(errand->carriage, errand->came ? size : 0);
}

bool curl_ask(struct carriage *carriage)
{
    struct errand errand;
    bool good = errand_begin(&errand, carriage) && (errand_is_sftp(&errand) ? sftp_ask(&errand) : http_ask(&errand));

    errand_end(&errand);
    return good;
}

/* ---------------------------------------------------------------------------------------------------------------- get */

bool curl_get(struct carriage *carriage, int64_t from, bool *ret_anew)
{
    struct errand errand;
    bool good = errand_begin(&errand, carriage);
    CURLcode code;
    long status = 0;

    errand.came = from;
    *ret_anew = false;
    if (good) {
        libcurl()->easy_setopt(errand.easy, CURLOPT_WRITEFUNCTION, on_bytes);
        libcurl()->easy_setopt(errand.easy, CURLOPT_WRITEDATA, &errand);
        libcurl()->easy_setopt(errand.easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)from);
        code = libcurl()->easy_perform(errand.easy);
        libcurl()->easy_getinfo(errand.easy, CURLINFO_RESPONSE_CODE, &status);
        *ret_anew = from && (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME || status == 416);
        good = code == CURLE_OK ? true : errand_failed(&errand, code);
        if (good && !errand_is_sftp(&errand) && status / 100 != 2)
            good = carriage_ends(carriage, TRANSFER_REFUSED, "%.100s answers %ld", errand.host, status);
    }
    errand_end(&errand);
    return good;
}
