/* token.c: berth token: makes, lists, revokes, narrows and shows tokens, and makes codes by which machines join. */
#include "live/auth/token.h"
#include "live/auth/roles.h"

#include "cli/ask/connection.h"
#include "cli/ask/token_ask.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/quantity.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/json.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/base/span.h"
#include "sys/encoding.h"
#include "sys/names.h"
#include "sys/private_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct token_settings {
    struct connection_options pool;
    const char *subject, *suffix, *scope, *role, *constraint, *out, *customer, *user, *agent;
    int64_t lifetime; /* seconds; 0: not given */
    bool no_delegation, serve, standby, json, long_form;
};

#define S struct token_settings
static const struct option token_options[] = {
    {0, "subject", "NAME", "create: whose it is; oneself if not given", option_text, offsetof(S, subject)},
    {0, "subject-suffix", "NAME", "delegate: for a part of its subject, which is then called SUBJECT/NAME", option_text,
     offsetof(S, suffix)},
    {0, "scope", "SCOPES",
     "create, delegate: what it lets its holder do, as in \"ad:read ad:write\"; else ad:read, or as the parent",
     option_text, offsetof(S, scope)},
    {0, "role", "ROLE", "create, delegate: the scopes of that role (berth help roles), in place of --scope",
     option_text, offsetof(S, role)},
    {0, "lifetime", "SPAN",
     "create, delegate: how long it is good: 90s, 30min, 12h, 7d; else as the pool says, or as the parent", option_span,
     offsetof(S, lifetime)},
    {0, "no-delegation", NULL, "create, delegate: without a key by which it could be handed on", option_flag,
     offsetof(S, no_delegation)},
    {0, "for", "IDENTITY/NAME",
     "delegate: to be shown to that agent alone, a customer or a provider (berth agents), and not to the matchmaker",
     option_text, offsetof(S, agent)},
    {'o', "out", "FILE", "create, delegate: write the token file there, not to standard output", option_file,
     offsetof(S, out)},
    {0, "customer", "NAME", "code: for a machine that shall be the customer of that user, not a provider", option_text,
     offsetof(S, customer)},
    {0, "user", "NAME", "code: for that person, who logs in with it (`berth login`)", option_text, offsetof(S, user)},
    {0, "serve", NULL, "code: that customer may serve other users, too", option_flag, offsetof(S, serve)},
    {'c', "constraint", "EXPR", "list: only those for which it is true", option_text, offsetof(S, constraint)},
    {0, "standby", NULL, "code: for another matchmaker, which stands by for this one", option_flag,
     offsetof(S, standby)},
    {0, "json", NULL, "JSON lines: an object a token; times in seconds since 1970", option_flag, offsetof(S, json)},
    {0, "long", NULL, "list: all that is known, as ads in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct token_settings token_defaults = {0};

/* -------------------------------------------------------------------------------------------------------------- files */

/* Prints the text of a token file to standard output, as token_file_write writes it. */
static void file_show(const struct token_file *file)
{
    char seed[2 * SIGNING_SEED_BYTES + 1], *digits = file->has_key ? seed : NULL;
    struct token_file copy = *file;
    const struct private_field fields[] = {{"Token", true, &copy.token},
                                           {"Key", false, &digits},
                                           {"Pool", false, &copy.pool},
                                           {"Others", false, &copy.others},
                                           {"Ca", false, &copy.ca}};
    struct buf text;

    if (file->has_key)
        hex_print(file->key.secret, SIGNING_SEED_BYTES, seed); /* a secret key begins with its seed */
    buf_init(&text);
    private_ad_print(&text, fields, sizeof fields / sizeof *fields);
    output_write(&text);
    buf_wipe(&text);
}

static void json_member(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "%s\"%s\": ", out->len > 1 ? ", " : "", name);
    if (value)
        json_quote(out, value, strlen(value));
    else
        buf_adds(out, "null");
}

/* Prints what a token says, as lines of words or as a JSON object. */
static void grant_print(const struct token_file *file, const struct grant *grant, const char *path, bool json)
{
    const struct role_row *role = role_of(grant->scope, grant->subject);
    struct buf out, scope;
    int64_t now = time(NULL);

    buf_init(&out);
    buf_init(&scope);
    scopes_print(&scope, grant->scope);
    if (json) {
        buf_addc(&out, '{');
        json_member(&out, "file", path);
        json_member(&out, "id", grant->ids[grant->links - 1]);
        json_member(&out, "subject", grant->subject);
        json_member(&out, "scope", buf_string(&scope));
        json_member(&out, "role", role ? role->name : NULL);
        json_member(&out, "audience", grant->audience);
        json_member(&out, "pool", file->pool);
        buf_addf(&out,
                 ", \"issued\": %" PRId64 ", \"expires\": %" PRId64 ", \"delegable\": %s, \"links\": %" PRIu32 "}\n",
                 grant->issued, grant->expires, grant->delegates ? "true" : "false", grant->links);
    } else {
        buf_addf(&out, "subject    %s\nscope      %s\n", grant->subject, buf_string(&scope));
        if (role)
            buf_addf(&out, "role       %s\n", role->name);
        buf_addf(&out, "audience   %s\n", grant->audience);
        buf_addf(&out, "pool       %s\nissued     ", file->pool ? file->pool : "");
        span_say(&out, (double)(now - grant->issued));
        buf_adds(&out, grant->expires > now ? " ago\nexpires    in " : " ago\nexpired    ");
        span_say(&out, (double)(grant->expires > now ? grant->expires - now : now - grant->expires));
        buf_addf(&out, "%s\ndelegable  %s\n", grant->expires > now ? "" : " ago", grant->delegates ? "yes" : "no");
        for (uint32_t i = 0; i < grant->links; i++)
            buf_addf(&out, "%s%s\n", i ? "then       " : "id         ", grant->ids[i]);
        if (path)
            buf_addf(&out, "file       %s\n", path);
    }
    output_write(&out);
    buf_done(&out);
    buf_done(&scope);
}

/* Writes the token file to --out and says so; without --out, prints its text. */
static int file_give(const struct token_settings *settings, const struct token_file *file)
{
    struct err err = {0};
    struct grant grant;

    if (!settings->out) {
        file_show(file);
        return STATUS_DONE;
    }
    if (token_file_write(settings->out, file, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    if (token_read(file->token, strlen(file->token), &grant) == TOKEN_OK)
        grant_print(file, &grant, settings->out, settings->json);
    return STATUS_DONE;
}

/* Can a file be made there? This is asked before the pool is, so that no token is made for nothing. */
static int out_check(const char *out)
{
    const char *slash = out ? strrchr(out, '/') : NULL;
    char *folder;
    int status = STATUS_DONE;

    if (!out)
        return STATUS_DONE;
    folder = slash ? mem_dup(out, slash == out ? 1 : (size_t)(slash - out)) : mem_dup(".", 1);
    if (access(folder, W_OK | X_OK) < 0) {
        report("%s: no file can be made there: %s", out, strerror(errno));
        status = STATUS_BAD;
    }
    free(folder);
    return status;
}

/* Reads the token file that is named behind the verb, or else finds it as for a pool. */
static int file_find(const struct token_settings *settings, int word_count, char **words, struct token_file *ret)
{
    struct connection_options options = settings->pool;

    if (word_count)
        options.token = words[0];
    return connection_token(&options, ret);
}

/* ---------------------------------------------------------------------------------------------------- create, delegate */

static int token_create(const struct token_settings *settings, int word_count, char **words)
{
    const struct token_wish wish = {settings->subject, settings->scope, settings->lifetime, settings->no_delegation};
    struct token_file file;
    struct connection pool;
    int status;

    (void)word_count;
    (void)words;
    token_file_init(&file);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = out_check(settings->out);
    if (status == STATUS_DONE)
        status = token_ask(&pool, &wish, &file);
    if (status == STATUS_DONE)
        status = file_give(settings, &file);
    connection_close(&pool);
    token_file_done(&file);
    return status;
}

/* Finds what the token's audience is: that agent of the pool. */
static int audience_find(const char *words, const char *pool, char ret[TOKEN_NAME_MAX + 1])
{
    const char *slash = strrchr(words, '/');
    char identity[TOKEN_NAME_MAX + 1];

    if (!slash || slash == words || slash - words > TOKEN_NAME_MAX ||
        !agent_name_is_good(slash + 1, strlen(slash + 1))) {
        report("--for: expected the identity and the name of an agent, as in machine/heron/heron");
        return STATUS_BAD;
    }
    snprintf(identity, sizeof identity, "%.*s", (int)(slash - words), words);
    token_agent_audience(pool, agent_handle(identity, slash + 1), ret);
    return STATUS_DONE;
}

/* Makes the child token offline: the key in the parent's file signs it. */
static int delegate_sign(const struct token_settings *settings, const struct token_file *parent,
                         struct token_file *child)
{
    struct token_terms terms = {.issued = time(NULL), .delegate = child->has_key ? &child->key.open : NULL};
    char audience[TOKEN_NAME_MAX + 1];
    struct grant grant;
    struct err err = {0};
    struct buf subject, text;
    int status = STATUS_BAD;

    buf_init(&subject);
    buf_init(&text);
    token_read(parent->token, strlen(parent->token), &grant); /* as it was read with its file */
    buf_addf(&subject, "%s/%s", grant.subject, settings->suffix ? settings->suffix : "");
    terms.subject = settings->suffix ? buf_string(&subject) : NULL;
    terms.audience = settings->agent ? audience : NULL;
    terms.expires = settings->lifetime ? terms.issued + settings->lifetime : 0;
    if (settings->scope && !scopes_read(settings->scope, strlen(settings->scope), &terms.scope))
        report("--scope: expected names of scopes with blanks between");
    else if (settings->agent && audience_find(settings->agent, grant.issuer, audience) != STATUS_DONE)
        ; /* it was told */
    else if (!parent->has_key)
        report("this token was made without a key, and cannot be delegated");
    else if (token_delegate(&text, parent->token, strlen(parent->token), &parent->key, &terms, NULL, &err) < 0)
        report("%s", err.text);
    else
        status = STATUS_DONE;
    if (status == STATUS_DONE)
        child->token = mem_dup(text.text, text.len);
    buf_done(&subject);
    buf_wipe(&text);
    return status;
}

static int token_hand_on(const struct token_settings *settings, int word_count, char **words)
{
    struct token_file parent, child;
    int status;

    token_file_init(&parent);
    token_file_init(&child);
    status = file_find(settings, word_count, words, &parent);
    if (status == STATUS_DONE && !settings->no_delegation) {
        signing_key_draw(&child.key);
        child.has_key = true;
    }
    if (status == STATUS_DONE)
        status = delegate_sign(settings, &parent, &child);
    if (status == STATUS_DONE) {
        child.pool = parent.pool ? mem_dup(parent.pool, strlen(parent.pool)) : NULL;
        child.others = parent.others ? mem_dup(parent.others, strlen(parent.others)) : NULL;
        child.ca = parent.ca ? mem_dup(parent.ca, strlen(parent.ca)) : NULL;
        status = file_give(settings, &child);
    }
    token_file_done(&parent);
    token_file_done(&child);
    return status;
}

/* -------------------------------------------------------------------------------------------- show, list, revoke, code */

static int token_show(const struct token_settings *settings, int word_count, char **words)
{
    struct token_file file;
    struct grant grant;
    int status;

    token_file_init(&file);
    status = file_find(settings, word_count, words, &file);
    if (status == STATUS_DONE && token_read(file.token, strlen(file.token), &grant) == TOKEN_OK)
        grant_print(&file, &grant, word_count ? words[0] : NULL, settings->json);
    token_file_done(&file);
    return status;
}

static const struct table_column token_columns[] = {
    {"id", "Id", CELL_VALUE},         {"subject", "Subject", CELL_VALUE}, {"scope", "Scope", CELL_VALUE},
    {"issued", "Issued", CELL_SINCE}, {"expires", "Expires", CELL_UNTIL}, {"delegable", "Delegable", CELL_VALUE},
    {"by", "By", CELL_VALUE},         {"revoked", "Revoked", CELL_VALUE}, {"role", "Role", CELL_VALUE},
};

static int token_list(const struct token_settings *settings, int word_count, char **words)
{
    enum rows_form form;
    struct rows rows;
    struct connection pool;
    struct buf path;
    int status;

    (void)word_count;
    (void)words;
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    buf_init(&path);
    buf_adds(&path, "/v1/tokens");
    path_query(&path, "constraint", settings->constraint);
    rows_init(&rows, form, token_columns, sizeof token_columns / sizeof *token_columns);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = connection_list(&pool, buf_string(&path), 0, rows_add, &rows);
    if (status == STATUS_DONE && !rows.count && settings->constraint)
        status = STATUS_NO;
    rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    buf_done(&path);
    return status;
}

static int revoke_one(struct connection *pool, const char *id)
{
    struct fetched fetched;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/tokens/");
    path_escape(&path, id);
    status = connection_fetch(
        pool, &(struct connection_ask){.method = "DELETE", .path = buf_string(&path), .about = id}, &fetched);
    if (status == STATUS_DONE)
        fetched_done(&fetched);
    buf_done(&path);
    return status;
}

/* The ids of the tokens of a subject that are still good, one behind another: lists must not change while they are read. */
struct owned {
    const char *subject;
    int64_t now;
    struct buf ids;
};

static bool owned_add(void *user, struct tree *ad)
{
    struct owned *owned = user;
    const char *subject, *id;
    int64_t expires = INT64_MAX;
    size_t len, id_len;
    bool revoked = false;

    ad_flag(ad, "Revoked", &revoked);
    ad_integer(ad, "Expires", &expires);
    if (!revoked && expires > owned->now && ad_string(ad, "Subject", &subject, &len) && len == strlen(owned->subject) &&
        !memcmp(subject, owned->subject, len) && ad_string(ad, "Id", &id, &id_len) && id_len == TOKEN_ID_DIGITS)
        buf_add(&owned->ids, id, id_len);
    return true;
}

static int revoke_subject(struct connection *pool, const char *subject)
{
    struct owned owned = {.subject = subject, .now = time(NULL)};
    char id[TOKEN_ID_DIGITS + 1] = "";
    int status;

    buf_init(&owned.ids);
    status = connection_list(pool, "/v1/tokens", 0, owned_add, &owned);
    if (status == STATUS_DONE && !owned.ids.len) {
        report("%s: there is no token of that id or subject that is still good", subject);
        status = STATUS_BAD;
    }
    for (size_t at = 0; at < owned.ids.len && status == STATUS_DONE; at += TOKEN_ID_DIGITS) {
        memcpy(id, owned.ids.text + at, TOKEN_ID_DIGITS);
        status = revoke_one(pool, id);
    }
    buf_done(&owned.ids);
    return status;
}

static int token_revoke(const struct token_settings *settings, int word_count, char **words)
{
    unsigned char id[TOKEN_ID_DIGITS / 2];
    struct connection pool;
    int status = connection_open(&pool, &settings->pool);

    for (int i = 0; i < word_count && status == STATUS_DONE; i++)
        status = hex_read(words[i], strlen(words[i]), id, sizeof id) ? revoke_one(&pool, words[i])
                                                                     : revoke_subject(&pool, words[i]);
    connection_close(&pool);
    return status;
}

static int token_code(const struct token_settings *settings, int word_count, char **words)
{
    static const struct table_column columns[] = {{"code", "Code", CELL_VALUE}, {"expires", "Expires", CELL_UNTIL}};
    struct tree *ad = NULL;
    struct connection pool;
    struct rows rows;
    struct buf out, path;
    int status;

    (void)word_count;
    (void)words;
    if (settings->user && settings->customer) {
        report("--user is for a person, --customer for a machine where that person submits jobs: one of them");
        return STATUS_BAD;
    }
    if (settings->serve && !settings->customer) {
        report("--serve is for the code of a customer: --customer NAME --serve");
        return STATUS_BAD;
    }
    buf_init(&out);
    buf_init(&path);
    buf_adds(&path, "/v1/codes");
    path_query(&path, "customer", settings->customer);
    path_query(&path, "user", settings->user);
    path_query(&path, "serve", settings->serve ? "true" : NULL);
    path_query(&path, "standby", settings->standby ? "true" : NULL);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &(struct connection_ask){.method = "POST", .path = buf_string(&path)}, &ad);
    if (status == STATUS_DONE && settings->json) {
        rows_init(&rows, ROWS_JSON, columns, 2);
        rows_add(&rows, ad);
        rows_finish(&rows);
        rows_done(&rows);
    } else if (status == STATUS_DONE) {
        cell_print(&out, ad, "Code", CELL_VALUE, 0); /* the code alone, for scripts */
        buf_addc(&out, '\n');
        output_write(&out);
    }
    buf_wipe(&out);
    buf_done(&path);
    tree_unref(ad);
    connection_close(&pool);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ the verbs */

static const struct verb {
    const char *name, *wants;
    int low, high; /* how many words may follow the verb */
    int (*run)(const struct token_settings *settings, int word_count, char **words);
} verbs[] = {
    {"create", "options alone", 0, 0, token_create},        {"delegate", "one FILE at most", 0, 1, token_hand_on},
    {"show", "one FILE at most", 0, 1, token_show},         {"list", "options alone", 0, 0, token_list},
    {"revoke", "the ids of tokens", 1, 1000, token_revoke}, {"code", "options alone", 0, 0, token_code},
};

static int fail_unknown_verb(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        nearest_try(&nearest, verbs[i].name);
    if (nearest.name)
        report("token: there is no command '%.60s'; did you mean '%s'?", name, nearest.name);
    else
        report("token: there is no command '%.60s'; the commands are create, delegate, show, list, revoke and code",
               name);
    return STATUS_BAD;
}

/* Puts the scopes of --role in the place of --scope; the text is in `scope`. */
static int role_take(struct token_settings *settings, struct buf *scope)
{
    const struct role_row *role;
    struct nearest nearest;

    if (!settings->role)
        return STATUS_DONE;
    if (settings->scope) {
        report("--role and --scope cannot be used together");
        return STATUS_BAD;
    }
    role = role_named(settings->role, strlen(settings->role));
    if (!role) {
        nearest_init(&nearest, settings->role, strlen(settings->role));
        for (role = roles; role->name; role++)
            nearest_try(&nearest, role->name);
        report("--role: there is no role '%.60s'%s%s%s; `berth help roles` lists them", settings->role,
               nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
        return STATUS_BAD;
    }
    scopes_print(scope, role->scope);
    settings->scope = buf_string(scope);
    return STATUS_DONE;
}

static int verb_run(const struct verb *verb, const struct token_settings *given, int word_count, char **words)
{
    struct token_settings settings = *given;
    struct buf scope;
    int status;

    buf_init(&scope);
    status = role_take(&settings, &scope);
    if (status == STATUS_DONE)
        status = verb->run(&settings, word_count, words);
    buf_done(&scope);
    return status;
}

static int token_run(const void *given, int word_count, char **words)
{
    if (!word_count) {
        report("token wants: create, delegate, show, list, revoke or code");
        return STATUS_BAD;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, words[0]) != 0)
            continue;
        if (word_count - 1 < verbs[i].low || word_count - 1 > verbs[i].high) {
            report("token %s wants %s", verbs[i].name, verbs[i].wants);
            return STATUS_BAD;
        }
        return verb_run(&verbs[i], given, word_count - 1, words + 1);
    }
    return fail_unknown_verb(words[0]);
}

const struct command command_token = {
    .name = "token",
    .summary = "make, narrow, list and revoke tokens; codes for machines",
    .usage =
        "create [OPTIONS]\ndelegate [OPTIONS] [FILE]\nshow [--json] [FILE]\nlist [OPTIONS]\nrevoke ID|SUBJECT...\ncode [--customer NAME [--serve] | --user NAME] [--json]\ncode --standby [--json]",
    .about =
        "A token says who its holder is and what they may do in a pool, until when. It is kept in a file that only its owner "
        "may read, with the pool's address and certificate; `--token FILE` and $BERTH_TOKEN show it to a pool. A file that was "
        "made by way of standard output must be given such a mode: chmod 600 FILE.\n"
        "\n"
        "`create` asks the pool for one, which administrators may. `delegate` makes a narrower one from a token file, and asks "
        "nobody: less scope, a shorter life, for a part of its subject. The file holds a fresh key with which the token can be "
        "handed on again, unless --no-delegation is given. `show` tells what a token file says. `list` prints the tokens that "
        "the pool has made, `revoke` ends some of them, or all of a subject, and all that were delegated from those. `code` prints a code with "
        "which a machine joins the pool, once, within an hour: as a provider, or with --customer NAME as the place where that "
        "user submits jobs, or with --standby as another matchmaker, which stands by (`berth matchmaker --standby CODE`).\n"
        "\n"
        "The scopes: ad:read ad:write job:submit job:own job:any claim match config serve operate audit admin job:read job:modify job:cancel. `berth help roles` says what "
        "each is for, and names the sets that go by the name of a role. Whoever has not `admin` makes no token with a scope that its own does "
        "not have.",
    .examples = {{"berth token create --subject alice --scope \"ad:read match\" -o a.token", NULL},
                 {"berth token delegate --scope ad:read --lifetime 1h -o b.token a.token", NULL},
                 {"berth token show b.token", NULL},
                 {"berth token list -c '!Revoked'", NULL}},
    .options = token_options,
    .option_count = sizeof token_options / sizeof *token_options,
    .settings_size = sizeof(struct token_settings),
    .defaults = &token_defaults,
    .run = token_run,
};
