/* served.c: berth config --served: what a pool has configured for its agents, from the first source that answers.
 *
 * The sources are the setting ConfigSources, files and URLs; what a URL answered is kept in the state folder, and used when none of them
 * answers. Without that setting the pool itself is asked. */
#include "cli/served.h"

#include "cli/command.h"
#include "cli/file.h"
#include "cli/report.h"
#include "net/sources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PATH "/v1/config"

/* Where it is: URL is BASE/v1/config/..., and BASE is a pool. */
static unsigned fetch(void *user, const char *url, const char *etag, struct buf *body, struct buf *ret_etag)
{
    struct pool_options options = *(const struct pool_options *)user;
    const char *path = strstr(url, PATH);
    struct fetched fetched;
    char base[1024];
    struct pool pool;
    unsigned status = 0;

    (void)etag;
    if (!path || path == url || (size_t)(path - url) >= sizeof base) {
        report("%.200s: a source is a file, or the URL of a matchmaker with %s behind it", url, PATH);
        return 0;
    }
    snprintf(base, sizeof base, "%.*s", (int)(path - url), url);
    options.url = base;
    if (pool_open(&pool, &options) == STATUS_DONE) {
        struct pool_ask ask = {.path = path, .may_miss = true};
        int result = pool_fetch(&pool, &ask, &fetched);

        status = result == STATUS_DONE ? 200 : result == STATUS_NO ? 404 : 0;
        if (result == STATUS_DONE) {
            buf_add(body, fetched.body.text, fetched.body.len);
            buf_adds(ret_etag, fetched.etag ? fetched.etag : "");
            fetched_done(&fetched);
        }
    }
    pool_close(&pool);
    return status;
}

/* From the pool itself. */
static int ask_pool(const struct pool_options *options, const char *section, const char *option)
{
    char path[2 * SOURCES_NAME_MAX + 32];
    struct fetched fetched;
    struct pool pool;
    int status;

    snprintf(path, sizeof path, PATH "/%s%s%s", section, option ? "/" : "", option ? option : "");
    status = pool_open(&pool, options);
    if (status == STATUS_DONE)
        status = pool_fetch(&pool, &(struct pool_ask){.path = path, .may_miss = true, .about = section}, &fetched);
    if (status == STATUS_DONE) {
        output_write(&fetched.body);
        fetched_done(&fetched);
    }
    pool_close(&pool);
    return status;
}

static int ask_sources(const struct pool_options *options, const struct config *config, const char *section,
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

int served_print(const struct pool_options *options, const char *what)
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
