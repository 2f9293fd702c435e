/* providerd.c: a provider, live: its agent, the machine's state, and what its role wants done. */
#include "live/providerd/providerd_parts.h"

#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/names.h"
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

void workshop_folder(const struct workshop *workshop, char *ret, size_t size, uint64_t claim, uint64_t number)
{
    snprintf(ret, size, "%.4000s/work/%016llx.%llu", workshop->daemon.folder, (unsigned long long)claim,
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
    struct workshop *workshop = user;

    switch (effect->kind) {
    case EFFECT_JOB:
        task_launch(workshop, effect);
        tending_tick(workshop); /* if it came for one job only, the next is not to be let in */
        break;
    case EFFECT_DEADLINE:
        task_deadline(workshop, effect->claim, effect->at);
        break;
    case EFFECT_STOP:
        task_stop(workshop, effect->claim, effect->span);
        break;
    case EFFECT_SUSPEND:
        task_suspend(workshop, effect->claim, effect->span != 0);
        break;
    default:
        break;
    }
}

static void shelf_broke(void *user, const char *why)
{
    struct workshop *workshop = user;

    daemon_broken(&workshop->daemon, why);
}

static void news_came(void *user, const struct executor_news *news)
{
    struct workshop *workshop = user;

    if (health_told(workshop, news))
        return;
    if (workshop->booted)
        task_told(workshop, news);
    else
        task_found(workshop, news);
}

/* --------------------------------------------------------------------------------------------------------- the machine */

/* Others know it by the name that it has in the pool; Machine is that of its host. Which stores are near, its settings say. */
static struct tree *state_name(struct workshop *workshop, struct tree *state)
{
    size_t count;
    const char *const *near = config_list(&workshop->daemon.config, CONFIG_CLOSE_STORAGE, &count);
    struct maker maker;
    struct tree *named;

    maker_init(&maker, workshop->daemon.symbols);
    maker_text(&maker, "Name", workshop->daemon.name);
    maker_text(&maker, "Unwell", health_words(workshop));
    maker_integer(&maker, "TransferRoom", (int64_t)shipments_room(workshop));
    maker_parts(&maker, state, "Name");
    if (count && !ad_find(state, "CloseStorage"))
        maker_texts(&maker, "CloseStorage", near, count);
    named = maker_seal(&maker);
    tree_unref(state);
    return named;
}

void workshop_probe(struct workshop *workshop)
{
    struct tree *state;

    for (uint32_t i = 0; i < workshop->settings->offers; i++) {
        state = workshop->settings->probe ? workshop->settings->probe(workshop->settings->user,
                                                                      workshop->daemon.symbols, tasks_load(workshop))
                                          : NULL;
        if (state) {
            state = state_name(workshop, state);
        } else {
            struct maker maker;

            maker_init(&maker, workshop->daemon.symbols);
            if (!workshop->executor) /* whoever leads a gang knows that its job does not run here */
                maker_flag(&maker, "Executes", false);
            state = maker_seal(&maker);
        }
        runner_event(agent_runner(workshop->live), &(struct event){.kind = EVENT_PROBED, .claim = i, .ad = state});
        tree_unref(state);
    }
}

static void probe_due(uv_timer_t *timer)
{
    struct workshop *workshop = timer->data;

    workshop_probe(workshop);
    if (workshop->drain.now)
        drain_tell(workshop);
}

static void tick_due(uv_timer_t *timer)
{
    tasks_tick(timer->data);
    outgoing_tick(timer->data);
    shipments_tick(timer->data);
    health_tick(timer->data);
    tending_tick(timer->data);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static int folders_make(struct workshop *workshop, struct err *err)
{
    static const char *const names[] = {"work", "cache", "claims"};
    char path[DAEMON_PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%.4000s/%s", workshop->daemon.folder, names[i]);
        if (mkdir(path, 0711) < 0 && errno != EEXIST)
            return err_set(err, "%s: %s", path, strerror(errno));
    }
    snprintf(path, sizeof path, "%.4000s/cache", workshop->daemon.folder);
    cache_boot(path);
    return 0;
}

static int offers_make(struct workshop *workshop, struct err *err)
{
    const struct workshop_settings *settings = workshop->settings;
    const struct pool_entry *own = daemon_pool_own(&workshop->daemon);
    const struct pool_list *list = &workshop->daemon.list;
    char id[2 * TOKEN_NAME_MAX + 32];

    workshop->ids = mem_alloc((settings->offers + 1) * sizeof *workshop->ids);
    workshop->ads = mem_alloc((settings->offers + 1) * sizeof *workshop->ads);
    memset(workshop->ads, 0, (settings->offers + 1) * sizeof *workshop->ads);
    for (uint32_t i = 0; i < settings->offers; i++) {
        workshop->ads[i] = settings->offer(settings->user, workshop->daemon.symbols, i, err);
        if (!workshop->ads[i])
            return -1;
        snprintf(id, sizeof id, i ? "%s/%s.%u" : "%s/%s", workshop->daemon.identity, workshop->daemon.name, i);
        workshop->ids[i] = id_number(id, strlen(id));
    }
    workshop->provider = (struct provider_settings){
        .self = agent_self(workshop->daemon.identity, workshop->daemon.name),
        .matchmaker = own ? agent_pool_matchmaker(own->name) : agent_matchmaker(),
        .spans = &workshop->daemon.spans,
        .identity = workshop->daemon.identity,
        .ids = workshop->ids,
        .ads = workshop->ads,
        .count = settings->offers,
        .pools = workshop->pools,
        .pool_count = list->count      ? list->count
                      : settings->pull ? 1
                                       : 0,
    };
    workshop->pools[0] = (struct provider_pool){.matchmaker = agent_matchmaker()};
    for (uint32_t i = 0; i < list->count; i++)
        workshop->pools[i] = (struct provider_pool){.matchmaker = agent_pool_matchmaker(list->items[i].name),
                                                    .access = list->items[i].access,
                                                    .share = list->items[i].share};
    return 0;
}

/* Folders of jobs that neither run nor have anything to send: left by a crash. And inputs that nobody wanted for a day. */
static void folders_sweep(struct workshop *workshop)
{
    char path[DAEMON_PATH_MAX], inner[DAEMON_PATH_MAX + 300];
    struct dirent *entry;
    struct err err;
    struct stat stat_of;
    DIR *dir;

    snprintf(path, sizeof path, "%.4000s/work", workshop->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        unsigned long long claim, number;

        if (sscanf(entry->d_name, "%16llx.%llu", &claim, &number) != 2 || task_is_here(workshop, claim, number) ||
            outgoing_has(workshop, claim, number))
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        rubbish_take(workshop->rubbish, inner, &err);
    }
    if (dir)
        closedir(dir);
    snprintf(path, sizeof path, "%.4000s/cache", workshop->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (*entry->d_name != '.' && stat(inner, &stat_of) == 0 &&
            stat_of.st_mtim.tv_sec + CACHE_LIFE < runner_settled(agent_runner(workshop->live)) / SECOND)
            unlink(inner);
    }
    if (dir)
        closedir(dir);
}

static void sweep_due(uv_timer_t *timer)
{
    shipments_sweep(timer->data);
    folders_sweep(timer->data);
    workshop_sweep(timer->data);
}

static int rubbish_start(struct workshop *workshop, struct err *err)
{
    char path[DAEMON_PATH_MAX];

    snprintf(path, sizeof path, "%.4000s/trash", workshop->daemon.folder);
    workshop->rubbish = rubbish_new(path, err);
    return workshop->rubbish ? 0 : -1;
}

/* What runs goes on; it is not drained for longer than this process. */
static void workshop_superseded(void *user)
{
    struct workshop *workshop = user;

    runner_event(agent_runner(workshop->live), &(struct event){.kind = EVENT_DRAIN});
}

static int workshop_start(struct workshop *workshop, struct err *err)
{
    const struct workshop_settings *settings = workshop->settings;
    struct agent_settings *ours = &workshop->daemon.agent;

    if (folders_make(workshop, err) < 0 || offers_make(workshop, err) < 0 || datain_open(workshop, err) < 0)
        return -1;
    if (drain_load(workshop, err) < 0 || rubbish_start(workshop, err) < 0)
        return -1;
    ours->draining = workshop->drain.is;
    ours->role = &provider_role;
    ours->role_settings = &workshop->provider;
    ours->job = role_wants;
    ours->commanded = workshop_commanded;
    ours->asked = workshop_asked;
    ours->broken = shelf_broke;
    ours->superseded = workshop_superseded;
    ours->user = workshop;
    if (settings->executor) {
        workshop->executor = settings->executor(settings->user, &workshop->daemon.loop, news_came, workshop, err);
        if (!workshop->executor)
            return -1;
    }
    workshop->live = agent_new(&workshop->daemon.loop, ours, err);
    if (!workshop->live || !outgoing_load(workshop, err) || shipments_load(workshop, err) < 0 ||
        (workshop->executor && workshop->executor->kind->find(workshop->executor, err) < 0))
        return -1;
    workshop_probe(workshop);
    drain_tell(workshop);
    workshop->booted = true;
    runner_event(agent_runner(workshop->live), &(struct event){.kind = EVENT_BOOTED});
    folders_sweep(workshop);
    shipments_sweep(workshop);
    if (status_start(workshop, err) < 0)
        return -1;
    uv_timer_init(&workshop->daemon.loop, &workshop->tick);
    uv_timer_init(&workshop->daemon.loop, &workshop->probe);
    workshop->tick.data = workshop->probe.data = workshop;
    uv_timer_start(&workshop->tick, tick_due, TICK_MS, TICK_MS);
    uv_timer_start(&workshop->probe, probe_due, PROBE_MS, PROBE_MS);
    uv_timer_init(&workshop->daemon.loop, &workshop->sweep);
    workshop->sweep.data = workshop;
    uv_timer_start(&workshop->sweep, sweep_due, SWEEP_MS, SWEEP_MS);
    if (settings->up) {
        struct buf asks;

        buf_init(&asks);
        settings->up(settings->user, workshop->daemon.name,
                     daemon_pools_words(&workshop->daemon, workshop->live, &asks),
                     workshop->executor ? workshop->executor->kind->describe(workshop->executor) : "nothing is run");
        buf_done(&asks);
    }
    return 0;
}

static void workshop_done(struct workshop *workshop)
{
    shipments_stop(workshop);
    tasks_done(workshop);
    server_free(workshop->status);
    agent_free(workshop->live);
    datain_close(workshop);
    outgoing_done(workshop);
    shipments_done(workshop);
    if (workshop->executor)
        workshop->executor->kind->free(workshop->executor);
    for (uint32_t i = 0; workshop->ads && i < workshop->settings->offers; i++)
        tree_unref(workshop->ads[i]);
    free(workshop->ads);
    free(workshop->ids);
    rubbish_free(workshop->rubbish);
    if (workshop->settings->down)
        workshop->settings->down(workshop->settings->user);
    daemon_done(&workshop->daemon);
}

int workshop_run(const struct workshop_settings *settings, struct config *config, struct err *err)
{
    struct workshop *workshop = mem_alloc(sizeof *workshop);
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

    memset(workshop, 0, sizeof *workshop);
    workshop->settings = settings;
    setenv("UV_THREADPOOL_SIZE", TRANSFER_THREADS, 0); /* before the first of them begins */
    status = daemon_init(&workshop->daemon, &ours, config, err);
    if (settings->tend) {
        workshop->daemon.ending = tending_told;
        workshop->daemon.user = workshop;
    }
    if (status == 0)
        status = workshop_start(workshop, err);
    if (status == 0)
        status = daemon_run(&workshop->daemon, workshop->live);
    workshop_done(workshop);
    free(workshop);
    return status;
}
