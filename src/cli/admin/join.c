/* join.c: berth join: this machine joins a pool by a code (redeem.h), and then offers itself there, or is the customer of the user that the code is for.
 * The token is kept in STATE/provider/token or STATE/customer/token. */
#include "cli/admin/login.h"
#include "cli/ask/redeem.h"

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

static int token_keep(const char *state, const char *role, const char *also, const struct token_file *file,
                      struct buf *ret_path)
{
    struct err err = {0};
    struct buf folder;
    int status = STATUS_BAD;

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

static void tell_joined(const struct join_settings *settings, const char *state, const struct redeemed *redeemed,
                        const char *path)
{
    bool is_provider = redeemed->for_whom == REDEEMED_MACHINE, named = settings->pool.config.count;
    const char *option = named ? " --state " : "", *where = named ? state : "";
    struct buf out;

    buf_init(&out);
    buf_addf(&out,
             is_provider ? "This machine has joined the pool at %s as %s.\nIts token is %s\n"
                         : "This machine has joined the pool at %s as the customer of %s.\nIts token is %s\n",
             redeemed->file.pool, redeemed->subject, path);
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

/* The token is kept, and the role that it is for told; NULL: a person's, who starts nothing. */
static int join_pool(const struct join_settings *settings, const char *state, const struct join_code *code,
                     const char **ret_role)
{
    struct redeemed redeemed;
    struct buf path;
    int status = redeem(code, &settings->pool.config, settings->name, &redeemed);

    buf_init(&path);
    *ret_role = redeemed.for_whom == REDEEMED_MACHINE    ? "provider"
                : redeemed.for_whom == REDEEMED_CUSTOMER ? "customer"
                                                         : NULL;
    if (status == STATUS_DONE && !*ret_role) {
        status = login_keep(state, &redeemed);
    } else if (status == STATUS_DONE) {
        status = token_keep(state, *ret_role, settings->also, &redeemed.file, &path);
        if (status == STATUS_DONE)
            tell_joined(settings, state, &redeemed, buf_string(&path));
    }
    buf_done(&path);
    redeemed_done(&redeemed);
    return status;
}

static int join_run(const void *given, int word_count, char **words)
{
    const struct join_settings *settings = given;
    const char *file = settings->code_file                         ? settings->code_file
                       : word_count == 1 && !strcmp(words[0], "-") ? "-"
                                                                   : NULL;
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
    status = redeem_code_read(words[0], file, &code);
    if (status != STATUS_DONE || config_options_load(&settings->pool.config, &config) < 0)
        return STATUS_BAD;
    status = join_pool(settings, config_text(&config, CONFIG_STATE), &code, &role);
    join_code_done(&code);
    if (status == STATUS_DONE && role && !settings->only && !settings->also)
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
