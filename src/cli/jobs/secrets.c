/* secrets.c: the secrets that a submission takes along.
 *
 * They are never in an argument, which all users of a machine can see, nor in an ad: they go to the customer first, by a call of their own, and the
 * submission names what that has answered. */
#include "cli/jobs/secrets.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/http/represent.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int option_secret(const char *text, void *target, struct err *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || !equals[1])
        return err_set(err, "expected NAME=FILE, the file that it is read from; - is standard input");
    if (!secret_name_is_good(text, (size_t)(equals - text)))
        return err_set(err,
                       "'%.*s': a secret is called by up to %d letters, digits, '.', '_' and '-', and not first a '.'",
                       (int)(equals - text < 80 ? equals - text : 80), text, SECRET_NAME_MAX);
    return option_word(text, target, err);
}

/* ---------------------------------------------------------------------------------------------------------------- reading */

/* Reads all bytes of a file, which may be a pipe: at most one more than a secret may have. */
static int bytes_read(int fd, struct buf *ret)
{
    ssize_t got = 1;

    buf_reserve(ret, SECRET_BYTES_MAX + 1);
    while (got > 0 && ret->len <= SECRET_BYTES_MAX) {
        got = read(fd, ret->text + ret->len, SECRET_BYTES_MAX + 1 - ret->len);
        if (got > 0)
            ret->len += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    return got < 0 ? -1 : 0;
}

static int secret_read(struct job_submission *submission, const char *word)
{
    const char *equals = strchr(word, '='), *file = equals + 1;
    bool here = !strcmp(file, "-");
    int fd = here ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC), failed;
    struct err err = {0};
    struct buf bytes;

    buf_init(&bytes);
    failed = fd < 0 || bytes_read(fd, &bytes) < 0;
    if (failed)
        report("--secret %.*s: %s: %s", (int)(equals - word), word, here ? "standard input" : file, strerror(errno));
    if (fd >= 0 && !here)
        close(fd);
    if (!failed) {
        failed = secret_bundle_add(&submission->secrets, word, (size_t)(equals - word), bytes.text, bytes.len, &err);
        if (failed)
            report("--secret %s", err.text);
    }
    secret_wipe(&bytes);
    return failed ? STATUS_BAD : STATUS_DONE;
}

int submission_secrets(struct job_submission *submission, const struct option_words *given)
{
    int status = STATUS_DONE;

    if (given->count)
        buf_reserve(&submission->secrets, SECRETS_BYTES_MAX);
    for (size_t i = 0; i < given->count && status == STATUS_DONE; i++)
        status = secret_read(submission, given->items[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ credentials */

#define PLACES_MAX 5

/* The files that a credential may be in, the best first; owned. */
static size_t places_of(const char *name, char *ret[PLACES_MAX])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *runtime = getenv("XDG_RUNTIME_DIR");
    const char *proxy = getenv("X509_USER_PROXY"), *token = getenv("BEARER_TOKEN_FILE");
    bool is_proxy = !strcmp(name, "x509up");
    struct buf path;
    size_t count = 0;

#define PLACE(...)                                           \
    do {                                                     \
        buf_reset(&path);                                    \
        buf_addf(&path, __VA_ARGS__);                        \
        ret[count++] = mem_dup(buf_string(&path), path.len); \
    } while (0)
    buf_init(&path);
    if (is_proxy && proxy && *proxy)
        PLACE("%s", proxy);
    else if (is_proxy)
        PLACE("/tmp/x509up_u%u", (unsigned)getuid());
    else if (config && *config)
        PLACE("%s/berth/credentials/%s", config, name);
    else if (home && *home)
        PLACE("%s/.config/berth/credentials/%s", home, name);
    if (!is_proxy && token && *token)
        PLACE("%s", token);
    if (!is_proxy && runtime && *runtime)
        PLACE("%s/bt_u%u", runtime, (unsigned)getuid());
    if (!is_proxy)
        PLACE("/tmp/bt_u%u", (unsigned)getuid());
#undef PLACE
    buf_done(&path);
    return count;
}

/* Is it a file that nobody else has put there, or can change? Some of the places are open to all. */
static bool is_ours(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_uid == getuid() || info.st_uid == 0);
}

static int credential_read(struct job_submission *submission, const char *about, const char *name, const char *given)
{
    char *places[PLACES_MAX];
    size_t count = 1;
    int found = -1;
    struct buf word;

    if (*given)
        places[0] = mem_dup(given, strlen(given));
    else
        count = places_of(name, places);
    for (size_t i = 0; i < count && found < 0; i++)
        found = is_ours(places[i]) ? (int)i : -1;
    buf_init(&word);
    if (found >= 0) {
        buf_addf(&word, "%s=%s", name, places[found]);
        found = secret_read(submission, buf_string(&word)) == STATUS_DONE ? 0 : -1;
    } else {
        for (size_t i = 0; i < count; i++)
            buf_addf(&word, "%s%s", i ? ", " : "", places[i]);
        report("%s: the credential %s is not there, as a file of yours: looked for %s", about, name, buf_string(&word));
    }
    buf_done(&word);
    while (count)
        free(places[--count]);
    return found < 0 ? -1 : 0;
}

int secrets_from(struct job_submission *submission, const struct tree *ad, const char *folder, const char *name)
{
    const struct expr *list = ad_find(ad, "SecretsFrom");
    int failed = 0;

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count && !failed; i++) {
        struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);
        const char *text, *from = "";
        size_t len, from_len = 0;
        struct secret known;

        if (!tree_is_ad(one) || !ad_string(one, "Name", &text, &len) || !secret_name_is_good(text, len)) {
            report("%s: SecretsFrom: expected [ Name; From ]", name);
            failed = -1;
        } else if (!secret_bundle_find(submission->secrets.text, submission->secrets.len, text, len, &known)) {
            char *called = mem_dup(text, len), *path, *whole;

            ad_string(one, "From", &from, &from_len);
            path = mem_dup(from, from_len);
            whole = from_len ? file_in(folder, path) : mem_dup("", 0);
            buf_reserve(&submission->secrets, SECRETS_BYTES_MAX);
            failed = credential_read(submission, name, called, whole);
            free(called);
            free(path);
            free(whole);
        }
        tree_unref(one);
    }
    return failed;
}

/* ----------------------------------------------------------------------------------------------------------------- naming */

/* Is each that the ad names among those that were given? What is no list of texts, the customer complains of. */
static int names_check(const struct job_submission *submission, const struct tree *ad, const struct expr *list,
                       const char *name)
{
    const struct expr *parts = list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;
    struct secret secret;

    for (uint32_t i = 0; parts && i < list->u.run.count; i++) {
        const char *text = parts[i].kind == EXPR_STRING ? tree_string(ad, &parts[i]) : NULL;
        int len = text && parts[i].u.run.count <= SECRET_NAME_MAX ? (int)parts[i].u.run.count : -1;

        if (len >= 0 && secret_name_is_good(text, (size_t)len) &&
            !secret_bundle_find(submission->secrets.text, submission->secrets.len, text, (size_t)len, &secret)) {
            report("%s: Secrets: '%.*s' is not given: --secret %.*s=FILE says where it is", name, len, text, len, text);
            return -1;
        }
    }
    return 0;
}

bool secrets_are_named(const struct job_submission *submission, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, SECRET_ATTRIBUTE);

    return list ? list->kind == EXPR_LIST && list->u.run.count : submission->secrets.len > 0;
}

int secrets_add(const struct job_submission *submission, const struct tree *ad, const char *name, struct buf *out)
{
    const struct expr *list = ad_find(ad, SECRET_ATTRIBUTE);
    const char *before = SECRET_ATTRIBUTE " = { ";
    struct secret secret;
    size_t at = 0;

    if (list)
        return names_check(submission, ad, list, name);
    while (secret_bundle_next(submission->secrets.text, submission->secrets.len, &at, &secret) > 0) {
        buf_adds(out, before);
        print_string(out, secret.name, secret.name_len, PRINT_PLAIN);
        before = ", ";
    }
    if (at)
        buf_adds(out, " };\n");
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- sending */

/* The place that answers: is what is sent there kept from others? */
static bool customer_is_private(const struct connection *customer)
{
    const struct connection_place *place = &customer->places[customer->at];

    return place->socket || url_is_private(place->url);
}

static void body_print(struct buf *out, const struct buf *bundle)
{
    struct secret secret;
    size_t at = 0;

    buf_reserve(out, bundle->len * 2 + 4096);
    buf_adds(out, "[ Secrets = {");
    while (secret_bundle_next(bundle->text, bundle->len, &at, &secret) > 0) {
        buf_adds(out, out->text[out->len - 1] == '{' ? " [ Name = " : ", [ Name = ");
        print_string(out, secret.name, secret.name_len, PRINT_PLAIN);
        buf_adds(out, "; Bytes = \"");
        base64url_print(out, secret.bytes, secret.len);
        buf_adds(out, "\" ]");
    }
    buf_adds(out, " } ]\n");
}

int secrets_send(struct job_submission *submission, char ret_id[SECRETS_ID_MAX + 1])
{
    struct connection_ask ask = {
        .method = "POST", .path = "/v1/secrets", .type = TYPE_CLASSAD, .may_miss = true, .hush = true};
    struct tree *answer = NULL;
    const char *id;
    struct buf body;
    size_t len;
    int status;

    *ret_id = '\0';
    if (!submission->secrets.len)
        return STATUS_DONE;
    if (!customer_is_private(submission->customer)) {
        report("%s: no secrets are sent there, for the connection is not encrypted",
               submission->customer->places[submission->customer->at].url);
        return STATUS_BAD;
    }
    buf_init(&body);
    body_print(&body, &submission->secrets);
    ask.bytes = &body;
    status = connection_fetch_ad(submission->customer, &ask, &answer);
    secret_wipe(&body);
    if (status == STATUS_NO) {
        report("this customer is of an earlier version, which takes no secrets: nothing was submitted");
    } else if (status == STATUS_DONE && (!ad_string(answer, "Id", &id, &len) || len > SECRETS_ID_MAX)) {
        report("the customer did not say where it keeps the secrets");
        status = STATUS_UNREACHABLE;
    } else if (status == STATUS_DONE) {
        snprintf(ret_id, SECRETS_ID_MAX + 1, "%.*s", (int)len, id);
    }
    tree_unref(answer);
    return status;
}
