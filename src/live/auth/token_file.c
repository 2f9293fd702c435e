/* token_file.c: a token, the key to delegate it, and where it is good, as a user keeps them. */
#include "live/auth/token.h"

#include "live/auth/token_parts.h"
#include "sys/encoding.h"
#include "sys/private_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEED_DIGITS (2 * SIGNING_SEED_BYTES)

void token_file_init(struct token_file *file)
{
    *file = (struct token_file){0};
}

void token_file_done(struct token_file *file)
{
    if (!file)
        return;
    text_wipe(file->token);
    free(file->pool);
    free(file->others);
    free(file->ca);
    sodium_memzero(file, sizeof *file);
}

/* Checks that key and token go together: a file with a key has a token that names it, one without has a token that names none. Otherwise the token
 * could not be used. */
static int file_check(const struct token_file *file, struct err *err)
{
    struct grant grant;
    enum token_fault fault = file->token ? token_read(file->token, strlen(file->token), &grant) : TOKEN_MALFORMED;

    if (fault)
        return err_set(err, "its token cannot be read: %s", token_fault_words(fault));
    if (grant.delegates != file->has_key)
        return err_set(err, "%s",
                       file->has_key ? "there is a key, but the token names none"
                                     : "the token names a key, and it is not there");
    if (file->has_key && sodium_memcmp(grant.delegate.bytes, file->key.open.bytes, PUBLIC_KEY_BYTES) != 0)
        return err_set(err, "the key is not the one that the token names");
    return 0;
}

static int key_set(struct token_file *file, const char *digits, struct err *err)
{
    unsigned char seed[SIGNING_SEED_BYTES];

    if (!digits)
        return 0;
    if (!hex_read(digits, strlen(digits), seed, sizeof seed))
        return err_set(err, "Key must be %d hexadecimal digits", SEED_DIGITS);
    signing_key_from_seed(seed, &file->key);
    sodium_memzero(seed, sizeof seed);
    file->has_key = true;
    return 0;
}

static int file_parse(const struct buf *text, struct token_file *file, struct err *err)
{
    char *digits;
    const struct private_field fields[] = {{"Token", true, &file->token},
                                           {"Key", false, &digits},
                                           {"Pool", false, &file->pool},
                                           {"Others", false, &file->others},
                                           {"Ca", false, &file->ca}};
    int result;

    if (private_ad_read(text->text, text->len, fields, sizeof fields / sizeof *fields, err) < 0)
        return -1;
    result = key_set(file, digits, err) < 0 || file_check(file, err) < 0 ? -1 : 0;
    text_wipe(digits);
    return result;
}

int token_file_read(const char *path, struct token_file *ret, struct err *err)
{
    struct token_file file;
    struct buf text;
    int got;

    token_file_init(&file);
    buf_init(&text);
    got = private_read(AT_FDCWD, path, TOKEN_FILE_BYTES_MAX, &text, err);
    if (got == 0)
        got = err_set(err, "%s: there is no such file", path);
    else if (got > 0 && file_parse(&text, &file, err) < 0)
        got = err_context(err, "%s", path);
    buf_wipe(&text);
    if (got < 0) {
        token_file_done(&file);
        return -1;
    }
    *ret = file;
    sodium_memzero(&file, sizeof file); /* its strings are the caller's now */
    return 0;
}

bool token_file_place(const struct token_file *file, size_t place, char ret[TOKEN_PLACE_MAX + 1])
{
    bool secure = file->pool && !strncmp(file->pool, "https:", 6);
    const char *at = file->others ? file->others : "";

    if (!file->pool)
        return false;
    if (!place) {
        snprintf(ret, TOKEN_PLACE_MAX + 1, "%s", file->pool);
        return true;
    }
    while (*at) {
        size_t len = strcspn(at, " ");

        if (len && len <= TOKEN_PLACE_MAX && (!secure || !strncmp(at, "https:", 6)) && !--place) {
            memcpy(ret, at, len);
            ret[len] = '\0';
            return true;
        }
        at += len + (at[len] == ' ');
    }
    return false;
}

bool token_file_names(const struct token_file *file, const char *url)
{
    char place[TOKEN_PLACE_MAX + 1];

    for (size_t i = 0; token_file_place(file, i, place); i++)
        if (!strcmp(place, url))
            return true;
    return false;
}

static void file_print(struct buf *out, const struct token_file *file)
{
    char seed[SEED_DIGITS + 1], *digits = file->has_key ? seed : NULL;
    struct token_file copy = *file;
    const struct private_field fields[] = {{"Token", true, &copy.token},
                                           {"Key", false, &digits},
                                           {"Pool", false, &copy.pool},
                                           {"Others", false, &copy.others},
                                           {"Ca", false, &copy.ca}};

    if (file->has_key)
        hex_print(file->key.secret, SIGNING_SEED_BYTES, seed); /* a secret key of libsodium's begins with its seed */
    private_ad_print(out, fields, sizeof fields / sizeof *fields);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(&copy, sizeof copy);
}

int token_file_write(const char *path, const struct token_file *file, struct err *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int dir = AT_FDCWD, result = -1;
    struct buf text;

    if (file_check(file, err) < 0)
        return err_context(err, "%s", path);
    if (slash) {
        char *folder = mem_dup(path, slash == path ? 1 : (size_t)(slash - path));

        dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        free(folder);
        if (dir < 0)
            return err_set(err, "%s: its folder cannot be opened", path);
    }
    buf_init(&text);
    file_print(&text, file);
    if (text.len > TOKEN_FILE_BYTES_MAX)
        err_set(err, "%s: too long: the limit is %u bytes", path, TOKEN_FILE_BYTES_MAX);
    else
        result = private_write(dir, name, text.text, text.len, err);
    buf_wipe(&text);
    if (slash)
        close(dir);
    return result;
}

int token_file_bearer(struct buf *out, const struct token_file *file, const char *audience, int64_t now,
                      int64_t *ret_expires, struct err *err)
{
    struct token_terms terms = {.audience = audience, .issued = now};
    size_t len = strlen(file->token);
    struct grant grant;

    if (file_check(file, err) < 0 || token_read(file->token, len, &grant) != TOKEN_OK)
        return -1;
    if (grant.expires <= now)
        return err_set(err, "the token has expired");
    if (!file->has_key) {
        if (audience && strcmp(audience, grant.audience) != 0)
            return err_set(err, "the token is for %s alone, and has no key to make one for %s", grant.audience,
                           audience);
        buf_add(out, file->token, len);
        *ret_expires = grant.expires;
        return 0;
    }
    terms.expires = now < grant.issued ? grant.issued + TOKEN_BEARER_SPAN : now + TOKEN_BEARER_SPAN;
    if (terms.expires > grant.expires)
        terms.expires = grant.expires;
    if (token_delegate(out, file->token, len, &file->key, &terms, NULL, err) < 0)
        return -1;
    *ret_expires = terms.expires;
    return 0;
}
