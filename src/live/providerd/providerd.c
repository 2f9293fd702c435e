/* providerd.c: a provider, live: its agent, the machine's state, and what its role wants done. */
#include "live/providerd/providerd_parts.h"
#include "live/providerd/shells.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "sys/names.h"
#include "sys/secret_bundle.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRANSFER_THREADS "64" /* files under way: slow ones of some jobs must not keep those of others waiting */

void providerd_folder(const struct providerd *providerd, char *ret, size_t size, uint64_t claim, uint64_t number)
{
    snprintf(ret, size, "%.4000s/work/%016llx.%llu", providerd->daemon.folder, (unsigned long long)claim,
             (unsigned long long)number);
}

bool answer_is(const struct tree *answer, const char *reason)
{
    const char *text;
    size_t len;

    return ad_string(answer, "Reason", &text, &len) && len == strlen(reason) && !memcmp(text, reason, len);
}

/* ------------------------------------------------------------------------------------------------- what the role wants */

static void role_wants(void *user, const struct effect *effect)
{
    struct providerd *providerd = user;

    switch (effect->kind) {
    case EFFECT_JOB:
        task_launch(providerd, effect);
        tending_tick(providerd); /* if it came for one job only, the next is not to be let in */
        break;
    case EFFECT_DEADLINE:
        task_deadline(providerd, effect->claim, effect->at);
        break;
    case EFFECT_STOP:
        task_stop(providerd, effect->claim, effect->span);
        break;
    case EFFECT_SUSPEND:
        task_suspend(providerd, effect->claim, effect->span != 0);
        break;
    default:
        break;
    }
}

static void shelf_broke(void *user, const char *why)
{
    struct providerd *providerd = user;

    daemon_broken(&providerd->daemon, why);
}

static void news_came(void *user, const struct executor_news *news)
{
    struct providerd *providerd = user;

    if (health_told(providerd, news))
        return;
    if (providerd->booted)
        task_told(providerd, news);
    else
        task_found(providerd, news);
}

/* --------------------------------------------------------------------------------------------------------- the machine */

/* The machine's own address, as others call it; false: they do not. Processes of a parallel job find each other by it. */
static bool own_address(const struct providerd *providerd, char ret[ADDRESS_HOST_MAX + 1])
{
    const char *contact = agent_contact(providerd->live);
    struct url url;

    if (!contact || url_read(contact, strlen(contact), &url, NULL) < 0 || !*url.host)
        return false;
    snprintf(ret, ADDRESS_HOST_MAX + 1, "%.*s", ADDRESS_HOST_MAX, url.host);
    return true;
}

/* Adds to the machine's state what the settings say: the name by which others know it in the pool (Machine is that of its host), and which stores are
 * near. */
static struct tree *state_name(struct providerd *providerd, struct tree *state)
{
    const struct executor *executor = providerd->executor;
    const char *images[IMAGE_SORTS_MAX], *sources[SOURCES_MAX];
    char address[ADDRESS_HOST_MAX + 1];
    size_t count, image_count, source_count;
    const char *const *near = config_list(&providerd->daemon.config, CONFIG_CLOSE_STORAGE, &count);
    struct maker maker;
    struct tree *named;

    maker_init(&maker, providerd->daemon.symbols);
    maker_text(&maker, "Name", providerd->daemon.name);
    if (own_address(providerd, address) && !ad_find(state, "Address"))
        maker_text(&maker, "Address", address);
    maker_text(&maker, "Unwell", health_words(providerd));
    maker_integer(&maker, "TransferRoom", (int64_t)uploads_room(providerd));
    if (executor && executor->kind->takes_secrets && executor->kind->takes_secrets(executor))
        maker_flag(&maker, SECRET_MACHINE_ATTRIBUTE, true); /* jobs that have some are begun only where this is said */
    image_count = images_sorts(providerd, images);
    if (image_count)
        maker_texts(&maker, "Images", images, image_count);
    source_count = sources_now(providerd, sources);
    if (source_count)
        maker_texts(&maker, "ImageSources", sources, source_count);
    urlin_put(providerd, &maker);
    if (executor && executor->kind->shell && config_flag(&providerd->daemon.config, CONFIG_EXEC))
        maker_flag(&maker, "TakesExec", true);
    maker_parts(&maker, state, "Name");
    if (count && !ad_find(state, "CloseStorage"))
        maker_texts(&maker, "CloseStorage", near, count);
    named = maker_seal(&maker);
    tree_unref(state);
    return named;
}

void providerd_probe(struct providerd *providerd)
{
    struct tree *state;

    for (uint32_t i = 0; i < providerd->settings->offers; i++) {
        state = providerd->settings->probe
                    ? providerd->settings->probe(providerd->settings->user, providerd->daemon.symbols,
                                                 tasks_load(providerd))
                    : NULL;
        if (state) {
            ad_number(state, "Benchmark", &providerd->benchmark);
            state = state_name(providerd, state);
        } else {
            struct maker maker;

            maker_init(&maker, providerd->daemon.symbols);
            if (!providerd->executor) /* whoever leads a gang knows that its job does not run here */
                maker_flag(&maker, "Executes", false);
            state = maker_seal(&maker);
        }
        runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_PROBED, .claim = i, .ad = state});
        tree_unref(state);
    }
}

static void probe_due(uv_timer_t *timer)
{
    struct providerd *providerd = timer->data;

    providerd_probe(providerd);
    owners_policy_tick(providerd);
    if (providerd->drain.now)
        drain_tell(providerd);
}

static void tick_due(uv_timer_t *timer)
{
    struct providerd *providerd = timer->data;

    daemon_metrics_tick(&providerd->daemon, TICK_MS * MILLISECOND);
    tasks_tick(timer->data);
    images_tick(timer->data);
    provider_shells_tick(timer->data);
    beside_tick(timer->data);
    results_tick(timer->data);
    uploads_tick(timer->data);
    health_tick(timer->data);
    tending_tick(timer->data);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static int folders_make(struct providerd *providerd, struct err *err)
{
    static const char *const names[] = {"work", "cache", "claims", "images"};
    char path[DAEMON_PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%.4000s/%s", providerd->daemon.folder, names[i]);
        if (mkdir(path, 0711) < 0 && errno != EEXIST)
            return err_set(err, "%s: %s", path, strerror(errno));
    }
    snprintf(path, sizeof path, "%.4000s/cache", providerd->daemon.folder);
    cache_boot(path);
    return 0;
}

static int offers_make(struct providerd *providerd, struct err *err)
{
    const struct providerd_settings *settings = providerd->settings;
    const struct pool_entry *own = daemon_pool_own(&providerd->daemon);
    const struct pool_list *list = &providerd->daemon.list;
    char id[2 * TOKEN_NAME_MAX + 32];

    providerd->ids = mem_alloc((settings->offers + 1) * sizeof *providerd->ids);
    providerd->ads = mem_alloc((settings->offers + 1) * sizeof *providerd->ads);
    memset(providerd->ads, 0, (settings->offers + 1) * sizeof *providerd->ads);
    for (uint32_t i = 0; i < settings->offers; i++) {
        providerd->ads[i] = settings->offer(settings->user, providerd->daemon.symbols, i, err);
        if (!providerd->ads[i])
            return -1;
        snprintf(id, sizeof id, i ? "%s/%s.%u" : "%s/%s", providerd->daemon.identity, providerd->daemon.name, i);
        providerd->ids[i] = id_number(id, strlen(id));
    }
    providerd->provider = (struct provider_settings){
        .self = agent_self(providerd->daemon.identity, providerd->daemon.name),
        .matchmaker = own ? agent_pool_matchmaker(own->name) : agent_matchmaker(),
        .spans = &providerd->daemon.spans,
        .identity = providerd->daemon.identity,
        .ids = providerd->ids,
        .ads = providerd->ads,
        .count = settings->offers,
        .pools = providerd->pools,
        .pool_count = list->count      ? list->count
                      : settings->pull ? 1
                                       : 0,
    };
    providerd->pools[0] = (struct provider_pool){.matchmaker = agent_matchmaker()};
    for (uint32_t i = 0; i < list->count; i++)
        providerd->pools[i] = (struct provider_pool){.matchmaker = agent_pool_matchmaker(list->items[i].name),
                                                     .access = list->items[i].access,
                                                     .share = list->items[i].share};
    return 0;
}

/* Removes folders of jobs that neither run nor have anything to send, which a crash has left, and inputs that nobody wanted for a day. */
static void folders_sweep(struct providerd *providerd)
{
    char path[DAEMON_PATH_MAX], inner[DAEMON_PATH_MAX + 300];
    struct dirent *entry;
    struct err err;
    struct stat stat_of;
    DIR *dir;

    snprintf(path, sizeof path, "%.4000s/work", providerd->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        unsigned long long claim, number;

        if (sscanf(entry->d_name, "%16llx.%llu", &claim, &number) != 2 || task_is_here(providerd, claim, number) ||
            results_has(providerd, claim, number))
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        trash_take(providerd->trash, inner, &err);
    }
    if (dir)
        closedir(dir);
    snprintf(path, sizeof path, "%.4000s/cache", providerd->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (*entry->d_name == '.' || lstat(inner, &stat_of) < 0 ||
            stat_of.st_mtim.tv_sec + CACHE_LIFE >= runner_settled(agent_runner(providerd->live)) / SECOND)
            continue;
        if (S_ISDIR(stat_of.st_mode))
            trash_take(providerd->trash, inner, &err);
        else
            unlink(inner);
    }
    if (dir)
        closedir(dir);
}

static void sweep_due(uv_timer_t *timer)
{
    uploads_sweep(timer->data);
    folders_sweep(timer->data);
    providerd_sweep(timer->data);
}

static int trash_start(struct providerd *providerd, struct err *err)
{
    char path[DAEMON_PATH_MAX];

    snprintf(path, sizeof path, "%.4000s/trash", providerd->daemon.folder);
    providerd->trash = trash_new(path, err);
    return providerd->trash ? 0 : -1;
}

/* A newer process has taken our place: we drain, and what runs goes on. The drain does not outlast this process. */
static void providerd_superseded(void *user)
{
    struct providerd *providerd = user;

    runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_DRAIN});
}

static int providerd_start(struct providerd *providerd, struct err *err)
{
    const struct providerd_settings *settings = providerd->settings;
    struct agent_settings *ours = &providerd->daemon.agent;

    if (folders_make(providerd, err) < 0 || offers_make(providerd, err) < 0 || datain_open(providerd, err) < 0)
        return -1;
    if (drain_load(providerd, err) < 0 || trash_start(providerd, err) < 0)
        return -1;
    if (owners_policy_look(providerd, err) < 0)
        return -1;
    images_load(providerd);
    provider_metrics_begin(providerd);
    provider_calls(providerd, &providerd->calls);
    ours->other = &providerd->calls;
    ours->draining = providerd->drain.is;
    ours->role = &provider_role;
    ours->role_settings = &providerd->provider;
    ours->job = role_wants;
    ours->commanded = providerd_commanded;
    ours->asked = providerd_asked;
    ours->broken = shelf_broke;
    ours->superseded = providerd_superseded;
    ours->user = providerd;
    if (settings->executor) {
        providerd->executor = settings->executor(settings->user, &providerd->daemon.loop, news_came, providerd, err);
        if (!providerd->executor)
            return -1;
    }
    providerd->live = agent_new(&providerd->daemon.loop, ours, err);
    if (!providerd->live || !results_load(providerd, err) || uploads_load(providerd, err) < 0 ||
        (providerd->executor && providerd->executor->kind->find(providerd->executor, err) < 0))
        return -1;
    providerd_probe(providerd);
    drain_tell(providerd);
    providerd->booted = true;
    runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_BOOTED});
    runner_is_restored(agent_runner(providerd->live));
    folders_sweep(providerd);
    uploads_sweep(providerd);
    if (status_start(providerd, err) < 0)
        return -1;
    uv_timer_init(&providerd->daemon.loop, &providerd->tick);
    uv_timer_init(&providerd->daemon.loop, &providerd->probe);
    providerd->tick.data = providerd->probe.data = providerd;
    uv_timer_start(&providerd->tick, tick_due, TICK_MS, TICK_MS);
    uv_timer_start(&providerd->probe, probe_due, PROBE_MS, PROBE_MS);
    uv_timer_init(&providerd->daemon.loop, &providerd->sweep);
    providerd->sweep.data = providerd;
    uv_timer_start(&providerd->sweep, sweep_due, SWEEP_MS, SWEEP_MS);
    if (settings->up) {
        struct buf asks;

        buf_init(&asks);
        settings->up(settings->user, providerd->daemon.name,
                     daemon_pools_words(&providerd->daemon, providerd->live, &asks),
                     providerd->executor ? providerd->executor->kind->describe(providerd->executor) : "nothing is run");
        buf_done(&asks);
    }
    return 0;
}

static void providerd_done(struct providerd *providerd)
{
    uploads_stop(providerd);
    provider_shells_done(providerd);
    tasks_done(providerd);
    images_done(providerd);
    url_clients_done(providerd);
    health_check_done(&providerd->health.check);
    status_end(providerd);
    agent_free(providerd->live);
    gate_done(&providerd->calls_gate);
    owners_policy_done(providerd);
    beside_done(providerd);
    datain_close(providerd);
    results_done(providerd);
    uploads_done(providerd);
    if (providerd->executor)
        providerd->executor->kind->free(providerd->executor);
    for (uint32_t i = 0; providerd->ads && i < providerd->settings->offers; i++)
        tree_unref(providerd->ads[i]);
    free(providerd->ads);
    free(providerd->ids);
    trash_free(providerd->trash);
    if (providerd->settings->down)
        providerd->settings->down(providerd->settings->user);
    daemon_done(&providerd->daemon);
}

int providerd_run(const struct providerd_settings *settings, struct config *config, struct err *err)
{
    struct providerd *providerd = mem_alloc(sizeof *providerd);
    struct daemon_settings ours = {.role = settings->role,
                                   .name = settings->name,
                                   .listen = config_text(config, CONFIG_PROVIDER_LISTEN),
                                   .near = true,
                                   .pools = settings->pools,
                                   .version = settings->version,
                                   .sources = settings->sources,
                                   .shelf = settings->shelf,
                                   .log_fd = settings->log_fd};
    int status;

    memset(providerd, 0, sizeof *providerd);
    health_check_init(&providerd->health.check);
    providerd->settings = settings;
    setenv("UV_THREADPOOL_SIZE", TRANSFER_THREADS, 0); /* before the first of them begins */
    status = daemon_init(&providerd->daemon, &ours, config, err);
    if (settings->tend) {
        providerd->daemon.ending = tending_told;
        providerd->daemon.user = providerd;
    }
    if (status == 0)
        status = providerd_start(providerd, err);
    if (status == 0)
        status = daemon_run(&providerd->daemon, providerd->live);
    providerd_done(providerd);
    free(providerd);
    return status;
}
