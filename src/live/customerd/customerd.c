/* customerd.c: the customer as a process: what it is made of, how it starts, reloads and ends. */
#include "live/customerd/customerd_parts.h"

#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "pool/protocol/wire.h"
#include "sys/private_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISK_TICKS 10 /* of TIDY_SPAN between two looks at the disk */
#define TIDY_SPAN 100 /* milliseconds between two looks at what is over */
#define REPLY_SPAN (60 * SECOND)

static void desk_end(struct desk *desk, int status);

/* -------------------------------------------------------------------------------------------------------------- tasks */

static void tasks_turn(uv_idle_t *idle)
{
    struct desk *desk = idle->data;
    struct desk_task **link = &desk->tasks, *task;

    while ((task = *link)) {
        struct desk_task *next = task->next;

        if (task->step(task))
            link = &task->next;
        else
            *link = next;
    }
    if (!desk->tasks)
        uv_idle_stop(idle);
}

/* At the end, so that those before it are not kept waiting. */
void desk_task(struct desk *desk, struct desk_task *task)
{
    struct desk_task **link = &desk->tasks;

    while (*link)
        link = &(*link)->next;
    task->next = NULL;
    *link = task;
    uv_idle_start(&desk->turn, tasks_turn);
}

/* ------------------------------------------------------------------------------------------------------------- timers */

static void tidy_due(uv_timer_t *timer)
{
    struct desk *desk = timer->data;

    visits_wake(desk, false);
    if (runner_is_broken(desk->runner))
        return;
    desk_tidy(desk);
    if (desk->tidied % DISK_TICKS == 1)
        desk_disk_look(desk);
    commands_tick(desk);
}

static void end_now(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Ends at the end of this turn, so that answers under way can leave. */
static void desk_end(struct desk *desk, int status)
{
    if (desk->stopping)
        return;
    desk->stopping = true;
    desk->daemon.status = status;
    if (desk->server)
        server_stop_accepting(desk->server);
    visits_end(desk);
    uv_timer_stop(&desk->tidy);
    uv_timer_start(&desk->tidy, end_now, status ? 20 : 100, 0);
}

static void desk_broken(void *user, const char *why)
{
    (void)why; /* the agent has logged it */
    desk_end(user, 1);
}

static void desk_told(void *user)
{
    desk_end(user, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

/* Where it can be called from this machine alone, those it calls are on it. */
static void networks_near(struct desk *desk)
{
    if (config_address_is_local(config_text(&desk->daemon.config, CONFIG_CUSTOMER_LISTEN))) {
        networks_add(&desk->daemon.networks, "127.0.0.0/8", NULL);
        networks_add(&desk->daemon.networks, "::1/128", NULL);
    }
}

static void desk_reload(void *user)
{
    struct desk *desk = user;

    networks_near(desk);
    spool_set_room(desk->spool, config_size(&desk->daemon.config, CONFIG_SPOOL_MAX));
    desk->role.jobs_max = config_count(&desk->daemon.config, CONFIG_JOBS_PER_IDENTITY);
}

static void handles_start(struct desk *desk)
{
    uv_idle_init(&desk->daemon.loop, &desk->turn);
    uv_timer_init(&desk->daemon.loop, &desk->wake);
    uv_timer_init(&desk->daemon.loop, &desk->tidy);
    desk->turn.data = desk->wake.data = desk->tidy.data = desk;
}

static int parts_start(struct desk *desk, struct err *err)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/spool", desk->daemon.folder);
    desk->spool = spool_new(path, config_size(&desk->daemon.config, CONFIG_SPOOL_MAX), err);
    if (desk->spool)
        spool_set_own(desk->spool, desk->daemon.identity);
    snprintf(path, sizeof path, "%s/jobs", desk->daemon.folder);
    desk->files = desk->spool ? jobfiles_new(path, desk->daemon.symbols, err) : NULL;
    desk->tries = desk->files ? tries_new(desk->daemon.symbols, desk->daemon.shelf, err) : NULL;
    desk->history = desk->tries ? history_new(desk->daemon.symbols, desk->daemon.shelf, err) : NULL;
    desk->questions = (struct questions){.symbols = desk->daemon.symbols,
                                         .tries = desk->tries,
                                         .files = desk->files,
                                         .spool = desk->spool,
                                         .shelf = desk->daemon.shelf,
                                         .job = desk_job,
                                         .node = desk_node,
                                         .news = desk_news,
                                         .user = desk};
    commands_init(&desk->commands, desk->daemon.symbols, desk->daemon.shelf);
    return desk->history && commands_load(&desk->commands, err) == 0 ? 0 : -1;
}

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len;
    buf_add(user, value, len);
    return false;
}

/* What the store knows of the numbers of jobs. One that is new begins its starts so high that what was advertised before is older than
 * what will be. */
static int numbers_read(struct desk *desk, const char *space, const unsigned char key[8], struct role_record *ret,
                        struct err *err)
{
    struct shelf *shelf = desk->daemon.shelf;
    struct tree *ad = NULL;
    struct buf row;
    int failed;

    *ret = (struct role_record){.starts = (uint64_t)(runner_wall() / SECOND) & UINT32_MAX};
    buf_init(&row);
    failed = shelf->kind->get(shelf, space, key, 8, row_copy, &row, err);
    if (!failed && row.len && wire_parse(desk->daemon.symbols, row.text, row.len, &ad, err) == 0) {
        ad_word(ad, "Starts", &ret->starts);
        ad_word(ad, "Last", &ret->last);
        tree_unref(ad);
    }
    buf_done(&row);
    return failed;
}

/* A store that knows less than the logs of jobs beside it is new, or was put back from a backup: it goes on behind their numbers. None is
 * given again, and no log is two jobs'. */
static int numbers_begin(struct desk *desk, struct err *err)
{
    const char *space = record_layout(RECORD_ROLE)->name;
    struct shelf *shelf = desk->daemon.shelf;
    struct record record = {.kind = RECORD_ROLE};
    uint64_t last = jobfiles_last(desk->files);
    static const unsigned char key[8];
    struct buf text;
    struct tree *ad;
    int failed;

    if (numbers_read(desk, space, key, &record.u.role_record, err) < 0)
        return -1;
    if (last <= record.u.role_record.last)
        return 0;
    LOG(&desk->daemon.log, LEVEL_WARNING, "numbers", log_number("store", (int64_t)record.u.role_record.last),
        log_number("logs", (int64_t)last),
        log_text("why", "there are logs of jobs that the store does not know: numbers go on behind theirs"));
    record.u.role_record.last = last;
    ad = wire_record(desk->daemon.symbols, &record);
    buf_init(&text);
    wire_print(&text, ad);
    tree_unref(ad);
    failed = shelf->kind->put(shelf, space, key, sizeof key, text.text, text.len, err) < 0 ||
             shelf->kind->commit(shelf, err) < 0;
    buf_done(&text);
    return failed ? -1 : 0;
}

static int agent_begin(struct desk *desk, struct err *err)
{
    struct agent_settings *ours = &desk->daemon.agent;
    const struct pool_list *list = &desk->daemon.list;

    desk->role = (struct customer_settings){.self = agent_self(desk->daemon.identity, desk->daemon.name),
                                            .matchmaker = agent_matchmaker(),
                                            .spans = &desk->daemon.spans,
                                            .jobs_max = config_count(&desk->daemon.config, CONFIG_JOBS_PER_IDENTITY),
                                            .pools = desk->pools,
                                            .pool_count = list->count};
    for (uint32_t i = 0; i < list->count; i++)
        desk->pools[i] = (struct customer_pool){agent_pool_matchmaker(list->items[i].name), list->items[i].name};
    desk->handler = visit_handler;
    desk->handler.user = desk;
    ours->role = &customer_role;
    ours->role_settings = &desk->role;
    ours->changed = desk_job_changed;
    ours->asked = desk_asked;
    ours->other = &desk->handler;
    ours->broken = desk_broken;
    ours->user = desk;
    desk->live = agent_new(&desk->daemon.loop, &desk->daemon.agent, err);
    if (!desk->live)
        return -1;
    desk->runner = agent_runner(desk->live);
    desk->customer = runner_role(desk->runner);
    runner_event(desk->runner, &(struct event){.kind = EVENT_BOOTED});
    desk_boot(desk);
    return 0;
}

static int listen_start(struct desk *desk, struct err *err)
{
    struct server_limits limits = {.head = config_span(&desk->daemon.config, CONFIG_HEAD_DEADLINE),
                                   .body = config_span(&desk->daemon.config, CONFIG_BODY_DEADLINE),
                                   .reply = REPLY_SPAN,
                                   .connections = (uint32_t)config_count(&desk->daemon.config, CONFIG_CONNECTIONS)};
    char address[PATH_MAX + 32];

    snprintf(address, sizeof address, "unix:%s/" DESK_SOCKET, desk->daemon.folder);
    desk->server = server_new(&desk->daemon.loop, address, NULL, NULL, &limits, &desk->handler, err);
    return desk->server ? 0 : -1;
}

static int desk_start(struct desk *desk, struct err *err)
{
    int folder = private_dir_open(desk->daemon.folder, err);

    if (folder < 0)
        return -1;
    close(folder);
    if (strlen(desk->daemon.identity) > TEXT_MAX)
        return err_set(err, "the subject of the token is too long: up to %d bytes are expected", TEXT_MAX);
    networks_near(desk);
    handles_start(desk);
    desk->catalogues = daemon_catalogues(&desk->daemon, err);
    if (!desk->catalogues || parts_start(desk, err) < 0 || numbers_begin(desk, err) < 0 || agent_begin(desk, err) < 0 ||
        listen_start(desk, err) < 0)
        return -1;
    uv_timer_start(&desk->tidy, tidy_due, TIDY_SPAN, TIDY_SPAN);
    desk->daemon.reload = desk_reload;
    desk->daemon.ending = desk_told;
    desk->daemon.user = desk;
    if (desk->settings->up) {
        const char *addresses[] = {server_address(desk->server), agent_address(desk->live), NULL};

        if (!*addresses[1])
            addresses[1] = NULL;
        desk->settings->up(desk->settings->user, addresses, daemon_pools_words(&desk->daemon, desk->live, &desk->out));
    }
    return 0;
}

static void desk_done(struct desk *desk)
{
    struct desk_task *task;

    desk->stopping = true;
    while ((task = desk->tasks)) {
        desk->tasks = task->next;
        task->drop(task);
    }
    server_free(desk->server);
    agent_free(desk->live);
    catalogues_free(desk->catalogues);
    uv_run(&desk->daemon.loop, UV_RUN_NOWAIT);
    daemon_close(&desk->daemon);
    commands_done(&desk->commands);
    history_free(desk->history);
    questions_done(&desk->questions);
    tries_free(desk->tries);
    jobfiles_free(desk->files);
    spool_free(desk->spool);
    endings_done(&desk->endings);
    buf_done(&desk->out);
    daemon_done(&desk->daemon);
}

int desk_run(const struct desk_settings *settings, struct config *config, struct err *err)
{
    struct desk *desk = mem_alloc(sizeof *desk);
    const char *name = config_text(config, CONFIG_AGENT_NAME);
    struct daemon_settings ours = {.role = DESK_FOLDER,
                                   .name = *name ? name : NULL,
                                   .listen = config_text(config, CONFIG_CUSTOMER_LISTEN),
                                   .token = settings->token,
                                   .near = true,
                                   .pools = true,
                                   .version = settings->version,
                                   .sources = settings->sources,
                                   .shelf = settings->shelf,
                                   .log_fd = settings->log_fd};
    int status = -1;

    memset(desk, 0, sizeof *desk);
    desk->settings = settings;
    desk->started = runner_wall();
    desk->changes = (uint64_t)desk->started; /* so that it grows over restarts */
    endings_init(&desk->endings);
    buf_init(&desk->out);
    if (daemon_init(&desk->daemon, &ours, config, err) == 0 && desk_start(desk, err) == 0)
        status = daemon_run(&desk->daemon, desk->live);
    desk_done(desk);
    free(desk);
    return status;
}
