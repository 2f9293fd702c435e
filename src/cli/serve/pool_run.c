/* pool_run.c: berth pool: runs a whole pool on this machine: the matchmaker, a customer and a provider, each a process of its own.
 *
 *     berth pool --+-- berth matchmaker     first; the others want tokens from it
 *                  +-- berth customer       STATE/customer
 *                  `-- berth provider       STATE/provider
 *
 * All three are this same program with the same state folder, each with its log in STATE/log. They are ended in the opposite order. */
#include "cli/ask/connection.h"
#include "cli/ask/token_ask.h"
#include "cli/serve/supervise.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "exec/guard.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_MAX 3900 /* bytes of a folder's name that a log can be beneath */
#define STATE_MAX 960   /* bytes of the state folder's name: sockets are beneath it, whose paths have 1023 at most */
#define TICK 50         /* milliseconds between looks while a role is to come up; then ten times as long */
#define ROLE_PATIENCE \
    10000 /* milliseconds: a role that takes longer to answer does not keep us from saying that the pool is up */
#define TOKEN_SPAN (INT64_C(30) * 86400)    /* seconds that the roles' tokens last ... */
#define TOKEN_RENEWED (INT64_C(10) * 86400) /* ... and how long before their end they are renewed */
#define SCOPE_WORDS_MAX 128
#define TOKEN_LOOK (INT64_C(3600) * 1000) /* milliseconds between looks at the tokens */

struct pool_run_settings {
    struct config_options config;
    bool no_provider, verbose, quiet;
};

#define S struct pool_run_settings
static const struct option pool_run_options[] = {
    CONFIG_OPTION_ROWS(S),
    {0, "no-provider", NULL, "do not offer this machine", option_flag, offsetof(S, no_provider)},
    {'v', "verbose", NULL, "all logs to standard error, not to files", option_flag, offsetof(S, verbose)},
    {'q', "quiet", NULL, "print nothing at the start", option_flag, offsetof(S, quiet)},
};
#undef S

static const struct pool_run_settings pool_run_defaults = {0};

enum { MATCHMAKER, CUSTOMER, PROVIDER, ROLES };

/* What is fixed for each role. */
static const struct {
    const char *name, *socket; /* beneath the state folder */
    const char *token, *scope; /* the token's folder there, and its scope; NULL: the role needs no token */
} role_rows[ROLES] = {
    {"matchmaker", "matchmaker.sock", NULL, NULL},
    {"customer", "customer/customer.sock", "customer", "ad:read ad:write claim job:submit job:own job:any"},
    {"provider", "provider/provider.sock", "provider", "ad:read ad:write claim"},
};

struct pool_run {
    const struct pool_run_settings *settings;
    const char *state;
    char sets[CONFIG_OPTIONS_MAX][640]; /* KEY=VALUE from the command line, as the roles get it behind --set */
    struct role roles[ROLES];
    bool wanted[ROLES];
    bool is_local;          /* no other machine can be part of the pool */
    struct connection pool; /* to the matchmaker, by its socket */
    int64_t token_look;
    bool tokens_good, told;
    sigset_t signals;
};

/* --------------------------------------------------------------------------------------------------------------- the lock */

/* Takes the lock, which is held as long as the process lives. */
static int lock_take(const char *state)
{
    char path[4096], pid[24] = "";
    int fd;

    snprintf(path, sizeof path, "%s/pool.lock", state);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        report("%s: %s", path, strerror(errno));
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        ssize_t got = read(fd, pid, sizeof pid - 1);

        pid[got > 0 ? strcspn(pid, "\n") : 0] = '\0';
        report("another pool runs with the state folder %s: its process is %s", state, *pid ? pid : "not known");
        close(fd);
        return -1;
    }
    snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || write(fd, pid, strlen(pid)) < 0)
        report("%s: %s", path, strerror(errno)); /* the lock holds all the same */
    return fd;
}

/* -------------------------------------------------------------------------------------------------------------- the roles */

/* Does the pool listen on this machine alone, and do the settings name no networks? */
static bool pool_is_local(const struct config *settings)
{
    size_t count;
    const char *const *items = config_list(settings, CONFIG_LISTEN, &count);

    for (size_t i = 0; i < count; i++)
        if (!config_address_is_local(items[i]))
            return false;
    config_list(settings, CONFIG_NETWORKS, &count);
    return count == 0;
}

/* Makes the arguments of a role. The settings go to all roles, except that where to listen is for the matchmaker only. */
static void role_arguments(struct pool_run *run, int which)
{
    const struct config_options *config = &run->settings->config;
    struct role *role = &run->roles[which];
    size_t count = 0;

    role->arguments[count++] = "--state";
    role->arguments[count++] = run->state;
    if (config->file) {
        role->arguments[count++] = "--config";
        role->arguments[count++] = config->file;
    }
    for (size_t i = 0; i < config->count; i++) {
        const struct config_option *item = &config->items[i];

        if (!strcasecmp(item->key, "State") || (which != MATCHMAKER && !strcasecmp(item->key, "Listen")))
            continue;
        snprintf(run->sets[i], sizeof run->sets[i], "%s=%s", item->key, item->value);
        role->arguments[count++] = "--set";
        role->arguments[count++] = run->sets[i];
    }
    if (which == MATCHMAKER) {
        role->arguments[count++] = "--quiet";
        if (run->is_local) { /* all agents are on this machine: they may call each other there */
            role->arguments[count++] = "--set";
            role->arguments[count++] = "Networks=127.0.0.0/8";
        }
    }
    role->without = which == MATCHMAKER ? NULL : "BERTH_LISTEN";
}

static int roles_init(struct pool_run *run)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "%s/log", run->state);
    if (!run->settings->verbose && folder_make(folder) < 0)
        return -1;
    for (int i = 0; i < ROLES; i++) {
        struct role *role = &run->roles[i];

        role->name = role_rows[i].name;
        snprintf(role->socket, sizeof role->socket, "%s/%s", run->state, role_rows[i].socket);
        if (!run->settings->verbose)
            snprintf(role->log, sizeof role->log, "%.*s/log/%s.log", FOLDER_MAX, run->state, role->name);
        role_arguments(run, i);
        role->once = i == MATCHMAKER; /* the others need it */
        run->wanted[i] = i != PROVIDER || !run->settings->no_provider;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- tokens */

/* What the role's token is to be good for. A customer for all users of the machine asks for machines in their names. */
static void role_scope(const struct pool_run *run, int which, char ret[SCOPE_WORDS_MAX])
{
    size_t others;

    config_list(&run->pool.config, CONFIG_SUBMIT_FOR, &others);
    snprintf(ret, SCOPE_WORDS_MAX, "%s%s", role_rows[which].scope, which == CUSTOMER && others ? " serve" : "");
}

/* Is the token there, from this pool, for those scopes, and good for a while? */
static bool token_lasts(const char *path, const char *pool_id, const char *scope)
{
    struct token_file file;
    struct grant grant;
    scopes wanted;
    bool lasts;

    if (access(path, F_OK) < 0 || token_file_read(path, &file, NULL) < 0)
        return false;
    lasts = token_read(file.token, strlen(file.token), &grant) == TOKEN_OK && !strcmp(grant.issuer, pool_id) &&
            scopes_read(scope, strlen(scope), &wanted) && grant.scope == wanted &&
            grant.expires - time(NULL) > TOKEN_RENEWED;
    token_file_done(&file);
    return lasts;
}

static int token_renew(struct pool_run *run, int which, const char *scope, const char *path)
{
    struct token_wish wish = {.scope = scope, .lifetime = TOKEN_SPAN};
    char subject[80] = "machine/", folder[4096];
    struct token_file file;
    struct err err = {0};
    int status;

    snprintf(folder, sizeof folder, "%s/%s", run->state, role_rows[which].token);
    if (folder_make(folder) < 0)
        return -1;
    if (which == PROVIDER) {
        size_t len = strlen(subject);

        machine_name(NULL, subject + len);
        wish.subject = subject;
    }
    status = token_ask(&run->pool, &wish, &file);
    if (status == STATUS_DONE && token_file_write(path, &file, &err) < 0) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    token_file_done(&file);
    return status == STATUS_DONE ? 0 : -1;
}

/* Makes the tokens that are missing or end soon. */
static int tokens_tend(struct pool_run *run)
{
    struct tree *keys = NULL;
    const char *text;
    char id[TOKEN_ID_DIGITS + 1] = "", path[4096], scope[SCOPE_WORDS_MAX];
    size_t len;
    int result = 0;

    if (connection_fetch_ad(&run->pool, &(struct connection_ask){.path = "/v1/keys"}, &keys) != STATUS_DONE)
        return -1;
    if (ad_string(keys, "PoolId", &text, &len) && len == TOKEN_ID_DIGITS)
        memcpy(id, text, len);
    tree_unref(keys);
    for (int i = 0; i < ROLES && result == 0; i++) {
        if (!run->wanted[i] || !role_rows[i].token)
            continue;
        snprintf(path, sizeof path, "%s/%s/token", run->state, role_rows[i].token);
        role_scope(run, i, scope);
        if (!token_lasts(path, id, scope))
            result = token_renew(run, i, scope, path);
    }
    return result;
}

/* -------------------------------------------------------------------------------------------------------------- telling */

static bool listens_elsewhere(const struct pool_run *run)
{
    const char *const *addresses;
    struct config config;
    size_t count;
    bool elsewhere = false;

    if (config_options_load(&run->settings->config, &config) < 0)
        return false;
    addresses = config_list(&config, CONFIG_LISTEN, &count);
    for (size_t i = 0; i < count; i++)
        elsewhere = elsewhere || !config_address_is_local(addresses[i]);
    config_done(&config);
    return elsewhere;
}

static bool state_is_named(const struct pool_run *run)
{
    for (size_t i = 0; i < run->settings->config.count; i++)
        if (!strcasecmp(run->settings->config.items[i].key, "State"))
            return true;
    return false;
}

/* A line for a role: its process and its log; or that it did not start, and why. */
static void role_print(struct buf *out, const struct role *role)
{
    buf_addf(out, "  %-12s ", role->name);
    if (role->pid)
        buf_addf(out, "process %d", (int)role->pid);
    else
        buf_addf(out, "%s%s%s", role->was_up ? "has ended" : "did not start", *role->words ? ": " : "", role->words);
    buf_addf(out, "%s%s\n", *role->log ? ", log " : "", role->log);
}

/* Prints where the pool is, and what to type next. */
static void tell_up(struct pool_run *run)
{
    struct tree *status = NULL, *code = NULL, *link = NULL;
    struct buf out;

    buf_init(&out);
    buf_adds(&out, "Berth pool is up");
    for (int i = 0; i < ROLES; i++)
        if (run->wanted[i] && !run->roles[i].pid)
            buf_addf(&out, ", but for its %s", run->roles[i].name);
    if (connection_fetch_ad(&run->pool, &(struct connection_ask){.path = "/v1/status"}, &status) == STATUS_DONE) {
        buf_adds(&out, ": ");
        cell_print(&out, status, "Url", CELL_VALUE, 0);
    }
    buf_addc(&out, '\n');
    for (int i = 0; i < ROLES; i++)
        if (run->wanted[i])
            role_print(&out, &run->roles[i]);
    buf_addc(&out, '\n');
    if (state_is_named(run))
        buf_addf(&out, "First, in another shell:  export BERTH_STATE=%s\n", run->state);
    buf_adds(&out, "Run something:            berth run -- hostname\n"
                   "Submit jobs, watch them:  berth submit job.ad; berth jobs --watch\n"
                   "The pool:                 berth status; berth ads\n");
    if (connection_fetch_ad(&run->pool, &(struct connection_ask){.method = "POST", .path = "/v1/links"}, &link) ==
        STATUS_DONE) {
        buf_adds(&out, "In a browser:             ");
        cell_print(&out, link, "Link", CELL_VALUE, 0);
        buf_adds(&out,
                 "\n                          (signed in; once, within ten minutes; `berth page` makes another)\n");
    }
    if (listens_elsewhere(run) &&
        connection_fetch_ad(&run->pool, &(struct connection_ask){.method = "POST", .path = "/v1/codes"}, &code) ==
            STATUS_DONE) {
        buf_adds(&out, "Another machine:          berth join ");
        cell_print(&out, code, "Code", CELL_VALUE, 0);
        buf_adds(&out, "\n                          (once, within an hour; `berth token code` makes another)\n");
    } else {
        buf_adds(&out, "Other machines:           start it with --listen 0.0.0.0:7600 to let them join\n");
    }
    buf_adds(&out, "To end it:                Ctrl-C\n");
    output_write(&out);
    output_flush();
    tree_unref(status);
    tree_unref(code);
    tree_unref(link);
    buf_done(&out);
}

/* -------------------------------------------------------------------------------------------------------------- running */

/* The signal that came within that time; 0: none, or only one from a child. */
static int signal_wait(const struct pool_run *run, int64_t milliseconds)
{
    struct timespec span = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    int number = sigtimedwait(&run->signals, NULL, &span);

    return number > 0 && number != SIGCHLD ? number : 0;
}

/* Looks at everything once. -1: the pool cannot go on. */
static int run_tend(struct pool_run *run, int64_t now)
{
    bool all_up = true;

    for (int i = 0; i < ROLES; i++) {
        struct role *role = &run->roles[i];

        if (!run->wanted[i])
            continue;
        role_reap(role, now);
        if (role->once && !role->was_up && role->death_count)
            return -1;
        if (i == MATCHMAKER || run->tokens_good)
            role_tend(role, now);
        role_check(role);
        all_up = all_up && (role->up || role->given_up || role->death_count || now - role->started > ROLE_PATIENCE);
    }
    if (run->roles[MATCHMAKER].given_up)
        return -1;
    if (run->roles[MATCHMAKER].up && now >= run->token_look) {
        bool good = tokens_tend(run) == 0;

        run->tokens_good = run->tokens_good || good;
        run->token_look = now + (good ? TOKEN_LOOK : 5000);
        all_up = false;
    }
    if (all_up && !run->told && run->tokens_good) {
        run->told = true;
        if (!run->settings->quiet)
            tell_up(run);
    }
    return 0;
}

/* Ends the roles in the opposite order, each when the one before has ended; a second signal ends all at once. */
static void run_end(struct pool_run *run)
{
    bool at_once = false;

    if (run->wanted[PROVIDER] && run->roles[PROVIDER].pid)
        report("ending; jobs that run here go on, and are found again at the next start");
    for (int i = ROLES - 1; i >= 0; i--) {
        struct role *role = &run->roles[i];
        int64_t end = supervise_now() + ROLE_END_SPAN;

        role_end(role, at_once ? SIGKILL : SIGTERM);
        while (!role_reap_quietly(role)) {
            if (signal_wait(run, TICK))
                at_once = true;
            if (at_once || supervise_now() > end)
                role_end(role, SIGKILL);
        }
    }
}

static int run_loop(struct pool_run *run)
{
    int number = 0, result = 0;

    sigemptyset(&run->signals);
    sigaddset(&run->signals, SIGTERM);
    sigaddset(&run->signals, SIGINT);
    sigaddset(&run->signals, SIGHUP);
    sigaddset(&run->signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &run->signals, NULL);
    while (!number && result == 0) {
        result = run_tend(run, supervise_now());
        if (result == 0)
            number = signal_wait(run, run->told ? 10 * TICK : TICK);
        if (number == SIGHUP) { /* passed on to the matchmaker, which reads the settings anew */
            role_end(&run->roles[MATCHMAKER], SIGHUP);
            number = 0;
        }
    }
    run_end(run);
    return result == 0 ? STATUS_DONE : STATUS_BAD;
}

static int pool_run_state(const struct pool_run_settings *settings, const char *state, bool is_local)
{
    struct pool_run *run = mem_alloc(sizeof *run);
    struct connection_options options = {.config = settings->config};
    char url[4096 + 32];
    int lock, status = STATUS_BAD;

    *run = (struct pool_run){.settings = settings, .state = state, .is_local = is_local};
    if (strlen(state) > STATE_MAX) {
        report("the name of the state folder is too long (%zu bytes, at most %d): %s", strlen(state), STATE_MAX, state);
        free(run);
        return STATUS_BAD;
    }
    snprintf(url, sizeof url, "unix:%s/matchmaker.sock", state);
    options.url = url;
    lock = lock_take(state);
    if (lock >= 0 && roles_init(run) == 0) {
        status = connection_open_stranger(&run->pool, &options);
        if (status == STATUS_DONE)
            status = run_loop(run);
        connection_close(&run->pool);
    }
    if (lock >= 0)
        close(lock);
    free(run);
    return status;
}

static int pool_run(const void *given, int word_count, char **words)
{
    const struct pool_run_settings *settings = given;
    struct config config;
    int status = STATUS_BAD;
    bool is_local;
    char *state;

    (void)words;
    if (word_count) {
        report("pool takes no arguments, only options");
        return STATUS_BAD;
    }
    guard_memory(); /* join codes that it prints and tokens that it makes pass through its memory */
    if (config_options_load(&settings->config, &config) < 0)
        return STATUS_BAD;
    /* The whole path, since what is printed is typed elsewhere. */
    state = folder_make_own(config_text(&config, CONFIG_STATE)) == 0
                ? realpath(config_text(&config, CONFIG_STATE), NULL)
                : NULL;
    is_local = pool_is_local(&config);
    config_done(&config);
    if (state)
        status = pool_run_state(settings, state, is_local);
    free(state);
    return status;
}

const struct command command_pool = {
    .name = "pool",
    .summary = "run a whole pool on this machine",
    .usage = "[OPTIONS]",
    .about =
        "Starts a matchmaker, a customer that takes jobs, and a provider that offers this machine, each as a process of its own "
        "with the same state folder, and keeps them running until it is told to end (Ctrl-C, SIGTERM): one that dies is started "
        "again, after a pause that grows. It makes the tokens that they need, and says what to type next. Their logs are in "
        "STATE/log.\n"
        "\n"
        "When it ends, the provider goes first, then the customer, then the matchmaker; jobs that run go on by themselves, and "
        "are found again at the next start. A second Ctrl-C ends all at once. Only one pool runs with a state folder.",
    .examples = {{"berth pool", NULL}, {"berth pool --listen 0.0.0.0:7600 --state /srv/berth", NULL}},
    .options = pool_run_options,
    .option_count = sizeof pool_run_options / sizeof *pool_run_options,
    .settings_size = sizeof(struct pool_run_settings),
    .defaults = &pool_run_defaults,
    .run = pool_run,
};
