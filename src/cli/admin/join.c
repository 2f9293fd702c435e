/* join.c: berth join: this machine joins a pool by a code, and then offers itself there, or is the customer of the user that the code is for.
 *
 *     CODE = secret, fingerprint of the CA, address
 *     GET  ADDRESS/v1/keys    whoever answers: its Ca must have that fingerprint
 *     POST ADDRESS/v1/join    checked by that CA: the secret, and a public key of our own -> STATE/provider/token
 *                                                                                               or STATE/customer/token */
#include "live/auth/join.h"

#include "cli/ask/connection.h"
#include "cli/ask/token_ask.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "exec/self.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/certs.h"
#include "live/http/represent.h"
#include "live/matchmakerd/agents.h"
#include "sys/encoding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct join_settings {
    struct connection_options pool; /* only its configuration is used */
    const char *name, *also, *code_file;
    bool only, pull;
};

#define S struct join_settings
static const struct option join_options[] = {
    {0, "only", NULL, "join, and do not start the provider", option_flag, offsetof(S, only)},
    {0, "also", "POOL",
     "besides the pool that it has: keep the token as POOL.token, print what goes into the setting Pools", option_text,
     offsetof(S, also)},
    {0, "pull", NULL, "the provider asks for jobs when it has room, and does not advertise", option_flag,
     offsetof(S, pull)},
    {0, "code-file", "FILE",
     "the file that the code is in, so that nobody sees it in the list of processes; `-`: the standard input",
     option_text, offsetof(S, code_file)},
    {0, "name", "NAME", "what the machine is called in the pool; its host name if not given", option_text,
     offsetof(S, name)},
    {0, "config", "FILE", "the configuration file", option_config_file, offsetof(S, pool.config)},
    {0, "state", "FOLDER", "the folder of the state: the token goes to FOLDER/provider/token", option_config_state,
     offsetof(S, pool.config)},
};
#undef S

static const struct join_settings join_defaults = {0};

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

/* Shows the secret, and gets a token for the key; its subject is printed to `ret_subject`. */
static int code_redeem(const struct join_code *code, struct connection *pool, const char *name, struct token_file *file,
                       struct buf *ret_subject)
{
    char secret[2 * JOIN_SECRET_BYTES + 1], key[2 * PUBLIC_KEY_BYTES + 1];
    struct tree *body, *answer = NULL;
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
    body = maker_seal(&maker);
    status = connection_fetch_ad(pool, &(struct connection_ask){.method = "POST", .path = "/v1/join", .body = body},
                                 &answer);
    if (status == STATUS_DONE)
        status = token_answer(answer, file);
    if (status == STATUS_DONE)
        cell_print(ret_subject, answer, "Subject", CELL_VALUE, 0);
    tree_unref(body);
    tree_unref(answer);
    return status;
}

static int token_keep(const char *state, const char *role, const char *also, struct token_file *file,
                      const struct join_code *code, struct buf *ret_path)
{
    struct err err = {0};
    struct buf folder;
    int status = STATUS_BAD;

    if (!file->pool)
        file->pool = mem_dup(code->address, strlen(code->address));
    buf_init(&folder);
    buf_addf(&folder, "%s/%s", state, role);
    buf_addf(ret_path, also ? "%s/%s.token" : "%s/token", buf_string(&folder), also);
    if (folder_make(buf_string(&folder)) == 0) {
        if (token_file_write(buf_string(ret_path), file, &err) == 0)
            status = STATUS_DONE;
        else
            report("%s", err.text);
    }
    buf_done(&folder);
    return status;
}

static int agent_become(const char *role, const char *state, const char *config, bool pull)
{
    const char *words[8] = {"berth", role, "--state", state};
    size_t count = 4;
    char self[SELF_MAX];

    if (pull)
        words[count++] = "--pull";
    if (config) {
        words[count++] = "--config";
        words[count++] = config;
    }

    output_flush();
    execv(self_program(self), (char **)(uintptr_t)words);
    report("the %s cannot be started: %s", role, strerror(errno));
    return STATUS_BAD;
}

/* A code is for a machine that is to be a provider, or for the customer of a user. */
static const char *role_of(const char *subject)
{
    return !strncmp(subject, "machine/", strlen("machine/")) ? "provider" : "customer";
}

static void tell_joined(const struct join_settings *settings, const char *state, const char *pool, const char *subject,
                        const char *path)
{
    bool is_provider = !strcmp(role_of(subject), "provider"), named = settings->pool.config.count;
    const char *option = named ? " --state " : "", *where = named ? state : "";
    struct buf out;

    buf_init(&out);
    buf_addf(&out,
             is_provider ? "This machine has joined the pool at %s as %s.\nIts token is %s\n"
                         : "This machine has joined the pool at %s as the customer of %s.\nIts token is %s\n",
             pool, subject, path);
    if (settings->also)
        buf_addf(
            &out,
            "For the list Pools in the configuration:  [ Name = \"%s\"; Token = \"%s\" ]\n"
            "where its place, Share and Access say when this machine serves it; its own pool is [ Name = \"...\" ].\n",
            settings->also, path);
    else if (settings->only && is_provider)
        buf_addf(&out, "To offer it there: berth provider%s%s\nTo offer licences: berth provide%s%s FILE\n", option,
                 where, option, where);
    else if (settings->only)
        buf_addf(&out, "To submit jobs there, start the customer: berth customer%s%s\n", option, where);
    output_write(&out);
    buf_done(&out);
}

static int join_pool(const struct join_settings *settings, const char *state, const struct join_code *code,
                     const char **ret_role)
{
    struct connection_options options = {.url = code->address, .config = settings->pool.config};
    char name[MACHINE_NAME_MAX + 1];
    struct token_file file;
    struct connection pool;
    struct buf path, subject;
    int status;

    token_file_init(&file);
    buf_init(&path);
    buf_init(&subject);
    machine_name(settings->name, name);
    status = connection_open_stranger(&pool, &options);
    if (status == STATUS_DONE)
        status = ca_fetch(code, pool.symbols, &pool.token.ca);
    if (status == STATUS_DONE)
        status = connection_trust(&pool);
    if (status == STATUS_DONE)
        status = code_redeem(code, &pool, name, &file, &subject);
    *ret_role = role_of(buf_string(&subject));
    if (status == STATUS_DONE)
        status = token_keep(state, *ret_role, settings->also, &file, code, &path);
    if (status == STATUS_DONE)
        tell_joined(settings, state, file.pool, buf_string(&subject), buf_string(&path));
    buf_done(&subject);
    buf_done(&path);
    connection_close(&pool);
    token_file_done(&file);
    return status;
}

static int join_run(const void *given, int word_count, char **words)
{
    const struct join_settings *settings = given;
    const char *file = settings->code_file                         ? settings->code_file
                       : word_count == 1 && !strcmp(words[0], "-") ? "-"
                                                                   : NULL;
    char text[JOIN_TEXT_MAX + 1];
    struct join_code code;
    struct config config;
    const char *role;
    int status;

    if (word_count != (settings->code_file ? 0 : 1)) {
        report("join wants one CODE, as `berth token code` prints it, or --code-file FILE");
        return STATUS_BAD;
    }
    if (settings->also && !agent_name_is_good(settings->also, strlen(settings->also))) {
        report("--also %s: expected a name of up to %d letters, digits, . _ and -", settings->also, AGENT_NAME_MAX);
        return STATUS_BAD;
    }
    if (file && code_file_read(file, text) < 0)
        return STATUS_BAD;
    status = code_read(file ? text : words[0], &code);
    explicit_bzero(text, sizeof text);
    if (status != STATUS_DONE || config_options_load(&settings->pool.config, &config) < 0)
        return STATUS_BAD;
    status = join_pool(settings, config_text(&config, CONFIG_STATE), &code, &role);
    join_code_done(&code);
    if (status == STATUS_DONE && !settings->only && !settings->also)
        status = agent_become(role, config_text(&config, CONFIG_STATE), settings->pool.config.file,
                              settings->pull && !strcmp(role, "provider"));
    config_done(&config);
    return status;
}

const struct command command_join = {
    .name = "join",
    .summary = "join a pool by a code, and offer this machine there",
    .usage = "[OPTIONS] CODE|-",
    .about =
        "A code is made where the pool is (`berth token code`; `berth pool` prints one), and is good once, within an hour. It "
        "says where the pool is and how to tell it from an impostor: before anything secret is sent, the pool's certificate is "
        "compared with it. Words on a command line are seen by all who may list processes: `-` reads the code from the standard input, "
        "--code-file from a file. The token that the machine gets is kept in STATE/provider/token, for a year. Then the provider runs, "
        "until it is told to end; where something else than the machine shall be offered, join with --only, and then `berth provide "
        "FILE`. With a code for a user (`berth token code --customer NAME`) the token is kept in STATE/customer/token, and the customer "
        "runs: there the user submits jobs.\n"
        "\n"
        "A machine may serve several pools. With --also POOL the token goes beside the one that it has, to "
        "STATE/provider/POOL.token, and no provider is started: the line that is printed goes into the setting Pools.",
    .examples = {{"berth join berth-AWJx...", NULL}, {"berth join --only --name heron berth-AWJx...", NULL}},
    .options = join_options,
    .option_count = sizeof join_options / sizeof *join_options,
    .settings_size = sizeof(struct join_settings),
    .defaults = &join_defaults,
    .run = join_run,
};
