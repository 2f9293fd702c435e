/* login.c: berth login: a person gets a token for the pool, which commands find and renew by themselves.
 *
 *     berth login CODE    the code of an administrator (`berth token code --user NAME`) -> STATE/token
 *     berth login --issuer URL, --institute FILE    the identity of an institute, and a token of the pool for it -> STATE/token
 *     berth login         who one is now: by that token, by a socket of this machine, or by the word of a submit host */
#include "cli/admin/login.h"

#include "cli/admin/institute.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <string.h>

struct login_settings {
    struct connection_options pool;
    const char *code_file, *institute_file;
    struct institute institute;
    bool json;
};

#define S struct login_settings
static const struct option login_options[] = {
    {0, "code-file", "FILE",
     "the file that the code is in, so that nobody sees it in the list of processes; `-`: the standard input",
     option_text, offsetof(S, code_file)},
    {0, "issuer", "URL",
     "log in at that issuer of an institute, which the pool knows: an address and a code are shown for any browser",
     option_text, offsetof(S, institute.issuer)},
    {0, "client", "ID", "what the issuer knows this program as (default: berth)", option_text,
     offsetof(S, institute.client)},
    {0, "ask", "SCOPES",
     "the scopes that the issuer is asked for (default: openid compute.read compute.create compute.modify compute.cancel)",
     option_text, offsetof(S, institute.scope)},
    {0, "issuer-ca", "FILE", "the certificates that the issuer's is checked against, if not the system's", option_file,
     offsetof(S, institute.ca)},
    {0, "institute", "FILE", "a token that an institute has given already; `-`: the standard input", option_file,
     offsetof(S, institute_file)},
    {0, "json", NULL, "without a code: who one is, as one JSON object", option_flag, offsetof(S, json)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct login_settings login_defaults = {
    .institute = {.client = "berth", .scope = "openid compute.read compute.create compute.modify compute.cancel"}};

int login_keep(const char *state, const struct redeemed *redeemed)
{
    struct err err = {0};
    struct grant grant;
    struct buf path;
    int status = STATUS_BAD;

    buf_init(&path);
    buf_addf(&path, "%s/token", state);
    if (folder_make(state) == 0) {
        if (token_file_write(buf_string(&path), &redeemed->file, &err) < 0) {
            report("%s", err.text);
        } else if (token_read(redeemed->file.token, strlen(redeemed->file.token), &grant) == TOKEN_OK) {
            struct buf out;

            buf_init(&out);
            buf_addf(&out, "You are %s in the pool at %s.\nThe token is %s; commands find it there%s.\n",
                     redeemed->subject, redeemed->file.pool, buf_string(&path),
                     redeemed->bounded ? "; it ends with that of the institute" : ", and renew it");
            output_write(&out);
            buf_done(&out);
            status = STATUS_DONE;
        }
    }
    buf_done(&path);
    return status;
}

static int login_by_code(const struct login_settings *settings, const char *word, const char *file)
{
    struct redeemed redeemed;
    struct join_code code;
    struct config config;
    int status = redeem_code_read(word, file, &code);

    if (status != STATUS_DONE)
        return status;
    status = redeem(&code, &settings->pool.config, NULL, &redeemed);
    join_code_done(&code);
    if (status == STATUS_DONE && redeemed.for_whom != REDEEMED_PERSON) {
        report(
            "this code was for %s: `berth join CODE` takes such a code; ask for another one (`berth token code --user NAME`)",
            redeemed.for_whom == REDEEMED_MACHINE ? "a machine" : "a customer");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE && config_options_load(&settings->pool.config, &config) < 0)
        status = STATUS_BAD;
    else if (status == STATUS_DONE) {
        status = login_keep(config_text(&config, CONFIG_STATE), &redeemed);
        config_done(&config);
    }
    redeemed_done(&redeemed);
    return status;
}

static int login_by_institute(const struct login_settings *settings)
{
    struct redeemed redeemed;
    struct config config;
    struct buf token;
    int status;

    buf_init(&token);
    status = settings->institute_file ? institute_read(settings->institute_file, &token)
                                      : institute_ask(&settings->institute, &token);
    if (status == STATUS_DONE) {
        status = institute_exchange(&settings->pool, buf_string(&token), &redeemed);
        if (status == STATUS_DONE && config_options_load(&settings->pool.config, &config) < 0) {
            status = STATUS_BAD;
        } else if (status == STATUS_DONE) {
            status = login_keep(config_text(&config, CONFIG_STATE), &redeemed);
            config_done(&config);
        }
        redeemed_done(&redeemed);
    }
    buf_wipe(&token);
    return status;
}

static int login_show(const struct login_settings *settings)
{
    static const struct table_column columns[] = {
        {"user", "Subject", CELL_VALUE}, {"scope", "Scope", CELL_VALUE}, {"until", "Expires", CELL_UNTIL}};
    struct tree *ad = NULL;
    struct connection pool;
    struct rows rows;
    int status = connection_open(&pool, &settings->pool);

    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &(struct connection_ask){.path = "/v1/whoami"}, &ad);
    if (status == STATUS_DONE && settings->json) {
        rows_init(&rows, ROWS_JSON, columns, 3);
        rows_add(&rows, ad);
        rows_finish(&rows);
        rows_done(&rows);
    } else if (status == STATUS_DONE) {
        const struct connection_place *place = &pool.places[pool.at];
        struct buf out;

        buf_init(&out);
        buf_adds(&out, "You are ");
        cell_print(&out, ad, "Subject", CELL_VALUE, 0);
        buf_addf(&out, " in the pool at %s, by %s%s.\nYou may: ", place->socket ? place->socket : place->url,
                 place->socket && !pool.token_named ? "the word of this machine" : "the token ",
                 place->socket && !pool.token_named ? ""
                 : pool.token_name                  ? pool.token_name
                                                    : "?");
        cell_print(&out, ad, "Scope", CELL_VALUE, 0);
        buf_addc(&out, '\n');
        output_write(&out);
        buf_done(&out);
    }
    tree_unref(ad);
    connection_close(&pool);
    return status;
}

static int login_run(const void *given, int word_count, char **words)
{
    const struct login_settings *settings = given;
    const char *file = settings->code_file                         ? settings->code_file
                       : word_count == 1 && !strcmp(words[0], "-") ? "-"
                                                                   : NULL;

    if (word_count > 1 || (word_count && settings->code_file)) {
        report("login takes one CODE, as `berth token code --user NAME` prints it, or none");
        return STATUS_BAD;
    }
    if (settings->institute.issuer || settings->institute_file) {
        if (word_count || file || (settings->institute.issuer && settings->institute_file)) {
            report("login takes one of a CODE, --issuer and --institute");
            return STATUS_BAD;
        }
        return login_by_institute(settings);
    }
    return word_count || file ? login_by_code(settings, word_count ? words[0] : NULL, file) : login_show(settings);
}

const struct command command_login = {
    .name = "login",
    .summary = "log in to a pool by a code or an institute, or show who one is",
    .usage = "[OPTIONS] [CODE|-]",
    .about =
        "With a code that an administrator has made (`berth token code --user NAME`; it is good once, within an hour), it gets a "
        "token for that user, keeps it in STATE/token, and from then on all commands use it. It lasts 30 days, and every command "
        "that is typed in the second half of them renews it. Words on a command line are seen by all who may list processes: `-` "
        "reads the code from the standard input, --code-file from a file.\n"
        "\n"
        "With --issuer one logs in at an institute that the pool takes tokens of (the setting Issuers): it shows an address and a code, "
        "waits until that code was entered in a browser, on whatever machine, and gets a token of the pool for the institute's. "
        "--institute does so with a token that is there already. Such a token of the pool ends when the institute's does.\n"
        "\n"
        "Without a code it says who one is in the pool, and what one may do there. Where a pool of one's own runs, or on a submit "
        "host, no login is needed: the machine itself says who one is.",
    .examples = {{"berth login berth-AWJx...", NULL}, {"berth login", "You are alice in the pool at https://..."}},
    .options = login_options,
    .option_count = sizeof login_options / sizeof *login_options,
    .settings_size = sizeof(struct login_settings),
    .defaults = &login_defaults,
    .run = login_run,
};
