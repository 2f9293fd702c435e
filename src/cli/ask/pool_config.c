/* pool_config.c: berth config --served: what a pool has configured for its agents, from the first source that answers.
 *
 * The sources are the setting ConfigSources, files and URLs; what a URL answered is kept in the state folder, and used when no source answers.
 * Without that setting the pool itself is asked. */
#include "cli/ask/pool_config.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "live/config/sources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH "/v1/config"

/* Fetches a section from a source: URL is BASE/v1/config/..., and BASE is a pool. */
static unsigned fetch(void *user, const char *url, const char *etag, struct buf *body, struct buf *ret_etag)
{
    struct connection_options options = *(const struct connection_options *)user;
    const char *path = strstr(url, PATH);
    struct fetched fetched;
    char base[1024];
    struct connection pool;
    unsigned status = 0;

    (void)etag;
    if (!path || path == url || (size_t)(path - url) >= sizeof base) {
        report("%.200s: a source is a file, or the URL of a matchmaker with %s behind it", url, PATH);
        return 0;
    }
    snprintf(base, sizeof base, "%.*s", (int)(path - url), url);
    options.url = base;
    if (connection_open(&pool, &options) == STATUS_DONE) {
        struct connection_ask ask = {.path = path, .may_miss = true};
        int result = connection_fetch(&pool, &ask, &fetched);

        status = result == STATUS_DONE ? 200 : result == STATUS_NO ? 404 : 0;
        if (result == STATUS_DONE) {
            buf_add(body, fetched.body.text, fetched.body.len);
            buf_adds(ret_etag, fetched.etag ? fetched.etag : "");
            fetched_done(&fetched);
        }
    }
    connection_close(&pool);
    return status;
}

/* Asks the pool itself. */
static int ask_pool(const struct connection_options *options, const char *section, const char *option)
{
    char path[2 * SOURCES_NAME_MAX + 32];
    struct fetched fetched;
    struct connection pool;
    int status;

    snprintf(path, sizeof path, PATH "/%s%s%s", section, option ? "/" : "", option ? option : "");
    status = connection_open(&pool, options);
    if (status == STATUS_DONE)
        status = connection_fetch(&pool, &(struct connection_ask){.path = path, .may_miss = true, .about = section},
                                  &fetched);
    if (status == STATUS_DONE) {
        output_write(&fetched.body);
        fetched_done(&fetched);
    }
    connection_close(&pool);
    return status;
}

static int ask_sources(const struct connection_options *options, const struct config *config, const char *section,
                       const char *option)
{
    struct sources_answer answer;
    struct err err = {0};
    char folder[PATH_MAX];
    const char *const *places;
    enum sources_step step;
    size_t count;

    places = config_list(config, CONFIG_CONFIG_SOURCES, &count);
    snprintf(folder, sizeof folder, "%s/served", config_text(config, CONFIG_STATE));
    sources_answer_init(&answer);
    step = sources_get(places, count, section, option, folder, fetch, (void *)options, &answer, &err);
    if (step == SOURCES_FOUND) {
        if (answer.kept)
            report("no source answers: this is what %s said last", buf_string(&answer.source));
        if (!answer.text.len || answer.text.text[answer.text.len - 1] != '\n')
            buf_addc(&answer.text, '\n');
        output_write(&answer.text);
    } else if (step == SOURCES_NONE) {
        report("%s%s%s: there is no such thing", section, option ? "/" : "", option ? option : "");
    } else {
        report("%s", *err.text ? err.text : "no source answers, and nothing was kept");
    }
    sources_answer_done(&answer);
    return step == SOURCES_FOUND ? STATUS_DONE : step == SOURCES_NONE ? STATUS_NO : STATUS_UNREACHABLE;
}

int pool_config_print(const struct connection_options *options, const char *what)
{
    char section[SOURCES_NAME_MAX + 1], option[SOURCES_NAME_MAX + 1] = "";
    const char *slash = strchr(what, '/');
    size_t len = slash ? (size_t)(slash - what) : strlen(what), count;
    struct config config;
    int status;

    if (!len || len > SOURCES_NAME_MAX || (slash && (!slash[1] || strlen(slash + 1) > SOURCES_NAME_MAX))) {
        report("--served wants SECTION or SECTION/OPTION");
        return STATUS_BAD;
    }
    snprintf(section, sizeof section, "%.*s", (int)len, what);
    if (slash)
        snprintf(option, sizeof option, "%s", slash + 1);
    if (config_options_load(&options->config, &config) < 0)
        return STATUS_BAD;
    config_list(&config, CONFIG_CONFIG_SOURCES, &count);
    status = count ? ask_sources(options, &config, section, slash ? option : NULL)
                   : ask_pool(options, section, slash ? option : NULL);
    config_done(&config);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- agents at their start */

static const char *text_keep(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* Settings that say what of this machine is open to whom, and which of its files and programs are used. Whoever may write the pool's configuration
 * does not become who owns its machines: these are not taken from a pool. */
static const enum config_key own_keys[] = {
    CONFIG_STATE,          CONFIG_LISTEN,           CONFIG_TLS,
    CONFIG_ALLOW_PLAIN,    CONFIG_MATCHMAKERS,      CONFIG_CONFIG_SOURCES,
    CONFIG_SUBMIT_FOR,     CONFIG_SUBMIT_SOCKET,    CONFIG_SUBMIT_DOMAIN,
    CONFIG_OWNER_POLICY,   CONFIG_PROBES,           CONFIG_POOLS,
    CONFIG_ISSUERS,        CONFIG_CATALOGUE_TOKENS, CONFIG_STORE_FOLDERS,
    CONFIG_STORE_OWNERS,   CONFIG_TRANSFER_KEY,     CONFIG_TRANSFER_KNOWN_HOSTS,
    CONFIG_TRANSFER_USER,  CONFIG_TRANSFER_TOKENS,  CONFIG_TRANSFER_CA,
    CONFIG_UNPROTECTED,    CONFIG_HEALTH_CHECK,     CONFIG_URL_CLIENTS,
    CONFIG_EXEC,           CONFIG_URL_PUT_CLIENTS,  CONFIG_STORE,
    CONFIG_CUSTOMER_FILES,
};

static bool is_own(int key)
{
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++)
        if ((int)own_keys[i] == key)
            return true;
    return false;
}

/* Adds one setting, unless the user has set it. `remote`: a pool says so, and no file of this machine. */
static void setting_add(struct config_options *ret, const struct config *config, const struct tree *ad,
                        const struct expr *part, bool remote, struct arena *arena)
{
    struct config_option *item = &ret->items[ret->count];
    const char *name;
    struct buf text;
    size_t len;
    int key;

    name = symbols_text(ad->symbols, part->label, &len);
    key = config_find(name, len);
    if (key < 0) {
        report("the pool has configured %.48s for its agents, which is not a setting: ignored", name);
        return;
    }
    if (remote && is_own(key)) {
        report("the pool has configured %s for its agents, which only a machine's own configuration says: ignored",
               config_row((enum config_key)key)->name);
        return;
    }
    if (ret->count == CONFIG_OPTIONS_MAX || strcmp(config->values[key].from, "default") != 0)
        return;
    buf_init(&text);
    print_expr(&text, ad, part, PRINT_PLAIN);
    snprintf(item->flag, sizeof item->flag, "ConfigSources");
    snprintf(item->key, sizeof item->key, "%s", config_row((enum config_key)key)->name);
    item->value = text_keep(arena, buf_string(&text), text.len);
    ret->count++;
    buf_done(&text);
}

static void settings_add(struct config_options *ret, const struct config *config, struct sources_answer *answer,
                         struct arena *arena)
{
    bool remote = answer->kept || strstr(buf_string(&answer->source), "://");
    const struct buf *text = &answer->text;
    struct symbols *symbols = names_new(1);
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text->text, text->len, &err);

    if (!ad || !tree_is_ad(ad))
        report("what the pool has configured for its agents cannot be read: %s", err.text);
    else
        for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++)
            setting_add(ret, config, ad, &tree_parts(ad, tree_root(ad))[i], remote, arena);
    tree_unref(ad);
    symbols_free(symbols);
}

/* Asks the sources; true when one of them has given a configuration. */
static bool served_ask(const struct config_options *options, const char *role, const struct config *config,
                       struct sources_answer *ret)
{
    struct connection_options pool = {.config = *options};
    struct err err = {0};
    char folder[PATH_MAX], token[PATH_MAX];
    size_t count;
    const char *const *places = config_list(config, CONFIG_CONFIG_SOURCES, &count);
    enum sources_step step;

    if (!count)
        return false;
    snprintf(folder, sizeof folder, "%.4000s/served", config_text(config, CONFIG_STATE));
    snprintf(token, sizeof token, "%.4000s/%s/token", config_text(config, CONFIG_STATE), role);
    pool.token = access(token, R_OK) == 0 ? token : NULL;
    step = sources_get(places, count, SERVED_SECTION, NULL, folder, fetch, &pool, ret, &err);
    if (step == SOURCES_LOST)
        report("no source of ConfigSources answers, and nothing was kept: its own settings hold");
    return step == SOURCES_FOUND;
}

int agent_config_load(const struct config_options *options, const char *role, struct config *ret,
                      struct config_options *ret_all, struct arena *arena)
{
    struct sources_answer answer;
    int loaded = config_options_load(options, ret);

    *ret_all = *options;
    if (loaded < 0)
        return -1;
    sources_answer_init(&answer);
    if (served_ask(options, role, ret, &answer)) {
        ret_all->count = 0;
        settings_add(ret_all, ret, &answer, arena);
        for (size_t i = 0; i < options->count && ret_all->count < CONFIG_OPTIONS_MAX; i++)
            ret_all->items[ret_all->count++] = options->items[i];
        config_done(ret);
        loaded = config_options_load(ret_all, ret);
    }
    sources_answer_done(&answer);
    return loaded;
}
