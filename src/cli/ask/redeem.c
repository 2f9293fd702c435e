/* redeem.c: a code becomes a token. */
#include "cli/ask/redeem.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/box.h"
#include "live/auth/certs.h"
#include "live/auth/keyring.h"
#include "live/http/represent.h"
#include "sys/encoding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the code from a file, without the blanks around it. -1 when it cannot be read, which has been reported. */
static int code_file_read(const char *name, char ret[JOIN_TEXT_MAX + 1])
{
    bool given = !strcmp(name, "-");
    int fd = given ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    char text[JOIN_TEXT_MAX + 256];
    size_t len = 0, begin = 0;
    ssize_t got = -1;

    while (fd >= 0 && len < sizeof text &&
           ((got = read(fd, text + len, sizeof text - len)) > 0 || (got < 0 && errno == EINTR)))
        len += got > 0 ? (size_t)got : 0;
    if (got < 0)
        report("%s: the code cannot be read: %s", given ? "standard input" : name, strerror(errno));
    if (fd >= 0 && !given)
        close(fd);
    while (begin < len && strchr(" \t\r\n", text[begin]))
        begin++;
    while (len > begin && strchr(" \t\r\n", text[len - 1]))
        len--;
    if (got >= 0 && (len == begin || len - begin > JOIN_TEXT_MAX || memchr(text + begin, '\0', len - begin))) {
        report("%s: there is no code in it", given ? "standard input" : name);
        got = -1;
    }
    if (got >= 0) {
        memcpy(ret, text + begin, len - begin);
        ret[len - begin] = '\0';
    }
    explicit_bzero(text, sizeof text);
    return got < 0 ? -1 : 0;
}

static int code_read(const char *text, struct join_code *ret)
{
    struct err err = {0};

    if (join_code_read(text, strlen(text), ret, &err) == 0) {
        if (url_is_private(ret->address))
            return STATUS_DONE;
        err_set(&err, "%s: nothing secret is sent there, for the connection is not encrypted", ret->address);
        join_code_done(ret);
    }
    report("%s", err.text);
    return STATUS_BAD;
}

/* Fetches the pool's CA, if it is the one that the code means; the caller frees it. */
static int ca_fetch(const struct join_code *code, struct symbols *symbols, char **ret)
{
    unsigned char fingerprint[CERT_HASH_BYTES];
    struct http_call call = {.accept = TYPE_CLASSAD, .unchecked = true};
    struct fetched fetched;
    struct err err = {0};
    struct tree *keys = NULL;
    struct buf url;
    const char *ca;
    size_t len;
    int status = STATUS_UNREACHABLE;

    buf_init(&url);
    buf_addf(&url, "%s/v1/keys", code->address);
    call.url = buf_string(&url);
    if (client_fetch(NULL, &call, &fetched, &err) < 0) {
        report("%s: %s", code->address, err.text);
        buf_done(&url);
        return status;
    }
    keys = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, fetched.body.text, fetched.body.len, NULL);
    if (fetched.status != 200 || !keys || !ad_string(keys, "Ca", &ca, &len)) {
        report("%s: no pool answers there (status %u)", code->address, fetched.status);
    } else {
        char *text = mem_dup(ca, len);

        if (cert_fingerprint(text, fingerprint, &err) == 0 && !memcmp(fingerprint, code->ca, sizeof fingerprint)) {
            *ret = text;
            status = STATUS_DONE;
        } else {
            report("%s: this is not the pool that the code is of: its certificate is another; nothing was sent",
                   code->address);
            free(text);
            status = STATUS_BAD;
        }
    }
    tree_unref(keys);
    fetched_done(&fetched);
    buf_done(&url);
    return status;
}

/* Shows the secret, and gets a token for a key that is drawn. */
static int secret_show(const struct join_code *code, struct connection *pool, const char *name, struct token_file *file,
                       const struct box_public *box, struct tree **ret_answer)
{
    char secret[2 * JOIN_SECRET_BYTES + 1], key[2 * PUBLIC_KEY_BYTES + 1], reader[2 * BOX_KEY_BYTES + 1];
    struct tree *body;
    struct maker maker;
    int status;

    signing_key_draw(&file->key);
    file->has_key = true;
    hex_print(code->secret, sizeof code->secret, secret);
    hex_print(file->key.open.bytes, PUBLIC_KEY_BYTES, key);
    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Secret", secret);
    maker_text(&maker, "Key", key);
    maker_text(&maker, "Name", name);
    if (box) {
        hex_print(box->bytes, BOX_KEY_BYTES, reader);
        maker_text(&maker, "Box", reader);
    }
    body = maker_seal(&maker);
    status = connection_fetch_ad(pool, &(struct connection_ask){.method = "POST", .path = "/v1/join", .body = body},
                                 ret_answer);
    tree_unref(body);
    return status;
}

int redeem_code_read(const char *word, const char *file, struct join_code *ret)
{
    char text[JOIN_TEXT_MAX + 1];
    int status;

    if (file && code_file_read(file, text) < 0)
        return STATUS_BAD;
    status = code_read(file ? text : word, ret);
    explicit_bzero(text, sizeof text);
    return status;
}

/* Whom a token is for shows in it: only a customer sees the jobs of all. */
static int redeemed_read(struct redeemed *redeemed)
{
    struct grant grant;

    if (token_read(redeemed->file.token, strlen(redeemed->file.token), &grant) != TOKEN_OK) {
        report("the pool answered with a token that cannot be read");
        return STATUS_UNREACHABLE;
    }
    memcpy(redeemed->subject, grant.subject, sizeof redeemed->subject);
    redeemed->for_whom = !strncmp(grant.subject, "machine/", strlen("machine/")) ? REDEEMED_MACHINE
                         : grant.scope & SCOPE_JOB_ANY                           ? REDEEMED_CUSTOMER
                                                                                 : REDEEMED_PERSON;
    return STATUS_DONE;
}

/* Shows the code to its pool, once that is known to be the one that is meant. */
static int code_show(const struct join_code *code, const struct config_options *config, const char *name,
                     const struct box_public *box, struct token_file *file, struct symbols **ret_symbols,
                     struct tree **ret_answer)
{
    struct connection_options options = {.url = code->address, .config = *config};
    char machine[MACHINE_NAME_MAX + 1];
    struct connection pool;
    int status;

    machine_name(name, machine);
    status = connection_open_stranger(&pool, &options);
    if (status == STATUS_DONE)
        status = ca_fetch(code, pool.symbols, &pool.token.ca);
    if (status == STATUS_DONE)
        status = connection_trust(&pool);
    if (status == STATUS_DONE)
        status = secret_show(code, &pool, machine, file, box, ret_answer);
    *ret_symbols = pool.symbols; /* the answer's */
    pool.symbols = NULL;
    connection_close(&pool);
    return status;
}

int redeem(const struct join_code *code, const struct config_options *config, const char *name, struct redeemed *ret)
{
    struct symbols *symbols = NULL;
    struct tree *answer = NULL;
    int status;

    *ret = (struct redeemed){.for_whom = REDEEMED_MACHINE};
    token_file_init(&ret->file);
    status = code_show(code, config, name, NULL, &ret->file, &symbols, &answer);
    if (status == STATUS_DONE)
        status = token_answer(answer, &ret->file);
    if (status == STATUS_DONE)
        status = redeemed_read(ret);
    if (status == STATUS_DONE && !ret->file.pool)
        ret->file.pool = mem_dup(code->address, strlen(code->address));
    tree_unref(answer);
    symbols_free(symbols);
    return status;
}

/* Puts the keys of the answer into their folder. */
static int standby_take(const struct tree *answer, const struct box_keys *box, const char *keys,
                        struct standby_place *ret)
{
    const char *sealed, *store, *name;
    size_t sealed_len, store_len, name_len;
    struct err err = {0};
    struct buf bytes;
    int status = STATUS_DONE;

    buf_init(&bytes);
    if (!ad_string(answer, "SealedKeys", &sealed, &sealed_len) || !base64url_read(&bytes, sealed, sealed_len) ||
        !ad_string(answer, "Store", &store, &store_len) || !ad_string(answer, "Name", &name, &name_len)) {
        report("the pool answered without its keys");
        status = STATUS_UNREACHABLE;
    } else if (keyring_adopt(keys, box, bytes.text, bytes.len, &err) < 0) {
        report("%s", err.text);
        status = STATUS_BAD;
    } else {
        ret->store = mem_dup(store, store_len);
        ret->name = mem_dup(name, name_len);
    }
    buf_done(&bytes);
    return status;
}

int redeem_standby(const struct join_code *code, const struct config_options *config, const char *keys,
                   struct standby_place *ret)
{
    struct symbols *symbols = NULL;
    struct tree *answer = NULL;
    struct token_file file;
    struct box_keys box;
    int status;

    *ret = (struct standby_place){.store = NULL};
    token_file_init(&file);
    box_keys_draw(&box);
    status = code_show(code, config, NULL, &box.open, &file, &symbols, &answer);
    if (status == STATUS_DONE)
        status = standby_take(answer, &box, keys, ret);
    box_keys_done(&box);
    token_file_done(&file);
    tree_unref(answer);
    symbols_free(symbols);
    return status;
}

void redeemed_done(struct redeemed *redeemed)
{
    token_file_done(&redeemed->file);
}
